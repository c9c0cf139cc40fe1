/* layout: Schedule -> Layout, a place for every byte of every tier.
 *
 * Device: what stays through the run (graph, features, weights, optimiser state) lies at the bottom; above it live
 * ranges are packed as the planner packs its own (planner/pack.h), as low as a short search brings them; where that is above the
 * budget they lie where the planner has put them, or where a long search does. The bound from below is the largest number of bytes alive at one step: no layout can be
 * lower (dynamic storage allocation, Garey & Johnson SR2).
 *
 * Host and SSD: only copies read and write there, so a value may lie in pieces, and nothing is ever wasted between them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "compiler/planner/pack.h"
#include "runtime/core/scratch.h"

typedef struct Laying {
  Arena *arena;
  Layout *layout;
  const Schedule *schedule;
  NameTable names; /* of the blocks */
  NameTable again; /* of those that were away, to their last numbers */
  int *last, again_count;
  int *taker;      /* per block: the one that takes its place, or NO_INDEX */
  int64_t *planned; /* per block: where the planner has put it above what stays, or -1 */
  bool is_low;     /* as low as it can be found, not just within the budget */
} Laying;

/* ---- the blocks of the device ---- */

static int first_step_of(const Schedule *schedule, int boundary) {
  if (boundary == 0) return 0;
  if (boundary == schedule->once_boundary) return schedule->count; /* nothing comes before */
  return schedule->kernel_step[boundary - 1] + 1;
}

static const char *name_again(Laying *l, const char *base) {
  int at = name_table_find(&l->again, base);
  if (at < 0) {
    at = l->again_count;
    name_table_add(l->arena, &l->again, base, at);
    ARENA_PUSH(l->arena, l->last, l->again_count, 1);
  }
  return block_next_name(l->arena, &l->names, base, &l->last[at]);
}

static void add_block(Laying *l, Block block) {
  Layout *y = l->layout;
  /* A value that was away has its name once more. */
  if (name_table_find(&l->names, block.name) >= 0) block.name = name_again(l, arena_printf(l->arena, "%s_again", block.name));
  else block.name = block_unique_name(l->arena, &l->names, block.name);
  block.until = block.last;
  name_table_add(l->arena, &l->names, block.name, y->count);
  int count = y->count;
  ARENA_PUSH(l->arena, l->taker, count, NO_INDEX);
  count = y->count;
  ARENA_PUSH(l->arena, l->planned, count, -1);
  ARENA_PUSH(l->arena, y->blocks, y->count, block);
}

/* Of the latest block. */
static void note_planned(Laying *l, int64_t offset, int64_t residents) { l->planned[l->layout->count - 1] = offset < 0 ? -1 : offset - residents; }

static const char *block_name(const Laying *l, const Plan *plan, ValueId value, int part) {
  const char *name = plan->problem->name_of_value[value];
  return part ? arena_printf(l->arena, "%s_part_%d", name, part) : name;
}

/* S17: from production or return to the last use, or to the step before the one that needs the place of what leaves. The index of
 * its block; NO_INDEX: it has none. */
