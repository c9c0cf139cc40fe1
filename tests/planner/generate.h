/* generate.h: problems of eight families, and random ones, as gnncc-problem/1 text. */
#ifndef TESTS_PLANNER_GENERATE_H
#define TESTS_PLANNER_GENERATE_H

#include "lang/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum Family {
  FAMILY_CHAIN, FAMILY_RESIDUAL, FAMILY_UNET, FAMILY_TRANSFORMER, FAMILY_GCN, FAMILY_GAT, FAMILY_MOE, FAMILY_RANDOM,
  FAMILY_COUNT
} Family;

typedef struct GenerateOptions {
  Family family;
  int depth; /* layers */
  int chunks;
  double budget; /* device bytes: this share of the way from the least possible to keeping everything */
  double bandwidth; /* 1: transfers of a tensor take about as long as its operator */
  int has_host; /* 0 none, 1 ample, 2 tight */
  int has_ssd;
  uint64_t seed;
} GenerateOptions;

/* The text, in the arena; the same options give the same text on every machine. */
char *generate_problem(Arena *arena, const GenerateOptions *options);

/* The text of the same problem with another device size. */
char *generate_with_device(Arena *arena, const char *text, int64_t device_bytes);

/* The same problem where some of what ops write may take the place of what they read; `places`: how many do. */
char *generate_with_places(Arena *arena, const char *text, uint64_t seed, int *places);

/* A small problem without a model behind it: updates in place, holds, homes, finals, lists of chunks, several outputs.
 * About one in ten has no feasible plan. */
char *generate_odd(Arena *arena, uint64_t seed);

const char *generate_family_name(Family family);

/* splitmix64 */
uint64_t generate_draw(uint64_t *state);
int generate_below(uint64_t *state, int n);

/* The same problem with `fates`, such as "\"host\", \"ssd\"", for one datum; NULL when it has no such datum. */
char *generate_with_fates(Arena *arena, const char *text, const char *id, const char *fates);

#endif
