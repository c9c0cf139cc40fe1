/* program.c: gnn_main, the command line of a produced program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <stdio.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "runtime/base/open.h"
#include "runtime/base/partial.h"
#include "runtime/core/builds.h"
#include "runtime/core/device.h"
#include "runtime/core/ranks.h"

typedef enum program_option {
  OPT_DATA, OPT_EPOCHS, OPT_RUNS, OPT_SEED, OPT_THREADS, OPT_WEIGHTS, OPT_RESUME, OPT_OUT, OPT_LOG, OPT_EVERY, OPT_PROGRESS,
  OPT_TIME_LIMIT, OPT_NAN, OPT_DATA_CHANGED, OPT_DETERMINISTIC, OPT_QUIET, OPT_VERBOSE, OPT_HELP, OPT_VERSION, OPT_DEVICE, OPT_SCRATCH,
  OPT_OUTPUT, OPT_CLASSES, OPT_SPLIT, OPT_LAYER, OPT_WARMUP, OPT_JSON, OPT_SAMPLES, OPT_SERIAL, OPT_NO_GRAPH, OPT_FOLD, OPT_CPU, OPT_COUNT
} program_option;

enum { CMD_TRAIN = 1, CMD_EVAL = 2, CMD_PREDICT = 4, CMD_INFO = 8, CMD_CHECK = 16, CMD_BENCH = 32, CMD_GRADCHECK = 64,
       CMD_PROFILE = 128, CMD_GRADIENTS = 256,
       CMD_WITH_DATA = CMD_TRAIN | CMD_EVAL | CMD_PREDICT | CMD_CHECK | CMD_BENCH | CMD_GRADCHECK | CMD_PROFILE | CMD_GRADIENTS,
       CMD_RANKS = CMD_WITH_DATA & ~CMD_GRADCHECK,
       CMD_ALL = 511, CMD_APART = 512 /* of programs for a device with memory of its own */, CMD_BUILDS = 1024 /* of those compiled for several processors */ };

/* Of ranks: an option is given to all of them or none, or with the same value; or each has its own, as a path, how it prints and with how many threads it works. */
typedef enum program_agreement { EACH_ITS_OWN, ALL_OR_NONE, THE_SAME } program_agreement;

