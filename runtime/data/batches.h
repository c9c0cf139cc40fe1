/* batches.h: batches of whole graphs out of a prepared set of them.
 *
 * Graphs lie one after the other, so a batch is made of runs of rows. Training goes over the graphs that have rows to train on, in the order of
 * the data or, shuffled, in one that is a function of the run's seed and the epoch alone; the last batch may be smaller. Measuring goes over all
 * graphs in their order. */
#ifndef GNN_BATCHES_H
#define GNN_BATCHES_H

#include "dataset.h"
#include "runtime/core/instance.h"

typedef struct gnn_batches gnn_batches;
typedef enum gnn_batches_of { GNN_BATCHES_TRAIN, GNN_BATCHES_ALL } gnn_batches_of;

/* instance->batches, and instance->whole: what there is of the data set, which must stay as it is until the instance ends or gets another. R0802
 * where there are batches that do not fit the plan. What was there before is dropped. */
gnn_status gnn_batches_create(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);

int64_t gnn_batches_count(const gnn_instance *instance, gnn_batches_of which); /* in an epoch; of all graphs */
/* Batch number `index` of run.epoch into the arena, from 0; instance->batch says what it is. */
gnn_status gnn_batches_load(gnn_instance *instance, gnn_batches_of which, int64_t index, gnn_error *error);
/* The scores of the batch, which is one of all, have been downloaded: they go to instance->whole. */
void gnn_batches_keep_scores(gnn_instance *instance);

#endif
