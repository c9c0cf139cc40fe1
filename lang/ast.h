/* ast.h: the program as it was written. Built by the parser, read by check; everything lives in the arena. */
#ifndef GNNCC_AST_H
#define GNNCC_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"

typedef struct Span {
  Place place; /* of the first byte */
  int32_t end_line, end_column; /* just behind the last byte */
} Span;

typedef enum ExprKind {
  EXPR_ERROR, /* something that was reported already */
  EXPR_NAME, EXPR_NUMBER, EXPR_QUANTITY, EXPR_STRING, EXPR_BOOL,
  EXPR_CALL,   /* text(args) */
  EXPR_MEMBER, /* a.text */
  EXPR_LIST,   /* [args] */
  EXPR_SHAPE,  /* text[args]: numbers of a type, of a source of data */
  EXPR_UNARY,  /* - a, not a */
  EXPR_BINARY, /* a text b */
  EXPR_COND,   /* a ? b : c */
  EXPR_PIPE,   /* a |> b */
  EXPR_OVER,   /* a over text */
  EXPR_AS,     /* a as text */
} ExprKind;

typedef struct Expr Expr;

typedef struct Arg {
  const char *name; /* NULL for a positional argument */
  Place place;      /* of the name, or of the value */
  const Expr *value;
} Arg;

struct Expr {
  ExprKind kind;
  int depth;        /* of the tree below, to bound every recursion over it */
  Span span;
  Place place;      /* what a message about it points at: the operator of a binary, the name of a call */
  const char *text; /* name, string, unit, operator; the digits of a number as written */
  double number;    /* EXPR_NUMBER, EXPR_QUANTITY (without its unit), EXPR_BOOL */
  int arg_count;
  Arg *args;
  const Expr *a, *b, *c;
};

typedef struct AstType { /* node[f, out]; [heads]; node */
  bool is_given, has_dims;
  const char *domain; /* "" where none was written */
  int dim_count;
  const Expr **dims;
  Span span;
} AstType;

typedef enum StmtKind { STMT_DOC, STMT_PARAM, STMT_ASSIGN, STMT_FOR, STMT_IF, STMT_RETURN, STMT_ERROR } StmtKind;

typedef struct Stmt Stmt;
typedef struct Block {
  Span span;
  int count;
  Stmt **stmts;
} Block;

struct Stmt {
  StmtKind kind;
  Span span;
  const char *name; /* of a parameter, variable or loop counter; the text of a doc string */
  Place name_place;
  AstType type;
  const Expr *value, *to;       /* value of an assignment; start and end of a loop; condition */
  Block *body, *other;          /* loop or then; else */
  int result_count;
  const Expr **results;
};

typedef struct Formal {
  const char *name;
  Place place;
  AstType type;        /* one of the two may be given */
  const Expr *initial;
} Formal;

typedef struct DataStmt {
  Span span;
  const char *kind;     /* "node"; NULL for a setting, which has only a name and a value */
  const char *name;
  Place kind_place, name_place;
  AstType dtype, target; /* f32[100]; target: behind -> */
  const Expr *value;
} DataStmt;

typedef struct ConfStmt ConfStmt;
typedef struct Conf {
  Span span;
  int count;
  ConfStmt **stmts;
} Conf;

struct ConfStmt { /* epochs = 200; device gpu {..}; fate "norms.*" = x; link gpu <-> host {..} */
  Span span;
  const char *key;
  Place key_place;
  const char *word;    /* the second word or string, or NULL */
  bool is_word_string;
  Place word_place;
  const char *arrow;   /* "->", "<->" or NULL */
  const char *far_word;
  Place far_place;
  const Expr *value;
  Conf *body;
};

typedef enum ItemKind {
  ITEM_IMPORT, ITEM_CONST, ITEM_OPTION, ITEM_DATA, ITEM_LAYER, ITEM_MODEL, ITEM_TRAIN, ITEM_TARGET, ITEM_PLAN, ITEM_ERROR,
} ItemKind;

typedef struct Item {
  ItemKind kind;
  Span span;
  Place place;          /* of the keyword */
  const char *name;     /* or the path of an import */
  Place name_place;
  const char *text;     /* help of an option, description of a target, or NULL */
  const Expr *value;    /* const, option; source of a data block */
  const char *on;       /* the data of a model */
  Place on_place;
  bool has_body;
  int data_count;
  DataStmt **data;
  int formal_count;
  Formal *formals;
  Block *block;
  Conf *conf;
} Item;

typedef struct Ast Ast;
struct Ast {
  int item_count;
  Item **items;       /* of all files, in the order in which they were read; those of imports stand before their importer's */
  int32_t main_file;
  uint64_t text_fingerprint; /* of all texts */
  uint64_t model_fingerprint; /* the same without comments, targets and plan: what they say changes no number */
  const char *share_dir;
};

enum { AST_DEPTH_MAX = 400 };

/* Builders. A tree that gets too deep is reported once (E0111) and becomes EXPR_ERROR. */
typedef struct AstBuilder {
  Arena *arena;
  Diags *diags;
  int32_t file;
} AstBuilder;

Expr *ast_leaf(AstBuilder *builder, ExprKind kind, Span span, const char *text, double number);
Expr *ast_call(AstBuilder *builder, Span span, Place place, const char *name, int arg_count, Arg *args);
Expr *ast_list(AstBuilder *builder, Span span, int arg_count, Arg *args);
Expr *ast_shape(AstBuilder *builder, Span span, const char *name, int size_count, const Expr *const *sizes);
/* unary, binary, conditional, member, pipe, over, as; `text` is the operator or the name behind it */
Expr *ast_node(AstBuilder *builder, ExprKind kind, Span span, Place place, const char *text, const Expr *a, const Expr *b, const Expr *c);

/* The expression in source form, for messages and for the names of dimensions. */
const char *ast_expr_text(Arena *arena, const Expr *expr);

/* Bytes from the beginning to the end of a span when it lies in one line, else 0. */
int span_width(Span span);

#endif
