/* test_dataset.c: transformations against brute force on small graphs, what is refused and why, the sources. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <pthread.h>

#include "../../runtime/data/npy.h"
#include "../../runtime/data/readers.h"
#include "../../runtime/core/adjacency.h"
#include "../../runtime/core/blocks.h"
#include "tap.h"
#include "arrays.h"

enum { MOST = 64 };

/* A little data set in memory; x[v] = {v + 1, 0, -1 for odd v}, y[v] = v % 3, train 0.., valid, test by thirds. */
typedef struct little {
  int64_t src[MOST], dst[MOST], ids[3][MOST], y[MOST];
  float x[MOST * 3], w[MOST];
  int64_t nodes, edges;
} little;

static void little_fill(little *g, int64_t nodes, int64_t edges, const int64_t (*arcs)[2]) {
  memset(g, 0, sizeof *g);
  g->nodes = nodes;
  g->edges = edges;
  for (int64_t e = 0; e < edges; e++) {
    g->src[e] = arcs[e][0];
    g->dst[e] = arcs[e][1];
    g->w[e] = (float)(e + 10);
  }
  for (int64_t v = 0; v < nodes; v++) {
    g->x[3 * v] = (float)(v + 1);
    g->x[3 * v + 2] = v % 2 ? -1 : 0;
    g->y[v] = v % 3;
  }
}

static gnn_dataset *little_open(const little *g) {
  const gnn_array x = {.dtype = GNN_F32, .rank = 2, .shape = {g->nodes, 3}, .count = g->nodes * 3, .data = (const unsigned char *)g->x};
  return weighted_graph("little", g->nodes, g->edges, g->src, g->dst, &x, g->y, g->w);
}

static int has_arc(const gnn_dataset *d, int64_t from, int64_t to, int64_t *edge) {
  for (int64_t e = d->in_ptr[to]; e < d->in_ptr[to + 1]; e++) {
    if (d->in_source[e] != from) continue;
    *edge = e;
    return 1;
  }
  return 0;
}

/* What the recipe should give, by looking at every pair. Edge values: the first arc's, the reverse's, or 1. */
static int agrees(const little *g, const gnn_dataset *d, const gnn_recipe *recipe) {
  int64_t count = 0;
  int symmetric = 1;
  const gnn_data_field *w = gnn_dataset_field(d, "w");
  for (int64_t u = 0; u < g->nodes; u++) {
    for (int64_t v = 0; v < g->nodes; v++) {
      int64_t forward = -1, backward = -1, edge;
      for (int64_t e = g->edges - 1; e >= 0; e--) {
        if (g->src[e] == u && g->dst[e] == v) forward = e;
        if (g->src[e] == v && g->dst[e] == u) backward = e;
      }
      int wanted = forward >= 0 || (recipe->is_undirected && backward >= 0);
      int reverse = backward >= 0 || (recipe->is_undirected && forward >= 0);
      float value = forward >= 0 ? g->w[forward] : backward >= 0 ? g->w[backward] : 1;
      if (u == v && recipe->self_loops == GNN_LOOPS_REMOVE) wanted = reverse = 0;
      if (u == v && recipe->self_loops == GNN_LOOPS_ADD && !wanted) { wanted = reverse = 1; value = 1; }
      symmetric &= wanted == reverse;
      count += wanted;
      if (has_arc(d, u, v, &edge) != wanted) return 0;
      if (wanted && w->dense[edge] != value) return 0;
    }
  }
  for (int64_t v = 0; v < d->nodes; v++)
    for (int64_t e = d->in_ptr[v] + 1; e < d->in_ptr[v + 1]; e++)
      if (d->in_source[e - 1] >= d->in_source[e]) return 0;
  return count == d->edges && symmetric == d->is_symmetric && w->rows == count;
}

static void test_edges(void) {
  int wrong = 0, tried = 0;
  uint32_t state = 1;
  for (int round = 0; round < 60; round++) {
    int64_t arcs[MOST][2], nodes = 1 + round % 9;
    little g;
    for (int e = 0; e < MOST; e++)
      for (int k = 0; k < 2; k++) arcs[e][k] = (int64_t)((state = state * 1664525u + 1013904223u) >> 16) % nodes;
    little_fill(&g, nodes, round % 37, (const int64_t(*)[2])arcs);
    for (int recipe_bits = 0; recipe_bits < 6; recipe_bits++) {
      gnn_recipe recipe = {.is_undirected = recipe_bits & 1, .self_loops = (gnn_self_loops)(recipe_bits / 2)};
      gnn_dataset *d = little_open(&g);
      gnn_error error = {"", "", ""};
      int is_right = gnn_dataset_prepare(d, &recipe, &error) == GNN_OK && agrees(&g, d, &recipe);
      if (!is_right) printf("# round %d recipe %d: %s\n", round, recipe_bits, error.message);
      wrong += !is_right;
      tried++;
      gnn_dataset_close(d);
    }
  }
  tap_ok(wrong == 0, "edges: %d small graphs and recipes, against every pair", tried);
}

