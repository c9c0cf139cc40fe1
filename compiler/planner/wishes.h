/* wishes.h: a search over what fillings begin with (docs/planner.md, section "Coarse problems").
 *
 * Single fates cannot change where the device is full. A wish says of a gap what is to become of it; the filling that follows makes room for what is to
 * stay, and lets others stay where there is some. So runs of pieces change at once, and each change gives a plan.
 */
#ifndef GNNCC_PLANNER_WISHES_H
#define GNNCC_PLANNER_WISHES_H

#include "filling.h"
#include "search.h"

typedef struct Wishes {
  Candidate *fates; /* as FillOptions.like */
  double reserve;   /* as FillOptions.reserve */
  bool is_filled;   /* else they are the plan */
} Wishes;

/* Of a candidate, which is copied. */
Wishes wishes_of(Arena *arena, const Evaluator *evaluator, const Candidate *candidate);

/* Better wishes by annealing, within `units` of the evaluator's effort; the plans that are best on the way are offered to the search. */
void wishes_search(Search *search, Wishes *wishes, int64_t units);

#endif
