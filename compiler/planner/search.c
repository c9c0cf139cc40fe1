#define _POSIX_C_SOURCE 200809L

#include "search.h"
#include "compiler/base/clock.h"

#include <math.h>
#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

/* Where evaluations are cheap, gaps that cover no step over the budget are decided too: to evict early makes a later
 * eviction clean, and re-runs may bring another step over the budget. */
enum { WIDE_GAPS = 128 };

static void make_groups(Search *search, Arena *arena) {
  const Geometry *g = search->evaluator->geometry;
  const Problem *p = search->evaluator->problem;
  search->groups = NEW(g->open_count, int);
  search->group_first = NEW(g->open_count + 1, int);
  int filled = 0;
  int *pieces = NEW(p->piece_count, int);
  for (int d = 0; d < p->datum_count; d++) {
    const ProblemDatum *datum = &p->data[d];
    int count = datum->chunks; /* pieces that have a j-th gap */
    for (int k = 0; k < count; k++) pieces[k] = datum->first_piece + k;
    for (int j = 0; count > 0; j++) {
      int first = filled, kept = 0;
      for (int k = 0; k < count; k++) {
        int gap = g->gap_first[pieces[k]] + j;
        if (gap >= g->gap_first[pieces[k] + 1]) continue;
        pieces[kept++] = pieces[k];
        if (g->gaps[gap].is_open) search->groups[filled++] = gap;
      }
      count = kept;
      if (filled > first) search->group_first[search->group_count++] = first;
    }
  }
  search->group_first[search->group_count] = filled;
  search->has_chunks = search->group_count < filled;
}

Search *search_new(Arena *arena, Evaluator *evaluator, int64_t target_ns, double deadline) {
  Search *search = arena_alloc(arena, sizeof *search);
  const Problem *p = evaluator->problem;
  *search = (Search){.evaluator = evaluator, .arena = arena, .random_state = 0x2545F4914F6CDD1Du,
                     .target_ns = target_ns, .deadline = deadline, .policies = PREFETCH_FEW};
  const Geometry *g = evaluator->geometry;
  search->gap_count = g->open_count > 0 && g->wide_count <= WIDE_GAPS ? g->wide_count : g->open_count;
  search->best = candidate_new(arena, evaluator);
  search->trial = candidate_new(arena, evaluator);
  search->current = candidate_new(arena, evaluator);
  for (int i = 0; i < SEARCH_ELITES; i++) search->elites[i] = candidate_new(arena, evaluator);
  search->choices = NEW(p->op_count, int);
  for (int op = 0; op < p->op_count; op++)
    if (p->ops[op].variant_count > 1) search->choices[search->choice_count++] = op;
  search->memo = memo_new(arena, evaluator, search->choices, search->choice_count);
  make_groups(search, arena);
  return search;
}

static uint64_t draw(Search *search) {
  search->random_state ^= search->random_state >> 12;
  search->random_state ^= search->random_state << 25;
  search->random_state ^= search->random_state >> 27;
  return search->random_state * 0x2545F4914F6CDD1Du;
}

int search_draw(Search *search, int n) {
  return (int)((draw(search) >> 33) % (uint64_t)n);
}

bool search_is_late(Search *search) {
  if (search->deadline == 0 || clock_seconds(CLOCK_MONOTONIC) < search->deadline) return false;
  search->is_cut_short = true;
  return true;
}

bool search_is_done(Search *search) {
  return search->best->cost <= search->target_ns || search_is_late(search);
}

void search_offer(Search *search, const Candidate *candidate) {
  const Evaluator *e = search->evaluator;
  bool is_better = candidate->cost < search->best->cost;
  if (is_better && (!search->is_accepted || search->is_accepted(search->context, candidate))) candidate_copy(e, search->best, candidate);
  int at = search->elite_count;
  for (int i = 0; i < search->elite_count; i++) {
    Candidate *elite = search->elites[i];
    if (!candidate_is_same(e, elite, candidate)) continue;
    if (candidate->cost < elite->cost) candidate_copy(e, elite, candidate);
    return;
  }
  if (at < SEARCH_ELITES) {
    search->elite_count++;
  } else {
    at = 0;
    for (int i = 1; i < SEARCH_ELITES; i++)
      if (search->elites[i]->cost > search->elites[at]->cost) at = i;
    if (search->elites[at]->cost <= candidate->cost) return;
  }
  candidate_copy(e, search->elites[at], candidate);
}

void search_accept_only(Search *search, const Candidate *first, bool (*is_accepted)(void *context, const Candidate *candidate), void *context) {
  Candidate *before = candidate_new(search->arena, search->evaluator);
  candidate_copy(search->evaluator, before, search->best);
  search->best->cost = COST_ILLEGAL;
  if (first) candidate_copy(search->evaluator, search->best, first);
  search->is_accepted = is_accepted;
  search->context = context;
  for (int i = 0; i < search->elite_count; i++) search_offer(search, search->elites[i]);
  search_offer(search, before);
}

