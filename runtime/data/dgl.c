/* dgl.c: folders of DGL. A YAML file says which tables (CSVDataset: meta.yaml) or tables and arrays (GraphBolt's OnDiskDataset: metadata.yaml) the graph lies in. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "dgl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "keyed.h"
#include "names.h"
#include "npy.h"
#include "runtime/base/json.h"

gnn_yaml_reader *gnn_read_yaml;

enum { DGL_PATH_MOST = 4096 };

typedef struct dgl_folder {
  gnn_dataset *dataset;
  const char *path;
  char file[DGL_PATH_MOST]; /* the YAML file */
  gnn_json json;
  int count;                /* types of nodes; 1: fields are x, not paper.x */
  gnn_ids *ids;             /* [count]: what the nodes of each are called, or how many they are */
  int is_only;              /* one type and one kind of edges */
  gnn_error *error;
} dgl_folder;

static const gnn_json_node *dgl_node(const dgl_folder *d, int32_t i) { return i < 0 ? NULL : &d->json.nodes[i]; }

/* "DIR/meta.yaml" line 3: ... */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static gnn_status dgl_fail(const dgl_folder *d, const gnn_json_node *node, const char *format, ...) {
  char text[512];
  int64_t line = 1;
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  for (int64_t i = 0; i < node->at; i++) line += d->dataset->layout[i] == '\n';
  return gnn_fail(d->error, GNN_EDATA, "", "\"%s\" line %lld: %s", d->file, (long long)line, text);
}

static gnn_status dgl_not_read(const dgl_folder *d, const gnn_json_node *node, const char *what) {
  const gnn_status status = dgl_fail(d, node, "%s", what);
  gnn_fail_help(d->error, "share/gnncc/to_gnncc.py makes a folder of arrays of the graph as DGL has it, and npy(\"folder\") reads that");
  return status;
}

/* NULL: it is not there, or null. */
static const gnn_json_node *dgl_member(const dgl_folder *d, const gnn_json_node *object, const char *key) {
  const gnn_json_node *node = object->kind == GNN_JSON_OBJECT ? gnn_json_member(&d->json, object, key) : NULL;
  return node && node->kind != GNN_JSON_NULL ? node : NULL;
}

/* *text: NULL or `usual` where it is not there. */
static gnn_status dgl_text(const dgl_folder *d, const gnn_json_node *object, const char *key, const char *usual, const char **text) {
  const gnn_json_node *node = dgl_member(d, object, key);
  *text = node ? node->text : usual;
  return node && node->kind != GNN_JSON_STRING ? dgl_fail(d, node, "%s is one text", key) : GNN_OK;
}

static gnn_status dgl_number(const dgl_folder *d, const gnn_json_node *object, const char *key, int64_t *number) {
  const gnn_json_node *node = dgl_member(d, object, key);
  if (node && (node->kind != GNN_JSON_STRING || !gnn_parse_integer(node->text, number) || *number < 0)) return dgl_fail(d, node, "%s is a whole number of at least 0", key);
  return GNN_OK;
}

/* A list of mappings, which is there and has something in it. */
static gnn_status dgl_list(const dgl_folder *d, const gnn_json_node *object, const char *key, const gnn_json_node **list, int *length) {
  *list = dgl_member(d, object, key);
  *length = 0;
  if (*list == NULL) return dgl_fail(d, object, "there is no %s", key);
  if ((*list)->kind != GNN_JSON_ARRAY) return dgl_fail(d, *list, "%s is a list", key);
  for (const gnn_json_node *item = dgl_node(d, (*list)->first); item; item = dgl_node(d, item->next), ++*length)
    if (item->kind != GNN_JSON_OBJECT) return dgl_fail(d, item, "%s is a list of mappings (- key: value)", key);
  return *length ? GNN_OK : dgl_fail(d, *list, "%s is empty", key);
}

/* The file that a key names; to be freed. */
static gnn_status dgl_path(const dgl_folder *d, const gnn_json_node *object, const char *key, char **path) {
  const char *name;
  gnn_status status = dgl_text(d, object, key, NULL, &name);
  *path = NULL;
  if (status != GNN_OK) return status;
  if (name == NULL) return dgl_fail(d, object, "there is no %s", key);
  if ((*path = gnn_path_join(d->path, name)) == NULL) return gnn_fail_memory(d->error, DGL_PATH_MOST);
  return gnn_path_exists(*path) && !gnn_path_is_directory(*path) ? GNN_OK : dgl_fail(d, dgl_member(d, object, key), "there is no file \"%s\"", *path);
}

