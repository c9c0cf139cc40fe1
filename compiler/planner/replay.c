#include "replay.h"

#include <stdlib.h>
#include <string.h>

static int compare_moves(const void *a, const void *b) {
  const PlanMove *x = a, *y = b;
  if (x->piece != y->piece) return x->piece < y->piece ? -1 : 1;
  return x->after < y->after ? -1 : x->after > y->after;
}

void replay_sort_moves(PlanMove *moves, int count) {
  if (count) qsort(moves, (size_t)count, sizeof *moves, compare_moves);
}

bool replay(const PlannerPlan *plan, Arena *arena, const Sequence **sequence, const Simulation **simulation) {
  PlanMove *moves = arena_alloc(arena, (size_t)(plan->move_count + 1) * sizeof *moves);
  if (plan->move_count) memcpy(moves, plan->moves, (size_t)plan->move_count * sizeof *moves);
  replay_sort_moves(moves, plan->move_count);
  Sequence *q = sequence_new(arena, plan->problem, geometry_make(plan->problem, arena), 0);
  if (!sequence_build_explicit(q, plan->variant, plan->reruns, plan->rerun_count, plan->outs, moves, plan->move_count)) return false;
  Simulation *m = simulation_new(arena, q);
  *sequence = q;
  *simulation = m;
  return simulate(m, q);
}
