/* fold_runs.c: the folds of the runs, and the epoch that is best in the mean over them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fold_runs.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/data/fill.h"

int64_t gnn_folds_of_run(const gnn_loop *loop, int64_t run) {
  const gnn_dataset *dataset = loop->options->dataset;
  return dataset->is_fold_fixed ? dataset->fold : run % dataset->fold_count;
}

gnn_status gnn_folds_take(gnn_loop *loop) {
  gnn_dataset *dataset = loop->options->dataset;
  const int64_t fold = loop->program->fold_count ? gnn_folds_of_run(loop, loop->progress.run_index) : 0;
  if (loop->program->fold_count == 0 || dataset->fold == fold) return GNN_OK;
  gnn_status status = gnn_dataset_choose_fold(dataset, fold, &loop->error);
  return status == GNN_OK ? gnn_instance_load(loop->instance, dataset, &loop->error) : status;
}

gnn_status gnn_folds_create(gnn_loop *loop) {
  const int64_t every = loop->program->evaluate_every > 0 ? loop->program->evaluate_every : 1;
  if (!loop->program->reports_folds) return GNN_OK;
  loop->progress.point_room = loop->options->runs * (loop->options->epochs / every + 2);
  loop->progress.points = calloc((size_t)loop->progress.point_room, sizeof *loop->progress.points);
  return loop->progress.points ? GNN_OK : gnn_fail_memory(&loop->error, loop->progress.point_room * (int64_t)sizeof *loop->progress.points);
}

void gnn_folds_see(gnn_loop *loop, int64_t epoch) {
  gnn_progress *progress = &loop->progress;
  if (progress->points == NULL || progress->point_count == progress->point_room) return;
  progress->points[progress->point_count++] =
    (gnn_curve_point){(double)progress->run_index, (double)epoch, gnn_result_shown(loop->program, &loop->result[GNN_TEST])};
}

/* Sum and count of what the runs have of an epoch, or, given a mean, of the squared distances from it. */
static double folds_sum(const gnn_progress *progress, double epoch, const double *mean, int64_t *count) {
  double sum = 0;
  *count = 0;
  for (int64_t k = 0; k < progress->point_count; k++) {
    const gnn_curve_point *point = &progress->points[k];
    if (point->epoch != epoch) continue;
    sum += mean ? (point->value - *mean) * (point->value - *mean) : point->value;
    ++*count;
  }
  return sum;
}

gnn_fold_report gnn_folds_report(const gnn_loop *loop) {
  const gnn_progress *progress = &loop->progress;
  const gnn_program *program = loop->program;
  const int is_larger_better = program->metric_count && gnn_metric_is_larger_better(program->metrics[0].kind);
  const int64_t folds = progress->finished_count;
  gnn_fold_report report = {0};
  int64_t count;
  for (int64_t k = 0; folds > 1 && k < progress->point_count && progress->points[k].run == 0; k++) {
    const double epoch = progress->points[k].epoch, mean = folds_sum(progress, epoch, NULL, &count) / (double)folds;
    if (count != folds || isnan(mean) || (report.folds && !(is_larger_better ? mean > report.mean : mean < report.mean))) continue;
    report = (gnn_fold_report){.folds = folds, .epoch = (int64_t)epoch, .mean = mean};
  }
  if (report.folds) report.deviation = sqrt(folds_sum(progress, (double)report.epoch, &report.mean, &count) / (double)(folds - 1));
  return report;
}
