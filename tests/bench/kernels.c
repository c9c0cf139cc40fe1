/* How fast the kernels are, as ratios to ceilings measured beside them: GEMM to the fused multiply-adds the processors
 * do, gathers to a plain loop and to rows read. Both sides of a ratio run in turn, several times; medians are printed.
 *
 *   kernels [threads] [name prefix] [rows of dense products]
 *
 * "packed" sums rows of which a share is zeros from a table of masks and packed numbers, too (docs/performance.md says why no program does); "passes" computes
 * sums and products step by step and by tiles that stay in a cache.
 *
 * With HAVE_CBLAS the dense products are also compared with cblas_sgemm.
 */
#define _GNU_SOURCE
#include "../../kernels/cpu/gemm.h"
#include "../../kernels/cpu/loss.h"
#include "../../kernels/cpu/math.h"
#include "../../kernels/cpu/optimizer.h"
#include "../../kernels/cpu/sparse.h"
#include "../../kernels/cpu/spmm.h"
#include "../../kernels/cpu/walk.h"
#include "../../runtime/core/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef HAVE_CBLAS
#include <cblas.h>
#endif

enum { ROUNDS = 9 };

typedef void bench_run(void *job);

typedef struct Bench {
  gnn_team *team;
  const char *only;
  int64_t rows; /* of dense products; 0: as many as make about 280 MB */
} Bench;

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median seconds of each of `count` runs, in turn; short ones are repeated to take a millisecond at least. */
static void measure(bench_run *const *runs, int count, void *job, double *seconds) {
  double times[8][ROUNDS];
  int repeats[8];
  for (int i = 0; i < count; i++) {
    runs[i](job);
    const double start = seconds_now();
    runs[i](job);
    const double once = seconds_now() - start;
    repeats[i] = once > 1e-3 ? 1 : (int)(1e-3 / (once + 1e-7)) + 1;
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < count; i++) {
      const double start = seconds_now();
      for (int k = 0; k < repeats[i]; k++) runs[i](job);
      times[i][round] = (seconds_now() - start) / repeats[i];
    }
  }
  for (int i = 0; i < count; i++) {
    qsort(times[i], ROUNDS, sizeof times[i][0], compare_doubles);
    seconds[i] = times[i][ROUNDS / 2];
  }
}

static void *memory_new(size_t bytes) {
  const size_t huge = (size_t)2 << 20, room = (bytes + huge - 1) / huge * huge + huge;
  unsigned char *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  at += (huge - (uintptr_t)at % huge) % huge;
  madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

static uint64_t random_next(uint64_t *state) { return gnn_mix64((*state)++); }

static gnn_real *reals_new(int64_t count, int is_random) {
  gnn_real *x = memory_new((size_t)count * sizeof *x);
  for (int64_t i = 0; i < count; i++) x[i] = is_random ? (gnn_real)(gnn_random_uniform(3, (uint64_t)i) - 0.5) : 0;
  return x;
}

/* ---- the ceiling of arithmetic ---- */

static void peak_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  gnn_vec sum[12];
  const gnn_real *one = context;
  const gnn_vec factor = GNN_LOAD(one);
  (void)task;
  GNN_UNROLL for (int i = 0; i < 12; i++) sum[i] = factor * (gnn_real)(i + 1);
  for (int64_t r = begin; r < end; r++)
    GNN_UNROLL for (int i = 0; i < 12; i++) sum[i] = GNN_FMA(sum[i], factor, sum[i]);
  gnn_vec total = sum[0];
  GNN_UNROLL for (int i = 1; i < 12; i++) total += sum[i];
  volatile gnn_real sink = total[0];
  (void)sink;
}

enum { PEAK_STEPS = 400000, PEAK_TASKS = 16 };

/* ---- dense products ---- */

enum { WALKER_LEVELS = 5 };

/* Rows of the same work each, so blocks of the same size. */
static gnn_blocks blocks_new(int64_t rows, int levels) {
  int64_t *first = memory_new(((1 << levels) + 1) * sizeof *first);
  for (int64_t b = 0; b <= INT64_C(1) << levels; b++) first[b] = rows * b >> levels;
  return (gnn_blocks){levels, levels, first};
}

typedef struct Dense {
  Bench *bench;
  int64_t rows, k, w;
  gnn_real *a, *b, *packed, *y, *sums;
  gnn_blocks blocks, canonical, parts; /* one of these: the runs of a program; as many as walkers, so that none has a tree */
  gnn_walkers walkers;
} Dense;

static void dense_peak(void *job) {
  Dense *d = job;
  gnn_real zero[GNN_LANES];
  for (int i = 0; i < GNN_LANES; i++) zero[i] = 0;
  gnn_parallel(d->bench->team, PEAK_STEPS, PEAK_STEPS / PEAK_TASKS, peak_task, zero);
}

static void dense_naive_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const Dense *d = context;
  (void)task;
  for (int64_t r = begin; r < end; r++) {
    gnn_real *to = d->y + r * d->w;
    for (int64_t c = 0; c < d->w; c++) to[c] = 0;
    for (int64_t p = 0; p < d->k; p++)
      for (int64_t c = 0; c < d->w; c++) to[c] += d->a[r * d->k + p] * d->b[p * d->w + c];
  }
}

