/* fill.c: prepared data into the arena. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fill.h"
#include "runtime/core/blocks.h"
#include "runtime/core/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fill_halo.h"
#include "fill_ranks.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/home.h"
#include "runtime/core/window.h"

enum { FILL_TASK_WORK = 1024 }; /* entries + rows below which a task is not worth handing out */

gnn_status gnn_fill_misfit(const gnn_run *run, const char *what, int64_t have, int64_t planned, gnn_error *error) {
  gnn_status status = gnn_fail(error, GNN_EDATA, "R0802", "the data have %s %s, the plan was made for %s",
                               gnn_count_text(have).text, what, gnn_count_text(planned).text);
  gnn_fail_help(error, "plan again for these data: gnncc --data %s=PATH %s", run->program->data_name,
                run->program->source_name);
  return status;
}

static void *fill_place(const gnn_instance *instance, int is_on_host, int64_t offset) { return offset < 0 ? NULL : gnn_instance_place(instance, is_on_host, offset); }
static void *fill_at(const gnn_instance *instance, int64_t offset) { return fill_place(instance, 0, offset); }

static void fill_real(void *to, int real_bytes, int64_t index, double value) {
  if (real_bytes == 4) ((float *)to)[index] = (float)value;
  else ((double *)to)[index] = value;
}

/* Row ranges of about equal work. The number of tasks depends on the data alone, so that sums over tasks have the same
 * bits for every number of threads. */
int64_t gnn_fill_bounds(const int64_t *ptr, int64_t rows, int64_t *bounds) {
  int64_t work = ptr[rows] + rows, tasks = work / FILL_TASK_WORK + 1;
  if (tasks > GNN_TASKS) tasks = GNN_TASKS;
  if (tasks > rows) tasks = rows > 0 ? rows : 1;
  int64_t row = 0;
  bounds[0] = 0;
  for (int64_t t = 1; t < tasks; t++) {
    int64_t goal = work / tasks * t + work % tasks * t / tasks;
    while (row < rows && ptr[row] + row < goal) row++;
    bounds[t] = row;
  }
  bounds[tasks] = rows;
  return tasks;
}

typedef struct fill_hub {
  int64_t entries;
  int32_t row;
} fill_hub;

