/* boundary.h: exchanges of a training that was asked by name not to be exact: train { approximate { boundary = ... } } (gnn_boundary).
 *
 * stale(1): rows of others are those of the epoch before, which have come meanwhile (PipeGCN, Wan et al., ICLR 2022), or averages a of what came, a = smooth * a + (1 - smooth) * rows.
 * The first epoch that a program trains waits for its rows, and so do averages begin with them.
 *
 * sample(p): of the n rows that rank r gathers of rank q, ceil(p * n) are drawn anew in each epoch, and count n / ceil(p * n) times; edges of the others are not there (BNS-GCN, Wan et al.,
 * MLSys 2022). What is drawn is a function of seed, epoch, q and r alone. Gradients go back over the edges that are there: sums over out-edges find the others at a row of zeros, which is the
 * last of their table, and rows that no edge leads to are not sent. */
#ifndef GNN_BOUNDARY_H
#define GNN_BOUNDARY_H

#include "ranks.h"

gnn_status gnn_boundary_begin(gnn_run *run, gnn_error *error); /* once the edges of a rank are filled in */
void gnn_boundary_end(gnn_ranks *ranks);
/* Of a copy that is_approximate; rows and bytes that left are what it returns. By the thread of the net's lane. */
int64_t gnn_boundary_exchange(gnn_run *run, int copy, unsigned char *sending, unsigned char *table);

#endif
