/* announced.c: check, bench, profile: what the plan announced beside what happened. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cli.h"
#include "keep_order.h"
#include "runtime/base/file.h"
#include "runtime/base/room.h"
#include "runtime/core/device.h"
#include "runtime/core/lanes.h"
#include "runtime/core/ranks.h"
#include "runtime/job/checkpoint.h"

enum { MEASURE_EPOCHS = 5 };
static const double measure_check_seconds = 2; /* after these, check has timed enough */

/* ---- peaks ---- */

/* Of ranks: the most that one of them has. */
typedef struct measure_peaks {
  int64_t device, host, ssd; /* -1: unknown */
  int64_t process;           /* of the whole process; -1: unknown */
  gnn_text scratch;          /* where the file was and how it was reached */
} measure_peaks;

/* Bytes of an arena that were ever touched, to the page; its pages must not have been touched all beforehand. */
static int64_t measure_touched(const unsigned char *arena, int64_t bytes) {
  enum { PAGE = 4096, CHUNK = 4096 };
  unsigned char resident[CHUNK];
  int64_t touched = 0;
  uintptr_t begin = (uintptr_t)arena / PAGE * PAGE, end = (uintptr_t)arena + (uintptr_t)bytes;
  for (uintptr_t at = begin; at < end && bytes > 0; at += (uintptr_t)PAGE * CHUNK) {
    uintptr_t left = end - at, length = left < (uintptr_t)PAGE * CHUNK ? left : (uintptr_t)PAGE * CHUNK;
    if (mincore((void *)at, length, resident) != 0) return -1;
    for (uintptr_t p = 0; p < (length + PAGE - 1) / PAGE; p++) touched += resident[p] & 1 ? PAGE : 0;
  }
  return touched < bytes ? touched : bytes;
}

static measure_peaks measure_take_peaks(const gnn_instance *instance) {
  const gnn_program *program = instance->run.program;
  int64_t peak = atomic_load(&instance->scratch.peak), planned = gnn_tier_bytes(program, GNN_SSD);
  for (int i = 0; i < instance->scratch.window_count; i++)
    if (instance->scratch.window[i].path == NULL) planned += gnn_scratch_round(instance->scratch.window[i].bytes); /* data were to be read in a file of their own */
  const gnn_backend *backend = gnn_backend_of(program);
  measure_peaks peaks = {.device = backend->peak ? backend->peak(instance)
                                                 : measure_touched(instance->tiers.base[GNN_DEVICE], gnn_tier_bytes(program, GNN_DEVICE)),
                         .host = measure_touched(instance->tiers.base[GNN_HOST], gnn_tier_bytes(program, GNN_HOST)),
                         .ssd = peak < planned ? peak : planned};
  gnn_lanes_scratch_text(&instance->run, &peaks.scratch);
  return peaks;
}

static void measure_print_peak(const char *name, int64_t planned, const char *verb, int64_t measured) {
  printf("%s: planned %s, %s %s\n", name, gnn_bytes_text(planned).text, verb, measured < 0 ? "unknown" : gnn_bytes_text(measured).text);
}

static void measure_print_peaks(const gnn_program *program, const measure_peaks *peaks) {
  measure_print_peak("device arena", gnn_tier_bytes(program, GNN_DEVICE), "touched", peaks->device);
  if (program->host_bytes) measure_print_peak("host arena", gnn_tier_bytes(program, GNN_HOST), "touched", peaks->host);
  if (program->ssd_bytes) measure_print_peak("scratch file", gnn_tier_bytes(program, GNN_SSD), "written", peaks->ssd);
  if (gnn_staging_bytes(program)) printf("staging for the SSD: %s\n", gnn_bytes_text(gnn_staging_bytes(program)).text);
  if (peaks->scratch.data) printf("scratch %s\n", peaks->scratch.data);
}

static void measure_print_process(const gnn_cli *cli, int64_t measured) {
  const double mib = 1 << 20;
  if (cli->program->process_bytes == 0) return;
  printf("process  announced %.1f MiB, measured ", ceil(10 * (double)cli->program->process_bytes / mib) / 10); /* as everywhere, never less than is needed */
  if (measured < 0) printf("unknown");
  else printf("%.1f MiB", (double)measured / mib);
  if (gnn_backend_of(cli->program)->is_apart) printf(" with what the driver takes");
  if (cli->ranks) printf("%s what MPI takes", gnn_backend_of(cli->program)->is_apart ? " and" : " with");
  if (cli->data) printf(" on other data than was announced for");
  printf("\n");
}

