/* layer_cuts.h: which layers run their sums over neighbours otherwise than the program, by pass. */
#ifndef GNNCC_LAYER_CUTS_H
#define GNNCC_LAYER_CUTS_H

#include "graph.h"

/* The sums over neighbours of one layer in one pass. */
typedef struct LayerCut {
  const char *layer; /* Value.layer.name */
  Phase pass;        /* forward or backward */
  bool is_whole;     /* over all rows at once, of whole rows; else part by part, where there are parts */
  int slices;        /* columns of what they gather from, in at most so many; 1: whole rows */
} LayerCut;

/* In the order in which the layers come, one for each layer and pass at most. */
typedef struct LayerCuts {
  int count;
  LayerCut *list;
} LayerCuts;

/* A layer that sums over neighbours in one pass. */
typedef struct LayerSums {
  const char *layer;
  Phase pass;
} LayerSums;

typedef struct LayersOfSums {
  int count;
  LayerSums *list;
} LayersOfSums;

/* Those that there are, in the order of the graph. */
LayersOfSums layers_of_sums(const Graph *graph);

/* Whether a list has it; whether two have the same. NULL has nothing. */
bool layers_have(const LayersOfSums *layers, const char *layer, Phase pass);
bool layers_are(const LayersOfSums *a, const LayersOfSums *b);

/* NULL: it runs as the program does. `cuts` may be NULL. */
const LayerCut *layer_cut_of(const LayerCuts *cuts, const char *layer, Phase pass);
bool layer_cuts_are(const LayerCuts *a, const LayerCuts *b);
/* As --cut says them behind the cut of the program: ", conv1 = whole, conv2.backward = rows(16)"; "" where there are none. */
const char *layer_cuts_text(Arena *arena, const LayerCuts *cuts, int parts);

#endif
