/* The device code of a program (KERNELS: its file) as host code, and a way to launch it by name. */
#include "emulate.h"

#include KERNELS

#include <dlfcn.h>

/* 0: there is no such kernel. */
extern "C" int emulated_launch(const char *name, void *view, const gnn_places *at, int64_t blocks, int threads, int order) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (!symbol) return 0;
  emulate::StepKernel *kernel;
  memcpy(&kernel, &symbol, sizeof kernel);
  emulate::order = order;
  if (blocks > 0) emulate::launch(name, kernel, view, *at, blocks, threads);
  return 1;
}
