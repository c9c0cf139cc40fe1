/* verdict.h: no plan fits: what binds, and the cheapest ways out. */
#ifndef GNNCC_VERDICT_H
#define GNNCC_VERDICT_H

#include "advice.h"
#include "lang/diag.h"

typedef struct Refusal {
  const PlanRequest *asked;    /* with every cut that is open */
  const PlanRequest *request;  /* of the cut of the answer */
  const PlanAnswer *answer;    /* of it: fits is false */
  const TypedProgram *program;
  const char *plan_from;       /* the file of a given plan, or NULL */
  const Changes *changes;
} Refusal;

/* The work (of PlanRequest) after which no way out is tried any more that has not been begun: never by a clock, so that the same question has the same answer. */
enum { REFUSAL_WORK = 4000000 };

/* Says it: E0501, E0502. Every way out that is named was planned. NULL, or a bug in gnncc that was met on the way. */
const char *verdict_refuse(const Refusal *refusal, Diags *diags);

#endif
