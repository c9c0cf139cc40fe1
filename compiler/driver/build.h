/* build.h: the last two passes, and tools of gnncc's own. */
#ifndef GNNCC_BUILD_H
#define GNNCC_BUILD_H

#include "compilation.h"
#include "cuda_compiler.h"

/* Each is false after an error: the sources into a directory of their own, and the product
 * out of them by the system's C compiler. Warnings are printed before the C compiler is called. */
bool build_emit(Compilation *c);
bool build_product(Compilation *c);
/* Ends the workplace, unless it is to be kept. */
void build_clean(Compilation *c, int status);

/* A source of gnncc's own to a program, with the compiler and the options that programs are made with; linked with the CUDA runtime
 * and cuBLASLt where `cuda` is not NULL. An exit status, as of build_device_tool: device code of gnncc's own to an image. */
int build_tool(Arena *arena, const Options *options, const char *share_dir, const CudaCompiler *cuda, const char *source, const char *program);
int build_device_tool(Arena *arena, const Options *options, const char *share_dir, const CudaCompiler *cuda, const char *source,
                      const char *architecture, const char *image);
/* What programs for a GPU cannot be compiled and linked without, and is not here; NULL: nothing. */
const char *build_missing_for_cuda(Arena *arena, const Options *options, const char *share_dir, CudaCompiler *found);

#endif
