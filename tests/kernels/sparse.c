/* Sparse products against a double reference, over widths and divisions of the rows. */
#include "../../kernels/cpu/sparse.h"
#include "../../kernels/cpu/spmm.h"
#include "tap.h"

typedef struct Job {
  const gnn_csr *g;
  const gnn_sparse *s;
  const gnn_real *x, *weight;
  const gnn_dropout *drop;
  gnn_real *y;
} Job;

#define DEFINE(W)                                                                                      \
  static void done_##W(const void *context, int64_t row, const gnn_real *acc) {                        \
    const Job *job = context;                                                                          \
    for (int64_t c = 0; c < W; c++) job->y[row * W + c] = acc[c];                                      \
  }                                                                                                    \
  static void plain_##W(const void *context, int64_t begin, int64_t end) {                             \
    const Job *job = context;                                                                          \
    gnn_spmm_rows(job->g, job->x, W, begin, end, done_##W, job);                                       \
  }                                                                                                    \
  static void weighted_##W(const void *context, int64_t begin, int64_t end) {                          \
    const Job *job = context;                                                                          \
    gnn_spmm_weighted_rows(job->g, job->weight, job->x, W, begin, end, done_##W, job);                 \
  }                                                                                                    \
  static void sparse_##W(const void *context, int64_t begin, int64_t end) {                            \
    const Job *job = context;                                                                          \
    gnn_sparse_rows(job->s, job->x, W, job->drop, begin, end, done_##W, job);                          \
  }                                                                                                    \
  static void sparse_tn_##W(const void *context, int64_t begin, int64_t end) {                         \
    const Job *job = context;                                                                          \
    gnn_sparse_tn_rows(job->s, job->x, W, job->drop, begin, end, done_##W, job);                       \
  }
TEST_WIDTHS(DEFINE)

typedef struct Kernels {
  int64_t w;
  rows_run *plain, *weighted, *sparse, *sparse_tn;
} Kernels;

#define ENTRY(W) {W, plain_##W, weighted_##W, sparse_##W, sparse_tn_##W},
static const Kernels all_kernels[] = {TEST_WIDTHS(ENTRY)};

/* What an entry of row r counts for, written out as the contract says it. */
static double entry_weight(const Job *job, int is_transposed, int64_t r, int64_t e) {
  if (!job->s) {
    if (!job->weight) return 1;
    return (double)job->weight[job->g->edge ? job->g->edge[e] : e];
  }
  const gnn_real value = is_transposed ? job->s->column_value[e] : job->s->row_value[e];
  if (!job->drop) return (double)value;
  const int64_t other = job->g->idx[e], row = is_transposed ? other : r, column = is_transposed ? r : other;
  const int64_t drawn = job->s->row_id ? job->s->row_id[row] : row;
  const int is_kept = gnn_bits(job->drop->key, (uint64_t)drawn, (uint32_t)column) >= job->drop->threshold;
  return is_kept ? (double)value * (double)job->drop->scale : 0;
}

static int is_right(const Job *job, int is_transposed, int64_t w) {
  for (int64_t r = 0; r < job->g->rows; r++) {
    for (int64_t c = 0; c < w; c++) {
      double sum = 0, magnitude = 0;
      for (int64_t e = job->g->ptr[r]; e < job->g->ptr[r + 1]; e++) {
        const double term = entry_weight(job, is_transposed, r, e) * (double)job->x[job->g->idx[e] * w + c];
        sum += term;
        magnitude += fabs(term);
      }
      const double slack = (double)(job->g->ptr[r + 1] - job->g->ptr[r] + 3) * real_epsilon() * magnitude;
      if (!(fabs((double)job->y[r * w + c] - sum) <= slack)) return 0;
    }
  }
  return 1;
}

static void check(Tap *tap, const char *what, Job job, int is_transposed, int64_t w, rows_run *run,
                  gnn_team *const teams[4], Numbers *n) {
  const int64_t count = job.g->rows * w;
  gnn_real *y = reals_new(count), *again = reals_new(count);
  job.y = y;
  memset(y, 0xff, (size_t)count * sizeof *y);
  rows_divide(0, n, teams, job.g->rows, run, &job);
  tap_ok(tap, is_right(&job, is_transposed, w), "%s is right: %lld rows, width %lld", what, (long long)job.g->rows,
         (long long)w);
  int is_same = 1;
  job.y = again;
  for (int division = 1; division < DIVISIONS; division++) {
    memset(again, 0xff, (size_t)count * sizeof *again);
    rows_divide(division, n, teams, job.g->rows, run, &job);
    is_same &= reals_same(y, again, count);
  }
  memset(again, 0xff, (size_t)count * sizeof *again);
  if (job.g->tasks) gnn_parallel_ranges(teams[1], job.g->bounds, job.g->tasks, rows_task, &(RowsTask){run, &job});
  is_same &= reals_same(y, again, count);
  tap_ok(tap, is_same, "%s has the same bits however divided: %lld rows, width %lld", what, (long long)job.g->rows,
         (long long)w);
  free(y), free(again);
}

