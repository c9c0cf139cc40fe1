#include "filling.h"

#include "desk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Stay { /* what it would save to keep a gap */
  bool goes_first;
  double pays, saves; /* against the price of the room, where there is one; ns for each byte and ns of room */
  int gap;
} Stay;

struct Filler {
  Arena *arena;
  Evaluator *evaluator;
  FillOptions last; /* what all is away for, */
  bool is_begun; /* if anything is */
  Desk desk;
  Candidate *away;
  Stay *stays; /* best first */
  int stay_count;
  Skyline profile; /* of what is filled */
};

static int compare_stays(const void *a, const void *b) {
  const Stay *x = a, *y = b;
  if (x->goes_first != y->goes_first) return x->goes_first ? -1 : 1;
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

enum { DEEPEST = 3, MANY_USES = 32, TIMES = 128 };

/* Nanoseconds of producers, and of the lanes by which what they read comes; compute is HUGE_VAL where that is not possible. */
typedef struct RerunCost {
  double compute, h2d, ssdr;
} RerunCost;

static const RerunCost impossible = {HUGE_VAL, 0, 0};

/* What it costs to run steps again. Of steps with many inputs it is looked at once for each of a few stretches of time. */
typedef struct Reruns {
  const Desk *desk;
  uint8_t *known; /* by step and depth: the stretch whose cost is known, from 1 */
  RerunCost *costs;
  int *readers; /* by piece: steps that share it when it is made again; NULL: it is made for each of them */
} Reruns;

static Reruns reruns_new(Desk *d, bool is_shared) {
  const Problem *p = d->problem;
  const size_t count = (size_t)p->step_count * (DEEPEST + 1);
  Reruns r = {.desk = d, .known = arena_alloc(d->arena, count + 1), .costs = arena_alloc(d->arena, (count + 1) * sizeof *r.costs)};
  if (!is_shared) return r;
  r.readers = arena_alloc(d->arena, (size_t)p->piece_count * sizeof *r.readers + 1);
  for (int i = 0; i < p->use_count; i++) r.readers[p->uses[i].piece] += (p->uses[i].flags & PROBLEM_USE_READ) != 0;
  return r;
}

static RerunCost rerun_cost(Reruns *r, int x, int t, int depth);

static RerunCost rerun_step_cost(Reruns *r, int s, int t, int depth) {
  const Problem *p = r->desk->problem;
  const Geometry *g = r->desk->geometry;
  const ProblemStep *step = &p->steps[s];
  RerunCost cost = {.compute = (double)g->min_ns[s]};
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &p->uses[step->first_use + i];
    int y = use->piece;
    const ProblemPiece *input = &p->pieces[y];
    if (!(use->flags & PROBLEM_USE_READ) || input->home == TIER_DEVICE) continue;
    bool is_dead = g->last_access[y] < t, is_made = input->home == TIER_NONE && is_dead;
    if (is_made && (depth == DEEPEST || input->creator < 0 || !(input->fates & FATE_BIT(FATE_RECOMPUTE)))) return impossible;
    if (is_made) {
      const RerunCost made = rerun_cost(r, y, t, depth + 1);
      const double share = r->readers ? 1.0 / r->readers[y] : 1;
      cost.compute += share * made.compute;
      cost.h2d += share * made.h2d;
      cost.ssdr += share * made.ssdr;
    } else if (is_dead || is_away(g, y, t)) {
      cost.h2d += (double)input->h2d_ns;
      if (input->home == TIER_SSD) cost.ssdr += (double)input->ssdr_ns;
    }
  }
  return cost;
}

/* To make piece x again before step t: the time of its producer, and what it costs that its inputs are there. */
static RerunCost rerun_cost(Reruns *r, int x, int t, int depth) {
  const Problem *p = r->desk->problem;
  const int s = p->pieces[x].creator;
  const ProblemStep *step = &p->steps[s];
  if (!step->can_rerun || t > step->rerun_limit) return impossible;
  if (step->use_count < MANY_USES) return rerun_step_cost(r, s, t, depth);
  const size_t at = (size_t)s * (DEEPEST + 1) + (size_t)depth;
  const uint8_t stretch = (uint8_t)(1 + (int64_t)t * TIMES / p->step_count);
  if (r->known[at] != stretch) {
    r->costs[at] = rerun_step_cost(r, s, t, depth);
    r->known[at] = stretch;
  }
  return r->costs[at];
}

/* Away at the least cost; the cost, or -1 where it stays. */
static double send_away(Desk *d, int i, const FillOptions *options, Reruns *reruns) {
  static const uint8_t copies[] = {FATE_HOST, FATE_SSD};
  const PlanGap *gap = &d->geometry->gaps[i];
  double rerun = -1;
  if (desk_may(gap, FATE_RECOMPUTE)) {
    const RerunCost cost = rerun_cost(reruns, gap->piece, gap->v, 0);
    rerun = options->rerun_price * cost.compute + fmax(cost.h2d, cost.ssdr);
  }
  for (int k = 0; k < 2; k++) {
    double ns = desk_may(gap, (Fate)copies[k]) ? copy_ns(d, i, (Fate)copies[k]) : -1;
    if (ns < 0 || (rerun >= 0 && rerun <= ns)) continue;
    if (desk_assign(d, i, (Fate)copies[k])) return ns;
  }
  return rerun >= 0 && rerun < HUGE_VAL && desk_assign(d, i, FATE_RECOMPUTE) ? rerun : -1;
}

