/* fill_ranks.h: of prepared data the rows of one rank, into the arena. */
#ifndef GNN_FILL_RANKS_H
#define GNN_FILL_RANKS_H

#include "fill.h"

/* Whether ranks of the program can do with the edges of their own nodes: no values on edges pass between them, none goes over all edges, and none has the number that the data in their own order give it. */
static inline int gnn_ranks_own_edges(const gnn_program *program) {
  const gnn_ranks_desc *desc = program->ranks;
  return desc && desc->whole_set == 0 && desc->at_send[GNN_HALO_EDGES] < 0 && program->graph.set_count == GNN_RELATIONS && program->graph.type_count == 0 && program->graph.sets[GNN_EDGES].at_out_edge < 0 &&
         (program->recipe.order == GNN_ORDER_GIVEN || program->graph.at_edge_id < 0);
}
/* gnn_dataset_prepare, or what a rank keeps of it (gnn_dataset_prepare_own). ranks NULL: one process. */
gnn_status gnn_prepare_for_rank(gnn_ranks *ranks, const gnn_program *program, gnn_dataset *dataset, gnn_error *error);

/* The rank's rows, the edges that arrive at them, and which rows it sends to whom; of all ranks what is measured (gnn_instance.whole_rows). R0802 where the data are shared out otherwise than
 * when the program was compiled. */
gnn_status gnn_fill_ranks(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);
/* gnn_instance_fill_pairs: pairs that were drawn anew. */
gnn_status gnn_fill_pairs_of_rank(gnn_instance *instance, const gnn_dataset *dataset, int set, gnn_error *error);

#endif
