/* logs.h: what happened, for spreadsheets, tools and TensorBoard. */
#ifndef GNN_LOGS_H
#define GNN_LOGS_H

#include <stdio.h>

#include "log_page.h"

typedef struct gnn_log_file {
  FILE *file; /* NULL: not written */
  char *path;
  int errno_value; /* of the first write that failed; nothing is written after it */
} gnn_log_file;

typedef struct gnn_logs {
  gnn_log_file csv, jsonl, board;
  gnn_log_page page;
  const gnn_program *program;
  int shows[GNN_SPLIT_COUNT];
} gnn_logs;

typedef struct gnn_log_row {
  int64_t run, epoch;  /* run from 0 */
  double loss, lr, seconds; /* lr NaN: the program has no such option */
  int is_evaluated;
  gnn_result result[GNN_SPLIT_COUNT];
  int64_t device_bytes, host_bytes, ssd_bytes;
  const gnn_keeper *keeper;
  const char *changed_data; /* what of the data had changed and was accepted; "": nothing. For log.jsonl alone */
} gnn_log_row;

/* Appends to FOLDER/log.csv and log.jsonl, and to a new event file in board_folder; NULL folders: none of it. */
gnn_status gnn_logs_open(gnn_logs *logs, const gnn_program *program, const char *csv_folder, const char *jsonl_folder,
                         const char *board_folder, int is_resumed, gnn_error *error);
/* FOLDER/log.html of the logs that are open (log_page.h); run and epoch: those that a resumed training goes on from. */
gnn_status gnn_logs_open_page(gnn_logs *logs, const char *folder, uint64_t seed, int is_resumed, int64_t run, int64_t epoch, gnn_error *error);
void gnn_logs_row(gnn_logs *logs, const gnn_log_row *row);
gnn_status gnn_logs_close(gnn_logs *logs, gnn_error *error); /* zeroed is fine; fails where any write did, and names the files */

#endif
