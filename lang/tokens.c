/* tokens: between the scanner and the grammar. Decides which newlines separate, knows which brackets are open, closes
 * blocks that were left open when the next item begins, and skips the rest of a statement that was reported. */
#include <string.h>

#include "parse_state.h"
#include "parse.h"

bool tokens_is_keyword(int kind) {
  switch (kind) {
  case TOK_IMPORT: case TOK_CONST: case TOK_OPTION: case TOK_DATA: case TOK_FROM: case TOK_LAYER: case TOK_MODEL: case TOK_ON:
  case TOK_TRAIN: case TOK_TARGET: case TOK_PLAN: case TOK_PARAM: case TOK_FOR: case TOK_IN: case TOK_IF: case TOK_ELSE:
  case TOK_RETURN: case TOK_OVER: case TOK_AS: case TOK_AND: case TOK_OR: case TOK_NOT: case TOK_TRUE: case TOK_FALSE:
    return true;
  default:
    return false;
  }
}

static bool begins_item(int kind) {
  switch (kind) {
  case TOK_IMPORT: case TOK_CONST: case TOK_OPTION: case TOK_DATA: case TOK_LAYER: case TOK_MODEL: case TOK_TRAIN:
  case TOK_TARGET: case TOK_PLAN:
    return true;
  default:
    return false;
  }
}

/* After these a line cannot end: the statement goes on. */
bool tokens_continue(int kind) {
  switch (kind) {
  case TOK_NEWLINE: case '{': case ',': case '=': case '+': case '-': case '*': case '/': case '@': case '^': case '<':
  case '>': case '?': case ':': case TOK_EQ: case TOK_NE: case TOK_LE: case TOK_GE: case TOK_AND: case TOK_OR: case TOK_NOT:
  case TOK_PIPE: case TOK_RANGE: case TOK_ARROW: case TOK_BOTH_WAYS:
    return true;
  default:
    return false;
  }
}

static Token take(ParseState *state) {
  if (state->queue_count == 0) return scan_token(state);
  Token token = state->queue[0];
  state->queue_count--;
  memmove(state->queue, state->queue + 1, (size_t)state->queue_count * sizeof *state->queue);
  return token;
}

/* The token `ahead` places behind the one handed out, without handing it out. */
static Token *look(ParseState *state, int ahead) {
  while (state->queue_count <= ahead) state->queue[state->queue_count++] = scan_token(state);
  return &state->queue[ahead];
}

Token tokens_peek(ParseState *state) {
  return *look(state, 0);
}

static bool is_brace(const Frame *frame) {
  return frame->construct < CONSTRUCT_CALL;
}

static bool is_in_brackets(const ParseState *state) {
  return state->frame_count > 0 && !is_brace(&state->frames[state->frame_count - 1]);
}

static int32_t indentation(const ParseState *state) {
  return state->line_token_count > 0 ? state->line_tokens[0].span.place.column : 1;
}

static Construct construct_of_brace(const ParseState *state) {
  int kind = state->line_token_count > 0 ? state->line_tokens[0].kind : TOK_END;
  if (state->frame_count > 0 && state->frames[state->frame_count - 1].construct == CONSTRUCT_CONF) return CONSTRUCT_CONF;
  if (kind == TOK_TRAIN || kind == TOK_TARGET || kind == TOK_PLAN) return CONSTRUCT_CONF;
  return kind == TOK_DATA ? CONSTRUCT_DATA : CONSTRUCT_STATEMENTS;
}

static const char *frame_name(ParseState *state, const Token *token) {
  Arena *arena = state->builder.arena;
  if (token->kind == '(') return state->recent[0].kind == TOK_NAME ? state->recent[0].text : "";
  if (token->kind == '[' || state->line_token_count == 0) return "";
  const Token *first = &state->line_tokens[0];
  const char *word = first->text;
  bool has_name = state->line_token_count > 1 && state->line_tokens[1].kind == TOK_NAME;
  return has_name ? arena_printf(arena, "%s %s", word, state->line_tokens[1].text) : word;
}

static void push_frame(ParseState *state, const Token *token) {
  if (state->frame_count == FRAME_MAX) {
    diags_error(state->builder.diags, "E0111", token->span.place, "brackets are nested more than %d deep", FRAME_MAX);
    return;
  }
  Frame frame = {.name = frame_name(state, token), .place = token->span.place};
  frame.indentation = indentation(state);
  if (token->kind == '{') frame.construct = construct_of_brace(state);
  else if (token->kind == '[') frame.construct = CONSTRUCT_LIST;
  else frame.construct = *frame.name ? CONSTRUCT_CALL : CONSTRUCT_PAREN;
  state->frames[state->frame_count++] = frame;
}

