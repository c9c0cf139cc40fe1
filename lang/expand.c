/* expand: the program as it is checked: imports in their places, constants as -D sets them, loops unrolled and conditions decided where constants decide them.
 *
 * Needs a syntax tree. What is printed is a program again, and the same one: weights keep their names (convs.0, convs.1), counters stay as
 * assignments, so that dimensions keep theirs. What depends on the data or on the arguments of a layer stays as it is written.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ast.h"
#include "format.h"
#include "lang.h"
#include "syntax.h"

enum { MOST_STATEMENTS = 200000 };

typedef struct Known {
  const char *name;
  bool is_known;
  double number;
} Known;

typedef struct ListUse {
  const char *name; /* behind `as` in a loop */
  int count;
} ListUse;

typedef struct Expander {
  Arena *arena;
  Diags *diags;
  const Ast *ast;
  const LangOptions *options;
  FILE *out;
  int constant_count, known_count, use_count, loop_depth, statement_count;
  Known *known; /* the constants first, then what the block that is printed sets */
  ListUse *uses;
} Expander;

/* ---- what is known ---- */

static void know(Expander *x, const char *name, bool is_known, double number) { ARENA_PUSH(x->arena, x->known, x->known_count, ((Known){name, is_known, number})); }

static bool find_known(const Expander *x, const char *name, double *number) {
  for (int i = x->known_count - 1; i >= 0; i--)
    if (strcmp(x->known[i].name, name) == 0) return *number = x->known[i].number, x->known[i].is_known;
  return false;
}

static bool binary(const char *op, double a, double b, double *result) {
  static const char *const ops[] = {"+", "-", "*", "/", "^", "==", "!=", "<", ">", "<=", ">=", "and", "or"};
  const double results[] = {a + b, a - b, a * b, a / b, pow(a, b), a == b, a != b, a < b, a > b, a <= b, a >= b, a != 0 && b != 0, a != 0 || b != 0};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(ops[i], op) == 0) return *result = results[i], isfinite(results[i]);
  return false;
}

/* Numbers, and true and false as 1 and 0; false: it is no constant, or one of another kind. */
static bool constant(const Expander *x, const Expr *e, double *number) {
  double a, b;
  switch (e->kind) {
  case EXPR_NUMBER: case EXPR_BOOL: return *number = e->number, true;
  case EXPR_NAME: return find_known(x, e->text, number);
  case EXPR_UNARY:
    if (!constant(x, e->a, &a)) return false;
    *number = strcmp(e->text, "-") == 0 ? -a : a == 0;
    return true;
  case EXPR_BINARY: return constant(x, e->a, &a) && constant(x, e->b, &b) && binary(e->text, a, b, number);
  case EXPR_COND: return constant(x, e->a, &a) && constant(x, a != 0 ? e->b : e->c, number);
  default: return false;
  }
}

/* ---- expressions ---- */

