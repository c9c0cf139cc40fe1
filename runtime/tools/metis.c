/* metis.c: parts by METIS, and from files. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition.h"
#include "runtime/base/stream.h"
#include "runtime/data/npy.h"

/* As metis.h 5.1 declares them with 32-bit numbers, which is how distributions build it. */
typedef int32_t metis_number;
typedef int metis_set_options(metis_number *options);
typedef int metis_part_graph(metis_number *nodes, metis_number *constraints, metis_number *ptr, metis_number *idx, metis_number *node_weights, metis_number *node_sizes,
                             metis_number *edge_weights, metis_number *parts, float *targets, float *imbalance, metis_number *options, metis_number *cut, metis_number *part);
enum { METIS_OPTIONS = 40, METIS_SEED = 8, METIS_OK = 1, METIS_NO_MEMORY = -3 };

static gnn_status metis_find(metis_set_options **set_options, metis_part_graph **part_graph, gnn_error *error) {
  static const char *const names[] = {"libmetis.so.5", "libmetis.so"};
  void *library = NULL;
  for (int i = 0; i < 2 && library == NULL; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (library) {
    *(void **)set_options = dlsym(library, "METIS_SetDefaultOptions");
    *(void **)part_graph = dlsym(library, "METIS_PartGraphRecursive");
  }
  if (library && *set_options && *part_graph) return GNN_OK;
  gnn_status status = gnn_fail(error, GNN_EINVAL, "", "METIS is not installed: there is no libmetis.so.5");
  gnn_fail_help(error, "Debian and Ubuntu have it as libmetis5; without it: --method=nested");
  return status;
}

/* The union of both directions without loops. ptr[nodes + 1]; idx: NULL to count, else room for what was counted. */
static gnn_status metis_union(const graph_rows *rows, metis_number *ptr, metis_number *idx, gnn_error *error) {
  graph_walk walk[2];
  int64_t at = 0;
  gnn_status status = GNN_OK;
  for (int d = 0; status == GNN_OK && d < rows->directions; d++) status = graph_walk_begin(rows, d, &walk[d], error);
  for (int64_t v = 0; status == GNN_OK && v < rows->nodes; v++) {
    const int32_t *entries[2] = {NULL, NULL};
    int64_t count[2] = {0, 0}, next[2] = {0, 0};
    ptr[v] = (metis_number)at;
    for (int d = 0; status == GNN_OK && d < rows->directions; d++) status = graph_walk_next(&walk[d], &entries[d], &count[d], error);
    while (status == GNN_OK && (next[0] < count[0] || next[1] < count[1])) {
      const int64_t a = next[0] < count[0] ? entries[0][next[0]] : INT64_MAX, b = next[1] < count[1] ? entries[1][next[1]] : INT64_MAX, other = a < b ? a : b;
      next[0] += a == other;
      next[1] += b == other;
      if (other == v) continue;
      if (idx) idx[at] = (metis_number)other;
      at++;
    }
    if (at > INT32_MAX / 2) {
      status = gnn_fail(error, GNN_EINVAL, "", "the graph is too large for METIS, whose numbers have 32 bits: more than %s entries both ways", gnn_count_text(INT32_MAX / 2).text);
      gnn_fail_help(error, "--method=nested has no such limit, or --method=FILE takes the parts of another partitioner");
    }
  }
  ptr[rows->nodes] = (metis_number)at;
  for (int d = 0; d < rows->directions; d++) graph_walk_end(&walk[d]);
  return status;
}

gnn_status partition_metis(const graph_rows *rows, int32_t *part, int64_t parts, gnn_error *error) {
  metis_set_options *set_options = NULL;
  metis_part_graph *part_graph = NULL;
  metis_number options[4 * METIS_OPTIONS], nodes = (metis_number)rows->nodes, constraints = 1, count = (metis_number)parts, cut = 0;
  gnn_status status = metis_find(&set_options, &part_graph, error);
  if (status != GNN_OK) return status;
  for (int i = 0; i < 4 * METIS_OPTIONS; i++) options[i] = 7;
  set_options(options);
  if (options[METIS_OPTIONS] != 7) return gnn_fail(error, GNN_EINVAL, "", "libmetis.so.5 was built with numbers of 64 bits, which are not supported");
  options[METIS_SEED] = 0;
  memset(part, 0, (size_t)rows->nodes * sizeof *part);
  if (parts == 1) return GNN_OK;
  metis_number *ptr = malloc((size_t)(rows->nodes + 1) * sizeof *ptr), *weight = malloc((size_t)rows->nodes * sizeof *weight), *idx = NULL;
  status = ptr && weight ? metis_union(rows, ptr, NULL, error) : gnn_fail_memory(error, rows->nodes * 8);
  if (status == GNN_OK && (idx = malloc((size_t)ptr[rows->nodes] * sizeof *idx + 1)) == NULL) status = gnn_fail_memory(error, ptr[rows->nodes] * (int64_t)sizeof *idx);
  if (status == GNN_OK) status = metis_union(rows, ptr, idx, error);
  for (int64_t v = 0; status == GNN_OK && v < rows->nodes; v++) weight[v] = ptr[v + 1] - ptr[v] + 1;
  if (status == GNN_OK) {
    const int code = part_graph(&nodes, &constraints, ptr, idx, weight, NULL, NULL, &count, NULL, NULL, options, &cut, part);
    if (code == METIS_NO_MEMORY) status = gnn_fail(error, GNN_ENOMEM, "", "METIS ran out of memory");
    else if (code != METIS_OK) status = gnn_fail(error, GNN_EINVAL, "", "METIS refused the graph, with the code %d", code);
  }
  free(ptr);
  free(weight);
  free(idx);
  for (int64_t v = 0; status == GNN_OK && v < rows->nodes; v++)
    if (part[v] < 0 || part[v] >= parts) status = gnn_fail(error, GNN_EINVAL, "", "METIS gave node %lld the part %d of %lld", (long long)v, part[v], (long long)parts);
  return status;
}

/* ---- files ---- */

static gnn_status parts_take(const char *path, int64_t nodes, int64_t at, int64_t number, int32_t *part, int64_t *parts, gnn_error *error) {
  if (at >= nodes) return gnn_fail(error, GNN_EDATA, "E0710", "\"%s\" has more than %s part numbers, one for each node", path, gnn_count_text(nodes).text);
  if (number < 0 || number >= INT32_MAX) return gnn_fail(error, GNN_EDATA, "E0710", "\"%s\": the part of node %lld is %lld", path, (long long)at, (long long)number);
  part[at] = (int32_t)number;
  if (number >= *parts) *parts = number + 1;
  return GNN_OK;
}

static gnn_status parts_text(const char *path, const gnn_file *file, int64_t nodes, int32_t *part, int64_t *parts, int64_t *count, gnn_error *error) {
  const char *at = (const char *)file->data, *end = at + file->size;
  gnn_status status = GNN_OK;
  for (int64_t line = 1; status == GNN_OK && at < end; line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at)), *last = stop ? stop : end;
    char word[24];
    int64_t number;
    while (at < last && (*at == ' ' || *at == '\t')) at++;
    while (last > at && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r')) last--;
    const size_t length = (size_t)(last - at);
    if (length > 0 && *at != '#' && *at != '%') {
      memcpy(word, at, length < sizeof word ? length : sizeof word - 1);
      word[length < sizeof word ? length : sizeof word - 1] = 0;
      if (length >= sizeof word || !gnn_parse_integer(word, &number)) return gnn_fail(error, GNN_EDATA, "E0710", "\"%s\" line %lld is no part number: each line is the part of a node, from 0", path, (long long)line);
      status = parts_take(path, nodes, (*count)++, number, part, parts, error);
    }
    at = stop ? stop + 1 : end;
  }
  return status;
}

