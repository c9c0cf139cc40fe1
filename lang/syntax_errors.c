/* syntax_errors: the words for what the grammar does not accept, from the construct one is in, the token that was found
 * and the few before it. */
#include <string.h>

#include "check.h"
#include "known.h"
#include "parse_state.h"
#include "parse.h"
#include "source.h"
#include "suggest.h"

static const char *const item_words[] = {"import", "const", "option", "data", "layer", "model", "train", "target", "plan"};
enum { ITEM_WORDS = sizeof item_words / sizeof *item_words };

static const char *describe(ParseState *state, const Token *token) {
  Arena *arena = state->builder.arena;
  switch (token->kind) {
  case TOK_END: return "the end of the file";
  case TOK_NEWLINE: return strcmp(token->text, ";") == 0 ? "\";\"" : "the end of the line";
  case TOK_NUMBER: return arena_printf(arena, "the number %s", token->text);
  case TOK_QUANTITY: return arena_printf(arena, "the quantity %.9g%s", token->number, token->text);
  case TOK_STRING: return arena_printf(arena, "the string \"%s\"", token->text);
  default: return arena_printf(arena, "\"%s\"", token->text);
  }
}

static const Frame *innermost(const ParseState *state) {
  return state->frame_count > 0 ? &state->frames[state->frame_count - 1] : NULL;
}

/* The frame around the token found: a bracket that the token itself opens or closes is not it. */
static const Frame *frame_around(const ParseState *state, const Token *found) {
  int count = state->frame_count;
  if (count > 0 && (found->kind == '(' || found->kind == '[' || found->kind == '{')) count--;
  return count > 0 ? &state->frames[count - 1] : NULL;
}

static Construct construct_of(const Frame *frame) {
  return frame ? frame->construct : CONSTRUCT_PROGRAM;
}

/* ---- E0101: a block without its end ---- */

/* The last line of the block if indentation tells the truth: what follows its opening line and is indented deeper. */
static int32_t last_indented_line(const ParseState *state, const Frame *frame) {
  size_t length;
  const char *text = diags_source_text(state->builder.diags, state->builder.file, &length);
  int32_t line = 1, last = frame->place.line;
  for (size_t i = 0; i < length; line++) {
    size_t start = i;
    while (i < length && (text[i] == ' ' || text[i] == '\t')) i++;
    int32_t column = (int32_t)(i - start) + 1;
    bool is_blank = i == length || text[i] == '\n' || text[i] == '#' || text[i] == '\r';
    while (i < length && text[i] != '\n') i++;
    if (i < length) i++;
    if (line <= frame->place.line || is_blank) continue;
    if (column <= frame->indentation) break;
    last = line;
  }
  return last;
}

static void help_where_block_ends(ParseState *state, const Frame *frame) {
  int32_t last = last_indented_line(state, frame);
  diags_label(state->builder.diags, frame->place, 1, "opens here");
  if (last > frame->place.line) diags_help(state->builder.diags, "indentation suggests the \"}\" belongs after line %d", last);
}

void syntax_error_open_block(ParseState *state, const Token *found) {
  const Frame *frame = &state->frames[0];
  for (int i = 1; i < state->frame_count; i++)
    if (last_indented_line(state, &state->frames[i]) < found->span.place.line) frame = &state->frames[i];
  diags_error(state->builder.diags, "E0101", found->span.place, "\"%s\" begins here, but \"%s\", which opens at line %d, has no \"}\" yet",
              found->text, frame->name, frame->place.line);
  help_where_block_ends(state, frame);
}

static void file_ends(ParseState *state, const Token *found) {
  const Frame *frame = innermost(state);
  for (int i = state->frame_count - 1; i >= 0; i--)
    if (state->frames[i].construct < CONSTRUCT_CALL) {
      frame = &state->frames[i];
      break;
    }
  diags_error(state->builder.diags, "E0101", found->span.place, "the file ends inside \"%s\", which opens at line %d",
              *frame->name ? frame->name : "(", frame->place.line);
  help_where_block_ends(state, frame);
}

/* ---- E0106: another language ---- */

