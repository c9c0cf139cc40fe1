/* tu.c: the text of the TU collection of graph data sets (https://chrsmrrs.github.io/datasets): NAME_A.txt, a line an edge: source, destination;
 * NAME_graph_indicator.txt, a line a node: its graph; both count from 1. NAME_graph_labels.txt, NAME_node_labels.txt, NAME_edge_labels.txt: a whole
 * number a line; NAME_node_attributes.txt, NAME_edge_attributes.txt, NAME_graph_attributes.txt: numbers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "readers.h"

static const char tu_edges[] = "_A.txt";

/* "PREFIX_A.txt", or with .gz; malloc'ed. *is_there: one of the two is. */
static char *tu_file(const char *prefix, const char *ending, int *is_there, gnn_error *error) {
  char *path = malloc(strlen(prefix) + strlen(ending) + 4);
  if (path == NULL) {
    gnn_fail_memory(error, 256);
    return NULL;
  }
  for (int i = 0; i < 2; i++) {
    sprintf(path, "%s%s%s", prefix, ending, i ? ".gz" : "");
    if ((*is_there = gnn_path_exists(path))) return path;
  }
  path[strlen(path) - 3] = 0;
  return path;
}

/* What the files of a folder, or those that begin with `path`, have before "_A.txt"; malloc'ed, NULL: there is none. Of several the first. */
static char *tu_prefix(const char *path) {
  if (!gnn_path_is_directory(path)) {
    int is_there;
    free(tu_file(path, tu_edges, &is_there, NULL));
    return is_there ? strdup(path) : NULL;
  }
  DIR *handle = opendir(path);
  if (handle == NULL) return NULL;
  char *name = NULL;
  const struct dirent *entry;
  while ((entry = readdir(handle)) != NULL) {
    const char *ending = strstr(entry->d_name, tu_edges);
    if (ending == NULL || ending == entry->d_name || (strcmp(ending, tu_edges) != 0 && strcmp(ending + sizeof tu_edges - 1, ".gz") != 0)) continue;
    char *stem = strndup(entry->d_name, (size_t)(ending - entry->d_name));
    if (stem && name && strcmp(name, stem) <= 0) {
      free(stem);
      continue;
    }
    free(name);
    name = stem;
    if (name == NULL) break;
  }
  closedir(handle);
  char *prefix = name ? gnn_path_join(path, name) : NULL;
  free(name);
  return prefix;
}

int gnn_is_tu(const char *path) {
  char *prefix = tu_prefix(path);
  free(prefix);
  return prefix != NULL;
}

static const gnn_table_rules tu_rules = {.separator = ' '};

/* A file that is not there has no rows. */
static gnn_status tu_read(gnn_dataset *dataset, const char *prefix, const char *ending, int is_needed, gnn_array *array, gnn_error *error) {
  const gnn_numbers_rules rules = {tu_rules, 1, 0};
  int is_there;
  char *path = tu_file(prefix, ending, &is_there, error);
  memset(array, 0, sizeof *array);
  if (path == NULL) return GNN_ENOMEM;
  gnn_status status = is_there || is_needed ? gnn_read_numbers(dataset, path, &rules, array, error) : GNN_OK;
  if (status == GNN_OK && array->count == 0 && is_needed) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds no numbers", path);
  free(path);
  return status;
}

/* ---- edges and graphs ---- */

static gnn_status tu_graphs(gnn_dataset *dataset, const char *prefix, const gnn_array *indicator, gnn_error *error) {
  const int64_t nodes = indicator->count, graphs = gnn_dtype_is_float(indicator->dtype) ? 0 : gnn_array_integer(indicator, nodes - 1);
  if (indicator->rank != 1 || graphs < 1 || graphs > nodes) return gnn_fail(error, GNN_EDATA, "", "\"%s_graph_indicator.txt\": one graph a line is needed, counted from 1", prefix);
  int64_t *ptr = gnn_dataset_alloc(dataset, graphs + 1, sizeof *ptr, error), graph = 0;
  if (ptr == NULL) return GNN_ENOMEM;
  ptr[0] = 0;
  for (int64_t v = 0; v < nodes; v++) {
    const int64_t own = gnn_array_integer(indicator, v);
    if (own < graph || own > graph + 1 || own < 1 || own > graphs)
      return gnn_fail(error, GNN_EDATA, "", "\"%s_graph_indicator.txt\" line %lld: graph %lld behind graph %lld; nodes stand in the order of the graphs, and each graph has some", prefix,
                      (long long)v + 1, (long long)own, (long long)graph);
    if (own > graph) ptr[graph++] = v;
  }
  ptr[graphs] = nodes;
  dataset->declared_nodes = nodes;
  dataset->declared_graphs = graphs;
  dataset->raw_graph_ptr = (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {graphs + 1}, .count = graphs + 1, .data = (const unsigned char *)ptr};
  return GNN_OK;
}

