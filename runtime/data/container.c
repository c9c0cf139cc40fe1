/* container.c: data sets as safetensors.
 *
 *   edge.src, edge.dst        whole numbers [E]; or csr.rowptr [N + 1], csr.col [E] with rows = destinations, which is what is written, with
 *   csc.colptr, csc.row       the same by source, unless every edge has its reverse: it would be the same
 *   node.NAME, edge.NAME      fields; a sparse one as node.NAME.rowptr, .col and, unless all are 1, .val
 *   graph.NAME, graph.ptr     fields of graphs, and where their nodes begin
 *   split.train, .valid, .test  row numbers, or a mask (BOOL or U8, one entry a row)
 *   splits.train, ...         several splits: masks [S, R], a row for each
 *   relation.NAME.rowptr, .col  the edges of a relation by destination
 *   pairs.train, ...          [2, P] pairs of nodes to tell edges among, and pairs.train.label [P], 0 where no edge joins them
 *   split.fold                for each row the fold that tests it; 255 or -1: none
 *   __pad.*                   nothing
 *   __metadata__              gnncc.nodes, gnncc.name, gnncc.classes.NAME, gnncc.width.NAME, gnncc.changes, gnncc.schema; gnncc.graph, types of nodes and relations as graph.json has them,
 *                             and gnncc.split_type, of which type the splits are */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_names.h"
#include "keyed.h"
#include "npy_types.h"
#include "readers.h"
#include "safetensors.h"
#include "runtime/core/adjacency.h"

enum { CONTAINER_NAME_MAX = 128 };

static gnn_status container_number(const gnn_safetensors *file, const char *path, const char *key, int64_t *value,
                                   gnn_error *error) {
  const char *text = gnn_safetensors_text(file, key);
  if (text == NULL) return GNN_OK;
  if (gnn_parse_integer(text, value) && *value >= 0) return GNN_OK;
  return gnn_fail(error, GNN_EDATA, "", "\"%s\": %s is \"%.40s\"; a whole number is needed", path, key, text);
}

static int container_has_suffix(const char *name, const char *suffix) {
  size_t length = strlen(name), tail = strlen(suffix);
  return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static gnn_status container_edges(const gnn_safetensors *file, const char *path, gnn_dataset *dataset, gnn_error *error) {
  const gnn_array *source = gnn_safetensors_find(file, "edge.src"), *destination = gnn_safetensors_find(file, "edge.dst");
  const gnn_array *ptr = gnn_safetensors_find(file, "csr.rowptr"), *column = gnn_safetensors_find(file, "csr.col");
  if (source && destination) {
    if (source->rank != 1 || destination->rank != 1)
      return gnn_fail(error, GNN_EDATA, "", "\"%s\": edge.src and edge.dst must have one dimension", path);
    dataset->raw_source = *source;
    dataset->raw_destination = *destination;
  } else if (ptr && column) {
    if (ptr->rank != 1 || column->rank != 1 || ptr->count < 1 || gnn_dtype_is_float(ptr->dtype))
      return gnn_fail(error, GNN_EDATA, "", "\"%s\": csr.rowptr and csr.col must be whole numbers in one dimension", path);
    int64_t rows = ptr->count - 1;
    if (rows >= INT32_MAX) return gnn_fail(error, GNN_EDATA, "", "\"%s\": csr.rowptr has too many rows", path);
    dataset->raw_row_ptr = *ptr;
    dataset->raw_source = *column;
    dataset->raw_destination = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {column->count}, .count = column->count}; /* what prepare_edges.c makes of the rows */
    if (dataset->declared_nodes < 0) dataset->declared_nodes = rows;
  } else {
    char there[400];
    gnn_array_list(file->tensors, file->tensor_count, there, sizeof there);
    gnn_status status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds no graph: neither edge.src and edge.dst nor csr.rowptr and csr.col", path);
    gnn_fail_help(error, "it holds %s", there);
    return status;
  }
  dataset->has_edges = 1;
  return GNN_OK;
}