/* value: 0 none, 1 needed, 2 may follow after "=" */
static const struct program_row { const char *name, *value_name, *help; int value, commands; program_agreement agreement; } program_rows[OPT_COUNT] = {
  [OPT_DATA] = {"data", "PATH", "read these data instead of those compiled in; any readable form", 1, CMD_WITH_DATA, EACH_ITS_OWN},
  [OPT_EPOCHS] = {"epochs", "N", "epochs of a run", 1, CMD_TRAIN | CMD_BENCH | CMD_CHECK | CMD_PROFILE, THE_SAME},
  [OPT_RUNS] = {"runs", "N", "runs, each with the next seed", 1, CMD_TRAIN, THE_SAME},
  [OPT_SEED] = {"seed", "N", "seed of the first run", 1, CMD_WITH_DATA, THE_SAME},
  [OPT_THREADS] = {"threads", "N", "threads; 0 stands for all processors", 1, CMD_WITH_DATA, EACH_ITS_OWN},
  [OPT_WEIGHTS] = {"weights", "FILE", "safetensors to start from (train), or to use (eval, predict)", 1,
                   CMD_TRAIN | CMD_EVAL | CMD_PREDICT | CMD_GRADCHECK | CMD_GRADIENTS | CMD_BENCH | CMD_PROFILE, ALL_OR_NONE},
  [OPT_RESUME] = {"resume", "[=FILE]", "go on from a checkpoint; without FILE the newest in --out", 2, CMD_TRAIN, ALL_OR_NONE},
  [OPT_OUT] = {"out", "DIR", "folder of weights, checkpoints, logs", 1, CMD_TRAIN | CMD_EVAL | CMD_PREDICT, ALL_OR_NONE},
  [OPT_LOG] = {"log", "csv|jsonl|html|tb=DIR", "write a log into --out (html: a page of curves) or DIR; repeatable", 1, CMD_TRAIN, EACH_ITS_OWN},
  [OPT_EVERY] = {"every", "N", "print and log every N epochs", 1, CMD_TRAIN, THE_SAME},
  [OPT_PROGRESS] = {"progress", "auto|bar|lines|none", "what is printed while it trains", 1, CMD_TRAIN, EACH_ITS_OWN},
  [OPT_TIME_LIMIT] = {"time-limit", "3h50m", "stop with a checkpoint (exit 75) before this time is over", 1, CMD_TRAIN, EACH_ITS_OWN},
  [OPT_NAN] = {"nan", "stop|continue", "what to do when weights, loss or scores are not finite (stop: exit 5)", 1,
               CMD_TRAIN | CMD_EVAL | CMD_PREDICT | CMD_GRADCHECK | CMD_GRADIENTS | CMD_BENCH | CMD_PROFILE, THE_SAME},
  [OPT_DATA_CHANGED] = {"data-changed", "refuse|accept", "what to do with --resume when the data are not those of the checkpoint", 1, CMD_TRAIN, THE_SAME},
  [OPT_DETERMINISTIC] = {"deterministic", NULL, "same bits for any number of threads; always so on this backend", 0, CMD_ALL, EACH_ITS_OWN},
  [OPT_QUIET] = {"quiet", NULL, "errors only (-q)", 0, CMD_ALL, EACH_ITS_OWN},
  [OPT_VERBOSE] = {"verbose", NULL, "every evaluation, and what was done to the data (-v)", 0, CMD_ALL, EACH_ITS_OWN},
  [OPT_HELP] = {"help", NULL, "this text (-h)", 0, CMD_ALL, EACH_ITS_OWN},
  [OPT_VERSION] = {"version", NULL, "name, fingerprint, version", 0, CMD_ALL, EACH_ITS_OWN},
  [OPT_DEVICE] = {"device", "N[,N...]", "which CUDA device; of ranks on one machine each takes one of a list, or the first and those after it", 1, CMD_WITH_DATA | CMD_APART, EACH_ITS_OWN},
  [OPT_SCRATCH] = {"scratch", "DIR", "folder of the SSD tier (plans that have one)", 1, CMD_WITH_DATA | CMD_INFO, EACH_ITS_OWN},
  [OPT_OUTPUT] = {"output", "FILE", "predict: .npy or .csv; gradients: safetensors; profile: JSON, run.json (-o); - is standard output", 1,
                  CMD_PREDICT | CMD_GRADIENTS | CMD_PROFILE, THE_SAME},
  [OPT_CLASSES] = {"classes", NULL, "predict: the class of each row instead of scores", 0, CMD_PREDICT, THE_SAME},
  [OPT_SPLIT] = {"split", "train|valid|test|all", "eval, predict: which rows", 1, CMD_EVAL | CMD_PREDICT, THE_SAME},
  [OPT_LAYER] = {"layer", "NAME", "predict: a named value instead of the scores", 1, CMD_PREDICT, THE_SAME},
  [OPT_WARMUP] = {"warmup", "N", "bench, profile: epochs before the clock starts", 1, CMD_BENCH | CMD_PROFILE, THE_SAME},
  [OPT_JSON] = {"json", NULL, "info, bench: as JSON", 0, CMD_INFO | CMD_BENCH, EACH_ITS_OWN},
  [OPT_SAMPLES] = {"samples", "N", "gradcheck: numbers tried of each weight", 1, CMD_GRADCHECK, THE_SAME},
  [OPT_SERIAL] = {"serial-lanes", NULL, "wait for every copy between the tiers, to see what overlapping them saves", 0, CMD_WITH_DATA, THE_SAME},
  [OPT_FOLD] = {"fold", "K", "the fold that is tested, from 0: of train that run alone, of eval and predict its weights", 1, CMD_WITH_DATA, THE_SAME},
  [OPT_CPU] = {"cpu", "NAME", "run what is compiled for that processor; all have the same bits", 1, CMD_WITH_DATA | CMD_INFO | CMD_BUILDS, EACH_ITS_OWN},
  [OPT_NO_GRAPH] = {"no-graph", NULL, "launch step by step, without a CUDA graph", 0, CMD_WITH_DATA | CMD_APART, THE_SAME},
};

