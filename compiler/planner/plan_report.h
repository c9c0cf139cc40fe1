/* plan_report.h: what `gnncc plan` prints about a plan. */
#ifndef GNNCC_PLANNER_PLAN_REPORT_H
#define GNNCC_PLANNER_PLAN_REPORT_H

#include "planner.h"

#include <stdio.h>

void plan_report_plan(FILE *out, const Problem *problem, const PlannerReport *report, const PlannerPlan *plan);
/* `policy`: the one whose plan was asked for, or NULL. */
void plan_report_infeasible(FILE *out, const Problem *problem, const PlannerReport *report, const char *policy);
void plan_report_policies(FILE *out, const PlannerReport *report);

#endif
