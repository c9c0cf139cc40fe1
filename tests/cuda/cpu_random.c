/* The CPU's generator, for device.cc. */
#include "../../kernels/cpu/random.h"

uint32_t cpu_random_bits(uint64_t seed, int64_t epoch, uint32_t site, uint64_t row, uint32_t column) {
  return gnn_bits(gnn_dropout_key(seed, epoch, site), row, column);
}

float cpu_dropout_factor(uint64_t seed, int64_t epoch, uint32_t site, double p, uint64_t row, uint32_t column) {
  const gnn_dropout drop = gnn_dropout_make(seed, epoch, site, p);
  return gnn_dropout_factor(&drop, gnn_random_row(drop.key, row), column);
}
