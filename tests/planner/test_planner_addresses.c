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

static bool are_apart(const PackBox *boxes) {
  for (int i = 0; i < MAX_BOXES; i++)
    for (int k = 0; k < i; k++) {
      const PackBox *a = &boxes[i], *b = &boxes[k];
      bool share_steps = a->from <= b->until && b->from <= a->until;
      if (share_steps && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes) return false;
    }
  return true;
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
    wrong += !are_apart(boxes);
  }
  tap_ok(&tap, packed == count, "%d of %d rectangles are put together again", packed, count);
  tap_ok(&tap, wrong == 0, "no two boxes share an address at a step");
  PackBox three[] = {{0, 0, 4, 0}, {0, 1, 3, 0}, {1, 3, 3, 0}}; /* 10 bytes by area or by width, 7 by size */
  tap_ok(&tap, pack_load(three, 3) == 7 && pack(three, 3, 100, 1000) == 7, "where an order fits, a lower one is taken");
  return tap_end(&tap);
}
