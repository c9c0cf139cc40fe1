/* subgraph.h: a few hundred nodes of a data set, with the edges among them. */
#ifndef GNN_SUBGRAPH_H
#define GNN_SUBGRAPH_H

#include "dataset.h"

/* At most `most` nodes reached breadth-first against the edges from the nodes of training rows, and the subgraph they induce: fields,
 * labels and splits follow. Prepared; transformations are not applied a second time. */
gnn_status gnn_subgraph(const gnn_dataset *dataset, int64_t most, gnn_dataset **out, gnn_error *error);

#endif
