/* clip: the number by which all gradients are multiplied, so that together they are no longer than a norm.
 *
 * torch.nn.utils.clip_grad_norm_: min(1, most / (length + 1e-6)), the length being that of all gradients as one vector. Each weight's squares
 * are summed within its only row, then weights in their order: no sum depends on threads or on the plan.
 */
#include "graph.h"

/* A scalar expression over numbers and options, as values. */
static ValueId scalar_value(Graph *graph, TypedId id) {
  const TypedExpr *e = &graph->program->exprs[id];
  if (e->kind == TYPED_NUMBER) return graph_number(graph, e->number);
  if (e->kind == TYPED_OPTION) return graph_add(graph, (Value){.op = OP_OPTION, .as.index = e->index});
  ValueId operand[MAX_VALUE_OPERANDS];
  for (int k = 0; k < e->operand_count; k++) operand[k] = scalar_value(graph, e->operand[k]);
  return graph_map(graph, (int)e->map, operand[0], e->operand_count > 1 ? operand[1] : NO_VALUE);
}

static ValueId sum_of_squares(Graph *graph, ValueId gradient) {
  static const int all[MAX_RANK] = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX};
  const ValueId squares = graph_map(graph, MAP_MUL, gradient, gradient);
  return graph->values[squares].shape.rank ? graph_reduce(graph, squares, (Shape){.domain = DOMAIN_NONE}, all) : squares;
}

ValueId clip_factor(Graph *graph) {
  const TypedProgram *program = graph->program;
  ValueId sum = NO_VALUE;
  if (program->train.clip_kind != CLIP_NORM) return NO_VALUE;
  for (int p = 0; p < program->param_count; p++) {
    if (graph->gradients[p] == NO_VALUE || !program->params[p].is_trained) continue;
    const ValueId squares = sum_of_squares(graph, graph->gradients[p]);
    sum = sum == NO_VALUE ? squares : graph_map(graph, MAP_ADD, sum, squares);
  }
  if (sum == NO_VALUE) return NO_VALUE;
  const ValueId length = graph_map(graph, MAP_ADD, graph_map(graph, MAP_SQRT, sum, NO_VALUE), graph_number(graph, 1e-6));
  return graph_map(graph, MAP_MIN, graph_number(graph, 1), graph_map(graph, MAP_DIV, scalar_value(graph, program->train.clip), length));
}
