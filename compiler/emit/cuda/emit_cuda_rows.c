#include "emit_cuda.h"

#include <inttypes.h>
#include <string.h>

static const char *const loop_names[] = {"j", "k", "l", "m"};

int cuda_lanes(int64_t width, bool has_bits) {
  int lanes = 1;
  while (lanes < CUDA_WARP && lanes < width) lanes *= 2;
  return has_bits ? CUDA_WARP : lanes;
}

/* As many as an average row has entries for. */
int cuda_slots(int lanes, int64_t rows, int64_t entries) {
  int slots = 1;
  while (lanes * slots < CUDA_WARP && 2 * slots * rows <= entries) slots *= 2;
  return slots;
}

int64_t cuda_sums(int64_t width, int lanes) { return (width + lanes - 1) / lanes; }

static int64_t loops_width(const RowWriter *w) {
  int64_t width = 1;
  for (int d = 0; d < w->loop_count; d++) width *= w->loop_size[d];
  return width;
}

/* The variables of the loops from the number of the element; stride: of the loop in the element's number. */
static void print_loop_variable(const RowWriter *w, int loop, int64_t stride, bool is_outermost, FILE *out, const char *indent) {
  fprintf(out, "%sconst int %s = element", indent, loop_names[loop]);
  if (stride > 1) fprintf(out, " / %" PRId64, stride);
  if (!is_outermost) fprintf(out, " %% %" PRId64, w->loop_size[loop]);
  fprintf(out, ";\n");
}

void cuda_print_elements(const RowWriter *w, int lanes, int tile, FILE *out, const char *indent) {
  if (w->loop_count == 0) {
    step_print_lines(out, indent, w->text[LEVEL_ELEMENT]);
    return;
  }
  int64_t width = loops_width(w), blocks = cuda_sums(width, lanes);
  const char *inner = arena_printf(w->arena, "%s  ", indent), *innermost = width % lanes || tile ? arena_printf(w->arena, "%s    ", indent) : inner;
  if (tile) fprintf(out, "%sfor (int block = column / 32; block < gnn_min(column / 32 + %d, %" PRId64 "); block++) {\n", indent, tile / CUDA_WARP, blocks);
  else fprintf(out, "%sGNN_UNROLL for (int block = 0; block < %" PRId64 "; block++) {\n", indent, blocks);
  const char *element = lanes == 1 ? "block" : arena_printf(w->arena, "%d * block + lane", lanes);
  fprintf(out, "%sconst int %s = %s;\n", inner, w->loop_count == 1 ? "j" : "element", element);
  if (w->has_bits) {
    fprintf(out, "%sconst int t = lane;\n", inner);
    step_print_lines(out, inner, w->bit_reads);
  }
  for (int b = 0; b < w->bit_word_count; b++) fprintf(out, "%suint32_t %s = 0;\n", inner, w->bit_words[b].name);
  if (innermost != inner) fprintf(out, "%sif (%s < %" PRId64 ") {\n", inner, w->loop_count == 1 ? "j" : "element", width);
  int64_t stride = 1;
  for (int d = w->loop_count - 1; d >= 0 && w->loop_count > 1; d--) {
    print_loop_variable(w, d, stride, d == 0, out, innermost);
    stride *= w->loop_size[d];
  }
  step_print_lines(out, innermost, w->text[LEVEL_ELEMENT]);
  if (innermost != inner) fprintf(out, "%s}\n", inner);
  for (int b = 0; b < w->bit_word_count; b++) {
    const BitWord *word = &w->bit_words[b];
    fprintf(out, "%s%s = gnn_word(%s);\n%sif (lane == 0) %s[block] = %s;\n", inner, word->name, word->name, inner, word->pointer, word->name);
  }
  fprintf(out, "%s}\n", indent);
}

void cuda_print_summands(const RowWriter *w, ValueId sum, Index into, int lanes, FILE *out, const char *indent) {
  const Shape *shape = &w->kernels->graph->values[sum].shape;
  int64_t width = shape_width(shape);
  if (width == 1 || w->loop_count <= 1) {
    cuda_print_elements(w, lanes, 0, out, indent);
    return;
  }
  const char *inner = arena_printf(w->arena, "%s  ", indent);
  fprintf(out, "%sGNN_UNROLL for (int block = 0; block < %" PRId64 "; block++) {\n", indent, cuda_sums(width, lanes));
  fprintf(out, "%sconst int element = %d * block + lane;\n", inner, lanes);
  if (width % lanes) fprintf(out, "%sif (element >= %" PRId64 ") break;\n", inner, width);
  bool is_kept[MAX_RANK] = {false};
  int64_t stride = 1;
  for (int d = shape->rank - 1; d >= 0; d--) {
    if (shape->size[d] > 1 && into.loop[d] != NO_INDEX) {
      print_loop_variable(w, into.loop[d], stride, stride * shape->size[d] == width, out, inner);
      is_kept[into.loop[d]] = true;
    }
    stride *= shape->size[d];
  }
  for (int d = 0; d < w->loop_count; d++) {
    if (is_kept[d]) continue;
    fprintf(out, "%sfor (int %s = 0; %s < %" PRId64 "; %s++)\n", inner, loop_names[d], loop_names[d], w->loop_size[d], loop_names[d]);
    inner = arena_printf(w->arena, "%s  ", inner);
  }
  fprintf(out, "%s{\n", inner);
  step_print_lines(out, arena_printf(w->arena, "%s  ", inner), w->text[LEVEL_ELEMENT]);
  fprintf(out, "%s}\n%s}\n", inner, indent);
}