/* ---- types of nodes, relations, fields ---- */

static gnn_status dgl_add_type(dgl_folder *d, const gnn_json_node *at, const char *name, int64_t nodes) {
  gnn_dataset *dataset = d->dataset;
  if (d->is_only) {
    dataset->declared_nodes = nodes;
    return GNN_OK;
  }
  if (gnn_dataset_find_type(d->dataset, name, strlen(name)) >= 0) return dgl_fail(d, at, "nodes of type \"%s\" are there twice", name);
  if (nodes < 1) return dgl_fail(d, at, "there are no nodes of type \"%s\"", name);
  return gnn_dataset_add_type(dataset, name, nodes, d->error) ? GNN_OK : GNN_EDATA;
}

/* Where the ends of edges of a kind go: of the graph, or of a relation that is new. */
static gnn_status dgl_add_relation(dgl_folder *d, const gnn_json_node *at, int from, int to, const char *name, const gnn_array *source, const gnn_array *destination) {
  gnn_dataset *dataset = d->dataset;
  dataset->has_edges = 1;
  if (d->is_only) {
    dataset->raw_source = *source;
    dataset->raw_destination = *destination;
    return GNN_OK;
  }
  if (dataset->relation_count == GNN_RELATIONS_MAX) return dgl_fail(d, at, "more than %d kinds of edges are not supported", GNN_RELATIONS_MAX);
  gnn_data_relation *relation = gnn_dataset_add_relation(dataset, name, from, to, d->error);
  if (relation == NULL) return GNN_EDATA;
  relation->raw_source = *source;
  relation->raw_destination = *destination;
  return GNN_OK;
}

/* What DGL calls feat and label is x and y of nodes, edge_attr and edge_label of edges; others keep their names, as the language takes them. */
static void dgl_field_name(gnn_domain domain, const char *given, char *name, size_t room) {
  const int is_edge = domain == GNN_EDGE;
  if (strcmp(given, "feat") == 0) snprintf(name, room, is_edge ? "edge_attr" : "x");
  else if (strcmp(given, "label") == 0 || strcmp(given, "labels") == 0) snprintf(name, room, is_edge ? "edge_label" : "y");
  else gnn_make_name(given, name, room);
}

/* Names of the fields that a table had, from `first` on. */
static void dgl_rename(dgl_folder *d, int first, size_t prefix) {
  for (int f = first; f < d->dataset->field_count; f++) {
    gnn_data_field *field = &d->dataset->fields[f];
    char name[64], full[160];
    dgl_field_name(field->domain, field->name + prefix, name, sizeof name);
    snprintf(full, sizeof full, "%.*s%s", (int)prefix, field->name, name);
    if (strcmp(full, field->name) == 0 || strlen(full) >= sizeof field->name || gnn_dataset_field(d->dataset, full)) continue;
    gnn_dataset_note(d->dataset, "%s is read as %s", field->name, full);
    memcpy(field->name, full, strlen(full) + 1);
  }
}

/* One type of nodes has the splits: the first that has any. */
static void dgl_keep_splits(dgl_folder *d, int before, const gnn_array *kept, int has_any) {
  gnn_dataset *dataset = d->dataset;
  if (!has_any || dataset->split_type == before) return;
  gnn_dataset_note(dataset, "the split of %s is not used: one type of nodes can have them", dataset->types[dataset->split_type].name);
  memcpy(dataset->raw_split, kept, sizeof dataset->raw_split);
  dataset->split_type = before;
}

/* ---- CSVDataset ---- */

static gnn_status dgl_csv(const dgl_folder *d, const gnn_json_node *object, gnn_csv *csv) {
  const char *separator;
  *csv = (gnn_csv){.header = 1, .node_count = -1, .wanted_nodes = -1, .wanted_edges = -1, .separator = ','};
  gnn_status status = dgl_text(d, &d->json.nodes[0], "separator", ",", &separator);
  if (status == GNN_OK && strlen(separator) != 1) status = dgl_fail(d, dgl_member(d, &d->json.nodes[0], "separator"), "separator is one character");
  csv->separator = separator ? separator[0] : ',';
  if (status == GNN_OK) status = dgl_text(d, object, "node_id_field", "node_id", &csv->id);
  if (status == GNN_OK) status = dgl_text(d, object, "src_id_field", "src_id", &csv->src);
  return status == GNN_OK ? dgl_text(d, object, "dst_id_field", "dst_id", &csv->dst) : status;
}

