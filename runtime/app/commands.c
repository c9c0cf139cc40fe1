/* commands.c: what a produced program does, a function a command. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "runtime/core/device.h"
#include "runtime/core/home.h"
#include "runtime/core/scores.h"
#include "runtime/base/processor.h"
#include "runtime/core/builds.h"
#include "runtime/core/lanes.h"
#include "runtime/core/ranks.h"
#include "runtime/core/adjacency.h"
#include "runtime/data/batches.h"
#include "runtime/data/fill_ranks.h"
#include "runtime/data/npy.h"
#include "runtime/job/epoch.h"

int gnn_cli_fail(const gnn_cli *cli, gnn_status status, const gnn_error *error) {
  gnn_print_error(cli->name, error);
  return gnn_exit_code(status);
}

static void commands_print_notes(const gnn_dataset *dataset) {
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
  if (cli->is_verbose) commands_print_notes(*dataset);
  return GNN_OK;
}

static void commands_note(void *user, const char *text) { fprintf(stderr, "%s: %s\n", ((const gnn_cli *)user)->name, text); }

/* Where none were asked for, ranks on one machine share its processors. */
static int commands_threads(const gnn_cli *cli) {
  if (cli->ranks == NULL || cli->threads > 0) return (int)cli->threads;
  const int threads = gnn_usable_processors() / cli->ranks->together;
  return threads > 1 ? threads : 1;
}

/* Of a list, ranks on one machine take one each. */
static int commands_device(const gnn_cli *cli) { return cli->device_count > 1 ? cli->devices[cli->ranks->here] : cli->devices[0]; }

gnn_instance_options gnn_cli_options(const gnn_cli *cli) {
  const char *graph = getenv("GNN_CUDA_GRAPH");
  return (gnn_instance_options){.threads = commands_threads(cli), .is_serial = cli->is_serial, .scratch = cli->scratch,
                                .temporary = getenv("TMPDIR"), .continues_after_nan = cli->continues_after_nan, .device = commands_device(cli), .is_device_own = cli->device_count > 1,
                                .ranks = cli->ranks, .has_no_graph = cli->has_no_graph || (graph && strcmp(graph, "0") == 0),
                                .note = commands_note, .note_user = (void *)(uintptr_t)cli};
}

typedef struct commands_session {
  gnn_instance *instance;
  gnn_dataset *dataset; /* NULL: nothing comes back to it */
} commands_session;

/* What a lane could not have as it should is said once. */
static void commands_print_scratch(const gnn_cli *cli, const gnn_instance *instance) {
  gnn_text text = {0};
  gnn_lanes_scratch_text(&instance->run, &text);
  if (text.data) fprintf(stderr, "%s: scratch %s\n", cli->name, text.data);
  gnn_text_free(&text);
}

/* Everything for training at full speed: data, an instance with its pages touched, reset to the seed. Errors are printed;
 * returns the exit code. */
static int commands_open(const gnn_cli *cli, commands_session *session) {
  gnn_error error;
  gnn_instance *instance = NULL;
  gnn_dataset *dataset = NULL;
  gnn_instance_options options = gnn_cli_options(cli);
  options.populate = options.grows = 1;
  options.loading_bytes = cli->data ? 0 : cli->program->loading_bytes;
  *session = (commands_session){0};
  gnn_status status = gnn_instance_create(cli->program, &options, &instance, &error);
  if (status == GNN_OK) status = gnn_cli_open_data(cli, &dataset, &error);
  if (status == GNN_OK) status = gnn_instance_take(instance, &dataset, cli->program->fold_count > 0, &error); /* runs with folds come back to them */
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
  if (cli->is_verbose) commands_print_scratch(cli, instance);
  *session = (commands_session){instance, dataset};
  return GNN_EXIT_OK;
}

static void commands_close(const commands_session *session) {
  gnn_instance_destroy(session->instance);
  gnn_dataset_close(session->dataset);
}

