/* random.h: random numbers as pure functions of where they are used, so that nothing has to be stored, any thread may
 * draw any of them, and a recomputed value gets the numbers it had.
 *
 * Dropout draws 32 bits from (key, row, column). An element is kept iff bits >= threshold, and then scaled. The part
 * that depends on the row is separate, to be hoisted out of the loop over columns, and what is left is 32-bit integer
 * arithmetic that vectorises.
 */
#ifndef GNN_RANDOM_H
#define GNN_RANDOM_H

#include "vector.h"

#include <math.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection. */
GNN_INLINE uint64_t gnn_mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* A bijection with the multipliers of lowbias32 (Wellons 2018, found by search for least bias). */
GNN_INLINE uint32_t gnn_mix32(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* ---- dropout ---- */

typedef struct gnn_dropout {
  uint64_t key;
  uint32_t threshold;
  gnn_real scale;
} gnn_dropout;

/* One key for each dropout in the program and each epoch of a run. */
GNN_INLINE uint64_t gnn_dropout_key(uint64_t seed, int64_t epoch, uint32_t site) {
  return gnn_mix64(gnn_mix64(gnn_mix64(seed) ^ (uint64_t)epoch) ^ site);
}

/* p = 1 keeps one element in 2^32, but with scale 0. */
GNN_INLINE uint32_t gnn_dropout_threshold(double p) {
  const double threshold = p * 4294967296.0;
  return threshold >= 4294967295.0 ? UINT32_MAX : threshold <= 0 ? 0 : (uint32_t)threshold;
}

GNN_INLINE gnn_real gnn_dropout_scale(double p) { return p < 1 ? (gnn_real)(1 / (1 - p)) : 0; }

GNN_INLINE gnn_dropout gnn_dropout_make(uint64_t seed, int64_t epoch, uint32_t site, double p) {
  return (gnn_dropout){gnn_dropout_key(seed, epoch, site), gnn_dropout_threshold(p), gnn_dropout_scale(p)};
}

/* For a key, distinct rows below 2^32 have distinct a and b; without b, rows whose a are close would share columns. */
typedef struct gnn_row_bits {
  uint32_t a, b;
} gnn_row_bits;

GNN_INLINE gnn_row_bits gnn_random_row(uint64_t key, uint64_t row) {
  const uint32_t a = gnn_mix32((uint32_t)row ^ (uint32_t)key) + (uint32_t)(row >> 32) * 0x9e3779b1u;
  return (gnn_row_bits){a, gnn_mix32(a ^ (uint32_t)(key >> 32))};
}

GNN_INLINE uint32_t gnn_random_column(gnn_row_bits row, uint32_t column) {
  uint32_t x = row.a ^ column;
  x = (x ^ x >> 16) * 0x7feb352du ^ row.b;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

GNN_INLINE uint32_t gnn_bits(uint64_t key, uint64_t row, uint32_t column) {
  return gnn_random_column(gnn_random_row(key, row), column);
}

/* What an element is multiplied by: scale or 0. The scale is read in any case: a read that depends on the element would
 * keep the loop from being vectorised. */
GNN_INLINE gnn_real gnn_dropout_factor(const gnn_dropout *drop, gnn_row_bits row, uint32_t column) {
  const uint32_t threshold = drop->threshold;
  const gnn_real scale = drop->scale;
  return gnn_random_column(row, column) >= threshold ? scale : 0;
}

/* ---- initial weights ---- */

/* A key for each array that is filled. */
GNN_INLINE uint64_t gnn_random_key(uint64_t seed, uint64_t stream) { return gnn_mix64(gnn_mix64(seed) ^ stream); }

GNN_INLINE uint64_t gnn_random_bits64(uint64_t key, uint64_t index) {
  return gnn_mix64(key + index * 0x9e3779b97f4a7c15u);
}

/* In [0, 1), 53 bits. */
GNN_INLINE double gnn_random_uniform(uint64_t key, uint64_t index) {
  return (double)(gnn_random_bits64(key, index) >> 11) * 0x1p-53;
}

/* Mean 0, variance 1: Box and Muller from uniforms 2 * index and 2 * index + 1. */
GNN_INLINE double gnn_random_normal(uint64_t key, uint64_t index) {
  const double radius = 1 - gnn_random_uniform(key, 2 * index);
  const double angle = gnn_random_uniform(key, 2 * index + 1);
  return sqrt(-2 * log(radius)) * cos(6.283185307179586 * angle);
}

#endif