static int add_stay(Laying *l, const Plan *plan, const PlanStay *stay, int first_boundary, int64_t residents) {
  const Sequence *q = plan->sequence;
  const Schedule *s = l->schedule;
  const Kernels *kernels = plan->problem->kernels;
  int datum = q->problem->pieces[stay->piece].datum, part = problem_part_of_piece(plan->problem, stay->piece);
  ValueId value = plan->problem->value_of_datum[datum];
  int32_t sums_of = plan->problem->sums_of_datum[datum];
  if (value == NO_VALUE && sums_of == NO_INDEX) return NO_INDEX;
  int from = stay->in_move >= 0 ? q->moves[stay->in_move].g : stay->from, until = stay->until;
  for (int i = 0; i < q->offload_count; i++)
    if (stay->is_final ? q->offloads[i].move < 0 && q->offloads[i].piece == stay->piece : stay->out_move >= 0 && q->offloads[i].move == stay->out_move) until = plan->simulation->release[i] - 1;
  Block block = {.kernels = kernels, .value = value, .part = part, .first = first_step_of(s, first_boundary + from), .last = s->kernel_step[first_boundary + until]};
  if (value == NO_VALUE) {
    block.kind = BLOCK_SCRATCH;
    block.is_sums = true;
    block.name = q->problem->data[datum].id;
    block.bytes = parts_sums_bytes(plan->problem->parts, &kernels->kernels[sums_of]);
    block.first = s->kernel_step[first_boundary + from]; /* the step of the first part says whose they are */
  } else {
    const Op op = kernels->graph->values[value].op;
    block.kind = op == OP_INPUT || op == OP_ENTRIES || op == OP_ENTRY_OFFSETS || op == OP_HOISTED ? BLOCK_FEATURES : op == OP_NEIGHBOURS || op == OP_OFFSETS || op == OP_HALO_ROWS || op == OP_OUT_EDGES || op == OP_EDGE_CODES || op == OP_NODE_IDS || op == OP_EDGE_IDS || op == OP_SPLIT_ROWS || op == OP_DEGREE ? BLOCK_GRAPH : op == OP_PARAM ? BLOCK_WEIGHTS : op == OP_STATE ? BLOCK_OPTIMIZER : kernels->graph->values[value].phase == PHASE_FORWARD ? BLOCK_ACTIVATION : BLOCK_GRADIENT;
    block.name = block_name(l, plan, value, part);
    block.bytes = parts_bytes(plan->problem->parts, value, part);
    block.padding = kernels_padding(kernels, value);
  }
  if (block.bytes <= 0) block.bytes = 4;
  block.room = q->problem->pieces[stay->piece].bytes;
  add_block(l, block);
  note_planned(l, plan->planned ? plan_offset(plan->planned, stay->piece, from) : -1, residents);
  return l->layout->count - 1;
}

static bool is_output_kept(const Sequence *q, int t, int piece) {
  const PlanRerun *rerun = &q->reruns[q->rerun[t]];
  for (int i = 0; i < rerun->out_count; i++)
    if (q->outs[rerun->out_first + i] == piece) return true;
  return false;
}

/* The workspace of a kernel and, where it runs again, the outputs that nobody reads this time. */
static void add_scratch(Laying *l, const Plan *plan, int t, int first_boundary, int64_t residents) {
  const Sequence *q = plan->sequence;
  const Schedule *s = l->schedule;
  int step = s->kernel_step[first_boundary + t];
  if (step < 0 || s->steps[step].kind != STEP_KERNEL || s->steps[step].boundary != first_boundary + t) return;
  const Kernels *kernels = plan->problem->kernels;
  const Kernel *kernel = &kernels->kernels[s->steps[step].kernel];
  int64_t work_bytes = parts_work_bytes(plan->problem->parts, kernel, s->steps[step].part), offset = plan->planned ? plan_offset(plan->planned, -1, t) : -1;
  Block block = {.kind = BLOCK_SCRATCH, .first = step, .last = step, .kernels = kernels, .value = NO_VALUE, .part = s->steps[step].part};
  if (work_bytes) {
    if (q->join[t] > t) block.last = s->kernel_step[first_boundary + q->join[t]]; /* what is on its way to other ranks */
    block.name = arena_printf(l->arena, "scratch_%d", step + 1);
    block.bytes = work_bytes;
    block.room = round_up(work_bytes, plan->problem->unit);
    add_block(l, block);
    note_planned(l, offset, residents);
    if (offset >= 0) offset += block.room;
  }
  const ProblemStep *base = &q->problem->steps[q->base[t]];
  block.last = step;
  for (int i = 0; i < base->use_count && q->rerun[t] >= 0; i++) {
    const ProblemUse *use = &q->problem->uses[base->first_use + i];
    if (!(use->flags & PROBLEM_USE_CREATE) || is_output_kept(q, t, use->piece)) continue;
    block.value = plan->problem->value_of_datum[q->problem->pieces[use->piece].datum];
    block.part = problem_part_of_piece(plan->problem, use->piece);
    block.name = block_name(l, plan, block.value, block.part);
    block.bytes = parts_bytes(plan->problem->parts, block.value, block.part);
    block.padding = kernels_padding(kernels, block.value);
    block.room = q->problem->pieces[use->piece].bytes;
    add_block(l, block);
    note_planned(l, offset, residents);
    if (offset >= 0) offset += block.room;
  }
}

