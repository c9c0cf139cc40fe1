#define _POSIX_C_SOURCE 200809L

#include "planner.h"

#include <stdio.h>
#include <string.h>

#include "certificate.h"
#include "exact.h"
#include "judge.h"
#include "multilevel.h"
#include "session.h"
#include "settle.h"
#include "compiler/base/clock.h"

void planner_default_options(PlannerOptions *options) {
  *options = (PlannerOptions){.effort = PLANNER_NORMAL, .policy = -1};
}

/* ---- infeasible ---- */

static int64_t *size_of(Problem *problem, Tier tier) {
  return tier == TIER_DEVICE ? &problem->device_bytes : tier == TIER_HOST ? &problem->host_bytes : &problem->ssd_bytes;
}

/* What the plan that the evaluator is at takes of a tier. */
static int64_t used_bytes(const Evaluator *e, Tier tier) {
  return tier == TIER_DEVICE ? e->simulation->peak_bytes : tier == TIER_HOST ? e->sequence->host_peak_bytes : e->sequence->ssd_peak_bytes;
}

/* Any plan at all: those that need little, a short search, and, where asked to be thorough, the exact search of small
 * problems and with some more gaps the whole search. */
enum { MANY_GAPS = 40, QUICK_PART = 500, MANY_STEPS = 10000, MANY_STEPS_PART = 32 };

static Session *find_any(const Problem *problem, bool is_thorough, Arena *arena) {
  Session *s = session_new(problem, arena, 0);
  Candidate *candidate = candidate_new(arena, s->evaluator);
  s->search->target_ns = COST_INVALID - 1;
  for (int preference = 0; preference < 6 && !search_is_done(s->search); preference++) {
    policy_evict_all(s->evaluator, preference, candidate);
    search_offer(s->search, candidate);
  }
  if (!search_is_done(s->search) && session_is_large(s)) {
    session_try_fillings(s, NULL);
    return s;
  }
  static const Policy others[] = {POLICY_KEEP, POLICY_RECOMPUTE, POLICY_CHECKPOINT, POLICY_DTR, POLICY_CAPUCHIN};
  for (int i = 0; i < 5 && !search_is_done(s->search); i++) {
    policy_plan(s->evaluator, others[i], candidate);
    search_offer(s->search, candidate);
  }
  if (!search_is_done(s->search)) session_try_revolve(s);
  if (!search_is_done(s->search) && s->search->gap_count) search_local(s->search, 1000000);
  if (is_thorough && !search_is_done(s->search) && s->search->gap_count <= SESSION_EXACT_GAPS) exact_search(s->search, 2000000);
  if (is_thorough && !search_is_done(s->search) && s->search->gap_count <= MANY_GAPS) {
    Budget budget = budget_of(PLANNER_NORMAL);
    session_run(s, &budget, budget.units);
  }
  return s;
}

/* Does a plan fit? *size becomes what it takes of the tier, if that is less. */
static bool fits(const Problem *problem, bool is_thorough, Tier tier, int64_t *size) {
  Problem changed = *problem;
  *size_of(&changed, tier) = *size;
  Arena *arena = arena_new();
  Session *s = find_any(&changed, is_thorough, arena);
  bool ok = search_is_done(s->search) && evaluate_candidate(s->evaluator, s->search->best) < COST_INVALID;
  int64_t used = ok ? used_bytes(s->evaluator, tier) : *size;
  if (used < *size) *size = used;
  arena_free(arena);
  return ok;
}

static bool is_reachable(const Problem *p, Tier tier) {
  return tier == TIER_DEVICE || (tier == TIER_HOST ? problem_reaches_host(p) : problem_reaches_ssd(p) && p->ring_bytes > 0);
}

/* The least size of one tier with which a plan is found, the others as they are; -1 when no size helps. What is found
 * quickly is halved down to, to a part of the size where that is enough or the steps are many; then, thoroughly, less by a byte is asked for until there is nothing. */
