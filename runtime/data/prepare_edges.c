/* prepare_edges.c: arcs sorted by (destination, source) with two stable counting sorts, in O(nodes + edges). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "prepare.h"
#include "runtime/base/checked.h"
#include "runtime/base/room.h"
#include "runtime/core/adjacency.h"

/* Arc k of the graph wanted: the raw ones, their reverses, the added self-loops, in this order, so that of equal arcs
 * the one that is in the data comes first. */
typedef struct edges_list {
  const gnn_array *source, *destination;
  int64_t nodes;
  int64_t raw, reversed, loops; /* counts; reversed is 0 or raw */
  int removes_loops;
} edges_list;

enum { EDGES_STEP = 1 << 15 }; /* arcs after which pages that were read are let go */

static int edges_arc(const edges_list *list, int64_t k, int32_t *from, int32_t *to, int64_t *origin) {
  if (k >= list->raw + list->reversed) {
    *from = *to = (int32_t)(k - list->raw - list->reversed);
    *origin = -1;
    return 1;
  }
  int is_reverse = k >= list->raw;
  int64_t e = is_reverse ? k - list->raw : k;
  const int64_t s = gnn_array_integer(list->source, e), d = gnn_array_integer(list->destination, e);
  if (e % EDGES_STEP == EDGES_STEP - 1) {
    gnn_array_pass(list->source, e + 1 - EDGES_STEP, e + 1);
    gnn_array_pass(list->destination, e + 1 - EDGES_STEP, e + 1);
  }
  if (s < 0 || s >= list->nodes || d < 0 || d >= list->nodes) return 0; /* they were checked: the file has changed since, which is noticed in the end */
  if (s == d && (is_reverse || list->removes_loops)) return 0;
  *from = (int32_t)(is_reverse ? d : s);
  *to = (int32_t)(is_reverse ? s : d);
  *origin = e;
  return 1;
}

/* Every end is a node. */
static gnn_status edges_check(const gnn_dataset *dataset, int64_t *loops, gnn_error *error) {
  const gnn_array *source = &dataset->raw_source, *destination = &dataset->raw_destination;
  int64_t nodes = dataset->nodes, edges = source->count;
  *loops = 0;
  for (int64_t e = 0; e < edges; e++) {
    int64_t s = gnn_array_integer(source, e), d = gnn_array_integer(destination, e);
    *loops += s == d;
    if (e % EDGES_STEP == EDGES_STEP - 1) {
      gnn_array_pass(source, e + 1 - EDGES_STEP, e + 1);
      gnn_array_pass(destination, e + 1 - EDGES_STEP, e + 1);
    }
    if (s >= 0 && s < nodes && d >= 0 && d < nodes) continue;
    gnn_status status =
      gnn_fail(error, GNN_EDATA, "E0701", "%s: edge %lld is %lld → %lld, but nodes run 0 … %lld", dataset->title,
               (long long)e, (long long)s, (long long)d, (long long)nodes - 1);
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (int64_t k = 0; k < edges; k++) {
      int64_t a = gnn_array_integer(source, k), b = gnn_array_integer(destination, k);
      if (a < least) least = a;
      if (b < least) least = b;
      if (a > greatest) greatest = a;
      if (b > greatest) greatest = b;
    }
    if (least == 1 && greatest == nodes)
      gnn_fail_help(error, "ids look 1-based: 0 never occurs, %lld does; subtract 1 from all of them", (long long)nodes);
    else {
      const gnn_data_field *x = gnn_dataset_field(dataset, "x"); /* its rows are taken for the nodes where nothing else says how many there are */
      const int is_from_x = x && x->domain == GNN_NODE && !x->is_raw_sparse && x->raw.rank > 0 && x->raw.shape[0] == nodes;
      gnn_fail_help(error, "ids in the edges run %lld … %lld%s", (long long)least, (long long)greatest, is_from_x ? "; there are as many nodes as x has rows" : "");
    }
    return status;
  }
  return GNN_OK;
}

/* The arcs by source, in the order of the list: to[] and origin[], with room for `most`; ptr[nodes + 1]. The sign bit of to[] marks arcs
 * that are not in the raw arrays. Of a file that changes between the passes there may be fewer or others, but nothing is written elsewhere. */
