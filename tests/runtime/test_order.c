/* test_order.c: halos against brute force, what nested bisection is worth, data prepared in an order, files that hold one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../runtime/core/adjacency.h"
#include "../../runtime/core/blocks.h"
#include "../../runtime/data/npy.h"
#include "../../runtime/data/order.h"
#include "../../runtime/data/order_file.h"
#include "../../runtime/data/readers.h"
#include "../../runtime/data/safetensors.h"
#include "tap.h"
#include "arrays.h"

static uint64_t state = 1;
static int64_t below(int64_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)(state >> 33) % n;
}

/* A graph of `edges` arcs: `local` of a hundred stay in a community of those nodes that leave the same rest; node `hub` has every tenth. */
typedef struct drawn {
  int64_t nodes, edges;
  int64_t *source, *destination, *label;
  float *weight, *x;
  gnn_dataset *dataset;
} drawn;

static drawn draw(int64_t nodes, int64_t edges, int64_t communities, int local, int64_t hub) {
  drawn g = {nodes, edges, malloc((size_t)edges * 8 + 8), malloc((size_t)edges * 8 + 8), malloc((size_t)nodes * 8), malloc((size_t)edges * 4 + 4), malloc((size_t)nodes * 4), NULL};
  for (int64_t e = 0; e < edges; e++) {
    const int64_t u = below(nodes), members = (nodes - u % communities + communities - 1) / communities;
    g.source[e] = u;
    g.destination[e] = below(100) < local ? u % communities + communities * below(members) : below(nodes);
    if (hub >= 0 && e % 10 == 0) g.destination[e] = hub;
    g.weight[e] = (float)e;
  }
  for (int64_t v = 0; v < nodes; v++) {
    g.label[v] = v % 3;
    g.x[v] = (float)v;
  }
  return g;
}

/* Prepared; closed by the next one and by drop. */
static gnn_status prepare(drawn *g, const gnn_recipe *recipe, gnn_error *error) {
  gnn_dataset_close(g->dataset);
  const gnn_array x = vector(GNN_F32, g->nodes, g->x);
  g->dataset = weighted_graph("drawn", g->nodes, g->edges, g->source, g->destination, &x, g->label, g->weight);
  return gnn_dataset_prepare(g->dataset, recipe, error);
}

static void drop(drawn *g) {
  gnn_dataset_close(g->dataset);
  free(g->source);
  free(g->destination);
  free(g->label);
  free(g->weight);
  free(g->x);
}

/* ---- halos ---- */

static gnn_halo halo_of(const gnn_dataset *d) {
  gnn_halo halo;
  int64_t *ptr = malloc((size_t)(d->nodes + 1) * 8);
  int32_t *to = malloc((size_t)d->edges * 4 + 4);
  gnn_adjacency_turn(d->in_ptr, d->in_source, d->nodes, d->nodes, ptr, to, NULL);
  if (gnn_halo_count(d->nodes, d->in_ptr, d->in_source, ptr, to, &halo, NULL) != GNN_OK) exit(99);
  free(ptr);
  free(to);
  return halo;
}

/* By looking at every pair of a part and a row. */
static int halo_is_right(const gnn_dataset *d, const gnn_halo *halo, int level) {
  unsigned char *needed = malloc((size_t)d->nodes), *outside = malloc((size_t)d->nodes);
  int is_right = 1;
  for (int direction = 0; direction < 2; direction++)
    for (int64_t part = 0; part < INT64_C(1) << level; part++) {
      int64_t begin, rows = gnn_halo_part(halo, level, part, &begin), count = 0, interior = 0;
      memset(needed, 0, (size_t)d->nodes);
      memset(outside, 0, (size_t)d->nodes);
      for (int64_t v = 0; v < d->nodes; v++)
        for (int64_t e = d->in_ptr[v]; e < d->in_ptr[v + 1]; e++) {
          const int64_t row = direction ? d->in_source[e] : v, other = direction ? v : d->in_source[e];
          const int is_own = row >= begin && row < begin + rows, is_foreign = other < begin || other >= begin + rows;
          if (is_own && is_foreign) needed[other] = outside[row] = 1;
        }
      for (int64_t v = 0; v < d->nodes; v++) {
        count += needed[v];
        interior += v >= begin && v < begin + rows && !outside[v];
      }
      const int64_t at = (INT64_C(1) << level) + part;
      is_right &= halo->halo[direction][at] == count && halo->interior[direction][at] == interior;
    }
  free(needed);
  free(outside);
  return is_right;
}

