/* console.c: what a training program prints: header, table, live line, closing block. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fold_runs.h"
#include "runtime/core/device.h"
#include "runtime/core/ranks.h"

enum { CONSOLE_ROWS = 20, CONSOLE_SECONDS = 60 }; /* rows of a run on a terminal; between rows in a file */
enum { CONSOLE_COLUMNS = 80 };                      /* where neither the terminal nor COLUMNS says */

static const char *console_device(const gnn_program *program) { return program->device_name ? program->device_name : "device"; }

int gnn_loop_shows(const gnn_loop *loop, int split) {
  return loop->program->shows[split] && loop->instance->whole.row_count[split] > 0;
}

int64_t gnn_loop_parameters(const gnn_program *program) {
  int64_t count = 0;
  for (int w = 0; w < program->weight_count; w++)
    if (program->weights[w].is_trained) count += program->weights[w].count;
  return count;
}

/* One column is left free: terminals go on to the next line in different ways. */
static size_t console_columns(void) {
  struct winsize size;
  int64_t columns;
  const char *text = getenv("COLUMNS");
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) columns = size.ws_col;
  else if (!text || !gnn_parse_integer(text, &columns) || columns < 2 || columns > INT32_MAX) columns = CONSOLE_COLUMNS;
  return (size_t)columns - 1;
}



/* mpirun gives ranks a terminal of its own, whatever becomes of what it reads there. */
static int console_is_terminal(const gnn_program *program) { return program->ranks == NULL && isatty(STDOUT_FILENO); }

/* Lines broken at blanks where a terminal would break them anywhere; what follows is indented. */
static void console_put_lines(const gnn_program *program, const char *text) {
  const size_t columns = console_is_terminal(program) ? console_columns() + 1 : 0;
  size_t at = 0;
  while (*text) {
    const size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " \n");
    if (columns && at > 2 && at + blanks + word > columns) {
      printf("\n  ");
      at = 2;
    } else {
      printf("%.*s", (int)blanks, text);
      at += blanks;
    }
    printf("%.*s", (int)word, text + blanks);
    at += word;
    text += blanks + word;
    if (*text == '\n') {
      printf("\n");
      at = 0;
      text++;
    }
  }
}

typedef struct console_counts {
  int64_t nodes, edges;
  int relations;
} console_counts;

/* Of all types and relations. */
static console_counts console_count(const gnn_run *run, const gnn_whole *whole) {
  console_counts counts = {.nodes = whole->nodes, .edges = whole->edges, .relations = gnn_data_sets(run->program) > GNN_RELATIONS ? gnn_data_sets(run->program) - GNN_RELATIONS - (run->program->recipe.pairs.name != NULL) : 0};
  if (run->ranks) counts.nodes = run->ranks->desc->all_nodes, counts.edges = run->ranks->desc->all_edges;
  if (run->ranks) return counts;
  for (int t = 0; t < gnn_data_types(run->program); t++) counts.nodes += run->type_nodes[t];
  for (int set = GNN_RELATIONS; gnn_data_types(run->program) && set < gnn_data_sets(run->program); set++) counts.edges += run->sets[set].in.entries;
  return counts;
}

