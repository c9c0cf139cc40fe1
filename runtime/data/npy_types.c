/* npy_types.c: what makes a folder of NumPy arrays relational: edge_type.npy, or types of nodes and relations that graph.json names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "npy_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_names.h"
#include "entries.h"
#include "names.h"

/* ---- edge_type [E]: the relation of each edge ---- */

static const char *types_name(const npy_relation_names *names, int64_t r, char *made, size_t size) {
  if (r < names->count) return names->name[r];
  snprintf(made, size, "relation_%lld", (long long)r + 1);
  return made;
}

gnn_status npy_types_split(gnn_dataset *dataset, const gnn_array *type, const npy_relation_names *names, gnn_error *error) {
  const int64_t edges = dataset->raw_source.count, width = gnn_dtype_bytes(dataset->raw_source.dtype);
  if (type->rank != 1 || type->count != edges || gnn_dtype_is_float(type->dtype))
    return gnn_fail(error, GNN_EDATA, "", "%s: edge_type has the shape %s; a whole number for each of %s edges is needed", dataset->title, gnn_shape_text(type).text,
                    gnn_count_text(edges).text);
  int64_t relations = names->count, *first;
  for (int64_t e = 0; e < edges; e++) {
    const int64_t r = gnn_array_integer(type, e);
    if (r < 0 || r >= GNN_RELATIONS_MAX || (names->count && r >= names->count))
      return gnn_fail(error, GNN_EDATA, "E0701", "%s: edge %lld is of relation %lld, but relations run 0 … %lld", dataset->title, (long long)e, (long long)r,
                      (long long)(names->count ? names->count : GNN_RELATIONS_MAX) - 1);
    if (r >= relations) relations = r + 1;
  }
  unsigned char *source = gnn_dataset_alloc(dataset, edges, 2 * width, error), *destination = source ? source + edges * width : NULL;
  if (source == NULL) return GNN_ENOMEM;
  if ((first = calloc((size_t)relations + 2, sizeof *first)) == NULL) return gnn_fail_memory(error, relations * (int64_t)sizeof *first);
  for (int64_t e = 0; e < edges; e++) first[gnn_array_integer(type, e) + 2]++;
  for (int64_t r = 0; r < relations; r++) first[r + 2] += first[r + 1];
  for (int64_t e = 0; e < edges; e++) {
    const int64_t at = first[gnn_array_integer(type, e) + 1]++;
    memcpy(source + at * width, dataset->raw_source.data + e * width, (size_t)width);
    memcpy(destination + at * width, dataset->raw_destination.data + e * width, (size_t)width);
  }
  gnn_status status = GNN_OK;
  for (int64_t r = 0; status == GNN_OK && r < relations; r++) {
    char made[32];
    gnn_data_relation *relation = gnn_dataset_add_relation(dataset, types_name(names, r, made, sizeof made), 0, 0, error);
    if (relation == NULL) {
      status = GNN_EDATA;
      break;
    }
    const int64_t count = first[r + 1] - first[r];
    relation->raw_source = (gnn_array){.dtype = dataset->raw_source.dtype, .rank = 1, .shape = {count}, .count = count, .data = source + first[r] * width};
    relation->raw_destination = relation->raw_source;
    relation->raw_destination.data = destination + first[r] * width;
  }
  free(first);
  return status;
}

gnn_status npy_types_names(gnn_dataset *dataset, const gnn_json *json, npy_relation_names *names, gnn_error *error) {
  const gnn_json_node *list = gnn_json_member(json, &json->nodes[0], "relation_names");
  if (list == NULL) return GNN_OK;
  if (list->kind != GNN_JSON_ARRAY) return gnn_fail(error, GNN_EDATA, "", "%s: \"relation_names\" of graph.json must be a list of names", dataset->title);
  for (int32_t i = list->first; i >= 0; i = json->nodes[i].next) {
    const gnn_json_node *name = &json->nodes[i];
    if (name->kind != GNN_JSON_STRING || names->count == GNN_RELATIONS_MAX)
      return gnn_fail(error, GNN_EDATA, "", "%s: \"relation_names\" of graph.json must be a list of at most %d names", dataset->title, GNN_RELATIONS_MAX);
    snprintf(names->name[names->count++], sizeof names->name[0], "%s", name->text);
  }
  return GNN_OK;
}

/* ---- types of nodes: "node_types": {"paper": 736389, "author": 1134649}, "relations": [{"name", "source", "destination"}]; or their names alone,
 * "node_types": ["paper", "author"], "relations": [["author", "writes", "paper"]], as PyG and DGL list them ---- */

enum { TYPES_NODES_UNSAID = -1 };

