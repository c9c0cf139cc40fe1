/* keyed.c: what arrays are is told from their names and lengths. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "keyed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_names.h"
#include "entries.h"
#include "readers.h"

static const gnn_array *keyed_find(const gnn_keyed *keyed, const char *name) {
  for (int i = 0; i < keyed->count; i++)
    if (strcmp(keyed->arrays[i].name, name) == 0) return &keyed->arrays[i].array;
  return NULL;
}

static gnn_status keyed_two_ends(const char *path, const char *name, const gnn_array *array, gnn_error *error) {
  if (gnn_dtype_is_float(array->dtype) || array->dtype == GNN_BOOL)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": %s is stored as %s; whole numbers are needed", path, name, gnn_dtype_name(array->dtype));
  if (array->rank == 2 && (array->shape[0] == 2 || array->shape[1] == 2)) return GNN_OK;
  return gnn_fail(error, GNN_EDATA, "", "\"%s\": %s has the shape %s; [2, edges] is needed", path, name, gnn_shape_text(array).text);
}

gnn_status gnn_keyed_edges(gnn_dataset *dataset, const char *path, const char *name, const gnn_array *array, gnn_array *source, gnn_array *destination, gnn_error *error) {
  gnn_status status = keyed_two_ends(path, name, array, error);
  if (status != GNN_OK) return status;
  const int64_t edges = array->count / 2, width = gnn_dtype_bytes(array->dtype);
  *source = (gnn_array){.dtype = array->dtype, .rank = 1, .shape = {edges}, .count = edges, .data = array->data};
  *destination = *source;
  if (array->shape[0] == 2) {
    destination->data = array->data + edges * width;
    return GNN_OK;
  }
  unsigned char *split = gnn_dataset_alloc(dataset, array->count, width, error);
  if (split == NULL) return GNN_ENOMEM;
  for (int64_t e = 0; e < edges; e++) {
    memcpy(split + e * width, array->data + 2 * e * width, (size_t)width);
    memcpy(split + (edges + e) * width, array->data + (2 * e + 1) * width, (size_t)width);
  }
  source->data = split;
  destination->data = split + edges * width;
  gnn_dataset_note(dataset, "%s is stored as [edges, 2]", name);
  return GNN_OK;
}

static gnn_status keyed_graph(const gnn_keyed *keyed, gnn_dataset *dataset, const char *name, const gnn_array *array, gnn_error *error) {
  gnn_status status = gnn_keyed_edges(dataset, keyed->path, name, array, &dataset->raw_source, &dataset->raw_destination, error);
  if (status != GNN_OK) return status;
  dataset->has_edges = 1;
  const int64_t edges = dataset->raw_source.count;
  if (keyed->declared_edges < 0 || keyed->declared_edges == edges) return GNN_OK;
  return gnn_fail(error, GNN_EDATA, "", "\"%s\": graph.json says %s edges, edge_index has %s", keyed->path, gnn_count_text(keyed->declared_edges).text, gnn_count_text(edges).text);
}

/* An array of each end, as those who call g.edges() of DGL have them. *source, *destination: which arrays; 0: there are none. */
static int keyed_has_ends(const gnn_tensor *arrays, int count, int *source, int *destination) {
  static const char *const names[][2] = {{"edge.src", "edge.dst"}, {"src", "dst"}, {"edge_src", "edge_dst"}, {"source", "target"}, {"row", "col"}};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    *source = *destination = -1;
    for (int i = 0; i < count; i++) {
      if (strcmp(arrays[i].name, names[n][0]) == 0) *source = i;
      if (strcmp(arrays[i].name, names[n][1]) == 0) *destination = i;
    }
    if (*source >= 0 && *destination >= 0) return 1;
  }
  return 0;
}

