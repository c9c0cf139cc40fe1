/* extent.c: how prepared data are cut: into canonical blocks, and at most into how much by batches of graphs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/blocks.h"

gnn_status gnn_dataset_cut(const gnn_dataset *dataset, int64_t *first, int64_t *in_before, int64_t *out_before, gnn_error *error) {
  const int64_t nodes = dataset->nodes;
  const int levels = gnn_block_levels(nodes);
  if (dataset->own) memcpy(first, dataset->own->first, (((size_t)1 << levels) + 1) * sizeof *first);
  if (dataset->own) return GNN_OK;
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
