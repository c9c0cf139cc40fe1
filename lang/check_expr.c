/* check_expr: expressions: constants are folded, the rest becomes typed expressions. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "check.h"

static const Value none = {.kind = VALUE_NONE};

static Value negate(Checker *checker, Scope *scope, const Expr *expr, Value a) {
  if (strcmp(expr->text, "not") == 0) {
    if (a.kind == VALUE_BOOL) return check_bool(a.number == 0);
    diags_error(checker->diags, "E0215", expr->place, "\"not\" works on true and false");
    return none;
  }
  if (a.kind == VALUE_NUMBER) return check_number_named(checker, -a.number);
  Operand operand = {check_tensor(checker, scope, a, expr->a->span.place), expr->a};
  return check_map(checker, scope, MAP_NEG, "negate", expr->place, 1, &operand);
}

/* An optional factor of a layer is 1 where it is not given, an optional term 0. */
static bool changes_nothing(const char *op, Value given, Value other) {
  const bool is_neutral = (strcmp(op, "*") == 0 && given.number == 1) || (strcmp(op, "+") == 0 && given.number == 0);
  return is_neutral && given.kind == VALUE_NUMBER && other.type.dtype == DTYPE_F32;
}

/* 1 - x */
static Value inverted(Checker *checker, Scope *scope, const Expr *expr, Value x) {
  const Value one = check_tensor(checker, scope, check_number_named(checker, 1), expr->place);
  const Operand operands[2] = {{one, expr}, {x, expr}};
  return x.kind == VALUE_NONE ? x : check_map(checker, scope, MAP_SUB, "subtract", expr->place, 2, operands);
}

static Value binary(Checker *checker, Scope *scope, const Expr *expr, Value a, Value b) {
  static const struct { const char *text, *verb; MapOp op; bool is_swapped, is_inverted; } operators[] = {
      {"+", "add", MAP_ADD, false, false},          {"-", "subtract", MAP_SUB, false, false}, {"*", "multiply", MAP_MUL, false, false},
      {"/", "divide", MAP_DIV, false, false},       {"^", "raise", MAP_POW, false, false},    {"<", "compare", MAP_LESS, false, false},
      {"<=", "compare", MAP_LESS_EQUAL, false, false}, {">", "compare", MAP_LESS, true, false}, {">=", "compare", MAP_LESS_EQUAL, true, false},
      {"==", "compare", MAP_EQUAL, false, false},   {"!=", "compare", MAP_EQUAL, false, true},
  };
  if (a.kind != VALUE_TENSOR && b.kind != VALUE_TENSOR) return check_fold(checker, expr, a, b);
  if (changes_nothing(expr->text, a, b)) return b;
  if (changes_nothing(expr->text, b, a)) return a;
  Operand operands[2] = {{check_tensor(checker, scope, a, expr->a->span.place), expr->a},
                         {check_tensor(checker, scope, b, expr->b->span.place), expr->b}};
  if (operands[0].value.kind == VALUE_NONE || operands[1].value.kind == VALUE_NONE) return none;
  if (strcmp(expr->text, "@") == 0) return check_matmul(checker, scope, expr->place, operands[0], operands[1]);
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (strcmp(operators[i].text, expr->text) == 0) {
      const Operand swapped[2] = {operands[1], operands[0]};
      const Value value = check_map(checker, scope, operators[i].op, operators[i].verb, expr->place, 2, operators[i].is_swapped ? swapped : operands);
      return operators[i].is_inverted ? inverted(checker, scope, expr, value) : value;
    }
  TypedId id = a.kind == VALUE_TENSOR ? a.id : b.id;
  check_option_as_constant(checker, id, expr->place, "conditions are");
  return none;
}

/* ---- src.z, dst.z, graph.g, y.classes ---- */

/* The value of each node's graph: that of the one row which the node is a member by. */
static Value of_graph(Checker *checker, Scope *scope, const Expr *expr) {
  Expr name = *expr;
  name.kind = EXPR_NAME;
  name.place.column += (int32_t)strlen("graph.");
  const Value value = check_name(checker, scope, &name);
  if (value.kind == VALUE_NONE) return none;
  if (value.kind != VALUE_TENSOR || value.type.domain != DOMAIN_GRAPH) {
    const bool is_row = value.kind == VALUE_TENSOR && value.type.domain != DOMAIN_NONE;
    diags_error(checker->diags, "E0303", expr->span.place, is_row ? "\"%s\" lives on %ss, not on graphs" : "\"%s\" is the same for all graphs; drop \"graph.\"", expr->text,
                is_row ? check_domain_word(checker, value.type.domain) : "");
    if (is_row) diags_help(checker->diags, "sum(%s, to = graph) pools the nodes of each graph", expr->text);
    return none;
  }
  const Value member = check_lift(checker, scope, value, DOMAIN_MEMBER, END_DST, expr->span.place);
  return check_reduce_edges(checker, scope, member, REDUCE_SUM, END_SRC, expr->span.place);
}

