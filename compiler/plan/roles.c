/* roles: Kernels -> what each stored value is to its layer, for those policies of others that decide by it. Nothing else does.
 *
 * An input is what kernels of one layer make and those of another read, through halos, too. An aggregate is what the kernel
 * of a sum over neighbours stores, where nothing on its edges is learned, and what is computed element by element of aggregates alone, their slices side by side. Both
 * are of the forward pass and of nodes; a value that is both is an input. Linear.
 */
#include <string.h>

#include "plan.h"

typedef struct Roles {
  const Kernels *kernels;
  const Graph *graph;
  const bool *depends; /* per value: on weights */
  bool *is_learned;    /* per value on edges: it is no sum of rows of nodes, each times numbers that are no matter of weights */
  ValueRole *role;     /* per value */
} Roles;

/* ---- sums over neighbours ---- */

/* In one of its operands, while the others are no matter of weights. */
static bool is_linear(const Roles *r, const Value *value) {
  const ValueId *of = value->operand;
  if (value->op != OP_MAP) return value->op == OP_BROADCAST || value->op == OP_RESHAPE || value->op == OP_SLICE || value->op == OP_DROPOUT;
  const int function = value->as.function;
  if (function == MAP_MUL) return !r->depends[of[0]] || !r->depends[of[1]];
  if (function == MAP_DIV) return !r->depends[of[1]];
  return function == MAP_ADD || function == MAP_SUB || function == MAP_NEG;
}

/* Weights have influence on it other than by what rows of nodes hold. */
static bool is_learned(const Roles *r, ValueId id) {
  const Value *value = &r->graph->values[id];
  bool is_any = !is_linear(r, value);
  for (int k = 0; k < value->operand_count; k++) is_any = is_any || r->is_learned[value->operand[k]];
  return is_any && r->depends[id] && value->op != OP_LIFT;
}

static bool is_plain_sum(const Roles *r, const Kernel *kernel) {
  const Value *anchor = &r->graph->values[kernel->anchor];
  if (!op_is_aggregation(anchor->op) || !domain_is_nodes(anchor->shape.domain)) return false;
  return domain_is_relation(r->graph->values[anchor->operand[0]].shape.domain) && !r->is_learned[anchor->operand[0]];
}

static bool is_of_aggregates(const Roles *r, const Kernel *kernel) {
  int count = 0;
  if (kernel->kind != KERNEL_MAP && kernel->kind != KERNEL_CONCAT) return false;
  for (int k = 0; k < kernel->input_count; k++) {
    const ValueId input = r->kernels->storage[kernel->inputs[k]];
    if (r->kernels->made_by[input] == NO_INDEX) continue;
    if (r->role[input] != ROLE_AGGREGATE) return false;
    count++;
  }
  return count > 0;
}

/* ---- layers ---- */

static const char *layer_of(const Roles *r, const Kernel *kernel) {
  const char *layer = r->graph->values[kernel->anchor].layer.name;
  return layer ? layer : "";
}

static void find_inputs(const Roles *r, const Kernel *kernel) {
  for (int k = 0; k < kernel->input_count; k++) {
    ValueId input = r->kernels->storage[kernel->inputs[k]];
    if (r->graph->values[input].op == OP_HALO) input = r->kernels->storage[r->graph->values[input].operand[0]];
    const Value *value = &r->graph->values[input];
    const int32_t maker = r->kernels->made_by[input];
    if (maker == NO_INDEX || value->phase != PHASE_FORWARD || value->shape.element != ELEMENT_REAL || !domain_is_nodes(value->shape.domain)) continue;
    if (strcmp(layer_of(r, &r->kernels->kernels[maker]), layer_of(r, kernel)) != 0) r->role[input] = ROLE_INPUT;
  }
}

ValueRole *roles_of(Arena *arena, const Kernels *kernels) {
  const Graph *graph = kernels->graph;
  Roles r = {kernels, graph, graph_depends_on_weights(graph), arena_alloc(arena, (size_t)graph->value_count + 1), arena_alloc(arena, (size_t)(graph->value_count + 1) * sizeof(ValueRole))};
  for (int v = 0; v < graph->value_count; v++) r.is_learned[v] = domain_is_edges(graph->values[v].shape.domain) && is_learned(&r, v);
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    if (kernel->phase != PHASE_FORWARD || !(is_plain_sum(&r, kernel) || is_of_aggregates(&r, kernel))) continue;
    for (int k = 0; k < kernel->output_count; k++)
      if (graph->values[kernel->outputs[k]].phase == PHASE_FORWARD) r.role[kernel->outputs[k]] = ROLE_AGGREGATE;
  }
  for (int i = 0; i < kernels->kernel_count; i++)
    if (kernels->kernels[i].phase == PHASE_FORWARD) find_inputs(&r, &kernels->kernels[i]);
  return r.role;
}
