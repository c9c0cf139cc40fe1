/* simplex.h: small dense linear programs. */
#ifndef GNNCC_PLANNER_SIMPLEX_H
#define GNNCC_PLANNER_SIMPLEX_H

#include <stdbool.h>

enum { SIMPLEX_MAX_ROWS = 96, SIMPLEX_MAX_COLUMNS = 16 };

/* max c·x subject to a[i]·x <= b[i] with every b[i] >= 0 and x >= 0 (Bland's rule). Fills x; false when unbounded or
 * numerically stuck. */
bool simplex_maximise(int rows, int columns, double a[][SIMPLEX_MAX_COLUMNS], const double *b, const double *c,
                      double *x);

#endif
