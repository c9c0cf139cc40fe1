/* synth.c: graphs made up, of any size, the same for the same arguments on every machine.
 *
 * sbm: a stochastic block model, four of five edges within a class. rmat: R-MAT (Chakrabarti, Zhan and Faloutsos 2004) with
 * the Graph500 parameters. er: every pair alike. grid: a rectangle, each node with its four neighbours.
 * So many pairs are drawn as the degree asks for, of which fewer may be left: loops are passed over, and of equal ones preparing the data leaves
 * one. Where a number of edges is asked for, drawing goes on until there are as many different ones.
 * molecules: a set of small graphs (synth_molecules.c).
 * Classes can be learned: features are a class's pattern under noise, and except in er and rmat neighbours tend to agree.
 * Every edge is stored both ways. 60 % of the nodes train, 20 % validate, 20 % test. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers.h"
#include "kernels/cpu/random.h"
#include "runtime/base/room.h"

enum { SYNTH_EDGES = 1, SYNTH_FEATURES, SYNTH_PATTERNS, SYNTH_SPLIT, SYNTH_ROW_NONZEROS = 16, SYNTH_DRAWS_EACH = 64 };

typedef struct synth_maker {
  const gnn_synth *synth;
  int64_t side; /* of the grid */
  uint64_t edge_key;
} synth_maker;

static int64_t synth_class(const synth_maker *m, int64_t node) {
  const gnn_synth *s = m->synth;
  if (s->kind != GNN_SYNTH_GRID) return node % s->classes;
  int64_t bands = (int64_t)sqrt((double)s->classes), row = node / m->side, column = node % m->side;
  if (bands < 1) bands = 1;
  int64_t rows = (s->nodes + m->side - 1) / m->side;
  return (row * bands / rows * bands + column * bands / m->side) % s->classes;
}

static int64_t synth_below(double unit, int64_t bound) {
  int64_t v = (int64_t)(unit * (double)bound);
  return v < bound ? v : bound - 1;
}

/* The k-th edge of those that are drawn. */
static void synth_edge(const synth_maker *m, int64_t k, int64_t *from, int64_t *to) {
  const gnn_synth *s = m->synth;
  uint64_t at = (uint64_t)k * 64;
  if (s->kind == GNN_SYNTH_RMAT) {
    int64_t u = 0, v = 0;
    int level = 0;
    for (int64_t span = 1; span < s->nodes; span *= 2, level++) {
      double p = gnn_random_uniform(m->edge_key, at + (uint64_t)level);
      u = u * 2 + (p >= 0.76);
      v = v * 2 + ((p >= 0.57 && p < 0.76) || p >= 0.95);
    }
    *from = u % s->nodes;
    *to = v % s->nodes;
    return;
  }
  *from = synth_below(gnn_random_uniform(m->edge_key, at), s->nodes);
  *to = synth_below(gnn_random_uniform(m->edge_key, at + 1), s->nodes);
  if (s->kind == GNN_SYNTH_SBM && gnn_random_uniform(m->edge_key, at + 2) < 0.8) {
    int64_t moved = *to - *to % s->classes + *from % s->classes;
    if (moved < s->nodes) *to = moved;
  }
}

/* Pairs that were drawn, by open addressing; 0: free. */
typedef struct synth_pairs {
  uint64_t *place;
  uint64_t mask;
} synth_pairs;

/* Whether the pair is new. */
static int synth_add(synth_pairs *pairs, uint64_t from, uint64_t to) {
  const uint64_t pair = (from < to ? from << 32 | to : to << 32 | from) + 1;
  uint64_t at = (pair ^ pair >> 29) * 0xbf58476d1ce4e5b9u;
  for (at = (at ^ at >> 32) & pairs->mask; pairs->place[at]; at = (at + 1) & pairs->mask)
    if (pairs->place[at] == pair) return 0;
  pairs->place[at] = pair;
  return 1;
}

static gnn_status synth_remember(synth_pairs *pairs, int64_t count, gnn_error *error) {
  uint64_t places = 64;
  while (places < 2 * (uint64_t)count) places *= 2;
  pairs->mask = places - 1;
  pairs->place = calloc(places, sizeof *pairs->place);
  return pairs->place ? GNN_OK : gnn_fail_memory(error, (int64_t)(places * sizeof *pairs->place));
}

