/* scores.h: what an evaluation has left, where the host reads it. Scores that end on the SSD come back into what is free between epochs, the device arena
 * above what stays or the ring of a device with memory of its own: all at once where they fit, else so many parts of the nodes together as do. */
#ifndef GNN_SCORES_H
#define GNN_SCORES_H

#include "instance.h"

/* An evaluation has ended: nothing of its scores is there yet, unless they fit as a whole. */
gnn_status gnn_scores_begin(const gnn_instance *instance);
/* How often rows come; 1: all of them are there, at instance->whole.scores. */
int gnn_scores_turns(const gnn_instance *instance);
/* The rows of a turn come; its parts are [*first, *end) of 2^part_levels. Where row 0 of the scores would lie. */
const float *gnn_scores_turn(const gnn_instance *instance, int turn, int64_t *first, int64_t *end);
int gnn_scores_turn_of(const gnn_instance *instance, int64_t row);
/* One row, with those of its turn; valid until a row of another turn is asked for. */
const float *gnn_scores_row(const gnn_instance *instance, int64_t row);
/* Whether every turn since the evaluation came. */
gnn_status gnn_scores_status(const gnn_instance *instance);

#endif
