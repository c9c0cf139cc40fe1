/* row_stride: how far apart the rows of a value lie in memory; the one place that says so. */
#include "fuse.h"

enum { WORD_BITS = 32 };

int64_t kernels_row_stride(const Kernels *kernels, ValueId id) {
  const Shape *shape = &kernels->graph->values[kernels->storage[id]].shape;
  const int64_t width = shape_width(shape);
  return shape->element == ELEMENT_BIT ? (width + WORD_BITS - 1) / WORD_BITS : width;
}

int64_t kernels_bytes(const Kernels *kernels, ValueId id) {
  const int64_t rows = graph_rows(kernels->graph, kernels->graph->values[kernels->storage[id]].shape.domain);
  return rows * kernels_row_stride(kernels, id) * (kernels_is_half(kernels, id) ? 2 : 4);
}
