/* Reuse distances estimated from gaps, against those counted one by one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/graph/locality.h"
#include "compiler/graph/nested_locality.h"
#include "runtime/data/dataset.h"

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

/* Gathers that pass with half of the rows, beyond those from anywhere. */
static double waited(Edges g) {
  Locality locality[2];
  locality_of_edges(g.nodes, g.in_ptr, g.in_source, false, locality);
  edges_free(&g);
  return locality[END_DST].waited[2];
}

/* Of a generated graph in the order asked for. */
static gnn_dataset *made_graph(const gnn_source_arg *args, int count, gnn_order order) {
  gnn_dataset *dataset = NULL;
  gnn_error error = {0};
  const gnn_source source = {"synth", count, args};
  const gnn_recipe recipe = {.is_undirected = 1, .order = order};
  if (gnn_dataset_open(&source, NULL, &dataset, &error) == GNN_OK && gnn_dataset_prepare(dataset, &recipe, &error) == GNN_OK) return dataset;
  printf("Bail out! %s\n", error.message);
  exit(1);
}

static double farthest(const Locality *a, const Locality *b) {
  double most = 0;
  for (int k = 0; k < LOCALITY_STEPS / 2; k++) most = fmax(most, fabs(a->within[k] - b->within[k]));
  return most;
}

/* With as many edges as `most_edges` the graph is put in order; with fewer its regions are. */
static void test_nested(const char *kind, int64_t nodes, double classes, double most) {
  const gnn_source_arg args[] = {{"kind", kind, 0}, {"nodes", NULL, (double)nodes}, {"degree", NULL, 16}, {"features", NULL, 1}, {"classes", NULL, classes}};
  gnn_dataset *given = made_graph(args, 5, GNN_ORDER_GIVEN), *nested = made_graph(args, 5, GNN_ORDER_NESTED);
  Locality as_given[2], as_nested[2], whole[2], directed[2], sampled[2];
  char text[160];
  locality_of_edges(given->nodes, given->in_ptr, given->in_source, true, as_given);
  locality_of_edges(nested->nodes, nested->in_ptr, nested->in_source, true, as_nested);
  locality_if_nested(given->nodes, given->in_ptr, given->in_source, true, given->edges, whole);
  snprintf(text, sizeof text, "%s: of the nested order what a graph in it has", kind);
  ok(memcmp(&whole[END_DST], &as_nested[END_DST], sizeof whole[0]) == 0 && memcmp(&whole[END_SRC], &as_nested[END_SRC], sizeof whole[0]) == 0, text);
  locality_if_nested(given->nodes, given->in_ptr, given->in_source, false, given->edges, directed);
  snprintf(text, sizeof text, "%s: in both directions, where they need not be alike", kind);
  ok(farthest(&directed[END_SRC], &directed[END_DST]) < 1e-9 && farthest(&directed[END_DST], &as_nested[END_DST]) < 0.05, text);
  for (int share = 2; share <= 8; share *= 2) {
    locality_if_nested(given->nodes, given->in_ptr, given->in_source, true, given->edges / share, sampled);
    const double far = farthest(&sampled[END_DST], &as_nested[END_DST]);
    printf("# %s, one edge in %d: off by %.3f, the given order by %.3f\n", kind, share, far, farthest(&as_given[END_DST], &as_nested[END_DST]));
    snprintf(text, sizeof text, "%s: the same of one edge in %d, about", kind, share);
    ok(sampled[END_DST].is_known && far < most, text);
  }
  gnn_dataset_close(given);
  gnn_dataset_close(nested);
}

int main(void) {
  setenv("XDG_CACHE_HOME", "/dev/null", 1); /* orders are made, not remembered */
  test_graph("sources from anywhere", random_edges(1), 0.02);
  test_graph("hubs", random_edges(3), 0.03);
  test_graph("neighbours by number", banded_edges(), 0.02);

  ok(waited(random_edges(1)) < NODES / 10, "from anywhere, half of the rows pass in as many gathers as they should");
  ok(waited(random_edges(3)) > NODES / 4, "where there are hubs, in many more");

  Locality locality[2];
  int64_t none[2] = {0, 0}, loop[2] = {0, 1};
  int32_t self[1] = {0};
  locality_of_edges(1, none, self, true, locality);
  ok(!locality[END_DST].is_known && !locality[END_SRC].is_known, "no edges: not known");
  locality_of_edges(1, loop, self, false, locality);
  ok(locality[END_DST].is_known && locality[END_DST].within[0] == 1 && locality[END_SRC].within[0] == 1, "one edge comes back to its only row");

  test_nested("sbm", 40000, 40, 0.2);
  test_nested("rmat", 20000, 4, 0.2);
  test_nested("er", 20000, 4, 0.2);
  test_nested("grid", 40000, 4, 0.2);
  locality_if_nested(1, none, self, true, 1, locality);
  ok(!locality[END_DST].is_known, "no edges, no order: not known");
  ok(nested_order_seconds(1000000, 10000000, true) > 5 * nested_order_seconds(100000, 1000000, true), "ten times the graph: more than five times as long");

  printf("1..%d\n", test_count);
  return failures > 0;
}
