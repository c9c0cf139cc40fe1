/* sweep: Compilation -> Sweep, the price of memory.
 *
 * A plan made for one budget fits every budget down to what it needs, so the next smaller budget worth a plan is just
 * below that: the points lie where the plan changes. A range is walked down in steps not smaller than 1/24 of it, or
 * than the step asked for. The knee is the point farthest below the chord from end to end (Satopaa et al., "Finding a
 * Kneedle in a Haystack", 2011).
 */
#include "sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/text.h"
#include "fit.h"

enum { DIVISIONS = 24, GRID = 8, MAX_POINTS = 256, MANY_STEPS = 500 };

typedef struct Range {
  Tier tier;
  int64_t low, high, step;
} Range;

/* ---- what is asked for ---- */

static bool refuse(Compilation *c, const char *why) {
  diags_error(c->diags, "E0108", diags_no_place(), "--sweep %s: %s", c->options->sweep, why);
  return false;
}

static bool tier_named(const Compilation *c, const char *name, Tier *tier) {
  static const char *const names[TIER_COUNT] = {"device", "host", "ssd"};
  const TargetSpec *target = c->program->has_target ? &c->program->target : NULL;
  for (int t = 0; t < TIER_COUNT; t++) {
    *tier = (Tier)t;
    if (strcmp(name, names[t]) == 0 || (t == TIER_DEVICE && target && target->device && strcmp(name, target->device) == 0)) return true;
  }
  return false;
}

/* TIER=LOW:HIGH[:STEP] */
static bool read_range(Compilation *c, char *text, Range *range) {
  char *equals = strchr(text, '='), *rest = NULL;
  if (!equals) return refuse(c, "TIER=LOW:HIGH[:STEP] is needed, as in device=6GiB:24GiB");
  *equals = 0;
  if (!tier_named(c, text, &range->tier)) return refuse(c, "there is no such tier; the tiers are device, host and ssd");
  int64_t whole = c->machine.tier_bytes[range->tier], *const parts[] = {&range->low, &range->high, &range->step};
  int count = 0;
  for (char *part = strtok_r(equals + 1, ":", &rest); part; part = strtok_r(NULL, ":", &rest), count++)
    if (count == 3 || !options_size(part, whole, parts[count])) return refuse(c, "the range is LOW:HIGH[:STEP], sizes as in 24GiB or 50%");
  if (count < 2 || range->high <= range->low) return refuse(c, "the range goes from a smaller to a larger size");
  if (count == 3 && range->step <= 0) return refuse(c, "STEP is more than 0");
  int64_t least = (range->high - range->low + MAX_POINTS - 2) / (MAX_POINTS - 1);
  if (count == 3 && range->step < least)
    return refuse(c, arena_printf(c->arena, "a STEP so small makes more than %d points: use one of at least %" PRId64 "KiB, or a narrower range", MAX_POINTS, (least + 1023) / 1024));
  return true;
}

static int read_ranges(Compilation *c, Range ranges[2]) {
  char *copy = arena_strdup(c->arena, c->options->sweep), *rest = NULL;
  int count = 0;
  for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
    if (count == 2) return refuse(c, "two tiers at most");
    ranges[count] = (Range){.tier = TIER_DEVICE};
    if (!read_range(c, item, &ranges[count++])) return 0;
  }
  if (count == 2 && ranges[0].tier == ranges[1].tier) return refuse(c, "two different tiers");
  return count ? count : refuse(c, "TIER=LOW:HIGH[:STEP] is needed, as in device=6GiB:24GiB");
}

bool sweep_prepare(Compilation *c) {
  Range ranges[2];
  c->unswept = c->machine;
  if (!c->options->sweep) return true;
  int count = read_ranges(c, ranges);
  if (!c->program->has_train) return refuse(c, "there is no train block to plan for");
  for (int i = 0; i < count; i++) c->machine.tier_bytes[ranges[i].tier] = ranges[i].high;
  return count > 0;
}

