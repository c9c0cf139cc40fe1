/* batches.c: batches of whole graphs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "batches.h"

#include <stdlib.h>
#include <string.h>

#include "fill.h"
#include "shuffle.h"
#include "kernels/cpu/random.h"
#include "runtime/core/blocks.h"

enum { BATCHES_STREAM = 0xba7c };

struct gnn_batches {
  const gnn_dataset *data;
  gnn_dataset *owner;     /* of all memory here */
  gnn_dataset batch;      /* what goes into the arena; its arrays are those below */
  int64_t most;           /* graphs of a batch */
  int64_t *graph_ptr, *in_ptr;
  int32_t *in_source, *rows;
  int32_t *trained, *order; /* graphs with rows to train on; the same as this epoch goes over them */
  int64_t trained_count, ordered_epoch; /* -1: not yet */
  uint64_t ordered_seed;
  int32_t *all;           /* 0 .. graphs - 1 */
  const unsigned char *is_trained; /* by row of the scores */
  float *scores;
};

static int64_t batches_ceil(int64_t count, int64_t each) { return (count + each - 1) / each; }

/* ---- creating ---- */

/* Room for the rows that a batch has of a field. */
static gnn_status batches_add_field(gnn_batches *b, const gnn_field_desc *desc, int64_t most_nodes, int64_t most_edges, gnn_error *error) {
  const gnn_data_field *from = gnn_dataset_field(b->data, desc->name);
  if (from == NULL) return gnn_fail(error, GNN_EDATA, "E0203", "%s has no field \"%s\", which the program uses", b->data->title, desc->name);
  gnn_data_field *to = &b->batch.fields[b->batch.field_count++];
  const int64_t rows = from->domain == GNN_NODE ? most_nodes : from->domain == GNN_EDGE ? most_edges : b->most;
  *to = *from;
  if (from->divisor) to->divisor = gnn_dataset_alloc(b->owner, rows, sizeof(float), error);
  if (from->storage == GNN_LABEL) to->label = gnn_dataset_alloc(b->owner, rows, sizeof(int32_t), error);
  if (from->storage == GNN_DENSE) to->dense = gnn_dataset_alloc(b->owner, rows, from->width * (int64_t)sizeof(float), error);
  int is_there = (!from->divisor || to->divisor) && (from->storage != GNN_LABEL || to->label) && (from->storage != GNN_DENSE || to->dense);
  if (from->storage == GNN_SPARSE) {
    int64_t most = 0;
    for (int64_t g = 0; g < b->data->graphs; g++) {
      const int64_t entries = from->ptr[b->data->graph_ptr[g + 1]] - from->ptr[b->data->graph_ptr[g]];
      most = entries > most ? entries : most;
    }
    to->ptr = gnn_dataset_alloc(b->owner, rows + 1, sizeof(int64_t), error);
    to->column = gnn_dataset_alloc(b->owner, most * b->most, sizeof(int32_t), error);
    if (from->value) to->value = gnn_dataset_alloc(b->owner, most * b->most, sizeof(float), error);
    is_there = is_there && to->ptr && to->column && (!from->value || to->value);
  }
  return is_there ? GNN_OK : GNN_ENOMEM;
}

/* Graphs that have rows in split train, ascending. */
static gnn_status batches_find_trained(gnn_batches *b, gnn_domain scored, gnn_error *error) {
  const gnn_dataset *data = b->data;
  const int64_t rows = gnn_dataset_first(data, scored, data->graphs);
  unsigned char *is_trained = gnn_dataset_alloc(b->owner, rows, 1, error);
  b->trained = gnn_dataset_alloc(b->owner, data->graphs, sizeof *b->trained, error);
  b->order = gnn_dataset_alloc(b->owner, data->graphs, sizeof *b->order, error);
  b->all = gnn_dataset_alloc(b->owner, data->graphs, sizeof *b->all, error);
  if (!is_trained || !b->trained || !b->order || !b->all) return GNN_ENOMEM;
  memset(is_trained, 0, (size_t)rows);
  for (int64_t k = 0; k < data->split_count[GNN_TRAIN]; k++) is_trained[data->split_rows[GNN_TRAIN][k]] = 1;
  for (int64_t g = 0; g < data->graphs; g++) {
    int has_any = 0;
    for (int64_t r = gnn_dataset_first(data, scored, g); r < gnn_dataset_first(data, scored, g + 1); r++) has_any |= is_trained[r];
    b->all[g] = (int32_t)g;
    if (has_any) b->trained[b->trained_count++] = (int32_t)g;
  }
  b->is_trained = is_trained;
  b->ordered_epoch = -1;
  return GNN_OK;
}

