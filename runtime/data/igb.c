/* igb.c: folders of the Illinois Graph Benchmark: processed/TYPE/node_feat.npy, node_label_19.npy, processed/SOURCE__RELATION__DESTINATION/edge_index.npy [E, 2]. The two
 * largest sets have features and labels without a header, 1024 numbers a node; the first 60 % of the labelled papers are trained on, the next 20 % validate, the rest tests. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "igb.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keyed.h"
#include "npy.h"

enum { IGB_PATH_MOST = 4096, IGB_WIDTH = 1024, IGB_FOLDERS_MOST = 256 };

/* Papers of the full set that have a label; those behind them have none. */
static const int64_t igb_full_nodes = 269346174, igb_full_labelled = 157675969;

typedef struct igb_set {
  gnn_dataset *dataset;
  char folder[IGB_PATH_MOST - 256]; /* with "processed" */
  int count;
  char *names[IGB_FOLDERS_MOST];    /* what is in it */
  gnn_error *error;
} igb_set;

static int igb_has(const igb_set *set, const char *name, const char *file) {
  char path[IGB_PATH_MOST];
  return snprintf(path, sizeof path, "%s/%s/%s", set->folder, name, file) < IGB_PATH_MOST && gnn_npy_exists(path);
}

/* An array with a header, or, where there is none, of so many floats a row. */
static gnn_status igb_array(igb_set *set, const char *name, const char *file, int64_t width, gnn_array *array) {
  char path[IGB_PATH_MOST];
  gnn_file opened;
  int changed;
  snprintf(path, sizeof path, "%s/%s/%s", set->folder, name, file);
  gnn_error first = {"", "", ""};
  gnn_status status = gnn_npy_open(path, &opened, array, &changed, &first);
  if (status == GNN_OK && changed) gnn_dataset_note(set->dataset, "%s/%s %s", name, file, gnn_npy_changed(changed));
  if (status == GNN_OK) return gnn_dataset_own_file(set->dataset, &opened, set->error);
  if (strcmp(first.code, "E0707") != 0 || width == 0) {
    if (set->error) *set->error = first;
    return status;
  }
  status = gnn_file_open(path, gnn_file_text, &opened, set->error);
  if (status != GNN_OK) return status;
  const int64_t row_bytes = width * 4, rows = (int64_t)opened.size / row_bytes;
  if (rows == 0 || (int64_t)opened.size % row_bytes) {
    status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" has no NumPy header, and its %s bytes are no rows of %lld floats", path, gnn_count_text((int64_t)opened.size).text, (long long)width);
    gnn_file_close(&opened);
    return status;
  }
  *array = (gnn_array){.dtype = GNN_F32, .rank = width == 1 ? 1 : 2, .shape = {rows, width}, .count = rows * width, .data = opened.data};
  gnn_dataset_note(set->dataset, "%s/%s has no header, and is read as %s rows of %lld floats", name, file, gnn_count_text(rows).text, (long long)width);
  return gnn_dataset_own_file(set->dataset, &opened, set->error);
}

static int igb_by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static gnn_status igb_list(igb_set *set) {
  DIR *handle = opendir(set->folder);
  if (handle == NULL) return gnn_fail_file(set->error, "open", set->folder, errno);
  const struct dirent *entry;
  gnn_status status = GNN_OK;
  while (status == GNN_OK && (entry = readdir(handle)) != NULL) {
    if (entry->d_name[0] == '.' || set->count == IGB_FOLDERS_MOST) continue;
    if ((set->names[set->count] = strdup(entry->d_name)) == NULL) status = gnn_fail_memory(set->error, 256);
    else set->count++;
  }
  closedir(handle);
  qsort(set->names, (size_t)set->count, sizeof *set->names, igb_by_name);
  return status;
}

/* ---- splits and labels ---- */

