/* watch.c: what each step of an epoch took. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

double gnn_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

gnn_status gnn_watch_create(gnn_run *run, int is_traced, gnn_error *error) {
  const gnn_program *program = run->program;
  if (!is_traced && !program->is_simulated) return GNN_OK;
  int count = 1;
  for (int s = 0; s < program->step_count + program->once_count; s++)
    if (program->steps[s].number >= count) count = program->steps[s].number + 1;
  gnn_watch *watch = calloc(1, sizeof *watch);
  if (watch == NULL) return gnn_fail_memory(error, (int64_t)sizeof *watch);
  run->watch = watch;
  watch->count = count;
  watch->slowdown = program->is_simulated ? program->slowdown : 0;
  watch->steps = calloc((size_t)count, sizeof *watch->steps);
  watch->start = calloc((size_t)count, sizeof *watch->start);
  watch->end = calloc((size_t)count, sizeof *watch->end);
  if (!watch->steps || !watch->start || !watch->end) {
    gnn_watch_destroy(run);
    return gnn_fail_memory(error, count * (int64_t)sizeof *watch->start);
  }
  for (int s = 0; s < program->step_count + program->once_count; s++)
    if (program->steps[s].number >= 0) watch->steps[program->steps[s].number] = &program->steps[s];
  gnn_watch_restart(run);
  return GNN_OK;
}

void gnn_watch_destroy(gnn_run *run) {
  if (run->watch == NULL) return;
  free(run->watch->steps);
  free(run->watch->start);
  free(run->watch->end);
  free(run->watch);
  run->watch = NULL;
}

void gnn_watch_restart(gnn_run *run) {
  if (run->watch) run->watch->origin = gnn_now();
}

/* Sleeping alone would be late by what the kernel needs to wake somebody. */
static void watch_until(double when) {
  enum { SPIN_NANOSECONDS = 80000 };
  double asleep = when - SPIN_NANOSECONDS * 1e-9;
  if (asleep > gnn_now()) {
    prctl(PR_SET_TIMERSLACK, 1UL); /* of this thread; its default is 50 us */
    struct timespec until = {.tv_sec = (time_t)asleep};
    until.tv_nsec = (long)((asleep - (double)until.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
  }
  while (gnn_now() < when) {}
}

void gnn_watch_enter(gnn_run *run, int step) {
  gnn_watch *watch = run->watch;
  if (watch->mark) watch->mark(run, step, 0);
  else if (step >= 0 && step < watch->count) watch->start[step] = gnn_now() - watch->origin;
}

void gnn_watch_leave(gnn_run *run, int step) {
  gnn_watch *watch = run->watch;
  if (watch->mark) {
    watch->mark(run, step, 1);
    return;
  }
  if (step < 0 || step >= watch->count || watch->steps[step] == NULL) return;
  double least = watch->steps[step]->estimated_seconds * watch->slowdown;
  if (least > 0) watch_until(watch->origin + watch->start[step] + least);
  watch->end[step] = gnn_now() - watch->origin;
}
