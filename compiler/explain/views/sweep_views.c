/* sweep_views: what less or more memory would cost, as a table, a curve, or a heat map of two tiers. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"
#include "runtime/base/text.h"

static double number(const json_t *o, const char *key) { return json_number_value(json_object_get(o, key)); }
static int64_t count(const json_t *o, const char *key) { return json_integer_value(json_object_get(o, key)); }
static const char *text(const json_t *o, const char *key) { return json_string_value(json_object_get(o, key)); }
static bool does_fit(const json_t *point) { return json_is_true(json_object_get(point, "fits")); }
static bool is_sketched(const json_t *sweep_or_point) { return json_is_true(json_object_get(sweep_or_point, "sketched")); }
static bool is_two_tier(const json_t *sweep) { return json_object_get(sweep, "other_tier") != NULL; }

typedef struct Duration {
  char text[32];
} Duration;

static Duration duration(TimeUnit unit, double seconds) {
  Duration d;
  const double n = unit.per_second * seconds;
  snprintf(d.text, sizeof d.text, n >= 9999.5 ? "%.0f %s" : "%.4g %s", n, unit.name);
  return d;
}

/* That of the shortest epoch. */
static TimeUnit unit_of(const json_t *sweep) {
  const json_t *point;
  double least = HUGE_VAL;
  size_t i;
  json_array_foreach(json_object_get(sweep, "points"), i, point) if (does_fit(point)) least = fmin(least, number(point, "seconds"));
  return time_unit(least);
}

/* ---- the table ---- */

static void put_note(const json_t *sweep, size_t i, const json_t *point, FILE *out) {
  bool keeps_all = !count(point, "host") && !count(point, "ssd") && !count(point, "recomputed");
  if (i == 0 && keeps_all) fprintf(out, "  everything kept from %s up", gnn_bytes_above_text(count(point, "needs_bytes")).text);
  if ((int64_t)i == count(sweep, "knee")) fprintf(out, "  <- best value");
  if ((int64_t)i == count(sweep, "current")) fprintf(out, "  <- current budget %s", gnn_bytes_above_text(count(sweep, "current_bytes")).text);
  if (i + 1 == json_array_size(json_object_get(sweep, "points")) && count(sweep, "least_bytes")) fprintf(out, "  least that works");
  if (is_sketched(point)) fprintf(out, "  sketched: about so much");
}

/* "": of values that are whole at all points. */
static const char *mode_of(const json_t *point) { return text(point, "mode") ? text(point, "mode") : ""; }

static void put_table(const json_t *sweep, FILE *out) {
  const json_t *points = json_object_get(sweep, "points"), *point;
  const TimeUnit unit = unit_of(sweep);
  size_t i;
  fprintf(out, "sweep of %s for %s on %s, target %s (all figures estimated)\n", text(sweep, "tier"), text(sweep, "model"), text(sweep, "data"), text(sweep, "target"));
  int wide = 0;
  json_array_foreach((json_t *)points, i, point) if ((int)strlen(mode_of(point)) > wide) wide = (int)strlen(mode_of(point));
  fprintf(out, " %12s %12s %12s %8s %5s %11s %5s %4s%s\n", "budget", "needs", "epoch", "vs best", "kept", "recomputed", "host", "ssd", wide ? "  values" : "");
  json_array_foreach((json_t *)points, i, point) {
    fprintf(out, " %12s %12s %12s %7.2fx %5" PRId64 " %11" PRId64 " %5" PRId64 " %4" PRId64, gnn_bytes_above_text(count(point, "budget_bytes")).text,
            gnn_bytes_above_text(count(point, "needs_bytes")).text, duration(unit, number(point, "seconds")).text, number(point, "versus_best"), count(point, "kept"),
            count(point, "recomputed"), count(point, "host"), count(point, "ssd"));
    if (wide) fprintf(out, "  %-*s", wide, mode_of(point));
    put_note(sweep, i, point, out);
    fprintf(out, "\n");
  }
  if (count(sweep, "least_bytes"))
    fprintf(out, " %12s %12s %12s %8s   %s\n", "less", "-", "-", "-", text(sweep, "binds") ? text(sweep, "binds") : "");
}

