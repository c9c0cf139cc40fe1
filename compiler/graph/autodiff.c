/* autodiff: forward graph -> training graph.
 *
 * Reverse accumulation (Griewank & Walther, Evaluating Derivatives, 2008, chapter 3), one rule per operator. A rule may
 * name any forward value; what it names has to be stored until then, so each names the least: one bit of an operand
 * (relu, leaky_relu), the result instead of the operand (sigmoid, tanh, exp, elu), nothing at all (dropout: its site).
 * Appends the gradient of every trained weight and one UPDATE for each. Cost: linear in the graph.
 */
#include <string.h>

#include "associate.h"

typedef struct Reverse {
  Graph *graph;
  const Association *association; /* NULL: none */
  ValueId summed;    /* the last gradient that was summed over edges by association */
  ValueId *gradient; /* per forward value: what has been accumulated, NO_VALUE for nothing */
  bool *is_needed;   /* per forward value: a trained weight has influence on it */
} Reverse;

static void accumulate(Reverse *r, ValueId into, ValueId gradient) {
  if (!r->is_needed[into]) return;
  ValueId *sum = &r->gradient[into];
  *sum = *sum == NO_VALUE ? gradient : graph_map(r->graph, MAP_ADD, *sum, gradient);
}

static ValueId map1(Reverse *r, int function, ValueId a) { return graph_map(r->graph, function, a, NO_VALUE); }
static ValueId mul(Reverse *r, ValueId a, ValueId b) { return graph_map(r->graph, MAP_MUL, a, b); }
static ValueId sub(Reverse *r, ValueId a, ValueId b) { return graph_map(r->graph, MAP_SUB, a, b); }
static ValueId add(Reverse *r, ValueId a, ValueId b) { return graph_map(r->graph, MAP_ADD, a, b); }
static ValueId divide(Reverse *r, ValueId a, ValueId b) { return graph_map(r->graph, MAP_DIV, a, b); }

/* The number everywhere in the shape of `like`. */
static ValueId constant(Reverse *r, double number, ValueId like) {
  return graph_spread(r->graph, graph_number(r->graph, number), r->graph->values[like].shape);
}

static ValueId positive(Reverse *r, ValueId x) {
  Value value = {.op = OP_POSITIVE, .shape = r->graph->values[x].shape, .operand_count = 1};
  value.shape.element = ELEMENT_BIT;
  value.operand[0] = x;
  return graph_add(r->graph, value);
}

static ValueId select(Reverse *r, ValueId bits, ValueId set, ValueId clear) {
  Value value = {.op = OP_SELECT, .shape = r->graph->values[set].shape, .operand_count = 3, .operand = {bits, set, clear}};
  return graph_add(r->graph, value);
}

