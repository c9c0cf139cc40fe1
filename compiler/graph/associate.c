/* associate: the derivative of (A x) w by way of x.
 *
 * With s = A^T g, dw = (A x)^T g = x^T s and dx = s w^T: nothing reads A x. As it is written, the derivative is dw = (A x)^T g and dx = A^T (g w^T), for
 * which A x is kept until the backward pass. Where x is kept anyway, or several sums are of one x, association keeps less; its sums over edges are
 * at the width behind the product instead of the one before it. So for each x: where the sums' further bytes are fewer than the bytes no longer kept.
 * Shapes decide, no budget does, because sums change in their last bits (-fno-reassociate). Needs the forward graph; autodiff does what is decided here.
 * Spoils nothing; cost: linear, with a walk for each product, and the derivative as it is written, to see what that keeps.
 */
#include "associate.h"

#include <inttypes.h>
#include <string.h>

typedef struct Search {
  Graph *graph;
  Association *association;
  const bool *depends;  /* per value: on trained weights */
  bool *fails;          /* per leaf: something but products reads what is summed of it, or has a gradient besides */
  const bool *is_kept;  /* per value: the derivative as it is written reads it */
  ValueId *only_user;   /* per value: NO_VALUE where there are several or none */
} Search;

static bool is_of_tree(const LinearRows *rows, ValueId id) { return rows->leaf[id] != id; }

/* A product by a trained matrix of what is summed over edges. */
static bool is_candidate(const Search *s, ValueId id) {
  const Graph *graph = s->graph;
  const LinearRows *rows = &s->association->rows;
  const Value *v = &graph->values[id];
  if (v->op != OP_MATMUL || v->as.product.lead != 1 || v->shape.rank != 1) return false;
  const ValueId x = v->operand[0];
  return is_of_tree(rows, x) && rows->aggregates[x] && graph->values[x].shape.rank == 1 && s->depends[rows->leaf[x]] && s->depends[v->operand[1]];
}

static void find_failures(Search *s) {
  const Graph *graph = s->graph;
  const LinearRows *rows = &s->association->rows;
  for (int u = 0; u < graph->value_count; u++) {
    const Value *user = &graph->values[u];
    const ValueId factor = is_of_tree(rows, u) ? linear_rows_factor(graph, rows, u) : NO_VALUE;
    if (factor != NO_VALUE && s->depends[factor]) s->fails[rows->leaf[u]] = true;
    for (int k = 0; k < user->operand_count; k++) {
      const ValueId used = user->operand[k], leaf = rows->leaf[used];
      s->only_user[used] = s->only_user[used] == NO_VALUE ? u : used; /* itself: several */
      if (used != leaf && rows->aggregates[used] && rows->leaf[u] != leaf && !(k == 0 && is_candidate(s, u))) s->fails[leaf] = true;
    }
  }
  if (rows->leaf[graph->scores] != graph->scores) s->fails[rows->leaf[graph->scores]] = true;
}

/* What the backward pass reads, seen through what is computed wherever it is needed. */
static bool *find_kept(const Graph *forward) {
  Graph *plain = graph_copy(forward);
  differentiate(plain, NULL);
  bool *is_needed = arena_alloc(forward->arena, (size_t)plain->value_count + 1), *is_kept = arena_alloc(forward->arena, (size_t)plain->value_count + 1);
  for (int i = 0; i < plain->update_count; i++) is_needed[plain->updates[i]] = true;
  for (int i = plain->value_count - 1; i >= 0; i--) {
    const Value *value = &plain->values[i];
    const bool is_seen_through = value->op == OP_LIFT || value->op == OP_RESHAPE || value->op == OP_STOP || value->op == OP_BROADCAST;
    for (int k = 0; k < value->operand_count; k++) {
      is_needed[value->operand[k]] = is_needed[value->operand[k]] || is_needed[i];
      if (is_needed[i] && (value->phase == PHASE_BACKWARD || (is_seen_through && is_kept[i]))) is_kept[value->operand[k]] = true;
    }
  }
  for (int i = 0; i < forward->value_count; i++) is_kept[i] = is_kept[i] || op_info[forward->values[i].op].kind == OP_KIND_LEAF;
  return is_kept;
}

/* The last of the sums that the product goes into as it is: products with the same one have the same gradient. */
static ValueId find_sum(const Search *s, ValueId id) {
  for (;;) {
    const ValueId user = s->only_user[id];
    if (user == NO_VALUE || user == id || s->graph->values[user].op != OP_MAP || s->graph->values[user].as.function != MAP_ADD) return id;
    id = user;
  }
}

static int64_t bytes_of_sum(const Graph *graph, ValueId id) {
  const Value *sum = &graph->values[id];
  return graph_rows(graph, graph->values[sum->operand[0]].shape.domain) * 4 * (1 + shape_width(&sum->shape));
}

