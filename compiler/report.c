#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/text.h"

static const char *bytes(Arena *arena, int64_t n) { return arena_strdup(arena, gnn_bytes_text(n).text); }

static const char *milliseconds(Arena *arena, double seconds) { return arena_printf(arena, "%.3g ms", 1e3 * seconds); }

static const char *duration(Arena *arena, double seconds) {
  return seconds < 1 ? milliseconds(arena, seconds) : arena_printf(arena, "%.3g s", seconds);
}

const char *report_verdict(const Emission *m) {
  Arena *arena = m->arena;
  const char *verdict = arena_printf(arena, "peak %s of %s device, 0 host, 0 ssd", bytes(arena, m->layout->bytes),
                                     bytes(arena, m->machine->tier_bytes[TIER_DEVICE]));
  if (!m->program->has_train) return verdict;
  return arena_printf(arena, "%s; about %s/epoch", verdict, duration(arena, m->schedule->training_seconds));
}

static int compare_blocks(const void *a, const void *b) {
  const Block *x = *(const Block *const *)a, *y = *(const Block *const *)b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x < y ? -1 : x > y;
}

static const char *description(const Emission *m, const Block *block) {
  if (!block->kernels || block->value == NO_VALUE) return block_kind_name(block->kind);
  return m->schedule->steps[block->first].what;
}

static void print_values(const Emission *m, bool is_verbose, FILE *out) {
  enum { SHOWN = 6 };
  const Layout *y = m->layout;
  const Block **blocks = arena_alloc(m->arena, (size_t)(y->count + 1) * sizeof *blocks);
  int count = 0;
  for (int i = y->resident_count; i < y->count; i++)
    if (y->blocks[i].kernels == m->training && y->blocks[i].value != NO_VALUE) blocks[count++] = &y->blocks[i];
  if (!count) return;
  qsort(blocks, (size_t)count, sizeof *blocks, compare_blocks);
  fprintf(out, "\n  %-20s %-40s %5s %10s  %-10s %6s  %s\n", "value", "what it is", "line", "size", "fate", "adds", "alive");
  int64_t rest_bytes = 0;
  for (int i = 0; i < count; i++) {
    const Block *b = blocks[i];
    if (i >= SHOWN && !is_verbose) {
      rest_bytes += b->bytes;
      continue;
    }
    fprintf(out, "  %-20s %-40.40s %5d %10s  %-10s %6s  steps %d-%d\n", b->name, description(m, b),
            (int)b->kernels->graph->values[b->value].place.line, bytes(m->arena, b->bytes), "keep", "0", b->first + 1, b->last + 1);
  }
  if (count > SHOWN && !is_verbose)
    fprintf(out, "  ... %d smaller values, %s together, kept\n", count - SHOWN, bytes(m->arena, rest_bytes));
}

void report_plan_text(const Emission *m, bool is_verbose, FILE *out) {
  Arena *arena = m->arena;
  const Layout *y = m->layout;
  const Schedule *s = m->schedule;
  const char *at_peak = "no step";
  if (s->count) {
    const Step *peak = &s->steps[y->peak_step];
    at_peak = arena_printf(arena, "peak at step %d, %s, line %d", peak->number, peak->what, (int)peak->place.line);
  }
  int64_t budget = m->machine->tier_bytes[TIER_DEVICE];
  bool fits = y->bytes <= budget;
  fprintf(out, "plan for %s on %s \302\267 target %s \302\267 device budget %s      all figures estimated\n", m->program->name, m->program->data->name,
          m->machine->name, bytes(arena, budget));
  fprintf(out, "  %-9s device %s of %s (%s) \302\267 host 0 \302\267 ssd 0\n", fits ? "fits" : "too large",
          bytes(arena, y->bytes), bytes(arena, budget), at_peak);
  int64_t kinds[BLOCK_KIND_COUNT] = {0};
  for (int i = 0; i < y->resident_count; i++) kinds[y->blocks[i].kind] += y->blocks[i].bytes;
  int64_t resident = 0;
  for (int k = 0; k < BLOCK_KIND_COUNT; k++) resident += kinds[k];
  fprintf(out, "  of which  graph %s \302\267 features %s \302\267 weights %s \302\267 optimizer %s \302\267 values of the epoch %s\n", bytes(arena, kinds[BLOCK_GRAPH]),
          bytes(arena, kinds[BLOCK_FEATURES]), bytes(arena, kinds[BLOCK_WEIGHTS]), bytes(arena, kinds[BLOCK_OPTIMIZER]), bytes(arena, y->bytes - resident));
  if (m->program->has_train)
    fprintf(out, "  time      %s per epoch = %s compute + 0 recomputing + 0 waiting for transfers; evaluation %s\n", duration(arena, s->training_seconds),
            duration(arena, s->training_seconds), duration(arena, s->evaluation_seconds));
  else
    fprintf(out, "  time      %s per evaluation\n", duration(arena, s->evaluation_seconds));
  fprintf(out, "  moves     nothing\n");
  fprintf(out, "  layout    %s high; no layout of these values is lower than %s (%.2f %% above)\n", bytes(arena, y->bytes), bytes(arena, y->lower_bound),
          y->lower_bound ? 100.0 * ((double)y->bytes / (double)y->lower_bound - 1) : 0);
  print_values(m, is_verbose, out);
  const Graph *graph = m->evaluation->graph;
  for (int i = 0; i < graph->note_count; i++) fprintf(out, "%s%s\n", i ? "            " : "  notes     ", graph->notes[i]);
  for (const char *line = m->program->info->notes; line && *line;) {
    const char *end = strchr(line, '\n');
    int length = end ? (int)(end - line) : (int)strlen(line);
    fprintf(out, "  data      %.*s\n", length, line);
    line += length + (end != NULL);
  }
  if (is_verbose) {
    fprintf(out, "\n");
    schedule_print(s, out);
  }
}