/* What the process took beyond what is announced, to 2 MiB or 2 %; 0: no more, or others' memory is in it. */
static int64_t measure_excess(const gnn_cli *cli, int64_t measured) {
  enum { NEAR_BYTES = 2 << 20, NEAR_SHARE = 50 };
  const int64_t announced = cli->program->process_bytes, share = announced / NEAR_SHARE, near = share > NEAR_BYTES ? share : NEAR_BYTES;
  const int is_alone = announced > 0 && !gnn_backend_of(cli->program)->is_apart && !cli->ranks && !cli->data;
  return is_alone && measured > announced + near ? measured - announced : 0;
}

static void measure_print_verdict(const gnn_cli *cli, int64_t measured) {
  const int64_t excess = measure_excess(cli, measured);
  if (excess) printf("the program took %s more than the plan says\n", gnn_bytes_text(excess).text);
  else printf("data fit the plan\n");
}

/* ---- epochs ---- */

typedef struct measure_times {
  double *seconds; /* [room] of each epoch */
  int64_t count, room;
} measure_times;

/* One more epoch, on the clock. */
static gnn_status measure_time(gnn_instance *instance, measure_times *times, gnn_error *error) {
  gnn_watch_restart(&instance->run);
  double before = gnn_now();
  gnn_status status = gnn_trail_epoch(instance, error);
  times->seconds[times->count++] = gnn_now() - before;
  return status;
}

static int measure_by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* How much longer everything takes than the plan says, on purpose. */
static double measure_slowdown(const gnn_program *program) { return program->is_simulated && program->slowdown > 0 ? program->slowdown : 1; }

static double measure_median(const double *sorted, int64_t count) { return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2; }

static gnn_status measure_reset(const gnn_cli *cli, const gnn_instance_options *options, gnn_instance *instance, gnn_error *error) {
  if (options->populate) gnn_instance_touch(instance);
  memcpy(instance->run.option, cli->option, sizeof instance->run.option);
  const gnn_status status = gnn_instance_reset(instance, cli->seed, error);
  if (status != GNN_OK) return status;
  return cli->weights ? gnn_weights_load(instance, cli->weights, error) : GNN_OK;
}

/* An instance on these data, reset. */
static gnn_status measure_fill_program(const gnn_cli *cli, const gnn_program *program, gnn_dataset *dataset,
                                       const gnn_instance_options *options, gnn_instance **out, gnn_error *error) {
  gnn_instance *instance;
  gnn_status status = gnn_instance_create(program, options, &instance, error);
  *out = instance;
  if (status == GNN_OK) status = gnn_instance_load(instance, dataset, error);
  return status == GNN_OK ? measure_reset(cli, options, instance, error) : status;
}

/* An instance that takes the data as training does, with no more memory; *dataset is what is kept of them. */
static gnn_status measure_load(const gnn_cli *cli, gnn_instance_options options, gnn_instance **instance, gnn_dataset **dataset, gnn_error *error) {
  options.grows = 1;
  options.loading_bytes = cli->data ? 0 : cli->program->loading_bytes;
  gnn_status status = gnn_instance_create(cli->program, &options, instance, error);
  if (status == GNN_OK) status = gnn_cli_open_data(cli, dataset, error);
  if (status == GNN_OK) status = gnn_instance_take(*instance, dataset, cli->program->fold_count > 0, error);
  if (status == GNN_OK) status = gnn_cli_data_are_alike(*instance, error);
  return status == GNN_OK ? measure_reset(cli, &options, *instance, error) : status;
}

/* Ranks that have failed do not wait for each other. */
static void measure_end(const gnn_cli *cli, gnn_instance *instance, gnn_dataset *dataset, gnn_status status) {
  if (status == GNN_OK) gnn_ranks_settle(cli->ranks);
  gnn_instance_destroy(instance);
  gnn_dataset_close(dataset);
}

/* ---- check ---- */

