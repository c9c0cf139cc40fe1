/* fill.c: prepared data into the arena. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "contents.h"
#include "fill.h"
#include "runtime/core/blocks.h"
#include "runtime/core/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/adjacency.h"

enum { FILL_TASK_WORK = 1024 }; /* entries + rows below which a task is not worth handing out */

static gnn_status fill_misfit(const gnn_run *run, const char *what, int64_t have, int64_t planned, gnn_error *error) {
  gnn_status status = gnn_fail(error, GNN_EDATA, "R0802", "the data have %s %s, the plan was made for %s",
                               gnn_count_text(have).text, what, gnn_count_text(planned).text);
  gnn_fail_help(error, "plan again for these data: gnncc --data %s=PATH %s", run->program->data_name,
                run->program->source_name);
  return status;
}

static void *fill_at(const gnn_instance *instance, int64_t offset) {
  return offset < 0 ? NULL : gnn_instance_at(instance, offset);
}

static void fill_real(void *to, int real_bytes, int64_t index, double value) {
  if (real_bytes == 4) ((float *)to)[index] = (float)value;
  else ((double *)to)[index] = value;
}

/* Row ranges of about equal work. The number of tasks depends on the data alone, so that sums over tasks have the same
 * bits for every number of threads. */
static int64_t fill_bounds(const int64_t *ptr, int64_t rows, int64_t *bounds) {
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

/* The long rows of csr, the longest first. `room` is for as many as the planned entries can make. */
static gnn_status fill_hubs(gnn_csr *csr, int32_t *hub, int64_t room, gnn_error *error) {
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

static gnn_status fill_out(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  const gnn_graph_desc *plan = &instance->run.program->graph;
  gnn_csr *out = &instance->run.out;
  int64_t nodes = dataset->nodes, edges = dataset->edges;
  int64_t *ptr = fill_at(instance, plan->at_out_ptr), *edge = fill_at(instance, plan->at_out_edge);
  int64_t *bounds = fill_at(instance, plan->at_out_bounds);
  int32_t *idx = fill_at(instance, plan->at_out_idx);
  int64_t *scratch = NULL;
  *out = (gnn_csr){.rows = nodes, .entries = edges};
  if (plan->at_out_ptr < 0) { /* symmetric: the arrays of `in` */
    if (!dataset->is_symmetric) {
      gnn_status status = gnn_fail(error, GNN_EDATA, "R0802", "%s has edges without their reverse; the plan counts on both",
                                   dataset->title);
      gnn_fail_help(error, "plan again for these data, or store every edge both ways");
      return status;
    }
    out->ptr = instance->run.in.ptr;
    out->idx = instance->run.in.idx;
    out->bounds = instance->run.in.bounds;
    out->tasks = instance->run.in.tasks;
    out->hub = instance->run.in.hub;
    out->hub_count = instance->run.in.hub_count;
    if (edge) {
      scratch = malloc((size_t)(nodes + 1) * sizeof *scratch);
      if (scratch == NULL) return gnn_fail_memory(error, nodes * (int64_t)sizeof *scratch);
      gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, nodes, nodes, scratch, NULL, edge);
      free(scratch);
    }
  } else {
    gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, nodes, nodes, ptr, idx, edge);
    out->ptr = ptr;
    out->idx = idx;
    out->bounds = bounds;
    if (bounds) out->tasks = fill_bounds(ptr, nodes, bounds);
  }
  out->edge = edge;
  return plan->at_out_ptr < 0 ? GNN_OK : fill_hubs(out, plan->hub_room ? fill_at(instance, plan->at_out_hubs) : NULL, plan->hub_room, error);
}

