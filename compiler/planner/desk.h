/* desk.h: fates that are given to one gap after the other, with what they take of each tier so far. */
#ifndef GNNCC_PLANNER_DESK_H
#define GNNCC_PLANNER_DESK_H

#include "evaluate.h"
#include "skyline.h"

typedef struct Desk {
  Evaluator *evaluator;
  const Problem *problem;
  const Geometry *geometry;
  Arena *arena; /* closing the desk frees it */
  uint8_t *fates;
  Skyline profile; /* bytes at each base step under the fates so far, every g = v */
  Skyline host, ssd;
} Desk;

/* A candidate with the first variants, where everything stays; the desk decides its fates. */
Desk desk_open(Evaluator *evaluator, Candidate *candidate);

/* The variants with the least workspace, before any fate is given. */
void desk_take_least_work(Desk *desk, Candidate *candidate);

void desk_close(Desk *desk);

static inline bool desk_may(const PlanGap *gap, Fate fate) {
  return (gap->options & FATE_BIT(fate)) != 0;
}

/* Give a gap a fate; false when the tier is full or the fate not allowed. The device is never full. */
bool desk_assign(Desk *desk, int gap, Fate fate);

bool desk_move_away(Desk *desk, int gap);

/* Would the piece fit in its gap below `limit_bytes`? */
bool desk_has_room(const Desk *desk, int gap, int64_t limit_bytes);

/* What is pinned leaves; it may be given another of its fates afterwards. */
void desk_obey_pins(Desk *desk);

#endif
