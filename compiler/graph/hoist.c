/* hoist: what no epoch changes is computed once.
 *
 * Sums over neighbours of what is given with the data depend on no weight, no dropout and no option: they are the same in
 * every epoch and every evaluation. (Models such as SGC, ICML 2019, and SIGN, 2020, consist of such sums and a product;
 * the first layer of most others begins with one.) They are found in the finished graphs, and copies of these read them
 * as leaves. The bits are those of computing them each time; what it costs is memory for the whole run, so `fit` decides.
 * Spoils nothing.
 */
#include "hoist.h"

typedef struct Walk {
  Graph *once;         /* what is computed once */
  const Graph *graph;  /* that is looked at */
  bool *is_constant;   /* per value of it: nothing that changes has influence on it */
  bool *has_sum;       /* there is a sum over edges in it */
  ValueId *image;      /* the same value in `once`, or NO_VALUE */
  bool *is_leaf;       /* it is one of once->once */
  int first_table;     /* from this one on once->once are tables of ranks, which */
  const bool *can_be_table; /* whoever reads such a field reads, so that a rank has its rows once; per field; NULL: there are none */
} Walk;

/* Whose kernels want no scratch: what is computed once lies among the residents, and nothing else is there then. */
static bool needs_no_scratch(const Value *value) {
  bool is_sum_of_rows = (value->op == OP_REDUCE || value->op == OP_ROWS_MAX || value->op == OP_ROWS_MIN) && value->shape.domain == DOMAIN_NONE;
  return !is_sum_of_rows && value->op != OP_MATMUL && value->op != OP_OUTER && value->op != OP_CROSS_ENTROPY && value->op != OP_CROSS_ENTROPY_GRADIENT;
}

bool *computed_once(const Graph *graph) {
  bool *is_constant = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  const bool *changes = graph_changes(graph);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    is_constant[i] = !changes[i] && !value->tap && needs_no_scratch(value); /* taps: the evaluation shows them */
    for (int k = 0; k < value->operand_count; k++) is_constant[i] = is_constant[i] && is_constant[value->operand[k]];
  }
  return is_constant;
}

static Walk look_at(Graph *once, const Graph *graph) {
  Arena *arena = once->arena;
  size_t count = (size_t)graph->value_count + 1;
  Walk p = {.once = once, .graph = graph, .is_constant = computed_once(graph), .has_sum = arena_alloc(arena, count), .image = arena_alloc(arena, count * sizeof *p.image), .is_leaf = arena_alloc(arena, count)};
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    p.image[i] = NO_VALUE;
    p.has_sum[i] = op_is_aggregation(value->op);
    for (int k = 0; k < value->operand_count; k++) p.has_sum[i] = p.has_sum[i] || p.has_sum[value->operand[k]];
  }
  return p;
}

static ValueId find_same(const Walk *p, ValueId id) {
  const Graph *to = p->once;
  const Value *value = &p->graph->values[id];
  ValueId operand[MAX_VALUE_OPERANDS];
  for (int k = 0; k < value->operand_count; k++)
    if ((operand[k] = p->image[value->operand[k]]) == NO_VALUE) return NO_VALUE;
  for (int i = 0; i < to->value_count; i++)
    if (graph_is_same(value, operand, &to->values[i], to->values[i].operand)) return i;
  return NO_VALUE;
}

static ValueId copy(Walk *p, ValueId id) {
  Value value = p->graph->values[id];
  if (p->image[id] != NO_VALUE) return p->image[id];
  for (int k = 0; k < value.operand_count; k++) value.operand[k] = copy(p, value.operand[k]);
  value.phase = PHASE_FORWARD;
  return p->image[id] = graph_add(p->once, value);
}

/* A row for each node is worth keeping; of rows for edges, and of what only repeats, that which they are made of. */
static void want(Walk *p, ValueId id) {
  const Value *value = &p->graph->values[id];
  if (!p->is_constant[id] || !p->has_sum[id] || p->is_leaf[id]) return;
  bool only_repeats = value->op == OP_BROADCAST || value->op == OP_RESHAPE;
  if (value->shape.domain != DOMAIN_NODE || value->shape.element != ELEMENT_REAL || only_repeats) {
    for (int k = 0; k < value->operand_count; k++) want(p, value->operand[k]);
    return;
  }
  p->is_leaf[id] = true;
  const ValueId root = copy(p, id);
  ARENA_PUSH(p->once->arena, p->once->once, p->once->once_count, root);
}

/* Where what changes begins. */
static void find_leaves(Walk *p) {
  const Graph *graph = p->graph;
  for (int i = 0; i < graph->value_count; i++)
    for (int k = 0; k < graph->values[i].operand_count; k++)
      if (!p->is_constant[i]) want(p, graph->values[i].operand[k]);
}

/* Of a field, a table that begins with the rank's rows of it; NO_INDEX: there is none. */
static int table_of_field(const Walk *p, const Value *input) {
  for (int i = p->first_table; p->can_be_table && input->op == OP_INPUT && p->can_be_table[input->as.index] && i < p->once->once_count; i++) {
    const Value *table = &p->once->values[p->once->once[i]], *rows = &p->once->values[table->operand[0]];
    if (value_table(table) && rows->op == OP_INPUT && rows->as.index == input->as.index) return i;
  }
  return NO_INDEX;
}

