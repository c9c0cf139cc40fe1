#include "once_tables.h"

#include <string.h>

const RowsAgain all_rows_again = {.has_all = true};

bool come_again(const RowsAgain *again, const char *rows) {
  bool is_there = again && again->has_all;
  for (int i = 0; again && i < again->count; i++) is_there = is_there || strcmp(again->rows[i], rows) == 0;
  return is_there;
}

bool rows_again_are(const RowsAgain *a, const RowsAgain *b) {
  if ((a && a->has_all) != (b && b->has_all) || (a ? a->count : 0) != (b ? b->count : 0)) return false;
  for (int i = 0; a && i < a->count; i++)
    if (!come_again(b, a->rows[i])) return false;
  return true;
}

const char *rows_of_table(const Graph *graph, ValueId table) {
  const Value *rows = &graph->values[graph->values[table].operand[0]];
  while (rows->op == OP_TILE || rows->op == OP_SLICE) rows = &graph->values[rows->operand[0]];
  return rows->said ? rows->said : rows->name;
}

static OnceTable *table_of(const OnceTables *tables, const char *rows) {
  for (int i = 0; i < tables->count; i++)
    if (strcmp(tables->list[i].rows, rows) == 0) return &tables->list[i];
  return NULL;
}

OnceTables once_tables(const Graph *graph, int first, const RowsAgain *again) {
  OnceTables tables = {0};
  for (int i = first; i < graph->once_count; i++) {
    const char *rows = rows_of_table(graph, graph->once[i]);
    const int64_t bytes = graph_bytes(graph, graph->once[i]);
    OnceTable *table = table_of(&tables, rows);
    if (table) table->bytes += bytes;
    else ARENA_PUSH(graph->arena, tables.list, tables.count, ((OnceTable){rows, bytes, !come_again(again, rows)}));
  }
  return tables;
}
