/* metis_graph.c: graph files of METIS (manual of METIS 5, its chapter 4.1.1): a first line with the numbers of nodes and of edges, what is weighted, and how many weights nodes
 * have; then a line a node: its size, its weights, and its neighbours from 1, each perhaps with the weight of the edge. Lines may be of any length. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers.h"
#include "table.h"
#include "runtime/base/checked.h"
#include "runtime/base/stream.h"

enum { METIS_BUFFER_BYTES = 1 << 16, METIS_WEIGHTS_MOST = 1 << 10 };

typedef struct metis_reader {
  const char *path;
  gnn_stream *stream;
  unsigned char buffer[METIS_BUFFER_BYTES];
  size_t at, end;
  int64_t line, column; /* of the next character, from 1 */
  int64_t word_column;
  gnn_error *error;
} metis_reader;

typedef struct metis_file {
  int64_t nodes, edges, entries; /* of edges both directions */
  int64_t weights;               /* of a node */
  int has_edge_weight, has_size;
  int32_t *source, *destination;
  float *edge_weight, *node_weight, *node_size;
} metis_file;

/* The next character, -1: the end. */
static gnn_status metis_peek(metis_reader *r, int *c) {
  if (r->at == r->end) {
    r->at = 0;
    const gnn_status status = gnn_stream_read(r->stream, r->buffer, METIS_BUFFER_BYTES, &r->end, r->error);
    if (status != GNN_OK) return status;
  }
  *c = r->at < r->end ? r->buffer[r->at] : -1;
  return GNN_OK;
}

static void metis_skip(metis_reader *r) {
  if (r->buffer[r->at++] == '\n') {
    r->line++;
    r->column = 1;
  } else r->column++;
}

static gnn_status metis_fail(const metis_reader *r, const char *code, const char *what, int64_t number, int64_t most) {
  char text[200] = "";
  if (most >= 0) snprintf(text, sizeof text, " %lld, but nodes run 1 … %lld", (long long)number, (long long)most);
  return gnn_fail(r->error, GNN_EDATA, code, "\"%s\" line %lld column %lld: %s%s", r->path, (long long)r->line, (long long)r->word_column, what, text);
}

/* The next number of the line; *is_there 0: the line ends, and is left to be ended. */
static gnn_status metis_number(metis_reader *r, int64_t *number, int *is_there) {
  int c;
  gnn_status status;
  *number = 0;
  *is_there = 0;
  while ((status = metis_peek(r, &c)) == GNN_OK && (c == ' ' || c == '\t' || c == '\r')) metis_skip(r);
  r->word_column = r->column;
  while (status == GNN_OK && c >= '0' && c <= '9') {
    *is_there = 1;
    if (!gnn_digit_fits(number, (char)c)) return metis_fail(r, "", "a number beyond 2^63", 0, -1);
    metis_skip(r);
    status = metis_peek(r, &c);
  }
  if (status == GNN_OK && c != -1 && !strchr(" \t\r\n", c)) return metis_fail(r, "", "a whole number is needed", 0, -1);
  return status;
}

/* Goes to the next line that is no comment. *is_there 0: there is none. */
static gnn_status metis_line(metis_reader *r, int is_first, int *is_there) {
  int c = -1;
  gnn_status status = GNN_OK;
  if (!is_first) {
    while ((status = metis_peek(r, &c)) == GNN_OK && c != '\n' && c != -1) metis_skip(r);
    if (status == GNN_OK && c == '\n') metis_skip(r);
  }
  while (status == GNN_OK && (status = metis_peek(r, &c)) == GNN_OK && c == '%') {
    while ((status = metis_peek(r, &c)) == GNN_OK && c != '\n' && c != -1) metis_skip(r);
    if (status == GNN_OK && c == '\n') metis_skip(r);
  }
  *is_there = c != -1;
  return status;
}

