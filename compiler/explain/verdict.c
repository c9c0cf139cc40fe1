/* verdict: an answer that does not fit -> what binds, and the ways out, each of which was planned. */
#include "verdict.h"

#include <math.h>
#include <string.h>

#include "compiler/base/time_unit.h"
#include "compiler/plan/tiers.h"
#include "compiler/planner/geometry.h"
#include "runtime/base/text.h"

typedef struct Verdict {
  Arena *arena;
  const Refusal *refusal;
  const PlanRequest *request;
  const char *fault; /* of a plan that was tried */
  int64_t work;      /* of those tried so far, */
  int64_t most_work; /* and what they may cost */
  bool is_packed_short; /* what was tried last has plans that would fit, and no addresses for them */
  int64_t least_bytes;  /* the smallest device for which a plan was found; 0: none was */
  double least_seconds;  /* of an epoch there; 0: not known */
  bool is_rough;        /* how long an epoch takes there was asked with little effort */
  TimeUnit unit;        /* of the times that are told; no name: none was yet */
  bool is_least;        /* with a hundredth less, and with three, the planner finds none, of whatever cut */
} Verdict;

/* In one unit, that of the first which is told; "at most 8 ms" where little effort found it: whoever types it gets that plan, or one that all effort finds. */
static const char *seconds_text(Verdict *v, double seconds) {
  if (!v->unit.name) v->unit = time_unit(seconds);
  return arena_printf(v->arena, "%s%s", v->is_rough ? "at most " : "", time_text(v->arena, v->unit, seconds));
}

static const char *epoch_text(Verdict *v, const PlanAnswer *answer) { return seconds_text(v, answer_seconds(answer)); }

/* ---- trying ---- */

static bool has_work_left(const Verdict *v) { return v->work < v->most_work && !v->fault; }

/* NULL: it does not fit. */
static const PlanAnswer *try(Verdict *v, const PlanRequest *request) {
  PlanRequest counted = *request;
  counted.work = &v->work;
  const PlanAnswer *answer = plan_answer(&counted);
  if (answer->fault) v->fault = answer->fault;
  v->is_packed_short = !answer->fits && answer->layout;
  return answer->fits ? answer : NULL;
}

static const PlanAnswer *try_size(Verdict *v, PlanRequest request, Tier tier, int64_t bytes) {
  request.machine.tier_bytes[tier] = bytes;
  return try(v, &request);
}

/* As whoever types an option would ask; where that takes long, for the first plan that fits, which is found by whoever types it, too. */
static PlanRequest as_asked(const Verdict *v) {
  PlanRequest r = *v->refusal->asked;
  r.least = PLANNER_LEAST_NONE;
  r.is_trial = r.needs_no_bound = true;
  return v->is_rough ? plan_request_of_first(r) : r;
}

/* From a device on which `request` has a plan down: by a hundredth, and where that is none, as what fits is not quite
 * monotone, by three, until neither does. At most so many questions, and none once the work is done; v->is_least: they were enough. */
static const PlanAnswer *look_lower(Verdict *v, const PlanRequest *request, int64_t too_small, int tries, const char **size, int64_t *bytes) {
  static const int percents[] = {1, 3};
  enum { LOOKS = sizeof percents / sizeof *percents };
  const PlanAnswer *found = NULL;
  int looks = 0;
  for (int i = 0; i < tries && looks < LOOKS && has_work_left(v); i++) {
    int64_t typed;
    const char *text = advice_size(v->arena, *bytes - *bytes * percents[looks] / 100, &typed);
    const PlanAnswer *less = typed < *bytes && typed > too_small ? try_size(v, *request, TIER_DEVICE, typed) : NULL;
    if (less) found = less, *size = text, *bytes = typed;
    looks = less ? 0 : looks + 1;
  }
  v->is_least = looks == LOOKS;
  return found;
}

/* A device on which some cut has a plan, to a hundredth the smallest, by the first plan that is found: up from `guess`, to what a plan needed that found no room there, down by a part in 25, two, four, ... and by halves, as long as there is
 * work left. Sizes as they are typed: a plan that somebody types a size for is sought as this one was, too. NULL: none. */
