/* syntax: text -> syntax tree of the whole program, imports and the standard layers it uses included. */
#define _POSIX_C_SOURCE 200809L
#include "../runtime/base/open.h"
#include "syntax.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "parse_state.h"
#include "suggest.h"

typedef struct Reader {
  Arena *arena;
  Diags *diags;
  Ast *ast;
  const LangOptions *options;
  int depth; /* of imports */
  bool is_in_standard; /* what is looked through is a layer of std */
} Reader;

enum { IMPORT_DEPTH_MAX = 30 };

static void parse_source(Reader *reader, int32_t file);

static uint64_t fingerprint(uint64_t hash, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3u;
  return hash;
}

static const char *directory_of(Arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? arena_strndup(arena, path, (size_t)(slash - path) + 1) : "";
}

static const char *join(Arena *arena, const char *directory, const char *name) {
  size_t length = strlen(directory);
  bool needs_slash = length > 0 && directory[length - 1] != '/';
  return arena_printf(arena, "%s%s%s", directory, needs_slash ? "/" : "", name);
}

static bool is_read_already(const Reader *reader, const char *path) {
  for (int32_t i = 0; i < diags_source_count(reader->diags); i++)
    if (strcmp(diags_source_path(reader->diags, i), path) == 0) return true;
  return false;
}

/* Reads and parses one more file; false when there is none of that name. */
static bool read_and_parse(Reader *reader, const char *path, Place wanted_at) {
  if (is_read_already(reader, path)) return true;
  size_t length;
  errno = 0;
  char *text = arena_read_file(reader->arena, path, &length);
  if (!text) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    diags_error(reader->diags, "E0001", wanted_at, "cannot read %s: %s", path, gnn_open_reason(errno));
    return true;
  }
  parse_source(reader, diags_add_source(reader->diags, path, text, length));
  return true;
}

static void report_missing_import(Reader *reader, const Item *item) {
  const char *looked = "./";
  for (int i = 0; i < reader->options->import_dir_count; i++)
    looked = arena_printf(reader->arena, "%s, %s", looked, reader->options->import_dirs[i]);
  if (reader->options->import_dir_count == 0) looked = arena_printf(reader->arena, "%s, -I dirs, $GNNCC_PATH", looked);
  if (reader->options->share_dir) looked = arena_printf(reader->arena, "%s, %s", looked, reader->options->share_dir);
  diags_error(reader->diags, "E0208", item->name_place, "cannot find \"%s\"; looked in: %s", item->name, looked);
  Suggest suggest = {.wanted = item->name};
  syntax_each_shared(reader->arena, reader->options, "targets", syntax_offer_path, &suggest);
  syntax_each_shared(reader->arena, reader->options, "std", syntax_offer_path, &suggest);
  if (suggest.count) diags_help(reader->diags, "there is \"%s\"", suggest.name[0]);
}

static void follow_import(Reader *reader, const Item *item) {
  if (reader->depth >= IMPORT_DEPTH_MAX) {
    diags_error(reader->diags, "E0111", item->place, "imports are nested more than %d deep", IMPORT_DEPTH_MAX);
    return;
  }
  const char *beside = directory_of(reader->arena, diags_source_path(reader->diags, item->place.file));
  bool is_absolute = item->name[0] == '/';
  if (read_and_parse(reader, is_absolute ? item->name : join(reader->arena, beside, item->name), item->name_place)) return;
  for (int i = 0; i < reader->options->import_dir_count && !is_absolute; i++)
    if (read_and_parse(reader, join(reader->arena, reader->options->import_dirs[i], item->name), item->name_place)) return;
  if (reader->options->share_dir && !is_absolute &&
      read_and_parse(reader, join(reader->arena, reader->options->share_dir, item->name), item->name_place))
    return;
  report_missing_import(reader, item);
}

/* One text, without what it imports. */
static void parse_alone(Arena *arena, Diags *diags, int32_t file, Ast *ast) {
  size_t length;
  const char *text = diags_source_text(diags, file, &length);
  ParseState *state = arena_alloc(arena, sizeof *state);
  state->builder = (AstBuilder){arena, diags, file};
  state->ast = ast;
  state->last_kind = tokens_first_kind();
  if (!scan_open(state, text, length)) {
    diags_error(diags, "E0001", (Place){file, 0, 0}, "out of memory");
    return;
  }
  parse_program(state);
  scan_close(state);
}