static gnn_status keyed_ends(const gnn_keyed *keyed, gnn_dataset *dataset, int source, int destination, gnn_error *error) {
  const gnn_tensor *ends[] = {&keyed->arrays[source], &keyed->arrays[destination]};
  for (int k = 0; k < 2; k++)
    if (ends[k]->array.rank != 1 || gnn_dtype_is_float(ends[k]->array.dtype) || ends[k]->array.dtype == GNN_BOOL || ends[k]->array.count != ends[0]->array.count)
      return gnn_fail(error, GNN_EDATA, "", "\"%s\": %s and %s are the ends of the edges, so each needs a whole number an edge; %s is %s %s", keyed->path, ends[0]->name, ends[1]->name, ends[k]->name, gnn_dtype_name(ends[k]->array.dtype),
                      gnn_shape_text(&ends[k]->array).text);
  dataset->raw_source = ends[0]->array;
  dataset->raw_destination = ends[1]->array;
  dataset->has_edges = 1;
  gnn_dataset_note(dataset, "edges go from %s to %s", ends[0]->name, ends[1]->name);
  return GNN_OK;
}

/* ---- a set of graphs ---- */

/* batch_num_nodes [G] of DGL: how many nodes each graph has. One graph is no set of graphs. */
static gnn_status keyed_counts(const gnn_keyed *keyed, gnn_dataset *dataset, const gnn_array *counts, gnn_error *error) {
  if (counts->count < 2) return GNN_OK;
  int64_t *ptr = gnn_dataset_alloc(dataset, counts->count + 1, sizeof *ptr, error);
  if (ptr == NULL) return GNN_ENOMEM;
  ptr[0] = 0;
  for (int64_t g = 0; g < counts->count; g++) {
    const int64_t own = gnn_array_integer(counts, g);
    if (own < 0 || own >= INT32_MAX - ptr[g])
      return gnn_fail(error, GNN_EDATA, "", "\"%s\": batch_num_nodes[%lld] is %lld; it must be the number of nodes of a graph, below 2^31 - 1 in all", keyed->path, (long long)g, (long long)own);
    ptr[g + 1] = ptr[g] + own;
  }
  dataset->declared_nodes = ptr[counts->count];
  dataset->declared_graphs = counts->count;
  dataset->raw_graph_ptr = (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {counts->count + 1}, .count = counts->count + 1, .data = (const unsigned char *)ptr};
  return GNN_OK;
}

/* batch [N], the graph of each node, becomes where each graph begins. */
static gnn_status keyed_batch(const gnn_keyed *keyed, gnn_dataset *dataset, const gnn_array *batch, gnn_error *error) {
  const int64_t graphs = batch->count ? gnn_array_integer(batch, batch->count - 1) + 1 : 0;
  if (graphs < 1 || graphs > batch->count)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": batch ends with %lld; it must ascend from 0, the graph of each node", keyed->path, (long long)graphs - 1);
  int64_t *ptr = gnn_dataset_alloc(dataset, graphs + 1, sizeof *ptr, error), g = 0;
  if (ptr == NULL) return GNN_ENOMEM;
  ptr[0] = 0;
  for (int64_t v = 0; v < batch->count; v++) {
    const int64_t own = gnn_array_integer(batch, v);
    if (own < g || own >= graphs) return gnn_fail(error, GNN_EDATA, "", "\"%s\": batch[%lld] is %lld; it must ascend from 0, the graph of each node", keyed->path, (long long)v, (long long)own);
    while (g < own) ptr[++g] = v;
  }
  ptr[graphs] = batch->count;
  dataset->declared_nodes = batch->count;
  dataset->declared_graphs = graphs;
  dataset->raw_graph_ptr = (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {graphs + 1}, .count = graphs + 1, .data = (const unsigned char *)ptr};
  return GNN_OK;
}

static gnn_status keyed_graphs(const gnn_keyed *keyed, gnn_dataset *dataset, gnn_error *error) {
  const gnn_array *own = keyed_find(keyed, "graph_ptr"), *ptr = own ? own : keyed_find(keyed, "ptr"), *batch = ptr ? NULL : keyed_find(keyed, "batch");
  const gnn_array *counts = ptr || batch ? NULL : keyed_find(keyed, "batch_num_nodes"), *array = ptr ? ptr : batch ? batch : counts;
  if (array == NULL) return GNN_OK;
  if (array->rank != 1 || array->count < 1 || gnn_dtype_is_float(array->dtype))
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": %s has the shape %s; [graphs + 1] is needed", keyed->path, own ? "graph_ptr" : ptr ? "ptr" : batch ? "batch" : "batch_num_nodes", gnn_shape_text(array).text);
  if (counts) return keyed_counts(keyed, dataset, counts, error);
  if (batch) return keyed_batch(keyed, dataset, batch, error);
  dataset->declared_graphs = array->count - 1;
  dataset->raw_graph_ptr = *array;
  return GNN_OK;
}