/* The same at prices; what its inputs cost when it is made again comes on top. *stay: what the room costs. */
static double send_away_priced(Desk *d, int i, const FillOptions *options, Reruns *reruns, bool is_copied, double *stay) {
  const PlanGap *gap = &d->geometry->gaps[i];
  GapCosts costs = windows_costs(options->windows, gap, is_copied);
  *stay = costs.fates[FATE_KEEP];
  if (costs.fates[FATE_RECOMPUTE] < HUGE_VAL) {
    const RerunCost cost = rerun_cost(reruns, gap->piece, gap->v, 0);
    costs.fates[FATE_RECOMPUTE] = cost.compute < HUGE_VAL ? options->rerun_price * costs.fates[FATE_RECOMPUTE] + costs.lane[WINDOW_H2D] * cost.h2d + costs.lane[WINDOW_SSDR] * cost.ssdr : HUGE_VAL;
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

/* Every open gap away at the least cost, and what it would save to keep each, best first. */
static void send_all_away(Filler *f, const FillOptions *options) {
  Desk *d = &f->desk;
  const Geometry *g = d->geometry;
  const Candidate *like = options->like;
  desk_take_least_work(d, f->away);
  desk_obey_pins(d);
  Reruns reruns = reruns_new(d, options->shared_steps > 0);
  f->stays = arena_alloc(d->arena, (size_t)g->open_count * sizeof *f->stays + 1);
  f->stay_count = 0;
  for (int k = 0; k < g->open_count; k++) {
    int i = g->open[k];
    const PlanGap *gap = &g->gaps[i];
    double ns = (double)(g->start_ns[gap->v] - g->end_ns[gap->u]) + 1, room = (double)d->problem->pieces[gap->piece].bytes * ns, at_price = 0;
    const bool is_as_before = like && like->fates[i] != FATE_KEEP && desk_assign(d, i, (Fate)like->fates[i]);
    if (is_as_before && options->fills_up && !geometry_is_pinned(gap)) f->stays[f->stay_count++] = (Stay){false, 0, 1 / room, i};
    if (is_as_before) continue;
    bool is_copied = i > g->gap_first[gap->piece] && (d->fates[i - 1] == FATE_HOST || d->fates[i - 1] == FATE_SSD);
    double cost = options->windows ? send_away_priced(d, i, options, &reruns, is_copied, &at_price) : send_away(d, i, options, &reruns);
    if (cost < 0 || geometry_is_pinned(gap)) continue;
    /* Where many cost the same at these prices, those that take the least room go first. */
    const bool goes_first = like && like->fates[i] == FATE_KEEP;
    if (options->windows) f->stays[f->stay_count++] = (Stay){goes_first, cost / (at_price + 1), 1 / room, i};
    else f->stays[f->stay_count++] = (Stay){goes_first, 0, cost / room, i};
  }
  qsort(f->stays, (size_t)f->stay_count, sizeof *f->stays, compare_stays);
}

/* What is reserved counts as taken. */
static void reserve(Desk *d, double share) {
  const Problem *p = d->problem;
  Arena *arena = arena_new();
  int64_t *bytes = arena_alloc(arena, (size_t)p->step_count * sizeof *bytes + 1);
  for (int s = 0; s < p->step_count; s++) {
    const int64_t room = p->device_bytes - d->geometry->base_bytes[s];
    if (room > 0) bytes[s] = (int64_t)(share * (double)room);
  }
  skyline_raise_each(&d->profile, bytes, p->step_count);
  arena_free(arena);
}

static void keep(Desk *d, int i) {
  const PlanGap *gap = &d->geometry->gaps[i];
  d->fates[i] = FATE_KEEP;
  skyline_raise(&d->profile, gap->u + 1, gap->v, d->problem->pieces[gap->piece].bytes);
}

Filler *filler_open(Evaluator *e) {
  Arena *arena = arena_new();
  Filler *f = arena_alloc(arena, sizeof *f);
  *f = (Filler){.arena = arena, .evaluator = e, .away = candidate_new(arena, e), .profile = skyline_new(arena, NULL, e->problem->step_count)};
  return f;
}

void filler_close(Filler *f) {
  if (f->is_begun) desk_close(&f->desk);
  arena_free(f->arena);
}

/* Other shares of the room, of the same prices: all that is away is so already. */
static bool is_like_last(const Filler *f, const FillOptions *options) {
  return f->is_begun && !options->like && !f->last.like && f->last.windows == options->windows && f->last.rerun_price == options->rerun_price && (f->last.shared_steps > 0) == (options->shared_steps > 0);
}

void fill(Filler *f, const FillOptions *options, Candidate *candidate) {
  const Geometry *g = f->evaluator->geometry;
  const Candidate *like = options->like;
  if (!is_like_last(f, options)) {
    if (f->is_begun) desk_close(&f->desk);
    f->desk = desk_open(f->evaluator, f->away);
    f->is_begun = true;
    f->last = *options;
    send_all_away(f, options);
  }
  Desk desk = f->desk; /* what lies on the host and the SSD is not asked for any more */
  candidate_copy(f->evaluator, candidate, f->away);
  skyline_copy(&f->profile, &f->desk.profile);
  desk.profile = f->profile;
  desk.fates = candidate->fates;
  if (options->reserve > 0) reserve(&desk, options->reserve);
  for (int k = 0; k < f->stay_count; k++)
    if (desk_has_room(&desk, f->stays[k].gap, f->evaluator->problem->device_bytes)) keep(&desk, f->stays[k].gap);
  candidate->is_canonical = like ? like->is_canonical : options->is_canonical;
  candidate->shared_steps = like ? like->shared_steps : options->shared_steps;
  if (like && !like->is_canonical) memcpy(candidate->keep_from, like->keep_from, (size_t)g->gap_count * sizeof *candidate->keep_from);
  for (int i = 0; i < g->gap_count && !like && !candidate->is_canonical; i++) candidate->keep_from[i] = g->gaps[i].v;
}
