/* answer: PlanRequest -> PlanAnswer, by the passes plan, schedule and layout.
 *
 * The planner counts bytes alive; addresses may need more. Where they do, the plan is made again for a device smaller by the excess, until
 * it lies within the budget. Both forms of the program are asked for, and the one whose epoch is the shorter is the answer.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ATTEMPTS = 8, ATTEMPTS_OF_A_CUT = 3 /* of several: what finds no addresses soon is too near the least */ };

/* ---- one plan ---- */

/* There are no copies, or they slow nothing down. */
static bool is_undisturbed(const Machine *machine, const Plan *p) {
  bool is_slowed = false;
  for (int l = 0; l < LANE_COUNT; l++) is_slowed |= machine->overlap_slowdown[l] > 1;
  return !is_slowed || p->sequence->move_count + p->sequence->offload_count == 0;
}

double plan_announced_seconds(const PlanRequest *r, const Plan *p) {
  return is_undisturbed(&r->machine, p) ? 1e-9 * (double)p->simulation->makespan_ns : schedule(r->arena, &r->machine, NULL, p, NULL)->evaluation_seconds;
}

static PlannerOptions options_of(const PlanRequest *r) {
  PlannerOptions options;
  planner_default_options(&options);
  options.effort = r->effort;
  options.policy = r->policy;
  options.time_limit_s = r->time_limit_s;
  options.least = r->least;
  options.takes_any = r->takes_any;
  options.is_sketch = r->is_sketch;
  options.needs_no_bound = r->needs_no_bound;
  return options;
}

/* An epoch takes no less than what is announced of it, so what is proved of the one holds of the other. */
static PlannerOptions options_of_epoch(const PlanRequest *r) {
  PlannerOptions options = options_of(r);
  if (r->worth_seconds > 0) options.worth_ns = (int64_t)(1e9 * r->worth_seconds) + 2; /* rounded up, and none where both are the same */
  return options;
}

static unsigned fates_of_moves(const PlannerPlan *plan) {
  unsigned fates = 0;
  for (int i = 0; i < plan->move_count; i++) fates |= FATE_BIT(tier_fate(plan->moves[i].to));
  return fates;
}

/* The planner takes copies beside compute for free. Where they are not, a plan that leaves a tier alone may be the faster one. */
static Plan *plan_with_fewer_copies(const PlanRequest *r, PlannerOptions options, Plan *found) {
  const double noticed = 1.02;
  static const unsigned tiers[] = {FATE_BIT(FATE_HOST), FATE_BIT(FATE_SSD), FATE_BIT(FATE_HOST) | FATE_BIT(FATE_SSD)};
  unsigned used = fates_of_moves(found->planned);
  double least = plan_announced_seconds(r, found);
  bool is_limited = options.time_limit_s > 0;
  if (least < noticed * 1e-9 * (double)found->simulation->makespan_ns) return found;
  Plan *best = found;
  if (is_limited) options.time_limit_s = (options.time_limit_s - found->report.total_s) / 3;
  if (is_limited && options.time_limit_s <= 0) return found;
  for (int t = 0; t < 3; t++) {
    if ((used & tiers[t]) != tiers[t]) continue;
    Plan *p = plan_avoiding(r->arena, found->problem, &options, tiers[t], found);
    double seconds = p ? plan_announced_seconds(r, p) : least;
    if (seconds < least) best = p, least = seconds;
  }
  return best;
}

/* The planner knows of what stays and of the epoch. Before the first there may be more. */
static void count_early(const PlanRequest *request, const Residents *residents, Plan *p) {
  PlannerReport *r = &p->report;
  const int64_t before = residents->bytes + residents->early_bytes;
  if (residents->early_bytes == 0 || p->problem->kernels == residents->once_kernels) return;
  if (p->planned && before > request->machine.tier_bytes[TIER_DEVICE]) {
    p->planned = NULL;
    r->is_feasible = false;
    r->least_device_bytes = plan_needs(r, TIER_DEVICE);
  }
  p->is_early = p->planned ? plan_needs(r, TIER_DEVICE) < before : r->least_device_bytes > 0 && r->least_device_bytes < before;
  if (!p->is_early) return;
  if (p->planned) r->height_bytes = before;
  else r->least_device_bytes = r->bind_bytes = before, r->bind_piece_count = 0;
}

struct KnownPlan {
  const Kernels *kernels;
  const Residents *residents;
  const Pins *pins;
  int64_t tier_bytes[TIER_COUNT];
  int parts;
  bool is_quick, keeps_staging, keeps_order;
  PlannerOptions options;
  const Plan *plan;
};

static bool asks_the_same(const PlannerOptions *a, const PlannerOptions *b) {
  return a->effort == b->effort && a->time_limit_s == b->time_limit_s && a->policy == b->policy && a->least == b->least && a->least_below == b->least_below && a->is_sketch == b->is_sketch && a->takes_any == b->takes_any &&
         a->needs_no_bound == b->needs_no_bound && a->worth_ns == b->worth_ns;
}

