/* data_paths: which files and folders the data blocks of a program name, before anything of it is checked: what `gnncc -M` tells make. */
#include <ctype.h>
#include <string.h>

#include "ast.h"
#include "lang.h"

/* A text, or a constant that is one. */
static const char *text_of(const Ast *ast, const Expr *e) {
  if (e->kind == EXPR_STRING) return e->text;
  for (int i = 0; e->kind == EXPR_NAME && i < ast->item_count; i++) {
    const Item *item = ast->items[i];
    if (item->kind == ITEM_CONST && strcmp(item->name, e->text) == 0 && item->value->kind == EXPR_STRING) return item->value->text;
  }
  return NULL;
}

/* The first text among the arguments of a source; NULL: it is made up. */
static const char *path_of(const Ast *ast, const Expr *source) {
  if (!source || source->kind != EXPR_CALL) return source ? text_of(ast, source) : NULL;
  if (strcmp(source->text, "synth") == 0 || strcmp(source->text, "karate") == 0) return NULL;
  for (int i = 0; i < source->arg_count; i++)
    if (text_of(ast, source->args[i].value)) return text_of(ast, source->args[i].value);
  return NULL;
}

typedef struct Paths {
  Arena *arena;
  int count;
  LangDataPath *paths;
} Paths;

static void add(Paths *paths, const char *path, bool is_source) {
  if (path) ARENA_PUSH(paths->arena, paths->paths, paths->count, ((LangDataPath){path, is_source}));
}

/* The tables of csv, the folder of the size of igb("igb", "tiny"), of all others one path. */
static void add_source(Paths *paths, const Ast *ast, const Expr *source) {
  const bool is_call = source && source->kind == EXPR_CALL, is_csv = is_call && strcmp(source->text, "csv") == 0;
  const char *path = path_of(ast, source), *size = NULL;
  for (int i = 0; is_csv && i < source->arg_count; i++) {
    const Arg *arg = &source->args[i];
    if (!arg->name || strcmp(arg->name, "edges") == 0 || strcmp(arg->name, "nodes") == 0) add(paths, text_of(ast, arg->value), true);
  }
  if (is_csv) return;
  for (int i = 1; path && is_call && strcmp(source->text, "igb") == 0 && i < source->arg_count && !size; i++) size = text_of(ast, source->args[i].value);
  add(paths, size ? arena_printf(paths->arena, "%s/%s", path, size) : path, true);
}

LangDataPath *lang_data_paths(Arena *arena, const Ast *ast, int *count) {
  Paths paths = {.arena = arena};
  for (int i = 0; i < ast->item_count; i++) {
    const Item *item = ast->items[i];
    if (item->kind != ITEM_DATA) continue;
    add_source(&paths, ast, item->value);
    for (int k = 0; k < item->data_count; k++) {
      const DataStmt *stmt = item->data[k];
      const bool is_order = !stmt->kind && strcmp(stmt->name, "order") == 0 && stmt->value;
      add(&paths, stmt->kind ? path_of(ast, stmt->value) : is_order ? text_of(ast, stmt->value) : NULL, false);
    }
  }
  *count = paths.count;
  return paths.paths;
}

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool has_word(const char *text, size_t length, const char *word) {
  const size_t n = strlen(word);
  for (size_t i = 0; i + n <= length; i++)
    if (strncmp(text + i, word, n) == 0 && (i == 0 || !is_of_name(text[i - 1])) && (i + n == length || !is_of_name(text[i + n]))) return true;
  return false;
}

static bool lines_have_word(const char *text, size_t length, int first, int last, const char *word) {
  int line = 1;
  for (size_t at = 0, end; at < length; at = end + 1, line++) {
    for (end = at; end < length && text[end] != '\n';) end++;
    if (line >= first && line <= last && has_word(text + at, end - at, word)) return true;
  }
  return false;
}

bool lang_data_mention(const Ast *ast, const Diags *diags, const char *word) {
  for (int i = 0; i < ast->item_count; i++) {
    const Item *item = ast->items[i];
    size_t length;
    if (item->kind != ITEM_DATA) continue;
    const char *text = diags_source_text(diags, item->span.place.file, &length);
    if (lines_have_word(text, length, item->span.place.line, item->span.end_line, word)) return true;
  }
  return false;
}
