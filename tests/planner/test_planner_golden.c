/* The golden vectors, through the checker and through the planner's simulator. */
#include "compiler/planner/judge.h"
#include "compiler/planner/finished_plan.h"
#include "compiler/planner/simulate.h"
#include "golden.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

static bool equal_profile(const Golden *golden, const int64_t *occupied, const int64_t *beta, int count) {
  if (count != golden->steps) return false;
  for (int s = 0; s < count; s++)
    if (occupied[s] != golden->occupied[s] || beta[s] != golden->beta[s]) return false;
  return true;
}

static void try_plan(Tap *tap, const Golden *golden) {
  char plan[4096];
  int length = snprintf(plan, sizeof plan,
                        "{\"format\": \"gnncc-plan/1\", \"problem\": \"golden\", \"variants\": %s, \"recompute\": %s, "
                        "\"moves\": %s}", golden->variants, golden->recompute, golden->moves);
  PlannerCheckResult result = {0};
  int verdict = planner_check_json(golden->problem, strlen(golden->problem), plan, (size_t)length, NULL, &result);
  bool is_invalid = golden->makespan_ns < 0;
  bool agrees = is_invalid ? verdict == PLANNER_CHECK_INVALID
                           : verdict == PLANNER_CHECK_VALID && result.makespan_ns == golden->makespan_ns &&
                                 result.peak_bytes == golden->peak_bytes &&
                                 equal_profile(golden, result.occupied_bytes, result.boundary_ns, result.step_count);
  tap_ok(tap, agrees, "checker: %s", golden->name);
  planner_check_release(&result);

  Arena *arena = arena_new();
  ProblemError error;
  Problem *problem = problem_read_json(arena, golden->problem, strlen(golden->problem), &error);
  PlannerPlan *read = problem ? plan_read_json(problem, arena, plan, (size_t)length, &error) : NULL;
  agrees = read != NULL;
  if (agrees) {
    Geometry *geometry = geometry_make(problem, arena);
    Sequence *sequence = sequence_new(arena, problem, geometry, problem->step_count + read->rerun_count);
    Simulation *simulation = simulation_new(arena, sequence);
    agrees = sequence_build_explicit(sequence, read->variant, read->reruns, read->rerun_count, read->outs, read->moves,
                                     read->move_count);
    bool is_valid = agrees && simulate(simulation, sequence);
    agrees = agrees && is_valid != is_invalid;
    if (is_valid)
      agrees = agrees && simulation->makespan_ns == golden->makespan_ns &&
               simulation->peak_bytes == golden->peak_bytes &&
               equal_profile(golden, simulation->occupied_bytes, simulation->boundary_ns, sequence->count);
  } else {
    tap_note("%s: %s", error.place, error.text);
  }
  tap_ok(tap, agrees, "simulator: %s", golden->name);
  arena_free(arena);
}

static int check_certificate(const char *lam, int bound) {
  char plan[1024];
  int length = snprintf(plan, sizeof plan,
                        "{\"format\": \"gnncc-plan/1\", \"problem\": \"golden\", \"moves\": [{\"data\": \"x1\", "
                        "\"after\": 1, \"to\": \"host\", \"g\": 4}], \"makespan_ns\": 108, \"lower_bound_ns\": %d, "
                        "\"certificate\": {\"kind\": \"dual\", \"split\": 3, \"rho\": 10, \"theta\": 23, \"a1\": 1, "
                        "\"b3\": 1, \"lam\": %s}}", bound, lam);
  return planner_check_json(golden_problem_a_fixed, strlen(golden_problem_a_fixed), plan, (size_t)length, NULL, NULL);
}

int main(void) {
  Tap tap = {0};
  for (int i = 0; i < golden_plan_count; i++) try_plan(&tap, &golden_plans[i]);
  tap_ok(&tap, check_certificate("0.2", 79) == PLANNER_CHECK_VALID, "certificate of A proves 79");
  tap_ok(&tap, check_certificate("0.2", 80) == PLANNER_CHECK_INVALID, "certificate of A does not prove 80");
  return tap_end(&tap);
}
