/* tap.h: results of a test program as TAP lines. */
#ifndef TESTS_PLANNER_TAP_H
#define TESTS_PLANNER_TAP_H

#include <stdbool.h>

typedef struct Tap {
  int count, failures;
} Tap;

/* One "ok"/"not ok" line; the name is a printf format. Returns `is_ok`. */
bool tap_ok(Tap *tap, bool is_ok, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A line of explanation, ignored by the runner. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The closing "1..N" and the exit status. */
int tap_end(const Tap *tap);

/* How many instances a test should try: GNNCC_TEST_SCALE percent of `normal` (default 100), at least 1. */
int tap_scale(int normal);

#endif
