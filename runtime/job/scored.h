/* scored.h: metrics of scored rows, as scikit-learn defines them. */
#ifndef GNN_SCORED_H
#define GNN_SCORED_H

#include "runtime/gnnrt.h"

/* Rows with their scores and labels. */
typedef struct gnn_scored {
  const float *scores;    /* width a row, side by side; */
  const float *(*row)(const void *rows_of, int64_t row); /* where it is there: those of one row, until another is asked for */
  const void *rows_of;
  int64_t width;
  const int32_t *classes; /* by row, of class_count; NULL: the labels are */
  int64_t class_count;
  const float *numbers;   /* by row, number_stride apart: width numbers */
  int64_t number_stride;
  const int32_t *rows;    /* those that are measured */
  int64_t count;
  gnn_ranks *ranks;       /* of which these are the rows of one: what each has counted is added; NULL: they are all */
  int64_t all;            /* rows of all of them */
  struct gnn_ranked *room; /* [count], for metrics that sort */
} gnn_scored;

typedef struct gnn_ranked {
  double score;
  int is_positive;
} gnn_ranked;

/* NaN where it is not defined: of no rows, of one class where two are needed, of scores that are NaN where they are sorted. */
double gnn_metric_of(const gnn_metric *metric, const gnn_scored *scored);
/* The class of a row: that of its largest score, the first of equals; of one score for two classes, whether it is above 0. -1: one is NaN. */
int64_t gnn_predicted_class(const gnn_scored *scored, int64_t row);
int gnn_metric_is_larger_better(gnn_metric_kind kind);

#endif
