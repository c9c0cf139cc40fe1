/* graph_rows.h: the rows of a graph one after the other, from memory or from the disk. */
#ifndef GRAPH_ROWS_H
#define GRAPH_ROWS_H

#include "runtime/data/dataset.h"

/* Direction 0: rows are destinations and list their sources, 1: the other way. A symmetric graph has one direction. */
typedef struct graph_rows {
  int64_t nodes, edges;
  int directions;
  const int64_t *ptr[2]; /* in memory; NULL: on the disk */
  const int32_t *idx[2];
  char *path;
  int descriptor;
  int64_t at_ptr[2], at_idx[2]; /* where they lie in the file */
  size_t block;                 /* bytes that are read at once */
  uint64_t fingerprint;         /* gnn_graph_fingerprint */
} graph_rows;

/* Of prepared data; out_ptr, out_idx: as gnn_adjacency_turn makes them, not used where every edge has its reverse. */
graph_rows graph_rows_of(const gnn_dataset *dataset, const int64_t *out_ptr, const int32_t *out_idx);
/* Of a container that gnndata convert wrote, which is read once and checked: rows ascend, both directions have the same edges, the sums are right. */
gnn_status graph_rows_open(const char *path, size_t block, graph_rows *rows, gnn_error *error);
void graph_rows_close(graph_rows *rows);

typedef struct graph_walk {
  const graph_rows *rows;
  int direction;
  int64_t row, begin;        /* the next one, and where it begins */
  int64_t *ptr;              /* a piece of the row pointers: ptr_have of them from ptr_first on */
  int64_t ptr_first, ptr_have;
  int32_t *idx;              /* a piece of the entries */
  int64_t idx_first, idx_have, idx_room;
} graph_walk;

gnn_status graph_walk_begin(const graph_rows *rows, int direction, graph_walk *walk, gnn_error *error);
/* The next row: its entries are valid until the next call. To be called once for each node. */
gnn_status graph_walk_next(graph_walk *walk, const int32_t **entries, int64_t *count, gnn_error *error);
void graph_walk_end(graph_walk *walk);

#endif
