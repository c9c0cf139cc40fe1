/* npy_folder.c: a folder of NumPy arrays: edge_index.npy [2, E] (row 0 the sources), x, y, masks, further arrays by name,
 * and graph.json with what arrays cannot say. Any of the arrays may be gzipped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "npy_types.h"
#include "readers.h"
#include "runtime/base/json.h"

enum { NPY_FOLDER_FILES_MAX = 256, NPY_FOLDER_NAME_MAX = 128 };

typedef struct npy_folder {
  const char *path;
  int count;
  char names[NPY_FOLDER_FILES_MAX][NPY_FOLDER_NAME_MAX]; /* without .npy or .npy.gz, sorted, none twice */
  int64_t declared_edges, declared_classes;
  int64_t graph_pointers; /* entries of graph_ptr; 0: absent */
  npy_relation_names relations;
} npy_folder;

int gnn_is_npy_folder(const char *path) {
  char name[4096];
  if (snprintf(name, sizeof name, "%s/edge_index.npy", path) < (int)sizeof name && gnn_npy_exists(name)) return 1;
  return snprintf(name, sizeof name, "%s/graph.json", path) < (int)sizeof name && gnn_path_exists(name);
}

static int npy_folder_by_name(const void *a, const void *b) { return strcmp(a, b); }

static gnn_status npy_folder_list(npy_folder *folder, gnn_error *error) {
  DIR *handle = opendir(folder->path);
  if (handle == NULL) return gnn_fail_file(error, "open", folder->path, errno);
  gnn_status status = GNN_OK;
  const struct dirent *entry;
  while (status == GNN_OK && (entry = readdir(handle)) != NULL) {
    size_t length = strlen(entry->d_name);
    if (length > 7 && strcmp(entry->d_name + length - 7, ".npy.gz") == 0) length -= 7;
    else if (length > 4 && strcmp(entry->d_name + length - 4, ".npy") == 0) length -= 4;
    else continue;
    if (length >= NPY_FOLDER_NAME_MAX || folder->count == NPY_FOLDER_FILES_MAX) {
      status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds more than %d arrays, or one with a name of more than %d characters",
                        folder->path, NPY_FOLDER_FILES_MAX, NPY_FOLDER_NAME_MAX - 1);
      break;
    }
    memcpy(folder->names[folder->count], entry->d_name, length);
    folder->names[folder->count++][length] = 0;
  }
  closedir(handle);
  qsort(folder->names, (size_t)folder->count, NPY_FOLDER_NAME_MAX, npy_folder_by_name);
  int kept = 0;
  for (int i = 0; i < folder->count; i++) {
    if (kept > 0 && strcmp(folder->names[kept - 1], folder->names[i]) == 0) continue;
    if (kept != i) memcpy(folder->names[kept], folder->names[i], NPY_FOLDER_NAME_MAX);
    kept++;
  }
  folder->count = kept;
  return status;
}

static gnn_status npy_folder_number(const char *path, const gnn_json *json, const char *key, int64_t *value,
                                    gnn_error *error) {
  const gnn_json_node *node = gnn_json_member(json, &json->nodes[0], key);
  if (node == NULL) return GNN_OK;
  if (node->kind != GNN_JSON_NUMBER || !node->is_integer || node->integer < 0)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": \"%s\" must be a whole number of at least 0", path, key);
  *value = node->integer;
  return GNN_OK;
}

/* "node_types" make the folder one of several types of nodes, "relation_names" give names to the numbers in edge_type. */
static gnn_status npy_folder_about(npy_folder *folder, gnn_dataset *dataset, gnn_error *error) {
  char *path = gnn_path_join(folder->path, "graph.json");
  if (path == NULL) return gnn_fail_memory(error, 256);
  gnn_file file = {0};
  gnn_json json = {0};
  gnn_status status = GNN_OK;
  if (!gnn_path_exists(path)) goto done;
  status = gnn_file_open(path, gnn_file_text, &file, error);
  if (status == GNN_OK) status = gnn_file_check(&file, gnn_json_parse(path, file.data, file.size, &json, error), error);
  if (status != GNN_OK) goto done;
  if (json.nodes[0].kind != GNN_JSON_OBJECT) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is not a JSON object", path);
    goto done;
  }
  status = npy_folder_number(path, &json, "num_nodes", &dataset->declared_nodes, error);
  if (status == GNN_OK) status = npy_folder_number(path, &json, "num_edges", &folder->declared_edges, error);
  if (status == GNN_OK) status = npy_folder_number(path, &json, "num_classes", &folder->declared_classes, error);
  if (status == GNN_OK) status = npy_types_names(dataset, &json, &folder->relations, error);
  if (status == GNN_OK) status = npy_types_declared(dataset, &json, error);
  const gnn_json_node *name = gnn_json_member(&json, &json.nodes[0], "name");
  if (status == GNN_OK && name && name->kind == GNN_JSON_STRING)
    status = gnn_dataset_set_name(dataset, name->text, error);
