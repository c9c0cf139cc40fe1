/* report_json: Emission -> gnncc-report/1, the document of which every report is a view (docs/formats.md).
 *
 * What a view shows is said here, so that a view has nothing to compute: which values a step reads, writes and frees,
 * which step decided when it starts, what lies where at every step.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "decided_by.h"
#include "layers.h"
#include "report.h"
#include "rank_times.h"
#include "compiler/emit/emit_calls.h"
#include "compiler/plan/tiers.h"
#include "lang/source.h"

static json_t *integer(int64_t n) { return json_integer((json_int_t)n); }

static double seconds_of(int64_t ns) { return 1e-9 * (double)ns; }

/* ---- the machine ---- */

static json_t *json_machine(const Emission *m) {
  const Machine *machine = m->machine;
  json_t *links = json_array();
  for (int l = LANE_D2H; l < LANE_COUNT; l++) {
    if (machine->links[l].bandwidth <= 0) continue;
    json_array_append_new(links, json_pack("{s:s, s:f, s:f}", "lane", lane_names[l], "bandwidth", machine->links[l].bandwidth,
                                           "latency_seconds", machine->links[l].latency));
  }
  const char *device = tier_device(m->program);
  const char *source = machine->is_measured ? "measured" : machine->processor ? machine->processor : machine->is_guessed ? "guess" : "target";
  return json_pack("{s:s, s:f, s:f, s:f, s:b, s:s, s:o}", "device", device, "bandwidth", machine->bandwidth, "flops", machine->flops, "step_seconds",
                   machine->step_seconds, "is_measured", machine->is_measured, "source", source, "links", links);
}

static json_t *json_process(const Process *p) {
  return json_pack("{s:I, s:I, s:I, s:I, s:I}", "bytes", (json_int_t)p->resident, "code_bytes", (json_int_t)p->code, "running_bytes", (json_int_t)p->running, "loading_bytes",
                   (json_int_t)p->loading, "address_bytes", (json_int_t)p->addresses);
}

static json_t *json_tiers(const Emission *m) {
  const Layout *y = m->layout;
  const int64_t *budget = m->machine->tier_bytes;
  return json_pack("{s:{s:I, s:I, s:I, s:I}, s:{s:I, s:I}, s:{s:I, s:I}, s:I, s:I, s:o}", "device", "peak_bytes", (json_int_t)y->bytes, "budget_bytes",
                   (json_int_t)budget[TIER_DEVICE], "lower_bound_bytes", (json_int_t)y->lower_bound, "epoch_bytes", (json_int_t)y->epoch_bytes, "host", "peak_bytes", (json_int_t)y->host_bytes,
                   "budget_bytes", (json_int_t)budget[TIER_HOST], "ssd", "peak_bytes", (json_int_t)y->ssd_bytes, "budget_bytes",
                   (json_int_t)budget[TIER_SSD], "ring_bytes", (json_int_t)y->ring_bytes, "staging_bytes", (json_int_t)y->staging_bytes, "process", json_process(&m->process));
}

/* ---- times ---- */

static json_t *json_epoch(const Emission *m, const Decisions *d) {
  const Schedule *s = m->schedule;
  json_t *epoch = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "seconds", s->training_seconds, "compute_seconds", seconds_of(d->keep_all_ns),
                            "recompute_seconds", s->rerun_seconds, "wait_seconds", s->wait_seconds, "transfer_seconds", d->transfer_seconds,
                            "evaluation_seconds", s->evaluation_seconds);
  if (s->once_count) json_object_set_new(epoch, "once_seconds", json_real(s->once_seconds));
  if (s->slowed_seconds > 0) json_object_set_new(epoch, "slowed_seconds", json_real(s->slowed_seconds));
  for (Tier tier = TIER_HOST; tier < TIER_COUNT; tier++) {
    json_object_set_new(epoch, tier == TIER_HOST ? "host_out_bytes" : "ssd_out_bytes", integer(d->out_bytes[tier]));
    json_object_set_new(epoch, tier == TIER_HOST ? "host_in_bytes" : "ssd_in_bytes", integer(d->in_bytes[tier]));
  }
  if (m->program->info->is_of_rank) {
    json_object_set_new(epoch, "net_seconds", json_real(s->net.seconds));
    json_object_set_new(epoch, "net_wait_seconds", json_real(s->net.wait_seconds));
    if (s->net_once.exchanges > 0) json_object_set_new(epoch, "net_once_bytes", integer(s->net_once.bytes));
  }
  const Bound b = bound(s);
  if (b.is_told)
    json_object_set_new(epoch, "bound", json_pack("{s:s, s:f, s:f}", "lane", lane_names[b.lane], "busy_seconds", b.lanes[b.lane].busy_seconds, "ratio", b.ratio));
  if (m->training_plan) {
    const PlannerReport *r = &m->training_plan->report;
    json_object_set_new(epoch, "lower_bound_seconds", json_real(seconds_of(r->lower_bound_ns)));
    json_object_set_new(epoch, "is_optimal", json_boolean(r->is_optimal));
  }
  return epoch;
}

