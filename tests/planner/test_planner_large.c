/* Large instances: valid plans, certified gaps, no policy better. */
#include "suite.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

int main(void) {
  Tap tap = {0};
  const char *scale = getenv("GNNCC_TEST_SCALE");
  int count = scale && atoi(scale) < 50 ? 4 : suite_large_count;
  const bool is_short = scale && atoi(scale) < 20; /* no chain is planned with more effort */
  for (int i = 0; i < count; i++) {
    Arena *arena = arena_new();
    char *text = generate_problem(arena, &suite_large[i].options);
    Problem *problem = suite_read(arena, text);
    PlannerOptions options;
    PlannerReport report;
    planner_default_options(&options);
    const bool is_certified = suite_large[i].is_chain && !is_short;
    options.effort = is_certified ? PLANNER_NORMAL : PLANNER_FAST;
    PlannerText made;
    PlannerPlan *plan = planner_plan_checked(text, strlen(text), problem, &options, arena, &report, &made);
    if (tap_ok(&tap, plan != NULL, "%s: planned", suite_large[i].name)) {
      tap_ok(&tap, made.is_valid, "%s: the checker accepts it", suite_large[i].name);
      tap_ok(&tap, report.has_addresses, "%s: it has addresses", suite_large[i].name);
      double gap = 100.0 * (double)(report.makespan_ns - report.lower_bound_ns) / (double)report.lower_bound_ns;
      tap_note("%d gaps, %d steps, certified gap %.2f %%", report.open_count, report.step_count, gap);
      if (is_certified) tap_ok(&tap, gap <= 5, "%s: certified gap at most 5 %%", suite_large[i].name);
      int lost = 0;
      for (int policy = 0; policy < POLICY_COUNT; policy++) lost += report.policy_ns[policy] < report.makespan_ns;
      tap_ok(&tap, lost == 0, "%s: no policy is better", suite_large[i].name);
    }
    arena_free(arena);
  }
  return tap_end(&tap);
}
