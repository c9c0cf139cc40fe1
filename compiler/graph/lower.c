/* lower: typed program -> forward graph.
 *
 * Needs a checked program; gives one value or a few for each expression, in the same order, with every broadcast
 * explicit; the loss is appended when the program trains. Nothing a user wrote can be wrong any more.
 * Cost: linear in the program.
 */
#include <string.h>

#include "graph.h"

typedef struct Lowering {
  Graph *graph;
  const TypedProgram *program;
  bool is_one_graph;         /* with nothing of its own in the data: its values live nowhere, as those of all nodes do, and a node is its own row of the graph */
  ValueId *value_of;         /* per expression */
  ValueId *field, *param, *option; /* one leaf each, NO_VALUE until first used */
  ValueId *degree;           /* in- and out-degree of each set of edges */
  int32_t site_count;
} Lowering;

static Domain domain_of(const Lowering *l, Domain domain) {
  if (!l->is_one_graph) return domain;
  return domain == DOMAIN_GRAPH ? DOMAIN_NONE : domain == DOMAIN_MEMBER ? DOMAIN_NODE : domain;
}

static Shape shape_of_type(const Lowering *l, const Type *type) {
  Shape shape = {.domain = domain_of(l, type->domain), .rank = type->rank};
  shape.element = type->dtype == DTYPE_CLASS ? ELEMENT_LABEL : ELEMENT_REAL;
  for (int d = 0; d < type->rank; d++) shape.size[d] = type->dim[d].size;
  return shape;
}

static ValueId leaf(Lowering *l, ValueId *cache, Op op, int32_t index, Shape shape) {
  if (*cache != NO_VALUE) return *cache;
  Value value = {.op = op, .shape = shape};
  value.as.index = index;
  return *cache = graph_add(l->graph, value);
}

static ValueId spread_to_type(Lowering *l, ValueId value, const Type *from, const Type *to) {
  Shape shape = shape_of_type(l, to);
  if (shape_equal(&l->graph->values[value].shape, &shape)) {
    bool is_in_order = true;
    int map[MAX_RANK];
    typed_match_dims(from, to, map);
    for (int d = 0; d < to->rank; d++) is_in_order = is_in_order && map[d] == d;
    if (is_in_order) return value;
  }
  int map[MAX_RANK];
  typed_match_dims(from, to, map);
  return graph_broadcast(l->graph, value, shape, map);
}

static int64_t product(const Dim *dims, int count) {
  int64_t n = 1;
  for (int d = 0; d < count; d++) n *= dims[d].size;
  return n;
}

static ValueId lower_matmul(Lowering *l, const TypedExpr *e, bool transposed) {
  const TypedExpr *x = &l->program->exprs[e->operand[0]], *w = &l->program->exprs[e->operand[1]];
  Value value = {.op = OP_MATMUL, .shape = shape_of_type(l, &e->type), .operand_count = 2};
  value.operand[0] = l->value_of[e->operand[0]];
  value.operand[1] = l->value_of[e->operand[1]];
  int64_t depth = x->type.dim[x->type.rank - 1].size;
  value.as.product = (struct Contraction){transposed, product(x->type.dim, x->type.rank - 1), depth,
                                      product(w->type.dim, w->type.rank) / depth};
  return graph_add(l->graph, value);
}

/* x[.., f] with w[out.., f], where w lives nowhere and shares no other dimension: rows times a transposed matrix. */
static bool is_linear_map(const TypedExpr *e, const Type *x, const Type *w) {
  return w->domain == DOMAIN_NONE && x->domain != DOMAIN_NONE && w->rank >= 2 && e->type.rank == x->rank + w->rank - 2;
}