/* The field that was added last, where nodes have types: "paper.x" is of paper. */
static gnn_status container_of_type(gnn_dataset *dataset, const char *path, gnn_error *error) {
  gnn_data_field *field = &dataset->fields[dataset->field_count - 1];
  if (dataset->type_count == 0 || field->domain != GNN_NODE) return GNN_OK;
  for (int t = 0; t < dataset->type_count; t++) {
    const size_t length = strlen(dataset->types[t].name);
    if (strncmp(field->name, dataset->types[t].name, length) != 0 || field->name[length] != '.') continue;
    field->domain = GNN_TYPE;
    field->set = t;
    return GNN_OK;
  }
  return gnn_fail(error, GNN_EDATA, "", "\"%s\": node.%s is of no type of nodes that gnncc.graph names", path, field->name);
}

static gnn_status container_sparse(const gnn_safetensors *file, const char *path, gnn_dataset *dataset, const char *base,
                                   gnn_error *error) {
  char name[CONTAINER_NAME_MAX + 16], key[CONTAINER_NAME_MAX + 16];
  snprintf(name, sizeof name, "node.%s.rowptr", base);
  const gnn_array *ptr = gnn_safetensors_find(file, name);
  snprintf(name, sizeof name, "node.%s.col", base);
  const gnn_array *column = gnn_safetensors_find(file, name);
  snprintf(name, sizeof name, "node.%s.val", base);
  const gnn_array *value = gnn_safetensors_find(file, name);
  if (column == NULL || ptr->rank != 1 || column->rank != 1 || (value && value->rank != 1))
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": node.%s.rowptr, .col and .val must have one dimension each", path, base);
  int64_t width = -1;
  snprintf(key, sizeof key, "gnncc.width.%s", base);
  gnn_status status = container_number(file, path, key, &width, error);
  if (status != GNN_OK) return status;
  if (width < 0) {
    width = 1;
    for (int64_t k = 0; k < column->count; k++) {
      int64_t c = gnn_array_integer(column, k);
      if (c >= width && c < INT32_MAX) width = c + 1;
    }
    gnn_dataset_note(dataset, "the width of %s is not stored; taken as the greatest column + 1: %lld", base, (long long)width);
  }
  status = gnn_dataset_add_sparse(dataset, base, width, ptr, column, value, error);
  return status == GNN_OK ? container_of_type(dataset, path, error) : status;
}

static gnn_status container_field(const gnn_safetensors *file, const char *path, gnn_dataset *dataset, const char *name,
                                  const gnn_array *array, gnn_error *error) {
  static const struct { const char *prefix; gnn_domain domain; } domains[] = {
    {"node.", GNN_NODE}, {"edge.", GNN_EDGE}, {"graph.", GNN_GRAPH}};
  for (int d = 0; d < 3; d++) {
    size_t length = strlen(domains[d].prefix);
    if (strncmp(name, domains[d].prefix, length) != 0) continue;
    char base[CONTAINER_NAME_MAX], key[CONTAINER_NAME_MAX + 16];
    if (strlen(name + length) >= sizeof base)
      return gnn_fail(error, GNN_EDATA, "", "\"%s\": the name of tensor %.80s... is too long", path, name);
    snprintf(base, sizeof base, "%s", name + length);
    if (d == 0 && (container_has_suffix(base, ".col") || container_has_suffix(base, ".val"))) return GNN_OK;
    if (d == 0 && container_has_suffix(base, ".rowptr")) {
      base[strlen(base) - 7] = 0;
      return container_sparse(file, path, dataset, base, error);
    }
    gnn_status status = gnn_dataset_add_field(dataset, base, domains[d].domain, array, error);
    if (status == GNN_OK) status = container_of_type(dataset, path, error);
    snprintf(key, sizeof key, "gnncc.classes.%s", base);
    if (status == GNN_OK)
      status = container_number(file, path, key, &dataset->fields[dataset->field_count - 1].declared_classes, error);
    return status;
  }
  gnn_dataset_note(dataset, "tensor %.80s is not used", name);
  return GNN_OK;
}

/* relation.NAME.rowptr, relation.NAME.col, whatever of a name the language does not take. */
static const gnn_array *container_of_relation(const gnn_safetensors *file, const gnn_data_relation *relation, const char *suffix) {
  static const char prefix[] = "relation.";
  const size_t begin = sizeof prefix - 1;
  for (int t = 0; t < file->tensor_count; t++) {
    const char *name = file->tensors[t].name;
    char own[CONTAINER_NAME_MAX];
    if (strncmp(name, prefix, begin) != 0 || !container_has_suffix(name, suffix) || strlen(name) >= begin + strlen(suffix) + sizeof own) continue;
    snprintf(own, sizeof own, "%.*s", (int)(strlen(name) - begin - strlen(suffix)), name + begin);
    if (strcmp(own, relation->given) == 0 || strcmp(own, relation->name) == 0) return &file->tensors[t].array;
  }
  return NULL;
}