static void derive_map(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  ValueId a = v.operand[0], b = v.operand[1];
  switch ((PointFunction)v.as.function) {
  case POINT_ADD: accumulate(r, a, g); accumulate(r, b, g); break;
  case POINT_SUB:
    accumulate(r, a, g);
    if (r->is_needed[b]) accumulate(r, b, map1(r, MAP_NEG, g));
    break;
  case POINT_MUL:
    if (r->is_needed[a]) accumulate(r, a, mul(r, g, b));
    if (r->is_needed[b]) accumulate(r, b, mul(r, g, a));
    break;
  case POINT_DIV:
    if (r->is_needed[a]) accumulate(r, a, divide(r, g, b));
    if (r->is_needed[b]) accumulate(r, b, map1(r, MAP_NEG, divide(r, mul(r, g, y), b)));
    break;
  case POINT_POW:
    if (r->is_needed[a]) {
      ValueId lower = graph_map(r->graph, MAP_POW, a, sub(r, b, constant(r, 1.0, b)));
      accumulate(r, a, mul(r, g, mul(r, b, lower)));
    }
    if (r->is_needed[b]) accumulate(r, b, mul(r, g, mul(r, y, map1(r, MAP_LOG, a))));
    break;
  case POINT_MAX:
  case POINT_MIN: {
    bool is_max = v.as.function == MAP_MAX;
    ValueId is_first = positive(r, is_max ? sub(r, a, b) : sub(r, b, a)), zero = constant(r, 0.0, g);
    if (r->is_needed[a]) accumulate(r, a, select(r, is_first, g, zero));
    if (r->is_needed[b]) accumulate(r, b, select(r, is_first, zero, g));
    break;
  }
  case POINT_LEAKY_RELU: {
    ValueId bits = positive(r, a);
    if (r->is_needed[a]) accumulate(r, a, select(r, bits, g, mul(r, g, b)));
    if (r->is_needed[b]) accumulate(r, b, select(r, bits, constant(r, 0.0, g), mul(r, g, a)));
    break;
  }
  case POINT_ELU: {
    ValueId bits = positive(r, a);
    if (r->is_needed[a]) accumulate(r, a, select(r, bits, g, mul(r, g, add(r, y, b))));
    if (r->is_needed[b]) accumulate(r, b, select(r, bits, constant(r, 0.0, g), divide(r, mul(r, g, y), b)));
    break;
  }
  case POINT_NEG: accumulate(r, a, map1(r, MAP_NEG, g)); break;
  case POINT_RELU: accumulate(r, a, select(r, positive(r, a), g, constant(r, 0.0, g))); break;
  case POINT_GELU: accumulate(r, a, mul(r, g, map1(r, POINT_GELU_SLOPE, a))); break;
  case POINT_SIGMOID: accumulate(r, a, mul(r, g, mul(r, y, sub(r, constant(r, 1.0, y), y)))); break;
  case POINT_TANH: accumulate(r, a, mul(r, g, sub(r, constant(r, 1.0, y), mul(r, y, y)))); break;
  case POINT_EXP: accumulate(r, a, mul(r, g, y)); break;
  case POINT_LOG: accumulate(r, a, divide(r, g, a)); break;
  case POINT_SQRT: accumulate(r, a, divide(r, mul(r, g, constant(r, 0.5, g)), y)); break;
  case POINT_RSQRT: accumulate(r, a, mul(r, mul(r, g, constant(r, -0.5, g)), mul(r, y, mul(r, y, y)))); break;
  case POINT_ABS: accumulate(r, a, mul(r, g, map1(r, POINT_SIGN, a))); break;
  case POINT_SILU: {
    ValueId s = map1(r, MAP_SIGMOID, a), one = constant(r, 1.0, a);
    accumulate(r, a, mul(r, g, mul(r, s, add(r, one, mul(r, a, sub(r, one, s))))));
    break;
  }
  case POINT_SOFTPLUS: accumulate(r, a, mul(r, g, map1(r, MAP_SIGMOID, a))); break;
  case POINT_LESS: case POINT_LESS_EQUAL: case POINT_EQUAL: case POINT_SIGN: break; /* steps */
  case POINT_GELU_SLOPE: case POINT_COUNT: break; /* of derivatives, which have none */
  }
}

/* Of (A x) w by association as of x w, whose gradient is A^T g. The weight's first: what it reads may end there, before the operand's has memory. */
static void derive_matmul(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  ValueId x = v.operand[0], w = v.operand[1];
  if (r->association && r->association->is_associated[y]) {
    g = r->summed = linear_rows_back(r->graph, &r->association->rows, x, g);
    x = r->association->rows.leaf[x];
  }
  const struct Contraction p = v.as.product;
  if (r->is_needed[w]) {
    Value dw = {.op = OP_OUTER, .shape = r->graph->values[w].shape, .operand_count = 2, .operand = {x, g}};
    dw.as.product = (struct Contraction){false, p.lead, p.depth, p.width};
    if (p.transposed) {
      dw.operand[0] = g;
      dw.operand[1] = x;
      dw.as.product = (struct Contraction){false, p.lead, p.width, p.depth};
    }
    accumulate(r, w, graph_add(r->graph, dw));
  }
  if (r->is_needed[x]) {
    Value dx = {.op = OP_MATMUL, .shape = r->graph->values[x].shape, .operand_count = 2, .operand = {g, w}};
    dx.as.product = (struct Contraction){!p.transposed, p.lead, p.width, p.depth};
    accumulate(r, x, graph_add(r->graph, dx));
  }
}

static void derive_dropout(Reverse *r, ValueId y, ValueId g) {
  Value same_draw = r->graph->values[y];
  same_draw.operand[0] = g;
  same_draw.tap = NULL;
  same_draw.called = NULL;
  accumulate(r, r->graph->values[y].operand[0], graph_add(r->graph, same_draw));
}

static void derive_broadcast(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  accumulate(r, v.operand[0], graph_reduce(r->graph, g, r->graph->values[v.operand[0]].shape, v.as.map));
}

static void derive_reduce(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  accumulate(r, v.operand[0], graph_broadcast(r->graph, g, r->graph->values[v.operand[0]].shape, v.as.map));
}

static void derive_reshape(Reverse *r, ValueId y, ValueId g) {
  ValueId x = r->graph->values[y].operand[0];
  accumulate(r, x, graph_add(r->graph, (Value){.op = OP_RESHAPE, .shape = r->graph->values[x].shape, .operand_count = 1, .operand = {g}}));
}

