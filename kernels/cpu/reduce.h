/* reduce.h: clearing, what an extreme over edges leaves, and sums of single numbers over blocks. */
#ifndef GNN_REDUCE_H
#define GNN_REDUCE_H

#include "vector.h"

#include <string.h>

/* In numbers, not rows. */
GNN_INLINE void gnn_zero(gnn_real *x, int64_t begin, int64_t end) {
  if (begin < end) memset(x + begin, 0, (size_t)(end - begin) * sizeof *x);
}

/* An extreme over no edges is 0; of zeros of both signs it is +0, in whatever order they came. */
GNN_INLINE void gnn_settle(gnn_real *acc, int64_t width, int is_empty) {
  for (int64_t i = 0; i < width; i++) acc[i] = is_empty ? 0 : acc[i] + 0;
}

/* The sum over a balanced binary tree of `count` numbers, a power of two; they are overwritten. */
GNN_INLINE double gnn_sum_tree(double *sums, int64_t count) {
  for (int64_t half = 1; half < count; half *= 2)
    for (int64_t i = 0; i < count; i += 2 * half) sums[i] += sums[i + half];
  return sums[0];
}

#endif
