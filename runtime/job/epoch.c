/* epoch.c: over all data at once, or batch by batch. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "epoch.h"

#include <math.h>
#include <string.h>

#include "runtime/core/device.h"
#include "runtime/core/ranks.h"
#include "runtime/data/batches.h"
#include "runtime/data/fill.h"

gnn_status gnn_train_epoch(gnn_instance *instance) {
  gnn_run *run = &instance->run;
  if (instance->batches == NULL) {
    gnn_begin_epoch(instance);
    gnn_status status = gnn_instance_draw(instance);
    return status == GNN_OK ? gnn_step(instance, run->epoch) : status;
  }
  const int64_t count = gnn_batches_count(instance, GNN_BATCHES_TRAIN);
  double sum = 0, weight = 0;
  gnn_begin_epoch(instance);
  for (int64_t i = 0; i < count; i++) {
    gnn_status status = gnn_batches_load(instance, GNN_BATCHES_TRAIN, i, NULL);
    if (status == GNN_OK) status = gnn_step(instance, (run->epoch - 1) * count + i + 1);
    if (status != GNN_OK && !(status == GNN_ENUMERIC && instance->continues_after_nan)) return status;
    sum += run->loss * run->row_weight[GNN_TRAIN];
    weight += run->row_weight[GNN_TRAIN];
  }
  if (count > 1) run->loss = sum / weight;
  return isfinite(run->loss) ? GNN_OK : GNN_ENUMERIC;
}

static int epoch_is_finite(const gnn_instance *instance) {
  const gnn_program *program = instance->run.program;
  const float *scores = gnn_instance_scores(instance);
  const int64_t count = gnn_rows_of_scores(&instance->run) * program->classes;
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(scores[i])) return 0;
  return 1;
}

/* Those of all ranks, where each of them measures all. */
static void epoch_gather_scores(gnn_instance *instance) {
  gnn_ranks *ranks = instance->run.ranks;
  const int64_t row_bytes = instance->run.program->classes * (int64_t)sizeof(float), *first = instance->whole_rows->score_first;
  float *all = instance->whole_rows->scores;
  memcpy((unsigned char *)all + first[ranks->rank] * row_bytes, gnn_instance_scores(instance), (size_t)(gnn_rows_of_scores(&instance->run) * row_bytes));
  ranks->desc->net->gather(ranks, 0, all, first, row_bytes);
}

gnn_status gnn_score(gnn_instance *instance) {
  const int64_t count = instance->batches ? gnn_batches_count(instance, GNN_BATCHES_ALL) : 1;
  int64_t bad = -1;
  gnn_status status = GNN_OK;
  for (int64_t i = 0; i < count && status == GNN_OK; i++) {
    if (instance->batches) status = gnn_batches_load(instance, GNN_BATCHES_ALL, i, NULL);
    if (status == GNN_OK) status = gnn_do(instance, GNN_WORK_EVALUATE);
    if (status == GNN_OK) status = gnn_download_scores(instance, NULL);
    if (status == GNN_OK && instance->whole_rows) epoch_gather_scores(instance);
    if (status != GNN_OK || !instance->batches) continue;
    gnn_batches_keep_scores(instance);
    if (bad < 0 && !epoch_is_finite(instance)) bad = i;
  }
  return status == GNN_OK && bad >= 0 ? gnn_batches_load(instance, GNN_BATCHES_ALL, bad, NULL) : status;
}
