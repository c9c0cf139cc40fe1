/* measure_cuda.h: what measure.c tells the kernels of measure.cu. */
#ifndef GNN_CUDA_MEASURE_H
#define GNN_CUDA_MEASURE_H

#include "view.h"

enum { MEASURE_COLUMNS = 64, MEASURE_DEPTH = 256, MEASURE_WIDE = 256, MEASURE_NARROW = 16, MEASURE_TILE = 64, MEASURE_RUN_ROWS = 512, MEASURE_LOSSES = 256 /* rows a block */, MEASURE_UPDATED = 1024 /* weights a block */ };

typedef struct measure_job {
  gnn_real *x, *y, *m, *v;
  const int64_t *ptr;
  int32_t *idx, *labels, *list;
  double *parts;
  int64_t rows, table_rows, degree;
} measure_job;

#endif