/* Entries by source of edges that are stored by destination, as a ptr of rows; to be freed. */
static int64_t *fill_count_out(const gnn_dataset *dataset) {
  int64_t *ptr = calloc((size_t)dataset->nodes + 1, sizeof *ptr);
  for (int64_t e = 0; ptr && e < dataset->edges; e++) ptr[dataset->in_source[e] + 1]++;
  for (int64_t v = 0; ptr && v < dataset->nodes; v++) ptr[v + 1] += ptr[v];
  return ptr;
}

static void fill_degrees(void *degree, int real_bytes, const int64_t *ptr, int64_t nodes) {
  for (int64_t v = 0; degree && v < nodes; v++) fill_real(degree, real_bytes, v, (double)(ptr[v + 1] - ptr[v]));
}

/* The pieces of values have the sizes that the parts had in the plan. */
static int fill_has_parts(const gnn_run *run, const int64_t *first) {
  const gnn_graph_desc *plan = &run->program->graph;
  const int below = run->blocks.levels - plan->part_levels;
  int is_equal = below >= 0;
  for (int64_t part = 0; is_equal && part <= INT64_C(1) << plan->part_levels; part++) is_equal = first[part << below] == plan->part_first[part];
  return is_equal;
}

/* The nodes of each graph and the graph of each node, as far as the program needs them. */
static gnn_status fill_pools(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  const int64_t graphs = dataset->graphs, nodes = dataset->nodes;
  int64_t *ptr = fill_at(instance, plan->at_members_ptr), *bounds = fill_at(instance, plan->at_members_bounds);
  int32_t *idx = fill_at(instance, plan->at_members_idx);
  run->members = (gnn_csr){.rows = graphs, .entries = nodes, .ptr = ptr, .idx = idx, .bounds = bounds};
  if (ptr) {
    memcpy(ptr, dataset->graph_ptr, (size_t)(graphs + 1) * sizeof *ptr);
    for (int64_t v = 0; v < nodes; v++) idx[v] = (int32_t)v;
    run->members.tasks = fill_bounds(ptr, graphs, bounds);
  }
  ptr = fill_at(instance, plan->at_owner_ptr), bounds = fill_at(instance, plan->at_owner_bounds), idx = fill_at(instance, plan->at_owner_idx);
  run->owner = (gnn_csr){.rows = nodes, .entries = nodes, .ptr = ptr, .idx = idx, .bounds = bounds};
  if (ptr) {
    for (int64_t v = 0; v <= nodes; v++) ptr[v] = v;
    for (int64_t g = 0; g < graphs; g++)
      for (int64_t v = dataset->graph_ptr[g]; v < dataset->graph_ptr[g + 1]; v++) idx[v] = (int32_t)g;
    run->owner.tasks = fill_bounds(ptr, nodes, bounds);
  }
  void *size = fill_at(instance, plan->at_graph_size);
  for (int64_t g = 0; size && g < graphs; g++) fill_real(size, run->program->real_bytes, g, (double)(dataset->graph_ptr[g + 1] - dataset->graph_ptr[g]));
  int32_t *hubs = fill_at(instance, plan->at_members_hubs);
  return hubs ? fill_hubs(&run->members, hubs, plan->nodes / (GNN_HUB_ENTRIES + 1), error) : GNN_OK;
}

