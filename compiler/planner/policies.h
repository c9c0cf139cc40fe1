/* policies.h: how other systems would decide, in the same simulator (docs/planner.md, section "Policies of others").
 * Each gives fates; the steps, the prefetch boundaries and the times are made like ours. */
#ifndef GNNCC_PLANNER_POLICIES_H
#define GNNCC_PLANNER_POLICIES_H

#include "evaluate.h"

/* The plan of a policy in `candidate` (fates, variants, cost). The cost is COST_INVALID or more when it does not fit. */
void policy_plan(Evaluator *evaluator, Policy policy, Candidate *candidate);

bool policy_fits(const Problem *problem, Policy policy);

/* Evict everything that can be evicted, in a way that keeps host and SSD within their sizes: the plan to fall back on.
 * `preference` (0..5) orders the tiers that are tried. */
void policy_evict_all(Evaluator *evaluator, int preference, Candidate *candidate);

#endif