static void dense_naive(void *job) {
  Dense *d = job;
  gnn_parallel(d->bench->team, d->rows, 384, dense_naive_task, d);
}

#ifdef HAVE_CBLAS
static void dense_blas(void *job) {
  Dense *d = job;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)d->rows, (int)d->w, (int)d->k, 1, d->a, (int)d->k, d->b,
              (int)d->w, 0, d->y, (int)d->w);
}

static void dense_blas_tn(void *job) {
  Dense *d = job;
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d->k, (int)d->w, (int)d->rows, 1, d->a, (int)d->k, d->y,
              (int)d->w, 0, d->sums, (int)d->w);
}
#endif

#define DEFINE_DENSE(K, W)                                                                                          \
  static void dense_done_##K##_##W(const void *context, int64_t row, const gnn_real *acc) {                         \
    const Dense *d = context;                                                                                       \
    for (int64_t c = 0; c < W; c++) d->y[row * W + c] = acc[c];                                                     \
  }                                                                                                                 \
  static void dense_pack_task_##K##_##W(const void *context, int64_t begin, int64_t end, int64_t task) {            \
    const Dense *d = context;                                                                                       \
    (void)task;                                                                                                     \
    gnn_gemm_pack(d->b, K, W, 0, d->packed, begin, end);                                                            \
  }                                                                                                                 \
  static void dense_task_##K##_##W(const void *context, int64_t begin, int64_t end, int64_t task) {                 \
    const Dense *d = context;                                                                                       \
    (void)task;                                                                                                     \
    gnn_gemm_rows(d->a, d->packed, K, W, begin, end, dense_done_##K##_##W, d);                                      \
  }                                                                                                                 \
  static void dense_run_##K##_##W(void *job) {                                                                      \
    Dense *d = job;                                                                                                 \
    gnn_parallel(d->bench->team, K, 64, dense_pack_task_##K##_##W, d);                                              \
    gnn_parallel(d->bench->team, d->rows, 384, dense_task_##K##_##W, d);                                            \
  }                                                                                                                 \
  static void dense_walk_task_##K##_##W(const void *context, int64_t begin, int64_t end, int64_t walker) {            \
    const Dense *d = context;                                                                                       \
    for (gnn_walk walk = gnn_walk_begin(begin, end, d->sums + walker * d->walkers.open * K * W, K * W, GNN_FOLD_SUM); walk.left; gnn_walk_on(&walk)) \
      gnn_gemm_tn(d->a, d->y, K, W, gnn_run_first(&d->blocks, walk.run), gnn_run_first(&d->blocks, walk.run + 1), gnn_walk_place(&walk)); \
  }                                                                                                                 \
  static void dense_sum_task_##K##_##W(const void *context, int64_t begin, int64_t end, int64_t task) {             \
    const Dense *d = context;                                                                                       \
    (void)task;                                                                                                     \
    gnn_sum_walkers(d->sums, d->walkers, K * W, d->b, begin, end);                                                  \
  }                                                                                                                 \
  static void dense_tn_##K##_##W(void *job) {                                                                       \
    Dense *d = job;                                                                                                 \
    d->walkers = gnn_walkers_of(d->blocks.levels, WALKER_LEVELS, GNN_FOLD_SUM);                                                  \
    gnn_parallel(d->bench->team, d->walkers.runs, d->walkers.each, dense_walk_task_##K##_##W, d);                 \
    gnn_parallel(d->bench->team, K * W, 4096, dense_sum_task_##K##_##W, d);                                         \
  }                                                                                                                 \
  static void dense_blocks_##K##_##W(void *job) {                                                                   \
    ((Dense *)job)->blocks = ((Dense *)job)->canonical;                                                             \
    dense_tn_##K##_##W(job);                                                                                        \
  }                                                                                                                 \
  static void dense_parts_##K##_##W(void *job) {                                                                    \
    ((Dense *)job)->blocks = ((Dense *)job)->parts;                                                                 \
    dense_tn_##K##_##W(job);                                                                                        \
  }
#define DENSE_SHAPES(M) \
  M(128, 16) M(1433, 16) M(602, 16) M(16, 7) M(128, 40) M(100, 47) M(602, 64) M(100, 100) M(128, 128) M(256, 256) M(602, 256)
DENSE_SHAPES(DEFINE_DENSE)