void gnn_print_header(const gnn_instance *instance, uint64_t seed) {
  const gnn_whole *whole = &instance->whole;
  const gnn_program *program = instance->run.program;
  gnn_text line = {0};
  gnn_text_format(&line, "%s on %s   ", program->name, program->data_name);
  if (whole->graphs > 1) gnn_text_format(&line, "%s graphs  ", gnn_count_text(whole->graphs).text);
  const console_counts counts = console_count(&instance->run, whole);
  gnn_text_format(&line, "%s nodes  %s edges", gnn_count_text(counts.nodes).text, gnn_count_text(counts.edges).text);
  if (counts.relations) gnn_text_format(&line, " of %d relations", counts.relations);
  gnn_text_format(&line, "  train/valid/test %s/%s/%s\n", gnn_count_text(whole->row_count[GNN_TRAIN]).text,
                  gnn_count_text(whole->row_count[GNN_VALID]).text, gnn_count_text(whole->row_count[GNN_TEST]).text);
  gnn_text_format(&line, "%s parameters   seed %llu   plan %.8s (peak %s %s", gnn_count_text(gnn_loop_parameters(program)).text,
                  (unsigned long long)seed, program->fingerprint, gnn_bytes_text(program->device_bytes).text, console_device(program));
  if (program->host_bytes) gnn_text_format(&line, ", %s host", gnn_bytes_text(program->host_bytes).text);
  if (program->ssd_bytes) gnn_text_format(&line, ", %s ssd", gnn_bytes_text(program->ssd_bytes).text);
  if (program->process_bytes) gnn_text_format(&line, ", %s process", gnn_bytes_above_text(program->process_bytes).text);
  gnn_text_format(&line, ")");
  if (program->ranks) gnn_text_format(&line, "   %d ranks", program->ranks->count);
  const char *approximation = instance->approximation;
  if (approximation && program->ranks && program->approximation) gnn_text_format(&line, "   %s", approximation);
  else if (approximation) gnn_text_format(&line, "   %s in epochs before, of ranks; %swhat follows is exact", approximation, program->ranks ? "" : "one process has no boundary, ");
  else if (program->approximation) gnn_text_format(&line, "   %s: one process has no boundary, this is exact", program->approximation);
  if (program->batch_graphs) gnn_text_format(&line, "   batches of %lld graphs", (long long)program->batch_graphs);
  int split = whole->row_count[GNN_VALID] ? GNN_VALID : GNN_TRAIN;
  if (gnn_has_accuracy(program) && program->fields[program->label_field].storage == GNN_LABEL)
    gnn_text_format(&line, "   baseline, always \"class %lld\": %s %.3f", (long long)instance->majority_class, gnn_split_names[split],
                    instance->majority_share[split]);
  gnn_text_format(&line, "\n");
  if (gnn_backend_of(program)->is_apart) {
    gnn_text device = {0};
    gnn_backend_of(program)->describe(instance, &device);
    gnn_text_format(&line, "on %s\n", device.data ? device.data : gnn_backend_of(program)->name);
    gnn_text_free(&device);
  }
  if (line.data) console_put_lines(program, line.data);
  gnn_text_free(&line);
}

void gnn_loop_erase_live(gnn_loop *loop) {
  if (loop->is_live_shown) printf("\r\033[K");
  loop->is_live_shown = 0;
}

enum { CONSOLE_EPOCH = 13, CONSOLE_SPLIT = 9, CONSOLE_NEXT = 8, CONSOLE_TIME = 10 }; /* columns of epoch and loss, of the first split, of each other, of the time */

static int console_is_colored(const gnn_loop *loop) {
  const char *no_color = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
  if (no_color && *no_color) return 0;
  if (force && *force && strcmp(force, "0") != 0) return 1;
  return (console_is_terminal(loop->program) || (loop->options->progress == GNN_PROGRESS_BAR && isatty(STDOUT_FILENO))) && !(term && strcmp(term, "dumb") == 0);
}

/* What a narrow terminal has columns for: first the time goes, then all splits but valid (without that, train). Elsewhere all is shown. */
static int console_has_column(const gnn_loop *loop, int split) {
  const int is_time = split == GNN_SPLIT_COUNT, main = gnn_loop_shows(loop, GNN_VALID) ? GNN_VALID : GNN_TRAIN;
  int splits = 0;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) splits += gnn_loop_shows(loop, s);
  if (!is_time && !gnn_loop_shows(loop, split)) return 0;
  if (!console_is_terminal(loop->program)) return 1;
  const int columns = (int)console_columns() + 1, all = CONSOLE_EPOCH + (splits ? CONSOLE_SPLIT + (splits - 1) * CONSOLE_NEXT : 0);
  if (is_time) return all + CONSOLE_TIME <= columns;
  return all <= columns || (split == main && CONSOLE_EPOCH + CONSOLE_SPLIT <= columns);
}

