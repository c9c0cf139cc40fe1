/* decisions: Schedule and Plan -> what became of each value, and why. */
#include "decisions.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/planner/evaluate.h"

static int compare_decisions(const void *a, const void *b) {
  const Decision *x = a, *y = b;
  bool x_moved = x->fate != FATE_KEEP, y_moved = y->fate != FATE_KEEP;
  if (x->adds_ns != y->adds_ns) return x->adds_ns < y->adds_ns ? 1 : -1;
  if (x_moved != y_moved) return x_moved ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->value != y->value ? x->value - y->value : x->part - y->part;
}

static int64_t ns_of(double seconds) { return (int64_t)(1e9 * seconds + 0.5); }

/* A re-run is for the first of its outputs that is kept; one whose outputs are all dropped again, for what follows. */
static int piece_of_rerun(const Plan *plan, int t) {
  const Sequence *q = plan->sequence;
  const PlanRerun *rerun = &q->reruns[q->rerun[t]];
  return rerun->out_count ? q->outs[rerun->out_first] : NO_INDEX;
}

/* A piece's place in the list: those of a value stand side by side. */
static int place_of(const int *index_of, ValueId value, int part) { return index_of[value] + (part ? part - 1 : 0); }

static void attribute(const Schedule *s, Decisions *d, const int *index_of) {
  const Plan *plan = s->training_plan;
  const PlanningProblem *problem = plan->problem;
  int last = NO_INDEX;
  for (int i = 0; i < s->training_count; i++) {
    const Step *step = &s->steps[i];
    if (step->kind == STEP_KERNEL && step->is_rerun) {
      int piece = piece_of_rerun(plan, step->boundary);
      if (piece == NO_INDEX) piece = last;
      last = piece;
      if (piece == NO_INDEX) continue;
      ValueId value = problem->value_of_datum[problem->problem->pieces[piece].datum];
      Decision *decision = &d->list[place_of(index_of, value, problem_part_of_piece(problem, piece))];
      decision->adds_ns += ns_of(step->cost.seconds - step->slowed_seconds);
      decision->fate = FATE_RECOMPUTE;
    }
    if (step->kind == STEP_KERNEL && !step->is_rerun) d->keep_all_ns += ns_of(step->cost.seconds - step->slowed_seconds);
    if (step->kind != STEP_KERNEL && copy_is_exchange(&s->copies[step->copy])) { /* which no decision makes */
      *(step->kind == STEP_WAIT ? &d->wait_seconds : &d->transfer_seconds) += step->cost.seconds;
      continue;
    }
    if (step->kind == STEP_COPY) {
      const Copy *copy = &s->copies[step->copy];
      Decision *decision = &d->list[place_of(index_of, copy->value, copy->part)];
      decision->fate = tier_fate(copy->tier);
      decision->adds_ns += ns_of(copy->slows_seconds);
      d->transfer_seconds += step->cost.seconds;
      if (copy_touches_device(copy)) (copy->is_out ? d->out_bytes : d->in_bytes)[copy->tier] += copy->bytes;
    }
    if (step->kind == STEP_WAIT) {
      const Copy *copy = &s->copies[step->copy];
      d->list[place_of(index_of, copy->value, copy->part)].adds_ns += ns_of(step->cost.seconds);
      d->wait_seconds += step->cost.seconds;
    }
  }
}

Decisions *decisions(Arena *arena, const Schedule *schedule, const Pins *pins) {
  Decisions *d = arena_alloc(arena, sizeof *d);
  if (!schedule->training_plan) return d;
  const Kernels *kernels = schedule->training_plan->problem->kernels;
  const Parts *parts = schedule->training_plan->problem->parts;
  const Graph *graph = kernels->graph;
  int *index_of = arena_alloc(arena, (size_t)(graph->value_count + 1) * sizeof *index_of);
  for (int v = 0; v < graph->value_count; v++) {
    if (!kernels->is_stored[v] && resident_away(schedule->training_plan->problem->residents, graph, v) < 0) continue;
    index_of[v] = d->count;
    for (int part = parts->is_cut[v]; part <= (parts->is_cut[v] ? parts_piece_count(parts, v) : 0); part++) {
      Decision decision = {.value = v, .part = part, .bytes = parts_bytes(parts, v, part), .fate = FATE_KEEP, .is_pinned = pins && pins->fates[v]};
      ARENA_PUSH(arena, d->list, d->count, decision);
    }
  }
  attribute(schedule, d, index_of);
  for (int i = 0; i < d->count; i++) d->decided_count += d->list[i].fate != FATE_KEEP;
  qsort(d->list, (size_t)d->count, sizeof *d->list, compare_decisions);
  return d;
}

/* ---- alternatives ---- */

