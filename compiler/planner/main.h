/* main.h: `gnncc plan`, the planner as a command. */
#ifndef GNNCC_PLANNER_MAIN_H
#define GNNCC_PLANNER_MAIN_H

#include "planner.h"

enum { PLANNER_MOST_MORE = 15 };

typedef struct PlannerArguments {
  const char *problem, *output, *check;
  const char *more[PLANNER_MOST_MORE]; /* problems after the first */
  int more_count;
  bool compares, wants_help, is_forced;
  PlannerOptions options;
} PlannerArguments;

/* The words of the command into arguments whose options are the default ones; 0, or 2 after a message. */
int planner_parse(int argc, char **argv, PlannerArguments *arguments);
/* A whole file, or standard input for "-", in the arena; NULL after a message. */
char *planner_read_file(Arena *arena, const char *path, size_t *length);
/* The problem that such a text is; NULL after a message. */
const Problem *planner_read_problem(Arena *arena, const char *path, const char *text, size_t length);
/* Where -o says, if it does: 0, or 4 after a message. */
int planner_write_plan(const PlannerArguments *arguments, const PlannerText *made);
/* argv[0] is "plan". The exit status: 0 planned or valid, 1 infeasible or invalid, 2 bad input. */
int planner_main(int argc, char **argv);

#endif
