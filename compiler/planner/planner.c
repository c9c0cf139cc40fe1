#define _POSIX_C_SOURCE 200809L

#include "planner.h"

#include "certificate.h"
#include "check.h"
#include "exact.h"
#include "label_dp.h"
#include "addresses.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* What an effort may spend. `units` are steps and moves gone over by the simulator: about 15 ns each. */
typedef struct Budget {
  int64_t units;
  int64_t exact_units;
  int64_t dp_labels;
  int ladder_rungs;
  int splits, rounds;
  int64_t packing;
} Budget;

static Budget budget_of(PlannerEffort effort) {
  switch (effort) {
    case PLANNER_FAST: return (Budget){4000000, 2000000, 400000, 0, 2, 20, 20000000};
    case PLANNER_BEST: return (Budget){170000000, 40000000, 1200000, 11, 6, 60, 400000000};
    default: return (Budget){7000000, 12000000, 1200000, 7, 4, 40, 40000000};
  }
}

enum { EXACT_GAPS = 32 };

typedef struct Session { /* planning of one problem at one device budget */
  const Problem *problem;
  const Geometry *geometry;
  Evaluator *evaluator;
  Search *search;
  Arena *arena;
  PlanCertificate certificate;
  int64_t lower_bound_ns, labels;
  bool is_optimal;
} Session;

void planner_default_options(PlannerOptions *options) {
  *options = (PlannerOptions){.effort = PLANNER_NORMAL, .policy = -1};
}