/* The least cost met, accepted or not, of those still remembered. */
static const Candidate *search_least(const Search *search) {
  const Candidate *least = search->best;
  for (int i = 0; i < search->elite_count; i++)
    if (search->elites[i]->cost < least->cost) least = search->elites[i];
  return least;
}

void search_accept_all(Search *search) {
  search->is_accepted = NULL;
  const Candidate *least = search_least(search);
  if (least->cost < search->best->cost) candidate_copy(search->evaluator, search->best, least);
}

void search_offer_again(Search *search, const Candidate *candidate) {
  candidate_copy(search->evaluator, search->trial, candidate);
  evaluate_candidate(search->evaluator, search->trial);
  search_offer(search, search->trial);
}

static int64_t measure(Search *search, Candidate *candidate, unsigned policies) {
  candidate->is_polished = false;
  candidate->policies = policies;
  candidate->cost = memo_evaluate(search->memo, candidate, policies);
  if (candidate->cost < COST_INVALID) candidate->policies = PREFETCH_BIT(search->evaluator->best_policy);
  return candidate->cost;
}

int64_t search_try(Search *search, const uint8_t *fates, RemadeStays stays, const int *variants) {
  Candidate *trial = search->trial;
  size_t gaps = (size_t)search->evaluator->geometry->gap_count;
  memcpy(trial->fates, fates, gaps);
  trial->is_canonical = !stays.keep_from;
  trial->shared_steps = stays.shared_steps;
  if (stays.keep_from) memcpy(trial->keep_from, stays.keep_from, gaps * sizeof *stays.keep_from);
  memcpy(trial->variants, variants, (size_t)search->evaluator->problem->op_count * sizeof *variants);
  int64_t cost = measure(search, trial, PREFETCH_ALL);
  search_offer(search, trial);
  return cost;
}

/* Is the trial better than the current one? Then it becomes the current one. */
static bool accept_better(Search *search) {
  if (measure(search, search->trial, search->policies) >= search->current->cost) return false;
  candidate_copy(search->evaluator, search->current, search->trial);
  search_offer(search, search->trial);
  return true;
}

static bool has_option(const Search *search, int gap, int fate) {
  return (search->evaluator->geometry->gaps[gap].options & FATE_BIT(fate)) != 0;
}

static bool try_group(Search *search, int group, int fate, int count) {
  Candidate *trial = search->trial;
  int first = search->group_first[group], end = search->group_first[group + 1];
  candidate_copy(search->evaluator, trial, search->current);
  bool has_changed = false;
  for (int i = first; i < end && i < first + count; i++) {
    int gap = search->groups[i];
    if (!has_option(search, gap, fate) || trial->fates[gap] == fate) continue;
    trial->fates[gap] = (uint8_t)fate;
    has_changed = true;
  }
  return has_changed && accept_better(search);
}

static bool try_pair(Search *search, int a, int fate_a, int b, int fate_b) {
  Candidate *trial = search->trial;
  if (!has_option(search, a, fate_a) || !has_option(search, b, fate_b)) return false;
  if (search->current->fates[a] == fate_a || search->current->fates[b] == fate_b) return false;
  candidate_copy(search->evaluator, trial, search->current);
  trial->fates[a] = (uint8_t)fate_a;
  trial->fates[b] = (uint8_t)fate_b;
  return accept_better(search);
}

static bool try_variant(Search *search, int op, int variant) {
  if (search->current->variants[op] == variant) return false;
  candidate_copy(search->evaluator, search->trial, search->current);
  search->trial->variants[op] = variant;
  return accept_better(search);
}

static bool is_out(Search *search, int64_t limit) {
  return search->evaluator->effort >= limit || search_is_done(search);
}

static bool improve_groups(Search *search, int64_t limit) {
  bool has_improved = false;
  int offset = search->group_count ? search_draw(search, search->group_count) : 0;
  for (int k = 0; k < search->group_count && !is_out(search, limit); k++) {
    int group = (k + offset) % search->group_count;
    int size = search->group_first[group + 1] - search->group_first[group];
    for (int fate = 0; fate < FATE_COUNT; fate++)
      for (int count = size; count >= 1 && !is_out(search, limit); count /= 2)
        if (try_group(search, group, fate, count)) has_improved = true;
  }
  return has_improved;
}

