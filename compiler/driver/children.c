#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void command_word(Arena *arena, Command *command, const char *text) { ARENA_PUSH(arena, command->words, command->count, text); }

void command_words(Arena *arena, Command *command, const char *list) {
  char *rest = NULL;
  for (char *word = strtok_r(arena_strdup(arena, list), " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) command_word(arena, command, word);
}

static volatile pid_t children_running[CHILDREN_MOST]; /* 0: none */

static void replace_child(pid_t from, pid_t to) {
  for (int i = 0; i < CHILDREN_MOST; i++) {
    if (children_running[i] != from) continue;
    children_running[i] = to;
    return;
  }
}

void children_stop(void) {
  for (int i = 0; i < CHILDREN_MOST; i++)
    if (children_running[i] > 0 && kill(children_running[i], SIGTERM) == 0) waitpid(children_running[i], NULL, 0);
}

/* No signal comes between a child and the note of it. */
static int spawn(const char *const *words, posix_spawn_file_actions_t *files, pid_t *child) {
  sigset_t all, before;
  posix_spawnattr_t attributes;
  sigfillset(&all);
  int fault = posix_spawnattr_init(&attributes);
  if (fault != 0) return fault;
  sigprocmask(SIG_BLOCK, &all, &before);
  posix_spawnattr_setsigmask(&attributes, &before);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  fault = posix_spawnp(child, words[0], files, &attributes, (char *const *)(void *)words, environ);
  if (fault == 0) replace_child(0, *child);
  sigprocmask(SIG_SETMASK, &before, NULL);
  posix_spawnattr_destroy(&attributes);
  return fault;
}

int child_start(const char *const *words, int output, pid_t *child) {
  posix_spawn_file_actions_t files;
  if (output < 0) return spawn(words, NULL, child);
  int fault = posix_spawn_file_actions_init(&files);
  if (fault != 0) return fault;
  fault = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  if (fault == 0) fault = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (fault == 0) fault = spawn(words, &files, child);
  posix_spawn_file_actions_destroy(&files);
  return fault;
}

int child_finish(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 5;
  replace_child(child, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
