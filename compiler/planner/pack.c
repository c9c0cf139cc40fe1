#include "pack.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lang/arena.h"

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

static int count_steps(const PackBox *boxes, int count) {
  int steps = 1;
  for (int i = 0; i < count; i++)
    if (boxes[i].until >= steps) steps = boxes[i].until + 1;
  return steps;
}

int64_t pack_load(const PackBox *boxes, int count) {
  Arena *arena = arena_new();
  int steps = count_steps(boxes, count);
  int64_t *grows = NEW(steps + 1, int64_t), live = 0, load = 0;
  for (int i = 0; i < count; i++) {
    grows[boxes[i].from] += boxes[i].bytes;
    grows[boxes[i].until + 1] -= boxes[i].bytes;
  }
  for (int s = 0; s < steps; s++) {
    live += grows[s];
    if (live > load) load = live;
  }
  arena_free(arena);
  return load;
}

/* ---- greedy orders ---- */

typedef enum PackOrder { PACK_START, PACK_SIZE, PACK_AREA, PACK_WIDTH } PackOrder;

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

enum { BLOCK = 128 };

typedef struct Block { /* a run of a row; its boxes lie within these steps */
  int count, first_step, last_step;
  int from[BLOCK], until[BLOCK]; /* of each box; by themselves, as most boxes are asked for nothing else */
  int64_t offset[BLOCK], end[BLOCK];
} Block;

typedef struct Row { /* boxes sorted by offset, in blocks */
  Block **blocks;
  int count, limit;
} Row;

/* Placed boxes sorted by offset, once for all of time and once for each of many overlapping stretches of it, so that a
 * short box is compared with its contemporaries only. Stretch i covers steps i * half .. (i + 2) * half - 1. */
typedef struct Shelf {
  Row *rows; /* the last one is all of time */
  int stretches, half, steps;
  int64_t least_bytes; /* of a box */
  Arena *arena;
  Block **spare; /* of rows that were cleared */
  int spare_count, spare_limit;
} Shelf;

static void stretches_of(const Shelf *shelf, const Box *box, int *first, int *last) {
  *first = box->from / shelf->half - 1;
  *last = box->until / shelf->half;
  if (*first < 0) *first = 0;
  if (*last >= shelf->stretches) *last = shelf->stretches - 1;
}

static Shelf *shelf_new(Arena *arena, const Box *boxes, int count, int steps) {
  Shelf *shelf = NEW(1, Shelf);
  shelf->arena = arena;
  shelf->steps = steps;
  shelf->least_bytes = INT64_MAX;
  for (int i = 0; i < count; i++)
    if (boxes[i].bytes < shelf->least_bytes) shelf->least_bytes = boxes[i].bytes;
  shelf->stretches = count / 200 < 1 ? 1 : count / 200 > 400 ? 400 : count / 200;
  shelf->half = (steps + shelf->stretches - 1) / shelf->stretches;
  shelf->rows = NEW(shelf->stretches + 1, Row);
  return shelf;
}

static void put_spare(Shelf *shelf, Block *block) {
  if (shelf->spare_count == shelf->spare_limit) {
    Arena *arena = shelf->arena;
    Block **more = NEW(2 * shelf->spare_limit + 64, Block *);
    if (shelf->spare_count) memcpy(more, shelf->spare, (size_t)shelf->spare_count * sizeof *more);
    shelf->spare = more;
    shelf->spare_limit = 2 * shelf->spare_limit + 64;
  }
  shelf->spare[shelf->spare_count++] = block;
}

static void shelf_clear(Shelf *shelf) {
  for (int k = 0; k <= shelf->stretches; k++) {
    for (int i = 0; i < shelf->rows[k].count; i++) put_spare(shelf, shelf->rows[k].blocks[i]);
    shelf->rows[k].count = 0;
  }
}

/* An empty block at place `at` of a row. */
static Block *add_block(Shelf *shelf, Row *row, int at) {
  Arena *arena = shelf->arena;
  if (row->count == row->limit) {
    Block **more = NEW(2 * row->limit + 4, Block *);
    if (row->count) memcpy(more, row->blocks, (size_t)row->count * sizeof *more);
    row->blocks = more;
    row->limit = 2 * row->limit + 4;
  }
  Block *block = shelf->spare_count ? shelf->spare[--shelf->spare_count] : NEW(1, Block);
  block->count = block->last_step = 0;
  block->first_step = INT_MAX;
  memmove(row->blocks + at + 1, row->blocks + at, (size_t)(row->count - at) * sizeof *row->blocks);
  row->blocks[at] = block;
  row->count++;
  return block;
}

