/* test_tiers.c: host arena, rings and scratch file; lanes, traces and simulation; what happens when a lane's work fails. An
 * alarm ends a test that hangs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../runtime/job/checkpoint.h"
#include "../../runtime/job/job.h"
#include "../../runtime/core/home.h"
#include "../../runtime/core/lanes.h"
#include "../../runtime/core/window.h"
#include "../../runtime/base/room.h"
#include "../../runtime/app/train.h"
#include "../../runtime/data/fill.h"
#include "../../runtime/core/device.h"
#include "tap.h"
#include "tiered.c"
#include "toy.c"

static gnn_dataset *karate;
static toy_model toy;
static tiered_model tiered;

static gnn_instance *loaded(const gnn_program *program, int is_serial, int is_traced) {
  gnn_instance *instance;
  gnn_error error;
  const gnn_instance_options options = {.threads = 2, .is_serial = is_serial, .is_traced = is_traced};
  if (gnn_instance_create(program, &options, &instance, &error) != GNN_OK || gnn_instance_load(instance, karate, &error) != GNN_OK) {
    printf("# %s\n", error.message);
    exit(97);
  }
  gnn_instance_reset(instance, 7, NULL);
  return instance;
}

static void train(gnn_instance *instance, int epochs) {
  gnn_result result[GNN_SPLIT_COUNT];
  for (int e = 0; e < epochs; e++)
    if (gnn_step_epoch(instance) != GNN_OK || gnn_evaluate(instance, result) != GNN_OK) exit(96);
}

static int same_weights(const gnn_instance *a, const gnn_instance *b) {
  const gnn_program *p = a->run.program;
  for (int w = 0; w < p->weight_count; w++)
    for (int s = -1; s < p->weights[w].state_count; s++) {
      int64_t at = s < 0 ? p->weights[w].at : p->weights[w].at_state[s];
      if (memcmp(gnn_instance_at(a, at), gnn_instance_at(b, at), (size_t)(p->weights[w].count * p->real_bytes)) != 0) return 0;
    }
  return memcmp(&a->run.loss, &b->run.loss, sizeof a->run.loss) == 0;
}

/* ---- the same bits ---- */

static void test_bits(void) {
  for (int twice = 0; twice < 2; twice++) {
    gnn_instance *plain = loaded(twice ? &toy.in_double : &toy.program, 0, 0);
    train(plain, 8);
    for (int mode = 0; mode < TIERED_MODE_COUNT; mode++)
      for (int variant = 0; variant < 3; variant++) {
        static const char *const names[] = {"overlapping", "serial", "by pread and pwrite"};
        if (variant == 2 && mode == TIERED_HOST) continue;
        tiered_make(&tiered, &toy, (tiered_mode)mode);
        gnn_scratch_system.has_uring = variant != 2;
        gnn_instance *moved = loaded(twice ? &tiered.in_double : &tiered.program, variant == 1, 0);
        train(moved, 8);
        tap_ok(same_weights(plain, moved) && moved->run.step == 2, "%s, %s, %d bytes a number: the bits of the program that moves nothing",
               tiered_names[mode], names[variant], twice ? 8 : 4);
        int64_t unused = gnn_tier_bytes(moved->run.program, GNN_SSD) - moved->scratch.peak;
        if (mode != TIERED_HOST) /* in a double build the last unit may not be needed */
          tap_ok(unused >= 0 && unused <= (twice ? 4096 : 0), "  written: %lld bytes, as planned", (long long)moved->scratch.peak);
        gnn_instance_destroy(moved);
      }
    gnn_scratch_system.has_uring = 1;
    gnn_instance_destroy(plain);
  }
}

static void test_job(void) {
  static float scores[2][34 * 4];
  for (int k = 0; k < 2; k++) {
    gnn_job *job;
    tiered_make(&tiered, &toy, TIERED_MIXED);
    gnn_job_options options;
    gnn_job_options_init(&options, &toy.program);
    options.scratch_dir = tap_folder(); /* perhaps in memory, where O_DIRECT may be refused */
    gnn_status status = gnn_job_create(k ? &tiered.program : &toy.program, &options, &job);
    if (status == GNN_OK) status = gnn_job_load(job, "karate");
    if (status == GNN_OK) status = gnn_job_train(job, 20, NULL);
    if (status == GNN_OK) status = gnn_job_predict(job, scores[k], 34, 4);
    if (status != GNN_OK) printf("# %s\n", gnn_job_error(job));
    gnn_job_destroy(job);
  }
  tap_ok(memcmp(scores[0], scores[1], sizeof scores[0]) == 0, "job: the same scores with and without tiers");
}