/* ---- fields ---- */

static gnn_status keyed_field(const gnn_keyed *keyed, gnn_dataset *dataset, const char *name, const gnn_array *array, gnn_error *error) {
  const int64_t rows = array->rank ? array->shape[0] : -1, graphs = dataset->declared_graphs;
  gnn_domain domain;
  if (array->rank > 2 && strcmp(name, "x") != 0 && strcmp(name, "y") != 0) {
    gnn_dataset_note(dataset, "%s%s is not used: its shape is %s, and a row of a field has one dimension", name, keyed->ending, gnn_shape_text(array).text);
    return GNN_OK;
  }
  const int is_of_pairs = strcmp(name, "edge_label_index") == 0 || (strcmp(name, "edge_label") == 0 && rows != dataset->raw_source.count);
  if (strncmp(name, "edge_", 5) == 0 && !is_of_pairs && rows >= 0 && (rows == dataset->raw_source.count || (rows != dataset->declared_nodes && rows != graphs))) domain = GNN_EDGE;
  else if (strcmp(name, "x") == 0) domain = GNN_NODE;
  else if (strcmp(name, "y") == 0) domain = graphs >= 0 && (rows == graphs || rows != dataset->declared_nodes) ? GNN_GRAPH : GNN_NODE;
  else if (rows == dataset->declared_nodes) domain = GNN_NODE;
  else if (rows == dataset->raw_source.count) domain = GNN_EDGE;
  else if (graphs >= 0 && rows == graphs) domain = GNN_GRAPH;
  else if (is_of_pairs) {
    gnn_dataset_note(dataset, "%s%s is not used: the pairs of a split are train_edge_label_index and train_edge_label, ..., as to_gnncc.py makes them of RandomLinkSplit's", name, keyed->ending);
    return GNN_OK;
  } else {
    gnn_dataset_note(dataset, "%s%s is not used: its shape %s fits neither nodes nor edges%s", name, keyed->ending, gnn_shape_text(array).text,
                     dataset->declared_nodes < 0 ? ": it is the array called x, or num_nodes, that says how many nodes there are" : "");
    return GNN_OK;
  }
  gnn_status status = gnn_dataset_add_field(dataset, name, domain, array, error);
  if (status == GNN_OK && strcmp(name, "y") == 0) dataset->fields[dataset->field_count - 1].declared_classes = keyed->declared_classes;
  return status;
}

/* num_nodes as an array of one number. */
static int keyed_is_count(const gnn_array *array) { return array->count == 1 && !gnn_dtype_is_float(array->dtype) && gnn_array_integer(array, 0) >= 0; }

/* The number of nodes is what says so, else the rows of x, else those of y, where graphs do not have it. */
static void keyed_nodes(const gnn_keyed *keyed, gnn_dataset *dataset) {
  static const char *const counts[] = {"num_nodes", "num_nodes_list", "batch_num_nodes"}, *const rows[] = {"x", "y"};
  for (int i = 0; i < 3; i++) {
    const gnn_array *said = keyed_find(keyed, counts[i]);
    if (dataset->declared_nodes < 0 && said && keyed_is_count(said)) dataset->declared_nodes = gnn_array_integer(said, 0);
  }
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < keyed->count; k++) {
      const gnn_array *array = &keyed->arrays[k].array;
      const int is_it = dataset->declared_nodes < 0 && array->rank > 0 && strcmp(gnn_array_name(keyed->arrays, keyed->count, k, 0), rows[i]) == 0;
      if (is_it && (i == 0 || dataset->declared_graphs < 0)) dataset->declared_nodes = array->shape[0];
      if (dataset->declared_nodes < 0 && i == 0 && strcmp(keyed->arrays[k].name, "x.rowptr") == 0 && array->rank == 1) dataset->declared_nodes = array->count - 1;
    }
}

