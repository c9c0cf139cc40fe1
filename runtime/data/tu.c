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

#include "readers.h"

/* Numbers of a file, `width` a line. */
typedef struct tu_table {
  int64_t rows, width;
  double *numbers; /* malloc'ed */
} tu_table;

static const char tu_edges[] = "_A.txt";

/* What the files of a folder, or those that begin with `path`, have before "_A.txt"; malloc'ed, NULL: there is none. Of several the first. */
static char *tu_prefix(const char *path) {
  const size_t ending = sizeof tu_edges - 1;
  if (!gnn_path_is_directory(path)) {
    char *file = malloc(strlen(path) + ending + 1);
    if (file == NULL) return NULL;
    sprintf(file, "%s%s", path, tu_edges);
    const int is_there = gnn_path_exists(file);
    file[strlen(path)] = 0;
    if (is_there) return file;
    free(file);
    return NULL;
  }
  DIR *handle = opendir(path);
  if (handle == NULL) return NULL;
  char *name = NULL;
  const struct dirent *entry;
  while ((entry = readdir(handle)) != NULL) {
    const size_t length = strlen(entry->d_name);
    if (length <= ending || strcmp(entry->d_name + length - ending, tu_edges) != 0 || (name && strcmp(name, entry->d_name) <= 0)) continue;
    free(name);
    name = strdup(entry->d_name);
    if (name == NULL) break;
  }
  closedir(handle);
  if (name) name[strlen(name) - ending] = 0;
  char *prefix = name ? gnn_path_join(path, name) : NULL;
  free(name);
  return prefix;
}

int gnn_is_tu(const char *path) {
  char *prefix = tu_prefix(path);
  free(prefix);
  return prefix != NULL;
}

static int tu_is_between(char c) { return c == ',' || c == ' ' || c == '\t' || c == '\r'; }

/* The numbers of a line into out[0 .. room); returns how many there are, -1: something is no number. */
static int64_t tu_line(const char *at, const char *end, double *out, int64_t room) {
  int64_t count = 0;
  for (;;) {
    while (at < end && tu_is_between(*at)) at++;
    if (at == end) return count;
    char word[64];
    size_t length = 0;
    while (at + length < end && !tu_is_between(at[length])) length++;
    double number;
    if (length >= sizeof word) return -1;
    memcpy(word, at, length);
    word[length] = 0;
    if (!gnn_parse_number(word, &number)) return -1;
    if (count < room) out[count] = number;
    count++;
    at += length;
  }
}

static gnn_status tu_parse(const char *path, const char *begin, const char *end, tu_table *table, gnn_error *error) {
  int64_t lines = 0, line = 0;
  for (const char *at = begin; at < end; at++) lines += *at == '\n';
  lines += end > begin && end[-1] != '\n';
  for (const char *at = begin; at < end; line++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
    if (table->numbers == NULL) {
      table->width = tu_line(at, stop, NULL, 0);
      if (table->width > 0) table->numbers = malloc((size_t)lines * (size_t)table->width * sizeof *table->numbers);
      if (table->width > 0 && table->numbers == NULL) return gnn_fail_memory(error, lines * table->width * 8);
    }
    const int64_t found = table->numbers ? tu_line(at, stop, table->numbers + table->rows * table->width, table->rows < lines ? table->width : 0) : table->width;
    if (found < 0) return gnn_fail(error, GNN_EDATA, "", "\"%s\" line %lld: numbers are needed", path, (long long)line + 1);
    if (found > 0 && found != table->width)
      return gnn_fail(error, GNN_EDATA, "", "\"%s\" line %lld has %lld numbers, the lines before it %lld", path, (long long)line + 1, (long long)found, (long long)table->width);
    table->rows += found > 0;
    at = stop + (stop < end);
  }
  return GNN_OK;
}

