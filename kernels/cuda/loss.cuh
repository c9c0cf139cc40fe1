/* loss.cuh: softmax cross entropy over a list of labelled rows; see kernels/cpu/loss.h. A warp a row. */
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

/* parts[block] = the sum of -log p(label) over the rows that come to this block. */
GNN_INLINE void gnn_cross_entropy_part(const gnn_real *scores, int64_t classes, const int32_t *labels, const int32_t *rows,
                                       int64_t row_count, double *parts) {
  double loss = 0;
  for (int64_t i = gnn_group<32>(); i < row_count; i += gnn_groups<32>()) {
    const gnn_real *row = scores + rows[i] * classes, maximum = gnn_row_maximum(row, classes);
    const double sum = gnn_row_exp_sum(row, classes, maximum);
    if (threadIdx.x % 32 == 0) loss += log(sum) + (double)maximum - (double)row[labels[rows[i]]];
  }
  loss = gnn_block_sum<1>(loss);
  if (threadIdx.x == 0) parts[blockIdx.x] = loss;
}

/* By one block. */
GNN_INLINE void gnn_cross_entropy_mean(const double *parts, int64_t part_count, int64_t row_count, double *loss) {
  double sum = 0;
  for (int64_t p = threadIdx.x; p < part_count; p += GNN_THREADS) sum += parts[p];
  sum = gnn_block_sum<1>(sum);
  if (threadIdx.x == 0) *loss = sum / (double)row_count;
}

/* gradient[row] = (softmax - onehot) / row_count for the rows listed; all others have to be zero already. */
template <class T>
GNN_INLINE void gnn_cross_entropy_gradient(const gnn_real *scores, int64_t classes, const int32_t *labels, const int32_t *rows,
                                           int64_t row_count, T *gradient) {
  const double count = (double)row_count;
  for (int64_t i = gnn_group<32>(); i < row_count; i += gnn_groups<32>()) {
    const gnn_real *row = scores + rows[i] * classes, maximum = gnn_row_maximum(row, classes);
    const gnn_real scale = (gnn_real)(1 / (gnn_row_exp_sum(row, classes, maximum) * count));
    T *to = gradient + rows[i] * classes;
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

/* results[split][part] = the sum of -log p(label) over rows of the split, and how many have their label as best. A block
 * for each part of each split. */
GNN_INLINE void gnn_measure_part(const gnn_real *scores, int64_t classes, const int32_t *labels, const gnn_view *g, int parts, double *results) {
  const int split = (int)blockIdx.x / parts, part = (int)blockIdx.x % parts;
  double loss = 0, hits = 0;
  for (int64_t i = part * (GNN_THREADS / 32) + threadIdx.x / 32; i < g->row_count[split]; i += parts * (GNN_THREADS / 32)) {
    const int64_t r = g->rows[split][i];
    const gnn_real *row = scores + r * classes, maximum = gnn_row_maximum(row, classes);
    const double sum = gnn_row_exp_sum(row, classes, maximum);
    const int64_t best = gnn_row_best(row, classes);
    if (threadIdx.x % 32 != 0) continue;
    loss += log(sum) + (double)maximum - (double)row[labels[r]];
    hits += best == labels[r];
  }
  loss = gnn_block_sum<1>(loss);
  hits = gnn_block_sum<1>(hits);
  if (threadIdx.x == 0) results[2 * blockIdx.x] = loss, results[2 * blockIdx.x + 1] = hits;
}

/* sums[split] = the sum of its parts; a block for each split. */
GNN_INLINE void gnn_measure_split(const double *results, int parts, double *sums) {
  double loss = 0, hits = 0;
  for (int p = (int)threadIdx.x; p < parts; p += GNN_THREADS) {
    loss += results[2 * (blockIdx.x * parts + p)];
    hits += results[2 * (blockIdx.x * parts + p) + 1];
  }
  loss = gnn_block_sum<1>(loss);
  hits = gnn_block_sum<1>(hits);
  if (threadIdx.x == 0) sums[2 * blockIdx.x] = loss, sums[2 * blockIdx.x + 1] = hits;
}

#endif
