#include "exact.h"

#include "timing.h"

#include <string.h>

enum { MAX_ASSIGNMENTS = 4096 };

typedef struct Exact {
  Search *search;
  Evaluator *evaluator;
  Timing *timing;
  Candidate *node;
  int *order; /* the gaps, by u: what is decided is all of the past */
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
  if (depth == x->search->gap_count) {
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

bool exact_search(Search *search, int64_t effort) {
  Evaluator *e = search->evaluator;
  const Problem *p = e->problem;
  if (!has_few_variants(search) || (e->geometry->open_count && search->gap_count < e->geometry->wide_count)) return false;
  Arena *arena = arena_new();
  Exact x = {.search = search, .evaluator = e, .timing = timing_new(arena, e), .node = candidate_new(arena, e),
             .order = order_by_time(search, arena),
             .limit = e->effort + effort, .is_complete = true};
  memset(x.node->variants, 0, (size_t)p->op_count * sizeof(int));
  for (;;) {
    geometry_stay(e->geometry, x.node->fates);
    for (int i = 0; i < search->gap_count; i++) x.node->fates[x.order[i]] = PLAN_FATE_FREE;
    branch(&x, 0);
    int i = 0;
    for (; i < search->choice_count; i++) { /* the next combination of variants */
      int op = search->choices[i];
      if (++x.node->variants[op] < p->ops[op].variant_count) break;
      x.node->variants[op] = 0;
    }
    if (i == search->choice_count || !x.is_complete) break;
  }
  arena_free(arena);
  return x.is_complete && !search->is_cut_short;
}