/* The edges of a relation stand by destination. */
static gnn_status container_relation(const gnn_safetensors *file, const char *path, gnn_dataset *dataset, gnn_data_relation *relation, gnn_error *error) {
  const gnn_array *ptr = container_of_relation(file, relation, ".rowptr"), *column = container_of_relation(file, relation, ".col");
  if (ptr == NULL || column == NULL || ptr->rank != 1 || column->rank != 1 || ptr->count < 1 || ptr->count > INT32_MAX || gnn_dtype_is_float(ptr->dtype))
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" names the relation %s, and needs relation.%s.rowptr and .col, whole numbers in one dimension", path, relation->name, relation->name);
  int32_t *row = gnn_dataset_alloc(dataset, column->count, sizeof *row, error);
  if (row == NULL) return GNN_ENOMEM;
  int64_t at = 0;
  for (int64_t r = 0; r + 1 < ptr->count; r++) {
    const int64_t end = gnn_array_integer(ptr, r + 1);
    if (end < at || end > column->count || (r == 0 && gnn_array_integer(ptr, 0) != 0)) return gnn_fail(error, GNN_EDATA, "", "\"%s\": relation.%s.rowptr must rise from 0 to %lld", path, relation->name, (long long)column->count);
    while (at < end) row[at++] = (int32_t)r;
  }
  if (at != column->count) return gnn_fail(error, GNN_EDATA, "", "\"%s\": relation.%s.rowptr does not cover .col", path, relation->name);
  relation->raw_source = *column;
  relation->raw_destination = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {at}, .count = at, .data = (const unsigned char *)row};
  return GNN_OK;
}

/* Types of nodes and relations, as graph.json says them. */
static gnn_status container_relations(const gnn_safetensors *file, const char *path, gnn_dataset *dataset, gnn_error *error) {
  const char *text = gnn_safetensors_text(file, "gnncc.graph"), *split_type = gnn_safetensors_text(file, "gnncc.split_type");
  gnn_json json;
  if (text == NULL) return GNN_OK;
  gnn_status status = gnn_json_parse("gnncc.graph", (const unsigned char *)text, strlen(text), &json, error);
  if (status != GNN_OK) return status;
  npy_relation_names *names = calloc(1, sizeof *names);
  if (names == NULL) status = gnn_fail_memory(error, (int64_t)sizeof *names);
  if (status == GNN_OK && json.nodes[0].kind != GNN_JSON_OBJECT) status = gnn_fail(error, GNN_EDATA, "", "\"%s\": gnncc.graph is no JSON object", path);
  if (status == GNN_OK) status = npy_types_names(dataset, &json, names, error);
  if (status == GNN_OK) status = npy_types_declared(dataset, &json, error);
  if (status == GNN_OK) status = npy_types_counts(dataset, file->tensors, file->tensor_count, error);
  for (int i = 0; status == GNN_OK && i < names->count; i++)
    if (gnn_dataset_add_relation(dataset, names->name[i], 0, 0, error) == NULL) status = GNN_EDATA;
  for (int r = 0; status == GNN_OK && r < dataset->relation_count; r++) status = container_relation(file, path, dataset, &dataset->relations[r], error);
  for (int t = 0; split_type && t < dataset->type_count; t++)
    if (strcmp(dataset->types[t].given, split_type) == 0) dataset->split_type = t;
  free(names);
  gnn_json_free(&json);
  return status;
}

/* pairs.train, pairs.train.label, ... */
static gnn_status container_pairs(gnn_dataset *dataset, const char *name, const gnn_array *array, int *is_pairs, gnn_error *error) {
  char split[CONTAINER_NAME_MAX], full[CONTAINER_NAME_MAX + 32];
  *is_pairs = 0;
  if (strncmp(name, "pairs.", 6) != 0 || strlen(name) >= sizeof split) return GNN_OK;
  const int is_label = container_has_suffix(name, ".label");
  snprintf(split, sizeof split, "%.*s", (int)strlen(name) - 6 - (is_label ? 6 : 0), name + 6);
  snprintf(full, sizeof full, "%s_edge_label%s", split, is_label ? "" : "_index");
  return gnn_array_take_pairs(dataset, full, array, is_pairs, error);
}