/* Busy, waiting and idle make the epoch (the evaluation where nothing is trained). */
static json_t *json_lanes(const Emission *m) {
  const Schedule *s = m->schedule;
  const Bound b = bound(s);
  double whole = s->training_count > 0 ? s->training_seconds : s->evaluation_seconds;
  json_t *list = json_array();
  for (int lane = 0; lane < LANE_COUNT; lane++) {
    const LaneTimes *times = &b.lanes[lane];
    double idle = whole - times->busy_seconds - times->wait_seconds; /* what is left of rounding is nothing */
    if (times->steps)
      json_array_append_new(list, json_pack("{s:s, s:i, s:f, s:f, s:f}", "lane", lane_names[lane], "steps", times->steps, "busy_seconds", times->busy_seconds,
                                            "wait_seconds", times->wait_seconds, "idle_seconds", idle > 1e-12 * whole ? idle : 0.0));
  }
  return list;
}

static json_t *json_instead(const Instead *i) {
  json_t *object = json_object();
  const struct { const char *name; int64_t ns, bytes; } rows[] = {
      {"keep_everything", i->keep_ns, i->keep_bytes}, {"recompute_everything", i->recompute_ns, i->recompute_bytes}, {"least", i->least_ns, i->least_bytes}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
    if (rows[k].bytes > 0 && (k != 1 || rows[k].bytes < i->keep_bytes)) /* computing again is no alternative where it needs no less */
      json_object_set_new(object, rows[k].name, json_pack("{s:f, s:I}", "seconds", seconds_of(rows[k].ns), "bytes", (json_int_t)rows[k].bytes));
  if (i->least_of && i->least_bytes > 0) json_object_set_new(json_object_get(object, "least"), "of", json_string(i->least_of));
  if (i->is_least_sketched) json_object_set_new(json_object_get(object, "least"), "sketched", json_true());
  if (i->unpinned_ns > 0) json_object_set_new(object, "without_pins", json_pack("{s:f}", "seconds", seconds_of(i->unpinned_ns)));
  if (i->step_up_bytes > 0)
    json_object_set_new(object, "step_up", json_pack("{s:I, s:f}", "bytes", (json_int_t)i->step_up_bytes, "saves_seconds", seconds_of(i->step_up_saves_ns)));
  if (i->step_up_bytes > 0 && i->is_step_sketched) json_object_set_new(json_object_get(object, "step_up"), "sketched", json_true());
  if (i->tf32_ns > 0) json_object_set_new(object, "tf32", json_pack("{s:f, s:f}", "seconds", seconds_of(i->tf32_ns), "products_seconds", seconds_of(i->products_ns)));
  if (i->nested_ns > 0) json_object_set_new(object, "nested", json_pack("{s:f, s:f}", "seconds", seconds_of(i->nested_ns), "order_seconds", seconds_of(i->order_ns)));
  return object;
}

/* What to write, and what that gives. */
static json_t *json_advice(const Advice *a) {
  json_t *list = json_array(), *advice = json_pack("{s:b}", "keeps_everything", a->is_all_kept);
  if (a->first) json_object_set_new(advice, "text", json_string(a->first));
  for (int i = 0; i < a->count; i++) {
    const AdviceItem *item = &a->list[i];
    json_t *object = json_pack("{s:s, s:s, s:s, s:f}", "write", item->write, "where", item->is_option ? "option" : "data", "gives", item->gives, "seconds", item->seconds);
    if (item->device_bytes > 0) json_object_set_new(object, "device_bytes", integer(item->device_bytes));
    json_array_append_new(list, object);
  }
  json_object_set_new(advice, "list", list);
  return advice;
}

static json_t *json_layers(const Emission *m) {
  static const char *const passes[] = {"forward", "backward", "update"};
  const LayerRuns runs = layer_runs(m->arena, m->schedule);
  json_t *list = json_array();
  for (int i = 0; i < runs.count; i++) {
    const LayerRun *run = &runs.list[i];
    json_t *item = json_pack("{s:s, s:s, s:i, s:s, s:i, s:i}", "layer", run->layer ? run->layer : "", "pass", passes[run->pass], "line", run->line, "mode", run->mode, "sums", run->sums,
                             "pieces", run->pieces);
    for (Tier tier = TIER_HOST; tier < TIER_COUNT; tier++) {
      json_object_set_new(item, tier == TIER_HOST ? "host_out_bytes" : "ssd_out_bytes", integer(run->out_bytes[tier]));
      json_object_set_new(item, tier == TIER_HOST ? "host_in_bytes" : "ssd_in_bytes", integer(run->in_bytes[tier]));
    }
    if (m->program->info->is_of_rank) json_object_set_new(item, "net_bytes", integer(run->net_bytes));
    json_object_set_new(item, "transfer_seconds", json_real(run->transfer_seconds));
    json_object_set_new(item, "wait_seconds", json_real(run->wait_seconds));
    if (run->slowed_seconds > 0) json_object_set_new(item, "slowed_seconds", json_real(run->slowed_seconds));
    json_array_append_new(list, item);
  }
  return list;
}

/* ---- values, and what has memory ---- */

static json_t *json_alternatives(const Decision *d) {
  json_t *list = json_array();
  for (int k = 0; k < d->alternative_count; k++) {
    const Alternative *a = &d->alternatives[k];
    json_t *other = json_pack("{s:s, s:b}", "fate", fate_names[a->fate], "fits", a->fits);
    json_object_set_new(other, a->fits ? "adds_seconds" : "over_bytes", a->fits ? json_real(seconds_of(a->adds_ns)) : integer(a->over_bytes));
    if (a->over_bytes) json_object_set_new(other, "short_of", json_string(tier_names[a->short_tier]));
    json_array_append_new(list, other);
  }
  return list;
}

/* Of a piece, what it is a piece of, and which. */
static void add_piece(json_t *item, const char *group, int part, const Slice *slice) {
  if (!part && !slice->count) return;
  json_object_set_new(item, "group", json_string(group));
  if (part) json_object_set_new(item, "part", json_integer(part));
  if (slice->count) json_object_set_new(item, "slice", json_integer(slice->index));
}

static void add_piece_of_value(json_t *item, const Graph *graph, ValueId value, int part) {
  add_piece(item, graph->values[graph_first_slice(graph, value)].said, part, &graph->values[value].slice);
}

static json_t *json_values(const Emission *m, const Decisions *decisions) {
  json_t *list = json_array();
  for (int i = 0; i < decisions->count; i++) {
    const Decision *d = &decisions->list[i];
    const Value *value = &m->training->graph->values[d->value];
    const char *name = parts_name(m->training_plan->problem->parts, d->value, value->said, d->part);
    json_t *item = json_pack("{s:s, s:s, s:i, s:I, s:s, s:f, s:b, s:o}", "value", name, "what", report_made_by(m->training, d->value), "line", (int)value->place.line, "bytes",
                             (json_int_t)d->bytes, "fate", fate_names[d->fate], "adds_seconds", seconds_of(d->adds_ns), "pinned", d->is_pinned, "alternatives", json_alternatives(d));
    add_piece_of_value(item, m->training->graph, d->value, d->part);
    json_array_append_new(list, item);
  }
  return list;
}

static const char *piece_name(const Emission *m, const Kernels *kernels, ValueId value, int part) {
  return parts_name(schedule_problem(m->schedule, kernels)->parts, value, kernels->graph->values[value].said, part);
}

/* How a value came to where it is: its kernel, its kernel once more, or a copy. */
static const char *how_it_came(const Schedule *s, const Block *b) {
  int boundary = s->steps[b->first].boundary;
  for (int i = b->first; i < s->count && s->steps[i].boundary == boundary; i++)
    if (s->steps[i].kind == STEP_COPY) {
      const Copy *copy = &s->copies[s->steps[i].copy];
      if (!copy->is_out && copy->value == b->value && copy->part == b->part) return "returned";
    }
  const Step *kernel = &s->steps[s->kernel_step[boundary]];
  return kernel->kind == STEP_KERNEL && kernel->is_rerun ? "recomputed" : "made";
}

/* As users call what lies in each block that always stays; NULL: nothing that they named. */
static const char **names_of_residents(const Emission *m) {
  const Residents *y = m->layout->residents;
  const TypedProgram *p = m->program;
  const char **names = arena_alloc(m->arena, (size_t)(m->layout->resident_count + 1) * sizeof *names);
  for (int f = 0; f < p->field_count; f++)
    if (y->field[f] != NO_INDEX && y->field[f] != y->sparse[f][0] && y->field[f] != y->sparse[f][SPARSE_ROW_SHARES]) names[y->field[f]] = p->fields[f].name;
  for (int w = 0; w < p->param_count; w++) {
    if (y->weight[w] != NO_INDEX) names[y->weight[w]] = p->params[w].name;
    for (int s = 0; s < MAX_STATES; s++)
      if (y->state[s][w] != NO_INDEX) names[y->state[s][w]] = arena_printf(m->arena, "%s of %s", s == ACCUMULATED ? "gradients" : arena_printf(m->arena, "state %d", s + 1), p->params[w].name);
  }
  return names;
}

static json_t *json_blocks(const Emission *m) {
  const char *const *residents = names_of_residents(m);
  json_t *list = json_array();
  for (int i = 0; i < m->layout->count; i++) {
    const Block *b = &m->layout->blocks[i];
    if (b->first >= m->schedule->count || b->until < b->first) continue; /* before the first epoch; or in no step is it there alone */
    const int last = b->until < m->schedule->count ? b->until : m->schedule->count - 1;
    const char *name = i < m->layout->resident_count && residents[i] ? residents[i] : b->kernels && b->value != NO_VALUE ? piece_name(m, b->kernels, b->value, b->part) : b->name;
    json_t *item = json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:i}", "name", name, "kind", block_kind_name(b->kind), "tier", "device", "offset",
                             (json_int_t)b->offset, "bytes", (json_int_t)b->bytes, "first_step", b->first + 1, "last_step", last + 1);
    if (b->kernels && b->value != NO_VALUE) {
      json_object_set_new(item, "value", json_string(name));
      json_object_set_new(item, "line", json_integer(b->kernels->graph->values[b->value].place.line));
      json_object_set_new(item, "how", json_string(how_it_came(m->schedule, b)));
      add_piece_of_value(item, b->kernels->graph, b->value, b->part);
    }
    json_array_append_new(list, item);
  }
  return list;
}

