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

/* The line that the compiler answers; NULL: it does not. */
static const char *ask(Arena *arena, const char *command, const char *question) {
  Command asking = {0};
  int ends[2];
  pid_t child;
  char line[4096];
  command_words(arena, &asking, command);
  if (asking.count == 0 || pipe2(ends, O_CLOEXEC) != 0) return NULL;
  if (variable("CFLAGS")) command_words(arena, &asking, variable("CFLAGS"));
  command_words(arena, &asking, question);
  command_word(arena, &asking, NULL);
  const bool is_started = child_start(asking.words, ends[1], &child) == 0;
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
  Command said = {0};
  if (variable("CFLAGS")) command_words(arena, &said, variable("CFLAGS"));
  for (int i = 0; i < options->cc_option_count; i++) command_word(arena, &said, options->cc_options[i]);
  for (int i = 0; i < said.count; i++)
    if (strncmp(said.words[i], "-march=", 7) == 0 || strncmp(said.words[i], "-mcpu=", 6) == 0) found = strchr(said.words[i], '=') + 1;
  return found && cpu_name_is_right(found) ? found : NULL;
}

/* On ARM -march knows architectures and -mcpu processors. */
static const char *option_for(const char *machine, const char *name) {
  return strcmp(machine, "aarch64") == 0 && strncmp(name, "armv", 4) != 0 ? "-mcpu=" : "-march=";
}

const char *c_compiler_named(const Options *options) { return options->cc ? options->cc : variable("CC"); }

CCompiler c_compiler_find(Arena *arena, const Options *options) {
  struct utsname here;
  const char *named = c_compiler_named(options), *asked = named ? machine_of(arena, named) : NULL;
  const char *own = uname(&here) == 0 ? arena_strdup(arena, here.machine) : "unknown";
  CCompiler cc = {.command = named ? named : C_COMPILER, .machine = asked ? asked : own};
  cc.is_foreign = strcmp(cc.machine, own) != 0;
  const char *archiver = cc.is_foreign ? ask(arena, cc.command, "-print-prog-name=ar") : NULL;
  cc.archiver = archiver ? archiver : "ar";
  Processor *list = NULL;
  for (int i = 0; i < options->cpu_count; i++)
    ARENA_PUSH(arena, list, cc.processor_count, (Processor){options->cpus[i], option_for(cc.machine, options->cpus[i]), arena_identifier(arena, options->cpus[i])});
  if (cc.processor_count == 0) {
    const char *by_hand = options->product == PRODUCT_SOURCES ? NULL : named_by_hand(arena, options);
    const Processor only = by_hand ? (Processor){by_hand, NULL, NULL} : cc.is_foreign ? (Processor){cc.machine, NULL, NULL} : (Processor){"native", option_for(cc.machine, "native"), NULL};
    ARENA_PUSH(arena, list, cc.processor_count, only);
  }
  cc.processors = list;
  return cc;
}
