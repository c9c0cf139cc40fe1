/* rows.cuh: the entries of sparse rows, and sums over them in a fixed order.
 *
 * A row is taken by a group of SLOTS times LANES threads: each slot takes every SLOTS-th entry, each lane SUMS of the
 * elements. Rows with very many entries, hubs, are taken by blocks of threads, in PIECES pieces, before all others, so that nobody
 * waits long for one thread. The order of a row's sum is that of its length, of SLOTS and of PIECES: a slice of a value's columns
 * has those of the whole, whatever LANES it has itself, and so blocks share a hub by columns.
 */
#ifndef GNN_CUDA_ROWS_H
#define GNN_CUDA_ROWS_H

#include "reduce.cuh"

#ifndef GNN_LONG_ROW
#define GNN_LONG_ROW 1024
#endif
enum { GNN_LONG_ROWS = 8, /* that a group finds before the block does what it has found */
       GNN_HUB_SHARES = 16 /* blocks that share a hub where nothing is summed */ };

/* to[0 .. count) = those of the rows that `which` names, each of `stride` numbers, by a group of LANES threads. */
template <int LANES, class T> GNN_INLINE void gnn_pick_rows(const T *rows, const int32_t *which, int64_t count, int64_t stride, T *to) {
  for (int64_t i = gnn_group<LANES>(); i < count; i += gnn_groups<LANES>()) {
    const T *row = rows + which[i] * stride;
    for (int64_t j = (int64_t)threadIdx.x % LANES; j < stride; j += LANES) to[i * stride + j] = row[j];
  }
}

/* Walks: whatever has no sum over a row. walk(r, begin, end) has the entries begin, begin + SLOTS, .. below end of row r. */

/* Of rows [first, rows). */
template <int LANES, int SLOTS, class Walk> GNN_INLINE void gnn_walk_edges(const gnn_view_csr *edges, int64_t first, int64_t rows, const Walk &walk) {
  enum { GROUP = LANES * SLOTS, GROUPS = GNN_THREADS / GROUP, PIECES = GNN_HUB_SHARES * GROUPS };
  const int group = (int)threadIdx.x / GROUP, slot = (int)threadIdx.x % GROUP / LANES;
  for (int64_t task = blockIdx.x; task < edges->hub_count * GNN_HUB_SHARES; task += gridDim.x) {
    const int64_t r = edges->hub[task / GNN_HUB_SHARES];
    if (r < first || r >= rows) continue;
    const int64_t end = edges->ptr[r + 1], length = (end - edges->ptr[r] + PIECES - 1) / PIECES;
    const int64_t begin = gnn_min(edges->ptr[r] + (task % GNN_HUB_SHARES * GROUPS + group) * length, end);
    walk(r, begin + slot, gnn_min(begin + length, end));
  }
  for (int64_t r = first + gnn_group<GROUP>(); r < rows; r += gnn_groups<GROUP>()) {
    const int64_t begin = edges->ptr[r], end = edges->ptr[r + 1];
    if (end - begin <= edges->hub_entries) walk(r, begin + slot, end);
  }
}

/* Of rows [first, rows), by the block, which leaves each thread the same entries in the same order whatever else there is: long rows after
 * the others, once a group has found GNN_LONG_ROWS of them, a piece to each group. */
template <int LANES, int SLOTS, class Walk> GNN_INLINE void gnn_walk_run(const int64_t *ptr, int64_t first, int64_t rows, const Walk &walk) {
  enum { GROUP = LANES * SLOTS, GROUPS = GNN_THREADS / GROUP };
  __shared__ int64_t long_row[GROUPS][GNN_LONG_ROWS];
  __shared__ int long_count[GROUPS];
  const int group = (int)threadIdx.x / GROUP, slot = (int)threadIdx.x % GROUP / LANES;
  int64_t r = first + group;
  do {
    int count = 0;
    for (; r < rows && count < GNN_LONG_ROWS; r += GROUPS) {
      const int64_t begin = ptr[r], end = ptr[r + 1];
      if (end - begin <= GNN_LONG_ROW) {
        walk(r, begin + slot, end);
        continue;
      }
      if (threadIdx.x % GROUP == 0) long_row[group][count] = r;
      count++;
    }
    if (threadIdx.x % GROUP == 0) long_count[group] = count;
    __syncthreads();
    for (int g = 0; g < GROUPS; g++)
      for (int n = 0; n < long_count[g]; n++) {
        const int64_t row = long_row[g][n], end = ptr[row + 1], length = (end - ptr[row] + GROUPS - 1) / GROUPS;
        const int64_t begin = gnn_min(ptr[row] + group * length, end);
        walk(row, begin + slot, gnn_min(begin + length, end));
      }
  } while (__syncthreads_or(r < rows));
}

