/* again.h: the text of a compilation compiled once more, with other options. */
#ifndef GNNCC_AGAIN_H
#define GNNCC_AGAIN_H

#include "compilation.h"

/* As far as options->stop_after; nothing is said. The arena of *c is the caller's to free, whatever came of it. `info`: what is known of the
 * data already, which are not read again then; or NULL. */
bool compile_again(const Compilation *asked, const Options *options, const DataInfo *info, Compilation *c);

#endif
