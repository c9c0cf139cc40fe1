/* check_reduce: fewer numbers out of many, and what is made of such numbers: variance, logsumexp, softmax.
 *
 * What is reduced is said once (Over); the value that comes out can be spread over the same numbers again. So whatever is composed of
 * reductions has one definition for edges, dimensions and all rows.
 */
#include <string.h>

#include "check_function.h"
#include "check_train.h"

static const Value none = {.kind = VALUE_NONE};

typedef enum OverKind { OVER_EDGES, OVER_AXIS, OVER_ROWS, OVER_GRAPH } OverKind;

typedef struct Over {
  OverKind kind;
  EdgeEnd end; /* OVER_EDGES: at which the results are */
  int axis;    /* OVER_AXIS */
} Over;

/* What the parts of a composed reduction have in common. */
typedef struct Composition {
  Checker *checker;
  Scope *scope;
  const Call *call;
  Over over;
} Composition;

/* ---- what is it over? ---- */

static void reduce_over_what(Checker *checker, const char *f, const char *verb, const Call *call, const Operand *x) {
  const char *text = ast_expr_text(checker->arena, x->expr);
  const Type *type = &x->value.type;
  const char *axis = type->rank == 0 ? "f" : check_is_anonymous(&type->dim[type->rank - 1]) ? "-1" : type->dim[type->rank - 1].name;
  if (domain_is_nodes(type->domain) && x->expr->kind == EXPR_NAME)
    diags_error(checker->diags, "E0304", call->place,
                "%s over what? %s(src.%s) %s the in-neighbours, %s(%s, to = graph) pools each graph, %s(%s, axis = %s) %s the features", f, f, text,
                verb, f, text, f, text, axis, verb);
  else if (domain_is_nodes(type->domain))
    diags_error(checker->diags, "E0304", call->place,
                "%s over what? give the node value a name h, then %s(src.h) %s the in-neighbours, %s(h, to = graph) pools each graph, "
                "%s(h, axis = %s) %s the features", f, f, verb, f, f, axis, verb);
  else
    diags_error(checker->diags, "E0304", call->place, "%s over what? \"%s\" lives on no edges; %s(%s, axis = %s) %s a dimension", f, text, f, text, axis, verb);
}

enum { AXIS_IN_ERROR = NO_INDEX - 1, AXIS_FROM_FRONT = NO_INDEX - 2, AXIS_BEFORE_FIRST = NO_INDEX - 3 };

/* Other libraries count the nodes as dimension 0, and here rows are no dimension: of what has rows no place is counted from the front. */
static int find_axis(Checker *checker, Scope *scope, const Type *type, const Expr *axis) {
  const char *name = axis->kind == EXPR_NAME ? axis->text : NULL;
  for (int d = 0; name && d < type->rank; d++)
    if (strcmp(type->dim[d].name, name) == 0) return d;
  bool is_known = !name || check_find_variable(scope, name) || (check_sees_program(checker, scope) && check_find_constant(checker, name));
  Value value = is_known ? check_expr(checker, scope, axis) : none;
  if (is_known && value.kind == VALUE_NONE) return AXIS_IN_ERROR;
  Dim dim = {0, value.kind == VALUE_NUMBER ? value.text : "0"};
  for (int d = 0; value.kind == VALUE_NUMBER && !check_is_anonymous(&dim) && d < type->rank; d++)
    if (strcmp(type->dim[d].name, value.text) == 0) return d;
  if (value.kind != VALUE_NUMBER || !check_is_anonymous(&dim) || !check_is_whole(value.number)) return NO_INDEX;
  if (value.number >= 0 && type->domain != DOMAIN_NONE) return AXIS_FROM_FRONT;
  int d = (int)(value.number < 0 ? value.number + type->rank : value.number);
  return d >= 0 && d < type->rank ? d : d < 0 && type->domain != DOMAIN_NONE ? AXIS_BEFORE_FIRST : NO_INDEX;
}

