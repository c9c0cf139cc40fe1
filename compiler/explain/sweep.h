/* sweep.h: the same epoch planned for many budgets of a tier, or of two. */
#ifndef GNNCC_SWEEP_H
#define GNNCC_SWEEP_H

#include <jansson.h>

#include "compiler/planner/planner.h"
#include "lang/typed.h"

typedef struct SweepPoint {
  int64_t bytes[2];  /* the budgets: of the swept tier, and of the second one */
  bool fits;
  bool is_own;       /* of the current budget */
  bool is_sketched;  /* by a plan without addresses: what it needs, and what it takes, is about so much */
  int64_t ns;        /* an epoch */
  int64_t needs;     /* of the swept tier: the same plan fits this many bytes */
  int fates[FATE_COUNT]; /* values by what became of them */
  const char *mode;  /* how values are cut, as "16 parts, 4 slices"; NULL: they are whole */
  const char *binds; /* where no plan fits: what is on the device at one moment */
} SweepPoint;

typedef struct Sweep {
  const char *model, *data, *target, *names[2]; /* names of the tiers as asked for; names[1] NULL: one tier */
  int count;
  SweepPoint *points; /* one tier: from the largest budget down; two: row by row of the first, both from the largest down */
  int knee, current;  /* indices; -1 where there is none */
  int64_t current_bytes; /* 0: outside the range */
  int64_t least_bytes;   /* no plan fits less; 0: not known */
  const char *binds;     /* what needs so much */
  bool is_sketched;      /* some of the points are */
  bool is_open;          /* of less than the last point nothing is known, as less was not tried */
} Sweep;

typedef struct SweepRange {
  Tier tier;
  int64_t low, high, step; /* step 0: where the plan changes */
} SweepRange;

/* Who plans for other budgets. */
typedef struct Sweeper {
  Arena *arena;
  void *of; /* what is planned */
  /* Fills the point (of bytes nothing) if a plan fits, else what binds. What the planner said; NULL: it was broken off. */
  const PlannerReport *(*try_budgets)(void *of, const int64_t tier_bytes[TIER_COUNT], Tier tier, SweepPoint *point);
  const char *model, *data, *target, *names[TIER_COUNT];
  int64_t tier_bytes[TIER_COUNT]; /* budgets: the largest asked for of those that are swept */
  int64_t own_bytes[TIER_COUNT];  /* before that: the current ones */
  int plans;                      /* for a range without steps, besides its ends */
  bool is_sketched;               /* its points are */
} Sweeper;

int sweep_plans(int steps, bool has_cuts);
/* What is wrong with TIER=LOW:HIGH[:STEP][,TIER=...], or NULL. `device`: another name of that tier. */
const char *sweep_read(Arena *arena, const char *text, const char *device, const int64_t tier_bytes[TIER_COUNT], SweepRange ranges[2], int *count);
/* `own`: the plan for the largest budgets asked for. */
const Sweep *sweep_ranges(const Sweeper *sweeper, const SweepRange ranges[2], int count, SweepPoint own);
/* The device from `low`, or the least that works, to what keeping everything needs; `own`: the plan at the current budget. */
const Sweep *sweep_device(const Sweeper *sweeper, SweepPoint own, int64_t keep_bytes, int64_t low);
json_t *sweep_json(const Sweep *sweep);

#endif