static gnn_status container_tensors(const gnn_safetensors *file, const char *path, gnn_dataset *dataset, gnn_error *error) {
  static const char *const known[] = {"edge.src", "edge.dst", "csr.rowptr", "csr.col", "csc.colptr", "csc.row", "graph.ptr"};
  static const struct { const char *name; int split; } splits[] = {
    {"split.train", GNN_TRAIN}, {"split.valid", GNN_VALID}, {"split.val", GNN_VALID}, {"split.test", GNN_TEST}},
    many[] = {{"splits.train", GNN_TRAIN}, {"splits.valid", GNN_VALID}, {"splits.test", GNN_TEST}};
  gnn_status status = GNN_OK;
  for (int t = 0; status == GNN_OK && t < file->tensor_count; t++) {
    const char *name = file->tensors[t].name;
    const gnn_array *array = &file->tensors[t].array;
    int is_done = strncmp(name, "__pad.", 6) == 0 || strcmp(name, "split.fold") == 0;
    if (strcmp(name, "split.fold") == 0) dataset->raw_fold = *array;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_done |= strcmp(name, known[i]) == 0;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
      if (strcmp(name, splits[i].name) != 0) continue;
      dataset->raw_split[splits[i].split] = *array;
      dataset->is_split_ids[splits[i].split] = array->dtype != GNN_BOOL && array->dtype != GNN_U8;
      is_done = 1;
    }
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
      if (strcmp(name, many[i].name) != 0) continue;
      dataset->raw_splits[many[i].split] = *array;
      is_done = 1;
    }
    is_done |= dataset->relation_count > 0 && strncmp(name, "relation.", 9) == 0;
    if (!is_done) status = container_pairs(dataset, name, array, &is_done, error);
    if (status == GNN_OK && !is_done) status = container_field(file, path, dataset, name, array, error);
  }
  return status;
}

gnn_status gnn_read_tensors(gnn_dataset *dataset, const gnn_safetensors *file, const char *path, gnn_error *error) {
  gnn_status status = container_number(file, path, "gnncc.nodes", &dataset->declared_nodes, error);
  const gnn_array *graphs = gnn_safetensors_find(file, "graph.ptr");
  if (graphs && graphs->count > 0 && graphs->rank == 1 && !gnn_dtype_is_float(graphs->dtype)) {
    dataset->declared_graphs = graphs->count - 1;
    dataset->raw_graph_ptr = *graphs;
  }
  if (status == GNN_OK) status = container_relations(file, path, dataset, error);
  if (status == GNN_OK && dataset->type_count == 0) status = container_edges(file, path, dataset, error);
  return status == GNN_OK ? container_tensors(file, path, dataset, error) : status;
}

gnn_status gnn_read_container(gnn_dataset *dataset, const char *path, gnn_error *error) {
  gnn_safetensors file;
  gnn_status status = gnn_safetensors_open(path, &file, error);
  if (status != GNN_OK) return status;
  dataset->kind = "a safetensors file";
  dataset->is_ours = gnn_safetensors_text(&file, "gnncc.schema") != NULL;
  const char *name = gnn_safetensors_text(&file, "gnncc.name");
  if (name) status = gnn_dataset_set_name(dataset, name, error);
  if (status == GNN_OK) status = gnn_read_named(dataset, &file, path, error);
  const char *changes = gnn_safetensors_text(&file, "gnncc.changes");
  if (status == GNN_OK && changes && changes[0]) {
    size_t length = strcspn(changes, "\n");
    gnn_dataset_note(dataset, "made with: %.*s%s", (int)(length < 200 ? length : 200), changes, changes[length] ? " ..." : "");
  }
  if (status == GNN_OK) status = gnn_dataset_own_file(dataset, &file.file, error);
  gnn_safetensors_close(&file);
  return status;
}

/* ---- writing ---- */

typedef struct container_writer {
  const gnn_dataset *dataset;
  gnn_dataset *scratch; /* owns what is converted */
  int count, pair_count;
  gnn_tensor *tensors;
  gnn_pair *pairs;
  gnn_error *error;
} container_writer;

