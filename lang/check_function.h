/* check_function.h: what the files that check the functions of the language share. */
#ifndef GNNCC_CHECK_FUNCTION_H
#define GNNCC_CHECK_FUNCTION_H

#include "check.h"

enum { ARG_MAX = 9 };

/* Arguments in the order of the function's formals; the piped one is the first. */
typedef struct Bound {
  Operand operand[ARG_MAX];   /* evaluated, where the formal says so */
  const Expr *expr[ARG_MAX];  /* as written; NULL where absent or piped */
  bool is_given[ARG_MAX];
} Bound;

typedef struct Function Function;
typedef Value Check(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound);

struct Function {
  const char *name;
  const char *formals; /* "x, slope = 0.01"; names that begin with ' are taken as written, not evaluated */
  Check *check;
  int map;             /* MapOp of element-wise functions, Reducer of reductions */
  const char *help;
};

/* Argument number `at` as a value; false after a message. */
bool check_argument(Checker *checker, Scope *scope, Bound *bound, int at, const Call *call);
bool check_argument_of_numbers(Checker *checker, Scope *scope, Bound *bound, int at, const Call *call); /* and no classes */
void check_needs_arguments(Checker *checker, const Function *function, const Call *call, const char *how_many);

/* ---- check_reduce.c: fewer numbers out of many ---- */
Check check_reduce, check_reduce_named, check_extreme, check_softmax, check_edge_softmax;
int check_axis(Checker *checker, Scope *scope, const Operand *x, const Expr *axis, bool has_rows); /* a dimension of x; NO_INDEX after a message, which says how to go over all rows where has_rows */

/* ---- check_shape.c: the same numbers under other dimensions, or some of them ---- */
Check check_flatten, check_squeeze, check_zeros, check_reshape, check_concat, check_slice, check_outer;

#endif
