/* streams.c: the lanes of the device: a stream each, events between them.
 *
 * A copy waits on its stream for the compute stream as it was when the copy was queued, and for the copies it comes after;
 * whoever awaits it lets the compute stream wait for it. The host waits for nothing, unless the program has an SSD tier: then
 * every lane has its thread (lanes.c), because only a thread can wait for the disk. The threads of the copies to and from the
 * device queue them on the streams as soon as the disk has done its part; those of the disk wait for events. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

gnn_status gnn_cuda_create_streams(gnn_cuda *cuda, gnn_error *error) {
  const gnn_program *program = cuda->program;
  unsigned flags = cudaEventDisableTiming | (cuda->has_scratch ? cudaEventBlockingSync : 0);
  size_t count = (size_t)program->copy_count;
  cudaError_t code = cudaSuccess;
  for (int l = 0; l < GNN_LANE_COUNT && code == cudaSuccess; l++) {
    const int is_used = l == GNN_LANE_COMPUTE || gnn_lanes_uses(program, (gnn_lane)l) || (l == GNN_LANE_NET && program->ranks); /* sums over ranks are no copies */
    if (l == GNN_LANE_SSD_WRITE || l == GNN_LANE_SSD_READ || !is_used) continue;
    code = cudaStreamCreateWithFlags(&cuda->stream[l], cudaStreamNonBlocking);
    if (code == cudaSuccess) code = cudaEventCreateWithFlags(&cuda->joined[l], flags);
  }
  cuda->queued = calloc(count + 1, sizeof *cuda->queued);
  cuda->done = calloc(count + 1, sizeof *cuda->done);
  cuda->is_queued = calloc(count + 1, 1);
  if (!cuda->queued || !cuda->done || !cuda->is_queued) return gnn_fail_memory(error, (int64_t)count * 17);
  for (size_t c = 0; c < count && code == cudaSuccess; c++) {
    code = cudaEventCreateWithFlags(&cuda->queued[c], flags);
    if (code == cudaSuccess && !gnn_copy_uses_scratch(&program->copies[c])) code = cudaEventCreateWithFlags(&cuda->done[c], flags);
  }
  return code == cudaSuccess ? GNN_OK : gnn_cuda_fail(cuda, GNN_EDEVICE, error, "making streams and events", code);
}

/* Nobody is left to tell of what fails here. */
void gnn_cuda_destroy_streams(gnn_cuda *cuda) {
  for (int c = 0; cuda->queued && cuda->done && c < cuda->program->copy_count; c++) {
    if (cuda->queued[c]) cudaEventDestroy(cuda->queued[c]);
    if (cuda->done[c]) cudaEventDestroy(cuda->done[c]);
  }
  for (int l = 0; l < GNN_LANE_COUNT; l++) {
    if (cuda->joined[l]) cudaEventDestroy(cuda->joined[l]);
    if (cuda->stream[l]) cudaStreamDestroy(cuda->stream[l]);
  }
  free(cuda->queued);
  free(cuda->done);
  free(cuda->is_queued);
}

static int streams_wait(gnn_cuda *cuda, int step, gnn_lane lane, cudaEvent_t event) {
  return gnn_cuda_check(cuda, step, "waiting for an event", cudaStreamWaitEvent(cuda->stream[lane], event, 0));
}

int gnn_cuda_between(gnn_cuda *cuda, int step, const char *what, gnn_lane before, cudaEvent_t event, gnn_lane after) {
  return gnn_cuda_check(cuda, step, what, cudaEventRecord(event, cuda->stream[before])) && gnn_cuda_check(cuda, step, what, cudaStreamWaitEvent(cuda->stream[after], event, 0));
}

static enum cudaMemcpyKind streams_kind(const gnn_copy_desc *copy) {
  if (copy->from.tier == GNN_DEVICE) return copy->to.tier == GNN_DEVICE ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
  return copy->to.tier == GNN_DEVICE ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
}

static int streams_put(gnn_cuda *cuda, const gnn_copy_desc *copy) {
  const gnn_tiers *tiers = &cuda->instance->tiers;
  gnn_spans from = gnn_spans_of(tiers, &copy->from, copy->bytes), to = gnn_spans_of(tiers, &copy->to, copy->bytes);
  int64_t left = copy->bytes * from.scale, source, target, part, length;
  int is_fine = 1;
  while (left > 0 && is_fine) {
    length = gnn_spans_next(&from, left, &source);
    left -= length;
    for (; length > 0 && is_fine; length -= part, source += part) {
      part = gnn_spans_next(&to, length, &target);
      is_fine = gnn_cuda_check(cuda, copy->step, "copying", cudaMemcpyAsync(to.base + target, from.base + source, (size_t)part,
                                                                           streams_kind(copy), cuda->stream[copy->lane]));
    }
  }
  return is_fine;
}

