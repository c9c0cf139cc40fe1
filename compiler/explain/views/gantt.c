/* gantt: lanes over time for a terminal, and under them the memory of the device. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "views.h"
#include "runtime/base/text.h"

enum { HEAD = 20, LEAST_COLUMNS = 40, MOST_COLUMNS = 400, USUAL_WIDTH = 80, ROWS = 4 };

typedef struct Role {
  const char *phase, *utf8, *ascii, *meaning;
} Role;

static const Role roles[] = {
    {"forward", "F", "F", "forward"},    {"backward", "B", "B", "backward"},    {"recompute", "r", "r", "recompute"}, {"update", "U", "U", "update"},
    {"eval", "E", "E", "evaluation"},    {"exchange", "x", "x", "exchange"},    {"out", "o", "o", "moving out"},      {"in", "i", "i", "moving in"},
    {"wait", "\342\226\221", "~", "waiting"}};
enum { ROLE_COUNT = sizeof roles / sizeof roles[0], ROLE_WAIT = ROLE_COUNT - 1 };

typedef struct Chart {
  const Document *d;
  FILE *out;
  bool is_utf8, is_measured; /* the lanes drawn now */
  int columns;
  double whole; /* seconds */
  const DocStep *steps;
  int count;
  bool is_used[ROLE_COUNT];
} Chart;

static int role_of(const DocStep *s) {
  const char *phase = !s->to ? s->phase : strcmp(s->to, tier_names[TIER_DEVICE]) == 0 ? "in" : "out";
  for (int r = 0; r < ROLE_COUNT; r++)
    if (strcmp(roles[r].phase, phase) == 0) return r;
  return 0;
}

/* As wide as COLUMNS says, or the terminal that it goes to. */
static int chart_columns(FILE *out) {
  const char *text = getenv("COLUMNS");
  struct winsize size = {0};
  int64_t columns;
  if (!text || !gnn_parse_integer(text, &columns)) columns = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_WIDTH;
  columns -= HEAD;
  return columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : (int)columns;
}

static int column_of(const Chart *c, double seconds) {
  int column = c->whole > 0 ? (int)(seconds / c->whole * c->columns) : 0;
  return column < 0 ? 0 : column >= c->columns ? c->columns - 1 : column;
}

/* Each column shows what takes most of its time; a wait is shown however short it is there. */
static void fill_lane(Chart *c, const char *lane, int *cells) {
  double *most = arena_alloc(c->d->arena, (size_t)c->columns * sizeof *most), *sums = arena_alloc(c->d->arena, (size_t)(c->columns * ROLE_COUNT) * sizeof *sums);
  double width = c->whole / c->columns;
  for (int i = 0; i < c->columns; i++) cells[i] = -1;
  for (int i = 0; i < c->count; i++) {
    const DocStep *s = &c->steps[i];
    double start = step_start(s, c->is_measured), end = start + step_seconds(s, c->is_measured);
    if (strcmp(s->lane, lane) != 0 || !document_shows(c->d, s, c->is_measured)) continue;
    int role = role_of(s);
    for (int at = column_of(c, start); at <= column_of(c, end); at++) {
      double from = fmax(start, at * width), to = fmin(end, (at + 1) * width), *sum = &sums[at * ROLE_COUNT + role];
      *sum += fmax(to - from, 0);
      if (*sum <= most[at]) continue;
      most[at] = *sum;
      cells[at] = role;
    }
  }
  for (int i = 0; i < c->count; i++) {
    const DocStep *s = &c->steps[i];
    bool is_wait = strcmp(s->lane, lane) == 0 && s->waits_for && document_shows(c->d, s, c->is_measured);
    if (is_wait) cells[column_of(c, step_start(s, c->is_measured) + step_seconds(s, c->is_measured) / 2)] = ROLE_WAIT;
  }
}

static void put_lane(Chart *c, const char *head, const DocLane *lane) {
  int *cells = arena_alloc(c->d->arena, (size_t)c->columns * sizeof *cells);
  fill_lane(c, lane->lane, cells);
  fprintf(c->out, "%-8.8s %-9s  ", head, lane->lane);
  for (int i = 0; i < c->columns; i++) {
    if (cells[i] >= 0) c->is_used[cells[i]] = true;
    fputs(cells[i] < 0 ? (c->is_utf8 ? "\302\267" : ".") : c->is_utf8 ? roles[cells[i]].utf8 : roles[cells[i]].ascii, c->out);
  }
  fprintf(c->out, "\n");
}

