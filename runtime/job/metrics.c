/* metrics.c: loss and metrics of a split, and what follows from them: the best epoch, the end, the plateau of the learning rate. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "metrics.h"
#include "epoch.h"
#include "runtime/core/device.h"
#include "runtime/core/ranks.h"
#include "runtime/core/scores.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/loss.h"
#include "kernels/cpu/reduce.h"

enum { METRICS_TASKS = 64 };

typedef struct metrics_task {
  gnn_loss loss;
  gnn_scored scored;
  const int32_t *ring;
  gnn_blocks blocks; /* of the rows that have scores */
  double *sums;
} metrics_task;

static void metrics_blocks(const void *context, int64_t begin, int64_t end, int64_t task) {
  const metrics_task *m = context;
  const gnn_scored *s = &m->scored;
  (void)task;
  gnn_loss_blocks(&m->loss, s->scores, s->width, m->ring ? (const void *)m->ring : s->classes ? (const void *)s->classes : s->numbers, s->number_stride, s->rows, s->count, &m->blocks, begin, end, m->sums);
}

static void metrics_hits(const void *context, int64_t begin, int64_t end, int64_t task) {
  const metrics_task *m = context;
  const gnn_scored *s = &m->scored;
  (void)task;
  for (int64_t b = begin; b < end; b++)
    m->sums[b] = (double)gnn_accuracy_part(s->scores, s->width, s->classes, s->rows, gnn_block_entry(s->rows, s->count, &m->blocks, b), gnn_block_entry(s->rows, s->count, &m->blocks, b + 1));
}

/* A rank sums its own blocks, which are those of whole parts. */
static double metrics_sum_of_ranks(const gnn_instance *instance, gnn_task *task, metrics_task *m, int64_t blocks) {
  gnn_run *run = (gnn_run *)(uintptr_t)&instance->run; /* which only gathers */
  const int below = run->blocks.levels - run->ranks->desc->part_levels;
  const int64_t own = (int64_t)gnn_own_parts(run) << below;
  m->sums = instance->block_loss + ((int64_t)gnn_first_part(run) << below);
  gnn_parallel(run->team, own, own / METRICS_TASKS + 1, task, m);
  gnn_gather_parts(run, instance->block_loss, (int64_t)sizeof *m->sums << below);
  return gnn_sum_tree(instance->block_loss, blocks);
}

/* Scores that come in turns are of whole parts, which are runs of blocks. */
static double metrics_sum(const gnn_instance *instance, gnn_task *task, metrics_task *m, int64_t blocks) {
  const gnn_run *run = &instance->run;
  if (m->scored.ranks) return metrics_sum_of_ranks(instance, task, m, blocks);
  const int turns = gnn_scores_turns(instance), below = run->blocks.levels - run->program->graph.part_levels;
  if (turns == 1) gnn_parallel(run->team, blocks, blocks / METRICS_TASKS + 1, task, m);
  for (int turn = 0; turn < turns && turns > 1; turn++) {
    int64_t first, end;
    m->scored.scores = gnn_scores_turn(instance, turn, &first, &end);
    gnn_parallel_part(run->team, first << below, end << below, blocks / METRICS_TASKS + 1, task, m);
  }
  return gnn_sum_tree(m->sums, blocks);
}

static const float *metrics_row(const void *instance, int64_t row) { return gnn_scores_row(instance, row); }

gnn_scored gnn_scored_rows(const gnn_instance *instance, gnn_split split) {
  const gnn_whole *whole = &instance->whole;
  const gnn_program *program = instance->run.program;
  const gnn_field_desc *label = &program->fields[program->label_field];
  return (gnn_scored){.scores = whole->scores, .row = gnn_scores_turns(instance) > 1 ? metrics_row : NULL, .rows_of = instance, .width = program->classes, .rows = whole->rows[split], .count = whole->here[split], .ranks = whole->ranks, .all = whole->row_count[split], .room = instance->metric_room,
                      .classes = whole->classes, .class_count = label->classes, .numbers = whole->numbers, .number_stride = whole->number_stride};
}

