/* random_plan.h: legal plans that no planner would make. */
#ifndef TESTS_PLANNER_RANDOM_PLAN_H
#define TESTS_PLANNER_RANDOM_PLAN_H

#include "compiler/planner/evaluate.h"
#include "compiler/planner/finished_plan.h"

/* Random fates, variants, g and f; NULL when the fates drawn have no legal sequence. The evaluator's sequence is the
 * plan's; memory may be exceeded. */
PlannerPlan *random_plan(Arena *arena, Evaluator *evaluator, uint64_t seed);

/* The plan of the evaluator's sequence as it stands, without claims and addresses. */
PlannerPlan *random_plan_of_sequence(Arena *arena, const Evaluator *evaluator);

#endif
