/* gantt_svg: the lanes and the skyline as a static drawing, for papers. At most 200 boxes: neighbours of one role on a
 * lane are drawn as one where there are more. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/text.h"
#include "views.h"

enum { WIDTH = 960, LEFT = 96, RIGHT = 16, TOP = 40, LANE = 26, BOX = 20, SKY = 120, MOST_BOXES = 200 };

typedef struct Drawing {
  const Document *d;
  FILE *out;
  const DocStep *steps;
  int count;
  double whole;
} Drawing;

static double x_of(const Drawing *w, double seconds) { return LEFT + (WIDTH - LEFT - RIGHT) * (w->whole > 0 ? seconds / w->whole : 0); }

static const char *role_of(const DocStep *s) { return !s->to ? s->phase : strcmp(s->to, "device") == 0 ? "in" : "out"; }

static bool is_drawn(const DocStep *s, const char *lane) { return strcmp(s->lane, lane) == 0 && s->seconds > 0; }

static void put_title(const Drawing *w, const DocStep *first, const DocStep *last) {
  TimeUnit unit = document_time_unit(w->d);
  fprintf(w->out, "<title>");
  if (first == last)
    svg_text(w->out, arena_printf(w->d->arena, "step %" PRId64 ", line %" PRId64 ": %s, %.4g %s", first->step, first->line, first->what, unit.per_second * first->seconds, unit.name));
  else
    svg_text(w->out, arena_printf(w->d->arena, "steps %" PRId64 " to %" PRId64, first->step, last->step));
  fprintf(w->out, "</title>");
}

static void put_box(const Drawing *w, const DocStep *first, const DocStep *last, double y) {
  double x = x_of(w, first->start), width = fmax(x_of(w, last->start + last->seconds) - x, 0.4);
  fprintf(w->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">", role_of(first), x, y, width, BOX);
  put_title(w, first, last);
  fprintf(w->out, "</rect>\n");
  if (width > 22 && first == last) fprintf(w->out, "<text x=\"%.2f\" y=\"%.1f\" text-anchor=\"middle\">%" PRId64 "</text>\n", x + width / 2, y + 14, first->step);
}

static void put_lane(const Drawing *w, const char *lane, double y, bool is_merging) {
  fprintf(w->out, "<text x=\"4\" y=\"%.1f\">%s</text>\n", y + 14, lane);
  for (int i = 0; i < w->count; i++) {
    if (!is_drawn(&w->steps[i], lane)) continue;
    int last = i;
    for (int k = i + 1; is_merging && k < w->count; k++) {
      if (!is_drawn(&w->steps[k], lane)) continue;
      if (strcmp(role_of(&w->steps[k]), role_of(&w->steps[i])) != 0 || w->steps[k].start > w->steps[last].start + w->steps[last].seconds + w->whole / WIDTH) break;
      last = k;
    }
    put_box(w, &w->steps[i], &w->steps[last], y);
    i = last;
  }
}

static void put_axis(const Drawing *w, double y) {
  TimeUnit unit = document_time_unit(w->d);
  for (int i = 0; i <= 10; i++) {
    double x = x_of(w, w->whole * i / 10);
    fprintf(w->out, "<path class=\"axis\" d=\"M%.1f %dV%.1f\"/>", x, TOP - 4, y);
    if (i % 2 == 0) fprintf(w->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.4g%s%s</text>\n", x, TOP - 8, i == 0 ? "start" : i == 10 ? "end" : "middle",
                            unit.per_second * w->whole * i / 10, i == 10 ? " " : "", i == 10 ? unit.name : "");
  }
}

static void put_skyline(const Drawing *w, double y) {
  const DocTier *t = &w->d->tiers[0];
  int64_t end = w->steps[w->count - 1].step;
  double top = (double)(t->budget_bytes > 4 * t->peak_bytes ? t->peak_bytes : t->budget_bytes > t->peak_bytes ? t->budget_bytes : t->peak_bytes);
  for (int i = 0; i < w->d->memory_count && w->d->memory[i].step <= end; i++) {
    const DocMemory *m = &w->d->memory[i];
    double below = 0, x = x_of(w, m->start), width = x_of(w, m->end) - x;
    for (int k = 0; k < DOC_KINDS && width > 0; k++) {
      double height = SKY * (double)m->kinds[k] / top;
      if (height > 0) fprintf(w->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>", doc_kinds[k], x, y + SKY - below - height, width, height);
      below += height;
    }
  }
  double line = y + SKY - SKY * (double)t->budget_bytes / top;
  if (line >= y - 1) fprintf(w->out, "<path class=\"budget\" d=\"M%d %.1fH%d\"/>", LEFT, line, WIDTH - RIGHT);
  fprintf(w->out, "\n<text x=\"4\" y=\"%.1f\">%s</text><text class=\"s\" x=\"4\" y=\"%.1f\">%s</text>\n", y + 10, gnn_bytes_text((int64_t)top).text, y + 24,
          top == (double)t->budget_bytes ? "budget" : "peak");
}

static void put_legend(const Drawing *w, double y) {
  static const struct { const char *role, *text; } items[] = {{"forward", "forward"}, {"backward", "backward"}, {"recompute", "recompute"}, {"update", "update"}, {"out", "moving out"},
                                                             {"in", "moving in"}, {"wait", "waiting"}, {"features", "stays"}, {"activation", "activations"}, {"gradient", "gradients"}, {"scratch", "scratch"}};
  for (int i = 0; i < 11; i++)
    fprintf(w->out, "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\"/><text x=\"%d\" y=\"%.1f\">%s</text>", items[i].role, LEFT + i * 76, y, LEFT + i * 76 + 16, y + 10, items[i].text);
}

void view_gantt_svg(const Document *d, FILE *out) {
  Drawing w = {.d = d, .out = out, .whole = document_shown_seconds(d)};
  w.count = document_shown_steps(d, &w.steps);
  int height = TOP + d->lane_count * LANE + 16 + SKY + 40;
  fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<!-- %s -->\n", WIDTH, height, WIDTH, height, d->generator);
  svg_style(out);
  fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/><text x=\"4\" y=\"16\" style=\"font-weight:bold\">");
  svg_text(out, arena_printf(d->arena, "%s on %s, target %s: one epoch, estimated", d->model, d->data, d->target));
  fprintf(out, "</text>\n");
  double y = TOP;
  put_axis(&w, TOP + d->lane_count * LANE + 16 + SKY);
  for (int i = 0; i < d->lane_count; i++, y += LANE) put_lane(&w, d->lanes[i].lane, y, w.count > MOST_BOXES);
  if (w.count) put_skyline(&w, y + 12);
  put_legend(&w, y + 12 + SKY + 12);
  fprintf(out, "\n</svg>\n");
}
