/* gantt_svg: the lanes and the skyline as a static drawing, for papers. At most 200 boxes: neighbours of one role on a
 * lane are drawn as one where there are more, and where that is not enough, neighbours of any role. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"
#include "runtime/base/text.h"

enum { WIDTH = 960, LEFT = 96, RIGHT = 16, TOP = 40, LANE = 26, BOX = 20, SKY = 120, MOST_BOXES = 200 };

typedef struct Drawing {
  const Document *d;
  FILE *out;
  const DocStep *steps;
  int count;
  double whole;
  bool is_measured; /* the lanes drawn now */
  bool is_mixed;    /* a box may hold several roles, and has that which takes most of its time */
} Drawing;

static double x_of(const Drawing *w, double seconds) { return LEFT + (WIDTH - LEFT - RIGHT) * (w->whole > 0 ? seconds / w->whole : 0); }

static const char *role_of(const DocStep *s) { return !s->to ? s->phase : strcmp(s->to, tier_names[TIER_DEVICE]) == 0 ? "in" : "out"; }

static double start_of(const Drawing *w, const DocStep *s) { return step_start(s, w->is_measured); }

static double end_of(const Drawing *w, const DocStep *s) { return step_start(s, w->is_measured) + step_seconds(s, w->is_measured); }

static bool is_drawn(const Drawing *w, const DocStep *s, const char *lane) { return strcmp(s->lane, lane) == 0 && document_shows(w->d, s, w->is_measured); }

static void put_title(const Drawing *w, const DocStep *first, const DocStep *last) {
  TimeUnit unit = document_time_unit(w->d);
  fprintf(w->out, "<title>");
  if (first == last)
    escape_xml(w->out, arena_printf(w->d->arena, "step %" PRId64 ", line %" PRId64 ": %s, %.4g %s%s", first->step, first->line, first->what, unit.per_second * step_seconds(first, w->is_measured), unit.name,
                                  w->is_measured ? ", measured" : ""));
  else
    escape_xml(w->out, arena_printf(w->d->arena, "steps %" PRId64 " to %" PRId64, first->step, last->step));
  fprintf(w->out, "</title>");
}

static const char *role_of_box(const Drawing *w, const DocStep *first, const DocStep *last) {
  struct { const char *name; double seconds; } roles[16] = {{role_of(first), 0}};
  int count = 1, most = 0;
  for (const DocStep *s = first; s <= last; s++) {
    if (!is_drawn(w, s, first->lane)) continue;
    int k = 0;
    while (k < count && strcmp(roles[k].name, role_of(s)) != 0) k++;
    if (k == 16) continue;
    if (k == count) roles[count++].name = role_of(s);
    roles[k].seconds += step_seconds(s, w->is_measured);
  }
  for (int k = 1; k < count; k++)
    if (roles[k].seconds > roles[most].seconds) most = k;
  return roles[most].name;
}

static void put_box(const Drawing *w, const DocStep *first, const DocStep *last, double y) {
  double x = x_of(w, start_of(w, first)), width = fmax(x_of(w, end_of(w, last)) - x, 0.4);
  fprintf(w->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">", role_of_box(w, first, last), x, y, width, BOX);
  put_title(w, first, last);
  fprintf(w->out, "</rect>\n");
  if (width > 22 && first == last) fprintf(w->out, "<text class=\"%s\" x=\"%.2f\" y=\"%.1f\" text-anchor=\"middle\">%" PRId64 "</text>\n", strcmp(role_of(first), "backward") == 0 ? "light" : "number", x + width / 2, y + 14, first->step);
}

/* The last of the steps that one box shows: neighbours of one role at most `gap` seconds apart; negative: each alone. */
static int last_of_box(const Drawing *w, int first, double gap) {
  const DocStep *s = w->steps;
  int last = first;
  for (int k = first + 1; gap >= 0 && k < w->count; k++) {
    if (!is_drawn(w, &s[k], s[first].lane)) continue;
    if (!w->is_mixed && (s[first].waits_for || strcmp(role_of(&s[k]), role_of(&s[first])) != 0)) break;
    if (start_of(w, &s[k]) > end_of(w, &s[last]) + gap) break;
    last = k;
  }
  return last;
}

