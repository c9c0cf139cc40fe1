/* choose_half: which values a program keeps in bf16, 2 bytes a number (--precision=bf16), on a processor as on a GPU.
 *
 * They are rounded to nearest even where they are stored and read as the fp32 that they are; every sum and product is fp32. What
 * stays fp32: extremes over edges, which are compared with what they were found among, everything that is no row of a node or an edge (weights, their gradients, the optimiser's state), sparse features, the
 * scores and the loss, and narrow rows: these are the norms, maxima, sums and attention of whole rows, whose errors would be those of all
 * they are multiplied with, and they move whole sectors of memory whatever their numbers are. Nothing but the graph counts, never the
 * budget: under every plan the same values are rounded.
 */
#include "fuse.h"

enum { SECTOR_BYTES = 32, LEAST_WIDTH = SECTOR_BYTES / 2 };

/* How kernels have each operand of a value: READS_EXACT, READS_ROUNDED, both, or 0 where no kernel computes the value. */
enum { READS_EXACT = 1, READS_ROUNDED = 2 };
typedef struct HalfRead {
  ValueId root; /* what the kernel computes the value for: its anchor, or one of its body */
  unsigned char of[MAX_VALUE_OPERANDS];
} HalfRead;
typedef struct HalfReads {
  unsigned char of[MAX_VALUE_OPERANDS]; /* for all of these: */
  int count;
  HalfRead *list;
} HalfReads;

/* The scores, and whatever a loss is taken of. */
static bool *find_exact(const Kernels *kernels) {
  const Graph *graph = kernels->graph;
  bool *is_exact = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  if (graph->scores != NO_VALUE) is_exact[kernels->storage[graph->scores]] = true;
  for (int i = 0; i < graph->value_count; i++) {
    Op op = graph->values[i].op;
    if (op == OP_RESHAPE && graph->values[i].shape.domain != graph->values[graph->values[i].operand[0]].shape.domain) is_exact[kernels->storage[i]] = true;
    for (int k = 0; k < 2 && (op == OP_CROSS_ENTROPY || op == OP_CROSS_ENTROPY_GRADIENT); k++) is_exact[kernels->storage[graph->values[i].operand[k]]] = true;
    if ((op_is_aggregation(op) && !op_info[op].is_linear) || graph->values[i].is_exact) is_exact[i] = true;
  }
  return is_exact;
}

/* A copy of some columns is of the same kind as the value that it is of. */
static int64_t width_of_source(const Graph *graph, ValueId id) {
  while (graph->values[id].op == OP_TILE || graph->values[id].op == OP_HALO) id = graph->values[id].operand[0];
  return shape_width(&graph->values[id].shape);
}

void choose_half(Kernels *kernels, const bool *is_sparse_field) {
  const Graph *graph = kernels->graph;
  const bool *is_exact = find_exact(kernels);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    bool has_storage = value->op == OP_INPUT ? !is_sparse_field[value->as.index] : value->op == OP_HOISTED || kernels->is_stored[i];
    bool is_row = domain_is_nodes(value->shape.domain) || domain_is_relation(value->shape.domain);
    kernels->is_half[i] = has_storage && is_row && value->shape.element == ELEMENT_REAL && !is_exact[i] && width_of_source(graph, i) >= LEAST_WIDTH;
  }
}

/* ---- who reads what was rounded ---- */

static HalfRead *read_of(const HalfReads *reads, ValueId root) {
  for (int i = 0; i < reads->count; i++)
    if (reads->list[i].root == root) return &reads->list[i];
  return NULL;
}

/* What the kernel computes itself it has as it was; what it loads may have been rounded. What is computed where it is used may be both. A slice is
 * what it is of. */