static const PlanAnswer *least_of_any_cut(Verdict *v, const PlanRequest *probe, int64_t too_small, int64_t guess, int64_t most, const char **size, int64_t *bytes) {
  enum { TRIES = 10 };
  int64_t bad = too_small, good = guess > 0 ? guess : most, height;
  const PlanAnswer *answer = NULL;
  PlanRequest up = *probe;
  up.height = &height;
  for (;; good = height > good + good / 8 ? height : good + good / 8 + 1) {
    height = 0;
    *size = advice_size(v->arena, good, &good);
    answer = try_size(v, up, TIER_DEVICE, good);
    if (answer || good >= 2 * most || v->fault) break;
    bad = good;
  }
  bool is_between = bad > too_small;
  int64_t step = good / 25;
  for (int i = 0; i < TRIES && good - bad > good / 100 && answer && has_work_left(v); i++) {
    int64_t less;
    const char *text = advice_size(v->arena, is_between || good - step <= bad ? bad + (good - bad) / 2 : good - step, &less);
    const PlanAnswer *lower = less < good ? try_size(v, *probe, TIER_DEVICE, less) : NULL;
    if (lower) answer = lower, good = less, *size = text, step *= 2;
    else bad = less, is_between = true;
  }
  *bytes = good;
  return answer;
}

static bool is_large(const Verdict *v) {
  enum { FEW_STEPS = 250 };
  const PlanAnswer *asked = v->refusal->answer;
  const Plan *of = asked->training_plan ? asked->training_plan : asked->evaluation_plan;
  return of->problem->problem->step_count > FEW_STEPS;
}

/* Of this cut: from what the planner
 * says up to one that does, then down by steps, each twice the one before, until one does not, and by halves between the two,
 * but not to what cannot do. What the planner says is mostly the least, or near it. KiB. */
static int64_t least_of_this_cut(Verdict *v, int64_t too_small, int64_t guess, int64_t most) {
  enum { KIB = 1024, TRIES = 14, TRIES_WHEN_LARGE = 5, FINEST = 200 };
  const int tries = is_large(v) ? TRIES_WHEN_LARGE : TRIES;
  int64_t bad = too_small / KIB, good = round_up(guess > 0 ? guess : most, KIB) / KIB;
  PlanRequest quick = *v->request;
  quick.effort = PLANNER_FAST; /* whatever fits then, fits with more effort */
  quick.is_quick = true;
  quick.form = v->refusal->answer->form;
  while (good * KIB < 2 * most && !try_size(v, quick, TIER_DEVICE, good * KIB) && !v->fault) {
    bad = good;
    good += good / 8 + 1;
  }
  bool is_between = bad > too_small / KIB; /* one that does not do was met on the way up */
  bool is_hard = is_between; /* to find addresses, so that what fits is not quite monotone */
  int64_t step = good / FINEST + 1;
  for (int i = 0; i < tries && good - bad > good / FINEST + 1 && has_work_left(v); i++) {
    int64_t less = is_between || good - step <= bad ? bad + (good - bad) / 2 : good - step;
    if (try_size(v, quick, TIER_DEVICE, less * KIB)) good = less, step *= 2;
    else bad = less, is_between = true, is_hard |= v->is_packed_short;
  }
  for (int percent = 1; is_hard && percent <= (tries == TRIES ? 3 : 1) && has_work_left(v); percent++) {
    int64_t less = good - good * percent / 100 - 1;
    if (less * KIB <= too_small || !try_size(v, quick, TIER_DEVICE, less * KIB)) continue;
    good = less;
    percent = 0;
  }
  return good;
}

/* The smallest device, as the option is written (`size`), on which a plan with addresses was found, with every cut and form where there is a choice. NULL: none.
 * What little effort finds is found by whoever types it (plan/choose_cut.c), so that where all effort would take long it is not asked how long an epoch takes then. */
