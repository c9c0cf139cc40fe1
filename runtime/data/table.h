/* table.h: text in rows and cells, plain or packed, through a buffer of fixed size. */
#ifndef GNN_TABLE_H
#define GNN_TABLE_H

#include "dataset.h"

typedef struct gnn_table_rules {
  char separator;      /* ' ': runs of blanks and tabs, and commas and semicolons among them */
  int has_quotes;      /* cells may be in "", with "" for a quote, separators and line ends in them */
  const char *comment; /* lines that begin with one of these characters say nothing; NULL: none do */
  int keeps_empty;     /* an empty line is a row without cells; otherwise it says nothing */
} gnn_table_rules;

typedef struct gnn_cell {
  char *text;          /* zero-terminated; valid until the next row */
  int32_t length;
  int32_t column;      /* where it begins in its line, in characters from 1 */
} gnn_cell;

typedef struct gnn_text_table {
  char *path;
  gnn_table_rules rules;
  int64_t line;        /* of the row, from 1 */
  int count;           /* of its cells; -1: there is no more */
  gnn_cell *cells;
  struct gnn_stream *stream;
  unsigned char *buffer;
  size_t begin, end;   /* what of the buffer is still to be read */
  int64_t lines_read;
  int is_last;         /* nothing comes after the buffer */
  int cell_room;
} gnn_text_table;

/* A byte order mark is skipped, line ends are \n or \r\n; what is UTF-16 is refused. */
gnn_status gnn_table_open(const char *path, const gnn_table_rules *rules, gnn_text_table **table, gnn_error *error);
gnn_status gnn_table_next(gnn_text_table *table, gnn_error *error); /* the next row */
/* Of the first bytes of a text: *mark of them are a byte order mark, 0 or 3. GNN_EDATA: it is UTF-16. */
gnn_status gnn_text_mark(const char *path, const unsigned char *head, size_t size, size_t *mark, gnn_error *error);
gnn_status gnn_table_rewind(gnn_text_table *table, gnn_error *error);
void gnn_table_close(gnn_text_table *table); /* NULL is fine */

/* An error at a cell of the row, or, cell -1, at the row: "PATH" line 3 column 7: ... */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
gnn_status gnn_table_fail(const gnn_text_table *table, int cell, const char *code, gnn_error *error, const char *format, ...);
gnn_status gnn_table_number(const gnn_text_table *table, int cell, double *value, gnn_error *error);
gnn_status gnn_table_whole(const gnn_text_table *table, int cell, int64_t *value, gnn_error *error);
gnn_status gnn_table_text(const gnn_text_table *table, int cell, gnn_error *error); /* it is UTF-8 */
/* Whole numbers are told apart from others without a look at their digits. 1: it fits. */
int gnn_cell_whole(const gnn_cell *cell, int64_t *value);
int gnn_cell_number(const gnn_cell *cell, double *value);
/* Several numbers in one cell, apart by commas, semicolons or blanks, perhaps in []: how many, of which out[0 .. room) has the first; -1: something is none. */
int64_t gnn_cell_numbers(const gnn_cell *cell, float *out, int64_t room);
/* No more rows of so many bytes at least can be in what is left of the file: what a header claims beyond that is a lie. */
int64_t gnn_table_most_rows(const gnn_text_table *table, int64_t row_bytes);
/* A file as gnn_table_open takes it, by its first line that is no comment: separators and whether there are names. */
gnn_status gnn_table_guess(const char *path, gnn_table_rules *rules, gnn_error *error);

#endif
