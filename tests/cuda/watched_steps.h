/* Included before an emitted program of the CPU: its steps are watched by tests/cuda/steps.c. */
#include "gnnrt.h"
void watched_enter(gnn_run *run, int step);
void watched_leave(gnn_run *run, int step);
#define gnn_enter watched_enter
#define gnn_leave watched_leave
