/* sweep_program: PlanRequest, PlanAnswer -> Sweep. */
#include "sweep_program.h"

#include <math.h>
#include <string.h>

#include "compiler/plan/decisions.h"
#include "compiler/plan/tiers.h"

const char *sweep_prepare(Arena *arena, const TypedProgram *program, const char *text, Machine *machine) {
  SweepRange ranges[2];
  int count;
  const char *fault = sweep_read(arena, text, tier_device(program), machine->tier_bytes, ranges, &count);
  if (!fault && !program->has_train) fault = "there is no train block to plan for";
  for (int i = 0; !fault && i < count; i++) machine->tier_bytes[ranges[i].tier] = ranges[i].high;
  return fault;
}

/* ---- points ---- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* "16 parts, 4 slices, features on the host"; NULL: whole values. */
static const char *mode_of(Arena *arena, Cut cut) {
  const char *slices = cut.slices > 1 ? arena_printf(arena, ", %d slices", cut.slices) : cut.has_halos ? ", halos" : "";
  return !cut_is_of_whole_values(cut) ? arena_printf(arena, "%d part%s%s%s%s%s", cut.parts, cut.parts == 1 ? "" : "s", slices, layer_cuts_text(arena, cut.layers, cut.parts), cut_data_text(arena, cut), cut_learned_text(arena, cut)) : NULL;
}

static void fill(const PlanRequest *r, const Plan *p, const Plan *evaluation, Tier tier, SweepPoint *point) {
  const Schedule *s = schedule(r->arena, &r->machine, p, evaluation, NULL);
  const Decisions *d = decisions(r->arena, s, NULL);
  point->fits = true;
  point->ns = llround(1e9 * s->training_seconds);
  point->mode = mode_of(r->arena, r->cut);
  point->needs = larger(plan_needs(&p->report, tier), plan_needs(&evaluation->report, tier));
  for (int i = 0; i < d->count; i++) point->fates[d->list[i].fate]++;
}

static const PlannerReport *does_not_fit(const PlanRequest *r, const Plan *p, SweepPoint *point) {
  if (!p) return NULL;
  point->binds = plan_bind(r->arena, p);
  return &p->report;
}

/* As a compilation with these budgets would be, with little effort. */
static const PlannerReport *try_every_cut(PlanRequest r, Tier tier, SweepPoint *point) {
  r.effort = PLANNER_FAST;
  const PlanAnswer *a = plan_answer(&r);
  if (a->fault) return NULL;
  if (!a->fits) return does_not_fit(&r, a->evaluation_plan ? answer_that_binds(a) : a->training_plan, point);
  r.cut = a->cut;
  fill(&r, a->training_plan, a->evaluation_plan, tier, point);
  if (tier == TIER_DEVICE) point->needs = a->layout->bytes;
  return &a->training_plan->report;
}

/* The plan of the epoch, or of the evaluation where that is what does not fit. */
static const PlannerReport *try_budgets(void *of, const int64_t tier_bytes[TIER_COUNT], Tier tier, SweepPoint *point) {
  const SweptProgram *w = of;
  const PlanAnswer *own = w->answer;
  const bool may_be_cut = w->asked->parts_at_most > 1;
  PlanRequest r = may_be_cut ? *w->asked : *w->request;
  if (w->work_at_most > 0 && *w->request->work > w->work_at_most) return NULL;
  memcpy(r.machine.tier_bytes, tier_bytes, sizeof r.machine.tier_bytes);
  r.policy = -1;
  r.needs_no_bound = true;
  r.least = tier == TIER_DEVICE ? PLANNER_LEAST_DEVICE : PLANNER_LEAST_ALL;
  if (may_be_cut) return try_every_cut(r, tier, point);
  r = plan_request_with_room(&r);
  const Plan *p = plan_epoch(&r);
  if (!p || !p->planned) return does_not_fit(&r, p, point);
  bool is_roomy = p->problem->kernels == own->of->training_kernels; /* the evaluation's plan is good for every budget that it fits */
  for (int t = 0; t < TIER_COUNT; t++) is_roomy = is_roomy && tier_bytes[t] >= plan_needs(&own->evaluation_plan->report, (Tier)t);
  const Plan *evaluation = is_roomy ? own->evaluation_plan : plan_evaluation_beside(&r, p);
  if (!evaluation || !evaluation->planned) return does_not_fit(&r, evaluation, point);
  fill(&r, p, evaluation, tier, point);
  return &p->report;
}

