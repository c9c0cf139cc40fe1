/* karate.c: Zachary's karate club, built in: 34 members, 78 friendships (W. W. Zachary, An information flow model for
 * conflict and fission in small groups, Journal of Anthropological Research 33, 1977).
 *
 * Labels are the four communities found by modularity in U. Brandes et al., On modularity clustering, IEEE TKDE 20, 2008,
 * as used by Kipf and Welling 2017. One labelled member a community is trained on, the same four as there; every third of
 * the others validates, the rest tests. Features are one-hot: the identity. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "readers.h"

enum { KARATE_NODES = 34, KARATE_EDGES = 78 };

/* Friends with a greater number, members counted from 0; -1 ends a list. */
static const signed char karate_friends[KARATE_NODES][17] = {
  {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31, -1},
  {2, 3, 7, 13, 17, 19, 21, 30, -1},
  {3, 7, 8, 9, 13, 27, 28, 32, -1},
  {7, 12, 13, -1},
  {6, 10, -1},
  {6, 10, 16, -1},
  {16, -1},
  {-1},
  {30, 32, 33, -1},
  {33, -1},
  {-1}, {-1}, {-1},
  {33, -1},
  {32, 33, -1},
  {32, 33, -1},
  {-1}, {-1},
  {32, 33, -1},
  {33, -1},
  {32, 33, -1},
  {-1},
  {32, 33, -1},
  {25, 27, 29, 32, 33, -1},
  {25, 27, 31, -1},
  {31, -1},
  {29, 33, -1},
  {33, -1},
  {31, 33, -1},
  {32, 33, -1},
  {32, 33, -1},
  {32, 33, -1},
  {33, -1},
  {-1},
};

static const unsigned char karate_community[KARATE_NODES] = {1, 1, 1, 1, 3, 3, 3, 1, 0, 1, 3, 1, 1, 1, 0, 0, 3,
                                                             1, 0, 1, 0, 1, 0, 0, 2, 2, 0, 0, 2, 0, 0, 2, 0, 0};
static const unsigned char karate_trained[4] = {0, 4, 8, 24};

gnn_status gnn_read_karate(gnn_dataset *dataset, gnn_error *error) {
  int32_t *arcs = gnn_dataset_alloc(dataset, 4 * KARATE_EDGES, sizeof *arcs, error);
  float *x = gnn_dataset_alloc(dataset, KARATE_NODES * KARATE_NODES, sizeof *x, error);
  unsigned char *mask = gnn_dataset_alloc(dataset, GNN_SPLIT_COUNT * KARATE_NODES, 1, error);
  if (!arcs || !x || !mask) return GNN_ENOMEM;
  int at = 0;
  for (int v = 0; v < KARATE_NODES; v++) {
    for (const signed char *friend = karate_friends[v]; *friend >= 0; friend++) {
      arcs[at] = arcs[2 * KARATE_EDGES + at + 1] = v;
      arcs[at + 1] = arcs[2 * KARATE_EDGES + at] = *friend;
      at += 2;
    }
  }
  dataset->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {2 * KARATE_EDGES}, .count = 2 * KARATE_EDGES,
                                    .data = (const unsigned char *)arcs};
  dataset->raw_destination = dataset->raw_source;
  dataset->raw_destination.data = (const unsigned char *)(arcs + 2 * KARATE_EDGES);
  dataset->has_edges = 1;
  dataset->declared_nodes = KARATE_NODES;
  memset(x, 0, KARATE_NODES * KARATE_NODES * sizeof *x);
  for (int v = 0; v < KARATE_NODES; v++) x[v * KARATE_NODES + v] = 1;
  memset(mask, 0, GNN_SPLIT_COUNT * KARATE_NODES);
  for (int k = 0; k < 4; k++) mask[karate_trained[k]] = 1;
  int others = 0;
  for (int v = 0; v < KARATE_NODES; v++) {
    if (mask[v]) continue;
    mask[(others % 3 == 0 ? GNN_VALID : GNN_TEST) * KARATE_NODES + v] = 1;
    others++;
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    dataset->raw_split[s] = (gnn_array){.dtype = GNN_U8, .rank = 1, .shape = {KARATE_NODES}, .count = KARATE_NODES,
                                        .data = mask + s * KARATE_NODES};
  gnn_array features = {.dtype = GNN_F32, .rank = 2, .shape = {KARATE_NODES, KARATE_NODES},
                        .count = KARATE_NODES * KARATE_NODES, .data = (const unsigned char *)x};
  gnn_array labels = {.dtype = GNN_U8, .rank = 1, .shape = {KARATE_NODES}, .count = KARATE_NODES, .data = karate_community};
  dataset->kind = "Zachary's karate club, built in";
  gnn_status status = gnn_dataset_set_name(dataset, "karate", error);
  if (status == GNN_OK) status = gnn_dataset_add_field(dataset, "x", GNN_NODE, &features, error);
  if (status == GNN_OK) status = gnn_dataset_add_field(dataset, "y", GNN_NODE, &labels, error);
  if (status == GNN_OK) dataset->fields[1].declared_classes = 4;
  return status;
}