static const struct program_command { const char *name, *help; int bit; int (*run)(const gnn_cli *); } program_commands[] = {
  {"train", "train, print, save (the default)", CMD_TRAIN, gnn_command_train},
  {"eval", "metrics of saved weights", CMD_EVAL, gnn_command_eval},
  {"predict", "scores, classes or a named value of every node into a file", CMD_PREDICT, gnn_command_predict},
  {"info", "fingerprint, shapes, parameters, plan, options; needs no data", CMD_INFO, gnn_command_info},
  {"check", "open data, allocate, run, compare memory with the plan", CMD_CHECK, gnn_command_check},
  {"bench", "median, least and spread of the time of an epoch", CMD_BENCH, gnn_command_bench},
  {"profile", "what every step of an epoch took, beside the plan, into a file", CMD_PROFILE, gnn_command_profile},
  {"gradients", "loss and gradients of the first epoch, of every weight, into a file", CMD_GRADIENTS, gnn_command_gradients},
  {"gradcheck", "gradients against finite differences, in double on a small subgraph", CMD_GRADCHECK, gnn_command_gradcheck},
};
_Static_assert((int)OPT_COUNT <= (int)CLI_OPTIONS, "room for what is given");
enum { PROGRAM_COMMANDS = sizeof program_commands / sizeof *program_commands };

/* Options of gnncc that a program has not: somebody changes the program, and has to make it again (tests/unix/options.sh compares them with gnncc --help). */
static const char *const program_of_gnncc[] = {
  "annotate", "arch", "backend", "budget", "calibrate", "cc", "cflags", "check", "color", "compare", "cuda-compiler", "cut", "diagnostics", "dump", "emit",
  "error-limit", "example", "explain", "force", "format", "gemm", "halos", "lib", "libs", "list", "lsp", "measured", "name", "nvcc", "plan", "plan-effort", "plan-from",
  "plan-time", "policy", "precision", "prefix", "print-std", "print-target", "profile", "ranks", "report", "save-temps", "shapes", "shared", "single-file", "spmm",
  "stop-after", "sweep", "target", "time", "tune", "tuning", "verify",
};
static const char program_letters_of_gnncc[] = "#DEIMOSWXcdfgw";

static int program_is_of_gnncc(const char *word) { /* "-D", "--cut=whole" */
  const size_t length = strcspn(word, "=");
  if (word[0] == '-' && word[1] && word[1] != '-') return strchr(program_letters_of_gnncc, word[1]) != NULL;
  for (size_t i = 0; i < sizeof program_of_gnncc / sizeof *program_of_gnncc; i++)
    if (length == 2 + strlen(program_of_gnncc[i]) && strncmp(word + 2, program_of_gnncc[i], length - 2) == 0) return 1;
  return 0;
}

static int program_usage(gnn_cli *cli, const char *format, const char *a, const char *b) {
  gnn_text_format(&cli->complaint, format, a, b);
  gnn_text_format(&cli->complaint, "\n  more: %s --help", cli->name);
  return GNN_EXIT_USAGE;
}

/* Why an option means nothing to this program, whatever the command; NULL: it may mean something. */
static const char *program_has_no_use(const gnn_cli *cli, const struct program_row *row) {
  if (row->commands & CMD_APART && !gnn_backend_of(cli->program)->is_apart) return "was planned for the processor; gnncc --backend=cuda plans for a GPU";
  if (row->commands & CMD_BUILDS && !cli->builds->also) return "is compiled for one processor";
  return NULL;
}

static int program_has_command(const gnn_cli *cli, int bits) { return cli->program->ranks == NULL || !(bits & CMD_WITH_DATA & ~CMD_RANKS); }

static void program_help(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  printf("usage: %s [command] [options]\n\n%s, trained on %s; compiled from %s by gnncc\n", cli->name, program->name,
         program->data_name, program->source_name);
  if (program->option_count) printf("\noptions of the program, with the values compiled in:\n");
  for (int i = 0; i < program->option_count; i++) {
    int used = printf("  --%s %.9g", program->options[i].name, program->options[i].value);
    printf("%*s %s\n", used < 34 ? 34 - used : 0, "", program->options[i].help ? program->options[i].help : "");
  }
  printf("\ncommands:\n");
  for (int i = 0; i < PROGRAM_COMMANDS; i++)
    if (program_has_command(cli, program_commands[i].bit)) printf("  %-32s %s\n", program_commands[i].name, program_commands[i].help);
  printf("\noptions:\n");
  for (int i = 0; i < OPT_COUNT; i++) {
    char left[64];
    const struct program_row *row = &program_rows[i];
    if (program_has_no_use(cli, row) || (row->commands == CMD_GRADCHECK && !program_has_command(cli, CMD_GRADCHECK))) continue;
    snprintf(left, sizeof left, "--%s%s%s", row->name, row->value == 1 ? " " : "", row->value_name ? row->value_name : "");
    printf("  %-32s %s\n", left, row->help);
  }
  printf("\ndefaults: --epochs %lld --runs %lld --seed %lld --out %s\n"
         "exit codes: 0 done, 1 failed, 2 bad command line, 3 not enough memory, 4 file error, 5 not a number,\n"
         "            75 stopped with a checkpoint (--resume goes on), 128 + N by signal N\n",
         (long long)program->epochs, (long long)program->runs, (long long)program->seed, cli->default_out);
}

