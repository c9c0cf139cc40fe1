/* train.c: the training loop of a produced program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fold_runs.h"
#include "runtime/base/partial.h"
#include "runtime/core/bad_value.h"
#include "runtime/core/device.h"
#include "runtime/core/ranks.h"
#include "runtime/core/weights.h"
#include "runtime/data/contents.h"
#include "runtime/job/epoch.h"

/* Signal handlers can only leave word here; the loop looks after every epoch. */
static int train_agreed, train_is_late; /* of ranks: the signal that one of them had when all looked, and not one that came since; one has no time left */
static volatile sig_atomic_t train_signal, train_status_wanted; /* the first that asked to stop */
static volatile sig_atomic_t train_asked[2];                    /* SIGINT, SIGTERM */

static const int train_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2};
enum { TRAIN_SIGNALS = sizeof train_signals / sizeof *train_signals };

static void train_on_signal(int number) {
  if ((number == SIGINT || number == SIGTERM) && train_asked[number == SIGTERM]++) gnn_partial_stop(number); /* asked for twice */
  if (number == SIGUSR2) train_status_wanted = 1;
  else if (train_signal == 0) train_signal = number; /* later ones change neither the status nor what is said */
}

static void train_catch(struct sigaction before[TRAIN_SIGNALS]) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = train_on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  train_signal = train_status_wanted = train_asked[0] = train_asked[1] = 0;
  for (int i = 0; i < TRAIN_SIGNALS; i++) {
    sigaction(train_signals[i], NULL, &before[i]);
    if (train_signals[i] != SIGHUP || before[i].sa_handler != SIG_IGN) sigaction(train_signals[i], &action, NULL); /* nohup */
  }
}

static void train_release(const struct sigaction before[TRAIN_SIGNALS]) {
  for (int i = 0; i < TRAIN_SIGNALS; i++) sigaction(train_signals[i], &before[i], NULL);
}

int gnn_exit_code(gnn_status status) {
  switch (status) {
  case GNN_OK: case GNN_ECANCELLED: return GNN_EXIT_OK;
  case GNN_EINVAL: return GNN_EXIT_USAGE;
  case GNN_ENOMEM: return GNN_EXIT_NO_ROOM;
  case GNN_EIO: return GNN_EXIT_IO;
  case GNN_ENUMERIC: return GNN_EXIT_NUMERIC;
  case GNN_EVERSION: return GNN_EXIT_INTERNAL;
  default: return GNN_EXIT_FAILED;
  }
}

void gnn_print_error(const char *program, const gnn_error *error) {
  fflush(stdout);
  if (error->code[0]) fprintf(stderr, "%s: error[%s]: %s\n", program, error->code, error->message);
  else fprintf(stderr, "%s: error: %s\n", program, error->message);
  if (error->help[0]) fprintf(stderr, "  help: %s\n", error->help);
}

void gnn_error_text(const gnn_error *error, gnn_text *text) {
  if (error->code[0]) gnn_text_format(text, "error[%s]: %s", error->code, error->message);
  else gnn_text_format(text, "error: %s", error->message);
  if (error->help[0]) gnn_text_format(text, "\n  help: %s", error->help);
}

void gnn_report_error(gnn_ranks *ranks, const char *program, const gnn_error *error) {
  gnn_text text = {0};
  if (ranks == NULL) {
    gnn_print_error(program, error);
    return;
  }
  gnn_error_text(error, &text);
  gnn_ranks_complain(ranks, text.data ? text.data : error->message, strcmp(error->code, "R0803") == 0 ? error->code : NULL); /* which value is not finite, each rank says of its own */
  gnn_text_free(&text);
}

/* ---- what is saved ---- */

static char *train_run_folder(const gnn_loop *loop) {
  char name[32];
  if (loop->options->runs <= 1) return gnn_path_join(NULL, loop->out);
  snprintf(name, sizeof name, "run%lld", (long long)loop->progress.run_index);
  return gnn_path_join(loop->out, name);
}

/* Weights of an earlier training, of one run or of a program that kept its best, would be taken for those of this one: eval looks for them first. */
static void train_remove_earlier(const char *folder, const char *name) {
  char *path = gnn_path_join(folder, name);
  if (path) unlink(path);
  free(path);
}

static int train_writes(const gnn_loop *loop) { return gnn_ranks_is_first(loop->options->ranks); }