static const char *rest_of_line(ParseState *state, Place from) {
  size_t length;
  const char *text = diags_source_text(state->builder.diags, state->builder.file, &length);
  int32_t line = 1;
  size_t i = 0;
  for (; i < length && line < from.line; i++) line += text[i] == '\n';
  i += (size_t)from.column - 1;
  size_t end = i;
  while (end < length && text[end] != '\n' && text[end] != '\r' && text[end] != '#') end++;
  while (end > i && (text[end - 1] == ' ' || text[end - 1] == ';')) end--;
  return i < length ? arena_strndup(state->builder.arena, text + i, end - i) : "";
}

static bool is_one_of(const char *word, const char *const *words, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(word, words[i]) == 0) return true;
  return false;
}

static bool looks_like_python(const ParseState *state, const Token *found) {
  static const char *const statements[] = {"def", "class", "with", "while", "print", "async", "del", "lambda", "elif", "try", "raise"};
  const Token *first = &state->line_tokens[0];
  if (state->line_token_count == 0) return false;
  if (found->kind == TOK_WALRUS || found->kind == TOK_STAR_STAR) return true;
  if (first->kind == TOK_FROM && construct_of(innermost(state)) != CONSTRUCT_CONF) return true;
  if (first->kind == TOK_IMPORT && found->kind == TOK_NAME) return true;
  if (first->kind == TOK_NAME && is_one_of(first->text, statements, sizeof statements / sizeof *statements)) return true;
  if (first->kind == TOK_NAME && strcmp(first->text, "self") == 0) return true;
  return found->kind == '(' && state->recent[1].kind == TOK_NAME && state->recent[2].kind == '.'; /* F.relu(h) */
}

/* torch.cat(h, z), F.relu(h): by the name it has here, or by what there is for it; of names without a meaning here no use is shown. */
static void note_function(ParseState *state, const char *name) {
  Diags *diags = state->builder.diags;
  Arena *arena = state->builder.arena;
  const char *ours = known_alias_of(name), *training = check_in_training(arena, ours ? ours : name);
  bool is_missing;
  const char *instead = ours ? NULL : known_instead(name, &is_missing);
  if (!ours && !instead) instead = known_instead_in_training(name);
  if (instead) diags_note(diags, "here instead of %s: %s", name, instead);
  else if (ours && !known_is_name(ours)) diags_note(diags, "here: %s", known_use(arena, ours));
  else if (training) diags_note(diags, "here %s", training);
  else if (ours) diags_note(diags, "here functions have plain names: %s(...)", ours);
  else diags_note(diags, "here functions have plain names (gnncc --list functions, --list layers)%s", check_is_function(name) || strcmp(name, "Linear") == 0 ? arena_printf(arena, ": %s(...)", name) : "");
}

/* "self.conv1 = GCNConv(16, 7)" and "h := x" have a form of their own here. */
static void note_translation(ParseState *state, const Token *found) {
  const Token *first = &state->line_tokens[0];
  const char *line = rest_of_line(state, first->span.place), *equals = strchr(line, '=');
  Diags *diags = state->builder.diags;
  if (strncmp(line, "self.", 5) == 0 && equals) {
    size_t length = strcspn(line + 5, " =");
    diags_note(diags, "a layer is made where it is called and named with \"as\": h = x |> GCN(16) as %.*s", (int)length, line + 5);
  } else if (found->kind == TOK_WALRUS) {
    diags_note(diags, "here: %s = ...", first->text);
  } else if (found->kind == TOK_STAR_STAR) {
    diags_note(diags, "a power is written a ^ b");
  } else if (first->kind == TOK_IMPORT || first->kind == TOK_FROM) {
    diags_note(diags, "nothing needs importing: GCN, relu, adam are known; other files of this language: import \"file.gnn\"");
  } else if (strcmp(first->text, "def") == 0 || strcmp(first->text, "class") == 0) {
    diags_note(diags, "here: model gcn on cora { h = x |> GCN(16) as conv1 |> relu ... }");
  } else if (found->kind == '(') {
    note_function(state, state->recent[1].text);
  } else {
    diags_note(diags, "here: h = x |> GCN(16) as conv1");
  }
}

