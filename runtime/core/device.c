/* device.c: the ways to the backend of a program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "device.h"

#include <math.h>
#include <string.h>

#include "scores.h"
#include "weights.h"

const gnn_backend *gnn_backend_of(const gnn_program *program) { return program->backend ? program->backend : &gnn_cpu_backend; }

gnn_status gnn_copy(gnn_run *run, int copy) { return gnn_backend_of(run->program)->copy(run, copy); }
gnn_status gnn_await(gnn_run *run, int copy) { return gnn_backend_of(run->program)->await(run, copy); }
gnn_status gnn_do(gnn_instance *instance, gnn_work work) { return gnn_backend_of(instance->run.program)->work(instance, work); }

void gnn_begin_epoch(gnn_instance *instance) {
  instance->run.epoch++;
  if (instance->run.program->rates) instance->run.program->rates(&instance->run);
}

gnn_status gnn_step_epoch(gnn_instance *instance) {
  gnn_begin_epoch(instance);
  return gnn_step(instance, instance->run.epoch);
}

gnn_status gnn_step(gnn_instance *instance, int64_t update) {
  instance->run.update = update;
  gnn_status status = gnn_do(instance, GNN_WORK_EPOCH);
  if (status != GNN_OK) return status;
  return isfinite(instance->run.loss) ? GNN_OK : GNN_ENUMERIC;
}

typedef gnn_status device_way(const gnn_instance *instance, int64_t at, int64_t bytes);

static gnn_status device_move(const gnn_instance *instance, device_way *way, int64_t at, int64_t bytes, gnn_error *error) {
  gnn_status status = bytes > 0 ? way(instance, at * (instance->run.program->real_bytes / 4), bytes) : GNN_OK;
  if (status == GNN_OK) return GNN_OK;
  return gnn_step_failed(instance, status, error, "", "the device gave no reason");
}

static gnn_status device_move_weights(const gnn_instance *instance, device_way *way, int has_state, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_status status = GNN_OK;
  for (int w = 0; w < program->weight_count && status == GNN_OK; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    int64_t first, bytes = gnn_weight_own(instance, weight, &first) * program->real_bytes;
    if (gnn_weight_is_away(weight)) continue; /* it is no matter of the device between epochs */
    status = device_move(instance, way, weight->at, bytes, error);
    for (int s = 0; has_state && s < weight->state_count && status == GNN_OK; s++)
      status = device_move(instance, way, weight->at_state[s], bytes, error);
  }
  return status;
}

gnn_status gnn_upload(const gnn_instance *instance, int64_t at, int64_t bytes, gnn_error *error) {
  return device_move(instance, gnn_backend_of(instance->run.program)->upload, at, bytes, error);
}

gnn_status gnn_download(const gnn_instance *instance, int64_t at, int64_t bytes, gnn_error *error) {
  return device_move(instance, gnn_backend_of(instance->run.program)->download, at, bytes, error);
}

gnn_status gnn_upload_weights(const gnn_instance *instance, int has_state, gnn_error *error) {
  return device_move_weights(instance, gnn_backend_of(instance->run.program)->upload, has_state, error);
}

gnn_status gnn_download_weights(const gnn_instance *instance, int has_state, gnn_error *error) {
  return device_move_weights(instance, gnn_backend_of(instance->run.program)->download, has_state, error);
}

void gnn_close_rows(void *values, int64_t rows, int64_t row_bytes, int64_t stride_bytes) {
  unsigned char *to = values;
  for (int64_t r = 1; r < rows && stride_bytes != row_bytes; r++) memmove(to + r * row_bytes, to + r * stride_bytes, (size_t)row_bytes);
}

gnn_status gnn_download_scores(const gnn_instance *instance, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  const int64_t rows = gnn_rows_of_scores(&instance->run), row_bytes = program->classes * program->real_bytes;
  const int64_t stride_bytes = gnn_row_stride(program->scores_stride, program->classes) * program->real_bytes;
  if (program->scores_copies) return gnn_scores_begin(instance);
  gnn_status status = program->scores_tier != GNN_DEVICE ? GNN_OK : gnn_download(instance, program->at_scores, rows * stride_bytes, error);
  if (status == GNN_OK) gnn_close_rows(gnn_instance_scores(instance), rows, row_bytes, stride_bytes);
  return status;
}
