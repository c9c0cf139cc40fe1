/* cut.h: sums over neighbours that gather slices of columns, or halos. */
#ifndef GNNCC_CUT_H
#define GNNCC_CUT_H

#include "layer_cuts.h"

enum { SLICE_UNIT = 16 /* columns of a slice are a multiple of it, but for the last */, LEAST_TABLE_WIDTH = 5 /* what sums gather from, if narrower, is small beside what they make of it, and stays whole */,
       LEAST_AWAY_BYTES = 1 << 15 /* of a number or two a node: fewer stay on the device */ };

typedef struct CutOptions {
  int slices;      /* columns of what sums gather from, in at most so many slices; 1: whole rows. With halos, only of gradients by sparse features */
  const LayerCuts *layers; /* whose sums are in slices otherwise, or run as a whole; NULL: none. Not with halos */
  const bool *is_away; /* per field: its rows stay away from the device, so that it is cut as other values are, and what is computed once, too; NULL: none do */
  const bool *is_sparse; /* per field: products go over its numbers that are not 0, one by one */
  const bool *is_learned; /* per param: its rows, and what the optimiser keeps of them, are data of their own, which stay away, too (learned.h); NULL: none */
  bool is_graph_away; /* the neighbours of nodes are data of their own, which stay away, too */
  bool has_labels;    /* of an evaluation: what it measures with does, too (Graph.labels) */
  bool has_split_rows; /* and which nodes have labels (Graph.split_rows) */
  bool has_halos;  /* ... and sums over neighbours gather from what each part needs of them (HALO); of whole rows */
  bool has_edge_halos; /* values on edges, too, where they arrive at the sources */
  const TypedProgram *rank; /* of a program of ranks, the program with the sizes of one: all that sums gather of other nodes is a table of its rows and those of others (HALO); NULL: of one process */
  const LayersOfSums *transposed; /* of ranks: whose sums go over all rows, of some columns each, where that can be (transpose.h); NULL: none do */
  const LayersOfSums *recomputed; /* of ranks: whose sums gather rows of others that the rank makes itself, where it can (recompute.h); NULL: none do */
  bool is_following; /* what follows a sum in slices element by element is computed of them; in bf16 it would be rounded elsewhere */
} CutOptions;

/* Of the widest sum over neighbours. */
int slices_at_most(const Graph *graph);

/* The same graph with other sums: the bits of every value that both have are equal. Where slices were asked for, a note of it says which
 * sums have them. */
Graph *cut_graph(const Graph *graph, CutOptions options);

#endif
