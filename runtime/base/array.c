/* array.c: arrays of numbers as files hold them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checked.h"
#include "guard.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the readers assume a little-endian machine"
#endif

static const struct { const char *name; int bytes, is_float; } array_dtypes[GNN_DTYPE_COUNT] = {
  [GNN_BOOL] = {"BOOL", 1, 0}, [GNN_U8] = {"U8", 1, 0}, [GNN_I8] = {"I8", 1, 0}, [GNN_U16] = {"U16", 2, 0},
  [GNN_I16] = {"I16", 2, 0}, [GNN_U32] = {"U32", 4, 0}, [GNN_I32] = {"I32", 4, 0}, [GNN_U64] = {"U64", 8, 0},
  [GNN_I64] = {"I64", 8, 0}, [GNN_F16] = {"F16", 2, 1}, [GNN_BF16] = {"BF16", 2, 1}, [GNN_F32] = {"F32", 4, 1},
  [GNN_F64] = {"F64", 8, 1},
};

int64_t gnn_dtype_bytes(gnn_dtype dtype) { return array_dtypes[dtype].bytes; }
const char *gnn_dtype_name(gnn_dtype dtype) { return array_dtypes[dtype].name; }
int gnn_dtype_is_float(gnn_dtype dtype) { return array_dtypes[dtype].is_float; }

int gnn_array_measure(gnn_array *array) {
  int64_t count = 1, bytes;
  int is_empty = 0;
  for (int i = 0; i < array->rank; i++) {
    if (array->shape[i] < 0) return 0;
    if (array->shape[i] == 0) is_empty = 1;
    else if (!gnn_multiply_fits(count, array->shape[i], &count)) return 0;
  }
  array->count = is_empty ? 0 : count;
  return gnn_multiply_fits(count, 16, &bytes);
}

gnn_short_text gnn_shape_text(const gnn_array *array) {
  gnn_short_text out;
  size_t at = 0;
  out.text[at++] = '[';
  for (int i = 0; i < array->rank && at < sizeof out.text - 2; i++) {
    int done = snprintf(out.text + at, sizeof out.text - at - 1, "%s%lld", i ? ", " : "", (long long)array->shape[i]);
    at += (size_t)done < sizeof out.text - at - 1 ? (size_t)done : sizeof out.text - at - 2;
  }
  out.text[at++] = ']';
  out.text[at] = 0;
  return out;
}

static float array_half(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float mantissa = (float)(bits & 1023), value;
  if (exponent == 31) value = mantissa != 0 ? NAN : INFINITY;
  else if (exponent == 0) value = ldexpf(mantissa, -24);
  else value = ldexpf(mantissa + 1024, exponent - 25);
  return bits >> 15 ? -value : value;
}

static float array_bfloat(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

#define ARRAY_LOAD(type)                                              \
  type value;                                                         \
  memcpy(&value, array->data + index * (int64_t)sizeof value, sizeof value);

double gnn_array_number(const gnn_array *array, int64_t index) {
  switch (array->dtype) {
  case GNN_F16: { ARRAY_LOAD(uint16_t) return (double)array_half(value); }
  case GNN_BF16: { ARRAY_LOAD(uint16_t) return (double)array_bfloat(value); }
  case GNN_F32: { ARRAY_LOAD(float) return (double)value; }
  case GNN_F64: { ARRAY_LOAD(double) return value; }
  case GNN_U64: { ARRAY_LOAD(uint64_t) return (double)value; }
  default: return (double)gnn_array_integer(array, index);
  }
}

int64_t gnn_array_integer(const gnn_array *array, int64_t index) {
  switch (array->dtype) {
  case GNN_BOOL: return array->data[index] != 0;
  case GNN_U8: return array->data[index];
  case GNN_I8: { ARRAY_LOAD(int8_t) return value; }
  case GNN_U16: { ARRAY_LOAD(uint16_t) return value; }
  case GNN_I16: { ARRAY_LOAD(int16_t) return value; }
  case GNN_U32: { ARRAY_LOAD(uint32_t) return value; }
  case GNN_I32: { ARRAY_LOAD(int32_t) return value; }
  case GNN_U64: { ARRAY_LOAD(uint64_t) return value > INT64_MAX ? INT64_MIN : (int64_t)value; }
  case GNN_I64: { ARRAY_LOAD(int64_t) return value; }
  default: return INT64_MIN;
  }
}

void gnn_array_floats(const gnn_array *array, int64_t begin, int64_t count, float *out) {
  enum { STEP = 1 << 15 };
  for (int64_t first = 0; first < count; first += STEP) {
    const int64_t last = first + STEP < count ? first + STEP : count;
    if (array->dtype == GNN_F32) memcpy(out + first, array->data + (begin + first) * 4, (size_t)(last - first) * 4);
    for (int64_t i = first; array->dtype != GNN_F32 && i < last; i++) out[i] = (float)gnn_array_number(array, begin + i);
    gnn_array_pass(array, begin + first, begin + last);
  }
}
#undef ARRAY_LOAD

void gnn_array_pass(const gnn_array *array, int64_t begin, int64_t end) {
  const int64_t width = gnn_dtype_bytes(array->dtype);
  gnn_guard_pass(array->data + begin * width, array->data + end * width);
  gnn_guard_expect(array->data + end * width, (size_t)((end - begin < array->count - end ? end - begin : array->count - end) * width));
}
