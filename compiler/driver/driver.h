/* driver.h: one compilation, from text to product. */
#ifndef GNNCC_DRIVER_H
#define GNNCC_DRIVER_H

#include "options.h"

/* The exit status of the whole compilation. */
int driver_compile(const Options *options, const char *share_dir);

/* The names of the passes; NULL after the last. */
const char *const *driver_passes(void);

#endif
