/* verify_kernels: is the order of kernels an order of execution, is everything read made and stored before, and do rows lie as their readers
 * take them? */
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

/* Whether a stage has the rows of `end` of what its kernel makes, and no others, and only of stages before it. */
static bool reads_rows(const Kernels *kernels, int index, ValueId from, EdgeEnd end, bool is_far, const bool *is_made) {
  const Value *value = &kernels->graph->values[from];
  const ValueId stored = kernels->storage[from];
  if (kernels->made_by[stored] == index) return !is_far && is_made[stored];
  for (int k = 0; k < value->operand_count && kernels_is_virtual(kernels, from); k++)
    if (!reads_rows(kernels, index, value->operand[k], end, is_far || (value->op == OP_LIFT && value->as.end != end), is_made)) return false;
  return true;
}

static const char *check_stages(const Kernels *kernels, int index) {
  const Graph *graph = kernels->graph;
  const Kernel *kernel = &kernels->kernels[index];
  const Value *first = &graph->values[kernel->anchor];
  Stage stages[MOST_STAGES];
  const int count = kernel_stages(kernels, kernel, stages);
  if (count == 1) return NULL;
  if (kernel->kind == KERNEL_COLUMN_SUM && count > 2) return arena_printf(graph->arena, "kernel %d sums more than rows beside a sum over all", index);
  bool *is_made = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int s = 0; s < count; s++) {
    const Value *anchor = &graph->values[stages[s].anchor];
    const bool is_of_all = s == 0 && kernel->kind == KERNEL_COLUMN_SUM;
    if ((!is_of_all && !op_is_aggregation(anchor->op)) || graph_walk_end(anchor) != graph_walk_end(first) || graph->values[anchor->operand[0]].shape.domain != graph->values[first->operand[0]].shape.domain)
      return arena_printf(graph->arena, "kernel %d sums %s over other edges", index, anchor->name);
    if (!reads_rows(kernels, index, anchor->operand[0], graph_walk_end(anchor), false, is_made)) return arena_printf(graph->arena, "kernel %d: %s reads rows that are not there yet", index, anchor->name);
    is_made[stages[s].anchor] = !is_of_all && !kernel->is_of_two;
    for (int b = stages[s].begin; b < stages[s].end; b++) is_made[kernel->body[b]] = !kernel->is_of_two;
  }
  return NULL;
}

static const char *check_body(const Kernels *kernels, int index) {
  const Graph *graph = kernels->graph;
  const Kernel *kernel = &kernels->kernels[index];
  const Shape *loops = &graph->values[kernel->anchor].shape;
  const char *fault = check_stages(kernels, index);
  if (fault) return fault;
  for (int b = 0; b < kernel->body_count; b++) {
    const Value *value = &graph->values[kernel->body[b]], *loops_of = kernel_copies_tile(kernels, kernel, kernel->body[b]) ? &graph->values[value->operand[0]] : value;
    if (kernel->kind == KERNEL_UPDATE && value->op == OP_UPDATE) continue;
    if (op_is_aggregation(value->op)) {
      loops = &value->shape; /* of a stage */
      continue;
    }
    if (op_info[value->op].kind != OP_KIND_POINT) return arena_printf(graph->arena, "kernel %d has %s in its body", index, value->name);
    if (value->shape.domain != loops->domain || shape_width(&loops_of->shape) != shape_width(loops))
      return arena_printf(graph->arena, "kernel %d computes %s in loops of another shape", index, value->name);
    if (kernels->made_by[kernel->body[b]] != index) return arena_printf(graph->arena, "%s is made twice", value->name);
  }
  return NULL;
}

static bool is_input(const Kernel *kernel, ValueId id) {
  for (int k = 0; k < kernel->input_count; k++)
    if (kernel->inputs[k] == id) return true;
  return false;
}

/* Whether what the value is computed from, within its kernel, has `id` at a row or an element other than its own. `seen`, per value: 1 when
 * met at its own, 2 when met apart; shared values are looked at no more often. */
static bool reads_apart(const Kernels *kernels, int index, ValueId from, ValueId id, bool is_apart, uint8_t *seen) {
  const Value *value = &kernels->graph->values[from];
  if (seen[from] > is_apart) return false;
  seen[from] = is_apart ? 2 : 1;
  if (kernels->storage[from] == id) return is_apart || from != id;
  const bool is_inside = kernels_is_virtual(kernels, from) || kernels->made_by[from] == index;
  if (!is_inside || (op_info[value->op].kind != OP_KIND_POINT && !kernels_is_virtual(kernels, from))) return false;
  for (int k = 0; k < value->operand_count; k++)
    if (reads_apart(kernels, index, value->operand[k], id, is_apart || op_moves(value->op), seen)) return true;
  return false;
}

