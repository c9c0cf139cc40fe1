/* device_cpu.c: the processor as the device: arenas are the process's own memory, and lanes are threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "device.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "bad_value.h"
#include "lanes.h"
#include "weights.h"

enum { DEVICE_HUGE_BYTES = 1 << 21, DEVICE_PAGE_BYTES = 4096 };

static gnn_status cpu_open(gnn_instance *instance, const gnn_instance_options *options, gnn_error *error) {
  (void)instance, (void)options, (void)error;
  return GNN_OK;
}

static void cpu_close(gnn_instance *instance) { (void)instance; }

static void cpu_touch_pages(const void *context, int64_t begin, int64_t end, int64_t task) {
  volatile unsigned char *memory = *(unsigned char *const *)context;
  (void)task;
  for (int64_t at = begin; at < end; at += DEVICE_PAGE_BYTES) memory[at] = memory[at]; /* what lies there stays */
}

static void cpu_touch(gnn_instance *instance, gnn_tier tier, int64_t bytes) {
  gnn_parallel(instance->run.team, bytes, DEVICE_HUGE_BYTES, cpu_touch_pages, &instance->tiers.base[tier]);
}

static gnn_status cpu_not_mapped(gnn_tier tier, int64_t bytes, gnn_error *error) {
  return gnn_fail(error, GNN_ENOMEM, "R0801", "the machine would not map %s of memory for the %s", gnn_bytes_text(bytes).text, gnn_tier_names[tier]);
}

static void cpu_advise(void *memory, size_t bytes, int populate) {
#ifdef MADV_HUGEPAGE
  if (populate && bytes) {
    int is_advice_only = madvise(memory, bytes, MADV_HUGEPAGE);
    (void)is_advice_only;
  }
#else
  (void)memory, (void)bytes, (void)populate;
#endif
}

/* A sanitizer of threads says which addresses a program has. */
#if defined __SANITIZE_THREAD__
#define DEVICE_HAS_FAR 0
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define DEVICE_HAS_FAR 0
#endif
#endif
#ifndef DEVICE_HAS_FAR
#define DEVICE_HAS_FAR 1
#endif

static void *cpu_map(void *at, size_t bytes) {
#ifdef MAP_FIXED_NOREPLACE
  void *found = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (found == at) return found;
  if (found != MAP_FAILED) munmap(found, bytes); /* a kernel that does not know the flag */
#else
  (void)at, (void)bytes;
#endif
  return NULL;
}

/* The first page of an arena that grows: far below the addresses that the kernel hands out from the top, so that nothing else comes to lie behind it but other such arenas of the process, as where ranks
 * are threads of one. What is not mapped yet counts in no limit. NULL: there is no room. */
