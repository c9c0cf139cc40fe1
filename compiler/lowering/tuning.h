/* tuning.h: which variant of each kernel is the fastest on some GPU, as a file of JSON. */
#ifndef GNNCC_TUNING_H
#define GNNCC_TUNING_H

#include "fuse.h"

typedef struct Tuning Tuning;

/* For programs of this architecture. NULL where the file is none or of something else; *fault says why. */
Tuning *tuning_read(Arena *arena, const char *path, const char *architecture, const char **fault);
/* What tuning_refuse was told, or NULL. */
const char *tuning_fault(const Tuning *tuning);

/* A kernel's variants by name, the usual one first, and what each took; 0: it was not measured. */
typedef struct TunedKernel {
  const char *key;
  int variant_count, best;
  const char *const *variants;
  const double *seconds;
} TunedKernel;

/* What the file has of other kernels stays, where it is of the same GPU, architecture and version. An exit status. */
int tuning_write(Arena *arena, const char *path, const char *architecture, const char *gpu, const TunedKernel *kernels, int count);

#endif
