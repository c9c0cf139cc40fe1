/* choose_cut: PlanRequest -> PlanAnswer, of whole values or of values that are cut, whichever epoch is the shorter.
 *
 * A cut in one form is a candidate. Most are given up without a plan: what stays or one step alone exceeds the device, or the least time is more
 * than what was found. Of the others a sketch is made, a short search without addresses, which take most of the time of planning; then they are
 * planned, the fastest sketch first, until the next is no faster than the best plan. What is found gets its evaluation, and the effort that was asked for.
 */
#include <stdlib.h>

#include "answer.h"

typedef struct CutCandidate {
  Cut cut;
  FormKind form;
  double seconds;   /* of the sketch, then of the plan; not less where that was not worth it */
  const Plan *sketch;
  const Plan *plan; /* of the epoch, with addresses; NULL: not yet */
  bool is_done;     /* it became an answer, or cannot */
} CutCandidate;

/* The finer, the later. */
enum { HALOS = 1, LEARNED = 2, FIELDS = 4, GRAPH = 8, SCORES = 16 /* which are away from the device */ };
static const struct { int parts, slices; unsigned with; } cuts[] = {
    {4, 1, 0}, {16, 1, 0}, {16, 1, HALOS}, {16, 2, 0}, {16, 4, 0}, {16, 8, 0}, {16, 4, SCORES}, {16, 8, SCORES}, {64, 1, HALOS}, {16, 1, LEARNED},
    {16, 4, LEARNED}, {16, 1, HALOS | LEARNED | FIELDS}, {16, 4, LEARNED | FIELDS}, {16, 8, LEARNED | FIELDS}, {64, 1, HALOS | LEARNED | FIELDS},
    {16, 8, LEARNED | FIELDS | GRAPH}, {16, 1, HALOS | LEARNED | FIELDS | GRAPH}, {64, 1, HALOS | LEARNED | FIELDS | GRAPH},
    {64, 8, LEARNED | FIELDS | GRAPH}, {64, 16, LEARNED | FIELDS | GRAPH}};

/* Where data leave values half of the host they are there, but for the last candidates, which spare it: where nothing else fits, as a smaller host, which has no room for them, may do. */
enum { CUT_COUNT = sizeof cuts / sizeof *cuts, SHARES = 3 /* of the host's room that data have: all, a half, none */, USUAL = SHARES * CUT_COUNT, ALL = USUAL + CUT_COUNT, LARGE_SCORES_BYTES = 4 << 20 /* on the device small ones are in nobody's way */ };

typedef struct Choice {
  const PlanRequest *request;
  const PlanAnswer *best;
  CutCandidate list[FORM_COUNT * (ALL + 1)];
  int count;
  int in_vain; /* candidates planned since the fastest one */
} Choice;

static int64_t bytes_of_values(const Plan *plan) {
  int64_t bytes = 0;
  for (int i = 0; plan && i < plan->problem->problem->datum_count; i++)
    if (plan->problem->problem->data[i].home == TIER_NONE) bytes += plan->problem->problem->data[i].bytes;
  return bytes;
}

/* All but a fiftieth of its time is kernels that run once: what is cut finer has more and longer steps. */
static bool is_nearly_best(const PlanAnswer *a) {
  const Schedule *s = a->schedule;
  return a->fits && 50 * (s->rerun_seconds + s->wait_seconds + s->slowed_seconds) <= s->training_seconds;
}

/* Of values that are cut there is something to choose from. */
static bool has_cuts(const PlanRequest *r) { return r->forms_of && r->parts_at_most > 1 && !r->given && !r->is_quick && r->policy < 0; }

static const Plan *planned_of(const PlanAnswer *a) { return a->training_plan ? a->training_plan : a->evaluation_plan; }

/* Small programs that fit stay whole: the steps of parts would take longer than what moves. */
static bool is_small(const Plan *plan) {
  const int64_t least_bytes = INT64_C(64) << 20;
  return bytes_of_values(plan) < least_bytes;
}

/* ---- candidates ---- */

/* The parts and slices of the list, or those that were asked for, of which rows gather from tables of all or from halos. */
static Cut cut_of_values(const PlanRequest *r, int i) {
  const bool has_halos = cuts[i].with & HALOS;
  if (!r->has_given_parts) return (Cut){.ranks = r->cut.ranks, .parts = cuts[i].parts < r->parts_at_most ? cuts[i].parts : r->parts_at_most, .slices = cuts[i].slices < r->slices_at_most ? cuts[i].slices : r->slices_at_most, .has_halos = has_halos};
  Cut given = r->cut;
  given.has_halos = given.has_halos || (has_halos && given.slices == 1 && !given.layers);
  return given;
}

