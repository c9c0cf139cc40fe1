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
  case POINT_LESS: *result = a < b; return true;
  case POINT_LESS_EQUAL: *result = a <= b; return true;
  case POINT_EQUAL: *result = a == b; return true;
  case POINT_LEAKY_RELU: case POINT_ELU: case POINT_RELU: case POINT_GELU: case POINT_SIGMOID: case POINT_TANH: case POINT_EXP:
  case POINT_LOG: case POINT_ABS: case POINT_SILU: case POINT_SOFTPLUS: case POINT_GELU_SLOPE: case POINT_SIGN: case POINT_COUNT: break;
  }
  return false;
}

/* ---- values side by side ---- */

static bool is_zero(const Graph *graph, ValueId id) {
  double number;
  return graph_constant(graph, id, &number) && number == 0;
}

/* The value that has the numbers from *at on, NO_VALUE for zeros, and how far it goes; false where it does not begin there. */
static bool part_at(const Graph *graph, const Value *concat, int64_t at, ValueId *part, int64_t *end) {
  int64_t begin = 0;
  for (int k = 0; k < concat->operand_count; k++, begin = *end) {
    *part = is_zero(graph, concat->operand[k]) ? NO_VALUE : concat->operand[k];
    *end = begin + graph->values[concat->operand[k]].shape.size[concat->as.part.axis];
    if (at < *end) return at == begin || *part == NO_VALUE;
  }
  return false;
}

/* Where one has zeros the other may have something: the gradients of slices of one value. */
static ValueId sum_of_concats(Graph *graph, ValueId a, ValueId b) {
  const Value x = graph->values[a], y = graph->values[b];
  if (x.op != OP_CONCAT || y.op != OP_CONCAT || x.as.part.axis != y.as.part.axis || x.tap || y.tap) return NO_VALUE;
  const int axis = x.as.part.axis;
  ValueId parts[2 * MAX_VALUE_OPERANDS];
  int64_t sizes[2 * MAX_VALUE_OPERANDS];
  int count = 0;
  for (int64_t at = 0, end; at < x.shape.size[axis]; at = end) {
    ValueId p, q;
    int64_t p_end, q_end;
    if (!part_at(graph, &x, at, &p, &p_end) || !part_at(graph, &y, at, &q, &q_end) || (p != NO_VALUE && q != NO_VALUE)) return NO_VALUE;
    end = p != NO_VALUE ? p_end : q != NO_VALUE ? q_end : p_end < q_end ? p_end : q_end;
    if ((p == NO_VALUE && p_end < end) || (q == NO_VALUE && q_end < end)) return NO_VALUE; /* its next part begins within this one */
    parts[count] = p != NO_VALUE ? p : q;
    sizes[count++] = end - at;
  }
  if (count > MAX_VALUE_OPERANDS) return NO_VALUE;
  Value whole = {.op = OP_CONCAT, .shape = x.shape, .as.part = x.as.part, .place = x.place, .layer = x.layer, .phase = x.phase, .operand_count = count};
  for (int k = 0; k < count; k++) {
    Shape shape = x.shape;
    shape.size[axis] = sizes[k];
    whole.operand[k] = parts[k] != NO_VALUE ? parts[k] : graph_spread(graph, graph_number(graph, 0), shape);
  }
  return graph_add(graph, whole);
}

static ValueId simplify_slice(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  double number;
  if (shape_equal(&v.shape, &graph->values[v.operand[0]].shape)) return v.operand[0];
  return graph_constant(graph, v.operand[0], &number) ? graph_spread(graph, graph_number(graph, number), v.shape) : NO_VALUE;
}