/* Rows of one graph: a column graph_id, where there is one, says the same in all. */
static gnn_status dgl_one_graph(const dgl_folder *d, const gnn_json_node *object, int first, size_t prefix) {
  const char *column;
  gnn_status status = dgl_text(d, object, "graph_id_field", "graph_id", &column);
  for (int f = first; status == GNN_OK && f < d->dataset->field_count; f++) {
    const gnn_data_field *field = &d->dataset->fields[f];
    if (strcmp(field->name + prefix, column) != 0) continue;
    for (int64_t i = 1; i < field->raw.count; i++)
      if (gnn_array_number(&field->raw, i) != gnn_array_number(&field->raw, 0)) return dgl_not_read(d, object, "tables of several graphs are not read");
  }
  return status;
}

static gnn_status dgl_node_table(dgl_folder *d, const gnn_json_node *object, int t) {
  gnn_dataset *dataset = d->dataset;
  gnn_csv csv;
  const char *type;
  char *path = NULL, own[64], prefix[80] = "";
  const int first = dataset->field_count, split_type = dataset->split_type;
  gnn_array kept[GNN_SPLIT_COUNT];
  int64_t nodes = 0;
  memcpy(kept, dataset->raw_split, sizeof kept);
  const int has_any = kept[GNN_TRAIN].data || kept[GNN_VALID].data || kept[GNN_TEST].data;
  gnn_status status = dgl_text(d, object, "ntype", "_V", &type);
  if (status == GNN_OK) status = dgl_csv(d, object, &csv);
  if (status == GNN_OK) status = dgl_path(d, object, "file_name", &path);
  csv.nodes = path;
  if (status == GNN_OK && !d->is_only) {
    gnn_make_name(type, own, sizeof own);
    snprintf(prefix, sizeof prefix, "%s.", own);
  }
  if (status == GNN_OK) status = gnn_csv_nodes(dataset, &csv, prefix, d->is_only ? GNN_NODE : GNN_TYPE, t, &d->ids[t], &nodes, d->error);
  if (status == GNN_OK) status = dgl_one_graph(d, object, first, strlen(prefix));
  if (status == GNN_OK) status = dgl_add_type(d, object, type, nodes);
  if (status == GNN_OK) dgl_keep_splits(d, split_type, kept, has_any);
  if (status == GNN_OK) dgl_rename(d, first, strlen(prefix));
  free(path);
  return status;
}

/* etype: [source, relation, destination] */
static gnn_status dgl_etype(const dgl_folder *d, const gnn_json_node *object, int *from, int *to, const char **name) {
  const gnn_json_node *etype = dgl_member(d, object, "etype"), *word[3] = {NULL, NULL, NULL};
  int count = 0;
  *from = *to = 0;
  *name = "_E";
  if (d->is_only) return GNN_OK;
  if (etype == NULL) return dgl_fail(d, object, "there are several types of nodes or kinds of edges, so these edges need an etype: [source, relation, destination]");
  for (const gnn_json_node *item = etype->kind == GNN_JSON_ARRAY ? dgl_node(d, etype->first) : NULL; item; item = dgl_node(d, item->next))
    if (count++ < 3 && item->kind == GNN_JSON_STRING) word[count - 1] = item;
  if (count != 3 || !word[0] || !word[1] || !word[2]) return dgl_fail(d, etype, "etype is [source, relation, destination]");
  const int ends[2] = {gnn_dataset_find_type(d->dataset, word[0]->text, strlen(word[0]->text)), gnn_dataset_find_type(d->dataset, word[2]->text, strlen(word[2]->text))};
  const gnn_json_node *unknown = ends[0] < 0 ? word[0] : word[2];
  if (ends[0] < 0 || ends[1] < 0) return dgl_fail(d, unknown, "\"%.60s\" is no type of nodes (ntype of node_data)", unknown->text);
  *from = ends[0];
  *to = ends[1];
  *name = word[1]->text;
  return GNN_OK;
}

static char *dgl_table_of(const dgl_folder *d, const gnn_json_node *nodes, int t) {
  const gnn_json_node *item = dgl_node(d, nodes->first);
  while (t-- > 0) item = dgl_node(d, item->next);
  return gnn_path_join(d->path, dgl_member(d, item, "file_name")->text);
}