/* NULL: nobody asked for it yet. */
static const Plan *known_plan(const KnownPlans *known, const KnownPlan *asked) {
  for (int i = known ? known->count - 1 : -1; i >= 0; i--) {
    const KnownPlan *k = &known->list[i];
    const bool is_same_problem = k->kernels == asked->kernels && k->residents == asked->residents && k->pins == asked->pins && k->parts == asked->parts;
    if (is_same_problem && k->is_quick == asked->is_quick && k->keeps_staging == asked->keeps_staging && k->keeps_order == asked->keeps_order && memcmp(k->tier_bytes, asked->tier_bytes, sizeof k->tier_bytes) == 0 && asks_the_same(&k->options, &asked->options)) return k->plan;
  }
  return NULL;
}

/* What the SSD takes of the host for the way there may be more than what goes there, or what is missing; not where data are at home on it, or values pinned there. */
static bool may_do_without_ssd(const PlanRequest *r, const Residents *residents, const Pins *pins, const Plan *p) {
  const Problem *problem = p->problem->problem;
  int64_t all = 0;
  if (p->problem->staging_bytes == 0 || r->policy >= 0) return false;
  for (int i = 0; i < residents->away_count; i++)
    if (residents->away[i].tier == TIER_SSD) return false;
  for (int v = 0; pins && v < p->problem->kernels->graph->value_count; v++)
    if (pins->fates[v] & FATE_BIT(FATE_SSD)) return false;
  if (p->planned) return p->report.ssd_peak_bytes > 0 && p->report.ssd_peak_bytes <= p->problem->staging_bytes;
  for (int i = 0; i < problem->datum_count; i++) all += problem->data[i].home == TIER_DEVICE ? 0 : problem->data[i].bytes;
  return problem->host_bytes < all;
}

/* Where neither fits, what is said is of the one which fits a smaller device or, where that is not known of both, whose largest step needs less: values that fill whole blocks of an SSD are larger. */
static bool is_better(const PlanRequest *r, const Plan *other, const Plan *p) {
  if (!other->planned && !p->planned && other->report.least_device_bytes > 0 && p->report.least_device_bytes > 0) return other->report.least_device_bytes < p->report.least_device_bytes;
  if (!other->planned) return !p->planned && other->report.bind_bytes > 0 && other->report.bind_bytes < p->report.bind_bytes;
  return !p->planned || plan_announced_seconds(r, other) <= plan_announced_seconds(r, p);
}

PlanRequest plan_request_without_ssd(PlanRequest r) {
  r.machine.tier_bytes[TIER_SSD] = 0;
  return r;
}

static Plan *plan_problem(const PlanRequest *r, const PlanningProblem *problem, const PlannerOptions *options) {
  Plan *p = plan(r->arena, problem, options);
  bool has_choice = p->planned && p->is_valid && options->policy < 0 && !r->is_quick && !r->is_sketch;
  if (has_choice) p = plan_with_fewer_copies(r, *options, p);
  if (r->work) *r->work += p->report.evaluations * problem->problem->step_count;
  if (!p->planned && r->height && p->report.height_bytes > 0 && (*r->height == 0 || p->report.height_bytes < *r->height)) *r->height = p->report.height_bytes;
  return p;
}

/* ---- orders of parts ---- */

typedef struct OrderSketch {
  ExchangeOrder order;
  const PlanningProblem *problem;
  Plan *plan;
  double seconds;
} OrderSketch;

static int compare_sketches(const void *a, const void *b) {
  const OrderSketch *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return (int)x->order - (int)y->order;
}

/* Those in which it fits and may be the fastest, the fastest first. What wants more room is tried first: nothing else is faster where that is to be had. Among many cuts two orders will do. */
static int sketch_orders(const PlanRequest *r, const PlanningProblem *made, const PlannerOptions *options, OrderSketch *sketches) {
  static const ExchangeOrder all[] = {ORDER_BOTH, ORDER_BESIDE, ORDER_NEXT, ORDER_AS_MADE}, two[] = {ORDER_BESIDE, ORDER_AS_MADE};
  PlanRequest request = *r;
  PlannerOptions sketched = *options;
  int count = 0;
  request.is_sketch = sketched.is_sketch = true;
  sketched.takes_any = false;
  sketched.least = PLANNER_LEAST_NONE;
  for (int i = 0; i < (int)(r->is_sketch ? sizeof two / sizeof *two : sizeof all / sizeof *all); i++) {
    const ExchangeOrder order = r->is_sketch ? two[i] : all[i];
    const PlanningProblem *problem = planning_problem_in_order(r->arena, made, order);
    Plan *p = plan_problem(&request, problem, &sketched);
    if (!p->planned || !p->is_valid) continue;
    sketches[count++] = (OrderSketch){order, problem, p, plan_announced_seconds(&request, p)};
    if (sketched.worth_ns == 0 || p->simulation->makespan_ns < sketched.worth_ns) sketched.worth_ns = p->simulation->makespan_ns;
  }
  qsort(sketches, (size_t)count, sizeof *sketches, compare_sketches);
  return count;
}