/* Where values wait outside the device. */
static json_t *json_slots(const Emission *m) {
  const Schedule *s = m->schedule;
  json_t *list = json_array();
  for (int h = 0; h < s->slot_count; h++) {
    const Slot *slot = &s->slots[h];
    if (slot->first >= s->once_boundary) continue; /* before the first epoch */
    const int last = slot->last < s->once_boundary ? slot->last : s->once_boundary - 1;
    json_t *extents = json_array();
    for (int e = m->layout->slot_extent[h]; e < m->layout->slot_extent[h + 1]; e++)
      json_array_append_new(extents, json_pack("{s:I, s:I}", "at", (json_int_t)m->layout->extents[e].at, "bytes", (json_int_t)m->layout->extents[e].bytes));
    int first = slot->first ? s->kernel_step[slot->first - 1] + 2 : 1;
    json_t *item = json_pack("{s:s, s:s, s:I, s:i, s:i, s:o}", "value", piece_name(m, slot->kernels, slot->value, slot->part), "tier", tier_names[slot->tier], "bytes",
                             (json_int_t)slot->bytes, "first_step", first, "last_step", s->kernel_step[last] + 1, "extents", extents);
    add_piece_of_value(item, slot->kernels->graph, slot->value, slot->part);
    json_array_append_new(list, item);
  }
  return list;
}

