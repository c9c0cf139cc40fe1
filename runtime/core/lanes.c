/* lanes.c: copies between the tiers beside the compute.
 *
 * A copy is pending from the moment it is queued until its bytes have arrived; whoever needs it waits for that. A lane that
 * fails leaves word of it and everybody stops waiting: the program cannot go on without the bytes.
 *
 * Waiting spins briefly, because a wait planned to be short usually is, and then sleeps, because the processors are shared
 * with the compute. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lanes.h"
#include "ranks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LANES_SPINS = 300, LANES_STACK_BYTES = 1 << 18, LANES_NET_STACK_BYTES = 1 << 20 /* it calls MPI */ };

typedef struct Lane {
  gnn_lanes *lanes;
  gnn_lane kind;
  pthread_t thread;
  int is_started;
  int is_ready;            /* or has failed; under the mutex */
  gnn_scratch_port *port;  /* to the scratch file, or NULL */
  pthread_cond_t queued;
  int *queue;          /* [copy_count], a ring; only a pending copy is in it, once */
  int64_t head, tail;  /* taken, queued; under the mutex */
} Lane;

struct gnn_lanes {
  gnn_run *run;
  gnn_tiers tiers;
  gnn_scratch *scratch;
  const gnn_lanes_device *device;
  int is_serial, copy_count;
  atomic_uchar *pending; /* [copy_count] */
  atomic_int is_failed, is_ending;
  pthread_mutex_t mutex;
  pthread_cond_t completed; /* a copy, or hope */
  gnn_error error;          /* valid once is_failed */
  Lane lane[GNN_LANE_COUNT];
};

