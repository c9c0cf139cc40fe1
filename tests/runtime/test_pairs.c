/* test_pairs.c: edges that are held out, pairs that no edge joins, and how they lie, against what a matrix of all pairs says. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>

#include "../../runtime/data/pairs.h"
#include "../../runtime/data/readers.h"
#include "tap.h"
#include "arrays.h"

enum { NODES = 40, EDGES = 300 };

static gnn_team *team, *alone; /* of two threads and of one */

static uint64_t state = 7;
static int64_t below(int64_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)(state >> 33) % n;
}

static gnn_dataset *graph_of(int64_t nodes, int64_t edges, const int64_t *source, const int64_t *destination) {
  gnn_dataset *dataset = gnn_dataset_new("drawn");
  dataset->has_edges = 1;
  dataset->declared_nodes = nodes;
  dataset->raw_source = vector(GNN_I64, edges, source);
  dataset->raw_destination = vector(GNN_I64, edges, destination);
  return dataset;
}

/* Random edges, self-loops among them. */
static gnn_dataset *drawn_graph(void) {
  static int64_t source[EDGES], destination[EDGES];
  state = 7;
  for (int e = 0; e < EDGES; e++) source[e] = below(NODES), destination[e] = below(NODES);
  return graph_of(NODES, EDGES, source, destination);
}

static gnn_recipe recipe_of(int is_undirected, int64_t negatives, int keeps_source) {
  return (gnn_recipe){.is_undirected = is_undirected, .pairs = {.name = "links", .valid = 0.1, .test = 0.2, .negatives = negatives, .keeps_source = keeps_source, .is_resampled = 1, .seed = 3}};
}

/* joined[u][v]: an edge goes from u to v, before any were held out. */
typedef struct graph_matrix {
  unsigned char joined[NODES][NODES];
  int64_t edges; /* without self-loops; both ways of one count once */
} graph_matrix;

static graph_matrix matrix_of(const gnn_recipe *wanted) {
  graph_matrix m = {0};
  gnn_error error = {0};
  gnn_recipe recipe = *wanted;
  recipe.pairs.name = NULL;
  gnn_dataset *dataset = drawn_graph();
  if (gnn_dataset_prepare(dataset, &recipe, &error) != GNN_OK) exit(97);
  for (int64_t v = 0; v < NODES; v++)
    for (int64_t e = dataset->in_ptr[v]; e < dataset->in_ptr[v + 1]; e++) {
      m.joined[dataset->in_source[e]][v] = 1;
    }
  for (int64_t u = 0; u < NODES; u++)
    for (int64_t v = 0; v < NODES; v++) m.edges += u != v && m.joined[u][v] && (u < v || !m.joined[v][u]);
  gnn_dataset_close(dataset);
  return m;
}

static int is_in(const gnn_dataset *dataset, int64_t u, int64_t v) {
  for (int64_t e = dataset->in_ptr[v]; e < dataset->in_ptr[v + 1]; e++)
    if (dataset->in_source[e] == u) return 1;
  return 0;
}

/* Every pair is what its label says, of the graph with all edges (valid, test) or with those that are left (train). */
static int64_t false_labels(const gnn_dataset *dataset, const graph_matrix *m) {
  const gnn_data_relation *links = gnn_dataset_relation(dataset, "links");
  const gnn_data_field *label = gnn_dataset_field(dataset, "links.label");
  int64_t wrong = 0;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    for (int64_t k = 0; k < dataset->split_count[s]; k++) {
      const int64_t r = dataset->split_rows[s][k];
      int64_t v = 0;
      while (links->in_ptr[v + 1] <= r) v++;
      const int64_t u = links->in_source[r];
      const int is_edge = label->dense[r] == 1, is_there = is_in(dataset, u, v);
      wrong += u == v || (k && dataset->split_rows[s][k] <= dataset->split_rows[s][k - 1]);
      if (dataset->is_symmetric && !dataset->pairs->keeps_source) wrong += u >= v;
      if (is_edge) wrong += !m->joined[u][v] || (u > v && m->joined[v][u]) || is_there != (s == GNN_TRAIN) || (s != GNN_TRAIN && is_in(dataset, v, u));
      else wrong += s == GNN_TRAIN ? is_there : m->joined[u][v];
    }
  return wrong;
}

