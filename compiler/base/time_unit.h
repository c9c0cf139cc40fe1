/* time_unit.h: seconds as people read them: what stands together is told in one unit. */
#ifndef GNNCC_TIME_UNIT_H
#define GNNCC_TIME_UNIT_H

#include "lang/arena.h"

/* "s", "ms" or "us" and what a second is in it. */
typedef struct TimeUnit {
  const char *name;
  double per_second;
} TimeUnit;

/* In which these seconds, those of an epoch, read well, and those of its steps beside them. */
TimeUnit time_unit(double seconds);
/* "8.09 ms": three digits, or all before the point. */
const char *time_text(Arena *arena, TimeUnit unit, double seconds);
const char *time_number(Arena *arena, TimeUnit unit, double seconds);

#endif
