/* tokens_dump: what the scanner sees, for --dump=scan. */
#include <string.h>

#include "lang.h"
#include "parse_state.h"
#include "parse.h"

static const char *kind_text(const Token *token, Arena *arena) {
  if (tokens_is_keyword(token->kind)) return "keyword";
  if (token->kind == TOK_NEWLINE) return "newline";
  if (token->kind < 256) return arena_printf(arena, "'%c'", token->kind);
  return token->text ? "word" : "operator";
}

void lang_dump_tokens(Arena *arena, const char *text, size_t length, FILE *out) {
  Diags *diags = diags_new(arena); /* what is wrong is said by parse */
  ParseState *state = arena_alloc(arena, sizeof *state);
  Ast ast = {.item_count = 0};
  state->builder = (AstBuilder){arena, diags, diags_add_source(diags, "", text, length)};
  state->ast = &ast;
  state->last_kind = tokens_first_kind();
  if (!scan_open(state, text, length)) return;
  for (;;) {
    Token token = scan_token(state);
    if (token.kind == TOK_END) break;
    fprintf(out, "%d:%d\t%s\t%s\n", (int)token.span.place.line, (int)token.span.place.column, kind_text(&token, arena),
            token.text ? token.text : "");
  }
  scan_close(state);
}