static int cut_of_candidate(int of) { return of < USUAL ? of / SHARES : of - USUAL; }

/* Data are at home on the host, or where it is none on the SSD; where it is too small, on both. */
static Cut cut_of_data(const PlanRequest *r, int of) {
  static const int quarters[SHARES] = {ALL_ROOM, ALL_ROOM / 2, 0};
  const int i = cut_of_candidate(of);
  const int64_t *bytes = r->machine.tier_bytes;
  Cut cut = cut_of_values(r, i);
  const Tier near = bytes[TIER_HOST] > 0 ? TIER_HOST : TIER_SSD;
  const unsigned with = r->cut.ranks > 0 ? cuts[i].with & ~(unsigned)(LEARNED | GRAPH) : cuts[i].with; /* of ranks only fields can be away */
  cut = cut_with_homes(&r->machine, r->scores_bytes, cut, (with & FIELDS) && r->has_fields ? near : TIER_DEVICE, (with & GRAPH) && r->has_graph ? near : TIER_DEVICE, (with & LEARNED) && r->has_learned ? near : TIER_DEVICE);
  if ((with & SCORES) && r->scores_bytes >= LARGE_SCORES_BYTES && !cut_has_data_away(cut)) cut = cut_with_scores_away(&r->machine, r->scores_bytes, cut);
  return of < USUAL ? cut_cached(r, cut, quarters[of % SHARES]) : cut_sparing_host(r, cut);
}

/* With few blocks, or narrow sums, some of them are one. */
static bool is_possible(const PlanRequest *r, int of) {
  const int i = cut_of_candidate(of);
  const bool is_away = cuts[i].with & (LEARNED | FIELDS | GRAPH);
  if (r->cut.ranks > 0 && (cuts[i].with & (HALOS | SCORES))) return false; /* the tables of a rank have its halos, and all ranks get the scores of all */
  if (is_away && r->machine.tier_bytes[TIER_HOST] == 0 && r->machine.tier_bytes[TIER_SSD] == 0) return false;
  for (int k = 0; k < of; k++)
    if (cut_is(cut_of_data(r, of), cut_of_data(r, k))) return false;
  return true;
}

/* `worth`: seconds, or 0. */
static PlanRequest request_of(const PlanRequest *request, Cut cut, double worth) {
  PlanRequest r = plan_request_cut(request, cut);
  r.least = PLANNER_LEAST_NONE;
  r.is_one_of_several = true;
  r.worth_seconds = worth;
  return r;
}

static double best_seconds(const Choice *c) { return c->best && c->best->fits ? answer_seconds(c->best) : 0; }

/* Next to nothing of it is waits and what runs again. */
static bool is_enough(const PlanRequest *r, const Plan *plan) { return 49 * plan_announced_seconds(r, plan) <= 50 * 1e-9 * (double)plan->report.stall_free_ns; }

/* Of a program without sums as wide as the slices of two cuts both are the same. */
static bool is_sketched(const Choice *c, Cut cut, FormKind form, const Plan *sketch) {
  const Problem *problem = sketch->problem->problem;
  for (int i = 0; i < c->count; i++) {
    const Problem *other = c->list[i].sketch->problem->problem;
    const bool is_same_problem = problem->step_count == other->step_count && problem->datum_count == other->datum_count && problem->piece_count == other->piece_count;
    if (c->list[i].form == form && c->list[i].cut.scores_home == cut.scores_home && is_same_problem && sketch->report.makespan_ns == c->list[i].sketch->report.makespan_ns && sketch->report.peak_bytes == c->list[i].sketch->report.peak_bytes) return true;
  }
  return false;
}

/* True where nothing finer is worth looking at. */
static bool sketch_cut(Choice *c, Cut cut) {
  PlanRequest r = request_of(c->request, cut, best_seconds(c));
  bool is_done = false;
  if (!cut_is(r.cut, cut)) return false; /* so cut, the program would have other bits */
  r.effort = PLANNER_FAST;
  for (int form = FORM_HOISTED; form >= FORM_PLAIN && !is_done; form--) {
    const Plan *plan = plan_sketch(&r, (FormKind)form);
    if (!plan || is_sketched(c, cut, (FormKind)form, plan)) continue;
    c->list[c->count++] = (CutCandidate){.cut = cut, .form = (FormKind)form, .seconds = plan_announced_seconds(&r, plan), .sketch = plan};
    is_done = is_enough(&r, plan);
  }
  return is_done;
}