static void lanes_relax(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

/* There is no thread for it. */
static int lanes_is_by_caller(const gnn_lanes *lanes, gnn_lane lane) { return lane == GNN_LANE_NET && lanes->device == NULL && lanes->run->ranks->is_by_caller; }

static int lanes_is_stopped(gnn_lanes *lanes) { return atomic_load(&lanes->is_failed) || atomic_load(&lanes->is_ending); }

static void lanes_wait(gnn_lanes *lanes, int copy) {
  for (int i = 0; i < LANES_SPINS; i++) {
    if (!atomic_load_explicit(&lanes->pending[copy], memory_order_acquire)) return;
    lanes_relax();
  }
  pthread_mutex_lock(&lanes->mutex);
  while (atomic_load(&lanes->pending[copy]) && !lanes_is_stopped(lanes)) pthread_cond_wait(&lanes->completed, &lanes->mutex);
  pthread_mutex_unlock(&lanes->mutex);
}

/* By the thread of the steps. */
static void lanes_wait_in_steps(gnn_lanes *lanes, int copy) {
  const gnn_lane lane = lanes->run->program->copies[copy].lane;
  if (lanes_is_by_caller(lanes, lane) && atomic_load(&lanes->pending[copy])) {
    gnn_ranks_finish(lanes->run, copy);
    atomic_store(&lanes->pending[copy], 0);
  } else lanes_wait(lanes, copy);
}

static void lanes_move(gnn_lanes *lanes, const gnn_copy_desc *copy) {
  gnn_spans from = gnn_spans_of(&lanes->tiers, &copy->from, copy->bytes), to = gnn_spans_of(&lanes->tiers, &copy->to, copy->bytes);
  int64_t left = copy->bytes * from.scale, source, target, part, length;
  while (left > 0) {
    length = gnn_spans_next(&from, left, &source);
    left -= length;
    for (; length > 0; length -= part, source += part) {
      part = gnn_spans_next(&to, length, &target);
      memcpy(to.base + target, from.base + source, (size_t)part);
    }
  }
}

static gnn_status lanes_move_scratch(const Lane *lane, const gnn_copy_desc *copy, gnn_error *error) {
  const gnn_tiers *tiers = &lane->lanes->tiers;
  int is_write = copy->to.tier == GNN_SSD;
  gnn_spans memory = gnn_spans_of(tiers, is_write ? &copy->from : &copy->to, copy->bytes);
  gnn_spans file = gnn_spans_of(tiers, is_write ? &copy->to : &copy->from, copy->bytes);
  return gnn_scratch_move(lane->port, memory, file, copy->bytes * file.scale, error);
}

/* The first failure is told; what follows follows from it. */
static void lanes_fail(gnn_lanes *lanes, const gnn_error *error) {
  pthread_mutex_lock(&lanes->mutex);
  if (!atomic_load(&lanes->is_failed)) {
    lanes->error = *error;
    atomic_store(&lanes->is_failed, 1);
  }
  pthread_cond_broadcast(&lanes->completed);
  pthread_mutex_unlock(&lanes->mutex);
}

static void lanes_fail_copy(gnn_lanes *lanes, const gnn_copy_desc *copy, const gnn_error *cause) {
  const gnn_program *program = lanes->run->program;
  const gnn_step_desc *step = NULL;
  gnn_error error = *cause;
  for (int s = 0; s < program->step_count + program->once_count && !step; s++)
    if (program->steps[s].number == copy->step) step = &program->steps[s];
  snprintf(error.message, sizeof error.message, "step %d, line %d of %.100s (%s, %s): %.500s", copy->step, step ? step->line : 0,
           program->source_name, gnn_lane_names[copy->lane], gnn_bytes_text(copy->bytes * lanes->tiers.program->real_bytes / 4).text,
           cause->message);
  lanes_fail(lanes, &error);
}

static void lanes_carry_out(Lane *lane, int number) {
  gnn_lanes *lanes = lane->lanes;
  const gnn_copy_desc *copy = &lanes->run->program->copies[number];
  gnn_status status = GNN_OK;
  gnn_error error;
  for (int i = 0; i < 2; i++)
    if (copy->after[i] >= 0) lanes_wait(lanes, copy->after[i]);
  if (lanes_is_stopped(lanes)) return;
  if (lanes->device) {
    status = (gnn_copy_uses_scratch(copy) ? lanes->device->settle : lanes->device->move)(lanes->run, number, &error);
    if (status != GNN_OK) lanes_fail(lanes, &error); /* it knows the step */
    if (status != GNN_OK || !gnn_copy_uses_scratch(copy)) return;
  }
  struct gnn_watch *watch = copy->step ? lanes->run->watch : NULL;
  if (watch) gnn_watch_enter(lanes->run, copy->step);
  if (copy->lane == GNN_LANE_NET) {
    gnn_ranks_start(lanes->run, number, lanes->tiers.base[GNN_DEVICE] + copy->from.at, lanes->tiers.base[GNN_DEVICE] + copy->to.at);
    if (!lanes_is_by_caller(lanes, copy->lane)) gnn_ranks_finish(lanes->run, number);
  } else if (gnn_copy_uses_scratch(copy)) status = lanes_move_scratch(lane, copy, &error);
  else lanes_move(lanes, copy);
  if (status != GNN_OK) lanes_fail_copy(lanes, copy, &error);
  else if (watch) gnn_watch_leave(lanes->run, copy->step);
}

/* The port belongs to the thread that uses it. */
static void lanes_get_ready(Lane *lane) {
  gnn_lanes *lanes = lane->lanes;
  gnn_error error;
  gnn_status status = GNN_OK;
  int64_t most = gnn_lanes_largest_move(lanes->run->program, lane->kind);
  if (most > 0) status = gnn_scratch_port_create(lanes->scratch, lane->kind == GNN_LANE_SSD_WRITE, most, &lane->port, &error);
  if (status != GNN_OK) lanes_fail(lanes, &error);
  pthread_mutex_lock(&lanes->mutex);
  lane->is_ready = 1;
  pthread_cond_broadcast(&lanes->completed);
  pthread_mutex_unlock(&lanes->mutex);
}

/* A lane works a little and often, beside threads that compute all the time: with a short time slice it gets a processor
 * as soon as it wakes (sched_setattr(2), Linux 6.12 and later). Older kernels may refuse it. */
static void lanes_ask_for_short_slices(void) {
#ifdef SYS_sched_setattr
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline, period;
  } wanted = {.size = sizeof wanted, .policy = SCHED_OTHER, .slice_ns = 100000};
  wanted.nice = getpriority(PRIO_PROCESS, 0);
  long refused = syscall(SYS_sched_setattr, 0, &wanted, 0);
  (void)refused;
#endif
}

