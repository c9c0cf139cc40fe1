/* metrics.h: loss and metrics of a split from the scores that `evaluate` left. */
#ifndef GNN_METRICS_H
#define GNN_METRICS_H

#include "scored.h"
#include "runtime/core/instance.h"

typedef struct gnn_result {
  double loss;
  double metric[GNN_METRIC_MAX]; /* of the program's; NaN where one is not defined, as the area under the curve of one class */
  int64_t count;                 /* rows; 0: all are 0 */
} gnn_result;

gnn_scored gnn_scored_rows(const gnn_instance *instance, gnn_split split);
/* From scores that were downloaded; sums over parts of fixed extent in their order: the same bits for every number of threads.
 * 4-byte programs only. */
gnn_result gnn_measure_split(const gnn_instance *instance, gnn_split split);
/* Runs `evaluate`, then measures every split that has rows, or takes what the device has measured. */
gnn_status gnn_evaluate(gnn_instance *instance, gnn_result result[GNN_SPLIT_COUNT]);

/* What keeps the best and decides to stop. NaN is never better than anything. */
typedef struct gnn_keeper {
  int64_t best_epoch; /* -1: nothing seen */
  double best_value;
  gnn_result best[GNN_SPLIT_COUNT];
  double stop_value;
  int64_t stop_waits; /* evaluations since stop_value; -1: nothing seen */
  double plateau_value;
  int64_t plateau_waits, reductions; /* likewise; how often the rate was made smaller */
} gnn_keeper;

/* What is shown of a split: the first metric, or the loss where there is none. */
double gnn_result_shown(const gnn_program *program, const gnn_result *result);
int gnn_has_accuracy(const gnn_program *program); /* as the first metric */

void gnn_keeper_reset(gnn_keeper *keeper);
/* Returns whether this evaluation is the best so far (always, where the program keeps none). What it decides for the schedules is
 * in the run when it returns. */
int gnn_keeper_see(gnn_keeper *keeper, gnn_run *run, int64_t epoch, const gnn_result result[GNN_SPLIT_COUNT]);
int gnn_keeper_stops(const gnn_keeper *keeper, const gnn_program *program);

#endif