static gnn_status fill_graph(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  int64_t nodes = dataset->nodes, edges = dataset->edges;
  if (nodes > plan->nodes || (plan->has_weights_of_nodes && nodes != plan->nodes)) return fill_misfit(run, "nodes", nodes, plan->nodes, error);
  if (edges > plan->edges) return fill_misfit(run, "edges", edges, plan->edges, error);
  if (dataset->graphs > 1 && dataset->graphs > plan->graphs) return fill_misfit(run, "graphs", dataset->graphs, plan->graphs, error);
  run->nodes = nodes;
  run->edges = edges;
  run->graphs = dataset->graphs;
  const gnn_status pooled = plan->graphs ? fill_pools(instance, dataset, error) : GNN_OK;
  if (pooled != GNN_OK) return pooled;
  int32_t *node_id = plan->is_ordered ? fill_at(instance, plan->at_node_id) : NULL;
  int64_t *edge_id = plan->is_ordered ? fill_at(instance, plan->at_edge_id) : NULL;
  for (int64_t v = 0; node_id && v < nodes; v++) node_id[v] = dataset->node_id ? dataset->node_id[v] : (int32_t)v;
  for (int64_t e = 0; edge_id && e < edges; e++) edge_id[e] = dataset->edge_id ? dataset->edge_id[e] : e;
  run->node_id = node_id;
  run->edge_id = edge_id;
  int64_t *ptr = fill_at(instance, plan->at_in_ptr), *bounds = fill_at(instance, plan->at_in_bounds);
  int32_t *idx = fill_at(instance, plan->at_in_idx);
  run->in = (gnn_csr){.rows = nodes, .entries = edges, .ptr = ptr, .idx = idx, .bounds = bounds};
  if (ptr) memcpy(ptr, dataset->in_ptr, (size_t)(nodes + 1) * sizeof *ptr);
  if (idx && edges) memcpy(idx, dataset->in_source, (size_t)edges * sizeof *idx);
  if (bounds) run->in.tasks = fill_bounds(dataset->in_ptr, nodes, bounds);
  const gnn_status status = ptr && plan->hub_room ? fill_hubs(&run->in, fill_at(instance, plan->at_in_hubs), plan->hub_room, error) : GNN_OK;
  if (status != GNN_OK) return status;
  int64_t *counted = dataset->is_symmetric ? NULL : fill_count_out(dataset), *first = fill_at(instance, plan->at_blocks);
  const int64_t *out_ptr = dataset->is_symmetric ? dataset->in_ptr : counted;
  if (out_ptr == NULL) return gnn_fail_memory(error, nodes * (int64_t)sizeof *counted);
  int levels = gnn_block_levels(nodes), is_apart = gnn_backend_of(run->program)->is_apart;
  run->blocks = (gnn_blocks){levels, is_apart ? levels + GNN_DEVICE_RUN_LEVELS : gnn_run_levels(nodes), first};
  if (first) gnn_blocks_cut(nodes, run->blocks.levels, dataset->in_ptr, out_ptr, first);
  if (plan->part_first && !fill_has_parts(run, first)) {
    free(counted);
    return gnn_fail(error, GNN_EDATA, "R0802", "%s is cut into other parts than those that the program was compiled for: compile it again with these data", dataset->title);
  }
  fill_degrees(fill_at(instance, plan->at_in_degree), run->program->real_bytes, dataset->in_ptr, nodes);
  fill_degrees(fill_at(instance, plan->at_out_degree), run->program->real_bytes, out_ptr, nodes);
  free(counted);
  if (!plan->has_out) {
    run->out = (gnn_csr){.rows = nodes, .entries = edges};
    return GNN_OK;
  }
  return fill_out(instance, dataset, error);
}

/* ---- fields ---- */

/* To nearest even; what is no number stays none. */
static uint16_t fill_rounded(float x) {
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  return (uint16_t)(x != x ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16);
}

