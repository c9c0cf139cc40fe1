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
  return !cut_is_of_whole_values(cut) ? arena_printf(arena, "%d part%s%s%s%s", cut.parts, cut.parts == 1 ? "" : "s", slices, cut_data_text(arena, cut), cut_learned_text(arena, cut)) : NULL;
}

static void fill(const PlanRequest *r, const Plan *p, const Plan *evaluation, Tier tier, SweepPoint *point) {
  const Schedule *s = schedule(r->arena, &r->machine, p, evaluation);
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
  if (!a->fits) return does_not_fit(&r, a->evaluation_plan && !a->evaluation_plan->planned ? a->evaluation_plan : a->training_plan, point);
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
  memcpy(r.machine.tier_bytes, tier_bytes, sizeof r.machine.tier_bytes);
  r.policy = -1;
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

const Sweep *sweep_of_device(const SweptProgram *swept, const Instead *i) {
  if (!i || !swept->answer->training_plan || i->keep_bytes <= 0) return NULL;
  Sweeper w = sweeper_of(swept, sweep_plans(swept->answer->schedule->count, swept->asked->parts_at_most > 1));
  w.is_hasty = swept->asked->parts_at_most > 1 && !cut_is_of_whole_values(swept->answer->cut); /* where little fits, each of many cuts is tried long */
  SweepPoint own = own_point(swept, TIER_DEVICE);
  return sweep_device(&w, own, i->keep_bytes, i->least_bytes > 0 ? i->least_bytes / 2 : own.needs / 2);
}
