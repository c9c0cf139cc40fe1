/* `gnncc plan`: the planner on its own. */
#include "main.h"
#include "runtime/base/open.h"

#include "judge.h"
#include "plan_report.h"
#include "planner.h"
#include "compiler/base/outfile.h"
#include "compiler/base/shown.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_PLANNED = 0, EXIT_INFEASIBLE = 1, EXIT_USAGE = 2, EXIT_FILE = 4, EXIT_INTERNAL = 70 };

static const char usage[] =
    "usage: gnncc plan problem.json [options]\n"
    "\n"
    "  -o PLAN.json              write the plan there (\"-\": standard output)\n"
    "  --check PLAN.json         judge a plan instead of making one\n"
    "  --effort fast|normal|best how much to search (default normal)\n"
    "  --report[=FILE.html], --emit=K[=F],...  the pictures of the plan\n"
    "  --sweep TIER=LO:HI[:STEP] plan for many budgets; two tiers with a comma, several problems\n"
    "  --time SECONDS            stop searching then; the plan says when that happened\n"
    "  --policy NAME             plan as another system would: keep recompute offload checkpoint roc flexgnn\n"
    "                            torch-budget dtr capuchin hongtu grinnder\n"
    "  --force                   overwrite files that gnncc did not write\n"
    "  --compare-policies        all of them beside ours and the lower bound\n"
    "  --help                    this text\n"
    "\n"
    "exit status: 0 planned or valid, 1 infeasible or invalid, 2 bad input or usage, 4 the plan or the report cannot be written\n";

static const char *const option_names[] = {"--check", "--effort", "--time", "--policy", "--force", "--compare-policies",
                                           "--report", "--emit", "--sweep", "--help", NULL};

static int edit_distance(const char *a, const char *b) {
  int row[64], n = (int)strlen(b);
  if (n > 60 || strlen(a) > 60) return 99;
  for (int k = 0; k <= n; k++) row[k] = k;
  for (int i = 1; a[i - 1]; i++) {
    int corner = row[0];
    row[0] = i;
    for (int k = 1; k <= n; k++) {
      int above = row[k], cost = corner + (a[i - 1] != b[k - 1]);
      if (above + 1 < cost) cost = above + 1;
      if (row[k - 1] + 1 < cost) cost = row[k - 1] + 1;
      corner = above;
      row[k] = cost;
    }
  }
  return row[n];
}

static int unknown(const char *what, const char *word, const char *const *known) {
  const char *nearest = NULL;
  int least = 4;
  for (int i = 0; known[i]; i++)
    if (edit_distance(word, known[i]) < least) {
      least = edit_distance(word, known[i]);
      nearest = known[i];
    }
  fprintf(stderr, "gnncc plan: unknown %s \"%s\"", what, shown(word).text);
  if (nearest) fprintf(stderr, "; did you mean \"%s\"?", nearest);
  fprintf(stderr, "\n");
  return EXIT_USAGE;
}

static int set_option(PlannerArguments *a, const char *name, const char *value) {
  static const char *const efforts[] = {"fast", "normal", "best", NULL};
  if (!strcmp(name, "-o")) {
    a->output = value;
  } else if (!strcmp(name, "--check")) {
    a->check = value;
  } else if (!strcmp(name, "--effort")) {
    int effort = vocabulary_find(efforts, value);
    if (effort < 0) return unknown("effort", value, efforts);
    a->options.effort = (PlannerEffort)effort;
  } else if (!strcmp(name, "--time")) {
    char *end;
    a->options.time_limit_s = strtod(value, &end);
    if (end != value && !strcmp(end, "s")) end++;
    if (end == value || *end || !isfinite(a->options.time_limit_s) || a->options.time_limit_s <= 0) {
      fprintf(stderr, "gnncc plan: --time: \"%s\" is not a positive number of seconds\n", shown(value).text);
      return EXIT_USAGE;
    }
  } else {
    a->options.policy = vocabulary_find(policy_names, value);
    if (a->options.policy < 0) return unknown("policy", value, policy_names);
  }
  return 0;
}

int planner_parse(int argc, char **argv, PlannerArguments *a) {
  bool are_options_over = false;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (are_options_over || word[0] != '-' || !strcmp(word, "-")) {
      if (!a->problem) a->problem = word;
      else if (a->more_count < PLANNER_MOST_MORE) a->more[a->more_count++] = word;
      else return fprintf(stderr, "gnncc plan: more than %d problems\n", PLANNER_MOST_MORE + 1), EXIT_USAGE;
      continue;
    }
    if (!strcmp(word, "--")) {
      are_options_over = true;
      continue;
    }
    char name[64];
    const char *value = strncmp(word, "--", 2) ? NULL : strchr(word, '=');
    size_t length = value ? (size_t)(value - word) : strlen(word);
    if (length >= sizeof name) return unknown("option", word, option_names);
    memcpy(name, word, length);
    name[length] = 0;
    if (!strncmp(word, "-o", 2) && word[1] == 'o' && word[2]) { /* -oPATH */
      a->output = word + 2;
      continue;
    }
    bool takes_value = !strcmp(name, "-o") || !strcmp(name, "--check") || !strcmp(name, "--effort") ||
                       !strcmp(name, "--time") || !strcmp(name, "--policy");
    if (!takes_value) {
      if (value && (!strcmp(name, "--compare-policies") || !strcmp(name, "--help"))) {
        fprintf(stderr, "gnncc plan: %s takes no value\n", name);
        return EXIT_USAGE;
      }
      if (!strcmp(name, "--compare-policies"))
        a->compares = true;
      else if (!strcmp(name, "--force"))
        a->is_forced = true;
      else if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        a->wants_help = true;
      else
        return unknown("option", name, option_names);
      continue;
    }
    if (value) {
      value++;
    } else if (++i < argc) {
      value = argv[i];
    } else {
      fprintf(stderr, "gnncc plan: %s needs a value\n", name);
      return EXIT_USAGE;
    }
    int status = set_option(a, name, value);
    if (status) return status;
  }
  return 0;
}