static int compare_candidates(const void *a, const void *b) {
  const CutCandidate *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return x->cut.slices != y->cut.slices ? x->cut.slices - y->cut.slices : x->cut.parts - y->cut.parts;
}

/* What is trained is planned, for less than `worth` seconds; of an evaluation alone the sketch has to do. With more effort there may be no addresses. */
static void plan_candidate(const Choice *c, CutCandidate *candidate, double worth) {
  PlanRequest r = request_of(c->request, candidate->cut, worth);
  if (candidate->plan || !r.forms[candidate->form].training_kernels) return;
  const Plan *plan = plan_epoch_in_form(&r, candidate->form);
  if (!plan && worth == 0 && r.effort > PLANNER_FAST) r.effort = PLANNER_FAST, plan = plan_epoch_in_form(&r, candidate->form);
  if (plan) candidate->plan = plan, candidate->seconds = plan_announced_seconds(&r, plan);
  else if (worth > 0) candidate->seconds = worth;
  else candidate->is_done = true;
}

/* The fastest candidate, where one is faster than the best answer; NULL: none. Addresses cost about as much in all of them, so that after a few which
 * became slower than the best there is no use in those that were sketched slower still. */
static CutCandidate *find_fastest(Choice *c) {
  enum { PATIENCE = 2 };
  CutCandidate *fastest = NULL;
  double least = best_seconds(c);
  qsort(c->list, (size_t)c->count, sizeof *c->list, compare_candidates);
  for (int i = 0; i < c->count && c->in_vain < PATIENCE; i++) {
    CutCandidate *candidate = &c->list[i];
    if (candidate->is_done || (least > 0 && candidate->seconds >= least)) continue;
    plan_candidate(c, candidate, least);
    if (!candidate->is_done && (least == 0 || candidate->seconds < least)) fastest = candidate, least = candidate->seconds, c->in_vain = 0;
    else if (least > 0) c->in_vain++;
  }
  return fastest;
}

static const PlanAnswer *faster(const PlanAnswer *a, const PlanAnswer *b) { return !b->fits || (a->fits && answer_seconds(a) <= answer_seconds(b)) ? a : b; }

/* The plan there is, with an evaluation; where both together find no addresses, another one. */
static const PlanAnswer *answer_of(const Choice *c, const CutCandidate *candidate) {
  PlanRequest given = request_of(c->request, candidate->cut, 0), asked = plan_request_cut(c->request, candidate->cut);
  given.given = candidate->plan;
  const PlanAnswer *a = candidate->plan ? plan_answer_in_form(&given, candidate->form) : NULL;
  asked.least = PLANNER_LEAST_NONE;
  return a && (a->fits || a->fault) ? a : plan_answer_in_form(&asked, candidate->form);
}

/* ---- the choice ---- */

/* Those with a layout miss nothing but addresses. */
static const PlanAnswer *nearer(const PlanAnswer *a, const PlanAnswer *b) {
  if (a->layout || b->layout) return !b->layout || (a->layout && a->layout->bytes <= b->layout->bytes) ? a : b;
  const int64_t of_a = answer_least_device(a), of_b = answer_least_device(b);
  return of_b > 0 && (of_a == 0 || of_b < of_a) ? b : a;
}

/* Only addresses are missing: a plan for a little less may have them. NULL: none of a few has. */
static const PlanAnswer *answer_for_less(PlanRequest r) {
  enum { TRIES = 4 };
  const int64_t budget = r.machine.tier_bytes[TIER_DEVICE], step = budget / 48;
  for (int i = 1; i <= TRIES; i++) {
    r.machine.tier_bytes[TIER_DEVICE] = budget - i * step;
    const PlanAnswer *a = plan_answer_uncut(&r);
    if (a->fits) return a;
    if (!a->layout) return NULL;
  }
  return NULL;
}

