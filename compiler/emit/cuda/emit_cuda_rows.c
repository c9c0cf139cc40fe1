#include "emit_cuda.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_UNROLLED = 256 /* rounds of a loop */ };

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

/* The variables of the loops from the number of the element; stride: of the loop in the element's number. */
static void print_loop_variable(const RowWriter *w, int loop, int64_t stride, bool is_outermost, FILE *out, const char *indent) {
  fprintf(out, "%s[[maybe_unused]] const int %s = element", indent, loop_names[loop]);
  if (stride > 1) fprintf(out, " / %" PRId64, stride);
  if (!is_outermost) fprintf(out, " %% %" PRId64, w->loop_size[loop]);
  fprintf(out, ";\n");
}

int cuda_vector(int64_t width, int lanes, int64_t most) {
  int best = 1;
  for (int vector = 2; vector <= most; vector *= 2)
    if (cuda_sums(width, lanes * vector) < cuda_sums(width, lanes * best)) best = vector;
  return best;
}

int64_t cuda_most_together(const RowWriter *w, bool is_for_edges) {
  int64_t most = 0;
  for (int i = 0; i < w->pointer_count; i++) {
    const Pointer *p = &w->pointers[i];
    if (!p->is_own || p->row == ROWS_NONE || (is_for_edges && p->level != LEVEL_EDGE)) continue;
    const bool is_half = kernels_is_half(w->kernels, p->value);
    const int64_t together = rows_alignment(kernels_row_stride(w->kernels, p->value), is_half) / (is_half ? 2 : 4);
    if (most == 0 || together < most) most = together;
  }
  return most;
}

static void print_bit_words(const RowWriter *w, Spread spread, const char *condition, FILE *out, const char *indent) {
  for (int b = 0; b < w->bit_word_count; b++) {
    const BitWord *word = &w->bit_words[b];
    fprintf(out, "%s%s = gnn_word<%d>(%s);\n", indent, word->name, spread.vector, word->name);
    if (spread.vector == 1) fprintf(out, "%sif (lane == 0) %s[word] = %s;\n", indent, word->pointer, word->name);
    else fprintf(out, "%sif (lane %% %d == 0%s) %s[word] = %s;\n", indent, CUDA_WARP / spread.vector, condition, word->pointer, word->name);
  }
}

void cuda_print_elements(const RowWriter *w, Spread spread, RowPart extent, int tile, FILE *out, const char *indent) {
  if (w->loop_count == 0) {
    step_print_lines(out, indent, w->text[LEVEL_ELEMENT]);
    return;
  }
  Arena *arena = w->arena;
  const int vector = spread.vector, each = spread.lanes * vector;
  const int64_t width = rows_width(w), blocks = cuda_sums(width, each);
  const bool is_lane_partial = width % each || extent == ROW_TILE, is_vector_partial = width % vector;
  const char *in = arena_printf(arena, "%s  ", indent), *element = w->loop_count == 1 ? "j" : "element", *block = extent == ROW_SLICE ? "(first + block)" : "block";
  const char *condition = arena_printf(arena, "own + %d * block < %" PRId64, each, width);
  if (extent == ROW_TILE) fprintf(out, "%sfor (int block = column / 32; block < gnn_min(column / 32 + %d, %" PRId64 "); block++) {\n", indent, tile / CUDA_WARP, blocks);
  else if (extent == ROW_SLICE) fprintf(out, "%sGNN_UNROLL for (int block = 0; block < blocks; block++) {\n", indent);
  else fprintf(out, "%s%s for (int block = 0; block < %" PRId64 "; block++) {\n", indent, blocks <= MOST_UNROLLED ? "GNN_UNROLL" : "GNN_UNROLL_4", blocks);
  if (w->has_bits) {
    if (vector == 1) fprintf(out, "%s[[maybe_unused]] const int word = %s;\n", in, block);
    else fprintf(out, "%s[[maybe_unused]] const int word = %d * %s + lane / %d;\n", in, vector, block, CUDA_WARP / vector);
  }
  for (int b = 0; b < w->bit_word_count; b++) fprintf(out, "%suint32_t %s = 0;\n", in, w->bit_words[b].name);
  const char *outer = in;
  if (vector > 1 && is_lane_partial) {
    fprintf(out, "%sif (%s) {\n", in, condition);
    in = arena_printf(arena, "%s  ", in);
  }
  if (w->has_bits) step_print_lines(out, in, w->bit_reads);
  const char *own = in;
  if (vector > 1) {
    step_print_lines(out, in, w->vector_reads);
    fprintf(out, "%sGNN_UNROLL for (int n = 0; n < %d; n++) {\n", in, vector);
    in = arena_printf(arena, "%s  ", in);
  }
  fprintf(out, "%s[[maybe_unused]] const int %s = own + %d * block%s;\n", in, element, each, vector > 1 ? " + n" : "");
  if (w->has_bits) fprintf(out, vector > 1 ? "%sconst int t = %s %% 32;\n" : "%sconst int t = lane;\n", in, element);
  const char *numbered = in;
  if (vector > 1 ? is_vector_partial : is_lane_partial) {
    fprintf(out, "%sif (%s < %" PRId64 ") {\n", in, element, width);
    in = arena_printf(arena, "%s  ", in);
  }
  int64_t stride = 1;
  for (int d = w->loop_count - 1; d >= 0 && w->loop_count > 1; d--) {
    print_loop_variable(w, d, stride, d == 0, out, in);
    stride *= w->loop_size[d];
  }
  step_print_lines(out, in, w->text[LEVEL_ELEMENT]);
  if (in != numbered) fprintf(out, "%s}\n", numbered);
  if (vector > 1) {
    fprintf(out, "%s}\n", own);
    step_print_lines(out, own, w->vector_writes);
  }
  if (own != outer) fprintf(out, "%s}\n", outer);
  print_bit_words(w, spread, is_lane_partial ? arena_printf(arena, " && %s", condition) : "", out, outer);
  fprintf(out, "%s}\n", indent);
}

void cuda_print_summands(const RowWriter *w, ValueId sum, Index into, int lanes, FILE *out, const char *indent) {
  const Shape *shape = &w->kernels->graph->values[sum].shape;
  int64_t width = shape_width(shape);
  if (width == 1 || w->loop_count <= 1) {
    cuda_print_elements(w, (Spread){lanes, 1}, ROW_WHOLE, 0, out, indent);
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