static gnn_status train_save_weights(gnn_loop *loop, const gnn_snapshot *snapshot, const char *name, char **saved) {
  gnn_status gathered = gnn_checkpoint_gather(loop->instance, snapshot, &loop->error);
  if (gathered != GNN_OK || !train_writes(loop)) {
    gnn_weights_drop(loop->instance);
    return gathered;
  }
  char *folder = train_run_folder(loop);
  char *path = folder ? gnn_path_join(folder, name) : NULL;
  gnn_status status = path ? gnn_make_directories(folder, &loop->error) : gnn_fail_memory(&loop->error, 256);
  if (status == GNN_OK) status = gnn_weights_save(loop->instance, snapshot, path, &loop->error);
  gnn_weights_drop(loop->instance);
  if (status == GNN_OK && loop->options->runs > 1) train_remove_earlier(loop->out, name);
  if (status == GNN_OK && !loop->program->has_keep) train_remove_earlier(folder, "best.safetensors");
  free(folder);
  if (status == GNN_OK && saved) *saved = path;
  else free(path);
  return status;
}

static gnn_status train_checkpoint(gnn_loop *loop) {
  if (loop->out == NULL) loop->out = loop->options->default_out;
  gnn_status status = train_writes(loop) ? gnn_make_directories(loop->out, &loop->error) : GNN_OK;
  if (status != GNN_OK) return status;
  char *path = gnn_checkpoint_path(loop->out, loop->progress.run_index, loop->instance->run.epoch);
  if (path == NULL) return gnn_fail_memory(&loop->error, 256);
  status = gnn_checkpoint_gather(loop->instance, &loop->best, &loop->error);
  if (train_writes(loop) && status == GNN_OK) status = gnn_checkpoint_save(loop->instance, &loop->best, &loop->progress, path, &loop->error);
  gnn_weights_drop(loop->instance);
  if (status == GNN_OK && loop->program->has_keep && loop->best.is_filled)
    status = train_save_weights(loop, &loop->best, "best.safetensors", NULL);
  if (status != GNN_OK) {
    free(path);
    return status;
  }
  if (train_writes(loop)) gnn_checkpoint_prune(loop->out, path, loop->last_saved); /* those of earlier sessions go: they are of another run */
  free(loop->last_saved);
  loop->last_saved = path;
  loop->last_saved_epoch = loop->instance->run.epoch;
  return GNN_OK;
}

/* ---- one run ---- */

static gnn_status train_finite(void *context, void *numbers, int64_t first, int64_t count) {
  const float *values = numbers;
  (void)context, (void)first;
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return GNN_ENUMERIC;
  return GNN_OK;
}

/* Names what is not finite, so that one knows where to look. */
static gnn_status train_not_finite(gnn_loop *loop) {
  const gnn_program *program = loop->program;
  const char *culprit = NULL;
  if (gnn_download_weights(loop->instance, 0, &loop->error) != GNN_OK) return GNN_EDEVICE;
  gnn_text bad = {0};
  gnn_bad_value_text(loop->instance, &bad);
  for (int w = 0; w < program->weight_count && culprit == NULL && bad.data == NULL && program->real_bytes == 4; w++)
    if (gnn_weight_walk(loop->instance, &program->weights[w], GNN_WEIGHT_ITSELF, GNN_WEIGHT_READ, train_finite, NULL, &loop->error) == GNN_ENUMERIC) culprit = program->weights[w].name;
  const int lr = gnn_loop_rate_option(program);
  double loss = loop->instance->run.loss;
  /* The loss is that of the forward pass: what ruined it is the update of the epoch before. */
  gnn_gradient_peak peak = isfinite(loss) ? loop->instance->gradient_peak : loop->instance->gradient_peak_before;
  gnn_text largest = {0};
  if (peak.weight >= 0 && !isfinite(peak.magnitude))
    gnn_text_format(&largest, "; the first gradient that is not finite: %s", program->weights[peak.weight].name);
  else if (peak.weight >= 0)
    gnn_text_format(&largest, "; the largest gradient of %s epoch: %.2g in %s", isfinite(loss) ? "this" : "the previous", (double)peak.magnitude,
                    program->weights[peak.weight].name);
  gnn_status status = gnn_fail(&loop->error, GNN_ENUMERIC, "R0803", "%s at epoch %lld%s%s%s%s%s",
                               isnan(loss) ? "loss is NaN" : isinf(loss) ? "loss is infinite" : "scores are not finite", (long long)loop->instance->run.epoch,
                               bad.data ? bad.data : "", culprit ? "; the first weight that is not finite: " : "", culprit ? culprit : "",
                               largest.data ? largest.data : "", loop->last_saved ? "" : "; there is no checkpoint to go back to");
  gnn_text_free(&largest);
  gnn_text_free(&bad);
  gnn_text help = {0};
  if (lr >= 0) gnn_text_format(&help, "--%s %g", program->rate_option, loop->instance->run.option[lr] / 10);
  else if (loop->instance->run.rate[0] > 0) gnn_text_format(&help, "lr = %g in the train block", loop->instance->run.rate[0] / 10);
  if (loop->last_saved)
    gnn_text_format(&help, "%slast good checkpoint: epoch %lld, %s", help.length ? "; " : "",
                    (long long)loop->last_saved_epoch, loop->last_saved);
  if (help.data) gnn_fail_help(&loop->error, "%s", help.data);
  gnn_text_free(&help);
  return status;
}

