/* halo.c: the rows that parts of a graph need of each other. */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/blocks.h"

/* Bits up to the highest one that is set. */
static int halo_bits(int64_t x) { return x ? 64 - __builtin_clzll((unsigned long long)x) : 0; }

/* Row r, in block `own`, is needed by the rows idx[0 .. count), ascending: by each part in which one of them lies, but its own. block_of NULL: idx are blocks. */
static void halo_needed(int levels, const int32_t *block_of, const int32_t *idx, int64_t count, int64_t own, int64_t *halo) {
  int64_t last = -1;
  for (int64_t e = 0; e < count; e++) {
    const int64_t block = block_of ? block_of[idx[e]] : idx[e];
    if (block == last) continue;
    /* Parts of 2^shift blocks: those in which `block` is the first seen, and not the row's own. */
    const int fresh = last < 0 ? levels + 1 : halo_bits(block ^ last), foreign = halo_bits(block ^ own);
    for (int shift = 0; shift < fresh && shift < foreign; shift++) halo[(INT64_C(1) << (levels - shift)) + (block >> shift)]++;
    last = block;
  }
}

/* The row gathers the rows idx[0 .. count): it is interior to every part of 2^shift blocks that holds all of them. */
static void halo_gathered(int levels, const int32_t *block_of, const int32_t *idx, int64_t count, int64_t own, int64_t *interior) {
  int64_t differing = 0;
  for (int64_t e = 0; e < count; e++) differing |= (block_of ? block_of[idx[e]] : idx[e]) ^ own;
  for (int shift = halo_bits(differing); shift <= levels; shift++) interior[(INT64_C(1) << (levels - shift)) + (own >> shift)]++;
}

gnn_status gnn_halo_begin(int64_t nodes, const int64_t *in_ptr, const int64_t *out_ptr, gnn_halo *halo, gnn_error *error) {
  const int levels = gnn_order_levels(nodes);
  const size_t blocks = (size_t)1 << levels;
  *halo = (gnn_halo){.levels = levels, .first = malloc((blocks + 1) * sizeof *halo->first)};
  int is_whole = halo->first != NULL;
  for (int d = 0; d < 2; d++) {
    halo->halo[d] = calloc(2 * blocks, sizeof **halo->halo);
    halo->interior[d] = calloc(2 * blocks, sizeof **halo->interior);
    is_whole &= halo->halo[d] && halo->interior[d];
  }
  if (!is_whole) {
    gnn_halo_free(halo);
    return gnn_fail_memory(error, (int64_t)(9 * blocks * sizeof *halo->first));
  }
  gnn_blocks_cut(nodes, levels, in_ptr, out_ptr, halo->first);
  return GNN_OK;
}

void gnn_halo_add(gnn_halo *halo, int direction, int64_t own, const int32_t *blocks, int64_t count) {
  halo_gathered(halo->levels, NULL, blocks, count, own, halo->interior[direction]);
  halo_needed(halo->levels, NULL, blocks, count, own, halo->halo[1 - direction]);
}

gnn_status gnn_halo_count(int64_t nodes, const int64_t *in_ptr, const int32_t *in_idx, const int64_t *out_ptr, const int32_t *out_idx,
                          gnn_halo *halo, gnn_error *error) {
  const int64_t *ptr[2] = {in_ptr, out_ptr};
  const int32_t *idx[2] = {in_idx, out_idx};
  const gnn_status status = gnn_halo_begin(nodes, in_ptr, out_ptr, halo, error);
  if (status != GNN_OK) return status;
  const int levels = halo->levels;
  const size_t blocks = (size_t)1 << levels;
  int32_t *block_of = malloc((size_t)nodes * sizeof *block_of + 1);
  if (block_of == NULL) {
    gnn_halo_free(halo);
    return gnn_fail_memory(error, nodes * (int64_t)sizeof *block_of);
  }
  for (size_t b = 0; b < blocks; b++)
    for (int64_t r = halo->first[b]; r < halo->first[b + 1]; r++) block_of[r] = (int32_t)b;
  for (int d = 0; d < 2; d++)
    for (int64_t r = 0; r < nodes; r++) {
      const int64_t begin = ptr[d][r], count = ptr[d][r + 1] - begin;
      halo_gathered(levels, block_of, idx[d] + begin, count, block_of[r], halo->interior[d]);
      halo_needed(levels, block_of, idx[d] + begin, count, block_of[r], halo->halo[1 - d]);
    }
  free(block_of);
  return GNN_OK;
}

