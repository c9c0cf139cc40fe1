/* prepare_edges.c: arcs sorted by (destination, source) with two stable counting sorts, in O(nodes + edges). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "prepare.h"
#include "runtime/base/checked.h"
#include "runtime/base/room.h"
#include "kernels/cpu/random.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/blocks.h"

/* Arc k of the graph wanted: the raw ones, their reverses, the added self-loops, in this order, so that of equal arcs
 * the one that is in the data comes first. */
typedef struct edges_list {
  const gnn_array *source, *destination;
  int64_t nodes;
  int64_t raw, reversed, loops; /* counts; reversed is 0 or raw */
  int removes_loops;
  const gnn_array *row_ptr; /* of a rank, whose edges stand by destination: where the rows begin, and the row that the last arc was in; NULL: they do not */
  int64_t *row;
  int64_t begin, end;       /* of a rank: arcs to these nodes alone; end 0: all */
  const int32_t *place;     /* of a rank: the node of the graph that each of the data is; NULL: the same */
  int is_turned;            /* arcs are from their destination to their source */
} edges_list;

enum { EDGES_STEP = 1 << 15 }; /* arcs after which pages that were read are let go */

/* The ends of a raw arc. Arcs come in their order, so a row is near the one before. */
static void edges_ends(const edges_list *list, int64_t e, int64_t *from, int64_t *to) {
  *from = gnn_array_integer(list->source, e);
  if (e % EDGES_STEP == EDGES_STEP - 1) {
    gnn_array_pass(list->source, e + 1 - EDGES_STEP, e + 1);
    if (!list->row_ptr) gnn_array_pass(list->destination, e + 1 - EDGES_STEP, e + 1);
  }
  if (!list->row_ptr) *to = gnn_array_integer(list->destination, e);
  if (!list->row_ptr) return;
  if (e < gnn_array_integer(list->row_ptr, *list->row)) *list->row = 0;
  while (*list->row < list->row_ptr->count - 2 && e >= gnn_array_integer(list->row_ptr, *list->row + 1))
    if (++*list->row % EDGES_STEP == 0) gnn_array_pass(list->row_ptr, *list->row - EDGES_STEP, *list->row);
  *to = *list->row;
}

static int edges_arc(const edges_list *list, int64_t k, int32_t *from, int32_t *to, int64_t *origin) {
  if (k >= list->raw + list->reversed) {
    *from = *to = (int32_t)(k - list->raw - list->reversed);
    *origin = -1;
    return list->end == 0 || (*to >= list->begin && *to < list->end);
  }
  int is_reverse = k >= list->raw;
  int64_t e = is_reverse ? k - list->raw : k, s, d;
  edges_ends(list, e, &s, &d);
  if (s < 0 || s >= list->nodes || d < 0 || d >= list->nodes) return 0; /* they were checked: the file has changed since, which is noticed in the end */
  if (s == d && (is_reverse || list->removes_loops)) return 0;
  if (list->place) s = list->place[s], d = list->place[d];
  const int is_turned = is_reverse != list->is_turned;
  *from = (int32_t)(is_turned ? d : s);
  *to = (int32_t)(is_turned ? s : d);
  *origin = e;
  return list->end == 0 || (*to >= list->begin && *to < list->end);
}