static Graph *with_leaves(const Walk *p) {
  Graph *graph = graph_copy(p->graph);
  const int count = graph->value_count;
  ValueId *leaf_of = arena_alloc(graph->arena, (size_t)(count + 1) * sizeof *leaf_of);
  for (int i = 0; i < count; i++) {
    leaf_of[i] = NO_VALUE;
    graph->values[i].origin = i;
    const Value *from = &graph->values[i];
    const int own = p->image[i] == NO_VALUE ? NO_INDEX : graph_once_index(p->once, p->image[i]), index = own == NO_INDEX ? table_of_field(p, from) : own;
    if (index == NO_INDEX || from->op == OP_HOISTED) continue;
    const Value leaf = {.op = OP_HOISTED, .shape = from->shape, .as.once = {index, value_table(&p->once->values[p->once->once[index]])}, .place = from->place, .layer = from->layer, .name = from->name, .called = from->called, .said = from->said, .origin = i};
    leaf_of[i] = graph_add(graph, leaf);
  }
  ValueId *forward = graph_no_redirections(graph);
  for (int i = 0; i < count; i++) forward[i] = leaf_of[i];
  graph_rebuild(graph, forward);
  return graph;
}

static void mark(const Walk *p, Graph *graph) {
  for (int i = 0; i < graph->value_count; i++) graph->values[i].is_once = p->image[i] != NO_VALUE;
}

static ValueId *origins(const Walk *p) {
  ValueId *origin = arena_alloc(p->once->arena, (size_t)(p->once->value_count + 1) * sizeof *origin);
  for (int i = 0; i < p->once->value_count; i++) origin[i] = NO_VALUE;
  for (int i = 0; i < p->graph->value_count; i++)
    if (p->image[i] != NO_VALUE) origin[p->image[i]] = i;
  return origin;
}

Hoisting *hoist(Arena *arena, Graph *training, Graph *evaluation) {
  Hoisting *result = arena_alloc(arena, sizeof *result);
  result->graph = graph_new(arena, evaluation->program);
  Walk of_epoch = look_at(result->graph, training);
  find_leaves(&of_epoch);
  if (result->graph->once_count == 0) return NULL;
  Walk of_evaluation = look_at(result->graph, evaluation);
  for (int i = 0; i < evaluation->value_count; i++)
    if (of_evaluation.is_constant[i]) of_evaluation.image[i] = find_same(&of_evaluation, i);
  mark(&of_epoch, training);
  mark(&of_evaluation, evaluation);
  for (int i = 0; i < result->graph->value_count; i++) result->graph->values[i].is_once = true;
  result->origin[0] = origins(&of_epoch);
  result->origin[1] = origins(&of_evaluation);
  result->training = with_leaves(&of_epoch);
  result->evaluation = with_leaves(&of_evaluation);
  return result;
}

/* ---- tables of ranks ----
 *
 * Rows of others that never change come once, too, whatever gathers them. */

/* What the graph has as HOISTED is there already, and so is what that was computed of. */
static void find_there(Walk *p) {
  for (int i = 0; i < p->graph->value_count; i++) {
    const Value *value = &p->graph->values[i];
    if (value->op == OP_HOISTED) p->image[i] = p->once->once[value->as.once.index];
    else if (p->is_constant[i]) p->image[i] = find_same(p, i);
  }
}

static ValueId copy_where_none_is(Walk *p, ValueId id) {
  const Value *value = &p->graph->values[id];
  for (int k = 0; k < value->operand_count; k++) copy_where_none_is(p, value->operand[k]);
  if (p->image[id] == NO_VALUE) p->image[id] = find_same(p, id);
  return copy(p, id);
}

static void want_tables(Walk *p) {
  for (int i = 0; i < p->graph->value_count; i++) {
    if (p->graph->values[i].op != OP_HALO || !p->is_constant[i]) continue;
    const ValueId root = copy_where_none_is(p, i);
    if (graph_once_index(p->once, root) == NO_INDEX) ARENA_PUSH(p->once->arena, p->once->once, p->once->once_count, root);
  }
}

/* What only the others are made of is left out. */
static void drop_tables(Tables *t, const RowsAgain *again) {
  Graph *once = t->once;
  int kept = t->first;
  for (int i = t->first; i < once->once_count; i++)
    if (!come_again(again, rows_of_table(once, once->once[i]))) once->once[kept++] = once->once[i];
  if (kept == once->once_count) return;
  once->once_count = kept;
  graph_rebuild(once, graph_no_redirections(once));
}

Tables *hoist_tables(const Graph *once, const Graph *const *graphs, int count, const bool *can_be_table, const RowsAgain *again) {
  Arena *arena = graphs[0]->arena;
  Tables *t = arena_alloc(arena, sizeof *t);
  Walk walks[TABLE_GRAPHS];
  t->once = once ? graph_copy(once) : graph_new(arena, graphs[0]->program);
  t->first = t->once->once_count;
  t->once->once = NULL;
  t->once->once_count = 0;
  for (int i = 0; i < t->first; i++) ARENA_PUSH(arena, t->once->once, t->once->once_count, once->once[i]);
  for (int g = 0; g < count; g++) {
    walks[g] = look_at(t->once, graphs[g]);
    find_there(&walks[g]);
    want_tables(&walks[g]);
  }
  if (t->once->once_count == t->first) return NULL;
  t->all = once_tables(t->once, t->first, again);
  drop_tables(t, again);
  t->origin = arena_alloc(arena, (size_t)count * sizeof *t->origin);
  for (int g = 0; g < count; g++) {
    find_there(&walks[g]);
    walks[g].first_table = t->first;
    walks[g].can_be_table = can_be_table;
    t->origin[g] = origins(&walks[g]);
    t->graphs[g] = with_leaves(&walks[g]);
  }
  return t;
}
