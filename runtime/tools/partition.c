/* partition.c: orders of the nodes from parts of them.
 *
 * Streamed: in passes over the nodes each goes to the part where most of its neighbours are, unless that is full (linear deterministic greedy, again and again:
 * Stanton and Kliot 2012; Nishimura and Ugander 2013). First all nodes into 2^k parts, then those of each part into as many of its own, so that a node has few
 * to choose from. How the parts of one stand in line follows from the edges between them, of which there are few enough to be held: nested bisection with
 * exchanges of pairs (Kernighan and Lin 1970). */
#include "partition.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/blocks.h"

enum { STREAM_PASSES = 8, STREAM_BITS = 6, STREAM_PARTS = 1 << STREAM_BITS, STREAM_SLACK = 16, STREAM_LAST_SLACK = 64 /* of the last two passes */ };

/* ---- parts in line ---- */

typedef struct nest {
  int64_t count;
  const int64_t *weight; /* [count * count], symmetric: edges between parts */
  int32_t *line;         /* the parts */
  char *is_right;        /* of a part, while its run is split */
  int64_t *pull;         /* of a part: edges to the other half less those to its own */
} nest;

static int64_t nest_weight(const nest *n, int32_t a, int32_t b) { return n->weight[a * n->count + b]; }

/* One half grows from the first part by what is bound to it most. */
static void nest_grow(nest *n, int64_t begin, int64_t middle, int64_t end) {
  for (int64_t i = begin; i < end; i++) n->pull[n->line[i]] = 0;
  for (int64_t at = begin; at < middle; at++) {
    int64_t best = at;
    for (int64_t i = at + 1; i < end && at > begin; i++)
      if (n->pull[n->line[i]] > n->pull[n->line[best]]) best = i;
    const int32_t part = n->line[best];
    n->line[best] = n->line[at];
    n->line[at] = part;
    for (int64_t i = at + 1; i < end; i++) n->pull[n->line[i]] += nest_weight(n, n->line[i], part);
  }
}

/* Exchanges the pair that gains most, as long as one gains. */
static void nest_exchange(nest *n, int64_t begin, int64_t middle, int64_t end) {
  for (int64_t turn = begin; turn < end; turn++) {
    int64_t left = begin, right = middle, most = 0;
    for (int64_t i = begin; i < end && turn == begin; i++) {
      n->pull[n->line[i]] = 0;
      for (int64_t k = begin; k < end; k++) n->pull[n->line[i]] += (k < middle) == (i < middle) ? (k == i ? 0 : -nest_weight(n, n->line[i], n->line[k])) : nest_weight(n, n->line[i], n->line[k]);
    }
    if (end - begin <= 2 * STREAM_PARTS) {
      for (int64_t i = begin; i < middle; i++)
        for (int64_t k = middle; k < end; k++) {
          const int64_t gain = n->pull[n->line[i]] + n->pull[n->line[k]] - 2 * nest_weight(n, n->line[i], n->line[k]);
          if (gain > most) {
            most = gain;
            left = i;
            right = k;
          }
        }
    } else {
      for (int64_t i = begin; i < end; i++) {
        int64_t *best = i < middle ? &left : &right;
        if (n->pull[n->line[i]] > n->pull[n->line[*best]]) *best = i;
      }
      most = n->pull[n->line[left]] + n->pull[n->line[right]] - 2 * nest_weight(n, n->line[left], n->line[right]);
    }
    if (most <= 0) return;
    const int32_t a = n->line[left], b = n->line[right];
    n->line[left] = b;
    n->line[right] = a;
    for (int64_t i = begin; i < end; i++) {
      const int32_t p = n->line[i];
      if (p == a || p == b) continue;
      const int64_t change = 2 * (nest_weight(n, p, a) - nest_weight(n, p, b));
      n->pull[p] += i < middle ? change : -change;
    }
    const int64_t between = nest_weight(n, a, b), of_a = n->pull[a], of_b = n->pull[b];
    n->pull[a] = 2 * between - of_a;
    n->pull[b] = 2 * between - of_b;
  }
}

static void nest_split(nest *n, int64_t begin, int64_t end) {
  const int64_t middle = begin + (end - begin) / 2;
  if (end - begin < 2) return;
  nest_grow(n, begin, middle, end);
  nest_exchange(n, begin, middle, end);
  nest_split(n, begin, middle);
  nest_split(n, middle, end);
}

