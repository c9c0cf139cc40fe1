/* report: the plan explained in text. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "layers.h"
#include "rank_times.h"
#include "compiler/base/time_unit.h"
#include "compiler/plan/tiers.h"
#include "runtime/core/blocks.h"
#include "runtime/base/text.h"

static const char *bytes(Arena *arena, int64_t n) { return arena_strdup(arena, gnn_bytes_text(n).text); }

/* What is needed: with a budget of what is told it fits. */
static const char *needed(Arena *arena, int64_t n) { return n ? arena_strdup(arena, gnn_bytes_above_text(n).text) : "0"; }

/* In the unit of the whole report. */
static const char *duration(const Emission *m, double seconds) {
  return time_text(m->arena, time_unit(m->program->has_train ? m->schedule->training_seconds : m->schedule->evaluation_seconds), seconds);
}

static const char *dot(void) { return gnn_is_utf8() ? " \302\267 " : " | "; }

static const char *added(const Emission *m, int64_t ns) {
  return ns == 0 ? "0" : arena_printf(m->arena, "%s%s", ns > 0 ? "+" : "-", duration(m, 1e-9 * (double)(ns > 0 ? ns : -ns)));
}

static const char *device_name(const Emission *m) { return tier_device(m->program); }

/* What the way to an SSD takes of the host's budget, or where there is no such tier of memory beside. */
static const char *staging(const Emission *m, Tier tier) {
  const int64_t bytes = m->layout->staging_bytes;
  const Tier of = m->machine->tier_bytes[TIER_HOST] > 0 ? TIER_HOST : TIER_SSD;
  return bytes && tier == of ? arena_printf(m->arena, " and %s of staging for %s", needed(m->arena, bytes), of == TIER_HOST ? "the SSD" : "it") : "";
}

const char *report_verdict(const Emission *m) {
  Arena *arena = m->arena;
  const char *verdict = arena_printf(arena, "peak %s of %s %s, %s host%s, %s ssd%s; process %s", needed(arena, m->layout->bytes), needed(arena, m->machine->tier_bytes[TIER_DEVICE]),
                                     device_name(m), needed(arena, m->layout->host_bytes), staging(m, TIER_HOST), needed(arena, m->layout->ssd_bytes),
                                     staging(m, TIER_SSD), needed(arena, m->process.resident));
  if (!m->program->has_train) return verdict;
  return arena_printf(arena, "%s; about %s/epoch", verdict, duration(m, m->schedule->training_seconds));
}

/* ---- the decisions ---- */

static const Alternative *best_alternative(const Decision *d) {
  const Alternative *best = NULL;
  for (int i = 0; i < d->alternative_count; i++)
    if (d->alternatives[i].fits && (!best || d->alternatives[i].adds_ns < best->adds_ns)) best = &d->alternatives[i];
  return best;
}

/* "13.8 MiB over budget", the device's if nothing else is said */
static const char *lack(Arena *arena, const Alternative *a) {
  const char *of = a->short_tier == TIER_DEVICE ? "" : arena_printf(arena, " of %s", tier_names[a->short_tier]);
  return a->over_bytes ? arena_printf(arena, "%s over budget%s", needed(arena, a->over_bytes), of) : "no plan was found";
}

/* "recompute +62 ms; keep: 13.8 MiB over budget" */
static const char *why(const Emission *m, const Decision *d) {
  Arena *arena = m->arena;
  const Alternative *best = best_alternative(d);
  const char *text = d->is_pinned ? "pinned" : "";
  if (best) text = arena_printf(arena, "%s%s%s %s", text, *text ? "; " : "", fate_names[best->fate], added(m, best->adds_ns));
  for (int i = 0; i < d->alternative_count; i++) {
    const Alternative *a = &d->alternatives[i];
    if (a->fits || a->fate != FATE_KEEP) continue;
    text = arena_printf(arena, "%s%s%s: %s", text, *text ? "; " : "", fate_names[a->fate], lack(arena, a));
  }
  return *text ? text : d->fate == FATE_KEEP ? "nothing else is possible or needed" : m->program->fate_count ? "nothing else fits beside the pins" : "nothing else fits";
}

enum { SHOWN = 8 };

/* A value, or all pieces of one that is cut by rows or in slices. */
typedef struct Line {
  const Decision *first; /* the piece that adds most */
  int64_t bytes, adds_ns;
  int pieces, with[FATE_COUNT];
} Line;

