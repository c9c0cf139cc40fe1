#include "evaluate.h"

#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

typedef struct EvaluatorScratch {
  int64_t *start; /* nominal start of a step: compute only, no waiting */
  int64_t *room, *held_room; /* bytes free at a step while every g = v; less the copies that nominally still leave */
  int64_t *avail; /* at a step, but for what was taken of its whole stretch */
  int64_t *taken, *least; /* by stretch: of the whole of it; the least room at a step of it */
  int64_t *ready; /* by move: nominally on the host or read from the SSD */
  int *order, *in_time; /* moves in the order of a policy; latest boundary that is nominally in time */
} EvaluatorScratch;

enum { MANY_GAPS = 4000, MOST_GAPS = 20000, STRETCH = 64 };

Evaluator *evaluator_new(Arena *arena, const Problem *problem, const Geometry *geometry) {
  Evaluator *e = arena_alloc(arena, sizeof *e);
  EvaluatorScratch *c = arena_alloc(arena, sizeof *c);
  *e = (Evaluator){.problem = problem, .geometry = geometry, .scratch = c, .allowed = geometry->open_count > MOST_GAPS ? PREFETCH_MOST : geometry->open_count > MANY_GAPS ? PREFETCH_MANY : PREFETCH_ALL};
  e->sequence = sequence_new(arena, problem, geometry, 0);
  e->simulation = simulation_new(arena, e->sequence);
  int steps = e->sequence->step_limit + 2, moves = e->sequence->move_limit;
  e->best_g = NEW(moves, int);
  c->start = NEW(steps, int64_t);
  c->room = NEW(steps, int64_t);
  c->held_room = NEW(steps, int64_t);
  c->avail = NEW(steps, int64_t);
  c->taken = NEW(steps / STRETCH + 1, int64_t);
  c->least = NEW(steps / STRETCH + 1, int64_t);
  c->order = NEW(moves, int);
  c->ready = NEW(moves, int64_t);
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
  to->shared_steps = from->shared_steps;
  if (!from->is_canonical) memcpy(to->keep_from, from->keep_from, (size_t)e->geometry->gap_count * sizeof *to->keep_from);
  memcpy(to->variants, from->variants, (size_t)e->problem->op_count * sizeof *to->variants);
  memcpy(to->g, from->g, (size_t)from->g_count * sizeof *to->g);
  to->g_count = from->g_count;
  to->cost = from->cost;
  to->policies = from->policies;
  to->is_polished = from->is_polished;
}

bool candidate_build(Evaluator *e, const Candidate *candidate) {
  return sequence_build(e->sequence, candidate->fates, candidate_stays(candidate), candidate->variants);
}

