#include "evaluate.h"

#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

typedef struct EvaluatorScratch {
  int64_t *start; /* nominal start of a step: compute only, no waiting */
  int64_t *room, *held_room; /* bytes free at a step while every g = v; less the copies that nominally still leave */
  int64_t *avail;
  int *in_time; /* by move: the latest boundary that is nominally in time */
} EvaluatorScratch;

Evaluator *evaluator_new(Arena *arena, const Problem *problem, const Geometry *geometry) {
  Evaluator *e = arena_alloc(arena, sizeof *e);
  EvaluatorScratch *c = arena_alloc(arena, sizeof *c);
  *e = (Evaluator){.problem = problem, .geometry = geometry, .scratch = c};
  e->sequence = sequence_new(arena, problem, geometry, 0);
  e->simulation = simulation_new(arena, e->sequence);
  int steps = e->sequence->step_limit + 2, moves = e->sequence->move_limit;
  e->best_g = NEW(moves, int);
  c->start = NEW(steps, int64_t);
  c->room = NEW(steps, int64_t);
  c->held_room = NEW(steps, int64_t);
  c->avail = NEW(steps, int64_t);
  c->in_time = NEW(moves, int);
  return e;
}

Candidate *candidate_new(Arena *arena, const Evaluator *e) {
  Candidate *candidate = arena_alloc(arena, sizeof *candidate);
  candidate->fates = NEW(e->geometry->gap_count, uint8_t);
  candidate->keep_from = NEW(e->geometry->gap_count, int);
  candidate->is_canonical = true;
  candidate->variants = NEW(e->problem->op_count, int);
  candidate->g = NEW(e->sequence->move_limit, int);
  candidate->cost = COST_ILLEGAL;
  candidate->policies = PREFETCH_ALL;
  return candidate;
}

void candidate_copy(const Evaluator *e, Candidate *to, const Candidate *from) {
  memcpy(to->fates, from->fates, (size_t)e->geometry->gap_count);
  to->is_canonical = from->is_canonical;
  if (!from->is_canonical) memcpy(to->keep_from, from->keep_from, (size_t)e->geometry->gap_count * sizeof *to->keep_from);
  memcpy(to->variants, from->variants, (size_t)e->problem->op_count * sizeof *to->variants);
  memcpy(to->g, from->g, (size_t)from->g_count * sizeof *to->g);
  to->g_count = from->g_count;
  to->cost = from->cost;
  to->policies = from->policies;
  to->is_polished = from->is_polished;
}

bool candidate_build(Evaluator *e, const Candidate *candidate) {
  return sequence_build(e->sequence, candidate->fates, candidate_keep_from(candidate), candidate->variants);
}

bool candidate_is_same(const Evaluator *e, const Candidate *a, const Candidate *b) {
  size_t gaps = (size_t)e->geometry->gap_count, variants = (size_t)e->problem->op_count * sizeof(int);
  return a->is_canonical == b->is_canonical && !memcmp(a->fates, b->fates, gaps) && !memcmp(a->variants, b->variants, variants) &&
         (a->is_canonical || !memcmp(a->keep_from, b->keep_from, gaps * sizeof *a->keep_from));
}

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Nominal times and room; false when even g = v does not fit. */
static bool prepare(Evaluator *e, int64_t *over) {
  EvaluatorScratch *c = e->scratch;
  const Sequence *q = e->sequence;
  const Problem *p = e->problem;
  int n = q->count;
  *over = q->over_bytes;
  c->start[0] = 0;
  for (int s = 0; s < n; s++) {
    c->start[s + 1] = c->start[s] + q->compute_ns[s];
    c->room[s] = p->device_bytes - q->need_bytes[s];
    if (c->room[s] < 0 && __builtin_sub_overflow(*over, c->room[s], over)) *over = COST_INVALID / 2;
    c->held_room[s] = 0;
  }
  if (*over) return false;
  int64_t done = 0;
  int release = 0;
  c->held_room[n] = 0;
  for (int i = 0; i < q->offload_count; i++) {
    const PlanOffload *offload = &q->offloads[i];
    const ProblemPiece *piece = &p->pieces[offload->piece];
    if (piece->home == PROBLEM_HOME_DEVICE) continue;
    done = max64(done, c->start[offload->after + 1]) + piece->d2h_ns;
    if (release <= offload->after) release = offload->after + 1;
    while (release < n && c->start[release] < done) release++;
    c->held_room[offload->after + 1] += piece->bytes;
    c->held_room[release] -= piece->bytes;
  }
  int64_t held = 0;
  for (int s = 0; s < n; s++) {
    held += c->held_room[s];
    c->held_room[s] = c->room[s] - held;
  }
  int64_t need = INT64_MAX;
  int boundary = n;
  for (int i = q->move_count - 1; i >= 0; i--) {
    const PlanMove *move = &q->moves[i];
    need = min64(need, c->start[move->v]) - p->pieces[move->piece].h2d_ns;
    if (boundary > move->v) boundary = move->v;
    while (boundary > 0 && c->start[boundary] > need) boundary--;
    c->in_time[i] = boundary;
  }
  return true;
}

