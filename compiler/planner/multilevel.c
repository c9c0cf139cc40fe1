#include "multilevel.h"

#include "coarse.h"
#include "wishes.h"

enum { LEVELS = 2 };

typedef struct Level {
  const Coarse *coarse; /* of the level above, or of the session's problem; NULL: hardly fewer pieces */
  Session *session;
  Wishes wishes;
  bool is_planned;
} Level;

static bool has_room(const Session *s) {
  int64_t low, high;
  session_device_range(s, &low, &high);
  return low <= s->problem->device_bytes;
}

/* From the plan of the level below, or by the whole search. */
static void plan_level(Level *level, const Level *below, Arena *arena, int64_t units) {
  Session *s = level->session;
  Candidate *first = candidate_new(arena, s->evaluator);
  if (below) {
    coarse_refine(below->coarse, below->session->evaluator, below->wishes.fates, s->evaluator, first);
    s->search->policies = below->session->search->policies;
  } else {
    const Budget budget = budget_of(PLANNER_FAST);
    int64_t costs[POLICY_COUNT];
    double first_plan_at;
    session_try_policies(s, costs, &first_plan_at);
    session_run(s, &budget, budget.units);
    if (s->search->best->cost >= COST_INVALID) return;
    candidate_copy(s->evaluator, first, s->search->best);
  }
  level->wishes = wishes_of(arena, s->evaluator, first);
  if (below) level->wishes.reserve = below->wishes.reserve;
  wishes_search(s->search, &level->wishes, units);
  level->is_planned = s->search->best->cost < COST_INVALID;
}

/* What a level has decided, as it is and filled up with the pieces. */
static void try_level(Session *s, const Level *level, Arena *arena) {
  static const double reserves[] = {0, 0.05};
  const Candidate *const decided[] = {level->session->search->best, level->wishes.fates};
  Candidate *like = candidate_new(arena, s->evaluator), *filled = candidate_new(arena, s->evaluator);
  Filler *filler = filler_open(s->evaluator);
  for (int d = 0; d < 2 && !search_is_done(s->search); d++) {
    coarse_refine(level->coarse, level->session->evaluator, decided[d], s->evaluator, like);
    if (d == 0) search_try_candidate(s->search, like);
    for (int r = 0; r < 2 && !search_is_done(s->search); r++) {
      const FillOptions options = {.reserve = reserves[r], .rerun_price = 1, .like = like, .fills_up = true};
      fill(filler, &options, filled);
      search_try_candidate(s->search, filled);
    }
  }
  filler_close(filler);
}

void multilevel_search(Session *s, const Budget *budget) {
  static const int chunks[LEVELS] = {64, 16};
  if (!session_is_large(s) || budget->coarse_units == 0 || s->search->best->cost >= COST_INVALID || search_is_done(s->search)) return;
  Arena *arena = arena_new();
  Level levels[LEVELS] = {0};
  const Problem *above = s->problem;
  int count = 0;
  for (int i = 0; i < LEVELS; i++) {
    const Coarse *coarse = coarse_problem(arena, above, chunks[i]);
    if (!coarse) continue;
    Session *session = session_new(coarse->problem, arena, s->search->deadline);
    if (!has_room(session)) break;
    levels[count++] = (Level){.coarse = coarse, .session = session};
    above = coarse->problem;
  }
  Candidate *before = candidate_new(s->arena, s->evaluator);
  candidate_copy(s->evaluator, before, s->search->best);
  const Level *below = NULL;
  for (int i = count - 1; i >= 0; i--) {
    if (!below && session_is_large(levels[i].session)) break;
    plan_level(&levels[i], below, arena, budget->coarse_units);
    s->evaluator->evaluations += levels[i].session->evaluator->evaluations;
    if (levels[i].session->search->is_cut_short) s->search->is_cut_short = true;
    below = levels[i].is_planned ? &levels[i] : NULL;
  }
  if (below == &levels[0]) try_level(s, below, arena);
  arena_free(arena);
  if (s->search->best->cost >= before->cost) return;
  if (!s->second) s->second = before;
  search_local(s->search, budget->units / 8);
}
