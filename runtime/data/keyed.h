/* keyed.h: a graph from arrays by the names that PyTorch Geometric gives them: edge_index, x, y, train_mask, ...; wherever the arrays come from. */
#ifndef GNN_KEYED_H
#define GNN_KEYED_H

#include "dataset.h"
#include "npy_types.h"
#include "safetensors.h"

typedef struct gnn_keyed {
  const char *path;           /* for messages */
  const char *ending;         /* behind a name in messages: ".npy", or "" */
  int count;
  const gnn_tensor *arrays;   /* a name twice is an error of whoever made them */
  int64_t declared_edges, declared_classes; /* -1: not said */
  const npy_relation_names *relations;      /* of edge_type; NULL: none */
} gnn_keyed;

/* The arrays stay where they are, and have to outlive the data set, or be its own. */
gnn_status gnn_read_keyed(gnn_dataset *dataset, const gnn_keyed *keyed, gnn_error *error);
/* Edges as [2, E], or [E, 2], which is taken apart: the two ends. `name` is for messages. */
gnn_status gnn_keyed_edges(gnn_dataset *dataset, const char *path, const char *name, const gnn_array *array, gnn_array *source, gnn_array *destination, gnn_error *error);

/* Arrays of a file by whatever names are known: those of our own form, of SciPy and of the sets of Shchur et al., PyG's. */
gnn_status gnn_read_named(gnn_dataset *dataset, const gnn_safetensors *file, const char *path, gnn_error *error);

#endif