static gnn_status train_failed(gnn_loop *loop, gnn_status status, const char *what) {
  gnn_step_failed(loop->instance, status, &loop->error, "", "%s %lld failed", what, (long long)loop->instance->run.epoch);
  if (loop->last_saved)
    gnn_fail_help(&loop->error, "--resume goes on from epoch %lld, %s", (long long)loop->last_saved_epoch, loop->last_saved);
  return status;
}

static gnn_status train_evaluate(gnn_loop *loop, int64_t epoch, int counts) {
  gnn_status status = gnn_evaluate(loop->instance, loop->result);
  if (status != GNN_OK) return train_failed(loop, status, "the evaluation of epoch");
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    if (!isfinite(loop->result[s].loss) && !loop->options->continues_after_nan) {
      gnn_bad_value_find(loop->instance, GNN_WORK_EVALUATE);
      return train_not_finite(loop);
    }
  if (counts) gnn_folds_see(loop, epoch);
  if (counts && gnn_keeper_see(&loop->progress.keeper, &loop->instance->run, epoch, loop->result) && loop->program->has_keep)
    return gnn_snapshot_take(&loop->best, loop->instance, &loop->error);
  return GNN_OK;
}

typedef struct train_contents {
  char text[64]; /* "features, labels" */
} train_contents;

static train_contents train_contents_text(unsigned contents) {
  train_contents out = {""};
  size_t length = 0;
  for (int c = 0; c < GNN_CONTENT_COUNT; c++)
    if (contents >> c & 1 && length < sizeof out.text)
      length += (size_t)snprintf(out.text + length, sizeof out.text - length, "%s%s", length ? ", " : "", gnn_content_names[c]);
  return out;
}

static void train_log(gnn_loop *loop, int is_evaluated) {
  const gnn_program *program = loop->program;
  gnn_log_row row = {.run = loop->progress.run_index, .epoch = loop->instance->run.epoch,
                     .loss = loop->instance->run.loss, .lr = program->rates ? loop->instance->run.rate[0] : NAN, .seconds = loop->epoch_seconds,
                     .is_evaluated = is_evaluated, .device_bytes = program->device_bytes,
                     .host_bytes = program->host_bytes, .ssd_bytes = program->ssd_bytes};
  memcpy(row.result, loop->result, sizeof row.result);
  const train_contents changed = train_contents_text(loop->progress.accepted_data);
  row.changed_data = changed.text;
  row.keeper = &loop->progress.keeper;
  gnn_logs_row(&loop->logs, &row);
}

/* Another epoch would end after the limit. */
static int train_has_no_time(const gnn_loop *loop) {
  const double limit = loop->options->time_limit;
  return limit > 0 && gnn_now() - loop->started + loop->epoch_seconds > limit;
}

/* Whether to leave: *exit_code is that of the interruption. */
static int train_is_interrupted(const gnn_loop *loop, int *exit_code) {
  const int number = loop->options->ranks ? train_agreed : train_signal;
  if (number) *exit_code = number == SIGUSR1 ? GNN_EXIT_AGAIN : 128 + number;
  else if (loop->options->ranks ? train_is_late : train_has_no_time(loop)) *exit_code = GNN_EXIT_AGAIN;
  else return 0;
  return 1;
}

/* A signal to one rank is one to all: they stop at the same epoch. */
static void train_agree(const gnn_loop *loop) {
  gnn_ranks *ranks = loop->options->ranks;
  int64_t all[GNN_RANKS_MOST][2];
  if (ranks == NULL) return;
  gnn_ranks_tell(ranks, (const int64_t[]){train_signal, train_has_no_time(loop)}, 2, all[0]);
  for (int r = ranks->count - 1; r >= 0; r--) {
    if (all[r][0]) train_agreed = (int)all[r][0];
    if (all[r][1]) train_is_late = 1;
  }
}