static void bench_dense(Bench *bench, int64_t k, int64_t w, bench_run *run, bench_run *blocks, bench_run *parts) {
  char name[32];
  snprintf(name, sizeof name, "gemm %lldx%lld", (long long)k, (long long)w);
  if (strncmp(name, bench->only, strlen(bench->only))) return;
  const int64_t rows = bench->rows ? bench->rows : gnn_min(160000, 70000000 / k);
  const int levels = gnn_run_levels(rows);
  const int64_t open = gnn_walkers_of(levels, WALKER_LEVELS, GNN_FOLD_SUM).open << WALKER_LEVELS;
  Dense d = {.bench = bench, .rows = rows, .k = k, .w = w, .a = reals_new(rows * k, 1), .b = reals_new(k * w, 1),
             .packed = reals_new(GNN_GEMM_PACKED_BYTES(k, w) / 4, 0), .y = reals_new(rows * w, 1), .sums = reals_new(open * k * w, 0),
             .canonical = blocks_new(rows, levels), .parts = blocks_new(rows, (int)gnn_min(levels, WALKER_LEVELS))};
  bench_run *runs[] = {
      dense_peak, run, blocks, parts, dense_naive,
#ifdef HAVE_CBLAS
      dense_blas, dense_blas_tn,
#endif
  };
  enum { COUNT = sizeof runs / sizeof *runs };
  double seconds[COUNT];
  measure(runs, COUNT, &d, seconds);
  const double flops = 2e-9 * (double)rows * (double)k * (double)w;
  const double peak = 2e-9 * 12 * GNN_LANES * PEAK_STEPS / seconds[0];
  printf("%-14s peak %4.0f GF/s  A B %4.0f (%3.0f%%)  A^T G %4.0f (%3.0f%%), in %d parts / in %d runs %5.3f  A B / plain loop %5.2f", name, peak,
         flops / seconds[1], 100 * flops / seconds[1] / peak, flops / seconds[2], 100 * flops / seconds[2] / peak,
         1 << d.parts.levels, 1 << levels, seconds[3] / seconds[2], seconds[4] / seconds[1]);
  if (COUNT > 5) printf("  / BLAS %5.2f  A^T G / BLAS %5.2f", seconds[5] / seconds[1], seconds[COUNT - 1] / seconds[2]);
  printf("\n");
  fflush(stdout);
  munmap(d.a, (size_t)(rows * k) * sizeof(gnn_real));
  munmap(d.y, (size_t)(rows * w) * sizeof(gnn_real));
}

/* ---- sparse products ---- */

typedef struct Sparse {
  Bench *bench;
  gnn_csr g;
  gnn_sparse s;
  gnn_blocks blocks;
  gnn_dropout drop;
  gnn_real *x, *y;
  int64_t w;
} Sparse;

static int compare_entries(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static gnn_csr csr_of_entries(const uint64_t *entry, int64_t count, int64_t rows, int is_transposed) {
  int64_t *ptr = calloc((size_t)rows + 2, sizeof *ptr), *bounds = malloc((GNN_TASKS + 1) * sizeof *bounds);
  int32_t *idx = memory_new((size_t)count * sizeof *idx);
  for (int64_t e = 0; e < count; e++) ptr[(is_transposed ? entry[e] & UINT32_MAX : entry[e] >> 32) + 2]++;
  for (int64_t r = 0; r < rows; r++) ptr[r + 2] += ptr[r + 1];
  for (int64_t e = 0; e < count; e++) {
    const uint32_t row = (uint32_t)(is_transposed ? entry[e] : entry[e] >> 32);
    idx[ptr[row + 1]++] = (int32_t)(is_transposed ? entry[e] >> 32 : entry[e] & UINT32_MAX);
  }
  int64_t r = 0;
  for (int64_t t = 0; t <= GNN_TASKS; t++) {
    while (r < rows && ptr[r] + r < (count + rows) * t / GNN_TASKS) r++;
    bounds[t] = t == GNN_TASKS ? rows : r;
  }
  return (gnn_csr){rows, count, ptr, idx, NULL, bounds, GNN_TASKS};
}

/* Recursive matrix: in each of `scale` levels a quadrant with probabilities .57 .19 .19 .05; both directions. */
static gnn_csr csr_rmat(int scale, int64_t edges) {
  const int64_t rows = (int64_t)1 << scale;
  uint64_t *entry = malloc((size_t)edges * 2 * sizeof *entry), state = 1;
  for (int64_t e = 0; e < edges; e++) {
    uint64_t r = 0, c = 0;
    for (int level = 0; level < scale; level++) {
      const uint32_t u = (uint32_t)random_next(&state);
      const int quadrant = u < 2448131358u ? 0 : u < 3264175144u ? 1 : u < 4080218930u ? 2 : 3;
      r = r * 2 + (uint64_t)(quadrant >> 1), c = c * 2 + (uint64_t)(quadrant & 1);
    }
    r = r * 2654435761u % (uint64_t)rows, c = c * 2654435761u % (uint64_t)rows; /* no order in the numbers */
    entry[2 * e] = r << 32 | c, entry[2 * e + 1] = c << 32 | r;
  }
  qsort(entry, (size_t)edges * 2, sizeof *entry, compare_entries);
  int64_t count = 0;
  for (int64_t e = 0; e < edges * 2; e++)
    if (e == 0 || entry[e] != entry[e - 1]) entry[count++] = entry[e];
  const gnn_csr g = csr_of_entries(entry, count, rows, 0);
  free(entry);
  return g;
}

static gnn_sparse sparse_random(int64_t rows, int64_t columns, int64_t per_row) {
  const int64_t count = rows * per_row;
  uint64_t *entry = malloc((size_t)count * sizeof *entry), state = 2;
  for (int64_t e = 0; e < count; e++)
    entry[e] = (uint64_t)(e / per_row) << 32 | random_next(&state) % (uint64_t)columns;
  qsort(entry, (size_t)count, sizeof *entry, compare_entries);
  gnn_sparse s;
  s.by_row = csr_of_entries(entry, count, rows, 0);
  s.by_column = csr_of_entries(entry, count, columns, 1);
  s.row_value = s.column_value = reals_new(count, 1);
  free(entry);
  return s;
}

static void sparse_naive_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const Sparse *s = context;
  (void)task;
  for (int64_t r = begin; r < end; r++) {
    gnn_real *to = s->y + r * s->w;
    for (int64_t c = 0; c < s->w; c++) to[c] = 0;
    for (int64_t e = s->g.ptr[r]; e < s->g.ptr[r + 1]; e++)
      for (int64_t c = 0; c < s->w; c++) to[c] += s->x[s->g.idx[e] * s->w + c];
  }
}

