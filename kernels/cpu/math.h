/* math.h: elementary functions that vectorise in a loop. */
#ifndef GNN_MATH_H
#define GNN_MATH_H

#include "vector.h"

#include <math.h>

GNN_INLINE gnn_real gnn_exp(gnn_real x) { return (gnn_real)exp((double)x); }
GNN_INLINE gnn_real gnn_expm1(gnn_real x) { return (gnn_real)expm1((double)x); }
GNN_INLINE gnn_real gnn_log(gnn_real x) { return (gnn_real)log((double)x); }
GNN_INLINE gnn_real gnn_log1p(gnn_real x) { return (gnn_real)log1p((double)x); }
GNN_INLINE gnn_real gnn_tanh(gnn_real x) { return (gnn_real)tanh((double)x); }
GNN_INLINE gnn_real gnn_erf(gnn_real x) { return (gnn_real)erf((double)x); }

/* 1 / (1 + exp(-x)) */
GNN_INLINE gnn_real gnn_sigmoid(gnn_real x) {
  const gnn_real e = gnn_exp(x < 0 ? x : -x);
  return (x < 0 ? e : 1) / (1 + e);
}

/* x * sigmoid(x), 0 at -infinity */
GNN_INLINE gnn_real gnn_silu(gnn_real x) { return (x < -1000 ? -1000 : x) * gnn_sigmoid(x); }

GNN_INLINE gnn_real gnn_silu_slope(gnn_real x) {
  const gnn_real s = gnn_sigmoid(x), bounded = x < -1000 ? -1000 : x > 1000 ? 1000 : x;
  return s + bounded * s * gnn_sigmoid(-x);
}

/* x * (1 + erf(x / sqrt 2)) / 2, 0 at -infinity */
GNN_INLINE gnn_real gnn_gelu(gnn_real x) {
  return (x < -1000 ? -1000 : x) * ((gnn_real)0.5 * (1 + gnn_erf(x * (gnn_real)0.70710678118654752)));
}

GNN_INLINE gnn_real gnn_gelu_slope(gnn_real x) {
  const gnn_real bounded = x < -1000 ? -1000 : x > 1000 ? 1000 : x;
  return (gnn_real)0.5 * (1 + gnn_erf(x * (gnn_real)0.70710678118654752)) +
         bounded * (gnn_real)0.39894228040143268 * gnn_exp((gnn_real)-0.5 * bounded * bounded);
}

/* alpha * (exp(x) - 1) below 0 */
GNN_INLINE gnn_real gnn_elu(gnn_real x, gnn_real alpha) {
  const gnn_real e = alpha * gnn_expm1(x < 0 ? x : 0);
  return x > 0 ? x : x < 0 ? e : x;
}

GNN_INLINE gnn_real gnn_elu_slope(gnn_real x, gnn_real alpha) {
  const gnn_real e = alpha * gnn_exp(x < 0 ? x : 0);
  return x > 0 ? 1 : e;
}

/* log(1 + exp(x)) */
GNN_INLINE gnn_real gnn_softplus(gnn_real x) {
  return (x > 0 ? x : 0) + gnn_log1p(gnn_exp(x < 0 ? x : -x));
}

#endif
