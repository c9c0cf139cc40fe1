/* linear_rows: trees of linear maps of rows, over their leaves.
 *
 * Aggregation, scaling of rows and sums of such are linear maps of the rows of one value, whatever its width, so the same map, and its transpose,
 * can be written down for another value. Reads the forward graph; cost: linear, and a walk for each map that is written.
 */
#include "linear_rows.h"

/* Over edges; what is pooled has few rows. */
static bool is_linear_aggregation(const Graph *graph, const Value *v) {
  return op_is_aggregation(v->op) && op_info[v->op].is_linear && domain_is_relation(graph->values[v->operand[0]].shape.domain);
}

/* A learned factor on edges has a gradient that wants the sum's operand at its own width: such sums stay where they are. */
static bool is_factor(const Graph *graph, const bool *depends, ValueId id) {
  return graph_row_scalar(graph, id) != NO_VALUE && !(domain_is_edges(graph->values[id].shape.domain) && depends[id]);
}

static ValueId find_leaf(const Graph *graph, const ValueId *leaf, const bool *depends, ValueId id) {
  const Value *v = &graph->values[id];
  if (v->op == OP_LIFT && domain_is_relation(v->shape.domain)) return leaf[v->operand[0]];
  if (is_linear_aggregation(graph, v)) return domain_is_rows(graph->values[leaf[v->operand[0]]].shape.domain) ? leaf[v->operand[0]] : id;
  if (v->op != OP_MAP) return id;
  ValueId a = v->operand[0], b = v->operand[1];
  if (v->as.function == MAP_MUL) {
    if (shape_width(&v->shape) == 1) return id;
    if (is_factor(graph, depends, b)) return leaf[a];
    if (is_factor(graph, depends, a)) return leaf[b];
  }
  if ((v->as.function == MAP_ADD || v->as.function == MAP_SUB) && leaf[a] == leaf[b]) return leaf[a];
  return id;
}

static bool find_aggregation(const Graph *graph, const LinearRows *rows, ValueId id) {
  const Value *v = &graph->values[id];
  if (rows->leaf[id] == id) return false;
  if (is_linear_aggregation(graph, v)) return true;
  for (int k = 0; k < v->operand_count; k++)
    if (rows->leaf[v->operand[k]] == rows->leaf[id] && rows->aggregates[v->operand[k]]) return true;
  return false;
}

LinearRows linear_rows(const Graph *graph) {
  const size_t room = (size_t)graph->value_count + 1;
  LinearRows rows = {graph->value_count, arena_alloc(graph->arena, room * sizeof(ValueId)), arena_alloc(graph->arena, room)};
  const bool *depends = graph_depends_on_weights(graph);
  for (int i = 0; i < graph->value_count; i++) {
    rows.leaf[i] = find_leaf(graph, rows.leaf, depends, i);
    rows.aggregates[i] = find_aggregation(graph, &rows, i);
  }
  return rows;
}

ValueId linear_rows_factor(const Graph *graph, const LinearRows *rows, ValueId step) {
  const Value *v = &graph->values[step];
  for (int k = 0; k < v->operand_count; k++)
    if (rows->leaf[v->operand[k]] != rows->leaf[step]) return v->operand[k];
  return NO_VALUE;
}

/* ---- the map of another value ---- */

typedef struct Rebuilding {
  Graph *graph;
  const LinearRows *rows;
  ValueId *rebuilt; /* per value: what it became, NO_VALUE for nothing yet */
} Rebuilding;

static ValueId rebuild(const Rebuilding *r, ValueId id, ValueId leaf, ValueId new_leaf) {
  Graph *graph = r->graph;
  if (id == leaf) return new_leaf;
  if (r->rebuilt[id] != NO_VALUE) return r->rebuilt[id];
  const Value v = graph->values[id];
  Shape shape = graph->values[new_leaf].shape;
  shape.domain = v.shape.domain; /* the nodes at both ends of a relation may be of two types */
  ValueId operand[2], result;
  for (int k = 0; k < v.operand_count; k++)
    operand[k] = r->rows->leaf[v.operand[k]] == leaf ? rebuild(r, v.operand[k], leaf, new_leaf)
                                                     : graph_spread(graph, graph_row_scalar(graph, v.operand[k]), shape);
  const int first = graph->value_count;
  if (v.op == OP_LIFT) result = graph_lift(graph, operand[0], v.shape.domain, v.as.end);
  else if (v.op == OP_MAP) result = graph_map(graph, v.as.function, operand[0], operand[1]);
  else result = graph_gather(graph, operand[0], v.as.end);
  for (int i = first; i < graph->value_count; i++) {
    graph->values[i].place = v.place;
    graph->values[i].layer = v.layer;
    graph->values[i].name = v.name;
  }
  return r->rebuilt[id] = result;
}

ValueId linear_rows_of(Graph *graph, const LinearRows *rows, ValueId id, ValueId new_leaf) {
  const Rebuilding r = {graph, rows, arena_alloc(graph->arena, (size_t)(id + 1) * sizeof(ValueId))};
  for (int i = 0; i <= id; i++) r.rebuilt[i] = NO_VALUE;
  return rebuild(&r, id, rows->leaf[id], new_leaf);
}

/* ---- the transposed map ---- */

static void add_to(Graph *graph, ValueId *sum, ValueId gradient) { *sum = *sum == NO_VALUE ? gradient : graph_map(graph, MAP_ADD, *sum, gradient); }

static void step_back(Graph *graph, const LinearRows *rows, ValueId id, ValueId g, ValueId *gradients) {
  const Value v = graph->values[id];
  const ValueId factor = linear_rows_factor(graph, rows, id);
  if (v.op == OP_LIFT) g = graph_gather(graph, g, v.as.end);
  else if (v.op != OP_MAP) g = graph_lift(graph, g, graph->values[v.operand[0]].shape.domain, v.as.end);
  else if (v.as.function == MAP_MUL) g = graph_map(graph, MAP_MUL, g, graph_spread(graph, graph_row_scalar(graph, factor), graph->values[g].shape));
  for (int k = 0; k < v.operand_count; k++) {
    if (v.operand[k] == factor) continue;
    const bool is_taken_away = v.op == OP_MAP && v.as.function == MAP_SUB && k == 1;
    add_to(graph, &gradients[v.operand[k]], is_taken_away ? graph_map(graph, MAP_NEG, g, NO_VALUE) : g);
  }
}

ValueId linear_rows_back(Graph *graph, const LinearRows *rows, ValueId id, ValueId gradient) {
  const ValueId leaf = rows->leaf[id];
  ValueId *gradients = arena_alloc(graph->arena, (size_t)(id + 1) * sizeof *gradients);
  for (ValueId i = leaf; i <= id; i++) gradients[i] = NO_VALUE;
  gradients[id] = gradient;
  for (ValueId i = id; i > leaf; i--)
    if (gradients[i] != NO_VALUE) step_back(graph, rows, i, gradients[i], gradients);
  return gradients[leaf];
}
