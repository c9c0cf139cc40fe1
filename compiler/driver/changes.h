/* changes.h: a program compiled otherwise, as far as its plan: another constant, precision or machine, for advice. */
#ifndef GNNCC_CHANGES_H
#define GNNCC_CHANGES_H

#include "compilation.h"

/* Compiles the text of `asked` once more with other options, as far as options->stop_after; nothing is said. The arena of *c is the caller's to free, whatever
 * came of it. `info`: what is known of the data already, which are not read again then; or NULL. */
typedef bool CompileAgain(const Compilation *asked, const Options *options, const DataInfo *info, Compilation *c);

/* What the command line and the program leave open. Lives as long as the compilation, after its pass `cost`. */
const Changes *changes_of(Compilation *c, CompileAgain *again);

#endif
