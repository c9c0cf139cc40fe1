/* partition.h: orders of the nodes from parts of them. */
#ifndef PARTITION_H
#define PARTITION_H

#include "graph_rows.h"
#include "ingest.h"
#include "runtime/data/halo.h"

enum { PARTITION_NESTED_MOST = 4096 /* parts whose order is looked for */ };

/* An order like gnn_order_nested's, by passes over the rows as they stand: besides the result it holds 4 bytes a node, and nothing that grows with the edges. */
gnn_status partition_streamed(const graph_rows *rows, int32_t *order, ingest_progress *progress, gnn_error *error);
/* part[v], 0 .. parts - 1: nodes of a part stand together, and parts with many edges between them close to each other; is_nested: the parts already stand so. */
gnn_status partition_order(const graph_rows *rows, const int32_t *part, int64_t parts, int is_nested, int32_t *order, gnn_error *error);
/* The halos of an order; to be freed. 12 bytes a node. */
gnn_status partition_halo(const graph_rows *rows, const int32_t *order, gnn_halo *halo, gnn_error *error);

/* Part numbers from a file: a whole number a line, or a NumPy array; part[nodes], *parts: the greatest + 1. */
gnn_status partition_read(const char *path, int64_t nodes, int32_t *part, int64_t *parts, gnn_error *error);
/* By METIS (Karypis and Kumar 1998), whose library is looked for when it is asked for; the parts are nested. GNN_EINVAL: it is not there, or the graph is too large for it. */
gnn_status partition_metis(const graph_rows *rows, int32_t *part, int64_t parts, gnn_error *error);

#endif
