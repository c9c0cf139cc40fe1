/* csv.c: tables with a row an edge, and a row a node. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "readers.h"

static const char *const csv_sources[] = {"src", "source", "from", "src_id", "source_id", "from_id", "src_node", "source_node", "node1", "id1", ":start_id", "u", NULL};
static const char *const csv_destinations[] = {"dst", "target", "to", "dst_id", "target_id", "to_id", "dst_node", "target_node", "node2", "id2", ":end_id", "v", "dest", "destination", NULL};
static const char *const csv_names[] = {"id", "node", "node_id", "nodeid", ":id", "name", NULL};

int gnn_csv_is_end(const char *word, size_t length, int end) {
  const char *const *names = end ? csv_destinations : csv_sources;
  while (*names && (strlen(*names) != length || strncasecmp(*names, word, length) != 0)) names++;
  return *names != NULL;
}

/* An open table with its columns; the first row of data is what comes next. */
typedef struct csv_open {
  gnn_text_table *table;
  gnn_columns columns;
  int has_header;
  int has_index; /* the first column has no name, others have: what pandas writes beside a table */
} csv_open;

static void csv_close(csv_open *open) {
  gnn_columns_close(&open->columns);
  gnn_table_close(open->table);
}

static int csv_usual(const gnn_columns *columns, const char *const *names) {
  for (int k = 0; names[k]; k++)
    for (int c = 0; c < columns->count; c++)
      if (strcasecmp(columns->items[c].name, names[k]) == 0) return c;
  return -1;
}

/* Some cell is no number, and nothing is, or it is one of the names that columns have. */
static int csv_is_header(const gnn_text_table *table, const gnn_csv *csv) {
  double number;
  int is_text = 0;
  if (csv->header >= 0) return csv->header;
  for (int c = 0; c < table->count; c++) is_text |= table->cells[c].length > 0 && !gnn_cell_number(&table->cells[c], &number) && gnn_cell_numbers(&table->cells[c], NULL, 0) < 0;
  return is_text;
}

static gnn_status csv_begin(const char *path, const gnn_csv *csv, int wanted_count, const char *const *wanted, csv_open *open, gnn_error *error) {
  gnn_table_rules rules;
  *open = (csv_open){.columns = {.wanted_count = wanted_count, .wanted = wanted}};
  gnn_status status = gnn_table_guess(path, &rules, error);
  rules.comment = NULL;
  if (csv->separator) rules.separator = csv->separator, rules.has_quotes = 1;
  if (status == GNN_OK) status = gnn_table_open(path, &rules, &open->table, error);
  if (status != GNN_OK) return status;
  gnn_text_table *table = open->table;
  do status = gnn_table_next(table, error);
  while (status == GNN_OK && table->count > 0 && table->cells[0].text[0] == '#');
  if (status == GNN_OK && table->count < 1) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is empty", path);
  if (status == GNN_OK) {
    open->has_header = csv_is_header(table, csv);
    open->has_index = open->has_header && table->count > 1 && table->cells[0].length == 0;
    status = gnn_columns_open(&open->columns, table, open->has_header, error);
  }
  return status;
}

/* Comments stand before the first row alone: a name may begin with #. */
typedef gnn_status csv_row(void *user, const gnn_text_table *table, int64_t r, gnn_error *error);

/* rows: how many there are to be; -1: any number. */
static gnn_status csv_walk(csv_open *open, int64_t rows, csv_row *row, void *user, gnn_error *error) {
  gnn_status status = gnn_table_rewind(open->table, error);
  int is_first = 1;
  int64_t r = 0;
  while (status == GNN_OK) {
    status = gnn_table_next(open->table, error);
    if (status != GNN_OK || open->table->count < 0) break;
    if (is_first && open->table->count > 0 && open->table->cells[0].text[0] == '#') continue;
    if (is_first && open->has_header) {
      is_first = 0;
      continue;
    }
    is_first = 0;
    status = row(user, open->table, r++, error);
  }
  return status == GNN_OK && rows >= 0 && r != rows ? gnn_table_fail(open->table, -1, "", error, "the file has changed while it was being read") : status;
}