gnn_status partition_read(const char *path, int64_t nodes, int32_t *part, int64_t *parts, gnn_error *error) {
  gnn_file file;
  gnn_array array;
  int64_t count = 0;
  unsigned char mark[6] = {0};
  size_t got;
  int is_transposed;
  gnn_stream *stream;
  *parts = 0;
  gnn_status status = gnn_stream_open(path, &stream, error);
  if (status != GNN_OK) return status;
  status = gnn_stream_read(stream, mark, sizeof mark, &got, error);
  gnn_stream_close(stream);
  if (status != GNN_OK) return status;
  if (memcmp(mark, "\x93NUMPY", sizeof mark) == 0) {
    status = gnn_npy_open(path, &file, &array, &is_transposed, error);
    if (status != GNN_OK) return status;
    if (gnn_dtype_is_float(array.dtype) || array.rank != 1)
      status = gnn_fail(error, GNN_EDATA, "E0710", "\"%s\" holds %s of %s; part numbers are a list of whole numbers", path, gnn_shape_text(&array).text, gnn_dtype_name(array.dtype));
    for (; status == GNN_OK && count < array.count; count++) status = parts_take(path, nodes, count, gnn_array_integer(&array, count), part, parts, error);
  } else {
    status = gnn_file_open(path, gnn_file_text, &file, error);
    if (status != GNN_OK) return status;
    status = parts_text(path, &file, nodes, part, parts, &count, error);
  }
  status = gnn_file_check(&file, status, error);
  gnn_file_close(&file);
  if (status == GNN_OK && count != nodes) status = gnn_fail(error, GNN_EDATA, "E0710", "\"%s\" has %s part numbers, the data %s nodes", path, gnn_count_text(count).text, gnn_count_text(nodes).text);
  return status;
}