static gnn_status dgl_edge_table(dgl_folder *d, const gnn_json_node *object, const gnn_json_node *nodes) {
  gnn_csv csv;
  gnn_array source, destination;
  const char *name = "";
  char *path = NULL, *table = NULL;
  int from = 0, to = 0;
  const int first = d->dataset->field_count;
  gnn_status status = dgl_csv(d, object, &csv);
  if (status == GNN_OK) status = dgl_path(d, object, "file_name", &path);
  if (status == GNN_OK) status = dgl_etype(d, object, &from, &to, &name);
  if (status == GNN_OK && (table = dgl_table_of(d, nodes, from)) == NULL) status = gnn_fail_memory(d->error, DGL_PATH_MOST);
  csv.edges = path;
  csv.nodes = d->is_only ? table : NULL;
  const gnn_csv_ends ends = {&d->ids[from], &d->ids[to], 0};
  if (status == GNN_OK) status = gnn_csv_edges(d->dataset, &csv, &ends, d->is_only, &source, &destination, d->error);
  if (status == GNN_OK) status = dgl_one_graph(d, object, first, 0);
  if (status == GNN_OK) status = dgl_add_relation(d, object, from, to, name, &source, &destination);
  if (status == GNN_OK) dgl_rename(d, first, 0);
  free(path);
  free(table);
  return status;
}

static gnn_status dgl_tables(dgl_folder *d) {
  const gnn_json_node *root = &d->json.nodes[0], *nodes, *edges;
  int kinds;
  d->dataset->kind = "a folder of DGL's CSVDataset";
  gnn_status status = dgl_list(d, root, "node_data", &nodes, &d->count);
  if (status == GNN_OK) status = dgl_list(d, root, "edge_data", &edges, &kinds);
  if (status == GNN_OK && dgl_member(d, root, "graph_data")) status = dgl_not_read(d, dgl_member(d, root, "graph_data"), "tables of several graphs are not read");
  if (status != GNN_OK) return status;
  d->is_only = d->count == 1 && kinds == 1;
  if ((d->ids = calloc((size_t)d->count, sizeof *d->ids)) == NULL) return gnn_fail_memory(d->error, 4096);
  int t = 0;
  for (const gnn_json_node *item = dgl_node(d, nodes->first); status == GNN_OK && item; item = dgl_node(d, item->next)) status = dgl_node_table(d, item, t++);
  for (const gnn_json_node *item = dgl_node(d, edges->first); status == GNN_OK && item; item = dgl_node(d, item->next)) status = dgl_edge_table(d, item, nodes);
  return status == GNN_OK && d->is_only ? gnn_ids_keep(&d->ids[0], d->dataset, d->error) : status;
}

/* ---- GraphBolt ---- */

static gnn_status dgl_array(const dgl_folder *d, const gnn_json_node *object, gnn_array *array, char **path) {
  const char *format;
  gnn_status status = dgl_text(d, object, "format", "numpy", &format);
  *path = NULL;
  if (status == GNN_OK && strcmp(format, "torch") == 0) return dgl_not_read(d, dgl_member(d, object, "format"), "format torch is a pickle, which is never read: save it as numpy");
  if (status == GNN_OK && strcmp(format, "numpy") != 0) return dgl_fail(d, dgl_member(d, object, "format"), "format is numpy, not \"%.40s\"", format);
  if (status == GNN_OK) status = dgl_path(d, object, "path", path);
  gnn_file file;
  int changed;
  if (status == GNN_OK) status = gnn_npy_open(*path, &file, array, &changed, d->error);
  if (status == GNN_OK && changed) gnn_dataset_note(d->dataset, "\"%.200s\" %s", *path, gnn_npy_changed(changed));
  return status == GNN_OK ? gnn_dataset_own_file(d->dataset, &file, d->error) : status;
}

/* "source:relation:destination" */
static gnn_status dgl_kind(const dgl_folder *d, const gnn_json_node *object, int *from, int *to, char *name, size_t room) {
  const char *type;
  *from = *to = 0;
  name[0] = 0;
  gnn_status status = dgl_text(d, object, "type", NULL, &type);
  if (status != GNN_OK || d->is_only) return status;
  const char *first = type ? strchr(type, ':') : NULL, *second = first ? strchr(first + 1, ':') : NULL;
  if (second == NULL) return dgl_fail(d, type ? dgl_member(d, object, "type") : object, "edges among several types of nodes need a type: \"source:relation:destination\"");
  *from = gnn_dataset_find_type(d->dataset, type, (size_t)(first - type));
  *to = gnn_dataset_find_type(d->dataset, second + 1, strlen(second + 1));
  snprintf(name, room, "%.*s", (int)(second - first - 1), first + 1);
  return *from < 0 || *to < 0 ? dgl_fail(d, dgl_member(d, object, "type"), "\"%.80s\" has an end that is no type of nodes", type) : GNN_OK;
}

