/* gemm.cuh: dense products: C[i, j] = sum over k of A[i, k] B[k, j], a tile of C a block; in fp32, whatever A and B are kept in.
 *
 * Slices of A and B go through shared memory while the next ones are fetched into registers. Every element is one chain
 * of fused multiply-adds over k in ascending order. The tile is left in shared memory, for whoever stores it.
 * a_by_k: A is stored [k, i]; b_by_j: B is stored [j, k]; else [i, k] and [k, j], all row-major.
 */
#ifndef GNN_CUDA_GEMM_H
#define GNN_CUDA_GEMM_H

#include "half.cuh"
#include "math.cuh"
#include "reduce.cuh"

enum { GNN_GEMM_DEPTH = 16 };

template <int ROWS, int COLUMNS> struct __align__(16) gnn_gemm_tile {
  union {
    struct {
      gnn_real a[GNN_GEMM_DEPTH][ROWS + 4], b[GNN_GEMM_DEPTH][COLUMNS + 4];
    };
    gnn_real c[ROWS][COLUMNS];
  };
};

/* A slice of `DEPTH` k by SIZE places, EACH numbers a thread: consecutive threads read consecutive numbers. */
template <int SIZE, bool by_k> struct gnn_gemm_slice {
  enum { EACH = SIZE * GNN_GEMM_DEPTH / GNN_THREADS };
  gnn_real number[EACH];

  static __device__ __forceinline__ int k_of(int n) { return by_k ? n / SIZE : n % GNN_GEMM_DEPTH; }
  static __device__ __forceinline__ int place_of(int n) { return by_k ? n % SIZE : n / GNN_GEMM_DEPTH; }

  template <class T> __device__ __forceinline__ void fetch(const T *from, int64_t stride, int64_t place, int64_t places, int64_t k, int64_t end) {
    GNN_UNROLL for (int u = 0; u < EACH; u++) {
      const int n = u * GNN_THREADS + (int)threadIdx.x;
      const int64_t p = place + place_of(n), d = k + k_of(n);
      number[u] = p < places && d < end ? gnn_number(from[by_k ? d * stride + p : p * stride + d]) : 0;
    }
  }
  __device__ __forceinline__ void put(gnn_real (*to)[SIZE + 4]) const {
    GNN_UNROLL for (int u = 0; u < EACH; u++) {
      const int n = u * GNN_THREADS + (int)threadIdx.x;
      to[k_of(n)][place_of(n)] = number[u];
    }
  }
};

template <int COUNT> GNN_INLINE void gnn_load4(const gnn_real *from, gnn_real *to) {
  GNN_UNROLL for (int i = 0; i < COUNT; i += 4) {
    const float4 four = *(const float4 *)(const void *)(from + i);
    to[i] = four.x, to[i + 1] = four.y, to[i + 2] = four.z, to[i + 3] = four.w;
  }
}

/* tile->c = C[i0 .. i0 + ROWS, j0 .. j0 + COLUMNS] over k of [begin, end), zeros outside rows x columns. By a whole
 * block; a barrier has to pass before and after others use the tile. */
