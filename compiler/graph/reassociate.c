/* reassociate: A (X W) or (A X) W, whichever moves less.
 *
 * Aggregation, scaling of rows and sums of such are linear maps of the rows of one value, its leaf; a linear map of rows
 * commutes with the product by a weight matrix. So `aggregate, then multiply` and `multiply, then aggregate` are the
 * same up to rounding, at the cost of aggregating at the width before or after the product (GRANII, VLDB 2024, calls
 * these the primitive compositions). Needs the forward graph before autodiff, so that the derivative follows the order
 * chosen; spoils nothing; notes what it did, because sums change in their last bits (-fno-reassociate).
 */
#include <inttypes.h>
#include <string.h>

#include "graph.h"

typedef struct Reassociation {
  Graph *graph;
  int count;     /* of values before this rewriting */
  ValueId *leaf; /* per value: the one value of which it is a linear function of rows; itself where there is none */
  bool *aggregates; /* per value: there is an aggregation between it and its leaf */
  bool *depends;    /* per value: on trained weights */
  bool *is_once;    /* per value: what is made of it and the graph alone may be computed once, before the first epoch */
  ValueId *rebuilt; /* per value: what it became in the tree being rebuilt, NO_VALUE for nothing yet */
} Reassociation;

/* Over edges; what is pooled has few rows. */
static bool is_linear_aggregation(const Graph *graph, const Value *v) {
  return op_is_aggregation(v->op) && op_info[v->op].is_linear && domain_is_relation(graph->values[v->operand[0]].shape.domain);
}

static ValueId find_leaf(const Graph *graph, const ValueId *leaf, ValueId id) {
  const Value *v = &graph->values[id];
  if (is_linear_aggregation(graph, v)) {
    const Value *lifted = &graph->values[v->operand[0]];
    return lifted->op == OP_LIFT ? leaf[lifted->operand[0]] : id;
  }
  if (v->op != OP_MAP) return id;
  ValueId a = v->operand[0], b = v->operand[1];
  if (v->as.function == MAP_MUL) {
    if (shape_width(&v->shape) == 1) return id;
    if (graph_row_scalar(graph, b) != NO_VALUE) return leaf[a];
    if (graph_row_scalar(graph, a) != NO_VALUE) return leaf[b];
  }
  if ((v->as.function == MAP_ADD || v->as.function == MAP_SUB) && leaf[a] == leaf[b]) return leaf[a];
  return id;
}

static bool find_aggregation(const Graph *graph, const ValueId *leaf, const bool *aggregates, ValueId id) {
  const Value *v = &graph->values[id];
  if (leaf[id] == id) return false;
  if (is_linear_aggregation(graph, v)) return true;
  for (int k = 0; k < v->operand_count; k++)
    if (leaf[v->operand[k]] == leaf[id] && aggregates[v->operand[k]]) return true;
  return false;
}

/* The tree over `leaf` again, over `new_leaf`, at the width of the latter. */
static ValueId rebuild_tree(const Reassociation *r, ValueId id, ValueId leaf, ValueId new_leaf) {
  Graph *graph = r->graph;
  if (id == leaf) return new_leaf;
  if (r->rebuilt[id] != NO_VALUE) return r->rebuilt[id];
  const Value v = graph->values[id];
  Shape shape = graph->values[new_leaf].shape;
  shape.domain = v.shape.domain; /* the nodes at both ends of a relation may be of two types */
  int first = graph->value_count;
  ValueId result;
  if (is_linear_aggregation(graph, &v)) {
    const Value lifted = graph->values[v.operand[0]];
    ValueId inner = rebuild_tree(r, lifted.operand[0], leaf, new_leaf);
    first = graph->value_count;
    result = graph_gather(graph, graph_lift(graph, inner, lifted.shape.domain, lifted.as.end), v.as.end);
  } else {
    ValueId operand[2];
    for (int k = 0; k < 2; k++)
      operand[k] = r->leaf[v.operand[k]] == leaf
                       ? rebuild_tree(r, v.operand[k], leaf, new_leaf)
                       : graph_spread(graph, graph_row_scalar(graph, v.operand[k]), shape);
    first = graph->value_count;
    result = graph_map(graph, v.as.function, operand[0], operand[1]);
  }
  for (int i = first; i < graph->value_count; i++) {
    graph->values[i].place = v.place;
    graph->values[i].name = v.name;
  }
  return r->rebuilt[id] = result;
}

static ValueId rebuilt_over(const Reassociation *r, ValueId id, ValueId leaf, ValueId new_leaf) {
  for (int i = 0; i < r->count; i++) r->rebuilt[i] = NO_VALUE;
  return rebuild_tree(r, id, leaf, new_leaf);
}

static bool is_simple_product(const Graph *graph, const Value *v) {
  return v->op == OP_MATMUL && domain_is_nodes(v->shape.domain) && v->as.product.lead == 1 && v->shape.rank == 1 &&
         graph->values[v->operand[0]].shape.rank == 1;
}

