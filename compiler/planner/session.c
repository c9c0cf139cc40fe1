#define _POSIX_C_SOURCE 200809L

#include "session.h"

#include <string.h>

#include "exact.h"
#include "filling.h"
#include "label_dp.h"
#include "revolve.h"
#include "compiler/base/clock.h"

enum { LARGE_GAPS = 2000, VERY_MANY = 40000, MOST_CUTS = 64, MORE_CUTS = 128, MOST_DP_GAPS = 15000, WINDOW_ROUNDS = 2500, PATIENCE = 40, MORE_ROUNDS = 6000, MORE_PATIENCE = 100, FINAL_WORK = 60000000, FINAL_ROUNDS = 20000, FINAL_PATIENCE = 330, FEWEST_ROUNDS = 256 };

static bool are_very_many(const Session *s) { return s->geometry->open_count > VERY_MANY; }

bool session_is_large(const Session *s) { return s->geometry->open_count > LARGE_GAPS; }

Budget budget_of(PlannerEffort effort) {
  switch (effort) {
    case PLANNER_FAST: return (Budget){4000000, 2000000, 400000, 0, 2, 20, 20000000, 1200000, 0, 4};
    case PLANNER_BEST: return (Budget){100000000, 40000000, 1200000, 11, 6, 60, 120000000, INT64_MAX, 40000000, 1};
    case PLANNER_NORMAL: break;
  }
  return (Budget){7000000, 7500000, 1200000, 7, 4, 40, 40000000, 6000000, 4000000, 1};
}

Session *session_new(const Problem *problem, Arena *arena, double deadline) {
  Session *s = arena_alloc(arena, sizeof *s);
  s->problem = problem;
  s->arena = arena;
  s->geometry = geometry_make(problem, arena);
  s->evaluator = evaluator_new(arena, problem, s->geometry);
  s->filling = (FillOptions){.rerun_price = 1};
  s->filling_ns = INT64_MAX;
  s->search = search_new(arena, s->evaluator, s->geometry->stall_free_ns, deadline);
  return s;
}