/* Who gathers which rows, part by part, by looking at every edge. */
static int pairs_are_right(const gnn_dataset *d, const gnn_halo *halo, int level, int direction, const int64_t *pairs) {
  const int64_t parts = INT64_C(1) << level, span = INT64_C(1) << (halo->levels - level);
  unsigned char *gathers = calloc((size_t)(parts * d->nodes) + 1, 1);
  int *part_of = malloc((size_t)d->nodes * sizeof *part_of), is_right = 1;
  for (int64_t p = 0; p < parts; p++)
    for (int64_t r = halo->first[p * span]; r < halo->first[(p + 1) * span]; r++) part_of[r] = (int)p;
  for (int64_t v = 0; v < d->nodes; v++)
    for (int64_t e = d->in_ptr[v]; e < d->in_ptr[v + 1]; e++) {
      const int64_t row = direction ? d->in_source[e] : v, other = direction ? v : d->in_source[e];
      gathers[part_of[row] * d->nodes + other] = 1;
    }
  for (int64_t p = 0; p < parts; p++)
    for (int64_t q = 0; q < parts; q++) {
      int64_t count = 0;
      for (int64_t r = halo->first[q * span]; r < halo->first[(q + 1) * span]; r++) count += gathers[p * d->nodes + r];
      is_right &= pairs[gnn_pair_at(level) + p * parts + q] == count;
    }
  free(gathers);
  free(part_of);
  return is_right;
}

static int edge_pairs_are_right(const gnn_dataset *d, const gnn_halo *halo, int level, const int64_t *pairs) {
  const int64_t parts = INT64_C(1) << level, span = INT64_C(1) << (halo->levels - level);
  int64_t *count = calloc((size_t)(parts * parts), sizeof *count);
  int is_right = 1;
  for (int64_t v = 0; v < d->nodes; v++)
    for (int64_t e = d->in_ptr[v]; e < d->in_ptr[v + 1]; e++) {
      int64_t from = 0, to = 0;
      while (halo->first[(from + 1) * span] <= d->in_source[e]) from++;
      while (halo->first[(to + 1) * span] <= v) to++;
      count[from * parts + to]++;
    }
  for (int64_t k = 0; k < parts * parts; k++) is_right &= pairs[gnn_pair_at(level) + k] == count[k];
  free(count);
  return is_right;
}

static void check_pairs(const gnn_dataset *d, const gnn_halo *halo, const char *name) {
  int64_t *pairs[2];
  int is_right = 1;
  for (int k = 0; k < 2; k++) pairs[k] = malloc((size_t)(gnn_pair_at(GNN_PAIR_LEVELS + 1) + 1) * sizeof *pairs[k]);
  int64_t *const counted[2] = {pairs[0], d->is_symmetric ? pairs[0] : pairs[1]};
  is_right = gnn_halo_pairs(d->nodes, halo->levels, halo->first, d->in_ptr, d->in_source, counted, NULL) == GNN_OK;
  for (int level = 1; level <= halo->levels; level++)
    for (int direction = 0; direction < 2; direction++) is_right &= pairs_are_right(d, halo, level, direction, counted[direction]);
  tap_ok(is_right, "the rows that 2, 4 and 8 parts gather of each other, both ways: %s", name);
  is_right = gnn_edge_pairs(d->nodes, halo->levels, halo->first, d->in_ptr, d->in_source, pairs[0], NULL) == GNN_OK;
  for (int level = 1; level <= halo->levels; level++) is_right &= edge_pairs_are_right(d, halo, level, pairs[0]);
  tap_ok(is_right, "the edges between them: %s", name);
  for (int k = 0; k < 2; k++) free(pairs[k]);
}

