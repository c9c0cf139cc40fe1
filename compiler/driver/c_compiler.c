/* c_compiler: which C compiler, and what it is told about processors. */
#include "c_compiler.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "children.h"

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

static void add_words(Arena *arena, const char ***words, int *count, const char *list) {
  char *rest = NULL;
  for (const char *word = strtok_r(arena_strdup(arena, list), " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) ARENA_PUSH(arena, *words, *count, word);
}

/* The line that the compiler answers; NULL: it does not. */
static const char *ask(Arena *arena, const char *command, const char *question) {
  const char **words = NULL;
  int count = 0, ends[2];
  pid_t child;
  char line[4096];
  add_words(arena, &words, &count, command);
  if (count == 0 || pipe2(ends, O_CLOEXEC) != 0) return NULL;
  add_words(arena, &words, &count, variable("CFLAGS") ? variable("CFLAGS") : "");
  add_words(arena, &words, &count, question);
  ARENA_PUSH(arena, words, count, NULL);
  const bool is_started = child_start(words, ends[1], &child) == 0;
  close(ends[1]);
  FILE *in = fdopen(ends[0], "r");
  const bool is_told = in && fgets(line, sizeof line, in);
  if (in) fclose(in);
  else close(ends[0]);
  return is_started && child_finish(child) == 0 && is_told ? arena_strndup(arena, line, strcspn(line, "\r\n")) : NULL;
}

/* Of "aarch64-linux-gnu" "aarch64". */
static const char *machine_of(Arena *arena, const char *command) {
  const char *triple = ask(arena, command, "-dumpmachine");
  return triple && *triple ? arena_strndup(arena, triple, strcspn(triple, "-")) : NULL;
}

/* The last word among CFLAGS and -Xcc that names a processor, or NULL. */
static const char *named_by_hand(Arena *arena, const Options *options) {
  const char *found = NULL;
  char *rest = NULL, *flags = arena_strdup(arena, variable("CFLAGS") ? variable("CFLAGS") : "");
  for (char *word = strtok_r(flags, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
    if (strncmp(word, "-march=", 7) == 0 || strncmp(word, "-mcpu=", 6) == 0) found = strchr(word, '=') + 1;
  for (int i = 0; i < options->cc_option_count; i++)
    if (strncmp(options->cc_options[i], "-march=", 7) == 0 || strncmp(options->cc_options[i], "-mcpu=", 6) == 0) found = strchr(options->cc_options[i], '=') + 1;
  return found && cpu_name_is_right(found) ? found : NULL;
}

/* On ARM -march knows architectures and -mcpu processors. */
static const char *option_for(const char *machine, const char *name) {
  return strcmp(machine, "aarch64") == 0 && strncmp(name, "armv", 4) != 0 ? "-mcpu=" : "-march=";
}

CCompiler c_compiler_find(Arena *arena, const Options *options) {
  struct utsname here;
  const char *named = options->cc ? options->cc : variable("CC"), *asked = named ? machine_of(arena, named) : NULL;
  const char *own = uname(&here) == 0 ? arena_strdup(arena, here.machine) : "unknown";
  CCompiler cc = {.command = named ? named : "cc", .machine = asked ? asked : own};
  cc.is_foreign = strcmp(cc.machine, own) != 0;
  const char *archiver = cc.is_foreign ? ask(arena, cc.command, "-print-prog-name=ar") : NULL;
  cc.archiver = archiver ? archiver : "ar";
  Processor *list = NULL;
  for (int i = 0; i < options->cpu_count; i++)
    ARENA_PUSH(arena, list, cc.processor_count, (Processor){options->cpus[i], option_for(cc.machine, options->cpus[i]), cpu_identifier(arena, options->cpus[i])});
  if (cc.processor_count == 0) {
    const char *by_hand = options->product == PRODUCT_SOURCES ? NULL : named_by_hand(arena, options);
    const Processor only = by_hand ? (Processor){by_hand, NULL, NULL} : cc.is_foreign ? (Processor){cc.machine, NULL, NULL} : (Processor){"native", option_for(cc.machine, "native"), NULL};
    ARENA_PUSH(arena, list, cc.processor_count, only);
  }
  cc.processors = list;
  return cc;
}
