/* exact.h: the optimum of small problems: branch and bound over fates and variants, and over the prefetch boundaries
 * of one assignment (docs/planner.md, section "Exact search"). Optimal over: all fates of the gaps that
 * cover a step, all variants, all g, with canonical recompute. */
#ifndef GNNCC_PLANNER_EXACT_H
#define GNNCC_PLANNER_EXACT_H

#include "search.h"

/* Improve search->best to the optimum. True when it is proved; false when `effort` ran out or a piece of the proof is
 * beyond the limits of the timing search. */
bool exact_search(Search *search, int64_t effort);

/* The best plan with a few neighbouring gaps decided anew, exactly; window after window while that pays. */
void exact_windows(Search *search, int64_t effort);

#endif