static void sparse_naive(void *job) {
  Sparse *s = job;
  gnn_parallel_ranges(s->bench->team, s->g.bounds, s->g.tasks, sparse_naive_task, s);
}

#define DEFINE_SPMM(W)                                                                                 \
  static void spmm_done_##W(const void *context, int64_t row, const gnn_real *acc) {                   \
    const Sparse *s = context;                                                                         \
    for (int64_t c = 0; c < W; c++) s->y[row * W + c] = acc[c];                                        \
  }                                                                                                    \
  static void spmm_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {           \
    const Sparse *s = context;                                                                         \
    (void)task;                                                                                        \
    gnn_spmm_rows(&s->g, s->x, W, gnn_gather_chains(W), begin, end, spmm_done_##W, s);                 \
  }                                                                                                    \
  static void spmm_run_##W(void *job) {                                                                \
    Sparse *s = job;                                                                                   \
    gnn_parallel_ranges(s->bench->team, s->g.bounds, s->g.tasks, spmm_task_##W, s);                    \
  }
#define SPMM_WIDTHS(M) M(7) M(16) M(47) M(64) M(100) M(128) M(256) M(602)
SPMM_WIDTHS(DEFINE_SPMM)

static void bench_spmm(Bench *bench, const char *graph, const gnn_csr *g, int64_t w, bench_run *run) {
  char name[32];
  snprintf(name, sizeof name, "spmm %s %lld", graph, (long long)w);
  if (strncmp(name, bench->only, strlen(bench->only))) return;
  Sparse s = {.bench = bench, .g = *g, .x = reals_new(g->rows * w, 1), .y = reals_new(g->rows * w, 0), .w = w};
  double seconds[2];
  measure((bench_run *const[]){run, sparse_naive}, 2, &s, seconds);
  const double flops = 2e-9 * (double)g->entries * (double)w;
  printf("%-18s %8.1f us  %5.1f GF/s  gathers %5.1f GB/s  / plain loop %5.2f\n", name, seconds[0] * 1e6,
         flops / seconds[0], flops / seconds[0] * 2, seconds[1] / seconds[0]);
  fflush(stdout);
  munmap(s.x, (size_t)(g->rows * w) * sizeof(gnn_real));
  munmap(s.y, (size_t)(g->rows * w) * sizeof(gnn_real));
}

/* ---- steps one after the other, and in one pass over tiles ---- */

/* Y = (A X) B, and Y = (A X) B + X C: as steps, whose results lie in memory between them, and by tiles of rows that stay in a cache. */
enum { PASS_WIDTH = 128, PASS_TILE = GNN_GEMM_ROWS };

typedef struct Passes {
  Sparse s; /* x: gathered; y: the sums */
  gnn_real *packed[2], *left, *y;
} Passes;

typedef struct Tile {
  const Passes *p;
  int64_t first;
  gnn_real *sums, *left;
} Tile;

static void product_done(const void *context, int64_t row, const gnn_real *acc) {
  gnn_real *to = ((const Passes *)context)->left + row * PASS_WIDTH;
  for (int c = 0; c < PASS_WIDTH; c++) to[c] = acc[c];
}
static void added_done(const void *context, int64_t row, const gnn_real *acc) {
  const Passes *p = context;
  for (int c = 0; c < PASS_WIDTH; c++) p->y[row * PASS_WIDTH + c] = acc[c] + p->left[row * PASS_WIDTH + c] > 0 ? acc[c] + p->left[row * PASS_WIDTH + c] : 0;
}
static void alone_done(const void *context, int64_t row, const gnn_real *acc) {
  const Passes *p = context;
  for (int c = 0; c < PASS_WIDTH; c++) p->y[row * PASS_WIDTH + c] = acc[c] > 0 ? acc[c] : 0;
}
static void tile_sum_done(const void *context, int64_t row, const gnn_real *acc) {
  const Tile *t = context;
  for (int c = 0; c < PASS_WIDTH; c++) t->sums[(row - t->first) * PASS_WIDTH + c] = acc[c];
}
static void tile_product_done(const void *context, int64_t row, const gnn_real *acc) {
  const Tile *t = context;
  for (int c = 0; c < PASS_WIDTH; c++) t->left[row * PASS_WIDTH + c] = acc[c];
}
static void tile_alone_done(const void *context, int64_t row, const gnn_real *acc) {
  const Tile *t = context;
  alone_done(t->p, row + t->first, acc);
}
static void tile_added_done(const void *context, int64_t row, const gnn_real *acc) {
  const Tile *t = context;
  const gnn_real *left = t->left + (row - t->first) * PASS_WIDTH;
  gnn_real *to = t->p->y + row * PASS_WIDTH;
  for (int c = 0; c < PASS_WIDTH; c++) to[c] = acc[c] + left[c] > 0 ? acc[c] + left[c] : 0;
}

#define PASS_TASK(name, call)                                                                     \
  static void name##_task(const void *context, int64_t begin, int64_t end, int64_t task) {        \
    const Passes *p = context;                                                                    \
    (void)task;                                                                                   \
    call;                                                                                         \
  }