/* The layers that the kernels stem from: a mark where one begins, its name as far as there is room, and a mark where the last of neighbours ends. */
static void put_brackets(const Chart *c, const char *head, bool is_measured) {
  const DocBrackets brackets = document_brackets(c->d, is_measured);
  const char *const mark = c->is_utf8 ? "\342\224\202" : "|";
  if (!brackets.count) return;
  fprintf(c->out, "%-8.8s %-9s  ", head, "layers");
  int at = 0; /* the column that is written next */
  for (int i = 0; i < brackets.count; i++) {
    const DocBracket *b = &brackets.list[i];
    const int first = column_of(c, b->from), end = i + 1 < brackets.count && brackets.list[i + 1].from <= b->to ? column_of(c, brackets.list[i + 1].from) : column_of(c, b->to);
    if (first < at || end <= first) continue; /* too short to be seen */
    int columns;
    const char *label = bracket_label(c->d, b, end - first - 1, c->is_utf8, &columns);
    fprintf(c->out, "%*s%s%s%*s", first - at, "", mark, label, end - first - 1 - columns, "");
    at = end;
    if (i + 1 == brackets.count || column_of(c, brackets.list[i + 1].from) > end) fputs(mark, c->out), at++;
  }
  fprintf(c->out, "\n");
}

/* The first, the slowest and the last of several ranks, with what is their own: a group of lanes each. */
static void put_ranks(Chart *c) {
  const DocStep *const of_all = c->steps;
  for (int k = 0; k < c->d->rank_count; k++) {
    const DocRank *rank = &c->d->ranks[k];
    c->steps = document_rank_steps(c->d, rank);
    fprintf(c->out, "%s\n", document_rank_title(c->d, rank));
    for (int i = 0; i < c->d->lane_count; i++) put_lane(c, arena_printf(c->d->arena, "  %" PRId64, rank->rank), &c->d->lanes[i]);
  }
  c->steps = of_all;
}

/* Of a run, each lane twice: as estimated, and under it as measured. */
static void put_lanes(Chart *c) {
  bool has_run = document_has_run(c->d);
  for (int m = 0; m <= has_run; m++) put_brackets(c, !has_run ? c->d->device : m ? "measured" : "estimate", m);
  for (int i = 0; i < c->d->lane_count; i++)
    for (int m = 0; m <= has_run; m++) {
      c->is_measured = m;
      put_lane(c, !has_run ? c->d->device : m ? "measured" : "estimate", &c->d->lanes[i]);
    }
  c->is_measured = false;
  put_ranks(c);
}

static double round_step(double whole) {
  double power = pow(10, floor(log10(whole / 4)));
  double shares[] = {1, 2, 5, 10};
  for (int i = 0; i < 4; i++)
    if (whole / (power * shares[i]) <= 6) return power * shares[i];
  return power * 10;
}

static void put_axis(const Chart *c) {
  TimeUnit unit = document_time_unit(c->d);
  double whole = c->whole * unit.per_second;
  char *line = arena_alloc(c->d->arena, (size_t)c->columns + 1), text[40];
  memset(line, ' ', (size_t)c->columns);
  int length = snprintf(text, sizeof text, "%.4g %s", whole, unit.name), end = c->columns - length;
  memcpy(line + end, text, (size_t)length);
  double step = whole > 0 ? round_step(whole) : 1;
  for (double at = 0; at < whole; at += step) {
    int column = (int)(at / whole * c->columns);
    length = snprintf(text, sizeof text, "%.6g", at);
    if (column + length < end) memcpy(line + column, text, (size_t)length);
  }
  fprintf(c->out, "%*s%s\n", HEAD, "", line);
}

/* ---- memory ---- */

static int64_t scale_of(const Document *d) {
  const DocTier *t = &d->tiers[0];
  return t->budget_bytes > 4 * t->peak_bytes || t->budget_bytes < t->peak_bytes ? t->peak_bytes : t->budget_bytes;
}