/* Bytes alive on each tier from the end of one kernel to the end of the next; the device's by kind. */
static json_t *json_memory(const Emission *m) {
  const Schedule *s = m->schedule;
  json_t *list = json_array();
  for (int b = 0, last = -1; b < s->boundary_count; b++) {
    int i = s->kernel_step[b];
    if (i < 0 || i == last || i >= s->count) continue; /* these are the epoch's and the evaluation's */
    int first = last + 1;
    last = i;
    int64_t kinds[BLOCK_KIND_COUNT] = {0};
    for (int k = 0; k < m->layout->count; k++) {
      const Block *block = &m->layout->blocks[k];
      if (block->first <= i && i <= block->until) kinds[block->kind] += block->room;
    }
    const bool begins_evaluation = first <= s->training_count && i >= s->training_count; /* waits may come behind the last kernel of the epoch */
    double start = first == 0 || begins_evaluation ? 0 : s->steps[first - 1].start_seconds + s->steps[first - 1].cost.seconds;
    json_t *row = json_pack("{s:i, s:i, s:f, s:f, s:I, s:I, s:I}", "first_step", first + 1, "step", i + 1, "start_seconds", start, "end_seconds",
                            s->steps[i].start_seconds + s->steps[i].cost.seconds, "device_bytes", (json_int_t)m->layout->live_bytes[i], "host_bytes",
                            (json_int_t)m->layout->host_live[b], "ssd_bytes", (json_int_t)m->layout->ssd_live[b]);
    json_object_set_new(row, "gaps", integer(m->layout->top_bytes[i] - m->layout->live_bytes[i]));
    for (int kind = 0; kind < BLOCK_KIND_COUNT; kind++) json_object_set_new(row, block_kind_name((BlockKind)kind), integer(kinds[kind]));
    json_array_append_new(list, row);
  }
  return list;
}