static const PlanAnswer *least_device(Verdict *v, int64_t too_small, int64_t guess, int64_t most, const char **size, int64_t *bytes) {
  enum { KIB = 1024, FINEST = 200, FEW = 4, MOST = 10, MOST_WHEN_LARGE = 5, TIMES = 8 /* what has been worked, all effort takes about so often */ };
  const bool has_cuts = v->refusal->asked->parts_at_most > 1;
  PlanRequest request = as_asked(v);
  const PlanAnswer *answer = NULL, *lower;
  if (has_cuts) {
    request = plan_request_of_first(request);
    answer = least_of_any_cut(v, &request, too_small, guess, most, size, bytes);
    if (!answer) return NULL;
  } else {
    *size = advice_size(v->arena, KIB * least_of_this_cut(v, too_small, guess, most), bytes);
  }
  lower = look_lower(v, &request, too_small, is_large(v) ? MOST_WHEN_LARGE : MOST, size, bytes);
  if (lower) answer = lower;
  v->is_rough = has_cuts && TIMES * v->work > REFUSAL_WORK;
  if (v->is_rough) return answer;
  /* What fits with little effort may find no addresses with more; and more effort may find some for less. */
  const int64_t found = *bytes;
  answer = NULL;
  for (int more = 0; more <= FEW && !answer && !v->fault; more++) {
    if (more > 0) *size = advice_size(v->arena, found + more * (found / FINEST + 1), bytes);
    answer = try_size(v, as_asked(v), TIER_DEVICE, *bytes);
  }
  v->is_least = v->is_least && answer && *bytes == found;
  for (int less = 0; v->is_least && has_cuts && less < FEW; less++) {
    int64_t typed;
    const char *text = advice_size(v->arena, *bytes - *bytes / 100, &typed);
    lower = typed > too_small && typed < *bytes ? try_size(v, as_asked(v), TIER_DEVICE, typed) : NULL;
    if (!lower) break;
    answer = lower, *size = text, *bytes = typed;
    v->is_least = less + 1 < FEW;
  }
  return answer;
}

/* One more way out: a tier that is not there, or not large enough. What a plan made with little effort takes of plenty is
 * planned for with all: that is the plan which the option brings. */
static const char *try_tier(Verdict *v, Tier tier, int64_t plenty) {
  const Changes *changes = v->refusal->changes;
  const char *size;
  int64_t bytes;
  if (plenty > changes->tier_most[tier]) plenty = changes->tier_most[tier];
  if (v->request->machine.tier_bytes[tier] >= plenty || !changes->has_tier[tier]) return NULL;
  PlanRequest fast = as_asked(v);
  fast.effort = PLANNER_FAST; /* whatever fits then, fits with more effort */
  const PlanAnswer *answer = try_size(v, fast, tier, plenty);
  if (!answer) return NULL;
  size = advice_size(v->arena, tier == TIER_HOST ? layout_host_bytes(answer->layout) : answer->layout->ssd_bytes, &bytes);
  answer = try_size(v, as_asked(v), tier, bytes);
  if (!answer) size = advice_size(v->arena, plenty, &bytes), answer = try_size(v, as_asked(v), tier, bytes);
  if (!answer) return NULL;
  return arena_printf(v->arena, "--budget %s=%s -> %s per epoch", tier_names[tier], size, epoch_text(v, answer));
}

/* Where the host is too small for the way of values to the SSD, they may go there without it. */
static const char *try_ssd_alone(Verdict *v) {
  const int64_t *budgets = v->request->machine.tier_bytes;
  const PlanAnswer *answer = budgets[TIER_HOST] > 0 && budgets[TIER_SSD] > 0 ? try_size(v, as_asked(v), TIER_HOST, 0) : NULL;
  return answer ? arena_printf(v->arena, "--budget %s=0, for the SSD alone -> %s per epoch", tier_names[TIER_HOST], epoch_text(v, answer)) : NULL;
}