static void say_which_axis(Checker *checker, const Type *type, const Expr *axis, bool has_rows, bool is_from_front) {
  const char *rows = "", *within = "";
  if (has_rows) rows = arena_printf(checker->arena, "axis = %s, over all of them", check_domain_word(checker, type->domain));
  for (int d = 0; d < type->rank; d++) {
    const char *name = check_is_anonymous(&type->dim[d]) ? arena_printf(checker->arena, "%d", d - type->rank) : type->dim[d].name;
    within = arena_printf(checker->arena, "%s%saxis = %s", within, d ? " or " : "", name);
  }
  diags_error(checker->diags, "E0326", axis->span.place, "axis = %s of %s is %s%s; say %s%s%s%s", ast_expr_text(checker->arena, axis), check_type_text(checker, type),
              is_from_front ? "read in two ways" : "before its first dimension, for rows are none",
              *rows ? "" : ", and over all rows is not supported", rows, *rows && *within ? ", or " : "", within, *within ? ", within each" : "");
}

int check_axis(Checker *checker, Scope *scope, const Operand *x, const Expr *axis, bool has_rows) {
  const Type *type = &x->value.type;
  int at = find_axis(checker, scope, type, axis);
  if ((at == AXIS_FROM_FRONT || at == AXIS_BEFORE_FIRST) && (has_rows || type->rank > 0)) say_which_axis(checker, type, axis, has_rows, at == AXIS_FROM_FRONT);
  else if (at != AXIS_IN_ERROR && at < 0) {
    const char *names = "";
    for (int d = 0; d < type->rank; d++) names = arena_printf(checker->arena, "%s%s%s", names, d ? ", " : "", type->dim[d].name);
    diags_error(checker->diags, "E0326", axis->span.place, "\"%s\" is no dimension of \"%s\"; it has [%s]", ast_expr_text(checker->arena, axis),
                ast_expr_text(checker->arena, x->expr), names);
  }
  return at < 0 ? NO_INDEX : at;
}

static bool is_word(const Expr *expr, const char *word) { return expr && expr->kind == EXPR_NAME && strcmp(expr->text, word) == 0; }

/* `axis = node`, of what lives on nodes, or `axis = rows`, wherever it lives: all rows. */
static bool is_rows(const Checker *checker, const Operand *x, const Expr *axis) {
  const Domain domain = x->value.type.domain;
  return domain != DOMAIN_NONE && (is_word(axis, check_domain_word(checker, domain)) || is_word(axis, "rows"));
}

static Reducer reducer_named(const char *name) {
  int reducer = 0;
  while (reducer < REDUCE_COUNT && strcmp(typed_reducer_name((Reducer)reducer), name) != 0) reducer++;
  return (Reducer)reducer;
}

bool check_goes_over_rows(const char *function) { return reducer_named(function) < REDUCE_COUNT || strcmp(function, "softmax") == 0 || strcmp(function, "log_softmax") == 0; }

/* Over all edges extremes, and what they guard, do not. */
static bool goes_over_rows(const char *function, Domain domain) {
  const Reducer reducer = reducer_named(function);
  return !domain_is_relation(domain) || reducer == REDUCE_SUM || reducer == REDUCE_MEAN || reducer == REDUCE_VAR || reducer == REDUCE_STD;
}

/* max(src.x, axis = rows) and others. */
static void no_rows(Checker *checker, const char *name, Place place) { check_unsupported(checker, place, "%s over all edges is", name); }

