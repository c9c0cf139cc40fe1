/* load.c: a data set for an instance: all of it into the arena, batch by batch, or with other pairs in every epoch. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "batches.h"
#include "contents.h"
#include "fill.h"
#include "pairs.h"
#include "kernels/cpu/random.h"
#include "runtime/core/device.h"

/* Up to what is computed from them. */
static gnn_status load_data(gnn_instance *instance, gnn_dataset *dataset, gnn_error *error) {
  if (!dataset->is_prepared) return gnn_fail(error, GNN_EINVAL, "", "the data were not prepared");
  instance->is_loaded = 0;
  const gnn_status grown = gnn_instance_grow(instance, 1, error);
  if (grown != GNN_OK) return grown;
  instance->drawn = instance->run.program->recipe.pairs.is_resampled && dataset->pairs && dataset->pairs->open ? dataset : NULL;
  const int is_batched = instance->run.program->batch_graphs > 0;
  gnn_status status = is_batched ? gnn_batches_create(instance, dataset, error) : gnn_instance_fill(instance, dataset, error);
  if (status == GNN_OK) status = gnn_contents_take(instance, dataset, error);
  return gnn_dataset_check_files(dataset, status, error);
}

static gnn_status load_begin(gnn_instance *instance, gnn_error *error) {
  const gnn_status status = gnn_instance_grow(instance, 0, error);
  if (status != GNN_OK) return status;
  return instance->run.program->batch_graphs > 0 ? gnn_batches_load(instance, GNN_BATCHES_ALL, 0, error) : gnn_instance_begin(instance, error);
}

gnn_status gnn_instance_load(gnn_instance *instance, gnn_dataset *dataset, gnn_error *error) {
  const gnn_status status = load_data(instance, dataset, error);
  return status == GNN_OK ? load_begin(instance, error) : status;
}

gnn_status gnn_instance_take(gnn_instance *instance, gnn_dataset **dataset, int is_kept, gnn_error *error) {
  const gnn_status status = load_data(instance, *dataset, error);
  if (!is_kept && !gnn_comes_back_to_data(instance->run.program)) {
    gnn_dataset_close(*dataset);
    *dataset = NULL;
  }
  return status == GNN_OK ? load_begin(instance, error) : status;
}

enum { LOAD_PAIRS_STREAM = 0x9a14 };

gnn_status gnn_instance_draw(gnn_instance *instance) {
  gnn_dataset *dataset = instance->drawn;
  const gnn_run *run = &instance->run;
  if (dataset == NULL) return GNN_OK;
  const int set = GNN_RELATIONS + dataset->pairs->relation;
  gnn_pairs_draw(dataset, run->team, gnn_mix64(gnn_random_key(run->seed, LOAD_PAIRS_STREAM) ^ (uint64_t)run->epoch));
  gnn_status status = gnn_instance_fill_pairs(instance, dataset, set, &instance->batch_error);
  if (status == GNN_OK) status = gnn_instance_see_pairs(instance, &instance->batch_error);
  if (status != GNN_OK) return status;
  if (instance->whole_rows == NULL) gnn_instance_see(instance);
  return gnn_backend_of(run->program)->reload(instance, set);
}
