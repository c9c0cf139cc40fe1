/* Numbers kept in bf16: what they are rounded to, and sums over rows of them. */
#include "../../kernels/cpu/sparse.h"
#include "../../kernels/cpu/spmm.h"
#include "tap.h"

/* ---- rounding ---- */

static float float_of(uint32_t word) {
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

/* The nearer of the two next to x, of two equally near ones that which ends in 0; beyond the largest as if there were a next one. */
static uint16_t nearest(uint32_t word) {
  const uint16_t below = (uint16_t)(word >> 16); /* towards zero */
  if (isnan(float_of(word))) return 0x7fff;
  if (isinf(float_of(word))) return below;
  const double x = fabs((double)float_of(word)), low = fabs((double)float_of((uint32_t)below << 16));
  const uint32_t up = ((uint32_t)below & 0x7fff) + 1;
  const double high = up == 0x7f80 ? 0x1p128 : (double)float_of(up << 16);
  if (x - low == high - x) return (uint16_t)(below + (below & 1));
  return (uint16_t)(below + (x - low > high - x));
}

static void test_rounding(Tap *tap) {
  enum { COUNT = 1 << 16 };
  static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  gnn_real *x = reals_new(COUNT), *back = reals_new(COUNT);
  gnn_half *halves = must(malloc(COUNT * sizeof *halves));
  int is_nearest = 1, is_kept = 1;
  for (size_t l = 0; l < sizeof low / sizeof *low; l++) {
    for (uint32_t i = 0; i < COUNT; i++) x[i] = (gnn_real)float_of(i << 16 | low[l]);
    for (int i = 0; i < COUNT; i++) halves[i] = gnn_rounded(x[i]);
    for (uint32_t i = 0; i < COUNT; i++) is_nearest &= halves[i].bits == nearest(i << 16 | low[l]);
    gnn_numbers(halves, COUNT, back);
    for (int i = 0; i < COUNT; i++) is_kept &= gnn_rounded(back[i]).bits == halves[i].bits && (low[l] || isnan(x[i]) || reals_same(&back[i], &x[i], 1));
  }
  tap_ok(tap, is_nearest, "to the nearest, to even; infinities, subnormal numbers and no number as they are");
  tap_ok(tap, is_kept, "what is bf16 stays the same number");
  free(x), free(back), free(halves);
}

/* ---- sums ---- */

typedef struct Job {
  const gnn_csr *g;
  const gnn_sparse *s;
  const gnn_blocks *blocks;
  gnn_table from;
  gnn_real *y;
} Job;

#define DEFINE(W)                                                                                                    \
  static void done_##W(const void *context, int64_t row, const gnn_real *acc) {                                      \
    memcpy(((const Job *)context)->y + row * W, acc, W * sizeof *acc);                                               \
  }                                                                                                                  \
  static void halves_##W(const Job *job) {                                                                           \
    gnn_spmm_table_rows(job->g, job->g->idx, job->from, W, gnn_gather_chains(W), 0, job->g->rows, done_##W, job);    \
  }                                                                                                                  \
  static void columns_##W(const Job *job) {                                                                          \
    gnn_sparse_tn_rows(job->s, job->blocks, job->from, W, gnn_gather_chains(W), NULL, 0, job->g->rows, done_##W, job); \
  }
TEST_WIDTHS(DEFINE)

typedef struct Kernels {
  int64_t w;
  void (*rows)(const Job *), (*columns)(const Job *);
} Kernels;

#define ENTRY(W) {W, halves_##W, columns_##W},
static const Kernels all_kernels[] = {TEST_WIDTHS(ENTRY)};

/* Of rows in bf16, and of the same numbers as they are. */
static int is_same_sum(void (*kernel)(const Job *), Job job, const gnn_half *halves, const gnn_real *numbers, int64_t count) {
  gnn_real *y = reals_new(count), *wanted = reals_new(count);
  job.from = gnn_half_matrix(halves), job.y = y;
  kernel(&job);
  job.from = gnn_matrix(numbers), job.y = wanted;
  kernel(&job);
  const int is_same = reals_same(y, wanted, count);
  free(y), free(wanted);
  return is_same;
}