/* Both walks over the edges: of the first, ends[] are NULL. graph: of each node, from 1. */
static gnn_status tu_walk(const gnn_dataset *dataset, const gnn_array *graph, gnn_text_table *table, int32_t *const ends[2], int64_t room, int64_t *count, gnn_error *error) {
  const int64_t nodes = dataset->declared_nodes;
  for (*count = 0;; ++*count) {
    gnn_status status = gnn_table_next(table, error);
    if (status != GNN_OK || table->count < 0) return status;
    if (table->count != 2 && *count > 0) return gnn_table_fail(table, -1, "", error, "%d numbers stand here, and 2 in the lines before", table->count);
    if (table->count != 2) return gnn_table_fail(table, -1, "", error, "two nodes a line are needed");
    int64_t end[2], of[2];
    for (int k = 0; k < 2; k++) {
      status = gnn_table_whole(table, k, &end[k], error);
      if (status == GNN_OK && (end[k] < 1 || end[k] > nodes)) status = gnn_table_fail(table, k, "E0701", error, "node %lld, but nodes run 1 … %lld", (long long)end[k], (long long)nodes);
      if (status != GNN_OK) return status;
      if (ends[k] && *count < room) ends[k][*count] = (int32_t)end[k] - 1;
      of[k] = gnn_array_integer(graph, end[k] - 1);
    }
    if (of[0] != of[1])
      return gnn_table_fail(table, -1, "E0701", error, "the edge %lld → %lld leaves graph %lld: node %lld is of graph %lld", (long long)end[0], (long long)end[1], (long long)of[0], (long long)end[1], (long long)of[1]);
  }
}

static gnn_status tu_arcs(gnn_dataset *dataset, const gnn_array *graph, const char *prefix, gnn_error *error) {
  gnn_text_table *table;
  int32_t *ends[2] = {NULL, NULL};
  int64_t edges = 0, again = 0;
  int is_there;
  char *path = tu_file(prefix, tu_edges, &is_there, error);
  if (path == NULL) return GNN_ENOMEM;
  gnn_status status = gnn_table_open(path, &tu_rules, &table, error);
  if (status == GNN_OK) status = tu_walk(dataset, graph, table, ends, 0, &edges, error);
  for (int k = 0; status == GNN_OK && k < 2; k++)
    if ((ends[k] = gnn_dataset_alloc(dataset, edges, sizeof *ends[k], error)) == NULL) status = GNN_ENOMEM;
  if (status == GNN_OK) status = gnn_table_rewind(table, error);
  if (status == GNN_OK) status = tu_walk(dataset, graph, table, ends, edges, &again, error);
  if (status == GNN_OK && again != edges) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has changed while it was being read", path);
  gnn_table_close(table);
  free(path);
  if (status != GNN_OK) return status;
  dataset->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {edges}, .count = edges, .data = (const unsigned char *)ends[0]};
  dataset->raw_destination = dataset->raw_source;
  dataset->raw_destination.data = (const unsigned char *)ends[1];
  dataset->has_edges = 1;
  return GNN_OK;
}

/* ---- fields ---- */

static int tu_ascending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The different labels, ascending; malloc'ed. */
static gnn_status tu_different(const gnn_array *array, int64_t **sorted, int64_t *count, gnn_error *error) {
  int64_t *known = malloc(((size_t)array->count + 1) * sizeof *known);
  *sorted = known;
  *count = 0;
  if (known == NULL) return gnn_fail_memory(error, array->count * (int64_t)sizeof *known);
  for (int64_t r = 0; r < array->count; r++) known[r] = gnn_array_integer(array, r);
  qsort(known, (size_t)array->count, sizeof *known, tu_ascending);
  for (int64_t r = 0; r < array->count; r++)
    if (*count == 0 || known[r] != known[*count - 1]) known[(*count)++] = known[r];
  return GNN_OK;
}

