/* cli_session.c: what the commands of a produced program begin with. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_session.h"
#include "runtime/base/processor.h"
#include "runtime/core/lanes.h"
#include "runtime/core/ranks.h"
#include "runtime/data/fill_ranks.h"
#include "runtime/job/checkpoint.h"

int gnn_cli_fail(const gnn_cli *cli, gnn_status status, const gnn_error *error) {
  gnn_report_error(cli->ranks, cli->name, error);
  return gnn_exit_code(status);
}

int gnn_cli_refuse(const gnn_cli *cli, int code, const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) text = NULL;
  va_end(args);
  if (cli->ranks) gnn_ranks_complain(cli->ranks, text ? text : "no memory", NULL);
  else fprintf(stderr, "%s: %s\n", cli->name, text ? text : "no memory");
  free(text);
  return code;
}

static void session_print_notes(const gnn_dataset *dataset) {
  for (int i = 0; i < dataset->note_count; i++) {
    const gnn_note *note = &dataset->notes[i];
    if (note->code[0]) fprintf(stderr, "%s: warning[%s]: %s\n", dataset->name, note->code, note->text);
    else fprintf(stderr, "%s: %s\n", dataset->name, note->text);
  }
}

gnn_status gnn_cli_open_data(const gnn_cli *cli, gnn_dataset **dataset, gnn_error *error) {
  gnn_status status = cli->data ? gnn_dataset_open_path(cli->data, dataset, error)
                                : gnn_dataset_open(&cli->program->source, NULL, dataset, error);
  if (status != GNN_OK) {
    if (!cli->data && strcmp(error->code, "E0001") == 0)
      gnn_fail_help(error, "paths are relative to the working directory; or say where: --data PATH");
    return status;
  }
  status = gnn_prepare_for_rank(cli->ranks, cli->program, *dataset, error);
  if (status != GNN_OK) {
    gnn_dataset_close(*dataset);
    *dataset = NULL;
    return status;
  }
  if (cli->fold >= 0) {
    (*dataset)->is_fold_fixed = 1;
    status = gnn_dataset_choose_fold(*dataset, cli->fold, error);
    if (status != GNN_OK) {
      gnn_dataset_close(*dataset);
      *dataset = NULL;
      return status;
    }
  }
  if (cli->is_verbose) session_print_notes(*dataset);
  return GNN_OK;
}

static void session_note(void *user, const char *text) { fprintf(stderr, "%s: %s\n", ((const gnn_cli *)user)->name, text); }

/* Where none were asked for, ranks on one machine share its processors. */
static int session_threads(const gnn_cli *cli) {
  if (cli->ranks == NULL || cli->threads > 0) return (int)cli->threads;
  const int threads = gnn_usable_processors() / cli->ranks->together;
  return threads > 1 ? threads : 1;
}

/* Of a list, ranks on one machine take one each. */
static int session_device(const gnn_cli *cli) { return cli->device_count > 1 ? cli->devices[cli->ranks->here] : cli->devices[0]; }

gnn_instance_options gnn_cli_options(const gnn_cli *cli) {
  const char *graph = getenv("GNN_CUDA_GRAPH");
  return (gnn_instance_options){.threads = session_threads(cli), .is_serial = cli->is_serial, .scratch = cli->scratch,
                                .temporary = getenv("TMPDIR"), .continues_after_nan = cli->continues_after_nan, .device = session_device(cli), .is_device_own = cli->device_count > 1,
                                .ranks = cli->ranks, .has_no_graph = cli->has_no_graph || (graph && strcmp(graph, "0") == 0),
                                .note = session_note, .note_user = (void *)(uintptr_t)cli};
}

/* What a lane could not have as it should is said once. */
static void session_print_scratch(const gnn_cli *cli, const gnn_instance *instance) {
  gnn_text text = {0};
  gnn_lanes_scratch_text(&instance->run, &text);
  if (text.data) fprintf(stderr, "%s: scratch %s\n", cli->name, text.data);
  gnn_text_free(&text);
}

gnn_status gnn_cli_data_are_alike(const gnn_instance *instance, gnn_error *error) {
  static const char *const words[GNN_CONTENT_COUNT] = {"edges", "features", "labels", "splits"}, help[] = "all ranks read the same files: a folder that all machines share";
  gnn_ranks *ranks = instance->run.ranks;
  gnn_alike own[GNN_CONTENT_COUNT];
  int64_t features[GNN_RANKS_MOST][2];
  if (ranks == NULL) return GNN_OK;
  for (int c = 0; c < GNN_CONTENT_COUNT; c++) own[c] = (gnn_alike){"other ", words[c], instance->read[c]};
  gnn_status status = gnn_ranks_are_alike(ranks, own, GNN_CONTENT_COUNT, help, error);
  if (status != GNN_OK) return status;
  gnn_ranks_tell(ranks, instance->read_features, 2, features[0]);
  for (int r = ranks->count - 1; r >= 0; r--) {
    const int beside = gnn_rank_beside(ranks, r);
    if (features[r][1] == features[beside][0]) continue;
    status = gnn_fail(error, GNN_EDATA, "R0809", "rank %d has other features than rank %d", r > beside ? r : beside, r > beside ? beside : r);
    gnn_fail_help(error, "%s", help);
    return status;
  }
  return GNN_OK;
}

