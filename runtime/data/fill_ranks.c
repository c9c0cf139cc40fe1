/* fill_ranks.c: rows of a rank have the numbers 0, 1, ... there, and behind them come those that it gathers of others, rank by rank, in the order of their rows. Each rank reads the data and
 * finds for itself what it gets and what it sends: both sides go over the same edges in the same order, that of the edges that arrive at one and leave the other. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fill_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/blocks.h"
#include "runtime/core/boundary.h"
#include "runtime/core/device.h"
#include "runtime/core/ranks.h"
#include "pairs.h"

/* Rows that sums gather from one table: the nodes of a type; beside them those that candidate pairs gather. */
typedef struct rank_rows {
  int count;                /* of ranks */
  int64_t *first;           /* [count + 1]: where those of each rank begin */
  int64_t rows, begin, end; /* of all; the rank's own */
  uint64_t *gathered[2];    /* by direction: a bit for each row of all, which is in the table, and */
  int32_t *before[2];       /* for each word so many of those before it; once all are seen */
  uint64_t *by[2];          /* per row of the rank, by direction: the ranks that gather it, a bit each */
} rank_rows;

/* A set of edges of all ranks, by destination, and those of them that leave the rank's rows. */
typedef struct rank_edges {
  const rank_rows *from, *to;
  int is_of_data;           /* the data have them as they are; out_number and what is foreign nobody asks for */
  const int64_t *in_ptr;    /* [all rows + 1]; NULL: nobody has them */
  const int64_t *own_ptr;   /* [own rows + 1], where their edges begin in numbers of all, or from 0 on: */
  const int32_t *in_source; /* [count] */
  int64_t first, count;     /* that arrive at the rank's rows */
  int64_t *out_ptr;         /* [own rows + 1] */
  int32_t *out_destination; /* in numbers of all rows */
  int64_t *out_number;      /* of the edge, in a table of edges */
  int64_t *foreign_edge;    /* in numbers of all edges, those of the table behind the rank's own */
  int64_t foreign;
} rank_edges;

typedef struct ranks_filling {
  gnn_instance *instance;
  const gnn_dataset *dataset;
  const gnn_ranks_desc *desc;
  gnn_ranks *ranks;
  int64_t begin, end;       /* its nodes */
  int group_count;
  rank_rows *groups;        /* nodes, those of each further type, those of pairs */
  int64_t set_first[GNN_RELATIONS + GNN_RELATIONS_MAX], set_count[GNN_RELATIONS + GNN_RELATIONS_MAX]; /* edges of each set that arrive at its rows */
  rank_edges graph;
} ranks_filling;

static void *ranks_at(const ranks_filling *f, int64_t offset) { return offset < 0 ? NULL : gnn_instance_at(f->instance, offset); }
static int is_own(const rank_rows *g, int64_t row) { return row >= g->begin && row < g->end; }

static int rank_of(const rank_rows *g, int64_t row) {
  int low = 0, high = g->count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (g->first[middle] <= row) low = middle;
    else high = middle;
  }
  return low;
}

enum { ROWS_OF_WORD = 64 };
static int64_t words_of(int64_t rows) { return rows / ROWS_OF_WORD + 1; }
static void see_row(const rank_rows *g, int direction, int64_t row) { g->gathered[direction][row / ROWS_OF_WORD] |= UINT64_C(1) << row % ROWS_OF_WORD; }
static int is_gathered(const rank_rows *g, int direction, int64_t row) { return g->gathered[direction][row / ROWS_OF_WORD] >> row % ROWS_OF_WORD & 1; }
/* Of the rows before it. */
static int64_t gathered_before(const rank_rows *g, int direction, int64_t row) {
  const uint64_t before = g->gathered[direction][row / ROWS_OF_WORD] & ((UINT64_C(1) << row % ROWS_OF_WORD) - 1);
  return g->before[direction][row / ROWS_OF_WORD] + __builtin_popcountll(before);
}
static int32_t table_row(const rank_rows *g, int direction, int64_t row) { return (int32_t)(is_own(g, row) ? row - g->begin : g->end - g->begin + gathered_before(g, direction, row)); }

static int64_t planned(const ranks_filling *f, int halo, int to, int from) { return f->desc->pairs[halo][to * f->desc->count + from]; }

static int data_types(const ranks_filling *f) { return gnn_data_types(f->instance->run.program); }
static int data_sets(const ranks_filling *f) { return gnn_data_sets(f->instance->run.program); }

/* The parts begin where they began when the program was compiled. */
static gnn_status find_rows(ranks_filling *f, int64_t *first, gnn_error *error) {
  const gnn_dataset *d = f->dataset;
  const gnn_ranks_desc *desc = f->desc;
  const int below = gnn_block_levels(d->nodes) - desc->part_levels;
  if (d->nodes != desc->nodes || d->edges != desc->edges || below < 0) return gnn_fill_other_parts(d, error);
  const gnn_status status = gnn_dataset_cut(d, first, NULL, NULL, error);
  if (status != GNN_OK) return status;
  for (int r = 0; r <= desc->count; r++)
    if (first[(int64_t)desc->first_part[r] << below] != desc->first[r]) return gnn_fill_other_parts(d, error);
  f->begin = desc->first[f->ranks->rank];
  f->end = desc->first[f->ranks->rank + 1];
  return GNN_OK;
}

