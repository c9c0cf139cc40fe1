#include "addresses.h"

#include <stdlib.h>
#include <string.h>

#include "pack.h"

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

/* ---- tightening ---- */

typedef struct Queued {
  int move, g, v, piece;
} Queued;

static int compare_queued(const void *a, const void *b) {
  const Queued *x = a, *y = b;
  if (x->g != y->g) return x->g < y->g ? -1 : 1;
  if (x->v != y->v) return x->v < y->v ? -1 : 1;
  return x->piece < y->piece ? -1 : x->piece > y->piece;
}

static bool uses_inward_lane(const Sequence *q, int s) {
  if (q->join[s] < 0) return false;
  const Problem *p = q->problem;
  const ProblemVariant *variant = &p->ops[p->steps[q->base[s]].op].variants[q->variant[p->steps[q->base[s]].op]];
  for (int i = 0; i < variant->stage_count; i++)
    if (variant->stages[i].lane == LANE_H2D || variant->stages[i].lane == LANE_SSD_READ) return true;
  return false;
}

/* Raise each g to the last boundary not after the start of its transfer, in the same order on the lane. */
static void raise_boundaries(Evaluator *e, Arena *arena) {
  Sequence *q = e->sequence;
  const Simulation *m = e->simulation;
  Queued *queue = NEW(q->move_count, Queued);
  for (int i = 0; i < q->move_count; i++)
    queue[i] = (Queued){i, q->moves[i].g, q->moves[i].v, q->moves[i].piece};
  qsort(queue, (size_t)q->move_count, sizeof *queue, compare_queued);
  int *next_comm = NEW(q->count + 1, int); /* the first step from s on that queues on an inward lane */
  next_comm[q->count] = q->count;
  for (int s = q->count - 1; s >= 0; s--) next_comm[s] = uses_inward_lane(q, s) ? s : next_comm[s + 1];
  const Queued *after = NULL;
  int after_g = q->count;
  for (int k = q->move_count - 1; k >= 0; k--) {
    PlanMove *move = &q->moves[queue[k].move];
    int high = move->v;
    if (next_comm[move->g] < high) high = next_comm[move->g];
    if (after) {
      bool keeps_order = queue[k].v < after->v || (queue[k].v == after->v && queue[k].piece < after->piece);
      int limit = keeps_order ? after_g : after_g - 1;
      if (limit < high) high = limit;
    }
    int g = move->g;
    while (g < high && m->boundary_ns[g + 1] <= m->in_start_ns[queue[k].move]) g++;
    move->g = g;
    after = &queue[k];
    after_g = g;
  }
}

static void set_releases(Evaluator *e) {
  Sequence *q = e->sequence;
  const Simulation *m = e->simulation;
  for (int i = 0; i < q->offload_count; i++) {
    if (q->offloads[i].move < 0) continue;
    PlanMove *move = &q->moves[q->offloads[i].move];
    int f = q->offloads[i].after + 1;
    while (f < m->release[i] && f < move->g && m->boundary_ns[f] < m->out_done_ns[i]) f++;
    move->f = f;
  }
}

void addresses_tighten(Evaluator *e) {
  Arena *arena = arena_new();
  Sequence *q = e->sequence;
  int64_t makespan = e->simulation->makespan_ns;
  PlanMove *saved = NEW(q->move_count, PlanMove);
  for (int pass = 0; pass < 2; pass++) {
    if (q->move_count) memcpy(saved, q->moves, (size_t)q->move_count * sizeof *saved);
    if (pass == 0)
      raise_boundaries(e, arena);
    else
      set_releases(e);
    if (evaluate_built(e) <= makespan) continue;
    if (q->move_count) memcpy(q->moves, saved, (size_t)q->move_count * sizeof *saved);
    evaluate_built(e);
  }
  arena_free(arena);
}

