/* rank_times.h: Schedule of ranks -> when each step of an epoch begins on each rank, with the rows, edges and messages that are its own. */
#ifndef GNNCC_RANK_TIMES_H
#define GNNCC_RANK_TIMES_H

#include "compiler/plan/plan.h"

typedef struct RankTimes {
  int count, steps;          /* ranks; steps of the epoch, or of the evaluation where nothing is trained */
  double *start, *seconds;   /* [rank * steps + step]; of waits, what is left of them */
  double *balance;           /* [step]: the most over the mean, of kernels and exchanges; 1 where nothing takes time */
  int slowest;               /* with most seconds of compute */
} RankTimes;

/* A rank's share of a kernel is that of its edges where it sums over them, else that of its rows; exchanges begin when all have packed, sums over all rows end together. O(steps * ranks^2). */
RankTimes rank_times(Arena *arena, const Schedule *schedule, const RankInfo *ranks);

#endif
