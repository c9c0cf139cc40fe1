/* team.c: a pool of threads that share loops.
 *
 * Each thread has a share of a loop's tasks, the same one of each loop of equal length, so that rows stay in the cache of
 * the core that wrote them; it claims them a few at a time, and then those of the others. The caller publishes a loop by
 * setting what is left of each share; a claim counts it down. So a claim is valid whichever loop it meets, and a thread
 * that wakes late finds nothing or the next loop. A loop's description is written before its shares and only read after a
 * claim, and the caller returns when every claimed task is finished, so that no thread need be waited for that took no
 * part. The extent of a task depends on none of this.
 *
 * Waiting spins briefly, because the next step of a program is usually microseconds away, and then sleeps, because the
 * processors may be shared. A sleeper announces itself before it looks again, a waker changes what is looked at before it
 * looks for sleepers: one of them sees the other (both sides sequentially consistent).
 *
 * With GNN_OPENMP the same interface over OpenMP's threads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/gnnrt.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

int gnn_usable_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

typedef struct Loop {
  gnn_task *task;
  const void *context;
  const int64_t *bounds; /* NULL: tasks of `extent` */
  int64_t first, last, extent, tasks;
} Loop;

/* Within loops numbers too small to be normal count as 0: processors take a hundred times as long for them, and a softmax
 * makes them by the million. Returns the mode that was, for restore_mode. */
static uint64_t flush_subnormals(void) {
#if defined __x86_64__
  const unsigned mode = __builtin_ia32_stmxcsr(), flushing = mode | 0x8040; /* FTZ, DAZ */
  if (flushing != mode) __builtin_ia32_ldmxcsr(flushing);
  return mode;
#elif defined __aarch64__
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  const uint64_t flushing = mode | 1 << 24; /* FZ */
  if (flushing != mode) __asm__ volatile("msr fpcr, %0" : : "r"(flushing));
  return mode;
#else
  return 0;
#endif
}

static void restore_mode(uint64_t mode) {
#if defined __x86_64__
  if (mode != __builtin_ia32_stmxcsr()) __builtin_ia32_ldmxcsr((unsigned)mode);
#elif defined __aarch64__
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
  (void)mode;
#endif
}

static void run_task(const Loop *loop, int64_t t) {
  const int64_t begin = loop->bounds ? loop->bounds[t] : loop->first + t * loop->extent, end = loop->bounds ? loop->bounds[t + 1] : begin + loop->extent;
  loop->task(loop->context, begin > loop->first ? begin : loop->first, end < loop->last ? end : loop->last, t);
}

#ifdef GNN_OPENMP

struct gnn_team {
  int threads;
};

gnn_team *gnn_team_create_for(int threads, int64_t row_bytes) {
  gnn_team *team = malloc(sizeof *team);
  (void)row_bytes;
  if (team) team->threads = threads > 0 ? threads : gnn_usable_processors();
  return team;
}

void gnn_team_destroy(gnn_team *team) { free(team); }

static void run_loop(gnn_team *team, const Loop *loop) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(team->threads)
  for (int64_t t = 0; t < loop->tasks; t++) {
    const uint64_t mode = flush_subnormals(); /* of this thread of OpenMP's */
    run_task(loop, t);
    restore_mode(mode);
  }
}

#else

enum {
  SPIN_NS = 30000, /* more than the caller takes between two loops, less than a time slice by far */
  CACHE_LINE = 64,
  STACK_BYTES = 1 << 19, /* beside rows: scores of a row's edges among them */
};

typedef struct Member {
  alignas(CACHE_LINE) _Atomic int64_t left; /* tasks of this thread's share that nobody has claimed */
  gnn_team *team;
  pthread_t thread; /* not of member 0, which is the caller */
} Member;

struct gnn_team {
  alignas(CACHE_LINE) _Atomic int64_t finished; /* tasks of the loop that have run */
  alignas(CACHE_LINE) _Atomic uint64_t loops;   /* published so far */
  _Atomic int sleepers, is_caller_asleep, is_ending;
  Loop loop;
  int threads, is_spinning;
  pthread_mutex_t mutex;
  pthread_cond_t published, completed;
  Member member[]; /* [threads] */
};

