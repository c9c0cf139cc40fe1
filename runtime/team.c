/* team.c: a pool of threads that share loops.
 *
 * The caller publishes a loop by setting `remaining` to its number of tasks; a thread claims tasks by counting it down,
 * so a claim is valid whichever loop it meets, and a thread that wakes late finds nothing or the next loop. The loop's
 * description is written before `remaining` and only read after a claim, and the caller returns when every claimed task
 * is finished, so no thread need be waited for that did not take part. Threads claim several tasks at a time, fewer
 * towards the end; the extent of a task never changes with it.
 *
 * Waiting spins briefly, because the next step of a program is usually microseconds away, and then sleeps, because
 * the processors may be shared. A sleeper announces itself before it looks again, a waker changes what is looked at
 * before it looks for sleepers: one of them sees the other (both sides sequentially consistent).
 *
 * With GNN_OPENMP the same interface over OpenMP's threads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "gnnrt.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

static int usable_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

typedef struct Loop {
  gnn_task *task;
  const void *context;
  const int64_t *bounds; /* NULL: tasks of `extent` */
  int64_t count, extent, tasks;
} Loop;

static void run_task(const Loop *loop, int64_t t) {
  if (loop->bounds) {
    loop->task(loop->context, loop->bounds[t], loop->bounds[t + 1], t);
  } else {
    const int64_t begin = t * loop->extent, rest = loop->count - begin;
    loop->task(loop->context, begin, begin + (rest < loop->extent ? rest : loop->extent), t);
  }
}

#ifdef GNN_OPENMP

struct gnn_team {
  int threads;
};

gnn_team *gnn_team_create(int threads) {
  gnn_team *team = malloc(sizeof *team);
  if (team) team->threads = threads > 0 ? threads : usable_processors();
  return team;
}

void gnn_team_destroy(gnn_team *team) { free(team); }

static void run_loop(gnn_team *team, const Loop *loop) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(team->threads)
  for (int64_t t = 0; t < loop->tasks; t++) run_task(loop, t);
}

#else

enum {
  SPINS = 1000,     /* some tens of microseconds */
  CACHE_LINE = 64,
};

struct gnn_team {
  alignas(CACHE_LINE) _Atomic int64_t remaining; /* tasks of the loop that nobody has claimed */
  alignas(CACHE_LINE) _Atomic int64_t finished;  /* tasks of the loop that have run */
  alignas(CACHE_LINE) _Atomic uint64_t loops;    /* published so far */
  _Atomic int sleepers, is_caller_asleep, is_ending;
  Loop loop;
  int threads, spins;
  pthread_mutex_t mutex;
  pthread_cond_t published, completed;
  pthread_t worker[]; /* [threads - 1] */
};

static void relax(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static void work(gnn_team *team) {
  int64_t left = atomic_load_explicit(&team->remaining, memory_order_acquire);
  int64_t done = 0, tasks = 0;
  while (left > 0) {
    int64_t take = left / (4 * team->threads);
    if (take < 1) take = 1;
    if (!atomic_compare_exchange_weak_explicit(&team->remaining, &left, left - take, memory_order_acquire,
                                               memory_order_acquire))
      continue;
    tasks = team->loop.tasks;
    for (int64_t i = 0; i < take; i++) run_task(&team->loop, tasks - left + i);
    done += take;
    left = atomic_load_explicit(&team->remaining, memory_order_acquire);
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
  gnn_team *team = argument;
  uint64_t seen = 0;
  while (!atomic_load(&team->is_ending)) {
    work(team);
    uint64_t loops = atomic_load(&team->loops);
    for (int spin = 0; loops == seen && spin < team->spins; spin++) {
      relax();
      loops = atomic_load(&team->loops);
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

gnn_team *gnn_team_create(int threads) {
  const int processors = usable_processors();
  if (threads <= 0) threads = processors;
  const size_t bytes = sizeof(gnn_team) + (size_t)(threads - 1) * sizeof(pthread_t);
  gnn_team *team = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
  if (!team) return NULL;
  atomic_init(&team->remaining, 0);
  atomic_init(&team->finished, 0);
  atomic_init(&team->loops, 0);
  atomic_init(&team->sleepers, 0);
  atomic_init(&team->is_caller_asleep, 0);
  atomic_init(&team->is_ending, 0);
  team->spins = threads <= processors ? SPINS : 0;
  team->threads = threads;
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->published, NULL);
  pthread_cond_init(&team->completed, NULL);
  for (int i = 0; i < threads - 1; i++) {
    if (pthread_create(&team->worker[i], NULL, worker_main, team)) {
      team->threads = i + 1;
      gnn_team_destroy(team);
      return NULL;
    }
  }
  return team;
}

void gnn_team_destroy(gnn_team *team) {
  if (!team) return;
  atomic_store(&team->is_ending, 1);
  publish(team);
  for (int i = 0; i < team->threads - 1; i++) pthread_join(team->worker[i], NULL);
  pthread_cond_destroy(&team->completed);
  pthread_cond_destroy(&team->published);
  pthread_mutex_destroy(&team->mutex);
  free(team);
}

static void run_loop(gnn_team *team, const Loop *loop) {
  if (team->threads == 1 || loop->tasks <= 1) {
    for (int64_t t = 0; t < loop->tasks; t++) run_task(loop, t);
    return;
  }
  team->loop = *loop;
  atomic_store_explicit(&team->finished, 0, memory_order_relaxed);
  atomic_store_explicit(&team->remaining, loop->tasks, memory_order_release);
  publish(team);
  work(team);
  for (int spin = 0; spin < team->spins; spin++) {
    if (atomic_load(&team->finished) == loop->tasks) return;
    relax();
  }
  pthread_mutex_lock(&team->mutex);
  atomic_store(&team->is_caller_asleep, 1);
  while (atomic_load(&team->finished) != loop->tasks) pthread_cond_wait(&team->completed, &team->mutex);
  atomic_store(&team->is_caller_asleep, 0);
  pthread_mutex_unlock(&team->mutex);
}

#endif

int gnn_team_threads(const gnn_team *team) { return team->threads; }

void gnn_parallel(gnn_team *team, int64_t count, int64_t extent, gnn_task *task, const void *context) {
  if (count <= 0) return;
  run_loop(team, &(Loop){task, context, NULL, count, extent, (count + extent - 1) / extent});
}

void gnn_parallel_ranges(gnn_team *team, const int64_t *bounds, int64_t tasks, gnn_task *task, const void *context) {
  run_loop(team, &(Loop){task, context, bounds, 0, 0, tasks});
}