static gnn_status make_group(const ranks_filling *f, rank_rows *g, int64_t rows, int is_shared, gnn_error *error) {
  const gnn_ranks_desc *desc = f->desc;
  g->count = desc->count;
  g->rows = rows;
  g->first = malloc(((size_t)desc->count + 1) * sizeof *g->first);
  if (g->first == NULL) return gnn_fail_memory(error, desc->count * (int64_t)sizeof *g->first);
  for (int r = 0; r <= desc->count; r++) g->first[r] = is_shared ? gnn_block_share(desc->part_levels, desc->first_part[r], rows) : desc->first[r];
  g->begin = g->first[f->ranks->rank];
  g->end = g->first[f->ranks->rank + 1];
  for (int d = 0; d < 2; d++) {
    g->gathered[d] = calloc((size_t)words_of(rows), sizeof *g->gathered[d]);
    g->before[d] = malloc((size_t)words_of(rows) * sizeof *g->before[d]);
    g->by[d] = calloc((size_t)(g->end - g->begin) + 1, sizeof *g->by[d]);
    if (!g->gathered[d] || !g->before[d] || !g->by[d]) return gnn_fail_memory(error, 12 * words_of(rows) + 8 * (g->end - g->begin));
  }
  return GNN_OK;
}

/* Nodes of further types are shared evenly among the blocks of the first's. */
static gnn_status make_groups(ranks_filling *f, gnn_error *error) {
  const gnn_dataset *d = f->dataset;
  f->group_count = 1 + data_types(f) + (d->pairs != NULL);
  f->groups = calloc((size_t)f->group_count, sizeof *f->groups);
  if (f->groups == NULL) return gnn_fail_memory(error, f->group_count * (int64_t)sizeof *f->groups);
  if (d->type_count != data_types(f)) return gnn_fill_other_parts(d, error);
  for (int w = 0; w < f->instance->run.program->weight_count; w++) { /* there has to be a node for each row of it */
    const gnn_weight_desc *weight = &f->instance->run.program->weights[w];
    if (weight->has_own_rows && weight->shape[0] != gnn_dataset_rows(d, weight->rows_of)) return gnn_fill_other_parts(d, error);
  }
  gnn_status status = make_group(f, &f->groups[0], d->nodes, 0, error);
  for (int t = 0; t < data_types(f) && status == GNN_OK; t++) status = make_group(f, &f->groups[1 + t], d->types[t].nodes, 1, error);
  if (d->pairs && status == GNN_OK) status = make_group(f, &f->groups[f->group_count - 1], d->nodes, 0, error);
  return status;
}

static void drop_groups(ranks_filling *f) {
  for (int k = 0; f->groups && k < f->group_count; k++) {
    rank_rows *g = &f->groups[k];
    free(g->first);
    for (int d = 0; d < 2; d++) free(g->gathered[d]), free(g->before[d]), free(g->by[d]);
  }
  free(f->groups);
}

static const rank_rows *group_of(const ranks_filling *f, const gnn_data_relation *relation, int set) {
  if (f->dataset->pairs && relation == &f->dataset->relations[f->dataset->pairs->relation]) return &f->groups[f->group_count - 1];
  return set < 2 ? &f->groups[0] : &f->groups[set - 1];
}

/* The edges that leave the rank's rows, by source; those that arrive elsewhere are numbered behind its own, in the order of all edges. */
static gnn_status turn_edges(const rank_rows *from, const rank_rows *to, const int64_t *in_ptr, const int32_t *in_source, rank_edges *t, gnn_error *error) {
  const int64_t own = from->end - from->begin;
  *t = (rank_edges){.from = from, .to = to, .in_ptr = in_ptr, .own_ptr = in_ptr + to->begin, .in_source = in_source + in_ptr[to->begin], .first = in_ptr[to->begin], .count = in_ptr[to->end] - in_ptr[to->begin], .out_ptr = calloc((size_t)own + 1, sizeof *t->out_ptr)};
  if (t->out_ptr == NULL) return gnn_fail_memory(error, 8 * own);
  for (int64_t e = 0; e < in_ptr[to->rows]; e++)
    if (is_own(from, in_source[e])) t->out_ptr[in_source[e] - from->begin + 1]++;
  for (int64_t r = 0; r < own; r++) t->out_ptr[r + 1] += t->out_ptr[r];
  const int64_t count = t->out_ptr[own];
  int64_t *next = malloc((size_t)own * sizeof *next + 1);
  t->out_destination = malloc((size_t)count * sizeof *t->out_destination + 1);
  t->out_number = malloc((size_t)count * sizeof *t->out_number + 1);
  t->foreign_edge = malloc((size_t)count * sizeof *t->foreign_edge + 1);
  if (!next || !t->out_destination || !t->out_number || !t->foreign_edge) {
    free(next);
    return gnn_fail_memory(error, 28 * count);
  }
  memcpy(next, t->out_ptr, (size_t)own * sizeof *next);
  for (int64_t row = 0; row < to->rows; row++)
    for (int64_t e = in_ptr[row]; e < in_ptr[row + 1]; e++) {
      if (!is_own(from, in_source[e])) continue;
      const int64_t at = next[in_source[e] - from->begin]++;
      t->out_destination[at] = (int32_t)row;
      t->out_number[at] = is_own(to, row) ? e - t->first : t->count + t->foreign;
      if (!is_own(to, row)) t->foreign_edge[t->foreign++] = e;
    }
  free(next);
  return GNN_OK;
}