static void test_graph(Tap *tap, const Kernels *kernels, gnn_team *const teams[4], int64_t rows, int64_t longest) {
  Numbers n = {(uint64_t)(kernels->w * 100 + rows + 1)};
  const int64_t w = kernels->w;
  gnn_csr g = csr_random(&n, rows, rows, longest);
  gnn_real *x = reals_random(&n, rows * w), *weight = reals_random(&n, g.entries);
  gnn_csr without = g;
  without.edge = NULL;
  check(tap, "A X", (Job){.g = &g, .x = x}, 0, w, kernels->plain, teams, &n);
  check(tap, "weighted A X", (Job){.g = &g, .x = x, .weight = weight}, 0, w, kernels->weighted, teams, &n);
  check(tap, "weighted A X by position", (Job){.g = &without, .x = x, .weight = weight}, 0, w, kernels->weighted, teams, &n);
  csr_free(&g);
  free(x), free(weight);
}

/* by_row and by_column are two unrelated matrices here: the kernels do not mind. */
static void test_sparse(Tap *tap, const Kernels *kernels, gnn_team *const teams[4], int64_t rows, int64_t columns) {
  Numbers n = {(uint64_t)(kernels->w * 100 + rows + 3)};
  const int64_t w = kernels->w;
  gnn_csr by_row = csr_random(&n, rows, columns, 300), by_column = csr_random(&n, columns, rows, 257);
  gnn_real *row_value = reals_random(&n, by_row.entries), *column_value = reals_random(&n, by_column.entries);
  int32_t row_id[37];
  for (int64_t r = 0; r < rows; r++) row_id[r] = (int32_t)(rows - 1 - r);
  const gnn_sparse s = {by_row, row_value, by_column, column_value, NULL}, ordered = {by_row, row_value, by_column, column_value, row_id};
  gnn_real *b = reals_random(&n, columns * w), *g = reals_random(&n, rows * w);
  const gnn_dropout drop = gnn_dropout_make(5, 3, 1, 0.4), all = gnn_dropout_make(5, 3, 1, 1);
  check(tap, "S B", (Job){.g = &by_row, .s = &s, .x = b}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S B, dropout", (Job){.g = &by_row, .s = &s, .x = b, .drop = &drop}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S B, dropout by other numbers", (Job){.g = &by_row, .s = &ordered, .x = b, .drop = &drop}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S B, all dropped", (Job){.g = &by_row, .s = &s, .x = b, .drop = &all}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S^T G", (Job){.g = &by_column, .s = &s, .x = g}, 1, w, kernels->sparse_tn, teams, &n);
  check(tap, "S^T G, dropout", (Job){.g = &by_column, .s = &s, .x = g, .drop = &drop}, 1, w, kernels->sparse_tn, teams, &n);
  check(tap, "S^T G, dropout by other numbers", (Job){.g = &by_column, .s = &ordered, .x = g, .drop = &drop}, 1, w, kernels->sparse_tn, teams, &n);
  csr_free(&by_row), csr_free(&by_column);
  free(row_value), free(column_value), free(b), free(g);
}

static void test_transpose(Tap *tap, int64_t rows, int64_t columns) {
  Numbers n = {9};
  gnn_real *x = reals_random(&n, rows * columns), *y = reals_new(rows * columns);
  gnn_transpose(x, rows, columns, y, columns / 3, columns);
  gnn_transpose(x, rows, columns, y, 0, columns / 3);
  int good = 1;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) good &= reals_same(&y[c * rows + r], &x[r * columns + c], 1);
  tap_ok(tap, good, "transpose %lld x %lld", (long long)rows, (long long)columns);
  free(x), free(y);
}

int main(void) {
  Tap tap = {0, 0};
  gnn_team *teams[4];
  teams_create(teams);
  for (size_t i = 0; i < sizeof all_kernels / sizeof *all_kernels; i++) {
    test_graph(&tap, &all_kernels[i], teams, 0, 0);
    test_graph(&tap, &all_kernels[i], teams, 1, 0);
    test_graph(&tap, &all_kernels[i], teams, 40, 300);
    test_sparse(&tap, &all_kernels[i], teams, 37, 29);
  }
  test_graph(&tap, &all_kernels[16], teams, 5000, 2000); /* large enough to be fetched ahead */
  for (int64_t rows = 0; rows < 40; rows += 13)
    for (int64_t columns = 1; columns < 50; columns += 16) test_transpose(&tap, rows, columns);
  teams_destroy(teams);
  return tap_end(&tap);
}
