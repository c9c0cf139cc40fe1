/* once_tables.h: of ranks, tables of rows of others that never change: which of them a program keeps for the whole run, and which come in every epoch (dedup). */
#ifndef GNNCC_ONCE_TABLES_H
#define GNNCC_ONCE_TABLES_H

#include "graph.h"

/* All tables of the same rows: of both ends of edges, and of all columns of these. */
typedef struct OnceTable {
  const char *rows; /* the name, for users, of the value whose rows these are */
  int64_t bytes;    /* on the device, were they kept */
  bool is_kept;
} OnceTable;

/* Each rows once, in the order of the graph. */
typedef struct OnceTables {
  int count;
  OnceTable *list;
} OnceTables;

/* Rows of which no table is kept. */
typedef struct RowsAgain {
  bool has_all; /* whichever there are: the list is empty */
  int count;
  const char **rows;
} RowsAgain;

extern const RowsAgain all_rows_again;

/* Whether a set has these rows; whether two have the same. NULL has none. */
bool come_again(const RowsAgain *again, const char *rows);
bool rows_again_are(const RowsAgain *a, const RowsAgain *b);

/* The name of the rows of a table of `graph`; of a table of some columns, that of the value whose columns these are. */
const char *rows_of_table(const Graph *graph, ValueId table);
/* Those of graph->once from `first` on. */
OnceTables once_tables(const Graph *graph, int first, const RowsAgain *again);

#endif
