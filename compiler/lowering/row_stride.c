/* row_stride: how far apart the rows of a value lie in memory; the one place that says so.
 *
 * In a program for a GPU rows of odd widths are padded: each begins at a multiple of 16 bytes. Then a row can be read four numbers at a
 * time, and the leading dimension of a product is one that a library's fast kernels take: 47 numbers are 188 bytes, which is none. Not
 * where that would cost more than an eighth of the row, as with a few numbers a row. Nothing reads what lies between the rows, and users
 * never see it. Weights, their gradients and the optimiser's state lie as checkpoints have them, and packed bits and labels by themselves.
 *
 * A weight with a row for each node lies as checkpoints have it, and so does its gradient: a program that has one pads nothing.
 * A product of parts of rows (lead > 1) takes all parts of all rows as one matrix. A program that has one pads nothing: what its products
 * take may lie in what is computed once, in a field, or in the place of any other value. Nothing but the model and the backend counts,
 * never the budget: a value lies in the same way under every plan.
 */
#include "fuse.h"

enum { WORD_BITS = 32, ROW_ALIGNMENT = 16 /* bytes */, MOST_PADDING = 8 /* the padding is at most a row divided by it */ };

static bool has_parts_of_rows(const Graph *graph) {
  for (int i = 0; graph && i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    if (value->op == OP_RESHAPE && value->shape.domain != graph->values[value->operand[0]].shape.domain) return true;
    if ((value->op != OP_MATMUL && value->op != OP_OUTER) || value->as.product.lead == 1) continue;
    if (graph->values[value->operand[0]].shape.domain != DOMAIN_NONE) return true;
  }
  return false;
}

bool rows_are_padded(const Graph *training, const Graph *evaluation, Backend backend) {
  return backend == BACKEND_CUDA && !has_parts_of_rows(training) && !has_parts_of_rows(evaluation);
}

int64_t row_padded(int64_t width, int64_t number_bytes) {
  const int64_t unit = ROW_ALIGNMENT / number_bytes;
  return (width + unit - 1) / unit * unit;
}

static int64_t stride_of(int64_t width, int64_t number_bytes) {
  const int64_t stride = row_padded(width, number_bytes);
  return MOST_PADDING * (stride - width) <= width ? stride : width;
}

int64_t kernels_row_stride(const Kernels *kernels, ValueId id) {
  const Shape *shape = &kernels->graph->values[kernels->storage[id]].shape;
  if (kernels->graph->values[id].shape.domain != shape->domain) return shape_width(&kernels->graph->values[id].shape);
  const int64_t width = shape_width(shape);
  const bool has_rows = domain_is_nodes(shape->domain) || domain_is_relation(shape->domain);
  if (shape->element == ELEMENT_BIT) return (width + WORD_BITS - 1) / WORD_BITS;
  return kernels->is_padded && has_rows ? stride_of(width, kernels_is_half(kernels, id) ? 2 : 4) : width;
}

int64_t kernels_row_bytes(const Kernels *kernels, ValueId id) { return kernels_row_stride(kernels, id) * (kernels_is_half(kernels, id) ? 2 : 4); }

bool kernels_has_aligned_rows(const Kernels *kernels, ValueId id) {
  const int64_t stride = kernels_row_stride(kernels, id);
  return row_padded(stride, kernels_is_half(kernels, id) ? 2 : 4) == stride;
}

Padding kernels_padding(const Kernels *kernels, ValueId id) {
  const Shape *shape = &kernels->graph->values[kernels->storage[id]].shape;
  const int64_t stride = kernels_row_stride(kernels, id), width = shape_width(shape);
  return shape->element == ELEMENT_BIT || stride == width ? (Padding){0} : (Padding){width, stride};
}

int64_t kernels_bytes(const Kernels *kernels, ValueId id) {
  id = kernels->storage[id];
  const Value *value = &kernels->graph->values[id];
  if (value->op == OP_NEIGHBOURS || value->op == OP_EDGE_CODES) return 4 * graph_rows(kernels->graph, DOMAIN_EDGE);
  if (value->op == OP_OUT_EDGES || value->op == OP_EDGE_IDS) return 8 * graph_rows(kernels->graph, DOMAIN_EDGE);
  if (value->op == OP_OFFSETS || value->op == OP_ENTRY_OFFSETS) return 8 * (graph_rows(kernels->graph, DOMAIN_NODE) + 1);
  if (value->op == OP_SPLIT_ROWS) return 4 * kernels->graph->program->info->split_count[value->as.index];
  if (value->op == OP_ENTRIES) return 4 * kernels->graph->program->fields[value->as.entries.field].nonzeros;
  return graph_value_rows(kernels->graph, id) * kernels_row_bytes(kernels, id);
}
