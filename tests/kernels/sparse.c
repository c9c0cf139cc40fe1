/* Sparse products against a double reference, over widths and divisions of the rows. */
#include "../../kernels/cpu/sparse.h"
#include "../../kernels/cpu/spmm.h"
#include "tap.h"

typedef struct Job {
  const gnn_csr *g;
  const gnn_sparse *s;
  const gnn_blocks *blocks;
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
    gnn_spmm_rows(job->g, job->x, W, gnn_gather_chains(W), begin, end, done_##W, job);                 \
  }                                                                                                    \
  static void weighted_##W(const void *context, int64_t begin, int64_t end) {                          \
    const Job *job = context;                                                                          \
    gnn_spmm_weighted_rows(job->g, job->weight, job->x, W, gnn_gather_chains(W), begin, end, done_##W, job); \
  }                                                                                                    \
  static void sparse_##W(const void *context, int64_t begin, int64_t end) {                            \
    const Job *job = context;                                                                          \
    gnn_sparse_rows(job->s, job->x, W, gnn_gather_chains(W), job->drop, begin, end, done_##W, job);    \
  }                                                                                                    \
  static void sparse_tn_##W(const void *context, int64_t begin, int64_t end) {                         \
    const Job *job = context;                                                                          \
    gnn_sparse_tn_rows(job->s, job->blocks, gnn_matrix(job->x), W, gnn_gather_chains(W), job->drop, begin, end, done_##W, job); \
  }                                                                                                    \
  static void entries_##W(const Job *job, int64_t column, int64_t first, int64_t last, gnn_real *sum) { \
    gnn_sparse_sum(job->g, job->s->column_value, 1, job->s->row_id, column, first, last, gnn_matrix(job->x), W, gnn_gather_chains(W), job->drop, sum); \
  }
TEST_WIDTHS(DEFINE)

typedef void entries_sum(const Job *job, int64_t column, int64_t first, int64_t last, gnn_real *sum);

typedef struct Kernels {
  int64_t w;
  rows_run *plain, *weighted, *sparse, *sparse_tn;
  entries_sum *entries;
} Kernels;

#define ENTRY(W) {W, plain_##W, weighted_##W, sparse_##W, sparse_tn_##W, entries_##W},
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

/* The sum over the tree of blocks, those without entries being zeros. */
static void tree_sum(const Job *job, const Kernels *kernels, int64_t column, int64_t begin, int64_t end, gnn_real *sum) {
  const gnn_csr *csr = job->g;
  if (end - begin == 1) {
    int64_t e = csr->ptr[column], last = csr->ptr[column + 1];
    while (e < last && csr->idx[e] < job->blocks->first[begin]) e++;
    while (last > e && csr->idx[last - 1] >= job->blocks->first[end]) last--;
    kernels->entries(job, column, e, last, sum);
    return;
  }
  gnn_real right[kernels->w];
  tree_sum(job, kernels, column, begin, (begin + end) / 2, sum);
  tree_sum(job, kernels, column, (begin + end) / 2, end, right);
  for (int64_t j = 0; j < kernels->w; j++) sum[j] += right[j];
}

static void check_tree(Tap *tap, Job job, const Kernels *kernels) {
  const int64_t w = kernels->w;
  gnn_real *y = reals_new(job.g->rows * w), sum[w];
  int is_same = 1;
  job.y = y;
  kernels->sparse_tn(&job, 0, job.g->rows);
  for (int64_t c = 0; c < job.g->rows; c++) {
    tree_sum(&job, kernels, c, 0, INT64_C(1) << job.blocks->levels, sum);
    is_same &= reals_same(y + c * w, sum, w);
  }
  tap_ok(tap, is_same, "S^T G%s has the bits of the tree of %d blocks: width %lld", job.drop ? ", dropout," : "", 1 << job.blocks->levels, (long long)w);
  free(y);
}

