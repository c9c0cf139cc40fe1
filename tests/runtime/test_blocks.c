/* Canonical blocks: how many there are, and where they are cut. */
#include "../../runtime/core/blocks.h"
#include "../../runtime/gnnrt.h"
#include "tap.h"

#include <stdlib.h>

enum { MOST_BLOCKS = 1 << GNN_BLOCK_MOST_LEVELS };

static void test_levels(void) {
  int is_monotone = 1, has_room = 1;
  for (int64_t rows = 0; rows < 1 << 25; rows += rows / 97 + 1) {
    int levels = gnn_block_levels(rows), runs = gnn_run_levels(rows);
    is_monotone = is_monotone && levels <= gnn_block_levels(rows + 1) && runs <= gnn_run_levels(rows + 1);
    has_room = has_room && (levels == 0 || rows >> levels >= GNN_BLOCK_ROWS) && runs >= levels && (runs == 0 || rows >> runs >= GNN_RUN_ROWS);
  }
  tap_ok(gnn_block_levels(0) == 0 && gnn_block_levels(4095) == 0 && gnn_block_levels(4096) == 1 && gnn_block_levels(169343) == 6, "blocks of so many rows");
  tap_ok(gnn_block_levels(INT64_C(111059956)) == GNN_BLOCK_MOST_LEVELS, "no more blocks than can be listed");
  tap_ok(gnn_run_levels(511) == 0 && gnn_run_levels(2708) == 3 && gnn_run_levels(8192) == GNN_RUN_LEVELS && gnn_run_levels(1 << 20) == gnn_block_levels(1 << 20),
         "small graphs have runs for many threads, large ones blocks");
  tap_ok(is_monotone, "more rows, no fewer blocks and runs");
  tap_ok(has_room, "every block has its rows");
}

/* Row r has as many entries as `entries` says. */
static void test_cut(const char *what, int64_t rows, int64_t (*entries)(int64_t r, int64_t rows)) {
  int64_t *ptr = calloc((size_t)rows + 1, sizeof *ptr), first[MOST_BLOCKS + 1], most = 0;
  for (int64_t r = 0; r < rows; r++) ptr[r + 1] = ptr[r] + entries(r, rows);
  int levels = gnn_block_levels(rows), is_sound = 1;
  const int64_t blocks = INT64_C(1) << levels;
  gnn_blocks_cut(rows, levels, ptr, ptr, first);
  for (int64_t b = 0; b < blocks; b++) {
    is_sound = is_sound && first[b + 1] - first[b] >= (levels ? GNN_BLOCK_LEAST_ROWS : rows);
    int64_t work = 2 * (ptr[first[b + 1]] - ptr[first[b]]) + first[b + 1] - first[b];
    if (work > most) most = work;
  }
  const gnn_blocks cut = {levels, levels + 2, first};
  for (int64_t r = 0; r < 4 * blocks; r++) {
    int64_t rows_of_run = gnn_run_first(&cut, r + 1) - gnn_run_first(&cut, r), even = (first[r / 4 + 1] - first[r / 4]) / 4;
    is_sound = is_sound && rows_of_run >= even && rows_of_run <= even + 1 && (r % 4 || gnn_run_first(&cut, r) == first[r / 4]);
  }
  tap_ok(is_sound && first[0] == 0 && first[blocks] == rows, "%s: %lld rows in %lld blocks, none with too few, and in runs of equal length", what, (long long)rows, (long long)blocks);
  /* A block is at most its share, the largest row, and what blocks of the least rows take from it. */
  tap_ok(entries(0, rows) > rows / 2 || most <= 2 * ((2 * ptr[rows] + rows) / blocks + GNN_BLOCK_LEAST_ROWS), "%s: blocks have about the same work", what);
  free(ptr);
}

static int64_t none(int64_t r, int64_t rows) { return 0 * (r + rows); }
static int64_t regular(int64_t r, int64_t rows) { return 7 + 0 * (r + rows); }
static int64_t hub(int64_t r, int64_t rows) { return r == 0 ? rows : 1; }
static int64_t falling(int64_t r, int64_t rows) { return rows ? 4 * (rows - r) / rows : 0; }

/* A ring in which all have an edge to one node besides: parts of 2 to 64 have nearly as many rows as each other, so that what is kept of rows is nearly even, and without the hub's row as many edges. */
static void test_star(void) {
  enum { ROWS = 100000 };
  int64_t *in = calloc(ROWS + 1, sizeof *in), *out = calloc(ROWS + 1, sizeof *out), first[65];
  for (int64_t r = 0; r < ROWS; r++) in[r + 1] = in[r] + (r == 0 ? ROWS : 1), out[r + 1] = out[r] + (r == 0 ? 1 : 2);
  for (int levels = 1; levels <= 6; levels++) {
    const int64_t parts = INT64_C(1) << levels, even = ROWS / parts;
    int64_t least = ROWS, most = 0, edges = 0;
    gnn_blocks_cut(ROWS, levels, in, out, first);
    for (int64_t p = 0; p < parts; p++) {
      const int64_t rows = first[p + 1] - first[p], others = in[first[p + 1]] - in[first[p]] - (p == 0 ? in[1] : 0);
      if (rows < least) least = rows;
      if (rows > most) most = rows;
      if (others > edges) edges = others;
    }
    tap_ok(2 * least >= even && 2 * most <= 3 * even + 2 && 2 * edges <= 3 * even + 2, "a star in %lld parts: %lld to %lld rows each", (long long)parts, (long long)least, (long long)most);
  }
  free(in);
  free(out);
}

int main(void) {
  test_levels();
  test_star();
  for (int64_t rows = 0; rows < 300000; rows = 3 * rows + 500) {
    test_cut("no edges", rows, none);
    test_cut("regular", rows, regular);
    test_cut("a hub", rows, hub);
    test_cut("falling degrees", rows, falling);
  }
  return tap_done();
}
