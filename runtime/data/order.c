/* order.c: nested bisection by streaming greedy with refinement. Each range of nodes is split in two by passes over its nodes in which each
 * goes where most of its neighbours are, unless that half is full (linear deterministic greedy: Stanton and Kliot 2012); the first pass
 * sees what it has placed so far, later ones refine. At first small clusters move as one, then single nodes. Last, the nodes that lose least
 * even out the halves, so that the canonical blocks are cut where the halves meet. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/blocks.h"

enum { ORDER_PASSES = 8, ORDER_CLUSTER_PASSES = 3, ORDER_CLUSTERS_A_BLOCK = 8 /* at least */, ORDER_SLACK = 16 /* while nodes move a half may exceed its share by one part in so many */, ORDER_MOST_GAIN = 256 };

/* Ranges are numbered as in a heap: range r is split into 2 * r and 2 * r + 1; the first is 1. */
typedef struct order_cutter {
  const int64_t *ptr[2];
  const int32_t *idx[2];
  int directions;   /* 1: both are the same */
  int32_t *order;   /* range by range, cluster by cluster in each */
  int32_t *range;   /* of each node; minus it: in the other half once all have been looked at */
  int32_t *cluster; /* of each node: neighbours that move together at first */
  int32_t *stream;  /* the nodes cluster by cluster */
} order_cutter;

/* A range that is being split. */
typedef struct order_halves {
  int64_t begin, end, least; /* places; rows that a half must have */
  int32_t first;             /* the halves are the ranges first and first + 1 */
  int64_t work[2], rows[2];
} order_halves;

static int64_t order_work(const order_cutter *c, int32_t node) {
  const int64_t *in = c->ptr[0] + node, *out = c->ptr[c->directions - 1] + node;
  return in[1] - in[0] + out[1] - out[0] + 1;
}

/* A node's neighbours in each half. */
static void order_links(const order_cutter *c, int32_t first, int32_t node, int64_t links[2]) {
  links[0] = links[1] = 0;
  for (int d = 0; d < c->directions; d++)
    for (int64_t e = c->ptr[d][node]; e < c->ptr[d][node + 1]; e++) {
      const int32_t half = abs(c->range[c->idx[d][e]]) - first;
      links[0] += half == 0;
      links[1] += half == 1;
    }
}

/* `half`: where the node is, -1: nowhere yet. */
static int order_choose(const order_halves *h, int64_t most_work, int64_t work, int64_t rows, const int64_t links[2], int half) {
  double score[2];
  int has_room[2];
  for (int k = 0; k < 2; k++) {
    score[k] = (double)links[k] * (double)(most_work - h->work[k]);
    has_room[k] = h->work[k] + work <= most_work && h->rows[k] + rows <= h->end - h->begin - h->least;
  }
  if (has_room[0] != has_room[1]) return has_room[1];
  if (has_room[0] && score[0] != score[1]) return score[1] > score[0];
  return half >= 0 ? half : h->work[1] < h->work[0];
}

/* The nodes at the places i .. the place returned move together. */
static int64_t order_group(const order_cutter *c, int64_t i, int64_t end, int by_cluster) {
  int64_t next = i + 1;
  while (by_cluster && next < end && c->cluster[c->order[next]] == c->cluster[c->order[i]]) next++;
  return next;
}

static int64_t order_pass(order_cutter *c, order_halves *h, int64_t most_work, int by_cluster) {
  int64_t moved = 0;
  for (int64_t i = h->begin, next; i < h->end; i = next) {
    const int32_t half = c->range[c->order[i]] < h->first ? -1 : c->range[c->order[i]] - h->first;
    int64_t work = 0, links[2] = {0};
    next = order_group(c, i, h->end, by_cluster);
    for (int64_t k = i; k < next; k++) {
      work += order_work(c, c->order[k]);
      c->range[c->order[k]] = h->first / 2;
    }
    if (half >= 0) {
      h->work[half] -= work;
      h->rows[half] -= next - i;
    }
    for (int64_t k = i; k < next; k++) {
      int64_t own[2];
      order_links(c, h->first, c->order[k], own);
      links[0] += own[0];
      links[1] += own[1];
    }
    const int to = order_choose(h, most_work, work, next - i, links, half);
    for (int64_t k = i; k < next; k++) c->range[c->order[k]] = h->first + to;
    h->work[to] += work;
    h->rows[to] += next - i;
    moved += to != half;
  }
  return moved;
}

