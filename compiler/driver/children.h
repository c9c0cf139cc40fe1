/* children.h: the compilers that gnncc runs, and that stop with it. */
#ifndef GNNCC_CHILDREN_H
#define GNNCC_CHILDREN_H

#include <sys/types.h>

#include "lang/arena.h"

enum { CHILDREN_MOST = 16 }; /* at a time */

/* A command, word by word; child_start needs NULL after the last. */
typedef struct Command {
  int count;
  const char **words;
} Command;

void command_word(Arena *arena, Command *command, const char *text);
void command_words(Arena *arena, Command *command, const char *list); /* of a shell-like list such as CFLAGS or a CC with options */

/* 0 or errno. words: NULL after the last. output: where what it prints goes, and its errors go nowhere; -1: where ours do. */
int child_start(const char *const *words, int output, pid_t *child);
/* Its exit status; of one that was killed, 128. */
int child_finish(pid_t child);
/* In a handler of signals, too. */
void children_stop(void);

#endif
