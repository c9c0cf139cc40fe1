/* choose_library: which products and sums a library computes in a program for CUDA, and how much of the body with them.
 *
 * Needs the kernels with their outputs; gives Kernel.library, the epilogue and the scratch. Nothing but sizes and the command
 * line counts, never the budget: a step and its recomputation have the same numbers under every plan.
 */
#include "fuse.h"

/* Below it a product is bound by memory, and a pass of our own over what the library leaves would cost more than its faster
 * multiplication saves: our kernel computes the body from the tile that it has in shared memory. */
enum { LEAST_DEPTH = 64 };

const char *library_name(Library library) {
  static const char *const names[LIBRARY_COUNT] = {"", "cuBLASLt", "cuSPARSE"};
  return names[library];
}

const char *precision_name(Precision precision) {
  static const char *const names[PRECISION_COUNT] = {"fp32", "tf32", "bf16"};
  return names[precision];
}

bool kernels_use(const Kernels *kernels, Library library) {
  for (int i = 0; kernels && i < kernels->kernel_count; i++)
    if (kernels->kernels[i].library == library) return true;
  return false;
}

/* ---- the epilogue of a product ---- */

static bool is_output(const Kernel *kernel, ValueId id) {
  for (int k = 0; k < kernel->output_count; k++)
    if (kernel->outputs[k] == id) return true;
  return false;
}

/* Nothing but the next value of the body reads it. */
static bool is_passed_on(const Kernels *kernels, const Kernel *kernel, ValueId id, ValueId next) {
  const Graph *graph = kernels->graph;
  if (is_output(kernel, id)) return false;
  for (int u = id + 1; u < graph->value_count; u++)
    for (int k = 0; k < graph->values[u].operand_count; k++)
      if (graph->values[u].operand[k] == id && u != next) return false;
  return true;
}

/* The weight that is added to every row as it lies, or NO_VALUE. */
static ValueId bias_of(const Graph *graph, ValueId id, int64_t width) {
  const Value *spread = &graph->values[id];
  if (spread->op != OP_BROADCAST) return NO_VALUE;
  const Value *weight = &graph->values[spread->operand[0]];
  if (weight->op != OP_PARAM || shape_width(&weight->shape) != width) return NO_VALUE;
  for (int d = 0, next = 0; d < spread->shape.rank; d++) {
    if (spread->shape.size[d] == 1) continue;
    while (next < weight->shape.rank && weight->shape.size[next] == 1) next++;
    if (spread->as.map[d] != next++) return NO_VALUE;
  }
  return spread->operand[0];
}

/* Bias, then relu: as much of the body as begins so. */
static void find_epilogue(const Kernels *kernels, Kernel *kernel) {
  const Graph *graph = kernels->graph;
  int64_t width = shape_width(&graph->values[kernel->anchor].shape);
  Epilogue *e = &kernel->epilogue;
  *e = (Epilogue){.result = kernel->anchor, .bias = NO_VALUE};
  for (int b = 0; b < kernel->body_count && !e->is_relu; b++) {
    ValueId id = kernel->body[b];
    const Value *value = &graph->values[id];
    if (value->op != OP_MAP || !is_passed_on(kernels, kernel, e->result, id)) break;
    bool is_first = value->operand[0] == e->result;
    if (value->as.function == MAP_RELU && is_first) e->is_relu = true;
    else if (value->as.function == MAP_ADD && e->body_count == 0) e->bias = bias_of(graph, value->operand[is_first], width);
    if (!e->is_relu && e->bias == NO_VALUE) break;
    if (!e->is_relu && e->body_count > 0) break;
    e->result = id;
    e->body_count = b + 1;
  }
}

/* Where the library leaves the result: in its own memory, else in that of a value of the same numbers, which the rest of the
 * body then overwrites. */
static ValueId place_of(const Kernels *kernels, const Kernel *kernel) {
  if (is_output(kernel, kernel->epilogue.result)) return kernel->epilogue.result;
  for (int k = 0; k < kernel->output_count; k++)
    if (kernels->graph->values[kernel->outputs[k]].shape.element == ELEMENT_REAL) return kernel->outputs[k];
  return NO_VALUE;
}

static void choose_for_matmul(const Kernels *kernels, Kernel *kernel) {
  find_epilogue(kernels, kernel);
  kernel->epilogue.place = place_of(kernels, kernel);
  bool has_rest = kernel->epilogue.body_count < kernel->body_count;
  bool is_worth_it = !has_rest || kernels->graph->values[kernel->anchor].as.product.depth >= LEAST_DEPTH || kernels->precision != PRECISION_FP32;
  if (kernel->epilogue.place != NO_VALUE && is_worth_it) kernel->library = LIBRARY_CUBLASLT;
}

/* ---- sums over neighbours ---- */

enum { LEAST_WIDTH = 32, BUFFER_BYTES = 1 << 16 };

/* Of rows that fill a warp. */
static void choose_for_spmm(const Kernels *kernels, Kernel *kernel) {
  bool is_wide = shape_width(&kernels->graph->values[kernel->anchor].shape) >= LEAST_WIDTH;
  kernel->epilogue = (Epilogue){.result = kernel->anchor, .bias = NO_VALUE};
  kernel->epilogue.place = place_of(kernels, kernel);
  if (is_wide && kernel->epilogue.place != NO_VALUE && kernels->graph->program->info->edges < INT32_MAX) kernel->library = LIBRARY_CUSPARSE;
}

/* cuSPARSE tells only on the device how much it wants: something for each row and each tile of entries. */
int64_t library_buffer_bytes(const Kernels *kernels) {
  const DataInfo *info = kernels->graph->program->info;
  return BUFFER_BYTES + 8 * info->nodes + info->edges;
}

void choose_libraries(Kernels *kernels, const FuseOptions *options) {
  for (int i = 0; i < kernels->kernel_count; i++) {
    Kernel *kernel = &kernels->kernels[i];
    if (kernel->kind == KERNEL_MATMUL && !options->is_gemm_own) choose_for_matmul(kernels, kernel);
    /* Its workspace is where our own kernel has the sums of its parts. */
    if (kernel->kind == KERNEL_OUTER && !options->is_gemm_own) kernel->library = LIBRARY_CUBLASLT;
    if (kernel->kind == KERNEL_SPMM && options->is_spmm_by_library) choose_for_spmm(kernels, kernel);
  }
}
