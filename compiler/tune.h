/* tune.h: --tune: the variants of a model's kernels timed on the GPU, in the program itself. */
#ifndef GNNCC_TUNE_H
#define GNNCC_TUNE_H

#include "options.h"

typedef struct Trial Trial;

typedef struct TrialKernel {
  const char *key, *what, *variant; /* what: as a profile of the trial's program describes it */
  int variant_count;
} TrialKernel;

/* One compilation of several, in which every kernel that has so many is variant number `number`. Filled by driver.c. */
struct Trial {
  Arena *arena;
  int number;
  bool is_cuda, has_train;
  const char *architecture, *tuning_path, *model_fingerprint; /* tuning_path: where later compilations look, or NULL */
  int kernel_count;
  TrialKernel *kernels; /* of the training that have several variants */
};

void trial_record(Trial *trial, const Kernels *kernels);

/* Compiles the model once for each variant, runs these programs in turn and writes the best of each kernel to options->tune, or to
 * where later compilations for the same target look; options->tuning is that file then. An exit status. */
int tune(Arena *arena, Options *options, const char *share_dir);

#endif
