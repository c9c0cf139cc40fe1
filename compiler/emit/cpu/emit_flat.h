/* emit_flat.h: exponentials and the like of many edges at once.
 *
 * An edge has one score, or one for each head: too few for the vectors of a processor. So what they are functions of is computed for some edges of the row
 * first, then the function of all of them in one loop, and then whatever reads it edge by edge. The bits are those of one edge after the other.
 */
#ifndef GNNCC_EMIT_FLAT_H
#define GNNCC_EMIT_FLAT_H

#include "compiler/emit/emit_step.h"

enum { FLAT_MOST = 4, FLAT_EDGES = 64 };

/* Numbers of edges from `first` on, a variable, `width` each, and what those of an edge are called. */
typedef struct EdgeArray {
  ValueId value;
  int64_t width;
  const char *name, *at, *first;
} EdgeArray;

typedef struct Flats {
  int count;
  EdgeArray of[FLAT_MOST];
  RowWriter *rows[FLAT_MOST]; /* what it is a function of */
  unsigned uses;
} Flats;

/* Those behind `operand` and `beside` (or NO_VALUE), which `rows` is about to write; they are locals of it then, and may read the locals that it has. */
Flats flats_write(StepWriter *w, RowWriter *rows, ValueId operand, ValueId beside);
/* Of the edges [from, until), `edges` at most; they may read `arrays`. */
void flats_print(const StepWriter *w, const Flats *flats, int64_t edges, bool is_out, const EdgeArray *arrays, int count, const char *indent);
void print_edge_arrays(const StepWriter *w, const EdgeArray *arrays, int count, const char *text, const char *indent); /* where the numbers of edge i are, of those that the text mentions */

#endif