static gnn_status dgl_edge_file(dgl_folder *d, const gnn_json_node *object) {
  const char *format;
  char name[64], *path = NULL;
  gnn_array source, destination;
  int from, to;
  gnn_status status = dgl_kind(d, object, &from, &to, name, sizeof name);
  if (status == GNN_OK) status = dgl_text(d, object, "format", "csv", &format);
  if (status != GNN_OK) return status;
  if (strcmp(format, "csv") == 0) {
    gnn_csv csv = {.header = 0, .node_count = -1, .separator = ','};
    const gnn_csv_ends ends = {&d->ids[from], &d->ids[to], 0};
    status = dgl_path(d, object, "path", &path);
    csv.edges = path;
    if (status == GNN_OK) status = gnn_csv_edges(d->dataset, &csv, &ends, 0, &source, &destination, d->error);
  } else {
    gnn_array array;
    status = dgl_array(d, object, &array, &path);
    if (status == GNN_OK && (array.rank != 2 || array.shape[0] != 2)) status = gnn_fail(d->error, GNN_EDATA, "", "\"%s\" has the shape %s; edges are [2, edges]", path, gnn_shape_text(&array).text);
    if (status == GNN_OK) status = gnn_keyed_edges(d->dataset, path, "the array of edges", &array, &source, &destination, d->error);
    for (int end = 0; status == GNN_OK && end < 2; end++) {
      const gnn_array *ids = end ? &destination : &source;
      const int64_t most = d->ids[end ? to : from].count;
      for (int64_t e = 0; status == GNN_OK && e < ids->count; e++) {
        const int64_t id = gnn_array_integer(ids, e);
        if (id < 0 || id >= most) status = gnn_fail(d->error, GNN_EDATA, "E0701", "\"%s\": edge %lld names node %lld, but nodes run 0 … %lld", path, (long long)e, (long long)id, (long long)most - 1);
      }
    }
  }
  if (status == GNN_OK) status = dgl_add_relation(d, object, from, to, name, &source, &destination);
  free(path);
  return status;
}

/* The type that an entry names: 0 where there is one only. */
static gnn_status dgl_entry_type(const dgl_folder *d, const gnn_json_node *object, int *t) {
  const char *type;
  gnn_status status = dgl_text(d, object, "type", NULL, &type);
  *t = 0;
  if (status != GNN_OK || d->is_only) return status;
  if (type == NULL) return dgl_fail(d, object, "there are several types of nodes, so a type is needed");
  *t = gnn_dataset_find_type(d->dataset, type, strlen(type));
  return *t < 0 ? dgl_fail(d, dgl_member(d, object, "type"), "\"%.60s\" is no type of nodes", type) : GNN_OK;
}

static gnn_status dgl_add_field(dgl_folder *d, int t, gnn_domain domain, const char *given, const gnn_array *array) {
  char own[64], name[160];
  dgl_field_name(domain, given, own, sizeof own);
  const int is_type = domain == GNN_NODE && !d->is_only;
  snprintf(name, sizeof name, "%s%s%s", is_type ? d->dataset->types[t].name : "", is_type ? "." : "", own);
  gnn_status status = gnn_dataset_add_field(d->dataset, name, is_type ? GNN_TYPE : domain, array, d->error);
  if (status == GNN_OK && is_type) d->dataset->fields[d->dataset->field_count - 1].set = t;
  if (status == GNN_OK && strcmp(own, given) != 0) gnn_dataset_note(d->dataset, "%s is read as %s", given, name);
  return status;
}

static gnn_status dgl_feature(dgl_folder *d, const gnn_json_node *object) {
  const char *domain, *name;
  char *path = NULL;
  int t = 0;
  gnn_array array;
  gnn_status status = dgl_text(d, object, "domain", "node", &domain);
  if (status == GNN_OK) status = dgl_text(d, object, "name", NULL, &name);
  if (status == GNN_OK && name == NULL) status = dgl_fail(d, object, "there is no name");
  if (status != GNN_OK) return status;
  const int is_node = strcmp(domain, "node") == 0, is_edge = strcmp(domain, "edge") == 0;
  if (!is_node && (!is_edge || !d->is_only)) {
    gnn_dataset_note(d->dataset, "%.60s of %.20ss is not used: %s", name, domain, is_edge ? "fields of relations are not supported" : "fields are of nodes and edges");
    return GNN_OK;
  }
  if (is_node) status = dgl_entry_type(d, object, &t);
  if (status == GNN_OK) status = dgl_array(d, object, &array, &path);
  const int64_t rows = is_edge ? d->dataset->raw_source.count : d->ids[t].count;
  if (status == GNN_OK && (array.rank < 1 || array.shape[0] != rows))
    status = gnn_fail(d->error, GNN_EDATA, "", "\"%s\" has the shape %s; there are %s %s", path, gnn_shape_text(&array).text, gnn_count_text(rows).text, is_edge ? "edges" : "nodes");
  if (status == GNN_OK) status = dgl_add_field(d, t, is_edge ? GNN_EDGE : GNN_NODE, name, &array);
  free(path);
  return status;
}