/* Owned by scratch. */
static const char *container_text(container_writer *w, const char *format, const char *a) {
  int64_t room = (int64_t)(strlen(format) + strlen(a)) + 1;
  char *text = gnn_dataset_alloc(w->scratch, room, 1, w->error);
  if (text) snprintf(text, (size_t)room, format, a);
  return text;
}

static gnn_status container_put(container_writer *w, const char *format, const char *name, gnn_array array) {
  const char *full = container_text(w, format, name);
  if (full == NULL) return GNN_ENOMEM;
  if (!gnn_array_measure(&array)) return gnn_fail(w->error, GNN_EINVAL, "", "internal: the shape of %s", full);
  w->tensors[w->count++] = (gnn_tensor){.name = full, .array = array};
  return GNN_OK;
}

static gnn_status container_pair(container_writer *w, const char *format, const char *name, const char *value) {
  const char *key = container_text(w, format, name), *copy = container_text(w, "%s", value);
  if (key == NULL || copy == NULL) return GNN_ENOMEM;
  w->pairs[w->pair_count++] = (gnn_pair){key, copy};
  return GNN_OK;
}

static int64_t *container_wide(container_writer *w, const int32_t *from, int64_t count) {
  int64_t *wide = gnn_dataset_alloc(w->scratch, count, sizeof *wide, w->error);
  for (int64_t i = 0; wide && i < count; i++) wide[i] = from[i];
  return wide;
}

/* What is written as node i, in the numbers of the data. */
static int64_t container_node(const gnn_dataset *dataset, int64_t i) { return dataset->node_id ? dataset->node_id[i] : i; }
static int64_t container_row(const container_writer *w, const gnn_data_field *field, int64_t r) { return field->domain == GNN_NODE ? container_node(w->dataset, r) : r; }

/* By destination; and by source, unless that is the same. out_ptr, to: NULL where only the sizes are wanted. */
static gnn_status container_put_graph(container_writer *w, const int64_t *out_ptr, const int32_t *to) {
  const gnn_dataset *dataset = w->dataset;
  const gnn_array ptr = {.dtype = GNN_I64, .rank = 1, .shape = {dataset->nodes + 1}}, id = {.dtype = GNN_I32, .rank = 1, .shape = {dataset->edges}};
  const struct { const char *name; const void *data; const gnn_array *like; } tensors[] = {
    {"csr.rowptr", dataset->in_ptr, &ptr}, {"csr.col", dataset->in_source, &id}, {"csc.colptr", out_ptr, &ptr}, {"csc.row", to, &id}};
  gnn_status status = GNN_OK;
  for (int i = 0; status == GNN_OK && i < (dataset->is_symmetric ? 2 : 4); i++) {
    gnn_array array = *tensors[i].like;
    array.data = tensors[i].data;
    status = container_put(w, "%s", tensors[i].name, array);
  }
  return status;
}

static gnn_status container_put_edges(container_writer *w) {
  const gnn_dataset *dataset = w->dataset;
  int64_t *out_ptr = NULL;
  int32_t *to = NULL;
  if (!dataset->is_symmetric) {
    out_ptr = gnn_dataset_alloc(w->scratch, dataset->nodes + 1, sizeof *out_ptr, w->error);
    to = gnn_dataset_alloc(w->scratch, dataset->edges, sizeof *to, w->error);
    if (out_ptr == NULL || to == NULL) return GNN_ENOMEM;
    gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, dataset->nodes, dataset->nodes, out_ptr, to, NULL);
  }
  return container_put_graph(w, out_ptr, to);
}