/* A graph of DGL without types has one of each, of these names. */
static int types_are_dgl_defaults(const gnn_json *json, const gnn_json_node *types, const gnn_json_node *relations) {
  const gnn_json_node *type = types->first >= 0 ? &json->nodes[types->first] : NULL;
  if (type == NULL || type->next >= 0 || type->kind != GNN_JSON_STRING || strcmp(type->text, "_N") != 0) return 0;
  const gnn_json_node *relation = relations && relations->kind == GNN_JSON_ARRAY && relations->first >= 0 ? &json->nodes[relations->first] : NULL;
  if (relation == NULL || relation->next >= 0 || relation->kind != GNN_JSON_ARRAY) return 0;
  static const char *const names[] = {"_N", "_E", "_N"};
  int32_t at = relation->first;
  for (int k = 0; k < 3; k++, at = json->nodes[at].next)
    if (at < 0 || json->nodes[at].kind != GNN_JSON_STRING || strcmp(json->nodes[at].text, names[k]) != 0) return 0;
  return at < 0;
}

static gnn_status types_listed(gnn_dataset *dataset, const gnn_json *json, const gnn_json_node *types, gnn_error *error) {
  for (int32_t i = types->first; i >= 0; i = json->nodes[i].next) {
    if (json->nodes[i].kind != GNN_JSON_STRING) return gnn_fail(error, GNN_EDATA, "", "%s: \"node_types\" of graph.json must be a list of names, or say how many nodes each has", dataset->title);
    if (gnn_dataset_add_type(dataset, json->nodes[i].text, TYPES_NODES_UNSAID, error) == NULL) return GNN_EDATA;
  }
  return GNN_OK;
}

static gnn_status types_of_nodes(gnn_dataset *dataset, const gnn_json *json, const gnn_json_node *types, gnn_error *error) {
  for (int32_t i = types->first; i >= 0; i = json->nodes[i].next) {
    const gnn_json_node *type = &json->nodes[i];
    if (type->kind != GNN_JSON_NUMBER || !type->is_integer || type->integer < 1 || type->integer >= INT32_MAX)
      return gnn_fail(error, GNN_EDATA, "", "%s: \"node_types\" of graph.json must say how many nodes \"%s\" has, from 1 on", dataset->title, type->key);
    if (gnn_dataset_add_type(dataset, type->key, type->integer, error) == NULL) return GNN_EDATA;
  }
  return GNN_OK;
}

/* Part k (name, source, destination) of [source, name, destination]; NULL: it is no such list. */
static const gnn_json_node *types_of_triple(const gnn_json *json, const gnn_json_node *list, int k) {
  static const int places[] = {1, 0, 2};
  if (list->kind != GNN_JSON_ARRAY) return NULL;
  int32_t at = list->first;
  for (int i = 0; i < places[k] && at >= 0; i++) at = json->nodes[at].next;
  return at >= 0 ? &json->nodes[at] : NULL;
}

gnn_status npy_types_declared(gnn_dataset *dataset, const gnn_json *json, gnn_error *error) {
  const gnn_json_node *types = gnn_json_member(json, &json->nodes[0], "node_types"), *relations = gnn_json_member(json, &json->nodes[0], "relations");
  if (types == NULL || (types->kind != GNN_JSON_OBJECT && types->kind != GNN_JSON_ARRAY)) return GNN_OK;
  const int is_list = types->kind == GNN_JSON_ARRAY;
  if (is_list && (types->first < 0 || types_are_dgl_defaults(json, types, relations))) return GNN_OK; /* one graph without types */
  gnn_status status = is_list ? types_listed(dataset, json, types, error) : types_of_nodes(dataset, json, types, error);
  if (status != GNN_OK) return status;
  if (dataset->type_count == 0 || relations == NULL || relations->kind != GNN_JSON_ARRAY)
    return gnn_fail(error, GNN_EDATA, "", "%s: beside \"node_types\" graph.json needs \"relations\", a list of {\"name\", \"source\", \"destination\"}", dataset->title);
  for (int32_t i = relations->first; i >= 0; i = json->nodes[i].next) {
    static const char *const keys[] = {"name", "source", "destination"};
    const gnn_json_node *part[3];
    int end[3] = {0};
    for (int k = 0; k < 3; k++) {
      part[k] = json->nodes[i].kind == GNN_JSON_OBJECT ? gnn_json_member(json, &json->nodes[i], keys[k]) : types_of_triple(json, &json->nodes[i], k);
      if (part[k] == NULL || part[k]->kind != GNN_JSON_STRING) return gnn_fail(error, GNN_EDATA, "", "%s: each of \"relations\" in graph.json needs a \"%s\"", dataset->title, keys[k]);
      end[k] = k ? gnn_dataset_find_type(dataset, part[k]->text, strlen(part[k]->text)) : 0;
      if (end[k] < 0) return gnn_fail(error, GNN_EDATA, "", "%s: relation \"%.60s\" is of \"%.60s\", which is no type of nodes", dataset->title, part[0]->text, part[k]->text);
    }
    if (gnn_dataset_add_relation(dataset, part[0]->text, end[1], end[2], error) == NULL) return GNN_EDATA;
  }
  dataset->has_edges = 1;
  return GNN_OK;
}

