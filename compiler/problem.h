/* problem.h: the training epoch as a planning problem. */
#ifndef GNNCC_PROBLEM_EXPORT_H
#define GNNCC_PROBLEM_EXPORT_H

#include "emit.h"

/* A gnncc-problem/1 document; without a train block it has no ops. */
void emit_problem(const Emission *emission, FILE *out);

#endif
