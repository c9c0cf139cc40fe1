/* prepare_relations.c: types of nodes in their order, and the edges of each relation sorted by (destination, source). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "prepare.h"
#include "runtime/core/adjacency.h"

/* ---- which type of nodes is the first ---- */

static int relations_is_of_type(const char *field, const char *type) {
  const size_t length = strlen(type);
  return strncmp(field, type, length) == 0 && field[length] == '.';
}

/* That of the labels that are asked for, else of fields y, else the first there is. */
static int relations_first_type(const gnn_dataset *dataset, const gnn_recipe *recipe) {
  int first = 0, is_found = 0;
  for (int t = 0; t < dataset->type_count; t++) {
    const char *name = dataset->types[t].name;
    char y[80];
    snprintf(y, sizeof y, "%s.y", name);
    if (recipe->target && relations_is_of_type(recipe->target, name)) return t;
    if (is_found || gnn_dataset_field(dataset, y) == NULL) continue;
    first = t;
    is_found = 1;
  }
  return first;
}

static int relations_set_of(int type, int first) { return type == first ? 0 : 2 + type - (type > first); }

void gnn_prepare_types(gnn_dataset *dataset, const gnn_recipe *recipe) {
  if (dataset->type_count == 0 || *dataset->node_type) return; /* a part of prepared data has them in their order */
  const int first = relations_first_type(dataset, recipe);
  snprintf(dataset->node_type, sizeof dataset->node_type, "%s", dataset->types[first].name);
  dataset->declared_nodes = dataset->types[first].nodes;
  for (int i = 0; i < dataset->field_count; i++) {
    gnn_data_field *field = &dataset->fields[i];
    if (field->domain != GNN_TYPE) continue;
    if (field->set == first) field->domain = GNN_NODE;
    field->set = field->domain == GNN_NODE ? 0 : field->set - (field->set > first);
  }
  for (int r = 0; r < dataset->relation_count; r++) {
    dataset->relations[r].src = relations_set_of(dataset->relations[r].src, first);
    dataset->relations[r].dst = relations_set_of(dataset->relations[r].dst, first);
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const int is_other = dataset->split_type != first && (dataset->raw_split[s].data || dataset->raw_splits[s].data);
    if (!is_other) continue;
    gnn_dataset_note(dataset, "the split of %s is not used: the labels are those of %s", dataset->types[dataset->split_type].name, dataset->node_type);
    memset(&dataset->raw_split[s], 0, sizeof dataset->raw_split[s]);
    memset(&dataset->raw_splits[s], 0, sizeof dataset->raw_splits[s]);
  }
  memmove(&dataset->types[first], &dataset->types[first + 1], (size_t)(dataset->type_count - first - 1) * sizeof *dataset->types);
  dataset->type_count--;
}

/* ---- edges ---- */

static gnn_status relations_check(const gnn_dataset *dataset, const gnn_data_relation *relation, gnn_error *error) {
  const gnn_array *source = &relation->raw_source, *destination = &relation->raw_destination;
  const int64_t sources = gnn_dataset_rows(dataset, relation->src), destinations = gnn_dataset_rows(dataset, relation->dst);
  if (gnn_dtype_is_float(source->dtype) || gnn_dtype_is_float(destination->dtype))
    return gnn_fail(error, GNN_EDATA, "", "%s: edge ids of %s are stored as %s; whole numbers are needed", dataset->title, relation->name, gnn_dtype_name(source->dtype));
  for (int64_t e = 0; e < source->count; e++) {
    const int64_t s = gnn_array_integer(source, e), d = gnn_array_integer(destination, e);
    if (s >= 0 && s < sources && d >= 0 && d < destinations) continue;
    return gnn_fail(error, GNN_EDATA, "E0701", "%s: edge %lld of %s is %lld → %lld, but its sources run 0 … %lld and its destinations 0 … %lld", dataset->title, (long long)e,
                    relation->name, (long long)s, (long long)d, (long long)sources - 1, (long long)destinations - 1);
  }
  return GNN_OK;
}

/* Of a row of sorted sources, each once; returns how many were dropped. */
static int64_t relations_drop_duplicates(int64_t rows, int64_t *ptr, int32_t *source) {
  int64_t kept = 0, begin = 0;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t end = ptr[r + 1], first = kept;
    for (int64_t e = begin; e < end; e++)
      if (kept == first || source[kept - 1] != source[e]) source[kept++] = source[e];
    begin = end;
    ptr[r + 1] = kept;
  }
  return begin - kept;
}

