/* csv.h: a graph from a table of its edges and one of its nodes. */
#ifndef GNN_CSV_H
#define GNN_CSV_H

#include "ids.h"
#include "table.h"

typedef struct gnn_csv {
  const char *edges, *nodes; /* files; nodes NULL: nodes are what the edges name */
  const char *src, *dst, *id; /* columns; NULL: by the usual names, else the first two, and none */
  int header;                /* 1: the first row has names, 0: it has none, -1: as it looks */
  int base;                  /* what the first node is called where nodes have no names of their own */
  int64_t node_count;        /* where there is no table of nodes; -1: not said */
  char separator;            /* 0: as it looks */
  int wanted_nodes, wanted_edges; /* columns that are asked for; -1: all there are */
  const char *const *node_columns, *const *edge_columns;
} gnn_csv;

/* One of the names that columns with the sources of edges (end 0), or their destinations (1), usually have. */
int gnn_csv_is_end(const char *word, size_t length, int end);

gnn_status gnn_read_csv(gnn_dataset *dataset, const gnn_csv *csv, gnn_error *error);

/* One of the two tables, for sets that have several. prefix: before names of fields, "paper."; NULL in csv of what is not in the table. */
gnn_status gnn_csv_nodes(gnn_dataset *dataset, const gnn_csv *csv, const char *prefix, gnn_domain domain, int set, gnn_ids *ids, int64_t *count, gnn_error *error);
/* from, to: names of the nodes on either side; not open: they are added as they come. */
typedef struct gnn_csv_ends {
  gnn_ids *from, *to;
  int is_open;
} gnn_csv_ends;
gnn_status gnn_csv_edges(gnn_dataset *dataset, const gnn_csv *csv, const gnn_csv_ends *ends, int has_fields, gnn_array *source, gnn_array *destination, gnn_error *error);

#endif
