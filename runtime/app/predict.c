/* predict.c: scores, classes or a named value of nodes, edges or graphs into a file, in the order of the data. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_session.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/device.h"
#include "runtime/core/home.h"
#include "runtime/core/ranks.h"
#include "runtime/core/scores.h"
#include "runtime/data/npy.h"
#include "runtime/job/epoch.h"

/* ---- which rows ---- */

/* Rows of the scores that are asked for: of a rank its own. */
typedef struct predict_list {
  int32_t *row;        /* [count], by ascending number in the data */
  int64_t count, all;  /* here, and of all ranks */
} predict_list;

/* Of ranks that measure the rows of all: which of these is the first of its own. */
static int64_t predict_first(const gnn_instance *instance) { return instance->whole_rows ? instance->whole_rows->score_first[instance->run.ranks->rank] : 0; }
static int64_t predict_rows_here(const gnn_instance *instance) { return instance->run.ranks ? gnn_rows_of_scores(&instance->run) : gnn_whole_rows_of_scores(instance); }

/* What the data call a row. */
static int64_t predict_id(const gnn_instance *instance, int64_t row) {
  const gnn_run *run = &instance->run;
  const int is_numbered = run->program->scores_domain == GNN_EDGE ? run->edge_id != NULL : run->program->scores_domain == GNN_NODE && run->node_id != NULL;
  return is_numbered ? gnn_score_id(run, row) : predict_first(instance) + row;
}

/* Of values[rows, width]; NULL: of the scores. */
static const float *predict_values(const gnn_instance *instance, const float *values, int64_t row, int64_t width) {
  return values ? values + row * width : gnn_scores_row(instance, predict_first(instance) + row);
}

/* Row k of the split (all: of every one), as rows are counted here; outside 0 ... predict_rows_here - 1: another rank's. */
static int64_t predict_chosen(const gnn_instance *instance, int split, int64_t k) { return split == GNN_SPLIT_COUNT ? k : instance->whole.rows[split][k] - predict_first(instance); }
static int64_t predict_chosen_count(const gnn_instance *instance, int split) { return split == GNN_SPLIT_COUNT ? predict_rows_here(instance) : instance->whole.here[split]; }

/* Sorted by a list of all numbers between the least and the greatest. */
static gnn_status predict_find_rows(const gnn_instance *instance, int split, predict_list *list, gnn_error *error) {
  const int64_t here = predict_rows_here(instance), chosen = predict_chosen_count(instance, split);
  int64_t least = INT64_MAX, most = -1;
  for (int64_t row = 0; row < here; row++) {
    const int64_t id = predict_id(instance, row);
    least = id < least ? id : least;
    most = id > most ? id : most;
  }
  const int64_t numbers = here ? most - least + 1 : 0;
  *list = (predict_list){.row = malloc((size_t)numbers * sizeof *list->row + 1)};
  if (list->row == NULL) return gnn_fail_memory(error, numbers * (int64_t)sizeof *list->row);
  for (int64_t i = 0; i < numbers; i++) list->row[i] = -1;
  for (int64_t k = 0; k < chosen; k++) {
    const int64_t row = predict_chosen(instance, split, k);
    if (row >= 0 && row < here) list->row[predict_id(instance, row) - least] = (int32_t)row;
  }
  for (int64_t i = 0; i < numbers; i++)
    if (list->row[i] >= 0) list->row[list->count++] = list->row[i];
  list->all = list->count;
  gnn_ranks_add(instance->run.ranks, &list->all, 1);
  return GNN_OK;
}

/* Whether these rows of values[rows, width], or of the scores, are numbers. */
static gnn_status predict_check_finite(const gnn_cli *cli, const gnn_instance *instance, const predict_list *list, const float *values, int64_t width, gnn_error *error) {
  gnn_ranks *ranks = instance->run.ranks;
  int64_t bad = 0, less_first = INT64_MIN; /* less the first of their numbers: of all ranks the most of these */
  for (int64_t k = list->count - 1; k >= 0 && !cli->continues_after_nan; k--) {
    const float *row = predict_values(instance, values, list->row[k], width);
    int is_bad = 0;
    for (int64_t c = 0; c < width; c++) is_bad |= !isfinite(row[c]);
    bad += is_bad;
    if (is_bad) less_first = -predict_id(instance, list->row[k]);
  }
  gnn_ranks_most(ranks, &less_first);
  gnn_ranks_add(ranks, &bad, 1);
  if (bad == 0) return GNN_OK;
  const char *word = gnn_cli_row_word(cli->program);
  gnn_status status = gnn_fail(error, GNN_ENUMERIC, "R0803", "%s of %s %ss have numbers that are not finite, the first of them is %s %lld",
                               gnn_count_text(bad).text, gnn_count_text(list->all).text, word, word, (long long)-less_first);
  gnn_fail_help(error, "--nan=continue writes them as they are");
  return status;
}

