/* explanation.h: a plan explained: what became of each value, and what other plans would be. Reports are views of it. */
#ifndef GNNCC_EXPLANATION_H
#define GNNCC_EXPLANATION_H

#include "advice.h"
#include "instead.h"
#include "sweep.h"
#include "compiler/emit/emit.h"
#include "compiler/plan/decisions.h"

typedef struct Explanation {
  const Emission *emission;
  Cut cut;
  const OnceTables *tables; /* of ranks, of rows that never change; NULL: there are none */
  const Decisions *decisions;
  const Instead *instead; /* NULL: not asked for */
  const Advice *advice;   /* NULL: not asked for, or the plan was given */
  const Sweep *sweep;     /* NULL: not asked for */
} Explanation;

#endif
