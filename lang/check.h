/* check.h: shared by the files of the checker. Each file checks one subject; this is what they know of each other.
 *
 * A value that could not be worked out is VALUE_NONE: it was reported once and silences whatever uses it.
 */
#ifndef GNNCC_CHECK_H
#define GNNCC_CHECK_H

#include "ast.h"
#include "known.h"
#include "lang.h"
#include "name_table.h"
#include "suggest.h"
#include "units.h"

typedef enum ValueKind { VALUE_NONE, VALUE_NUMBER, VALUE_BOOL, VALUE_STRING, VALUE_INIT, VALUE_TENSOR } ValueKind;

/* How a parameter begins; the bounds of glorot and kaiming_uniform depend on its shape. */
typedef enum InitRule { RULE_CONSTANT, RULE_FIXED, RULE_UNIFORM, RULE_NORMAL, RULE_GLOROT, RULE_KAIMING_UNIFORM } InitRule;

typedef struct Value {
  ValueKind kind;
  double number;    /* of a number or initialiser; 1 for true */
  const char *text; /* of a string; of a number: its name when it is used as a dimension ("hidden", "16") */
  InitRule rule;
  TypedId id;       /* of a tensor: */
  Type type;        /* with its dimensions named as the current layer names them */
} Value;

typedef struct Variable {
  const char *name;
  Value value;
  Place place;
} Variable;

/* What a dimension is called inside a layer and at the place of its call. */
typedef struct DimAlias {
  const char *inner, *outer;
} DimAlias;

/* Names given by "as" or made up, within one expansion of a layer or of the model. */
typedef struct NameUse {
  const char *name;
  const Expr *site; /* the call that used it first; NULL for made-up names */
  bool is_list;     /* used inside a loop: conv.0, conv.1, ... */
  int count;
} NameUse;

/* A layer with its weights; calling it again by its name reuses them. */
typedef struct Instance {
  const char *path;
  const Item *layer;
  Place place;
  int64_t width_in, width_out; /* last dimensions of the first argument and of the result; -1 where there are none */
  Value *arguments;            /* by formal */
  const Expr **exprs;          /* of those that were given, else NULL */
} Instance;

typedef struct Scope Scope;
struct Scope {
  Scope *caller;
  const Item *item;   /* the layer or the model */
  const char *path;   /* "conv1.lin"; "" for the model */
  Place call_place;
  Place call_at;      /* the name of the layer in its call */
  Domain edges;       /* that the call is about */
  const Value *given; /* by formal, and as what expression; NULL of the model */
  const Expr *const *exprs;
  int variable_count;
  Variable *variables;
  int alias_count;
  DimAlias *aliases;
  int use_count;
  NameUse *uses;
  int loop_depth;
  bool has_returned;
  Value result;
};

typedef struct Constant {
  const Item *item;
  bool is_done, is_busy;
  Value value;
} Constant;

typedef struct Checker {
  Arena *arena;
  Diags *diags;
  const Ast *ast;
  const LangOptions *options;
  TypedProgram *program;
  int constant_count;
  Constant *constants;
  const Item *data, *model, *train;
  Domain edges;           /* that sums, ends and degrees speak of here: `over` changes it */
  int *field_index;       /* per DataInfo field: index into program->fields or NO_INDEX */
  TypedId *field_expr;    /* per DataInfo field: its expression or NO_INDEX */
  int learned_count;
  Variable *learned;      /* of the data block: node e : learned[64]; VALUE_NONE until first used */
  Variable *size_names;   /* dimension names that the data gives a size: node x : f32[f] */
  int size_name_count;
  int instance_count;
  Instance *instances;
  NameTable instance_of, param_of; /* by path */
  int depth;              /* of evaluation */
  int64_t steps;
  Place result_place;     /* of what the model returns */
  bool is_stopped;        /* a limit was hit; everything is VALUE_NONE from here */
} Checker;

enum { CHECK_DEPTH_MAX = 900, CHECK_STEPS_MAX = 200000, LOOP_MAX = 10000, LAYER_DEPTH_MAX = 60 };

/* ---- check.c ---- */
const Item *check_find_item(const Checker *checker, ItemKind kind, const char *name);
bool check_step(Checker *checker, Place place); /* false when the expansion has grown beyond its limit */
void check_unsupported(Checker *checker, Place place, const char *format, ...) DIAG_PRINTF(3, 4);
const char *check_where(const Checker *checker, Place place); /* "line 9", with the file when it is another one */

