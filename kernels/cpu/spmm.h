/* spmm.h: the sparse product of message passing, Y[r] = sum over the entries e of row r of (weight of e) * X[idx[e]].
 *
 * Rows are summed in registers in the order of their entries, whoever computes them, and handed to `done`, which
 * scales, adds and stores; rows without entries are handed over as zeros. x: [any, w] row-major, perhaps a slice of a wider value;
 * chains: gnn_gather_chains of the whole width.
 */
#ifndef GNN_SPMM_H
#define GNN_SPMM_H

#include "gather.h"

enum { GNN_WEIGHT_BLOCK = 128 };

/* How many entries ahead rows are fetched: about 8 KB in flight hides the latency, less for rows wider than that is
 * worth. In a table that fits the second-level cache it only costs. */
GNN_INLINE int64_t gnn_gather_ahead(int64_t table_rows, int64_t row_bytes) {
  if (table_rows * row_bytes < 1 << 20) return 0;
  return row_bytes <= 512 ? 16 : row_bytes <= 1024 ? 6 : 4;
}

/* The same rows, whose entries are elsewhere: idx[ptr[0]] would be the first of row 0. */
GNN_INLINE gnn_csr gnn_csr_with(const gnn_csr *g, const int32_t *idx) {
  gnn_csr own = *g;
  own.idx = idx;
  return own;
}

/* The same rows, whose beginnings are elsewhere: ptr[0] would be that of row 0. */
GNN_INLINE gnn_csr gnn_csr_at(const gnn_csr *g, const int64_t *ptr) {
  gnn_csr own = *g;
  own.ptr = ptr;
  return own;
}

/* idx: [entries], what picks rows of the table: ids, or codes. */
GNN_INLINE void gnn_spmm_table_rows(const gnn_csr *g, const int32_t *idx, gnn_table x, int64_t w, int chains, int64_t begin, int64_t end, gnn_row_done *done, const void *context) {
  gnn_real acc[w];
  const int64_t ahead = gnn_gather_ahead(g->rows, gnn_table_bytes(x, w)), limit = g->ptr[end];
  for (int64_t r = begin; r < end; r++) {
    const int64_t first = g->ptr[r];
    gnn_gather(idx + first, NULL, g->ptr[r + 1] - first, limit - first, x, w, chains, 1, ahead, acc);
    done(context, r, acc);
  }
}

GNN_INLINE void gnn_spmm_rows(const gnn_csr *g, const gnn_real *x, int64_t w, int chains, int64_t begin, int64_t end,
                              gnn_row_done *done, const void *context) {
  gnn_spmm_table_rows(g, g->idx, gnn_matrix(x), w, chains, begin, end, done, context);
}

/* weight: [edges], by edge number: g->edge[e] where the graph has it, else the entry's position. */
GNN_INLINE void gnn_spmm_weighted_rows(const gnn_csr *g, const gnn_real *weight, const gnn_real *x, int64_t w, int chains,
                                       int64_t begin, int64_t end, gnn_row_done *done, const void *context) {
  gnn_real acc[w], block[GNN_WEIGHT_BLOCK];
  const int64_t ahead = gnn_gather_ahead(g->rows, gnn_table_bytes(gnn_matrix(x), w)), limit = g->ptr[end];
  for (int64_t r = begin; r < end; r++) {
    const int64_t first = g->ptr[r], last = g->ptr[r + 1];
    if (g->edge) {
      int64_t e = first;
      do {
        const int64_t count = gnn_min(last - e, GNN_WEIGHT_BLOCK);
        for (int64_t i = 0; i < count; i++) block[i] = weight[g->edge[e + i]];
        gnn_gather(g->idx + e, block, count, limit - e, gnn_matrix(x), w, chains, e == first, ahead, acc);
        e += count;
      } while (e < last);
    } else {
      gnn_gather(g->idx + first, weight + first, last - first, limit - first, gnn_matrix(x), w, chains, 1, ahead, acc);
    }
    done(context, r, acc);
  }
}

#endif