/* What is measured lies in the data set. */
static gnn_status batches_see(gnn_instance *instance, gnn_error *error) {
  gnn_batches *b = instance->batches;
  const gnn_dataset *data = b->data;
  const gnn_program *program = instance->run.program;
  gnn_whole *whole = &instance->whole;
  const int levels = gnn_block_levels(data->nodes);
  const int64_t blocks = INT64_C(1) << levels;
  int64_t *first = gnn_dataset_alloc(b->owner, blocks + 1, sizeof *first, error);
  gnn_status status = first ? gnn_dataset_cut(data, first, NULL, NULL, error) : GNN_ENOMEM;
  if (status != GNN_OK) return status;
  *whole = (gnn_whole){.nodes = data->nodes, .edges = data->edges, .graphs = data->graphs, .blocks = {levels, levels, first}, .scores = b->scores,
                       .in = {.rows = data->nodes, .entries = data->edges, .ptr = data->in_ptr, .idx = data->in_source}};
  int64_t most = 0;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    whole->rows[s] = data->split_rows[s];
    whole->here[s] = whole->row_count[s] = data->split_count[s];
    if (data->split_count[s] > most) most = data->split_count[s];
  }
  status = gnn_instance_make_room(instance, most, blocks, error);
  if (status != GNN_OK || program->label_field < 0) return status;
  const gnn_data_field *label = gnn_dataset_field(data, program->fields[program->label_field].name);
  if ((label->storage == GNN_LABEL) != (program->fields[program->label_field].storage == GNN_LABEL))
    return gnn_fail(error, GNN_EDATA, "R0802", "%s of %s holds %s; the program wants %s", label->name, data->title, label->storage == GNN_LABEL ? "class labels" : "numbers",
                    label->storage == GNN_LABEL ? "numbers" : "class labels");
  if (label->storage == GNN_LABEL && (status = gnn_field_check_labels(label, program->fields[program->label_field].classes, error)) != GNN_OK) return status;
  if (label->storage == GNN_LABEL) whole->classes = label->label;
  else whole->numbers = label->dense, whole->number_stride = label->width;
  gnn_instance_survey(instance);
  return GNN_OK;
}

static gnn_status batches_check(const gnn_instance *instance, const gnn_dataset *data, gnn_domain scored, gnn_error *error) {
  static const char *const words[] = {[GNN_NODE] = "nodes", [GNN_EDGE] = "edges", [GNN_GRAPH] = "graphs"};
  if (data->graphs <= 1) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "R0802", "%s is one graph; the program works in batches of %lld graphs", data->title, (long long)instance->run.program->batch_graphs);
    gnn_fail_help(error, "a folder with graph_ptr.npy is a set of graphs");
    return status;
  }
  for (int64_t g = 0; g < data->graphs; g++)
    if (data->graph_ptr[g] == data->graph_ptr[g + 1]) return gnn_fail(error, GNN_EDATA, "R0802", "%s: graph %lld has no nodes; a batch needs some", data->title, (long long)g);
  if (instance->run.program->label_field >= 0 && data->split_domain != scored)
    return gnn_fail(error, GNN_EDATA, "R0802", "%s has labels on %s; the program learns labels of %s", data->title, words[data->split_domain], words[scored]);
  if (instance->run.program->label_field >= 0 && data->split_count[GNN_TRAIN] == 0) return gnn_fail(error, GNN_EDATA, "R0802", "%s has no training %s", data->title, words[scored]);
  return GNN_OK;
}

