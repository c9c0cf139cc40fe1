/* sweep_program: Compilation -> Sweep. */
#include "sweep_program.h"

#include <math.h>
#include <string.h>

#include "fit.h"
#include "sweep.h"
#include "tiers.h"

static const char *device_of(const Compilation *c) { return tier_device(c->program); }

/* The command line is wrong, which shows only here: the target says what its tiers are called and how large they are. */
static bool refuse(Compilation *c, const char *why) {
  fprintf(stderr, "gnncc: error: --sweep %s: %s\n", c->options->sweep, why);
  c->status = 2;
  return false;
}

bool sweep_prepare(Compilation *c) {
  SweepRange ranges[2];
  int count;
  c->unswept = c->machine;
  if (!c->options->sweep) return true;
  const char *fault = sweep_read(c->arena, c->options->sweep, device_of(c), c->machine.tier_bytes, ranges, &count);
  if (!fault && !c->program->has_train) fault = "there is no train block to plan for";
  if (fault) return refuse(c, fault);
  for (int i = 0; i < count; i++) c->machine.tier_bytes[ranges[i].tier] = ranges[i].high;
  return true;
}

/* ---- points ---- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void fill(Compilation *c, const Machine *machine, const Plan *p, const Plan *evaluation, Tier tier, SweepPoint *point) {
  const Schedule *s = schedule(c->arena, machine, p, evaluation);
  const Decisions *d = decisions(c->arena, s, NULL);
  point->fits = true;
  point->ns = llround(1e9 * s->training_seconds);
  point->needs = larger(sweep_needs(&p->report, tier), sweep_needs(&evaluation->report, tier));
  for (int i = 0; i < d->count; i++) point->fates[d->list[i].fate]++;
}

static const PlannerReport *does_not_fit(Compilation *c, const Plan *p, SweepPoint *point) {
  if (!p) return NULL;
  point->binds = plan_bind(c->arena, p);
  return &p->report;
}

/* The plan of the epoch, or of the evaluation where that is what does not fit. */
static const PlannerReport *try_budgets(void *of, const int64_t tier_bytes[TIER_COUNT], Tier tier, SweepPoint *point) {
  Compilation *c = of;
  Machine machine = c->machine;
  memcpy(machine.tier_bytes, tier_bytes, sizeof machine.tier_bytes);
  const Plan *p = fit_training_on(c, &machine, -1, c->pins);
  if (!p || !p->planned) return does_not_fit(c, p, point);
  bool is_roomy = p->problem->kernels == c->training_kernels; /* the evaluation's plan is good for every budget that it fits */
  for (int t = 0; t < TIER_COUNT; t++) is_roomy = is_roomy && tier_bytes[t] >= sweep_needs(&c->evaluation_plan->report, (Tier)t);
  const Plan *evaluation = is_roomy ? c->evaluation_plan : fit_evaluation_on(c, &machine, p);
  if (!evaluation || !evaluation->planned) return does_not_fit(c, evaluation, point);
  fill(c, &machine, p, evaluation, tier, point);
  return &p->report;
}

/* The plan of this compilation, at its own budget. */
static SweepPoint own_point(Compilation *c, Tier tier) {
  SweepPoint own = {.bytes = {c->machine.tier_bytes[tier]}};
  fill(c, &c->machine, c->training_plan, c->evaluation_plan, tier, &own);
  if (tier == TIER_DEVICE) own.needs = c->layout->bytes;
  return own;
}

static Sweeper sweeper_of(Compilation *c, int plans) {
  Sweeper w = {.arena = c->arena, .of = c, .try_budgets = try_budgets, .model = c->program->name, .data = c->program->data->name, .target = c->machine.name,
               .names = {device_of(c), "host", "ssd"}, .plans = plans};
  memcpy(w.tier_bytes, c->machine.tier_bytes, sizeof w.tier_bytes);
  memcpy(w.own_bytes, c->unswept.tier_bytes, sizeof w.own_bytes);
  return w;
}

const Sweep *sweep_asked(Compilation *c) {
  SweepRange ranges[2];
  int count;
  sweep_read(c->arena, c->options->sweep, device_of(c), c->unswept.tier_bytes, ranges, &count);
  Sweeper w = sweeper_of(c, sweep_plans(0));
  return sweep_ranges(&w, ranges, count, own_point(c, ranges[0].tier));
}

const Sweep *sweep_of_device(Compilation *c) {
  const Instead *i = c->emission.instead;
  if (!i || !c->training_plan || i->keep_bytes <= 0) return NULL;
  Sweeper w = sweeper_of(c, sweep_plans(c->schedule->count));
  SweepPoint own = own_point(c, TIER_DEVICE);
  return sweep_device(&w, own, i->keep_bytes, i->least_bytes > 0 ? i->least_bytes / 2 : own.needs / 2);
}
