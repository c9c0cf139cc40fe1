/* parse: tokens -> syntax tree. The actions build and decide nothing; meaning is check's. */
%require "3.8"
%define api.pure full
%define api.prefix {gnn_}
%define api.token.prefix {TOK_}
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {ParseState *state}

%code requires {
#include "parse_state.h"

typedef struct ArgList { int count; Arg *items; } ArgList;
typedef struct ExprList { int count; const Expr **items; } ExprList;
typedef struct FormalList { int count; Formal *items; } FormalList;
typedef struct DataList { int count; DataStmt **items; } DataList;
}

%code {
#include <string.h>

#define YYLLOC_DEFAULT(current, rhs, n)                       \
  do {                                                        \
    if (n) {                                                  \
      (current).place = YYRHSLOC(rhs, 1).place;               \
      (current).end_line = YYRHSLOC(rhs, n).end_line;         \
      (current).end_column = YYRHSLOC(rhs, n).end_column;     \
    } else {                                                  \
      (current) = YYRHSLOC(rhs, 0);                           \
      (current).place.line = (current).end_line;              \
      (current).place.column = (current).end_column;          \
    }                                                         \
  } while (0)

static int gnn_lex(GNN_STYPE *value, Span *span, ParseState *state);
static void gnn_error(Span *span, ParseState *state, const char *message);

#define ARENA (state->builder.arena)
#define NODE(kind, span, at, text, a, b, c) ast_node(&state->builder, kind, span, (at).place, text, a, b, c)
#define BINARY(span, at, text, a, b) ast_node(&state->builder, EXPR_BINARY, span, (at).place, text, a, b, NULL)

static Stmt *new_stmt(ParseState *state, Stmt stmt);
static DataStmt *new_data_stmt(ParseState *state, DataStmt stmt);
static ConfStmt *new_conf_stmt(ParseState *state, ConfStmt stmt);
static void add_item(ParseState *state, Item item);
static Block *new_block(ParseState *state, Span span, Block list);
static Conf *new_conf(ParseState *state, Span span, Conf list);
}

%union {
  Token token;
  Expr *expr;
  ArgList args;
  Arg arg;
  ExprList exprs;
  FormalList formals;
  Formal formal;
  AstType type;
  Stmt *stmt;
  Block list;
  Block *block;
  DataStmt *data_stmt;
  DataList data_list;
  ConfStmt *conf_stmt;
  Conf conf_list;
  Conf *conf;
}

%token <token> NAME "a name" NUMBER "a number" QUANTITY "a quantity" STRING "a string"
%token IMPORT "import" CONST "const" OPTION "option" FROM "from" LAYER "layer" ON "on" PLAN "plan"
%token PARAM "param" FOR "for" IN "in" IF "if" ELSE "else" RETURN "return" OVER "over" AS "as"
%token TRAIN "train" DATA "data" MODEL "model" TARGET "target"
%token AND "and" OR "or" NOT "not" TRUE "true" FALSE "false"
%token NEWLINE "the end of the line" END 0 "the end of the file" BAD
%token PIPE "|>" BOTH_WAYS "<->" ARROW "->" RANGE ".." EQ "==" NE "!=" LE "<=" GE ">=" WALRUS ":=" STAR_STAR "**"

%type <expr> expr postfix primary call maybe_value data_source
%type <args> args maybe_args elements
%type <arg> arg
%type <exprs> dims results
%type <formals> formals maybe_formals
%type <formal> formal
%type <type> type
%type <stmt> stmt
%type <list> stmts some_stmts
%type <block> block
%type <data_stmt> data_stmt
%type <data_list> data_stmts some_data_stmts data_body
%type <conf_stmt> conf_stmt
%type <conf_list> conf_stmts some_conf_stmts
%type <conf> conf
%type <token> key word maybe_string

%precedence "|>"
%right '?' ':'
%left "or"
%left "and"
%precedence "not"
%left "==" "!=" '<' '>' "<=" ">="
%left '+' '-'
%left '*' '/'
%left '@'
%precedence NEGATE
%right '^'

%%

program:
    %empty
  | items
  | items newline
  ;

items:
    item
  | items newline item
  ;

