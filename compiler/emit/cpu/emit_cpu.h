/* emit_cpu.h: steps as C: functions over a struct of what a step needs, and the templates of kernels/cpu at the sizes of the model. */
#ifndef GNNCC_EMIT_CPU_H
#define GNNCC_EMIT_CPU_H

#include "compiler/emit/emit_calls.h"
#include "compiler/emit/emit_step.h"

/* The function `name` of a step, with what goes before it. */
StepText cpu_step_text(const Emission *emission, const Step *step, const char *name);
void cpu_emit_shared(const Emission *emission, FILE *out); /* the kernels that steps share */

#endif