static int keyed_is_structure(const char *name) {
  static const char *const names[] = {"edge_index", "graph_ptr", "ptr", "batch", "num_nodes", "num_nodes_list", "num_edges_list", "batch_num_nodes"};
  int is_one = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) is_one |= strcmp(name, names[i]) == 0;
  return is_one;
}

/* The edges and the sizes come first: where other arrays belong is told from their lengths. */
gnn_status gnn_read_keyed(gnn_dataset *dataset, const gnn_keyed *keyed, gnn_error *error) {
  gnn_status status = GNN_OK;
  int source = -1, destination = -1;
  for (int i = 0; status == GNN_OK && i < keyed->count; i++)
    if (strcmp(gnn_array_name(keyed->arrays, keyed->count, i, 0), "edge_index") == 0) status = keyed_graph(keyed, dataset, keyed->arrays[i].name, &keyed->arrays[i].array, error);
  if (status == GNN_OK && !dataset->has_edges && keyed_has_ends(keyed->arrays, keyed->count, &source, &destination)) status = keyed_ends(keyed, dataset, source, destination, error);
  else if (status == GNN_OK && !dataset->has_edges) {
    char there[400];
    gnn_array_list(keyed->arrays, keyed->count, there, sizeof there);
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has no edge_index%s; it has %s", keyed->path, keyed->ending, there);
  }
  if (status == GNN_OK) status = keyed_graphs(keyed, dataset, error);
  if (status == GNN_OK) keyed_nodes(keyed, dataset);
  for (int i = 0; status == GNN_OK && i < keyed->count; i++) {
    const char *given = keyed->arrays[i].name, *name = gnn_array_name(keyed->arrays, keyed->count, i, 0);
    const gnn_array *array = &keyed->arrays[i].array;
    int is_split = 0, is_pairs, is_sparse;
    if (i == source || i == destination || keyed_is_structure(name) || (keyed_find(keyed, "train_edge_label_index") && (strcmp(name, "edge_label") == 0 || strcmp(name, "edge_label_index") == 0))) continue; /* those of a split are there */
    status = gnn_entries_take(dataset, keyed->arrays, keyed->count, i, 0, "", &is_sparse, error);
    if (status != GNN_OK || is_sparse) continue;
    status = gnn_array_take_pairs(dataset, name, array, &is_pairs, error);
    if (status == GNN_OK && !is_pairs) status = gnn_array_take_split(dataset, name, array, &is_split, error);
    if (status != GNN_OK || is_split || is_pairs) continue;
    if (strcmp(name, "fold") == 0) dataset->raw_fold = *array;
    else if (strcmp(name, "edge_type") == 0 && keyed->relations) status = npy_types_split(dataset, array, keyed->relations, error);
    else status = keyed_field(keyed, dataset, name, array, error);
    if (status == GNN_OK && name != given) gnn_dataset_note(dataset, "%s is read as %s", given, name);
  }
  return status;
}

/* ---- SciPy ---- */

/* The arrays of a matrix by rows (CSR) or by columns (CSC), or of its entries one by one, under a prefix. */
typedef struct keyed_matrix {
  const char *path, *prefix, *format;
  const gnn_array *ptr, *index, *row, *column, *value;
  int64_t rows, columns;
} keyed_matrix;

static const gnn_array *keyed_part(const gnn_safetensors *file, const char *prefix, const char *name) {
  char full[64];
  snprintf(full, sizeof full, "%s%s", prefix, name);
  return gnn_safetensors_find(file, full);
}

static gnn_status keyed_matrix_fail(const keyed_matrix *m, const char *what, gnn_error *error) { return gnn_fail(error, GNN_EDATA, "", "\"%s\": the matrix %s* %s", m->path, m->prefix, what); }

/* 0: there is no matrix under this prefix. */
static int keyed_has_matrix(const gnn_safetensors *file, const char *prefix) {
  return keyed_part(file, prefix, "shape") && (keyed_part(file, prefix, "indptr") || (keyed_part(file, prefix, "row") && keyed_part(file, prefix, "col")));
}