static void drop_open_brackets(ParseState *state) {
  while (is_in_brackets(state)) state->frame_count--;
}

static void follow_brackets(ParseState *state, const Token *token) {
  switch (token->kind) {
  case '{':
    push_frame(state, token);
    break;
  case '(': case '[':
    if (!state->is_skipping) push_frame(state, token);
    break;
  case '}':
    drop_open_brackets(state);
    if (state->frame_count > 0) state->frame_count--;
    break;
  case ')': case ']':
    if (is_in_brackets(state)) state->frame_count--;
    break;
  default:
    break;
  }
}

static Token remember(ParseState *state, Token token) {
  follow_brackets(state, &token);
  bool is_new_line = state->last_kind == TOK_NEWLINE || state->last_kind == '{' || state->line_token_count == 0;
  if (is_new_line && token.kind != TOK_NEWLINE && token.kind != TOK_END) state->line_token_count = 0;
  if (state->line_token_count < LINE_TOKENS && token.kind != TOK_NEWLINE && token.kind != TOK_END)
    state->line_tokens[state->line_token_count++] = token;
  memmove(state->recent + 1, state->recent, (RECENT_TOKENS - 1) * sizeof *state->recent);
  state->recent[0] = token;
  if (token.kind == '}') state->closed = token.span.place;
  state->last_kind = token.kind;
  return token;
}

/* Does the token, first of its line inside a block, begin the next item instead? */
static bool is_item_start(ParseState *state, const Token *token) {
  if (!begins_item(token->kind)) return false;
  int next = look(state, 0)->kind;
  return token->kind == TOK_PLAN ? next == '{' : token->kind == TOK_IMPORT ? next == TOK_STRING : next == TOK_NAME;
}

static Token closing_token(int kind, Span at) {
  at.end_line = at.place.line;
  at.end_column = at.place.column;
  return (Token){.kind = kind, .span = at, .text = ""};
}

void tokens_skip_statement(ParseState *state) {
  int kind = state->recent[0].kind;
  drop_open_brackets(state);
  if (kind == TOK_NEWLINE || kind == TOK_END || kind == '}') return;
  state->is_skipping = true;
  state->skip_brackets = 0;
  state->skip_depth = state->frame_count - (kind == '{' && state->frame_count > 0 ? 1 : 0);
}

/* Swallows until the statement ends; true when `token` is what ends it. */
static bool ends_skipping(ParseState *state, const Token *token) {
  if (token->kind == TOK_END) return true;
  if (token->kind == TOK_NEWLINE) {
    const Token *next = look(state, 0);
    bool is_indented = state->line_token_count > 0 && next->span.place.column > state->line_tokens[0].span.place.column;
    bool goes_on = next->kind == TOK_PIPE || next->kind == TOK_NEWLINE || (state->skip_brackets > 0 && is_indented && next->kind != TOK_END);
    return !goes_on && state->frame_count <= state->skip_depth;
  }
  if (token->kind == '(' || token->kind == '[') state->skip_brackets++;
  if (token->kind == ')' || token->kind == ']') state->skip_brackets--;
  if (token->kind == '}' && state->frame_count <= state->skip_depth) return true;
  follow_brackets(state, token);
  return false;
}

Token tokens_next(ParseState *state) {
  for (;;) {
    if (state->closing_count > 0) {
      state->closing_count--;
      Token after = *look(state, 0);
      return remember(state, closing_token(state->closing_count % 2 ? '}' : TOK_NEWLINE, after.span));
    }
    Token token = take(state);
    if (state->is_skipping) {
      if (!ends_skipping(state, &token)) continue;
      state->is_skipping = false;
      if (token.kind == TOK_NEWLINE) return remember(state, token);
    }
    if (token.kind == TOK_NEWLINE) {
      if (is_in_brackets(state) || tokens_continue(state->last_kind)) continue;
      while (look(state, 0)->kind == TOK_NEWLINE) take(state);
      if (look(state, 0)->kind == TOK_PIPE) continue;
      return remember(state, token);
    }
    bool is_line_start = state->last_kind == TOK_NEWLINE || state->last_kind == '{';
    if (is_line_start && state->frame_count > 0 && is_item_start(state, &token)) {
      syntax_error_open_block(state, &token);
      memmove(state->queue + 1, state->queue, (size_t)state->queue_count * sizeof *state->queue);
      state->queue[0] = token;
      state->queue_count++;
      state->closing_count = 2 * state->frame_count;
      continue;
    }
    return remember(state, token);
  }
}

int tokens_first_kind(void) {
  return TOK_NEWLINE;
}
