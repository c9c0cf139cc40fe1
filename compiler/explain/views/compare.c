/* compare: two plans, or two runs, of one program or of two versions of it: what moved, and what that costs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "views.h"
#include "runtime/base/text.h"

/* A value; of one in pieces what they are together, under the name that it has when it is whole. */
typedef struct Whole {
  const char *name;
  int64_t line, bytes;
  double adds;
  int pieces, fates[FATE_COUNT];
} Whole;

typedef struct Wholes {
  int count;
  Whole *list;
  json_t *place_of;
} Wholes;

static Whole *find(const Wholes *w, const char *name) {
  const json_t *place = json_object_get(w->place_of, name);
  return place ? &w->list[json_integer_value(place)] : NULL;
}

static Wholes wholes_of(const Document *d) {
  Wholes w = {.place_of = json_object()};
  for (int i = 0; i < d->value_count; i++) {
    const DocValue *v = &d->values[i];
    const char *name = v->piece.group ? v->piece.group : v->value;
    if (!find(&w, name)) {
      json_object_set_new(w.place_of, name, json_integer(w.count));
      ARENA_PUSH(d->arena, w.list, w.count, ((Whole){.name = name, .line = v->line}));
    }
    Whole *whole = find(&w, name);
    whole->bytes += v->bytes;
    whole->adds += v->adds;
    whole->fates[v->fate]++;
    whole->pieces++;
  }
  return w;
}

/* "host", or "3 keep, 13 host". */
static const char *fates_text(Arena *arena, const Whole *w) {
  const char *text = "";
  if (!w) return "(absent)";
  for (int f = 0; f < FATE_COUNT; f++) {
    if (w->fates[f] == w->pieces) return fate_names[f];
    if (w->fates[f]) text = arena_printf(arena, "%s%s%d %s", text, *text ? ", " : "", w->fates[f], fate_names[f]);
  }
  return text;
}

/* Of as many pieces, as many have each fate; or all have the same. */
static bool has_same_fates(const Whole *x, const Whole *y) {
  for (int f = 0; f < FATE_COUNT; f++)
    if ((int64_t)x->fates[f] * y->pieces != (int64_t)y->fates[f] * x->pieces) return false;
  return true;
}

static void put_times(const char *name, double before, double after, FILE *out) {
  fprintf(out, "  %-22s %12.4g %12.4g %12.4g", name, 1e3 * before, 1e3 * after, 1e3 * (after - before));
  if (before > 0) fprintf(out, "  %.3fx", after / before);
  fprintf(out, "\n");
}

static void put_bytes(const char *name, int64_t before, int64_t after, FILE *out) {
  fprintf(out, "  %-22s %12s %12s %12s\n", name, gnn_bytes_above_text(before).text, gnn_bytes_above_text(after).text, gnn_bytes_above_text(after - before).text);
}

typedef struct Change {
  const Whole *before, *after; /* NULL: it was not there, it no longer is */
  double adds;
} Change;

static void put_changes(Arena *arena, const Change *changes, int count, double adds, FILE *out) {
  int wide = 10;
  for (int i = 0; i < count; i++) {
    int before = (int)strlen(fates_text(arena, changes[i].before)), after = (int)strlen(fates_text(arena, changes[i].after));
    wide = before > wide ? before : after > wide ? after : wide;
  }
  fprintf(out, "\n  %-24s %5s %10s  %-*s    %-*s %12s\n", "value", "line", "size", wide, "before", wide, "after", "adds ms");
  for (int i = 0; i < count; i++) {
    const Change *c = &changes[i];
    const Whole *v = c->after ? c->after : c->before;
    fprintf(out, "  %-24s %5" PRId64 " %10s  %-*s -> %-*s %12.4g\n", v->name, v->line, gnn_bytes_text(v->bytes).text, wide, fates_text(arena, c->before), wide, fates_text(arena, c->after), 1e3 * c->adds);
  }
  fprintf(out, "  %-*s %12.4g\n", 47 + 2 * wide, "together: recomputing and waiting", 1e3 * adds);
}

/* Values with another fate, or with another price of the same: so that the last column sums to what the epochs differ by,
 * but for what any plan computes. */
