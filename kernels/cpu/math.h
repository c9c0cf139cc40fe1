/* math.h: elementary functions without branches, so that a loop over elements vectorises.
 *
 * float: polynomials fitted to least the largest relative error, each good to 1e-8 before rounding; results are off by at
 * most 2 units in the last place, of functions made of others 4 (tests/kernels/math.c). Infinities, NaN, zeros
 * and subnormal numbers give what libm gives, except where said.
 * double: libm, for gradcheck.
 */
#ifndef GNN_MATH_H
#define GNN_MATH_H

#include "vector.h"

#include <math.h>

#ifdef GNN_DOUBLE

GNN_INLINE double gnn_exp(double x) { return exp(x); }
GNN_INLINE double gnn_expm1(double x) { return expm1(x); }
GNN_INLINE double gnn_log(double x) { return log(x); }
GNN_INLINE double gnn_log1p(double x) { return log1p(x); }
GNN_INLINE double gnn_log1p_unit(double x) { return log1p(x); }
GNN_INLINE double gnn_tanh(double x) { return tanh(x); }
GNN_INLINE double gnn_erf(double x) { return erf(x); }
GNN_INLINE double gnn_sqrt(double x) { return sqrt(x); }
GNN_INLINE double gnn_abs(double x) { return fabs(x); }

#else

/* 2^n as two factors, n of [-150, 128], each a normal number; n in 9 or more bits of two's complement. */
typedef struct gnn_power {
  float half, rest;
} gnn_power;

GNN_INLINE gnn_power gnn_power_of(uint32_t n) {
  const uint32_t half = (uint32_t)((int32_t)n >> 1);
  return (gnn_power){gnn_float_of((half + 127) << 23), gnn_float_of((n - half + 127) << 23)};
}

/* x = n ln 2 + r, |r| <= ln 2 / 2, and p = exp(r) - 1. Adding 1.5 * 2^23 rounds to the nearest integer, n, which is
 * then in the low bits. */
typedef struct gnn_exp_parts {
  float p;
  uint32_t n;
} gnn_exp_parts;

GNN_INLINE gnn_exp_parts gnn_exp_split(float x) {
  const float shift = 12582912.0f;
  const float shifted = gnn_fma(x, 1.44269504f, shift), n = shifted - shift;
  const float r = gnn_fma(n, -0.00174093060f, gnn_fma(n, -0.69140625f, x)); /* ln 2, the first part short: n times it is
                                                                              exact */
  float q = 0x1.6a2428p-10f;
  q = gnn_fma(q, r, 0x1.1239e2p-7f);
  q = gnn_fma(q, r, 0x1.5558f2p-5f);
  q = gnn_fma(q, r, 0x1.555492p-3f);
  q = gnn_fma(q, r, 0x1.fffffcp-2f);
  return (gnn_exp_parts){gnn_fma(r * r, q, r), gnn_bits_of(shifted) - gnn_bits_of(shift)};
}

GNN_INLINE float gnn_exp(float x) {
  const float low = x < -104.0f ? -104.0f : x, bounded = low > 89.0f ? 89.0f : low;
  const gnn_exp_parts e = gnn_exp_split(bounded);
  const gnn_power two = gnn_power_of(e.n);
  return (1 + e.p) * two.half * two.rest;
}

GNN_INLINE float gnn_expm1(float x) {
  const float low = x < -104.0f ? -104.0f : x, bounded = low > 89.0f ? 89.0f : low;
  const gnn_exp_parts e = gnn_exp_split(bounded);
  const gnn_power two = gnn_power_of(e.n);
  const float large = (1 + e.p) * two.half * two.rest;
  const float scale = two.half * two.rest, small = gnn_fma(e.p, scale, scale - 1);
  const float result = bounded > 40.0f ? large : small;
  return x == 0 ? x : result;
}

/* log x + n log 2 for a positive normal x = 2^e (1 + f), 1 + f of [sqrt(1/2), sqrt 2]. */
GNN_INLINE float gnn_log_normal(float x, float n) {
  const uint32_t root = gnn_bits_of(0x1.6a09e6p-1f);
  const int32_t e = (int32_t)(gnn_bits_of(x) - root) >> 23;
  const float f = gnn_float_of(gnn_bits_of(x) - ((uint32_t)e << 23)) - 1;
  n += (float)e;
  float q = -0x1.38b48ap-4f;
  q = gnn_fma(q, f, 0x1.055af2p-3f);
  q = gnn_fma(q, f, -0x1.0d8538p-3f);
  q = gnn_fma(q, f, 0x1.22da2ep-3f);
  q = gnn_fma(q, f, -0x1.547248p-3f);
  q = gnn_fma(q, f, 0x1.99a008p-3f);
  q = gnn_fma(q, f, -0x1.000226p-2f);
  q = gnn_fma(q, f, 0x1.555554p-2f);
  const float square = f * f, rest = gnn_fma(square * f, q, n * 0.00174093060f);
  return gnn_fma(n, 0.69140625f, f) + gnn_fma(square, -0.5f, rest);
}

GNN_INLINE float gnn_log(float x) {
  const int is_subnormal = x < 0x1p-126f;
  const float result = gnn_log_normal(is_subnormal ? x * 0x1p23f : x, is_subnormal ? -23.0f : 0.0f);
  const float finite = x > 0 ? result : x == 0 ? -INFINITY : NAN;
  return x < INFINITY ? finite : x; /* infinity and NaN */
}

