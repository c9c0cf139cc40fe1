/* format: a program that parses -> the same in canonical layout.
 *
 * Which statements share a line stays as it was written, but for blocks of several lines, whose braces end and begin a line. Two blanks
 * a level, one more level where a statement goes on; one blank around operators; at most one blank line, and none at the ends of a block.
 * Within a run of lines (no blank line, no block of several lines between) the "=" of settings, the ":" of declarations and the comments
 * behind statements stand in columns; comments that stand in one already stay there.
 */
#include "format.h"

#include <string.h>

#include "parse_state.h"
#include "source.h"
#include "syntax.h"
#include "parse.h"

enum { CELL_MAX = 4, INDENT = 2, WIDE_GAP = 2 }; /* WIDE_GAP: before a comment, and before the text of an option */

/* What lines have in common that are put in columns. */
typedef enum Shape { SHAPE_NONE, SHAPE_CONST, SHAPE_DECLARATION, SHAPE_PARAM, SHAPE_SETTING, SHAPE_BLOCK, SHAPE_COUNT } Shape;

typedef struct Line {
  int first, end;          /* tokens; none: a comment alone */
  const char *comment;     /* or NULL */
  int32_t comment_column;  /* where it stood */
  int indent;
  bool is_continuation, is_first_of_block, is_last_of_block, has_blank_before;
  bool is_attached;        /* a comment alone that goes on with the one above, behind a statement */
  Shape shape;
  int cell_count;
  const char *cells[CELL_MAX];
  const char *code;        /* the cells in their columns */
} Line;

typedef struct Open {
  int token;       /* the bracket */
  int indent;      /* of the line that it belongs to */
  Construct inside;
} Open;

typedef struct Formatter {
  Arena *arena;
  Source source;
  int token_count;
  Token *tokens;   /* without newlines, but with ";" */
  int *match;      /* of each bracket the other one; -1 */
  int line_count;
  Line *lines;
} Formatter;

/* ---- reading ---- */

static const char *line_text(const Formatter *f, int32_t line, size_t *length) { return source_line(&f->source, line, length); }

static bool is_semicolon(const Formatter *f, const Token *token) {
  size_t length;
  const char *line = line_text(f, token->span.place.line, &length);
  size_t at = (size_t)token->span.place.column - 1;
  return token->kind == TOK_NEWLINE && at < length && line[at] == ';';
}

static bool opens(int kind) { return kind == '{' || kind == '(' || kind == '['; }
static bool closes(int kind) { return kind == '}' || kind == ')' || kind == ']'; }

static Formatter read_tokens(Arena *arena, const char *text, size_t length) {
  Formatter f = {.arena = arena, .source = source_new(arena, "", text, length)};
  ParseState *state = arena_alloc(arena, sizeof *state);
  Diags *silent = diags_new(arena);
  state->builder = (AstBuilder){arena, silent, diags_add_source(silent, "", text, length)};
  if (!scan_open(state, text, length)) return f;
  for (Token token = scan_token(state); token.kind != TOK_END; token = scan_token(state))
    if (token.kind != TOK_NEWLINE || is_semicolon(&f, &token)) ARENA_PUSH(arena, f.tokens, f.token_count, token);
  scan_close(state);
  f.match = arena_alloc(arena, (size_t)(f.token_count + 1) * sizeof *f.match);
  int *stack = arena_alloc(arena, (size_t)(f.token_count + 1) * sizeof *stack), depth = 0;
  for (int i = 0; i < f.token_count; i++) {
    f.match[i] = -1;
    if (opens(f.tokens[i].kind)) stack[depth++] = i;
    if (closes(f.tokens[i].kind) && depth > 0) {
      f.match[i] = stack[--depth];
      f.match[f.match[i]] = i;
    }
  }
  return f;
}

/* The comment behind the last token of a source line, or NULL; its column. */
static const char *comment_of(const Formatter *f, int32_t line, int32_t after, int32_t *column) {
  size_t length;
  const char *text = line_text(f, line, &length);
  size_t at = (size_t)after - 1;
  while (at < length && strchr(" \t\r\f;", text[at])) at++;
  if (at >= length || text[at] != '#') return NULL;
  while (length > at && strchr(" \t\r\f", text[length - 1])) length--;
  *column = source_screen_width(text, length, at) + 1;
  return arena_strndup(f->arena, text + at, length - at);
}

/* ---- lines ---- */

