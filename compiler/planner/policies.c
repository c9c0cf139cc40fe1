#include "policies.h"

#include "desk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool covers_more(const Desk *d, int i, int64_t bytes) {
  const PlanGap *gap = &d->geometry->gaps[i];
  return skyline_highest(&d->profile, gap->u + 1, gap->v) > bytes;
}

static bool covers_excess(const Desk *d, int i) { return covers_more(d, i, d->problem->device_bytes); }

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
  return desk_may(&d->geometry->gaps[i], FATE_RECOMPUTE) ? rerun_ns(d, i) / gap_bytes(d, i) : HUGE_VAL;
}

static double idle_first(const Desk *d, int i) {
  const PlanGap *gap = &d->geometry->gaps[i];
  const ProblemPiece *piece = &d->problem->pieces[gap->piece];
  double away = (double)(d->geometry->start_ns[gap->v] - d->geometry->end_ns[gap->u]);
  return (double)(piece->d2h_ns + piece->h2d_ns) - away; /* the longer the spare time, the earlier */
}

static void all_recompute(Desk *d) {
  for (int k = 0; k < d->geometry->open_count; k++) desk_assign(d, d->geometry->open[k], FATE_RECOMPUTE);
}

static void all_offload(Desk *d) {
  for (int k = 0; k < d->geometry->open_count; k++) desk_move_away(d, d->geometry->open[k]);
}

static void keep_every(Desk *d, int period) {
  int count = 0;
  for (int k = 0; k < d->geometry->open_count; k++)
    if (desk_may(&d->geometry->gaps[d->geometry->open[k]], FATE_RECOMPUTE))
      desk_assign(d, d->geometry->open[k], count++ % period ? FATE_RECOMPUTE : FATE_KEEP);
}

/* Cache what saves most bytes of transfer: the largest tensors that still fit stay, all others travel. */
static void roc(Desk *d) {
  int count;
  Scored *list = rank(d, smaller_first, &count);
  all_offload(d);
  for (int k = count - 1; k >= 0; k--) {
    if (d->fates[list[k].gap] == FATE_KEEP) continue;
    if (desk_has_room(d, list[k].gap, d->problem->device_bytes)) desk_assign(d, list[k].gap, FATE_KEEP);
  }
}

/* First fit from the last value to the first: device, else host, else SSD. */
static void flexgnn(Desk *d) {
  const Geometry *g = d->geometry;
  for (int k = 0; k < g->open_count; k++) { /* nothing is there yet */
    const PlanGap *gap = &g->gaps[g->open[k]];
    if (!geometry_is_pinned(gap) && (desk_may(gap, FATE_HOST) || desk_may(gap, FATE_SSD)))
      skyline_raise(&d->profile, gap->u + 1, gap->v, -d->problem->pieces[gap->piece].bytes);
  }
  for (int k = g->open_count - 1; k >= 0; k--) {
    int i = g->open[k];
    const PlanGap *gap = &g->gaps[i];
    int64_t bytes = d->problem->pieces[gap->piece].bytes;
    if (geometry_is_pinned(gap) || (!desk_may(gap, FATE_HOST) && !desk_may(gap, FATE_SSD))) continue;
    skyline_raise(&d->profile, gap->u + 1, gap->v, bytes);
    if (covers_excess(d, i)) desk_move_away(d, i);
  }
}

/* Knapsack on saved activations: what is dear to recompute per byte stays, as far as it fits. */
static void torch_budget(Desk *d) {
  int count;
  all_recompute(d);
  Scored *list = rank(d, recompute_per_byte, &count);
  for (int k = count - 1; k >= 0; k--) {
    int i = list[k].gap;
    if (d->fates[i] == FATE_KEEP) continue;
    if (desk_has_room(d, i, d->problem->device_bytes)) desk_assign(d, i, FATE_KEEP);
  }
}

typedef struct Queue { /* the gaps of one datum, by u: those before `next` are over, or dropped */
  int *gaps, count, next;
} Queue;

