#include "settle.h"

#include <string.h>

#include "exact.h"

enum { NOTICED = 200, NEAR = 40, SEEN = 4096, NOTCHES = 64, LAST_RUNGS = 32, FEW_RUNGS = 8, FEW_GAPS = 64, LARGE_GAPS = 512, SEARCHED_GAPS = 3000 };

typedef struct Settled { /* a plan with its addresses */
  Candidate *fates;
  PlanMove *moves;
  Addresses *layout;
  int64_t makespan_ns;
} Settled;

typedef struct Packer {
  const Session *session;
  Evaluator *on_device; /* of the session's problem: a plan for a smaller device must hold here */
  Evaluator *source; /* of the problem that is searched */
  Evaluator *searched; /* the search's own: it pays for what is tried */
  Candidate *trial;
  Settled best;
  Addresses *last; /* of the last greedy packing */
  int64_t intervals; /* laid out so far */
  int64_t effort; /* of one try during a search */
  uint64_t seen[SEEN]; /* what was tried, by its hash */
  uint64_t unpackable[SEEN]; /* intervals that an effort did not lay out, by their hash */
  Arena *arena;
} Packer;

bool settle_is_dear(const Session *s) { return s->geometry->open_count > FEW_GAPS; }

static Packer *packer_new(Session *s, Arena *arena) {
  Packer *packer = arena_alloc(s->arena, sizeof *packer);
  Evaluator *e = evaluator_new(s->arena, s->problem, s->geometry);
  *packer = (Packer){.session = s, .on_device = e, .source = e, .searched = s->evaluator, .trial = candidate_new(s->arena, e),
                     .arena = arena};
  packer->best = (Settled){.fates = candidate_new(s->arena, e), .moves = arena_alloc(s->arena, (size_t)e->sequence->move_limit * sizeof(PlanMove) + 1),
                           .makespan_ns = INT64_MAX};
  return packer;
}

/* With addresses before without, then the faster. */
static bool beats(const Addresses *layout, int64_t makespan_ns, const Settled *best) {
  if (!best->layout) return true;
  return layout->is_packed != best->layout->is_packed ? layout->is_packed : makespan_ns < best->makespan_ns;
}

static bool is_laid_out(const Packer *packer) { return packer->best.layout && packer->best.layout->is_packed; }

static bool is_settled(const Packer *packer, int64_t makespan_ns) {
  return is_laid_out(packer) && packer->best.makespan_ns <= makespan_ns;
}

/* There are addresses, and what may be spent on faster plans with addresses is. */
static bool is_spent(const Packer *packer, const Budget *budget) {
  return (is_laid_out(packer) && packer->intervals >= budget->intervals) || search_is_late(packer->session->search);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) { /* FNV-1a */
  for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001B3u;
  return hash;
}

static uint64_t hash_intervals(const Addresses *layout, int64_t effort) {
  uint64_t hash = hash_bytes(0xCBF29CE484222325u, &effort, sizeof effort);
  for (int i = 0; i < layout->count; i++) {
    const PlanInterval *interval = &layout->intervals[i];
    const int64_t parts[] = {interval->piece, interval->from, interval->until, interval->taken_by, interval->bytes};
    hash = hash_bytes(hash, parts, sizeof parts);
  }
  return hash;
}

/* Lay out the plan that the device's evaluator is at and take it if it beats the one so far. What policies give for several devices is often
 * the same, and not packed again in vain. */
