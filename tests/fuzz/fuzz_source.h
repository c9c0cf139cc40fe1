/* fuzz_source.h: sources of data in the folder of the target, opened and prepared: it works, or says what is wrong. */
#ifndef TESTS_FUZZ_SOURCE_H
#define TESTS_FUZZ_SOURCE_H

#include "fuzz.h"
#include "runtime/data/dataset.h"

static inline void fuzz_source(const gnn_source *source) {
  gnn_dataset *dataset = NULL;
  gnn_error error = {"", "", ""};
  gnn_status status = gnn_dataset_open(source, fuzz_folder(), &dataset, &error);
  if (status == GNN_OK) status = gnn_dataset_prepare(dataset, NULL, &error);
  HOLDS(status == GNN_OK || error.message[0]);
  gnn_dataset_close(dataset);
}

#endif