/* ---- steps ---- */

static const char *value_name(const Kernels *kernels, ValueId id) {
  const Value *value = &kernels->graph->values[id];
  const TypedProgram *program = kernels->graph->program;
  if (value->op == OP_INPUT) return program->fields[value->as.index].name;
  return value->op == OP_PARAM || value->op == OP_UPDATE ? program->params[value->as.index].name : value->said;
}

/* Of the values in the list, the pieces that the step touches. */
static json_t *names_of(const Step *step, const ValueId *list, int count, bool is_stored) {
  json_t *names = json_array();
  for (int i = 0; i < count; i++) {
    if (is_stored && !parts_stores(step->parts, list[i], step->part)) continue;
    for (int k = 0, piece; (piece = is_stored ? parts_piece_written(step->parts, list[i], step->part, k) : parts_piece_read(step->parts, &step->kernels->kernels[step->kernel], list[i], step->part, k)) != NO_INDEX; k++)
      json_array_append_new(names, json_string(parts_name(step->parts, list[i], value_name(step->kernels, list[i]), piece)));
  }
  return names;
}

/* Values whose memory ends with a step. */
static json_t *names_of_freed(const Emission *m, int step) {
  json_t *names = json_array();
  for (int i = m->layout->resident_count; i < m->layout->count; i++) {
    const Block *b = &m->layout->blocks[i];
    if (b->last == step && b->kind != BLOCK_SCRATCH && b->value != NO_VALUE)
      json_array_append_new(names, json_string(b->part ? piece_name(m, b->kernels, b->value, b->part) : value_name(b->kernels, b->value)));
  }
  return names;
}

static int64_t ns_of(double seconds) { return llround(1e9 * seconds); }

/* Of the epoch, of the evaluation, or of what comes before both. */
static int first_of_pass(const Schedule *s, int step) { return step >= s->count ? s->count : step >= s->training_count ? s->training_count : 0; }

static int before_on_lane(const Schedule *s, int step) {
  const int first = first_of_pass(s, step);
  for (int i = step - 1; i >= first; i--)
    if (s->steps[i].lane == s->steps[step].lane) return i;
  return NO_INDEX;
}

/* The copy that compute waited for before this step in the list; NO_INDEX: it did not wait. */
static int waited_for(const Schedule *s, int step) {
  int i = step - 1, first = first_of_pass(s, step);
  while (i >= first && s->steps[i].kind == STEP_COPY) i--;
  return i >= first && s->steps[i].kind == STEP_WAIT && s->steps[i].cost.seconds > 0 ? s->copies[s->steps[i].copy].step : NO_INDEX;
}

static Decider decider(const Schedule *s, int step) {
  return (Decider){step, step == NO_INDEX ? 0 : ns_of(s->steps[step].start_seconds + s->steps[step].cost.seconds)};
}

