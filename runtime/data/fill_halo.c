/* fill_halo.c: part by part the rows that it gathers are marked, numbered and listed, then the ids of its entries become codes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fill_halo.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/adjacency.h"
#include "runtime/core/home.h"

typedef struct halo_filling {
  const gnn_dataset *dataset;
  const gnn_graph_desc *plan;
  int direction;
  const int64_t *ptr;   /* of the sums' rows */
  int64_t *first;       /* gnn_halo_rows */
  int32_t *row;
  int32_t *number;      /* per row: its code in the part under way; -1: it is not gathered */
  int64_t *next;        /* gnn_adjacency_turn_some */
  int32_t *ids;         /* of the part under way */
} halo_filling;

/* The ids at the other ends of the entries of rows begin .. end - 1: those of in-edges lie there, those of out-edges are found by going over all edges. */
static void halo_ids(const halo_filling *f, int64_t begin, int64_t end) {
  const gnn_dataset *d = f->dataset;
  if (f->direction) gnn_adjacency_turn_some(d->in_ptr, d->in_source, d->nodes, begin, end, f->ptr, f->next, f->ids, NULL);
  else if (f->ptr[end] > f->ptr[begin]) memcpy(f->ids, d->in_source + f->ptr[begin], (size_t)(f->ptr[end] - f->ptr[begin]) * sizeof *f->ids);
}

/* Whether the part gathers as many rows of each as was planned; ids become codes. */
static int halo_of_part(const halo_filling *f, int64_t part) {
  const gnn_graph_desc *plan = f->plan;
  const int64_t parts = INT64_C(1) << plan->part_levels, count = f->ptr[plan->part_first[part + 1]] - f->ptr[plan->part_first[part]];
  int is_alike = 1;
  for (int64_t e = 0; e < count; e++) f->number[f->ids[e]] = 0;
  for (int64_t q = 0; q < parts; q++) {
    const int64_t planned = plan->halo[f->direction].pairs[part * parts + q];
    int64_t found = 0;
    for (int64_t r = plan->part_first[q]; r < plan->part_first[q + 1]; r++) {
      if (f->number[r] < 0) continue;
      if (found < planned) f->row[f->first[q * parts + part] + found] = (int32_t)r;
      f->number[r] = (int32_t)(q << plan->halo[f->direction].shift | found++);
    }
    is_alike &= found == planned;
  }
  for (int64_t e = 0; e < count; e++) f->ids[e] = f->number[f->ids[e]];
  for (int64_t q = 0; q < parts && is_alike; q++)
    for (int64_t r = f->first[q * parts + part]; r < f->first[q * parts + part + 1]; r++) f->number[f->row[r]] = -1;
  return is_alike;
}

static void halo_begin_pairs(const gnn_graph_desc *plan, int direction, int64_t *first) {
  const int64_t parts = INT64_C(1) << plan->part_levels;
  int64_t rows = 0;
  for (int64_t q = 0; q < parts; q++)
    for (int64_t p = 0; p < parts; p++) {
      first[q * parts + p] = rows;
      rows += plan->halo[direction].pairs[p * parts + q];
    }
  first[parts * parts] = rows;
}

/* ---- rows that are away from the device ---- */

/* Where they are filled in: on the way to the SSD in memory that is the caller's. NULL: there is none. */
static void *halo_place(const gnn_instance *instance, int64_t at, int is_on_host, const gnn_side *side, int64_t count) {
  if (side->extent_count > 0) return malloc((size_t)count * 4 + 1);
  return is_on_host ? instance->tiers.base[GNN_HOST] + at : (void *)gnn_instance_at(instance, at);
}

/* All of them are there: what is not on the device has no pointer. */
static gnn_status halo_go_home(gnn_instance *instance, const gnn_side *side, int32_t *numbers, int64_t count, gnn_status status, gnn_error *error) {
  gnn_home home;
  if (side->extent_count == 0) return status;
  if (status == GNN_OK && (status = gnn_home_open(&home, instance, side, error)) == GNN_OK) status = gnn_home_close(&home, gnn_home_put(&home, numbers, count * (int64_t)sizeof *numbers, error), error);
  free(numbers);
  return status;
}

static gnn_status halo_other_rows(const gnn_dataset *dataset, gnn_error *error) {
  return gnn_fail(error, GNN_EDATA, "R0802", "parts of %s gather other rows of each other than those of the data that the program was compiled for: compile it again with these data", dataset->title);
}