/* ---- the ends of edges ---- */

/* Where the edges of each of `rows` rows begin, from the SSD; the caller's. There each part has the first of the next one, too. */
static int64_t *predict_offsets(gnn_instance *instance, const gnn_side *side, int64_t rows, gnn_status *status, gnn_error *error) {
  const int64_t *first = instance->run.program->graph.part_first, count = rows + side->extent_count;
  int64_t *ptr = malloc((size_t)count * sizeof *ptr);
  if (ptr == NULL) *status = gnn_fail_memory(error, count * (int64_t)sizeof *ptr);
  if (*status == GNN_OK) *status = gnn_home_read(instance, side, ptr, count * (int64_t)sizeof *ptr, error);
  for (int part = 1; part < side->extent_count && *status == GNN_OK; part++) memmove(ptr + first[part], ptr + first[part] + part, (size_t)(first[part + 1] - first[part] + 1) * sizeof *ptr);
  return ptr;
}

/* The edges that the scores are of, by destination; NULL: rows are no edges, or the program has no use for their ends. From the SSD they come into
 * `brought`, whose idx is the caller's, and whose ptr where the program has its own on the SSD. */
static gnn_status predict_ends(gnn_instance *instance, gnn_csr *brought, const gnn_csr **ends, gnn_error *error) {
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
  if (has_ptr_on_ssd) brought->ptr = predict_offsets(instance, &plan->in_ptr_home, in->rows, &status, error);
  return status != GNN_OK ? status : gnn_home_read(instance, &plan->in_home, idx, in->entries * (int64_t)sizeof *idx, error);
}

/* ---- rows into a file ---- */

/* Rows that go into a file, some at a time: no more of them are in memory beside the arenas. */
typedef struct predict_chunk {
  int64_t room;
  int64_t *id;      /* what the data call them */
  float *scores;    /* of so many rows, or */
  int64_t *classes; /* their classes */
} predict_chunk;

static int predict_has_room(const predict_chunk *chunk) { return chunk->id && (chunk->scores || chunk->classes); }

static predict_chunk predict_make_chunk(int64_t room, int64_t width, int is_of_classes) {
  return (predict_chunk){.room = room, .id = malloc((size_t)room * sizeof(int64_t)), .scores = is_of_classes ? NULL : malloc((size_t)(room * width) * sizeof(float)),
                         .classes = is_of_classes ? malloc((size_t)room * sizeof(int64_t)) : NULL};
}

static void predict_drop_chunk(predict_chunk *chunk) {
  free(chunk->id);
  free(chunk->scores);
  free(chunk->classes);
}

static unsigned char *predict_bytes(const predict_chunk *chunk) { return chunk->classes ? (unsigned char *)chunk->classes : (unsigned char *)chunk->scores; }
static int64_t predict_row_bytes(const predict_chunk *chunk, int64_t width) { return chunk->classes ? (int64_t)sizeof *chunk->classes : width * (int64_t)sizeof *chunk->scores; }

/* The file, and what its rows are. */
typedef struct predict_file {
  gnn_writer writer; /* of one process, or of the first rank */
  gnn_text *text;    /* a table, of whose first line this is the text; NULL: numbers behind a head that is there */
  const gnn_csr *ends;
  const float *values; /* [rows, width]; NULL: scores */
  int64_t width;
} predict_file;

