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

/* "overlaps 5-8": the steps that compute while it runs. */
static const char *overlap(const Document *d, const DocStep *s) {
  const DocStep *steps;
  int count = document_shown_steps(d, &steps);
  int64_t first = 0, last = 0;
  for (int i = 0; i < count; i++) {
    const DocStep *x = &steps[i];
    if (strcmp(x->lane, lane_names[LANE_COMPUTE]) != 0 || x->waits_for || x->start >= s->start + s->seconds - ROUNDING || x->start + x->seconds <= s->start + ROUNDING) continue;
    if (!first) first = x->step;
    last = x->step;
  }
  if (!first) return "hidden by nothing";
  return first == last ? arena_printf(d->arena, "overlaps %" PRId64, first) : arena_printf(d->arena, "overlaps %" PRId64 "-%" PRId64, first, last);
}

static const char *note(const Document *d, const DocStep *s) {
  if (s->to) return s->step <= d->training_steps ? overlap(d, s) : "";
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

/* Of a run, what was measured stands beside the estimate. */
void view_listing(const Document *d, FILE *out) {
  TimeUnit unit = document_time_unit(d);
  fprintf(out, " step  lane       %8s %2s %8s %2s  ", "start", unit.name, "took", unit.name);
  if (document_has_run(d)) fprintf(out, "%9s %2s %8s %2s %8s  ", "began", unit.name, "measured", unit.name, "ratio");
  fprintf(out, "%-44s %4s  %-40s %10s  %s\n", "what", "src", "reads -> writes", arena_printf(d->arena, "%s now", d->device), "frees / note");
  for (int i = 0; i < d->step_count; i++) {
    const DocStep *s = &d->steps[i];
    if (i == d->training_steps && i) fprintf(out, "evaluation\n");
    fprintf(out, "%5" PRId64 "  %-9s", s->step, s->lane);
    put_times(d, s, out);
    put_cell(out, s->what, 44);
    if (s->line) fprintf(out, " %4" PRId64 "  ", s->line);
    else fprintf(out, " %4s  ", "-");
    put_cell(out, traffic(d, s), 40);
    const char *more = note(d, s);
    fprintf(out, " %10s%s%s\n", s->to || s->waits_for ? "-" : gnn_bytes_text(s->device_bytes).text, *more ? "  " : "", more);
  }
}