/* How many more neighbours a node has in its own half, from 0 for the fewest. */
static int order_gain(const order_cutter *c, const order_halves *h, int32_t node, int half) {
  int64_t links[2];
  order_links(c, h->first, node, links);
  const int64_t gain = links[half] - links[1 - half];
  return (int)(gain < -ORDER_MOST_GAIN ? 0 : gain > ORDER_MOST_GAIN ? 2 * ORDER_MOST_GAIN : gain + ORDER_MOST_GAIN);
}

/* Nodes leave the heavier half, those with the fewest neighbours there first, until it has no more than its share. */
static void order_even_out(order_cutter *c, order_halves *h) {
  const int heavy = h->work[1] > h->work[0];
  int64_t excess = (h->work[heavy] - h->work[1 - heavy]) / 2, work_of[2 * ORDER_MOST_GAIN + 1] = {0};
  int limit = 0;
  for (int64_t i = h->begin; i < h->end; i++)
    if (c->range[c->order[i]] == h->first + heavy) work_of[order_gain(c, h, c->order[i], heavy)] += order_work(c, c->order[i]);
  while (limit < 2 * ORDER_MOST_GAIN && work_of[limit] <= excess) excess -= work_of[limit++];
  for (int64_t i = h->begin; i < h->end && h->rows[heavy] > h->least; i++) {
    const int32_t node = c->order[i];
    const int64_t work = order_work(c, node);
    if (c->range[node] != h->first + heavy) continue;
    const int gain = order_gain(c, h, node, heavy);
    if (gain > limit || (gain == limit && work > excess)) continue;
    if (gain == limit) excess -= work;
    c->range[node] = -c->range[node];
    h->rows[heavy]--;
  }
  for (int64_t i = h->begin; i < h->end; i++)
    if (c->range[c->order[i]] < 0) c->range[c->order[i]] = h->first + 1 - heavy;
}

static void order_split(order_cutter *c, int64_t begin, int64_t end, int32_t range, int64_t least) {
  order_halves h = {.begin = begin, .end = end, .least = least, .first = 2 * range};
  int64_t work = 0;
  for (int64_t i = begin; i < end; i++) work += order_work(c, c->order[i]);
  for (int by_cluster = 1; by_cluster >= 0; by_cluster--)
    for (int pass = 0; pass < ORDER_PASSES; pass++)
      if (order_pass(c, &h, work / 2 + work / 2 / ORDER_SLACK, by_cluster) == 0) break;
  order_even_out(c, &h);
}

