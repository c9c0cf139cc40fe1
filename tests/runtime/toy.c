/* toy.c: a gnn_program made by hand, for tests of the runtime without the compiler. */
#include "toy.h"

#include <math.h>
#include <string.h>

#include "../../kernels/cpu/random.h"

#define toy_real float
#define TOY(name) toy_single_##name
#include "toy_steps.h"
#undef toy_real
#undef TOY
#define toy_real double
#define TOY(name) toy_double_##name
#include "toy_steps.h"
#undef toy_real
#undef TOY

static int64_t toy_take(int64_t *used, int64_t bytes) {
  int64_t at = *used;
  *used += (bytes + GNN_ALIGNMENT - 1) / GNN_ALIGNMENT * GNN_ALIGNMENT;
  return at;
}

static void toy_weight(gnn_weight_desc *weight, int64_t *used, const char *name, int64_t rows, int64_t columns) {
  weight->name = name;
  weight->rank = columns ? 2 : 1;
  weight->shape[0] = rows;
  weight->shape[1] = columns;
  weight->count = rows * (columns ? columns : 1);
  weight->init = columns ? GNN_INIT_UNIFORM : GNN_INIT_CONSTANT;
  weight->a = columns ? sqrt(6.0 / (double)(rows + columns)) : 0;
  weight->is_trained = 1;
  weight->state_count = 2;
  weight->at = toy_take(used, weight->count * 4);
  weight->at_gradient = toy_take(used, weight->count * 4);
  for (int s = 0; s < 2; s++) weight->at_state[s] = toy_take(used, weight->count * 4);
}

void toy_make(toy_model *toy, const gnn_dataset *dataset, const char *path, int is_sparse) {
  memset(toy, 0, sizeof *toy);
  const gnn_data_field *x = gnn_dataset_field(dataset, "x"), *y = gnn_dataset_field(dataset, "y");
  int64_t used = 0, nodes = dataset->nodes, edges = dataset->edges, width = x->width;
  gnn_program *program = &toy->program;
  gnn_graph_desc *graph = &program->graph;
  graph->nodes = nodes;
  graph->edges = edges;
  graph->has_out = 1;
  graph->is_symmetric = dataset->is_symmetric;
  graph->at_in_ptr = toy_take(&used, (nodes + 1) * 8);
  graph->at_in_idx = toy_take(&used, edges * 4);
  graph->at_in_bounds = toy_take(&used, (GNN_TASKS + 1) * 8);
  graph->at_out_ptr = graph->at_out_idx = graph->at_out_bounds = -1;
  if (!dataset->is_symmetric) {
    graph->at_out_ptr = toy_take(&used, (nodes + 1) * 8);
    graph->at_out_idx = toy_take(&used, edges * 4);
    graph->at_out_bounds = toy_take(&used, (GNN_TASKS + 1) * 8);
  }
  graph->at_out_edge = toy_take(&used, edges * 8);
  graph->at_in_degree = toy_take(&used, nodes * 4);
  graph->at_out_degree = toy_take(&used, nodes * 4);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    graph->row_count[s] = dataset->split_count[s];
    graph->at_rows[s] = dataset->split_count[s] ? toy_take(&used, dataset->split_count[s] * 4) : -1;
  }
  toy->fields[0] = (gnn_field_desc){.name = "x", .storage = is_sparse ? GNN_SPARSE : GNN_DENSE, .width = width,
                                    .nonzeros = x->nonzeros};
  const int64_t sparse_bytes[8] = {(nodes + 1) * 8, x->nonzeros * 4, x->nonzeros * 4, (GNN_TASKS + 1) * 8,
                                   (width + 1) * 8, x->nonzeros * 4, x->nonzeros * 4, (GNN_TASKS + 1) * 8};
  if (is_sparse) for (int i = 0; i < 8; i++) toy->fields[0].at[i] = toy_take(&used, sparse_bytes[i]);
  else toy->fields[0].at[0] = toy_take(&used, nodes * width * 4);
  toy->fields[1] = (gnn_field_desc){.name = "y", .storage = GNN_LABEL, .width = 1, .classes = y->classes};
  toy->fields[1].at[0] = toy_take(&used, nodes * 4);
  toy_weight(&toy->weights[0], &used, "lin.weight", y->classes, width);
  toy_weight(&toy->weights[1], &used, "lin.bias", y->classes, 0);
  program->at_scores = toy_take(&used, nodes * y->classes * 4 * 4);
  toy->options[0] = (gnn_option_desc){"lr", "learning rate", 0.02, 0};
  toy->options[1] = (gnn_option_desc){"drop", "share of features dropped", 0.2, 0};
  toy->args[0] = (gnn_source_arg){"", path, 0};
  static const char *const taps[] = {"projected"};
  program->abi = GNN_ABI;
  program->real_bytes = 4;
  program->name = "toy";
  program->data_name = dataset->name;
  program->source_name = "toy.gnn";
  program->fingerprint = "0123456789abcdef";
  program->plan_json = "{}";
  program->device_bytes = used;
  program->device_name = "gpu";
  program->device_budget = 1 << 20;
  program->estimated_epoch_seconds = 1e-3;
  program->source = (gnn_source){path ? "file" : "karate", path ? 1 : 0, toy->args};
  program->field_count = 2;
  program->fields = toy->fields;
  program->label_field = 1;
  program->classes = y->classes;
  program->option_count = 2;
  program->options = toy->options;
  program->weight_count = 2;
  program->weights = toy->weights;
  program->epochs = 60;
  program->runs = 1;
  program->evaluate_every = 1;
  program->checkpoint_every = 20;
  program->has_keep = program->has_accuracy = 1;
  program->keep_split = program->stop_split = GNN_VALID;
  program->keep_measure = GNN_MEASURE_ACCURACY;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) program->shows[s] = 1;
  program->tap_count = 1;
  program->taps = taps;
  program->forward_backward = toy_single_forward_backward;
  program->update = toy_single_update;
  program->evaluate = toy_single_evaluate;
  toy->in_double = *program;
  toy->in_double.real_bytes = 8;
  toy->in_double.forward_backward = toy_double_forward_backward;
  toy->in_double.update = toy_double_update;
  toy->in_double.evaluate = toy_double_evaluate;
  program->in_double = &toy->in_double;
}
