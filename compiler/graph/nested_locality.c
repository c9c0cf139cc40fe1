/* nested_locality: what gathers would find in caches were the nodes in the order that `order = nested` makes.
 *
 * A small graph is put in that order. Of a large one regions are, which are grown from single nodes, each taking next the node with the
 * largest share of its neighbours in it, so that whole communities come together, as nested bisection brings them together. Rows of a region
 * gather rows outside of it, too. When these were gathered last nobody saw: from anywhere further away than the region is large (locality_of_sample).
 * O(edges of the regions * levels of the order), beside a few numbers for each node that are set to 0.
 */
#include "nested_locality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locality.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/blocks.h"
#include "runtime/data/order.h"

enum { REGIONS = 4, SHARES = 64, HUB_SHARE = 8 /* of a region's edges: a node with more is left out */, CLUSTER_PASSES = 3 /* before the levels */ };

/* ---- all of the graph ---- */

typedef struct Lists {
  const int64_t *ptr;
  const int32_t *idx;
} Lists;

static Lists turned(Arena *arena, int64_t nodes, Lists in) {
  int64_t *ptr = arena_alloc(arena, (size_t)(nodes + 1) * sizeof *ptr);
  int32_t *idx = arena_alloc(arena, (size_t)in.ptr[nodes] * sizeof *idx + 1);
  gnn_adjacency_turn(in.ptr, in.idx, nodes, nodes, ptr, idx, NULL);
  return (Lists){ptr, idx};
}

/* NULL: it cannot be made. */
static const int32_t *nested_order(Arena *arena, int64_t nodes, Lists in, Lists out) {
  int32_t *order = arena_alloc(arena, (size_t)nodes * sizeof *order + 1);
  gnn_error error = {0};
  return gnn_order_nested(nodes, in.ptr, in.idx, out.ptr, out.idx, order, &error) == GNN_OK ? order : NULL;
}

/* By new numbers. Sources ascend, so they ascend in every row that they are appended to. */
static Lists renumbered(Arena *arena, int64_t nodes, Lists in, Lists out, const int32_t *order) {
  int64_t *ptr = arena_alloc(arena, (size_t)(nodes + 1) * sizeof *ptr);
  int32_t *place = arena_alloc(arena, (size_t)nodes * sizeof *place + 1), *idx = arena_alloc(arena, (size_t)in.ptr[nodes] * sizeof *idx + 1);
  ptr[0] = 0;
  for (int64_t i = 0; i < nodes; i++) {
    place[order[i]] = (int32_t)i;
    ptr[i + 1] = ptr[i] + in.ptr[order[i] + 1] - in.ptr[order[i]];
  }
  for (int64_t i = 0; i < nodes; i++)
    for (int64_t k = out.ptr[order[i]]; k < out.ptr[order[i] + 1]; k++) idx[ptr[place[out.idx[k]]]++] = (int32_t)i;
  memmove(ptr + 1, ptr, (size_t)nodes * sizeof *ptr);
  ptr[0] = 0;
  return (Lists){ptr, idx};
}

static void locality_of_all(Arena *arena, int64_t nodes, Lists in, bool is_symmetric, Locality locality[2]) {
  const Lists out = is_symmetric ? in : turned(arena, nodes, in);
  const int32_t *order = nested_order(arena, nodes, in, out);
  if (!order) return;
  const Lists now = renumbered(arena, nodes, in, out, order);
  locality_of_edges(nodes, now.ptr, now.idx, is_symmetric, locality);
}

/* ---- regions of it ---- */

/* A node that waits, once for each share that it has come to. */
typedef struct Waiting {
  int32_t node, next; /* next: the index of another one, or NO_INDEX */
} Waiting;

typedef struct Sample {
  Arena *arena;
  int64_t nodes;
  Lists in;
  int32_t *links; /* [nodes] neighbours that were taken */
  bool *is_taken; /* [nodes] */
  int32_t first[SHARES + 1]; /* lists of those that wait, by share */
  Waiting *waiting;
  int waiting_count;
  int32_t *members; /* of the region */
  int64_t member_count, entries;
  int32_t *rows; /* of all regions, in order */
  int64_t row_count;
} Sample;

static int64_t degree(const Sample *s, int64_t node) { return s->in.ptr[node + 1] - s->in.ptr[node]; }

static int share_of(const Sample *s, int32_t node) {
  const int64_t share = SHARES * (int64_t)s->links[node] / (degree(s, node) + 1);
  return share < SHARES ? (int)share : SHARES;
}

static void add_waiting(Sample *s, int32_t node) {
  const int share = share_of(s, node);
  ARENA_PUSH(s->arena, s->waiting, s->waiting_count, ((Waiting){node, s->first[share]}));
  s->first[share] = s->waiting_count - 1;
}

static void take(Sample *s, int32_t node) {
  s->is_taken[node] = true;
  s->members[s->member_count++] = node;
  s->entries += degree(s, node);
  for (int64_t e = s->in.ptr[node]; e < s->in.ptr[node + 1]; e++) {
    const int32_t other = s->in.idx[e];
    const int before = s->links[other] ? share_of(s, other) : -1;
    s->links[other]++;
    if (!s->is_taken[other] && share_of(s, other) != before) add_waiting(s, other);
  }
}