static gnn_status igb_splits(igb_set *set, int64_t nodes, int64_t labelled) {
  const int64_t train = (int64_t)((double)labelled * 0.6), valid = (int64_t)((double)labelled * 0.2);
  const int64_t cut[GNN_SPLIT_COUNT + 1] = {0, train, train + valid, labelled};
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    unsigned char *mask = gnn_dataset_alloc(set->dataset, nodes, 1, set->error);
    if (mask == NULL) return GNN_ENOMEM;
    memset(mask, 0, (size_t)nodes);
    memset(mask + cut[s], 1, (size_t)(cut[s + 1] - cut[s]));
    set->dataset->raw_split[s] = (gnn_array){.dtype = GNN_BOOL, .rank = 1, .shape = {nodes}, .count = nodes, .data = mask};
  }
  return GNN_OK;
}

/* Labels that end before the nodes do are none from there on. */
static gnn_status igb_labels(igb_set *set, const char *type, const char *name, gnn_domain domain, int number, int64_t nodes, int classes) {
  char file[32];
  gnn_array array;
  snprintf(file, sizeof file, classes == 19 ? "node_label_19.npy" : "node_label_2K.npy");
  if (!igb_has(set, type, file)) return GNN_OK;
  gnn_status status = igb_array(set, type, file, 1, &array);
  if (status != GNN_OK) return status;
  if (array.rank == 2 && array.shape[1] == 1) array.rank = 1;
  const int64_t labelled = nodes == igb_full_nodes ? igb_full_labelled : array.count < nodes ? array.count : nodes;
  if (array.rank != 1 || array.count > nodes) return gnn_fail(set->error, GNN_EDATA, "", "\"%s/%s/%s\" has the shape %s; there are %s nodes", set->folder, type, file, gnn_shape_text(&array).text, gnn_count_text(nodes).text);
  if (labelled < nodes) {
    int32_t *label = gnn_dataset_alloc(set->dataset, nodes, sizeof *label, set->error);
    if (label == NULL) return GNN_ENOMEM;
    for (int64_t v = 0; v < nodes; v++) {
      const double number_of = v < labelled ? gnn_array_number(&array, v) : -1;
      label[v] = number_of >= 0 && number_of < INT32_MAX ? (int32_t)number_of : -1;
    }
    array = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {nodes}, .count = nodes, .data = (const unsigned char *)label};
  }
  status = gnn_dataset_add_field(set->dataset, name, domain, &array, set->error);
  if (status != GNN_OK) return status;
  set->dataset->fields[set->dataset->field_count - 1].set = number;
  set->dataset->fields[set->dataset->field_count - 1].declared_classes = classes;
  set->dataset->split_type = domain == GNN_TYPE ? number : -1;
  return igb_splits(set, nodes, labelled);
}

/* ---- nodes and edges ---- */

static gnn_status igb_type(igb_set *set, const char *type, int is_only, int classes) {
  gnn_dataset *dataset = set->dataset;
  gnn_array array;
  gnn_status status = igb_array(set, type, "node_feat.npy", IGB_WIDTH, &array);
  if (status != GNN_OK) return status;
  if (array.rank != 2 || array.shape[0] < 1 || array.shape[0] >= INT32_MAX) return gnn_fail(set->error, GNN_EDATA, "", "\"%s/%s/node_feat.npy\" has the shape %s; nodes by features are needed", set->folder, type, gnn_shape_text(&array).text);
  char name[2][160];
  snprintf(name[0], sizeof name[0], is_only ? "x" : "%.100s.x", type);
  snprintf(name[1], sizeof name[1], is_only ? "y" : "%.100s.y", type);
  const gnn_domain domain = is_only ? GNN_NODE : GNN_TYPE;
  const int number = is_only ? 0 : dataset->type_count;
  if (is_only) dataset->declared_nodes = array.shape[0];
  else if (gnn_dataset_add_type(dataset, type, array.shape[0], set->error) == NULL) return GNN_EDATA;
  status = gnn_dataset_add_field(dataset, name[0], domain, &array, set->error);
  if (status == GNN_OK) dataset->fields[dataset->field_count - 1].set = number;
  return status == GNN_OK ? igb_labels(set, type, name[1], domain, number, array.shape[0], classes) : status;
}