/* A column that is asked for by name. */
static gnn_status csv_named(const csv_open *open, const char *argument, const char *name, int *column, gnn_error *error) {
  if (name == NULL) return GNN_OK;
  *column = gnn_columns_find(&open->columns, name);
  if (*column >= 0) return GNN_OK;
  char list[400];
  gnn_columns_list(&open->columns, list, sizeof list);
  return gnn_fail(error, GNN_EDATA, "E0203", "\"%s\" has no column \"%s\" (%s = ...); it has %s", open->table->path, name, argument, list);
}

/* ---- nodes ---- */

typedef struct csv_nodes {
  csv_open open;
  gnn_ids *ids;
  int id;
} csv_nodes;

static gnn_status csv_look_node(void *user, const gnn_text_table *table, int64_t r, gnn_error *error) {
  csv_nodes *nodes = user;
  (void)r;
  gnn_status status = gnn_columns_look(&nodes->open.columns, table, error);
  if (status != GNN_OK || nodes->id < 0) return status;
  int64_t number;
  int is_new;
  status = gnn_table_text(table, nodes->id, error);
  if (status == GNN_OK && table->cells[nodes->id].length == 0) status = gnn_table_fail(table, nodes->id, "", error, "this node has no %s", nodes->open.columns.items[nodes->id].name);
  if (status == GNN_OK) status = gnn_ids_add(nodes->ids, table->cells[nodes->id].text, &number, &is_new, error);
  return status == GNN_OK && !is_new ? gnn_table_fail(table, nodes->id, "E0701", error, "node \"%.60s\" is there already, in row %lld", table->cells[nodes->id].text, (long long)number + 1) : status;
}

static gnn_status csv_take_node(void *user, const gnn_text_table *table, int64_t r, gnn_error *error) {
  csv_nodes *nodes = user;
  return gnn_columns_take(&nodes->open.columns, table, r, error);
}

gnn_status gnn_csv_nodes(gnn_dataset *dataset, const gnn_csv *csv, const char *prefix, gnn_domain domain, int set, gnn_ids *ids, int64_t *count, gnn_error *error) {
  csv_nodes nodes = {.ids = ids, .id = -1};
  gnn_status status = csv_begin(csv->nodes, csv, csv->wanted_nodes, csv->node_columns, &nodes.open, error);
  if (status == GNN_OK) {
    nodes.id = nodes.open.has_header ? csv_usual(&nodes.open.columns, csv_names) : -1;
    if (nodes.open.has_index) nodes.open.columns.items[0].is_taken = 1;
    if (nodes.open.has_index && nodes.id < 0 && csv->base == 0) nodes.id = 0;
    if (nodes.open.has_index) gnn_dataset_note(dataset, "the first column of \"%.200s\" has no name: %s", csv->nodes, nodes.id == 0 && !csv->id ? "it is taken for the id of the nodes" : "it is not used");
    status = csv_named(&nodes.open, "id", csv->id, &nodes.id, error);
  }
  if (status == GNN_OK && nodes.id >= 0) nodes.open.columns.items[nodes.id].is_taken = 1;
  if (status == GNN_OK) status = csv_walk(&nodes.open, -1, csv_look_node, &nodes, error);
  if (status == GNN_OK && nodes.open.columns.rows >= INT32_MAX) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has %s rows; more than 2^31 - 2 nodes are not supported", csv->nodes, gnn_count_text(nodes.open.columns.rows).text);
  if (status == GNN_OK && nodes.id < 0) {
    ids->count = nodes.open.columns.rows; /* they are called by their numbers */
    gnn_dataset_note(dataset, "\"%.200s\" has no column id: its rows are nodes %d, %d, ...", csv->nodes, csv->base, csv->base + 1);
  }
  if (status == GNN_OK) status = gnn_columns_plan(&nodes.open.columns, dataset, csv->nodes, error);
  if (status == GNN_OK) status = csv_walk(&nodes.open, nodes.open.columns.rows, csv_take_node, &nodes, error);
  if (status == GNN_OK) status = gnn_columns_finish(&nodes.open.columns, prefix, domain, set, 1, error);
  *count = nodes.open.columns.rows;
  csv_close(&nodes.open);
  return status;
}

/* ---- edges ---- */

typedef struct csv_edges {
  csv_open open;
  const gnn_csv *csv;
  const gnn_csv_ends *ends;
  const char *of; /* where the nodes are, for messages */
  int column[2];
  int is_numbered; /* ends are numbers, and nobody has named the nodes */
  int32_t *node[2];
  int64_t greatest;
  int is_unusual; /* a header without the names that ends have */
} csv_edges;

