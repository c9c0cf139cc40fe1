/* pins.h: fates that the user decided: plan { fate "h*" = recompute }. */
#ifndef GNNCC_PINS_H
#define GNNCC_PINS_H

#include "answer.h"
#include "lang/diag.h"

/* Of the kernels of the epoch that computes everything where it was written. NULL: there are none, none is of a value, or, with an error said, one names nothing
 * or a tier that is not there. */
const Pins *pins_read(Arena *arena, const TypedProgram *program, const Kernels *training, const Machine *machine, Cut cut, Diags *diags);

/* Each fate of the program is the home of a field, of weights on nodes or of neighbours, and of no value, where these have their names. */
bool pins_are_of_data(Arena *arena, const TypedProgram *program, const Graph *training);
bool pin_names_graph(const FatePin *pin); /* whom the nodes' edges come from or go to: "graph_in_idx" */

#endif