int gnn_session_open(const gnn_cli *cli, gnn_session *session) {
  gnn_error error;
  gnn_instance *instance = NULL;
  gnn_dataset *dataset = NULL;
  gnn_instance_options options = gnn_cli_options(cli);
  options.populate = options.grows = 1;
  options.loading_bytes = cli->data ? 0 : cli->program->loading_bytes;
  *session = (gnn_session){0};
  gnn_status status = gnn_instance_create(cli->program, &options, &instance, &error);
  if (status == GNN_OK) status = gnn_cli_open_data(cli, &dataset, &error);
  if (status == GNN_OK) status = gnn_instance_take(instance, &dataset, cli->program->fold_count > 0, &error); /* runs with folds come back to them */
  if (status == GNN_OK) status = gnn_cli_data_are_alike(instance, &error);
  if (status != GNN_OK) {
    gnn_dataset_close(dataset);
    gnn_instance_destroy(instance);
    return gnn_cli_fail(cli, status, &error);
  }
  gnn_instance_touch(instance);
  memcpy(instance->run.option, cli->option, sizeof instance->run.option);
  status = gnn_instance_reset(instance, cli->seed, &error);
  if (status != GNN_OK) {
    gnn_instance_destroy(instance);
    gnn_dataset_close(dataset);
    return gnn_cli_fail(cli, status, &error);
  }
  if (cli->is_verbose) session_print_scratch(cli, instance);
  *session = (gnn_session){instance, dataset};
  return GNN_EXIT_OK;
}

void gnn_session_close(const gnn_session *session) {
  gnn_instance_destroy(session->instance);
  gnn_dataset_close(session->dataset);
}

/* The weights that train left in a folder; of several runs those of the first, or of the fold. *path NULL: none. */
static gnn_status session_find_weights(const char *folder, int64_t fold, char **path, gnn_error *error) {
  char best[48], last[48];
  snprintf(best, sizeof best, "run%lld/best.safetensors", (long long)(fold < 0 ? 0 : fold));
  snprintf(last, sizeof last, "run%lld/last.safetensors", (long long)(fold < 0 ? 0 : fold));
  const char *const names[] = {"best.safetensors", "last.safetensors", best, last};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    *path = gnn_path_join(folder, names[i]);
    if (*path == NULL) return gnn_fail_memory(error, 256);
    if (gnn_path_exists(*path)) return GNN_OK;
    free(*path);
    *path = NULL;
  }
  return GNN_OK;
}

int gnn_session_open_trained(const gnn_cli *cli, gnn_session *session) {
  int code = gnn_session_open(cli, session);
  if (code != GNN_EXIT_OK) return code;
  const char *folder = cli->out ? cli->out : cli->default_out;
  char *found = NULL;
  gnn_error error;
  gnn_status status = GNN_OK;
  const int has_none = cli->program->weight_count == 0 && cli->weights == NULL; /* a model without weights has nothing to load */
  if (cli->weights == NULL && !has_none) status = session_find_weights(folder, cli->fold, &found, &error);
  const char *from = cli->weights ? cli->weights : found;
  if (status == GNN_OK && from == NULL && !has_none) {
    status = gnn_fail(&error, GNN_EIO, "", "there are no saved weights in \"%s\"", folder);
    gnn_fail_help(&error, "train first, or name a file: --weights FILE");
  } else if (status == GNN_OK && !has_none) {
    status = gnn_weights_load(session->instance, from, &error);
    if (status == GNN_OK && !cli->is_quiet) fprintf(stderr, "%s: weights from %s\n", cli->name, from);
  }
  free(found);
  if (status == GNN_OK) return GNN_EXIT_OK;
  gnn_session_close(session);
  return gnn_cli_fail(cli, status, &error);
}

int gnn_cli_split(const gnn_cli *cli) {
  if (cli->split == NULL || strcmp(cli->split, "all") == 0) return GNN_SPLIT_COUNT;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    if (strcmp(cli->split, gnn_split_names[s]) == 0) return s;
  return gnn_cli_refuse(cli, -1, "--split takes train, valid, test or all, not \"%s\"", cli->split);
}

const char *gnn_cli_row_word(const gnn_program *program) {
  static const char *const words[] = {[GNN_NODE] = "node", [GNN_EDGE] = "edge", [GNN_GRAPH] = "graph", [GNN_TYPE] = "node", [GNN_RELATION] = "pair"};
  return words[program->scores_domain];
}
