#include "wishes.h"

#include <math.h>
#include <string.h>

Wishes wishes_of(Arena *arena, const Evaluator *evaluator, const Candidate *candidate) {
  Wishes wishes = {.fates = candidate_new(arena, evaluator), .is_filled = true};
  candidate_copy(evaluator, wishes.fates, candidate);
  wishes.fates->is_polished = false;
  return wishes;
}

/* The plan that they lead to. */
static void grant(Search *search, Filler *filler, const Wishes *wishes, Candidate *plan) {
  if (!wishes->is_filled) {
    candidate_copy(search->evaluator, plan, wishes->fates);
    return;
  }
  const FillOptions options = {.reserve = wishes->reserve, .rerun_price = 1, .like = wishes->fates, .fills_up = true};
  fill(filler, &options, plan);
}

/* ---- changes ---- */

static void change_sharing(Search *search, Candidate *fates) {
  static const int steps[] = {0, 1, 2, 8};
  const Geometry *g = search->evaluator->geometry;
  for (int i = 0; i < g->gap_count && fates->is_canonical; i++) fates->keep_from[i] = g->gaps[i].v;
  fates->is_canonical = false;
  fates->shared_steps = steps[search_draw(search, sizeof steps / sizeof *steps)];
}

/* A run of the pieces of one value, in one of its gaps; or all of them. */
static void change_run(Search *search, Candidate *fates) {
  const Geometry *g = search->evaluator->geometry;
  const int group = search_draw(search, search->group_count), first = search->group_first[group], size = search->group_first[group + 1] - first;
  const bool is_whole = search_draw(search, 3) == 0;
  const int from = is_whole ? 0 : search_draw(search, size), count = is_whole ? size : 1 + search_draw(search, size), fate = search_draw(search, FATE_COUNT);
  for (int i = 0; i < count; i++) {
    const int gap = search->groups[first + (from + i) % size];
    if (g->gaps[gap].options & FATE_BIT(fate)) fates->fates[gap] = (uint8_t)fate;
  }
}

static void change(Search *search, Wishes *wishes) {
  static const double reserves[] = {0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3};
  if (search_draw(search, 12) == 0) wishes->is_filled = !wishes->is_filled;
  switch (search_draw(search, 10)) {
    case 0: wishes->reserve = reserves[search_draw(search, sizeof reserves / sizeof *reserves)]; return;
    case 1: change_sharing(search, wishes->fates); return;
    default: break;
  }
  for (int runs = 1 + search_draw(search, 2); runs > 0; runs--) change_run(search, wishes->fates);
}

/* ---- the search ---- */

void wishes_search(Search *search, Wishes *wishes, int64_t units) {
  const double hottest = 0.01;
  Evaluator *e = search->evaluator;
  if (search->group_count == 0) return;
  const int64_t start = e->effort, limit = start + units;
  Arena *arena = arena_new();
  Wishes trial = wishes_of(arena, e, wishes->fates);
  Candidate *const fates = trial.fates, *plan = candidate_new(arena, e);
  Filler *filler = filler_open(e);
  grant(search, filler, wishes, plan);
  int64_t now = search_try_candidate(search, plan);
  const int64_t as_they_are = search_try_candidate(search, wishes->fates);
  if (as_they_are < now) now = as_they_are, wishes->is_filled = false;
  while (e->effort < limit && !search_is_done(search)) {
    candidate_copy(e, fates, wishes->fates);
    trial = (Wishes){fates, wishes->reserve, wishes->is_filled};
    change(search, &trial);
    grant(search, filler, &trial, plan);
    const int64_t cost = evaluate(e, plan->fates, candidate_stays(plan), plan->variants, search->policies);
    const double left = 1 - (double)(e->effort - start) / (double)units, heat = hottest * left * left;
    bool is_taken = cost <= now;
    if (!is_taken && cost < COST_INVALID && heat > 0) is_taken = exp((double)(now - cost) / (double)now / heat) * (1 << 20) > search_draw(search, 1 << 20);
    if (!is_taken) continue;
    if (cost < search->best->cost) search_try_candidate(search, plan);
    now = cost;
    candidate_copy(e, wishes->fates, fates);
    wishes->reserve = trial.reserve;
    wishes->is_filled = trial.is_filled;
  }
  filler_close(filler);
  arena_free(arena);
}
