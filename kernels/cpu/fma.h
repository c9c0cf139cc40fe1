/* fma.h: a * b + c, rounded once, of single numbers and of vectors: the same bits on every processor.
 *
 * By the processor where it can. x86-64 before FMA (x86-64-v3) cannot: there the product is exact in double, and so that the sum is
 * rounded once it is first rounded to odd. Where it is inexact and its last bit is 0, the other double beside the exact sum is taken;
 * what is then rounded to float is rounded as the exact sum would be (Boldo and Melquiond 2008).
 *
 * A part of vector.h, which includes this once the vectors are there.
 */
#ifndef GNN_FMA_H
#define GNN_FMA_H

#if defined __x86_64__ && !defined __FMA__
#define GNN_NO_FMA
#endif

/* By its name in the compiler, where that is known: of the 50,000 lines of immintrin.h no other one is needed, and reading them is a fifth of the time
 * that a small program takes to compile. */
#if defined __FMA__
#if defined __has_builtin && !defined GNN_IMMINTRIN
#if __has_builtin(__builtin_ia32_vfmaddps) && __has_builtin(__builtin_ia32_vfmaddpd256) && (!defined __AVX512F__ || __has_builtin(__builtin_ia32_vfmaddps512_mask))
#define GNN_HAS_FMA_NAMES
#endif
#endif
#ifdef GNN_HAS_FMA_NAMES
enum { GNN_ROUND_AS_SET = 4 };
#define gnn_fma_ps __builtin_ia32_vfmaddps
#define gnn_fma_pd __builtin_ia32_vfmaddpd
#define gnn_fma_ps256 __builtin_ia32_vfmaddps256
#define gnn_fma_pd256 __builtin_ia32_vfmaddpd256
#define gnn_fma_ps512(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, GNN_ROUND_AS_SET)
#define gnn_fma_pd512(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, (unsigned char)-1, GNN_ROUND_AS_SET)
#else
#include <immintrin.h>
#define gnn_fma_ps _mm_fmadd_ps
#define gnn_fma_pd _mm_fmadd_pd
#define gnn_fma_ps256 _mm256_fmadd_ps
#define gnn_fma_pd256 _mm256_fmadd_pd
#define gnn_fma_ps512 _mm512_fmadd_ps
#define gnn_fma_pd512 _mm512_fmadd_pd
#endif
#endif

#define GNN_FMA_BY_LANES(lanes)                                                                           \
  GNN_INLINE gnn_vec##lanes gnn_fma##lanes(gnn_vec##lanes a, gnn_vec##lanes b, gnn_vec##lanes c) {        \
    GNN_UNROLL for (int lane = 0; lane < lanes; lane++) c[lane] = gnn_fma(a[lane], b[lane], c[lane]);     \
    return c;                                                                                             \
  }
#define GNN_FMA_BY(lanes, intrinsic)                                                                      \
  GNN_INLINE gnn_vec##lanes gnn_fma##lanes(gnn_vec##lanes a, gnn_vec##lanes b, gnn_vec##lanes c) { return intrinsic(a, b, c); }

#ifdef GNN_DOUBLE /* gradcheck compares no bits: without FMA it rounds twice */

#ifdef GNN_NO_FMA
GNN_INLINE double gnn_fma(double a, double b, double c) { return a * b + c; }
#else
GNN_INLINE double gnn_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#endif
#ifdef __FMA__
GNN_FMA_BY(2, gnn_fma_pd)
#if GNN_LANES >= 4
GNN_FMA_BY(4, gnn_fma_pd256)
#endif
#if GNN_LANES >= 8
GNN_FMA_BY(8, gnn_fma_pd512)
#endif
#else
GNN_FMA_BY_LANES(2)
#if GNN_LANES >= 4
GNN_FMA_BY_LANES(4)
#endif
#if GNN_LANES >= 8
GNN_FMA_BY_LANES(8)
#endif
#endif

#elif defined GNN_NO_FMA

GNN_INLINE float gnn_fma(float a, float b, float c) {
  const double product = (double)a * (double)b, sum = product + (double)c, part = sum - product;
  const double error = (product - (sum - part)) + ((double)c - part); /* exact; NaN where the sum is not finite */
  union { double number; int64_t bits; } odd = {sum}, off = {error};
  const int64_t is_inexact = (error < 0) | (error > 0), away = 1 - 2 * (int64_t)((uint64_t)(odd.bits ^ off.bits) >> 63);
  odd.bits += away & -(is_inexact & ~odd.bits);
  return (float)odd.number;
}
GNN_INLINE __m128d gnn_sum_to_odd(__m128d product, __m128d c) {
  const __m128d sum = product + c, part = sum - product, error = (product - (sum - part)) + (c - part), zero = _mm_setzero_pd();
  const __m128i bits = (__m128i)sum, one = _mm_set1_epi64x(1), is_inexact = (__m128i)_mm_or_pd(_mm_cmplt_pd(error, zero), _mm_cmpgt_pd(error, zero));
  const __m128i sides = _mm_srli_epi64(bits ^ (__m128i)error, 63), away = one - (sides + sides), is_even = (bits & one) - one;
  return (__m128d)(bits + (away & is_even & is_inexact));
}
GNN_FMA_BY_LANES(2)
GNN_INLINE gnn_vec4 gnn_fma4(gnn_vec4 a, gnn_vec4 b, gnn_vec4 c) {
  const __m128d low = gnn_sum_to_odd(_mm_cvtps_pd(a) * _mm_cvtps_pd(b), _mm_cvtps_pd(c));
  a = _mm_movehl_ps(a, a), b = _mm_movehl_ps(b, b), c = _mm_movehl_ps(c, c);
  const __m128d high = gnn_sum_to_odd(_mm_cvtps_pd(a) * _mm_cvtps_pd(b), _mm_cvtps_pd(c));
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

#else

GNN_INLINE float gnn_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GNN_FMA_BY_LANES(2)
#if defined __FMA__
GNN_FMA_BY(4, gnn_fma_ps)
#if GNN_LANES >= 8
GNN_FMA_BY(8, gnn_fma_ps256)
#endif
#if GNN_LANES >= 16
GNN_FMA_BY(16, gnn_fma_ps512)
#endif
#elif defined __aarch64__
GNN_INLINE gnn_vec4 gnn_fma4(gnn_vec4 a, gnn_vec4 b, gnn_vec4 c) { return (gnn_vec4)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#ifdef GNN_HAS_SVE
typedef svfloat32_t gnn_sve __attribute__((arm_sve_vector_bits(GNN_SVE_BITS)));
GNN_INLINE gnn_vec gnn_fma_sve(gnn_vec a, gnn_vec b, gnn_vec c) { return (gnn_vec)(gnn_sve)svmla_f32_x(svptrue_b32(), (gnn_sve)c, (gnn_sve)a, (gnn_sve)b); }
#if GNN_LANES == 16
GNN_FMA_BY_LANES(8)
GNN_FMA_BY(16, gnn_fma_sve)
#else
GNN_FMA_BY(8, gnn_fma_sve)
#endif
#endif
#else
GNN_FMA_BY_LANES(4)
#endif

#endif
#define gnn_fma1 gnn_fma

#endif
