/* cublaslt.c: dense products by cuBLASLt.
 *
 * cuBLASLt counts columns first: what is C = op(A) op(B) by rows is to it C' = op(B)' op(A)', and the numbers of a bias lie
 * along its rows. The algorithm is chosen once for all products of the same sizes, precision, epilogue and workspace, wherever
 * their operands lie: a step and its recomputation have one algorithm, under every plan, and leave the same bits. The alignment
 * that is promised is that of everything in the arena, and the one that a workspace must have. Where cuBLASLt has no algorithm for products of
 * such a size, precision and epilogue, the program's own kernel computes all of them; that is settled before the first epoch. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#ifndef GNN_NO_CUBLASLT /* programs that call it not are linked without it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/algorithm.h"

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
  int is_ready, is_own; /* is_own: cuBLASLt has no algorithm */
} GemmPlan;

static int gemm_check(gnn_cuda *cuda, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return 1;
  return gnn_cuda_refuse_library(cuda, "cuBLASLt", cublasLtGetStatusName(status), cublasLtGetStatusString(status));
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
  for (gnn_cuda_plan *plan = cuda->plans; plan; plan = plan->next)
    if (plan->destroy == gemm_destroy_handle) return ((GemmHandle *)plan)->handle;
  GemmHandle *handle = calloc(1, sizeof *handle);
  if (handle == NULL) return gemm_no_memory(cuda), NULL;
  if (!gemm_check(cuda, cublasLtCreate(&handle->handle))) {
    free(handle);
    return NULL;
  }
  gnn_cuda_add_plan(cuda, &handle->plan, gemm_destroy_handle);
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

static void *gemm_at(const gnn_cuda *cuda, int64_t at) { return cuda->arena + at; }

static int gemm_describe(gnn_cuda *cuda, GemmPlan *gemm) {
  const gnn_gemm_desc *d = &gemm->desc;
  static const cublasComputeType_t computes[] = {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16BF, CUBLAS_COMPUTE_32F};
  const cudaDataType_t factor = d->precision == GNN_OF_BF16 ? CUDA_R_16BF : CUDA_R_32F, result = d->is_half ? CUDA_R_16BF : CUDA_R_32F;
  const cublasOperation_t transpose[2] = {d->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, d->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N};
  const cublasLtEpilogue_t epilogue = d->at_bias >= 0 ? d->is_relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
                                    : d->is_relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = d->at_bias >= 0 ? gemm_at(cuda, d->at_bias) : NULL;
  uint64_t n = (uint64_t)d->n, m = (uint64_t)(d->rows ? d->rows : d->m), k = (uint64_t)d->k;
  const int64_t stride_a = gnn_row_stride(d->stride_a, d->transpose_a ? d->m : d->k), stride_b = gnn_row_stride(d->stride_b, d->transpose_b ? d->k : d->n);
  return gemm_check(cuda, cublasLtMatmulDescCreate(&gemm->product, computes[d->precision], CUDA_R_32F)) &&
         gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_TRANSA, &transpose[0], sizeof transpose[0])) &&
         gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_TRANSB, &transpose[1], sizeof transpose[1])) &&
         gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue)) &&
         (bias == NULL || gemm_check(cuda, cublasLtMatmulDescSetAttribute(gemm->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias))) &&
         gemm_check(cuda, cublasLtMatrixLayoutCreate(&gemm->a, factor, d->transpose_b ? k : n, d->transpose_b ? n : k, stride_b)) &&
         gemm_check(cuda, cublasLtMatrixLayoutCreate(&gemm->b, factor, d->transpose_a ? m : k, d->transpose_a ? k : m, stride_a)) &&
         gemm_check(cuda, cublasLtMatrixLayoutCreate(&gemm->c, result, n, m, gnn_row_stride(d->stride_c, d->n)));
}

static int gemm_choose(gnn_cuda *cuda, cublasLtHandle_t handle, GemmPlan *gemm) {
  const gnn_gemm_desc *d = &gemm->desc;
  int is_found;
  if (!gemm_check(cuda, gnn_algorithm_choose(handle, gemm->product, gemm->a, gemm->b, gemm->c, (uint64_t)d->workspace_bytes, &gemm->algorithm, &is_found))) return 0;
  gemm->is_own = !is_found;
  if (gemm->is_own)
    gnn_cuda_note(cuda, "cuBLASLt has no algorithm here for products of %lld x %lld by %lld x %lld%s: gnncc's own kernel computes them, in fp32", (long long)d->m, (long long)d->k,
                  (long long)d->k, (long long)d->n, d->precision == GNN_OF_BF16 ? " in bf16" : d->precision == GNN_IN_TF32 ? " in tf32" : "");
  return 1;
}

static int gemm_is_alike(const gnn_gemm_desc *a, const gnn_gemm_desc *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && a->workspace_bytes == b->workspace_bytes && a->transpose_a == b->transpose_a &&
         a->transpose_b == b->transpose_b && a->is_relu == b->is_relu && a->is_half == b->is_half && a->stride_a == b->stride_a && a->stride_b == b->stride_b &&
         a->stride_c == b->stride_c && (a->at_bias < 0) == (b->at_bias < 0) && a->precision == b->precision;
}

static int gemm_has_rows(const gnn_gemm_desc *a, const gnn_gemm_desc *b) { return gemm_is_alike(a, b) && a->rows == b->rows; }

