/* verify_memory: what a schedule and its layout do to memory, step by step.
 *
 * Two judges that share nothing with the passes. The first replays the schedule in the order in which steps are queued,
 * over every byte of every tier, and looks whether each step finds the values it reads. The second gives every access
 * of a kernel or a copy a vector clock (a lane does one thing after the other, a copy starts after it was queued and
 * after what it is `after`, a wait ends after its copy; Mattern 1989) and looks for two accesses to one place, one of
 * them a write, of which neither happens before the other; of those of one lane to a place the last will do. A schedule
 * that passes both computes what the graph says, however fast or slow each lane is. Cost: the accesses times the places
 * of each.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/planner/wide.h"
#include "plan.h"
#include "runtime/gnnrt.h"

enum { SPACE_DEVICE = 0, SPACE_HOST, SPACE_SSD, SPACE_WRITE_RING, SPACE_READ_RING, SPACE_COUNT };
enum { TAG_EVALUATION = 1 << 19, TAG_ONCE = 1 << 20, TAG_SUMS = 1 << 21, TAG_AWAY = 1 << 22, TAG_RESIDENT = 1 << 24 };
static const int64_t TAG_PART = 1 << 25, TAG_CHANGE = INT64_C(1) << 40; /* once for each time that an epoch has changed it */

/* A run of bytes; several make up one side of a copy. */
typedef struct Span {
  int space;
  int64_t from, to;
} Span;

/* The last use of a place by a lane, as the lane counts. */
typedef struct Use {
  int index, step;
} Use;

typedef struct Spot {
  int64_t tag;                  /* what lies there */
  Use read[LANE_COUNT], written[LANE_COUNT];
} Spot;

typedef struct Memory {
  Arena *arena;
  const Schedule *schedule;
  const Layout *layout;
  const char *fault;
  int64_t bytes[SPACE_COUNT];
  int point_count[SPACE_COUNT];
  int64_t *points[SPACE_COUNT];           /* where blocks, extents and entries begin and end, ascending */
  Spot *spots[SPACE_COUNT];               /* between a point and the next */
  int clock[LANE_COUNT];                  /* of the compute lane: what has happened before its next step */
  int (*lane_clock)[LANE_COUNT];          /* per lane: after the last copy queued there */
  int lane_index[LANE_COUNT];
  int (*copy_clock)[LANE_COUNT];          /* per copy: after the last time it was made */
  Span *spans[2];                         /* room for the sides of a copy */
  int round;
  bool *is_changed;                       /* per index of Residents.away: epochs update it */
} Memory;

static int64_t memory_tag_of_pass(const Kernels *kernels) { return kernels->graph->is_training ? 0 : kernels->graph->once_count ? TAG_ONCE : TAG_EVALUATION; }

static void memory_fault(Memory *m, int step, const char *what, const char *name) {
  if (!m->fault) m->fault = arena_printf(m->arena, "step %d: %s %s", step + 1, what, name);
}

/* Of what is away: an epoch finds what the one before it left, an evaluation what its epoch has. */
static int64_t memory_changes(const Memory *m, const Kernels *kernels, int away) {
  return m->is_changed[away] ? (m->round + !kernels->graph->is_training) * TAG_CHANGE : 0;
}

static int64_t memory_tag(const Memory *m, const Kernels *kernels, ValueId value, int part) {
  value = kernels->storage[value];
  const Block *resident = resident_of_value(m->layout->residents, kernels->graph, value);
  if (resident) return TAG_RESIDENT + (int)(resident - m->layout->residents->blocks);
  const int away = resident_away(m->layout->residents, kernels->graph, value);
  if (away != NO_INDEX) return TAG_AWAY + away + part * TAG_PART + memory_changes(m, kernels, away);
  return 1 + value + part * TAG_PART + memory_tag_of_pass(kernels);
}

