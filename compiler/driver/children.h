/* children.h: the compilers that gnncc runs, and that stop with it. */
#ifndef GNNCC_CHILDREN_H
#define GNNCC_CHILDREN_H

#include <sys/types.h>

enum { CHILDREN_MOST = 16 }; /* at a time */

/* 0 or errno. words: NULL after the last. output: where what it prints goes, and its errors go nowhere; -1: where ours do. */
int child_start(const char *const *words, int output, pid_t *child);
/* Its exit status; of one that was killed, 128. */
int child_finish(pid_t child);
/* In a handler of signals, too. */
void children_stop(void);

#endif
