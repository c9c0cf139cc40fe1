/* boundary.c */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/random.h"

enum { BOUNDARY_STREAM = 0xb0d4 };

/* Per out-edge of a set: the row of the table that it leads to; as what its source is sent there, -1: nowhere. */
typedef struct drawn_edges {
  int32_t *row, *sent;
} drawn_edges;

typedef struct gnn_boundary_state {
  uint64_t seed;
  int64_t epoch;                        /* that was drawn for; stale: per copy */
  int64_t *copy_epoch;                  /* stale, per copy: the last that it was exchanged in */
  unsigned char *is_on_way;             /* ... and whether its rows are still coming */
  unsigned char *sent[2], *received[2]; /* sample, by direction, of each row that is sent or received: whether it is now */
  drawn_edges *out;                     /* sample, per set of edges; NULL where no gradient goes back over them */
} gnn_boundary_state;

/* ---- rows of the epoch before ---- */

static int64_t exchange_stale(gnn_run *run, int number, const unsigned char *sending, unsigned char *behind) {
  const gnn_copy_desc *copy = &run->program->copies[number];
  gnn_ranks *ranks = run->ranks;
  gnn_boundary_state *b = ranks->boundary;
  const gnn_net *net = ranks->desc->net;
  const int64_t *send_first = ranks->send_first[copy->halo], *receive_first = ranks->receive_first[copy->halo];
  const int64_t sent = send_first[ranks->count] * copy->row_bytes, received = receive_first[ranks->count] * copy->row_bytes;
  unsigned char *leaving = (unsigned char *)gnn_at(run, 0) + copy->at_kept, *arrived = leaving + sent, *average = arrived + received;
  const gnn_messages messages = {leaving, arrived, send_first, receive_first, copy->row_bytes, gnn_ranks_draws_pairs(ranks, copy->halo)};
  const double smooth = ranks->desc->boundary_number;
  const int is_first = b->seed != run->seed || b->copy_epoch[number] != run->epoch - 1, has_come = b->is_on_way[number];
  if (has_come) net->finish(ranks, copy->step);
  b->is_on_way[number] = !is_first;
  if (is_first) {
    memcpy(leaving, sending, (size_t)sent);
    net->start(ranks, copy->step, &messages);
    net->finish(ranks, copy->step);
    if (smooth > 0) memcpy(average, arrived, (size_t)received);
  } else if (has_come && smooth > 0) {
    gnn_real *restrict to = (gnn_real *)(void *)average;
    const gnn_real *restrict from = (const gnn_real *)(const void *)arrived;
    for (int64_t i = 0; i < received / (int64_t)sizeof *to; i++) to[i] = (gnn_real)smooth * to[i] + (gnn_real)(1 - smooth) * from[i];
  }
  memcpy(behind, smooth > 0 ? average : arrived, (size_t)received);
  if (!is_first) {
    memcpy(leaving, sending, (size_t)sent);
    net->start(ranks, copy->step, &messages);
  }
  b->copy_epoch[number] = run->epoch;
  return sent;
}

/* ---- rows that are drawn ---- */

static int64_t drawn_of(const gnn_ranks *ranks, int64_t rows) { return (int64_t)ceil(ranks->desc->boundary_number * (double)rows); }

/* So many of the rows, each as likely: the next of n - i is one of those that are left to draw (Knuth's algorithm S). */
static void draw_rows(const gnn_ranks *ranks, uint64_t key, int from, int to, const int64_t *first, int other, unsigned char *is_drawn) {
  const int64_t rows = first[other + 1] - first[other];
  const uint64_t pair = gnn_mix64(key ^ (uint64_t)(from * GNN_RANKS_MOST + to));
  int64_t left = drawn_of(ranks, rows);
  for (int64_t i = 0; i < rows; i++) left -= is_drawn[first[other] + i] = gnn_random_uniform(pair, (uint64_t)i) * (double)(rows - i) < (double)left;
}

/* Edges whose sources were not drawn lead to the row of zeros. */
static void draw_out_edges(gnn_run *run, gnn_boundary_state *b, int set) {
  const gnn_csr *out = &run->sets[set].out;
  const drawn_edges *edges = &b->out[set];
  const gnn_ranks *ranks = run->ranks;
  const int64_t own = ranks->rows[GNN_HALO_OUT], others = ranks->receive_first[GNN_HALO_OUT][ranks->count];
  int32_t *row = (int32_t *)(uintptr_t)out->idx;
  for (int64_t e = 0; e < out->entries; e++) {
    if (edges->sent[e] < 0) continue;
    const int is_drawn = b->sent[GNN_HALO_IN][edges->sent[e]];
    row[e] = is_drawn ? edges->row[e] : (int32_t)(own + others);
    if (is_drawn) b->received[GNN_HALO_OUT][edges->row[e] - own] = 1;
  }
}

