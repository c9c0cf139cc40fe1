/* transpose.h: sums over neighbours by columns of all rows, for ranks that own rows.
 *
 * Instead of the rows of others that its sums gather, each rank gets some columns of the rows of all (COLUMNS), goes over the whole graph with them, and gives the sums of others' rows
 * back (BACK), which stand side by side then (BESIDE). That is what RDM does (IPDPS 2023). It moves 2 (R - 1) / R rows for each own row, whatever the graph; and a row is summed in one walk over
 * its edges in their order as ever, by the accumulators of the whole width, so that no bit changes. */
#ifndef GNNCC_TRANSPOSE_H
#define GNNCC_TRANSPOSE_H

#include "graph.h"

/* What the sum over neighbours gathers, where it is a plain sum of rows at the other ends of the graph's edges. NO_VALUE: it is none. */
ValueId transposable(const Graph *graph, ValueId sum);
enum { LEAST_RANK_UNIT = 8 };

/* Of `width` columns those that each of so many ranks has: a multiple of SLICE_UNIT where all have some then, else of LEAST_RANK_UNIT, and where these do not do the last ranks have none. The last that has
 * any may have fewer, in as much room. 0: one would have all. */
int64_t columns_of_ranks(int64_t width, int ranks);
/* The sum in `to`, of the rows `far` there. */
ValueId transposed_sum(Graph *to, const Graph *from, ValueId sum, ValueId far, int64_t columns);

#endif