static gnn_status keyed_open_matrix(const gnn_safetensors *file, const char *path, const char *prefix, keyed_matrix *m, gnn_error *error) {
  const gnn_array *shape = keyed_part(file, prefix, "shape");
  const char *format = prefix[0] ? NULL : gnn_safetensors_text(file, "format");
  *m = (keyed_matrix){.path = path, .prefix = prefix, .ptr = keyed_part(file, prefix, "indptr"), .index = keyed_part(file, prefix, "indices"), .row = keyed_part(file, prefix, "row"),
                      .column = keyed_part(file, prefix, "col"), .value = keyed_part(file, prefix, "data")};
  m->format = format ? format : m->ptr ? "csr" : "coo";
  if (shape->rank != 1 || shape->count != 2 || gnn_dtype_is_float(shape->dtype)) return keyed_matrix_fail(m, "needs a shape of two whole numbers", error);
  m->rows = gnn_array_integer(shape, 0);
  m->columns = gnn_array_integer(shape, 1);
  if (m->rows < 0 || m->columns < 0 || m->rows >= INT32_MAX || m->columns >= INT32_MAX) return keyed_matrix_fail(m, "has a shape beyond 2^31 - 2", error);
  const int is_entries = strcmp(m->format, "coo") == 0, is_rows = strcmp(m->format, "csr") == 0;
  if (!is_entries && !is_rows && strcmp(m->format, "csc") != 0) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds a matrix in the format %.20s; csr, csc and coo are read", path, m->format);
    gnn_fail_help(error, "scipy.sparse.save_npz(f, a.tocsr())");
    return status;
  }
  const gnn_array *index = is_entries ? m->row : m->index, *other = is_entries ? m->column : m->ptr;
  if (index == NULL || other == NULL || index->rank != 1 || other->rank != 1 || gnn_dtype_is_float(index->dtype) || gnn_dtype_is_float(other->dtype))
    return keyed_matrix_fail(m, is_entries ? "needs row and col as whole numbers" : "needs indptr and indices as whole numbers", error);
  const int64_t lines = is_rows ? m->rows : m->columns;
  if (is_entries ? other->count != index->count : other->count != lines + 1) return keyed_matrix_fail(m, is_entries ? "has another number of rows than columns" : "has an indptr of another length than its shape says", error);
  if (m->value && (m->value->rank != 1 || m->value->count != index->count)) return keyed_matrix_fail(m, "has another number of values than of entries", error);
  for (int64_t i = 0; !is_entries && i <= lines; i++) {
    const int64_t at = gnn_array_integer(other, i);
    if (at < (i ? gnn_array_integer(other, i - 1) : 0) || at > index->count || (i == 0 && at != 0) || (i == lines && at != index->count)) return keyed_matrix_fail(m, "has an indptr that does not rise from 0 to its entries", error);
  }
  return GNN_OK;
}

/* An entry in row i and column j is an edge from i to j. */
static gnn_status keyed_matrix_edges(gnn_dataset *dataset, const keyed_matrix *m, gnn_error *error) {
  if (m->rows != m->columns)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": a matrix of %s by %s is no graph; rows and columns are its nodes", m->path, gnn_count_text(m->rows).text, gnn_count_text(m->columns).text);
  if (strcmp(m->format, "coo") == 0) {
    dataset->raw_source = *m->row;
    dataset->raw_destination = *m->column;
  } else {
    const int64_t edges = m->index->count;
    int32_t *line = gnn_dataset_alloc(dataset, edges, sizeof *line, error);
    if (line == NULL) return GNN_ENOMEM;
    for (int64_t i = 0; i < m->rows; i++) {
      const int64_t end = gnn_array_integer(m->ptr, i + 1);
      for (int64_t e = gnn_array_integer(m->ptr, i); e < end && e < edges; e++) line[e] = (int32_t)i;
    }
    const gnn_array lines = {.dtype = GNN_I32, .rank = 1, .shape = {edges}, .count = edges, .data = (const unsigned char *)line};
    dataset->raw_source = strcmp(m->format, "csr") == 0 ? lines : *m->index;
    dataset->raw_destination = strcmp(m->format, "csr") == 0 ? *m->index : lines;
  }
  dataset->has_edges = 1;
  dataset->declared_nodes = m->rows;
  int is_all_one = 1;
  for (int64_t e = 0; m->value && is_all_one && e < m->value->count; e++) is_all_one = gnn_array_number(m->value, e) == 1;
  if (m->value == NULL || is_all_one) return GNN_OK;
  return gnn_dataset_add_field(dataset, "weight", GNN_EDGE, m->value, error);
}

