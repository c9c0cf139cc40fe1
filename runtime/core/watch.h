/* watch.h: what each step of an epoch took; in a simulation steps are held to the times that the plan states. */
#ifndef GNN_WATCH_H
#define GNN_WATCH_H

#include "runtime/base/text.h"

typedef struct gnn_watch {
  const gnn_step_desc **steps; /* by number, NULL: none has it; [count] */
  int count;
  double slowdown;             /* 0: not simulated */
  double origin;               /* what start and end are relative to */
  double *start, *end;         /* [count] seconds */
  void (*mark)(gnn_run *run, int step, int is_end); /* NULL: the process's own clock tells */
} gnn_watch;

/* Leaves run->watch NULL unless the program is simulated or is_traced. */
gnn_status gnn_watch_create(gnn_run *run, int is_traced, gnn_error *error);
void gnn_watch_destroy(gnn_run *run);

/* Times from now on count from now. */
void gnn_watch_restart(gnn_run *run);

double gnn_now(void); /* seconds of a clock that never goes back */

#endif