static int compare_lines(const void *a, const void *b) {
  const Line *x = a, *y = b;
  const bool x_moved = x->with[FATE_KEEP] < x->pieces, y_moved = y->with[FATE_KEEP] < y->pieces;
  if (x->adds_ns != y->adds_ns) return x->adds_ns < y->adds_ns ? 1 : -1;
  if (x_moved != y_moved) return x_moved ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->first->value != y->first->value ? x->first->value - y->first->value : x->first->part - y->first->part;
}

/* Pieces stand for themselves where the report is verbose. */
static Line *lines_of(const Emission *m, const Decisions *d, bool is_verbose, int *count) {
  Line *lines = arena_alloc(m->arena, (size_t)(d->count + 1) * sizeof *lines);
  int *line_of = arena_alloc(m->arena, (size_t)(m->training->graph->value_count + 1) * sizeof *line_of);
  *count = 0;
  for (int i = 0; i < d->count; i++) {
    const Decision *x = &d->list[i];
    const ValueId of = graph_first_slice(m->training->graph, x->value);
    const bool is_new = is_verbose || line_of[of] == 0;
    if (is_new) lines[(*count)++].first = x;
    if (is_new) line_of[of] = *count;
    Line *line = &lines[is_verbose ? *count - 1 : line_of[of] - 1];
    line->bytes += x->bytes;
    line->adds_ns += x->adds_ns;
    line->pieces++;
    line->with[x->fate]++;
  }
  qsort(lines, (size_t)*count, sizeof *lines, compare_lines);
  return lines;
}

/* "of 16 pieces 3 keep, 12 ssd, 1 recompute" */
static const char *fates_text(Arena *arena, const Line *line) {
  const char *text = arena_printf(arena, "of %d pieces", line->pieces);
  for (int f = 0, n = 0; f < FATE_COUNT; f++)
    if (line->with[f]) text = arena_printf(arena, "%s%s %d %s", text, n++ ? "," : "", line->with[f], fate_names[f]);
  return text;
}

/* Of several slices, the name of the first. */
static const char *name_of(const Emission *m, const Line *line) {
  const Graph *graph = m->training->graph;
  if (line->pieces > 1) return graph->values[graph_first_slice(graph, line->first->value)].said;
  return parts_name(m->training_plan->problem->parts, line->first->value, graph->values[line->first->value].said, line->first->part);
}

const char *report_made_by(const Kernels *kernels, ValueId value) {
  return kernels->made_by[value] == NO_INDEX ? "given" : kernel_said(kernels, &kernels->kernels[kernels->made_by[value]]);
}

static const char *fate_paint(const char *fate) {
  static const char *const paints[] = {"keep", "", "host", "33", "ssd", "35", "recompute", "36", "mixed", "1"};
  for (size_t i = 0; i < sizeof paints / sizeof *paints; i += 2)
    if (strcmp(paints[i], fate) == 0 && *paints[i + 1]) return paints[i + 1];
  return NULL;
}

static void print_decisions(const Emission *m, const Decisions *d, bool is_verbose, const Screen *screen) {
  static const TableColumn columns[] = {{.head = "value", .least = 8}, {.head = "what it is", .least = 12, .goes = 4}, {.head = "line", .is_right = true, .goes = 5}, {.head = "size", .is_right = true, .goes = 1},
                                        {.head = "fate", .paint = fate_paint}, {.head = "adds", .is_right = true, .goes = 2}, {.head = "why not the next best", .least = 18, .goes = 3}};
  Table table = {m->arena, sizeof columns / sizeof *columns, .columns = columns};
  if (!d->count) return;
  int count, decided = 0;
  const Line *lines = lines_of(m, d, is_verbose, &count);
  for (int i = 0; i < count; i++) decided += lines[i].with[FATE_KEEP] < lines[i].pieces;
  int shown = is_verbose ? count : decided > SHOWN ? decided : SHOWN;
  if (shown > count) shown = count;
  for (int i = 0; i < shown; i++) {
    const Decision *x = lines[i].first;
    const bool is_mixed = lines[i].with[x->fate] < lines[i].pieces;
    const char *const cells[] = {name_of(m, &lines[i]), report_made_by(m->training, lines[i].pieces > 1 ? graph_first_slice(m->training->graph, x->value) : x->value),
                                 arena_printf(m->arena, "%d", (int)m->training->graph->values[x->value].place.line), bytes(m->arena, lines[i].bytes), is_mixed ? "mixed" : fate_names[x->fate],
                                 added(m, lines[i].adds_ns), lines[i].pieces > 1 ? fates_text(m->arena, &lines[i]) : why(m, x)};
    table_add(&table, cells);
  }
  fputc('\n', screen->out);
  table_print(&table, shown, screen);
  int64_t rest = 0;
  for (int i = shown; i < count; i++) rest += lines[i].bytes;
  if (shown < count) fprintf(screen->out, "  ... %d smaller values, %s together, kept\n", count - shown, bytes(m->arena, rest));
}

