/* train.h: the training loop of a produced program: what it prints, saves and logs, and when it stops. */
#ifndef GNN_TRAIN_H
#define GNN_TRAIN_H

#include "runtime/data/dataset.h"
#include "runtime/job/checkpoint.h"

typedef enum gnn_progress_mode { GNN_PROGRESS_AUTO, GNN_PROGRESS_BAR, GNN_PROGRESS_LINES, GNN_PROGRESS_NONE } gnn_progress_mode;

typedef struct gnn_train_options {
  const char *name;         /* of the executable, before what is said of errors */
  int64_t epochs, runs;
  int64_t every;            /* print and log every n epochs; 0: every evaluation */
  uint64_t seed;
  int has_seed;             /* it was asked for: a checkpoint of another one is refused */
  gnn_dataset *dataset;     /* what the instance was loaded with, where runs differ in their folds; else NULL */
  const char *out;          /* folder; NULL: only where the program keeps or checkpoints, then default_out */
  const char *default_out;  /* "train.out" */
  const char *weights;      /* start from these; NULL: initialise */
  const char *resume;       /* a checkpoint; NULL: none */
  int resumes_newest;       /* --resume without a file: the furthest checkpoint of the folder */
  int logs_csv, logs_jsonl, logs_page;
  const char *board;        /* folder of TensorBoard event files, or NULL */
  gnn_progress_mode progress;
  double time_limit;        /* seconds; 0: none */
  int continues_after_nan, is_quiet, is_verbose;
  int accepts_changed_data; /* a checkpoint of other data is gone on from, too */
  gnn_ranks *ranks;         /* NULL: there is one process. Of several the first writes all files */
  const char *command_line; /* for run.json */
} gnn_train_options;

enum { GNN_EXIT_OK = 0, GNN_EXIT_FAILED = 1, GNN_EXIT_USAGE = 2, GNN_EXIT_NO_ROOM = 3, GNN_EXIT_IO = 4, GNN_EXIT_NUMERIC = 5,
       GNN_EXIT_INTERNAL = 70, GNN_EXIT_AGAIN = 75 };

int gnn_exit_code(gnn_status status);
/* "error[R0801]: message" and the help line, without a newline at the end. */
void gnn_error_text(const gnn_error *error, gnn_text *text);
/* "name: " and that, on stderr. */
void gnn_print_error(const char *program, const gnn_error *error);
/* Of ranks at their end: by the first alone where all have the same. NULL: there is one process, and it is said now. */
void gnn_report_error(gnn_ranks *ranks, const char *program, const gnn_error *error);

/* Header lines of a run: sizes, parameters, seed, plan, baseline. */
void gnn_print_header(const gnn_instance *instance, uint64_t seed);

/* Trains a loaded instance; returns the exit code. Catches INT, TERM, HUP, XCPU, XFSZ, USR1 and USR2 meanwhile. */
int gnn_train(gnn_instance *instance, const gnn_train_options *options);

#endif
