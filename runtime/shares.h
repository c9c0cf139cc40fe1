/* shares.h: how many of `all` things are for training, validation and test; the compiler and the runtime agree on it. */
#ifndef GNN_SHARES_H
#define GNN_SHARES_H

#include <stdint.h>

/* count[train, valid, test]: whole parts of the shares of the last two, the rest for training. */
static inline void gnn_share_out(double valid, double test, int64_t all, int64_t count[3]) {
  count[1] = (int64_t)(valid * (double)all + 1e-9);
  count[2] = (int64_t)(test * (double)all + 1e-9);
  if (count[2] > all - count[1]) count[2] = all - count[1];
  count[0] = all - count[1] - count[2];
}

#endif