static bool improve_singles(Search *search, int64_t limit) {
  const Geometry *g = search->evaluator->geometry;
  bool has_improved = false;
  int offset = search->gap_count ? search_draw(search, search->gap_count) : 0;
  for (int k = 0; k < search->gap_count && !is_out(search, limit); k++) {
    int gap = g->open[(k + offset) % search->gap_count];
    for (int fate = 0; fate < FATE_COUNT; fate++) {
      if (!has_option(search, gap, fate) || search->current->fates[gap] == fate) continue;
      candidate_copy(search->evaluator, search->trial, search->current);
      search->trial->fates[gap] = (uint8_t)fate;
      if (accept_better(search)) has_improved = true;
    }
  }
  return has_improved;
}

static bool improve_pairs(Search *search, int64_t limit) {
  const Geometry *g = search->evaluator->geometry;
  for (int i = 0; i < search->gap_count; i++)
    for (int k = i + 1; k < search->gap_count; k++) {
      /* The bulk of what pays: exchange the two fates, or free one piece while another stays. */
      int a = g->open[i], b = g->open[k], fa = search->current->fates[a], fb = search->current->fates[b];
      if (is_out(search, limit)) return false;
      if (fa != fb && try_pair(search, a, fb, b, fa)) return true;
      for (int fate = 1; fate < FATE_COUNT; fate++) {
        if (fa == FATE_KEEP && fb != FATE_KEEP && try_pair(search, a, fate, b, FATE_KEEP)) return true;
        if (fb == FATE_KEEP && fa != FATE_KEEP && try_pair(search, a, FATE_KEEP, b, fate)) return true;
      }
    }
  return false;
}

static bool improve_variants(Search *search, int64_t limit) {
  const Problem *p = search->evaluator->problem;
  bool has_improved = false;
  for (int i = 0; i < search->choice_count && !is_out(search, limit); i++)
    for (int v = 0; v < p->ops[search->choices[i]].variant_count; v++)
      if (try_variant(search, search->choices[i], v)) has_improved = true;
  return has_improved;
}

/* ---- what is made again leaves again ---- */

static void set_keep_from(Search *search, Candidate *candidate, int gap, int step) {
  if (candidate->is_canonical) memset(candidate->keep_from, 0, (size_t)search->evaluator->geometry->gap_count * sizeof *candidate->keep_from);
  candidate->is_canonical = false;
  candidate->keep_from[gap] = step;
}

/* A moment from which on what is made again in the gap stays: never but for its own use, or about where another gap ends. */
static int draw_keep_from(Search *search, int gap) {
  const Geometry *g = search->evaluator->geometry;
  const PlanGap *own = &g->gaps[gap];
  for (int tries = 0; tries < 8; tries++) {
    int step = g->gaps[g->open[search_draw(search, search->gap_count)]].v + search_draw(search, 2);
    if (own->u < step && step < own->v) return step;
  }
  return own->v;
}

static bool improve_keep_from(Search *search, int64_t limit) {
  const Geometry *g = search->evaluator->geometry;
  bool has_improved = false;
  for (int k = 0; k < search->gap_count && !is_out(search, limit); k++) {
    int gap = g->open[k];
    if (search->current->fates[gap] != FATE_RECOMPUTE) continue;
    const int steps[] = {0, g->gaps[gap].v, draw_keep_from(search, gap)};
    for (int i = 0; i < 3; i++) {
      if (steps[i] == (search->current->is_canonical ? 0 : search->current->keep_from[gap])) continue;
      candidate_copy(search->evaluator, search->trial, search->current);
      set_keep_from(search, search->trial, gap, steps[i]);
      if (accept_better(search)) has_improved = true;
    }
  }
  return has_improved;
}

/* Re-runs that read the same share what is made again for them, over fewer or more base steps. */
static bool improve_sharing(Search *search, int64_t limit) {
  static const int steps[] = {0, 1, 8, 64};
  bool has_improved = false;
  for (size_t i = 0; i < sizeof steps / sizeof *steps && !is_out(search, limit); i++) {
    if (steps[i] == search->current->shared_steps) continue;
    candidate_copy(search->evaluator, search->trial, search->current);
    search->trial->shared_steps = steps[i];
    if (accept_better(search)) has_improved = true;
  }
  return has_improved;
}

static bool change_keep_from(Search *search, Candidate *candidate) {
  for (int tries = 0; tries < 8; tries++) {
    int gap = search->evaluator->geometry->open[search_draw(search, search->gap_count)];
    if (candidate->fates[gap] != FATE_RECOMPUTE) continue;
    set_keep_from(search, candidate, gap, search_draw(search, 4) ? draw_keep_from(search, gap) : 0);
    return true;
  }
  return false;
}

/* Where nothing was accepted yet, the way there begins at the best of the others. */
static const Candidate *start_of(const Search *search) { return search->best->cost < COST_INVALID ? search->best : search_least(search); }