static ValueId lower_dot(Lowering *l, const TypedExpr *e) {
  const Type *a = &l->program->exprs[e->operand[0]].type, *b = &l->program->exprs[e->operand[1]].type;
  if (is_linear_map(e, a, b)) return lower_matmul(l, e, true);
  Type full = e->type;
  full.dim[full.rank++] = a->dim[a->rank - 1];
  ValueId terms = graph_map(l->graph, MAP_MUL, spread_to_type(l, l->value_of[e->operand[0]], a, &full),
                            spread_to_type(l, l->value_of[e->operand[1]], b, &full));
  int map[MAX_RANK] = {0, 1, 2, 3};
  map[full.rank - 1] = NO_INDEX;
  return graph_reduce(l->graph, terms, shape_of_type(l, &e->type), map);
}

static ValueId lower_reduce_axis(Lowering *l, const TypedExpr *e) {
  static const Op ops[REDUCE_COUNT] = {[REDUCE_SUM] = OP_REDUCE, [REDUCE_MEAN] = OP_REDUCE, [REDUCE_MAX] = OP_REDUCE_MAX, [REDUCE_MIN] = OP_REDUCE_MIN};
  ValueId x = l->value_of[e->operand[0]];
  const Shape from = l->graph->values[x].shape;
  int map[MAX_RANK] = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX};
  for (int d = 0, kept = 0; d < from.rank; d++) map[d] = d == e->axis ? NO_INDEX : kept++;
  ValueId sum = graph_reduce_by(l->graph, ops[e->reducer], x, shape_of_type(l, &e->type), map);
  if (e->reducer != REDUCE_MEAN) return sum;
  ValueId share = graph_number(l->graph, 1.0 / (double)from.size[e->axis]);
  return graph_map(l->graph, MAP_MUL, sum, graph_spread(l->graph, share, l->graph->values[sum].shape));
}

static const int same_dims[MAX_RANK] = {0, 1, 2, 3};

/* What an expression without a name of its own is called, within its layer. */
static const char *kind_name(const TypedExpr *e) {
  static const char *const infix[] = {"add", "sub", "mul", "div", "pow"}, *const compare[] = {"less", "less_equal", "equal"};
  switch (e->kind) {
  case TYPED_LIFT: return e->type.domain == DOMAIN_MEMBER ? "graph" : e->end == END_SRC ? "src" : "dst";
  case TYPED_REDUCE_EDGES:
  case TYPED_REDUCE_AXIS: return typed_reducer_name(e->reducer);
  case TYPED_MATMUL:
  case TYPED_DOT: return "product";
  case TYPED_MAP: return e->map <= MAP_POW ? infix[e->map] : e->map >= MAP_LESS && e->map <= MAP_EQUAL ? compare[e->map - MAP_LESS] : typed_map_name(e->map);
  case TYPED_DROPOUT: return "dropped";
  case TYPED_REDUCE_ROWS: return typed_reducer_name(e->reducer);
  case TYPED_CONCAT: return "concat";
  case TYPED_SLICE: return "slice";
  case TYPED_WHERE: return "where";
  case TYPED_ROW_COUNT: return "row_count";
  case TYPED_SPREAD: case TYPED_STOP: case TYPED_RUNNING:
  case TYPED_NUMBER: case TYPED_OPTION: case TYPED_FIELD: case TYPED_PARAM: case TYPED_DEGREE: case TYPED_ZEROS: case TYPED_RESHAPE: break;
  }
  return "t";
}

static const char *value_name(Arena *arena, const TypedExpr *e) {
  if (e->is_layer_result && *e->scope) return e->scope;
  const char *name = *e->name ? e->name : kind_name(e);
  return *e->scope ? arena_printf(arena, "%s.%s", e->scope, name) : name;
}

static ValueId row_count(Lowering *l, Domain domain) {
  return domain == DOMAIN_NONE ? graph_number(l->graph, 1) : graph_add(l->graph, (Value){.op = OP_ROW_COUNT, .as.domain = domain, .name = "row_count"});
}

