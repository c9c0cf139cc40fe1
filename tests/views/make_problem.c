/* make_problem FAMILY SEED [DEPTH]: a planning problem on standard output; FAMILY is a number of tests/planner/generate.h, or "odd". */
#include "tests/planner/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) return 2;
  Arena *arena = arena_new();
  uint64_t seed = strtoull(argv[2], NULL, 10);
  GenerateOptions options = {.family = (Family)atoi(argv[1]), .depth = argc == 4 ? atoi(argv[3]) : 4, .chunks = 1, .budget = 0.3, .bandwidth = 0.5, .has_host = seed % 2 ? 2 : 1, .has_ssd = 1, .seed = seed};
  fputs(strcmp(argv[1], "odd") == 0 ? generate_odd(arena, seed) : generate_problem(arena, &options), stdout);
  arena_free(arena);
  return 0;
}