done:
  gnn_json_free(&json);
  gnn_file_close(&file);
  free(path);
  return status;
}

static gnn_status npy_folder_array(npy_folder *folder, gnn_dataset *dataset, const char *name, gnn_array *array,
                                   gnn_error *error) {
  char base[NPY_FOLDER_NAME_MAX + 8];
  snprintf(base, sizeof base, "%s.npy", name);
  char *path = gnn_path_join(folder->path, base);
  if (path == NULL) return gnn_fail_memory(error, 256);
  gnn_file file;
  int is_transposed;
  gnn_status status = gnn_npy_open(path, &file, array, &is_transposed, error);
  if (status == GNN_OK && is_transposed) gnn_dataset_note(dataset, "%s is stored in Fortran order and was transposed", base);
  if (status == GNN_OK) status = gnn_dataset_own_file(dataset, &file, error);
  free(path);
  return status;
}

static gnn_status npy_folder_edges(npy_folder *folder, gnn_dataset *dataset, const gnn_array *array, gnn_error *error) {
  if (array->rank != 2 || (array->shape[0] != 2 && array->shape[1] != 2))
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": edge_index has the shape %s; [2, edges] is needed", folder->path,
                    gnn_shape_text(array).text);
  int64_t edges = array->count / 2, width = gnn_dtype_bytes(array->dtype);
  dataset->raw_source = (gnn_array){.dtype = array->dtype, .rank = 1, .shape = {edges}, .count = edges, .data = array->data};
  dataset->raw_destination = dataset->raw_source;
  if (array->shape[0] == 2) {
    dataset->raw_destination.data = array->data + edges * width;
  } else {
    unsigned char *split = gnn_dataset_alloc(dataset, array->count, width, error);
    if (split == NULL) return GNN_ENOMEM;
    for (int64_t e = 0; e < edges; e++) {
      memcpy(split + e * width, array->data + 2 * e * width, (size_t)width);
      memcpy(split + (edges + e) * width, array->data + (2 * e + 1) * width, (size_t)width);
    }
    dataset->raw_source.data = split;
    dataset->raw_destination.data = split + edges * width;
    gnn_dataset_note(dataset, "edge_index is stored as [edges, 2]");
  }
  dataset->has_edges = 1;
  if (folder->declared_edges >= 0 && folder->declared_edges != edges)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\": graph.json says %s edges, edge_index has %s", folder->path,
                    gnn_count_text(folder->declared_edges).text, gnn_count_text(edges).text);
  return GNN_OK;
}

/* train_mask, val_mask, train_masks, ...: which split, and whether there are several. */
static int npy_folder_is_mask(const char *name, int *split, int *is_many) {
  static const struct { const char *word; int split; } words[] = {
    {"train", GNN_TRAIN}, {"val", GNN_VALID}, {"valid", GNN_VALID}, {"test", GNN_TEST}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].word);
    if (strncmp(name, words[i].word, length) != 0) continue;
    *split = words[i].split;
    *is_many = strcmp(name + length, "_masks") == 0;
    if (*is_many || strcmp(name + length, "_mask") == 0) return 1;
  }
  return 0;
}

static gnn_status npy_folder_field(npy_folder *folder, gnn_dataset *dataset, const char *name, const gnn_array *array,
                                   gnn_error *error) {
  int64_t rows = array->rank ? array->shape[0] : -1, graphs = folder->graph_pointers - 1;
  gnn_domain domain;
  if (strncmp(name, "edge_", 5) == 0) domain = GNN_EDGE;
  else if (strcmp(name, "x") == 0) domain = GNN_NODE;
  else if (strcmp(name, "y") == 0) domain = folder->graph_pointers && (rows == graphs || rows != dataset->declared_nodes) ? GNN_GRAPH : GNN_NODE;
  else if (rows == dataset->declared_nodes) domain = GNN_NODE;
  else if (rows == dataset->raw_source.count) domain = GNN_EDGE;
  else if (folder->graph_pointers && rows == graphs) domain = GNN_GRAPH;
  else {
    gnn_dataset_note(dataset, "%s.npy is not used: its shape %s fits neither nodes nor edges", name,
                     gnn_shape_text(array).text);
    return GNN_OK;
  }
  gnn_status status = gnn_dataset_add_field(dataset, name, domain, array, error);
  if (status == GNN_OK && strcmp(name, "y") == 0)
    dataset->fields[dataset->field_count - 1].declared_classes = folder->declared_classes;
  return status;
}

