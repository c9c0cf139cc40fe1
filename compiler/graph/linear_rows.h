/* linear_rows.h: which values are linear maps of the rows of another one, and these maps of other values. */
#ifndef GNNCC_LINEAR_ROWS_H
#define GNNCC_LINEAR_ROWS_H

#include "graph.h"

/* A map is a tree of sums over edges, scalings of rows (on edges by what no weight has influence on) and sums of such. */
typedef struct LinearRows {
  int count;        /* of values that were looked at */
  ValueId *leaf;    /* per value: the one value of which it is a linear function of rows; itself where there is none */
  bool *aggregates; /* per value: there is an aggregation between it and its leaf */
} LinearRows;

LinearRows linear_rows(const Graph *graph);

/* The operand that an element-wise step of the tree scales or is made of; the other one, or NO_VALUE where both are of the tree. */
ValueId linear_rows_factor(const Graph *graph, const LinearRows *rows, ValueId step);

/* What `id` is of its leaf, of `new_leaf`, at the width of the latter. */
ValueId linear_rows_of(Graph *graph, const LinearRows *rows, ValueId id, ValueId new_leaf);

/* The transposed map: from a gradient with the rows of `id`, one with the rows of its leaf, at the gradient's width. */
ValueId linear_rows_back(Graph *graph, const LinearRows *rows, ValueId id, ValueId gradient);

#endif