/* ---- tasks ---- */

/* Labels that stand beside the rows of splits alone: those of all nodes, where no feature has them. */
typedef struct dgl_labels {
  int32_t *whole;
  float *number; /* one of both */
  int has_field; /* a feature has them */
} dgl_labels;

static gnn_status dgl_take_labels(dgl_folder *d, dgl_labels *labels, const char *path, const gnn_array *rows, const gnn_array *array, int64_t nodes) {
  if (labels->has_field) return GNN_OK;
  if (array->count != rows->count) return gnn_fail(d->error, GNN_EDATA, "", "\"%s\" has the shape %s; there are %s rows in its split, and a label of each is needed", path, gnn_shape_text(array).text, gnn_count_text(rows->count).text);
  const int is_float = gnn_dtype_is_float(array->dtype);
  if ((is_float && labels->whole) || (!is_float && labels->number)) return gnn_fail(d->error, GNN_EDATA, "", "\"%s\" is stored as %s, and labels of other splits are not", path, gnn_dtype_name(array->dtype));
  if (!labels->whole && !labels->number) {
    void *room = gnn_dataset_alloc(d->dataset, nodes, 4, d->error);
    if (room == NULL) return GNN_ENOMEM;
    if (is_float) labels->number = room;
    else labels->whole = room;
    for (int64_t v = 0; v < nodes; v++)
      if (is_float) labels->number[v] = NAN;
      else labels->whole[v] = -1;
  }
  for (int64_t i = 0; i < rows->count; i++) {
    const int64_t v = gnn_array_integer(rows, i);
    const int64_t whole = is_float ? 0 : gnn_array_integer(array, i);
    if (whole < -1 || whole > INT32_MAX) return gnn_fail(d->error, GNN_EDATA, "E0702", "\"%s\" holds the label %lld", path, (long long)whole);
    if (is_float) labels->number[v] = (float)gnn_array_number(array, i);
    else labels->whole[v] = (int32_t)whole;
  }
  return GNN_OK;
}

static gnn_status dgl_check_rows(const dgl_folder *d, const char *path, const gnn_array *rows, int64_t nodes) {
  if (gnn_dtype_is_float(rows->dtype) || rows->dtype == GNN_BOOL) return gnn_fail(d->error, GNN_EDATA, "", "\"%s\" is stored as %s; numbers of nodes are needed", path, gnn_dtype_name(rows->dtype));
  for (int64_t i = 0; i < rows->count; i++) {
    const int64_t v = gnn_array_integer(rows, i);
    if (v < 0 || v >= nodes) return gnn_fail(d->error, GNN_EDATA, "E0701", "\"%s\" names node %lld, but nodes run 0 … %lld", path, (long long)v, (long long)nodes - 1);
  }
  return GNN_OK;
}

/* One entry of train_set and its like: the rows, and perhaps their labels. */
static gnn_status dgl_split(dgl_folder *d, const gnn_json_node *entry, int s, int t, dgl_labels *labels) {
  const gnn_json_node *data, *seeds = NULL, *beside = NULL;
  int count;
  gnn_array rows, array;
  char *path = NULL;
  gnn_status status = dgl_list(d, entry, "data", &data, &count);
  for (const gnn_json_node *item = status == GNN_OK ? dgl_node(d, data->first) : NULL; status == GNN_OK && item; item = dgl_node(d, item->next)) {
    const char *name;
    status = dgl_text(d, item, "name", NULL, &name);
    if (name && (strcmp(name, "seeds") == 0 || strcmp(name, "seed_nodes") == 0)) seeds = item;
    if (name && strcmp(name, "labels") == 0) beside = item;
  }
  if (status == GNN_OK && seeds == NULL) {
    gnn_dataset_note(d->dataset, "a split without seeds is not used: splits are of nodes; pairs links : label[1] = split_edges(...) draws pairs of them");
    return GNN_OK;
  }
  if (status == GNN_OK) status = dgl_array(d, seeds, &rows, &path);
  if (status == GNN_OK && rows.rank == 2 && rows.shape[1] > 1) {
    gnn_dataset_note(d->dataset, "\"%.150s\" is not used: it has pairs; pairs links : label[1] = split_edges(...) draws them", path);
    free(path);
    return GNN_OK;
  }
  const int64_t nodes = d->ids[t].count;
  if (status == GNN_OK) status = dgl_check_rows(d, path, &rows, nodes);
  free(path);
  path = NULL;
  if (status != GNN_OK) return status;
  rows.rank = 1;
  rows.shape[0] = rows.count;
  d->dataset->raw_split[s] = rows;
  d->dataset->is_split_ids[s] = 1;
  d->dataset->split_type = d->is_only ? -1 : t;
  if (beside) status = dgl_array(d, beside, &array, &path);
  if (status == GNN_OK && beside) status = dgl_take_labels(d, labels, path, &rows, &array, nodes);
  free(path);
  return status;
}

