/* parts.c: gnndata order, and what info says of parts. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnndata.h"
#include "classic_orders.h"
#include "partition.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/blocks.h"
#include "runtime/data/order_file.h"
#include "runtime/data/safetensors.h"

/* out_ptr[nodes + 1]: where each node's out-edges begin; to be freed. */
static gnn_status parts_count(const gnn_dataset *dataset, gnn_halo *halo, int64_t **out_ptr, gnn_error *error) {
  const int64_t nodes = dataset->nodes, edges = dataset->edges;
  int64_t *ptr = malloc((size_t)(nodes + 1) * sizeof *ptr);
  int32_t *to = malloc((size_t)edges * sizeof *to + 1);
  gnn_status status = ptr && to ? GNN_OK : gnn_fail_memory(error, edges * (int64_t)sizeof *to);
  if (status == GNN_OK) {
    gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, nodes, nodes, ptr, to, NULL);
    status = gnn_halo_count(nodes, dataset->in_ptr, dataset->in_source, ptr, to, halo, error);
  }
  free(to);
  if (status == GNN_OK && out_ptr) *out_ptr = ptr;
  else free(ptr);
  return status;
}

enum { PARTS_COLUMNS = 4 };
static const int parts_levels[PARTS_COLUMNS] = {1, 2, 4, 6};

/* "order" or nothing, what is told, a number for each count of parts that there are, its meaning. */
static void parts_row(const char *order, const char *what, const double *numbers, const char *meaning) {
  printf("  %-8s %-9s", order, what);
  for (int i = 0; i < PARTS_COLUMNS; i++) {
    if (numbers[i] < 0) printf("%8s", "-");
    else printf("%8.2f", numbers[i]);
  }
  printf("%s%s\n", *meaning ? "   " : "", meaning);
}

/* Rows that come where parts take turns and what the part before has gathered, or owns, stays: its own and those that it gathers over in-edges. latest[nodes] */
static int64_t parts_moved(const gnn_dataset *dataset, const gnn_halo *halo, int level, int32_t *latest) {
  int64_t moved = 0;
  for (int64_t v = 0; v < dataset->nodes; v++) latest[v] = -2;
  for (int32_t part = 0; part < 1 << level; part++) {
    int64_t begin, rows = gnn_halo_part(halo, level, part, &begin);
    for (int64_t v = begin; v < begin + rows; v++) {
      moved += latest[v] < part - 1;
      latest[v] = part;
    }
    for (int64_t e = dataset->in_ptr[begin]; e < dataset->in_ptr[begin + rows]; e++) {
      moved += latest[dataset->in_source[e]] < part - 1;
      latest[dataset->in_source[e]] = part;
    }
  }
  return moved;
}

static void parts_print(const char *order, int is_explained, const gnn_dataset *dataset, const gnn_halo *halo, const int64_t *out_ptr, int32_t *latest) {
  static const char *const what[2][3] = {{"halo", "interior", "largest"}, {"back halo", "interior", "largest"}};
  static const char *const meaning[2][3] = {
    {"rows that parts gather from others, over all rows", "rows that gather from no other part, over all rows", "rows of the largest part with its halo, over all rows"},
    {"the same against the edges, as the backward pass gathers", "", ""}};
  const double nodes = (double)dataset->nodes, work = (double)(2 * dataset->edges + dataset->nodes);
  double numbers[2][3][PARTS_COLUMNS], moved[PARTS_COLUMNS], balance[PARTS_COLUMNS];
  for (int i = 0; i < PARTS_COLUMNS; i++) {
    const int level = parts_levels[i], is_there = level <= halo->levels;
    for (int d = 0; d < 2; d++) {
      const gnn_halo_sum sum = is_there ? gnn_halo_of(halo, level, d) : (gnn_halo_sum){0};
      const double of[3] = {(double)sum.halo / nodes, (double)sum.interior / nodes, (double)sum.largest / nodes};
      for (int k = 0; k < 3; k++) numbers[d][k][i] = is_there ? of[k] : -1;
    }
    moved[i] = is_there ? (double)parts_moved(dataset, halo, level, latest) / nodes : -1;
    balance[i] = is_there ? 0 : -1;
    for (int64_t part = 0; is_there && part < INT64_C(1) << level; part++) {
      int64_t begin, rows = gnn_halo_part(halo, level, part, &begin), end = begin + rows;
      const double own = (double)(dataset->in_ptr[end] - dataset->in_ptr[begin] + out_ptr[end] - out_ptr[begin] + rows) * (double)(1 << level) / work;
      if (own > balance[i]) balance[i] = own;
    }
  }
  for (int d = 0; d < (dataset->is_symmetric ? 1 : 2); d++)
    for (int k = 0; k < 3; k++) parts_row(d + k ? "" : order, what[d][k], numbers[d][k], is_explained ? meaning[d][k] : "");
  parts_row("", "moved", moved, !is_explained ? "" : "rows of parts with their halos that the part before does not have, over all rows");
  parts_row("", "work", balance, !is_explained ? "" : "entries and rows of the part that has most, over the mean");
}

