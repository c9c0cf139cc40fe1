/* sweep: plans for many budgets -> Sweep, the price of memory.
 *
 * A plan made for one budget fits every budget down to what it needs: a staircase. Its ends are planned first, then the
 * middle between the two neighbours between which least is known, until some number of plans is spent: the points lie
 * where the time changes. A step that was asked for is walked down. The knee is the point farthest below the chord from end to end (Satopaa et al., "Finding a
 * Kneedle in a Haystack", 2011).
 */
#include "sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/driver/options.h"
#include "compiler/plan/tiers.h"
#include "lang/units.h"
#include "runtime/base/text.h"

enum { PLANS = 24, GRID = 8, MAX_POINTS = 256, MANY_STEPS = 500, NONE = -1 };

/* A large program's report takes long enough with fewer, and where each is of the fastest of many cuts. */
int sweep_plans(int steps, bool has_cuts) { return steps >= MANY_STEPS ? PLANS / 4 : has_cuts ? PLANS / 2 : PLANS; }

/* ---- what is asked for ---- */

/* TIER=LOW:HIGH[:STEP]; what is wrong with it, or NULL */
static const char *read_range(Arena *arena, char *text, const char *device, const int64_t tier_bytes[TIER_COUNT], SweepRange *range) {
  char *equals = strchr(text, '='), *rest = NULL;
  if (!equals) return "TIER=LOW:HIGH[:STEP] is needed, as in device=6GiB:24GiB";
  *equals = 0;
  if (!tier_named(device, text, &range->tier)) return tier_unknown(arena, device, text);
  int64_t *const parts[] = {&range->low, &range->high, &range->step};
  int count = 0;
  for (char *part = strtok_r(equals + 1, ":", &rest); part; part = strtok_r(NULL, ":", &rest), count++)
    if (count == 3 || !unit_size(part, tier_bytes[range->tier], parts[count])) return "the range is LOW:HIGH[:STEP], sizes as in 24GiB or 50%";
  if (count < 2 || range->high <= range->low) return "the range goes from a smaller to a larger size";
  if (count == 3 && range->step <= 0) return "STEP is more than 0";
  int64_t least = (range->high - range->low + MAX_POINTS - 2) / (MAX_POINTS - 1);
  if (count == 3 && range->step < least)
    return arena_printf(arena, "a STEP so small makes more than %d points: use one of at least %" PRId64 "KiB, or a narrower range", MAX_POINTS, (least + 1023) / 1024);
  return NULL;
}

const char *sweep_read(Arena *arena, const char *text, const char *device, const int64_t tier_bytes[TIER_COUNT], SweepRange ranges[2], int *count) {
  char *copy = arena_strdup(arena, text), *rest = NULL;
  const char *fault = NULL;
  *count = 0;
  for (char *item = strtok_r(copy, ",", &rest); item && !fault; item = strtok_r(NULL, ",", &rest)) {
    if (*count == 2) return "two tiers at most";
    ranges[*count] = (SweepRange){.tier = TIER_DEVICE};
    fault = read_range(arena, item, device, tier_bytes, &ranges[(*count)++]);
  }
  if (!fault && *count == 2 && ranges[0].tier == ranges[1].tier) return "two different tiers";
  return *count ? fault : "TIER=LOW:HIGH[:STEP] is needed, as in device=6GiB:24GiB";
}

/* ---- points ---- */

static int64_t least_of(const PlannerReport *r, Tier tier) {
  return tier == TIER_DEVICE ? r->least_device_bytes : tier == TIER_HOST ? r->least_host_bytes : r->least_ssd_bytes;
}

static const PlannerReport *try_budget(const Sweeper *w, Tier tier, int64_t bytes, SweepPoint *point) {
  int64_t budgets[TIER_COUNT];
  memcpy(budgets, w->tier_bytes, sizeof budgets);
  budgets[tier] = bytes;
  *point = (SweepPoint){.bytes = {bytes}};
  return w->try_budgets(w->of, budgets, tier, point);
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
    more->mode = less->mode;
    more->is_sketched = less->is_sketched;
    memcpy(more->fates, less->fates, sizeof more->fates);
  }
}

