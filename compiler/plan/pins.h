/* pins.h: fates that the user decided: plan { fate "h*" = recompute }. */
#ifndef GNNCC_PINS_H
#define GNNCC_PINS_H

#include "answer.h"
#include "lang/diag.h"

/* Of the kernels of the epoch that computes everything where it was written. NULL: there are none, or, with an error said, one names nothing
 * or a tier that is not there. */
const Pins *pins_read(Arena *arena, const TypedProgram *program, const Kernels *training, const Machine *machine, Cut cut, Diags *diags);

bool pin_names_graph(const FatePin *pin); /* whom the nodes' edges come from or go to: "graph_in_idx" */

#endif
