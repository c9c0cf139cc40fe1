/* vector.h: vectors of numbers, as wide as the instruction set the file is compiled for, and fused multiply-add.
 *
 * Almost everything in kernels/cpu is always inlined, so that sizes known where a kernel is called are constants inside it.
 * Loops over lanes and tiles then unroll into registers, and an emitted step is one specialised function. What is no faster
 * for knowing its sizes is shared: one function of the program that all steps call, compiled once.
 *
 * Where a product is fused with a sum it is written so. Compile with -ffp-contract=off: a compiler that fuses as it likes
 * may choose otherwise in the last elements of a loop than in its vectors, and the bits of an element would depend on
 * where a task begins. -O2 is enough for the products; loops over elements (random.h, math.h) want -O3
 * -fno-trapping-math, square roots -fno-math-errno, and clang -mprefer-vector-width=512 where it has AVX-512.
 */
#ifndef GNN_VECTOR_H
#define GNN_VECTOR_H

#include "../../runtime/gnnrt.h"

#if defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__
#error "NaN and infinities have to stay what they are: compile without -ffast-math and -ffinite-math-only"
#endif

#if defined __x86_64__ && !defined __FMA__
#include <emmintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

/* The compiler has to be told how long the vectors of SVE are (-msve-vector-bits=256 or 512): else kernels use NEON's. */
#if GNN_SVE_BITS == 256 || GNN_SVE_BITS == 512
#define GNN_HAS_SVE
#include <arm_sve.h>
#endif

/* gcc would take two edges at a time through the loop over their numbers, and compute what belongs to an edge for every number. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-loop-unroll-and-jam")
#endif

/* Without optimisation nothing follows from a call in place of a function, and the code is five times as long to compile. */
#ifdef __OPTIMIZE__
#define GNN_INLINE static inline __attribute__((always_inline))
#else
#define GNN_INLINE static inline
#endif

#ifdef __clang__
#define GNN_SHARED static __attribute__((noinline, unused))
#else
#define GNN_SHARED static __attribute__((noinline, noclone, unused))
#endif

#ifdef __clang__
#define GNN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GNN_UNROLL _Pragma("GCC unroll 64")
#endif

/* Before a loop of which no turn reads what another one stores. */
#ifdef __clang__
#define GNN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GNN_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Before a short loop that is to become a vector's as a loop. */
#ifdef __clang__
#define GNN_ROLLED
#else
#define GNN_ROLLED _Pragma("GCC unroll 1")
#endif

/* Registers of this width must exist. */
#ifndef GNN_VECTOR_BYTES
#if defined __AVX512F__
#define GNN_VECTOR_BYTES 64
#elif defined __AVX2__ && defined __FMA__
#define GNN_VECTOR_BYTES 32
#elif defined GNN_HAS_SVE
#define GNN_VECTOR_BYTES (GNN_SVE_BITS / 8)
#else
#define GNN_VECTOR_BYTES 16
#endif
#endif

#if defined __AVX512F__ || defined __aarch64__
enum { GNN_REGISTERS = 32 };
#else
enum { GNN_REGISTERS = 16 };
#endif

#ifdef GNN_DOUBLE
#define GNN_LANES (GNN_VECTOR_BYTES / 8)
#else
#define GNN_LANES (GNN_VECTOR_BYTES / 4)
#endif

/* gnn_vecN: N numbers; gnn_vecN_at: the same in memory, at any address of a number. Up to the width of a register. */
#define GNN_DEFINE_VECTOR(lanes)                                                          \
  typedef gnn_real gnn_vec##lanes __attribute__((vector_size(lanes * sizeof(gnn_real)))); \
  typedef gnn_real gnn_vec##lanes##_at                                                    \
      __attribute__((vector_size(lanes * sizeof(gnn_real)), aligned(sizeof(gnn_real)), may_alias))

typedef gnn_real gnn_vec1, gnn_vec1_at;
GNN_DEFINE_VECTOR(2);
#if GNN_LANES >= 4
GNN_DEFINE_VECTOR(4);
#endif
#if GNN_LANES >= 8
GNN_DEFINE_VECTOR(8);
#endif
#if GNN_LANES >= 16
GNN_DEFINE_VECTOR(16);
#endif

/* The widest. */
#if GNN_LANES == 16
typedef gnn_vec16 gnn_vec;
typedef gnn_vec16_at gnn_vec_at;
#define GNN_FMA gnn_fma16
#elif GNN_LANES == 8
typedef gnn_vec8 gnn_vec;
typedef gnn_vec8_at gnn_vec_at;
#define GNN_FMA gnn_fma8
#elif GNN_LANES == 4
typedef gnn_vec4 gnn_vec;
typedef gnn_vec4_at gnn_vec_at;
#define GNN_FMA gnn_fma4
#else
typedef gnn_vec2 gnn_vec;
typedef gnn_vec2_at gnn_vec_at;
#define GNN_FMA gnn_fma2
#endif

#include "fma.h"

#define GNN_LOAD(p) (*(const gnn_vec_at *)(p))
#define GNN_STORE(p, v) (*(gnn_vec_at *)(p) = (v))

typedef union gnn_float_bits {
  float f;
  uint32_t u;
} gnn_float_bits;

