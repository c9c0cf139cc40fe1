/* reduce.cuh: clearing, transposing, and sums over blocks in a fixed order. */
#ifndef GNN_CUDA_REDUCE_H
#define GNN_CUDA_REDUCE_H

#include "half.cuh"

template <class T> GNN_INLINE void gnn_zero(T *x, int64_t count) {
  for (int64_t i = gnn_group<1>(); i < count; i += gnn_groups<1>()) gnn_put(&x[i], 0);
}

/* y = x^T; x: [rows, cols], y: [cols, rows], row-major. One tile of 32 x 32 a block. */
GNN_INLINE void gnn_transpose(const gnn_real *x, int64_t rows, int64_t cols, gnn_real *y) {
  __shared__ gnn_real tile[32][33];
  const int64_t across = (cols + 31) / 32, row = blockIdx.x / across * 32, col = blockIdx.x % across * 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = warp; i < 32; i += GNN_THREADS / 32)
    if (row + i < rows && col + lane < cols) tile[i][lane] = x[(row + i) * cols + col + lane];
  __syncthreads();
  for (int i = warp; i < 32; i += GNN_THREADS / 32)
    if (col + i < cols && row + lane < rows) y[(col + i) * rows + row + lane] = tile[lane][i];
  __syncthreads();
}

/* Over the threads of the block with the same place modulo APART; those below APART get it. */
template <int APART, class T> GNN_INLINE T gnn_block_sum(T x) {
  __shared__ T sums[GNN_THREADS];
  sums[threadIdx.x] = x;
  for (int half = GNN_THREADS / 2; half >= APART; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  x = sums[threadIdx.x];
  __syncthreads();
  return x;
}

/* to[0 .. count) = the sum of the parts, each count numbers, one after the other in memory: a block for 32 numbers, its
 * warps sharing the parts. */
GNN_INLINE void gnn_sum_parts(const gnn_real *part, int64_t parts, int64_t count, gnn_real *to) {
  const int64_t i = (int64_t)blockIdx.x * 32 + threadIdx.x % 32;
  gnn_real sum = 0;
  if (i < count) {
    for (int64_t p = threadIdx.x / 32; p < parts; p += GNN_THREADS / 32) sum += part[p * count + i];
  }
  sum = gnn_block_sum<32>(sum);
  if (threadIdx.x < 32 && i < count) to[i] = sum;
}

#endif