static void report_python(ParseState *state, const Token *found) {
  const bool is_call = found->kind == '(' && state->recent[1].kind == TOK_NAME && state->recent[2].kind == '.' && strcmp(state->line_tokens[0].text ? state->line_tokens[0].text : "", "self") != 0;
  Place place = found->kind == TOK_WALRUS || found->kind == TOK_STAR_STAR ? found->span.place : is_call ? state->recent[1].span.place : state->line_tokens[0].span.place;
  if (!state->has_seen_python) {
    diags_error(state->builder.diags, "E0106", place, "this looks like Python; a gnncc model is an expression over named data");
    note_translation(state, found);
  }
  state->has_seen_python = true;
}

/* ---- E0104: a keyword where a name belongs ---- */

static void report_keyword(ParseState *state, const Token *found) {
  static const struct { const char *word, *use, *names; } uses[] = {
      {"in", "for i in 1 .. n", "f or width"},          {"on", "model gcn on cora", "source or base"},
      {"from", "data d from karate()", "source or begin"}, {"as", "GCN(16) as conv1", "name or a"},
      {"over", "sum(src.x) over cites", "above or upon"},  {"for", "for i in 1 .. n", "times or target_of"},
      {"if", "if n > 1 { ... }", "condition or test"},     {"data", "data d from karate()", "input or graph_data"},
      {"model", "model gcn on cora", "net or body"},       {"layer", "layer L(x, out)", "level or depth"},
      {"train", "train gcn { ... }", "training or fit"},   {"target", "target laptop { ... }", "goal or wanted"},
      {"param", "param w : [f]", "weight or p"},           {"option", "option lr = 0.01", "choice or setting"},
      {"const", "const hidden = 16", "fixed or k"},        {"plan", "plan { budget gpu = 4GiB }", "scheme or draft"},
      {"return", "return h", "result or out"},             {"not", "not last", "negated or without"},
      {"and", "a and b", "both or also"},                  {"or", "a or b", "either or other"},
      {"import", "import \"file.gnn\"", "imported or extra"}, {"else", "if n > 1 { ... } else { ... }", "other or rest"},
      {"true", "bias = true", "yes or is_true"},           {"false", "bias = false", "no or is_false"},
  };
  const char *use = "", *names = "f or width";
  if (state->seen_keyword && strcmp(state->seen_keyword, found->text) == 0) return;
  state->seen_keyword = found->text;
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
    if (strcmp(uses[i].word, found->text) == 0) {
      use = uses[i].use;
      names = uses[i].names;
    }
  diags_error(state->builder.diags, "E0104", found->span.place, "\"%s\" is a keyword (as in: %s); pick another name, for instance %s",
              found->text, use, names);
}

static bool is_keyword_as_name(ParseState *state, const Token *found, bool is_name_expected) {
  if (!tokens_is_keyword(found->kind) || found->kind == TOK_NOT) return false;
  bool is_first = state->line_token_count > 0 && state->line_tokens[0].span.place.column == found->span.place.column &&
                  state->line_tokens[0].span.place.line == found->span.place.line;
  int next = tokens_peek(state).kind;
  if (is_first) return next == '=' || next == ':';
  if (state->recent[1].kind == TOK_DATA || state->recent[1].kind == TOK_CONST || state->recent[1].kind == TOK_OPTION ||
      state->recent[1].kind == TOK_PARAM || state->recent[1].kind == TOK_AS || state->recent[1].kind == TOK_FOR)
    return true;
  return is_name_expected && found->kind != TOK_IF && found->kind != TOK_RETURN && found->kind != TOK_FOR;
}

/* ---- E0103, E0102, E0109 and the rest ---- */

static bool is_operand_start(int kind) {
  return kind == TOK_NAME || kind == TOK_NUMBER || kind == TOK_QUANTITY || kind == TOK_STRING || kind == TOK_TRUE ||
         kind == TOK_FALSE || kind == '[' || kind == '-' || kind == TOK_NOT || kind == TOK_TRAIN;
}