static void test_resume(void) {
  gnn_error error;
  gnn_progress progress = {.seed = 7}, restored = {0};
  double finished[1][GNN_SPLIT_COUNT];
  progress.finished = restored.finished = finished;
  gnn_snapshot best;
  gnn_instance *straight = loaded(&toy.program, 0, 0);
  train(straight, 10);
  gnn_snapshot_create(&toy.program, &best, &error);
  gnn_status status = GNN_OK;
  for (int mode = -1; mode < TIERED_MODE_COUNT && status == GNN_OK; mode++) {
    if (mode >= 0) tiered_make(&tiered, &toy, (tiered_mode)mode);
    gnn_instance *part = loaded(mode < 0 ? &toy.program : &tiered.program, 0, 0);
    if (mode >= 0) status = gnn_checkpoint_load(part, &best, &restored, tap_path("part.safetensors"), &error);
    train(part, 2);
    gnn_snapshot_take(&best, part, NULL);
    if (status == GNN_OK) status = gnn_checkpoint_save(part, &best, &progress, tap_path("part.safetensors"), &error);
    if (mode == TIERED_MODE_COUNT - 1) tap_ok(same_weights(straight, part), "resume: five plans take turns and give the bits of one");
    gnn_instance_destroy(part);
  }
  tap_ok(status == GNN_OK, "resume: a checkpoint goes from plan to plan");
  gnn_snapshot_destroy(&best);
  gnn_instance_destroy(straight);
}

/* ---- large pieces, many at a time ---- */

enum { LOAD_PIECES = 24, LOAD_ROUNDS = 3 };

static uint32_t load_state;
static int64_t load_random(int64_t below) {
  load_state = load_state * 1664525u + 1013904223u;
  return (int64_t)((uint64_t)load_state * (uint64_t)below >> 32);
}

typedef struct load_program {
  gnn_program program;
  gnn_copy_desc copies[4 * LOAD_PIECES];
  gnn_extent extents[4 * LOAD_PIECES];
  int out[LOAD_PIECES], in[LOAD_PIECES]; /* last copy of each piece, each way */
  int64_t at[LOAD_PIECES], bytes[LOAD_PIECES];
} load_program;

static int load_copy(load_program *l, gnn_lane lane, int64_t bytes, gnn_side from, gnn_side to, int after, int also) {
  l->copies[l->program.copy_count] = (gnn_copy_desc){.step = l->program.copy_count + 1, .lane = lane, .bytes = bytes, .from = from, .to = to, .after = {after, also}};
  return l->program.copy_count++;
}

/* Pieces of odd sizes, each by its way; rings of twice the largest piece, of which each waits for the one before the last. */
static load_program *load_make(int64_t most) {
  load_program *l = calloc(1, sizeof *l);
  gnn_program *p = &l->program;
  gnn_side place[LOAD_PIECES];
  int drained[2] = {-1, -1}, arrived[2] = {-1, -1};
  int64_t ring_at = 0;
  *p = (gnn_program){.abi = GNN_ABI, .real_bytes = 4, .name = "load", .source_name = "load", .copies = l->copies, .extents = l->extents};
  p->ring_bytes = 2 * (most + 64);
  for (int k = 0; k < LOAD_PIECES; k++) {
    l->at[k] = p->device_bytes;
    l->bytes[k] = (load_random(most / 4) + 1) * 4;
    p->device_bytes += (l->bytes[k] + 63) / 64 * 64;
    int way = k % 3, count = 1 + k % 2;
    int64_t *used = way == 0 ? &p->host_bytes : &p->ssd_bytes, part = l->bytes[k] / 8 * 4;
    place[k] = (gnn_side){way == 0 ? GNN_HOST : GNN_SSD, p->extent_count, count};
    for (int e = 0; e < count; e++) {
      int64_t bytes = count == 1 ? l->bytes[k] : e == 0 ? part : l->bytes[k] - part;
      if (bytes == 0) bytes = 4, l->bytes[k] += 4;
      l->extents[p->extent_count++] = (gnn_extent){*used, bytes, 0};
      *used += (bytes + 4095) / 4096 * 4096;
    }
  }
  for (int k = 0; k < LOAD_PIECES; k++) {
    gnn_side device = {GNN_DEVICE, l->at[k], 0}, ring = {GNN_WRITE_RING, ring_at, 0};
    if (k % 3 == 0) l->out[k] = load_copy(l, GNN_LANE_D2H, l->bytes[k], device, place[k], -1, -1);
    if (k % 3 == 1) l->out[k] = load_copy(l, GNN_LANE_SSD_WRITE, l->bytes[k], device, place[k], -1, -1);
    if (k % 3 != 2) continue;
    int filled = load_copy(l, GNN_LANE_D2H, l->bytes[k], device, ring, drained[0], -1);
    drained[0] = drained[1];
    l->out[k] = drained[1] = load_copy(l, GNN_LANE_SSD_WRITE, l->bytes[k], ring, place[k], filled, -1);
    ring_at += (l->bytes[k] + 63) / 64 * 64;
  }
  for (int k = 0; k < LOAD_PIECES; k++) {
    gnn_side device = {GNN_DEVICE, l->at[k], 0}, ring = {GNN_READ_RING, ring_at, 0};
    if (k % 3 == 0) l->in[k] = load_copy(l, GNN_LANE_H2D, l->bytes[k], place[k], device, l->out[k], -1);
    if (k % 3 == 1) l->in[k] = load_copy(l, GNN_LANE_SSD_READ, l->bytes[k], place[k], device, l->out[k], -1);
    if (k % 3 != 2) continue;
    int read = load_copy(l, GNN_LANE_SSD_READ, l->bytes[k], place[k], ring, arrived[0], l->out[k]);
    arrived[0] = arrived[1];
    l->in[k] = arrived[1] = load_copy(l, GNN_LANE_H2D, l->bytes[k], ring, device, read, -1);
    ring_at += (l->bytes[k] + 63) / 64 * 64;
  }
  return l;
}

