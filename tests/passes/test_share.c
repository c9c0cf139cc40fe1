/* Runs of blocks for ranks: all blocks in order, the least that the rank with most can have, found here by trying each cut, with few parts. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler/graph/share.h"

enum { MOST_LEVELS = 7, MOST = 1 << MOST_LEVELS, RANKS = 9 };

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

static uint64_t state = 7;
static int drawn(int below) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)below);
}

/* Of all cuts of `parts` parts of `step` blocks, by dynamic programming. */
static double least_most(int count, int parts, int step, const double *before) {
  double best[RANKS + 1][MOST + 1];
  for (int end = 0; end <= parts; end++) best[1][end] = before[end * step];
  for (int r = 2; r <= count; r++)
    for (int end = 0; end <= parts; end++) {
      best[r][end] = best[r - 1][end];
      for (int cut = 0; cut < end; cut++) {
        const double last = before[end * step] - before[cut * step], most = best[r - 1][cut] > last ? best[r - 1][cut] : last;
        if (most < best[r][end]) best[r][end] = most;
      }
    }
  return best[count][parts];
}

static double most_of(int count, int step, const int *first, const double *before) {
  double most = 0;
  for (int r = 0; r < count; r++)
    if (before[first[r + 1] * step] - before[first[r] * step] > most) most = before[first[r + 1] * step] - before[first[r] * step];
  return most;
}

/* Whether the shares are what share.h says. */
static bool is_best(Arena *arena, int count, int levels, const double *before) {
  int first[RANKS + 1], least = 0;
  const int chosen = share_blocks(arena, count, levels, before, before, first), step = 1 << (levels - chosen);
  bool is_so = first[0] == 0 && first[count] == 1 << chosen && chosen <= levels;
  for (int r = 0; r < count; r++) is_so &= (1 << levels) < count ? first[r] <= first[r + 1] : first[r] < first[r + 1];
  if ((1 << levels) < count) return is_so;
  while (1 << least < count) least++;
  const int finest = least + 3 < levels ? least + 3 : levels;
  const double bound = least_most(count, 1 << finest, 1 << (levels - finest), before) * 1.05, exact = least_most(count, 1 << chosen, step, before);
  is_so &= chosen >= least && chosen <= finest && most_of(count, step, first, before) <= exact * (1 + 1e-12) && exact <= bound * (1 + 1e-12);
  if (chosen > least) is_so &= least_most(count, 1 << (chosen - 1), 2 * step, before) > bound; /* fewer would not do */
  return is_so;
}

static bool all_best(Arena *arena, int kind) {
  int wrong = 0;
  for (int levels = 0; levels <= MOST_LEVELS; levels++)
    for (int count = 1; count <= RANKS; count++) {
      double before[MOST + 1] = {0};
      for (int b = 0; b < 1 << levels; b++) before[b + 1] = before[b] + (kind == 0 ? 1 : kind == 1 ? 1 + drawn(10) : kind == 2 ? 1000.0 / (1 + b) : b == 3 ? 1000 : 0);
      wrong += !is_best(arena, count, levels, before);
    }
  return wrong == 0;
}

int main(void) {
  static const char *const kinds[] = {"blocks that are alike", "blocks with up to ten times the work of others", "hubs first", "one block with all work"};
  Arena *arena = arena_new();
  for (int kind = 0; kind < 4; kind++) ok(all_best(arena, kind), arena_printf(arena, "%s: the rank with most has the least that there is, in few parts", kinds[kind]));
  int first[6];
  const double even[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const int levels = share_blocks(arena, 5, 4, even, even, first);
  ok(levels == 3 && first[1] == 2 && first[2] == 3 && first[3] == 5 && first[4] == 6, "what is left over goes to ranks anywhere, not to the first ones");
  double hub[17] = {0};
  for (int b = 0; b < 16; b++) hub[b + 1] = hub[b] + (b < 2 ? 8 : 1);
  share_blocks(arena, 2, 4, hub, even, first);
  ok(first[1] * 2 == first[2], "work in few blocks gives no rank a tenth more rows than half of them");
  arena_free(arena);
  printf("1..%d\n", test_count);
  return failures > 0;
}
