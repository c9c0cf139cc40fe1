/* The elementary functions against libm in double, over all magnitudes and at the ends. */
#include "functions.h"
#include "tap.h"

#include <float.h>

typedef struct Function {
  const char *name;
  void (*run)(const gnn_real *x, gnn_real *y, int64_t count);
  double (*reference)(double x);
  double low, high; /* where it is compared, besides the ends */
  double units;     /* of the last place of a float */
  double absolute;  /* an error allowed anyway, where the formula cancels as torch's does */
} Function;

static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double silu(double x) { return isinf(x) && x < 0 ? 0 : x * sigmoid(x); }
static double silu_slope(double x) { return sigmoid(x) + (isinf(x) ? 0 : x * sigmoid(x) * sigmoid(-x)); }
static double gelu(double x) { return isinf(x) && x < 0 ? 0 : 0.5 * x * erfc(-x * 0.70710678118654752); }
static double gelu_slope(double x) {
  return 0.5 * erfc(-x * 0.70710678118654752) + (isinf(x) ? 0 : x * 0.39894228040143268 * exp(-0.5 * x * x));
}
static double elu(double x) { return x > 0 ? x : 2 * expm1(x); }
static double elu_slope(double x) { return x > 0 ? 1 : 2 * exp(x); }
static double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }


static const Function functions[] = {
    {"exp", run_exp, exp, -110, 95, 1.5, 0},
    {"expm1", run_expm1, expm1, -110, 95, 2, 0},
    {"log", run_log, log, 0, FLT_MAX, 2, 0},
    {"log1p", run_log1p, log1p, -1, FLT_MAX, 2, 0},
    {"tanh", run_tanh, tanh, -20, 20, 3, 0},
    {"erf", run_erf, erf, -6, 6, 2, 0},
    {"sqrt", run_sqrt, sqrt, 0, FLT_MAX, 1, 0},
    {"sigmoid", run_sigmoid, sigmoid, -110, 110, 3, 0},
    {"silu", run_silu, silu, -110, 110, 4, 1e-42},
    {"silu_slope", run_silu_slope, silu_slope, -110, 110, 4, 2e-7},
    {"gelu", run_gelu, gelu, -10, 10, 4, 2e-7},
    {"gelu_slope", run_gelu_slope, gelu_slope, -20, 20, 4, 2e-7},
    {"elu", run_elu, elu, -110, 110, 2, 0},
    {"elu_slope", run_elu_slope, elu_slope, -110, 110, 2, 0},
    {"softplus", run_softplus, softplus, -110, 110, 4, 0},
};

/* Of a float at `value`, the smallest subnormal at least; a double build is measured with the same stick. */
static double unit_at(double value) {
  int exponent;
  if (value == 0 || !isfinite(value)) return 0x1p-149;
  frexp(value, &exponent);
  return ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

static double error_units(const Function *f, double x, double got) {
  const double want = f->reference(x);
  if (isnan(want)) return isnan(got) ? 0 : INFINITY;
  if (isnan(got)) return INFINITY;
  if (sizeof(gnn_real) == 4 && fabs(want) > FLT_MAX) return isinf(got) || fabs(got) == FLT_MAX ? 0 : INFINITY;
  if (isinf(want)) return got == want ? 0 : INFINITY;
  const double error = fabs(got - want);
  return error <= f->absolute ? 0 : error / unit_at(want);
}

enum { SWEEP = 400000 };

static void test_sweep(Tap *tap, const Function *f) {
  gnn_real *x = reals_new(SWEEP), *y = reals_new(SWEEP);
  Numbers n = {77};
  for (int i = 0; i < SWEEP; i++) {
    const double u = 0.5 * (numbers_real(&n) + 1);
    if (i % 2 == 0 && f->high < 1e6) {
      x[i] = (gnn_real)(f->low + u * (f->high - f->low)); /* even */
    } else {
      const double size = exp2(-126 + u * (log2(f->high) + 126)); /* all magnitudes */
      x[i] = (gnn_real)(f->low < 0 && i % 4 == 1 ? -size : size);
      if ((double)x[i] < f->low) x[i] = (gnn_real)f->low;
    }
  }
  f->run(x, y, SWEEP);
  double worst = 0, worst_at = 0;
  for (int i = 0; i < SWEEP; i++) {
    const double units = error_units(f, (double)x[i], (double)y[i]);
    if (!(units <= worst)) worst = units, worst_at = (double)x[i];
  }
  tap_ok(tap, worst <= f->units, "%s: %.2f units of a float at most, at %.9g", f->name, worst, worst_at);
  free(x), free(y);
}

static void test_ends(Tap *tap, const Function *f) {
  static const double ends[] = {0, -0.0, 0x1p-149, -0x1p-149, 0x1p-126, 1, -1, 88.7228, 88.73, 89.5, -87.34, -103.9, -104.5, 1e30, -1e30,
                                FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN};
  enum { COUNT = sizeof ends / sizeof *ends };
  gnn_real x[COUNT], y[COUNT];
  for (int i = 0; i < COUNT; i++) x[i] = (gnn_real)ends[i];
  f->run(x, y, COUNT);
  for (int i = 0; i < COUNT; i++) {
    const double units = error_units(f, (double)x[i], (double)y[i]);
    if (!(units <= f->units)) {
      tap_ok(tap, 0, "%s(%.9g) is %.9g, not %.9g", f->name, (double)x[i], (double)y[i], f->reference((double)x[i]));
      return;
    }
  }
  tap_ok(tap, 1, "%s: zeros, subnormals, infinities, NaN", f->name);
}

/* Sums of several lots of lanes at once are those of one after the other. */
static void test_lanes(Tap *tap) {
  enum { MOST = 13 };
  gnn_real lanes[16 * MOST], sums[MOST];
  for (int i = 0; i < 16 * MOST; i++) lanes[i] = (gnn_real)(1 + i % 7) / (gnn_real)(3 + i % 11) * (gnn_real)(i % 3 ? 1 : -100);
  for (int count = 1; count <= MOST; count++) {
    int is_same = 1;
    gnn_sum_lanes_each(lanes, count, sums);
    for (int i = 0; i < count; i++) is_same &= sums[i] == gnn_sum_lanes(lanes + 16 * i);
    if (!is_same || count == MOST) tap_ok(tap, is_same, "lanes of %d sums at once", count);
  }
}

#define ENDS(X) X(1) X(2) X(3) X(7) X(8) X(10) X(15)

static void test_rest(Tap *tap) {
  gnn_real numbers[16];
  int is_same = 1;
  for (int i = 0; i < 16; i++) numbers[i] = i == 3 ? -(gnn_real)0.0 : (gnn_real)(1 + i) / 3;
#define ADD(rest)                                                                                                               \
  {                                                                                                                             \
    gnn_real lanes[16];                                                                                                         \
    for (int t = 0; t < 16; t++) lanes[t] = (gnn_real)t / 7;                                                                    \
    gnn_add_rest(lanes, numbers, rest);                                                                                         \
    for (int t = 0; t < 16; t++) is_same &= lanes[t] == (t < rest ? (gnn_real)t / 7 + numbers[16 - rest + t] : (gnn_real)t / 7); \
  }
  ENDS(ADD)
#undef ADD
  tap_ok(tap, is_same, "the end of 16 numbers is added to the first lanes");
}

int main(void) {
  Tap tap = {0, 0};
  test_lanes(&tap);
  test_rest(&tap);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    test_sweep(&tap, &functions[i]);
    test_ends(&tap, &functions[i]);
  }
  return tap_end(&tap);
}
