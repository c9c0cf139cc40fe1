/* fill.h: prepared data into the arena, at the offsets the plan has for them. */
#ifndef GNN_FILL_H
#define GNN_FILL_H

#include "dataset.h"
#include "runtime/core/instance.h"

/* Graph, degrees, fields and splits; the data set may be closed afterwards. R0802 where the data do not fit the plan. */
gnn_status gnn_instance_load(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);

#endif
