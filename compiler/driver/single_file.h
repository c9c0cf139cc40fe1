/* single_file.h: the sources of a program for a processor as one .c, the runtime in it. */
#ifndef GNNCC_SINGLE_FILE_H
#define GNNCC_SINGLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "compilation.h"

/* folder: of the sources that were emitted. false with errno: one cannot be read. */
bool single_file_write(const Compilation *c, const char *folder, FILE *out);

#endif