static int memory_point(const Memory *m, int space, int64_t at) {
  int low = 0, high = m->point_count[space] - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (m->points[space][middle] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void memory_race(Memory *m, const Use *before, int step) {
  if (!m->fault) m->fault = arena_printf(m->arena, "steps %d and %d use one place at one time", before->step + 1, step + 1);
}

/* Use number `index` of a lane, to which has happened what `clock` says: another lane has used the place before only if that is a part of it. Whether
 * the span is inside its space. */
static bool memory_access(Memory *m, Span span, bool is_write, int lane, int index, int step, const int *clock) {
  const bool is_in_window = span.space == SPACE_SSD && span.from >= GNN_WINDOWS_AT; /* of a file of the user's */
  if (span.from < 0 || (!is_in_window && span.to > m->bytes[span.space]) || span.from > span.to) {
    memory_fault(m, step, "an access outside", "the arena");
    return false;
  }
  for (int p = memory_point(m, span.space, span.from); m->points[span.space][p] < span.to; p++) {
    Spot *spot = &m->spots[span.space][p];
    for (int l = 0; l < LANE_COUNT; l++) {
      if (l == lane) continue;
      if (spot->written[l].index > clock[l]) memory_race(m, &spot->written[l], step);
      if (is_write && spot->read[l].index > clock[l]) memory_race(m, &spot->read[l], step);
    }
    *(is_write ? &spot->written[lane] : &spot->read[lane]) = (Use){index, step};
  }
  return true;
}

static bool memory_compute_access(Memory *m, Span span, bool is_write, int step) {
  return memory_access(m, span, is_write, LANE_COMPUTE, m->clock[LANE_COMPUTE] + 1, step, m->clock);
}

static void memory_write(Memory *m, Span span, int64_t tag) {
  for (int p = memory_point(m, span.space, span.from); m->points[span.space][p] < span.to; p++) m->spots[span.space][p].tag = tag;
}

static void memory_expect(Memory *m, Span span, int64_t tag, int step, const char *name) {
  for (int p = memory_point(m, span.space, span.from); m->points[span.space][p] < span.to; p++)
    if (m->spots[span.space][p].tag != tag) {
      memory_fault(m, step, "does not find", name);
      return;
    }
}

/* ---- kernels ---- */

static Span memory_span_of_block(const Block *block) { return (Span){SPACE_DEVICE, block->offset, block->offset + block->bytes}; }

/* Of what is away, and written part by part. */
static bool memory_is_written(const Memory *m, const Block *block) {
  return block->away > 0 && (m->layout->residents->away[block->away - 1].is_learned || resident_is_once(m->layout->residents, block->away - 1));
}

/* Where the first `bytes` of the parts of a value that is not cut end. Parts of ranks have the most that one rank has there, and together more than the whole: they lie in it by their shares. */
static int64_t memory_part_at(const Parts *parts, const Block *block, ValueId value, int64_t bytes) {
  const int64_t all = parts_bytes_before(parts, value, parts->count + 1);
  if (all > block->bytes) bytes = (int64_t)((Wide)bytes * block->bytes / all);
  return block->offset + (bytes < block->bytes ? bytes : block->bytes);
}

/* Of a value that is not cut, a part has its rows. */
static bool memory_of_piece(Memory *m, const Step *step, ValueId value, int piece, int s, Span *span) {
  const Block *block = layout_at(m->layout, step->kernels, value, piece, s);
  if (!block) memory_fault(m, s, "there is no memory for", step->kernels->graph->values[value].name);
  else *span = memory_span_of_block(block);
  const Graph *graph = step->kernels->graph;
  const Domain rows = graph->values[value].shape.domain;
  bool has_rows = rows == DOMAIN_NODE || (rows == DOMAIN_EDGE && graph_walk_end(&graph->values[step->kernels->kernels[step->kernel].anchor]) == END_DST);
  if (block && step->part && block->part == 0 && (block->value != NO_VALUE || memory_is_written(m, block)) && has_rows) {
    const int part = piece ? piece : step->part;
    span->from = memory_part_at(step->parts, block, value, parts_bytes_before(step->parts, value, part));
    span->to = memory_part_at(step->parts, block, value, parts_bytes_before(step->parts, value, part) + parts_bytes(step->parts, value, part));
  }
  return block != NULL;
}

/* The first part finds nothing there, every other one what the one before it has left. */
static void memory_add_to_sums(Memory *m, const Step *step, int s) {
  const Block *block = layout_of_sums(m->layout, m->schedule, s);
  if (!block) return;
  int64_t tag = TAG_SUMS + step->kernel + memory_tag_of_pass(step->kernels);
  Span span = memory_span_of_block(block);
  if (!memory_compute_access(m, span, true, s)) return;
  if (step->part > 1) memory_expect(m, span, tag + (step->part - 1) * TAG_PART, s, block->name);
  memory_write(m, span, tag + step->part * TAG_PART);
}

static const Kernel *memory_kernel_of(const Step *step) { return &step->kernels->kernels[step->kernel]; }

static int memory_first_piece(const Step *step, ValueId value) { return step->parts ? parts_piece_read(step->parts, memory_kernel_of(step), value, step->part, 0) : 0; }

static bool memory_of_value(Memory *m, const Step *step, ValueId value, int s, Span *span) { return memory_of_piece(m, step, value, memory_first_piece(step, value), s, span); }

/* In the order that keeps everything, data that stay away are on the device as a whole. */
static bool memory_is_kept(const Memory *m, const Step *step, ValueId id, int s) {
  const Block *block = layout_at(m->layout, step->kernels, id, memory_first_piece(step, id), s);
  return block && block->away > 0;
}

static void memory_read(Memory *m, const Step *step, ValueId id, int piece, Span span, int s) {
  if (memory_compute_access(m, span, false, s))
    memory_expect(m, span, memory_tag(m, step->kernels, id, memory_is_kept(m, step, id, s) ? 0 : piece), s, step->kernels->graph->values[id].name);
}

/* The input in whose place an output lies, if it may lie there and does; its numbers are read before theirs are written. */
static ValueId memory_place_taken(Memory *m, const Step *step, int output, int s) {
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  Span made, under;
  if (kernel->over[output] == NO_VALUE || !memory_of_value(m, step, kernel->outputs[output], s, &made) || !memory_of_value(m, step, kernel->over[output], s, &under)) return NO_VALUE;
  return made.from == under.from && made.to == under.to ? kernel->over[output] : NO_VALUE;
}

/* Weights and states that an update writes in place, where it does so by rows of nodes. */
static void memory_update(Memory *m, const Step *step, int s) {
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  Span span;
  for (int k = 0; k < kernel->input_count; k++) {
    const ValueId id = kernel->inputs[k];
    const Op op = step->kernels->graph->values[id].op;
    const int away = kernel->kind == KERNEL_UPDATE && (op == OP_PARAM || op == OP_STATE) ? resident_away(m->layout->residents, step->kernels->graph, id) : NO_INDEX;
    if (away == NO_INDEX || !memory_of_value(m, step, id, s, &span) || !memory_compute_access(m, span, true, s)) continue;
    memory_write(m, span, memory_tag(m, step->kernels, id, memory_is_kept(m, step, id, s) ? 0 : memory_first_piece(step, id)) + TAG_CHANGE);
  }
}

static void memory_kernel(Memory *m, int s) {
  const Step *step = &m->schedule->steps[s];
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  const Graph *graph = step->kernels->graph;
  Span span;
  for (int i = m->layout->resident_count; i < m->layout->count; i++) {
    const Block *block = &m->layout->blocks[i];
    bool is_work = block->kind == BLOCK_SCRATCH && block->value == NO_VALUE && !block->is_sums && block->first == s;
    if (!is_work) continue;
    span = memory_span_of_block(block);
    if (memory_compute_access(m, span, true, s)) memory_write(m, span, 0);
  }
  memory_add_to_sums(m, step, s);
  for (int k = 0; k < kernel->output_count; k++) {
    ValueId taken = memory_place_taken(m, step, k, s);
    if (taken != NO_VALUE && memory_of_value(m, step, taken, s, &span)) memory_read(m, step, taken, memory_first_piece(step, taken), span, s);
  }
  for (int k = 0; k < kernel->output_count; k++) {
    if (!parts_stores(step->parts, kernel->outputs[k], step->part)) continue;
    for (int n = 0, piece; (piece = parts_piece_written(step->parts, kernel->outputs[k], step->part, n)) != NO_INDEX; n++) {
      if (!memory_of_piece(m, step, kernel->outputs[k], piece, s, &span)) return;
      if (memory_compute_access(m, span, true, s)) memory_write(m, span, memory_tag(m, step->kernels, kernel->outputs[k], memory_is_kept(m, step, kernel->outputs[k], s) ? 0 : piece));
    }
  }
  for (int k = 0; k < kernel->input_count; k++) { /* they must have survived what the kernel writes */
    ValueId id = step->kernels->storage[kernel->inputs[k]];
    bool is_stored = op_info[graph->values[id].op].kind != OP_KIND_LEAF || resident_of_value(m->layout->residents, graph, id) || resident_away(m->layout->residents, graph, id) >= 0;
    for (int o = 0; o < kernel->output_count; o++) is_stored = is_stored && (kernel->over[o] != id || memory_place_taken(m, step, o, s) != id);
    if (!is_stored) continue;
    for (int n = 0, piece; (piece = parts_piece_read(step->parts, kernel, id, step->part, n)) != NO_INDEX; n++) {
      if (!memory_of_piece(m, step, id, piece, s, &span)) return;
      memory_read(m, step, id, piece, span, s);
    }
  }
  memory_update(m, step, s);
}

/* ---- copies ---- */

enum { MOST_SPANS = 4096 }; /* extents of one value */

static int memory_spans_of_slot(const Memory *m, int slot, int64_t bytes, Span *spans) {
  int space = m->schedule->slots[slot].tier == TIER_HOST ? SPACE_HOST : SPACE_SSD, count = 0;
  for (int e = m->layout->slot_extent[slot]; e < m->layout->slot_extent[slot + 1] && bytes > 0 && count < MOST_SPANS; e++) {
    const Extent *extent = &m->layout->extents[e];
    int64_t part = extent->bytes < bytes ? extent->bytes : bytes;
    spans[count++] = (Span){space, extent->at, extent->at + part};
    bytes -= part;
  }
  return bytes > 0 ? -1 : count;
}

static int memory_spans_of_ring(const Memory *m, int space, int64_t at, int64_t bytes, Span *spans) {
  int64_t end = m->layout->ring_bytes, first = bytes < end - at ? bytes : end - at;
  spans[0] = (Span){space, at, at + first};
  if (first == bytes) return 1;
  spans[1] = (Span){space, 0, bytes - first};
  return 2;
}

/* The two sides of a copy; -1 where one has no place. */
static int memory_spans_of_side(Memory *m, int copy, bool is_device_side, Span *spans) {
  const Copy *c = &m->schedule->copies[copy];
  bool is_ssd_lane = c->lane == LANE_SSD_WRITE || c->lane == LANE_SSD_READ;
  if (copy_is_exchange(c)) {
    const Block *block = is_device_side ? layout_of_copy(m->layout, m->schedule, c) : layout_of_sending(m->layout, m->schedule, c);
    if (block) spans[0] = memory_span_of_block(block);
    return block ? 1 : -1;
  }
  int ring = c->is_out ? SPACE_WRITE_RING : SPACE_READ_RING;
  if (is_device_side && is_ssd_lane && c->is_by_ring) return memory_spans_of_ring(m, ring, m->layout->ring_at[copy], c->bytes, spans);
  if (is_device_side) {
    const Block *block = layout_of_copy(m->layout, m->schedule, c);
    if (!block) return -1;
    spans[0] = (Span){SPACE_DEVICE, block->offset, block->offset + c->bytes};
    return c->bytes <= block->bytes ? 1 : -1;
  }
  if (c->is_by_ring && !is_ssd_lane) return memory_spans_of_ring(m, ring, m->layout->ring_at[copy], c->bytes, spans);
  return memory_spans_of_slot(m, c->slot, c->bytes, spans);
}

static void memory_later(int *clock, const int *other) {
  for (int l = 0; l < LANE_COUNT; l++)
    if (other[l] > clock[l]) clock[l] = other[l];
}

static int memory_space_of(Tier tier) { return tier == TIER_HOST ? SPACE_HOST : SPACE_SSD; }

/* Data that stay on the host lie there as a whole, the rows of a part where that begins; what is at home on the SSD by parts, wherever these lie. */
static int64_t memory_home_tag(Memory *m, const Copy *c, const Slot *slot, int s) {
  const Parts *parts = m->schedule->steps[c->step].parts;
  const int away = resident_away(m->layout->residents, c->kernels->graph, c->value);
  const bool is_there = away != NO_INDEX && slot->away == away && slot->tier == parts_home(parts, m->layout->residents, away, c->part) && slot->part == c->part && slot->bytes == parts_bytes(parts, c->value, c->part);
  if (!is_there) memory_fault(m, s, "its home does not have there", c->kernels->graph->values[c->value].name);
  return TAG_AWAY + away + (m->layout->residents->away[away].tier == TIER_SSD ? c->part * TAG_PART : 0) + memory_changes(m, c->kernels, away);
}

/* Where the k-th part of what is away lies, from 1; all of it lies in one place on the host, and on the SSD where there is one part. */
static Span memory_span_of_home(const Memory *m, int away, int part) {
  const Parts *parts = m->schedule->evaluation_plan->problem->parts;
  const Away *of = &m->layout->residents->away[away];
  const int64_t at = parts_away_at(parts, m->layout->residents, away, part);
  return (Span){memory_space_of(parts_home(parts, m->layout->residents, away, part)), at, at + parts_bytes_of_away(parts, of, part)};
}

static int memory_parts_of_home(const Memory *m, int away) {
  const Away *of = &m->layout->residents->away[away];
  return of->tier == TIER_SSD ? parts_of_away(m->schedule->evaluation_plan->problem->parts, of) : 1;
}

static void memory_copy(Memory *m, int s) {
  int copy = m->schedule->steps[s].copy;
  const Copy *c = &m->schedule->copies[copy];
  int *clock = m->copy_clock[copy];
  memory_later(clock, m->clock);
  memory_later(clock, m->lane_clock[c->lane]);
  for (int i = 0; i < 2; i++)
    if (c->after[i] != NO_INDEX) memory_later(clock, m->copy_clock[c->after[i]]);
  int index = ++m->lane_index[c->lane];
  Span *const *spans = m->spans;
  int counts[2];
  for (int side = 0; side < 2; side++) {
    counts[side] = memory_spans_of_side(m, copy, (side == 0) == c->is_out, spans[side]);
    if (counts[side] < 0) memory_fault(m, s, "there is no place for", c->kernels->graph->values[c->value].name);
    for (int i = 0; i < counts[side]; i++) memory_access(m, spans[side][i], side == 1, c->lane, index, s, clock);
  }
  clock[c->lane] = index;
  memory_later(m->lane_clock[c->lane], clock);
  const bool is_second_hop = c->is_by_ring && (c->lane == LANE_SSD_WRITE || c->lane == LANE_H2D) && c->after[0] != NO_INDEX;
  if (is_second_hop && m->layout->ring_at[copy] != m->layout->ring_at[c->after[0]]) memory_fault(m, s, "it begins elsewhere in the ring:", c->kernels->graph->values[c->value].name); /* where one fills the ring, its bytes alone do not show that */
  if (m->fault) return;
  if (copy_is_exchange(c)) { /* what was packed is there still, and so are the rank's own rows */
    const char *name = c->kernels->graph->values[c->value].name;
    const Value *value = &c->kernels->graph->values[c->value];
    memory_expect(m, spans[0][0], value->op == OP_BACK ? memory_tag(m, c->kernels, value->operand[0], 0) : 0, s, name);
    memory_expect(m, spans[1][0], memory_tag(m, c->kernels, c->value, c->part), s, name);
    return;
  }
  const Slot *slot = &m->schedule->slots[c->slot];
  const bool is_changed = slot->is_home && c->is_out && m->is_changed[slot->away];
  const int64_t tag = memory_tag(m, c->kernels, c->value, c->part) + is_changed * TAG_CHANGE;
  const int64_t read = slot->is_home && !c->is_out ? memory_home_tag(m, c, slot, s) : tag;
  if (!slot->is_home && memory_tag(m, slot->kernels, slot->value, slot->part) != tag) memory_fault(m, s, "another's slot is for", c->kernels->graph->values[c->value].name);
  const bool is_of_file = slot->tier == TIER_SSD && (c->lane == LANE_SSD_READ || !c->is_by_ring); /* not of the ring */
  const bool is_all_of_parts = slot->is_home && is_of_file && !c->is_out && c->part == 0 && counts[0] > 1;
  for (int i = 0; i < counts[0]; i++) memory_expect(m, spans[0][i], read + (is_all_of_parts ? (i + 1) * TAG_PART : 0), s, c->kernels->graph->values[c->value].name);
  const bool is_coming_home = slot->is_home && c->is_out && (is_changed || resident_is_once(m->layout->residents, slot->away)) && spans[1][0].space == memory_space_of(slot->tier);
  const int64_t written = is_coming_home ? memory_home_tag(m, c, slot, s) + is_changed * TAG_CHANGE : tag;
  for (int i = 0; i < counts[1]; i++) memory_write(m, spans[1][i], written + (is_coming_home && c->part == 0 && counts[1] > 1 ? (i + 1) * TAG_PART : 0));
}

/* ---- the places ---- */

static void memory_add_point(Memory *m, int space, int64_t at) { ARENA_PUSH(m->arena, m->points[space], m->point_count[space], at); }

static void memory_add_span(Memory *m, Span span) {
  memory_add_point(m, span.space, span.from);
  memory_add_point(m, span.space, span.to);
}

static int compare_points(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* A value that is not cut is written part by part. */
static void memory_add_parts(Memory *m, const Plan *plan) {
  for (int i = m->layout->resident_count; plan && i < m->layout->count; i++) {
    const Block *block = &m->layout->blocks[i];
    const Parts *parts = plan->problem->parts;
    bool has_rows = block->kernels == parts->kernels && block->value != NO_VALUE && block->part == 0;
    if (has_rows) has_rows = parts->kernels->graph->values[block->value].shape.domain == DOMAIN_NODE || parts->kernels->graph->values[block->value].shape.domain == DOMAIN_EDGE;
    for (int p = 1; has_rows && p < parts->count; p++)
      memory_add_point(m, SPACE_DEVICE, memory_part_at(parts, block, block->value, parts_bytes_before(parts, block->value, p + 1)));
  }
}

/* In the order that keeps everything these are written part by part. */
static void memory_add_parts_of_away(Memory *m) {
  const Parts *parts = m->schedule->evaluation_plan->problem->parts;
  for (int i = m->layout->resident_count; i < m->layout->count; i++) {
    const Block *block = &m->layout->blocks[i];
    int64_t at = block->offset;
    for (int p = 1; memory_is_written(m, block) && p < parts->count; p++) memory_add_point(m, SPACE_DEVICE, at += parts_bytes_of_away(parts, &m->layout->residents->away[block->away - 1], p));
  }
}

/* What updates write of what is away. */
static void memory_find_changed(Memory *m) {
  const Residents *residents = m->layout->residents;
  const Kernels *training = m->schedule->training_plan ? m->schedule->training_plan->problem->kernels : NULL;
  m->is_changed = arena_alloc(m->arena, (size_t)residents->away_count + 1);
  for (int p = 0; training && p < training->graph->program->param_count; p++) {
    if (training->graph->gradients[p] == NO_VALUE || residents->weight_away[p] == NO_INDEX) continue;
    m->is_changed[residents->weight_away[p]] = true;
    for (int s = 0; s < MAX_STATES; s++)
      if (residents->state_away[s][p] != NO_INDEX) m->is_changed[residents->state_away[s][p]] = true;
  }
}

static void memory_find_points(Memory *m) {
  memory_add_parts_of_away(m);
  memory_add_parts(m, m->schedule->training_plan);
  memory_add_parts(m, m->schedule->evaluation_plan);
  memory_add_parts(m, m->schedule->once_plan);
  for (int i = 0; i < m->layout->count; i++) memory_add_span(m, memory_span_of_block(&m->layout->blocks[i]));
  for (int i = 0; i < m->layout->residents->away_count; i++)
    for (int count = memory_parts_of_home(m, i), part = count > 1; part <= (count > 1 ? count : 0); part++) memory_add_span(m, memory_span_of_home(m, i, part));
  Span *spans = m->spans[0];
  for (int copy = 0; copy < m->schedule->copy_count; copy++)
    for (int side = 0; side < 2; side++)
      for (int i = memory_spans_of_side(m, copy, side == 0, spans); i > 0; i--) memory_add_span(m, spans[i - 1]);
  for (int space = 0; space < SPACE_COUNT; space++) {
    memory_add_point(m, space, INT64_MAX);
    qsort(m->points[space], (size_t)m->point_count[space], sizeof(int64_t), compare_points);
    m->spots[space] = arena_alloc(m->arena, (size_t)m->point_count[space] * sizeof *m->spots[space]);
  }
}

/* ---- the whole ---- */

/* The metrics do before the next epoch begins, on the device or where the copies have left the parts. */
static void memory_read_scores(Memory *m, int s) {
  const PlanningProblem *problem = m->schedule->evaluation_plan->problem;
  const Step reader = {.kernels = problem->kernels};
  const ValueId scores = problem->kernels->graph->scores;
  const int away = resident_away(m->layout->residents, problem->kernels->graph, scores), last = problem->parts->is_cut[scores] ? problem->parts->count : 0;
  Span span;
  if (away == NO_INDEX || memory_is_kept(m, &reader, scores, s)) {
    if (memory_of_value(m, &reader, scores, s, &span) && memory_access(m, span, false, LANE_COMPUTE, m->clock[LANE_COMPUTE], s, m->clock)) memory_expect(m, span, memory_tag(m, problem->kernels, scores, 0), s, "scores");
    return;
  }
  const int count = last > 0 ? last : memory_parts_of_home(m, away);
  for (int part = count > 1; part <= (count > 1 ? count : 0); part++) {
    span = memory_span_of_home(m, away, part);
    if (memory_access(m, span, false, LANE_COMPUTE, m->clock[LANE_COMPUTE], s, m->clock)) memory_expect(m, span, memory_tag(m, problem->kernels, scores, last > 0 ? part : 0), s, "scores");
  }
}

/* At the end of an epoch what it has changed is at home: a checkpoint reads it there. */
static void memory_read_homes(Memory *m, int s) {
  for (int i = 0; i < m->layout->residents->away_count && m->schedule->slot_count; i++)
    for (int count = memory_parts_of_home(m, i), part = count > 1; m->is_changed[i] && part <= (count > 1 ? count : 0); part++) {
      const Span span = memory_span_of_home(m, i, part);
      if (memory_access(m, span, false, LANE_COMPUTE, m->clock[LANE_COMPUTE], s, m->clock))
        memory_expect(m, span, TAG_AWAY + i + part * TAG_PART + (m->round + 1) * TAG_CHANGE, s, m->layout->residents->away[i].name);
    }
}

/* When the backward pass ends, each piece of a gradient is on the device, or where it waits for the update: the program can write it from there. */
static void memory_read_gradient(Memory *m, ValueId gradient, int piece, int s) {
  const PlanningProblem *problem = m->schedule->training_plan->problem;
  const char *name = problem->kernels->graph->values[gradient].name;
  const Block *block = layout_at(m->layout, problem->kernels, gradient, piece, s - 1);
  const int slot = block ? NO_INDEX : schedule_slot_at(m->schedule, problem->kernels, gradient, piece, s);
  int count = block ? 1 : slot == NO_INDEX ? -1 : memory_spans_of_slot(m, slot, parts_bytes(problem->parts, gradient, piece), m->spans[0]);
  if (block) m->spans[0][0] = memory_span_of_block(block);
  if (count < 0) memory_fault(m, s, "there is no gradient", name);
  for (int i = 0; i < count; i++) memory_expect(m, m->spans[0][i], memory_tag(m, problem->kernels, gradient, piece), s, name);
}

static void memory_read_gradients(Memory *m, int s) {
  const PlanningProblem *problem = m->schedule->training_plan->problem;
  const Graph *graph = problem->kernels->graph;
  for (int p = 0; p < graph->program->param_count; p++) {
    const ValueId gradient = graph->gradients[p];
    const int count = gradient == NO_VALUE || !graph->program->params[p].is_trained ? 0 : parts_piece_count(problem->parts, gradient);
    for (int k = 0; k < count; k++) memory_read_gradient(m, gradient, count > 1 ? k + 1 : 0, s);
  }
}

static void memory_step(Memory *m, int s) {
  const Step *step = &m->schedule->steps[s];
  if (step->kind == STEP_KERNEL) memory_kernel(m, s);
  else if (step->kind == STEP_COPY) memory_copy(m, s);
  else memory_later(m->clock, m->copy_clock[step->copy]);
}

static bool memory_is_result(const Memory *m, int away) { return away == m->layout->residents->scores_away || resident_is_once(m->layout->residents, away); }

const char *verify_memory(Arena *arena, const Schedule *schedule, const Layout *layout) {
  Memory m = {.arena = arena, .schedule = schedule, .layout = layout};
  const int64_t bytes[SPACE_COUNT] = {layout->bytes, layout->host_bytes, layout->ssd_bytes, layout->ring_bytes, layout->ring_bytes};
  for (int space = 0; space < SPACE_COUNT; space++) m.bytes[space] = bytes[space];
  for (int side = 0; side < 2; side++) m.spans[side] = arena_alloc(arena, MOST_SPANS * sizeof *m.spans[side]);
  memory_find_changed(&m);
  memory_find_points(&m);
  m.lane_clock = arena_alloc(arena, LANE_COUNT * sizeof *m.lane_clock);
  m.copy_clock = arena_alloc(arena, (size_t)(schedule->copy_count + 1) * sizeof *m.copy_clock);
  for (int i = 0; i < layout->resident_count; i++)
    if (!layout->residents->blocks[i].is_made_before) memory_write(&m, memory_span_of_block(&layout->blocks[i]), TAG_RESIDENT + i);
  for (int i = layout->resident_count; i < layout->count; i++)
    if (layout->blocks[i].away > 0 && !memory_is_result(&m, layout->blocks[i].away - 1)) memory_write(&m, memory_span_of_block(&layout->blocks[i]), TAG_AWAY + layout->blocks[i].away - 1);
  for (int i = 0; i < layout->residents->away_count && schedule->slot_count; i++)
    for (int count = memory_parts_of_home(&m, i), part = count > 1; !memory_is_result(&m, i) && part <= (count > 1 ? count : 0); part++)
      memory_write(&m, memory_span_of_home(&m, i, part), TAG_AWAY + i + part * TAG_PART);
  for (int s = schedule->count; s < schedule_step_count(schedule) && !m.fault; s++) {
    memory_step(&m, s);
    m.clock[LANE_COMPUTE]++;
  }
  for (m.round = 0; m.round < 2; m.round++)
    for (int s = 0; s < schedule->count && !m.fault; s++) {
      if (schedule->steps[s].kind == STEP_KERNEL && schedule->steps[s].kernel == NO_INDEX) memory_fault(&m, s, "no", "kernel");
      if (s > 0 && s == schedule->backward_end && s < schedule->training_count) memory_read_gradients(&m, s);
      memory_step(&m, s);
      m.clock[LANE_COMPUTE]++;
      if (!m.fault && s + 1 == schedule->training_count) memory_read_homes(&m, s);
      if (m.fault || s + 1 < schedule->count) continue;
      memory_read_scores(&m, s);
    }
  for (int i = 0; i < layout->resident_count; i++)
    if (layout->blocks[i].first < schedule->count) memory_expect(&m, memory_span_of_block(&layout->blocks[i]), TAG_RESIDENT + i, schedule->count - 1, layout->blocks[i].name);
  return m.fault;
}
