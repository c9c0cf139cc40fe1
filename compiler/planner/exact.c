#include "exact.h"

#include "timing.h"

#include <string.h>

enum { MAX_ASSIGNMENTS = 4096 };

typedef struct Exact {
  Search *search;
  Evaluator *evaluator;
  Timing *timing;
  Candidate *node;
  int *order, count; /* the gaps to decide, by u: what is decided is all of the past */
  int64_t limit;
  bool is_complete;
} Exact;

/* All gaps are decided: the best g of this assignment, if it beats the incumbent. */
static void leaf(Exact *x, int64_t bound) {
  Search *search = x->search;
  Evaluator *e = x->evaluator;
  Candidate *node = x->node;
  node->is_polished = false;
  node->policies = PREFETCH_ALL;
  node->cost = evaluate(e, node->fates, node->variants, PREFETCH_ALL);
  if (node->cost < COST_INVALID) search_offer(search, node);
  int64_t limit = search->best->cost;
  if (bound >= limit) return;
  bool is_exact;
  int64_t cost = timing_search(x->timing, e, limit, &is_exact);
  if (!is_exact) x->is_complete = false;
  if (cost >= limit) return;
  node->cost = cost;
  node->is_polished = true;
  node->g_count = e->sequence->move_count;
  for (int i = 0; i < node->g_count; i++) node->g[i] = e->sequence->moves[i].g;
  search_offer(search, node);
}

static void branch(Exact *x, int depth) {
  static const uint8_t order[PLAN_FATE_COUNT] = {PLAN_FATE_RETAIN, PLAN_FATE_RECOMPUTE, PLAN_FATE_HOST, PLAN_FATE_SSD};
  const Geometry *g = x->evaluator->geometry;
  Candidate *node = x->node;
  if (!x->is_complete || x->evaluator->effort >= x->limit || search_is_done(x->search)) {
    if (x->search->best->cost > x->search->target_ns) x->is_complete = false;
    return;
  }
  x->evaluator->effort += x->evaluator->problem->step_count;
  if (!sequence_build(x->evaluator->sequence, node->fates, node->variants)) return;
  int64_t bound = timing_bound(x->timing, x->evaluator);
  if (bound >= COST_INVALID || bound >= x->search->best->cost) return;
  if (depth == x->count) {
    leaf(x, bound);
    return;
  }
  int gap = x->order[depth];
  for (int k = 0; k < PLAN_FATE_COUNT; k++) {
    if (!(g->gaps[gap].options & PLAN_FATE_BIT(order[k]))) continue;
    node->fates[gap] = order[k];
    branch(x, depth + 1);
  }
  node->fates[gap] = PLAN_FATE_FREE;
}

static bool has_few_variants(const Search *search) {
  const Problem *p = search->evaluator->problem;
  int64_t product = 1;
  for (int i = 0; i < search->choice_count; i++) {
    product *= p->ops[search->choices[i]].variant_count;
    if (product > MAX_ASSIGNMENTS) return false;
  }
  return true;
}

static int *order_by_time(const Search *search, Arena *arena) {
  const Geometry *g = search->evaluator->geometry;
  int *order = arena_alloc(arena, (size_t)search->gap_count * sizeof *order + 1);
  for (int i = 0; i < search->gap_count; i++) {
    const PlanGap *gap = &g->gaps[g->open[i]];
    int at = i;
    for (; at > 0; at--) {
      const PlanGap *other = &g->gaps[order[at - 1]];
      if (other->u < gap->u || (other->u == gap->u && other->v >= gap->v)) break;
      order[at] = order[at - 1];
    }
    order[at] = g->open[i];
  }
  return order;
}

static Exact *exact_new(Search *search, int64_t effort, Arena *arena) {
  Exact *x = arena_alloc(arena, sizeof *x);
  Evaluator *e = search->evaluator;
  if (!search->timing) search->timing = timing_new(search->arena, e);
  *x = (Exact){.search = search, .evaluator = e, .timing = search->timing, .node = candidate_new(arena, e),
               .order = order_by_time(search, arena), .count = search->gap_count, .limit = e->effort + effort};
  return x;
}

/* Every fate of the gaps in order, under every combination of the variants of these ops. */
static void enumerate(Exact *x, const int *ops, int op_count) {
  const Problem *p = x->evaluator->problem;
  x->is_complete = true;
  for (int i = 0; i < x->count; i++) x->node->fates[x->order[i]] = PLAN_FATE_FREE;
  for (int i = 0; i < op_count; i++) x->node->variants[ops[i]] = 0;
  for (;;) {
    branch(x, 0);
    int i = 0;
    for (; i < op_count; i++) { /* the next combination */
      if (++x->node->variants[ops[i]] < p->ops[ops[i]].variant_count) break;
      x->node->variants[ops[i]] = 0;
    }
    if (i == op_count || !x->is_complete) return;
  }
}

bool exact_search(Search *search, int64_t effort) {
  const Geometry *g = search->evaluator->geometry;
  if (!has_few_variants(search) || (g->open_count && search->gap_count < g->wide_count)) return false;
  Arena *arena = arena_new();
  Exact *x = exact_new(search, effort, arena);
  memset(x->node->variants, 0, (size_t)search->evaluator->problem->op_count * sizeof(int));
  geometry_stay(g, x->node->fates);
  enumerate(x, search->choices, search->choice_count);
  bool is_complete = x->is_complete;
  arena_free(arena);
  return is_complete && !search->is_cut_short;
}

/* The ops with variants whose step lies where the gaps of the window begin or end: a few of them. */
static int choices_near(const Exact *x, int *ops, int limit) {
  const Search *search = x->search;
  const Problem *p = x->evaluator->problem;
  const Geometry *g = x->evaluator->geometry;
  int count = 0, u[2] = {p->step_count, 0}, v[2] = {p->step_count, 0};
  for (int i = 0; i < x->count; i++) {
    const PlanGap *gap = &g->gaps[x->order[i]];
    if (gap->u < u[0]) u[0] = gap->u;
    if (gap->u > u[1]) u[1] = gap->u;
    if (gap->v < v[0]) v[0] = gap->v;
    if (gap->v > v[1]) v[1] = gap->v;
  }
  for (int i = 0; i < search->choice_count && count < limit; i++) {
    int t = p->op_steps[p->ops[search->choices[i]].first_step];
    if ((t >= u[0] && t <= u[1] + 1) || (t >= v[0] && t <= v[1])) ops[count++] = search->choices[i];
  }
  return count;
}

void exact_windows(Search *search, int64_t effort) {
  enum { WIDTH = 8, STRIDE = 3, CHOICES = 6 };
  if (search->gap_count == 0 || search_is_done(search)) return;
  Arena *arena = arena_new();
  Exact *x = exact_new(search, effort, arena);
  int *order = x->order, idle = 0, ops[CHOICES];
  x->count = search->gap_count < WIDTH ? search->gap_count : WIDTH;
  int last = search->gap_count - x->count, windows = last / STRIDE + 1;
  for (int first = 0; idle <= windows && x->evaluator->effort < x->limit && !search_is_done(search);) {
    int64_t cost = search->best->cost;
    candidate_copy(x->evaluator, x->node, search->best);
    x->order = order + first;
    enumerate(x, ops, choices_near(x, ops, CHOICES));
    idle = search->best->cost < cost ? 0 : idle + 1;
    first = first == last ? 0 : first + STRIDE > last ? last : first + STRIDE;
  }
  arena_free(arena);
}