/* Writes arcs both ways, [2 room], and how many there are. */
static gnn_status synth_draw(const synth_maker *m, int64_t drawn, int32_t *arcs, int64_t room, int64_t *arc_count, gnn_error *error) {
  const gnn_synth *s = m->synth;
  const int64_t wanted = s->edges, most = wanted ? SYNTH_DRAWS_EACH * (drawn + 1) : drawn;
  synth_pairs pairs = {0};
  int64_t count = 0;
  gnn_status status = wanted ? synth_remember(&pairs, drawn, error) : GNN_OK;
  for (int64_t k = 0; status == GNN_OK && k < most && !(wanted && count == wanted); k++) {
    int64_t from, to;
    if (s->kind == GNN_SYNTH_GRID) {
      from = k / 2;
      to = k % 2 ? from + m->side : from + 1;
      if (to >= s->nodes || (k % 2 == 0 && to % m->side == 0)) continue;
    } else {
      synth_edge(m, k, &from, &to);
    }
    if (from == to || (wanted && !synth_add(&pairs, (uint64_t)from, (uint64_t)to))) continue;
    arcs[count] = arcs[room + count + 1] = (int32_t)from;
    arcs[room + count] = arcs[count + 1] = (int32_t)to;
    count += 2;
  }
  free(pairs.place);
  *arc_count = count;
  if (status == GNN_OK && count < wanted)
    status = gnn_fail(error, GNN_EINVAL, "", "synth: %lld edges of %s between %lld nodes are too many: %lld pairs were drawn, and only %lld edges were different", (long long)wanted,
                      gnn_synth_names[s->kind], (long long)s->nodes, (long long)most, (long long)count);
  return status;
}

static gnn_status synth_edges(gnn_dataset *dataset, const synth_maker *m, gnn_error *error) {
  const gnn_synth *s = m->synth;
  int64_t drawn = s->edges ? s->edges / 2 : s->kind == GNN_SYNTH_GRID ? 2 * s->nodes : (int64_t)((double)s->nodes * s->degree / 2 + 0.5);
  int32_t *arcs = gnn_dataset_alloc(dataset, drawn, 4 * (int64_t)sizeof *arcs, error);
  if (arcs == NULL) return GNN_ENOMEM;
  int64_t count, room = 2 * drawn;
  gnn_status status = synth_draw(m, drawn, arcs, room, &count, error);
  if (status != GNN_OK) return status;
  dataset->raw_source =
    (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {count}, .count = count, .data = (const unsigned char *)arcs};
  dataset->raw_destination = dataset->raw_source;
  dataset->raw_destination.data = (const unsigned char *)(arcs + room);
  dataset->has_edges = 1;
  return GNN_OK;
}

static gnn_status synth_dense(gnn_dataset *dataset, const synth_maker *m, gnn_error *error) {
  const gnn_synth *s = m->synth;
  uint64_t noise = gnn_random_key(s->seed, SYNTH_FEATURES), pattern = gnn_random_key(s->seed, SYNTH_PATTERNS);
  float *x = gnn_dataset_alloc(dataset, s->nodes, s->features * (int64_t)sizeof *x, error);
  if (x == NULL) return GNN_ENOMEM;
  for (int64_t v = 0; v < s->nodes; v++) {
    uint64_t first = (uint64_t)(synth_class(m, v) * s->features);
    for (int64_t f = 0; f < s->features; f++) {
      double sign = gnn_random_bits64(pattern, first + (uint64_t)f) & 1 ? 0.25 : -0.25;
      x[v * s->features + f] = (float)(sign + 2 * gnn_random_uniform(noise, (uint64_t)(v * s->features + f)) - 1);
    }
  }
  gnn_array array = {.dtype = GNN_F32, .rank = 2, .shape = {s->nodes, s->features}, .count = s->nodes * s->features,
                     .data = (const unsigned char *)x};
  return gnn_dataset_add_field(dataset, "x", GNN_NODE, &array, error);
}

/* Up to 16 ones a row, half of them from the share of columns that belongs to the class. */
static gnn_status synth_sparse(gnn_dataset *dataset, const synth_maker *m, gnn_error *error) {
  const gnn_synth *s = m->synth;
  uint64_t key = gnn_random_key(s->seed, SYNTH_FEATURES);
  int64_t *ptr = gnn_dataset_alloc(dataset, s->nodes + 1, sizeof *ptr, error);
  int32_t *column = gnn_dataset_alloc(dataset, s->nodes, SYNTH_ROW_NONZEROS * (int64_t)sizeof *column, error);
  if (!ptr || !column) return GNN_ENOMEM;
  int64_t at = 0;
  for (int64_t v = 0; v < s->nodes; v++) {
    int64_t begin = at, c = synth_class(m, v);
    int64_t low = c * s->features / s->classes, high = (c + 1) * s->features / s->classes;
    ptr[v] = at;
    for (int k = 0; k < SYNTH_ROW_NONZEROS; k++) {
      double unit = gnn_random_uniform(key, (uint64_t)(v * SYNTH_ROW_NONZEROS + k));
      int32_t picked = (int32_t)(k % 2 && high > low ? low + synth_below(unit, high - low) : synth_below(unit, s->features));
      int64_t place = at;
      while (place > begin && column[place - 1] > picked) place--;
      if (place > begin && column[place - 1] == picked) continue;
      memmove(&column[place + 1], &column[place], (size_t)(at - place) * sizeof *column);
      column[place] = picked;
      at++;
    }
  }
  ptr[s->nodes] = at;
  gnn_array pointers = {.dtype = GNN_I64, .rank = 1, .shape = {s->nodes + 1}, .count = s->nodes + 1, .data = (const unsigned char *)ptr};
  gnn_array columns = {.dtype = GNN_I32, .rank = 1, .shape = {at}, .count = at, .data = (const unsigned char *)column};
  return gnn_dataset_add_sparse(dataset, "x", s->features, &pointers, &columns, NULL, error);
}