gnn_result gnn_measure_split(const gnn_instance *instance, gnn_split split) {
  const gnn_program *program = instance->run.program;
  const gnn_whole *whole = &instance->whole;
  gnn_result result = {.count = whole->row_count[split]};
  if (result.count == 0 || program->real_bytes != 4) return result;
  static const gnn_loss plain = {.kind = GNN_LOSS_CROSS_ENTROPY, .has_classes = 1};
  metrics_task m = {.loss = program->loss ? *program->loss : plain, .scored = gnn_scored_rows(instance, split), .ring = whole->ring, .blocks = whole->blocks,
                    .sums = instance->block_loss};
  int64_t blocks = INT64_C(1) << whole->blocks.levels;
  if (program->scores_domain != GNN_NODE) m.blocks.first = NULL;
  result.loss = metrics_sum(instance, metrics_blocks, &m, blocks) / whole->row_weight[split];
  for (int i = 0; i < program->metric_count; i++) {
    const int is_by_class = program->metrics[i].kind == GNN_METRIC_ACCURACY && m.scored.classes && m.scored.width > 1;
    result.metric[i] = is_by_class ? metrics_sum(instance, metrics_hits, &m, blocks) / (double)m.scored.all : gnn_metric_of(&program->metrics[i], &m.scored);
  }
  return result;
}

double gnn_result_shown(const gnn_program *program, const gnn_result *result) { return program->metric_count ? result->metric[0] : result->loss; }

int gnn_has_accuracy(const gnn_program *program) { return program->metric_count && program->metrics[0].kind == GNN_METRIC_ACCURACY; }

/* What `evaluate` has summed up itself: nodes x classes scores stay where they are. */
static gnn_status metrics_take(const gnn_instance *instance, gnn_result result[GNN_SPLIT_COUNT]) {
  const gnn_run *run = &instance->run;
  double sums[GNN_SPLIT_COUNT][2];
  gnn_status status = gnn_download(instance, run->program->at_results, sizeof sums, NULL);
  if (status != GNN_OK) return status;
  memcpy(sums, gnn_instance_at(instance, run->program->at_results), sizeof sums);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    double count = (double)instance->whole.row_count[s];
    result[s] = (gnn_result){.count = instance->whole.row_count[s]};
    if (count > 0) result[s].loss = sums[s][0] / count, result[s].metric[0] = sums[s][1] / count;
  }
  return GNN_OK;
}

gnn_status gnn_evaluate(gnn_instance *instance, gnn_result result[GNN_SPLIT_COUNT]) {
  const gnn_program *program = instance->run.program;
  gnn_status status = program->has_results ? gnn_do(instance, GNN_WORK_EVALUATE) : gnn_score(instance);
  if (status != GNN_OK) return status;
  if (program->has_results) return metrics_take(instance, result);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) result[s] = gnn_measure_split(instance, (gnn_split)s);
  return gnn_scores_status(instance);
}

void gnn_keeper_reset(gnn_keeper *keeper) {
  memset(keeper, 0, sizeof *keeper);
  keeper->best_epoch = keeper->stop_waits = keeper->plateau_waits = -1;
}

static int metrics_is_larger_better(const gnn_program *program, gnn_measure measure) {
  return measure >= GNN_MEASURE_METRIC && gnn_metric_is_larger_better(program->metrics[measure - GNN_MEASURE_METRIC].kind);
}

static int metrics_is_better(const gnn_program *program, gnn_measure measure, double value, double than) {
  return metrics_is_larger_better(program, measure) ? value > than : value < than;
}

static double metrics_value(gnn_measure measure, const gnn_result *result) {
  return measure == GNN_MEASURE_LOSS ? result->loss : result->metric[measure - GNN_MEASURE_METRIC];
}

/* What every number is better than, in the place of one that is none. */
static double metrics_or_worst(const gnn_program *program, gnn_measure measure, double value) {
  return !isnan(value) ? value : metrics_is_larger_better(program, measure) ? -INFINITY : INFINITY;
}

/* torch.optim.lr_scheduler.ReduceLROnPlateau, with its threshold and without a rest after a reduction. */
static void keeper_see_plateau(gnn_keeper *keeper, const gnn_program *program, double value) {
  static const double threshold = 1e-4; /* of the best value */
  const double best = keeper->plateau_value;
  const double than = metrics_is_larger_better(program, program->plateau_measure) ? best * (1 + threshold) : best * (1 - threshold);
  if (keeper->plateau_waits < 0 || metrics_is_better(program, program->plateau_measure, value, than)) {
    keeper->plateau_value = metrics_or_worst(program, program->plateau_measure, value);
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
                metrics_is_better(program, program->keep_measure, value, keeper->best_value);
  if (is_best) {
    keeper->best_epoch = epoch;
    keeper->best_value = metrics_or_worst(program, program->keep_measure, value);
    memcpy(keeper->best, result, sizeof keeper->best);
  }
  if (program->has_stop) {
    double watched = metrics_value(program->stop_measure, &result[program->stop_split]);
    if (keeper->stop_waits < 0 || metrics_is_better(program, program->stop_measure, watched, keeper->stop_value)) {
      keeper->stop_value = metrics_or_worst(program, program->stop_measure, watched);
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
