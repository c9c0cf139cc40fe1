/* plain.cc: kernels without barriers as host code: one thread after another. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

struct Place { unsigned x; };
static thread_local Place threadIdx, blockIdx, blockDim;
#define __global__
#define __device__
#include "toy_kernels.cu"

extern "C" int emulated_launch(const char *name, void *view, const gnn_places *at, int64_t blocks, int threads, int order) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  void (*kernel)(const void *, gnn_places);
  if (!symbol) return 0;
  memcpy(&kernel, &symbol, sizeof kernel);
  blockDim.x = (unsigned)threads;
  for (int64_t b = 0; b < blocks; b++)
    for (int t = 0; t < threads; t++) {
      blockIdx.x = (unsigned)(order == 1 ? blocks - 1 - b : b);
      threadIdx.x = (unsigned)(order == 1 ? threads - 1 - t : t);
      kernel(view, *at);
    }
  return 1;
}
