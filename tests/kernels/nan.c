/* NaN, infinities and zeros of both signs in every kernel, at every place of a vector and of its tail. What is expected is what
 * PyTorch gives, but for silu and gelu, whose limit at -infinity is kept. */
#include "../../kernels/cpu/gemm.h"
#include "../../kernels/cpu/loss.h"
#include "../../kernels/cpu/optimizer.h"
#include "../../kernels/cpu/reduce.h"
#include "../../kernels/cpu/sparse.h"
#include "../../kernels/cpu/spmm.h"
#include "../../kernels/cpu/walk.h"
#include "functions.h"
#include "tap.h"

enum { SPECIALS = 5, LONGEST = 40 };
static const double specials[SPECIALS] = {NAN, INFINITY, -INFINITY, 0, -0.0};

/* ---- functions of one number ---- */

typedef struct Function {
  const char *name;
  void (*run)(const gnn_real *x, gnn_real *y, int64_t count);
  double expected[SPECIALS];
} Function;

DEFINE(rsqrt, 1 / gnn_sqrt(x[i]))
DEFINE(abs, gnn_abs(x[i]))
DEFINE(clamp, gnn_clamp(x[i], 2))
DEFINE(pow, gnn_pow(x[i], 3))
DEFINE(pow_0, gnn_pow(x[i], 0))
DEFINE(max_0, GNN_MAX(x[i], 0))
DEFINE(max_2, GNN_MAX(x[i], 2))
DEFINE(max_of_2, GNN_MAX((gnn_real)2, x[i]))
DEFINE(min_0, GNN_MIN(x[i], 0))
DEFINE(min_2, GNN_MIN(x[i], 2))
DEFINE(min_of_2, GNN_MIN((gnn_real)2, x[i]))

#define LN_2 0.69314718055994531
static const Function functions[] = {
    {"exp", run_exp, {NAN, INFINITY, 0, 1, 1}},
    {"expm1", run_expm1, {NAN, INFINITY, -1, 0, -0.0}},
    {"log", run_log, {NAN, INFINITY, NAN, -INFINITY, -INFINITY}},
    {"log1p", run_log1p, {NAN, INFINITY, NAN, 0, -0.0}},
    {"tanh", run_tanh, {NAN, 1, -1, 0, -0.0}},
    {"erf", run_erf, {NAN, 1, -1, 0, -0.0}},
    {"sqrt", run_sqrt, {NAN, INFINITY, NAN, 0, -0.0}},
    {"rsqrt", run_rsqrt, {NAN, 0, NAN, INFINITY, -INFINITY}},
    {"abs", run_abs, {NAN, INFINITY, INFINITY, 0, 0}},
    {"clamp", run_clamp, {NAN, 2, -2, 0, -0.0}},
    {"sigmoid", run_sigmoid, {NAN, 1, 0, 0.5, 0.5}},
    {"silu", run_silu, {NAN, INFINITY, 0, 0, -0.0}},
    {"silu_slope", run_silu_slope, {NAN, 1, 0, 0.5, 0.5}},
    {"gelu", run_gelu, {NAN, INFINITY, 0, 0, -0.0}},
    {"gelu_slope", run_gelu_slope, {NAN, 1, 0, 0.5, 0.5}},
    {"elu", run_elu, {NAN, INFINITY, -2, 0, -0.0}},
    {"elu_slope", run_elu_slope, {NAN, 1, 0, 2, 2}},
    {"softplus", run_softplus, {NAN, INFINITY, 0, LN_2, LN_2}},
    {"x ^ 3", run_pow, {NAN, INFINITY, -INFINITY, 0, -0.0}},
    {"x ^ 0", run_pow_0, {1, 1, 1, 1, 1}},
    {"max(x, 0)", run_max_0, {NAN, INFINITY, 0, 0, 0}},
    {"max(x, 2)", run_max_2, {NAN, INFINITY, 2, 2, 2}},
    {"max(2, x)", run_max_of_2, {NAN, INFINITY, 2, 2, 2}},
    {"min(x, 0)", run_min_0, {NAN, 0, -INFINITY, 0, 0}},
    {"min(x, 2)", run_min_2, {NAN, 2, -INFINITY, 0, -0.0}},
    {"min(2, x)", run_min_of_2, {NAN, 2, -INFINITY, 0, -0.0}},
};