void addresses_delay(Evaluator *e) {
  Sequence *q = e->sequence;
  int64_t makespan = e->simulation->makespan_ns;
  for (int i = q->move_count - 1; i >= 0; i--) {
    PlanMove *move = &q->moves[i];
    for (int by = move->v - move->g; by > 0; by /= 2) {
      if (move->g + by > move->v) continue;
      move->g += by;
      if (evaluate_built(e) > makespan) move->g -= by;
    }
  }
  evaluate_built(e);
  addresses_tighten(e);
}

int addresses_count_above(const Addresses *layout, int64_t device_bytes) {
  int count = 0;
  for (int i = 0; i < layout->count; i++) count += layout->intervals[i].offset + layout->intervals[i].bytes > device_bytes;
  return count;
}

int addresses_delay_around(Evaluator *e, const Addresses *layout, int64_t device_bytes) {
  Arena *arena = arena_new();
  Sequence *q = e->sequence;
  int *latest = NEW(q->count, int), count = 0; /* by step: the last one up to there at which something sticks out, plus one */
  for (int i = 0; i < layout->count; i++) {
    const PlanInterval *interval = &layout->intervals[i];
    if (interval->offset + interval->bytes > device_bytes) latest[interval->from] = interval->from + 1;
  }
  for (int s = 1; s < q->count; s++)
    if (latest[s] == 0) latest[s] = latest[s - 1];
  for (int i = 0; i < q->move_count; i++) {
    PlanMove *move = &q->moves[i];
    const int g = latest[move->v] <= move->v ? latest[move->v] : move->v;
    if (g <= move->g) continue;
    move->g = g;
    count++;
  }
  arena_free(arena);
  if (count) evaluate_built(e);
  return count;
}

/* ---- intervals ---- */

Addresses *addresses_intervals(const Evaluator *e, Arena *arena) {
  const Sequence *q = e->sequence;
  const Simulation *m = e->simulation;
  const Problem *p = e->problem;
  Addresses *layout = NEW(1, Addresses);
  layout->problem = p;
  layout->intervals = NEW(q->stay_count + q->count + p->piece_count, PlanInterval);
  Arena *scratch = arena_new();
  int *released = arena_alloc(scratch, (size_t)q->move_count * sizeof(int) + 1);
  int *final_released = arena_alloc(scratch, (size_t)p->piece_count * sizeof(int) + 1);
  for (int i = 0; i < q->offload_count; i++)
    if (q->offloads[i].move >= 0)
      released[q->offloads[i].move] = m->release[i];
    else
      final_released[q->offloads[i].piece] = m->release[i];
  for (int x = 0; x < p->piece_count; x++)
    if (p->pieces[x].home == TIER_DEVICE)
      layout->intervals[layout->count++] = (PlanInterval){.piece = x, .until = q->count - 1, .taken_by = -1, .bytes = p->pieces[x].bytes};
  for (int i = 0; i < q->stay_count; i++) {
    const PlanStay *stay = &q->stays[i];
    int until = stay->until;
    if (stay->out_move >= 0) until = released[stay->out_move] - 1;
    if (stay->is_final) until = final_released[stay->piece] - 1;
    if (stay->taken_by >= 0) until--;
    layout->intervals[layout->count++] =
        (PlanInterval){.piece = stay->piece, .from = stay->in_move >= 0 ? q->moves[stay->in_move].g : stay->from,
                       .until = until, .taken_by = stay->taken_by, .bytes = p->pieces[stay->piece].bytes};
  }
  for (int s = 0; s < q->count; s++) {
    int op = p->steps[q->base[s]].op;
    int64_t bytes = p->ops[op].variants[q->variant[op]].work_bytes + q->scratch_bytes[s];
    if (bytes > 0)
      layout->intervals[layout->count++] =
          (PlanInterval){.piece = -1, .from = s, .until = q->join[s] > s ? q->join[s] : s, .taken_by = -1, .bytes = bytes};
  }
  qsort(layout->intervals, (size_t)layout->count, sizeof *layout->intervals, plan_compare_intervals);
  arena_free(scratch);
  return layout;
}

/* ---- packing ---- */