/* How many nodes an array TYPE.num_nodes or TYPE.batch_num_nodes [graphs] says; -1: it is none of them. *graphs: of how many graphs. */
static int64_t types_count(const gnn_tensor *array, const char *name, int64_t *graphs) {
  const int is_total = strcmp(name, "num_nodes") == 0;
  const gnn_array *counts = &array->array;
  int64_t nodes = 0;
  if ((!is_total && strcmp(name, "batch_num_nodes") != 0) || counts->rank > 1 || gnn_dtype_is_float(counts->dtype) || (is_total && counts->count != 1)) return -1;
  *graphs = counts->count;
  for (int64_t g = 0; g < counts->count; g++) {
    const int64_t own = gnn_array_integer(counts, g);
    if (own < 0 || own >= INT32_MAX - nodes) return -1;
    nodes += own;
  }
  return nodes;
}

/* As many nodes as x has rows, else as y has. */
static void types_rows(gnn_dataset *dataset, const gnn_tensor *arrays, int count) {
  static const char *const names[] = {"x", "y"};
  for (int n = 0; n < 2; n++)
    for (int i = 0; i < count; i++) {
      const char *dot = strchr(arrays[i].name, '.');
      const int type = dot ? gnn_dataset_find_type(dataset, arrays[i].name, (size_t)(dot - arrays[i].name)) : -1;
      if (type < 0 || dataset->types[type].nodes != TYPES_NODES_UNSAID || arrays[i].array.rank < 1 || arrays[i].array.shape[0] < 1 || arrays[i].array.shape[0] >= INT32_MAX) continue;
      if (strcmp(gnn_array_name(arrays, count, i, (size_t)(dot + 1 - arrays[i].name)), names[n]) == 0) dataset->types[type].nodes = arrays[i].array.shape[0];
    }
}

/* A number or more of each graph cannot be kept where they are read as one. */
static gnn_status types_refuse_graphs(const gnn_dataset *dataset, const gnn_tensor *arrays, int count, int64_t graphs, gnn_error *error) {
  for (int i = 0; i < count; i++) {
    const int is_of_graphs = strchr(arrays[i].name, '.') == NULL || strncmp(arrays[i].name, "graph.", 6) == 0;
    if (!is_of_graphs || arrays[i].array.rank < 1 || arrays[i].array.shape[0] != graphs) continue;
    gnn_fail(error, GNN_EDATA, "", "%s has %s graphs with several types of nodes, and %s.npy is of graphs: a set of graphs has one type of nodes", dataset->title, gnn_count_text(graphs).text, arrays[i].name);
    gnn_fail_help(error, "save graphs of one type, as to_homogeneous() of PyG and of DGL makes them, with their types as a field; without %s.npy they are read as one graph, whose nodes and edges are those of all", arrays[i].name);
    return GNN_EDATA;
  }
  return GNN_OK;
}

gnn_status npy_types_counts(gnn_dataset *dataset, const gnn_tensor *arrays, int count, gnn_error *error) {
  int64_t most = 1;
  for (int i = 0; i < count; i++) {
    const char *dot = strchr(arrays[i].name, '.');
    const int type = dot ? gnn_dataset_find_type(dataset, arrays[i].name, (size_t)(dot - arrays[i].name)) : -1;
    int64_t graphs = 1, nodes = type >= 0 ? types_count(&arrays[i], dot + 1, &graphs) : -1;
    if (nodes > 0 && dataset->types[type].nodes == TYPES_NODES_UNSAID) dataset->types[type].nodes = nodes;
    if (type >= 0 && strcmp(dot + 1, "ptr") == 0 && arrays[i].array.rank == 1) graphs = arrays[i].array.count - 1; /* of PyG's batches */
    if (graphs > most) most = graphs;
  }
  types_rows(dataset, arrays, count);
  for (int t = 0; t < dataset->type_count; t++)
    if (dataset->types[t].nodes == TYPES_NODES_UNSAID)
      return gnn_fail(error, GNN_EDATA, "", "%s does not say how many nodes of type \"%s\" there are: neither \"node_types\" nor %s.num_nodes does, from 1 on, and it has no x", dataset->title, dataset->types[t].given,
                      dataset->types[t].given);
  if (most > 1)
    gnn_dataset_warn(dataset, "W0713", "typed-sets", "", "%s graphs with several types of nodes are read as one graph: a set of graphs has one type", gnn_count_text(most).text);
  return most > 1 ? types_refuse_graphs(dataset, arrays, count, most, error) : GNN_OK;
}

