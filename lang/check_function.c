/* check_function: the functions of the language. */
#include <math.h>
#include <string.h>

#include "check_function.h"
#include "check_train.h"

static const Value none = {.kind = VALUE_NONE};

static Check check_unary, check_slope, check_selu, check_choice, check_one_of, check_at_least, check_stop, check_count, check_running, check_dropout, check_domain, check_dot_call, check_init;

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
    {"selu", "x", check_selu, 0, "1.0507 elu(x, 1.6733), which keeps mean 0 and variance 1"},
    {"sign", "x", check_unary, MAP_SIGN, "-1, 0 or 1; has no slope"},
    {"max", "x, y, 'to, 'axis", check_extreme, MAP_MAX, "the larger of two values; of one, as sum: the largest, 0 where there is no edge"},
    {"min", "x, y, 'to, 'axis", check_extreme, MAP_MIN, "the smaller of two values; of one, as sum: the smallest, 0 where there is no edge"},
    {"sum", "x, 'to, 'axis", check_reduce, REDUCE_SUM, "edges to nodes (to = src: at the source), over a dimension (axis = name) or over all rows (axis = node)"},
    {"mean", "x, 'to, 'axis", check_reduce, REDUCE_MEAN, "as sum, divided by the count; 0 where there is no edge"},
    {"var", "x, 'to, 'axis", check_reduce, REDUCE_VAR, "as mean, of the squared distances from the mean"},
    {"std", "x, 'to, 'axis", check_reduce, REDUCE_STD, "square root of var; 0 where that is at most 1e-5"},
    {"logsumexp", "x, 'to, 'axis", check_reduce, REDUCE_LOGSUMEXP, "log of the sum of exp(x), as sum; guarded by the largest; 0 where there is no edge"},
    {"softmax", "x, 'to, 'axis", check_softmax, 0, "exp(x) / sum(exp(x)), over the last dimension or as sum"},
    {"log_softmax", "x, 'to, 'axis", check_softmax, 0, "log of softmax"},
    {"edge_softmax", "x, 'to", check_edge_softmax, 0, "softmax over the in-edges of each node (to = src: over its out-edges)"},
    {"where", "condition, x, y", check_choice, 0, "x where the condition is not 0, else y: where(x > 0, x, 0)"},
    {"count", "x", check_count, 0, "how many nodes, edges or graphs x has rows for"},
    {"running", "x, buffer, share, sample", check_running, 0, "x in training, when the buffer moves by share of the way to sample (x); otherwise the buffer"},
    {"stop_gradient", "x", check_stop, 0, "x, through which no gradient goes"},
    {"dropout", "x, p = 0.5", check_dropout, 0, "in training, each number is 0 with probability p, else divided by 1 - p"},
    {"flatten", "x", check_flatten, 0, "all dimensions as one"},
    {"squeeze", "x", check_squeeze, 0, "without the dimensions of size 1"},
    {"reshape", "x, 'a, 'b, 'c, 'd", check_reshape, 0, "the same numbers under other dimensions: reshape(h, heads, out)"},
    {"concat", "a, b, c, d, e, f, g, h, 'axis", check_concat, 0, "values side by side along the last dimension or axis ="},
    {"slice", "x, begin, end, 'axis", check_slice, 0, "the numbers begin to end - 1 of the last dimension or of axis ="},
    {"outer", "a, b", check_outer, 0, "each number of a row of a times each of b: dimensions of a, then of b"},
    {"zeros", "'domain, 'a, 'b, 'c, 'd", check_zeros, 0, "zeros(node, 16): a value that is 0 everywhere"},
    {"reduce", "x, how, 'to, 'axis", check_reduce_named, 0, "sum, mean, max or min by a text: reduce(src.x, \"mean\")"},
    {"domain", "x", check_domain, 0, "where a value lives, as a constant text: \"node\", \"edge\" or \"none\""},
    {"one_of", "word, a, b, c, d, e, f, g, h", check_one_of, 0, "the word, which must be one of the texts behind it: one_of(aggr, \"mean\", \"max\")"},
    {"at_least", "n, least", check_at_least, 0, "the number, which must not be smaller: at_least(depth, 1)"},
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

const char *check_function_signature(Arena *arena, int index) {
  const char *text = "";
  for (const char *c = functions[index].formals; *c; c++)
    if (*c != '\'') text = arena_printf(arena, "%s%c", text, *c);
  return arena_printf(arena, "%s(%s)", functions[index].name, text);
}

static const char *signature(Checker *checker, const Function *function) { return check_function_signature(checker->arena, (int)(function - functions)); }