static gnn_status fill_dense(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *data, const gnn_field_desc *field,
                             gnn_error *error) {
  int real_bytes = instance->run.program->real_bytes;
  int64_t width = field->width, stride = gnn_row_stride(field->stride, width);
  unsigned char *to = fill_at(instance, field->at[0]);
  int is_as_it_is = real_bytes == 4 && !field->is_half;
  float *row = is_as_it_is ? NULL : malloc((size_t)width * sizeof *row);
  if (!is_as_it_is && row == NULL) return gnn_fail_memory(error, width * (int64_t)sizeof *row);
  for (int64_t r = 0; r < data->rows; r++) {
    const int64_t from = gnn_dataset_row(dataset, data, r);
    if (is_as_it_is) {
      gnn_field_row(data, from, (float *)(void *)to + r * stride);
      continue;
    }
    gnn_field_row(data, from, row);
    for (int64_t c = 0; c < width; c++)
      if (field->is_half) ((uint16_t *)(void *)to)[r * stride + c] = fill_rounded(row[c]);
      else ((double *)(void *)to)[r * stride + c] = (double)row[c];
  }
  free(row);
  return GNN_OK;
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

static gnn_status fill_sparse(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *data, const gnn_field_desc *field,
                              gnn_error *error) {
  gnn_run *run = &instance->run;
  int real_bytes = run->program->real_bytes;
  const int is_apart = gnn_backend_of(run->program)->is_apart;
  int64_t rows = data->rows, width = field->width;
  if (data->nonzeros > field->nonzeros) return fill_misfit(run, "numbers that are not 0", data->nonzeros, field->nonzeros, error);
  if (field->sparse < 0 || field->sparse >= GNN_SPARSE_MAX)
    return gnn_fail(error, GNN_EINVAL, "", "internal: sparse field %d", field->sparse);
  fill_matrix m = {.ptr = fill_at(instance, field->at[0]), .idx = fill_at(instance, field->at[1]),
                   .value = fill_at(instance, field->at[2]), .bounds = is_apart ? NULL : fill_at(instance, field->at[3]), .hubs = is_apart ? fill_at(instance, field->at[3]) : NULL,
                   .by_ptr = fill_at(instance, field->at[4]), .by_idx = fill_at(instance, field->at[5]),
                   .by_value = fill_at(instance, field->at[6]), .by_bounds = fill_at(instance, field->at[7])};
  int32_t *column = malloc((size_t)width * sizeof *column);
  float *value = malloc((size_t)width * sizeof *value);
  if (column == NULL || value == NULL) {
    free(column);
    free(value);
    return gnn_fail_memory(error, width * 8);
  }
  int64_t at = 0;
  for (int64_t r = 0; r < rows; r++) {
    m.ptr[r] = at;
    int64_t count = gnn_field_row_nonzeros(data, gnn_dataset_row(dataset, data, r), column, value);
    for (int64_t k = 0; k < count && at < field->nonzeros; k++, at++) { /* they were counted before: a file may have changed since */
      m.idx[at] = column[k];
      fill_real(m.value, real_bytes, at, (double)value[k]);
    }
  }
  m.ptr[rows] = at;
  free(column);
  free(value);
  gnn_sparse *sparse = &run->sparse[field->sparse];
  *sparse = (gnn_sparse){.by_row = {.rows = rows, .entries = at, .ptr = m.ptr, .idx = m.idx, .bounds = m.bounds},
                         .row_value = m.value, .row_id = run->node_id};
  gnn_status status = GNN_OK;
  if (m.bounds) sparse->by_row.tasks = fill_bounds(m.ptr, rows, m.bounds);
  else status = fill_hubs(&sparse->by_row, m.hubs, field->nonzeros / (GNN_HUB_ENTRIES + 1), error);
  if (status != GNN_OK) return status;
  if (m.by_ptr == NULL) return GNN_OK;
  status = fill_by_column(&m, rows, width, real_bytes, error);
  sparse->by_column = (gnn_csr){.rows = width, .entries = at, .ptr = m.by_ptr, .idx = m.by_idx, .bounds = m.by_bounds};
  sparse->column_value = m.by_value;
  if (status == GNN_OK && m.by_bounds) sparse->by_column.tasks = fill_bounds(m.by_ptr, width, m.by_bounds);
  return status;
}

static gnn_status fill_field(gnn_instance *instance, const gnn_dataset *dataset, const gnn_field_desc *field,
                          gnn_error *error) {
  const gnn_data_field *data = gnn_dataset_field(dataset, field->name);
  if (data == NULL)
    return gnn_fail(error, GNN_EDATA, "E0203", "%s has no field \"%s\", which the program uses", dataset->title, field->name);
  static const gnn_data_domain domains[] = {[GNN_NODE] = GNN_DATA_NODE, [GNN_EDGE] = GNN_DATA_EDGE, [GNN_GRAPH] = GNN_DATA_GRAPH};
  static const char *const words[] = {[GNN_DATA_NODE] = "node", [GNN_DATA_EDGE] = "edge", [GNN_DATA_GRAPH] = "graph"};
  const gnn_data_domain domain = domains[field->domain];
  if (data->domain != domain)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s of %s belongs to %ss; the program wants it on %ss", field->name,
                    dataset->title, words[data->domain], words[domain]);
  if (field->storage == GNN_LABEL) {
    if (data->storage != GNN_LABEL)
      return gnn_fail(error, GNN_EDATA, "R0802", "%s of %s holds numbers; the program wants class labels", field->name,
                      dataset->title);
    gnn_status status = gnn_field_check_labels(data, field->classes, error);
    if (status != GNN_OK) return status;
    int32_t *label = fill_at(instance, field->at[0]);
    for (int64_t r = 0; r < data->rows; r++) label[r] = data->label[gnn_dataset_row(dataset, data, r)];
    return GNN_OK;
  }
  if (data->storage == GNN_LABEL)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s of %s holds class labels; the program wants numbers", field->name,
                    dataset->title);
  if (data->width != field->width) {
    char what[96];
    snprintf(what, sizeof what, "columns in %.64s", field->name);
    return fill_misfit(&instance->run, what, data->width, field->width, error);
  }
  return field->storage == GNN_SPARSE ? fill_sparse(instance, dataset, data, field, error)
                                      : fill_dense(instance, dataset, data, field, error);
}