item:
    "import" STRING
      { add_item(state, (Item){.kind = ITEM_IMPORT, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place}); }
  | "const" NAME '=' expr
      { add_item(state, (Item){.kind = ITEM_CONST, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place, .value = $4}); }
  | "option" NAME '=' expr maybe_string
      { add_item(state, (Item){.kind = ITEM_OPTION, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place,
                               .value = $4, .text = $5.text}); }
  | "data" NAME data_source data_body
      { add_item(state, (Item){.kind = ITEM_DATA, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place,
                               .value = $3, .data_count = $4.count, .data = $4.items}); }
  | "layer" NAME '(' maybe_formals ')' block
      { add_item(state, (Item){.kind = ITEM_LAYER, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place,
                               .formal_count = $4.count, .formals = $4.items, .block = $6}); }
  | "model" NAME "on" NAME block
      { add_item(state, (Item){.kind = ITEM_MODEL, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place,
                               .on = $4.text, .on_place = @4.place, .block = $5}); }
  | "train" NAME conf
      { add_item(state, (Item){.kind = ITEM_TRAIN, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place, .conf = $3}); }
  | "target" NAME maybe_string conf
      { add_item(state, (Item){.kind = ITEM_TARGET, .span = @$, .place = @1.place, .name = $2.text, .name_place = @2.place,
                               .text = $3.text, .conf = $4}); }
  | "plan" conf
      { add_item(state, (Item){.kind = ITEM_PLAN, .span = @$, .place = @1.place, .name = "", .name_place = @1.place, .conf = $2}); }
  | error
      { add_item(state, (Item){.kind = ITEM_ERROR, .span = @$, .place = @1.place, .name = "", .name_place = @1.place}); }
  ;

maybe_string:
    %empty  { $$ = (Token){.text = NULL}; }
  | STRING
  ;

data_source:
    %empty         { $$ = NULL; }
  | "from" call    { $$ = $2; }
  | "from" STRING  { $$ = ast_leaf(&state->builder, EXPR_STRING, @2, $2.text, 0); }
  ;

data_body:
    %empty              { $$ = (DataList){0}; }
  | '{' data_stmts '}'  { $$ = $2; }
  ;

data_stmts:
    %empty                                 { $$ = (DataList){0}; }
  | some_data_stmts
  | some_data_stmts newline
  ;

some_data_stmts:
    data_stmt                                        { $$ = (DataList){0}; ARENA_PUSH(ARENA, $$.items, $$.count, $1); }
  | some_data_stmts newline data_stmt  { $$ = $1; ARENA_PUSH(ARENA, $$.items, $$.count, $3); }
  ;

data_stmt:
    NAME NAME ':' type maybe_value
      { $$ = new_data_stmt(state, (DataStmt){.span = @$, .kind = $1.text, .kind_place = @1.place, .name = $2.text,
                                             .name_place = @2.place, .dtype = $4, .value = $5}); }
  | NAME NAME ':' type "->" type maybe_value
      { $$ = new_data_stmt(state, (DataStmt){.span = @$, .kind = $1.text, .kind_place = @1.place, .name = $2.text,
                                             .name_place = @2.place, .dtype = $4, .target = $6, .value = $7}); }
  | NAME '=' expr
      { $$ = new_data_stmt(state, (DataStmt){.span = @$, .name = $1.text, .name_place = @1.place, .value = $3}); }
  | error
      { $$ = new_data_stmt(state, (DataStmt){.span = @$, .name = "", .name_place = @1.place}); }
  ;

maybe_formals:
    %empty  { $$ = (FormalList){0}; }
  | formals
  ;

formals:
    formal              { $$ = (FormalList){0}; ARENA_PUSH(ARENA, $$.items, $$.count, $1); }
  | formals ',' formal  { $$ = $1; ARENA_PUSH(ARENA, $$.items, $$.count, $3); }
  ;

formal:
    NAME           { $$ = (Formal){.name = $1.text, .place = @1.place}; }
  | NAME ':' type  { $$ = (Formal){.name = $1.text, .place = @1.place, .type = $3}; }
  | NAME '=' expr  { $$ = (Formal){.name = $1.text, .place = @1.place, .initial = $3}; }
  | NAME ':' type '=' expr  { $$ = (Formal){.name = $1.text, .place = @1.place, .type = $3, .initial = $5}; }
  ;

