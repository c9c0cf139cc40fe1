/* array_names.h: what arrays are called by PyTorch Geometric, DGL and others, and what they are called here. */
#ifndef GNN_ARRAY_NAMES_H
#define GNN_ARRAY_NAMES_H

#include "dataset.h"
#include "safetensors.h"

/* What `arrays[i]` is called here: feat is x where there is no x, labels are y, ...; its own name behind `prefix` characters, the type of its nodes, where nothing else is known. */
const char *gnn_array_name(const gnn_tensor *arrays, int count, int i, size_t prefix);
/* A graph of DGL without types has nodes _N and edges of _N, _E, _N: _N.feat becomes feat, and _N___E___N.weight edge_weight. Names are the data set's. */
gnn_status gnn_array_undo_types(gnn_dataset *dataset, gnn_tensor *arrays, int count, gnn_error *error);
/* Whether NAME is a mask, of which split, and whether of several splits: train_mask, val_masks, ... */
int gnn_array_is_mask(const char *name, int *split, int *is_many);
/* A mask, of one split or with a column for each of several, and a list of rows are taken as splits. *is_split: it was one. */
gnn_status gnn_array_take_split(gnn_dataset *dataset, const char *name, const gnn_array *array, int *is_split, gnn_error *error);
/* train_edge_label_index, val_edge_label, ...: the pairs of nodes of a split, and whether an edge joins them. *is_pairs: it was one of these. */
gnn_status gnn_array_take_pairs(gnn_dataset *dataset, const char *name, const gnn_array *array, int *is_pairs, gnn_error *error);
/* "a, b and c [2, 4]": what an error says that there is; room for a message. */
void gnn_array_list(const gnn_tensor *arrays, int count, char *text, size_t room);

#endif
