/* hoist.h: what is the same in every epoch and every evaluation, to be computed once. */
#ifndef GNNCC_HOIST_H
#define GNNCC_HOIST_H

#include "once_tables.h"

/* The two graphs in which such values are leaves, HOISTED, and the one that computes them (Graph.once). */
typedef struct Hoisting {
  Graph *training, *evaluation;
  Graph *graph;
  ValueId *origin[2];           /* per value of `graph`: the same in the training and in the evaluation graph that were given, or NO_VALUE */
} Hoisting;

/* Per value: it is the same in every epoch, and its kernel has no scratch, so that it can be computed once. */
bool *computed_once(const Graph *graph);

/* Both graphs are those that kernels are made of; what is hoisted out of them is marked there (is_once). NULL: there is none. */
Hoisting *hoist(Arena *arena, Graph *training, Graph *evaluation);

enum { TABLE_GRAPHS = 3 };

/* The same of tables of a program's ranks (HALO) whose rows never change, as far as they are kept. */
typedef struct Tables {
  OnceTables all;               /* those that are not kept, too */
  Graph *graphs[TABLE_GRAPHS], *once;
  int first;                    /* of once->once, from where on they are such tables */
  const ValueId **origin;       /* per graph, per value of `once`: the same there, or NO_VALUE */
} Tables;

/* Graphs of a training and its evaluations that are cut, and the one that computes once what they have as HOISTED; NULL: nothing. can_be_table: per field, it may be read from a table that
 * begins with it; again: rows whose tables are not kept. NULL: there are no tables. */
Tables *hoist_tables(const Graph *once, const Graph *const *graphs, int count, const bool *can_be_table, const RowsAgain *again);

#endif