static void derive_lift(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  accumulate(r, v.operand[0], graph_gather(r->graph, g, v.as.end));
}

static Domain domain_of(const Reverse *r, ValueId id) { return r->graph->values[id].shape.domain; }

static void derive_gather(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  accumulate(r, v.operand[0], graph_lift(r->graph, g, domain_of(r, v.operand[0]), v.as.end));
}

/* Of the edges whose value is the extreme, each an equal share, as in PyTorch Geometric. Nodes without edges have nobody to share with, and
 * nothing to divide by; of what is NaN nothing is equal, and 0 / 0 stays NaN. */
static void derive_extreme(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  const Domain edges = domain_of(r, v.operand[0]);
  ValueId degree = graph_degree(r->graph, edges, v.as.end), lone = graph_map(r->graph, POINT_EQUAL, degree, constant(r, 0.0, degree));
  ValueId is_extreme = graph_map(r->graph, POINT_EQUAL, v.operand[0], graph_lift(r->graph, y, edges, v.as.end));
  ValueId ties = add(r, graph_gather(r->graph, is_extreme, v.as.end), graph_spread(r->graph, lone, v.shape));
  accumulate(r, v.operand[0], mul(r, is_extreme, graph_lift(r->graph, divide(r, g, ties), edges, v.as.end)));
}

/* Of the numbers that are the extreme, each an equal share, as of edges. */
static void derive_extreme_of_row(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  const Shape shape = r->graph->values[v.operand[0]].shape;
  ValueId is_extreme = graph_map(r->graph, POINT_EQUAL, v.operand[0], graph_broadcast(r->graph, y, shape, v.as.map));
  ValueId ties = graph_reduce(r->graph, is_extreme, v.shape, v.as.map);
  accumulate(r, v.operand[0], mul(r, is_extreme, graph_broadcast(r->graph, divide(r, g, ties), shape, v.as.map)));
}

static void derive_logsumexp(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  const Domain edges = domain_of(r, v.operand[0]);
  ValueId share = map1(r, MAP_EXP, sub(r, v.operand[0], graph_lift(r->graph, y, edges, v.as.end)));
  accumulate(r, v.operand[0], mul(r, graph_lift(r->graph, g, edges, v.as.end), share));
}

static void derive_concat(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  struct Part part = {v.as.part.axis, 0};
  for (int k = 0; k < v.operand_count; k++) {
    const Shape shape = r->graph->values[v.operand[k]].shape;
    if (r->is_needed[v.operand[k]]) accumulate(r, v.operand[k], graph_add(r->graph, (Value){.op = OP_SLICE, .shape = shape, .operand_count = 1, .operand = {g}, .as.part = part}));
    part.begin += shape.size[part.axis];
  }
}

static ValueId zeros_beside(Reverse *r, Shape shape, int axis, int64_t size) {
  shape.size[axis] = size;
  return graph_spread(r->graph, graph_number(r->graph, 0), shape);
}

/* Zeros before and after; simplify puts the slices of one value together. */
static void derive_slice(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  const int axis = v.as.part.axis;
  Value whole = {.op = OP_CONCAT, .shape = r->graph->values[v.operand[0]].shape, .as.part = {axis, 0}};
  const int64_t after = whole.shape.size[axis] - v.as.part.begin - v.shape.size[axis];
  if (v.as.part.begin > 0) whole.operand[whole.operand_count++] = zeros_beside(r, whole.shape, axis, v.as.part.begin);
  whole.operand[whole.operand_count++] = g;
  if (after > 0) whole.operand[whole.operand_count++] = zeros_beside(r, whole.shape, axis, after);
  accumulate(r, v.operand[0], graph_add(r->graph, whole));
}

static void derive_running(Reverse *r, ValueId y, ValueId g) { accumulate(r, r->graph->values[y].operand[0], g); }

static void derive_select(Reverse *r, ValueId y, ValueId g) {
  const Value v = r->graph->values[y];
  ValueId zero = constant(r, 0.0, g);
  if (r->is_needed[v.operand[1]]) accumulate(r, v.operand[1], select(r, v.operand[0], g, zero));
  if (r->is_needed[v.operand[2]]) accumulate(r, v.operand[2], select(r, v.operand[0], zero, g));
}

static void derive_nothing(Reverse *r, ValueId y, ValueId g) { (void)r, (void)y, (void)g; }

static void (*const derive[OP_COUNT])(Reverse *, ValueId, ValueId) = {
#define OP(name, what, operands, kind, attribute, shape, simpler, derivative, is_linear, code, work, bytes) derive_##derivative,
#include "ops.h"
#undef OP
};

