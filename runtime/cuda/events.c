/* events.c: when each step began and ended on its stream, by events.
 *
 * Launched one by one, short steps would take as long as the host takes to launch them. So a traced epoch is captured as any other, events
 * and all: in the graph of a traced run each of them is a node, which every replay records again. Only these may be asked for the time
 * afterwards; the events that streams wait for are dependencies of the graph and nothing else. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

/* NULL: a thread's, which has the process's clock. */
static cudaStream_t watch_stream(const gnn_cuda *cuda, const gnn_watch *watch, int step) {
  for (int l = 0; watch->steps[step] && l < GNN_LANE_COUNT; l++)
    if (strcmp(watch->steps[step]->lane, gnn_lane_names[l]) == 0) return cuda->stream[l];
  return NULL;
}

static void watch_mark(gnn_run *run, int step, int is_end) {
  gnn_cuda *cuda = run->cuda;
  gnn_watch *watch = run->watch;
  if (step < 0 || step >= watch->count) return;
  cudaStream_t stream = watch_stream(cuda, watch, step);
  if (stream == NULL) {
    (is_end ? watch->end : watch->start)[step] = gnn_now() - watch->origin;
    return;
  }
  const unsigned flags = cuda->is_capturing ? cudaEventRecordExternal : cudaEventRecordDefault;
  gnn_cuda_check(cuda, step, "taking the time", cudaEventRecordWithFlags((is_end ? cuda->end : cuda->begin)[step], stream, flags));
  cuda->marked[cuda->work][step] = 1;
}

gnn_status gnn_cuda_watch(gnn_cuda *cuda, gnn_run *run, gnn_error *error) {
  gnn_watch *watch = run->watch;
  if (watch == NULL) return GNN_OK;
  size_t count = (size_t)watch->count;
  cuda->begin = calloc(count, sizeof *cuda->begin);
  cuda->end = calloc(count, sizeof *cuda->end);
  int has_room = cuda->begin && cuda->end;
  for (int w = 0; w < GNN_WORK_COUNT; w++) has_room &= (cuda->marked[w] = calloc(count, 1)) != NULL;
  if (!has_room) return gnn_fail_memory(error, (int64_t)count * (16 + GNN_WORK_COUNT));
  cudaError_t code = cudaEventCreate(&cuda->origin);
  for (size_t s = 0; s < count && code == cudaSuccess; s++) {
    code = cudaEventCreate(&cuda->begin[s]);
    if (code == cudaSuccess) code = cudaEventCreate(&cuda->end[s]);
  }
  watch->mark = watch_mark;
  cuda->is_traced = 1;
  return code == cudaSuccess ? GNN_OK : gnn_cuda_fail(cuda, GNN_EDEVICE, error, "making events", code);
}

/* Nobody is left to tell of what fails here. */
void gnn_cuda_unwatch(gnn_cuda *cuda) {
  const gnn_watch *watch = cuda->instance->run.watch;
  for (int s = 0; watch && cuda->begin && cuda->end && s < watch->count; s++) {
    if (cuda->begin[s]) cudaEventDestroy(cuda->begin[s]);
    if (cuda->end[s]) cudaEventDestroy(cuda->end[s]);
  }
  if (cuda->origin) cudaEventDestroy(cuda->origin);
  free(cuda->begin);
  free(cuda->end);
  for (int w = 0; w < GNN_WORK_COUNT; w++) free(cuda->marked[w]);
}

/* The stream is idle: the event is recorded now, whatever the clock of the device says. */
void gnn_cuda_watch_begin(gnn_cuda *cuda, gnn_run *run) {
  if (!cuda->is_traced) return;
  if (!cuda->graph[cuda->work]) memset(cuda->marked[cuda->work], 0, (size_t)run->watch->count);
  cuda->begun = gnn_now() - run->watch->origin;
  gnn_cuda_check(cuda, 0, "taking the time", cudaEventRecord(cuda->origin, cuda->stream[GNN_LANE_COMPUTE]));
}

void gnn_cuda_watch_end(gnn_cuda *cuda, gnn_run *run) {
  gnn_watch *watch = run->watch;
  float begin = 0, end = 0;
  for (int s = 0; cuda->is_traced && s < watch->count; s++) {
    if (!cuda->marked[cuda->work][s]) continue;
    if (!gnn_cuda_check(cuda, s, "taking the time", cudaEventElapsedTime(&begin, cuda->origin, cuda->begin[s])) ||
        !gnn_cuda_check(cuda, s, "taking the time", cudaEventElapsedTime(&end, cuda->origin, cuda->end[s])))
      return;
    watch->start[s] = cuda->begun + (double)begin * 1e-3;
    watch->end[s] = cuda->begun + (double)end * 1e-3;
  }
}
