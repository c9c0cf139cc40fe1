/* coarse.h: the same problem in fewer and larger pieces (docs/planner.md, section "Coarse problems").
 *
 * Where values are cut into thousands of parts, many that follow each other take the same fates. With runs of them as one piece each the whole search is
 * affordable, and what it decides is decided for the pieces of each run: the multilevel scheme of graph partitioners (Hendrickson and Leland, "A
 * multilevel algorithm for partitioning graphs", SC 1995).
 */
#ifndef GNNCC_PLANNER_COARSE_H
#define GNNCC_PLANNER_COARSE_H

#include "evaluate.h"

typedef struct Coarse {
  const Problem *problem; /* on the same device, whose SSD has a ring for as many of its pieces; copies take as long as those of the fine pieces */
  const int *step_of;     /* by step of the fine problem: its step of the coarse one */
  const int *first_of;    /* by step of the coarse problem: the first of the fine one */
  const int *piece_of;    /* by piece of the fine problem */
} Coarse;

/* Ops in at most so many chunks each; pieces that the same of their steps read and write are one. NULL: runs of steps depend on each other, or hardly
 * any pieces are alike. */
const Coarse *coarse_problem(Arena *arena, const Problem *fine, int chunks);

/* The decisions of a candidate of the coarse problem for the fine one. */
void coarse_refine(const Coarse *coarse, const Evaluator *from, const Candidate *decided, const Evaluator *to, Candidate *refined);

#endif
