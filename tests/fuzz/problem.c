/* Planning problems and plans: "\n@problem\n" and "\n@plan\n" before them. Planner and judge agree about what is a problem. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "compiler/planner/finished_plan.h"
#include "compiler/planner/judge.h"
#include "compiler/planner/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char mark[] = "\n@plan\n";
  const uint8_t *cut = memmem(data, size, mark, sizeof mark - 1);
  size_t length = cut ? (size_t)(cut - data) : size;
  const char *plan = cut ? (const char *)cut + sizeof mark - 1 : "{}";
  size_t plan_length = cut ? size - length - (sizeof mark - 1) : 2;
  Arena *arena = arena_new();
  ProblemError error = {{0}, {0}};
  Problem *problem = problem_read_json(arena, (const char *)data, length, &error);
  HOLDS(problem || error.text[0]);
  PlannerPlan *read = problem ? plan_read_json(problem, arena, plan, plan_length, &error) : NULL;
  HOLDS(!problem || read || error.text[0]);
  PlannerCheckResult result;
  if (planner_check_json((const char *)data, length, plan, plan_length, NULL, &result) == PLANNER_CHECK_VALID) {
    HOLDS(problem);
    planner_check_release(&result);
  }
  arena_free(arena);
  return 0;
}