/* S17: the piece that is made at the last step of a stay lies in its place from there on. */
static void take_place(Laying *l, const Sequence *q, int stay, const int *block_of_stay) {
  for (int i = 0; i < q->stay_count; i++) {
    const PlanStay *taker = &q->stays[i];
    if (taker->piece != q->stays[stay].taken_by || taker->from != q->stays[stay].until || taker->in_move >= 0) continue;
    l->taker[block_of_stay[stay]] = block_of_stay[i];
    l->layout->blocks[block_of_stay[stay]].until = l->layout->blocks[block_of_stay[i]].first - 1;
  }
}

static void add_transients(Laying *l, const Plan *plan, int first_boundary) {
  const Sequence *q = plan->sequence;
  const int64_t residents = plan_resident_bytes(q->problem);
  int *block_of_stay = arena_alloc(l->arena, (size_t)(q->stay_count + 1) * sizeof *block_of_stay);
  for (int i = 0; i < q->stay_count; i++) block_of_stay[i] = add_stay(l, plan, &q->stays[i], first_boundary, residents);
  for (int i = 0; i < q->stay_count; i++)
    if (q->stays[i].taken_by >= 0) take_place(l, q, i, block_of_stay);
  for (int t = 0; t < plan->sequence->count; t++) add_scratch(l, plan, t, first_boundary, residents);
}

/* ---- offsets ---- */

/* Where the planner has put them; -1 where it did not say of one, or that is not below `room`. */
static int64_t pack_as_planned(PackBox *boxes, const int64_t *planned, int count, int64_t room) {
  int64_t height = 0;
  for (int i = 0; i < count; i++) {
    if (planned[i] < 0 || planned[i] + boxes[i].bytes > room) return -1;
    if (planned[i] + boxes[i].bytes > height) height = planned[i] + boxes[i].bytes;
  }
  for (int i = 0; i < count; i++) boxes[i].offset = planned[i];
  return height;
}

/* As low as the load, or as `enough`, by a short search; where that is above `room` as planned, or by a long search. As planned at once where that is low enough. The height. */
static int64_t pack_low(PackBox *boxes, const int64_t *planned, int count, int64_t enough, int64_t room, bool is_low) {
  const int64_t at_once = is_low ? -1 : pack_as_planned(boxes, planned, count, room);
  if (at_once >= 0) return at_once;
  const int64_t effort = 40000000, load = pack_load(boxes, count), height = pack(boxes, count, load > enough ? load : enough, effort);
  const int64_t as_planned = height > room ? pack_as_planned(boxes, planned, count, room) : -1;
  if (height <= room || as_planned >= 0) return height <= room ? height : as_planned;
  return pack(boxes, count, room, effort);
}

/* Boxes begin in order: so many from `first` on end before a step. */
static int boxes_until(const PackBox *boxes, int first, int count, int step) {
  int end = first;
  while (end < count && boxes[end].from < step && boxes[end].until < step) end++;
  return end < count && boxes[end].from < step ? first : end; /* one stays beyond it */
}