/* Those that the data have for this rank. */
static void take_edges(const rank_rows *rows, const gnn_own_edges *own, rank_edges *t) {
  *t = (rank_edges){.from = rows, .to = rows, .is_of_data = 1, .own_ptr = own->in_ptr, .in_source = own->in_source, .first = own->before, .count = own->in_ptr[own->end - own->begin],
                    .out_ptr = (int64_t *)(uintptr_t)own->out_ptr, .out_destination = (int32_t *)(uintptr_t)own->out_destination}; /* which are only read */
}

static void drop_edges(rank_edges *t) {
  if (t->is_of_data) return;
  free(t->out_ptr);
  free(t->out_destination);
  free(t->out_number);
  free(t->foreign_edge);
}

/* Rows that sums over these edges gather, in either direction, of the rank and by it. */
static void mark_rows(const ranks_filling *f, const rank_rows *from, const rank_rows *to, const int64_t *in_ptr, const int32_t *in_source) {
  const int own = f->ranks->rank;
  for (int64_t row = 0; row < to->rows; row++)
    for (int64_t e = in_ptr[row]; e < in_ptr[row + 1]; e++) {
      const int32_t source = in_source[e];
      const int p = rank_of(to, row), q = rank_of(from, source);
      if (p == q) continue;
      if (p == own) see_row(from, GNN_HALO_IN, source), to->by[GNN_HALO_OUT][row - to->begin] |= UINT64_C(1) << q;
      if (q == own) see_row(to, GNN_HALO_OUT, row), from->by[GNN_HALO_IN][source - from->begin] |= UINT64_C(1) << p;
    }
}

/* The same by the edges that arrive at the rank's rows, and those that leave them. */
static void mark_own(const ranks_filling *f, const rank_rows *g, const rank_edges *t) {
  const int own = f->ranks->rank;
  for (int64_t r = 0; r < g->end - g->begin; r++) {
    for (int64_t e = t->own_ptr[r]; e < t->own_ptr[r + 1]; e++) {
      const int q = rank_of(g, t->in_source[e]);
      if (q != own) see_row(g, GNN_HALO_IN, t->in_source[e]), g->by[GNN_HALO_OUT][r] |= UINT64_C(1) << q;
    }
    for (int64_t e = t->out_ptr[r]; e < t->out_ptr[r + 1]; e++) {
      const int p = rank_of(g, t->out_destination[e]);
      if (p != own) see_row(g, GNN_HALO_OUT, t->out_destination[e]), g->by[GNN_HALO_IN][r] |= UINT64_C(1) << p;
    }
  }
}

/* Pairs that are drawn anew may gather any row. */
static void mark_all(const ranks_filling *f, const rank_rows *g) {
  uint64_t all = 0;
  for (int r = 0; r < f->desc->count; r++)
    if (r != f->ranks->rank && g->first[r + 1] > g->first[r]) all |= UINT64_C(1) << r;
  for (int d = 0; d < 2; d++) {
    for (int64_t row = 0; row < g->rows && g->end > g->begin; row++)
      if (!is_own(g, row)) see_row(g, d, row);
    for (int64_t row = 0; row < g->end - g->begin; row++) g->by[d][row] = all;
  }
}

static void mark_relation(const ranks_filling *f, const gnn_data_relation *relation) {
  const rank_rows *from = group_of(f, relation, relation->src), *to = group_of(f, relation, relation->dst);
  if (from == &f->groups[f->group_count - 1] && f->dataset->pairs && f->instance->run.program->recipe.pairs.is_resampled) mark_all(f, from);
  else mark_rows(f, from, to, relation->in_ptr, relation->in_source);
}

static int halo_of_group(const ranks_filling *f, int group, int direction) {
  const int relations = data_sets(f) - GNN_RELATIONS;
  return group == 0 ? direction : GNN_HALOS + (relations > 0 ? relations : 0) + 2 * (group - 1) + direction;
}

/* In sums over in-edges (0) or out-edges (1): the rows that are gathered, in the order of the table. False: of some rank other ones than was planned. */
static int find_table(ranks_filling *f, int group, int direction) {
  const rank_rows *g = &f->groups[group];
  const int halo = halo_of_group(f, group, direction);
  int64_t *first = f->ranks->receive_first[halo], found = 0;
  for (int64_t w = 0; w < words_of(g->rows); found += __builtin_popcountll(g->gathered[direction][w++])) g->before[direction][w] = (int32_t)found;
  for (int r = 0; r <= f->desc->count; r++) {
    first[r] = gathered_before(g, direction, g->first[r]);
    if (r > 0 && r - 1 != f->ranks->rank && f->desc->pairs[halo] && first[r] - first[r - 1] != planned(f, halo, f->ranks->rank, r - 1)) return 0;
  }
  f->ranks->rows[halo] = g->end - g->begin;
  return 1;
}

