/* calibrate.h: this computer as a target, measured. */
#ifndef GNNCC_CALIBRATE_H
#define GNNCC_CALIBRATE_H

#include "compiler/driver/options.h"

/* gnncc --calibrate: compiles share/measure.c as programs are compiled, runs it and writes what it says as a target: to
 * NAME.gnn, or to the cache where there is no name. A table on stdout. The exit status. */
int calibrate(const Options *options, const char *share_dir);

#endif