/* ---- which part needs rows of which ---- */

/* A row of part `own` (of 2^levels) is gathered by rows of the parts in `by`, a bit each. */
static void halo_count_pairs(int levels, uint64_t by, int own, int64_t *pairs) {
  for (int level = levels; level > 0; level--) {
    for (uint64_t left = by; left; left &= left - 1) pairs[gnn_pair_at(level) + ((int64_t)__builtin_ctzll(left) << level) + own]++;
    uint64_t halves = 0;
    for (uint64_t left = by; left; left &= left - 1) halves |= UINT64_C(1) << __builtin_ctzll(left) / 2;
    by = halves;
    own /= 2;
  }
}

static void halo_parts(int levels, int counted, const int64_t *first, unsigned char *part_of) {
  for (int64_t p = 0; p < INT64_C(1) << counted; p++)
    for (int64_t r = first[p << (levels - counted)]; r < first[(p + 1) << (levels - counted)]; r++) part_of[r] = (unsigned char)p;
}

gnn_status gnn_edge_pairs(int64_t nodes, int levels, const int64_t *first, const int64_t *in_ptr, const int32_t *in_idx, int64_t *pairs, gnn_error *error) {
  const int counted = levels < GNN_PAIR_LEVELS ? levels : GNN_PAIR_LEVELS;
  unsigned char *part_of = malloc((size_t)nodes + 1);
  if (part_of == NULL) return gnn_fail_memory(error, nodes);
  halo_parts(levels, counted, first, part_of);
  for (int64_t k = 0; k < gnn_pair_at(counted + 1); k++) pairs[k] = 0;
  for (int64_t r = 0; r < nodes; r++)
    for (int64_t e = in_ptr[r]; e < in_ptr[r + 1]; e++) pairs[gnn_pair_at(counted) + ((int64_t)part_of[in_idx[e]] << counted) + part_of[r]]++;
  for (int level = counted; level > 1; level--) /* two parts are one of the next level */
    for (int64_t p = 0; p < INT64_C(1) << level; p++)
      for (int64_t q = 0; q < INT64_C(1) << level; q++) pairs[gnn_pair_at(level - 1) + (p / 2 << (level - 1)) + q / 2] += pairs[gnn_pair_at(level) + (p << level) + q];
  free(part_of);
  return GNN_OK;
}

gnn_status gnn_halo_pairs(int64_t nodes, int levels, const int64_t *first, const int64_t *in_ptr, const int32_t *in_idx, int64_t *const pairs[2], gnn_error *error) {
  const int counted = levels < GNN_PAIR_LEVELS ? levels : GNN_PAIR_LEVELS, is_symmetric = pairs[0] == pairs[1];
  unsigned char *part_of = malloc((size_t)nodes + 1);
  uint64_t *by = is_symmetric ? NULL : calloc((size_t)nodes + 1, sizeof *by); /* per row: the parts whose rows gather it over in-edges */
  if (part_of == NULL || (by == NULL && !is_symmetric)) {
    free(part_of);
    free(by);
    return gnn_fail_memory(error, nodes * (int64_t)(is_symmetric ? 1 : 1 + sizeof *by));
  }
  halo_parts(levels, counted, first, part_of);
  for (int d = 0; d < 2; d++)
    for (int64_t k = 0; k < gnn_pair_at(counted + 1); k++) pairs[d][k] = 0;
  for (int64_t r = 0; r < nodes; r++) { /* whoever sends an edge to r gathers it over out-edges */
    uint64_t senders = 0;
    for (int64_t e = in_ptr[r]; e < in_ptr[r + 1]; e++) {
      senders |= UINT64_C(1) << part_of[in_idx[e]];
      if (by) by[in_idx[e]] |= UINT64_C(1) << part_of[r];
    }
    halo_count_pairs(counted, senders, part_of[r], pairs[1]);
  }
  for (int64_t r = 0; by && r < nodes; r++) halo_count_pairs(counted, by[r], part_of[r], pairs[0]);
  free(part_of);
  free(by);
  return GNN_OK;
}

