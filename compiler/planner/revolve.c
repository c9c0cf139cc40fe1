#include "revolve.h"

#include <float.h>
#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

enum { MOST_ITEMS = 320, FEW_ITEMS = 128, FEW_LEVELS = 64, LEVELS = 128 };

/* The chunks of one datum in their gaps around the fullest step, the outermost first. */
typedef struct Item {
  int first_gap, gap_count; /* in Revolve.gaps */
  int64_t bytes;
  double run_ns; /* to make it from the item before */
  int size; /* levels it takes */
  int needed; /* the first base step that needs a piece of it */
} Item;

struct Revolve {
  Item *items; /* from 1 on: item 0 is what is always there */
  int item_count, levels;
  int *gaps;
  double *sum_ns; /* of run_ns */
  double *again; /* again[(place(i, j)) * (levels + 1) + level]: item i is there, i + 1 .. j are needed in falling order */
  double *forward; /* forward[i * (levels + 1) + level]: the first run is at item i, which stays, and goes on to the last */
};

static size_t place(int i, int j) {
  return (size_t)j * (size_t)(j + 1) / 2 + (size_t)i;
}

static double *row(const Revolve *r, int i, int j) {
  return &r->again[place(i, j) * (size_t)(r->levels + 1)];
}

/* ---- items ---- */

/* What makes the pieces of an item again just before `needed`, where every other item is there. */
static double closure_ns(const Problem *p, const Geometry *g, const Revolve *r, int item, const int *item_of, int *stamp, int *stack) {
  int depth = 0;
  double sum = 0;
  const Item *it = &r->items[item];
  for (int k = 0; k < it->gap_count; k++) {
    int b = p->pieces[g->gaps[r->gaps[it->first_gap + k]].piece].creator;
    if (stamp[b] == item) continue;
    stamp[b] = item;
    stack[depth++] = b;
  }
  while (depth) {
    int b = stack[--depth];
    sum += (double)g->min_ns[b];
    for (int i = 0; i < p->steps[b].use_count; i++) {
      const ProblemUse *use = &p->uses[p->steps[b].first_use + i];
      const ProblemPiece *y = &p->pieces[use->piece];
      bool is_there = y->home != TIER_NONE || item_of[use->piece] || g->last_access[use->piece] >= it->needed;
      if (!(use->flags & PROBLEM_USE_READ) || is_there || y->creator < 0 || stamp[y->creator] == item) continue;
      stamp[y->creator] = item;
      stack[depth++] = y->creator;
    }
  }
  return sum;
}

static bool find_items(Revolve *r, const Problem *p, const Geometry *g, Arena *arena) {
  int *item_of = NEW(p->piece_count, int), *item_of_datum = NEW(p->datum_count, int), *stamp = NEW(p->step_count, int);
  int *stack = NEW(p->step_count, int), count = 0;
  int *list = NEW(g->open_count, int), list_count = 0;
  for (int i = 0; i < g->open_count; i++) {
    const PlanGap *gap = &g->gaps[g->open[i]];
    bool is_around = gap->u < g->peak_step && g->peak_step < gap->v;
    if (!is_around || !(gap->options & FATE_BIT(FATE_RECOMPUTE)) || geometry_is_pinned(gap)) continue;
    list[list_count++] = g->open[i];
    int *item = &item_of_datum[p->pieces[gap->piece].datum];
    if (!*item) {
      if (count == MOST_ITEMS) return false;
      *item = ++count;
      r->items[count] = (Item){.needed = gap->v};
    }
    item_of[gap->piece] = *item;
    r->items[*item].bytes += p->pieces[gap->piece].bytes;
    r->items[*item].gap_count++;
    if (gap->v < r->items[*item].needed) r->items[*item].needed = gap->v;
  }
  r->item_count = count;
  r->gaps = NEW(list_count, int);
  for (int i = 1, first = 0; i <= count; first += r->items[i++].gap_count) r->items[i].first_gap = first;
  int *filled = NEW(count + 1, int);
  for (int i = 0; i < list_count; i++) {
    int item = item_of[g->gaps[list[i]].piece];
    r->gaps[r->items[item].first_gap + filled[item]++] = list[i];
  }
  for (int i = 1; i <= count; i++) {
    r->items[i].run_ns = closure_ns(p, g, r, i, item_of, stamp, stack);
    r->sum_ns[i] = r->sum_ns[i - 1] + r->items[i].run_ns;
  }
  return count > 1;
}

/* What there can be at most for pieces that stay: the device less what no plan can avoid between the outermost uses. */
static int64_t find_room(const Revolve *r, const Problem *p, const Geometry *g) {
  int64_t least = INT64_MAX, all = 0;
  int from = p->step_count, to = 0;
  for (int i = 1; i <= r->item_count; i++) {
    all += r->items[i].bytes;
    for (int k = 0; k < r->items[i].gap_count; k++) {
      const PlanGap *gap = &g->gaps[r->gaps[r->items[i].first_gap + k]];
      if (gap->u < from) from = gap->u;
      if (gap->v > to) to = gap->v;
    }
  }
  for (int t = from; t <= to; t++)
    if (g->base_bytes[t] < least) least = g->base_bytes[t];
  int64_t room = p->device_bytes - least;
  return room < all ? room : all;
}