static void parse_source(Reader *reader, int32_t file) {
  size_t length;
  const char *text = diags_source_text(reader->diags, file, &length);
  Ast own = {.item_count = 0};
  reader->ast->text_fingerprint = fingerprint(reader->ast->text_fingerprint, text, length);
  parse_alone(reader->arena, reader->diags, file, &own);

  reader->depth++;
  for (int i = 0; i < own.item_count; i++)
    if (own.items[i]->kind == ITEM_IMPORT) follow_import(reader, own.items[i]);
  reader->depth--;
  for (int i = 0; i < own.item_count; i++) ARENA_PUSH(reader->arena, reader->ast->items, reader->ast->item_count, own.items[i]);
}

bool syntax_parses(Arena *arena, Diags *diags, const char *path, const char *text, size_t length) {
  Ast ast = {.item_count = 0};
  int errors = diags_error_count(diags);
  parse_alone(arena, diags, diags_add_source(diags, path, text, length), &ast);
  return diags_error_count(diags) == errors;
}

/* ---- the standard layers ---- */

bool syntax_is_standard(const Diags *diags, const char *share_dir, const Ast *ast, const Item *item) {
  if (!share_dir || item->place.file == ast->main_file) return false;
  const char *path = diags_source_path(diags, item->place.file);
  const size_t length = strlen(share_dir);
  return strncmp(path, share_dir, length) == 0 && strncmp(path + length, "/std/", 5) == 0;
}

/* Standard layers call each other, whatever layers of the program have their names. */
static bool has_layer(const Reader *reader, const char *name, bool is_for_standard) {
  const Ast *ast = reader->ast;
  for (int i = 0; i < ast->item_count; i++) {
    const Item *item = ast->items[i];
    if (item->kind != ITEM_LAYER || strcmp(item->name, name) != 0) continue;
    if (!is_for_standard || syntax_is_standard(reader->diags, reader->options->share_dir, ast, item)) return true;
  }
  return false;
}

static bool has_target(const Ast *ast, const char *name) {
  for (int i = 0; i < ast->item_count; i++)
    if (ast->items[i]->kind == ITEM_TARGET && strcmp(ast->items[i]->name, name) == 0) return true;
  return false;
}

static void want_layer(Reader *reader, const char *name) {
  if (!reader->options->share_dir || has_layer(reader, name, reader->is_in_standard)) return;
  char *lower = arena_strdup(reader->arena, name);
  for (char *c = lower; *c; c++) *c = (char)tolower((unsigned char)*c);
  const char *path = join(reader->arena, reader->options->share_dir, arena_printf(reader->arena, "std/%s.gnn", lower));
  read_and_parse(reader, path, diags_no_place());
}

static void want_layers_of_expr(Reader *reader, const Expr *expr) {
  if (!expr) return;
  if (expr->kind == EXPR_CALL) want_layer(reader, expr->text);
  if (expr->kind == EXPR_PIPE && expr->b->kind == EXPR_NAME) want_layer(reader, expr->b->text);
  if (expr->kind == EXPR_AS && expr->a->kind == EXPR_NAME) want_layer(reader, expr->a->text);
  for (int i = 0; i < expr->arg_count; i++) want_layers_of_expr(reader, expr->args[i].value);
  want_layers_of_expr(reader, expr->a);
  want_layers_of_expr(reader, expr->b);
  want_layers_of_expr(reader, expr->c);
}

static void want_layers_of_block(Reader *reader, const Block *block) {
  for (int i = 0; block && i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    want_layers_of_expr(reader, stmt->value);
    want_layers_of_expr(reader, stmt->to);
    for (int k = 0; k < stmt->result_count; k++) want_layers_of_expr(reader, stmt->results[k]);
    want_layers_of_block(reader, stmt->body);
    want_layers_of_block(reader, stmt->other);
  }
}

