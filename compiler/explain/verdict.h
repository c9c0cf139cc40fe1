/* verdict.h: no plan fits: what binds, and the cheapest ways out. */
#ifndef GNNCC_VERDICT_H
#define GNNCC_VERDICT_H

#include "compiler/plan/answer.h"
#include "lang/diag.h"

typedef struct Refusal {
  const PlanRequest *request;
  const PlanAnswer *answer;    /* of it: fits is false */
  const TypedProgram *program;
  const char *plan_from;       /* the file of a given plan, or NULL */
  /* Seconds of an epoch were the constant `name` defined as `value`; -1: it does not fit then either. */
  double (*try_constant)(void *of, const char *name, const char *value);
  void *of;
} Refusal;

/* Says it: E0501, E0502. Every way out that is named was planned. NULL, or a bug in gnncc that was met on the way. */
const char *verdict_refuse(const Refusal *refusal, Diags *diags);

#endif