void gnn_loop_table_head(const gnn_loop *loop) {
  const int is_strong = console_is_colored(loop);
  int width = CONSOLE_SPLIT;
  printf("%sepoch    loss", is_strong ? "\033[1m" : "");
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    if (!console_has_column(loop, s)) continue;
    printf("%*s", width, gnn_split_names[s]);
    width = CONSOLE_NEXT;
  }
  printf("%s%s\n", console_has_column(loop, GNN_SPLIT_COUNT) ? "      time" : "", is_strong ? "\033[0m" : "");
}

void gnn_loop_row(gnn_loop *loop, int is_evaluated) {
  int width = CONSOLE_SPLIT;
  gnn_loop_erase_live(loop);
  printf("%5lld  %.4f", (long long)loop->instance->run.epoch, gnn_shown(loop->instance->run.loss));
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    if (!console_has_column(loop, s)) continue;
    if (is_evaluated) printf("%*.4f", width, gnn_shown(gnn_result_shown(loop->program, &loop->result[s])));
    else printf("%*s", width, "");
    width = CONSOLE_NEXT;
  }
  double seconds = loop->row_epochs ? loop->row_seconds / (double)loop->row_epochs : loop->epoch_seconds;
  if (console_has_column(loop, GNN_SPLIT_COUNT)) printf("%*s", CONSOLE_TIME, gnn_seconds_text(seconds).text);
  printf("\n");
  fflush(stdout);
  loop->row_seconds = 0;
  loop->row_epochs = 0;
  loop->last_row = gnn_now();
}

/* What a narrow terminal goes without, the first first. */
enum { WITHOUT_BEST = 1, WITHOUT_PACE, WITHOUT_BUDGET, WITHOUT_METRIC, WITHOUT_MEMORY, WITHOUT_LOSS };

/* The line that says where the loop is: live on a terminal, or once when USR2 asks. */
static void console_status_line(const gnn_loop *loop, int without, gnn_text *line) {
  const gnn_program *program = loop->program;
  const gnn_keeper *keeper = &loop->progress.keeper;
  int64_t epoch = loop->instance->run.epoch, left = loop->options->epochs - epoch;
  double mean = epoch ? (gnn_now() - loop->run_started) / (double)epoch : 0;
  int split = loop->instance->whole.row_count[GNN_VALID] ? GNN_VALID : GNN_TRAIN;
  gnn_text_format(line, "%s ", gnn_is_utf8() ? "▸" : ">");
  if (loop->options->runs > 1) gnn_text_format(line, "run %lld  ", (long long)loop->progress.run_index);
  gnn_text_format(line, "%lld/%lld", (long long)epoch, (long long)loop->options->epochs);
  if (without < WITHOUT_LOSS) gnn_text_format(line, "  loss %.4f", gnn_shown(loop->instance->run.loss));
  if (keeper->best_epoch >= 0 && without < WITHOUT_METRIC) {
    gnn_text_format(line, "  %s %.4f", gnn_split_names[split], gnn_shown(gnn_result_shown(program, &loop->result[split])));
    if (program->has_keep && without < WITHOUT_BEST)
      gnn_text_format(line, " (best %.4f @ %lld)", gnn_shown(gnn_result_shown(program, &keeper->best[split])), (long long)keeper->best_epoch);
  }
  if (without < WITHOUT_PACE) gnn_text_format(line, "  %s/epoch", gnn_seconds_text(mean).text);
  gnn_text_format(line, "  %s left", gnn_seconds_text(mean * (double)(left > 0 ? left : 0)).text);
  if (without < WITHOUT_MEMORY) gnn_text_format(line, "  %s %s", console_device(program), gnn_bytes_text(program->device_bytes).text);
  if (program->device_budget > 0 && without < WITHOUT_BUDGET) gnn_text_format(line, " of %s", gnn_bytes_text(program->device_budget).text);
}

