/* problem.h: what the planner plans (docs/planner.md, "The problem").
 *
 * A Problem is filled either by problem_read_json or field by field by another pass; problem_expand then checks it
 * and computes the steps and the pieces. After that it is read only and may be shared between threads.
 * Times are nanoseconds, sizes are bytes, bandwidths are bytes per second; all of them fit 64 bits with room to
 * spare: problem_expand refuses problems whose total time or total size reaches 2^56.
 */
#ifndef GNNCC_PLANNER_PROBLEM_H
#define GNNCC_PLANNER_PROBLEM_H

#include "lang/arena.h"
#include "lang/vocabulary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ProblemAccessKind { PROBLEM_ACCESS_DEFAULT, PROBLEM_ACCESS_ROW, PROBLEM_ACCESS_ALL, PROBLEM_ACCESS_LIST } ProblemAccessKind;
typedef enum ProblemPhase { PROBLEM_PHASE_FORWARD, PROBLEM_PHASE_BACKWARD, PROBLEM_PHASE_OPTIMISER } ProblemPhase;

#define FATE_BIT(fate) (1u << (fate))
#define FATE_ALL 15u

/* Those of the vocabulary have their numbers, the problem's own follow them; copies and communication take them, so `compute` is never present. */
typedef struct ProblemLane {
  const char *name;
  bool is_present;
  int64_t bandwidth; /* bytes/s, at least 1 */
  int64_t latency_ns;
} ProblemLane;

typedef struct ProblemDatum {
  const char *id;
  int64_t bytes;
  int chunks;
  const int64_t *chunk_bytes; /* of each, `bytes` in all; NULL: equal shares */
  Tier home; /* where it lies before the first step; TIER_NONE: a step makes it */
  const Tier *chunk_home; /* where each chunk does, all of them somewhere; NULL: where `home` says. Then that is the home of the first */
  bool is_final;
  Tier end; /* of what is final and has no home: the host, or TIER_SSD */
  const Tier *chunk_end; /* where each chunk ends; NULL: where `end` says */
  unsigned fates; /* FATE_BIT mask */
  ValueRole role; /* what two of the policies decide by */
  int first_piece; /* set by problem_expand */
} ProblemDatum;

typedef struct ProblemStage {
  int lane;
  bool is_bytes; /* amount is bytes on the lane, else ns */
  int64_t amount;
  const int64_t *chunk_amounts; /* of each, `amount` in all; NULL: equal shares */
} ProblemStage;

typedef struct ProblemVariant {
  const char *name;
  ProblemStage *stages;
  int stage_count;
  int64_t work_bytes, host_work_bytes; /* per step, not divided by the chunks */
  int first_stage; /* set by problem_expand: index of its first stage among the stages of the op */
} ProblemVariant;

/* For PROBLEM_ACCESS_LIST, chunk k of the op touches list[list_start[k] .. list_start[k+1]). */
typedef struct ProblemAccess {
  int datum;
  ProblemAccessKind kind;
  int *list_start, *list;
  int over; /* of a write: the datum that the op reads and whose place the written one may take, plus one; 0: none */
} ProblemAccess;

typedef struct ProblemOp {
  const char *id;
  ProblemPhase phase;
  int chunks;
  ProblemAccess *reads, *writes;
  int read_count, write_count;
  bool can_recompute;
  ProblemVariant *variants;
  int variant_count;
  int first_step; /* set by problem_expand: index into op_steps */
  int stage_count; /* set by problem_expand: stages of all variants */
} ProblemOp;

enum { PROBLEM_USE_READ = 1, PROBLEM_USE_CREATE = 2, PROBLEM_USE_UPDATE = 4 };

typedef struct ProblemUse {
  int piece;
  unsigned flags;
  int under; /* of a piece created: the one that the step reads and whose place it may take (S17), or -1 */
} ProblemUse;

typedef struct ProblemPiece {
  int datum, chunk;
  int64_t bytes;
  Tier home;
  bool is_final, ends_on_ssd; /* ends_on_ssd: of what is final, else it ends on the host */
  unsigned fates;
  int creator; /* base step, or -1 (home pieces; pieces nobody writes) */
  int first_write, last_write; /* base steps of the first and last create or update, or -1 */
  int64_t d2h_ns, h2d_ns, ssdw_ns, ssdr_ns; /* 0 where the lane is absent */
} ProblemPiece;

