/* gemm.c: dense products by cuBLASLt.
 *
 * cuBLASLt counts columns first: what is C = op(A) op(B) by rows is to it C' = op(B)' op(A)', and the numbers of a bias lie
 * along its rows. The algorithm is chosen once for a call site, by sizes, precision and workspace alone: the alignment that is
 * promised is the arena's, not that of the operands, so that every plan gets the same algorithm and the same bits. Partial
 * sums may be kept apart and added in their order (COMPUTE_TYPE), never where they meet. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

typedef struct GemmHandle {
  gnn_cuda_plan plan;
  cublasLtHandle_t handle;
} GemmHandle;

typedef struct GemmPlan {
  gnn_cuda_plan plan;
  gnn_gemm_desc desc;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t a, b, c; /* as cuBLASLt sees them: a is B */
  cublasLtMatmulAlgo_t algorithm;
} GemmPlan;

static const char gemm_handle_site;

static int gemm_check(gnn_cuda *cuda, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return 1;
  return gnn_cuda_refuse(cuda, cuda->instance->run.step, "cuBLASLt", cublasLtGetStatusName(status), cublasLtGetStatusString(status));
}

static int gemm_no_memory(gnn_cuda *cuda) {
  return gnn_cuda_refuse(cuda, cuda->instance->run.step, "cuBLASLt", "out of memory", "the machine gives no memory for its description");
}

static void gemm_destroy_handle(gnn_cuda_plan *plan) {
  GemmHandle *handle = (GemmHandle *)plan;
  cublasLtDestroy(handle->handle);
  free(handle);
}

static cublasLtHandle_t gemm_handle(gnn_cuda *cuda) {
  GemmHandle *handle = (GemmHandle *)gnn_cuda_find_plan(cuda, &gemm_handle_site);
  if (handle) return handle->handle;
  handle = calloc(1, sizeof *handle);
  if (handle == NULL) return gemm_no_memory(cuda), NULL;
  if (!gemm_check(cuda, cublasLtCreate(&handle->handle))) {
    free(handle);
    return NULL;
  }
  handle->plan.destroy = gemm_destroy_handle;
  gnn_cuda_add_plan(cuda, &handle->plan, &gemm_handle_site);
  return handle->handle;
}

static void gemm_destroy(gnn_cuda_plan *plan) {
  GemmPlan *gemm = (GemmPlan *)plan;
  if (gemm->a) cublasLtMatrixLayoutDestroy(gemm->a);
  if (gemm->b) cublasLtMatrixLayoutDestroy(gemm->b);
  if (gemm->c) cublasLtMatrixLayoutDestroy(gemm->c);
  if (gemm->product) cublasLtMatmulDescDestroy(gemm->product);
  free(gemm);
}

static float *gemm_at(const gnn_cuda *cuda, int64_t at) { return (float *)(void *)(cuda->arena + at); }

static int gemm_describe(gnn_cuda *cuda, GemmPlan *gemm) {
  const gnn_gemm_desc *d = &gemm->desc;
  const cublasComputeType_t compute = d->precision == GNN_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const cublasOperation_t transpose[2] = {d->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, d->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N};
  const cublasLtEpilogue_t epilogue = d->at_bias >= 0 ? d->is_relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
                                    : d->is_relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = d->at_bias >= 0 ? gemm_at(cuda, d->at_bias) : NULL;
  uint64_t n = (uint64_t)d->n, m = (uint64_t)d->m, k = (uint64_t)d->k;
  return gemm_check(cuda, cublasLtMatmulDescCreate(&gemm->product, compute, CUDA_R_32F)) &&
         gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_TRANSA, &transpose[0], sizeof transpose[0])) &&
         gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_TRANSB, &transpose[1], sizeof transpose[1])) &&
         gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue)) &&
         (bias == NULL || gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias))) &&
         gemm_check(cuda, cublasLtMatrixLayoutCreate(&gemm->a, CUDA_R_32F, d->transpose_b ? k : n, d->transpose_b ? n : k, d->transpose_b ? d->k : d->n)) &&
         gemm_check(cuda, cublasLtMatrixLayoutCreate(&gemm->b, CUDA_R_32F, d->transpose_a ? m : k, d->transpose_a ? k : m, d->transpose_a ? d->m : d->k)) &&
         gemm_check(cuda, cublasLtMatrixLayoutCreate(&gemm->c, CUDA_R_32F, n, m, d->n));
}

static int gemm_prefer(gnn_cuda *cuda, cublasLtMatmulPreference_t preference, uint64_t workspace) {
  const uint32_t alignment = GNN_ALIGNMENT, reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  int is_fine = gemm_check(cuda, cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace)) &&
                gemm_check(cuda, cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reduction, sizeof reduction));
  for (int i = 0; i < 4 && is_fine; i++)
    is_fine = gemm_check(cuda, cublasLtMatmulPreferenceSetAttribute(preference, aligned[i], &alignment, sizeof alignment));
  return is_fine;
}

static int gemm_choose(gnn_cuda *cuda, cublasLtHandle_t handle, GemmPlan *gemm) {
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t result;
  int count = 0;
  if (!gemm_check(cuda, cublasLtMatmulPreferenceCreate(&preference))) return 0;
  int is_fine = gemm_prefer(cuda, preference, (uint64_t)gemm->desc.workspace_bytes) &&
                gemm_check(cuda, cublasLtMatmulAlgoGetHeuristic(handle, gemm->product, gemm->a, gemm->b, gemm->c, gemm->c, preference, 1, &result, &count));
  is_fine = gemm_check(cuda, cublasLtMatmulPreferenceDestroy(preference)) && is_fine;
  if (is_fine && count == 0) is_fine = gemm_check(cuda, CUBLAS_STATUS_NOT_SUPPORTED);
  if (is_fine) gemm->algorithm = result.algo;
  return is_fine;
}

/* A call site's sizes do not change while the data do not; what the data change, they drop. */
static GemmPlan *gemm_plan(gnn_cuda *cuda, cublasLtHandle_t handle, const gnn_gemm_desc *desc, const void *site) {
  GemmPlan *gemm = (GemmPlan *)gnn_cuda_find_plan(cuda, site);
  if (gemm) return gemm;
  gemm = calloc(1, sizeof *gemm);
  if (gemm == NULL) return gemm_no_memory(cuda), NULL;
  gemm->desc = *desc;
  gemm->plan.destroy = gemm_destroy;
  gnn_cuda_add_plan(cuda, &gemm->plan, site);
  return gemm_describe(cuda, gemm) && gemm_choose(cuda, handle, gemm) ? gemm : NULL;
}

void gnn_cuda_gemm(gnn_run *run, const gnn_gemm_desc *desc, void **site) {
  gnn_cuda *cuda = run->cuda;
  const float one = 1, zero = 0;
  if (desc->m == 0 || desc->n == 0 || gnn_cuda_is_failed(cuda)) return;
  cublasLtHandle_t handle = gemm_handle(cuda);
  const GemmPlan *gemm = handle ? gemm_plan(cuda, handle, desc, site) : NULL;
  if (gemm == NULL) return;
  float *c = gemm_at(cuda, desc->at_c);
  if (gemm_check(cuda, cublasLtMatmul(handle, gemm->product, &one, gemm_at(cuda, desc->at_b), gemm->a, gemm_at(cuda, desc->at_a), gemm->b, &zero,
                                      c, gemm->c, c, gemm->c, &gemm->algorithm, cuda->arena + desc->at_workspace,
                                      (size_t)desc->workspace_bytes, cuda->stream[GNN_LANE_COMPUTE])))
    gnn_cuda_settle(cuda, run->step);
}