static Value lift(Checker *checker, Scope *scope, const Expr *expr) {
  const char *end = expr->a->text;
  Expr name = *expr;
  name.kind = EXPR_NAME;
  name.place.column += (int32_t)strlen(end) + 1;
  Value value = check_name(checker, scope, &name);
  if (value.kind == VALUE_NONE) return none;
  if (value.kind != VALUE_TENSOR || value.type.domain == DOMAIN_NONE) {
    diags_error(checker->diags, "E0303", expr->span.place, "\"%s\" is the same for all edges; drop \"%s.\"", expr->text, end);
    return none;
  }
  if (value.type.domain == DOMAIN_GRAPH) {
    diags_error(checker->diags, "E0303", expr->span.place, "\"%s\" lives on graphs; graph.%s is its value at each node, which a name can be given to", expr->text, expr->text);
    return none;
  }
  if (domain_is_relation(value.type.domain)) {
    diags_error(checker->diags, "E0303", expr->span.place, "\"%s\" already lives on edges; drop \"%s.\"", expr->text, end);
    diags_fix(checker->diags, expr->span.place, (int)strlen(end) + 1, "");
    return none;
  }
  const EdgeEnd at = strcmp(end, "src") == 0 ? END_SRC : END_DST;
  return check_is_at_end(checker, scope, &value, at, expr) ? check_lift(checker, scope, value, checker->edges, at, expr->span.place) : none;
}

static Value member(Checker *checker, Scope *scope, const Expr *expr) {
  const Expr *base = expr->a;
  bool is_variable = base->kind == EXPR_NAME && check_find_variable(scope, base->text);
  if (base->kind == EXPR_NAME && !is_variable && scope && (strcmp(base->text, "src") == 0 || strcmp(base->text, "dst") == 0))
    return lift(checker, scope, expr);
  if (base->kind == EXPR_NAME && !is_variable && scope && strcmp(base->text, "graph") == 0) return of_graph(checker, scope, expr);
  const bool is_in_model = scope && scope->item == checker->model;
  if ((base->kind == EXPR_NAME || base->kind == EXPR_MEMBER) && strcmp(expr->text, "classes") == 0 && is_in_model) {
    const char *field = ast_expr_text(checker->arena, base);
    int64_t classes;
    if (check_field_classes(checker, field, &classes)) {
      if (classes > 0) return check_number((double)classes, arena_printf(checker->arena, "%s.classes", field));
      diags_error(checker->diags, "E0325", expr->place, "\"%s\" holds numbers, not classes", field);
      return none;
    }
  }
  const char *pairs = checker->program->data ? checker->program->data->recipe.pairs.name : NULL;
  if (base->kind == EXPR_NAME && !is_variable && is_in_model && pairs && strcmp(base->text, pairs) == 0) {
    diags_error(checker->diags, "E0203", expr->span.place, "%s has a label for the loss, bce(out, %s.label), and nothing for the model to read", pairs, pairs);
    return none;
  }
  if (base->kind == EXPR_NAME && !is_variable && is_in_model && check_is_type(checker, base->text)) {
    const char *field = arena_printf(checker->arena, "%s.%s", base->text, expr->text);
    Value value;
    if (check_field(checker, field, expr->span.place, &value)) return value;
    diags_error(checker->diags, "E0203", expr->place, "data \"%s\" has no field \"%s\"; it has %s", checker->program->data->name, field, check_field_list(checker));
    return none;
  }
  if (base->kind == EXPR_NAME && !is_variable) {
    Value value = check_name(checker, scope, base);
    if (value.kind == VALUE_NONE) return none;
  }
  diags_error(checker->diags, "E0325", expr->span.place, "%s has no part \"%s\"", ast_expr_text(checker->arena, base), expr->text);
  if (base->kind == EXPR_NAME) diags_help(checker->diags, "what there is: src.z and dst.z of a node value, y.classes of a field of classes");
  return none;
}

void check_note_use(Checker *checker, Place place, Value value) {
  LangUses *uses = checker->options->uses;
  if (uses && value.kind == VALUE_TENSOR && place.file == checker->ast->main_file) ARENA_PUSH(uses->arena, uses->uses, uses->count, ((LangUse){place, value.type}));
}

/* ---- calls, pipes, names given ---- */

/* A name is one; a text may be several names with dots between: "mlp.0", as PyTorch's Sequential calls its parts. */
static bool is_path_of_weights(const char *text) {
  bool is_first = true;
  if (!isalpha((unsigned char)*text) && *text != '_') return false;
  for (const char *c = text; *c; c++) {
    if (*c == '.' ? is_first : !isalnum((unsigned char)*c) && *c != '_') return false;
    is_first = *c == '.';
  }
  return !is_first;
}

