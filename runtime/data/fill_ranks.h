/* fill_ranks.h: of prepared data the rows of one rank, into the arena. */
#ifndef GNN_FILL_RANKS_H
#define GNN_FILL_RANKS_H

#include "fill.h"

/* The rank's rows, the edges that arrive at them, and which rows it sends to whom; of all ranks what is measured (gnn_instance.whole_rows). R0802 where the data are shared out otherwise than
 * when the program was compiled. */
gnn_status gnn_fill_ranks(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);
/* gnn_instance_fill_pairs: pairs that were drawn anew. */
gnn_status gnn_fill_pairs_of_rank(gnn_instance *instance, const gnn_dataset *dataset, int set, gnn_error *error);

#endif