static int relations_is_symmetric(const gnn_data_relation *relation, int64_t rows, int64_t *ptr, int32_t *to) {
  if (relation->src != relation->dst) return 0;
  gnn_adjacency_turn(relation->in_ptr, relation->in_source, rows, rows, ptr, to, NULL);
  return memcmp(ptr, relation->in_ptr, (size_t)(rows + 1) * sizeof *ptr) == 0 && (relation->edges == 0 || memcmp(to, relation->in_source, (size_t)relation->edges * sizeof *to) == 0);
}

/* Two counting sorts: by source, then, keeping that order, by destination. */
static gnn_status relations_sort(gnn_dataset *dataset, gnn_data_relation *relation, int keeps_duplicates, gnn_error *error) {
  const int64_t sources = gnn_dataset_rows(dataset, relation->src), destinations = gnn_dataset_rows(dataset, relation->dst), edges = relation->raw_source.count;
  int64_t *in_ptr = gnn_dataset_alloc(dataset, destinations + 1, sizeof *in_ptr, error);
  int32_t *in_source = in_ptr ? gnn_dataset_alloc(dataset, edges, sizeof *in_source, error) : NULL;
  if (in_source == NULL) return GNN_ENOMEM;
  int64_t *ptr = calloc((size_t)(sources > destinations ? sources : destinations) + 2, sizeof *ptr);
  int32_t *to = malloc((size_t)edges * sizeof *to + 1);
  if (ptr == NULL || to == NULL) {
    free(ptr);
    free(to);
    return gnn_fail_memory(error, edges * (int64_t)sizeof *to);
  }
  for (int64_t e = 0; e < edges; e++) ptr[gnn_array_integer(&relation->raw_source, e) + 2]++;
  for (int64_t v = 0; v < sources; v++) ptr[v + 2] += ptr[v + 1];
  for (int64_t e = 0; e < edges; e++) to[ptr[gnn_array_integer(&relation->raw_source, e) + 1]++] = (int32_t)gnn_array_integer(&relation->raw_destination, e);
  gnn_adjacency_turn(ptr, to, sources, destinations, in_ptr, in_source, NULL);
  const int64_t dropped = keeps_duplicates ? 0 : relations_drop_duplicates(destinations, in_ptr, in_source);
  relation->in_ptr = in_ptr;
  relation->in_source = in_source;
  relation->edges = in_ptr[destinations];
  relation->is_symmetric = relations_is_symmetric(relation, destinations, ptr, to);
  dataset->dropped_duplicates += dropped;
  if (dropped) gnn_dataset_note(dataset, "dropped %s duplicate edges of %s", gnn_count_text(dropped).text, relation->name);
  free(ptr);
  free(to);
  return GNN_OK;
}

int gnn_dataset_find_type(const gnn_dataset *dataset, const char *name, size_t length) {
  char given[sizeof dataset->types->given];
  snprintf(given, sizeof given, "%.*s", (int)length, name);
  for (int t = 0; t < dataset->type_count; t++)
    if (strcmp(dataset->types[t].given, given) == 0) return t;
  for (int t = 0; t < dataset->type_count; t++)
    if (gnn_is_same_name(dataset->types[t].name, given)) return t;
  return -1;
}

gnn_data_type *gnn_dataset_add_type(gnn_dataset *dataset, const char *name, int64_t nodes, gnn_error *error) {
  enum { TYPE_NAME_MOST = 47 };
  char own[64];
  gnn_status status = GNN_OK;
  gnn_make_name(name, own, sizeof own);
  if (own[0] == 0 || strlen(name) > TYPE_NAME_MOST)
    status = gnn_fail(error, GNN_EDATA, "", "%s: \"%.60s\" cannot name a type of nodes: %s", dataset->title, name, own[0] ? "it has more than 47 characters" : "no letter is in it");
  else if (dataset->type_count > GNN_TYPES_MAX) status = gnn_fail(error, GNN_EDATA, "", "%s has more than %d types of nodes", dataset->title, GNN_TYPES_MAX + 1);
  for (int t = 0; status == GNN_OK && t < dataset->type_count; t++)
    if (strcmp(dataset->types[t].name, own) == 0) status = gnn_fail(error, GNN_EDATA, "", "%s has nodes of type \"%s\" twice%s", dataset->title, own, strcmp(own, name) ? ", as the language calls them" : "");
  if (status != GNN_OK) return NULL;
  gnn_data_type *types = realloc(dataset->types, ((size_t)dataset->type_count + 1) * sizeof *types);
  if (types == NULL) {
    gnn_fail_memory(error, (dataset->type_count + 1) * (int64_t)sizeof *types);
    return NULL;
  }
  dataset->types = types;
  gnn_data_type *type = &types[dataset->type_count++];
  *type = (gnn_data_type){.nodes = nodes};
  snprintf(type->name, sizeof type->name, "%s", own);
  snprintf(type->given, sizeof type->given, "%s", name);
  if (strcmp(own, name) != 0) gnn_dataset_note(dataset, "nodes of type \"%s\" are called %s", name, own);
  return type;
}