static void put_grid(const json_t *sweep, FILE *out) {
  const json_t *points = json_object_get(sweep, "points"), *point;
  const TimeUnit unit = unit_of(sweep);
  int64_t row = -1;
  size_t i;
  fprintf(out, "epoch of %s on %s by %s (down) and %s (across), target %s (all figures estimated)\n %12s", text(sweep, "model"), text(sweep, "data"), text(sweep, "tier"),
          text(sweep, "other_tier"), text(sweep, "target"), "");
  json_array_foreach((json_t *)points, i, point) {
    if (row >= 0 && count(point, "budget_bytes") != row) break;
    row = count(point, "budget_bytes");
    fprintf(out, " %11s", gnn_bytes_above_text(count(point, "other_budget_bytes")).text);
  }
  row = -1;
  json_array_foreach((json_t *)points, i, point) {
    if (count(point, "budget_bytes") != row) fprintf(out, "\n %12s", gnn_bytes_above_text(row = count(point, "budget_bytes")).text);
    fprintf(out, " %11s", does_fit(point) ? duration(unit, number(point, "seconds")).text : "-");
  }
  fprintf(out, "\n");
}

void view_sweep_text(const json_t *sweeps, FILE *out) {
  const json_t *sweep;
  size_t i;
  json_array_foreach((json_t *)sweeps, i, sweep) {
    if (i) fprintf(out, "\n");
    if (is_two_tier(sweep)) put_grid(sweep, out);
    else put_table(sweep, out);
  }
}

void view_sweep_json(const json_t *sweeps, FILE *out) {
  json_t *root = json_pack("{s:s, s:s, s:O}", "format", "gnncc-sweep/1", "generator", "generated by gnncc", "sweeps", (json_t *)sweeps);
  json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
  fprintf(out, "\n");
  json_decref(root);
}

/* ---- the curve ---- */

enum { WIDTH = 720, HEIGHT = 360, LEFT = 80, RIGHT = 24, TOP = 36, BOTTOM = 44, NAMES = 440 };

typedef struct Axes {
  double least_bytes, most_bytes, most_seconds;
} Axes;

static double x_of(const Axes *a, double bytes) {
  double width = a->most_bytes - a->least_bytes;
  return LEFT + (width > 0 ? (bytes - a->least_bytes) / width : 0.5) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const Axes *a, double seconds) { return HEIGHT - BOTTOM - (a->most_seconds > 0 ? seconds / a->most_seconds : 0) * (HEIGHT - TOP - BOTTOM); }

static Axes axes_of(const json_t *sweeps) {
  Axes a = {HUGE_VAL, 0, 0};
  const json_t *sweep, *point;
  size_t i, k;
  json_array_foreach((json_t *)sweeps, i, sweep) json_array_foreach(json_object_get(sweep, "points"), k, point) {
    if (!does_fit(point)) continue;
    a.least_bytes = fmin(a.least_bytes, number(point, "needs_bytes"));
    a.most_bytes = fmax(a.most_bytes, number(point, "needs_bytes"));
    a.most_seconds = fmax(a.most_seconds, 1.1 * number(point, "seconds"));
  }
  double keep = a.most_bytes;
  json_array_foreach((json_t *)sweeps, i, sweep) if (number(sweep, "current_bytes") <= 1.25 * keep) a.most_bytes = fmax(a.most_bytes, number(sweep, "current_bytes"));
  return a;
}

