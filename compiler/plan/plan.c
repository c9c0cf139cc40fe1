/* plan: Problem -> Plan, by the planner; and the plan run through S13 of docs/planner.md for its times. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "compiler/planner/judge.h"
#include "compiler/planner/plan_report.h"
#include "compiler/planner/replay.h"

Plan *plan(Arena *arena, const PlanningProblem *problem, const PlannerOptions *options) {
  Plan *plan = arena_alloc(arena, sizeof *plan);
  plan->problem = problem;
  plan->planned = planner_plan(problem->problem, options, arena, &plan->report);
  plan->is_valid = !plan->planned || replay(plan->planned, arena, &plan->sequence, &plan->simulation);
  return plan;
}

/* A piece with no other fate keeps its own. */
static Problem without_fates(Arena *arena, const Problem *problem, unsigned fates) {
  Problem changed = *problem;
  changed.pieces = arena_alloc(arena, (size_t)(problem->piece_count + 1) * sizeof *changed.pieces);
  memcpy(changed.pieces, problem->pieces, (size_t)problem->piece_count * sizeof *changed.pieces);
  for (int x = 0; x < changed.piece_count; x++)
    if (changed.pieces[x].fates & ~fates) changed.pieces[x].fates &= ~fates;
  return changed;
}

Plan *plan_avoiding(Arena *arena, const PlanningProblem *problem, const PlannerOptions *options, unsigned fates, const Plan *found) {
  Problem changed = without_fates(arena, problem->problem, fates);
  Plan *plan = arena_alloc(arena, sizeof *plan);
  plan->problem = problem;
  PlannerPlan *planned = planner_plan(&changed, options, arena, &plan->report);
  if (!planned) return NULL;
  planned->problem = problem->problem;
  planned->lower_bound_ns = plan->report.lower_bound_ns = found->planned->lower_bound_ns;
  planned->certificate = found->planned->certificate;
  plan->report.is_optimal = planned->makespan_ns <= planned->lower_bound_ns;
  plan->planned = planned;
  plan->is_valid = replay(planned, arena, &plan->sequence, &plan->simulation);
  return plan->is_valid ? plan : NULL;
}

const Plan *plan_with_bound(Arena *arena, const Plan *plan, PlannerEffort effort) {
  Plan *bounded = arena_alloc(arena, sizeof *bounded);
  PlannerPlan *planned = arena_alloc(arena, sizeof *planned);
  *bounded = *plan;
  *planned = *plan->planned;
  bounded->planned = planned;
  planner_raise_bound(planned, effort, arena, &bounded->report);
  return bounded;
}

/* A report (gnncc-report/1) carries the plan it reports. */
static const char *plan_of_report(Arena *arena, const char *text, size_t *length) {
  json_t *root = json_loadb(text, *length, 0, NULL);
  const char *format = json_string_value(json_object_get(root, "format"));
  char *inner = format && strcmp(format, "gnncc-report/1") == 0 ? json_dumps(json_object_get(root, "plan"), JSON_INDENT(1)) : NULL;
  if (inner) {
    text = arena_strdup(arena, inner);
    *length = strlen(text);
  }
  free(inner);
  json_decref(root);
  return text;
}

Plan *plan_from_text(Arena *arena, const PlanningProblem *problem, const char *text, size_t length, ProblemError *error) {
  text = plan_of_report(arena, text, &length);
  Plan *plan = arena_alloc(arena, sizeof *plan);
  plan->problem = problem;
  PlannerPlan *planned = plan_read_json(problem->problem, arena, text, length, error);
  if (!planned) return NULL;
  plan->planned = planned;
  char *verdict;
  size_t verdict_length;
  FILE *out = arena_open_text(arena, &verdict, &verdict_length);
  size_t problem_length;
  const char *problem_text = planning_problem_text(arena, problem, &problem_length);
  bool is_valid = planner_check_json(problem_text, problem_length, text, length, out, NULL) == PLANNER_CHECK_VALID &&
                  replay(planned, arena, &plan->sequence, &plan->simulation);
  fclose(out);
  verdict[strcspn(verdict, "\n")] = 0;
  if (!is_valid) {
    problem_fail(error, "", "%s", verdict);
    return NULL;
  }
  const Simulation *m = plan->simulation;
  plan->report = (PlannerReport){.is_feasible = true, .makespan_ns = m->makespan_ns, .peak_bytes = m->peak_bytes,
                                 .stall_free_ns = plan->sequence->geometry->stall_free_ns};
  plan->is_valid = true;
  return plan;
}

const char *plan_bind(Arena *arena, const Plan *plan) {
  const PlannerReport *r = &plan->report;
  const Graph *graph = plan->problem->kernels->graph;
  Share *shares = NULL;
  int count = 0;
  int64_t residents = 0;
  for (int i = 0; i < r->bind_piece_count; i++) {
    const ProblemPiece *piece = &plan->problem->problem->pieces[r->bind_pieces[i]];
    ValueId value = plan->problem->value_of_datum[piece->datum];
    int32_t sums_of = plan->problem->sums_of_datum[piece->datum];
    if (value != NO_VALUE)
      ARENA_PUSH(arena, shares, count, (Share){parts_name(plan->problem->parts, value, graph->values[value].said, problem_part_of_piece(plan->problem, r->bind_pieces[i])), piece->bytes});
    else if (sums_of != NO_INDEX)
      ARENA_PUSH(arena, shares, count, (Share){arena_printf(arena, "sums of %s", graph->values[plan->problem->kernels->kernels[sums_of].anchor].said), piece->bytes});
    else residents += piece->bytes;
  }
  if (residents > 0) ARENA_PUSH(arena, shares, count, (Share){"graph, features, weights and optimiser", residents});
  return plan_report_shares(arena, shares, count, r->bind_bytes);
}

int64_t plan_needs(const PlannerReport *r, Tier tier) {
  int64_t device = r->height_bytes > r->peak_bytes ? r->height_bytes : r->peak_bytes;
  return tier == TIER_DEVICE ? device : tier == TIER_HOST ? r->host_peak_bytes : r->ssd_peak_bytes;
}
