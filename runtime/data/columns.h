/* columns.h: columns of a table become fields. They are walked over twice: what each holds, and then its numbers, into arrays of their size. */
#ifndef GNN_COLUMNS_H
#define GNN_COLUMNS_H

#include "table.h"

typedef enum gnn_column_kind { GNN_COLUMN_EMPTY, GNN_COLUMN_WHOLE, GNN_COLUMN_NUMBER, GNN_COLUMN_LIST, GNN_COLUMN_TEXT } gnn_column_kind;

typedef struct gnn_column {
  char name[64];
  char field_name[64];  /* as the language has it: open_access of "open access" */
  int is_taken;         /* by the caller: it is no field */
  gnn_column_kind kind; /* of all cells so far */
  int64_t width;        /* GNN_COLUMN_LIST: numbers in each cell */
  int64_t empty;        /* cells in which nothing stands */
  int64_t lists, commas; /* cells that are several numbers, and those of them that may be one with a decimal comma: "0,5" */
  int64_t numbers, others; /* cells that are a number, and those that are none, the first of which is */
  int64_t other_line;
  char other[24];
  int field, place;     /* index into fields, -1: none; which of its columns */
} gnn_column;

typedef struct gnn_column_field {
  char name[64];
  gnn_column_kind kind;
  int64_t width;
  float *numbers;       /* [rows, width]; or */
  int32_t *labels;      /* [rows] */
  struct gnn_ids *words; /* GNN_COLUMN_TEXT: those that were met */
  int is_left_out;
  char *gap;             /* as gnn_data_field has it; owned by the data set */
} gnn_column_field;

typedef struct gnn_columns {
  int count, field_count;
  gnn_column *items;
  gnn_column_field *fields;
  int64_t rows;
  int wanted_count;     /* names of fields that are asked for, in wanted[0 .. ); -1: all that there are */
  const char *const *wanted;
  gnn_dataset *dataset; /* owns the numbers */
} gnn_columns;

/* From a row with their names; is_named 0: from the number of its cells. */
gnn_status gnn_columns_open(gnn_columns *columns, const gnn_text_table *header, int is_named, gnn_error *error);
int gnn_columns_find(const gnn_columns *columns, const char *name); /* -1: absent */
gnn_status gnn_columns_look(gnn_columns *columns, const gnn_text_table *row, gnn_error *error);
/* Between the two walks: which columns are which field. x_0, x_1, ... are the field x, as are 0, 1, ... What is no name of the language becomes one (names.h). E0203 of what is asked for and not there. */
gnn_status gnn_columns_plan(gnn_columns *columns, gnn_dataset *dataset, const char *path, gnn_error *error);
gnn_status gnn_columns_take(gnn_columns *columns, const gnn_text_table *row, int64_t r, gnn_error *error);
/* prefix: before each name, "paper." or "". A column called split, and train_mask, ..., are splits where is_split. */
gnn_status gnn_columns_finish(gnn_columns *columns, const char *prefix, gnn_domain domain, int set, int has_splits, gnn_error *error);
void gnn_columns_close(gnn_columns *columns);
/* "id, age and y" for messages. */
void gnn_columns_list(const gnn_columns *columns, char *text, size_t room);

#endif