/* What leaves the device does not fit where it goes: true where a larger host or SSD of those there are is enough. */
static const char *try_overflow(Verdict *v, int64_t enough) {
  const int64_t *budgets = v->request->machine.tier_bytes;
  for (Tier tier = TIER_HOST; tier < TIER_COUNT; tier++) {
    int64_t budget = budgets[tier];
    const PlanAnswer *answer = budget > 0 && budget < enough ? try_size(v, *v->request, tier, 2 * enough) : NULL;
    if (!answer) continue;
    int64_t used = tier == TIER_HOST ? layout_host_bytes(answer->layout) : answer->layout->ssd_bytes;
    return arena_printf(v->arena, "spilling %s overflows %s (%s)%s", arena_strdup(v->arena, gnn_bytes_text(used).text), tier_names[tier],
                        arena_strdup(v->arena, gnn_bytes_text(budget).text), budgets[TIER_SSD] > 0 ? "" : " and there is no ssd tier");
  }
  return NULL;
}

static const char *try_change(Verdict *v, const Change *change) {
  const Changes *changes = v->refusal->changes;
  if (!has_work_left(v)) return NULL;
  Change tried = *change;
  tried.takes_first = v->is_rough;
  const ChangedPlan p = changes->plan(changes->of, &tried);
  v->work += p.work;
  const bool is_other_machine = change->kind == CHANGE_PROCESSOR || change->kind == CHANGE_CARD;
  if (is_other_machine && changes->has_budgets && v->least_seconds > 0 && 5 * p.seconds > 4 * v->least_seconds) return NULL; /* a larger budget is less trouble */
  const char *says = change->kind == CHANGE_CONSTANT ? "; a smaller model" : change->kind == CHANGE_PRECISION ? arena_printf(v->arena, "; %s", advice_rounding(change->precision)) : "";
  return p.fits && p.has_same_data ? arena_printf(v->arena, "%s -> %s per epoch%s", advice_option(changes, change), seconds_text(v, p.seconds), says) : NULL;
}

enum { MOST_HALVINGS = 3 /* what has to be much less is no such model any more */ };

/* How often what there is has to be halved to fit, if all of it is; 1 where the least is not known, more than MOST_HALVINGS where so many are not enough. */
static int halvings(const Verdict *v) {
  int n = 1;
  while (n <= MOST_HALVINGS && v->least_bytes > v->request->machine.tier_bytes[TIER_DEVICE] << n) n++;
  return n;
}

/* Half of a constant of the program, such as a hidden width, or a quarter: the first that is enough. */
static const char *try_constants(Verdict *v) {
  enum { TRIED = 3 };
  const TypedProgram *program = v->refusal->program;
  for (int i = 0, tried = 0; i < program->const_count && tried < TRIED; i++) {
    const int first = halvings(v);
    for (int n = first; n <= first + 1 && n <= MOST_HALVINGS; n++) {
      const Change change = {.kind = CHANGE_CONSTANT, .name = program->consts[i].name, .value = advice_part_of(v->arena, program->consts[i].value, n)};
      const char *way = change.value ? try_change(v, &change) : NULL;
      if (way) return way;
      tried += change.value != NULL && n == first;
    }
  }
  return NULL;
}

/* Stored values of half the size. */
static const char *try_precision(Verdict *v) {
  const Changes *changes = v->refusal->changes;
  for (int i = 0; i < changes->precision_count; i++)
    if (changes->precisions[i] == PRECISION_BF16 && halvings(v) == 1) return try_change(v, &(Change){.kind = CHANGE_PRECISION, .precision = PRECISION_BF16});
  return NULL;
}

static const char *try_processor(Verdict *v) {
  const Changes *changes = v->refusal->changes;
  return changes->processor ? try_change(v, &(Change){.kind = CHANGE_PROCESSOR}) : NULL;
}

/* The smallest that has what the smallest plan needs, and more than there is. */
static const char *try_card(Verdict *v) {
  const Changes *changes = v->refusal->changes;
  const int64_t own = changes->tier_most[TIER_DEVICE];
  const char *card = changes->can_be_card ? changes->card(changes->of, v->least_bytes, changes->is_processor ? 0 : own) : NULL;
  return card ? try_change(v, &(Change){.kind = CHANGE_CARD, .name = card}) : NULL;
}