static int has_note(const gnn_dataset *d, const char *code, const char *text) {
  for (int i = 0; i < d->note_count; i++)
    if (strcmp(d->notes[i].code, code) == 0 && strstr(d->notes[i].text, text)) return 1;
  return 0;
}

static void test_notes(void) {
  static const int64_t arcs[][2] = {{0, 1}, {1, 2}, {2, 2}, {0, 1}, {0, 1}, {3, 0}};
  little g;
  little_fill(&g, 5, 6, arcs);
  gnn_error error;
  gnn_dataset *d = little_open(&g);
  gnn_recipe recipe = {.self_loops = GNN_LOOPS_REMOVE};
  gnn_status status = gnn_dataset_prepare(d, &recipe, &error);
  tap_ok(status == GNN_OK && has_note(d, "", "dropped 2 duplicate edges") && has_note(d, "", "dropped 1 self-loops") &&
         has_note(d, "W0703", "0 % of the 3 edges have their reverse") && has_note(d, "W0704", "2 of 5 nodes have no in-edge"),
         "notes: duplicates, loops, one-way edges, silent nodes");
  gnn_dataset_close(d);
  d = little_open(&g);
  recipe = (gnn_recipe){.is_undirected = 1, .self_loops = GNN_LOOPS_ADD};
  status = gnn_dataset_prepare(d, &recipe, &error);
  tap_ok(status == GNN_OK && has_note(d, "", "added 3 reverse edges") && has_note(d, "", "added 4 self-loops") &&
         has_note(d, "", "w of the 4 added self-loops is 1") && has_note(d, "", "carry no split") && d->is_symmetric,
         "notes: what was added");
  gnn_dataset_close(d);
}

static void test_normalise(void) {
  static const int64_t arcs[][2] = {{0, 1}};
  static const char *const names[] = {"x"};
  little g;
  little_fill(&g, 4, 1, arcs);
  memset(g.x + 6, 0, 3 * sizeof(float));
  gnn_recipe recipe = {.normalised_count = 1, .normalised = names};
  gnn_dataset *d = little_open(&g);
  gnn_status status = gnn_dataset_prepare(d, &recipe, NULL);
  float row[3], value[3];
  int32_t column[3];
  const gnn_data_field *x = gnn_dataset_field(d, "x");
  int is_right = status == GNN_OK && x->divisor != NULL;
  if (is_right) {
    gnn_field_row(x, 0, row);
    is_right = row[0] == 1 && row[1] == 0 && row[2] == 0;
    gnn_field_row(x, 2, row);
    is_right &= row[0] == 0 && row[1] == 0 && row[2] == 0;
    gnn_field_row(x, 3, row);
    is_right &= row[0] == 4.0f / 3 && row[2] == -1.0f / 3;
    is_right &= gnn_field_row_nonzeros(x, 3, column, value) == 2 && column[1] == 2 && value[1] == row[2];
  }
  tap_ok(is_right && has_note(d, "", "1 rows sum to 0"), "normalize: rows sum to 1, zero rows stay");
  tap_ok(has_note(d, "", "PyG's NormalizeFeatures would"), "normalize: where PyG does otherwise it is said");
  gnn_dataset_close(d);
}

/* Prepares g as changed by the caller and expects this code and text. */
static int refuses(const little *g, const gnn_recipe *recipe, const char *code, const char *text, const char *help) {
  gnn_error error = {"", "", ""};
  gnn_dataset *d = little_open(g);
  for (int s = 0; s < 3; s++) {
    if (g->ids[s][0] < 0) continue;
    int64_t count = 0;
    while (count < MOST && g->ids[s][count] >= 0) count++;
    d->raw_split[s] = vector(GNN_I64, count, g->ids[s]);
    d->is_split_ids[s] = 1;
  }
  gnn_status status = gnn_dataset_prepare(d, recipe, &error);
  gnn_dataset_close(d);
  int is_right = status != GNN_OK && strcmp(error.code, code) == 0 && strstr(error.message, text) && strstr(error.help, help);
  if (!is_right) printf("# %d [%s] %s / %s\n", status, error.code, error.message, error.help);
  return is_right;
}