/* A newline is swallowed after these: tokens.c. */
static bool goes_on(const Formatter *f, int token) { return token >= 0 && f->tokens[token].kind != '{' && f->tokens[token].kind != TOK_NEWLINE && tokens_continue(f->tokens[token].kind); }

static bool is_of_several_lines(const Formatter *f, int brace) {
  int other = f->match[brace];
  return other >= 0 && f->tokens[brace].span.place.line != f->tokens[other].span.place.line;
}

static bool breaks_before(const Formatter *f, int token) {
  if (f->tokens[token].kind == '}' && is_of_several_lines(f, token)) return true;
  return token > 0 && f->tokens[token - 1].kind == '{' && is_of_several_lines(f, token - 1);
}

/* A ";" that separates nothing. */
static bool is_idle(const Formatter *f, int token) {
  if (f->tokens[token].kind != TOK_NEWLINE) return false;
  int32_t line = f->tokens[token].span.place.line;
  bool is_last = token + 1 == f->token_count || f->tokens[token + 1].span.place.line != line || f->tokens[token + 1].kind == '}' || f->tokens[token + 1].kind == TOK_NEWLINE;
  return is_last || token == 0 || f->tokens[token - 1].span.place.line != line || f->tokens[token - 1].kind == '{';
}

static void drop_idle(Formatter *f) {
  int kept = 0, *now = arena_alloc(f->arena, (size_t)(f->token_count + 1) * sizeof *now);
  for (int i = 0; i < f->token_count; i++) now[i] = is_idle(f, i) ? -1 : kept++;
  for (int i = 0; i < f->token_count; i++) {
    if (now[i] < 0) continue;
    f->tokens[now[i]] = f->tokens[i];
    f->match[now[i]] = f->match[i] >= 0 ? now[f->match[i]] : -1;
  }
  f->token_count = kept;
}

static void split_lines(Formatter *f) {
  int token = 0;
  bool is_blank = false;
  for (int32_t number = 1; number <= f->source.line_count; number++) {
    int first = token;
    int32_t after = 1;
    while (token < f->token_count && f->tokens[token].span.place.line == number) {
      if (token > first && breaks_before(f, token)) {
        ARENA_PUSH(f->arena, f->lines, f->line_count, (Line){.first = first, .end = token, .has_blank_before = is_blank});
        is_blank = false;
        first = token;
      }
      after = f->tokens[token++].span.end_column;
    }
    Line line = {.first = first, .end = token, .has_blank_before = is_blank};
    line.comment = comment_of(f, number, after, &line.comment_column);
    is_blank = token == first && !line.comment;
    if (!is_blank) ARENA_PUSH(f->arena, f->lines, f->line_count, line);
  }
}

static Construct construct_inside(int kind, Construct outside) {
  if (outside == CONSTRUCT_CONF || kind == TOK_TRAIN || kind == TOK_TARGET || kind == TOK_PLAN) return CONSTRUCT_CONF;
  return kind == TOK_DATA ? CONSTRUCT_DATA : CONSTRUCT_STATEMENTS;
}

static Shape shape_of(const Formatter *f, const Line *line, Construct construct);

static void indent_lines(Formatter *f) {
  Open *stack = arena_alloc(f->arena, (size_t)(f->token_count + 1) * sizeof *stack);
  int depth = 0, statement_indent = 0, statement_kind = TOK_END;
  for (int i = 0; i < f->line_count; i++) {
    Line *line = &f->lines[i];
    const Open *top = depth ? &stack[depth - 1] : NULL;
    bool is_code = line->first < line->end;
    int first_kind = is_code ? f->tokens[line->first].kind : TOK_END;
    bool is_in_brackets = top && f->tokens[top->token].kind != '{';
    line->is_continuation = is_in_brackets || (is_code && first_kind == TOK_PIPE) || goes_on(f, line->first - 1);
    line->is_last_of_block = first_kind == '}';
    if (is_code && closes(first_kind) && top) line->indent = top->indent;
    else line->indent = (top ? top->indent + 1 : 0) + (line->is_continuation && !is_in_brackets);
    if (!is_code) continue;
    if (!line->is_continuation) {
      statement_indent = line->indent;
      if (first_kind != '}') statement_kind = first_kind;
      line->shape = shape_of(f, line, top ? top->inside : CONSTRUCT_PROGRAM);
    }
    for (int k = line->first; k < line->end; k++) {
      Construct outside = depth ? stack[depth - 1].inside : CONSTRUCT_PROGRAM;
      if (opens(f->tokens[k].kind)) {
        bool is_brace = f->tokens[k].kind == '{';
        stack[depth++] = (Open){k, is_brace ? statement_indent : line->indent, is_brace ? construct_inside(statement_kind, outside) : outside};
      } else if (closes(f->tokens[k].kind) && depth > 0) {
        depth--;
      }
    }
    line->is_first_of_block = f->tokens[line->end - 1].kind == '{';
  }
  for (int i = f->line_count - 1; i > 0; i--) { /* a comment alone within a statement goes with the line below */
    Line *line = &f->lines[i - 1];
    const Line *below = &f->lines[i];
    bool is_alone = line->first == line->end, is_below_further = below->is_continuation && below->indent > line->indent;
    if (is_alone && is_below_further) {
      line->indent = below->indent;
      line->is_continuation = true;
    }
  }
}