/* With what training takes beside what its epochs touch: the weights that it keeps, and every page of the arenas. */
static gnn_status measure_training(gnn_instance *instance, measure_peaks *peaks, gnn_error *error) {
  gnn_snapshot best = {0};
  gnn_status status = GNN_OK;
  if (instance->run.program->has_keep) status = gnn_snapshot_create(instance->run.program, &best, error);
  if (status == GNN_OK && best.data) status = gnn_snapshot_take(&best, instance, error);
  if (status == GNN_OK) *peaks = measure_take_peaks(instance);
  if (status == GNN_OK) gnn_instance_touch(instance);
  if (status == GNN_OK) {
    peaks->process = gnn_process_most_bytes();
    gnn_ranks_most(instance->run.ranks, &peaks->device);
    gnn_ranks_most(instance->run.ranks, &peaks->host);
    gnn_ranks_most(instance->run.ranks, &peaks->ssd);
    gnn_ranks_most(instance->run.ranks, &peaks->process);
  }
  gnn_snapshot_destroy(&best);
  return status;
}

/* From loading the data, which are closed then, to an evaluation after the epochs of the trail, as training does it; but on pages of arenas that nobody
 * touched before. */
static gnn_status measure_memory(const gnn_cli *cli, gnn_trail *trail, int is_said, measure_peaks *peaks, gnn_error *error) {
  gnn_instance *instance = NULL;
  gnn_dataset *dataset = NULL;
  gnn_status status = measure_load(cli, gnn_cli_options(cli), &instance, &dataset, error);
  if (status == GNN_OK && is_said) gnn_print_header(instance, cli->seed);
  if (status == GNN_OK) status = gnn_trail_run(trail, instance, error);
  if (status == GNN_OK) status = measure_training(instance, peaks, error);
  if (status == GNN_OK) status = gnn_trail_take(trail, instance, error);
  if (status == GNN_OK && is_said && trail->epochs > 0)
    printf("ran %lld epoch%s: loss %.6f first, %.6f last\n", (long long)trail->epochs, trail->epochs == 1 ? "" : "s", gnn_shown(trail->loss[0]),
           gnn_shown(trail->loss[trail->epochs - 1]));
  measure_end(cli, instance, dataset, status);
  return status;
}

/* The same epochs in the order that keeps every value, where there is room for it: the bits must be those of the plan. */
static gnn_status measure_keeping(const gnn_cli *cli, const gnn_trail *trail, gnn_error *error) {
  const gnn_program *program = cli->program;
  if (gnn_keeps_all(program)) {
    printf("keep-everything order: this plan is it\n");
    return GNN_OK;
  }
  if (program->keep_order == NULL) {
    printf("keep-everything order: not run, %s\n", cli->ranks ? "programs of ranks have none" : "the program has none");
    return GNN_OK;
  }
  gnn_keeping keeping;
  gnn_status status = gnn_keeping_create(&keeping, program, error);
  const int64_t needed = gnn_host_memory_bytes(&keeping.program), room = gnn_available_bytes();
  if (status == GNN_OK && needed > room) {
    printf("keep-everything order: not run, it needs %s of memory and %s is free\n", gnn_bytes_text(needed).text, gnn_bytes_text(room).text);
    gnn_keeping_destroy(&keeping);
    return GNN_OK;
  }
  gnn_instance *instance = NULL;
  gnn_dataset *dataset = NULL;
  gnn_trail kept = {0};
  gnn_instance_options options = gnn_cli_options(cli);
  if (status == GNN_OK) status = gnn_trail_create(&kept, program, trail->epochs, error);
  if (status == GNN_OK) status = gnn_cli_open_data(cli, &dataset, error);
  if (status == GNN_OK) status = measure_fill_program(cli, &keeping.program, dataset, &options, &instance, error);
  if (status == GNN_ENOMEM && instance == NULL) {
    printf("keep-everything order: not run, %s\n", error->message);
    gnn_dataset_close(dataset);
    gnn_trail_destroy(&kept);
    gnn_keeping_destroy(&keeping);
    return GNN_OK;
  }
  if (status == GNN_OK) status = gnn_trail_run(&kept, instance, error);
  if (status == GNN_OK) status = gnn_trail_take(&kept, instance, error);
  if (status == GNN_OK) status = gnn_trail_agrees(trail, &kept, program, error);
  if (status == GNN_OK)
    printf("keep-everything order, %s of device arena: losses, weights and scores are the same to the last bit\n",
           gnn_bytes_text(gnn_tier_bytes(&keeping.program, GNN_DEVICE)).text);
  gnn_instance_destroy(instance);
  gnn_dataset_close(dataset);
  gnn_trail_destroy(&kept);
  gnn_keeping_destroy(&keeping);
  return status;
}