static double clock_s(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static Session *session_new(const Problem *problem, Arena *arena, double deadline) {
  Session *s = arena_alloc(arena, sizeof *s);
  s->problem = problem;
  s->arena = arena;
  s->geometry = geometry_make(problem, arena);
  s->evaluator = evaluator_new(arena, problem, s->geometry);
  s->search = search_new(arena, s->evaluator, s->geometry->stall_free_ns, deadline);
  return s;
}

/* The plans to fall back on, then the policies of others: never worse than any of them. */
static void try_policies(Session *s, int64_t *costs, double *first_plan_at) {
  Candidate *candidate = candidate_new(s->arena, s->evaluator);
  *first_plan_at = 0;
  for (int preference = 0; preference < 6; preference++) {
    if (s->search->best->cost < COST_INVALID && search_is_late(s->search)) break;
    policy_evict_all(s->evaluator, preference, candidate);
    search_offer(s->search, candidate);
    if (*first_plan_at == 0 && candidate->cost < COST_INVALID) *first_plan_at = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  }
  for (int policy = 0; policy < PLANNER_POLICY_COUNT; policy++) {
    costs[policy] = PLANNER_POLICY_NOT_TRIED;
    if (s->search->best->cost < COST_INVALID && search_is_late(s->search)) continue;
    policy_plan(s->evaluator, (PlannerPolicy)policy, candidate);
    costs[policy] = candidate->cost;
    search_offer(s->search, candidate);
  }
  if (*first_plan_at == 0) *first_plan_at = clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

/* Side gaps do not cover the centre of the DP: all of them retained, or all of them away. */
static bool set_sides(const Session *s, uint8_t *sides, bool are_away) {
  const Geometry *g = s->geometry;
  bool has_sides = false;
  geometry_stay(g, sides);
  for (int i = 0; i < g->open_count; i++) {
    const PlanGap *gap = &g->gaps[g->open[i]];
    if (gap->u < g->peak_step && g->peak_step < gap->v) continue;
    has_sides = true;
    for (int fate = PLAN_FATE_HOST; are_away && fate < PLAN_FATE_COUNT && sides[g->open[i]] == PLAN_FATE_RETAIN; fate++)
      if (gap->options & PLAN_FATE_BIT(fate)) sides[g->open[i]] = (uint8_t)fate;
  }
  return has_sides;
}

/* The DP with several prices of a byte: the certificate's price per byte is that of the whole problem, where a piece
 * that stays costs more than the fluid model sees. */
static void try_label_dp(Session *s, int64_t label_budget) {
  static const struct {
    double price;
    int reserved_pieces;
  } settings[] = {{0, 0}, {2, 2}, {3, 2}, {1, 0}};
  const Geometry *g = s->geometry;
  if (g->open_count == 0 || g->peak_step < 0) return;
  bool is_large = g->open_count > 64;
  int runs = is_large && s->certificate.kind == CERTIFICATE_DUAL ? 4 : 1;
  int64_t items = 1, largest = 0;
  for (int i = 0; i < g->open_count; i++)
    items += g->gaps[g->open[i]].u < g->peak_step && g->peak_step < g->gaps[g->open[i]].v;
  int64_t width = label_budget / items / runs;
  width = width < 64 ? 64 : width > 1024 ? 1024 : width;
  size_t gaps = (size_t)g->gap_count;
  uint8_t *proposals[LABEL_DP_PROPOSALS], *sides = arena_alloc(s->arena, gaps + 1);
  for (int i = 0; i < LABEL_DP_PROPOSALS; i++) proposals[i] = arena_alloc(s->arena, gaps + 1);
  int *variants = arena_alloc(s->arena, (size_t)s->problem->op_count * sizeof(int) + 1);
  for (int i = 0; i < g->open_count; i++) {
    int64_t bytes = s->problem->pieces[g->gaps[g->open[i]].piece].bytes;
    if (bytes > largest) largest = bytes;
  }
  for (int pass = 0; pass < 2; pass++) {
    bool has_sides = set_sides(s, sides, pass == 1);
    if (pass == 1 && !has_sides && s->search->choice_count == 0) break;
    if (pass == 1) memcpy(variants, s->search->best->variants, (size_t)s->problem->op_count * sizeof(int));
    for (int run = 0; run < (pass ? 1 : runs) && !search_is_done(s->search); run++) {
      LabelDpOptions options = {.width = (int)width, .device_price = settings[run].price * s->certificate.lam,
                                .host_price = s->certificate.mu, .reserve_bytes = settings[run].reserved_pieces * largest};
      int found = label_dp(s->problem, g, g->peak_step, sides, variants, &options, proposals, &s->labels);
      /* On large problems evaluations are dear, and the best labels are much alike. */
      if (g->open_count > 500 && found > 3) found = 3;
      for (int i = 0; i < found && !search_is_done(s->search); i++) search_try(s->search, proposals[i], variants);
    }
  }
}

static void try_prices(Session *s) {
  if (s->certificate.kind != CERTIFICATE_DUAL) return;
  uint8_t *fates = arena_alloc(s->arena, (size_t)s->geometry->gap_count + 1);
  geometry_stay(s->geometry, fates);
  certificate_round(s->problem, s->geometry, &s->certificate, fates);
  search_try(s->search, fates, s->search->best->variants);
}

static void improve(Session *s, int64_t units) {
  Search *search = s->search;
  search_local(search, units / 6);
  search_polish(search, units / 12);
  search_anneal(search, units / 2);
  search_local(search, units / 8);
  search_polish(search, units / 8);
}

static void run_session(Session *s, const Budget *budget, int64_t units) {
  Search *search = s->search;
  const Geometry *g = s->geometry;
  if (search_is_done(search)) return;
  s->lower_bound_ns = certificate_find(s->problem, g, budget->splits, budget->rounds, &s->certificate);
  if (s->lower_bound_ns > search->target_ns) search->target_ns = s->lower_bound_ns;
  try_label_dp(s, budget->dp_labels);
  if (search->best->cost <= search->target_ns) return;
  try_prices(s);
  if (search_is_done(search)) return;
  /* One policy an evaluation where evaluations are dear: the one that was best so far. */
  if (g->open_count > 300 && search->best->policies != PREFETCH_ALL) search->policies = search->best->policies;
  bool is_small = search->gap_count <= EXACT_GAPS;
  improve(s, is_small ? units / 3 : units); /* the exact search prunes by the best plan known */
  if (is_small && !search_is_done(search)) s->is_optimal = exact_search(search, budget->exact_units);
}

/* A plan whose g are legal on a smaller device keeps them: its prefetch policy might choose others here. */
static void fix_boundaries(Evaluator *e, Candidate *candidate) {
  if (candidate->is_polished) return;
  evaluate_candidate(e, candidate);
  candidate->is_polished = true;
  candidate->g_count = e->sequence->move_count;
  for (int i = 0; i < candidate->g_count; i++) candidate->g[i] = e->sequence->moves[i].g;
}

/* Plan for a smaller device; `carried` is the best plan of the rungs below, then of this one. */
static void climb_rung(Session *s, int64_t device_bytes, const Budget *budget, Candidate *carried) {
  Arena *arena = arena_new();
  Problem smaller = *s->problem;
  smaller.device_bytes = device_bytes;
  Session *small = session_new(&smaller, arena, s->search->deadline);
  if (carried->cost < COST_INVALID) search_offer_again(small->search, carried);
  Candidate *candidate = candidate_new(arena, small->evaluator);
  for (int preference = 0; preference < 2; preference++) {
    policy_evict_all(small->evaluator, preference, candidate);
    search_offer(small->search, candidate);
  }
  run_session(small, budget, budget->units);
  if (small->search->best->cost < COST_INVALID) {
    candidate_copy(small->evaluator, carried, small->search->best);
    fix_boundaries(small->evaluator, carried);
    carried->cost = evaluate_candidate(s->evaluator, carried);
    search_offer(s->search, carried);
    search_try(s->search, carried->fates, carried->variants);
  }
  s->labels += small->labels;
  s->evaluator->evaluations += small->evaluator->evaluations;
  if (small->search->is_cut_short) s->search->is_cut_short = true;
  arena_free(arena);
}

static void range_of_devices(const Session *s, int64_t *low, int64_t *high) {
  const Geometry *g = s->geometry;
  *low = *high = 0;
  for (int t = 0; t < s->problem->step_count; t++) {
    if (g->base_bytes[t] > *low) *low = g->base_bytes[t];
    if (g->retain_bytes[t] > *high) *high = g->retain_bytes[t];
  }
}

/* Plans for smaller devices fit this one too. The rungs do not depend on the device of this problem, so a larger
 * device has at least the rungs of a smaller one. */
static void climb_ladder(Session *s, const Budget *budget) {
  int64_t low, high;
  range_of_devices(s, &low, &high);
  if (budget->ladder_rungs == 0) return;
  int rungs = budget->ladder_rungs;
  Budget rung_budget = *budget;
  rung_budget.units /= 2 * rungs;
  rung_budget.dp_labels /= 2 * rungs;
  rung_budget.exact_units /= 4 * rungs;
  rung_budget.splits = 1;
  Candidate *carried = candidate_new(s->arena, s->evaluator);
  for (int rung = 1; rung <= rungs; rung++) {
    int64_t device = low + (high - low) / (rungs + 1) * rung;
    if (device >= s->problem->device_bytes || search_is_done(s->search)) break;
    climb_rung(s, device, &rung_budget, carried);
  }
  if (!search_is_done(s->search)) improve(s, budget->units / 4);
}

/* Where evaluations are cheap and nothing is proved: plans for devices a little smaller than this one, nearer and nearer,
 * and annealing that goes on from what they gave. */
static void look_around(Session *s, const Budget *budget) {
  enum { NEIGHBOURS = 5, MOST_GAPS = 128 };
  int64_t low, high, device = s->problem->device_bytes;
  range_of_devices(s, &low, &high);
  if (budget->ladder_rungs == 0 || s->search->gap_count > MOST_GAPS) return;
  Budget rung_budget = *budget;
  rung_budget.units /= 10;
  rung_budget.dp_labels /= 32;
  rung_budget.exact_units /= 20;
  rung_budget.splits = 1;
  Candidate *carried = candidate_new(s->arena, s->evaluator);
  for (int i = 0; i < NEIGHBOURS && !search_is_done(s->search); i++) {
    climb_rung(s, device - ((device - low) >> (i + 2)), &rung_budget, carried);
    if (!search_is_done(s->search)) improve(s, budget->units / 16);
  }
}

/* ---- infeasible ---- */

/* Any plan at all, whatever it takes; where the problem is small the exact search makes sure that there is none. */
static bool find_any(const Problem *problem, const Evaluator *to, Candidate *found) {
  Arena *arena = arena_new();
  Session *s = session_new(problem, arena, 0);
  Candidate *candidate = candidate_new(arena, s->evaluator);
  s->search->target_ns = COST_INVALID - 1;
  for (int preference = 0; preference < 6 && !search_is_done(s->search); preference++) {
    policy_evict_all(s->evaluator, preference, candidate);
    search_offer(s->search, candidate);
  }
  static const PlannerPolicy others[] = {PLANNER_POLICY_KEEP, PLANNER_POLICY_RECOMPUTE, PLANNER_POLICY_CHECKPOINT, PLANNER_POLICY_DTR, PLANNER_POLICY_CAPUCHIN};
  for (int i = 0; i < 5 && !search_is_done(s->search); i++) {
    policy_plan(s->evaluator, others[i], candidate);
    search_offer(s->search, candidate);
  }
  if (!search_is_done(s->search) && s->search->gap_count) search_local(s->search, 1000000);
  if (!search_is_done(s->search) && s->search->gap_count <= EXACT_GAPS) exact_search(s->search, 2000000);
  bool ok = search_is_done(s->search);
  if (ok && found) candidate_copy(to, found, s->search->best);
  arena_free(arena);
  return ok;
}

static bool fits_somehow(const Problem *problem) {
  return find_any(problem, NULL, NULL);
}

typedef enum Tier { TIER_DEVICE, TIER_HOST, TIER_SSD } Tier;

/* The least size of one tier with which a plan is found, the others as they are; -1 when no size helps. */
static int64_t least_size(const Problem *problem, Tier tier, int64_t low, int64_t high) {
  Problem changed = *problem;
  int64_t *size = tier == TIER_DEVICE ? &changed.device_bytes : tier == TIER_HOST ? &changed.host_bytes : &changed.ssd_bytes;
  *size = high;
  if (!fits_somehow(&changed)) return -1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    *size = middle;
    if (fits_somehow(&changed))
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

static void name_piece(const Problem *p, int x, PlannerReport *report, size_t *used) {
  const ProblemPiece *piece = &p->pieces[x];
  size_t room = sizeof report->bind_pieces - *used;
  if (room < 80) return;
  int n = snprintf(report->bind_pieces + *used, room, "%s%.40s[%d] %lld", *used ? ", " : "", p->data[piece->datum].id,
                   piece->chunk, (long long)piece->bytes);
  if (n > 0) *used += (size_t)n;
}

static void explain_infeasible(const Session *s, PlannerReport *report) {
  const Problem *p = s->problem;
  const Geometry *g = s->geometry;
  int bind = 0;
  int64_t all = 0, most = 0;
  for (int t = 0; t < p->step_count; t++) {
    if (g->base_bytes[t] > g->base_bytes[bind]) bind = t;
    if (g->retain_bytes[t] > most) most = g->retain_bytes[t];
  }
  for (int x = 0; x < p->piece_count; x++) all += p->pieces[x].bytes;
  int64_t host_work = 0;
  for (int op = 0; op < p->op_count; op++)
    for (int v = 0; v < p->ops[op].variant_count; v++) host_work += p->ops[op].chunks * p->ops[op].variants[v].host_work_bytes;
  report->least_device_bytes = least_size(p, TIER_DEVICE, g->base_bytes[bind], most);
  report->least_host_bytes = least_size(p, TIER_HOST, p->host_bytes, all + host_work + p->host_bytes);
  report->least_ssd_bytes = least_size(p, TIER_SSD, p->ssd_bytes, all + p->ssd_bytes);
  report->bind_step = bind;
  report->bind_bytes = g->base_bytes[bind];
  size_t used = 0;
  Sequence *q = s->evaluator->sequence;
  bool is_simulated = g->base_bytes[bind] <= p->device_bytes && s->search->best->cost < COST_ILLEGAL &&
                      sequence_build(q, s->search->best->fates, s->search->best->variants);
  int fail = -1;
  if (is_simulated && !simulate(s->evaluator->simulation, q)) fail = s->evaluator->simulation->fail_step;
  if (fail >= 0) { /* every step fits alone: what the plan that came nearest has on the device where it fails */
    report->bind_step = q->base[fail];
    report->bind_bytes = q->need_bytes[fail];
    for (int i = 0; i < q->stay_count; i++)
      if (q->stays[i].from <= fail && fail <= q->stays[i].until) name_piece(p, q->stays[i].piece, report, &used);
    return;
  }
  for (int i = g->access_first[bind]; i < g->access_first[bind + 1]; i++) name_piece(p, g->access[i], report, &used);
}

/* ---- the result ---- */

static void fill_report(const Session *s, PlannerReport *report) {
  const Sequence *q = s->evaluator->sequence;
  const Simulation *m = s->evaluator->simulation;
  const Geometry *g = s->geometry;
  report->is_feasible = true;
  report->makespan_ns = m->makespan_ns;
  report->peak_bytes = m->peak_bytes;
  report->compute_ns = m->compute_ns;
  for (int t = 0; t < q->count; t++)
    if (q->rerun[t] >= 0) report->rerun_ns += q->compute_ns[t];
  for (int c = 0; c < s->problem->channel_count; c++) report->busy_ns[c] = m->busy_ns[c];
  for (int i = 0; i < g->open_count; i++)
    report->gap_bytes[s->search->best->fates[g->open[i]]] += s->problem->pieces[g->gaps[g->open[i]].piece].bytes;
  report->extended_step_count = q->count;
  report->host_peak_bytes = q->host_peak_bytes;
  report->ssd_peak_bytes = q->ssd_peak_bytes;
}

/* Candidates for a smaller device, best first: the plan as it is, the plan mended, the policies. */
static void seed_smaller(Session *small, const Candidate *best, int64_t units, int64_t makespan) {
  Arena *arena = small->arena;
  search_offer_again(small->search, best);
  search_try(small->search, best->fates, best->variants);
  if (small->search->best->cost <= makespan) return;
  search_local(small->search, units);
  Candidate *candidate = candidate_new(arena, small->evaluator);
  for (int policy = 0; policy < PLANNER_POLICY_COUNT && !search_is_done(small->search); policy++) {
    policy_plan(small->evaluator, (PlannerPolicy)policy, candidate);
    search_offer(small->search, candidate);
  }
}

/* Take over the g and f of a plan for a smaller device: its releases, written down as f, hold on the larger one too. */
static bool adopt(Session *s, Session *small) {
  Candidate *found = small->search->best;
  if (found->cost >= COST_INVALID) return false;
  evaluate_candidate(small->evaluator, found);
  addresses_tighten(small->evaluator);
  const Sequence *from = small->evaluator->sequence;
  Sequence *to = s->evaluator->sequence;
  if (!sequence_build(to, found->fates, found->variants)) return false;
  for (int i = 0; i < from->move_count; i++) {
    to->moves[i].g = from->moves[i].g;
    to->moves[i].f = from->moves[i].f;
  }
  return evaluate_built(s->evaluator) < COST_INVALID;
}

/* Plan for a smaller device: less memory is easier to lay out. `makespan`: the time to reach, `fates` where the plan
 * begins and ends. The evaluator is left at the plan; false when there is none. */
static bool replan_smaller(Session *s, const Budget *budget, int64_t device_bytes, int64_t makespan, Candidate *fates) {
  if (device_bytes < 0) return false;
  Arena *arena = arena_new();
  Problem smaller = *s->problem;
  smaller.device_bytes = device_bytes;
  Session *small = session_new(&smaller, arena, s->search->deadline);
  small->search->target_ns = makespan;
  seed_smaller(small, fates, budget->units / 16, makespan);
  Budget reduced = *budget;
  if (s->geometry->open_count <= 1000) reduced.dp_labels /= 4; /* with few labels a large DP finds nothing */
  reduced.exact_units /= 4;
  reduced.splits = 1;
  if (!search_is_done(small->search)) run_session(small, &reduced, budget->units / 8);
  bool is_good = adopt(s, small);
  if (is_good) candidate_copy(s->evaluator, fates, small->search->best);
  s->evaluator->evaluations += small->evaluator->evaluations;
  arena_free(arena);
  return is_good;
}

typedef struct Settled { /* a plan with its addresses */
  Candidate *fates;
  PlanMove *moves;
  Addresses *layout;
  int64_t makespan_ns;
} Settled;

/* Lay out the evaluator's plan and take it if it beats the one so far: with addresses before without, then the faster,
 * then plain offsets before pages. */
static Addresses *lay_out(Session *s, const Budget *budget, const Candidate *fates, Settled *best, Arena *arena) {
  const Sequence *q = s->evaluator->sequence;
  int64_t makespan = s->evaluator->simulation->makespan_ns;
  Addresses *layout = addresses_intervals(s->evaluator, arena);
  addresses_pack(layout, s->problem->device_bytes, budget->packing, arena);
  if (best->layout) {
    bool is_laid = layout->kind != ADDRESSES_NONE, was_laid = best->layout->kind != ADDRESSES_NONE;
    if (is_laid != was_laid ? was_laid : makespan > best->makespan_ns) return layout;
    if (is_laid == was_laid && makespan == best->makespan_ns && layout->kind >= best->layout->kind) return layout;
  }
  best->layout = layout;
  best->makespan_ns = makespan;
  candidate_copy(s->evaluator, best->fates, fates);
  if (q->move_count) memcpy(best->moves, q->moves, (size_t)q->move_count * sizeof *best->moves);
  return layout;
}

/* A plan that had to shrink for its addresses may be slower than a policy's that need not: those are laid out too, the
 * fastest first, until one has addresses. */
static void lay_out_faster_policies(Session *s, const Budget *budget, const int64_t *costs, Settled *best, Arena *arena) {
  Candidate *candidate = candidate_new(s->arena, s->evaluator);
  bool is_tried[PLANNER_POLICY_COUNT] = {false};
  while (!search_is_late(s->search)) {
    int next = -1;
    for (int policy = 0; policy < PLANNER_POLICY_COUNT; policy++)
      if (!is_tried[policy] && costs[policy] >= 0 && costs[policy] < best->makespan_ns && (next < 0 || costs[policy] < costs[next]))
        next = policy;
    if (next < 0) return;
    is_tried[next] = true;
    policy_plan(s->evaluator, (PlannerPolicy)next, candidate);
    if (evaluate_candidate(s->evaluator, candidate) >= COST_INVALID) continue;
    addresses_tighten(s->evaluator);
    lay_out(s, budget, candidate, best, arena);
  }
}

/* The last resort: the policies' plans for smaller and smaller devices, down to what no plan can avoid, until one of
 * them can be laid out. */
static void lay_out_policies(Session *s, const Budget *budget, Settled *best, Arena *arena) {
  enum { RUNGS = 32 };
  int64_t low, high;
  range_of_devices(s, &low, &high);
  for (int rung = RUNGS; rung >= 0 && best->layout->kind == ADDRESSES_NONE && !search_is_late(s->search); rung--) {
    Arena *scratch = arena_new();
    Problem smaller = *s->problem;
    smaller.device_bytes = low + (s->problem->device_bytes - low) / RUNGS * rung;
    Session *small = session_new(&smaller, scratch, 0);
    for (int i = 0; i < 6 + PLANNER_POLICY_COUNT; i++) {
      Candidate *candidate = small->search->best;
      if (i < 6)
        policy_evict_all(small->evaluator, i, candidate);
      else
        policy_plan(small->evaluator, (PlannerPolicy)(i - 6), candidate);
      if (adopt(s, small)) lay_out(s, budget, candidate, best, arena);
    }
    arena_free(scratch);
  }
}

/* Simulate the best candidate, tighten it and give it addresses; the evaluator is left at the plan. While there are no
 * plain offsets, plans for smaller devices are tried, by bisection over what is taken away. `policy_ns`: what the plans
 * of the policies take, NULL to leave them out. */
static Addresses *settle(Session *s, const Budget *budget, const int64_t *policy_ns, Arena *arena) {
  Evaluator *e = s->evaluator;
  int64_t device = s->problem->device_bytes, makespan = s->search->best->cost;
  bool is_large = s->geometry->open_count > 3000;
  Settled best = {.fates = candidate_new(s->arena, e), .moves = arena_alloc(s->arena, (size_t)e->sequence->move_limit * sizeof(PlanMove) + 1)};
  Candidate *fates = candidate_new(s->arena, e);
  evaluate_candidate(e, s->search->best);
  addresses_tighten(e);
  Addresses *layout = lay_out(s, budget, s->search->best, &best, arena);
  int64_t enough = -1, too_little = 0, less = layout->height_bytes - device;
  int64_t rounding = addresses_page_excess(layout, device);
  if (layout->kind == ADDRESSES_NONE && rounding < less) less = rounding;
  Budget packing = *budget; /* the attempts share what the first one had */
  int64_t low, high;
  range_of_devices(s, &low, &high);
  int64_t notch = (high - low) / 32 + 1;
  int attempts = is_large ? 2 : s->geometry->open_count > 64 ? 6 : 14;
  packing.packing /= attempts;
  for (int attempt = 0; attempt < attempts; attempt++) {
    bool is_done = best.layout->kind == ADDRESSES_OFFSETS && best.makespan_ns <= makespan;
    bool is_enough = best.layout->kind != ADDRESSES_NONE && (attempt >= attempts - 2 || is_large);
    if (is_done || is_enough || search_is_late(s->search)) break;
    candidate_copy(e, fates, s->search->best);
    bool is_planned = replan_smaller(s, budget, device - less, makespan, fates);
    bool is_slow = !is_planned || (best.layout->kind != ADDRESSES_NONE && e->simulation->makespan_ns > best.makespan_ns);
    if (!is_slow) layout = lay_out(s, &packing, fates, &best, arena);
    if (is_slow || layout->kind == ADDRESSES_OFFSETS || (layout->kind == ADDRESSES_PAGES && e->simulation->makespan_ns > makespan))
      enough = less;
    else
      too_little = less;
    if (attempt >= 5) { /* no order in what packs: down a fixed ladder, which larger devices go down as well */
      int64_t rung = (device - low) / notch - (attempt - 5);
      less = device - low - rung * notch;
      if (rung < 0) break;
      continue;
    }
    if (enough >= 0 && enough - too_little <= 1) attempt = 5;
    less = enough >= 0 ? too_little + (enough - too_little) / 2 : 2 * less + (layout->height_bytes > device ? layout->height_bytes - device : 0);
  }
  if (policy_ns) lay_out_faster_policies(s, budget, policy_ns, &best, arena);
  packing.packing = budget->packing / 64;
  lay_out_policies(s, &packing, &best, arena);
  candidate_copy(e, s->search->best, best.fates);
  sequence_build(e->sequence, best.fates->fates, best.fates->variants);
  if (e->sequence->move_count) memcpy(e->sequence->moves, best.moves, (size_t)e->sequence->move_count * sizeof *best.moves);
  evaluate_built(e);
  if (best.makespan_ns > makespan) s->is_optimal = false;
  return best.layout;
}

static PlannerPlan *make_plan(Session *s, const PlannerOptions *options, const Budget *budget, Arena *arena,
                       PlannerReport *report) {
  static const char *const efforts[] = {"fast", "normal", "best"};
  if (evaluate_candidate(s->evaluator, s->search->best) >= COST_INVALID) return NULL;
  Addresses *layout = settle(s, budget, options->policy < 0 ? report->policy_ns : NULL, arena);
  fill_report(s, report);
  const Sequence *q = s->evaluator->sequence;
  PlannerPlan *plan = arena_alloc(arena, sizeof *plan);
  *plan = (PlannerPlan){.problem = s->problem, .makespan_ns = report->makespan_ns, .peak_bytes = report->peak_bytes,
                 .lower_bound_ns = s->lower_bound_ns, .certificate = s->certificate, .effort = efforts[options->effort],
                 .is_cut_short = s->search->is_cut_short, .intervals = layout->intervals,
                 .interval_count = layout->kind == ADDRESSES_NONE ? 0 : layout->count, .page_bytes = layout->page_bytes, .ranges = layout->ranges,
                 .range_count = layout->range_count};
  plan->variant = arena_alloc(arena, (size_t)s->problem->op_count * sizeof(int) + 1);
  memcpy(plan->variant, q->variant, (size_t)s->problem->op_count * sizeof(int));
  for (int i = 0; i < q->rerun_count; i++) ARENA_PUSH(arena, plan->reruns, plan->rerun_count, q->reruns[i]);
  for (int i = 0; i < q->out_count; i++) ARENA_PUSH(arena, plan->outs, plan->out_count, q->outs[i]);
  for (int i = 0; i < q->move_count; i++) ARENA_PUSH(arena, plan->moves, plan->move_count, q->moves[i]);
  report->load_bytes = layout->load_bytes;
  report->height_bytes = layout->height_bytes;
  report->page_bytes = layout->page_bytes;
  report->has_addresses = layout->kind != ADDRESSES_NONE;
  return plan;
}

PlannerPlan *planner_plan_checked(const char *text, size_t length, const Problem *problem, const PlannerOptions *options,
                                  Arena *arena, PlannerReport *report, PlannerText *plan_text) {
  PlannerPlan *plan = planner_plan(problem, options, arena, report);
  *plan_text = (PlannerText){0};
  if (!plan) return NULL;
  plan_text->text = plan_write_json(plan, arena, &plan_text->length);
  plan_text->is_valid = planner_check_json(text, length, plan_text->text, plan_text->length, NULL, NULL) == PLANNER_CHECK_VALID;
  return plan_text->is_valid ? plan : NULL;
}

PlannerPlan *planner_plan(const Problem *problem, const PlannerOptions *options, Arena *arena, PlannerReport *report) {
  double begin = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  double deadline = options->time_limit_s > 0 ? clock_s(CLOCK_MONOTONIC) + options->time_limit_s : 0;
  Budget budget = budget_of(options->effort);
  Arena *scratch = arena_new();
  Session *s = session_new(problem, scratch, deadline);
  *report = (PlannerReport){.stall_free_ns = s->geometry->stall_free_ns, .gap_count = s->geometry->gap_count,
                            .open_count = s->geometry->open_count, .step_count = problem->step_count};
  report->busy_ns = arena_alloc(arena, (size_t)problem->channel_count * sizeof(int64_t));
  s->lower_bound_ns = s->geometry->stall_free_ns;
  s->certificate.kind = CERTIFICATE_STALL_FREE;
  if (options->policy >= 0) {
    policy_plan(s->evaluator, (PlannerPolicy)options->policy, s->search->best);
    report->policy_ns[options->policy] = s->search->best->cost;
    s->lower_bound_ns = certificate_find(problem, s->geometry, budget.splits, budget.rounds, &s->certificate);
  } else {
    try_policies(s, report->policy_ns, &report->first_plan_s);
    report->first_plan_s -= begin;
    for (int effort = PLANNER_FAST; effort <= (int)options->effort && !s->is_optimal; effort++) {
      Budget stage = budget_of((PlannerEffort)effort); /* more effort begins where less ended: it is never worse */
      /* There the best effort would come near ten seconds. */
      bool is_shortened = s->geometry->open_count > 3000 && effort == PLANNER_BEST;
      run_session(s, &stage, is_shortened ? stage.units * 2 / 5 : stage.units);
    }
    Candidate *any = candidate_new(scratch, s->evaluator);
    if (s->search->best->cost >= COST_INVALID && !search_is_late(s->search) && find_any(problem, s->evaluator, any)) search_offer_again(s->search, any);
    if (!s->is_optimal && s->search->best->cost < COST_INVALID) {
      climb_ladder(s, &budget);
      look_around(s, &budget);
    }
  }
  PlannerPlan *plan = s->search->best->cost < COST_INVALID ? make_plan(s, options, &budget, arena, report) : NULL;
  report->lower_bound_ns = s->lower_bound_ns;
  report->is_optimal = plan && (s->is_optimal || report->makespan_ns <= s->lower_bound_ns);
  report->labels = s->labels;
  report->evaluations = s->evaluator->evaluations;
  if (!plan) explain_infeasible(s, report);
  arena_free(scratch);
  report->total_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - begin;
  return plan;
}
