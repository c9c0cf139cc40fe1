/* ast_dump: the syntax tree as nested lists, one statement a line. */
#include <string.h>

#include "lang.h"
#include "ast.h"

static void dump_expr(const Expr *e, FILE *out) {
  if (!e) {
    fputs("()", out);
    return;
  }
  switch (e->kind) {
  case EXPR_ERROR: fputs("?", out); return;
  case EXPR_NAME: case EXPR_NUMBER: case EXPR_BOOL: fputs(e->text, out); return;
  case EXPR_QUANTITY: fprintf(out, "%.9g%s", e->number, e->text); return;
  case EXPR_STRING: fprintf(out, "\"%s\"", e->text); return;
  case EXPR_CALL: fprintf(out, "(call %s", e->text); break;
  case EXPR_MEMBER: fputs("(.", out); break;
  case EXPR_LIST: fputs("(list", out); break;
  case EXPR_SHAPE: fprintf(out, "(shape %s", e->text); break;
  case EXPR_OVER: fputs("(over", out); break;
  case EXPR_AS: fputs("(as", out); break;
  default: fprintf(out, "(%s", e->text); break;
  }
  const Expr *children[] = {e->a, e->b, e->c};
  for (int i = 0; i < 3; i++)
    if (children[i]) {
      fputc(' ', out);
      dump_expr(children[i], out);
    }
  for (int i = 0; i < e->arg_count; i++) {
    fputc(' ', out);
    if (e->args[i].name) fprintf(out, "%s=", e->args[i].name);
    dump_expr(e->args[i].value, out);
  }
  if (e->kind == EXPR_MEMBER || e->kind == EXPR_OVER || e->kind == EXPR_AS) fprintf(out, " %s", e->text);
  fputc(')', out);
}

static void dump_type(const AstType *type, FILE *out) {
  fputs(type->domain, out);
  if (!type->has_dims) return;
  fputc('[', out);
  for (int d = 0; d < type->dim_count; d++) {
    if (d) fputs(", ", out);
    dump_expr(type->dims[d], out);
  }
  fputc(']', out);
}

static void indent(int depth, FILE *out) {
  fprintf(out, "%*s", 2 * depth, "");
}

static void dump_block(const Block *block, int depth, FILE *out);

static void dump_stmt(const Stmt *stmt, int depth, FILE *out) {
  indent(depth, out);
  switch (stmt->kind) {
  case STMT_DOC: fprintf(out, "doc \"%s\"", stmt->name); break;
  case STMT_ERROR: fputs("?", out); break;
  case STMT_PARAM: case STMT_ASSIGN:
    fprintf(out, "%s %s", stmt->kind == STMT_PARAM ? "param" : "let", stmt->name);
    if (stmt->type.is_given) {
      fputs(" : ", out);
      dump_type(&stmt->type, out);
    }
    if (stmt->value) {
      fputs(" = ", out);
      dump_expr(stmt->value, out);
    }
    break;
  case STMT_FOR:
    fprintf(out, "for %s ", stmt->name);
    dump_expr(stmt->value, out);
    fputs(" .. ", out);
    dump_expr(stmt->to, out);
    break;
  case STMT_IF:
    fputs("if ", out);
    dump_expr(stmt->value, out);
    break;
  case STMT_RETURN:
    fputs("return", out);
    for (int i = 0; i < stmt->result_count; i++) {
      fputc(' ', out);
      dump_expr(stmt->results[i], out);
    }
    break;
  }
  fprintf(out, "  # %d:%d\n", stmt->span.place.line, stmt->span.place.column);
  if (stmt->body) dump_block(stmt->body, depth + 1, out);
  if (stmt->other) {
    indent(depth, out);
    fputs("else\n", out);
    dump_block(stmt->other, depth + 1, out);
  }
}

static void dump_block(const Block *block, int depth, FILE *out) {
  for (int i = 0; i < block->count; i++) dump_stmt(block->stmts[i], depth, out);
}

static void dump_data(const Item *item, FILE *out) {
  for (int i = 0; i < item->data_count; i++) {
    const DataStmt *stmt = item->data[i];
    fputs("  ", out);
    if (stmt->kind) {
      fprintf(out, "%s %s : ", stmt->kind, stmt->name);
      dump_type(&stmt->dtype, out);
    } else {
      fputs(stmt->name, out);
    }
    if (stmt->target.is_given) {
      fputs(" -> ", out);
      dump_type(&stmt->target, out);
    }
    if (stmt->value) {
      fputs(" = ", out);
      dump_expr(stmt->value, out);
    }
    fputc('\n', out);
  }
}

static void dump_conf(const Conf *conf, int depth, FILE *out) {
  for (int i = 0; i < conf->count; i++) {
    const ConfStmt *stmt = conf->stmts[i];
    indent(depth, out);
    fputs(stmt->key, out);
    if (stmt->word) fprintf(out, stmt->is_word_string ? " \"%s\"" : " %s", stmt->word);
    if (stmt->arrow) fprintf(out, " %s %s", stmt->arrow, stmt->far_word);
    if (stmt->value) {
      fputs(" = ", out);
      dump_expr(stmt->value, out);
    }
    fputc('\n', out);
    if (stmt->body) dump_conf(stmt->body, depth + 1, out);
  }
}

static void dump_item(const Item *item, FILE *out) {
  static const char *const words[] = {"import", "const", "option", "data", "layer", "model", "train", "target", "plan", "?"};
  fprintf(out, "%s %s", words[item->kind], item->name);
  if (item->on) fprintf(out, " on %s", item->on);
  for (int i = 0; i < item->formal_count; i++) {
    const Formal *formal = &item->formals[i];
    fprintf(out, "%s%s", i ? ", " : " (", formal->name);
    if (formal->type.is_given) {
      fputs(" : ", out);
      dump_type(&formal->type, out);
    }
    if (formal->initial) {
      fputs(" = ", out);
      dump_expr(formal->initial, out);
    }
  }
  if (item->formal_count) fputc(')', out);
  if (item->value) {
    fputs(item->kind == ITEM_DATA ? " from " : " = ", out);
    dump_expr(item->value, out);
  }
  if (item->text) fprintf(out, " \"%s\"", item->text);
  fprintf(out, "  # %d:%d\n", item->span.place.line, item->span.place.column);
  dump_data(item, out);
  if (item->block) dump_block(item->block, 1, out);
  if (item->conf) dump_conf(item->conf, 1, out);
}

void ast_dump(const Ast *ast, FILE *out) {
  for (int i = 0; i < ast->item_count; i++)
    if (ast->items[i]->place.file == ast->main_file) dump_item(ast->items[i], out);
}
