/* entries.h: sparse matrices by their entries, as torch holds them: NAME.indices [2, E], NAME.values [E] and NAME.shape [rows, columns]. */
#ifndef GNN_ENTRIES_H
#define GNN_ENTRIES_H

#include "dataset.h"
#include "safetensors.h"

/* adj and adj_t become edge_index [2, E], and edge_weight where not all values are 1, edge_attr where there are several an entry. Of any other the entries are put
 * row by row: NAME.rowptr [rows + 1], NAME.col and NAME.val, beside NAME.shape. In place: three arrays may become four, and `arrays` has room for that. Memory and names are the data set's. */
gnn_status gnn_entries_sort(gnn_dataset *dataset, gnn_tensor *arrays, int *count, gnn_error *error);

/* Whether arrays[i] is a part of such a matrix, from character `prefix` of its name on; the first part, rowptr, is added as the field OWNER.NAME, without a dot where
 * owner is "". */
gnn_status gnn_entries_take(gnn_dataset *dataset, const gnn_tensor *arrays, int count, int i, size_t prefix, const char *owner, int *is_part, gnn_error *error);

#endif