/* The scores of rows, or their classes, from place `at` of a chunk on, in turns in which they come; of values[rows, width] in one. */
static void predict_take_rows(const gnn_instance *instance, const predict_file *file, const int32_t *list, int64_t rows, const predict_chunk *chunk, int64_t at) {
  const gnn_program *program = instance->run.program;
  const int64_t width = file->width;
  const int is_one_class = program->label_field >= 0 && program->fields[program->label_field].classes == 1;
  const int turns = file->values ? 1 : gnn_scores_turns(instance);
  for (int64_t k = 0; k < rows; k++) chunk->id[at + k] = predict_id(instance, list[k]);
  for (int turn = 0; turn < turns; turn++)
    for (int64_t k = 0; k < rows; k++) {
      if (turns > 1 && gnn_scores_turn_of(instance, list[k]) != turn) continue;
      const float *row = predict_values(instance, file->values, list[k], width);
      int64_t best = 0;
      for (int64_t c = 1; c < width; c++) best = !(row[c] <= row[best] || isnan(row[best])) ? c : best; /* the first NaN, as PyTorch */
      if (width == 1) best = row[0] > 0 && !is_one_class; /* one score for two classes */
      if (chunk->classes) chunk->classes[at + k] = best;
      else memcpy(chunk->scores + (at + k) * width, row, (size_t)width * sizeof *row);
    }
}

/* A node's number, a graph's; of an edge its ends, of `row` in the order by destination. */
static void predict_name_row(gnn_text *text, const gnn_instance *instance, const gnn_csr *ends, int64_t id, int64_t row) {
  const int64_t source = ends ? ends->idx[row] : 0, destination = ends ? gnn_adjacency_row(ends->ptr, 0, ends->rows, row) : 0;
  if (ends == &instance->whole.in) gnn_text_format(text, "%lld,%lld", (long long)source, (long long)destination);
  else if (ends) gnn_text_format(text, "%lld,%lld", (long long)gnn_data_node(instance, source), (long long)gnn_data_node(instance, destination));
  else gnn_text_format(text, "%lld", (long long)id);
}

static void predict_put_text(gnn_writer *writer, gnn_text *text) {
  if (!text->is_broken) gnn_writer_put(writer, text->data, text->length);
  text->length = 0;
}

/* list NULL: rows have no ends. */
static void predict_put_chunk(predict_file *file, const gnn_instance *instance, const predict_chunk *chunk, int64_t rows, const int32_t *list) {
  enum { TEXT_BYTES = 1 << 16 };
  gnn_text *text = file->text;
  if (text == NULL) gnn_writer_put(&file->writer, predict_bytes(chunk), (size_t)(rows * predict_row_bytes(chunk, file->width)));
  for (int64_t k = 0; text && k < rows; k++) {
    gnn_text_format(text, "\n");
    predict_name_row(text, instance, file->ends, chunk->id[k], list ? list[k] : 0);
    if (chunk->classes) gnn_text_format(text, ",%lld", (long long)chunk->classes[k]);
    else for (int64_t c = 0; c < file->width; c++) gnn_text_format(text, ",%.9g", gnn_shown((double)chunk->scores[k * file->width + c]));
    if (text->length >= TEXT_BYTES || k + 1 == rows) predict_put_text(&file->writer, text);
  }
}

static gnn_status predict_rows_status(const predict_file *file, const gnn_instance *instance, gnn_error *error) {
  const gnn_status status = gnn_scores_status(instance);
  if (status != GNN_OK) gnn_step_failed(instance, status, error, "", "the scores did not come back");
  return status == GNN_OK && file->text && file->text->is_broken ? gnn_fail_memory(error, 0) : status;
}

static gnn_status predict_put_own(predict_file *file, const gnn_instance *instance, const predict_list *list, const predict_chunk *chunk, gnn_error *error) {
  gnn_status status = GNN_OK;
  for (int64_t first = 0; first < list->count && status == GNN_OK; first += chunk->room) {
    const int64_t count = list->count - first < chunk->room ? list->count - first : chunk->room;
    predict_take_rows(instance, file, list->row + first, count, chunk, 0);
    predict_put_chunk(file, instance, chunk, count, list->row + first);
    status = predict_rows_status(file, instance, error);
  }
  return status;
}