static gnn_status metis_header(metis_reader *r, metis_file *f) {
  int64_t numbers[4] = {0, 0, 0, 0}, more;
  int count = 0, is_there = 1;
  gnn_status status = metis_line(r, 1, &is_there);
  while (status == GNN_OK && is_there && count < 4) {
    status = metis_number(r, &numbers[count], &is_there);
    count += is_there;
  }
  if (status == GNN_OK && count == 4) status = metis_number(r, &more, &is_there);
  if (status != GNN_OK) return status;
  if (count < 2 || (count == 4 && is_there)) return metis_fail(r, "", "the first line has the numbers of nodes and of edges, and perhaps fmt and ncon", 0, -1);
  f->nodes = numbers[0];
  f->edges = numbers[1];
  if (f->nodes < 1 || f->nodes >= INT32_MAX) return metis_fail(r, "", "the number of nodes must be from 1 to 2^31 - 2", 0, -1);
  const int64_t format = numbers[2];
  if (format % 10 > 1 || format / 10 % 10 > 1 || format / 100 > 1) return metis_fail(r, "", "fmt is three digits, each 0 or 1: sizes of nodes, weights of nodes, weights of edges", 0, -1);
  f->has_edge_weight = format % 10 == 1;
  f->weights = format / 10 % 10 == 1 ? (count == 4 ? numbers[3] : 1) : 0;
  f->has_size = format / 100 == 1;
  if (f->weights > METIS_WEIGHTS_MOST) return metis_fail(r, "", "a node has more than 1024 weights", 0, -1);
  int64_t taken, all;
  gnn_stream_progress(r->stream, &taken, &all);
  if (gnn_stream_is_packed(r->stream) && !gnn_multiply_fits(all, 1032, &all)) all = INT64_MAX;
  if (f->nodes > all + 1 || f->edges > all) return gnn_fail(r->error, GNN_EDATA, "", "\"%s\" is truncated: %s nodes and %s edges do not fit into it", r->path, gnn_count_text(f->nodes).text, gnn_count_text(f->edges).text);
  return GNN_OK;
}

static gnn_status metis_weight(metis_reader *r, float *out, const char *what) {
  int64_t number;
  int is_there;
  gnn_status status = metis_number(r, &number, &is_there);
  if (status == GNN_OK && !is_there) status = metis_fail(r, "", what, 0, -1);
  *out = (float)number;
  return status;
}

static gnn_status metis_node(metis_reader *r, metis_file *f, int64_t v) {
  gnn_status status = f->has_size ? metis_weight(r, &f->node_size[v], "the size of the node is missing") : GNN_OK;
  for (int64_t k = 0; status == GNN_OK && k < f->weights; k++) status = metis_weight(r, &f->node_weight[v * f->weights + k], "a weight of the node is missing");
  while (status == GNN_OK) {
    int64_t neighbour;
    int is_there;
    status = metis_number(r, &neighbour, &is_there);
    if (status != GNN_OK || !is_there) return status;
    if (neighbour < 1 || neighbour > f->nodes) return metis_fail(r, "E0701", "neighbour", neighbour, f->nodes);
    if (f->entries == 2 * f->edges) return gnn_fail(r->error, GNN_EDATA, "", "\"%s\" line %lld: more neighbours than twice %s edges, which its first line speaks of", r->path, (long long)r->line, gnn_count_text(f->edges).text);
    f->source[f->entries] = (int32_t)v;
    f->destination[f->entries] = (int32_t)neighbour - 1;
    if (f->has_edge_weight) status = metis_weight(r, &f->edge_weight[f->entries], "the weight of the edge is missing");
    f->entries++;
  }
  return status;
}

static gnn_status metis_alloc(gnn_dataset *dataset, metis_file *f, gnn_error *error) {
  f->source = gnn_dataset_alloc(dataset, 2 * f->edges, sizeof *f->source, error);
  f->destination = gnn_dataset_alloc(dataset, 2 * f->edges, sizeof *f->destination, error);
  if (f->has_edge_weight) f->edge_weight = gnn_dataset_alloc(dataset, 2 * f->edges, sizeof *f->edge_weight, error);
  if (f->weights) f->node_weight = gnn_dataset_alloc(dataset, f->nodes, f->weights * (int64_t)sizeof *f->node_weight, error);
  if (f->has_size) f->node_size = gnn_dataset_alloc(dataset, f->nodes, sizeof *f->node_size, error);
  return f->source && f->destination && (!f->has_edge_weight || f->edge_weight) && (!f->weights || f->node_weight) && (!f->has_size || f->node_size) ? GNN_OK : GNN_ENOMEM;
}

