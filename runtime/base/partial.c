/* partial.c: what is not finished when a process is stopped from outside. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "partial.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { PARTIAL_MOST = 256 };

static _Atomic(const char *) partial_paths[PARTIAL_MOST];
static void (*partial_first)(void);

static int partial_swap(const char *from, const char *to) {
  for (int i = 0; i < PARTIAL_MOST; i++) {
    const char *expected = from;
    if (atomic_compare_exchange_strong(&partial_paths[i], &expected, to)) return 1;
  }
  return 0;
}

void gnn_partial_add(const char *path) { partial_swap(NULL, path); }
void gnn_partial_drop(const char *path) { partial_swap(path, NULL); }

void gnn_partial_remove(void) {
  for (int turn = 0; turn < 2; turn++) /* files, then the folders that they were in */
    for (int i = 0; i < PARTIAL_MOST; i++) {
      const char *path = atomic_load(&partial_paths[i]);
      if (path && (turn == 0 ? unlink(path) : rmdir(path)) == 0) atomic_store(&partial_paths[i], NULL);
    }
}

_Noreturn void gnn_partial_stop(int number) {
  if (partial_first) partial_first();
  gnn_partial_remove();
  _exit(128 + number);
}

static void partial_on_signal(int number) { gnn_partial_stop(number); }

void gnn_partial_on_signals(int is_piped, void (*first)(void)) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE};
  struct sigaction action, before;
  partial_first = first;
  memset(&action, 0, sizeof action);
  action.sa_handler = partial_on_signal;
  sigfillset(&action.sa_mask);
  for (int i = 0; i < 5; i++) {
    if (numbers[i] == SIGPIPE && !is_piped) continue;
    if (numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(numbers[i], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN);
  if (!is_piped) signal(SIGPIPE, SIG_IGN);
}