static void test_sums(Tap *tap, const Kernels *kernels, int64_t rows) {
  Numbers n = {(uint64_t)rows};
  const int64_t w = kernels->w;
  gnn_csr g = csr_random(&n, rows, rows, 300);
  gnn_real *x = reals_random(&n, rows * w), *value = reals_random(&n, g.entries);
  gnn_half *halves = must(malloc((size_t)(rows * w) * sizeof *halves)); /* exactly as many */
  for (int64_t i = 0; i < rows * w; i++) halves[i] = gnn_rounded(x[i]);
  gnn_numbers(halves, rows * w, x);
  const gnn_sparse s = {.by_column = g, .column_value = value};
  const int64_t first[] = {0, rows};
  const gnn_blocks blocks = {.levels = 0, .first = first};
  const Job job = {.g = &g, .s = &s, .blocks = &blocks};
  tap_ok(tap, is_same_sum(kernels->rows, job, halves, x, rows * w), "width %lld, %lld rows: sums over neighbours of rows in bf16", (long long)w, (long long)rows);
  tap_ok(tap, is_same_sum(kernels->columns, job, halves, x, rows * w), "width %lld, %lld rows: sums by columns of sparse features", (long long)w, (long long)rows);
  csr_free(&g);
  free(x), free(value), free(halves);
}

/* In two pieces of an arena, by the number of the row and by codes. */
static void test_pieces(Tap *tap) {
  enum { ROWS = 60, FIRST = 24, WIDTH = 32, SHIFT = 3, APART = 7 };
  Numbers n = {5};
  gnn_csr g = csr_random(&n, ROWS, ROWS, 100);
  gnn_half *arena = must(malloc((size_t)((ROWS + 2 * APART) * WIDTH) * sizeof *arena));
  gnn_real *x = reals_random(&n, ROWS * WIDTH), *y = reals_new(ROWS * WIDTH), *wanted = reals_new(ROWS * WIDTH);
  int32_t *codes = must(malloc((size_t)g.entries * sizeof *codes));
  const int64_t row_bytes = WIDTH * (int64_t)sizeof *arena, begin[] = {(ROWS - FIRST + 2 * APART) * row_bytes, APART * row_bytes};
  const int64_t by_row[] = {begin[0] / GNN_SCALE, (begin[1] - FIRST * row_bytes) / GNN_SCALE}, by_code[] = {begin[0] / GNN_SCALE, begin[1] / GNN_SCALE};
  gnn_row_part parts[ROWS / (1 << SHIFT) + 1];
  for (int k = 0; k << SHIFT < ROWS; k++) parts[k] = k << SHIFT < FIRST ? (gnn_row_part){0, FIRST} : (gnn_row_part){1, ROWS};
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < WIDTH; c++) ((gnn_half *)(void *)((char *)arena + (r < FIRST ? begin[0] + r * row_bytes : begin[1] + (r - FIRST) * row_bytes)))[c] = gnn_rounded(x[r * WIDTH + c]);
  for (int64_t i = 0; i < ROWS * WIDTH; i++) x[i] = gnn_number(gnn_rounded(x[i]));
  for (int64_t e = 0; e < g.entries; e++) codes[e] = g.idx[e] < FIRST ? g.idx[e] : 1 << 10 | (g.idx[e] - FIRST);
  halves_32(&(Job){.g = &g, .from = gnn_matrix(x), .y = wanted});
  halves_32(&(Job){.g = &g, .from = {arena, by_row, parts, SHIFT, 1}, .y = y});
  tap_ok(tap, reals_same(y, wanted, ROWS * WIDTH), "rows in bf16 in two pieces");
  gnn_spmm_table_rows(&g, codes, (gnn_table){arena, by_code, NULL, 10, 1}, WIDTH, gnn_gather_chains(WIDTH), 0, ROWS, done_32, &(Job){.y = y});
  tap_ok(tap, reals_same(y, wanted, ROWS * WIDTH), "rows in bf16 in two pieces, picked by codes");
  csr_free(&g);
  free(arena), free(x), free(y), free(wanted), free(codes);
}

int main(void) {
  Tap tap = {0, 0};
  test_rounding(&tap);
  for (size_t i = 0; i < sizeof all_kernels / sizeof *all_kernels; i++) test_sums(&tap, &all_kernels[i], 40);
  test_sums(&tap, &all_kernels[16], 5000); /* large enough to be fetched ahead */
  test_pieces(&tap);
  return tap_end(&tap);
}