/* False after a message. A value on edges goes to their destinations unless something else is said. */
static bool find_over(Checker *checker, Scope *scope, const Operand *x, const Expr *to, const Expr *axis, const char *name, const char *verb, const Call *call, Over *over) {
  if (to && axis) {
    diags_error(checker->diags, "E0326", axis->span.place, "%s goes over edges (to = src) or over a dimension (axis = f), not both", name);
    return false;
  }
  if (is_word(to, "graph")) {
    if (x->value.type.domain == DOMAIN_NODE) {
      *over = (Over){.kind = OVER_GRAPH};
      return true;
    }
    const char *text = ast_expr_text(checker->arena, x->expr);
    if (domain_is_relation(x->value.type.domain)) {
      diags_error(checker->diags, "E0326", to->span.place, "to = graph pools nodes, and \"%s\" lives on edges", text);
      diags_help(checker->diags, "bring the edges to their nodes first: m = sum(%s), then sum(m, to = graph)", text);
    } else if (domain_is_nodes(x->value.type.domain)) {
      diags_error(checker->diags, "E0326", to->span.place, "to = graph pools nodes of the type %s, and \"%s\" lives on %s", check_domain_word(checker, DOMAIN_NODE), text,
                  check_domain_word(checker, x->value.type.domain));
      diags_help(checker->diags, "axis = rows goes over all of them");
    } else
      diags_error(checker->diags, "E0326", to->span.place, "to = graph pools nodes, and \"%s\" is %s", text, check_type_text(checker, &x->value.type));
    return false;
  }
  if (to && !is_word(to, "src") && !is_word(to, "dst")) {
    diags_error(checker->diags, "E0326", to->span.place, "to = must be src, dst or graph");
    return false;
  }
  if (axis && is_rows(checker, x, axis)) {
    *over = (Over){.kind = OVER_ROWS};
    return true;
  }
  if (axis) {
    *over = (Over){.kind = OVER_AXIS, .axis = check_axis(checker, scope, x, axis, goes_over_rows(name, x->value.type.domain))};
    return over->axis != NO_INDEX;
  }
  if (!domain_is_relation(x->value.type.domain)) {
    reduce_over_what(checker, name, verb, call, x);
    return false;
  }
  *over = (Over){.kind = OVER_EDGES, .end = is_word(to, "src") ? END_SRC : END_DST};
  return true;
}

/* ---- the primitives, and back ---- */

static Value emit(const Composition *c, TypedExpr e) {
  e.place = c->call->place;
  return check_emit(c->checker, c->scope, e);
}

/* Of operands of one type, or a number. */
static Value map(const Composition *c, MapOp op, Value a, Value b) {
  if (a.kind == VALUE_NONE || b.kind == VALUE_NONE) return none;
  return emit(c, (TypedExpr){.kind = TYPED_MAP, .map = op, .type = a.type, .operand_count = typed_map_arity(op), .operand = {a.id, b.id}});
}

static Value number(const Composition *c, double n, const Type *like) {
  Value one = check_tensor(c->checker, c->scope, check_number_named(c->checker, n), c->call->place);
  if (one.kind == VALUE_NONE) return none;
  return emit(c, (TypedExpr){.kind = TYPED_SPREAD, .type = *like, .operand_count = 1, .operand = {one.id}, .dims = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX}});
}

static Value lifted(const Composition *c, Value x, Domain edges, EdgeEnd end) { return check_lift(c->checker, c->scope, x, edges, end, c->call->place); }

static Value at_end(const Composition *c, Reducer reducer, Value x, EdgeEnd end) {
  return check_reduce_edges(c->checker, c->scope, x, reducer, end, c->call->place);
}

static Value unary(const Composition *c, TypedKind kind, Value x) {
  if (x.kind == VALUE_NONE) return none;
  return emit(c, (TypedExpr){.kind = kind, .type = x.type, .operand_count = 1, .operand = {x.id}});
}

static Value primitive(const Composition *c, Reducer reducer, Value x) {
  if (x.kind == VALUE_NONE) return none;
  TypedExpr e = {.type = x.type, .operand_count = 1, .operand = {x.id}, .reducer = reducer};
  switch (c->over.kind) {
  case OVER_EDGES: return at_end(c, reducer, x, c->over.end);
  case OVER_GRAPH: return at_end(c, reducer, lifted(c, x, DOMAIN_MEMBER, END_SRC), END_DST);
  case OVER_AXIS:
    e.kind = TYPED_REDUCE_AXIS;
    e.axis = c->over.axis;
    e.type.rank--;
    for (int d = e.axis; d < e.type.rank; d++) e.type.dim[d] = e.type.dim[d + 1];
    break;
  case OVER_ROWS:
    e.kind = TYPED_REDUCE_ROWS;
    e.type.domain = DOMAIN_NONE;
    break;
  }
  return emit(c, e);
}

