/* nested_locality.h: how well gathers along the edges of a graph would use caches were its nodes in a nested order. */
#ifndef GNNCC_NESTED_LOCALITY_H
#define GNNCC_NESTED_LOCALITY_H

#include "lang/lang.h"

enum { NESTED_MOST_EDGES = 1 << 18 }; /* to look at: some 50 ms */

/* The arguments of locality_of_edges, and what it leaves, of the graph in the order that `order = nested` makes (runtime/data/order.h). A graph
 * of more than `most_edges` edges is not put in order: then it is estimated from regions that have so many together, and sums over out-edges are taken to be as those over in-edges. */
void locality_if_nested(int64_t nodes, const int64_t *in_ptr, const int32_t *in_source, bool is_symmetric, int64_t most_edges, Locality locality[2]);

/* Seconds that it takes to make that order of all nodes, about, on one core of a server of today. */
double nested_order_seconds(int64_t nodes, int64_t edges, bool is_symmetric);

#endif
