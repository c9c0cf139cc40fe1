/* numbers.c: what a text of numbers holds, and then its numbers into an array of that size. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "numbers.h"

#include <math.h>
#include <string.h>

typedef struct numbers_shape {
  int64_t rows;
  int width;
  int is_whole, is_small; /* all of them; within 32 bits */
} numbers_shape;

static gnn_status numbers_look(gnn_text_table *table, numbers_shape *shape, gnn_error *error) {
  *shape = (numbers_shape){.is_whole = 1, .is_small = 1};
  for (;;) {
    gnn_status status = gnn_table_next(table, error);
    if (status != GNN_OK || table->count < 0) return status;
    if (shape->rows == 0) shape->width = table->count;
    if (table->count != shape->width) return gnn_table_fail(table, -1, "", error, "%d numbers stand here, and %d in the lines before", table->count, shape->width);
    shape->rows++;
    for (int c = 0; c < table->count; c++) {
      int64_t whole;
      double number;
      if (gnn_cell_whole(&table->cells[c], &whole)) {
        shape->is_small &= whole >= INT32_MIN && whole <= INT32_MAX;
        continue;
      }
      shape->is_whole = 0;
      if (table->cells[c].length && !gnn_cell_number(&table->cells[c], &number)) return gnn_table_number(table, c, &number, error);
    }
  }
}

static gnn_status numbers_take(gnn_text_table *table, const numbers_shape *shape, int copies, gnn_dtype dtype, unsigned char *data, gnn_error *error) {
  const int64_t bytes = gnn_dtype_bytes(dtype), row_bytes = bytes * shape->width;
  for (int64_t r = 0;; r++) {
    gnn_status status = gnn_table_next(table, error);
    if (status != GNN_OK) return status;
    if (table->count < 0 ? r != shape->rows : r >= shape->rows || table->count != shape->width) return gnn_table_fail(table, -1, "", error, "the file has changed while it was being read");
    if (table->count < 0) return GNN_OK;
    unsigned char *row = data + r * copies * row_bytes;
    for (int c = 0; c < shape->width; c++) {
      int64_t whole = 0;
      double number = NAN;
      if (dtype == GNN_I32 || dtype == GNN_I64) status = gnn_table_whole(table, c, &whole, error);
      else if (table->cells[c].length) status = gnn_table_number(table, c, &number, error);
      if (status != GNN_OK) return status;
      const int32_t small = (int32_t)whole;
      const float single = (float)number;
      memcpy(row + c * bytes, dtype == GNN_I32 ? (const void *)&small : dtype == GNN_I64 ? (const void *)&whole : dtype == GNN_F64 ? (const void *)&number : &single, (size_t)bytes);
    }
    for (int k = 1; k < copies; k++) memcpy(row + k * row_bytes, row, (size_t)row_bytes);
  }
}

gnn_status gnn_read_numbers(gnn_dataset *dataset, const char *path, const gnn_numbers_rules *rules, gnn_array *array, gnn_error *error) {
  gnn_text_table *table;
  numbers_shape shape;
  memset(array, 0, sizeof *array);
  gnn_status status = gnn_table_open(path, &rules->table, &table, error);
  if (status != GNN_OK) return status;
  status = numbers_look(table, &shape, error);
  const int is_label = shape.width == 1 && shape.is_whole;
  const gnn_dtype dtype = is_label ? (shape.is_small ? GNN_I32 : GNN_I64) : rules->is_double ? GNN_F64 : GNN_F32;
  const int64_t rows = shape.rows * rules->copies;
  unsigned char *data = status == GNN_OK ? gnn_dataset_alloc(dataset, rows, shape.width * gnn_dtype_bytes(dtype), error) : NULL;
  if (status == GNN_OK && data == NULL) status = GNN_ENOMEM;
  if (status == GNN_OK) status = gnn_table_rewind(table, error);
  if (status == GNN_OK) status = numbers_take(table, &shape, rules->copies, dtype, data, error);
  gnn_table_close(table);
  *array = (gnn_array){.dtype = dtype, .rank = shape.width == 1 ? 1 : 2, .shape = {rows, shape.width}, .count = rows * shape.width, .data = data};
  return status;
}
