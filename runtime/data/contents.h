/* contents.h: what data an instance was loaded with, in a few numbers, so that a checkpoint knows them again. */
#ifndef GNN_CONTENTS_H
#define GNN_CONTENTS_H

#include "dataset.h"
#include "runtime/core/instance.h"

extern const char *const gnn_content_names[GNN_CONTENT_COUNT]; /* "edges", "features", "labels", "splits" */

/* Checksums of what the program reads of prepared data, into instance->contents: the same whatever form the data are stored in and
 * whatever the number of threads and ranks. O(edges + numbers). */
gnn_status gnn_contents_take(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error);

#endif