static void check_halos(void) {
  for (int kind = 0; kind < 4; kind++) {
    static const char *const names[] = {"anything", "a hub", "few edges, many isolated nodes", "no edges"};
    drawn g = draw(2300, kind == 3 ? 0 : kind == 2 ? 300 : 9000, 4, 50, kind == 1 ? 7 : -1);
    prepare(&g, &(gnn_recipe){.is_undirected = kind == 2}, NULL);
    gnn_halo halo = halo_of(g.dataset);
    int is_right = halo.levels == 3;
    for (int level = 0; level <= halo.levels; level++) is_right &= halo_is_right(g.dataset, &halo, level);
    tap_ok(is_right, "halos and interior rows, both ways, at 1, 2, 4 and 8 parts: %s", names[kind]);
    check_pairs(g.dataset, &halo, names[kind]);
    gnn_halo_free(&halo);
    drop(&g);
  }
}

/* ---- what the order is worth, and what it is ---- */

static int64_t halo_rows(const gnn_dataset *d, int level) {
  gnn_halo halo = halo_of(d);
  const int64_t rows = gnn_halo_of(&halo, level, 0).halo;
  gnn_halo_free(&halo);
  return rows;
}

static void check_quality(void) {
  const gnn_recipe given = {.is_undirected = 1}, nested = {.is_undirected = 1, .order = GNN_ORDER_NESTED};
  drawn g = draw(8192, 60000, 64, 85, -1);
  int64_t before[6], after[6];
  prepare(&g, &given, NULL);
  for (int level = 3; level <= 5; level++) before[level] = halo_rows(g.dataset, level);
  prepare(&g, &nested, NULL);
  for (int level = 3; level <= 5; level++) after[level] = halo_rows(g.dataset, level);
  for (int level = 3; level <= 5; level++)
    tap_ok(2 * after[level] <= before[level], "communities: the halo of %d parts in nested order, %lld, is at most half of that in an order without them, %lld", 1 << level,
           (long long)after[level], (long long)before[level]);
  drop(&g);
}

static int is_nested(const drawn *g) {
  const gnn_dataset *d = g->dataset;
  gnn_halo halo = halo_of(d);
  unsigned char *is_there = calloc((size_t)d->nodes, 1);
  int is_good = d->node_id != NULL;
  for (int64_t v = 0; is_good && v < d->nodes; v++) is_there[d->node_id[v]]++;
  for (int64_t v = 0; is_good && v < d->nodes; v++) is_good = is_there[v] == 1;
  free(is_there);
  gnn_halo_free(&halo);
  return is_good;
}

/* The graph, its edges' values, fields and splits are those of the data, by other numbers; neighbours ascend. */
static int is_renumbered(drawn *g, const gnn_recipe *recipe, const gnn_dataset *plain) {
  if (prepare(g, recipe, NULL) != GNN_OK || !is_nested(g)) return 0;
  const gnn_dataset *d = g->dataset;
  const gnn_data_field *w = gnn_dataset_field(d, "w"), *of = gnn_dataset_field(plain, "w"), *y = gnn_dataset_field(d, "y");
  int is_same = d->edges == plain->edges && d->is_symmetric == plain->is_symmetric && d->silent_nodes == plain->silent_nodes;
  for (int64_t v = 0; is_same && v < d->nodes; v++) {
    const int64_t old = d->node_id[v];
    is_same = d->in_ptr[v + 1] - d->in_ptr[v] == plain->in_ptr[old + 1] - plain->in_ptr[old] && y->label[gnn_dataset_row(d, y, v)] == plain->fields[1].label[old];
    for (int64_t e = d->in_ptr[v]; is_same && e < d->in_ptr[v + 1]; e++) {
      const int64_t edge = d->edge_id[e];
      is_same = edge >= plain->in_ptr[old] && edge < plain->in_ptr[old + 1] && plain->in_source[edge] == d->node_id[d->in_source[e]] &&
                w->dense[e] == of->dense[edge] && (e == d->in_ptr[v] || d->in_source[e] > d->in_source[e - 1]);
    }
  }
  unsigned char *member = calloc((size_t)d->nodes, 1);
  for (int s = 0; is_same && s < GNN_SPLIT_COUNT; s++) {
    is_same = d->split_count[s] == plain->split_count[s];
    for (int64_t k = 0; is_same && k < d->split_count[s]; k++) {
      member[plain->split_rows[s][k]] ^= (unsigned char)(1 << s);
      member[d->node_id[d->split_rows[s][k]]] ^= (unsigned char)(1 << s);
      is_same = k == 0 || d->split_rows[s][k] > d->split_rows[s][k - 1];
    }
  }
  for (int64_t v = 0; is_same && v < d->nodes; v++) is_same = member[v] == 0;
  free(member);
  return is_same;
}