/* Items grow while files are read, so that layers used by standard layers are found too. */
static void read_standard_layers(Reader *reader) {
  for (int i = 0; i < reader->ast->item_count; i++) {
    const Item *item = reader->ast->items[i];
    if (item->kind != ITEM_LAYER && item->kind != ITEM_MODEL) continue;
    reader->is_in_standard = syntax_is_standard(reader->diags, reader->options->share_dir, reader->ast, item);
    want_layers_of_block(reader, item->block);
  }
}

static void read_target(Reader *reader) {
  const char *name = reader->options->target;
  if (!name || strcmp(name, "native") == 0 || has_target(reader->ast, name)) return;
  bool is_path = strchr(name, '/') || (strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".gnn") == 0);
  if (is_path) {
    if (!read_and_parse(reader, name, diags_no_place())) diags_error(reader->diags, "E0001", diags_no_place(), "cannot read %s: %s", name, gnn_open_reason(errno));
    return;
  }
  if (reader->options->share_dir)
    read_and_parse(reader, join(reader->arena, reader->options->share_dir, arena_printf(reader->arena, "targets/%s.gnn", lang_target_name(reader->arena, name))), diags_no_place());
}

/* Which lines of a file are of a target or a plan; they stand on lines of their own. */
static bool *lines_about_machines(const Reader *reader, int32_t file, int32_t line_count) {
  bool *are = arena_alloc(reader->arena, (size_t)line_count + 1);
  for (int i = 0; i < reader->ast->item_count; i++) {
    const Item *item = reader->ast->items[i];
    if (item->span.place.file != file || (item->kind != ITEM_TARGET && item->kind != ITEM_PLAN)) continue;
    for (int32_t line = item->span.place.line; line <= item->span.end_line && line <= line_count; line++) are[line] = true;
  }
  return are;
}

static uint64_t fingerprint_of_model(const Reader *reader) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (int32_t file = 0; file < diags_source_count(reader->diags); file++) {
    size_t length;
    const char *text = diags_source_text(reader->diags, file, &length);
    int32_t line = 1, line_count = 1;
    for (size_t i = 0; i < length; i++) line_count += text[i] == '\n';
    const bool *is_about_machines = lines_about_machines(reader, file, line_count);
    for (size_t at = 0; at < length; line++) {
      size_t end = at;
      while (end < length && text[end] != '\n') end++;
      while (at < end && isspace((unsigned char)text[at])) at++;
      bool says_something = at < end && text[at] != '#';
      if (says_something && !is_about_machines[line]) hash = fingerprint(hash, text + at, end - at);
      at = end + 1;
    }
  }
  return hash;
}

Ast *lang_parse(Arena *arena, Diags *diags, const char *path, const char *text, size_t length, const LangOptions *options) {
  Reader reader = {.arena = arena, .diags = diags, .options = options};
  reader.ast = arena_alloc(arena, sizeof *reader.ast);
  reader.ast->text_fingerprint = 0xCBF29CE484222325u;
  int errors = diags_error_count(diags);
  reader.ast->main_file = diags_add_source(diags, path, text, length);
  parse_source(&reader, reader.ast->main_file);
  read_standard_layers(&reader);
  read_target(&reader);
  reader.ast->model_fingerprint = fingerprint_of_model(&reader);
  return diags_error_count(diags) > errors ? NULL : reader.ast;
}

const Expr *syntax_parse_value(Arena *arena, Diags *diags, const char *label, const char *text) {
  Ast ast = {.item_count = 0};
  const char *program = arena_printf(arena, "const value = %s", text);
  int32_t file = diags_add_source(diags, label, program, strlen(program));
  int errors = diags_error_count(diags);
  parse_alone(arena, diags, file, &ast);
  bool is_one = ast.item_count == 1 && ast.items[0]->kind == ITEM_CONST && diags_error_count(diags) == errors;
  return is_one ? ast.items[0]->value : NULL;
}

const Ast *syntax_parse_quietly(Arena *arena, const LangOptions *options, const char *path) {
  Reader reader = {.arena = arena, .diags = diags_new(arena), .options = options};
  reader.ast = arena_alloc(arena, sizeof *reader.ast);
  read_and_parse(&reader, join(arena, options->share_dir, path), diags_no_place());
  return reader.ast;
}