static gnn_status container_put_sparse(container_writer *w, const gnn_data_field *field) {
  int64_t *ptr = gnn_dataset_alloc(w->scratch, field->rows + 1, sizeof *ptr, w->error);
  int32_t *column = gnn_dataset_alloc(w->scratch, field->nonzeros + field->width, sizeof *column, w->error);
  float *value = gnn_dataset_alloc(w->scratch, field->nonzeros + field->width, sizeof *value, w->error);
  if (!ptr || !column || !value) return GNN_ENOMEM;
  ptr[0] = 0;
  int all_ones = 1;
  for (int64_t r = 0; r < field->rows; r++) /* they were counted before: a file may have changed since */
    ptr[r + 1] = ptr[r] + (ptr[r] > field->nonzeros ? 0 : gnn_field_row_nonzeros(field, container_row(w, field, r), column + ptr[r], value + ptr[r]));
  int64_t entries = ptr[field->rows];
  for (int64_t k = 0; k < entries; k++) all_ones &= value[k] == 1;
  gnn_array array = {.dtype = GNN_I64, .rank = 1, .shape = {field->rows + 1}, .data = (const unsigned char *)ptr};
  gnn_status status = container_put(w, "node.%s.rowptr", field->name, array);
  array = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {entries}, .data = (const unsigned char *)column};
  if (status == GNN_OK) status = container_put(w, "node.%s.col", field->name, array);
  array = (gnn_array){.dtype = GNN_F32, .rank = 1, .shape = {entries}, .data = (const unsigned char *)value};
  if (status == GNN_OK && !all_ones) status = container_put(w, "node.%s.val", field->name, array);
  if (status == GNN_OK) {
    char width[24];
    snprintf(width, sizeof width, "%lld", (long long)field->width);
    status = container_pair(w, "gnncc.width.%s", field->name, width);
  }
  return status;
}

static gnn_status container_put_field(container_writer *w, const gnn_data_field *field) {
  static const char *const formats[] = {"node.%s", "edge.%s", "graph.%s"};
  const char *format = field->domain == GNN_TYPE ? formats[GNN_NODE] : formats[field->domain];
  if (field->storage == GNN_LABEL) {
    int64_t *label = gnn_dataset_alloc(w->scratch, field->rows, sizeof *label, w->error);
    if (label == NULL) return GNN_ENOMEM;
    for (int64_t r = 0; r < field->rows; r++) label[r] = field->label[container_row(w, field, r)];
    gnn_array array = {.dtype = GNN_I64, .rank = 1, .shape = {field->rows}, .data = (const unsigned char *)label};
    char classes[24];
    snprintf(classes, sizeof classes, "%lld", (long long)field->classes);
    gnn_status status = container_put(w, format, field->name, array);
    return status == GNN_OK ? container_pair(w, "gnncc.classes.%s", field->name, classes) : status;
  }
  int is_thin = field->nonzeros * 3 < field->rows * field->width;
  if (field->domain == GNN_NODE && is_thin && *w->dataset->node_type == 0) return container_put_sparse(w, field);
  float *dense = gnn_dataset_alloc(w->scratch, field->rows, field->width * (int64_t)sizeof *dense, w->error);
  if (dense == NULL) return GNN_ENOMEM;
  for (int64_t r = 0; r < field->rows; r++) gnn_field_row(field, container_row(w, field, r), dense + r * field->width);
  gnn_array array = {.dtype = GNN_F32, .rank = 2, .shape = {field->rows, field->width}, .data = (const unsigned char *)dense};
  return container_put(w, format, field->name, array);
}

static gnn_status container_put_fold(container_writer *w) {
  const gnn_array *given = &w->dataset->raw_fold;
  int64_t *fold = w->dataset->node_id ? gnn_dataset_alloc(w->scratch, given->count, sizeof *fold, w->error) : NULL;
  if (w->dataset->node_id == NULL) return container_put(w, "split.%s", "fold", *given);
  if (fold == NULL) return GNN_ENOMEM;
  for (int64_t i = 0; i < given->count; i++) fold[i] = gnn_array_integer(given, container_node(w->dataset, i));
  return container_put(w, "split.%s", "fold", (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {given->count}, .data = (const unsigned char *)fold});
}

/* Where graphs begin, and the folds that the data bring. */
static gnn_status container_put_graphs(container_writer *w) {
  const gnn_dataset *dataset = w->dataset;
  gnn_status status = GNN_OK;
  if (dataset->raw_graph_ptr.data)
    status = container_put(w, "graph.%s", "ptr", (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {dataset->graphs + 1}, .data = (const unsigned char *)dataset->graph_ptr});
  if (status == GNN_OK && dataset->raw_fold.data) status = container_put_fold(w);
  return status;
}

