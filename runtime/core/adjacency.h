/* adjacency.h: a graph, or any matrix, by its rows: row r has the columns idx[ptr[r]] .. idx[ptr[r + 1] - 1]. */
#ifndef GNN_ADJACENCY_H
#define GNN_ADJACENCY_H

#include <stdint.h>

/* The same by columns: column_ptr[columns + 1]; rows[], ascending in a column; entry[], where each stood among the rows. rows and entry
 * may be NULL. O(rows + columns + entries). */
void gnn_adjacency_turn(const int64_t *ptr, const int32_t *idx, int64_t row_count, int64_t columns, int64_t *column_ptr, int32_t *rows, int64_t *entry);

#endif