static gnn_status types_edges(gnn_dataset *dataset, gnn_data_relation *relation, const gnn_array *array, gnn_error *error) {
  if (array->rank != 2 || array->shape[0] != 2)
    return gnn_fail(error, GNN_EDATA, "", "%s: %s.edge_index has the shape %s; [2, edges] is needed", dataset->title, relation->name, gnn_shape_text(array).text);
  if (relation->raw_source.rank) return gnn_fail(error, GNN_EDATA, "", "%s has the edges of relation %s twice", dataset->title, relation->name);
  const int64_t edges = array->shape[1];
  relation->raw_source = (gnn_array){.dtype = array->dtype, .rank = 1, .shape = {edges}, .count = edges, .data = array->data};
  relation->raw_destination = relation->raw_source;
  relation->raw_destination.data = array->data + edges * gnn_dtype_bytes(array->dtype);
  return GNN_OK;
}

/* That which is called so, or SOURCE__NAME__DESTINATION, to the letter or as files may be called; NULL: none. */
static gnn_data_relation *types_relation(const gnn_dataset *dataset, const char *name) {
  for (int is_exact = 1; is_exact >= 0; is_exact--)
    for (int r = 0; r < dataset->relation_count; r++) {
      gnn_data_relation *relation = &dataset->relations[r];
      char full[256];
      snprintf(full, sizeof full, "%s__%s__%s", dataset->types[relation->src].given, relation->given, dataset->types[relation->dst].given);
      if (is_exact ? strcmp(full, name) == 0 || strcmp(relation->name, name) == 0 : gnn_is_same_name(full, name) || gnn_is_same_name(relation->name, name)) return relation;
    }
  return NULL;
}

gnn_status npy_types_array(gnn_dataset *dataset, const gnn_tensor *arrays, int count, int i, gnn_error *error) {
  const char *given = arrays[i].name, *dot = strchr(given, '.');
  const gnn_array *array = &arrays[i].array;
  const size_t prefix = dot ? (size_t)(dot - given) + 1 : 0;
  const int type = dot ? gnn_dataset_find_type(dataset, given, prefix - 1) : -1;
  char owner[256];
  snprintf(owner, sizeof owner, "%.*s", dot ? (int)(dot - given) : 0, given);
  gnn_data_relation *relation = dot ? types_relation(dataset, owner) : NULL;
  const char *name = gnn_array_name(arrays, count, i, prefix);
  if (relation && strcmp(name, "edge_index") == 0) return types_edges(dataset, relation, array, error);
  if (type < 0) {
    if (relation) gnn_dataset_note(dataset, "%s.npy is not used: fields of relations are not read", given);
    else gnn_dataset_note(dataset, "%s.npy is not used: no type of nodes and no relation has this name", given);
    return GNN_OK;
  }
  static const char *const counts[] = {"num_nodes", "batch_num_nodes", "ptr", "batch"};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    if (strcmp(name, counts[k]) == 0) return GNN_OK; /* how many nodes there are, and in which graphs, is known */
  int is_split, is_sparse;
  gnn_status status = gnn_entries_take(dataset, arrays, count, i, prefix, dataset->types[type].name, &is_sparse, error);
  if (status == GNN_OK && is_sparse && strcmp(given + strlen(given) - strlen(".rowptr"), ".rowptr") == 0) {
    dataset->fields[dataset->field_count - 1].domain = GNN_TYPE;
    dataset->fields[dataset->field_count - 1].set = type;
  }
  if (status != GNN_OK || is_sparse) return status;
  status = gnn_array_take_split(dataset, name, array, &is_split, error);
  if (status != GNN_OK) return status;
  if (is_split && dataset->split_type >= 0 && dataset->split_type != type)
    return gnn_fail(error, GNN_EDATA, "", "%s has splits of %s and of %s; one type of nodes can have them", dataset->title, dataset->types[dataset->split_type].name, dataset->types[type].name);
  if (is_split) {
    dataset->split_type = type;
    return GNN_OK;
  }
  char full[256];
  snprintf(full, sizeof full, "%s.%s", dataset->types[type].name, name);
  status = gnn_dataset_add_field(dataset, full, GNN_TYPE, array, error);
  if (status != GNN_OK) return status;
  dataset->fields[dataset->field_count - 1].set = type;
  if (name != given + prefix) gnn_dataset_note(dataset, "%s is read as %s", given, full);
  return GNN_OK;
}

gnn_status npy_types_check(const gnn_dataset *dataset, gnn_error *error) {
  for (int r = 0; r < dataset->relation_count; r++)
    if (dataset->relations[r].raw_source.data == NULL && dataset->relations[r].raw_source.rank == 0)
      return gnn_fail(error, GNN_EDATA, "", "%s: graph.json names the relation \"%s\", but there is no %s.edge_index.npy", dataset->title, dataset->relations[r].name, dataset->relations[r].name);
  return GNN_OK;
}
