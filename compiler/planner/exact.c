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
  bool is_complete, is_proof;
  /* for bounds that hold: */
  Candidate *relaxed;
  uint64_t *reach; /* reach[i * words ...]: the steps that may run again for the i-th gap of the order */
  int words, *stack;
} Exact;

/* ---- bounds ---- */

/* May the piece be absent before base step t? Then whatever reads it there in a re-run makes it again as well. */
static bool may_be_absent(const Geometry *g, const uint8_t *fates, int piece, int t) {
  for (int i = g->gap_first[piece]; i < g->gap_first[piece + 1]; i++) {
    const PlanGap *gap = &g->gaps[i];
    if (t <= gap->u || t > gap->v) continue;
    return fates[i] == FATE_RECOMPUTE || (fates[i] == FATE_FREE && (gap->options & FATE_BIT(FATE_RECOMPUTE)));
  }
  return true;
}

/* The producer of the gap's piece, and whatever may have to run again for it at the gap's end. */
static void find_reach(Exact *x, int index) {
  const Problem *p = x->evaluator->problem;
  const Geometry *g = x->evaluator->geometry;
  const PlanGap *gap = &g->gaps[x->order[index]];
  uint64_t *reach = x->reach + (size_t)index * (size_t)x->words;
  int depth = 0;
  memset(reach, 0, (size_t)x->words * sizeof *reach);
  if (p->pieces[gap->piece].creator >= 0) x->stack[depth++] = p->pieces[gap->piece].creator;
  while (depth) {
    int b = x->stack[--depth];
    if (reach[b / 64] >> (b % 64) & 1) continue;
    reach[b / 64] |= (uint64_t)1 << (b % 64);
    for (int i = 0; i < p->steps[b].use_count; i++) {
      const ProblemUse *use = &p->uses[p->steps[b].first_use + i];
      const ProblemPiece *piece = &p->pieces[use->piece];
      if (!(use->flags & PROBLEM_USE_READ) || piece->home != TIER_NONE || piece->creator < 0) continue;
      int c = piece->creator;
      if (!(reach[c / 64] >> (c % 64) & 1) && may_be_absent(g, x->relaxed->fates, use->piece, gap->v)) x->stack[depth++] = c;
    }
  }
}

static bool have_common(const Exact *x, int a, int b) {
  for (int w = 0; w < x->words; w++)
    if (x->reach[(size_t)a * (size_t)x->words + (size_t)w] & x->reach[(size_t)b * (size_t)x->words + (size_t)w]) return true;
  return false;
}

/* A re-run that is decided may move to an earlier one of what is not decided yet, which makes the same pieces again or
 * needs some of the same steps: such a gap is as good as undecided. True when there are any. */
static bool relax(Exact *x) {
  const Geometry *g = x->evaluator->geometry;
  uint8_t *fates = x->relaxed->fates;
  bool has_relaxed = false, has_undecided = false, has_changed = true;
  memcpy(fates, x->node->fates, (size_t)g->gap_count);
  for (int i = 0; i < x->count; i++) has_undecided = has_undecided || fates[x->order[i]] == FATE_FREE;
  if (!has_undecided) return false;
  while (has_changed) {
    has_changed = false;
    x->evaluator->effort += 2 * x->count * (x->words + 8);
    for (int i = 0; i < x->count; i++) find_reach(x, i);
    for (int i = 0; i < x->count; i++) {
      const PlanGap *gap = &g->gaps[x->order[i]];
      for (int k = 0; k < x->count && fates[x->order[i]] == FATE_RECOMPUTE; k++) {
        const PlanGap *other = &g->gaps[x->order[k]];
        bool may_run_first = fates[x->order[k]] == FATE_FREE && (other->options & FATE_BIT(FATE_RECOMPUTE)) && other->v <= gap->v;
        if (!may_run_first || !have_common(x, i, k)) continue;
        fates[x->order[i]] = FATE_FREE;
        has_changed = has_relaxed = true;
      }
    }
  }
  return has_relaxed;
}

