/* extent.c: how prepared data are cut: into canonical blocks, and at most into how much by batches of graphs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "dataset.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/blocks.h"

gnn_status gnn_dataset_cut(const gnn_dataset *dataset, int64_t *first, int64_t *in_before, int64_t *out_before, gnn_error *error) {
  const int64_t nodes = dataset->nodes;
  const int levels = gnn_block_levels(nodes);
  int64_t *out_ptr = dataset->is_symmetric ? NULL : malloc((size_t)(nodes + 1) * sizeof *out_ptr);
  if (!dataset->is_symmetric && out_ptr == NULL) return gnn_fail_memory(error, nodes * (int64_t)sizeof *out_ptr);
  if (out_ptr) gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, nodes, nodes, out_ptr, NULL, NULL);
  gnn_blocks_cut(nodes, levels, dataset->in_ptr, out_ptr ? out_ptr : dataset->in_ptr, first);
  for (int64_t b = 0; in_before && out_before && b <= INT64_C(1) << levels; b++) {
    in_before[b] = dataset->in_ptr[first[b]];
    out_before[b] = (out_ptr ? out_ptr : dataset->in_ptr)[first[b]];
  }
  free(out_ptr);
  return GNN_OK;
}

static int extent_falling(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

void gnn_largest_sums(int64_t *sizes, int64_t count) {
  qsort(sizes, (size_t)count, sizeof *sizes, extent_falling);
  int64_t sum = 0;
  for (int64_t k = 0; k <= count; k++) {
    const int64_t own = k < count ? sizes[k] : 0;
    sizes[k] = sum;
    sum += own;
  }
}

void gnn_dataset_largest(const gnn_dataset *dataset, gnn_domain domain, int64_t *most) {
  for (int64_t g = 0; g < dataset->graphs; g++) most[g] = gnn_dataset_first(dataset, domain, g + 1) - gnn_dataset_first(dataset, domain, g);
  gnn_largest_sums(most, dataset->graphs);
}

gnn_status gnn_dataset_join(const gnn_dataset *dataset, int64_t **ptr, int32_t **source, gnn_error *error) {
  int64_t edges = dataset->edges, filled = 0;
  for (int r = 0; r < dataset->relation_count; r++) edges += dataset->relations[r].edges;
  *ptr = malloc((size_t)(dataset->nodes + 1) * sizeof **ptr);
  *source = malloc((size_t)edges * sizeof **source + 1);
  if (*ptr == NULL || *source == NULL) {
    free(*ptr);
    free(*source);
    *ptr = NULL;
    *source = NULL;
    return gnn_fail_memory(error, 4 * edges + 8 * dataset->nodes);
  }
  for (int64_t row = 0; row < dataset->nodes; row++) {
    (*ptr)[row] = filled;
    for (int r = -1; r < dataset->relation_count; r++) {
      const int64_t *in = r < 0 ? dataset->in_ptr : dataset->relations[r].in_ptr;
      const int32_t *from = r < 0 ? dataset->in_source : dataset->relations[r].in_source;
      for (int64_t e = in[row]; e < in[row + 1]; e++) (*source)[filled++] = from[e];
    }
  }
  (*ptr)[dataset->nodes] = filled;
  return GNN_OK;
}
