/* tune.h: --tune: the variants of a model's kernels timed on the GPU, in the program itself. */
#ifndef GNNCC_TUNE_H
#define GNNCC_TUNE_H

#include "compiler/driver/options.h"

/* Compiles the model once for each variant, runs these programs in turn and writes the best of each kernel to options->tune, or to
 * where later compilations for the same target look; options->tuning is that file then. An exit status. */
int tune(Arena *arena, Options *options, const char *share_dir);

#endif
