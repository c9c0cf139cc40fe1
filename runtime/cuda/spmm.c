/* spmm.c: sums over neighbours by cuSPARSE.
 *
 * CSR_ALG3 is the algorithm over compressed rows that promises the same bits in every run. It wants a number for every edge,
 * and offsets as wide as the indices: both are kept in the pool, once for all call sites. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cusparse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

enum { SPMM_PIECE = 1 << 16 }; /* numbers that go up at a time */

typedef struct SpmmShared {
  gnn_cuda_plan plan;
  cusparseHandle_t handle;
  float *ones;          /* [entries] on the device */
  int32_t *offsets[2];  /* [rows + 1] on the device: of in, of out; NULL: nobody has asked */
} SpmmShared;

typedef struct SpmmPlan {
  gnn_cuda_plan plan;
  cusparseConstSpMatDescr_t matrix;
  cusparseConstDnMatDescr_t x;
  cusparseDnMatDescr_t y;
  void *buffer;
} SpmmPlan;

static const char spmm_shared_site;
static const float spmm_one = 1, spmm_zero = 0;

static int spmm_check(gnn_cuda *cuda, cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_SUCCESS) return 1;
  return gnn_cuda_refuse(cuda, cuda->instance->run.step, "cuSPARSE", cusparseGetErrorName(status), cusparseGetErrorString(status));
}

static int spmm_no_memory(gnn_cuda *cuda) {
  return gnn_cuda_refuse(cuda, cuda->instance->run.step, "cuSPARSE", "out of memory", "the machine gives no memory for its preparation");
}

static void spmm_destroy_shared(gnn_cuda_plan *plan) {
  SpmmShared *shared = (SpmmShared *)plan;
  if (shared->handle) cusparseDestroy(shared->handle);
  free(shared);
}

static void spmm_destroy(gnn_cuda_plan *plan) {
  SpmmPlan *spmm = (SpmmPlan *)plan;
  if (spmm->matrix) cusparseDestroySpMat(spmm->matrix);
  if (spmm->x) cusparseDestroyDnMat(spmm->x);
  if (spmm->y) cusparseDestroyDnMat(spmm->y);
  free(spmm);
}

static int spmm_memcpy(gnn_cuda *cuda, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  return gnn_cuda_check(cuda, cuda->instance->run.step, "preparing for cuSPARSE", cudaMemcpy(to, from, bytes, kind));
}

static int spmm_fill_ones(gnn_cuda *cuda, float *ones, int64_t entries) {
  float *piece = malloc(SPMM_PIECE * sizeof *piece);
  if (piece == NULL) return spmm_no_memory(cuda);
  for (int i = 0; i < SPMM_PIECE; i++) piece[i] = 1;
  int is_fine = 1;
  for (int64_t at = 0; at < entries && is_fine; at += SPMM_PIECE)
    is_fine = spmm_memcpy(cuda, ones + at, piece, (size_t)(entries - at < SPMM_PIECE ? entries - at : SPMM_PIECE) * sizeof *piece, cudaMemcpyHostToDevice);
  free(piece);
  return is_fine;
}

static SpmmShared *spmm_shared(gnn_cuda *cuda) {
  SpmmShared *shared = (SpmmShared *)gnn_cuda_find_plan(cuda, &spmm_shared_site);
  if (shared) return shared;
  int64_t entries = cuda->instance->run.edges;
  shared = calloc(1, sizeof *shared);
  if (shared == NULL) return spmm_no_memory(cuda), NULL;
  shared->plan.destroy = spmm_destroy_shared;
  gnn_cuda_add_plan(cuda, &shared->plan, &spmm_shared_site);
  shared->ones = gnn_cuda_take(cuda, "the edges' ones", entries * (int64_t)sizeof *shared->ones);
  int is_fine = shared->ones && spmm_fill_ones(cuda, shared->ones, entries) && spmm_check(cuda, cusparseCreate(&shared->handle)) &&
                spmm_check(cuda, cusparseSetStream(shared->handle, cuda->stream[GNN_LANE_COMPUTE]));
  return is_fine ? shared : NULL;
}

static int spmm_narrow(gnn_cuda *cuda, const int64_t *wide_there, int32_t *narrow_there, int64_t count) {
  int64_t *wide = malloc((size_t)count * sizeof *wide);
  if (wide == NULL) return spmm_no_memory(cuda);
  int is_fine = spmm_memcpy(cuda, wide, wide_there, (size_t)count * sizeof *wide, cudaMemcpyDeviceToHost);
  int32_t *narrow = (int32_t *)(void *)wide;
  for (int64_t i = 0; i < count && is_fine; i++) {
    int32_t offset = (int32_t)wide[i];
    memcpy(&narrow[i], &offset, sizeof offset);
  }
  is_fine = is_fine && spmm_memcpy(cuda, narrow_there, narrow, (size_t)count * sizeof *narrow, cudaMemcpyHostToDevice);
  free(wide);
  return is_fine;
}