static void test_refusals(void) {
  static const int64_t arcs[][2] = {{0, 1}, {1, 2}, {2, 0}};
  static const int64_t based[][2] = {{1, 2}, {2, 3}, {3, 1}};
  gnn_recipe none = {0};
  little g;
#define FRESH(a) (little_fill(&g, 3, 3, a), memset(g.ids, 0xff, sizeof g.ids))
  FRESH(arcs);
  g.dst[1] = 7;
  tap_ok(refuses(&g, &none, "E0701", "edge 1 is 1 → 7, but nodes run 0 … 2", "ids in the edges run 0 … 7"), "E0701: an endpoint too large");
  g.dst[1] = -1;
  tap_ok(refuses(&g, &none, "E0701", "edge 1 is 1 → -1", ""), "E0701: a negative endpoint");
  FRESH(based);
  tap_ok(refuses(&g, &none, "E0701", "edge 1 is 2 → 3", "1-based"), "E0701: the 1-based hint");
  FRESH(arcs);
  g.y[2] = -2;
  tap_ok(refuses(&g, &none, "E0702", "y[2] is -2", ""), "E0702: a negative label");
  FRESH(arcs);
  g.x[4] = NAN;
  g.x[5] = NAN;
  tap_ok(refuses(&g, &none, "E0705", "x holds 2 NaN, first at node 1 column 1", ""), "E0705: NaN");
  g.x[4] = -INFINITY;
  g.x[5] = 0;
  tap_ok(refuses(&g, &none, "E0705", "x holds 1 infinite number, first at node 1 column 1", ""), "E0705: infinity");
  g.x[5] = NAN;
  tap_ok(refuses(&g, &none, "E0705", "x holds 1 NaN and 1 infinite number, first at node 1 column 1", ""), "E0705: both");
  FRESH(arcs);
  g.ids[0][0] = 0;
  g.ids[0][1] = 1;
  g.ids[2][0] = 1;
  tap_ok(refuses(&g, &none, "E0707", "1 node is in both train and test", "the first of them is 1"), "E0707: splits overlap");
  g.ids[0][1] = 0;
  tap_ok(refuses(&g, &none, "E0707", "row 0 is twice in split train", ""), "E0707: a row twice");
  g.ids[0][1] = 9;
  tap_ok(refuses(&g, &none, "E0701", "split train names row 9", ""), "E0701: a split beyond the rows");
  FRESH(arcs);
  g.ids[2][0] = 1;
  tap_ok(refuses(&g, &none, "", "split train is empty", ""), "a split without training rows");
  FRESH(arcs);
  gnn_recipe recipe = {.split_index = 3};
  g.ids[0][0] = 0;
  tap_ok(refuses(&g, &recipe, "", "has 1 split", ""), "a split that is not stored");
  recipe = (gnn_recipe){.has_random_split = 1, .split_fraction = {0.9, 0.9, 0}};
  tap_ok(refuses(&g, &recipe, "", "more than 1", ""), "shares above 1");
  static const char *const names[] = {"z"};
  recipe = (gnn_recipe){.normalised_count = 1, .normalised = names};
  tap_ok(refuses(&g, &recipe, "E0203", "no field \"z\"", ""), "normalize of a field that is not there");
#undef FRESH
  little_fill(&g, 3, 3, arcs);
  gnn_dataset *d = little_open(&g);
  d->raw_destination.count = 2;
  gnn_error error;
  tap_ok(gnn_dataset_prepare(d, NULL, &error) == GNN_EDATA && strstr(error.message, "3 sources but 2 destinations"), "edges of different lengths");
  gnn_dataset_close(d);
  d = little_open(&g);
  d->declared_nodes = 4;
  tap_ok(gnn_dataset_prepare(d, NULL, &error) == GNN_EDATA && strstr(error.message, "x has 3 rows, but there are 4 nodes"), "sizes that disagree");
  gnn_dataset_close(d);
  d = little_open(&g);
  d->raw_source.dtype = GNN_F64;
  tap_ok(gnn_dataset_prepare(d, NULL, &error) == GNN_EDATA && strstr(error.message, "whole numbers"), "edge ids that are not whole");
  gnn_dataset_close(d);
  d = little_open(&g);
  d->raw_source.dtype = d->raw_destination.dtype = GNN_U64;
  g.src[0] = -5;
  tap_ok(gnn_dataset_prepare(d, NULL, &error) == GNN_EDATA && strcmp(error.code, "E0701") == 0, "unsigned ids beyond 2^63");
  gnn_dataset_close(d);
  d = little_open(&g);
  g.src[0] = 0;
  gnn_dataset_prepare(d, NULL, &error);
  tap_ok(gnn_field_check_labels(gnn_dataset_field(d, "y"), 2, &error) == GNN_EDATA && strcmp(error.code, "E0702") == 0 &&
         strstr(error.message, "y[2] is 2, classes run 0 … 1"), "E0702: a label out of range");
  gnn_dataset_close(d);
}

static void test_splits(void) {
  gnn_error error;
  gnn_recipe recipe = {.has_random_split = 1, .split_fraction = {0.5, 0.25, 0.25}, .split_seed = 3};
  gnn_dataset *a, *b;
  gnn_dataset_open_path("karate", &a, &error);
  gnn_dataset_open_path("karate", &b, &error);
  gnn_status status = gnn_dataset_prepare(a, &recipe, &error);
  tap_ok(status == GNN_OK && a->split_count[0] == 17 && a->split_count[1] == 8 && a->split_count[2] == 9, "random split: shares of the rows");
  gnn_dataset_prepare(b, &recipe, &error);
  int is_same = 1;
  for (int s = 0; s < 3; s++) is_same &= memcmp(a->split_rows[s], b->split_rows[s], (size_t)a->split_count[s] * 4) == 0;
  gnn_dataset_close(b);
  recipe.split_seed = 4;
  gnn_dataset_open_path("karate", &b, &error);
  gnn_dataset_prepare(b, &recipe, &error);
  int differs = memcmp(a->split_rows[0], b->split_rows[0], 17 * 4) != 0;
  tap_ok(is_same && differs && a->fingerprint != b->fingerprint, "random split: a function of its seed");
  gnn_dataset_close(a);
  gnn_dataset_close(b);
}