static bool lay_out(Packer *packer, int64_t effort) {
  Evaluator *e = packer->on_device;
  int64_t makespan = e->simulation->makespan_ns, device = packer->session->problem->device_bytes;
  if (is_laid_out(packer) && makespan > packer->best.makespan_ns) return false;
  Arena *scratch = arena_new();
  Addresses *layout = addresses_intervals(e, scratch);
  const uint64_t hash = hash_intervals(layout, effort);
  uint64_t *slot = &packer->unpackable[hash % SEEN];
  const bool is_in_vain = *slot == hash && effort > 0 && (is_laid_out(packer) || makespan >= packer->best.makespan_ns);
  if (!is_in_vain) addresses_pack(layout, device, effort), packer->intervals += layout->count;
  if (!layout->is_packed) *slot = hash;
  if (effort == 0) packer->last = addresses_copy(layout, packer->arena);
  bool is_better = !is_in_vain && beats(layout, makespan, &packer->best);
  if (is_better) packer->best.layout = addresses_copy(layout, packer->arena);
  arena_free(scratch);
  if (!is_better) return false;
  packer->best.makespan_ns = makespan;
  candidate_copy(e, packer->best.fates, packer->trial);
  if (e->sequence->move_count) memcpy(packer->best.moves, e->sequence->moves, (size_t)e->sequence->move_count * sizeof(PlanMove));
  return true;
}

/* The device's evaluator at a candidate of the source, tightened. The releases of a plan for a smaller device, written
 * down as f, hold on the larger one too. */
static bool bring_over(Packer *packer, const Candidate *candidate) {
  Evaluator *from = packer->source, *to = packer->on_device;
  candidate_copy(to, packer->trial, candidate);
  if (evaluate_candidate(from, packer->trial) >= COST_INVALID) return false;
  addresses_tighten(from);
  if (from == to) return true;
  if (!candidate_build(to, candidate)) return false;
  for (int i = 0; i < from->sequence->move_count; i++) {
    to->sequence->moves[i].g = from->sequence->moves[i].g;
    to->sequence->moves[i].f = from->sequence->moves[i].f;
  }
  return evaluate_built(to) < COST_INVALID;
}

static bool try_candidate(Packer *packer, const Candidate *candidate, int64_t effort) {
  enum { MANY_MOVES = 256 };
  if (!bring_over(packer, candidate)) return false;
  if (lay_out(packer, effort) && is_laid_out(packer)) return true;
  if (packer->on_device->sequence->move_count > MANY_MOVES) return false;
  addresses_delay(packer->on_device);
  return lay_out(packer, effort);
}

/* ---- searching for what can be laid out ---- */

static bool is_new(Packer *packer, const Candidate *candidate) {
  const Evaluator *e = packer->on_device;
  uint64_t hash = 0xCBF29CE484222325u ^ (uint64_t)packer->source->problem->device_bytes;
  hash = hash_bytes(hash, candidate->fates, (size_t)e->geometry->gap_count);
  if (!candidate->is_canonical) hash = hash_bytes(hash, candidate->keep_from, (size_t)e->geometry->gap_count * sizeof(int));
  hash = hash_bytes(hash, &candidate->shared_steps, sizeof candidate->shared_steps);
  hash = hash_bytes(hash, candidate->variants, (size_t)e->problem->op_count * sizeof(int));
  if (candidate->is_polished) hash = hash_bytes(hash, candidate->g, (size_t)candidate->g_count * sizeof(int));
  else hash ^= candidate->policies;
  uint64_t *slot = &packer->seen[hash % SEEN];
  if (*slot == hash) return false;
  *slot = hash;
  return true;
}

/* The search takes what can be laid out. */
static bool has_addresses(void *context, const Candidate *candidate) {
  Packer *packer = context;
  if (candidate->cost >= COST_INVALID || !is_new(packer, candidate)) return false;
  packer->searched->effort += packer->effort / 8;
  return try_candidate(packer, candidate, packer->effort) && is_laid_out(packer);
}

static void search_laid_out(Packer *packer, Session *session, const Budget *budget) {
  if (packer->session->geometry->open_count > LARGE_GAPS) return; /* there a try is too dear: the best one is laid out at the end */
  int64_t boxes = packer->on_device->sequence->stay_count + packer->on_device->sequence->count / 4;
  packer->effort = 8 * boxes * boxes;
  packer->searched = session->evaluator;
  const Candidate *first = NULL;
  if (session == packer->session && is_laid_out(packer)) {
    Candidate *laid = candidate_new(session->arena, session->evaluator);
    candidate_copy(session->evaluator, laid, packer->best.fates);
    if (evaluate_candidate(session->evaluator, laid) < COST_INVALID) first = laid;
  }
  session->search->target_ns = session->search->best->cost;
  search_accept_only(session->search, first, has_addresses, packer);
  session_improve(session, budget->units / 8, budget->exact_units / 8);
}

