/* test_cuda.c: the CUDA runtime on a stand-in for CUDA: the bits of the processor however streams meet, no event wait too few,
 * and what is said when CUDA refuses. An alarm ends a test that hangs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

#include "../../runtime/job/checkpoint.h"
#include "../../runtime/core/device.h"
#include "../../runtime/data/fill.h"
#include "../../runtime/job/job.h"
#include "../../runtime/core/lanes.h"
#include "../../runtime/app/train.h"
#include "../runtime/tap.h"
#include "standin.h"
#include "toy_cuda.h"

#ifdef __SANITIZE_THREAD__
enum { IS_WATCHED_FOR_RACES = 1 };
#else
enum { IS_WATCHED_FOR_RACES = 0 };
#endif
enum { SEEDS = 10, EPOCHS = 6 };

static gnn_dataset *karate;
static toy_cuda toy;
static int notes;
static char last_note[512];

static void take_note(void *user, const char *text) {
  (void)user;
  notes++;
  snprintf(last_note, sizeof last_note, "%s", text);
}

static gnn_status try_open(const gnn_program *program, gnn_instance_options options, gnn_instance **instance, gnn_error *error) {
  options.threads = 2;
  options.note = take_note;
  notes = 0;
  gnn_status status = gnn_instance_create(program, &options, instance, error);
  if (status == GNN_OK) status = gnn_instance_load(*instance, karate, error);
  if (status == GNN_OK) gnn_instance_reset(*instance, 7, NULL);
  return status;
}

static gnn_instance *open_it(const gnn_program *program, gnn_instance_options options) {
  gnn_instance *instance = NULL;
  gnn_error error;
  if (try_open(program, options, &instance, &error) == GNN_OK) return instance;
  printf("# %s\n", error.message);
  exit(97);
}

/* Some epochs, each with an evaluation; what the last one found. */
static gnn_status train(gnn_instance *instance, int epochs, gnn_result result[GNN_SPLIT_COUNT]) {
  gnn_status status = GNN_OK;
  for (int e = 0; e < epochs && status == GNN_OK; e++) {
    status = gnn_step_epoch(instance);
    if (status == GNN_OK) status = gnn_evaluate(instance, result);
  }
  return status;
}

static int same(gnn_instance *a, gnn_instance *b) {
  const gnn_program *p = a->run.program;
  if (gnn_download_weights(a, 1, NULL) != GNN_OK || gnn_download_weights(b, 1, NULL) != GNN_OK) return 0;
  for (int w = 0; w < p->weight_count; w++)
    for (int s = -1; s < p->weights[w].state_count; s++) {
      int64_t at = s < 0 ? p->weights[w].at : p->weights[w].at_state[s];
      if (memcmp(gnn_instance_at(a, at), gnn_instance_at(b, at), (size_t)p->weights[w].count * 4) != 0) return 0;
    }
  return memcmp(&a->run.loss, &b->run.loss, sizeof a->run.loss) == 0;
}

/* ---- the same bits ---- */

static void test_bits(void) {
  gnn_result wanted[GNN_SPLIT_COUNT], found[GNN_SPLIT_COUNT];
  for (int mode = 0; mode < TOY_MODE_COUNT; mode++) {
    toy_cuda_make(&toy, karate, (toy_mode)mode);
    gnn_instance *cpu = open_it(&toy.toy.program, (gnn_instance_options){0});
    train(cpu, EPOCHS, wanted);
    for (int variant = 0; variant < 4; variant++) {
      static const char *const names[] = {"graph", "no graph", "serial lanes", "traced"};
      int right = 0, graphs = 0;
      for (unsigned seed = 0; seed < SEEDS; seed++) {
        standin_reset(seed, STANDIN_FINE, 0);
        gnn_instance *cuda = open_it(&toy.program, (gnn_instance_options){.has_no_graph = variant == 1, .is_serial = variant == 2, .is_traced = variant == 3});
        gnn_status status = train(cuda, EPOCHS, found);
        right += status == GNN_OK && same(cpu, cuda) && memcmp(wanted, found, sizeof wanted) == 0 && notes == 0;
        graphs += standin_graph_launches();
        gnn_instance_destroy(cuda);
        right -= standin_allocated() != 0;
      }
      int planned = (variant == 0 || variant == 3) && mode != TOY_RING ? SEEDS * 2 * (EPOCHS - 1) : 0;
      tap_ok(right == SEEDS && graphs == planned, "%s, %s: the processor's bits however streams meet (%d of %d), %d graphs launched", toy_mode_names[mode],
             names[variant], right, SEEDS, graphs);
    }
    gnn_instance_destroy(cpu);
  }
}

/* Each epoch's times are its own: they come after those of the epoch before. */
static void trace_epochs(int has_no_graph) {
  standin_reset(STANDIN_FREE, STANDIN_FINE, 0);
  gnn_instance *cuda = open_it(&toy.program, (gnn_instance_options){.is_traced = 1, .has_no_graph = has_no_graph});
  const gnn_watch *watch = cuda->run.watch;
  int is_ordered = 1;
  double latest = 0;
  gnn_watch_restart(&cuda->run);
  for (int e = 0; e < 4; e++) {
    is_ordered &= gnn_step_epoch(cuda) == GNN_OK;
    double before = latest;
    for (int s = 3; s < 3 + 2 * TIERED_PIECES; s++) {
      is_ordered &= watch->start[s] > before && watch->end[s] >= watch->start[s] && watch->end[s] < 10;
      if (watch->end[s] > latest) latest = watch->end[s];
    }
    is_ordered &= watch->end[3] <= watch->start[4];
  }
  int graphs = standin_graph_launches();
  tap_ok(is_ordered && notes == 0 && graphs == (has_no_graph ? 0 : 3), "trace: every copy has its times, one after the other on its lane, epoch after epoch, %d of 4 by a graph", graphs);
  gnn_instance_destroy(cuda);
}

