/* filling.h: everything leaves as cheaply as it can, then what saves the most for the room it takes stays as long as there is room
 * (docs/planner.md, section "Filling"). */
#ifndef GNNCC_PLANNER_FILLING_H
#define GNNCC_PLANNER_FILLING_H

#include "windows.h"

#include "evaluate.h"

typedef struct FillOptions {
  double reserve; /* the share of what a step leaves free that is left to copies on their way */
  double rerun_price; /* what is made again counts this many times its time, against that of the copies */
  bool is_canonical; /* else what is made again, or brought back for that, leaves again at once */
  int shared_steps; /* RemadeStays; what is made again on the way costs each of those that read it its share, if it is any */
  const Candidate *like; /* what is away there is away here too, and what stays there stays before all else; NULL: each gap is looked at anew */
  bool fills_up; /* what is away there stays where there is room at last, the shortest first */
  const Windows *windows; /* whose prices the costs are at; NULL: each lane costs its time wherever it is used */
} FillOptions;

/* Fills for one evaluator. Where only the share that is left to copies and what is made again change from one filling to the next, what leaves
 * is not looked for again. */
typedef struct Filler Filler;

Filler *filler_open(Evaluator *evaluator);
void filler_close(Filler *filler);

/* In `candidate`, not evaluated. Windows that are given twice have the same prices both times. */
void fill(Filler *filler, const FillOptions *options, Candidate *candidate);

#endif
