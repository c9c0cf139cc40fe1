/* subgraph.c: a few hundred nodes of a data set, with the edges among them; of a set of graphs, whole ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "subgraph.h"

#include <stdlib.h>
#include <string.h>

/* new_id[old] or -1; nodes keep their order. Returns how many were taken. */
static int64_t subgraph_choose(const gnn_dataset *dataset, int64_t most, int32_t *queue, int32_t *new_id) {
  int64_t taken = 0, read = 0;
  for (int64_t v = 0; v < dataset->nodes; v++) new_id[v] = -1;
  const int32_t *trained = dataset->split_rows[GNN_TRAIN];
  int64_t seeds = dataset->split_count[GNN_TRAIN], quarter = most / 4 > 0 ? most / 4 : 1;
  int64_t stride = seeds > quarter ? seeds / quarter : 1;
  for (int64_t k = 0; k < seeds && taken < quarter; k += stride) {
    queue[taken++] = trained[k];
    new_id[trained[k]] = 0;
  }
  for (; read < taken && taken < most; read++) {
    int32_t v = queue[read];
    for (int64_t e = dataset->in_ptr[v]; e < dataset->in_ptr[v + 1] && taken < most; e++) {
      int32_t u = dataset->in_source[e];
      if (new_id[u] >= 0) continue;
      new_id[u] = 0;
      queue[taken++] = u;
    }
  }
  int64_t next = 0;
  for (int64_t v = 0; v < dataset->nodes; v++)
    if (new_id[v] >= 0) new_id[v] = (int32_t)next++;
  return taken;
}

/* The same of whole graphs, every so-many-th of those that are trained on; the first in any case. new_graph[old] or -1. */
static int64_t subgraph_choose_graphs(const gnn_dataset *dataset, int64_t most, int32_t *new_graph, int32_t *new_id, int64_t *graphs) {
  int64_t taken = 0;
  for (int64_t g = 0; g < dataset->graphs; g++) new_graph[g] = -1;
  const int64_t seeds = dataset->split_count[GNN_TRAIN], each = dataset->nodes / dataset->graphs + 1, wanted = most / each + 1, stride = seeds > wanted ? seeds / wanted : 1;
  for (int64_t k = 0; k < seeds && (k == 0 || taken < most); k += stride) {
    const int32_t g = dataset->split_rows[GNN_TRAIN][k];
    new_graph[g] = 0;
    taken += dataset->graph_ptr[g + 1] - dataset->graph_ptr[g];
  }
  *graphs = taken = 0;
  for (int64_t g = 0; g < dataset->graphs; g++) {
    for (int64_t v = dataset->graph_ptr[g]; v < dataset->graph_ptr[g + 1]; v++) new_id[v] = new_graph[g] < 0 ? -1 : (int32_t)taken++;
    if (new_graph[g] >= 0) new_graph[g] = (int32_t)(*graphs)++;
  }
  return taken;
}

typedef struct subgraph_maker {
  const gnn_dataset *from;
  gnn_dataset *to;
  const int32_t *new_id, *new_graph; /* new_graph NULL: of one graph, labels are of nodes */
  int64_t nodes, edges, graphs;
  gnn_error *error;
} subgraph_maker;

static gnn_status subgraph_edges(subgraph_maker *m) {
  const gnn_dataset *from = m->from;
  for (int pass = 0; pass < 2; pass++) {
    int64_t at = 0;
    int32_t *arcs = NULL;
    if (pass) {
      arcs = gnn_dataset_alloc(m->to, 2 * m->edges, sizeof *arcs, m->error);
      if (arcs == NULL) return GNN_ENOMEM;
    }
    for (int64_t v = 0; v < from->nodes; v++) {
      if (m->new_id[v] < 0) continue;
      for (int64_t e = from->in_ptr[v]; e < from->in_ptr[v + 1]; e++) {
        int32_t u = m->new_id[from->in_source[e]];
        if (u < 0) continue;
        if (pass) {
          arcs[at] = u;
          arcs[m->edges + at] = m->new_id[v];
        }
        at++;
      }
    }
    m->edges = at;
    if (!pass) continue;
    m->to->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {at}, .count = at, .data = (unsigned char *)arcs};
    m->to->raw_destination = m->to->raw_source;
    m->to->raw_destination.data = (unsigned char *)(arcs + at);
  }
  m->to->has_edges = 1;
  m->to->declared_nodes = m->nodes;
  return GNN_OK;
}

/* Whether row r of a field of that domain is in the subgraph; edges are walked in their order by *node. */
static int subgraph_has_edge(const subgraph_maker *m, int64_t e, int64_t *node) {
  while (e >= m->from->in_ptr[*node + 1]) ++*node;
  return m->new_id[*node] >= 0 && m->new_id[m->from->in_source[e]] >= 0;
}