static void test_trace(void) {
  toy_cuda_make(&toy, karate, TOY_HOST);
  trace_epochs(0);
  trace_epochs(1);
}

/* What the traces rest on: an event of a capture has no time, one that the graph records has. */
static void test_events_of_graphs(void) {
  cudaStream_t stream, other;
  cudaEvent_t captured, recorded, timeless;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  float time = -1;
  standin_reset(0, STANDIN_FINE, 0);
  int is_made = !cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) && !cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) &&
                !cudaEventCreate(&captured) && !cudaEventCreate(&recorded) && !cudaEventCreateWithFlags(&timeless, cudaEventDisableTiming);
  tap_ok(is_made && cudaEventRecordWithFlags(recorded, stream, cudaEventRecordExternal) == cudaErrorInvalidValue, "stand-in: no external event outside of a capture");
  int is_captured = !cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) && !cudaEventRecord(captured, stream) &&
                    !cudaEventRecordWithFlags(recorded, stream, cudaEventRecordExternal);
  tap_ok(is_captured && cudaStreamWaitEvent(other, recorded, 0) == cudaSuccess && cudaStreamWaitEvent(stream, recorded, 0) == cudaErrorStreamCaptureIsolation,
         "  nor does a stream of the capture wait for one");
  is_made = !cudaStreamEndCapture(stream, &graph) && !cudaGraphInstantiate(&exec, graph, 0) && !cudaGraphDestroy(graph);
  tap_ok(is_made && cudaEventElapsedTime(&time, recorded, recorded) == cudaErrorInvalidResourceHandle, "  before the graph is launched it has no time");
  is_made = !cudaGraphLaunch(exec, stream) && !cudaEventRecord(timeless, stream) && !cudaStreamSynchronize(stream);
  tap_ok(is_made && cudaEventElapsedTime(&time, recorded, recorded) == cudaSuccess && time == 0, "  then it has");
  tap_ok(cudaEventElapsedTime(&time, captured, recorded) == cudaErrorInvalidValue, "  the event of the capture has none");
  tap_ok(cudaEventElapsedTime(&time, timeless, recorded) == cudaErrorInvalidResourceHandle, "  nor has one made without");
  cudaGraphExecDestroy(exec);
  cudaEventDestroy(captured), cudaEventDestroy(recorded), cudaEventDestroy(timeless);
  cudaStreamDestroy(stream), cudaStreamDestroy(other);
}

/* ---- no wait too few ---- */

/* Three epochs with their evaluations on the same data: the bits that are left, and the scores. */
static int is_as(gnn_instance *cpu, gnn_instance *cuda) {
  gnn_result wanted[GNN_SPLIT_COUNT], found[GNN_SPLIT_COUNT];
  int64_t bytes = cpu->run.nodes * toy.program.classes * 4;
  int is_same = 1;
  gnn_instance_reset(cpu, 7, NULL);
  for (int e = 0; e < 3 && is_same; e++) {
    train(cpu, 1, wanted);
    is_same = train(cuda, 1, found) == GNN_OK && memcmp(gnn_instance_at(cpu, toy.program.at_scores), gnn_instance_at(cuda, toy.program.at_scores), (size_t)bytes) == 0;
  }
  return is_same && same(cpu, cuda);
}

/* Without the wait: is it seen, under some way in which streams may meet? */
static int is_missed(gnn_instance *cpu, standin_wait wait, gnn_instance_options options) {
  int is_wrong = 0;
  for (unsigned seed = 0; seed < SEEDS && !is_wrong; seed++) {
    standin_reset(seed, STANDIN_FINE, 0);
    gnn_instance *cuda = open_it(&toy.program, options);
    standin_ignore(wait.stream, wait.event);
    is_wrong = !is_as(cpu, cuda);
    gnn_instance_destroy(cuda);
  }
  return is_wrong;
}

/* A thread of the disk waits for the compute to have got to where its copy was queued; here what it comes after would do. */
static int is_for_start_of_disk(standin_wait wait) {
  int event = 0; /* as they are made: a stream's, then for every copy where it was queued and, but for the disk's, where it was done */
  for (int l = 0; l < GNN_LANE_COUNT; l++) event += l == GNN_LANE_COMPUTE || (l != GNN_LANE_SSD_WRITE && l != GNN_LANE_SSD_READ && gnn_lanes_uses(&toy.program, (gnn_lane)l));
  for (int c = 0; c < toy.program.copy_count; c++) {
    int is_disk = gnn_copy_uses_scratch(&toy.program.copies[c]);
    if (is_disk && wait.stream == STANDIN_HOST && wait.event == event) return 1;
    event += is_disk ? 1 : 2;
  }
  return 0;
}

