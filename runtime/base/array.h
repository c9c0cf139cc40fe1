/* array.h: arrays of numbers as files hold them: little-endian, row-major, perhaps unaligned. */
#ifndef GNN_ARRAY_H
#define GNN_ARRAY_H

#include "text.h"

typedef enum gnn_dtype {
  GNN_BOOL, GNN_U8, GNN_I8, GNN_U16, GNN_I16, GNN_U32, GNN_I32, GNN_U64, GNN_I64, GNN_F16, GNN_BF16, GNN_F32, GNN_F64,
  GNN_DTYPE_COUNT
} gnn_dtype;

enum { GNN_ARRAY_RANK_MAX = 8 };

typedef struct gnn_array {
  gnn_dtype dtype;
  int rank; /* 0: one number */
  int64_t shape[GNN_ARRAY_RANK_MAX];
  int64_t count;             /* product of the shape */
  const unsigned char *data; /* count * gnn_dtype_bytes(dtype) bytes; not owned */
} gnn_array;

int64_t gnn_dtype_bytes(gnn_dtype dtype);
const char *gnn_dtype_name(gnn_dtype dtype); /* as safetensors spells it: "F32" */
int gnn_dtype_is_float(gnn_dtype dtype);
/* Fills array->count from the shape; 0 where a dimension is negative or the bytes would overflow int64_t, dimensions of 0 left aside:
 * an array without rows has no absurd width either. */
int gnn_array_measure(gnn_array *array);
gnn_short_text gnn_shape_text(const gnn_array *array); /* "[2708, 1433]" */

double gnn_array_number(const gnn_array *array, int64_t index);
int64_t gnn_array_integer(const gnn_array *array, int64_t index); /* integers and booleans; U64 above the range: -2^63 */
/* out[i] = array[begin + i] as float, for 0 <= i < count */
void gnn_array_floats(const gnn_array *array, int64_t begin, int64_t count, float *out);

/* Elements [begin, end) were read, and are not needed for a while; as many follow (gnn_guard_pass, gnn_guard_expect). */
void gnn_array_pass(const gnn_array *array, int64_t begin, int64_t end);

#endif