static void unknown_argument(Checker *checker, const Function *function, const Arg *arg, const FormalName *names, int count) {
  const char *known[ARG_MAX];
  for (int i = 0; i < count; i++) known[i] = arena_strndup(checker->arena, names[i].name, names[i].length);
  check_unknown_argument(checker, arg->place, function->name, arg->name, known, count);
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

bool check_argument(Checker *checker, Scope *scope, Bound *bound, int at, const Call *call) {
  Place place = bound->operand[at].expr ? bound->operand[at].expr->span.place : call->place;
  bound->operand[at].value = check_tensor(checker, scope, bound->operand[at].value, place);
  return bound->operand[at].value.kind == VALUE_TENSOR;
}

bool check_argument_of_numbers(Checker *checker, Scope *scope, Bound *bound, int at, const Call *call) {
  if (!check_argument(checker, scope, bound, at, call)) return false;
  if (bound->operand[at].value.type.dtype == DTYPE_F32) return true;
  diags_error(checker->diags, "E0322", call->place, "\"%s\" holds classes, which are not numbers to compute with",
              ast_expr_text(checker->arena, bound->operand[at].expr));
  return false;
}

void check_needs_arguments(Checker *checker, const Function *function, const Call *call, const char *how_many) {
  diags_error(checker->diags, "E0210", call->place, "%s needs %s", function->name, how_many);
  diags_note(checker->diags, "%s", signature(checker, function));
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
  case MAP_SIGN: return (x > 0) - (x < 0);
  case MAP_ADD: case MAP_SUB: case MAP_MUL: case MAP_DIV: case MAP_POW: case MAP_MAX: case MAP_MIN: case MAP_LESS: case MAP_LESS_EQUAL: case MAP_EQUAL:
  case MAP_COUNT: break; /* of no function here */
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
  if (!check_argument(checker, scope, bound, 0, call)) return none;
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
  if (!check_argument(checker, scope, bound, 0, call) || !check_argument(checker, scope, bound, 1, call)) return none;
  return check_map(checker, scope, (MapOp)function->map, function->name, call->place, 2, bound->operand);
}

static Value check_selu(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  static const double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946; /* Klambauer et al. 2017 */
  if (!check_argument(checker, scope, bound, 0, call)) return none;
  Operand with[2] = {bound->operand[0], {check_tensor(checker, scope, check_number_named(checker, alpha), call->place), call->site}};
  with[0].value = check_map(checker, scope, MAP_ELU, "elu", call->place, 2, with);
  with[1].value = check_tensor(checker, scope, check_number_named(checker, scale), call->place);
  return check_map(checker, scope, MAP_MUL, "multiply", call->place, 2, with);
}

static Value check_choice(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!bound->is_given[2]) {
    check_needs_arguments(checker, function, call, "a condition and two values");
    return none;
  }
  const Value condition = bound->operand[0].value;
  if (condition.kind == VALUE_BOOL) return bound->operand[condition.number != 0 ? 1 : 2].value;
  for (int i = 0; i < 3; i++)
    if (!check_argument_of_numbers(checker, scope, bound, i, call)) return none;
  TypedExpr e = {.kind = TYPED_WHERE, .operand_count = 3, .place = call->place};
  if (!check_spread_together(checker, scope, "choose between", call->place, 3, bound->operand, &e.type)) return none;
  for (int i = 0; i < 3; i++) e.operand[i] = bound->operand[i].value.id;
  return check_emit(checker, scope, e);
}

static Value check_stop(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  if (!check_argument_of_numbers(checker, scope, bound, 0, call)) return none;
  const Value x = bound->operand[0].value;
  return check_emit(checker, scope, (TypedExpr){.kind = TYPED_STOP, .type = x.type, .operand_count = 1, .operand = {x.id}, .place = call->place});
}

static Value check_domain(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)checker, (void)scope, (void)function, (void)call;
  const Value x = bound->operand[0].value;
  const Domain domain = x.kind == VALUE_TENSOR ? x.type.domain : DOMAIN_NONE;
  return check_string(domain == DOMAIN_NONE ? "none" : domain_is_nodes(domain) ? "node" : domain == DOMAIN_GRAPH ? "graph" : "edge");
}

/* What a layer takes as an argument is the user's word. */
static Value check_one_of(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  const char *known[ARG_MAX];
  const Value word = bound->operand[0].value;
  int count = 0;
  for (int i = 1; i < ARG_MAX && bound->is_given[i]; i++) {
    if (bound->operand[i].value.kind != VALUE_STRING) {
      diags_error(checker->diags, "E0215", call->place, "%s chooses between texts: one_of(aggr, \"mean\", \"max\")", function->name);
      return none;
    }
    known[count++] = bound->operand[i].value.text;
  }
  const char *name = ast_expr_text(checker->arena, bound->operand[0].expr);
  const Place place = check_place_of(checker, scope, bound->operand[0].expr, call->place);
  if (word.kind == VALUE_STRING && train_is_in(word.text, known, count)) return word;
  if (word.kind == VALUE_STRING) train_unknown_word(checker, place, name, word.text, known, count);
  else if (count) diags_error(checker->diags, "E0215", place, "\"%s\" is a text: %s = \"%s\"", name, name, known[0]);
  else check_needs_arguments(checker, function, call, "texts to choose from");
  return none;
}

