/* gantt_svg: the lanes and the skyline as a static drawing, for papers; under the lanes of the plan those of some ranks. At most 200 boxes: kernels
 * that run in turns, part by part, are one, with their waits; neighbours of one role on a lane are drawn as one where there are more, and where that is
 * not enough, neighbours of any role. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"
#include "runtime/base/text.h"

enum { WIDTH = 960, LEFT = 96, RIGHT = 16, TOP = 40, LANE = 26, BOX = 20, SKY = 120, BRACKET = 18, HEADING = 18, MOST_BOXES = 200, LONGEST_NAME = 24 };

typedef struct Drawing {
  const Document *d;
  FILE *out;
  const DocStep *steps;
  int count;
  double whole;
  bool is_measured; /* the lanes drawn now */
  const DocRank *rank; /* whose they are; NULL: the plan's */
  bool is_mixed;    /* a box may hold several roles, and has that which takes most of its time */
  const DocStep **of_ranks; /* the steps of each */
  DocTurns turns;
  bool *is_in_turn; /* of each step: it is drawn with the others of its turns */
} Drawing;

static double x_of(const Drawing *w, double seconds) { return LEFT + (WIDTH - LEFT - RIGHT) * (w->whole > 0 ? seconds / w->whole : 0); }

static const char *role_of(const DocStep *s) { return !s->to ? s->phase : strcmp(s->to, tier_names[TIER_DEVICE]) == 0 ? "in" : "out"; }

static double start_of(const Drawing *w, const DocStep *s) { return step_start(s, w->is_measured); }

static double end_of(const Drawing *w, const DocStep *s) { return step_start(s, w->is_measured) + step_seconds(s, w->is_measured); }

static bool is_drawn(const Drawing *w, const DocStep *s, const char *lane) { return !w->is_in_turn[s - w->steps] && strcmp(s->lane, lane) == 0 && document_shows(w->d, s, w->is_measured); }

/* ": out gcn1_z -> host" where all steps of a box are that, for its pieces. */
static const char *pieces_of(const Drawing *w, const DocStep *first, const DocStep *last) {
  if (!first->piece.group) return "";
  const char *what = document_what(w->d, first);
  for (const DocStep *s = first; s <= last; s++)
    if (is_drawn(w, s, first->lane) && strcmp(document_what(w->d, s), what) != 0) return "";
  return arena_printf(w->d->arena, ": %s", what);
}

