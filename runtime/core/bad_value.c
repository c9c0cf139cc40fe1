/* bad_value.c: the first value that is not finite, found by doing the same again: an epoch is a function of what stays in the arena. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "bad_value.h"

#include <math.h>

#include "../base/array.h"
#include "adjacency.h"
#include "home.h"
#include "ranks.h"
#include "weights.h"

static int bad_value_look(const gnn_run *run, gnn_bad_value *bad, const char *name, gnn_rows rows, gnn_array values, int64_t first, int64_t count, int64_t width) {
  for (int64_t i = 0; i < count * width; i++) {
    const double value = gnn_array_number(&values, i);
    if (isfinite(value)) continue;
    *bad = (gnn_bad_value){run->epoch, 0, 0, name, rows, 0, first + i / width, i % width, (float)value};
    return 1;
  }
  return 0;
}

static int64_t bad_value_rows(const gnn_run *run, const gnn_value_desc *value) {
  switch (value->rows) {
  case GNN_ROWS_NODE: return run->nodes;
  case GNN_ROWS_EDGE: return run->sets[value->count].in.entries;
  case GNN_ROWS_GRAPH: return run->graphs;
  case GNN_ROWS_TYPE: return run->type_nodes[value->count - GNN_RELATIONS];
  case GNN_ROWS_OTHERS: return run->others;
  case GNN_ROWS_NONE: case GNN_ROWS_PART: case GNN_ROWS_EDGES_OF_PART: break;
  }
  return value->count;
}

/* The rows, or edges, of the parts before; of a rank, of its parts. */
static int64_t bad_value_before(const gnn_run *run, int64_t part, int is_of_edges) {
  if (!is_of_edges) return gnn_row_of_part(run, part);
  return run->ranks ? gnn_part_edge(run, part) : run->program->graph.part_in[part];
}

void gnn_bad_value_search(gnn_run *run, int step) {
  const gnn_program *program = run->program;
  gnn_bad_value *bad = run->search;
  for (int v = 0; v < program->value_count && !bad->epoch; v++) {
    const gnn_value_desc *value = &program->values[v];
    const int is_of_edges = value->rows == GNN_ROWS_EDGES_OF_PART;
    const int is_of_part = is_of_edges || value->rows == GNN_ROWS_PART;
    const int64_t first = is_of_part ? bad_value_before(run, value->count - 1, is_of_edges) : 0;
    const int64_t count = is_of_part ? bad_value_before(run, value->count, is_of_edges) - first : bad_value_rows(run, value);
    const gnn_array values = {.dtype = value->is_half ? GNN_BF16 : GNN_F32, .data = (const unsigned char *)gnn_at(run, value->at)};
    if (value->step != step || !bad_value_look(run, bad, value->name, is_of_edges ? GNN_ROWS_EDGE : is_of_part ? GNN_ROWS_NODE : value->rows, values, first, count, value->width)) continue;
    bad->set = value->rows == GNN_ROWS_EDGE ? (int)value->count : 0;
    bad->step = step;
    bad->line = value->line;
  }
}

typedef struct bad_value_weight {
  gnn_instance *instance;
  const gnn_weight_desc *weight;
} bad_value_weight;

static gnn_status bad_value_look_at_weight(void *context, void *numbers, int64_t first, int64_t count) {
  const bad_value_weight *at = context;
  gnn_bad_value *bad = &at->instance->bad;
  const int64_t width = at->weight->rank ? at->weight->shape[at->weight->rank - 1] : 1;
  if (bad->epoch || width == 0 || !bad_value_look(&at->instance->run, bad, at->weight->name, GNN_ROWS_NONE, (gnn_array){.dtype = GNN_F32, .data = numbers}, 0, count, 1)) return GNN_OK;
  bad->column = (first + bad->row) % width;
  bad->row = (first + bad->row) / width;
  return GNN_OK;
}

void gnn_bad_value_find(gnn_instance *instance, gnn_work work) {
  gnn_run *run = &instance->run;
  const gnn_program *program = run->program;
  if (instance->bad.epoch || program->real_bytes != 4 || gnn_backend_of(program)->is_apart) return;
  for (int w = 0; w < program->weight_count && !instance->bad.epoch; w++) {
    bad_value_weight at = {instance, &program->weights[w]};
    gnn_status is_read = gnn_weight_walk(instance, at.weight, GNN_WEIGHT_ITSELF, GNN_WEIGHT_READ, bad_value_look_at_weight, &at, NULL);
    (void)is_read; /* what it is about is told elsewhere */
  }
  if (instance->bad.epoch) return;
  run->search = &instance->bad;
  gnn_status is_told_elsewhere = gnn_do(instance, work);
  (void)is_told_elsewhere;
  run->search = NULL;
  gnn_status are_named = gnn_home_bring_ids(instance, NULL);
  (void)are_named;
}

/* Edges are known by their ends. */
static void bad_value_row(const gnn_instance *instance, gnn_text *text) {
  const gnn_run *run = &instance->run;
  const gnn_bad_value *bad = &instance->bad;
  if (bad->rows == GNN_ROWS_NODE) gnn_text_format(text, ", node %lld", (long long)gnn_data_node(instance, bad->row));
  if (bad->rows == GNN_ROWS_GRAPH) gnn_text_format(text, ", graph %lld", (long long)gnn_data_graph(instance, bad->row));
  if ((bad->rows == GNN_ROWS_NONE || bad->rows == GNN_ROWS_TYPE) && bad->row) gnn_text_format(text, ", row %lld", (long long)bad->row);
  const gnn_csr *in = &run->sets[bad->set].in;
  if (bad->rows != GNN_ROWS_EDGE || in->ptr == NULL || in->idx == NULL) return;
  gnn_text_format(text, ", the edge from node %lld to %lld", (long long)gnn_data_node(instance, in->idx[bad->row]), (long long)gnn_data_node(instance, gnn_adjacency_row(in->ptr, 0, in->rows, bad->row)));
}

void gnn_bad_value_text(const gnn_instance *instance, gnn_text *text) {
  const gnn_run *run = &instance->run;
  const gnn_bad_value *bad = &instance->bad;
  if (!bad->epoch) return;
  gnn_text_format(text, "; first bad value: %s", bad->name);
  bad_value_row(instance, text);
  gnn_text_format(text, ", column %lld is ", (long long)bad->column);
  if (isnan(bad->value)) gnn_text_format(text, "NaN"); /* some have a sign */
  else gnn_text_format(text, "%g", (double)bad->value);
  if (bad->step) gnn_text_format(text, " (step %d, line %d)", bad->step, bad->line);
  if (bad->epoch != run->epoch) gnn_text_format(text, ", at epoch %lld", (long long)bad->epoch);
}

gnn_status gnn_epoch_failed(const gnn_instance *instance, gnn_status status, gnn_error *error) {
  gnn_text bad = {0};
  if (status == GNN_ENUMERIC) gnn_bad_value_text(instance, &bad);
  status = gnn_step_failed(instance, status, error, status == GNN_ENUMERIC ? "R0803" : "", "loss is %s at epoch %lld%s",
                           isnan(instance->run.loss) ? "NaN" : "infinite", (long long)instance->run.epoch, bad.data ? bad.data : "");
  gnn_text_free(&bad);
  return status;
}