static int compare_offsets(const void *a, const void *b) {
  const PlanInterval *const *x = a, *const *y = b;
  return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* What is at home on the device is there at every step, so that all else lies wholly below or above each of it: where that goes to the bottom, in the order of
 * its offsets, all else goes up by what of it was above, which had room there. Nothing ends higher than before. */
static void sink_residents(Addresses *layout, Arena *arena) {
  PlanInterval **by_offset = NEW(layout->count, PlanInterval *);
  int64_t below = 0, all = 0;
  for (int i = 0; i < layout->count; i++) {
    by_offset[i] = &layout->intervals[i];
    if (plan_is_resident(layout->problem, by_offset[i])) all += by_offset[i]->bytes;
  }
  qsort(by_offset, (size_t)layout->count, sizeof *by_offset, compare_offsets);
  for (int i = 0; i < layout->count; i++) {
    if (plan_is_resident(layout->problem, by_offset[i])) {
      by_offset[i]->offset = below;
      below += by_offset[i]->bytes;
    } else {
      by_offset[i]->offset += all - below;
    }
  }
}

/* S18: what takes the place of another lies where that lies. Such a row of intervals is one box. */
void addresses_pack(Addresses *layout, int64_t device_bytes, int64_t effort) {
  Arena *arena = arena_new();
  PackBox *boxes = NEW(layout->count, PackBox);
  int *box_of = NEW(layout->count, int), *next = NEW(layout->count, int), count = 0;
  bool *takes = NEW(layout->count, bool);
  for (int i = 0; i < layout->count; i++) {
    next[i] = -1;
    if (layout->intervals[i].taken_by < 0) continue;
    PlanInterval key = {.piece = layout->intervals[i].taken_by, .from = layout->intervals[i].until + 1};
    const PlanInterval *taker = bsearch(&key, layout->intervals, (size_t)layout->count, sizeof key, plan_compare_intervals);
    next[i] = (int)(taker - layout->intervals);
    takes[next[i]] = true;
  }
  for (int i = 0; i < layout->count; i++) {
    if (takes[i]) continue;
    boxes[count] = (PackBox){.from = layout->intervals[i].from, .bytes = layout->intervals[i].bytes};
    for (int k = i; k >= 0; k = next[k]) {
      box_of[k] = count;
      boxes[count].until = layout->intervals[k].until;
    }
    count++;
  }
  layout->load_bytes = pack_load(boxes, count);
  layout->height_bytes = effort ? pack(boxes, count, device_bytes, effort) : pack_least_above(boxes, count, device_bytes);
  layout->is_packed = layout->height_bytes <= device_bytes;
  for (int i = 0; i < layout->count; i++) layout->intervals[i].offset = boxes[box_of[i]].offset;
  if (layout->is_packed) sink_residents(layout, arena);
  arena_free(arena);
}

void addresses_excess(const Addresses *layout, const Sequence *q, int64_t device_bytes, int64_t *by_step) {
  Arena *arena = arena_new();
  int64_t *above = NEW(q->count + 1, int64_t);
  for (int i = 0; i < layout->count; i++) {
    const PlanInterval *interval = &layout->intervals[i];
    if (interval->offset + interval->bytes <= device_bytes || interval->until < interval->from) continue;
    above[interval->from] += interval->bytes;
    above[interval->until + 1] -= interval->bytes;
  }
  for (int s = 1; s < q->count; s++) above[s] += above[s - 1];
  int64_t most = 0; /* of a step and of what runs again just before it */
  for (int s = 0; s < q->count; s++) {
    if (above[s] > most) most = above[s];
    if (q->rerun[s] >= 0) continue;
    by_step[q->base[s]] += most;
    most = 0;
  }
  arena_free(arena);
}

Addresses *addresses_copy(const Addresses *layout, Arena *arena) {
  Addresses *copy = NEW(1, Addresses);
  *copy = *layout;
  copy->intervals = NEW(layout->count, PlanInterval);
  if (layout->count) memcpy(copy->intervals, layout->intervals, (size_t)layout->count * sizeof *copy->intervals);
  return copy;
}