static void put_title(const Drawing *w, const DocStep *first, const DocStep *last) {
  TimeUnit unit = document_time_unit(w->d);
  fprintf(w->out, "<title>");
  if (w->rank) fprintf(w->out, "rank %" PRId64 ", ", w->rank->rank);
  if (first == last)
    escape_xml(w->out, arena_printf(w->d->arena, "step %" PRId64 ", line %" PRId64 ": %s, %.4g %s%s", first->step, first->line, first->what, unit.per_second * step_seconds(first, w->is_measured), unit.name,
                                  w->is_measured ? ", measured" : ""));
  else
    escape_xml(w->out, arena_printf(w->d->arena, "steps %" PRId64 " to %" PRId64 "%s", first->step, last->step, pieces_of(w, first, last)));
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

/* ---- turns ---- */

/* What of a text leaves room for the rest. */
static const char *shortened(const Document *d, const char *text, int most) {
  int shown = 0;
  for (const char *at = text; *at; at++) {
    shown += ((unsigned char)*at & 0xc0) != 0x80;
    if (shown == most + 1) return arena_printf(d->arena, "%.*s\342\200\246", (int)(at - text), text);
  }
  return text;
}

static void find_turns(Drawing *w) {
  w->turns = document_turns(w->d);
  w->is_in_turn = arena_alloc(w->d->arena, (size_t)w->count * sizeof *w->is_in_turn);
  if (w->turns.count > MOST_BOXES / (2 + w->d->rank_count)) w->turns.count = 0; /* as many as boxes may be; neighbours are put together then */
  for (int i = 0; i < w->turns.count; i++)
    for (int k = w->turns.list[i].first; k <= w->turns.list[i].last; k++) w->is_in_turn[k] = strcmp(w->steps[k].lane, lane_names[LANE_COMPUTE]) == 0;
}

static bool is_shown_in(const Drawing *w, int i) { return w->is_in_turn[i] && document_shows(w->d, &w->steps[i], w->is_measured); }

/* What has a role, neighbours together. */
static void put_role(const Drawing *w, const DocTurn *t, const char *role, double y) {
  double from = 0, to = -1;
  fprintf(w->out, "<path class=\"%s\" d=\"", role);
  for (int i = t->first; i <= t->last + 1; i++) {
    bool is_last = i > t->last, is_it = !is_last && is_shown_in(w, i) && strcmp(role_of(&w->steps[i]), role) == 0;
    if (!is_it && !is_last) continue;
    double x = is_last ? INFINITY : x_of(w, start_of(w, &w->steps[i]));
    if (to >= 0 && x > to + 0.1) fprintf(w->out, "M%.2f %.1fH%.2fv%dH%.2fz", from, y, fmax(to, from + 0.2), BOX, from);
    if (is_last) break;
    if (to < 0 || x > to + 0.1) from = x;
    to = x_of(w, end_of(w, &w->steps[i]));
  }
  fprintf(w->out, "\"/>\n");
}

/* Lines where the next part begins, darker ones where the next slice does; none where they would be too close. */
static void put_divisions(const Drawing *w, const DocTurn *t, double y, double width) {
  const DocStep *before = NULL;
  int count = 0;
  char *paths[2] = {"", ""};
  for (int i = t->first, slice = 1; i <= t->last; i++) {
    const DocStep *s = &w->steps[i];
    bool is_slice = slice < t->slice_count && i == t->slices[slice];
    slice += is_slice;
    if (!w->is_in_turn[i] || s->waits_for) continue;
    if (before && (is_slice || before->piece.part != s->piece.part)) {
      paths[is_slice] = arena_printf(w->d->arena, "%sM%.2f %.1fv%d", paths[is_slice], x_of(w, start_of(w, s)), y, BOX);
      count++;
    }
    before = s;
  }
  if (count && width / count >= 3) fprintf(w->out, "<path class=\"part\" d=\"%s\"/>\n", paths[0]);
  if (t->slice_count > 1 && width / t->slice_count >= 3) fprintf(w->out, "<path class=\"slice\" d=\"%s\"/>\n", paths[1]);
}

static void put_turn(const Drawing *w, const DocTurn *t, double y) {
  static const char *const roles[] = {"forward", "backward", "eval", "update", "recompute", "wait"};
  const DocStep *first = &w->steps[t->first], *last = &w->steps[t->last];
  double x = x_of(w, start_of(w, first)), width = fmax(x_of(w, end_of(w, last)) - x, 0.4);
  TimeUnit unit = document_time_unit(w->d);
  const char *names = document_turn_names(w->d, t, "\303\227");
  for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
    bool is_there = false;
    for (int i = t->first; i <= t->last && !is_there; i++) is_there = is_shown_in(w, i) && strcmp(role_of(&w->steps[i]), roles[r]) == 0;
    if (is_there) put_role(w, t, roles[r], y);
  }
  put_divisions(w, t, y, width);
  fprintf(w->out, "<rect class=\"turns\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"><title>", x, y, width, BOX);
  escape_xml(w->out, arena_printf(w->d->arena, "steps %" PRId64 " to %" PRId64 ": %d parts by turns of %s, %.4g %s%s", first->step, last->step, t->part_count, names,
                                  unit.per_second * (end_of(w, last) - start_of(w, first)), unit.name, w->is_measured ? ", measured" : ""));
  fprintf(w->out, "</title></rect>\n");
  int room = (int)((width - 8) / 6.1) - 1;
  if (room < 8) return;
  fprintf(w->out, "<text class=\"%s\" x=\"%.2f\" y=\"%.1f\">", strcmp(t->phase, "backward") == 0 ? "light name" : "name", x + 4, y + 14);
  escape_xml(w->out, shortened(w->d, arena_printf(w->d->arena, "%s \302\267 %d parts", names, t->part_count), room));
  fprintf(w->out, "</text>\n");
}

static void put_turn_style(const Drawing *w) {
  if (!w->turns.count) return;
  fputs("<style>.turns{fill:none;pointer-events:all;stroke:#222;stroke-opacity:.6;stroke-width:.8}.part{fill:none;stroke:#fff;stroke-opacity:.8;stroke-width:.6}.slice{fill:none;stroke:#222;stroke-opacity:.6;stroke-width:.8}"
        ".name{paint-order:stroke;stroke:#56b4e9;stroke-width:3px}.light.name{stroke:#0072b2}</style>\n", w->out);
}

/* ---- lanes ---- */

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
    fprintf(w->out, w->is_measured ? "<text class=\"s\" x=\"12\" y=\"%.1f\">" : w->rank ? "<text x=\"12\" y=\"%.1f\">" : "<text x=\"4\" y=\"%.1f\">", y + 14);
    escape_xml(w->out, w->is_measured ? "measured" : lane);
    fprintf(w->out, "</text>\n");
  }
  for (int i = 0; i < w->turns.count && strcmp(lane, lane_names[LANE_COMPUTE]) == 0; i++, boxes++)
    if (!is_counting) put_turn(w, &w->turns.list[i], y);
  for (int i = 0; i < w->count; i++) {
    if (!is_drawn(w, &w->steps[i], lane)) continue;
    int last = last_of_box(w, i, gap);
    if (!is_counting) put_box(w, &w->steps[i], &w->steps[last], y);
    boxes++;
    i = last;
  }
  return boxes;
}