static const char *joined(Arena *arena, const char *list, const char *item) {
  if (!item) return list ? list : "";
  return list && *list ? arena_printf(arena, "%s \302\267 %s", list, item) : item;
}

/* ---- what binds ---- */

/* What the step that binds needs is what no plan can avoid. */
static bool is_base_need(const Plan *plan) {
  Arena *arena = arena_new();
  const Geometry *g = geometry_make(plan->problem->problem, arena);
  bool is_base = g->base_bytes[plan->report.bind_step] == plan->report.bind_bytes;
  arena_free(arena);
  return is_base;
}

typedef struct Binding {
  const char *what; /* the operation at which most is needed */
  Place place;
} Binding;

static Binding binding(const Verdict *v, const Plan *p) {
  const Problem *problem = p->problem->problem;
  const Kernels *kernels = p->problem->kernels, *once = v->refusal->answer->of->once;
  int32_t kernel = !p->planned && problem->step_count ? p->problem->kernel_of_op[problem->steps[p->report.bind_step].op] : NO_INDEX;
  if (p->is_early) kernels = once, kernel = 0;
  if (kernel == NO_INDEX) return (Binding){"the data", v->refusal->program->data->place};
  const Kernel *k = &kernels->kernels[kernel];
  return (Binding){kernel_said(kernels, k), kernels->graph->values[k->anchor].place};
}

static const char *ways_out(Verdict *v, int64_t too_small, int64_t guess, int64_t all) {
  const char *device = tier_device(v->refusal->program), *ways = "", *size;
  const int64_t most = v->refusal->changes->tier_most[TIER_DEVICE];
  int64_t bytes;
  const PlanAnswer *least = least_device(v, too_small, guess, all, &size, &bytes);
  v->least_bytes = least ? bytes : 0;
  v->least_seconds = least ? answer_seconds(least) : 0;
  if (least)
    ways = arena_printf(v->arena, "--budget %s=%s is the smallest that %s (%s per epoch%s)", device, size, v->is_least && !v->is_rough ? "works" : "was found", epoch_text(v, least),
                        bytes > most ? arena_printf(v->arena, "; %s has %s", v->request->machine.name, gnn_bytes_text(most).text) : "");
  if (v->most_work < v->work + REFUSAL_WORK) v->most_work = v->work + REFUSAL_WORK; /* the other ways have their own */
  const char *precision = v->refusal->changes->is_fixed ? NULL : try_precision(v); /* one plan; tiers may take all the work there is */
  if (has_work_left(v)) ways = joined(v->arena, ways, try_tier(v, TIER_HOST, all));
  if (has_work_left(v)) ways = joined(v->arena, ways, try_tier(v, TIER_SSD, 2 * all));
  if (v->refusal->changes->is_fixed) return ways;
  ways = joined(v->arena, ways, precision);
  ways = joined(v->arena, ways, try_constants(v));
  ways = joined(v->arena, ways, try_processor(v));
  return joined(v->arena, ways, try_card(v));
}

/* Data are to be at home on the host or the SSD, which is too small for them. */
static const char *refuse_homes(Verdict *v, Diags *diags) {
  const PlanRequest *r = v->request;
  const Form *form = v->refusal->answer->of;
  const Tier tier = r->machine.tier_bytes[TIER_HOST] > 0 && plan_home_bytes(r, form, TIER_HOST) > r->machine.tier_bytes[TIER_HOST] ? TIER_HOST : TIER_SSD;
  const int64_t bytes = plan_home_bytes(r, form, tier);
  diags_error(diags, "E0502", v->refusal->program->data->place, "what is to be at home on the %s takes %s%s, and the %s budget is %s", tier == TIER_HOST ? "host" : "SSD", gnn_bytes_above_text(bytes).text,
              tier == TIER_HOST && plan_home_bytes(r, form, TIER_SSD) > 0 ? " with what passes there on its way to the SSD" : "", tier_names[tier], arena_strdup(v->arena, gnn_bytes_text(r->machine.tier_bytes[tier]).text));
  const char *ways = joined(v->arena, try_tier(v, TIER_HOST, 4 * bytes), try_tier(v, TIER_SSD, 4 * bytes));
  if (*ways) diags_help(diags, "%s", ways);
  return v->fault;
}

