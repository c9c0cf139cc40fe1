/* The exact search against plain enumeration of every fate and every prefetch boundary. */
#include "golden.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Enumeration {
  Evaluator *evaluator;
  Candidate *candidate;
  int64_t best, tried;
} Enumeration;

static void try_boundaries(Enumeration *e, int m) {
  Sequence *q = e->evaluator->sequence;
  if (m == q->move_count) {
    e->tried++;
    if (simulate(e->evaluator->simulation, q) && e->evaluator->simulation->makespan_ns < e->best)
      e->best = e->evaluator->simulation->makespan_ns;
    return;
  }
  for (int g = q->moves[m].after + 1; g <= q->moves[m].v; g++) {
    q->moves[m].g = g;
    try_boundaries(e, m + 1);
  }
}

static void try_fates(Enumeration *e, int depth) {
  const Geometry *g = e->evaluator->geometry;
  if (depth == g->wide_count) {
    if (sequence_build(e->evaluator->sequence, e->candidate->fates, e->candidate->variants)) try_boundaries(e, 0);
    return;
  }
  for (int fate = 0; fate < PLAN_FATE_COUNT; fate++) {
    if (!(g->gaps[g->open[depth]].options & PLAN_FATE_BIT(fate))) continue;
    e->candidate->fates[g->open[depth]] = (uint8_t)fate;
    try_fates(e, depth + 1);
  }
  e->candidate->fates[g->open[depth]] = PLAN_FATE_RETAIN;
}

static void try_variants(Enumeration *e, int op) {
  if (op == e->evaluator->problem->op_count) {
    try_fates(e, 0);
    return;
  }
  for (int v = 0; v < e->evaluator->problem->ops[op].variant_count; v++) {
    e->candidate->variants[op] = v;
    try_variants(e, op + 1);
  }
}

static int64_t enumerate(const Problem *problem, int max_gaps, int64_t *tried) {
  Arena *arena = arena_new();
  Geometry *geometry = geometry_make(problem, arena);
  Enumeration e = {.evaluator = evaluator_new(arena, problem, geometry), .best = INT64_MAX};
  e.candidate = candidate_new(arena, e.evaluator);
  int homes = 0; /* their boundaries are enumerated too */
  for (int x = 0; x < problem->piece_count; x++) homes += problem->pieces[x].home >= PROBLEM_HOME_HOST;
  bool is_small = geometry->open_count > 0 && geometry->wide_count + homes <= max_gaps;
  if (is_small) try_variants(&e, 0);
  *tried = e.tried;
  arena_free(arena);
  return is_small ? e.best : -1;
}

/* A skip of a U-Net that leaves early, at a step that is not over the budget, leaves for nothing when it must. */
static int64_t plan_unet(int64_t device_bytes) {
  Arena *arena = arena_new();
  GenerateOptions options = suite_small(10);
  Problem *problem = suite_read(arena, generate_problem(arena, &options));
  PlannerOptions planner_options;
  PlannerReport report;
  problem->device_bytes = device_bytes;
  planner_default_options(&planner_options);
  planner_plan(problem, &planner_options, arena, &report);
  arena_free(arena);
  return report.makespan_ns;
}

int main(void) {
  Tap tap = {0};
  tap_ok(&tap, plan_unet(4108866) <= 3355430, "an early eviction makes a later one clean");
  Arena *arena = arena_new();
  tap_ok(&tap, suite_optimum(suite_read(arena, golden_problem_a), 10000000) == 83, "A: the optimum is 83");
  tap_ok(&tap, suite_optimum(suite_read(arena, golden_problem_a_fixed), 10000000) == 108, "A without recompute: the optimum is 108");
  arena_free(arena);
  int compared = 0, wrong = 0, wanted = tap_scale(120);
  int64_t assignments = 0;
  for (uint64_t seed = 1; compared < wanted && seed < 3000; seed++) {
    arena = arena_new();
    GenerateOptions options = suite_small((int)(seed % SUITE_SMALL_COUNT));
    if (options.depth > 4) options.depth = 4;
    if (options.family == FAMILY_MOE || options.family == FAMILY_TRANSFORMER || options.family == FAMILY_GAT) options.depth = 1;
    if (options.family == FAMILY_GCN || options.family == FAMILY_UNET) options.depth = 2;
    options.chunks = 1;
    char *text = seed % 2 ? generate_with_device(arena, generate_odd(arena, seed), 5000000 + (int64_t)(seed % 5) * 500000)
                          : generate_problem(arena, &options);
    Problem *problem = suite_read(arena, text);
    int64_t tried, best = enumerate(problem, 4, &tried);
    if (best >= 0 && tried > 1 && best < INT64_MAX) {
      int64_t optimum = suite_optimum(problem, 200000000);
      compared++;
      assignments += tried;
      if (optimum != best) {
        wrong++;
        tap_note("%s: enumeration %lld, exact search %lld", problem->name, (long long)best, (long long)optimum);
      }
    }
    arena_free(arena);
  }
  tap_note("%d problems, %lld plans", compared, (long long)assignments);
  tap_ok(&tap, compared == wanted, "%d problems were small enough to enumerate", wanted);
  tap_ok(&tap, wrong == 0, "the exact search finds what enumeration finds");
  return tap_end(&tap);
}
