/* vector.h: vectors of numbers, as wide as the instruction set the file is compiled for.
 *
 * Everything in kernels/cpu is always inlined, so that sizes known where a kernel is called are constants inside it.
 * Loops over lanes and tiles then unroll into registers, and an emitted step is one specialised function. Products are
 * summed as `sum += a * b` for the compiler to contract: -ffp-contract=fast (the default of gcc, but not of -std=c11)
 * gives fused multiply-adds. -O2 is enough for the products; the loops over lanes of random.h and math.h want -O3, and
 * square roots -fno-math-errno.
 */
#ifndef GNN_VECTOR_H
#define GNN_VECTOR_H

#include "../../runtime/gnnrt.h"

#define GNN_INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define GNN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GNN_UNROLL _Pragma("GCC unroll 64")
#endif

/* Registers of this width must exist: wider vectors compile but are slower than scalars. */
#ifndef GNN_VECTOR_BYTES
#if defined __AVX512F__
#define GNN_VECTOR_BYTES 64
#elif defined __AVX2__
#define GNN_VECTOR_BYTES 32
#else
#define GNN_VECTOR_BYTES 16
#endif
#endif

#ifdef __AVX512F__
enum { GNN_REGISTERS = 32 };
#else
enum { GNN_REGISTERS = 16 };
#endif

enum { GNN_LANES = GNN_VECTOR_BYTES / (int)sizeof(gnn_real) };

/* Vectors in memory, at any address of a number. */
#define GNN_VECTOR_TYPE(bytes) __attribute__((vector_size(bytes), aligned(sizeof(gnn_real)), may_alias))
typedef gnn_real gnn_vec __attribute__((vector_size(GNN_VECTOR_BYTES)));
typedef gnn_real gnn_vec_at GNN_VECTOR_TYPE(GNN_VECTOR_BYTES);

#define GNN_LOAD(p) (*(const gnn_vec_at *)(p))
#define GNN_STORE(p, v) (*(gnn_vec_at *)(p) = (v))

/* Called once for each finished row with its numbers; acc is the kernel's and is gone afterwards. */
typedef void gnn_row_done(const void *context, int64_t row, const gnn_real *acc);

GNN_INLINE int64_t gnn_min(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
