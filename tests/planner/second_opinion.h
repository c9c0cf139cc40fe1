/* second_opinion.h: a third reading of S13, as a graph of tasks solved by a fixed point. Shares nothing with the
 * planner's simulator and the checker except the expanded problem. */
#ifndef TESTS_PLANNER_SECOND_OPINION_H
#define TESTS_PLANNER_SECOND_OPINION_H

#include "compiler/planner/finished_plan.h"

typedef struct Opinion {
  bool is_valid; /* fits the device and the tiers */
  int64_t makespan_ns, peak_bytes;
} Opinion;

/* The plan must be legal (its moves match gaps); validity is about memory. */
Opinion second_opinion(const Problem *problem, const PlannerPlan *plan);

/* Run the event graph of the plan, every wait of S13, with every task stretched or shortened at random: tasks start when their waits
 * are over, in no other order. False, with a note, when something never starts, or when more than device_bytes live
 * at any moment. */
bool second_opinion_shaken(const Problem *problem, const PlannerPlan *plan, uint64_t seed);

#endif
