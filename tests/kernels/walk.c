/* Sums and extremes over runs of rows against their definition: within a run in the order of its rows, then over the halves of the tree. */
#include "../../kernels/cpu/gemm.h"
#include "../../kernels/cpu/walk.h"
#include "tap.h"

enum { K = 7, W = 19, COUNT = K * W, MOST_LEVELS = 7 };

typedef struct Job {
  const gnn_real *a, *g;
  const int64_t *first;
  gnn_walkers walkers;
  int64_t step; /* of the walks */
  gnn_real *sums, *out;
  int64_t part;          /* which is walked, and */
  gnn_real *open;        /* what those before it have left */
} Job;

static gnn_real joined(const Job *job, gnn_real a, gnn_real b) {
  if (job->walkers.fold == GNN_FOLD_SUM) return a + b;
  return (job->walkers.fold == GNN_FOLD_MAX) == (a > b) ? a : b;
}

static void run_sum(const Job *job, int64_t run, gnn_real *sum) {
  for (int i = 0; i < COUNT; i++) {
    sum[i] = 0;
    for (int64_t r = job->first[run]; r < job->first[run + 1]; r++) sum[i] = gnn_fma(job->g[r * W + i % W], job->a[r * K + i / W], sum[i]);
  }
}

static void tree_sum(const Job *job, int64_t begin, int64_t end, gnn_real *sum) {
  if (end - begin == 1) {
    run_sum(job, begin, sum);
    return;
  }
  gnn_real right[COUNT];
  tree_sum(job, begin, begin + (end - begin) / 2, sum);
  tree_sum(job, begin + (end - begin) / 2, end, right);
  for (int i = 0; i < COUNT; i++) sum[i] = joined(job, sum[i], right[i]);
}

static void walk_task(const void *context, int64_t begin, int64_t end, int64_t walker) {
  const Job *job = context;
  gnn_walk walk = gnn_walk_begin(begin, end, job->sums + walker * job->walkers.open * COUNT, COUNT, job->walkers.fold);
  walk.step = job->step;
  walk.run = job->step > 0 ? begin : end - 1;
  for (; walk.left > 0; gnn_walk_on(&walk))
    gnn_gemm_tn(job->a, job->g, K, W, job->first[walk.run], job->first[walk.run + 1], gnn_walk_place(&walk));
}

static void sum_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const Job *job = context;
  (void)task;
  gnn_sum_walkers(job->sums, job->walkers, COUNT, job->out, begin, end);
}

static void walk_part_task(const void *context, int64_t begin, int64_t end, int64_t walker) {
  const Job *job = context;
  const int64_t before = job->part * job->walkers.runs;
  walk_task(context, before + begin, before + end, walker);
}

static void sum_part_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const Job *job = context;
  (void)task;
  gnn_sum_part(job->sums, job->walkers, COUNT, job->part, job->open, begin, end);
}

/* Runs anywhere, some of them empty. */
static void cut(Numbers *n, int64_t rows, int levels, int64_t *first) {
  const int64_t runs = INT64_C(1) << levels;
  first[0] = 0;
  for (int64_t b = 1; b < runs; b++) {
    int64_t at = numbers_below(n, rows + 1), i = b;
    for (; first[i - 1] > at; i--) first[i] = first[i - 1];
    first[i] = at;
  }
  first[runs] = rows;
}

static void test_walks(Tap *tap, gnn_team *team, int levels, int64_t rows, gnn_fold fold) {
  static const char *const of_fold[] = {"the bits of the tree", "the largest of all", "the smallest of all"};
  Numbers n = {(uint64_t)(levels * 1000 + rows + 1)};
  int64_t first[(1 << MOST_LEVELS) + 1];
  gnn_real want[COUNT], got[COUNT];
  Job job = {.a = reals_random(&n, rows * K), .g = reals_random(&n, rows * W), .first = first, .out = got, .walkers = {.fold = fold}};
  cut(&n, rows, levels, first);
  tree_sum(&job, 0, INT64_C(1) << levels, want);
  for (int walker_levels = 0; walker_levels <= levels; walker_levels++) {
    job.walkers = gnn_walkers_of(levels, walker_levels, fold);
    const int64_t walkers = job.walkers.runs / job.walkers.each;
    tap_ok(tap, walkers == INT64_C(1) << gnn_min(walker_levels, GNN_WALKER_LEVELS) && job.walkers.open <= levels + 1, "%lld walkers, %lld sums open",
           (long long)walkers, (long long)job.walkers.open);
    int is_same = 1;
    for (job.step = -1; job.step <= 1; job.step += 2) {
      job.sums = reals_new(walkers * job.walkers.open * COUNT);
      memset(got, 0xff, sizeof got);
      gnn_parallel(team, job.walkers.runs, job.walkers.each, walk_task, &job);
      gnn_parallel(team, COUNT, 50, sum_task, &job);
      is_same &= reals_same(got, want, COUNT);
      free(job.sums);
    }
    tap_ok(tap, is_same, "%d runs of %lld rows, %lld walkers upwards and downwards: %s", 1 << levels, (long long)rows, (long long)walkers, of_fold[fold]);
  }
  for (int part_levels = 0; part_levels <= levels; part_levels++) {
    job.step = 1;
    job.walkers = gnn_walkers_of(levels - part_levels, 2, fold);
    job.sums = reals_new(job.walkers.runs / job.walkers.each * job.walkers.open * COUNT);
    job.open = reals_new((part_levels + 1) * COUNT);
    for (job.part = 0; job.part < INT64_C(1) << part_levels; job.part++) {
      gnn_parallel(team, job.walkers.runs, job.walkers.each, walk_part_task, &job);
      gnn_parallel(team, COUNT, 50, sum_part_task, &job);
    }
    tap_ok(tap, reals_same(job.open, want, COUNT), "%d runs of %lld rows in %d parts, one after the other: %s", 1 << levels, (long long)rows, 1 << part_levels, of_fold[fold]);
    free(job.sums), free(job.open);
  }
  free((void *)(uintptr_t)job.a), free((void *)(uintptr_t)job.g);
}

int main(void) {
  Tap tap = {0, 0};
  gnn_team *team = must(gnn_team_create(3));
  for (int levels = 0; levels <= MOST_LEVELS; levels++) {
    test_walks(&tap, team, levels, 40, GNN_FOLD_SUM);
    test_walks(&tap, team, levels, 3000, GNN_FOLD_SUM);
    test_walks(&tap, team, levels, 40, GNN_FOLD_MAX);
    test_walks(&tap, team, levels, 40, GNN_FOLD_MIN);
  }
  gnn_team_destroy(team);
  return tap_end(&tap);
}