static void add_point(const Sweeper *w, Sweep *s, SweepPoint point) {
  ARENA_PUSH(w->arena, s->points, s->count, point);
  qsort(s->points, (size_t)s->count, sizeof *s->points, compare_points);
  make_monotonous(s);
}

/* Towards the least that works, where nobody says what that is: below it, at `bad`, nothing fits. */
static bool feel_down(const Sweeper *w, Sweep *s, Tier tier, int64_t bad) {
  enum { HALVINGS = 6 };
  for (int i = 0; i < HALVINGS; i++) {
    int64_t bytes = bad + (s->points[s->count - 1].needs - bad) / 2;
    SweepPoint point;
    if (bytes <= bad) break;
    if (!try_budget(w, tier, bytes, &point)) return false;
    if (point.fits) add_point(w, s, point);
    else bad = bytes;
  }
  return true;
}

/* The last point gets the plan for `low`, or for the least that works above it, and what the planner says of less. False:
 * it was broken off. */
static bool end_at_least(const Sweeper *w, Sweep *s, Tier tier, int64_t low) {
  int64_t tried = low;
  for (int64_t least; tried < s->points[s->count - 1].needs; tried = least) {
    SweepPoint point;
    const PlannerReport *report = try_budget(w, tier, tried, &point);
    if (!report) return false;
    if (point.fits) add_point(w, s, point), s->is_open = tried == low && low > 0;
    if (point.fits) return true;
    if (report->bind_bytes > 0) s->binds = arena_printf(w->arena, "%s at one moment: %s", gnn_bytes_above_text(report->bind_bytes).text, point.binds);
    least = least_of(report, tier);
    s->least_bytes = least > 0 ? least : 0;
    if (least <= tried) return feel_down(w, s, tier, tried);
  }
  return true;
}

/* What is not known between two points: neither the time nor from which budget on. */
static double unknown_between(const SweepPoint *more, const SweepPoint *less) {
  enum { FINEST = 1000 };
  double bytes = (double)(more->needs - less->bytes[0]) / (double)more->needs, ns = (double)(less->ns - more->ns) / (double)less->ns;
  return more->needs > less->bytes[0] + 1 && FINEST * bytes > 1 && FINEST * ns > 1 ? bytes * ns : 0;
}

/* Halves what is least known, time and again. */
static void refine(const Sweeper *w, Sweep *s, Tier tier) {
  for (int plans = 0; plans < w->plans; plans++) {
    int widest = 0;
    double most = 0;
    for (int i = 0; i + 1 < s->count; i++) {
      double unknown = unknown_between(&s->points[i], &s->points[i + 1]);
      if (unknown > most) most = unknown, widest = i;
    }
    if (most <= 0) return;
    SweepPoint less = s->points[widest + 1], point;
    int64_t bytes = less.bytes[0] + (s->points[widest].needs - less.bytes[0]) / 2;
    if (!try_budget(w, tier, bytes, &point)) return;
    if (!point.fits) point = less, point.bytes[0] = bytes;
    add_point(w, s, point);
  }
}

static void walk_down(const Sweeper *w, Sweep *s, const SweepRange *range) {
  for (int64_t next = range->high; next > range->low && s->count < MAX_POINTS;) {
    SweepPoint point;
    next = next - range->step > range->low ? next - range->step : range->low;
    if (!try_budget(w, range->tier, next, &point)) return;
    if (!point.fits) {
      end_at_least(w, s, range->tier, next);
      return;
    }
    add_point(w, s, point);
  }
}

/* They would be one row twice. */
static bool is_told_alike(const SweepPoint *a, const SweepPoint *b) {
  return strcmp(gnn_bytes_above_text(a->needs).text, gnn_bytes_above_text(b->needs).text) == 0;
}

/* Of plans that take the same time the one that needs least says it, but for the largest and that of the current budget. */
static void thin(Sweep *s) {
  SweepPoint *points = s->points;
  int last = s->count - 1;
  for (int i = last - 1; i >= 0; i--) {
    bool is_faster = points[last].ns - points[i].ns > points[last].ns / 1000, is_same = is_told_alike(&points[i], &points[last]);
    if (is_faster || (!is_same && (i == 0 || points[i].is_own))) points[--last] = points[i];
    else if (is_same) points[last] = points[i];
  }
  s->points += last;
  s->count -= last;
}