/* Epochs up to the end, a stop, or an interruption (*exit_code is not 0 then). */
static gnn_status train_epochs(gnn_loop *loop, int *exit_code) {
  const gnn_program *program = loop->program;
  const gnn_train_options *options = loop->options;
  gnn_run *run = &loop->instance->run;
  int64_t evaluate_every = program->evaluate_every > 0 ? program->evaluate_every : 1;
  if (run->epoch >= options->epochs && loop->progress.keeper.best_epoch < 0)
    return train_evaluate(loop, run->epoch, 1);
  while (run->epoch < options->epochs && !gnn_keeper_stops(&loop->progress.keeper, program)) {
    double before = gnn_now();
    gnn_status status = gnn_train_epoch(loop->instance);
    if (status == GNN_ENUMERIC && !options->continues_after_nan) return train_not_finite(loop);
    if (status != GNN_OK && status != GNN_ENUMERIC) return train_failed(loop, status, "epoch");
    int64_t epoch = run->epoch;
    int counts = epoch % evaluate_every == 0 || epoch == options->epochs;
    int is_evaluated = counts || (options->every > 0 && epoch % options->every == 0);
    if (is_evaluated) status = train_evaluate(loop, epoch, counts);
    if (is_evaluated && status != GNN_OK) return status;
    loop->epoch_seconds = gnn_now() - before;
    loop->row_seconds += loop->epoch_seconds;
    loop->row_epochs++;
    if (options->every > 0 ? epoch % options->every == 0 : is_evaluated) train_log(loop, is_evaluated);
    if (gnn_loop_wants_row(loop, epoch, is_evaluated)) gnn_loop_row(loop, is_evaluated);
    int is_asked = train_status_wanted != 0;
    if (is_asked) train_status_wanted = 0;
    gnn_loop_live(loop, is_asked);
    int is_last = epoch == options->epochs || gnn_keeper_stops(&loop->progress.keeper, program);
    int is_due = program->checkpoint_every > 0 && epoch % program->checkpoint_every == 0;
    /* A single run leaves its end behind, so that --resume with more --epochs goes on from there. */
    int is_end = is_last && loop->out && options->runs == 1;
    if ((is_due || is_end) && isfinite(run->loss)) {
      status = train_checkpoint(loop);
      if (status != GNN_OK) return status;
    }
    train_agree(loop);
    if (!is_last && train_is_interrupted(loop, exit_code)) return train_checkpoint(loop);
  }
  return GNN_OK;
}

/* The line or lines after the last epoch of a run, and its files. */
static gnn_status train_finish_run(gnn_loop *loop) {
  const gnn_program *program = loop->program;
  const gnn_keeper *keeper = &loop->progress.keeper;
  char *saved = NULL;
  gnn_status status = GNN_OK;
  gnn_log_page_finish_run(&loop->logs.page, loop->progress.run_index, keeper);
  if (loop->out) status = train_save_weights(loop, NULL, "last.safetensors", program->has_keep ? NULL : &saved);
  if (status == GNN_OK && loop->out && program->has_keep)
    status = train_save_weights(loop, &loop->best, "best.safetensors", &saved);
  gnn_loop_erase_live(loop);
  if (status == GNN_OK && !loop->options->is_quiet) {
    if (loop->options->runs > 1)
      printf("run %lld, seed %llu", (long long)loop->progress.run_index,
             (unsigned long long)loop->instance->run.seed);
    if (program->fold_count) printf("%sfold %lld", loop->options->runs > 1 ? ", " : "", (long long)gnn_folds_of_run(loop, loop->progress.run_index));
    if (program->fold_count || loop->options->runs > 1) printf(": ");
    printf("%s epoch %lld: ", program->has_keep ? "best" : "last", (long long)keeper->best_epoch);
    gnn_loop_print_results(loop, keeper->best);
    if (saved) printf("     saved %s", saved);
    printf("\n");
    gnn_loop_print_further(loop, keeper->best);
    if (gnn_keeper_stops(keeper, program) && loop->instance->run.epoch < loop->options->epochs)
      printf("stopped at epoch %lld: no better %s for %lld evaluations\n", (long long)loop->instance->run.epoch,
             gnn_split_names[program->stop_split], (long long)program->patience);
    fflush(stdout);
  }
  free(saved);
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++)
    loop->progress.finished[loop->progress.finished_count][s] = gnn_result_shown(program, &keeper->best[s]);
  if (status == GNN_OK) loop->progress.finished_count++;
  return status;
}

/* ---- what passed between ranks ---- */

