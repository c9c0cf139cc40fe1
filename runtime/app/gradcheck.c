/* gradcheck.c: the gradients that the program computes against central finite differences, in double.
 *
 * Everything is kept as in training, dropout too: its mask is a function of seed and epoch, so the loss is a fixed
 * function of the weights. Weights are moved off their initial values first, because zero biases put inactive rows on
 * the kink of relu, where no derivative exists.
 *
 * Tolerance. The difference (L(w + h) - L(w - h)) / 2h errs by h^2 |L'''| / 6 from truncation and by about 2^-52 |L| / h
 * from rounding, times the square root of the number of rounded sums. With h = 1e-4: 1e-9 |L'''| and 1e-12 |L|. A kink
 * between w - h and w + h spoils one step size but not a smaller one, so the best of three counts. What is left is well
 * below 1e-5 relative plus 1e-8 absolute, and any wrong formula far above. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kernels/cpu/random.h"
#include "runtime/core/device.h"
#include "runtime/data/batches.h"
#include "runtime/data/subgraph.h"

enum { GRADCHECK_NODES = 300, GRADCHECK_STREAM = 0x6c, GRADCHECK_STEPS = 3 };

typedef struct gradcheck_weight {
  double worst_excess, worst_error, worst_numeric, worst_analytic; /* excess: error over tolerance */
  int64_t worst_index, tried;
} gradcheck_weight;

static gnn_status gradcheck_loss(gnn_instance *instance, double *loss) {
  gnn_status status = gnn_upload_weights(instance, 0, NULL);
  if (status == GNN_OK) status = gnn_do(instance, GNN_WORK_GRADIENTS);
  *loss = instance->run.loss;
  return status;
}

/* Compares one entry; *error is the least over the step sizes. */
static gnn_status gradcheck_entry(gnn_instance *instance, double *value, double analytic, double *numeric, double *error) {
  static const double steps[GRADCHECK_STEPS] = {1e-4, 1e-5, 1e-6};
  double kept = *value;
  *error = INFINITY;
  for (int i = 0; i < GRADCHECK_STEPS; i++) {
    double above, below, h = steps[i] * (fabs(kept) > 1 ? fabs(kept) : 1);
    *value = kept + h;
    gnn_status status = gradcheck_loss(instance, &above);
    *value = kept - h;
    if (status == GNN_OK) status = gradcheck_loss(instance, &below);
    *value = kept;
    if (status != GNN_OK) return status;
    double estimate = (above - below) / ((kept + h) - (kept - h));
    if (fabs(estimate - analytic) < *error) {
      *error = fabs(estimate - analytic);
      *numeric = estimate;
    }
  }
  return GNN_OK;
}

static gnn_status gradcheck_one(gnn_instance *instance, int w, const double *gradient, int64_t samples,
                                gradcheck_weight *row) {
  const gnn_weight_desc *weight = &instance->run.program->weights[w];
  double *value = gnn_instance_at(instance, weight->at);
  uint64_t key = gnn_random_key(instance->run.seed, GRADCHECK_STREAM + (uint64_t)w);
  int64_t greatest = 0;
  for (int64_t i = 0; i < weight->count; i++)
    if (fabs(gradient[i]) > fabs(gradient[greatest])) greatest = i;
  *row = (gradcheck_weight){.worst_excess = -1};
  int64_t tries = weight->count <= samples ? weight->count : samples + 1;
  for (int64_t k = 0; k < tries; k++) {
    int64_t index = tries == weight->count ? k
                    : k == 0 ? greatest : (int64_t)(gnn_random_uniform(key, (uint64_t)k) * (double)weight->count);
    double numeric = 0, error;
    gnn_status status = gradcheck_entry(instance, &value[index], gradient[index], &numeric, &error);
    if (status != GNN_OK) return status;
    double scale = fabs(numeric) > fabs(gradient[index]) ? fabs(numeric) : fabs(gradient[index]);
    double excess = error / (1e-5 * scale + 1e-8);
    row->tried++;
    if (excess <= row->worst_excess) continue;
    row->worst_excess = excess;
    row->worst_error = error;
    row->worst_numeric = numeric;
    row->worst_analytic = gradient[index];
    row->worst_index = index;
  }
  return GNN_OK;
}

