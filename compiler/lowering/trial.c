/* trial: Kernels -> the kernels of a trial that have several variants. */
#include "trial.h"

void trial_record(Trial *trial, const Kernels *kernels) {
  for (int i = 0; kernels && i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    if (kernel->variant_count < 2) continue;
    TrialKernel is = {arena_strdup(trial->arena, variant_key(kernels, kernel)), arena_strdup(trial->arena, kernel_said(kernels, kernel)),
                      arena_strdup(trial->arena, kernel->variant.name), kernel->variant_count};
    ARENA_PUSH(trial->arena, trial->kernels, trial->kernel_count, is);
  }
}