/* place[part]: where it stands. */
static gnn_status nest_line(int64_t count, const int64_t *weight, int32_t *place, gnn_error *error) {
  nest n = {.count = count, .weight = weight, .line = malloc((size_t)count * sizeof *n.line + 1), .pull = malloc((size_t)count * sizeof *n.pull + 1)};
  const int is_whole = n.line && n.pull;
  for (int64_t i = 0; is_whole && i < count; i++) n.line[i] = (int32_t)i;
  if (is_whole) nest_split(&n, 0, count);
  for (int64_t i = 0; is_whole && i < count; i++) place[n.line[i]] = (int32_t)i;
  free(n.line);
  free(n.pull);
  return is_whole ? GNN_OK : gnn_fail_memory(error, count * 12);
}

/* Nodes by their keys, 0 .. keys - 1, ascending among equal ones. */
static gnn_status partition_sort(int64_t nodes, const int32_t *key, int64_t keys, int32_t *order, gnn_error *error) {
  int64_t *place = calloc((size_t)keys + 1, sizeof *place);
  if (place == NULL) return gnn_fail_memory(error, keys * (int64_t)sizeof *place);
  for (int64_t v = 0; v < nodes; v++) place[key[v] + 1]++;
  for (int64_t k = 0; k < keys; k++) place[k + 1] += place[k];
  for (int64_t v = 0; v < nodes; v++) order[place[key[v]]++] = (int32_t)v;
  free(place);
  return GNN_OK;
}

gnn_status partition_order(const graph_rows *rows, const int32_t *part, int64_t parts, int is_nested, int32_t *order, gnn_error *error) {
  if (is_nested || parts > PARTITION_NESTED_MOST) return partition_sort(rows->nodes, part, parts, order, error);
  int64_t *weight = calloc((size_t)(parts * parts), sizeof *weight);
  int32_t *place = malloc((size_t)parts * sizeof *place), *key = malloc((size_t)rows->nodes * sizeof *key);
  graph_walk walk;
  gnn_status status = weight && place && key ? graph_walk_begin(rows, 0, &walk, error) : gnn_fail_memory(error, parts * parts * (int64_t)sizeof *weight);
  if (status == GNN_OK) {
    for (int64_t v = 0; status == GNN_OK && v < rows->nodes; v++) {
      const int32_t *entries;
      int64_t count;
      status = graph_walk_next(&walk, &entries, &count, error);
      for (int64_t e = 0; status == GNN_OK && e < count; e++) {
        weight[part[v] * parts + part[entries[e]]]++;
        weight[part[entries[e]] * parts + part[v]]++;
      }
    }
    graph_walk_end(&walk);
  }
  if (status == GNN_OK) status = nest_line(parts, weight, place, error);
  for (int64_t v = 0; status == GNN_OK && v < rows->nodes; v++) key[v] = place[part[v]];
  if (status == GNN_OK) status = partition_sort(rows->nodes, key, parts, order, error);
  free(weight);
  free(place);
  free(key);
  return status;
}

/* ---- streamed ---- */

/* A node's code: its range, and above that the part of it, counted from 1; 0: none yet. */
typedef struct stream_cutter {
  const graph_rows *rows;
  int32_t *code; /* range * STREAM_CODES + part + 1 */
  int64_t ranges, parts;
  int64_t *load, *total; /* [ranges * parts], [ranges] */
  ingest_progress *progress;
  gnn_error *error;
} stream_cutter;

enum { STREAM_CODES = STREAM_PARTS + 1 };

typedef struct stream_walks {
  graph_walk walk[2];
} stream_walks;

static gnn_status stream_begin(stream_cutter *c, stream_walks *w) {
  gnn_status status = GNN_OK;
  memset(w, 0, sizeof *w);
  for (int d = 0; status == GNN_OK && d < c->rows->directions; d++) status = graph_walk_begin(c->rows, d, &w->walk[d], c->error);
  return status;
}

static void stream_end(stream_cutter *c, stream_walks *w) {
  for (int d = 0; d < c->rows->directions; d++) graph_walk_end(&w->walk[d]);
}

/* Where a node goes; what nothing draws goes where there is least. */
static int64_t stream_choose(const stream_cutter *c, int64_t range, int64_t work, int64_t slack, const int64_t *links, int64_t own) {
  const int64_t *load = c->load + range * c->parts, cap = c->total[range] / c->parts + c->total[range] / c->parts / slack + 1;
  int64_t best = -1, least = 0;
  double most = 0;
  for (int64_t p = 0; p < c->parts; p++) {
    if (load[p] < load[least]) least = p;
    if (links[p] == 0 || load[p] + work > cap) continue;
    const double score = (double)links[p] * (double)(cap - load[p]);
    if (score > most || (score == most && p == own)) {
      most = score;
      best = p;
    }
  }
  if (best >= 0) return best;
  return own >= 0 && load[own] + work <= cap ? own : least;
}