static void edges_sort_by_source(const edges_list *list, int64_t most, int64_t *ptr, int32_t *to, int64_t *origin) {
  int64_t total = list->raw + list->reversed + list->loops, nodes = list->nodes, from_edge;
  int32_t from, dest;
  memset(ptr, 0, (size_t)(nodes + 1) * sizeof *ptr);
  for (int64_t k = 0; k < total; k++)
    if (edges_arc(list, k, &from, &dest, &from_edge)) ptr[from + 1]++;
  for (int64_t v = 0; v < nodes; v++) ptr[v + 1] += ptr[v];
  memset(to, 0, (size_t)most * sizeof *to);
  for (int64_t k = 0; origin && k < most; k++) origin[k] = -1;
  for (int64_t k = 0; k < total; k++) {
    if (!edges_arc(list, k, &from, &dest, &from_edge) || ptr[from] >= most) continue;
    int64_t at = ptr[from]++;
    to[at] = k < list->raw ? dest : (int32_t)((uint32_t)dest | UINT32_C(0x80000000));
    if (origin) origin[at] = from_edge;
  }
  memmove(ptr + 1, ptr, (size_t)nodes * sizeof *ptr);
  ptr[0] = 0;
  for (int64_t v = 0; v < nodes; v++)
    if (ptr[v + 1] < ptr[v]) ptr[v + 1] = ptr[v];
}

/* From by-source to by-destination, keeping one of equal arcs; or all that are in the data, of which the k-th each way are each other's reverse.
 * in_ptr and source are outputs. */
static void edges_sort_by_destination(int64_t nodes, const int64_t *ptr, const int32_t *to, const int64_t *from_origin, int keeps_duplicates,
                                      int64_t *in_ptr, int32_t *source, int64_t *origin, gnn_edge_counts *counts) {
  memset(in_ptr, 0, (size_t)(nodes + 1) * sizeof *in_ptr);
  for (int64_t k = 0; k < ptr[nodes]; k++) in_ptr[(to[k] & INT32_MAX) + 1]++;
  for (int64_t v = 0; v < nodes; v++) in_ptr[v + 1] += in_ptr[v];
  for (int64_t v = 0; v < nodes; v++) {
    for (int64_t k = ptr[v]; k < ptr[v + 1]; k++) {
      int64_t at = in_ptr[to[k] & INT32_MAX]++;
      source[at] = (int32_t)v | (to[k] & INT32_MIN);
      if (origin) origin[at] = from_origin[k];
    }
  }
  memmove(in_ptr + 1, in_ptr, (size_t)nodes * sizeof *in_ptr);
  in_ptr[0] = 0;
  int64_t kept = 0, begin = 0;
  for (int64_t v = 0; v < nodes; v++) {
    int64_t end = in_ptr[v + 1];
    in_ptr[v] = kept;
    while (begin < end) {
      int32_t id = source[begin] & INT32_MAX;
      int64_t same = begin, raw = 0;
      for (; same < end && (source[same] & INT32_MAX) == id; same++) raw += source[same] >= 0;
      const int64_t added = same - begin - raw, wanted = keeps_duplicates ? (raw > added ? raw : added) : 1;
      counts->duplicates += raw > wanted ? raw - wanted : 0;
      if (id == v) counts->loops_added += raw == 0;
      else counts->reversed += wanted > raw ? wanted - raw : 0;
      for (int64_t k = 0; k < wanted; k++, kept++) {
        const int64_t at = begin + (k < raw ? k : raw + (keeps_duplicates ? k : 0));
        source[kept] = id;
        if (origin) origin[kept] = origin[at];
      }
      begin = same;
    }
  }
  in_ptr[nodes] = kept;
}

