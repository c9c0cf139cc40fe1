/* math.cuh: elementary functions of emitted kernels, with the values that kernels/cpu/math.h gives at infinities and
 * outside the domain; CUDA's single-precision functions are off by at most 4 units in the last place. */
#ifndef GNN_CUDA_MATH_H
#define GNN_CUDA_MATH_H

#include "device.cuh"

GNN_INLINE float gnn_fma(float a, float b, float c) { return fmaf(a, b, c); }
GNN_INLINE float gnn_exp(float x) { return expf(x); }
GNN_INLINE float gnn_expm1(float x) { return expm1f(x); }
GNN_INLINE float gnn_log(float x) { return logf(x); }
GNN_INLINE float gnn_log1p(float x) { return log1pf(x); }
GNN_INLINE float gnn_tanh(float x) { return tanhf(x); }
GNN_INLINE float gnn_erf(float x) { return erff(x); }
GNN_INLINE float gnn_sqrt(float x) { return sqrtf(x); }
GNN_INLINE float gnn_abs(float x) { return fabsf(x); }
GNN_INLINE float gnn_pow(float x, float y) { return powf(x, y); }

/* Of numbers of any type. As in PyTorch what is no number wins; of equals the second. */
#define GNN_MAX(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define GNN_MIN(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))

#define GNN_EXTREME(name, first, better)                                                     \
  struct gnn_fold_##name {                                                                   \
    GNN_INLINE gnn_real start() { return first; }                                            \
    GNN_INLINE gnn_real join(gnn_real a, gnn_real b) { return better(a, b); }                \
    GNN_INLINE gnn_real settle(gnn_real x, bool is_empty) { return is_empty ? 0 : x + 0; }   \
  }
GNN_EXTREME(max, -INFINITY, GNN_MAX);
GNN_EXTREME(min, INFINITY, GNN_MIN);

GNN_INLINE float gnn_clamp(float x, float bound) {
  const float above = x < -bound ? -bound : x;
  return above > bound ? bound : above;
}

/* 1 / (1 + exp(-x)) */
GNN_INLINE float gnn_sigmoid(float x) {
  const float e = gnn_exp(-gnn_abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/* x * sigmoid(x); 0 at -infinity, where the product would be none */
GNN_INLINE float gnn_silu(float x) { return (x < -1000 ? -1000 : x) * gnn_sigmoid(x); }

GNN_INLINE float gnn_silu_slope(float x) {
  const float s = gnn_sigmoid(x);
  return gnn_fma(gnn_clamp(x, 1000) * s, gnn_sigmoid(-x), s);
}

/* x * (1 + erf(x / sqrt 2)) / 2; 0 at -infinity */
GNN_INLINE float gnn_gelu(float x) { return (x < -1000 ? -1000 : x) * (0.5f * (1 + gnn_erf(x * 0.707106781f))); }

GNN_INLINE float gnn_gelu_slope(float x) {
  const float bounded = gnn_clamp(x, 1000), share = 0.5f * (1 + gnn_erf(x * 0.707106781f));
  return gnn_fma(bounded * 0.398942280f, gnn_exp(-0.5f * bounded * bounded), share);
}

/* alpha * (exp(x) - 1) below 0 */
GNN_INLINE float gnn_elu(float x, float alpha) { return x > 0 ? x : alpha * gnn_expm1(x); }
GNN_INLINE float gnn_elu_slope(float x, float alpha) { return x > 0 ? 1 : alpha * gnn_exp(x); }

/* log(1 + exp(x)) */
GNN_INLINE float gnn_softplus(float x) { return (x > 0 ? x : 0) + gnn_log1p(gnn_exp(-gnn_abs(x))); }

#endif