static gnn_status metis_read(gnn_dataset *dataset, metis_reader *r, metis_file *f, gnn_error *error) {
  int is_there = 0;
  gnn_status status = metis_header(r, f);
  if (status == GNN_OK) status = metis_alloc(dataset, f, error);
  for (int64_t v = 0; status == GNN_OK && v < f->nodes; v++) {
    status = metis_line(r, 0, &is_there);
    if (status == GNN_OK && !is_there && (f->entries < 2 * f->edges || f->weights || f->has_size))
      return gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated: it ends before node %s of %s", r->path, gnn_count_text(v + 1).text, gnn_count_text(f->nodes).text);
    if (status == GNN_OK && is_there) status = metis_node(r, f, v);
  }
  while (status == GNN_OK && (status = metis_line(r, 0, &is_there)) == GNN_OK && is_there) {
    int64_t number;
    int has_more;
    status = metis_number(r, &number, &has_more);
    if (status == GNN_OK && has_more) status = metis_fail(r, "", "there are more lines than nodes", 0, -1);
  }
  if (status == GNN_OK && f->entries != 2 * f->edges) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has %s neighbours, and %s edges, of which its first line speaks, have %s", r->path, gnn_count_text(f->entries).text, gnn_count_text(f->edges).text,
                      gnn_count_text(2 * f->edges).text);
    gnn_fail_help(error, "every edge is on the lines of both its ends");
  }
  return status;
}

/* Its lines are like those of a list of edges to look at. */
int gnn_is_metis(const char *path) {
  static const char *const endings[] = {".graph", ".metis", ".graph.gz", ".metis.gz"};
  const size_t length = strlen(path);
  for (int i = 0; i < 4; i++)
    if (length > strlen(endings[i]) && strcmp(path + length - strlen(endings[i]), endings[i]) == 0) return 1;
  return 0;
}

gnn_status gnn_read_metis(gnn_dataset *dataset, const char *path, gnn_error *error) {
  metis_file f = {0};
  metis_reader *r = calloc(1, sizeof *r);
  dataset->kind = "a graph file of METIS";
  if (r == NULL) return gnn_fail_memory(error, (int64_t)sizeof *r);
  *r = (metis_reader){.path = path, .line = 1, .column = 1, .error = error};
  gnn_status status = gnn_stream_open(path, &r->stream, error);
  if (status == GNN_OK) status = gnn_stream_read(r->stream, r->buffer, METIS_BUFFER_BYTES, &r->end, error);
  if (status == GNN_OK) status = gnn_text_mark(path, r->buffer, r->end, &r->at, error);
  if (status == GNN_OK) status = metis_read(dataset, r, &f, error);
  gnn_stream_close(r->stream);
  free(r);
  if (status != GNN_OK) return status;
  dataset->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {f.entries}, .count = f.entries, .data = (const unsigned char *)f.source};
  dataset->raw_destination = dataset->raw_source;
  dataset->raw_destination.data = (const unsigned char *)f.destination;
  dataset->has_edges = 1;
  dataset->declared_nodes = f.nodes;
  const struct { const char *name; const float *numbers; gnn_domain domain; int64_t rows, width; } fields[] = {
    {"weight", f.edge_weight, GNN_EDGE, f.entries, 1}, {"node_weight", f.node_weight, GNN_NODE, f.nodes, f.weights}, {"node_size", f.node_size, GNN_NODE, f.nodes, 1}};
  for (int i = 0; status == GNN_OK && i < 3; i++) {
    if (fields[i].numbers == NULL || fields[i].width == 0) continue;
    const gnn_array array = {.dtype = GNN_F32, .rank = 2, .shape = {fields[i].rows, fields[i].width}, .count = fields[i].rows * fields[i].width, .data = (const unsigned char *)fields[i].numbers};
    status = gnn_dataset_add_field(dataset, fields[i].name, fields[i].domain, &array, error);
  }
  return status;
}