static int fill_longer(const void *a, const void *b) {
  const fill_hub *x = a, *y = b;
  if (x->entries != y->entries) return x->entries > y->entries ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

gnn_status gnn_fill_hubs(gnn_csr *csr, int32_t *hub, int64_t room, gnn_error *error) {
  fill_hub *found = room > 0 && hub ? malloc((size_t)room * sizeof *found) : NULL;
  if (room <= 0 || hub == NULL) return GNN_OK;
  if (found == NULL) return gnn_fail_memory(error, room * (int64_t)sizeof *found);
  for (int64_t r = 0; r < csr->rows; r++) {
    const int64_t entries = csr->ptr[r + 1] - csr->ptr[r];
    if (entries > GNN_HUB_ENTRIES) found[csr->hub_count++] = (fill_hub){entries, (int32_t)r};
  }
  qsort(found, (size_t)csr->hub_count, sizeof *found, fill_longer);
  for (int64_t h = 0; h < csr->hub_count; h++) hub[h] = found[h].row;
  csr->hub = hub;
  free(found);
  return GNN_OK;
}

/* A set of edges of the data, by destination. */
typedef struct fill_edges {
  int64_t sources, destinations, edges;
  const int64_t *in_ptr;    /* [destinations + 1] */
  const int32_t *in_source; /* [edges]; NULL: edge e comes from row e */
  int is_symmetric;
  int64_t *out_ptr;         /* [sources + 1]: room for where the edges of each source begin, while these go to the SSD; NULL: they do not */
  const int64_t *edge_id;   /* [edges]: gnn_dataset.edge_id */
} fill_edges;

typedef enum fill_turned { TURNED_ROWS, TURNED_EDGES, TURNED_EDGE_IDS } fill_turned;

/* What is read edge by edge, or node by node, may be on the host. */
static void *fill_idx(const gnn_instance *instance, const gnn_edge_set_desc *plan, int64_t at) { return fill_place(instance, plan->is_idx_on_host, at); }
static int64_t *fill_ptr(const gnn_instance *instance, const gnn_edge_set_desc *plan, int64_t at) { return fill_place(instance, plan->is_ptr_on_host, at); }

/* ---- neighbours that are at home on the SSD ---- */

/* Where rows begin: of each part from its first row on, and where its last one ends. */
static gnn_status fill_home_ptr(gnn_instance *instance, const int64_t *ptr, int64_t rows, const gnn_side *side, gnn_error *error) {
  const gnn_graph_desc *plan = &instance->run.program->graph;
  gnn_home home;
  gnn_status status = side->extent_count ? gnn_home_open(&home, instance, side, error) : GNN_OK;
  if (side->extent_count == 0 || status != GNN_OK) return status;
  for (int part = 0; part < side->extent_count && status == GNN_OK; part++) {
    const int64_t first = side->extent_count > 1 ? plan->part_first[part] : 0, end = side->extent_count > 1 ? plan->part_first[part + 1] : rows;
    status = gnn_home_put(&home, ptr + first, (end - first + 1) * (int64_t)sizeof *ptr, error);
  }
  return gnn_home_close(&home, status, error);
}

/* Numbers of 4 or 8 bytes, in the order that the data have them in; NULL: 0, 1, 2 and so on. */
static gnn_status fill_home_numbers(gnn_instance *instance, const void *numbers, int64_t count, int64_t number_bytes, const gnn_side *side, gnn_error *error) {
  gnn_home home;
  gnn_status status = side->extent_count ? gnn_home_open(&home, instance, side, error) : GNN_OK;
  if (side->extent_count == 0 || status != GNN_OK) return status;
  if (numbers) status = gnn_home_put(&home, numbers, count * number_bytes, error);
  for (int64_t i = 0; numbers == NULL && i < count && status == GNN_OK; i++) {
    const int32_t narrow = (int32_t)i;
    status = gnn_home_put(&home, number_bytes == sizeof narrow ? (const void *)&narrow : &i, number_bytes, error);
  }
  return gnn_home_close(&home, status, error);
}

/* From their numbers. */
static void fill_name_edges(const fill_edges *data, int64_t *edge, int64_t count) {
  for (int64_t e = 0; data->edge_id && e < count; e++) edge[e] = data->edge_id[edge[e]];
}

/* Turned around, as gnn_adjacency_turn does it, the rows, the numbers of the edges, or what the data call these: a sixteenth at a time, so that no second copy of all of them is in memory. */
static gnn_status fill_home_out(gnn_instance *instance, const fill_edges *data, const int64_t *ptr, fill_turned what, const gnn_side *side, gnn_error *error) {
  enum { SHARES = 16, LEAST = 1 << 18 };
  int64_t room = data->edges / SHARES > LEAST ? data->edges / SHARES : LEAST;
  for (int64_t v = 0; v < data->sources; v++)
    if (ptr[v + 1] - ptr[v] > room) room = ptr[v + 1] - ptr[v];
  gnn_home home;
  gnn_status status = gnn_home_open(&home, instance, side, error);
  if (status != GNN_OK) return status;
  const int are_edges = what != TURNED_ROWS;
  const int64_t number_bytes = are_edges ? (int64_t)sizeof(int64_t) : (int64_t)sizeof(int32_t);
  void *turned = malloc((size_t)(room * number_bytes));
  int64_t *next = malloc((size_t)room * sizeof *next);
  if (turned == NULL || next == NULL) status = gnn_fail_memory(error, room * (number_bytes + (int64_t)sizeof *next));
  for (int64_t first = 0, end = 0; first < data->sources && status == GNN_OK; first = end) {
    while (end < data->sources && end - first < room && ptr[end + 1] - ptr[first] <= room) end++;
    gnn_adjacency_turn_some(data->in_ptr, data->in_source, data->destinations, first, end, ptr, next, are_edges ? NULL : turned, are_edges ? turned : NULL);
    if (what == TURNED_EDGE_IDS) fill_name_edges(data, turned, ptr[end] - ptr[first]);
    status = gnn_home_put(&home, turned, (ptr[end] - ptr[first]) * number_bytes, error);
  }
  free(turned);
  free(next);
  return gnn_home_close(&home, status, error);
}

/* What the data call the edges that leave each node, beginning at `ptr`. */
static gnn_status fill_out_ids(gnn_instance *instance, const fill_edges *data, const int64_t *ptr, gnn_error *error) {
  const gnn_graph_desc *plan = &instance->run.program->graph;
  int64_t *id = plan->is_ordered ? fill_place(instance, plan->is_out_edge_id_on_host, plan->at_out_edge_id) : NULL;
  int64_t *next = id ? malloc((size_t)(data->sources + 1) * sizeof *next) : NULL;
  if (id && next == NULL) return gnn_fail_memory(error, data->sources * (int64_t)sizeof *next);
  if (id) {
    gnn_adjacency_turn_some(data->in_ptr, data->in_source, data->destinations, 0, data->sources, ptr, next, NULL, id);
    fill_name_edges(data, id, data->edges);
  }
  free(next);
  instance->run.out_edge_id = id;
  return plan->out_edge_id_home.extent_count ? fill_home_out(instance, data, ptr, TURNED_EDGE_IDS, &plan->out_edge_id_home, error) : GNN_OK;
}

static gnn_status fill_out(gnn_instance *instance, const gnn_dataset *dataset, const fill_edges *data, const gnn_edge_set_desc *plan, gnn_edge_set *set, gnn_error *error) {
  gnn_csr *out = &set->out;
  int64_t *ptr = data->out_ptr ? data->out_ptr : fill_ptr(instance, plan, plan->at_out_ptr), *edge = fill_idx(instance, plan, plan->at_out_edge), *bounds = fill_at(instance, plan->at_out_bounds);
  const int is_graph = set == &instance->run.sets[GNN_EDGES], has_ids = !is_graph || !gnn_halo_has_codes_for_ids(&instance->run.program->graph, 1);
  int32_t *idx = has_ids ? fill_idx(instance, plan, plan->at_out_idx) : NULL;
  *out = (gnn_csr){.rows = data->sources, .entries = data->edges};
  if (ptr == NULL && !data->is_symmetric) { /* the arrays of `in` would do */
    gnn_status status = gnn_fail(error, GNN_EDATA, "R0802", "%s has edges without their reverse; the plan counts on both",
                                 dataset->title);
    gnn_fail_help(error, "plan again for these data, or store every edge both ways");
    return status;
  }
  if (ptr == NULL) {
    const gnn_csr in = set->in;
    *out = (gnn_csr){.rows = in.rows, .entries = in.entries, .ptr = in.ptr, .idx = in.idx, .edge = edge, .bounds = in.bounds, .tasks = in.tasks, .hub = in.hub, .hub_count = in.hub_count};
    int64_t *scratch = edge ? malloc((size_t)(data->sources + 1) * sizeof *scratch) : NULL;
    if (edge && scratch == NULL) return gnn_fail_memory(error, data->sources * (int64_t)sizeof *scratch);
    if (edge) gnn_adjacency_turn(data->in_ptr, data->in_source, data->destinations, data->sources, scratch, NULL, edge);
    free(scratch);
    gnn_status status = plan->out_edge_home.extent_count ? fill_home_out(instance, data, data->in_ptr, TURNED_EDGES, &plan->out_edge_home, error) : GNN_OK;
    return status == GNN_OK && is_graph ? fill_out_ids(instance, data, data->in_ptr, error) : status;
  }
  if (data->in_source) gnn_adjacency_turn(data->in_ptr, data->in_source, data->destinations, data->sources, ptr, idx, edge);
  for (int64_t v = 0; !data->in_source && v <= data->sources; v++) ptr[v] = v;
  for (int64_t d = 0; !data->in_source && d < data->destinations; d++)
    for (int64_t e = data->in_ptr[d]; e < data->in_ptr[d + 1]; e++) idx[e] = (int32_t)d;
  out->ptr = ptr;
  out->idx = idx;
  out->bounds = bounds;
  out->edge = edge;
  if (bounds) out->tasks = gnn_fill_bounds(ptr, data->sources, bounds);
  gnn_status status = plan->out_home.extent_count && has_ids ? fill_home_out(instance, data, ptr, TURNED_ROWS, &plan->out_home, error) : GNN_OK;
  if (status == GNN_OK && plan->out_edge_home.extent_count) status = fill_home_out(instance, data, ptr, TURNED_EDGES, &plan->out_edge_home, error);
  if (status == GNN_OK && is_graph) status = fill_out_ids(instance, data, ptr, error);
  if (status == GNN_OK) status = fill_home_ptr(instance, ptr, data->sources, &plan->out_ptr_home, error);
  return status != GNN_OK ? status : gnn_fill_hubs(out, plan->hub_room ? fill_at(instance, plan->at_out_hubs) : NULL, plan->hub_room, error);
}

/* To where they are read, or to their home on the SSD. */
static gnn_status fill_degrees(gnn_instance *instance, void *degree, const gnn_side *side, const int64_t *ptr, int64_t rows, gnn_error *error) {
  enum { TOGETHER = 1024 };
  gnn_home home;
  float some[TOGETHER];
  for (int64_t v = 0; degree && v < rows; v++) fill_real(degree, instance->run.program->real_bytes, v, (double)(ptr[v + 1] - ptr[v]));
  gnn_status status = side->extent_count ? gnn_home_open(&home, instance, side, error) : GNN_OK;
  if (side->extent_count == 0 || status != GNN_OK) return status;
  for (int64_t first = 0; first < rows && status == GNN_OK; first += TOGETHER) {
    const int64_t count = rows - first < TOGETHER ? rows - first : TOGETHER;
    for (int64_t k = 0; k < count; k++) some[k] = (float)(ptr[first + k + 1] - ptr[first + k]);
    status = gnn_home_put(&home, some, count * (int64_t)sizeof *some, error);
  }
  return gnn_home_close(&home, status, error);
}

/* Where the entries of each source begin is known where edges go both ways or `out` was filled; otherwise it is counted. */
static gnn_status fill_out_degrees(gnn_instance *instance, const fill_edges *data, const gnn_csr *out, const gnn_edge_set_desc *plan, gnn_error *error) {
  void *degree = fill_idx(instance, plan, plan->at_out_degree);
  const int is_needed = degree != NULL || plan->out_degree_home.extent_count > 0;
  const int64_t *ptr = data->is_symmetric ? data->in_ptr : out->ptr;
  int64_t *counted = NULL;
  if (is_needed && ptr == NULL) {
    counted = malloc((size_t)(data->sources + 1) * sizeof *counted);
    if (counted == NULL) return gnn_fail_memory(error, data->sources * (int64_t)sizeof *counted);
    gnn_adjacency_turn(data->in_ptr, data->in_source, data->destinations, data->sources, counted, NULL, NULL);
    ptr = counted;
  }
  const gnn_status status = is_needed ? fill_degrees(instance, degree, &plan->out_degree_home, ptr, data->sources, error) : GNN_OK;
  free(counted);
  return status;
}

/* As far as the program needs the set. */
static gnn_status fill_edge_set(gnn_instance *instance, const gnn_dataset *dataset, const fill_edges *data, int number, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_edge_set_desc *plan = &run->program->graph.sets[number];
  gnn_edge_set *set = &run->sets[number];
  int64_t *ptr = fill_ptr(instance, plan, plan->at_in_ptr), *bounds = fill_at(instance, plan->at_in_bounds);
  const int has_ids = number != GNN_EDGES || !gnn_halo_has_codes_for_ids(&run->program->graph, 0);
  int32_t *idx = has_ids ? fill_idx(instance, plan, plan->at_in_idx) : NULL;
  if (data->edges > plan->edges) return gnn_fill_misfit(run, number == GNN_EDGES ? "edges" : plan->name, data->edges, plan->edges, error);
  *set = (gnn_edge_set){.in = {.rows = data->destinations, .entries = data->edges, .ptr = plan->in_ptr_home.extent_count ? data->in_ptr : ptr, .idx = idx, .bounds = bounds}, .out = {.rows = data->sources, .entries = data->edges}};
  if (ptr) memcpy(ptr, data->in_ptr, (size_t)(data->destinations + 1) * sizeof *ptr);
  if (idx && data->edges && data->in_source) memcpy(idx, data->in_source, (size_t)data->edges * sizeof *idx);
  for (int64_t e = 0; idx && !data->in_source && e < data->edges; e++) idx[e] = (int32_t)e;
  if (bounds) set->in.tasks = gnn_fill_bounds(data->in_ptr, data->destinations, bounds);
  gnn_status status = fill_degrees(instance, fill_idx(instance, plan, plan->at_in_degree), &plan->in_degree_home, data->in_ptr, data->destinations, error);
  if (status == GNN_OK && has_ids) status = fill_home_numbers(instance, data->in_source, data->edges, sizeof *data->in_source, &plan->in_home, error);
  if (status == GNN_OK) status = fill_home_ptr(instance, data->in_ptr, data->destinations, &plan->in_ptr_home, error);
  if (status == GNN_OK) status = set->in.ptr && plan->hub_room ? gnn_fill_hubs(&set->in, fill_at(instance, plan->at_in_hubs), plan->hub_room, error) : GNN_OK;
  if (status == GNN_OK && plan->has_out) status = fill_out(instance, dataset, data, plan, set, error);
  return status == GNN_OK ? fill_out_degrees(instance, data, &set->out, plan, error) : status;
}

gnn_status gnn_fill_whole_graph(gnn_instance *instance, const gnn_dataset *dataset, int set, gnn_error *error) {
  const fill_edges all = {dataset->nodes, dataset->nodes, dataset->edges, dataset->in_ptr, dataset->in_source, dataset->is_symmetric, NULL, NULL};
  return fill_edge_set(instance, dataset, &all, set, error);
}

/* The pieces of values have the sizes that the parts had in the plan. */
static int fill_has_parts(const gnn_run *run, const int64_t *first) {
  const gnn_graph_desc *plan = &run->program->graph;
  const int below = run->blocks.levels - plan->part_levels;
  const int64_t *in = plan->part_in ? run->sets[GNN_EDGES].in.ptr : NULL, *out = plan->part_out ? run->sets[GNN_EDGES].out.ptr : NULL;
  int is_equal = below >= 0;
  for (int64_t part = 0; is_equal && part <= INT64_C(1) << plan->part_levels; part++) {
    const int64_t row = first[part << below];
    is_equal = row == plan->part_first[part] && (!in || in[row] == plan->part_in[part]) && (!out || out[row] == plan->part_out[part]);
  }
  return is_equal;
}

gnn_status gnn_fill_other_parts(const gnn_dataset *dataset, gnn_error *error) {
  return gnn_fail(error, GNN_EDATA, "R0802", "%s is cut into other parts than those that the program was compiled for: compile it again with these data", dataset->title);
}

static gnn_status fill_blocks(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  const int levels = gnn_block_levels(dataset->nodes), is_apart = gnn_backend_of(run->program)->is_apart;
  int64_t *first = fill_at(instance, plan->at_blocks);
  run->blocks = (gnn_blocks){levels, is_apart ? levels + GNN_DEVICE_RUN_LEVELS : gnn_run_levels(dataset->nodes), first};
  if (first == NULL) return GNN_OK;
  const gnn_status status = gnn_dataset_cut(dataset, first, NULL, NULL, error);
  if (status != GNN_OK) return status;
  return plan->part_first && !fill_has_parts(run, first) ? gnn_fill_other_parts(dataset, error) : GNN_OK;
}

/* The relation of the data that has the name, between types of the same names. */
static gnn_status fill_relation(gnn_instance *instance, const gnn_dataset *dataset, int number, gnn_error *error) {
  const gnn_edge_set_desc *plan = &instance->run.program->graph.sets[number];
  const gnn_data_relation *relation = gnn_dataset_relation(dataset, plan->name);
  if (relation == NULL) return gnn_fail(error, GNN_EDATA, "R0802", "%s has no relation \"%s\", which the program uses", dataset->title, plan->name);
  if (relation->src != plan->src || relation->dst != plan->dst)
    return gnn_fail(error, GNN_EDATA, "R0802", "relation \"%s\" of %s is between other types of nodes than the program was made for", plan->name, dataset->title);
  const fill_edges edges = {gnn_dataset_rows(dataset, relation->src), gnn_dataset_rows(dataset, relation->dst), relation->edges, relation->in_ptr, relation->in_source, relation->is_symmetric, NULL, NULL};
  return fill_edge_set(instance, dataset, &edges, number, error);
}

static gnn_status fill_types(gnn_run *run, const gnn_dataset *dataset, gnn_error *error) {
  const gnn_graph_desc *plan = &run->program->graph;
  if (dataset->type_count != plan->type_count) return gnn_fail(error, GNN_EDATA, "R0802", "%s has %d types of nodes, the plan was made for %d", dataset->title, dataset->type_count + 1, plan->type_count + 1);
  for (int t = 0; t < plan->type_count; t++) {
    const gnn_data_type *type = &dataset->types[t];
    if (strcmp(type->name, plan->types[t].name) != 0)
      return gnn_fail(error, GNN_EDATA, "R0802", "%s has nodes of the type \"%s\" where the plan has \"%s\"", dataset->title, type->name, plan->types[t].name);
    if (type->nodes > plan->types[t].nodes || (plan->has_weights_of_nodes && type->nodes != plan->types[t].nodes)) return gnn_fill_misfit(run, type->name, type->nodes, plan->types[t].nodes, error);
    run->type_nodes[t] = type->nodes;
  }
  return GNN_OK;
}

/* Where edges go both ways, both directions have the same. */
static gnn_status fill_halos(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  gnn_status status = GNN_OK;
  for (int direction = 0; direction < 2 && status == GNN_OK; direction++)
    if (instance->run.program->graph.halo[direction].pairs) status = gnn_fill_halo(instance, dataset, direction, error);
  return status == GNN_OK && instance->run.program->graph.halo[GNN_HALO_EDGES].pairs ? gnn_fill_edge_halo(instance, dataset, error) : status;
}

static gnn_status fill_graph(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  int64_t nodes = dataset->nodes, edges = dataset->edges;
  if (nodes > plan->nodes || (plan->has_weights_of_nodes && nodes != plan->nodes)) return gnn_fill_misfit(run, "nodes", nodes, plan->nodes, error);
  if (edges > plan->edges) return gnn_fill_misfit(run, "edges", edges, plan->edges, error);
  if (dataset->graphs > 1 && dataset->graphs > plan->graphs) return gnn_fill_misfit(run, "graphs", dataset->graphs, plan->graphs, error);
  run->nodes = nodes;
  run->edges = edges;
  run->graphs = dataset->graphs;
  int32_t *node_id = plan->is_ordered ? fill_place(instance, plan->is_node_id_on_host, plan->at_node_id) : NULL;
  int64_t *edge_id = plan->is_ordered ? fill_place(instance, plan->is_edge_id_on_host, plan->at_edge_id) : NULL;
  for (int64_t v = 0; node_id && v < nodes; v++) node_id[v] = dataset->node_id ? dataset->node_id[v] : (int32_t)v;
  for (int64_t e = 0; edge_id && e < edges; e++) edge_id[e] = dataset->edge_id ? dataset->edge_id[e] : e;
  run->node_id = node_id;
  run->edge_id = edge_id;
  const int is_out_on_ssd = plan->set_count > GNN_EDGES && plan->sets[GNN_EDGES].out_ptr_home.extent_count > 0;
  const fill_edges all = {nodes, nodes, edges, dataset->in_ptr, dataset->in_source, dataset->is_symmetric, is_out_on_ssd ? malloc((size_t)(nodes + 1) * sizeof *all.out_ptr) : NULL, dataset->edge_id};
  const fill_edges members = {nodes, dataset->graphs, nodes, dataset->graph_ptr, NULL, 0, NULL, NULL};
  gnn_status status = is_out_on_ssd && all.out_ptr == NULL ? gnn_fail_memory(error, 8 * nodes) : fill_types(run, dataset, error);
  if (status == GNN_OK) status = fill_home_numbers(instance, dataset->node_id, nodes, sizeof *dataset->node_id, &plan->node_id_home, error);
  if (status == GNN_OK) status = fill_home_numbers(instance, dataset->edge_id, edges, sizeof *dataset->edge_id, &plan->edge_id_home, error);
  if (status == GNN_OK) status = fill_edge_set(instance, dataset, &all, GNN_EDGES, error);
  if (status == GNN_OK && plan->set_count > GNN_MEMBERS) status = fill_edge_set(instance, dataset, &members, GNN_MEMBERS, error);
  for (int set = GNN_RELATIONS; status == GNN_OK && set < plan->set_count; set++) status = fill_relation(instance, dataset, set, error);
  if (status == GNN_OK) status = fill_blocks(instance, dataset, error);
  if (status == GNN_OK) status = fill_halos(instance, dataset, error);
  free(all.out_ptr);
  gnn_csr *in = &run->sets[GNN_EDGES].in, *out = &run->sets[GNN_EDGES].out;
  if (in->ptr == dataset->in_ptr) in->ptr = NULL; /* at home on the SSD: nobody has them in memory */
  if (out->ptr == dataset->in_ptr || is_out_on_ssd) out->ptr = NULL;
  return status;
}

/* ---- fields ---- */

/* To nearest even; what is no number stays none. */
static uint16_t fill_rounded(float x) {
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  return (uint16_t)(x != x ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16);
}

/* `row` has room for a row of `width` numbers. */
static void fill_row(const gnn_dataset *dataset, const gnn_data_field *data, int64_t r, int real_bytes, int is_half, int64_t width, float *row, void *to) {
  const int64_t from = gnn_dataset_row(dataset, data, r);
  if (real_bytes == 4 && !is_half) {
    gnn_field_row(data, from, to);
    return;
  }
  gnn_field_row(data, from, row);
  for (int64_t c = 0; c < width; c++)
    if (is_half) ((uint16_t *)to)[c] = fill_rounded(row[c]);
    else ((double *)to)[c] = (double)row[c];
}

/* Rows that are read where they lie in a file; where these data lie in none, at the end of the scratch file. Those of cached parts are taken to the host. */
static gnn_status fill_window(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *data, const gnn_field_desc *field, gnn_error *error) {
  const gnn_extent *extent = &instance->run.program->extents[field->home.at];
  const int64_t row_bytes = data->width * (int64_t)sizeof(float), bytes = data->rows * row_bytes;
  gnn_extent grown = {0, bytes, 0};
  int64_t at = 0, before = 0; /* bytes before the extent */
  const gnn_file *file = gnn_dataset_file_of(dataset, data, &at);
  gnn_home home;
  float *row = malloc((size_t)row_bytes);
  gnn_status status = row ? GNN_OK : gnn_fail_memory(error, row_bytes);
  if (status == GNN_OK) status = file ? gnn_window_open(&instance->scratch, field->window, bytes, file, at, error) : gnn_window_grow(&instance->scratch, field->window, bytes, &grown.at, error);
  const int is_open = status == GNN_OK && !file && (status = gnn_home_open_extents(&home, instance, &grown, 1, error)) == GNN_OK;
  for (int64_t r = 0; r < data->rows && status == GNN_OK; r++) {
    while (r * row_bytes >= before + extent->bytes) before += extent++->bytes;
    if (!is_open && !extent->is_on_host) continue;
    gnn_field_row(data, gnn_dataset_row(dataset, data, r), row);
    if (extent->is_on_host) memcpy(instance->tiers.base[GNN_HOST] + extent->at + (r * row_bytes - before), row, (size_t)row_bytes);
    if (is_open) status = gnn_home_put(&home, row, row_bytes, error);
  }
  if (is_open) status = gnn_home_close(&home, status, error);
  free(row);
  return status;
}

/* What is at home on the SSD is written there row by row. */
static gnn_status fill_dense(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *data, const gnn_field_desc *field,
                             gnn_error *error) {
  int real_bytes = instance->run.program->real_bytes;
  int64_t width = field->width, stride = gnn_row_stride(field->stride, width);
  const int64_t row_bytes = stride * (field->is_half ? 2 : real_bytes);
  if (field->window && field->home.extent_count) return fill_window(instance, dataset, data, field, error);
  const int is_on_ssd = field->home.extent_count > 0;
  unsigned char *to = is_on_ssd ? NULL : field->is_on_host ? instance->tiers.base[GNN_HOST] + field->at[0] * (real_bytes / 4) : fill_at(instance, field->at[0]);
  gnn_reading window = gnn_dataset_begin(dataset, data);
  float *row = malloc((size_t)width * sizeof *row);
  unsigned char *made = is_on_ssd ? calloc(1, (size_t)row_bytes) : NULL;
  gnn_home home;
  gnn_status status = row && (made || !is_on_ssd) ? GNN_OK : gnn_fail_memory(error, width * (int64_t)sizeof *row + row_bytes);
  const int is_open = status == GNN_OK && is_on_ssd && (status = gnn_home_open(&home, instance, &field->home, error)) == GNN_OK;
  const gnn_run *run = &instance->run;
  const int64_t *part_first = run->ranks && (is_on_ssd || field->is_on_host) ? run->program->graph.part_first : NULL; /* a part of a rank may have fewer rows than it has room for */
  for (int64_t r = 0, part = 0, shift = 0; r < data->rows && status == GNN_OK; r++) {
    for (; part_first && r >= gnn_part_row(run, part + 1) && status == GNN_OK; shift = part_first[part] - gnn_part_row(run, part)) {
      part++;
      if (is_open) status = gnn_home_go(&home, &run->program->extents[field->home.at + part], error);
    }
    fill_row(dataset, data, r, real_bytes, field->is_half, width, row, is_open ? made : to + (r + shift) * row_bytes);
    gnn_dataset_pass(dataset, data, r, &window);
    if (is_open) status = gnn_home_put(&home, made, row_bytes, error);
  }
  if (is_open) status = gnn_home_close(&home, status, error);
  free(made);
  free(row);
  return status;
}

/* Arena arrays of a sparse field, in the order of gnn_field_desc.at. */
typedef struct fill_matrix {
  int64_t *ptr, *bounds, *by_ptr, *by_bounds;
  int32_t *hubs; /* or bounds, by whom the rows are shared */
  int32_t *idx, *by_idx;
  void *value, *by_value;
} fill_matrix;

static gnn_status fill_by_column(const fill_matrix *m, int64_t rows, int64_t columns, int real_bytes, gnn_error *error) {
  int64_t entries = m->ptr[rows], *entry = malloc((size_t)entries * sizeof *entry + 1);
  if (entry == NULL) return gnn_fail_memory(error, entries * (int64_t)sizeof *entry);
  gnn_adjacency_turn(m->ptr, m->idx, rows, columns, m->by_ptr, m->by_idx, entry);
  for (int64_t e = 0; e < entries; e++)
    if (real_bytes == 4) ((float *)m->by_value)[e] = ((const float *)m->value)[entry[e]];
    else ((double *)m->by_value)[e] = ((const double *)m->value)[entry[e]];
  free(entry);
  return GNN_OK;
}

/* ---- sparse features whose entries are at home on the SSD ---- */

/* The entries of rows, or of columns, one after the other: where they stand, and the numbers. */
typedef struct fill_entries_home {
  gnn_home idx, value;
} fill_entries_home;

static gnn_status fill_entries_open(fill_entries_home *homes, gnn_instance *instance, const gnn_side *sides, gnn_error *error) {
  gnn_status status = gnn_home_open(&homes->idx, instance, &sides[0], error);
  if (status != GNN_OK) return status;
  status = gnn_home_open(&homes->value, instance, &sides[1], error);
  return status == GNN_OK ? status : gnn_home_close(&homes->idx, status, error);
}

static gnn_status fill_entries_put(fill_entries_home *homes, const int32_t *idx, const float *value, int64_t count, gnn_error *error) {
  const gnn_status status = gnn_home_put(&homes->idx, idx, count * (int64_t)sizeof *idx, error);
  return status == GNN_OK ? gnn_home_put(&homes->value, value, count * (int64_t)sizeof *value, error) : status;
}

static gnn_status fill_entries_close(fill_entries_home *homes, gnn_status status, gnn_error *error) {
  status = gnn_home_close(&homes->idx, status, error);
  return gnn_home_close(&homes->value, status, error);
}

/* Column by column, as fill_home_out does it. `column` and `value` have room for a row. */
static gnn_status fill_columns_home(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *data, const gnn_field_desc *field, const int64_t *ptr, int32_t *column,
                                    float *value, gnn_error *error) {
  enum { SHARES = 16, LEAST = 1 << 18 };
  const int64_t entries = ptr[field->width];
  int64_t room = entries / SHARES > LEAST ? entries / SHARES : LEAST;
  for (int64_t c = 0; c < field->width; c++)
    if (ptr[c + 1] - ptr[c] > room) room = ptr[c + 1] - ptr[c];
  fill_entries_home homes;
  gnn_status status = fill_entries_open(&homes, instance, &field->entries_home[2], error);
  if (status != GNN_OK) return status;
  int32_t *row = malloc((size_t)room * sizeof *row);
  float *number = malloc((size_t)room * sizeof *number);
  int64_t *next = malloc((size_t)room * sizeof *next);
  if (row == NULL || number == NULL || next == NULL) status = gnn_fail_memory(error, room * (int64_t)(sizeof *row + sizeof *number + sizeof *next));
  for (int64_t first = 0, end = 0; first < field->width && status == GNN_OK; first = end) {
    gnn_reading window = gnn_dataset_begin(dataset, data);
    while (end < field->width && end - first < room && ptr[end + 1] - ptr[first] <= room) next[end - first] = ptr[end] - ptr[first], end++;
    for (int64_t r = 0; r < data->rows; r++) {
      const int64_t count = gnn_field_row_nonzeros(data, gnn_dataset_row(dataset, data, r), column, value);
      gnn_dataset_pass(dataset, data, r, &window);
      for (int64_t k = 0; k < count; k++) {
        if (column[k] < first || column[k] >= end || next[column[k] - first] >= ptr[column[k] + 1] - ptr[first]) continue; /* a file may have changed since they were counted */
        row[next[column[k] - first]] = (int32_t)r;
        number[next[column[k] - first]++] = value[k];
      }
    }
    status = fill_entries_put(&homes, row, number, ptr[end] - ptr[first], error);
  }
  free(row);
  free(number);
  free(next);
  return fill_entries_close(&homes, status, error);
}

/* The entries of the parts are as many as they were in the plan. */
static int fill_has_entries(const gnn_run *run, const gnn_field_desc *field, const int64_t *ptr, const int64_t *column_ptr) {
  const gnn_graph_desc *plan = &run->program->graph;
  int is_equal = 1;
  for (int64_t part = 0; field->part_entries[0] && plan->part_first && is_equal && part <= INT64_C(1) << plan->part_levels; part++)
    is_equal = ptr[plan->part_first[part]] == field->part_entries[0][part] && (!field->part_columns || column_ptr[field->part_columns[part]] == field->part_entries[1][part]);
  return is_equal;
}

/* An array of the entries: on the host where they are at home there, nowhere where that is the SSD. */
static void *fill_entries_at(const gnn_instance *instance, const gnn_field_desc *field, int64_t at) { return fill_place(instance, field->is_on_host, at); }

/* `ptr`: [rows + 1], where those of each row begin. */
static gnn_status fill_sparse_at(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *data, const gnn_field_desc *field, int64_t *ptr,
                                 gnn_error *error) {
  gnn_run *run = &instance->run;
  int real_bytes = run->program->real_bytes;
  const int is_apart = gnn_backend_of(run->program)->is_apart, is_on_ssd = field->entries_home[0].extent_count > 0;
  int64_t rows = data->rows, width = field->width;
  if (data->nonzeros > field->nonzeros) return gnn_fill_misfit(run, "numbers that are not 0", data->nonzeros, field->nonzeros, error);
  if (field->sparse < 0 || field->sparse >= GNN_SPARSE_MAX)
    return gnn_fail(error, GNN_EINVAL, "", "internal: sparse field %d", field->sparse);
  fill_matrix m = {.ptr = ptr, .idx = fill_entries_at(instance, field, field->at[1]),
                   .value = fill_entries_at(instance, field, field->at[2]), .bounds = is_apart ? NULL : fill_at(instance, field->at[3]), .hubs = is_apart ? fill_at(instance, field->at[3]) : NULL,
                   .by_ptr = fill_at(instance, field->at[4]), .by_idx = fill_entries_at(instance, field, field->at[5]),
                   .by_value = fill_entries_at(instance, field, field->at[6]), .by_bounds = fill_at(instance, field->at[7])};
  int32_t *column = malloc((size_t)width * sizeof *column);
  float *value = malloc((size_t)width * sizeof *value);
  fill_entries_home homes;
  gnn_reading window = gnn_dataset_begin(dataset, data);
  gnn_status status = column && value ? GNN_OK : gnn_fail_memory(error, width * 8);
  const int is_open = status == GNN_OK && is_on_ssd && (status = fill_entries_open(&homes, instance, field->entries_home, error)) == GNN_OK;
  int64_t at = 0;
  if (m.by_ptr && is_on_ssd) memset(m.by_ptr, 0, (size_t)(width + 1) * sizeof *m.by_ptr);
  for (int64_t r = 0; r < rows && status == GNN_OK; r++) {
    m.ptr[r] = at;
    int64_t count = gnn_field_row_nonzeros(data, gnn_dataset_row(dataset, data, r), column, value);
    gnn_dataset_pass(dataset, data, r, &window);
    if (count > field->nonzeros - at) count = field->nonzeros - at; /* they were counted before: a file may have changed since */
    for (int64_t k = 0; k < count && !is_on_ssd; k++) {
      m.idx[at + k] = column[k];
      fill_real(m.value, real_bytes, at + k, (double)value[k]);
    }
    for (int64_t k = 0; k < count && is_on_ssd && m.by_ptr; k++) m.by_ptr[column[k] + 1]++;
    if (is_open) status = fill_entries_put(&homes, column, value, count, error);
    at += count;
  }
  m.ptr[rows] = at;
  if (is_open) status = fill_entries_close(&homes, status, error);
  for (int64_t c = 0; is_open && m.by_ptr && c < width; c++) m.by_ptr[c + 1] += m.by_ptr[c];
  gnn_sparse *sparse = &run->sparse[field->sparse];
  *sparse = (gnn_sparse){.by_row = {.rows = rows, .entries = at, .ptr = m.ptr, .idx = m.idx, .bounds = m.bounds},
                         .row_value = m.value, .row_id = run->node_id};
  if (status == GNN_OK && m.bounds) sparse->by_row.tasks = gnn_fill_bounds(m.ptr, rows, m.bounds);
  else if (status == GNN_OK) status = gnn_fill_hubs(&sparse->by_row, m.hubs, field->nonzeros / (GNN_HUB_ENTRIES + 1), error);
  if (status == GNN_OK && m.by_ptr) status = is_on_ssd ? fill_columns_home(instance, dataset, data, field, m.by_ptr, column, value, error) : fill_by_column(&m, rows, width, real_bytes, error);
  free(column);
  free(value);
  if (status != GNN_OK || m.by_ptr == NULL) return status;
  sparse->by_column = (gnn_csr){.rows = width, .entries = at, .ptr = m.by_ptr, .idx = m.by_idx, .bounds = m.by_bounds};
  sparse->column_value = m.by_value;
  if (m.by_bounds) sparse->by_column.tasks = gnn_fill_bounds(m.by_ptr, width, m.by_bounds);
  return fill_has_entries(run, field, m.ptr, m.by_ptr) ? GNN_OK : gnn_fill_other_parts(dataset, error);
}

static gnn_status fill_sparse(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *data, const gnn_field_desc *field, gnn_error *error) {
  const int is_on_ssd = field->ptr_home.extent_count > 0;
  int64_t *ptr = is_on_ssd ? malloc((size_t)(data->rows + 1) * sizeof *ptr) : fill_place(instance, field->is_ptr_on_host, field->at[0]);
  if (ptr == NULL) return gnn_fail_memory(error, 8 * data->rows);
  gnn_status status = fill_sparse_at(instance, dataset, data, field, ptr, error);
  if (status == GNN_OK) status = fill_home_ptr(instance, ptr, data->rows, &field->ptr_home, error);
  if (status == GNN_OK && (is_on_ssd || field->is_ptr_on_host)) instance->run.sparse[field->sparse].by_row.ptr = NULL; /* copies bring those of parts */
  if (is_on_ssd) free(ptr);
  return status;
}

gnn_status gnn_fill_field(gnn_instance *instance, const gnn_dataset *dataset, const gnn_field_desc *field,
                          gnn_error *error) {
  const gnn_data_field *data = gnn_dataset_field(dataset, field->name);
  if (data == NULL)
    return gnn_fail(error, GNN_EDATA, "E0203", "%s has no field \"%s\", which the program uses", dataset->title, field->name);
  static const char *const words[] = {[GNN_NODE] = "node", [GNN_EDGE] = "edge", [GNN_GRAPH] = "graph", [GNN_TYPE] = "another type of node", [GNN_RELATION] = "relation"};
  const gnn_domain domain = field->domain;
  if (data->domain != domain || data->set != field->set)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s of %s belongs to %ss; the program wants it on %ss", field->name,
                    dataset->title, words[data->domain], words[domain]);
  if (field->storage == GNN_LABEL) {
    if (data->storage != GNN_LABEL)
      return gnn_fail(error, GNN_EDATA, "R0802", "%s of %s holds numbers; the program wants class labels", field->name,
                      dataset->title);
    gnn_status status = gnn_field_check_labels(data, field->classes, error);
    if (status != GNN_OK) return status;
    int32_t *label = fill_place(instance, field->is_on_host, field->at[0]);
    for (int64_t r = 0; r < data->rows; r++) label[r] = data->label[gnn_dataset_row(dataset, data, r)];
    return GNN_OK;
  }
  if (data->storage == GNN_LABEL)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s of %s holds class labels; the program wants numbers", field->name,
                    dataset->title);
  if (data->width != field->width) {
    char what[96];
    snprintf(what, sizeof what, "columns in %.64s", field->name);
    return gnn_fill_misfit(&instance->run, what, data->width, field->width, error);
  }
  return field->storage == GNN_SPARSE ? fill_sparse(instance, dataset, data, field, error)
                                      : fill_dense(instance, dataset, data, field, error);
}

