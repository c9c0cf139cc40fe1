#include "finished_plan.h"

#include <stdlib.h>

bool plan_is_resident(const Problem *problem, const PlanInterval *interval) { return interval->piece >= 0 && problem->pieces[interval->piece].home == TIER_DEVICE; }

int plan_compare_intervals(const void *a, const void *b) {
  const PlanInterval *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return x->piece < y->piece ? -1 : x->piece > y->piece;
}

int64_t plan_resident_bytes(const Problem *problem) {
  int64_t bytes = 0;
  for (int x = 0; x < problem->piece_count; x++)
    if (problem->pieces[x].home == TIER_DEVICE) bytes += problem->pieces[x].bytes;
  return bytes;
}

int64_t plan_offset(const PlannerPlan *plan, int piece, int from) {
  const PlanInterval key = {.piece = piece, .from = from};
  const PlanInterval *found = plan->interval_count ? bsearch(&key, plan->intervals, (size_t)plan->interval_count, sizeof key, plan_compare_intervals) : NULL;
  return found ? found->offset : -1;
}