static gnn_status batches_fill(gnn_instance *instance, gnn_error *error) {
  gnn_batches *b = instance->batches;
  const gnn_program *program = instance->run.program;
  const gnn_dataset *data = b->data;
  const gnn_domain scored = program->scores_domain;
  gnn_status status = batches_check(instance, data, scored, error);
  int64_t *most = status == GNN_OK ? gnn_dataset_alloc(b->owner, data->graphs + 1, sizeof *most, error) : NULL;
  if (most == NULL) return status == GNN_OK ? GNN_ENOMEM : status;
  const int64_t graphs = b->most < data->graphs ? b->most : data->graphs;
  gnn_dataset_largest(data, GNN_NODE, most);
  const int64_t nodes = most[graphs];
  gnn_dataset_largest(data, GNN_EDGE, most);
  const int64_t edges = most[graphs];
  if (nodes > program->graph.nodes) return gnn_fill_misfit(&instance->run, "nodes in a batch", nodes, program->graph.nodes, error);
  if (edges > program->graph.edges) return gnn_fill_misfit(&instance->run, "edges in a batch", edges, program->graph.edges, error);
  b->graph_ptr = gnn_dataset_alloc(b->owner, b->most + 1, sizeof *b->graph_ptr, error);
  b->in_ptr = gnn_dataset_alloc(b->owner, nodes + 1, sizeof *b->in_ptr, error);
  b->in_source = gnn_dataset_alloc(b->owner, edges, sizeof *b->in_source, error);
  b->rows = gnn_dataset_alloc(b->owner, scored == GNN_NODE ? nodes : scored == GNN_EDGE ? edges : b->most, sizeof *b->rows, error);
  b->scores = gnn_dataset_alloc(b->owner, gnn_dataset_first(data, scored, data->graphs), program->classes * (int64_t)sizeof *b->scores, error);
  b->batch.fields = gnn_dataset_alloc(b->owner, program->field_count, sizeof *b->batch.fields, error);
  if (!b->graph_ptr || !b->in_ptr || !b->in_source || !b->rows || !b->scores || !b->batch.fields) return GNN_ENOMEM;
  for (int i = 0; status == GNN_OK && i < program->field_count; i++) status = batches_add_field(b, &program->fields[i], nodes, edges, error);
  if (status == GNN_OK) status = batches_find_trained(b, scored, error);
  b->batch.title = data->title;
  b->batch.is_prepared = 1;
  b->batch.is_symmetric = data->is_symmetric;
  b->batch.split_domain = data->split_domain;
  b->batch.graph_ptr = b->graph_ptr;
  b->batch.in_ptr = b->in_ptr;
  b->batch.in_source = b->in_source;
  b->batch.split_rows[GNN_TRAIN] = b->rows;
  return status == GNN_OK ? batches_see(instance, error) : status;
}

static void batches_drop(gnn_instance *instance) {
  if (instance->batches) {
    gnn_dataset_close(instance->batches->owner);
    free(instance->batches);
  }
  instance->batches = NULL;
  instance->batch = (gnn_batch){0};
  instance->whole = (gnn_whole){0};
}

gnn_status gnn_batches_create(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  batches_drop(instance);
  gnn_batches *b = calloc(1, sizeof *b);
  if (b == NULL) return gnn_fail_memory(error, (int64_t)sizeof *b);
  b->owner = gnn_dataset_new("batches");
  if (b->owner == NULL) {
    free(b);
    return gnn_fail_memory(error, (int64_t)sizeof *b->owner);
  }
  b->data = dataset;
  b->most = instance->run.program->batch_graphs;
  instance->batches = b;
  instance->drop_batches = batches_drop;
  gnn_status status = batches_fill(instance, error);
  if (status != GNN_OK) batches_drop(instance);
  return status;
}

/* ---- batches ---- */

int64_t gnn_batches_count(const gnn_instance *instance, gnn_batches_of which) {
  const gnn_batches *b = instance->batches;
  return batches_ceil(which == GNN_BATCHES_TRAIN ? b->trained_count : b->data->graphs, b->most);
}

static void batches_order(gnn_batches *b, const gnn_run *run) {
  if (b->ordered_epoch == run->epoch && b->ordered_seed == run->seed) return;
  memcpy(b->order, b->trained, (size_t)b->trained_count * sizeof *b->order);
  b->ordered_epoch = run->epoch;
  b->ordered_seed = run->seed;
  if (!run->program->batch_shuffles) return;
  gnn_shuffle(b->order, b->trained_count, gnn_mix64(gnn_random_key(run->seed, BATCHES_STREAM) ^ (uint64_t)run->epoch));
}

static void batches_make_graph(gnn_batches *b, const int32_t *graph, int64_t graphs) {
  const gnn_dataset *data = b->data;
  int64_t node = 0, edge = 0;
  for (int64_t k = 0; k < graphs; k++) {
    const int64_t first = data->graph_ptr[graph[k]], last = data->graph_ptr[graph[k] + 1];
    b->graph_ptr[k] = node;
    for (int64_t v = first; v < last; v++) {
      b->in_ptr[node + v - first] = edge;
      for (int64_t e = data->in_ptr[v]; e < data->in_ptr[v + 1]; e++) b->in_source[edge++] = (int32_t)(data->in_source[e] - first + node);
    }
    node += last - first;
  }
  b->graph_ptr[graphs] = node;
  b->in_ptr[node] = edge;
  b->batch.nodes = node;
  b->batch.edges = edge;
  b->batch.graphs = graphs;
}