/* Of rows [first_row, end_row): row(r, begin, end, first, blocks, acc) folds the entries begin, begin + SLOTS, .. below end of row r into acc: of the
 * row's elements those of `blocks` blocks, from block `first` on, VECTOR to a lane; done(r, first, blocks, acc) gets what they come to, in the lanes of
 * slot 0 at least. A block of threads takes a block of elements of a hub; then the groups take the other rows. */
template <class Fold, int LANES, int SLOTS, int SUMS, int VECTOR = 1, int PIECES = GNN_THREADS / (LANES * SLOTS), class Row, class Done>
GNN_INLINE void gnn_fold_rows(const gnn_view_csr *edges, int64_t first_row, int64_t end_row, const Row &row, const Done &done) {
  enum { GROUP = LANES * SLOTS, BLOCKS = SUMS / VECTOR };
  const int group = (int)threadIdx.x / GROUP, slot = (int)threadIdx.x % GROUP / LANES;
  for (int64_t task = blockIdx.x; task < edges->hub_count * BLOCKS; task += gridDim.x) {
    const int64_t r = edges->hub[task / BLOCKS];
    if (r < first_row || r >= end_row) continue;
    const int64_t end = edges->ptr[r + 1], length = (end - edges->ptr[r] + PIECES - 1) / PIECES;
    const int64_t begin = gnn_min(edges->ptr[r] + group * length, end);
    const int first = (int)(task % BLOCKS);
    gnn_real acc[VECTOR];
    GNN_UNROLL for (int i = 0; i < VECTOR; i++) acc[i] = Fold::start();
    row(r, begin + slot, gnn_min(begin + length, end), first, 1, acc);
    GNN_UNROLL for (int i = 0; i < VECTOR; i++) acc[i] = Fold::settle(gnn_block_fold<Fold, LANES>(acc[i]), false);
    if ((int)threadIdx.x < GROUP) done(r, first, 1, acc);
  }
  for (int64_t r = first_row + gnn_group<GROUP>(); r < end_row; r += gnn_groups<GROUP>()) {
    const int64_t begin = edges->ptr[r], end = edges->ptr[r + 1];
    if (end - begin > edges->hub_entries) continue;
    gnn_real acc[SUMS];
    GNN_UNROLL for (int i = 0; i < SUMS; i++) acc[i] = Fold::start();
    row(r, begin + slot, end, 0, BLOCKS, acc);
    GNN_UNROLL for (int i = 0; i < SUMS; i++) acc[i] = Fold::settle(gnn_group_fold<Fold, GROUP, LANES>(acc[i]), begin == end);
    done(r, 0, BLOCKS, acc);
  }
}

template <int LANES, int SLOTS, int SUMS, int VECTOR = 1, int PIECES = GNN_THREADS / (LANES * SLOTS), class Row, class Done>
GNN_INLINE void gnn_sum_rows(const gnn_view_csr *edges, int64_t first_row, int64_t end_row, const Row &row, const Done &done) {
  gnn_fold_rows<gnn_fold_sum, LANES, SLOTS, SUMS, VECTOR, PIECES>(edges, first_row, end_row, row, done);
}

/* ---- columns ---- */

/* acc = the sum of the entries of column c in the blocks [low, high), an aligned subtree: within each block, then over the tree. Blocks
 * without entries would add zeros: they are passed over. Two open sums are added when the next entry lies outside the least
 * subtree that holds them both, which is told by the highest bit in which the numbers of blocks differ. By a group. */