static json_t *json_blocks(const Emission *m) {
  json_t *list = json_array();
  for (int i = 0; i < m->layout->count; i++) {
    const Block *b = &m->layout->blocks[i];
    json_t *item = json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:i, s:s}", "name", b->name, "kind", block_kind_name(b->kind), "tier", "device",
                             "offset", (json_int_t)b->offset, "bytes", (json_int_t)b->bytes, "first_step", b->first + 1, "last_step", b->last + 1,
                             "fate", "keep");
    if (b->kernels && b->value != NO_VALUE)
      json_object_set_new(item, "line", json_integer(b->kernels->graph->values[b->value].place.line));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *json_steps(const Emission *m) {
  const Schedule *s = m->schedule;
  json_t *list = json_array();
  for (int i = 0; i < s->count; i++) {
    const Step *step = &s->steps[i];
    const char *kind = step->kind == STEP_KERNEL ? kernel_kind_name(step->kernels->kernels[step->kernel].kind) : step->kind == STEP_COPY ? "copy" : "wait";
    json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:I, s:I}", "step", step->number, "lane", lane_name(step->lane), "phase",
                                          schedule_phase(s, i), "kernel", kind, "what",
                                          step->what, "line", (int)step->place.line, "start_seconds", step->start_seconds, "seconds",
                                          step->cost.seconds, "bytes", (json_int_t)step->cost.bytes, "device_bytes",
                                          (json_int_t)m->layout->live_bytes[i]));
  }
  return list;
}

const char *report_plan_json(const Emission *m) {
  const Schedule *s = m->schedule;
  const Layout *y = m->layout;
  int64_t budget = m->machine->tier_bytes[TIER_DEVICE];
  json_t *notes = json_array();
  for (int i = 0; i < m->evaluation->graph->note_count; i++) json_array_append_new(notes, json_string(m->evaluation->graph->notes[i]));
  json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:{s:{s:I, s:I, s:I}, s:{s:I}, s:{s:I}}, s:{s:f, s:f, s:f, s:f}, s:i, s:o, s:o, s:o}",
                           "format", "gnncc-report/1", "generator", "generated by gnncc " GNNCC_VERSION, "model", m->program->name, "data", m->program->data->name, "target", m->machine->name,
                           "fingerprint", m->fingerprint, "figures", "estimated", "fits", y->bytes <= budget,
                           "tiers", "device", "peak_bytes", (json_int_t)y->bytes, "budget_bytes", (json_int_t)budget, "lower_bound_bytes",
                           (json_int_t)y->lower_bound, "host", "peak_bytes", (json_int_t)0, "ssd", "peak_bytes", (json_int_t)0,
                           "epoch", "seconds", s->training_seconds, "recompute_seconds", 0.0, "wait_seconds", 0.0, "evaluation_seconds",
                           s->evaluation_seconds, "peak_step", s->count ? s->steps[y->peak_step].number : 0, "notes", notes, "values", json_blocks(m), "steps",
                           json_steps(m));
  char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
  const char *result = text ? arena_printf(m->arena, "%s\n", text) : NULL;
  free(text);
  json_decref(root);
  return result;
}
