/* Values cut into many parts: valid plans with addresses, twice the same, and a bound over windows that claims no more than it proves. */
#include "compiler/planner/judge.h"
#include "compiler/planner/windows.h"
#include "generate.h"
#include "generate_parts.h"
#include "suite.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const PartsOptions instances[] = {
    {"256 rows", 2449029, 123718280, 100, 256, 47, 3, PARTS_ROWS, 256, 1, true, true, true, 0.25},
    {"slices from SSD", 2449029, 123718280, 100, 256, 47, 3, PARTS_SLICES, 64, 8, true, false, true, 0.1},
    {"whole sums", 2449029, 123718280, 100, 256, 47, 3, PARTS_WHOLE, 512, 1, false, true, false, 0.25},
};

static int verdict(const char *problem, const char *plan) { return planner_check_json(problem, strlen(problem), plan, strlen(plan), NULL, NULL); }

/* The text with the first number after `key` replaced. */
static char *with_number(Arena *arena, const char *text, const char *key, const char *number) {
  const char *at = strstr(text, key);
  if (!at) return NULL;
  at += strlen(key);
  return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, number, at + strspn(at, "0123456789.e-"));
}

static void judge_changed(Tap *tap, Arena *arena, const char *problem, const char *plan, const char *key, const char *number, int expected, const char *what) {
  const char *changed = with_number(arena, plan, key, number);
  tap_ok(tap, changed && verdict(problem, changed) == expected, "%s", what);
}

/* What is claimed is what is proved: one more is refused, and so is any price that is changed for the better. */
static void judge_windows(Tap *tap, Arena *arena, const char *problem, const char *plan, long long bound) {
  char number[32];
  snprintf(number, sizeof number, "%lld", bound + 1);
  judge_changed(tap, arena, problem, plan, "\"lower_bound_ns\": ", number, PLANNER_CHECK_INVALID, "one ns more is not proved");
  judge_changed(tap, arena, problem, plan, "\"compute\": [", "1.5", PLANNER_CHECK_INVALID, "the weights of a window exceed one");
  judge_changed(tap, arena, problem, plan, "\"lam\": [", "-1", PLANNER_CHECK_INVALID, "no weight is negative");
  judge_changed(tap, arena, problem, plan, "\"lam\": [", "\"x\"", PLANNER_CHECK_BAD_INPUT, "weights are numbers");
  judge_changed(tap, arena, problem, plan, "\"cuts\": [", "199999", PLANNER_CHECK_INVALID, "a cut is a step");
  judge_changed(tap, arena, problem, plan, "\"mu\": [", "0, 0", PLANNER_CHECK_INVALID, "each cut has one weight");
}

/* On small problems, whose plans are near the optimum or there: the bound over windows is no more than the makespan, and the checker adds up the same. */
static void judge_small(Tap *tap, int count) {
  int refused = 0, tried = 0;
  for (int i = 0; i < count; i++) {
    Arena *arena = arena_new();
    GenerateOptions how = suite_small(i);
    char *text = i % 4 == 3 ? generate_odd(arena, (uint64_t)i) : generate_problem(arena, &how);
    Problem *problem = suite_read(arena, text);
    PlannerOptions options;
    PlannerReport report;
    planner_default_options(&options);
    options.least = PLANNER_LEAST_NONE;
    options.effort = PLANNER_FAST;
    PlannerPlan *plan = planner_plan(problem, &options, arena, &report);
    Windows *windows = plan ? windows_new(arena, problem, geometry_make(problem, arena), 3 + i % 20) : NULL;
    if (windows) {
      size_t length;
      int64_t bound = windows_raise(windows, report.makespan_ns, 400);
      windows_certificate(windows, arena, &plan->certificate);
      plan->lower_bound_ns = bound > report.stall_free_ns ? bound : report.stall_free_ns;
      if (verdict(text, plan_write_json(plan, arena, &length)) != PLANNER_CHECK_VALID) {
        refused++;
        tap_note("%s: windows prove %lld, the plan takes %lld", problem->name, (long long)bound, (long long)report.makespan_ns);
      }
      tried++;
    }
    arena_free(arena);
  }
  tap_ok(tap, refused == 0 && tried > count / 4, "the bounds of %d small problems hold", tried);
}

int main(void) {
  Tap tap = {0};
  const char *scale = getenv("GNNCC_TEST_SCALE");
  int count = scale && atoi(scale) < 20 ? 1 : 3;
  for (int i = 0; i < count; i++) {
    Arena *arena = arena_new();
    char *text = generate_parts(arena, &instances[i]);
    Problem *problem = suite_read(arena, text);
    PlannerOptions options;
    PlannerReport report;
    planner_default_options(&options);
    options.effort = PLANNER_FAST;
    PlannerText made, again;
    PlannerPlan *plan = planner_plan_checked(text, strlen(text), problem, &options, arena, &report, &made);
    if (!tap_ok(&tap, plan != NULL, "%s: planned", instances[i].name)) continue;
    tap_ok(&tap, made.is_valid && report.has_addresses, "%s: the checker accepts it, and it has addresses", instances[i].name);
    tap_note("%d gaps, %d steps, certified gap %.2f %%", report.open_count, report.step_count,
             100.0 * (double)(report.makespan_ns - report.lower_bound_ns) / (double)report.lower_bound_ns);
    tap_ok(&tap, report.lower_bound_ns > report.stall_free_ns, "%s: the windows prove more than the stall-free time", instances[i].name);
    options.takes_any = true;
    PlannerText any;
    PlannerReport first;
    planner_plan_checked(text, strlen(text), problem, &options, arena, &first, &any);
    tap_ok(&tap, any.text && any.is_valid && first.has_addresses && first.evaluations < report.evaluations, "%s: any plan, with addresses, is found by fewer evaluations", instances[i].name);
    options.takes_any = false;
    if (i) continue;
    judge_windows(&tap, arena, text, made.text, (long long)report.lower_bound_ns);
    planner_plan_checked(text, strlen(text), problem, &options, arena, &report, &again);
    tap_ok(&tap, again.text && !strcmp(made.text, again.text), "%s: the same bytes twice", instances[i].name);
    arena_free(arena);
  }
  judge_small(&tap, scale && atoi(scale) < 20 ? 40 : 264);
  return tap_end(&tap);
}
