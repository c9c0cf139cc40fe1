/* Values cut into many parts: valid plans with addresses, twice the same, and a bound over windows that claims no more than it proves. */
#include "compiler/planner/judge.h"
#include "compiler/planner/windows.h"
#include "generate.h"
#include "generate_parts.h"
#include "random_plan.h"
#include "suite.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const PartsOptions instances[] = {
    {"256 rows", 2449029, 123718280, 100, 256, 47, 3, PARTS_ROWS, 256, 1, true, true, true, 0.25},
    {"slices from SSD", 2449029, 123718280, 100, 256, 47, 3, PARTS_SLICES, 64, 8, true, false, true, 0.1},
    {"whole sums", 2449029, 123718280, 100, 256, 47, 3, PARTS_WHOLE, 512, 1, false, true, false, 0.25},
};

static const PartsOptions holes[] = {
    {"64 x 8 slices", 2449029, 123718280, 100, 256, 47, 3, PARTS_SLICES, 64, 8, true, true, false, 0.25},
    {"512 rows", 2449029, 123718280, 100, 256, 47, 3, PARTS_ROWS, 512, 1, true, true, true, 0.25},
    {"64 x 8 slices", 2449029, 123718280, 100, 256, 47, 3, PARTS_SLICES, 64, 8, true, true, false, 0}, /* the fullest steps leave no byte */
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
    Windows *windows = plan ? windows_new(arena, problem, geometry_make(problem, arena), 3 + i % 20, RERUNS_PROVED) : NULL;
    if (windows) {
      size_t length;
      int64_t bound = windows_raise(windows, report.makespan_ns, 400, 40);
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

/* Pieces of a few sizes leave holes that nothing fits. What that costs is little: a sketch does without addresses. */
static void judge_addresses(Tap *tap, const PartsOptions *instance) {
  Arena *arena = arena_new();
  const char *text = generate_parts(arena, instance);
  const Problem *problem = suite_read(arena, text);
  PlannerOptions options;
  PlannerReport report, sketched;
  PlannerText made;
  planner_default_options(&options);
  options.effort = PLANNER_FAST;
  const PlannerPlan *plan = planner_plan_checked(text, strlen(text), problem, &options, arena, &report, &made);
  options.is_sketch = true;
  const PlannerPlan *sketch = planner_plan(problem, &options, arena, &sketched);
  const bool has_both = plan && report.has_addresses && sketch;
  tap_ok(tap, has_both && 20 * report.makespan_ns <= 21 * sketched.makespan_ns, "%s at %.0f %%: addresses cost at most a twentieth", instance->name, 100 * instance->budget);
  if (has_both) tap_note("%.1f ms, sketched %.1f ms", 1e-6 * (double)report.makespan_ns, 1e-6 * (double)sketched.makespan_ns);
  arena_free(arena);
}

/* While a sum waits for its slices and computes, as many of the next ones come as there is room for; with sixteen for each sum, or none while it waits, it takes 0.91 s. */
static void judge_overlap(Tap *tap) {
  Arena *arena = arena_new();
  PartsOptions instance = holes[0];
  PlannerOptions options;
  PlannerReport report;
  instance.budget = 0.1;
  planner_default_options(&options);
  options.effort = PLANNER_FAST;
  options.policy = POLICY_OFFLOAD;
  const PlannerPlan *plan = planner_plan(suite_read(arena, generate_parts(arena, &instance)), &options, arena, &report);
  tap_ok(tap, plan && report.makespan_ns < 800000000, "%s at %.0f %%, all of them away: slices come beside the sums over others", instance.name, 100 * instance.budget);
  if (plan) tap_note("%.1f ms", 1e-6 * (double)report.makespan_ns);
  arena_free(arena);
}

static double certified_gap(const PartsOptions *instance, PlannerReport *report) {
  Arena *arena = arena_new();
  PlannerOptions options;
  planner_default_options(&options);
  options.effort = PLANNER_FAST;
  const PlannerPlan *plan = planner_plan(suite_read(arena, generate_parts(arena, instance)), &options, arena, report);
  const double gap = plan ? 100.0 * (double)(report->makespan_ns - report->lower_bound_ns) / (double)report->lower_bound_ns : 100;
  arena_free(arena);
  return gap;
}

/* With half of the room pieces alike take the fates at which the bound is met: without them the gap is 22 %. Of a deep network some of each value stays, leaves or is made
 * again; more of it where whole values leave. */
static void judge_gap(Tap *tap) {
  const PartsOptions deep = {"192 rows, 8 layers", 111059956, 1615685872, 128, 256, 172, 8, PARTS_ROWS, 192, 1, true, true, true, 0.25};
  PartsOptions instance = holes[1];
  PlannerReport report;
  instance.budget = 0.5;
  const double gap = certified_gap(&instance, &report), deep_gap = certified_gap(&deep, &report);
  tap_ok(tap, gap <= 10, "%s at 50 %%: certified gap %.2f %%, at most 10 %%", instance.name, gap);
  tap_ok(tap, deep_gap <= 42, "%s at 25 %%: certified gap %.2f %%, at most 42 %%", deep.name, deep_gap);
}

/* Pieces that no base step wants any more, and that a re-run reads which were made again for an earlier base step. */
static int count_shared(const PlannerPlan *plan, const Problem *problem, const Geometry *g, Arena *arena) {
  int shared = 0;
  int *made_for = arena_alloc(arena, (size_t)problem->piece_count * sizeof *made_for + 1);
  for (int r = 0; r < plan->rerun_count; r++) {
    const PlanRerun *rerun = &plan->reruns[r];
    const ProblemStep *step = &problem->steps[rerun->step];
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &problem->uses[step->first_use + i];
      if ((use->flags & PROBLEM_USE_READ) && g->last_access[use->piece] < rerun->before && made_for[use->piece] && made_for[use->piece] < rerun->before) shared++;
    }
    for (int i = 0; i < rerun->out_count; i++) made_for[plan->outs[rerun->out_first + i]] = rerun->before;
  }
  return shared;
}

/* Parts of a sum that are made again gather from the same parts of its operand, which are dead by then: made once more for all of them, and not for each. */
static void judge_sharing(Tap *tap) {
  Arena *arena = arena_new();
  const PartsOptions instance = {"shared", 111059956, 1615685872, 128, 256, 172, 3, PARTS_ROWS, 256, 1, true, false, true, 0.25};
  char *text = generate_parts(arena, &instance);
  Problem *problem = suite_read(arena, text);
  PlannerOptions options;
  PlannerReport report;
  PlannerText made;
  planner_default_options(&options);
  options.effort = PLANNER_FAST;
  PlannerPlan *plan = planner_plan_checked(text, strlen(text), problem, &options, arena, &report, &made);
  const int shared = plan ? count_shared(plan, problem, geometry_make(problem, arena), arena) : 0;
  tap_ok(tap, plan && made.is_valid && shared > problem->step_count / 10, "re-runs find %d pieces that were made again for earlier ones", shared);
  if (plan) tap_note("%d re-runs, %.1f s", plan->rerun_count, 1e-9 * (double)report.makespan_ns);
  arena_free(arena);
}

/* Everything that may be is pinned to be made again, and leaves after each base step, whoever could share it. */
static void judge_pinned(Tap *tap, int count) {
  int valid = 0, tried = 0;
  for (int i = 0; i < count; i++) {
    Arena *arena = arena_new();
    const GenerateOptions how = suite_small(i);
    char *text = generate_with_device(arena, generate_problem(arena, &how), (int64_t)1 << 40);
    const Problem *drawn = suite_read(arena, text);
    for (int d = 0; d < drawn->datum_count; d++) {
      const ProblemPiece *piece = &drawn->pieces[drawn->data[d].first_piece];
      if (piece->home == TIER_NONE && piece->creator >= 0 && (piece->fates & FATE_BIT(FATE_RECOMPUTE))) text = generate_with_fates(arena, text, drawn->data[d].id, "\"recompute\"");
    }
    const Problem *problem = suite_read(arena, text);
    const Geometry *g = geometry_make(problem, arena);
    Evaluator *e = evaluator_new(arena, problem, g);
    Candidate *candidate = candidate_new(arena, e);
    geometry_stay(g, candidate->fates);
    candidate->is_canonical = false;
    for (int k = 0; k < g->gap_count; k++) {
      if (g->gaps[k].options & FATE_BIT(FATE_RECOMPUTE)) candidate->fates[k] = FATE_RECOMPUTE;
      candidate->keep_from[k] = g->gaps[k].v;
    }
    candidate->shared_steps = 1 + i % 8;
    if (candidate_build(e, candidate)) {
      size_t length;
      const char *written = plan_write_json(random_plan_of_sequence(arena, e), arena, &length);
      valid += verdict(text, written) == PLANNER_CHECK_VALID;
      tried++;
    }
    arena_free(arena);
  }
  tap_ok(tap, tried > count / 4 && valid == tried, "what is pinned to be made again is not shared: %d of %d plans are valid", valid, tried);
}

/* A plan that leaves some bytes alone at every step is one for a device smaller by them. */
static void judge_reserve(Tap *tap) {
  Arena *arena = arena_new();
  PartsOptions instance = instances[0];
  instance.parts = 64;
  char *text = generate_parts(arena, &instance);
  Problem *problem = suite_read(arena, text);
  int64_t *reserve = arena_alloc(arena, (size_t)problem->step_count * sizeof *reserve);
  const int64_t part = problem->device_bytes / 8;
  for (int s = 0; s < problem->step_count; s++) reserve[s] = part;
  problem->reserve_bytes = reserve;
  PlannerOptions options;
  PlannerReport report;
  planner_default_options(&options);
  options.is_sketch = true;
  PlannerPlan *plan = planner_plan(problem, &options, arena, &report);
  if (tap_ok(tap, plan != NULL, "with a reserve: planned")) {
    size_t length;
    plan->peak_bytes = plan->lower_bound_ns = -1; /* not claimed: the peak is counted with the reserve */
    plan->certificate.kind = CERTIFICATE_NONE;
    const char *written = plan_write_json(plan, arena, &length);
    tap_ok(tap, verdict(generate_with_device(arena, text, problem->device_bytes - part), written) == PLANNER_CHECK_VALID, "with a reserve: valid without those bytes");
    tap_ok(tap, report.peak_bytes > problem->device_bytes - part / 8, "with a reserve: the rest is used");
  }
  arena_free(arena);
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
  for (int i = 0; i < (count > 1 ? 3 : 1); i++) judge_addresses(&tap, &holes[i]);
  if (count > 1) {
    judge_overlap(&tap);
    judge_gap(&tap);
    judge_sharing(&tap);
  }
  judge_pinned(&tap, count > 1 ? 88 : 8);
  judge_reserve(&tap);
  judge_small(&tap, scale && atoi(scale) < 20 ? 40 : 264);
  return tap_end(&tap);
}
