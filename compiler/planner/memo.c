#include "memo.h"

#include <string.h>

enum { SLOTS = 16384 };

typedef struct Known {
  uint64_t key; /* of 64 bits: two decisions with the same are not met in practice, and a wrong cost would only mislead the search */
  int64_t cost, effort;
  int evaluations, best_policy;
} Known;

struct Memo {
  Evaluator *evaluator;
  const int *choices;
  int choice_count;
  Known *known; /* NULL until the first is */
  Arena *arena;
};

Memo *memo_new(Arena *arena, Evaluator *evaluator, const int *choices, int choice_count) {
  Memo *memo = arena_alloc(arena, sizeof *memo);
  *memo = (Memo){.evaluator = evaluator, .choices = choices, .choice_count = choice_count, .arena = arena};
  return memo;
}

static uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

/* Of what evaluate() reads: keep_from says something where a value is away. */
static uint64_t key_of(const Memo *memo, const Candidate *candidate, unsigned policies) {
  size_t gaps = (size_t)memo->evaluator->geometry->gap_count;
  uint64_t hash = policies, word;
  for (size_t i = 0; i < gaps; i += sizeof word) {
    word = 0;
    memcpy(&word, candidate->fates + i, gaps - i < sizeof word ? gaps - i : sizeof word);
    hash = mixed(hash, word);
  }
  for (size_t i = 0; i < gaps && !candidate->is_canonical; i++)
    if (candidate->fates[i] != FATE_KEEP && candidate->keep_from[i]) hash = mixed(hash, (uint64_t)i << 32 | (unsigned)candidate->keep_from[i]);
  if (candidate->shared_steps) hash = mixed(hash, (uint64_t)candidate->shared_steps);
  for (int i = 0; i < memo->choice_count; i++) hash = mixed(hash, (uint64_t)candidate->variants[memo->choices[i]]);
  return hash | 1; /* 0: a slot that is empty */
}

int64_t memo_evaluate(Memo *memo, const Candidate *candidate, unsigned policies) {
  Evaluator *e = memo->evaluator;
  if (!memo->known) memo->known = arena_alloc(memo->arena, SLOTS * sizeof *memo->known);
  uint64_t key = key_of(memo, candidate, policies);
  Known *known = &memo->known[(key >> 1) % SLOTS];
  if (known->key == key) {
    e->effort += known->effort;
    e->evaluations += known->evaluations;
    e->best_policy = known->best_policy;
    return known->cost;
  }
  const int64_t effort = e->effort, evaluations = e->evaluations;
  int64_t cost = evaluate(e, candidate->fates, candidate_stays(candidate), candidate->variants, policies);
  *known = (Known){key, cost, e->effort - effort, (int)(e->evaluations - evaluations), e->best_policy};
  return cost;
}