static void test_waits(void) {
  for (int mode = TOY_HOST; mode < TOY_MODE_COUNT; mode++)
    for (int has_no_graph = 0; has_no_graph < 2; has_no_graph++) {
      static standin_wait waits[STANDIN_WAITS];
      standin_hold(mode == TOY_RING ? 1500000 : 60000);
      int needed = 0, missed = 0;
      const gnn_instance_options options = {.has_no_graph = has_no_graph, .scratch = mode == TOY_RING ? "/dev/shm" : NULL};
      if (mode == TOY_RING && !has_no_graph) continue;
      toy_cuda_make(&toy, karate, (toy_mode)mode);
      gnn_instance *cpu = open_it(&toy.toy.program, (gnn_instance_options){0});
      standin_reset(0, STANDIN_FINE, 0);
      gnn_instance *cuda = open_it(&toy.program, options);
      if (!is_as(cpu, cuda)) printf("# not even with all waits\n");
      int count = standin_waits(waits);
      gnn_instance_destroy(cuda);
      for (int w = 0; w < count; w++) {
        if (waits[w].is_implied || is_for_start_of_disk(waits[w])) continue;
        needed++;
        if (is_missed(cpu, waits[w], options)) missed++;
        else printf("# nothing shows that stream %d waits for event %d\n", waits[w].stream, waits[w].event);
      }
      tap_ok(needed > 0 && missed == needed, "%s, %s: %d waits, %d of them implied by others; without any one of the %d the bits are wrong (%d)",
             toy_mode_names[mode], has_no_graph ? "no graph" : "graph", count, count - needed, needed, missed);
      gnn_instance_destroy(cpu);
    }
  standin_hold(60000);
}

/* ---- what is refused ---- */

static void test_refusals(void) {
  static const struct { standin_fault fault; const char *wanted; } cases[] = {
    {STANDIN_NO_DRIVER, "no CUDA driver"}, {STANDIN_OLD_DRIVER, "the driver here is for CUDA 11.4; the program needs one for CUDA 13.0"},
    {STANDIN_NO_DEVICE, "no CUDA device here (cudaErrorNoDevice)"}, {STANDIN_NO_MEMORY, "3.0 KiB of 16.0 GiB free, the plan needs"},
    {STANDIN_NO_ENTRIES, "cudaErrorCallRequiresNewerDriver"}, {STANDIN_BAD_IMAGE, "loading the kernels"}, {STANDIN_BAD_PTX, "loading the kernels"}, {STANDIN_NO_PINNED, "would not pin"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    gnn_error error = {0};
    gnn_instance *instance = NULL;
    toy_cuda_make(&toy, karate, TOY_HOST);
    standin_reset(0, cases[k].fault, 0);
    gnn_status status = try_open(&toy.program, (gnn_instance_options){0}, &instance, &error);
    tap_ok(status == GNN_ENOMEM && gnn_exit_code(status) == GNN_EXIT_NO_ROOM && strcmp(error.code, "R0801") == 0 && strstr(error.message, cases[k].wanted) &&
           standin_allocated() == 0, "R0801, exit 3: %s", error.message);
    if (cases[k].fault != STANDIN_NO_PINNED) tap_ok(standin_allocations() == 0, "  before anything was allocated");
  }
  gnn_error error = {0};
  gnn_instance *instance = NULL;
  standin_reset(0, STANDIN_FINE, 0);
  gnn_status status = try_open(&toy.program, (gnn_instance_options){.device = 3}, &instance, &error);
  tap_ok(status == GNN_ENOMEM && strstr(error.message, "no CUDA device 3; there is 0: stand-in"), "--device 3: %s", error.message);
  tiered_model direct;
  toy_model plain;
  toy_make(&plain, karate, NULL, 0);
  tiered_make(&direct, &plain, TIERED_SSD);
  direct.program.backend = &gnn_cuda_backend;
  direct.program.code = &toy_code;
  status = try_open(&direct.program, (gnn_instance_options){0}, &instance, &error);
  tap_ok(status == GNN_EINVAL && strstr(error.message, "without a ring"), "between device and SSD: %s", error.message);
}

static void test_failures(void) {
  static const struct { standin_fault fault; int after, is_serial; const char *wanted; } cases[] = {
    {STANDIN_BAD_LAUNCH, 0, 0, "step 1, line 1 of toy.gnn (all of training): launching toy_mask_state: cudaErrorLaunchOutOfResources"},
    {STANDIN_BAD_LAUNCH, 30, 0, "launching toy_"}, {STANDIN_BAD_COPY, 3, 0, "copying: cudaErrorInvalidValue"},
    {STANDIN_BAD_KERNEL, 9, 1, "step 1, line 1 of toy.gnn (all of training): running: cudaErrorIllegalAddress"},
    {STANDIN_BAD_KERNEL, 5, 0, "cudaErrorIllegalAddress"}};
  for (int mode = TOY_HOST; mode < TOY_MODE_COUNT; mode++)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      gnn_error error = {0};
      gnn_result result[GNN_SPLIT_COUNT];
      toy_cuda_make(&toy, karate, (toy_mode)mode);
      standin_reset(6, cases[k].fault, cases[k].after);
      gnn_instance *cuda = open_it(&toy.program, (gnn_instance_options){.is_serial = cases[k].is_serial, .has_no_graph = 1});
      gnn_status status = train(cuda, EPOCHS, result), again = gnn_step_epoch(cuda);
      gnn_step_failed(cuda, status, &error, "", "nobody knows why");
      gnn_status saved = gnn_weights_save(cuda, NULL, tap_path("broken.safetensors"), NULL);
      tap_ok(status == GNN_EDEVICE && again == GNN_EDEVICE && saved == GNN_EDEVICE && gnn_exit_code(status) == GNN_EXIT_FAILED && strstr(error.message, cases[k].wanted),
             "%s, exit 1: %s", toy_mode_names[mode], error.message);
      gnn_instance_destroy(cuda);
    }
}