static ValueId named(Lowering *l, ValueId id, const TypedExpr *e, const char *part) {
  l->graph->values[id].name = arena_printf(l->graph->arena, "%s.%s", value_name(l->graph->arena, e), part);
  return id;
}

/* Guarded by the largest, through which no gradient goes. */
static ValueId logsumexp_of_rows(Lowering *l, ValueId x, const TypedExpr *e) {
  Graph *graph = l->graph;
  const Shape shape = shape_of_type(l, &e->type), rows = graph->values[x].shape;
  const ValueId most = named(l, graph_reduce_by(graph, OP_ROWS_MAX, x, shape, same_dims), e, "max");
  const ValueId largest = graph_add(graph, (Value){.op = OP_STOP, .shape = shape, .operand_count = 1, .operand = {most}});
  const ValueId below = named(l, graph_map(graph, MAP_SUB, x, graph_broadcast(graph, largest, rows, same_dims)), e, "below");
  const ValueId share = named(l, graph_map(graph, MAP_EXP, below, NO_VALUE), e, "exp");
  const ValueId sum = named(l, graph_reduce(graph, share, shape, same_dims), e, "sum");
  return graph_map(graph, MAP_ADD, largest, named(l, graph_map(graph, MAP_LOG, sum, NO_VALUE), e, "log"));
}

/* The sum over all rows, their mean and so on, which lives nowhere. */
static ValueId over_all_rows(Lowering *l, ValueId x, const TypedExpr *e) {
  const Shape shape = shape_of_type(l, &e->type);
  if (l->graph->values[x].shape.domain == DOMAIN_NONE) return x; /* the one graph is its only row */
  if (e->reducer == REDUCE_LOGSUMEXP) return logsumexp_of_rows(l, x, e);
  if (e->reducer == REDUCE_MAX || e->reducer == REDUCE_MIN) return graph_reduce_by(l->graph, e->reducer == REDUCE_MAX ? OP_ROWS_MAX : OP_ROWS_MIN, x, shape, same_dims);
  ValueId sum = graph_reduce(l->graph, x, shape, same_dims);
  if (e->reducer == REDUCE_SUM) return sum;
  named(l, sum, e, "sum");
  return graph_map(l->graph, MAP_DIV, sum, graph_spread(l->graph, row_count(l, l->graph->values[x].shape.domain), shape));
}

static ValueId lower_where(Lowering *l, const TypedExpr *e) {
  const TypedExpr *condition = &l->program->exprs[e->operand[0]];
  const bool is_comparison = condition->kind == TYPED_MAP && (condition->map == MAP_LESS || condition->map == MAP_LESS_EQUAL || condition->map == MAP_EQUAL);
  ValueId c = l->value_of[e->operand[0]], x = l->value_of[e->operand[1]], y = l->value_of[e->operand[2]];
  if (!is_comparison) c = graph_map(l->graph, MAP_EQUAL, c, graph_spread(l->graph, graph_number(l->graph, 0), l->graph->values[c].shape));
  Value bits = {.op = OP_POSITIVE, .shape = shape_of_type(l, &e->type), .operand_count = 1, .operand = {c}};
  bits.shape.element = ELEMENT_BIT;
  Value value = {.op = OP_SELECT, .shape = shape_of_type(l, &e->type), .operand_count = 3};
  value.operand[0] = graph_add(l->graph, bits);
  value.operand[1] = is_comparison ? x : y;
  value.operand[2] = is_comparison ? y : x;
  return graph_add(l->graph, value);
}

static ValueId lower_concat(Lowering *l, const TypedExpr *e) {
  Value value = {.op = OP_CONCAT, .shape = shape_of_type(l, &e->type), .operand_count = e->operand_count, .as.part = {e->axis, 0}};
  for (int k = 0; k < e->operand_count; k++) value.operand[k] = l->value_of[e->operand[k]];
  return graph_add(l->graph, value);
}