static bool is_placed(const Plan *p) { return p->planned && p->report.has_addresses; }

/* The first that is found, with addresses, or the next, if that was sketched faster and is. NULL: none is found. */
static Plan *plan_in_best_order(const PlanRequest *r, const PlanningProblem *made, const PlannerOptions *options) {
  OrderSketch sketches[EXCHANGE_ORDER_COUNT];
  const int count = sketch_orders(r, made, options, sketches);
  PlannerOptions searched = *options;
  Plan *best = NULL;
  double least = 0;
  if (r->is_sketch) return count > 0 ? sketches[0].plan : NULL;
  for (int i = 0; i < count && (!best || sketches[i].seconds < least); i++) {
    const bool is_next = best != NULL;
    Plan *p = plan_problem(r, sketches[i].problem, &searched);
    const bool is_found = p->is_valid && is_placed(p);
    const double seconds = is_found ? plan_announced_seconds(r, p) : 0;
    if (is_found && (!best || seconds < least)) best = p, least = seconds, searched.worth_ns = p->simulation->makespan_ns;
    if (is_next) break;
  }
  return best;
}

/* Steps beside an exchange hold what they read until then, and what passes is on the device together with its table: where there is no room for that, in the order of the graph. */
static Plan *plan_where_there_is_room(const PlanRequest *r, const PlanningProblem *problem, const PlannerOptions *options) {
  if (!planning_has_order(problem, ORDER_OF_GRAPH)) return plan_problem(r, problem, options);
  PlannerOptions beside = *options;
  beside.least = PLANNER_LEAST_NONE; /* the order of the graph needs less */
  Plan *p = plan_problem(r, problem, &beside);
  if (is_placed(p)) return p;
  Plan *other = plan_problem(r, planning_problem_in_order(r->arena, problem, ORDER_OF_GRAPH), options);
  return is_placed(other) || !p->planned ? other : p;
}

static bool has_orders(const PlanRequest *r) { return cut_has_orders(r->cut) && !r->keeps_order && !r->takes_any; } /* any plan will do in any order */

/* NULL with `error` set: the planner cannot take the problem. */
static const Plan *plan_kernels(const PlanRequest *r, const Form *form, const Kernels *kernels, const Pins *pins, const PlannerOptions *options, ProblemError *error) {
  KnownPlan asked = {.kernels = kernels, .residents = form->residents, .pins = pins, .parts = r->cut.parts, .is_quick = r->is_quick, .keeps_staging = r->keeps_staging, .keeps_order = r->keeps_order, .options = *options};
  memcpy(asked.tier_bytes, r->machine.tier_bytes, sizeof asked.tier_bytes);
  asked.plan = known_plan(r->known, &asked);
  if (asked.plan) return asked.plan;
  const PlanningProblem *problem = planning_problem(r->arena, &r->machine, form->residents, kernels, pins, r->cut.parts, r->fingerprint, error);
  if (!problem) return NULL;
  Plan *p = has_orders(r) && options->policy < 0 ? plan_in_best_order(r, problem, options) : NULL;
  if (!p) p = plan_where_there_is_room(r, problem, options);
  count_early(r, form->residents, p);
  asked.plan = p;
  if (!r->keeps_staging && may_do_without_ssd(r, form->residents, pins, p)) {
    const PlanRequest without = plan_request_without_ssd(*r);
    const Plan *other = plan_kernels(&without, form, kernels, pins, options, error);
    if (other && is_better(r, other, p)) asked.plan = other;
  }
  if (r->known) ARENA_PUSH(r->arena, r->known->list, r->known->count, asked);
  return asked.plan;
}

Residents *form_residents(Arena *arena, const Form *form, const bool *is_sparse_field, DataHomes homes) {
  const Kernels *evaluations[] = {form->evaluations[0].kernels, form->evaluations[1].kernels};
  Residents *stays = residents(arena, form->training_kernels, evaluations[0], form->once, is_sparse_field, homes);
  residents_readers(arena, stays, form->training_kernels, evaluations, form->evaluation_count);
  return stays;
}

const PlanningProblem *plan_problem_of(const PlanRequest *r, FormKind form, ProblemError *error) {
  const Form *of = &r->forms[form];
  return planning_problem(r->arena, &r->machine, of->residents, of->training_kernels, r->pins, r->cut.parts, r->fingerprint, error);
}