bool candidate_is_same(const Evaluator *e, const Candidate *a, const Candidate *b) {
  size_t gaps = (size_t)e->geometry->gap_count, variants = (size_t)e->problem->op_count * sizeof(int);
  return a->is_canonical == b->is_canonical && a->shared_steps == b->shared_steps && !memcmp(a->fates, b->fates, gaps) && !memcmp(a->variants, b->variants, variants) &&
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
    if (piece->home == TIER_DEVICE) continue;
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

enum { TIE_PIECE, TIE_SMALL, TIE_LARGE, TIE_READY, TIE_COUNT };

/* By v, but while a piece is still being read from the SSD, later ones that are there already go first as long as that
 * keeps nobody waiting, in nominal times. False when that changes nothing. */
static bool sort_by_readiness(Evaluator *e) {
  enum { WINDOW = 8 };
  EvaluatorScratch *c = e->scratch;
  const Sequence *q = e->sequence;
  int64_t read = 0, now = 0;
  bool is_other = false;
  for (int i = 0; i < q->move_count; i++) {
    const PlanMove *move = &q->moves[i];
    const ProblemPiece *piece = &e->problem->pieces[move->piece];
    int64_t out = move->after < 0 ? 0 : c->start[move->after + 1] + piece->d2h_ns;
    if (move->to == TIER_SSD) read = max64(read, out + (move->after < 0 ? 0 : piece->ssdw_ns)) + piece->ssdr_ns;
    c->ready[i] = move->to == TIER_SSD ? read : out;
    c->order[i] = i;
  }
  for (int k = 0; k < q->move_count; k++) {
    int best = k, last = k + WINDOW < q->move_count ? k + WINDOW : q->move_count;
    for (int i = k + 1; i < last && best == k && c->ready[c->order[k]] > now; i++)
      if (max64(now, c->ready[c->order[i]]) + e->problem->pieces[q->moves[c->order[i]].piece].h2d_ns <= c->ready[c->order[k]]) best = i;
    int chosen = c->order[best];
    for (int i = best; i > k; i--) c->order[i] = c->order[i - 1];
    c->order[k] = chosen;
    is_other |= best > k;
    now = max64(now, c->ready[chosen]) + e->problem->pieces[q->moves[chosen].piece].h2d_ns;
  }
  return is_other;
}

/* The moves by v, and among equal v by size. */
static void sort_moves(Evaluator *e, int tie) {
  const Sequence *q = e->sequence;
  int *order = e->scratch->order;
  for (int i = 0; i < q->move_count; i++) {
    int at = i;
    int64_t bytes = e->problem->pieces[q->moves[i].piece].bytes;
    for (; tie && at > 0 && q->moves[order[at - 1]].v == q->moves[i].v; at--) {
      int64_t other = e->problem->pieces[q->moves[order[at - 1]].piece].bytes;
      if (tie == TIE_SMALL ? other <= bytes : other >= bytes) break;
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

static void begin_room(EvaluatorScratch *c, const int64_t *room, int steps) {
  memcpy(c->avail, room, (size_t)steps * sizeof *c->avail);
  for (int i = 0; i * STRETCH < steps; i++) {
    c->taken[i] = 0;
    c->least[i] = INT64_MAX;
    for (int s = i * STRETCH; s < (i + 1) * STRETCH && s < steps; s++) c->least[i] = min64(c->least[i], room[s]);
  }
}

/* Takes the bytes from step g - 1 on back to `low`, as long as there is room; the first step that has them. */
static int take_room(EvaluatorScratch *c, int g, int low, int64_t bytes) {
  while (g > low) {
    const int i = (g - 1) / STRETCH;
    if (g % STRETCH == 0 && g - STRETCH >= low && c->least[i] >= bytes) {
      c->taken[i] += bytes;
      c->least[i] -= bytes;
      g -= STRETCH;
      continue;
    }
    const int64_t left = c->avail[g - 1] - c->taken[i] - bytes;
    if (left < 0) break;
    c->avail[--g] -= bytes;
    c->least[i] = min64(c->least[i], left);
  }
  return g;
}

/* False when the policy is another one here. */
static bool assign_prefetch(Evaluator *e, int policy) {
  EvaluatorScratch *c = e->scratch;
  Sequence *q = e->sequence;
  if (policy == PREFETCH_LATE) {
    for (int i = 0; i < q->move_count; i++) q->moves[i].g = q->moves[i].v;
    return true;
  }
  if (policy >= PREFETCH_CHOOSE) {
    static const int64_t margins[] = {INT64_MAX, 64, 16};
    return simulate_choosing(e->simulation, q, e->problem->device_bytes / margins[policy - PREFETCH_CHOOSE]);
  }
  int mode = (policy - PREFETCH_EARLY) / TIE_COUNT, tie = (policy - PREFETCH_EARLY) % TIE_COUNT;
  bool is_held = mode == 1 || mode == 3, is_jit = mode >= 2;
  if (tie == TIE_READY && !sort_by_readiness(e)) return false;
  if (tie != TIE_READY) sort_moves(e, tie);
  begin_room(c, is_held ? c->held_room : c->room, q->count);
  int previous = 0, overtaken = 0; /* boundary and v of what went before */
  for (int k = 0; k < q->move_count; k++) {
    PlanMove *move = &q->moves[c->order[k]];
    int64_t bytes = e->problem->pieces[move->piece].bytes;
    int first = move->v < overtaken ? previous + 1 : previous; /* at one boundary they go by v */
    int low = max64(move->after + 1, first);
    if (is_jit && low < c->in_time[c->order[k]]) low = c->in_time[c->order[k]];
    move->g = previous = take_room(c, move->v, low, bytes);
    overtaken = move->v;
  }
  return true;
}

int64_t evaluate_built(Evaluator *e) {
  const Sequence *q = e->sequence;
  e->evaluations++;
  e->effort += q->count + 2 * q->move_count;
  return simulate(e->simulation, q) ? e->simulation->makespan_ns : COST_INVALID + e->simulation->over_bytes;
}

int64_t evaluate(Evaluator *e, const uint8_t *fates, RemadeStays stays, const int *variants, unsigned policies) {
  Sequence *q = e->sequence;
  int64_t best = COST_ILLEGAL, over;
  const Problem *p = e->problem;
  bool is_legal = sequence_build(q, fates, stays, variants);
  e->effort += max64(p->step_count + q->count, ((int64_t)p->piece_count + p->use_count) / 16); /* where pieces are many and steps few */
  if (!is_legal) return COST_ILLEGAL;
  if (!prepare(e, &over)) return COST_INVALID + min64(over, COST_INVALID / 2);
  if (policies & e->allowed) policies &= e->allowed;
  for (int policy = 0; policy < PREFETCH_COUNT; policy++) {
    if (!(policies & PREFETCH_BIT(policy))) continue;
    if (!assign_prefetch(e, policy)) continue;
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
    candidate->cost = evaluate(e, candidate->fates, candidate_stays(candidate), candidate->variants, candidate->policies);
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

/* One return later, another earlier. */
static bool try_exchange(Evaluator *e, int later, int earlier, int64_t *best) {
  PlanMove *a = &e->sequence->moves[later], *b = &e->sequence->moves[earlier];
  int ga = a->g, gb = b->g;
  if (a->g >= a->v || b->g <= b->after + 1) return false;
  a->g++;
  bool ok = false;
  for (int by = 1; by <= 4 && !ok; by *= 2) ok = try_shift(e, earlier, -by, best);
  if (ok) return true;
  a->g = a->v;
  ok = try_shift(e, earlier, -1, best) || try_shift(e, earlier, -4, best);
  if (ok) return true;
  a->g = ga;
  b->g = gb;
  return false;
}

static void keep_boundaries(const Sequence *q, Candidate *candidate) {
  candidate->is_polished = true;
  candidate->g_count = q->move_count;
  for (int i = 0; i < q->move_count; i++) candidate->g[i] = q->moves[i].g;
}

static uint64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
  return *state >> 33;
}

/* One or two returns a little earlier or later; undone where that makes the epoch longer. */
static int64_t try_aside(Evaluator *e, uint64_t *state, int64_t best) {
  static const int shifts[] = {-1, 1, -2, 2};
  int count = 1 + (int)(draw(state) % 2), before[2];
  PlanMove *moved[2];
  for (int k = 0; k < count; k++) {
    PlanMove *move = moved[k] = &e->sequence->moves[draw(state) % (uint64_t)e->sequence->move_count];
    before[k] = move->g;
    move->g += shifts[draw(state) % 4];
    if (move->g <= move->after) move->g = move->after + 1;
    if (move->g > move->v) move->g = move->v;
  }
  int64_t cost = evaluate_built(e);
  for (int k = count; k-- > 0 && cost > best;) moved[k]->g = before[k];
  return cost;
}

/* Sideways, for where no single return makes the epoch shorter: whatever makes it no longer is taken. */
static void wander(Evaluator *e, Candidate *candidate, int64_t limit, int64_t *best) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  while (e->sequence->move_count > 1 && e->effort < limit && *best > e->geometry->stall_free_ns) {
    int64_t cost = try_aside(e, &state, *best);
    if (cost >= *best) continue;
    *best = cost;
    keep_boundaries(e->sequence, candidate);
  }
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
    for (int i = 0; i < q->move_count && !has_improved && q->move_count <= 40; i++)
      for (int k = 0; k < q->move_count && e->effort < limit; k++)
        if (i != k && try_exchange(e, i, k, &best)) has_improved = true;
  }
  keep_boundaries(q, candidate);
  wander(e, candidate, limit, &best);
  candidate->cost = best;
}
