/* check_const: constants, their arithmetic, and the sizes and names of dimensions. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "syntax.h"

Value check_number(double number, const char *text) {
  return (Value){.kind = VALUE_NUMBER, .number = number, .text = text};
}

/* A number without a name: as a dimension it is called by its digits. */
Value check_number_named(Checker *checker, double number) {
  const char *text = check_is_whole(number) ? arena_printf(checker->arena, "%.0f", number) : arena_printf(checker->arena, "%.9g", number);
  return check_number(number, text);
}

Value check_bool(bool is_true) {
  return (Value){.kind = VALUE_BOOL, .number = is_true ? 1 : 0, .text = is_true ? "true" : "false"};
}

Value check_string(const char *text) {
  return (Value){.kind = VALUE_STRING, .text = text};
}

bool check_is_whole(double number) {
  return isfinite(number) && floor(number) == number && fabs(number) <= 9007199254740992.0;
}

/* ---- the constants of the program ---- */

Constant *check_find_constant(const Checker *checker, const char *name) {
  for (int i = 0; i < checker->constant_count; i++)
    if (strcmp(checker->constants[i].item->name, name) == 0) return &checker->constants[i];
  return NULL;
}

static const Expr *defined_value(Checker *checker, const Item *item) {
  for (int i = checker->options->define_count - 1; i >= 0; i--) {
    const LangDefine *define = &checker->options->defines[i];
    if (strcmp(define->name, item->name) != 0) continue;
    const char *label = arena_printf(checker->arena, "-D %s=%s", define->name, define->value);
    int errors = diags_error_count(checker->diags);
    const Expr *value = syntax_parse_value(checker->arena, diags_new(checker->arena), label, define->value);
    if (!value && diags_error_count(checker->diags) == errors)
      diags_error(checker->diags, "E0209", diags_no_place(), "-D %s=%s: \"%s\" is not a value", define->name, define->value, define->value);
    return value ? syntax_parse_value(checker->arena, checker->diags, label, define->value) : NULL; /* once more: what is wrong with it is at a place of its own */
  }
  return item->value;
}

Value check_constant_value(Checker *checker, Constant *constant) {
  const Item *item = constant->item;
  if (constant->is_done) return constant->value;
  if (constant->is_busy) {
    diags_error(checker->diags, "E0214", item->name_place, "the constant \"%s\" is defined by itself", item->name);
    return (Value){.kind = VALUE_NONE};
  }
  constant->is_busy = true;
  const Expr *expr = defined_value(checker, item);
  Value value = expr ? check_const_expr(checker, expr) : (Value){.kind = VALUE_NONE};
  Dim dim = {0, value.text};
  if (value.kind == VALUE_NUMBER && check_is_anonymous(&dim)) value.text = item->name;
  constant->is_busy = false;
  constant->is_done = true;
  constant->value = value;
  return value;
}

static void check_define(Checker *checker, const LangDefine *define) {
  if (check_find_constant(checker, define->name)) return;
  const char *given = arena_printf(checker->arena, "-D %s=%s", define->name, define->value);
  if (check_find_option(checker, define->name) != NO_INDEX) {
    diags_error(checker->diags, "E0209", diags_no_place(), "%s: \"%s\" is an option: give it to the program instead (./train --%s %s)", given,
                define->name, define->name, define->value);
    return;
  }
  Suggest suggest = {.wanted = define->name};
  for (int i = 0; i < checker->constant_count; i++) suggest_offer(&suggest, checker->constants[i].item->name);
  diags_error(checker->diags, "E0209", diags_no_place(), "%s: the program has no constant \"%s\"%s", given, define->name,
              suggest_text(checker->arena, &suggest, "\""));
}

/* The flags that every produced program has; an option of the same name could not be told from them. */
static bool is_program_flag(const char *name) {
  static const char *const flags[] = {"data", "epochs", "runs", "seed", "threads", "weights", "resume", "out", "log", "every", "progress", "nan",
                                      "deterministic", "quiet", "verbose", "help", "version", "device", "scratch", "output", "classes",
                                      "split", "layer", "warmup", "json", "samples"};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (strcmp(flags[i], name) == 0) return true;
  return false;
}

static void check_option(Checker *checker, const Item *item) {
  if (is_program_flag(item->name)) {
    diags_error(checker->diags, "E0212", item->name_place, "every program has a flag --%s already; give this option another name", item->name);
    return;
  }
  Value value = check_const_expr(checker, item->value);
  if (value.kind == VALUE_NONE) return;
  if (value.kind != VALUE_NUMBER) {
    diags_error(checker->diags, "E0215", item->value->place, "the option \"%s\" must be a number", item->name);
    return;
  }
  TypedOption option = {.name = item->name, .help = item->text ? item->text : "", .value = value.number, .place = item->name_place};
  ARENA_PUSH(checker->arena, checker->program->options, checker->program->option_count, option);
}

