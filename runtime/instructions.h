/* instructions.h: which instructions a source is compiled for, as a number, in the words of the C compiler's macros.
 *
 * A build that is started on a lesser processor would end by SIGILL at the first of them that is not there. So it says in its
 * description what it was compiled for, and the runtime, which is compiled for every processor, compares (base/processor.h).
 * Those are listed that compilers use of their own accord.
 */
#ifndef GNN_INSTRUCTIONS_H
#define GNN_INSTRUCTIONS_H

#include <stdint.h>

/* X(macro, name, where the processor tells of it ...) */
#if defined __x86_64__
/* ... leaf and part of CPUID, register (0: EAX ... 3: EDX), bit, state of the system's that it needs (0: none, 1: of AVX, 2: of AVX-512, 3: of tiles). */
#define GNN_EACH_INSTRUCTION(X)                                                                                          \
  X(__SSE3__, "sse3", 1, 0, 2, 0, 0) X(__SSSE3__, "ssse3", 1, 0, 2, 9, 0) X(__SSE4_1__, "sse4.1", 1, 0, 2, 19, 0)        \
  X(__SSE4_2__, "sse4.2", 1, 0, 2, 20, 0) X(__SSE4A__, "sse4a", 0x80000001, 0, 2, 6, 0)                                  \
  X(__POPCNT__, "popcnt", 1, 0, 2, 23, 0) X(__LZCNT__, "lzcnt", 0x80000001, 0, 2, 5, 0)                                  \
  X(__MOVBE__, "movbe", 1, 0, 2, 22, 0) X(__BMI__, "bmi", 7, 0, 1, 3, 0) X(__BMI2__, "bmi2", 7, 0, 1, 8, 0)              \
  X(__ADX__, "adx", 7, 0, 1, 19, 0) X(__TBM__, "tbm", 0x80000001, 0, 2, 21, 0)                                           \
  X(__AES__, "aes", 1, 0, 2, 25, 0) X(__PCLMUL__, "pclmul", 1, 0, 2, 1, 0) X(__GFNI__, "gfni", 7, 0, 2, 8, 0)            \
  X(__AVX__, "avx", 1, 0, 2, 28, 1) X(__F16C__, "f16c", 1, 0, 2, 29, 1) X(__FMA__, "fma", 1, 0, 2, 12, 1)                \
  X(__FMA4__, "fma4", 0x80000001, 0, 2, 16, 1) X(__XOP__, "xop", 0x80000001, 0, 2, 11, 1)                                \
  X(__AVX2__, "avx2", 7, 0, 1, 5, 1) X(__VAES__, "vaes", 7, 0, 2, 9, 1) X(__VPCLMULQDQ__, "vpclmulqdq", 7, 0, 2, 10, 1)  \
  X(__AVXVNNI__, "avxvnni", 7, 1, 0, 4, 1)                                                                               \
  X(__AVX512F__, "avx512f", 7, 0, 1, 16, 2) X(__AVX512CD__, "avx512cd", 7, 0, 1, 28, 2)                                  \
  X(__AVX512BW__, "avx512bw", 7, 0, 1, 30, 2) X(__AVX512DQ__, "avx512dq", 7, 0, 1, 17, 2)                                \
  X(__AVX512VL__, "avx512vl", 7, 0, 1, 31, 2) X(__AVX512IFMA__, "avx512ifma", 7, 0, 1, 21, 2)                            \
  X(__AVX512VBMI__, "avx512vbmi", 7, 0, 2, 1, 2) X(__AVX512VBMI2__, "avx512vbmi2", 7, 0, 2, 6, 2)                        \
  X(__AVX512VNNI__, "avx512vnni", 7, 0, 2, 11, 2) X(__AVX512BITALG__, "avx512bitalg", 7, 0, 2, 12, 2)                    \
  X(__AVX512VPOPCNTDQ__, "avx512vpopcntdq", 7, 0, 2, 14, 2) X(__AVX512BF16__, "avx512bf16", 7, 1, 0, 5, 2)               \
  X(__AVX512FP16__, "avx512fp16", 7, 0, 3, 23, 2) X(__AVX512VP2INTERSECT__, "avx512vp2intersect", 7, 0, 3, 8, 2)         \
  X(__AMX_TILE__, "amx-tile", 7, 0, 3, 24, 3) X(__AMX_BF16__, "amx-bf16", 7, 0, 3, 22, 3)
#elif defined __aarch64__
/* ... word of the system's (0: AT_HWCAP, 1: AT_HWCAP2), bit. */
#define GNN_EACH_INSTRUCTION(X)                                                                                          \
  X(__ARM_FEATURE_CRYPTO, "crypto", 0, 4) X(__ARM_FEATURE_CRC32, "crc", 0, 7) X(__ARM_FEATURE_ATOMICS, "lse", 0, 8)      \
  X(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC, "fp16", 0, 10) X(__ARM_FEATURE_QRDMX, "rdma", 0, 12)                           \
  X(__ARM_FEATURE_JCVT, "jscvt", 0, 13) X(__ARM_FEATURE_COMPLEX, "fcma", 0, 14) X(__ARM_FEATURE_RCPC, "rcpc", 0, 15)     \
  X(__ARM_FEATURE_DOTPROD, "dotprod", 0, 20) X(__ARM_FEATURE_SVE, "sve", 0, 22) X(__ARM_FEATURE_SVE2, "sve2", 1, 1)      \
  X(__ARM_FEATURE_FRINT, "frint", 1, 8) X(__ARM_FEATURE_MATMUL_INT8, "i8mm", 1, 13)                                      \
  X(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC, "bf16", 1, 14)
#else
#define GNN_EACH_INSTRUCTION(X)
#endif

/* 1 where a macro is defined as 1, else 0. */
#define GNN_PLACE_1 0,
#define GNN_SECOND(first, second, ...) second
#define GNN_IS_ONE__(place) GNN_SECOND(place 1, 0, 0)
#define GNN_IS_ONE_(value) GNN_IS_ONE__(GNN_PLACE_##value)
#define GNN_IS_ONE(macro) GNN_IS_ONE_(macro)

#define GNN_INSTRUCTION_PLACE(macro, name, ...) GNN_AT_##macro,
enum { GNN_EACH_INSTRUCTION(GNN_INSTRUCTION_PLACE) GNN_INSTRUCTION_COUNT };

#define GNN_INSTRUCTION_BIT(macro, name, ...) | (uint64_t)GNN_IS_ONE(macro) << GNN_AT_##macro
#define GNN_INSTRUCTIONS (UINT64_C(0) GNN_EACH_INSTRUCTION(GNN_INSTRUCTION_BIT))

/* Of SVE's vectors, where the build is for one length. */
#if defined __ARM_FEATURE_SVE_BITS && __ARM_FEATURE_SVE_BITS > 0
#define GNN_SVE_BITS __ARM_FEATURE_SVE_BITS
#else
#define GNN_SVE_BITS 0
#endif

/* -DGNN_CPU=NAME: what the compiler was told to compile for. */
#define GNN_TEXT_(name) #name
#define GNN_TEXT(name) GNN_TEXT_(name)
#ifdef GNN_CPU
#define GNN_CPU_NAME GNN_TEXT(GNN_CPU)
#else
#define GNN_CPU_NAME ""
#endif

#endif