/* ---- check_names.c ---- */
Variable *check_find_variable(const Scope *scope, const char *name);
void check_call_value(Checker *checker, const char *path, const char *name, TypedId value, Place place); /* Naming of typed.h */
void check_set_variable(Checker *checker, Scope *scope, const char *name, Value value, Place place);
Value check_name(Checker *checker, Scope *scope, const Expr *name);
int check_find_option(const Checker *checker, const char *name);
Constant *check_find_constant(const Checker *checker, const char *name);
void check_unknown_layer(Checker *checker, const char *name, Place place);
/* "did you mean" over a table of names */
/* A fix where one name alone is near. */
void check_fix_suggested(Checker *checker, Place place, const Suggest *suggest);
/* The same of a table, behind the message that has check_nearest. */
void check_fix_nearest(Checker *checker, Place place, const char *wanted, const char *const *names, int count);
/* E0204, with the argument that is meant. */
bool check_goes_over_rows(const char *function); /* axis = rows */
void check_unknown_argument(Checker *checker, Place place, const char *of, const char *name, const char *const *known, int count);
const char *check_nearest(Checker *checker, const char *wanted, const char *const *names, int count, const char *quote);
const char *check_nearest_or_all(Checker *checker, const char *wanted, const char *const *names, int count, const char *quote); /* all of them where none is near */

/* ---- check_const.c ---- */
Value check_number(double number, const char *text);
Value check_number_named(Checker *checker, double number); /* called by its digits */
Value check_bool(bool is_true);
Value check_string(const char *text);
Value check_constant_value(Checker *checker, Constant *constant);
void check_constants(Checker *checker);
Value check_const_expr(Checker *checker, const Expr *expr); /* among global names only; never a tensor */
bool check_is_whole(double number);
/* The size of a dimension: a whole number of at least 1. False after a message. */
bool check_size(Checker *checker, Scope *scope, const Expr *expr, Dim *dim);
Value check_fold(Checker *checker, const Expr *expr, Value a, Value b); /* a binary operator on constants */
/* The option that a scalar depends on first, or NO_INDEX. */
int check_option_of(const Checker *checker, TypedId id);
void check_option_as_constant(Checker *checker, TypedId id, Place place, const char *what);
const char *check_dim_outside(Checker *checker, const Scope *scope, const Dim *dim);

/* ---- check_type.c ---- */
Value check_emit(Checker *checker, Scope *scope, TypedExpr expr);
Value check_tensor(Checker *checker, Scope *scope, Value value, Place place); /* a number becomes a scalar */
/* From one kind of rows to another: a value at that end of each edge or member, and what is reduced there. VALUE_NONE of VALUE_NONE. */
Value check_lift(Checker *checker, Scope *scope, Value x, Domain edges, EdgeEnd end, Place place);
Value check_reduce_edges(Checker *checker, Scope *scope, Value x, Reducer reducer, EdgeEnd end, Place place);
const char *check_type_text(Checker *checker, const Type *type);
const char *check_domain_word(const Checker *checker, Domain domain);
bool check_is_anonymous(const Dim *dim);
Type check_scalar_type(void);
typedef struct Operand {
  Value value;
  const Expr *expr;
} Operand;
Value check_map(Checker *checker, Scope *scope, MapOp op, const char *verb, Place place, int count, const Operand *operands);
/* Repeats operands, in place, until all are of one type: that of their sum. False after a message. */
bool check_spread_together(Checker *checker, Scope *scope, const char *verb, Place place, int count, Operand *operands, Type *type);
Value check_matmul(Checker *checker, Scope *scope, Place place, Operand x, Operand w);
Value check_dot(Checker *checker, Scope *scope, Place place, Operand a, Operand b);

/* ---- check_expr.c ---- */
Value check_expr(Checker *checker, Scope *scope, const Expr *expr);
bool check_condition(Checker *checker, Scope *scope, const Expr *expr, bool *is_true);

/* ---- check_call.c ---- */
typedef struct Call {
  const Expr *site;    /* EXPR_CALL or a bare name behind |> */
  const char *name;
  Place place;
  bool has_piped;
  Value piped;
  const Expr *piped_expr;
  const char *as;      /* or NULL */
  Place as_place;
} Call;
Value check_call(Checker *checker, Scope *scope, const Call *call);

/* ---- check_function.c ---- */
const char *check_in_training(Arena *arena, const char *name); /* where losses, optimisers and metrics go; NULL: the name is none */
bool check_is_function(const char *name);
const char *check_function_name(int index); /* NULL after the last */
const char *check_function_help(int index);
void check_list_sources(FILE *out);
const char *check_function_signature(Arena *arena, int index);
Value check_function(Checker *checker, Scope *scope, const Call *call);

