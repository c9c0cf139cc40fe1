/* fill_halo.h: what parts of the nodes gather of each other, into the arena. */
#ifndef GNN_FILL_HALO_H
#define GNN_FILL_HALO_H

#include "dataset.h"
#include "runtime/core/device.h"

/* Codes stand where the ids of neighbours would: in the host arena or on the SSD, too. */
static inline int gnn_halo_has_codes_for_ids(const gnn_graph_desc *plan, int direction) { return plan->halo[direction].pairs && plan->halo[direction].at_code < 0; }

/* gnn_run.halo[direction], of sums over in-edges (0) or out-edges (1), once the edges are in their places. Fails (GNN_EDATA) where parts gather other numbers of rows than those that
 * the program was made for. */
gnn_status gnn_fill_halo(gnn_instance *instance, const gnn_dataset *dataset, int direction, gnn_error *error);
/* gnn_run.halo[GNN_HALO_EDGES]. */
gnn_status gnn_fill_edge_halo(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);

#endif
