/* npy_types.c: what makes a folder of NumPy arrays relational: edge_type.npy, or types of nodes and relations that graph.json names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "npy_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- types of nodes: "node_types": {"paper": 736389, "author": 1134649}, "relations": [{"name", "source", "destination"}] ---- */

static int types_find(const gnn_dataset *dataset, const char *name, size_t length) {
  for (int t = 0; t < dataset->type_count; t++)
    if (strlen(dataset->types[t].name) == length && strncmp(dataset->types[t].name, name, length) == 0) return t;
  return -1;
}

static int types_is_word(const char *text) {
  int length = 0;
  for (; text[length]; length++) {
    const char c = text[length];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (length && c >= '0' && c <= '9'))) return 0;
  }
  return length > 0 && length < 48;
}

static gnn_status types_of_nodes(gnn_dataset *dataset, const gnn_json *json, const gnn_json_node *types, gnn_error *error) {
  for (int32_t i = types->first; i >= 0; i = json->nodes[i].next) {
    const gnn_json_node *type = &json->nodes[i];
    if (!types_is_word(type->key))
      return gnn_fail(error, GNN_EDATA, "", "%s: \"%.60s\" cannot name a type of nodes: letters, digits and _, at most 47 of them", dataset->title, type->key);
    if (type->kind != GNN_JSON_NUMBER || !type->is_integer || type->integer < 1 || type->integer >= INT32_MAX)
      return gnn_fail(error, GNN_EDATA, "", "%s: \"node_types\" of graph.json must say how many nodes \"%s\" has, from 1 on", dataset->title, type->key);
    if (dataset->type_count > GNN_TYPES_MAX) return gnn_fail(error, GNN_EDATA, "", "%s has more than %d types of nodes", dataset->title, GNN_TYPES_MAX + 1);
    if (gnn_dataset_add_type(dataset, type->key, type->integer, error) == NULL) return GNN_ENOMEM;
  }
  return GNN_OK;
}

gnn_status npy_types_declared(gnn_dataset *dataset, const gnn_json *json, gnn_error *error) {
  const gnn_json_node *types = gnn_json_member(json, &json->nodes[0], "node_types"), *relations = gnn_json_member(json, &json->nodes[0], "relations");
  if (types == NULL || types->kind != GNN_JSON_OBJECT) return GNN_OK;
  gnn_status status = types_of_nodes(dataset, json, types, error);
  if (status != GNN_OK) return status;
  if (dataset->type_count == 0 || relations == NULL || relations->kind != GNN_JSON_ARRAY)
    return gnn_fail(error, GNN_EDATA, "", "%s: beside \"node_types\" graph.json needs \"relations\", a list of {\"name\", \"source\", \"destination\"}", dataset->title);
  for (int32_t i = relations->first; i >= 0; i = json->nodes[i].next) {
    static const char *const keys[] = {"name", "source", "destination"};
    const gnn_json_node *part[3];
    int end[3] = {0};
    for (int k = 0; k < 3; k++) {
      part[k] = json->nodes[i].kind == GNN_JSON_OBJECT ? gnn_json_member(json, &json->nodes[i], keys[k]) : NULL;
      if (part[k] == NULL || part[k]->kind != GNN_JSON_STRING) return gnn_fail(error, GNN_EDATA, "", "%s: each of \"relations\" in graph.json needs a \"%s\"", dataset->title, keys[k]);
      end[k] = k ? types_find(dataset, part[k]->text, strlen(part[k]->text)) : 0;
      if (end[k] < 0) return gnn_fail(error, GNN_EDATA, "", "%s: relation \"%.60s\" is of \"%.60s\", which is no type of nodes", dataset->title, part[0]->text, part[k]->text);
    }
    if (!types_is_word(part[0]->text)) return gnn_fail(error, GNN_EDATA, "", "%s: \"%.60s\" cannot name a relation: letters, digits and _, at most 47 of them", dataset->title, part[0]->text);
    if (gnn_dataset_add_relation(dataset, part[0]->text, end[1], end[2], error) == NULL) return GNN_EDATA;
  }
  dataset->has_edges = 1;
  return GNN_OK;
}

static gnn_status types_edges(gnn_dataset *dataset, gnn_data_relation *relation, const gnn_array *array, gnn_error *error) {
  if (array->rank != 2 || array->shape[0] != 2)
    return gnn_fail(error, GNN_EDATA, "", "%s: %s.edge_index has the shape %s; [2, edges] is needed", dataset->title, relation->name, gnn_shape_text(array).text);
  const int64_t edges = array->shape[1];
  relation->raw_source = (gnn_array){.dtype = array->dtype, .rank = 1, .shape = {edges}, .count = edges, .data = array->data};
  relation->raw_destination = relation->raw_source;
  relation->raw_destination.data = array->data + edges * gnn_dtype_bytes(array->dtype);
  return GNN_OK;
}

gnn_status npy_types_array(gnn_dataset *dataset, const char *name, const gnn_array *array, npy_is_mask *is_mask, gnn_error *error) {
  const char *dot = strchr(name, '.');
  const int type = dot ? types_find(dataset, name, (size_t)(dot - name)) : -1;
  int split, is_many;
  for (int r = 0; dot && r < dataset->relation_count; r++) {
    gnn_data_relation *relation = &dataset->relations[r];
    if (strlen(relation->name) == (size_t)(dot - name) && strncmp(relation->name, name, (size_t)(dot - name)) == 0 && strcmp(dot, ".edge_index") == 0)
      return types_edges(dataset, relation, array, error);
  }
  if (type < 0) {
    gnn_dataset_note(dataset, "%s.npy is not used: no type of nodes and no relation has this name", name);
    return GNN_OK;
  }
  if (is_mask(dot + 1, &split, &is_many)) {
    if (dataset->split_type >= 0 && dataset->split_type != type)
      return gnn_fail(error, GNN_EDATA, "", "%s has splits of %s and of %s; one type of nodes can have them", dataset->title, dataset->types[dataset->split_type].name, dataset->types[type].name);
    dataset->split_type = type;
    if (is_many) dataset->raw_splits[split] = *array;
    else dataset->raw_split[split] = *array;
    return GNN_OK;
  }
  const gnn_status status = gnn_dataset_add_field(dataset, name, GNN_TYPE, array, error);
  if (status == GNN_OK) dataset->fields[dataset->field_count - 1].set = type;
  return status;
}

gnn_status npy_types_check(const gnn_dataset *dataset, gnn_error *error) {
  for (int r = 0; r < dataset->relation_count; r++)
    if (dataset->relations[r].raw_source.data == NULL && dataset->relations[r].raw_source.rank == 0)
      return gnn_fail(error, GNN_EDATA, "", "%s: graph.json names the relation \"%s\", but there is no %s.edge_index.npy", dataset->title, dataset->relations[r].name, dataset->relations[r].name);
  return GNN_OK;
}
