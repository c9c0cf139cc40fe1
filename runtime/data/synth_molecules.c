/* synth_molecules.c: small graphs made up, shaped as molecules are: 10 to 30 atoms, each bound to one of the three before it, so that none has more than four
 * bonds, and rings where two atoms have room. An atom is one of as many elements as there are features. What a molecule is labelled by shows in its
 * elements: half of them are of the share that belongs to its class. 60 % of the graphs train, 20 % validate, 20 % test. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "readers.h"
#include "kernels/cpu/random.h"

enum { MOLECULE_SIZES = 1, MOLECULE_BONDS, MOLECULE_ELEMENTS, MOLECULE_SPLIT, MOLECULE_LEAST = 10, MOLECULE_MOST = 30, MOLECULE_RING = 5, MOLECULE_BONDS_MOST = 4 };

static int64_t molecule_below(double unit, int64_t bound) {
  const int64_t v = (int64_t)(unit * (double)bound);
  return v < bound ? v : bound - 1;
}

/* Where each graph begins, [graphs + 1]; ptr NULL: only how many there are. The last has the atoms that are left. */
static int64_t molecule_graphs(const gnn_synth *s, int64_t *ptr) {
  const uint64_t key = gnn_random_key(s->seed, MOLECULE_SIZES);
  int64_t graphs = 0, at = 0;
  while (at < s->nodes) {
    if (ptr) ptr[graphs] = at;
    at += MOLECULE_LEAST + molecule_below(gnn_random_uniform(key, (uint64_t)graphs++), MOLECULE_MOST - MOLECULE_LEAST + 1);
  }
  if (ptr) ptr[graphs] = s->nodes;
  return graphs;
}

typedef struct molecule_bonds {
  int32_t *from, *to; /* both ways */
  int64_t count;
} molecule_bonds;

static void molecule_bind(molecule_bonds *b, int64_t u, int64_t v) {
  b->from[b->count] = b->to[b->count + 1] = (int32_t)u;
  b->to[b->count] = b->from[b->count + 1] = (int32_t)v;
  b->count += 2;
}

static void molecule_draw(molecule_bonds *b, uint64_t key, int64_t first, int64_t end) {
  int bonds[MOLECULE_MOST] = {0};
  for (int64_t v = first + 1; v < end; v++) {
    const int64_t atom = v - first, parent = atom - 1 - molecule_below(gnn_random_uniform(key, 2 * (uint64_t)v), atom < MOLECULE_BONDS_MOST ? atom : MOLECULE_BONDS_MOST - 1);
    molecule_bind(b, v, first + parent);
    bonds[atom]++;
    bonds[parent]++;
  }
  for (int64_t v = first + MOLECULE_RING; v < end; v++) {
    const int64_t atom = v - first, across = atom - MOLECULE_RING;
    if (bonds[atom] == MOLECULE_BONDS_MOST || bonds[across] == MOLECULE_BONDS_MOST || gnn_random_uniform(key, 2 * (uint64_t)v + 1) >= 0.2) continue;
    molecule_bind(b, v, first + across);
    bonds[atom]++;
    bonds[across]++;
  }
}

static gnn_status molecule_edges(gnn_dataset *dataset, const gnn_synth *s, const int64_t *ptr, int64_t graphs, gnn_error *error) {
  const int64_t room = 2 * MOLECULE_BONDS_MOST / 2 * s->nodes; /* at most so many ends of bonds */
  molecule_bonds b = {gnn_dataset_alloc(dataset, room, sizeof *b.from, error), gnn_dataset_alloc(dataset, room, sizeof *b.to, error), 0};
  if (b.from == NULL || b.to == NULL) return GNN_ENOMEM;
  const uint64_t key = gnn_random_key(s->seed, MOLECULE_BONDS);
  for (int64_t g = 0; g < graphs; g++) molecule_draw(&b, key, ptr[g], ptr[g + 1]);
  dataset->raw_source = dataset->raw_destination = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {b.count}, .count = b.count, .data = (const unsigned char *)b.from};
  dataset->raw_destination.data = (const unsigned char *)b.to;
  dataset->has_edges = 1;
  return GNN_OK;
}

