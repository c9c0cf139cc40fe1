/* slowing: the compute of a Schedule takes the longer for the copies beside it.
 *
 * S13 of docs/planner.md, by which plans are made and compared, lets steps and copies meet at no cost. Where the links of a
 * machine say `slowdown`, a kernel gets 1 / (1 + the slowdowns of the lanes at work) of its work done meanwhile. The steps
 * are gone through once, as a run goes: a copy is queued when the compute lane comes to it, so that whatever a kernel meets
 * is known when it starts.
 */
#include <math.h>

#include "plan.h"

typedef struct Span {
  int64_t from_ns, to_ns;
  int copy;
} Span;

typedef struct Traffic { /* of one lane, in the order of its queue */
  double slowdown;
  Span *spans;
  int count, next; /* those before `next` are over */
} Traffic;

typedef struct Slowing {
  Arena *arena;
  Schedule *schedule;
  Traffic lanes[LANE_COUNT];
  int64_t *done_ns; /* by copy */
} Slowing;

static int64_t ns_of(double seconds) { return llround(1e9 * seconds); }

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static void set_times(Step *step, int64_t from_ns, int64_t to_ns) {
  step->start_seconds = 1e-9 * (double)from_ns;
  step->cost.seconds = 1e-9 * (double)(to_ns - from_ns);
}

static void queue_copy(Slowing *w, Step *step, int64_t now_ns) {
  const Copy *copy = &w->schedule->copies[step->copy];
  Traffic *lane = &w->lanes[copy->lane];
  int64_t start_ns = lane->count ? later(now_ns, lane->spans[lane->count - 1].to_ns) : now_ns;
  for (int i = 0; i < 2; i++)
    if (copy->after[i] != NO_INDEX) start_ns = later(start_ns, w->done_ns[copy->after[i]]);
  int64_t done_ns = w->done_ns[step->copy] = start_ns + ns_of(step->cost.seconds);
  ARENA_PUSH(w->arena, lane->spans, lane->count, ((Span){start_ns, done_ns, step->copy}));
  set_times(step, start_ns, done_ns);
}

/* The copy under way on a lane, or the next one; NULL: none is queued. */
static const Span *copy_at(Traffic *lane, double ns) {
  while (lane->next < lane->count && (double)lane->spans[lane->next].to_ns <= ns) lane->next++;
  return lane->next < lane->count ? &lane->spans[lane->next] : NULL;
}

/* Until a copy begins or ends the same lanes are at work. Returns when all of the work is done. */
static double work_beside(Slowing *w, double ns, double work_ns) {
  while (work_ns > 0) {
    const Span *busy[LANE_COUNT];
    double slower = 1, until = INFINITY;
    for (int l = 0; l < LANE_COUNT; l++) {
      const Span *span = copy_at(&w->lanes[l], ns);
      busy[l] = span && (double)span->from_ns <= ns ? span : NULL;
      if (busy[l]) slower += w->lanes[l].slowdown;
      if (span) until = fmin(until, (double)(busy[l] ? span->to_ns : span->from_ns));
    }
    bool is_last = ns + work_ns * slower <= until;
    double took = is_last ? work_ns * slower : until - ns;
    for (int l = 0; l < LANE_COUNT; l++)
      if (busy[l]) w->schedule->copies[busy[l]->copy].slows_seconds += 1e-9 * took * w->lanes[l].slowdown / slower;
    work_ns = is_last ? 0 : work_ns - took / slower;
    ns = is_last ? ns + took : until;
  }
  return ns;
}

double slow_compute(Arena *arena, const Machine *machine, Schedule *schedule, int first, double planned_seconds) {
  Slowing w = {.arena = arena, .schedule = schedule};
  bool is_slowed = false;
  for (int i = first; i < schedule->count; i++) {
    if (schedule->steps[i].kind != STEP_COPY) continue;
    Lane lane = schedule->steps[i].lane;
    w.lanes[lane].slowdown = machine->overlap_slowdown[lane] - 1;
    is_slowed |= w.lanes[lane].slowdown > 0;
  }
  if (!is_slowed) return planned_seconds;
  w.done_ns = arena_alloc(arena, (size_t)(schedule->copy_count + 1) * sizeof *w.done_ns);
  int64_t now_ns = 0, end_ns = 0;
  for (int i = first; i < schedule->count; i++) {
    Step *step = &schedule->steps[i];
    int64_t start_ns = now_ns, planned_ns = ns_of(step->cost.seconds);
    if (step->kind == STEP_COPY) {
      queue_copy(&w, step, now_ns);
      end_ns = later(end_ns, w.done_ns[step->copy]);
      continue;
    }
    if (step->kind == STEP_WAIT) now_ns = later(now_ns, w.done_ns[step->copy]);
    else now_ns = llround(work_beside(&w, (double)now_ns, (double)planned_ns));
    set_times(step, start_ns, now_ns);
    if (step->kind == STEP_KERNEL) step->slowed_seconds = 1e-9 * (double)(now_ns - start_ns - planned_ns);
  }
  return 1e-9 * (double)later(now_ns, end_ns);
}
