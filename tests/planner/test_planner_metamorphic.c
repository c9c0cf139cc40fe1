/* What must happen to a fixed plan when its problem changes, and to the planner when it is asked twice. */
#include "random_plan.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

static int64_t *scaled(Arena *arena, const int64_t *from, int count, int64_t numerator, int64_t denominator) {
  int64_t *to = arena_alloc(arena, (size_t)count * sizeof *to + 1);
  for (int i = 0; i < count; i++) to[i] = from[i] * numerator / denominator;
  return to;
}

/* The problem with all computing and all transfers scaled. */
static Problem *rescaled(Arena *arena, const Problem *p, int64_t ns_up, int64_t ns_down, int64_t io_up, int64_t io_down) {
  Problem *q = arena_alloc(arena, sizeof *q);
  *q = *p;
  int stages = 0;
  for (int s = 0; s < p->step_count; s++) {
    int end = p->steps[s].first_stage + p->ops[p->steps[s].op].stage_count;
    if (end > stages) stages = end;
  }
  q->stage_ns = scaled(arena, p->stage_ns, stages, ns_up, ns_down);
  q->pieces = arena_alloc(arena, (size_t)p->piece_count * sizeof *q->pieces + 1);
  memcpy(q->pieces, p->pieces, (size_t)p->piece_count * sizeof *q->pieces);
  for (int x = 0; x < p->piece_count; x++) {
    q->pieces[x].d2h_ns = p->pieces[x].d2h_ns * io_up / io_down;
    q->pieces[x].h2d_ns = p->pieces[x].h2d_ns * io_up / io_down;
    q->pieces[x].ssdw_ns = p->pieces[x].ssdw_ns * io_up / io_down;
    q->pieces[x].ssdr_ns = p->pieces[x].ssdr_ns * io_up / io_down;
  }
  return q;
}

static int64_t replay(Arena *arena, const Problem *problem, const PlannerPlan *plan) {
  Geometry *geometry = geometry_make(problem, arena);
  Sequence *sequence = sequence_new(arena, problem, geometry, problem->step_count + plan->rerun_count);
  Simulation *simulation = simulation_new(arena, sequence);
  PlanMove *moves = arena_alloc(arena, (size_t)plan->move_count * sizeof *moves + 1);
  int count = 0;
  for (int x = 0; x < problem->piece_count; x++) { /* by (piece, after) */
    int first = count;
    for (int m = 0; m < plan->move_count; m++)
      if (plan->moves[m].piece == x) {
        int at = count++;
        for (; at > first && moves[at - 1].after > plan->moves[m].after; at--) moves[at] = moves[at - 1];
        moves[at] = plan->moves[m];
      }
  }
  bool ok = sequence_build_explicit(sequence, plan->variant, plan->reruns, plan->rerun_count, plan->outs, moves, count) &&
            simulate(simulation, sequence);
  return ok ? simulation->makespan_ns : -1;
}

int main(void) {
  Tap tap = {0};
  int tried = 0, more_memory = 0, faster_io = 0, less_work = 0, doubled = 0, wanted = tap_scale(200);
  for (uint64_t seed = 1; tried < wanted && seed < 5000; seed++) {
    Arena *arena = arena_new();
    GenerateOptions options = suite_small((int)(seed % SUITE_SMALL_COUNT));
    options.budget = 0.9;
    char *text = seed % 2 ? generate_with_device(arena, generate_odd(arena, seed), 9000000) : generate_problem(arena, &options);
    Problem *problem = suite_read(arena, text);
    Evaluator *evaluator = evaluator_new(arena, problem, geometry_make(problem, arena));
    PlannerPlan *plan = random_plan(arena, evaluator, seed);
    int64_t before = plan ? replay(arena, problem, plan) : -1;
    if (before >= 0) {
      tried++;
      Problem larger = *problem;
      larger.device_bytes += (int64_t)(seed % 7) * 500000;
      int64_t after = replay(arena, &larger, plan);
      more_memory += after < 0 || after > before;
      after = replay(arena, rescaled(arena, problem, 1, 1, 2, 3), plan);
      faster_io += after < 0 || after > before;
      after = replay(arena, rescaled(arena, problem, 3, 4, 1, 1), plan);
      less_work += after < 0 || after > before;
      after = replay(arena, rescaled(arena, problem, 2, 1, 2, 1), plan);
      doubled += after != 2 * before;
    }
    arena_free(arena);
  }
  tap_ok(&tap, tried == wanted, "%d valid random plans", wanted);
  tap_ok(&tap, more_memory == 0, "more device memory never lengthens a plan");
  tap_ok(&tap, faster_io == 0, "faster channels never lengthen a plan");
  tap_ok(&tap, less_work == 0, "shorter steps never lengthen a plan");
  tap_ok(&tap, doubled == 0, "twice every time is twice the makespan");
  return tap_end(&tap);
}
