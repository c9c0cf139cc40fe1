#include "policies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Desk { /* what a policy works on */
  Evaluator *evaluator;
  const Problem *problem;
  const Geometry *geometry;
  Arena *arena;
  uint8_t *fates;
  int64_t *profile; /* bytes at each base step under the fates so far, every g = v */
  int64_t *host, *ssd;
} Desk;

static Desk open_desk(Evaluator *evaluator, Candidate *candidate) {
  const Problem *p = evaluator->problem;
  Arena *arena = arena_new();
  size_t bytes = ((size_t)p->step_count + 2) * sizeof(int64_t);
  Desk desk = {.evaluator = evaluator, .problem = p, .geometry = evaluator->geometry, .arena = arena,
               .fates = candidate->fates, .profile = arena_alloc(arena, bytes), .host = arena_alloc(arena, bytes),
               .ssd = arena_alloc(arena, bytes)};
  memset(candidate->fates, FATE_KEEP, (size_t)desk.geometry->gap_count);
  memset(candidate->variants, 0, (size_t)p->op_count * sizeof *candidate->variants);
  candidate->is_canonical = true;
  candidate->is_polished = false;
  candidate->policies = PREFETCH_ALL;
  for (int s = 0; s < p->step_count; s++) {
    int op = p->steps[s].op;
    desk.profile[s] = desk.geometry->retain_bytes[s] - desk.geometry->max_work[s] +
                      p->ops[op].variants[candidate->variants[op]].work_bytes;
  }
  return desk;
}

static void add_range(int64_t *profile, int from, int to, int64_t bytes) {
  for (int s = from; s < to; s++) profile[s] += bytes;
}

static bool fits_range(const int64_t *profile, int from, int to, int64_t bytes, int64_t limit) {
  for (int s = from; s < to; s++)
    if (profile[s] + bytes > limit) return false;
  return true;
}

static bool may(const PlanGap *gap, Fate fate) {
  return (gap->options & FATE_BIT(fate)) != 0;
}

/* Give a gap a fate; false when the tier is full or the fate not allowed. */
static bool assign(Desk *d, int i, Fate fate) {
  const PlanGap *gap = &d->geometry->gaps[i];
  int64_t bytes = d->problem->pieces[gap->piece].bytes;
  if (!may(gap, fate)) return false;
  if (d->fates[i] == fate) return true;
  if (!gap->is_clean && fate == FATE_HOST) {
    if (!fits_range(d->host, gap->u + 1, gap->v + 1, bytes, d->problem->host_bytes)) return false;
    add_range(d->host, gap->u + 1, gap->v + 1, bytes);
  }
  if (!gap->is_clean && fate == FATE_SSD) {
    if (!fits_range(d->ssd, gap->u + 1, gap->v + 1, bytes, d->problem->ssd_bytes)) return false;
    add_range(d->ssd, gap->u + 1, gap->v + 1, bytes);
  }
  if (!gap->is_clean && d->fates[i] == FATE_HOST) add_range(d->host, gap->u + 1, gap->v + 1, -bytes);
  if (!gap->is_clean && d->fates[i] == FATE_SSD) add_range(d->ssd, gap->u + 1, gap->v + 1, -bytes);
  if (fate != FATE_KEEP && d->fates[i] == FATE_KEEP) add_range(d->profile, gap->u + 1, gap->v, -bytes);
  if (fate == FATE_KEEP && d->fates[i] != FATE_KEEP) add_range(d->profile, gap->u + 1, gap->v, bytes);
  d->fates[i] = (uint8_t)fate;
  return true;
}

static bool move_away(Desk *d, int i) {
  return assign(d, i, FATE_HOST) || assign(d, i, FATE_SSD);
}

/* What is pinned has left before a policy begins; it may give it another of its fates. */
static void obey_pins(Desk *d) {
  const Geometry *g = d->geometry;
  for (int k = 0; k < g->open_count; k++) {
    int i = g->open[k];
    if (!geometry_is_pinned(&g->gaps[i])) continue;
    if (move_away(d, i) || assign(d, i, FATE_RECOMPUTE)) continue;
    while (!may(&g->gaps[i], (Fate)d->fates[i])) d->fates[i]++; /* no room: that plan will not fit */
  }
}

static bool covers_excess(const Desk *d, int i) {
  const PlanGap *gap = &d->geometry->gaps[i];
  return !fits_range(d->profile, gap->u + 1, gap->v, 0, d->problem->device_bytes);
}

static double rerun_ns(const Desk *d, int i) {
  return (double)d->geometry->min_ns[d->problem->pieces[d->geometry->gaps[i].piece].creator];
}

static double gap_bytes(const Desk *d, int i) {
  return (double)d->problem->pieces[d->geometry->gaps[i].piece].bytes + 1;
}

typedef struct Scored {
  double score;
  int gap;
} Scored;

static int compare_scored(const void *a, const void *b) {
  const Scored *x = a, *y = b;
  if (x->score != y->score) return x->score < y->score ? -1 : 1;
  return x->gap < y->gap ? -1 : x->gap > y->gap;
}