void search_local(Search *search, int64_t effort) {
  Evaluator *e = search->evaluator;
  int64_t limit = e->effort + effort;
  bool is_chunked = search->has_chunks, is_small = search->gap_count <= 40;
  candidate_copy(e, search->current, start_of(search));
  bool has_improved = true;
  while (has_improved && !is_out(search, limit)) {
    has_improved = improve_variants(search, limit);
    if (is_chunked && improve_groups(search, limit)) has_improved = true;
    if (improve_singles(search, limit)) has_improved = true;
    if (!has_improved) has_improved = improve_keep_from(search, limit);
    if (!has_improved) has_improved = improve_sharing(search, limit);
    if (!has_improved && is_small) has_improved = improve_pairs(search, limit);
  }
}

/* Two gaps that begin close to each other trade fates: the memory stays about the same. */
static bool trade(Search *search, Candidate *candidate) {
  const Geometry *g = search->evaluator->geometry;
  for (int tries = 0; tries < 20; tries++) {
    int i = search_draw(search, search->gap_count), k = i + 1 + search_draw(search, 24);
    if (k >= search->gap_count) continue;
    int a = g->open[i], b = g->open[k];
    uint8_t fa = candidate->fates[a], fb = candidate->fates[b];
    if (fa == fb || !has_option(search, a, fb) || !has_option(search, b, fa)) continue;
    candidate->fates[a] = fb;
    candidate->fates[b] = fa;
    return true;
  }
  return false;
}

static void mutate(Search *search, Candidate *candidate) {
  const Geometry *g = search->evaluator->geometry;
  const Problem *p = search->evaluator->problem;
  if (search->choice_count && (search->gap_count == 0 || search_draw(search, 100) < 15)) {
    int op = search->choices[search_draw(search, search->choice_count)];
    candidate->variants[op] = search_draw(search, p->ops[op].variant_count);
    return;
  }
  if (search->gap_count == 0) return;
  if (search_draw(search, 100) < 8 && change_keep_from(search, candidate)) return;
  if (search_draw(search, 100) < 40 && trade(search, candidate)) return;
  bool is_chunked = search->has_chunks;
  if (is_chunked && search_draw(search, 100) < 30) {
    int group = search_draw(search, search->group_count), first = search->group_first[group];
    int size = search->group_first[group + 1] - first, count = 1 + search_draw(search, size);
    int fate = search_draw(search, FATE_COUNT);
    for (int i = first; i < first + count; i++)
      if (has_option(search, search->groups[i], fate)) candidate->fates[search->groups[i]] = (uint8_t)fate;
    return;
  }
  for (int tries = 0; tries < 20; tries++) {
    int gap = g->open[search_draw(search, search->gap_count)], fate = search_draw(search, FATE_COUNT);
    if (!has_option(search, gap, fate) || candidate->fates[gap] == fate) continue;
    candidate->fates[gap] = (uint8_t)fate;
    return;
  }
}

void search_anneal(Search *search, int64_t effort, double hottest) {
  Evaluator *e = search->evaluator;
  if (search->gap_count == 0 && search->choice_count == 0) return;
  int64_t start = e->effort, limit = start + effort;
  /* One change matters less the more gaps there are. */
  int gaps = search->gap_count;
  if (gaps > 12) hottest *= 12.0 / gaps;
  candidate_copy(e, search->current, start_of(search));
  while (!is_out(search, limit)) {
    double left = 1 - (double)(e->effort - start) / (double)effort;
    double temperature = hottest * left * left;
    candidate_copy(e, search->trial, search->current);
    mutate(search, search->trial);
    if (search_draw(search, 100) < 40) mutate(search, search->trial);
    int64_t cost = measure(search, search->trial, search->policies), now = search->current->cost;
    if (cost < COST_INVALID) search_offer(search, search->trial);
    bool is_taken = cost <= now;
    if (!is_taken && cost < COST_INVALID && temperature > 0) {
      double worse = (double)(cost - now) / (double)(now + 1);
      is_taken = exp(-worse / temperature) > (double)(draw(search) >> 11) / 9007199254740992.0;
    }
    if (is_taken) candidate_copy(e, search->current, search->trial);
  }
}

void search_polish(Search *search, int64_t effort) {
  int64_t each = effort / (search->elite_count + 1);
  for (int i = 0; i < search->elite_count && !search_is_done(search); i++) {
    Candidate *elite = search->elites[i];
    if (elite->cost >= COST_INVALID || (double)elite->cost > 1.05 * (double)start_of(search)->cost) continue;
    candidate_copy(search->evaluator, search->current, elite);
    if (!search->current->is_polished) search->current->policies = PREFETCH_ALL;
    polish(search->evaluator, search->current, each);
    search_offer(search, search->current);
  }
}