/* ---- the text ---- */

static void print_fit(const Emission *m, const Measured *run, FILE *out) {
  Arena *arena = m->arena;
  const Layout *y = m->layout;
  const Schedule *s = m->schedule;
  const char *at_peak = "no step";
  if (s->count) {
    const Step *peak = &s->steps[y->peak_step];
    at_peak = arena_printf(arena, "peak at step %d, %s, line %d", peak->number, peak->said, (int)peak->place.line);
    if (y->epoch_bytes < y->bytes) at_peak = arena_printf(arena, "peak before the first epoch, step %d, %s, line %d", s->steps[y->once_peak_step].number, s->steps[y->once_peak_step].said, (int)s->steps[y->once_peak_step].place.line);
  }
  fprintf(out, "plan for %s on %s%starget %s%s%s budget %s      %s\n", m->program->name, m->program->data->name, dot(),
          m->machine->name, dot(), device_name(m), needed(arena, m->machine->tier_bytes[TIER_DEVICE]), run ? "figures estimated, but for the line \"measured\"" : "all figures estimated");
  fprintf(out, "  fits      %s %s of %s (%s)%shost %s%s%sssd %s%s\n", device_name(m), needed(arena, y->bytes), needed(arena, m->machine->tier_bytes[TIER_DEVICE]),
          at_peak, dot(), needed(arena, y->host_bytes), staging(m, TIER_HOST), dot(), needed(arena, y->ssd_bytes), staging(m, TIER_SSD));
  int64_t kinds[BLOCK_KIND_COUNT] = {0};
  for (int i = 0; i < y->resident_count; i++)
    if (y->blocks[i].first < s->count) kinds[y->blocks[i].kind] += y->blocks[i].bytes;
  fprintf(out, "  of which  graph %s%sfeatures %s%sweights %s%soptimizer %s%svalues of the epoch %s\n", bytes(arena, kinds[BLOCK_GRAPH]), dot(),
          bytes(arena, kinds[BLOCK_FEATURES]), dot(), bytes(arena, kinds[BLOCK_WEIGHTS]), dot(), bytes(arena, kinds[BLOCK_OPTIMIZER]), dot(),
          bytes(arena, y->epoch_bytes - y->residents->bytes));
}

/* All that it takes of the host's memory. */
static void print_process(const Emission *m, FILE *out) {
  Arena *arena = m->arena;
  const Process *p = &m->process;
  const Loading *l = &m->program->info->loading;
  const bool binds = p->loading > p->running;
  fprintf(out, "  process   %s of memory = code, libraries and stacks %s + ", needed(arena, p->resident), needed(arena, p->code));
  if (binds) fprintf(out, "loading the data %s (then %s for the epoch)", needed(arena, p->loading), needed(arena, p->running));
  else fprintf(out, "arenas and what goes with them %s (%s)", needed(arena, p->running), l->is_known ? arena_printf(arena, "loading the data %s", needed(arena, p->loading)) : "loading not counted: no data were read");
  fprintf(out, "; addresses %s", needed(arena, p->addresses));
  if (m->backend == BACKEND_CUDA) fprintf(out, "; without the driver's context");
  fprintf(out, "\n");
}

