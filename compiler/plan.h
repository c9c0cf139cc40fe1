/* plan.h: the three products after the kernels: Plan, Schedule, Layout. */
#ifndef GNNCC_PLAN_H
#define GNNCC_PLAN_H

#include "cost.h"

/* ---- plan.c ---- */

typedef enum Fate { FATE_KEEP, FATE_HOST, FATE_SSD, FATE_RECOMPUTE } Fate;

/* The fate of each (value, part) between its last forward and its first backward use. With one part the part is the
 * value. */
typedef struct PlannedPart {
  ValueId value;
  int part;
  int64_t bytes;
  Fate fate;
} PlannedPart;

typedef struct Plan {
  int part_count; /* of each value */
  int count;
  PlannedPart *parts;
} Plan;

Plan *plan(const Kernels *training);
const char *verify_plan(const Plan *plan, const Kernels *training);

/* ---- schedule.c ---- */

typedef enum Lane { LANE_COMPUTE, LANE_H2D, LANE_D2H, LANE_SSD_READ, LANE_SSD_WRITE } Lane;

typedef struct Step {
  int number;       /* from 1; the same in listings, reports, emitted code and errors */
  Lane lane;
  const Kernels *kernels;
  int32_t kernel;   /* index into kernels->kernels */
  double start_seconds;
  Cost cost;
  Place place;
  const char *what; /* "conv1.lin = dropout(x) @ conv1.lin.weight" */
} Step;

/* The steps of one training epoch, then those of one evaluation; the numbers go on. */
typedef struct Schedule {
  int count, training_count, backward_end; /* steps [0, training_count) train, the update starts at backward_end */
  Step *steps;
  double training_seconds, evaluation_seconds;
} Schedule;

/* `plan` and `training` are NULL for a program without a train block. NULL for a fate it cannot realise. */
Schedule *schedule(Arena *arena, const Plan *plan, const Machine *machine, const Kernels *training, const Kernels *evaluation);
const char *verify_schedule(const Schedule *schedule);
const char *schedule_phase(const Schedule *schedule, int step); /* "forward", "backward", "update", "eval" */
void schedule_print(const Schedule *schedule, FILE *out);

/* ---- layout.c ---- */

typedef enum BlockKind {
  BLOCK_GRAPH, BLOCK_FEATURES, BLOCK_WEIGHTS, BLOCK_OPTIMIZER, BLOCK_ACTIVATION, BLOCK_GRADIENT, BLOCK_SCRATCH, BLOCK_KIND_COUNT
} BlockKind;

const char *block_kind_name(BlockKind kind);

/* One live range of memory in the device arena. */
typedef struct Block {
  BlockKind kind;
  const char *name;    /* fit for a C identifier */
  int64_t bytes, offset;
  int first, last;     /* indices of the first and last step that need it; 0 .. count - 1 for what always stays */
  const Kernels *kernels; /* whose value it is, with .value; NULL for others */
  ValueId value;
} Block;

enum { SPARSE_BLOCKS = 8, MAX_STATES = 2 };

typedef struct Layout {
  /* Indices into blocks, NO_INDEX where no step needs the thing. */
  int in_ptr, in_idx, in_bounds, out_ptr, out_idx, out_edge, out_bounds;
  int degree[2];          /* by EdgeEnd */
  int rows[SPLIT_COUNT];  /* labelled nodes of each split */
  int *field;             /* per field: its numbers; for sparse ones the first of SPARSE_BLOCKS: by row ptr, idx, value,
                             bounds, by column the same */
  int *weight;            /* per param */
  int *state[MAX_STATES]; /* per param: momentum, or Adam's m and v */
  bool has_out, is_symmetric; /* has_out with out_ptr NO_INDEX: the same arrays as in */
  int count;
  Block *blocks;
  int resident_count;    /* blocks [0, resident_count) stay through the run */
  int64_t bytes;         /* height of the arena */
  int64_t lower_bound;   /* most bytes alive at any step */
  int peak_step;         /* index of a step where so many are alive */
  int64_t *live_bytes;   /* per step */
} Layout;

enum { LAYOUT_ALIGNMENT = 64 };

Layout *layout(Arena *arena, const Schedule *schedule, const Kernels *training, const Kernels *evaluation, const bool *is_sparse_field);
/* Optimiser state arrays of a weight. */
int layout_state_count(const TypedProgram *program);
const char *verify_layout(const Layout *layout, const Schedule *schedule);
/* Where a stored value or a leaf lies; NULL if it has no memory. */
const Block *layout_of_value(const Layout *layout, const Kernels *kernels, ValueId value);

#endif
