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

#include "linear_rows.h"

typedef struct Reassociation {
  Graph *graph;
  LinearRows rows;
  bool *depends; /* per value: on trained weights */
  bool *is_once; /* per value: what is made of it and the graph alone may be computed once, before the first epoch */
} Reassociation;

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
  ValueId x = v.operand[0], leaf = r->rows.leaf[x];
  if (!r->rows.aggregates[x]) return NO_VALUE;
  if (passes(r, v.as.product.width, id) >= passes(r, v.as.product.depth, leaf)) return NO_VALUE;
  note(graph, &v, "after", v.as.product.depth, v.as.product.width);
  Value product = v;
  product.operand[0] = leaf;
  product.shape.domain = graph->values[leaf].shape.domain;
  product.tap = NULL;
  product.called = NULL;
  const ValueId result = linear_rows_of(graph, &r->rows, x, graph_add(graph, product));
  if (v.tap) graph->values[result].name = v.name;
  graph->values[result].tap = v.tap;
  return result;
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
      if (used > id || r->rows.leaf[used] != leaf) continue;
      bool is_step = r->rows.leaf[u] == leaf;
      if (used == id) is_needed = is_needed || !is_step;
      else if (!is_step) return false;
    }
  }
  return is_needed;
}

/* A (X W) -> (A X) W, where `id` is the root of the tree. */
static ValueId aggregate_first(const Reassociation *r, ValueId id) {
  Graph *graph = r->graph;
  ValueId leaf = r->rows.leaf[id];
  const Value product = graph->values[leaf];
  if (!is_simple_product(graph, &product) || !r->rows.aggregates[id] || !domain_is_nodes(graph->values[id].shape.domain)) return NO_VALUE;
  ValueId x = product.operand[0];
  if (is_sparse_input(graph, x, product.as.product.depth)) return NO_VALUE;
  if (passes(r, product.as.product.depth, x) >= passes(r, product.as.product.width, leaf)) return NO_VALUE;
  if (!is_tree_root(r, id, leaf)) return NO_VALUE;
  note(graph, &graph->values[id], "before", product.as.product.width, product.as.product.depth);
  Value result = product;
  result.operand[0] = linear_rows_of(graph, &r->rows, id, x);
  result.shape.domain = graph->values[id].shape.domain;
  result.place = graph->values[id].place;
  result.layer = graph->values[id].layer;
  result.name = graph->values[id].name;
  result.tap = graph->values[id].tap;
  result.called = graph->values[id].called;
  return graph_add(graph, result);
}

static void rewrite(Graph *graph, ValueId (*rule)(const Reassociation *, ValueId)) {
  int count = graph->value_count;
  Reassociation r = {graph, linear_rows(graph), graph_depends_on_weights(graph), graph_changes(graph)};
  for (int i = 0; i < count; i++) r.is_once[i] = !r.is_once[i] && !is_sparse_input(graph, i, shape_width(&graph->values[i].shape));
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