static void widen(Block *block, int from, int until) {
  if (from < block->first_step) block->first_step = from;
  if (until > block->last_step) block->last_step = until;
}

/* Boxes [from, from + count) of a block go to place `at` of one, the same or another. */
static void move_boxes(Block *to, int at, const Block *block, int from, int count) {
  memmove(to->from + at, block->from + from, (size_t)count * sizeof *to->from);
  memmove(to->until + at, block->until + from, (size_t)count * sizeof *to->until);
  memmove(to->offset + at, block->offset + from, (size_t)count * sizeof *to->offset);
  memmove(to->end + at, block->end + from, (size_t)count * sizeof *to->end);
}

/* For whoever looks for a hole in row k: is it there all the time? */
static bool is_wall(const Shelf *shelf, int k, int from, int until) {
  if (k == shelf->stretches) return from <= 0 && until >= shelf->steps - 1;
  int end = (k + 2) * shelf->half < shelf->steps ? (k + 2) * shelf->half : shelf->steps;
  return from <= k * shelf->half && until >= end - 1;
}

/* Nothing fits between a box of a row and the next. */
static bool is_shut(const Shelf *shelf, int k, const Block *block, int at) {
  return block->offset[at + 1] - block->end[at] < shelf->least_bytes && is_wall(shelf, k, block->from[at], block->until[at]) &&
         is_wall(shelf, k, block->from[at + 1], block->until[at + 1]);
}

static void join_above(Block *block, int at) {
  block->end[at] = block->end[at + 1];
  move_boxes(block, at + 1, block, at + 2, --block->count - at - 1);
}

static void shelf_add(Shelf *shelf, int k, const Box *box) {
  Row *row = &shelf->rows[k];
  if (row->count == 0) add_block(shelf, row, 0);
  int low = 0, high = row->count - 1; /* the last block that begins at or below the box */
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (row->blocks[middle]->offset[0] <= box->offset) low = middle;
    else high = middle - 1;
  }
  Block *block = row->blocks[low];
  if (block->count == BLOCK) {
    Block *next = add_block(shelf, row, low + 1);
    next->count = BLOCK / 2;
    block->count = BLOCK - BLOCK / 2;
    move_boxes(next, 0, block, block->count, next->count);
    for (int i = 0; i < next->count; i++) widen(next, next->from[i], next->until[i]);
    if (next->offset[0] <= box->offset) block = next;
  }
  int at = block->count;
  while (at > 0 && block->offset[at - 1] > box->offset) at--;
  move_boxes(block, at + 1, block, at, block->count - at);
  block->from[at] = box->from, block->until[at] = box->until;
  block->offset[at] = box->offset, block->end[at] = box->offset + box->bytes;
  block->count++;
  widen(block, box->from, box->until);
  if (at + 1 < block->count && is_shut(shelf, k, block, at)) join_above(block, at);
  if (at > 0 && is_shut(shelf, k, block, at - 1)) join_above(block, at - 1);
}

/* Those of 64 boxes of a block that are there at some time of the box, a bit each. Which they are is hard to foretell: of all of them it is found out at once, without branches. */
static uint64_t find_beside(const Block *block, int first, const Box *box) {
  uint8_t is_beside[64];
  uint64_t beside = 0, eight;
  for (int i = 0; i < 64; i++) is_beside[i] = (uint8_t)((block->until[first + i] >= box->from) & (block->from[first + i] <= box->until));
  for (int i = 0; i < 64; i += 8) {
    memcpy(&eight, is_beside + i, sizeof eight);
    beside |= ((eight * 0x0102040810204080u) >> 56) << i; /* the lowest bit of each byte, the first byte being the lowest */
  }
  const int left = block->count - first;
  return left < 64 ? beside & (((uint64_t)1 << left) - 1) : beside;
}

