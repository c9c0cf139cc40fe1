/* changes.h: a program compiled otherwise, as far as its plan: another constant, precision or machine, for advice. */
#ifndef GNNCC_CHANGES_H
#define GNNCC_CHANGES_H

#include "compilation.h"

/* What the command line and the program leave open. Lives as long as the compilation, after its pass `cost`. */
const Changes *changes_of(Compilation *c);

#endif