static unsigned char load_byte(int64_t at, int round) { return (unsigned char)((uint64_t)(at + 1) * 2654435761u * (uint64_t)(round + 1) >> 13); }

/* Everything out, each place written over once its copy is complete, everything in: returns the bytes that are wrong, or -1
 * where a lane failed. */
static int64_t load_round(gnn_instance *instance, const load_program *l, int round) {
  gnn_run *run = &instance->run;
  int64_t wrong = 0;
  int begin = 0;
  for (int64_t at = 0; at < l->program.device_bytes; at++) run->device[at] = load_byte(at, round);
  for (int k = 0; k < LOAD_PIECES; k++)
    for (; begin <= l->out[k]; begin++)
      if (gnn_copy(run, begin) != GNN_OK) return -1;
  for (int k = 0; k < LOAD_PIECES; k++) {
    if (gnn_await(run, l->out[k]) != GNN_OK) return -1;
    if (k % 3 == 2 && gnn_await(run, l->out[k] - 1) != GNN_OK) return -1;
    memset(run->device + l->at[k], 0xff, (size_t)l->bytes[k]);
  }
  for (; begin < l->program.copy_count; begin++)
    if (gnn_copy(run, begin) != GNN_OK) return -1;
  for (int k = LOAD_PIECES - 1; k >= 0; k--)
    if (gnn_await(run, l->in[k]) != GNN_OK) return -1;
  for (int k = 0; k < LOAD_PIECES; k++)
    for (int64_t at = l->at[k]; at < l->at[k] + l->bytes[k]; at++) wrong += run->device[at] != load_byte(at, round);
  return wrong;
}

static gnn_instance *load_open(const load_program *l) {
  gnn_instance *instance;
  gnn_error error;
  if (gnn_instance_create(&l->program, &(gnn_instance_options){.threads = 1}, &instance, &error) == GNN_OK) return instance;
  printf("# %s\n", error.message);
  exit(95);
}

static void test_load(const char *name, int64_t most) {
  load_program *l = load_make(most);
  gnn_instance *instance = load_open(l);
  int64_t wrong = 0;
  for (int round = 0; round < LOAD_ROUNDS && wrong == 0; round++) wrong = load_round(instance, l, round);
  if (wrong < 0) printf("# %s\n", gnn_lanes_error(&instance->run)->message);
  tap_ok(wrong == 0, "%s: %d pieces of up to %lld bytes by every way, rings wrapped, arrive as they left", name, LOAD_PIECES, (long long)most);
  gnn_instance_destroy(instance);
  free(l);
}

/* ---- calls that fail ---- */

static atomic_int fault_after; /* calls until then are good */
static int fault_error, fault_is_write;
static atomic_uint fault_calls;

static int fault_is_now(int is_write) { return is_write == fault_is_write && atomic_fetch_sub(&fault_after, 1) <= 0; }

static ssize_t failing_pread(int file, void *to, size_t bytes, off_t at) {
  if (!fault_is_now(0)) return pread(file, to, bytes, at);
  errno = fault_error;
  return -1;
}
static ssize_t failing_pwrite(int file, const void *from, size_t bytes, off_t at) {
  if (!fault_is_now(1)) return pwrite(file, from, bytes, at);
  errno = fault_error;
  return -1;
}
static int failing_completed(int is_write, int result) { return fault_is_now(is_write) ? -fault_error : result; }

/* Counts cut short, nothing at all, and interruptions, in turn. */
static size_t short_length(size_t bytes) {
  unsigned turn = atomic_fetch_add(&fault_calls, 1);
  return turn % 4 == 0 ? bytes : turn % 4 == 1 ? bytes / 3 : turn % 4 == 2 ? 0 : bytes - bytes / 5;
}
static ssize_t short_pread(int file, void *to, size_t bytes, off_t at) {
  size_t length = short_length(bytes) / 4096 * 4096;
  if (length > 0) return pread(file, to, length, at);
  errno = EINTR;
  return -1;
}
static ssize_t short_pwrite(int file, const void *from, size_t bytes, off_t at) {
  size_t length = short_length(bytes);
  if (length == 0) return 0;
  ssize_t done = pwrite(file, from, length / 4096 ? length / 4096 * 4096 : bytes, at);
  return done < 0 || (size_t)done <= length ? done : (ssize_t)length; /* not a multiple of anything */
}
static int short_completed(int is_write, int result) {
  (void)is_write;
  if (result <= 0) return result;
  size_t length = short_length((size_t)result);
  return length > 0 ? (int)length : -EINTR;
}

static int futile_completed(int is_write, int result) { return is_write || result < 0 ? result : 0; }
static ssize_t futile_pread(int file, void *to, size_t bytes, off_t at) { return (void)file, (void)to, (void)bytes, (void)at, 0; }

static void normal_calls(int has_uring) {
  static gnn_scratch_calls normal;
  if (normal.pread == NULL) normal = gnn_scratch_system;
  gnn_scratch_system = normal;
  gnn_scratch_system.has_uring = has_uring;
}