void session_try_policies(Session *s, int64_t *costs, double *first_plan_at) {
  Candidate *candidate = candidate_new(s->arena, s->evaluator);
  *first_plan_at = 0;
  for (int preference = 0; preference < 6; preference++) {
    if (s->search->best->cost < COST_INVALID && search_is_late(s->search)) break;
    policy_evict_all(s->evaluator, preference, candidate);
    search_offer(s->search, candidate);
    if (*first_plan_at == 0 && candidate->cost < COST_INVALID) *first_plan_at = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  }
  for (int policy = 0; policy < POLICY_COUNT; policy++) {
    costs[policy] = POLICY_NOT_TRIED;
    if (s->search->best->cost < COST_INVALID && search_is_late(s->search)) continue;
    policy_plan(s->evaluator, (Policy)policy, candidate);
    costs[policy] = candidate->cost;
    search_offer(s->search, candidate);
  }
  if (*first_plan_at == 0) *first_plan_at = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- fillings ---- */

static int64_t try_filling(Session *s, Filler *filler, const FillOptions *options, Candidate *scratch) {
  fill(filler, options, scratch);
  int64_t cost = search_try_candidate(s->search, scratch);
  if (cost >= s->filling_ns) return cost;
  s->filling_ns = cost;
  s->filling = *options;
  return cost;
}

/* With as much room for copies as the options say, with half and with half as much again. */
static void try_near(Session *s, Filler *filler, FillOptions options, Candidate *scratch) {
  static const double reserves[] = {1, 0.5, 1.5}, others[] = {0, 0.05, 0.1};
  const double reserve = options.reserve;
  for (int turn = 0; turn < 3 && !search_is_done(s->search); turn++) {
    options.reserve = reserve > 0 ? reserve * reserves[turn] : others[turn];
    try_filling(s, filler, &options, scratch);
  }
}

/* Parts that gather from the same ones follow each other, or have steps of others between them. */
enum { SHARED_STEPS = 8 };

/* More or less room for copies, a higher or lower price of making again, what is made again is shared by those that read it, stays or leaves: one after the other, from the best so far. */
static void try_turns(Session *s, Filler *filler, const Windows *windows) {
  static const struct {
    double reserve, rerun_price; /* -1: of the best so far */
    int shared_steps;
    bool is_canonical, is_for_many;
  } turns[] = {{0.2, -1, -1, false, true}, {0.1, -1, -1, false, true}, {-1, -1, SHARED_STEPS, false, true}, {0.3, -1, -1, false, true}, {0.05, -1, -1, false, true}, {0.45, -1, -1, false, false}, {0, -1, -1, false, false},
               {-1, 0.3, -1, false, false}, {-1, 3, -1, false, true}, {-1, 1e9, -1, false, true}, {-1, -1, 8 * SHARED_STEPS, false, false}, {-1, -1, -1, true, false}};
  Candidate *scratch = candidate_new(s->arena, s->evaluator);
  FillOptions best = {.rerun_price = 1, .windows = windows};
  int64_t least = INT64_MAX;
  if (are_very_many(s) && windows) { /* what was best without them is near what is best with them */
    best = s->filling;
    best.windows = windows;
    try_near(s, filler, best, scratch);
    return;
  }
  for (size_t turn = 0; turn < sizeof turns / sizeof *turns && !search_is_done(s->search); turn++) {
    FillOptions options = best;
    if (are_very_many(s) && !turns[turn].is_for_many) continue;
    if (turns[turn].reserve >= 0) options.reserve = turns[turn].reserve;
    if (turns[turn].rerun_price >= 0) options.rerun_price = turns[turn].rerun_price;
    if (turns[turn].shared_steps >= 0) options.shared_steps = turns[turn].shared_steps;
    options.is_canonical = turns[turn].is_canonical;
    int64_t cost = try_filling(s, filler, &options, scratch);
    if (cost >= least) continue;
    least = cost;
    best = options;
  }
}

void session_try_fillings(Session *s, const Windows *windows) {
  if (s->geometry->open_count < 2) return;
  Filler *filler = filler_open(s->evaluator);
  try_turns(s, filler, windows);
  filler_close(filler);
}

/* The fates at which the bound without re-runs is met, or one at which they cost what they are estimated to, filled up, with more or less room for copies. The bound takes what is
 * made again to need nothing else, so that fates at which it is met otherwise are no plan. */
static void try_fates_of_windows(Session *s, WindowsReruns reruns, int64_t units) {
  static const double reserves[] = {0.05, 0.1, 0.2, 0};
  const Geometry *g = s->geometry;
  const bool is_estimated = reruns == RERUNS_ESTIMATED;
  const int turns = are_very_many(s) || is_estimated ? 2 : 4;
  int64_t known = s->search->best->cost;
  Windows *windows = windows_new(s->arena, s->problem, g, MOST_CUTS, reruns);
  if (!windows) return;
  Candidate *like = candidate_new(s->arena, s->evaluator), *scratch = candidate_new(s->arena, s->evaluator), *known_best = candidate_new(s->arena, s->evaluator);
  candidate_copy(s->evaluator, known_best, s->search->best);
  windows_raise(windows, known, is_estimated ? WINDOW_ROUNDS / 3 : WINDOW_ROUNDS, PATIENCE);
  geometry_stay(g, like->fates);
  windows_fates(windows, like->fates);
  like->is_canonical = false;
  like->shared_steps = is_estimated ? SHARED_STEPS : 0;
  for (int i = 0; i < g->gap_count; i++) like->keep_from[i] = g->gaps[i].v;
  Filler *filler = filler_open(s->evaluator);
  FillOptions options = {.rerun_price = 1, .windows = windows, .like = like, .fills_up = is_estimated};
  for (int turn = 0; turn < turns && !search_is_done(s->search); turn++) {
    options.reserve = reserves[turn];
    fill(filler, &options, scratch);
    search_try_candidate(s->search, scratch);
  }
  filler_close(filler);
  if (s->search->best->cost >= known) return;
  if (!s->second) s->second = known_best; /* that without the bound is laid out most easily */
  search_local(s->search, units);
}

void session_fill_again(Session *s, const Session *before, int64_t units) {
  Candidate *scratch = candidate_new(s->arena, s->evaluator);
  FillOptions options = before->filling;
  options.like = before->search->best;
  Filler *filler = filler_open(s->evaluator);
  for (int turn = 0; turn < (are_very_many(s) ? 1 : 2); turn++) {
    options.reserve = 0.05 * turn;
    fill(filler, &options, scratch);
    search_try_candidate(s->search, scratch);
  }
  try_near(s, filler, before->filling, scratch);
  filler_close(filler);
  if (s->search->best->cost >= COST_INVALID) session_try_fillings(s, NULL);
  if (s->search->best->policies != PREFETCH_ALL) s->search->policies = s->search->best->policies;
  search_local(s->search, units);
}

/* Nothing stays: what can be made again is, each time it is needed. The plans of the least memory. */
static void try_nothing_kept(Session *s) {
  const Geometry *g = s->geometry;
  Candidate *candidate = candidate_new(s->arena, s->evaluator);
  for (int preference = 0; preference < 6 && !search_is_done(s->search); preference++) {
    policy_evict_all(s->evaluator, preference, candidate);
    memset(candidate->keep_from, 0, (size_t)g->gap_count * sizeof *candidate->keep_from);
    for (int i = 0; i < g->open_count; i++) candidate->keep_from[g->open[i]] = g->gaps[g->open[i]].v;
    search_try(s->search, candidate->fates, (RemadeStays){candidate->keep_from, 0}, candidate->variants);
  }
}

/* With the most room for what stays that is left in truth; what cannot be made again stays, or is away. */
void session_try_revolve(Session *s) {
  const Geometry *g = s->geometry;
  if (s->search->best->cost >= COST_INVALID) try_nothing_kept(s);
  Arena *arena = arena_new();
  const Revolve *revolve = revolve_new(arena, s->problem, g);
  uint8_t *fates = arena_alloc(arena, (size_t)g->gap_count + 1);
  int *keep_from = arena_alloc(arena, (size_t)(g->gap_count + 1) * sizeof *keep_from);
  for (int pass = 0; pass < 2 && revolve; pass++) {
    geometry_stay(g, fates);
    for (int i = 0; i < g->open_count && pass == 1; i++)
      for (int fate = FATE_SSD; fate > FATE_KEEP; fate--)
        if (g->gaps[g->open[i]].options & FATE_BIT(fate)) fates[g->open[i]] = (uint8_t)fate;
    int64_t cost = COST_INVALID;
    for (int level = revolve_levels(revolve); level >= 0 && cost >= COST_INVALID && !search_is_done(s->search); level--)
      if (revolve_propose(revolve, level, fates, keep_from)) cost = search_try(s->search, fates, (RemadeStays){keep_from, 0}, s->search->best->variants);
  }
  arena_free(arena);
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
    for (int fate = FATE_HOST; are_away && fate < FATE_COUNT && sides[g->open[i]] == FATE_KEEP; fate++)
      if (gap->options & FATE_BIT(fate)) sides[g->open[i]] = (uint8_t)fate;
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
      for (int i = 0; i < found && !search_is_done(s->search); i++) search_try(s->search, proposals[i], (RemadeStays){0}, variants);
    }
  }
}

