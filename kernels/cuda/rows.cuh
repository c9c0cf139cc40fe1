/* rows.cuh: the entries of sparse rows, and sums over them in a fixed order.
 *
 * A row is taken by a group of SLOTS times LANES threads: each slot takes every SLOTS-th entry, each lane SUMS of the
 * elements. Rows with very many entries are left to the whole block at the end, in as many pieces as it has groups, so
 * that nobody waits long for one thread; which rows these are depends on their length alone.
 */
#ifndef GNN_CUDA_ROWS_H
#define GNN_CUDA_ROWS_H

#include "reduce.cuh"

#ifndef GNN_LONG_ROW
#define GNN_LONG_ROW 1024
#endif
enum { GNN_LONG_ROWS = 8 }; /* of a group that are left to the block; it does what is more itself */

/* The groups of SLOTS times LANES threads take every `stride`-th of the rows from `first` on, each its own: whole(r, begin,
 * end) has the entries begin, begin + SLOTS, .. below end of row r. Then piece(r, begin, end) has, in each group of the block, a
 * piece of a long row. */
template <int LANES, int SLOTS, class Whole, class Piece>
GNN_INLINE void gnn_split_rows(const int64_t *ptr, int64_t first, int64_t rows, int64_t stride, const Whole &whole, const Piece &piece) {
  enum { GROUP = LANES * SLOTS, GROUPS = GNN_THREADS / GROUP };
  __shared__ int64_t long_row[GROUPS][GNN_LONG_ROWS];
  __shared__ int long_count[GROUPS];
  const int group = (int)threadIdx.x / GROUP, slot = (int)threadIdx.x % GROUP / LANES;
  int count = 0;
  for (int64_t r = first; r < rows; r += stride) {
    const int64_t begin = ptr[r], end = ptr[r + 1];
    if (end - begin > GNN_LONG_ROW && count < GNN_LONG_ROWS) {
      if (threadIdx.x % GROUP == 0) long_row[group][count] = r;
      count++;
      continue;
    }
    whole(r, begin + slot, end);
  }
  if (threadIdx.x % GROUP == 0) long_count[group] = count;
  __syncthreads();
  for (int g = 0; g < GROUPS; g++)
    for (int n = 0; n < long_count[g]; n++) {
      const int64_t r = long_row[g][n], end = ptr[r + 1], length = (end - ptr[r] + GROUPS - 1) / GROUPS, begin = ptr[r] + group * length;
      piece(r, begin + slot, gnn_min(begin + length, end));
    }
}

/* walk(r, begin, end) for the entries of rows [first, rows): whatever has no sum over a row. */
template <int LANES, int SLOTS, class Walk> GNN_INLINE void gnn_walk_rows(const int64_t *ptr, int64_t first, int64_t rows, int64_t stride, const Walk &walk) {
  gnn_split_rows<LANES, SLOTS>(ptr, first, rows, stride, walk, walk);
}

/* sum(r, begin, end, acc) adds the entries begin, begin + SLOTS, .. below end of row r to acc; done(r, acc) gets the sums,
 * in the lanes of slot 0 at least. */
template <int LANES, int SLOTS, int SUMS, class Sum, class Done>
GNN_INLINE void gnn_sum_rows(const int64_t *ptr, int64_t rows, const Sum &sum, const Done &done) {
  enum { GROUP = LANES * SLOTS };
  const auto whole = [&](int64_t r, int64_t begin, int64_t end) {
    gnn_real acc[SUMS] = {};
    sum(r, begin, end, acc);
    GNN_UNROLL for (int i = 0; i < SUMS; i++) acc[i] = gnn_group_sum<GROUP, LANES>(acc[i]);
    done(r, acc);
  };
  const auto piece = [&](int64_t r, int64_t begin, int64_t end) {
    gnn_real acc[SUMS] = {};
    sum(r, begin, end, acc);
    GNN_UNROLL for (int i = 0; i < SUMS; i++) acc[i] = gnn_block_sum<LANES>(acc[i]);
    if ((int)threadIdx.x < GROUP) done(r, acc);
  };
  gnn_split_rows<LANES, SLOTS>(ptr, gnn_group<GROUP>(), rows, gnn_groups<GROUP>(), whole, piece);
}

#endif