/* A kernel follows what was waited for, a copy also the kernel before it and what it may not overtake. */
static int decider_of(const Schedule *s, int step) {
  const Step *x = &s->steps[step];
  Decider followed[5];
  int count = 0;
  if (x->kind == STEP_KERNEL) followed[count++] = decider(s, waited_for(s, step));
  followed[count++] = decider(s, before_on_lane(s, step));
  if (x->kind == STEP_COPY) {
    const Copy *copy = &s->copies[x->copy];
    followed[count++] = decider(s, x->boundary && x->boundary != s->once_boundary ? s->kernel_step[x->boundary - 1] : NO_INDEX);
    followed[count++] = decider(s, waited_for(s, step));
    for (int k = 0; k < 2; k++) followed[count++] = decider(s, copy->after[k] == NO_INDEX ? NO_INDEX : s->copies[copy->after[k]].step);
  }
  return decided_by(ns_of(x->start_seconds), followed, count);
}

/* As a step that reads and writes the table. */
static void add_exchange_facts(const Schedule *s, const Step *step, json_t *item) {
  const Copy *copy = &s->copies[step->copy];
  const char *name = copy->kernels->graph->values[copy->value].said;
  json_object_set_new(item, "value", json_string(name));
  json_object_set_new(item, "flops", json_real(0));
  json_object_set_new(item, "reads", json_pack("[s]", name));
  json_object_set_new(item, "writes", json_pack("[s]", name));
  json_object_set_new(item, "frees", json_array());
  json_object_set_new(item, "volume_bytes", integer(copy->exchange.bytes));
  json_object_set_new(item, "variant", json_string(exchange_variant(copy_kernel(copy), copy->exchange.passes_host)));
}

static void add_copy_facts(const Schedule *s, const Step *step, json_t *item) {
  const Copy *copy = &s->copies[step->copy];
  json_object_set_new(item, "value", json_string(parts_name(step->parts, copy->value, copy->kernels->graph->values[copy->value].said, copy->part)));
  add_piece_of_value(item, copy->kernels->graph, copy->value, copy->part);
  if (step->kind == STEP_WAIT) {
    json_object_set_new(item, "waits_for", json_integer(copy->step + 1));
    return;
  }
  json_t *after = json_array();
  for (int k = 0; k < 2; k++)
    if (copy->after[k] != NO_INDEX) json_array_append_new(after, json_integer(s->copies[copy->after[k]].step + 1));
  json_object_set_new(item, "after", after);
  json_object_set_new(item, "to", json_string(tier_names[copy->is_out ? copy->tier : TIER_DEVICE]));
  json_object_set_new(item, "from", json_string(tier_names[copy->is_out ? TIER_DEVICE : copy->tier]));
}

/* Kernels of slices are called as the first of them. */
static const char *group_of_kernel(const Kernels *kernels, const Kernel *kernel) {
  const ValueId first = graph_first_slice(kernels->graph, kernel->anchor);
  const Kernel *of_first = kernels->made_by[first] == NO_INDEX ? kernel : &kernels->kernels[kernels->made_by[first]];
  return kernel_said(kernels, of_first->anchor == first ? of_first : kernel);
}

static void add_kernel_facts(const Emission *m, int i, json_t *item) {
  const Step *step = &m->schedule->steps[i];
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  json_object_set_new(item, "flops", json_real(step->cost.flops));
  json_object_set_new(item, "reads", names_of(step, kernel->inputs, kernel->input_count, false));
  bool is_update = kernel->kind == KERNEL_UPDATE;
  json_t *writes = is_update ? names_of(step, &kernel->anchor, 1, false) : names_of(step, kernel->outputs, kernel->output_count, true);
  json_t *body = is_update ? names_of(step, kernel->body, kernel->body_count, false) : NULL;
  json_array_extend(writes, body);
  json_decref(body);
  json_object_set_new(item, "writes", writes);
  json_object_set_new(item, "frees", names_of_freed(m, i));
  const Slice *slice = &step->kernels->graph->values[kernel->anchor].slice;
  if (step->part || slice->count) add_piece(item, group_of_kernel(step->kernels, kernel), step->part, slice);
  const Layer layer = step->kernels->graph->values[kernel->anchor].layer;
  if (layer.name) json_object_set_new(item, "layer", json_string(layer.turn ? arena_printf(m->arena, "%s.%d", layer.name, layer.turn - 1) : layer.name));
}

