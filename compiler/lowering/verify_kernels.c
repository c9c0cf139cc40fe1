/* verify_kernels: is the order of kernels an order of execution, and is everything read made and stored before? */
#include "fuse.h"

static const char *check_reads(const Kernels *kernels, int index, const bool *is_made) {
  const Graph *graph = kernels->graph;
  const Kernel *kernel = &kernels->kernels[index];
  for (int k = 0; k < kernel->input_count; k++) {
    ValueId id = kernel->inputs[k];
    if (op_info[graph->values[id].op].kind == OP_KIND_LEAF) continue;
    if (!is_made[id]) return arena_printf(graph->arena, "kernel %d reads %s before it is made", index, graph->values[id].name);
    if (!kernels->is_stored[id]) return arena_printf(graph->arena, "kernel %d reads %s, which is not stored", index, graph->values[id].name);
  }
  return NULL;
}

static const char *check_body(const Kernels *kernels, int index) {
  const Graph *graph = kernels->graph;
  const Kernel *kernel = &kernels->kernels[index];
  const Shape *loops = &graph->values[kernel->anchor].shape;
  for (int b = 0; b < kernel->body_count; b++) {
    const Value *value = &graph->values[kernel->body[b]];
    if (kernel->kind == KERNEL_UPDATE && value->op == OP_UPDATE) continue;
    if (op_info[value->op].kind != OP_KIND_POINT) return arena_printf(graph->arena, "kernel %d has %s in its body", index, value->name);
    if (value->shape.domain != loops->domain || shape_width(&value->shape) != shape_width(loops))
      return arena_printf(graph->arena, "kernel %d computes %s in loops of another shape", index, value->name);
    if (kernels->made_by[kernel->body[b]] != index) return arena_printf(graph->arena, "%s is made twice", value->name);
  }
  return NULL;
}

const char *verify_kernels(const Kernels *kernels) {
  const Graph *graph = kernels->graph;
  bool *is_made = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    const char *fault = check_reads(kernels, i, is_made);
    if (!fault) fault = check_body(kernels, i);
    if (fault) return fault;
    is_made[kernel->anchor] = true;
    for (int b = 0; b < kernel->body_count; b++) is_made[kernel->body[b]] = true;
    for (int k = 0; k < kernel->output_count; k++)
      if (!is_made[kernel->outputs[k]]) return arena_printf(graph->arena, "kernel %d stores what it does not make", i);
  }
  if (graph->scores != NO_VALUE) {
    ValueId stored = kernels->storage[graph->scores];
    if (op_info[graph->values[stored].op].kind != OP_KIND_LEAF && !kernels->is_stored[stored]) return "the scores are not stored";
  }
  return NULL;
}