/* ---- points ---- */

static int64_t needs_of(const Plan *p, Tier tier) {
  const PlannerReport *r = &p->report;
  int64_t device = r->height_bytes > r->peak_bytes ? r->height_bytes : r->peak_bytes;
  return tier == TIER_DEVICE ? device : tier == TIER_HOST ? r->host_peak_bytes : r->ssd_peak_bytes;
}

static int64_t least_of(const Plan *p, Tier tier) {
  const PlannerReport *r = &p->report;
  return tier == TIER_DEVICE ? r->least_device_bytes : tier == TIER_HOST ? r->least_host_bytes : r->least_ssd_bytes;
}

static void fill(Compilation *c, const Machine *machine, const Plan *p, const Plan *evaluation, Tier tier, SweepPoint *point) {
  const Schedule *s = schedule(c->arena, machine, p, evaluation);
  const Decisions *d = decisions(c->arena, s, NULL);
  point->fits = true;
  point->ns = p->simulation->makespan_ns;
  point->needs = needs_of(p, tier) > needs_of(evaluation, tier) ? needs_of(p, tier) : needs_of(evaluation, tier);
  for (int i = 0; i < d->count; i++) point->fates[d->list[i].fate]++;
}

/* The plan of the epoch, or of the evaluation where that is what does not fit. */
static const Plan *try_budgets(Compilation *c, const Machine *machine, Tier tier, SweepPoint *point) {
  const Plan *p = fit_training_on(c, machine, -1, c->pins);
  if (!p || !p->planned) return p;
  bool is_roomy = true; /* the evaluation's plan is good for every budget that it fits */
  for (int t = 0; t < TIER_COUNT; t++) is_roomy = is_roomy && machine->tier_bytes[t] >= needs_of(c->evaluation_plan, (Tier)t);
  const Plan *evaluation = is_roomy ? c->evaluation_plan : fit_evaluation_on(c, machine);
  if (!evaluation || !evaluation->planned) return evaluation;
  fill(c, machine, p, evaluation, tier, point);
  return p;
}

/* The plan of this compilation, at its own budget. */
static void add_own(Compilation *c, Sweep *s, Tier tier) {
  SweepPoint own = {.bytes = {c->machine.tier_bytes[tier]}};
  fill(c, &c->machine, c->training_plan, c->evaluation_plan, tier, &own);
  if (tier == TIER_DEVICE) own.needs = c->layout->bytes;
  ARENA_PUSH(c->arena, s->points, s->count, own);
}

static const char *what_binds(Compilation *c, const Plan *p) {
  const PlannerReport *r = &p->report;
  return arena_printf(c->arena, "%s at one moment: %s", gnn_bytes_text(r->bind_bytes).text, r->bind_pieces);
}

/* Below this budget nothing fits: the plan for the least that does, if it lies above `low`. */
static void end_at_least(Compilation *c, Sweep *s, const Plan *p, Machine machine, const Range *range) {
  int64_t least = least_of(p, range->tier);
  s->least_bytes = least > 0 ? least : 0;
  s->binds = what_binds(c, p);
  if (least <= 0 || least >= s->points[s->count - 1].bytes[0]) return;
  SweepPoint point = {.bytes = {least}};
  machine.tier_bytes[range->tier] = least;
  try_budgets(c, &machine, range->tier, &point);
  if (point.fits) ARENA_PUSH(c->arena, s->points, s->count, point);
}

