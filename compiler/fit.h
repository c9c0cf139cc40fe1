/* fit.h: plan, schedule and layout within the budgets, or the verdict that nothing fits and what would. */
#ifndef GNNCC_FIT_H
#define GNNCC_FIT_H

#include "driver.h"

/* The passes `plan`, `schedule` and `layout`. False after an error, which is said. */
bool fit_plan(Compilation *c);
bool fit_schedule(Compilation *c);
bool fit_layout(Compilation *c);
/* One more plan of the epoch (policy -1: none), or of the evaluation beside such a plan, on another machine; c stays as it is. NULL: the planner
 * cannot take the problem. */
Plan *fit_training_on(Compilation *c, const Machine *machine, int policy, const Pins *pins);
Plan *fit_evaluation_on(Compilation *c, const Machine *machine, const Plan *training);
/* The kernels of c's plans with every value kept, whatever memory that takes. NULL: the planner cannot take the problem. */
const KeepOrder *fit_keep_order(Compilation *c);
/* What keeping or recomputing everything, or the smallest or a larger device, would give. NULL without a train block. */
const Instead *fit_instead(Compilation *c);

#endif