static void test_karate(void) {
  gnn_error error;
  gnn_dataset *d;
  gnn_dataset_open_path("karate", &d, &error);
  gnn_status status = gnn_dataset_prepare(d, NULL, &error);
  tap_ok(status == GNN_OK && d->nodes == 34 && d->edges == 156 && d->is_symmetric && d->self_loops == 0 && d->silent_nodes == 0 &&
         d->note_count == 0, "karate: 34 members, 78 friendships both ways, nothing to note");
  tap_ok(d->in_ptr[34] - d->in_ptr[33] == 17 && d->in_ptr[1] == 16 && d->fields[1].classes == 4 && d->split_count[0] == 4 &&
         d->split_count[1] == 10 && d->split_count[2] == 20, "karate: degrees of the two leaders, classes, split");
  gnn_dataset_close(d);
}

static gnn_dataset *synth(gnn_synth_kind kind, int is_sparse, uint64_t seed) {
  gnn_synth s = {.kind = kind, .nodes = 300, .features = 24, .classes = 3, .degree = 6, .seed = seed, .is_sparse = is_sparse};
  gnn_dataset *d = gnn_dataset_new("synth");
  if (gnn_read_synth(d, &s, NULL) != GNN_OK || gnn_dataset_prepare(d, NULL, NULL) != GNN_OK) exit(98);
  return d;
}

static int same_data(const gnn_dataset *a, const gnn_dataset *b) {
  float left[64], right[64];
  if (a->nodes != b->nodes || a->edges != b->edges || memcmp(a->in_ptr, b->in_ptr, (size_t)(a->nodes + 1) * 8) != 0 ||
      memcmp(a->in_source, b->in_source, (size_t)a->edges * 4) != 0)
    return 0;
  const gnn_data_field *p = gnn_dataset_field(a, "x"), *q = gnn_dataset_field(b, "x");
  if (p->width != q->width || p->nonzeros != q->nonzeros) return 0;
  for (int64_t v = 0; v < a->nodes; v++) {
    gnn_field_row(p, v, left);
    gnn_field_row(q, v, right);
    if (memcmp(left, right, (size_t)p->width * sizeof *left) != 0) return 0;
  }
  p = gnn_dataset_field(a, "y");
  q = gnn_dataset_field(b, "y");
  if (p->classes != q->classes || memcmp(p->label, q->label, (size_t)a->nodes * 4) != 0) return 0;
  for (int s = 0; s < 3; s++)
    if (a->split_count[s] != b->split_count[s] || memcmp(a->split_rows[s], b->split_rows[s], (size_t)a->split_count[s] * 4) != 0)
      return 0;
  return 1;
}

/* Graphs of 10 to 30 atoms, the last of what is left; four bonds at most; each atom of one element; and all of it a function of the seed. */
static void test_molecules(void) {
  enum { NODES = 2000, ELEMENTS = 9 };
  gnn_dataset *set[3] = {NULL};
  gnn_error error;
  gnn_status status = GNN_OK;
  for (int i = 0; i < 3 && status == GNN_OK; i++) {
    const gnn_synth synth = {.kind = GNN_SYNTH_MOLECULES, .nodes = NODES, .features = ELEMENTS, .classes = 2, .seed = i == 2};
    set[i] = gnn_dataset_new("molecules");
    status = gnn_read_synth(set[i], &synth, &error);
    if (status == GNN_OK) status = gnn_dataset_prepare(set[i], NULL, &error);
  }
  tap_ok(status == GNN_OK, "synth molecules: made");
  if (status == GNN_OK) {
    const gnn_dataset *a = set[0], *b = set[1], *other = set[2];
    const gnn_data_field *y = gnn_dataset_field(a, "y"), *x = gnn_dataset_field(a, "x");
    int is_sized = a->graphs > NODES / 30 && a->graph_ptr[a->graphs] == NODES, is_bound = a->is_symmetric, is_element = x->nonzeros == NODES, is_joined = 1;
    for (int64_t g = 0; g + 1 < a->graphs; g++) is_sized &= a->graph_ptr[g + 1] - a->graph_ptr[g] >= 10 && a->graph_ptr[g + 1] - a->graph_ptr[g] <= 30;
    for (int64_t g = 0; g < a->graphs; g++)
      for (int64_t v = a->graph_ptr[g]; v < a->graph_ptr[g + 1]; v++) {
        const int64_t bonds = a->in_ptr[v + 1] - a->in_ptr[v];
        float row[ELEMENTS], sum = 0;
        is_bound &= bonds <= 4;
        is_joined &= v == a->graph_ptr[g] || (bonds > 0 && a->in_source[a->in_ptr[v]] < v); /* to one before it: the graph is of one piece */
        gnn_field_row(x, v, row);
        for (int e = 0; e < ELEMENTS; e++) sum += row[e];
        is_element &= sum == 1;
      }
    tap_ok(is_sized && is_bound && is_joined && is_element && a->mutual_edges / 2 >= NODES - a->graphs, "  %lld of them, as they should be", (long long)a->graphs);
    tap_ok(y && y->domain == GNN_GRAPH && y->classes == 2 && a->split_domain == GNN_GRAPH && a->split_count[0] > a->graphs / 2 && a->split_count[1] && a->split_count[2], "  labels and splits are of graphs");
    tap_ok(a->edges == b->edges && memcmp(a->in_source, b->in_source, (size_t)a->edges * sizeof *a->in_source) == 0 && (a->edges != other->edges || memcmp(a->in_source, other->in_source, (size_t)a->edges * sizeof *a->in_source) != 0),
           "  a function of the seed");
  }
  for (int i = 0; i < 3; i++) gnn_dataset_close(set[i]);
}