typedef struct keyed_entry {
  int32_t column;
  int64_t at;
} keyed_entry;

static int keyed_by_column(const void *a, const void *b) {
  const keyed_entry *x = a, *y = b;
  return x->column != y->column ? (x->column > y->column) - (x->column < y->column) : (x->at > y->at) - (x->at < y->at);
}

/* SciPy's rows need not ascend; ours do. */
static gnn_status keyed_sort_rows(gnn_dataset *dataset, keyed_matrix *m, gnn_array *index, gnn_array *value, gnn_error *error) {
  const int64_t entries = m->index->count;
  int is_sorted = 1;
  for (int64_t i = 0; is_sorted && i < m->rows; i++)
    for (int64_t e = gnn_array_integer(m->ptr, i) + 1; is_sorted && e < gnn_array_integer(m->ptr, i + 1); e++) is_sorted = gnn_array_integer(m->index, e - 1) < gnn_array_integer(m->index, e);
  *index = *m->index;
  *value = m->value ? *m->value : (gnn_array){0};
  if (is_sorted) return GNN_OK;
  int32_t *column = gnn_dataset_alloc(dataset, entries, sizeof *column, error);
  float *number = m->value ? gnn_dataset_alloc(dataset, entries, sizeof *number, error) : NULL;
  keyed_entry *row = malloc(((size_t)entries + 1) * sizeof *row); /* the longest row there can be */
  if (column == NULL || row == NULL || (m->value && number == NULL)) {
    free(row);
    return gnn_fail_memory(error, entries * (int64_t)sizeof *row);
  }
  for (int64_t i = 0; i < m->rows; i++) {
    const int64_t first = gnn_array_integer(m->ptr, i), count = gnn_array_integer(m->ptr, i + 1) - first;
    if (first < 0 || count < 0 || count > entries - first) break; /* the file has changed since it was checked: its guard says so */
    for (int64_t k = 0; k < count; k++) row[k] = (keyed_entry){(int32_t)gnn_array_integer(m->index, first + k), first + k};
    qsort(row, (size_t)count, sizeof *row, keyed_by_column);
    for (int64_t k = 0; k < count; k++) {
      column[first + k] = row[k].column;
      if (number) number[first + k] = (float)gnn_array_number(m->value, row[k].at);
    }
  }
  free(row);
  *index = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {entries}, .count = entries, .data = (const unsigned char *)column};
  if (number) *value = (gnn_array){.dtype = GNN_F32, .rank = 1, .shape = {entries}, .count = entries, .data = (const unsigned char *)number};
  return GNN_OK;
}

static gnn_status keyed_matrix_features(gnn_dataset *dataset, keyed_matrix *m, gnn_error *error) {
  gnn_array index, value;
  if (strcmp(m->format, "csr") != 0) return keyed_matrix_fail(m, "is not stored by rows", error);
  gnn_status status = keyed_sort_rows(dataset, m, &index, &value, error);
  return status == GNN_OK ? gnn_dataset_add_sparse(dataset, "x", m->columns, m->ptr, &index, m->value ? &value : NULL, error) : status;
}

