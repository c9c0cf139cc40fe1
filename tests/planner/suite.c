#include "suite.h"

#include "compiler/planner/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GenerateOptions suite_small(int i) {
  static const int depths[FAMILY_COUNT] = {6, 6, 3, 2, 3, 2, 2, 6};
  static const double budgets[] = {0.15, 0.3, 0.5, 0.7, 0.85};
  GenerateOptions o = {.family = (Family)(i % FAMILY_COUNT), .seed = (uint64_t)i};
  int k = i / FAMILY_COUNT;
  o.chunks = k % 4 == 3 && o.family != FAMILY_MOE ? 2 : 1;
  o.depth = depths[o.family] + (o.chunks == 1 ? k % 2 : -(depths[o.family] > 3 ? depths[o.family] - 4 : depths[o.family] - 2));
  if (o.family == FAMILY_MOE) o.depth = 2;
  if (o.family == FAMILY_TRANSFORMER) o.depth = 1 + (o.chunks == 1 && k % 3 == 1);
  o.budget = budgets[k % 5];
  o.bandwidth = k % 3 == 1 ? 0.35 : 1;
  o.has_host = k % 7 == 6 ? 0 : k % 5 == 4 ? 2 : 1;
  o.has_ssd = k % 2;
  return o;
}

const SuiteLarge suite_large[] = {
    {"transformer, 48 layers, 4 tiers", {FAMILY_TRANSFORMER, 48, 1, 0.3, 1, 2, 1, 1}, false},
    {"chain of 300", {FAMILY_CHAIN, 300, 1, 0.3, 0.3, 1, 0, 2}, true},
    {"U-Net of 40", {FAMILY_UNET, 40, 1, 0.3, 1, 1, 1, 3}, false},
    {"GCN, 8 layers x 16 chunks", {FAMILY_GCN, 8, 16, 0.3, 1, 1, 1, 4}, false},
    {"chain, 60 x 16 chunks", {FAMILY_CHAIN, 60, 16, 0.3, 0.5, 1, 0, 5}, true},
    {"chain, 300 x 16 chunks", {FAMILY_CHAIN, 300, 16, 0.3, 0.5, 1, 0, 6}, true},
};
const int suite_large_count = sizeof suite_large / sizeof *suite_large;

Problem *suite_read(Arena *arena, const char *text) {
  ProblemError error;
  Problem *problem = problem_read_json(arena, text, strlen(text), &error);
  if (problem) return problem;
  fprintf(stderr, "%s: %s\n", error.place, error.text);
  exit(70);
}

int64_t suite_optimum(const Problem *problem, int64_t effort) {
  Arena *arena = arena_new();
  Geometry *geometry = geometry_make(problem, arena);
  Evaluator *evaluator = evaluator_new(arena, problem, geometry);
  Search *search = search_new(arena, evaluator, geometry->stall_free_ns, 0);
  Candidate *candidate = candidate_new(arena, evaluator);
  for (int preference = 0; preference < 6; preference++) {
    policy_evict_all(evaluator, preference, candidate);
    search_offer(search, candidate);
  }
  search_local(search, 4000000);
  search_polish(search, 1000000);
  bool is_proved = exact_search(search, effort);
  int64_t cost = search->best->cost;
  arena_free(arena);
  return is_proved ? cost : -1;
}