/* Data are at home where there is room for them, and for their way. */
static bool homes_fit(const PlanRequest *r, const Form *form) {
  const int64_t *budgets = r->machine.tier_bytes;
  return form->residents->away_count == 0 || ((budgets[TIER_HOST] == 0 || plan_home_bytes(r, form, TIER_HOST) <= budgets[TIER_HOST]) && (budgets[TIER_SSD] == 0 || plan_home_bytes(r, form, TIER_SSD) <= budgets[TIER_SSD]));
}

int64_t plan_home_bytes(const PlanRequest *r, const Form *form, Tier tier) {
  const Parts *parts = planning_parts(r->arena, &r->machine, form->residents, form->training_kernels ? form->training_kernels : form->evaluations[0].kernels, r->cut.parts, r->fingerprint);
  if (tier == TIER_SSD) return parts_away_ssd_bytes(parts, form->residents);
  return parts_away_host_bytes(parts, form->residents) + form->residents->scores_host_bytes + planning_home_staging(&r->machine, form->residents, parts, (CachedData){0});
}

/* ---- both plans of one form ---- */

static bool fault(const PlanRequest *r, PlanAnswer *a, const char *at, const char *what) {
  a->fault_at = arena_strdup(r->arena, at);
  a->fault = arena_strdup(r->arena, what);
  return false;
}

/* Of what runs beside the epoch `training`, or without one: no policy says what it keeps, as there is no backward pass to keep anything for. Beside many steps
 * little effort is enough: a few percent of it are less of the whole. */
static PlannerOptions options_beside(const PlanRequest *r, const Plan *training) {
  enum { MANY_STEPS = 250 };
  PlannerOptions options = options_of(r);
  options.policy = -1;
  if (training && training->problem->problem->step_count > MANY_STEPS) options.effort = PLANNER_FAST;
  return options;
}

static const Plan *plan_evaluation(const PlanRequest *r, const Form *form, const Plan *training, const EvaluationForm **chosen, ProblemError *error) {
  const PlannerOptions options = options_beside(r, training);
  const Plan *p = NULL;
  for (int e = 0; e < form->evaluation_count; e++) {
    *chosen = &form->evaluations[e];
    p = plan_kernels(r, form, form->evaluations[e].kernels, NULL, &options, error);
    if (!p || is_placed(p)) break;
  }
  return p;
}

/* As long as what there is already, with what copies take from the compute beside them. */
static bool is_worthless(const PlanRequest *r, const Plan *p) { return r->worth_seconds > 0 && plan_announced_seconds(r, p) >= r->worth_seconds; }

/* What is computed once, in the parts and with the homes of the rest. */
static const Plan *plan_once(const PlanRequest *r, const Form *form, const Plan *training, ProblemError *error) {
  const PlannerOptions options = options_beside(r, training);
  return plan_kernels(r, form, form->once, NULL, &options, error);
}

/* It lies on a device of so many bytes, wherever the others lie. */
static bool lies_within(const Plan *p, int64_t bytes) { return p && p->planned && plan_needs(&p->report, TIER_DEVICE) <= bytes; }

/* All fit, but perhaps not their addresses. Plans of `before` that lie within `budget` stay as they are. */
static bool plan_all(const PlanRequest *r, const PlanAnswer *before, int64_t budget, PlanAnswer *a) {
  const PlannerOptions epoch = options_of_epoch(r);
  ProblemError error = {"", ""};
  a->evaluation = NULL;
  a->evaluation_plan = a->once_plan = NULL;
  if (a->of->training_kernels) {
    a->training_plan = r->given ? r->given : lies_within(before->training_plan, budget) ? before->training_plan : plan_kernels(r, a->of, a->of->training_kernels, r->pins, &epoch, &error);
    if (!a->training_plan) return fault(r, a, error.place, error.text);
    if (!a->training_plan->is_valid) return fault(r, a, "the training plan", "the checker rejects it");
    if (!a->training_plan->planned || is_worthless(r, a->training_plan)) return false;
  }
  if (lies_within(before->evaluation_plan, budget)) a->evaluation = before->evaluation, a->evaluation_plan = before->evaluation_plan;
  else a->evaluation_plan = plan_evaluation(r, a->of, a->training_plan, &a->evaluation, &error);
  if (!a->evaluation_plan) return fault(r, a, error.place, error.text);
  if (!a->evaluation_plan->is_valid) return fault(r, a, "the plan of the evaluation", "the checker rejects it");
  if (!a->evaluation_plan->planned || !a->of->once) return a->evaluation_plan->planned != NULL;
  a->once_plan = lies_within(before->once_plan, budget) ? before->once_plan : plan_once(r, a->of, a->training_plan, &error);
  if (!a->once_plan) return fault(r, a, error.place, error.text);
  if (!a->once_plan->is_valid) return fault(r, a, "the plan of what is computed once", "the checker rejects it");
  return a->once_plan->planned != NULL;
}

