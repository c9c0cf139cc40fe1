/* simplify: graph -> smaller graph with the same bits.
 *
 * Constant folding, neutral elements, common subexpressions, dead code; sums over edges of what does not depend on the
 * edge become products with the degree. Runs before autodiff (so that derivatives of trivia do not arise) and after it.
 * Cost: quadratic in the worst case for common subexpressions, linear in practice by hashing.
 */
#include <math.h>
#include <string.h>

#include "graph.h"

static bool fold(int function, double a, double b, double *result) {
  switch ((PointFunction)function) {
  case POINT_ADD: *result = a + b; return true;
  case POINT_SUB: *result = a - b; return true;
  case POINT_MUL: *result = a * b; return true;
  case POINT_DIV: *result = a / b; return b != 0;
  case POINT_POW: *result = pow(a, b); return true;
  case POINT_MAX: *result = a <= b || isnan(b) ? b : a; return true;
  case POINT_MIN: *result = a >= b || isnan(b) ? b : a; return true;
  case POINT_NEG: *result = -a; return true;
  case POINT_SQRT: *result = sqrt(a); return a >= 0;
  case POINT_RSQRT: *result = 1 / sqrt(a); return a > 0;
  case POINT_LEAKY_RELU: case POINT_ELU: case POINT_RELU: case POINT_GELU: case POINT_SIGMOID: case POINT_TANH: case POINT_EXP:
  case POINT_LOG: case POINT_ABS: case POINT_SILU: case POINT_SOFTPLUS: case POINT_GELU_SLOPE: case POINT_SIGN: case POINT_EQUAL: case POINT_COUNT: break;
  }
  return false;
}

static ValueId simplify_map(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  ValueId a = v.operand[0], b = v.operand_count > 1 ? v.operand[1] : NO_VALUE;
  double x = 0, y = 0, folded;
  bool has_x = graph_constant(graph, a, &x), has_y = b != NO_VALUE && graph_constant(graph, b, &y);
  if (has_x && (b == NO_VALUE || has_y) && fold(v.as.function, x, y, &folded))
    return graph_spread(graph, graph_number(graph, folded), v.shape);
  switch ((PointFunction)v.as.function) {
  case POINT_ADD: return has_y && y == 0 ? a : has_x && x == 0 ? b : NO_VALUE;
  case POINT_SUB: return has_y && y == 0 ? a : NO_VALUE;
  case POINT_MUL: return has_y && y == 1 ? a : has_x && x == 1 ? b : NO_VALUE;
  case POINT_DIV: return has_y && y == 1 ? a : NO_VALUE;
  case POINT_POW: return has_y && y == 1 ? a : has_y && y == 2 ? graph_map(graph, MAP_MUL, a, a) : NO_VALUE;
  case POINT_MAX: case POINT_MIN: case POINT_LEAKY_RELU: case POINT_ELU: case POINT_NEG: case POINT_RELU: case POINT_GELU:
  case POINT_SIGMOID: case POINT_TANH: case POINT_EXP: case POINT_LOG: case POINT_SQRT: case POINT_RSQRT: case POINT_ABS: case POINT_SILU:
  case POINT_SOFTPLUS: case POINT_GELU_SLOPE: case POINT_SIGN: case POINT_EQUAL: case POINT_COUNT: break;
  }
  return NO_VALUE;
}

static ValueId simplify_broadcast(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  const Value inner = graph->values[v.operand[0]];
  if (shape_equal(&v.shape, &inner.shape)) {
    bool is_identity = true;
    for (int d = 0; d < v.shape.rank; d++) is_identity = is_identity && (v.as.map[d] == d || v.shape.size[d] == 1);
    if (is_identity) return v.operand[0];
  }
  if (inner.op != OP_BROADCAST) return NO_VALUE;
  int map[MAX_RANK];
  for (int d = 0; d < MAX_RANK; d++) map[d] = v.as.map[d] == NO_INDEX ? NO_INDEX : inner.as.map[v.as.map[d]];
  return graph_broadcast(graph, inner.operand[0], v.shape, map);
}

/* Sums over the edges of a node of what is the same on all of them: the degree times it. */
static ValueId simplify_gather(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  const Value inner = graph->values[v.operand[0]];
  double number;
  ValueId same = NO_VALUE;
  if (inner.op == OP_LIFT && inner.as.end == v.as.end) same = inner.operand[0];
  else if (graph_constant(graph, v.operand[0], &number)) same = graph_spread(graph, graph_number(graph, number), v.shape);
  if (same == NO_VALUE) return NO_VALUE;
  return graph_map(graph, MAP_MUL, same, graph_spread(graph, graph_degree(graph, v.as.end), v.shape));
}