/* Each call of a short training fails once: it is told, or does not matter to the bits; and nothing is left behind. */
static void test_every_call(void) {
  for (int run = 0; run < 3; run++) {
    const toy_mode mode = run == 1 ? TOY_RING : TOY_HOST;
    const int is_traced = run == 2;
    int calls = 0, told = 0, went_on = 0, is_over = 0, wrong = 0;
    gnn_result result[GNN_SPLIT_COUNT];
    toy_cuda_make(&toy, karate, mode);
    gnn_instance *cpu = open_it(&toy.toy.program, (gnn_instance_options){0});
    train(cpu, 3, result);
    for (; !is_over; calls += IS_WATCHED_FOR_RACES ? 11 : 1) {
      gnn_error error = {0};
      gnn_instance *cuda = NULL;
      standin_reset(STANDIN_FREE, STANDIN_ANY, calls);
      gnn_status status = try_open(&toy.program, (gnn_instance_options){.scratch = "/dev/shm", .is_traced = is_traced}, &cuda, &error);
      if (status == GNN_OK && (status = train(cuda, 3, result)) != GNN_OK) gnn_step_failed(cuda, status, &error, "", "nobody knows why");
      is_over = !standin_has_struck();
      if (is_over) standin_calm();
      int is_same = status == GNN_OK && same(cpu, cuda);
      told += status != GNN_OK && (strstr(error.message, "cudaErrorUnknown") || strstr(error.message, "no CUDA d"));
      went_on += is_same;
      if (status == GNN_OK ? !is_same : !strstr(error.message, "cudaErrorUnknown") && !strstr(error.message, "no CUDA d"))
        wrong++, printf("# call %d: %s\n", calls, status == GNN_OK ? "not a word, and other bits" : error.message);
      gnn_instance_destroy(cuda);
      wrong += standin_allocated() != 0;
    }
    tap_ok(wrong == 0 && told > 10, "%s%s: of %d calls each fails once: %d times it is told, %d times it goes on with the same bits", toy_mode_names[mode],
           is_traced ? ", traced" : "", calls, told, went_on);
    gnn_instance_destroy(cpu);
  }
}

static void test_capture_refused(void) {
  static const struct { standin_fault fault; int after; } cases[] = {{STANDIN_NO_CAPTURE, 0}, {STANDIN_NO_CAPTURE, 1}, {STANDIN_NO_GRAPH, 0}};
  gnn_result result[GNN_SPLIT_COUNT];
  toy_cuda_make(&toy, karate, TOY_HOST);
  gnn_instance *cpu = open_it(&toy.toy.program, (gnn_instance_options){0});
  train(cpu, EPOCHS, result);
  for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
    const int is_traced = k % 2;
    standin_reset(2, cases[k / 2].fault, cases[k / 2].after);
    gnn_instance *cuda = open_it(&toy.program, (gnn_instance_options){.is_traced = is_traced});
    if (is_traced) gnn_watch_restart(&cuda->run);
    gnn_status status = train(cuda, EPOCHS, result);
    int has_times = !is_traced || cuda->run.watch->end[3] > 0;
    tap_ok(status == GNN_OK && same(cpu, cuda) && notes == 1 && has_times && strstr(last_note, "no CUDA graph"), "goes on%s, and says once: %s",
           is_traced ? ", with the times of its steps" : "", last_note);
    gnn_instance_destroy(cuda);
  }
  gnn_instance_destroy(cpu);
}

/* ---- what the host sees ---- */

static void test_checkpoint(void) {
  gnn_error error;
  gnn_progress progress = {.seed = 7}, restored = {0};
  double finished[1][GNN_SPLIT_COUNT];
  gnn_result result[GNN_SPLIT_COUNT];
  gnn_snapshot best;
  progress.finished = restored.finished = finished;
  standin_reset(1, STANDIN_FINE, 0);
  toy_cuda_make(&toy, karate, TOY_HOST);
  gnn_instance *straight = open_it(&toy.toy.program, (gnn_instance_options){0}), *part = open_it(&toy.program, (gnn_instance_options){0});
  train(straight, 8, result);
  gnn_status status = gnn_snapshot_create(&toy.program, &best, &error);
  if (status == GNN_OK) status = train(part, 4, result);
  if (status == GNN_OK) status = gnn_snapshot_take(&best, part, &error);
  if (status == GNN_OK) status = gnn_checkpoint_save(part, &best, &progress, tap_path("part.safetensors"), &error);
  if (status == GNN_OK) status = train(part, 2, result);
  gnn_instance_reset(part, 99, NULL);
  if (status == GNN_OK) status = gnn_checkpoint_load(part, &best, &restored, tap_path("part.safetensors"), &error);
  if (status == GNN_OK) status = train(part, 4, result);
  tap_ok(status == GNN_OK && same(straight, part), "checkpoint: four epochs, saved, spoilt, restored, and four more: the bits of eight");
  if (status == GNN_OK) status = gnn_snapshot_put(&best, part, &error);
  gnn_instance_reset(straight, 7, NULL);
  train(straight, 4, result);
  int64_t at = toy.program.weights[0].at;
  tap_ok(status == GNN_OK && gnn_download_weights(part, 0, NULL) == GNN_OK &&
         memcmp(gnn_instance_at(straight, at), gnn_instance_at(part, at), (size_t)toy.program.weights[0].count * 4) == 0, "snapshot: the best epoch's weights are in place");
  gnn_snapshot_destroy(&best);
  gnn_instance_destroy(straight);
  gnn_instance_destroy(part);
}

