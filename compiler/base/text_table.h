/* text_table.h: text for people: lines and tables as wide as the terminal, in colour where that is wanted; elsewhere nothing is shortened, and there is no colour. */
#ifndef GNNCC_TEXT_TABLE_H
#define GNNCC_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "lang/arena.h"

typedef struct Screen {
  FILE *out;
  int columns;    /* 0: lines are as long as they are */
  bool has_color;
} Screen;

/* A terminal is as wide as COLUMNS says, or else as it says itself. */
Screen screen_of(FILE *out, bool has_color);

/* One line, broken at blanks where it is too long; what follows stands behind `indent` blanks. */
void screen_line(const Screen *screen, int indent, const char *line);
/* In bold, where there is colour: of `arena` there. */
const char *screen_strong(const Screen *screen, Arena *arena, const char *text);

typedef struct TableColumn {
  const char *head;
  bool is_right;
  int least;      /* cells may be cut down to so many columns; 0: never */
  int goes;       /* columns with larger numbers are cut first, and go first where that is not enough; 0: cut last, never goes */
  const char *(*paint)(const char *cell); /* the parameters of its SGR sequence ("36"); NULL: plain */
} TableColumn;

typedef struct Table {
  Arena *arena;
  int column_count, row_count;
  const TableColumn *columns;
  const char *const **rows;
} Table;

void table_add(Table *table, const char *const *cells); /* [column_count], copied; the texts are the caller's */
/* Behind two blanks, two between columns. `most` rows. */
void table_print(const Table *table, int most, const Screen *screen);

#endif