static ValueId simplify_map(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  ValueId a = v.operand[0], b = v.operand_count > 1 ? v.operand[1] : NO_VALUE;
  double x = 0, y = 0, folded;
  bool has_x = graph_constant(graph, a, &x), has_y = b != NO_VALUE && graph_constant(graph, b, &y);
  if (has_x && (b == NO_VALUE || has_y) && fold(v.as.function, x, y, &folded))
    return graph_spread(graph, graph_number(graph, folded), v.shape);
  switch ((PointFunction)v.as.function) {
  case POINT_ADD: return has_y && y == 0 ? a : has_x && x == 0 ? b : sum_of_concats(graph, a, b);
  case POINT_SUB: return has_y && y == 0 ? a : NO_VALUE;
  case POINT_MUL: return has_y && y == 1 ? a : has_x && x == 1 ? b : NO_VALUE;
  case POINT_DIV: return has_y && y == 1 ? a : NO_VALUE;
  case POINT_POW: return has_y && y == 1 ? a : has_y && y == 2 ? graph_map(graph, MAP_MUL, a, a) : NO_VALUE;
  case POINT_MAX: case POINT_MIN: case POINT_LEAKY_RELU: case POINT_ELU: case POINT_NEG: case POINT_RELU: case POINT_GELU:
  case POINT_SIGMOID: case POINT_TANH: case POINT_EXP: case POINT_LOG: case POINT_SQRT: case POINT_RSQRT: case POINT_ABS: case POINT_SILU:
  case POINT_SOFTPLUS: case POINT_GELU_SLOPE: case POINT_SIGN: case POINT_LESS: case POINT_LESS_EQUAL: case POINT_EQUAL: case POINT_COUNT: break;
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

/* Sums over the edges of a node of what is the same on all of them: the degree times it. Of negative numbers: the negative sum, so that these are not stored for it. */
static ValueId simplify_gather(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  const Value inner = graph->values[v.operand[0]];
  if (inner.op == OP_MAP && inner.as.function == POINT_NEG) {
    Value positive = v;
    positive.operand[0] = inner.operand[0];
    return graph_map(graph, MAP_NEG, graph_add(graph, positive), NO_VALUE);
  }
  double number;
  ValueId same = NO_VALUE;
  if (inner.op == OP_LIFT && inner.as.end == v.as.end) same = inner.operand[0];
  else if (graph_constant(graph, v.operand[0], &number)) same = graph_spread(graph, graph_number(graph, number), v.shape);
  if (same == NO_VALUE) return NO_VALUE;
  if (inner.shape.domain == DOMAIN_MEMBER && v.as.end == END_SRC) return same; /* a node is of one graph */
  return graph_map(graph, MAP_MUL, same, graph_spread(graph, graph_degree(graph, inner.shape.domain, v.as.end), v.shape));
}

static ValueId simplify_identity(Graph *graph, ValueId id) {
  const Value *v = &graph->values[id];
  return shape_equal(&v->shape, &graph->values[v->operand[0]].shape) ? v->operand[0] : NO_VALUE;
}

/* A sum over nothing but dimensions of size 1 and no rows: on edges, where rows would have to be stored for it, the operand repeated. */
static ValueId simplify_reduce(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  const Shape *from = &graph->values[v.operand[0]].shape;
  ValueId same = simplify_identity(graph, id);
  if (same != NO_VALUE || from->domain != v.shape.domain || !domain_is_edges(from->domain) || shape_width(from) != shape_width(&v.shape)) return same;
  int map[MAX_RANK] = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX};
  for (int d = 0; d < from->rank; d++)
    if (v.as.map[d] != NO_INDEX) map[v.as.map[d]] = d;
  return graph_broadcast(graph, v.operand[0], v.shape, map);
}

/* Of what is lifted to the edges, the value on the nodes, which may be stored. */
static ValueId simplify_reshape(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  const Value inner = graph->values[v.operand[0]];
  if (inner.op != OP_LIFT) return simplify_identity(graph, id);
  Value on_nodes = {.op = OP_RESHAPE, .shape = v.shape, .operand_count = 1, .operand = {inner.operand[0]}, .place = v.place, .layer = v.layer, .phase = v.phase, .name = v.name};
  on_nodes.shape.domain = domain_at(v.shape.domain, inner.as.end);
  return graph_lift(graph, graph_add(graph, on_nodes), v.shape.domain, inner.as.end);
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
        for (int v = count; v <= better; v++) {
          if (*graph->values[v].name) continue;
          graph->values[v].place = graph->values[i].place;
          graph->values[v].layer = graph->values[i].layer;
        }
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

/* The largest first, so that no exponential overflows; where there is no edge, log of 0 + 1. */
static ValueId settled_logsumexp(Graph *graph, ValueId id) {
  const Value v = graph->values[id];
  const int first = graph->value_count;
  const Domain edges = graph->values[v.operand[0]].shape.domain;
  ValueId x = v.operand[0], largest = graph_aggregate(graph, OP_GATHER_MAX, x, v.as.end);
  ValueId off = graph_map(graph, MAP_SUB, x, graph_lift(graph, largest, edges, v.as.end));
  ValueId sum = graph_gather(graph, graph_map(graph, MAP_EXP, off, NO_VALUE), v.as.end), degree = graph_degree(graph, edges, v.as.end);
  ValueId lone = graph_map(graph, POINT_EQUAL, degree, graph_spread(graph, graph_number(graph, 0), graph->values[degree].shape));
  ValueId least = graph_map(graph, MAP_ADD, sum, graph_spread(graph, lone, v.shape));
  ValueId result = graph_map(graph, MAP_ADD, largest, graph_map(graph, MAP_LOG, least, NO_VALUE));
  for (int i = first; i < graph->value_count; i++) {
    Value *value = &graph->values[i];
    value->place = v.place;
    value->layer = v.layer;
    value->phase = v.phase;
    value->name = i == result ? v.name : arena_printf(graph->arena, "%s.%s", v.name, i == largest ? "max" : i == sum ? "sum" : "part");
  }
  graph->values[result].tap = v.tap;
  return result;
}

void graph_settle(Graph *graph) {
  const int count = graph->value_count;
  ValueId *better_of = arena_alloc(graph->arena, (size_t)(count + 1) * sizeof *better_of);
  for (int i = 0; i < count; i++) {
    const Value *value = &graph->values[i];
    better_of[i] = value->op == OP_STOP ? value->operand[0] : value->op == OP_RUNNING ? value->operand[graph->is_training ? 0 : 1] : value->op == OP_GATHER_LOGSUMEXP ? settled_logsumexp(graph, i) : NO_VALUE;
  }
  ValueId *forward = graph_no_redirections(graph);
  for (int i = 0; i < count; i++) forward[i] = better_of[i];
  graph_rebuild(graph, forward);
}

Graph *evaluation_graph(const Graph *forward) {
  Graph *graph = graph_copy(forward);
  ValueId *redirect = graph_no_redirections(graph);
  for (int i = 0; i < graph->value_count; i++)
    if (graph->values[i].op == OP_DROPOUT) redirect[i] = graph->values[i].operand[0];
  graph->loss = NO_VALUE;
  graph_rebuild(graph, redirect);
  graph_settle(graph);
  simplify(graph);
  return graph;
}
