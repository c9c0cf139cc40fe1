#include "skyline.h"

#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

void skyline_reset(Skyline *k, const int64_t *heights, int steps) {
  for (int s = 0; s < k->size; s++) k->highest[k->size + s] = heights && s < steps ? heights[s] : 0;
  for (int i = k->size - 1; i > 0; i--) {
    k->raised[i] = 0;
    k->highest[i] = max64(k->highest[2 * i], k->highest[2 * i + 1]);
  }
}

Skyline skyline_new(Arena *arena, const int64_t *heights, int steps) {
  Skyline k = {.size = 1};
  while (k.size < steps) k.size *= 2;
  k.highest = NEW(2 * k.size, int64_t);
  k.raised = NEW(k.size, int64_t);
  skyline_reset(&k, heights, steps);
  return k;
}

static void raise_node(Skyline *k, int i, int64_t by) {
  k->highest[i] += by;
  if (i < k->size) k->raised[i] += by;
}

static int64_t look(const Skyline *k, int i) { return max64(k->highest[2 * i], k->highest[2 * i + 1]) + k->raised[i]; }

/* Above what was raised between a and b: both ways up until they meet, then one, as long as something changes. */
static void look_up_from(Skyline *k, int a, int b) {
  while (a != b) {
    a /= 2, b /= 2;
    k->highest[a] = look(k, a);
    if (b != a) k->highest[b] = look(k, b);
  }
  for (a /= 2; a > 0; a /= 2) {
    const int64_t highest = look(k, a);
    if (highest == k->highest[a]) return;
    k->highest[a] = highest;
  }
}

void skyline_raise(Skyline *k, int from, int to, int64_t by) {
  if (from >= to) return;
  int low = from + k->size, high = to + k->size;
  for (int a = low, b = high; a < b; a /= 2, b /= 2) {
    if (a & 1) raise_node(k, a++, by);
    if (b & 1) raise_node(k, --b, by);
  }
  look_up_from(k, low, high - 1);
}

void skyline_copy(Skyline *to, const Skyline *from) {
  memcpy(to->highest, from->highest, 2 * (size_t)from->size * sizeof *to->highest);
  memcpy(to->raised, from->raised, (size_t)from->size * sizeof *to->raised);
}

void skyline_raise_each(Skyline *k, const int64_t *by, int steps) {
  for (int s = 0; s < steps; s++) k->highest[k->size + s] += by[s];
  for (int i = k->size - 1; i > 0; i--) k->highest[i] = look(k, i);
}

int64_t skyline_highest(const Skyline *k, int from, int to) {
  if (from >= to) return INT64_MIN;
  /* Both ends climb; what a node above was raised by is added to all that was found below it. */
  int a = from + k->size, b = to - 1 + k->size;
  int64_t left = k->highest[a], right = k->highest[b];
  for (; a / 2 != b / 2; a /= 2, b /= 2) {
    if (!(a & 1)) left = max64(left, k->highest[a + 1]);
    if (b & 1) right = max64(right, k->highest[b - 1]);
    left += k->raised[a / 2];
    right += k->raised[b / 2];
  }
  if (a != b) left = max64(left, right);
  for (a /= 2; a > 0; a /= 2) left += k->raised[a];
  return left;
}

/* Of what lies below a node, which is `width` steps from `first` on. */
static int last_above(const Skyline *k, int node, int first, int width, int from, int to, int64_t limit) {
  if (first >= to || first + width <= from || k->highest[node] <= limit) return -1;
  if (width == 1) return first;
  const int half = width / 2, at = last_above(k, 2 * node + 1, first + half, half, from, to, limit - k->raised[node]);
  return at >= 0 ? at : last_above(k, 2 * node, first, half, from, to, limit - k->raised[node]);
}

int skyline_last_above(const Skyline *k, int from, int to, int64_t limit) { return last_above(k, 1, 0, k->size, from, to, limit); }

int64_t skyline_at(const Skyline *k, int step) { return skyline_highest(k, step, step + 1); }
