/* trace: the steps as a trace for ui.perfetto.dev and chrome://tracing (the JSON format of "Trace Event Format").
 *
 * One thread a lane. Slices of a lane must nest or be apart, so a slice begins no earlier than the one before it ends,
 * whatever the rounding; the pieces of a kernel have one name, and say in their arguments which they are; waits of no length are left out. Flows lead from where a moved value is made over its copies
 * to where it is read.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"

typedef struct Tracing {
  const Document *d;
  FILE *out;
  const char *between;
  int flows;
  bool is_measured;
} Tracing;

static int lane_index(const Tracing *t, const char *lane) {
  int i = 0;
  while (i < t->d->lane_count && strcmp(t->d->lanes[i].lane, lane) != 0) i++;
  return i;
}

static int64_t ns_of(double seconds) { return (int64_t)llround(1e9 * seconds); }

static int process_of(const Tracing *t) { return t->is_measured ? 2 : 1; }

static void begin(Tracing *t) {
  fputs(t->between, t->out);
  t->between = ",\n";
}

static void put_text(Tracing *t, const char *text) {
  fputs(escape_json(t->d->arena, text), t->out);
}

static void put_names(Tracing *t) {
  const Document *d = t->d;
  begin(t);
  fprintf(t->out, "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":", process_of(t));
  put_text(t, arena_printf(d->arena, "%s on %s (%s, %s)", d->model, d->data, d->target, t->is_measured ? "measured" : "estimated"));
  fprintf(t->out, "}}");
  for (int i = 0; i < d->lane_count; i++) {
    begin(t);
    fprintf(t->out, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":", process_of(t), lane_index(t, d->lanes[i].lane) + 1);
    put_text(t, arena_printf(d->arena, "%s %s", d->device, d->lanes[i].lane));
    fprintf(t->out, "}}");
  }
}

static void put_slice(Tracing *t, const DocStep *s, int64_t *lane_end) {
  int lane = lane_index(t, s->lane);
  int64_t start = ns_of(step_start(s, t->is_measured)), end = ns_of(step_start(s, t->is_measured) + step_seconds(s, t->is_measured));
  if (start < lane_end[lane]) start = lane_end[lane];
  if (end < start) end = start;
  if (s->waits_for && end == start) return;
  lane_end[lane] = end;
  begin(t);
  fprintf(t->out, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\",\"name\":", process_of(t), lane + 1, 1e-3 * (double)start,
          1e-3 * (double)(end - start), s->phase);
  put_text(t, document_what(t->d, s));
  fprintf(t->out, ",\"args\":{\"step\":%" PRId64 ",\"line\":%" PRId64 ",\"bytes\":%" PRId64, s->step, s->line, s->bytes);
  if (s->value) fprintf(t->out, ",\"value\":"), put_text(t, s->value);
  if (s->piece.part) fprintf(t->out, ",\"part\":%" PRId64, s->piece.part);
  if (s->piece.slice) fprintf(t->out, ",\"slice\":%" PRId64, s->piece.slice);
  if (s->waits_for) fprintf(t->out, ",\"waits_for\":%" PRId64, s->waits_for);
  fprintf(t->out, "}}");
}

static void put_counters(Tracing *t) {
  for (int i = 0; i < t->d->memory_count && t->d->memory[i].step <= t->d->training_steps; i++) {
    const DocMemory *m = &t->d->memory[i];
    const int64_t bytes[] = {m->device_bytes, m->host_bytes, m->ssd_bytes};
    for (int tier = 0; tier < TIER_COUNT; tier++) {
      if (t->d->tiers[tier].peak_bytes == 0) continue;
      begin(t);
      fprintf(t->out, "{\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"name\":\"%s bytes\",\"args\":{\"bytes\":%" PRId64 "}}", 1e-3 * (double)ns_of(m->start), tier_names[tier], bytes[tier]);
    }
  }
}

static void put_flow(Tracing *t, const DocStep *from, const DocStep *to) {
  t->flows++;
  const DocStep *ends[] = {from, to};
  for (int end = 0; end < 2; end++) {
    begin(t);
    fprintf(t->out, "{\"ph\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"id\":%d,\"cat\":\"value\",\"name\":", end ? "f\",\"bp\":\"e" : "s", lane_index(t, ends[end]->lane) + 1,
            1e-3 * (double)ns_of(ends[end]->start), t->flows);
    put_text(t, to->value ? to->value : from->value);
    fprintf(t->out, "}");
  }
}

static bool has_name(const DocNames *names, const char *name) {
  for (int i = 0; i < names->count; i++)
    if (strcmp(names->list[i], name) == 0) return true;
  return false;
}

static void put_flows(Tracing *t, const DocStep *steps, int count) {
  for (int i = 0; i < count; i++) {
    const DocStep *s = &steps[i];
    if (!s->to) continue;
    for (int k = 0; k < s->after_count; k++) {
      const DocStep *before = document_step(t->d, s->after[k]);
      if (before->value && strcmp(before->value, s->value) == 0) put_flow(t, before, s);
    }
    for (int k = i - 1; k >= 0 && strcmp(s->from, tier_names[TIER_DEVICE]) == 0 && s->after_count == 0; k--)
      if (has_name(&steps[k].writes, s->value)) {
        put_flow(t, &steps[k], s);
        break;
      }
    for (int k = i + 1; k < count && strcmp(s->to, tier_names[TIER_DEVICE]) == 0 && strcmp(s->lane, lane_names[LANE_SSD_READ]) != 0; k++)
      if (has_name(&steps[k].reads, s->value)) {
        put_flow(t, s, &steps[k]);
        break;
      }
  }
}

static void put_slices(Tracing *t, const DocStep *steps, int count) {
  int64_t *lane_end = arena_alloc(t->d->arena, (size_t)(t->d->lane_count + 1) * sizeof *lane_end);
  put_names(t);
  for (int i = 0; i < count; i++)
    if (!t->is_measured || steps[i].is_measured) put_slice(t, &steps[i], lane_end);
}

void view_trace(const Document *d, FILE *out) {
  const DocStep *steps;
  int count = document_shown_steps(d, &steps);
  Tracing t = {.d = d, .out = out, .between = ""};
  fprintf(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"generator\":%s,\"fingerprint\":%s},\"traceEvents\":[\n", escape_json(d->arena, d->generator),
          escape_json(d->arena, d->fingerprint));
  put_slices(&t, steps, count);
  put_counters(&t);
  put_flows(&t, steps, count);
  t.is_measured = true;
  if (d->measured) put_slices(&t, steps, count);
  fprintf(out, "\n]}\n");
}