/* The rank's rows that others gather. */
static int find_sent(ranks_filling *f, int group, int direction) {
  const rank_rows *g = &f->groups[group];
  const int halo = halo_of_group(f, group, direction);
  int32_t *send = ranks_at(f, f->desc->at_send[halo]);
  int64_t *first = f->ranks->send_first[halo], count = 0;
  for (int to = 0; to < f->desc->count && f->desc->pairs[halo]; to++) {
    const int64_t most = to == f->ranks->rank ? 0 : planned(f, halo, to, f->ranks->rank);
    first[to] = count;
    for (int64_t row = 0; to != f->ranks->rank && row < g->end - g->begin; row++) {
      if (!(g->by[direction][row] >> to & 1)) continue;
      if (count - first[to] == most) return 0;
      if (send) send[count] = (int32_t)row;
      count++;
    }
    if (count - first[to] != most) return 0;
  }
  first[f->desc->count] = count;
  f->ranks->send_row[halo] = send;
  return 1;
}

static int find_edges(ranks_filling *f, const rank_edges *t, int halo, int32_t *send) {
  int64_t *sent = f->ranks->send_first[halo], *received = f->ranks->receive_first[halo], count = 0;
  if (f->desc->pairs[halo] == NULL) return 1;
  const int is_drawn = gnn_ranks_draws_pairs(f->ranks, halo);
  int64_t leaving[GNN_RANKS_MOST] = {0};
  f->ranks->rows[halo] = t->count;
  for (int64_t k = 0; t->is_of_data && k < t->out_ptr[t->from->end - t->from->begin]; k++) leaving[rank_of(t->to, t->out_destination[k])]++;
  for (int r = 0; r < f->desc->count; r++) {
    received[r + 1] = received[r] + (r == f->ranks->rank ? 0 : leaving[r]);
    for (int64_t k = received[r]; k < t->foreign && t->foreign_edge[k] < t->in_ptr[t->to->first[r + 1]]; k++) received[r + 1]++;
    if (r != f->ranks->rank && !is_drawn && received[r + 1] - received[r] != planned(f, halo, f->ranks->rank, r)) return 0;
  }
  for (int to = 0; to < f->desc->count; to++) {
    const int64_t most = to == f->ranks->rank ? 0 : is_drawn ? t->count : planned(f, halo, to, f->ranks->rank);
    sent[to] = count;
    for (int64_t e = 0; to != f->ranks->rank && e < t->count; e++) {
      if (rank_of(t->from, t->in_source[e]) != to) continue;
      if (count - sent[to] == most) return 0;
      if (send) send[count] = (int32_t)e;
      count++;
    }
    if (!is_drawn && count - sent[to] != most) return 0;
  }
  sent[f->desc->count] = count;
  f->ranks->send_row[halo] = send;
  return 1;
}

/* ---- into the arena ---- */

static void fill_degree(const int64_t *ptr, int64_t rows, gnn_real *degree) {
  for (int64_t r = 0; degree && r < rows; r++) degree[r] = (gnn_real)(ptr[r + 1] - ptr[r]);
}

static gnn_status fill_edges_of_rank(ranks_filling *f, int set, const rank_edges *t, gnn_error *error) {
  gnn_run *run = &f->instance->run;
  const gnn_edge_set_desc *plan = &run->program->graph.sets[set];
  const int64_t own = t->to->end - t->to->begin, sources = t->from->end - t->from->begin, count = t->out_ptr[sources];
  int64_t *ptr = ranks_at(f, plan->at_in_ptr), *bounds = ranks_at(f, plan->at_in_bounds), *out_ptr = ranks_at(f, plan->at_out_ptr), *edge = ranks_at(f, plan->at_out_edge);
  int64_t *out_bounds = ranks_at(f, plan->at_out_bounds);
  int32_t *idx = ranks_at(f, plan->at_in_idx), *out_idx = ranks_at(f, plan->at_out_idx);
  gnn_csr *in = &run->sets[set].in, *out = &run->sets[set].out;
  f->set_first[set] = t->first;
  f->set_count[set] = t->count;
  *in = (gnn_csr){.rows = own, .entries = t->count, .ptr = ptr, .idx = idx, .bounds = bounds};
  for (int64_t r = 0; ptr && r <= own; r++) ptr[r] = t->own_ptr[r] - t->own_ptr[0];
  for (int64_t e = 0; idx && e < t->count; e++) idx[e] = table_row(t->from, 0, t->in_source[e]);
  if (bounds) in->tasks = gnn_fill_bounds(ptr, own, bounds);
  gnn_status status = ptr && plan->hub_room ? gnn_fill_hubs(in, ranks_at(f, plan->at_in_hubs), plan->hub_room, error) : GNN_OK;
  fill_degree(t->out_ptr, sources, ranks_at(f, plan->at_out_degree));
  fill_degree(t->own_ptr, own, ranks_at(f, plan->at_in_degree));
  for (int64_t k = 0; edge && k < count; k++) edge[k] = t->out_number[k];
  *out = plan->has_out && out_ptr == NULL ? *in : (gnn_csr){.rows = sources, .entries = count, .ptr = out_ptr, .idx = out_idx, .bounds = out_bounds};
  out->edge = edge;
  if (out_ptr == NULL || status != GNN_OK) return status;
  memcpy(out_ptr, t->out_ptr, (size_t)(sources + 1) * sizeof *out_ptr);
  for (int64_t k = 0; out_idx && k < count; k++) out_idx[k] = table_row(t->to, 1, t->out_destination[k]);
  if (out_bounds) out->tasks = gnn_fill_bounds(out_ptr, sources, out_bounds);
  return plan->hub_room ? gnn_fill_hubs(out, ranks_at(f, plan->at_out_hubs), plan->hub_room, error) : GNN_OK;
}