/* "90", "45s", "3h50m", "1d": seconds, or -1. */
static double program_duration(const char *text) {
  double total = 0;
  if (*text == 0) return -1;
  while (*text) {
    size_t digits = strspn(text, "0123456789.");
    char copy[32];
    double number;
    if (digits == 0 || digits >= sizeof copy) return -1;
    memcpy(copy, text, digits);
    copy[digits] = 0;
    if (!gnn_parse_number(copy, &number)) return -1;
    text += digits;
    switch (*text) {
    case 0: return total + number;
    case 's': total += number; break;
    case 'm': total += number * 60; break;
    case 'h': total += number * 3600; break;
    case 'd': total += number * 86400; break;
    default: return -1;
    }
    text++;
  }
  return total;
}

static int program_integer(gnn_cli *cli, const char *name, const char *text, int64_t least, int64_t *value) {
  if (gnn_parse_integer(text, value) && *value >= least) return 0;
  const int is_beyond = text[0] && strspn(text, "0123456789") == strlen(text) && !gnn_parse_integer(text, value);
  gnn_text_format(&cli->complaint, "--%s needs a whole number of at least %lld%s, not \"%s\"", name, (long long)least, is_beyond ? ", and below 2^63" : "", text);
  return GNN_EXIT_USAGE;
}

static int program_set_log(gnn_cli *cli, const char *value) {
  if (strcmp(value, "csv") == 0) cli->logs_csv = 1;
  else if (strcmp(value, "jsonl") == 0) cli->logs_jsonl = 1;
  else if (strcmp(value, "html") == 0) cli->logs_page = 1;
  else if (strncmp(value, "tb=", 3) == 0 && value[3]) cli->board = value + 3;
  else return program_usage(cli, "--log takes csv, jsonl, html or tb=DIR, not \"%s\"%s", value, "");
  return 0;
}

static int program_set_data(gnn_cli *cli, const char *value) {
  size_t length = strlen(cli->program->data_name);
  int is_named = strncmp(value, cli->program->data_name, length) == 0 && value[length] == '=';
  cli->data = is_named ? value + length + 1 : value;
  return 0;
}

/* "0", or for ranks "0,1", each of them once. */
static int program_set_devices(gnn_cli *cli, const char *value) {
  enum { MOST = 1023 };
  char most[16], of_machine[16];
  snprintf(most, sizeof most, "%d", MOST);
  snprintf(of_machine, sizeof of_machine, "%d", CLI_DEVICES);
  const int is_list = strchr(value, ',') != NULL;
  if (is_list && !cli->program->ranks) return program_usage(cli, "--device %s: this program is for one GPU, as --device 0; gnncc --ranks=%s makes one for several, of which each process takes one", value, "2");
  cli->device_count = 0;
  for (const char *at = value;; at++) {
    char text[16];
    int64_t number;
    const size_t length = strcspn(at, ",");
    snprintf(text, sizeof text, "%.*s", (int)length, at);
    if (length >= sizeof text) return program_usage(cli, "--device %s: there is no such number%s", value, "");
    const int code = program_integer(cli, "device", text, 0, &number);
    if (code != 0) return code;
    if (number > MOST) return program_usage(cli, "--device %s is more than %s", value, most);
    for (int k = 0; k < cli->device_count; k++)
      if (cli->devices[k] == number) return program_usage(cli, "--device %s names device %s twice", value, text);
    if (cli->device_count == CLI_DEVICES) return program_usage(cli, "--device %s: a machine has at most %s", value, of_machine);
    cli->devices[cli->device_count++] = (int)number;
    at += length;
    if (*at == 0) return 0;
  }
}