static void test_short(void) {
  for (int has_uring = 0; has_uring < 2; has_uring++) {
    normal_calls(has_uring);
    gnn_scratch_system.pread = short_pread;
    gnn_scratch_system.pwrite = short_pwrite;
    gnn_scratch_system.completed = short_completed;
    test_load(has_uring ? "short counts, io_uring" : "short counts, pread and pwrite", 1 << 20);
    normal_calls(has_uring);
    gnn_scratch_system.pread = futile_pread;
    gnn_scratch_system.completed = futile_completed;
    load_program *l = load_make(100000);
    gnn_instance *instance = load_open(l);
    int64_t wrong = load_round(instance, l, 1);
    const gnn_error *cause = gnn_lanes_error(&instance->run);
    tap_ok(wrong == -1 && cause && strstr(cause->message, "could not read"), "reads that never get anywhere: %s", cause ? cause->message : "?");
    gnn_instance_destroy(instance);
    free(l);
  }
  normal_calls(1);
}

static void test_faults(void) {
  static const struct { int error, is_write, after; const char *wanted, *code; } cases[] = {
    {EIO, 1, 0, "could not write", ""}, {EIO, 1, 9, "Input/output error", ""}, {EIO, 0, 0, "could not read", ""},
    {EIO, 0, 11, "Input/output error", ""}, {ENOSPC, 1, 3, "No space left on device", "R0805"}};
  for (int has_uring = 0; has_uring < 2; has_uring++)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      normal_calls(has_uring);
      gnn_scratch_system.pread = failing_pread;
      gnn_scratch_system.pwrite = failing_pwrite;
      gnn_scratch_system.completed = failing_completed;
      fault_error = cases[k].error;
      fault_is_write = cases[k].is_write;
      atomic_store(&fault_after, cases[k].after);
      gnn_error error;
      gnn_result result[GNN_SPLIT_COUNT];
      tiered_make(&tiered, &toy, TIERED_MIXED);
      gnn_instance *instance = loaded(&tiered.program, 0, 0);
      gnn_status status = GNN_OK;
      for (int e = 0; e < 20 && status == GNN_OK; e++) {
        status = gnn_step_epoch(instance);
        if (status == GNN_OK) status = gnn_evaluate(instance, result);
      }
      gnn_status again = gnn_step_epoch(instance), code = gnn_step_failed(instance, status, &error, "", "no lane knows why");
      tap_ok(status == GNN_EIO && again == GNN_EIO && code == GNN_EIO && gnn_exit_code(status) == GNN_EXIT_IO &&
             strstr(error.message, cases[k].wanted) && strstr(error.message, "step ") && strstr(error.message, "line 1") &&
             strcmp(error.code, cases[k].code) == 0, "%s: [%s] %s", has_uring ? "io_uring" : "calls", error.code, error.message);
      gnn_instance_destroy(instance);
    }
  normal_calls(1);
}

/* ---- data that are at home on the SSD ---- */

/* Into three extents that lie apart, one of them perhaps in the host arena, in runs of `step` bytes; what was put there, read again. NULL: they are the same; else what went wrong. */
static const char *home_round(gnn_instance *instance, int64_t step, gnn_error *error) {
  static unsigned char data[(3 << 20) + 9096], seen[sizeof data];
  const gnn_side side = {GNN_SSD, 0, 3};
  gnn_home home;
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)((uint32_t)(i + (size_t)step) * 2654435761u >> 24);
  memset(seen, 0, sizeof seen);
  gnn_status status = gnn_home_open(&home, instance, &side, error);
  if (status != GNN_OK) return "cannot be opened";
  for (size_t at = 0; at < sizeof data && status == GNN_OK; at += (size_t)step)
    status = gnn_home_put(&home, data + at, sizeof data - at < (size_t)step ? (int64_t)(sizeof data - at) : step, error);
  if (status == GNN_OK && gnn_home_put(&home, data, 1, NULL) != GNN_EINVAL) return "takes more than there is room for";
  if (gnn_home_close(&home, status, error) != GNN_OK) return "cannot be written";
  if (gnn_home_read(instance, &side, seen, sizeof seen, error) != GNN_OK) return "cannot be read";
  return memcmp(data, seen, sizeof data) == 0 ? NULL : "is not what was put there";
}

