/* choose_library: which products and sums a library computes in a program for CUDA, and how much of the body with them; how
 * kernels of our own divide their work among threads.
 *
 * Needs the kernels with their outputs; gives Kernel.variant, library and epilogue. Each kernel has a list of variants, the usual
 * one first; --tune times them and a tuning names the best. Nothing but sizes, the command line and the tuning counts, never the
 * budget: a step and its recomputation have the same numbers under every plan. Variants may leave other bits, so those that are
 * not the usual ones are part of the program's fingerprint.
 */
#include <inttypes.h>
#include <string.h>

#include "fuse.h"
#include "lang/name_table.h"

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
  if (is_output(kernel, id) || graph->values[id].was_tap) return false;
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
  if (weight->op != OP_PARAM || weight->shape.domain != DOMAIN_NONE || shape_width(&weight->shape) != width) return NO_VALUE;
  for (int d = 0, next = 0; d < spread->shape.rank; d++) {
    if (spread->shape.size[d] == 1) continue;
    while (next < weight->shape.rank && weight->shape.size[next] == 1) next++;
    if (spread->as.map[d] != next++) return NO_VALUE;
  }
  return spread->operand[0];
}

/* A stored value of as many numbers as the product, which the library adds as it lies. */
static bool is_addend(const Kernels *kernels, const Kernel *kernel, ValueId id) {
  const Value *value = &kernels->graph->values[id], *product = &kernels->graph->values[kernel->anchor];
  bool is_read = false;
  for (int k = 0; k < kernel->input_count; k++) is_read = is_read || kernel->inputs[k] == id;
  return is_read && kernels->made_by[id] != NO_INDEX && value->shape.element == ELEMENT_REAL && shape_equal(&value->shape, &product->shape);
}

/* Bias and addend, each once, in either order. */
static bool takes_sum(const Kernels *kernels, const Kernel *kernel, const Value *sum, Epilogue *e, bool may_add) {
  bool is_first = sum->operand[0] == e->result;
  if (sum->as.function != MAP_ADD || (!is_first && sum->operand[1] != e->result)) return false;
  ValueId other = sum->operand[is_first], bias = bias_of(kernels->graph, other, shape_width(&kernels->graph->values[kernel->anchor].shape));
  if (bias != NO_VALUE && e->bias == NO_VALUE) e->bias = bias;
  else if (may_add && e->addend == NO_VALUE && is_addend(kernels, kernel, other)) e->addend = other;
  else return false;
  return true;
}