static gnn_status dgl_task(dgl_folder *d, const gnn_json_node *task) {
  static const char *const keys[GNN_SPLIT_COUNT] = {[GNN_TRAIN] = "train_set", [GNN_VALID] = "validation_set", [GNN_TEST] = "test_set"};
  dgl_labels labels = {0};
  int chosen = -1, count;
  int64_t classes = -1;
  char name[160];
  gnn_status status = dgl_number(d, task, "num_classes", &classes);
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++) {
    const gnn_json_node *list;
    if (dgl_member(d, task, keys[s]) == NULL) continue;
    status = dgl_list(d, task, keys[s], &list, &count);
    int seen = 0;
    for (const gnn_json_node *entry = status == GNN_OK ? dgl_node(d, list->first) : NULL; status == GNN_OK && entry; entry = dgl_node(d, entry->next)) {
      int t = 0;
      if (!d->is_only && dgl_member(d, entry, "type") && strchr(dgl_member(d, entry, "type")->text ? dgl_member(d, entry, "type")->text : "", ':')) {
        gnn_dataset_note(d->dataset, "%s of edges is not used: splits are of nodes", keys[s]);
        continue;
      }
      status = dgl_entry_type(d, entry, &t);
      if (status == GNN_OK && chosen < 0) {
        chosen = t;
        snprintf(name, sizeof name, "%s%sy", d->is_only ? "" : d->dataset->types[t].name, d->is_only ? "" : ".");
        labels.has_field = gnn_dataset_field(d->dataset, name) != NULL;
      }
      if (status != GNN_OK) break;
      if (t != chosen) gnn_dataset_note(d->dataset, "%s of %s is not used: one type of nodes can have a split", keys[s], d->dataset->types[t].name);
      else if (seen++) status = dgl_fail(d, entry, "%s has two entries of the same nodes", keys[s]);
      else status = dgl_split(d, entry, s, t, &labels);
    }
  }
  if (status != GNN_OK || chosen < 0) return status;
  const int64_t nodes = d->ids[chosen].count;
  const gnn_array array = {.dtype = labels.whole ? GNN_I32 : GNN_F32, .rank = 1, .shape = {nodes}, .count = nodes, .data = labels.whole ? (const unsigned char *)labels.whole : (const unsigned char *)labels.number};
  if (array.data) status = dgl_add_field(d, chosen, GNN_NODE, "y", &array);
  for (int f = 0; f < d->dataset->field_count; f++)
    if (strcmp(d->dataset->fields[f].name, name) == 0 && classes > 0) d->dataset->fields[f].declared_classes = classes;
  return status;
}

