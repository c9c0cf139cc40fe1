/* module.h: device code, loaded and launched by the driver's own entry points. cudart has found them since CUDA 11.3, so that every toolkit from
 * 12.0 on will do and nothing links the driver's library. What they return are numbers of CUresult, which are those of cudaError_t
 * (driver_types.h). Source: CUDA Driver API, "Module Management" and "Execution Control". The device has to be the thread's (cudaSetDevice). */
#ifndef GNN_MODULE_H
#define GNN_MODULE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "view.h"

typedef struct CUmod_st *gnn_module;
typedef struct CUfunc_st *gnn_kernel;

enum { GNN_KERNEL_REGISTERS = 4, GNN_KERNEL_SHARED_BYTES = 8 }; /* CUfunction_attribute */

typedef struct gnn_driver {
  int (*load)(gnn_module *module, const void *image);
  int (*unload)(gnn_module module);
  int (*kernel)(gnn_kernel *kernel, gnn_module module, const char *name);
  int (*attribute)(int *value, int attribute, gnn_kernel kernel);
  int (*set_attribute)(gnn_kernel kernel, int attribute, int value);
  int (*launch)(gnn_kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                unsigned shared_bytes, cudaStream_t stream, void **arguments, void **extra);
} gnn_driver;

static inline cudaError_t gnn_driver_entry(const char *name, void **entry) {
  enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  cudaError_t code = cudaGetDriverEntryPointByVersion(name, entry, 12000, cudaEnableDefault, &found);
#else
  cudaError_t code = cudaGetDriverEntryPoint(name, entry, cudaEnableDefault, &found);
#endif
  return code != cudaSuccess ? code : found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorCallRequiresNewerDriver;
}

static inline cudaError_t gnn_driver_find(gnn_driver *driver) {
  const struct { const char *name; void **entry; } entries[] = {
      {"cuModuleLoadData", (void **)&driver->load}, {"cuModuleUnload", (void **)&driver->unload}, {"cuModuleGetFunction", (void **)&driver->kernel},
      {"cuFuncGetAttribute", (void **)&driver->attribute}, {"cuFuncSetAttribute", (void **)&driver->set_attribute}, {"cuLaunchKernel", (void **)&driver->launch}};
  cudaError_t code = cudaSuccess;
  for (unsigned i = 0; i < sizeof entries / sizeof *entries && code == cudaSuccess; i++) code = gnn_driver_entry(entries[i].name, entries[i].entry);
  return code;
}

/* A grid and blocks of one dimension. The kernel takes a pointer, whose address `argument` is, and a gnn_places. */
static inline cudaError_t gnn_kernel_launch(const gnn_driver *driver, gnn_kernel kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
                                            void *argument, const gnn_places *at, cudaStream_t stream) {
  void *arguments[] = {argument, (void *)(uintptr_t)at};
  return (cudaError_t)driver->launch(kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, arguments, NULL);
}

#endif
