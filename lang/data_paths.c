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

LangDataPath *lang_data_paths(Arena *arena, const Ast *ast, int *count) {
  LangDataPath *paths = NULL;
  *count = 0;
  for (int i = 0; i < ast->item_count; i++) {
    const Item *item = ast->items[i];
    if (item->kind != ITEM_DATA) continue;
    const char *path = path_of(ast, item->value);
    if (path) ARENA_PUSH(arena, paths, *count, ((LangDataPath){path, true}));
    for (int k = 0; k < item->data_count; k++) {
      const DataStmt *stmt = item->data[k];
      const bool is_order = !stmt->kind && strcmp(stmt->name, "order") == 0 && stmt->value;
      path = stmt->kind ? path_of(ast, stmt->value) : is_order ? text_of(ast, stmt->value) : NULL;
      if (path) ARENA_PUSH(arena, paths, *count, ((LangDataPath){path, false}));
    }
  }
  return paths;
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