/* Levels such that the largest item takes a whole number of them: equal ones lose nothing to rounding. */
static void choose_levels(Revolve *r, int64_t room) {
  int64_t most = r->item_count <= FEW_ITEMS ? LEVELS : FEW_LEVELS, largest = 1;
  for (int i = 1; i <= r->item_count; i++)
    if (r->items[i].bytes > largest) largest = r->items[i].bytes;
  int64_t parts = (int64_t)((double)most * (double)largest / (double)room); /* of the largest item */
  int64_t quantum = parts ? (largest + parts - 1) / parts : room / most + 1;
  r->levels = room / quantum > most ? (int)most : (int)(room / quantum);
  for (int i = 1; i <= r->item_count; i++) {
    int64_t size = (r->items[i].bytes + quantum - 1) / quantum;
    r->items[i].size = size > r->levels ? r->levels + 1 : (int)size;
  }
}

/* ---- the program ---- */

/* Item k is left behind on the way from i to j; the rest with what then remains. */
static void take_split(const Revolve *r, int i, int j, int k) {
  double *to = row(r, i, j), run = r->sum_ns[k] - r->sum_ns[i];
  const double *before = row(r, i, k - 1);
  int size = k == j ? 0 : r->items[k].size;
  if (k == j) {
    for (int l = 0; l <= r->levels; l++) to[l] = to[l] < run + before[l] ? to[l] : run + before[l];
    return;
  }
  const double *after = row(r, k, j);
  for (int l = size; l <= r->levels; l++) {
    double ns = run + before[l] + after[l - size];
    to[l] = to[l] < ns ? to[l] : ns;
  }
}

static void solve(Revolve *r) {
  int m = r->item_count, width = r->levels + 1;
  for (int length = 1; length <= m; length++)
    for (int i = 0; i + length <= m; i++) {
      double *to = row(r, i, i + length);
      for (int l = 0; l < width; l++) to[l] = DBL_MAX / 4;
      for (int k = i + 1; k <= i + length; k++) take_split(r, i, i + length, k);
    }
  for (int i = m - 1; i >= 0; i--)
    for (int l = 0; l < width; l++) {
      double best = row(r, i, m)[l];
      for (int k = i + 1; k <= m; k++) {
        if (r->items[k].size > l) continue;
        double ns = r->forward[(size_t)k * (size_t)width + (size_t)(l - r->items[k].size)] + row(r, i, k - 1)[l];
        if (ns < best) best = ns;
      }
      r->forward[(size_t)i * (size_t)width + (size_t)l] = best;
    }
}

Revolve *revolve_new(Arena *arena, const Problem *problem, const Geometry *geometry) {
  if (geometry->peak_step < 0) return NULL;
  Revolve *r = arena_alloc(arena, sizeof *r);
  *r = (Revolve){.items = NEW(MOST_ITEMS + 1, Item), .sum_ns = NEW(MOST_ITEMS + 1, double)};
  if (!find_items(r, problem, geometry, arena)) return NULL;
  int64_t room = find_room(r, problem, geometry);
  if (room <= 0) return NULL;
  int m = r->item_count;
  choose_levels(r, room);
  r->again = NEW(place(m, m) * (size_t)(r->levels + 1) + (size_t)r->levels + 1, double);
  r->forward = NEW((m + 1) * (r->levels + 1), double);
  solve(r);
  return r;
}

/* ---- plans ---- */

typedef struct Writer {
  const Revolve *revolve;
  uint8_t *fates;
  int *keep_from;
} Writer;

static void write_item(const Writer *w, int item, int fate, int keep_from) {
  const Item *it = &w->revolve->items[item];
  for (int k = 0; k < it->gap_count; k++) {
    w->fates[w->revolve->gaps[it->first_gap + k]] = (uint8_t)fate;
    w->keep_from[w->revolve->gaps[it->first_gap + k]] = keep_from;
  }
}

/* From item i, which is there, down from item j: the run that makes j again leaves the item behind that is left here. */
static void write_again(const Writer *w, int i, int j, int level) {
  const Revolve *r = w->revolve;
  while (j > i) {
    int best = j;
    double least = r->sum_ns[j] - r->sum_ns[i] + row(r, i, j - 1)[level];
    for (int k = i + 1; k < j; k++) {
      int rest = level - r->items[k].size;
      if (rest < 0) continue;
      double ns = r->sum_ns[k] - r->sum_ns[i] + row(r, i, k - 1)[level] + row(r, k, j)[rest];
      if (ns < least) least = ns, best = k;
    }
    write_item(w, best, FATE_RECOMPUTE, r->items[j].needed);
    if (best < j) write_again(w, best, j, level - r->items[best].size);
    j = best - 1;
  }
}

int revolve_levels(const Revolve *r) { return r->levels; }

bool revolve_propose(const Revolve *r, int level, uint8_t *fates, int *keep_from) {
  const Writer w = {r, fates, keep_from};
  size_t width = (size_t)r->levels + 1;
  int i = 0, m = r->item_count, rest = level;
  if (level < r->levels && r->forward[level] <= r->forward[level + 1]) return false;
  while (i < m) {
    int best = 0;
    double least = row(r, i, m)[rest];
    for (int k = i + 1; k <= m; k++) {
      if (r->items[k].size > rest) continue;
      double ns = r->forward[(size_t)k * width + (size_t)(rest - r->items[k].size)] + row(r, i, k - 1)[rest];
      if (ns < least) least = ns, best = k;
    }
    write_again(&w, i, best ? best - 1 : m, rest);
    if (!best) return true;
    write_item(&w, best, FATE_KEEP, 0);
    rest -= r->items[best].size;
    i = best;
  }
  return true;
}
