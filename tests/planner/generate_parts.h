/* generate_parts.h: an epoch of a graph network whose values are cut into parts and slices, at stated sizes, as gnncc-problem/1 text. */
#ifndef TESTS_PLANNER_GENERATE_PARTS_H
#define TESTS_PLANNER_GENERATE_PARTS_H

#include "lang/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* How a sum over neighbours runs: part by part from a value that is one piece; part by part from the pieces of some parts; by columns of all parts. */
typedef enum PartsMode { PARTS_WHOLE, PARTS_ROWS, PARTS_SLICES } PartsMode;

typedef struct PartsOptions {
  const char *name;
  int64_t nodes, edges;
  int features, hidden, classes, layers;
  PartsMode mode;
  int parts, slices;
  bool is_data_away; /* features and graph lie on the host or, without one, on the SSD */
  bool has_host, has_ssd;
  double budget; /* device bytes: this share of the way from the least that a step takes to keeping everything */
} PartsOptions;

/* The text, in the arena; the same options give the same text on every machine. */
char *generate_parts(Arena *arena, const PartsOptions *options);

#endif