/* Of all cuts, the whole one first, that whose largest step needs least. */
static Cut least_cut(const Choice *c) {
  Cut least = c->request->cut;
  int64_t bytes = plan_largest_step(c->request, FORM_PLAIN);
  for (int i = 0; i < USUAL; i++) {
    if (!is_possible(c->request, i)) continue;
    const Cut cut = cut_of_data(c->request, i);
    const PlanRequest r = request_of(c->request, cut, 0);
    const int64_t needs = cut_is(r.cut, cut) ? plan_largest_step(&r, FORM_PLAIN) : INT64_MAX;
    if (needs < bytes) least = cut, bytes = needs;
  }
  return least;
}

/* Nothing fits: what the cut says that needs least. */
static const PlanAnswer *say_least(const Choice *c) {
  PlanRequest r = plan_request_cut(c->request, least_cut(c));
  r.effort = PLANNER_FAST;
  r.least = c->request->least == PLANNER_LEAST_NONE ? PLANNER_LEAST_NONE : PLANNER_LEAST_QUICK;
  const PlanAnswer *least = plan_answer_uncut(&r), *less = least->layout && !least->fits ? answer_for_less(r) : NULL;
  return less ? less : nearer(c->best, least);
}

/* Parts that were asked for gather from tables of all rows or from halos, whichever is the faster. */
static const PlanAnswer *with_halos(const PlanRequest *request, const PlanAnswer *tables) {
  Cut cut = request->cut;
  cut.has_halos = true;
  if (cut.parts < 2 || cut.ranks > 0 || cut.slices > 1 || cut.layers || request->cut.has_halos || request->given || request->is_quick || !request->forms_of || tables->fault || is_nearly_best(tables)) return tables;
  PlanRequest r = plan_request_cut(request, cut);
  if (!cut_is(r.cut, cut)) return tables;
  if (tables->fits) r.worth_seconds = answer_seconds(tables);
  const PlanAnswer *halos = plan_answer_uncut(&r);
  if (halos->fault) return halos;
  return tables->fits || halos->fits ? faster(tables, halos) : nearer(tables, halos);
}

/* Seconds of a plan of little effort, less than `worth`, of one form; 0: there is none. */
static double seconds_with_room(const PlanRequest *request, FormKind form, double worth) {
  PlanRequest quick = *request;
  const Plan *plan = plan_sketch(request, form);
  quick.effort = PLANNER_FAST;
  quick.least = PLANNER_LEAST_NONE;
  quick.worth_seconds = worth;
  if (plan && request->forms[form].training_kernels) plan = worth > 0 && plan_announced_seconds(request, plan) >= worth ? NULL : plan_epoch_in_form(&quick, form);
  return plan ? plan_announced_seconds(request, plan) : 0;
}

PlanRequest plan_request_with_room(const PlanRequest *request) {
  bool has_choice = false;
  for (int quarters = 0; quarters <= ALL_ROOM && !request->given && request->forms_of; quarters++) has_choice = has_choice || !cut_is(cut_cached(request, request->cut, quarters), request->cut);
  if (!has_choice) return *request;
  PlanRequest best = *request;
  double least = 0;
  for (int quarters = ALL_ROOM; quarters >= 0; quarters--) {
    const PlanRequest r = plan_request_cut(request, cut_cached(request, request->cut, quarters));
    if (quarters == ALL_ROOM) best = r;
    for (int form = FORM_HOISTED; form >= FORM_PLAIN; form--) {
      const double seconds = seconds_with_room(&r, (FormKind)form, least);
      if (seconds > 0 && (least == 0 || seconds < least)) best = r, least = seconds;
    }
  }
  return best;
}

static const Plan *with_bound(const PlanRequest *request, const Plan *plan) { return !plan || request->needs_no_bound || plan == request->given ? plan : plan_with_bound(request->arena, plan, request->effort); }

/* Of all that were tried one answer is given: its bound is proved, and its blocks lie as low as they can be brought. */
static const PlanAnswer *finished(const PlanRequest *request, const PlanAnswer *answer) {
  if (!answer->fits || request->is_trial) return answer;
  Arena *arena = request->arena;
  PlanAnswer *done = arena_alloc(arena, sizeof *done);
  *done = *answer;
  done->training_plan = with_bound(request, answer->training_plan);
  done->evaluation_plan = with_bound(request, answer->evaluation_plan);
  done->once_plan = with_bound(request, answer->once_plan);
  done->schedule = schedule(arena, &request->machine, done->training_plan, done->evaluation_plan, done->once_plan);
  done->layout = layout(arena, &request->machine, done->schedule, answer->of->residents, true);
  return done;
}