/* What the data call the edges of a table. of_data NULL: they have no order of their own. */
static void fill_edge_ids(const rank_edges *t, int has_foreign, const int64_t *of_data, int64_t *id) {
  for (int64_t k = 0; id && k < t->count + (has_foreign ? t->foreign : 0); k++) {
    const int64_t e = k < t->count ? t->first + k : t->foreign_edge[k - t->count];
    id[k] = of_data ? of_data[e] : e;
  }
}

static gnn_status fill_relation_of_rank(ranks_filling *f, int set, gnn_error *error) {
  const gnn_edge_set_desc *plan = &f->instance->run.program->graph.sets[set];
  const gnn_data_relation *relation = gnn_dataset_relation(f->dataset, plan->name);
  if (relation == NULL) return gnn_fail(error, GNN_EDATA, "R0802", "%s has no relation \"%s\", which the program uses", f->dataset->title, plan->name);
  rank_edges t;
  const int halo = GNN_HALOS + set - GNN_RELATIONS;
  gnn_status status = turn_edges(group_of(f, relation, relation->src), group_of(f, relation, relation->dst), relation->in_ptr, relation->in_source, &t, error);
  if (status == GNN_OK && (t.count > plan->edges || t.out_ptr[t.from->end - t.from->begin] > plan->edges || t.count + t.foreign > plan->table || !find_edges(f, &t, halo, ranks_at(f, f->desc->at_send[halo])))) status = gnn_fill_other_parts(f->dataset, error);
  if (status == GNN_OK) {
    int64_t *id = ranks_at(f, plan->at_id);
    status = fill_edges_of_rank(f, set, &t, error);
    fill_edge_ids(&t, plan->at_out_edge >= 0, NULL, id);
    f->instance->run.sets[set].id = id;
  }
  drop_edges(&t);
  return status;
}

static void fill_ids(ranks_filling *f) {
  gnn_run *run = &f->instance->run;
  const gnn_dataset *d = f->dataset;
  int32_t *node_id = ranks_at(f, run->program->graph.at_node_id);
  int64_t *edge_id = ranks_at(f, run->program->graph.at_edge_id);
  for (int64_t r = f->begin; r < f->end; r++) node_id[r - f->begin] = d->node_id ? d->node_id[r] : (int32_t)r;
  const rank_rows *nodes = &f->groups[0];
  for (int64_t r = 0; r < d->nodes && run->program->graph.has_ids_of_others; r++)
    if (!is_own(nodes, r) && is_gathered(nodes, GNN_HALO_IN, r)) node_id[table_row(nodes, GNN_HALO_IN, r)] = d->node_id ? d->node_id[r] : (int32_t)r;
  fill_edge_ids(&f->graph, run->program->graph.sets[GNN_EDGES].at_out_edge >= 0, d->edge_id, edge_id);
  run->node_id = node_id;
  run->edge_id = edge_id;
}

static void fill_blocks_of_rank(ranks_filling *f, const int64_t *first) {
  gnn_run *run = &f->instance->run;
  const int levels = gnn_block_levels(f->dataset->nodes), below = levels - f->desc->part_levels;
  int64_t *own = ranks_at(f, run->program->graph.at_blocks);
  const int64_t begin = (int64_t)f->desc->first_part[f->ranks->rank] << below, end = (int64_t)f->desc->first_part[f->ranks->rank + 1] << below;
  for (int64_t b = begin; b <= end; b++) own[b - begin] = first[b] - f->begin;
  run->blocks = (gnn_blocks){levels, gnn_backend_of(run->program)->is_apart ? levels + GNN_DEVICE_RUN_LEVELS : gnn_run_levels(f->dataset->nodes), own};
}

/* ---- fields and splits: those of the rows, as data of their own ---- */