static Queue *queue_by_datum(Desk *d) {
  const Geometry *g = d->geometry;
  Queue *queues = arena_alloc(d->arena, (size_t)d->problem->datum_count * sizeof *queues + 1);
  for (int k = 0; k < g->open_count; k++)
    if (desk_may(&g->gaps[g->open[k]], FATE_RECOMPUTE)) queues[d->problem->pieces[g->gaps[g->open[k]].piece].datum].count++;
  for (int x = 0; x < d->problem->datum_count; x++) {
    queues[x].gaps = arena_alloc(d->arena, (size_t)queues[x].count * sizeof(int) + 1);
    queues[x].count = 0;
  }
  for (int k = 0; k < g->open_count; k++) {
    Queue *queue = &queues[d->problem->pieces[g->gaps[g->open[k]].piece].datum];
    if (desk_may(&g->gaps[g->open[k]], FATE_RECOMPUTE)) queue->gaps[queue->count++] = g->open[k];
  }
  return queues;
}

/* The stalest gap of a datum over step s that stays so far, or -1. */
static int stalest(const Desk *d, Queue *queue, int s) {
  const PlanGap *gaps = d->geometry->gaps;
  while (queue->next < queue->count && (gaps[queue->gaps[queue->next]].v <= s || d->fates[queue->gaps[queue->next]] != FATE_KEEP)) queue->next++;
  return queue->next < queue->count && gaps[queue->gaps[queue->next]].u < s ? queue->gaps[queue->next] : -1;
}

/* Online: whenever a step does not fit, drop the piece with the least cost / (bytes * staleness). The chunks of a datum cost
 * about the same for each byte, so of each datum the stalest is looked at. */
static void dtr(Desk *d) {
  const Geometry *g = d->geometry;
  Queue *queues = queue_by_datum(d);
  for (int s = 0; s < d->problem->step_count; s++)
    while (skyline_at(&d->profile, s) > d->problem->device_bytes) {
      int best = -1;
      double least = HUGE_VAL;
      for (int x = 0; x < d->problem->datum_count; x++) {
        int i = stalest(d, &queues[x], s);
        if (i < 0) continue;
        double staleness = (double)(g->start_ns[s] - g->end_ns[g->gaps[i].u]) + 1;
        double score = (rerun_ns(d, i) + 1) / (gap_bytes(d, i) * staleness);
        if (score < least) {
          least = score;
          best = i;
        }
      }
      if (best < 0) break;
      desk_assign(d, best, FATE_RECOMPUTE);
    }
}

/* Swap what has the most spare time first, while the transfers hide; then recompute by bytes per second. */
static void capuchin(Desk *d) {
  int count;
  Scored *list = rank(d, idle_first, &count);
  for (int k = 0; k < count; k++)
    if (list[k].score <= 0 && covers_excess(d, list[k].gap)) desk_assign(d, list[k].gap, FATE_HOST);
  list = rank(d, recompute_per_byte, &count);
  for (int k = 0; k < count; k++)
    if (d->fates[list[k].gap] == FATE_KEEP && covers_excess(d, list[k].gap)) desk_assign(d, list[k].gap, FATE_RECOMPUTE);
  for (int k = 0; k < count; k++)
    if (d->fates[list[k].gap] == FATE_KEEP && covers_excess(d, list[k].gap)) desk_move_away(d, list[k].gap);
}

/* Between its last use in the forward pass and the first one after it. */
static bool is_saved(const Desk *d, int i) {
  const Problem *p = d->problem;
  const PlanGap *gap = &d->geometry->gaps[i];
  return p->ops[p->steps[gap->u].op].phase == PROBLEM_PHASE_FORWARD && p->ops[p->steps[gap->v].op].phase != PROBLEM_PHASE_FORWARD;
}

/* Where what its producer reads is there or can be made again, whatever fate that has. */
static bool make_again(Desk *d, int i) {
  const PlanGap *gap = &d->geometry->gaps[i];
  return gap->v <= d->geometry->remake_limit[gap->piece] && desk_assign(d, i, FATE_RECOMPUTE);
}

static void send(Desk *d, int i) { (void)(desk_move_away(d, i) || make_again(d, i)); }