static void print_times(const Emission *m, const Decisions *d, FILE *out) {
  Arena *arena = m->arena;
  const Schedule *s = m->schedule;
  if (!m->program->has_train) {
    fprintf(out, "  time      %s per evaluation\n  moves     nothing\n", duration(m, s->evaluation_seconds));
    return;
  }
  fprintf(out, "  time      %s per epoch = %s compute + %s recomputing + %s waiting for transfers%s; evaluation %s\n", duration(m, s->training_seconds),
          duration(m, 1e-9 * (double)d->keep_all_ns), s->rerun_seconds > 0 ? duration(m, s->rerun_seconds) : "0",
          s->wait_seconds > 0 ? duration(m, s->wait_seconds) : "0",
          s->slowed_seconds > 0 ? arena_printf(arena, " + %s slower beside them", duration(m, s->slowed_seconds)) : "", duration(m, s->evaluation_seconds));
  if (m->machine->is_guessed) fprintf(out, "  machine   a processor that is not known: times are a guess until gnncc --calibrate measures it\n");
  const char *moves = "";
  for (Tier tier = TIER_HOST; tier < TIER_COUNT; tier++)
    if (d->in_bytes[tier])
      moves = arena_printf(arena, "%s%s%s to %s, %s back per epoch", moves, *moves ? "; " : "", bytes(arena, d->out_bytes[tier]), tier_names[tier],
                           bytes(arena, d->in_bytes[tier]));
  if (!*moves) fprintf(out, "  moves     nothing\n");
  else {
    double hidden = d->transfer_seconds > 0 ? 1 - (d->wait_seconds + s->slowed_seconds) / d->transfer_seconds : 1;
    fprintf(out, "  moves     %s; %.0f %% of the transfer time is hidden behind compute\n", moves, 100 * (hidden > 0 ? hidden : 0));
  }
}

/* "152 ms", of compute with what of it other plans would not take */
static const char *busy_text(const Emission *m, const Bound *b, Lane lane) {
  Arena *arena = m->arena;
  const Schedule *s = m->schedule;
  const char *again = s->rerun_seconds > 0 ? arena_printf(arena, "%s of it recomputing", duration(m, s->rerun_seconds)) : "";
  const char *slower = s->slowed_seconds > 0 ? arena_printf(arena, "%s %sslower beside copies", duration(m, s->slowed_seconds), *again ? "" : "of it ") : "";
  const char *busy = duration(m, b->lanes[lane].busy_seconds);
  return lane == LANE_COMPUTE && (*again || *slower) ? arena_printf(arena, "%s (%s%s%s)", busy, again, *again && *slower ? ", " : "", slower) : busy;
}

static void print_bound(const Emission *m, FILE *out) {
  static const char *const words[LANE_COUNT] = {[LANE_COMPUTE] = "compute", [LANE_D2H] = "copies off the device", [LANE_H2D] = "copies onto the device",
                                                [LANE_SSD_WRITE] = "writes to the SSD", [LANE_SSD_READ] = "reads from the SSD", [LANE_NET] = "exchanges"};
  const Bound b = bound(m->schedule);
  if (!b.is_told) return;
  fprintf(out, "  bound     %s, busy for %s", words[b.lane], busy_text(m, &b, b.lane));
  const char *before = "; ";
  for (int lane = 0; lane < LANE_COUNT; lane++) {
    if ((Lane)lane == b.lane || !b.lanes[lane].steps) continue;
    fprintf(out, "%s%s %s", before, words[lane], busy_text(m, &b, (Lane)lane));
    before = ", ";
  }
  fprintf(out, "; the epoch is %.2f times the longest\n", b.ratio);
}

/* What ./PROGRAM profile found. */
static void print_run(const Emission *m, const Measured *run, FILE *out) {
  Arena *arena = m->arena;
  if (!run) return;
  fprintf(out, "  measured  %s per epoch", duration(m, run->epoch));
  if (m->schedule->training_seconds > 0) fprintf(out, ", %.2f times the estimate", run->epoch / m->schedule->training_seconds);
  fprintf(out, "; evaluation %s; touched", duration(m, run->evaluation));
  for (int t = 0; t < TIER_COUNT; t++)
    if (t == TIER_DEVICE || run->tiers[t] > 0) fprintf(out, "%s%s %s", t ? dot() : " ", t == TIER_DEVICE ? device_name(m) : tier_names[t], run->tiers[t] < 0 ? "unknown" : bytes(arena, run->tiers[t]));
  fprintf(out, "\n");
}

