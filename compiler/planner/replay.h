/* replay.h: a plan as the sequence of steps and the times that clauses S8 to S17 of docs/planner.md give it. */
#ifndef GNNCC_PLANNER_REPLAY_H
#define GNNCC_PLANNER_REPLAY_H

#include "finished_plan.h"
#include "simulate.h"

/* By piece, then by the step they leave after: the order that sequence_build_explicit wants. */
void replay_sort_moves(PlanMove *moves, int count);

/* False when the plan has no legal sequence or does not fit. Both results live in the arena. */
bool replay(const PlannerPlan *plan, Arena *arena, const Sequence **sequence, const Simulation **simulation);

#endif
