/* sweep_program.h: the same program planned for many budgets of a tier, or of two. */
#ifndef GNNCC_SWEEP_PROGRAM_H
#define GNNCC_SWEEP_PROGRAM_H

#include "instead.h"
#include "sweep.h"

typedef struct SweptProgram {
  const TypedProgram *program;
  const PlanRequest *request; /* of its plan */
  const PlanAnswer *answer;   /* it fits */
  const PlanRequest *asked;   /* the same before its values were cut; with parts_at_most above 1 every point has the cut of its own budgets */
  const Machine *unswept;     /* before --sweep gave its tiers the largest budget */
  int64_t work_at_most; /* of PlanRequest, whose `work` counts it: then no more budgets are looked at; 0: as many as there are */
} SweptProgram;

/* Before planning: gives the swept tiers of the machine the largest budget asked for. What is wrong with --sweep=TEXT, or NULL. */
const char *sweep_prepare(Arena *arena, const TypedProgram *program, const char *text, Machine *machine);
/* The sweep asked for by --sweep=TEXT. */
const Sweep *sweep_asked(const SweptProgram *swept, const char *text);
/* The device from the least that works to what keeping everything needs, for the report: with the cut of its plan. NULL without a train block. */
const Sweep *sweep_of_device(const SweptProgram *swept, const Instead *instead);

#endif
