/* blocks.c: where the rows of the nodes are cut into canonical blocks. */
#include "blocks.h"

/* From `levels` up to `most`, as long as halves have `least` rows on average. */
static int halve(int64_t rows, int levels, int most, int64_t least) {
  while (levels < most && (rows >> (levels + 1)) >= least) levels++;
  return levels;
}

int gnn_block_levels(int64_t rows) { return halve(rows, 0, GNN_BLOCK_MOST_LEVELS, GNN_BLOCK_ROWS); }
int gnn_order_levels(int64_t rows) { return halve(rows, 0, GNN_BLOCK_MOST_LEVELS, GNN_BLOCK_LEAST_ROWS); }
int gnn_run_levels(int64_t rows) { return halve(rows, gnn_block_levels(rows), GNN_RUN_LEVELS, GNN_RUN_ROWS); }

static int64_t work_before(int64_t row, const int64_t *in_ptr, const int64_t *out_ptr) {
  return in_ptr[row] + (out_ptr ? out_ptr[row] : 0) + row;
}

/* The row at which [begin, end) has half of its work on each side, and at least `least` rows. */
static int64_t middle_of(int64_t begin, int64_t end, int64_t least, const int64_t *in_ptr, const int64_t *out_ptr) {
  const int64_t before = work_before(begin, in_ptr, out_ptr), half = before + (work_before(end, in_ptr, out_ptr) - before) / 2;
  int64_t low = begin + least, high = end - least;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (work_before(middle, in_ptr, out_ptr) < half) low = middle + 1;
    else high = middle;
  }
  return low;
}

void gnn_blocks_cut(int64_t rows, int levels, const int64_t *in_ptr, const int64_t *out_ptr, int64_t *first) {
  const int64_t count = INT64_C(1) << levels, least = ((INT64_C(1) << gnn_order_levels(rows)) >> levels) * GNN_BLOCK_LEAST_ROWS;
  first[0] = 0;
  first[count] = rows;
  for (int64_t span = count; span > 1; span /= 2)
    for (int64_t b = 0; b < count; b += span)
      first[b + span / 2] = middle_of(first[b], first[b + span], span / 2 * least, in_ptr, out_ptr);
}