static void test_home(void) {
  static const gnn_extent on_ssd[] = {{4096, 5000, 0}, {(4 << 20) + 8192, 3 << 20, 0}, {16384, 4096, 0}}, on_both[] = {{4096, 5000, 0}, {64, 3 << 20, 1}, {16384, 4096, 0}};
  static unsigned char host[(3 << 20) + 64 + 8];
  static const int64_t steps[] = {1000, 4096, 70001, 4 << 20};
  gnn_program program = {.real_bytes = 4, .host_bytes = sizeof host - 8, .ssd_bytes = 8 << 20, .extent_count = 3, .extents = on_ssd};
  const gnn_scratch_folders folders = {.temporary = tap_path("")};
  gnn_instance instance = {.run.program = &program, .tiers = {.program = &program, .base[GNN_HOST] = host}};
  gnn_error error = {.message = ""};
  if (gnn_scratch_open(&instance.scratch, &folders, &error) != GNN_OK || gnn_scratch_reserve(&instance.scratch, program.ssd_bytes, &error) != GNN_OK) exit(97);
  for (int round = 0; round < 3; round++)
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
      normal_calls(round == 1);
      program.extents = round == 2 ? on_both : on_ssd;
      memset(host, 0, sizeof host);
      const char *wrong = home_round(&instance, steps[k], &error);
      int is_there = 1; /* where the extents say, and nowhere else */
      for (size_t i = 0; i < sizeof host; i++) is_there = is_there && host[i] == (round == 2 && i >= 64 && i < sizeof host - 8 ? (unsigned char)((uint32_t)(i - 64 + 5000 + (size_t)steps[k]) * 2654435761u >> 24) : 0);
      tap_ok(wrong == NULL && is_there, "data at home, %s, %d bytes at a time%s%s", round == 2 ? "on host and SSD" : round ? "io_uring" : "pread and pwrite", (int)steps[k], wrong ? ": " : "", wrong ? wrong : "");
    }
  program.extents = on_ssd;
  normal_calls(0);
  gnn_scratch_system.pwrite = failing_pwrite;
  fault_error = EIO;
  fault_is_write = 1;
  atomic_store(&fault_after, 2);
  const char *wrong = home_round(&instance, 70001, &error);
  tap_ok(wrong && strcmp(wrong, "cannot be written") == 0 && strstr(error.message, "could not write"), "data at home where a write fails: %s", error.message);
  normal_calls(1);
  gnn_scratch_close(&instance.scratch);
}

/* ---- data that are read in a file of the user's ---- */

/* What a window shows from `at` on is what the data have there. */
static int window_shows(gnn_scratch *scratch, int64_t first, const unsigned char *data, int64_t at, int64_t bytes, gnn_error *error) {
  static unsigned char seen[1 << 20];
  const gnn_spans memory = {.base = seen, .scale = 1, .wrap = INT64_MAX, .left = bytes}, file = {.scale = 1, .wrap = INT64_MAX, .at = first + at, .left = bytes};
  gnn_scratch_port *port = NULL;
  memset(seen, 0, sizeof seen);
  gnn_status status = gnn_scratch_port_create(scratch, 0, bytes, &port, error);
  if (status == GNN_OK) status = gnn_scratch_move(port, memory, file, bytes, error);
  gnn_scratch_port_destroy(port);
  return status == GNN_OK && memcmp(seen, data + at, (size_t)bytes) == 0;
}

static void test_window(void) {
  enum { HEADER = 128, BYTES = 700001 };
  static unsigned char data[HEADER + BYTES];
  static const int64_t pieces[][2] = {{0, BYTES}, {1, 1}, {4096 - HEADER, 4096}, {3968, 300000}, {BYTES - 1, 1}, {BYTES - 5000, 5000}, {123456, 262144}};
  const int64_t first = GNN_WINDOWS_AT + 8192, second = GNN_WINDOWS_AT + (1 << 20);
  gnn_scratch scratch;
  gnn_error error = {.message = ""};
  gnn_file file;
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)((uint32_t)i * 2654435761u >> 24);
  tap_write(tap_path("rows.bin"), data, sizeof data);
  const gnn_scratch_folders folders = {.temporary = tap_path("")};
  if (gnn_scratch_open(&scratch, &folders, &error) != GNN_OK || gnn_scratch_reserve(&scratch, 0, &error) != GNN_OK || gnn_file_open(tap_path("rows.bin"), gnn_file_text, &file, &error) != GNN_OK) exit(97);
  gnn_status status = gnn_window_open(&scratch, first, BYTES, &file, HEADER, &error);
  int64_t grown = -1;
  gnn_scratch_port *port = NULL;
  if (status == GNN_OK) status = gnn_window_grow(&scratch, second, BYTES, &grown, &error);
  if (status == GNN_OK) status = gnn_scratch_port_create(&scratch, 1, BYTES, &port, &error);
  const gnn_spans memory = {.base = data, .scale = 1, .wrap = INT64_MAX, .at = HEADER, .left = BYTES}, end = {.scale = 1, .wrap = INT64_MAX, .at = grown, .left = BYTES};
  if (status == GNN_OK) status = gnn_scratch_move(port, memory, end, BYTES, &error);
  gnn_scratch_port_destroy(port);
  tap_ok(status == GNN_OK && grown == 0 && scratch.bytes == gnn_scratch_round(BYTES), "a window on a file, and one on what the scratch file grew by %s", error.message);
  for (int has_uring = 0; has_uring < 2; has_uring++) {
    int right = 0, count = (int)(sizeof pieces / sizeof *pieces);
    normal_calls(has_uring);
    for (int k = 0; k < count; k++)
      right += window_shows(&scratch, first, data + HEADER, pieces[k][0], pieces[k][1], &error) && window_shows(&scratch, second, data + HEADER, pieces[k][0], pieces[k][1], &error);
    tap_ok(right == count, "%s: they show the same, wherever it begins and ends %s", has_uring ? "io_uring" : "pread", error.message);
  }
  tap_ok(!window_shows(&scratch, first - 4096, data, 0, 1, &error) && strstr(error.message, "nothing lies at"), "beside them nothing is: %s", error.message);
  tap_write(tap_path("rows.bin"), data, sizeof data - 1);
  tap_ok(!window_shows(&scratch, first, data + HEADER, 0, 4096, &error) && strstr(error.message, "rows.bin\" was changed"), "a file that is another by now: %s", error.message);
  tap_ok(gnn_window_open(&scratch, first, BYTES, &file, HEADER, &error) != GNN_OK && strstr(error.message, "was replaced"), "nor is it opened: %s", error.message);
  gnn_file_close(&file);
  gnn_scratch_close(&scratch);
  normal_calls(1);
}

