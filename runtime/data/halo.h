/* halo.h: how much a graph's rows need of other rows where they are cut into 2^j parts, for all j at once.
 *
 * Parts are runs of blocks of an order (blocks.h), as many in each. Direction 0 gathers over in-edges, as the forward pass does, direction 1 over
 * out-edges, as the backward pass does. Part p of 2^j has the number 2^j + p. */
#ifndef GNN_HALO_H
#define GNN_HALO_H

#include "runtime/base/text.h"
#include "runtime/gnnrt.h"

typedef struct gnn_halo {
  int levels;           /* of the blocks */
  int64_t *first;       /* [2^levels + 1] rows of the blocks, as gnn_blocks_cut has them */
  int64_t *halo[2];     /* [2^(levels + 1)] rows of other parts that the part's rows gather */
  int64_t *interior[2]; /* [2^(levels + 1)] rows of the part that gather none of them */
} gnn_halo;

/* O(entries * levels). Entries of a row ascend; out_ptr and out_idx may be those of `in` (a symmetric graph). */
gnn_status gnn_halo_count(int64_t nodes, const int64_t *in_ptr, const int32_t *in_idx, const int64_t *out_ptr, const int32_t *out_idx,
                          gnn_halo *halo, gnn_error *error);
/* The same row by row, in any order: with where the blocks are cut (in_ptr and out_ptr as gnn_blocks_cut has them) and nothing counted yet, then for every row and
 * direction the blocks that its entries lie in, ascending, each once, and its own. */
gnn_status gnn_halo_begin(int64_t nodes, const int64_t *in_ptr, const int64_t *out_ptr, gnn_halo *halo, gnn_error *error);
void gnn_halo_add(gnn_halo *halo, int direction, int64_t own, const int32_t *blocks, int64_t count);
void gnn_halo_free(gnn_halo *halo);

/* ---- which part needs rows of which ---- */

enum { GNN_PAIR_LEVELS = 6 /* for 2, 4, .. 64 parts, in this order */ };

/* Where the numbers of 2^level parts begin; after the last level, how many there are. */
static inline int64_t gnn_pair_at(int level) { return ((INT64_C(1) << 2 * level) - 4) / 3; }

/* pairs[d][gnn_pair_at(l) + p << l | q]: so many rows of part q of 2^l are gathered by the rows of part p, its own among them, over in-edges (d = 0) or out-edges (1). Parts are runs of the
 * 2^levels blocks that begin at `first`; level 1 to the lesser of `levels` and GNN_PAIR_LEVELS are counted. pairs[1] may be pairs[0] for a symmetric graph. O(entries). */
gnn_status gnn_halo_pairs(int64_t nodes, int levels, const int64_t *first, const int64_t *in_ptr, const int32_t *in_idx, int64_t *const pairs[2], gnn_error *error);
/* The same of edges: so many go from the rows of part p to those of part q. */
gnn_status gnn_edge_pairs(int64_t nodes, int levels, const int64_t *first, const int64_t *in_ptr, const int32_t *in_idx, int64_t *pairs, gnn_error *error);

/* Of all 2^level parts in one direction. */
typedef struct gnn_halo_sum {
  int64_t halo, interior; /* rows */
  int64_t largest;        /* rows of the part that has the most, with its halo */
} gnn_halo_sum;
gnn_halo_sum gnn_halo_of(const gnn_halo *halo, int level, int direction);
/* The rows of a part: *begin .. the number returned. */
int64_t gnn_halo_part(const gnn_halo *halo, int level, int64_t part, int64_t *begin);

/* ---- ranks, at most 65535 ---- */

/* A set of edges, by destination, of rows that ranks own runs of. */
typedef struct gnn_rank_edges {
  const int64_t *in_ptr;
  const int32_t *in_source;
  const uint16_t *rank_of_source; /* [sources] */
  int64_t sources;
  const int64_t *first_destination; /* [ranks + 1] */
} gnn_rank_edges;

/* GNN_HALO_IN: of the rows at which all of these edges begin, pairs[p * ranks + q] of rank q are gathered by sums at the destinations of rank p. GNN_HALO_OUT: of the rows at which all of them end,
 * by sums at the sources. Those of a rank by itself are none. O(edges). */
gnn_status gnn_rank_rows(int ranks, const gnn_rank_edges *sets, int set_count, int direction, int64_t *pairs, gnn_error *error);
/* pairs[p * ranks + q]: so many edges go from rows of p to rows of q, another. */
void gnn_rank_edges_between(int ranks, const gnn_rank_edges *set, int64_t *pairs);

#endif