/* Zeros of x keep their signs where the function keeps them; that of a limit does not count. */
static int is_expected(double got, double want, double x) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (isinf(want)) return got == want;
  return fabs(got - want) <= 2 * (double)0x1p-24 && (x != 0 || want != 0 || signbit(got) == signbit(want));
}

static void test_function(Tap *tap, const Function *f) {
  const gnn_real usual = (gnn_real)0.75;
  gnn_real alone;
  f->run(&usual, &alone, 1);
  for (int s = 0; s < SPECIALS; s++)
    for (int count = 1; count <= LONGEST; count++)
      for (int place = 0; place < count; place++) {
        gnn_real x[LONGEST], y[LONGEST];
        for (int i = 0; i < count; i++) x[i] = i == place ? (gnn_real)specials[s] : usual;
        f->run(x, y, count);
        int is_good = is_expected((double)y[place], f->expected[s], specials[s]);
        for (int i = 0; i < count; i++) is_good &= i == place || reals_same(&y[i], &alone, 1);
        if (is_good) continue;
        tap_ok(tap, 0, "%s of %g is %g, not %g, at place %d of %d", f->name, specials[s], (double)y[place], f->expected[s], place, count);
        return;
      }
  tap_ok(tap, 1, "%s: NaN, infinities and zeros, at every place", f->name);
}

static void test_both_nan(Tap *tap) {
  const volatile gnn_real nan = NAN, one = 1;
  tap_ok(tap, isnan(GNN_MAX(nan, nan)) && isnan(GNN_MIN(nan, nan)) && isnan(GNN_MAX(one, nan)) && isnan(GNN_MIN(one, nan)) &&
                  isnan(GNN_MAX(nan, one)) && isnan(GNN_MIN(nan, one)),
         "max and min of NaN and a number, in either order");
}

/* ---- products: a NaN is in every sum that has it for a term, also times 0, and in no other ---- */

enum { ROWS = 11, DEPTH = 9 };

/* Column c of y, and of its rows those whose bit is set. */
static int is_nan_at(const gnn_real *y, int64_t rows, int64_t w, int64_t c, unsigned bits) {
  int good = 1;
  for (int64_t i = 0; i < rows * w; i++) good &= !isnan(y[i]) != (i % w == c && (bits >> i / w & 1));
  return good;
}

typedef struct Product {
  const gnn_real *zeros, *b; /* [ROWS, DEPTH]; [DEPTH, w] */
  gnn_real *packed, *y;
  const gnn_sparse *s; /* ones at its entries; zeros are as many */
  const gnn_dropout *all;
} Product;

static const int64_t all_rows[] = {0, DEPTH};
static const gnn_blocks one_block = {0, 0, all_rows};

#define DEFINE_PRODUCTS(W)                                                                                                              \
  static void done_##W(const void *context, int64_t row, const gnn_real *acc) {                                                         \
    memcpy(((const Product *)context)->y + row * W, acc, W * sizeof *acc);                                                              \
  }                                                                                                                                     \
  static void dense_##W(const Product *p) {                                                                                             \
    gnn_gemm_pack(p->b, DEPTH, W, 0, p->packed, 0, DEPTH);                                                                              \
    gnn_gemm_rows(p->zeros, p->packed, DEPTH, W, 0, ROWS, done_##W, p);                                                                 \
  }                                                                                                                                     \
  static void outer_##W(const Product *p) { gnn_gemm_tn(p->zeros, p->b, ROWS, W, 0, DEPTH, p->y); }                                     \
  static void plain_##W(const Product *p) { gnn_spmm_rows(&p->s->by_row, p->b, W, 1, 0, ROWS, done_##W, p); }                           \
  static void weighted_##W(const Product *p) { gnn_spmm_weighted_rows(&p->s->by_row, p->zeros, p->b, W, 1, 0, ROWS, done_##W, p); }     \
  static void sparse_##W(const Product *p) { gnn_sparse_rows(p->s, p->b, W, 1, p->all, 0, ROWS, done_##W, p); }                         \
  static void transposed_##W(const Product *p) { gnn_sparse_tn_rows(p->s, &one_block, gnn_matrix(p->b), W, 1, p->all, 0, ROWS, done_##W, p); }
