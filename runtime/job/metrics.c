/* metrics.c: loss and accuracy of a split. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "metrics.h"
#include "runtime/core/device.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/loss.h"
#include "kernels/cpu/reduce.h"

const char *const gnn_split_names[GNN_SPLIT_COUNT] = {"train", "valid", "test"};

enum { METRICS_TASKS = 64 };

typedef struct metrics_task {
  const float *scores;
  int64_t classes;
  const int32_t *labels, *rows;
  int64_t row_count;
  const int64_t *first;
  double *loss;
  int64_t *correct;
} metrics_task;

static void metrics_blocks(const void *context, int64_t begin, int64_t end, int64_t task) {
  const metrics_task *m = context;
  (void)task;
  gnn_cross_entropy_blocks(m->scores, m->classes, m->labels, m->rows, m->row_count, m->first, begin, end, m->loss);
  for (int64_t b = begin; b < end; b++)
    m->correct[b] = gnn_accuracy_part(m->scores, m->classes, m->labels, m->rows, gnn_entry_of(m->rows, 0, m->row_count, m->first[b]),
                                      gnn_entry_of(m->rows, 0, m->row_count, m->first[b + 1]));
}

gnn_result gnn_measure_split(const gnn_instance *instance, gnn_split split) {
  const gnn_run *run = &instance->run;
  const gnn_program *program = run->program;
  gnn_result result = {.count = run->row_count[split]};
  if (result.count == 0 || program->real_bytes != 4) return result;
  const gnn_field_desc *label = &program->fields[program->label_field];
  metrics_task m = {.scores = gnn_instance_at(instance, program->at_scores), .classes = program->classes,
                    .labels = gnn_instance_at(instance, label->at[0]), .rows = run->rows[split], .row_count = result.count,
                    .first = run->blocks.first, .loss = instance->block_loss, .correct = instance->block_correct};
  int64_t blocks = INT64_C(1) << run->blocks.levels, correct = 0;
  gnn_parallel(run->team, blocks, blocks / METRICS_TASKS + 1, metrics_blocks, &m);
  for (int64_t b = 0; b < blocks; b++) correct += m.correct[b];
  result.loss = gnn_sum_tree(m.loss, blocks) / (double)result.count;
  result.accuracy = (double)correct / (double)result.count;
  return result;
}

/* What `evaluate` has summed up itself: nodes x classes scores stay where they are. */
static gnn_status metrics_take(const gnn_instance *instance, gnn_result result[GNN_SPLIT_COUNT]) {
  const gnn_run *run = &instance->run;
  double sums[GNN_SPLIT_COUNT][2];
  gnn_status status = gnn_download(instance, run->program->at_results, sizeof sums, NULL);
  if (status != GNN_OK) return status;
  memcpy(sums, gnn_instance_at(instance, run->program->at_results), sizeof sums);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    double count = (double)run->row_count[s];
    result[s] = (gnn_result){.count = run->row_count[s]};
    if (count > 0) result[s].loss = sums[s][0] / count, result[s].accuracy = sums[s][1] / count;
  }
  return GNN_OK;
}

gnn_status gnn_evaluate(gnn_instance *instance, gnn_result result[GNN_SPLIT_COUNT]) {
  const gnn_program *program = instance->run.program;
  gnn_status status = gnn_do(instance, GNN_WORK_EVALUATE);
  if (status != GNN_OK) return status;
  if (program->has_results) return metrics_take(instance, result);
  status = gnn_download_scores(instance, NULL);
  if (status != GNN_OK) return status;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) result[s] = gnn_measure_split(instance, (gnn_split)s);
  return GNN_OK;
}

void gnn_keeper_reset(gnn_keeper *keeper) {
  memset(keeper, 0, sizeof *keeper);
  keeper->best_epoch = keeper->stop_waits = keeper->plateau_waits = -1;
}

static int metrics_is_better(gnn_measure measure, double value, double than) {
  return measure == GNN_MEASURE_ACCURACY ? value > than : value < than;
}

static double metrics_value(gnn_measure measure, const gnn_result *result) {
  return measure == GNN_MEASURE_ACCURACY ? result->accuracy : result->loss;
}

/* torch.optim.lr_scheduler.ReduceLROnPlateau, with its threshold and without a rest after a reduction. */
static void keeper_see_plateau(gnn_keeper *keeper, const gnn_program *program, double value) {
  static const double threshold = 1e-4; /* of the best value */
  const double best = keeper->plateau_value;
  const double than = program->plateau_measure == GNN_MEASURE_ACCURACY ? best * (1 + threshold) : best * (1 - threshold);
  if (keeper->plateau_waits < 0 || metrics_is_better(program->plateau_measure, value, than)) {
    keeper->plateau_value = value;
    keeper->plateau_waits = 0;
  } else if (++keeper->plateau_waits > program->plateau_patience) {
    keeper->plateau_waits = 0;
    keeper->reductions++;
  }
}

int gnn_keeper_see(gnn_keeper *keeper, gnn_run *run, int64_t epoch, const gnn_result result[GNN_SPLIT_COUNT]) {
  const gnn_program *program = run->program;
  double value = metrics_value(program->keep_measure, &result[program->keep_split]);
  int is_best = !program->has_keep || keeper->best_epoch < 0 ||
                metrics_is_better(program->keep_measure, value, keeper->best_value);
  if (is_best) {
    keeper->best_epoch = epoch;
    keeper->best_value = isnan(value) ? (program->keep_measure == GNN_MEASURE_ACCURACY ? -INFINITY : INFINITY) : value;
    memcpy(keeper->best, result, sizeof keeper->best);
  }
  if (program->has_stop) {
    double watched = metrics_value(program->stop_measure, &result[program->stop_split]);
    if (keeper->stop_waits < 0 || metrics_is_better(program->stop_measure, watched, keeper->stop_value)) {
      keeper->stop_value = watched;
      keeper->stop_waits = 0;
    } else {
      keeper->stop_waits++;
    }
  }
  if (program->has_plateau) keeper_see_plateau(keeper, program, metrics_value(program->plateau_measure, &result[program->plateau_split]));
  run->reductions = keeper->reductions;
  return is_best;
}

int gnn_keeper_stops(const gnn_keeper *keeper, const gnn_program *program) {
  return program->has_stop && keeper->stop_waits >= program->patience;
}
