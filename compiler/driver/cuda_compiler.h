/* cuda_compiler.h: device code compiled, by nvcc or by NVRTC; neither is needed to build gnncc. */
#ifndef GNNCC_CUDA_COMPILER_H
#define GNNCC_CUDA_COMPILER_H

#include <stdbool.h>

#include "lang/arena.h"

typedef struct CudaCompiler {
  const char *libraries, *headers; /* the toolkit's folders, or NULL: there is no toolkit */
  bool has_runtime;                /* libcudart_static.a is among the libraries */
  int version;                     /* 12040 of CUDA 12.4, as its headers say; 0: not known */
  const char *nvcc;                /* its path, or NULL: NVRTC */
  void *nvrtc;                     /* the library, or NULL */
} CudaCompiler;

enum { CUDA_OLDEST = 12000 }; /* that programs are compiled with */

/* wanted: "nvcc", "nvrtc" or NULL, the first of them that is there. nvcc: its path, or NULL to look for it. false: it is not there. */
bool cuda_compiler_find(Arena *arena, const char *wanted, const char *nvcc, CudaCompiler *compiler);

/* "sm_90" of the first GPU that the driver knows; NULL: there is none. */
const char *cuda_compiler_native(Arena *arena);

/* The options that both take, beside the architecture. */
extern const char *const cuda_compiler_options[];

/* By NVRTC: the source at `path`, with the headers of `folder`, for "sm_80" to a cubin, for "compute_75" to PTX.
 * NULL, or what is wrong: the log of a source that it refuses, or its own trouble (*is_refused says which). */
const char *cuda_compiler_run_nvrtc(Arena *arena, const CudaCompiler *compiler, const char *path, const char *folder,
                                    const char *architecture, const char *output, bool *is_refused);

#endif