/* What is alive in each column, and what is in use with the gaps between blocks. */
static void fill_skyline(const Chart *c, int64_t *alive, int64_t *used) {
  int64_t end = c->d->training_steps ? c->d->training_steps : c->d->step_count;
  for (int i = 0; i < c->d->memory_count; i++) {
    const DocMemory *m = &c->d->memory[i];
    if (m->step > end) continue;
    for (int at = column_of(c, m->start); at <= column_of(c, m->end); at++) {
      if (m->device_bytes > alive[at]) alive[at] = m->device_bytes;
      if (m->device_bytes + m->gaps > used[at]) used[at] = m->device_bytes + m->gaps;
    }
  }
}

static int eighths_of(int64_t bytes, int64_t top, int row) {
  double level = top > 0 ? (double)bytes / (double)top * ROWS - row : 0;
  return level >= 1 ? 8 : level <= 0 ? 0 : (int)ceil(8 * level);
}

static void put_skyline(const Chart *c) {
  static const char *const blocks[] = {" ", "\342\226\201", "\342\226\202", "\342\226\203", "\342\226\204", "\342\226\205", "\342\226\206", "\342\226\207", "\342\226\210"};
  int64_t *alive = arena_alloc(c->d->arena, (size_t)c->columns * sizeof *alive), *used = arena_alloc(c->d->arena, (size_t)c->columns * sizeof *used), top = scale_of(c->d);
  bool has_gaps = false;
  fill_skyline(c, alive, used);
  const char *labels[ROWS] = {"0", "", top == c->d->tiers[0].budget_bytes ? "budget" : "peak", arena_printf(c->d->arena, "%s", gnn_bytes_above_text(top).text)};
  for (int row = ROWS - 1; row >= 0; row--) {
    fprintf(c->out, "%-8.8s %9s %s", row == ROWS - 1 ? c->d->device : "", labels[row], c->is_utf8 ? "\342\224\244" : "|");
    for (int i = 0; i < c->columns; i++) {
      int eighth = eighths_of(alive[i], top, row);
      bool is_gap = eighth == 0 && eighths_of(used[i], top, row) > 0;
      has_gaps = has_gaps || is_gap;
      fputs(is_gap ? ":" : c->is_utf8 ? blocks[eighth] : eighth >= 4 ? "#" : eighth > 0 ? "." : " ", c->out);
    }
    fprintf(c->out, "\n");
  }
  if (has_gaps) fprintf(c->out, "%*s: gaps between blocks\n", HEAD, "");
}

/* ---- legends ---- */

static void put_legend(const Chart *c) {
  int used = 0;
  for (int r = 0; r < ROLE_COUNT; r++) {
    int length = 2 + (int)strlen(roles[r].meaning);
    if (!c->is_used[r]) continue;
    if (used && used + 3 + length > c->columns) used = 0, fprintf(c->out, "\n");
    fprintf(c->out, "%*s%s %s", used ? 3 : HEAD, "", c->is_utf8 ? roles[r].utf8 : roles[r].ascii, roles[r].meaning);
    used += (used ? 3 : 0) + length;
  }
  fprintf(c->out, "\n");
}

/* What does not fit in a line is left out: the listing has it. */
static void put_line(const Chart *c, const char *line) {
  int wide = c->columns + HEAD, shown = 0;
  for (const char *at = line; *at; at++) shown += ((unsigned char)*at & 0xc0) != 0x80;
  if (shown <= wide) {
    fprintf(c->out, "%s\n", line);
    return;
  }
  const char *end = line;
  for (int left = wide - 3; left > 0 || ((unsigned char)*end & 0xc0) == 0x80; end++) left -= ((unsigned char)*end & 0xc0) != 0x80;
  fprintf(c->out, "%.*s...\n", (int)(end - line), line);
}

/* "steps 123 to 257 take 3.13 ms: 16 parts by turns of gcn1_m_slice x3, gcn1_z_table x3" */
static void put_turns(const Chart *c) {
  TimeUnit unit = document_time_unit(c->d);
  DocTurns turns = document_turns(c->d);
  for (int i = 0; i < turns.count; i++) {
    const DocTurn *t = &turns.list[i];
    const DocStep *first = &c->steps[t->first], *last = &c->steps[t->last];
    const char *measured = first->is_measured && last->is_measured ? arena_printf(c->d->arena, " (measured %.3g)", unit.per_second * (step_start(last, true) + step_seconds(last, true) - step_start(first, true))) : "";
    put_line(c, arena_printf(c->d->arena, "steps %" PRId64 " to %" PRId64 " take %.3g %s%s: %d parts by turns of %s", first->step, last->step, unit.per_second * (last->start + last->seconds - first->start), unit.name,
                             measured, t->part_count, document_turn_names(c->d, t, c->is_utf8 ? "\303\227" : "x")));
  }
}