/* Those of the epoch and those of the evaluation lie from `base` on, what runs before the first epoch from `early` on. */
static void place_transients(Laying *l, int64_t base, int64_t early, int64_t budget) {
  Layout *y = l->layout;
  Block *blocks = y->blocks + y->resident_count;
  int count = y->count - y->resident_count;
  PackBox *boxes = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *boxes);
  const int *taker = l->taker + y->resident_count;
  int *box_of = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *box_of), box_count = 0;
  int64_t *planned = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *planned);
  bool *takes = arena_alloc(l->arena, (size_t)count + 1);
  for (int i = 0; i < count; i++)
    if (taker[i] != NO_INDEX) takes[taker[i] - y->resident_count] = true;
  for (int i = 0; i < count; i++) { /* what takes the place of another lies in the same box */
    if (takes[i]) continue;
    boxes[box_count] = (PackBox){.from = blocks[i].first, .bytes = blocks[i].room};
    planned[box_count] = l->planned[y->resident_count + i];
    for (int k = i;; k = taker[k] - y->resident_count) {
      boxes[box_count].until = blocks[k].until;
      box_of[k] = box_count;
      if (taker[k] == NO_INDEX) break;
    }
    box_count++;
  }
  /* Boxes of the epoch never meet those of the evaluation, nor these those of before, but for what stays through all. */
  const int both = boxes_until(boxes, 0, box_count, l->schedule->count), of_epoch = boxes_until(boxes, 0, both, l->schedule->training_count);
  const int64_t epoch = pack_low(boxes, planned, of_epoch, 0, budget - base, l->is_low), evaluation = pack_low(boxes + of_epoch, planned + of_epoch, both - of_epoch, epoch, budget - base, l->is_low);
  const int64_t higher = base + (epoch > evaluation ? epoch : evaluation), before = early + pack_low(boxes + both, planned + both, box_count - both, higher > early ? higher - early : 0, budget - early, l->is_low);
  y->epoch_bytes = higher;
  y->bytes = higher > before ? higher : before;
  for (int i = 0; i < count; i++) blocks[i].offset = (box_of[i] < both ? base : early) + boxes[box_of[i]].offset;
}

static void measure(Laying *l) {
  Layout *y = l->layout;
  size_t count = (size_t)schedule_step_count(l->schedule) + 1;
  y->live_bytes = arena_alloc(l->arena, count * sizeof *y->live_bytes);
  y->top_bytes = arena_alloc(l->arena, count * sizeof *y->top_bytes);
  for (int i = 0; i < y->count; i++) {
    const Block *b = &y->blocks[i];
    for (int s = b->first; s <= b->until; s++) {
      y->live_bytes[s] += b->room;
      if (b->offset + b->room > y->top_bytes[s]) y->top_bytes[s] = b->offset + b->room;
    }
  }
  for (int s = 0; s < schedule_step_count(l->schedule); s++) {
    if (s >= l->schedule->count) {
      if (s == l->schedule->count || y->top_bytes[s] > y->top_bytes[y->once_peak_step]) y->once_peak_step = s;
      continue;
    }
    int64_t top = y->top_bytes[s], most = y->top_bytes[y->peak_step];
    if (y->live_bytes[s] > y->lower_bound) y->lower_bound = y->live_bytes[s];
    bool is_kernel = l->schedule->steps[s].kind == STEP_KERNEL && l->schedule->steps[y->peak_step].kind != STEP_KERNEL; /* its copies have as much before it */
    if (top > most || (top == most && y->live_bytes[s] + is_kernel > y->live_bytes[y->peak_step])) y->peak_step = s;
  }
}

/* ---- host and SSD ---- */

typedef struct FreeList {
  Extent *runs; /* by place, never adjacent */
  int count;
  int64_t top; /* nothing was ever given above */
} FreeList;

static void give_back(Arena *arena, FreeList *list, Extent extent) {
  int at = list->count;
  ARENA_PUSH(arena, list->runs, list->count, extent);
  for (; at > 0 && list->runs[at - 1].at > extent.at; at--) list->runs[at] = list->runs[at - 1];
  list->runs[at] = extent;
  int kept = 0;
  for (int i = 1; i < list->count; i++) {
    Extent *last = &list->runs[kept];
    if (last->at + last->bytes == list->runs[i].at) last->bytes += list->runs[i].bytes;
    else list->runs[++kept] = list->runs[i];
  }
  list->count = kept + 1;
}

static int64_t take(FreeList *list, int run, int64_t bytes, Extent *extent) {
  Extent *from = &list->runs[run];
  *extent = (Extent){.at = from->at, .bytes = bytes < from->bytes ? bytes : from->bytes};
  from->at += extent->bytes;
  from->bytes -= extent->bytes;
  if (from->bytes == 0) memmove(from, from + 1, (size_t)(--list->count - run) * sizeof *from);
  return extent->bytes;
}

/* The first bytes of a list of which all is free. */
static void take_bottom(FreeList *list, int64_t at, int64_t bytes) {
  const int64_t room = list->top - at;
  list->count = 0;
  if (room > bytes) list->runs[list->count++] = (Extent){.at = at + bytes, .bytes = room - bytes};
  else list->top = at + bytes;
}