type:
    NAME               { $$ = (AstType){.is_given = true, .domain = $1.text, .span = @$}; }
  | NAME '[' dims ']'  { $$ = (AstType){.is_given = true, .has_dims = true, .domain = $1.text, .dim_count = $3.count, .dims = $3.items, .span = @$}; }
  | NAME '[' ']'       { $$ = (AstType){.is_given = true, .has_dims = true, .domain = $1.text, .span = @$}; }
  | '[' dims ']'       { $$ = (AstType){.is_given = true, .has_dims = true, .domain = "", .dim_count = $2.count, .dims = $2.items, .span = @$}; }
  | '[' ']'            { $$ = (AstType){.is_given = true, .has_dims = true, .domain = "", .span = @$}; }
  ;

dims:
    expr           { $$ = (ExprList){0}; ARENA_PUSH(ARENA, $$.items, $$.count, $1); }
  | dims ',' expr  { $$ = $1; ARENA_PUSH(ARENA, $$.items, $$.count, $3); }
  ;

block:
    '{' stmts '}'  { $$ = new_block(state, @$, $2); }
  ;

stmts:
    %empty                            { $$ = (Block){.count = 0}; }
  | some_stmts
  | some_stmts newline
  ;

some_stmts:
    stmt                                   { $$ = (Block){.count = 0}; ARENA_PUSH(ARENA, $$.stmts, $$.count, $1); }
  | some_stmts newline stmt  { $$ = $1; ARENA_PUSH(ARENA, $$.stmts, $$.count, $3); }
  ;

stmt:
    STRING
      { $$ = new_stmt(state, (Stmt){.kind = STMT_DOC, .span = @$, .name = $1.text, .name_place = @1.place}); }
  | "param" NAME ':' type maybe_value
      { $$ = new_stmt(state, (Stmt){.kind = STMT_PARAM, .span = @$, .name = $2.text, .name_place = @2.place, .type = $4, .value = $5}); }
  | NAME '=' expr
      { $$ = new_stmt(state, (Stmt){.kind = STMT_ASSIGN, .span = @$, .name = $1.text, .name_place = @1.place, .value = $3}); }
  | NAME ':' type '=' expr
      { $$ = new_stmt(state, (Stmt){.kind = STMT_ASSIGN, .span = @$, .name = $1.text, .name_place = @1.place, .type = $3, .value = $5}); }
  | "for" NAME "in" expr ".." expr block
      { $$ = new_stmt(state, (Stmt){.kind = STMT_FOR, .span = @$, .name = $2.text, .name_place = @2.place, .value = $4, .to = $6, .body = $7}); }
  | "if" expr block
      { $$ = new_stmt(state, (Stmt){.kind = STMT_IF, .span = @$, .name = "", .name_place = @1.place, .value = $2, .body = $3}); }
  | "if" expr block "else" block
      { $$ = new_stmt(state, (Stmt){.kind = STMT_IF, .span = @$, .name = "", .name_place = @1.place, .value = $2, .body = $3, .other = $5}); }
  | "return" results
      { $$ = new_stmt(state, (Stmt){.kind = STMT_RETURN, .span = @$, .name = "", .name_place = @1.place, .result_count = $2.count, .results = $2.items}); }
  | error
      { $$ = new_stmt(state, (Stmt){.kind = STMT_ERROR, .span = @$, .name = "", .name_place = @1.place}); }
  ;

maybe_value:
    %empty    { $$ = NULL; }
  | '=' expr  { $$ = $2; }
  ;

results:
    expr              { $$ = (ExprList){0}; ARENA_PUSH(ARENA, $$.items, $$.count, $1); }
  | results ',' expr  { $$ = $1; ARENA_PUSH(ARENA, $$.items, $$.count, $3); }
  ;

conf:
    '{' conf_stmts '}'  { $$ = new_conf(state, @$, $2); }
  ;

conf_stmts:
    %empty                                 { $$ = (Conf){.count = 0}; }
  | some_conf_stmts
  | some_conf_stmts newline
  ;

some_conf_stmts:
    conf_stmt                                        { $$ = (Conf){.count = 0}; ARENA_PUSH(ARENA, $$.stmts, $$.count, $1); }
  | some_conf_stmts newline conf_stmt  { $$ = $1; ARENA_PUSH(ARENA, $$.stmts, $$.count, $3); }
  ;