static void test_job(void) {
  static float scores[2][34 * 4];
  static double losses[2][3];
  for (int k = 0; k < 2; k++) {
    gnn_job *job;
    float *weight = NULL;
    standin_reset(3, STANDIN_FINE, 0);
    toy_cuda_make(&toy, karate, TOY_RING);
    gnn_status status = gnn_job_create(k ? &toy.program : &toy.toy.program, NULL, &job);
    if (status == GNN_OK) status = gnn_job_load(job, "karate");
    if (status == GNN_OK) status = gnn_job_train(job, 5, NULL);
    if (status == GNN_OK) status = gnn_job_weight(job, "lin.weight", &weight, NULL, NULL);
    for (int i = 0; i < 3 && status == GNN_OK; i++) {
      gnn_job_result result;
      weight[i] += 0.25f; /* the host writes between calls */
      status = gnn_job_epoch(job, &result);
      losses[k][i] = result.loss + (double)weight[7];
    }
    if (status == GNN_OK) status = gnn_job_load(job, "karate"); /* again: plans and graphs begin anew */
    if (status == GNN_OK) status = gnn_job_train(job, 3, NULL);
    if (status == GNN_OK) status = gnn_job_predict(job, scores[k], 34, 4);
    if (status != GNN_OK) printf("# %s\n", gnn_job_error(job));
    gnn_job_destroy(job);
  }
  tap_ok(memcmp(scores[0], scores[1], sizeof scores[0]) == 0 && memcmp(losses[0], losses[1], sizeof losses[0]) == 0 && losses[0][0] != 0,
         "job: the processor's scores, and a lent weight that both sides write");
}

/* ---- memory of the host program ---- */

enum { PIECES = 8 };

typedef struct Lender {
  int lent[2], returned, refuses; /* refuses: this tier; -1: none */
  int64_t bytes;
  struct { void *memory; size_t bytes; unsigned tier; } piece[PIECES];
} Lender;

static void *lend(void *user, unsigned tier, size_t bytes, size_t align) {
  Lender *l = user;
  void *memory = NULL;
  if (tier > 1 || align == 0 || (int)tier == l->refuses || l->lent[0] + l->lent[1] == PIECES) return NULL;
  cudaError_t code = tier == 0 ? cudaMalloc(&memory, bytes) : cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  if (code != cudaSuccess) return NULL;
  const int k = l->lent[0] + l->lent[1];
  l->piece[k].memory = memory, l->piece[k].bytes = bytes, l->piece[k].tier = tier;
  l->lent[tier]++;
  l->bytes += (int64_t)bytes;
  return memory;
}

static void take_back(void *user, unsigned tier, void *memory, size_t bytes) {
  Lender *l = user;
  for (int k = 0; k < PIECES; k++)
    if (l->piece[k].memory == memory && l->piece[k].bytes == bytes && l->piece[k].tier == tier) l->returned++;
  if (tier == 0) cudaFree(memory);
  else cudaFreeHost(memory);
}

static gnn_status lent_job(Lender *lender, float *scores, char *message) {
  gnn_job_options options;
  gnn_job *job = NULL;
  standin_reset(3, STANDIN_FINE, 0);
  toy_cuda_make(&toy, karate, TOY_RING);
  gnn_job_options_init(&options, &toy.program);
  if (lender) options.alloc = lend, options.release = take_back, options.user = lender;
  gnn_status status = gnn_job_create(&toy.program, &options, &job);
  if (status == GNN_OK) status = gnn_job_load(job, "karate");
  if (status == GNN_OK) status = gnn_job_train(job, 5, NULL);
  if (status == GNN_OK) status = gnn_job_predict(job, scores, 34, 4);
  snprintf(message, 256, "%s", status == GNN_OK ? "" : gnn_job_error(job));
  gnn_job_destroy(job);
  return status;
}

static void test_lent_memory(void) {
  static float own[34 * 4], lent[34 * 4];
  char message[256];
  Lender lender = {.refuses = -1};
  gnn_status status = lent_job(NULL, own, message);
  if (status == GNN_OK) status = lent_job(&lender, lent, message);
  tap_ok(status == GNN_OK && memcmp(own, lent, sizeof own) == 0, "job: the same scores in memory of the host program %s", message);
  tap_ok(lender.lent[0] == 1 && lender.lent[1] == 3 && lender.bytes >= gnn_program_bytes(&toy.program, GNN_DEVICE),
         "one piece of the device, and pinned ones for the host arena and both rings: %d, %d", lender.lent[0], lender.lent[1]);
  tap_ok(lender.returned == 4 && standin_allocated() == 0, "all of it comes back, with its size and tier: %d, and nothing else is left", lender.returned);
  for (int tier = 0; tier < 2; tier++) {
    Lender poor = {.refuses = tier};
    status = lent_job(&poor, lent, message);
    tap_ok(status == GNN_ENOMEM && strstr(message, tier == 0 ? "the host program gave no memory for the device arena" : "the host program gave no memory for the host arena"),
           "it gives none of tier %d: %s", tier, message);
    tap_ok(poor.returned == poor.lent[0] + poor.lent[1] && standin_allocated() == 0, "  what it gave comes back: %d", poor.returned);
  }
}