/* Applies one option; value is NULL where there is none. */
static int program_set(gnn_cli *cli, program_option option, const char *value) {
  static const char *const modes[] = {"auto", "bar", "lines", "none"};
  int64_t number;
  int code = 0;
  const char *name = program_rows[option].name;
  cli->given[option] = gnn_ranks_number(value ? value : "");
  switch (option) {
  case OPT_DATA: return program_set_data(cli, value);
  case OPT_EPOCHS: return program_integer(cli, name, value, 0, &cli->epochs);
  case OPT_RUNS:
    code = program_integer(cli, name, value, 1, &cli->runs);
    if (code == 0 && cli->runs > GNN_FINISHED_MAX) return program_usage(cli, "--runs %s is more than %s", value, "4096");
    return code;
  case OPT_SEED:
    code = program_integer(cli, name, value, 0, &number);
    cli->has_seed = 1;
    if (code == 0) cli->seed = (uint64_t)number;
    return code;
  case OPT_THREADS:
    code = program_integer(cli, name, value, 0, &cli->threads);
    if (code == 0 && cli->threads > 4096) return program_usage(cli, "--threads %s is more than %s", value, "4096");
    return code;
  case OPT_WEIGHTS: cli->weights = value; return 0;
  case OPT_RESUME:
    cli->resume = value;
    cli->resumes_newest = value == NULL;
    return 0;
  case OPT_OUT: cli->out = value; return 0;
  case OPT_LOG: return program_set_log(cli, value);
  case OPT_EVERY: return program_integer(cli, name, value, 1, &cli->every);
  case OPT_PROGRESS:
    for (int m = 0; m < 4; m++) {
      if (strcmp(value, modes[m]) != 0) continue;
      cli->progress = (gnn_progress_mode)m;
      return 0;
    }
    return program_usage(cli, "--progress takes auto, bar, lines or none, not \"%s\"%s", value, "");
  case OPT_TIME_LIMIT:
    cli->time_limit = program_duration(value);
    return cli->time_limit > 0 ? 0 : program_usage(cli, "--time-limit takes a time such as 3h50m, not \"%s\"%s", value, "");
  case OPT_NAN:
    cli->continues_after_nan = strcmp(value, "continue") == 0;
    return cli->continues_after_nan || strcmp(value, "stop") == 0
             ? 0 : program_usage(cli, "--nan takes stop or continue, not \"%s\"%s", value, "");
  case OPT_DATA_CHANGED:
    cli->accepts_changed_data = strcmp(value, "accept") == 0;
    return cli->accepts_changed_data || strcmp(value, "refuse") == 0
             ? 0 : program_usage(cli, "--data-changed takes refuse or accept, not \"%s\"%s", value, "");
  case OPT_DETERMINISTIC: return 0;
  case OPT_QUIET: cli->is_quiet = 1; return 0;
  case OPT_VERBOSE: cli->is_verbose = 1; return 0;
  case OPT_DEVICE:
    return program_set_devices(cli, value);
  case OPT_NO_GRAPH: cli->has_no_graph = 1; return 0;
  case OPT_CPU: cli->cpu = value; return 0;
  case OPT_SCRATCH: cli->scratch = value; return 0;
  case OPT_OUTPUT: cli->output = value; return 0;
  case OPT_CLASSES: cli->wants_classes = 1; return 0;
  case OPT_SPLIT: cli->split = value; return 0;
  case OPT_LAYER: cli->layer = value; return 0;
  case OPT_WARMUP: return program_integer(cli, name, value, 0, &cli->warmup);
  case OPT_JSON: cli->is_json = 1; return 0;
  case OPT_SAMPLES: return program_integer(cli, name, value, 1, &cli->samples);
  case OPT_FOLD:
    code = program_integer(cli, name, value, 0, &cli->fold);
    if (code == 0 && cli->program->fold_count == 0) return program_usage(cli, "--fold %s: the data of this program are not cut into folds%s", value, "");
    return code;
  case OPT_SERIAL: cli->is_serial = 1; return 0;
  default: return GNN_EXIT_INTERNAL;
  }
}

