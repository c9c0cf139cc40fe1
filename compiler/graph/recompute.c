#include "recompute.h"

#include "hoist.h"

struct Recomputing {
  const Graph *from;
  Graph *to;
  const ValueId *image;
  const bool *comes, *is_recomputable;
  ValueId *others, *table; /* per value, in `to`: rows of others; these behind the rank's own. Or NO_VALUE */
  const char *names;
};

static bool is_on_nodes(const Value *value) { return value->shape.domain == DOMAIN_NODE; }

/* Per value: rows of others can come once. Not of numbers that only repeat others, which are made of these. */
static bool *find_coming(const Graph *graph, const bool *is_sparse) {
  bool *comes = computed_once(graph);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    const bool only_repeats = value->op == OP_BROADCAST || value->op == OP_RESHAPE, is_sparse_field = value->op == OP_INPUT && is_sparse[value->as.index];
    comes[i] = comes[i] && is_on_nodes(value) && value->shape.element == ELEMENT_REAL && !only_repeats && !is_sparse_field;
  }
  return comes;
}

/* A row of the result is made of the same row of the operands. */
static bool is_by_rows(const Graph *graph, const Value *value) {
  if (!is_on_nodes(value)) return false;
  if (value->op == OP_MATMUL || value->op == OP_CONCAT) return true;
  if (op_is_reduction(value->op)) return is_on_nodes(&graph->values[value->operand[0]]);
  return op_info[value->op].kind == OP_KIND_POINT && value->op != OP_TILE && !(value->op == OP_RESHAPE && !is_on_nodes(&graph->values[value->operand[0]]));
}

bool *recomputable(const Graph *graph, const bool *is_sparse) {
  const bool *is_constant = computed_once(graph), *comes = find_coming(graph, is_sparse);
  bool *is_there = arena_alloc(graph->arena, (size_t)graph->value_count + 1), *is_recomputable = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    is_there[i] = is_by_rows(graph, value);
    for (int k = 0; k < value->operand_count && is_there[i]; k++) is_there[i] = graph->values[value->operand[k]].shape.domain == DOMAIN_NONE || is_there[value->operand[k]];
    is_there[i] = is_there[i] || comes[i];
    is_recomputable[i] = is_there[i] && !is_constant[i] && value->shape.element == ELEMENT_REAL;
  }
  return is_recomputable;
}

LayersOfSums recomputable_layers(const Graph *graph, const bool *is_sparse) {
  const bool *is_recomputable = recomputable(graph, is_sparse);
  bool *gathers = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  LayersOfSums layers = {0};
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    for (int k = 0; k < value->operand_count && value->shape.domain == DOMAIN_EDGE; k++) gathers[i] = gathers[i] || gathers[value->operand[k]];
    if (value->op == OP_LIFT && value->shape.domain == DOMAIN_EDGE) gathers[i] = value->as.end == END_SRC && is_recomputable[value->operand[0]];
    const bool is_sum = op_is_aggregation(value->op) && value->as.end == END_DST && gathers[value->operand[0]];
    if (is_sum && value->layer.name && value->phase != PHASE_UPDATE && !layers_have(&layers, value->layer.name, value->phase)) ARENA_PUSH(graph->arena, layers.list, layers.count, ((LayerSums){value->layer.name, value->phase}));
  }
  return layers;
}

/* ---- the tables ---- */

Recomputing *recomputing_new(const Graph *from, Graph *to, const ValueId *image, const bool *is_sparse) {
  const size_t bytes = (size_t)(from->value_count + 1) * sizeof(ValueId);
  Recomputing *r = arena_alloc(to->arena, sizeof *r);
  *r = (Recomputing){from, to, image, find_coming(from, is_sparse), recomputable(from, is_sparse), arena_alloc(to->arena, bytes), arena_alloc(to->arena, bytes), ""};
  for (int i = 0; i < from->value_count; i++) r->others[i] = r->table[i] = NO_VALUE;
  return r;
}

static Value like(const Recomputing *r, ValueId id, Value value, const char *what, Phase phase) {
  const Value *from = &r->from->values[id];
  value.phase = phase;
  value.place = from->place;
  value.layer = from->layer;
  value.name = arena_printf(r->to->arena, "%s_%s", from->name, what);
  value.said = from->said ? arena_printf(r->to->arena, "%s_%s", from->said, what) : NULL;
  value.origin = NO_VALUE;
  return value;
}

static ValueId others_of(Recomputing *r, ValueId id, Phase phase) {
  const Value *value = &r->from->values[id];
  if (value->shape.domain == DOMAIN_NONE) return r->image[id];
  if (r->others[id] != NO_VALUE) return r->others[id];
  Value others = *value;
  others.shape.domain = DOMAIN_OTHERS;
  others.tap = NULL;
  others.was_tap = false;
  others.called = NULL;
  if (r->comes[id]) others = (Value){.op = OP_HALO, .shape = others.shape, .operand_count = 1, .operand = {r->image[id]}, .as.degree = {END_DST, DOMAIN_EDGE, HALO_FOR_DST}};
  else
    for (int k = 0; k < value->operand_count; k++) others.operand[k] = others_of(r, value->operand[k], phase);
  others.same_rows = r->to->values[r->image[id]].same_rows = id + 1;
  return r->others[id] = graph_add(r->to, like(r, id, others, "others", phase));
}

ValueId recomputed_table(Recomputing *r, ValueId id, Phase phase) {
  const Value *value = &r->from->values[id];
  if (!r->is_recomputable[id]) return NO_VALUE;
  if (r->table[id] != NO_VALUE) return r->table[id];
  const Value table = {.op = OP_BEHIND, .shape = value->shape, .operand_count = 2, .operand = {r->image[id], others_of(r, id, phase)}, .as.degree = {END_DST, DOMAIN_EDGE, HALO_FOR_DST}};
  r->names = arena_printf(r->to->arena, "%s%s%s", r->names, *r->names ? ", " : "", value->said ? value->said : value->name);
  return r->table[id] = graph_add(r->to, like(r, id, table, "table", phase));
}

void note_recomputed(const Recomputing *r) {
  if (*r->names) ARENA_PUSH(r->to->arena, r->to->notes, r->to->note_count, arena_printf(r->to->arena, "rows of others made again (halo-recompute): %s", r->names));
}
