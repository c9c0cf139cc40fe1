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

#include "array_names.h"
#include "entries.h"
#include "keyed.h"
#include "npy.h"
#include "npy_types.h"
#include "readers.h"
#include "runtime/base/json.h"

enum { NPY_FOLDER_FILES_MAX = 1024, NPY_FOLDER_NAME_MAX = 256 };

typedef struct npy_folder {
  const char *path;
  int count;
  char names[NPY_FOLDER_FILES_MAX][NPY_FOLDER_NAME_MAX]; /* without .npy or .npy.gz, sorted, none twice */
  int64_t declared_edges, declared_classes;
  npy_relation_names relations;
} npy_folder;

int gnn_is_npy_folder(const char *path) {
  static const char *const edges[] = {"edge_index", "adj_t.indices", "adj.indices"};
  char name[4096];
  for (int i = 0; i < 3; i++)
    if (snprintf(name, sizeof name, "%s/%s.npy", path, edges[i]) < (int)sizeof name && gnn_npy_exists(name)) return 1;
  return snprintf(name, sizeof name, "%s/graph.json", path) < (int)sizeof name && gnn_path_exists(name);
}

int gnn_has_npy(const char *path) {
  DIR *handle = opendir(path);
  const struct dirent *entry;
  int has_one = 0;
  while (handle && !has_one && (entry = readdir(handle)) != NULL) {
    const size_t length = strlen(entry->d_name);
    has_one = (length > 4 && strcmp(entry->d_name + length - 4, ".npy") == 0) || (length > 7 && strcmp(entry->d_name + length - 7, ".npy.gz") == 0);
  }
  if (handle) closedir(handle);
  return has_one;
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
  int changed;
  gnn_status status = gnn_npy_open(path, &file, array, &changed, error);
  if (status == GNN_OK && changed) gnn_dataset_note(dataset, "%s %s", base, gnn_npy_changed(changed));
  if (status == GNN_OK) status = gnn_dataset_own_file(dataset, &file, error);
  free(path);
  return status;
}

static gnn_status npy_folder_types(const npy_folder *folder, gnn_dataset *dataset, const gnn_tensor *arrays, int count, gnn_error *error) {
  gnn_status status = npy_types_counts(dataset, arrays, count, error);
  for (int i = 0; status == GNN_OK && i < count; i++) status = npy_types_array(dataset, arrays, count, i, error);
  if (status == GNN_OK) status = npy_types_check(dataset, error);
  for (int f = 0; status == GNN_OK && f < dataset->field_count; f++) {
    const char *dot = strchr(dataset->fields[f].name, '.');
    if (dot && strcmp(dot, ".y") == 0 && dataset->fields[f].set == dataset->split_type) dataset->fields[f].declared_classes = folder->declared_classes;
  }
  return status;
}

gnn_status gnn_read_npy_folder(gnn_dataset *dataset, const char *path, gnn_error *error) {
  npy_folder *folder = calloc(1, sizeof *folder);
  if (folder == NULL) return gnn_fail_memory(error, (int64_t)sizeof *folder);
  folder->path = path;
  folder->declared_edges = folder->declared_classes = -1;
  const char *slash = strrchr(path, '/');
  gnn_status status = GNN_OK;
  if (slash && slash[1]) status = gnn_dataset_set_name(dataset, slash + 1, error);
  dataset->kind = "a folder of NumPy arrays";
  if (status == GNN_OK && !gnn_path_is_directory(path)) status = gnn_fail_file(error, "open", path, ENOTDIR);
  if (status == GNN_OK) status = npy_folder_about(folder, dataset, error);
  if (status == GNN_OK) status = npy_folder_list(folder, error);
  gnn_tensor *arrays = status == GNN_OK ? malloc((2 * (size_t)folder->count + 1) * sizeof *arrays) : NULL; /* three parts of a sparse matrix may become four */
  if (status == GNN_OK && arrays == NULL) status = gnn_fail_memory(error, 4096);
  for (int i = 0; status == GNN_OK && i < folder->count; i++) {
    arrays[i].name = folder->names[i];
    status = npy_folder_array(folder, dataset, folder->names[i], &arrays[i].array, error);
  }
  int count = folder->count;
  if (status == GNN_OK && dataset->type_count == 0) status = gnn_array_undo_types(dataset, arrays, count, error);
  if (status == GNN_OK) status = gnn_entries_sort(dataset, arrays, &count, error);
  const gnn_keyed keyed = {.path = path, .ending = ".npy", .count = count, .arrays = arrays, .declared_edges = folder->declared_edges, .declared_classes = folder->declared_classes,
                           .relations = &folder->relations};
  if (status == GNN_OK) status = dataset->type_count ? npy_folder_types(folder, dataset, arrays, count, error) : gnn_read_keyed(dataset, &keyed, error);
  free(arrays);
  free(folder);
  return status;
}
