/* suite.h: the instances of docs/planner.md, section "Results", and the optimum of small ones. */
#ifndef TESTS_PLANNER_SUITE_H
#define TESTS_PLANNER_SUITE_H

#include "compiler/planner/planner.h"
#include "generate.h"

/* The i-th small instance (0 .. suite_small_count-1): family, depth, chunks, budget, bandwidth and tiers vary. */
enum { SUITE_SMALL_COUNT = 264 };
GenerateOptions suite_small(int i);

typedef struct SuiteLarge {
  const char *name;
  GenerateOptions options;
  bool is_chain;
} SuiteLarge;
extern const SuiteLarge suite_large[];
extern const int suite_large_count;

Problem *suite_read(Arena *arena, const char *text);

/* The optimum over fates, variants and prefetch boundaries with canonical recompute, by exhaustive branch and bound;
 * -1 when `effort` did not suffice to prove it. `known_ns`: the makespan of some plan. */
int64_t suite_optimum(const Problem *problem, int64_t effort);

#endif
