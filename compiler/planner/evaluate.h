/* evaluate.h: what an assignment of fates and variants is worth: canonical steps, several prefetch policies, the exact
 * pass. The inner loop of the search; allocates nothing after evaluator_new. */
#ifndef GNNCC_PLANNER_EVALUATE_H
#define GNNCC_PLANNER_EVALUATE_H

#include "simulate.h"

/* Prefetch policies (docs/planner.md, section "When to bring back"): how early a return may start, and which of
 * several returns goes first: by need, and of those needed by the same step by piece or size, or what is ready while others
 * are still being read from the SSD. */
enum {
  PREFETCH_LATE, /* g = v */
  PREFETCH_EARLY, PREFETCH_EARLY_SMALL, PREFETCH_EARLY_LARGE, PREFETCH_EARLY_READY,
  PREFETCH_HOLD, PREFETCH_HOLD_SMALL, PREFETCH_HOLD_LARGE, PREFETCH_HOLD_READY,
  PREFETCH_JIT, PREFETCH_JIT_SMALL, PREFETCH_JIT_LARGE, PREFETCH_JIT_READY,
  PREFETCH_JITHOLD, PREFETCH_JITHOLD_SMALL, PREFETCH_JITHOLD_LARGE, PREFETCH_JITHOLD_READY,
  PREFETCH_CHOOSE, PREFETCH_CHOOSE_NEAR, PREFETCH_CHOOSE_FAR, /* by a pass that goes with the real times; with room left for copies out */
  PREFETCH_COUNT
};

#define PREFETCH_BIT(policy) (1u << (policy))
#define PREFETCH_ALL ((1u << PREFETCH_COUNT) - 1)
#define PREFETCH_MANY /* that one evaluation of many gaps tries */ \
  (PREFETCH_BIT(PREFETCH_LATE) | PREFETCH_BIT(PREFETCH_EARLY) | PREFETCH_BIT(PREFETCH_HOLD) | PREFETCH_BIT(PREFETCH_JITHOLD) | PREFETCH_BIT(PREFETCH_CHOOSE) | PREFETCH_BIT(PREFETCH_CHOOSE_NEAR) | PREFETCH_BIT(PREFETCH_CHOOSE_FAR))
#define PREFETCH_MOST (PREFETCH_BIT(PREFETCH_LATE) | PREFETCH_BIT(PREFETCH_JITHOLD) | PREFETCH_BIT(PREFETCH_CHOOSE) | PREFETCH_BIT(PREFETCH_CHOOSE_NEAR) | PREFETCH_BIT(PREFETCH_CHOOSE_FAR)) /* of very many */
#define PREFETCH_FEW (PREFETCH_BIT(PREFETCH_EARLY) | PREFETCH_BIT(PREFETCH_HOLD) | PREFETCH_BIT(PREFETCH_JITHOLD))

/* Costs from COST_INVALID on are not makespans: bytes over the tiers are added to it, COST_ILLEGAL has no sequence. */
#define COST_INVALID ((int64_t)1 << 60)
#define COST_ILLEGAL ((int64_t)1 << 62)

typedef struct Candidate {
  uint8_t *fates; /* by gap of the geometry */
  int *keep_from; /* by gap, see RemadeStays; read where it is not canonical */
  bool is_canonical; /* what is re-made stays: keep_from is 0 everywhere */
  int shared_steps; /* see RemadeStays */
  int *variants; /* by op */
  int64_t cost;
  unsigned policies; /* the policies tried */
  int *g; /* by move of the sequence built from the fates; valid when is_polished */
  int g_count;
  bool is_polished;
} Candidate;

typedef struct Evaluator {
  const Problem *problem;
  const Geometry *geometry;
  Sequence *sequence;
  Simulation *simulation;
  int64_t evaluations; /* passes of the simulator */
  int64_t effort; /* steps and moves the passes went over: the measure of work, the same on every machine */
  unsigned allowed; /* prefetch policies: all, or fewer where each is dear */
  int *best_g; /* of the last evaluation */
  int best_policy;
  struct EvaluatorScratch *scratch;
} Evaluator;

Evaluator *evaluator_new(Arena *arena, const Problem *problem, const Geometry *geometry);

Candidate *candidate_new(Arena *arena, const Evaluator *evaluator);
void candidate_copy(const Evaluator *evaluator, Candidate *to, const Candidate *from);

/* The candidate's decisions as the evaluator's sequence. False when they have no legal one. */
bool candidate_build(Evaluator *evaluator, const Candidate *candidate);

/* The same decisions, whatever their boundaries. */
bool candidate_is_same(const Evaluator *evaluator, const Candidate *a, const Candidate *b);

static inline RemadeStays candidate_stays(const Candidate *candidate) {
  return (RemadeStays){candidate->is_canonical ? NULL : candidate->keep_from, candidate->shared_steps};
}

/* The cost of fates, stays of what is made again and variants under the best of `policies`; leaves the sequence built and
 * best_g set. */
int64_t evaluate(Evaluator *evaluator, const uint8_t *fates, RemadeStays stays, const int *variants, unsigned policies);

/* Rebuild the candidate's sequence with its own g (polished) or the best of its policies; the simulation is that of
 * the candidate afterwards. Returns the cost. */
int64_t evaluate_candidate(Evaluator *evaluator, Candidate *candidate);

/* Improve the g of a valid candidate by shifts and exchanges while that pays, within `effort` units. */
void polish(Evaluator *evaluator, Candidate *candidate, int64_t effort);

/* Simulate the built sequence with the g it has. */
int64_t evaluate_built(Evaluator *evaluator);

#endif