/* As many of each part have labels as in the plan. */
static int fill_has_rows(const gnn_graph_desc *plan, const gnn_dataset *dataset, int split) {
  int is_equal = 1;
  int64_t k = 0;
  for (int64_t part = 0; plan->part_rows[split] && is_equal && part < INT64_C(1) << plan->part_levels; part++) {
    while (k < dataset->split_count[split] && dataset->split_rows[split][k] < plan->part_first[part + 1]) k++;
    is_equal = k == plan->part_rows[split][part + 1];
  }
  return is_equal;
}

gnn_status gnn_fill_splits(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  static const char *const what[GNN_SPLIT_COUNT] = {"training rows", "validation rows", "test rows"};
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  static const char *const words[] = {[GNN_NODE] = "nodes", [GNN_EDGE] = "edges", [GNN_GRAPH] = "graphs", [GNN_TYPE] = "nodes of another type", [GNN_RELATION] = "pairs"};
  const gnn_domain learned = run->program->scores_domain;
  if (plan->at_rows[GNN_TRAIN] >= 0 && dataset->split_domain != learned)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s has labels on %s; the program learns labels of %s", dataset->title, words[dataset->split_domain], words[learned]);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int64_t count = dataset->split_count[s];
    run->row_count[s] = 0;
    run->rows[s] = NULL;
    if (plan->at_rows[s] < 0) continue;
    if (count > plan->row_count[s]) return gnn_fill_misfit(run, what[s], count, plan->row_count[s], error);
    if (!fill_has_rows(plan, dataset, s)) return gnn_fill_other_parts(dataset, error);
    int32_t *rows = fill_place(instance, plan->are_rows_on_host, plan->at_rows[s]);
    if (count) memcpy(rows, dataset->split_rows[s], (size_t)count * sizeof *rows);
    run->rows[s] = rows;
    run->row_count[s] = count;
  }
  if (plan->at_rows[GNN_TRAIN] >= 0 && run->row_count[GNN_TRAIN] == 0 && instance->batches == NULL && run->ranks == NULL)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s has no training %s", dataset->title, words[learned]);
  return GNN_OK;
}

gnn_status gnn_instance_fill_pairs(gnn_instance *instance, const gnn_dataset *dataset, int set, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  if (instance->run.ranks) return gnn_fill_pairs_of_rank(instance, dataset, set, error);
  gnn_status status = fill_relation(instance, dataset, set, error);
  for (int i = 0; status == GNN_OK && i < program->field_count; i++)
    if (program->fields[i].domain == GNN_RELATION && program->fields[i].set == set) status = gnn_fill_field(instance, dataset, &program->fields[i], error);
  return status == GNN_OK ? gnn_fill_splits(instance, dataset, error) : status;
}

gnn_status gnn_instance_fill(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  if (instance->run.ranks) return gnn_fill_ranks(instance, dataset, error);
  gnn_status status = fill_graph(instance, dataset, error);
  for (int i = 0; status == GNN_OK && i < program->field_count; i++) status = gnn_fill_field(instance, dataset, &program->fields[i], error);
  return status == GNN_OK ? gnn_fill_splits(instance, dataset, error) : status;
}
