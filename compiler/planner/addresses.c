#include "addresses.h"

#include <stdlib.h>
#include <string.h>

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

static bool uses_inward_channel(const Sequence *q, int s) {
  if (q->join[s] < 0) return false;
  const Problem *p = q->problem;
  const ProblemVariant *variant = &p->ops[p->steps[q->base[s]].op].variants[q->variant[p->steps[q->base[s]].op]];
  for (int i = 0; i < variant->stage_count; i++)
    if (variant->stages[i].channel == PROBLEM_CHANNEL_H2D || variant->stages[i].channel == PROBLEM_CHANNEL_SSDR) return true;
  return false;
}

/* Raise each g to the last boundary not after the start of its transfer, in the same order on the channel. */
static void raise_boundaries(Evaluator *e, Arena *arena) {
  Sequence *q = e->sequence;
  const Simulation *m = e->simulation;
  Queued *queue = NEW(q->move_count, Queued);
  for (int i = 0; i < q->move_count; i++)
    queue[i] = (Queued){i, q->moves[i].g, q->moves[i].v, q->moves[i].piece};
  qsort(queue, (size_t)q->move_count, sizeof *queue, compare_queued);
  int *next_comm = NEW(q->count + 1, int); /* the first step from s on that queues on an inward channel */
  next_comm[q->count] = q->count;
  for (int s = q->count - 1; s >= 0; s--) next_comm[s] = uses_inward_channel(q, s) ? s : next_comm[s + 1];
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

/* ---- intervals ---- */

static int compare_intervals(const void *a, const void *b) {
  const PlanInterval *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return x->piece < y->piece ? -1 : x->piece > y->piece;
}

Addresses *addresses_intervals(const Evaluator *e, Arena *arena) {
  const Sequence *q = e->sequence;
  const Simulation *m = e->simulation;
  const Problem *p = e->problem;
  Addresses *layout = NEW(1, Addresses);
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
    if (p->pieces[x].home == PROBLEM_HOME_DEVICE)
      layout->intervals[layout->count++] = (PlanInterval){.piece = x, .until = q->count - 1, .bytes = p->pieces[x].bytes};
  for (int i = 0; i < q->stay_count; i++) {
    const PlanStay *stay = &q->stays[i];
    int until = stay->until;
    if (stay->out_move >= 0) until = released[stay->out_move] - 1;
    if (stay->is_final) until = final_released[stay->piece] - 1;
    layout->intervals[layout->count++] =
        (PlanInterval){.piece = stay->piece, .from = stay->in_move >= 0 ? q->moves[stay->in_move].g : stay->from,
                       .until = until, .bytes = p->pieces[stay->piece].bytes};
  }
  for (int s = 0; s < q->count; s++) {
    int op = p->steps[q->base[s]].op;
    int64_t bytes = p->ops[op].variants[q->variant[op]].work_bytes + q->scratch_bytes[s];
    if (bytes > 0)
      layout->intervals[layout->count++] =
          (PlanInterval){.piece = -1, .from = s, .until = q->join[s] > s ? q->join[s] : s, .bytes = bytes};
  }
  qsort(layout->intervals, (size_t)layout->count, sizeof *layout->intervals, compare_intervals);
  int64_t *diff = arena_alloc(scratch, ((size_t)q->count + 1) * sizeof *diff), live = 0;
  for (int i = 0; i < layout->count; i++) {
    diff[layout->intervals[i].from] += layout->intervals[i].bytes;
    diff[layout->intervals[i].until + 1] -= layout->intervals[i].bytes;
  }
  for (int s = 0; s < q->count; s++) {
    live += diff[s];
    if (live > layout->load_bytes) layout->load_bytes = live;
  }
  arena_free(scratch);
  return layout;
}

/* ---- packing ---- */

typedef enum PackOrder { PACK_START, PACK_SIZE, PACK_AREA, PACK_WIDTH, PACK_ORDERS } PackOrder;

typedef struct Box {
  int index, from, until;
  int64_t bytes, offset;
  double weight; /* larger goes first; the wheel raises it */
} Box;

static int compare_boxes(const void *a, const void *b) {
  const Box *x = a, *y = b;
  if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

typedef struct Placed {
  int64_t offset, bytes;
  int from, until;
} Placed;

/* Placed boxes sorted by offset, once for all of time and once for each of many overlapping stretches of it, so that a
 * short box is compared with its contemporaries only. Stretch i covers steps i * half .. (i + 2) * half - 1. */
typedef struct Shelf {
  Placed **stretch; /* the last one is all of time */
  int *count, stretches, half;
} Shelf;

static void stretches_of(const Shelf *shelf, const Box *box, int *first, int *last) {
  *first = box->from / shelf->half - 1;
  *last = box->until / shelf->half;
  if (*first < 0) *first = 0;
  if (*last >= shelf->stretches) *last = shelf->stretches - 1;
}

static Shelf *shelf_new(Arena *arena, const Box *boxes, int count) {
  Shelf *shelf = NEW(1, Shelf);
  int steps = 1;
  for (int i = 0; i < count; i++)
    if (boxes[i].until >= steps) steps = boxes[i].until + 1;
  shelf->stretches = count / 200 < 1 ? 1 : count / 200 > 400 ? 400 : count / 200;
  shelf->half = (steps + shelf->stretches - 1) / shelf->stretches;
  shelf->stretch = NEW(shelf->stretches + 1, Placed *);
  shelf->count = NEW(shelf->stretches + 1, int);
  for (int i = 0, first, last; i < count; i++) {
    stretches_of(shelf, &boxes[i], &first, &last);
    for (int k = first; k <= last; k++) shelf->count[k]++;
  }
  shelf->count[shelf->stretches] = count;
  for (int k = 0; k <= shelf->stretches; k++) shelf->stretch[k] = NEW(shelf->count[k] + 1, Placed);
  return shelf;
}

static void shelf_add(Shelf *shelf, int k, const Box *box) {
  Placed *placed = shelf->stretch[k];
  int low = 0, high = shelf->count[k]++;
  int count = high;
  while (low < high) {
    int middle = (low + high) / 2;
    if (placed[middle].offset <= box->offset)
      low = middle + 1;
    else
      high = middle;
  }
  memmove(placed + low + 1, placed + low, (size_t)(count - low) * sizeof *placed);
  placed[low] = (Placed){box->offset, box->bytes, box->from, box->until};
}

/* Lowest (or tightest) hole among the placed boxes. */
static int64_t find_hole(const Shelf *shelf, const Box *box, bool is_best_fit) {
  int k = box->from / shelf->half;
  if (box->until >= (k + 2) * shelf->half || k >= shelf->stretches) k = shelf->stretches;
  const Placed *placed = shelf->stretch[k];
  int count = shelf->count[k];
  int64_t top = 0, best = -1, best_size = INT64_MAX;
  for (int i = 0; i < count; i++) {
    if (placed[i].until < box->from || placed[i].from > box->until) continue;
    int64_t hole = placed[i].offset - top;
    if (hole >= box->bytes && hole < best_size) {
      if (!is_best_fit) return top;
      best = top;
      best_size = hole;
    }
    if (placed[i].offset + placed[i].bytes > top) top = placed[i].offset + placed[i].bytes;
  }
  return best >= 0 ? best : top;
}

/* Place the boxes in their order; the height. */
static int64_t place(Box *boxes, int count, Shelf *shelf, bool is_best_fit) {
  int64_t height = 0;
  memset(shelf->count, 0, ((size_t)shelf->stretches + 1) * sizeof *shelf->count);
  for (int i = 0; i < count; i++) {
    Box *box = &boxes[i];
    box->offset = find_hole(shelf, box, is_best_fit);
    if (box->offset + box->bytes > height) height = box->offset + box->bytes;
    int first, last;
    stretches_of(shelf, box, &first, &last);
    for (int k = first; k <= last; k++) shelf_add(shelf, k, box);
    shelf_add(shelf, shelf->stretches, box);
  }
  return height;
}

static void weigh(Box *boxes, int count, PackOrder order) {
  for (int i = 0; i < count; i++) {
    double bytes = (double)boxes[i].bytes, width = boxes[i].until - boxes[i].from + 1;
    boxes[i].weight = order == PACK_SIZE ? bytes : order == PACK_AREA ? bytes * width
                    : order == PACK_WIDTH ? width : -(double)boxes[i].from;
  }
  qsort(boxes, (size_t)count, sizeof *boxes, compare_boxes);
}

static void keep_offsets(Addresses *layout, const Box *boxes, int count, int64_t height) {
  if (layout->height_bytes && height >= layout->height_bytes) return;
  layout->height_bytes = height;
  for (int i = 0; i < count; i++) layout->intervals[boxes[i].index].offset = boxes[i].offset;
}

/* Boxes that end above the limit go further forward, again and again (squeaky wheel). */
static void turn_wheel(Addresses *layout, Box *boxes, int count, Shelf *shelf, int64_t limit, PackOrder order, int rounds) {
  weigh(boxes, count, order);
  for (int i = 0; i < count; i++) boxes[i].weight = count - i;
  uint64_t random = 88172645463325252u;
  for (int round = 0; round < rounds && layout->height_bytes > limit; round++) {
    int64_t height = place(boxes, count, shelf, round % 2);
    keep_offsets(layout, boxes, count, height);
    int64_t above = limit + (height - limit) * (round % 3) / 4;
    for (int i = 0; i < count; i++) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      if (boxes[i].offset + boxes[i].bytes > above)
        boxes[i].weight += (0.02 + 0.3 * (double)(random >> 40) / 16777216.0) * count;
    }
    qsort(boxes, (size_t)count, sizeof *boxes, compare_boxes);
  }
}

/* A complete search for few boxes (MiniMalloc, ASPLOS 2023): boxes are placed by rising offset, each on the floor the
 * placed ones leave it, so that every packing pushed down is met once. */
typedef struct Stacking {
  Box *boxes; /* widest and largest first */
  bool *is_placed;
  int count, steps;
  int64_t limit, effort;
  int64_t *floor; /* floor[depth * steps + step]: the top of what is placed */
  int64_t *rest; /* bytes at a step not placed yet */
  int64_t *base; /* base[depth * count + box]: where it would come to lie */
} Stacking;

static bool leaves_room(const Stacking *t, const int64_t *floor, int64_t lowest) {
  for (int s = 0; s < t->steps; s++)
    if (t->rest[s] && (floor[s] > lowest ? floor[s] : lowest) + t->rest[s] > t->limit) return false;
  return true;
}

/* Where each box would lie; returns the least top among them: what lies above it leaves a hole for nothing. */
static int64_t find_bases(Stacking *t, const int64_t *floor, int64_t *base) {
  int64_t least_top = INT64_MAX;
  for (int i = 0; i < t->count; i++) {
    if (t->is_placed[i]) continue;
    base[i] = 0;
    for (int s = t->boxes[i].from; s <= t->boxes[i].until; s++)
      if (floor[s] > base[i]) base[i] = floor[s];
    if (base[i] + t->boxes[i].bytes < least_top) least_top = base[i] + t->boxes[i].bytes;
  }
  return least_top;
}

static void count_rest(Stacking *t, const Box *box, int64_t bytes) {
  for (int s = box->from; s <= box->until; s++) t->rest[s] += bytes;
}

/* Place the boxes that are left on top of the `depth` placed ones, none lower than the last of them. */
static bool stack(Stacking *t, int depth, int64_t lowest, int last) {
  int64_t *floor = t->floor + (size_t)depth * (size_t)t->steps, *base = t->base + (size_t)depth * (size_t)t->count;
  if (depth == t->count) return true;
  t->effort -= 4 * t->steps + t->count;
  if (t->effort < 0 || !leaves_room(t, floor, lowest)) return false;
  int64_t least_top = find_bases(t, floor, base);
  for (int64_t low = lowest; low < least_top;) { /* by rising offset */
    int64_t next = INT64_MAX;
    for (int i = 0; i < t->count; i++) {
      Box *box = &t->boxes[i];
      if (t->is_placed[i] || base[i] < low) continue;
      if (base[i] > low) {
        if (base[i] < next) next = base[i];
        continue;
      }
      if (base[i] == lowest && i < last) continue; /* met in the other order */
      box->offset = base[i];
      t->is_placed[i] = true;
      count_rest(t, box, -box->bytes);
      memcpy(floor + t->steps, floor, (size_t)t->steps * sizeof *floor);
      for (int s = box->from; s <= box->until; s++) floor[t->steps + s] = base[i] + box->bytes;
      if (stack(t, depth + 1, base[i], i)) return true;
      t->is_placed[i] = false;
      count_rest(t, box, box->bytes);
    }
    low = next;
  }
  return false;
}

enum { STACK_BOXES = 64, STACK_STEPS = 512 };

static void try_stacking(Addresses *layout, Box *boxes, int count, int64_t limit, int64_t effort, Arena *arena) {
  int steps = 0;
  for (int i = 0; i < count; i++)
    if (boxes[i].until >= steps) steps = boxes[i].until + 1;
  if (count > STACK_BOXES || steps > STACK_STEPS || layout->load_bytes > limit) return;
  weigh(boxes, count, PACK_AREA);
  Stacking t = {.boxes = boxes, .count = count, .steps = steps, .limit = limit, .effort = effort};
  t.is_placed = NEW(count, bool);
  t.floor = NEW((count + 1) * steps, int64_t);
  t.base = NEW((count + 1) * count, int64_t);
  t.rest = NEW(steps, int64_t);
  for (int i = 0; i < count; i++) count_rest(&t, &boxes[i], boxes[i].bytes);
  if (!stack(&t, 0, 0, -1)) return;
  int64_t height = 0;
  for (int i = 0; i < count; i++)
    if (boxes[i].offset + boxes[i].bytes > height) height = boxes[i].offset + boxes[i].bytes;
  keep_offsets(layout, boxes, count, height);
}

static void try_offsets(Addresses *layout, int64_t limit, int64_t effort) {
  static const PackOrder orders[] = {PACK_AREA, PACK_WIDTH, PACK_SIZE, PACK_START};
  Arena *arena = arena_new();
  Box *boxes = NEW(layout->count, Box);
  int count = 0;
  for (int i = 0; i < layout->count; i++)
    if (layout->intervals[i].bytes > 0)
      boxes[count++] = (Box){.index = i, .from = layout->intervals[i].from, .until = layout->intervals[i].until,
                             .bytes = layout->intervals[i].bytes};
  Shelf *shelf = shelf_new(arena, boxes, count);
  int64_t each = (int64_t)count * count + 1;
  for (int k = 0; k < 8 && (k < 2 || effort > 0); k++) {
    weigh(boxes, count, orders[k % 4]);
    keep_offsets(layout, boxes, count, place(boxes, count, shelf, k >= 4));
    if (layout->height_bytes <= limit) break;
    effort -= each;
  }
  if (layout->height_bytes > limit) try_stacking(layout, boxes, count, limit, effort / 8, arena);
  int64_t rounds = effort / each / 2; /* what a thousand turns did not find, more hardly ever do */
  if (rounds > 1000) rounds = 1000;
  for (int k = 0; k < 2 && effort > 0 && layout->height_bytes > limit; k++)
    turn_wheel(layout, boxes, count, shelf, limit, orders[k], (int)rounds);
  arena_free(arena);
}

static int64_t rounded_load(const Addresses *layout, int64_t page, int64_t *diff, int steps) {
  memset(diff, 0, ((size_t)steps + 1) * sizeof *diff);
  for (int i = 0; i < layout->count; i++) {
    int64_t pages = (layout->intervals[i].bytes + page - 1) / page;
    diff[layout->intervals[i].from] += pages;
    diff[layout->intervals[i].until + 1] -= pages;
  }
  int64_t live = 0, most = 0;
  for (int s = 0; s < steps; s++) {
    live += diff[s];
    if (live > most) most = live;
  }
  return most;
}

typedef struct PagePool { /* free ranges, by first page, none adjacent */
  Arena *arena;
  PlanPages *ranges;
  int count;
} PagePool;

static void give_back(PagePool *pool, PlanPages back) {
  int at = 0;
  while (at < pool->count && pool->ranges[at].first < back.first) at++;
  PlanPages *ranges = pool->ranges;
  bool joins_left = at > 0 && ranges[at - 1].first + ranges[at - 1].count == back.first;
  bool joins_right = at < pool->count && back.first + back.count == ranges[at].first;
  if (joins_left && joins_right) {
    ranges[at - 1].count += back.count + ranges[at].count;
    memmove(ranges + at, ranges + at + 1, (size_t)(--pool->count - at) * sizeof *ranges);
  } else if (joins_left) {
    ranges[at - 1].count += back.count;
  } else if (joins_right) {
    ranges[at].first = back.first;
    ranges[at].count += back.count;
  } else {
    ARENA_PUSH(pool->arena, pool->ranges, pool->count, back);
    memmove(pool->ranges + at + 1, pool->ranges + at, (size_t)(pool->count - 1 - at) * sizeof *ranges);
    pool->ranges[at] = back;
  }
}

/* Colour the intervals with whole pages, by start step: as many pages as the load, never more. */
static void map_pages(Addresses *layout, int64_t page, int64_t total_pages, Arena *arena) {
  Arena *scratch = arena_new();
  int count = layout->count, steps = 0;
  for (int i = 0; i < count; i++)
    if (layout->intervals[i].until >= steps) steps = layout->intervals[i].until + 1;
  int *head = arena_alloc(scratch, ((size_t)steps + 1) * sizeof(int)), *next = arena_alloc(scratch, (size_t)count * sizeof(int) + 1);
  for (int s = 0; s <= steps; s++) head[s] = -1;
  PagePool pool = {.arena = scratch};
  give_back(&pool, (PlanPages){0, total_pages});
  int step = 0;
  for (int i = 0; i < count; i++) {
    PlanInterval *interval = &layout->intervals[i];
    for (; step < interval->from; step++)
      for (int k = head[step]; k >= 0; k = next[k])
        for (int r = 0; r < layout->intervals[k].range_count; r++)
          give_back(&pool, layout->ranges[layout->intervals[k].first_range + r]);
    int64_t wanted = (interval->bytes + page - 1) / page;
    interval->first_range = layout->range_count;
    int used = 0;
    for (; used < pool.count && wanted > 0; used++) {
      PlanPages *free_range = &pool.ranges[used], take = *free_range;
      if (take.count > wanted) take.count = wanted;
      ARENA_PUSH(arena, layout->ranges, layout->range_count, take);
      interval->range_count++;
      wanted -= take.count;
      free_range->first += take.count;
      free_range->count -= take.count;
      if (free_range->count) break;
    }
    pool.count -= used;
    memmove(pool.ranges, pool.ranges + used, (size_t)pool.count * sizeof *pool.ranges);
    next[i] = head[interval->until];
    head[interval->until] = i;
  }
  arena_free(scratch);
}

/* The largest page with which the rounded intervals fit; 0: none. */
static int64_t choose_page(const Addresses *layout, int64_t device_bytes) {
  int64_t least = device_bytes >= ADDRESSES_TOY_BYTES ? ADDRESSES_LEAST_PAGE : 1, page = 2 << 20;
  Arena *arena = arena_new();
  int steps = 0;
  for (int i = 0; i < layout->count; i++)
    if (layout->intervals[i].until >= steps) steps = layout->intervals[i].until + 1;
  int64_t *diff = NEW(steps + 1, int64_t);
  while (page >= least && rounded_load(layout, page, diff, steps) > device_bytes / page) page /= 2;
  arena_free(arena);
  return page >= least ? page : 0;
}

AddressesKind addresses_pack(Addresses *layout, int64_t device_bytes, bool may_be_pages, int64_t effort, Arena *arena) {
  layout->kind = ADDRESSES_OFFSETS;
  try_offsets(layout, device_bytes, effort);
  if (layout->height_bytes <= device_bytes) return layout->kind;
  int64_t page = may_be_pages ? choose_page(layout, device_bytes) : 0;
  layout->kind = page ? ADDRESSES_PAGES : ADDRESSES_NONE;
  layout->page_bytes = page;
  if (page) map_pages(layout, page, device_bytes / page, arena);
  return layout->kind;
}

Addresses *addresses_copy(const Addresses *layout, Arena *arena) {
  Addresses *copy = NEW(1, Addresses);
  *copy = *layout;
  copy->intervals = NEW(layout->count, PlanInterval);
  copy->ranges = NEW(layout->range_count, PlanPages);
  if (layout->count) memcpy(copy->intervals, layout->intervals, (size_t)layout->count * sizeof *copy->intervals);
  if (layout->range_count) memcpy(copy->ranges, layout->ranges, (size_t)layout->range_count * sizeof *copy->ranges);
  return copy;
}
