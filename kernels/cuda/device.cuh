/* device.cuh: what emitted CUDA kernels are written in: rows by groups of lanes, sums in a fixed order.
 *
 * A row is computed by a group of neighbouring threads of a warp, a power of two of them; the rows of a kernel go
 * round its groups. Within a group, `lane` runs over the elements of a row and `slot` over its edges. Sums are per
 * thread in the order of the entries, then over slots by a butterfly: the same bits in every run and in every thread.
 * Compile with --fmad=false: fused multiply-adds are written out, as in kernels/cpu.
 */
#ifndef GNN_CUDA_DEVICE_H
#define GNN_CUDA_DEVICE_H

#include "view.h"

#ifdef __CUDACC_RTC__
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define INT64_MAX 0x7fffffffffffffffLL
#define INT64_MIN (-INT64_MAX - 1)
#endif

#define restrict __restrict__
#define GNN_INLINE static __device__ __forceinline__
#define GNN_KERNEL extern "C" __global__ void __launch_bounds__(256, 2)
#ifdef __CUDACC__
#define GNN_UNROLL _Pragma("unroll")
#define GNN_UNROLL_2 _Pragma("unroll 2")
#define GNN_UNROLL_4 _Pragma("unroll 4")
#else
#define GNN_UNROLL
#define GNN_UNROLL_2
#define GNN_UNROLL_4
#endif

enum { GNN_THREADS = 256 }; /* of every block */

/* The arena at a planned offset. */
GNN_INLINE gnn_real *gnn_at(const gnn_view *g, int64_t offset) { return (gnn_real *)(void *)(g->device + offset); }

GNN_INLINE int64_t gnn_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Of the rows from k << shift on, none of which lies beyond the next part: those before row `end` lie in `part`, counted from 0. */
struct gnn_row_part {
  int32_t part, end;
};

GNN_INLINE int gnn_part_of(const gnn_row_part *parts, int shift, int64_t row) {
  const gnn_row_part at = parts[row >> shift];
  return at.part + (row >= at.end);
}

/* Of an ascending list the first of the entries [e, last) that is not below `row`, else last. */
GNN_INLINE int64_t gnn_entry_of(const int32_t *idx, int64_t e, int64_t last, int64_t row) {
  while (e < last) {
    const int64_t middle = e + (last - e) / 2;
    if (idx[middle] < row) e = middle + 1;
    else last = middle;
  }
  return e;
}

/* This thread's group of SIZE threads among all of the launch, and how many there are. */
template <int SIZE> GNN_INLINE int64_t gnn_group() { return ((int64_t)blockIdx.x * GNN_THREADS + threadIdx.x) / SIZE; }
template <int SIZE> GNN_INLINE int64_t gnn_groups() { return (int64_t)gridDim.x * (GNN_THREADS / SIZE); }

/* The threads of the group, as bits of the warp. */
template <int SIZE> GNN_INLINE uint32_t gnn_group_mask() {
  return (SIZE == 32 ? ~0u : (1u << SIZE % 32) - 1) << threadIdx.x % 32 / SIZE * SIZE;
}

/* How numbers come together, where that begins, and what is left of a row of none: an extreme of zeros of both signs is +0. */
struct gnn_fold_sum {
  GNN_INLINE gnn_real start() { return 0; }
  template <class T> GNN_INLINE T join(T a, T b) { return a + b; }
  GNN_INLINE gnn_real settle(gnn_real x, bool) { return x; }
};

/* Over the threads of the group with the same place modulo APART; every thread gets it. */
template <class Fold, int SIZE, int APART, class T> GNN_INLINE T gnn_group_fold(T x) {
  GNN_UNROLL for (int bits = APART; bits < SIZE; bits *= 2) x = Fold::join(x, __shfl_xor_sync(gnn_group_mask<SIZE>(), x, bits));
  return x;
}

template <int SIZE, int APART, class T> GNN_INLINE T gnn_group_sum(T x) { return gnn_group_fold<gnn_fold_sum, SIZE, APART>(x); }

template <int SIZE> GNN_INLINE gnn_real gnn_group_maximum(gnn_real x) {
  GNN_UNROLL for (int bits = 1; bits < SIZE; bits *= 2) {
    const gnn_real other = __shfl_xor_sync(gnn_group_mask<SIZE>(), x, bits);
    x = other > x ? other : x;
  }
  return x;
}

/* Words of 32 elements, of which each lane has VECTOR neighbours and gives the bits where they belong; it gets the word that they are in. */
template <int VECTOR> GNN_INLINE uint32_t gnn_word(uint32_t bits) {
  if constexpr (VECTOR == 1) return __ballot_sync(~0u, bits != 0);
  else {
    GNN_UNROLL for (int apart = 1; apart < 32 / VECTOR; apart *= 2) bits |= __shfl_xor_sync(~0u, bits, apart);
    return bits;
  }
}

#endif