/* Rings go around an edge and its negatives; with the source kept, all of them begin where it does. */
static int64_t false_rings(const gnn_dataset *dataset) {
  const gnn_data_relation *links = gnn_dataset_relation(dataset, "links");
  const int32_t *ring = gnn_dataset_field(dataset, "links.ring")->label;
  const float *label = gnn_dataset_field(dataset, "links.label")->dense;
  int64_t wrong = 0;
  for (int64_t r = 0; r < links->edges; r++) {
    int64_t length = 0, edges = 0, at = r;
    wrong += (ring[r] >= 0) != (label[r] == 1);
    do {
      edges += label[at] == 1;
      wrong += dataset->pairs->keeps_source && links->in_source[at] != links->in_source[r];
      at = ring[at] < 0 ? -1 - (int64_t)ring[at] : ring[at];
      length++;
    } while (at != r && length < 100);
    wrong += length != 1 + dataset->pairs->negatives || edges != 1;
  }
  return wrong;
}

static void test_graph(int is_undirected, int64_t negatives, int keeps_source) {
  const gnn_recipe recipe = recipe_of(is_undirected, negatives, keeps_source);
  const graph_matrix m = matrix_of(&recipe);
  const char *name = is_undirected ? "undirected" : "directed";
  gnn_error error = {0};
  gnn_dataset *dataset = drawn_graph(), *again = drawn_graph();
  tap_ok(gnn_dataset_prepare(dataset, &recipe, &error) == GNN_OK && gnn_dataset_prepare(again, &recipe, &error) == GNN_OK, "%s, %lld negatives%s", name, (long long)negatives,
         keeps_source ? " of the same source" : "");
  const int64_t valid = (int64_t)(0.1 * (double)m.edges), test = (int64_t)(0.2 * (double)m.edges), each = 1 + negatives;
  tap_ok(dataset->split_count[GNN_VALID] == valid * each && dataset->split_count[GNN_TEST] == test * each && dataset->split_count[GNN_TRAIN] == (m.edges - valid - test) * each,
         "  shares of %lld edges", (long long)m.edges);
  tap_ok(false_labels(dataset, &m) == 0, "  labels are what the graph says");
  tap_ok(false_rings(dataset) == 0, "  rings go around groups");
  const gnn_data_relation *links = gnn_dataset_relation(dataset, "links"), *same = gnn_dataset_relation(again, "links");
  tap_ok(memcmp(links->in_source, same->in_source, (size_t)links->edges * 4) == 0, "  twice the same");
  int64_t changed = 0, wrong = 0;
  for (uint64_t epoch = 101; epoch <= 120; epoch++) {
    gnn_pairs_draw(dataset, team, epoch);
    wrong += false_labels(dataset, &m) + false_rings(dataset);
    changed += memcmp(links->in_source, same->in_source, (size_t)links->edges * 4) != 0;
  }
  tap_ok(wrong == 0 && changed == 20, "  the same of pairs that are drawn anew");
  gnn_pairs_draw(again, alone, 120);
  tap_ok(memcmp(links->in_source, same->in_source, (size_t)links->edges * 4) == 0, "  which are a function of the key");
  gnn_dataset_close(dataset);
  gnn_dataset_close(again);
}

/* Over many epochs there are as many between the rows of two ranks as is expected, of which one has none. */
static void test_among(int is_undirected, int keeps_source) {
  enum { RANKS = 4, EPOCHS = 400 };
  const gnn_recipe recipe = recipe_of(is_undirected, 3, keeps_source);
  const int64_t first[RANKS + 1] = {0, NODES / 3, NODES / 3, NODES / 2, NODES};
  int64_t now[RANKS * RANKS], drawn[RANKS * RANKS] = {0}, all = 0;
  double mean[RANKS * RANKS], off = 0, expected = 0;
  gnn_error error = {0};
  gnn_dataset *dataset = drawn_graph();
  if (gnn_dataset_prepare(dataset, &recipe, &error) != GNN_OK) exit(96);
  for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
    gnn_pairs_draw(dataset, team, epoch);
    if (gnn_pairs_among(dataset, RANKS, first, now, mean, &error) != GNN_OK) exit(96);
    for (int k = 0; k < RANKS * RANKS; k++) drawn[k] += now[k], all += now[k];
  }
  for (int k = 0; k < RANKS * RANKS; k++) {
    const double deviation = ((double)drawn[k] / EPOCHS - mean[k]) / sqrt(mean[k] / EPOCHS + 1e-9);
    expected += mean[k];
    if (fabs(deviation) > off) off = fabs(deviation);
  }
  tap_ok(all == EPOCHS * dataset->pairs->count[GNN_TRAIN] * 3 && fabs(expected - (double)all / EPOCHS) < 1e-6 && off < 5, "between ranks as many as is expected, %s%s: at most %.1f deviations from it", is_undirected ? "undirected" : "directed", keeps_source ? ", of the same source" : "", off);
  gnn_dataset_close(dataset);
}