/* Sums, then relu: as much of the body as begins so, at most so many values. */
static void find_epilogue(const Kernels *kernels, Kernel *kernel, int most, bool may_add) {
  Epilogue *e = &kernel->epilogue;
  *e = (Epilogue){.result = kernel->anchor, .bias = NO_VALUE, .addend = NO_VALUE};
  for (int b = 0; b < kernel->body_count && b < most && !e->is_relu; b++) {
    ValueId id = kernel->body[b];
    const Value *value = &kernels->graph->values[id];
    if (value->op != OP_MAP || !is_passed_on(kernels, kernel, e->result, id)) break;
    e->is_relu = value->as.function == MAP_RELU && value->operand[0] == e->result;
    if (!e->is_relu && !takes_sum(kernels, kernel, value, e, may_add)) break;
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

/* What is added has to be of the result's kind. */
static void choose_epilogue(const Kernels *kernels, Kernel *kernel, int most) {
  Epilogue *e = &kernel->epilogue;
  find_epilogue(kernels, kernel, most, true);
  e->place = place_of(kernels, kernel);
  if (e->addend == NO_VALUE || e->place == NO_VALUE || kernels_is_half(kernels, e->addend) == kernels_is_half(kernels, e->place)) return;
  find_epilogue(kernels, kernel, most, false);
  e->place = place_of(kernels, kernel);
}

/* ---- lists of variants ---- */

enum { MOST_VARIANTS = 4, OUTER_TILE = 64 };

typedef struct Variants {
  Arena *arena;
  int count;
  Variant list[MOST_VARIANTS];
} Variants;

static void offer(Variants *v, Variant variant) { v->list[v->count++] = variant; }

static void offer_library(Variants *v, Library library) {
  offer(v, (Variant){.name = arena_printf(v->arena, "by %s", library_name(library)), .library = library});
}

static void offer_tile(Variants *v, int rows, int columns) {
  offer(v, (Variant){.name = arena_printf(v->arena, "in tiles of %d x %d", rows, columns), .tile_rows = rows, .tile_columns = columns});
}

/* The sums of a tile are one chain each over the depth: all of these leave the same bits. */
static void offer_tiles(Variants *v, int64_t width) {
  bool is_wide = width > 32;
  offer_tile(v, 128, is_wide ? 64 : 32);
  offer_tile(v, is_wide ? 64 : 256, is_wide ? 64 : 32);
  if (width > 64) offer_tile(v, 64, 128);
}

/* Bits are written by whole warps. */
static bool has_bits(const Kernels *kernels, const Kernel *kernel) {
  bool is_bit = false;
  for (int k = 0; k < kernel->output_count; k++) is_bit = is_bit || kernels->graph->values[kernel->outputs[k]].shape.element == ELEMENT_BIT;
  for (int k = 0; k < kernel->input_count; k++) is_bit = is_bit || kernels->graph->values[kernel->inputs[k]].shape.element == ELEMENT_BIT;
  return is_bit;
}

/* Fewer lanes have more elements of a row each, and leave more slots for its entries. */
static void offer_lanes(Variants *v, const Kernels *kernels, const Kernel *kernel) {
  enum { WARP = 32, LEAST_LANES = 4, HALVINGS = 2 };
  int64_t width = shape_width(&kernels->graph->values[kernel->anchor].shape);
  int usual = 1;
  while (usual < WARP && usual < width) usual *= 2;
  for (int half = 0, lanes = usual; half == 0 || (half <= HALVINGS && lanes >= LEAST_LANES && !has_bits(kernels, kernel)); half++, lanes /= 2)
    offer(v, (Variant){.name = arena_printf(v->arena, "by %d lanes", lanes), .lanes = half == 0 ? 0 : lanes});
}

/* ---- rows of others ---- */

/* Added up, and not only put somewhere. */
static bool is_of_others(const Kernels *kernels, const Kernel *kernel) {
  return kernels->graph->values[kernel->anchor].shape.domain == DOMAIN_OTHERS && kernel->kind != KERNEL_MAP && kernel->kind != KERNEL_CONCAT && kernel->kind != KERNEL_HALO;
}

/* That makes the same of the rank's own rows; NULL: none does. */
static const Kernel *kernel_of_own(const Kernels *kernels, const Kernel *others) {
  const Graph *graph = kernels->graph;
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Value *anchor = &graph->values[kernels->kernels[i].anchor];
    if (anchor->shape.domain == DOMAIN_NODE && anchor->same_rows && anchor->same_rows == graph->values[others->anchor].same_rows) return &kernels->kernels[i];
  }
  return NULL;
}

/* ---- products ---- */

/* Factors are of one kind: a matrix that is multiplied with bf16 is rounded for it, but rows are as they are. The result of fp32 is
 * fp32. */
static bool can_multiply(const Kernels *kernels, const Kernel *kernel) {
  const Value *product = &kernels->graph->values[kernel->anchor];
  bool is_half = kernels_is_half(kernels, product->operand[0]);
  return kernel->epilogue.place != NO_VALUE && (is_half || !kernels_is_half(kernels, kernel->epilogue.place));
}

static void offer_for_matmul(Variants *v, const Kernels *kernels, Kernel *kernel, const FuseOptions *options) {
  const struct Contraction *product = &kernels->graph->values[kernel->anchor].as.product;
  const Kernel *own = is_of_others(kernels, kernel) ? kernel_of_own(kernels, kernel) : NULL; /* whose library has been chosen */
  choose_epilogue(kernels, kernel, own ? own->epilogue.body_count : kernel->body_count);
  if (own && own->library) offer_library(v, own->library);
  else if (own) offer_tiles(v, product->width);
  if (own) return;
  bool has_rest = kernel->epilogue.body_count < kernel->body_count;
  bool is_possible = can_multiply(kernels, kernel) && !options->is_gemm_own;
  bool is_usual = is_possible && (!has_rest || product->depth >= LEAST_DEPTH || kernels->precision != PRECISION_FP32);
  if (is_usual) offer_library(v, LIBRARY_CUBLASLT);
  if (!is_usual || (kernels->precision == PRECISION_FP32 && !options->is_gemm_said)) offer_tiles(v, product->width);
  if (is_possible && !is_usual && !options->is_gemm_said) offer_library(v, LIBRARY_CUBLASLT);
}

/* ---- sums over neighbours ---- */

enum { LEAST_WIDTH = 32, BUFFER_BYTES = 1 << 16 };

/* Of rows that fill a warp. */
static void offer_for_spmm(Variants *v, const Kernels *kernels, Kernel *kernel, const FuseOptions *options) {
  const Value *sum = &kernels->graph->values[kernel->anchor];
  bool is_wide = shape_width(&sum->shape) >= LEAST_WIDTH && kernels->graph->values[sum->operand[0]].shape.domain == DOMAIN_EDGE;
  kernel->epilogue = (Epilogue){.result = kernel->anchor, .bias = NO_VALUE, .addend = NO_VALUE};
  kernel->epilogue.place = place_of(kernels, kernel);
  bool is_possible = is_wide && kernel->epilogue.place != NO_VALUE && kernels->graph->program->info->edges < INT32_MAX && kernels->precision != PRECISION_BF16;
  bool is_usual = is_possible && options->is_spmm_by_library;
  if (is_usual) offer_library(v, LIBRARY_CUSPARSE);
  if (!is_usual || !options->is_spmm_said) offer_lanes(v, kernels, kernel);
  if (is_possible && !is_usual && !options->is_spmm_said) offer_library(v, LIBRARY_CUSPARSE);
}

/* cuSPARSE tells only on the device how much it wants: something for each row and each tile of entries. */
int64_t library_buffer_bytes(const Kernels *kernels) {
  const DataInfo *info = kernels->graph->program->info;
  return BUFFER_BYTES + 8 * info->nodes + info->edges;
}

/* ---- what is copied for a library ---- */

enum { ALIGNMENT = 64 };

static int64_t copied_bytes(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int64_t factor_bytes(const Kernels *kernels, const Value *product) { return kernels_is_half(kernels, product->operand[0]) ? 2 : 4; }

static int64_t matrix_width(const Value *product) { return product->as.product.transposed ? product->as.product.depth : product->as.product.width; }

/* For the matrix alone no fast kernel of the library's is missed. */
static bool is_padded_for(const Kernels *kernels, const Kernel *kernel) {
  const Value *product = &kernels->graph->values[kernel->anchor];
  return kernels->is_padded && kernels->precision != PRECISION_FP32 && row_padded(matrix_width(product), factor_bytes(kernels, product)) != matrix_width(product) &&
         kernels_has_aligned_rows(kernels, product->operand[0]) && kernels_has_aligned_rows(kernels, kernel->epilogue.place);
}

int64_t library_matrix_stride(const Kernels *kernels, const Kernel *kernel) {
  const Value *product = &kernels->graph->values[kernel->anchor];
  return is_padded_for(kernels, kernel) ? row_padded(matrix_width(product), factor_bytes(kernels, product)) : matrix_width(product);
}

int64_t library_matrix_bytes(const Kernels *kernels, const Kernel *kernel) {
  const Value *product = &kernels->graph->values[kernel->anchor];
  const int64_t rows = shape_width(&kernels->graph->values[product->operand[1]].shape) / matrix_width(product), bytes = factor_bytes(kernels, product);
  return bytes == 2 || is_padded_for(kernels, kernel) ? copied_bytes(bytes * rows * library_matrix_stride(kernels, kernel)) : 0;
}

int64_t library_bias_bytes(const Kernels *kernels, const Kernel *kernel) {
  const Epilogue *e = &kernel->epilogue;
  return e->bias != NO_VALUE && kernels_is_half(kernels, e->place) ? copied_bytes(2 * shape_width(&kernels->graph->values[e->bias].shape)) : 0;
}

/* ---- the choice ---- */

static void offer_for_outer(Variants *v, const Kernels *kernels, Kernel *kernel, const FuseOptions *options) {
  (void)kernels, (void)kernel, (void)options;
  offer_tile(v, OUTER_TILE, OUTER_TILE); /* by runs of rows, which no library can */
}

static void offer_for_lanes(Variants *v, const Kernels *kernels, Kernel *kernel, const FuseOptions *options) {
  (void)options;
  offer_lanes(v, kernels, kernel);
}

static void offer_for_none(Variants *v, const Kernels *kernels, Kernel *kernel, const FuseOptions *options) {
  (void)kernels, (void)kernel, (void)options;
  offer(v, (Variant){.name = "as it is"});
}

static Variants variants_of(const Kernels *kernels, Kernel *kernel, const FuseOptions *options) {
  static void (*const offer_for[KERNEL_KIND_COUNT])(Variants *, const Kernels *, Kernel *, const FuseOptions *) = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) offer_for_##variants,
#include "kernel_kinds.h"
#undef KERNEL
  };
  Variants v = {.arena = kernels->graph->arena};
  offer_for[kernel->kind](&v, kernels, kernel, options);
  return v;
}