static void walk_down(Compilation *c, Sweep *s, const Range *range) {
  Machine machine = c->machine;
  /* A large program's report takes long enough with fewer. */
  int divisions = c->options->sweep || c->schedule->count < MANY_STEPS ? DIVISIONS : DIVISIONS / 4;
  int64_t step = range->step > 0 ? range->step : (range->high - range->low) / divisions;
  for (int64_t next; s->count < MAX_POINTS; ) {
    const SweepPoint *last = &s->points[s->count - 1];
    next = last->bytes[0] - (step > 0 ? step : 1);
    if (range->step <= 0 && last->needs - 1 < next) next = last->needs - 1;
    if (next < range->low && last->needs <= range->low) break;
    if (next < range->low) next = range->low;
    SweepPoint point = {.bytes = {next}};
    machine.tier_bytes[range->tier] = next;
    const Plan *p = try_budgets(c, &machine, range->tier, &point);
    if (!p) return;
    if (!point.fits) {
      end_at_least(c, s, p, machine, range);
      return;
    }
    ARENA_PUSH(c->arena, s->points, s->count, point);
  }
}

static int compare_points(const void *a, const void *b) {
  const SweepPoint *x = a, *y = b;
  return x->bytes[0] < y->bytes[0] ? 1 : x->bytes[0] > y->bytes[0] ? -1 : 0;
}

/* What fits less memory fits more of it. */
static void make_monotonous(Sweep *s) {
  for (int i = s->count - 2; i >= 0; i--) {
    SweepPoint *more = &s->points[i];
    const SweepPoint *less = &s->points[i + 1];
    if (more->ns <= less->ns) continue;
    more->ns = less->ns;
    more->needs = less->needs;
    memcpy(more->fates, less->fates, sizeof more->fates);
  }
}

/* Of neighbours that take the same time, the first and the last say it. */
static void thin(Sweep *s) {
  int count = 0;
  for (int i = 0; i < s->count; i++) {
    bool is_between = i > 0 && i + 1 < s->count && s->points[i].ns - s->points[i - 1].ns < s->points[i].ns / 1000 &&
                      s->points[i + 1].ns - s->points[i].ns < s->points[i].ns / 1000;
    if (!is_between) s->points[count++] = s->points[i];
  }
  s->count = count;
}

static int find_knee(const Sweep *s) {
  const SweepPoint *first = &s->points[0], *last = &s->points[s->count - 1];
  double width = (double)(first->needs - last->needs), height = (double)(last->ns - first->ns), most = 0.05;
  int knee = NO_INDEX;
  for (int i = 1; i + 1 < s->count && width > 0 && height > 0; i++) {
    double x = (double)(s->points[i].needs - last->needs) / width, y = (double)(s->points[i].ns - first->ns) / height;
    double below = 1 - x - y;
    if (below > most) most = below, knee = i;
  }
  return knee;
}

static void mark_current(Compilation *c, Sweep *s, Tier tier) {
  int64_t bytes = c->unswept.tier_bytes[tier];
  s->current = NO_INDEX;
  for (int i = s->count - 1; i >= 0; i--)
    if (s->points[i].needs <= bytes) s->current = i;
  s->current_bytes = s->current == NO_INDEX ? 0 : bytes;
}

static Sweep *new_sweep(Compilation *c, const char *name, const char *other) {
  Sweep *s = arena_alloc(c->arena, sizeof *s);
  *s = (Sweep){.model = c->program->name, .data = c->program->data->name, .target = c->machine.name, .names = {name, other}, .knee = NO_INDEX, .current = NO_INDEX};
  return s;
}

static const Sweep *sweep_one(Compilation *c, Range range, const char *name) {
  Sweep *s = new_sweep(c, name, NULL);
  add_own(c, s, range.tier);
  walk_down(c, s, &range);
  make_monotonous(s);
  thin(s);
  s->knee = find_knee(s);
  mark_current(c, s, range.tier);
  return s;
}

static const Sweep *sweep_two(Compilation *c, const Range ranges[2], const char *name, const char *other) {
  Sweep *s = new_sweep(c, name, other);
  Machine machine = c->machine;
  for (int i = 0; i < GRID; i++)
    for (int k = 0; k < GRID; k++) {
      SweepPoint point = {.bytes = {ranges[0].high - (ranges[0].high - ranges[0].low) * i / (GRID - 1), ranges[1].high - (ranges[1].high - ranges[1].low) * k / (GRID - 1)}};
      machine.tier_bytes[ranges[0].tier] = point.bytes[0];
      machine.tier_bytes[ranges[1].tier] = point.bytes[1];
      try_budgets(c, &machine, ranges[0].tier, &point);
      ARENA_PUSH(c->arena, s->points, s->count, point);
    }
  return s;
}