void check_constants(Checker *checker) {
  for (int i = 0; i < checker->ast->item_count; i++) {
    const Item *item = checker->ast->items[i];
    if (item->kind == ITEM_CONST) ARENA_PUSH(checker->arena, checker->constants, checker->constant_count, (Constant){.item = item});
  }
  for (int i = 0; i < checker->ast->item_count; i++)
    if (checker->ast->items[i]->kind == ITEM_OPTION) check_option(checker, checker->ast->items[i]);
  for (int i = 0; i < checker->constant_count; i++) {
    Value value = check_constant_value(checker, &checker->constants[i]);
    TypedConst constant = {checker->constants[i].item->name, value.number};
    if (value.kind == VALUE_NUMBER) ARENA_PUSH(checker->arena, checker->program->consts, checker->program->const_count, constant);
  }
  for (int i = 0; i < checker->options->define_count; i++) check_define(checker, &checker->options->defines[i]);
}

Value check_const_expr(Checker *checker, const Expr *expr) {
  Value value = check_expr(checker, NULL, expr);
  if (value.kind != VALUE_TENSOR) return value;
  check_option_as_constant(checker, value.id, expr->span.place, "this value is");
  return (Value){.kind = VALUE_NONE};
}

/* ---- arithmetic ---- */

static bool is_compound(const char *text) {
  return strchr(text, ' ') != NULL;
}

/* The name of a computed dimension: "heads * out"; plain digits when no name is left in it. */
static const char *fold_text(Checker *checker, const char *op, Value a, Value b, double result) {
  enum { TEXT_MAX = 80 };
  Dim left = {0, a.text}, right = {0, b.text};
  bool is_plain = check_is_anonymous(&left) && check_is_anonymous(&right);
  if (is_plain || strlen(a.text) + strlen(b.text) > TEXT_MAX) return check_number_named(checker, result).text;
  const char *a_text = is_compound(a.text) ? arena_printf(checker->arena, "(%s)", a.text) : a.text;
  const char *b_text = is_compound(b.text) ? arena_printf(checker->arena, "(%s)", b.text) : b.text;
  return arena_printf(checker->arena, "%s %s %s", a_text, op, b_text);
}

static Value fold_numbers(Checker *checker, const Expr *expr, Value a, Value b) {
  const char *op = expr->text;
  double x = a.number, y = b.number;
  if (strcmp(op, "==") == 0) return check_bool(x == y);
  if (strcmp(op, "!=") == 0) return check_bool(x != y);
  if (strcmp(op, "<") == 0) return check_bool(x < y);
  if (strcmp(op, ">") == 0) return check_bool(x > y);
  if (strcmp(op, "<=") == 0) return check_bool(x <= y);
  if (strcmp(op, ">=") == 0) return check_bool(x >= y);
  double result = strcmp(op, "+") == 0   ? x + y
                  : strcmp(op, "-") == 0 ? x - y
                  : strcmp(op, "*") == 0 ? x * y
                  : strcmp(op, "/") == 0 ? x / y
                                         : pow(x, y);
  if (!isfinite(result)) {
    diags_error(checker->diags, "E0113", expr->place, "%.9g %s %.9g is not a finite number", x, op, y);
    return (Value){.kind = VALUE_NONE};
  }
  return check_number(result, fold_text(checker, op, a, b, result));
}

Value check_fold(Checker *checker, const Expr *expr, Value a, Value b) {
  const char *op = expr->text;
  bool is_equality = strcmp(op, "==") == 0 || strcmp(op, "!=") == 0;
  bool is_logic = strcmp(op, "and") == 0 || strcmp(op, "or") == 0;
  if (a.kind == VALUE_NUMBER && b.kind == VALUE_NUMBER && !is_logic && strcmp(op, "@") != 0) return fold_numbers(checker, expr, a, b);
  if (a.kind == VALUE_BOOL && b.kind == VALUE_BOOL) {
    if (strcmp(op, "and") == 0) return check_bool(a.number != 0 && b.number != 0);
    if (strcmp(op, "or") == 0) return check_bool(a.number != 0 || b.number != 0);
    if (is_equality) return check_bool((a.number == b.number) == (op[0] == '='));
  }
  if (a.kind == VALUE_STRING && b.kind == VALUE_STRING && is_equality) return check_bool((strcmp(a.text, b.text) == 0) == (op[0] == '='));
  static const char *const kinds[] = {"nothing", "a number", "true or false", "a text", "an initialiser", "a value of the data"};
  diags_error(checker->diags, "E0215", expr->place, "\"%s\" does not work between %s and %s", op, kinds[a.kind], kinds[b.kind]);
  return (Value){.kind = VALUE_NONE};
}