static void print_string(const Expander *x, const char *text) {
  fputc('"', x->out);
  for (; *text; text++) fprintf(x->out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  fputc('"', x->out);
}

/* By as few digits as give the number again. */
static void print_quantity(const Expander *x, const Expr *e) {
  const char *digits = arena_printf(x->arena, "%.9g", e->number);
  fprintf(x->out, "%s%s", strtod(digits, NULL) == e->number ? digits : arena_printf(x->arena, "%.17g", e->number), e->text);
}

static void print_expr(Expander *x, const Expr *e);

static void print_operand(Expander *x, const Expr *e) {
  const bool is_compound = e->kind == EXPR_BINARY || e->kind == EXPR_COND || e->kind == EXPR_PIPE || e->kind == EXPR_UNARY;
  if (is_compound) fputc('(', x->out);
  print_expr(x, e);
  if (is_compound) fputc(')', x->out);
}

static void print_args(Expander *x, const Expr *e) {
  for (int i = 0; i < e->arg_count; i++) {
    if (i) fputs(", ", x->out);
    if (e->args[i].name) fprintf(x->out, "%s = ", e->args[i].name);
    print_expr(x, e->args[i].value);
  }
}

/* In a loop that is unrolled a name stands for a list, whose members are counted. */
static void print_as(Expander *x, const char *name) {
  fputs(" as ", x->out);
  if (x->loop_depth == 0) {
    print_string(x, name);
    return;
  }
  int at = 0;
  while (at < x->use_count && strcmp(x->uses[at].name, name) != 0) at++;
  if (at == x->use_count) ARENA_PUSH(x->arena, x->uses, x->use_count, ((ListUse){name, 0}));
  print_string(x, arena_printf(x->arena, "%s.%d", name, x->uses[at].count++));
}

static bool is_plain_name(const char *text) {
  if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", text[0]) || !text[0]) return false;
  return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(text);
}

static void print_expr(Expander *x, const Expr *e) {
  switch (e->kind) {
  case EXPR_ERROR: break;
  case EXPR_NAME: case EXPR_NUMBER: fputs(e->text, x->out); break;
  case EXPR_QUANTITY: print_quantity(x, e); break;
  case EXPR_STRING: print_string(x, e->text); break;
  case EXPR_BOOL: fputs(e->number != 0 ? "true" : "false", x->out); break;
  case EXPR_CALL:
    fprintf(x->out, "%s(", e->text);
    print_args(x, e);
    fputc(')', x->out);
    break;
  case EXPR_SHAPE:
    fprintf(x->out, "%s[", e->text);
    print_args(x, e);
    fputc(']', x->out);
    break;
  case EXPR_MEMBER:
    print_operand(x, e->a);
    fprintf(x->out, ".%s", e->text);
    break;
  case EXPR_LIST:
    fputc('[', x->out);
    print_args(x, e);
    fputc(']', x->out);
    break;
  case EXPR_UNARY:
    fprintf(x->out, "%s ", e->text);
    print_operand(x, e->a);
    break;
  case EXPR_BINARY:
    print_operand(x, e->a);
    fprintf(x->out, " %s ", e->text);
    print_operand(x, e->b);
    break;
  case EXPR_COND:
    print_operand(x, e->a);
    fputs(" ? ", x->out);
    print_operand(x, e->b);
    fputs(" : ", x->out);
    print_operand(x, e->c);
    break;
  case EXPR_PIPE:
    if (e->a->kind == EXPR_PIPE) print_expr(x, e->a);
    else print_operand(x, e->a);
    fputs(" |> ", x->out);
    print_expr(x, e->b);
    break;
  case EXPR_OVER:
    print_operand(x, e->a);
    fprintf(x->out, " over %s", e->text);
    break;
  case EXPR_AS:
    print_operand(x, e->a);
    if (x->loop_depth == 0 && is_plain_name(e->text)) fprintf(x->out, " as %s", e->text);
    else print_as(x, e->text);
    break;
  }
}

static void print_type(Expander *x, const AstType *type) {
  fputs(type->domain, x->out);
  if (!type->has_dims) return;
  fputc('[', x->out);
  for (int d = 0; d < type->dim_count; d++) {
    if (d) fputs(", ", x->out);
    print_expr(x, type->dims[d]);
  }
  fputc(']', x->out);
}

static void print_typed(Expander *x, const AstType *type) {
  if (!type->is_given) return;
  fputs(" : ", x->out);
  print_type(x, type);
}

static void print_value(Expander *x, const Expr *value) {
  if (!value) return;
  fputs(" = ", x->out);
  print_expr(x, value);
}

/* ---- statements ---- */

static void print_block(Expander *x, const Block *block);

/* What a block that is printed as it is may set is not known behind it. */
static void forget(Expander *x, const Block *block) {
  for (int i = 0; block && i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    if (stmt->kind == STMT_ASSIGN || stmt->kind == STMT_FOR) know(x, stmt->name, false, 0);
    forget(x, stmt->body);
    forget(x, stmt->other);
  }
}

/* A loop that stays counts the members of its lists itself. */
static void print_kept(Expander *x, const Block *block) {
  const int depth = x->loop_depth;
  x->loop_depth = 0;
  fputs(" {\n", x->out);
  print_block(x, block);
  fputs("}", x->out);
  x->loop_depth = depth;
}

static bool uses_lists(const Block *block);
static bool names_layers(const Expr *e) {
  if (!e) return false;
  for (int i = 0; i < e->arg_count; i++)
    if (names_layers(e->args[i].value)) return true;
  return e->kind == EXPR_AS || names_layers(e->a) || names_layers(e->b) || names_layers(e->c);
}

static bool uses_lists(const Block *block) {
  for (int i = 0; block && i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    if (names_layers(stmt->value) || uses_lists(stmt->body) || uses_lists(stmt->other)) return true;
    for (int r = 0; r < stmt->result_count; r++)
      if (names_layers(stmt->results[r])) return true;
  }
  return false;
}

static bool has_open_loop(Expander *x, const Block *block) {
  double a, b;
  for (int i = 0; block && i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    const bool is_open = stmt->kind == STMT_FOR ? !constant(x, stmt->value, &a) || !constant(x, stmt->to, &b) : stmt->kind == STMT_IF && !constant(x, stmt->value, &a);
    if ((is_open && (uses_lists(stmt->body) || uses_lists(stmt->other))) || has_open_loop(x, stmt->body) || has_open_loop(x, stmt->other)) return true;
  }
  return false;
}

/* Unrolled where its ends are constants, and no loop or condition within that stays would have to go on counting a list of weights. */
static void print_loop(Expander *x, const Stmt *stmt) {
  double first, last;
  const int known = x->known_count;
  bool is_unrolled = constant(x, stmt->value, &first) && constant(x, stmt->to, &last) && last - first < MOST_STATEMENTS && last >= first - 1;
  if (is_unrolled) {
    know(x, stmt->name, true, first);
    is_unrolled = !has_open_loop(x, stmt->body);
    x->known_count = known;
  }
  if (!is_unrolled) {
    forget(x, stmt->body);
    know(x, stmt->name, false, 0);
    fprintf(x->out, "for %s in ", stmt->name);
    print_operand(x, stmt->value);
    fputs(" .. ", x->out);
    print_operand(x, stmt->to);
    print_kept(x, stmt->body);
    return;
  }
  x->loop_depth++;
  for (double i = first; i <= last && ++x->statement_count < MOST_STATEMENTS; i++) {
    know(x, stmt->name, true, i);
    fprintf(x->out, "%s = %.0f\n", stmt->name, i);
    print_block(x, stmt->body);
  }
  x->loop_depth--;
}

static void print_condition(Expander *x, const Stmt *stmt) {
  double is_true;
  if (constant(x, stmt->value, &is_true)) {
    if (is_true != 0) print_block(x, stmt->body);
    else if (stmt->other) print_block(x, stmt->other);
    return;
  }
  fputs("if ", x->out);
  print_expr(x, stmt->value);
  print_kept(x, stmt->body);
  if (stmt->other) {
    fputs(" else", x->out);
    print_kept(x, stmt->other);
  }
  forget(x, stmt->body);
  forget(x, stmt->other);
}

static void print_stmt(Expander *x, const Stmt *stmt) {
  double number = 0;
  switch (stmt->kind) {
  case STMT_DOC: print_string(x, stmt->name); break;
  case STMT_ERROR: break;
  case STMT_PARAM: case STMT_ASSIGN:
    fprintf(x->out, "%s%s", stmt->kind == STMT_PARAM ? "param " : "", stmt->name);
    print_typed(x, &stmt->type);
    print_value(x, stmt->value);
    if (stmt->kind == STMT_ASSIGN) {
      const bool is_known = constant(x, stmt->value, &number);
      know(x, stmt->name, is_known, number);
    }
    break;
  case STMT_FOR: print_loop(x, stmt); break;
  case STMT_IF: print_condition(x, stmt); break;
  case STMT_RETURN:
    fputs("return ", x->out);
    for (int i = 0; i < stmt->result_count; i++) {
      if (i) fputs(", ", x->out);
      print_expr(x, stmt->results[i]);
    }
    break;
  }
  fputc('\n', x->out);
}

static void print_block(Expander *x, const Block *block) {
  for (int i = 0; i < block->count; i++)
    if (++x->statement_count < MOST_STATEMENTS) print_stmt(x, block->stmts[i]);
}

/* ---- items ---- */

static void print_data(Expander *x, const Item *item) {
  for (int i = 0; i < item->data_count; i++) {
    const DataStmt *stmt = item->data[i];
    if (stmt->kind) {
      fprintf(x->out, "%s %s : ", stmt->kind, stmt->name);
      print_type(x, &stmt->dtype);
    } else fputs(stmt->name, x->out);
    if (stmt->target.is_given) {
      fputs(" -> ", x->out);
      print_type(x, &stmt->target);
    }
    print_value(x, stmt->value);
    fputc('\n', x->out);
  }
}

static void print_conf(Expander *x, const Conf *conf) {
  fputs(" {\n", x->out);
  for (int i = 0; i < conf->count; i++) {
    const ConfStmt *stmt = conf->stmts[i];
    fputs(stmt->key, x->out);
    if (stmt->word) fputc(' ', x->out);
    if (stmt->word && stmt->is_word_string) print_string(x, stmt->word);
    else if (stmt->word) fputs(stmt->word, x->out);
    if (stmt->arrow) fprintf(x->out, " %s %s", stmt->arrow, stmt->far_word);
    print_value(x, stmt->value);
    if (stmt->body) print_conf(x, stmt->body);
    fputc('\n', x->out);
  }
  fputs("}", x->out);
}

static void print_formals(Expander *x, const Item *item) {
  fputc('(', x->out);
  for (int i = 0; i < item->formal_count; i++) {
    fprintf(x->out, "%s%s", i ? ", " : "", item->formals[i].name);
    print_typed(x, &item->formals[i].type);
    print_value(x, item->formals[i].initial);
    know(x, item->formals[i].name, false, 0);
  }
  fputc(')', x->out);
}

/* -D sets the last word on a constant. */
static const char *defined(const Expander *x, const char *name) {
  const char *value = NULL;
  for (int i = 0; i < x->options->define_count; i++)
    if (strcmp(x->options->defines[i].name, name) == 0) value = x->options->defines[i].value;
  return value;
}

static const Expr *constant_value(Expander *x, const Item *item) {
  const char *set = defined(x, item->name);
  return set ? syntax_parse_value(x->arena, x->diags, arena_printf(x->arena, "-D %s=%s", item->name, set), set) : item->value;
}

/* They may stand in any order. */
static void know_constants(Expander *x) {
  for (int found = -1; found != x->known_count;) {
    found = x->known_count;
    for (int i = 0; i < x->ast->item_count; i++) {
      const Item *item = x->ast->items[i];
      const Expr *value = item->kind == ITEM_CONST ? constant_value(x, item) : NULL;
      double number;
      if (value && !find_known(x, item->name, &number) && constant(x, value, &number)) know(x, item->name, true, number);
    }
  }
  for (int i = 0; i < x->options->define_count; i++) {
    const char *name = x->options->defines[i].name;
    bool is_there = false;
    for (int k = 0; k < x->ast->item_count; k++) is_there = is_there || (x->ast->items[k]->kind == ITEM_CONST && strcmp(x->ast->items[k]->name, name) == 0);
    if (!is_there) diags_error(x->diags, "E0209", diags_no_place(), "-D %s=%s: the program has no constant \"%s\"", name, x->options->defines[i].value, name);
  }
}

static void print_constant(Expander *x, const Item *item) {
  const Expr *value = constant_value(x, item);
  fprintf(x->out, "const %s", item->name);
  print_value(x, value);
}

static void print_item(Expander *x, const Item *item) {
  static const char *const words[] = {[ITEM_OPTION] = "option", [ITEM_DATA] = "data", [ITEM_LAYER] = "layer", [ITEM_MODEL] = "model", [ITEM_TRAIN] = "train", [ITEM_TARGET] = "target", [ITEM_PLAN] = "plan"};
  const int known = x->known_count;
  if (item->kind == ITEM_CONST) {
    print_constant(x, item);
    fputs("\n", x->out);
    return;
  }
  fputs(words[item->kind], x->out);
  if (item->kind != ITEM_PLAN) fprintf(x->out, " %s", item->name);
  if (item->kind == ITEM_LAYER) print_formals(x, item);
  if (item->on) fprintf(x->out, " on %s", item->on);
  if (item->kind == ITEM_DATA && item->value) {
    fputs(" from ", x->out);
    print_expr(x, item->value);
  } else print_value(x, item->value);
  if (item->text) {
    fputc(' ', x->out);
    print_string(x, item->text);
  }
  if (item->kind == ITEM_DATA && item->data_count) {
    fputs(" {\n", x->out);
    print_data(x, item);
    fputs("}", x->out);
  }
  if (item->block) {
    x->use_count = 0;
    fputs(" {\n", x->out);
    print_block(x, item->block);
    fputs("}", x->out);
  }
  if (item->conf) print_conf(x, item->conf);
  fputs(item->kind == ITEM_OPTION ? "\n" : "\n\n", x->out);
  x->known_count = known;
}

const char *lang_expand(Arena *arena, Diags *diags, const Ast *ast, const LangOptions *options) {
  char *text = NULL;
  size_t length = 0;
  Expander x = {.arena = arena, .diags = diags, .ast = ast, .options = options, .out = arena_open_text(arena, &text, &length)};
  know_constants(&x);
  for (int i = 0; i < ast->item_count && diags_error_count(diags) == 0; i++) {
    const Item *item = ast->items[i];
    if (item->kind == ITEM_IMPORT || item->kind == ITEM_ERROR || syntax_is_standard(diags, options->share_dir, ast, item)) continue;
    print_item(&x, item);
  }
  fclose(x.out);
  if (x.statement_count >= MOST_STATEMENTS) diags_error(diags, "E0112", diags_no_place(), "unrolled the program has more than %d statements", MOST_STATEMENTS);
  return diags_error_count(diags) ? NULL : format_program(arena, diags, "expanded", text, length);
}
