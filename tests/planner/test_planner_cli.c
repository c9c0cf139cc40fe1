/* The command line: options in any order and spelling, exit statuses, no half files. */
#define _POSIX_C_SOURCE 200809L

#include "compiler/planner/planner.h"
#include "golden.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 12 };

/* Run the planner in a child; its exit status, and the start of what it wrote. */
static int run(char *output, size_t size, const char *words) {
  char copy[1024], *argv[MAX_WORDS + 1];
  int argc = 0, pipes[2];
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok(copy, " "); word && argc < MAX_WORDS; word = strtok(NULL, " ")) argv[argc++] = word;
  argv[argc] = NULL;
  fflush(stdout);
  if (pipe(pipes)) return -1;
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 1);
    dup2(pipes[1], 2);
    close(pipes[0]);
    close(pipes[1]);
    int status = planner_main(argc, argv);
    fflush(stdout);
    _exit(status);
  }
  close(pipes[1]);
  size_t used = 0;
  char buffer[4096];
  for (ssize_t got; (got = read(pipes[0], buffer, sizeof buffer)) > 0;)
    for (ssize_t i = 0; i < got && used + 1 < size; i++) output[used++] = buffer[i];
  output[used] = 0;
  close(pipes[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  if (!file) return;
  fputs(text, file);
  fclose(file);
}

/* A problem whose names are no words: control characters, a line end, a middle dot. */
static void write_odd_names(const char *path, const char *text) {
  static const struct {
    const char *plain, *odd;
  } names[] = {{"\"golden\"", "\"go\\nld\\u001b[2J\\u00b7\\u0085\\u202e\""}, {"\"F2\"", "\"F\\t\\u00b72\""}, {"\"x2\"", "\"x\\r\\n\\u00b72\""}};
  FILE *file = fopen(path, "wb");
  while (file && *text) {
    size_t i = 0;
    while (i < 3 && strncmp(text, names[i].plain, strlen(names[i].plain))) i++;
    if (i < 3) fputs(names[i].odd, file);
    else fputc(*text, file);
    text += i < 3 ? strlen(names[i].plain) : 1;
  }
  if (file) fclose(file);
}

static int lines_of(const char *output) {
  int count = 0;
  for (; *output; output++) count += *output == '\n';
  return count;
}

/* In ASCII alone, or with characters beyond it. */
static bool is_shown(const char *output, bool is_utf8) {
  bool is_beyond = false;
  for (; *output; output++) {
    unsigned char c = (unsigned char)*output;
    if ((c < 32 && c != '\n') || c == 127) return false;
    is_beyond |= c > 127;
  }
  return is_beyond == is_utf8;
}

/* `odd` says as many lines as `plain`; none of its names does anything to the terminal. */
static void check_names(Tap *tap, const char *plain, const char *odd, int wanted, const char *says) {
  char first[16384], second[16384];
  static const char *const locales[] = {"C", "C.UTF-8"};
  for (int i = 0; i < 2; i++) {
    setenv("LC_ALL", locales[i], 1);
    run(first, sizeof first, plain);
    int status = run(second, sizeof second, odd);
    bool is_right = status == wanted && lines_of(first) == lines_of(second) && is_shown(second, i == 1) && strstr(second, says);
    if (!tap_ok(tap, is_right, "%s escaped, %s", says, locales[i])) tap_note("exit %d: %s", status, second);
  }
}

int main(void) {
  Tap tap = {0};
  char folder[] = "/tmp/planner-cli-XXXXXX", output[16384];
  if (!mkdtemp(folder) || chdir(folder)) return 1;
  write_text("a.json", golden_problem_a);
  char tight[8192];
  const char *at = strstr(golden_problem_a, "260");
  snprintf(tight, sizeof tight, "%.*s150%s", (int)(at - golden_problem_a), golden_problem_a, at + 3);
  write_text("tight.json", tight);
  write_text("bad.json", "{\"format\": 3");
  write_text("keep.plan", "{\"format\": \"gnncc-plan/1\", \"problem\": \"golden\"}");
  write_text("odd.plan", "{\"format\": \"gnncc-plan/1\", \"problem\": \"go\\nld\\u001b[2J\\u00b7\\u0085\\u202e\"}");

  static const struct {
    const char *words, *says;
    int status;
  } cases[] = {
      {"plan a.json -o a.plan", "per epoch", 0},
      {"plan --check a.plan a.json", "valid: makespan 83 ns", 0},
      {"plan a.json --check=a.plan", "valid", 0},
      {"plan --effort=best a.json", "lower bound", 0},
      {"plan a.json --effort fast --time 5", "first plan", 0},
      {"plan a.json --time=1e-9 --compare-policies", "cut short", 0},
      {"plan a.json --time=1e-9 --compare-policies", "not tried", 0},
      {"plan a.json --time=5s", "first plan", 0},
      {"plan a.json --compare-policies", "torch-budget", 0},
      {"plan a.json --policy=dtr", "per epoch", 0},
      {"plan a.json --policy keep", "device 340 bytes would do (now 260)", 1},
      {"plan a.json --policy keep", "binding: step 2, op \"F3\"", 1},
      {"plan a.json -o -", "gnncc-plan/1", 0},
      {"plan tight.json", "220 bytes would do", 1},
      {"plan tight.json", "op \"F2\"", 1},
      {"plan tight.json --check a.plan", "invalid", 1},
      {"plan bad.json", "bad.json:1:", 2},
      {"plan a.json --check bad.json", "bad input", 2},
      {"plan missing.json", "No such file", 2},
      {"plan", "usage", 2},
      {"plan --help", "usage", 0},
      {"plan a.json --effrot=fast", "did you mean \"--effort\"", 2},
      {"plan a.json --effort=fsat", "did you mean \"fast\"", 2},
      {"plan a.json --policy=capuchi", "did you mean \"capuchin\"", 2},
      {"plan a.json --time=never", "positive", 2},
      {"plan a.json --time=-1", "positive", 2},
      {"plan a.json -o", "needs a value", 2},
      {"plan a.json a.json", "one problem", 2},
      {"plan a.json -o no/such/folder/x", "No such file", 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int status = run(output, sizeof output, cases[i].words);
    bool is_right = status == cases[i].status && strstr(output, cases[i].says);
    if (!tap_ok(&tap, is_right, "%s: exit %d", cases[i].words, cases[i].status)) tap_note("exit %d: %s", status, output);
  }
  tap_ok(&tap, access("a.plan.tmp", F_OK) != 0, "no temporary file is left");

  write_odd_names("odd.json", golden_problem_a);
  write_odd_names("odd_tight.json", tight);
  check_names(&tap, "plan a.json", "plan odd.json", 0, "plan for go\\nld\\u001b[2J");
  check_names(&tap, "plan tight.json", "plan odd_tight.json", 1, "op \"F\\t");
  check_names(&tap, "plan a.json --policy=keep", "plan odd.json --policy=keep", 1, "x\\r\\n");
  check_names(&tap, "plan a.json --check keep.plan", "plan odd.json --check odd.plan", 1, "x\\r\\n");
  write_text("odd_bad.json", "{\"format\": \"gnncc-problem/1\", \"name\": \"n\", \"a\\n\\u00b7\": 1}");
  check_names(&tap, "plan bad.json", "plan odd_bad.json", 2, "unknown key \"a\\n");
  check_names(&tap, "plan missing.json", "plan miss\ning\302\267\033.json", 2, "miss\\ning");
  check_names(&tap, "plan a.json --policy=x", "plan a.json --policy=\302\267\377\033", 2, "\\xff\\u001b");
  check_names(&tap, "plan a.json -o no/such/x", "plan a.json -o no/such/\302\267\033", 4, "\\u001b");
  remove("a.json");
  remove("a.plan");
  remove("tight.json");
  remove("bad.json");
  remove("keep.plan");
  remove("odd.json");
  remove("odd_tight.json");
  remove("odd_bad.json");
  remove("odd.plan");
  if (chdir("/")) return 1;
  rmdir(folder);
  return tap_end(&tap);
}
