/* The planner on small instances of every family against the proved optimum; never worse than a policy; the same
 * bytes twice; never worse on a larger device. */
#include "compiler/planner/judge.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Quality {
  int proved, optimal, invalid, lost, changed, unpacked;
  double sum, worst;
} Quality;

static PlannerPlan *plan_text(Arena *arena, const char *text, PlannerReport *report, char **json, size_t *length) {
  Problem *problem = suite_read(arena, text);
  PlannerOptions options;
  planner_default_options(&options);
  PlannerPlan *plan = planner_plan(problem, &options, arena, report);
  if (plan) *json = plan_write_json(plan, arena, length);
  return plan;
}

static void try_instance(Quality *quality, int i, bool with_places) {
  Arena *arena = arena_new();
  GenerateOptions options = suite_small(i);
  char *text = generate_problem(arena, &options), *json = NULL, *again = NULL;
  int places;
  if (with_places) text = generate_with_places(arena, text, (uint64_t)i, &places);
  size_t length = 0, other_length = 0;
  PlannerReport report, other;
  PlannerPlan *plan = plan_text(arena, text, &report, &json, &length);
  if (plan) {
    if (planner_check_json(text, strlen(text), json, length, NULL, NULL) != PLANNER_CHECK_VALID) quality->invalid++;
    for (int policy = 0; policy < POLICY_COUNT; policy++) quality->lost += report.policy_ns[policy] < report.makespan_ns;
    quality->unpacked += !report.has_addresses;
    if (i % 8 == 3) {
      plan_text(arena, text, &other, &again, &other_length);
      quality->changed += other_length != length || memcmp(json, again, length);
    }
    int64_t best = report.is_optimal && i % 16 ? report.makespan_ns : suite_optimum(plan->problem, 100000000);
    if (best >= 0) {
      double gap = 100.0 * (double)(report.makespan_ns - best) / (double)best;
      quality->proved++;
      quality->optimal += gap <= 0;
      quality->sum += gap;
      if (gap > quality->worst) quality->worst = gap;
      if (gap > 0) tap_note("%s: %.3f %% above the optimum", plan->problem->name, gap);
    }
  }
  arena_free(arena);
}

typedef struct Ladder { /* of device sizes */
  int instance, more_depth;
  double lowest, step;
} Ladder;

/* Larger devices with a slower plan. */
static int larger_is_worse(const Ladder *ladder) {
  GenerateOptions options = suite_small(ladder->instance);
  int64_t last = INT64_MAX;
  int worse = 0;
  options.depth += ladder->more_depth;
  for (int step = 0; step < 5; step++) {
    Arena *arena = arena_new();
    PlannerReport report;
    PlannerOptions how;
    planner_default_options(&how);
    options.budget = ladder->lowest + ladder->step * step;
    if (planner_plan(suite_read(arena, generate_problem(arena, &options)), &how, arena, &report) && report.has_addresses) {
      if (report.makespan_ns > last) {
        worse++;
        tap_note("%s instance %d: %lld ns after %lld ns on a smaller device", generate_family_name(options.family), ladder->instance,
                 (long long)report.makespan_ns, (long long)last);
      }
      last = report.makespan_ns;
    }
    arena_free(arena);
  }
  return worse;
}

/* Policies whose plan has addresses and is faster than ours, on an instance that is hard to lay out; `faster`: those
 * that are faster before addresses. */
static int beaten_by(int i, int *faster) {
  Arena *arena = arena_new();
  GenerateOptions options = suite_small(i);
  options.depth += 6;
  Problem *problem = suite_read(arena, generate_problem(arena, &options));
  PlannerOptions planner_options;
  PlannerReport report, other;
  int beaten = 0;
  planner_default_options(&planner_options);
  bool is_planned = planner_plan(problem, &planner_options, arena, &report) != NULL;
  for (int policy = 0; policy < POLICY_COUNT && is_planned; policy++) {
    if (report.policy_ns[policy] < 0 || report.policy_ns[policy] >= report.makespan_ns) continue;
    ++*faster;
    planner_options.policy = policy;
    beaten += planner_plan(problem, &planner_options, arena, &other) && other.has_addresses && other.makespan_ns < report.makespan_ns;
  }
  arena_free(arena);
  return beaten;
}

static void judge_quality(Tap *tap, const Quality *q, int count, const char *of) {
  tap_note("%d instances%s, optimum proved on %d; %d optimal, mean gap %.3f %%, worst %.3f %%", count, of, q->proved, q->optimal,
           q->proved ? q->sum / q->proved : 0, q->worst);
  tap_ok(tap, q->proved >= count * 8 / 10, "the optimum is known on most instances%s", of);
  tap_ok(tap, q->optimal * 100 >= q->proved * 95, "at least 95 %% are optimal");
  tap_ok(tap, q->sum <= 0.3 * q->proved, "mean gap at most 0.3 %%");
  tap_ok(tap, q->worst <= 7, "worst gap at most 7 %%");
  tap_ok(tap, q->invalid == 0, "the checker accepts every plan");
  tap_ok(tap, q->lost == 0, "no policy is better on any instance");
  tap_ok(tap, q->changed == 0, "the same problem gives the same bytes");
  tap_ok(tap, q->unpacked == 0, "every plan has addresses");
}

int main(void) {
  Tap tap = {0};
  Quality quality = {0};
  int count = tap_scale(SUITE_SMALL_COUNT), worse = 0, ladders = tap_scale(16);
  for (int i = 0; i < count; i++) try_instance(&quality, i, false);
  judge_quality(&tap, &quality, count, "");
  Quality with_places = {0};
  for (int i = 0; i < count / 4; i++) try_instance(&with_places, 4 * i + i % 4, true);
  judge_quality(&tap, &with_places, count / 4, " with places to take");
  for (int i = 0; i < ladders; i++) worse += larger_is_worse(&(Ladder){13 * i + 2, 0, 0.15, 0.15});
  for (int i = 0; i < tap_scale(2); i++) worse += larger_is_worse(&(Ladder){20, 6, 0.23, 0.045}); /* not proved */
  tap_ok(&tap, worse == 0, "a larger device is never worse");
  int beaten = 0, faster = 0, long_ones = tap_scale(16);
  for (int i = 0; i < long_ones; i++) beaten += beaten_by(16 * i + i % 8, &faster);
  tap_ok(&tap, beaten == 0, "no policy's plan that has addresses is faster (%d are before addresses)", faster);
  return tap_end(&tap);
}