/* One base step; its uses are sorted by piece, one entry a piece. */
typedef struct ProblemStep {
  int op, chunk;
  int first_use, use_count;
  int first_stage; /* index into stage_ns */
  bool can_rerun; /* S8, except for the writes to its inputs */
  int rerun_limit; /* it may be inserted before base step t only if t <= rerun_limit */
} ProblemStep;

typedef struct Problem {
  const char *name;
  int64_t device_bytes, host_bytes, ssd_bytes, ring_bytes;
  int64_t devices;
  ProblemLane *lanes;
  int lane_count;
  ProblemDatum *data;
  int datum_count;
  ProblemOp *ops;
  int op_count;
  int *order; /* pairs (op, chunk), or NULL for the natural order */
  int order_count;

  ProblemPiece *pieces;
  int piece_count;
  ProblemStep *steps;
  int step_count;
  ProblemUse *uses;
  int use_count;
  const int64_t *reserve_bytes; /* by base step, of the device: no plan may use them there; NULL: none (not of the format) */
  int *op_steps; /* op_steps[op.first_step + chunk] is a base step */
  int64_t *stage_ns; /* stage_ns[step.first_stage + variant.first_stage + i] */
} Problem;

/* A user's error: one line without the newline. `place` is "line:col", or a path such as ops[3].reads[0], or "". */
typedef struct ProblemError {
  char place[160];
  char text[512];
} ProblemError;

enum {
  PROBLEM_MAX_STEPS = 200000,
  PROBLEM_MAX_PIECES = 400000,
  PROBLEM_MAX_USES = 8000000,
  PROBLEM_MAX_FILE_BYTES = 64 << 20,
  PROBLEM_MAX_JSON_VALUES = 8000000,
  PROBLEM_MAX_JSON_DEPTH = 32
};

#define PROBLEM_MOST_CHUNK_AMOUNT (INT64_C(1) << 56) /* bytes, or ns */
#define PROBLEM_MOST_LATENCY_NS ((INT64_C(1) << 56) - 1)

/* An empty problem with the lanes of the vocabulary, absent. */
Problem *problem_new(Arena *arena);

/* The index of a lane, added when it is new. */
int problem_lane(Problem *problem, Arena *arena, const char *name);

/* S2 to S9 on the filled-in fields. False with `error` set when the description contradicts itself. */
bool problem_expand(Problem *problem, Arena *arena, ProblemError *error);

/* Reads and expands a gnncc-problem/1 text. NULL with `error` set when it is not one. */
Problem *problem_read_json(Arena *arena, const char *text, size_t length, ProblemError *error);

/* What the file says of its origin; no part of the problem. */
typedef struct ProblemMeta {
  int count;
  struct { const char *key, *text; } pairs[4];
} ProblemMeta;

/* The text of a gnncc-problem/1, deterministic to the byte, in the arena. NULL: a name is not UTF-8. */
char *problem_write_json(const Problem *problem, const ProblemMeta *meta, Arena *arena, size_t *length);

void problem_fail(ProblemError *error, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* At home on the host or the SSD. */
static inline bool problem_is_home_away(const ProblemPiece *piece) { return piece->home == TIER_HOST || piece->home == TIER_SSD; }

static inline bool problem_is_communication(const Problem *problem, int op, int variant) {
  const ProblemVariant *v = &problem->ops[op].variants[variant];
  return v->stages[v->stage_count - 1].lane != LANE_COMPUTE;
}
/* The stages of a communication begin with one that computes. */
static inline bool problem_is_led(const ProblemVariant *variant) { return variant->stage_count > 1 && variant->stages[0].lane == LANE_COMPUTE; }

/* Can copies go to the host and come back; and to the SSD? */
static inline bool problem_reaches_host(const Problem *problem) {
  return problem->lanes[LANE_D2H].is_present && problem->lanes[LANE_H2D].is_present;
}

static inline bool problem_reaches_ssd(const Problem *problem) {
  return problem_reaches_host(problem) && problem->lanes[LANE_SSD_WRITE].is_present && problem->lanes[LANE_SSD_READ].is_present;
}

static inline int64_t problem_stage_ns(const Problem *problem, int step, int variant, int stage) {
  const ProblemStep *s = &problem->steps[step];
  return problem->stage_ns[s->first_stage + problem->ops[s->op].variants[variant].first_stage + stage];
}

/* The sum of the stages of one variant of a step. */
int64_t problem_step_ns(const Problem *problem, int step, int variant);

/* A message of problem_expand: the problem is too large for 64 bits. */
bool problem_is_beyond_counting(const char *message);

#endif