static int program_unknown(gnn_cli *cli, const char *name) {
  const char *candidates[OPT_COUNT + GNN_OPTION_MAX];
  int count = 0;
  for (int i = 0; i < cli->program->option_count && i < GNN_OPTION_MAX; i++) candidates[count++] = cli->program->options[i].name;
  for (int i = 0; i < OPT_COUNT; i++) candidates[count++] = program_rows[i].name;
  const char *near = gnn_nearest(name, candidates, count);
  if (near) return program_usage(cli, "unknown option --%s; did you mean --%s?", name, near);
  return program_usage(cli, "unknown option --%s%s", name, "");
}

/* argv[*at] begins with "--"; takes its value from there or from the next word. */
static int program_long_option(gnn_cli *cli, int bit, int argc, char **argv, int *at) {
  char name[256]; /* the compiler allows names of 255 characters */
  const char *word = argv[*at] + 2, *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  if (length >= sizeof name) return program_unknown(cli, word);
  memcpy(name, word, length);
  name[length] = 0;
  int own = -1, common = -1;
  for (int i = 0; i < cli->program->option_count && i < GNN_OPTION_MAX; i++)
    if (strcmp(cli->program->options[i].name, name) == 0) own = i;
  for (int i = 0; i < OPT_COUNT && own < 0; i++)
    if (strcmp(program_rows[i].name, name) == 0) common = i;
  if (own < 0 && common < 0 && program_is_of_gnncc(argv[*at])) return program_usage(cli, "--%s is an option of gnncc, when the program is made%s", name, "");
  if (own < 0 && common < 0) return program_unknown(cli, name);
  int wants = own >= 0 ? 1 : program_rows[common].value;
  const char *value = equals ? equals + 1 : NULL;
  if (wants == 0 && value) return program_usage(cli, "--%s takes no value%s", name, "");
  if (wants == 1 && value == NULL) {
    if (*at + 1 >= argc) return program_usage(cli, "--%s needs a value%s", name, "");
    value = argv[++*at];
  }
  if (own >= 0) {
    double *given = &cli->option[own];
    if (!gnn_parse_number(value, given)) return program_usage(cli, "--%s needs a number, not \"%s\"", name, value);
    if (*given < 0 && cli->program->rate_option && strcmp(cli->program->options[own].name, cli->program->rate_option) == 0)
      return program_usage(cli, "--%s is the learning rate: %s is below 0", name, value);
    gnn_text why = {0};
    if (!gnn_option_is_wrong(&cli->program->options[own], *given, &why)) return 0;
    program_usage(cli, "--%s %s", name, why.data ? why.data : "is out of its bounds");
    gnn_text_free(&why);
    return GNN_EXIT_USAGE;
  }
  const char *useless = program_has_no_use(cli, &program_rows[common]);
  if (useless) return program_usage(cli, "--%s: this program %s", name, useless);
  if (!(program_rows[common].commands & bit))
    return program_usage(cli, "--%s means nothing to this command%s", name, "");
  return program_set(cli, (program_option)common, value);
}

static int program_short_option(gnn_cli *cli, int bit, int argc, char **argv, int *at) {
  const char *word = argv[*at];
  if (strcmp(word, "-q") == 0) return program_set(cli, OPT_QUIET, NULL);
  if (strcmp(word, "-v") == 0) return program_set(cli, OPT_VERBOSE, NULL);
  if (strcmp(word, "-o") == 0) {
    if (!(bit & (CMD_PREDICT | CMD_GRADIENTS | CMD_PROFILE))) return program_usage(cli, "-o means nothing to this command%s%s", "", "");
    if (*at + 1 >= argc) return program_usage(cli, "-o needs a file%s%s", "", "");
    return program_set(cli, OPT_OUTPUT, argv[++*at]);
  }
  return program_usage(cli, program_is_of_gnncc(word) ? "%s is an option of gnncc, when the program is made%s" : "unknown option %s%s", word, "");
}

static const struct program_command *program_find_command(const char *word) {
  for (int i = 0; i < PROGRAM_COMMANDS; i++)
    if (strcmp(program_commands[i].name, word) == 0) return &program_commands[i];
  return NULL;
}

static int program_unknown_command(gnn_cli *cli, const char *word) {
  const char *names[PROGRAM_COMMANDS];
  for (int i = 0; i < PROGRAM_COMMANDS; i++) names[i] = program_commands[i].name;
  const char *near = gnn_nearest(word, names, PROGRAM_COMMANDS);
  if (near) return program_usage(cli, "unknown command \"%s\"; did you mean %s?", word, near);
  return program_usage(cli, "unknown command \"%s\"%s", word, "");
}