/* The bytes of the first `columns` characters. */
static size_t console_cut(const gnn_text *line, size_t columns) {
  size_t shown = 0;
  for (size_t i = 0; i < line->length; i++)
    if (((unsigned char)line->data[i] & 0xc0) != 0x80 && shown++ == columns) return i;
  return line->length;
}

void gnn_loop_live(gnn_loop *loop, int is_asked) {
  double now = gnn_now();
  int is_due = loop->has_live_line && now - loop->last_live >= 0.1;
  if (!is_asked && !is_due) return;
  gnn_text line = {0};
  console_status_line(loop, 0, &line);
  if (is_asked && !line.is_broken) {
    gnn_loop_erase_live(loop);
    printf("%s\n", line.data);
  }
  if (is_due && !line.is_broken) {
    loop->last_live = now;
    loop->is_live_shown = 1;
    size_t columns = console_columns();
    for (int without = WITHOUT_BEST; without <= WITHOUT_LOSS && console_cut(&line, columns) < line.length && !line.is_broken; without++) {
      line.length = 0;
      console_status_line(loop, without, &line);
    }
    printf("\r\033[K%.*s", (int)console_cut(&line, columns), line.data);
  }
  fflush(stdout);
  gnn_text_free(&line);
}

void gnn_loop_choose_rows(gnn_loop *loop) {
  static const int nice[] = {1, 2, 5};
  const gnn_train_options *options = loop->options;
  const int is_terminal = console_is_terminal(loop->program);
  loop->has_live_line = options->progress == GNN_PROGRESS_BAR || (options->progress == GNN_PROGRESS_AUTO && is_terminal);
  loop->is_plain = options->progress == GNN_PROGRESS_AUTO && !is_terminal && options->every == 0 && !options->is_verbose;
  if (options->is_quiet) loop->has_live_line = 0;
  int64_t evaluated = loop->program->evaluate_every > 0 ? loop->program->evaluate_every : 1;
  if (options->every > 0) {
    loop->row_step = options->every;
  } else if (options->is_verbose) {
    loop->row_step = evaluated;
  } else {
    int64_t step = 1, power = 1;
    for (int i = 0; options->epochs / (step * evaluated) > CONSOLE_ROWS; i++) {
      if (i % 3 == 2) power *= 10;
      step = power * nice[(i + 1) % 3];
    }
    loop->row_step = step * evaluated;
  }
}

int gnn_loop_wants_row(const gnn_loop *loop, int64_t epoch, int is_evaluated) {
  if (loop->options->is_quiet || loop->options->progress == GNN_PROGRESS_NONE) return 0;
  if (loop->options->every > 0) return epoch % loop->row_step == 0;
  if (!is_evaluated) return 0;
  if (!loop->is_plain) return epoch % loop->row_step == 0 || epoch == loop->options->epochs;
  int64_t first = loop->program->evaluate_every > 0 ? loop->program->evaluate_every : 1;
  return epoch <= first || epoch == loop->options->epochs ||
         gnn_now() - loop->last_row >= (double)CONSOLE_SECONDS;
}

void gnn_loop_print_further(const gnn_loop *loop, const gnn_result *result) {
  const gnn_program *program = loop->program;
  for (int i = 1; i < program->metric_count; i++) {
    printf("  %-17s ", program->metrics[i].name);
    const char *gap = "";
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
      if (!gnn_loop_shows(loop, s)) continue;
      printf("%s%s %.4f", gap, gnn_split_names[s], gnn_shown(result[s].metric[i]));
      gap = "  ";
    }
    printf("\n");
  }
  for (int i = 0; i < program->metric_count; i++)
    for (int s = 0; s < GNN_SPLIT_COUNT; s++)
      if (gnn_loop_shows(loop, s) && isnan(result[s].metric[i]) && isfinite(result[s].loss))
        printf("%s is not defined on %s: %s\n", program->metrics[i].name, gnn_split_names[s],
               program->metrics[i].kind == GNN_METRIC_R2 ? "its labels are all the same" : "its rows are all of one class");
}