/* And time on pages as training has them. */
static gnn_status measure_check_time(const gnn_cli *cli, double *median, gnn_error *error) {
  double seconds[MEASURE_EPOCHS];
  measure_times times = {seconds, 0, MEASURE_EPOCHS};
  gnn_instance *instance = NULL;
  gnn_instance_options options = gnn_cli_options(cli);
  options.populate = 1;
  gnn_dataset *dataset = NULL;
  gnn_status status = measure_load(cli, options, &instance, &dataset, error);
  double started = gnn_now();
  if (status == GNN_OK) status = gnn_trail_epoch(instance, error);
  for (int64_t is_over = 0; status == GNN_OK && times.count < times.room && !is_over;) {
    status = measure_time(instance, &times, error);
    is_over = gnn_now() - started >= measure_check_seconds;
    if (status == GNN_OK) gnn_ranks_most(cli->ranks, &is_over); /* all of them go on, or none */
  }
  measure_end(cli, instance, dataset, status);
  if (status != GNN_OK) return status;
  qsort(seconds, (size_t)times.count, sizeof *seconds, measure_by_value);
  *median = measure_median(seconds, times.count);
  return GNN_OK;
}

int gnn_command_check(const gnn_cli *cli) {
  gnn_error error;
  measure_peaks peaks = {0};
  double seconds = 0;
  gnn_trail trail = {0};
  gnn_status status = gnn_trail_create(&trail, cli->program, cli->epochs >= 0 ? cli->epochs : 1, &error);
  if (status == GNN_OK) status = measure_memory(cli, &trail, 1, &peaks, &error);
  if (status == GNN_OK) status = measure_keeping(cli, &trail, &error);
  gnn_trail_destroy(&trail);
  if (status == GNN_OK) status = measure_check_time(cli, &seconds, &error);
  if (status == GNN_OK) {
    double slowdown = measure_slowdown(cli->program);
    printf("epoch: estimated %s, measured %s", gnn_seconds_text(cli->program->estimated_epoch_seconds).text, gnn_seconds_text(seconds / slowdown).text);
    if (slowdown != 1) printf(" (%s, slowed down %g times)", gnn_seconds_text(seconds).text, slowdown);
    printf("\n");
    measure_print_peaks(cli->program, &peaks);
    measure_print_process(cli, peaks.process);
    measure_print_verdict(cli, peaks.process);
  }
  gnn_text_free(&peaks.scratch);
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}

/* ---- bench ---- */

static void measure_print_bench(const gnn_cli *cli, const gnn_instance *instance, const measure_times *times) {
  const double *seconds = times->seconds;
  int64_t epochs = times->count;
  int threads = gnn_team_threads(instance->run.team);
  double estimated = cli->program->estimated_epoch_seconds * measure_slowdown(cli->program);
  double median = measure_median(seconds, epochs), low = seconds[epochs / 4], high = seconds[epochs - 1 - epochs / 4];
  if (cli->is_json)
    printf("{\"model\":\"%s\",\"fingerprint\":\"%s\",\"epochs\":%lld,\"threads\":%d,\"median\":%.9g,\"min\":%.9g,\"max\":%.9g,"
           "\"p25\":%.9g,\"p75\":%.9g,\"estimated\":%.9g,\"loss\":%.9g}\n", cli->program->name, cli->program->fingerprint,
           (long long)epochs, threads, median, seconds[0], seconds[epochs - 1], low, high,
           estimated, instance->run.loss);
  else
    printf("%lld epochs, %d threads: median %s, least %s, middle half %s to %s   (estimated %s)\n", (long long)epochs, threads,
           gnn_seconds_text(median).text, gnn_seconds_text(seconds[0]).text, gnn_seconds_text(low).text,
           gnn_seconds_text(high).text, gnn_seconds_text(estimated).text);
}