/* ---- smaller devices ---- */

/* Candidates for a smaller device, best first: the plans so far as they are and mended, the policies. */
static void seed(Session *small, const Packer *packer, int64_t units, Candidate *scratch) {
  const Candidate *const known[] = {packer->best.fates, packer->session->search->best};
  for (int i = 0; i < 2 && !search_is_done(small->search); i++) {
    search_offer_again(small->search, known[i]);
    search_try_candidate(small->search, known[i]);
  }
  if (search_is_done(small->search)) return;
  search_local(small->search, units);
  for (int policy = 0; policy < POLICY_COUNT && !search_is_done(small->search); policy++) {
    policy_plan(small->evaluator, (Policy)policy, scratch);
    search_offer(small->search, scratch);
  }
}

/* Search on a smaller device, where plans are easier to lay out on this one. Returns the least time found there, laid
 * out or not. */
static int64_t try_smaller(Packer *packer, const Budget *budget, int64_t device_bytes, int64_t target_ns) {
  Arena *arena = arena_new();
  const Session *s = packer->session;
  Problem smaller = *s->problem;
  smaller.device_bytes = device_bytes;
  Session *small = session_new(&smaller, arena, s->search->deadline);
  small->search->target_ns = target_ns;
  seed(small, packer, budget->units / 16, candidate_new(arena, small->evaluator));
  Budget reduced = *budget;
  if (s->geometry->open_count <= 1000) reduced.dp_labels /= 4; /* with few labels a large DP finds nothing */
  reduced.exact_units /= 8;
  reduced.splits = 1;
  if (!search_is_done(small->search)) session_run(small, &reduced, budget->units / 4);
  if (!session_is_large(small)) exact_windows(small->search, budget->units / 4);
  int64_t least = small->search->best->cost;
  packer->source = evaluator_new(arena, &smaller, small->geometry);
  try_candidate(packer, small->search->best, budget->packing / 4);
  for (int i = 0; i < small->search->elite_count; i++) /* others that take as long may be easier to lay out */
    if (!is_laid_out(packer) || small->search->elites[i]->cost < packer->best.makespan_ns) try_candidate(packer, small->search->elites[i], budget->packing / 8);
  if (least < COST_INVALID && !(is_laid_out(packer) && packer->best.makespan_ns <= least)) search_laid_out(packer, small, budget);
  s->evaluator->evaluations += small->evaluator->evaluations;
  arena_free(arena);
  packer->source = packer->on_device;
  return least;
}

/* Smaller and smaller devices, until what is found there is, again and again, slower than what was laid out, or nothing is.
 * First smaller by what sticks out and by twice that, then down rungs that are the same for every device, so that a larger one
 * goes down those of a smaller one too: first each, then every second, every fourth. */
static void go_down(Packer *packer, const Budget *budget, int64_t excess_bytes, int64_t target_ns) {
  enum { PATIENCE = 3, BY_EXCESS = 2, ATTEMPTS = 14 };
  const Session *s = packer->session;
  int64_t low, high, device = s->problem->device_bytes;
  session_device_range(s, &low, &high);
  int64_t notch = (high - low) / NOTCHES + 1, stride = 1, idle = 0, rung = (device - low - 1) / notch;
  for (int attempt = 0; attempt < ATTEMPTS && rung >= 0 && !search_is_late(s->search); attempt++) {
    int64_t before = packer->best.makespan_ns, smaller = device - (attempt + 1) * excess_bytes;
    bool was_laid = is_laid_out(packer), is_rung = attempt >= BY_EXCESS || smaller <= low;
    int64_t least = try_smaller(packer, budget, is_rung ? low + rung * notch : smaller, target_ns);
    idle = was_laid && packer->best.makespan_ns >= before && least >= before ? idle + 1 : 0;
    if (least >= COST_INVALID || idle == PATIENCE || (is_laid_out(packer) && packer->best.makespan_ns <= target_ns)) return;
    if (!is_rung) continue;
    if (attempt % 3 == 2) stride *= 2;
    rung -= rung % stride ? rung % stride : stride;
  }
}