static Scored *rank(Desk *d, double (*score)(const Desk *, int), int *count) {
  const Geometry *g = d->geometry;
  Scored *list = arena_alloc(d->arena, (size_t)g->open_count * sizeof *list + 1);
  *count = g->open_count;
  for (int k = 0; k < *count; k++) list[k] = (Scored){score(d, g->open[k]), g->open[k]};
  qsort(list, (size_t)*count, sizeof *list, compare_scored);
  return list;
}

static double smaller_first(const Desk *d, int i) {
  return gap_bytes(d, i);
}

static double recompute_per_byte(const Desk *d, int i) {
  return may(&d->geometry->gaps[i], FATE_RECOMPUTE) ? rerun_ns(d, i) / gap_bytes(d, i) : HUGE_VAL;
}

static double idle_first(const Desk *d, int i) {
  const PlanGap *gap = &d->geometry->gaps[i];
  const ProblemPiece *piece = &d->problem->pieces[gap->piece];
  double away = (double)(d->geometry->start_ns[gap->v] - d->geometry->end_ns[gap->u]);
  return (double)(piece->d2h_ns + piece->h2d_ns) - away; /* the longer the spare time, the earlier */
}

static void all_recompute(Desk *d) {
  for (int k = 0; k < d->geometry->open_count; k++) assign(d, d->geometry->open[k], FATE_RECOMPUTE);
}

static void all_offload(Desk *d) {
  for (int k = 0; k < d->geometry->open_count; k++) move_away(d, d->geometry->open[k]);
}

static void keep_every(Desk *d, int period) {
  int count = 0;
  for (int k = 0; k < d->geometry->open_count; k++)
    if (may(&d->geometry->gaps[d->geometry->open[k]], FATE_RECOMPUTE))
      assign(d, d->geometry->open[k], count++ % period ? FATE_RECOMPUTE : FATE_KEEP);
}

/* Cache what saves most bytes of transfer: the largest tensors that still fit stay, all others travel. */
static void roc(Desk *d) {
  int count;
  Scored *list = rank(d, smaller_first, &count);
  all_offload(d);
  for (int k = count - 1; k >= 0; k--) {
    const PlanGap *gap = &d->geometry->gaps[list[k].gap];
    if (d->fates[list[k].gap] == FATE_KEEP) continue;
    if (fits_range(d->profile, gap->u + 1, gap->v, (int64_t)gap_bytes(d, list[k].gap) - 1, d->problem->device_bytes))
      assign(d, list[k].gap, FATE_KEEP);
  }
}

/* First fit from the last value to the first: device, else host, else SSD. */
static void flexgnn(Desk *d) {
  const Geometry *g = d->geometry;
  for (int k = 0; k < g->open_count; k++) { /* nothing is there yet */
    const PlanGap *gap = &g->gaps[g->open[k]];
    if (!geometry_is_pinned(gap) && (may(gap, FATE_HOST) || may(gap, FATE_SSD)))
      add_range(d->profile, gap->u + 1, gap->v, -d->problem->pieces[gap->piece].bytes);
  }
  for (int k = g->open_count - 1; k >= 0; k--) {
    int i = g->open[k];
    const PlanGap *gap = &g->gaps[i];
    int64_t bytes = d->problem->pieces[gap->piece].bytes;
    if (geometry_is_pinned(gap) || (!may(gap, FATE_HOST) && !may(gap, FATE_SSD))) continue;
    add_range(d->profile, gap->u + 1, gap->v, bytes);
    if (covers_excess(d, i)) move_away(d, i);
  }
}

/* Knapsack on saved activations: what is dear to recompute per byte stays, as far as it fits. */
static void torch_budget(Desk *d) {
  int count;
  all_recompute(d);
  Scored *list = rank(d, recompute_per_byte, &count);
  for (int k = count - 1; k >= 0; k--) {
    int i = list[k].gap;
    const PlanGap *gap = &d->geometry->gaps[i];
    if (d->fates[i] == FATE_KEEP) continue;
    if (fits_range(d->profile, gap->u + 1, gap->v, d->problem->pieces[gap->piece].bytes, d->problem->device_bytes))
      assign(d, i, FATE_KEEP);
  }
}

/* Online: whenever a step does not fit, drop the piece with the least cost / (bytes * staleness). */
static void dtr(Desk *d) {
  const Geometry *g = d->geometry;
  for (int s = 0; s < d->problem->step_count; s++)
    while (d->profile[s] > d->problem->device_bytes) {
      int best = -1;
      double least = HUGE_VAL;
      for (int k = 0; k < g->open_count; k++) {
        int i = g->open[k];
        const PlanGap *gap = &g->gaps[i];
        if (gap->u >= s) break;
        if (gap->v <= s || d->fates[i] != FATE_KEEP || !may(gap, FATE_RECOMPUTE)) continue;
        double staleness = (double)(g->start_ns[s] - g->end_ns[gap->u]) + 1;
        double score = (rerun_ns(d, i) + 1) / (gap_bytes(d, i) * staleness);
        if (score < least) {
          least = score;
          best = i;
        }
      }
      if (best < 0) break;
      assign(d, best, FATE_RECOMPUTE);
    }
}