static bool try_fates(Desk *d, Candidate *candidate) {
  candidate->cost = evaluate(d->evaluator, d->fates, candidate_stays(candidate), candidate->variants, PREFETCH_ALL);
  return candidate->cost < COST_INVALID;
}

/* What layers save for the backward pass is away where it has one of these roles, else made again. What is used again in the same pass stays while there is
 * room, else it is away. Where that does not fit, as what runs again needs room, too, more and more of it is away; at last what was made again on the way to
 * something else leaves again, too. */
static void by_role(Desk *d, unsigned roles, Candidate *candidate) {
  enum { SHARES = 4 };
  const Geometry *g = d->geometry;
  for (int k = 0; k < g->open_count; k++) {
    const int i = g->open[k];
    const ValueRole role = d->problem->data[d->problem->pieces[g->gaps[i].piece].datum].role;
    if (is_saved(d, i) && (roles & 1u << role || !make_again(d, i))) send(d, i);
  }
  for (int share = SHARES; share >= 0; share--) {
    for (int k = 0; k < g->open_count; k++)
      if (d->fates[g->open[k]] == FATE_KEEP && covers_more(d, g->open[k], d->problem->device_bytes / SHARES * share)) send(d, g->open[k]);
    if (try_fates(d, candidate)) return;
  }
  candidate->is_canonical = false;
  memset(candidate->keep_from, 0, (size_t)g->gap_count * sizeof *candidate->keep_from);
  for (int k = 0; k < g->open_count; k++) candidate->keep_from[g->open[k]] = g->gaps[g->open[k]].v;
  try_fates(d, candidate);
}

/* Compact copies of what each layer reads; HongTu also sums over neighbours with nothing learned on their edges. */
enum { SAVED_BY_GRINNDER = 1 << ROLE_INPUT, SAVED_BY_HONGTU = SAVED_BY_GRINNDER | 1 << ROLE_AGGREGATE };

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
    int64_t cost = evaluate(e, d->fates, (RemadeStays){0}, candidate->variants, PREFETCH_ALL);
    if (cost >= candidate->cost) continue;
    candidate->cost = cost;
    memcpy(best, d->fates, gaps);
  }
  memcpy(d->fates, best, gaps);
}

void policy_plan(Evaluator *evaluator, Policy policy, Candidate *candidate) {
  Desk desk = desk_open(evaluator, candidate);
  candidate->cost = COST_ILLEGAL;
  desk_obey_pins(&desk);
  switch (policy) {
    case POLICY_RECOMPUTE: all_recompute(&desk); break;
    case POLICY_OFFLOAD: all_offload(&desk); break;
    case POLICY_CHECKPOINT: best_checkpoint(&desk, candidate); break;
    case POLICY_ROC: roc(&desk); break;
    case POLICY_FLEXGNN: flexgnn(&desk); break;
    case POLICY_TORCH_BUDGET: torch_budget(&desk); break;
    case POLICY_DTR: dtr(&desk); break;
    case POLICY_CAPUCHIN: capuchin(&desk); break;
    case POLICY_HONGTU: by_role(&desk, SAVED_BY_HONGTU, candidate); break;
    case POLICY_GRINNDER: by_role(&desk, SAVED_BY_GRINNDER, candidate); break;
    case POLICY_KEEP: case POLICY_COUNT: break;
  }
  if (candidate->cost == COST_ILLEGAL)
    candidate->cost = evaluate(evaluator, candidate->fates, (RemadeStays){0}, candidate->variants, PREFETCH_ALL);
  desk_close(&desk);
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
  Desk desk = desk_open(evaluator, candidate);
  const Geometry *g = desk.geometry;
  desk_take_least_work(&desk, candidate);
  desk_obey_pins(&desk);
  for (int k = 0; k < g->open_count; k++)
    for (int i = 0; i < 3; i++)
      if (desk_assign(&desk, g->open[k], (Fate)orders[preference][i])) break;
  candidate->cost = evaluate(evaluator, candidate->fates, (RemadeStays){0}, candidate->variants, PREFETCH_ALL);
  desk_close(&desk);
}