/* Where a try is dear: smaller by what sticks out, then halfway up to what stuck out, while that is faster by more than next to nothing; or down, as
 * long as nothing was laid out. What is found there is rarely faster on a device that is smaller still. */
static void go_down_by_halves(Packer *packer, const Budget *budget, int64_t worth_ns, int64_t excess_bytes, int64_t target_ns) {
  enum { ATTEMPTS = 6 };
  const Session *s = packer->session;
  int64_t low, high, sticks_out = s->problem->device_bytes, fastest = target_ns;
  session_device_range(s, &low, &high);
  int64_t fits = low, device = sticks_out - excess_bytes > low ? sticks_out - excess_bytes : low + (sticks_out - low) / 2;
  for (int attempt = 0; attempt < ATTEMPTS && device > fits && !search_is_late(s->search); attempt++) {
    int64_t least = try_smaller(packer, budget, device, target_ns);
    bool is_laid = is_laid_out(packer), is_fit = is_laid && packer->best.makespan_ns <= least;
    if (is_fit) fits = device;
    else sticks_out = device, fastest = least;
    if ((is_laid && packer->best.makespan_ns <= fastest + fastest / NOTICED) || (worth_ns > 0 && fastest >= worth_ns)) return;
    device = fits + (sticks_out - fits) / 2;
  }
}

/* ---- less room where something sticks out ---- */

/* `times` what ends above the device at a step or at most `around` from there, but what no plan needs less of stays. */
static void reserve_excess(const Packer *packer, const Addresses *layout, int64_t device_bytes, int times, int around, int64_t *reserve) {
  const Session *s = packer->session;
  const int steps = s->problem->step_count;
  Arena *arena = arena_new();
  int64_t *excess = arena_alloc(arena, (size_t)(s->problem->step_count + 1) * sizeof *excess);
  addresses_excess(layout, packer->on_device->sequence, device_bytes, excess);
  for (int t = 0; t < steps; t++) {
    int64_t most = s->problem->device_bytes - s->geometry->base_bytes[t], highest = 0;
    for (int i = t < around ? 0 : t - around; i <= t + around && i < steps; i++) highest = excess[i] > highest ? excess[i] : highest;
    reserve[t] += times * highest;
    if (reserve[t] > most) reserve[t] = most > 0 ? most : 0;
  }
  arena_free(arena);
}

/* What is filled again with less room at some steps, laid out on the whole device. False where nothing fits. */
static bool fill_with_less(Packer *packer, const Budget *budget, const int64_t *reserve) {
  const Session *s = packer->session;
  Arena *arena = arena_new();
  Problem problem = *s->problem;
  problem.reserve_bytes = reserve;
  Session *small = session_new(&problem, arena, s->search->deadline);
  small->search->target_ns = s->search->best->cost;
  session_fill_again(small, s, budget->units / 32);
  const bool is_found = small->search->best->cost < COST_INVALID;
  packer->source = small->evaluator;
  if (is_found) try_candidate(packer, small->search->best, 0);
  packer->source = packer->on_device;
  s->evaluator->evaluations += small->evaluator->evaluations;
  arena_free(arena);
  return is_found;
}

/* Where little sticks out of the packing last met: returns come later there, while less and less does. */
static void put_off_returns(Packer *packer) {
  enum { ROUNDS = 6, FEW = 50 };
  Evaluator *e = packer->on_device;
  const int64_t device = packer->session->problem->device_bytes;
  int above = addresses_count_above(packer->last, device), least = packer->last->count / FEW + 1;
  for (int round = 0; round < ROUNDS && above > 0 && above < least && !search_is_late(packer->session->search); round++) {
    const Addresses *before = packer->last;
    if (addresses_delay_around(e, before, device) == 0 || e->simulation->makespan_ns >= COST_INVALID) return;
    lay_out(packer, 0);
    if (packer->last == before) return; /* slower than what was laid out */
    least = above;
    above = addresses_count_above(packer->last, device);
  }
}

