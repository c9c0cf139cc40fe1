/* array_names.c: what arrays are called elsewhere and here; which are splits. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "array_names.h"

#include <stdio.h>
#include <string.h>

/* Whether there is an array of this name behind the same prefix. */
static int names_has(const gnn_tensor *arrays, int count, const char *given, size_t prefix, const char *name) {
  for (int i = 0; i < count; i++)
    if (strncmp(arrays[i].name, given, prefix) == 0 && strcmp(arrays[i].name + prefix, name) == 0) return 1;
  return 0;
}

const char *gnn_array_name(const gnn_tensor *arrays, int count, int i, size_t prefix) {
  static const struct { const char *name, *ours; } aliases[] = {
    {"edges", "edge_index"},      {"node_feat", "x"},           {"node_features", "x"},       {"features", "x"},            {"feat", "x"},
    {"feats", "x"},               {"node_feats", "x"},
    {"node_label", "y"},          {"node_labels", "y"},         {"labels", "y"},              {"label", "y"},               {"graph_label", "y"},
    {"graph_labels", "y"},        {"glabel", "y"},              {"edge_feat", "edge_attr"},
    {"train_idx", "train_index"}, {"idx_train", "train_index"}, {"train_indices", "train_index"},
    {"val_idx", "val_index"},     {"idx_val", "val_index"},     {"val_indices", "val_index"}, {"valid_idx", "val_index"},   {"valid_index", "val_index"},
    {"test_idx", "test_index"},   {"idx_test", "test_index"},   {"test_indices", "test_index"}};
  const char *given = arrays[i].name, *name = given + prefix;
  for (size_t a = 0; a < sizeof aliases / sizeof *aliases; a++) {
    if (strcmp(aliases[a].name, name) != 0 || names_has(arrays, count, given, prefix, aliases[a].ours)) continue;
    for (size_t k = 0; k < a; k++) /* of several the first that is known */
      if (strcmp(aliases[k].ours, aliases[a].ours) == 0 && names_has(arrays, count, given, prefix, aliases[k].name)) return name;
    return aliases[a].ours;
  }
  return name;
}

gnn_status gnn_array_undo_types(gnn_dataset *dataset, gnn_tensor *arrays, int count, gnn_error *error) {
  static const char nodes[] = "_N.", edges[] = "_N___E___N.";
  for (int i = 0; i < count; i++) {
    const char *given = arrays[i].name;
    const int is_edge = strncmp(given, edges, sizeof edges - 1) == 0;
    if (!is_edge && strncmp(given, nodes, sizeof nodes - 1) != 0) continue;
    const char *name = given + (is_edge ? sizeof edges : sizeof nodes) - 1, *begin = is_edge && strncmp(name, "edge_", 5) != 0 ? "edge_" : "";
    const size_t room = strlen(begin) + strlen(name) + 1;
    char *made = gnn_dataset_alloc(dataset, (int64_t)room, 1, error);
    if (made == NULL) return GNN_ENOMEM;
    snprintf(made, room, "%s%s", begin, name);
    arrays[i].name = made;
  }
  return GNN_OK;
}

void gnn_array_list(const gnn_tensor *arrays, int count, char *text, size_t room) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < count && used + 1 < room; i++) {
    const int written = snprintf(text + used, room - used, "%s%.60s %s", i == 0 ? "" : ", ", arrays[i].name, gnn_shape_text(&arrays[i].array).text);
    if (written < 0 || (size_t)written >= room - used) { /* the rest has no room */
      snprintf(text + used, room - used, used + 5 < room ? ", ..." : "");
      return;
    }
    used += (size_t)written;
  }
  if (count == 0) snprintf(text, room, "nothing");
}

/* ---- splits ---- */

/* What stands behind the split that a name begins with: mask of val_mask; NULL: it begins with none. */
static const char *names_of_split(const char *name, int *split) {
  static const struct { const char *word; int split; } words[] = {
    {"train_", GNN_TRAIN}, {"val_", GNN_VALID}, {"valid_", GNN_VALID}, {"test_", GNN_TEST}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const size_t length = strlen(words[i].word);
    *split = words[i].split;
    if (strncmp(name, words[i].word, length) == 0) return name + length;
  }
  return NULL;
}

int gnn_array_is_mask(const char *name, int *split, int *is_many) {
  const char *what = names_of_split(name, split);
  *is_many = what && strcmp(what, "masks") == 0;
  return *is_many || (what && strcmp(what, "mask") == 0);
}

/* PyG has the splits of a set with several in the columns of train_mask. */
static gnn_status names_turn_mask(gnn_dataset *dataset, const gnn_array *array, gnn_array *turned, gnn_error *error) {
  const int64_t rows = array->shape[0], splits = array->shape[1], width = gnn_dtype_bytes(array->dtype);
  unsigned char *data = gnn_dataset_alloc(dataset, array->count, width, error);
  if (data == NULL) return GNN_ENOMEM;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t s = 0; s < splits; s++) memcpy(data + (s * rows + r) * width, array->data + (r * splits + s) * width, (size_t)width);
  *turned = (gnn_array){.dtype = array->dtype, .rank = 2, .shape = {splits, rows}, .count = array->count, .data = data};
  return GNN_OK;
}

gnn_status gnn_array_take_split(gnn_dataset *dataset, const char *name, const gnn_array *array, int *is_split, gnn_error *error) {
  static const char *const lists[GNN_SPLIT_COUNT] = {"train_index", "val_index", "test_index"};
  int split, is_many;
  *is_split = gnn_array_is_mask(name, &split, &is_many);
  if (*is_split && !is_many && array->rank == 2 && array->shape[1] == 1) {
    dataset->raw_split[split] = *array;
    dataset->raw_split[split].rank = 1;
  } else if (*is_split && !is_many && array->rank == 2) {
    return names_turn_mask(dataset, array, &dataset->raw_splits[split], error);
  } else if (*is_split) {
    *(is_many ? &dataset->raw_splits[split] : &dataset->raw_split[split]) = *array;
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    if (strcmp(name, lists[s]) != 0 || array->rank != 1 || dataset->raw_split[s].data) continue;
    dataset->raw_split[s] = *array;
    dataset->is_split_ids[s] = array->dtype != GNN_BOOL;
    *is_split = 1;
  }
  return GNN_OK;
}

/* ---- pairs ---- */

gnn_status gnn_array_take_pairs(gnn_dataset *dataset, const char *name, const gnn_array *array, int *is_pairs, gnn_error *error) {
  int split;
  const char *what = names_of_split(name, &split);
  const int is_index = what && strcmp(what, "edge_label_index") == 0, is_label = what && strcmp(what, "edge_label") == 0;
  *is_pairs = is_index || is_label;
  if (is_index && (array->rank != 2 || array->shape[0] != 2 || gnn_dtype_is_float(array->dtype)))
    return gnn_fail(error, GNN_EDATA, "", "%s: %s is %s %s; whole numbers [2, pairs] are needed", dataset->title, name, gnn_dtype_name(array->dtype), gnn_shape_text(array).text);
  if (is_label && array->rank != 1) return gnn_fail(error, GNN_EDATA, "", "%s: %s has the shape %s; [pairs] is needed", dataset->title, name, gnn_shape_text(array).text);
  if (is_index) dataset->raw_pairs[split] = *array;
  if (is_label) dataset->raw_pair_label[split] = *array;
  return GNN_OK;
}