/* The rank's rows that such an edge of another leads to. */
static void draw_out_sent(const gnn_run *run, gnn_boundary_state *b, int set) {
  const gnn_ranks *ranks = run->ranks;
  const gnn_csr *in = &run->sets[set].in;
  const int64_t own = ranks->rows[GNN_HALO_IN], *received = ranks->receive_first[GNN_HALO_IN], *sent = ranks->send_first[GNN_HALO_OUT];
  for (int to = 0; to < ranks->count; to++)
    for (int64_t k = sent[to]; k < sent[to + 1]; k++) {
      const int64_t row = ranks->send_row[GNN_HALO_OUT][k];
      for (int64_t e = in->ptr[row]; e < in->ptr[row + 1]; e++) {
        const int64_t other = in->idx[e] - own;
        b->sent[GNN_HALO_OUT][k] |= other >= received[to] && other < received[to + 1] && b->received[GNN_HALO_IN][other];
      }
    }
}

static void draw(gnn_run *run, gnn_boundary_state *b) {
  const gnn_ranks *ranks = run->ranks;
  if (b->epoch == run->epoch && b->seed == run->seed) return;
  b->epoch = run->epoch;
  b->seed = run->seed;
  const uint64_t key = gnn_mix64(gnn_random_key(run->seed, BOUNDARY_STREAM) ^ (uint64_t)run->epoch);
  for (int other = 0; other < ranks->count; other++) {
    draw_rows(ranks, key, other, ranks->rank, ranks->receive_first[GNN_HALO_IN], other, b->received[GNN_HALO_IN]);
    draw_rows(ranks, key, ranks->rank, other, ranks->send_first[GNN_HALO_IN], other, b->sent[GNN_HALO_IN]);
  }
  memset(b->received[GNN_HALO_OUT], 0, (size_t)ranks->receive_first[GNN_HALO_OUT][ranks->count]);
  memset(b->sent[GNN_HALO_OUT], 0, (size_t)ranks->send_first[GNN_HALO_OUT][ranks->count]);
  for (int set = 0; set < run->program->graph.set_count; set++) {
    if (!b->out[set].row) continue;
    draw_out_edges(run, b, set);
    draw_out_sent(run, b, set);
  }
}

/* Those that are drawn come side by side; from the last on, each goes where it belongs. */
static void spread_rows(const gnn_ranks *ranks, int halo, const unsigned char *is_drawn, int64_t row_bytes, unsigned char *behind) {
  const int64_t *first = ranks->receive_first[halo], *drawn_first = halo == GNN_HALO_IN ? first : ranks->send_first[GNN_HALO_IN];
  const int64_t width = row_bytes / (int64_t)sizeof(gnn_real);
  int64_t from = 0;
  for (int64_t i = 0; i < first[ranks->count]; i++) from += is_drawn[i];
  for (int other = ranks->count - 1; other >= 0; other--) {
    const int64_t rows = drawn_first[other + 1] - drawn_first[other];
    const gnn_real scale = rows > 0 ? (gnn_real)((double)rows / (double)drawn_of(ranks, rows)) : 1;
    for (int64_t i = first[other + 1] - 1; i >= first[other]; i--) {
      gnn_real *to = (gnn_real *)(void *)(behind + i * row_bytes);
      if (!is_drawn[i]) {
        memset(to, 0, (size_t)row_bytes);
        continue;
      }
      memmove(to, behind + --from * row_bytes, (size_t)row_bytes);
      for (int64_t c = 0; c < width; c++) to[c] *= scale;
    }
  }
  if (halo == GNN_HALO_OUT) memset(behind + first[ranks->count] * row_bytes, 0, (size_t)row_bytes);
}

static void count_drawn(const int64_t *first, int count, const unsigned char *is_drawn, int64_t *drawn) {
  drawn[0] = 0;
  for (int p = 0; p < count; p++) {
    drawn[p + 1] = drawn[p];
    for (int64_t i = first[p]; i < first[p + 1]; i++) drawn[p + 1] += is_drawn[i];
  }
}

static int64_t exchange_sample(gnn_run *run, int number, unsigned char *sending, unsigned char *behind) {
  const gnn_copy_desc *copy = &run->program->copies[number];
  gnn_ranks *ranks = run->ranks;
  gnn_boundary_state *b = ranks->boundary;
  int64_t sent[GNN_RANKS_MOST + 1], received[GNN_RANKS_MOST + 1], at = 0;
  draw(run, b);
  count_drawn(ranks->send_first[copy->halo], ranks->count, b->sent[copy->halo], sent);
  count_drawn(ranks->receive_first[copy->halo], ranks->count, b->received[copy->halo], received);
  for (int64_t i = 0; i < ranks->send_first[copy->halo][ranks->count]; i++)
    if (b->sent[copy->halo][i]) memmove(sending + at++ * copy->row_bytes, sending + i * copy->row_bytes, (size_t)copy->row_bytes);
  const gnn_messages messages = {sending, behind, sent, received, copy->row_bytes, 1};
  ranks->desc->net->start(ranks, copy->step, &messages);
  ranks->desc->net->finish(ranks, copy->step);
  spread_rows(ranks, copy->halo, b->received[copy->halo], copy->row_bytes, behind);
  return at * copy->row_bytes;
}