gnn_status gnn_read_npy_folder(gnn_dataset *dataset, const char *path, gnn_error *error) {
  npy_folder *folder = calloc(1, sizeof *folder);
  if (folder == NULL) return gnn_fail_memory(error, (int64_t)sizeof *folder);
  folder->path = path;
  folder->declared_edges = folder->declared_classes = -1;
  const char *slash = strrchr(path, '/');
  gnn_array array;
  gnn_status status = GNN_OK;
  if (slash && slash[1]) status = gnn_dataset_set_name(dataset, slash + 1, error);
  dataset->kind = "a folder of NumPy arrays";
  if (status == GNN_OK && !gnn_path_is_directory(path)) status = gnn_fail_file(error, "open", path, ENOTDIR);
  if (status == GNN_OK) status = npy_folder_about(folder, dataset, error);
  if (status == GNN_OK) status = npy_folder_list(folder, error);
  if (status == GNN_OK && dataset->type_count) {
    for (int i = 0; status == GNN_OK && i < folder->count; i++) {
      status = npy_folder_array(folder, dataset, folder->names[i], &array, error);
      if (status == GNN_OK) status = npy_types_array(dataset, folder->names[i], &array, npy_folder_is_mask, error);
    }
    if (status == GNN_OK) status = npy_types_check(dataset, error);
    for (int f = 0; status == GNN_OK && f < dataset->field_count; f++) {
      const char *dot = strchr(dataset->fields[f].name, '.');
      if (dot && strcmp(dot, ".y") == 0 && dataset->fields[f].set == dataset->split_type) dataset->fields[f].declared_classes = folder->declared_classes;
    }
    free(folder);
    return status;
  }
  /* The edges and the sizes come first: where other arrays belong is told from their lengths. */
  for (int i = 0; status == GNN_OK && i < folder->count; i++) {
    const char *name = folder->names[i];
    int is_x = strcmp(name, "x") == 0;
    if (strcmp(name, "edge_index") == 0) {
      status = npy_folder_array(folder, dataset, name, &array, error);
      if (status == GNN_OK) status = npy_folder_edges(folder, dataset, &array, error);
    } else if (strcmp(name, "graph_ptr") == 0) {
      status = npy_folder_array(folder, dataset, name, &array, error);
      if (status == GNN_OK && (array.rank != 1 || array.count < 1 || gnn_dtype_is_float(array.dtype)))
        status = gnn_fail(error, GNN_EDATA, "", "\"%s\": graph_ptr has the shape %s; [graphs + 1] is needed", path,
                          gnn_shape_text(&array).text);
      folder->graph_pointers = array.count;
      dataset->declared_graphs = array.count - 1;
      dataset->raw_graph_ptr = array;
    } else if (is_x || (strcmp(name, "y") == 0 && dataset->declared_nodes < 0)) {
      if (dataset->declared_nodes >= 0) continue;
      status = npy_folder_array(folder, dataset, name, &array, error);
      if (status == GNN_OK && array.rank > 0 && !(folder->graph_pointers && !is_x)) dataset->declared_nodes = array.shape[0];
    }
  }
  if (status == GNN_OK && !dataset->has_edges)
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has no edge_index.npy", path);
  for (int i = 0; status == GNN_OK && i < folder->count; i++) {
    const char *name = folder->names[i];
    int split, is_many;
    if (strcmp(name, "edge_index") == 0 || strcmp(name, "graph_ptr") == 0) continue;
    status = npy_folder_array(folder, dataset, name, &array, error);
    if (status != GNN_OK) break;
    if (strcmp(name, "fold") == 0) dataset->raw_fold = array;
    else if (strcmp(name, "edge_type") == 0) status = npy_types_split(dataset, &array, &folder->relations, error);
    else if (npy_folder_is_mask(name, &split, &is_many)) {
      if (is_many) dataset->raw_splits[split] = array;
      else dataset->raw_split[split] = array;
    } else {
      status = npy_folder_field(folder, dataset, name, &array, error);
    }
  }
  free(folder);
  return status;
}
