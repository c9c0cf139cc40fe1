#include "random_plan.h"

#include "generate.h"

#include <string.h>

PlannerPlan *random_plan_of_sequence(Arena *arena, const Evaluator *e) {
  const Sequence *q = e->sequence;
  PlannerPlan *plan = arena_alloc(arena, sizeof *plan);
  *plan = (PlannerPlan){.problem = e->problem, .makespan_ns = -1, .peak_bytes = -1, .lower_bound_ns = -1};
  plan->variant = arena_alloc(arena, (size_t)e->problem->op_count * sizeof(int) + 1);
  memcpy(plan->variant, q->variant, (size_t)e->problem->op_count * sizeof(int));
  for (int i = 0; i < q->rerun_count; i++) ARENA_PUSH(arena, plan->reruns, plan->rerun_count, q->reruns[i]);
  for (int i = 0; i < q->out_count; i++) ARENA_PUSH(arena, plan->outs, plan->out_count, q->outs[i]);
  for (int i = 0; i < q->move_count; i++) ARENA_PUSH(arena, plan->moves, plan->move_count, q->moves[i]);
  return plan;
}

PlannerPlan *random_plan(Arena *arena, Evaluator *e, uint64_t seed) {
  const Geometry *g = e->geometry;
  Candidate *candidate = candidate_new(arena, e);
  int restless = 20 + generate_below(&seed, 80);
  geometry_stay(g, candidate->fates);
  for (int i = 0; i < g->gap_count; i++) {
    int fate = generate_below(&seed, FATE_COUNT);
    bool is_allowed = (g->gaps[i].options & FATE_BIT(fate)) && generate_below(&seed, 100) < restless;
    if (is_allowed) candidate->fates[i] = (uint8_t)fate;
  }
  candidate->is_canonical = generate_below(&seed, 3) > 0;
  for (int i = 0; i < g->gap_count && !candidate->is_canonical; i++) /* made again more than once, if need be */
    candidate->keep_from[i] = generate_below(&seed, 2) ? 0 : g->gaps[i].u + 1 + generate_below(&seed, g->gaps[i].v - g->gaps[i].u);
  candidate->shared_steps = generate_below(&seed, 2) ? generate_below(&seed, 9) : 0;
  for (int op = 0; op < e->problem->op_count; op++)
    candidate->variants[op] = generate_below(&seed, e->problem->ops[op].variant_count);
  if (!candidate_build(e, candidate)) return NULL;
  bool is_late = generate_below(&seed, 4) == 0;
  for (int i = 0; i < e->sequence->move_count; i++) {
    PlanMove *move = &e->sequence->moves[i];
    int span = move->v - move->after; /* g in after + 1 .. v */
    int early = generate_below(&seed, 3) ? generate_below(&seed, span < 4 ? span : 4) : generate_below(&seed, span);
    move->g = is_late ? move->v : move->v - early;
    if (generate_below(&seed, 5) == 0) move->f = move->after + 1 + generate_below(&seed, move->g - move->after);
  }
  return random_plan_of_sequence(arena, e);
}
