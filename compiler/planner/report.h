/* report.h: what `gnncc plan` prints about a plan. */
#ifndef GNNCC_PLANNER_REPORT_H
#define GNNCC_PLANNER_REPORT_H

#include "planner.h"

#include <stdio.h>

void report_plan(FILE *out, const Problem *problem, const PlannerReport *report, const Plan *plan);
void report_infeasible(FILE *out, const Problem *problem, const PlannerReport *report);
void report_policies(FILE *out, const PlannerReport *report);

#endif
