/* pack.h: boxes that live for some steps -> addresses (docs/planner.md, section "Addresses"). */
#ifndef GNNCC_PLANNER_PACK_H
#define GNNCC_PLANNER_PACK_H

#include <stdint.h>

typedef struct PackBox {
  int from, until; /* steps, both included */
  int64_t bytes, offset;
} PackBox;

/* The largest sum of bytes at a step: nothing packs lower. */
int64_t pack_load(const PackBox *boxes, int count);

/* Sets the offsets so that no two boxes share a byte at a step; returns the height. Greedy orders, the lowest of which is kept;
 * above `limit` a complete search (few boxes) and a squeaky wheel go on until it fits. `effort`: pairs of boxes looked at. */
int64_t pack(PackBox *boxes, int count, int64_t limit, int64_t effort);

/* Of many boxes, by greedy orders alone: the packing of which least ends above the limit, in bytes times steps of whole boxes; its height. */
int64_t pack_least_above(PackBox *boxes, int count, int64_t limit);

#endif