static gnn_status stream_pass(stream_cutter *c, int64_t slack, int64_t *moved) {
  const int64_t nodes = c->rows->nodes;
  int64_t links[STREAM_PARTS];
  stream_walks w;
  gnn_status status = stream_begin(c, &w);
  *moved = 0;
  for (int64_t v = 0; status == GNN_OK && v < nodes; v++) {
    const int64_t range = c->code[v] / STREAM_CODES, own = c->code[v] % STREAM_CODES - 1;
    const int32_t first = (int32_t)(range * STREAM_CODES) + 1;
    int64_t work = 1;
    memset(links, 0, sizeof links);
    c->code[v] = first - 1;
    for (int d = 0; status == GNN_OK && d < c->rows->directions; d++) {
      const int32_t *entries;
      int64_t count = 0;
      status = graph_walk_next(&w.walk[d], &entries, &count, c->error);
      work += count * (c->rows->directions == 1 ? 2 : 1);
      for (int64_t e = 0; status == GNN_OK && e < count; e++) {
        const uint32_t part = (uint32_t)(c->code[entries[e]] - first);
        if (part < STREAM_PARTS) links[part]++;
      }
    }
    if (own >= 0) c->load[range * c->parts + own] -= work;
    const int64_t to = stream_choose(c, range, work, slack, links, own);
    c->load[range * c->parts + to] += work;
    c->code[v] = first + (int32_t)to;
    *moved += to != own;
    if ((v & 0xfff) == 0 && ingest_progress_is_due(c->progress)) ingest_progress_say(c->progress, 0, "%lld parts: node %s of %s", (long long)(c->ranges * c->parts), gnn_count_text(v).text, gnn_count_text(nodes).text);
  }
  stream_end(c, &w);
  return status;
}

/* The parts of each range in line; their numbers become those of ranges. */
static gnn_status stream_nest(stream_cutter *c) {
  const int64_t nodes = c->rows->nodes, square = c->parts * c->parts;
  int64_t *weight = calloc((size_t)(c->ranges * square), sizeof *weight);
  int32_t *place = malloc((size_t)(c->ranges * c->parts) * sizeof *place);
  graph_walk walk;
  gnn_status status = weight && place ? graph_walk_begin(c->rows, 0, &walk, c->error) : gnn_fail_memory(c->error, c->ranges * square * (int64_t)sizeof *weight);
  if (status == GNN_OK) {
    for (int64_t v = 0; status == GNN_OK && v < nodes; v++) {
      const int32_t *entries, range = c->code[v] / STREAM_CODES, own = c->code[v] % STREAM_CODES - 1;
      int64_t count;
      status = graph_walk_next(&walk, &entries, &count, c->error);
      for (int64_t e = 0; status == GNN_OK && e < count; e++) {
        const int32_t part = c->code[entries[e]] - range * STREAM_CODES - 1;
        if (part < 0 || part >= STREAM_PARTS) continue;
        weight[range * square + own * c->parts + part]++;
        weight[range * square + part * c->parts + own]++;
      }
    }
    graph_walk_end(&walk);
  }
  for (int64_t r = 0; status == GNN_OK && r < c->ranges; r++) status = nest_line(c->parts, weight + r * square, place + r * c->parts, c->error);
  for (int64_t v = 0; status == GNN_OK && v < nodes; v++) {
    const int64_t range = c->code[v] / STREAM_CODES, part = c->code[v] % STREAM_CODES - 1;
    c->code[v] = (int32_t)((range * c->parts + place[range * c->parts + part]) * STREAM_CODES);
  }
  free(weight);
  free(place);
  return status;
}

/* The work of each range: its rows, and their entries both ways. */
static gnn_status stream_total(stream_cutter *c) {
  stream_walks w;
  gnn_status status = stream_begin(c, &w);
  for (int64_t v = 0; status == GNN_OK && v < c->rows->nodes; v++) {
    int64_t *total = &c->total[c->code[v] / STREAM_CODES];
    ++*total;
    for (int d = 0; status == GNN_OK && d < c->rows->directions; d++) {
      const int32_t *entries;
      int64_t count;
      status = graph_walk_next(&w.walk[d], &entries, &count, c->error);
      *total += count * (c->rows->directions == 1 ? 2 : 1);
    }
  }
  stream_end(c, &w);
  return status;
}

static gnn_status stream_stage(stream_cutter *c, int bits) {
  c->parts = INT64_C(1) << bits;
  c->load = calloc((size_t)(c->ranges * c->parts), sizeof *c->load);
  c->total = calloc((size_t)c->ranges, sizeof *c->total);
  gnn_status status = c->load && c->total ? stream_total(c) : gnn_fail_memory(c->error, c->ranges * c->parts * (int64_t)sizeof *c->load);
  int64_t moved = 1;
  for (int pass = 0; status == GNN_OK && pass < STREAM_PASSES && (moved > 0 || pass == STREAM_PASSES - 2); pass++)
    status = stream_pass(c, pass < STREAM_PASSES - 2 ? STREAM_SLACK : STREAM_LAST_SLACK, &moved);
  if (status == GNN_OK) status = stream_nest(c);
  free(c->load);
  free(c->total);
  c->ranges *= c->parts;
  return status;
}

