/* loop.h: the state of a training loop, shared by what runs it (train.c) and what prints it (console.c). */
#ifndef GNN_LOOP_H
#define GNN_LOOP_H

#include "logs.h"
#include "train.h"

typedef struct gnn_loop {
  gnn_instance *instance;
  const gnn_program *program;
  const gnn_train_options *options;
  gnn_error error;
  gnn_snapshot best;
  gnn_progress progress;
  gnn_logs logs;
  const char *out;      /* folder, or NULL: nothing is saved */
  int claim;            /* descriptor that holds the folder's lock, or -1 */
  char *last_saved;     /* path of the latest checkpoint or NULL: of this session, or the one resumed */
  int64_t last_saved_epoch;
  int has_live_line, is_plain, is_live_shown;
  int64_t row_step;     /* rows at multiples of it */
  double started, run_started, last_row, last_live, row_seconds;
  int64_t row_epochs;   /* since the last row */
  double epoch_seconds; /* of the latest epoch, evaluation included */
  gnn_result result[GNN_SPLIT_COUNT];
} gnn_loop;

int gnn_loop_shows(const gnn_loop *loop, int split);
int64_t gnn_loop_parameters(const gnn_program *program);
int gnn_loop_rate_option(const gnn_program *program); /* which option is the learning rate; -1: none */
/* How many rows and lines this run prints, from the options and what stdout is. */
void gnn_loop_choose_rows(gnn_loop *loop);
int gnn_loop_wants_row(const gnn_loop *loop, int64_t epoch, int is_evaluated);
void gnn_loop_table_head(const gnn_loop *loop);
void gnn_loop_row(gnn_loop *loop, int is_evaluated);
/* Renews the live line ten times a second on a terminal; is_asked: prints it once as a line of its own. */
void gnn_loop_live(gnn_loop *loop, int is_asked);
void gnn_loop_erase_live(gnn_loop *loop);
/* A line for each metric after the first, and what could not be measured. */
void gnn_loop_print_further(const gnn_loop *loop, const gnn_result *result);
void gnn_loop_print_results(const gnn_loop *loop, const gnn_result *result);
/* Mean and deviation over the runs, and hints. */
void gnn_loop_closing(const gnn_loop *loop);

#endif