static char *program_command_line(int argc, char **argv) {
  gnn_text text = {0};
  for (int i = 0; i < argc; i++) gnn_text_format(&text, "%s%s", i ? " " : "", argv[i]);
  if (text.is_broken) gnn_text_free(&text);
  return text.data;
}

/* What runs, of a program that is compiled for several processors. What is only told needs none of them. */
static int program_choose_build(gnn_cli *cli, int bit) {
  gnn_error error;
  const gnn_status status = gnn_builds_choose(cli->builds, cli->cpu, &cli->program, &error);
  if (status == GNN_OK || (status == GNN_EDEVICE && !(bit & CMD_WITH_DATA))) return 0;
  gnn_error_text(&error, &cli->complaint);
  return status == GNN_EINVAL ? GNN_EXIT_USAGE : GNN_EXIT_NO_ROOM;
}

/* Text of ranks after the first goes nowhere, but for errors, which say whose they are. */
static void program_hush(gnn_cli *cli, gnn_text *name) {
  if (gnn_ranks_is_first(cli->ranks)) return;
  cli->is_quiet = 1;
  cli->is_verbose = 0;
  gnn_text_format(name, "%s: rank %d", cli->name, cli->ranks->rank);
  if (name->data) cli->name = name->data;
  if (freopen("/dev/null", "w", stdout) == NULL) fclose(stdout);
}

/* A list has one for each rank of this machine. */
static int program_has_devices(const gnn_cli *cli) {
  if (cli->device_count < 2 || cli->device_count >= cli->ranks->together) return 1;
  return gnn_cli_refuse(cli, 0, "--device names %d GPUs, and %d ranks run on this machine", cli->device_count, cli->ranks->together);
}

/* Before anything else is done, all ranks have the same command, and the same of each option that makes a difference. */
static gnn_status program_is_alike(const gnn_cli *cli, const struct program_command *command, int is_wrong, gnn_error *error) {
  gnn_alike own[2 + OPT_COUNT + GNN_OPTION_MAX] = {{"another ", "command line", is_wrong != 0}, {"another ", "command", command ? command->bit : 0}};
  int count = 2;
  for (int i = 0; i < OPT_COUNT; i++)
    if (program_rows[i].agreement != EACH_ITS_OWN) own[count++] = (gnn_alike){"another --", program_rows[i].name, program_rows[i].agreement == THE_SAME ? cli->given[i] : cli->given[i] != 0};
  for (int i = 0; i < cli->program->option_count && i < GNN_OPTION_MAX; i++) {
    own[count] = (gnn_alike){"another --", cli->program->options[i].name, 0};
    memcpy(&own[count++].number, &cli->option[i], sizeof cli->option[i]);
  }
  return gnn_ranks_are_alike(cli->ranks, own, count, "ranks have the same command line; paths, --threads, --device and how much is printed may be each one's own", error);
}

/* A command line that is wrong (code is not 0) may be right on other ranks, which are not to wait. */
static int program_run_ranks(gnn_cli *cli, const struct program_command *command, int code) {
  gnn_error error;
  gnn_text name = {0};
  gnn_status status = gnn_ranks_begin(cli->program, cli->name, &cli->ranks, &error);
  if (cli->ranks == NULL) return gnn_cli_fail(cli, status, &error);
  if (status == GNN_OK) status = program_is_alike(cli, command, code, &error);
  if (code != 0) {
    gnn_ranks_complain(cli->ranks, cli->complaint.data ? cli->complaint.data : "no memory", NULL);
  } else if (status != GNN_OK) {
    code = gnn_cli_fail(cli, status, &error);
  } else {
    program_hush(cli, &name);
    code = program_has_devices(cli) ? command->run(cli) : GNN_EXIT_USAGE;
  }
  gnn_ranks_end(cli->ranks, code, code == GNN_EXIT_AGAIN || code > 128);
  gnn_text_free(&name);
  return code;
}

/* What all ranks have to say without a net, the first says. */
static int program_is_told(const gnn_cli *cli) { return gnn_ranks_launched(cli->program) > 0; }