void gnn_halo_free(gnn_halo *halo) {
  free(halo->first);
  for (int d = 0; d < 2; d++) {
    free(halo->halo[d]);
    free(halo->interior[d]);
  }
  *halo = (gnn_halo){0};
}

int64_t gnn_halo_part(const gnn_halo *halo, int level, int64_t part, int64_t *begin) {
  const int64_t span = INT64_C(1) << (halo->levels - level);
  *begin = halo->first[part * span];
  return halo->first[(part + 1) * span] - *begin;
}

gnn_halo_sum gnn_halo_of(const gnn_halo *halo, int level, int direction) {
  gnn_halo_sum sum = {0};
  for (int64_t part = 0; part < INT64_C(1) << level; part++) {
    const int64_t at = (INT64_C(1) << level) + part;
    int64_t begin;
    const int64_t rows = gnn_halo_part(halo, level, part, &begin) + halo->halo[direction][at];
    sum.halo += halo->halo[direction][at];
    sum.interior += halo->interior[direction][at];
    if (rows > sum.largest) sum.largest = rows;
  }
  return sum;
}

/* ---- ranks ---- */

gnn_status gnn_rank_rows(int ranks, const gnn_rank_edges *sets, int set_count, int direction, int64_t *pairs, gnn_error *error) {
  const int64_t sources = set_count ? sets[0].sources : 0;
  uint16_t *seen = calloc((size_t)sources + 1, sizeof *seen); /* per source: the last rank that gathered it, plus one */
  int64_t *last = malloc((size_t)ranks * sizeof *last);        /* per rank: the last destination that it gathered */
  if (seen == NULL || last == NULL) {
    free(seen);
    free(last);
    return gnn_fail_memory(error, 2 * sources);
  }
  memset(pairs, 0, (size_t)(ranks * ranks) * sizeof *pairs);
  for (int r = 0; r < ranks; r++) last[r] = -1;
  for (int p = 0; p < ranks && set_count; p++)
    for (int64_t row = sets[0].first_destination[p]; direction == GNN_HALO_OUT && row < sets[0].first_destination[p + 1]; row++)
      for (int k = 0; k < set_count; k++)
        for (int64_t e = sets[k].in_ptr[row]; e < sets[k].in_ptr[row + 1]; e++) {
          const int q = sets[k].rank_of_source[sets[k].in_source[e]];
          if (q != p && last[q] != row) pairs[q * ranks + p]++;
          last[q] = row;
        }
  for (int p = 0; p < ranks && direction == GNN_HALO_IN; p++)
    for (int k = 0; k < set_count; k++)
      for (int64_t e = sets[k].in_ptr[sets[k].first_destination[p]]; e < sets[k].in_ptr[sets[k].first_destination[p + 1]]; e++) {
        const int32_t source = sets[k].in_source[e];
        const int q = sets[k].rank_of_source[source];
        if (q != p && seen[source] != p + 1) pairs[p * ranks + q]++;
        seen[source] = (uint16_t)(p + 1);
      }
  free(seen);
  free(last);
  return GNN_OK;
}

void gnn_rank_edges_between(int ranks, const gnn_rank_edges *set, int64_t *pairs) {
  memset(pairs, 0, (size_t)(ranks * ranks) * sizeof *pairs);
  for (int p = 0; p < ranks; p++)
    for (int64_t e = set->in_ptr[set->first_destination[p]]; e < set->in_ptr[set->first_destination[p + 1]]; e++) {
      const int q = set->rank_of_source[set->in_source[e]];
      if (q != p) pairs[q * ranks + p]++;
    }
}
