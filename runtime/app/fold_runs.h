/* fold_runs.h: runs that test on one fold each, and what their test curves have in common. */
#ifndef GNN_FOLD_RUNS_H
#define GNN_FOLD_RUNS_H

#include "loop.h"

/* The protocol of Xu et al. (ICLR 2019): of the mean over the folds' test curves the best epoch. It is chosen on test rows, so it says what
 * a model can reach, and not what it would on rows that nobody has seen. */
typedef struct gnn_fold_report {
  int64_t folds, epoch; /* folds 0: there is nothing to report */
  double mean, deviation; /* unbiased, over the folds, at that epoch */
} gnn_fold_report;

/* What every run has of an epoch; where two are as good, the earlier. */
gnn_fold_report gnn_folds_report(const gnn_loop *loop);

int64_t gnn_folds_of_run(const gnn_loop *loop, int64_t run); /* of programs with folds */
/* The splits of the fold of the loop's run go in, where others are there. */
gnn_status gnn_folds_take(gnn_loop *loop);

gnn_status gnn_folds_create(gnn_loop *loop); /* room for the curves */
/* The evaluation of this epoch is done. */
void gnn_folds_see(gnn_loop *loop, int64_t epoch);

#endif
