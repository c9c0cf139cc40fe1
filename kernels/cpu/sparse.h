/* sparse.h: products with a constant sparse matrix S (rows x K), such as bag-of-words features, under dropout.
 *
 * The entry (r, c) is multiplied by the factor that a dense dropout would give the element (row_id[r], c), so storing a matrix
 * by its non-zeros changes no result. drop NULL: no dropout. Rows without entries are handed to `done` as zeros. chains:
 * gnn_gather_chains of the whole width, where w is that of a slice.
 */
#ifndef GNN_SPARSE_PRODUCT_H
#define GNN_SPARSE_PRODUCT_H

#include "gather.h"
#include "random.h"
#include "../../runtime/core/blocks.h"

enum { GNN_SPARSE_BLOCK = 128 };

/* The same matrix, whose rows' (columns') entries are elsewhere: idx[ptr[0]] would be the first of row 0; none after those of row `end` - 1 may be read. */
GNN_INLINE gnn_sparse gnn_sparse_with_rows(const gnn_sparse *s, const int64_t *ptr, const int32_t *idx, const gnn_real *value, int64_t end) {
  gnn_sparse own = *s;
  own.by_row.ptr = ptr;
  own.by_row.idx = idx;
  own.by_row.entries = ptr[end];
  own.row_value = value;
  return own;
}

GNN_INLINE gnn_sparse gnn_sparse_with_columns(const gnn_sparse *s, const int64_t *ptr, const int32_t *idx, const gnn_real *value, int64_t end) {
  gnn_sparse own = *s;
  own.by_column.ptr = ptr;
  own.by_column.idx = idx;
  own.by_column.entries = ptr[end];
  own.column_value = value;
  return own;
}

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

/* acc[0 .. w) = the sum of the entries [first, last) of a row (or, is_transposed, a column) of S times the rows of x they name. */
GNN_INLINE void gnn_sparse_sum(const gnn_csr *s, const gnn_real *value, int is_transposed, const int32_t *row_id, int64_t row, int64_t first,
                               int64_t last, gnn_table x, int64_t w, int chains, const gnn_dropout *drop, gnn_real *acc) {
  gnn_real factors[GNN_SPARSE_BLOCK];
  if (!drop) {
    gnn_gather(s->idx + first, value + first, last - first, last - first, x, w, chains, 1, 0, acc);
    return;
  }
  int64_t e = first;
  do {
    const int64_t count = gnn_min(last - e, GNN_SPARSE_BLOCK);
    gnn_sparse_factors(value + e, s->idx + e, count, s->entries - e, drop, is_transposed, row_id, row, factors);
    gnn_gather(s->idx + e, factors, count, count, x, w, chains, e == first, 0, acc);
    e += count;
  } while (e < last);
}

/* Rows [begin, end) of S B; b: [K, w] row-major. */
GNN_INLINE void gnn_sparse_rows(const gnn_sparse *s, const gnn_real *b, int64_t w, int chains, const gnn_dropout *drop,
                                int64_t begin, int64_t end, gnn_row_done *done, const void *context) {
  const gnn_csr *rows = &s->by_row;
  gnn_real acc[w];
  for (int64_t r = begin; r < end; r++) {
    gnn_sparse_sum(rows, s->row_value, 0, s->row_id, r, rows->ptr[r], rows->ptr[r + 1], gnn_matrix(b), w, chains, drop, acc);
    done(context, r, acc);
  }
}

/* The block of a row that is not before block `low`, and before block `high`. */
GNN_INLINE int64_t gnn_block_of(const gnn_blocks *blocks, int64_t low, int64_t high, int64_t row) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (blocks->first[middle] <= row) low = middle;
    else high = middle;
  }
  return low;
}

/* Rows [begin, end) of S^T G, which are columns of S; g: [rows, w] row-major. The entries of a column are summed in each block, and
 * the sums over the tree of blocks. Blocks without entries would add zeros: they are passed over. Two open sums are added when the
 * next entry lies outside the least subtree that holds them both, which is told by the highest bit in which the numbers of
 * blocks differ. Of the blocks [first_block, end_block) alone, an aligned subtree. */
GNN_INLINE void gnn_sparse_tn_blocks(const gnn_sparse *s, const gnn_blocks *blocks, int64_t first_block, int64_t end_block, gnn_table g, int64_t w, int chains,
                                     const gnn_dropout *drop, int64_t begin, int64_t end, gnn_row_done *done, const void *context) {
  const gnn_csr *columns = &s->by_column;
  gnn_real open[(GNN_BLOCK_MOST_LEVELS + 1) * w];
  int64_t block_of[GNN_BLOCK_MOST_LEVELS + 1];
  for (int64_t c = begin; c < end; c++) {
    int64_t last = columns->ptr[c + 1], e = columns->ptr[c], block = first_block;
    int count = 0;
    if (first_block > 0) e = gnn_entry_of(columns->idx, e, last, blocks->first[first_block]);
    if (first_block > 0 || end_block < INT64_C(1) << blocks->levels) last = gnn_entry_of(columns->idx, e, last, blocks->first[end_block]);
    do {
      if (e < last) block = gnn_block_of(blocks, block, end_block, columns->idx[e]);
      for (; count > 1 && (block_of[count - 2] ^ block_of[count - 1]) < (block_of[count - 1] ^ block); count--)
        for (int64_t j = 0; j < w; j++) open[(count - 2) * w + j] += open[(count - 1) * w + j];
      const int64_t block_end = gnn_entry_of(columns->idx, e, last, blocks->first[block + 1]);
      gnn_sparse_sum(columns, s->column_value, 1, s->row_id, c, e, block_end, g, w, chains, drop, open + count * w);
      block_of[count++] = block;
      e = block_end;
    } while (e < last);
    for (; count > 1; count--)
      for (int64_t j = 0; j < w; j++) open[(count - 2) * w + j] += open[(count - 1) * w + j];
    done(context, c, open);
  }
}

GNN_INLINE void gnn_sparse_tn_rows(const gnn_sparse *s, const gnn_blocks *blocks, gnn_table g, int64_t w, int chains,
                                   const gnn_dropout *drop, int64_t begin, int64_t end, gnn_row_done *done, const void *context) {
  gnn_sparse_tn_blocks(s, blocks, 0, INT64_C(1) << blocks->levels, g, w, chains, drop, begin, end, done, context);
}

/* Rows [begin, end) of y = x^T; x: [rows, cols], y: [cols, rows], row-major. */
GNN_SHARED void gnn_transpose(const gnn_real *x, int64_t rows, int64_t cols, gnn_real *y, int64_t begin, int64_t end) {
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