static ValueId lower_slice(Lowering *l, const TypedExpr *e) {
  Value value = {.op = OP_SLICE, .shape = shape_of_type(l, &e->type), .operand_count = 1, .operand = {l->value_of[e->operand[0]]}, .as.part = {e->axis, e->begin}};
  return graph_add(l->graph, value);
}

static ValueId lower_running(Lowering *l, const TypedExpr *e) {
  Value value = {.op = OP_RUNNING, .shape = shape_of_type(l, &e->type), .operand_count = 3, .as.number = e->number};
  for (int k = 0; k < 3; k++) value.operand[k] = l->value_of[e->operand[k]];
  return graph_add(l->graph, value);
}

static ValueId lower_stop(Lowering *l, const TypedExpr *e) {
  return graph_add(l->graph, (Value){.op = OP_STOP, .shape = shape_of_type(l, &e->type), .operand_count = 1, .operand = {l->value_of[e->operand[0]]}});
}

static ValueId degree(Lowering *l, Domain edges, EdgeEnd end) {
  ValueId *cache = &l->degree[2 * domain_set(edges) + (end == END_DST)];
  if (*cache == NO_VALUE) *cache = graph_degree(l->graph, edges, end);
  return *cache;
}

/* "convs.0" of "convs.0.lin": the outermost call, with its turn where it is one of a loop. */
static const char *outermost_call(Arena *arena, const char *scope) {
  size_t length = strcspn(scope, ".");
  const size_t turn = scope[length] ? strspn(scope + length + 1, "0123456789") : 0;
  if (turn > 0 && (scope[length + 1 + turn] == '.' || !scope[length + 1 + turn])) length += 1 + turn;
  return arena_printf(arena, "%.*s", (int)length, scope);
}

/* From the nodes of the one graph to it, or back. */
static bool is_of_members(const Lowering *l, const TypedExpr *e) { return l->is_one_graph && l->program->exprs[e->operand[0]].type.domain == DOMAIN_MEMBER; }

/* What the model itself does to the result of a layer counts with that layer. */
static Layer layer_of(const Lowering *l, const TypedExpr *e, const Value *value) {
  const Graph *graph = l->graph;
  Layer layer = {0};
  if (*e->scope) return (Layer){outermost_call(graph->arena, e->scope), e->turn};
  if (e->kind == TYPED_REDUCE_EDGES && !is_of_members(l, e)) return (Layer){value_name(graph->arena, e), e->turn};
  for (int k = 0; k < value->operand_count; k++)
    if (graph->values[value->operand[k]].layer.name) layer = graph->values[value->operand[k]].layer;
  return layer;
}

/* What is done to the data before the first layer counts with the layer that it is for. */
static void give_layers(Graph *graph) {
  bool *is_before = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int i = 0; i < graph->value_count; i++) is_before[i] = !graph->values[i].layer.name;
  for (int i = graph->value_count - 1; i >= 0; i--)
    for (int k = 0; k < graph->values[i].operand_count; k++)
      if (is_before[graph->values[i].operand[k]]) graph->values[graph->values[i].operand[k]].layer = graph->values[i].layer;
}

/* Data that have values of graphs are read as those of sets of graphs are. */
static bool is_one_graph(const TypedProgram *program) {
  if (program->info->graphs != 1 || program->exprs[program->result].type.domain == DOMAIN_GRAPH) return false;
  for (int f = 0; f < program->field_count; f++)
    if (program->fields[f].type.domain == DOMAIN_GRAPH) return false;
  return true;
}

/* From nodes to their graph or back; of one graph: over all rows, or for each of them. */
static ValueId lower_reduce_members(Lowering *l, const TypedExpr *e) {
  const ValueId x = l->value_of[e->operand[0]];
  return e->end == END_DST ? over_all_rows(l, x, e) : x;
}