static unsigned char *cpu_far(size_t bytes) {
#if DEVICE_HAS_FAR && defined MAP_FIXED_NOREPLACE && UINTPTR_MAX > UINT32_MAX
  const uintptr_t away = UINT64_C(1) << 39, room = (bytes / DEVICE_HUGE_BYTES + 2) * DEVICE_HUGE_BYTES;
  void *near = mmap(NULL, DEVICE_PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *far = NULL;
  if (near == MAP_FAILED) return NULL;
  munmap(near, DEVICE_PAGE_BYTES);
  if ((uintptr_t)near < 4 * away) return NULL;
  for (uintptr_t below = 0; far == NULL && below + room <= away; below += room) far = cpu_map((void *)(((uintptr_t)near / away - 2) * away - below), DEVICE_PAGE_BYTES);
  return far;
#else
  (void)bytes;
  return NULL;
#endif
}

static gnn_status cpu_grow(gnn_instance *instance, gnn_tier tier, int64_t bytes, int populate, gnn_error *error) {
  gnn_mapping *mapping = &instance->mapping[tier];
  const size_t wanted = ((size_t)bytes + DEVICE_PAGE_BYTES - 1) / DEVICE_PAGE_BYTES * DEVICE_PAGE_BYTES;
  if (wanted <= mapping->bytes) return GNN_OK;
  unsigned char *more = cpu_map((unsigned char *)mapping->memory + mapping->bytes, wanted - mapping->bytes);
  if (more == NULL) return cpu_not_mapped(tier, bytes, error);
  cpu_advise(more, bytes >= DEVICE_HUGE_BYTES ? wanted - mapping->bytes : 0, populate);
  mapping->bytes = wanted;
  return GNN_OK;
}

/* One mapping, aligned to 2 MiB so that the kernel can use huge pages for all of it. Where pages are to be counted
 * (populate 0) they stay small. */
static gnn_status cpu_obtain(gnn_instance *instance, gnn_tier tier, int64_t bytes, int populate, gnn_error *error) {
  const size_t slack = bytes >= DEVICE_HUGE_BYTES ? DEVICE_HUGE_BYTES : 0, length = ((size_t)bytes + DEVICE_PAGE_BYTES - 1) / DEVICE_PAGE_BYTES * DEVICE_PAGE_BYTES;
  unsigned char *far = tier == GNN_DEVICE && instance->grows ? cpu_far(length) : NULL;
  instance->grows = instance->grows && (tier != GNN_DEVICE || far);
  if (far) {
    instance->mapping[tier] = (gnn_mapping){far, DEVICE_PAGE_BYTES};
    instance->tiers.base[tier] = far;
    return GNN_OK;
  }
  unsigned char *memory = mmap(NULL, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return cpu_not_mapped(tier, bytes, error);
  const size_t before = slack ? (slack - (uintptr_t)memory % slack) % slack : 0;
  if (before) munmap(memory, before);
  if (slack > before) munmap(memory + before + length, slack - before);
  instance->mapping[tier] = (gnn_mapping){memory + before, length};
  instance->tiers.base[tier] = memory + before;
  cpu_advise(memory + before, slack ? length : 0, populate);
  return GNN_OK;
}

static void cpu_release(gnn_instance *instance, gnn_tier tier) { munmap(instance->mapping[tier].memory, instance->mapping[tier].bytes); }

static gnn_status cpu_start(gnn_instance *instance, const gnn_instance_options *options, gnn_error *error) {
  instance->run.device = instance->tiers.base[GNN_DEVICE];
  return gnn_lanes_create(&instance->run, &instance->tiers, &instance->scratch, NULL, options->is_serial, error);
}

static void cpu_stop(gnn_instance *instance) { gnn_lanes_destroy(&instance->run); }

static gnn_status cpu_reload(gnn_instance *instance, int set) {
  (void)instance, (void)set;
  return GNN_OK;
}

static gnn_status cpu_load(gnn_instance *instance) {
  (void)instance;
  return GNN_OK;
}

static gnn_status cpu_move(const gnn_instance *instance, int64_t at, int64_t bytes) {
  (void)instance, (void)at, (void)bytes;
  return GNN_OK;
}

/* The largest magnitude; of numbers without sign the bits are in their order, what is not a number above infinity. */
typedef struct Largest {
  const float *values;
  _Atomic int32_t bits;
} Largest;

static void largest_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  enum { LANES = 16 }; /* several chains */
  typedef int32_t lanes __attribute__((vector_size(4 * LANES)));
  typedef int32_t lanes_at __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
  Largest *largest = (Largest *)(uintptr_t)context;
  lanes most = {0};
  int64_t i = begin;
  (void)task;
  for (; i + LANES <= end; i += LANES) {
    const lanes magnitude = *(const lanes_at *)(largest->values + i) & INT32_MAX, is_more = magnitude > most;
    most = (magnitude & is_more) | (most & ~is_more);
  }
  int32_t greatest = 0;
  for (int k = 0; k < LANES; k++) greatest = most[k] > greatest ? most[k] : greatest;
  for (; i < end; i++) {
    int32_t bits;
    memcpy(&bits, &largest->values[i], sizeof bits);
    greatest = (bits & INT32_MAX) > greatest ? bits & INT32_MAX : greatest;
  }
  int32_t before = atomic_load(&largest->bits);
  while (before < greatest && !atomic_compare_exchange_weak(&largest->bits, &before, greatest)) continue;
}

static float cpu_largest(gnn_team *team, const float *values, int64_t count) {
  enum { NUMBERS_A_TASK = 8192 };
  Largest largest = {values, 0};
  gnn_parallel(team, count, NUMBERS_A_TASK, largest_task, &largest);
  const int32_t bits = atomic_load(&largest.bits);
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* Little beside an update, which reads and writes more; without it a training that diverges could not say where. */
static gnn_gradient_peak cpu_gradient_peak(const gnn_instance *instance) {
  const gnn_program *program = instance->run.program;
  gnn_gradient_peak peak = {-1, 0};
  for (int w = 0; w < program->weight_count && program->real_bytes == 4 && isfinite(peak.magnitude); w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    if (!weight->is_trained || weight->at_gradient < 0) continue;
    int64_t first;
    const float most = cpu_largest(instance->run.team, gnn_instance_at(instance, weight->at_gradient), gnn_weight_own(instance, weight, &first));
    if (peak.weight < 0 || !(most <= peak.magnitude)) peak = (gnn_gradient_peak){w, most};
  }
  return peak;
}

static gnn_status cpu_work(gnn_instance *instance, gnn_work work) {
  gnn_run *run = &instance->run;
  if (work == GNN_WORK_EVALUATE) return run->program->evaluate(run);
  if (work == GNN_WORK_ONCE) return run->program->once(run);
  gnn_status status = run->program->forward_backward(run);
  if (work == GNN_WORK_GRADIENTS) gnn_lanes_settle(run); /* what an update would wait for */
  if (work == GNN_WORK_GRADIENTS || status != GNN_OK) return status;
  instance->gradient_peak_before = instance->gradient_peak;
  instance->gradient_peak = cpu_gradient_peak(instance);
  if (!isfinite(run->loss) || !isfinite(instance->gradient_peak.magnitude)) {
    gnn_lanes_settle(run); /* the same copies are queued again */
    gnn_bad_value_find(instance, GNN_WORK_GRADIENTS);
  }
  return run->program->update(run);
}

static void cpu_describe(const gnn_instance *instance, gnn_text *text) {
  gnn_text_format(text, "cpu, %d threads", gnn_team_threads(instance->run.team));
}

const gnn_backend gnn_cpu_backend = {
  .name = "cpu", .open = cpu_open, .close = cpu_close, .obtain = cpu_obtain, .grow = cpu_grow, .touch = cpu_touch, .release = cpu_release, .start = cpu_start,
  .stop = cpu_stop, .load = cpu_load, .reload = cpu_reload, .upload = cpu_move, .download = cpu_move, .work = cpu_work, .copy = gnn_lanes_copy,
  .await = gnn_lanes_await, .failure = gnn_lanes_error, .describe = cpu_describe};