static const void *spmm_there(const gnn_cuda *cuda, const void *image) {
  return cuda->arena + ((const unsigned char *)image - cuda->instance->run.device);
}

static int32_t *spmm_offsets(gnn_cuda *cuda, SpmmShared *shared, int is_out) {
  const gnn_csr *csr = is_out ? &cuda->instance->run.out : &cuda->instance->run.in;
  int which = is_out && csr->ptr != cuda->instance->run.in.ptr;
  if (shared->offsets[which]) return shared->offsets[which];
  int32_t *offsets = gnn_cuda_take(cuda, "the rows' offsets", (csr->rows + 1) * (int64_t)sizeof *offsets);
  if (offsets && spmm_narrow(cuda, spmm_there(cuda, csr->ptr), offsets, csr->rows + 1)) shared->offsets[which] = offsets;
  return shared->offsets[which];
}

static int spmm_describe(gnn_cuda *cuda, SpmmShared *shared, SpmmPlan *spmm, int is_out, int64_t width, int64_t at_x, int64_t at_y) {
  const gnn_csr *csr = is_out ? &cuda->instance->run.out : &cuda->instance->run.in;
  const int32_t *offsets = spmm_offsets(cuda, shared, is_out);
  size_t bytes = 0;
  if (offsets == NULL ||
      !spmm_check(cuda, cusparseCreateConstCsr(&spmm->matrix, csr->rows, csr->rows, csr->entries, offsets, spmm_there(cuda, csr->idx), shared->ones,
                                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F)) ||
      !spmm_check(cuda, cusparseCreateConstDnMat(&spmm->x, csr->rows, width, width, cuda->arena + at_x, CUDA_R_32F, CUSPARSE_ORDER_ROW)) ||
      !spmm_check(cuda, cusparseCreateDnMat(&spmm->y, csr->rows, width, width, cuda->arena + at_y, CUDA_R_32F, CUSPARSE_ORDER_ROW)) ||
      !spmm_check(cuda, cusparseSpMM_bufferSize(shared->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &spmm_one, spmm->matrix,
                                                spmm->x, &spmm_zero, spmm->y, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, &bytes)))
    return 0;
  spmm->buffer = gnn_cuda_take(cuda, "cuSPARSE's buffer", (int64_t)bytes);
  return spmm->buffer && spmm_check(cuda, cusparseSpMM_preprocess(shared->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &spmm_one,
                                                                  spmm->matrix, spmm->x, &spmm_zero, spmm->y, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, spmm->buffer));
}

static SpmmPlan *spmm_plan(gnn_cuda *cuda, SpmmShared *shared, int is_out, int64_t width, int64_t at_x, int64_t at_y, const void *site) {
  SpmmPlan *spmm = (SpmmPlan *)gnn_cuda_find_plan(cuda, site);
  if (spmm) return spmm;
  spmm = calloc(1, sizeof *spmm);
  if (spmm == NULL) return spmm_no_memory(cuda), NULL;
  spmm->plan.destroy = spmm_destroy;
  gnn_cuda_add_plan(cuda, &spmm->plan, site);
  return spmm_describe(cuda, shared, spmm, is_out, width, at_x, at_y) ? spmm : NULL;
}

void gnn_cuda_spmm(gnn_run *run, int is_out, int64_t width, int64_t at_x, int64_t at_y, void **site) {
  gnn_cuda *cuda = run->cuda;
  const gnn_csr *csr = is_out ? &run->out : &run->in;
  if (csr->rows == 0 || width == 0 || gnn_cuda_is_failed(cuda)) return;
  if (csr->entries == 0) {
    gnn_cuda_check(cuda, run->step, "clearing", cudaMemsetAsync(cuda->arena + at_y, 0, (size_t)(csr->rows * width) * sizeof(float), cuda->stream[GNN_LANE_COMPUTE]));
    return;
  }
  if (csr->entries > INT32_MAX) {
    gnn_cuda_refuse(cuda, run->step, "cuSPARSE", "too many edges", "its indices have 32 bits here");
    return;
  }
  SpmmShared *shared = spmm_shared(cuda);
  const SpmmPlan *spmm = shared ? spmm_plan(cuda, shared, is_out, width, at_x, at_y, site) : NULL;
  if (spmm && spmm_check(cuda, cusparseSpMM(shared->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &spmm_one, spmm->matrix,
                                            spmm->x, &spmm_zero, spmm->y, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, spmm->buffer)))
    gnn_cuda_settle(cuda, run->step);
}
