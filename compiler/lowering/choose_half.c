/* choose_half: which values a program for CUDA keeps in bf16, 2 bytes a number (--precision=bf16).
 *
 * They are rounded to nearest even where they are stored and read as the fp32 that they are; every sum and product is fp32. What
 * stays fp32: extremes over edges, which are compared with what they were found among, everything that is no row of a node or an edge (weights, their gradients, the optimiser's state), sparse features, the
 * scores and the loss, and narrow rows: these are the norms, maxima, sums and attention of whole rows, whose errors would be those of all
 * they are multiplied with, and they move whole sectors of memory whatever their numbers are. Nothing but the graph counts, never the
 * budget: under every plan the same values are rounded.
 */
#include "fuse.h"

enum { SECTOR_BYTES = 32, LEAST_WIDTH = SECTOR_BYTES / 2 };

/* The scores, and whatever a loss is taken of. */
static bool *find_exact(const Kernels *kernels) {
  const Graph *graph = kernels->graph;
  bool *is_exact = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  if (graph->scores != NO_VALUE) is_exact[kernels->storage[graph->scores]] = true;
  for (int i = 0; i < graph->value_count; i++) {
    Op op = graph->values[i].op;
    if (op == OP_CROSS_ENTROPY || op == OP_CROSS_ENTROPY_GRADIENT) is_exact[kernels->storage[graph->values[i].operand[0]]] = true;
    if (op_is_aggregation(op) && !op_info[op].is_linear) is_exact[i] = true;
  }
  return is_exact;
}

void choose_half(Kernels *kernels, const bool *is_sparse_field) {
  const Graph *graph = kernels->graph;
  const bool *is_exact = find_exact(kernels);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    bool has_storage = value->op == OP_INPUT ? !is_sparse_field[value->as.index] : kernels->is_stored[i];
    bool is_row = value->shape.domain == DOMAIN_NODE || value->shape.domain == DOMAIN_EDGE;
    kernels->is_half[i] = has_storage && is_row && value->shape.element == ELEMENT_REAL && !is_exact[i] && shape_width(&value->shape) >= LEAST_WIDTH;
  }
}

bool kernels_is_half(const Kernels *kernels, ValueId id) { return kernels->is_half[kernels->storage[id]]; }