/* Of many gaps: where residencies end above the device its steps have less room, for which it is filled again, more and more of what sticks out each time, as
 * the next plan is another one. Then halfway back to what did not do. */
static void fill_around(Packer *packer, const Budget *budget) {
  enum { ATTEMPTS = 8, HALVINGS = 2, NOTCH = 500 };
  const Session *s = packer->session;
  Arena *arena = arena_new();
  const int64_t device = s->problem->device_bytes;
  const size_t size = (size_t)(s->problem->step_count + 1) * sizeof(int64_t);
  int64_t *reserve = arena_alloc(arena, size), *too_little = arena_alloc(arena, size), *middle = arena_alloc(arena, size);
  bool is_found = packer->last || try_candidate(packer, s->search->best, 0) || packer->last;
  for (int attempt = 0; attempt < ATTEMPTS && is_found && !packer->last->is_packed && !is_spent(packer, budget); attempt++) {
    const Addresses *before = packer->last;
    memcpy(too_little, reserve, size);
    reserve_excess(packer, before, device - attempt * (device / NOTCH), 1 + attempt, attempt, reserve);
    is_found = fill_with_less(packer, budget, reserve) && packer->last != before; /* else it is slower than what was laid out */
    if (is_found) put_off_returns(packer);
  }
  const int64_t fastest = s->search->best->cost; /* without addresses */
  for (int i = 0; i < HALVINGS && is_found && is_laid_out(packer) && !is_settled(packer, fastest + fastest / NOTICED) && !is_spent(packer, budget); i++) {
    int64_t before = packer->best.makespan_ns;
    for (int t = 0; t < s->problem->step_count; t++) middle[t] = too_little[t] + (reserve[t] - too_little[t]) / 2;
    fill_with_less(packer, budget, middle);
    memcpy(packer->best.makespan_ns < before ? reserve : too_little, middle, size);
  }
  arena_free(arena);
}

/* What takes longer may be easier to lay out. */
static void fill_around_second(Packer *packer, Session *s, const Budget *budget) {
  Candidate *best = s->search->best;
  s->search->best = s->second;
  packer->last = NULL;
  fill_around(packer, budget);
  s->search->best = best;
}

/* Fillings for a smaller device, laid out on this one. */
static void fill_smaller(Packer *packer, const Budget *budget, int64_t device_bytes) {
  const Session *s = packer->session;
  Arena *arena = arena_new();
  Problem problem = *s->problem;
  problem.device_bytes = device_bytes;
  Session *small = session_new(&problem, arena, s->search->deadline);
  small->search->target_ns = s->search->best->cost;
  session_try_fillings(small, NULL);
  packer->source = small->evaluator;
  if (small->search->best->cost < packer->best.makespan_ns || !is_laid_out(packer)) try_candidate(packer, small->search->best, budget->packing / 4);
  packer->source = packer->on_device;
  s->evaluator->evaluations += small->evaluator->evaluations;
  arena_free(arena);
}

