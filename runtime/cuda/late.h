/* late.h: device memory that is kept back for what libraries load once they are called; the compiler counts it where a target says no reserve. */
#ifndef GNN_CUDA_LATE_H
#define GNN_CUDA_LATE_H

#include <stdint.h>

enum { GNN_CUDA_LATE_BYTES = 512 << 20, GNN_CUDA_LATE_PART = 16 /* of a device of less than 8 GiB */ };

static inline int64_t gnn_cuda_late_bytes(int64_t device_bytes) {
  return device_bytes / GNN_CUDA_LATE_PART < GNN_CUDA_LATE_BYTES ? device_bytes / GNN_CUDA_LATE_PART : GNN_CUDA_LATE_BYTES;
}

#endif
