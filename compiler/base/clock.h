/* clock.h: seconds of a clock of the system. */
#ifndef GNNCC_CLOCK_H
#define GNNCC_CLOCK_H

#include <time.h>

static inline double clock_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
