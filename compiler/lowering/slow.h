/* slow.h: warnings about what is right and slow (-Wperf). */
#ifndef GNNCC_SLOW_H
#define GNNCC_SLOW_H

#include "fuse.h"
#include "lang/diag.h"

/* W0511 for each line of the program whose values are stored for every edge and are wide. */
void warn_slow(Diags *diags, const Kernels *kernels);

#endif