char *planner_read_file(Arena *arena, const char *path, size_t *length) {
  char *text = strcmp(path, "-") ? arena_read_file(arena, path, length) : arena_read_stream(arena, stdin, length);
  if (text && *length > PROBLEM_MAX_FILE_BYTES) text = NULL, errno = EFBIG;
  if (!text) fprintf(stderr, "gnncc plan: %s: %s\n", shown(path).text, gnn_open_reason(errno));
  return text;
}

const Problem *planner_read_problem(Arena *arena, const char *path, const char *text, size_t length) {
  ProblemError error;
  const Problem *problem = problem_read_json(arena, text, length, &error);
  if (!problem) fprintf(stderr, "%s:%s%s %s\n", shown(path).text, error.place, *error.place ? ":" : "", error.text);
  return problem;
}

int planner_write_plan(const PlannerArguments *a, const PlannerText *made) {
  OutFile file;
  if (!a->output) return EXIT_PLANNED;
  if (!outfile_may_write(a->output, a->is_forced) || !outfile_open(&file, a->output)) return EXIT_FILE;
  fwrite(made->text, 1, made->length, file.out);
  return outfile_close(&file, 0666);
}

static int check_plan(Arena *arena, const char *problem, size_t problem_length, const char *path) {
  size_t length;
  char *plan = planner_read_file(arena, path, &length);
  if (!plan) return EXIT_USAGE;
  return planner_check_json(problem, problem_length, plan, length, stdout, NULL);
}

/* What the plan of each policy takes that --policy makes, which has addresses as ours has. */
static void settle_policies(const Problem *problem, const PlannerOptions *options, PlannerReport *report) {
  for (int policy = 0; policy < POLICY_COUNT; policy++) {
    if (report->policy_ns[policy] < 0 || report->policy_ns[policy] >= COST_INVALID) continue;
    Arena *arena = arena_new();
    PlannerOptions asked = *options;
    PlannerReport theirs;
    asked.policy = policy;
    if (planner_plan(problem, &asked, arena, &theirs)) report->policy_ns[policy] = theirs.makespan_ns;
    arena_free(arena);
  }
}

static int make_plan(Arena *arena, const PlannerArguments *a, const Problem *problem, const char *text, size_t length) {
  PlannerReport report;
  /* The summary goes where the plan does not. */
  FILE *out = a->output && !strcmp(a->output, "-") ? stderr : stdout;
  PlannerText made;
  PlannerPlan *plan = planner_plan_checked(text, length, problem, &a->options, arena, &report, &made);
  if (made.text && !made.is_valid) {
    fprintf(stderr, "gnncc plan: internal error in the planner (this is a bug): the checker rejects its plan: ");
    planner_check_json(text, length, made.text, made.length, stderr, NULL);
    return EXIT_INTERNAL;
  }
  if (a->compares) settle_policies(problem, &a->options, &report);
  if (!plan) {
    plan_report_infeasible(out, problem, &report, a->options.policy);
    if (a->compares) plan_report_policies(out, &report);
    return EXIT_INFEASIBLE;
  }
  plan_report_plan(out, problem, &report, plan);
  if (a->compares) plan_report_policies(out, &report);
  return planner_write_plan(a, &made);
}

static int run(Arena *arena, const PlannerArguments *a) {
  size_t length;
  char *text = planner_read_file(arena, a->problem, &length);
  if (!text) return EXIT_USAGE;
  const Problem *problem = planner_read_problem(arena, a->problem, text, length);
  if (!problem) return EXIT_USAGE;
  if (a->check) return check_plan(arena, text, length, a->check);
  return make_plan(arena, a, problem, text, length);
}

int planner_main(int argc, char **argv) {
  PlannerArguments arguments = {0};
  planner_default_options(&arguments.options);
  int status = planner_parse(argc, argv, &arguments);
  if (status) return status;
  if (arguments.wants_help) {
    fputs(usage, stdout);
    return EXIT_PLANNED;
  }
  if (!arguments.problem) {
    fputs(usage, stderr);
    return EXIT_USAGE;
  }
  if (arguments.more_count) {
    fprintf(stderr, "gnncc plan: one problem at a time; found \"%.80s\" after \"%.80s\"\n", arguments.more[0], arguments.problem);
    return EXIT_USAGE;
  }
  if (arguments.compares && arguments.options.policy >= 0) {
    fprintf(stderr, "gnncc plan: --policy and --compare-policies exclude each other\n");
    return EXIT_USAGE;
  }
  Arena *arena = arena_new();
  status = run(arena, &arguments);
  arena_free(arena);
  return status;
}