static int put_lane(const Drawing *w, const char *lane, double y, double gap, bool is_counting) {
  int boxes = 0;
  if (!is_counting) {
    fprintf(w->out, w->is_measured ? "<text class=\"s\" x=\"12\" y=\"%.1f\">" : "<text x=\"4\" y=\"%.1f\">", y + 14);
    escape_xml(w->out, w->is_measured ? "measured" : lane);
    fprintf(w->out, "</text>\n");
  }
  for (int i = 0; i < w->count; i++) {
    if (!is_drawn(w, &w->steps[i], lane)) continue;
    int last = last_of_box(w, i, gap);
    if (!is_counting) put_box(w, &w->steps[i], &w->steps[last], y);
    boxes++;
    i = last;
  }
  return boxes;
}

/* Each lane as estimated, and under it as measured, from y on; how many boxes. */
static int put_lanes(Drawing *w, double y, double gap, bool is_counting) {
  int boxes = 0;
  for (int i = 0; i < w->d->lane_count; i++)
    for (int m = 0; m <= document_has_run(w->d); m++, y += LANE) {
      w->is_measured = m;
      boxes += put_lane(w, w->d->lanes[i].lane, y, gap, is_counting);
    }
  w->is_measured = false;
  return boxes;
}

/* The least gap to bridge so that there are not too many boxes. */
static double gap_for(Drawing *w) {
  double gap = -1;
  while (w->whole > 0 && put_lanes(w, 0, gap, true) > MOST_BOXES && !(w->is_mixed && gap > w->whole)) {
    bool is_enough = gap <= w->whole;
    w->is_mixed = w->is_mixed || !is_enough;
    gap = gap < 0 || !is_enough ? w->whole / WIDTH / 4 : 2 * gap;
  }
  return gap;
}

static void put_axis(const Drawing *w, double y) {
  TimeUnit unit = document_time_unit(w->d);
  double whole = w->whole * unit.per_second, power = whole > 0 ? pow(10, floor(log10(whole / 8))) : 1, step = power;
  for (int k = 0; k < 3 && whole / step > 10; k++) step = power * (double[]){2, 5, 10}[k];
  for (double at = 0; at <= whole; at += step) {
    double x = x_of(w, at / unit.per_second);
    fprintf(w->out, "<path class=\"axis\" d=\"M%.1f %dV%.1f\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g%s%s</text>\n", x, TOP - 4, y, x, TOP - 8, at, at == 0 ? " " : "",
            at == 0 ? unit.name : "");
  }
}

/* Up to and with a kind (DOC_KINDS: the gaps, too); those below are drawn over it. */
static void put_area(const Drawing *w, const DocMemory **columns, int kind, double y, double top) {
  fprintf(w->out, "<path class=\"%s\" d=\"M%d %.1f", kind == DOC_KINDS ? "gaps" : doc_kinds[kind], LEFT, y + SKY);
  for (int x = LEFT; x <= WIDTH - RIGHT; x++) {
    if (columns[x] == columns[x - 1]) continue;
    int64_t bytes = 0;
    for (int k = 0; k <= kind && k < DOC_KINDS && columns[x]; k++) bytes += columns[x]->kinds[k];
    if (kind == DOC_KINDS && columns[x]) bytes += columns[x]->gaps;
    fprintf(w->out, "H%dV%.1f", x, y + SKY - SKY * (double)bytes / top);
  }
  fprintf(w->out, "H%dV%.1fZ\"/>\n", WIDTH - RIGHT, y + SKY);
}