/* Of many gaps: devices smaller by as much as what was laid out last stuck out; where one is found, larger ones again, halfway to what did not fit. */
static void go_down_quickly(Packer *packer, const Budget *budget) {
  enum { ATTEMPTS = 6, HALVINGS = 2 };
  const Session *s = packer->session;
  int64_t low, high, device = s->problem->device_bytes, fits = device, sticks_out = device;
  session_device_range(s, &low, &high);
  double share = (double)device / (double)packer->best.layout->height_bytes; /* of the device that what fits may take */
  for (int attempt = 0; attempt < ATTEMPTS && !is_laid_out(packer) && !search_is_late(s->search); attempt++) {
    int64_t before = packer->best.layout->height_bytes;
    sticks_out = fits;
    double at_most = 1 - 0.02 * (1 << (attempt < 4 ? attempt : 4)) / 2; /* larger and larger steps */
    fits = low + (int64_t)((double)(fits - low) * (share < at_most ? share : at_most));
    if (attempt > 0 && fits == sticks_out) break;
    fill_smaller(packer, budget, fits);
    if (!is_laid_out(packer) && packer->best.layout->height_bytes < before) share = (double)device / (double)packer->best.layout->height_bytes;
  }
  for (int i = 0; i < HALVINGS && is_laid_out(packer) && !is_spent(packer, budget); i++) {
    int64_t middle = fits + (sticks_out - fits) / 2, before = packer->best.makespan_ns;
    fill_smaller(packer, budget, middle);
    if (packer->best.makespan_ns < before) fits = middle;
    else sticks_out = middle;
  }
}

/* ---- the policies ---- */

enum { EVICTIONS = 6, MAKERS = EVICTIONS + POLICY_COUNT }; /* makers of plans: ways to evict everything, then the policies */

/* The plans of some makers for smaller and smaller devices, from `rung` of `rungs` down to what no plan can avoid, until one of
 * them can be laid out. */
static void lay_out_on_rungs(Packer *packer, int first_maker, int end_maker, int rung, int rungs, int64_t effort) {
  const Session *s = packer->session;
  int64_t low, high;
  session_device_range(s, &low, &high);
  const int64_t notch = (s->problem->device_bytes - low) / rungs;
  if (notch == 0 && rung > 0) rung = 0; /* they are all the same */
  for (; rung >= 0 && !is_laid_out(packer) && !search_is_late(s->search); rung--) {
    Arena *scratch = arena_new();
    Problem smaller = *s->problem;
    smaller.device_bytes = low + notch * rung;
    Session *small = session_new(&smaller, scratch, 0);
    packer->source = small->evaluator;
    Candidate *candidate = small->search->best;
    for (int i = first_maker; i < end_maker; i++) {
      if (i < EVICTIONS)
        policy_evict_all(small->evaluator, i, candidate);
      else
        policy_plan(small->evaluator, (Policy)(i - EVICTIONS), candidate);
      if (candidate->cost < COST_INVALID) try_candidate(packer, candidate, effort);
    }
    packer->source = packer->on_device;
    arena_free(scratch);
  }
}

/* A policy's own plan, or that for the largest smaller device that can be laid out, as --policy gives it, while it would be
 * faster than what there is. */
static void lay_out_faster_policy(Packer *packer, Policy policy, int64_t packing) {
  const Session *s = packer->session;
  int64_t low, high, before = packer->best.makespan_ns;
  session_device_range(s, &low, &high);
  const int64_t notch = (s->problem->device_bytes - low) / NOTCHES;
  const int stride = notch == 0 ? NOTCHES : session_is_large(s) ? NOTCHES / 8 : 1;
  for (int rung = NOTCHES; rung >= 0 && packer->best.makespan_ns == before && !search_is_late(s->search); rung -= stride) {
    Arena *scratch = arena_new();
    Problem smaller = *s->problem;
    if (rung < NOTCHES) smaller.device_bytes = low + notch * rung;
    Session *small = session_new(&smaller, scratch, 0);
    Candidate *candidate = small->search->best;
    policy_plan(small->evaluator, policy, candidate);
    bool is_faster = candidate->cost < before;
    packer->source = small->evaluator;
    if (is_faster) try_candidate(packer, candidate, session_is_large(s) ? 0 : rung == NOTCHES ? packing : packing / 16);
    packer->source = packer->on_device;
    arena_free(scratch);
    if (!is_faster) return;
  }
}

/* A plan that had to shrink for its addresses may be slower than a policy's: the fastest first. */
static void lay_out_faster_policies(Packer *packer, const int64_t *costs, int64_t packing) {
  bool is_tried[POLICY_COUNT] = {false};
  while (!search_is_late(packer->session->search)) {
    int next = -1;
    for (int policy = 0; policy < POLICY_COUNT; policy++)
      if (!is_tried[policy] && costs[policy] >= 0 && costs[policy] < packer->best.makespan_ns && (next < 0 || costs[policy] < costs[next]))
        next = policy;
    if (next < 0) return;
    is_tried[next] = true;
    lay_out_faster_policy(packer, (Policy)next, packing);
  }
}

