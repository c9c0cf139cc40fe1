/* Quality and processor time of the planner.
 *
 *   planner_bench small [N]    N small instances against the proved optimum
 *   planner_bench large        the large instances at every effort
 *   planner_bench size [FILE...]  what values cut into parts make, fast (EFFORT=normal: with more effort); of files: problems of gnncc's own
 *   planner_bench plot F.svg   first plan and fast plan against the number of gaps
 *   planner_bench budgets [N [S]]  N instances at 21 device sizes, other seeds for every S: is a larger device ever worse?
 */
#define _POSIX_C_SOURCE 200809L

#include "compiler/planner/judge.h"
#include "compiler/planner/planner.h"
#include "tests/planner/generate_parts.h"
#include "tests/planner/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double clock_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static PlannerPlan *plan_with(const Problem *problem, PlannerEffort effort, Arena *arena, PlannerReport *report) {
  PlannerOptions options;
  planner_default_options(&options);
  options.effort = effort;
  return planner_plan(problem, &options, arena, report);
}

static const char *judge(const PlannerPlan *plan, const char *text, Arena *arena) {
  size_t length;
  char *plan_text = plan_write_json(plan, arena, &length);
  return planner_check_json(text, strlen(text), plan_text, length, NULL, NULL) == PLANNER_CHECK_VALID ? "valid" : "INVALID";
}

static int small(int count) {
  int proved = 0, optimal = 0, infeasible = 0, losses = 0, beyond = 0; /* beyond: better than any plan with canonical recompute */
  double sum = 0, worst = 0, slowest = 0, total = 0;
  int family_count[FAMILY_COUNT] = {0}, family_optimal[FAMILY_COUNT] = {0};
  double family_sum[FAMILY_COUNT] = {0}, family_worst[FAMILY_COUNT] = {0};
  for (int i = 0; i < count; i++) {
    GenerateOptions options = suite_small(i % SUITE_SMALL_COUNT);
    options.seed += (uint64_t)(i / SUITE_SMALL_COUNT) * 1000;
    Arena *arena = arena_new();
    char *text = generate_problem(arena, &options);
    Problem *problem = suite_read(arena, text);
    PlannerReport report;
    double begin = clock_s();
    PlannerPlan *plan = plan_with(problem, PLANNER_NORMAL, arena, &report);
    double took = clock_s() - begin;
    total += took;
    if (took > slowest) slowest = took;
    if (!plan) {
      infeasible++;
      printf("# %s: infeasible, %d gaps\n", problem->name, report.open_count);
    } else {
      if (strcmp(judge(plan, text, arena), "valid")) return 1;
      for (int policy = 0; policy < POLICY_COUNT; policy++) losses += report.policy_ns[policy] < report.makespan_ns;
      int64_t best = report.is_optimal ? report.makespan_ns : suite_optimum(problem, 400000000);
      if (best > report.makespan_ns) beyond++, best = report.makespan_ns;
      if (best < 0) {
        printf("# %s: %d gaps, not proved; %.3f s\n", problem->name, report.open_count, took);
      } else {
        double gap = 100.0 * (double)(report.makespan_ns - best) / (double)best;
        Family f = options.family;
        proved++;
        family_count[f]++;
        family_sum[f] += gap;
        if (gap > family_worst[f]) family_worst[f] = gap;
        if (gap <= 0) optimal++, family_optimal[f]++;
        sum += gap;
        if (gap > worst) worst = gap;
        if (gap > 0 || took > 0.3)
          printf("# %s: %d gaps, %.3f %% above the optimum, %.3f s\n", problem->name, report.open_count, gap, took);
      }
    }
    arena_free(arena);
  }
  printf("%-12s %9s %9s %9s %9s\n", "family", "proved", "optimal", "mean gap", "worst");
  for (int f = 0; f < FAMILY_COUNT; f++)
    printf("%-12s %9d %9d %8.3f%% %8.3f%%\n", generate_family_name((Family)f), family_count[f], family_optimal[f],
           family_count[f] ? family_sum[f] / family_count[f] : 0, family_worst[f]);
  printf("%-12s %9d %9d %8.3f%% %8.3f%%\n", "all", proved, optimal, proved ? sum / proved : 0, worst);
  printf("%d instances, %d infeasible, %d better than any plan with canonical recompute, %d lost to a policy; %.3f s mean, %.3f s slowest\n",
         count, infeasible, beyond, losses, total / count, slowest);
  return 0;
}

