/* classic_orders.c: by degree, and reverse Cuthill-McKee. */
#include "classic_orders.h"

#include <stdlib.h>

static int64_t order_degree(const two_way_rows *rows, int64_t v) {
  const int64_t in = rows->in_ptr[v + 1] - rows->in_ptr[v];
  return rows->out_ptr == rows->in_ptr ? in : in + rows->out_ptr[v + 1] - rows->out_ptr[v];
}

/* Nodes by ascending degree, those of the same ascending. */
static gnn_status order_ascending(const two_way_rows *rows, int32_t *order, gnn_error *error) {
  int64_t most = 0;
  for (int64_t v = 0; v < rows->nodes; v++) most = order_degree(rows, v) > most ? order_degree(rows, v) : most;
  int64_t *place = calloc((size_t)most + 2, sizeof *place);
  if (place == NULL) return gnn_fail_memory(error, (most + 2) * (int64_t)sizeof *place);
  for (int64_t v = 0; v < rows->nodes; v++) place[order_degree(rows, v) + 1]++;
  for (int64_t d = 0; d <= most; d++) place[d + 1] += place[d];
  for (int64_t v = 0; v < rows->nodes; v++) order[place[order_degree(rows, v)]++] = (int32_t)v;
  free(place);
  return GNN_OK;
}

static void order_reverse(int32_t *order, int64_t begin, int64_t end) {
  while (begin < --end) {
    const int32_t node = order[begin];
    order[begin++] = order[end];
    order[end] = node;
  }
}

gnn_status order_by_degree(const two_way_rows *rows, int32_t *order, gnn_error *error) {
  const gnn_status status = order_ascending(rows, order, error);
  if (status != GNN_OK) return status;
  order_reverse(order, 0, rows->nodes);
  for (int64_t begin = 0, end; begin < rows->nodes; begin = end) {
    for (end = begin + 1; end < rows->nodes && order_degree(rows, order[end]) == order_degree(rows, order[begin]);) end++;
    order_reverse(order, begin, end);
  }
  return GNN_OK;
}

typedef struct rcm {
  const two_way_rows *rows;
  int32_t *order;
  char *is_seen;
} rcm;

static void rcm_append(rcm *r, int64_t *end, const int64_t *ptr, const int32_t *idx, int64_t v) {
  for (int64_t e = ptr[v]; e < ptr[v + 1]; e++)
    if (!r->is_seen[idx[e]]) {
      r->is_seen[idx[e]] = 1;
      r->order[(*end)++] = idx[e];
    }
}

static const int32_t *rcm_rank; /* of a node among all by ascending degree, for qsort */

static int rcm_by_rank(const void *a, const void *b) {
  const int32_t x = rcm_rank[*(const int32_t *)a], y = rcm_rank[*(const int32_t *)b];
  return (x > y) - (x < y);
}

/* The piece of `first`, from order[begin] on; its end. *last: where its last level begins. */
static int64_t rcm_piece(rcm *r, int64_t begin, int32_t first, int64_t *last) {
  int64_t end = begin + 1, level_end = end;
  r->order[begin] = first;
  r->is_seen[first] = 1;
  *last = begin;
  for (int64_t at = begin; at < end; at++) {
    const int64_t fresh = end;
    if (at == level_end) {
      *last = at;
      level_end = end;
    }
    rcm_append(r, &end, r->rows->in_ptr, r->rows->in, r->order[at]);
    if (r->rows->out_ptr != r->rows->in_ptr) rcm_append(r, &end, r->rows->out_ptr, r->rows->out, r->order[at]);
    qsort(r->order + fresh, (size_t)(end - fresh), sizeof *r->order, rcm_by_rank);
  }
  return end;
}

gnn_status order_rcm(const two_way_rows *rows, int32_t *order, gnn_error *error) {
  enum { TURNS = 2 /* each begins at a node farthest from where the last began */ };
  const int64_t nodes = rows->nodes;
  int32_t *by_degree = malloc((size_t)nodes * sizeof *by_degree + 1), *rank = malloc((size_t)nodes * sizeof *rank + 1);
  rcm r = {rows, order, calloc((size_t)nodes + 1, 1)};
  gnn_status status = by_degree && rank && r.is_seen ? order_ascending(rows, by_degree, error) : gnn_fail_memory(error, nodes * 9);
  for (int64_t i = 0; status == GNN_OK && i < nodes; i++) rank[by_degree[i]] = (int32_t)i;
  rcm_rank = rank;
  for (int64_t i = 0, begin = 0; status == GNN_OK && i < nodes; i++) {
    int32_t first = by_degree[i];
    if (r.is_seen[first]) continue;
    int64_t last, end = rcm_piece(&r, begin, first, &last);
    for (int turn = 0; turn < TURNS; turn++) {
      first = order[last];
      for (int64_t k = last; k < end; k++)
        if (rank[order[k]] < rank[first]) first = order[k];
      for (int64_t k = begin; k < end; k++) r.is_seen[order[k]] = 0;
      end = rcm_piece(&r, begin, first, &last);
    }
    begin = end;
  }
  if (status == GNN_OK) order_reverse(order, 0, nodes);
  free(by_degree);
  free(rank);
  free(r.is_seen);
  return status;
}