/* adj_*, attr_* and labels, as the sets of Shchur et al. (2018) have them: Amazon, Coauthor; or one matrix, as SciPy saves it. */
static gnn_status keyed_scipy(gnn_dataset *dataset, const gnn_safetensors *file, const char *path, const char *graph, gnn_error *error) {
  static const char *const parts[] = {"indptr", "indices", "data", "shape", "row", "col"};
  keyed_matrix m;
  dataset->kind = graph[0] ? "a graph and features as sparse matrices" : "a sparse matrix as SciPy saves it";
  gnn_status status = keyed_open_matrix(file, path, graph, &m, error);
  if (status == GNN_OK) status = keyed_matrix_edges(dataset, &m, error);
  const char *const features = strcmp(graph, "adj_matrix.") == 0 ? "attr_matrix." : "attr_";
  const int has_features = graph[0] && keyed_has_matrix(file, features);
  if (status == GNN_OK && has_features) status = keyed_open_matrix(file, path, features, &m, error);
  if (status == GNN_OK && has_features) status = keyed_matrix_features(dataset, &m, error);
  for (int i = 0; status == GNN_OK && i < file->tensor_count; i++) {
    const char *name = file->tensors[i].name;
    int is_part = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
      char own[2][64];
      snprintf(own[0], sizeof own[0], "%s%s", graph, parts[k]);
      snprintf(own[1], sizeof own[1], "%s%s", features, parts[k]);
      is_part |= strcmp(name, own[0]) == 0 || (has_features && strcmp(name, own[1]) == 0);
    }
    if (is_part) continue;
    const gnn_array *array = &file->tensors[i].array;
    if (array->rank < 1 || array->shape[0] != dataset->declared_nodes) gnn_dataset_note(dataset, "%.80s is not used: its shape %s is not of the nodes", name, gnn_shape_text(array).text);
    else status = gnn_dataset_add_field(dataset, strcmp(name, "labels") == 0 ? "y" : strcmp(name, "attr_matrix") == 0 ? "x" : name, GNN_NODE, array, error);
  }
  return status;
}

gnn_status gnn_read_named(gnn_dataset *dataset, const gnn_safetensors *file, const char *path, gnn_error *error) {
  static const char *const graphs[] = {"", "adj_", "adj_matrix."}, *const own[] = {"edge.src", "edge.dst", "csr.rowptr", "csr.col"};
  for (int i = 0; i < 4; i++)
    if (gnn_safetensors_find(file, own[i])) return gnn_read_tensors(dataset, file, path, error);
  if (gnn_safetensors_text(file, "gnncc.graph")) return gnn_read_tensors(dataset, file, path, error); /* nothing but relations */
  for (int i = 0; i < 3; i++)
    if (keyed_has_matrix(file, graphs[i])) return keyed_scipy(dataset, file, path, graphs[i], error);
  static const npy_relation_names unnamed = {0};
  gnn_tensor *arrays = malloc((2 * (size_t)file->tensor_count + 1) * sizeof *arrays); /* three parts of a sparse matrix may become four */
  if (arrays == NULL) return gnn_fail_memory(error, 4096);
  gnn_keyed keyed = {.path = path, .ending = "", .arrays = arrays, .declared_edges = -1, .declared_classes = -1, .relations = &unnamed};
  int has_edges = 0, source, destination;
  for (int i = 0; i < file->tensor_count; i++)
    if (strncmp(file->tensors[i].name, "__pad.", 6) != 0) arrays[keyed.count++] = file->tensors[i];
  gnn_status status = gnn_entries_sort(dataset, arrays, &keyed.count, error);
  for (int i = 0; i < keyed.count; i++) has_edges |= strcmp(arrays[i].name, "edge_index") == 0 || strcmp(arrays[i].name, "edges") == 0;
  has_edges |= keyed_has_ends(arrays, keyed.count, &source, &destination);
  if (status == GNN_OK && has_edges) status = gnn_read_keyed(dataset, &keyed, error);
  else if (status == GNN_OK) {
    char there[400];
    gnn_array_list(arrays, keyed.count, there, sizeof there);
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds no graph: neither edge.src and edge.dst nor csr.rowptr and csr.col, nor edge_index", path);
    if (file->tensor_count > 0 && gnn_safetensors_text(file, "gnncc.model")) gnn_fail_help(error, "it holds weights: --weights %s", path);
    else gnn_fail_help(error, "it holds %s", there);
  }
  free(arrays);
  return status;
}