conf_stmt:
    key '=' expr
      { $$ = new_conf_stmt(state, (ConfStmt){.span = @$, .key = $1.text, .key_place = @1.place, .value = $3}); }
  | key conf
      { $$ = new_conf_stmt(state, (ConfStmt){.span = @$, .key = $1.text, .key_place = @1.place, .body = $2}); }
  | key word '=' expr
      { $$ = new_conf_stmt(state, (ConfStmt){.span = @$, .key = $1.text, .key_place = @1.place, .word = $2.text,
                                             .is_word_string = $2.kind == TOK_STRING, .word_place = @2.place, .value = $4}); }
  | key word conf
      { $$ = new_conf_stmt(state, (ConfStmt){.span = @$, .key = $1.text, .key_place = @1.place, .word = $2.text,
                                             .is_word_string = $2.kind == TOK_STRING, .word_place = @2.place, .body = $3}); }
  | key word "<->" key conf
      { $$ = new_conf_stmt(state, (ConfStmt){.span = @$, .key = $1.text, .key_place = @1.place, .word = $2.text, .word_place = @2.place,
                                             .arrow = "<->", .far_word = $4.text, .far_place = @4.place, .body = $5}); }
  | key word "->" key conf
      { $$ = new_conf_stmt(state, (ConfStmt){.span = @$, .key = $1.text, .key_place = @1.place, .word = $2.text, .word_place = @2.place,
                                             .arrow = "->", .far_word = $4.text, .far_place = @4.place, .body = $5}); }
  | error
      { $$ = new_conf_stmt(state, (ConfStmt){.span = @$, .key = "", .key_place = @1.place}); }
  ;

key:
    NAME
  | "train"   { $$ = (Token){.text = "train"}; }
  | "data"    { $$ = (Token){.text = "data"}; }
  | "model"   { $$ = (Token){.text = "model"}; }
  | "target"  { $$ = (Token){.text = "target"}; }
  ;

word:
    key
  | STRING
  ;

expr:
    postfix
  | expr "|>" postfix        { $$ = NODE(EXPR_PIPE, @$, @2, "|>", $1, $3, NULL); }
  | expr '?' expr ':' expr   { $$ = NODE(EXPR_COND, @$, @2, "?", $1, $3, $5); }
  | expr "or" expr           { $$ = BINARY(@$, @2, "or", $1, $3); }
  | expr "and" expr          { $$ = BINARY(@$, @2, "and", $1, $3); }
  | expr "==" expr           { $$ = BINARY(@$, @2, "==", $1, $3); }
  | expr "!=" expr           { $$ = BINARY(@$, @2, "!=", $1, $3); }
  | expr '<' expr            { $$ = BINARY(@$, @2, "<", $1, $3); }
  | expr '>' expr            { $$ = BINARY(@$, @2, ">", $1, $3); }
  | expr "<=" expr           { $$ = BINARY(@$, @2, "<=", $1, $3); }
  | expr ">=" expr           { $$ = BINARY(@$, @2, ">=", $1, $3); }
  | expr '+' expr            { $$ = BINARY(@$, @2, "+", $1, $3); }
  | expr '-' expr            { $$ = BINARY(@$, @2, "-", $1, $3); }
  | expr '*' expr            { $$ = BINARY(@$, @2, "*", $1, $3); }
  | expr '/' expr            { $$ = BINARY(@$, @2, "/", $1, $3); }
  | expr '@' expr            { $$ = BINARY(@$, @2, "@", $1, $3); }
  | expr '^' expr            { $$ = BINARY(@$, @2, "^", $1, $3); }
  | '-' expr %prec NEGATE    { $$ = NODE(EXPR_UNARY, @$, @1, "-", $2, NULL, NULL); }
  | "not" expr               { $$ = NODE(EXPR_UNARY, @$, @1, "not", $2, NULL, NULL); }
  ;

postfix:
    primary
  | postfix "over" NAME  { $$ = NODE(EXPR_OVER, @$, @3, $3.text, $1, NULL, NULL); }
  | postfix "as" NAME    { $$ = NODE(EXPR_AS, @$, @3, $3.text, $1, NULL, NULL); }
  | postfix "as" STRING  { $$ = NODE(EXPR_AS, @$, @3, $3.text, $1, NULL, NULL); }
  ;

