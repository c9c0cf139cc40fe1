/* check_function: the functions of the language. */
#include <math.h>
#include <string.h>

#include "check.h"

enum { ARG_MAX = 8 };

/* Arguments in the order of the function's formals; the piped one is the first. */
typedef struct Bound {
  Operand operand[ARG_MAX];   /* evaluated, where the formal says so */
  const Expr *expr[ARG_MAX];  /* as written; NULL where absent or piped */
  bool is_given[ARG_MAX];
} Bound;

typedef struct Function Function;
typedef Value Check(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound);

struct Function {
  const char *name;
  const char *formals; /* "x, slope = 0.01"; names that begin with ' are taken as written, not evaluated */
  Check *check;
  int map;             /* MapOp of element-wise functions */
  const char *help;
};

static const Value none = {.kind = VALUE_NONE};

static Value check_unary(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_slope(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_extreme(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_reduce(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_dropout(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_flatten(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_squeeze(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_zeros(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_reduce_named(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_domain(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_dot_call(Checker *, Scope *, const Function *, const Call *, Bound *);
static Value check_init(Checker *, Scope *, const Function *, const Call *, Bound *);

static const Function functions[] = {
    {"relu", "x", check_unary, MAP_RELU, "max(x, 0)"},
    {"gelu", "x", check_unary, MAP_GELU, "x times the normal distribution function of x (by erf)"},
    {"sigmoid", "x", check_unary, MAP_SIGMOID, "1 / (1 + exp(-x))"},
    {"tanh", "x", check_unary, MAP_TANH, "hyperbolic tangent"},
    {"silu", "x", check_unary, MAP_SILU, "x sigmoid(x)"},
    {"softplus", "x", check_unary, MAP_SOFTPLUS, "log(1 + exp(x))"},
    {"exp", "x", check_unary, MAP_EXP, "exponential"},
    {"log", "x", check_unary, MAP_LOG, "natural logarithm"},
    {"sqrt", "x", check_unary, MAP_SQRT, "square root"},
    {"rsqrt", "x", check_unary, MAP_RSQRT, "1 / sqrt(x)"},
    {"abs", "x", check_unary, MAP_ABS, "absolute value"},
    {"leaky_relu", "x, slope = 0.01", check_slope, MAP_LEAKY_RELU, "x, or slope x where x is negative"},
    {"elu", "x, alpha = 1", check_slope, MAP_ELU, "x, or alpha (exp(x) - 1) where x is negative"},
    {"max", "x, y, 'to, 'axis", check_extreme, MAP_MAX, "the larger of two values; of one, edges to nodes: the largest, 0 where there is no edge"},
    {"min", "x, y, 'to, 'axis", check_extreme, MAP_MIN, "the smaller of two values; of one, edges to nodes: the smallest, 0 where there is no edge"},
    {"sum", "x, 'to, 'axis", check_reduce, REDUCE_SUM, "edges to nodes (to = src: at the source), or over a dimension (axis = name)"},
    {"mean", "x, 'to, 'axis", check_reduce, REDUCE_MEAN, "as sum, divided by the count; 0 where there is no edge"},
    {"dropout", "x, p = 0.5", check_dropout, 0, "in training, each number is 0 with probability p, else divided by 1 - p"},
    {"flatten", "x", check_flatten, 0, "all dimensions as one"},
    {"squeeze", "x", check_squeeze, 0, "without the dimensions of size 1"},
    {"zeros", "'domain, 'a, 'b, 'c, 'd", check_zeros, 0, "zeros(node, 16): a value that is 0 everywhere"},
    {"reduce", "x, how, 'to, 'axis", check_reduce_named, 0, "sum, mean, max or min by a text: reduce(src.x, \"mean\")"},
    {"domain", "x", check_domain, 0, "where a value lives, as a constant text: \"node\", \"edge\" or \"none\""},
    {"dot", "a, b", check_dot_call, 0, "contracts the last dimension of both"},
    {"constant", "value", check_init, RULE_CONSTANT, "initialiser: every weight is this number"},
    {"fixed", "value", check_init, RULE_FIXED, "initialiser: a number that is saved with the weights but never trained"},
    {"uniform", "bound", check_init, RULE_UNIFORM, "initialiser: uniform in -bound .. bound"},
    {"normal", "std", check_init, RULE_NORMAL, "initialiser: normal with mean 0"},
};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static const Function *find_function(const char *name) {
  for (int i = 0; i < FUNCTION_COUNT; i++)
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  return NULL;
}

bool check_is_function(const char *name) {
  return find_function(name) != NULL;
}

const char *check_function_name(int index) {
  return index < FUNCTION_COUNT ? functions[index].name : NULL;
}

const char *check_function_help(int index) {
  return index < FUNCTION_COUNT ? functions[index].help : NULL;
}

/* ---- binding ---- */

typedef struct FormalName {
  const char *name;
  size_t length;
  bool is_raw;
} FormalName;

static int split_formals(const char *formals, FormalName *names) {
  int count = 0;
  while (*formals) {
    bool is_raw = *formals == '\'';
    formals += is_raw;
    names[count++] = (FormalName){formals, strcspn(formals, " ,"), is_raw};
    formals += strcspn(formals, ",");
    formals += strspn(formals, ", ");
  }
  return count;
}

static int find_formal(const FormalName *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strlen(name) == names[i].length && strncmp(names[i].name, name, names[i].length) == 0) return i;
  return NO_INDEX;
}

static const char *signature(Checker *checker, const Function *function) {
  const char *text = "";
  for (const char *c = function->formals; *c; c++)
    if (*c != '\'') text = arena_printf(checker->arena, "%s%c", text, *c);
  return arena_printf(checker->arena, "%s(%s)", function->name, text);
}

static void unknown_argument(Checker *checker, const Function *function, const Arg *arg, const FormalName *names, int count) {
  const char *known[ARG_MAX];
  for (int i = 0; i < count; i++) known[i] = arena_strndup(checker->arena, names[i].name, names[i].length);
  diags_error(checker->diags, "E0204", arg->place, "%s has no argument \"%s\"%s", function->name, arg->name,
              check_nearest(checker, arg->name, known, count, "\""));
  diags_note(checker->diags, "%s", signature(checker, function));
}

static bool bind(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  FormalName names[ARG_MAX];
  int count = split_formals(function->formals, names), next = 0;
  *bound = (Bound){.is_given = {false}};
  if (call->has_piped) {
    bound->operand[0] = (Operand){call->piped, call->piped_expr};
    bound->is_given[0] = true;
    next = 1;
  }
  for (int i = 0; i < call->site->arg_count; i++) {
    const Arg *arg = &call->site->args[i];
    int at = arg->name ? find_formal(names, count, arg->name) : next++;
    if (at == NO_INDEX) {
      unknown_argument(checker, function, arg, names, count);
      return false;
    }
    if (at >= count || bound->is_given[at]) {
      diags_error(checker->diags, "E0210", arg->place, at >= count ? "%s takes no more than %d argument%s" : "%s was given an argument twice",
                  function->name, count, count == 1 ? "" : "s");
      diags_note(checker->diags, "%s", signature(checker, function));
      return false;
    }
    bound->is_given[at] = true;
    bound->expr[at] = arg->value;
    bound->operand[at].expr = arg->value;
    if (names[at].is_raw) continue;
    bound->operand[at].value = check_expr(checker, scope, arg->value);
    if (bound->operand[at].value.kind == VALUE_NONE) return false;
  }
  if (bound->is_given[0]) return true;
  diags_error(checker->diags, "E0210", call->place, "%s needs an argument", function->name);
  diags_note(checker->diags, "%s", signature(checker, function));
  return false;
}

Value check_function(Checker *checker, Scope *scope, const Call *call) {
  const Function *function = find_function(call->name);
  Bound bound;
  if (!bind(checker, scope, function, call, &bound)) return none;
  return function->check(checker, scope, function, call, &bound);
}

static bool as_tensor(Checker *checker, Scope *scope, Bound *bound, int at, const Call *call) {
  Place place = bound->operand[at].expr ? bound->operand[at].expr->span.place : call->place;
  bound->operand[at].value = check_tensor(checker, scope, bound->operand[at].value, place);
  return bound->operand[at].value.kind == VALUE_TENSOR;
}

/* ---- element by element ---- */

static double value_of_map(MapOp map, double x, double y) {
  switch (map) {
  case MAP_EXP: return exp(x);
  case MAP_LOG: return log(x);
  case MAP_SQRT: return sqrt(x);
  case MAP_RSQRT: return 1 / sqrt(x);
  case MAP_ABS: return fabs(x);
  case MAP_TANH: return tanh(x);
  case MAP_SIGMOID: return 1 / (1 + exp(-x));
  case MAP_RELU: return x > 0 ? x : 0;
  case MAP_NEG: return -x;
  case MAP_GELU: return x * 0.5 * (1 + erf(x * sqrt(0.5)));
  case MAP_SILU: return x / (1 + exp(-x));
  case MAP_SOFTPLUS: return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
  case MAP_LEAKY_RELU: return x > 0 ? x : y * x;
  case MAP_ELU: return x > 0 ? x : y * expm1(x);
  case MAP_ADD: case MAP_SUB: case MAP_MUL: case MAP_DIV: case MAP_POW: case MAP_MAX: case MAP_MIN: case MAP_COUNT: break; /* of no function here */
  }
  return NAN;
}

/* What a function gives of a constant is a constant. */
static Value fold(Checker *checker, const Function *function, const Call *call, double x, double y) {
  const double result = value_of_map((MapOp)function->map, x, y);
  if (isfinite(result)) return check_number_named(checker, result);
  diags_error(checker->diags, "E0113", call->place, "%s(%.9g) is not a finite number", function->name, x);
  return none;
}

static Value check_unary(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  const Value x = bound->operand[0].value;
  if (x.kind == VALUE_NUMBER) return fold(checker, function, call, x.number, 0);
  if (!as_tensor(checker, scope, bound, 0, call)) return none;
  return check_map(checker, scope, (MapOp)function->map, function->name, call->place, 1, bound->operand);
}

static Value check_slope(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!bound->is_given[1]) bound->operand[1] = (Operand){check_number_named(checker, function->map == MAP_ELU ? 1.0 : 0.01), call->site};
  if (bound->operand[1].value.kind != VALUE_NUMBER) {
    diags_error(checker->diags, "E0215", call->place, "the second argument of %s must be a constant number", function->name);
    return none;
  }
  const Value x = bound->operand[0].value;
  if (x.kind == VALUE_NUMBER) return fold(checker, function, call, x.number, bound->operand[1].value.number);
  if (!as_tensor(checker, scope, bound, 0, call) || !as_tensor(checker, scope, bound, 1, call)) return none;
  return check_map(checker, scope, (MapOp)function->map, function->name, call->place, 2, bound->operand);
}

/* ---- reductions ---- */

static void reduce_over_what(Checker *checker, Reducer reducer, const Call *call, const Operand *x) {
  static const char *const verbs[REDUCE_COUNT] = {
#define REDUCER(name, text, verb, has_axis) verb,
#include "reducers.h"
#undef REDUCER
  };
  const char *text = ast_expr_text(checker->arena, x->expr), *f = typed_reducer_name(reducer), *verb = verbs[reducer];
  const Type *type = &x->value.type;
  const char *axis = type->rank == 0 ? "f" : check_is_anonymous(&type->dim[type->rank - 1]) ? "-1" : type->dim[type->rank - 1].name;
  if (type->domain == DOMAIN_NODE && x->expr->kind == EXPR_NAME)
    diags_error(checker->diags, "E0304", call->place,
                "%s over what? %s(src.%s) %s the in-neighbours, %s(%s, to = graph) pools each graph, %s(%s, axis = %s) %s the features", f, f, text,
                verb, f, text, f, text, axis, verb);
  else if (type->domain == DOMAIN_NODE)
    diags_error(checker->diags, "E0304", call->place,
                "%s over what? give the node value a name h, then %s(src.h) %s the in-neighbours, %s(h, to = graph) pools each graph, "
                "%s(h, axis = %s) %s the features", f, f, verb, f, f, axis, verb);
  else
    diags_error(checker->diags, "E0304", call->place, "%s over what? \"%s\" lives on no edges; %s(%s, axis = %s) %s a dimension", f, text, f, text, axis, verb);
}

static int find_axis(Checker *checker, Scope *scope, const Type *type, const Expr *axis) {
  const char *name = axis->kind == EXPR_NAME ? axis->text : NULL;
  for (int d = 0; name && d < type->rank; d++)
    if (strcmp(type->dim[d].name, name) == 0) return d;
  bool is_known = !name || check_find_variable(scope, name) || check_find_constant(checker, name);
  Value value = is_known ? check_expr(checker, scope, axis) : none;
  if (is_known && value.kind == VALUE_NONE) return NO_INDEX - 1;
  Dim dim = {0, value.kind == VALUE_NUMBER ? value.text : "0"};
  for (int d = 0; value.kind == VALUE_NUMBER && !check_is_anonymous(&dim) && d < type->rank; d++)
    if (strcmp(type->dim[d].name, value.text) == 0) return d;
  if (value.kind != VALUE_NUMBER || !check_is_anonymous(&dim) || !check_is_whole(value.number)) return NO_INDEX;
  int d = (int)(value.number < 0 ? value.number + type->rank : value.number);
  return d >= 0 && d < type->rank ? d : NO_INDEX;
}

static Value reduce_axis(Checker *checker, Scope *scope, Reducer reducer, const Call *call, const Operand *x, const Expr *axis) {
  static const bool has_axis_of[REDUCE_COUNT] = {
#define REDUCER(name, text, verb, has_axis) has_axis,
#include "reducers.h"
#undef REDUCER
  };
  if (!has_axis_of[reducer]) {
    check_unsupported(checker, axis->span.place, "%s over a dimension is", typed_reducer_name(reducer));
    return none;
  }
  const Type *type = &x->value.type;
  int at = find_axis(checker, scope, type, axis);
  if (at < NO_INDEX) return none;
  if (at == NO_INDEX) {
    const char *names = "";
    for (int d = 0; d < type->rank; d++) names = arena_printf(checker->arena, "%s%s%s", names, d ? ", " : "", type->dim[d].name);
    diags_error(checker->diags, "E0326", axis->span.place, "\"%s\" is no dimension of \"%s\"; it has [%s]", ast_expr_text(checker->arena, axis),
                ast_expr_text(checker->arena, x->expr), names);
    return none;
  }
  TypedExpr e = {.kind = TYPED_REDUCE_AXIS, .type = *type, .operand_count = 1, .operand = {x->value.id}, .axis = at, .place = call->place};
  e.reducer = reducer;
  e.type.rank--;
  for (int d = at; d < e.type.rank; d++) e.type.dim[d] = e.type.dim[d + 1];
  return check_emit(checker, scope, e);
}

static Value reduce(Checker *checker, Scope *scope, Reducer reducer, const Call *call, Bound *bound, const Expr *to, const Expr *axis) {
  if (!as_tensor(checker, scope, bound, 0, call)) return none;
  const Operand *x = &bound->operand[0];
  const char *end = to && to->kind == EXPR_NAME ? to->text : to ? "?" : "dst";
  if (to && strcmp(end, "graph") == 0) {
    check_unsupported(checker, to->span.place, "pooling (to = graph) is");
    return none;
  }
  if (strcmp(end, "src") != 0 && strcmp(end, "dst") != 0) {
    diags_error(checker->diags, "E0326", to->span.place, "to = must be src, dst or graph");
    return none;
  }
  if (x->value.type.dtype != DTYPE_F32) {
    diags_error(checker->diags, "E0322", call->place, "\"%s\" holds classes, which are not numbers to compute with", ast_expr_text(checker->arena, x->expr));
    return none;
  }
  if (axis) return reduce_axis(checker, scope, reducer, call, x, axis);
  if (x->value.type.domain != DOMAIN_EDGE) {
    reduce_over_what(checker, reducer, call, x);
    return none;
  }
  TypedExpr e = {.kind = TYPED_REDUCE_EDGES, .type = x->value.type, .operand_count = 1, .operand = {x->value.id}, .place = call->place};
  e.type.domain = DOMAIN_NODE;
  e.reducer = reducer;
  e.end = strcmp(end, "src") == 0 ? END_SRC : END_DST;
  return check_emit(checker, scope, e);
}

static Value check_reduce(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  return reduce(checker, scope, (Reducer)function->map, call, bound, bound->expr[1], bound->expr[2]);
}

static Reducer reducer_named(const char *name) {
  int reducer = 0;
  while (reducer < REDUCE_COUNT && strcmp(typed_reducer_name((Reducer)reducer), name) != 0) reducer++;
  return (Reducer)reducer;
}

/* PyG's layers call a sum "add", too. */
static Value check_reduce_named(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  const char *names[REDUCE_COUNT];
  const Value how = bound->operand[1].value;
  if (how.kind != VALUE_STRING) {
    diags_error(checker->diags, "E0215", call->place, "%s needs a text that says how: %s(src.x, \"mean\")", function->name, function->name);
    return none;
  }
  const Reducer reducer = reducer_named(strcmp(how.text, "add") == 0 ? "sum" : how.text);
  for (int r = 0; r < REDUCE_COUNT; r++) names[r] = typed_reducer_name((Reducer)r);
  if (reducer < REDUCE_COUNT) return reduce(checker, scope, reducer, call, bound, bound->expr[2], bound->expr[3]);
  diags_error(checker->diags, "E0205", call->place, "unknown reducer \"%s\"%s", how.text, check_nearest(checker, how.text, names, REDUCE_COUNT, ""));
  return none;
}

static Value check_domain(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)checker, (void)scope, (void)function, (void)call;
  const Value x = bound->operand[0].value;
  static const char *const words[] = {"none", "node", "edge", "graph"};
  return check_string(words[x.kind == VALUE_TENSOR ? x.type.domain : DOMAIN_NONE]);
}

/* Of two values, element by element; of one, over edges. */
static Value check_extreme(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!bound->is_given[1]) return reduce(checker, scope, reducer_named(function->name), call, bound, bound->expr[2], bound->expr[3]);
  if (bound->is_given[2] || bound->is_given[3]) {
    diags_error(checker->diags, "E0326", call->place, "%s of two values goes element by element; to and axis are for %s of one value", function->name, function->name);
    return none;
  }
  Value a = bound->operand[0].value, b = bound->operand[1].value;
  if (a.kind == VALUE_NUMBER && b.kind == VALUE_NUMBER)
    return (function->map == MAP_MAX) == (a.number >= b.number) ? a : b;
  if (!as_tensor(checker, scope, bound, 0, call) || !as_tensor(checker, scope, bound, 1, call)) return none;
  return check_map(checker, scope, (MapOp)function->map, "compare", call->place, 2, bound->operand);
}

/* ---- dropout, shapes ---- */

static bool is_probability(Checker *checker, double p, Place place) {
  if (p >= 0 && p <= 1) return true;
  diags_error(checker->diags, "E0316", place, "probability %.9g is outside 0 \xE2\x80\xA6 1%s", p,
              p > 1 && p <= 100 ? arena_printf(checker->arena, "; did you mean %.9g?", p / 100) : "");
  return false;
}

static Value check_dropout(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  if (!bound->is_given[1]) bound->operand[1] = (Operand){check_number_named(checker, 0.5), call->site};
  Value p = bound->operand[1].value;
  Place p_place = bound->operand[1].expr->span.place;
  if (p.kind == VALUE_NUMBER && !is_probability(checker, p.number, p_place)) return none;
  if (p.kind == VALUE_NUMBER && p.number == 0) return check_tensor(checker, scope, bound->operand[0].value, call->place);
  if (!as_tensor(checker, scope, bound, 0, call) || !as_tensor(checker, scope, bound, 1, call)) return none;
  p = bound->operand[1].value;
  int option = check_option_of(checker, p.id);
  const TypedExpr *stored = &checker->program->exprs[p.id];
  if (stored->kind == TYPED_OPTION && !is_probability(checker, checker->program->options[stored->index].value, p_place)) return none;
  if (p.type.rank != 0 || p.type.domain != DOMAIN_NONE || (stored->kind != TYPED_NUMBER && option == NO_INDEX)) {
    diags_error(checker->diags, "E0327", p_place, "the probability of dropout must be a number or an option, not a computed value");
    return none;
  }
  Value x = bound->operand[0].value;
  if (x.type.dtype != DTYPE_F32) {
    diags_error(checker->diags, "E0322", call->place, "\"%s\" holds classes, which are not numbers to compute with",
                ast_expr_text(checker->arena, bound->operand[0].expr));
    return none;
  }
  TypedExpr e = {.kind = TYPED_DROPOUT, .type = x.type, .operand_count = 2, .operand = {x.id, p.id}, .place = call->place};
  return check_emit(checker, scope, e);
}

static Value check_flatten(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  if (!as_tensor(checker, scope, bound, 0, call)) return none;
  Value x = bound->operand[0].value;
  if (x.type.rank == 1) return x;
  TypedExpr e = {.kind = TYPED_RESHAPE, .type = x.type, .operand_count = 1, .operand = {x.id}, .place = call->place};
  e.type.rank = 1;
  Value size = check_number_named(checker, 1);
  for (int d = 0; d < x.type.rank; d++) {
    Expr times = {.kind = EXPR_BINARY, .text = "*", .place = call->place};
    Value next = check_number((double)x.type.dim[d].size, x.type.dim[d].name);
    size = d == 0 ? next : check_fold(checker, &times, size, next);
  }
  e.type.dim[0] = (Dim){(int64_t)size.number, size.text};
  return check_emit(checker, scope, e);
}

static Value check_squeeze(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  if (!as_tensor(checker, scope, bound, 0, call)) return none;
  Value x = bound->operand[0].value;
  TypedExpr e = {.kind = TYPED_RESHAPE, .type = x.type, .operand_count = 1, .operand = {x.id}, .place = call->place};
  e.type.rank = 0;
  for (int d = 0; d < x.type.rank; d++)
    if (x.type.dim[d].size != 1) e.type.dim[e.type.rank++] = x.type.dim[d];
  return e.type.rank == x.type.rank ? x : check_emit(checker, scope, e);
}

static Value check_zeros(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  const Expr *domain = bound->expr[0];
  const char *word = domain && domain->kind == EXPR_NAME ? domain->text : "";
  TypedExpr e = {.kind = TYPED_ZEROS, .type = check_scalar_type(), .place = call->place};
  if (strcmp(word, "graph") == 0) {
    check_unsupported(checker, domain->span.place, "graph-level values are");
    return none;
  }
  if (strcmp(word, "node") != 0 && strcmp(word, "edge") != 0) {
    diags_error(checker->diags, "E0326", call->place, "zeros(...) begins with where the value lives: zeros(node, 16) or zeros(edge, 16)");
    return none;
  }
  e.type.domain = strcmp(word, "node") == 0 ? DOMAIN_NODE : DOMAIN_EDGE;
  for (int i = 1; i <= MAX_RANK && bound->expr[i]; i++)
    if (!check_size(checker, scope, bound->expr[i], &e.type.dim[e.type.rank++])) return none;
  return check_emit(checker, scope, e);
}

static Value check_dot_call(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!bound->is_given[1]) {
    diags_error(checker->diags, "E0210", call->place, "dot needs two arguments");
    diags_note(checker->diags, "%s", signature(checker, function));
    return none;
  }
  if (!as_tensor(checker, scope, bound, 0, call) || !as_tensor(checker, scope, bound, 1, call)) return none;
  return check_dot(checker, scope, call->place, bound->operand[0], bound->operand[1]);
}

static Value check_init(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)scope;
  Value number = bound->operand[0].value;
  if (number.kind != VALUE_NUMBER) {
    if (number.kind == VALUE_TENSOR) check_option_as_constant(checker, number.id, call->place, "initial values are");
    else diags_error(checker->diags, "E0215", call->place, "%s needs a number", function->name);
    return none;
  }
  return (Value){.kind = VALUE_INIT, .rule = (InitRule)function->map, .number = number.number, .text = function->name};
}