static void test_sources(void) {
  for (int kind = 0; kind < 4; kind++) {
    gnn_error error;
    gnn_dataset *a = synth((gnn_synth_kind)kind, kind % 2, 1), *b = synth((gnn_synth_kind)kind, kind % 2, 1), *c = NULL;
    gnn_dataset *other = synth((gnn_synth_kind)kind, kind % 2, 2);
    tap_ok(same_data(a, b) && !same_data(a, other) && a->is_symmetric && a->split_count[0] > 120, "synth %s: a function of its seed",
           gnn_synth_names[kind]);
    const char *path = tap_path("synth.safetensors");
    gnn_status status = gnn_write_container(a, path, 1, "test", &error);
    if (status == GNN_OK) status = gnn_dataset_open_path(path, &c, &error);
    if (status == GNN_OK) status = gnn_dataset_prepare(c, NULL, &error);
    tap_ok(status == GNN_OK && same_data(a, c), "synth %s: written and read again", gnn_synth_names[kind]);
    gnn_dataset_close(a);
    gnn_dataset_close(b);
    gnn_dataset_close(c);
    gnn_dataset_close(other);
  }
}

static void test_container_damage(void) {
  enum { ROOM = 1 << 16 };
  static unsigned char bytes[ROOM];
  gnn_error error;
  gnn_dataset *d;
  const char *path = tap_path("k.safetensors");
  gnn_dataset_open_path("karate", &d, &error);
  gnn_dataset_prepare(d, NULL, &error);
  gnn_write_container(d, path, 1, "", &error);
  gnn_dataset_close(d);
  size_t size = tap_read(path, bytes, ROOM);
  int wrong = 0, refused = 0, tried = 0;
  for (size_t n = 0; n < size; n++) {
    tap_write(path, bytes, n);
    error.message[0] = 0;
    wrong += gnn_dataset_open_path(path, &d, &error) == GNN_OK || !error.message[0];
  }
  tap_ok(wrong == 0, "container: cut at each of %d lengths", (int)size);
  for (size_t n = 0; n < size * 8; n += n < 9000 ? 7 : 61) {
    bytes[n / 8] ^= (unsigned char)(1 << n % 8);
    tap_write(path, bytes, size);
    error.message[0] = 0;
    gnn_status status = gnn_dataset_open_path(path, &d, &error);
    if (status == GNN_OK) {
      status = gnn_dataset_prepare(d, NULL, &error);
      gnn_dataset_close(d);
    }
    wrong += status != GNN_OK && !error.message[0];
    refused += status != GNN_OK;
    tried++;
    bytes[n / 8] ^= (unsigned char)(1 << n % 8);
  }
  tap_ok(wrong == 0, "container: %d of %d flipped bits are refused, none without a reason", refused, tried);
}

static void test_planetoid(void) {
  static const char content[] = "p1 1 0 0 theory\np2\t0\t1\t0\tneural\nx9 0 0.5 1 theory\n\n4 0 0 0 ai\n";
  static const char cites[] = "p1 p2\nx9 p1\np1 x9\n4 unknown\np2 p2\n";
  char folder[128];
  snprintf(folder, sizeof folder, "%s", tap_path("raw"));
  gnn_error error;
  gnn_dataset *d = NULL;
  gnn_make_directories(folder, &error);
  tap_write(tap_path("raw/tiny.content"), content, sizeof content - 1);
  tap_write(tap_path("raw/tiny.cites"), cites, sizeof cites - 1);
  gnn_status status = gnn_dataset_open_path(folder, &d, &error);
  if (status == GNN_OK) status = gnn_dataset_prepare(d, NULL, &error);
  int64_t e;
  tap_ok(status == GNN_OK && d->nodes == 4 && d->edges == 5 && d->is_symmetric && has_arc(d, 1, 0, &e) && has_arc(d, 0, 2, &e) &&
         d->self_loops == 1 && strcmp(d->name, "tiny") == 0, "planetoid: papers, citations both ways");
  tap_ok(status == GNN_OK && d->fields[1].classes == 3 && d->fields[1].label[0] == 2 && d->fields[1].label[1] == 1 &&
         d->fields[1].label[3] == 0 && d->fields[0].dense[7] == 0.5f && has_note(d, "", "0 ai, 1 neural, 2 theory") &&
         has_note(d, "", "dropped 1 citations") && has_note(d, "", "carry no split"), "planetoid: classes by name, what is missing is said");
  gnn_dataset_close(d);
  static const char *const bad[] = {"", "p1\n", "p1 1\n", "p1 1 0 a\np2 1 a\n", "p1 1 x a\n", "p1 1 0 a\np1 1 0 a\n"};
  int wrong = 0;
  for (int i = 0; i < 6; i++) {
    tap_write(tap_path("raw/tiny.content"), bad[i], strlen(bad[i]));
    status = gnn_dataset_open_path(folder, &d, &error);
    wrong += i == 2 ? 0 : status != GNN_EDATA;
    gnn_dataset_close(d);
  }
  tap_write(tap_path("raw/tiny.content"), content, sizeof content - 1);
  tap_write(tap_path("raw/tiny.cites"), "p1\n", 3);
  wrong += gnn_dataset_open_path(folder, &d, &error) != GNN_EDATA;
  tap_ok(wrong == 0, "planetoid: damaged text is refused");
}