primary:
    NAME              { $$ = ast_leaf(&state->builder, EXPR_NAME, @$, $1.text, 0); }
  | "train"           { $$ = ast_leaf(&state->builder, EXPR_NAME, @$, "train", 0); }
  | NUMBER            { $$ = ast_leaf(&state->builder, EXPR_NUMBER, @$, $1.text, $1.number); }
  | QUANTITY          { $$ = ast_leaf(&state->builder, EXPR_QUANTITY, @$, $1.text, $1.number); }
  | STRING            { $$ = ast_leaf(&state->builder, EXPR_STRING, @$, $1.text, 0); }
  | "true"            { $$ = ast_leaf(&state->builder, EXPR_BOOL, @$, "true", 1); }
  | "false"           { $$ = ast_leaf(&state->builder, EXPR_BOOL, @$, "false", 0); }
  | call
  | primary '.' NAME  { $$ = NODE(EXPR_MEMBER, @$, @1, $3.text, $1, NULL, NULL); }
  | '(' expr ')'      { $$ = $2; }
  | '[' elements ']'  { $$ = ast_list(&state->builder, @$, $2.count, $2.items); }
  | '[' ']'           { $$ = ast_list(&state->builder, @$, 0, NULL); }
  ;

elements:
    expr               { $$ = (ArgList){0}; ARENA_PUSH(ARENA, $$.items, $$.count, (Arg){.place = @1.place, .value = $1}); }
  | elements ',' expr  { $$ = $1; ARENA_PUSH(ARENA, $$.items, $$.count, (Arg){.place = @3.place, .value = $3}); }
  ;

call:
    NAME '(' maybe_args ')'  { $$ = ast_call(&state->builder, @$, @1.place, $1.text, $3.count, $3.items); }
  ;

maybe_args:
    %empty  { $$ = (ArgList){0}; }
  | args
  ;

args:
    arg           { $$ = (ArgList){0}; ARENA_PUSH(ARENA, $$.items, $$.count, $1); }
  | args ',' arg  { $$ = $1; ARENA_PUSH(ARENA, $$.items, $$.count, $3); }
  ;

arg:
    expr           { $$ = (Arg){.place = @1.place, .value = $1}; }
  | NAME '=' expr  { $$ = (Arg){.name = $1.text, .place = @1.place, .value = $3}; }
  | NAME '[' dims ']'  { $$ = (Arg){.place = @1.place, .value = ast_shape(&state->builder, @$, $1.text, $3.count, $3.items)}; }
  ;

/* Here the statement that was reported is over. */
newline:
    "the end of the line"  { yyerrok; }
  ;

%%

static Stmt *new_stmt(ParseState *state, Stmt stmt) {
  Stmt *result = arena_alloc(ARENA, sizeof *result);
  *result = stmt;
  return result;
}

static DataStmt *new_data_stmt(ParseState *state, DataStmt stmt) {
  DataStmt *result = arena_alloc(ARENA, sizeof *result);
  *result = stmt;
  return result;
}

static ConfStmt *new_conf_stmt(ParseState *state, ConfStmt stmt) {
  ConfStmt *result = arena_alloc(ARENA, sizeof *result);
  *result = stmt;
  return result;
}

static Block *new_block(ParseState *state, Span span, Block list) {
  Block *result = arena_alloc(ARENA, sizeof *result);
  *result = list;
  result->span = span;
  return result;
}

static Conf *new_conf(ParseState *state, Span span, Conf list) {
  Conf *result = arena_alloc(ARENA, sizeof *result);
  *result = list;
  result->span = span;
  return result;
}

static void add_item(ParseState *state, Item item) {
  Item *result = arena_alloc(ARENA, sizeof *result);
  *result = item;
  ARENA_PUSH(ARENA, state->ast->items, state->ast->item_count, result);
}

static int gnn_lex(GNN_STYPE *value, Span *span, ParseState *state) {
  value->token = tokens_next(state);
  *span = value->token.span;
  return value->token.kind;
}

static int yyreport_syntax_error(const yypcontext_t *context, ParseState *state) {
  enum { ENOUGH = 5 };
  yysymbol_kind_t kinds[YYNTOKENS];
  const char *names[ENOUGH];
  int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
  bool is_name_expected = false;
  for (int i = 0; i < count; i++) {
    is_name_expected = is_name_expected || kinds[i] == YYSYMBOL_NAME;
    if (i < ENOUGH) names[i] = yysymbol_name(kinds[i]);
  }
  syntax_error(state, is_name_expected, count < ENOUGH ? count : 0, names);
  return 0;
}

static void gnn_error(Span *span, ParseState *state, const char *message) {
  diags_error(state->builder.diags, "E0111", span->place, "the program is nested too deeply here (%s)", message);
}

int parse_program(ParseState *state) {
  return gnn_parse(state);
}
