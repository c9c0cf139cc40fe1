/* cusparse.c: sums over neighbours by cuSPARSE.
 *
 * CSR_ALG3 is the algorithm over compressed rows that promises the same bits in every run. It wants a number for every edge,
 * and offsets as wide as the indices: the plan has room for both, and for a buffer for each direction and width, which are
 * prepared when the data are loaded (gnn_cuda_code.prepare), else by the first sum that needs them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#ifndef GNN_NO_CUSPARSE /* programs that call it not are linked without it */
#include <cusparse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPMM_PIECE = 1 << 16 }; /* numbers that go up at a time */

typedef struct SpmmHandle {
  gnn_cuda_plan plan;
  cusparseHandle_t handle;
} SpmmHandle;

typedef struct SpmmPlan {
  gnn_cuda_plan plan;
  int is_out, is_ready;
  int64_t width, stride;
  cusparseConstSpMatDescr_t matrix;
  cusparseDnMatDescr_t x, y; /* whose addresses change from sum to sum */
} SpmmPlan;

static const float spmm_one = 1, spmm_zero = 0;

static int spmm_check(gnn_cuda *cuda, cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_SUCCESS) return 1;
  return gnn_cuda_refuse_library(cuda, "cuSPARSE", cusparseGetErrorName(status), cusparseGetErrorString(status));
}

static int spmm_no_memory(gnn_cuda *cuda) {
  return gnn_cuda_refuse(cuda, cuda->instance->run.step, "cuSPARSE", "out of memory", "the machine gives no memory for its preparation");
}

static void spmm_destroy_handle(gnn_cuda_plan *plan) {
  SpmmHandle *handle = (SpmmHandle *)plan;
  if (handle->handle) cusparseDestroy(handle->handle);
  free(handle);
}

static void spmm_destroy(gnn_cuda_plan *plan) {
  SpmmPlan *spmm = (SpmmPlan *)plan;
  if (spmm->matrix) cusparseDestroySpMat(spmm->matrix);
  if (spmm->x) cusparseDestroyDnMat(spmm->x);
  if (spmm->y) cusparseDestroyDnMat(spmm->y);
  free(spmm);
}

static int spmm_memcpy(gnn_cuda *cuda, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  cudaError_t code = cudaMemcpy(to, from, bytes, kind);
  if (code == cudaSuccess && kind == cudaMemcpyHostToDevice) code = cudaDeviceSynchronize(); /* it may return before all is there */
  return gnn_cuda_check(cuda, cuda->instance->run.step, "preparing for cuSPARSE", code);
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

static cusparseHandle_t spmm_handle(gnn_cuda *cuda) {
  for (gnn_cuda_plan *plan = cuda->plans; plan; plan = plan->next)
    if (plan->destroy == spmm_destroy_handle) return ((SpmmHandle *)plan)->handle;
  SpmmHandle *handle = calloc(1, sizeof *handle);
  if (handle == NULL) return spmm_no_memory(cuda), NULL;
  gnn_cuda_add_plan(cuda, &handle->plan, spmm_destroy_handle);
  int is_fine = spmm_check(cuda, cusparseCreate(&handle->handle)) && spmm_check(cuda, cusparseSetStream(handle->handle, cuda->stream[GNN_LANE_COMPUTE]));
  return is_fine ? handle->handle : NULL;
}

static const void *spmm_there(const gnn_cuda *cuda, const void *image) {
  return cuda->arena + ((const unsigned char *)image - cuda->instance->run.device);
}

static int spmm_narrow(gnn_cuda *cuda, const gnn_csr *csr, int32_t *narrow_there) {
  size_t count = (size_t)csr->rows + 1;
  int64_t *wide = malloc(count * sizeof *wide);
  int32_t *narrow = malloc(count * sizeof *narrow);
  int is_fine = wide && narrow ? spmm_memcpy(cuda, wide, spmm_there(cuda, csr->ptr), count * sizeof *wide, cudaMemcpyDeviceToHost) : spmm_no_memory(cuda);
  for (size_t i = 0; is_fine && i < count; i++) narrow[i] = (int32_t)wide[i];
  is_fine = is_fine && spmm_memcpy(cuda, narrow_there, narrow, count * sizeof *narrow, cudaMemcpyHostToDevice);
  free(wide);
  free(narrow);
  return is_fine;
}

static int spmm_fits(gnn_cuda *cuda, size_t bytes, int64_t planned) {
  char text[480];
  if ((int64_t)bytes <= planned) return 1;
  snprintf(text, sizeof text, "cuSPARSE on %.200s wants a buffer of %s for sums over these edges, the plan has %s", cuda->name, gnn_bytes_text((int64_t)bytes).text,
           gnn_bytes_text(planned).text);
  return gnn_cuda_lack(cuda, text, "gnncc --spmm=own does without");
}

/* What it needs less than was planned is in use all the same, and counts as touched (gnn_cuda_peak). */
static int spmm_take_buffer(gnn_cuda *cuda, void *buffer, int64_t bytes) {
  return gnn_cuda_check(cuda, cuda->instance->run.step, "preparing for cuSPARSE", cudaMemsetAsync(buffer, 0, (size_t)bytes, cuda->stream[GNN_LANE_COMPUTE]));
}

static int spmm_prepare(gnn_cuda *cuda, cusparseHandle_t handle, SpmmPlan *spmm, const gnn_spmm_desc *desc) {
  const gnn_csr *csr = desc->is_out ? &cuda->instance->run.sets[GNN_EDGES].out : &cuda->instance->run.sets[GNN_EDGES].in;
  float *ones = (float *)(void *)(cuda->arena + desc->at_ones);
  int32_t *offsets = (int32_t *)(void *)(cuda->arena + desc->at_offsets);
  void *buffer = cuda->arena + desc->at_buffer;
  size_t bytes = 0;
  /* Sums that are under way read the same ones, and of symmetric edges the same offsets. */
  if (!gnn_cuda_check(cuda, cuda->instance->run.step, "preparing for cuSPARSE", cudaDeviceSynchronize())) return 0;
  return spmm_fill_ones(cuda, ones, csr->entries) && spmm_narrow(cuda, csr, offsets) &&
         spmm_check(cuda, cusparseCreateConstCsr(&spmm->matrix, csr->rows, csr->rows, csr->entries, offsets, spmm_there(cuda, csr->idx), ones,
                                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F)) &&
         spmm_check(cuda, cusparseCreateDnMat(&spmm->x, csr->rows, desc->width, spmm->stride, cuda->arena + desc->at_x, CUDA_R_32F, CUSPARSE_ORDER_ROW)) &&
         spmm_check(cuda, cusparseCreateDnMat(&spmm->y, csr->rows, desc->width, spmm->stride, cuda->arena + desc->at_y, CUDA_R_32F, CUSPARSE_ORDER_ROW)) &&
         spmm_check(cuda, cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &spmm_one, spmm->matrix,
                                                  spmm->x, &spmm_zero, spmm->y, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, &bytes)) &&
         spmm_fits(cuda, bytes, desc->buffer_bytes) && spmm_take_buffer(cuda, buffer, desc->buffer_bytes) &&
         spmm_check(cuda, cusparseSpMM_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &spmm_one, spmm->matrix,
                                                  spmm->x, &spmm_zero, spmm->y, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, buffer));
}

