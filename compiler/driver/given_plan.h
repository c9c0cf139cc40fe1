/* given_plan.h: a plan that is read from a file instead of being made. */
#ifndef GNNCC_GIVEN_PLAN_H
#define GNNCC_GIVEN_PLAN_H

#include "compilation.h"

/* --plan-from: the epoch's plan in the form that it is of, into the request. False with an error. */
bool take_given_plan(Compilation *compilation);

#endif