/* One run if there is one that is large enough, else several, else new ground at the top. */
static void allocate_slot(Laying *l, FreeList *list, int64_t bytes) {
  Layout *y = l->layout;
  for (int i = 0; i < list->count; i++)
    if (list->runs[i].bytes >= bytes) {
      Extent extent;
      take(list, i, bytes, &extent);
      ARENA_PUSH(l->arena, y->extents, y->extent_count, extent);
      return;
    }
  while (bytes > 0 && list->count) {
    Extent extent;
    bytes -= take(list, 0, bytes, &extent);
    ARENA_PUSH(l->arena, y->extents, y->extent_count, extent);
  }
  if (bytes <= 0) return;
  ARENA_PUSH(l->arena, y->extents, y->extent_count, ((Extent){.at = list->top, .bytes = bytes}));
  list->top += bytes;
}

static int64_t slot_bytes(const Layout *y, const Slot *slot) {
  return round_up(slot->bytes, slot->tier == TIER_SSD ? SSD_BLOCK_BYTES : y->residents->alignment);
}

/* What is at home on the SSD lies at the bottom of its file, each part from a block on, but for parts that are cached. */
static int64_t place_homes(Laying *l, const Parts *parts) {
  Layout *y = l->layout;
  const Residents *residents = y->residents;
  y->away_extent = arena_alloc(l->arena, (size_t)(residents->away_count + 1) * sizeof *y->away_extent);
  for (int i = 0; i < residents->away_count; i++) {
    const Away *away = &residents->away[i];
    const int count = parts_of_away(parts, away);
    y->away_extent[i] = y->extent_count;
    for (int k = 0; k < count && away->tier == TIER_SSD; k++) {
      const int part = count > 1 ? k + 1 : 0;
      ARENA_PUSH(l->arena, y->extents, y->extent_count, ((Extent){parts_away_at(parts, residents, i, part), parts_bytes_of_away(parts, away, part), parts_home(parts, residents, i, part) == TIER_HOST}));
    }
  }
  y->away_extent[residents->away_count] = y->extent_count;
  return parts_away_ssd_bytes(parts, residents);
}

/* Of a part, or of all, which on the SSD are several. */
static void place_home(Laying *l, const Slot *slot, const Parts *parts) {
  Layout *y = l->layout;
  const int first = y->away_extent[slot->away], count = y->away_extent[slot->away + 1] - first;
  if (slot->tier == TIER_HOST) {
    ARENA_PUSH(l->arena, y->extents, y->extent_count, ((Extent){.at = parts_away_at(parts, y->residents, slot->away, slot->part), .bytes = slot->bytes}));
    return;
  }
  for (int e = 0; e < count; e++) {
    Extent extent = y->extents[first + e];
    if (slot->part == 0 && e + 1 < count) extent.bytes -= parts_shared_bytes(&y->residents->away[slot->away]);
    if (slot->part == 0 || e == slot->part - 1) ARENA_PUSH(l->arena, y->extents, y->extent_count, extent);
  }
}

static bool is_in_evaluation(const Schedule *s, int boundary) { return boundary >= s->training_boundaries && boundary < s->once_boundary; }