static void note_reads(HalfReads *reads, const Kernels *kernels, int kernel, ValueId root, ValueId user) {
  const Value *value = &kernels->graph->values[user];
  HalfRead *read = read_of(&reads[user], root);
  if (!read) {
    ARENA_PUSH(kernels->graph->arena, reads[user].list, reads[user].count, (HalfRead){.root = root});
    read = &reads[user].list[reads[user].count - 1];
  }
  for (int k = 0; k < value->operand_count; k++) {
    ValueId id = kernels->storage[value->operand[k]];
    while (kernels->graph->values[id].op == OP_SLICE && kernels_is_virtual(kernels, id)) id = kernels->storage[kernels->graph->values[id].operand[0]];
    const bool is_virtual = kernels_is_virtual(kernels, id), is_own = kernels->made_by[id] == kernel;
    read->of[k] |= !is_virtual && !is_own && kernels->is_half[id] ? READS_ROUNDED : READS_EXACT;
    reads[user].of[k] |= read->of[k];
    if (is_virtual) note_reads(reads, kernels, kernel, root, id);
  }
}

static HalfReads *half_reads(const Kernels *kernels) {
  HalfReads *reads = arena_alloc(kernels->graph->arena, (size_t)(kernels->graph->value_count + 1) * sizeof *reads);
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    if (kernel->kind != KERNEL_MAP) note_reads(reads, kernels, i, kernel->anchor, kernel->anchor);
    for (int b = 0; b < kernel->body_count; b++) note_reads(reads, kernels, i, kernel->body[b], kernel->body[b]);
  }
  return reads;
}

/* What a kernel had rounded it has to load, and what it had as it was must not be kept rounded. Not of leaves, which others read as well. */
static bool mark(Value *value, unsigned char wanted, unsigned char is) {
  const bool is_leaf = op_info[value->op].kind == OP_KIND_LEAF;
  if (is_leaf || (wanted | is) != (READS_EXACT | READS_ROUNDED) || wanted == is) return false;
  bool *flag = wanted == READS_ROUNDED ? &value->is_loaded : &value->is_exact, is_new = !*flag;
  *flag = true;
  return is_new;
}

/* As the same value was computed for the same before; where it was not, for whatever it was. */
static unsigned char read_before(const HalfReads *before, ValueId root, int operand) {
  const HalfRead *same = root == NO_VALUE ? NULL : read_of(before, root);
  return same && same->of[operand] ? same->of[operand] : before->of[operand];
}

RoundAlike kernels_round_alike(const Kernels *after, const ValueId *origin, const Kernels *before, Graph *graph) {
  const HalfReads *then = half_reads(after), *at_first = half_reads(before);
  bool is_alike = true, is_marked = true;
  for (int i = 0; i < graph->value_count; i++) {
    const ValueId was = origin ? origin[i] : graph->values[i].origin;
    for (int r = 0; r < then[i].count && was != NO_VALUE; r++) {
      const HalfRead *read = &then[i].list[r];
      const ValueId root = origin ? origin[read->root] : graph->values[read->root].origin;
      for (int k = 0; k < graph->values[i].operand_count; k++) {
        const unsigned char wanted = read_before(&at_first[was], root, k);
        if (!read->of[k] || read->of[k] == wanted) continue;
        is_alike = false;
        is_marked = is_marked && mark(&graph->values[after->storage[graph->values[i].operand[k]]], wanted, read->of[k]);
      }
    }
  }
  return is_alike ? ROUND_ALIKE : is_marked ? ROUND_MARKED : ROUND_OTHERWISE;
}

bool kernels_read_rounded(const Kernels *kernels, ValueId id) {
  const HalfReads *reads = half_reads(kernels);
  bool is_read_exactly = false;
  for (int i = 0; i < kernels->graph->value_count; i++)
    for (int k = 0; k < kernels->graph->values[i].operand_count; k++)
      is_read_exactly = is_read_exactly || (kernels->storage[kernels->graph->values[i].operand[k]] == kernels->storage[id] && (reads[i].of[k] & READS_EXACT));
  return kernels_is_half(kernels, id) && !is_read_exactly;
}

bool kernels_is_half(const Kernels *kernels, ValueId id) { return kernels->is_half[kernels->storage[id]]; }