static void view_field(const ranks_filling *f, const gnn_data_field *from, gnn_data_field *to) {
  *to = *from;
  const int is_ordered = from->domain == GNN_NODE && f->dataset->node_id;
  if (is_ordered) to->all_rows = from->rows, to->rows = f->end - f->begin; /* their rows are found by node_id */
  if (is_ordered || from->domain == GNN_GRAPH) return;
  const int set = from->domain == GNN_EDGE ? GNN_EDGES : from->set;
  const rank_rows *type = from->domain == GNN_TYPE ? &f->groups[1 + from->set] : from->domain == GNN_NODE ? &f->groups[0] : NULL;
  const int64_t first = type ? type->begin : f->set_first[set];
  to->rows = type ? type->end - type->begin : f->set_count[set];
  if (from->dense) to->dense += first * from->width;
  if (from->ptr) to->ptr += first;
  if (from->label) to->label += first;
  if (from->divisor) to->divisor += first;
}

static int64_t nonzeros_of_rank(const gnn_dataset *view, const gnn_data_field *field, int32_t *column, float *value) {
  int64_t count = 0;
  gnn_reading window = gnn_dataset_begin(view, field);
  for (int64_t r = 0; r < field->rows; r++) {
    count += gnn_field_row_nonzeros(field, gnn_dataset_row(view, field, r), column, value);
    gnn_dataset_pass(view, field, r, &window);
  }
  return count;
}

/* Rows with scores: nodes, or candidate pairs, which lie with their destination. */
static int64_t score_row(const ranks_filling *f, int64_t node) {
  const gnn_program *program = f->instance->run.program;
  return program->scores_domain == GNN_RELATION ? gnn_dataset_relation(f->dataset, program->graph.sets[program->scores_set].name)->in_ptr[node] : node;
}

/* pairs: their set, of which alone they are; 0: all. */
static gnn_status fill_fields(ranks_filling *f, int pairs, gnn_error *error) {
  const gnn_program *program = f->instance->run.program;
  gnn_dataset view = *f->dataset;
  int32_t *rows[GNN_SPLIT_COUNT] = {NULL};
  gnn_status status = GNN_OK;
  view.nodes = f->end - f->begin;
  view.edges = f->graph.count;
  view.node_id = f->dataset->node_id ? f->instance->run.node_id : NULL;
  view.fields = malloc((size_t)f->dataset->field_count * sizeof *view.fields + 1);
  if (view.fields == NULL) return gnn_fail_memory(error, f->dataset->field_count * (int64_t)sizeof *view.fields);
  for (int k = 0; k < f->dataset->field_count; k++) view_field(f, &f->dataset->fields[k], &view.fields[k]);
  for (int i = 0; i < program->field_count && status == GNN_OK; i++) {
    const gnn_field_desc *field = &program->fields[i];
    if (pairs && (field->domain != GNN_RELATION || field->set != pairs)) continue;
    gnn_data_field *data = (gnn_data_field *)(uintptr_t)gnn_dataset_field(&view, field->name);
    if (data && field->storage == GNN_SPARSE && data->storage != GNN_LABEL && data->width == field->width) {
      int32_t *column = malloc((size_t)data->width * sizeof *column + 1);
      float *value = malloc((size_t)data->width * sizeof *value + 1);
      if (column && value) data->nonzeros = nonzeros_of_rank(&view, data, column, value);
      else status = gnn_fail_memory(error, 8 * data->width);
      free(column);
      free(value);
    }
    if (status == GNN_OK) status = gnn_fill_field(f->instance, &view, field, error);
  }
  for (int s = 0; s < GNN_SPLIT_COUNT && status == GNN_OK; s++) {
    const int32_t *all = f->dataset->split_rows[s];
    int64_t first = 0, last, begin = score_row(f, f->begin), end = score_row(f, f->end);
    while (first < f->dataset->split_count[s] && all[first] < begin) first++;
    for (last = first; last < f->dataset->split_count[s] && all[last] < end; last++) {}
    rows[s] = malloc((size_t)(last - first) * sizeof *rows[s] + 1);
    if (rows[s] == NULL) status = gnn_fail_memory(error, 4 * (last - first));
    for (int64_t k = first; rows[s] && k < last; k++) rows[s][k - first] = (int32_t)(all[k] - begin);
    view.split_rows[s] = rows[s];
    view.split_count[s] = last - first;
  }
  if (status == GNN_OK) status = gnn_fill_splits(f->instance, &view, error);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) free(rows[s]);
  free(view.fields);
  return status;
}

/* ---- what is measured: rows of all ranks ---- */

static gnn_status copy_labels(ranks_filling *f, gnn_whole_rows *w, gnn_error *error) {
  const gnn_dataset *d = f->dataset;
  const gnn_program *program = f->instance->run.program;
  gnn_whole *whole = &f->instance->whole;
  const gnn_data_field *label = program->label_field < 0 ? NULL : gnn_dataset_field(d, program->fields[program->label_field].name);
  if (label == NULL) return GNN_OK;
  const int64_t rows = score_row(f, d->nodes);
  if (label->storage == GNN_LABEL) w->classes = malloc((size_t)rows * sizeof *w->classes + 1);
  else w->numbers = malloc((size_t)(rows * label->width) * sizeof *w->numbers + 1);
  if (!w->classes && !w->numbers) return gnn_fail_memory(error, 4 * rows * label->width);
  for (int64_t r = 0; r < rows; r++)
    if (w->classes) w->classes[r] = label->label[gnn_dataset_row(d, label, r)];
    else gnn_field_row(label, gnn_dataset_row(d, label, r), w->numbers + r * label->width);
  whole->classes = w->classes;
  whole->numbers = w->numbers;
  whole->number_stride = label->width;
  gnn_instance_survey(f->instance);
  return GNN_OK;
}