/* Kept until other data are loaded. */
static SpmmPlan *spmm_plan(gnn_cuda *cuda, cusparseHandle_t handle, const gnn_spmm_desc *desc) {
  const int64_t stride = gnn_row_stride(desc->stride, desc->width);
  for (gnn_cuda_plan *plan = cuda->plans; plan; plan = plan->next) {
    SpmmPlan *spmm = (SpmmPlan *)plan;
    if (plan->destroy == spmm_destroy && spmm->is_ready && spmm->is_out == desc->is_out && spmm->width == desc->width && spmm->stride == stride) return spmm;
  }
  SpmmPlan *spmm = calloc(1, sizeof *spmm);
  if (spmm == NULL) return spmm_no_memory(cuda), NULL;
  spmm->is_out = desc->is_out;
  spmm->width = desc->width;
  spmm->stride = stride;
  gnn_cuda_add_plan(cuda, &spmm->plan, spmm_destroy);
  spmm->is_ready = spmm_prepare(cuda, handle, spmm, desc);
  return spmm->is_ready ? spmm : NULL;
}

static int spmm_bears(gnn_cuda *cuda, int64_t entries) {
  return entries <= INT32_MAX || gnn_cuda_refuse(cuda, cuda->instance->run.step, "cuSPARSE", "too many edges", "its indices have 32 bits here");
}

void gnn_cuda_prepare_spmm(gnn_run *run, const gnn_spmm_desc *desc) {
  gnn_cuda *cuda = run->cuda;
  const gnn_csr *csr = desc->is_out ? &run->sets[GNN_EDGES].out : &run->sets[GNN_EDGES].in;
  if (csr->rows == 0 || desc->width == 0 || csr->entries == 0 || gnn_cuda_is_failed(cuda) || !spmm_bears(cuda, csr->entries)) return;
  cusparseHandle_t handle = spmm_handle(cuda);
  if (handle) spmm_plan(cuda, handle, desc);
}

void gnn_cuda_spmm(gnn_run *run, const gnn_spmm_desc *desc) {
  gnn_cuda *cuda = run->cuda;
  const gnn_csr *csr = desc->is_out ? &run->sets[GNN_EDGES].out : &run->sets[GNN_EDGES].in;
  unsigned char *y = cuda->arena + desc->at_y;
  if (csr->rows == 0 || desc->width == 0 || gnn_cuda_is_failed(cuda)) return;
  if (csr->entries == 0) {
    gnn_cuda_check(cuda, run->step, "clearing", cudaMemsetAsync(y, 0, (size_t)(csr->rows * gnn_row_stride(desc->stride, desc->width)) * sizeof(float), cuda->stream[GNN_LANE_COMPUTE]));
    return;
  }
  if (!spmm_bears(cuda, csr->entries)) return;
  cusparseHandle_t handle = spmm_handle(cuda);
  const SpmmPlan *spmm = handle ? spmm_plan(cuda, handle, desc) : NULL;
  if (spmm && spmm_check(cuda, cusparseDnMatSetValues(spmm->x, cuda->arena + desc->at_x)) && spmm_check(cuda, cusparseDnMatSetValues(spmm->y, y)) &&
      spmm_check(cuda, cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &spmm_one, spmm->matrix, spmm->x,
                                    &spmm_zero, spmm->y, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, cuda->arena + desc->at_buffer)))
    gnn_cuda_settle(cuda, run->step);
}
#endif