/* Every end is a node. sum: of all, in whatever order. */
static gnn_status edges_check(const gnn_dataset *dataset, const edges_list *list, int64_t *loops, int64_t *sum, gnn_error *error) {
  int64_t nodes = dataset->nodes, edges = list->raw;
  uint64_t mixed = 0;
  *loops = 0;
  for (int64_t e = 0; e < edges; e++) {
    int64_t s, d;
    edges_ends(list, e, &s, &d);
    *loops += s == d;
    if (sum) mixed += gnn_mix64((uint64_t)s << 32 ^ (uint64_t)d);
    if (s >= 0 && s < nodes && d >= 0 && d < nodes) continue;
    gnn_status status =
      gnn_fail(error, GNN_EDATA, "E0701", "%s: edge %lld is %lld → %lld, but nodes run 0 … %lld", dataset->title,
               (long long)e, (long long)s, (long long)d, (long long)nodes - 1);
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (int64_t k = 0; k < edges; k++) {
      int64_t a, b;
      edges_ends(list, k, &a, &b);
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
  if (sum) *sum = (int64_t)mixed;
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

/* Of arcs by destination, those of each row by source and first those of the data, one of equal ones is kept; or all that are in the data, of which the k-th each way are each other's reverse. */
static void edges_keep(int64_t first_row, int64_t rows, int keeps_duplicates, int64_t *in_ptr, int32_t *source, int64_t *origin, gnn_edge_counts *counts) {
  int64_t kept = 0, begin = 0;
  for (int64_t v = 0; v < rows; v++) {
    int64_t end = in_ptr[v + 1];
    in_ptr[v] = kept;
    while (begin < end) {
      int32_t id = source[begin] & INT32_MAX;
      int64_t same = begin, raw = 0;
      for (; same < end && (source[same] & INT32_MAX) == id; same++) raw += source[same] >= 0;
      const int64_t added = same - begin - raw, wanted = keeps_duplicates ? (raw > added ? raw : added) : 1;
      counts->duplicates += raw > wanted ? raw - wanted : 0;
      if (id == first_row + v) counts->loops_added += raw == 0;
      else counts->reversed += wanted > raw ? wanted - raw : 0;
      for (int64_t k = 0; k < wanted; k++, kept++) {
        const int64_t at = begin + (k < raw ? k : raw + (keeps_duplicates ? k : 0));
        source[kept] = id;
        if (origin) origin[kept] = origin[at];
      }
      begin = same;
    }
  }
  in_ptr[rows] = kept;
}

/* From by-source to by-destination. in_ptr and source are outputs. */
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
  edges_keep(0, nodes, keeps_duplicates, in_ptr, source, origin, counts);
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

/* Where the rows of the file begin, into in_ptr[nodes + 1]; NULL: it is only looked at. */
static gnn_status edges_rows(const gnn_dataset *dataset, int64_t *in_ptr, gnn_error *error) {
  const gnn_array *ptr = &dataset->raw_row_ptr;
  const int64_t rows = ptr->count - 1, entries = dataset->raw_source.count;
  if (rows > dataset->nodes)
    return gnn_fail(error, GNN_EDATA, "E0701", "%s has %s rows of edges, but %s nodes", dataset->title, gnn_count_text(rows).text, gnn_count_text(dataset->nodes).text);
  if (in_ptr) in_ptr[0] = 0;
  for (int64_t r = 0, begin = 0, end; r < dataset->nodes; r++, begin = end) {
    end = r < rows ? gnn_array_integer(ptr, r + 1) : entries;
    if (in_ptr) in_ptr[r + 1] = end;
    if (gnn_array_integer(ptr, 0) != 0 || end < begin || end > entries || (r == rows - 1 && end != entries))
      return gnn_fail(error, GNN_EDATA, "", "%s: csr.rowptr[%lld] is %lld; it must rise from 0 to %lld", dataset->title, (long long)r + 1, (long long)end, (long long)entries);
    if (r % EDGES_STEP == EDGES_STEP - 1) gnn_array_pass(ptr, r + 1 - EDGES_STEP, r + 1);
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

/* The raw arcs, of which nothing was looked at. */
static gnn_status edges_begin(gnn_dataset *dataset, const gnn_recipe *recipe, edges_list *list, gnn_error *error) {
  *list = (edges_list){.source = &dataset->raw_source, .destination = &dataset->raw_destination, .nodes = dataset->nodes, .raw = dataset->raw_source.count,
                       .removes_loops = recipe->self_loops == GNN_LOOPS_REMOVE};
  if (gnn_dtype_is_float(dataset->raw_source.dtype) || gnn_dtype_is_float(dataset->raw_destination.dtype))
    return gnn_fail(error, GNN_EDATA, "", "%s: edge ids are stored as %s; whole numbers are needed", dataset->title,
                    gnn_dtype_name(dataset->raw_source.dtype));
  if (dataset->raw_destination.count != list->raw)
    return gnn_fail(error, GNN_EDATA, "", "%s has %s sources but %s destinations", dataset->title,
                    gnn_count_text(list->raw).text, gnn_count_text(dataset->raw_destination.count).text);
  dataset->has_undirected_recipe = recipe->is_undirected;
  dataset->keeps_duplicates = recipe->keeps_duplicates;
  return GNN_OK;
}

/* What is added to them. */
static void edges_add(const gnn_recipe *recipe, edges_list *list) {
  list->reversed = recipe->is_undirected ? list->raw : 0;
  list->loops = recipe->self_loops == GNN_LOOPS_ADD ? list->nodes : 0;
}

gnn_status gnn_prepare_edges(gnn_dataset *dataset, const gnn_recipe *recipe, int wants_origin, int64_t **origin,
                             gnn_error *error) {
  const int64_t nodes = dataset->nodes;
  edges_list list;
  const gnn_status begun = edges_begin(dataset, recipe, &list, error);
  if (begun != GNN_OK) return begun;
  if (dataset->raw_row_ptr.data) {
    int is_done;
    gnn_status status = edges_take_rows(dataset, recipe, wants_origin, origin, &is_done, error);
    if (status == GNN_OK && is_done) gnn_prepare_report(dataset, recipe, &(gnn_edge_counts){0});
    if (status != GNN_OK || is_done) return status;
  }
  int64_t loops;
  gnn_status status = edges_check(dataset, &list, &loops, NULL, error);
  edges_add(recipe, &list);
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

/* ---- of a rank ---- */

static int edges_by_source(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b, s = x & INT32_MAX, t = y & INT32_MAX;
  return s != t ? (s > t) - (s < t) : (x < 0) - (y < 0);
}

/* The arcs of the list to its rows, in two passes; nothing in memory is longer than they are. */
static gnn_status edges_of_rows(gnn_dataset *dataset, const edges_list *list, int keeps_duplicates, const int64_t **row_ptr, const int32_t **entry, gnn_edge_counts *counts, gnn_error *error) {
  const int64_t rows = list->end - list->begin, total = list->raw + list->reversed + list->loops;
  int64_t *ptr = gnn_dataset_alloc(dataset, rows + 1, sizeof *ptr, error), origin, room;
  int32_t from, to;
  if (ptr == NULL) return GNN_ENOMEM;
  memset(ptr, 0, (size_t)(rows + 1) * sizeof *ptr);
  for (int64_t k = 0; k < total; k++)
    if (edges_arc(list, k, &from, &to, &origin)) ptr[to - list->begin + 1]++;
  for (int64_t r = 0; r < rows; r++) ptr[r + 1] += ptr[r];
  room = ptr[rows];
  int32_t *source = gnn_dataset_alloc(dataset, room, sizeof *source, error);
  if (source == NULL) return GNN_ENOMEM;
  memset(source, 0, (size_t)room * sizeof *source);
  for (int64_t k = 0; k < total; k++)
    if (edges_arc(list, k, &from, &to, &origin) && ptr[to - list->begin] < room) source[ptr[to - list->begin]++] = k < list->raw ? from : (int32_t)((uint32_t)from | UINT32_C(0x80000000));
  memmove(ptr + 1, ptr, (size_t)rows * sizeof *ptr);
  ptr[0] = 0;
  for (int64_t r = 0; r < rows; r++) {
    if (ptr[r + 1] < ptr[r]) ptr[r + 1] = ptr[r]; /* of a file that has changed */
    qsort(source + ptr[r], (size_t)(ptr[r + 1] - ptr[r]), sizeof *source, edges_by_source);
  }
  edges_keep(list->begin, rows, keeps_duplicates, ptr, source, NULL, counts);
  *row_ptr = ptr;
  *entry = source;
  return GNN_OK;
}

/* gnn_prepare_survey of the rank's rows, of all. */
static void edges_survey_own(gnn_dataset *dataset, gnn_own_edges *own, const gnn_own_rows *rows, gnn_edge_counts *counts) {
  enum { EDGES, SILENT, LOOPS, MUTUAL, DUPLICATES, REVERSED, ADDED, OF_RANK, NUMBERS = OF_RANK + GNN_RANKS_MOST };
  int64_t n[NUMBERS] = {[EDGES] = own->in_ptr[own->end - own->begin], [DUPLICATES] = counts->duplicates, [REVERSED] = counts->reversed, [ADDED] = counts->loops_added};
  for (int64_t r = 0; r < own->end - own->begin; r++) {
    int64_t in = own->in_ptr[r], out = own->out_ptr[r];
    n[SILENT] += in == own->in_ptr[r + 1];
    while (in < own->in_ptr[r + 1]) {
      const int32_t source = own->in_source[in];
      while (out < own->out_ptr[r + 1] && own->out_destination[out] < source) out++;
      const int has_reverse = out < own->out_ptr[r + 1] && own->out_destination[out] == source;
      n[LOOPS] += source == own->begin + r;
      n[MUTUAL] += has_reverse && source != own->begin + r;
      in++;
      out += has_reverse;
    }
  }
  n[OF_RANK + rows->rank] = n[EDGES];
  rows->add(rows->context, n, OF_RANK + rows->count);
  for (int r = 0; r < rows->rank; r++) own->before += n[OF_RANK + r];
  dataset->edges = n[EDGES];
  dataset->silent_nodes = n[SILENT];
  dataset->self_loops = n[LOOPS];
  dataset->mutual_edges = n[MUTUAL];
  dataset->is_symmetric = n[MUTUAL] + n[LOOPS] == n[EDGES];
  counts->duplicates = n[DUPLICATES];
  counts->reversed = n[REVERSED];
  counts->loops_added = n[ADDED];
}

/* The cut into blocks, for which every rank tells the degrees of its nodes. These come in the second half of the memory that their sums then fill from its beginning on, never past the one that is read. */
static gnn_status edges_cut_own(gnn_dataset *dataset, gnn_own_edges *own, const gnn_own_rows *rows, gnn_error *error) {
  const int64_t nodes = dataset->nodes;
  const int levels = gnn_block_levels(nodes);
  int64_t *first = gnn_dataset_alloc(dataset, (INT64_C(1) << levels) + 1, sizeof *first, error), *both = malloc((size_t)(nodes + 1) * sizeof *both);
  if (!first || !both) {
    free(both);
    return gnn_fail_memory(error, (nodes + 1) * (int64_t)sizeof *both);
  }
  uint32_t *degree = (uint32_t *)(void *)both + nodes + 2; /* in and out: below 2^32, as nodes are below 2^31 */
  memset(degree, 0, (size_t)nodes * sizeof *degree);
  for (int64_t r = 0; r < own->end - own->begin; r++) degree[own->begin + r] = (uint32_t)(own->in_ptr[r + 1] - own->in_ptr[r] + own->out_ptr[r + 1] - own->out_ptr[r]);
  rows->gather(rows->context, degree);
  int64_t sum = 0;
  for (int64_t v = 0; v < nodes; v++) {
    const int64_t next = sum + degree[v];
    both[v] = sum;
    sum = next;
  }
  both[nodes] = sum;
  gnn_blocks_cut(nodes, levels, both, NULL, first);
  own->first = first;
  free(both);
  return GNN_OK;
}

int64_t gnn_prepare_edges_read(const gnn_dataset *dataset) {
  int64_t row = 0, loops, sum = 0;
  edges_list list = {.source = &dataset->raw_source, .destination = &dataset->raw_destination, .nodes = dataset->nodes, .raw = dataset->raw_source.count};
  if (dataset->raw_row_ptr.data) list.row_ptr = &dataset->raw_row_ptr, list.row = &row;
  if (gnn_dtype_is_float(list.source->dtype) || gnn_dtype_is_float(list.destination->dtype) || list.destination->count != list.raw || (list.row_ptr && edges_rows(dataset, NULL, NULL) != GNN_OK)) return 0;
  return edges_check(dataset, &list, &loops, &sum, NULL) == GNN_OK ? sum : 0;
}

gnn_status gnn_prepare_own_edges(gnn_dataset *dataset, const gnn_recipe *recipe, const gnn_own_rows *rows, gnn_error *error) {
  edges_list list;
  gnn_status status = edges_begin(dataset, recipe, &list, error);
  gnn_own_edges *own = status == GNN_OK ? gnn_dataset_alloc(dataset, 1, sizeof *own, error) : NULL;
  if (own == NULL) return status == GNN_OK ? GNN_ENOMEM : status;
  int64_t loops, row = 0;
  *own = (gnn_own_edges){.begin = rows->begin, .end = rows->end};
  if (dataset->raw_row_ptr.data) status = edges_rows(dataset, NULL, error);
  if (dataset->raw_row_ptr.data) list.row_ptr = &dataset->raw_row_ptr, list.row = &row;
  if (status == GNN_OK) status = edges_check(dataset, &list, &loops, &own->read, error);
  edges_add(recipe, &list);
  int32_t *place = status == GNN_OK && dataset->node_id ? malloc((size_t)dataset->nodes * sizeof *place) : NULL;
  if (status == GNN_OK && dataset->node_id && place == NULL) status = gnn_fail_memory(error, dataset->nodes * (int64_t)sizeof *place);
  for (int64_t v = 0; place && v < dataset->nodes; v++) place[dataset->node_id[v]] = (int32_t)v;
  list.place = place;
  gnn_edge_counts counts = {.loops_removed = list.removes_loops ? loops : 0}, turned = {0};
  list.begin = rows->begin;
  list.end = rows->end;
  if (status == GNN_OK && rows->begin < rows->end) status = edges_of_rows(dataset, &list, recipe->keeps_duplicates, &own->in_ptr, &own->in_source, &counts, error);
  list.is_turned = 1;
  if (status == GNN_OK && rows->begin < rows->end) status = edges_of_rows(dataset, &list, recipe->keeps_duplicates, &own->out_ptr, &own->out_destination, &turned, error);
  if (status == GNN_OK && list.row_ptr) gnn_array_pass(list.row_ptr, 0, list.row_ptr->count);
  free(place);
  static const int64_t none[1];
  if (rows->begin == rows->end) own->in_ptr = own->out_ptr = none;
  status = gnn_dataset_drop_edges(dataset, status, error);
  if (status != GNN_OK) return status;
  edges_survey_own(dataset, own, rows, &counts);
  status = edges_cut_own(dataset, own, rows, error);
  dataset->own = own;
  if (status == GNN_OK) gnn_prepare_report(dataset, recipe, &counts);
  return status;
}