/* Takes `first` over. */
static gnn_status see_whole(ranks_filling *f, int64_t *first, gnn_error *error) {
  const gnn_dataset *d = f->dataset;
  const gnn_program *program = f->instance->run.program;
  gnn_whole_rows *w = calloc(1, sizeof *w);
  if (w == NULL) {
    free(first);
    return gnn_fail_memory(error, (int64_t)sizeof *w);
  }
  w->first = first;
  f->instance->whole_rows = w;
  const int64_t rows = score_row(f, d->nodes);
  for (int r = 0; r <= f->desc->count; r++) w->score_first[r] = score_row(f, f->desc->first[r]);
  w->scores = malloc((size_t)(rows * program->classes) * sizeof *w->scores + 1);
  const int levels = gnn_block_levels(d->nodes);
  gnn_whole *whole = &f->instance->whole;
  *whole = (gnn_whole){.nodes = d->nodes, .edges = d->edges, .graphs = 1, .blocks = {levels, levels, first}, .scores = w->scores};
  int is_there = w->scores != NULL;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    w->split[s] = malloc((size_t)d->split_count[s] * sizeof *w->split[s] + 1);
    if (w->split[s] && d->split_count[s]) memcpy(w->split[s], d->split_rows[s], (size_t)d->split_count[s] * sizeof *w->split[s]);
    whole->rows[s] = w->split[s];
    whole->here[s] = whole->row_count[s] = program->graph.at_rows[s] < 0 && d->split_count[s] ? 0 : d->split_count[s];
    is_there = is_there && w->split[s];
  }
  if (!is_there) return gnn_fail_memory(error, 4 * rows * (program->classes + 1));
  const gnn_status status = copy_labels(f, w, error);
  return status == GNN_OK ? gnn_instance_make_room(f->instance, rows, INT64_C(1) << levels, error) : status;
}

/* For sums by columns of all rows. */
static gnn_status see_whole_graph(ranks_filling *f, gnn_error *error) {
  gnn_run *run = &f->instance->run;
  const int type = data_types(f);
  run->type_first[type] = 0;
  run->type_nodes[type] = f->dataset->nodes;
  return gnn_fill_whole_graph(f->instance, f->dataset, f->desc->whole_set, error);
}

static gnn_status fill_rows_of_rank(ranks_filling *f, const int64_t *first, gnn_error *error) {
  gnn_run *run = &f->instance->run;
  gnn_status status;
  for (int k = 0; k < 2 * f->group_count; k++)
    if (!find_table(f, k / 2, k % 2) || !find_sent(f, k / 2, k % 2)) return gnn_fill_other_parts(f->dataset, error);
  if (!find_edges(f, &f->graph, GNN_HALO_EDGES, ranks_at(f, f->desc->at_send[GNN_HALO_EDGES]))) return gnn_fill_other_parts(f->dataset, error);
  run->nodes = f->end - f->begin;
  run->others = f->ranks->receive_first[GNN_HALO_IN][f->desc->count];
  run->edges = f->graph.count;
  const gnn_graph_desc *plan = &run->program->graph;
  const int64_t leaving = f->graph.out_ptr[run->nodes];
  if (run->nodes > plan->nodes || run->edges > plan->edges || leaving > plan->edges) return gnn_fill_other_parts(f->dataset, error);
  run->graphs = 1;
  for (int t = 0; t < data_types(f); t++) {
    run->type_first[t] = f->groups[1 + t].begin;
    run->type_nodes[t] = f->groups[1 + t].end - f->groups[1 + t].begin;
    if (run->type_nodes[t] > plan->types[t].nodes) return gnn_fill_other_parts(f->dataset, error);
  }
  status = fill_edges_of_rank(f, GNN_EDGES, &f->graph, error);
  for (int set = GNN_RELATIONS; set < data_sets(f) && status == GNN_OK; set++)
    if ((status = fill_relation_of_rank(f, set, error)) != GNN_OK) return status;
  if (status == GNN_OK && f->desc->whole_set) status = see_whole_graph(f, error);
  if (status == GNN_OK) status = gnn_boundary_begin(run, error);
  if (status != GNN_OK) return status;
  fill_ids(f);
  fill_blocks_of_rank(f, first);
  return fill_fields(f, 0, error);
}

/* Whatever passes between the ranks. */
static gnn_status mark_edges(ranks_filling *f, gnn_error *error) {
  const gnn_dataset *d = f->dataset;
  const gnn_graph_desc *plan = &f->instance->run.program->graph;
  if (d->own) {
    take_edges(&f->groups[0], d->own, &f->graph);
    mark_own(f, &f->groups[0], &f->graph);
    return GNN_OK;
  }
  gnn_status status = turn_edges(&f->groups[0], &f->groups[0], d->in_ptr, d->in_source, &f->graph, error);
  if (status == GNN_OK) mark_rows(f, &f->groups[0], &f->groups[0], d->in_ptr, d->in_source);
  for (int set = GNN_RELATIONS; set < data_sets(f) && status == GNN_OK; set++) {
    const gnn_data_relation *relation = gnn_dataset_relation(d, plan->sets[set].name);
    if (relation == NULL || relation->src != plan->sets[set].src || relation->dst != plan->sets[set].dst)
      return gnn_fail(error, GNN_EDATA, "R0802", "%s has no relation \"%s\" between such nodes, which the program uses", d->title, plan->sets[set].name);
    mark_relation(f, relation);
  }
  return status;
}