/* On the whole device, whatever smaller one they were planned for. */
static void place(const PlanRequest *r, int64_t budget, PlanAnswer *a) {
  Machine machine = r->machine;
  machine.tier_bytes[TIER_DEVICE] = budget;
  a->schedule = schedule(r->arena, &machine, a->training_plan, a->evaluation_plan, a->once_plan);
  a->layout = layout(r->arena, &machine, a->schedule, a->of->residents, !r->is_trial);
}

static bool lie_within(const PlanAnswer *a, int64_t bytes) {
  return (!a->training_plan || lies_within(a->training_plan, bytes)) && lies_within(a->evaluation_plan, bytes) && (!a->once_plan || lies_within(a->once_plan, bytes));
}

static PlanAnswer answer_on_device(PlanRequest r, FormKind form) {
  PlanAnswer a = {.cut = r.cut, .form = form, .of = &r.forms[form]}, before = a;
  a.lacks_room_at_home = !homes_fit(&r, a.of);
  if (a.lacks_room_at_home) return a;
  const int64_t budget = r.machine.tier_bytes[TIER_DEVICE];
  for (int attempt = 0; attempt < (r.is_one_of_several ? ATTEMPTS_OF_A_CUT : MAX_ATTEMPTS); attempt++) {
    if (!plan_all(&r, &before, budget, &a)) return a;
    place(&r, budget, &a);
    a.fits = a.layout->bytes <= budget;
    if (a.fits) return a;
    r.machine.tier_bytes[TIER_DEVICE] -= a.layout->bytes - budget;
    before = lie_within(&a, budget) ? (PlanAnswer){0} : a; /* else they lie within, but not together */
  }
  return a;
}

static bool fits_host(const Machine *machine, const Layout *layout) {
  return machine->tier_bytes[TIER_HOST] == 0 || layout_host_bytes(layout) <= machine->tier_bytes[TIER_HOST];
}

/* Where one plan does without the SSD and has its part of the host, all have to. */
static PlanAnswer answer_with_effort(PlanRequest r, FormKind form) {
  PlanAnswer a = answer_on_device(r, form);
  if (!a.fits || fits_host(&r.machine, a.layout)) return a;
  a = answer_on_device(plan_request_without_ssd(r), form);
  if (a.fits && fits_host(&r.machine, a.layout)) return a; /* a plan that is given may want the SSD */
  r.keeps_staging = true;
  return answer_on_device(r, form);
}

static bool is_any(const Plan *p) { return p && p->report.is_any; }

/* More effort may choose a faster plan that finds no addresses, where less effort chose one that does. Where more found no plan,
 * less finds none. And plans in an order that wants more room may find no addresses together. */
static PlanAnswer answer_in_form(PlanRequest r, FormKind form) {
  r.takes_any = r.is_quick || r.takes_first;
  const PlanAnswer first = answer_with_effort(r, form);
  PlanAnswer a = first;
  r.least = PLANNER_LEAST_NONE; /* they are known from the plan that did not fit */
  if (!a.fits && a.layout && (is_any(a.training_plan) || is_any(a.evaluation_plan) || is_any(a.once_plan))) r.takes_any = false, a = answer_with_effort(r, form);
  for (int e = (int)r.effort - 1; e >= PLANNER_FAST && !a.fits && first.layout && !a.fault; e--) {
    r.effort = (PlannerEffort)e;
    a = answer_with_effort(r, form);
  }
  if (!a.fits && first.layout && !a.fault && has_orders(&r)) r.keeps_order = true, a = answer_with_effort(r, form);
  return a.fits || a.fault ? a : first;
}

/* ---- the form ---- */

static const PlanAnswer *kept(const PlanRequest *r, PlanAnswer answer) {
  PlanAnswer *a = arena_alloc(r->arena, sizeof *a);
  *a = answer;
  return a;
}

/* Nothing is faster than a part of the steps, each of them once. */
static bool is_best(const PlanAnswer *a) { return a->fits && schedule_keeps_all(a->schedule); }

const Plan *answer_that_binds(const PlanAnswer *a) {
  if (a->training_plan && !a->training_plan->planned) return a->training_plan;
  return a->once_plan && !a->once_plan->planned ? a->once_plan : a->evaluation_plan;
}

int64_t answer_least_device(const PlanAnswer *a) {
  int64_t least = 0;
  const Plan *const plans[] = {a->training_plan, a->evaluation_plan, a->once_plan};
  for (int i = 0; i < 3; i++)
    if (plans[i] && !plans[i]->planned && plans[i]->report.least_device_bytes > least) least = plans[i]->report.least_device_bytes;
  return least;
}

/* Where neither form fits, the answer is of the one that needs less. Where only addresses were missing, nobody said how much. */
static PlanAnswer nearer_form(PlanAnswer hoisted, PlanAnswer plain) {
  int64_t least = hoisted.layout ? 0 : answer_least_device(&hoisted);
  return least > 0 && least < answer_least_device(&plain) ? hoisted : plain;
}

