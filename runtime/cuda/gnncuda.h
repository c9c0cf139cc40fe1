/* gnncuda.h: what emitted programs for CUDA are built on, beside gnnrt.h.
 *
 * The host side of an emitted program is C: the list of steps of gnnrt.h, where a step launches kernels on the stream
 * of the compute lane and returns at once. The kernels are CUDA, compiled by nvcc or NVRTC to a cubin that the program
 * carries; the driver loads it (kernels/cuda/module.h), so that neither nvcc nor the driver library is needed to build or to
 * start the program. gnn_copy and gnn_await become copies on the lanes' streams and events between them
 * (docs/planner.md, "Transfer scheduling").
 *
 * A program's functions must do the same in every epoch: they are run once as they are, and then captured into a CUDA graph
 * that is replayed, with the exchanges of ranks in it, unless the program has an SSD tier, is watched, or was told not to.
 */
#ifndef GNNCUDA_H
#define GNNCUDA_H

#include "gnnrt.h"
#include "kernels/cuda/places.h"

/* What carries rows and sums between the devices of ranks: directly gnn_nccl of net/nccl.c, by the host gnn_host_net (device_net.h). */
typedef struct gnn_cuda_net gnn_cuda_net;

extern const gnn_backend gnn_cuda_backend; /* for gnn_program.backend; gnn_program.code is a gnn_cuda_code */

/* The device code of a program: kernels by name, in the order of the indices that gnn_launch takes. */
typedef struct gnn_cuda_code {
  const unsigned char *image; /* a cubin, a fatbin or PTX */
  size_t image_bytes;
  const char *architecture;   /* "sm_90" */
  int kernel_count;
  const char *const *kernels;
  int calls_libraries;           /* which load code of their own once they are called */
  void (*prepare)(gnn_run *run); /* what libraries keep for the data that were just loaded; NULL: nothing */
  const gnn_cuda_net *nets[GNN_WAYS]; /* of a program of ranks; NULL: nothing passes so */
} gnn_cuda_code;

/* Launches kernel `kernel` with the device's gnn_view and the places `at` as its arguments. Blocks, threads a block, bytes of dynamic shared
 * memory. Errors are kept in the run with the step's number and end the epoch (GNN_EDEVICE). */
void gnn_launch(gnn_run *run, int kernel, int64_t blocks, int threads, int shared_bytes, const gnn_places *at);

/* As gnn_gather_parts, of what lies from `at` on in the arena: on the lane of the net, after the steps before; those that follow wait for it. */
void gnn_cuda_gather_parts(gnn_run *run, int64_t at, int64_t part_bytes);

/* How the factors of a product are rounded before they are multiplied; sums are fp32 always. GNN_OF_BF16: they are kept so. */
typedef enum gnn_precision { GNN_IN_FP32, GNN_IN_TF32, GNN_IN_BF16, GNN_OF_BF16 } gnn_precision;

/* C[m, n] = op(A) op(B) by cuBLASLt; row-major, all of it in the arena at these offsets. is_half: C, what is added and the bias are bf16
 * (of GNN_OF_BF16 only), else fp32. transpose_a: A is stored
 * [k, m]; transpose_b: B is stored [n, k]. stride_a, stride_b, stride_c: gnn_row_stride of them as they are stored; what is added has C's.
 * addend: offset of m x n numbers that are added, or -1; bias: of n numbers that are then
 * added to each row, or -1. is_relu: after both. workspace: offset and bytes of scratch in the arena. Deterministic: the same bits for the same
 * sizes, precision and workspace_bytes, wherever the operands lie. 0: cuBLASLt has no algorithm for it, and has done nothing: the caller launches a
 * kernel of its own, for all products that are alike; else 1. */
typedef struct gnn_gemm_desc {
  int64_t m, n, k;
  int64_t rows; /* of the m only these, by the algorithm for all; 0: all */
  int64_t at_a, at_b, at_c, at_bias, at_addend, at_workspace, workspace_bytes;
  int64_t stride_a, stride_b, stride_c;
  int transpose_a, transpose_b, is_relu, is_half;
  gnn_precision precision;
} gnn_gemm_desc;
int gnn_cuda_gemm(gnn_run *run, const gnn_gemm_desc *gemm);
/* Before any step: which algorithm it will be; and says so where there is none. Wherever the operands will lie: a bias is there or not (-1). */
void gnn_cuda_prepare_gemm(gnn_run *run, const gnn_gemm_desc *gemm);

/* Y[rows, width] = adjacency times X by cuSPARSE, with its buffer and preprocessing kept until other data are loaded.
 * is_out: the adjacency of `out`, else of `in`. Deterministic. Edges number less than 2^31. In the arena, for nothing else:
 * a one for each edge, the rows' offsets in 32 bits, and a buffer for the sums of this width and direction. stride: gnn_row_stride of X and Y. */
typedef struct gnn_spmm_desc {
  int is_out;
  int64_t width, stride, at_x, at_y, at_ones, at_offsets, at_buffer, buffer_bytes;
} gnn_spmm_desc;
void gnn_cuda_spmm(gnn_run *run, const gnn_spmm_desc *spmm);
/* The same before any step, wherever x and y will be: its buffer, which has a planned size, may be too small for these data. That ends
 * the load with GNN_ENOMEM. */
void gnn_cuda_prepare_spmm(gnn_run *run, const gnn_spmm_desc *spmm);

/* In `evaluate`, where somebody may ask for a value [rows, width] by name; from a row to the next are `stride` numbers. */
void gnn_cuda_tap(gnn_run *run, const char *name, int64_t at, int64_t rows, int64_t width, int64_t stride);

#endif