static void on_tap(void *user, const char *name, const gnn_real *value, int64_t rows, int64_t width) {
  if (strcmp(name, "projected") == 0) memcpy(user, value, (size_t)(rows * width) * sizeof *value);
}

static void test_tap(void) {
  static gnn_real values[2][34 * 4];
  gnn_result result[GNN_SPLIT_COUNT];
  standin_reset(0, STANDIN_FINE, 0);
  toy_cuda_make(&toy, karate, TOY_PLAIN);
  for (int k = 0; k < 2; k++) {
    gnn_instance *instance = open_it(k ? &toy.program : &toy.toy.program, (gnn_instance_options){0});
    train(instance, 4, result);
    instance->run.tap = on_tap;
    instance->run.tap_user = values[k];
    gnn_evaluate(instance, result);
    gnn_instance_destroy(instance);
  }
  tap_ok(memcmp(values[0], values[1], sizeof values[0]) == 0 && values[0][5] != 0, "a named value comes to the host, though evaluation has a graph");
}

static void test_results(void) {
  gnn_result wanted[GNN_SPLIT_COUNT], found[GNN_SPLIT_COUNT];
  int is_right = 1;
  standin_reset(5, STANDIN_FINE, 0);
  toy_cuda_make(&toy, karate, TOY_HOST);
  toy.program.has_results = 1;
  gnn_instance *cpu = open_it(&toy.toy.program, (gnn_instance_options){0}), *cuda = open_it(&toy.program, (gnn_instance_options){0});
  is_right &= train(cpu, 4, wanted) == GNN_OK && train(cuda, 4, found) == GNN_OK;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) /* a loss in float against one in double */
    is_right &= found[s].count == wanted[s].count && found[s].metric[0] == wanted[s].metric[0] && fabs(found[s].loss - wanted[s].loss) < 1e-6 * wanted[s].loss;
  tap_ok(is_right && ((const float *)gnn_instance_at(cuda, toy.program.at_scores))[3] == 0, "a device that measures: loss %.7f as the host's, and no scores come over",
         found[0].loss);
  gnn_instance_destroy(cpu);
  gnn_instance_destroy(cuda);
}

/* ---- products ---- */

enum { M = 7, N = 5, K = 6, AT_A = 0, AT_B = 4096, AT_C = 8192, AT_BIAS = 12288, AT_ADDEND = 13312, AT_WORK = 16384, AT_Y = 20480, AT_ONES = 32768, AT_OFFSETS = 36864, AT_BUFFER = 38912, ARENA = 40960 };

static int64_t products_askew; /* how far the workspace is from where it may begin */
enum { PRODUCTS_PADDED = 32, PRODUCTS_KINDS = 64 };
static int products_kind; /* bits: transpose_a, transpose_b, bias, relu, addend, rows are padded */
static int products_narrow; /* so much too small the stride of A is */
static int64_t products_buffer = 1000;

/* From a row to the next; a multiple of 16 bytes where rows are padded. */
static int64_t across(int64_t width) { return products_kind & PRODUCTS_PADDED ? (width + 3) / 4 * 4 : width; }
static int64_t stride_said(int64_t width) { return products_kind & PRODUCTS_PADDED ? across(width) : 0; }

static void add_neighbours(gnn_run *run, int is_out, int64_t at_x, int64_t at_y) {
  const gnn_spmm_desc desc = {.is_out = is_out, .width = 3, .stride = stride_said(3), .at_x = at_x, .at_y = at_y, .at_ones = AT_ONES, .at_offsets = AT_OFFSETS, .at_buffer = AT_BUFFER + 1024 * is_out,
                              .buffer_bytes = products_buffer};
  gnn_cuda_spmm(run, &desc);
}

static gnn_status products(gnn_run *run) {
  const gnn_gemm_desc desc = {.m = M, .n = N, .k = K, .at_a = AT_A, .at_b = AT_B, .at_c = AT_C, .at_bias = products_kind & 4 ? AT_BIAS : -1,
                              .at_addend = products_kind & 16 ? AT_ADDEND : -1, .at_workspace = AT_WORK + products_askew, .workspace_bytes = 1024, .transpose_a = products_kind & 1, .transpose_b = products_kind >> 1 & 1, .is_relu = products_kind >> 3 & 1,
                              .stride_a = stride_said(products_kind & 1 ? M : K) - products_narrow, .stride_b = stride_said(products_kind & 2 ? K : N), .stride_c = stride_said(N)};
  gnn_enter(run, 1);
  gnn_cuda_gemm(run, &desc);
  add_neighbours(run, 0, AT_A, AT_Y);
  add_neighbours(run, 1, AT_A, AT_Y + 4096);
  add_neighbours(run, 0, AT_Y, AT_Y + 8192);
  gnn_leave(run, 1);
  return GNN_OK;
}

static float product_number(int64_t i) { return (float)((i * 7919 + products_kind) % 13 - 6); }