/* The form of `cut` that was sketched the fastest of those that become a plan; NULL: none does. */
static const PlanAnswer *first_of_cut(Choice *c, Cut cut) {
  c->count = 0;
  sketch_cut(c, cut);
  qsort(c->list, (size_t)c->count, sizeof *c->list, compare_candidates);
  for (int i = 0; i < c->count; i++) {
    plan_candidate(c, &c->list[i], 0);
    const PlanAnswer *answer = c->list[i].is_done ? NULL : answer_of(c, &c->list[i]);
    if (answer && (answer->fits || answer->fault)) return answer;
  }
  return NULL;
}

/* Whole values, then the cut whose largest step needs least, then the coarsest cut whose sketch becomes a plan. */
static const PlanAnswer *choose_first(const PlanRequest *request) {
  const PlanAnswer *whole = plan_answer_uncut(request);
  Choice c = {.request = request, .best = whole};
  if (whole->fits || whole->fault || !has_cuts(request)) return whole;
  const Cut least = least_cut(&c);
  const PlanAnswer *answer = cut_is(least, request->cut) ? NULL : first_of_cut(&c, least);
  for (int i = 0; i < ALL && !answer; i++)
    if (is_possible(request, i) && !cut_is(cut_of_data(request, i), least)) answer = first_of_cut(&c, cut_of_data(request, i));
  return answer ? answer : whole;
}

/* What a short search finds is found by a long one, too: a refusal names sizes by short ones (explain/verdict.c). */
static const PlanAnswer *with_little_effort(const PlanRequest *request) {
  PlanRequest r = plan_request_of_first(*request);
  r.least = PLANNER_LEAST_NONE;
  return choose_first(&r);
}

/* Where there is nothing to choose from, or parts were asked for, which have data on the device where these fit; where whole values, sketched, are nearly best, and where
 * they fit and are small. Else they are a candidate as the others are. */
static bool is_whole_first(Choice *c) {
  if (!has_cuts(c->request) || c->request->has_given_parts || sketch_cut(c, c->request->cut)) return true;
  for (int i = 0; i < c->count; i++)
    if (is_small(c->list[i].sketch)) return true;
  return false;
}

/* The fastest candidates become plans, until the others are sketched slower. False: a bug in gnncc, which c->best says. */
static bool plan_candidates(Choice *c) {
  c->in_vain = 0;
  for (CutCandidate *candidate; (candidate = find_fastest(c));) {
    const PlanAnswer *answer = answer_of(c, candidate);
    candidate->is_done = true;
    if (!answer->fits) c->in_vain = 0;
    c->best = !c->best || answer->fault ? answer : faster(c->best, answer);
    if (answer->fault) return false;
  }
  return true;
}

static const PlanAnswer *choose(const PlanRequest *request) {
  Choice c = {.request = request};
  if (is_whole_first(&c)) {
    c.best = with_halos(request, plan_answer_uncut(request));
    c.count = 0;
    if (!has_cuts(request) || c.best->fault || (c.best->fits && (request->has_given_parts || is_small(planned_of(c.best))))) return c.best;
  }
  for (int i = 0, end = USUAL; i < end && !(c.best && is_nearly_best(c.best));) {
    for (bool is_enough = false; i < end && !is_enough; i++)
      if (is_possible(request, i)) is_enough = sketch_cut(&c, cut_of_data(request, i));
    if (!plan_candidates(&c)) return c.best;
    if (i == USUAL && !(c.best && c.best->fits)) end = ALL;
  }
  if (c.best && c.best->fits) {
    const bool is_settled = request->effort > PLANNER_FAST || cut_is(c.best->cut, request->cut) || is_nearly_best(c.best); /* with more effort it is faster than what little finds */
    const PlanAnswer *first = is_settled ? c.best : with_little_effort(request);
    return first->fault ? first : faster(c.best, first);
  }
  if (!c.best || !cut_is(c.best->cut, request->cut)) c.best = plan_answer_uncut(request); /* it says what would do */
  if (c.best->fits || c.best->fault) return c.best;
  const PlanAnswer *any = with_little_effort(request);
  return any->fits || any->fault ? any : say_least(&c);
}

const PlanAnswer *plan_answer(const PlanRequest *asked) {
  PlanRequest trial = plan_request_with_room(asked);
  trial.is_trial = trial.needs_no_bound = true;
  return finished(asked, asked->takes_first ? choose_first(&trial) : with_other_exchanges(&trial, choose(&trial)));
}