/* A file that is not there has no rows. */
static gnn_status tu_read(const char *prefix, const char *ending, int is_needed, tu_table *table, gnn_error *error) {
  *table = (tu_table){0};
  char *path = malloc(strlen(prefix) + strlen(ending) + 1);
  if (path == NULL) return gnn_fail_memory(error, 256);
  sprintf(path, "%s%s", prefix, ending);
  gnn_file file;
  gnn_status status = GNN_OK;
  if (!is_needed && !gnn_path_exists(path)) goto done;
  status = gnn_file_open(path, gnn_file_text, &file, error);
  if (status != GNN_OK) goto done;
  status = gnn_file_check(&file, tu_parse(path, (const char *)file.data, (const char *)file.data + file.size, table, error), error);
  if (status == GNN_OK && table->rows == 0 && is_needed) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds no numbers", path);
  gnn_file_close(&file);
done:
  free(path);
  return status;
}

static int tu_is_whole(double number, double least, double most) { return number == floor(number) && number >= least && number <= most; }

/* ---- edges and graphs ---- */

static gnn_status tu_graphs(gnn_dataset *dataset, const char *prefix, const tu_table *indicator, gnn_error *error) {
  if (indicator->width != 1 || !tu_is_whole(indicator->numbers[indicator->rows - 1], 1, (double)indicator->rows))
    return gnn_fail(error, GNN_EDATA, "", "\"%s_graph_indicator.txt\": one graph a line is needed, counted from 1", prefix);
  const int64_t graphs = (int64_t)indicator->numbers[indicator->rows - 1];
  int64_t *ptr = gnn_dataset_alloc(dataset, graphs + 1, sizeof *ptr, error), graph = 0;
  if (ptr == NULL) return GNN_ENOMEM;
  ptr[0] = 0;
  for (int64_t v = 0; v < indicator->rows; v++) {
    const double own = indicator->numbers[v];
    if (!tu_is_whole(own, (double)graph, (double)graph + 1) || own < 1 || own > (double)graphs)
      return gnn_fail(error, GNN_EDATA, "", "\"%s_graph_indicator.txt\" line %lld: graph %.9g behind graph %lld; nodes stand in the order of the graphs, and each graph has some", prefix,
                      (long long)v + 1, own, (long long)graph);
    if ((int64_t)own > graph) ptr[graph++] = v;
  }
  ptr[graphs] = indicator->rows;
  dataset->declared_nodes = indicator->rows;
  dataset->declared_graphs = graphs;
  dataset->raw_graph_ptr = (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {graphs + 1}, .count = graphs + 1, .data = (const unsigned char *)ptr};
  return GNN_OK;
}

static gnn_status tu_arcs(gnn_dataset *dataset, const char *prefix, const tu_table *arcs, gnn_error *error) {
  const int64_t edges = arcs->rows;
  if (edges > 0 && arcs->width != 2) return gnn_fail(error, GNN_EDATA, "", "\"%s%s\": two nodes a line are needed", prefix, tu_edges);
  int32_t *ends = gnn_dataset_alloc(dataset, 2 * edges, sizeof *ends, error);
  if (ends == NULL) return GNN_ENOMEM;
  for (int64_t e = 0; e < edges; e++)
    for (int k = 0; k < 2; k++) {
      const double node = arcs->numbers[2 * e + k];
      if (!tu_is_whole(node, 1, (double)dataset->declared_nodes) || node > INT32_MAX)
        return gnn_fail(error, GNN_EDATA, "E0701", "\"%s%s\" line %lld names node %.9g, but nodes run 1 … %lld", prefix, tu_edges, (long long)e + 1, node, (long long)dataset->declared_nodes);
      ends[k * edges + e] = (int32_t)node - 1;
    }
  dataset->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {edges}, .count = edges, .data = (const unsigned char *)ends};
  dataset->raw_destination = dataset->raw_source;
  dataset->raw_destination.data = (const unsigned char *)(ends + edges);
  dataset->has_edges = 1;
  return GNN_OK;
}

/* ---- fields ---- */