PlanRequest plan_request_of_first(PlanRequest r) {
  r.effort = PLANNER_FAST;
  r.takes_first = r.takes_any = true;
  return r;
}

PlanRequest plan_request_cut(const PlanRequest *request, Cut cut) {
  PlanRequest r = *request;
  const CutForms *forms = r.forms_of(r.of, cut);
  if (!forms) cut = (Cut){.parts = 1, .slices = 1}, forms = r.forms_of(r.of, cut);
  r.cut = cut;
  r.forms = forms->forms;
  r.pins = forms->pins;
  return r;
}

const PlanAnswer *plan_answer_in_form(const PlanRequest *r, FormKind form) { return kept(r, answer_in_form(*r, form)); }

/* The memory of what is computed once is taken for the whole run, so often that form does not fit where the other does. */
const PlanAnswer *plan_answer_uncut(const PlanRequest *r) {
  if (r->given || r->is_quick) return kept(r, answer_in_form(*r, r->form));
  if (r->forms[FORM_HOISTED].evaluation_count == 0) return kept(r, answer_in_form(*r, FORM_PLAIN));
  const PlanAnswer hoisted = answer_in_form(*r, FORM_HOISTED);
  if (hoisted.fault || is_best(&hoisted)) return kept(r, hoisted);
  PlanRequest every = *r;
  every.worth_seconds = hoisted.fits ? hoisted.schedule->training_seconds : 0;
  const PlanAnswer plain = answer_in_form(every, FORM_PLAIN);
  bool is_plain_faster = plain.fits && (!hoisted.fits || plain.schedule->training_seconds < hoisted.schedule->training_seconds);
  if (plain.fault || is_plain_faster) return kept(r, plain);
  return kept(r, hoisted.fits ? hoisted : nearer_form(hoisted, plain));
}

/* Of the epoch, or of the evaluation where nothing is trained. NULL: the planner cannot take the problem. */
static const Plan *sketch(PlanRequest r, const Form *of) {
  ProblemError error = {"", ""};
  r.is_sketch = true;
  const PlannerOptions options = options_of_epoch(&r);
  const Kernels *kernels = of->training_kernels ? of->training_kernels : of->evaluations[of->evaluation_count - 1].kernels;
  return plan_kernels(&r, of, kernels, of->training_kernels ? r.pins : NULL, &options, &error);
}

const Plan *plan_sketch(const PlanRequest *request, FormKind form) {
  const Form *of = &request->forms[form];
  if (of->evaluation_count == 0 || of->residents->bytes + of->residents->early_bytes > request->machine.tier_bytes[TIER_DEVICE] || !homes_fit(request, of)) return NULL;
  const Plan *p = sketch(*request, of);
  return p && p->planned ? p : NULL;
}

int64_t plan_largest_step(const PlanRequest *request, FormKind form) {
  PlanRequest r = *request;
  const Form *of = &r.forms[form];
  if (of->evaluation_count == 0 || !homes_fit(&r, of)) return INT64_MAX;
  r.least = PLANNER_LEAST_NONE;
  r.machine.tier_bytes[TIER_DEVICE] = 1; /* where nothing fits, the step that binds is the largest */
  const Plan *p = sketch(r, of);
  return p && !p->planned && p->report.bind_bytes > 0 ? p->report.bind_bytes : INT64_MAX;
}

const Plan *plan_epoch_in_form(const PlanRequest *request, FormKind form) {
  const Form *of = &request->forms[form];
  const PlannerOptions options = options_of_epoch(request);
  ProblemError error = {"", ""};
  const Plan *p = plan_kernels(request, of, of->training_kernels, request->pins, &options, &error);
  return p && p->is_valid && is_placed(p) && !is_worthless(request, p) ? p : NULL;
}

/* They end on the host, where they leave values at least half of the room there; else on the SSD. */
static Tier home_of_scores(const Machine *machine, int64_t scores_bytes) {
  const int64_t host = machine->tier_bytes[TIER_HOST], ssd = machine->tier_bytes[TIER_SSD];
  if (host > 0 && (ssd == 0 || scores_bytes <= host / 2)) return TIER_HOST;
  return ssd > 0 ? TIER_SSD : TIER_DEVICE;
}

Cut cut_with_scores_away(const Machine *machine, int64_t scores_bytes, Cut cut) {
  cut.scores_home = home_of_scores(machine, scores_bytes);
  return cut;
}

Cut cut_with_homes(const Machine *machine, int64_t scores_bytes, Cut cut, Tier fields, Tier graph, Tier learned) {
  cut.fields_home = fields;
  cut.graph_home = graph;
  cut.learned_home = learned;
  return cut_has_data_away(cut) && !cut.ranks ? cut_with_scores_away(machine, scores_bytes, cut) : cut; /* all ranks get those of all */
}