/* What needs no command: 1, and it is printed. */
static int program_tells(const gnn_cli *cli, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const int is_help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    const int is_version = strcmp(argv[i], "--version") == 0;
    if (!is_help && !is_version) continue;
    if (program_is_told(cli)) return 1;
    if (is_help) program_help(cli);
    else printf("%s (gnncc runtime, version %d of its interface)\nfingerprint %s\n", cli->program->name, GNN_ABI, cli->program->fingerprint);
    return 1;
  }
  return 0;
}

/* *command stays NULL where there is none of that name. */
static int program_parse(gnn_cli *cli, int argc, char **argv, const struct program_command **command) {
  const int has_word = argc > 1 && argv[1][0] != '-';
  *command = program_find_command(has_word ? argv[1] : "train");
  if (*command == NULL) return program_unknown_command(cli, argv[1]);
  for (int i = 1 + has_word; i < argc; i++) {
    int code;
    if (strncmp(argv[i], "--", 2) == 0 && argv[i][2]) code = program_long_option(cli, (*command)->bit, argc, argv, &i);
    else if (argv[i][0] == '-' && argv[i][1]) code = program_short_option(cli, (*command)->bit, argc, argv, &i);
    else code = program_usage(cli, "unexpected \"%s\"; the command comes first%s", argv[i], "");
    if (code != 0) return code;
  }
  const int code = program_choose_build(cli, (*command)->bit);
  if (code == 0 && !program_has_command(cli, (*command)->bit))
    return program_usage(cli, "%s works in one process: compile it without --ranks; weights and checkpoints are the same%s", (*command)->name, "");
  return code;
}

static int program_parse_and_run(gnn_cli *cli, int argc, char **argv) {
  const struct program_command *command;
  if (program_tells(cli, argc, argv)) return GNN_EXIT_OK;
  const int code = program_parse(cli, argc, argv, &command), is_of_ranks = cli->program->ranks && (command == NULL || command->bit & CMD_WITH_DATA);
  if (is_of_ranks && (code == 0 || gnn_ranks_launched(cli->program) >= 0)) return program_run_ranks(cli, command, code);
  if (program_is_told(cli)) return code;
  if (code == 0) return command->run(cli);
  return gnn_cli_refuse(cli, code, "%s", cli->complaint.data ? cli->complaint.data : "no memory");
}

/* Who reads what is printed may have seen enough. */
static int program_is_pipe_closed(void) {
  struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

/* What is freed goes back to the system at once, and threads share what they seldom allocate from. */
static void program_tune_memory(void) {
#ifdef __GLIBC__
  enum { MAPPED_BYTES = 1 << 17 };
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES); /* left alone, it grows with what is freed */
  mallopt(M_TRIM_THRESHOLD, MAPPED_BYTES);
#endif
}

/* As the user called it, without folders. */
static const char *program_called(int argc, char **argv, const gnn_program *program) {
  if (argc == 0 || !argv[0][0]) return program->name;
  const char *slash = strrchr(argv[0], '/');
  return slash && slash[1] ? slash + 1 : argv[0];
}

int gnn_main(int argc, char **argv, const gnn_program *program) {
  program_tune_memory();
  gnn_open_standard();
  gnn_partial_on_signals(0, NULL);
  gnn_cli *cli = calloc(1, sizeof *cli);
  char *line = program_command_line(argc, argv);
  if (cli == NULL || line == NULL) {
    gnn_error error;
    gnn_fail_memory(&error, 0);
    gnn_print_error(program_called(argc, argv, program), &error);
    free(cli);
    free(line);
    return GNN_EXIT_NO_ROOM;
  }
  cli->program = cli->builds = program;
  cli->name = program_called(argc, argv, program);
  snprintf(cli->default_out, sizeof cli->default_out, "%s.out", cli->name);
  cli->epochs = cli->runs = cli->warmup = cli->fold = -1;
  cli->samples = 8;
  cli->seed = (uint64_t)program->seed;
  for (int i = 0; i < program->option_count && i < GNN_OPTION_MAX; i++) cli->option[i] = program->options[i].value;
  cli->command_line = line;
  int code = program_parse_and_run(cli, argc, argv);
  free(line);
  gnn_text_free(&cli->complaint);
  if ((fflush(stdout) != 0 || ferror(stdout)) && !program_is_pipe_closed()) {
    fprintf(stderr, "%s: error: cannot write to standard output\n", cli->name);
    if (code == GNN_EXIT_OK) code = GNN_EXIT_IO;
  }
  free(cli);
  return code;
}