/* ---- the page's sweep ---- */

/* Cuts that a page looks at, the finer the later; in each the data are where they are at home, or all of them elsewhere. */
static const struct { int parts, slices; bool has_data_away; } rungs[] = {{1, 1, false}, {4, 1, false}, {16, 1, false}, {16, 4, false}, {16, 4, true}, {16, 8, true}};
enum { RUNGS = sizeof rungs / sizeof *rungs, OWN_RUNG = RUNGS, NO_RUNG = -1, MOST_TRIED = 64 };

/* Kernels, once for each part, of all sketches of a page: about a second of them. */
enum { SKETCHED_KERNELS = 30000 };

typedef struct Sketching {
  const SweptProgram *swept;
  int kernels;                                            /* of the epoch, whole */
  int used;                                               /* of SKETCHED_KERNELS */
  int tried;                                              /* budgets, and the rung that was the fastest at each; NO_RUNG: none fits */
  struct { int64_t bytes; int rung; } list[MOST_TRIED];
  int64_t too_little[RUNGS + 1][FORM_COUNT];              /* the largest device on which none was found */
} Sketching;

typedef struct Sketch {
  const Plan *plan; /* NULL: nothing fits */
  PlanRequest request;
  int rung;
} Sketch;

static Cut cut_of_rung(const Sketching *w, const PlanRequest *r, int rung) {
  if (rung == OWN_RUNG) return w->swept->answer->cut;
  const int64_t *bytes = r->machine.tier_bytes;
  Cut cut = {.parts = rungs[rung].parts < r->parts_at_most ? rungs[rung].parts : r->parts_at_most, .slices = rungs[rung].slices < r->slices_at_most ? rungs[rung].slices : r->slices_at_most};
  const Tier away = bytes[TIER_HOST] >= bytes[TIER_SSD] ? TIER_HOST : TIER_SSD;
  const bool is_away = rungs[rung].has_data_away && bytes[away] > 0;
  return cut_with_homes(&r->machine, r->scores_bytes, cut, is_away && r->has_fields ? away : TIER_DEVICE, TIER_DEVICE, is_away && r->has_learned ? away : TIER_DEVICE);
}

/* False: it is not tried, as there would be too many kernels. */
static bool sketch_rung(Sketching *w, const PlanRequest *asked, int rung, Sketch *best) {
  const Cut cut = cut_of_rung(w, asked, rung);
  PlanRequest r = plan_request_cut(asked, cut);
  if (!cut_is(r.cut, cut)) return true; /* so cut, the program would have other bits */
  r.is_one_of_several = true;
  for (int form = FORM_HOISTED; form >= FORM_PLAIN; form--) {
    const int kernels = w->kernels * cut.parts;
    const int64_t bytes = r.machine.tier_bytes[TIER_DEVICE];
    if (bytes <= w->too_little[rung][form]) continue;
    if (w->used + kernels > SKETCHED_KERNELS) return false;
    if (best->plan) r.worth_seconds = plan_announced_seconds(&best->request, best->plan);
    const Plan *p = plan_sketch(&r, (FormKind)form);
    w->used += kernels;
    if (!p && !best->plan) w->too_little[rung][form] = bytes;
    if (p && (!best->plan || plan_announced_seconds(&r, p) < r.worth_seconds)) *best = (Sketch){p, r, rung};
  }
  return true;
}

/* The fastest rung of the next larger budget that was tried, and of the next smaller: what is in between is as fine. */
static void rungs_between(const Sketching *w, int64_t bytes, int *first, int *last) {
  int64_t more = INT64_MAX, less = 0;
  *first = 0;
  *last = RUNGS - 1;
  for (int i = 0; i < w->tried; i++) {
    if (w->list[i].rung == NO_RUNG || w->list[i].rung == OWN_RUNG) continue;
    if (w->list[i].bytes >= bytes && w->list[i].bytes < more) more = w->list[i].bytes, *first = w->list[i].rung;
    if (w->list[i].bytes <= bytes && w->list[i].bytes > less) less = w->list[i].bytes, *last = w->list[i].rung;
  }
  if (*last < *first) *last = *first;
}

