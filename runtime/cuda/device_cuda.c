/* device_cuda.c: the backend of programs for CUDA. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#include <stdlib.h>

/* A disk reads and writes the host's memory only. */
static gnn_status device_check_copies(const gnn_program *program, gnn_error *error) {
  for (int c = 0; c < program->copy_count; c++) {
    const gnn_copy_desc *copy = &program->copies[c];
    if (gnn_copy_uses_scratch(copy) && (copy->from.tier == GNN_DEVICE || copy->to.tier == GNN_DEVICE))
      return gnn_fail(error, GNN_EINVAL, "", "internal: step %d copies between device and SSD without a ring", copy->step);
  }
  return GNN_OK;
}

static gnn_status device_open(gnn_instance *instance, const gnn_instance_options *options, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_status status = device_check_copies(program, error);
  if (status != GNN_OK) return status;
  gnn_cuda *cuda = calloc(1, sizeof *cuda);
  if (cuda == NULL) return gnn_fail_memory(error, (int64_t)sizeof *cuda);
  instance->run.cuda = cuda;
  pthread_mutex_init(&cuda->mutex, NULL);
  cuda->program = program;
  cuda->code = program->code;
  cuda->instance = instance;
  cuda->device = options->device;
  cuda->is_device_own = options->is_device_own;
  cuda->is_serial = options->is_serial;
  cuda->wants_graph = !options->has_no_graph;
  cuda->has_scratch = gnn_lanes_use_scratch(program, GNN_LANE_COUNT);
  cuda->note = options->note;
  cuda->note_user = options->note_user;
  status = gnn_cuda_find(cuda, error);
  if (status == GNN_OK) status = gnn_cuda_net_begin(cuda, error);
  int is_given = options->memory && options->memory->alloc;
  return status == GNN_OK && !is_given ? gnn_cuda_check_room(cuda, error) : status;
}

static gnn_status device_start(gnn_instance *instance, const gnn_instance_options *options, gnn_error *error) {
  gnn_run *run = &instance->run;
  gnn_cuda *cuda = run->cuda;
  void *mail = NULL;
  gnn_status status = gnn_cuda_pin(&mail, (int64_t)sizeof *cuda->mail, "options of each epoch", error);
  if (status != GNN_OK) return status;
  cuda->mail = mail;
  status = gnn_cuda_create_streams(cuda, error);
  if (status == GNN_OK) status = gnn_cuda_net_start(cuda, error);
  if (status == GNN_OK) status = gnn_cuda_watch(cuda, run, error);
  if (status == GNN_OK && cuda->has_scratch)
    status = gnn_lanes_create(run, &instance->tiers, &instance->scratch, &gnn_cuda_lanes, options->is_serial, error);
  return status;
}

/* Nobody is left to tell of what fails here. */
static void device_stop(gnn_instance *instance) {
  gnn_cuda *cuda = instance->run.cuda;
  if (cuda == NULL) return;
  gnn_lanes_destroy(&instance->run);
  gnn_cuda_net_stop(cuda);
  if (cuda->stream[GNN_LANE_COMPUTE]) cudaDeviceSynchronize();
  gnn_cuda_forget_graphs(cuda);
  gnn_cuda_drop_plans(cuda);
  gnn_cuda_unwatch(cuda);
  gnn_cuda_destroy_streams(cuda);
  if (cuda->mail) cudaFreeHost(cuda->mail);
}

static void device_close(gnn_instance *instance) {
  gnn_cuda *cuda = instance->run.cuda;
  if (cuda == NULL) return;
  gnn_cuda_net_end(cuda);
  gnn_cuda_release_arena(instance);
  if (cuda->module && cudaSetDevice(cuda->device) == cudaSuccess) cuda->driver.unload(cuda->module);
  pthread_mutex_destroy(&cuda->mutex);
  free(cuda->kernels);
  free(cuda->shared_bytes);
  free(cuda);
  instance->run.cuda = NULL;
}

static const gnn_error *device_failure(const gnn_run *run) {
  gnn_cuda *cuda = run->cuda;
  return gnn_cuda_is_failed(cuda) ? &cuda->failure : gnn_lanes_error(run);
}

static void device_describe(const gnn_instance *instance, gnn_text *text) {
  const gnn_cuda *cuda = instance->run.cuda;
  gnn_text_format(text, "%s, %s", cuda->name, cuda->wants_graph && !cuda->has_scratch && !cuda->is_serial ? "CUDA graph" : "no CUDA graph");
}

const gnn_backend gnn_cuda_backend = {
  .name = "cuda", .is_apart = 1, .open = device_open, .close = device_close, .obtain = gnn_cuda_obtain, .release = gnn_cuda_release,
  .start = device_start, .stop = device_stop, .load = gnn_cuda_load, .reload = gnn_cuda_reload, .upload = gnn_cuda_upload, .download = gnn_cuda_download,
  .work = gnn_cuda_work, .copy = gnn_cuda_copy, .await = gnn_cuda_await, .peak = gnn_cuda_peak, .failure = device_failure, .describe = device_describe};