/* Scores that end on the host lie there, below all slots, in an evaluation alone: an epoch has their room. */
static void place_slots(Laying *l) {
  Layout *y = l->layout;
  const Schedule *s = l->schedule;
  const Parts *parts = s->evaluation_plan->problem->parts;
  const int64_t at_home = place_homes(l, parts), on_host = parts_away_host_bytes(parts, y->residents), scores = y->residents->scores_host_bytes;
  FreeList lists[2] = {{.top = on_host}, {.top = at_home}};
  y->slot_extent = arena_alloc(l->arena, (size_t)(s->slot_count + 1) * sizeof *y->slot_extent);
  y->host_live = arena_alloc(l->arena, (size_t)(s->boundary_count + 1) * sizeof *y->host_live);
  y->ssd_live = arena_alloc(l->arena, (size_t)(s->boundary_count + 1) * sizeof *y->ssd_live);
  for (int b = 0; b <= s->boundary_count; b++) y->host_live[b] = on_host + (is_in_evaluation(s, b) ? scores : 0), y->ssd_live[b] = at_home;
  bool *is_free = arena_alloc(l->arena, (size_t)s->slot_count + 1), has_scores = false;
  for (int h = 0; h < s->slot_count; h++) { /* slots begin in order, but for homes */
    const Slot *slot = &s->slots[h];
    y->slot_extent[h] = y->extent_count;
    if (slot->is_home) place_home(l, slot, parts);
    y->slot_extent[h + 1] = y->extent_count;
    if (slot->is_home) continue;
    for (int k = 0; k < h; k++) {
      if (is_free[k] || s->slots[k].is_home || s->slots[k].last >= slot->first) continue;
      is_free[k] = true;
      for (int e = y->slot_extent[k]; e < y->slot_extent[k + 1]; e++) give_back(l->arena, &lists[s->slots[k].tier == TIER_SSD], y->extents[e]);
    }
    if (scores && !has_scores && is_in_evaluation(s, slot->first)) has_scores = true, take_bottom(&lists[0], on_host, scores);
    if (has_scores && slot->first >= s->once_boundary) has_scores = false, give_back(l->arena, &lists[0], (Extent){.at = on_host, .bytes = scores});
    allocate_slot(l, &lists[slot->tier == TIER_SSD], slot_bytes(y, slot));
    y->slot_extent[h + 1] = y->extent_count;
    for (int b = slot->first; b <= slot->last; b++) (slot->tier == TIER_SSD ? y->ssd_live : y->host_live)[b] += slot_bytes(y, slot);
  }
  y->host_bytes = lists[0].top > on_host + scores ? lists[0].top : on_host + scores;
  y->ssd_bytes = lists[1].top;
}

static int64_t largest_ring(const Schedule *s) {
  int64_t training = s->training_plan ? s->training_plan->problem->problem->ring_bytes : 0;
  int64_t evaluation = s->evaluation_plan->problem->problem->ring_bytes, once = s->once_plan ? s->once_plan->problem->problem->ring_bytes : 0;
  const int64_t most = training > evaluation ? training : evaluation;
  return once > most ? once : most;
}

/* The rings are queues: each entry follows the one before it, around the end. */
static void place_in_rings(Laying *l) {
  Layout *y = l->layout;
  const Schedule *s = l->schedule;
  int64_t next[2] = {0, 0}, ring = largest_ring(s);
  y->ring_at = arena_alloc(l->arena, (size_t)(s->copy_count + 1) * sizeof *y->ring_at);
  for (int i = 0; i < s->copy_count; i++) {
    const Copy *copy = &s->copies[i];
    if (!copy->is_by_ring) continue;
    y->ring_bytes = ring;
    bool is_read = copy->lane == LANE_SSD_READ, is_entry = is_read || copy->lane == LANE_D2H;
    y->ring_at[i] = is_entry ? next[is_read] : y->ring_at[copy->after[0]];
    if (is_entry) next[is_read] = (y->ring_at[i] + copy->room) % ring;
  }
}

/* Where scores that end away from the device are read: on the host where they end; those on the SSD where nothing lies between epochs, above what stays on the device or, where the SSD is not its own, in the ring: as
 * many parts together as have room there. */
static void place_scores(Laying *l, const Machine *machine, int64_t residents_end) {
  Layout *y = l->layout;
  const int away = y->residents->scores_away;
  if (away == NO_INDEX) return;
  if (y->residents->away[away].tier == TIER_HOST) {
    y->scores_at = parts_away_at(l->schedule->evaluation_plan->problem->parts, y->residents, away, 0);
    return;
  }
  if (machine->tier_bytes[TIER_SSD] == 0) return;
  const int first = y->away_extent[away], count = y->away_extent[away + 1] - first;
  const bool is_direct = machine_reaches_ssd(machine);
  const int64_t base = is_direct ? residents_end : 0, room = is_direct ? y->bytes - base : y->ring_bytes;
  y->scores_at = base;
  for (y->scores_together = count; y->scores_together > 1; y->scores_together--) {
    int64_t most = 0, bytes = 0;
    for (int k = 0; k < count; k++) {
      bytes = k % y->scores_together ? bytes + y->extents[first + k].bytes : y->extents[first + k].bytes;
      if (bytes > most) most = bytes;
    }
    if (most <= room) return;
  }
}