/* A gradient is called after the first value, seen from the loss, whose gradient it is; after a weight in any case. */
static void name_gradient(Reverse *r, ValueId of) {
  const Value *value = &r->graph->values[of];
  Value *gradient = &r->graph->values[r->gradient[of]];
  bool is_weight = value->op == OP_PARAM;
  if (strncmp(gradient->name, "d_", 2) == 0 && !is_weight) return;
  const char *name = is_weight ? r->graph->program->params[value->as.index].name : value->name;
  gradient->name = arena_printf(r->graph->arena, "d_%s", name);
}

void differentiate(Graph *graph, const Association *association) {
  const TypedProgram *program = graph->program;
  int forward_count = graph->value_count;
  Reverse r = {.graph = graph, .association = association, .summed = NO_VALUE};
  r.gradient = arena_alloc(graph->arena, (size_t)forward_count * sizeof *r.gradient);
  r.is_needed = graph_depends_on_weights(graph);
  for (int i = 0; i < forward_count; i++) r.gradient[i] = NO_VALUE;

  Value seed = {.op = OP_CROSS_ENTROPY_GRADIENT, .operand_count = 2, .name = "d_scores"};
  memcpy(seed.operand, graph->values[graph->loss].operand, sizeof seed.operand);
  seed.shape = graph->values[seed.operand[0]].shape;
  seed.place = graph->values[graph->loss].place;
  seed.layer = graph->values[graph->loss].layer;
  seed.phase = PHASE_BACKWARD;
  if (r.is_needed[seed.operand[0]]) r.gradient[seed.operand[0]] = graph_add(graph, seed);

  for (int i = forward_count - 1; i >= 0; i--) {
    if (r.gradient[i] == NO_VALUE) continue;
    name_gradient(&r, i);
    int first = graph->value_count;
    derive[graph->values[i].op](&r, i, r.gradient[i]);
    for (int v = first; v < graph->value_count; v++) {
      Value *value = &graph->values[v];
      value->place = graph->values[i].place;
      value->layer = graph->values[i].layer;
      value->phase = value->op == OP_POSITIVE ? PHASE_FORWARD : PHASE_BACKWARD;
      value->name = value->op == OP_POSITIVE ? arena_printf(graph->arena, "%s.bits", graph->values[value->operand[0]].name)
                                             : arena_printf(graph->arena, v == r.summed ? "d_%s" : "back_%s", graph->values[i].name);
      value->tap = NULL;
      value->called = NULL;
    }
  }

  graph->gradients = arena_alloc(graph->arena, (size_t)(program->param_count + 1) * sizeof(ValueId));
  for (int p = 0; p < program->param_count; p++) graph->gradients[p] = NO_VALUE;
  for (int i = 0; i < forward_count; i++)
    if (graph->values[i].op == OP_PARAM) graph->gradients[graph->values[i].as.index] = r.gradient[i];
  const int first = graph->value_count;
  const ValueId factor = clip_factor(graph);
  for (int v = first; v < graph->value_count; v++) {
    graph->values[v].place = program->train.place;
    graph->values[v].phase = PHASE_BACKWARD;
    graph->values[v].name = v == factor ? "clip" : "clip_part";
  }
  for (int i = 0; i < forward_count; i++) {
    const Value param = graph->values[i];
    if (param.op != OP_PARAM || r.gradient[i] == NO_VALUE) continue;
    Value update = {.op = OP_UPDATE, .operand_count = 2, .operand = {i, r.gradient[i]}, .phase = PHASE_UPDATE};
    update.place = program->train.place;
    update.name = arena_printf(graph->arena, "update_%s", program->params[param.as.index].name);
    if (factor != NO_VALUE) update.operand[update.operand_count++] = factor;
    update.as.index = param.as.index;
    ValueId id = graph_add(graph, update);
    ARENA_PUSH(graph->arena, graph->updates, graph->update_count, id);
  }
  for (int i = 0; i < forward_count; i++) {
    const Value running = graph->values[i];
    if (running.op != OP_RUNNING) continue;
    Value follow = {.op = OP_FOLLOW, .operand_count = 2, .operand = {running.operand[1], running.operand[2]}, .phase = PHASE_UPDATE, .place = running.place};
    follow.name = arena_printf(graph->arena, "follow_%s", running.name);
    follow.as.number = running.as.number;
    ValueId id = graph_add(graph, follow);
    ARENA_PUSH(graph->arena, graph->updates, graph->update_count, id);
  }
}

void autodiff(Graph *graph, const Association *association) {
  differentiate(graph, association);
  graph->is_training = true;
  graph_settle(graph);
  graph_drop_taps(graph); /* only the evaluation is looked into */
}
