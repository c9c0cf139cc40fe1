/* order_file.c: orders of nodes in files. */
#include "order_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "safetensors.h"
#include "kernels/cpu/random.h"

const char gnn_order_mark[] = "gnncc.order";

uint64_t gnn_graph_fingerprint(int64_t nodes, const int64_t *in_ptr, const int32_t *in_idx) {
  uint64_t hash = (uint64_t)nodes;
  for (int64_t v = 0; v < nodes; v++) hash = gnn_mix64(hash ^ (uint64_t)in_ptr[v + 1]);
  for (int64_t e = 0; e < in_ptr[nodes]; e++) hash = gnn_mix64(hash ^ (uint64_t)in_idx[e]);
  return hash ? hash : 1;
}

uint64_t gnn_order_fingerprint(int64_t nodes, const int32_t *order) {
  uint64_t hash = (uint64_t)nodes;
  for (int64_t i = 0; i < nodes; i++) hash = gnn_mix64(hash ^ (uint64_t)order[i]);
  return hash ? hash : 1;
}

static gnn_tensor order_tensor(const char *name, int directions, int64_t count, const void *data) {
  gnn_tensor tensor = {.name = name, .array = {.dtype = GNN_I64, .rank = directions ? 2 : 1, .count = count * (directions ? directions : 1), .data = data}};
  tensor.array.shape[0] = directions ? directions : count;
  tensor.array.shape[1] = count;
  return tensor;
}

gnn_status gnn_order_write(const char *path, const char *method, int64_t nodes, const int32_t *order, uint64_t graph, const gnn_halo *halo, gnn_error *error) {
  char of_graph[20];
  snprintf(of_graph, sizeof of_graph, "%016" PRIx64, graph);
  const gnn_pair pairs[] = {{gnn_order_mark, method}, {"graph", of_graph}};
  const int64_t blocks = halo ? INT64_C(1) << halo->levels : 0;
  int64_t *ids = malloc((size_t)(nodes + 8 * blocks) * sizeof *ids), *of_halo = ids + nodes, *of_interior = of_halo + 4 * blocks;
  if (ids == NULL) return gnn_fail_memory(error, nodes * (int64_t)sizeof *ids);
  for (int64_t i = 0; i < nodes; i++) ids[i] = order[i];
  for (int d = 0; halo && d < 2; d++) {
    memcpy(of_halo + d * 2 * blocks, halo->halo[d], (size_t)(2 * blocks) * sizeof *ids);
    memcpy(of_interior + d * 2 * blocks, halo->interior[d], (size_t)(2 * blocks) * sizeof *ids);
  }
  const gnn_tensor tensors[] = {order_tensor("order", 0, nodes, ids), order_tensor("blocks", 0, blocks + 1, halo ? halo->first : NULL),
                                order_tensor("halo", 2, 2 * blocks, of_halo), order_tensor("interior", 2, 2 * blocks, of_interior)};
  gnn_status status = gnn_safetensors_write(path, tensors, halo ? 4 : 1, pairs, sizeof pairs / sizeof *pairs, error);
  free(ids);
  return status;
}

/* The array into order[]: every node once. */
static gnn_status order_take(const char *path, const gnn_array *array, int64_t nodes, int32_t *order, gnn_error *error) {
  if (gnn_dtype_is_float(array->dtype) || array->rank != 1)
    return gnn_fail(error, GNN_EDATA, "E0710", "the order \"%s\" is stored as %s %s; a list of whole numbers is needed", path, gnn_dtype_name(array->dtype),
                    gnn_shape_text(array).text);
  if (array->count != nodes)
    return gnn_fail(error, GNN_EDATA, "E0710", "the order \"%s\" has %s nodes, the data %s", path, gnn_count_text(array->count).text, gnn_count_text(nodes).text);
  unsigned char *is_there = calloc((size_t)nodes + 1, 1);
  if (is_there == NULL) return gnn_fail_memory(error, nodes);
  gnn_status status = GNN_OK;
  for (int64_t i = 0; status == GNN_OK && i < nodes; i++) {
    const int64_t node = gnn_array_integer(array, i);
    if (node < 0 || node >= nodes)
      status = gnn_fail(error, GNN_EDATA, "E0710", "the order \"%s\" names node %lld at place %lld, but nodes run 0 … %lld", path, (long long)node, (long long)i,
                        (long long)nodes - 1);
    else if (is_there[node])
      status = gnn_fail(error, GNN_EDATA, "E0710", "the order \"%s\" names node %lld twice, last at place %lld", path, (long long)node, (long long)i);
    else {
      is_there[node] = 1;
      order[i] = (int32_t)node;
    }
  }
  free(is_there);
  return status;
}

static gnn_status order_refuse(const char *path, gnn_error *error) {
  gnn_status status = gnn_fail(error, GNN_EDATA, "E0710", "\"%s\" holds no order of nodes", path);
  gnn_fail_help(error, "gnndata order writes one; a .npy file with every node once is another");
  return status;
}

static gnn_status order_take_container(const char *path, const gnn_safetensors *file, int64_t nodes, uint64_t graph, int32_t *order, gnn_error *error) {
  const char *of_graph = gnn_safetensors_text(file, "graph");
  const gnn_array *array = gnn_safetensors_find(file, "order");
  if (gnn_safetensors_text(file, gnn_order_mark) == NULL || array == NULL || of_graph == NULL) return order_refuse(path, error);
  gnn_status status = order_take(path, array, nodes, order, error);
  if (status == GNN_OK && strtoull(of_graph, NULL, 16) != graph) {
    status = gnn_fail(error, GNN_EDATA, "E0710", "the order \"%s\" was made for another graph", path);
    gnn_fail_help(error, "make one for this: gnndata order, with the same --undirected and --self-loops as in the data block");
  }
  return status;
}

/* Enough to tell the forms from each other. */
static int64_t order_promise(const unsigned char *head, size_t size) {
  (void)head;
  return size < 9 ? 9 : -1;
}

gnn_status gnn_order_read(const char *path, int64_t nodes, uint64_t graph, int32_t *order, gnn_error *error) {
  gnn_file file;
  gnn_status status = gnn_file_open(path, order_promise, &file, error);
  if (status != GNN_OK) return status;
  const int is_numpy = file.size >= 6 && memcmp(file.data, "\x93NUMPY", 6) == 0;
  const int is_container = file.size >= 9 && file.data[8] == '{';
  gnn_file_close(&file);
  if (is_numpy) {
    gnn_array array;
    int is_transposed;
    status = gnn_npy_open(path, &file, &array, &is_transposed, error);
    if (status != GNN_OK) return status;
    status = gnn_file_check(&file, order_take(path, &array, nodes, order, error), error);
    gnn_file_close(&file);
    return status;
  }
  if (!is_container) return order_refuse(path, error);
  gnn_safetensors container;
  status = gnn_safetensors_open(path, &container, error);
  if (status != GNN_OK) return status;
  status = gnn_file_check(&container.file, order_take_container(path, &container, nodes, graph, order, error), error);
  gnn_safetensors_close(&container);
  return status;
}
