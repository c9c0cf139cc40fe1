/* golden.h: problems and plans with what the pass must give to the nanosecond, worked out by hand. */
#ifndef TESTS_PLANNER_GOLDEN_H
#define TESTS_PLANNER_GOLDEN_H

#include <stdint.h>

typedef struct Golden {
  const char *name, *problem, *variants, *recompute, *moves;
  int64_t makespan_ns, peak_bytes; /* makespan -1: invalid */
  int steps;
  int64_t occupied[12], beta[12];
} Golden;

extern const char golden_problem_a[], golden_problem_c[], golden_problem_a_fixed[];
extern const Golden golden_plans[];
extern const int golden_plan_count;

#endif
