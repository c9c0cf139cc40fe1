/* launch.c: steps onto the compute stream. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#include <stdio.h>

enum { LAUNCH_SHARED_BYTES = 48 << 10 }; /* what a kernel may have without asking */

void gnn_cuda_settle(gnn_cuda *cuda, int step) {
  if (cuda->is_serial) gnn_cuda_check(cuda, step, "running", cudaStreamSynchronize(cuda->stream[GNN_LANE_COMPUTE]));
}

static int launch_ask(gnn_cuda *cuda, int step, int kernel, int shared_bytes) {
  if (shared_bytes <= LAUNCH_SHARED_BYTES || shared_bytes <= cuda->shared_bytes[kernel]) return 1;
  cuda->shared_bytes[kernel] = shared_bytes;
  return gnn_cuda_check(cuda, step, "asking for shared memory",
                        (cudaError_t)cuda->driver.set_attribute(cuda->kernels[kernel], GNN_KERNEL_SHARED_BYTES, shared_bytes));
}

void gnn_launch(gnn_run *run, int kernel, int64_t blocks, int threads, int shared_bytes, const gnn_places *at) {
  gnn_cuda *cuda = run->cuda;
  char what[80];
  if (blocks == 0 || gnn_cuda_is_failed(cuda)) return;
  if (blocks > INT32_MAX) {
    gnn_cuda_refuse(cuda, run->step, "launching", "too many blocks", "a grid has at most 2^31 - 1");
    return;
  }
  snprintf(what, sizeof what, "launching %.60s", cuda->code->kernels[kernel]);
  if (!launch_ask(cuda, run->step, kernel, shared_bytes)) return;
  cudaError_t code = gnn_kernel_launch(&cuda->driver, cuda->kernels[kernel], (unsigned)blocks, (unsigned)threads, (unsigned)shared_bytes,
                                       &cuda->view, at, cuda->stream[GNN_LANE_COMPUTE]);
  if (gnn_cuda_check(cuda, run->step, what, code)) gnn_cuda_settle(cuda, run->step);
}

void gnn_cuda_tap(gnn_run *run, const char *name, int64_t at, int64_t rows, int64_t width, int64_t stride) {
  gnn_cuda *cuda = run->cuda;
  const gnn_program *program = run->program;
  const int64_t place = at * (program->real_bytes / 4), row_bytes = width * program->real_bytes, stride_bytes = stride * program->real_bytes;
  if (run->tap == NULL || !gnn_cuda_check(cuda, run->step, "running", cudaStreamSynchronize(cuda->stream[GNN_LANE_COMPUTE]))) return;
  if (gnn_cuda_download(cuda->instance, place, rows * stride_bytes) != GNN_OK) return;
  gnn_close_rows(gnn_at(run, at), rows, row_bytes, stride_bytes);
  run->tap(run->tap_user, name, gnn_at(run, at), rows, width);
}

/* ---- what libraries keep ---- */

void gnn_cuda_add_plan(gnn_cuda *cuda, gnn_cuda_plan *plan, void (*destroy)(gnn_cuda_plan *plan)) {
  plan->destroy = destroy;
  plan->next = cuda->plans;
  cuda->plans = plan;
}

void gnn_cuda_drop_plans(gnn_cuda *cuda) {
  while (cuda->plans) {
    gnn_cuda_plan *plan = cuda->plans;
    cuda->plans = plan->next;
    plan->destroy(plan);
  }
}