/* Pairs, with the nodes as they are written. */
static gnn_status container_renumber(container_writer *w, gnn_array *pairs) {
  const gnn_dataset *dataset = w->dataset;
  if (dataset->node_id == NULL) return GNN_OK;
  int64_t *moved = gnn_dataset_alloc(w->scratch, pairs->count, sizeof *moved, w->error);
  int32_t *place = gnn_dataset_alloc(w->scratch, dataset->nodes, sizeof *place, w->error);
  if (moved == NULL || place == NULL) return GNN_ENOMEM;
  for (int64_t i = 0; i < dataset->nodes; i++) place[dataset->node_id[i]] = (int32_t)i;
  for (int64_t k = 0; k < pairs->count; k++) {
    const int64_t node = gnn_array_integer(pairs, k);
    if (node < 0 || node >= dataset->nodes) return gnn_fail(w->error, GNN_EDATA, "", "%s: a pair names node %lld, and there are %lld", dataset->title, (long long)node, (long long)dataset->nodes);
    moved[k] = place[node];
  }
  pairs->dtype = GNN_I64;
  pairs->data = (const unsigned char *)moved;
  return GNN_OK;
}

static gnn_status container_put_pairs(container_writer *w) {
  gnn_status status = GNN_OK;
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++) {
    gnn_array index = w->dataset->raw_pairs[s];
    const gnn_array *label = &w->dataset->raw_pair_label[s];
    if (index.data) status = container_renumber(w, &index);
    if (status == GNN_OK && index.data) status = container_put(w, "pairs.%s", gnn_split_names[s], index);
    if (status == GNN_OK && label->data) status = container_put(w, "pairs.%s.label", gnn_split_names[s], *label);
  }
  return status;
}

static gnn_status container_put_splits(container_writer *w) {
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int64_t count = w->dataset->split_count[s];
    if (count == 0) continue;
    int64_t *ids = container_wide(w, w->dataset->split_rows[s], count);
    if (ids == NULL) return GNN_ENOMEM;
    gnn_array array = {.dtype = GNN_I64, .rank = 1, .shape = {count}, .data = (const unsigned char *)ids};
    gnn_status status = container_put(w, "split.%s", gnn_split_names[s], array);
    if (status != GNN_OK) return status;
  }
  return GNN_OK;
}

/* Splits of which the data hold several, unless one of them was asked for: the masks as they are. */
static gnn_status container_put_all_splits(container_writer *w) {
  gnn_status status = GNN_OK;
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++) {
    const gnn_array *many = &w->dataset->raw_splits[s];
    if (many->data == NULL) continue;
    if (many->rank != 2) return gnn_fail(w->error, GNN_EDATA, "", "%s: the masks of split %s have the shape %s; splits by rows are needed", w->dataset->title, gnn_split_names[s], gnn_shape_text(many).text);
    unsigned char *mask = gnn_dataset_alloc(w->scratch, many->count, 1, w->error);
    if (mask == NULL) return GNN_ENOMEM;
    const int64_t rows = many->shape[1];
    const int is_of_nodes = w->dataset->split_domain == GNN_NODE;
    for (int64_t i = 0; i < many->count; i++) mask[i] = gnn_array_integer(many, is_of_nodes ? i - i % rows + container_node(w->dataset, i % rows) : i) != 0;
    status = container_put(w, "splits.%s", gnn_split_names[s], (gnn_array){.dtype = GNN_BOOL, .rank = 2, .shape = {many->shape[0], many->shape[1]}, .data = mask});
  }
  return status;
}

static const char *container_type(const gnn_dataset *dataset, int set) { return set == 0 ? dataset->node_type : dataset->types[set - 2].name; }

