/* decisions.h: a plan piece by piece: its fate, what that adds to the epoch, and what the next best would. */
#ifndef GNNCC_DECISIONS_H
#define GNNCC_DECISIONS_H

#include "plan.h"

typedef struct Alternative {
  Fate fate;
  bool fits;
  int64_t adds_ns;    /* what the value would add with this fate and everything else as it is, when it fits */
  int64_t over_bytes; /* when it does not: what is missing; 0: there would be room, but no order of the copies was found */
  Tier short_tier;    /* where it is missing */
} Alternative;

typedef struct Decision {
  ValueId value;      /* a field, where that stays on the host */
  int part;           /* of it; 0: all */
  int64_t bytes;
  Fate fate;          /* the one that is not `keep`, if any of its gaps has one */
  int64_t adds_ns;    /* its re-runs, and the waits for its copies: all of them sum to the epoch minus that of keeping all */
  bool is_pinned;
  int alternative_count;
  Alternative alternatives[FATE_COUNT];
} Decision;

typedef struct Decisions {
  int count;
  Decision *list;      /* by what they add, then by size */
  int decided_count;   /* that are not kept */
  int64_t keep_all_ns; /* the kernels alone */
  int64_t out_bytes[TIER_COUNT], in_bytes[TIER_COUNT]; /* per epoch, by tier */
  double transfer_seconds, wait_seconds;
} Decisions;

/* Of the training epoch. */
Decisions *decisions(Arena *arena, const Schedule *schedule, const Pins *pins);
/* Fills the alternatives of the first `count` decisions: each is planned with everything else as it is. */
void decisions_weigh(Arena *arena, const Plan *plan, Decisions *decisions, int count);

#endif