gnn_status partition_streamed(const graph_rows *rows, int32_t *order, ingest_progress *progress, gnn_error *error) {
  const int levels = gnn_order_levels(rows->nodes), stages = levels ? (levels + STREAM_BITS - 1) / STREAM_BITS : 0;
  stream_cutter c = {.rows = rows, .code = calloc((size_t)rows->nodes, sizeof *c.code), .ranges = 1, .progress = progress, .error = error};
  gnn_status status = c.code ? GNN_OK : gnn_fail_memory(error, rows->nodes * (int64_t)sizeof *c.code);
  for (int stage = 0, done = 0; status == GNN_OK && stage < stages; stage++) {
    const int bits = (levels - done + stages - stage - 1) / (stages - stage);
    status = stream_stage(&c, bits);
    done += bits;
  }
  for (int64_t v = 0; status == GNN_OK && v < rows->nodes; v++) c.code[v] /= STREAM_CODES;
  if (status == GNN_OK) status = partition_sort(rows->nodes, c.code, c.ranges, order, error);
  free(c.code);
  return status;
}

/* ---- halos ---- */

enum { HALO_BITS = 64 };

gnn_status partition_halo(const graph_rows *rows, const int32_t *order, gnn_halo *halo, gnn_error *error) {
  const int64_t nodes = rows->nodes;
  int32_t *block_of = malloc((size_t)nodes * sizeof *block_of + 1), blocks[1 << GNN_BLOCK_MOST_LEVELS];
  int64_t *work = malloc((size_t)(nodes + 1) * sizeof *work); /* first of each node, then before each place */
  uint64_t seen[(1 << GNN_BLOCK_MOST_LEVELS) / HALO_BITS] = {0};
  graph_walk walk = {0};
  gnn_status status = block_of && work ? GNN_OK : gnn_fail_memory(error, nodes * 12);
  /* block_of is the place of each node until blocks are known */
  for (int64_t i = 0; status == GNN_OK && i < nodes; i++) block_of[order[i]] = (int32_t)i;
  for (int64_t i = 0; status == GNN_OK && i <= nodes; i++) work[i] = 0;
  for (int d = 0; status == GNN_OK && d < rows->directions; d++) {
    status = graph_walk_begin(rows, d, &walk, error);
    for (int64_t v = 0; status == GNN_OK && v < nodes; v++) {
      const int32_t *entries;
      int64_t count = 0;
      status = graph_walk_next(&walk, &entries, &count, error);
      work[block_of[v] + 1] += count * (rows->directions == 1 ? 2 : 1);
    }
    graph_walk_end(&walk);
  }
  for (int64_t i = 0; status == GNN_OK && i < nodes; i++) work[i + 1] += work[i];
  if (status == GNN_OK) status = gnn_halo_begin(nodes, work, NULL, halo, error);
  free(work);
  if (status != GNN_OK) {
    free(block_of);
    return status;
  }
  for (int64_t b = 0; b < INT64_C(1) << halo->levels; b++)
    for (int64_t i = halo->first[b]; i < halo->first[b + 1]; i++) block_of[order[i]] = (int32_t)b;
  for (int d = 0; status == GNN_OK && d < 2; d++) {
    status = graph_walk_begin(rows, rows->directions == 1 ? 0 : d, &walk, error);
    for (int64_t v = 0; status == GNN_OK && v < nodes; v++) {
      const int32_t *entries;
      int64_t count = 0, distinct = 0;
      status = graph_walk_next(&walk, &entries, &count, error);
      if (status != GNN_OK) break;
      for (int64_t e = 0; e < count; e++) seen[block_of[entries[e]] / HALO_BITS] |= UINT64_C(1) << block_of[entries[e]] % HALO_BITS;
      for (int64_t k = 0; k < (INT64_C(1) << halo->levels) / HALO_BITS + 1 && k < (int64_t)(sizeof seen / sizeof *seen); k++)
        for (; seen[k]; seen[k] &= seen[k] - 1) blocks[distinct++] = (int32_t)(k * HALO_BITS + __builtin_ctzll(seen[k]));
      gnn_halo_add(halo, d, block_of[v], blocks, distinct);
    }
    graph_walk_end(&walk);
  }
  free(block_of);
  if (status != GNN_OK) gnn_halo_free(halo);
  return status;
}