/* Rows of all ranks that have the next numbers of the data, of each rank in its order, into their common order. */
static void predict_merge(const predict_chunk *from, const int64_t *first, int ranks, int64_t width, const predict_chunk *to) {
  const int64_t bytes = predict_row_bytes(from, width);
  int64_t next[GNN_RANKS_MOST];
  memcpy(next, first, (size_t)ranks * sizeof *next);
  for (int64_t k = 0; k < first[ranks]; k++) {
    int least = -1;
    for (int r = 0; r < ranks; r++)
      if (next[r] < first[r + 1] && (least < 0 || from->id[next[r]] < from->id[next[least]])) least = r;
    memcpy(predict_bytes(to) + k * bytes, predict_bytes(from) + next[least] * bytes, (size_t)bytes);
    to->id[k] = from->id[next[least]++];
  }
}

/* Window by window of the data's numbers: each rank tells how many of its rows are there, all get them, and the first writes them. */
static gnn_status predict_put_of_ranks(predict_file *file, const gnn_instance *instance, const predict_list *list, const predict_chunk *chunk, gnn_error *error) {
  gnn_ranks *ranks = instance->run.ranks;
  const int64_t numbers = instance->whole_rows ? instance->whole_rows->score_first[ranks->count] : instance->whole.nodes, room = chunk->room;
  predict_chunk ordered = predict_make_chunk(room, file->width, chunk->classes != NULL);
  gnn_status status = predict_has_room(&ordered) ? GNN_OK : gnn_fail_memory(error, room * predict_row_bytes(chunk, file->width));
  for (int64_t window = 0, done = 0; window < numbers && status == GNN_OK; window += room) {
    int64_t count = 0, of[GNN_RANKS_MOST], first[GNN_RANKS_MOST + 1] = {0};
    while (done + count < list->count && predict_id(instance, list->row[done + count]) < window + room) count++;
    gnn_ranks_tell(ranks, &count, 1, of);
    for (int r = 0; r < ranks->count; r++) first[r + 1] = first[r] + of[r];
    predict_take_rows(instance, file, list->row + done, count, chunk, first[ranks->rank]);
    done += count;
    ranks->desc->net->gather(ranks, 0, chunk->id, first, (int64_t)sizeof *chunk->id);
    ranks->desc->net->gather(ranks, 0, predict_bytes(chunk), first, predict_row_bytes(chunk, file->width));
    if (gnn_ranks_is_first(ranks)) {
      predict_merge(chunk, first, ranks->count, file->width, &ordered);
      predict_put_chunk(file, instance, &ordered, first[ranks->count], NULL);
    }
    status = predict_rows_status(file, instance, error);
  }
  predict_drop_chunk(&ordered);
  return status;
}

/* The first line of a table. */
static void predict_head(gnn_text *text, const gnn_program *program, const gnn_csr *ends, int is_of_classes, int64_t columns) {
  gnn_text_format(text, "%s", ends ? "source,destination" : gnn_cli_row_word(program));
  for (int64_t c = 0; c < columns; c++) {
    if (is_of_classes) gnn_text_format(text, ",class");
    else gnn_text_format(text, ",%lld", (long long)c);
  }
}

static int predict_is_table(const gnn_cli *cli) {
  const char *dot = strrchr(cli->output, '.');
  return (dot && strcmp(dot, ".csv") == 0) || strcmp(cli->output, "-") == 0;
}

/* Ranks after the first write none. */
static gnn_status predict_open(const gnn_cli *cli, const predict_list *list, predict_file *file, gnn_error *error) {
  const int is_of_classes = cli->wants_classes;
  const gnn_array array = {.dtype = is_of_classes ? GNN_I64 : GNN_F32, .rank = is_of_classes ? 1 : 2, .shape = {list->all, file->width}};
  if (file->text) predict_head(file->text, cli->program, file->ends, is_of_classes, is_of_classes ? 1 : file->width);
  if (!gnn_ranks_is_first(cli->ranks)) return GNN_OK;
  const gnn_status status = file->text ? gnn_writer_open(&file->writer, cli->output, error) : gnn_npy_begin(&file->writer, cli->output, &array, error);
  if (status == GNN_OK && file->text) predict_put_text(&file->writer, file->text);
  return status;
}