static void test_queued_twice(void) {
  tiered_make(&tiered, &toy, TIERED_SSD);
  tiered.program.is_simulated = 1;
  tiered.program.slowdown = 1;
  gnn_instance *instance = loaded(&tiered.program, 0, 0);
  gnn_status status = gnn_copy(&instance->run, 0), again = gnn_copy(&instance->run, 0);
  const gnn_error *cause = gnn_lanes_error(&instance->run);
  tap_ok(status == GNN_OK && again == GNN_EIO && cause && strstr(cause->message, "a bug in gnncc"), "%s", cause ? cause->message : "queued twice");
  gnn_instance_destroy(instance);
}

static void test_unsound(void) {
  int refused_count = 0, tries = 0;
  gnn_error error;
  for (int k = 0; k < 9; k++, tries++) {
    gnn_instance *instance;
    tiered_make(&tiered, &toy, TIERED_MIXED);
    if (k == 0) tiered.copies[0].from.at = tiered.program.device_bytes;
    if (k == 1) tiered.copies[0].bytes += 4;
    if (k == 2) tiered.extents[tiered.copies[1].to.at].at += 64;
    if (k == 3) tiered.extents[0].bytes = 0;
    if (k == 4) tiered.program.ring_bytes = 64;
    if (k == 5) tiered.copies[2].after[0] = tiered.program.copy_count;
    if (k == 6) tiered.program.host_bytes -= 64;
    if (k == 8) { /* a window is only read */
      int c = 0;
      while (tiered.copies[c].to.tier != GNN_SSD) c++;
      tiered.extents[tiered.copies[c].to.at].at = GNN_WINDOWS_AT;
    }
    if (k == 7) tiered.extents[tiered.copies[1].to.at].is_on_host = 1;
    gnn_status status = gnn_instance_create(&tiered.program, NULL, &instance, &error);
    refused_count += status == GNN_EVERSION && gnn_exit_code(status) == GNN_EXIT_INTERNAL && instance == NULL;
  }
  tap_ok(refused_count == tries, "tables that would copy elsewhere are refused: %s", error.message);
}

/* As others would do it: through the file's entry in /proc. */
static int cut(const gnn_instance *instance, int64_t bytes, int64_t again) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", instance->scratch.file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  int is_done = file >= 0 && ftruncate(file, (off_t)bytes) == 0 && (again == 0 || ftruncate(file, (off_t)again) == 0);
  if (file >= 0) close(file);
  return is_done;
}

static void test_truncated(void) {
  for (int kind = 0; kind < 3; kind++) {
    gnn_error error = {0};
    tiered_make(&tiered, &toy, TIERED_SSD);
    gnn_instance *instance = loaded(&tiered.program, 0, 0);
    train(instance, 1);
    int64_t whole = instance->scratch.bytes;
    int is_cut = cut(instance, kind == 0 ? 0 : whole - 4096 * 5, kind == 2 ? whole : 0);
    gnn_status status = gnn_step_epoch(instance);
    gnn_result result[GNN_SPLIT_COUNT];
    if (status == GNN_OK) status = gnn_evaluate(instance, result);
    gnn_step_failed(instance, status, &error, "", "no lane knows why");
    tap_ok(is_cut && status == GNN_EIO && strstr(error.message, "was truncated"), "%s: %s",
           kind == 0 ? "cut to nothing" : kind == 1 ? "cut short" : "cut short and grown again", error.message);
    gnn_instance_destroy(instance);
  }
}

/* ---- what the machine refuses ---- */