/* Lowest (or tightest) hole among the placed boxes. */
static int64_t find_hole(const Shelf *shelf, const Box *box, bool is_best_fit) {
  int k = box->from / shelf->half;
  if (box->until >= (k + 2) * shelf->half || k >= shelf->stretches) k = shelf->stretches;
  const Row *row = &shelf->rows[k];
  int64_t top = 0, best = -1, best_size = INT64_MAX;
  for (int b = 0; b < row->count; b++) {
    const Block *block = row->blocks[b];
    if (block->last_step < box->from || block->first_step > box->until) continue;
    for (int first = 0; first < block->count; first += 64)
      for (uint64_t beside = find_beside(block, first, box); beside; beside &= beside - 1) {
        const int at = first + __builtin_ctzll(beside);
        const int64_t hole = block->offset[at] - top;
        if (hole >= box->bytes && hole < best_size) {
          if (!is_best_fit) return top;
          best = top;
          best_size = hole;
        }
        if (block->end[at] > top) top = block->end[at];
      }
  }
  return best >= 0 ? best : top;
}

/* When a packing is of no use any more: one box ends above, or those that end above the limit take as many bytes times steps. */
typedef struct Enough {
  int64_t height, limit;
  double above;
} Enough;

static const Enough never_enough = {INT64_MAX, INT64_MAX, HUGE_VAL};

static double area(const Box *box) { return (double)box->bytes * (box->until - box->from + 1); }

/* Place the boxes in their order; the height, or INT64_MAX where that is not worth going on. */
static int64_t place(Box *boxes, int count, Shelf *shelf, bool is_best_fit, const Enough *enough) {
  int64_t height = 0;
  double above = 0;
  shelf_clear(shelf);
  for (int i = 0; i < count; i++) {
    Box *box = &boxes[i];
    box->offset = find_hole(shelf, box, is_best_fit);
    if (box->offset + box->bytes > height) height = box->offset + box->bytes;
    if (box->offset + box->bytes > enough->limit) above += area(box);
    if (height >= enough->height || above >= enough->above) return INT64_MAX;
    int first, last;
    stretches_of(shelf, box, &first, &last);
    for (int k = first; k <= last; k++) shelf_add(shelf, k, box);
    shelf_add(shelf, shelf->stretches, box);
  }
  return height;
}

typedef struct Hole {
  int64_t offset, bytes;
} Hole;

static void fill_hole(Hole *holes, int *count, int at, int64_t bytes) {
  holes[at].offset += bytes;
  holes[at].bytes -= bytes;
  if (holes[at].bytes > 0) return;
  memmove(holes + at, holes + at + 1, (size_t)(--*count - at) * sizeof *holes);
}

static void free_hole(Hole *holes, int *count, int64_t offset, int64_t bytes) {
  int low = 0, high = *count; /* the first hole above */
  while (low < high) {
    int middle = (low + high) / 2;
    if (holes[middle].offset > offset) high = middle;
    else low = middle + 1;
  }
  bool is_below = low > 0 && holes[low - 1].offset + holes[low - 1].bytes == offset, is_above = offset + bytes == holes[low].offset;
  if (is_below && is_above) {
    holes[low - 1].bytes += bytes + holes[low].bytes;
    memmove(holes + low, holes + low + 1, (size_t)(--*count - low) * sizeof *holes);
  } else if (is_below) {
    holes[low - 1].bytes += bytes;
  } else if (is_above) {
    holes[low].offset = offset;
    holes[low].bytes += bytes;
  } else {
    memmove(holes + low + 1, holes + low, (size_t)((*count)++ - low) * sizeof *holes);
    holes[low] = (Hole){offset, bytes};
  }
}

/* The lowest hole that a box fits into; the last hole has no end. */
static int lowest_hole(const Hole *holes, int64_t bytes) {
  int at = 0;
  while (holes[at].bytes < bytes) at++;
  return at;
}

/* Takes the highest place below the limit, if there is one; its offset, or -1. */
static int64_t take_highest(Hole *holes, int *count, int64_t bytes, int64_t limit) {
  for (int at = *count - 1; at >= 0; at--) {
    Hole *hole = &holes[at];
    const int64_t end = hole->offset + hole->bytes, top = end < limit ? end : limit, offset = top - bytes;
    if (offset < hole->offset) continue;
    if (top < end) { /* what is left above */
      memmove(hole + 2, hole + 1, (size_t)((*count)++ - at - 1) * sizeof *hole);
      hole[1] = (Hole){top, end - top};
    }
    hole->bytes = offset - hole->offset;
    if (hole->bytes == 0) memmove(hole, hole + 1, (size_t)(--*count - at) * sizeof *hole);
    return offset;
  }
  return -1;
}

