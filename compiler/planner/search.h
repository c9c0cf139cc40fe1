/* search.h: better fates on the exact simulator: local search, annealing, polish (docs/planner.md, section "Search").
 * Work is counted in evaluator effort, so the result does not depend on the speed of the machine; only a time limit
 * can, and then is_cut_short says so. */
#ifndef GNNCC_PLANNER_SEARCH_H
#define GNNCC_PLANNER_SEARCH_H

#include "memo.h"

enum { SEARCH_ELITES = 6 };

typedef struct Search {
  Evaluator *evaluator;
  Arena *arena;
  Candidate *best; /* never gets worse */
  Candidate *elites[SEARCH_ELITES];
  int elite_count;
  Candidate *trial, *current;
  uint64_t random_state;
  int64_t target_ns; /* a proved lower bound: nothing to gain below */
  double deadline; /* CLOCK_MONOTONIC seconds; 0: none */
  bool is_cut_short;
  int gap_count; /* the first gaps of geometry->open, which are decided */
  unsigned policies; /* prefetch policies of an evaluation in the search */
  int *groups, *group_first, group_count; /* open gaps that belong to the chunks of one datum */
  bool has_chunks; /* some group has several gaps */
  int *choices, choice_count; /* ops with several variants */
  bool (*is_accepted)(void *context, const Candidate *candidate); /* NULL: whatever is better becomes the best */
  void *context;
  Memo *memo; /* of its evaluations */
  struct Timing *timing; /* of exact.c, once it was needed */
} Search;

Search *search_new(Arena *arena, Evaluator *evaluator, int64_t target_ns, double deadline);

/* The time limit is over; is_cut_short says so from then on. */
bool search_is_late(Search *search);

/* Take a candidate (its cost valid) into the pool. */
void search_offer(Search *search, const Candidate *candidate);

/* The same for a candidate of another device size: it is measured here first, with its own g. */
void search_offer_again(Search *search, const Candidate *candidate);

/* Evaluate decisions with every prefetch policy and offer them. Returns the cost. */
int64_t search_try(Search *search, const uint8_t *fates, RemadeStays stays, const int *variants);
/* The same of a candidate's decisions; what it costs itself is not asked for. */
static inline int64_t search_try_candidate(Search *search, const Candidate *candidate) { return search_try(search, candidate->fates, candidate_stays(candidate), candidate->variants); }

/* From here on the best is the best of `first` (NULL: none) and of those that `is_accepted` takes. It is asked only of
 * candidates that are better than the best, and search_accept_all ends that. */
void search_accept_only(Search *search, const Candidate *first, bool (*is_accepted)(void *context, const Candidate *candidate), void *context);
void search_accept_all(Search *search);

/* The next of its random numbers, from 0 to below n. */
int search_draw(Search *search, int n);

void search_local(Search *search, int64_t effort);
/* `hottest`: the share of the time by which a change may be worse at the start, of a problem of up to 12 gaps. */
void search_anneal(Search *search, int64_t effort, double hottest);
void search_polish(Search *search, int64_t effort);

bool search_is_done(Search *search); /* at the target, or out of time */

#endif
