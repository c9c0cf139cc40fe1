/* decided_by.h: which step's end let another one start. */
#ifndef GNNCC_DECIDED_BY_H
#define GNNCC_DECIDED_BY_H

#include <stdint.h>

typedef struct Decider {
  int step; /* an index; negative: there is none */
  int64_t end_ns;
} Decider;

/* Of those that a step follows, the last to end before it starts, the first of several; -1: none. */
static inline int decided_by(int64_t start_ns, const Decider *followed, int count) {
  const Decider *last = 0;
  for (int i = 0; i < count; i++)
    if (followed[i].step >= 0 && followed[i].end_ns <= start_ns && (!last || followed[i].end_ns > last->end_ns)) last = &followed[i];
  return last ? last->step : -1;
}

#endif
