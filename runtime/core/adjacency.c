/* adjacency.c: a graph turned around, by a stable counting sort. */
#include "adjacency.h"

#include <string.h>

void gnn_adjacency_turn(const int64_t *ptr, const int32_t *idx, int64_t row_count, int64_t columns, int64_t *column_ptr, int32_t *rows, int64_t *entry) {
  memset(column_ptr, 0, (size_t)(columns + 1) * sizeof *column_ptr);
  for (int64_t e = 0; e < ptr[row_count]; e++) column_ptr[idx[e] + 1]++;
  for (int64_t c = 0; c < columns; c++) column_ptr[c + 1] += column_ptr[c];
  for (int64_t r = 0; r < row_count; r++) {
    for (int64_t e = ptr[r]; e < ptr[r + 1]; e++) {
      const int64_t at = column_ptr[idx[e]]++;
      if (rows) rows[at] = (int32_t)r;
      if (entry) entry[at] = e;
    }
  }
  memmove(column_ptr + 1, column_ptr, (size_t)columns * sizeof *column_ptr);
  column_ptr[0] = 0;
}

void gnn_adjacency_turn_some(const int64_t *ptr, const int32_t *idx, int64_t row_count, int64_t first, int64_t end, const int64_t *column_ptr, int64_t *next, int32_t *rows, int64_t *entry) {
  for (int64_t c = first; c < end; c++) next[c - first] = column_ptr[c] - column_ptr[first];
  for (int64_t r = 0; r < row_count; r++)
    for (int64_t e = ptr[r]; e < ptr[r + 1]; e++) {
      if (idx[e] < first || idx[e] >= end) continue;
      const int64_t at = next[idx[e] - first]++;
      if (rows) rows[at] = (int32_t)r;
      if (entry) entry[at] = e;
    }
}
