/* subgraph.c: a few hundred nodes of a data set, with the edges among them; of a set of graphs, whole ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "subgraph.h"
#include "pairs.h"

#include <stdlib.h>
#include <string.h>

/* Seed number k of split train, asked for in ascending order: a labelled node, the ends of a labelled edge (*node begins at 0) or of a pair. */
static int subgraph_seed(const gnn_dataset *dataset, int64_t k, int64_t *node, int32_t of[2]) {
  if (dataset->pairs) return of[0] = dataset->pairs->source[k], of[1] = dataset->pairs->destination[k], 2;
  of[0] = dataset->split_rows[GNN_TRAIN][k];
  if (dataset->split_domain != GNN_EDGE) return 1;
  while (of[0] >= dataset->in_ptr[*node + 1]) ++*node;
  of[1] = (int32_t)*node;
  of[0] = dataset->in_source[of[0]];
  return 2;
}

/* new_id[old] or -1; nodes keep their order. Returns how many were taken. */
static int64_t subgraph_choose(const gnn_dataset *dataset, int64_t most, int32_t *queue, int32_t *new_id) {
  int64_t taken = 0, read = 0;
  for (int64_t v = 0; v < dataset->nodes; v++) new_id[v] = -1;
  int64_t seeds = dataset->split_count[GNN_TRAIN], quarter = most / 4 > 0 ? most / 4 : 1;
  int64_t stride = dataset->pairs ? 1 : seeds > quarter ? seeds / quarter : 1; /* whole groups, which are in a random order */
  for (int64_t k = 0, node = 0; k < seeds && taken < quarter; k += stride) {
    int32_t of[2];
    const int count = subgraph_seed(dataset, k, &node, of);
    for (int i = 0; i < count; i++) {
      if (new_id[of[i]] < 0) queue[taken++] = of[i];
      new_id[of[i]] = 0;
    }
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
  for (int64_t v = 0; dataset->type_count && v < dataset->nodes && taken < most; v++) { /* edges are those of relations */
    taken += new_id[v] < 0;
    new_id[v] = 0;
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

/* The new number of a row of a set (gnn_edge_set_desc), or -1; of other types of nodes all stay. */
static int32_t subgraph_row(const subgraph_maker *m, int set, int32_t row) { return set == 0 ? m->new_id[row] : row; }

static gnn_status subgraph_relation(subgraph_maker *m, const gnn_data_relation *from) {
  const int64_t rows = gnn_dataset_rows(m->from, from->dst);
  int32_t *arcs = gnn_dataset_alloc(m->to, 2 * from->edges, sizeof *arcs, m->error);
  gnn_data_relation *to = arcs ? gnn_dataset_add_relation(m->to, from->name, from->src, from->dst, m->error) : NULL;
  if (to == NULL) return GNN_ENOMEM;
  int64_t at = 0;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t e = from->in_ptr[r]; e < from->in_ptr[r + 1]; e++) {
      const int32_t source = subgraph_row(m, from->src, from->in_source[e]), destination = subgraph_row(m, from->dst, (int32_t)r);
      if (source < 0 || destination < 0) continue;
      arcs[at] = source;
      arcs[from->edges + at++] = destination;
    }
  to->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {at}, .count = at, .data = (unsigned char *)arcs};
  to->raw_destination = to->raw_source;
  to->raw_destination.data = (unsigned char *)(arcs + from->edges);
  return GNN_OK;
}

/* Prepared already: the first type is the first, and the others are of the sets that they were of. */
static gnn_status subgraph_types(subgraph_maker *m) {
  const gnn_dataset *from = m->from;
  gnn_status status = GNN_OK;
  m->to->types = malloc((size_t)(from->type_count + 1) * sizeof *m->to->types);
  if (m->to->types == NULL) return gnn_fail_memory(m->error, (from->type_count + 1) * (int64_t)sizeof *m->to->types);
  if (from->type_count) memcpy(m->to->types, from->types, (size_t)from->type_count * sizeof *from->types);
  memcpy(m->to->node_type, from->node_type, sizeof from->node_type);
  m->to->type_count = from->type_count;
  for (int r = 0; status == GNN_OK && r < from->relation_count - (from->pairs != NULL); r++) status = subgraph_relation(m, &from->relations[r]);
  return status;
}

/* Whether row r of a field of that domain is in the subgraph; edges are walked in their order by *node. */
static int subgraph_has_edge(const subgraph_maker *m, int64_t e, int64_t *node) {
  while (e >= m->from->in_ptr[*node + 1]) ++*node;
  return m->new_id[*node] >= 0 && m->new_id[m->from->in_source[e]] >= 0;
}

static gnn_status subgraph_field(subgraph_maker *m, const gnn_data_field *field) {
  int is_edge = field->domain == GNN_EDGE, is_graph = field->domain == GNN_GRAPH, is_type = field->domain == GNN_TYPE, is_label = field->storage == GNN_LABEL;
  int64_t rows = is_edge ? m->edges : is_graph ? m->graphs : is_type ? field->rows : m->nodes, at = 0, node = 0;
  int64_t item = is_label ? (int64_t)sizeof(int32_t) : field->width * (int64_t)sizeof(float);
  unsigned char *data = gnn_dataset_alloc(m->to, rows, item, m->error);
  if (data == NULL) return GNN_ENOMEM;
  for (int64_t r = 0; r < field->rows; r++) {
    if (is_type ? 0 : is_edge ? !subgraph_has_edge(m, r, &node) : (is_graph ? m->new_graph : m->new_id)[r] < 0) continue;
    const int64_t row = gnn_dataset_row(m->from, field, r);
    if (is_label) memcpy(data + at * item, &field->label[row], sizeof(int32_t));
    else gnn_field_row(field, row, (float *)(void *)(data + at * item));
    at++;
  }
  gnn_array array = {.dtype = is_label ? GNN_I32 : GNN_F32, .rank = is_label ? 1 : 2, .shape = {rows, field->width},
                     .count = is_label ? rows : rows * field->width, .data = data};
  gnn_status status = gnn_dataset_add_field(m->to, field->name, field->domain, &array, m->error);
  if (status != GNN_OK) return status;
  m->to->fields[m->to->field_count - 1].set = field->set;
  if (is_label) m->to->fields[m->to->field_count - 1].declared_classes = field->classes;
  return GNN_OK;
}

/* From edges to those of the subgraph, or -1; NULL: there is no memory. */
static int32_t *subgraph_new_edges(subgraph_maker *m) {
  int32_t *new_edge = gnn_dataset_alloc(m->to, m->from->edges, sizeof *new_edge, m->error), count = 0;
  int64_t node = 0;
  for (int64_t e = 0; new_edge && e < m->from->edges; e++) new_edge[e] = subgraph_has_edge(m, e, &node) ? count++ : -1;
  return new_edge;
}

static gnn_status subgraph_splits(subgraph_maker *m) {
  const int32_t *new_row = m->from->split_domain == GNN_EDGE ? subgraph_new_edges(m) : m->new_graph ? m->new_graph : m->new_id;
  if (new_row == NULL) return GNN_ENOMEM;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int64_t count = 0;
    int32_t *ids = gnn_dataset_alloc(m->to, m->from->split_count[s], sizeof *ids, m->error);
    if (ids == NULL) return GNN_ENOMEM;
    for (int64_t k = 0; k < m->from->split_count[s]; k++) {
      int32_t id = new_row[m->from->split_rows[s][k]];
      if (id >= 0) ids[count++] = id;
    }
    if (count == 0) continue;
    m->to->is_split_ids[s] = 1;
    m->to->raw_split[s] = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {count}, .count = count, .data = (unsigned char *)ids};
  }
  return GNN_OK;
}

