/* judge.h: the judge of plans. It reads the two documents by itself, follows clauses S1 to S20 of docs/planner.md and
 * shares no code and no data structure with the planner. */
#ifndef GNNCC_PLANNER_CHECK_H
#define GNNCC_PLANNER_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PLANNER_CHECK_VALID = 0, PLANNER_CHECK_INVALID = 1, PLANNER_CHECK_BAD_INPUT = 2 };

typedef struct PlannerCheckResult {
  int64_t makespan_ns, peak_bytes;
  int64_t lower_bound_ns; /* what the certificate proves, 0 without one */
  int step_count; /* extended steps; the two arrays have as many entries */
  int64_t *occupied_bytes; /* after S13.2 */
  int64_t *boundary_ns;
} PlannerCheckResult;

/* Judge a plan. Writes one line to `out` (NULL: silent): the verdict, or the clause, step and pieces that are wrong,
 * or the place of bad input. `result` may be NULL; when the return value is PLANNER_CHECK_VALID it is filled and its
 * arrays belong to the caller (planner_check_release). */
int planner_check_json(const char *problem_text, size_t problem_length, const char *plan_text, size_t plan_length,
                       FILE *out, PlannerCheckResult *result);

void planner_check_release(PlannerCheckResult *result);

#endif
