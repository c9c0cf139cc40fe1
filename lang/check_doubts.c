/* check_doubts: warnings about whole programs that are right: names without a use, networks deeper than they should be. */
#include <string.h>

#include "check.h"

enum {
  DEEP = 8 /* layers from which on plain graph networks train worse than shallow ones: Li, Han & Wu 2018; Oono & Suzuki 2020 */
};

/* ---- names without a use ---- */

typedef struct Mentions {
  Arena *arena;
  NameTable names;
} Mentions;

static void mention(Mentions *m, const char *name) {
  if (name && *name && name_table_find(&m->names, name) < 0) name_table_add(m->arena, &m->names, name, 1);
}

static void mention_expr(Mentions *m, const Expr *expr) {
  if (!expr) return;
  if (expr->kind == EXPR_NAME || expr->kind == EXPR_CALL || expr->kind == EXPR_MEMBER || expr->kind == EXPR_OVER) mention(m, expr->text);
  for (int i = 0; i < expr->arg_count; i++) mention_expr(m, expr->args[i].value);
  mention_expr(m, expr->a);
  mention_expr(m, expr->b);
  mention_expr(m, expr->c);
}

static void mention_type(Mentions *m, const AstType *type) {
  for (int d = 0; d < type->dim_count; d++) mention_expr(m, type->dims[d]);
}

static void mention_block(Mentions *m, const Block *block) {
  for (int i = 0; block && i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    mention_type(m, &stmt->type);
    mention_expr(m, stmt->value);
    mention_expr(m, stmt->to);
    mention_block(m, stmt->body);
    mention_block(m, stmt->other);
    for (int k = 0; k < stmt->result_count; k++) mention_expr(m, stmt->results[k]);
  }
}

static void mention_conf(Mentions *m, const Conf *conf) {
  for (int i = 0; conf && i < conf->count; i++) {
    mention_expr(m, conf->stmts[i]->value);
    mention_conf(m, conf->stmts[i]->body);
  }
}

static void mention_item(Mentions *m, const Item *item) {
  mention_expr(m, item->value);
  for (int i = 0; i < item->data_count; i++) {
    mention_type(m, &item->data[i]->dtype);
    mention_expr(m, item->data[i]->value);
  }
  for (int i = 0; i < item->formal_count; i++) {
    mention_type(m, &item->formals[i].type);
    mention_expr(m, item->formals[i].initial);
  }
  mention_block(m, item->block);
  mention_conf(m, item->conf);
}

static void warn_unused(const Checker *checker, const Mentions *m, const char *what, const char *name, Place place) {
  if (name_table_find(&m->names, name) < 0) diags_warning(checker->diags, "W0219", "unused", place, "%s \"%s\" is not used", what, name);
}

/* Each name once, where it is assigned first. */
static void warn_unused_variables(const Checker *checker, Mentions *m, const Block *block) {
  for (int i = 0; block && i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    if (stmt->kind == STMT_ASSIGN) {
      warn_unused(checker, m, "the value", stmt->name, stmt->name_place);
      mention(m, stmt->name);
    }
    warn_unused_variables(checker, m, stmt->body);
    warn_unused_variables(checker, m, stmt->other);
  }
}

/* Of the main file: what is imported may be meant for others. */
static void warn_unused_names(const Checker *checker) {
  Mentions everywhere = {.arena = checker->arena};
  for (int i = 0; i < checker->ast->item_count; i++) mention_item(&everywhere, checker->ast->items[i]);
  for (int i = 0; i < checker->ast->item_count; i++) {
    const Item *item = checker->ast->items[i];
    if (item->name_place.file != checker->ast->main_file) continue;
    if (item->kind == ITEM_CONST) warn_unused(checker, &everywhere, "constant", item->name, item->name_place);
    if (item->kind == ITEM_OPTION) warn_unused(checker, &everywhere, "option", item->name, item->name_place);
    if (item->kind == ITEM_LAYER) warn_unused(checker, &everywhere, "layer", item->name, item->name_place);
    if (item->kind != ITEM_LAYER && item->kind != ITEM_MODEL) continue;
    Mentions inside = {.arena = checker->arena};
    mention_item(&inside, item);
    for (int k = 0; k < item->formal_count; k++) warn_unused(checker, &inside, "argument", item->formals[k].name, item->formals[k].place);
    warn_unused_variables(checker, &inside, item->block);
  }
}

/* ---- depth ---- */

/* Products with weights on the shortest and sums over neighbours on the longest way from the data to a value. */
typedef struct Way {
  bool is_of_data;
  int products, sums;
} Way;

static void warn_deep(const Checker *checker) {
  const TypedProgram *program = checker->program;
  Way *ways = arena_alloc(checker->arena, (size_t)program->expr_count * sizeof *ways);
  for (TypedId i = 0; i <= program->result; i++) {
    const TypedExpr *e = &program->exprs[i];
    bool has_weight = false;
    ways[i] = (Way){.is_of_data = e->kind == TYPED_FIELD || (e->kind == TYPED_PARAM && e->type.domain != DOMAIN_NONE)};
    for (int k = 0; k < e->operand_count; k++) {
      const Way *way = &ways[e->operand[k]];
      if (!way->is_of_data) has_weight = true;
      else if (!ways[i].is_of_data) ways[i] = *way;
      else {
        if (way->products < ways[i].products) ways[i].products = way->products;
        if (way->sums > ways[i].sums) ways[i].sums = way->sums;
      }
    }
    if ((e->kind == TYPED_MATMUL || e->kind == TYPED_DOT) && has_weight) ways[i].products++;
    if (e->kind == TYPED_REDUCE_EDGES) ways[i].sums++;
  }
  const Way *way = &ways[program->result];
  if (way->products < DEEP || way->sums < DEEP) return;
  diags_warning(checker->diags, "W0414", "deep", checker->result_place, "every path from the data to the scores has %d products with weights, and no residual connection leads past them", way->products);
  diags_help(checker->diags, "h = h + (h |> GCN(64) as convs |> relu), or fewer layers: beyond %d, nodes become alike and gradients small", DEEP);
}

void check_doubts(const Checker *checker) {
  warn_unused_names(checker);
  warn_deep(checker);
}
