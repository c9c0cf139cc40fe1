/* find.c: the device a run is on: whether there is a driver, which devices it knows, and what is free there. Nothing is
 * obtained before all of this is settled. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "late.h"
#include "runtime/core/ranks.h"

static gnn_status find_driver(gnn_error *error) {
  int driver = 0;
  cudaError_t code = cudaDriverGetVersion(&driver);
  if (code != cudaSuccess || driver == 0) {
    gnn_fail(error, GNN_ENOMEM, "R0801", "there is no CUDA driver here; the program was compiled for CUDA %d.%d", CUDART_VERSION / 1000,
             CUDART_VERSION % 1000 / 10);
    gnn_fail_help(error, "nvidia-smi tells what the machine has; gnncc --target=native compiles for the processor");
    return GNN_ENOMEM;
  }
  if (driver / 1000 >= CUDART_VERSION / 1000) return GNN_OK;
  gnn_fail(error, GNN_ENOMEM, "R0801", "the driver here is for CUDA %d.%d; the program needs one for CUDA %d.0 or newer", driver / 1000,
           driver % 1000 / 10, CUDART_VERSION / 1000);
  gnn_fail_help(error, "install a newer driver, or compile with an older toolkit");
  return GNN_ENOMEM;
}

static gnn_status find_among(gnn_cuda *cuda, int count, gnn_error *error) {
  gnn_text known = {0};
  struct cudaDeviceProp properties;
  for (int d = 0; d < count; d++)
    if (cudaGetDeviceProperties(&properties, d) == cudaSuccess)
      gnn_text_format(&known, "%s%d: %s", d ? ", " : "", d, properties.name);
  gnn_fail(error, GNN_ENOMEM, "R0801", "there is no CUDA device %d; there %s %.400s", cuda->device, count == 1 ? "is" : "are",
           known.data ? known.data : "others");
  gnn_fail_help(error, "--device %d", 0);
  gnn_text_free(&known);
  return GNN_ENOMEM;
}

/* PTX is translated by the driver, which has to be as new as the toolkit that wrote it; a cubin needs the same major version only. */
static gnn_status find_misfit(gnn_cuda *cuda, cudaError_t code, gnn_error *error) {
  int driver = 0;
  int is_too_new = code == cudaErrorUnsupportedPtxVersion && cudaDriverGetVersion(&driver) == cudaSuccess;
  gnn_cuda_fail(cuda, GNN_ENOMEM, error, "loading the kernels", code);
  if (is_too_new)
    gnn_fail_help(error, "the driver here is for CUDA %d.%d and translates no PTX of CUDA %d.%d; compile again for this device, gnncc --arch=%s, or install a newer driver",
                  driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, cuda->architecture);
  else
    gnn_fail_help(error, "they were compiled for %s; compile again for this device: gnncc --arch=%s", cuda->code->architecture, cuda->architecture);
  return GNN_ENOMEM;
}

/* Asked for its attributes, a kernel is loaded now and not by its first launch: what it takes is no longer free then, and a
 * capture would not bear it. */
static gnn_status find_kernels(gnn_cuda *cuda, gnn_error *error) {
  const gnn_cuda_code *code = cuda->code;
  cudaError_t result = gnn_driver_find(&cuda->driver);
  if (result != cudaSuccess) return gnn_cuda_fail(cuda, GNN_ENOMEM, error, "asking the driver for its functions", result);
  result = (cudaError_t)cuda->driver.load(&cuda->module, code->image);
  if (result != cudaSuccess) {
    cuda->module = NULL;
    return find_misfit(cuda, result, error);
  }
  cuda->kernels = calloc((size_t)code->kernel_count + 1, sizeof *cuda->kernels);
  cuda->shared_bytes = calloc((size_t)code->kernel_count + 1, sizeof *cuda->shared_bytes);
  if (!cuda->kernels || !cuda->shared_bytes) return gnn_fail_memory(error, code->kernel_count * 16);
  for (int k = 0; k < code->kernel_count; k++) {
    int registers;
    result = (cudaError_t)cuda->driver.kernel(&cuda->kernels[k], cuda->module, code->kernels[k]);
    if (result != cudaSuccess) return gnn_cuda_fail(cuda, GNN_EDEVICE, error, code->kernels[k], result);
    result = (cudaError_t)cuda->driver.attribute(&registers, GNN_KERNEL_REGISTERS, cuda->kernels[k]);
    if (result != cudaSuccess) return find_misfit(cuda, result, error);
  }
  return GNN_OK;
}