static void put_skyline(const Drawing *w, double y) {
  const DocTier *t = &w->d->tiers[0];
  int64_t end = w->steps[w->count - 1].step;
  double top = (double)(t->budget_bytes > 4 * t->peak_bytes ? t->peak_bytes : t->budget_bytes > t->peak_bytes ? t->budget_bytes : t->peak_bytes);
  const DocMemory **columns = arena_alloc(w->d->arena, (size_t)(WIDTH + 1) * sizeof *columns);
  for (int i = 0; i < w->d->memory_count && w->d->memory[i].step <= end; i++) {
    const DocMemory *m = &w->d->memory[i];
    for (int x = (int)x_of(w, m->start); x < x_of(w, m->end) && x <= WIDTH - RIGHT; x++)
      if (!columns[x] || m->device_bytes + m->gaps > columns[x]->device_bytes + columns[x]->gaps) columns[x] = m;
  }
  for (int k = DOC_KINDS; k >= 0; k--) put_area(w, columns, k, y, top);
  double line = y + SKY - SKY * (double)t->budget_bytes / top;
  if (line >= y - 1) fprintf(w->out, "<path class=\"budget\" d=\"M%d %.1fH%d\"/>", LEFT, line, WIDTH - RIGHT);
  fprintf(w->out, "\n<text x=\"4\" y=\"%.1f\">%s</text><text class=\"s\" x=\"4\" y=\"%.1f\">%s</text>\n", y + 10, gnn_bytes_above_text((int64_t)top).text, y + 24,
          top == (double)t->budget_bytes ? "budget" : "peak");
}

static void put_legend(const Drawing *w, double y) {
  static const struct { const char *role, *text; } items[] = {{"forward", "forward"}, {"backward", "backward"}, {"recompute", "recompute"}, {"update", "update"}, {"out", "moving out"},
                                                             {"in", "moving in"}, {"wait", "waiting"}, {"features", "stays"}, {"activation", "activations"}, {"gradient", "gradients"}, {"scratch", "scratch"}, {"gaps", "gaps"}};
  int x = 4;
  for (int i = 0; i < 12; i++) {
    fprintf(w->out, "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\"/><text x=\"%d\" y=\"%.1f\">%s</text>", items[i].role, x, y, x + 16, y + 10, items[i].text);
    x += 28 + 6 * (int)strlen(items[i].text);
  }
}

/* A name that leaves room for what else is said. */
static const char *shortened(const Document *d, const char *name) {
  enum { LONGEST = 24 };
  int shown = 0;
  for (const char *at = name; *at; at++) {
    shown += ((unsigned char)*at & 0xc0) != 0x80;
    if (shown == LONGEST + 1) return arena_printf(d->arena, "%.*s\342\200\246", (int)(at - name), name);
  }
  return name;
}

static const char *title(const Document *d) {
  TimeUnit unit = document_time_unit(d);
  const char *text = arena_printf(d->arena, "%s on %s, target %s: one %s, %.4g %s estimated", shortened(d, d->model), shortened(d, d->data), shortened(d, d->target), d->training_steps ? "epoch" : "evaluation",
                                  unit.per_second * document_shown_seconds(d), unit.name);
  return document_has_run(d) ? arena_printf(d->arena, "%s, %.4g %s measured", text, unit.per_second * document_run_seconds(d), unit.name) : text;
}

void view_gantt_svg(const Document *d, FILE *out) {
  Drawing w = {.d = d, .out = out, .whole = fmax(document_shown_seconds(d), document_run_seconds(d))};
  w.count = document_shown_steps(d, &w.steps);
  int lanes = d->lane_count * (1 + document_has_run(d)), height = TOP + lanes * LANE + 16 + SKY + 40;
  fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<!-- %s -->\n", WIDTH, height, WIDTH, height, d->generator);
  svg_style(out);
  fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/><text x=\"4\" y=\"16\" style=\"font-weight:bold\">");
  escape_xml(out, title(d));
  fprintf(out, "</text>\n");
  double y = TOP + lanes * LANE;
  put_axis(&w, (int)y + 16 + SKY);
  put_lanes(&w, TOP, gap_for(&w), false);
  if (w.count) put_skyline(&w, y + 12);
  put_legend(&w, y + 12 + SKY + 12);
  fprintf(out, "\n</svg>\n");
}