static json_t *json_pass(const Emission *m, int from, int to) {
  const Schedule *s = m->schedule;
  json_t *list = json_array();
  for (int i = from; i < to; i++) {
    const Step *step = &s->steps[i];
    const char *kind = step->kind == STEP_KERNEL ? kernel_info[step->kernels->kernels[step->kernel].kind].name : step->lane == LANE_NET ? "exchange" : step->kind == STEP_COPY ? "copy" : "wait";
    json_t *item = json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:I, s:I, s:I, s:I, s:i}", "step", step->number, "lane", lane_names[step->lane],
                             "phase", schedule_phase(s, i), "kernel", kind, "what", step->said, "line", (int)step->place.line, "start_seconds",
                             step->start_seconds, "seconds", step->cost.seconds, "bytes", (json_int_t)step->cost.bytes, "device_bytes",
                             (json_int_t)m->layout->live_bytes[i], "host_bytes", (json_int_t)m->layout->host_live[step->boundary], "ssd_bytes",
                             (json_int_t)m->layout->ssd_live[step->boundary], "decided_by", decider_of(s, i) + 1);
    if (step->kind == STEP_KERNEL) add_kernel_facts(m, i, item);
    else if (step->lane == LANE_NET) add_exchange_facts(s, step, item);
    else add_copy_facts(s, step, item);
    json_array_append_new(list, item);
  }
  return list;
}

/* The first, the slowest and the last of the ranks, step by step, and how alike all are in each. */
static json_t *json_ranks(const Emission *m) {
  const RankTimes t = rank_times(m->arena, m->schedule, m->program->info->ranks);
  const char *const names[] = {t.slowest == 0 ? "first and slowest" : "first", "slowest", t.slowest == t.count - 1 ? "last and slowest" : "last"};
  const int shown[] = {0, t.slowest, t.count - 1};
  json_t *list = json_array(), *balance = json_array();
  for (int k = 0; k < 3; k++) {
    if (k == 1 && (t.slowest == 0 || t.slowest == t.count - 1)) continue;
    json_t *start = json_array(), *seconds = json_array();
    for (int i = 0; i < t.steps; i++) {
      json_array_append_new(start, json_real(t.start[shown[k] * t.steps + i]));
      json_array_append_new(seconds, json_real(t.seconds[shown[k] * t.steps + i]));
    }
    json_array_append_new(list, json_pack("{s:i, s:s, s:o, s:o}", "rank", shown[k], "name", names[k], "start_seconds", start, "seconds", seconds));
  }
  for (int i = 0; i < t.steps; i++) json_array_append_new(balance, json_real(t.balance[i]));
  return json_pack("{s:i, s:o, s:o}", "count", t.count, "balance", balance, "shown", list);
}

static json_t *json_steps(const Emission *m) { return json_pass(m, 0, m->schedule->count); }

/* ---- the rest ---- */

/* The decisions as gnncc-plan/1, for --plan-from. */
static json_t *json_plan(const Emission *m) {
  size_t length;
  if (!m->training_plan) return json_null();
  const char *text = plan_write_json(m->training_plan->planned, m->arena, &length);
  return json_loadb(text, length, 0, NULL);
}

static json_t *json_source(const Emission *m) {
  const char *slash = strrchr(m->model_path, '/');
  json_t *lines = json_array();
  for (const char *at = m->source_text ? m->source_text : ""; *at;) {
    size_t length = strcspn(at, "\n");
    json_array_append_new(lines, json_string(source_printable(m->arena, at, length - (length && at[length - 1] == '\r'))));
    at += length + (at[length] == '\n');
  }
  return json_pack("{s:s, s:o}", "file", slash ? slash + 1 : m->model_path, "lines", lines);
}

/* What passes did that changes the order of sums, then what was done to the data. */
static json_t *json_notes(const Emission *m) {
  json_t *notes = json_array();
  for (int i = 0; i < m->evaluation->graph->note_count; i++) json_array_append_new(notes, json_string(m->evaluation->graph->notes[i]));
  for (const char *at = m->program->info->notes ? m->program->info->notes : ""; *at;) {
    size_t length = strcspn(at, "\n");
    json_array_append_new(notes, json_string(source_printable(m->arena, at, length)));
    at += length + (at[length] == '\n');
  }
  return notes;
}

/* The function that a step calls, and with what. */
static char *code_of(const Emission *m, const StepCalls *calls, int step) {
  char *text;
  size_t length;
  FILE *out = arena_open_text(m->arena, &text, &length);
  fprintf(out, "%s/* step %d */\n", calls->calls[step].function->code.text, step + 1);
  emit_call(m, calls, step, &(PieceLists){0}, out);
  fclose(out);
  return text;
}

