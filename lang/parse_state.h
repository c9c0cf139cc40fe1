/* parse_state.h: what the scanner, the grammar and the messages about syntax share. Nothing of it is global. */
#ifndef GNNCC_PARSE_STATE_H
#define GNNCC_PARSE_STATE_H

#include "ast.h"

typedef struct Token {
  int kind; /* as bison numbers them */
  Span span;
  const char *text; /* name, string, unit, digits, or the operator itself */
  double number;
} Token;

/* What one is in the middle of; a message about syntax speaks of the innermost. */
typedef enum Construct {
  CONSTRUCT_PROGRAM, CONSTRUCT_STATEMENTS, CONSTRUCT_DATA, CONSTRUCT_CONF, /* between braces */
  CONSTRUCT_CALL, CONSTRUCT_PAREN, CONSTRUCT_LIST,                         /* between ( ) or [ ] */
} Construct;

typedef struct Frame {
  Construct construct;
  const char *name;    /* "model gcn"; what is called */
  Place place;         /* of the opening bracket */
  int32_t indentation; /* of the line on which it opens */
} Frame;

enum { TOKEN_QUEUE = 4, RECENT_TOKENS = 3, LINE_TOKENS = 3, FRAME_MAX = 300 };

typedef struct ParseState {
  AstBuilder builder;
  Ast *ast;
  void *scanner;
  Place at; /* where the scanner stands */
  int queue_count;
  Token queue[TOKEN_QUEUE];       /* read ahead */
  int closing_count;              /* "}" still to be handed out for blocks that were left open */
  int last_kind;                  /* handed out last; newlines are swallowed after some kinds */
  Place closed;                   /* the last "}" of the text */
  Token recent[RECENT_TOKENS];    /* handed out last: [0] is the lookahead of the parser */
  int line_token_count;
  Token line_tokens[LINE_TOKENS]; /* the first of the lookahead's line */
  int frame_count;
  Frame frames[FRAME_MAX];
  bool is_skipping;               /* to the end of a statement that was reported */
  int skip_depth;                 /* number of frames there */
  int skip_brackets;              /* ( and [ opened on the way */
  bool has_seen_python;
  const char *seen_keyword;       /* reported where a name belongs; its uses are not reported again */
  bool is_header_broken;          /* a block whose "{" was missing: its lines are not reported one by one */
} ParseState;

/* scan.l: the tokens as they stand in the text, newlines included. */
bool scan_open(ParseState *state, const char *text, size_t length);
void scan_close(ParseState *state);
Token scan_token(ParseState *state);

/* tokens.c: newlines that separate, brackets, and what stood before. */
Token tokens_next(ParseState *state);
Token tokens_peek(ParseState *state);
void tokens_skip_statement(ParseState *state); /* after an error: nothing more before the end of the statement */
bool tokens_is_keyword(int kind);
bool tokens_continue(int kind); /* a line cannot end after this: the statement goes on */
int tokens_first_kind(void); /* ParseState.last_kind before anything was read */

/* syntax_errors.c */
void syntax_error(ParseState *state, bool is_name_expected, int expected_count, const char *const *expected);
void syntax_error_open_block(ParseState *state, const Token *found);

/* parse.y: 0 when it came to the end of the text, with errors or without. */
int parse_program(ParseState *state);

#endif
