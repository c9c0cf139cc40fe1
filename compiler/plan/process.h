/* process: the host's memory that a program takes, all of it. */
#ifndef GNNCC_PROCESS_H
#define GNNCC_PROCESS_H

#include "plan.h"

/* Bytes. What is resident at most is code and the larger of `running` and `loading`. */
typedef struct Process {
  int64_t code;      /* of the program and its libraries, their data, stacks, what is small of the heap: when most is resident */
  int64_t running;   /* arenas and staging, the weights that are kept best, tables of metrics; data that training comes back to */
  int64_t loading;   /* while data are read: they, what sorting them takes, and what of the arenas they have filled. 0: nobody has seen them */
  int64_t resident;  /* at most */
  int64_t addresses; /* at most: plain files are mapped whole while they are read, though few of their pages are in memory */
  int64_t data;      /* of the device arena from its beginning on, which data go into */
} Process;

/* is_apart: the device has memory of its own, none of which counts. */
Process process_of(const TypedProgram *program, const Schedule *schedule, const Layout *layout, const Machine *machine, bool is_apart);
/* Of ranks on GPUs: pinned memory for the most that passes through the host at once; 0: nothing does. */
int64_t passing_bytes(const TypedProgram *program, const Schedule *schedule, const Machine *machine);

#endif