static gnn_status parts_print_of(const char *order, int is_explained, const gnn_dataset *dataset) {
  gnn_halo halo;
  gnn_error error;
  int64_t *out_ptr = NULL;
  gnn_status status = parts_count(dataset, &halo, &out_ptr, &error);
  if (status != GNN_OK) return gnndata_fail(status, &error), status;
  int32_t *latest = malloc((size_t)dataset->nodes * sizeof *latest);
  if (latest) parts_print(order, is_explained, dataset, &halo, out_ptr, latest);
  else gnndata_fail(status = gnn_fail_memory(&error, dataset->nodes * (int64_t)sizeof *latest), &error);
  gnn_halo_free(&halo);
  free(out_ptr);
  free(latest);
  return status;
}

static gnn_recipe parts_recipe(const gnn_recipe *recipe, const char *order) {
  gnn_recipe result = *recipe;
  const int is_given = order == NULL || strcmp(order, "given") == 0, is_nested = order && strcmp(order, "nested") == 0;
  result.order = is_given ? GNN_ORDER_GIVEN : is_nested ? GNN_ORDER_NESTED : GNN_ORDER_FILE;
  result.order_path = is_given || is_nested ? NULL : order;
  return result;
}

gnn_status gnndata_print_parts(const gnn_dataset *dataset, const gnndata_options *options) {
  const int is_cut = gnn_order_levels(dataset->nodes) > 0;
  printf("parts     ");
  for (int i = 0; is_cut && i < PARTS_COLUMNS; i++) printf("%*d", i ? 8 : 18, 1 << parts_levels[i]);
  if (is_cut) printf("\n");
  else printf(" one: fewer than %d nodes are not cut\n", 2 * GNN_BLOCK_LEAST_ROWS);
  gnn_status status = is_cut ? parts_print_of("given", 1, dataset) : GNN_OK;
  gnndata_options of_order = *options;
  of_order.recipe = parts_recipe(&options->recipe, options->order);
  if (status != GNN_OK || of_order.recipe.order == GNN_ORDER_GIVEN) return status;
  gnn_dataset *ordered;
  status = gnndata_open(options->words[0], &of_order, &ordered);
  if (status != GNN_OK) return status;
  if (is_cut) status = parts_print_of(of_order.recipe.order == GNN_ORDER_NESTED ? "nested" : "file", 0, ordered);
  gnn_dataset_close(ordered);
  return status;
}

static gnn_status parts_write(const gnn_dataset *dataset, const char *path, const char *method, gnn_error *error) {
  gnn_halo halo = {0};
  int32_t *given = malloc((size_t)dataset->nodes * sizeof *given + 1);
  gnn_status status = given ? parts_count(dataset, &halo, NULL, error) : gnn_fail_memory(error, dataset->nodes * (int64_t)sizeof *given);
  for (int64_t v = 0; given && v < dataset->nodes; v++) given[v] = (int32_t)v;
  if (status == GNN_OK) {
    const uint64_t graph = dataset->node_id ? dataset->graph_fingerprint : gnn_graph_fingerprint(dataset->nodes, dataset->in_ptr, dataset->in_source);
    status = gnn_order_write(path, method, dataset->nodes, dataset->node_id ? dataset->node_id : given, graph, &halo, error);
  }
  gnn_halo_free(&halo);
  free(given);
  return status;
}