/* Into run.json, step by step; and a line for the reader. All ranks count, rank 0 says. */
static void train_count_exchanges(const gnn_loop *loop, gnn_text *json) {
  const gnn_program *program = loop->program;
  int64_t bytes = 0, bytes_once = 0;
  int exchanges = 0, others = 0, drawn = 0, once = 0;
  for (int c = 0; program->ranks && c < program->copy_count; c++) {
    const gnn_copy_desc *copy = &program->copies[c];
    const int64_t counted = copy->lane == GNN_LANE_NET ? gnn_ranks_counted(loop->options->ranks, c) : 0;
    if (counted == 0) continue;
    const int draws = gnn_ranks_draws(loop->options->ranks, c), is_once = gnn_ranks_is_once(loop->options->ranks, c);
    gnn_text_format(json, "%s{\"step\": %d, \"announced_bytes\": %lld, \"counted_bytes\": %lld%s%s}", exchanges ? ", " : "", copy->step, (long long)copy->volume, (long long)counted, draws ? ", \"is_drawn\": true" : "",
                    is_once ? ", \"is_once\": true" : "");
    bytes += counted;
    if (is_once) once++, bytes_once += counted;
    exchanges++;
    drawn += draws;
    others += !draws && counted != copy->volume;
  }
  if (exchanges == 0 || !train_writes(loop) || loop->options->is_quiet) return;
  printf("exchanges: %d step%s, %s bytes between %d ranks", exchanges, exchanges == 1 ? "" : "s", gnn_count_text(bytes).text, program->ranks->count);
  if (others) printf("; %d of them not as announced, which is a bug in gnncc", others);
  else if (drawn) printf(", of %d in the mean, as their rows are drawn; each other as announced", drawn);
  else printf(", each as announced");
  if (once) printf("; %d of them, of %s bytes, before the first epoch", once, gnn_count_text(bytes_once).text);
  printf("\n");
}

/* run.json: enough to know later what made these files. */
static gnn_status train_write_summary(gnn_loop *loop, const gnn_text *exchanges) {
  if (!train_writes(loop)) return GNN_OK;
  const gnn_program *program = loop->program;
  char *path = gnn_path_join(loop->out, "run.json");
  if (path == NULL) return gnn_fail_memory(&loop->error, 256);
  gnn_text text = {0};
  gnn_text_format(&text, "{\n  \"command\": ");
  gnn_text_json(&text, loop->options->command_line ? loop->options->command_line : "");
  gnn_text_format(&text, ",\n  \"model\": ");
  gnn_text_json(&text, program->name);
  gnn_text_format(&text, ",\n  \"data\": ");
  gnn_text_json(&text, program->data_name);
  if (loop->progress.accepted_data) gnn_text_format(&text, ",\n  \"data_changed\": \"%s\"", train_contents_text(loop->progress.accepted_data).text);
  gnn_text_format(&text, ",\n  \"fingerprint\": ");
  gnn_text_json(&text, program->fingerprint);
  if (program->approximation || loop->instance->approximation) {
    gnn_text_format(&text, ",\n  \"approximation\": ");
    gnn_text_json(&text, loop->instance->approximation ? loop->instance->approximation : "none: one process has no boundary");
  }
  gnn_text_format(&text, ",\n  \"abi\": %d,\n  \"device\": \"%s\",\n  \"threads\": %d,\n  \"seed\": %llu,\n  \"epochs\": %lld,\n",
                  program->abi, gnn_backend_of(program)->name, gnn_team_threads(loop->instance->run.team), (unsigned long long)loop->progress.seed,
                  (long long)loop->options->epochs);
  gnn_text_format(&text, "  \"parameters\": %lld,\n  \"device_bytes\": %lld,\n  \"host_bytes\": %lld,\n  \"ssd_bytes\": %lld,\n  \"options\": {",
                  (long long)gnn_loop_parameters(program), (long long)program->device_bytes, (long long)program->host_bytes,
                  (long long)program->ssd_bytes);
  for (int i = 0; i < program->option_count; i++) {
    gnn_text_format(&text, "%s", i ? ", " : "");
    gnn_text_json(&text, program->options[i].name);
    gnn_text_format(&text, ": %.9g", loop->instance->run.option[i]);
  }
  gnn_text_format(&text, "},\n  \"metric\": \"%s\",\n  \"runs\": [", program->metric_count ? program->metrics[0].name : "loss");
  for (int64_t r = 0; r < loop->progress.finished_count; r++) {
    gnn_text_format(&text, "%s{\"seed\": %llu", r ? ", " : "", (unsigned long long)loop->progress.seed + (unsigned long long)r);
    if (program->fold_count)
      gnn_text_format(&text, ", \"fold\": %lld", (long long)gnn_folds_of_run(loop, r));
    for (int s = 0; s < GNN_SPLIT_COUNT; s++)
      if (gnn_loop_shows(loop, s) && isfinite(loop->progress.finished[r][s]))
        gnn_text_format(&text, ", \"%s\": %.9g", gnn_split_names[s], loop->progress.finished[r][s]);
    gnn_text_append(&text, "}", 1);
  }
  gnn_text_format(&text, "]");
  const gnn_fold_report report = gnn_folds_report(loop);
  if (report.folds)
    gnn_text_format(&text, ",\n  \"mean_over_folds\": {\"epoch\": %lld, \"test\": %.9g, \"deviation\": %.9g, \"folds\": [", (long long)report.epoch, report.mean, report.deviation);
  const char *between = "";
  for (int64_t k = 0; report.folds && k < loop->progress.point_count; k++) {
    const gnn_curve_point *point = &loop->progress.points[k];
    if (point->epoch != (double)report.epoch) continue;
    gnn_text_format(&text, "%s%.9g", between, point->value);
    between = ", ";
  }
  if (report.folds) gnn_text_format(&text, "]}");
  if (exchanges->length) gnn_text_format(&text, ",\n  \"exchanges\": [%.*s]", (int)exchanges->length, exchanges->data);
  gnn_text_format(&text, "\n}\n");
  gnn_status status = gnn_make_directories(loop->out, &loop->error);
  if (status == GNN_OK) status = gnn_text_write(&text, path, &loop->error);
  gnn_text_free(&text);
  free(path);
  return status;
}

