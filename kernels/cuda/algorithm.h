/* algorithm.h: which of cuBLASLt's algorithms computes a product; programs and calibration choose alike. */
#ifndef GNN_CUDA_ALGORITHM_H
#define GNN_CUDA_ALGORITHM_H

#include <cublasLt.h>
#include <stdint.h>

/* Deterministic: partial sums may be kept apart and added in their order (COMPUTE_TYPE), never where they meet. The matrix a is at a multiple of 256
 * bytes, as everything in the arena; b and c have rows of nodes, may begin with those of a part, and are at a multiple of 16 bytes,
 * whole or not: the algorithm is one for both. *is_found 0: cuBLASLt has none for such a product on this device. */
static inline cublasStatus_t gnn_algorithm_choose(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                  cublasLtMatrixLayout_t c, uint64_t workspace_bytes, cublasLtMatmulAlgo_t *algorithm, int *is_found) {
  const uint32_t alignments[] = {256, 16, 16, 16}, reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t result;
  int count = 0;
  *is_found = 0;
  cublasStatus_t status = cublasLtMatmulPreferenceCreate(&preference);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes);
  if (status == CUBLAS_STATUS_SUCCESS) status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reduction, sizeof reduction);
  for (int i = 0; i < 4 && status == CUBLAS_STATUS_SUCCESS; i++) status = cublasLtMatmulPreferenceSetAttribute(preference, aligned[i], &alignments[i], sizeof alignments[i]);
  if (status == CUBLAS_STATUS_SUCCESS) status = cublasLtMatmulAlgoGetHeuristic(handle, product, a, b, c, c, preference, 1, &result, &count);
  const cublasStatus_t end = cublasLtMatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return end;
  if (status != CUBLAS_STATUS_SUCCESS || end != CUBLAS_STATUS_SUCCESS) return status != CUBLAS_STATUS_SUCCESS ? status : end;
  *is_found = count > 0 && result.state == CUBLAS_STATUS_SUCCESS;
  if (*is_found) *algorithm = result.algo;
  return CUBLAS_STATUS_SUCCESS;
}

#endif
