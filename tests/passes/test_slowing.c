/* Compute beside copies: the times of small schedules, worked out by hand. */
#include <math.h>
#include <stdio.h>

#include "compiler/plan/plan.h"

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

static bool is_ns(double seconds, double ns) { return fabs(1e9 * seconds - ns) < 0.01; }

static bool takes(const Schedule *s, int step, double start_ns, double took_ns) {
  const Step *x = &s->steps[step];
  bool is_right = is_ns(x->start_seconds, start_ns) && is_ns(x->cost.seconds, took_ns);
  if (!is_right) printf("# step %d from %g ns took %g ns\n", step, 1e9 * x->start_seconds, 1e9 * x->cost.seconds);
  return is_right;
}

static Step kernel(double ns) { return (Step){.kind = STEP_KERNEL, .lane = LANE_COMPUTE, .copy = NO_INDEX, .cost = {.seconds = 1e-9 * ns}}; }
static Step copy(int number, Lane lane, double ns) { return (Step){.kind = STEP_COPY, .lane = lane, .copy = number, .cost = {.seconds = 1e-9 * ns}}; }
static Step wait_for(int number) { return (Step){.kind = STEP_WAIT, .lane = LANE_COMPUTE, .copy = number}; }

/* A value leaves for the SSD and comes back: a write beside B, a read beside C, which D waits for. */
static void test_out_and_back(Arena *arena) {
  enum { A, OUT, B, IN, C, WAIT, D, COUNT };
  Step steps[COUNT] = {kernel(1000), copy(0, LANE_SSD_WRITE, 600), kernel(1000), copy(1, LANE_SSD_READ, 900), kernel(300), wait_for(1), kernel(100)};
  Copy copies[2] = {{.step = OUT, .lane = LANE_SSD_WRITE, .after = {NO_INDEX, NO_INDEX}}, {.step = IN, .lane = LANE_SSD_READ, .after = {0, NO_INDEX}}};
  Schedule s = {.count = COUNT, .steps = steps, .copy_count = 2, .copies = copies};
  Machine machine = {.overlap_slowdown = {[LANE_D2H] = 1, 1, 1, 1}};
  ok(slow_compute(arena, &machine, &s, 0, 7) == 7 && takes(&s, B, 0, 1000), "without a slowdown nothing changes");
  machine.overlap_slowdown[LANE_SSD_WRITE] = 1.5;
  machine.overlap_slowdown[LANE_SSD_READ] = 2;
  double end = slow_compute(arena, &machine, &s, 0, 7);
  ok(takes(&s, A, 0, 1000) && takes(&s, OUT, 1000, 600) && takes(&s, B, 1000, 1200), "400 of B beside the write, 600 after it");
  ok(takes(&s, IN, 2200, 900) && takes(&s, C, 2200, 600), "C is beside the read all the time");
  ok(takes(&s, WAIT, 2800, 300) && takes(&s, D, 3100, 100) && is_ns(end, 3200), "what is left of the read is waited for");
  ok(is_ns(steps[A].slowed_seconds, 0) && is_ns(steps[B].slowed_seconds, 200) && is_ns(steps[C].slowed_seconds, 300), "what each kernel takes longer");
  ok(is_ns(copies[0].slows_seconds, 200) && is_ns(copies[1].slows_seconds, 300), "and because of which copy");
}

/* One kernel beside two lanes, of which one has a second copy that begins when the first is done. */
static void test_two_lanes(Arena *arena) {
  enum { OUT, IN, MORE, A, COUNT };
  Step steps[COUNT] = {copy(0, LANE_D2H, 500), copy(1, LANE_H2D, 1000), copy(2, LANE_D2H, 2000), kernel(1000)};
  Copy copies[3] = {{.lane = LANE_D2H, .after = {NO_INDEX, NO_INDEX}}, {.lane = LANE_H2D, .after = {NO_INDEX, NO_INDEX}}, {.lane = LANE_D2H, .after = {1, NO_INDEX}}};
  Schedule s = {.count = COUNT, .steps = steps, .copy_count = 3, .copies = copies};
  Machine machine = {.overlap_slowdown = {[LANE_D2H] = 1.5, 2, 1, 1}};
  double end = slow_compute(arena, &machine, &s, 0, 7);
  /* to 500: 500 / 2.5 = 200 done; to 1000: 500 / 2 = 250; then 550 x 1.5 = 825 */
  ok(takes(&s, MORE, 1000, 2000) && takes(&s, A, 0, 1825), "lanes that are busy at once add up, one after the other they do not");
  ok(is_ns(end, 3000), "the epoch ends with its last copy");
  ok(is_ns(copies[0].slows_seconds, 100) && is_ns(copies[1].slows_seconds, 450) && is_ns(copies[2].slows_seconds, 275), "each copy has its share");
}

/* A run's steps after those of another: their clock begins anew. */
static void test_second_part(Arena *arena) {
  enum { BEFORE, OUT, A, COUNT };
  Step steps[COUNT] = {kernel(1000), copy(0, LANE_SSD_WRITE, 600), kernel(100)};
  Copy copies[1] = {{.lane = LANE_SSD_WRITE, .after = {NO_INDEX, NO_INDEX}}};
  Schedule s = {.count = COUNT, .steps = steps, .copy_count = 1, .copies = copies};
  Machine machine = {.overlap_slowdown = {[LANE_D2H] = 1, 1, 3, 1}};
  ok(is_ns(slow_compute(arena, &machine, &s, OUT, 7), 600) && takes(&s, A, 0, 300) && takes(&s, BEFORE, 0, 1000), "steps before the first stay as they are");
}

int main(void) {
  Arena *arena = arena_new();
  test_out_and_back(arena);
  test_two_lanes(arena);
  test_second_part(arena);
  arena_free(arena);
  printf("1..%d\n", test_count);
  return failures > 0;
}
