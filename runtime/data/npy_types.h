/* npy_types.h: relations and types of nodes in a folder of NumPy arrays; the form is in docs/formats.md. */
#ifndef GNN_NPY_TYPES_H
#define GNN_NPY_TYPES_H

#include "dataset.h"
#include "safetensors.h"
#include "runtime/base/json.h"

typedef struct npy_relation_names {
  int count;
  char name[GNN_RELATIONS_MAX][64];
} npy_relation_names;

/* "relation_names" of graph.json, where it has them. */
gnn_status npy_types_names(gnn_dataset *dataset, const gnn_json *json, npy_relation_names *names, gnn_error *error);
/* A relation for each number in edge_type [edges]; the edges are there. */
gnn_status npy_types_split(gnn_dataset *dataset, const gnn_array *type, const npy_relation_names *names, gnn_error *error);

/* "node_types" and "relations" of graph.json, where it has them: from then on the data set has type_count > 0. */
gnn_status npy_types_declared(gnn_dataset *dataset, const gnn_json *json, gnn_error *error);
/* How many nodes each type has, where graph.json only names them: paper.num_nodes, or paper.batch_num_nodes [graphs]. */
gnn_status npy_types_counts(gnn_dataset *dataset, const gnn_tensor *arrays, int count, gnn_error *error);
/* paper.x, paper.train_mask, cites.edge_index or paper__cites__paper.edge_index: one of the arrays of such data. */
gnn_status npy_types_array(gnn_dataset *dataset, const gnn_tensor *arrays, int count, int i, gnn_error *error);
gnn_status npy_types_check(const gnn_dataset *dataset, gnn_error *error); /* every relation has its edges */

#endif
