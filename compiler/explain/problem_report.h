/* problem_report.h: a planner's problem and its plan -> the text of a gnncc-report/1. */
#ifndef GNNCC_PROBLEM_REPORT_H
#define GNNCC_PROBLEM_REPORT_H

#include "sweep.h"
#include "compiler/planner/planner.h"

/* To be freed; NULL: the plan is none of the problem. `is_direct`: the device reaches the SSD itself. `sweep` may be NULL. */
char *problem_report_text(Arena *arena, const Problem *problem, bool is_direct, const PlannerPlan *plan, const PlannerReport *report, const Sweep *sweep);
/* Values by what became of them: those that the report tells of. */
bool problem_fates(Arena *arena, const Problem *problem, const PlannerPlan *plan, int fates[FATE_COUNT]);

#endif
