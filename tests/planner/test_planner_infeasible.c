/* The smallest device that an infeasible answer names: planning succeeds there and one byte below it does not. */
#include "suite.h"
#include "tap.h"

static bool is_planned(const Problem *problem, int64_t device_bytes, PlannerReport *report) {
  Arena *arena = arena_new();
  PlannerOptions options;
  Problem changed = *problem;
  changed.device_bytes = device_bytes;
  planner_default_options(&options);
  bool ok = planner_plan(&changed, &options, arena, report) != NULL;
  arena_free(arena);
  return ok;
}

int main(void) {
  Tap tap = {0};
  int asked = 0, unnamed = 0, too_small = 0, too_large = 0, wanted = tap_scale(60);
  for (int i = 0; i < wanted; i++) {
    Arena *arena = arena_new();
    GenerateOptions options = suite_small(i);
    if (i % 3 == 1) options.has_host = 0;
    Problem *problem = suite_read(arena, generate_problem(arena, &options));
    if (i % 3 == 2) problem->ring_bytes = 1; /* nothing goes to the SSD */
    PlannerReport report, other;
    if (!is_planned(problem, problem->device_bytes / 3, &report)) {
      asked++;
      unnamed += report.least_device_bytes < 0;
      too_small += !is_planned(problem, report.least_device_bytes, &other);
      too_large += is_planned(problem, report.least_device_bytes - 1, &other);
    }
    arena_free(arena);
  }
  tap_ok(&tap, asked * 2 > wanted, "%d problems are infeasible", asked);
  tap_ok(&tap, unnamed == 0, "a device that would do is named");
  tap_ok(&tap, too_small == 0, "with it a plan is found");
  tap_ok(&tap, too_large == 0, "with one byte less none is");
  return tap_end(&tap);
}
