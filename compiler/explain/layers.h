/* layers.h: how the sums over neighbours of each layer run, and what is copied for them. */
#ifndef GNNCC_LAYERS_H
#define GNNCC_LAYERS_H

#include "compiler/plan/plan.h"

/* One layer in one direction of the epoch (of the evaluation, where nothing is trained). What comes in counts where it is read next,
 * what goes out where it was made: so each copy counts once. */
typedef struct LayerRun {
  const char *layer; /* as the model calls it; NULL: what stems from none */
  Phase pass;
  int line;          /* of its first sum over neighbours, or else of its first step */
  const char *mode;  /* as --cut says it: "whole", "rows(16)", "slices(4)"; "slices(4), rows(16)": it has sums of both kinds; of ranks, "transpose": of columns of all rows */
  int sums;          /* over neighbours; 0: mode and pieces are those of its other steps */
  int pieces;        /* steps that its sums are */
  int64_t out_bytes[TIER_COUNT], in_bytes[TIER_COUNT];
  int64_t net_bytes; /* that leave all ranks */
  double transfer_seconds, wait_seconds, slowed_seconds;
} LayerRun;

typedef struct LayerRuns {
  int count; /* those with sums, and others for which something is copied; in the order in which they run */
  LayerRun *list;
} LayerRuns;

LayerRuns layer_runs(Arena *arena, const Schedule *schedule);
/* Of the time of its copies, the share that passes beside compute; 1 where nothing is copied. */
double layer_run_hidden(const LayerRun *run);

#endif
