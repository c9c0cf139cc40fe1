#include "filling.h"

#include "desk.h"

#include <math.h>
#include <stdlib.h>

typedef struct Stay { /* what it would save to keep a gap */
  double pays, saves; /* against the price of the room, where there is one; ns for each byte and ns of room */
  int gap;
} Stay;

static int compare_stays(const void *a, const void *b) {
  const Stay *x = a, *y = b;
  if (x->pays > y->pays * 1.0001 || y->pays > x->pays * 1.0001) return x->pays > y->pays ? -1 : 1;
  if (x->saves != y->saves) return x->saves > y->saves ? -1 : 1;
  return x->gap < y->gap ? -1 : x->gap > y->gap;
}

/* Gaps of the piece that share the one copy out. */
static double copy_ns(const Desk *d, int i, Fate fate) {
  const PlanGap *gap = &d->geometry->gaps[i];
  const ProblemPiece *piece = &d->problem->pieces[gap->piece];
  int gaps = d->geometry->gap_first[gap->piece + 1] - d->geometry->gap_first[gap->piece];
  double out = gap->is_clean ? 0 : (double)piece->d2h_ns / gaps, in = (double)piece->h2d_ns;
  if (fate == FATE_SSD) {
    if (!gap->is_clean && (double)piece->ssdw_ns / gaps > out) out = (double)piece->ssdw_ns / gaps;
    if ((double)piece->ssdr_ns > in) in = (double)piece->ssdr_ns;
  }
  return out + in;
}

/* Is the gap of the piece over step t one that is decided? Then it may have to be brought back. */
static bool is_away(const Geometry *g, int x, int t) {
  int low = g->gap_first[x], high = g->gap_first[x + 1];
  while (low < high) { /* the first gap that ends after t */
    int middle = (low + high) / 2;
    if (g->gaps[middle].v > t) high = middle;
    else low = middle + 1;
  }
  return low < g->gap_first[x + 1] && g->gaps[low].u < t && g->gaps[low].is_open;
}

/* To make piece x again before step t: the time of its producer, `price` times, and what it costs that its inputs are there. */
static double rerun_ns(const Desk *d, int x, int t, double price, int depth) {
  enum { DEEPEST = 3 };
  const Problem *p = d->problem;
  const Geometry *g = d->geometry;
  const ProblemStep *step = &p->steps[p->pieces[x].creator];
  double ns = price * (double)g->min_ns[p->pieces[x].creator];
  if (!step->can_rerun || t > step->rerun_limit) return HUGE_VAL;
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &p->uses[step->first_use + i];
    int y = use->piece;
    const ProblemPiece *input = &p->pieces[y];
    if (!(use->flags & PROBLEM_USE_READ) || input->home == TIER_DEVICE) continue;
    bool is_dead = g->last_access[y] < t, is_made = input->home == TIER_NONE && is_dead;
    if (is_made && (depth == DEEPEST || input->creator < 0 || !(input->fates & FATE_BIT(FATE_RECOMPUTE)))) return HUGE_VAL;
    if (is_made) ns += rerun_ns(d, y, t, price, depth + 1);
    else if (is_dead || is_away(g, y, t)) ns += (double)input->h2d_ns;
  }
  return ns;
}

/* Away at the least cost; the cost, or -1 where it stays. */
static double send_away(Desk *d, int i, double rerun_price) {
  static const uint8_t copies[] = {FATE_HOST, FATE_SSD};
  const PlanGap *gap = &d->geometry->gaps[i];
  double rerun = desk_may(gap, FATE_RECOMPUTE) ? rerun_ns(d, gap->piece, gap->v, rerun_price, 0) : -1;
  for (int k = 0; k < 2; k++) {
    double ns = desk_may(gap, (Fate)copies[k]) ? copy_ns(d, i, (Fate)copies[k]) : -1;
    if (ns < 0 || (rerun >= 0 && rerun <= ns)) continue;
    if (desk_assign(d, i, (Fate)copies[k])) return ns;
  }
  return rerun >= 0 && rerun < HUGE_VAL && desk_assign(d, i, FATE_RECOMPUTE) ? rerun : -1;
}

/* The same at prices; what its inputs cost when it is made again comes on top. *stay: what the room costs. */
static double send_away_priced(Desk *d, int i, const FillOptions *options, bool is_copied, double *stay) {
  const PlanGap *gap = &d->geometry->gaps[i];
  GapCosts costs = windows_costs(options->windows, gap, is_copied);
  *stay = costs.fates[FATE_KEEP];
  if (costs.fates[FATE_RECOMPUTE] < HUGE_VAL) {
    double inputs = rerun_ns(d, gap->piece, gap->v, 0, 0);
    costs.fates[FATE_RECOMPUTE] = inputs < HUGE_VAL ? options->rerun_price * costs.fates[FATE_RECOMPUTE] + costs.lane[WINDOW_H2D] * inputs : HUGE_VAL;
  }
  for (int tries = 0; tries < 3; tries++) {
    int best = FATE_HOST;
    for (int fate = FATE_SSD; fate < FATE_COUNT; fate++)
      if (costs.fates[fate] < costs.fates[best]) best = fate;
    if (costs.fates[best] == HUGE_VAL) return -1;
    if (desk_assign(d, i, (Fate)best)) return costs.fates[best];
    costs.fates[best] = HUGE_VAL;
  }
  return -1;
}

void fill(Evaluator *e, const FillOptions *options, Candidate *candidate) {
  Desk desk = desk_open(e, candidate), *d = &desk;
  const Geometry *g = d->geometry;
  const Problem *p = d->problem;
  desk_take_least_work(d, candidate);
  desk_obey_pins(d);
  Stay *stays = arena_alloc(d->arena, (size_t)g->open_count * sizeof *stays + 1);
  int count = 0;
  for (int k = 0; k < g->open_count; k++) {
    int i = g->open[k];
    const PlanGap *gap = &g->gaps[i];
    double ns = (double)(g->start_ns[gap->v] - g->end_ns[gap->u]) + 1, room = (double)p->pieces[gap->piece].bytes * ns, at_price = 0;
    bool is_copied = i > g->gap_first[gap->piece] && (d->fates[i - 1] == FATE_HOST || d->fates[i - 1] == FATE_SSD);
    double cost = options->windows ? send_away_priced(d, i, options, is_copied, &at_price) : send_away(d, i, options->rerun_price);
    if (cost < 0 || geometry_is_pinned(gap)) continue;
    /* Where many cost the same at these prices, those that take the least room go first. */
    if (options->windows) stays[count++] = (Stay){cost / (at_price + 1), 1 / room, i};
    else stays[count++] = (Stay){0, cost / room, i};
  }
  qsort(stays, (size_t)count, sizeof *stays, compare_stays);
  /* What is reserved counts as taken. */
  for (int s = 0; s < p->step_count && options->reserve > 0; s++) {
    int64_t room = p->device_bytes - g->base_bytes[s];
    if (room > 0) skyline_raise(&d->profile, s, s + 1, (int64_t)(options->reserve * (double)room));
  }
  for (int k = 0; k < count; k++)
    if (desk_has_room(d, stays[k].gap, p->device_bytes)) desk_assign(d, stays[k].gap, FATE_KEEP);
  candidate->is_canonical = options->is_canonical;
  for (int i = 0; i < g->gap_count && !candidate->is_canonical; i++) candidate->keep_from[i] = g->gaps[i].v;
  desk_close(d);
}