/* A comment alone, right below one behind a statement and in its column. */
static void attach_comments(Formatter *f) {
  for (int i = 1; i < f->line_count; i++) {
    Line *line = &f->lines[i];
    const Line *above = &f->lines[i - 1];
    bool is_alone = line->first == line->end, is_behind = above->first < above->end || above->is_attached;
    line->is_attached = is_alone && is_behind && above->comment && !line->has_blank_before && line->comment_column == above->comment_column;
  }
}

/* ---- blanks ---- */

static bool is_operand_end(int kind) {
  switch (kind) {
  case TOK_NAME: case TOK_NUMBER: case TOK_QUANTITY: case TOK_STRING: case TOK_TRUE: case TOK_FALSE: case TOK_TRAIN: case ')': case ']':
    return true;
  default:
    return false;
  }
}

static bool has_blank_between(const Formatter *f, int left) {
  int a = f->tokens[left].kind, b = f->tokens[left + 1].kind, before = left > 0 ? f->tokens[left - 1].kind : TOK_END;
  if (a == '(' || a == '[' || b == ')' || b == ']' || b == ',' || b == TOK_NEWLINE || a == '.' || b == '.') return false;
  if (a == '{' && b == '}') return false;
  if (a == '-' && !is_operand_end(before)) return false;
  return (b != '(' && b != '[') || a != TOK_NAME;
}

static const char *token_text(const Formatter *f, int token, size_t *length) {
  const Span *span = &f->tokens[token].span;
  *length = (size_t)(span->end_column - span->place.column);
  return line_text(f, span->place.line, &(size_t){0}) + span->place.column - 1;
}

static const char *code_of(const Formatter *f, int first, int end) {
  size_t room = 1, at = 0, length;
  for (int i = first; i < end; i++) {
    token_text(f, i, &length);
    room += length + 1;
  }
  char *code = arena_alloc(f->arena, room);
  for (int i = first; i < end; i++) {
    const char *text = token_text(f, i, &length);
    memcpy(code + at, text, length);
    at += length;
    if (i + 1 < end && has_blank_between(f, i)) code[at++] = ' ';
  }
  return code;
}

/* ---- columns ---- */

/* The first token of this kind outside brackets, up to a brace; -1 without one. */
static int find_outside(const Formatter *f, const Line *line, int kind) {
  int depth = 0;
  for (int i = line->first; i < line->end; i++) {
    int k = f->tokens[i].kind;
    if (depth == 0 && k == kind) return i;
    if (k == '{') return -1;
    depth += (k == '(' || k == '[') - (k == ')' || k == ']');
  }
  return -1;
}

static bool has_several_statements(const Formatter *f, const Line *line) {
  int depth = 0;
  for (int i = line->first; i < line->end; i++) {
    depth += (f->tokens[i].kind == '{') - (f->tokens[i].kind == '}');
    if (depth == 0 && f->tokens[i].kind == TOK_NEWLINE) return true;
  }
  return false;
}