/* Boxes in the order of their starts, each at the lowest hole, or at the highest below the limit where it is smaller than `least_bytes`: whom one of them can meet
 * is there when it begins. The height. */
static int64_t sweep(Box *boxes, int count, int steps, int64_t least_bytes, int64_t limit) {
  Arena *arena = arena_new();
  Hole *holes = NEW(2 * count + 3, Hole);
  int *next = NEW(count, int), *ending = NEW(steps, int), hole_count = 1, ended = 0; /* boxes that end at a step, as a list */
  int64_t height = 0;
  holes[0] = (Hole){0, INT64_MAX / 2};
  for (int s = 0; s < steps; s++) ending[s] = -1;
  for (int i = 0; i < count; i++) {
    Box *box = &boxes[i];
    for (; ended < box->from; ended++)
      for (int k = ending[ended]; k >= 0; k = next[k]) free_hole(holes, &hole_count, boxes[k].offset, boxes[k].bytes);
    box->offset = box->bytes < least_bytes ? take_highest(holes, &hole_count, box->bytes, limit) : -1;
    if (box->offset < 0) {
      const int at = lowest_hole(holes, box->bytes);
      box->offset = holes[at].offset;
      fill_hole(holes, &hole_count, at, box->bytes);
    }
    if (box->offset + box->bytes > height) height = box->offset + box->bytes;
    next[i] = ending[box->until];
    ending[box->until] = i;
  }
  arena_free(arena);
  return height;
}

/* `all`: what lives that long goes first in any order. */
static void weigh(Box *boxes, int count, PackOrder order, int all) {
  for (int i = 0; i < count; i++) {
    double bytes = (double)boxes[i].bytes, width = boxes[i].until - boxes[i].from + 1;
    boxes[i].weight = order == PACK_SIZE ? bytes : order == PACK_AREA ? bytes * width
                    : order == PACK_WIDTH ? width : -(double)boxes[i].from;
    if (width >= all) boxes[i].weight = HUGE_VAL;
  }
  qsort(boxes, (size_t)count, sizeof *boxes, compare_boxes);
}

typedef struct Packing {
  PackBox *result; /* of the lowest packing so far */
  Box *boxes; /* those that have bytes */
  int count, total, steps; /* total: with those that have none */
  int64_t limit, load, height;
  double above; /* bytes times steps of what ends above the limit */
  Shelf *shelf; /* for them */
} Packing;

static void keep_offsets(Packing *p, int64_t height) {
  if (height >= p->height) return;
  p->height = height;
  for (int i = 0; i < p->count; i++) p->result[p->boxes[i].index].offset = p->boxes[i].offset;
}

