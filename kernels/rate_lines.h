/* rate_lines.h: rates as the measuring programs find them and tell gnncc: a line with a name and its numbers (docs/calibration.md). */
#ifndef RATE_LINES_H
#define RATE_LINES_H

#include <stdio.h>
#include <stdlib.h>

static inline int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return values[count / 2];
}

/* What is left of a time when `known` is taken off; a hundredth at least, where the noise has swallowed the rest. */
static inline double beyond(double whole, double known) { return whole - known > whole / 100 ? whole - known : whole / 100; }

/* Rates of larger and larger tables: a smaller one is nearer, so what made it look slower was something else. */
static inline void nearer_is_faster(double *rates, int count) {
  for (int i = count - 2; i >= 0; i--)
    if (rates[i] < rates[i + 1]) rates[i] = rates[i + 1];
}

static inline void print_rates(const char *name, const double *values, int count) {
  printf("%s", name);
  for (int i = 0; i < count; i++) printf(" %.6g", values[i]);
  printf("\n");
  fflush(stdout);
}

static inline void print_rate(const char *name, double value) { print_rates(name, &value, 1); }

#endif
