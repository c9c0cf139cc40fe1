/* Questions that ask for less than the best plan: whether anything fits, whether anything is faster than what is known, about how long it
 * would take, the least device alone; the bound of a plan there is; and what the search remembers of its evaluations. */
#include "compiler/planner/judge.h"
#include "compiler/planner/search.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Tally {
  int asked, wrong, slower, dearer, refused, far;
} Tally;

static PlannerOptions default_options(void) {
  PlannerOptions options;
  planner_default_options(&options);
  return options;
}

/* Fits as the best plan does, is never faster, and takes no more evaluations. */
static void ask_any(Tally *tally, const Problem *problem) {
  Arena *arena = arena_new();
  PlannerReport best, any;
  PlannerOptions options = default_options();
  bool fits = planner_plan(problem, &options, arena, &best) != NULL;
  options.takes_any = true;
  tally->asked++;
  tally->wrong += (planner_plan(problem, &options, arena, &any) != NULL) != fits || (fits && best.has_addresses && !any.has_addresses);
  tally->slower += fits && any.makespan_ns < best.makespan_ns;
  tally->dearer += any.evaluations > best.evaluations;
  arena_free(arena);
}

/* No plan where none is faster than what is worth it, and none after little effort where that stays far above; else the same plan. */
static void ask_worth(Tally *tally, const Problem *problem) {
  Arena *arena = arena_new();
  PlannerReport best, other;
  PlannerOptions options = default_options();
  if (planner_plan(problem, &options, arena, &best)) {
    tally->asked++;
    options.worth_ns = best.lower_bound_ns;
    tally->refused += !planner_plan(problem, &options, arena, &other) && other.is_worthless;
    options.worth_ns = best.makespan_ns * 4 / 5;
    if (!planner_plan(problem, &options, arena, &other)) tally->far += other.is_worthless, tally->dearer += other.evaluations > best.evaluations;
    options.worth_ns = best.makespan_ns + 1;
    tally->wrong += !planner_plan(problem, &options, arena, &other) || other.is_worthless || other.makespan_ns != best.makespan_ns;
  }
  arena_free(arena);
}

/* A plan that holds, without addresses, by fewer evaluations; none where steps alone take as long as it is worth. */
static void ask_sketch(Tally *tally, const Problem *problem, const char *text) {
  Arena *arena = arena_new();
  PlannerReport best, sketched, none;
  PlannerOptions options = default_options();
  bool fits = planner_plan(problem, &options, arena, &best) != NULL;
  options.is_sketch = true;
  PlannerText plan;
  PlannerPlan *sketch = planner_plan_checked(text, strlen(text), problem, &options, arena, &sketched, &plan);
  tally->asked += fits;
  tally->wrong += sketch ? !plan.is_valid || sketched.has_addresses || sketched.makespan_ns < best.lower_bound_ns : plan.text != NULL;
  tally->far += fits && (!sketch || sketched.makespan_ns > best.makespan_ns * 11 / 10);
  tally->dearer += fits && best.open_count > 0 && sketched.evaluations >= best.evaluations;
  options.worth_ns = sketched.stall_free_ns;
  tally->refused += fits && !planner_plan(problem, &options, arena, &none) && none.is_worthless;
  arena_free(arena);
}

static void ask_device(Tally *tally, Problem *problem) {
  Arena *arena = arena_new();
  PlannerReport all, device;
  PlannerOptions options = default_options();
  problem->device_bytes /= 3;
  if (!planner_plan(problem, &options, arena, &all)) {
    tally->asked++;
    options.least = PLANNER_LEAST_DEVICE;
    planner_plan(problem, &options, arena, &device);
    tally->wrong += device.least_device_bytes != all.least_device_bytes || device.least_host_bytes || device.least_ssd_bytes;
    if (device.least_device_bytes > 0) {
      PlannerReport less, none;
      options.least = PLANNER_LEAST_QUICK;
      options.least_below = 4 * device.least_device_bytes;
      planner_plan(problem, &options, arena, &less);
      options.least_below = device.least_device_bytes;
      planner_plan(problem, &options, arena, &none);
      tally->far += less.least_device_bytes < device.least_device_bytes || less.least_device_bytes >= 4 * device.least_device_bytes || none.least_device_bytes != -1;
    }
  }
  arena_free(arena);
}

/* The bound that is looked for afterwards: not lower, what the checker accepts, and of the same plan. */
static void ask_bound(Tally *tally, const Problem *problem, const char *text) {
  Arena *arena = arena_new();
  PlannerReport report;
  PlannerOptions options = default_options();
  options.needs_no_bound = true;
  options.effort = PLANNER_FAST;
  PlannerPlan *plan = planner_plan(problem, &options, arena, &report);
  if (plan) {
    const int64_t before = plan->lower_bound_ns, makespan = plan->makespan_ns;
    size_t length;
    tally->asked++;
    planner_raise_bound(plan, options.effort, arena, &report);
    const char *raised = plan_write_json(plan, arena, &length);
    tally->wrong += plan->lower_bound_ns < before || report.lower_bound_ns != plan->lower_bound_ns || plan->makespan_ns != makespan ||
                    planner_check_json(text, strlen(text), raised, length, NULL, NULL) != PLANNER_CHECK_VALID;
    tally->far += plan->lower_bound_ns > before;
  }
  arena_free(arena);
}