static void relax(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static int64_t nanoseconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Where the share of a member ends; it begins where the one before ends. */
static int64_t share_end(int64_t tasks, int member, int threads) { return tasks * (member + 1) / threads; }

static void work(gnn_team *team, int self) {
  int64_t done = 0, tasks = 0;
  for (int i = 0; i < team->threads; i++) {
    const int owner = (self + i) % team->threads;
    _Atomic int64_t *share = &team->member[owner].left;
    int64_t left = atomic_load_explicit(share, memory_order_acquire);
    while (left > 0) {
      const int64_t take = left < 4 ? 1 : left / 4;
      if (!atomic_compare_exchange_weak_explicit(share, &left, left - take, memory_order_acquire, memory_order_acquire))
        continue;
      tasks = team->loop.tasks;
      const int64_t first = share_end(tasks, owner, team->threads) - left;
      for (int64_t t = first; t < first + take; t++) run_task(&team->loop, t);
      done += take;
      left = atomic_load_explicit(share, memory_order_acquire);
    }
  }
  if (done == 0) return;
  /* From here on the loop may be over and the next one published. */
  if (atomic_fetch_add(&team->finished, done) + done == tasks && atomic_load(&team->is_caller_asleep)) {
    pthread_mutex_lock(&team->mutex);
    pthread_cond_signal(&team->completed);
    pthread_mutex_unlock(&team->mutex);
  }
}

static void *worker_main(void *argument) {
  Member *member = argument;
  gnn_team *team = member->team;
  const int self = (int)(member - team->member);
  uint64_t seen = 0;
  flush_subnormals();
  while (!atomic_load(&team->is_ending)) {
    work(team, self);
    uint64_t loops = atomic_load(&team->loops);
    if (loops == seen && team->is_spinning) {
      const int64_t until = nanoseconds_now() + SPIN_NS;
      do {
        for (int i = 0; i < 32 && loops == seen; i++) {
          relax();
          loops = atomic_load(&team->loops);
        }
      } while (loops == seen && nanoseconds_now() < until);
    }
    if (loops == seen) {
      pthread_mutex_lock(&team->mutex);
      atomic_fetch_add(&team->sleepers, 1);
      while ((loops = atomic_load(&team->loops)) == seen) pthread_cond_wait(&team->published, &team->mutex);
      atomic_fetch_sub(&team->sleepers, 1);
      pthread_mutex_unlock(&team->mutex);
    }
    seen = loops;
  }
  return NULL;
}

static void publish(gnn_team *team) {
  atomic_fetch_add(&team->loops, 1);
  if (atomic_load(&team->sleepers) == 0) return;
  pthread_mutex_lock(&team->mutex);
  pthread_cond_broadcast(&team->published);
  pthread_mutex_unlock(&team->mutex);
}

/* Of a team of which the members below `started` run. */
static void team_end(gnn_team *team, int started) {
  atomic_store(&team->is_ending, 1);
  publish(team);
  for (int i = 1; i < started; i++) pthread_join(team->member[i].thread, NULL);
  pthread_cond_destroy(&team->completed);
  pthread_cond_destroy(&team->published);
  pthread_mutex_destroy(&team->mutex);
  free(team);
}

/* Stacks count where address space is limited, whether they are touched or not. */
static int team_start(Member *member, int64_t row_bytes) {
  pthread_attr_t attributes;
  size_t usual;
  const size_t wanted = row_bytes < 0 ? SIZE_MAX : STACK_BYTES + (size_t)row_bytes;
  if (pthread_attr_init(&attributes)) return 1;
  if (pthread_attr_getstacksize(&attributes, &usual) == 0 && wanted < usual) pthread_attr_setstacksize(&attributes, (wanted + 4095) / 4096 * 4096);
  const int code = pthread_create(&member->thread, &attributes, worker_main, member);
  pthread_attr_destroy(&attributes);
  return code;
}

gnn_team *gnn_team_create_for(int threads, int64_t row_bytes) {
  const int processors = gnn_usable_processors();
  if (threads <= 0) threads = processors;
  gnn_team *team = aligned_alloc(CACHE_LINE, sizeof *team + (size_t)threads * sizeof(Member));
  if (!team) return NULL;
  atomic_init(&team->finished, 0);
  atomic_init(&team->loops, 0);
  atomic_init(&team->sleepers, 0);
  atomic_init(&team->is_caller_asleep, 0);
  atomic_init(&team->is_ending, 0);
  team->is_spinning = threads <= processors;
  team->threads = threads;
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->published, NULL);
  pthread_cond_init(&team->completed, NULL);
  for (int i = 0; i < threads; i++) {
    atomic_init(&team->member[i].left, 0);
    team->member[i].team = team;
  }
  for (int i = 1; i < threads; i++) {
    if (team_start(&team->member[i], row_bytes)) {
      team_end(team, i);
      return NULL;
    }
  }
  return team;
}

