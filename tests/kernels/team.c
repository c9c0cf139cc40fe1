/* The team: every task once, with its own extent, whatever the number of threads; loops in quick succession; teams side
 * by side. Meant to be run under ThreadSanitizer too. */
#define _GNU_SOURCE
#include "tap.h"

#include <float.h>
#include <pthread.h>
#include <time.h>

enum { TASKS_MAX = 5000 };

typedef struct Record {
  int64_t begin[TASKS_MAX], end[TASKS_MAX];
  int times[TASKS_MAX];
} Record;

static void record_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  Record *record = (Record *)(uintptr_t)context;
  record->begin[task] = begin, record->end[task] = end;
  record->times[task]++;
}

static void test_extents(Tap *tap, gnn_team *team, int64_t count, int64_t extent) {
  Record *record = must(calloc(1, sizeof *record));
  gnn_parallel(team, count, extent, record_task, record);
  const int64_t tasks = (count + extent - 1) / extent;
  int good = 1;
  for (int64_t t = 0; t < TASKS_MAX; t++) {
    good &= record->times[t] == (t < tasks);
    if (t >= tasks) continue;
    good &= record->begin[t] == t * extent;
    good &= record->end[t] == ((t + 1) * extent < count ? (t + 1) * extent : count);
  }
  tap_ok(tap, good, "%lld in tasks of %lld by %d threads", (long long)count, (long long)extent, gnn_team_threads(team));
  free(record);
}

static void test_part(Tap *tap, gnn_team *team) {
  Record *record = must(calloc(1, sizeof *record));
  gnn_parallel_part(team, 70, 105, 10, record_task, record);
  gnn_parallel_part(team, 70, 70, 10, record_task, record);
  int good = record->times[4] == 0;
  for (int t = 0; t < 4; t++) good &= record->times[t] == 1 && record->begin[t] == 70 + 10 * t && record->end[t] == (t < 3 ? 80 + 10 * t : 105);
  tap_ok(tap, good, "a part of the rows by %d threads", gnn_team_threads(team));
  free(record);
}

static void test_ranges(Tap *tap, gnn_team *team) {
  static const int64_t bounds[] = {3, 3, 10, 11, 400, 400};
  Record *record = must(calloc(1, sizeof *record));
  gnn_parallel_ranges(team, bounds, 5, record_task, record);
  gnn_parallel_ranges(team, bounds, 0, record_task, record);
  int good = 1;
  for (int t = 0; t < 6; t++) good &= record->times[t] == (t < 5);
  for (int t = 0; t < 5; t++) good &= record->begin[t] == bounds[t] && record->end[t] == bounds[t + 1];
  tap_ok(tap, good, "given ranges by %d threads", gnn_team_threads(team));
  free(record);
}

static void test_ranges_of_part(Tap *tap, gnn_team *team) {
  static const int64_t bounds[] = {0, 0, 10, 11, 400, 500}, parts[][2] = {{3, 300}, {11, 400}, {0, 500}, {10, 10}, {450, 500}}, begins[][5] = {{3, 10, 11}, {11}, {0, 0, 10, 11, 400}, {0}, {450}},
                       ends[][5] = {{10, 11, 300}, {400}, {0, 10, 11, 400, 500}, {0}, {500}}, counts[] = {3, 1, 4, 0, 1};
  for (int p = 0; p < 5; p++) {
    Record *record = must(calloc(1, sizeof *record));
    gnn_parallel_ranges_of_part(team, bounds, 5, parts[p][0], parts[p][1], record_task, record);
    int64_t rows = 0;
    int good = 1;
    for (int t = 0; t < 5; t++) {
      good &= record->times[t] <= 1 && (record->times[t] == 0 || (record->begin[t] >= parts[p][0] && record->end[t] <= parts[p][1]));
      rows += record->end[t] - record->begin[t];
    }
    for (int t = 0; t < counts[p] && p != 2; t++) good &= record->begin[t] == begins[p][t] && record->end[t] == ends[p][t];
    tap_ok(tap, good && rows == parts[p][1] - parts[p][0], "what of given ranges lies in [%lld, %lld)", (long long)parts[p][0], (long long)parts[p][1]);
    free(record);
  }
}

typedef struct Chain {
  int64_t count;
  gnn_real *from, *to;
} Chain;

/* Reads what another thread may have written in the loop before. */
static void chain_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const Chain *chain = context;
  (void)task;
  for (int64_t i = begin; i < end; i++) chain->to[i] = chain->from[chain->count - 1 - i] + 1;
}

