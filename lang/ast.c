#include "ast.h"

#include <string.h>

static int depth_of(const Expr *expr) {
  return expr ? expr->depth : 0;
}

static int deeper(int depth, const Expr *expr) {
  return depth_of(expr) > depth ? depth_of(expr) : depth;
}

static Expr *finish(AstBuilder *builder, Expr expr) {
  if (expr.depth > AST_DEPTH_MAX) {
    diags_error(builder->diags, "E0111", expr.span.place, "this expression is nested more than %d deep", AST_DEPTH_MAX);
    diags_help(builder->diags, "give its parts names of their own");
    expr = (Expr){.kind = EXPR_ERROR, .span = expr.span, .place = expr.place, .depth = 1, .text = ""};
  }
  Expr *result = arena_alloc(builder->arena, sizeof *result);
  *result = expr;
  return result;
}

Expr *ast_leaf(AstBuilder *builder, ExprKind kind, Span span, const char *text, double number) {
  return finish(builder, (Expr){.kind = kind, .depth = 1, .span = span, .place = span.place, .text = text, .number = number});
}

static int depth_of_args(int arg_count, const Arg *args) {
  int depth = 0;
  for (int i = 0; i < arg_count; i++) depth = deeper(depth, args[i].value);
  return depth + 1;
}

Expr *ast_call(AstBuilder *builder, Span span, Place place, const char *name, int arg_count, Arg *args) {
  Expr expr = {.kind = EXPR_CALL, .span = span, .place = place, .text = name, .arg_count = arg_count, .args = args};
  expr.depth = depth_of_args(arg_count, args);
  return finish(builder, expr);
}

Expr *ast_list(AstBuilder *builder, Span span, int arg_count, Arg *args) {
  Expr expr = {.kind = EXPR_LIST, .span = span, .place = span.place, .text = "", .arg_count = arg_count, .args = args};
  expr.depth = depth_of_args(arg_count, args);
  return finish(builder, expr);
}

Expr *ast_shape(AstBuilder *builder, Span span, const char *name, int size_count, const Expr *const *sizes) {
  Expr expr = {.kind = EXPR_SHAPE, .span = span, .place = span.place, .text = name};
  for (int i = 0; i < size_count; i++) ARENA_PUSH(builder->arena, expr.args, expr.arg_count, ((Arg){.place = sizes[i]->place, .value = sizes[i]}));
  expr.depth = depth_of_args(expr.arg_count, expr.args);
  return finish(builder, expr);
}

Expr *ast_node(AstBuilder *builder, ExprKind kind, Span span, Place place, const char *text, const Expr *a, const Expr *b,
               const Expr *c) {
  Expr expr = {.kind = kind, .span = span, .place = place, .text = text, .a = a, .b = b, .c = c};
  expr.depth = deeper(deeper(depth_of(a), b), c) + 1;
  return finish(builder, expr);
}

int span_width(Span span) {
  return span.place.line == span.end_line && span.end_column > span.place.column ? span.end_column - span.place.column : 0;
}

static const char *text_of_args(Arena *arena, const Expr *expr) {
  const char *text = "";
  for (int i = 0; i < expr->arg_count; i++) {
    const Arg *arg = &expr->args[i];
    const char *value = ast_expr_text(arena, arg->value);
    text = arg->name ? arena_printf(arena, "%s%s%s = %s", text, i ? ", " : "", arg->name, value)
                     : arena_printf(arena, "%s%s%s", text, i ? ", " : "", value);
  }
  return text;
}

static const char *operand_text(Arena *arena, const Expr *expr) {
  const char *text = ast_expr_text(arena, expr);
  bool is_compound = expr->kind == EXPR_BINARY || expr->kind == EXPR_COND || expr->kind == EXPR_PIPE;
  return is_compound ? arena_printf(arena, "(%s)", text) : text;
}

const char *ast_expr_text(Arena *arena, const Expr *e) {
  switch (e->kind) {
  case EXPR_ERROR: return "?";
  case EXPR_NAME: case EXPR_NUMBER: return e->text;
  case EXPR_QUANTITY: return arena_printf(arena, "%.9g%s", e->number, e->text);
  case EXPR_STRING: return arena_printf(arena, "\"%s\"", e->text);
  case EXPR_BOOL: return e->number != 0 ? "true" : "false";
  case EXPR_CALL: return arena_printf(arena, "%s(%s)", e->text, text_of_args(arena, e));
  case EXPR_MEMBER: return arena_printf(arena, "%s.%s", operand_text(arena, e->a), e->text);
  case EXPR_LIST: return arena_printf(arena, "[%s]", text_of_args(arena, e));
  case EXPR_SHAPE: return arena_printf(arena, "%s[%s]", e->text, text_of_args(arena, e));
  case EXPR_UNARY: return arena_printf(arena, "%s%s%s", e->text, strcmp(e->text, "-") == 0 ? "" : " ", operand_text(arena, e->a));
  case EXPR_BINARY: return arena_printf(arena, "%s %s %s", operand_text(arena, e->a), e->text, operand_text(arena, e->b));
  case EXPR_COND:
    return arena_printf(arena, "%s ? %s : %s", operand_text(arena, e->a), operand_text(arena, e->b), operand_text(arena, e->c));
  case EXPR_PIPE: return arena_printf(arena, "%s |> %s", ast_expr_text(arena, e->a), ast_expr_text(arena, e->b));
  case EXPR_OVER: return arena_printf(arena, "%s over %s", operand_text(arena, e->a), e->text);
  case EXPR_AS: return arena_printf(arena, strchr(e->text, '.') ? "%s as \"%s\"" : "%s as %s", operand_text(arena, e->a), e->text);
  }
  return "?";
}