#define WIDTHS(M) M(1) M(3) M(16) M(33)
WIDTHS(DEFINE_PRODUCTS)

typedef struct Products {
  int64_t w;
  void (*dense[2])(const Product *p), (*sparse[4])(const Product *p);
} Products;

#define ENTRY(W) {W, {dense_##W, outer_##W}, {plain_##W, weighted_##W, sparse_##W, transposed_##W}},
static const Products all_products[] = {WIDTHS(ENTRY)};

static void test_products(Tap *tap, const Products *products) {
  Numbers n = {77};
  const int64_t w = products->w;
  gnn_csr g = csr_random(&n, ROWS, DEPTH, 30);
  const int64_t count = g.entries > ROWS * DEPTH ? g.entries : ROWS * DEPTH;
  gnn_real *b = reals_random(&n, DEPTH * w), *y = reals_new(ROWS * w), *zeros = reals_new(count), *ones = reals_new(g.entries), sums[8 * LONGEST];
  gnn_real *packed = reals_new(GNN_GEMM_PACKED_BYTES(DEPTH, w) / 4);
  gnn_zero(zeros, 0, count);
  for (int64_t e = 0; e < g.entries; e++) ones[e] = 1;
  const gnn_sparse s = {g, ones, g, ones, NULL};
  const gnn_dropout all = gnn_dropout_make(5, 3, 1, 1);
  const Product p = {zeros, b, packed, y, &s, &all};
  int dense = 1, sparse = 1, columns = 1;
  for (int64_t c = 0; c < w; c++) {
    const int64_t bad = c % DEPTH;
    const gnn_real kept = b[bad * w + c];
    unsigned readers = 0;
    for (int64_t r = 0; r < ROWS; r++)
      for (int64_t e = g.ptr[r]; e < g.ptr[r + 1]; e++) readers |= (unsigned)(g.idx[e] == bad) << r;
    b[bad * w + c] = NAN;
    for (int k = 0; k < 2; k++) {
      products->dense[k](&p);
      dense &= is_nan_at(y, ROWS, w, c, ~0u);
    }
    for (int k = 0; k < 4; k++) {
      products->sparse[k](&p);
      sparse &= is_nan_at(y, ROWS, w, c, readers);
    }
    const gnn_walkers walkers = gnn_walkers_of(3, 3, GNN_FOLD_SUM); /* the first rows are their sums */
    memcpy(sums, b, (size_t)(8 * w) * sizeof *sums);
    gnn_sum_walkers(sums, walkers, w, y, 0, w);
    columns &= bad >= 8 || is_nan_at(y, 1, w, c, 1);
    b[bad * w + c] = kept;
  }
  tap_ok(tap, dense, "0 times NaN in products of matrices, width %lld", (long long)w);
  tap_ok(tap, sparse, "NaN in sums over edges, times weights of 0 and under dropout, width %lld", (long long)w);
  tap_ok(tap, columns, "NaN in sums over rows, width %lld", (long long)w);
  csr_free(&g);
  free(b), free(y), free(zeros), free(ones), free(packed);
}

/* ---- loss and optimisers ---- */