/* As the runtime takes it. */
static void measure_staging(Laying *l) {
  const Schedule *s = l->schedule;
  int64_t most[LANE_COUNT] = {0};
  for (int i = 0; i < s->copy_count; i++) {
    const Copy *copy = &s->copies[i];
    if (copy->bytes > most[copy->lane]) most[copy->lane] = copy->bytes;
  }
  const int scores = l->layout->residents->scores_away;
  for (int e = l->layout->scores_together ? l->layout->away_extent[scores] : 0; l->layout->scores_together && e < l->layout->away_extent[scores + 1]; e++)
    if (l->layout->extents[e].bytes > most[LANE_SSD_READ]) most[LANE_SSD_READ] = l->layout->extents[e].bytes;
  l->layout->staging_bytes = 2 * l->layout->ring_bytes;
  for (int lane = LANE_SSD_WRITE; lane <= LANE_SSD_READ; lane++)
    if (most[lane] > 0) l->layout->staging_bytes += gnn_scratch_buffer_bytes(most[lane]);
}

/* Where there is no such tier, what would stay there is on the device all the time: the order that keeps everything. */
static void add_kept_data(Laying *l, const Machine *machine) {
  const Residents *residents = l->layout->residents;
  for (int i = 0; i < residents->away_count; i++) {
    const Away *away = &residents->away[i];
    if (machine->tier_bytes[away->tier] > 0 || away->is_copy) continue;
    const bool is_graph = resident_is_of(residents, i, (CachedData){.graph = true});
    const bool is_scores = i == residents->scores_away;
    const Kernels *evaluation = l->schedule->evaluation_plan->problem->kernels;
    add_block(l, (Block){.kind = is_graph ? BLOCK_GRAPH : is_scores ? BLOCK_ACTIVATION : away->is_learned ? BLOCK_WEIGHTS : BLOCK_FEATURES, .kernels = is_scores ? evaluation : NULL, .name = away->name, .bytes = away->bytes, .room = round_up(away->bytes, residents->alignment),
                         .padding = away->padding, .last = schedule_step_count(l->schedule) - 1, .value = is_scores ? evaluation->graph->scores : NO_VALUE, .away = i + 1});
  }
}

/* ---- which block ---- */

static int compare_owners(const Block *a, const Block *b) {
  if (a->kernels != b->kernels) return a->kernels < b->kernels ? -1 : 1;
  return a->value != b->value ? (a->value < b->value ? -1 : 1) : 0;
}

typedef struct Indexed {
  const Block *block;
  int index;
} Indexed;

static int compare_indexed(const void *a, const void *b) {
  const Indexed *x = a, *y = b;
  const int owners = compare_owners(x->block, y->block);
  return owners ? owners : x->index - y->index;
}

static void index_blocks(Laying *l) {
  Layout *y = l->layout;
  const int count = y->count - y->resident_count;
  Indexed *list = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *list);
  y->by_value = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *y->by_value);
  for (int i = 0; i < count; i++) list[i] = (Indexed){&y->blocks[y->resident_count + i], y->resident_count + i};
  qsort(list, (size_t)count, sizeof *list, compare_indexed);
  for (int i = 0; i < count; i++) y->by_value[i] = list[i].index;
}

static const Block *block_by_value(const Layout *layout, int i) { return &layout->blocks[layout->by_value[i]]; }

