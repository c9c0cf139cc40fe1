/* prepare.c: from the arrays of a reader to a data set that can be trained on.
 * O(nodes + edges + numbers) time; besides the result it holds 12 bytes an edge while sorting. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pairs.h"
#include "prepare.h"

#include <string.h>

gnn_status gnn_prepare_nodes(gnn_dataset *dataset, int64_t nodes, int is_counted, gnn_error *error) {
  if (is_counted)
    gnn_dataset_note(dataset, "the number of nodes is not stored; taken as the greatest id + 1: %s",
                     gnn_count_text(nodes).text);
  if (nodes >= INT32_MAX)
    return gnn_fail(error, GNN_EDATA, "", "%s has %s nodes; more than 2^31 - 2 are not supported", dataset->title,
                    gnn_count_text(nodes).text);
  if (nodes == 0) return gnn_fail(error, GNN_EDATA, "", "%s has no nodes", dataset->title);
  dataset->nodes = nodes;
  return GNN_OK;
}

/* Number of nodes: as said, else the rows of x, else of y, else the greatest id + 1. */
static gnn_status prepare_count_nodes(gnn_dataset *dataset, gnn_error *error) {
  int64_t nodes = dataset->declared_nodes;
  const char *const names[] = {"x", "y"};
  for (int i = 0; i < 2 && nodes < 0; i++) {
    const gnn_data_field *field = gnn_dataset_field(dataset, names[i]);
    if (field && field->domain == GNN_NODE)
      nodes = field->is_raw_sparse ? field->raw_ptr.count - 1 : field->raw.rank ? field->raw.shape[0] : -1;
  }
  const int is_counted = nodes < 0;
  if (is_counted) {
    nodes = 0;
    for (int64_t e = 0; e < dataset->raw_source.count; e++) {
      int64_t s = gnn_array_integer(&dataset->raw_source, e), d = gnn_array_integer(&dataset->raw_destination, e);
      if (s >= nodes && s < INT32_MAX) nodes = s + 1;
      if (d >= nodes && d < INT32_MAX) nodes = d + 1;
    }
  }
  return gnn_prepare_nodes(dataset, nodes, is_counted, error);
}

/* Where the graphs begin; every edge is within one. */
static gnn_status prepare_graphs(gnn_dataset *dataset, gnn_error *error) {
  const gnn_array *raw = &dataset->raw_graph_ptr;
  dataset->graphs = raw->data && raw->count > 1 ? raw->count - 1 : 1;
  int64_t *ptr = gnn_dataset_alloc(dataset, dataset->graphs + 1, sizeof *ptr, error);
  if (ptr == NULL) return GNN_ENOMEM;
  ptr[0] = 0;
  ptr[dataset->graphs] = dataset->nodes;
  dataset->graph_ptr = ptr;
  if (raw->data == NULL) return GNN_OK;
  if (raw->count < 2) return gnn_fail(error, GNN_EDATA, "", "%s: graph_ptr names no graph", dataset->title);
  for (int64_t g = 0; g <= dataset->graphs; g++) {
    const int64_t at = gnn_array_integer(raw, g);
    if (at < 0 || at > dataset->nodes || (g > 0 && at < ptr[g - 1]) || (g == 0 && at != 0) || (g == dataset->graphs && at != dataset->nodes))
      return gnn_fail(error, GNN_EDATA, "E0701", "%s: graph_ptr[%lld] is %lld; it must ascend from 0 to %s, the number of nodes", dataset->title, (long long)g, (long long)at,
                      gnn_count_text(dataset->nodes).text);
    ptr[g] = at;
  }
  return GNN_OK;
}

static gnn_status prepare_check_graphs(const gnn_dataset *dataset, gnn_error *error) {
  for (int64_t g = 0; dataset->graphs > 1 && g < dataset->graphs; g++)
    for (int64_t r = dataset->graph_ptr[g]; r < dataset->graph_ptr[g + 1]; r++)
      for (int64_t e = dataset->in_ptr[r]; e < dataset->in_ptr[r + 1]; e++)
        if (dataset->in_source[e] < dataset->graph_ptr[g] || dataset->in_source[e] >= dataset->graph_ptr[g + 1])
          return gnn_fail(error, GNN_EDATA, "E0701", "%s: the edge %lld → %lld leaves graph %lld, which has the nodes %lld … %lld", dataset->title,
                          (long long)dataset->in_source[e], (long long)r, (long long)g, (long long)dataset->graph_ptr[g], (long long)dataset->graph_ptr[g + 1] - 1);
  return GNN_OK;
}