/* The one that waits with the largest share; NO_INDEX: nobody does. */
static int32_t next_waiting(Sample *s) {
  for (int share = SHARES; share >= 0; share--)
    while (s->first[share] != NO_INDEX) {
      const Waiting *w = &s->waiting[s->first[share]];
      s->first[share] = w->next;
      if (!s->is_taken[w->node]) return w->node;
    }
  return NO_INDEX;
}

static void grow(Sample *s, int64_t seed, int64_t most_edges) {
  s->member_count = s->entries = s->waiting_count = 0;
  for (int k = 0; k <= SHARES; k++) s->first[k] = NO_INDEX;
  for (int64_t tried = 0; s->entries < most_edges;) {
    int32_t node = next_waiting(s);
    for (; node == NO_INDEX && tried < s->nodes; tried++) {
      const int64_t other = (seed + tried) % s->nodes;
      if (!s->is_taken[other]) node = (int32_t)other;
    }
    if (node == NO_INDEX) return;
    if (degree(s, node) <= most_edges / HUB_SHARE) take(s, node);
  }
}

static int ascending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Edges between members, by their numbers in the region, from number[] - 1. */
static Lists edges_inside(const Sample *s, const int32_t *number) {
  int64_t *ptr = arena_alloc(s->arena, (size_t)(s->member_count + 1) * sizeof *ptr), count = 0;
  int32_t *idx = arena_alloc(s->arena, (size_t)s->entries * sizeof *idx + 1);
  ptr[0] = 0;
  for (int64_t i = 0; i < s->member_count; i++) {
    for (int64_t e = s->in.ptr[s->members[i]]; e < s->in.ptr[s->members[i] + 1]; e++)
      if (number[s->in.idx[e]]) idx[count++] = number[s->in.idx[e]] - 1;
    ptr[i + 1] = count;
  }
  return (Lists){ptr, idx};
}

/* In blocks of as many rows as the whole graph's have, in each of which nodes ascend. */
static bool put_in_order(Sample *s, bool is_symmetric, int32_t *number) {
  const int64_t count = s->member_count, block_rows = s->nodes >> gnn_order_levels(s->nodes);
  qsort(s->members, (size_t)count, sizeof *s->members, ascending);
  for (int64_t i = 0; i < count; i++) number[s->members[i]] = (int32_t)i + 1;
  const Lists in = edges_inside(s, number);
  const int32_t *order = nested_order(s->arena, count, in, is_symmetric ? in : turned(s->arena, count, in));
  for (int64_t i = 0; i < count; i++) number[s->members[i]] = 0;
  if (!order) return false;
  int32_t *rows = s->rows + s->row_count;
  for (int64_t i = 0; i < count; i++) rows[i] = s->members[order[i]];
  for (int64_t i = 0; i < count && block_rows >= 2 * GNN_BLOCK_LEAST_ROWS; i += block_rows)
    qsort(rows + i, (size_t)(count - i < block_rows ? count - i : block_rows), sizeof *rows, ascending);
  s->row_count += count;
  return true;
}

static void locality_of_regions(Arena *arena, int64_t nodes, Lists in, bool is_symmetric, int64_t most_edges, Locality locality[2]) {
  const size_t count = (size_t)nodes + 1;
  Sample s = {.arena = arena, .nodes = nodes, .in = in, .links = arena_alloc(arena, count * sizeof *s.links), .is_taken = arena_alloc(arena, count),
              .members = arena_alloc(arena, count * sizeof *s.members), .rows = arena_alloc(arena, count * sizeof *s.rows)};
  int32_t *number = arena_alloc(arena, count * sizeof *number);
  int64_t gathers = 0;
  for (int r = 0; r < REGIONS; r++) {
    grow(&s, nodes / REGIONS * r + nodes / (2 * REGIONS), most_edges / REGIONS);
    if (!put_in_order(&s, is_symmetric, number)) return;
    gathers += s.entries;
  }
  int32_t *trace = arena_alloc(arena, (size_t)gathers * sizeof *trace + 1), *at = trace;
  for (int64_t i = 0; i < s.row_count; i++) {
    memcpy(at, in.idx + in.ptr[s.rows[i]], (size_t)degree(&s, s.rows[i]) * sizeof *at);
    at += degree(&s, s.rows[i]);
  }
  locality[END_SRC] = locality[END_DST] = locality_of_sample(nodes, gathers, trace);
}

void locality_if_nested(int64_t nodes, const int64_t *in_ptr, const int32_t *in_source, bool is_symmetric, int64_t most_edges, Locality locality[2]) {
  locality[END_SRC] = locality[END_DST] = (Locality){0};
  if (nodes == 0 || in_ptr[nodes] == 0) return;
  Arena *arena = arena_new();
  const Lists in = {in_ptr, in_source};
  if (in_ptr[nodes] <= most_edges) locality_of_all(arena, nodes, in, is_symmetric, locality);
  else locality_of_regions(arena, nodes, in, is_symmetric, most_edges, locality);
  arena_free(arena);
}

double nested_order_seconds(int64_t nodes, int64_t edges, bool is_symmetric) {
  const double near = 12e-9, near_nodes = 12e3, power = 0.55; /* of an edge at one level, by how far the nodes' numbers are: measured, docs/performance.md */
  const double each = near * pow(fmax(1, (double)nodes / near_nodes), power);
  return each * ((double)edges * (is_symmetric ? 1 : 2) + (double)nodes) * (CLUSTER_PASSES + gnn_order_levels(nodes));
}