/* Destinations ascend, so those that a node sends to are met in the order of its own row. */
gnn_status gnn_prepare_survey(gnn_dataset *dataset, gnn_error *error) {
  const int64_t nodes = dataset->nodes, *in_ptr = dataset->in_ptr;
  const int32_t *source = dataset->in_source;
  int64_t *next = malloc((size_t)(nodes + 1) * sizeof *next); /* in each row, the first that is not behind */
  if (next == NULL) return gnn_fail_memory(error, nodes * (int64_t)sizeof *next);
  memcpy(next, in_ptr, (size_t)(nodes + 1) * sizeof *next);
  dataset->silent_nodes = dataset->self_loops = dataset->mutual_edges = 0;
  for (int64_t v = 0; v < nodes; v++) {
    dataset->silent_nodes += in_ptr[v + 1] == in_ptr[v];
    for (int64_t e = in_ptr[v]; e < in_ptr[v + 1]; e++) {
      const int32_t s = source[e];
      while (next[s] < in_ptr[s + 1] && source[next[s]] < v) next[s]++;
      if (s == v) dataset->self_loops++;
      else if (next[s] < in_ptr[s + 1] && source[next[s]] == v) {
        dataset->mutual_edges++;
        next[s]++; /* of several between the two each has its own reverse */
      }
    }
  }
  dataset->is_symmetric = dataset->mutual_edges + dataset->self_loops == dataset->edges;
  free(next);
  return GNN_OK;
}

void gnn_prepare_report(gnn_dataset *dataset, const gnn_recipe *recipe, const gnn_edge_counts *counts) {
  int64_t between = dataset->edges - dataset->self_loops;
  dataset->dropped_duplicates += counts->duplicates;
  if (counts->duplicates)
    gnn_dataset_note(dataset, "dropped %s duplicate edges", gnn_count_text(counts->duplicates).text);
  if (counts->loops_removed)
    gnn_dataset_note(dataset, "dropped %s self-loops", gnn_count_text(counts->loops_removed).text);
  if (recipe->is_undirected)
    gnn_dataset_note(dataset, "added %s reverse edges", gnn_count_text(counts->reversed).text);
  if (recipe->self_loops == GNN_LOOPS_ADD)
    gnn_dataset_note(dataset, "added %s self-loops", gnn_count_text(counts->loops_added).text);
  if (!gnn_dataset_has_plain_edges(dataset)) return;
  if (between > 0 && !dataset->is_symmetric) {
    double share = 100.0 * (double)dataset->mutual_edges / (double)between;
    gnn_dataset_warn(dataset, "W0703", "one-way-edges", "",
                     "%.*f %% of the %s edges have their reverse; GCN usually wants both: undirected = true",
                     share > 0 && share < 1 ? 2 : share > 99 ? 2 : 0, share, gnn_count_text(between).text);
  }
  if (dataset->silent_nodes)
    gnn_dataset_warn(dataset, "W0704", "zero-in-degree", "",
                     "%s of %s nodes have no in-edge, and sums over their neighbours are 0: self_loops = add",
                     gnn_count_text(dataset->silent_nodes).text, gnn_count_text(dataset->nodes).text);
  if (dataset->self_loops && recipe->self_loops == GNN_LOOPS_KEEP)
    gnn_dataset_warn(dataset, "W0714", "self-loops", "",
                     "%s of the %s edges are self-loops, and layers that count each node itself (GCN, GAT) count those nodes twice: self_loops = remove, or with edge weights add",
                     gnn_count_text(dataset->self_loops).text, gnn_count_text(dataset->edges).text);
}

enum { EDGES_ROOM_BYTES = 1 << 30 }; /* less is simply asked for */

/* A few bytes can claim thousands of millions of nodes: what sorting takes has to be there before it is touched. */
static gnn_status edges_room(const gnn_dataset *dataset, const edges_list *list, int64_t *most, gnn_error *error) {
  int64_t arrays, bytes;
  if (!gnn_add_fits(list->raw, list->reversed, most) || !gnn_add_fits(*most, list->loops, most) || !gnn_multiply_fits(*most, 8, &bytes) ||
      !gnn_multiply_fits(dataset->nodes + 1, 16, &arrays) || !gnn_add_fits(bytes, arrays, &bytes))
    bytes = INT64_MAX;
  if (bytes <= EDGES_ROOM_BYTES || bytes <= gnn_available_bytes()) return GNN_OK;
  return gnn_fail(error, GNN_ENOMEM, "R0801", "%s: sorting its edges takes %s, and memory has %s free", dataset->title,
                  gnn_bytes_text(bytes).text, gnn_bytes_text(gnn_available_bytes()).text);
}