static gnn_status csv_look_edge(void *user, const gnn_text_table *table, int64_t r, gnn_error *error) {
  csv_edges *edges = user;
  int64_t number;
  gnn_status status = gnn_columns_look(&edges->open.columns, table, error);
  if (status == GNN_OK && r == 0 && edges->ends->is_open) edges->is_numbered = gnn_cell_whole(&table->cells[edges->column[0]], &number) && gnn_cell_whole(&table->cells[edges->column[1]], &number);
  return status;
}

static gnn_status csv_number(csv_edges *edges, const gnn_text_table *table, int end, int64_t most, int64_t *number, gnn_error *error) {
  const int c = edges->column[end], base = edges->csv->base;
  gnn_status status = gnn_table_whole(table, c, number, error);
  if (status != GNN_OK) {
    if (edges->is_numbered) gnn_fail_help(error, "the ends of the first edge are numbers, so all are; where nodes have names, a table of nodes says so: nodes = \"...\", id = \"...\"");
    else if (edges->csv->nodes) gnn_fail_help(error, "\"%s\" has no column id, so its rows are numbered; id = \"...\" names the column in which nodes are called as here", edges->csv->nodes);
    return status;
  }
  *number -= base;
  if (*number >= 0 && *number < most) return GNN_OK;
  status = gnn_table_fail(table, c, "E0701", error, "node %lld, but nodes run %d … %lld", (long long)*number + base, base, (long long)most - 1 + base);
  if (base == 1 && *number == -1) gnn_fail_help(error, "base = 1 says that nodes are counted from 1");
  else if (base == 0 && *number == most) gnn_fail_help(error, "ids look 1-based: base = 1");
  return status;
}

static gnn_status csv_end(csv_edges *edges, const gnn_text_table *table, int end, int64_t *number, gnn_error *error) {
  gnn_ids *ids = end ? edges->ends->to : edges->ends->from;
  const int c = edges->column[end];
  int is_new;
  if (edges->is_numbered) return csv_number(edges, table, end, edges->csv->node_count >= 0 ? edges->csv->node_count : INT32_MAX - 1, number, error);
  if (!ids->is_mapped && !edges->ends->is_open) return csv_number(edges, table, end, ids->count, number, error);
  gnn_status status = gnn_table_text(table, c, error);
  if (status != GNN_OK) return status;
  if (table->cells[c].length == 0) return gnn_table_fail(table, c, "E0701", error, "an edge without an end");
  if (edges->ends->is_open) {
    status = gnn_ids_add(ids, table->cells[c].text, number, &is_new, error);
    return status == GNN_OK && *number >= INT32_MAX - 1 ? gnn_table_fail(table, c, "", error, "more than 2^31 - 2 nodes are not supported") : status;
  }
  *number = gnn_ids_find(ids, table->cells[c].text);
  return *number >= 0 ? GNN_OK : gnn_table_fail(table, c, "E0701", error, "\"%.60s\" is no node of \"%s\"", table->cells[c].text, edges->of);
}

static gnn_status csv_take_edge(void *user, const gnn_text_table *table, int64_t r, gnn_error *error) {
  csv_edges *edges = user;
  gnn_status status = gnn_columns_take(&edges->open.columns, table, r, error);
  for (int end = 0; status == GNN_OK && end < 2; end++) {
    int64_t number = 0;
    status = csv_end(edges, table, end, &number, error);
    edges->node[end][r] = (int32_t)number;
    if (number > edges->greatest) edges->greatest = number;
  }
  return status;
}

