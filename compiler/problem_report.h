/* problem_report.h: `gnncc plan problem.json --report --emit=K`: the pictures of a plan that no program was written for. */
#ifndef GNNCC_PROBLEM_REPORT_H
#define GNNCC_PROBLEM_REPORT_H

#include <stdbool.h>

/* The words of `gnncc plan` ask for a picture. */
bool problem_report_is_asked(int argc, char **argv);
/* Plans the problem and draws; the exit status is that of `gnncc plan`. */
int problem_report_main(int argc, char **argv);

#endif
