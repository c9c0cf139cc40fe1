/* Dense products against a double reference, over widths, depths and divisions of the rows. */
#include "../../kernels/cpu/gemm.h"
#include "tap.h"

typedef struct Job {
  const gnn_real *a, *packed;
  int64_t k;
  gnn_real *y;
} Job;

#define DEFINE(W)                                                                                              \
  static void done_##W(const void *context, int64_t row, const gnn_real *acc) {                                \
    const Job *job = context;                                                                                  \
    for (int64_t c = 0; c < W; c++) job->y[row * W + c] = acc[c];                                              \
  }                                                                                                            \
  static void rows_##W(const void *context, int64_t begin, int64_t end) {                                      \
    const Job *job = context;                                                                                  \
    gnn_gemm_rows(job->a, job->packed, job->k, W, begin, end, done_##W, job);                                  \
  }                                                                                                            \
  static void pack_##W(const gnn_real *b, int64_t k, int is_transposed, gnn_real *packed, int64_t from, int64_t to) { \
    gnn_gemm_pack(b, k, W, is_transposed, packed, from, to);                                                   \
  }                                                                                                            \
  static void tn_##W(const gnn_real *a, const gnn_real *g, int64_t k, int64_t begin, int64_t end, gnn_real *y) { \
    gnn_gemm_tn(a, g, k, W, begin, end, y);                                                                    \
  }
TEST_WIDTHS(DEFINE)

typedef struct Kernels {
  int64_t w;
  rows_run *rows;
  void (*pack)(const gnn_real *b, int64_t k, int is_transposed, gnn_real *packed, int64_t from, int64_t to);
  void (*tn)(const gnn_real *a, const gnn_real *g, int64_t k, int64_t begin, int64_t end, gnn_real *y);
} Kernels;

#define ENTRY(W) {W, rows_##W, pack_##W, tn_##W},
static const Kernels all_kernels[] = {TEST_WIDTHS(ENTRY)};

/* A sum of n products is off by at most n roundings of the sum of magnitudes. */
static int is_close(double got, double sum, double magnitude, int64_t n) {
  return fabs(got - sum) <= (double)(n + 2) * real_epsilon() * magnitude;
}

static int product_is_right(const gnn_real *y, const gnn_real *a, const gnn_real *b, int64_t rows, int64_t k, int64_t w,
                            int is_b_transposed) {
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < w; c++) {
      double sum = 0, magnitude = 0;
      for (int64_t p = 0; p < k; p++) {
        const double term = (double)a[r * k + p] * (double)(is_b_transposed ? b[c * k + p] : b[p * w + c]);
        sum += term;
        magnitude += fabs(term);
      }
      if (!is_close((double)y[r * w + c], sum, magnitude, k)) return 0;
    }
  }
  return 1;
}

static void test_rows(Tap *tap, const Kernels *kernels, gnn_team *const teams[4], int64_t rows, int64_t k) {
  Numbers n = {(uint64_t)(kernels->w * 1000 + k * 10 + rows + 1)};
  const int64_t w = kernels->w;
  gnn_real *a = reals_random(&n, rows * k), *b = reals_random(&n, k * w);
  const int64_t room = GNN_GEMM_PACKED_BYTES(k, w) / 4;
  gnn_real *packed = reals_new(room), *y = reals_new(rows * w), *again = reals_new(rows * w);
  int is_right = 1, is_same = 1;
  for (int is_transposed = 0; is_transposed < 2; is_transposed++) {
    const int64_t middle = k / 3;
    kernels->pack(b, k, is_transposed, packed, middle, k);
    kernels->pack(b, k, is_transposed, packed, 0, middle);
    Job job = {a, packed, k, y};
    rows_divide(0, &n, teams, rows, kernels->rows, &job);
    is_right &= product_is_right(y, a, b, rows, k, w, is_transposed);
    job.y = again;
    for (int division = 1; division < DIVISIONS; division++) {
      memset(again, 0xff, (size_t)(rows * w) * sizeof *again);
      rows_divide(division, &n, teams, rows, kernels->rows, &job);
      is_same &= reals_same(y, again, rows * w);
    }
  }
  tap_ok(tap, is_right, "A B is right: %lld x %lld x %lld", (long long)rows, (long long)k, (long long)w);
  tap_ok(tap, is_same, "A B has the same bits however divided: %lld x %lld x %lld", (long long)rows, (long long)k,
         (long long)w);
  free(a), free(b), free(packed), free(y), free(again);
}

static void test_tn(Tap *tap, const Kernels *kernels, int64_t rows, int64_t k) {
  Numbers n = {(uint64_t)(kernels->w * 1000 + k * 10 + rows + 7)};
  const int64_t w = kernels->w, begin = rows / 3;
  gnn_real *a = reals_random(&n, rows * k), *g = reals_random(&n, rows * w), *y = reals_new(k * w);
  kernels->tn(a, g, k, begin, rows, y);
  int is_right = 1;
  for (int64_t p = 0; p < k; p++) {
    for (int64_t c = 0; c < w; c++) {
      gnn_real sum = 0;
      for (int64_t r = begin; r < rows; r++) sum = gnn_fma(g[r * w + c], a[r * k + p], sum);
      is_right &= y[p * w + c] == sum;
    }
  }
  tap_ok(tap, is_right, "A^T G is a sum in the order of rows: %lld x %lld x %lld", (long long)rows, (long long)k, (long long)w);
  free(a), free(g), free(y);
}

int main(void) {
  Tap tap = {0, 0};
  gnn_team *teams[4];
  teams_create(teams);
  static const int64_t shapes[][2] = {{0, 5}, {1, 1}, {5, 2}, {49, 17}, {61, 300}, {7, 602}};
  for (size_t i = 0; i < sizeof all_kernels / sizeof *all_kernels; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      test_rows(&tap, &all_kernels[i], teams, shapes[s][0], shapes[s][1]);
      test_tn(&tap, &all_kernels[i], shapes[s][0], shapes[s][1]);
    }
    test_tn(&tap, &all_kernels[i], 1000, 9);
  }
  teams_destroy(teams);
  return tap_end(&tap);
}