static uint64_t prepare_hash(uint64_t hash, const void *bytes, size_t count) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < count; i++) hash = (hash ^ b[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
  return hash;
}

static uint64_t prepare_hash_number(uint64_t hash, int64_t value) { return prepare_hash(hash, &value, sizeof value); }

static uint64_t prepare_fingerprint(const gnn_dataset *dataset, const gnn_recipe *recipe) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  hash = prepare_hash_number(hash, dataset->nodes);
  hash = prepare_hash_number(hash, dataset->edges);
  if (dataset->graphs > 1) hash = prepare_hash_number(hash, dataset->graphs);
  for (int t = 0; t < dataset->type_count; t++) {
    hash = prepare_hash(hash, dataset->types[t].name, strlen(dataset->types[t].name) + 1);
    hash = prepare_hash_number(hash, dataset->types[t].nodes);
  }
  for (int r = 0; r < dataset->relation_count; r++) {
    const gnn_data_relation *relation = &dataset->relations[r];
    const int64_t facts[] = {relation->src, relation->dst, relation->edges, relation->is_symmetric};
    hash = prepare_hash(hash, relation->name, strlen(relation->name) + 1);
    hash = prepare_hash(hash, facts, sizeof facts);
  }
  hash = prepare_hash_number(hash, dataset->is_symmetric);
  for (int i = 0; i < dataset->field_count; i++) {
    const gnn_data_field *field = &dataset->fields[i];
    hash = prepare_hash(hash, field->name, strlen(field->name) + 1);
    int64_t facts[] = {field->domain, field->storage, field->rows, field->width, field->classes, field->nonzeros,
                       field->divisor != NULL};
    hash = prepare_hash(hash, facts, sizeof facts);
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) hash = prepare_hash_number(hash, dataset->split_count[s]);
  hash = prepare_hash_number(hash, recipe->is_undirected + 2 * recipe->keeps_duplicates);
  hash = prepare_hash_number(hash, recipe->self_loops);
  hash = prepare_hash_number(hash, recipe->split_index);
  if (recipe->has_random_split) {
    hash = prepare_hash(hash, recipe->split_fraction, sizeof recipe->split_fraction);
    hash = prepare_hash_number(hash, (int64_t)recipe->split_seed);
  }
  if (recipe->has_folds) {
    const int64_t facts[] = {dataset->fold_count, recipe->fold_count, recipe->fold_has_valid, (int64_t)recipe->split_seed};
    hash = prepare_hash(hash, facts, sizeof facts);
  }
  if (recipe->pairs.name) {
    const int64_t facts[] = {recipe->pairs.negatives, recipe->pairs.keeps_source, recipe->pairs.is_resampled, (int64_t)recipe->pairs.seed};
    hash = prepare_hash(hash, facts, sizeof facts);
    if (recipe->pairs.is_stored) hash = prepare_hash_number(hash, 1);
  }
  if (recipe->order != GNN_ORDER_GIVEN) hash = prepare_hash_number(hash, recipe->order == GNN_ORDER_FILE ? (int64_t)dataset->order_fingerprint : 1);
  return hash;
}

int gnn_dataset_can_be_own(const gnn_dataset *dataset, const gnn_recipe *recipe) {
  int has_edge_fields = 0;
  for (int i = 0; i < dataset->field_count; i++) has_edge_fields |= dataset->fields[i].domain == GNN_EDGE;
  return dataset->graphs == 1 && dataset->type_count == 0 && dataset->relation_count == 0 && !has_edge_fields && (recipe->order == GNN_ORDER_GIVEN || recipe->graph_fingerprint) && recipe->pairs.name == NULL;
}