void gnn_loop_print_results(const gnn_loop *loop, const gnn_result *result) {
  const char *gap = "";
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    if (!gnn_loop_shows(loop, s)) continue;
    printf("%s%s %.4f", gap, gnn_split_names[s], gnn_shown(gnn_result_shown(loop->program, &result[s])));
    gap = "  ";
  }
}

int gnn_loop_rate_option(const gnn_program *program) {
  for (int i = 0; program->rate_option && i < program->option_count; i++)
    if (strcmp(program->options[i].name, program->rate_option) == 0) return i;
  return -1;
}

static void console_hints(const gnn_loop *loop) {
  const gnn_program *program = loop->program;
  const gnn_instance *instance = loop->instance;
  const gnn_keeper *keeper = &loop->progress.keeper;
  if (!gnn_has_accuracy(program) || program->fields[program->label_field].storage != GNN_LABEL || loop->options->epochs < 10) return;
  int split = instance->whole.row_count[GNN_VALID] ? GNN_VALID : GNN_TRAIN;
  if (keeper->best[split].metric[0] <= instance->majority_share[split] + 0.01)
    printf("HINT: %s %.4f is no better than always answering \"class %lld\" (%.4f); try another %s%s, or gnndata check\n",
           gnn_split_names[split], keeper->best[split].metric[0], (long long)instance->majority_class,
           instance->majority_share[split], program->rate_option ? "--" : "learning rate", program->rate_option ? program->rate_option : "");
  else if (program->has_keep && keeper->best_epoch == loop->options->epochs && keeper->best_epoch > 0)
    printf("HINT: the last epoch is the best; more of them may help: --epochs %lld\n", (long long)loop->options->epochs * 2);
}

/* Mean and unbiased standard deviation over the finished runs. */
static void console_mean(const gnn_loop *loop, int split, double *mean, double *deviation) {
  int64_t count = loop->progress.finished_count;
  double sum = 0, squares = 0;
  for (int64_t r = 0; r < count; r++) sum += loop->progress.finished[r][split];
  *mean = count ? sum / (double)count : 0;
  for (int64_t r = 0; r < count; r++) {
    double d = loop->progress.finished[r][split] - *mean;
    squares += d * d;
  }
  *deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

void gnn_loop_closing(const gnn_loop *loop) {
  if (loop->options->is_quiet) return;
  if (loop->options->runs > 1) {
    const char *gap = "";
    int has_other = gnn_loop_shows(loop, GNN_VALID) || gnn_loop_shows(loop, GNN_TEST);
    printf("%lld runs, seeds %llu-%llu: ", (long long)loop->progress.finished_count,
           (unsigned long long)loop->progress.seed,
           (unsigned long long)loop->progress.seed + (unsigned long long)loop->progress.finished_count - 1);
    for (int s = has_other ? GNN_VALID : GNN_TRAIN; s < GNN_SPLIT_COUNT; s++) {
      if (!gnn_loop_shows(loop, s)) continue;
      double mean, deviation;
      console_mean(loop, s, &mean, &deviation);
      printf("%s%s %.4f %s %.4f", gap, gnn_split_names[s], gnn_shown(mean), gnn_is_utf8() ? "±" : "+-", gnn_shown(deviation));
      gap = "   ";
    }
    printf("   (unbiased std)   %s parameters\n", gnn_count_text(gnn_loop_parameters(loop->program)).text);
  }
  const gnn_fold_report report = gnn_folds_report(loop);
  if (report.folds)
    printf("%lld folds at epoch %lld, the best of the mean over their test curves (Xu et al. 2019): test %.4f %s %.4f\n", (long long)report.folds, (long long)report.epoch,
           report.mean, gnn_is_utf8() ? "±" : "+-", report.deviation);
  console_hints(loop);
  fflush(stdout);
}