static void put_fates(const Document *a, const Document *b, FILE *out) {
  Wholes before = wholes_of(a), after = wholes_of(b);
  int moved = 0, shown = 0, all = after.count;
  double adds = 0;
  Change *changes = arena_alloc(a->arena, (size_t)(before.count + after.count) * sizeof *changes);
  for (int i = 0; i < after.count; i++) {
    const Whole *y = &after.list[i], *x = find(&before, y->name);
    bool is_moved = !x || !has_same_fates(x, y);
    double change = y->adds - (x ? x->adds : 0);
    adds += change;
    moved += is_moved;
    if (is_moved || change != 0) changes[shown++] = (Change){x, y, change};
  }
  for (int i = 0; i < before.count; i++) {
    const Whole *x = &before.list[i];
    if (find(&after, x->name)) continue;
    adds -= x->adds;
    moved++;
    all++;
    changes[shown++] = (Change){x, NULL, -x->adds};
  }
  if (shown) put_changes(a->arena, changes, shown, adds, out);
  fprintf(out, "%s  %d of %d values have another fate\n", shown ? "" : "\n", moved, all);
  json_decref(before.place_of);
  json_decref(after.place_of);
}

/* The steps whose measured times differ most. */
static void put_slowest(const Document *a, const Document *b, FILE *out) {
  enum { SHOWN = 5 };
  bool *is_shown = arena_alloc(a->arena, (size_t)b->step_count + 1);
  fprintf(out, "\n  %5s %5s %12s %12s %8s  what\n", "step", "line", "before ms", "after ms", "ratio");
  for (int n = 0; n < SHOWN; n++) {
    int worst = -1;
    double most = 0;
    for (int i = 0; i < b->step_count; i++) {
      double change = fabs(b->steps[i].measured_seconds - a->steps[i].measured_seconds);
      if (!is_shown[i] && a->steps[i].is_measured && b->steps[i].is_measured && change > most) most = change, worst = i;
    }
    if (worst < 0) break;
    is_shown[worst] = true;
    const DocStep *x = &a->steps[worst], *y = &b->steps[worst];
    fprintf(out, "  %5" PRId64 " %5" PRId64 " %12.4g %12.4g %7.2fx  %s\n", y->step, y->line, 1e3 * x->measured_seconds, 1e3 * y->measured_seconds,
            x->measured_seconds > 0 ? y->measured_seconds / x->measured_seconds : 0, y->what);
  }
}

/* Of `bench --json`: medians, and whether they differ by more than the middle halves of the epochs spread. */
void view_compare_benches(const json_t *a, const json_t *b, FILE *out) {
  static const char *const rows[] = {"median", "min", "p25", "p75", "max", "estimated"};
  const char *model = json_string_value(json_object_get(b, "model"));
  fprintf(out, "%s, seconds of an epoch\n  %-10s %12s %12s %8s\n", model ? model : "bench", "", "before", "after", "ratio");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double before = json_number_value(json_object_get(a, rows[i])), after = json_number_value(json_object_get(b, rows[i]));
    fprintf(out, "  %-10s %12.6g %12.6g %7.3fx\n", rows[i], before, after, before > 0 ? after / before : 0);
  }
  double low[2], high[2];
  for (int i = 0; i < 2; i++) {
    low[i] = json_number_value(json_object_get(i ? b : a, "p25"));
    high[i] = json_number_value(json_object_get(i ? b : a, "p75"));
  }
  bool is_apart = high[0] < low[1] || high[1] < low[0];
  fprintf(out, "  %s\n", !is_apart ? "within the spread of the epochs" : high[1] < low[0] ? "faster" : "slower");
}

void view_compare(const Document *a, const Document *b, FILE *out) {
  bool are_measured = a->measured && b->measured, is_same = a->step_count == b->step_count;
  for (int i = 0; is_same && i < a->step_count; i++) is_same = strcmp(a->steps[i].what, b->steps[i].what) == 0;
  fprintf(out, "%s on %s, target %s (%s) -> %s on %s, target %s (%s)\n", a->model, a->data, a->target, a->fingerprint, b->model, b->data, b->target, b->fingerprint);
  fprintf(out, "  %-22s %12s %12s %12s\n", "", "before", "after", "change");
  put_times("epoch, estimated, ms", a->epoch.seconds, b->epoch.seconds, out);
  put_times("  computing", a->epoch.compute, b->epoch.compute, out);
  put_times("  recomputing", a->epoch.recompute, b->epoch.recompute, out);
  put_times("  waiting", a->epoch.wait, b->epoch.wait, out);
  if (a->epoch.slowed > 0 || b->epoch.slowed > 0) put_times("  slower beside copies", a->epoch.slowed, b->epoch.slowed, out);
  if (are_measured) put_times("epoch, measured, ms", a->measured->epoch, b->measured->epoch, out);
  for (int t = 0; t < TIER_COUNT; t++) put_bytes(arena_printf(a->arena, "%s peak", tier_names[t]), a->tiers[t].peak_bytes, b->tiers[t].peak_bytes, out);
  put_fates(a, b, out);
  if (are_measured && is_same) put_slowest(a, b, out);
}