/* A device may be all that has them, once they are there. */
static void find_part_edges(const gnn_run *run) {
  const int64_t *in = run->sets[GNN_EDGES].in.ptr;
  for (int64_t part = 0; in && part <= INT64_C(1) << run->program->graph.part_levels; part++) run->ranks->part_edge[part] = in[gnn_part_row(run, part)];
}

/* ---- before that ---- */

static void tell_counts(void *context, int64_t *numbers, int64_t count) { gnn_ranks_add(context, numbers, count); }

static void tell_nodes(void *context, uint32_t *of_nodes) {
  gnn_ranks *ranks = context;
  ranks->desc->net->gather(ranks, 0, of_nodes, ranks->desc->first, (int64_t)sizeof *of_nodes);
}

gnn_status gnn_prepare_for_rank(gnn_ranks *ranks, const gnn_program *program, gnn_dataset *dataset, gnn_error *error) {
  if (ranks == NULL || !gnn_ranks_own_edges(program)) return gnn_dataset_prepare(dataset, &program->recipe, error);
  const gnn_own_rows rows = {ranks->count, ranks->rank, ranks->desc->nodes, ranks->desc->first[ranks->rank], ranks->desc->first[ranks->rank + 1], ranks, tell_counts, tell_nodes};
  return gnn_dataset_prepare_own(dataset, &program->recipe, &rows, error);
}

gnn_status gnn_fill_ranks(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  ranks_filling f = {.instance = instance, .dataset = dataset, .desc = instance->run.program->ranks, .ranks = instance->run.ranks};
  gnn_drop_whole_rows(instance);
  if (dataset->graphs > 1) return gnn_fill_other_parts(dataset, error);
  int64_t *first = malloc(((size_t)1 << gnn_block_levels(dataset->nodes)) * sizeof *first + sizeof *first);
  gnn_status status = first ? find_rows(&f, first, error) : gnn_fail_memory(error, 8 * dataset->nodes);
  if (status == GNN_OK && dataset->split_count[GNN_TRAIN] == 0 && instance->run.program->graph.at_rows[GNN_TRAIN] >= 0)
    status = gnn_fail(error, GNN_EDATA, "R0802", "%s has no training nodes", dataset->title);
  if (status == GNN_OK) status = make_groups(&f, error);
  if (status == GNN_OK) status = mark_edges(&f, error);
  if (status == GNN_OK) status = fill_rows_of_rank(&f, first, error);
  if (status == GNN_OK) find_part_edges(&instance->run);
  if (status == GNN_OK && gnn_ranks_measure_all(instance->run.program)) status = see_whole(&f, first, error);
  else free(first);
  drop_edges(&f.graph);
  drop_groups(&f);
  return status;
}

/* Splits and labels that were drawn anew; the blocks are as they were. */
static gnn_status see_whole_again(ranks_filling *f, gnn_error *error) {
  gnn_whole_rows *w = f->instance->whole_rows;
  int64_t *first = w->first;
  w->first = NULL;
  gnn_drop_whole_rows(f->instance);
  return see_whole(f, first, error);
}

gnn_status gnn_fill_pairs_of_rank(gnn_instance *instance, const gnn_dataset *dataset, int set, gnn_error *error) {
  gnn_run *run = &instance->run;
  ranks_filling f = {.instance = instance, .dataset = dataset, .desc = run->program->ranks, .ranks = run->ranks, .group_count = 2 + run->program->graph.type_count};
  const int pairs = f.group_count - 1;
  f.begin = f.desc->first[f.ranks->rank];
  f.end = f.desc->first[f.ranks->rank + 1];
  f.groups = calloc((size_t)f.group_count, sizeof *f.groups);
  gnn_status status = f.groups ? make_group(&f, &f.groups[pairs], dataset->nodes, 0, error) : gnn_fail_memory(error, f.group_count * (int64_t)sizeof *f.groups);
  if (status == GNN_OK) {
    mark_all(&f, &f.groups[pairs]);
    if (!find_table(&f, pairs, GNN_HALO_IN) || !find_table(&f, pairs, GNN_HALO_OUT)) status = gnn_fill_other_parts(dataset, error);
  }
  if (status == GNN_OK) status = fill_relation_of_rank(&f, set, error);
  if (status == GNN_OK) status = fill_fields(&f, set, error);
  if (status == GNN_OK) status = see_whole_again(&f, error);
  if (status == GNN_OK) memcpy(run->row_weight, instance->whole.row_weight, sizeof run->row_weight);
  drop_groups(&f);
  return status;
}
