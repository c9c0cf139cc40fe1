/* Times of chunks that a problem lists (S5): the file, the simulator, the judge and the second opinion take them alike, and without a list all chunks have equal shares. */
#include "compiler/planner/evaluate.h"
#include "compiler/planner/judge.h"
#include "second_opinion.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

/* Three chunks of A on the device, then of X by way of a link, then all of B, on a machine that has room for everything. */
static char *problem_of(Arena *arena, const char *a, const char *lead, const char *bytes) {
  return arena_printf(arena,
                      "{\"format\": \"gnncc-problem/1\", \"name\": \"times\", \"hardware\": {\"device_bytes\": 100, \"channels\": {\"link\": {\"bw\": 1000000000, \"lat_ns\": 5}}}, "
                      "\"data\": [{\"id\": \"x\", \"bytes\": 30, \"chunks\": 3}, {\"id\": \"y\", \"bytes\": 30, \"chunks\": 3}, {\"id\": \"z\", \"bytes\": 1}], "
                      "\"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"chunks\": 3, \"writes\": [\"x\"], \"ns\": %s}, "
                      "{\"id\": \"X\", \"phase\": \"fwd\", \"chunks\": 3, \"reads\": [\"x\"], \"writes\": [\"y\"], \"variants\": [{\"name\": \"v\", \"stages\": [{\"ch\": \"compute\", \"ns\": %s}, "
                      "{\"ch\": \"link\", \"bytes\": %s}]}]}, {\"id\": \"B\", \"phase\": \"bwd\", \"reads\": [\"y\"], \"writes\": [\"z\"], \"ns\": 100}]}",
                      a, lead, bytes);
}

static void test_steps(Tap *tap, Arena *arena) {
  static const int64_t even[] = {14, 14, 14, 8, 8, 8, 25, 25, 25}, uneven[] = {10, 30, 2, 4, 20, 0, 55, 5, 15};
  for (int is_listed = 0; is_listed < 2; is_listed++) {
    const Problem *p = suite_read(arena, is_listed ? problem_of(arena, "[10, 30, 2]", "[4, 20, 0]", "[50, 0, 10]") : problem_of(arena, "42", "24", "60"));
    const int64_t *expected = is_listed ? uneven : even;
    bool is_right = p->ops[0].variants[0].stages[0].amount == 42 && p->ops[1].variants[0].stages[1].amount == 60;
    for (int k = 0; k < 3; k++)
      is_right = is_right && problem_stage_ns(p, k, 0, 0) == expected[k] && problem_stage_ns(p, 3 + k, 0, 0) == expected[3 + k] && problem_stage_ns(p, 3 + k, 0, 1) == expected[6 + k];
    tap_ok(tap, is_right, is_listed ? "steps take as long as the lists say" : "without lists they have equal shares");
    size_t length, again;
    const ProblemMeta meta = {0};
    const char *text = problem_write_json(p, &meta, arena, &length);
    tap_ok(tap, strcmp(problem_write_json(suite_read(arena, text), &meta, arena, &again), text) == 0 && (strstr(text, "55") == NULL) && (strstr(text, "42") == NULL) == is_listed, "the file is read as it was written");
  }
}

/* By hand: with lists A ends at 10, 40, 42, the leads of X at 46, 66, 66, its transfers at 101, 106, 121, and B 100 later; with equal shares the transfers end at 75, 100, 125. */
static void test_makespan(Tap *tap, Arena *arena) {
  for (int is_listed = 0; is_listed < 2; is_listed++) {
    const char *text = is_listed ? problem_of(arena, "[10, 30, 2]", "[4, 20, 0]", "[50, 0, 10]") : problem_of(arena, "42", "24", "60");
    const Problem *p = suite_read(arena, text);
    const int64_t expected = is_listed ? 221 : 225;
    PlannerOptions options;
    PlannerReport report;
    PlannerCheckResult result = {0};
    size_t length;
    planner_default_options(&options);
    PlannerPlan *plan = planner_plan(p, &options, arena, &report);
    const char *json = plan_write_json(plan, arena, &length);
    const bool is_valid = planner_check_json(text, strlen(text), json, length, NULL, &result) == PLANNER_CHECK_VALID;
    const Opinion opinion = second_opinion(p, plan);
    if (!tap_ok(tap, is_valid && report.makespan_ns == expected && result.makespan_ns == expected && opinion.makespan_ns == expected, "simulator, judge and second opinion: %lld ns", (long long)expected))
      tap_note("%lld, %lld, %lld", (long long)report.makespan_ns, (long long)result.makespan_ns, (long long)opinion.makespan_ns);
    planner_check_release(&result);
  }
}

int main(void) {
  Tap tap = {0};
  Arena *arena = arena_new();
  test_steps(&tap, arena);
  test_makespan(&tap, arena);
  arena_free(arena);
  return tap_end(&tap);
}