/* The plan as a fate for each gap of the base order. */
static uint8_t *fates_of(Arena *arena, const Plan *plan, const Geometry *g) {
  const Sequence *q = plan->sequence;
  uint8_t *fates = arena_alloc(arena, (size_t)g->gap_count + 1);
  for (int i = 0; i < g->gap_count; i++) {
    const PlanGap *gap = &g->gaps[i];
    int u = q->position[gap->u], v = q->position[gap->v];
    for (int m = 0; m < q->move_count; m++)
      if (q->moves[m].piece == gap->piece && q->moves[m].after >= u && q->moves[m].after < v) fates[i] = (uint8_t)tier_fate(q->moves[m].to);
    for (int t = u + 1; t < v; t++)
      for (int k = 0; q->rerun[t] >= 0 && k < q->reruns[q->rerun[t]].out_count; k++)
        if (q->outs[q->reruns[q->rerun[t]].out_first + k] == gap->piece) fates[i] = FATE_RECOMPUTE;
  }
  return fates;
}

static int64_t device_excess(const Evaluator *e) {
  int64_t most = 0;
  for (int t = 0; t < e->sequence->count; t++)
    if (e->sequence->need_bytes[t] > most) most = e->sequence->need_bytes[t];
  return most > e->problem->device_bytes ? most - e->problem->device_bytes : 0;
}

/* What is missing on the first tier that is short of it. */
static void find_excess(const Evaluator *e, Alternative *a) {
  const int64_t over[TIER_COUNT] = {device_excess(e), e->sequence->host_peak_bytes - e->problem->host_bytes, e->sequence->ssd_peak_bytes - e->problem->ssd_bytes};
  for (int t = 0; t < TIER_COUNT && a->over_bytes == 0; t++)
    if (over[t] > 0) a->over_bytes = over[t], a->short_tier = (Tier)t;
}

static bool is_gap_of(const Plan *plan, const Geometry *g, int gap, const Decision *decision) {
  int piece = g->gaps[gap].piece;
  return plan->problem->value_of_datum[plan->problem->problem->pieces[piece].datum] == decision->value &&
         problem_part_of_piece(plan->problem, piece) == decision->part;
}

static int widest_gap(const Plan *plan, const Geometry *g, const Decision *decision) {
  int widest = NO_INDEX;
  for (int i = 0; i < g->gap_count; i++)
    if (is_gap_of(plan, g, i, decision) && (widest < 0 || g->gaps[i].v - g->gaps[i].u > g->gaps[widest].v - g->gaps[widest].u)) widest = i;
  return widest;
}

/* The value with another fate: in its widest gap where it is kept, else in the gaps in which it is not. False: not allowed. */
static bool change_fate(const Plan *plan, const Geometry *g, const Decision *decision, int fate, uint8_t *fates) {
  int widest = widest_gap(plan, g, decision), count = 0;
  for (int i = 0; i < g->gap_count; i++) {
    bool takes_part = decision->fate == FATE_KEEP ? i == widest : fates[i] != FATE_KEEP;
    if (!takes_part || !is_gap_of(plan, g, i, decision)) continue;
    if (!(g->gaps[i].options & FATE_BIT(fate))) return false;
    fates[i] = (uint8_t)fate;
    count++;
  }
  return count > 0;
}

static void weigh(Evaluator *e, const Plan *plan, const uint8_t *fates, uint8_t *changed, int64_t base_ns, Decision *decision) {
  for (int fate = 0; fate < FATE_COUNT; fate++) {
    if (fate == (int)decision->fate) continue;
    memcpy(changed, fates, (size_t)e->geometry->gap_count);
    if (!change_fate(plan, e->geometry, decision, fate, changed)) continue;
    int64_t cost = evaluate(e, changed, (RemadeStays){0}, plan->sequence->variant, PREFETCH_ALL);
    if (cost >= COST_ILLEGAL) continue;
    Alternative other = {.fate = (Fate)fate, .fits = cost < COST_INVALID, .adds_ns = decision->adds_ns + cost - base_ns};
    if (!other.fits) find_excess(e, &other);
    decision->alternatives[decision->alternative_count++] = other;
  }
}

void decisions_weigh(Arena *arena, const Plan *plan, Decisions *d, int count) {
  const Problem *p = plan->problem->problem;
  Geometry *g = geometry_make(p, arena);
  Evaluator *e = evaluator_new(arena, p, g);
  uint8_t *fates = fates_of(arena, plan, g), *changed = arena_alloc(arena, (size_t)g->gap_count + 1);
  for (int i = 0; i < count && i < d->count; i++) weigh(e, plan, fates, changed, plan->simulation->makespan_ns, &d->list[i]);
}