/* At home on the SSD where that was to be the host. Its graphs are the same, and so is what stays on the host as a whole. */
static Cut cut_on_ssd(const PlanRequest *r, Cut cut) {
  cut.cached = (CachedData){0, cut.fields_home == TIER_HOST, cut.graph_home == TIER_HOST, cut.learned_home == TIER_HOST};
  return cut_with_homes(&r->machine, r->scores_bytes, cut, cut.cached.fields ? TIER_SSD : cut.fields_home, cut.cached.graph ? TIER_SSD : cut.graph_home, cut.cached.learned ? TIER_SSD : cut.learned_home);
}

Cut cut_sparing_host(const PlanRequest *r, Cut cut) {
  if (r->machine.tier_bytes[TIER_SSD] == 0) return cut;
  if (cut.fields_home == TIER_HOST || cut.graph_home == TIER_HOST || cut.learned_home == TIER_HOST) cut = cut_on_ssd(r, cut);
  if (cut.scores_home == TIER_HOST) cut.scores_home = TIER_SSD;
  return cut;
}

Cut cut_cached(const PlanRequest *r, Cut cut, int quarters) {
  const int64_t host = r->machine.tier_bytes[TIER_HOST];
  if (cut.cached.fields) cut.fields_home = TIER_HOST;
  if (cut.cached.graph) cut.graph_home = TIER_HOST;
  if (cut.cached.learned) cut.learned_home = TIER_HOST;
  cut.cached = (CachedData){0};
  Cut ssd = cut_on_ssd(r, cut);
  if (host == 0 || r->machine.tier_bytes[TIER_SSD] == 0 || (!ssd.cached.fields && !ssd.cached.graph && !ssd.cached.learned)) return cut;
  const CutForms *forms = r->forms_of(r->of, cut);
  if (!forms) return cut;
  /* What is computed once is at home there, too: whether a share of the room is worth trying is asked of the form that has it, whether all has room of the other. */
  const Form *of = &forms->forms[quarters < ALL_ROOM && forms->forms[FORM_HOISTED].evaluation_count ? FORM_HOISTED : FORM_PLAIN];
  int64_t wanted = 0;
  for (int i = 0; i < of->residents->away_count; i++)
    if (of->residents->away[i].tier == TIER_HOST && resident_is_of(of->residents, i, ssd.cached)) wanted += round_up(of->residents->away[i].bytes, of->residents->alignment);
  const int64_t fixed = of->residents->away_bytes + of->residents->scores_host_bytes - wanted, room = host > fixed ? host - fixed : 0;
  if (wanted <= (quarters == ALL_ROOM ? room : room / 2)) return cut;
  const Kernels *reader = of->training_kernels ? of->training_kernels : of->evaluations[0].kernels;
  const int64_t staging = planning_home_staging(&r->machine, of->residents, parts_of(r->arena, reader, of->residents, cut.parts), ssd.cached);
  ssd.cached.bytes = room > staging ? (room - staging) / ALL_ROOM * quarters : 0;
  return ssd;
}

static const char *const places[] = {[TIER_HOST] = "on the host", [TIER_SSD] = "on the SSD", [TIER_SSD + 1] = "on host and SSD"};

static int place_of(Tier home, bool is_cached, Cut cut) { return is_cached && cut.cached.bytes > 0 ? TIER_SSD + 1 : (int)home; }

const char *cut_learned_text(Arena *arena, Cut cut) {
  return cut.learned_home == TIER_DEVICE ? "" : arena_printf(arena, ", learned values %s", places[place_of(cut.learned_home, cut.cached.learned, cut)]);
}

const char *cut_data_text(Arena *arena, Cut cut) {
  const int fields = place_of(cut.fields_home, cut.cached.fields, cut), graph = place_of(cut.graph_home, cut.cached.graph, cut);
  const bool has_fields = cut.fields_home != TIER_DEVICE, has_graph = cut.graph_home != TIER_DEVICE;
  if (!cut_has_data_away(cut) && cut.scores_home != TIER_DEVICE) return arena_printf(arena, ", scores of all nodes %s", places[cut.scores_home]);
  if (has_fields && has_graph && fields == graph) return arena_printf(arena, ", features and graph %s", places[fields]);
  const char *of_fields = has_fields ? arena_printf(arena, ", features %s", places[fields]) : "", *of_graph = has_graph ? arena_printf(arena, ", graph %s", places[graph]) : "";
  return graph < fields ? arena_printf(arena, "%s%s", of_graph, of_fields) : arena_printf(arena, "%s%s", of_fields, of_graph);
}

double answer_seconds(const PlanAnswer *a) { return a->training_plan ? a->schedule->training_seconds : a->schedule->evaluation_seconds; }

/* ---- the epoch alone, the evaluation alone ---- */