/* Bytes that the sums over edges among the values from `first` on move, each once however often it is written down. */
static int64_t bytes_of_sums(Graph *graph, int first) {
  const int count = graph->value_count;
  ValueId *same = arena_alloc(graph->arena, (size_t)(count - first + 1) * sizeof *same);
  int64_t bytes = 0;
  for (int i = first; i < count; i++) {
    Value *value = &graph->values[i];
    for (int k = 0; k < value->operand_count; k++)
      if (value->operand[k] >= first) value->operand[k] = same[value->operand[k] - first];
    int twin = first;
    while (twin < i && !graph_is_same(value, value->operand, &graph->values[twin], graph->values[twin].operand)) twin++;
    same[i - first] = twin;
    if (twin == i && value->op == OP_GATHER) bytes += bytes_of_sum(graph, i);
  }
  return bytes;
}

typedef struct Group { /* the products of what is summed of one leaf */
  ValueId leaf;
  int count;
  ValueId *products;
} Group;

static Group find_group(const Search *s, ValueId first) {
  const LinearRows *rows = &s->association->rows;
  Group group = {.leaf = rows->leaf[s->graph->values[first].operand[0]]};
  for (int i = first; i < rows->count; i++)
    if (is_candidate(s, i) && rows->leaf[s->graph->values[i].operand[0]] == group.leaf) ARENA_PUSH(s->graph->arena, group.products, group.count, i);
  return group;
}

static int64_t bytes_as_written(const Search *s, const Group *group) {
  const Graph *graph = s->graph;
  const LinearRows *rows = &s->association->rows;
  int64_t bytes = 0;
  for (int i = group->leaf + 1; i < rows->count; i++)
    if (rows->leaf[i] == group->leaf && op_is_aggregation(graph->values[i].op)) bytes += bytes_of_sum(graph, i);
  return bytes;
}

static int64_t bytes_associated(const Search *s, const Group *group) {
  const int first = s->graph->value_count;
  for (int i = 0; i < group->count; i++)
    linear_rows_back(s->graph, &s->association->rows, s->graph->values[group->products[i]].operand[0], find_sum(s, group->products[i]));
  const int64_t bytes = bytes_of_sums(s->graph, first);
  s->graph->value_count = first;
  return bytes;
}

/* What the products multiply is kept no longer, the leaf is. */
static int64_t bytes_saved(const Search *s, const Group *group) {
  const Graph *graph = s->graph;
  int64_t bytes = s->is_kept[group->leaf] ? 0 : -graph_bytes(graph, group->leaf);
  for (int i = 0; i < group->count; i++) {
    const ValueId x = graph->values[group->products[i]].operand[0];
    bool is_counted = false;
    for (int k = 0; k < i; k++) is_counted = is_counted || graph->values[group->products[k]].operand[0] == x;
    if (!is_counted) bytes += graph_bytes(graph, x);
  }
  return bytes;
}

static void note(Graph *graph, const Group *group, int64_t saved) {
  const Value *first = &graph->values[group->products[0]];
  const char *others = group->count > 1 ? arena_printf(graph->arena, " and %d more", group->count - 1) : "";
  const char *text = arena_printf(graph->arena, "line %" PRId32 ": gradients of %s%s are summed over edges before the product: what it multiplies is not kept, %" PRId64 " numbers a row less",
                                  first->place.line, *first->name ? first->name : "it", others, saved / 4 / graph_rows(graph, first->shape.domain));
  for (int i = 0; i < graph->note_count; i++)
    if (strcmp(graph->notes[i], text) == 0) return;
  ARENA_PUSH(graph->arena, graph->notes, graph->note_count, text);
}

Association *associate(Graph *graph) {
  Arena *arena = graph->arena;
  const size_t room = (size_t)graph->value_count + 1;
  Association *result = arena_alloc(arena, sizeof *result);
  *result = (Association){linear_rows(graph), arena_alloc(arena, room)};
  Search s = {graph, result, graph_depends_on_weights(graph), arena_alloc(arena, room), NULL, arena_alloc(arena, room * sizeof(ValueId))};
  for (int i = 0; i < graph->value_count; i++) s.only_user[i] = NO_VALUE;
  find_failures(&s);
  bool *is_done = arena_alloc(arena, room); /* per leaf */
  for (int i = 0; i < result->rows.count; i++) {
    if (!is_candidate(&s, i)) continue;
    const Group group = find_group(&s, i);
    if (is_done[group.leaf] || s.fails[group.leaf]) continue;
    is_done[group.leaf] = true;
    if (!s.is_kept) s.is_kept = find_kept(graph);
    const int64_t saved = bytes_saved(&s, &group);
    if (bytes_associated(&s, &group) - bytes_as_written(&s, &group) >= saved) continue;
    for (int k = 0; k < group.count; k++) result->is_associated[group.products[k]] = true;
    note(graph, &group, saved);
  }
  return result;
}