/* A folder of arrays with labels as whole floats, an edge weight, several splits. */
static void test_folder(void) {
  static const int64_t arcs[] = {0, 1, 2, 1, 2, 0};
  static const double y[] = {0, 1, NAN};
  static const unsigned char masks[] = {1, 0, 0, 0, 1, 0}, mask[] = {0, 1, 0};
  static const float x[] = {1, 2, 3}, w[] = {5, 6, 7};
  char folder[128];
  snprintf(folder, sizeof folder, "%s", tap_path("npy"));
  gnn_error error;
  gnn_dataset *d = NULL;
  gnn_make_directories(folder, &error);
  gnn_array a = {.dtype = GNN_I64, .rank = 2, .shape = {2, 3}, .count = 6, .data = (const unsigned char *)arcs};
  gnn_npy_write(tap_path("npy/edge_index.npy"), &a, &error);
  a = vector(GNN_F64, 3, y);
  gnn_npy_write(tap_path("npy/y.npy"), &a, &error);
  a = (gnn_array){.dtype = GNN_U8, .rank = 2, .shape = {2, 3}, .count = 6, .data = masks};
  gnn_npy_write(tap_path("npy/train_masks.npy"), &a, &error);
  a = vector(GNN_U8, 3, mask);
  gnn_npy_write(tap_path("npy/val_mask.npy"), &a, &error);
  a = (gnn_array){.dtype = GNN_F32, .rank = 2, .shape = {3, 1}, .count = 3, .data = (const unsigned char *)x};
  gnn_npy_write(tap_path("npy/x.npy"), &a, &error);
  a = vector(GNN_F32, 3, w);
  gnn_npy_write(tap_path("npy/edge_weight.npy"), &a, &error);
  gnn_status status = gnn_dataset_open_path(folder, &d, &error);
  if (status == GNN_OK) status = gnn_dataset_prepare(d, NULL, &error);
  tap_ok(status == GNN_OK && d->nodes == 3 && d->split_choices == 2 && d->split_rows[0][0] == 0 && d->split_count[1] == 1 &&
         gnn_dataset_field(d, "edge_weight")->domain == GNN_EDGE, "folder: fields by name, several splits");
  tap_ok(status == GNN_OK && gnn_dataset_field(d, "y")->label[2] == -1 && has_note(d, "", "stored as float64; all are whole numbers") &&
         has_note(d, "", "no label"), "folder: whole floats are classes, NaN is no label");
  gnn_dataset_close(d);
  gnn_recipe recipe = {.split_index = 1};
  status = gnn_dataset_open_path(folder, &d, &error);
  if (status == GNN_OK) status = gnn_dataset_prepare(d, &recipe, &error);
  tap_ok(status == GNN_OK && d->split_rows[0][0] == 1 && d->split_count[1] == 0, "folder: the second split");
  gnn_dataset_close(d);
  tap_write(tap_path("npy/graph.json"), "{\"num_nodes\": 4}", 16);
  status = gnn_dataset_open_path(folder, &d, &error);
  if (status == GNN_OK) {
    status = gnn_dataset_prepare(d, NULL, &error);
    gnn_dataset_close(d);
  }
  tap_ok(status == GNN_EDATA, "folder: graph.json and arrays that disagree");
  tap_write(tap_path("npy/graph.json"), "{\"num_edges\": 4}", 16);
  tap_ok(gnn_dataset_open_path(folder, &d, &error) == GNN_EDATA && strstr(error.message, "says 4 edges, edge_index has 3"), "folder: another number of edges");
  static const unsigned char wrong_mask[] = {0, 2, 0};
  tap_write(tap_path("npy/graph.json"), "{}", 2);
  a = vector(GNN_U8, 3, wrong_mask);
  gnn_npy_write(tap_path("npy/train_mask.npy"), &a, &error);
  gnn_dataset_open_path(folder, &d, &error);
  tap_ok(gnn_dataset_prepare(d, NULL, &error) == GNN_EDATA && strstr(error.message, "entry 1 of the mask of split train is 2"), "folder: a mask of other numbers");
  gnn_dataset_close(d);
  a = vector(GNN_U8, 2, wrong_mask);
  gnn_npy_write(tap_path("npy/train_mask.npy"), &a, &error);
  gnn_dataset_open_path(folder, &d, &error);
  tap_ok(gnn_dataset_prepare(d, NULL, &error) == GNN_EDATA && strstr(error.message, "has 2 entries for 3 labels"), "folder: a mask of another length");
  gnn_dataset_close(d);
  gnn_source_arg args[] = {{"", "npy", 0}, {"pth", "x", 0}};
  gnn_source source = {"npy", 1, args};
  status = gnn_dataset_open(&source, tap_folder(), &d, &error);
  tap_ok(status == GNN_OK, "open: relative to the base folder");
  gnn_dataset_close(d);
  source.arg_count = 2;
  tap_ok(gnn_dataset_open(&source, tap_folder(), &d, &error) == GNN_EINVAL, "open: an unknown argument");
  source = (gnn_source){"npy", 1, &(gnn_source_arg){"", "nowhere", 0}};
  tap_ok(gnn_dataset_open(&source, tap_folder(), &d, &error) == GNN_EIO && strcmp(error.code, "E0001") == 0, "open: a path that is not there");
  source = (gnn_source){"shapes", 0, NULL};
  tap_ok(gnn_dataset_open(&source, NULL, &d, &error) == GNN_EDATA && strstr(error.help, "--data"), "open: shapes have no data");
}