static void print_instead(const Emission *m, const Instead *i, FILE *out) {
  Arena *arena = m->arena;
  if (!i) return;
  fprintf(out, "  instead   keep everything %s, needs %s", duration(m, 1e-9 * (double)i->keep_ns), needed(arena, i->keep_bytes));
  if (i->recompute_bytes > 0 && i->recompute_bytes < i->keep_bytes) fprintf(out, "%srecompute everything %s, needs %s", dot(), duration(m, 1e-9 * (double)i->recompute_ns), needed(arena, i->recompute_bytes));
  const char *least = i->least_of ? arena_printf(arena, "least with %s", i->least_of) : "least found";
  if (i->least_bytes > 0) fprintf(out, "%s%s%s %s at %s", dot(), least, i->is_least_sketched ? ", sketched, about" : "", needed(arena, i->least_bytes), duration(m, 1e-9 * (double)i->least_ns));
  if (i->step_up_bytes > 0 && i->is_step_sketched) fprintf(out, "%ssketched: about %s with %s", dot(), duration(m, m->schedule->training_seconds - 1e-9 * (double)i->step_up_saves_ns), needed(arena, i->step_up_bytes));
  fprintf(out, "\n");
}

static void print_advice(const Advice *a, FILE *out) {
  int wide = 0;
  if (!a) return;
  for (int i = 0; i < a->count; i++)
    if ((int)strlen(a->list[i].write) > wide) wide = (int)strlen(a->list[i].write);
  if (a->first) fprintf(out, "  advice    %s\n", a->first);
  for (int i = 0; i < a->count; i++) fprintf(out, "%s%-*s  %s\n", i || a->first ? "            " : "  advice    ", wide, a->list[i].write, a->list[i].gives);
}

static void print_notes(const Emission *m, const Decisions *d, const Instead *i, FILE *out) {
  const char *head = "  notes     ";
#define NOTE(...) (fprintf(out, "%s", head), fprintf(out, __VA_ARGS__), fprintf(out, "\n"), head = "            ")
  if (i && i->unpinned_ns > 0)
    NOTE("your pins cost %s; they were obeyed", added(m, llround(1e9 * m->schedule->training_seconds) - i->unpinned_ns));
  if (m->training_plan && d->decided_count) {
    const PlannerReport *r = &m->training_plan->report;
    double gap = r->lower_bound_ns > 0 ? 100.0 * (double)(r->makespan_ns - r->lower_bound_ns) / (double)r->lower_bound_ns : 0;
    if (r->is_optimal) NOTE("solver: optimal, %d gaps open, %d of %d values not kept", r->open_count, d->decided_count, d->count);
    else if (r->lower_bound_ns > 0)
      NOTE("solver: within %.2f %% of a proved bound, %d gaps open, %d of %d values not kept", gap, r->open_count, d->decided_count, d->count);
    else NOTE("the plan was given, %d of %d values are not kept", d->decided_count, d->count);
  }
  const Graph *graph = m->evaluation->graph;
  for (int n = 0; n < graph->note_count; n++) NOTE("%s", graph->notes[n]);
#undef NOTE
  for (const char *line = m->program->info->notes; line && *line;) {
    const char *end = strchr(line, '\n');
    int length = end ? (int)(end - line) : (int)strlen(line);
    fprintf(out, "  data      %.*s\n", length, line);
    line += length + (end != NULL);
  }
}

/* Of what is loaded and at home on the SSD: parts that lie on the host, or what is in the scratch file. */
static int64_t bytes_on_ssd(const Emission *m, bool of_learned, bool of_cached) {
  const Layout *y = m->layout;
  int64_t bytes = 0;
  for (int i = 0; i < y->residents->away_count; i++) {
    const Away *away = &y->residents->away[i];
    if (away->is_learned != of_learned || i == y->residents->scores_away || (!of_cached && resident_is_once(y->residents, i))) continue;
    for (int e = y->away_extent[i]; e < y->away_extent[i + 1]; e++)
      if (y->extents[e].is_cached == of_cached && (of_cached || !away->file)) bytes += y->extents[e].bytes;
  }
  return bytes;
}

static const char *cached_text(const Emission *m, bool of_learned) {
  const int64_t bytes = bytes_on_ssd(m, of_learned, true);
  return bytes ? arena_printf(m->arena, ", and %s that stay on the host", gnn_bytes_text(bytes).text) : "";
}