/* "data/cora.safetensors" gives "cora.order". */
static void parts_name(const char *data, gnn_text *name) {
  size_t length = strlen(data);
  while (length > 1 && data[length - 1] == '/') length--;
  size_t begin = length;
  while (begin > 0 && data[begin - 1] != '/') begin--;
  if (length - begin > 12 && strncmp(data + length - 12, ".safetensors", 12) == 0) length -= 12;
  gnn_text_format(name, "%.*s.order", (int)(length - begin), data + begin);
}

static int parts_is_classic(const char *method) { return strcmp(method, "degree") == 0 || strcmp(method, "rcm") == 0; }

/* Of the graph as it is given: by the parts of METIS or of a file, which need not be aware of blocks, or without parts. */
gnn_status gnndata_write_order(const gnn_dataset *dataset, const char *path, const char *method, gnn_error *error) {
  const int64_t nodes = dataset->nodes, edges = dataset->edges;
  const int is_metis = strcmp(method, "metis") == 0, is_classic = parts_is_classic(method);
  int64_t *out_ptr = NULL, parts = INT64_C(1) << gnn_order_levels(nodes);
  int32_t *to = NULL, *part = malloc((size_t)nodes * sizeof *part), *order = malloc((size_t)nodes * sizeof *order);
  gnn_status status = part && order ? GNN_OK : gnn_fail_memory(error, nodes * 8);
  if (status == GNN_OK && !dataset->is_symmetric) {
    out_ptr = malloc((size_t)(nodes + 1) * sizeof *out_ptr);
    to = malloc((size_t)edges * sizeof *to + 1);
    if (out_ptr && to) gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, nodes, nodes, out_ptr, to, NULL);
    else status = gnn_fail_memory(error, edges * (int64_t)sizeof *to);
  }
  const graph_rows rows = graph_rows_of(dataset, out_ptr, to);
  gnn_halo halo = {0};
  if (status == GNN_OK && is_classic) {
    const two_way_rows both = {nodes, dataset->in_ptr, out_ptr ? out_ptr : dataset->in_ptr, dataset->in_source, to ? to : dataset->in_source};
    status = strcmp(method, "rcm") == 0 ? order_rcm(&both, order, error) : order_by_degree(&both, order, error);
  } else if (status == GNN_OK) {
    status = is_metis ? partition_metis(&rows, part, parts, error) : partition_read(method, nodes, part, &parts, error);
    if (status == GNN_OK) status = partition_order(&rows, part, parts, is_metis, order, error);
  }
  if (status == GNN_OK) status = partition_halo(&rows, order, &halo, error);
  if (status == GNN_OK) status = gnn_order_write(path, is_metis || is_classic ? method : "file", nodes, order, gnn_graph_fingerprint(nodes, dataset->in_ptr, dataset->in_source), &halo, error);
  gnn_halo_free(&halo);
  free(out_ptr);
  free(to);
  free(part);
  free(order);
  return status;
}

/* The edges stay on the disk. */
static gnn_status parts_streamed(const char *data, const char *path, int64_t memory, int64_t *nodes, gnn_error *error) {
  graph_rows rows;
  gnn_halo halo = {0};
  ingest_progress progress;
  ingest_progress_begin(&progress);
  size_t block = (size_t)(memory / 64 < 1 << 16 ? 1 << 16 : memory / 64 > 1 << 24 ? 1 << 24 : memory / 64);
  block -= block % 4096;
  gnn_status status = graph_rows_open(data, block, &rows, error);
  if (status != GNN_OK) return status;
  *nodes = rows.nodes;
  const int64_t needed = rows.nodes * 16 + (1 << 20) + 8 * (int64_t)block;
  int32_t *order = NULL;
  if (memory < needed) {
    status = gnn_fail(error, GNN_EINVAL, "", "--memory=%s is too little: the order of %s nodes takes %s", gnn_bytes_text(memory).text, gnn_count_text(rows.nodes).text, gnn_bytes_above_text(needed).text);
  } else if ((order = malloc((size_t)rows.nodes * sizeof *order)) == NULL) {
    status = gnn_fail_memory(error, rows.nodes * (int64_t)sizeof *order);
  }
  if (status == GNN_OK) status = partition_streamed(&rows, order, &progress, error);
  if (status == GNN_OK) status = partition_halo(&rows, order, &halo, error);
  if (status == GNN_OK) status = gnn_order_write(path, "nested, from the disk", rows.nodes, order, rows.fingerprint, &halo, error);
  if (status == GNN_OK) ingest_progress_say(&progress, 1, "ordered %s nodes with %s edges in %s", gnn_count_text(rows.nodes).text, gnn_count_text(rows.edges).text, gnn_seconds_text(ingest_progress_seconds(&progress)).text);
  gnn_halo_free(&halo);
  graph_rows_close(&rows);
  free(order);
  return status;
}

