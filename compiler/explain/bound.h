/* bound.h: how long each lane is at work in an epoch, and which of them is longest. */
#ifndef GNNCC_BOUND_H
#define GNNCC_BOUND_H

#include "compiler/plan/plan.h"

typedef struct LaneTimes {
  int steps;
  double busy_seconds, wait_seconds;
} LaneTimes;

/* Compute is busy with what runs again, too, and for as long as copies beside it slow it down. */
typedef struct Bound {
  LaneTimes lanes[LANE_COUNT]; /* of the training epoch; of the evaluation, where nothing is trained */
  bool is_told;                /* something is trained, and in that moved or made again; else compute is all there is */
  Lane lane;                   /* busy longest */
  double ratio;                /* of the epoch to what that lane is busy */
} Bound;

Bound bound(const Schedule *schedule);

#endif