static void try_prices(Session *s) {
  if (s->certificate.kind != CERTIFICATE_DUAL) return;
  uint8_t *fates = arena_alloc(s->arena, (size_t)s->geometry->gap_count + 1);
  geometry_stay(s->geometry, fates);
  certificate_round(s->problem, s->geometry, &s->certificate, fates);
  search_try(s->search, fates, (RemadeStays){0}, s->search->best->variants);
}

static void improve(Session *s, int64_t units) {
  Search *search = s->search;
  search_local(search, units / 6);
  search_polish(search, units / 12);
  search_anneal(search, units / 4, 0.1); /* out of where it is, */
  search_anneal(search, units / 4, 0.05); /* then around the best */
  search_local(search, units / 8);
  search_polish(search, units / 8);
  exact_windows(search, units / 8);
}

bool session_improve(Session *s, int64_t units, int64_t exact_units) {
  bool is_small = s->search->gap_count <= SESSION_EXACT_GAPS;
  improve(s, is_small ? units / 3 : units); /* the exact search prunes by the best plan known */
  return is_small && exact_units > 0 && !search_is_done(s->search) && exact_search(s->search, exact_units) && s->search->best->is_canonical && !s->search->best->shared_steps;
}

static void take_bound(Session *s, const Windows *windows, int64_t bound) {
  if (bound <= s->lower_bound_ns) return;
  s->lower_bound_ns = bound;
  windows_certificate(windows, s->arena, &s->certificate);
  if (bound > s->search->target_ns) s->search->target_ns = bound;
}

void session_raise_bound(Session *s, const Budget *budget) {
  enum { FEW_GAPS = 32 };
  int64_t known = s->search->best->cost;
  const int share = budget->bound_share;
  if (known >= COST_INVALID || known - s->lower_bound_ns < known / 100 || s->geometry->open_count <= FEW_GAPS) return;
  Windows *fewer = session_is_large(s) ? windows_new(s->arena, s->problem, s->geometry, MOST_CUTS, RERUNS_PROVED) : NULL;
  const int rounds = fewer ? windows_rounds(fewer, FINAL_WORK / share) : 0;
  if (rounds > FEWEST_ROUNDS) /* fewer windows rise further where the steps stay long for longer */
    take_bound(s, fewer, windows_raise(fewer, known, rounds < FINAL_ROUNDS ? rounds : FINAL_ROUNDS, FINAL_PATIENCE / share));
  Windows *windows = windows_new(s->arena, s->problem, s->geometry, MORE_CUTS, RERUNS_PROVED);
  if (windows && s->certificate.kind == CERTIFICATE_WINDOWS) windows_begin_at(windows, &s->certificate.windows);
  if (windows) take_bound(s, windows, windows_raise(windows, known, MORE_ROUNDS / share, MORE_PATIENCE / share));
}

