/* Chains of equal steps on a device of a few pieces, with no other tier: as many re-runs as the binomial schedules of Griewank
 * and Walther ("Algorithm 799: Revolve", ACM TOMS 2000), which are optimal, and no plan on a smaller device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/planner/judge.h"
#include "suite.h"
#include "tap.h"

enum { PIECE = 1000, STEP_NS = 100, TEXT = 1 << 17 };

/* F1 .. Fn, the loss, Bn .. B1; Bi reads x(i-1), which is all that it needs of the forward pass. */
static char *chain(Arena *arena, int n, int pieces) {
  char *text = arena_alloc(arena, TEXT), *at = text;
  at += sprintf(at, "{\"format\":\"gnncc-problem/1\",\"name\":\"chain\",\"hardware\":{\"device_bytes\":%d,\"host_bytes\":0,\"ssd_bytes\":0,"
                "\"ring_bytes\":0,\"channels\":{}},\"data\":[{\"id\":\"x0\",\"bytes\":%d,\"home\":\"device\"}", pieces * PIECE, PIECE);
  for (int i = 1; i <= n; i++) at += sprintf(at, ",{\"id\":\"x%d\",\"bytes\":%d}", i, PIECE);
  for (int i = 0; i <= n; i++) at += sprintf(at, ",{\"id\":\"g%d\",\"bytes\":%d}", i, PIECE);
  at += sprintf(at, "],\"ops\":[");
  for (int i = 1; i <= n; i++)
    at += sprintf(at, "{\"id\":\"F%d\",\"phase\":\"fwd\",\"reads\":[\"x%d\"],\"writes\":[\"x%d\"],\"ns\":%d},", i, i - 1, i, STEP_NS);
  at += sprintf(at, "{\"id\":\"L\",\"phase\":\"bwd\",\"reads\":[\"x%d\"],\"writes\":[\"g%d\"],\"ns\":%d}", n, n, STEP_NS);
  for (int i = n; i > 0; i--)
    at += sprintf(at, ",{\"id\":\"B%d\",\"phase\":\"bwd\",\"reads\":[\"g%d\",\"x%d\"],\"writes\":[\"g%d\"],\"ns\":%d}", i, i, i - 1, i - 1, STEP_NS);
  sprintf(at, "]}");
  return text;
}

static int64_t binomial(int64_t n, int64_t k) {
  int64_t value = 1;
  for (int64_t i = 1; i <= k; i++) value = value * (n - k + i) / i;
  return value;
}

/* The least advances that reverse n steps with c states kept, the first among them; the n - 1 of the first sweep less. */
static int64_t least_reruns(int n, int c) {
  int r = 0;
  while (binomial(c + r, c) < n) r++;
  return (int64_t)r * n - (r ? binomial(c + r, c + 1) : 0) - (n - 1);
}

/* -1: no plan; -2: one that the checker refuses. */
static int64_t planned_ns(int n, int pieces) {
  Arena *arena = arena_new();
  char *text = chain(arena, n, pieces);
  PlannerOptions options;
  PlannerReport report;
  PlannerText checked;
  planner_default_options(&options);
  bool ok = planner_plan_checked(text, strlen(text), suite_read(arena, text), &options, arena, &report, &checked) != NULL;
  int64_t ns = ok ? report.makespan_ns : checked.text && !checked.is_valid ? -2 : -1;
  arena_free(arena);
  return ns;
}

int main(void) {
  /* Beside the states that are kept (x0 is one) there are always three pieces: the two gradients and the state of a backward
   * step, or both ends of a forward step and the gradient that waits. */
  static const struct {
    int n, pieces;
  } chains[] = {{8, 4}, {12, 4}, {12, 5}, {20, 6}, {30, 5}, {60, 6}, {100, 8}, {300, 15}};
  Tap tap = {0};
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
    int n = chains[i].n, pieces = chains[i].pieces;
    int64_t wanted = STEP_NS * (2 * n + 1 + least_reruns(n, pieces - 3)), ns = planned_ns(n, pieces);
    tap_ok(&tap, ns == wanted, "%d steps on a device of %d pieces: %lld ns, the least possible is %lld", n, pieces, (long long)ns, (long long)wanted);
  }
  tap_ok(&tap, planned_ns(8, 3) == -1, "three pieces are not enough");
  return tap_end(&tap);
}