static Shape shape_of(const Formatter *f, const Line *line, Construct construct) {
  if (has_several_statements(f, line)) return SHAPE_NONE;
  int first = f->tokens[line->first].kind;
  bool has_value = find_outside(f, line, '=') >= 0;
  switch (construct) {
  case CONSTRUCT_PROGRAM: return has_value && (first == TOK_CONST || first == TOK_OPTION) ? SHAPE_CONST : SHAPE_NONE;
  case CONSTRUCT_DATA: return find_outside(f, line, ':') == line->first + 2 ? SHAPE_DECLARATION : has_value ? SHAPE_SETTING : SHAPE_NONE;
  case CONSTRUCT_STATEMENTS: return first == TOK_PARAM ? SHAPE_PARAM : first == TOK_NAME && has_value ? SHAPE_SETTING : SHAPE_NONE;
  case CONSTRUCT_CONF: {
    if (has_value) return SHAPE_SETTING;
    int brace = find_outside(f, line, '{');
    return brace > line->first && f->match[brace] == line->end - 1 ? SHAPE_BLOCK : SHAPE_NONE;
  }
  case CONSTRUCT_CALL: case CONSTRUCT_PAREN: case CONSTRUCT_LIST: break;
  }
  return SHAPE_NONE;
}

/* Where the cells of a line begin, besides the first. */
static int find_cells(const Formatter *f, const Line *line, int *at) {
  int count = 0, equals = find_outside(f, line, '='), colon = find_outside(f, line, ':');
  switch (line->shape) {
  case SHAPE_CONST: {
    at[count++] = line->first + 1;
    at[count++] = equals;
    bool has_help = f->tokens[line->first].kind == TOK_OPTION && f->tokens[line->end - 1].kind == TOK_STRING && line->end - 1 > equals + 1;
    if (has_help) at[count++] = line->end - 1;
    break;
  }
  case SHAPE_DECLARATION: at[count++] = line->first + 1; /* fall through */
  case SHAPE_PARAM:
    if (colon >= 0) at[count++] = colon;
    if (equals > colon) at[count++] = equals;
    break;
  case SHAPE_SETTING: at[count++] = equals; break;
  case SHAPE_BLOCK: at[count++] = find_outside(f, line, '{'); break;
  case SHAPE_NONE: case SHAPE_COUNT: break;
  }
  return count;
}

static void cut_cells(Formatter *f, Line *line) {
  int at[CELL_MAX], count = find_cells(f, line, at), first = line->first;
  for (int i = 0; i <= count; i++) {
    int end = i < count ? at[i] : line->end;
    line->cells[line->cell_count++] = code_of(f, first, end);
    first = end;
  }
}

static int width_of(const char *text) {
  size_t length = strlen(text);
  return source_screen_width(text, length, length);
}

static bool ends_run(const Line *line) { return line->is_first_of_block || line->is_last_of_block || (line->is_continuation && line->first < line->end); }

/* Do two lines, one below the other, belong to one run? */
static bool is_run(const Line *above, const Line *below) {
  bool is_free = above->first == above->end || below->first == below->end; /* comments alone stand where they like */
  return !ends_run(above) && !ends_run(below) && !below->has_blank_before && (is_free || above->indent == below->indent);
}

static const char *in_columns(Arena *arena, const Line *line, const int *widths) {
  const char *code = "";
  for (int i = 0; i < line->cell_count; i++) {
    int gap = line->shape == SHAPE_CONST && i + 2 == CELL_MAX ? WIDE_GAP : 1;
    int padding = i + 1 == line->cell_count ? 0 : widths[i] - width_of(line->cells[i]) + gap;
    code = arena_printf(arena, "%s%s%*s", code, line->cells[i], padding, "");
  }
  return code;
}

/* Blocks on a line are in columns with those of their kind, up to one of another: links with links. */
static bool ends_like(const Formatter *f, const Line *first, const Line *line) {
  return first->shape == SHAPE_BLOCK && line->shape == SHAPE_BLOCK && strcmp(f->tokens[first->first].text, f->tokens[line->first].text) != 0;
}

/* The lines from `first` on that have its shape. */
static void align_like(Formatter *f, int first, int end) {
  int widths[CELL_MAX] = {0}, stop = first;
  for (; stop < end && !ends_like(f, &f->lines[first], &f->lines[stop]); stop++) {
    const Line *line = &f->lines[stop];
    for (int k = 0; line->shape == f->lines[first].shape && k + 1 < line->cell_count; k++) {
      int width = width_of(line->cells[k]);
      if (width > widths[k]) widths[k] = width;
    }
  }
  for (int i = first; i < stop; i++)
    if (f->lines[i].shape == f->lines[first].shape) f->lines[i].code = in_columns(f->arena, &f->lines[i], widths);
}

static void align_run(Formatter *f, int first, int end) {
  for (int i = first; i < end; i++)
    if (!f->lines[i].code) align_like(f, i, end);
}

