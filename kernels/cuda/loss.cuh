/* loss.cuh: softmax cross entropy over a list of labelled rows; see kernels/cpu/loss.h. A warp a row; a stride is how many numbers lie from a
 * row to the next. */
#ifndef GNN_CUDA_LOSS_H
#define GNN_CUDA_LOSS_H

#include "math.cuh"
#include "reduce.cuh"

GNN_INLINE gnn_real gnn_row_maximum(const gnn_real *row, int64_t classes) {
  gnn_real maximum = -INFINITY;
  for (int64_t c = threadIdx.x % 32; c < classes; c += 32) maximum = row[c] > maximum ? row[c] : maximum;
  return gnn_group_maximum<32>(maximum);
}

GNN_INLINE double gnn_row_exp_sum(const gnn_real *row, int64_t classes, gnn_real maximum) {
  double sum = 0;
  for (int64_t c = threadIdx.x % 32; c < classes; c += 32) sum += (double)gnn_exp(row[c] - maximum);
  return gnn_group_sum<32, 1>(sum);
}

/* What a warp does with labelled row r: -log p(label), in its first lane. */
GNN_INLINE double gnn_row_loss(const gnn_real *row, int64_t classes, int32_t label) {
  const gnn_real maximum = gnn_row_maximum(row, classes);
  const double sum = gnn_row_exp_sum(row, classes, maximum);
  return threadIdx.x % 32 == 0 ? log(sum) + (double)maximum - (double)row[label] : 0;
}

/* sum = that of -log p(label) over the positions [begin, end) of the list, which the warps of a block share by their place. */
GNN_INLINE void gnn_cross_entropy_rows(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const int32_t *rows, int64_t begin,
                                       int64_t end, double *sum) {
  double loss = 0;
  for (int64_t i = begin + threadIdx.x / 32; i < end; i += GNN_THREADS / 32) loss += gnn_row_loss(scores + rows[i] * stride, classes, labels[rows[i]]);
  loss = gnn_block_sum<1>(loss);
  if (threadIdx.x == 0) *sum = loss;
}

/* sums[block]: over the labelled rows of a canonical block. */
GNN_INLINE void gnn_cross_entropy_block(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const int32_t *rows, int64_t row_count,
                                        const gnn_view_blocks *blocks, double *sums) {
  gnn_cross_entropy_rows(scores, stride, classes, labels, rows, gnn_entry_of(rows, 0, row_count, blocks->first[blockIdx.x]),
                         gnn_entry_of(rows, 0, row_count, blocks->first[blockIdx.x + 1]), &sums[blockIdx.x]);
}

/* By one block. */
GNN_INLINE void gnn_cross_entropy_mean(double *sums, const gnn_view_blocks *blocks, int64_t row_count, double *loss) {
  gnn_sum_tree(sums, INT64_C(1) << blocks->levels, 1);
  if (threadIdx.x == 0) *loss = sums[0] / (double)row_count;
}

/* gradient[row] = (softmax - onehot) / row_count for the rows listed; all others have to be zero already. */
template <class T>
GNN_INLINE void gnn_cross_entropy_gradient(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const int32_t *rows,
                                           int64_t row_count, T *gradient, int64_t gradient_stride) {
  const double count = (double)row_count;
  for (int64_t i = gnn_group<32>(); i < row_count; i += gnn_groups<32>()) {
    const gnn_real *row = scores + rows[i] * stride, maximum = gnn_row_maximum(row, classes);
    const gnn_real scale = (gnn_real)(1 / (gnn_row_exp_sum(row, classes, maximum) * count));
    T *to = gradient + rows[i] * gradient_stride;
    for (int64_t c = threadIdx.x % 32; c < classes; c += 32)
      gnn_put(&to[c], gnn_exp(row[c] - maximum) * scale - (c == labels[rows[i]] ? (gnn_real)(1 / count) : 0));
  }
}

/* Of the row's largest scores the first; -1 where one is no number. */
GNN_INLINE int64_t gnn_row_best(const gnn_real *row, int64_t classes) {
  const int64_t lane = threadIdx.x % 32;
  gnn_real largest = -INFINITY;
  int64_t best = classes;
  bool is_nan = false;
  for (int64_t c = lane; c < classes; c += 32) {
    is_nan = is_nan || row[c] != row[c];
    if (best == classes || row[c] > largest) {
      largest = row[c];
      best = c;
    }
  }
  GNN_UNROLL for (int bits = 1; bits < 32; bits *= 2) {
    const gnn_real other = __shfl_xor_sync(~0u, largest, bits);
    const int64_t place = __shfl_xor_sync(~0u, best, bits);
    const bool is_better = other > largest || (other == largest && place < best);
    largest = is_better ? other : largest;
    best = is_better ? place : best;
  }
  return __ballot_sync(~0u, is_nan) ? -1 : best;
}

/* results[split][block] = the sum of -log p(label) over rows of the split, and how many have their label as best. A block of threads
 * for each canonical block of each split. */
GNN_INLINE void gnn_measure_block(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const gnn_view *g, double *results) {
  const int64_t split = blockIdx.x >> g->blocks.levels, block = blockIdx.x - (split << g->blocks.levels), count = g->row_count[split];
  const int64_t end = gnn_entry_of(g->rows[split], 0, count, g->blocks.first[block + 1]);
  double loss = 0, hits = 0;
  for (int64_t i = gnn_entry_of(g->rows[split], 0, count, g->blocks.first[block]) + threadIdx.x / 32; i < end; i += GNN_THREADS / 32) {
    const int64_t r = g->rows[split][i];
    const gnn_real *row = scores + r * stride;
    const int64_t best = gnn_row_best(row, classes);
    loss += gnn_row_loss(row, classes, labels[r]);
    hits += threadIdx.x % 32 == 0 && best == labels[r];
  }
  loss = gnn_block_sum<1>(loss);
  hits = gnn_block_sum<1>(hits);
  if (threadIdx.x == 0) results[2 * blockIdx.x] = loss, results[2 * blockIdx.x + 1] = hits;
}

/* sums[split] = the sum of its blocks; a block of threads for each split. */
GNN_INLINE void gnn_measure_split(double *results, const gnn_view_blocks *blocks, double *sums) {
  const int64_t count = INT64_C(1) << blocks->levels;
  double *own = results + 2 * (blockIdx.x * count);
  gnn_sum_tree(own, count, 2);
  gnn_sum_tree(own + 1, count, 2);
  if (threadIdx.x < 2) sums[2 * blockIdx.x + threadIdx.x] = own[threadIdx.x];
}

#endif