static void gradcheck_move(gnn_instance *instance) {
  const gnn_program *program = instance->run.program;
  for (int w = 0; w < program->weight_count; w++) {
    if (!program->weights[w].is_trained) continue;
    double *value = gnn_instance_at(instance, program->weights[w].at);
    uint64_t key = gnn_random_key(instance->run.seed + 1, (uint64_t)w);
    for (int64_t i = 0; i < program->weights[w].count; i++)
      value[i] += 0.1 * (gnn_random_uniform(key, (uint64_t)i) - 0.5);
  }
}

static gnn_status gradcheck_all(const gnn_cli *cli, gnn_instance *instance, int *failed, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  double loss;
  instance->run.epoch = instance->run.update = 1;
  gnn_status status = instance->batches ? gnn_batches_load(instance, GNN_BATCHES_TRAIN, 0, error) : GNN_OK;
  if (status == GNN_OK) status = gradcheck_loss(instance, &loss);
  if (status != GNN_OK) return gnn_step_failed(instance, status, error, "", "the gradients could not be computed");
  printf("%s: %lld nodes, %lld edges, %lld training rows, loss %.9g\n", program->name, (long long)instance->run.nodes,
         (long long)instance->run.edges, (long long)instance->run.row_count[GNN_TRAIN], gnn_shown(loss));
  printf("%-32s %7s %12s %12s %10s\n", "weight", "tried", "program", "difference", "error");
  for (int w = 0; w < program->weight_count && status == GNN_OK; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    if (!weight->is_trained || weight->at_gradient < 0) continue;
    double *gradient = malloc((size_t)weight->count * sizeof *gradient);
    if (gradient == NULL) return gnn_fail_memory(error, weight->count * 8);
    status = gradcheck_loss(instance, &loss);
    if (status == GNN_OK) status = gnn_download(instance, weight->at_gradient, weight->count * (int64_t)sizeof *gradient, NULL);
    memcpy(gradient, gnn_instance_at(instance, weight->at_gradient), (size_t)weight->count * sizeof *gradient);
    gradcheck_weight row;
    if (status == GNN_OK) status = gradcheck_one(instance, w, gradient, cli->samples, &row);
    free(gradient);
    if (status != GNN_OK) return gnn_step_failed(instance, status, error, "", "the gradients could not be computed");
    int is_wrong = !(row.worst_excess <= 1);
    *failed += is_wrong;
    printf("%-32s %7lld %12.5g %12.5g %10.2g  %s\n", weight->name, (long long)row.tried, gnn_shown(row.worst_analytic),
           gnn_shown(row.worst_numeric), gnn_shown(row.worst_error), is_wrong ? "WRONG" : "ok");
  }
  return status;
}

int gnn_command_gradcheck(const gnn_cli *cli) {
  const gnn_program *twice = cli->program->in_double;
  gnn_dataset *dataset = NULL, *part = NULL;
  gnn_instance *instance = NULL;
  gnn_error error;
  int failed = 0;
  if (twice == NULL) {
    fprintf(stderr, "%s: error: this program has no double-precision twin to check gradients with; gnncc -fgradcheck makes it with one\n", cli->name);
    return GNN_EXIT_FAILED;
  }
  gnn_instance_options options = gnn_cli_options(cli);
  gnn_status status = gnn_cli_open_data(cli, &dataset, &error);
  if (status == GNN_OK && (twice->batch_graphs || twice->graph.has_weights_of_nodes)) part = dataset; /* the first batch; or there has to be a node for each row of a weight */
  else if (status == GNN_OK) {
    status = gnn_dataset_check_files(dataset, gnn_subgraph(dataset, GRADCHECK_NODES, &part, &error), &error);
    gnn_dataset_close(dataset);
  }
  if (status == GNN_OK) status = gnn_instance_create(twice, &options, &instance, &error);
  if (status == GNN_OK) status = gnn_instance_load(instance, part, &error);
  if (status == GNN_OK) {
    memcpy(instance->run.option, cli->option, sizeof instance->run.option);
    status = gnn_instance_reset(instance, cli->seed, &error);
    gradcheck_move(instance);
    if (cli->weights && status == GNN_OK) status = gnn_weights_load(instance, cli->weights, &error);
  }
  if (status == GNN_OK) status = gradcheck_all(cli, instance, &failed, &error);
  gnn_instance_destroy(instance);
  gnn_dataset_close(part);
  if (status != GNN_OK) return gnn_cli_fail(cli, status, &error);
  if (failed) printf("%d gradient%s wrong\n", failed, failed == 1 ? " is" : "s are");
  else printf("all gradients agree\n");
  return failed ? GNN_EXIT_FAILED : GNN_EXIT_OK;
}