static gnn_status fill_splits(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  static const char *const what[GNN_SPLIT_COUNT] = {"training rows", "validation rows", "test rows"};
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  static const gnn_data_domain domains[] = {[GNN_NODE] = GNN_DATA_NODE, [GNN_EDGE] = GNN_DATA_EDGE, [GNN_GRAPH] = GNN_DATA_GRAPH};
  static const char *const words[] = {[GNN_DATA_NODE] = "nodes", [GNN_DATA_EDGE] = "edges", [GNN_DATA_GRAPH] = "graphs"};
  const gnn_data_domain learned = domains[run->program->scores_domain];
  if (plan->at_rows[GNN_TRAIN] >= 0 && dataset->split_domain != learned)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s has labels on %s; the program learns labels of %s", dataset->title, words[dataset->split_domain], words[learned]);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int64_t count = dataset->split_count[s];
    run->row_count[s] = 0;
    run->rows[s] = NULL;
    if (plan->at_rows[s] < 0) continue;
    if (count > plan->row_count[s]) return fill_misfit(run, what[s], count, plan->row_count[s], error);
    int32_t *rows = fill_at(instance, plan->at_rows[s]);
    if (count) memcpy(rows, dataset->split_rows[s], (size_t)count * sizeof *rows);
    run->rows[s] = rows;
    run->row_count[s] = count;
  }
  if (plan->at_rows[GNN_TRAIN] >= 0 && run->row_count[GNN_TRAIN] == 0)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s has no training %s", dataset->title, words[learned]);
  return GNN_OK;
}

gnn_status gnn_instance_load(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  if (!dataset->is_prepared) return gnn_fail(error, GNN_EINVAL, "", "the data were not prepared");
  instance->is_loaded = 0;
  gnn_status status = fill_graph(instance, dataset, error);
  for (int i = 0; status == GNN_OK && i < program->field_count; i++) status = fill_field(instance, dataset, &program->fields[i], error);
  if (status == GNN_OK) status = fill_splits(instance, dataset, error);
  if (status == GNN_OK) status = gnn_contents_take(instance, dataset, error);
  status = gnn_dataset_check_files(dataset, status, error);
  return status == GNN_OK ? gnn_instance_begin(instance, error) : status;
}