/* "x of 12 MiB is read where it lies in big/x.npy"; "": nothing is. */
static const char *files_text(const Emission *m) {
  const Residents *y = m->layout->residents;
  const char *text = "";
  for (int f = 0; f < m->program->field_count; f++) {
    const Away *away = y->field_away[f] == NO_INDEX ? NULL : &y->away[y->field_away[f]];
    if (away && away->file) text = arena_printf(m->arena, "%s%s%s of %s is read where it lies in %s", text, *text ? ", " : "", m->program->fields[f].name, gnn_bytes_text(away->bytes).text, away->file);
  }
  return text;
}

static const char *learned_text(const Emission *m, Cut cut) {
  const int64_t bytes = bytes_on_ssd(m, true, false);
  const char *text = cut_learned_text(m->arena, cut);
  return bytes ? arena_printf(m->arena, "%s (%s of the scratch file%s)", text, gnn_bytes_text(bytes).text, cached_text(m, true)) : text;
}

/* Of data at home on the SSD: what is in the scratch file is written once. */
static const char *written_text(const Emission *m) {
  const int64_t bytes = bytes_on_ssd(m, false, false);
  const char *files = files_text(m), *written = bytes ? arena_printf(m->arena, "%s, written to the scratch file as they are loaded", gnn_bytes_text(bytes).text) : "";
  if (!*files && !bytes) return "";
  return arena_printf(m->arena, " (%s%s%s%s)", written, bytes && *files ? "; " : "", files, cached_text(m, false));
}

/* What is computed once is noted; where it does not stay on the device, what moves for it. */
static void print_once(const Emission *m, FILE *out) {
  const Schedule *s = m->schedule;
  int64_t moved[2][TIER_COUNT] = {{0}};
  const char *text = "";
  for (int i = 0; i < s->copy_count; i++)
    if (s->copies[i].step >= s->count && !copy_is_exchange(&s->copies[i]) && copy_touches_device(&s->copies[i])) moved[!s->copies[i].is_out][s->copies[i].tier] += s->copies[i].bytes;
  for (int back = 0; back < 2; back++)
    for (Tier t = TIER_HOST; t < TIER_COUNT; t++)
      if (moved[back][t]) text = arena_printf(m->arena, "%s%s%s %s %s", text, dot(), bytes(m->arena, moved[back][t]), back ? "from" : "to", tier_names[t]);
  if (*text) fprintf(out, "  once      %s before the first epoch%s\n", time_text(m->arena, time_unit(s->once_seconds), s->once_seconds), text);
}

/* What ranks exchange, of how much of which time there is nothing else to do, and how alike they are. */
static void print_net(const Emission *m, FILE *out) {
  const Schedule *s = m->schedule;
  const RankInfo *ranks = m->program->info->ranks;
  const struct NetTotals net = s->net, once = s->net_once;
  const double hidden = net.seconds > 0 && net.wait_seconds < net.seconds ? 1 - net.wait_seconds / net.seconds : 0;
  const char *columns = net.transposed ? arena_printf(m->arena, ", %d by columns (transpose)", net.transposed) : "", *by_host = net.by_host ? arena_printf(m->arena, ", %d through the host", net.by_host) : "";
  fprintf(out, "  net       %d exchange%s%s%s%s of %s in all, at most %s of one rank, in %s, of which %.0f %% beside compute; %s\n", net.exchanges, net.exchanges == 1 ? "" : "s", columns, by_host, *columns || *by_host ? "," : "", bytes(m->arena, net.bytes), bytes(m->arena, net.most_bytes), duration(m, net.seconds), 100 * hidden,
          !ranks->is_estimated ? "counted in the data" : ranks->is_stated ? "estimated by --halos" : "estimated as if neighbours were anywhere, which is the most");
  if (once.exchanges > 0) fprintf(out, "  once      %d exchange%s of %s in all before the first epoch, in %s\n", once.exchanges, once.exchanges == 1 ? "" : "s", bytes(m->arena, once.bytes), duration(m, once.seconds));
  if (m->program->train.boundary == BOUNDARY_STALE) fprintf(out, "  not exact %s: what passes is for the next epoch, in which its rows are copied\n", m->program->train.approximation);
  if (m->program->train.boundary == BOUNDARY_SAMPLE) fprintf(out, "  not exact %s: rows are drawn in each epoch; what passes is what there is in the mean\n", m->program->train.approximation);
  const RankTimes t = rank_times(m->arena, s, ranks);
  int worst = 0; /* where the mean of the ranks has least to do while the slowest works */
  for (int i = 1; i < t.steps; i++)
    if (s->steps[i].cost.seconds * (1 - 1 / t.balance[i]) > s->steps[worst].cost.seconds * (1 - 1 / t.balance[worst])) worst = i;
  fprintf(out, "  balance   the most of one rank over the mean: nodes %.3f, edges %.3f, bytes %.3f; it costs most in step %d, %.3f\n", (double)ranks->most_nodes * ranks->count / (double)ranks->nodes, ranks->edges ? (double)ranks->most_edges * ranks->count / (double)ranks->edges : 1,
            net.bytes ? (double)net.most_bytes * ranks->count / (double)net.bytes : 1, s->steps[worst].number, t.balance[worst]);
  int empty = 0;
  for (int r = 0; r < ranks->count; r++) empty += ranks->first[r + 1] == ranks->first[r];
  if (empty) fprintf(out, "            %d rank%s %s nothing: a rank has a canonical block of the nodes at least, of which there %s %d\n", empty, empty == 1 ? "" : "s", empty == 1 ? "has" : "have", gnn_block_levels(ranks->nodes) ? "are" : "is", 1 << gnn_block_levels(ranks->nodes));
}