/* Each node joins the cluster of most of its neighbours that has room (size-capped label propagation: Meyerhenke, Sanders and Schulz 2014). */
static gnn_status order_cluster(order_cutter *c, int64_t nodes, int64_t most_work, gnn_error *error) {
  int64_t *work_of = malloc((size_t)nodes * sizeof *work_of + 1);
  int32_t *times = calloc((size_t)nodes + 1, sizeof *times);
  if (work_of == NULL || times == NULL) {
    free(work_of);
    free(times);
    return gnn_fail_memory(error, nodes * 12);
  }
  for (int64_t v = 0; v < nodes; v++) {
    c->cluster[v] = (int32_t)v;
    work_of[v] = order_work(c, (int32_t)v);
  }
  for (int pass = 0; pass < ORDER_CLUSTER_PASSES; pass++)
    for (int64_t v = 0; v < nodes; v++) {
      const int64_t work = order_work(c, (int32_t)v);
      int32_t best = c->cluster[v];
      for (int d = 0; d < c->directions; d++)
        for (int64_t e = c->ptr[d][v]; e < c->ptr[d][v + 1]; e++) times[c->cluster[c->idx[d][e]]]++;
      for (int d = 0; d < c->directions; d++)
        for (int64_t e = c->ptr[d][v]; e < c->ptr[d][v + 1]; e++) {
          const int32_t other = c->cluster[c->idx[d][e]];
          if (times[other] > times[best] && work_of[other] + work <= most_work) best = other;
        }
      for (int d = 0; d < c->directions; d++)
        for (int64_t e = c->ptr[d][v]; e < c->ptr[d][v + 1]; e++) times[c->cluster[c->idx[d][e]]] = 0;
      work_of[c->cluster[v]] -= work;
      work_of[best] += work;
      c->cluster[v] = best;
    }
  free(work_of);
  free(times);
  return GNN_OK;
}

/* The nodes in the order of their keys, those of equal ones as before (NULL: ascending); place[k] .. place[k + 1] are those of first + k. */
static void order_sort(const int32_t *from, int64_t nodes, const int32_t *key, int64_t first, int64_t keys, int64_t *place, int32_t *to) {
  memset(place, 0, (size_t)(keys + 1) * sizeof *place);
  for (int64_t v = 0; v < nodes; v++) place[key[v] - first + 1]++;
  for (int64_t k = 0; k < keys; k++) place[k + 1] += place[k];
  for (int64_t i = 0; i < nodes; i++) {
    const int32_t v = from ? from[i] : (int32_t)i;
    to[place[key[v] - first]++] = v;
  }
  memmove(place + 1, place, (size_t)keys * sizeof *place);
  place[0] = 0;
}

static gnn_status order_cut(order_cutter *c, int64_t nodes, int64_t *place, gnn_error *error) {
  const int levels = gnn_order_levels(nodes);
  const int64_t work = c->ptr[0][nodes] + c->ptr[c->directions - 1][nodes] + nodes;
  gnn_status status = order_cluster(c, nodes, (work >> levels) / ORDER_CLUSTERS_A_BLOCK, error);
  if (status != GNN_OK) return status;
  order_sort(NULL, nodes, c->cluster, 0, nodes, place, c->stream);
  for (int64_t v = 0; v < nodes; v++) c->range[v] = 1;
  for (int level = 0; level < levels; level++) {
    const int64_t count = INT64_C(1) << level, least = (INT64_C(1) << (levels - level - 1)) * GNN_BLOCK_LEAST_ROWS;
    order_sort(c->stream, nodes, c->range, count, count, place, c->order);
    for (int64_t r = 0; r < count; r++) order_split(c, place[r], place[r + 1], (int32_t)(count + r), least);
  }
  order_sort(NULL, nodes, c->range, INT64_C(1) << levels, INT64_C(1) << levels, place, c->order);
  return GNN_OK;
}

gnn_status gnn_order_nested(int64_t nodes, const int64_t *in_ptr, const int32_t *in_idx, const int64_t *out_ptr, const int32_t *out_idx,
                            int32_t *order, gnn_error *error) {
  const size_t bytes = (size_t)nodes * sizeof *order + 1;
  order_cutter c = {{in_ptr, out_ptr}, {in_idx, out_idx}, in_ptr == out_ptr ? 1 : 2, order, malloc(bytes), malloc(bytes), malloc(bytes)};
  int64_t *place = malloc((size_t)(nodes + 1) * sizeof *place);
  gnn_status status = c.range && c.cluster && c.stream && place ? order_cut(&c, nodes, place, error) : gnn_fail_memory(error, nodes * 20);
  free(c.range);
  free(c.cluster);
  free(c.stream);
  free(place);
  return status;
}