const char *variant_key(const Kernels *kernels, const Kernel *kernel) {
  const Graph *graph = kernels->graph;
  const Value *anchor = &graph->values[kernel->anchor];
  const char *kind = kernel_info[kernel->kind].name, *sizes;
  const DataInfo *info = graph->program->info;
  if (anchor->op == OP_MATMUL || anchor->op == OP_OUTER) {
    const struct Contraction *p = &anchor->as.product;
    int64_t rows = p->lead * graph_rows(graph, anchor->op == OP_MATMUL ? anchor->shape.domain : graph->values[anchor->operand[0]].shape.domain);
    sizes = arena_printf(graph->arena, "%" PRId64 " x %" PRId64 " x %" PRId64 "%s", rows, p->depth, p->width, p->transposed ? " transposed" : "");
  } else if (op_is_aggregation(anchor->op)) {
    sizes = arena_printf(graph->arena, "%" PRId64 " nodes, %" PRId64 " edges x %" PRId64, info->nodes, info->edges, shape_width(&anchor->shape));
  } else {
    sizes = arena_printf(graph->arena, "%" PRId64 " x %" PRId64, graph_rows(graph, anchor->shape.domain), shape_width(&anchor->shape));
  }
  if (kernels->precision == PRECISION_BF16) sizes = arena_printf(graph->arena, "%s in bf16", sizes);
  return arena_printf(graph->arena, kernel->body_count ? "%s of %s, then %d" : "%s of %s", kind, sizes, kernel->body_count);
}