/* Sketches of few cuts, from the coarsest on until one recomputes and waits for next to nothing. */
static const PlannerReport *sketch_budgets(void *of, const int64_t tier_bytes[TIER_COUNT], Tier tier, SweepPoint *point) {
  static const PlannerReport says_nothing;
  Sketching *w = of;
  PlanRequest r = *w->swept->asked;
  Sketch best = {.rung = NO_RUNG};
  int first, last;
  memcpy(r.machine.tier_bytes, tier_bytes, sizeof r.machine.tier_bytes);
  r.policy = -1;
  r.effort = PLANNER_FAST;
  r.least = PLANNER_LEAST_NONE;
  if (w->tried == MOST_TRIED) return NULL;
  rungs_between(w, tier_bytes[tier], &first, &last);
  bool is_allowed = true, is_enough = false;
  for (int rung = first; rung <= last && is_allowed && !is_enough; rung++) {
    is_allowed = sketch_rung(w, &r, rung, &best);
    is_enough = best.rung == rung && 49 * plan_announced_seconds(&best.request, best.plan) <= 50 * 1e-9 * (double)best.plan->report.stall_free_ns;
  }
  if (is_allowed && !is_enough) is_allowed = sketch_rung(w, &r, OWN_RUNG, &best);
  if (!is_allowed && !best.plan) return NULL;
  w->list[w->tried].bytes = tier_bytes[tier];
  w->list[w->tried++].rung = best.rung;
  if (!best.plan) return &says_nothing;
  fill(&best.request, best.plan, w->swept->answer->evaluation_plan, tier, point);
  point->is_sketched = true;
  point->needs = plan_needs(&best.plan->report, tier);
  return &best.plan->report;
}

/* The plan that the answer has, at its own budget. */
static SweepPoint own_point(const SweptProgram *w, Tier tier) {
  SweepPoint own = {.bytes = {w->request->machine.tier_bytes[tier]}};
  fill(w->request, w->answer->training_plan, w->answer->evaluation_plan, tier, &own);
  if (tier == TIER_DEVICE) own.needs = w->answer->layout->bytes;
  return own;
}

static Sweeper sweeper_of(const SweptProgram *swept, int plans) {
  const PlanRequest *r = swept->request;
  Sweeper w = {.arena = r->arena, .of = (void *)(uintptr_t)swept, .try_budgets = try_budgets, .model = swept->program->name, .data = swept->program->data->name,
               .target = r->machine.name, .names = {tier_device(swept->program), tier_names[TIER_HOST], tier_names[TIER_SSD]}, .plans = plans};
  memcpy(w.tier_bytes, r->machine.tier_bytes, sizeof w.tier_bytes);
  memcpy(w.own_bytes, swept->unswept->tier_bytes, sizeof w.own_bytes);
  return w;
}

const Sweep *sweep_asked(const SweptProgram *swept, const char *text) {
  SweepRange ranges[2];
  int count;
  sweep_read(swept->request->arena, text, tier_device(swept->program), swept->unswept->tier_bytes, ranges, &count);
  Sweeper w = sweeper_of(swept, sweep_plans(0, swept->asked->parts_at_most > 1));
  return sweep_ranges(&w, ranges, count, own_point(swept, ranges[0].tier));
}

enum { PAGE_WORK = 4000000 }; /* about half a second */

/* A page should not take long: sketches where values may be cut, else plans with little effort. */
const Sweep *sweep_of_device(const SweptProgram *swept, const Instead *i) {
  if (!i || !swept->answer->training_plan || i->keep_bytes <= 0) return NULL;
  const bool may_be_cut = swept->asked->parts_at_most > 1 && !swept->asked->has_given_parts;
  PlanRequest fast = *swept->request;
  int64_t work = 0;
  fast.effort = PLANNER_FAST;
  fast.work = &work;
  SweptProgram quick = *swept;
  quick.request = &fast;
  quick.work_at_most = PAGE_WORK;
  Sketching sketching = {.swept = swept, .kernels = swept->asked->forms[FORM_PLAIN].training_kernels->kernel_count};
  Sweeper w = sweeper_of(&quick, sweep_plans(swept->answer->schedule->count, may_be_cut));
  if (may_be_cut) w.of = &sketching, w.try_budgets = sketch_budgets, w.is_sketched = true;
  SweepPoint own = own_point(swept, TIER_DEVICE);
  return sweep_device(&w, own, i->keep_bytes, i->least_bytes > 0 ? i->least_bytes / 2 : own.needs / 2);
}