static int large(void) {
  static const char *const efforts[] = {"fast", "normal", "best"};
  printf("%-34s %6s %7s %7s %9s %9s %9s %9s\n", "instance", "gaps", "steps", "effort", "first s", "total s", "over free", "certified");
  for (int i = 0; i < suite_large_count; i++)
    for (int effort = 0; effort < 3; effort++) {
      Arena *arena = arena_new();
      char *text = generate_problem(arena, &suite_large[i].options);
      Problem *problem = suite_read(arena, text);
      PlannerReport r;
      PlannerPlan *plan = plan_with(problem, (PlannerEffort)effort, arena, &r);
      if (!plan) {
        printf("%-34s infeasible\n", suite_large[i].name);
      } else {
        const char *verdict = judge(plan, text, arena);
        printf("%-34s %6d %7d %7s %9.3f %9.3f %8.2f%% %8.2f%% %s%s\n", suite_large[i].name, r.open_count, r.step_count,
               efforts[effort], r.first_plan_s, r.total_s, 100.0 * (double)(r.makespan_ns - r.stall_free_ns) / (double)r.stall_free_ns,
               100.0 * (double)(r.makespan_ns - r.lower_bound_ns) / (double)r.lower_bound_ns, verdict, r.has_addresses ? "" : ", NO ADDRESSES");
      }
      fflush(stdout);
      arena_free(arena);
    }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("largest memory of the process: %.0f MiB\n", (double)usage.ru_maxrss / 1024);
  return 0;
}

static const PartsOptions sizes[] = {
    {"products, 64 x 8 slices", 2449029, 123718280, 100, 256, 47, 3, PARTS_SLICES, 64, 8, true, true, false, 0},
    {"products, 512 rows", 2449029, 123718280, 100, 256, 47, 3, PARTS_ROWS, 512, 1, true, true, true, 0},
    {"products, 1024 parts", 2449029, 123718280, 100, 256, 47, 3, PARTS_WHOLE, 1024, 1, false, true, false, 0},
    {"papers100M, 1024 rows, 8 layers", 111059956, 1615685872, 128, 256, 172, 8, PARTS_ROWS, 1024, 1, true, true, true, 0},
    {"papers100M, 2048 rows", 111059956, 1615685872, 128, 256, 172, 3, PARTS_ROWS, 2048, 1, true, false, true, 0},
    {"papers100M, 4096 rows, 6 layers", 111059956, 1615685872, 128, 256, 172, 6, PARTS_ROWS, 4096, 1, true, true, true, 0},
    {"papers100M, 1024 x 16 slices", 111059956, 1615685872, 128, 256, 172, 3, PARTS_SLICES, 1024, 16, true, true, true, 0},
};

static void size_row(const char *name, int share, const char *text, int is_file) {
  Arena *arena = arena_new();
  double begin = clock_s();
  Problem *problem = suite_read(arena, text);
  double read = clock_s() - begin;
  PlannerReport r;
  const char *effort = getenv("EFFORT");
  PlannerPlan *plan = plan_with(problem, effort && !strcmp(effort, "normal") ? PLANNER_NORMAL : PLANNER_FAST, arena, &r);
  printf("%-34s", name);
  if (is_file) printf("      ");
  else printf(" %4d%%", share);
  printf(" %7d %7d %7d %6.2f %7.2f", problem->piece_count, r.step_count, r.open_count, read, r.total_s);
  if (!plan) printf(" infeasible\n");
  else
    printf(" %10.3f %10.3f %10.3f %7.2f%%  %s%s\n", 1e-9 * (double)r.stall_free_ns, 1e-9 * (double)r.lower_bound_ns, 1e-9 * (double)r.makespan_ns,
           100.0 * (double)(r.makespan_ns - r.lower_bound_ns) / (double)r.lower_bound_ns, judge(plan, text, arena), r.has_addresses ? "" : ", NO ADDRESSES");
  fflush(stdout);
  arena_free(arena);
}