/* What is computed once has a plan, too. */
static bool can_run_before(const PlanRequest *request, const Form *form) {
  PlanRequest r = *request;
  ProblemError error = {"", ""};
  r.is_sketch = true;
  r.least = PLANNER_LEAST_NONE;
  const Plan *p = form->once ? plan_once(&r, form, NULL, &error) : NULL;
  return !form->once || (p && p->planned);
}

/* Pins are of the form that computes everything where it was written. */
const Plan *plan_epoch(const PlanRequest *request) {
  PlanRequest r = *request;
  ProblemError error = {"", ""};
  const Plan *best = NULL;
  double least = 0;
  for (int f = r.pins ? FORM_PLAIN : FORM_HOISTED; f >= FORM_PLAIN; f--) {
    const Form *form = &r.forms[f];
    if (!form->training_kernels || !homes_fit(&r, form)) continue;
    r.least = f == FORM_HOISTED ? PLANNER_LEAST_NONE : request->least;
    if (best && best->planned && !(request->worth_seconds > 0 && request->worth_seconds < least)) r.worth_seconds = least;
    const PlannerOptions options = options_of_epoch(&r);
    const Plan *p = plan_kernels(&r, form, form->training_kernels, r.pins, &options, &error);
    if (!p || !p->planned || !can_run_before(&r, form)) {
      if (!best || !best->planned) best = p; /* that of the plain form says what would be enough */
      continue;
    }
    const Schedule *s = schedule(r.arena, &r.machine, NULL, p, NULL);
    if (!best || !best->planned || s->evaluation_seconds < least) best = p, least = s->evaluation_seconds;
    if (schedule_keeps_all(s)) break;
  }
  return best;
}

const Plan *plan_evaluation_beside(const PlanRequest *r, const Plan *training) {
  ProblemError error = {"", ""};
  const EvaluationForm *chosen;
  bool is_hoisted = training->problem->kernels == r->forms[FORM_HOISTED].training_kernels;
  return plan_evaluation(r, &r->forms[is_hoisted ? FORM_HOISTED : FORM_PLAIN], training, &chosen, &error);
}

/* 0: there is none, or none below `below`, where that is not 0. */
static int64_t least_of_form(PlanRequest r, const Form *form, int64_t below) {
  const Kernels *const all[] = {form->training_kernels, form->evaluations[form->evaluation_count - 1].kernels, form->once};
  const Pins *const pins[] = {r.pins, NULL, NULL};
  int64_t least = 0;
  r.machine.tier_bytes[TIER_DEVICE] = form->residents->bytes + 1;
  r.effort = PLANNER_FAST;
  r.policy = -1;
  r.time_limit_s = 0;
  r.least = PLANNER_LEAST_QUICK;
  PlannerOptions options = options_of(&r);
  options.least_below = below;
  for (int i = 0; i < 2 + (form->once != NULL); i++) {
    ProblemError error = {"", ""};
    const Plan *p = plan_kernels(&r, form, all[i], pins[i], &options, &error);
    if (p && p->planned && all[i] == form->once) continue;
    if (!p || p->planned || p->report.least_device_bytes < 0) return 0;
    if (p->report.least_device_bytes > least) least = p->report.least_device_bytes;
  }
  return least;
}

int64_t plan_least_device(const PlanRequest *r) {
  const Form *hoisted = &r->forms[FORM_HOISTED];
  int64_t plain = least_of_form(*r, &r->forms[FORM_PLAIN], 0), once = hoisted->evaluation_count > 0 ? least_of_form(*r, hoisted, plain) : 0;
  return once > 0 && (once < plain || plain == 0) ? once : plain;
}

/* ---- everything kept ---- */

static const Plan *keep_all_of(const PlanRequest *r, const Form *form, const Kernels *kernels) {
  PlannerOptions options;
  ProblemError error = {"", ""};
  planner_default_options(&options);
  options.policy = POLICY_KEEP;
  const Plan *p = plan_kernels(r, form, kernels, NULL, &options, &error);
  return p && p->planned ? p : NULL;
}

const KeepOrder *plan_keep_order(const PlanRequest *request, const PlanAnswer *answer) {
  PlanRequest r = *request;
  const Form *form = answer->of;
  r.machine.tier_bytes[TIER_DEVICE] = INT64_C(1) << 50;
  r.machine.tier_bytes[TIER_HOST] = r.machine.tier_bytes[TIER_SSD] = 0;
  const Plan *training = form->training_kernels ? keep_all_of(&r, form, form->training_kernels) : NULL;
  const Plan *evaluation = keep_all_of(&r, form, answer->evaluation->kernels);
  const Plan *once = form->once ? keep_all_of(&r, form, form->once) : NULL;
  if (!evaluation || (form->training_kernels && !training) || (form->once && !once)) return NULL;
  KeepOrder *order = arena_alloc(r.arena, sizeof *order);
  order->schedule = schedule(r.arena, &r.machine, training, evaluation, once);
  order->layout = layout(r.arena, &r.machine, order->schedule, form->residents, true);
  return order;
}