static ValueId lower_lift(Lowering *l, const TypedExpr *e) {
  const ValueId x = l->value_of[e->operand[0]];
  if (!l->is_one_graph || e->type.domain != DOMAIN_MEMBER) return graph_lift(l->graph, x, e->type.domain, e->end);
  return e->end == END_DST ? graph_broadcast(l->graph, x, shape_of_type(l, &e->type), same_dims) : x;
}

static ValueId lower_reduce_edges(Lowering *l, const TypedExpr *e) {
  static const Op ops[REDUCE_COUNT] = {[REDUCE_SUM] = OP_GATHER, [REDUCE_MEAN] = OP_GATHER, [REDUCE_MAX] = OP_GATHER_MAX, [REDUCE_MIN] = OP_GATHER_MIN,
                                       [REDUCE_LOGSUMEXP] = OP_GATHER_LOGSUMEXP};
  Graph *graph = l->graph;
  if (is_of_members(l, e)) return lower_reduce_members(l, e);
  ValueId sum = graph_aggregate(graph, ops[e->reducer], l->value_of[e->operand[0]], e->end);
  if (e->reducer != REDUCE_MEAN) return sum;
  graph->values[sum].name = arena_printf(graph->arena, "%s.sum", value_name(graph->arena, e));
  /* A mean over no edges is 0: 0 divided by max(degree, 1). */
  const Domain edges = l->program->exprs[e->operand[0]].type.domain;
  const Shape scalar = {.domain = domain_at(edges, e->end)};
  ValueId one = graph_spread(graph, graph_number(graph, 1.0), scalar);
  ValueId count = graph_map(graph, MAP_MAX, degree(l, edges, e->end), one);
  const char *what = edges == DOMAIN_MEMBER ? "graph_size" : e->end == END_DST ? "in_degree" : "out_degree";
  graph->values[count].name = arena_printf(graph->arena, "%s_or_one", what);
  ValueId share = graph_map(graph, MAP_DIV, one, count);
  graph->values[share].name = arena_printf(graph->arena, "inverse_%s", what);
  return graph_map(graph, MAP_MUL, sum, graph_spread(graph, share, graph->values[sum].shape));
}

static ValueId lower_map(Lowering *l, const TypedExpr *e) {
  Value value = {.op = OP_MAP, .shape = shape_of_type(l, &e->type), .operand_count = e->operand_count};
  value.as.function = (int)e->map;
  for (int k = 0; k < e->operand_count; k++)
    value.operand[k] = spread_to_type(l, l->value_of[e->operand[k]], &l->program->exprs[e->operand[k]].type, &e->type);
  return graph_add(l->graph, value);
}

static ValueId lower_dropout(Lowering *l, const TypedExpr *e) {
  Value value = {.op = OP_DROPOUT, .shape = shape_of_type(l, &e->type), .operand_count = 2};
  value.operand[0] = l->value_of[e->operand[0]];
  value.operand[1] = l->value_of[e->operand[1]];
  value.as.site = l->site_count++;
  return graph_add(l->graph, value);
}

static ValueId lower_reshape(Lowering *l, const TypedExpr *e) {
  Value value = {.op = OP_RESHAPE, .shape = shape_of_type(l, &e->type), .operand_count = 1};
  value.operand[0] = l->value_of[e->operand[0]];
  return graph_add(l->graph, value);
}