template <int LANES, int SLOTS, int SUMS, int VECTOR, class Sum>
GNN_INLINE void gnn_sum_blocks(const gnn_view_csr *columns, int64_t c, const int64_t *first, int64_t low, int64_t high, const Sum &sum, gnn_real (&acc)[SUMS]) {
  enum { MOST_OPEN = 13, GROUP = LANES * SLOTS };
  const int slot = (int)threadIdx.x % GROUP / LANES;
  const int64_t end = gnn_entry_of(columns->idx, columns->ptr[c], columns->ptr[c + 1], first[high]);
  int64_t e = gnn_entry_of(columns->idx, columns->ptr[c], end, first[low]), block_of[MOST_OPEN];
  gnn_real open[MOST_OPEN][SUMS] = {};
  int count = 0;
  while (e < end) {
    int64_t above = high;
    while (above - low > 1) {
      const int64_t middle = low + (above - low) / 2;
      if (first[middle] <= columns->idx[e]) low = middle;
      else above = middle;
    }
    for (; count > 1 && (block_of[count - 2] ^ block_of[count - 1]) < (block_of[count - 1] ^ low); count--)
      GNN_UNROLL for (int i = 0; i < SUMS; i++) open[count - 2][i] += open[count - 1][i];
    const int64_t block_end = gnn_entry_of(columns->idx, e, end, first[low + 1]);
    GNN_UNROLL for (int i = 0; i < SUMS; i++) acc[i] = 0;
    sum(c, e + slot, block_end, 0, SUMS / VECTOR, acc);
    GNN_UNROLL for (int i = 0; i < SUMS; i++) open[count][i] = gnn_group_sum<GROUP, LANES>(acc[i]);
    block_of[count++] = low;
    e = block_end;
  }
  for (; count > 1; count--)
    GNN_UNROLL for (int i = 0; i < SUMS; i++) open[count - 2][i] += open[count - 1][i];
  GNN_UNROLL for (int i = 0; i < SUMS; i++) acc[i] = open[0][i];
}

/* The same rows, whose entries are elsewhere: idx[ptr[0]] would be the first of row 0. */
GNN_INLINE gnn_view_csr gnn_csr_with(const gnn_view_csr *csr, const int32_t *idx) {
  gnn_view_csr own = *csr;
  own.idx = idx;
  return own;
}

/* The same rows, whose beginnings are elsewhere: ptr[0] would be that of row 0. */
GNN_INLINE gnn_view_csr gnn_csr_at(const gnn_view_csr *csr, const int64_t *ptr) {
  gnn_view_csr own = *csr;
  own.ptr = ptr;
  return own;
}

/* As gnn_sum_rows, of columns [first_column, end_column) whose entries are rows of nodes. A column is taken by a block, whose groups share its canonical blocks. */
template <int LANES, int SLOTS, int SUMS, int VECTOR = 1, class Sum, class Done>
GNN_INLINE void gnn_sum_columns(const gnn_view_csr *columns, int64_t first_column, int64_t end_column, const gnn_view_blocks *blocks, const Sum &sum, const Done &done) {
  enum { GROUP = LANES * SLOTS, GROUPS = GNN_THREADS / GROUP };
  __shared__ gnn_real top[GROUPS][SUMS * LANES];
  const int group = (int)threadIdx.x / GROUP, slot = (int)threadIdx.x % GROUP / LANES, lane = (int)threadIdx.x % LANES;
  const int64_t shares = gnn_min(INT64_C(1) << blocks->levels, GROUPS), each = (INT64_C(1) << blocks->levels) / shares;
  for (int64_t c = first_column + blockIdx.x; c < end_column; c += gridDim.x) {
    gnn_real acc[SUMS] = {};
    if (group < shares) gnn_sum_blocks<LANES, SLOTS, SUMS, VECTOR>(columns, c, blocks->first, group * each, (group + 1) * each, sum, acc);
    if (slot == 0) GNN_UNROLL for (int i = 0; i < SUMS; i++) top[group][i * LANES + lane] = acc[i];
    for (int half = 1; half < shares; half *= 2) {
      __syncthreads();
      if (slot == 0 && group % (2 * half) == 0 && group + half < shares)
        GNN_UNROLL for (int i = 0; i < SUMS; i++) top[group][i * LANES + lane] += top[group + half][i * LANES + lane];
    }
    if (group == 0 && slot == 0) GNN_UNROLL for (int i = 0; i < SUMS; i++) acc[i] = top[0][i * LANES + lane];
    if (group == 0) done(c, 0, SUMS / VECTOR, acc);
    __syncthreads();
  }
}

#endif
