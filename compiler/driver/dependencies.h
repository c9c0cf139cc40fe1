/* dependencies.h: what a product is made of, as a rule of make: the model, what it imports, the files of its data. */
#ifndef GNNCC_DEPENDENCIES_H
#define GNNCC_DEPENDENCIES_H

#include "compilation.h"

/* Needs the syntax tree alone: no data file is opened, and one that is not there yet is named all the same. */
void dependencies_print(const Compilation *c, FILE *out);

/* -M: the rule on stdout or where -MF or -o says, 0 or 4; -MD: beside the product, which is called `product`. */
int dependencies_write(const Compilation *c, const char *product);

#endif
