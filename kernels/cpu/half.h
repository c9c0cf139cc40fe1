/* half.h: numbers in memory as bf16, the upper half of an fp32. Computed with is fp32 alone; the conversions are of integers, in vectors and one
 * by one alike, and leave the bits of kernels/cuda/half.cuh. Those of AVX512-BF16 do not: they make zeros of subnormal numbers.
 */
#ifndef GNN_HALF_H
#define GNN_HALF_H

#include "vector.h"

typedef struct gnn_half {
  uint16_t bits;
} gnn_half;

GNN_INLINE gnn_real gnn_number(gnn_half x) { return gnn_float_of((uint32_t)x.bits << 16); }

/* To nearest even; what is no number stays none. */
GNN_INLINE gnn_half gnn_rounded(gnn_real x) {
  const uint32_t word = gnn_bits_of((float)x);
  return (gnn_half){(uint16_t)(x != x ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16)};
}

GNN_INLINE void gnn_numbers(const gnn_half *from, int64_t count, gnn_real *restrict to) {
  for (int64_t i = 0; i < count; i++) to[i] = gnn_number(from[i]);
}

/* gnn_numbersN: N of them, at any address of one. */
#ifdef GNN_DOUBLE
#define GNN_DEFINE_NUMBERS(lanes)                                         \
  GNN_INLINE gnn_vec##lanes gnn_numbers##lanes(const gnn_half *x) {       \
    gnn_vec##lanes numbers = {0};                                         \
    for (int i = 0; i < lanes; i++) numbers[i] = gnn_number(x[i]);        \
    return numbers;                                                       \
  }
#else
#define GNN_DEFINE_NUMBERS(lanes)                                                                                 \
  typedef uint16_t gnn_halves##lanes##_at __attribute__((vector_size(lanes * 2), aligned(2), may_alias));         \
  typedef uint32_t gnn_words##lanes __attribute__((vector_size(lanes * 4)));                                      \
  GNN_INLINE gnn_vec##lanes gnn_numbers##lanes(const gnn_half *x) {                                               \
    return (gnn_vec##lanes)(__builtin_convertvector(*(const gnn_halves##lanes##_at *)x, gnn_words##lanes) << 16); \
  }
#endif

GNN_INLINE gnn_vec1 gnn_numbers1(const gnn_half *x) { return gnn_number(*x); }
GNN_DEFINE_NUMBERS(2)
#if GNN_LANES >= 4
GNN_DEFINE_NUMBERS(4)
#endif
#if GNN_LANES >= 8
GNN_DEFINE_NUMBERS(8)
#endif
#if GNN_LANES >= 16
GNN_DEFINE_NUMBERS(16)
#endif

#endif
