#include "simplex.h"

#include <math.h>
#include <string.h>

enum { WIDTH = SIMPLEX_MAX_COLUMNS + SIMPLEX_MAX_ROWS + 1 };

bool simplex_maximise(int rows, int columns, double a[][SIMPLEX_MAX_COLUMNS], const double *b, const double *c,
                      double *x) {
  double tableau[SIMPLEX_MAX_ROWS + 1][WIDTH];
  int basis[SIMPLEX_MAX_ROWS], width = columns + rows;
  memset(tableau, 0, sizeof tableau);
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < columns; k++) tableau[i][k] = a[i][k];
    tableau[i][columns + i] = 1;
    tableau[i][width] = b[i];
    basis[i] = columns + i;
  }
  for (int k = 0; k < columns; k++) tableau[rows][k] = -c[k];
  for (int pivots = 0;; pivots++) {
    if (pivots > 2000) return false;
    int enter = -1;
    for (int k = 0; k < width && enter < 0; k++)
      if (tableau[rows][k] < -1e-10) enter = k;
    if (enter < 0) break;
    int leave = -1;
    double least = 0;
    for (int i = 0; i < rows; i++) {
      if (tableau[i][enter] < 1e-11) continue;
      double ratio = tableau[i][width] / tableau[i][enter];
      if (leave < 0 || ratio < least - 1e-13 || (ratio <= least + 1e-13 && basis[i] < basis[leave])) {
        leave = i;
        least = ratio;
      }
    }
    if (leave < 0) return false;
    double pivot = tableau[leave][enter];
    for (int k = 0; k <= width; k++) tableau[leave][k] /= pivot;
    for (int i = 0; i <= rows; i++) {
      double factor = tableau[i][enter];
      if (i == leave || fabs(factor) < 1e-14) continue;
      for (int k = 0; k <= width; k++) tableau[i][k] -= factor * tableau[leave][k];
    }
    basis[leave] = enter;
  }
  for (int k = 0; k < columns; k++) x[k] = 0;
  for (int i = 0; i < rows; i++)
    if (basis[i] < columns) x[basis[i]] = tableau[i][width] > 0 ? tableau[i][width] : 0;
  return true;
}
