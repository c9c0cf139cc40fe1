/* listing: one line a step, in fixed columns; to be read, searched and compared line by line. */
#include <inttypes.h>
#include <string.h>

#include "views.h"
#include "runtime/base/text.h"

#define ROUNDING 2e-9 /* of times in the document, for epochs of seconds */

/* At most `width` bytes, cut between characters, padded to `width`. */
static void put_cell(FILE *out, const char *text, int width) {
  int length = (int)strlen(text), cut = length;
  if (length > width) {
    for (cut = width - 2; cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80; cut--) {}
    fprintf(out, "%.*s..%*s", cut, text, width - cut - 2, "");
  } else {
    fprintf(out, "%-*s", width, text);
  }
}

static const char *joined(Arena *arena, const DocNames *names) {
  const char *text = "";
  for (int i = 0; i < names->count; i++) text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", names->list[i]);
  return text;
}

static const char *traffic(const Document *d, const DocStep *s) {
  if (s->waits_for) return "-";
  if (s->to) return arena_printf(d->arena, "%s %s -> %s", gnn_bytes_text(s->bytes).text, s->from, s->to);
  return arena_printf(d->arena, "%s -> %s", joined(d->arena, &s->reads), joined(d->arena, &s->writes));
}

/* The steps that compute, one after the other. */
typedef struct Computing {
  const DocStep **steps;
  int count;
} Computing;

static Computing computing_steps(const Document *d) {
  const DocStep *steps;
  const int count = document_shown_steps(d, &steps);
  Computing c = {arena_alloc(d->arena, (size_t)(count + 1) * sizeof *c.steps), 0};
  for (int i = 0; i < count; i++)
    if (!steps[i].waits_for && strcmp(steps[i].lane, lane_names[LANE_COMPUTE]) == 0) c.steps[c.count++] = &steps[i];
  return c;
}

/* How many of them end by a time, or begin before it. */
static int count_until(const Computing *c, double time, bool is_end) {
  int low = 0, high = c->count;
  while (low < high) {
    const int middle = (low + high) / 2;
    const DocStep *x = c->steps[middle];
    if (is_end ? x->start + x->seconds <= time : x->start < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* "overlaps 5-8": the steps that compute while it runs. */
static const char *overlap(const Document *d, const Computing *c, const DocStep *s) {
  const int first = count_until(c, s->start + ROUNDING, true), end = count_until(c, s->start + s->seconds - ROUNDING, false);
  if (first >= end) return "hidden by nothing";
  const int64_t from = c->steps[first]->step, to = c->steps[end - 1]->step;
  return from == to ? arena_printf(d->arena, "overlaps %" PRId64, from) : arena_printf(d->arena, "overlaps %" PRId64 "-%" PRId64, from, to);
}

static const char *note(const Document *d, const Computing *c, const DocStep *s) {
  if (s->to) return s->step <= d->training_steps ? overlap(d, c, s) : "";
  if (s->waits_for) return arena_printf(d->arena, "<- %" PRId64 "%s", s->waits_for, s->seconds > 0 ? "" : ", which is done");
  return joined(d->arena, &s->frees);
}

static void put_times(const Document *d, const DocStep *s, FILE *out) {
  TimeUnit unit = document_time_unit(d);
  fprintf(out, " %12.3f %11.3f  ", unit.per_second * s->start, unit.per_second * s->seconds);
  if (!document_has_run(d)) return;
  if (!s->is_measured) fprintf(out, "%12s %11s %8s  ", "-", "-", "-");
  else fprintf(out, "%12.3f %11.3f %8s  ", unit.per_second * s->measured_start, unit.per_second * s->measured_seconds, s->seconds > 0 ? arena_printf(d->arena, "%.2fx", s->measured_seconds / s->seconds) : "-");
}

static void put_step(const Document *d, const Computing *computing, const DocStep *s, FILE *out) {
  fprintf(out, "%5" PRId64 "  %-9s", s->step, s->lane);
  put_times(d, s, out);
  put_cell(out, s->what, 44);
  if (document_has_layers(d)) fprintf(out, " "), put_cell(out, s->layer ? s->layer : "-", 12);
  if (s->line) fprintf(out, " %4" PRId64 "  ", s->line);
  else fprintf(out, " %4s  ", "-");
  put_cell(out, traffic(d, s), 40);
  const char *more = note(d, computing, s);
  fprintf(out, " %10s%s%s\n", s->to || s->waits_for ? "-" : gnn_bytes_text(s->device_bytes).text, *more ? "  " : "", more);
}

/* Of a run, what was measured stands beside the estimate. */
void view_listing(const Document *d, FILE *out) {
  const TimeUnit unit = document_time_unit(d);
  const Computing computing = computing_steps(d);
  const bool has_layers = document_has_layers(d);
  fprintf(out, " step  lane       %8s %2s %8s %2s  ", "start", unit.name, "took", unit.name);
  if (document_has_run(d)) fprintf(out, "%9s %2s %8s %2s %8s  ", "began", unit.name, "measured", unit.name, "ratio");
  fprintf(out, "%-44s%s %4s  %-40s %10s  %s\n", "what", has_layers ? " layer       " : "", "src", "reads -> writes", arena_printf(d->arena, "%s now", d->device), "frees / note");
  for (int i = 0; i < d->step_count; i++) {
    const DocStep *s = &d->steps[i];
    if (i == d->training_steps && i) fprintf(out, "evaluation\n");
    put_step(d, &computing, s, out);
  }
  for (int i = 0; i < d->once_count; i++) {
    if (i == 0) fprintf(out, "before the first epoch\n");
    put_step(d, &computing, &d->once[i], out);
  }
}
