/* compare: two plans, or two runs, of one program or of two versions of it: what moved, and what that costs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "views.h"
#include "runtime/base/text.h"

static const DocValue *find(const Document *d, const char *name) {
  for (int i = 0; i < d->value_count; i++)
    if (strcmp(d->values[i].value, name) == 0) return &d->values[i];
  return NULL;
}

static void put_times(const char *name, double before, double after, FILE *out) {
  fprintf(out, "  %-22s %12.4g %12.4g %12.4g", name, 1e3 * before, 1e3 * after, 1e3 * (after - before));
  if (before > 0) fprintf(out, "  %.3fx", after / before);
  fprintf(out, "\n");
}

static void put_bytes(const char *name, int64_t before, int64_t after, FILE *out) {
  fprintf(out, "  %-22s %12s %12s %12s\n", name, gnn_bytes_above_text(before).text, gnn_bytes_above_text(after).text, gnn_bytes_above_text(after - before).text);
}

/* A value of one plan or of both: x is NULL where it was not there before, y where it no longer is. */
static void put_value(const DocValue *x, const DocValue *y, FILE *out) {
  const DocValue *v = y ? y : x;
  fprintf(out, "  %-24s %5" PRId64 " %10s  %-10s -> %-10s %12.4g\n", v->value, v->line, gnn_bytes_text(v->bytes).text, x ? fate_names[x->fate] : "(absent)", y ? fate_names[y->fate] : "(absent)",
          1e3 * ((y ? y->adds : 0) - (x ? x->adds : 0)));
}

/* Values with another fate, or with another price of the same: so that the last column sums to what the epochs differ by,
 * but for what any plan computes. */
static void put_fates(const Document *a, const Document *b, FILE *out) {
  int moved = 0, shown = 0, all = b->value_count;
  double adds = 0;
  const char *head = arena_printf(a->arena, "\n  %-24s %5s %10s  %-10s    %-10s %12s\n", "value", "line", "size", "before", "after", "adds ms");
  for (int i = 0; i < b->value_count; i++) {
    const DocValue *y = &b->values[i], *x = find(a, y->value);
    bool is_moved = !x || x->fate != y->fate;
    double change = y->adds - (x ? x->adds : 0);
    adds += change;
    moved += is_moved;
    if (!is_moved && change == 0) continue;
    if (shown++ == 0) fputs(head, out);
    put_value(x, y, out);
  }
  for (int i = 0; i < a->value_count; i++) {
    if (find(b, a->values[i].value)) continue;
    adds -= a->values[i].adds;
    moved++;
    all++;
    if (shown++ == 0) fputs(head, out);
    put_value(&a->values[i], NULL, out);
  }
  if (shown) fprintf(out, "  %-67s %12.4g\n", "together: recomputing and waiting", 1e3 * adds);
  fprintf(out, "%s  %d of %d values have another fate\n", shown ? "" : "\n", moved, all);
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