json_t *report_code(const Emission *m) {
  enum { MOST_BYTES = 256 << 10 };
  const Schedule *s = m->schedule;
  json_t *list = json_array();
  size_t bytes = 0;
  const StepCalls *calls = emit_step_calls(m);
  for (int i = 0; i < (s->training_count ? s->training_count : s->count) && bytes <= MOST_BYTES; i++) {
    if (s->steps[i].kind != STEP_KERNEL) continue;
    char *text = code_of(m, calls, i);
    bytes += strlen(text);
    json_array_append_new(list, json_pack("{s:i, s:s}", "step", i + 1, "text", text));
  }
  if (bytes <= MOST_BYTES) return list;
  json_decref(list);
  return NULL;
}

static json_t *json_rows_again(const Explanation *x) {
  json_t *list = json_array();
  for (int i = 0; x->tables && i < x->tables->count; i++)
    if (come_again(x->cut.again, x->tables->list[i].rows)) json_array_append_new(list, json_string(x->tables->list[i].rows));
  return list;
}

const char *report_plan_json(const Explanation *x) {
  const Emission *m = x->emission;
  const Schedule *s = m->schedule;
  json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "format", "gnncc-report/1", "generator",
                           "generated by gnncc " GNNCC_VERSION, "model", m->program->name, "data", m->program->data->name, "target", m->machine->name,
                           "fingerprint", m->fingerprint, "figures", "estimated", "fits", 1, "tiers", json_tiers(m), "machine", json_machine(m), "epoch",
                           json_epoch(m, x->decisions), "training_steps", s->training_count, "peak_step", s->count ? s->steps[m->layout->peak_step].number : 0, "lanes",
                           json_lanes(m), "notes", json_notes(m), "source", json_source(m));
  if (root) json_object_set_new(root, "model_fingerprint", json_string(m->model_fingerprint));
  if (root) json_object_set_new(root, "cut", json_pack("{s:i, s:i, s:b, s:s, s:s, s:s, s:s}", "parts", x->cut.parts, "slices", x->cut.slices, "halos", x->cut.has_halos, "fields_home", tier_names[x->cut.fields_home], "graph_home", tier_names[x->cut.graph_home],
                                                       "learned_home", tier_names[x->cut.learned_home], "scores_home", tier_names[x->cut.scores_home]));
  if (x->cut.layers) json_object_set_new(json_object_get(root, "cut"), "layers", json_string(layer_cuts_text(m->arena, x->cut.layers, x->cut.parts) + strlen(", ")));
  if (x->cut.again) json_object_set_new(json_object_get(root, "cut"), "dedup", json_rows_again(x));
  const CachedData cached = x->cut.cached;
  if (root && (cached.fields || cached.graph || cached.learned))
    json_object_set_new(json_object_get(root, "cut"), "cached", json_pack("{s:I, s:b, s:b, s:b}", "bytes", (json_int_t)cached.bytes, "fields", cached.fields, "graph", cached.graph, "learned", cached.learned));
  if (root && (x->cut.parts > 1 || x->cut.slices > 1 || x->cut.layers || x->cut.ranks)) json_object_set_new(root, "layers", json_layers(m));
  if (root && x->cut.ranks && m->program->train.approximation) json_object_set_new(root, "approximation", json_string(m->program->train.approximation));
  if (root && x->cut.ranks) json_object_set_new(root, "ranks", json_ranks(m));
  if (root && x->instead) json_object_set_new(root, "instead", json_instead(x->instead));
  if (root && x->advice) json_object_set_new(root, "advice", json_advice(x->advice));
  if (root && x->sweep) json_object_set_new(root, "sweep", sweep_json(x->sweep));
  const struct { const char *key; json_t *(*make)(const Emission *); } parts[] = {{"blocks", json_blocks}, {"homes", json_slots},
                                                                                  {"memory", json_memory}, {"steps", json_steps},   {"plan", json_plan}};
  if (root) json_object_set_new(root, "values", json_values(m, x->decisions));
  if (root && s->once_count) json_object_set_new(root, "once", json_pass(m, s->count, schedule_step_count(s)));
  for (size_t i = 0; root && i < sizeof parts / sizeof parts[0]; i++) json_object_set_new(root, parts[i].key, parts[i].make(m));
  char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;
  const char *result = text ? arena_printf(m->arena, "%s\n", text) : NULL;
  free(text);
  json_decref(root);
  return result;
}