static ValueId simplify_identity(Graph *graph, ValueId id) {
  const Value *v = &graph->values[id];
  return shape_equal(&v->shape, &graph->values[v->operand[0]].shape) ? v->operand[0] : NO_VALUE;
}

static ValueId simplify_dropout(Graph *graph, ValueId id) {
  const Value *v = &graph->values[id];
  double number;
  return graph_constant(graph, v->operand[1], &number) && number == 0 ? v->operand[0] : NO_VALUE;
}

static ValueId simplify_lift(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  double number;
  return graph_constant(graph, v.operand[0], &number) ? graph_spread(graph, graph_number(graph, number), v.shape) : NO_VALUE;
}

static ValueId simplify_nothing(Graph *graph, ValueId id) {
  (void)graph, (void)id;
  return NO_VALUE;
}

static ValueId (*const simplified[OP_COUNT])(Graph *, ValueId) = {
#define OP(name, what, operands, kind, attribute, shape, simpler, derivative, is_linear, code, work, bytes) simplify_##simpler,
#include "ops.h"
#undef OP
};

static uint32_t hash_value(const Value *value, const ValueId *operand) {
  uint32_t hash = (uint32_t)value->op * 2654435761u;
  for (int k = 0; k < value->operand_count; k++) hash = (hash ^ (uint32_t)operand[k]) * 16777619u;
  return hash;
}

/* The graph with every redirection of `forward` followed and equal values merged. */
static void merge_equal_values(Graph *graph, ValueId *forward) {
  enum { BUCKETS = 4096 };
  ValueId *head = arena_alloc(graph->arena, BUCKETS * sizeof *head);
  ValueId *next = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *next);
  for (int b = 0; b < BUCKETS; b++) head[b] = NO_VALUE;
  for (int i = 0; i < graph->value_count; i++) {
    Value *value = &graph->values[i];
    if (forward[i] != NO_VALUE) continue;
    for (int k = 0; k < value->operand_count; k++)
      while (forward[value->operand[k]] != NO_VALUE) value->operand[k] = forward[value->operand[k]];
    uint32_t bucket = hash_value(value, value->operand) % BUCKETS;
    ValueId twin = head[bucket];
    for (; twin != NO_VALUE; twin = next[twin]) {
      const Value *other = &graph->values[twin];
      if (graph_is_same(value, value->operand, other, other->operand)) break;
    }
    if (twin != NO_VALUE) {
      forward[i] = twin;
      if (value->tap && !graph->values[twin].tap) graph->values[twin].tap = value->tap;
    } else {
      next[i] = head[bucket];
      head[bucket] = i;
    }
  }
}

void simplify(Graph *graph) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    int count = graph->value_count;
    ValueId *better_of = arena_alloc(graph->arena, (size_t)(count + 1) * sizeof *better_of);
    for (int i = 0; i < count; i++) {
      ValueId better = better_of[i] = simplified[graph->values[i].op](graph, i);
      if (better == NO_VALUE) continue;
      Value *kept = &graph->values[better];
      if (better >= count) {
        for (int v = count; v <= better; v++)
          if (!*graph->values[v].name) graph->values[v].place = graph->values[i].place;
        kept->name = graph->values[i].name;
        kept->phase = graph->values[i].phase;
      }
      if (graph->values[i].tap && !kept->tap) kept->tap = graph->values[i].tap;
      is_changed = true;
    }
    ValueId *forward = graph_no_redirections(graph);
    for (int i = 0; i < count; i++) forward[i] = better_of[i];
    graph_rebuild(graph, forward);
    forward = graph_no_redirections(graph);
    merge_equal_values(graph, forward);
    int before = graph->value_count;
    graph_rebuild(graph, forward);
    is_changed = is_changed || graph->value_count != before;
  }
}

Graph *evaluation_graph(const Graph *forward) {
  Graph *graph = graph_copy(forward);
  ValueId *redirect = graph_no_redirections(graph);
  for (int i = 0; i < graph->value_count; i++)
    if (graph->values[i].op == OP_DROPOUT) redirect[i] = graph->values[i].operand[0];
  graph->loss = NO_VALUE;
  graph_rebuild(graph, redirect);
  simplify(graph);
  return graph;
}
