#include "share.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts in a row, to be cut into `count` runs. */
typedef struct Row {
  int parts, count, step; /* step: blocks of a part */
  const double *before, *rows_before;
  double most_rows; /* of a run */
} Row;

static double of_run(const Row *row, const double *before, int begin, int end) { return before[(ptrdiff_t)end * row->step] - before[(ptrdiff_t)begin * row->step]; }
static double work_of(const Row *row, int begin, int end) { return of_run(row, row->before, begin, end); }
static bool may_be(const Row *row, int begin, int end, double most) { return work_of(row, begin, end) <= most && of_run(row, row->rows_before, begin, end) <= row->most_rows; }

/* How far a run from `begin` comes with so much work, and how far one that ends at `end`. */
static int reach(const Row *row, int begin, double most) {
  int end = begin;
  while (end < row->parts && may_be(row, begin, end + 1, most)) end++;
  return end;
}
static int reach_back(const Row *row, int end, double most) {
  int begin = end;
  while (begin > 0 && may_be(row, begin - 1, end, most)) begin--;
  return begin;
}

static bool is_enough(const Row *row, double most) {
  int end = 0;
  for (int r = 0; r < row->count; r++) end = reach(row, end, most);
  return end == row->parts;
}

/* Of the run with most; INFINITY: each cut leaves some run with too many rows. */
static double least_most(const Row *row) {
  enum { HALVINGS = 60 };
  double low = 0, high = work_of(row, 0, row->parts);
  if (!is_enough(row, high)) return INFINITY;
  for (int k = 0; k < HALVINGS && low < high; k++) {
    const double middle = low + (high - low) / 2;
    if (is_enough(row, middle)) high = middle;
    else low = middle;
  }
  return high;
}

static int between(int low, int high, int x) { return x < low ? low : x > high ? high : x; }

/* Each cut is where equal shares would have it, as near as no run has more than `most`. */
static void cut_evenly(Arena *arena, const Row *row, double most, int *first) {
  int *earliest = arena_alloc(arena, ((size_t)row->count + 1) * sizeof *earliest);
  earliest[row->count] = row->parts;
  for (int r = row->count; r > 0; r--) earliest[r - 1] = reach_back(row, earliest[r], most);
  const double all = work_of(row, 0, row->parts);
  first[0] = 0;
  first[row->count] = row->parts;
  for (int r = 1, even = 0; r < row->count; r++) {
    while (even < row->parts && work_of(row, 0, even) + work_of(row, 0, even + 1) < 2 * all * r / row->count) even++;
    const int low = earliest[r] > first[r - 1] ? earliest[r] : first[r - 1] + 1, furthest = reach(row, first[r - 1], most), left = row->parts - (row->count - r);
    first[r] = between(low, furthest < left ? furthest : left, even);
  }
}

/* Runs of equally many parts, and a tenth beyond: more rows than that no rank gets. */
static double most_rows(int count, int least, int block_levels, const double *rows_before) {
  enum { PARTS_EACH_LEVELS = 2 };
  const int fine = 1 << least == count ? least : least + PARTS_EACH_LEVELS, levels = fine < block_levels ? fine : block_levels;
  double most = 0;
  for (int64_t r = 0; r < count; r++) {
    const int64_t begin = ((r << levels) / count) << (block_levels - levels), end = (((r + 1) << levels) / count) << (block_levels - levels);
    most = fmax(most, rows_before[end] - rows_before[begin]);
  }
  return 1.1 * most;
}

int share_blocks(Arena *arena, int count, int block_levels, const double *work_before, const double *rows_before, int *first_part) {
  enum { FINER_LEVELS = 3, FEW = 20 };
  double most[FINER_LEVELS + 1];
  int least = 0, chosen = 0;
  while (1 << least < count) least++;
  if (least > block_levels) {
    for (int r = 0; r <= count; r++) first_part[r] = (int)(((int64_t)r << block_levels) / count);
    return block_levels;
  }
  const double rows = most_rows(count, least, block_levels, rows_before);
  const int finest = least + FINER_LEVELS < block_levels ? FINER_LEVELS : block_levels - least;
  for (int finer = 0; finer <= finest; finer++) most[finer] = least_most(&(Row){1 << (least + finer), count, 1 << (block_levels - least - finer), work_before, rows_before, rows});
  while (most[chosen] > most[finest] * (1 + 1.0 / FEW)) chosen++;
  const int levels = least + chosen;
  cut_evenly(arena, &(Row){1 << levels, count, 1 << (block_levels - levels), work_before, rows_before, rows}, most[chosen], first_part);
  return levels;
}
