/* Packings without a byte to spare: rectangles of steps by bytes, cut at random into boxes, are put together again. The
 * greedy orders and the wheel alone miss two of the 200. */
#include "compiler/planner/pack.h"
#include "generate.h"
#include "tap.h"

enum { STEPS = 40, BYTES = 400, MAX_BOXES = 30 };

static bool cut(PackBox *box, PackBox *rest, uint64_t *seed) {
  *rest = *box;
  if (generate_below(seed, 2)) {
    int width = box->until - box->from + 1;
    if (width < 2) return false;
    rest->from = box->from + 1 + generate_below(seed, width - 1);
    box->until = rest->from - 1;
    return true;
  }
  if (box->bytes < 2) return false;
  rest->bytes = 1 + generate_below(seed, (int)box->bytes - 1);
  box->bytes -= rest->bytes;
  return true;
}

static bool are_apart(const PackBox *boxes, int count) {
  for (int i = 0; i < count; i++)
    for (int k = 0; k < i; k++) {
      const PackBox *a = &boxes[i], *b = &boxes[k];
      bool share_steps = a->from <= b->until && b->from <= a->until;
      if (share_steps && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes) return false;
    }
  return true;
}

enum { MANY = 1500 };

/* Boxes of `sizes` sizes with random lives. */
static void make_many(PackBox *boxes, int sizes, uint64_t *seed) {
  for (int i = 0; i < MANY; i++) {
    const int from = generate_below(seed, 1000), width = generate_below(seed, 4) ? 1 + generate_below(seed, 40) : 1 + generate_below(seed, 600);
    boxes[i] = (PackBox){.from = from, .until = from + width, .bytes = 1000 * (1 + generate_below(seed, sizes)) + 37 * generate_below(seed, sizes)};
  }
}

static double above(const PackBox *boxes, int64_t limit) {
  double sum = 0;
  for (int i = 0; i < MANY; i++)
    if (boxes[i].offset + boxes[i].bytes > limit) sum += (double)boxes[i].bytes * (boxes[i].until - boxes[i].from + 1);
  return sum;
}

static void pack_many_boxes(Tap *tap) {
  PackBox boxes[MANY];
  uint64_t seed = 11;
  make_many(boxes, 1, &seed);
  const int64_t load = pack_load(boxes, MANY);
  tap_ok(tap, pack(boxes, MANY, load, 1000) == load && are_apart(boxes, MANY), "many boxes of one size take no more than their load");
  make_many(boxes, 9, &seed);
  const int64_t limit = pack_load(boxes, MANY) * 101 / 100;
  const int64_t lowest = pack(boxes, MANY, limit, 1000);
  const double of_lowest = above(boxes, limit);
  const int64_t height = pack_least_above(boxes, MANY, limit);
  tap_ok(tap, lowest > limit && height >= lowest && are_apart(boxes, MANY), "many boxes of many sizes are above the limit");
  tap_ok(tap, above(boxes, limit) < of_lowest, "less of them than in the lowest packing where that is asked for");
  tap_note("load %lld, lowest %lld with %.0f above, least above %lld with %.0f", (long long)pack_load(boxes, MANY), (long long)lowest, of_lowest, (long long)height, above(boxes, limit));
  tap_ok(tap, pack_least_above(boxes, MANY, height) <= height && above(boxes, height) == 0, "nothing is above a limit that is met");
}

int main(void) {
  Tap tap = {0};
  int count = tap_scale(200), packed = 0, wrong = 0;
  uint64_t seed = 7;
  for (int i = 0; i < count; i++) {
    PackBox boxes[MAX_BOXES] = {{.until = STEPS - 1, .bytes = BYTES}};
    for (int boxes_made = 1; boxes_made < MAX_BOXES;)
      boxes_made += cut(&boxes[generate_below(&seed, boxes_made)], &boxes[boxes_made], &seed);
    packed += pack(boxes, MAX_BOXES, BYTES, 40000000) == BYTES;
    wrong += !are_apart(boxes, MAX_BOXES);
  }
  tap_ok(&tap, packed == count, "%d of %d rectangles are put together again", packed, count);
  tap_ok(&tap, wrong == 0, "no two boxes share an address at a step");
  PackBox three[] = {{0, 0, 4, 0}, {0, 1, 3, 0}, {1, 3, 3, 0}}; /* 10 bytes by area or by width, 7 by size */
  tap_ok(&tap, pack_load(three, 3) == 7 && pack(three, 3, 100, 1000) == 7, "where an order fits, a lower one is taken");
  pack_many_boxes(&tap);
  return tap_end(&tap);
}