/* u = 1 + x rounded; what was rounded off, x - (u - 1), comes back divided by u. */
GNN_INLINE float gnn_log1p(float x) {
  const float u = 1 + x;
  const float lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  const float correction = ((x > -1) & (x < INFINITY)) ? lost / u : 0;
  const float result = gnn_log(u) + correction;
  return x == 0 ? x : result; /* of either sign */
}

/* For x of [0, 1], and NaN. */
GNN_INLINE float gnn_log1p_unit(float x) {
  const float u = 1 + x;
  return gnn_log_normal(u, 0) + (x - (u - 1)) / u;
}

/* With t = exp(2|x|) - 1: t / (t + 2). */
GNN_INLINE float gnn_tanh(float x) {
  const float size = fabsf(x), bounded = size > 10.0f ? 10.0f : size;
  const float t = gnn_expm1(2 * bounded);
  return copysignf(t / (t + 2), x);
}

/* x + x P(x^2) up to 1, beyond it 1 - exp(Q(|x|)). */
GNN_INLINE float gnn_erf(float x) {
  const float size = fabsf(x), t = size > 4.0f ? 4.0f : size, s = t * t;
  float p = 0x1.496a1ap-14f;
  p = gnn_fma(p, s, -0x1.a3f6f6p-11f);
  p = gnn_fma(p, s, 0x1.5405b0p-8f);
  p = gnn_fma(p, s, -0x1.b7f90cp-6f);
  p = gnn_fma(p, s, 0x1.ce2cf8p-4f);
  p = gnn_fma(p, s, -0x1.81273ep-2f);
  p = gnn_fma(p, s, 0x1.06eba8p-3f);
  float q = 0x1.896eaep-13f;
  q = gnn_fma(q, t, -0x1.83fc6cp-9f);
  q = gnn_fma(q, t, 0x1.66a38ep-6f);
  q = gnn_fma(q, t, -0x1.a6c800p-4f);
  q = gnn_fma(q, t, -0x1.46a98ep-1f);
  q = gnn_fma(q, t, -0x1.208e50p+0f);
  q = gnn_fma(q, t, -0x1.502ae0p-12f);
  const float large = 1 - gnn_exp(q), small = gnn_fma(t, p, t);
  return copysignf(t > 1 ? large : small, x);
}

/* Vectorises with -fno-math-errno. */
GNN_INLINE float gnn_sqrt(float x) { return sqrtf(x); }

GNN_INLINE float gnn_abs(float x) { return fabsf(x); }

#endif

GNN_INLINE gnn_real gnn_clamp(gnn_real x, gnn_real bound) {
  const gnn_real above = x < -bound ? -bound : x;
  return above > bound ? bound : above;
}

/* 1 / (1 + exp(-x)) */
GNN_INLINE gnn_real gnn_sigmoid(gnn_real x) {
  const gnn_real e = gnn_exp(-gnn_abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/* x * sigmoid(x); 0 at -infinity, where the product would be none */
GNN_INLINE gnn_real gnn_silu(gnn_real x) { return (x < -1000 ? -1000 : x) * gnn_sigmoid(x); }

GNN_INLINE gnn_real gnn_silu_slope(gnn_real x) {
  const gnn_real s = gnn_sigmoid(x);
  return gnn_fma(gnn_clamp(x, 1000) * s, gnn_sigmoid(-x), s);
}

/* x * (1 + erf(x / sqrt 2)) / 2; 0 at -infinity */
GNN_INLINE gnn_real gnn_gelu(gnn_real x) {
  return (x < -1000 ? -1000 : x) * ((gnn_real)0.5 * (1 + gnn_erf(x * (gnn_real)0.70710678118654752)));
}

GNN_INLINE gnn_real gnn_gelu_slope(gnn_real x) {
  const gnn_real bounded = gnn_clamp(x, 1000), share = (gnn_real)0.5 * (1 + gnn_erf(x * (gnn_real)0.70710678118654752));
  return gnn_fma(bounded * (gnn_real)0.39894228040143268, gnn_exp((gnn_real)-0.5 * bounded * bounded), share);
}

/* alpha * (exp(x) - 1) below 0 */
GNN_INLINE gnn_real gnn_elu(gnn_real x, gnn_real alpha) {
  const gnn_real e = alpha * gnn_expm1(x > 0 ? 0 : x);
  return x > 0 ? x : e;
}

GNN_INLINE gnn_real gnn_elu_slope(gnn_real x, gnn_real alpha) {
  const gnn_real e = alpha * gnn_exp(x > 0 ? 0 : x);
  return x > 0 ? 1 : e;
}

/* log(1 + exp(x)) */
GNN_INLINE gnn_real gnn_softplus(gnn_real x) {
  return (x > 0 ? x : 0) + gnn_log1p_unit(gnn_exp(-gnn_abs(x)));
}

/* x to the power y, by the C library: not vectorised */
GNN_INLINE gnn_real gnn_pow(gnn_real x, gnn_real y) {
#ifdef GNN_DOUBLE
  return pow(x, y);
#else
  return powf(x, y);
#endif
}

#endif
