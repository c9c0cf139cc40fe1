/* rate_lines.h: how the measuring programs tell gnncc a rate: a line with its name and its numbers (docs/calibration.md). */
#ifndef RATE_LINES_H
#define RATE_LINES_H

#include <stdio.h>

static inline void print_rates(const char *name, const double *values, int count) {
  printf("%s", name);
  for (int i = 0; i < count; i++) printf(" %.6g", values[i]);
  printf("\n");
  fflush(stdout);
}

static inline void print_rate(const char *name, double value) { print_rates(name, &value, 1); }

#endif