gnn_status gnn_cuda_find(gnn_cuda *cuda, gnn_error *error) {
  int count = 0;
  struct cudaDeviceProp properties;
  gnn_status status = find_driver(error);
  if (status != GNN_OK) return status;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0)
    return gnn_fail(error, GNN_ENOMEM, "R0801", "there is no CUDA device here (%s)", cudaGetErrorName(code));
  if (cuda->device >= count) return find_among(cuda, count, error);
  const gnn_ranks *ranks = cuda->instance->run.ranks;
  if (ranks && !cuda->is_device_own) cuda->device = (cuda->device + ranks->here) % count; /* where each rank sees its own device alone, that is the one */
  snprintf(cuda->name, sizeof cuda->name, "device %d", cuda->device);
  code = cudaGetDeviceProperties(&properties, cuda->device);
  if (code == cudaSuccess) code = cudaSetDevice(cuda->device);
  if (code != cudaSuccess) return gnn_cuda_fail(cuda, GNN_ENOMEM, error, "opening", code);
  snprintf(cuda->architecture, sizeof cuda->architecture, "sm_%d%d", properties.major, properties.minor);
  snprintf(cuda->name, sizeof cuda->name, "%.200s (device %d, %s)", properties.name, cuda->device, cuda->architecture);
  return find_kernels(cuda, error);
}

int64_t gnn_cuda_block_bytes(const gnn_cuda *cuda) {
  int64_t arena = gnn_tier_bytes(cuda->program, GNN_DEVICE), view = (int64_t)sizeof(gnn_view);
  return (arena + GNN_CUDA_ALIGNMENT - 1) / GNN_CUDA_ALIGNMENT * GNN_CUDA_ALIGNMENT +
         (view + GNN_CUDA_ALIGNMENT - 1) / GNN_CUDA_ALIGNMENT * GNN_CUDA_ALIGNMENT;
}

/* The context is there already: it is of the reserve, and no longer free. What libraries load is not. */
gnn_status gnn_cuda_check_room(gnn_cuda *cuda, gnn_error *error) {
  size_t room = 0, total = 0;
  int64_t needed = gnn_cuda_block_bytes(cuda);
  cudaError_t code = cudaMemGetInfo(&room, &total);
  if (code != cudaSuccess) return gnn_cuda_fail(cuda, GNN_ENOMEM, error, "asking for free memory", code);
  const int64_t late = cuda->code->calls_libraries ? gnn_cuda_late_bytes((int64_t)total) : 0;
  if (needed + late <= (int64_t)room) return GNN_OK;
  gnn_text users = {0}, kept = {0};
  if (late) gnn_text_format(&kept, " and the libraries it calls about %s", gnn_bytes_text(late).text);
  gnn_cuda_users_text(cuda->device, &users);
  gnn_fail(error, GNN_ENOMEM, "R0801", "%s has %s of %s free, the plan needs %s%s%s%.300s", cuda->name, gnn_bytes_text((int64_t)room).text,
           gnn_bytes_text((int64_t)total).text, gnn_bytes_text(needed).text, kept.data ? kept.data : "", users.data ? "; in use by " : "", users.data ? users.data : "");
  gnn_text_free(&users);
  gnn_text_free(&kept);
  int64_t around = needed - gnn_tier_bytes(cuda->program, GNN_DEVICE) + late;
  if ((int64_t)room - around >= 1 << 20) gnn_fail_help(error, "gnncc --budget device=%lldMiB …", (long long)(((int64_t)room - around) >> 20));
  return GNN_ENOMEM;
}