/* Where values are cut otherwise than with more memory. */
static void put_modes(const Axes *a, const json_t *sweep, FILE *out) {
  const json_t *point;
  const char *last = NULL;
  size_t i;
  int told = 0;
  json_array_foreach(json_object_get(sweep, "points"), i, point) {
    if (!does_fit(point) || !*mode_of(point) || (last && strcmp(last, mode_of(point)) == 0)) continue;
    double x = x_of(a, number(point, "budget_bytes") < a->most_bytes ? number(point, "budget_bytes") : a->most_bytes), y = HEIGHT - BOTTOM - 6 - 13 * (told++ % 6);
    if (last) fprintf(out, "<path class=\"axis\" d=\"M%.1f %dV%d\" stroke-dasharray=\"2 3\"/>", x, TOP, HEIGHT - BOTTOM);
    fprintf(out, "<text class=\"mode\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x < (LEFT + WIDTH) / 2 ? x + 3 : x - 3, y, x < (LEFT + WIDTH) / 2 ? "start" : "end");
    escape_xml(out, mode_of(point));
    fprintf(out, "</text>\n");
    last = mode_of(point);
  }
}

/* Of a sweep with sketches, what was planned. */
static void put_planned(const Axes *a, const json_t *sweep, FILE *out) {
  const json_t *point;
  size_t i;
  json_array_foreach(json_object_get(sweep, "points"), i, point)
    if (is_sketched(sweep) && does_fit(point) && !is_sketched(point))
      fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#0072b2\"/>\n", x_of(a, number(point, "needs_bytes")), y_of(a, number(point, "seconds")));
}

static void put_mark(const Axes *a, const json_t *sweep, const char *key, const char *label, FILE *out) {
  const json_t *point = json_array_get(json_object_get(sweep, "points"), (size_t)count(sweep, key));
  if (count(sweep, key) < 0 || !point) return;
  bool is_budget = strcmp(key, "current") == 0;
  double bytes = is_budget ? number(sweep, "current_bytes") : number(point, "needs_bytes");
  bool is_beyond = bytes > a->most_bytes; /* nothing changes out there */
  double x = x_of(a, is_beyond ? a->most_bytes : bytes), y = y_of(a, number(point, "seconds"));
  bool is_left = x < (LEFT + WIDTH) / 2;
  fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#d55e00\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s", x, y, is_left ? x + 8 : x - 8, is_budget ? y + 18 : y - 8,
          is_left ? "start" : "end", label);
  if (is_beyond) fprintf(out, ", %s \342\206\222", gnn_bytes_above_text((int64_t)bytes).text);
  fprintf(out, "</text>\n");
}

static bool are_named_alike(const json_t *a, const json_t *b) { return strcmp(text(a, "model"), text(b, "model")) == 0 && strcmp(text(a, "data"), text(b, "data")) == 0; }

/* "sage on products", and of several such the place among those asked for. */
static void put_name(const json_t *sweeps, int index, FILE *out) {
  const json_t *sweep = json_array_get(sweeps, (size_t)index), *other;
  size_t i;
  bool is_one_of_several = false;
  json_array_foreach((json_t *)sweeps, i, other) is_one_of_several = is_one_of_several || ((int)i != index && are_named_alike(sweep, other));
  escape_xml(out, text(sweep, "model"));
  fprintf(out, " on ");
  escape_xml(out, text(sweep, "data"));
  if (is_one_of_several) fprintf(out, " (%d)", index + 1);
}

/* A plan fits every budget from what it needs up: a staircase. */
static void put_curve(const Axes *a, const json_t *sweeps, int index, FILE *out) {
  static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};
  const json_t *points = json_object_get(json_array_get(sweeps, (size_t)index), "points"), *point;
  size_t i;
  double x = WIDTH - RIGHT, y = 0;
  fprintf(out, "<path class=\"line\" style=\"stroke:%s%s\" d=\"", colours[index % 4], index % 2 ? ";stroke-dasharray:7 3" : "");
  json_array_foreach((json_t *)points, i, point) {
    if (!does_fit(point)) continue;
    y = y_of(a, number(point, "seconds"));
    fprintf(out, "%s%.1f %.1fH", x == WIDTH - RIGHT && i == 0 ? "M" : "L", x, y);
    x = x_of(a, number(point, "needs_bytes"));
    fprintf(out, "%.1f", x);
  }
  fprintf(out, "\"/>\n");
  if (x == WIDTH - RIGHT && y == 0) return; /* nothing fits */
  fprintf(out, "<path style=\"stroke:%s;stroke-width:3\" d=\"M%d %dh20\"/><text x=\"%d\" y=\"%d\">", colours[index % 4], NAMES, 10 + 14 * index, NAMES + 26, 14 + 14 * index);
  put_name(sweeps, index, out);
  fprintf(out, "</text>\n");
}

