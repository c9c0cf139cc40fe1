/* emit_calls.h: the functions of all steps, each printed once, and the calls of them that run an epoch. */
#ifndef GNNCC_EMIT_CALLS_H
#define GNNCC_EMIT_CALLS_H

#include "emit_arguments.h"

/* A step written down by a printer. */
typedef struct StepText {
  const char *text; /* its functions on the processor, or its kernels on a GPU */
  const char *host; /* of a GPU: the function that launches them; else "" */
  int kernel_count;
  const char **kernels; /* of a GPU: their names */
  Arguments *arguments;
} StepText;

/* Steps whose text is the same share one of these. */
typedef struct StepFunction {
  const char *name;    /* "step_4": the first that runs it; "update_weight" */
  const char *subject; /* only steps of the same can have the same text */
  const char *what;    /* the first step's */
  int line;
  const char *steps;   /* the numbers of all: "4, 21" */
  StepText code;
} StepFunction;

typedef struct StepCall {
  const StepFunction *function; /* NULL: a copy or a wait */
  const Arguments *arguments;
} StepCall;

typedef struct StepCalls {
  int function_count;
  StepFunction **functions;
  StepCall *calls; /* by the index of the step */
} StepCalls;

typedef StepText StepPrinter(const Emission *emission, const Step *step, const char *name);

StepCalls *step_calls(const Emission *emission, StepPrinter *print);
const StepCalls *emit_step_calls(const Emission *emission); /* emit.c: for the program's backend */
/* "step_4(g, V(h));" of a step of the plan. */
void emit_call(const Emission *emission, const StepCalls *calls, int step, PieceLists *lists, FILE *out);
/* Of a table of ranks, whose rows that others gather are made first: "step_4_own(g, V(h));", its own rows. */
void emit_call_for_own(const Emission *emission, const StepCalls *calls, int step, PieceLists *lists, FILE *out);

/* The order that keeps every value: where things lie in it, and its steps, which are calls of the plan's functions. */
/* On a GPU, after a step that makes scores which leave for the host, and after an evaluation: loss and hits of each split. `places` as of blocks, "AT" or "KEEP". */
void emit_measure_of_step(const Emission *emission, const Layout *layout, const Step *step, const char *places, FILE *out);
void emit_measure(const Emission *emission, const Layout *layout, int last_step, const char *places, FILE *out);
void emit_keep_places(const Emission *emission, FILE *out);
void emit_keep_order(const Emission *emission, const StepCalls *calls, FILE *out);

#endif