/* What graph.json says of a folder. */
static gnn_status container_put_relations(container_writer *w) {
  const gnn_dataset *dataset = w->dataset;
  const int is_typed = *dataset->node_type != 0;
  gnn_text text = {0};
  gnn_status status = GNN_OK;
  if (dataset->relation_count == 0) return GNN_OK;
  gnn_text_format(&text, "{");
  if (is_typed) gnn_text_format(&text, "\"node_types\": {\"%s\": %lld", dataset->node_type, (long long)dataset->nodes);
  for (int t = 0; t < dataset->type_count; t++) gnn_text_format(&text, ", \"%s\": %lld", dataset->types[t].name, (long long)dataset->types[t].nodes);
  gnn_text_format(&text, is_typed ? "}, \"relations\": [" : "\"relation_names\": [");
  for (int r = 0; r < dataset->relation_count; r++) {
    const gnn_data_relation *relation = &dataset->relations[r];
    gnn_text_format(&text, r ? ", " : "");
    if (is_typed) gnn_text_format(&text, "{\"name\": \"%s\", \"source\": \"%s\", \"destination\": \"%s\"}", relation->name, container_type(dataset, relation->src), container_type(dataset, relation->dst));
    else gnn_text_format(&text, "\"%s\"", relation->name);
  }
  gnn_text_format(&text, "]}");
  status = text.is_broken ? gnn_fail_memory(w->error, 4096) : container_pair(w, "gnncc.%s", "graph", text.data);
  gnn_text_free(&text);
  if (status == GNN_OK && is_typed) status = container_pair(w, "gnncc.%s", "split_type", dataset->node_type);
  for (int r = 0; status == GNN_OK && r < dataset->relation_count; r++) {
    const gnn_data_relation *relation = &dataset->relations[r];
    status = container_put(w, "relation.%s.rowptr", relation->name, (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {gnn_dataset_rows(dataset, relation->dst) + 1}, .data = (const unsigned char *)relation->in_ptr});
    if (status == GNN_OK) status = container_put(w, "relation.%s.col", relation->name, (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {relation->edges}, .data = (const unsigned char *)relation->in_source});
  }
  return status;
}

static gnn_status container_begin(container_writer *w, const char *changes) {
  const gnn_dataset *dataset = w->dataset;
  char number[24];
  w->scratch = gnn_dataset_new("scratch");
  w->tensors = calloc((size_t)dataset->field_count * 3 + 2 * (size_t)dataset->relation_count + 24, sizeof *w->tensors);
  w->pairs = calloc((size_t)dataset->field_count * 2 + 8, sizeof *w->pairs);
  gnn_status status = w->scratch && w->tensors && w->pairs ? GNN_OK : gnn_fail_memory(w->error, 4096);
  snprintf(number, sizeof number, "%lld", (long long)dataset->nodes);
  if (status == GNN_OK) status = container_pair(w, "gnncc.%s", "schema", "1");
  if (status == GNN_OK) status = container_pair(w, "gnncc.%s", "name", dataset->name);
  if (status == GNN_OK) status = container_pair(w, "gnncc.%s", "nodes", number);
  return status == GNN_OK ? container_pair(w, "gnncc.%s", "changes", changes ? changes : "") : status;
}

static void container_end(container_writer *w) {
  free(w->tensors);
  free(w->pairs);
  gnn_dataset_close(w->scratch);
}

gnn_status gnn_write_container(const gnn_dataset *dataset, const char *path, int keeps_splits, const char *changes, gnn_error *error) {
  container_writer w = {.dataset = dataset, .error = error};
  gnn_status status = container_begin(&w, changes);
  if (status == GNN_OK && *dataset->node_type == 0) status = container_put_edges(&w);
  if (status == GNN_OK) status = container_put_relations(&w);
  if (status == GNN_OK) status = container_put_graphs(&w);
  for (int i = 0; status == GNN_OK && i < dataset->field_count; i++) status = container_put_field(&w, &dataset->fields[i]);
  if (status == GNN_OK) status = container_put_splits(&w);
  if (status == GNN_OK) status = container_put_pairs(&w);
  if (status == GNN_OK && keeps_splits) status = container_put_all_splits(&w);
  status = gnn_dataset_check_files(dataset, status, error);
  if (status == GNN_OK) status = gnn_safetensors_write(path, w.tensors, w.count, w.pairs, w.pair_count, error);
  container_end(&w);
  return status;
}

gnn_status gnn_container_head(const gnn_dataset *dataset, const char *changes, const uint32_t sums[4], gnn_text *head, gnn_error *error) {
  static const int places[4] = {0, 2, 1, 3}; /* of the bytes in the order of the tensors */
  container_writer w = {.dataset = dataset, .error = error};
  uint32_t of_tensors[4];
  for (int i = 0; i < 4; i++) of_tensors[places[i]] = sums[i];
  gnn_status status = container_begin(&w, changes);
  if (status == GNN_OK) status = container_put_graph(&w, NULL, NULL);
  if (status == GNN_OK) status = gnn_safetensors_head(w.tensors, w.count, of_tensors, w.pairs, w.pair_count, head, error);
  container_end(&w);
  return status;
}