/* "epochs 200", "const hidden 16", "metric accuracy" at the end of its line, "normalize rows(x)" */
static bool report_missing_equals(ParseState *state, const Token *found, Construct construct) {
  const Token *line = state->line_tokens;
  int count = state->line_token_count;
  bool is_definition = count >= 2 && (line[0].kind == TOK_CONST || line[0].kind == TOK_OPTION);
  const Token *name = is_definition ? &line[1] : &line[0], *value = name + 1;
  int words = is_definition ? count - 1 : count;
  if (construct == CONSTRUCT_PROGRAM && !is_definition) return false;
  if (words < 2 || name->kind != TOK_NAME || !is_operand_start(value->kind)) return false;
  bool is_value_found = value->span.place.column == found->span.place.column && value->span.place.line == found->span.place.line;
  bool is_second = words == 2 && (found->kind == TOK_NEWLINE || found->kind == '}');
  bool is_call = words == 3 && (found->kind == '(' || found->kind == '.') && value->kind == TOK_NAME;
  if (!is_value_found && !is_second && !is_call) return false;
  if (construct == CONSTRUCT_DATA && value->kind == TOK_NAME && is_second) return false;
  diags_error(state->builder.diags, "E0103", name->span.place, "\"%s\" needs \"=\" before its value: %s = %s", name->text, name->text,
              rest_of_line(state, value->span.place));
  diags_fix(state->builder.diags, value->span.place, 0, "= ");
  return true;
}

static void report_item(ParseState *state, const Token *found) {
  Suggest suggest = {.wanted = found->text};
  for (int i = 0; i < ITEM_WORDS; i++) suggest_offer(&suggest, item_words[i]);
  diags_error(state->builder.diags, "E0102", found->span.place, "unknown item %s%s", describe(state, found),
              suggest_text(state->builder.arena, &suggest, "\""));
  if (suggest.count == 1) diags_fix_word(state->builder.diags, found->span.place, found->text, suggest.name[0]);
  if (suggest.count == 0)
    diags_help(state->builder.diags, "a program is made of import, const, option, data, layer, model, train, target and plan");
}

static bool ends_operand(int kind) {
  return kind == TOK_NAME || kind == TOK_NUMBER || kind == TOK_QUANTITY || kind == TOK_STRING || kind == TOK_TRUE ||
         kind == TOK_FALSE || kind == ')' || kind == ']';
}

static const char *expected_text(ParseState *state, int count, const char *const *expected) {
  const char *text = "";
  for (int i = 0; i < count; i++) {
    bool is_word = strncmp(expected[i], "a ", 2) == 0 || strncmp(expected[i], "the ", 4) == 0;
    const char *name = expected[i];
    if (!is_word && *name != '\'') name = arena_printf(state->builder.arena, "\"%s\"", name);
    if (*name == '\'') name = arena_printf(state->builder.arena, "\"%c\"", name[1]);
    text = arena_printf(state->builder.arena, "%s%s%s", text, i == 0 ? "" : i + 1 == count ? " or " : ", ", name);
  }
  return text;
}

/* What other languages write so. */
static const char *known_form(const ParseState *state, const Token *found, Construct construct) {
  const Token *before = &state->recent[1], *first = state->line_token_count > 0 ? &state->line_tokens[0] : found;
  const bool is_statement_start = before->kind == TOK_NEWLINE || before->kind == '{' || before->kind == 0;
  if (first->kind == TOK_FOR && before->kind == ')') return "a loop counts: for i in 1 .. 3 { ... }";
  if (found->kind == '/' && is_statement_start) return "a comment begins with #";
  if (!ends_operand(before->kind)) return NULL;
  if (found->kind == ':' && construct == CONSTRUCT_CONF) return "a setting is given by =: epochs = 200";
  if (found->kind == ':' && construct == CONSTRUCT_DATA) return "a field is of nodes, of edges or of graphs: node x : f32[34]";
  if (found->kind == ',' && construct == CONSTRUCT_CONF) return "several stand in brackets: metric = [accuracy, f1]";
  if (found->kind == '(' && before->kind == ')') return "a layer is called where it is made, and its input comes first: GCN(x, 16), or x |> GCN(16)";
  if (found->kind == '[') return "slice(x, 0, 1) takes columns of a value";
  if (found->kind == TOK_IF) return "n > 1 ? a : b chooses by a constant, where(x > 0, a, b) number by number";
  if (found->kind == TOK_ARROW) return "|> gives a value to a function: x |> relu";
  return NULL;
}

