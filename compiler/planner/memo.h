/* memo.h: what evaluations gave. Annealing comes back to the same decisions time and again; what they cost is looked up
 * then, and counts as the same effort, so that a search goes the way it would go without. A plan's claims never come
 * from here: they are made by the simulator at the end. */
#ifndef GNNCC_PLANNER_MEMO_H
#define GNNCC_PLANNER_MEMO_H

#include "evaluate.h"

typedef struct Memo Memo;

/* `choices`: the ops with several variants, for as long as the memo lives. */
Memo *memo_new(Arena *arena, Evaluator *evaluator, const int *choices, int choice_count);

/* As evaluate() of the candidate's decisions: the cost and the evaluator's best_policy, not its sequence and boundaries. */
int64_t memo_evaluate(Memo *memo, const Candidate *candidate, unsigned policies);

#endif
