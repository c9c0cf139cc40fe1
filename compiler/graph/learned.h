/* learned.h: weights that have a row for each node, and what an optimiser keeps of weights. */
#ifndef GNNCC_LEARNED_H
#define GNNCC_LEARNED_H

#include "graph.h"

/* Per param: a row of it belongs to each node, and whatever reads it in the graph, and its gradient, has rows of nodes in one shape: then it may be cut as
 * other values on nodes are. The domain of its rows, DOMAIN_NONE of other weights. */
Domain *learned_domains(const Graph *graph);
/* Those of the nodes of the first type. */
bool *learned_on_nodes(const Graph *graph);
/* Of a graph in which such weights are cut: their gradients that something reads as one row of numbers, which are not; NULL: there are none. */
const char *learned_whole_gradients(const Graph *graph);
/* The optimiser keeps this state of the weight; ACCUMULATED_STATE: gradients of several epochs are summed. */
bool weight_has_state(const TypedProgram *program, int32_t param, int number);

#endif
