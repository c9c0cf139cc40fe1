/* made.h: a model through the passes, up to the layout. Whoever includes it calls all of it. */
#ifndef GNNCC_TEST_MADE_H
#define GNNCC_TEST_MADE_H

#include <stdlib.h>

#include "compiler/graph/cut.h"
#include "compiler/plan/plan.h"
#include "model.h"

static const char *share_dir = "build/share";

typedef struct Made {
  Arena *arena;
  Graph *training, *evaluation;
  Kernels *kernels, *evaluation_kernels;
  Machine machine;
  int parts;
  Residents *residents;
  Kernels *once_kernels; /* before the first epoch; NULL: nothing is computed once */
  Plan *plan, *evaluation_plan, *once_plan;
  Schedule *schedule;
  Layout *layout;
} Made;

/* With its graphs alone. */
static Made make_graphs(const char *model, int parts) {
  Made m = {.arena = arena_new(), .machine = machine_of_target(NULL), .parts = parts};
  TypedProgram *program = program_of(m.arena, share_dir, model);
  if (!program) exit(1);
  m.training = lower(m.arena, program);
  simplify(m.training);
  m.evaluation = evaluation_graph(m.training);
  autodiff(m.training, NULL);
  simplify(m.training);
  return m;
}

/* Values on nodes are cut into at most `parts` pieces, the graph as `cut` says; NULL: not at all. What is away is at home there, and the scores end there. */
static Made make_cut_kernels(const char *model, int parts, const CutOptions *cut, Tier home, Tier scores) {
  Made m = make_graphs(model, parts);
  if (cut) m.training = cut_graph(m.training, *cut), m.evaluation = cut_graph(m.evaluation, *cut);
  bool *is_sparse = sparse_fields(m.training);
  m.kernels = fuse(m.training, is_sparse, &(FuseOptions){.is_fusing = true, .is_placing = true});
  m.evaluation_kernels = fuse(m.evaluation, is_sparse, &(FuseOptions){.is_fusing = true, .is_placing = true});
  m.residents = residents(m.arena, m.kernels, m.evaluation_kernels, NULL, is_sparse, (DataHomes){cut ? cut->is_away : NULL, home, home, scores, home, 0, false, false});
  const Kernels *evaluation = m.evaluation_kernels;
  residents_readers(m.arena, m.residents, m.kernels, &evaluation, 1);
  return m;
}

static Made make_kernels(const char *model, int parts) { return make_cut_kernels(model, parts, NULL, TIER_DEVICE, TIER_DEVICE); }

static Plan *plan_of(const Made *m, const Kernels *kernels, int policy) {
  ProblemError error = {"", ""};
  PlannerOptions options;
  planner_default_options(&options);
  options.effort = PLANNER_FAST;
  options.policy = policy;
  const PlanningProblem *problem = planning_problem(m->arena, &m->machine, m->residents, kernels, NULL, m->parts, "0", &error);
  if (problem) return plan(m->arena, problem, &options);
  printf("# %s: %s\n", error.place, error.text);
  exit(1);
}

static void make_plan(Made *m) {
  m->plan = plan_of(m, m->kernels, -1);
  m->evaluation_plan = plan_of(m, m->evaluation_kernels, -1);
  if (m->once_kernels) m->once_plan = plan_of(m, m->once_kernels, -1);
  if (!m->plan->planned || !m->evaluation_plan->planned || (m->once_plan && !m->once_plan->planned)) {
    printf("Bail out! no plan fits\n");
    exit(1);
  }
  m->schedule = schedule(m->arena, &m->machine, m->plan, m->evaluation_plan, m->once_plan);
  m->layout = layout(m->arena, &m->machine, m->schedule, m->residents, true);
}

#endif