/* Swap what has the most spare time first, while the transfers hide; then recompute by bytes per second. */
static void capuchin(Desk *d) {
  int count;
  Scored *list = rank(d, idle_first, &count);
  for (int k = 0; k < count; k++)
    if (list[k].score <= 0 && covers_excess(d, list[k].gap)) assign(d, list[k].gap, FATE_HOST);
  list = rank(d, recompute_per_byte, &count);
  for (int k = 0; k < count; k++)
    if (d->fates[list[k].gap] == FATE_KEEP && covers_excess(d, list[k].gap)) assign(d, list[k].gap, FATE_RECOMPUTE);
  for (int k = 0; k < count; k++)
    if (d->fates[list[k].gap] == FATE_KEEP && covers_excess(d, list[k].gap)) move_away(d, list[k].gap);
}

static void best_checkpoint(Desk *d, Candidate *candidate) {
  Evaluator *e = d->evaluator;
  size_t gaps = (size_t)d->geometry->gap_count;
  uint8_t *best = arena_alloc(d->arena, gaps + 1);
  int root = (int)lround(sqrt((double)d->geometry->open_count));
  const int periods[] = {root < 2 ? 2 : root, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  memcpy(best, d->fates, gaps);
  for (int k = 0; k < 10; k++) {
    if (k && (periods[k] == periods[0] || periods[k] > d->geometry->open_count)) continue;
    keep_every(d, periods[k]);
    int64_t cost = evaluate(e, d->fates, NULL, candidate->variants, PREFETCH_ALL);
    if (cost >= candidate->cost) continue;
    candidate->cost = cost;
    memcpy(best, d->fates, gaps);
  }
  memcpy(d->fates, best, gaps);
}

void policy_plan(Evaluator *evaluator, Policy policy, Candidate *candidate) {
  Desk desk = open_desk(evaluator, candidate);
  candidate->cost = COST_ILLEGAL;
  obey_pins(&desk);
  switch (policy) {
    case POLICY_RECOMPUTE: all_recompute(&desk); break;
    case POLICY_OFFLOAD: all_offload(&desk); break;
    case POLICY_CHECKPOINT: best_checkpoint(&desk, candidate); break;
    case POLICY_ROC: roc(&desk); break;
    case POLICY_FLEXGNN: flexgnn(&desk); break;
    case POLICY_TORCH_BUDGET: torch_budget(&desk); break;
    case POLICY_DTR: dtr(&desk); break;
    case POLICY_CAPUCHIN: capuchin(&desk); break;
    case POLICY_KEEP: case POLICY_COUNT: break;
  }
  if (policy != POLICY_CHECKPOINT)
    candidate->cost = evaluate(evaluator, candidate->fates, NULL, candidate->variants, PREFETCH_ALL);
  arena_free(desk.arena);
}

bool policy_fits(const Problem *problem, Policy policy) {
  Arena *arena = arena_new();
  Evaluator *evaluator = evaluator_new(arena, problem, geometry_make(problem, arena));
  Candidate *candidate = candidate_new(arena, evaluator);
  policy_plan(evaluator, policy, candidate);
  bool ok = candidate->cost < COST_INVALID;
  arena_free(arena);
  return ok;
}

void policy_evict_all(Evaluator *evaluator, int preference, Candidate *candidate) {
  static const uint8_t orders[6][3] = {
      {FATE_HOST, FATE_SSD, FATE_RECOMPUTE}, {FATE_RECOMPUTE, FATE_HOST, FATE_SSD},
      {FATE_SSD, FATE_HOST, FATE_RECOMPUTE}, {FATE_HOST, FATE_RECOMPUTE, FATE_SSD},
      {FATE_SSD, FATE_RECOMPUTE, FATE_HOST}, {FATE_RECOMPUTE, FATE_SSD, FATE_HOST}};
  Desk desk = open_desk(evaluator, candidate);
  const Geometry *g = desk.geometry;
  const Problem *p = desk.problem;
  for (int op = 0; op < p->op_count; op++) /* the variant with the least workspace */
    for (int v = 1; v < p->ops[op].variant_count; v++)
      if (p->ops[op].variants[v].work_bytes < p->ops[op].variants[candidate->variants[op]].work_bytes)
        candidate->variants[op] = v;
  for (int s = 0; s < p->step_count; s++) {
    const ProblemOp *op = &p->ops[p->steps[s].op];
    int64_t work = op->variants[candidate->variants[p->steps[s].op]].host_work_bytes;
    int end = g->join[s] > s ? g->join[s] : s;
    if (work) add_range(desk.host, s, end + 1, work);
  }
  obey_pins(&desk);
  for (int k = 0; k < g->open_count; k++)
    for (int i = 0; i < 3; i++)
      if (assign(&desk, g->open[k], (Fate)orders[preference][i])) break;
  candidate->cost = evaluate(evaluator, candidate->fates, NULL, candidate->variants, PREFETCH_ALL);
  arena_free(desk.arena);
}