static void *lanes_main(void *context) {
  Lane *lane = context;
  gnn_lanes *lanes = lane->lanes;
  lanes_ask_for_short_slices();
  lanes_get_ready(lane);
  pthread_mutex_lock(&lanes->mutex);
  for (;;) {
    while (lane->head == lane->tail && !atomic_load(&lanes->is_ending)) pthread_cond_wait(&lane->queued, &lanes->mutex);
    if (atomic_load(&lanes->is_ending)) break;
    int number = lane->queue[lane->head++ % lanes->copy_count];
    pthread_mutex_unlock(&lanes->mutex);
    lanes_carry_out(lane, number);
    pthread_mutex_lock(&lanes->mutex);
    atomic_store_explicit(&lanes->pending[number], 0, memory_order_release);
    pthread_cond_broadcast(&lanes->completed);
  }
  pthread_mutex_unlock(&lanes->mutex);
  gnn_scratch_port_destroy(lane->port);
  return NULL;
}

gnn_status gnn_lanes_await(gnn_run *run, int copy) {
  gnn_lanes *lanes = run->lanes;
  lanes_wait_in_steps(lanes, copy);
  return atomic_load(&lanes->is_failed) ? GNN_EIO : GNN_OK;
}

void gnn_lanes_settle(gnn_run *run) {
  for (int c = 0; run->lanes && c < run->lanes->copy_count; c++) lanes_wait_in_steps(run->lanes, c);
}

gnn_status gnn_lanes_copy(gnn_run *run, int copy) {
  gnn_lanes *lanes = run->lanes;
  Lane *lane = &lanes->lane[run->program->copies[copy].lane];
  if (atomic_load(&lanes->is_failed)) return GNN_EIO;
  if (atomic_load(&lanes->pending[copy])) {
    gnn_error error;
    gnn_fail(&error, GNN_EIO, "", "step %d copies what it has not finished copying; this is a bug in gnncc", run->program->copies[copy].step);
    lanes_fail(lanes, &error);
    return GNN_EIO;
  }
  for (int i = 0; i < 2; i++) {
    const int after = run->program->copies[copy].after[i];
    if (after >= 0 && lanes_is_by_caller(lanes, run->program->copies[after].lane)) lanes_wait_in_steps(lanes, after); /* whoever else waits for it cannot finish it */
  }
  if (lanes_is_by_caller(lanes, lane->kind)) {
    atomic_store(&lanes->pending[copy], 1);
    lanes_carry_out(lane, copy);
    return lanes->is_serial ? gnn_lanes_await(run, copy) : atomic_load(&lanes->is_failed) ? GNN_EIO : GNN_OK;
  }
  pthread_mutex_lock(&lanes->mutex);
  atomic_store(&lanes->pending[copy], 1);
  lane->queue[lane->tail++ % lanes->copy_count] = copy;
  pthread_cond_signal(&lane->queued);
  pthread_mutex_unlock(&lanes->mutex);
  return lanes->is_serial ? gnn_lanes_await(run, copy) : GNN_OK;
}

const char *const gnn_lane_names[GNN_LANE_COUNT] = {"compute", "d2h", "h2d", "ssd write", "ssd read", "net"};

int gnn_lanes_uses(const gnn_program *program, gnn_lane lane) {
  for (int c = 0; c < program->copy_count; c++)
    if (program->copies[c].lane == lane) return 1;
  return 0;
}

int gnn_copy_uses_scratch(const gnn_copy_desc *copy) { return copy->from.tier == GNN_SSD || copy->to.tier == GNN_SSD; }

int64_t gnn_lanes_largest_move(const gnn_program *program, gnn_lane lane) {
  int64_t most = 0;
  for (int c = 0; c < program->copy_count; c++) {
    const gnn_copy_desc *copy = &program->copies[c];
    if ((lane == GNN_LANE_COUNT || copy->lane == lane) && gnn_copy_uses_scratch(copy) && copy->bytes > most) most = copy->bytes;
  }
  return most * (program->real_bytes / 4);
}

int gnn_lanes_use_scratch(const gnn_program *program, gnn_lane lane) { return gnn_lanes_largest_move(program, lane) > 0; }

