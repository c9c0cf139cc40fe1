/* checked.h: arithmetic with counts, offsets and sizes that a file claims. A file may claim anything: no such number is added to or
 * multiplied with another in any other way. */
#ifndef GNN_CHECKED_H
#define GNN_CHECKED_H

#include <stdint.h>

/* 1 where the result is in *sum or *product, 0 where it is beyond int64_t. */
static inline int gnn_add_fits(int64_t a, int64_t b, int64_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static inline int gnn_multiply_fits(int64_t a, int64_t b, int64_t *product) { return !__builtin_mul_overflow(a, b, product); }

/* value * 10 + digit, as one reads a number. */
static inline int gnn_digit_fits(int64_t *value, char digit) {
  return gnn_multiply_fits(*value, 10, value) && gnn_add_fits(*value, digit - '0', value);
}

#endif