/* Sparse features are best multiplied as they are. */
static bool is_sparse_input(const Graph *graph, ValueId id, int64_t width) {
  if (graph->values[id].op == OP_DROPOUT) id = graph->values[id].operand[0];
  if (graph->values[id].op != OP_INPUT) return false;
  int64_t nonzeros = graph->program->fields[graph->values[id].as.index].nonzeros;
  return nonzeros >= 0 && nonzeros * 4 < graph_rows(graph, graph->values[id].shape.domain) * width;
}

/* Thirds of a number moved per row and aggregation in an epoch: forward, and backward where a gradient flows back through
 * it. What may be computed once takes none where there is room for it, and is counted as two thirds: the order may not
 * depend on room, for it changes bits. */
static int64_t passes(const Reassociation *r, int64_t width, ValueId leaf) { return width * (r->depends[leaf] ? 6 : r->is_once[leaf] ? 2 : 3); }

static void note(Graph *graph, const Value *at, const char *what, int64_t from, int64_t to) {
  const char *text = arena_printf(graph->arena, "line %" PRId32 ": %s aggregates %s the product, %" PRId64 " numbers a row instead of %" PRId64,
                                  at->place.line, *at->name ? at->name : "it", what, to, from);
  for (int i = 0; i < graph->note_count; i++)
    if (strcmp(graph->notes[i], text) == 0) return; /* of another relation */
  ARENA_PUSH(graph->arena, graph->notes, graph->note_count, text);
}

/* (A X) W -> A (X W) */
static ValueId multiply_first(const Reassociation *r, ValueId id) {
  Graph *graph = r->graph;
  const Value v = graph->values[id];
  if (!is_simple_product(graph, &v)) return NO_VALUE;
  ValueId x = v.operand[0], leaf = r->leaf[x];
  if (!r->aggregates[x]) return NO_VALUE;
  if (passes(r, v.as.product.width, id) >= passes(r, v.as.product.depth, leaf)) return NO_VALUE;
  note(graph, &v, "after", v.as.product.depth, v.as.product.width);
  Value product = v;
  product.operand[0] = leaf;
  product.shape.domain = graph->values[leaf].shape.domain;
  product.tap = NULL;
  return rebuilt_over(r, x, leaf, graph_add(graph, product));
}

/* A root is a linear function of its leaf that some user needs as such, not as one more step of the tree; every other
 * step, the leaf included, must be used within the tree alone. */
static bool is_tree_root(const Reassociation *r, ValueId id, ValueId leaf) {
  const Graph *graph = r->graph;
  bool is_needed = graph->scores == id;
  for (int u = leaf + 1; u < graph->value_count; u++) {
    const Value *user = &graph->values[u];
    for (int k = 0; k < user->operand_count; k++) {
      ValueId used = user->operand[k];
      if (user->op == OP_LIFT || used > id || r->leaf[used] != leaf) continue;
      bool is_step = r->leaf[u] == leaf;
      if (used == id) is_needed = is_needed || !is_step;
      else if (!is_step) return false;
    }
  }
  return is_needed;
}

/* A (X W) -> (A X) W, where `id` is the root of the tree. */
static ValueId aggregate_first(const Reassociation *r, ValueId id) {
  Graph *graph = r->graph;
  ValueId leaf = r->leaf[id];
  const Value product = graph->values[leaf];
  if (!is_simple_product(graph, &product) || !r->aggregates[id]) return NO_VALUE;
  ValueId x = product.operand[0];
  if (is_sparse_input(graph, x, product.as.product.depth)) return NO_VALUE;
  if (passes(r, product.as.product.depth, x) >= passes(r, product.as.product.width, leaf)) return NO_VALUE;
  if (!is_tree_root(r, id, leaf)) return NO_VALUE;
  note(graph, &graph->values[id], "before", product.as.product.width, product.as.product.depth);
  Value result = product;
  result.operand[0] = rebuilt_over(r, id, leaf, x);
  result.shape.domain = graph->values[id].shape.domain;
  result.place = graph->values[id].place;
  result.name = graph->values[id].name;
  result.tap = graph->values[id].tap;
  return graph_add(graph, result);
}

static void rewrite(Graph *graph, ValueId (*rule)(const Reassociation *, ValueId)) {
  int count = graph->value_count;
  size_t room = (size_t)count + 1;
  Reassociation r = {graph, count, arena_alloc(graph->arena, room * sizeof(ValueId)), arena_alloc(graph->arena, room),
                     graph_depends_on_weights(graph), graph_changes(graph), arena_alloc(graph->arena, room * sizeof(ValueId))};
  for (int i = 0; i < count; i++) {
    r.is_once[i] = !r.is_once[i] && !is_sparse_input(graph, i, shape_width(&graph->values[i].shape));
    r.leaf[i] = find_leaf(graph, r.leaf, i);
    r.aggregates[i] = find_aggregation(graph, r.leaf, r.aggregates, i);
  }
  ValueId *better = arena_alloc(graph->arena, (size_t)(count + 1) * sizeof *better);
  for (int i = 0; i < count; i++) better[i] = rule(&r, i);
  ValueId *forward = graph_no_redirections(graph);
  for (int i = 0; i < count; i++) forward[i] = better[i];
  graph_rebuild(graph, forward);
}

void reassociate(Graph *graph) {
  rewrite(graph, multiply_first);
  rewrite(graph, aggregate_first);
}
