/* blocks.h: canonical blocks, the unit of every sum over rows.
 *
 * The rows of the nodes, in their order, are cut into 2^levels blocks, each a run of rows. How many there are follows from the number
 * of rows alone: a few are small, so that the threads of a processor find work in small graphs; where there are more, a block has enough
 * rows to hide what folding its sum takes. Where they are cut follows from the graph. Both belong to the data, never to a plan, a thread or a device. A sum over rows is
 * folded within each block, in the order of its rows, and then over the balanced binary tree of blocks,
 *     S[a, b) = S[a, m) + S[m, b)  with  m = (a + b) / 2,
 * so its bits are those of the data, however the blocks are divided among tasks, parts or devices.
 */
#ifndef GNN_BLOCKS_H
#define GNN_BLOCKS_H

#include <stdint.h>

enum {
  GNN_BLOCK_LEAST_ROWS = 256, /* of every block, where there are several */
  GNN_BLOCK_FEW_LEVELS = 5,
  GNN_BLOCK_MANY_ROWS = 1024, /* of a block on average, where there are more than 2^GNN_BLOCK_FEW_LEVELS */
  GNN_BLOCK_MOST_LEVELS = 12,
};

/* 0: one block. */
int gnn_block_levels(int64_t rows);

/* first[0 .. 2^levels]: block b has the rows [first[b], first[b + 1]). Each half of a run of blocks has about half of its work, which is
 * a row's entries in both directions and the row itself; no block has fewer than GNN_BLOCK_LEAST_ROWS rows. levels:
 * gnn_block_levels(rows) or less; in_ptr, out_ptr: [rows + 1]; out_ptr may be in_ptr (a symmetric graph). */
void gnn_blocks_cut(int64_t rows, int levels, const int64_t *in_ptr, const int64_t *out_ptr, int64_t *first);

#endif
