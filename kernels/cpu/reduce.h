/* reduce.h: clearing, and sums of scalars in a fixed order. */
#ifndef GNN_REDUCE_H
#define GNN_REDUCE_H

#include "vector.h"

#include <string.h>

/* In numbers, not rows. */
GNN_INLINE void gnn_zero(gnn_real *x, int64_t begin, int64_t end) {
  if (begin < end) memset(x + begin, 0, (size_t)(end - begin) * sizeof *x);
}

/* Of one partial result for each task, in the order of tasks. */
GNN_INLINE double gnn_sum_doubles(const double *parts, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += parts[i];
  return sum;
}

GNN_INLINE int64_t gnn_sum_counts(const int64_t *parts, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) sum += parts[i];
  return sum;
}

/* sums[0 .. w) = sum over rows r of [begin, end) of x[r], in their order; x: [any, w]. */
GNN_INLINE void gnn_column_sums(const gnn_real *x, int64_t w, int64_t begin, int64_t end, gnn_real *sums) {
  for (int64_t c = 0; c < w; c++) sums[c] = 0;
  for (int64_t r = begin; r < end; r++)
    for (int64_t c = 0; c < w; c++) sums[c] += x[r * w + c];
}

#endif