static int forbid_uring(void) {
  struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Runs in a child; its exit status is the answer. */
static int in_child(int (*work)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(work());
  }
  int status;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

static int child_forbidden(void) {
  if (!forbid_uring()) return 77;
  tiered_make(&tiered, &toy, TIERED_MIXED);
  gnn_instance *moved = loaded(&tiered.program, 0, 0), *plain = loaded(&toy.program, 0, 0);
  gnn_text text = {0};
  gnn_lanes_scratch_text(&moved->run, &text);
  printf("# %s\n", text.data);
  int is_said = strstr(text.data, "pread and pwrite") && strstr(text.data, "Operation not permitted");
  train(moved, 5);
  train(plain, 5);
  int is_same = same_weights(moved, plain);
  gnn_text_free(&text);
  gnn_instance_destroy(moved);
  gnn_instance_destroy(plain);
  fflush(stdout);
  return is_said && is_same ? 0 : 1;
}

static gnn_status open_tiered(tiered_mode mode, const char *folder, gnn_error *error) {
  gnn_instance *instance;
  tiered_make(&tiered, &toy, mode);
  gnn_status status = gnn_instance_create(&tiered.program, &(gnn_instance_options){.threads = 1, .scratch = folder}, &instance, error);
  gnn_instance_destroy(instance);
  return status;
}

static int child_limited_file(void) {
  gnn_error error = {0};
  struct rlimit limit = {16384, 16384};
  setrlimit(RLIMIT_FSIZE, &limit);
  gnn_status status = open_tiered(TIERED_SSD, NULL, &error);
  return status == GNN_EIO && strcmp(error.code, "R0805") == 0 && strstr(error.message, "16.0 KiB free") && strstr(error.message, "48.0 KiB") ? 0 : 1;
}

static int child_full_disk(void) {
  gnn_error error = {0};
  const char *folder = tap_path("disk");
  if (mkdir(folder, 0700) != 0 || mount("none", folder, "tmpfs", 0, "size=32k") != 0) return 77;
  gnn_status status = open_tiered(TIERED_SSD, folder, &error);
  int code = status == GNN_EIO && strcmp(error.code, "R0805") == 0 && strstr(error.message, "32.0 KiB free, the plan needs 48.0 KiB") && error.help[0] ? 0 : 1;
  umount(folder);
  return code;
}

/* ramfs reserves nothing and refuses O_DIRECT. */
static int child_page_cache(void) {
  const char *folder = tap_path("pages");
  gnn_error error;
  gnn_instance *moved, *plain = loaded(&toy.program, 0, 0);
  gnn_text text = {0};
  if (mkdir(folder, 0700) != 0 || mount("none", folder, "ramfs", 0, "") != 0) return 77;
  tiered_make(&tiered, &toy, TIERED_MIXED);
  gnn_status status = gnn_instance_create(&tiered.program, &(gnn_instance_options){.threads = 1, .scratch = folder}, &moved, &error);
  if (status == GNN_OK) status = gnn_instance_load(moved, karate, &error);
  if (status != GNN_OK) return 1;
  gnn_instance_reset(moved, 7, NULL);
  train(moved, 5);
  train(plain, 5);
  gnn_lanes_scratch_text(&moved->run, &text);
  printf("# %s\n", text.data);
  int is_fine = same_weights(moved, plain) && strstr(text.data, "through the page cache") && strstr(text.data, "O_DIRECT is refused") &&
                moved->scratch.bytes == 32768;
  gnn_text_free(&text);
  gnn_instance_destroy(moved);
  gnn_instance_destroy(plain);
  umount(folder);
  fflush(stdout);
  return is_fine ? 0 : 2;
}

static int child_little_memory(void) {
  gnn_error error = {0};
  tiered_make(&tiered, &toy, TIERED_HOST);
  tiered.program.host_bytes = INT64_C(1) << 30;
  struct rlimit limit = {300 << 20, 300 << 20};
  setrlimit(RLIMIT_AS, &limit);
  gnn_instance *instance;
  gnn_status status = gnn_instance_create(&tiered.program, NULL, &instance, &error);
  return status == GNN_ENOMEM && strcmp(error.code, "R0801") == 0 && gnn_exit_code(status) == GNN_EXIT_NO_ROOM ? 0 : 1;
}

/* A control group of less memory than the plan needs, version 1 or 2, below the own one. */
static char group_path[1024], group_limit[32];

static void find_group(void) {
  char line[512];
  int is_first = 0;
  FILE *file = fopen("/proc/self/cgroup", "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    int is_memory = strstr(line, ":memory:") != NULL;
    if (!is_memory && (is_first || strncmp(line, "0::", 3) != 0)) continue;
    is_first = is_memory;
    snprintf(group_path, sizeof group_path, "/sys/fs/cgroup%s%s/gnn-test-%d", is_first ? "/memory" : "", strrchr(line, ':') + 1, (int)getpid());
    snprintf(group_limit, sizeof group_limit, "%s", is_first ? "memory.limit_in_bytes" : "memory.max");
  }
  if (file) fclose(file);
}

static int group_write(const char *name, const char *text) {
  char path[1200];
  snprintf(path, sizeof path, "%s/%s", group_path, name);
  FILE *file = fopen(path, "r+");
  if (file == NULL) return 0;
  int is_written = fputs(text, file) >= 0;
  return fclose(file) == 0 && is_written;
}

static int child_little_group(void) {
  if (mkdir(group_path, 0755) != 0 || !group_write(group_limit, "268435456") || !group_write("cgroup.procs", "0")) return 77;
  gnn_error error = {0};
  tiered_make(&tiered, &toy, TIERED_HOST);
  tiered.program.host_bytes = INT64_C(1) << 30;
  gnn_instance *instance;
  gnn_status status = gnn_instance_create(&tiered.program, NULL, &instance, &error);
  printf("# %s\n", error.message);
  fflush(stdout);
  return status == GNN_ENOMEM && strcmp(error.code, "R0801") == 0 && strstr(error.message, "the plan needs 1.0 GiB") &&
         strstr(error.message, "MiB free") && gnn_exit_code(status) == GNN_EXIT_NO_ROOM ? 0 : 1;
}

static void refused(const char *name, int (*work)(void)) {
  int code = in_child(work);
  if (code == 77) tap_skip(name, "not permitted here");
  else tap_ok(code == 0, "%s", name);
}

static void test_refusals(void) {
  gnn_error error = {0};
  refused("io_uring forbidden by seccomp: the same bits by pread and pwrite, and it is said", child_forbidden);
  refused("R0805: a limit on the size of files", child_limited_file);
  refused("R0805: a disk with less room than planned", child_full_disk);
  refused("a file system without O_DIRECT and without reservations: the same bits, and it is said", child_page_cache);
  find_group();
  refused("R0801: a control group of less memory than planned", child_little_group);
  rmdir(group_path);
#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__
  refused("R0801: less memory than the host arena needs", child_little_memory);
#endif
#endif
  (void)child_little_memory;
  tap_ok(open_tiered(TIERED_SSD, "/nowhere/at/all", &error) == GNN_EIO && strcmp(error.code, "E0001") == 0, "a folder that is not there: %s", error.message);
  tiered_make(&tiered, &toy, TIERED_SSD);
  tiered.program.scratch_dir = "/nowhere/planned";
  gnn_instance *instance = loaded(&tiered.program, 0, 0);
  gnn_text text = {0};
  gnn_lanes_scratch_text(&instance->run, &text);
  tap_ok(strstr(text.data, "not in the plan's /nowhere/planned: No such file or directory") != NULL, "the plan's folder is not there: %s", text.data);
  gnn_text_free(&text);
  gnn_instance_destroy(instance);
  instance = NULL;
  tiered_make(&tiered, &toy, TIERED_MIXED);
  tiered.program.host_bytes = INT64_C(1) << 50;
  tap_ok(gnn_instance_create(&tiered.program, NULL, &instance, &error) == GNN_ENOMEM && strcmp(error.code, "R0801") == 0, "R0801: %s", error.message);
  tap_ok(strstr(error.help, "1024.0 TiB of it is not the device's") && !strstr(error.help, "device="), "no smaller device is advised where that does not help: %s", error.help);
  tiered_make(&tiered, &toy, TIERED_SSD);
  tiered.program.device_bytes = INT64_C(1) << 50;
  long long advised = 0;
  gnn_status status = gnn_instance_create(&tiered.program, NULL, &instance, &error);
  int is_read = sscanf(error.help, "gnncc --budget device=%lldMiB", &advised) == 1;
  int64_t room = gnn_available_bytes() - gnn_staging_bytes(&tiered.program);
  tap_ok(status == GNN_ENOMEM && is_read && advised > 0 && advised << 20 < room + (64 << 20), "the device that is advised leaves room for staging: %s", error.help);
}

/* ---- time ---- */

static double epoch_seconds(int is_serial, gnn_watch *watch) {
  tiered_make(&tiered, &toy, TIERED_SSD);
  tiered.program.is_simulated = 1;
  tiered.program.slowdown = 2;
  gnn_instance *instance = loaded(&tiered.program, is_serial, 1);
  double least = INFINITY, ideal = is_serial ? 0.30 : 0.24; /* test_simulation; on a busy machine it may take some epochs to get near */
  const int last = 3 + 2 * TIERED_PIECES; /* steps 3.. are the copies of training, out and in */
  int is_beside = 0;                      /* in some epoch */
  for (int e = 0; e < 3 || ((least > ideal + 0.012 || (!is_serial && !is_beside)) && e < 30); e++) {
    gnn_watch_restart(&instance->run);
    double before = gnn_now();
    if (gnn_step_epoch(instance) != GNN_OK) exit(94);
    double seconds = gnn_now() - before;
    least = seconds < least ? seconds : least;
    *watch = *instance->run.watch;
    is_beside |= watch->start[last - 3] < watch->start[1] + 1e-3 && watch->end[last - 1] > watch->end[1];
  }
  int is_ordered = watch->end[1] - watch->start[1] >= 0.06 && watch->start[4] >= watch->end[3];
  for (int s = 3; s < last; s++) is_ordered &= watch->end[s] - watch->start[s] >= 0.04;
  tap_ok(is_ordered, "sim: no step takes less than it is said to, and a lane's steps follow one another%s", is_serial ? ", serial" : "");
  watch->slowdown = is_beside; /* side by side */
  gnn_instance_destroy(instance);
  return least;
}

static void test_simulation(void) {
  gnn_watch watch;
  double overlapped = epoch_seconds(0, &watch);
  int is_beside = watch.slowdown != 0;
  double serial = epoch_seconds(1, &watch);
  /* out 3 x 40 ms, then in 3 x 40 ms beside 60 ms of compute: 240 ms; one after another 300 ms */
  tap_ok(is_beside && overlapped >= 0.24 && serial >= 0.3 && overlapped < serial - 0.03, "sim: %.3f s overlapped, %.3f s with serial lanes",
         overlapped, serial);
}

int main(void) {
  gnn_error error;
  alarm(300);
  normal_calls(1);
  if (gnn_dataset_open_path("karate", &karate, &error) != GNN_OK || gnn_dataset_prepare(karate, NULL, &error) != GNN_OK) return 98;
  toy_make(&toy, karate, NULL, 0);
  test_bits();
  test_job();
  test_resume();
  test_load("io_uring", 3 << 20);
  normal_calls(0);
  test_load("pread and pwrite", 3 << 20);
  normal_calls(1);
  test_short();
  test_faults();
  test_home();
  test_window();
  test_queued_twice();
  test_unsound();
  test_truncated();
  test_refusals();
  test_simulation();
  gnn_dataset_close(karate);
  if (tap_remove_folder() != 0) return 99;
  return tap_done();
}