static void test_loss(Tap *tap, int64_t classes) {
  static const int32_t labels[3] = {0, 0, 0}, rows[3] = {0, 1, 2};
  gnn_real scores[3 * LONGEST], gradient[3 * LONGEST];
  int is_nan = 1, counts = 1, spares = 1, is_infinite = 1;
  for (int64_t c = 0; c < classes; c++) {
    for (int64_t i = 0; i < 3 * classes; i++) scores[i] = i % classes == 0;
    scores[classes + c] = NAN;
    is_nan &= isnan(gnn_cross_entropy_part(scores, classes, labels, rows, 0, 3)) && isnan(gnn_cross_entropy_part(scores, classes, labels, rows, 1, 2));
    counts &= gnn_accuracy_part(scores, classes, labels, rows, 0, 3) == 2;
    gnn_cross_entropy_gradient(scores, classes, labels, rows, 3, 0, 3, gradient);
    for (int64_t i = 0; i < 3 * classes; i++) spares &= !isnan(gradient[i]) == (i / classes != 1);
    scores[classes + c] = INFINITY;
    is_nan &= isnan(gnn_cross_entropy_part(scores, classes, labels, rows, 1, 2));
    scores[classes + c] = -INFINITY;
    const double loss = gnn_cross_entropy_part(scores, classes, labels, rows, 1, 2);
    is_infinite &= classes == 1 ? isnan(loss) : c == 0 ? loss == INFINITY : isfinite(loss);
  }
  tap_ok(tap, is_nan, "cross entropy of NaN and of an infinity, %lld classes", (long long)classes);
  tap_ok(tap, is_infinite, "cross entropy of a score of -infinity, %lld classes", (long long)classes);
  tap_ok(tap, counts, "a row with NaN is never right, %lld classes", (long long)classes);
  tap_ok(tap, spares, "the gradient of a row with NaN is NaN, of others it is not, %lld classes", (long long)classes);
}

static void update(int kind, gnn_real *w, const gnn_real *g, gnn_real *m, gnn_real *v) {
  if (kind == 0) gnn_sgd(w, g, GNN_UNCLIPPED, NULL, 0.1, 0, 0.01, 0, 1, 0, LONGEST);
  if (kind == 1) gnn_sgd(w, g, GNN_UNCLIPPED, m, 0.1, 0.9, 0, 1, 2, 0, LONGEST);
  if (kind == 2) gnn_adam(w, g, GNN_UNCLIPPED, m, v, 0.1, 0.9, 0.99, 1e-8, 0.01, 1, 0, LONGEST);
  if (kind == 4) gnn_rmsprop(w, g, GNN_UNCLIPPED, m, NULL, 0.1, 0.9, 1e-8, 0.01, 0, 0, 1, 0, LONGEST);
  if (kind == 5) gnn_rmsprop(w, g, GNN_UNCLIPPED, m, v, 0.1, 0.9, 1e-8, 0, 0, 1, 1, 0, LONGEST);
  if (kind == 6) gnn_adagrad(w, g, GNN_UNCLIPPED, m, 0.1, 0, 0.01, 0, 1e-10, 1, 0, LONGEST);
  if (kind == 7) gnn_sgd(w, g, (gnn_clip){0.5, 0.1f}, NULL, 0.1, 0, 0.01, 0, 1, 0, LONGEST);
  if (kind == 3) gnn_adamw(w, g, GNN_UNCLIPPED, m, v, 0.1, 0.9, 0.99, 1e-8, 0.01, 1, 0, LONGEST);
}

static void test_update(Tap *tap, int kind, const char *name) {
  int good = 1;
  for (int place = 0; place < LONGEST; place++)
    for (int is_weight = 0; is_weight < 2; is_weight++) {
      gnn_real w[LONGEST], g[LONGEST], m[LONGEST] = {0}, v[LONGEST] = {0};
      for (int i = 0; i < LONGEST; i++) w[i] = 1, g[i] = 2;
      (is_weight ? w : g)[place] = NAN;
      update(kind, w, g, m, v);
      for (int i = 0; i < LONGEST; i++) good &= !isnan(w[i]) == (i != place) && !(isnan(m[i]) && i != place);
    }
  tap_ok(tap, good, "%s: a NaN weight or gradient leaves a NaN weight, and no other", name);
}

int main(void) {
  Tap tap = {0, 0};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) test_function(&tap, &functions[i]);
  test_both_nan(&tap);
  for (size_t i = 0; i < sizeof all_products / sizeof *all_products; i++) test_products(&tap, &all_products[i]);
  for (int64_t classes = 1; classes <= LONGEST; classes += classes < 3 ? 1 : 12) test_loss(&tap, classes);
  static const char *const names[] = {"SGD", "SGD with momentum", "Adam", "AdamW", "RMSprop", "centered RMSprop", "Adagrad", "clipped SGD"};
  for (int kind = 0; kind < 8; kind++) test_update(&tap, kind, names[kind]);
  return tap_end(&tap);
}