static gnn_status subgraph_field(subgraph_maker *m, const gnn_data_field *field) {
  int is_edge = field->domain == GNN_DATA_EDGE, is_graph = field->domain == GNN_DATA_GRAPH, is_label = field->storage == GNN_LABEL;
  int64_t rows = is_edge ? m->edges : is_graph ? m->graphs : m->nodes, at = 0, node = 0;
  int64_t item = is_label ? (int64_t)sizeof(int32_t) : field->width * (int64_t)sizeof(float);
  unsigned char *data = gnn_dataset_alloc(m->to, rows, item, m->error);
  if (data == NULL) return GNN_ENOMEM;
  for (int64_t r = 0; r < field->rows; r++) {
    if (is_edge ? !subgraph_has_edge(m, r, &node) : (is_graph ? m->new_graph : m->new_id)[r] < 0) continue;
    const int64_t row = gnn_dataset_row(m->from, field, r);
    if (is_label) memcpy(data + at * item, &field->label[row], sizeof(int32_t));
    else gnn_field_row(field, row, (float *)(void *)(data + at * item));
    at++;
  }
  gnn_array array = {.dtype = is_label ? GNN_I32 : GNN_F32, .rank = is_label ? 1 : 2, .shape = {rows, field->width},
                     .count = is_label ? rows : rows * field->width, .data = data};
  gnn_status status = gnn_dataset_add_field(m->to, field->name, field->domain, &array, m->error);
  if (status == GNN_OK && is_label) m->to->fields[m->to->field_count - 1].declared_classes = field->classes;
  return status;
}

static gnn_status subgraph_splits(subgraph_maker *m) {
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int64_t count = 0;
    int32_t *ids = gnn_dataset_alloc(m->to, m->from->split_count[s], sizeof *ids, m->error);
    if (ids == NULL) return GNN_ENOMEM;
    for (int64_t k = 0; k < m->from->split_count[s]; k++) {
      int32_t id = (m->new_graph ? m->new_graph : m->new_id)[m->from->split_rows[s][k]];
      if (id >= 0) ids[count++] = id;
    }
    if (count == 0) continue;
    m->to->is_split_ids[s] = 1;
    m->to->raw_split[s] = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {count}, .count = count, .data = (unsigned char *)ids};
  }
  return GNN_OK;
}

static gnn_status subgraph_graphs(subgraph_maker *m) {
  if (m->new_graph == NULL) return GNN_OK;
  int64_t *ptr = gnn_dataset_alloc(m->to, m->graphs + 1, sizeof *ptr, m->error), at = 0;
  if (ptr == NULL) return GNN_ENOMEM;
  ptr[0] = 0;
  for (int64_t g = 0; g < m->from->graphs; g++)
    if (m->new_graph[g] >= 0) ptr[m->new_graph[g] + 1] = at += m->from->graph_ptr[g + 1] - m->from->graph_ptr[g];
  m->to->raw_graph_ptr = (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {m->graphs + 1}, .count = m->graphs + 1, .data = (unsigned char *)ptr};
  m->to->declared_graphs = m->graphs;
  return GNN_OK;
}

gnn_status gnn_subgraph(const gnn_dataset *dataset, int64_t most, gnn_dataset **out, gnn_error *error) {
  *out = NULL;
  const int is_set = dataset->split_domain == GNN_DATA_GRAPH;
  if (dataset->split_domain == GNN_DATA_EDGE || dataset->split_count[GNN_TRAIN] == 0)
    return gnn_fail(error, GNN_EDATA, "", "%s has no training %s", dataset->title, is_set ? "graphs" : "nodes");
  int32_t *queue = malloc((size_t)(dataset->nodes > dataset->graphs ? dataset->nodes : dataset->graphs) * sizeof *queue);
  int32_t *new_id = malloc((size_t)dataset->nodes * sizeof *new_id);
  gnn_dataset *to = gnn_dataset_new(dataset->title);
  gnn_status status = GNN_OK;
  if (!queue || !new_id || !to) status = gnn_fail_memory(error, dataset->nodes * 8);
  if (status == GNN_OK) {
    subgraph_maker m = {.from = dataset, .to = to, .new_id = new_id, .error = error};
    if (is_set) {
      m.nodes = subgraph_choose_graphs(dataset, most, queue, new_id, &m.graphs);
      m.new_graph = queue;
    } else {
      m.nodes = subgraph_choose(dataset, most, queue, new_id);
    }
    status = subgraph_edges(&m);
    if (status == GNN_OK) status = subgraph_graphs(&m);
    for (int i = 0; status == GNN_OK && i < dataset->field_count; i++)
      if (dataset->fields[i].domain != GNN_DATA_GRAPH || is_set) status = subgraph_field(&m, &dataset->fields[i]);
    if (status == GNN_OK) status = subgraph_splits(&m);
    const gnn_data_field *target = dataset->label_field >= 0 ? &dataset->fields[dataset->label_field] : NULL;
    const gnn_recipe recipe = {.target = target ? target->name : NULL, .is_target_number = target && target->storage != GNN_LABEL};
    if (status == GNN_OK) status = gnn_dataset_prepare(to, &recipe, error);
  }
  free(queue);
  free(new_id);
  if (status == GNN_OK) *out = to;
  else gnn_dataset_close(to);
  return status;
}