/* `codes`: where they go; NULL: to `home`, part by part. */
static gnn_status halo_codes_of_parts(halo_filling *f, int32_t *codes, gnn_home *home, gnn_error *error) {
  const gnn_graph_desc *plan = f->plan;
  gnn_status status = GNN_OK;
  for (int64_t r = 0; r < f->dataset->nodes; r++) f->number[r] = -1;
  f->ids = codes ? codes : f->ids;
  if (codes) halo_ids(f, 0, f->dataset->nodes);
  for (int64_t p = 0; p < INT64_C(1) << plan->part_levels && status == GNN_OK; p++) {
    const int64_t begin = f->ptr[plan->part_first[p]], count = f->ptr[plan->part_first[p + 1]] - begin;
    if (codes) f->ids = codes + begin;
    else halo_ids(f, plan->part_first[p], plan->part_first[p + 1]);
    if (!halo_of_part(f, p)) return halo_other_rows(f->dataset, error);
    if (!codes) status = gnn_home_put(home, f->ids, count * (int64_t)sizeof *f->ids, error);
  }
  return status;
}

/* The largest part: of rows, of entries. */
static void halo_largest(const gnn_graph_desc *plan, const int64_t *ptr, int64_t *rows, int64_t *entries) {
  for (int64_t p = 0; p < INT64_C(1) << plan->part_levels; p++) {
    const int64_t begin = plan->part_first[p], end = plan->part_first[p + 1];
    if (end - begin > *rows) *rows = end - begin;
    if (ptr[end] - ptr[begin] > *entries) *entries = ptr[end] - ptr[begin];
  }
}

gnn_status gnn_fill_halo(gnn_instance *instance, const gnn_dataset *dataset, int direction, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  const struct gnn_halo_desc *desc = &plan->halo[direction];
  const gnn_edge_set_desc *edges = &plan->sets[GNN_EDGES];
  const int64_t at_idx = direction ? edges->at_out_idx : edges->at_in_idx;
  const gnn_side *side = direction ? &edges->out_home : &edges->in_home;
  const int is_for_ids = gnn_halo_has_codes_for_ids(plan, direction), is_on_ssd = is_for_ids && side->extent_count > 0;
  halo_filling f = {.dataset = dataset, .plan = plan, .direction = direction, .ptr = direction ? run->sets[GNN_EDGES].out.ptr : dataset->in_ptr,
                    .first = gnn_instance_at(instance, desc->at_first)};
  int32_t *codes = !is_for_ids ? gnn_instance_at(instance, desc->at_code) : is_on_ssd ? NULL : edges->is_idx_on_host ? (int32_t *)(void *)(instance->tiers.base[GNN_HOST] + at_idx)
                                                                                                                       : gnn_instance_at(instance, at_idx);
  int64_t rows = 0, entries = 0;
  halo_largest(plan, f.ptr, &rows, &entries);
  halo_begin_pairs(plan, direction, f.first);
  const int64_t gathered = f.first[INT64_C(1) << 2 * plan->part_levels];
  f.row = halo_place(instance, desc->at_row, desc->is_row_on_host, &desc->row_home, gathered);
  int32_t *buffer = is_on_ssd ? malloc((size_t)entries * sizeof *buffer + 1) : NULL;
  f.ids = buffer;
  f.number = malloc((size_t)dataset->nodes * sizeof *f.number + 1);
  if (codes) rows = dataset->nodes; /* all of them at once */
  f.next = malloc((size_t)rows * sizeof *f.next + 1);
  gnn_status status = f.row && f.number && f.next && (buffer || !is_on_ssd) ? GNN_OK : gnn_fail_memory(error, dataset->nodes * (int64_t)sizeof *f.number + rows * (int64_t)sizeof *f.next + entries * 4);
  gnn_home home;
  if (status == GNN_OK && is_on_ssd) status = gnn_home_open(&home, instance, side, error);
  if (status == GNN_OK) {
    status = halo_codes_of_parts(&f, codes, &home, error);
    if (is_on_ssd) status = gnn_home_close(&home, status, error);
  }
  free(buffer);
  free(f.number);
  free(f.next);
  status = halo_go_home(instance, &desc->row_home, f.row, gathered, status, error);
  gnn_csr *csr = direction ? &run->sets[GNN_EDGES].out : &run->sets[GNN_EDGES].in;
  if (is_for_ids && codes && !edges->is_idx_on_host) csr->idx = codes; /* the order that keeps everything: a device with memory of its own gets them as it gets ids */
  run->halo[direction] = (gnn_halo_rows){is_for_ids ? NULL : (const uint32_t *)codes, desc->is_row_on_host || desc->row_home.extent_count ? NULL : f.row, f.first};
  return status;
}

