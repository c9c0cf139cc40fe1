/* half.cuh: numbers in memory as bf16, the upper half of an fp32. Computed with is fp32 alone; the conversions are of integers, which
 * every GPU has. */
#ifndef GNN_CUDA_HALF_H
#define GNN_CUDA_HALF_H

#include "device.cuh"

struct gnn_half {
  uint16_t bits;
};

/* An element of memory, whatever it is kept in. */
GNN_INLINE gnn_real gnn_number(gnn_real x) { return x; }
GNN_INLINE gnn_real gnn_number(gnn_half x) { return __uint_as_float((uint32_t)x.bits << 16); }

/* To nearest even; what is no number stays none. */
GNN_INLINE gnn_half gnn_rounded(gnn_real x) {
  const uint32_t word = __float_as_uint(x);
  return gnn_half{(uint16_t)(x != x ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16)};
}

GNN_INLINE void gnn_put(gnn_real *to, gnn_real x) { *to = x; }
GNN_INLINE void gnn_put(gnn_half *to, gnn_real x) { *to = gnn_rounded(x); }

/* ---- numbers that lie together ---- */

template <class T, int COUNT> struct alignas(sizeof(T) * COUNT) gnn_together {
  T of[COUNT];
};

/* to[0 .. N) = the N numbers at `from`, a multiple of BYTES, as many together as BYTES have. */
template <int BYTES, class T, int N> GNN_INLINE void gnn_load(const T *from, gnn_real (&to)[N]) {
  enum { COUNT = BYTES / (int)sizeof(T) };
  GNN_UNROLL for (int i = 0; i < N; i += COUNT) {
    const gnn_together<T, COUNT> x = *(const gnn_together<T, COUNT> *)(const void *)(from + i);
    GNN_UNROLL for (int k = 0; k < COUNT; k++) to[i + k] = gnn_number(x.of[k]);
  }
}

template <int BYTES, class T, int N> GNN_INLINE void gnn_store(T *to, const gnn_real (&from)[N]) {
  enum { COUNT = BYTES / (int)sizeof(T) };
  GNN_UNROLL for (int i = 0; i < N; i += COUNT) {
    gnn_together<T, COUNT> x;
    GNN_UNROLL for (int k = 0; k < COUNT; k++) gnn_put(&x.of[k], from[i + k]);
    *(gnn_together<T, COUNT> *)(void *)(to + i) = x;
  }
}

/* There are `count` only: what lies behind them is neither read nor written. */
template <int BYTES, class T, int N> GNN_INLINE void gnn_load(const T *from, gnn_real (&to)[N], int count) {
  GNN_UNROLL for (int i = 0; i < N; i++) to[i] = i < count ? gnn_number(from[i]) : 0;
}

template <int BYTES, class T, int N> GNN_INLINE void gnn_store(T *to, const gnn_real (&from)[N], int count) {
  if (count >= N) gnn_store<BYTES>(to, from);
  else
    GNN_UNROLL for (int i = 0; i < N; i++)
      if (i < count) gnn_put(&to[i], from[i]);
}

/* For a library, whose factors are all of one kind: rows of x, which lie side by side, `stride` numbers apart. */
template <class T> GNN_INLINE void gnn_put_rows(const gnn_real *x, int64_t rows, int64_t width, T *to, int64_t stride) {
  for (int64_t i = gnn_group<1>(); i < rows * width; i += gnn_groups<1>()) gnn_put(&to[i / width * stride + i % width], x[i]);
}

#endif