void gnn_team_destroy(gnn_team *team) {
  if (team) team_end(team, team->threads);
}

static void share_loop(gnn_team *team, const Loop *loop) {
  team->loop = *loop;
  atomic_store_explicit(&team->finished, 0, memory_order_relaxed);
  int64_t begin = 0;
  for (int i = 0; i < team->threads; i++) {
    const int64_t end = share_end(loop->tasks, i, team->threads);
    atomic_store_explicit(&team->member[i].left, end - begin, memory_order_release);
    begin = end;
  }
  publish(team);
  work(team, 0);
  if (team->is_spinning) {
    const int64_t until = nanoseconds_now() + SPIN_NS;
    do {
      for (int i = 0; i < 32; i++) {
        if (atomic_load(&team->finished) == loop->tasks) return;
        relax();
      }
    } while (nanoseconds_now() < until);
  }
  pthread_mutex_lock(&team->mutex);
  atomic_exchange(&team->is_caller_asleep, 1); /* no store, which QEMU for ARM lets the load below pass */
  while (atomic_load(&team->finished) != loop->tasks) pthread_cond_wait(&team->completed, &team->mutex);
  atomic_store(&team->is_caller_asleep, 0);
  pthread_mutex_unlock(&team->mutex);
}

static void run_loop(gnn_team *team, const Loop *loop) {
  const uint64_t mode = flush_subnormals();
  if (team->threads == 1 || loop->tasks <= 1)
    for (int64_t t = 0; t < loop->tasks; t++) run_task(loop, t);
  else
    share_loop(team, loop);
  restore_mode(mode);
}

#endif

gnn_team *gnn_team_create(int threads) { return gnn_team_create_for(threads, -1); }

int gnn_team_threads(const gnn_team *team) { return team->threads; }

void gnn_parallel(gnn_team *team, int64_t count, int64_t extent, gnn_task *task, const void *context) {
  gnn_parallel_part(team, 0, count, extent, task, context);
}

void gnn_parallel_part(gnn_team *team, int64_t first, int64_t last, int64_t extent, gnn_task *task, const void *context) {
  const int64_t count = last - first;
  if (count > 0) run_loop(team, &(Loop){task, context, NULL, first, last, extent, (count + extent - 1) / extent});
}

void gnn_parallel_ranges(gnn_team *team, const int64_t *bounds, int64_t tasks, gnn_task *task, const void *context) {
  run_loop(team, &(Loop){task, context, bounds, bounds[0], bounds[tasks], 0, tasks});
}

void gnn_parallel_ranges_of_part(gnn_team *team, const int64_t *bounds, int64_t tasks, int64_t first, int64_t last, gnn_task *task, const void *context) {
  while (tasks > 0 && bounds[1] <= first) bounds++, tasks--;
  while (tasks > 0 && bounds[tasks - 1] >= last) tasks--;
  run_loop(team, &(Loop){task, context, bounds, first, last, 0, tasks});
}