/* The first plan found that can be laid out. */
static void lay_out_any(Packer *packer, const Budget *budget) {
  fill_around(packer, budget);
  if (!is_laid_out(packer)) go_down_quickly(packer, budget);
}

/* The fastest plan that can be laid out, whoever made it. */
static void lay_out_fastest(Packer *packer, Session *s, const Budget *budget, int64_t worth_ns, const int64_t *policy_ns, int64_t makespan) {
  int64_t excess = packer->best.layout->height_bytes - s->problem->device_bytes;
  if (session_is_large(s)) {
    if (!is_laid_out(packer)) fill_around(packer, budget);
    if (s->second && (!is_laid_out(packer) || packer->best.makespan_ns > s->second->cost) && !is_spent(packer, budget)) fill_around_second(packer, s, budget);
    bool is_searched = s->geometry->open_count <= SEARCHED_GAPS && s->labels > 0;
    if (!is_settled(packer, makespan + makespan / NEAR) && is_searched) go_down_by_halves(packer, budget, worth_ns, excess, makespan);
    if (!is_laid_out(packer)) go_down_quickly(packer, budget);
    lay_out_faster_policies(packer, policy_ns, budget->packing);
    return;
  }
  if (!is_settled(packer, makespan)) {
    search_laid_out(packer, s, budget);
    search_accept_all(s->search);
  }
  if (!is_settled(packer, makespan)) {
    const bool is_dear = settle_is_dear(s);
    if (is_dear) fill_around(packer, budget);
    if (is_dear && !is_settled(packer, makespan + makespan / NOTICED)) go_down_by_halves(packer, budget, worth_ns, excess, makespan);
    if (!is_dear) go_down(packer, budget, excess, makespan);
    if (!is_settled(packer, makespan)) search_laid_out(packer, s, budget);
    search_accept_all(s->search);
  }
  lay_out_faster_policies(packer, policy_ns, budget->packing);
}

Addresses *settle(Session *s, const Budget *budget, const PlannerOptions *options, const int64_t *policy_ns, Arena *arena) {
  const bool is_dear = settle_is_dear(s);
  Packer *packer = packer_new(s, arena);
  int64_t makespan = s->search->best->cost;
  try_candidate(packer, s->search->best, session_is_large(s) && options->policy < 0 ? 0 : budget->packing);
  if (options->policy >= 0) /* a plan of a policy stays one */
    lay_out_on_rungs(packer, EVICTIONS + options->policy, EVICTIONS + options->policy + 1, NOTCHES - 1, NOTCHES, budget->packing / 16);
  else if (!options->takes_any)
    lay_out_fastest(packer, s, budget, options->worth_ns, policy_ns, makespan);
  else if (is_dear && !is_laid_out(packer))
    lay_out_any(packer, budget);
  const bool has_other = is_dear && options->worth_ns > 0; /* somebody has a faster one */
  const int rungs = is_dear ? FEW_RUNGS : LAST_RUNGS;
  const int highest = options->takes_any && session_is_large(s) ? 1 : rungs; /* what needs least lies lowest, and any will do */
  if ((is_dear || !options->takes_any) && !has_other) lay_out_on_rungs(packer, 0, MAKERS, highest, rungs, budget->packing / 64); /* the last resort */
  Evaluator *e = s->evaluator;
  const Settled *best = &packer->best;
  candidate_copy(e, s->search->best, best->fates);
  candidate_build(e, best->fates);
  if (e->sequence->move_count) memcpy(e->sequence->moves, best->moves, (size_t)e->sequence->move_count * sizeof(PlanMove));
  evaluate_built(e);
  if (best->makespan_ns > makespan) s->is_optimal = false;
  return best->layout;
}