const char *verdict_refuse(const Refusal *refusal, Diags *diags) {
  const PlanAnswer *answer = refusal->answer;
  PlanRequest trial = *refusal->request;
  trial.least = PLANNER_LEAST_NONE; /* they are known from the plan that did not fit */
  trial.is_trial = trial.needs_no_bound = true;
  Verdict v = {.arena = trial.arena, .refusal = refusal, .request = &trial, .most_work = REFUSAL_WORK};
  if (answer->lacks_room_at_home) return refuse_homes(&v, diags);
  const Plan *p = answer_that_binds(answer);
  const PlannerReport *r = &p->report;
  const Problem *problem = p->problem->problem;
  const int64_t *budgets = trial.machine.tier_bytes, budget = budgets[TIER_DEVICE], stays = answer->of->residents->bytes;
  const char *device = tier_device(refusal->program);
  const Binding binds = binding(&v, p);
  const int64_t bind_bytes = p->planned ? 0 : r->bind_bytes, needed = bind_bytes > 0 ? bind_bytes : answer->layout ? answer->layout->bytes : 0;
  if (refusal->plan_from) {
    diags_error(diags, "E0501", binds.place, "the plan of %s needs %s of addresses, the %s budget is %s", refusal->plan_from,
                gnn_bytes_above_text(answer->layout ? answer->layout->bytes : bind_bytes).text, device, gnn_bytes_text(budget).text);
    return NULL;
  }
  int64_t all = stays, guess = answer_least_device(answer);
  for (int i = 0; i < problem->datum_count; i++) all += problem->data[i].bytes;
  const char *together = r->bind_bytes > 0 && !p->planned && !p->is_early ? plan_bind(v.arena, p) : "";
  bool is_unavoidable = !p->planned && !p->is_early && bind_bytes > budget && is_base_need(p);
  const int64_t too_small = is_unavoidable ? bind_bytes - 1 : stays;
  const char *ways = ways_out(&v, too_small > budget ? too_small : budget, guess > budget ? guess : budget + 1024, all), *overflow = try_overflow(&v, all);
  if (overflow) ways = joined(v.arena, ways, try_ssd_alone(&v));
  int64_t needed_as_typed;
  advice_size(v.arena, needed, &needed_as_typed);
  const bool has_more = !overflow && v.least_bytes > needed_as_typed; /* than what binds: it has no addresses, or more is needed elsewhere */
  const bool has_less = v.least_bytes > 0 && v.least_bytes < needed;  /* one for another budget comes nearer */
  if (overflow)
    diags_error(diags, "E0502", binds.place, "fits the %s, but %s", device, overflow);
  else if (is_unavoidable)
    diags_error(diags, "E0501", binds.place, "no plan fits %s budget %s: operation %s (line %d) needs %s at one moment, whatever else is %s", device,
                gnn_bytes_text(budget).text, binds.what, (int)binds.place.line, gnn_bytes_above_text(bind_bytes).text,
                budgets[TIER_HOST] > 0 || budgets[TIER_SSD] > 0 ? "moved away" : "made again later");
  else
    diags_error(diags, "E0501", binds.place, "no %s fits %s budget %s: the one that %s needs %s%s at operation %s (line %d)", trial.policy >= 0 ? "plan of this policy" : "plan",
                device, gnn_bytes_text(budget).text, has_less ? "was made for it" : "comes nearest", gnn_bytes_above_text(has_more ? v.least_bytes : needed).text, has_more ? ", most of it" : "", binds.what, (int)binds.place.line);
  if (is_unavoidable && has_more) diags_note(diags, "more is needed at other moments: the smallest %s for which a plan was found has %s", device, gnn_bytes_above_text(v.least_bytes).text);
  if (*together) diags_note(diags, "there together: %s", together);
  else diags_note(diags, "%s of it for graph, features, weights and optimiser", gnn_bytes_text(stays).text);
  if (*ways) diags_help(diags, "%s", ways);
  return v.fault;
}
