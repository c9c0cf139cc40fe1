/* factor: a sum over edges of products, of which one factor is the same for all edges of a node, from a sum that is there already.
 *
 *   sum_u alpha(u,v) <g(v), z(u)> = <g(v), sum_u alpha(u,v) z(u)>
 *
 * The left side is what the gradient of a softmax over edges wants, the right side has the output of the attention in it: with it the softmax's gradient
 * reads no row of a neighbour (Dao et al. 2022, FlashAttention, section B.2). Found by factors, not by names, so any expression of that
 * shape has it. Spoils nothing; cost: linear in the graph for each sum over edges.
 */
#include <string.h>

#include "graph.h"

enum { FACTORS_MAX = 16 };

/* A value that is multiplied, seen from rows of other dimensions through `map` (those of a BROADCAST), or the draw of a dropout. */
typedef struct Factor {
  ValueId value; /* of a dropout its probability */
  int32_t site;  /* NO_INDEX: no dropout */
  int map[MAX_RANK];
} Factor;

typedef struct Product {
  bool is_known;
  double scale;
  int count;
  Factor factors[FACTORS_MAX];
} Product;

static const int same_place[MAX_RANK] = {0, 1, 2, 3};

static bool is_same_map(const int *a, const int *b) { return memcmp(a, b, sizeof same_place) == 0; }

static void add_factor(Product *p, ValueId value, int32_t site, const int *map) {
  p->is_known = p->is_known && p->count < FACTORS_MAX;
  if (!p->is_known) return;
  Factor *factor = &p->factors[p->count++];
  *factor = (Factor){.value = value, .site = site};
  memcpy(factor->map, map, sizeof factor->map);
}

static void find_factors(const Graph *graph, ValueId id, const int *map, Product *p) {
  const Value *value = &graph->values[id];
  double number;
  if (graph_constant(graph, id, &number)) p->scale *= number;
  else if (value->op == OP_MAP && value->as.function == MAP_MUL) {
    find_factors(graph, value->operand[0], map, p);
    find_factors(graph, value->operand[1], map, p);
  } else if (value->op == OP_MAP && value->as.function == MAP_NEG) {
    p->scale = -p->scale;
    find_factors(graph, value->operand[0], map, p);
  } else if (value->op == OP_DROPOUT) {
    add_factor(p, value->operand[1], value->as.site, map);
    find_factors(graph, value->operand[0], map, p);
  } else if (value->op == OP_BROADCAST && is_same_map(map, same_place) && graph->values[value->operand[0]].shape.domain == value->shape.domain) {
    find_factors(graph, value->operand[0], value->as.map, p);
  } else add_factor(p, id, NO_INDEX, map);
}

static void remove_factor(Product *p, int at) { p->factors[at] = p->factors[--p->count]; }

/* Those of a sum within the row are factors of its row; what it was multiplied with is seen through its dimensions. Gives the sum, NO_VALUE where
 * there is none or another one. */
static ValueId open_row_sum(const Graph *graph, Product *p) {
  for (int i = 0; i < p->count; i++) {
    const ValueId sum = p->factors[i].value;
    const Value *value = &graph->values[sum];
    if (p->factors[i].site != NO_INDEX || value->op != OP_REDUCE || !domain_is_edges(value->shape.domain)) continue;
    remove_factor(p, i);
    for (int k = 0; k < p->count; k++) {
      if (!is_same_map(p->factors[k].map, same_place)) return NO_VALUE;
      memcpy(p->factors[k].map, value->as.map, sizeof p->factors[k].map);
    }
    find_factors(graph, value->operand[0], same_place, p);
    return sum;
  }
  return NO_VALUE;
}

/* The factor that all edges of a node at that end share; the node's value, and the factor is gone. */
static ValueId take_shared(const Graph *graph, Product *p, EdgeEnd end) {
  for (int i = 0; i < p->count; i++) {
    const Value *value = &graph->values[p->factors[i].value];
    if (p->factors[i].site != NO_INDEX || value->op != OP_LIFT || value->as.end != end || !is_same_map(p->factors[i].map, same_place)) continue;
    remove_factor(p, i);
    return value->operand[0];
  }
  return NO_VALUE;
}

static bool has_same_factors(const Product *a, const Product *b) {
  bool is_taken[FACTORS_MAX] = {false};
  if (!b->is_known || a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    int k = 0;
    for (; k < b->count; k++) {
      const Factor *p = &a->factors[i], *q = &b->factors[k];
      if (!is_taken[k] && p->value == q->value && p->site == q->site && is_same_map(p->map, q->map)) break;
    }
    if (k == b->count) return false;
    is_taken[k] = true;
  }
  return true;
}

static ValueId factored(Graph *graph, ValueId id, int count) {
  const Value v = graph->values[id];
  Product wanted = {.is_known = true, .scale = 1};
  find_factors(graph, v.operand[0], same_place, &wanted);
  const ValueId row_sum = open_row_sum(graph, &wanted);
  if (row_sum == NO_VALUE || !wanted.is_known) return NO_VALUE;
  const Value within = graph->values[row_sum];
  const ValueId shared = take_shared(graph, &wanted, v.as.end);
  Shape wide = graph->values[within.operand[0]].shape;
  wide.domain = v.shape.domain;
  for (ValueId m = 0; shared != NO_VALUE && m < count; m++) {
    const Value *sum = &graph->values[m];
    if (sum->op != OP_GATHER || sum->as.end != v.as.end || !shape_equal(&sum->shape, &wide) || !shape_equal(&graph->values[shared].shape, &wide)) continue;
    Product there = {.is_known = true, .scale = 1};
    find_factors(graph, sum->operand[0], same_place, &there);
    if (!has_same_factors(&wanted, &there) || there.scale == 0) continue;
    const int first = graph->value_count;
    ValueId result = graph_reduce(graph, graph_map(graph, MAP_MUL, shared, m), v.shape, within.as.map);
    const double scale = wanted.scale / there.scale;
    if (scale != 1) result = graph_map(graph, MAP_MUL, result, graph_spread(graph, graph_number(graph, scale), v.shape));
    for (int i = first; i < graph->value_count; i++) {
      graph->values[i].place = v.place;
      graph->values[i].layer = v.layer;
      graph->values[i].phase = v.phase;
      graph->values[i].name = v.name;
    }
    return result;
  }
  return NO_VALUE;
}

void factor(Graph *graph) {
  const int count = graph->value_count;
  ValueId *better = arena_alloc(graph->arena, (size_t)(count + 1) * sizeof *better);
  for (int i = 0; i < count; i++) better[i] = graph->values[i].op == OP_GATHER && !graph->values[i].tap ? factored(graph, i, count) : NO_VALUE;
  ValueId *forward = graph_no_redirections(graph);
  bool is_changed = false;
  for (int i = 0; i < count; i++) {
    forward[i] = better[i];
    if (better[i] == NO_VALUE) continue;
    is_changed = true;
    ARENA_PUSH(graph->arena, graph->notes, graph->note_count,
               arena_printf(graph->arena, "%s (line %d): from a sum over edges that is there already instead of one of its own; -fno-reassociate: the sum over edges",
                            graph->values[i].name, (int)graph->values[i].place.line));
  }
  if (is_changed) graph_rebuild(graph, forward);
}