static void put_scales(const Axes *a, const char *tier, bool has_sketches, FILE *out) {
  for (int i = 0; i <= 4; i++) {
    double bytes = a->least_bytes + (a->most_bytes - a->least_bytes) * i / 4, seconds = a->most_seconds * i / 4;
    bool is_told = i == 0 || a->most_bytes > a->least_bytes;
    fprintf(out, "<path class=\"axis\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT, y_of(a, seconds), WIDTH - RIGHT, LEFT - 6, y_of(a, seconds) + 4,
            duration(time_unit(a->most_seconds), seconds).text);
    if (is_told) fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x_of(a, bytes), HEIGHT - BOTTOM + 16, i == 4 ? "end" : "middle", gnn_bytes_above_text((int64_t)bytes).text);
  }
  fprintf(out, "<text x=\"%d\" y=\"%d\">time of an epoch by ", LEFT, HEIGHT - 8);
  escape_xml(out, tier);
  fprintf(out, " budget, estimated%s</text>\n", has_sketches ? "; \342\227\217 planned, elsewhere sketched: about so much" : "");
}

static void put_heat(const json_t *sweep, FILE *out) {
  const json_t *points = json_object_get(sweep, "points"), *point;
  size_t i;
  const TimeUnit unit = unit_of(sweep);
  int row = -1, column = 0;
  int64_t bytes = -1;
  double least = HUGE_VAL, most = 0;
  json_array_foreach((json_t *)points, i, point) if (does_fit(point)) {
    least = fmin(least, number(point, "seconds"));
    most = fmax(most, number(point, "seconds"));
  }
  json_array_foreach((json_t *)points, i, point) {
    if (count(point, "budget_bytes") != bytes) {
      bytes = count(point, "budget_bytes");
      row++;
      column = 0;
      fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", LEFT - 6, TOP + row * 32 + 20, gnn_bytes_above_text(bytes).text);
    }
    double heat = does_fit(point) && most > least ? (number(point, "seconds") - least) / (most - least) : 0;
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"74\" height=\"30\" fill=\"%s\" fill-opacity=\"%.2f\" stroke=\"#bbb\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", LEFT + column * 76,
            TOP + row * 32, does_fit(point) ? "#d55e00" : "none", 0.08 + 0.8 * heat, LEFT + column * 76 + 37, TOP + row * 32 + 19, does_fit(point) ? duration(unit, number(point, "seconds")).text : "-");
    if (row == 0) fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", LEFT + column * 76 + 37, TOP - 6, gnn_bytes_above_text(count(point, "other_budget_bytes")).text);
    column++;
  }
  fprintf(out, "<text x=\"%d\" y=\"%d\">time of an epoch by ", LEFT, HEIGHT - 8);
  escape_xml(out, text(sweep, "tier"));
  fprintf(out, " (down) and ");
  escape_xml(out, text(sweep, "other_tier"));
  fprintf(out, " (across), estimated; -: no plan fits</text>\n");
}

void view_sweep_svg(const json_t *sweeps, FILE *out) {
  const json_t *first = json_array_get(sweeps, 0), *sweep;
  size_t i;
  fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<!-- generated by gnncc -->\n", WIDTH, HEIGHT, WIDTH, HEIGHT);
  svg_style(out);
  fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
  if (is_two_tier(first)) {
    put_heat(first, out);
  } else {
    Axes a = axes_of(sweeps);
    put_scales(&a, text(first, "tier"), is_sketched(first), out);
    json_array_foreach((json_t *)sweeps, i, sweep) {
      put_curve(&a, sweeps, (int)i, out);
      if (json_array_size(sweeps) == 1) put_modes(&a, sweep, out);
      put_planned(&a, sweep, out);
      put_mark(&a, sweep, "knee", "best value", out);
      put_mark(&a, sweep, "current", "current", out);
    }
  }
  fprintf(out, "</svg>\n");
}