/* Tiles of a task's rows: of sums, of the first product. */
#define TILE_TASK(name, body)                                                                     \
  static void name##_task(const void *context, int64_t begin, int64_t end, int64_t task) {        \
    const Passes *p = context;                                                                    \
    gnn_real sums[PASS_TILE * PASS_WIDTH] __attribute__((aligned(64))), left[PASS_TILE * PASS_WIDTH] __attribute__((aligned(64))); \
    (void)task, (void)left, (void)sums;                                                           \
    for (int64_t r = begin; r < end; r += PASS_TILE) {                                            \
      const int64_t rows = gnn_min(PASS_TILE, end - r);                                           \
      const Tile t = {p, r, sums, left};                                                          \
      body;                                                                                       \
    }                                                                                             \
  }
#define PRODUCT(from, b, first, last, done, of) gnn_gemm_rows(from, p->packed[b], PASS_WIDTH, PASS_WIDTH, first, last, done, of)
PASS_TASK(pass_sum, gnn_spmm_rows(&p->s.g, p->s.x, PASS_WIDTH, 1, begin, end, spmm_done_128, &p->s))
PASS_TASK(pass_alone, PRODUCT(p->s.y, 0, begin, end, alone_done, p))
PASS_TASK(pass_left, PRODUCT(p->s.y, 0, begin, end, product_done, p))
PASS_TASK(pass_added, PRODUCT(p->s.x, 1, begin, end, added_done, p))
TILE_TASK(tiles_alone, gnn_spmm_rows(&p->s.g, p->s.x, PASS_WIDTH, 1, r, r + rows, tile_sum_done, &t); PRODUCT(sums, 0, 0, rows, tile_alone_done, &t))
TILE_TASK(tiles_two, PRODUCT(p->s.y + r * PASS_WIDTH, 0, 0, rows, tile_product_done, &t); PRODUCT(p->s.x, 1, r, r + rows, tile_added_done, &t))
TILE_TASK(tiles_all, gnn_spmm_rows(&p->s.g, p->s.x, PASS_WIDTH, 1, r, r + rows, tile_sum_done, &t); PRODUCT(sums, 0, 0, rows, tile_product_done, &t);
          PRODUCT(p->s.x, 1, r, r + rows, tile_added_done, &t))

static void by_edges(const Passes *p, gnn_task *task) { gnn_parallel_ranges(p->s.bench->team, p->s.g.bounds, p->s.g.tasks, task, p); }
static void by_rows(const Passes *p, gnn_task *task) { gnn_parallel(p->s.bench->team, p->s.g.rows, 384, task, p); }
static void steps_alone(void *job) { by_edges(job, pass_sum_task), by_rows(job, pass_alone_task); }
static void in_tiles_alone(void *job) { by_edges(job, tiles_alone_task); }
static void steps_two(void *job) { by_rows(job, pass_left_task), by_rows(job, pass_added_task); }
static void in_tiles_two(void *job) { by_rows(job, tiles_two_task); }
static void steps_all(void *job) { by_edges(job, pass_sum_task), steps_two(job); }
static void in_tiles_all(void *job) { by_edges(job, tiles_all_task); }

static void bench_passes(Bench *bench, const char *graph, const gnn_csr *g) {
  static bench_run *const runs[] = {steps_alone, in_tiles_alone, steps_two, in_tiles_two, steps_all, in_tiles_all};
  static const char *const names[] = {"(A X) B", "M B + X C", "(A X) B + X C"};
  const int64_t numbers = g->rows * PASS_WIDTH;
  Passes p = {.s = {.bench = bench, .g = *g, .x = reals_new(numbers, 1), .y = reals_new(numbers, 0), .w = PASS_WIDTH}, .left = reals_new(numbers, 0), .y = reals_new(numbers, 0)};
  gnn_real *b = reals_new(PASS_WIDTH * PASS_WIDTH, 1), *kept = reals_new(numbers, 0);
  double seconds[6];
  for (int i = 0; i < 2; i++) gnn_gemm_pack(b, PASS_WIDTH, PASS_WIDTH, i, p.packed[i] = reals_new(PASS_WIDTH * PASS_WIDTH, 0), 0, PASS_WIDTH);
  measure(runs, 6, &p, seconds);
  for (int i = 0; i < 6; i += 2) {
    runs[i](&p);
    memcpy(kept, p.y, (size_t)numbers * sizeof *kept);
    runs[i + 1](&p);
    printf("passes %s, %-14s steps %8.1f us, tiles %8.1f us  steps / tiles %5.2f%s\n", graph, names[i / 2], seconds[i] * 1e6, seconds[i + 1] * 1e6, seconds[i] / seconds[i + 1],
           memcmp(kept, p.y, (size_t)numbers * sizeof *kept) ? "  OTHER BITS" : "");
  }
  fflush(stdout);
  for (gnn_real **of = (gnn_real *[]){p.s.x, p.s.y, p.left, p.y, kept, NULL}; *of; of++) munmap(*of, (size_t)numbers * sizeof(gnn_real));
}