static int gemm_is_same(const gnn_gemm_desc *a, const gnn_gemm_desc *b) {
  return gemm_has_rows(a, b) && a->at_a == b->at_a && a->at_b == b->at_b && a->at_c == b->at_c && a->at_bias == b->at_bias && a->at_workspace == b->at_workspace;
}

static GemmPlan *gemm_find(gnn_cuda *cuda, const gnn_gemm_desc *desc, int (*is_it)(const gnn_gemm_desc *, const gnn_gemm_desc *)) {
  for (gnn_cuda_plan *plan = cuda->plans; plan; plan = plan->next)
    if (plan->destroy == gemm_destroy && ((GemmPlan *)plan)->is_ready && is_it(&((GemmPlan *)plan)->desc, desc)) return (GemmPlan *)plan;
  return NULL;
}

/* How much of its workspace an algorithm needs is its own affair; all of it is in use, and counts as touched (gnn_cuda_peak). */
static int gemm_take_workspace(gnn_cuda *cuda, const gnn_gemm_desc *d) {
  return d->workspace_bytes == 0 || gnn_cuda_check(cuda, cuda->instance->run.step, "clearing a workspace",
                                                   cudaMemsetAsync(gemm_at(cuda, d->at_workspace), 0, (size_t)d->workspace_bytes, cuda->stream[GNN_LANE_COMPUTE]));
}

/* The algorithm of all rows for some of them: another one might leave other bits. */
static int gemm_take(gnn_cuda *cuda, cublasLtHandle_t handle, GemmPlan *gemm, const GemmPlan *twin) {
  const gnn_gemm_desc *d = &gemm->desc;
  cublasLtMatmulHeuristicResult_t result;
  gemm->algorithm = twin->algorithm, gemm->is_own = twin->is_own;
  if (gemm->is_own || d->rows == twin->desc.rows) return 1;
  if (cublasLtMatmulAlgoCheck(handle, gemm->product, gemm->a, gemm->b, gemm->c, gemm->c, &gemm->algorithm, &result) == CUBLAS_STATUS_SUCCESS &&
      result.workspaceSize <= (size_t)d->workspace_bytes)
    return 1;
  char text[200];
  snprintf(text, sizeof text, "that of a product of %lld x %lld by %lld x %lld does not take %lld of its rows; compile with --gemm=own, or with --cut=whole", (long long)d->m, (long long)d->k,
           (long long)d->k, (long long)d->n, (long long)d->rows);
  return gnn_cuda_refuse(cuda, cuda->instance->run.step, "cuBLASLt", "no algorithm for parts", text);
}

/* Kept until other data are loaded. The algorithm of all rows is that of some of them, so it is looked for first. */
static GemmPlan *gemm_plan(gnn_cuda *cuda, cublasLtHandle_t handle, const gnn_gemm_desc *desc) {
  GemmPlan *gemm = gemm_find(cuda, desc, gemm_is_same);
  const GemmPlan *same_rows = gemm_find(cuda, desc, gemm_has_rows), *twin = same_rows ? same_rows : gemm_find(cuda, desc, gemm_is_alike);
  if (gemm) return gemm;
  gemm = calloc(1, sizeof *gemm);
  if (gemm == NULL) return gemm_no_memory(cuda), NULL;
  gemm->desc = *desc;
  gnn_cuda_add_plan(cuda, &gemm->plan, gemm_destroy);
  if (!gemm_describe(cuda, gemm) || !gemm_take_workspace(cuda, desc)) return NULL;
  if (twin && !gemm_take(cuda, handle, gemm, twin)) return NULL;
  if (!twin && !gemm_choose(cuda, handle, gemm)) return NULL;
  gemm->is_ready = 1;
  return gemm;
}

int gnn_cuda_gemm(gnn_run *run, const gnn_gemm_desc *desc) {
  gnn_cuda *cuda = run->cuda;
  const float one = 1, beta = desc->at_addend >= 0;
  if (desc->m == 0 || desc->n == 0 || gnn_cuda_is_failed(cuda)) return 1;
  cublasLtHandle_t handle = gemm_handle(cuda);
  const GemmPlan *gemm = handle ? gemm_plan(cuda, handle, desc) : NULL;
  if (gemm == NULL || gemm->is_own) return gemm == NULL;
  void *c = gemm_at(cuda, desc->at_c);
  const void *addend = desc->at_addend >= 0 ? gemm_at(cuda, desc->at_addend) : c;
  if (gemm_check(cuda, cublasLtMatmul(handle, gemm->product, &one, gemm_at(cuda, desc->at_b), gemm->a, gemm_at(cuda, desc->at_a), gemm->b, &beta,
                                      addend, gemm->c, c, gemm->c, &gemm->algorithm, cuda->arena + desc->at_workspace,
                                      (size_t)desc->workspace_bytes, cuda->stream[GNN_LANE_COMPUTE])))
    gnn_cuda_settle(cuda, run->step);
  return 1;
}

void gnn_cuda_prepare_gemm(gnn_run *run, const gnn_gemm_desc *desc) {
  gnn_cuda *cuda = run->cuda;
  if (desc->m == 0 || desc->n == 0 || gnn_cuda_is_failed(cuda)) return;
  cublasLtHandle_t handle = gemm_handle(cuda);
  if (handle) gemm_plan(cuda, handle, desc);
}
#endif