/* Decisions drawn, some of them again and again: evaluated and remembered, cost, policy and effort are those of the evaluator. */
static void remember(Tally *tally, const Problem *problem, uint64_t seed) {
  Arena *arena = arena_new();
  Geometry *g = geometry_make(problem, arena);
  Evaluator *plain = evaluator_new(arena, problem, g), *other = evaluator_new(arena, problem, g);
  Search *search = search_new(arena, other, 0, 0);
  Candidate *c = candidate_new(arena, other);
  geometry_stay(g, c->fates);
  for (int i = 0; i < 400 && g->open_count; i++) {
    int gap = g->open[generate_below(&seed, g->open_count < 4 ? g->open_count : 4)];
    for (int fate = generate_below(&seed, FATE_COUNT), k = 0; k < FATE_COUNT; k++, fate = (fate + 1) % FATE_COUNT)
      if (g->gaps[gap].options & FATE_BIT(fate)) c->fates[gap] = (uint8_t)fate, k = FATE_COUNT;
    c->is_canonical = generate_below(&seed, 3) > 0;
    memset(c->keep_from, 0, (size_t)g->gap_count * sizeof *c->keep_from);
    c->keep_from[gap] = generate_below(&seed, 2) ? g->gaps[gap].v : 0;
    c->shared_steps = generate_below(&seed, 2) ? generate_below(&seed, 9) : 0;
    if (search->choice_count) c->variants[search->choices[0]] = generate_below(&seed, problem->ops[search->choices[0]].variant_count);
    unsigned policies = generate_below(&seed, 2) ? PREFETCH_ALL : PREFETCH_FEW;
    int64_t cost = evaluate(plain, c->fates, candidate_stays(c), c->variants, policies);
    tally->asked++;
    tally->wrong += memo_evaluate(search->memo, c, policies) != cost || other->effort != plain->effort || other->evaluations != plain->evaluations ||
                    (cost < COST_INVALID && other->best_policy != plain->best_policy);
  }
  arena_free(arena);
}

int main(void) {
  Tap tap = {0};
  Tally any = {0}, worth = {0}, sketch = {0}, device = {0}, memo = {0}, bound = {0};
  int wanted = tap_scale(60);
  for (int i = 0; i < wanted; i++) {
    Arena *arena = arena_new();
    GenerateOptions options = suite_small(i);
    const char *text = generate_problem(arena, &options);
    Problem *problem = suite_read(arena, text);
    ask_any(&any, problem);
    ask_worth(&worth, problem);
    ask_sketch(&sketch, problem, text);
    remember(&memo, problem, (uint64_t)i);
    if (i % 3 == 0) ask_device(&device, problem);
    arena_free(arena);
  }
  for (int i = 0; i < 3; i++) {
    Arena *arena = arena_new();
    const GenerateOptions options = {.family = FAMILY_UNET, .depth = 8 + 4 * i, .chunks = 4, .budget = 0.22 - 0.05 * i, .bandwidth = 0.3, .has_host = 1, .has_ssd = 1, .seed = (uint64_t)i};
    const char *text = generate_problem(arena, &options);
    ask_bound(&bound, suite_read(arena, text), text);
    arena_free(arena);
  }
  tap_ok(&tap, any.wrong == 0, "any plan: of %d problems it fits where the best fits (%d not)", any.asked, any.wrong);
  tap_ok(&tap, any.slower == 0 && any.dearer == 0, "any plan: never faster (%d), and no dearer to find (%d)", any.slower, any.dearer);
  tap_ok(&tap, worth.refused == worth.asked, "of %d problems %d are not planned where no plan can be worth it", worth.asked, worth.refused);
  tap_ok(&tap, 2 * worth.far > worth.asked && worth.dearer == 0, "%d are not where little effort is far from it, and none takes more evaluations (%d)", worth.far, worth.dearer);
  tap_ok(&tap, worth.wrong == 0, "where one can, the plan is the same (%d are not)", worth.wrong);
  tap_ok(&tap, sketch.wrong == 0 && sketch.dearer == 0, "sketches of %d problems are plans without addresses (%d are not), by fewer evaluations (%d are not)", sketch.asked, sketch.wrong, sketch.dearer);
  tap_ok(&tap, sketch.asked > 0 && 10 * sketch.far <= sketch.asked, "all but a tenth are within a tenth of the plan (%d are not)", sketch.far);
  tap_ok(&tap, sketch.refused == sketch.asked, "where steps alone take as long as it is worth, none is made (%d of %d)", sketch.refused, sketch.asked);
  tap_ok(&tap, device.asked > 0 && device.wrong == 0, "the least device alone, of %d problems, is that of all sizes (%d are not)", device.asked, device.wrong);
  tap_ok(&tap, device.far == 0, "one below a size is found where there is any, quickly (%d are not)", device.far);
  tap_ok(&tap, memo.wrong == 0, "of %d evaluations %d are remembered wrongly", memo.asked, memo.wrong);
  tap_ok(&tap, bound.asked > 2 && bound.wrong == 0, "a bound that is looked for afterwards holds of the plan there is (of %d, %d not)", bound.asked, bound.wrong);
  tap_ok(&tap, bound.far > 0, "it is higher in %d", bound.far);
  return tap_end(&tap);
}