static gnn_status synth_labels(gnn_dataset *dataset, const synth_maker *m, gnn_error *error) {
  const gnn_synth *s = m->synth;
  uint64_t key = gnn_random_key(s->seed, SYNTH_SPLIT);
  int32_t *label = gnn_dataset_alloc(dataset, s->nodes, sizeof *label, error);
  unsigned char *mask = gnn_dataset_alloc(dataset, s->nodes, GNN_SPLIT_COUNT, error);
  if (!label || !mask) return GNN_ENOMEM;
  memset(mask, 0, (size_t)(s->nodes * GNN_SPLIT_COUNT));
  for (int64_t v = 0; v < s->nodes; v++) {
    double unit = gnn_random_uniform(key, (uint64_t)v);
    int split = unit < 0.6 ? GNN_TRAIN : unit < 0.8 ? GNN_VALID : GNN_TEST;
    label[v] = (int32_t)synth_class(m, v);
    mask[split * s->nodes + v] = 1;
  }
  for (int split = 0; split < GNN_SPLIT_COUNT; split++)
    dataset->raw_split[split] = (gnn_array){.dtype = GNN_U8, .rank = 1, .shape = {s->nodes}, .count = s->nodes,
                                            .data = mask + split * s->nodes};
  gnn_array array = {.dtype = GNN_I32, .rank = 1, .shape = {s->nodes}, .count = s->nodes, .data = (const unsigned char *)label};
  gnn_status status = gnn_dataset_add_field(dataset, "y", GNN_NODE, &array, error);
  if (status == GNN_OK) dataset->fields[dataset->field_count - 1].declared_classes = s->classes;
  return status;
}

gnn_status gnn_read_synth(gnn_dataset *dataset, const gnn_synth *s, gnn_error *error) {
  if (s->nodes < 1 || s->nodes >= INT32_MAX || s->features < 1 || s->features > 1 << 24 || s->classes < 1 ||
      s->classes > 1 << 20 || !(s->degree >= 0) || s->degree > 1e6)
    return gnn_fail(error, GNN_EINVAL, "", "synth: nodes must be 1 to 2^31 - 2, features 1 to 2^24, classes 1 to 2^20, degree 0 to "
                    "10^6");
  if (s->edges < 0 || s->edges % 2 || s->edges > INT64_C(1) << 40)
    return gnn_fail(error, GNN_EINVAL, "", "synth: edges are stored both ways: their number must be even, and at most 2^40");
  if (s->edges && (s->kind == GNN_SYNTH_GRID || s->kind == GNN_SYNTH_MOLECULES))
    return gnn_fail(error, GNN_EINVAL, "", "synth: %s the edges that %s: give %s nodes", s->kind == GNN_SYNTH_GRID ? "a grid has" : "molecules have", s->kind == GNN_SYNTH_GRID ? "it has" : "they have",
                    s->kind == GNN_SYNTH_GRID ? "it" : "them");
  double arcs = s->edges ? 2 * (double)s->edges : (double)s->nodes * s->degree; /* pairs are remembered in two to four words each */
  double need = (double)s->nodes * ((s->is_sparse ? 64.0 : 4.0 * (double)s->features) + 32) + 16 * arcs;
  if (need > (double)gnn_available_bytes())
    return gnn_fail(error, GNN_ENOMEM, "R0801", "synth: these data take about %s, and memory has %s free",
                    gnn_bytes_text((int64_t)(need < 9e18 ? need : 9e18)).text, gnn_bytes_text(gnn_available_bytes()).text);
  synth_maker m = {.synth = s, .side = (int64_t)ceil(sqrt((double)s->nodes)), .edge_key = gnn_random_key(s->seed, SYNTH_EDGES)};
  char name[64];
  snprintf(name, sizeof name, "synth_%s", gnn_synth_names[s->kind]);
  dataset->declared_nodes = s->nodes;
  dataset->kind = s->kind == GNN_SYNTH_MOLECULES ? "generated graphs" : "a generated graph";
  gnn_status status = gnn_dataset_set_name(dataset, name, error);
  if (status == GNN_OK && s->kind == GNN_SYNTH_MOLECULES) return gnn_synth_molecules(dataset, s, error);
  if (status == GNN_OK) status = synth_edges(dataset, &m, error);
  if (status == GNN_OK) status = s->is_sparse ? synth_sparse(dataset, &m, error) : synth_dense(dataset, &m, error);
  if (status == GNN_OK) status = synth_labels(dataset, &m, error);
  return status;
}
