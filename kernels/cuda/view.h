/* view.h: what emitted CUDA kernels see of a run.
 *
 * A gnn_view lies in device memory; every kernel gets a pointer to it, so that a captured graph can be replayed while seed, epoch and
 * options change in it, and where the things of its step lie (gnn_places), which never changes. Its fields have the names they have in gnn_run: the text of a
 * row's computation is the same in C and in CUDA. Plain C and C++, also under NVRTC, which has no headers of the system.
 */
#ifndef GNN_CUDA_VIEW_H
#define GNN_CUDA_VIEW_H

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT64_C(x) x##LL
#else
#include <stdint.h>
#endif

#include "places.h"

#ifndef GNNRT_H
typedef float gnn_real;
enum { GNN_TRAIN, GNN_VALID, GNN_TEST };
enum { GNN_EDGES, GNN_MEMBERS, GNN_RELATIONS };
#endif

typedef struct gnn_view_csr {
  int64_t rows, entries;
  const int64_t *ptr;
  const int32_t *idx;
  const int64_t *edge;   /* NULL where no step reads edge values by source */
  const int32_t *hub;    /* the rows of more than hub_entries entries, the longest first */
  int64_t hub_count, hub_entries;
} gnn_view_csr;

typedef struct gnn_view_edge_set {
  gnn_view_csr in, out;
  const int64_t *id;     /* gnn_edge_set.id */
} gnn_view_edge_set;

/* gnn_blocks. */
typedef struct gnn_view_blocks {
  int64_t levels, run_levels;
  const int64_t *first;
} gnn_view_blocks;

/* gnn_halo_rows. Of a rank: row[sent], those that it sends. */
typedef struct gnn_view_halo {
  const uint32_t *code;
  const int32_t *row;
  const int64_t *first;
  int64_t sent;
} gnn_view_halo;

typedef struct gnn_view_sparse {
  gnn_view_csr by_row;
  const gnn_real *row_value;
  gnn_view_csr by_column;
  const gnn_real *column_value;
} gnn_view_sparse;

typedef struct gnn_view {
  unsigned char *device; /* the arena */
  int64_t nodes, edges, graphs, others;
  gnn_view_edge_set sets[128]; /* gnn_run.sets */
  int64_t type_nodes[62], type_first[62];
  gnn_view_blocks blocks;
  int64_t part_levels, first_part, own_parts; /* of a rank, among the parts of all; its blocks are those of its parts */
  int64_t finer_levels, cut_levels; /* its rows are cut into 2^cut_levels parts, of runs that are 2^finer_levels to each of its own */
  int64_t rank, first_row; /* which it is, and where its rows begin among those of all */
  gnn_view_halo halo[256]; /* of parts the first three; of ranks as many as gnn_ranks_desc has */
  const int32_t *node_id; /* what the data call each node, and behind a rank's own the others; NULL: what the graph does */
  const int64_t *edge_id;
  gnn_view_sparse sparse[8];
  const int32_t *rows[3]; /* labelled nodes by split */
  int64_t row_count[3];
  double row_weight[3];   /* by which losses are divided */
  double option[64], rate[32];
  uint64_t seed;
  int64_t update;
  double loss;            /* written by the loss's step */
} gnn_view;

#endif
