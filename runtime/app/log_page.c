/* log_page.c: the page of --log html. Rows stand a line each in its data, so that a training that goes on finds them again; what draws
 * them is log_page.html, which takes further logs, too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "log_page.h"

#include "runtime/base/file.h"
#include "runtime/core/device.h"
#include "runtime/data/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_ROWS = 8192, PAGE_FIXED = 6 /* loss .. seconds */, PAGE_SHOWN = 1, PAGE_SHARE = 50 };

struct gnn_log_page_row {
  int64_t run, epoch, number; /* number: how many rows were before it */
};

struct gnn_log_page_run {
  int64_t run, best_epoch; /* -1: none yet */
  double best[GNN_SPLIT_COUNT];
};

extern const char *const gnn_log_page_html[]; /* made of log_page.html: its lines, then NULL */

/* ---- rows ---- */

static gnn_log_page_run *page_run(gnn_log_page *page, int64_t run) {
  if (page->run_count && page->runs[page->run_count - 1].run == run) return &page->runs[page->run_count - 1];
  gnn_log_page_run *runs = realloc(page->runs, (size_t)(page->run_count + 1) * sizeof *runs);
  if (runs == NULL) {
    page->status = gnn_fail_memory(&page->error, 0);
    return NULL;
  }
  page->runs = runs;
  runs[page->run_count] = (gnn_log_page_run){.run = run, .best_epoch = -1};
  return &runs[page->run_count++];
}

/* Every second row goes, but for the last of each run. */
static void page_thin(gnn_log_page *page) {
  int64_t kept = 0;
  page->stride *= 2;
  for (int64_t i = 0; i < page->row_count; i++) {
    const int is_last = i + 1 == page->row_count || page->rows[i + 1].run != page->rows[i].run;
    if (page->rows[i].number % page->stride && !is_last) continue;
    page->rows[kept] = page->rows[i];
    memmove(page->numbers + kept * page->width, page->numbers + i * page->width, (size_t)page->width * sizeof *page->numbers);
    kept++;
  }
  page->row_count = kept;
}

/* Where the next row goes: instead of the last one, if that was there for being the last only. */
static double *page_row(gnn_log_page *page, int64_t run, int64_t epoch) {
  const gnn_log_page_row *last = page->row_count ? &page->rows[page->row_count - 1] : NULL;
  if (last && last->run == run && last->number % page->stride) page->row_count--;
  if (page->row_count == PAGE_ROWS) page_thin(page);
  if (page->row_count == page->capacity) {
    const int64_t capacity = page->capacity ? 2 * page->capacity : 256;
    gnn_log_page_row *rows = realloc(page->rows, (size_t)capacity * sizeof *rows);
    if (rows) page->rows = rows;
    double *numbers = rows ? realloc(page->numbers, (size_t)(capacity * page->width) * sizeof *numbers) : NULL;
    if (numbers == NULL) {
      page->status = gnn_fail_memory(&page->error, capacity * (int64_t)(sizeof *rows + (size_t)page->width * sizeof *numbers));
      return NULL;
    }
    page->numbers = numbers;
    page->capacity = capacity;
  }
  page->rows[page->row_count] = (gnn_log_page_row){run, epoch, page->seen++};
  return page->numbers + page->row_count++ * page->width;
}

/* What is shown of a split is a metric, or the loss, of which less is better. */
static int page_is_better(const gnn_program *program, double value, double than) {
  const int is_larger_better = program->metric_count && gnn_metric_is_larger_better(program->metrics[0].kind);
  return is_larger_better ? value > than : value < than;
}

static void page_see(const gnn_log_page *page, gnn_log_page_run *run, int64_t epoch, const double *numbers) {
  const double *shown = numbers + PAGE_SHOWN;
  const int split = isnan(shown[GNN_VALID]) ? GNN_TRAIN : GNN_VALID;
  if (isnan(shown[split]) || (run->best_epoch >= 0 && !page_is_better(page->program, shown[split], run->best[split]))) return;
  run->best_epoch = epoch;
  memcpy(run->best, shown, sizeof run->best);
}

static void page_keep(const gnn_log_page *page, gnn_log_page_run *run, const gnn_keeper *keeper) {
  const gnn_program *program = page->program;
  if (keeper->best_epoch < 0) return;
  run->best_epoch = keeper->best_epoch;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    run->best[s] = program->shows[s] && keeper->best[s].count ? gnn_result_shown(program, &keeper->best[s]) : (double)NAN;
}

