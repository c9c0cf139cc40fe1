/* sweep.h: the same program planned for many budgets of a tier, or of two. */
#ifndef GNNCC_SWEEP_H
#define GNNCC_SWEEP_H

#include <jansson.h>

#include "driver.h"

typedef struct SweepPoint {
  int64_t bytes[2];  /* the budgets: of the swept tier, and of the second one */
  bool fits;
  int64_t ns;        /* an epoch */
  int64_t needs;     /* of the swept tier: the same plan fits this many bytes */
  int fates[PLAN_FATE_COUNT]; /* values by what became of them */
} SweepPoint;

typedef struct Sweep {
  const char *model, *data, *target, *names[2]; /* names of the tiers as asked for; names[1] NULL: one tier */
  int count;
  SweepPoint *points; /* one tier: from the largest budget down; two: row by row of the first, both from the largest down */
  int knee, current;  /* indices; NO_INDEX where there is none */
  int64_t current_bytes; /* 0: outside the range */
  int64_t least_bytes;   /* no plan fits less; 0: not known */
  const char *binds;     /* what needs so much */
} Sweep;

/* Before planning: gives the swept tiers the largest budget asked for. False after an error, which is said. */
bool sweep_prepare(Compilation *c);
/* After the layout: the sweep asked for by --sweep. */
const Sweep *sweep_asked(Compilation *c);
/* The device from the least that works to what keeping everything needs, for the report. NULL without a train block. */
const Sweep *sweep_of_device(Compilation *c);
json_t *sweep_json(const Sweep *sweep);

#endif
