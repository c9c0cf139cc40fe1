/* fill.h: prepared data into the arena, at the offsets the plan has for them. */
#ifndef GNN_FILL_H
#define GNN_FILL_H

#include "instance.h"

gnn_status gnn_fill_graph(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);
gnn_status gnn_fill_field(gnn_instance *instance, const gnn_dataset *dataset, const gnn_field_desc *field,
                          gnn_error *error);
gnn_status gnn_fill_splits(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);

#endif