template <int ROWS, int COLUMNS, bool a_by_k, bool b_by_j, class A, class B>
GNN_INLINE void gnn_gemm(const A *a, int64_t a_stride, const B *b, int64_t b_stride, int64_t rows, int64_t columns,
                         int64_t i0, int64_t j0, int64_t begin, int64_t end, gnn_gemm_tile<ROWS, COLUMNS> *tile) {
  enum { WIDE = 4, ACROSS = COLUMNS / WIDE, HIGH = ROWS * COLUMNS / WIDE / GNN_THREADS };
  const int x = (int)threadIdx.x % ACROSS * WIDE, y = (int)threadIdx.x / ACROSS * HIGH;
  gnn_real sum[HIGH][WIDE] = {};
  gnn_gemm_slice<ROWS, a_by_k> next_a;
  gnn_gemm_slice<COLUMNS, !b_by_j> next_b;
  next_a.fetch(a, a_stride, i0, rows, begin, end);
  next_b.fetch(b, b_stride, j0, columns, begin, end);
  for (int64_t k = begin; k < end; k += GNN_GEMM_DEPTH) {
    __syncthreads();
    next_a.put(tile->a);
    next_b.put(tile->b);
    __syncthreads();
    next_a.fetch(a, a_stride, i0, rows, k + GNN_GEMM_DEPTH, end);
    next_b.fetch(b, b_stride, j0, columns, k + GNN_GEMM_DEPTH, end);
    GNN_UNROLL for (int d = 0; d < GNN_GEMM_DEPTH; d++) {
      gnn_real left[HIGH], right[WIDE];
      gnn_load4<HIGH>(&tile->a[d][y], left);
      gnn_load4<WIDE>(&tile->b[d][x], right);
      GNN_UNROLL for (int i = 0; i < HIGH; i++)
        GNN_UNROLL for (int j = 0; j < WIDE; j++) sum[i][j] = gnn_fma(left[i], right[j], sum[i][j]);
    }
  }
  __syncthreads();
  GNN_UNROLL for (int i = 0; i < HIGH; i++)
    GNN_UNROLL for (int j = 0; j < WIDE; j++) tile->c[y + i][x + j] = sum[i][j];
  __syncthreads();
}

/* One tile of dB = A^T G over a run of rows, [begin, end) of a: [rows, depth] and g: [rows, width], for a walker over runs. A stride is how
 * many numbers lie from a row to the next. */
template <int SIZE, class A, class G>
GNN_INLINE void gnn_outer_run(const A *a, int64_t a_stride, const G *g, int64_t g_stride, int64_t depth, int64_t width, int64_t i0, int64_t j0,
                              int64_t begin, int64_t end, const gnn_walk *walk) {
  __shared__ gnn_gemm_tile<SIZE, SIZE> tile;
  gnn_gemm<SIZE, SIZE, true, false>(a, a_stride, g, g_stride, depth, width, i0, j0, begin, end, &tile);
  for (int n = (int)threadIdx.x; n < SIZE * SIZE; n += GNN_THREADS) {
    const int64_t i = i0 + n / SIZE, j = j0 + n % SIZE;
    if (i < depth && j < width) gnn_walk_add(walk, i * width + j, tile.c[n / SIZE][n % SIZE]);
  }
}

/* Rows [first, rows) of C = A op(B) + addend + bias, then relu: what a library is asked for, where there is none that does it. A: [rows, depth];
 * B: [depth, columns], or transposed; bias and addend may be NULL, the addend, which has C's stride, may be C. A tile a block. */
template <int ROWS, int COLUMNS, bool TRANSPOSED, class A, class B, class Bias, class C>
GNN_INLINE void gnn_product(const A *a, int64_t a_stride, const B *b, int64_t b_stride, const Bias *bias, const C *addend, bool is_relu, C *c, int64_t c_stride,
                            int64_t first, int64_t rows, int64_t depth, int64_t columns) {
  __shared__ gnn_gemm_tile<ROWS, COLUMNS> tile;
  const int64_t across = (columns + COLUMNS - 1) / COLUMNS, row = first + blockIdx.x / across * ROWS, column = blockIdx.x % across * COLUMNS;
  gnn_gemm<ROWS, COLUMNS, false, TRANSPOSED>(a, a_stride, b, b_stride, rows, columns, row, column, 0, depth, &tile);
  for (int i = (int)threadIdx.x; i < ROWS * COLUMNS; i += GNN_THREADS) {
    const int64_t r = row + i / COLUMNS, j = column + i % COLUMNS;
    if (r >= rows || j >= columns) continue;
    gnn_real sum = tile.c[i / COLUMNS][i % COLUMNS];
    if (addend) sum += gnn_number(addend[r * c_stride + j]);
    if (bias) sum += gnn_number(bias[j]);
    gnn_put(&c[r * c_stride + j], is_relu && !(sum > 0) ? 0 : sum);
  }
}

#endif