/* ---- writing ---- */

/* Where the comments behind the statements of a run stand: right of every statement from the first of them to the last, or where they all are. */
static int comment_column(const Formatter *f, int first, int end) {
  int from = end, to = first, column = 0, common = -1;
  for (int i = first; i < end; i++) {
    const Line *line = &f->lines[i];
    if (!line->comment || line->first == line->end) continue;
    if (from == end) from = i;
    common = i == from || common == line->comment_column ? line->comment_column : 0;
    to = i + 1;
  }
  for (int i = from; i < to; i++) {
    int width = INDENT * f->lines[i].indent + width_of(f->lines[i].code);
    if (f->lines[i].first < f->lines[i].end && width > column) column = width;
  }
  return common > column + WIDE_GAP ? common - 1 : column + WIDE_GAP;
}

static void write_run(const Formatter *f, int first, int end, FILE *out) {
  int column = comment_column(f, first, end);
  for (int i = first; i < end; i++) {
    const Line *line = &f->lines[i];
    const Line *above = i > 0 ? &f->lines[i - 1] : NULL;
    if (line->has_blank_before && above && !above->is_first_of_block && !line->is_last_of_block) fputc('\n', out);
    int at = line->is_attached ? 0 : INDENT * line->indent;
    fprintf(out, "%*s%s", at, "", line->code);
    bool is_alone = line->first == line->end && !line->is_attached;
    if (line->comment) fprintf(out, "%*s%s", is_alone ? 0 : column - at - width_of(line->code), "", line->comment);
    fputc('\n', out);
  }
}

static const char *lay_out(Formatter *f) {
  char *text = NULL;
  size_t length;
  FILE *out = arena_open_text(f->arena, &text, &length);
  drop_idle(f);
  split_lines(f);
  indent_lines(f);
  attach_comments(f);
  for (int i = 0; i < f->line_count; i++) cut_cells(f, &f->lines[i]);
  for (int first = 0, end; first < f->line_count; first = end) {
    for (end = first + 1; end < f->line_count && (is_run(&f->lines[end - 1], &f->lines[end]) || f->lines[end].is_attached);) end++;
    align_run(f, first, end);
    write_run(f, first, end, out);
  }
  fclose(out);
  return text;
}

const char *format_program(Arena *arena, Diags *diags, const char *path, const char *text, size_t length) {
  if (!syntax_parses(arena, diags, path, text, length)) return NULL;
  const char *zero = memchr(text, 0, length); /* in a comment */
  if (zero) {
    int32_t line = 1, column = 1;
    for (const char *at = text; at < zero; at++) *at == '\n' ? (line++, column = 1) : column++;
    diags_error(diags, "E0107", (Place){diags_source_count(diags) - 1, line, column}, "byte 0x00 is not text");
    return NULL;
  }
  Formatter f = read_tokens(arena, text, length);
  return lay_out(&f);
}

/* ---- the same program ---- */

static int next_token(const Formatter *f, int at) {
  while (at < f->token_count && f->tokens[at].kind == TOK_NEWLINE) at++;
  return at;
}

static bool same_tokens(const Formatter *a, const Formatter *b) {
  int i = next_token(a, 0), k = next_token(b, 0);
  for (; i < a->token_count && k < b->token_count; i = next_token(a, i + 1), k = next_token(b, k + 1)) {
    size_t n, m;
    const char *one = token_text(a, i, &n), *other = token_text(b, k, &m);
    if (a->tokens[i].kind != b->tokens[k].kind || n != m || memcmp(one, other, n) != 0) return false;
  }
  return i == a->token_count && k == b->token_count;
}

static bool same_comments(const Formatter *a, const Formatter *b) {
  int i = 0, k = 0;
  for (;; i++, k++) {
    while (i < a->line_count && !a->lines[i].comment) i++;
    while (k < b->line_count && !b->lines[k].comment) k++;
    if (i == a->line_count || k == b->line_count) return i == a->line_count && k == b->line_count;
    if (strcmp(a->lines[i].comment, b->lines[k].comment) != 0) return false;
  }
}

bool format_same_tokens(Arena *arena, const char *one, size_t one_length, const char *other, size_t other_length) {
  Formatter a = read_tokens(arena, one, one_length), b = read_tokens(arena, other, other_length);
  split_lines(&a);
  split_lines(&b);
  return same_tokens(&a, &b) && same_comments(&a, &b);
}
