/* trial.h: one compilation of several that --tune makes. */
#ifndef GNNCC_TRIAL_H
#define GNNCC_TRIAL_H

#include "fuse.h"

typedef struct Trial Trial;

typedef struct TrialKernel {
  const char *key, *what, *variant; /* what: as a profile of the trial's program describes it */
  int variant_count;
} TrialKernel;

/* One compilation of several, in which every kernel that has so many is variant number `number`. Filled by the driver. */
struct Trial {
  Arena *arena;
  int number;
  bool is_cuda, has_train;
  const char *architecture, *tuning_path, *model_fingerprint; /* tuning_path: where later compilations look, or NULL */
  int kernel_count;
  TrialKernel *kernels; /* of the training that have several variants */
};

void trial_record(Trial *trial, const Kernels *kernels);

#endif
