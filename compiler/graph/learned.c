/* learned: which weights have a row for each node and nothing but that.
 *
 * Such a weight lives nowhere, as checkpoints have it, and a RESHAPE gives its rows to the nodes; another takes its gradient back.
 */
#include "learned.h"

static bool is_rows_of_nodes(const Graph *graph, const Value *reshape) {
  return reshape->op == OP_RESHAPE && domain_is_nodes(reshape->shape.domain) && graph->values[reshape->operand[0]].op == OP_PARAM;
}

/* The gradient of a weight is that of its rows. */
static bool is_gradient_of_rows(const Graph *graph, ValueId id, const Shape *rows) {
  const Value *gradient = &graph->values[id];
  return gradient->op == OP_RESHAPE && shape_equal(&graph->values[gradient->operand[0]].shape, rows);
}

Domain *learned_domains(const Graph *graph) {
  const TypedProgram *program = graph->program;
  const size_t count = (size_t)program->param_count + 1;
  Domain *domains = arena_alloc(graph->arena, count * sizeof *domains);
  bool *is_other = arena_alloc(graph->arena, count);
  const Shape **rows = arena_alloc(graph->arena, count * sizeof *rows);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    for (int k = 0; k < value->operand_count; k++) {
      const Value *operand = &graph->values[value->operand[k]];
      if (operand->op != OP_PARAM) continue;
      const int32_t p = operand->as.index;
      const bool is_update = value->op == OP_UPDATE && k == 0, is_rows = is_rows_of_nodes(graph, value) && (!rows[p] || shape_equal(rows[p], &value->shape));
      if (is_rows) rows[p] = &value->shape;
      is_other[p] = is_other[p] || !(is_update || is_rows);
    }
  }
  for (int p = 0; p < program->param_count; p++) {
    const ValueId gradient = graph->gradients ? graph->gradients[p] : NO_VALUE;
    const bool is_learned = rows[p] && !is_other[p] && (gradient == NO_VALUE || is_gradient_of_rows(graph, gradient, rows[p]));
    domains[p] = is_learned ? rows[p]->domain : DOMAIN_NONE;
  }
  return domains;
}

bool *learned_on_nodes(const Graph *graph) {
  bool *is_learned = arena_alloc(graph->arena, (size_t)graph->program->param_count + 1);
  const Domain *domains = learned_domains(graph);
  for (int p = 0; p < graph->program->param_count; p++) is_learned[p] = domains[p] == DOMAIN_NODE;
  return is_learned;
}

/* Clipping by the norm sums the squares of all numbers one after the other. */
const char *learned_whole_gradients(const Graph *graph) {
  const char *names = NULL;
  for (int i = 0; i < graph->update_count; i++) {
    const Value *update = &graph->values[graph->updates[i]];
    if (!value_is_update_of_nodes(update) || graph_update_factor(graph, update) == NO_VALUE) continue;
    names = arena_printf(graph->arena, "%s%s%s", names ? names : "", names ? ", " : "", graph->values[update->operand[1]].name);
  }
  return names;
}

/* Arrays of the optimiser beside the weight. */
static int state_count(const TypedProgram *program) {
  const TrainSpec *train = &program->train;
  const int states = optimizer_info[train->optimizer].states;
  if (!optimizer_has(train->optimizer, HYPER_MOMENTUM)) return states;
  /* The last is momentum's, which may be an option, or that of a centered optimiser: room is kept unless both are the constant 0 everywhere. */
  static const HyperKind kinds[] = {HYPER_MOMENTUM, HYPER_CENTERED};
  bool has_last = false;
  for (int g = -1; g < train->group_count; g++)
    for (int k = 0; k < 2; k++) {
      const TypedId id = (g < 0 ? &train->hyper : &train->groups[g].hyper)->value[kinds[k]];
      has_last = has_last || (id != NO_INDEX && (program->exprs[id].kind != TYPED_NUMBER || program->exprs[id].number != 0));
    }
  return has_last ? states : states - 1;
}

bool weight_has_state(const TypedProgram *program, int32_t param, int number) {
  if (!program->has_train || !program->params[param].is_trained) return false;
  return number == ACCUMULATED_STATE ? program->train.accumulate > 1 : number < state_count(program);
}