/* Rows of values[rows, width], or of the scores, as numbers or as the greatest one's column. */
static gnn_status predict_write(const gnn_cli *cli, gnn_instance *instance, const predict_list *list, const float *values, int64_t width, gnn_error *error) {
  enum { CHUNK_BYTES = 1 << 20 };
  gnn_csr brought = {0};
  gnn_text text = {0};
  predict_file file = {.text = predict_is_table(cli) ? &text : NULL, .values = values, .width = width};
  gnn_status status = cli->ranks ? GNN_OK : predict_ends(instance, &brought, &file.ends, error);
  predict_chunk chunk = predict_make_chunk(CHUNK_BYTES / (4 * width) + 1, width, cli->wants_classes);
  if (status == GNN_OK && !predict_has_room(&chunk)) status = gnn_fail_memory(error, CHUNK_BYTES);
  if (status == GNN_OK) status = predict_open(cli, list, &file, error);
  if (status == GNN_OK) {
    status = cli->ranks ? predict_put_of_ranks(&file, instance, list, &chunk, error) : predict_put_own(&file, instance, list, &chunk, error);
    if (gnn_ranks_is_first(cli->ranks)) {
      if (file.text) gnn_writer_put(&file.writer, "\n", 1);
      if (status != GNN_OK) file.writer.errno_value = ECANCELED; /* nothing is left of the file */
      const gnn_status closed = gnn_writer_close(&file.writer, status == GNN_OK ? error : NULL);
      if (status == GNN_OK) status = closed;
    }
  }
  gnn_text_free(&text);
  predict_drop_chunk(&chunk);
  free((void *)(uintptr_t)brought.idx);
  if (brought.ptr != instance->run.sets[GNN_EDGES].in.ptr) free((void *)(uintptr_t)brought.ptr);
  return status;
}

/* The first tap within what is called so: of "deep", which layers of a loop are called, "deep.0.h". */
static const char *predict_first_within(const gnn_program *program, const char *name) {
  const size_t length = strlen(name);
  for (int i = 0; i < program->tap_count; i++)
    if (strncmp(program->taps[i], name, length) == 0 && program->taps[i][length] == '.') return program->taps[i];
  return NULL;
}

/* What it is where no tap is called so: the program has the name for something else. NULL: it has not. */
static const char *predict_other_kind(const gnn_program *program, const char *name) {
  for (int f = 0; f < program->field_count; f++)
    if (strcmp(program->fields[f].name, name) == 0) return "a field of the data; gnndata head prints its rows";
  for (int w = 0; w < program->weight_count; w++)
    if (strcmp(program->weights[w].name, name) == 0) return "a weight; it is in the file of weights";
  return NULL;
}

/* The tap of that name, or the one that ends with it: "conv1.h" of "h", if there is one alone. NULL after a message. */
static const char *predict_layer(const gnn_cli *cli) {
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
    gnn_cli_refuse(cli, 0, "--layer %s: this program keeps no results of layers\n  help: where its plan had no room for them, a larger --budget of gnncc brings them back; --precision=bf16 keeps none", cli->layer);
    return NULL;
  }
  const char *kind = count || is_untold ? NULL : predict_other_kind(program, cli->layer);
  const char *near = count || is_untold || kind ? NULL : predict_first_within(program, cli->layer);
  if (near == NULL && !count && !is_untold && !kind) near = gnn_nearest(cli->layer, program->taps, program->tap_count);
  gnn_text text = {0};
  if (count) gnn_text_format(&text, "%d values are called \"%s\"", count, cli->layer);
  else if (is_untold) gnn_text_format(&text, "\"%s\" is stored by no step of the evaluation", cli->layer);
  else if (kind) gnn_text_format(&text, "\"%s\" is %s", cli->layer, kind);
  else gnn_text_format(&text, "no value is called \"%s\"", cli->layer);
  if (near) gnn_text_format(&text, "; did you mean %s?", near);
  gnn_text_format(&text, "\n  known:");
  for (int i = 0; i < program->tap_count; i++) gnn_text_format(&text, " %s", program->taps[i]);
  if (is_untold) gnn_text_format(&text, "\n  help: gnncc -O0 stores every value that the scores depend on and that lives where they do, whole where the budget lets it");
  gnn_cli_refuse(cli, 0, "%s", text.data ? text.data : "no memory");
  gnn_text_free(&text);
  return NULL;
}

/* ---- results of layers ---- */

typedef struct predict_tap {
  const gnn_cli *cli;
  gnn_instance *instance;
  const char *wanted;
  int split, is_seen;
  float *values;  /* rows * width; of batch after batch */
  int64_t rows, width, next_graph; /* of the data: the first of the next batch */
  int64_t written;
  gnn_status status;
  gnn_error *error;
} predict_tap;