/* Every step once, and again the producers of what is recomputed, whenever they run. */
static int64_t compute_bound(const Exact *x) {
  const Problem *p = x->evaluator->problem;
  const Geometry *g = x->evaluator->geometry;
  int64_t sum = 0;
  uint64_t *again = x->reach;
  memset(again, 0, (size_t)x->words * sizeof *again);
  for (int t = 0; t < p->step_count; t++) sum += g->min_ns[t];
  for (int i = 0; i < x->count; i++) {
    int b = p->pieces[g->gaps[x->order[i]].piece].creator;
    if (x->node->fates[x->order[i]] != FATE_RECOMPUTE || b < 0 || again[b / 64] >> (b % 64) & 1) continue;
    again[b / 64] |= (uint64_t)1 << (b % 64);
    sum += g->min_ns[b];
  }
  return sum;
}

static int64_t timed_bound(Exact *x, const uint8_t *fates) {
  Evaluator *e = x->evaluator;
  e->effort += (x->is_proof ? 1 : 4) * e->problem->step_count;
  return sequence_build(e->sequence, fates, candidate_stays(x->node), x->node->variants) ? timing_bound(x->timing, e) : COST_INVALID;
}

/* Is there nothing better below this node? `bound`: of what the node has decided. */
static bool is_hopeless(Exact *x, int64_t *bound) {
  int64_t best = x->search->best->cost;
  if (best > COST_INVALID) best = COST_INVALID;
  *bound = timed_bound(x, x->node->fates);
  if (*bound < best) return false;
  return !x->is_proof || !relax(x) || compute_bound(x) >= best || timed_bound(x, x->relaxed->fates) >= best;
}

/* ---- branch and bound ---- */

/* All gaps are decided: the best g of this assignment, if it beats the incumbent. */
static void leaf(Exact *x, int64_t bound) {
  Search *search = x->search;
  Evaluator *e = x->evaluator;
  Candidate *node = x->node;
  node->is_polished = false;
  node->policies = PREFETCH_ALL;
  node->cost = evaluate(e, node->fates, candidate_stays(node), node->variants, PREFETCH_ALL);
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
  static const uint8_t order[FATE_COUNT] = {FATE_KEEP, FATE_RECOMPUTE, FATE_HOST, FATE_SSD};
  const Geometry *g = x->evaluator->geometry;
  Candidate *node = x->node;
  if (!x->is_complete || x->evaluator->effort >= x->limit || search_is_done(x->search)) {
    if (x->search->best->cost > x->search->target_ns) x->is_complete = false;
    return;
  }
  int64_t bound;
  if (is_hopeless(x, &bound)) return;
  if (depth == x->count) {
    leaf(x, bound);
    return;
  }
  int gap = x->order[depth];
  for (int k = 0; k < FATE_COUNT; k++) {
    if (!(g->gaps[gap].options & FATE_BIT(order[k]))) continue;
    node->fates[gap] = order[k];
    branch(x, depth + 1);
  }
  node->fates[gap] = FATE_FREE;
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
  x->relaxed = candidate_new(arena, e);
  x->words = e->problem->step_count / 64 + 1;
  x->reach = arena_alloc(arena, ((size_t)x->count + 1) * (size_t)x->words * sizeof *x->reach);
  x->stack = arena_alloc(arena, ((size_t)e->problem->use_count + 1) * sizeof *x->stack);
  return x;
}

/* Every fate of the gaps in order, under every combination of the variants of these ops. */
static void enumerate(Exact *x, const int *ops, int op_count) {
  const Problem *p = x->evaluator->problem;
  x->is_complete = true;
  for (int i = 0; i < x->count; i++) x->node->fates[x->order[i]] = FATE_FREE;
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
  x->is_proof = true;
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
