/* hoist.h: what is the same in every epoch and every evaluation, to be computed once. */
#ifndef GNNCC_HOIST_H
#define GNNCC_HOIST_H

#include "graph.h"

/* The two graphs in which such values are leaves, HOISTED, and the one that computes them (Graph.once). */
typedef struct Hoisting {
  Graph *training, *evaluation;
  Graph *graph;
  ValueId *origin[2];           /* per value of `graph`: the same in the training and in the evaluation graph that were given, or NO_VALUE */
} Hoisting;

/* Both graphs are those that kernels are made of; what is hoisted out of them is marked there (is_once). NULL: there is none. */
Hoisting *hoist(Arena *arena, Graph *training, Graph *evaluation);

#endif
