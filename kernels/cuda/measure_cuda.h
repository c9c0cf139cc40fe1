/* measure_cuda.h: what measure.c tells the kernels of measure.cu. */
#ifndef GNN_CUDA_MEASURE_H
#define GNN_CUDA_MEASURE_H

#include "view.h"

enum { MEASURE_COLUMNS = 64, MEASURE_DEPTH = 256, MEASURE_WIDE = 256, MEASURE_NARROW = 16, MEASURE_TILE = 64, MEASURE_RUN_ROWS = 512, MEASURE_LANES = 16, MEASURE_FEW_LANES = 8 /* of a row of 64 and of 4 classes: cuda_loss_rows */, MEASURE_LOSSES = 256 /* rows a block */,
  MEASURE_BLOCK_ROWS = 2048 /* of a canonical block */, MEASURE_UPDATED = 1024 /* weights a block */ };

typedef struct measure_job {
  gnn_real *x, *y, *m, *v;
  const int64_t *ptr;
  int32_t *idx, *labels, *list;
  double *parts;
  int64_t rows, table_rows, degree, levels /* of canonical blocks */;
} measure_job;

#endif