/* What was reduced at each of the numbers that it was reduced from. */
static Value back(const Composition *c, Value reduced, const Type *from) {
  if (reduced.kind == VALUE_NONE) return none;
  if (c->over.kind == OVER_EDGES) return lifted(c, reduced, from->domain, c->over.end);
  if (c->over.kind == OVER_GRAPH) return at_end(c, REDUCE_SUM, lifted(c, reduced, DOMAIN_MEMBER, END_DST), END_SRC);
  TypedExpr e = {.kind = TYPED_SPREAD, .type = *from, .operand_count = 1, .operand = {reduced.id}};
  for (int d = 0; d < MAX_RANK; d++) {
    const bool is_there = d < from->rank && !(c->over.kind == OVER_AXIS && d == c->over.axis);
    e.dims[d] = !is_there ? NO_INDEX : d - (c->over.kind == OVER_AXIS && d > c->over.axis);
  }
  return emit(c, e);
}

/* ---- what is composed of them ---- */

static Value exponential(const Composition *c, Value x, Value of_all) {
  return map(c, MAP_EXP, map(c, MAP_SUB, x, back(c, of_all, &x.type)), x);
}

/* Guarded by the largest, through which no gradient goes: log sum exp(x) = m + log sum exp(x - m) for every m. */
static Value logsumexp(const Composition *c, Value x) {
  if (c->over.kind == OVER_EDGES || c->over.kind == OVER_GRAPH) return primitive(c, REDUCE_LOGSUMEXP, x);
  Value largest = unary(c, TYPED_STOP, primitive(c, REDUCE_MAX, x));
  Value sum = primitive(c, REDUCE_SUM, exponential(c, x, largest));
  return map(c, MAP_ADD, largest, map(c, MAP_LOG, sum, sum));
}

static Value variance(const Composition *c, Value x) {
  Value mean = primitive(c, REDUCE_MEAN, x), off = map(c, MAP_SUB, x, back(c, mean, &x.type));
  return primitive(c, REDUCE_MEAN, map(c, MAP_MUL, off, off));
}

/* 0 where the variance is at most 1e-5, which is as far as PyTorch Geometric's StdAggregation goes: the square root has no slope at 0. */
static Value deviation(const Composition *c, Value x) {
  Value of = variance(c, x), least = number(c, 1e-5, &of.type);
  Value root = map(c, MAP_SQRT, map(c, MAP_MAX, of, least), of);
  return map(c, MAP_MUL, root, map(c, MAP_LESS, least, of));
}

static Value composed(const Composition *c, Reducer reducer, Value x) {
  switch (reducer) {
  case REDUCE_LOGSUMEXP: return logsumexp(c, x);
  case REDUCE_VAR: return variance(c, x);
  case REDUCE_STD: return deviation(c, x);
  case REDUCE_SUM: case REDUCE_MEAN: case REDUCE_MAX: case REDUCE_MIN: case REDUCE_COUNT: break;
  }
  return primitive(c, reducer, x);
}

/* ---- the functions ---- */

static Value reduce(Checker *checker, Scope *scope, const char *name, Reducer reducer, const Call *call, Bound *bound, const Expr *to, const Expr *axis) {
  static const char *const verbs[REDUCE_COUNT] = {
#define REDUCER(name, text, verb, is_primitive) verb,
#include "reducers.h"
#undef REDUCER
  };
  Composition c = {.checker = checker, .scope = scope, .call = call};
  if (!check_argument_of_numbers(checker, scope, bound, 0, call)) return none;
  if (!find_over(checker, scope, &bound->operand[0], to, axis, name, verbs[reducer], call, &c.over)) return none;
  if (c.over.kind == OVER_ROWS && !goes_over_rows(name, bound->operand[0].value.type.domain)) {
    no_rows(checker, name, axis->span.place);
    return none;
  }
  return composed(&c, reducer, bound->operand[0].value);
}

Value check_reduce(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  return reduce(checker, scope, function->name, (Reducer)function->map, call, bound, bound->expr[1], bound->expr[2]);
}

