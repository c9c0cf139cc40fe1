/* skyline.h: heights over steps, in logarithmic time: raise a range, ask for the highest of a range. */
#ifndef GNNCC_PLANNER_SKYLINE_H
#define GNNCC_PLANNER_SKYLINE_H

#include "lang/arena.h"

#include <stdint.h>

typedef struct Skyline {
  int size; /* a power of two */
  int64_t *highest, *raised; /* of a node: the highest below it, with what it was raised as a whole by */
} Skyline;

/* `heights`: of each step; NULL: 0 everywhere. */
Skyline skyline_new(Arena *arena, const int64_t *heights, int steps);

/* Begin again with other heights; of as many steps. */
void skyline_reset(Skyline *skyline, const int64_t *heights, int steps);

/* The steps from `from` to before `to`; none where to <= from. */
void skyline_raise(Skyline *skyline, int from, int to, int64_t by);

/* Of as many steps. */
void skyline_copy(Skyline *to, const Skyline *from);

/* Each of the first steps by a number of its own. */
void skyline_raise_each(Skyline *skyline, const int64_t *by, int steps);

/* INT64_MIN where there are none. */
int64_t skyline_highest(const Skyline *skyline, int from, int to);

/* The last of those steps that is higher than `limit`; -1: none is. */
int skyline_last_above(const Skyline *skyline, int from, int to, int64_t limit);

int64_t skyline_at(const Skyline *skyline, int step);

#endif
