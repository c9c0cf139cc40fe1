/* plan_report.h: what `gnncc plan` prints about a plan. */
#ifndef GNNCC_PLANNER_PLAN_REPORT_H
#define GNNCC_PLANNER_PLAN_REPORT_H

#include "planner.h"

#include <stdio.h>

/* One of the things that are on the device together. */
typedef struct Share {
  const char *name;
  int64_t bytes;
} Share;

/* "50.0 MiB h1 + 1.6 MiB relu_bits, and 12 smaller, 35.1 KiB in all": the largest first. What is not in the list of all these `bytes` is
 * workspace; that is added to the list, which lies in the arena. */
const char *plan_report_shares(Arena *arena, Share *shares, int count, int64_t bytes);
/* Those at the step that binds, as the problem names them. */
const char *plan_report_bind(Arena *arena, const Problem *problem, const PlannerReport *report);

void plan_report_plan(FILE *out, const Problem *problem, const PlannerReport *report, const PlannerPlan *plan);
/* `policy`: the Policy whose plan was asked for, or -1. */
void plan_report_infeasible(FILE *out, const Problem *problem, const PlannerReport *report, int policy);
void plan_report_policies(FILE *out, const PlannerReport *report);

#endif