/* ---- edges of ranks, which are threads here ---- */

enum { OWN_RANKS = 3, OWN_NODES = 5000, OWN_EDGES = 18000 };

typedef struct own_ranks {
  pthread_barrier_t all;
  int64_t counts[2 * GNN_RANKS_MOST];
  uint32_t of_nodes[OWN_NODES];
  int64_t first[OWN_RANKS + 1];
  const gnn_recipe *recipe;
  int64_t source[OWN_EDGES], destination[OWN_EDGES], row_ptr[OWN_NODES + 1];
  int is_by_rows;
} own_ranks;

typedef struct own_rank {
  own_ranks *ranks;
  int number;
  gnn_dataset *dataset;
  gnn_status status;
} own_rank;

static void own_add(void *context, int64_t *numbers, int64_t count) {
  const own_rank *rank = context;
  own_ranks *ranks = rank->ranks;
  for (int turn = 0; turn < OWN_RANKS; turn++) {
    for (int64_t i = 0; turn == rank->number && i < count; i++) ranks->counts[i] = (turn ? ranks->counts[i] : 0) + numbers[i];
    pthread_barrier_wait(&ranks->all);
  }
  memcpy(numbers, ranks->counts, (size_t)count * sizeof *numbers);
  pthread_barrier_wait(&ranks->all);
}

static void own_gather(void *context, uint32_t *of_nodes) {
  const own_rank *rank = context;
  own_ranks *ranks = rank->ranks;
  const int64_t begin = ranks->first[rank->number], end = ranks->first[rank->number + 1];
  memcpy(ranks->of_nodes + begin, of_nodes + begin, (size_t)(end - begin) * sizeof *of_nodes);
  pthread_barrier_wait(&ranks->all);
  memcpy(of_nodes, ranks->of_nodes, sizeof ranks->of_nodes);
  pthread_barrier_wait(&ranks->all);
}

static gnn_dataset *own_open(const own_ranks *ranks) {
  gnn_dataset *d = gnn_dataset_new("own");
  d->raw_source = vector(GNN_I64, OWN_EDGES, ranks->source);
  d->raw_destination = ranks->is_by_rows ? vector(GNN_I32, OWN_EDGES, NULL) : vector(GNN_I64, OWN_EDGES, ranks->destination);
  if (ranks->is_by_rows) d->raw_row_ptr = vector(GNN_I64, OWN_NODES + 1, ranks->row_ptr);
  d->has_edges = 1;
  d->declared_nodes = OWN_NODES;
  return d;
}

static void *own_prepare(void *context) {
  own_rank *rank = context;
  const int64_t *first = rank->ranks->first;
  const gnn_own_rows rows = {OWN_RANKS, rank->number, OWN_NODES, first[rank->number], first[rank->number + 1], rank, own_add, own_gather};
  rank->status = gnn_dataset_prepare_own(rank->dataset, rank->ranks->recipe, &rows, NULL);
  return NULL;
}

/* Edges of its nodes both ways, in their order, and what is said of all. */
static int own_agrees(const gnn_dataset *d, const gnn_dataset *whole) {
  const gnn_own_edges *own = d->own;
  static int64_t out_ptr[OWN_NODES + 1];
  static int32_t out_destination[2 * OWN_EDGES + OWN_NODES];
  int64_t cut[2][8], in = 0, out = 0;
  if (own == NULL || d->in_ptr || d->edges != whole->edges || d->is_symmetric != whole->is_symmetric || d->note_count != whole->note_count || own->before != whole->in_ptr[own->begin]) return 0;
  for (int n = 0; n < d->note_count; n++)
    if (strcmp(d->notes[n].text, whole->notes[n].text) != 0) return 0;
  gnn_dataset_cut(d, cut[0], NULL, NULL, NULL);
  gnn_dataset_cut(whole, cut[1], NULL, NULL, NULL);
  if (memcmp(cut[0], cut[1], (((size_t)1 << gnn_block_levels(OWN_NODES)) + 1) * sizeof **cut) != 0) return 0;
  gnn_adjacency_turn(whole->in_ptr, whole->in_source, OWN_NODES, OWN_NODES, out_ptr, out_destination, NULL);
  for (int64_t v = own->begin; v < own->end; v++) {
    for (int64_t e = whole->in_ptr[v]; e < whole->in_ptr[v + 1]; e++)
      if (in == own->in_ptr[v - own->begin + 1] || own->in_source[in++] != whole->in_source[e]) return 0;
    for (int64_t e = out_ptr[v]; e < out_ptr[v + 1]; e++)
      if (out == own->out_ptr[v - own->begin + 1] || own->out_destination[out++] != out_destination[e]) return 0;
    if (in != own->in_ptr[v - own->begin + 1] || out != own->out_ptr[v - own->begin + 1]) return 0;
  }
  return 1;
}