/* What the other way holds: the graph as read, turned, renumbered, and where its edges stem from. */
static gnn_status parts_fit(const char *data, int64_t memory, int *fits, gnn_error *error) {
  gnn_safetensors file;
  *fits = 1;
  if (gnn_path_is_directory(data) || !gnn_path_exists(data)) return GNN_OK; /* of another form, or not at all */
  const gnn_status status = gnn_safetensors_peek(data, &file, error);
  if (status != GNN_OK) return status == GNN_EDATA ? GNN_OK : status;
  const gnn_array *ptr = gnn_safetensors_find(&file, "csr.rowptr"), *column = gnn_safetensors_find(&file, "csr.col");
  if (ptr && column) *fits = 60.0 * (double)ptr->count + 32.0 * (double)column->count <= (double)memory;
  gnn_safetensors_close(&file);
  return GNN_OK;
}

int gnndata_order(const gnndata_options *options) {
  const char *method = options->method ? options->method : "nested", *data = options->words[0];
  const int is_nested = strcmp(method, "nested") == 0, is_plain = is_nested || strcmp(method, "given") == 0;
  const gnn_recipe recipe = parts_recipe(&options->recipe, is_plain ? method : "given");
  int fits = 1;
  gnn_dataset *dataset = NULL;
  gnn_error error = {0};
  gnn_text name = {0};
  int64_t nodes = 0;
  parts_name(data, &name);
  const char *path = options->output ? options->output : name.data;
  gnn_status status = path ? gnndata_may_write(path, gnn_order_mark, options->is_forced, &error) : gnn_fail_memory(&error, 64);
  if (status == GNN_OK && options->memory_bytes && !is_nested)
    status = gnn_fail(&error, GNN_EINVAL, "", "--memory is for --method=nested; others hold the graph");
  if (status == GNN_OK && options->memory_bytes) status = parts_fit(data, options->memory_bytes, &fits, &error);
  const int is_streamed = is_nested && !fits;
  if (status == GNN_OK && is_streamed && (recipe.is_undirected || recipe.self_loops != GNN_LOOPS_KEEP)) {
    status = gnn_fail(&error, GNN_EINVAL, "", "what is read from the disk cannot be changed on the way");
    gnn_fail_help(&error, "gnndata convert with these options first");
  }
  if (status == GNN_OK && is_streamed) status = parts_streamed(data, path, options->memory_bytes, &nodes, &error);
  if (status == GNN_OK && !is_streamed) {
    status = gnndata_read(data, &recipe, options->drops_duplicates, &dataset, &error);
    if (status == GNN_OK) status = is_plain ? parts_write(dataset, path, method, &error) : gnndata_write_order(dataset, path, method, &error);
    if (status == GNN_OK) {
      gnndata_print_notes(dataset, "");
      nodes = dataset->nodes;
    }
  }
  if (status == GNN_OK) printf("wrote %s: the order of %s nodes, %s\n", path, gnn_count_text(nodes).text, is_plain ? method : parts_is_classic(method) ? (strcmp(method, "rcm") == 0 ? "reverse Cuthill-McKee" : "by degree") : strcmp(method, "metis") == 0 ? "by METIS" : "by the parts of a file");
  gnn_dataset_close(dataset);
  gnn_text_free(&name);
  return status == GNN_OK ? 0 : gnndata_fail(status, &error);
}