const Sweep *sweep_asked(Compilation *c) {
  Range ranges[2];
  int count = read_ranges(c, ranges);
  const char *names[TIER_COUNT] = {c->program->has_target && c->program->target.device ? c->program->target.device : "device", "host", "ssd"};
  return count == 2 ? sweep_two(c, ranges, names[ranges[0].tier], names[ranges[1].tier]) : sweep_one(c, ranges[0], names[ranges[0].tier]);
}

/* From what keeping everything needs, or the budget where that is less, and the points above it that would be faster. */
const Sweep *sweep_of_device(Compilation *c) {
  const Instead *i = c->emission.instead;
  if (!i || !c->training_plan || i->keep_bytes <= 0) return NULL;
  const char *name = c->program->has_target && c->program->target.device ? c->program->target.device : "device";
  int64_t own = c->layout->bytes, low = i->least_bytes > 0 ? i->least_bytes / 2 : own / 2;
  Sweep *s = new_sweep(c, name, NULL);
  Range above = {.tier = TIER_DEVICE, .low = own + 1, .high = i->keep_bytes}, below = {.tier = TIER_DEVICE, .low = low, .high = own};
  if (above.high > above.low) {
    SweepPoint most = {.bytes = {i->keep_bytes}};
    Machine machine = c->machine;
    machine.tier_bytes[TIER_DEVICE] = i->keep_bytes;
    try_budgets(c, &machine, TIER_DEVICE, &most);
    if (most.fits) {
      ARENA_PUSH(c->arena, s->points, s->count, most);
      walk_down(c, s, &above);
    }
  }
  add_own(c, s, TIER_DEVICE);
  s->points[s->count - 1].bytes[0] = own;
  walk_down(c, s, &below);
  qsort(s->points, (size_t)s->count, sizeof *s->points, compare_points);
  make_monotonous(s);
  thin(s);
  s->knee = find_knee(s);
  mark_current(c, s, TIER_DEVICE);
  return s;
}

/* ---- JSON ---- */

static json_t *json_point(const Sweep *s, const SweepPoint *p) {
  json_t *item = json_pack("{s:I, s:b}", "budget_bytes", (json_int_t)p->bytes[0], "fits", p->fits);
  if (s->names[1]) json_object_set_new(item, "other_budget_bytes", json_integer((json_int_t)p->bytes[1]));
  if (!p->fits) return item;
  json_object_set_new(item, "needs_bytes", json_integer((json_int_t)p->needs));
  json_object_set_new(item, "seconds", json_real(1e-9 * (double)p->ns));
  int64_t best = s->points[0].ns;
  json_object_set_new(item, "versus_best", json_real(best > 0 ? (double)p->ns / (double)best : 1));
  static const char *const names[PLAN_FATE_COUNT] = {"kept", "host", "ssd", "recomputed"};
  for (int f = 0; f < PLAN_FATE_COUNT; f++) json_object_set_new(item, names[f], json_integer(p->fates[f]));
  return item;
}

json_t *sweep_json(const Sweep *s) {
  json_t *points = json_array();
  for (int i = 0; i < s->count; i++) json_array_append_new(points, json_point(s, &s->points[i]));
  json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:o, s:i, s:i, s:I, s:I}", "model", s->model, "data", s->data, "target", s->target, "tier", s->names[0],
                           "points", points, "knee", s->knee, "current", s->current, "current_bytes", (json_int_t)s->current_bytes, "least_bytes",
                           (json_int_t)s->least_bytes);
  if (s->names[1]) json_object_set_new(root, "other_tier", json_string(s->names[1]));
  if (s->binds) json_object_set_new(root, "binds", json_string(s->binds));
  return root;
}
