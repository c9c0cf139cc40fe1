/* Random plans on random problems: the planner's simulator, the checker and the second opinion agree exactly; the
 * event graph of every valid one stands any delay. */
#include "compiler/planner/judge.h"
#include "random_plan.h"
#include "second_opinion.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Tally {
  int plans, valid, disagreements, shaken_failures, with_moves, with_reruns, with_places;
} Tally;

static void compare(Tally *tally, Arena *arena, Evaluator *e, const char *text, PlannerPlan *plan, uint64_t seed) {
  bool is_valid = simulate(e->simulation, e->sequence);
  int places = 0;
  size_t length;
  char *json = plan_write_json(plan, arena, &length);
  PlannerCheckResult result = {0};
  int verdict = planner_check_json(text, strlen(text), json, length, NULL, &result);
  Opinion opinion = second_opinion(e->problem, plan);
  bool agrees = (verdict == PLANNER_CHECK_VALID) == is_valid && opinion.is_valid == is_valid && verdict != PLANNER_CHECK_BAD_INPUT;
  if (agrees && is_valid) {
    const Simulation *m = e->simulation;
    agrees = m->makespan_ns == result.makespan_ns && m->makespan_ns == opinion.makespan_ns &&
             m->peak_bytes == result.peak_bytes && m->peak_bytes == opinion.peak_bytes && result.step_count == e->sequence->count &&
             !memcmp(m->boundary_ns, result.boundary_ns, (size_t)result.step_count * sizeof(int64_t)) &&
             !memcmp(m->occupied_bytes, result.occupied_bytes, (size_t)result.step_count * sizeof(int64_t));
  }
  tally->plans++;
  tally->valid += is_valid;
  tally->with_moves += plan->move_count > 0;
  tally->with_reruns += plan->rerun_count > 0;
  for (int i = 0; i < e->sequence->stay_count; i++) places += e->sequence->stays[i].taken_by >= 0;
  tally->with_places += is_valid && places;
  if (!agrees) {
    tally->disagreements++;
    tap_note("%s, seed %llu: simulator %d %lld/%lld, checker %d %lld/%lld, second opinion %d %lld/%lld", e->problem->name,
             (unsigned long long)seed, is_valid, (long long)e->simulation->makespan_ns, (long long)e->simulation->peak_bytes, verdict,
             (long long)result.makespan_ns, (long long)result.peak_bytes, opinion.is_valid, (long long)opinion.makespan_ns,
             (long long)opinion.peak_bytes);
    if (verdict != PLANNER_CHECK_VALID) planner_check_json(text, strlen(text), json, length, stdout, NULL);
  }
  planner_check_release(&result);
  for (uint64_t shake = 0; is_valid && shake < 3; shake++)
    if (!second_opinion_shaken(e->problem, plan, seed * 31 + shake)) tally->shaken_failures++;
}

int main(void) {
  Tap tap = {0};
  Tally tally = {0};
  int wanted = tap_scale(1000);
  for (uint64_t seed = 1; tally.plans < wanted && seed < 20000; seed++) {
    Arena *arena = arena_new();
    GenerateOptions options = suite_small((int)(seed % SUITE_SMALL_COUNT));
    options.budget = 0.6 + 0.1 * (double)(seed % 8);
    char *text = seed % 2 ? generate_odd(arena, seed) : generate_problem(arena, &options);
    if (seed % 4 == 1) { /* room for most plans */
      char *roomy = generate_with_device(arena, text, 12000000);
      text = roomy;
    }
    int places = 0;
    if (seed % 3 == 0) text = generate_with_places(arena, text, seed, &places);
    Problem *problem = suite_read(arena, text);
    Geometry *geometry = geometry_make(problem, arena);
    Evaluator *evaluator = evaluator_new(arena, problem, geometry);
    for (uint64_t k = 0; k < 3; k++) {
      PlannerPlan *plan = random_plan(arena, evaluator, seed * 1000 + k);
      if (plan) compare(&tally, arena, evaluator, text, plan, seed * 1000 + k);
    }
    arena_free(arena);
  }
  tap_note("%d plans, %d valid, %d with moves, %d with re-runs, %d valid with places taken", tally.plans, tally.valid, tally.with_moves, tally.with_reruns, tally.with_places);
  tap_ok(&tap, tally.plans >= wanted, "%d random plans were made", wanted);
  tap_ok(&tap, tally.valid * 4 > tally.plans, "a good part of them is valid");
  tap_ok(&tap, tally.with_places * 10 > tally.valid, "in a good part of those results take the places of operands");
  tap_ok(&tap, tally.disagreements == 0, "simulator, checker and second opinion agree exactly");
  tap_ok(&tap, tally.shaken_failures == 0, "no delay of any task deadlocks or overcommits");
  return tap_end(&tap);
}
