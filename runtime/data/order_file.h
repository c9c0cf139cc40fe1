/* order_file.h: files that hold an order of the nodes: gnncc's own, a safetensors file (docs/formats.md), and plain .npy files. */
#ifndef GNN_ORDER_FILE_H
#define GNN_ORDER_FILE_H

#include "halo.h"

/* Of what they hold; never 0. */
uint64_t gnn_graph_fingerprint(int64_t nodes, const int64_t *in_ptr, const int32_t *in_idx);
uint64_t gnn_order_fingerprint(int64_t nodes, const int32_t *order);

extern const char gnn_order_mark[]; /* in the metadata of gnncc's own */

/* halo: of the graph so ordered; NULL: not written. */
gnn_status gnn_order_write(const char *path, const char *method, int64_t nodes, const int32_t *order, uint64_t graph, const gnn_halo *halo, gnn_error *error);
/* E0710 unless the file holds every node 0 .. nodes - 1 once, and does not say that it was made for another graph. */
gnn_status gnn_order_read(const char *path, int64_t nodes, uint64_t graph, int32_t *order, gnn_error *error);

#endif
