/* make_graph.c KIND FOLDER: a data set as NumPy arrays, 1,500 nodes in communities that their numbers do not show. KIND: hub, isolated (x has
 * few non-zeros there, too), or directed. Beside it FOLDER.npy, an order in which the last node comes first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/data/npy.h"

enum { NODES = 1500, EDGES = 9000, COMMUNITIES = 6, WIDTH = 24 };

static uint64_t state = 7;
static int64_t below(int64_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)(state >> 33) % n;
}

static void put(const char *folder, const char *name, gnn_array array) {
  char path[512];
  gnn_error error;
  snprintf(path, sizeof path, "%s%s", folder, name);
  if (!gnn_array_measure(&array) || gnn_npy_write(path, &array, &error) != GNN_OK) exit(1);
}

int main(int argc, char **argv) {
  static int64_t arcs[2][EDGES], y[NODES], order[NODES];
  static float x[NODES][WIDTH], w[EDGES];
  static unsigned char mask[3][NODES];
  static const char *const masks[3] = {"/train_mask.npy", "/val_mask.npy", "/test_mask.npy"};
  gnn_error error;
  if (argc != 3 || gnn_make_directories(argv[2], &error) != GNN_OK) return 1;
  const int has_hub = strcmp(argv[1], "hub") == 0, has_isolated = strcmp(argv[1], "isolated") == 0, is_directed = strcmp(argv[1], "directed") == 0;
  const int64_t connected = has_isolated ? NODES / 2 : NODES;
  for (int64_t e = 0; e < EDGES; e++) { /* both ways one after the other, unless directed */
    if (!is_directed && e % 2) {
      arcs[0][e] = arcs[1][e - 1];
      arcs[1][e] = arcs[0][e - 1];
    } else {
      arcs[0][e] = below(connected);
      arcs[1][e] = below(5) ? (arcs[0][e] + COMMUNITIES * below(connected / COMMUNITIES)) % connected : below(connected);
      if (has_hub && e % 8 == 0) arcs[1][e] = 11;
    }
    w[e] = 0.5f + (float)below(1000) / 1000;
  }
  for (int64_t v = 0; v < NODES; v++) {
    y[v] = v % COMMUNITIES;
    order[v] = NODES - 1 - v;
    mask[below(3)][v] = 1;
    for (int c = 0; c < WIDTH; c++) x[v][c] = below(has_isolated ? 12 : 3) ? 0 : (float)(below(2000) - 1000) / 500 + (c == y[v]);
  }
  put(argv[2], "/edge_index.npy", (gnn_array){.dtype = GNN_I64, .rank = 2, .shape = {2, EDGES}, .data = (unsigned char *)arcs});
  put(argv[2], "/x.npy", (gnn_array){.dtype = GNN_F32, .rank = 2, .shape = {NODES, WIDTH}, .data = (unsigned char *)x});
  put(argv[2], "/y.npy", (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {NODES}, .data = (unsigned char *)y});
  put(argv[2], "/edge_w.npy", (gnn_array){.dtype = GNN_F32, .rank = 1, .shape = {EDGES}, .data = (unsigned char *)w});
  for (int s = 0; s < 3; s++) put(argv[2], masks[s], (gnn_array){.dtype = GNN_U8, .rank = 1, .shape = {NODES}, .data = mask[s]});
  put(argv[2], ".npy", (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {NODES}, .data = (unsigned char *)order});
  return 0;
}