/* ---- the file ---- */

static void page_number(gnn_text *text, double value) {
  if (isfinite(value)) gnn_text_format(text, ",%.9g", value);
  else gnn_text_append(text, ",null", 5);
}

static void page_columns(gnn_text *text, const gnn_program *program) {
  gnn_text_format(text, "[\"run\",\"epoch\",\"loss\"");
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) gnn_text_format(text, ",\"%s\"", gnn_split_names[s]);
  gnn_text_format(text, ",\"lr\",\"seconds\"");
  for (int i = 1; i < program->metric_count; i++)
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) gnn_text_format(text, ",\"%s_%s\"", gnn_split_names[s], program->metrics[i].name);
  gnn_text_format(text, "]");
}

/* The line before the rows. Names are words of the language, so that none ends the element. */
static void page_head(gnn_text *text, const gnn_log_page *page) {
  const gnn_program *program = page->program;
  gnn_text_format(text, "{\"format\":\"gnncc-log/1\",\"model\":");
  gnn_text_json(text, program->name);
  gnn_text_format(text, ",\"data\":");
  gnn_text_json(text, program->data_name);
  gnn_text_format(text, ",\"seed\":%llu,\"metric\":", (unsigned long long)page->seed);
  gnn_text_json(text, program->metric_count ? program->metrics[0].name : "loss");
  gnn_text_format(text, ",\"is_larger_better\":%s,\"is_kept\":%s,\"columns\":", page_is_better(program, 1, 0) ? "true" : "false", program->has_keep ? "true" : "false");
  page_columns(text, program);
  gnn_text_format(text, ",\"rows\":[\n");
}

static void page_data(gnn_text *text, const gnn_log_page *page) {
  page_head(text, page);
  for (int64_t i = 0; i < page->row_count; i++) {
    gnn_text_format(text, "[%lld,%lld", (long long)page->rows[i].run, (long long)page->rows[i].epoch);
    for (int k = 0; k < page->width; k++) page_number(text, page->numbers[i * page->width + k]);
    gnn_text_format(text, i + 1 < page->row_count ? "],\n" : "]\n");
  }
  gnn_text_format(text, "],\"best\":[\n");
  for (int64_t i = 0; i < page->run_count; i++) {
    gnn_text_format(text, "[%lld,%lld", (long long)page->runs[i].run, (long long)page->runs[i].best_epoch);
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) page_number(text, page->runs[i].best_epoch < 0 ? (double)NAN : page->runs[i].best[s]);
    gnn_text_format(text, i + 1 < page->run_count ? "],\n" : "]\n");
  }
  gnn_text_format(text, "],\"stride\":%lld}\n", (long long)page->stride);
}

static const char page_place[] = "@log@\n"; /* the line of log_page.html that the data take the place of */

static void page_write(gnn_log_page *page) {
  if (page->status != GNN_OK) return;
  const double before = gnn_now();
  gnn_text text = {0};
  for (const char *const *line = gnn_log_page_html; *line; line++) {
    if (strcmp(*line, page_place) == 0) page_data(&text, page);
    else gnn_text_append(&text, *line, strlen(*line));
  }
  page->status = text.is_broken ? gnn_fail_memory(&page->error, (int64_t)text.capacity) : gnn_text_write(&text, page->path, &page->error);
  gnn_text_free(&text);
  const double now = gnn_now(), rest = PAGE_SHARE * (now - before);
  page->due = now + (rest > 1 ? rest : 1);
}

/* ---- going on ---- */

/* "[0,1,2.5,null]" as `count` numbers; returns whether that is the line. */
static int page_take_numbers(const char *line, const char *end, int count, double *numbers) {
  if (line == end || *line++ != '[') return 0;
  for (int i = 0; i < count; i++) {
    char word[40];
    size_t length = 0;
    while (line < end && *line != ',' && *line != ']' && length < sizeof word - 1) word[length++] = *line++;
    word[length] = 0;
    if (line == end || *line++ != (i + 1 < count ? ',' : ']')) return 0;
    numbers[i] = (double)NAN;
    if (strcmp(word, "null") != 0 && !gnn_parse_number(word, &numbers[i])) return 0;
  }
  return 1;
}

