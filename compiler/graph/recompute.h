/* recompute.h: rows of others that a rank makes itself, for sums over neighbours.
 *
 * What a sum gathers may be made row by row of weights and of what never changes: products of the features, or of their first sums, with what follows them. Of that the rows of others come once, and a
 * rank makes of them, in each epoch, what other ranks would send (NeutronStar's choice, SIGMOD 2022). A row is made by the same steps whoever makes it, dropout draws by what the data call it, and
 * its product is added up in one order wherever it lies; so no bit changes. */
#ifndef GNNCC_RECOMPUTE_H
#define GNNCC_RECOMPUTE_H

#include "layer_cuts.h"

/* Per value: numbers on nodes that change, whose rows can be made so. is_sparse: per field, products go over its numbers that are not 0, which do not come. */
bool *recomputable(const Graph *graph, const bool *is_sparse);
/* Layers of which some sum over in-edges gathers such a value, by pass. */
LayersOfSums recomputable_layers(const Graph *graph, const bool *is_sparse);

/* Of a graph that is being cut: image: per value of `from`, what it is in `to`. */
typedef struct Recomputing Recomputing;
Recomputing *recomputing_new(const Graph *from, Graph *to, const ValueId *image, const bool *is_sparse);
/* In `to` the table of the value's rows with those of others, for sums over in-edges of this pass and later ones; NO_VALUE: it cannot be made so. */
ValueId recomputed_table(Recomputing *r, ValueId value, Phase phase);
/* Says in `to` which values have such tables. */
void note_recomputed(const Recomputing *r);

#endif
