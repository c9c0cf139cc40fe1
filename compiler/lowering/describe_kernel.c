/* describe: a kernel in one line, as listings, comments and problems show it. */
#include <string.h>

#include "fuse.h"

static const char *operand_text(const Kernels *kernels, ValueId id, int depth) {
  const Graph *graph = kernels->graph;
  Arena *arena = graph->arena;
  const Value *value = &graph->values[id];
  const TypedProgram *program = graph->program;
  if (value->op == OP_INPUT) return program->fields[value->as.index].name;
  if (value->op == OP_PARAM) return program->params[value->as.index].name;
  if (value->op == OP_OPTION) return program->options[value->as.index].name;
  if (value->op == OP_NUMBER) return arena_printf(arena, "%.6g", value->as.number);
  if (!kernels_is_virtual(kernels, id) || depth == 0) return value->name;
  const char *first = operand_text(kernels, value->operand[0], depth - 1);
  if (value->op == OP_BROADCAST) return first;
  if (value->op == OP_LIFT) return arena_printf(arena, "%s.%s", value->as.end == END_SRC ? "src" : "dst", first);
  if (value->op == OP_DROPOUT) return arena_printf(arena, "dropout(%s)", first);
  if (value->op != OP_MAP) return value->name;
  const char *name = point_name(value->as.function);
  if (value->operand_count == 1) return arena_printf(arena, "%s(%s)", name, first);
  const char *second = operand_text(kernels, value->operand[1], depth - 1);
  bool is_infix = strchr("+-*/^", name[0]) != NULL;
  return is_infix ? arena_printf(arena, "(%s %s %s)", first, name, second) : arena_printf(arena, "%s(%s, %s)", name, first, second);
}

static const char *what_is_computed(const Kernels *kernels, const Kernel *kernel) {
  enum { DEPTH = 4 };
  Arena *arena = kernels->graph->arena;
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  const char *name = anchor->name;
  const char *a = anchor->operand_count > 0 ? operand_text(kernels, anchor->operand[0], DEPTH) : "";
  const char *b = anchor->operand_count > 1 ? operand_text(kernels, anchor->operand[1], DEPTH) : "";
  switch (kernel->kind) {
  case KERNEL_MATMUL:
  case KERNEL_SPARSE_MATMUL: return arena_printf(arena, "%s = %s @ %s", name, a, b);
  case KERNEL_OUTER:
  case KERNEL_SPARSE_OUTER: return arena_printf(arena, "%s = sum over rows of %s^T %s", name, a, b);
  case KERNEL_SPMM:
  case KERNEL_EDGE_SUM: return arena_printf(arena, "%s = sum over %s-edges of %s", name, anchor->as.end == END_DST ? "in" : "out", a);
  case KERNEL_ROW_SUM:
  case KERNEL_COLUMN_SUM: return arena_printf(arena, "%s = sum of %s", name, a);
  case KERNEL_CROSS_ENTROPY: return arena_printf(arena, "loss = cross_entropy(%s, %s)", a, b);
  case KERNEL_CROSS_ENTROPY_GRADIENT: return arena_printf(arena, "%s = derivative of cross_entropy(%s, %s)", name, a, b);
  case KERNEL_UPDATE: return kernel->body_count ? arena_printf(arena, "update of %d weights", 1 + kernel->body_count) : arena_printf(arena, "update of %s", a);
  case KERNEL_MAP:
  case KERNEL_KIND_COUNT: break;
  }
  return kernels->graph->values[kernel->body[kernel->body_count - 1]].name;
}

const char *kernel_what(const Kernels *kernels, const Kernel *kernel) {
  const char *what = what_is_computed(kernels, kernel), *library = library_name(kernel->library);
  if (!kernel->library) return kernel->is_tuned ? arena_printf(kernels->graph->arena, "%s, %s", what, kernel->variant.name) : what;
  bool is_rounded = kernel->library == LIBRARY_CUBLASLT && kernels->precision != PRECISION_FP32;
  return arena_printf(kernels->graph->arena, is_rounded ? "%s, by %s in %s" : "%s, by %s", what, library, precision_name(kernels->precision));
}