/* By parts of the rows, or columns, whose entries lie elsewhere; whoever reads one behind them goes astray. */
static void check_parts(Tap *tap, Job job, rows_run *run, int64_t w, int is_by_column) {
  enum { PARTS = 3, BEHIND = 32, NOWHERE = 1 << 30 };
  const gnn_sparse *s = job.s;
  const gnn_csr *csr = is_by_column ? &s->by_column : &s->by_row;
  gnn_real *y = reals_new(csr->rows * w), *again = reals_new(csr->rows * w);
  int is_same = 1;
  job.y = y;
  run(&job, 0, csr->rows);
  job.y = again;
  for (int64_t part = 0; part < PARTS; part++) {
    const int64_t begin = csr->rows * part / PARTS, end = csr->rows * (part + 1) / PARTS, first = csr->ptr[begin], count = csr->ptr[end] - first;
    int32_t *idx = malloc((size_t)(count + BEHIND) * sizeof *idx);
    gnn_real *value = reals_new(count + BEHIND);
    memcpy(idx, csr->idx + first, (size_t)count * sizeof *idx);
    memcpy(value, (is_by_column ? s->column_value : s->row_value) + first, (size_t)count * sizeof *value);
    for (int64_t e = count; e < count + BEHIND; e++) idx[e] = NOWHERE;
    const gnn_sparse here = (is_by_column ? gnn_sparse_with_columns : gnn_sparse_with_rows)(s, csr->ptr, idx - first, value - first, end);
    job.s = &here;
    run(&job, begin, end);
    free(idx), free(value);
  }
  is_same = reals_same(y, again, csr->rows * w);
  tap_ok(tap, is_same, "%s%s, entries of parts elsewhere: the same bits: width %lld", is_by_column ? "S^T G" : "S B", job.drop ? ", dropout" : "", (long long)w);
  free(y), free(again);
}

static int compare_indices(const void *a, const void *b) { return *(const int32_t *)a - *(const int32_t *)b; }

