/* timing.h: the best prefetch boundaries of one sequence, by a label search over (step, reloads issued). */
#ifndef GNNCC_PLANNER_TIMING_H
#define GNNCC_PLANNER_TIMING_H

#include "evaluate.h"

typedef struct Timing Timing;

Timing *timing_new(Arena *arena, const Evaluator *evaluator);

/* A lower bound on the makespan of the built sequence over every choice of g; COST_INVALID when nothing fits. */
int64_t timing_bound(Timing *timing, Evaluator *evaluator);

/* The least makespan below `limit` over every choice of g. Sets the g of the sequence's moves and returns it; returns
 * `limit` when there is none. *is_exact is false when the search was cut or the sequence is too large for it. */
int64_t timing_search(Timing *timing, Evaluator *evaluator, int64_t limit, bool *is_exact);

#endif
