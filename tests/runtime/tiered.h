/* tiered.h: the hand-made program with values that leave the device and come back, as a plan would have them. */
#ifndef TIERED_H
#define TIERED_H

#include "toy.h"

typedef enum tiered_mode { TIERED_HOST, TIERED_SSD, TIERED_RING, TIERED_MIXED, TIERED_MODE_COUNT } tiered_mode;
extern const char *const tiered_names[TIERED_MODE_COUNT];

enum { TIERED_COPIES = 64, TIERED_EXTENTS = 64, TIERED_PIECES = 3 };

typedef struct tiered_model {
  gnn_program program, in_double;
  gnn_copy_desc copies[TIERED_COPIES];
  gnn_extent extents[TIERED_EXTENTS];
  gnn_step_desc steps[TIERED_COPIES + 3];
  int64_t write_ring, read_ring; /* used so far */
  int last_drain, last_arrival;  /* what a ring waits for */
  int is_evaluation;             /* the copies being added */
} tiered_model;

/* The optimiser state of the first weight leaves during forward_backward, and x during evaluate. Its place is written over
 * meanwhile. The model's program stays as it is. */
void tiered_make(tiered_model *tiered, const toy_model *toy, tiered_mode mode);

#endif