/* The first, the slowest and the last of several ranks, with what is their own: a group of lanes each. */
static int put_ranks(Drawing *w, double y, double gap, bool is_counting) {
  const DocStep *const of_all = w->steps;
  int boxes = 0;
  for (int k = 0; k < w->d->rank_count; k++) {
    w->rank = &w->d->ranks[k];
    w->steps = w->of_ranks[k];
    if (!is_counting) {
      fprintf(w->out, "<text x=\"4\" y=\"%.1f\">", y + 12);
      escape_xml(w->out, document_rank_title(w->d, w->rank));
      fprintf(w->out, "</text>\n");
    }
    y += HEADING;
    for (int i = 0; i < w->d->lane_count; i++, y += LANE) boxes += put_lane(w, w->d->lanes[i].lane, y, gap, is_counting);
  }
  w->rank = NULL;
  w->steps = of_all;
  return boxes;
}

/* Each lane as estimated, and under it as measured, from y on, and the ranks; how many boxes. */
static int put_lanes(Drawing *w, double y, double gap, bool is_counting) {
  int boxes = 0;
  for (int i = 0; i < w->d->lane_count; i++)
    for (int m = 0; m <= document_has_run(w->d); m++, y += LANE) {
      w->is_measured = m;
      boxes += put_lane(w, w->d->lanes[i].lane, y, gap, is_counting);
    }
  w->is_measured = false;
  return boxes + put_ranks(w, y, gap, is_counting);
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

/* ---- layers ---- */

/* Above the lanes, of a run once more as measured. */
static void put_brackets(const Drawing *w, double y) {
  for (int m = 0; m <= document_has_run(w->d); m++) {
    const DocBrackets brackets = document_brackets(w->d, m);
    if (brackets.count) fprintf(w->out, m ? "<text class=\"s\" x=\"12\" y=\"%.1f\">measured</text>\n" : "<text x=\"4\" y=\"%.1f\">layers</text>\n", y + 11);
    for (int i = 0; i < brackets.count; i++) {
      const DocBracket *b = &brackets.list[i];
      const double left = x_of(w, b->from) + 0.5, right = x_of(w, b->to) - 0.5;
      int columns;
      if (right - left < 1) continue;
      const char *label = bracket_label(w->d, b, (int)((right - left) / 6.1), true, &columns);
      fprintf(w->out, "<path class=\"axis\" data-layer=\"");
      escape_xml(w->out, b->text);
      fprintf(w->out, "\" fill=\"none\" d=\"M%.1f %.1fv-3H%.1fv3\"/>", left, y + BRACKET - 2, right);
      if (columns) {
        fprintf(w->out, "<text class=\"s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (left + right) / 2, y + 11);
        escape_xml(w->out, label);
        fprintf(w->out, "</text>");
      }
      fprintf(w->out, "\n");
    }
    y += BRACKET;
  }
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
  static const struct { const char *role, *text; } items[] = {{"forward", "forward"}, {"backward", "backward"}, {"recompute", "recompute"}, {"update", "update"}, {"exchange", "exchange"}, {"out", "moving out"},
                                                             {"in", "moving in"}, {"wait", "waiting"}, {"features", "stays"}, {"activation", "activations"}, {"gradient", "gradients"}, {"scratch", "scratch"}, {"gaps", "gaps"}};
  bool has_exchange = false;
  int x = 4;
  for (int i = 0; i < w->count; i++) has_exchange = has_exchange || strcmp(role_of(&w->steps[i]), "exchange") == 0;
  for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
    if (strcmp(items[i].role, "exchange") == 0 && !has_exchange) continue;
    fprintf(w->out, "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\"/><text x=\"%d\" y=\"%.1f\">%s</text>", items[i].role, x, y, x + 16, y + 10, items[i].text);
    x += 28 + 6 * (int)strlen(items[i].text);
  }
}

static const char *title(const Document *d) {
  TimeUnit unit = document_time_unit(d);
  const char *text = arena_printf(d->arena, "%s on %s, target %s: one %s, %.4g %s estimated", shortened(d, d->model, LONGEST_NAME), shortened(d, d->data, LONGEST_NAME), shortened(d, d->target, LONGEST_NAME), d->training_steps ? "epoch" : "evaluation",
                                  unit.per_second * document_shown_seconds(d), unit.name);
  return document_has_run(d) ? arena_printf(d->arena, "%s, %.4g %s measured", text, unit.per_second * document_run_seconds(d), unit.name) : text;
}

void view_gantt_svg(const Document *d, FILE *out) {
  Drawing w = {.d = d, .out = out, .whole = fmax(document_shown_seconds(d), document_run_seconds(d))};
  w.count = document_shown_steps(d, &w.steps);
  find_turns(&w);
  w.of_ranks = arena_alloc(d->arena, (size_t)(d->rank_count + 1) * sizeof *w.of_ranks);
  for (int k = 0; k < d->rank_count; k++) w.of_ranks[k] = document_rank_steps(d, &d->ranks[k]);
  const int lanes = d->lane_count * (1 + document_has_run(d) + d->rank_count), top = TOP + (document_has_layers(d) ? BRACKET * (1 + document_has_run(d)) : 0), below = top + lanes * LANE + d->rank_count * HEADING, height = below + 16 + SKY + 40;
  fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<!-- %s -->\n", WIDTH, height, WIDTH, height, d->generator);
  svg_style(out);
  put_turn_style(&w);
  fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/><text x=\"4\" y=\"16\" style=\"font-weight:bold\">");
  escape_xml(out, title(d));
  fprintf(out, "</text>\n");
  put_axis(&w, below + 16 + SKY);
  put_brackets(&w, TOP);
  put_lanes(&w, top, gap_for(&w), false);
  if (w.count) put_skyline(&w, below + 12);
  put_legend(&w, below + 12 + SKY + 12);
  fprintf(out, "\n</svg>\n");
}
