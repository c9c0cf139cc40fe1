/* stages: Kernel -> the sums and extremes over the edges of a row that it takes one after the other (Stage). */
#include "fuse.h"

bool kernel_folds_edges(KernelKind kind) { return kind == KERNEL_EDGE_SUM || kind == KERNEL_EDGE_MAX || kind == KERNEL_EDGE_MIN; }
bool kernel_folds_rows(KernelKind kind) { return kind == KERNEL_COLUMN_SUM || kind == KERNEL_COLUMN_MAX || kind == KERNEL_COLUMN_MIN; }

int kernel_stages(const Kernels *kernels, const Kernel *kernel, Stage *stages) {
  int count = 0;
  stages[count++] = (Stage){kernel->anchor, 0, kernel->body_count};
  if (!kernel_folds_edges(kernel->kind) && kernel->kind != KERNEL_COLUMN_SUM) return count;
  for (int b = 0; b < kernel->body_count; b++) {
    if (op_info[kernels->graph->values[kernel->body[b]].op].kind != OP_KIND_ANCHOR) continue;
    stages[count - 1].end = b;
    stages[count++] = (Stage){kernel->body[b], b + 1, kernel->body_count};
  }
  return count;
}

KernelKind stage_kind(const Kernels *kernels, const Kernel *kernel, const Stage *stage) {
  if (stage->anchor == kernel->anchor) return kernel->kind;
  const Op op = kernels->graph->values[stage->anchor].op;
  return op == OP_GATHER_MAX ? KERNEL_EDGE_MAX : op == OP_GATHER_MIN ? KERNEL_EDGE_MIN : KERNEL_EDGE_SUM;
}

bool kernel_sums_rows_too(const Kernel *kernel) { return kernel->kind == KERNEL_COLUMN_SUM && kernel->body_count > 0; }