static Value check_at_least(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  const Value least = bound->operand[1].value, n = bound->operand[0].value;
  const int option = n.kind == VALUE_TENSOR && checker->program->exprs[n.id].kind == TYPED_OPTION ? checker->program->exprs[n.id].index : NO_INDEX;
  const double number = option == NO_INDEX ? n.number : checker->program->options[option].value;
  const char *name = ast_expr_text(checker->arena, bound->operand[0].expr);
  const Place place = check_place_of(checker, scope, bound->operand[0].expr, call->place);
  if (!bound->is_given[1] || least.kind != VALUE_NUMBER) check_needs_arguments(checker, function, call, "a number and the smallest that it may be");
  else if (n.kind != VALUE_NUMBER && n.kind != VALUE_TENSOR) diags_error(checker->diags, "E0215", place, "\"%s\" is a number of at least %.9g", name, least.number);
  else if ((n.kind == VALUE_NUMBER || option != NO_INDEX) && number < least.number) diags_error(checker->diags, "E0215", place, "\"%s\" must be at least %.9g; it is %.9g", name, least.number, number);
  else return n;
  return none;
}

static Value check_count(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  const Value x = bound->operand[0].value;
  if (x.kind != VALUE_TENSOR || x.type.domain == DOMAIN_NONE) {
    diags_error(checker->diags, "E0326", call->place, "%s counts the rows of a value on nodes, edges or graphs", function->name);
    return none;
  }
  return check_emit(checker, scope, (TypedExpr){.kind = TYPED_ROW_COUNT, .type = check_scalar_type(), .operand_count = 1, .operand = {x.id}, .place = call->place});
}

static bool is_buffer(const Checker *checker, Value buffer) {
  if (buffer.kind != VALUE_TENSOR || checker->program->exprs[buffer.id].kind != TYPED_PARAM) return false;
  return !checker->program->params[checker->program->exprs[buffer.id].index].is_trained;
}

static bool has_shape(const Type *a, const Type *b) {
  bool is_same = a->domain == b->domain && a->rank == b->rank;
  for (int d = 0; is_same && d < a->rank; d++) is_same = a->dim[d].size == b->dim[d].size;
  return is_same;
}

static Value check_running(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!bound->is_given[2]) {
    check_needs_arguments(checker, function, call, "a value, a buffer and a share");
    return none;
  }
  if (!bound->is_given[3]) bound->operand[3] = bound->operand[0];
  const Value share = bound->operand[2].value;
  if (!check_argument_of_numbers(checker, scope, bound, 0, call) || !check_argument_of_numbers(checker, scope, bound, 3, call)) return none;
  const Value x = bound->operand[0].value, buffer = bound->operand[1].value, sample = bound->operand[3].value;
  if (!is_buffer(checker, buffer) || !has_shape(&x.type, &buffer.type) || !has_shape(&sample.type, &buffer.type)) {
    diags_error(checker->diags, "E0326", call->place, "running wants a buffer of the shape of what it follows: param b : [f] = fixed(0)");
    return none;
  }
  if (share.kind != VALUE_NUMBER || share.number < 0 || share.number > 1) {
    diags_error(checker->diags, "E0215", check_place_of(checker, scope, bound->operand[2].expr, call->place), "the share by which a buffer moves must be a constant number from 0 to 1");
    return none;
  }
  return check_emit(checker, scope, (TypedExpr){.kind = TYPED_RUNNING, .type = x.type, .operand_count = 3, .operand = {x.id, buffer.id, sample.id}, .number = share.number,
                                               .place = call->place});
}

/* ---- dropout ---- */

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
  const Place p_place = check_place_of(checker, scope, bound->operand[1].expr, call->place);
  if (p.kind == VALUE_NUMBER && !is_probability(checker, p.number, p_place)) return none;
  if (p.kind == VALUE_NUMBER && p.number == 0) return check_tensor(checker, scope, bound->operand[0].value, call->place);
  if (!check_argument(checker, scope, bound, 0, call) || !check_argument(checker, scope, bound, 1, call)) return none;
  p = bound->operand[1].value;
  int option = check_option_of(checker, p.id);
  const TypedExpr *stored = &checker->program->exprs[p.id];
  if (stored->kind == TYPED_OPTION && !is_probability(checker, checker->program->options[stored->index].value, p_place)) return none;
  if (p.type.rank != 0 || p.type.domain != DOMAIN_NONE || (stored->kind != TYPED_NUMBER && option == NO_INDEX)) {
    diags_error(checker->diags, "E0327", p_place, "the probability of dropout must be a number or an option, not a computed value");
    return none;
  }
  if (!check_argument_of_numbers(checker, scope, bound, 0, call)) return none;
  const Value x = bound->operand[0].value;
  TypedExpr e = {.kind = TYPED_DROPOUT, .type = x.type, .operand_count = 2, .operand = {x.id, p.id}, .place = call->place};
  return check_emit(checker, scope, e);
}

static Value check_dot_call(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!bound->is_given[1]) {
    check_needs_arguments(checker, function, call, "two arguments");
    return none;
  }
  if (!check_argument(checker, scope, bound, 0, call) || !check_argument(checker, scope, bound, 1, call)) return none;
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