/* Of many gaps, prices and fillings decide; then whole values, and parts of them, are searched over. */
static void run_large(Session *s, const Budget *budget, int64_t units) {
  Search *search = s->search;
  session_try_fillings(s, NULL);
  if (search_is_done(search)) return;
  bool has_dp = s->geometry->open_count <= MOST_DP_GAPS;
  if (has_dp) try_label_dp(s, budget->dp_labels);
  if (has_dp && !search_is_done(search)) try_prices(s);
  if (search_is_done(search)) return;
  bool is_aside = budget->splits == 1; /* a smaller device */
  Windows *windows = search->best->cost < COST_INVALID && !is_aside ? windows_new(s->arena, s->problem, s->geometry, MOST_CUTS, RERUNS_PROVED) : NULL;
  if (windows) {
    take_bound(s, windows, windows_raise(windows, search->best->cost, WINDOW_ROUNDS, PATIENCE));
    session_try_fillings(s, windows);
  }
  if (search_is_done(search)) return;
  if (search->best->cost >= COST_INVALID) session_try_revolve(s);
  if (search->best->policies != PREFETCH_ALL) search->policies = search->best->policies;
  search_local(search, units / 4);
  search_polish(search, units / 8);
  if (has_dp) search_anneal(search, units / 4, 0.1);
  if (windows && !search_is_done(search)) try_fates_of_windows(s, RERUNS_BY_COPIES, units / 8);
  if (windows && !search_is_done(search)) try_fates_of_windows(s, RERUNS_ESTIMATED, units / 8);
}

void session_run(Session *s, const Budget *budget, int64_t units) {
  Search *search = s->search;
  const Geometry *g = s->geometry;
  if (search_is_done(search)) return;
  s->lower_bound_ns = certificate_find(s->problem, g, budget->splits, budget->rounds, &s->certificate);
  if (s->lower_bound_ns > search->target_ns) search->target_ns = s->lower_bound_ns;
  if (session_is_large(s)) {
    run_large(s, budget, units);
    return;
  }
  session_try_fillings(s, NULL);
  try_label_dp(s, budget->dp_labels);
  if (search->best->cost <= search->target_ns) return;
  try_prices(s);
  if (!search_is_done(search)) session_try_revolve(s);
  if (search_is_done(search)) return;
  /* One policy an evaluation where evaluations are dear: the one that was best so far. */
  if (g->open_count > 300 && search->best->policies != PREFETCH_ALL) search->policies = search->best->policies;
  s->is_optimal = session_improve(s, units, budget->exact_units);
}

void session_sketch(Session *s, const Budget *budget) {
  Search *search = s->search;
  if (search_is_done(search)) return;
  session_try_fillings(s, NULL);
  if (!search_is_done(search) && search->best->cost >= COST_INVALID) session_try_revolve(s);
  if (search_is_done(search)) return;
  if (search->best->policies != PREFETCH_ALL) search->policies = search->best->policies;
  search_local(search, budget->units / 8);
  if (!session_is_large(s)) search_anneal(search, budget->units / 8, 0.05);
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
  session_run(small, budget, budget->units);
  if (small->search->best->cost < COST_INVALID) {
    candidate_copy(small->evaluator, carried, small->search->best);
    fix_boundaries(small->evaluator, carried);
    carried->cost = evaluate_candidate(s->evaluator, carried);
    search_offer(s->search, carried);
    search_try_candidate(s->search, carried);
  }
  s->labels += small->labels;
  s->evaluator->evaluations += small->evaluator->evaluations;
  if (small->search->is_cut_short) s->search->is_cut_short = true;
  arena_free(arena);
}

void session_device_range(const Session *s, int64_t *low, int64_t *high) {
  const Geometry *g = s->geometry;
  *low = *high = 0;
  for (int t = 0; t < s->problem->step_count; t++) {
    if (g->base_bytes[t] > *low) *low = g->base_bytes[t];
    if (g->retain_bytes[t] > *high) *high = g->retain_bytes[t];
  }
}

/* Plans for smaller devices fit this one too. The rungs do not depend on the device of this problem, so a larger
 * device has at least the rungs of a smaller one. */
void session_climb_ladder(Session *s, const Budget *budget) {
  int64_t low, high;
  session_device_range(s, &low, &high);
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
void session_look_around(Session *s, const Budget *budget) {
  enum { NEIGHBOURS = 5, MOST_GAPS = 128 };
  int64_t low, high, device = s->problem->device_bytes;
  session_device_range(s, &low, &high);
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