static void assign_prefetch(Evaluator *e, int policy) {
  EvaluatorScratch *c = e->scratch;
  Sequence *q = e->sequence;
  bool is_held = policy == PREFETCH_HOLD || policy == PREFETCH_JITHOLD, is_jit = policy == PREFETCH_JIT || policy == PREFETCH_JITHOLD;
  memcpy(c->avail, is_held ? c->held_room : c->room, (size_t)q->count * sizeof *c->avail);
  int previous = 0;
  for (int i = 0; i < q->move_count; i++) {
    PlanMove *move = &q->moves[i];
    int64_t bytes = e->problem->pieces[move->piece].bytes;
    int g = move->v, low = move->after + 1 > previous ? move->after + 1 : previous;
    if (is_jit && low < c->in_time[i]) low = c->in_time[i];
    while (policy != PREFETCH_LATE && g > low && c->avail[g - 1] >= bytes) g--;
    for (int s = g; s < move->v; s++) c->avail[s] -= bytes;
    move->g = previous = g;
  }
}

int64_t evaluate_built(Evaluator *e) {
  const Sequence *q = e->sequence;
  e->evaluations++;
  e->effort += q->count + 2 * q->move_count;
  return simulate(e->simulation, q) ? e->simulation->makespan_ns : COST_INVALID + e->simulation->over_bytes;
}

int64_t evaluate(Evaluator *e, const uint8_t *fates, const int *keep_from, const int *variants, unsigned policies) {
  Sequence *q = e->sequence;
  int64_t best = COST_ILLEGAL, over;
  const Problem *p = e->problem;
  bool is_legal = sequence_build(q, fates, keep_from, variants);
  e->effort += max64(p->step_count + q->count, ((int64_t)p->piece_count + p->use_count) / 16); /* where pieces are many and steps few */
  if (!is_legal) return COST_ILLEGAL;
  if (!prepare(e, &over)) return COST_INVALID + min64(over, COST_INVALID / 2);
  for (int policy = 0; policy < PREFETCH_COUNT; policy++) {
    if (!(policies & PREFETCH_BIT(policy))) continue;
    assign_prefetch(e, policy);
    e->effort += q->count;
    int64_t cost = evaluate_built(e);
    if (cost < best) {
      best = cost;
      e->best_policy = policy;
      for (int i = 0; i < q->move_count; i++) e->best_g[i] = q->moves[i].g;
    }
    if (q->move_count == 0) break;
  }
  for (int i = 0; i < q->move_count; i++) q->moves[i].g = e->best_g[i];
  return best;
}

int64_t evaluate_candidate(Evaluator *e, Candidate *candidate) {
  if (!candidate->is_polished) {
    candidate->cost = evaluate(e, candidate->fates, candidate_keep_from(candidate), candidate->variants, candidate->policies);
    if (candidate->cost >= COST_INVALID) return candidate->cost;
    return evaluate_built(e);
  }
  if (!candidate_build(e, candidate)) return COST_ILLEGAL;
  for (int i = 0; i < e->sequence->move_count; i++) e->sequence->moves[i].g = candidate->g[i];
  return candidate->cost = evaluate_built(e);
}

static bool try_shift(Evaluator *e, int i, int by, int64_t *best) {
  PlanMove *move = &e->sequence->moves[i];
  int g = move->g, wanted = g + by;
  if (wanted <= move->after) wanted = move->after + 1;
  if (wanted > move->v) wanted = move->v;
  if (wanted == g) return false;
  move->g = wanted;
  int64_t cost = evaluate_built(e);
  if (cost < *best) {
    *best = cost;
    return true;
  }
  move->g = g;
  return false;
}

static void keep_boundaries(const Sequence *q, Candidate *candidate) {
  candidate->is_polished = true;
  candidate->g_count = q->move_count;
  for (int i = 0; i < q->move_count; i++) candidate->g[i] = q->moves[i].g;
}

void polish(Evaluator *e, Candidate *candidate, int64_t effort) {
  static const int shifts[] = {-1, 1, -2, 2, -4, 4, -8, 8};
  int64_t limit = e->effort + effort, best = evaluate_candidate(e, candidate);
  Sequence *q = e->sequence;
  if (best >= COST_INVALID) return;
  bool has_improved = true;
  while (has_improved && e->effort < limit && best > e->geometry->stall_free_ns) {
    has_improved = false;
    for (int i = q->move_count - 1; i >= 0 && e->effort < limit; i--)
      for (int k = 0; k < 8 && e->effort < limit; k++)
        if (try_shift(e, i, shifts[k], &best)) has_improved = true;
  }
  keep_boundaries(q, candidate);
  candidate->cost = best;
}