static bool is_wait_shown(const Chart *c, const DocStep *s) {
  return s->waits_for && (document_shows(c->d, s, false) || (document_has_run(c->d) && document_shows(c->d, s, true)));
}

/* What all pieces of it wait for; of what is whole, NULL. */
static const char *waited_for(const Chart *c, const DocStep *s) {
  return is_wait_shown(c, s) && s->piece.group ? document_what(c->d, document_step(c->d, s->waits_for)) : NULL;
}

static void put_wait(const Chart *c, const DocStep *s) {
  TimeUnit unit = document_time_unit(c->d);
  const char *measured = s->is_measured ? arena_printf(c->d->arena, ", measured %.3g %s,", unit.per_second * s->measured_seconds, unit.name) : "";
  put_line(c, arena_printf(c->d->arena, "step %" PRId64 " waits %.3g %s%s for step %" PRId64 " (%s)", s->step, unit.per_second * s->seconds, unit.name, measured, s->waits_for,
                           document_step(c->d, s->waits_for)->what));
}

/* Where the pass that a step is in ends: the forward pass, or the backward pass and what follows. */
static int end_of_pass(const Chart *c, int step) {
  for (int i = 0; i < c->count; i++)
    if (strcmp(c->steps[i].phase, "backward") == 0) return step < i ? i : c->count;
  return c->count;
}

/* Those for the pieces of one value in one pass, from the first of them on, in one line. */
static void put_waits_of(const Chart *c, const char **what, int first) {
  TimeUnit unit = document_time_unit(c->d);
  const char *key = what[first];
  int last = first, count = 0, end = end_of_pass(c, first);
  double seconds = 0, measured_seconds = 0;
  for (int i = first; i < end; i++) {
    if (!what[i] || strcmp(what[i], key) != 0) continue;
    last = i;
    count++;
    seconds += c->steps[i].seconds;
    measured_seconds += c->steps[i].measured_seconds;
    what[i] = NULL;
  }
  if (count == 1) {
    put_wait(c, &c->steps[first]);
    return;
  }
  const char *measured = c->steps[first].is_measured ? arena_printf(c->d->arena, ", measured %.3g %s,", unit.per_second * measured_seconds, unit.name) : "";
  put_line(c, arena_printf(c->d->arena, "steps %" PRId64 " to %" PRId64 " wait %d times, %.3g %s%s for pieces (%s)", c->steps[first].step, c->steps[last].step, count, unit.per_second * seconds, unit.name, measured, key));
}

static void put_waits(const Chart *c) {
  TimeUnit unit = document_time_unit(c->d);
  const char **what = arena_alloc(c->d->arena, (size_t)c->count * sizeof *what);
  if (document_has_run(c->d))
    put_line(c, arena_printf(c->d->arena, "epoch: %.4g %s estimated, %.4g %s measured; memory as planned", unit.per_second * document_shown_seconds(c->d), unit.name,
                             unit.per_second * document_run_seconds(c->d), unit.name));
  for (int i = 0; i < c->count; i++) what[i] = waited_for(c, &c->steps[i]);
  for (int i = 0; i < c->count; i++) {
    if (what[i]) put_waits_of(c, what, i);
    else if (is_wait_shown(c, &c->steps[i]) && !c->steps[i].piece.group) put_wait(c, &c->steps[i]);
  }
}

void view_gantt_text(const Document *d, bool is_utf8, FILE *out) {
  Chart c = {.d = d, .out = out, .is_utf8 = is_utf8, .columns = chart_columns(out), .whole = fmax(document_shown_seconds(d), document_run_seconds(d))};
  c.count = document_shown_steps(d, &c.steps);
  put_axis(&c);
  put_lanes(&c);
  put_skyline(&c);
  put_legend(&c);
  put_turns(&c);
  put_waits(&c);
}