/* *is_so: all ranks do with the edges of their nodes. An order is of the graph that it was made of, which these edges have to be. */
static gnn_status prepare_owns_edges(gnn_dataset *dataset, const gnn_recipe *recipe, const gnn_own_rows *rows, int *is_so, gnn_error *error) {
  gnn_status status = GNN_OK;
  *is_so = 0;
  if (rows == NULL) return GNN_OK;
  int is_there = rows->nodes == dataset->nodes && gnn_dataset_can_be_own(dataset, recipe);
  if (is_there && recipe->order != GNN_ORDER_GIVEN) {
    is_there = recipe->edges_read == 0 || gnn_prepare_edges_read(dataset) == recipe->edges_read;
    if (is_there) status = gnn_prepare_own_order(dataset, recipe, &is_there, error);
  }
  if (status != GNN_OK) return status;
  int64_t can = is_there;
  rows->add(rows->context, &can, 1);
  *is_so = can == rows->count;
  if (!*is_so) dataset->node_id = NULL;
  return GNN_OK;
}

gnn_status gnn_dataset_prepare(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error) { return gnn_dataset_prepare_own(dataset, recipe, NULL, error); }

gnn_status gnn_dataset_prepare_own(gnn_dataset *dataset, const gnn_recipe *recipe, const gnn_own_rows *rows, gnn_error *error) {
  static const gnn_recipe nothing = {0};
  if (recipe == NULL) recipe = &nothing;
  if (dataset->is_prepared) return gnn_fail(error, GNN_EINVAL, "", "%s was prepared before", dataset->title);
  if (!dataset->has_edges)
    return gnn_fail(error, GNN_EDATA, "", "%s has no edges: neither edge_index nor edge.src and edge.dst", dataset->title);
  gnn_status status = gnn_prepare_file_fields(dataset, recipe, error);
  int wants_origin = 0;
  for (int i = 0; i < dataset->field_count; i++) wants_origin |= dataset->fields[i].domain == GNN_EDGE;
  int64_t *origin = NULL;
  gnn_prepare_types(dataset, recipe);
  if (status == GNN_OK) status = gnn_prepare_rows(dataset, error);
  if (status == GNN_OK) status = prepare_count_nodes(dataset, error);
  if (status == GNN_OK) status = prepare_graphs(dataset, error);
  if (status == GNN_OK) status = gnn_prepare_field_rows(dataset, error);
  if (status == GNN_OK && dataset->graphs > 1 && recipe->order != GNN_ORDER_GIVEN)
    status = gnn_fail(error, GNN_EDATA, "E0710", "%s is a set of %s graphs, whose nodes stand in the order of the graphs", dataset->title, gnn_count_text(dataset->graphs).text);
  if (status == GNN_OK && dataset->relation_count && recipe->order != GNN_ORDER_GIVEN)
    status = gnn_fail(error, GNN_EDATA, "E0710", "%s has relations, whose edges stand in the order of the data", dataset->title);
  int is_own = 0;
  if (status == GNN_OK) status = prepare_owns_edges(dataset, recipe, rows, &is_own, error);
  if (status == GNN_OK && is_own) status = gnn_prepare_own_edges(dataset, recipe, rows, error);
  else if (status == GNN_OK) status = gnn_prepare_edges(dataset, recipe, wants_origin, &origin, error);
  if (status == GNN_OK) status = prepare_check_graphs(dataset, error);
  if (status == GNN_OK) status = gnn_prepare_relations(dataset, recipe, error);
  if (status == GNN_OK) status = gnn_prepare_pairs(dataset, recipe, origin, error);
  if (status == GNN_OK && !is_own) status = gnn_prepare_order(dataset, recipe, origin, error);
  if (status == GNN_OK) status = gnn_prepare_fields(dataset, recipe, origin, dataset->own ? rows : NULL, error);
  if (status == GNN_OK) status = dataset->pairs ? gnn_prepare_pair_rows(dataset, error) : gnn_prepare_splits(dataset, recipe, origin, error);
  if (status == GNN_OK && dataset->is_note_lost) status = gnn_fail_memory(error, 0);
  status = gnn_dataset_check_files(dataset, status, error);
  if (status != GNN_OK) return status;
  for (int i = 0; i < dataset->file_count; i++) gnn_guard_pass(dataset->files[i].data, dataset->files[i].data + dataset->files[i].size);
  dataset->fingerprint = prepare_fingerprint(dataset, recipe);
  dataset->is_prepared = 1;
  return GNN_OK;
}