/* The rows of the page that is there, if it is of such a program, up to the epoch that the training goes on from; and the bests of runs
 * that have ended. */
static void page_take(gnn_log_page *page, const gnn_file *file, int64_t run, int64_t epoch) {
  gnn_text head = {0};
  double numbers[2 + PAGE_FIXED + GNN_METRIC_MAX * GNN_SPLIT_COUNT];
  page_head(&head, page);
  const char *text = (const char *)file->data, *end = text + file->size;
  const char *line = head.is_broken ? NULL : memmem(text, file->size, head.data, head.length);
  int is_of_rows = 1;
  if (line) line += head.length;
  gnn_text_free(&head);
  for (const char *next; line && line < end && page->status == GNN_OK; line = next) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    next = stop ? stop + 1 : end;
    if (*line == ']' && !is_of_rows) return;
    if (*line == ']') {
      is_of_rows = 0;
    } else if (!page_take_numbers(line, next, is_of_rows ? 2 + page->width : 2 + GNN_SPLIT_COUNT, numbers)) {
      return;
    } else if (is_of_rows && (numbers[0] < (double)run || (numbers[0] == (double)run && numbers[1] <= (double)epoch))) {
      double *row = page_row(page, (int64_t)numbers[0], (int64_t)numbers[1]);
      gnn_log_page_run *of = row ? page_run(page, (int64_t)numbers[0]) : NULL;
      if (row) memcpy(row, numbers + 2, (size_t)page->width * sizeof *row);
      if (of && !page->program->has_keep) page_see(page, of, (int64_t)numbers[1], numbers + 2);
    }
    for (int64_t i = 0; !is_of_rows && *line == '[' && i < page->run_count; i++) {
      gnn_log_page_run *of = &page->runs[i];
      if (of->run != (int64_t)numbers[0] || of->run >= run || numbers[1] < 0) continue;
      of->best_epoch = (int64_t)numbers[1];
      memcpy(of->best, numbers + 2, sizeof of->best);
    }
  }
}

gnn_status gnn_log_page_open(gnn_log_page *page, const gnn_program *program, const char *folder, uint64_t seed, int is_resumed, int64_t run, int64_t epoch,
                             gnn_error *error) {
  gnn_file file;
  memset(page, 0, sizeof *page);
  page->program = program;
  page->seed = seed;
  page->stride = 1;
  page->width = PAGE_FIXED + (program->metric_count > 1 ? program->metric_count - 1 : 0) * GNN_SPLIT_COUNT;
  page->path = gnn_path_join(folder, "log.html");
  if (page->path == NULL) return gnn_fail_memory(error, 256);
  if (is_resumed && gnn_file_open(page->path, gnn_file_text, &file, NULL) == GNN_OK) {
    page_take(page, &file, run, epoch);
    gnn_file_close(&file);
  }
  page_write(page);
  if (page->status != GNN_OK && error) *error = page->error;
  return page->status;
}

/* ---- writing ---- */

void gnn_log_page_put(gnn_log_page *page, int64_t run, int64_t epoch, const double *numbers, const gnn_keeper *keeper) {
  if (page->path == NULL || page->status != GNN_OK) return;
  gnn_log_page_run *of = page_run(page, run);
  double *row = of ? page_row(page, run, epoch) : NULL;
  if (row == NULL) return;
  memcpy(row, numbers, (size_t)page->width * sizeof *row);
  if (page->program->has_keep) page_keep(page, of, keeper);
  else page_see(page, of, epoch, numbers);
  if (gnn_now() >= page->due) page_write(page);
}

void gnn_log_page_finish_run(gnn_log_page *page, int64_t run, const gnn_keeper *keeper) {
  if (page->path == NULL || page->status != GNN_OK || !page->program->has_keep) return;
  gnn_log_page_run *of = page_run(page, run);
  if (of) page_keep(page, of, keeper);
}

gnn_status gnn_log_page_close(gnn_log_page *page, gnn_error *error) {
  if (page->path) page_write(page);
  const gnn_status status = page->status;
  if (status != GNN_OK && error) *error = page->error;
  free(page->path);
  free(page->rows);
  free(page->numbers);
  free(page->runs);
  memset(page, 0, sizeof *page);
  return status;
}