static ValueId lower_expr(Lowering *l, const TypedExpr *e) {
  const Shape shape = shape_of_type(l, &e->type);
  switch (e->kind) {
  case TYPED_NUMBER: return graph_spread(l->graph, graph_number(l->graph, e->number), shape);
  case TYPED_ZEROS: return graph_spread(l->graph, graph_number(l->graph, 0.0), shape);
  case TYPED_OPTION: return leaf(l, &l->option[e->index], OP_OPTION, e->index, shape);
  case TYPED_FIELD: return leaf(l, &l->field[e->index], OP_INPUT, e->index, shape);
  case TYPED_PARAM: return leaf(l, &l->param[e->index], OP_PARAM, e->index, shape);
  case TYPED_DEGREE: return degree(l, e->edges, e->end);
  case TYPED_ROW_COUNT: return row_count(l, domain_of(l, l->program->exprs[e->operand[0]].type.domain));
  case TYPED_RUNNING: return lower_running(l, e);
  case TYPED_LIFT: return lower_lift(l, e);
  case TYPED_REDUCE_EDGES: return lower_reduce_edges(l, e);
  case TYPED_REDUCE_AXIS: return lower_reduce_axis(l, e);
  case TYPED_REDUCE_ROWS: return over_all_rows(l, l->value_of[e->operand[0]], e);
  case TYPED_SPREAD: return graph_broadcast(l->graph, l->value_of[e->operand[0]], shape, e->dims);
  case TYPED_WHERE: return lower_where(l, e);
  case TYPED_STOP: return lower_stop(l, e);
  case TYPED_CONCAT: return lower_concat(l, e);
  case TYPED_SLICE: return lower_slice(l, e);
  case TYPED_MATMUL: return lower_matmul(l, e, false);
  case TYPED_DOT: return lower_dot(l, e);
  case TYPED_MAP: return lower_map(l, e);
  case TYPED_DROPOUT: return lower_dropout(l, e);
  case TYPED_RESHAPE: return lower_reshape(l, e);
  }
  return NO_VALUE;
}

static ValueId *no_values(Arena *arena, int count) {
  ValueId *ids = arena_alloc(arena, (size_t)(count > 0 ? count : 1) * sizeof *ids);
  for (int i = 0; i < count; i++) ids[i] = NO_VALUE;
  return ids;
}

Graph *lower(Arena *arena, const TypedProgram *program) {
  Lowering l = {.graph = graph_new(arena, program), .program = program, .is_one_graph = is_one_graph(program)};
  l.degree = no_values(arena, 2 * typed_edge_sets(program->info));
  l.value_of = no_values(arena, program->expr_count);
  l.field = no_values(arena, program->field_count);
  l.param = no_values(arena, program->param_count);
  l.option = no_values(arena, program->option_count);

  for (int i = 0; i < program->expr_count; i++) {
    const TypedExpr *e = &program->exprs[i];
    int first = l.graph->value_count;
    l.value_of[i] = lower_expr(&l, e);
    for (int v = first; v < l.graph->value_count; v++) {
      Value *value = &l.graph->values[v];
      value->place = e->place;
      value->layer = layer_of(&l, e, value);
      if (v == l.value_of[i]) value->name = value_name(arena, e);
      else if (!value->name || !*value->name) value->name = arena_printf(arena, "%s.part", value_name(arena, e));
    }
    if (e->is_layer_result && strchr(e->scope, '.') == NULL) l.graph->values[l.value_of[i]].tap = e->scope;
  }
  for (int i = 0; i < program->naming_count; i++) {
    const ValueId id = l.value_of[program->namings[i].value];
    if (op_info[l.graph->values[id].op].kind != OP_KIND_LEAF) graph_call(l.graph, id, &(Called){&program->namings[i], NULL});
  }
  l.graph->scores = l.value_of[program->result];
  if (program->has_train) {
    const int32_t field = program->train.ring_field != NO_INDEX ? program->train.ring_field : program->train.label_field;
    Shape labels = shape_of_type(&l, &program->fields[field].type);
    Value loss = {.op = OP_CROSS_ENTROPY, .operand_count = 2, .place = program->train.place, .name = "loss"};
    loss.operand[0] = l.value_of[program->train.scores];
    loss.layer.name = l.graph->values[loss.operand[0]].layer.name;
    loss.operand[1] = leaf(&l, &l.field[field], OP_INPUT, field, labels);
    l.graph->loss = graph_add(l.graph, loss);
  }
  give_layers(l.graph);
  return l.graph;
}