static void bench_passes_all(Bench *bench) {
  if (strncmp("passes", bench->only, gnn_min(6, (int64_t)strlen(bench->only)))) return;
  const gnn_csr cora = csr_rmat(11, 5000), tolokers = csr_rmat(14, 520000), arxiv = csr_rmat(17, 900000);
  bench_passes(bench, "cora", &cora), bench_passes(bench, "tolokers", &tolokers), bench_passes(bench, "arxiv", &arxiv);
}

#if GNN_LANES == 16 && defined __AVX512F__
#include <immintrin.h>

/* Row r: for each 16 numbers a mask of those whose bits are not 0, mask[r * w / 16 ..); these side by side from packed + r * w on. */
typedef struct Packed {
  Sparse s;
  gnn_real *packed, *sums;
  uint16_t *mask;
  int lines; /* fetched early of a row */
} Packed;

GNN_INLINE void pack_rows(const Packed *p, int w, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; r++) {
    gnn_real *to = p->packed + r * w;
    GNN_UNROLL for (int v = 0; v < w / 16; v++) {
      const __m512 numbers = _mm512_loadu_ps(p->s.x + r * w + 16 * v);
      const __mmask16 mask = _mm512_test_epi32_mask(_mm512_castps_si512(numbers), _mm512_castps_si512(numbers));
      p->mask[r * (w / 16) + v] = mask;
      _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask, numbers)); /* what lies behind them is written next, or lies within the row */
      to += __builtin_popcount(mask);
    }
  }
}

GNN_INLINE void packed_rows(const Packed *p, int w, int64_t begin, int64_t end) {
  enum { AHEAD = 16 };
  const gnn_csr *g = &p->s.g;
  const int64_t limit = g->ptr[end];
  for (int64_t r = begin; r < end; r++) {
    __m512 sum[16];
    GNN_UNROLL for (int v = 0; v < w / 16; v++) sum[v] = _mm512_setzero_ps();
    for (int64_t e = g->ptr[r]; e < g->ptr[r + 1]; e++) {
      const int64_t later = g->idx[gnn_min(e + AHEAD, limit - 1)];
      __builtin_prefetch(p->mask + later * (w / 16));
      for (int l = 0; l < p->lines; l++) __builtin_prefetch(p->packed + later * w + 16 * l);
      const gnn_real *row = p->packed + g->idx[e] * (int64_t)w;
      GNN_UNROLL for (int four = 0; four < w / 64; four++) {
        uint64_t masks;
        memcpy(&masks, p->mask + g->idx[e] * (int64_t)(w / 16) + 4 * four, sizeof masks);
        GNN_UNROLL for (int v = 0; v < 4; v++) {
          const int before = v == 0 ? 0 : __builtin_popcountll(masks << (64 - 16 * v));
          sum[4 * four + v] = _mm512_add_ps(sum[4 * four + v], _mm512_maskz_expand_ps((__mmask16)(masks >> 16 * v), _mm512_loadu_ps(row + before)));
        }
        row += __builtin_popcountll(masks);
      }
    }
    GNN_UNROLL for (int v = 0; v < w / 16; v++) _mm512_storeu_ps(p->sums + r * w + 16 * v, sum[v]);
  }
}

#define DEFINE_PACKED(W)                                                                                                 \
  static void pack_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {                             \
    (void)task;                                                                                                          \
    pack_rows(context, W, begin, end);                                                                                   \
  }                                                                                                                      \
  static void pack_run_##W(void *job) {                                                                                  \
    const Packed *p = job;                                                                                               \
    gnn_parallel(p->s.bench->team, p->s.g.rows, 256, pack_task_##W, p);                                                  \
  }                                                                                                                      \
  static void packed_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {                           \
    (void)task;                                                                                                          \
    packed_rows(context, W, begin, end);                                                                                 \
  }                                                                                                                      \
  static void packed_run_##W(void *job) {                                                                                \
    const Packed *p = job;                                                                                               \
    gnn_parallel_ranges(p->s.bench->team, p->s.g.bounds, p->s.g.tasks, packed_task_##W, p);                              \
  }
DEFINE_PACKED(64)
DEFINE_PACKED(128)
DEFINE_PACKED(256)