/* PyG's layers call a sum "add", too. */
Value check_reduce_named(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  const char *names[REDUCE_COUNT];
  const Value how = bound->operand[1].value;
  if (how.kind != VALUE_STRING) {
    diags_error(checker->diags, "E0215", check_place_of(checker, scope, bound->operand[1].expr, call->place), "%s needs a text that says how: %s(src.x, \"mean\")", function->name, function->name);
    return none;
  }
  const Reducer reducer = reducer_named(strcmp(how.text, "add") == 0 ? "sum" : how.text);
  for (int r = 0; r < REDUCE_COUNT; r++) names[r] = typed_reducer_name((Reducer)r);
  if (reducer < REDUCE_COUNT) return reduce(checker, scope, typed_reducer_name(reducer), reducer, call, bound, bound->expr[2], bound->expr[3]);
  const Place place = check_place_of(checker, scope, bound->operand[1].expr, call->place);
  train_unknown_word(checker, place, "reducer", how.text, names, REDUCE_COUNT);
  return none;
}

/* Of two values, element by element; of one, over edges or a dimension. */
Value check_extreme(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  const Reducer reducer = function->map == MAP_MAX ? REDUCE_MAX : REDUCE_MIN;
  if (!bound->is_given[1]) return reduce(checker, scope, function->name, reducer, call, bound, bound->expr[2], bound->expr[3]);
  if (bound->is_given[2] || bound->is_given[3]) {
    diags_error(checker->diags, "E0326", call->place, "%s of two values goes element by element; to and axis are for %s of one value", function->name, function->name);
    return none;
  }
  Value a = bound->operand[0].value, b = bound->operand[1].value;
  if (a.kind == VALUE_NUMBER && b.kind == VALUE_NUMBER)
    return (function->map == MAP_MAX) == (a.number >= b.number) ? a : b;
  if (!check_argument(checker, scope, bound, 0, call) || !check_argument(checker, scope, bound, 1, call)) return none;
  return check_map(checker, scope, (MapOp)function->map, "compare", call->place, 2, bound->operand);
}

/* softmax and log_softmax, over the last dimension unless something else is said. */
Value check_softmax(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  Composition c = {.checker = checker, .scope = scope, .call = call};
  if (!check_argument_of_numbers(checker, scope, bound, 0, call)) return none;
  const Operand *x = &bound->operand[0];
  if (bound->is_given[1] || bound->is_given[2]) {
    if (!find_over(checker, scope, x, bound->expr[1], bound->expr[2], function->name, "normalises", call, &c.over)) return none;
  } else if (x->value.type.rank == 0) {
    diags_error(checker->diags, "E0326", call->place, "\"%s\" has no dimension for %s to go over", ast_expr_text(checker->arena, x->expr), function->name);
    if (domain_is_relation(x->value.type.domain)) diags_help(checker->diags, "edge_softmax normalises over the in-edges of each node");
    return none;
  } else {
    c.over = (Over){.kind = OVER_AXIS, .axis = x->value.type.rank - 1};
  }
  if (c.over.kind == OVER_ROWS && !goes_over_rows(function->name, x->value.type.domain)) {
    no_rows(checker, function->name, call->place);
    return none;
  }
  Value of_all = logsumexp(&c, x->value);
  if (strcmp(function->name, "softmax") == 0) {
    const Value shares = exponential(&c, x->value, of_all);
    if (shares.kind == VALUE_TENSOR) checker->program->exprs[shares.id].is_softmax = true;
    return shares;
  }
  return map(&c, MAP_SUB, x->value, back(&c, of_all, &x->value.type));
}

Value check_edge_softmax(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  Composition c = {.checker = checker, .scope = scope, .call = call};
  if (!check_argument_of_numbers(checker, scope, bound, 0, call)) return none;
  const Operand *x = &bound->operand[0];
  if (!domain_is_relation(x->value.type.domain)) {
    const char *text = ast_expr_text(checker->arena, x->expr);
    diags_error(checker->diags, "E0304", call->place, "edge_softmax normalises values of edges; \"%s\" is %s", text, check_type_text(checker, &x->value.type));
    if (domain_is_nodes(x->value.type.domain) && x->expr->kind == EXPR_NAME) diags_help(checker->diags, "say at which end: edge_softmax(src.%s + dst.%s)", text, text);
    return none;
  }
  if (!find_over(checker, scope, x, bound->expr[1], NULL, function->name, "normalises", call, &c.over)) return none;
  return exponential(&c, x->value, logsumexp(&c, x->value));
}