static int chain_is_right(gnn_team *team, int loops, int64_t count, int64_t extent) {
  Chain chain = {count, reals_new(count), reals_new(count)};
  for (int64_t i = 0; i < count; i++) chain.from[i] = 0;
  for (int l = 0; l < loops; l++) {
    gnn_parallel(team, count, extent, chain_task, &chain);
    gnn_real *other = chain.from;
    chain.from = chain.to, chain.to = other;
  }
  int good = 1;
  for (int64_t i = 0; i < count; i++) good &= chain.from[i] == (gnn_real)loops;
  free(chain.from), free(chain.to);
  return good;
}

static void test_succession(Tap *tap, gnn_team *team) {
  tap_ok(tap, chain_is_right(team, 3000, 64, 1), "3000 loops of 64 tasks by %d threads", gnn_team_threads(team));
  tap_ok(tap, chain_is_right(team, 3000, 2, 1), "3000 loops of 2 tasks by %d threads", gnn_team_threads(team));
  int good = 1;
  for (int i = 0; i < 20; i++) { /* long enough apart that the threads sleep */
    good &= chain_is_right(team, 3, 100, 7);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
  tap_ok(tap, good, "loops after sleep by %d threads", gnn_team_threads(team));
}

static void halve_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  volatile float *halves = (volatile float *)(uintptr_t)context, smallest = FLT_MIN;
  (void)begin, (void)end;
  halves[task] = smallest / 2;
}

static void test_subnormals(Tap *tap, gnn_team *team) {
  enum { TASKS = 64 };
  volatile float halves[TASKS], smallest = FLT_MIN;
  for (int t = 0; t < TASKS; t++) halves[t] = 1;
  gnn_parallel(team, TASKS, 1, halve_task, (const void *)(uintptr_t)halves);
  int good = 1;
  for (int t = 0; t < TASKS; t++) good &= halves[t] == 0;
  tap_ok(tap, good, "subnormal numbers count as 0 in loops of %d threads", gnn_team_threads(team));
  gnn_parallel(team, 1, 1, halve_task, (const void *)(uintptr_t)halves);
  tap_ok(tap, halves[0] == 0, "and in a loop of one task");
  tap_ok(tap, smallest / 2 > 0, "and the caller's are as they were");
}

static void *side_by_side(void *argument) {
  gnn_team *team = gnn_team_create(2);
  *(int *)argument = team && chain_is_right(team, 500, 64, 3);
  gnn_team_destroy(team);
  return NULL;
}

static void test_instances(Tap *tap) {
  enum { TEAMS = 3 };
  pthread_t thread[TEAMS];
  int good[TEAMS];
  for (int i = 0; i < TEAMS; i++)
    if (pthread_create(&thread[i], NULL, side_by_side, &good[i])) abort();
  int all = 1;
  for (int i = 0; i < TEAMS; i++) {
    pthread_join(thread[i], NULL);
    all &= good[i];
  }
  tap_ok(tap, all, "%d teams side by side", TEAMS);
  int created = 1;
  for (int i = 0; i < 200; i++) {
    gnn_team *team = gnn_team_create(1 + i % 5);
    created &= team && gnn_team_threads(team) == 1 + i % 5;
    if (i % 2) created &= chain_is_right(team, 1, 10, 1);
    gnn_team_destroy(team);
  }
  gnn_team_destroy(NULL);
  tap_ok(tap, created, "200 teams one after another");
  gnn_team *team = gnn_team_create(0);
  tap_ok(tap, team && gnn_team_threads(team) >= 1, "a team for this machine has %d threads", gnn_team_threads(team));
  gnn_team_destroy(team);
}

int main(void) {
  Tap tap = {0, 0};
  gnn_team *teams[4];
  teams_create(teams);
  for (int i = 0; i < 4; i++) {
    test_extents(&tap, teams[i], 0, 10);
    test_extents(&tap, teams[i], 1, 10);
    test_extents(&tap, teams[i], 100, 10);
    test_extents(&tap, teams[i], 101, 10);
    test_extents(&tap, teams[i], 4999, 1);
    test_part(&tap, teams[i]);
    test_ranges(&tap, teams[i]);
    test_ranges_of_part(&tap, teams[i]);
    test_succession(&tap, teams[i]);
    test_subnormals(&tap, teams[i]);
  }
  teams_destroy(teams);
  test_instances(&tap);
  return tap_end(&tap);
}