/* The groups of split train all of whose pairs are among the nodes. */
static gnn_status subgraph_pairs(subgraph_maker *m) {
  const gnn_pairs *from = m->from->pairs;
  const int64_t each = 1 + from->negatives;
  m->to->nodes = m->nodes;
  gnn_pairs *to = gnn_pairs_new(m->to, from->name, from->negatives, from->count[GNN_TRAIN], from->count[GNN_TRAIN] * each, m->error);
  if (to == NULL) return GNN_ENOMEM;
  to->groups = 0;
  for (int64_t g = 0; g < from->count[GNN_TRAIN]; g++) {
    int is_whole = 1;
    for (int64_t i = 0; i < each; i++) {
      const int32_t source = m->new_id[from->source[g * each + i]], destination = m->new_id[from->destination[g * each + i]];
      to->source[to->groups * each + i] = source;
      to->destination[to->groups * each + i] = destination;
      is_whole &= source >= 0 && destination >= 0;
    }
    to->groups += is_whole;
  }
  to->count[GNN_TRAIN] = to->groups;
  to->others[GNN_TRAIN] = to->groups * to->negatives;
  return to->groups ? GNN_OK : gnn_fail(m->error, GNN_EDATA, "", "a part of %s has no whole group of pairs", m->from->title);
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
  const int is_set = dataset->split_domain == GNN_GRAPH;
  if (dataset->split_count[GNN_TRAIN] == 0)
    return gnn_fail(error, GNN_EDATA, "", "%s has no training %s", dataset->title, is_set ? "graphs" : dataset->split_domain == GNN_EDGE ? "edges" : "nodes");
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
    if (status == GNN_OK) status = subgraph_types(&m);
    for (int i = 0; status == GNN_OK && i < dataset->field_count; i++)
      if (dataset->fields[i].domain != GNN_RELATION && (dataset->fields[i].domain != GNN_GRAPH || is_set)) status = subgraph_field(&m, &dataset->fields[i]);
    if (status == GNN_OK) status = dataset->pairs ? subgraph_pairs(&m) : subgraph_splits(&m);
    const gnn_data_field *target = dataset->label_field >= 0 ? &dataset->fields[dataset->label_field] : NULL;
    const gnn_recipe recipe = {.keeps_duplicates = dataset->keeps_duplicates, .target = target ? target->name : NULL, .is_target_number = target && target->storage != GNN_LABEL};
    if (status == GNN_OK) status = gnn_dataset_prepare(to, &recipe, error);
  }
  free(queue);
  free(new_id);
  if (status == GNN_OK) *out = to;
  else gnn_dataset_close(to);
  return status;
}
