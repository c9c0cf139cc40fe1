/* adjacency.h: a graph, or any matrix, by its rows: row r has the columns idx[ptr[r]] .. idx[ptr[r + 1] - 1]. */
#ifndef GNN_ADJACENCY_H
#define GNN_ADJACENCY_H

#include <stdint.h>

/* The same by columns: column_ptr[columns + 1]; rows[], ascending in a column; entry[], where each stood among the rows. rows and entry
 * may be NULL. O(rows + columns + entries). */
void gnn_adjacency_turn(const int64_t *ptr, const int32_t *idx, int64_t row_count, int64_t columns, int64_t *column_ptr, int32_t *rows, int64_t *entry);

/* The rows[] and entry[] of the columns first .. end - 1 alone, from those of `first` on, where column_ptr is known; next: room for a number for each of these columns. O(entries). */
void gnn_adjacency_turn_some(const int64_t *ptr, const int32_t *idx, int64_t row_count, int64_t first, int64_t end, const int64_t *column_ptr, int64_t *next, int32_t *rows, int64_t *entry);

/* Where the row has `column`, or else its first entry beyond; columns ascend in the row. */
static inline int64_t gnn_adjacency_from(const int64_t *ptr, const int32_t *idx, int64_t row, int64_t column) {
  int64_t low = ptr[row], high = ptr[row + 1];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (idx[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The entry of the row at `column`; -1: it has none. */
static inline int64_t gnn_adjacency_entry(const int64_t *ptr, const int32_t *idx, int64_t row, int64_t column) {
  const int64_t at = gnn_adjacency_from(ptr, idx, row, column);
  return at < ptr[row + 1] && idx[at] == column ? at : -1;
}

/* The row that an entry is in, among the rows low .. high - 1: ptr[low] <= entry < ptr[high]. */
static inline int64_t gnn_adjacency_row(const int64_t *ptr, int64_t low, int64_t high, int64_t entry) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (ptr[middle] <= entry) low = middle;
    else high = middle;
  }
  return low;
}

#endif