static int64_t least_size(const Problem *problem, bool is_thorough, Tier tier, int64_t low, int64_t high) {
  int64_t least = high, part = is_thorough ? 0 : QUICK_PART;
  if (problem->step_count > MANY_STEPS) part = MANY_STEPS_PART, is_thorough = false;
  if (low > high || !is_reachable(problem, tier) || !fits(problem, is_thorough, tier, &least)) return -1;
  for (int64_t known = low; known < least - (part ? least / part : 0);) {
    int64_t middle = known + (least - known) / 2, size = middle;
    if (fits(problem, false, tier, &size))
      least = size;
    else
      known = middle + 1;
  }
  for (int64_t size = least - 1; is_thorough && size >= low && fits(problem, true, tier, &size); size = least - 1) least = size;
  return least;
}

/* The same of one policy's plans. */
static int64_t least_size_of_policy(const Problem *problem, Policy policy, Tier tier, int64_t low, int64_t high) {
  Problem changed = *problem;
  int64_t *size = size_of(&changed, tier);
  *size = high;
  if (low > high || !policy_fits(&changed, policy)) return -1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    *size = middle;
    if (policy_fits(&changed, policy))
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

/* As base_bytes counts: whatever is decided. */
static bool is_there_anyway(const Geometry *g, const ProblemPiece *piece, int x, int step) {
  if (piece->home == TIER_DEVICE) return true;
  if (g->first_access[x] < 0 || step < g->first_access[x] || step > g->last_access[x] - g->is_last_under[x]) return false;
  for (int i = g->gap_first[x]; i < g->gap_first[x + 1]; i++)
    if (g->gaps[i].u < step + g->gaps[i].is_under && step < g->gaps[i].v && g->gaps[i].options != FATE_BIT(FATE_KEEP)) return false;
  return true;
}

static void find_least_sizes(const Session *s, const PlannerOptions *options, PlannerReport *report) {
  const Problem *p = s->problem;
  const Geometry *g = s->geometry;
  int64_t all = 0, base = 0, most = 0;
  for (int t = 0; t < p->step_count; t++) {
    if (g->base_bytes[t] > base) base = g->base_bytes[t];
    if (g->retain_bytes[t] > most) most = g->retain_bytes[t];
  }
  for (int x = 0; x < p->piece_count; x++) all += p->pieces[x].bytes;
  int64_t host_work = 0;
  for (int op = 0; op < p->op_count; op++)
    for (int v = 0; v < p->ops[op].variant_count; v++) host_work += p->ops[op].chunks * p->ops[op].variants[v].host_work_bytes;
  const bool is_quick = options->least == PLANNER_LEAST_QUICK, is_bounded = is_quick && options->least_below > 0 && options->least_below <= most + all;
  report->least_device_bytes = least_size(p, !is_quick, TIER_DEVICE, base, is_bounded ? options->least_below - 1 : most + all); /* re-runs that pins ask for come on top */
  if (options->least != PLANNER_LEAST_ALL) return;
  report->least_host_bytes = least_size(p, true, TIER_HOST, p->host_bytes, p->host_bytes > all + host_work ? p->host_bytes : all + host_work);
  report->least_ssd_bytes = least_size(p, true, TIER_SSD, p->ssd_bytes, p->ssd_bytes > all ? p->ssd_bytes : all);
}

/* A policy's plan did not fit as things are, so the sizes begin there. */
static void find_policy_sizes(const Problem *p, Policy policy, PlannerLeast least, PlannerReport *report) {
  int64_t all = 0; /* pieces, twice for what runs again, and every workspace */
  for (int x = 0; x < p->piece_count; x++) all += 2 * p->pieces[x].bytes;
  for (int op = 0; op < p->op_count; op++)
    for (int v = 0; v < p->ops[op].variant_count; v++)
      all += p->ops[op].chunks * (p->ops[op].variants[v].work_bytes + p->ops[op].variants[v].host_work_bytes);
  report->least_device_bytes = least_size_of_policy(p, policy, TIER_DEVICE, p->device_bytes, all);
  if (least != PLANNER_LEAST_ALL) return;
  report->least_host_bytes = least_size_of_policy(p, policy, TIER_HOST, p->host_bytes, all);
  report->least_ssd_bytes = least_size_of_policy(p, policy, TIER_SSD, p->ssd_bytes, all);
}

static void explain_infeasible(const Session *s, const PlannerOptions *options, Arena *arena, PlannerReport *report) {
  const Problem *p = s->problem;
  const Geometry *g = s->geometry;
  int bind = 0;
  for (int t = 0; t < p->step_count; t++)
    if (g->base_bytes[t] > g->base_bytes[bind]) bind = t;
  if (options->least != PLANNER_LEAST_NONE && options->policy >= 0) find_policy_sizes(p, (Policy)options->policy, options->least, report);
  else if (options->least != PLANNER_LEAST_NONE) find_least_sizes(s, options, report);
  report->bind_step = bind;
  report->bind_bytes = g->base_bytes[bind];
  Sequence *q = s->evaluator->sequence;
  bool is_simulated = g->base_bytes[bind] <= p->device_bytes && s->search->best->cost < COST_ILLEGAL &&
                      candidate_build(s->evaluator, s->search->best);
  int fail = -1;
  if (is_simulated && !simulate(s->evaluator->simulation, q)) fail = s->evaluator->simulation->fail_step;
  if (fail >= 0) { /* every step fits alone: what the plan that came nearest has on the device where it fails */
    report->bind_step = q->base[fail];
    report->bind_bytes = q->need_bytes[fail];
    for (int x = 0; x < p->piece_count; x++)
      if (p->pieces[x].home == TIER_DEVICE) ARENA_PUSH(arena, report->bind_pieces, report->bind_piece_count, x);
    for (int i = 0; i < q->stay_count; i++)
      if (q->stays[i].from <= fail && fail <= q->stays[i].until - (q->stays[i].taken_by >= 0)) ARENA_PUSH(arena, report->bind_pieces, report->bind_piece_count, q->stays[i].piece);
    return;
  }
  for (int x = 0; x < p->piece_count; x++)
    if (is_there_anyway(g, &p->pieces[x], x, bind)) ARENA_PUSH(arena, report->bind_pieces, report->bind_piece_count, x);
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
  for (int c = 0; c < s->problem->lane_count; c++) report->busy_ns[c] = m->busy_ns[c];
  for (int i = 0; i < g->open_count; i++)
    report->gap_bytes[s->search->best->fates[g->open[i]]] += s->problem->pieces[g->gaps[g->open[i]].piece].bytes;
  report->extended_step_count = q->count;
  report->host_peak_bytes = q->host_peak_bytes;
  report->ssd_peak_bytes = q->ssd_peak_bytes;
}

/* What the plan shows for its bound outlives the session. */
static PlanCertificate certificate_copy(const PlanCertificate *from, Arena *arena) {
  PlanCertificate c = *from;
  size_t cuts = (size_t)c.windows.cut_count, rows = WINDOW_ROWS * (cuts + 1) * sizeof(double);
  if (c.kind != CERTIFICATE_WINDOWS) return c;
  c.windows.cuts = memcpy(arena_alloc(arena, cuts * sizeof(int)), c.windows.cuts, cuts * sizeof(int));
  c.windows.rows = memcpy(arena_alloc(arena, rows), c.windows.rows, rows);
  c.windows.lam = memcpy(arena_alloc(arena, cuts * sizeof(double)), c.windows.lam, cuts * sizeof(double));
  c.windows.mu = memcpy(arena_alloc(arena, cuts * sizeof(double)), c.windows.mu, cuts * sizeof(double));
  return c;
}

static PlannerPlan *make_plan(Session *s, const PlannerOptions *options, const Budget *budget, Arena *arena,
                       PlannerReport *report) {
  static const char *const efforts[] = {"fast", "normal", "best"};
  if (evaluate_candidate(s->evaluator, s->search->best) >= COST_INVALID) return NULL;
  Addresses none = {0}, *layout = options->is_sketch ? &none : settle(s, budget, options, report->policy_ns, arena);
  fill_report(s, report);
  const Sequence *q = s->evaluator->sequence;
  PlannerPlan *plan = arena_alloc(arena, sizeof *plan);
  *plan = (PlannerPlan){.problem = s->problem, .makespan_ns = report->makespan_ns, .peak_bytes = report->peak_bytes,
                 .lower_bound_ns = s->lower_bound_ns, .certificate = certificate_copy(&s->certificate, arena), .effort = efforts[options->effort],
                 .is_cut_short = s->search->is_cut_short, .intervals = layout->intervals,
                 .interval_count = layout->is_packed ? layout->count : 0};
  plan->variant = arena_alloc(arena, (size_t)s->problem->op_count * sizeof(int) + 1);
  memcpy(plan->variant, q->variant, (size_t)s->problem->op_count * sizeof(int));
  for (int i = 0; i < q->rerun_count; i++) ARENA_PUSH(arena, plan->reruns, plan->rerun_count, q->reruns[i]);
  for (int i = 0; i < q->out_count; i++) ARENA_PUSH(arena, plan->outs, plan->out_count, q->outs[i]);
  for (int i = 0; i < q->move_count; i++) ARENA_PUSH(arena, plan->moves, plan->move_count, q->moves[i]);
  report->load_bytes = layout->load_bytes;
  report->height_bytes = layout->height_bytes;
  report->has_addresses = layout->is_packed;
  return plan;
}

void planner_raise_bound(PlannerPlan *plan, PlannerEffort effort, Arena *arena, PlannerReport *report) {
  Arena *scratch = arena_new();
  Session *s = session_new(plan->problem, scratch, 0);
  s->lower_bound_ns = plan->lower_bound_ns;
  s->certificate = plan->certificate;
  s->search->best->cost = plan->makespan_ns;
  const Budget budget = budget_of(effort);
  session_raise_bound(s, &budget);
  plan->lower_bound_ns = report->lower_bound_ns = s->lower_bound_ns;
  plan->certificate = certificate_copy(&s->certificate, arena);
  report->is_optimal |= plan->makespan_ns <= plan->lower_bound_ns;
  arena_free(scratch);
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

/* Some step needs more than the device has, whatever is decided. */
static bool is_hopeless(const Session *s) {
  for (int t = 0; t < s->problem->step_count; t++)
    if (s->geometry->base_bytes[t] > s->problem->device_bytes) return true;
  return false;
}

static bool is_proved_worthless(Session *s, const Budget *budget, int64_t worth_ns) {
  if (worth_ns == 0) return false;
  s->lower_bound_ns = certificate_find(s->problem, s->geometry, budget->splits, budget->rounds, &s->certificate);
  return s->lower_bound_ns >= worth_ns;
}

/* The best of the policies' plans, with addresses; NULL where none fits, or none were found. */
static PlannerPlan *any_plan(Session *s, const PlannerOptions *options, const Budget *budget, Arena *arena, PlannerReport *report) {
  PlannerPlan *plan = s->search->best->cost < COST_INVALID ? make_plan(s, options, budget, arena, report) : NULL;
  return plan && report->has_addresses ? plan : NULL;
}

/* More effort rarely makes a plan a tenth faster. */
static bool is_far(const Session *s, int64_t worth_ns) { return worth_ns > 0 && s->search->best->cost - worth_ns > worth_ns / 10; }

static void search(Session *s, const PlannerOptions *options, const Budget *budget, PlannerReport *report) {
  for (int effort = PLANNER_FAST; effort <= (int)options->effort && !s->is_optimal; effort++) {
    Budget stage = budget_of((PlannerEffort)effort); /* more effort begins where less ended: it is never worse */
    report->is_worthless = effort > PLANNER_FAST && is_far(s, options->worth_ns);
    if (report->is_worthless) return;
    if (effort < (int)options->effort) stage.exact_units = 0; /* what it would find, the longer one finds again */
    /* There the best effort would come near ten seconds. */
    bool is_shortened = s->geometry->open_count > 3000 && effort == PLANNER_BEST;
    session_run(s, &stage, is_shortened ? stage.units * 2 / 5 : stage.units);
    multilevel_search(s, &stage);
  }
  if (s->search->best->cost >= COST_INVALID && !search_is_late(s->search)) search_offer_again(s->search, find_any(s->problem, true, s->arena)->search->best);
  if (s->is_optimal || s->search->best->cost >= COST_INVALID) return;
  session_climb_ladder(s, budget);
  session_look_around(s, budget);
  if (!session_is_large(s)) exact_windows(s->search, budget->units / 2);
}

static PlannerPlan *sketch(Session *s, const PlannerOptions *options, const Budget *budget, Arena *arena, PlannerReport *report) {
  report->is_worthless = options->worth_ns > 0 && s->geometry->stall_free_ns >= options->worth_ns;
  if (report->is_worthless || is_hopeless(s)) return NULL;
  session_try_policies(s, report->policy_ns, &report->first_plan_s);
  session_sketch(s, budget);
  return s->search->best->cost < COST_INVALID ? make_plan(s, options, budget, arena, report) : NULL;
}

/* NULL: none fits, or none is worth it. */
static PlannerPlan *find_plan(Session *s, const PlannerOptions *options, const Budget *budget, Arena *arena, PlannerReport *report) {
  PlannerOptions searched = *options;
  PlannerPlan *any = NULL;
  searched.takes_any = false;
  report->is_worthless = is_proved_worthless(s, budget, options->worth_ns);
  if (report->is_worthless) return NULL;
  if (options->policy >= 0) {
    policy_plan(s->evaluator, (Policy)options->policy, s->search->best);
    report->policy_ns[options->policy] = s->search->best->cost;
    s->lower_bound_ns = certificate_find(s->problem, s->geometry, budget->splits, budget->rounds, &s->certificate);
  } else if (!is_hopeless(s)) {
    const bool is_dear = settle_is_dear(s);
    session_try_policies(s, report->policy_ns, &report->first_plan_s);
    if (options->takes_any && is_dear) session_sketch(s, budget);
    if (options->takes_any) any = any_plan(s, options, budget, arena, report);
    report->is_any = any != NULL;
    if (any || (options->takes_any && is_dear)) return any;
    search(s, options, budget, report);
  } else {
    for (int policy = 0; policy < POLICY_COUNT; policy++) report->policy_ns[policy] = COST_INVALID;
  }
  if (!report->is_worthless && !options->needs_no_bound) session_raise_bound(s, budget);
  if (s->search->best->cost >= COST_INVALID || report->is_worthless) return NULL;
  PlannerPlan *plan = make_plan(s, &searched, budget, arena, report);
  report->is_worthless = plan && options->worth_ns > 0 && (report->makespan_ns >= options->worth_ns || !report->has_addresses);
  return report->is_worthless ? NULL : plan;
}

PlannerPlan *planner_plan(const Problem *problem, const PlannerOptions *options, Arena *arena, PlannerReport *report) {
  double begin = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  double deadline = options->time_limit_s > 0 ? clock_seconds(CLOCK_MONOTONIC) + options->time_limit_s : 0;
  const Budget budget = budget_of(options->effort);
  Arena *scratch = arena_new();
  Session *s = session_new(problem, scratch, deadline);
  *report = (PlannerReport){.stall_free_ns = s->geometry->stall_free_ns, .gap_count = s->geometry->gap_count,
                            .open_count = s->geometry->open_count, .step_count = problem->step_count, .first_plan_s = begin};
  report->busy_ns = arena_alloc(arena, (size_t)problem->lane_count * sizeof(int64_t));
  s->lower_bound_ns = s->geometry->stall_free_ns;
  s->certificate.kind = CERTIFICATE_STALL_FREE;
  PlannerPlan *plan = options->is_sketch ? sketch(s, options, &budget, arena, report) : find_plan(s, options, &budget, arena, report);
  report->first_plan_s -= begin;
  report->lower_bound_ns = s->lower_bound_ns;
  report->is_optimal = plan && (s->is_optimal || report->makespan_ns <= s->lower_bound_ns);
  report->labels = s->labels;
  report->evaluations = s->evaluator->evaluations;
  if (!plan && !report->is_worthless) explain_infeasible(s, options, arena, report);
  arena_free(scratch);
  report->total_s = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
  return plan;
}
