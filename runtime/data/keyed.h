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
  int takes_aliases;          /* node_features is x where there is no x, labels are y, ... */
  int64_t declared_edges, declared_classes; /* -1: not said */
  const npy_relation_names *relations;      /* of edge_type; NULL: none */
} gnn_keyed;

/* The arrays stay where they are, and have to outlive the data set, or be its own. */
gnn_status gnn_read_keyed(gnn_dataset *dataset, const gnn_keyed *keyed, gnn_error *error);
/* Whether NAME is a mask, of which split, and whether of several splits: train_mask, val_masks, ... */
int gnn_keyed_is_mask(const char *name, int *split, int *is_many);
/* Edges as [2, E], or [E, 2], which is taken apart: the two ends. `name` is for messages. */
gnn_status gnn_keyed_edges(gnn_dataset *dataset, const char *path, const char *name, const gnn_array *array, gnn_array *source, gnn_array *destination, gnn_error *error);
/* "a, b and c [2, 4]": what an error says that there is; room for a message. */
void gnn_keyed_list(const gnn_tensor *arrays, int count, char *text, size_t room);

/* Arrays of a file by whatever names are known: those of our own form, of SciPy and of the sets of Shchur et al., PyG's. */
gnn_status gnn_read_named(gnn_dataset *dataset, const gnn_safetensors *file, const char *path, gnn_error *error);

#endif
