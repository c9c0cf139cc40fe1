/* cut_forms.h: the program again with values cut by rows and sums over neighbours by columns. */
#ifndef GNNCC_CUT_FORMS_H
#define GNNCC_CUT_FORMS_H

#include "compilation.h"

enum { PARTS_USUALLY = 16 /* where nobody asked for a number */, PARTS_AT_MOST = 64 /* that are looked for */ };

/* What --cut or `plan { cut = }` says; CUT_AUTO where neither does. */
CutWish cut_wish(const Compilation *compilation);
/* Which layers differ from the others of `wish`; NULL: none do. */
const LayerCuts *cut_layers(const Compilation *compilation, CutWish wish);
/* --ranks: the program of one rank (Compilation.rank). False after a message: there are no ranks for such a program. */
bool share_out_ranks(Compilation *c);
const TypedProgram *program_of_cut(Compilation *c, Cut cut); /* of ranks, that of one, with what the cut needs; else the program */
bool ranks_are_cut(const Compilation *c); /* values of a rank of such a program can be */
bool ranks_have_data_away(const Compilation *c); /* numbers on nodes of such a program can be */
/* False with an error: this program cannot be cut so. */
bool check_cut(Compilation *compilation);
bool refuse_cut(Compilation *compilation, const char *why); /* with that error */
/* Of a wish for parts or slices; whole values for others. */
Cut cut_asked(const Compilation *compilation);
/* A field that can stay on the host, by name; NULL: there is none. */
const char *cut_field_away(const Compilation *compilation);
const char *cut_learned_away(const Compilation *compilation); /* a weight that can be; NULL: none can */
bool cut_keeps_graph(const Compilation *compilation); /* its neighbours are to stay on the device */
int64_t scores_bytes(const Compilation *compilation); /* of all nodes */
/* PlanRequest.forms_of, of a Compilation: made when first asked for. NULL: the program cut so would have other bits. */
const CutForms *cut_forms(void *compilation, Cut cut);

#endif
