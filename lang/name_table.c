#include "name_table.h"

#include <stdint.h>
#include <string.h>

/* Where the name is, or the free place where it belongs. Open addressing, at most half full. */
static int place_of(const NameTable *table, const char *name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
  hash *= 0x9E3779B97F4A7C15u; /* else names that end otherwise would be neighbours */
  int mask = table->capacity - 1, at = (int)(hash >> 33) & mask;
  while (table->names[at] && strcmp(table->names[at], name) != 0) at = (at + 1) & mask;
  return at;
}

int name_table_find(const NameTable *table, const char *name) {
  if (table->capacity == 0) return -1;
  int at = place_of(table, name);
  return table->names[at] ? table->values[at] : -1;
}

void name_table_add(Arena *arena, NameTable *table, const char *name, int value) {
  if (2 * table->count >= table->capacity) {
    NameTable bigger = {.capacity = table->capacity ? 2 * table->capacity : 64};
    bigger.names = arena_alloc(arena, (size_t)bigger.capacity * sizeof *bigger.names);
    bigger.values = arena_alloc(arena, (size_t)bigger.capacity * sizeof *bigger.values);
    for (int i = 0; i < table->capacity; i++)
      if (table->names[i]) name_table_add(arena, &bigger, table->names[i], table->values[i]);
    *table = bigger;
  }
  int at = place_of(table, name);
  table->names[at] = name;
  table->values[at] = value;
  table->count++;
}

bool name_is_short(Diags *diags, Place place, const char *name) {
  size_t length = strlen(name);
  if (length <= NAME_BYTES_MAX) return true;
  diags_error(diags, "E0115", place, "the name %.40s... has %zu characters; %d is the most, with the layers it is in", name, length, NAME_BYTES_MAX);
  return false;
}