/* After what it comes after, on its stream; from the program's thread or from its lane's. */
static int streams_move(gnn_cuda *cuda, gnn_run *run, int number) {
  const gnn_program *program = cuda->program;
  const gnn_copy_desc *copy = &program->copies[number];
  int is_fine = gnn_cuda_check(cuda, copy->step, "copying", cudaSetDevice(cuda->device)) &&
                streams_wait(cuda, copy->step, copy->lane, cuda->queued[number]);
  for (int i = 0; i < 2 && is_fine; i++) {
    int after = copy->after[i];
    if (after >= 0 && cuda->is_queued[after] && cuda->done[after]) is_fine = streams_wait(cuda, copy->step, copy->lane, cuda->done[after]);
  }
  if (is_fine && run->watch) gnn_watch_enter(run, copy->step);
  if (is_fine && copy->lane == GNN_LANE_NET) gnn_cuda_exchange(cuda, number);
  else is_fine = is_fine && streams_put(cuda, copy);
  if (is_fine && run->watch) gnn_watch_leave(run, copy->step);
  return is_fine && gnn_cuda_check(cuda, copy->step, "copying", cudaEventRecord(cuda->done[number], cuda->stream[copy->lane]));
}

static gnn_status streams_failure(gnn_cuda *cuda, gnn_error *error) {
  pthread_mutex_lock(&cuda->mutex);
  *error = cuda->failure;
  pthread_mutex_unlock(&cuda->mutex);
  return GNN_EDEVICE;
}

static gnn_status streams_lane_move(gnn_run *run, int number, gnn_error *error) {
  return streams_move(run->cuda, run, number) ? GNN_OK : streams_failure(run->cuda, error);
}

static gnn_status streams_lane_settle(gnn_run *run, int number, gnn_error *error) {
  gnn_cuda *cuda = run->cuda;
  const gnn_copy_desc *copy = &cuda->program->copies[number];
  int is_fine = gnn_cuda_check(cuda, copy->step, "copying", cudaSetDevice(cuda->device)) &&
                gnn_cuda_check(cuda, copy->step, "waiting for the steps before", cudaEventSynchronize(cuda->queued[number]));
  for (int i = 0; i < 2 && is_fine; i++) {
    int after = copy->after[i];
    if (after >= 0 && cuda->is_queued[after] && cuda->done[after])
      is_fine = gnn_cuda_check(cuda, copy->step, "waiting for a copy", cudaEventSynchronize(cuda->done[after]));
  }
  return is_fine ? GNN_OK : streams_failure(cuda, error);
}

const gnn_lanes_device gnn_cuda_lanes = {streams_lane_move, streams_lane_settle};

gnn_status gnn_cuda_copy(gnn_run *run, int number) {
  gnn_cuda *cuda = run->cuda;
  const gnn_copy_desc *copy = &cuda->program->copies[number];
  cudaStream_t compute = cuda->stream[GNN_LANE_COMPUTE];
  if (gnn_cuda_is_failed(cuda) || !gnn_cuda_check(cuda, copy->step, "copying", cudaEventRecord(cuda->queued[number], compute)))
    return GNN_EDEVICE;
  cuda->is_queued[number] = cuda->is_used[copy->lane] = 1;
  if (run->lanes && copy->lane != GNN_LANE_NET) { /* the order of what passes between ranks is that of the steps */
    gnn_status status = gnn_lanes_copy(run, number);
    if (status != GNN_OK) return status;
  } else if (!streams_move(cuda, run, number)) {
    return GNN_EDEVICE;
  }
  if (!cuda->is_serial || gnn_copy_uses_scratch(copy)) return GNN_OK;
  return gnn_cuda_check(cuda, copy->step, "copying", cudaEventSynchronize(cuda->done[number])) ? GNN_OK : GNN_EDEVICE;
}

gnn_status gnn_cuda_await(gnn_run *run, int number) {
  gnn_cuda *cuda = run->cuda;
  const gnn_copy_desc *copy = &cuda->program->copies[number];
  gnn_status status = run->lanes && copy->lane != GNN_LANE_NET ? gnn_lanes_await(run, number) : GNN_OK;
  if (status != GNN_OK || gnn_copy_uses_scratch(copy)) return status;
  return streams_wait(cuda, copy->step, GNN_LANE_COMPUTE, cuda->done[number]) ? GNN_OK : GNN_EDEVICE;
}

void gnn_cuda_join(gnn_cuda *cuda) {
  for (int l = GNN_LANE_COMPUTE + 1; l < GNN_LANE_COUNT; l++) {
    if (!cuda->stream[l] || !cuda->is_used[l]) continue;
    if (!gnn_cuda_check(cuda, 0, "joining the lanes", cudaEventRecord(cuda->joined[l], cuda->stream[l])) ||
        !streams_wait(cuda, 0, GNN_LANE_COMPUTE, cuda->joined[l]))
      return;
  }
}