static void check_preparing(void) {
  static const char *const names[] = {"directed", "undirected, with loops", "a hub", "few edges, many isolated nodes", "no edges", "one block"};
  for (int kind = 0; kind < 6; kind++) {
    const int64_t nodes = kind == 5 ? 300 : 2500, edges = kind == 4 ? 0 : kind == 3 ? 200 : 7000;
    drawn g = draw(nodes, edges, 8, 70, kind == 2 ? 99 : -1), other = g;
    gnn_recipe recipe = {.is_undirected = kind == 1, .self_loops = kind == 1 ? GNN_LOOPS_ADD : GNN_LOOPS_KEEP, .has_random_split = 1, .split_fraction = {0.5, 0.3, 0.2}};
    prepare(&other, &recipe, NULL);
    recipe.order = GNN_ORDER_NESTED;
    tap_ok(is_renumbered(&g, &recipe, other.dataset), "prepared in nested order: the same graph, values, labels and splits: %s", names[kind]);
    gnn_dataset_close(other.dataset);
    drop(&g);
  }
}

static void check_work(void) {
  drawn g = draw(4096, 30000, 16, 80, 5);
  int32_t *first = malloc((size_t)g.nodes * 4), *again = malloc((size_t)g.nodes * 4);
  prepare(&g, NULL, NULL);
  const gnn_dataset *d = g.dataset;
  int64_t *ptr = malloc((size_t)(d->nodes + 1) * 8);
  int32_t *to = malloc((size_t)d->edges * 4);
  gnn_adjacency_turn(d->in_ptr, d->in_source, d->nodes, d->nodes, ptr, to, NULL);
  int is_made = gnn_order_nested(d->nodes, d->in_ptr, d->in_source, ptr, to, first, NULL) == GNN_OK && gnn_order_nested(d->nodes, d->in_ptr, d->in_source, ptr, to, again, NULL) == GNN_OK;
  tap_ok(is_made && memcmp(first, again, (size_t)g.nodes * 4) == 0, "the same graph gives the same order");
  free(ptr);
  free(to);
  free(first);
  free(again);
  drop(&g);
}

/* ---- files ---- */

static gnn_status read_order(drawn *g, const char *path, gnn_error *error) {
  return prepare(g, &(gnn_recipe){.order = GNN_ORDER_FILE, .order_path = path}, error);
}

static void refuses(drawn *g, const char *path, const char *code, const char *text, const char *what) {
  gnn_error error = {0};
  gnn_status status = read_order(g, path, &error);
  tap_ok(status != GNN_OK && strcmp(error.code, code) == 0 && strstr(error.message, text), "refused: %s (%s: %s)", what, error.code, error.message);
}

static void write_ids(const char *path, int64_t count, const int64_t *ids) {
  gnn_array array = vector(GNN_I64, count, ids);
  if (gnn_npy_write(path, &array, NULL) != GNN_OK) exit(99);
}