static Value call_of(Checker *checker, Scope *scope, const Expr *expr, Call call) {
  if (expr->kind == EXPR_OVER) {
    Domain outside;
    if (!check_enter_edges(checker, scope, expr, &outside)) return none;
    const Value value = call_of(checker, scope, expr->a, call);
    checker->edges = outside;
    return value;
  }
  if (expr->kind == EXPR_AS) {
    if (call.as) {
      diags_error(checker->diags, "E0211", expr->place, "one name is enough: this call has \"as %s\" and \"as %s\"", expr->text, call.as);
      return none;
    }
    if (!is_path_of_weights(expr->text)) {
      diags_error(checker->diags, "E0211", expr->place, "\"%s\" cannot name weights: letters, digits and _, with dots between, and a letter first", expr->text);
      return none;
    }
    call.as = expr->text;
    call.as_place = expr->place;
    return call_of(checker, scope, expr->a, call);
  }
  if (expr->kind == EXPR_CALL || (expr->kind == EXPR_NAME && call.has_piped)) {
    call.site = expr;
    call.name = expr->text;
    call.place = expr->place;
    const Value value = check_call(checker, scope, &call);
    check_note_use(checker, call.place, value);
    if (call.as) check_note_use(checker, call.as_place, value);
    return value;
  }
  if (call.has_piped)
    diags_error(checker->diags, "E0211", expr->span.place, "the right side of |> must be a function or a layer");
  else if (!call.as)
    return check_expr(checker, scope, expr);
  else
    diags_error(checker->diags, "E0211", call.as_place, "\"as %s\" names the weights of a layer call; there is no call here", call.as);
  return none;
}

static Value pipe(Checker *checker, Scope *scope, const Expr *expr) {
  Value left = check_expr(checker, scope, expr->a);
  if (left.kind == VALUE_NONE) return none;
  return call_of(checker, scope, expr->b, (Call){.has_piped = true, .piped = left, .piped_expr = expr->a});
}

bool check_condition(Checker *checker, Scope *scope, const Expr *expr, bool *is_true) {
  Value value = check_expr(checker, scope, expr);
  if (value.kind == VALUE_BOOL) {
    *is_true = value.number != 0;
    return true;
  }
  const Place place = check_place_of(checker, scope, expr, expr->span.place);
  if (value.kind == VALUE_TENSOR) check_option_as_constant(checker, value.id, place, "conditions are");
  else if (value.kind != VALUE_NONE)
    diags_error(checker->diags, "E0215", place, "a condition must be true or false; %s is not", ast_expr_text(checker->arena, expr));
  return false;
}

static Value conditional(Checker *checker, Scope *scope, const Expr *expr) {
  bool is_true;
  if (!check_condition(checker, scope, expr->a, &is_true)) return none;
  return check_expr(checker, scope, is_true ? expr->b : expr->c);
}

static Value dispatch(Checker *checker, Scope *scope, const Expr *expr) {
  switch (expr->kind) {
  case EXPR_ERROR: return none;
  case EXPR_NAME: return check_name(checker, scope, expr);
  case EXPR_NUMBER: return check_number(expr->number, expr->text);
  case EXPR_BOOL: return check_bool(expr->number != 0);
  case EXPR_STRING: return check_string(expr->text);
  case EXPR_MEMBER: return member(checker, scope, expr);
  case EXPR_COND: return conditional(checker, scope, expr);
  case EXPR_PIPE: return pipe(checker, scope, expr);
  case EXPR_CALL: case EXPR_OVER: case EXPR_AS: return call_of(checker, scope, expr, (Call){.as = NULL});
  case EXPR_QUANTITY:
    diags_error(checker->diags, "E0215", expr->place, "a quantity (%s) belongs in target and plan blocks", ast_expr_text(checker->arena, expr));
    return none;
  case EXPR_SHAPE:
    diags_error(checker->diags, "E0215", expr->place, "%s says the shape of a file's numbers, and has no value", ast_expr_text(checker->arena, expr));
    return none;
  case EXPR_LIST:
    diags_error(checker->diags, "E0215", expr->place, "a list has no meaning here");
    return none;
  case EXPR_UNARY: {
    Value a = check_expr(checker, scope, expr->a);
    return a.kind == VALUE_NONE ? none : negate(checker, scope, expr, a);
  }
  case EXPR_BINARY: {
    Value a = check_expr(checker, scope, expr->a);
    const bool is_settled = a.kind == VALUE_BOOL && strcmp(expr->text, a.number != 0 ? "or" : "and") == 0;
    if (is_settled) return a;
    Value b = check_expr(checker, scope, expr->b);
    return a.kind == VALUE_NONE || b.kind == VALUE_NONE ? none : binary(checker, scope, expr, a, b);
  }
  }
  return none;
}

Value check_expr(Checker *checker, Scope *scope, const Expr *expr) {
  if (!check_step(checker, expr->place)) return none;
  if (checker->depth >= CHECK_DEPTH_MAX) {
    diags_error(checker->diags, "E0111", expr->place, "layers and expressions are nested more than %d deep here", CHECK_DEPTH_MAX);
    checker->is_stopped = true;
    return none;
  }
  checker->depth++;
  Value value = dispatch(checker, scope, expr);
  checker->depth--;
  if (expr->kind == EXPR_NAME || expr->kind == EXPR_BINARY || expr->kind == EXPR_UNARY) check_note_use(checker, expr->place, value);
  if (expr->kind == EXPR_MEMBER) check_note_use(checker, expr->span.place, value);
  return value;
}