int64_t gnn_boundary_exchange(gnn_run *run, int number, unsigned char *sending, unsigned char *table) {
  const gnn_copy_desc *copy = &run->program->copies[number];
  unsigned char *behind = table + run->ranks->rows[copy->halo] * copy->row_bytes;
  return run->ranks->desc->boundary == GNN_BOUNDARY_STALE ? exchange_stale(run, number, sending, behind) : exchange_sample(run, number, sending, behind);
}

/* ---- beginning and end ---- */

/* Rows that a rank is sent lie in the order of the rows, and so do the out-edges. */
static void find_out_edges(const gnn_run *run, const gnn_csr *out, drawn_edges *edges) {
  const gnn_ranks *ranks = run->ranks;
  const int64_t own = ranks->rows[GNN_HALO_OUT], *received = ranks->receive_first[GNN_HALO_OUT], *last = ranks->send_first[GNN_HALO_IN] + 1;
  int64_t next[GNN_RANKS_MOST];
  memcpy(edges->row, out->idx, (size_t)out->entries * sizeof *edges->row);
  memcpy(next, ranks->send_first[GNN_HALO_IN], (size_t)ranks->count * sizeof *next);
  for (int64_t row = 0; row < out->rows; row++)
    for (int64_t e = out->ptr[row]; e < out->ptr[row + 1]; e++) {
      int to = 0;
      edges->sent[e] = -1;
      if (out->idx[e] < own) continue;
      while (out->idx[e] - own >= received[to + 1]) to++;
      while (next[to] < last[to] && ranks->send_row[GNN_HALO_IN][next[to]] < row) next[to]++;
      edges->sent[e] = (int32_t)next[to];
    }
}

static gnn_status begin_sample(gnn_run *run, gnn_boundary_state *b, gnn_error *error) {
  const gnn_ranks *ranks = run->ranks;
  int64_t bytes = 0;
  int is_there = 1;
  for (int h = 0; h < 2; h++) {
    b->sent[h] = calloc((size_t)ranks->send_first[h][ranks->count] + 1, 1);
    b->received[h] = calloc((size_t)ranks->receive_first[h][ranks->count] + 1, 1);
    is_there = is_there && b->sent[h] && b->received[h];
  }
  b->out = calloc((size_t)run->program->graph.set_count, sizeof *b->out);
  for (int set = 0; b->out && set < run->program->graph.set_count; set++) {
    const gnn_csr *out = &run->sets[set].out;
    if (!ranks->send_row[GNN_HALO_OUT] || !out->idx) continue;
    drawn_edges *edges = &b->out[set];
    bytes += 8 * out->entries;
    edges->row = malloc((size_t)out->entries * sizeof *edges->row + 1);
    edges->sent = malloc((size_t)out->entries * sizeof *edges->sent + 1);
    is_there = is_there && edges->row && edges->sent;
    if (is_there) find_out_edges(run, out, edges);
  }
  return is_there && b->out ? GNN_OK : gnn_fail_memory(error, bytes);
}

gnn_status gnn_boundary_begin(gnn_run *run, gnn_error *error) {
  gnn_ranks *ranks = run->ranks;
  gnn_boundary_end(ranks);
  if (ranks->desc->boundary == GNN_BOUNDARY_EXACT) return GNN_OK;
  gnn_boundary_state *b = ranks->boundary = calloc(1, sizeof *b);
  if (b == NULL) return gnn_fail_memory(error, (int64_t)sizeof *b);
  b->copy_epoch = calloc((size_t)run->program->copy_count + 1, sizeof *b->copy_epoch);
  b->is_on_way = calloc((size_t)run->program->copy_count + 1, 1);
  if (!b->copy_epoch || !b->is_on_way) return gnn_fail_memory(error, 9 * (int64_t)run->program->copy_count);
  for (int c = 0; c < run->program->copy_count; c++) b->copy_epoch[c] = INT64_MIN;
  return ranks->desc->boundary == GNN_BOUNDARY_SAMPLE ? begin_sample(run, b, error) : GNN_OK;
}

void gnn_boundary_end(gnn_ranks *ranks) {
  gnn_boundary_state *b = ranks->boundary;
  if (b == NULL) return;
  for (int h = 0; h < 2; h++) {
    free(b->sent[h]);
    free(b->received[h]);
  }
  free(b->copy_epoch);
  free(b->is_on_way);
  for (int set = 0; b->out && set < ranks->program->graph.set_count; set++) {
    free(b->out[set].row);
    free(b->out[set].sent);
  }
  free(b->out);
  free(b);
  ranks->boundary = NULL;
}
