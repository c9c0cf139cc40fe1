/* edge_list.h: lists of edges of any length, a few at a time.
 *
 * Text, plain or packed, has an edge a line: source and destination, whole numbers, apart by blanks, tabs, commas or semicolons. Lines that begin with
 * # or % say nothing, nor does what follows the two; the first line may be a header. A NumPy array is [2, E], row 0 the sources, or [E, 2]. */
#ifndef GNN_EDGE_LIST_H
#define GNN_EDGE_LIST_H

#include "dataset.h"

typedef struct gnn_edge_list gnn_edge_list;

typedef struct gnn_edge {
  int32_t source, destination;
} gnn_edge;

typedef struct gnn_edge_rules {
  int base;      /* what the first node is called: 0 or 1 */
  int64_t nodes; /* -1: not said */
} gnn_edge_rules;

/* How far a list was read, and what there is to say of it so far. */
typedef struct gnn_edge_place {
  int64_t bytes, lines; /* of a text, unpacked */
  int64_t edges;
  int64_t least, greatest; /* nodes, from 0; greatest -1: none yet */
  int64_t header_line, wide_lines; /* 0: there is none */
} gnn_edge_place;

/* Whether a file is such a list, from its first lines and its name. */
gnn_status gnn_is_edge_list(const char *path, int *is_list, gnn_error *error);
gnn_status gnn_edge_list_open(const char *path, const gnn_edge_rules *rules, gnn_edge_list **list, gnn_error *error);
/* *count < room at the end only. E0701 of a node that there is not, GNN_EDATA of what is no edge, with its line. */
gnn_status gnn_edge_list_next(gnn_edge_list *list, gnn_edge *edges, int64_t room, int64_t *count, gnn_error *error);
const gnn_edge_place *gnn_edge_list_place(const gnn_edge_list *list);
/* Goes on where another reading was. */
gnn_status gnn_edge_list_seek(gnn_edge_list *list, const gnn_edge_place *place, gnn_error *error);
double gnn_edge_list_share(const gnn_edge_list *list); /* of the file that was read */
void gnn_edge_list_close(gnn_edge_list *list); /* NULL is fine */

/* The notes of a list that was read to its end; and its name for the data set: "web" of "x/web.txt.gz". */
void gnn_edge_list_notes(const gnn_edge_place *place, gnn_dataset *dataset);
gnn_status gnn_edge_list_name(const char *path, gnn_dataset *dataset, gnn_error *error);

/* All of it at once. */
gnn_status gnn_read_edge_list(gnn_dataset *dataset, const char *path, const gnn_edge_rules *rules, gnn_error *error);

#endif