static int find_variant(const Variants *v, const char *name) {
  for (int i = 0; i < v->count; i++)
    if (strcmp(v->list[i].name, name) == 0) return i;
  return NO_INDEX;
}

/* What the command line says is not tuned; a name that it would not have even if it said nothing is no variant at all. */
static int tuned_variant(const Kernels *kernels, Kernel *kernel, const FuseOptions *options, const Variants *v) {
  const char *key = variant_key(kernels, kernel), *name = tuning_choice(options->tuning, key);
  int chosen = name ? find_variant(v, name) : 0;
  if (chosen != NO_INDEX) return chosen;
  Kernel copy = *kernel;
  Variants all = variants_of(kernels, &copy, &(FuseOptions){.backend = BACKEND_CUDA});
  if (find_variant(&all, name) == NO_INDEX) tuning_refuse(options->tuning, key, name);
  return 0;
}

static void choose_variant(const Kernels *kernels, Kernel *kernel, const FuseOptions *options) {
  Variants v = variants_of(kernels, kernel, options);
  bool is_free = !kernels->graph->values[kernel->anchor].is_once;
  int chosen = is_free && options->trial < v.count ? options->trial : 0;
  if (is_free && options->tuning && v.count > 1) chosen = tuned_variant(kernels, kernel, options, &v);
  kernel->variant = v.list[chosen];
  kernel->variant_count = v.count;
  Variant *variants = arena_alloc(v.arena, sizeof v.list);
  memcpy(variants, v.list, sizeof v.list);
  kernel->variants = variants;
  kernel->is_tuned = chosen != 0;
  kernel->library = kernel->variant.library;
  if (kernel->kind == KERNEL_MATMUL && kernel->library) kernel->work_bytes = library_matrix_bytes(kernels, kernel) + library_bias_bytes(kernels, kernel);
}