/* Boxes that end above the limit go further forward, again and again (squeaky wheel). */
static void turn_wheel(Packing *p, PackOrder order, int rounds) {
  Box *boxes = p->boxes;
  int count = p->count;
  weigh(boxes, count, order, p->steps);
  for (int i = 0; i < count; i++) boxes[i].weight = count - i;
  uint64_t random = 88172645463325252u;
  for (int round = 0; round < rounds && p->height > p->limit; round++) {
    int64_t height = place(boxes, count, p->shelf, round % 2, &never_enough);
    keep_offsets(p, height);
    int64_t above = p->limit + (height - p->limit) * (round % 3) / 4;
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

static void try_stacking(Packing *p, int64_t effort, Arena *arena) {
  Box *boxes = p->boxes;
  int count = p->count, steps = p->steps;
  if (count > STACK_BOXES || steps > STACK_STEPS || p->load > p->limit) return;
  weigh(boxes, count, PACK_AREA, p->steps);
  Stacking t = {.boxes = boxes, .count = count, .steps = steps, .limit = p->limit, .effort = effort};
  t.is_placed = NEW(count, bool);
  t.floor = NEW((count + 1) * steps, int64_t);
  t.base = NEW((count + 1) * count, int64_t);
  t.rest = NEW(steps, int64_t);
  for (int i = 0; i < count; i++) count_rest(&t, &boxes[i], boxes[i].bytes);
  if (!stack(&t, 0, 0, -1)) return;
  int64_t height = 0;
  for (int i = 0; i < count; i++)
    if (boxes[i].offset + boxes[i].bytes > height) height = boxes[i].offset + boxes[i].bytes;
  keep_offsets(p, height);
}

/* ---- all of it ---- */

static int compare_sizes(const void *a, const void *b) {
  const Box *x = a, *y = b;
  return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

/* Boxes that are smaller by at most `share` than the largest of their class take as much as that one: what ends leaves a hole for any of them. */
static void round_up(Box *boxes, int count, double share) {
  qsort(boxes, (size_t)count, sizeof *boxes, compare_sizes);
  for (int i = 0, first = 0; i < count; i++) {
    if ((double)boxes[i].bytes < (1 - share) * (double)boxes[first].bytes) first = i;
    boxes[i].bytes = boxes[first].bytes;
  }
}

enum { MANY_BOXES = 1000, FEW_ENOUGH = 24000, LITTLE_OUT = 25 };

/* What is thought of the packing that the boxes have; keeps the better one. A height of INT64_MAX: it would not be better. */
typedef bool Judge(Packing *p, int64_t height);

static bool is_lowest(Packing *p, int64_t height) {
  keep_offsets(p, height);
  return p->height <= p->limit;
}

static bool has_least_above(Packing *p, int64_t height) {
  double above = 0;
  if (height == INT64_MAX) return false;
  for (int i = 0; i < p->count; i++)
    if (p->boxes[i].offset + p->boxes[i].bytes > p->limit) above += area(&p->boxes[i]);
  if (p->height < INT64_MAX && above >= p->above) return above == 0;
  p->above = above;
  p->height = INT64_MAX;
  keep_offsets(p, height);
  return above == 0;
}

/* The size of which boxes take most bytes times steps. They are in the order of their sizes. */
static int64_t main_size(const Box *boxes, int count) {
  double most = 0, all = 0;
  int64_t size = 0;
  for (int i = 0; i < count; i++) {
    all = i > 0 && boxes[i].bytes == boxes[i - 1].bytes ? all + area(&boxes[i]) : area(&boxes[i]);
    if (all <= most) continue;
    most = all;
    size = boxes[i].bytes;
  }
  return size;
}

/* Many boxes of few sizes: those of about one size in the order of time leave no holes among them. What goes first wins at places, so orders by start, by
 * size and by area are tried, with boxes as large as the largest of about their size, and as they are. */
static void pack_many(Packing *p, Judge *is_enough, Arena *arena) {
  Box *exact = NEW(p->count, Box);
  int64_t size = 0;
  memcpy(exact, p->boxes, (size_t)p->count * sizeof *exact);
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 0) round_up(p->boxes, p->count, 0.02), size = main_size(p->boxes, p->count);
    else memcpy(p->boxes, exact, (size_t)p->count * sizeof *exact);
    weigh(p->boxes, p->count, PACK_START, p->steps);
    const int64_t at_top[] = {0, size / 4, size - size / 10};
    for (int k = 0; k < 3; k++)
      if (is_enough(p, sweep(p->boxes, p->count, p->steps, at_top[k], p->limit))) return;
    for (int k = 0; k < 2 && p->count <= FEW_ENOUGH; k++) {
      weigh(p->boxes, p->count, k ? PACK_AREA : PACK_SIZE, p->steps);
      Enough enough = never_enough;
      if (is_enough == is_lowest) enough.height = p->height;
      else enough.limit = p->limit, enough.above = p->above;
      if (is_enough(p, place(p->boxes, p->count, p->shelf, false, &enough))) return;
    }
  }
}

/* Boxes that are there at a step at which one ends above the limit. */
static int mark_crowded(const Packing *p, const int64_t *height_of, bool *is_crowded, int *before) {
  int above = 0;
  for (int i = 0; i < p->count; i++) {
    const Box *box = &p->boxes[i];
    if (height_of[box->index] <= p->limit) continue;
    is_crowded[box->from] = true;
    above++;
  }
  for (int s = 0; s < p->steps; s++) before[s + 1] = before[s] + is_crowded[s];
  return above;
}

/* Where very few stick out: all that is there when one of them begins goes first, the largest of it lowest; then all else by its start. Again, with what sticks out then. */
static void mend(Packing *p, Judge *is_enough, Arena *arena) {
  enum { ROUNDS = 4, FEWEST = 24 };
  bool *is_crowded = NEW(p->steps, bool);
  int *before = NEW(p->steps + 1, int);
  int64_t *ends = NEW(p->total, int64_t);
  for (int i = 0; i < p->count; i++) ends[p->boxes[i].index] = p->result[p->boxes[i].index].offset + p->boxes[i].bytes;
  for (int round = 0; round < ROUNDS && mark_crowded(p, ends, is_crowded, before) <= FEWEST; round++) {
    for (int i = 0; i < p->count; i++) {
      Box *box = &p->boxes[i];
      box->weight = (double)box->bytes + (before[box->until + 1] > before[box->from] ? (double)p->limit : 0);
    }
    qsort(p->boxes, (size_t)p->count, sizeof *p->boxes, compare_boxes);
    const int64_t height = place(p->boxes, p->count, p->shelf, false, &never_enough);
    if (is_enough(p, height)) return;
    for (int i = 0; i < p->count; i++) ends[p->boxes[i].index] = p->boxes[i].offset + p->boxes[i].bytes;
  }
}

/* Of many, where little sticks out: what does goes first. */
static void turn_wheel_of_many(Packing *p) {
  static const PackOrder orders[] = {PACK_SIZE, PACK_START};
  for (int k = 0; k < 2 && p->height > p->limit && p->height - p->limit < p->limit / LITTLE_OUT; k++) turn_wheel(p, orders[k], 4);
}

static Packing begin(Arena *arena, PackBox *boxes, int count, int64_t limit) {
  Packing p = {.result = boxes, .boxes = NEW(count, Box), .total = count, .steps = count_steps(boxes, count), .limit = limit,
               .load = pack_load(boxes, count), .height = INT64_MAX};
  for (int i = 0; i < count; i++)
    if (boxes[i].bytes > 0)
      p.boxes[p.count++] = (Box){.index = i, .from = boxes[i].from, .until = boxes[i].until, .bytes = boxes[i].bytes};
  p.shelf = shelf_new(arena, p.boxes, p.count, p.steps);
  return p;
}

int64_t pack_least_above(PackBox *boxes, int count, int64_t limit) {
  Arena *arena = arena_new();
  Packing p = begin(arena, boxes, count, limit);
  if (p.count) pack_many(&p, has_least_above, arena);
  else p.height = 0;
  if (p.height > limit && p.count <= FEW_ENOUGH) mend(&p, has_least_above, arena);
  arena_free(arena);
  return p.height;
}

int64_t pack(PackBox *boxes, int count, int64_t limit, int64_t effort) {
  static const PackOrder orders[] = {PACK_AREA, PACK_WIDTH, PACK_SIZE, PACK_START};
  Arena *arena = arena_new();
  Packing p = begin(arena, boxes, count, limit);
  int64_t each = (int64_t)p.count * p.count + 1;
  bool is_many = p.count > MANY_BOXES;
  if (is_many) {
    pack_many(&p, is_lowest, arena);
    if (p.count <= FEW_ENOUGH) turn_wheel_of_many(&p);
  }
  for (int k = 0; k < 8 && (k < 2 || effort > 0) && p.count <= FEW_ENOUGH && p.height > (is_many ? limit : p.load); k++) {
    const bool is_known = is_many && k < 4 && (orders[k] == PACK_AREA || orders[k] == PACK_SIZE);
    const Enough enough = {.height = p.height, .limit = INT64_MAX, .above = HUGE_VAL};
    effort -= each;
    if (is_known) continue;
    weigh(p.boxes, p.count, orders[k % 4], p.steps);
    keep_offsets(&p, place(p.boxes, p.count, p.shelf, k >= 4, &enough));
  }
  if (p.height > limit) try_stacking(&p, effort / 8, arena);
  int64_t rounds = effort / each / 2; /* what a thousand turns did not find, more hardly ever do */
  if (rounds > 1000) rounds = 1000;
  for (int k = 0; k < 2 && effort > 0 && p.height > limit; k++) turn_wheel(&p, orders[k], (int)rounds);
  arena_free(arena);
  return p.height;
}
