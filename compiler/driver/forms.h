/* forms.h: the forms of a program whose values are whole. */
#ifndef GNNCC_FORMS_H
#define GNNCC_FORMS_H

#include "compilation.h"

/* The kernels of a graph that something was hoisted out of or that was cut, where they leave the bits of `count` others: before[i], whose values
 * its own were by origin[i] (NULL: Value.origin). NULL: there are none. */
Kernels *fuse_alike(Compilation *c, Graph *graph, const ValueId *const origin[], const Kernels *const before[], int count);
/* Adds the form that computes once what never changes, where its kernels leave the bits of the plain one's. */
void make_hoisted_form(Compilation *compilation);
/* Adds the evaluation for where there is no room for what somebody may ask for. */
void add_evaluation_without_taps(Compilation *compilation, Form *form);

#endif