/* Edges some of which are there more than once, and loops; by rows, where their sources are in no order. */
static void own_draw(own_ranks *ranks, int is_by_rows) {
  uint64_t state = 7;
  int64_t e = 0;
  ranks->is_by_rows = is_by_rows;
  for (int64_t v = 0; v < OWN_NODES; v++) {
    ranks->row_ptr[v] = e;
    for (int64_t left = (OWN_EDGES - e) / (OWN_NODES - v); left > 0; left--, e++) {
      state = state * UINT64_C(6364136223846793005) + 1;
      ranks->source[e] = (int64_t)(state >> 33) % (state >> 60 ? OWN_NODES : 40);
      ranks->destination[e] = e % 11 ? v : ranks->source[e];
      if (is_by_rows) ranks->destination[e] = v;
      if (e % 13 == 5 && e > ranks->row_ptr[v]) ranks->source[e] = ranks->source[e - 1], ranks->destination[e] = ranks->destination[e - 1];
    }
  }
  ranks->row_ptr[OWN_NODES] = e;
}

static void test_own(void) {
  static own_ranks ranks = {.first = {0, 900, 900, OWN_NODES}}; /* one has no nodes */
  pthread_barrier_init(&ranks.all, NULL, OWN_RANKS);
  for (int form = 0; form < 24; form++) {
    const gnn_recipe recipe = {.is_undirected = form & 1, .keeps_duplicates = form >> 1 & 1, .self_loops = (gnn_self_loops)(form >> 3)};
    own_rank rank[OWN_RANKS];
    pthread_t thread[OWN_RANKS];
    own_draw(&ranks, form >> 2 & 1);
    ranks.recipe = &recipe;
    gnn_dataset *whole = own_open(&ranks);
    int is_right = gnn_dataset_prepare(whole, &recipe, NULL) == GNN_OK;
    for (int r = 0; r < OWN_RANKS; r++) {
      rank[r] = (own_rank){&ranks, r, own_open(&ranks), GNN_OK};
      pthread_create(&thread[r], NULL, own_prepare, &rank[r]);
    }
    for (int r = 0; r < OWN_RANKS; r++) pthread_join(thread[r], NULL);
    for (int r = 0; r < OWN_RANKS; r++) is_right &= rank[r].status == GNN_OK && own_agrees(rank[r].dataset, whole) && rank[r].dataset->own->read == rank[0].dataset->own->read;
    tap_ok(is_right, "edges of ranks: undirected %d, duplicates kept %d, by rows %d, loops %d", form & 1, form >> 1 & 1, form >> 2 & 1, form >> 3);
    for (int r = 0; r < OWN_RANKS; r++) gnn_dataset_close(rank[r].dataset);
    gnn_dataset_close(whole);
  }
  pthread_barrier_destroy(&ranks.all);
}

static void test_shared(void) {
  static const struct { const char *path; int64_t nodes, edges, classes, train; } sets[] = {
    {"cora", 2708, 10556, 7, 140}, {"amazon_photo", 7650, 238162, 8, 160}, {"actor", 7600, 53318, 5, 3648}, {"mutag", 3371, 7442, 2, 152}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    char path[256], what[64];
    gnn_error error = {"", "", ""};
    gnn_dataset *d = NULL;
    snprintf(path, sizeof path, "../shared/data/%s", sets[i].path);
    snprintf(what, sizeof what, "shared: %s", sets[i].path);
    if (!gnn_path_exists(path)) {
      tap_skip(what, "no ../shared/data");
      continue;
    }
    gnn_status status = gnn_dataset_open_path(path, &d, &error);
    if (status == GNN_OK) status = gnn_dataset_prepare(d, NULL, &error);
    tap_ok(status == GNN_OK && d->nodes == sets[i].nodes && d->edges == sets[i].edges && d->is_symmetric && d->self_loops == 0 &&
           d->fields[d->label_field].classes == sets[i].classes && d->split_count[0] == sets[i].train, "%s %s", what, error.message);
    gnn_dataset_close(d);
  }
}

int main(void) {
  test_edges();
  test_notes();
  test_normalise();
  test_refusals();
  test_splits();
  test_karate();
  test_sources();
  test_molecules();
  test_container_damage();
  test_planetoid();
  test_folder();
  test_own();
  test_shared();
  if (tap_remove_folder() != 0) return 99;
  return tap_done();
}