/* paper__cites__paper */
static gnn_status igb_relation(igb_set *set, const char *folder, int is_only) {
  gnn_dataset *dataset = set->dataset;
  const char *first = strstr(folder, "__"), *second = strstr(first + 2, "__");
  char path[IGB_PATH_MOST], name[64];
  gnn_array array, source, destination;
  gnn_status status = igb_array(set, folder, "edge_index.npy", 0, &array);
  snprintf(path, sizeof path, "%s/%s/edge_index.npy", set->folder, folder);
  if (status == GNN_OK) status = gnn_keyed_edges(dataset, path, "edge_index", &array, &source, &destination, set->error);
  if (status != GNN_OK) return status;
  if (is_only) {
    dataset->raw_source = source;
    dataset->raw_destination = destination;
    dataset->has_edges = 1;
    return GNN_OK;
  }
  const int from = gnn_dataset_find_type(dataset, folder, (size_t)(first - folder)), to = gnn_dataset_find_type(dataset, second + 2, strlen(second + 2));
  if (from < 0 || to < 0) {
    gnn_dataset_note(dataset, "%s is not used: it joins a type of nodes that has no node_feat.npy", folder);
    return GNN_OK;
  }
  snprintf(name, sizeof name, "%.*s", (int)(second - first - 2), first + 2);
  gnn_data_relation *relation = gnn_dataset_add_relation(dataset, name, from, to, set->error);
  if (relation == NULL) return GNN_EDATA;
  relation->raw_source = source;
  relation->raw_destination = destination;
  dataset->has_edges = 1;
  return GNN_OK;
}

int gnn_is_igb(const char *path) {
  char name[IGB_PATH_MOST];
  return snprintf(name, sizeof name, "%s/processed/paper/node_feat.npy", path) < IGB_PATH_MOST && gnn_npy_exists(name);
}

static gnn_status igb_read(igb_set *set, int classes) {
  gnn_status status = igb_list(set);
  int types = 0;
  for (int i = 0; status == GNN_OK && i < set->count; i++) types += igb_has(set, set->names[i], "node_feat.npy");
  for (int i = 0; status == GNN_OK && i < set->count; i++)
    if (igb_has(set, set->names[i], "node_feat.npy")) status = igb_type(set, set->names[i], types == 1, classes);
  for (int i = 0; status == GNN_OK && i < set->count; i++) {
    const char *first = strstr(set->names[i], "__");
    if (first && strstr(first + 2, "__") && igb_has(set, set->names[i], "edge_index.npy")) status = igb_relation(set, set->names[i], types == 1);
  }
  if (status == GNN_OK && !set->dataset->has_edges) status = gnn_fail(set->error, GNN_EDATA, "E0001", "\"%s\" has no paper__cites__paper/edge_index.npy", set->folder);
  return status;
}

gnn_status gnn_read_igb(gnn_dataset *dataset, const char *path, const char *size, int classes, gnn_error *error) {
  igb_set *set = calloc(1, sizeof *set);
  if (set == NULL) return gnn_fail_memory(error, (int64_t)sizeof *set);
  set->dataset = dataset;
  set->error = error;
  dataset->kind = "a folder of the Illinois Graph Benchmark";
  const int written = snprintf(set->folder, sizeof set->folder, "%s%s%s/processed", path, size ? "/" : "", size ? size : "");
  char name[80];
  snprintf(name, sizeof name, "igb%s%.60s", size ? "_" : "", size ? size : "");
  gnn_status status = gnn_dataset_set_name(dataset, name, error);
  if (status == GNN_OK && (written < 0 || written >= (int)sizeof set->folder || !igb_has(set, "paper", "node_feat.npy"))) {
    status = gnn_fail(error, GNN_EDATA, "E0001", "there is no \"%s/paper/node_feat.npy\"", set->folder);
    gnn_fail_help(error, "igb(\"DIR\", \"small\") reads DIR/small/processed");
  }
  if (status == GNN_OK) status = igb_read(set, classes);
  for (int i = 0; i < set->count; i++) free(set->names[i]);
  free(set);
  return status;
}