static void check_files(void) {
  enum { NODES = 600 };
  drawn g = draw(NODES, 2000, 4, 80, -1), h = draw(NODES, 2001, 4, 80, -1);
  int64_t ids[NODES + 1];
  int32_t order[NODES];
  gnn_error error = {0};
  for (int64_t i = 0; i < NODES; i++) order[i] = (int32_t)(ids[i] = NODES - 1 - i);
  ids[NODES] = 0;
  const char *npy = tap_path("order.npy"), *own = tap_path("own.order"), *bad = tap_path("bad");
  write_ids(npy, NODES, ids);
  tap_ok(read_order(&g, npy, &error) == GNN_OK && g.dataset->node_id[0] == NODES - 1 && g.dataset->node_id[NODES - 1] == 0, "a .npy file with every node");
  const uint64_t graph = g.dataset->graph_fingerprint;
  gnn_halo halo = halo_of(g.dataset);
  gnn_status status = gnn_order_write(own, "reversed", NODES, order, graph, &halo, &error);
  gnn_halo_free(&halo);
  tap_ok(status == GNN_OK && read_order(&g, own, &error) == GNN_OK && g.dataset->node_id[0] == NODES - 1, "gnncc's own file");
  const uint64_t mine = g.dataset->order_fingerprint;
  gnn_recipe recipe = {.order = GNN_ORDER_FILE, .order_path = own, .order_fingerprint = mine};
  tap_ok(prepare(&g, &recipe, &error) == GNN_OK, "the order that the program was compiled with");
  recipe.order_fingerprint ^= 2;
  tap_ok(prepare(&g, &recipe, &error) == GNN_EDATA && strcmp(error.code, "E0710") == 0 && strstr(error.message, "compiled with"), "refused: another than the program was compiled with");
  refuses(&h, own, "E0710", "another graph", "gnncc's file of another graph");
  tap_ok(read_order(&h, npy, &error) == GNN_OK, "a .npy file does not say of which graph it is");
  refuses(&g, tap_path("nothing"), "E0001", "nothing", "no file");
  write_ids(bad, NODES - 1, ids);
  refuses(&g, bad, "E0710", "has 599 nodes, the data 600", "too short");
  write_ids(bad, NODES + 1, ids);
  refuses(&g, bad, "E0710", "has 601 nodes, the data 600", "too long");
  ids[7] = ids[3];
  write_ids(bad, NODES, ids);
  refuses(&g, bad, "E0710", "names node 596 twice, last at place 7", "a node twice");
  ids[7] = NODES;
  write_ids(bad, NODES, ids);
  refuses(&g, bad, "E0710", "names node 600 at place 7", "a node that is not there");
  ids[7] = -1;
  write_ids(bad, NODES, ids);
  refuses(&g, bad, "E0710", "names node -1 at place 7", "a negative node");
  float numbers[NODES] = {0};
  gnn_array floats = vector(GNN_F32, NODES, numbers), square = {.dtype = GNN_I64, .rank = 2, .shape = {NODES / 2, 2}, .count = NODES, .data = (unsigned char *)ids};
  gnn_npy_write(bad, &floats, NULL);
  refuses(&g, bad, "E0710", "a list of whole numbers", "not whole numbers");
  gnn_npy_write(bad, &square, NULL);
  refuses(&g, bad, "E0710", "a list of whole numbers", "not a list");
  tap_write(bad, "hello, world", 12);
  refuses(&g, bad, "E0710", "holds no order", "neither form");
  gnn_tensor tensor = {.name = "order", .array = vector(GNN_I64, NODES, ids)};
  gnn_safetensors_write(bad, &tensor, 1, NULL, 0, NULL);
  refuses(&g, bad, "E0710", "holds no order", "another safetensors file");

  /* Whatever is in the file: read, or refused. Only what nobody looks at may change: the method, tables of halos, spaces. */
  static unsigned char bytes[1 << 16], copy[1 << 16];
  const size_t size = tap_read(own, bytes, sizeof bytes);
  int read = 0, is_other = 0, cut = 0;
  for (size_t at = 0; at < size; at++) {
    memcpy(copy, bytes, size);
    copy[at] ^= (unsigned char)(1 << below(8));
    tap_write(bad, copy, size);
    if (read_order(&g, bad, &error) != GNN_OK) continue;
    read++;
    is_other += g.dataset->order_fingerprint != mine;
  }
  for (size_t length = 0; length < size; length += 1 + (size_t)below(40)) {
    tap_write(bad, bytes, length);
    cut += read_order(&g, bad, &error) == GNN_OK;
  }
  tap_ok(is_other == 0 && read < (int)size / 4, "one bit is wrong: no other order is taken (%d of %d read)", read, (int)size);
  tap_ok(cut == 0, "cut off: refused");
  drop(&g);
  drop(&h);
}

int main(void) {
  setenv("XDG_CACHE_HOME", tap_path("cache"), 1);
  check_halos();
  check_quality();
  check_preparing();
  check_work();
  check_files();
  if (tap_remove_folder() != 0) return 1;
  return tap_done();
}
