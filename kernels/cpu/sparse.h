/* sparse.h: products with a constant sparse matrix S (rows x K), such as bag-of-words features, under dropout.
 *
 * The entry (r, c) is multiplied by the factor that a dense dropout would give the element (row_id[r], c), so storing a matrix
 * by its non-zeros changes no result. drop NULL: no dropout. Rows without entries are handed to `done` as zeros.
 */
#ifndef GNN_SPARSE_PRODUCT_H
#define GNN_SPARSE_PRODUCT_H

#include "gather.h"
#include "random.h"

enum { GNN_SPARSE_BLOCK = 128 };

/* Writes value * factor of `count` entries and may go on to `limit`, so that the loop rarely ends in single steps. */
GNN_INLINE void gnn_sparse_factors(const gnn_real *value, const int32_t *idx, int64_t count, int64_t limit,
                                   const gnn_dropout *drop, int is_transposed, const int32_t *row_id, int64_t row, gnn_real *block) {
  const gnn_dropout d = *drop;
  const int64_t padded = gnn_min((count + 15) / 16 * 16, limit);
  if (is_transposed && row_id) {
    for (int64_t i = 0; i < padded; i++)
      block[i] = value[i] * gnn_dropout_factor(&d, gnn_random_row(d.key, (uint32_t)row_id[idx[i]]), (uint32_t)row);
  } else if (is_transposed) {
    for (int64_t i = 0; i < padded; i++)
      block[i] = value[i] * gnn_dropout_factor(&d, gnn_random_row(d.key, (uint32_t)idx[i]), (uint32_t)row);
  } else {
    const gnn_row_bits bits = gnn_random_row(d.key, (uint64_t)(row_id ? row_id[row] : row));
    for (int64_t i = 0; i < padded; i++) block[i] = value[i] * gnn_dropout_factor(&d, bits, (uint32_t)idx[i]);
  }
}

GNN_INLINE void gnn_sparse_product(const gnn_csr *s, const gnn_real *value, int is_transposed, const int32_t *row_id, const gnn_real *x,
                                   int64_t w, const gnn_dropout *drop, int64_t begin, int64_t end, gnn_row_done *done,
                                   const void *context) {
  gnn_real acc[w], block[GNN_SPARSE_BLOCK];
  for (int64_t r = begin; r < end; r++) {
    const int64_t first = s->ptr[r], last = s->ptr[r + 1];
    if (drop) {
      int64_t e = first;
      do {
        const int64_t count = gnn_min(last - e, GNN_SPARSE_BLOCK);
        gnn_sparse_factors(value + e, s->idx + e, count, s->entries - e, drop, is_transposed, row_id, r, block);
        gnn_gather(s->idx + e, block, count, count, x, w, e == first, 0, acc);
        e += count;
      } while (e < last);
    } else {
      gnn_gather(s->idx + first, value + first, last - first, last - first, x, w, 1, 0, acc);
    }
    done(context, r, acc);
  }
}

/* Rows [begin, end) of S B; b: [K, w] row-major. */
GNN_INLINE void gnn_sparse_rows(const gnn_sparse *s, const gnn_real *b, int64_t w, const gnn_dropout *drop,
                                int64_t begin, int64_t end, gnn_row_done *done, const void *context) {
  gnn_sparse_product(&s->by_row, s->row_value, 0, s->row_id, b, w, drop, begin, end, done, context);
}

/* Rows [begin, end) of S^T G, which are columns of S; g: [rows, w] row-major. */
GNN_INLINE void gnn_sparse_tn_rows(const gnn_sparse *s, const gnn_real *g, int64_t w, const gnn_dropout *drop,
                                   int64_t begin, int64_t end, gnn_row_done *done, const void *context) {
  gnn_sparse_product(&s->by_column, s->column_value, 1, s->row_id, g, w, drop, begin, end, done, context);
}

/* Rows [begin, end) of y = x^T; x: [rows, cols], y: [cols, rows], row-major. */
GNN_INLINE void gnn_transpose(const gnn_real *x, int64_t rows, int64_t cols, gnn_real *y, int64_t begin, int64_t end) {
  enum { TILE = 16 };
  for (int64_t c0 = begin; c0 < end; c0 += TILE) {
    const int64_t c1 = gnn_min(c0 + TILE, end);
    for (int64_t r0 = 0; r0 < rows; r0 += TILE) {
      const int64_t r1 = gnn_min(r0 + TILE, rows);
      for (int64_t c = c0; c < c1; c++)
        for (int64_t r = r0; r < r1; r++) y[c * rows + r] = x[r * cols + c];
    }
  }
}

#endif