/* Rows [first, first + count) of the data to row `at` of the batch. Arrays of the batch are ours to write. */
static void batches_copy(const gnn_data_field *from, gnn_data_field *to, int64_t first, int64_t count, int64_t at) {
  if (from->divisor) memcpy((float *)(uintptr_t)to->divisor + at, from->divisor + first, (size_t)count * sizeof(float));
  if (from->storage == GNN_LABEL) memcpy((int32_t *)(uintptr_t)to->label + at, from->label + first, (size_t)count * sizeof(int32_t));
  if (from->storage == GNN_DENSE) memcpy((float *)(uintptr_t)to->dense + at * from->width, from->dense + first * from->width, (size_t)(count * from->width) * sizeof(float));
  if (from->storage != GNN_SPARSE) return;
  int64_t *ptr = (int64_t *)(uintptr_t)to->ptr;
  const int64_t begin = from->ptr[first], entries = from->ptr[first + count] - begin;
  for (int64_t r = 0; r < count; r++) ptr[at + r + 1] = ptr[at] + from->ptr[first + r + 1] - begin;
  memcpy((int32_t *)(uintptr_t)to->column + ptr[at], from->column + begin, (size_t)entries * sizeof(int32_t));
  if (from->value) memcpy((float *)(uintptr_t)to->value + ptr[at], from->value + begin, (size_t)entries * sizeof(float));
}

static void batches_make_field(gnn_batches *b, gnn_data_field *to, const int32_t *graph, int64_t graphs) {
  const gnn_data_field *from = gnn_dataset_field(b->data, to->name);
  int64_t at = 0;
  if (from->storage == GNN_SPARSE) ((int64_t *)(uintptr_t)to->ptr)[0] = 0;
  for (int64_t k = 0; k < graphs; k++) {
    const int64_t first = gnn_dataset_first(b->data, from->domain, graph[k]), count = gnn_dataset_first(b->data, from->domain, graph[k] + 1) - first;
    batches_copy(from, to, first, count, at);
    at += count;
  }
  to->rows = at;
  to->nonzeros = 0;
  for (int64_t e = 0; from->storage == GNN_SPARSE && e < to->ptr[at]; e++) to->nonzeros += !to->value || to->value[e] != 0;
  for (int64_t i = 0; from->storage == GNN_DENSE && i < at * to->width; i++) to->nonzeros += to->dense[i] != 0;
}

gnn_status gnn_batches_load(gnn_instance *instance, gnn_batches_of which, int64_t index, gnn_error *error) {
  gnn_batches *b = instance->batches;
  const gnn_domain scored = instance->run.program->scores_domain;
  if (which == GNN_BATCHES_TRAIN) batches_order(b, &instance->run);
  const int32_t *graph = (which == GNN_BATCHES_TRAIN ? b->order : b->all) + index * b->most;
  const int64_t left = (which == GNN_BATCHES_TRAIN ? b->trained_count : b->data->graphs) - index * b->most, graphs = left < b->most ? left : b->most;
  batches_make_graph(b, graph, graphs);
  for (int f = 0; f < b->batch.field_count; f++) batches_make_field(b, &b->batch.fields[f], graph, graphs);
  int64_t rows = 0, row = 0;
  for (int64_t k = 0; k < graphs; k++)
    for (int64_t r = gnn_dataset_first(b->data, scored, graph[k]); r < gnn_dataset_first(b->data, scored, graph[k] + 1); r++, row++)
      if (b->is_trained[r]) b->rows[rows++] = (int32_t)row;
  b->batch.split_count[GNN_TRAIN] = rows;
  instance->batch = (gnn_batch){graphs, graph, b->graph_ptr, b->data->graph_ptr};
  instance->batch_error.message[0] = 0;
  gnn_error why = {0};
  gnn_status status = gnn_instance_fill(instance, &b->batch, &why);
  status = gnn_dataset_check_files(b->data, status, &why);
  if (status == GNN_OK) status = gnn_instance_begin(instance, &why);
  if (status == GNN_OK) return GNN_OK;
  instance->batch_error = why;
  if (error) *error = why;
  return status;
}

void gnn_batches_keep_scores(gnn_instance *instance) {
  gnn_batches *b = instance->batches;
  const gnn_program *program = instance->run.program;
  const gnn_domain scored = program->scores_domain;
  const int64_t first = gnn_dataset_first(b->data, scored, instance->batch.graph[0]), rows = gnn_rows_of_scores(&instance->run);
  memcpy(b->scores + first * program->classes, gnn_instance_at(instance, program->at_scores), (size_t)(rows * program->classes) * sizeof *b->scores);
}