/* ---- all runs ---- */

/* Whether the checkpoint of that progress is of the training that was asked for. */
static gnn_status train_check_progress(const gnn_loop *loop, const gnn_progress *progress, const char *path, gnn_error *error) {
  const gnn_train_options *options = loop->options;
  if (progress->changed_data && !options->accepts_changed_data) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "R0807", "the data are not those that \"%s\" was trained on; changed: %s", path,
                                 train_contents_text(progress->changed_data).text);
    gnn_fail_help(error, "--data-changed=accept goes on with them");
    return status;
  }
  if (progress->run_index >= options->runs)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" is of run %lld; only %lld are wanted", path, (long long)progress->run_index,
                    (long long)options->runs);
  if (options->has_seed && progress->seed != options->seed) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is of a training with --seed %llu, not %llu", path,
                                 (unsigned long long)progress->seed, (unsigned long long)options->seed);
    gnn_fail_help(error, "leave --seed away to go on with it");
    return status;
  }
  return GNN_OK;
}

static int train_would_resume(const gnn_loop *loop, const char *path) {
  gnn_progress progress;
  return gnn_checkpoint_inspect(loop->instance, &progress, path, NULL) == GNN_OK && train_check_progress(loop, &progress, path, NULL) == GNN_OK;
}

/* Where a checkpoint is damaged, one before it may not be. A sound one is one that would be taken. */
static void train_offer_before(gnn_loop *loop, const char *path) {
  char *before = gnn_checkpoint_before(path);
  while (before && !train_would_resume(loop, before)) {
    char *earlier = gnn_checkpoint_before(before);
    free(before);
    before = earlier;
  }
  if (before) gnn_fail_help(&loop->error, "the checkpoint before it is sound: --resume=%s", before);
  free(before);
}

static gnn_status train_resume(gnn_loop *loop, int *is_resumed) {
  const gnn_train_options *options = loop->options;
  const char *folder = loop->out ? loop->out : options->default_out;
  errno = 0;
  char *newest = options->resumes_newest ? gnn_checkpoint_newest(folder) : NULL;
  if (options->resumes_newest && errno == ENOMEM) { /* one of those that are there may not have been seen */
    free(newest);
    return gnn_fail_memory(&loop->error, 1);
  }
  const char *path = options->resume ? options->resume : newest;
  *is_resumed = 0;
  if (path == NULL) {
    if (!options->resumes_newest) return GNN_OK;
    return gnn_fail(&loop->error, GNN_EIO, "", "--resume: there is no checkpoint in \"%s\"", folder);
  }
  gnn_status status = gnn_checkpoint_load(loop->instance, &loop->best, &loop->progress, path, &loop->error);
  if (strcmp(loop->error.code, "R0806") == 0) train_offer_before(loop, path);
  if (status == GNN_OK) status = train_check_progress(loop, &loop->progress, path, &loop->error);
  *is_resumed = status == GNN_OK;
  if (status == GNN_OK) status = gnn_folds_take(loop);
  if (status == GNN_OK) {
    loop->last_saved = gnn_path_join(NULL, path);
    loop->last_saved_epoch = loop->instance->run.epoch;
    if (loop->last_saved == NULL) status = gnn_fail_memory(&loop->error, 256);
  }
  free(newest);
  return status;
}

static gnn_status train_check_splits(gnn_loop *loop) {
  const gnn_program *program = loop->program;
  const int64_t *rows = loop->instance->whole.row_count;
  int missing = -1;
  if (program->has_keep && rows[program->keep_split] == 0) missing = program->keep_split;
  if (program->has_stop && rows[program->stop_split] == 0) missing = program->stop_split;
  if (missing < 0) return GNN_OK;
  gnn_status status = gnn_fail(&loop->error, GNN_EDATA, "E0401", "data \"%s\" has no split \"%s\", which keep or stop looks at",
                               program->data_name, gnn_split_names[missing]);
  if (program->recipe.pairs.is_stored) gnn_fail_help(&loop->error, "among the pairs that the data bring are none of it");
  else if (program->recipe.pairs.name) gnn_fail_help(&loop->error, "split_edges holds out that share of the edges, %g valid and %g test, which here is none", program->recipe.pairs.valid, program->recipe.pairs.test);
  else gnn_fail_help(&loop->error, "split = random(0.6, 0.2, 0.2, seed = 0)");
  return status;
}

