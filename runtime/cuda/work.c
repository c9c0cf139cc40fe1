/* work.c: an epoch, or an evaluation: queued step by step the first time, then captured into a graph and replayed.
 *
 * Kernels are given the address of the view only; what changes from epoch to epoch (seed, epoch, options) is sent there before
 * each piece of work. So a graph stays good for as long as the data do. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(gnn_view, seed) - offsetof(gnn_view, option) == offsetof(gnn_cuda_mail, seed) &&
               offsetof(gnn_view, loss) - offsetof(gnn_view, option) == offsetof(gnn_cuda_mail, loss), "the mail is the tail of the view");

static gnn_status work_steps(gnn_run *run, gnn_work work) {
  if (work == GNN_WORK_EVALUATE) return run->program->evaluate(run);
  if (work == GNN_WORK_ONCE) return run->program->once(run);
  gnn_status status = run->program->forward_backward(run);
  if (work == GNN_WORK_GRADIENTS) gnn_lanes_settle(run); /* what an update would wait for */
  return work == GNN_WORK_EPOCH && status == GNN_OK ? run->program->update(run) : status;
}

/* Everything onto the streams. */
static gnn_status work_queue(gnn_cuda *cuda, gnn_run *run, gnn_work work) {
  memset(cuda->is_queued, 0, (size_t)run->program->copy_count);
  memset(cuda->is_used, 0, sizeof cuda->is_used);
  gnn_status status = work_steps(run, work);
  if (status == GNN_OK) gnn_cuda_join(cuda);
  return gnn_cuda_is_failed(cuda) ? GNN_EDEVICE : status;
}

/* ---- graphs ---- */

/* The first time libraries choose their kernels, and may do what no capture bears. */
static int work_can_capture(const gnn_cuda *cuda, const gnn_run *run, gnn_work work) {
  return cuda->wants_graph && !cuda->has_scratch && !cuda->is_serial && !run->tap && cuda->done_before[work];
}

/* What spoils a capture is no failure of the run: it goes on without a graph. If it is more than that, the steps will show. */
static void work_give_up(gnn_cuda *cuda, cudaError_t code) {
  if (code == cudaSuccess) code = cudaErrorStreamCaptureInvalidated;
  gnn_cuda_note(cuda, "no CUDA graph, steps are launched one by one: %s", cuda->is_failed ? cuda->failure.message : cudaGetErrorString(code));
  cuda->wants_graph = cuda->is_failed = 0;
  cudaError_t is_forgotten = cudaGetLastError();
  (void)is_forgotten;
}

static void work_capture(gnn_cuda *cuda, gnn_run *run, gnn_work work) {
  cudaStream_t compute = cuda->stream[GNN_LANE_COMPUTE];
  cudaGraph_t graph = NULL;
  cudaError_t code = cudaStreamBeginCapture(compute, cudaStreamCaptureModeThreadLocal);
  if (code != cudaSuccess) {
    work_give_up(cuda, code);
    return;
  }
  cuda->is_capturing = 1;
  gnn_status status = work_queue(cuda, run, work);
  cuda->is_capturing = 0;
  code = cudaStreamEndCapture(compute, &graph);
  if (status == GNN_OK && code == cudaSuccess) code = cudaGraphInstantiate(&cuda->graph[work], graph, 0);
  if (status != GNN_OK || code != cudaSuccess) {
    cuda->graph[work] = NULL;
    work_give_up(cuda, code);
  }
  if (graph) gnn_cuda_check(cuda, 0, "capturing", cudaGraphDestroy(graph));
}

void gnn_cuda_forget_graphs(gnn_cuda *cuda) {
  for (int w = 0; w < GNN_WORK_COUNT; w++) {
    if (cuda->graph[w]) gnn_cuda_check(cuda, 0, "dropping a graph", cudaGraphExecDestroy(cuda->graph[w]));
    cuda->graph[w] = NULL;
    cuda->done_before[w] = 0;
  }
}

/* ---- a piece of work ---- */

static int work_send(gnn_cuda *cuda, const gnn_run *run) {
  memcpy(cuda->mail->option, run->option, sizeof run->option);
  memcpy(cuda->mail->rate, run->rate, sizeof run->rate);
  cuda->mail->seed = run->seed;
  cuda->mail->update = run->update;
  return gnn_cuda_check(cuda, 0, "sending the options", cudaSetDevice(cuda->device)) &&
         gnn_cuda_check(cuda, 0, "sending the options",
                        cudaMemcpyAsync(&cuda->view->option, cuda->mail, offsetof(gnn_cuda_mail, loss), cudaMemcpyHostToDevice, cuda->stream[GNN_LANE_COMPUTE]));
}

/* Returns when the streams are idle. */
static int work_receive(gnn_cuda *cuda) {
  cudaStream_t compute = cuda->stream[GNN_LANE_COMPUTE];
  gnn_cuda_net_sees(cuda, GNN_CUDA_IS_QUEUED);
  return gnn_cuda_check(cuda, 0, "receiving the loss", cudaMemcpyAsync(&cuda->mail->loss, &cuda->view->loss, sizeof(double), cudaMemcpyDeviceToHost, compute)) &&
         gnn_cuda_check(cuda, 0, "running the steps", cudaStreamSynchronize(compute));
}

static gnn_status work_failed(gnn_cuda *cuda, gnn_run *run, gnn_status status) {
  if (gnn_cuda_is_failed(cuda)) return GNN_EDEVICE;
  return gnn_lanes_error(run) ? GNN_EIO : status;
}

static gnn_status work_do(gnn_instance *instance, gnn_work work) {
  gnn_run *run = &instance->run;
  gnn_cuda *cuda = run->cuda;
  gnn_status status = work_failed(cuda, run, GNN_OK);
  if (status != GNN_OK || !work_send(cuda, run)) return work_failed(cuda, run, status);
  cuda->work = work;
  run->step = 0;
  if (!cuda->graph[work] && work_can_capture(cuda, run, work)) work_capture(cuda, run, work);
  gnn_cuda_watch_begin(cuda, run);
  if (cuda->graph[work] && !run->tap) gnn_cuda_check(cuda, 0, "launching the graph", cudaGraphLaunch(cuda->graph[work], cuda->stream[GNN_LANE_COMPUTE]));
  else status = work_queue(cuda, run, work);
  if (status != GNN_OK || !work_receive(cuda)) return work_failed(cuda, run, status);
  gnn_cuda_watch_end(cuda, run);
  gnn_cuda_net_count(cuda, work);
  cuda->done_before[work] = 1;
  if (work != GNN_WORK_EVALUATE && work != GNN_WORK_ONCE) run->loss = cuda->mail->loss;
  return work_failed(cuda, run, GNN_OK);
}

gnn_status gnn_cuda_work(gnn_instance *instance, gnn_work work) {
  gnn_cuda_net_sees(instance->run.cuda, GNN_CUDA_BEGINS);
  const gnn_status status = work_do(instance, work);
  gnn_cuda_net_sees(instance->run.cuda, GNN_CUDA_RESTS);
  return status;
}