gnn_data_relation *gnn_dataset_add_relation(gnn_dataset *dataset, const char *name, int src, int dst, gnn_error *error) {
  gnn_data_relation *relations = realloc(dataset->relations, (size_t)(dataset->relation_count + 1) * sizeof *relations);
  if (relations == NULL) {
    gnn_fail_memory(error, (int64_t)sizeof *relations);
    return NULL;
  }
  dataset->relations = relations;
  gnn_data_relation *relation = &relations[dataset->relation_count];
  memset(relation, 0, sizeof *relation);
  gnn_make_name(name, relation->name, sizeof relation->name);
  snprintf(relation->given, sizeof relation->given, "%s", name);
  const int is_of_types = dataset->type_count > 0 && *dataset->node_type == 0; /* src and dst are places among the types */
  if (is_of_types && gnn_dataset_relation(dataset, relation->name)) {
    const gnn_data_type *from = &dataset->types[src], *to = &dataset->types[dst];
    char full[256];
    snprintf(full, sizeof full, "%s_%s_%s", from->name, relation->name, to->name);
    gnn_make_name(full, relation->name, sizeof relation->name);
    gnn_dataset_note(dataset, "relation %.60s from %s to %s is called %s", name, from->name, to->name, relation->name);
  } else if (strcmp(relation->name, name) != 0) gnn_dataset_note(dataset, "relation \"%.60s\" is called %s", name, relation->name);
  relation->src = src;
  relation->dst = dst;
  gnn_status status = GNN_OK;
  if (relation->name[0] == 0) status = gnn_fail(error, GNN_EDATA, "", "%s: \"%.60s\" cannot name a relation: no letter is in it", dataset->title, name);
  else if (gnn_dataset_relation(dataset, relation->name)) status = gnn_fail(error, GNN_EDATA, "", "%s has two relations \"%s\"", dataset->title, relation->name);
  else if (dataset->relation_count == GNN_RELATIONS_MAX) status = gnn_fail(error, GNN_EDATA, "", "%s has more than %d relations", dataset->title, GNN_RELATIONS_MAX);
  if (status != GNN_OK) return NULL;
  dataset->relation_count++;
  return relation;
}

/* The same edges the other way round. */
static gnn_status relations_reverse(gnn_dataset *dataset, const char *name, gnn_error *error) {
  const gnn_data_relation *there = gnn_dataset_relation(dataset, name);
  char reversed[80];
  if (there == NULL) return gnn_fail(error, GNN_EDATA, "E0203", "%s has no relation \"%s\" to reverse", dataset->title, name);
  const gnn_array source = there->raw_source, destination = there->raw_destination;
  const int src = there->src, dst = there->dst;
  snprintf(reversed, sizeof reversed, "rev_%s", name);
  gnn_data_relation *back = gnn_dataset_add_relation(dataset, reversed, dst, src, error);
  if (back == NULL) return GNN_EDATA;
  back->raw_source = destination;
  back->raw_destination = source;
  return GNN_OK;
}

gnn_status gnn_prepare_relations(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error) {
  gnn_status status = GNN_OK;
  const int forward = dataset->relation_count;
  for (int r = 0; status == GNN_OK && recipe->reverses_all && r < forward; r++) {
    char name[64];
    memcpy(name, dataset->relations[r].name, sizeof name); /* the list moves */
    status = relations_reverse(dataset, name, error);
  }
  for (int i = 0; status == GNN_OK && i < recipe->reversed_count; i++) status = relations_reverse(dataset, recipe->reversed[i], error);
  for (int r = 0; status == GNN_OK && r < dataset->relation_count; r++) {
    status = relations_check(dataset, &dataset->relations[r], error);
    if (status == GNN_OK) status = relations_sort(dataset, &dataset->relations[r], recipe->keeps_duplicates, error);
  }
  return status;
}