void choose_libraries(Kernels *kernels, const FuseOptions *options) {
  for (int i = 0; i < kernels->kernel_count; i++) choose_variant(kernels, &kernels->kernels[i], options);
}

/* ---- the same sums? ---- */

static const char *name_of(const Kernels *kernels, ValueId id) { return id == NO_VALUE ? "" : kernels->graph->values[id].name; }

static bool is_same_epilogue(const Kernels *a, const Epilogue *x, const Kernels *b, const Epilogue *y) {
  return x->is_relu == y->is_relu && strcmp(name_of(a, x->result), name_of(b, y->result)) == 0 && strcmp(name_of(a, x->bias), name_of(b, y->bias)) == 0 &&
         strcmp(name_of(a, x->addend), name_of(b, y->addend)) == 0;
}

static bool adds_alike(const Kernels *a, const Kernel *x, const Kernels *b, const Kernel *y) {
  if (x->kind != y->kind || x->library != y->library) return false;
  if (x->library && x->kind == KERNEL_MATMUL) return is_same_epilogue(a, &x->epilogue, b, &y->epilogue);
  return x->library || (x->variant.lanes == y->variant.lanes && has_bits(a, x) == has_bits(b, y));
}

/* Slices of a sum keep the slots that the whole has by its width alone (Value.declared_width). */
static bool slices_add_alike(const Kernels *sliced, const Kernel *slice, const Kernels *whole) {
  const Value *anchor = &sliced->graph->values[slice->anchor];
  if (!anchor->declared_width) return true;
  const Kernel *sum = &whole->kernels[whole->made_by[anchor->origin]];
  return slice->library == LIBRARY_NONE && sum->library == LIBRARY_NONE && sum->variant.lanes == 0;
}

static bool is_row_alike(const Kernels *kernels, ValueId others, ValueId own) {
  if (others == own || others == NO_VALUE || own == NO_VALUE) return others == own;
  return kernels->graph->values[others].same_rows != 0 && kernels->graph->values[others].same_rows == kernels->graph->values[own].same_rows;
}

/* Chains over the depth of a product are the same in every tile. */
static bool adds_as_own(const Kernels *kernels, const Kernel *others) {
  const Kernel *own = kernel_of_own(kernels, others);
  if (!own || own->kind != others->kind || own->library != others->library) return false;
  const Epilogue *x = &others->epilogue, *y = &own->epilogue;
  if (others->library) return x->is_relu == y->is_relu && is_row_alike(kernels, x->result, y->result) && x->bias == y->bias && is_row_alike(kernels, x->addend, y->addend);
  return others->kind == KERNEL_MATMUL || (others->variant.lanes == own->variant.lanes && has_bits(kernels, others) == has_bits(kernels, own));
}

bool kernels_add_alike(const Kernels *a, const Kernels *b) {
  NameTable anchors = {0};
  for (int i = 0; i < b->kernel_count; i++) name_table_add(b->graph->arena, &anchors, name_of(b, b->kernels[i].anchor), i);
  for (int i = 0; i < a->kernel_count; i++) {
    const Kernel *x = &a->kernels[i];
    if (!slices_add_alike(a, x, b) || (is_of_others(a, x) && !adds_as_own(a, x))) return false;
    int k = x->kind == KERNEL_MAP || x->kind == KERNEL_CONCAT || x->kind == KERNEL_BEHIND || x->kind == KERNEL_BESIDE || x->kind == KERNEL_UPDATE ? NO_INDEX : name_table_find(&anchors, name_of(a, x->anchor));
    if (k >= 0 && !adds_alike(a, x, b, &b->kernels[k])) return false;
  }
  return true;
}