static void bench_packed(Bench *bench, const char *graph, const gnn_csr *g, int64_t w, bench_run *dense, bench_run *pack, bench_run *packed) {
  const int64_t numbers = g->rows * w;
  Packed p = {.s = {.bench = bench, .g = *g, .x = reals_new(numbers, 0), .y = reals_new(numbers, 0), .w = w},
              .packed = reals_new(numbers + 16, 0), .sums = reals_new(numbers, 0), .mask = memory_new((size_t)numbers / 8)};
  for (int quarters = 1; quarters <= 4; quarters *= 2) {
    double seconds[3];
    for (int64_t i = 0; i < numbers; i++) p.s.x[i] = 4 * gnn_random_uniform(5, (uint64_t)i) < quarters ? (gnn_real)(gnn_random_uniform(3, (uint64_t)i) - 0.5) : 0;
    p.lines = (int)(w * quarters / 64) + 2; /* about as many as hold numbers: a row's first and last loads cross into others */
    measure((bench_run *const[]){dense, pack, packed}, 3, &p, seconds);
    printf("packed %s %3lld, %3d %% not 0: as it is %8.1f us, packing %7.1f us, packed %8.1f us  / as it is %5.2f%s\n", graph, (long long)w, 25 * quarters, seconds[0] * 1e6, seconds[1] * 1e6, seconds[2] * 1e6,
           seconds[0] / (seconds[1] + seconds[2]), memcmp(p.sums, p.s.y, (size_t)numbers * sizeof(gnn_real)) ? "  OTHER BITS" : "");
    fflush(stdout);
  }
  for (gnn_real **of = (gnn_real *[]){p.s.x, p.s.y, p.packed, p.sums, NULL}; *of; of++) munmap(*of, (size_t)numbers * sizeof(gnn_real));
  munmap(p.mask, (size_t)numbers / 8);
}

