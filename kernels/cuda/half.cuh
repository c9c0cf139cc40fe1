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

/* For a library, whose factors are all of one kind: rows of x, which lie side by side, `stride` numbers apart. */
template <class T> GNN_INLINE void gnn_put_rows(const gnn_real *x, int64_t rows, int64_t width, T *to, int64_t stride) {
  for (int64_t i = gnn_group<1>(); i < rows * width; i += gnn_groups<1>()) gnn_put(&to[i / width * stride + i % width], x[i]);
}

#endif