static gnn_status csv_find_ends(csv_edges *edges, gnn_dataset *dataset, gnn_error *error) {
  gnn_columns *columns = &edges->open.columns;
  int *column = edges->column;
  if (columns->count < 2) return gnn_table_fail(edges->open.table, -1, "", error, "an edge has two ends, and there is one column only");
  column[0] = edges->open.has_header ? csv_usual(columns, csv_sources) : -1;
  column[1] = edges->open.has_header ? csv_usual(columns, csv_destinations) : -1;
  const int is_usual = column[0] >= 0 && column[1] >= 0;
  const int first = edges->open.has_index && columns->count > 2; /* an index is no end */
  if (!is_usual) column[0] = first, column[1] = first + 1;
  if (first) {
    columns->items[0].is_taken = 1;
    gnn_dataset_note(dataset, "the first column of \"%.200s\" has no name: it is not used", edges->csv->edges);
  }
  if (!is_usual && edges->open.has_header && !edges->csv->src && !edges->csv->dst)
    edges->is_unusual = 1;
  if (edges->is_unusual) gnn_dataset_note(dataset, "edges go from column %s to column %s; src = ... and dst = ... say otherwise", columns->items[column[0]].name, columns->items[column[1]].name);
  gnn_status status = csv_named(&edges->open, "src", edges->csv->src, &column[0], error);
  if (status == GNN_OK) status = csv_named(&edges->open, "dst", edges->csv->dst, &column[1], error);
  if (status == GNN_OK && column[0] == column[1]) status = gnn_fail(error, GNN_EDATA, "", "\"%s\": both ends of the edges are column %s; src = ... and dst = ... name two", edges->csv->edges, columns->items[column[0]].name);
  for (int end = 0; status == GNN_OK && end < 2; end++) columns->items[column[end]].is_taken = 1;
  return status;
}

gnn_status gnn_csv_edges(gnn_dataset *dataset, const gnn_csv *csv, const gnn_csv_ends *ends, int has_fields, gnn_array *source, gnn_array *destination, gnn_error *error) {
  csv_edges edges = {.csv = csv, .ends = ends, .of = csv->nodes ? csv->nodes : "the nodes", .greatest = -1};
  gnn_status status = csv_begin(csv->edges, csv, has_fields ? csv->wanted_edges : 0, csv->edge_columns, &edges.open, error);
  if (status == GNN_OK) status = csv_find_ends(&edges, dataset, error);
  if (status == GNN_OK) status = csv_walk(&edges.open, -1, csv_look_edge, &edges, error);
  const int64_t rows = edges.open.columns.rows;
  if (status == GNN_OK && rows == 0 && ends->is_open && csv->node_count < 0) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has a first row, with the names of columns, and no edge", csv->edges);
  if (status == GNN_OK) status = gnn_columns_plan(&edges.open.columns, dataset, csv->edges, error);
  for (int end = 0; status == GNN_OK && end < 2; end++)
    if ((edges.node[end] = gnn_dataset_alloc(dataset, rows, sizeof **edges.node, error)) == NULL) status = GNN_ENOMEM;
  if (status == GNN_OK) status = csv_walk(&edges.open, rows, csv_take_edge, &edges, error);
  if (status == GNN_OK && has_fields) status = gnn_columns_finish(&edges.open.columns, "", GNN_EDGE, 0, 0, error);
  if (status == GNN_OK) {
    *source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {rows}, .count = rows, .data = (const unsigned char *)edges.node[0]};
    *destination = *source;
    destination->data = (const unsigned char *)edges.node[1];
    if (edges.is_numbered) ends->from->count = csv->node_count >= 0 ? csv->node_count : edges.greatest + 1;
    if (edges.is_unusual && csv->header < 0) gnn_dataset_note(dataset, "the first row of \"%.200s\" is taken for the names of its columns; header = false says that it is an edge", csv->edges);
  }
  csv_close(&edges.open);
  return status;
}

gnn_status gnn_read_csv(gnn_dataset *dataset, const gnn_csv *csv, gnn_error *error) {
  gnn_ids ids = {0};
  int64_t nodes = 0;
  dataset->kind = "tables of nodes and edges";
  gnn_status status = GNN_OK;
  if (csv->nodes) status = gnn_csv_nodes(dataset, csv, "", GNN_NODE, 0, &ids, &nodes, error);
  const gnn_csv_ends ends = {&ids, &ids, csv->nodes == NULL};
  if (status == GNN_OK) status = gnn_csv_edges(dataset, csv, &ends, 1, &dataset->raw_source, &dataset->raw_destination, error);
  if (status == GNN_OK && ids.is_mapped && !csv->nodes && csv->node_count >= 0)
    status = gnn_fail(error, GNN_EINVAL, "", "\"%s\" calls nodes by names, and nodes is of nodes that are numbers", csv->edges);
  if (status == GNN_OK) {
    dataset->has_edges = 1;
    dataset->declared_nodes = csv->nodes ? nodes : ids.count;
    status = gnn_ids_keep(&ids, dataset, error);
  }
  gnn_ids_free(&ids);
  return status;
}
