/* columns.cuh: sums over neighbours by columns of all rows, for ranks that own rows (runtime/core/rank_columns.c). */
#ifndef GNN_CUDA_COLUMNS_H
#define GNN_CUDA_COLUMNS_H

#include "half.cuh"

/* A row of the rank: its columns, so many for each of the first ranks, go where those for others leave from, and the rank's own into the table of all rows. */
template <int COLUMNS> struct gnn_columns_to {
  int64_t rank, rows;
  gnn_real *sending, *own;
  __device__ __forceinline__ gnn_columns_to(const gnn_view *g, int64_t r, gnn_real *all_sending, gnn_real *table) : rank(g->rank), rows(g->nodes), sending(all_sending + r * COLUMNS), own(table + (g->first_row + r) * COLUMNS) {}
  __device__ __forceinline__ gnn_real &operator[](int64_t column) const {
    const int64_t p = column / COLUMNS;
    return (p == rank ? own : sending + (p - (p > rank)) * rows * COLUMNS)[column % COLUMNS];
  }
};

/* The rank's own rows of the sums of its columns. */
template <int COLUMNS> GNN_INLINE void gnn_columns_stay(const gnn_view *g, const gnn_real *sums, int holders, gnn_real *back) {
  if (g->rank >= holders) return;
  for (int64_t i = gnn_group<1>(); i < g->nodes * COLUMNS; i += gnn_groups<1>()) back[g->rank * g->nodes * COLUMNS + i] = sums[g->first_row * COLUMNS + i];
}

/* Rows of `width` numbers, `stride` from one to the next, of the columns that came back. */
template <int COLUMNS> GNN_INLINE void gnn_columns_join(const gnn_view *g, const gnn_real *back, int64_t width, int64_t stride, gnn_real *to) {
  for (int64_t i = gnn_group<1>(); i < g->nodes * width; i += gnn_groups<1>()) {
    const int64_t r = i / width, column = i % width;
    to[r * stride + column] = back[(column / COLUMNS * g->nodes + r) * COLUMNS + column % COLUMNS];
  }
}

#endif
