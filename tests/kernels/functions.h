/* functions.h: the elementary functions over arrays, as run_NAME; elu's alpha is 2. */
#include "../../kernels/cpu/math.h"

#define DEFINE(name, call)                                                \
  static void run_##name(const gnn_real *x, gnn_real *y, int64_t count) { \
    for (int64_t i = 0; i < count; i++) y[i] = call;                      \
  }
DEFINE(exp, gnn_exp(x[i]))
DEFINE(expm1, gnn_expm1(x[i]))
DEFINE(log, gnn_log(x[i]))
DEFINE(log1p, gnn_log1p(x[i]))
DEFINE(tanh, gnn_tanh(x[i]))
DEFINE(erf, gnn_erf(x[i]))
DEFINE(sqrt, gnn_sqrt(x[i]))
DEFINE(sigmoid, gnn_sigmoid(x[i]))
DEFINE(silu, gnn_silu(x[i]))
DEFINE(silu_slope, gnn_silu_slope(x[i]))
DEFINE(gelu, gnn_gelu(x[i]))
DEFINE(gelu_slope, gnn_gelu_slope(x[i]))
DEFINE(elu, gnn_elu(x[i], 2))
DEFINE(elu_slope, gnn_elu_slope(x[i], 2))
DEFINE(softplus, gnn_softplus(x[i]))
