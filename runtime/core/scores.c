/* scores.c: scores that come back from the SSD. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "scores.h"

int gnn_scores_turns(const gnn_instance *instance) {
  const gnn_program *program = instance->run.program;
  return program->scores_copies > 1 ? (program->scores_copies + program->scores_together - 1) / program->scores_together : 1;
}

static int64_t scores_first_row(const gnn_program *program, int64_t part) { return program->scores_copies > 1 ? program->graph.part_first[part] : 0; }

const float *gnn_scores_turn(const gnn_instance *instance, int turn, int64_t *first, int64_t *end) {
  const gnn_program *program = instance->run.program;
  gnn_scores_here *here = instance->scores_here;
  gnn_run *run = (gnn_run *)(uintptr_t)&instance->run; /* which only copies */
  const int64_t stride = gnn_row_stride(program->scores_stride, program->classes);
  *first = (int64_t)turn * program->scores_together;
  *end = *first + program->scores_together < program->scores_copies ? *first + program->scores_together : program->scores_copies;
  for (int64_t part = *first; here->turn != turn && part < *end && here->status == GNN_OK; part++) here->status = gnn_copy(run, program->scores_copy + (int)part);
  for (int64_t part = *first; here->turn != turn && part < *end && here->status == GNN_OK; part++) here->status = gnn_await(run, program->scores_copy + (int)part);
  here->turn = turn;
  return (const float *)gnn_instance_scores(instance) - scores_first_row(program, *first) * stride;
}

gnn_status gnn_scores_begin(const gnn_instance *instance) {
  if (instance->scores_here == NULL) return GNN_OK;
  int64_t first, end;
  *instance->scores_here = (gnn_scores_here){.turn = -1};
  if (gnn_scores_turns(instance) == 1) gnn_scores_turn(instance, 0, &first, &end);
  return instance->scores_here->status;
}

int gnn_scores_turn_of(const gnn_instance *instance, int64_t row) {
  const gnn_program *program = instance->run.program;
  int64_t low = 0, high = program->scores_copies - 1;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (program->graph.part_first[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return (int)(low / program->scores_together);
}

const float *gnn_scores_row(const gnn_instance *instance, int64_t row) {
  const gnn_program *program = instance->run.program;
  int64_t first, end;
  if (gnn_scores_turns(instance) == 1) return instance->whole.scores + row * program->classes;
  return gnn_scores_turn(instance, gnn_scores_turn_of(instance, row), &first, &end) + row * gnn_row_stride(program->scores_stride, program->classes);
}

gnn_status gnn_scores_status(const gnn_instance *instance) { return instance->scores_here ? instance->scores_here->status : GNN_OK; }