/* Over many epochs every pair without an edge of train is drawn about as often as every other. */
static void test_uniform(int is_undirected) {
  const gnn_recipe recipe = recipe_of(is_undirected, 4, 0);
  static int64_t count[NODES][NODES];
  gnn_error error = {0};
  gnn_dataset *dataset = drawn_graph();
  memset(count, 0, sizeof count);
  if (gnn_dataset_prepare(dataset, &recipe, &error) != GNN_OK) exit(96);
  const gnn_pairs *pairs = dataset->pairs;
  int64_t drawn = 0, open = 0;
  for (uint64_t epoch = 0; epoch < 300; epoch++) {
    gnn_pairs_draw(dataset, team, epoch);
    for (int64_t i = 0; i < pairs->count[GNN_TRAIN] * 5; i++)
      if (i % 5) count[pairs->source[i]][pairs->destination[i]]++, drawn++;
  }
  double square = 0;
  for (int64_t u = 0; u < NODES; u++)
    for (int64_t v = 0; v < NODES; v++) open += u != v && !(is_undirected && u > v) && !is_in(dataset, u, v);
  const double wanted = (double)drawn / (double)open;
  for (int64_t u = 0; u < NODES; u++)
    for (int64_t v = 0; v < NODES; v++)
      if (u != v && !(is_undirected && u > v) && !is_in(dataset, u, v)) square += ((double)count[u][v] - wanted) * ((double)count[u][v] - wanted) / wanted;
  /* chi-squared of open - 1 degrees: mean open - 1, deviation sqrt(2 (open - 1)) */
  const double off = (square - (double)(open - 1)) / sqrt(2.0 * (double)(open - 1));
  tap_ok(fabs(off) < 5, "%s: %lld pairs over %lld without an edge, %.2f deviations from uniform", is_undirected ? "undirected" : "directed", (long long)drawn, (long long)open, off);
  gnn_dataset_close(dataset);
}

static void refused(gnn_dataset *dataset, const gnn_recipe *recipe, const char *wanted, const char *name) {
  gnn_error error = {0};
  const gnn_status status = gnn_dataset_prepare(dataset, recipe, &error);
  tap_ok(status == GNN_EDATA && strstr(error.message, wanted), "%s: %s", name, error.message);
  gnn_dataset_close(dataset);
}

static void test_edges_of_the_possible(void) {
  const gnn_recipe recipe = recipe_of(0, 1, 0), undirected = recipe_of(1, 2, 1);
  static int64_t source[NODES * NODES], destination[NODES * NODES];
  int64_t all = 0;
  for (int64_t u = 0; u < 10; u++)
    for (int64_t v = 0; v < 10; v++)
      if (u != v) source[all] = u, destination[all++] = v;
  refused(graph_of(10, all, source, destination), &recipe, "joins every node to every other", "all nodes joined");
  refused(graph_of(10, 0, source, destination), &recipe, "none is left to train on", "no edges");
  const int64_t loops[] = {0, 1, 2};
  refused(graph_of(3, 3, loops, loops), &recipe, "none is left to train on", "self-loops only");
  gnn_error error = {0};
  gnn_dataset *one = graph_of(3, 1, source, destination); /* 0 -> 1, and node 2 */
  tap_ok(gnn_dataset_prepare(one, &recipe, &error) == GNN_OK && one->split_count[GNN_TRAIN] == 2 && !one->has_split[GNN_VALID] && one->edges == 1, "one edge: it is trained on");
  gnn_dataset_close(one);
  /* a star: its middle is joined to all, so that no negative can begin there */
  int64_t middle[9], leaf[9];
  for (int64_t v = 0; v < 9; v++) middle[v] = 0, leaf[v] = v + 1;
  gnn_dataset *star = graph_of(10, 9, middle, leaf);
  tap_ok(gnn_dataset_prepare(star, &undirected, &error) == GNN_OK, "a star: where no pair begins at the source, negatives are any");
  int64_t wrong = 0;
  for (int64_t i = 0; i < star->pairs->groups * 3; i++) wrong += i % 3 && star->pairs->source[i] == star->pairs->destination[i];
  tap_ok(wrong == 0, "  and no loops");
  gnn_dataset_close(star);
}

int main(void) {
  team = gnn_team_create(2);
  alone = gnn_team_create(1);
  if (!team || !alone) exit(95);
  for (int is_undirected = 0; is_undirected < 2; is_undirected++) {
    test_graph(is_undirected, 1, 0);
    test_graph(is_undirected, 3, 0);
    test_graph(is_undirected, 2, 1);
    test_uniform(is_undirected);
    for (int keeps_source = 0; keeps_source < 2; keeps_source++) test_among(is_undirected, keeps_source);
  }
  test_edges_of_the_possible();
  gnn_team_destroy(team);
  gnn_team_destroy(alone);
  return tap_done();
}
