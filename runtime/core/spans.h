/* spans.h: where the bytes of a copy lie: contiguous runs, one after another, in an arena or in the scratch file. */
#ifndef GNN_SPANS_H
#define GNN_SPANS_H

#include "runtime/gnnrt.h"

/* Addresses of the tiers; the SSD has none. Indexed by gnn_tier. */
enum { GNN_TIER_COUNT = GNN_READ_RING + 1 };
typedef struct gnn_tiers {
  const gnn_program *program;
  unsigned char *base[GNN_TIER_COUNT];
} gnn_tiers;

/* A walk over the runs of one side. */
typedef struct gnn_spans {
  const gnn_extent *extents; /* NULL: one run that wraps around */
  unsigned char *base;       /* NULL: the scratch file */
  int64_t scale, wrap, at, left;
} gnn_spans;

gnn_spans gnn_spans_of(const gnn_tiers *tiers, const gnn_side *side, int64_t bytes);
/* The next run, of at most `most` bytes: *at is its offset. Returns its length; 0 at the end. */
int64_t gnn_spans_next(gnn_spans *spans, int64_t most, int64_t *at);

/* Whether a copy's sides lie within their tiers and hold as many bytes as it says; and what it waits for exists. */
int gnn_copy_is_sound(const gnn_program *program, const gnn_copy_desc *copy);

#endif