static const char *train_log_folder(const gnn_loop *loop) {
  const gnn_train_options *options = loop->options;
  return loop->out ? loop->out : options->logs_csv || options->logs_jsonl || options->logs_page ? options->default_out : NULL;
}

/* Two trainings would mix their files. Where the file system has no locks they may. */
static gnn_status train_claim_folder(gnn_loop *loop) {
  const char *folder = train_writes(loop) ? train_log_folder(loop) : NULL;
  if (folder == NULL) return GNN_OK;
  gnn_status status = gnn_make_directories(folder, &loop->error);
  if (status != GNN_OK) return status;
  loop->claim = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (loop->claim < 0 || flock(loop->claim, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return GNN_OK;
  status = gnn_fail(&loop->error, GNN_EIO, "", "another training is writing into \"%s\"", folder);
  gnn_fail_help(&loop->error, "--out with another folder, or wait until it has ended");
  return status;
}

/* Logs go to the folder of everything else; where none was named this says which that is. */
static gnn_status train_open_logs(gnn_loop *loop, int is_resumed) {
  const gnn_train_options *options = loop->options;
  const char *folder = train_log_folder(loop);
  gnn_status status = gnn_logs_open(&loop->logs, loop->program, options->logs_csv ? folder : NULL, options->logs_jsonl ? folder : NULL,
                                    options->board, is_resumed, &loop->error);
  if (status == GNN_OK && options->logs_page) status = gnn_logs_open_page(&loop->logs, folder, loop->progress.seed, is_resumed, loop->progress.run_index, loop->instance->run.epoch, &loop->error);
  if (status != GNN_OK || options->is_quiet) return status;
  if (options->logs_csv) printf("log: %s/log.csv\n", folder);
  if (options->logs_jsonl) printf("log: %s/log.jsonl\n", folder);
  if (options->logs_page) printf("log: %s/log.html\n", folder);
  if (options->board) printf("log: %s, for TensorBoard\n", options->board);
  return GNN_OK;
}

/* What a training that was killed while it saved left in the folders of this one. */
static gnn_status train_remove_leftovers(gnn_loop *loop) {
  const char *folder = loop->out ? loop->out : loop->options->default_out;
  if (!train_writes(loop)) return GNN_OK;
  gnn_checkpoint_remove_leftovers(folder);
  for (int64_t r = 0; r < loop->options->runs && loop->options->runs > 1; r++) {
    char name[32];
    snprintf(name, sizeof name, "run%lld", (long long)r);
    char *path = gnn_path_join(folder, name);
    if (path == NULL) return gnn_fail_memory(&loop->error, 256);
    gnn_checkpoint_remove_leftovers(path);
    free(path);
  }
  return GNN_OK;
}

/* The head was printed before the weights were read. */
static void train_tell_approximation(const gnn_loop *loop) {
  const char *now = loop->program->ranks ? loop->program->approximation : NULL, *all = loop->instance->approximation;
  if (all && all != now && !loop->options->is_quiet) printf("not exact, with the weights that it begins with: %s\n", all);
}

static gnn_status train_runs(gnn_loop *loop, int *exit_code) {
  const gnn_train_options *options = loop->options;
  int is_resumed = 0;
  gnn_status status = train_check_splits(loop);
  if (status == GNN_OK) status = train_remove_leftovers(loop);
  if (status != GNN_OK) return status;
  status = train_resume(loop, &is_resumed);
  if (!options->is_quiet) gnn_print_header(loop->instance, loop->progress.seed);
  if (status != GNN_OK) return status;
  if (is_resumed && !options->is_quiet)
    printf("resumed %s: run %lld, epoch %lld\n", loop->last_saved, (long long)loop->progress.run_index,
           (long long)loop->instance->run.epoch);
  if (loop->progress.accepted_data && !options->is_quiet)
    printf("this training went on once with data that had changed: %s\n", train_contents_text(loop->progress.accepted_data).text);
  if (loop->progress.changed_data && !options->is_quiet)
    printf("the data are not those it was trained on; changed: %s\n", train_contents_text(loop->progress.changed_data).text);
  loop->progress.accepted_data |= loop->progress.changed_data;
  status = train_claim_folder(loop);
  if (status == GNN_OK) status = train_open_logs(loop, is_resumed);
  if (status != GNN_OK) return status;
  int has_rows = !options->is_quiet && options->progress != GNN_PROGRESS_NONE && options->epochs > 0;
  for (int64_t r = loop->progress.run_index; r < options->runs; r++) {
    if (!is_resumed) {
      loop->progress.run_index = r;
      status = gnn_folds_take(loop);
      if (status != GNN_OK) return status;
      status = gnn_instance_reset(loop->instance, loop->progress.seed + (uint64_t)r, &loop->error);
      if (options->weights && status == GNN_OK) status = gnn_weights_load(loop->instance, options->weights, &loop->error);
      if (status != GNN_OK) return status;
      if (options->weights && r == 0) train_tell_approximation(loop);
      gnn_keeper_reset(&loop->progress.keeper);
      loop->best.is_filled = 0;
    }
    is_resumed = 0;
    if (has_rows && (r == 0 || options->runs <= 1 || !loop->is_plain)) gnn_loop_table_head(loop);
    loop->run_started = loop->last_row = gnn_now();
    loop->row_seconds = 0;
    loop->row_epochs = 0;
    status = train_epochs(loop, exit_code);
    if (status != GNN_OK || *exit_code != 0) return status;
    status = train_finish_run(loop);
    if (status != GNN_OK) return status;
  }
  gnn_loop_closing(loop);
  gnn_text exchanges = {0};
  train_count_exchanges(loop, &exchanges);
  status = loop->out ? train_write_summary(loop, &exchanges) : GNN_OK;
  gnn_text_free(&exchanges);
  return status;
}

static const char *train_stopper(const gnn_loop *loop) {
  switch (loop->options->ranks ? train_agreed : train_signal) {
  case 0: return "--time-limit";
  case SIGINT: return "an interrupt";
  case SIGTERM: return "SIGTERM";
  case SIGHUP: return "SIGHUP";
  case SIGXCPU: return "SIGXCPU, the limit of processor time";
  case SIGXFSZ: return "SIGXFSZ, the limit of the size of a file";
  default: return "SIGUSR1";
  }
}

static void train_say_interrupted(gnn_loop *loop) {
  gnn_loop_erase_live(loop);
  fflush(stdout);
  fprintf(stderr, "%s: stopped at epoch %lld of run %lld by %s; go on with --resume%s%s\n", loop->options->name,
          (long long)loop->instance->run.epoch, (long long)loop->progress.run_index,
          train_stopper(loop), loop->last_saved ? "=" : "", loop->last_saved ? loop->last_saved : "");
}

int gnn_train(gnn_instance *instance, const gnn_train_options *options) {
  gnn_loop *loop = calloc(1, sizeof *loop);
  if (loop == NULL) {
    gnn_error error;
    gnn_fail_memory(&error, (int64_t)sizeof *loop);
    gnn_print_error(options->name, &error);
    return GNN_EXIT_NO_ROOM;
  }
  loop->instance = instance;
  loop->program = instance->run.program;
  loop->options = options;
  loop->started = gnn_now();
  loop->claim = -1;
  loop->out = options->out ? options->out
              : loop->program->has_keep || loop->program->checkpoint_every > 0 ? options->default_out : NULL;
  loop->progress.seed = options->seed;
  gnn_keeper_reset(&loop->progress.keeper);
  gnn_loop_choose_rows(loop);
  struct sigaction before[TRAIN_SIGNALS];
  int exit_code = 0;
  gnn_status status = gnn_snapshot_create(loop->program, &loop->best, &loop->error);
  loop->progress.finished = calloc(GNN_FINISHED_MAX, sizeof *loop->progress.finished);
  if (loop->progress.finished == NULL) status = gnn_fail_memory(&loop->error, GNN_FINISHED_MAX * 24);
  if (status == GNN_OK) status = gnn_folds_create(loop);
  if (status == GNN_OK) {
    train_catch(before);
    status = train_runs(loop, &exit_code);
    train_release(before);
  }
  gnn_error log_error;
  gnn_status log_status = gnn_logs_close(&loop->logs, &log_error);
  gnn_loop_erase_live(loop);
  if (log_status != GNN_OK && status == GNN_OK && exit_code == 0) {
    status = log_status;
    loop->error = log_error;
  } else if (log_status != GNN_OK) {
    gnn_report_error(options->ranks, options->name, &log_error); /* what stopped it may be what the log met, too */
  }
  if (status != GNN_OK) {
    gnn_report_error(options->ranks, options->name, &loop->error);
    exit_code = gnn_exit_code(status);
  } else if (exit_code != 0 && gnn_ranks_is_first(options->ranks)) {
    train_say_interrupted(loop);
  }
  if (loop->claim >= 0) close(loop->claim);
  gnn_snapshot_destroy(&loop->best);
  free(loop->progress.finished);
  free(loop->progress.points);
  free(loop->last_saved);
  free(loop);
  return exit_code;
}