static int products_are_right(gnn_instance *instance) {
  const float *a = gnn_instance_at(instance, AT_A), *b = gnn_instance_at(instance, AT_B), *c = gnn_instance_at(instance, AT_C), *bias = gnn_instance_at(instance, AT_BIAS);
  const float *addend = gnn_instance_at(instance, AT_ADDEND);
  const float *y = gnn_instance_at(instance, AT_Y);
  const int64_t across_a = across(products_kind & 1 ? M : K), across_b = across(products_kind & 2 ? K : N), across_c = across(N), wide = across(3);
  int is_right = 1;
  for (int m = 0; m < M; m++)
    for (int n = 0; n < N; n++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += (products_kind & 1 ? a[k * across_a + m] : a[m * across_a + k]) * (products_kind & 2 ? b[n * across_b + k] : b[k * across_b + n]);
      if (products_kind & 16) sum += addend[m * across_c + n];
      if (products_kind & 4) sum += bias[n];
      if (products_kind & 8 && sum < 0) sum = 0;
      is_right &= c[m * across_c + n] == sum;
    }
  for (int m = 0; m < M; m++)
    for (int64_t n = m * across_c + N; n < (m + 1) * across_c; n++) is_right &= c[n] == product_number(AT_C / 4 + n); /* between rows */
  for (int v = 0; v < 34; v++)
    for (int f = 0; f < 3; f++) {
      float sum = 0, more = 0;
      for (int64_t e = karate->in_ptr[v]; e < karate->in_ptr[v + 1]; e++) sum += a[karate->in_source[e] * wide + f], more += y[karate->in_source[e] * wide + f];
      is_right &= y[v * wide + f] == sum && y[1024 + v * wide + f] == sum && y[2048 + v * wide + f] == more; /* symmetric */
    }
  return is_right;
}

/* Each call fails once, those of the libraries among them: it is told with the step, or does not matter. */
static void test_every_library_call(const gnn_program *program) {
  int told = 0, wrong = 0, calls = 0;
  for (int is_over = 0; !is_over; calls++) {
    gnn_error error = {0};
    gnn_instance *instance = NULL;
    standin_reset(STANDIN_FREE, STANDIN_ANY, calls);
    gnn_status status = try_open(program, (gnn_instance_options){0}, &instance, &error);
    float *numbers = status == GNN_OK ? gnn_instance_at(instance, 0) : NULL;
    for (int i = 0; numbers && i < AT_Y / 4; i++) numbers[i] = product_number(i);
    if (status == GNN_OK) status = gnn_upload(instance, 0, AT_Y, &error);
    for (int e = 0; e < 3 && status == GNN_OK; e++) status = gnn_do(instance, GNN_WORK_GRADIENTS);
    if (status == GNN_OK) status = gnn_download(instance, 0, ARENA, &error);
    if (instance && status != GNN_OK) gnn_step_failed(instance, status, &error, "", "nobody knows why");
    is_over = !standin_has_struck();
    int is_library = strstr(error.message, "step 1, ") && (strstr(error.message, "cuBLASLt: CUBLAS_STATUS_") || strstr(error.message, "cuSPARSE: CUSPARSE_STATUS_"));
    told += status != GNN_OK && is_library;
    if (status == GNN_OK ? !products_are_right(instance) : !is_library && !strstr(error.message, "cudaErrorUnknown") && !strstr(error.message, "no CUDA d"))
      wrong++, printf("# call %d: %s\n", calls, status == GNN_OK ? "not a word, and other numbers" : error.message);
    gnn_instance_destroy(instance);
    wrong += standin_allocated() != 0;
  }
  tap_ok(wrong == 0 && told >= 30, "products: of %d calls each fails once: %d times a library is named with the step", calls, told);
}

static void prepare_sums(gnn_run *run) {
  for (int is_out = 0; is_out < 2; is_out++)
    gnn_cuda_prepare_spmm(run, &(gnn_spmm_desc){.is_out = is_out, .width = 3, .stride = across(3), .at_ones = AT_ONES, .at_offsets = AT_OFFSETS, .at_buffer = AT_BUFFER + 1024 * is_out,
                                                .buffer_bytes = products_buffer});
}

/* What cuSPARSE wants is looked at when the data are loaded, and not again. */
static void test_preparation(gnn_program program) {
  gnn_cuda_code code = toy_code;
  gnn_error error = {0};
  gnn_instance *instance = NULL;
  code.prepare = prepare_sums;
  program.code = &code;
  standin_reset(0, STANDIN_FINE, 0);
  instance = open_it(&program, (gnn_instance_options){0});
  float *numbers = gnn_instance_at(instance, 0);
  for (int i = 0; i < AT_Y / 4; i++) numbers[i] = product_number(i);
  products_buffer = 999; /* the steps would ask for less than is wanted, and do not ask */
  gnn_status status = gnn_upload(instance, 0, AT_Y, &error);
  for (int e = 0; e < 3 && status == GNN_OK; e++) status = gnn_do(instance, GNN_WORK_GRADIENTS);
  if (status == GNN_OK) status = gnn_download(instance, 0, ARENA, &error);
  tap_ok(status == GNN_OK && products_are_right(instance), "sums that were prepared when the data were loaded");
  gnn_instance_destroy(instance);
  standin_reset(0, STANDIN_FINE, 0);
  status = try_open(&program, (gnn_instance_options){0}, &instance, &error);
  tap_ok(status == GNN_ENOMEM && strcmp(error.code, "R0801") == 0 && strstr(error.message, "wants a buffer of 1000 B for sums over these edges, the plan has 999 B") &&
         strstr(error.help, "--spmm=own"), "R0801, exit 3, by the load: %s", error.message);
  gnn_instance_destroy(instance);
  products_buffer = 1000;
  int wrong = 0, told = 0, calls = 0;
  for (int is_over = 0; !is_over; calls++) {
    error = (gnn_error){0};
    instance = NULL;
    standin_reset(0, STANDIN_ANY, calls);
    status = try_open(&program, (gnn_instance_options){0}, &instance, &error);
    is_over = !standin_has_struck();
    told += status != GNN_OK && strstr(error.message, "cuSPARSE on stand-in");
    wrong += status != GNN_OK && !*error.message;
    gnn_instance_destroy(instance);
    wrong += standin_allocated() != 0;
  }
  tap_ok(wrong == 0 && told >= 8, "of %d calls until the data are loaded each fails once: %d are cuSPARSE's", calls, told);
}