static void bench_packed_all(Bench *bench) {
  if (strncmp("packed", bench->only, gnn_min(6, (int64_t)strlen(bench->only)))) return;
  const gnn_csr arxiv = csr_rmat(17, 900000), reddit = csr_rmat(16, 16000000);
#define BENCH_PACKED(W)                                                                                  \
  bench_packed(bench, "arxiv", &arxiv, W, spmm_run_##W, pack_run_##W, packed_run_##W);                   \
  bench_packed(bench, "a quarter of Reddit", &reddit, W, spmm_run_##W, pack_run_##W, packed_run_##W);
  BENCH_PACKED(64) BENCH_PACKED(128) BENCH_PACKED(256)
}
#else
static void bench_packed_all(Bench *bench) { (void)bench; }
#endif

#define DEFINE_FEATURES(W)                                                                             \
  static void rows_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {           \
    const Sparse *s = context;                                                                         \
    (void)task;                                                                                        \
    gnn_sparse_rows(&s->s, s->x, W, gnn_gather_chains(W), &s->drop, begin, end, spmm_done_##W, s);     \
  }                                                                                                    \
  static void rows_run_##W(void *job) {                                                                \
    Sparse *s = job;                                                                                   \
    gnn_parallel_ranges(s->bench->team, s->s.by_row.bounds, s->s.by_row.tasks, rows_task_##W, s);      \
  }                                                                                                    \
  static void columns_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {        \
    const Sparse *s = context;                                                                         \
    (void)task;                                                                                        \
    gnn_sparse_tn_rows(&s->s, &s->blocks, gnn_matrix(s->x), W, gnn_gather_chains(W), &s->drop, begin, end, spmm_done_##W, s); \
  }                                                                                                    \
  static void columns_run_##W(void *job) {                                                             \
    Sparse *s = job;                                                                                   \
    gnn_parallel_ranges(s->bench->team, s->s.by_column.bounds, s->s.by_column.tasks, columns_task_##W, s); \
  }                                                                                                    \
  static void rows_plain_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {     \
    const Sparse *s = context;                                                                         \
    (void)task;                                                                                        \
    gnn_sparse_rows(&s->s, s->x, W, gnn_gather_chains(W), NULL, begin, end, spmm_done_##W, s);         \
  }                                                                                                    \
  static void rows_plain_run_##W(void *job) {                                                          \
    Sparse *s = job;                                                                                   \
    gnn_parallel_ranges(s->bench->team, s->s.by_row.bounds, s->s.by_row.tasks, rows_plain_task_##W, s); \
  }
DEFINE_FEATURES(16)
DEFINE_FEATURES(64)

static void empty_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  (void)context, (void)begin, (void)end, (void)task;
}

static void empty_run(void *job) {
  Sparse *s = job;
  gnn_parallel(s->bench->team, 64, 1, empty_task, s);
}

static void bench_features(Bench *bench, int64_t w, bench_run *rows, bench_run *columns, bench_run *plain) {
  if (strncmp("features", bench->only, strlen(bench->only))) return;
  Sparse s = {.bench = bench, .s = sparse_random(2708, 1433, 18),
              .blocks = blocks_new(2708, gnn_block_levels(2708)), .drop = gnn_dropout_make(1, 1, 0, 0.5), .w = w,
              .x = reals_new(2708 * w, 1), .y = reals_new(2708 * w, 0)};
  double seconds[4];
  measure((bench_run *const[]){rows, columns, plain, empty_run}, 4, &s, seconds);
  printf("features %lld: 2708 x 1433, 1.26%% not zero: S B %.1f us, S^T G %.1f us, S B without dropout %.1f us; "
         "fork and join, 64 tasks: %.2f us\n", (long long)w, seconds[0] * 1e6, seconds[1] * 1e6, seconds[2] * 1e6,
         seconds[3] * 1e6);
}

/* ---- loops over elements ---- */

typedef struct Elements {
  Bench *bench;
  gnn_real *x, *y, *m, *v;
  gnn_dropout drop;
} Elements;

enum { ELEMENTS = 1 << 14, ELEMENT_COLUMNS = 64 };

static void elements_copy(void *job) {
  Elements *e = job;
  for (int i = 0; i < ELEMENTS; i++) e->y[i] = e->x[i];
}

static void elements_dropout(void *job) {
  Elements *e = job;
  const gnn_dropout drop = e->drop;
  for (int r = 0; r < ELEMENTS / ELEMENT_COLUMNS; r++) {
    const gnn_row_bits bits = gnn_random_row(drop.key, (uint64_t)r);
    for (int c = 0; c < ELEMENT_COLUMNS; c++)
      e->y[r * ELEMENT_COLUMNS + c] = e->x[r * ELEMENT_COLUMNS + c] * gnn_dropout_factor(&drop, bits, (uint32_t)c);
  }
}

static void elements_adam(void *job) {
  Elements *e = job;
  gnn_adam(e->y, e->x, GNN_UNCLIPPED, e->m, e->v, 1e-3, 0.9, 0.999, 1e-8, 5e-4, 10, 0, ELEMENTS);
}

#define DEFINE_ELEMENTS(name, expression)                 \
  static void elements_##name(void *job) {                \
    Elements *e = job;                                    \
    for (int i = 0; i < ELEMENTS; i++) {                  \
      const gnn_real x = e->x[i];                         \
      e->y[i] = (expression);                             \
    }                                                     \
  }
#define ELEMENT_FUNCTIONS(M)                                                                                           \
  M(exp, gnn_exp(x)) M(log, gnn_log(x)) M(tanh, gnn_tanh(x)) M(sigmoid, gnn_sigmoid(x)) M(silu, gnn_silu(x))           \
  M(gelu, gnn_gelu(x)) M(gelu_slope, gnn_gelu_slope(x)) M(elu, gnn_elu(x, 1)) M(softplus, gnn_softplus(x))             \
  M(libm_exp, (gnn_real)exp((double)x))
ELEMENT_FUNCTIONS(DEFINE_ELEMENTS)

static void bench_elements(Bench *bench) {
  if (strncmp("elements", bench->only, strlen(bench->only))) return;
  Elements e = {bench, reals_new(ELEMENTS, 1), reals_new(ELEMENTS, 1), reals_new(ELEMENTS, 1), reals_new(ELEMENTS, 1),
                gnn_dropout_make(1, 1, 0, 0.5)};
  for (int i = 0; i < ELEMENTS; i++) e.v[i] = e.v[i] * e.v[i];
#define ELEMENT_ENTRY(name, expression) {#name, elements_##name},
  static const struct {
    const char *name;
    bench_run *run;
  } all[] = {{"copy", elements_copy}, {"dropout", elements_dropout}, {"adam", elements_adam}, ELEMENT_FUNCTIONS(ELEMENT_ENTRY)};
  printf("elements, ns each on one thread:");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    double seconds;
    measure(&all[i].run, 1, &e, &seconds);
    printf(" %s %.2f", all[i].name, seconds * 1e9 / ELEMENTS);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  Bench bench = {gnn_team_create(argc > 1 ? atoi(argv[1]) : 0), argc > 2 ? argv[2] : "", argc > 3 ? atoll(argv[3]) : 0};
  if (!bench.team) return 1;
  printf("%d threads, vectors of %d bytes, numbers of %d\n", gnn_team_threads(bench.team), GNN_VECTOR_BYTES,
         (int)sizeof(gnn_real));
  bench_elements(&bench);
  bench_features(&bench, 16, rows_run_16, columns_run_16, rows_plain_run_16);
  bench_features(&bench, 64, rows_run_64, columns_run_64, rows_plain_run_64);
#define BENCH_DENSE(K, W) bench_dense(&bench, K, W, dense_run_##K##_##W, dense_blocks_##K##_##W, dense_parts_##K##_##W);
  DENSE_SHAPES(BENCH_DENSE)
  if (!strncmp("spmm", bench.only, gnn_min(4, (int64_t)strlen(bench.only)))) {
    const gnn_csr cora = csr_rmat(11, 5000), large = csr_rmat(18, 4000000);
#define BENCH_SPMM(W)                                          \
  bench_spmm(&bench, "cora", &cora, W, spmm_run_##W);          \
  bench_spmm(&bench, "rmat18", &large, W, spmm_run_##W);
    SPMM_WIDTHS(BENCH_SPMM)
  }
  bench_packed_all(&bench);
  bench_passes_all(&bench);
  gnn_team_destroy(bench.team);
  return 0;
}
