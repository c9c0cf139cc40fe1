/* a * b + c is rounded once whatever the processor has, in single numbers and in vectors of every width: the bits of libm's fma. */
#include "../../kernels/cpu/vector.h"
#include "tap.h"

#include <float.h>

enum { COUNT = 1 << 16, WIDEST = 16 };

typedef void Run(const gnn_real *a, const gnn_real *b, const gnn_real *c, gnn_real *y);

#define RUN(lanes)                                                                                                       \
  static void run_##lanes(const gnn_real *a, const gnn_real *b, const gnn_real *c, gnn_real *y) {                        \
    for (int i = 0; i < WIDEST; i += lanes)                                                                              \
      *(gnn_vec##lanes##_at *)(y + i) = gnn_fma##lanes(*(const gnn_vec##lanes##_at *)(a + i), *(const gnn_vec##lanes##_at *)(b + i), *(const gnn_vec##lanes##_at *)(c + i)); \
  }
RUN(1)
RUN(2)
#if GNN_LANES >= 4
RUN(4)
#endif
#if GNN_LANES >= 8
RUN(8)
#endif
#if GNN_LANES >= 16
RUN(16)
#endif

static const struct { int lanes; Run *run; } runs[] = {{1, run_1}, {2, run_2},
#if GNN_LANES >= 4
  {4, run_4},
#endif
#if GNN_LANES >= 8
  {8, run_8},
#endif
#if GNN_LANES >= 16
  {16, run_16},
#endif
};

static gnn_real once(gnn_real a, gnn_real b, gnn_real c) { return sizeof(gnn_real) == 4 ? (gnn_real)fmaf((float)a, (float)b, (float)c) : (gnn_real)fma((double)a, (double)b, (double)c); }

static int is_same(gnn_real a, gnn_real b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

/* Short significands, so that sums lie in the middle of two numbers, or as little beside it as they can; far-away exponents. */
static gnn_real short_number(Numbers *n) {
  const double significand = (double)(numbers_below(n, 2) ? numbers_below(n, 4096) : (1 << 23) + numbers_below(n, 4) - 2);
  return (gnn_real)ldexp(numbers_below(n, 2) ? significand : -significand, (int)numbers_below(n, 60) - 40);
}

static gnn_real odd_number(Numbers *n) {
  static const double ends[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_MIN, 0x1p-149, -0x1p-149, 0x1.fffffcp-127, 1, -1, 0x1p-24, 0x1.000002p0};
  return (gnn_real)ends[numbers_below(n, (int64_t)(sizeof ends / sizeof *ends))];
}

static gnn_real any_number(Numbers *n) { return (gnn_real)ldexp(numbers_real(n), (int)numbers_below(n, 280) - 150); }

typedef gnn_real Kind(Numbers *n);

static void test(Tap *tap, const char *name, Kind *kind) {
  for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
    Numbers n = {(uint64_t)(r + 1)};
    int wrong = 0;
    for (int i = 0; i < COUNT; i += WIDEST) {
      gnn_real a[WIDEST], b[WIDEST], c[WIDEST], y[WIDEST];
      for (int t = 0; t < WIDEST; t++) a[t] = kind(&n), b[t] = kind(&n), c[t] = kind(&n);
      runs[r].run(a, b, c, y);
      for (int t = 0; t < WIDEST; t++) wrong += !is_same(y[t], once(a[t], b[t], c[t]));
    }
    tap_ok(tap, wrong == 0, "%s, vectors of %d: %d of %d are not rounded once", name, runs[r].lanes, wrong, COUNT);
  }
}

#if defined GNN_DOUBLE && defined GNN_NO_FMA
enum { KINDS = 0 }; /* rounds twice, and may */
#else
enum { KINDS = 3 };
#endif

int main(void) {
  static const struct { const char *name; Kind *kind; } kinds[] = {{"short numbers", short_number}, {"ends", odd_number}, {"any", any_number}};
  Tap tap = {0, 0};
  for (int k = 0; k < KINDS; k++) test(&tap, kinds[k].name, kinds[k].kind);
  return tap_end(&tap);
}