/* Where the rows of the file begin, into in_ptr[nodes + 1]. */
static gnn_status edges_rows(const gnn_dataset *dataset, int64_t *in_ptr, gnn_error *error) {
  const gnn_array *ptr = &dataset->raw_row_ptr;
  const int64_t rows = ptr->count - 1, entries = dataset->raw_source.count;
  if (rows > dataset->nodes)
    return gnn_fail(error, GNN_EDATA, "E0701", "%s has %s rows of edges, but %s nodes", dataset->title, gnn_count_text(rows).text, gnn_count_text(dataset->nodes).text);
  in_ptr[0] = 0;
  for (int64_t r = 0; r < dataset->nodes; r++) {
    in_ptr[r + 1] = r < rows ? gnn_array_integer(ptr, r + 1) : entries;
    if (gnn_array_integer(ptr, 0) != 0 || in_ptr[r + 1] < in_ptr[r] || in_ptr[r + 1] > entries || (r == rows - 1 && in_ptr[r + 1] != entries))
      return gnn_fail(error, GNN_EDATA, "", "%s: csr.rowptr[%lld] is %lld; it must rise from 0 to %lld", dataset->title, (long long)r + 1, (long long)in_ptr[r + 1], (long long)entries);
  }
  gnn_array_pass(ptr, 0, ptr->count);
  return rows == 0 && entries ? gnn_fail(error, GNN_EDATA, "", "%s: csr.rowptr does not cover csr.col", dataset->title) : GNN_OK;
}

/* Edges that stand by destination are taken as they are, where the recipe leaves them so: *is_done. Else each gets its destination. */
static gnn_status edges_take_rows(gnn_dataset *dataset, const gnn_recipe *recipe, int wants_origin, int64_t **origin, int *is_done, gnn_error *error) {
  const int64_t nodes = dataset->nodes, edges = dataset->raw_source.count;
  int64_t most;
  gnn_status status = edges_room(dataset, &(edges_list){.raw = edges}, &most, error);
  int64_t *in_ptr = status == GNN_OK ? gnn_dataset_alloc(dataset, nodes + 1, sizeof *in_ptr, error) : NULL;
  if (status == GNN_OK) status = in_ptr ? edges_rows(dataset, in_ptr, error) : GNN_ENOMEM;
  int32_t *id = status == GNN_OK ? gnn_dataset_alloc(dataset, edges, sizeof *id, error) : NULL;
  if (id == NULL) return status == GNN_OK ? GNN_ENOMEM : status;
  int is_sorted = recipe->self_loops == GNN_LOOPS_KEEP;
  for (int64_t v = 0; is_sorted && v < nodes; v++)
    for (int64_t e = in_ptr[v], last = -1; is_sorted && e < in_ptr[v + 1]; e++) {
      const int64_t s = gnn_array_integer(&dataset->raw_source, e);
      if (e % EDGES_STEP == EDGES_STEP - 1) gnn_array_pass(&dataset->raw_source, e + 1 - EDGES_STEP, e + 1);
      is_sorted = (s > last || (s == last && recipe->keeps_duplicates)) && s < nodes;
      id[e] = (int32_t)s;
      last = s;
    }
  if (is_sorted) gnn_array_pass(&dataset->raw_source, 0, edges);
  if (is_sorted) {
    dataset->in_ptr = in_ptr;
    dataset->in_source = id;
    dataset->edges = edges;
    status = gnn_prepare_survey(dataset, error);
    is_sorted = status == GNN_OK && (!recipe->is_undirected || dataset->is_symmetric);
    int64_t *own = is_sorted && wants_origin ? gnn_dataset_alloc(dataset, edges, sizeof *own, error) : NULL;
    if (is_sorted && wants_origin && own == NULL) status = GNN_ENOMEM;
    for (int64_t e = 0; own && e < edges; e++) own[e] = e;
    *origin = own;
  }
  *is_done = is_sorted;
  if (is_sorted || status != GNN_OK) return status;
  for (int64_t v = 0; v < nodes; v++)
    for (int64_t e = in_ptr[v]; e < in_ptr[v + 1]; e++) id[e] = (int32_t)v;
  dataset->raw_destination.data = (const unsigned char *)id;
  return GNN_OK;
}