static char *file_text(Arena *arena, const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) {
    perror(path);
    exit(2);
  }
  fseek(f, 0, SEEK_END);
  size_t length = (size_t)ftell(f);
  rewind(f);
  char *text = arena_alloc(arena, length + 1);
  if (fread(text, 1, length, f) != length) exit(2);
  fclose(f);
  return text;
}

static int size(int count, char **files) {
  static const int shares[] = {90, 50, 25, 10, 2, 0};
  const char *only = getenv("ONLY"); /* rows whose name and share, "products, 512 rows 50%", have this */
  printf("%-34s %5s %7s %7s %7s %6s %7s %10s %10s %10s %8s\n", "problem", "share", "pieces", "steps", "gaps", "read s", "plan s", "free s", "bound s", "epoch s", "gap");
  for (int i = 0; i < count; i++) {
    Arena *arena = arena_new();
    size_row(files[i], 0, file_text(arena, files[i]), 1);
    arena_free(arena);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !count; i++)
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
      char row[64];
      snprintf(row, sizeof row, "%s %d%%", sizes[i].name, shares[k]);
      if (only && !strstr(row, only)) continue;
      Arena *arena = arena_new();
      PartsOptions options = sizes[i];
      options.budget = 0.01 * shares[k];
      size_row(options.name, shares[k], generate_parts(arena, &options), 0);
      arena_free(arena);
    }
  return 0;
}

static int budgets(int count, int shift) {
  int worse = 0, pairs = 0;
  double slowest = 0, sum = 0, certified = 0;
  for (int i = 0; i < count; i++) {
    GenerateOptions options = suite_small(i);
    options.seed += 1000u * (unsigned)shift;
    if (i / FAMILY_COUNT % 3 == 2) options.depth += 6; /* beyond the exact search */
    int64_t last = INT64_MAX;
    for (int step = 0; step <= 20; step++) {
      Arena *arena = arena_new();
      options.budget = 0.05 + 0.045 * step;
      Problem *problem = suite_read(arena, generate_problem(arena, &options));
      PlannerReport report;
      PlannerOptions how;
      planner_default_options(&how);
      PlannerPlan *plan = planner_plan(problem, &how, arena, &report);
      if (report.total_s > slowest) slowest = report.total_s;
      sum += report.total_s;
      if (plan && report.has_addresses) {
        pairs += last < INT64_MAX;
        certified += log((double)report.makespan_ns / (double)report.lower_bound_ns);
        if (report.makespan_ns > last) {
          worse++;
          printf("# %s: %lld after %lld (%.3f %%)\n", problem->name, (long long)report.makespan_ns, (long long)last,
                 100.0 * (double)(report.makespan_ns - last) / (double)last);
        }
        last = report.makespan_ns;
      }
      arena_free(arena);
    }
  }
  printf("%d of %d larger budgets gave a worse plan; %.4f %% above the certificates; %.3f s mean, %.3f s slowest\n", worse, pairs,
         100 * certified / pairs, sum / (21 * count), slowest);
  return 0;
}

typedef struct Point {
  int gaps;
  double first_s, total_s;
} Point;

