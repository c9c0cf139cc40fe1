/* prepare_order.c: the graph in another order of its nodes. Every node keeps its fields; the neighbours of each ascend in the new numbers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "order_file.h"
#include "prepare.h"
#include "runtime/core/adjacency.h"

/* The graph by sources, as the data number the nodes. */
typedef struct order_out {
  int64_t *ptr, *edge; /* edge: where an entry stands in the graph by destinations */
  int32_t *to;
} order_out;

static void order_out_free(order_out *out) {
  free(out->ptr);
  free(out->to);
  free(out->edge);
}

/* malloc'ed; NULL: there is no such folder, or no memory. */
static char *order_cache(uint64_t graph) {
  gnn_text text = {0};
  if (!gnn_cache_folder(&text)) return NULL;
  gnn_text_format(&text, "/order-%d-%016" PRIx64 ".safetensors", GNN_ORDER_VERSION, graph);
  if (!text.is_broken) return text.data;
  gnn_text_free(&text);
  return NULL;
}

static gnn_status order_remember(char *path, int64_t nodes, const int32_t *order, uint64_t graph, gnn_error *error) {
  char *slash = strrchr(path, '/');
  *slash = 0;
  gnn_status status = gnn_make_directories(path, error);
  *slash = '/';
  return status == GNN_OK ? gnn_order_write(path, "nested", nodes, order, graph, NULL, error) : status;
}

/* From the cache, or made and put there. What lies there is a copy: where it is damaged or cannot be written nothing is lost. */
static gnn_status order_nested(gnn_dataset *dataset, const order_out *out, uint64_t graph, int32_t *order, gnn_error *error) {
  char *path = order_cache(graph);
  gnn_error cause;
  gnn_status status = GNN_OK;
  if (path == NULL || !gnn_path_exists(path) || gnn_order_read(path, dataset->nodes, graph, order, &cause) != GNN_OK) {
    const int64_t *out_ptr = dataset->is_symmetric ? dataset->in_ptr : out->ptr;
    const int32_t *to = dataset->is_symmetric ? dataset->in_source : out->to;
    status = gnn_order_nested(dataset->nodes, dataset->in_ptr, dataset->in_source, out_ptr, to, order, error);
    if (status == GNN_OK && path && order_remember(path, dataset->nodes, order, graph, &cause) != GNN_OK)
      gnn_dataset_note(dataset, "the order of the nodes is not kept for the next time: %s", cause.message);
  }
  free(path);
  return status;
}

gnn_status gnn_prepare_own_order(gnn_dataset *dataset, const gnn_recipe *recipe, int *is_there, gnn_error *error) {
  gnn_error cause;
  char *made = recipe->order == GNN_ORDER_NESTED ? order_cache(recipe->graph_fingerprint) : NULL;
  const char *path = made ? made : recipe->order_path;
  int32_t *order = gnn_dataset_alloc(dataset, dataset->nodes, sizeof *order, error);
  *is_there = order && path && gnn_path_exists(path) && gnn_order_read(path, dataset->nodes, recipe->graph_fingerprint, order, &cause) == GNN_OK;
  free(made);
  if (order == NULL) return GNN_ENOMEM;
  if (!*is_there) return GNN_OK;
  dataset->order_fingerprint = gnn_order_fingerprint(dataset->nodes, order);
  *is_there = recipe->order_fingerprint == 0 || recipe->order_fingerprint == dataset->order_fingerprint;
  dataset->graph_fingerprint = recipe->graph_fingerprint;
  if (*is_there) dataset->node_id = order;
  return GNN_OK;
}

/* From old numbers to new ones. Sources ascend, so they ascend in every row that they are appended to. */
static gnn_status order_renumber(gnn_dataset *dataset, const order_out *out, const int32_t *order, int64_t *origin, gnn_error *error) {
  const int64_t nodes = dataset->nodes, edges = dataset->edges;
  int64_t *in_ptr = gnn_dataset_alloc(dataset, nodes + 1, sizeof *in_ptr, error), *edge_id = gnn_dataset_alloc(dataset, edges, sizeof *edge_id, error);
  int32_t *in_source = gnn_dataset_alloc(dataset, edges, sizeof *in_source, error);
  int32_t *place = malloc((size_t)nodes * sizeof *place + 1);
  int64_t *moved = origin ? malloc((size_t)edges * sizeof *moved + 1) : NULL;
  const int is_whole = in_ptr && edge_id && in_source && place && (!origin || moved);
  if (is_whole) {
    in_ptr[0] = 0;
    for (int64_t i = 0; i < nodes; i++) {
      place[order[i]] = (int32_t)i;
      in_ptr[i + 1] = in_ptr[i] + dataset->in_ptr[order[i] + 1] - dataset->in_ptr[order[i]];
    }
    for (int64_t i = 0; i < nodes; i++)
      for (int64_t k = out->ptr[order[i]]; k < out->ptr[order[i] + 1]; k++) {
        const int64_t at = in_ptr[place[out->to[k]]]++;
        in_source[at] = (int32_t)i;
        edge_id[at] = out->edge[k];
      }
    memmove(in_ptr + 1, in_ptr, (size_t)nodes * sizeof *in_ptr);
    in_ptr[0] = 0;
    for (int64_t e = 0; origin && e < edges; e++) moved[e] = origin[edge_id[e]];
    if (origin && edges) memcpy(origin, moved, (size_t)edges * sizeof *moved);
    dataset->in_ptr = in_ptr;
    dataset->in_source = in_source;
    dataset->edge_id = edge_id;
    dataset->node_id = order;
  }
  free(place);
  free(moved);
  return is_whole ? GNN_OK : gnn_fail_memory(error, edges * (int64_t)sizeof *edge_id);
}

gnn_status gnn_prepare_order(gnn_dataset *dataset, const gnn_recipe *recipe, int64_t *origin, gnn_error *error) {
  const int64_t nodes = dataset->nodes, edges = dataset->edges;
  if (recipe->order == GNN_ORDER_GIVEN) return GNN_OK;
  const uint64_t graph = dataset->graph_fingerprint = gnn_graph_fingerprint(nodes, dataset->in_ptr, dataset->in_source);
  int32_t *order = gnn_dataset_alloc(dataset, nodes, sizeof *order, error);
  order_out out = {malloc((size_t)(nodes + 1) * sizeof *out.ptr), malloc((size_t)edges * sizeof *out.edge + 1), malloc((size_t)edges * sizeof *out.to + 1)};
  gnn_status status = order == NULL ? GNN_ENOMEM : out.ptr && out.edge && out.to ? GNN_OK : gnn_fail_memory(error, edges * (int64_t)sizeof *out.edge);
  if (status == GNN_OK) {
    gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, nodes, nodes, out.ptr, out.to, out.edge);
    status = recipe->order == GNN_ORDER_NESTED ? order_nested(dataset, &out, graph, order, error)
                                               : gnn_order_read(recipe->order_path, nodes, graph, order, error);
  }
  if (status == GNN_OK) {
    dataset->order_fingerprint = gnn_order_fingerprint(nodes, order);
    if (recipe->order_fingerprint && recipe->order_fingerprint != dataset->order_fingerprint) {
      status = gnn_fail(error, GNN_EDATA, "E0710", "the order \"%s\" is not the one that the program was compiled with", recipe->order_path);
      gnn_fail_help(error, "compile again");
    }
  }
  if (status == GNN_OK) status = order_renumber(dataset, &out, order, origin, error);
  order_out_free(&out);
  return status;
}