int gnn_command_bench(const gnn_cli *cli) {
  gnn_instance *instance = NULL;
  gnn_dataset *dataset = NULL;
  gnn_error error;
  int64_t epochs = cli->epochs >= 0 ? cli->epochs : 20, warmup = cli->warmup >= 0 ? cli->warmup : 3;
  if (epochs < 1) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "bench needs at least one epoch");
  gnn_instance_options options = gnn_cli_options(cli);
  options.populate = 1;
  measure_times times = {malloc((size_t)epochs * sizeof(double)), 0, epochs};
  gnn_status status = times.seconds ? measure_load(cli, options, &instance, &dataset, &error) : gnn_fail_memory(&error, epochs * 8);
  for (int64_t e = 0; status == GNN_OK && e < warmup; e++) status = gnn_trail_epoch(instance, &error);
  while (status == GNN_OK && times.count < times.room) status = measure_time(instance, &times, &error);
  if (status == GNN_OK) {
    qsort(times.seconds, (size_t)epochs, sizeof *times.seconds, measure_by_value);
    measure_print_bench(cli, instance, &times);
  }
  free(times.seconds);
  gnn_instance_destroy(instance);
  gnn_dataset_close(dataset);
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}

/* ---- profile ---- */

typedef struct measure_profile {
  measure_times times;
  measure_peaks peaks;
  double *start, *end;  /* [room * steps] of the numbered steps of every epoch */
  int64_t steps;
  double evaluation_seconds;
} measure_profile;

static gnn_status measure_profile_create(measure_profile *profile, int64_t epochs, int64_t steps, gnn_error *error) {
  *profile = (measure_profile){.times = {malloc((size_t)epochs * sizeof(double)), 0, epochs}, .steps = steps};
  profile->start = calloc((size_t)(epochs * steps) + 1, sizeof *profile->start);
  profile->end = calloc((size_t)(epochs * steps) + 1, sizeof *profile->end);
  return profile->times.seconds && profile->start && profile->end ? GNN_OK : gnn_fail_memory(error, epochs * steps * 16);
}

static void measure_profile_destroy(measure_profile *profile) {
  free(profile->times.seconds);
  free(profile->start);
  free(profile->end);
}

static gnn_status measure_profile_epochs(gnn_instance *instance, measure_profile *profile, gnn_error *error) {
  const gnn_watch *watch = instance->run.watch;
  gnn_result result[GNN_SPLIT_COUNT];
  gnn_status status = GNN_OK;
  while (status == GNN_OK && profile->times.count < profile->times.room) {
    int64_t at = profile->times.count * profile->steps;
    status = measure_time(instance, &profile->times, error);
    memcpy(profile->start + at, watch->start, (size_t)profile->steps * sizeof *watch->start);
    memcpy(profile->end + at, watch->end, (size_t)profile->steps * sizeof *watch->end);
  }
  if (status != GNN_OK) return status;
  for (int turn = 0; turn < 2 && status == GNN_OK; turn++) { /* the first touches pages that epochs have not */
    const double before = gnn_now();
    if ((status = gnn_evaluate(instance, result)) != GNN_OK) gnn_step_failed(instance, status, error, "", "the evaluation failed");
    profile->evaluation_seconds = gnn_now() - before;
  }
  return status;
}

/* The epoch in the middle by its time; of two the faster. */
static int64_t measure_median_epoch(const measure_times *times) {
  for (int64_t e = 0; e < times->count; e++) {
    int64_t faster = 0;
    for (int64_t i = 0; i < times->count; i++)
      faster += times->seconds[i] < times->seconds[e] || (times->seconds[i] == times->seconds[e] && i < e);
    if (faster == (times->count - 1) / 2) return e;
  }
  return 0;
}

/* The plan's JSON with a key more; times are those of the simulated machine where one is simulated. */
static void measure_profile_text(const gnn_cli *cli, const measure_profile *profile, gnn_text *text) {
  const gnn_program *program = cli->program;
  int64_t epoch = measure_median_epoch(&profile->times);
  double slowdown = measure_slowdown(program), seconds = profile->times.seconds[epoch] / slowdown;
  size_t length = strlen(program->plan_json);
  while (length > 0 && program->plan_json[length - 1] != '}') length--;
  if (length > 0) length--;
  while (length > 0 && strchr(" \n\t", program->plan_json[length - 1])) length--;
  gnn_text_append(text, length ? program->plan_json : "{", length ? length : 1); /* a program may be built without its plan */
  gnn_text_format(text, "%s\n\"measured\": {\"epochs\": %lld, \"epoch_s\": %.9g, \"training_s\": %.9g, \"evaluation_s\": %.9g, \"slowdown\": %.9g,\n",
                  length > 1 ? "," : "", (long long)profile->times.count, seconds, seconds, profile->evaluation_seconds / slowdown, slowdown);
  gnn_text_format(text, "  \"device_peak_bytes\": %lld, \"host_peak_bytes\": %lld, \"ssd_peak_bytes\": %lld, \"serial_lanes\": %s,\n  \"steps\": [",
                  (long long)profile->peaks.device, (long long)profile->peaks.host, (long long)profile->peaks.ssd,
                  cli->is_serial ? "true" : "false");
  const char *between = "";
  for (int s = 0; s < program->step_count; s++) {
    const gnn_step_desc *step = &program->steps[s];
    if (step->number < 0) continue;
    double start = profile->start[epoch * profile->steps + step->number], end = profile->end[epoch * profile->steps + step->number];
    if (end == 0) continue; /* a step of the evaluation */
    gnn_text_format(text, "%s\n    {\"step\": %d, \"start_s\": %.9g, \"seconds\": %.9g}", between, step->number, start / slowdown, (end - start) / slowdown);
    between = ",";
  }
  gnn_text_format(text, "]}}\n");
}

