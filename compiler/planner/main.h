/* main.h: `gnncc plan`, the planner as a command. */
#ifndef GNNCC_PLANNER_MAIN_H
#define GNNCC_PLANNER_MAIN_H

/* argv[0] is "plan". The exit status: 0 planned or valid, 1 infeasible or invalid, 2 bad input. */
int planner_main(int argc, char **argv);

#endif
