/* native.h: this computer, as it was measured before. */
#ifndef GNNCC_NATIVE_H
#define GNNCC_NATIVE_H

#include "lang/lang.h"

/* The target in the cache if it was measured on this processor with as many threads; else NULL. It changes times and
 * plans, never results. */
const TargetSpec *calibrated_native(Arena *arena, const char *share_dir);

/* "AMD EPYC 9654, 4 threads" */
const char *native_description(Arena *arena);

#endif
