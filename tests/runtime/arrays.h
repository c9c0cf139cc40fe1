/* arrays.h: data of a test from arrays in memory. */
#include "../../runtime/data/readers.h"

static inline gnn_array vector(gnn_dtype dtype, int64_t count, const void *data) {
  return (gnn_array){.dtype = dtype, .rank = 1, .shape = {count}, .count = count, .data = data};
}

/* A graph with x and the label y of each node and the weight w of each edge; not prepared. */
static inline gnn_dataset *weighted_graph(const char *name, int64_t nodes, int64_t edges, const int64_t *source, const int64_t *destination, const gnn_array *x,
                                          const int64_t *label, const float *weight) {
  gnn_dataset *d = gnn_dataset_new(name);
  gnn_array y = vector(GNN_I64, nodes, label), w = vector(GNN_F32, edges, weight);
  d->raw_source = vector(GNN_I64, edges, source);
  d->raw_destination = vector(GNN_I64, edges, destination);
  d->has_edges = 1;
  d->declared_nodes = nodes;
  gnn_dataset_add_field(d, "x", GNN_NODE, x, NULL);
  gnn_dataset_add_field(d, "y", GNN_NODE, &y, NULL);
  gnn_dataset_add_field(d, "w", GNN_EDGE, &w, NULL);
  return d;
}
