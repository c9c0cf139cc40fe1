/* locality.h: how well gathers along the edges of a graph use caches. */
#ifndef GNNCC_LOCALITY_H
#define GNNCC_LOCALITY_H

#include "lang/typed.h"

/* in_ptr [nodes + 1], in_source [in_ptr[nodes]]: the sources of each node's in-edges. Leaves locality[END_DST] of sums over
 * in-edges and locality[END_SRC] of sums over out-edges, each row by row; unknown where there are no edges, or no memory to
 * look at them. Time: a few passes over the edges. */
void locality_of_edges(int64_t nodes, const int64_t *in_ptr, const int32_t *in_source, bool is_symmetric, Locality locality[2]);

/* The same from a part of the gathers, trace[gathers], one after the other. When a row that is new among them was gathered last nobody saw: they
 * come from anywhere further away than the part has rows. */
Locality locality_of_sample(int64_t nodes, int64_t gathers, const int32_t *trace);

#endif
