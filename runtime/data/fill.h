/* fill.h: prepared data into the arena, at the offsets the plan has for them. */
#ifndef GNN_FILL_H
#define GNN_FILL_H

#include "dataset.h"
#include "runtime/core/instance.h"

/* Graph, degrees, fields and splits (load.c); the data set may be closed afterwards, but for a program that comes back to it as long as the
 * instance works. R0802 where the data do not fit the plan. */
gnn_status gnn_instance_load(gnn_instance *instance, gnn_dataset *dataset, gnn_error *error);
/* The same of data that are closed before anything is computed from them, *dataset NULL then; not where is_kept or the program comes back to them. */
gnn_status gnn_instance_take(gnn_instance *instance, gnn_dataset **dataset, int is_kept, gnn_error *error);
/* Its batches come from the data, or the pairs that it learns from. */
static inline int gnn_comes_back_to_data(const gnn_program *program) { return program->batch_graphs > 0 || program->recipe.pairs.is_resampled; }
/* Pairs for the epoch that has begun into the arena, where they are drawn anew. */
gnn_status gnn_instance_draw(gnn_instance *instance);

/* The same, and nothing is remembered or begun. */
gnn_status gnn_instance_fill(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);
/* Of the data's pairs alone: the set of edges, its fields and the splits. */
gnn_status gnn_instance_fill_pairs(gnn_instance *instance, const gnn_dataset *dataset, int set, gnn_error *error);
/* The parts of that: row ranges of about equal work, bounds[0 .. number returned]; a field; the rows of the splits. */
int64_t gnn_fill_bounds(const int64_t *ptr, int64_t rows, int64_t *bounds);
/* The long rows of csr, the longest first. `room` is for as many as the planned entries can make; 0: on a processor there are none. */
gnn_status gnn_fill_hubs(gnn_csr *csr, int32_t *hub, int64_t room, gnn_error *error);
gnn_status gnn_fill_field(gnn_instance *instance, const gnn_dataset *dataset, const gnn_field_desc *field, gnn_error *error);
gnn_status gnn_fill_splits(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);
/* All edges of the data, on a rank, too, as this set. */
gnn_status gnn_fill_whole_graph(gnn_instance *instance, const gnn_dataset *dataset, int set, gnn_error *error);
gnn_status gnn_fill_other_parts(const gnn_dataset *dataset, gnn_error *error); /* R0802 */
/* R0802: the data have so many of something, and the plan was made for fewer. */
gnn_status gnn_fill_misfit(const gnn_run *run, const char *what, int64_t have, int64_t planned, gnn_error *error);

#endif