typedef struct edge_halo_filling {
  const gnn_dataset *dataset;
  const gnn_graph_desc *plan;
  const int64_t *out;     /* where the out-edges of each row begin */
  const int64_t *first;   /* gnn_halo_rows */
  int32_t *row;
  uint32_t *code;         /* [edges]; or of the sources of the part under way, from that of the first on */
  int64_t *next;          /* per source: where its next edge stands among the out-edges */
  unsigned char *part_of; /* per row */
  int64_t *found;         /* per pair of parts */
} edge_halo_filling;

/* Edges come in their order, by destination, and so do those of each source: where the next one of each stands among the out-edges, and among the edges of its two parts. Of sources of
 * the parts begin .. end - 1. */
static void halo_edges(const edge_halo_filling *f, int64_t begin, int64_t end) {
  const gnn_dataset *dataset = f->dataset;
  const gnn_graph_desc *plan = f->plan;
  const int64_t parts = INT64_C(1) << plan->part_levels, before = f->out[plan->part_first[begin]];
  for (int64_t r = 0; r < dataset->nodes; r++)
    for (int64_t e = dataset->in_ptr[r]; e < dataset->in_ptr[r + 1]; e++) {
      const int64_t source = dataset->in_source[e], q = f->part_of[r], p = f->part_of[source];
      if (p < begin || p >= end) continue;
      const int64_t number = f->found[q * parts + p]++;
      if (number < plan->halo[GNN_HALO_EDGES].pairs[p * parts + q]) f->row[f->first[q * parts + p] + number] = (int32_t)e;
      f->code[f->next[source]++ - before] = (uint32_t)(q << plan->halo[GNN_HALO_EDGES].shift | number);
    }
}

/* On the SSD a part at a time, each by going over all edges. */
static gnn_status halo_edges_of_parts(const edge_halo_filling *f, gnn_instance *instance, const gnn_side *side, gnn_error *error) {
  const int64_t parts = INT64_C(1) << f->plan->part_levels;
  gnn_status status = GNN_OK;
  gnn_home home;
  for (int64_t q = 0; q < parts; q++)
    for (int64_t r = f->plan->part_first[q]; r < f->plan->part_first[q + 1]; r++) f->part_of[r] = (unsigned char)q, f->next[r] = f->out[r];
  if (side->extent_count == 0) halo_edges(f, 0, parts);
  else if ((status = gnn_home_open(&home, instance, side, error)) == GNN_OK) {
    for (int64_t p = 0; p < parts && status == GNN_OK; p++) {
      halo_edges(f, p, p + 1);
      status = gnn_home_put(&home, f->code, (f->out[f->plan->part_first[p + 1]] - f->out[f->plan->part_first[p]]) * (int64_t)sizeof *f->code, error);
    }
    status = gnn_home_close(&home, status, error);
  }
  int is_alike = 1;
  for (int64_t k = 0; k < parts * parts; k++) is_alike &= f->found[k] == f->first[k + 1] - f->first[k];
  return status == GNN_OK && !is_alike ? halo_other_rows(f->dataset, error) : status;
}

gnn_status gnn_fill_edge_halo(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  const struct gnn_halo_desc *desc = &plan->halo[GNN_HALO_EDGES];
  const int64_t parts = INT64_C(1) << plan->part_levels, *out = run->sets[GNN_EDGES].out.ptr;
  int64_t *first = gnn_instance_at(instance, desc->at_first), rows = 0, entries = 0;
  halo_begin_pairs(plan, GNN_HALO_EDGES, first);
  halo_largest(plan, out, &rows, &entries);
  const edge_halo_filling f = {.dataset = dataset, .plan = plan, .out = out, .first = first, .row = halo_place(instance, desc->at_row, desc->is_row_on_host, &desc->row_home, first[parts * parts]),
                               .code = halo_place(instance, desc->at_code, desc->is_code_on_host, &desc->code_home, entries), .next = malloc((size_t)dataset->nodes * sizeof *f.next + 1),
                               .part_of = malloc((size_t)dataset->nodes + 1), .found = calloc((size_t)(parts * parts), sizeof *f.found)};
  gnn_status status = f.row && f.code && f.next && f.found && f.part_of ? halo_edges_of_parts(&f, instance, &desc->code_home, error) : gnn_fail_memory(error, dataset->nodes * 9);
  status = halo_go_home(instance, &desc->row_home, f.row, first[parts * parts], status, error);
  if (desc->code_home.extent_count) free(f.code);
  free(f.next);
  free(f.part_of);
  free(f.found);
  run->halo[GNN_HALO_EDGES] = (gnn_halo_rows){desc->is_code_on_host || desc->code_home.extent_count ? NULL : f.code, desc->is_row_on_host || desc->row_home.extent_count ? NULL : f.row, first};
  return status;
}
