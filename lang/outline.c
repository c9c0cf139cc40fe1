/* outline: the names of a program and where they are defined, as an editor asks for them: of the syntax tree alone. */
#include <string.h>

#include "ast.h"
#include "lang.h"

typedef struct Outline {
  Arena *arena;
  const Ast *ast;
  int count;
  LangSymbol *symbols;
} Outline;

static void add(Outline *o, const char *name, LangSymbolKind kind, Place place, const char *detail) {
  if (name && *name) ARENA_PUSH(o->arena, o->symbols, o->count, ((LangSymbol){name, kind, place, detail, place}));
}

/* The value of a statement does not know the name that it is given. */
static void add_set(Outline *o, const Stmt *stmt, const char *detail) {
  add(o, stmt->name, LANG_VARIABLE, stmt->name_place, detail);
  if (stmt->name && *stmt->name) o->symbols[o->count - 1].known_from = (Place){stmt->name_place.file, stmt->span.end_line, stmt->span.end_column};
}

static const char *type_text(Arena *arena, const AstType *type) {
  const char *text = type->domain;
  for (int d = 0; type->has_dims && d < type->dim_count; d++) text = arena_printf(arena, "%s%s%s", text, d ? ", " : "[", ast_expr_text(arena, type->dims[d]));
  return type->has_dims ? arena_printf(arena, "%s%s]", text, type->dim_count ? "" : "[") : text;
}

/* Weights are named where a layer is called. */
static void add_weights(Outline *o, const Expr *e) {
  if (!e) return;
  add_weights(o, e->a);
  add_weights(o, e->b);
  add_weights(o, e->c);
  for (int i = 0; i < e->arg_count; i++) add_weights(o, e->args[i].value);
  if (e->kind == EXPR_AS) add(o, e->text, LANG_WEIGHTS, e->place, "weights");
}

static void add_block(Outline *o, const Block *block) {
  for (int i = 0; block && i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    add_weights(o, stmt->value);
    for (int r = 0; r < stmt->result_count; r++) add_weights(o, stmt->results[r]);
    if (stmt->kind == STMT_PARAM) add_set(o, stmt, arena_printf(o->arena, "param %s : %s", stmt->name, type_text(o->arena, &stmt->type)));
    if (stmt->kind == STMT_ASSIGN) add_set(o, stmt, arena_printf(o->arena, "%s = %s", stmt->name, ast_expr_text(o->arena, stmt->value)));
    if (stmt->kind == STMT_FOR) add(o, stmt->name, LANG_VARIABLE, stmt->name_place, "counter of a loop");
    add_block(o, stmt->body);
    add_block(o, stmt->other);
  }
}

static const char *signature(Arena *arena, const Item *layer) {
  const char *text = arena_printf(arena, "layer %s(", layer->name);
  for (int i = 0; i < layer->formal_count; i++) {
    const Formal *formal = &layer->formals[i];
    text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", formal->name);
    if (formal->type.is_given) text = arena_printf(arena, "%s : %s", text, type_text(arena, &formal->type));
    if (formal->initial) text = arena_printf(arena, "%s = %s", text, ast_expr_text(arena, formal->initial));
  }
  return arena_printf(arena, "%s)", text);
}

static const char *documentation(Arena *arena, const Item *layer) {
  for (int i = 0; layer->block && i < layer->block->count; i++)
    if (layer->block->stmts[i]->kind == STMT_DOC) return arena_printf(arena, "%s\n%s", signature(arena, layer), layer->block->stmts[i]->name);
  return signature(arena, layer);
}

static bool encloses(const Item *item, int line) { return item->span.place.line <= line && line <= item->span.end_line; }

static void add_item(Outline *o, const Item *item) {
  const char *value = item->value ? ast_expr_text(o->arena, item->value) : "";
  switch (item->kind) {
  case ITEM_CONST: add(o, item->name, LANG_CONSTANT, item->name_place, arena_printf(o->arena, "const %s = %s", item->name, value)); break;
  case ITEM_OPTION: add(o, item->name, LANG_OPTION, item->name_place, arena_printf(o->arena, "option %s = %s%s%s", item->name, value, item->text ? "  " : "", item->text ? item->text : "")); break;
  case ITEM_LAYER: add(o, item->name, LANG_LAYER, item->name_place, documentation(o->arena, item)); break;
  case ITEM_TARGET: add(o, item->name, LANG_TARGET, item->name_place, arena_printf(o->arena, "target %s%s%s", item->name, item->text ? ": " : "", item->text ? item->text : "")); break;
  case ITEM_MODEL: add(o, item->name, LANG_MODEL, item->name_place, arena_printf(o->arena, "model %s on %s", item->name, item->on ? item->on : "")); break;
  case ITEM_DATA:
    add(o, item->name, LANG_DATA, item->name_place, arena_printf(o->arena, "data %s%s%s", item->name, item->value ? " from " : "", value));
    for (int i = 0; i < item->data_count; i++) {
      const DataStmt *stmt = item->data[i];
      if (stmt->kind) add(o, stmt->name, LANG_FIELD, stmt->name_place, arena_printf(o->arena, "%s %s : %s", stmt->kind, stmt->name, type_text(o->arena, &stmt->dtype)));
    }
    break;
  case ITEM_IMPORT: case ITEM_TRAIN: case ITEM_PLAN: case ITEM_ERROR: break;
  }
}

LangSymbol *lang_symbols(Arena *arena, const Ast *ast, int line, int *count) {
  Outline o = {.arena = arena, .ast = ast};
  for (int i = 0; i < ast->item_count; i++) add_item(&o, ast->items[i]);
  for (int i = 0; i < ast->item_count; i++) {
    const Item *item = ast->items[i];
    const bool is_model = item->kind == ITEM_MODEL, is_block = item->block && (item->kind == ITEM_LAYER || is_model);
    if (!is_block || item->place.file != ast->main_file || (line > 0 && !encloses(item, line))) continue;
    for (int k = 0; k < item->formal_count; k++) add(&o, item->formals[k].name, LANG_VARIABLE, item->formals[k].place, arena_printf(arena, "argument %s%s%s", item->formals[k].name, item->formals[k].type.is_given ? " : " : "", type_text(arena, &item->formals[k].type)));
    add_block(&o, item->block);
  }
  *count = o.count;
  return o.symbols;
}

static bool is_before(Place place, int line, int column) { return place.line < line || (place.line == line && place.column < column); }

const LangSymbol *lang_definition(Arena *arena, const Ast *ast, const char *name, int line, int column) {
  int count;
  const LangSymbol *symbols = lang_symbols(arena, ast, line, &count), *found = NULL;
  for (int i = 0; i < count; i++) {
    const LangSymbol *s = &symbols[i];
    if (strcmp(s->name, name) != 0) continue;
    const bool is_here = s->place.file == ast->main_file && s->place.line == line && s->place.column == column, is_local = s->kind == LANG_VARIABLE || s->kind == LANG_WEIGHTS;
    if (is_here) return s;
    if (is_local && found && !is_before(s->known_from, line, column + 1)) continue; /* what is assigned later is not meant, if something was before */
    found = s;
  }
  return found;
}