static gnn_status dgl_bolt(dgl_folder *d) {
  const gnn_json_node *root = &d->json.nodes[0], *graph = dgl_member(d, root, "graph"), *nodes, *edges, *list;
  int kinds, count, t = 0;
  d->dataset->kind = "a folder of DGL's GraphBolt";
  if (graph == NULL) return dgl_fail(d, root, "there is no graph");
  gnn_status status = dgl_list(d, graph, "nodes", &nodes, &d->count);
  if (status == GNN_OK) status = dgl_list(d, graph, "edges", &edges, &kinds);
  if (status != GNN_OK) return status;
  d->is_only = d->count == 1 && kinds == 1;
  if ((d->ids = calloc((size_t)d->count, sizeof *d->ids)) == NULL) return gnn_fail_memory(d->error, 4096);
  for (const gnn_json_node *item = dgl_node(d, nodes->first); status == GNN_OK && item; item = dgl_node(d, item->next), t++) {
    const char *type;
    d->ids[t].count = -1;
    status = dgl_text(d, item, "type", NULL, &type);
    if (status == GNN_OK) status = dgl_number(d, item, "num", &d->ids[t].count);
    if (status == GNN_OK && (d->ids[t].count < 0 || d->ids[t].count >= INT32_MAX)) status = dgl_fail(d, item, "num, the number of nodes, is needed, at most 2^31 - 2");
    if (status == GNN_OK && !d->is_only && type == NULL) status = dgl_fail(d, item, "there are several types of nodes or kinds of edges, so nodes need a type");
    if (status == GNN_OK) status = dgl_add_type(d, item, type, d->ids[t].count);
  }
  for (const gnn_json_node *item = dgl_node(d, edges->first); status == GNN_OK && item; item = dgl_node(d, item->next)) status = dgl_edge_file(d, item);
  if (status == GNN_OK && dgl_member(d, root, "feature_data")) {
    status = dgl_list(d, root, "feature_data", &list, &count);
    for (const gnn_json_node *item = status == GNN_OK ? dgl_node(d, list->first) : NULL; status == GNN_OK && item; item = dgl_node(d, item->next)) status = dgl_feature(d, item);
  }
  if (status != GNN_OK || dgl_member(d, root, "tasks") == NULL) return status;
  status = dgl_list(d, root, "tasks", &list, &count);
  if (status == GNN_OK && count > 1) gnn_dataset_note(d->dataset, "of %d tasks the first is read", count);
  return status == GNN_OK ? dgl_task(d, dgl_node(d, list->first)) : status;
}

/* ---- which is which ---- */

static int dgl_has(const char *path, const char *file, char *name) { return snprintf(name, DGL_PATH_MOST, "%s/%s", path, file) < DGL_PATH_MOST && gnn_path_exists(name); }

int gnn_is_dgl(const char *path) {
  char name[DGL_PATH_MOST];
  return dgl_has(path, "meta.yaml", name) || dgl_has(path, "metadata.yaml", name);
}

/* The text of the layout becomes the data set's. */
static gnn_status dgl_layout(dgl_folder *d, const char *layout) {
  gnn_text text = {0};
  gnn_status status = GNN_OK;
  if (layout) gnn_text_append(&text, layout, strlen(layout));
  else if (gnn_read_yaml) status = gnn_read_yaml(d->file, &text, d->error);
  else {
    status = gnn_fail(d->error, GNN_EDATA, "", "\"%s\" is YAML, which programs that gnncc makes do not read", d->file);
    gnn_fail_help(d->error, "gnndata convert %s -o data.safetensors makes a file that they read", d->path);
  }
  if (status == GNN_OK && (text.data == NULL || text.is_broken)) status = gnn_fail_memory(d->error, (int64_t)text.length);
  if (status != GNN_OK) {
    gnn_text_free(&text);
    return status;
  }
  d->dataset->layout = text.data;
  status = gnn_dataset_own(d->dataset, text.data, d->error);
  return status == GNN_OK ? gnn_json_parse(d->file, (const unsigned char *)d->dataset->layout, text.length, &d->json, d->error) : status;
}

gnn_status gnn_read_dgl(gnn_dataset *dataset, const char *path, const char *layout, gnn_error *error) {
  dgl_folder *d = calloc(1, sizeof *d);
  if (d == NULL) return gnn_fail_memory(error, (int64_t)sizeof *d);
  d->dataset = dataset;
  d->path = path;
  d->error = error;
  const int is_csv = dgl_has(path, "meta.yaml", d->file), is_known = is_csv || dgl_has(path, "metadata.yaml", d->file);
  const int is_folder = is_known || gnn_path_is_directory(path);
  gnn_status status = is_known ? dgl_layout(d, layout) : !is_folder ? gnn_fail(error, GNN_EDATA, "E0001", "there is no folder \"%s\"", path) : gnn_fail(error, GNN_EDATA, "E0001", "\"%s\" has neither meta.yaml (CSVDataset) nor metadata.yaml (GraphBolt)", path);
  const char *name = NULL;
  if (status == GNN_OK && d->json.nodes[0].kind != GNN_JSON_OBJECT) status = dgl_fail(d, &d->json.nodes[0], "a mapping is needed (key: value)");
  if (status == GNN_OK) status = dgl_text(d, &d->json.nodes[0], "dataset_name", "dgl", &name);
  if (status == GNN_OK) status = gnn_dataset_set_name(dataset, name, error);
  if (status == GNN_OK) status = is_csv ? dgl_tables(d) : dgl_bolt(d);
  for (int t = 0; d->ids && t < d->count; t++) gnn_ids_free(&d->ids[t]);
  free(d->ids);
  gnn_json_free(&d->json);
  free(d);
  return status;
}