int gnn_command_train(const gnn_cli *cli) {
  commands_session session;
  int code = commands_open(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_train_options options = {
    .epochs = cli->epochs >= 0 ? cli->epochs : cli->program->epochs,
    .runs = cli->runs >= 0 ? cli->runs : cli->fold < 0 && cli->program->runs > 0 ? cli->program->runs : 1, .dataset = session.dataset,
    .name = cli->name, .every = cli->every, .seed = cli->seed + (cli->fold > 0 ? (uint64_t)cli->fold : 0), /* as in the run of that fold */ .has_seed = cli->has_seed, .out = cli->out, .default_out = cli->default_out, .weights = cli->weights,
    .resume = cli->resume, .resumes_newest = cli->resumes_newest, .logs_csv = cli->logs_csv,
    .logs_jsonl = cli->logs_jsonl, .logs_page = cli->logs_page, .board = cli->board, .progress = cli->progress, .time_limit = cli->time_limit,
    .continues_after_nan = cli->continues_after_nan, .accepts_changed_data = cli->accepts_changed_data, .is_quiet = cli->is_quiet, .is_verbose = cli->is_verbose,
    .ranks = cli->ranks, .command_line = cli->command_line};
  if (!gnn_ranks_is_first(cli->ranks)) options.logs_csv = options.logs_jsonl = options.logs_page = 0, options.board = NULL;
  code = gnn_train(session.instance, &options);
  commands_close(&session);
  return code;
}

/* ---- eval and predict ---- */

/* The weights that train left in a folder; of several runs those of the first, or of the fold. *path NULL: none. */
static gnn_status commands_find_weights(const char *folder, int64_t fold, char **path, gnn_error *error) {
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

/* Opens everything and loads the weights asked for, or those that train left. */
static int commands_open_trained(const gnn_cli *cli, commands_session *session) {
  int code = commands_open(cli, session);
  if (code != GNN_EXIT_OK) return code;
  const char *folder = cli->out ? cli->out : cli->default_out;
  char *found = NULL;
  gnn_error error;
  gnn_status status = GNN_OK;
  const int has_none = cli->program->weight_count == 0 && cli->weights == NULL; /* a model without weights has nothing to load */
  if (cli->weights == NULL && !has_none) status = commands_find_weights(folder, cli->fold, &found, &error);
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
  commands_close(session);
  return gnn_cli_fail(cli, status, &error);
}

/* GNN_SPLIT_COUNT: all; -1: no such split. */
static int commands_split(const gnn_cli *cli) {
  if (cli->split == NULL || strcmp(cli->split, "all") == 0) return GNN_SPLIT_COUNT;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    if (strcmp(cli->split, gnn_split_names[s]) == 0) return s;
  fprintf(stderr, "%s: --split takes train, valid, test or all, not \"%s\"\n", cli->name, cli->split);
  return -1;
}

/* What a row of the scores is. */
static const char *commands_row_word(const gnn_program *program) {
  static const char *const words[] = {[GNN_NODE] = "node", [GNN_EDGE] = "edge", [GNN_GRAPH] = "graph", [GNN_TYPE] = "node", [GNN_RELATION] = "pair"};
  return words[program->scores_domain];
}

/* Of values[rows, width]; NULL: of the scores. */
static const float *commands_values(const gnn_instance *instance, const float *values, int64_t row, int64_t width) {
  return values ? values + row * width : gnn_scores_row(instance, row);
}

/* Whether the rows of the split (all: every one) of values[rows, width], or of the scores, are numbers. */
static gnn_status commands_check_finite(const gnn_cli *cli, const gnn_instance *instance, int split, const float *values, int64_t width, gnn_error *error) {
  const int64_t rows = split == GNN_SPLIT_COUNT ? gnn_whole_rows_of_scores(instance) : instance->whole.row_count[split];
  int64_t bad = 0, first = 0;
  for (int64_t k = rows - 1; k >= 0 && !cli->continues_after_nan; k--) {
    const int64_t node = split == GNN_SPLIT_COUNT ? k : instance->whole.rows[split][k];
    const float *row = commands_values(instance, values, node, width);
    int is_bad = 0;
    for (int64_t c = 0; c < width; c++) is_bad |= !isfinite(row[c]);
    bad += is_bad;
    if (is_bad) first = node;
  }
  if (bad == 0) return GNN_OK;
  const char *word = commands_row_word(cli->program);
  gnn_status status = gnn_fail(error, GNN_ENUMERIC, "R0803", "%s of %s %ss have numbers that are not finite, the first of them is %s %lld",
                               gnn_count_text(bad).text, gnn_count_text(rows).text, word, word, (long long)first);
  gnn_fail_help(error, "--nan=continue writes them as they are");
  return status;
}

/* Rows: the classes that are right; columns: those predicted. */
static int commands_confusion(const gnn_cli *cli, const gnn_instance *instance, gnn_split split) {
  const gnn_scored m = gnn_scored_rows(instance, split);
  const int64_t n = m.class_count;
  int64_t *table = calloc((size_t)(n * (n + 1)), sizeof *table); /* the last column: no number was largest */
  if (table == NULL) {
    gnn_error error;
    return gnn_cli_fail(cli, gnn_fail_memory(&error, n * n * (int64_t)sizeof *table), &error);
  }
  for (int64_t k = 0; k < m.count; k++) {
    const int64_t predicted = gnn_predicted_class(&m, m.rows[k]);
    table[m.classes[m.rows[k]] * (n + 1) + (predicted < 0 ? n : predicted)]++;
  }
  gnn_ranks_add(m.ranks, table, n * (n + 1));
  printf("%s, class by predicted class\n%6s", gnn_split_names[split], "");
  for (int64_t c = 0; c < n; c++) printf(" %7lld", (long long)c);
  printf("\n");
  for (int64_t c = 0; c < n; c++) {
    printf("%6lld", (long long)c);
    for (int64_t p = 0; p < n; p++) printf(" %7lld", (long long)table[c * (n + 1) + p]);
    printf("\n");
  }
  free(table);
  gnn_error error;
  const gnn_status status = gnn_scores_status(instance);
  if (status != GNN_OK) gnn_step_failed(instance, status, &error, "", "the scores did not come back");
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}

int gnn_command_eval(const gnn_cli *cli) {
  commands_session session;
  gnn_error error;
  gnn_result result[GNN_SPLIT_COUNT];
  int split = commands_split(cli);
  if (split < 0) return GNN_EXIT_USAGE;
  int code = commands_open_trained(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_instance *instance = session.instance;
  gnn_status status = gnn_evaluate(instance, result);
  if (status != GNN_OK) {
    gnn_step_failed(instance, status, &error, "", "evaluation failed");
    code = gnn_cli_fail(cli, status, &error);
  }
  if (code == GNN_EXIT_OK && split < GNN_SPLIT_COUNT && result[split].count == 0) {
    fprintf(stderr, "%s: error: the data have no split \"%s\"\n", cli->name, gnn_split_names[split]);
    code = GNN_EXIT_FAILED;
  }
  for (int s = 0; code == GNN_EXIT_OK && !cli->continues_after_nan && s < GNN_SPLIT_COUNT; s++) {
    if ((split != GNN_SPLIT_COUNT && split != s) || isfinite(result[s].loss)) continue;
    status = gnn_fail(&error, GNN_ENUMERIC, "R0803", "the loss of split %s is %s", gnn_split_names[s], isnan(result[s].loss) ? "NaN" : "infinite");
    gnn_fail_help(&error, "--nan=continue shows it all the same");
    code = gnn_cli_fail(cli, status, &error);
  }
  for (int s = 0; code == GNN_EXIT_OK && s < GNN_SPLIT_COUNT; s++) {
    if (result[s].count == 0 || (split != GNN_SPLIT_COUNT && split != s)) continue;
    printf("%-5s  %8s %ss  loss %.4f", gnn_split_names[s], gnn_count_text(result[s].count).text, commands_row_word(cli->program), gnn_shown(result[s].loss));
    for (int i = 0; i < cli->program->metric_count; i++) printf("  %s %.4f", cli->program->metrics[i].name, gnn_shown(result[s].metric[i]));
    printf("\n");
  }
  for (int s = 0; code == GNN_EXIT_OK && cli->program->has_confusion && s < GNN_SPLIT_COUNT; s++)
    if (result[s].count && (split == GNN_SPLIT_COUNT || split == s)) code = commands_confusion(cli, instance, (gnn_split)s);
  commands_close(&session);
  return code;
}

/* The first tap within what is called so: of "deep", which layers of a loop are called, "deep.0.h". */
static const char *commands_first_within(const gnn_program *program, const char *name) {
  const size_t length = strlen(name);
  for (int i = 0; i < program->tap_count; i++)
    if (strncmp(program->taps[i], name, length) == 0 && program->taps[i][length] == '.') return program->taps[i];
  return NULL;
}

/* What it is where no tap is called so: the program has the name for something else. NULL: it has not. */
static const char *commands_other_kind(const gnn_program *program, const char *name) {
  for (int f = 0; f < program->field_count; f++)
    if (strcmp(program->fields[f].name, name) == 0) return "a field of the data; gnndata head prints its rows";
  for (int w = 0; w < program->weight_count; w++)
    if (strcmp(program->weights[w].name, name) == 0) return "a weight; it is in the file of weights";
  return NULL;
}

/* The tap of that name, or the one that ends with it: "conv1.h" of "h", if there is one alone. NULL after a message. */
static const char *commands_layer(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  const char *found = NULL;
  int count = 0, is_untold = 0;
  for (int i = 0; i < program->tap_count; i++)
    if (strcmp(program->taps[i], cli->layer) == 0) return program->taps[i];
  for (int i = 0; i < program->untold_count; i++) is_untold |= strcmp(program->untold[i], cli->layer) == 0;
  for (int i = 0; i < program->tap_count && !is_untold; i++) {
    const size_t length = strlen(program->taps[i]), own = strlen(cli->layer);
    if (length <= own || program->taps[i][length - own - 1] != '.' || strcmp(program->taps[i] + length - own, cli->layer) != 0) continue;
    found = program->taps[i];
    count++;
  }
  if (count == 1) return found;
  if (program->tap_count == 0) {
    fprintf(stderr, "%s: --layer %s: this program keeps no results of layers\n  help: where its plan had no room for them, a larger --budget of gnncc brings them back; --precision=bf16 keeps none\n",
            cli->name, cli->layer);
    return NULL;
  }
  const char *kind = count || is_untold ? NULL : commands_other_kind(program, cli->layer);
  const char *near = count || is_untold || kind ? NULL : commands_first_within(program, cli->layer);
  if (near == NULL && !count && !is_untold && !kind) near = gnn_nearest(cli->layer, program->taps, program->tap_count);
  if (count) fprintf(stderr, "%s: %d values are called \"%s\"", cli->name, count, cli->layer);
  else if (is_untold) fprintf(stderr, "%s: \"%s\" is stored by no step of the evaluation", cli->name, cli->layer);
  else if (kind) fprintf(stderr, "%s: \"%s\" is %s", cli->name, cli->layer, kind);
  else fprintf(stderr, "%s: no value is called \"%s\"", cli->name, cli->layer);
  if (near) fprintf(stderr, "; did you mean %s?", near);
  fprintf(stderr, "\n  known:");
  for (int i = 0; i < program->tap_count; i++) fprintf(stderr, " %s", program->taps[i]);
  fprintf(stderr, "\n");
  if (is_untold) fprintf(stderr, "  help: gnncc -O0 stores every value that the scores depend on, whole where the budget lets it\n");
  return NULL;
}

/* The rows of the split (all: every one) as the data order them; malloc'ed. */
static int32_t *commands_rows(const gnn_instance *instance, int split, int64_t *count) {
  const gnn_run *run = &instance->run;
  const int64_t all = gnn_whole_rows_of_scores(instance), chosen = split == GNN_SPLIT_COUNT ? all : instance->whole.row_count[split];
  int32_t *rows = malloc((size_t)all * sizeof *rows + 1);
  *count = 0;
  if (rows == NULL) return NULL;
  for (int64_t v = 0; v < all; v++) rows[v] = -1;
  for (int64_t k = 0; k < chosen; k++) {
    const int32_t row = split == GNN_SPLIT_COUNT ? (int32_t)k : instance->whole.rows[split][k];
    rows[gnn_score_id(run, row)] = row;
  }
  for (int64_t v = 0; v < all; v++)
    if (rows[v] >= 0) rows[(*count)++] = rows[v];
  return rows;
}

/* Where the edges of each of `rows` rows begin, from the SSD; the caller's. There each part has the first of the next one, too. */
static int64_t *commands_offsets(gnn_instance *instance, const gnn_side *side, int64_t rows, gnn_status *status, gnn_error *error) {
  const int64_t *first = instance->run.program->graph.part_first, count = rows + side->extent_count;
  int64_t *ptr = malloc((size_t)count * sizeof *ptr);
  if (ptr == NULL) *status = gnn_fail_memory(error, count * (int64_t)sizeof *ptr);
  if (*status == GNN_OK) *status = gnn_home_read(instance, side, ptr, count * (int64_t)sizeof *ptr, error);
  for (int part = 1; part < side->extent_count && *status == GNN_OK; part++) memmove(ptr + first[part], ptr + first[part] + part, (size_t)(first[part + 1] - first[part] + 1) * sizeof *ptr);
  return ptr;
}

/* The edges that the scores are of, by destination; NULL: rows are no edges, or the program has no use for their ends. From the SSD they come into
 * `brought`, whose idx is the caller's, and whose ptr where the program has its own on the SSD. */
static gnn_status commands_ends(gnn_instance *instance, gnn_csr *brought, const gnn_csr **ends, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  const int number = program->scores_domain == GNN_EDGE ? GNN_EDGES : program->scores_set;
  *ends = NULL;
  if (program->scores_domain != GNN_EDGE && program->scores_domain != GNN_RELATION) return GNN_OK;
  if (instance->batches) *ends = &instance->whole.in; /* in the arena are those of the last batch */
  if (instance->batches) return GNN_OK;
  const gnn_edge_set_desc *plan = &program->graph.sets[number];
  const gnn_csr *in = &instance->run.sets[number].in;
  const int is_on_ssd = plan->in_home.extent_count > 0;
  const int has_ptr_on_ssd = plan->in_ptr_home.extent_count > 0;
  if ((plan->at_in_ptr < 0 && !has_ptr_on_ssd) || (plan->at_in_idx < 0 && !is_on_ssd)) return GNN_OK;
  gnn_status status = plan->is_ptr_on_host || has_ptr_on_ssd ? GNN_OK : gnn_download(instance, plan->at_in_ptr, (in->rows + 1) * (int64_t)sizeof *in->ptr, error);
  if (status == GNN_OK && !plan->is_idx_on_host && !is_on_ssd) status = gnn_download(instance, plan->at_in_idx, in->entries * (int64_t)sizeof *in->idx, error);
  *ends = in;
  if (status != GNN_OK || !is_on_ssd) return status;
  int32_t *idx = malloc((size_t)in->entries * sizeof *idx + 1);
  if (idx == NULL) return gnn_fail_memory(error, in->entries * (int64_t)sizeof *idx);
  *brought = *in;
  brought->idx = idx;
  *ends = brought;
  if (has_ptr_on_ssd) brought->ptr = commands_offsets(instance, &plan->in_ptr_home, in->rows, &status, error);
  return status != GNN_OK ? status : gnn_home_read(instance, &plan->in_home, idx, in->entries * (int64_t)sizeof *idx, error);
}

/* A node's number, a graph's; of an edge its ends. */
static void commands_name_row(gnn_text *text, const gnn_instance *instance, const gnn_csr *ends, int64_t row) {
  const gnn_run *run = &instance->run;
  const int64_t source = ends ? ends->idx[row] : 0, destination = ends ? gnn_adjacency_row(ends->ptr, 0, ends->rows, row) : 0;
  if (ends == &instance->whole.in) gnn_text_format(text, "%lld,%lld", (long long)source, (long long)destination);
  else if (ends) gnn_text_format(text, "%lld,%lld", (long long)gnn_data_node(instance, source), (long long)gnn_data_node(instance, destination));
  else gnn_text_format(text, "%lld", (long long)gnn_score_id(run, row));
}

/* The scores of all rows, or their classes, in turns in which they come; of values[rows, width] in one. */
static void commands_take_rows(const gnn_instance *instance, const int32_t *row_node, int64_t rows, const float *values, int64_t width, float *scores, int64_t *classes) {
  const gnn_program *program = instance->run.program;
  const int is_one_class = program->label_field >= 0 && program->fields[program->label_field].classes == 1;
  const int turns = values ? 1 : gnn_scores_turns(instance);
  for (int turn = 0; turn < turns; turn++)
    for (int64_t k = 0; k < rows; k++) {
      if (turns > 1 && gnn_scores_turn_of(instance, row_node[k]) != turn) continue;
      const float *row = commands_values(instance, values, row_node[k], width);
      int64_t best = 0;
      for (int64_t c = 1; c < width; c++) best = !(row[c] <= row[best] || isnan(row[best])) ? c : best; /* the first NaN, as PyTorch */
      if (width == 1) best = row[0] > 0 && !is_one_class; /* one score for two classes */
      if (classes) classes[k] = best;
      else memcpy(scores + k * width, row, (size_t)width * sizeof *row);
    }
}

/* Rows that go into a file, some at a time: no more of them are in memory beside the arenas. */
typedef struct commands_chunk {
  int64_t room;
  float *scores;    /* of so many rows, or */
  int64_t *classes; /* their classes */
} commands_chunk;

static void commands_put_text(gnn_writer *writer, gnn_text *text) {
  if (!text->is_broken) gnn_writer_put(writer, text->data, text->length);
  text->length = 0;
}

static void commands_put_lines(gnn_writer *writer, const commands_chunk *chunk, const gnn_instance *instance, const gnn_csr *ends, const int32_t *row_node, int64_t rows, int64_t width, gnn_text *text) {
  enum { TEXT_BYTES = 1 << 16 };
  for (int64_t k = 0; k < rows; k++) {
    gnn_text_format(text, "\n");
    commands_name_row(text, instance, ends, row_node[k]);
    if (chunk->classes) gnn_text_format(text, ",%lld", (long long)chunk->classes[k]);
    else for (int64_t c = 0; c < width; c++) gnn_text_format(text, ",%.9g", gnn_shown((double)chunk->scores[k * width + c]));
    if (text->length >= TEXT_BYTES || k + 1 == rows) commands_put_text(writer, text);
  }
}

/* `text` has the first line of a table; NULL: they are numbers in a file whose head is there. */
static gnn_status commands_put_rows(gnn_writer *writer, const commands_chunk *chunk, const gnn_instance *instance, const gnn_csr *ends, const int32_t *row_node, int64_t rows, const float *values, int64_t width,
                                    gnn_text *text, gnn_error *error) {
  gnn_status status = GNN_OK;
  if (text) commands_put_text(writer, text);
  for (int64_t first = 0; first < rows && status == GNN_OK; first += chunk->room) {
    const int64_t count = rows - first < chunk->room ? rows - first : chunk->room;
    commands_take_rows(instance, row_node + first, count, values, width, chunk->scores, chunk->classes);
    status = gnn_scores_status(instance);
    if (status != GNN_OK) gnn_step_failed(instance, status, error, "", "the scores did not come back");
    else if (text) commands_put_lines(writer, chunk, instance, ends, row_node + first, count, width, text);
    else if (chunk->classes) gnn_writer_put(writer, chunk->classes, (size_t)count * sizeof *chunk->classes);
    else gnn_writer_put(writer, chunk->scores, (size_t)(count * width) * sizeof *chunk->scores);
    if (text && text->is_broken) status = gnn_fail_memory(error, 0);
  }
  if (text) gnn_writer_put(writer, "\n", 1);
  return status;
}

/* The first line of a table. */
static void commands_head(gnn_text *text, const gnn_program *program, const gnn_csr *ends, int is_of_classes, int64_t columns) {
  gnn_text_format(text, "%s", ends ? "source,destination" : commands_row_word(program));
  for (int64_t c = 0; c < columns; c++) {
    if (is_of_classes) gnn_text_format(text, ",class");
    else gnn_text_format(text, ",%lld", (long long)c);
  }
}

/* Rows of the split (all: every one) of values[rows, width], or of the scores, as numbers or as the greatest one's column. */
static gnn_status commands_write(const gnn_cli *cli, gnn_instance *instance, int split, const float *values,
                                 int64_t width, gnn_error *error) {
  enum { CHUNK_BYTES = 1 << 20 };
  const char *dot = strrchr(cli->output, '.');
  const int is_csv = (dot && strcmp(dot, ".csv") == 0) || strcmp(cli->output, "-") == 0, is_of_classes = cli->wants_classes;
  const int64_t room = CHUNK_BYTES / (4 * width) + 1;
  const gnn_csr *ends;
  gnn_csr brought = {0};
  gnn_writer writer;
  gnn_text text = {0};
  int64_t rows = 0;
  gnn_status status = commands_ends(instance, &brought, &ends, error);
  if (status == GNN_OK) status = gnn_home_bring_ids(instance, error);
  int32_t *row_node = status == GNN_OK ? commands_rows(instance, split, &rows) : NULL;
  const commands_chunk chunk = {.room = room, .scores = is_of_classes ? NULL : malloc((size_t)(room * width) * sizeof *chunk.scores), .classes = is_of_classes ? malloc((size_t)room * sizeof *chunk.classes) : NULL};
  if (status == GNN_OK && (!row_node || (!chunk.scores && !chunk.classes))) status = gnn_fail_memory(error, gnn_whole_rows_of_scores(instance) * (int64_t)sizeof *row_node + CHUNK_BYTES);
  const gnn_array array = {.dtype = is_of_classes ? GNN_I64 : GNN_F32, .rank = is_of_classes ? 1 : 2, .shape = {rows, width}};
  if (is_csv && status == GNN_OK) commands_head(&text, instance->run.program, ends, is_of_classes, is_of_classes ? 1 : width);
  if (status == GNN_OK) status = is_csv ? gnn_writer_open(&writer, cli->output, error) : gnn_npy_begin(&writer, cli->output, &array, error);
  if (status == GNN_OK) {
    status = commands_put_rows(&writer, &chunk, instance, ends, row_node, rows, values, width, is_csv ? &text : NULL, error);
    if (status != GNN_OK) writer.errno_value = ECANCELED; /* nothing is left of the file */
    const gnn_status closed = gnn_writer_close(&writer, status == GNN_OK ? error : NULL);
    if (status == GNN_OK) status = closed;
  }
  gnn_text_free(&text);
  free(chunk.scores);
  free(chunk.classes);
  free(row_node);
  free((void *)(uintptr_t)brought.idx);
  if (brought.ptr != instance->run.sets[GNN_EDGES].in.ptr) free((void *)(uintptr_t)brought.ptr);
  return status;
}

/* ---- results of layers ---- */

typedef struct commands_tap {
  const gnn_cli *cli;
  gnn_instance *instance;
  const char *wanted;
  int split, is_seen;
  float *values;  /* rows * width; of batch after batch */
  int64_t rows, width, next_graph; /* of the data: the first of the next batch */
  gnn_status status;
  gnn_error *error;
} commands_tap;

/* Of values[rows, width], or of the scores. */
static gnn_status commands_write_checked(const commands_tap *tap, const float *values) {
  if (tap->wanted && (!tap->is_seen || tap->rows != gnn_whole_rows_of_scores(tap->instance)))
    return gnn_fail(tap->error, GNN_EDATA, "", "\"%s\" does not live where the scores do", tap->cli->layer);
  gnn_status status = commands_check_finite(tap->cli, tap->instance, tap->split, values, tap->width, tap->error);
  return status == GNN_OK ? commands_write(tap->cli, tap->instance, tap->split, values, tap->width, tap->error) : status;
}

/* Whether the step that has made a value may write it from where it lies: no more memory is needed then. */
static int commands_writes_at_once(const commands_tap *tap) {
  const gnn_program *program = tap->cli->program;
  const int is_of_nodes = program->scores_domain == GNN_NODE || program->scores_domain == GNN_TYPE;
  return sizeof(gnn_real) == sizeof(float) && tap->instance->batches == NULL && is_of_nodes && !gnn_backend_of(program)->is_apart;
}

static void commands_on_tap(void *user, const char *name, const gnn_real *value, int64_t rows, int64_t width) {
  commands_tap *tap = user;
  const gnn_batch *batch = &tap->instance->batch;
  const int is_next = !tap->is_seen || (batch->graphs && batch->graph[0] == tap->next_graph); /* a layer that is called twice counts once */
  if (strcmp(name, tap->wanted) != 0 || !is_next || tap->status != GNN_OK) return;
  tap->is_seen = 1;
  tap->width = width;
  if (commands_writes_at_once(tap)) {
    tap->rows = rows;
    tap->status = commands_write_checked(tap, (const float *)(const void *)value);
    return;
  }
  float *values = realloc(tap->values, (size_t)((tap->rows + rows) * width) * sizeof *tap->values + 1);
  if (values == NULL) {
    tap->status = gnn_fail_memory(tap->error, (tap->rows + rows) * width * (int64_t)sizeof *values);
    return;
  }
  for (int64_t i = 0; i < rows * width; i++) values[tap->rows * width + i] = (float)value[i];
  tap->values = values;
  tap->rows += rows;
  tap->next_graph = batch->graphs ? batch->graph[batch->graphs - 1] + 1 : -1;
}

/* It is a name of scores that end away from the device. */
static int commands_is_of_scores(const gnn_program *program, const char *tap) {
  for (int i = 0; i < program->scores_tap_count; i++)
    if (program->taps[i] == tap) return 1;
  return 0;
}

int gnn_command_predict(const gnn_cli *cli) {
  commands_session session;
  gnn_error error;
  int split = commands_split(cli);
  const char *wanted = cli->layer ? commands_layer(cli) : NULL;
  if (split < 0 || (cli->layer && wanted == NULL)) return GNN_EXIT_USAGE;
  if (cli->output == NULL) {
    fprintf(stderr, "%s: predict needs a file to write: -o out.npy\n", cli->name);
    return GNN_EXIT_USAGE;
  }
  const gnn_program *program = cli->program;
  if (cli->wants_classes && program->label_field >= 0 && program->fields[program->label_field].storage != GNN_LABEL) {
    fprintf(stderr, "%s: %s are no classes, so there are none to predict; without --classes the scores are written\n", cli->name, program->fields[program->label_field].name);
    return GNN_EXIT_USAGE;
  }
  if (cli->layer && cli->wants_classes) {
    fprintf(stderr, "%s: --classes and --layer exclude each other\n", cli->name);
    return GNN_EXIT_USAGE;
  }
  if (wanted && commands_is_of_scores(program, wanted)) wanted = NULL;
  int code = commands_open_trained(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_instance *instance = session.instance;
  gnn_run *run = &instance->run;
  commands_tap tap = {.cli = cli, .instance = instance, .wanted = wanted, .split = split, .width = program->classes, .error = &error};
  if (wanted) {
    run->tap = commands_on_tap;
    run->tap_user = &tap;
  }
  gnn_status status = gnn_score(instance);
  const int is_written = tap.is_seen && commands_writes_at_once(&tap);
  if (tap.status != GNN_OK) status = tap.status;
  else if (status != GNN_OK) gnn_step_failed(instance, status, &error, "", "evaluation failed");
  else if (!is_written) status = commands_write_checked(&tap, tap.values);
  if (status == GNN_OK && !cli->is_quiet && strcmp(cli->output, "-") != 0)
    printf("wrote %s: %s rows\n", cli->output,
           gnn_count_text(split == GNN_SPLIT_COUNT ? gnn_whole_rows_of_scores(instance) : instance->whole.row_count[split]).text);
  free(tap.values);
  commands_close(&session);
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}

/* ---- gradients ---- */

int gnn_command_gradients(const gnn_cli *cli) {
  commands_session session;
  gnn_error error;
  if (cli->output == NULL) {
    fprintf(stderr, "%s: gradients needs a file to write: -o gradients.safetensors\n", cli->name);
    return GNN_EXIT_USAGE;
  }
  int code = commands_open(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_instance *instance = session.instance;
  gnn_status status = cli->weights ? gnn_weights_load(instance, cli->weights, &error) : GNN_OK;
  if (status == GNN_OK) {
    instance->run.epoch = instance->run.update = 1;
    if (instance->batches) status = gnn_batches_load(instance, GNN_BATCHES_TRAIN, 0, NULL); /* the first */
    if (status == GNN_OK) status = gnn_do(instance, GNN_WORK_GRADIENTS);
    if (status != GNN_OK) gnn_step_failed(instance, status, &error, "", "the gradients could not be computed");
  }
  if (status == GNN_OK && !isfinite(instance->run.loss) && !cli->continues_after_nan) {
    status = gnn_fail(&error, GNN_ENUMERIC, "R0803", "the loss is %s", isnan(instance->run.loss) ? "NaN" : "infinite");
    gnn_fail_help(&error, "--nan=continue writes the gradients all the same");
  }
  if (status == GNN_OK) status = gnn_gradients_save(instance, cli->output, &error);
  if (status == GNN_OK && !cli->is_quiet && strcmp(cli->output, "-") != 0) printf("wrote %s: loss %.9g\n", cli->output, gnn_shown(instance->run.loss));
  commands_close(&session);
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}

/* ---- info ---- */

/* Where the scratch file would lie and how it would be reached. Broken or empty text: the program has none. */
static void commands_try_scratch(const gnn_cli *cli, gnn_text *text) {
  gnn_error error;
  gnn_instance_options options = gnn_cli_options(cli);
  const gnn_scratch_folders folders = gnn_instance_folders(cli->program, &options);
  if (!gnn_lanes_use_scratch(cli->program, GNN_LANE_COUNT)) return;
  if (gnn_scratch_try(&folders, text, &error) != GNN_OK) gnn_text_format(text, "none: %s", error.message);
}

static void commands_info_json_tiers(const gnn_cli *cli, gnn_text *text) {
  const gnn_program *program = cli->program;
  const char *between = "";
  gnn_text_format(text, ",\"reserve_bytes\":%lld,\"staging_bytes\":%lld,\"loading_bytes\":%lld,\"process_bytes\":%lld,\"address_bytes\":%lld,\"copies\":%d,\"lanes\":[",
                  (long long)program->reserve_bytes, (long long)gnn_staging_bytes(program), (long long)program->loading_bytes, (long long)program->process_bytes, (long long)program->address_bytes,
                  program->copy_count);
  for (int l = 0; l < GNN_LANE_COUNT; l++) {
    if (!gnn_lanes_uses(program, (gnn_lane)l)) continue;
    gnn_text_format(text, "%s\"%s\"", between, gnn_lane_names[l]);
    between = ",";
  }
  gnn_text scratch = {0};
  commands_try_scratch(cli, &scratch);
  gnn_text_format(text, "],\"scratch\":");
  if (scratch.data) gnn_text_json(text, scratch.data);
  else gnn_text_format(text, "null");
  gnn_text_free(&scratch);
  gnn_text_format(text, ",\"simulated\":%s,\"slowdown\":%.9g", program->is_simulated ? "true" : "false",
                  program->is_simulated ? program->slowdown : 1.0);
}

static void commands_info_tiers(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  gnn_text scratch = {0};
  if (program->copy_count) {
    printf("lanes        compute");
    for (int l = 0; l < GNN_LANE_COUNT; l++)
      if (gnn_lanes_uses(program, (gnn_lane)l)) printf(", %s", gnn_lane_names[l]);
    printf("; %d copies; staging %s\n", program->copy_count, gnn_bytes_text(gnn_staging_bytes(program)).text);
  }
  commands_try_scratch(cli, &scratch);
  if (scratch.data) printf("scratch      %s\n", scratch.data);
  gnn_text_free(&scratch);
  if (program->is_simulated)
    printf("simulated    no step takes less than its estimated time, times %g\n", program->slowdown);
}

/* Of each build what it is compiled for, and by which instructions. */
static void commands_info_json_builds(const gnn_cli *cli, gnn_text *text) {
  gnn_text_format(text, ",\"builds\":[");
  for (const gnn_program *build = cli->builds; build; build = build->also) {
    const char *between = "";
    gnn_text_format(text, "%s{\"cpu\":", build == cli->builds ? "" : ",");
    gnn_text_json(text, build->cpu ? build->cpu : "");
    gnn_text_format(text, ",\"runs\":%s,\"instructions\":[", build == cli->program && !gnn_processor_lacks(build->instructions, build->sve_bits) ? "true" : "false");
    for (int i = 0; i < GNN_INSTRUCTION_COUNT; i++) {
      if (!(build->instructions >> i & 1)) continue;
      gnn_text_format(text, "%s\"%s\"", between, gnn_instruction_name(i));
      between = ",";
    }
    gnn_text_format(text, "]}");
  }
  gnn_text_format(text, "]");
}

static void commands_info_builds(const gnn_cli *cli) {
  for (const gnn_program *build = cli->builds; build; build = build->also) {
    const char *lacks = gnn_processor_lacks(build->instructions, build->sve_bits);
    if (!build->cpu && !lacks) continue; /* of no source of gnncc's */
    printf("%-12s %s", build == cli->builds ? "processor" : "", gnn_build_cpu(build));
    if (lacks) printf("; the one here has no %s", lacks);
    else if (cli->builds->also && build == cli->program) printf(", which runs here");
    printf("\n");
  }
}

/* Of all types and relations, as planned. */
static void commands_planned(const gnn_program *program, int64_t *nodes, int64_t *edges) {
  const gnn_graph_desc *graph = &program->graph;
  *nodes = graph->nodes;
  *edges = graph->edges;
  for (int t = 0; t < gnn_data_types(program); t++) *nodes += graph->types[t].nodes;
  for (int set = GNN_RELATIONS; gnn_data_types(program) && set < gnn_data_sets(program); set++) *edges += graph->sets[set].edges;
}

static int commands_info_json(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  int64_t nodes, edges;
  commands_planned(program, &nodes, &edges);
  gnn_text text = {0};
  gnn_text_format(&text, "{\"model\":");
  gnn_text_json(&text, program->name);
  gnn_text_format(&text, ",\"data\":");
  gnn_text_json(&text, program->data_name);
  gnn_text_format(&text, ",\"source\":");
  gnn_text_json(&text, program->source_name);
  gnn_text_format(&text, ",\"fingerprint\":");
  gnn_text_json(&text, program->fingerprint);
  gnn_text_format(&text, ",\"abi\":%d,\"nodes\":%lld,\"edges\":%lld,\"classes\":%lld,\"split\":[%lld,%lld,%lld],"
                  "\"device_bytes\":%lld,\"host_bytes\":%lld,\"ssd_bytes\":%lld,\"epoch_seconds_estimated\":%.9g",
                  program->abi, (long long)nodes, (long long)edges,
                  (long long)program->classes, (long long)program->graph.row_count[0],
                  (long long)program->graph.row_count[1], (long long)program->graph.row_count[2],
                  (long long)program->device_bytes, (long long)program->host_bytes, (long long)program->ssd_bytes,
                  program->estimated_epoch_seconds);
  commands_info_json_tiers(cli, &text);
  commands_info_json_builds(cli, &text);
  if (program->approximation) {
    gnn_text_format(&text, ",\"approximation\":");
    gnn_text_json(&text, program->approximation);
    gnn_text_format(&text, ",\"is_exact\":%s", program->ranks ? "false" : "true");
  }
  gnn_text_format(&text, ",\"epochs\":%lld,\"runs\":%lld,\"seed\":%lld,\"steps\":%d,\"options\":[",
                  (long long)program->epochs, (long long)program->runs, (long long)program->seed, program->step_count);
  for (int i = 0; i < program->option_count; i++) {
    gnn_text_format(&text, "%s{\"name\":", i ? "," : "");
    gnn_text_json(&text, program->options[i].name);
    gnn_text_format(&text, ",\"value\":%.9g,\"help\":", program->options[i].value);
    gnn_text_json(&text, program->options[i].help ? program->options[i].help : "");
    gnn_text_append(&text, "}", 1);
  }
  gnn_text_format(&text, "],\"weights\":[");
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    gnn_text_format(&text, "%s{\"name\":", w ? "," : "");
    gnn_text_json(&text, weight->name);
    gnn_text_format(&text, ",\"shape\":[");
    for (int i = 0; i < weight->rank; i++) gnn_text_format(&text, "%s%lld", i ? "," : "", (long long)weight->shape[i]);
    gnn_text_format(&text, "],\"trained\":%s}", weight->is_trained ? "true" : "false");
  }
  gnn_text_format(&text, "]}\n");
  gnn_error error;
  int code = text.is_broken ? gnn_cli_fail(cli, gnn_fail_memory(&error, 0), &error) : GNN_EXIT_OK;
  if (code == GNN_EXIT_OK) fputs(text.data, stdout);
  gnn_text_free(&text);
  return code;
}

int gnn_command_info(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  if (cli->is_json) return commands_info_json(cli);
  int64_t count = 0, nodes, edges;
  commands_planned(program, &nodes, &edges);
  for (int w = 0; w < program->weight_count; w++) count += program->weights[w].is_trained ? program->weights[w].count : 0;
  printf("model        %s, from %s\n", program->name, program->source_name);
  printf("fingerprint  %s\n", program->fingerprint);
  printf("data         %s: %s nodes  %s edges  %lld classes  train/valid/test %s/%s/%s\n", program->data_name,
         gnn_count_text(nodes).text, gnn_count_text(edges).text, (long long)program->classes,
         gnn_count_text(program->graph.row_count[0]).text, gnn_count_text(program->graph.row_count[1]).text,
         gnn_count_text(program->graph.row_count[2]).text);
  if (program->batch_graphs) printf("             that is the largest batch of %lld graphs\n", (long long)program->batch_graphs);
  for (int i = 0; i < program->field_count; i++) {
    const gnn_field_desc *field = &program->fields[i];
    printf("             %s %s : ", field->domain == GNN_NODE ? "node" : field->domain == GNN_GRAPH ? "graph" : "edge", field->name);
    if (field->storage == GNN_LABEL) printf("class[%lld]\n", (long long)field->classes);
    else printf("%s[%lld]%s%s\n", field->is_half ? "bf16" : "f32", (long long)field->width, field->storage == GNN_SPARSE ? ", sparse" : "",
                field->is_row_normalised ? ", rows scaled to sum 1" : "");
  }
  printf("training     %lld epochs, %lld runs, seed %lld\n", (long long)program->epochs, (long long)program->runs,
         (long long)program->seed);
  if (program->approximation) printf("             %s%s\n", program->approximation, program->ranks ? ", which is not exact" : ": one process has no boundary, this is exact");
  printf("plan         device %s  host %s  ssd %s; %d steps; about %s an epoch (estimated)\n",
         gnn_bytes_text(program->device_bytes).text, gnn_bytes_text(program->host_bytes).text,
         gnn_bytes_text(program->ssd_bytes).text, program->step_count, gnn_seconds_text(program->estimated_epoch_seconds).text);
  if (program->process_bytes) printf("process      %s of memory, %s of addresses\n", gnn_bytes_above_text(program->process_bytes).text, gnn_bytes_above_text(program->address_bytes).text);
  commands_info_builds(cli);
  commands_info_tiers(cli);
  printf("parameters   %s\n", gnn_count_text(count).text);
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    gnn_array shape = {.rank = weight->rank};
    for (int i = 0; i < weight->rank; i++) shape.shape[i] = weight->shape[i];
    printf("             %-32s %s%s\n", weight->name, gnn_shape_text(&shape).text, weight->is_trained ? "" : "  fixed");
  }
  if (program->option_count) printf("options\n");
  for (int i = 0; i < program->option_count; i++)
    printf("             --%s %.9g  %s\n", program->options[i].name, program->options[i].value,
           program->options[i].help ? program->options[i].help : "");
  if (cli->is_verbose) {
    printf("steps\n");
    for (int i = 0; i < program->step_count; i++) {
      const gnn_step_desc *step = &program->steps[i];
      printf("%5d  %-8s %-9s line %-4d %10s  %s\n", step->number, step->lane, step->phase, step->line,
             gnn_bytes_text(step->bytes).text, step->what);
    }
  }
  return GNN_EXIT_OK;
}
