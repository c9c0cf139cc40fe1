/* numbers.h: text with nothing but numbers, the same number of them in each line. */
#ifndef GNN_NUMBERS_H
#define GNN_NUMBERS_H

#include "table.h"

typedef struct gnn_numbers_rules {
  gnn_table_rules table;
  int copies;    /* of each row, one after the other: 1, or 2 for edges that are there both ways */
  int is_double; /* numbers are F64 */
} gnn_numbers_rules;

/* [lines * copies, numbers a line], or, with one number a line, [lines * copies]. Whole numbers one a line are I32 or, where they need it, I64; else they are F32.
 * An empty cell is NaN. The file is read twice; nothing but the result is held. */
gnn_status gnn_read_numbers(gnn_dataset *dataset, const char *path, const gnn_numbers_rules *rules, gnn_array *array, gnn_error *error);

#endif