static gnn_status lanes_start(Lane *lane, gnn_error *error) {
  gnn_lanes *lanes = lane->lanes;
  pthread_attr_t attributes;
  lane->queue = calloc((size_t)lanes->copy_count, sizeof *lane->queue);
  if (lane->queue == NULL) return gnn_fail_memory(error, lanes->copy_count * (int64_t)sizeof *lane->queue);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, lane->kind == GNN_LANE_NET ? LANES_NET_STACK_BYTES : LANES_STACK_BYTES);
  lane->is_started = pthread_create(&lane->thread, &attributes, lanes_main, lane) == 0;
  pthread_attr_destroy(&attributes);
  if (!lane->is_started) return gnn_fail(error, GNN_ENOMEM, "R0801", "the machine gives no thread for copies between the tiers");
  pthread_mutex_lock(&lanes->mutex);
  while (!lane->is_ready) pthread_cond_wait(&lanes->completed, &lanes->mutex);
  pthread_mutex_unlock(&lanes->mutex);
  if (!atomic_load(&lanes->is_failed)) return GNN_OK;
  if (error) *error = lanes->error;
  return GNN_ENOMEM;
}

gnn_status gnn_lanes_create(gnn_run *run, const gnn_tiers *tiers, gnn_scratch *scratch, const gnn_lanes_device *device,
                            int is_serial, gnn_error *error) {
  const gnn_program *program = run->program;
  if (program->copy_count == 0) return GNN_OK;
  gnn_lanes *lanes = calloc(1, sizeof *lanes);
  if (lanes == NULL) return gnn_fail_memory(error, (int64_t)sizeof *lanes);
  run->lanes = lanes;
  lanes->run = run;
  lanes->tiers = *tiers;
  lanes->scratch = scratch;
  lanes->device = device;
  lanes->is_serial = is_serial;
  lanes->copy_count = program->copy_count;
  pthread_mutex_init(&lanes->mutex, NULL);
  pthread_cond_init(&lanes->completed, NULL);
  for (int l = 0; l < GNN_LANE_COUNT; l++) {
    lanes->lane[l].lanes = lanes;
    lanes->lane[l].kind = (gnn_lane)l;
    pthread_cond_init(&lanes->lane[l].queued, NULL);
  }
  lanes->pending = calloc((size_t)lanes->copy_count, sizeof *lanes->pending);
  gnn_status status = lanes->pending ? GNN_OK : gnn_fail_memory(error, lanes->copy_count);
  for (int l = 0; status == GNN_OK && l < GNN_LANE_COUNT; l++)
    if (gnn_lanes_uses(program, (gnn_lane)l) && !lanes_is_by_caller(lanes, (gnn_lane)l)) status = lanes_start(&lanes->lane[l], error);
  if (status != GNN_OK) gnn_lanes_destroy(run);
  return status;
}

void gnn_lanes_destroy(gnn_run *run) {
  gnn_lanes *lanes = run->lanes;
  if (lanes == NULL) return;
  pthread_mutex_lock(&lanes->mutex);
  atomic_store(&lanes->is_ending, 1);
  for (int l = 0; l < GNN_LANE_COUNT; l++) pthread_cond_signal(&lanes->lane[l].queued);
  pthread_cond_broadcast(&lanes->completed);
  pthread_mutex_unlock(&lanes->mutex);
  for (int l = 0; l < GNN_LANE_COUNT; l++) {
    if (lanes->lane[l].is_started) pthread_join(lanes->lane[l].thread, NULL);
    pthread_cond_destroy(&lanes->lane[l].queued);
    free(lanes->lane[l].queue);
  }
  pthread_cond_destroy(&lanes->completed);
  pthread_mutex_destroy(&lanes->mutex);
  free(lanes->pending);
  free(lanes);
  run->lanes = NULL;
}

const gnn_error *gnn_lanes_error(const gnn_run *run) {
  return run->lanes && atomic_load(&run->lanes->is_failed) ? &run->lanes->error : NULL;
}

void gnn_lanes_scratch_text(const gnn_run *run, gnn_text *text) {
  const gnn_scratch_port *told = NULL; /* of two the one that lacks something */
  for (int l = 0; run->lanes && l < GNN_LANE_COUNT; l++) {
    const gnn_scratch_port *port = run->lanes->lane[l].port;
    if (port && (told == NULL || gnn_scratch_port_lacks(port))) told = port;
  }
  if (told) gnn_scratch_text(told, text);
}