/* ---- check_layer.c ---- */
Value check_layer_call(Checker *checker, Scope *scope, const Item *layer, const Call *call);
Value check_instance_call(Checker *checker, Scope *scope, const Instance *instance, const Call *call);
const Instance *check_find_path(const Checker *checker, const char *path);
const Instance *check_find_instance(const Checker *checker, const Scope *scope, const char *name);
bool check_is_layer_list(const Scope *scope, const char *name); /* named in a loop: convs.0, convs.1, ... */
const char *check_signature(Checker *checker, const Item *layer);
bool check_is_standard(const Checker *checker, const Item *item);
/* A layer of std sees neither constants and options of the program nor its layers: names there are std's own. */
bool check_sees_program(const Checker *checker, const Scope *scope);
const Item *check_find_layer(const Checker *checker, const Scope *scope, const char *name);
/* The outermost layer of std that the scope is in: that which the user called. NULL: it is in none. */
const Scope *check_standard_call(const Checker *checker, const Scope *scope);
/* What the user wrote for a value that a layer of std calls by a name of its own: what was given as an argument, or the name of that argument. */
typedef struct Written {
  const char *text;
  Place place;
} Written;
/* Where the user wrote it; `otherwise`: of no expression, or of one of a layer's own. */
Place check_place_of(const Checker *checker, const Scope *scope, const Expr *expr, Place otherwise);
Written check_as_written(const Checker *checker, const Scope *scope, const Expr *expr, Value value);

/* ---- check_block.c ---- */
void check_block(Checker *checker, Scope *scope, const Block *block);
/* A weight that has a row for each node as a value on nodes. */
Value check_rows_of_weight(Checker *checker, Scope *scope, Value weight, Domain rows, const char *name);
/* Do the dimensions and the domain that were written fit the value? Binds and renames dimensions that have no meaning yet. */
bool check_against_type(Checker *checker, Scope *scope, const AstType *type, const char *name, Place place, Value *value);

/* What came of a place; nothing where nobody wants to know. */
void check_note_use(Checker *checker, Place place, Value value);

/* ---- check_bounds.c ---- */
void check_bounds(Checker *checker); /* of a program without errors */

/* ---- check_doubts.c ---- */
void check_doubts(const Checker *checker); /* of a program without errors */

/* ---- check_relations.c ---- */
void check_declare_type(Checker *checker, DataSpec *spec, const DataStmt *stmt);
int check_ring_index(Checker *checker); /* of the field that leads around the groups of pairs */
void check_declare_pairs(Checker *checker, DataSpec *spec, const DataStmt *stmt);
bool check_is_pairs(const Checker *checker, Domain edges);
bool check_tells_no_pairs(Checker *checker, Domain edges, Place place); /* false after a message */
void check_pairs_fit(Checker *checker, const DataSpec *spec);
void check_declare_relation(Checker *checker, DataSpec *spec, const DataStmt *stmt);
void check_reverse(Checker *checker, DataSpec *spec, const Expr *value);
bool check_is_declared_type(const DataSpec *spec, const char *name);
void check_relation_promises(Checker *checker, const DataSpec *spec, const DataInfo *info);
bool check_is_type(const Checker *checker, const char *name); /* of nodes, where they have types */
/* False after a message: which edges has to be said where nodes have types; `what` is computed of them. */
bool check_has_edges(Checker *checker, const Scope *scope, Place place, const char *what);
bool check_is_at_end(Checker *checker, const Scope *scope, const Value *value, EdgeEnd end, const Expr *expr); /* false after a message: it lives on other nodes */
/* From here on expressions speak of the edges that `over` names; *outside is what they spoke of, to be put back. False after a message. */
bool check_enter_edges(Checker *checker, Scope *scope, const Expr *over, Domain *outside);

/* ---- check_data.c, check_train.c, check_target.c ---- */
void check_data(Checker *checker);
bool check_field(Checker *checker, const char *name, Place place, Value *value); /* false when there is no such field */
int check_field_index(Checker *checker, const char *name); /* into program->fields; NO_INDEX when there is no such field */
bool check_field_classes(Checker *checker, const char *name, int64_t *classes);  /* false when there is no such field */
const char *check_field_list(Checker *checker);
void check_train(Checker *checker);
void check_targets(Checker *checker);
/* The number of a quantity of that kind; false and a message that speaks of `key` otherwise. */
bool check_quantity(Checker *checker, const Expr *expr, const char *key, UnitKind kind, double *number);
void check_plan(Checker *checker);
void check_help_precision(Checker *checker); /* no block has it */

#endif