gnn_status gnn_prepare_edges(gnn_dataset *dataset, const gnn_recipe *recipe, int wants_origin, int64_t **origin,
                             gnn_error *error) {
  int64_t nodes = dataset->nodes;
  edges_list list = {.source = &dataset->raw_source, .destination = &dataset->raw_destination, .nodes = nodes, .raw = dataset->raw_source.count,
                     .removes_loops = recipe->self_loops == GNN_LOOPS_REMOVE};
  if (gnn_dtype_is_float(dataset->raw_source.dtype) || gnn_dtype_is_float(dataset->raw_destination.dtype))
    return gnn_fail(error, GNN_EDATA, "", "%s: edge ids are stored as %s; whole numbers are needed", dataset->title,
                    gnn_dtype_name(dataset->raw_source.dtype));
  if (dataset->raw_destination.count != list.raw)
    return gnn_fail(error, GNN_EDATA, "", "%s has %s sources but %s destinations", dataset->title,
                    gnn_count_text(list.raw).text, gnn_count_text(dataset->raw_destination.count).text);
  dataset->has_undirected_recipe = recipe->is_undirected;
  dataset->keeps_duplicates = recipe->keeps_duplicates;
  if (dataset->raw_row_ptr.data) {
    int is_done;
    gnn_status status = edges_take_rows(dataset, recipe, wants_origin, origin, &is_done, error);
    if (status == GNN_OK && is_done) gnn_prepare_report(dataset, recipe, &(gnn_edge_counts){0});
    if (status != GNN_OK || is_done) return status;
  }
  int64_t loops;
  gnn_status status = edges_check(dataset, &loops, error);
  list.reversed = recipe->is_undirected ? list.raw : 0;
  list.loops = recipe->self_loops == GNN_LOOPS_ADD ? nodes : 0;
  gnn_edge_counts counts = {.loops_removed = list.removes_loops ? loops : 0};
  int64_t most = 0;
  if (status == GNN_OK) status = edges_room(dataset, &list, &most, error);
  if (status != GNN_OK) return status;
  int64_t *ptr = malloc((size_t)(nodes + 1) * sizeof *ptr);
  int32_t *to = malloc(most ? (size_t)most * sizeof *to : 1);
  int64_t *from_origin = wants_origin ? malloc(most ? (size_t)most * sizeof *from_origin : 1) : NULL;
  int has_room = ptr && to && (!wants_origin || from_origin);
  if (status == GNN_OK && !has_room) status = gnn_fail_memory(error, most * (int64_t)sizeof *to);
  if (status == GNN_OK) edges_sort_by_source(&list, most, ptr, to, from_origin);
  status = gnn_dataset_drop_edges(dataset, status, error);
  int64_t *in_ptr = status == GNN_OK ? gnn_dataset_alloc(dataset, nodes + 1, sizeof *in_ptr, error) : NULL;
  int32_t *source = in_ptr ? gnn_dataset_alloc(dataset, most, sizeof *source, error) : NULL;
  int64_t *kept_origin = source && wants_origin ? gnn_dataset_alloc(dataset, most, sizeof *kept_origin, error) : NULL;
  if (status == GNN_OK && (source == NULL || (wants_origin && kept_origin == NULL))) status = GNN_ENOMEM;
  if (status == GNN_OK) edges_sort_by_destination(nodes, ptr, to, from_origin, recipe->keeps_duplicates, in_ptr, source, kept_origin, &counts);
  free(ptr);
  free(to);
  free(from_origin);
  if (status != GNN_OK) return status;
  dataset->in_ptr = in_ptr;
  dataset->in_source = source;
  dataset->edges = in_ptr[nodes];
  *origin = kept_origin;
  status = gnn_prepare_survey(dataset, error);
  if (status == GNN_OK) gnn_prepare_report(dataset, recipe, &counts);
  return status;
}
