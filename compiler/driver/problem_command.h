/* problem_command.h: `gnncc plan problem.json --report --emit=K --sweep TIER=LOW:HIGH`: pictures without a program. */
#ifndef GNNCC_PROBLEM_COMMAND_H
#define GNNCC_PROBLEM_COMMAND_H

#include <stdbool.h>

/* The words of `gnncc plan` ask for a picture. */
bool problem_command_is_asked(int argc, char **argv);
/* Plans the problem and draws; the exit status is that of `gnncc plan`. */
int problem_command(int argc, char **argv);

#endif