static int find_knee(const Sweep *s) {
  const SweepPoint *first = &s->points[0], *last = &s->points[s->count - 1];
  double width = (double)(first->needs - last->needs), height = (double)(last->ns - first->ns), most = 0.05;
  int knee = NONE;
  for (int i = 1; i + 1 < s->count && width > 0 && height > 0; i++) {
    double x = (double)(s->points[i].needs - last->needs) / width, y = (double)(s->points[i].ns - first->ns) / height;
    double below = 1 - x - y;
    if (below > most) most = below, knee = i;
  }
  return knee;
}

static void mark_current(const Sweeper *w, Sweep *s, Tier tier) {
  int64_t bytes = w->own_bytes[tier];
  s->current = NONE;
  for (int i = s->count - 1; i >= 0; i--)
    if (s->points[i].needs <= bytes) s->current = i;
  s->current_bytes = s->current == NONE ? 0 : bytes;
}

static Sweep *new_sweep(const Sweeper *w, Tier tier) {
  Sweep *s = arena_alloc(w->arena, sizeof *s);
  *s = (Sweep){.model = w->model, .data = w->data, .target = w->target, .names = {w->names[tier]}, .knee = NONE, .current = NONE, .is_sketched = w->is_sketched};
  return s;
}

static Sweep *finish(const Sweeper *w, Sweep *s, Tier tier) {
  thin(s);
  s->knee = find_knee(s);
  mark_current(w, s, tier);
  return s;
}

static Sweep *sweep_one(const Sweeper *w, const SweepRange *range, SweepPoint own) {
  Sweep *s = new_sweep(w, range->tier);
  add_point(w, s, own);
  if (range->step > 0) walk_down(w, s, range);
  else if (end_at_least(w, s, range->tier, range->low)) refine(w, s, range->tier);
  return finish(w, s, range->tier);
}

static Sweep *sweep_two(const Sweeper *w, const SweepRange ranges[2]) {
  Sweep *s = new_sweep(w, ranges[0].tier);
  int64_t budgets[TIER_COUNT];
  memcpy(budgets, w->tier_bytes, sizeof budgets);
  s->names[1] = w->names[ranges[1].tier];
  for (int i = 0; i < GRID; i++)
    for (int k = 0; k < GRID; k++) {
      SweepPoint point = {.bytes = {ranges[0].high - (ranges[0].high - ranges[0].low) * i / (GRID - 1), ranges[1].high - (ranges[1].high - ranges[1].low) * k / (GRID - 1)}};
      for (int r = 0; r < 2; r++) budgets[ranges[r].tier] = point.bytes[r];
      w->try_budgets(w->of, budgets, ranges[0].tier, &point);
      ARENA_PUSH(w->arena, s->points, s->count, point);
    }
  return s;
}

const Sweep *sweep_ranges(const Sweeper *w, const SweepRange ranges[2], int count, SweepPoint own) {
  return count == 2 ? sweep_two(w, ranges) : sweep_one(w, &ranges[0], own);
}

const Sweep *sweep_device(const Sweeper *w, SweepPoint own, int64_t keep_bytes, int64_t low) {
  Sweep *s = new_sweep(w, TIER_DEVICE);
  own.bytes[0] = own.needs;
  own.is_own = true;
  add_point(w, s, own);
  if (keep_bytes > own.needs) {
    SweepPoint most;
    try_budget(w, TIER_DEVICE, keep_bytes, &most);
    if (most.fits) add_point(w, s, most);
  }
  if (end_at_least(w, s, TIER_DEVICE, low)) refine(w, s, TIER_DEVICE);
  return finish(w, s, TIER_DEVICE);
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
  static const char *const names[FATE_COUNT] = {"kept", "host", "ssd", "recomputed"};
  for (int f = 0; f < FATE_COUNT; f++) json_object_set_new(item, names[f], json_integer(p->fates[f]));
  if (p->is_sketched) json_object_set_new(item, "sketched", json_true());
  bool has_modes = false;
  for (int i = 0; i < s->count; i++) has_modes = has_modes || s->points[i].mode;
  if (has_modes) json_object_set_new(item, "mode", json_string(p->mode ? p->mode : "whole"));
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
  if (s->is_sketched) json_object_set_new(root, "sketched", json_true());
  if (s->is_open) json_object_set_new(root, "open", json_true());
  return root;
}
