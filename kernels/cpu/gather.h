/* gather.h: weighted sums of rows of a dense matrix picked by index; the core of all sparse products.
 *
 * Rows narrower than a vector use the widest shorter vector that fits; a row that is no whole number of vectors ends
 * with a vector that overlaps the one before. So nothing is read or written outside a row and no masks are needed.
 */
#ifndef GNN_GATHER_H
#define GNN_GATHER_H

#include "half.h"

/* Of the rows from k << shift on, none of which lies beyond the next part: those before row `end` lie in `part`, counted from 0. */
typedef struct gnn_row_part {
  int32_t part, end;
} gnn_row_part;

GNN_INLINE int gnn_part_of(const gnn_row_part *parts, int shift, int64_t row) { return parts[row >> shift].part + (row >= parts[row >> shift].end); }

/* What rows of w numbers are gathered from: a matrix. Or, where `at` is not NULL, pieces, each at so many bytes of the arena that begins at `rows`: with `parts` by row, a piece
 * lying so that row 0 would be there; without, what picks a row is a code, the piece and from bit `shift` down the row's number in it (gnn_halo_rows). */
typedef struct gnn_table {
  const void *rows;
  const int64_t *at;
  const gnn_row_part *parts;
  int shift;
  int is_half; /* numbers are kept in bf16 */
} gnn_table;

GNN_INLINE gnn_table gnn_matrix(const gnn_real *rows) { return (gnn_table){rows, NULL, NULL, 0, 0}; }
GNN_INLINE gnn_table gnn_half_matrix(const gnn_half *rows) { return (gnn_table){rows, NULL, NULL, 0, 1}; }

GNN_INLINE int64_t gnn_table_bytes(gnn_table x, int64_t numbers) { return numbers * (int64_t)(x.is_half ? sizeof(gnn_half) : sizeof(gnn_real)); }

GNN_INLINE const char *gnn_table_piece(gnn_table x, int64_t piece) { return (const char *)x.rows + x.at[piece] * GNN_SCALE; }

GNN_INLINE const void *gnn_table_row(gnn_table x, int32_t idx, int64_t w) {
  const int64_t row_bytes = gnn_table_bytes(x, w);
  if (x.at == NULL) return (const char *)x.rows + idx * row_bytes;
  if (x.parts) return gnn_table_piece(x, gnn_part_of(x.parts, x.shift, idx)) + idx * row_bytes;
  const uint32_t code = (uint32_t)idx;
  return gnn_table_piece(x, code >> x.shift) + (int64_t)(code & ((UINT32_C(1) << x.shift) - 1)) * row_bytes;
}

/* Into the caches, before it is asked for. */
GNN_INLINE void gnn_fetch(const void *row, int64_t bytes) {
  GNN_UNROLL for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch((const char *)row + b);
}

/* Accumulators of one pass over the entries; wider rows take several passes. */
enum { GNN_GATHER_TILE = GNN_REGISTERS / 2 };

#define GNN_TILE gnn_gather_tile1
#define GNN_TILE_VEC gnn_vec1
#define GNN_TILE_AT gnn_vec1_at
#define GNN_TILE_FMA gnn_fma1
#define GNN_TILE_HALVES gnn_numbers1
#include "gather_tile.h"

#define GNN_TILE gnn_gather_tile2
#define GNN_TILE_VEC gnn_vec2
#define GNN_TILE_AT gnn_vec2_at
#define GNN_TILE_FMA gnn_fma2
#define GNN_TILE_HALVES gnn_numbers2
#include "gather_tile.h"

#if GNN_LANES >= 4
#define GNN_TILE gnn_gather_tile4
#define GNN_TILE_VEC gnn_vec4
#define GNN_TILE_AT gnn_vec4_at
#define GNN_TILE_FMA gnn_fma4
#define GNN_TILE_HALVES gnn_numbers4
#include "gather_tile.h"
#endif

#if GNN_LANES >= 8
#define GNN_TILE gnn_gather_tile8
#define GNN_TILE_VEC gnn_vec8
#define GNN_TILE_AT gnn_vec8_at
#define GNN_TILE_FMA gnn_fma8
#define GNN_TILE_HALVES gnn_numbers8
#include "gather_tile.h"
#endif

#if GNN_LANES >= 16
#define GNN_TILE gnn_gather_tile16
#define GNN_TILE_VEC gnn_vec16
#define GNN_TILE_AT gnn_vec16_at
#define GNN_TILE_FMA gnn_fma16
#define GNN_TILE_HALVES gnn_numbers16
#include "gather_tile.h"
#endif

/* The lanes of the vectors for rows of w numbers: a power of two, at most w and at most a register. Not a loop: the compiler
 * knows the result before it inlines, and drops the other tiles unseen, which is most of the time of compiling a program. */
GNN_INLINE int gnn_gather_lanes(int64_t w) {
  return GNN_LANES >= 16 && w >= 16 ? 16 : GNN_LANES >= 8 && w >= 8 ? 8 : GNN_LANES >= 4 && w >= 4 ? 4 : w >= 2 ? 2 : 1;
}

/* The accumulators that a row's entries go round, from the width that a value was declared with: a slice of its columns is summed with
 * the chains of the whole. By the width and not by the vectors, so that all instruction sets sum in the same order. */
GNN_INLINE int gnn_gather_chains(int64_t declared) { return declared <= 16 ? 4 : declared <= 32 ? 2 : 1; }

GNN_INLINE void gnn_gather_tile(const int32_t *idx, const gnn_real *weight, int64_t count, int64_t limit,
                                gnn_table x, int64_t w, int chains, int64_t column, int vectors, int is_last, int is_first,
                                int64_t ahead, gnn_real *acc) {
#define GNN_GATHER_CASE(lanes)                                                                                         \
  case lanes:                                                                                                          \
    gnn_gather_tile##lanes(idx, weight, count, limit, x, w, column, vectors, chains, is_last, is_first, ahead, acc);   \
    break
  switch (gnn_gather_lanes(w)) {
    GNN_GATHER_CASE(1);
    GNN_GATHER_CASE(2);
#if GNN_LANES >= 4
    GNN_GATHER_CASE(4);
#endif
#if GNN_LANES >= 8
    GNN_GATHER_CASE(8);
#endif
#if GNN_LANES >= 16
    GNN_GATHER_CASE(16);
#endif
  }
#undef GNN_GATHER_CASE
}

/* acc[0 .. w) = (is_first ? 0 : acc) + sum over j < count of weight[j] * x[idx[j]], weight NULL being ones, in `chains` chains.
 * idx may be read up to limit >= count, to fetch rows `ahead` entries early (0: not at all). */
GNN_INLINE void gnn_gather(const int32_t *idx, const gnn_real *weight, int64_t count, int64_t limit, gnn_table x,
                           int64_t w, int chains, int is_first, int64_t ahead, gnn_real *acc) {
  const int lanes = gnn_gather_lanes(w);
  const int64_t vectors = (w + lanes - 1) / lanes;
  const int64_t widest = GNN_GATHER_TILE / chains;
  const int64_t passes = (vectors + widest - 1) / widest;
  const int64_t tile = (vectors + passes - 1) / passes, before_last = (passes - 1) * tile;
  for (int64_t v = 0; v < before_last; v += tile)
    gnn_gather_tile(idx, weight, count, limit, x, w, chains, v * lanes, (int)tile, 0, is_first, ahead, acc);
  gnn_gather_tile(idx, weight, count, limit, x, w, chains, before_last * lanes, (int)(vectors - before_last), 1, is_first,
                  ahead, acc);
}

#endif