static void test_products(void) {
  int right = 0;
  gnn_error error = {0};
  toy_cuda_make(&toy, karate, TOY_PLAIN);
  gnn_program program = toy.program;
  const int64_t shift = ARENA;
  gnn_graph_desc *graph = &program.graph;
  gnn_edge_set_desc set = graph->sets[GNN_EDGES];
  set.at_in_ptr = shift;
  set.at_in_idx = shift + 1024;
  graph->at_blocks = set.at_in_bounds = set.at_in_degree = set.at_out_degree = set.at_out_ptr = set.at_out_idx = set.at_out_bounds = set.at_out_edge = -1;
  graph->sets = &set;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) graph->at_rows[s] = -1;
  program.device_bytes = ARENA + 8192;
  program.field_count = program.weight_count = 0;
  program.label_field = -1;
  program.forward_backward = program.update = program.evaluate = products;
  program.code = &toy_code;
  for (products_kind = 0; products_kind < PRODUCTS_KINDS; products_kind++) {
    standin_reset((unsigned)products_kind % SEEDS, STANDIN_FINE, 0);
    gnn_instance *instance = open_it(&program, (gnn_instance_options){0});
    float *numbers = gnn_instance_at(instance, 0);
    for (int i = 0; i < AT_Y / 4; i++) numbers[i] = product_number(i);
    gnn_status status = gnn_upload(instance, 0, AT_Y, &error);
    for (int e = 0; e < 3 && status == GNN_OK; e++) status = gnn_do(instance, GNN_WORK_GRADIENTS);
    if (status == GNN_OK) status = gnn_download(instance, 0, ARENA, &error);
    if (status != GNN_OK) printf("# %s\n", (gnn_step_failed(instance, status, &error, "", "?"), error.message));
    right += status == GNN_OK && products_are_right(instance) && standin_graph_launches() == 2;
    gnn_instance_destroy(instance);
  }
  tap_ok(right == PRODUCTS_KINDS, "products: every layout, addend, bias and relu by cuBLASLt, neighbours by cuSPARSE, rows padded or not: %d of %d", right, PRODUCTS_KINDS);
  products_kind = PRODUCTS_PADDED;
  products_narrow = 3; /* rows of 6 numbers, 5 apart */
  standin_reset(0, STANDIN_FINE, 0);
  gnn_instance *narrow = open_it(&program, (gnn_instance_options){0});
  gnn_status refused = gnn_do(narrow, GNN_WORK_GRADIENTS);
  gnn_step_failed(narrow, refused, &error, "", "?");
  tap_ok(refused == GNN_EDEVICE && strstr(error.message, "cuBLASLt"), "the stand-in is as strict as cuBLASLt: rows that overlap: %s", error.message);
  gnn_instance_destroy(narrow);
  products_narrow = 0;
  products_kind = 15;
  for (products_askew = 64; products_askew <= 128; products_askew += 64) {
    standin_reset(0, STANDIN_FINE, 0);
    gnn_instance *instance = open_it(&program, (gnn_instance_options){0});
    gnn_status status = gnn_do(instance, GNN_WORK_GRADIENTS);
    gnn_step_failed(instance, status, &error, "", "?");
    tap_ok(status == GNN_EDEVICE && strstr(error.message, "cuBLASLt"), "the stand-in is as strict as cuBLASLt: a workspace at 256 n + %d: %s",
           (int)products_askew, error.message);
    gnn_instance_destroy(instance);
  }
  products_askew = 0;
  test_preparation(program);
  test_every_library_call(&program);
  products_buffer = 999;
  standin_reset(0, STANDIN_FINE, 0);
  gnn_instance *instance = open_it(&program, (gnn_instance_options){0});
  gnn_status status = gnn_do(instance, GNN_WORK_GRADIENTS);
  gnn_step_failed(instance, status, &error, "", "?");
  tap_ok(status == GNN_EDEVICE && strstr(error.message, "wants a buffer of 1000 B for sums over these edges, the plan has 999 B"), "a buffer that is too small: %s", error.message);
  gnn_instance_destroy(instance);
}

int main(void) {
  gnn_error error;
  alarm(300);
  if (gnn_dataset_open_path("karate", &karate, &error) != GNN_OK || gnn_dataset_prepare(karate, NULL, &error) != GNN_OK) return 98;
  test_bits();
  test_trace();
  test_events_of_graphs();
  if (!IS_WATCHED_FOR_RACES) test_waits(); /* which makes races */
  test_refusals();
  test_failures();
  test_every_call();
  test_capture_refused();
  test_checkpoint();
  test_job();
  test_lent_memory();
  test_tap();
  test_results();
  test_products();
  gnn_dataset_close(karate);
  if (tap_remove_folder() != 0) return 99;
  return tap_done();
}
