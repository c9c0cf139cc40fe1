/* prepare.h: the parts of gnn_dataset_prepare, a file each. */
#ifndef GNN_PREPARE_H
#define GNN_PREPARE_H

#include "dataset.h"

/* Fields with files of their own join those of the data, or take their place. */
gnn_status gnn_prepare_file_fields(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error);
/* What holds a field, for messages: its own file, or the data. */
static inline const char *gnn_field_title(const gnn_dataset *dataset, const gnn_data_field *field) { return field->file ? field->file : dataset->title; }
/* Sorts the arcs by (destination, source), drops duplicates unless they are kept, applies undirected and self_loops. *origin: where each
 * edge stems from in the raw arrays, -1 for added self-loops; owned by the data set; NULL unless wants_origin. */
gnn_status gnn_prepare_edges(gnn_dataset *dataset, const gnn_recipe *recipe, int wants_origin, int64_t **origin,
                             gnn_error *error);
/* dataset->own. In memory are its edges, and what is counted of each node. */
int64_t gnn_prepare_edges_read(const gnn_dataset *dataset); /* the checksum of the edges as they are read; 0: some are none */
/* The order of the nodes that is known already, without the graph; *is_there 0: it is not, or not to be had. */
gnn_status gnn_prepare_own_order(gnn_dataset *dataset, const gnn_recipe *recipe, int *is_there, gnn_error *error);
gnn_status gnn_prepare_own_edges(gnn_dataset *dataset, const gnn_recipe *recipe, const gnn_own_rows *rows, gnn_error *error);
/* Of edges that were sorted: whether they go both ways, loops, rows without any. */
gnn_status gnn_prepare_survey(gnn_dataset *dataset, gnn_error *error);
/* What became of the edges on the way, and what of the graph is remarkable, as notes. */
typedef struct gnn_edge_counts {
  int64_t duplicates, reversed, loops_added, loops_removed;
} gnn_edge_counts;
void gnn_prepare_report(gnn_dataset *dataset, const gnn_recipe *recipe, const gnn_edge_counts *counts);
/* The number of nodes is `nodes` because no id is greater; dataset->nodes. GNN_EDATA: there is none. */
gnn_status gnn_prepare_nodes(gnn_dataset *dataset, int64_t nodes, int is_counted, gnn_error *error);
/* GNN_EDATA: fields of nodes have different numbers of rows; the message blames the one that nothing else agrees with. */
gnn_status gnn_prepare_rows(const gnn_dataset *dataset, gnn_error *error);
/* GNN_EDATA: a field has not a row for each node, edge or graph; before edges are sorted, which takes time and memory for each node there is said to be. */
gnn_status gnn_prepare_field_rows(const gnn_dataset *dataset, gnn_error *error);
/* Brings the type of nodes that has the labels to the front. */
void gnn_prepare_types(gnn_dataset *dataset, const gnn_recipe *recipe);
gnn_status gnn_prepare_relations(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error);
/* Renumbers the graph, and origin[] with it. */
gnn_status gnn_prepare_order(gnn_dataset *dataset, const gnn_recipe *recipe, int64_t *origin, gnn_error *error);
/* rows: of a rank, which looks at the features of its own nodes; NULL: at all. */
gnn_status gnn_prepare_fields(gnn_dataset *dataset, const gnn_recipe *recipe, const int64_t *origin, const gnn_own_rows *rows, gnn_error *error);
/* origin: as gnn_prepare_edges has it. */
gnn_status gnn_prepare_splits(gnn_dataset *dataset, const gnn_recipe *recipe, const int64_t *origin, gnn_error *error);
void gnn_prepare_no_split(gnn_dataset *dataset); /* the note */
/* Which fold each row is tested in, drawn or as the data say, and the splits of the first. */
gnn_status gnn_prepare_folds(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error);

/* ---- what splits and folds share ---- */
int64_t gnn_splits_rows(const gnn_dataset *dataset); /* that have labels, or could have */
int gnn_splits_has_label(const gnn_dataset *dataset, int64_t row);
/* The rows with bit `split` of member[row], without those that have no label to learn from. */
gnn_status gnn_splits_collect(gnn_dataset *dataset, int split, const unsigned char *member, gnn_error *error);
enum { GNN_SPLITS_STREAM = 0x5b11, GNN_FOLDS_STREAM = 0xf01d }; /* of random numbers */

#endif
