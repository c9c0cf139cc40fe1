/* name_table.h: names to small numbers, for programs with thousands of layers. */
#ifndef GNNCC_NAME_TABLE_H
#define GNNCC_NAME_TABLE_H

#include "diag.h"

enum { NAME_BYTES_MAX = 255 }; /* of a name in the program, and of a weight with the layers it is in */

/* false after a message */
bool name_is_short(Diags *diags, Place place, const char *name);

typedef struct NameTable {
  int count, capacity; /* capacity: a power of two, or 0 */
  const char **names;
  int *values;
} NameTable;

/* The value of a name, or -1. */
int name_table_find(const NameTable *table, const char *name);

/* Adds a name that is not there yet; the text must outlive the table. */
void name_table_add(Arena *arena, NameTable *table, const char *name, int value);

#endif