/* The first index in by_value of blocks of that value. */
static int find_blocks(const Layout *layout, const Kernels *kernels, ValueId value) {
  const Block wanted = {.kernels = kernels, .value = value};
  int low = 0, high = layout->count - layout->resident_count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (compare_owners(block_by_value(layout, middle), &wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool is_block_of(const Layout *layout, int i, const Kernels *kernels, ValueId value) {
  return i < layout->count - layout->resident_count && block_by_value(layout, i)->kernels == kernels && block_by_value(layout, i)->value == value;
}

Layout *layout(Arena *arena, const Machine *machine, const Schedule *schedule, const Residents *residents, bool is_low) {
  Layout *y = arena_alloc(arena, sizeof *y);
  Laying l = {.arena = arena, .layout = y, .schedule = schedule, .is_low = is_low};
  y->residents = residents;
  for (int i = 0; i < residents->count; i++) {
    Block block = residents->blocks[i];
    if (block.first == BEFORE_STEPS) block.first = schedule->count;
    block.last = schedule_step_count(schedule) - 1;
    block.until = block.last;
    name_table_add(arena, &l.names, block.name, i);
    int count = y->count;
    ARENA_PUSH(arena, l.taker, count, NO_INDEX);
    count = y->count;
    ARENA_PUSH(arena, l.planned, count, -1);
    ARENA_PUSH(arena, y->blocks, y->count, block);
  }
  y->resident_count = y->count;
  add_kept_data(&l, machine);
  if (schedule->training_plan) add_transients(&l, schedule->training_plan, 0);
  add_transients(&l, schedule->evaluation_plan, schedule->training_boundaries);
  if (schedule->once_plan) add_transients(&l, schedule->once_plan, schedule->once_boundary);
  const Plan *largest = schedule->training_plan ? schedule->training_plan : schedule->evaluation_plan;
  const int64_t before = residents->bytes + residents->early_bytes;
  place_transients(&l, round_up(residents->bytes, largest->problem->unit), schedule->once_plan ? round_up(before, schedule->once_plan->problem->unit) : before, machine->tier_bytes[TIER_DEVICE]);
  measure(&l);
  index_blocks(&l);
  place_slots(&l);
  place_in_rings(&l);
  place_scores(&l, machine, round_up(residents->bytes, largest->problem->unit));
  measure_staging(&l);
  return y;
}

/* A re-run may make again, in its scratch, what is on the device already: the later block is the one it writes. */
static const Block *block_at(const Layout *layout, const Kernels *kernels, ValueId value, int part, int step, bool is_of_kernel) {
  value = kernels->storage[value];
  const Block *resident = resident_of_value(layout->residents, kernels->graph, value);
  if (resident) return resident;
  const Block *found = NULL;
  const int away = resident_away(layout->residents, kernels->graph, value);
  for (int i = layout->resident_count; away != NO_INDEX && i < layout->count; i++)
    if (layout->blocks[i].away == away + 1) return &layout->blocks[i];
  for (int i = find_blocks(layout, kernels, value); is_block_of(layout, i, kernels, value); i++) {
    const Block *block = block_by_value(layout, i);
    if (step < block->first || step > block->last) continue;
    if (block->part != 0 && block->part != part) continue;
    if ((is_of_kernel || block->kind != BLOCK_SCRATCH) && (!found || block->first > found->first)) found = block;
  }
  return found;
}

const Block *layout_at(const Layout *layout, const Kernels *kernels, ValueId value, int part, int step) {
  return block_at(layout, kernels, value, part, step, true);
}

const Block *layout_of_sums(const Layout *layout, const Schedule *schedule, int step) {
  const Step *wanted = &schedule->steps[step];
  for (int i = find_blocks(layout, wanted->kernels, NO_VALUE); is_block_of(layout, i, wanted->kernels, NO_VALUE); i++) {
    const Block *block = block_by_value(layout, i);
    if (!block->is_sums || step < block->first || step > block->last) continue;
    const Step *first = &schedule->steps[block->first];
    if (first->kernel == wanted->kernel) return block;
  }
  return NULL;
}

const Block *layout_of_sending(const Layout *layout, const Schedule *schedule, const Copy *copy) {
  const int step = schedule->kernel_step[copy->boundary];
  const Value *value = &copy->kernels->graph->values[copy->value];
  if (value->op == OP_BACK) return layout_at(layout, copy->kernels, value->operand[0], 0, step); /* sums leave from where they were made */
  for (int i = find_blocks(layout, copy->kernels, NO_VALUE); is_block_of(layout, i, copy->kernels, NO_VALUE); i++) {
    const Block *block = block_by_value(layout, i);
    if (block->kind == BLOCK_SCRATCH && !block->is_sums && block->first == step) return block;
  }
  return NULL;
}

const Block *layout_of_copy(const Layout *layout, const Schedule *schedule, const Copy *copy) {
  return block_at(layout, copy->kernels, copy->value, copy->part, schedule->kernel_step[copy->boundary], false);
}