GNN_INLINE float gnn_float_of(uint32_t u) { return (gnn_float_bits){.u = u}.f; }
GNN_INLINE uint32_t gnn_bits_of(float f) { return (gnn_float_bits){.f = f}.u; }

/* Of numbers of any type, without branches; so written gcc finds the vectors. As in PyTorch what is no number wins; of equals the second. */
#define GNN_MAX(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define GNN_MIN(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))

/* Called once for each finished row with its numbers; acc is the kernel's and is gone afterwards. */
typedef void gnn_row_done(const void *context, int64_t row, const gnn_real *acc);

GNN_INLINE int64_t gnn_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Of an ascending list the first of the entries [e, last) that is not below `row`, else last. */
GNN_INLINE int64_t gnn_entry_of(const int32_t *idx, int64_t e, int64_t last, int64_t row) {
  if (e == last || idx[last - 1] < row) return last;
  while (e < last) {
    const int64_t middle = e + (last - e) / 2;
    if (idx[middle] < row) e = middle + 1;
    else last = middle;
  }
  return e;
}

/* The sum of 16 numbers by halving: the same bits however wide the vectors are. */
GNN_INLINE gnn_real gnn_sum_lanes(const gnn_real *lanes) {
  gnn_real eight[8], four[4];
  GNN_ROLLED for (int t = 0; t < 8; t++) eight[t] = lanes[t] + lanes[t + 8];
  GNN_ROLLED for (int t = 0; t < 4; t++) four[t] = eight[t] + eight[t + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/* The elements of two vectors that stand at these places; those of the second come after those of the first. */
#ifdef __clang__
#define GNN_PICK(lanes, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#ifdef GNN_DOUBLE
typedef int64_t gnn_place;
#else
typedef int32_t gnn_place;
#endif
#define GNN_PICK(lanes, a, b, ...) __builtin_shuffle(a, b, (gnn_place __attribute__((vector_size((lanes) * sizeof(gnn_place))))){__VA_ARGS__})
#endif

/* sums[i] = gnn_sum_lanes(lanes + 16 * i) for the first four i: the halves of several at once. */
#if GNN_LANES == 16
GNN_INLINE void gnn_sum_lanes_of_four(const gnn_real *lanes, gnn_real *sums) {
  gnn_vec16 eight[2];
  GNN_UNROLL for (int p = 0; p < 2; p++) {
    const gnn_vec16 a = GNN_LOAD(lanes + 32 * p), b = GNN_LOAD(lanes + 32 * p + 16);
    eight[p] = GNN_PICK(16, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) + GNN_PICK(16, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  }
  const gnn_vec16 four = GNN_PICK(16, eight[0], eight[1], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
                         GNN_PICK(16, eight[0], eight[1], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  const gnn_vec16 two = four + GNN_PICK(16, four, four, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  const gnn_vec16 one = two + GNN_PICK(16, two, two, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  GNN_UNROLL for (int i = 0; i < 4; i++) sums[i] = one[4 * i];
}
#elif GNN_LANES >= 4
GNN_INLINE void gnn_sum_lanes_of_four(const gnn_real *lanes, gnn_real *sums) {
  gnn_vec4 four[4], two[2];
  GNN_UNROLL for (int i = 0; i < 4; i++) {
    const gnn_vec4_at *at = (const gnn_vec4_at *)(lanes + 16 * i);
    four[i] = (gnn_vec4)((at[0] + at[2]) + (at[1] + at[3]));
  }
  GNN_UNROLL for (int i = 0; i < 2; i++) two[i] = GNN_PICK(4, four[2 * i], four[2 * i + 1], 0, 1, 4, 5) + GNN_PICK(4, four[2 * i], four[2 * i + 1], 2, 3, 6, 7);
  *(gnn_vec4_at *)sums = (gnn_vec4_at)(GNN_PICK(4, two[0], two[1], 0, 2, 4, 6) + GNN_PICK(4, two[0], two[1], 1, 3, 5, 7));
}
#else
GNN_INLINE void gnn_sum_lanes_of_four(const gnn_real *lanes, gnn_real *sums) {
  for (int i = 0; i < 4; i++) sums[i] = gnn_sum_lanes(lanes + 16 * i);
}
#endif

/* Adds the last `rest` of 16 numbers to the first lanes. The others get 0: no lane is -0, for each began with 0. */
GNN_INLINE void gnn_add_rest(gnn_real *lanes, const gnn_real *numbers, int rest) {
#if GNN_LANES == 16 && !defined __clang__
  gnn_place places __attribute__((vector_size(16 * sizeof(gnn_place))));
  GNN_UNROLL for (int t = 0; t < 16; t++) places[t] = 16 - rest + t;
  GNN_STORE(lanes, GNN_LOAD(lanes) + __builtin_shuffle((gnn_vec16)GNN_LOAD(numbers), (gnn_vec16){0}, places));
#else
  for (int t = 0; t < rest; t++) lanes[t] += numbers[16 - rest + t];
#endif
}

/* The same for i < count. */
GNN_INLINE void gnn_sum_lanes_each(const gnn_real *lanes, int count, gnn_real *sums) {
  GNN_UNROLL for (int i = 0; i + 4 <= count; i += 4) gnn_sum_lanes_of_four(lanes + 16 * i, sums + i);
  for (int i = count / 4 * 4; i < count; i++) sums[i] = gnn_sum_lanes(lanes + 16 * i);
}

#endif
