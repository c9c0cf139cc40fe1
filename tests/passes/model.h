/* model.h: the text of a model as a checked program. */
#include <stdio.h>
#include <string.h>

#include "compiler/graph/data.h"

/* NULL after an error, which is said on stdout. */
static TypedProgram *program_of(Arena *arena, const char *share_dir, const char *text) {
  Diags *diags = diags_new(arena);
  DataReader *reader = arena_alloc(arena, sizeof *reader);
  reader->arena = arena;
  reader->wants_blocks = true;
  LangOptions *lang = arena_alloc(arena, sizeof *lang);
  *lang = (LangOptions){.share_dir = share_dir, .describe = data_describe, .describe_user = reader};
  Ast *ast = lang_parse(arena, diags, "model.gnn", text, strlen(text), lang);
  TypedProgram *program = ast ? lang_check(arena, diags, ast, lang) : NULL;
  if (!program) diags_print(diags, stdout);
  return program;
}