/* ---- options where constants belong ---- */

int check_option_of(const Checker *checker, TypedId id) {
  /* Operands come before their users, so this ends. */
  for (;;) {
    const TypedExpr *e = &checker->program->exprs[id];
    if (e->kind == TYPED_OPTION) return e->index;
    if (e->kind != TYPED_MAP || e->type.rank != 0 || e->type.domain != DOMAIN_NONE) return NO_INDEX;
    TypedId next = NO_INDEX;
    for (int i = e->operand_count - 1; i >= 0; i--)
      if (checker->program->exprs[e->operand[i]].kind != TYPED_NUMBER) next = e->operand[i];
    if (next == NO_INDEX) return NO_INDEX;
    id = next;
  }
}

void check_option_as_constant(Checker *checker, TypedId id, Place place, const char *what) {
  int option = check_option_of(checker, id);
  if (option == NO_INDEX) {
    diags_error(checker->diags, "E0311", place, "%s fixed at compile time, but this is computed by the model", what);
    if (strncmp(what, "conditions", 10) == 0) diags_help(checker->diags, "where(x > 0, a, b) chooses number by number");
    return;
  }
  const TypedOption *o = &checker->program->options[option];
  diags_error(checker->diags, "E0311", place,
              "\"%s\" is an option (changeable when the program runs), but %s fixed at compile time; make it a const and override it with -D %s=\xE2\x80\xA6",
              o->name, what, o->name);
  diags_label(checker->diags, o->place, 0, "declared as an option here");
}

/* ---- sizes and names of dimensions ---- */

static const double SIZE_MOST = 35184372088832.0; /* numbers of 4 bytes in the 2^47 bytes that a process can address */

bool check_size(Checker *checker, Scope *scope, const Expr *expr, Dim *dim) {
  Value value = check_expr(checker, scope, expr);
  const Place place = check_place_of(checker, scope, expr, expr->span.place);
  if (value.kind == VALUE_NONE) return false;
  if (value.kind == VALUE_TENSOR) {
    check_option_as_constant(checker, value.id, place, "sizes are");
    return false;
  }
  if (value.kind == VALUE_NUMBER && value.number > SIZE_MOST) {
    diags_error(checker->diags, "E0321", place, "%s is beyond the address space: no machine has room for more than 2^45 numbers", ast_expr_text(checker->arena, expr));
    return false;
  }
  if (value.kind != VALUE_NUMBER || !check_is_whole(value.number) || value.number < 1) {
    diags_error(checker->diags, "E0321", place, "a size must be a whole number of at least 1; %s is %s",
                ast_expr_text(checker->arena, expr), value.kind == VALUE_NUMBER ? arena_printf(checker->arena, "%.9g", value.number) : "no number");
    return false;
  }
  *dim = (Dim){(int64_t)value.number, value.text};
  return true;
}

static const char *outside_name(const Checker *checker, const Scope *scope, const char *name) {
  for (int i = 0; i < scope->alias_count; i++)
    if (strcmp(scope->aliases[i].inner, name) == 0) return scope->aliases[i].outer;
  if (check_find_variable(scope, name)) return NULL;
  return check_find_constant(checker, name) ? name : NULL;
}

/* What a dimension of a layer's result is called where the layer was called; digits when the caller has no name for it. */
const char *check_dim_outside(Checker *checker, const Scope *scope, const Dim *dim) {
  const char *digits = check_number_named(checker, (double)dim->size).text;
  if (check_is_anonymous(dim)) return digits;
  const char *text = "", *from = dim->name;
  bool is_whole_name = !is_compound(dim->name), has_name = false;
  while (*from) {
    size_t length = 0;
    while (isalnum((unsigned char)from[length]) || from[length] == '_' || from[length] == '\'' || from[length] == '.') length++;
    if (length == 0 || isdigit((unsigned char)*from)) {
      length = length ? length : 1;
      text = arena_printf(checker->arena, "%s%.*s", text, (int)length, from);
    } else {
      const char *name = outside_name(checker, scope, arena_strndup(checker->arena, from, length));
      if (!name) return digits;
      Dim part = {0, name};
      has_name = has_name || !check_is_anonymous(&part);
      bool needs_brackets = !is_whole_name && is_compound(name);
      text = arena_printf(checker->arena, needs_brackets ? "%s(%s)" : "%s%s", text, name);
    }
    from += length;
  }
  return has_name ? text : digits;
}