static int64_t molecule_class(const gnn_synth *s, int64_t graph) { return graph % s->classes; }

/* One of the elements a row. */
static gnn_status molecule_elements(gnn_dataset *dataset, const gnn_synth *s, const int64_t *ptr, int64_t graphs, gnn_error *error) {
  const uint64_t key = gnn_random_key(s->seed, MOLECULE_ELEMENTS);
  float *x = gnn_dataset_alloc(dataset, s->nodes, s->features * (int64_t)sizeof *x, error);
  if (x == NULL) return GNN_ENOMEM;
  memset(x, 0, (size_t)(s->nodes * s->features) * sizeof *x);
  for (int64_t g = 0; g < graphs; g++) {
    const int64_t c = molecule_class(s, g), low = c * s->features / s->classes, high = (c + 1) * s->features / s->classes;
    for (int64_t v = ptr[g]; v < ptr[g + 1]; v++) {
      const double unit = gnn_random_uniform(key, 2 * (uint64_t)v + 1);
      const int is_own = high > low && gnn_random_uniform(key, 2 * (uint64_t)v) < 0.5;
      x[v * s->features + (is_own ? low + molecule_below(unit, high - low) : molecule_below(unit, s->features))] = 1;
    }
  }
  const gnn_array array = {.dtype = GNN_F32, .rank = 2, .shape = {s->nodes, s->features}, .count = s->nodes * s->features, .data = (const unsigned char *)x};
  return gnn_dataset_add_field(dataset, "x", GNN_NODE, &array, error);
}

static gnn_status molecule_labels(gnn_dataset *dataset, const gnn_synth *s, int64_t graphs, gnn_error *error) {
  const uint64_t key = gnn_random_key(s->seed, MOLECULE_SPLIT);
  int32_t *label = gnn_dataset_alloc(dataset, graphs, sizeof *label, error);
  unsigned char *mask = gnn_dataset_alloc(dataset, graphs, GNN_SPLIT_COUNT, error);
  if (label == NULL || mask == NULL) return GNN_ENOMEM;
  memset(mask, 0, (size_t)(graphs * GNN_SPLIT_COUNT));
  for (int64_t g = 0; g < graphs; g++) {
    const double unit = gnn_random_uniform(key, (uint64_t)g);
    label[g] = (int32_t)molecule_class(s, g);
    mask[(unit < 0.6 ? GNN_TRAIN : unit < 0.8 ? GNN_VALID : GNN_TEST) * graphs + g] = 1;
  }
  for (int split = 0; split < GNN_SPLIT_COUNT; split++) dataset->raw_split[split] = (gnn_array){.dtype = GNN_U8, .rank = 1, .shape = {graphs}, .count = graphs, .data = mask + split * graphs};
  const gnn_array array = {.dtype = GNN_I32, .rank = 1, .shape = {graphs}, .count = graphs, .data = (const unsigned char *)label};
  const gnn_status status = gnn_dataset_add_field(dataset, "y", GNN_GRAPH, &array, error);
  if (status == GNN_OK) dataset->fields[dataset->field_count - 1].declared_classes = s->classes;
  return status;
}

gnn_status gnn_synth_molecules(gnn_dataset *dataset, const gnn_synth *s, gnn_error *error) {
  const int64_t graphs = molecule_graphs(s, NULL);
  int64_t *ptr = gnn_dataset_alloc(dataset, graphs + 1, sizeof *ptr, error);
  if (ptr == NULL) return GNN_ENOMEM;
  molecule_graphs(s, ptr);
  dataset->declared_graphs = graphs;
  dataset->raw_graph_ptr = (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {graphs + 1}, .count = graphs + 1, .data = (const unsigned char *)ptr};
  gnn_status status = molecule_edges(dataset, s, ptr, graphs, error);
  if (status == GNN_OK) status = molecule_elements(dataset, s, ptr, graphs, error);
  return status == GNN_OK ? molecule_labels(dataset, s, graphs, error) : status;
}