static int tu_ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Labels become 0, 1, 2, ... in the order of their numbers. */
static gnn_status tu_labels(gnn_dataset *dataset, const char *prefix, const char *ending, const tu_table *table, const char *name, gnn_domain domain, gnn_error *error) {
  if (table->width != 1) return gnn_fail(error, GNN_EDATA, "", "\"%s%s\": one label a line is needed", prefix, ending);
  int64_t *label = gnn_dataset_alloc(dataset, table->rows, sizeof *label, error), count = 0;
  double *sorted = malloc((size_t)table->rows * sizeof *sorted);
  if (label == NULL || sorted == NULL) {
    free(sorted);
    return gnn_fail_memory(error, table->rows * 8);
  }
  memcpy(sorted, table->numbers, (size_t)table->rows * sizeof *sorted);
  qsort(sorted, (size_t)table->rows, sizeof *sorted, tu_ascending);
  for (int64_t k = 0; k < table->rows; k++)
    if (count == 0 || sorted[k] != sorted[count - 1]) sorted[count++] = sorted[k];
  gnn_status status = GNN_OK;
  for (int64_t r = 0; r < table->rows && status == GNN_OK; r++) {
    const double *found = bsearch(&table->numbers[r], sorted, (size_t)count, sizeof *sorted, tu_ascending);
    if (!tu_is_whole(table->numbers[r], -9e15, 9e15) || found == NULL)
      status = gnn_fail(error, GNN_EDATA, "E0702", "\"%s%s\" line %lld: %.9g is no label; whole numbers are", prefix, ending, (long long)r + 1, table->numbers[r]);
    else label[r] = found - sorted;
  }
  if (status == GNN_OK && (sorted[0] != 0 || sorted[count - 1] != (double)count - 1))
    gnn_dataset_note(dataset, "%s has the labels %.9g to %.9g; they become 0 to %lld in their order", name, sorted[0], sorted[count - 1], (long long)count - 1);
  free(sorted);
  gnn_array array = {.dtype = GNN_I64, .rank = 1, .shape = {table->rows}, .count = table->rows, .data = (const unsigned char *)label};
  if (status == GNN_OK) status = gnn_dataset_add_field(dataset, name, domain, &array, error);
  if (status == GNN_OK) dataset->fields[dataset->field_count - 1].declared_classes = count;
  return status;
}

static gnn_status tu_numbers(gnn_dataset *dataset, const tu_table *table, const char *name, gnn_domain domain, gnn_error *error) {
  float *numbers = gnn_dataset_alloc(dataset, table->rows, table->width * (int64_t)sizeof *numbers, error);
  if (numbers == NULL) return GNN_ENOMEM;
  for (int64_t i = 0; i < table->rows * table->width; i++) numbers[i] = (float)table->numbers[i];
  gnn_array array = {.dtype = GNN_F32, .rank = 2, .shape = {table->rows, table->width}, .count = table->rows * table->width, .data = (const unsigned char *)numbers};
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
    tu_table table;
    status = tu_read(prefix, files[i].ending, 0, &table, error);
    const int64_t wanted = files[i].domain == GNN_NODE ? dataset->declared_nodes : files[i].domain == GNN_EDGE ? dataset->raw_source.count : dataset->declared_graphs;
    const char *name = gnn_dataset_field(dataset, files[i].name) ? files[i].otherwise : files[i].name;
    if (status == GNN_OK && table.rows > 0 && table.rows != wanted)
      status = gnn_fail(error, GNN_EDATA, "", "\"%s%s\" has %s lines; %s are needed", prefix, files[i].ending, gnn_count_text(table.rows).text, gnn_count_text(wanted).text);
    else if (status == GNN_OK && table.rows > 0)
      status = files[i].is_label ? tu_labels(dataset, prefix, files[i].ending, &table, name, files[i].domain, error) : tu_numbers(dataset, &table, name, files[i].domain, error);
    free(table.numbers);
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
  tu_table indicator = {0}, arcs = {0};
  gnn_status status = gnn_dataset_set_name(dataset, slash ? slash + 1 : prefix, error);
  if (status == GNN_OK) status = tu_read(prefix, "_graph_indicator.txt", 1, &indicator, error);
  if (status == GNN_OK) status = tu_graphs(dataset, prefix, &indicator, error);
  if (status == GNN_OK) status = tu_read(prefix, tu_edges, 0, &arcs, error);
  if (status == GNN_OK) status = tu_arcs(dataset, prefix, &arcs, error);
  if (status == GNN_OK) status = tu_fields(dataset, prefix, error);
  free(indicator.numbers);
  free(arcs.numbers);
  free(prefix);
  return status;
}