static void report_general(ParseState *state, const Token *found, const Frame *frame, int expected_count, const char *const *expected) {
  Diags *diags = state->builder.diags;
  const Token *before = &state->recent[1];
  const char *what = describe(state, found);
  Construct construct = construct_of(frame);
  bool is_after_operand = ends_operand(before->kind);
  bool is_statement_start = before->kind == TOK_NEWLINE || before->kind == '{' || before->kind == 0;
  if (construct == CONSTRUCT_CALL && is_after_operand)
    diags_error(diags, "E0109", found->span.place, "expected \",\" or \")\" between the arguments of %s; found %s", frame->name, what);
  else if (construct == CONSTRUCT_LIST && is_after_operand)
    diags_error(diags, "E0109", found->span.place, "expected \",\" or \"]\" in the list; found %s", what);
  else if (construct == CONSTRUCT_PAREN && is_after_operand)
    diags_error(diags, "E0109", found->span.place, "expected an operator or \")\"; found %s", what);
  else if (is_statement_start && found->kind == '}')
    diags_error(diags, "E0100", found->span.place, "this \"}\" closes nothing");
  else if (is_statement_start && construct == CONSTRUCT_STATEMENTS)
    diags_error(diags, "E0100", found->span.place, "a statement cannot begin with %s", what);
  else if (is_statement_start)
    diags_error(diags, "E0100", found->span.place, "a line here cannot begin with %s", what);
  else if (construct == CONSTRUCT_CONF && found->kind == TOK_NEWLINE && state->line_token_count == 1 && before->kind == TOK_NAME)
    diags_error(diags, "E0103", before->span.place, "\"%s\" needs \"=\" and a value", before->text);
  else if (expected_count > 0)
    diags_error(diags, "E0100", found->span.place, "expected %s after %s; found %s", expected_text(state, expected_count, expected),
                describe(state, before), what);
  else if (is_after_operand)
    diags_error(diags, "E0100", found->span.place, "expected an operator or the end of the line after %s; found %s",
                describe(state, before), what);
  else
    diags_error(diags, "E0100", found->span.place, "expected a value after %s; found %s", describe(state, before), what);
  if (construct >= CONSTRUCT_CALL) diags_label(diags, frame->place, 1, "opens here");
  const char *form = known_form(state, found, construct);
  if (form) diags_help(diags, "%s", form);
}

void syntax_error(ParseState *state, bool is_name_expected, int expected_count, const char *const *expected) {
  Token found = state->recent[0];
  const Frame *frame = frame_around(state, &found);
  Construct construct = construct_of(frame);
  const Token *first = state->line_token_count > 0 ? &state->line_tokens[0] : &found;
  bool is_first = state->line_token_count <= 1 && found.kind != TOK_NEWLINE && found.kind != TOK_END;
  bool is_item_line = construct == CONSTRUCT_PROGRAM && tokens_is_keyword(first->kind);

  if (found.kind == TOK_BAD) {
    /* the scanner has said it */
  } else if (found.kind == TOK_END && state->frame_count > 0) {
    file_ends(state, &found);
  } else if (construct == CONSTRUCT_PROGRAM && state->is_header_broken && !is_item_line) {
    /* the body of a block whose header was reported */
  } else if (looks_like_python(state, &found)) {
    report_python(state, &found);
  } else if (found.kind == TOK_ELSE && is_first) {
    diags_error(state->builder.diags, "E0105", found.span.place, "\"else\" must stand on the line of the \"}\" before it");
    if (state->closed.line > 0) {
      diags_fix(state->builder.diags, state->closed, 1, "");
      diags_fix(state->builder.diags, found.span.place, 0, "} ");
    }
  } else if (is_keyword_as_name(state, &found, is_name_expected)) {
    report_keyword(state, &found);
  } else if (report_missing_equals(state, &found, construct)) {
    /* said */
  } else if (construct == CONSTRUCT_PROGRAM && is_first && found.kind != '}') {
    report_item(state, &found);
  } else {
    report_general(state, &found, frame, expected_count, expected);
  }
  if (construct == CONSTRUCT_PROGRAM) state->is_header_broken = is_item_line ? found.kind == TOK_NEWLINE : state->is_header_broken;
  tokens_skip_statement(state);
}