/* As gnncc's own writers: what says that gnncc made it may be made anew, other files stay. */
static gnn_status measure_may_write(const char *path, gnn_error *error) {
  gnn_file file;
  struct stat info;
  static const char mark[] = "generated by gnncc";
  if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return GNN_OK;
  gnn_status status = gnn_file_open(path, gnn_file_text, &file, error);
  if (status != GNN_OK) return status;
  int is_ours = file.size == 0 || memmem(file.data, file.size, mark, sizeof mark - 1) != NULL;
  gnn_file_close(&file);
  if (is_ours) return GNN_OK;
  status = gnn_fail(error, GNN_EIO, "", "\"%s\" exists, and was not written by gnncc", path);
  gnn_fail_help(error, "name another file with -o, or remove it");
  return status;
}

static gnn_status measure_profile_write(const gnn_cli *cli, const measure_profile *profile, const char *path, gnn_error *error) {
  gnn_text text = {0};
  measure_profile_text(cli, profile, &text);
  return gnn_text_write(&text, path, error);
}

int gnn_command_profile(const gnn_cli *cli) {
  gnn_dataset *dataset = NULL;
  gnn_instance *instance = NULL;
  gnn_error error;
  measure_profile profile = {0};
  const char *path = cli->output ? cli->output : "run.json";
  /* Of the first two epochs one makes libraries choose, the other is captured, where the backend does that. */
  int64_t epochs = cli->epochs >= 0 ? cli->epochs : MEASURE_EPOCHS, warmup = cli->warmup >= 0 ? cli->warmup : 2;
  if (epochs < 1) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "profile needs at least one epoch");
  if (cli->program->batch_graphs) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "profile is for programs that work on all data at once; this one works in batches of graphs, and bench times its epochs");
  gnn_instance_options options = gnn_cli_options(cli);
  options.populate = options.is_traced = 1;
  measure_peaks peaks = {0};
  gnn_trail trail = {0};
  gnn_status status = gnn_ranks_is_first(cli->ranks) ? measure_may_write(path, &error) : GNN_OK;
  if (status == GNN_OK) status = gnn_trail_create(&trail, cli->program, 1, &error);
  if (status == GNN_OK) status = measure_memory(cli, &trail, 0, &peaks, &error);
  gnn_trail_destroy(&trail);
  if (status == GNN_OK) status = measure_load(cli, options, &instance, &dataset, &error);
  if (status == GNN_OK) status = measure_profile_create(&profile, epochs, instance->run.watch->count, &error);
  profile.peaks = peaks;
  for (int64_t e = 0; status == GNN_OK && e < warmup; e++) status = gnn_trail_epoch(instance, &error);
  if (status == GNN_OK) status = measure_profile_epochs(instance, &profile, &error);
  if (status == GNN_OK && gnn_ranks_is_first(cli->ranks)) status = measure_profile_write(cli, &profile, path, &error);
  if (status == GNN_OK && !cli->is_quiet && strcmp(path, "-") != 0)
    printf("wrote %s: %lld epochs, the middle one %s (estimated %s)\n", path, (long long)epochs,
           gnn_seconds_text(profile.times.seconds[measure_median_epoch(&profile.times)] / measure_slowdown(cli->program)).text,
           gnn_seconds_text(cli->program->estimated_epoch_seconds).text);
  measure_profile_destroy(&profile);
  gnn_text_free(&peaks.scratch);
  gnn_instance_destroy(instance);
  gnn_dataset_close(dataset);
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}
