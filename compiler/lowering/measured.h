/* measured.h: the member "measured" of a gnncc-report/1, as ./PROGRAM profile adds it, read and judged. */
#ifndef GNNCC_VIEWS_MEASURED_H
#define GNNCC_VIEWS_MEASURED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lang/arena.h"

typedef struct MeasuredStep {
  bool is_measured;
  double start, seconds;
} MeasuredStep;

typedef struct Measured {
  double epoch, evaluation; /* seconds */
  int64_t tiers[3];         /* peak bytes of device, host, ssd; -1: unknown */
  int step_count;
  MeasuredStep *steps;      /* as "steps" of the report; each of the training epoch is measured */
} Measured;

/* NULL with *fault set when the report has no measurement, or one that cannot be of its steps. */
const Measured *measured_read(Arena *arena, const json_t *report, const char **fault);

#endif
