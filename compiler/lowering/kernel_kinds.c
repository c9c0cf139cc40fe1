/* kernel_kind: the names of kernels. */
#include "fuse.h"

const char *kernel_kind_name(KernelKind kind) {
  static const char *const names[KERNEL_KIND_COUNT] = {
#define KERNEL(name, text, what) text,
#include "kernel_kinds.h"
#undef KERNEL
  };
  return names[kind];
}
