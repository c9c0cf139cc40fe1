/* random.cuh: dropout's random bits, the same functions of (seed, epoch, site, row, column) as in kernels/cpu/random.h,
 * bit for bit. */
#ifndef GNN_CUDA_RANDOM_H
#define GNN_CUDA_RANDOM_H

#include "device.cuh"

GNN_INLINE uint64_t gnn_mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

GNN_INLINE uint32_t gnn_mix32(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

struct gnn_dropout {
  uint64_t key;
  uint32_t threshold;
  gnn_real scale;
};

GNN_INLINE gnn_dropout gnn_dropout_make(uint64_t seed, int64_t epoch, uint32_t site, double p) {
  const double threshold = p * 4294967296.0;
  gnn_dropout drop;
  drop.key = gnn_mix64(gnn_mix64(gnn_mix64(seed) ^ (uint64_t)epoch) ^ site);
  drop.threshold = threshold >= 4294967295.0 ? 0xffffffffu : threshold <= 0 ? 0 : (uint32_t)threshold;
  drop.scale = p < 1 ? (gnn_real)(1 / (1 - p)) : 0;
  return drop;
}

struct gnn_row_bits {
  uint32_t a, b;
};

GNN_INLINE gnn_row_bits gnn_random_row(uint64_t key, uint64_t row) {
  gnn_row_bits bits;
  bits.a = gnn_mix32((uint32_t)row ^ (uint32_t)key) + (uint32_t)(row >> 32) * 0x9e3779b1u;
  bits.b = gnn_mix32(bits.a ^ (uint32_t)(key >> 32));
  return bits;
}

GNN_INLINE uint32_t gnn_random_column(gnn_row_bits row, uint32_t column) {
  uint32_t x = row.a ^ column;
  x = (x ^ x >> 16) * 0x7feb352du ^ row.b;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

GNN_INLINE gnn_real gnn_dropout_factor(const gnn_dropout *drop, gnn_row_bits row, uint32_t column) {
  return gnn_random_column(row, column) >= drop->threshold ? drop->scale : 0;
}

#endif
