/* calibrate.h: this computer as a target, measured. */
#ifndef GNNCC_CALIBRATE_H
#define GNNCC_CALIBRATE_H

#include "options.h"

/* gnncc --calibrate: compiles share/measure.c as programs are compiled, runs it and writes what it says as a target: to
 * NAME.gnn, or to the cache where there is no name. A table on stdout. The exit status. */
int calibrate(const Options *options, const char *share_dir);

/* The target in the cache if it was measured on this processor with as many threads; else NULL. It changes times and
 * plans, never results. */
const TargetSpec *calibrated_native(Arena *arena, const char *share_dir);

/* Where measurements of this computer are kept, or NULL; and that it is there. */
const char *cache_directory(Arena *arena);
void cache_make(Arena *arena);

#endif
