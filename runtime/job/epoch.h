/* epoch.h: one epoch, of one step over all data or of one for each batch; and the scores of all rows. */
#ifndef GNN_EPOCH_H
#define GNN_EPOCH_H

#include "runtime/core/instance.h"

/* run.loss is the mean over the rows that were trained on, each before the update it was in. GNN_ENUMERIC where a loss is not finite: in batches
 * the epoch ends there, unless the instance continues after that. */
gnn_status gnn_train_epoch(gnn_instance *instance);

/* Evaluates all rows, into instance->whole.scores. Of batches the first that has scores which are not finite is in the arena afterwards. */
gnn_status gnn_score(gnn_instance *instance);

#endif
