/* blocks.h: canonical blocks, the unit of every sum over rows.
 *
 * The rows of the nodes, in their order, are cut into 2^levels blocks, each a run of rows. How many there are follows from the number
 * of rows alone: a block has enough of them to hide what its sum takes in the tree, be it of a column of sparse features with few
 * entries. Where they are cut follows from the graph. Both belong to the data, never to a plan, a thread or a device. A sum over rows is
 * folded within each block, in the order of its rows, and then over the balanced binary tree of blocks,
 *     S[a, b) = S[a, m) + S[m, b)  with  m = (a + b) / 2,
 * so its bits are those of the data, however the blocks are divided among tasks, parts or devices. A sum over all rows of a block (of a
 * dense product, say) goes on with the halves of the block in the same way, down to runs of rows that are enough for many threads to
 * share; how many there are follows from the number of rows and from the kind of device.
 */
#ifndef GNN_BLOCKS_H
#define GNN_BLOCKS_H

#include <stdint.h>

enum {
  GNN_BLOCK_ROWS = 2048,      /* of a block on average, where there are several */
  GNN_BLOCK_LEAST_ROWS = 256, /* of every one of them */
  GNN_BLOCK_MOST_LEVELS = 12,
  GNN_RUN_ROWS = 256,         /* of a run on average, where there are several: */
  GNN_RUN_LEVELS = 5,         /* on a processor as many levels as this, with those of the blocks; */
  GNN_DEVICE_RUN_LEVELS = 3,  /* on a GPU so many below those of the blocks */
};

/* 0: one block. */
int gnn_block_levels(int64_t rows);

/* Of the runs of rows, those of the blocks included. */
int gnn_run_levels(int64_t rows);

/* Of the cuts that an order of the nodes is made for and halos are told of: as fine as GNN_BLOCK_LEAST_ROWS allow. */
int gnn_order_levels(int64_t rows);

/* first[0 .. 2^levels]: block b has the rows [first[b], first[b + 1]). Each half of a run of blocks has about half of its work, which is
 * a row's entries in both directions and the row itself; no block has fewer than GNN_BLOCK_LEAST_ROWS rows. Fewer levels cut where more of
 * them do, too. levels: gnn_order_levels(rows) or less; in_ptr, out_ptr: [rows + 1]; out_ptr may be in_ptr (a symmetric graph), or NULL: in_ptr has the
 * entries of both directions. */
void gnn_blocks_cut(int64_t rows, int levels, const int64_t *in_ptr, const int64_t *out_ptr, int64_t *first);

#endif