/* Which sums have slices is among the notes. */
static void print_cut(const Emission *m, Cut cut, FILE *out) {
  const char *slices = cut.slices > 1 ? arena_printf(m->arena, ", what sums over neighbours gather from in up to %d slices of columns", cut.slices) : cut.has_halos ? ", sums over neighbours gather from a part's own rows and its halo" : "";
  if (cut.ranks) {
    const RankInfo *ranks = m->program->info->ranks;
    fprintf(out, "  ranks     %d, of which one has at most %s of %s nodes and %s of %s edges; these are its figures\n", cut.ranks, arena_strdup(m->arena, gnn_count_text(ranks->most_nodes).text), arena_strdup(m->arena, gnn_count_text(ranks->nodes).text),
            arena_strdup(m->arena, gnn_count_text(ranks->most_edges).text), arena_strdup(m->arena, gnn_count_text(ranks->edges).text));
    print_net(m, out);
    return;
  }
  if (!cut_is_of_whole_values(cut)) fprintf(out, "  cut       values on nodes in %d part%s by rows%s%s%s%s\n", cut.parts, cut.parts == 1 ? "" : "s", slices, layer_cuts_text(m->arena, cut.layers, cut.parts), arena_printf(m->arena, "%s%s", cut_data_text(m->arena, cut), written_text(m)), learned_text(m, cut));
}

/* How each layer's sums over neighbours run, and what moves for it; only the tiers that something moves to or from have columns. */
static void print_layers(const Emission *m, Cut cut, const Screen *screen) {
  static const char *const passes[] = {"forward", "backward", "update"};
  enum { LAYER, PASS, LINE, MODE, PIECES, MOVES, COLUMNS = MOVES + 2 * TIER_COUNT + 3 };
  TableColumn columns[COLUMNS] = {{.head = "layer", .least = 8}, {.head = "pass"}, {.head = "line", .is_right = true, .goes = 3}, {.head = "mode", .goes = 1}, {.head = "pieces", .is_right = true, .goes = 2}};
  const char *cells[COLUMNS];
  if (cut.parts <= 1 && cut.slices <= 1 && !cut.layers && !cut.ranks) return;
  const LayerRuns runs = layer_runs(m->arena, m->schedule);
  bool has_moves[TIER_COUNT] = {false};
  int count = MOVES;
  for (int i = 0; i < runs.count; i++)
    for (Tier t = TIER_HOST; t < TIER_COUNT; t++) has_moves[t] = has_moves[t] || runs.list[i].out_bytes[t] > 0 || runs.list[i].in_bytes[t] > 0;
  for (Tier t = TIER_HOST; t < TIER_COUNT; t++) {
    if (!has_moves[t]) continue;
    columns[count++] = (TableColumn){.head = arena_printf(m->arena, "to %s", tier_names[t]), .is_right = true};
    columns[count++] = (TableColumn){.head = arena_printf(m->arena, "from %s", tier_names[t]), .is_right = true};
  }
  if (cut.ranks) columns[count++] = (TableColumn){.head = "net", .is_right = true};
  if (count > MOVES) {
    columns[count++] = (TableColumn){.head = "hidden", .is_right = true};
    columns[count++] = (TableColumn){.head = "waits", .is_right = true};
  }
  Table table = {m->arena, count, .columns = columns};
  for (int i = 0; i < runs.count; i++) {
    const LayerRun *run = &runs.list[i];
    int n = 0;
    cells[n++] = run->layer ? run->layer : "others";
    cells[n++] = passes[run->pass];
    cells[n++] = arena_printf(m->arena, "%d", run->line);
    cells[n++] = run->mode;
    cells[n++] = arena_printf(m->arena, "%d", run->pieces);
    for (Tier t = TIER_HOST; t < TIER_COUNT; t++) {
      if (!has_moves[t]) continue;
      cells[n++] = run->out_bytes[t] ? bytes(m->arena, run->out_bytes[t]) : "0";
      cells[n++] = run->in_bytes[t] ? bytes(m->arena, run->in_bytes[t]) : "0";
    }
    if (cut.ranks) cells[n++] = run->net_bytes ? bytes(m->arena, run->net_bytes) : "0";
    const bool is_told = run->transfer_seconds > 0;
    while (n < count) {
      cells[n] = !is_told ? "" : n + 2 == count ? arena_printf(m->arena, "%.0f %%", 100 * layer_run_hidden(run)) : run->wait_seconds > 0 ? duration(m, run->wait_seconds) : "0";
      n++;
    }
    table_add(&table, cells);
  }
  fputc('\n', screen->out);
  table_print(&table, runs.count, screen);
}