/* by_row and by_column are two unrelated matrices here: the kernels do not mind. */
static void test_sparse(Tap *tap, const Kernels *kernels, gnn_team *const teams[4], int64_t rows, int64_t columns) {
  Numbers n = {(uint64_t)(kernels->w * 100 + rows + 3)};
  const int64_t w = kernels->w;
  gnn_csr by_row = csr_random(&n, rows, columns, 300), by_column = csr_random(&n, columns, rows, 257);
  gnn_real *row_value = reals_random(&n, by_row.entries), *column_value = reals_random(&n, by_column.entries);
  int32_t row_id[37];
  for (int64_t r = 0; r < rows; r++) row_id[r] = (int32_t)(rows - 1 - r);
  const gnn_sparse s = {by_row, row_value, by_column, column_value, NULL}, ordered = {by_row, row_value, by_column, column_value, row_id};
  for (int64_t c = 0; c < columns; c++)
    qsort((void *)(uintptr_t)(by_column.idx + by_column.ptr[c]), (size_t)(by_column.ptr[c + 1] - by_column.ptr[c]), sizeof(int32_t), compare_indices);
  const int64_t bounds[] = {0, 1, 1, 5, rows / 2, rows / 2, rows - 3, rows - 2, rows}, whole[] = {0, rows};
  const gnn_blocks blocks = {3, 3, bounds}, one = {0, 0, whole};
  gnn_real *b = reals_random(&n, columns * w), *g = reals_random(&n, rows * w);
  const gnn_dropout drop = gnn_dropout_make(5, 3, 1, 0.4), all = gnn_dropout_make(5, 3, 1, 1);
  check(tap, "S B", (Job){.g = &by_row, .s = &s, .x = b}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S B, dropout", (Job){.g = &by_row, .s = &s, .x = b, .drop = &drop}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S B, dropout by other numbers", (Job){.g = &by_row, .s = &ordered, .x = b, .drop = &drop}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S B, all dropped", (Job){.g = &by_row, .s = &s, .x = b, .drop = &all}, 0, w, kernels->sparse, teams, &n);
  check(tap, "S^T G", (Job){.g = &by_column, .s = &s, .blocks = &blocks, .x = g}, 1, w, kernels->sparse_tn, teams, &n);
  check(tap, "S^T G, dropout", (Job){.g = &by_column, .s = &s, .blocks = &blocks, .x = g, .drop = &drop}, 1, w, kernels->sparse_tn, teams, &n);
  check_tree(tap, (Job){.g = &by_column, .s = &s, .blocks = &blocks, .x = g}, kernels);
  check_tree(tap, (Job){.g = &by_column, .s = &s, .blocks = &blocks, .x = g, .drop = &drop}, kernels);
  check_tree(tap, (Job){.g = &by_column, .s = &s, .blocks = &one, .x = g, .drop = &drop}, kernels);
  check(tap, "S^T G, dropout by other numbers", (Job){.g = &by_column, .s = &ordered, .blocks = &blocks, .x = g, .drop = &drop}, 1, w, kernels->sparse_tn, teams, &n);
  for (int k = 0; k < 2; k++) {
    check_parts(tap, (Job){.g = &by_row, .s = &ordered, .x = b, .drop = k ? &drop : NULL}, kernels->sparse, w, 0);
    check_parts(tap, (Job){.g = &by_column, .s = &ordered, .blocks = &blocks, .x = g, .drop = k ? &drop : NULL}, kernels->sparse_tn, w, 1);
  }
  csr_free(&by_row), csr_free(&by_column);
  free(row_value), free(column_value), free(b), free(g);
}

/* ---- slices ---- */

enum { SLICE = 16, WHOLE = 48 };

static void slice_16(const void *context, int64_t begin, int64_t end) {
  const Job *job = context;
  if (job->weight) gnn_spmm_weighted_rows(job->g, job->weight, job->x, SLICE, gnn_gather_chains(WHOLE), begin, end, done_16, job);
  else gnn_spmm_rows(job->g, job->x, SLICE, gnn_gather_chains(WHOLE), begin, end, done_16, job);
}

/* Column slices of a value, each summed by itself, against the whole. */
static void test_slices(Tap *tap, int is_weighted) {
  Numbers n = {77};
  gnn_csr g = csr_random(&n, 90, 90, 300);
  gnn_real *x = reals_random(&n, g.rows * WHOLE), *weight = reals_random(&n, g.entries), *y = reals_new(g.rows * WHOLE);
  gnn_real *part = reals_new(g.rows * SLICE), *sums = reals_new(g.rows * SLICE);
  Job job = {.g = &g, .x = x, .y = y, .weight = is_weighted ? weight : NULL};
  if (is_weighted) weighted_48(&job, 0, g.rows);
  else plain_48(&job, 0, g.rows);
  int is_same = 1;
  for (int64_t first = 0; first < WHOLE; first += SLICE) {
    for (int64_t r = 0; r < g.rows; r++) memcpy(part + r * SLICE, x + r * WHOLE + first, SLICE * sizeof *part);
    job.x = part, job.y = sums;
    slice_16(&job, 0, g.rows);
    for (int64_t r = 0; r < g.rows; r++) is_same &= reals_same(sums + r * SLICE, y + r * WHOLE + first, SLICE);
  }
  tap_ok(tap, is_same, "%s: slices of %d columns have the bits of all %d", is_weighted ? "weighted A X" : "A X", SLICE, WHOLE);
  csr_free(&g);
  free(x), free(weight), free(y), free(part), free(sums);
}

/* ---- pieces ---- */

/* Rows in three parts, which lie the other way round and apart, against the whole. */
static void test_pieces(Tap *tap) {
  enum { ROWS = 90, SHIFT = 4, PARTS = 3, APART = 5 };
  static const int64_t first[PARTS + 1] = {0, 21, 69, ROWS};
  Numbers n = {78};
  gnn_csr g = csr_random(&n, ROWS, ROWS, 300);
  gnn_real *x = reals_random(&n, ROWS * WHOLE), *y = reals_new(ROWS * WHOLE), *sums = reals_new(ROWS * WHOLE), *arena = reals_new((ROWS + PARTS * APART) * WHOLE);
  gnn_row_part parts[ROWS / (1 << SHIFT) + 1];
  int64_t at[PARTS];
  for (int k = 0, part = 0; k << SHIFT < ROWS; k++) {
    while (first[part + 1] <= k << SHIFT) part++;
    parts[k] = (gnn_row_part){part, (int32_t)first[part + 1]};
  }
  for (int p = PARTS - 1, begin = APART; p >= 0; begin += (int)(first[p + 1] - first[p]) + APART, p--) {
    memcpy(arena + begin * WHOLE, x + first[p] * WHOLE, (size_t)((first[p + 1] - first[p]) * WHOLE) * sizeof *x);
    at[p] = (begin - first[p]) * WHOLE * (int64_t)(sizeof *x / GNN_SCALE);
  }
  Job job = {.g = &g, .x = x, .y = y};
  plain_48(&job, 0, ROWS);
  job.y = sums;
  gnn_spmm_table_rows(&g, g.idx, (gnn_table){arena, at, parts, SHIFT, 0}, WHOLE, gnn_gather_chains(WHOLE), 0, ROWS, done_48, &job);
  tap_ok(tap, reals_same(sums, y, ROWS * WHOLE), "A X: rows in %d pieces, wherever they lie, have the bits of one matrix", PARTS);
  csr_free(&g);
  free(x), free(y), free(sums), free(arena);
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
  test_slices(&tap, 0);
  test_slices(&tap, 1);
  test_pieces(&tap);
  for (int64_t rows = 0; rows < 40; rows += 13)
    for (int64_t columns = 1; columns < 50; columns += 16) test_transpose(&tap, rows, columns);
  teams_destroy(teams);
  return tap_end(&tap);
}