/* Of values[rows, width], or of the scores. */
static gnn_status predict_write_checked(predict_tap *tap, const float *values) {
  if (tap->wanted && (!tap->is_seen || tap->rows != predict_rows_here(tap->instance)))
    return gnn_fail(tap->error, GNN_EDATA, "", "\"%s\" does not live where the scores do", tap->cli->layer);
  predict_list list = {0};
  gnn_status status = gnn_home_bring_ids(tap->instance, tap->error);
  if (status == GNN_OK) status = predict_find_rows(tap->instance, tap->split, &list, tap->error);
  if (status == GNN_OK) status = predict_check_finite(tap->cli, tap->instance, &list, values, tap->width, tap->error);
  if (status == GNN_OK) status = predict_write(tap->cli, tap->instance, &list, values, tap->width, tap->error);
  tap->written = list.all;
  free(list.row);
  return status;
}

/* Whether the step that has made a value may write it from where it lies: no more memory is needed then. */
static int predict_writes_at_once(const predict_tap *tap) {
  const gnn_program *program = tap->cli->program;
  const int is_of_nodes = program->scores_domain == GNN_NODE || program->scores_domain == GNN_TYPE;
  return sizeof(gnn_real) == sizeof(float) && tap->instance->batches == NULL && is_of_nodes && !gnn_backend_of(program)->is_apart;
}

static void predict_on_tap(void *user, const char *name, const gnn_real *value, int64_t rows, int64_t width) {
  predict_tap *tap = user;
  const gnn_batch *batch = &tap->instance->batch;
  const int is_next = !tap->is_seen || (batch->graphs && batch->graph[0] == tap->next_graph); /* a layer that is called twice counts once */
  if (strcmp(name, tap->wanted) != 0 || !is_next || tap->status != GNN_OK) return;
  tap->is_seen = 1;
  tap->width = width;
  if (predict_writes_at_once(tap)) {
    tap->rows = rows;
    tap->status = predict_write_checked(tap, (const float *)(const void *)value);
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
static int predict_is_of_scores(const gnn_program *program, const char *tap) {
  for (int i = 0; i < program->scores_tap_count; i++)
    if (program->taps[i] == tap) return 1;
  return 0;
}

int gnn_command_predict(const gnn_cli *cli) {
  gnn_session session;
  gnn_error error;
  int split = gnn_cli_split(cli);
  const char *wanted = cli->layer ? predict_layer(cli) : NULL;
  if (split < 0 || (cli->layer && wanted == NULL)) return GNN_EXIT_USAGE;
  if (cli->output == NULL) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "predict needs a file to write: -o out.npy");
  const gnn_program *program = cli->program;
  if (cli->wants_classes && program->label_field >= 0 && program->fields[program->label_field].storage != GNN_LABEL) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "%s are no classes, so there are none to predict; without --classes the scores are written", program->fields[program->label_field].name);
  if (cli->layer && cli->wants_classes) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "--classes and --layer exclude each other");
  if (cli->ranks && predict_is_table(cli) && (program->scores_domain == GNN_EDGE || program->scores_domain == GNN_RELATION)) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "a table of %ss has their ends, which one process writes; ranks write numbers alone: -o out.npy", gnn_cli_row_word(program));
  if (wanted && predict_is_of_scores(program, wanted)) wanted = NULL;
  int code = gnn_session_open_trained(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_instance *instance = session.instance;
  gnn_run *run = &instance->run;
  predict_tap tap = {.cli = cli, .instance = instance, .wanted = wanted, .split = split, .width = program->classes, .error = &error};
  if (wanted) {
    run->tap = predict_on_tap;
    run->tap_user = &tap;
  }
  gnn_status status = gnn_score(instance);
  const int is_written = tap.is_seen && predict_writes_at_once(&tap);
  if (tap.status != GNN_OK) status = tap.status;
  else if (status != GNN_OK) gnn_step_failed(instance, status, &error, "", "evaluation failed");
  else if (!is_written) status = predict_write_checked(&tap, tap.values);
  if (status == GNN_OK && !cli->is_quiet && strcmp(cli->output, "-") != 0)
    printf("wrote %s: %s rows\n", cli->output, gnn_count_text(tap.written).text);
  free(tap.values);
  gnn_session_close(&session);
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}