/* Labels become 0, 1, 2, ... in the order of their numbers. */
static gnn_status tu_labels(gnn_dataset *dataset, const char *prefix, const char *ending, const gnn_array *table, const char *name, gnn_domain domain, gnn_error *error) {
  if (table->rank != 1) return gnn_fail(error, GNN_EDATA, "", "\"%s%s\": one label a line is needed", prefix, ending);
  for (int64_t r = 0; gnn_dtype_is_float(table->dtype) && r < table->count; r++) {
    const double number = gnn_array_number(table, r);
    if (number != floor(number)) return gnn_fail(error, GNN_EDATA, "E0702", "\"%s%s\" line %lld: %.9g is no label; whole numbers are", prefix, ending, (long long)r + 1, number);
  }
  int64_t *sorted = NULL, count = 0;
  int32_t *label = gnn_dataset_alloc(dataset, table->count, sizeof *label, error);
  gnn_array whole = *table;
  if (label == NULL) return GNN_ENOMEM;
  if (gnn_dtype_is_float(table->dtype)) { /* 1.0, 2.0, ... */
    for (int64_t r = 0; r < table->count; r++) label[r] = (int32_t)gnn_array_number(table, r);
    whole = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {table->count}, .count = table->count, .data = (const unsigned char *)label};
  }
  gnn_status status = tu_different(&whole, &sorted, &count, error);
  for (int64_t r = 0; status == GNN_OK && r < table->count; r++) {
    const int64_t number = gnn_array_integer(&whole, r), *found = bsearch(&number, sorted, (size_t)count, sizeof *sorted, tu_ascending);
    label[r] = found ? (int32_t)(found - sorted) : -1;
  }
  if (status == GNN_OK && (sorted[0] != 0 || sorted[count - 1] != count - 1))
    gnn_dataset_note(dataset, "%s has the labels %lld to %lld; they become 0 to %lld in their order", name, (long long)sorted[0], (long long)sorted[count - 1], (long long)count - 1);
  free(sorted);
  const gnn_array array = {.dtype = GNN_I32, .rank = 1, .shape = {table->count}, .count = table->count, .data = (const unsigned char *)label};
  if (status == GNN_OK) status = gnn_dataset_add_field(dataset, name, domain, &array, error);
  if (status == GNN_OK) dataset->fields[dataset->field_count - 1].declared_classes = count;
  return status;
}

/* Attributes are numbers, also where all of them are whole. */
static gnn_status tu_numbers(gnn_dataset *dataset, const gnn_array *table, const char *name, gnn_domain domain, gnn_error *error) {
  gnn_array array = *table;
  if (array.rank == 1) {
    array.rank = 2;
    array.shape[1] = 1;
  }
  return gnn_dataset_add_field(dataset, name, domain, &array, error);
}

/* One file after another: what is read first decides how the others are called. */
static gnn_status tu_fields(gnn_dataset *dataset, const char *prefix, gnn_error *error) {
  static const struct { const char *ending, *name, *otherwise; gnn_domain domain; int is_label; } files[] = {
    {"_node_attributes.txt", "x", "", GNN_NODE, 0},          {"_node_labels.txt", "x", "node_label", GNN_NODE, 1},
    {"_edge_attributes.txt", "edge_attr", "", GNN_EDGE, 0},  {"_edge_labels.txt", "edge_label", "", GNN_EDGE, 1},
    {"_graph_labels.txt", "y", "", GNN_GRAPH, 1},            {"_graph_attributes.txt", "y", "graph_attr", GNN_GRAPH, 0}};
  gnn_status status = GNN_OK;
  for (size_t i = 0; i < sizeof files / sizeof *files && status == GNN_OK; i++) {
    gnn_array table;
    status = tu_read(dataset, prefix, files[i].ending, 0, &table, error);
    const int64_t rows = table.rank ? table.shape[0] : 0;
    const int64_t wanted = files[i].domain == GNN_NODE ? dataset->declared_nodes : files[i].domain == GNN_EDGE ? dataset->raw_source.count : dataset->declared_graphs;
    const char *name = gnn_dataset_field(dataset, files[i].name) ? files[i].otherwise : files[i].name;
    if (status == GNN_OK && rows > 0 && rows != wanted)
      status = gnn_fail(error, GNN_EDATA, "", "\"%s%s\" has %s lines; %s are needed", prefix, files[i].ending, gnn_count_text(rows).text, gnn_count_text(wanted).text);
    else if (status == GNN_OK && rows > 0)
      status = files[i].is_label ? tu_labels(dataset, prefix, files[i].ending, &table, name, files[i].domain, error) : tu_numbers(dataset, &table, name, files[i].domain, error);
  }
  return status;
}

gnn_status gnn_read_tu(gnn_dataset *dataset, const char *path, gnn_error *error) {
  char *prefix = tu_prefix(path);
  if (prefix == NULL) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "E0001", "there is no data set of the TU collection at \"%s\"", path);
    gnn_fail_help(error, "a folder with NAME_A.txt and NAME_graph_indicator.txt is one, or what their names begin with");
    return status;
  }
  dataset->kind = "text of the TU collection";
  const char *slash = strrchr(prefix, '/');
  gnn_array indicator;
  gnn_status status = gnn_dataset_set_name(dataset, slash ? slash + 1 : prefix, error);
  if (status == GNN_OK) status = tu_read(dataset, prefix, "_graph_indicator.txt", 1, &indicator, error);
  if (status == GNN_OK) status = tu_graphs(dataset, prefix, &indicator, error);
  if (status == GNN_OK) status = tu_arcs(dataset, &indicator, prefix, error);
  if (status == GNN_OK) status = tu_fields(dataset, prefix, error);
  free(prefix);
  return status;
}
