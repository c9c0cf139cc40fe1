/* Reuse distances estimated from gaps, against those counted one by one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/graph/locality.h"

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

typedef struct Edges {
  int64_t nodes;
  int64_t *in_ptr;
  int32_t *in_source;
} Edges;

enum { NODES = 2000, DEGREE = 20, EDGES = NODES * DEGREE };

static uint64_t state = 1;

static double draw(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

/* `skew` 1: sources from anywhere; more: nodes of small numbers are hubs. */
static Edges random_edges(double skew) {
  Edges g = {NODES, malloc((NODES + 1) * sizeof *g.in_ptr), malloc(EDGES * sizeof *g.in_source)};
  for (int64_t i = 0; i <= NODES; i++) g.in_ptr[i] = i * DEGREE;
  for (int64_t e = 0; e < EDGES; e++) g.in_source[e] = (int32_t)(NODES * pow(draw(), skew));
  return g;
}

/* Each node's sources are its neighbours by number. */
static Edges banded_edges(void) {
  Edges g = random_edges(1);
  for (int64_t e = 0; e < EDGES; e++) g.in_source[e] = (int32_t)((e / DEGREE + e % DEGREE) % NODES);
  return g;
}

static Edges transposed(const Edges *g) {
  Edges t = {g->nodes, calloc((size_t)g->nodes + 1, sizeof *t.in_ptr), malloc(EDGES * sizeof *t.in_source)};
  int64_t count = 0;
  for (int32_t s = 0; s < g->nodes; s++) {
    for (int64_t i = 0; i < g->nodes; i++)
      for (int64_t e = g->in_ptr[i]; e < g->in_ptr[i + 1]; e++)
        if (g->in_source[e] == s) t.in_source[count++] = (int32_t)i;
    t.in_ptr[s + 1] = count;
  }
  return t;
}

static void edges_free(Edges *g) {
  free(g->in_ptr);
  free(g->in_source);
}

/* The rows in the order of their last use, in an epoch behind another. */
static void counted(const Edges *g, double within[LOCALITY_STEPS]) {
  int32_t *recent = malloc((size_t)g->nodes * sizeof *recent);
  int64_t known = 0, edges = g->in_ptr[g->nodes];
  memset(within, 0, LOCALITY_STEPS * sizeof *within);
  for (int64_t t = 0; t < 2 * edges; t++) {
    int32_t row = g->in_source[t % edges];
    int64_t at = 0;
    while (at < known && recent[at] != row) at++;
    known += at == known;
    memmove(recent + 1, recent, (size_t)at * sizeof *recent);
    recent[0] = row;
    for (int k = 0; t >= edges && k < LOCALITY_STEPS; k++) within[k] += (double)(at + 1) <= (double)g->nodes * exp2(-k / 2.0) ? 1 / (double)edges : 0;
  }
  free(recent);
}

static bool is_near(const Locality *locality, const Edges *g, double most) {
  double within[LOCALITY_STEPS];
  counted(g, within);
  bool is_right = locality->is_known && fabs(locality->within[0] - 1) < 1e-9;
  for (int k = 0; k < LOCALITY_STEPS; k++) {
    bool is_few = (double)g->nodes * exp2(-k / 2.0) < 2; /* rows cannot be told apart */
    if (is_few || fabs(locality->within[k] - within[k]) <= most) continue;
    printf("# within nodes / 2^(%d/2): %g, counted %g\n", k, locality->within[k], within[k]);
    is_right = false;
  }
  return is_right;
}

static void test_graph(const char *name, Edges g, double most) {
  Locality locality[2];
  char text[160];
  locality_of_edges(g.nodes, g.in_ptr, g.in_source, false, locality);
  Edges out = transposed(&g);
  snprintf(text, sizeof text, "%s: sums over in-edges", name);
  ok(is_near(&locality[END_DST], &g, most), text);
  snprintf(text, sizeof text, "%s: sums over out-edges", name);
  ok(is_near(&locality[END_SRC], &out, most), text);
  edges_free(&g);
  edges_free(&out);
}

int main(void) {
  test_graph("sources from anywhere", random_edges(1), 0.02);
  test_graph("hubs", random_edges(3), 0.03);
  test_graph("neighbours by number", banded_edges(), 0.02);

  Locality locality[2];
  int64_t none[2] = {0, 0}, loop[2] = {0, 1};
  int32_t self[1] = {0};
  locality_of_edges(1, none, self, true, locality);
  ok(!locality[END_DST].is_known && !locality[END_SRC].is_known, "no edges: not known");
  locality_of_edges(1, loop, self, false, locality);
  ok(locality[END_DST].is_known && locality[END_DST].within[0] == 1 && locality[END_SRC].within[0] == 1, "one edge comes back to its only row");

  printf("1..%d\n", test_count);
  return failures > 0;
}
