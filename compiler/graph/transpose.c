#include "transpose.h"

#include "cut.h"

ValueId transposable(const Graph *graph, ValueId id) {
  const Value *sum = &graph->values[id];
  if (sum->op != OP_GATHER || sum->shape.domain != DOMAIN_NODE || sum->shape.rank == 0) return NO_VALUE;
  const Value *lift = &graph->values[sum->operand[0]];
  return lift->op == OP_LIFT && lift->shape.domain == DOMAIN_EDGE && lift->as.end != sum->as.end ? lift->operand[0] : NO_VALUE;
}

int64_t columns_of_ranks(int64_t width, int ranks) {
  const int64_t each = (width + ranks - 1) / ranks, columns = (each + SLICE_UNIT - 1) / SLICE_UNIT * SLICE_UNIT, fewer = (each + LEAST_RANK_UNIT - 1) / LEAST_RANK_UNIT * LEAST_RANK_UNIT;
  if ((ranks - 1) * columns < width) return columns;
  return fewer < width ? fewer : 0;
}

static ValueId add_like(Graph *to, const Value *source, Value value, const char *what) {
  value.place = source->place;
  value.layer = source->layer;
  value.origin = NO_VALUE;
  value.name = *what ? arena_printf(to->arena, "%s_%s", source->name, what) : source->name;
  value.said = *what && source->said ? arena_printf(to->arena, "%s_%s", source->said, what) : source->said;
  return graph_add(to, value);
}

static Shape columns_at(Domain domain, int64_t columns) { return (Shape){.domain = domain, .rank = 1, .size = {columns}}; }

/* Sums of one pass share them. */
static ValueId columns_of(Graph *to, const Value *rows, ValueId far, int64_t columns, Phase phase) {
  const DataInfo *info = to->program->info;
  for (int i = far + 1; i < to->value_count; i++)
    if (to->values[i].op == OP_COLUMNS && to->values[i].operand[0] == far && to->values[i].phase == phase) return i;
  return add_like(to, rows, (Value){.op = OP_COLUMNS, .shape = columns_at(typed_all_nodes(info), columns), .operand_count = 1, .operand = {far}, .as.degree = {END_DST, DOMAIN_EDGE, typed_columns_halo(info)}, .phase = phase}, "columns");
}

ValueId transposed_sum(Graph *to, const Graph *from, ValueId id, ValueId far, int64_t columns) {
  const Value sum = from->values[id];
  const DataInfo *info = to->program->info;
  const ValueId table = columns_of(to, &from->values[transposable(from, id)], far, columns, sum.phase);
  const Value lift = {.op = OP_LIFT, .shape = columns_at(typed_all_edges(info), columns), .operand_count = 1, .operand = {table}, .as.end = sum.as.end == END_DST ? END_SRC : END_DST, .phase = sum.phase};
  Value gathered = {.op = OP_GATHER, .shape = columns_at(typed_all_nodes(info), columns), .operand_count = 1, .as.end = sum.as.end, .declared_width = shape_width(&sum.shape), .phase = sum.phase, .is_exact = true};
  const int64_t holders = (gathered.declared_width + columns - 1) / columns;
  gathered.operand[0] = add_like(to, &from->values[sum.operand[0]], lift, "columns");
  Value back = {.op = OP_BACK, .shape = columns_at(DOMAIN_NODE, columns * holders), .operand_count = 1, .as.degree = {END_DST, DOMAIN_EDGE, typed_back_halo(info)}, .phase = sum.phase, .is_exact = true};
  back.operand[0] = add_like(to, &sum, gathered, "columns");
  to->values[back.operand[0]].origin = id;
  Value beside = {.op = OP_BESIDE, .shape = sum.shape, .operand_count = 1, .phase = sum.phase, .tap = sum.tap, .was_tap = sum.was_tap, .called = sum.called, .is_exact = sum.is_exact};
  beside.operand[0] = add_like(to, &sum, back, "back");
  const ValueId result = add_like(to, &sum, beside, "");
  to->values[result].origin = id;
  return result;
}