static void draw(const char *path, const Point *points, int count) {
  enum { LEFT = 70, TOP = 30, WIDTH = 520, HEIGHT = 320 };
  FILE *f = fopen(path, "w");
  if (!f) {
    perror(path);
    return;
  }
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"410\" font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"640\" height=\"410\" fill=\"white\"/>\n<text x=\"320\" y=\"18\" text-anchor=\"middle\">planning time against the number of gaps (--effort=fast)</text>\n");
#define X(gaps) (LEFT + WIDTH * (log10((double)(gaps)) - 1) / 3.4)
#define Y(s) (TOP + HEIGHT - HEIGHT * (log10((s) < 1e-4 ? 1e-4 : (s)) + 4) / 5.5)
  for (int e = 1; e <= 4; e++)
    fprintf(f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
            X(pow(10, e)), TOP, X(pow(10, e)), TOP + HEIGHT, X(pow(10, e)), TOP + HEIGHT + 16, (int)pow(10, e));
  for (int e = -4; e <= 1; e++)
    fprintf(f, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g s</text>\n",
            LEFT, Y(pow(10, e)), LEFT + WIDTH, Y(pow(10, e)), LEFT - 6, Y(pow(10, e)) + 4, pow(10, e));
  static const char *const colours[] = {"#0072b2", "#d55e00"}, *const names[] = {"first plan", "fast plan, with certificate and addresses"};
  for (int series = 0; series < 2; series++) {
    fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colours[series]);
    for (int i = 0; i < count; i++) fprintf(f, "%.1f,%.1f ", X(points[i].gaps), Y(series ? points[i].total_s : points[i].first_s));
    fprintf(f, "\"/>\n<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", LEFT + 14, TOP + 20 + 18 * series, colours[series], names[series]);
  }
  double slope = points[count - 1].total_s / points[count - 1].gaps;
  fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#999\" stroke-dasharray=\"4 4\"/>\n"
          "<text x=\"%d\" y=\"%d\" fill=\"#777\">dashed: linear</text>\n<text x=\"320\" y=\"400\" text-anchor=\"middle\">gaps</text>\n</svg>\n",
          X(10), Y(slope * 10), X(20000), Y(slope * 20000), LEFT + 14, TOP + 56);
  fclose(f);
}

static int plot(const char *path) {
  static const int depths[] = {11, 30, 100, 200, 60, 125, 190, 320, 640, 1250}, chunks[] = {1, 1, 1, 1, 8, 8, 16, 16, 16, 16};
  Point points[10];
  int count = 0;
  for (int i = 0; i < 10; i++) {
    GenerateOptions options = {FAMILY_CHAIN, depths[i], chunks[i], 0.3, 0.5, 1, 0, 9};
    Arena *arena = arena_new();
    Problem *problem = suite_read(arena, generate_problem(arena, &options));
    PlannerReport report;
    PlannerPlan *plan = plan_with(problem, PLANNER_FAST, arena, &report);
    if (plan) {
      points[count++] = (Point){report.open_count, report.first_plan_s, report.total_s};
      printf("%6d gaps %6d steps: first plan %.3f s, fast plan %.3f s, certified gap %.2f %%\n", report.open_count, report.step_count,
             report.first_plan_s, report.total_s, 100.0 * (double)(report.makespan_ns - report.lower_bound_ns) / (double)report.lower_bound_ns);
    }
    arena_free(arena);
  }
  draw(path, points, count);
  return 0;
}

int main(int argc, char **argv) {
  if (argc >= 2 && !strcmp(argv[1], "small")) return small(argc > 2 ? atoi(argv[2]) : SUITE_SMALL_COUNT);
  if (argc >= 2 && !strcmp(argv[1], "large")) return large();
  if (argc >= 2 && !strcmp(argv[1], "size")) return size(argc - 2, argv + 2);
  if (argc >= 2 && !strcmp(argv[1], "budgets")) return budgets(argc > 2 ? atoi(argv[2]) : 48, argc > 3 ? atoi(argv[3]) : 0);
  if (argc >= 3 && !strcmp(argv[1], "plot")) return plot(argv[2]);
  fprintf(stderr, "usage: planner_bench small [N] | large | size [FILE...] | budgets [N [S]] | plot FILE.svg\n");
  return 2;
}