/* A result that may lie over an operand: nobody reads that one later, and the kernel itself only where it writes. */
static const char *check_places(const Kernels *kernels, int index) {
  const Graph *graph = kernels->graph;
  const Kernel *kernel = &kernels->kernels[index];
  for (int k = 0; k < kernel->output_count; k++) {
    ValueId made = kernel->outputs[k], under = kernel->over[k];
    if (under == NO_VALUE) continue;
    const char *fault = !is_input(kernel, under) || kernels_bytes(kernels, made) != kernels_bytes(kernels, under) ? "has no such operand" : NULL;
    for (int later = index + 1; later < kernels->kernel_count; later++)
      if (is_input(&kernels->kernels[later], under)) fault = "is read later";
    for (int other = 0; other < k; other++)
      if (kernel->over[other] == under) fault = "is taken twice";
    const Value *anchor = &graph->values[kernel->anchor];
    uint8_t *seen = arena_alloc(graph->arena, 2 * (size_t)(graph->value_count + 1));
    for (int n = 0; n < anchor->operand_count && kernel->kind != KERNEL_MAP; n++)
      if (reads_apart(kernels, index, anchor->operand[n], under, kernel->kind != KERNEL_ROW_SUM, seen)) fault = "is read by the anchor";
    for (int b = 0; b < kernel->body_count; b++) {
      const Value *value = &graph->values[kernel->body[b]];
      if (op_is_aggregation(value->op) && reads_apart(kernels, index, value->operand[0], under, true, seen)) fault = "is read by a sum";
      if (reads_apart(kernels, index, kernel->body[b], under, false, seen + graph->value_count)) fault = "is read elsewhere";
    }
    if (fault) return arena_printf(graph->arena, "kernel %d: %s may not lie over %s: %s", index, graph->values[made].name, graph->values[under].name, fault);
  }
  return NULL;
}

static bool is_padded(const Kernels *kernels, ValueId id) { return kernels_padding(kernels, id).stride > 0; }

/* A product of several rows to a row of the value takes them side by side; what a library adds to a product lies as the product does. */
static const char *check_rows(const Kernels *kernels, int index) {
  const Graph *graph = kernels->graph;
  const Kernel *kernel = &kernels->kernels[index];
  const Value *anchor = &graph->values[kernel->anchor];
  const Epilogue *e = &kernel->epilogue;
  if (anchor->op != OP_MATMUL && anchor->op != OP_OUTER) return NULL;
  for (int k = 0; anchor->as.product.lead > 1 && k < 2; k++)
    if (is_padded(kernels, anchor->operand[k])) return arena_printf(graph->arena, "kernel %d takes parts of the padded rows of %s", index, graph->values[anchor->operand[k]].name);
  if (anchor->op == OP_MATMUL && anchor->as.product.lead > 1 && is_padded(kernels, kernel->anchor))
    return arena_printf(graph->arena, "kernel %d makes parts of padded rows", index);
  if (kernel->library == LIBRARY_CUBLASLT && e->addend != NO_VALUE && kernels_row_stride(kernels, e->addend) != kernels_row_stride(kernels, e->place))
    return arena_printf(graph->arena, "kernel %d adds rows that lie otherwise than its own", index);
  return NULL;
}

const char *verify_kernels(const Kernels *kernels) {
  const Graph *graph = kernels->graph;
  bool *is_made = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    const char *fault = check_reads(kernels, i, is_made);
    if (!fault) fault = check_body(kernels, i);
    if (!fault) fault = check_places(kernels, i);
    if (!fault) fault = check_rows(kernels, i);
    if (fault) return fault;
    is_made[kernel->anchor] = true;
    for (int b = 0; b < kernel->body_count; b++) is_made[kernel->body[b]] = true;
    for (int k = 0; k < kernel->output_count; k++)
      if (!is_made[kernel->outputs[k]]) return arena_printf(graph->arena, "kernel %d stores what it does not make", i);
  }
  for (int v = 0; v < graph->value_count; v++) {
    const ValueId stored = kernels->storage[v];
    if (graph_is_result(graph, v) && op_info[graph->values[stored].op].kind != OP_KIND_LEAF && !kernels->is_stored[stored]) return "a result is not stored";
  }
  for (int i = 0; i < graph->once_count; i++)
    if (kernels->storage[graph->once[i]] != graph->once[i]) return "what is computed once lies in another value";
  return NULL;
}
