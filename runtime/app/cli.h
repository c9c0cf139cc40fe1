/* cli.h: the command line of a produced program, and its commands. */
#ifndef GNN_CLI_H
#define GNN_CLI_H

#include "train.h"
#include "runtime/data/fill.h"

enum { CLI_DEVICES = 64, CLI_OPTIONS = 40 };

typedef struct gnn_cli {
  const gnn_program *program; /* that runs, of those from `builds` on (core/builds.h) */
  const gnn_program *builds;
  gnn_ranks *ranks;        /* this process is one of them; NULL: there are none */
  const char *name;        /* of the executable, without folders */
  double option[GNN_OPTION_MAX];
  const char *data, *out, *weights, *resume, *board, *output, *split, *layer, *scratch, *cpu;
  char default_out[264]; /* a file's name and its ending */
  int64_t epochs, runs, every, warmup, threads, fold; /* epochs, runs, warmup, fold: -1 where not given */
  int64_t samples;
  int devices[CLI_DEVICES], device_count, has_no_graph; /* a list of more than one is for the ranks of a machine, in turn */
  int has_seed;
  uint64_t seed;
  int resumes_newest, logs_csv, logs_jsonl, logs_page, continues_after_nan, accepts_changed_data, is_quiet, is_verbose, is_json, wants_classes, is_serial;
  gnn_progress_mode progress;
  double time_limit;
  int64_t given[CLI_OPTIONS]; /* of each option that all programs have, what was said, as a number; 0: nothing */
  gnn_text complaint;         /* what is wrong with the command line, until it is said */
  const char *command_line;
} gnn_cli;

/* Of an instance, as the command line has them: pages are not touched beforehand. */
gnn_instance_options gnn_cli_options(const gnn_cli *cli);
/* The data alone. */
gnn_status gnn_cli_open_data(const gnn_cli *cli, gnn_dataset **dataset, gnn_error *error);
/* Ranks have read the same: R0809. All of them ask. */
gnn_status gnn_cli_data_are_alike(const gnn_instance *instance, gnn_error *error);
int gnn_cli_fail(const gnn_cli *cli, gnn_status status, const gnn_error *error);
/* And of what cannot be done: of ranks, as errors are, at the end, and by the first alone where all have the same. Returns the exit code that it is given. */
int gnn_cli_refuse(const gnn_cli *cli, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Commands: each returns the exit code. */
int gnn_command_train(const gnn_cli *cli);
int gnn_command_eval(const gnn_cli *cli);
int gnn_command_predict(const gnn_cli *cli);
int gnn_command_info(const gnn_cli *cli);
int gnn_command_check(const gnn_cli *cli);
int gnn_command_bench(const gnn_cli *cli);
int gnn_command_profile(const gnn_cli *cli);
int gnn_command_gradients(const gnn_cli *cli);
int gnn_command_gradcheck(const gnn_cli *cli);

#endif
