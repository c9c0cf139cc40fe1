/* shuffle.h: permutations that are a function of a key (kernels/cpu/random.h): Fisher and Yates; Durstenfeld 1964. */
#ifndef GNN_SHUFFLE_H
#define GNN_SHUFFLE_H

#include "kernels/cpu/random.h"

static inline void gnn_shuffle(int32_t *items, int64_t count, uint64_t key) {
  for (int64_t i = count - 1; i > 0; i--) {
    const int64_t j = (int64_t)(gnn_random_uniform(key, (uint64_t)i) * (double)(i + 1));
    const int32_t kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
}

#endif
