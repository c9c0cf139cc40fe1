/* prepare.h: the parts of gnn_dataset_prepare, a file each. */
#ifndef GNN_PREPARE_H
#define GNN_PREPARE_H

#include "dataset.h"

/* Sorts the arcs by (destination, source), drops duplicates, applies undirected and self_loops. *origin: where each
 * edge stems from in the raw arrays, -1 for added self-loops; owned by the data set; NULL unless wants_origin. */
gnn_status gnn_prepare_edges(gnn_dataset *dataset, const gnn_recipe *recipe, int wants_origin, int64_t **origin,
                             gnn_error *error);
/* Renumbers the graph, and origin[] with it. */
gnn_status gnn_prepare_order(gnn_dataset *dataset, const gnn_recipe *recipe, int64_t *origin, gnn_error *error);
gnn_status gnn_prepare_fields(gnn_dataset *dataset, const gnn_recipe *recipe, const int64_t *origin, gnn_error *error);
gnn_status gnn_prepare_splits(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error);

#endif