/* ---- on the screen ---- */

enum { LABEL = 12, LISTED = 52 }; /* where what stands behind a label, and behind the times of a step, begins */

/* text[from, to), line by line; is_labelled: "  fits      ...", whose words of the first columns are strong. */
static void put_lines(const Emission *m, const Screen *screen, const char *text, long from, long to, int indent, bool is_labelled) {
  while (from < to) {
    const char *line = text + from;
    const int length = (int)strcspn(line, "\n");
    const char *shown = arena_printf(m->arena, "%.*s", length, line);
    const bool has_label = is_labelled && length > LABEL && line[2] != ' ';
    if (has_label && from == 0) shown = screen_strong(screen, m->arena, shown);
    else if (has_label) shown = arena_printf(m->arena, "%s%.*s", screen_strong(screen, m->arena, arena_printf(m->arena, "%.*s", LABEL, line)), length - LABEL, line + LABEL);
    screen_line(screen, indent, shown);
    from += length + 1;
  }
}

static long written(FILE *out, const size_t *length) {
  fflush(out);
  return (long)*length;
}

void report_plan_text(const Explanation *x, const Measured *run, bool is_verbose, const Screen *screen) {
  const Emission *m = x->emission;
  const Decisions *d = x->decisions;
  const Layout *y = m->layout;
  char *text;
  size_t length;
  FILE *out = arena_open_text(m->arena, &text, &length);
  const Screen within = {out, screen->columns, screen->has_color};
  print_fit(m, run, out);
  print_process(m, out);
  print_times(m, d, out);
  print_bound(m, out);
  print_cut(m, x->cut, out);
  print_once(m, out);
  print_run(m, run, out);
  print_instead(m, x->instead, out);
  print_advice(x->advice, out);
  fprintf(out, "  layout    %s high; no layout of these values is lower than %s (%.2f %% above)\n", needed(m->arena, y->epoch_bytes), needed(m->arena, y->lower_bound),
          y->lower_bound ? 100.0 * ((double)y->epoch_bytes / (double)y->lower_bound - 1) : 0);
  const long tables = written(out, &length);
  print_layers(m, x->cut, &within);
  print_decisions(m, d, is_verbose, &within);
  const long notes = written(out, &length);
  print_notes(m, d, x->instead, out);
  const long listing = written(out, &length);
  if (is_verbose) {
    fprintf(out, "\n");
    schedule_print(m->schedule, true, out);
  }
  fclose(out);
  put_lines(m, screen, text, 0, tables, LABEL, true);
  put_lines(m, screen, text, tables, notes, LABEL, false);
  put_lines(m, screen, text, notes, listing, LABEL, true);
  put_lines(m, screen, text, listing, (long)length, LISTED, false);
}
