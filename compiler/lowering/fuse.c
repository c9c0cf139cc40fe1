/* fuse: training or evaluation graph -> Kernels; freezes the graph.
 *
 * Greedy over values in order: a point value joins the kernel of the latest of its operands if it has the same rows and
 * dimensions, so everything it needs is there; otherwise it starts a kernel of its own. A value joins only kernels that
 * come no earlier than all it reads, so the order of kernels is an order of execution. On a processor a sum over edges joins the
 * kernel of sums over the same edges whose rows it reads (stage_after), or of a sum over all of them that gathers the same rows (column_sum_beside). Cost: linear in uses.
 */
#include "fuse.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/graph/hoist.h"
#include "runtime/core/blocks.h"

enum { TASK_NUMBERS = 16 * 1024, LEAST_TASKS = 16, LEAST_TASK_ROWS = 64, MATMUL_LEAST_TASKS = 16, MATMUL_TASK_UNIT = 48,
       MATMUL_LANES = 16 /* numbers of the widest vector: panels are whole vectors */ };
/* Of walkers over runs of rows: enough for the threads of a processor, but where their sums take more than a part in WALKER_SHARE of what
 * they read, as few as LEAST; on a GPU enough for all its multiprocessors several times, a tile of a gradient being a block of threads. */
enum { WALKER_LEVELS = 5, LEAST_WALKER_LEVELS = 3, WALKER_SHARE = 8, CUDA_WALKER_LEVELS = 9, CUDA_OUTER_TILE = 64 };

/* ---- sparse features ---- */

static bool is_left_operand_only(const Graph *graph, ValueId id) {
  bool is_used = false;
  for (int u = 0; u < graph->value_count; u++) {
    const Value *user = &graph->values[u];
    for (int k = 0; k < user->operand_count; k++) {
      if (user->operand[k] != id) continue;
      is_used = true;
      int64_t width = shape_width(&graph->values[id].shape);
      const struct Contraction *p = &user->as.product;
      bool is_matmul = user->op == OP_MATMUL && k == 0 && p->lead == 1;
      bool is_outer = user->op == OP_OUTER && p->lead == 1 && (k == 0 ? p->depth : p->width) == width;
      bool is_dropout = user->op == OP_DROPOUT && k == 0 && is_left_operand_only(graph, u);
      if (!is_matmul && !is_outer && !is_dropout) return false;
    }
  }
  return is_used;
}

bool *sparse_fields(const Graph *graph) {
  const TypedProgram *program = graph->program;
  bool *is_sparse = arena_alloc(graph->arena, (size_t)program->field_count + 1);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    if (value->op != OP_INPUT || value->shape.domain != DOMAIN_NODE || value->shape.element != ELEMENT_REAL) continue;
    int64_t nonzeros = program->fields[value->as.index].nonzeros;
    int64_t numbers = graph_rows(graph, DOMAIN_NODE) * shape_width(&value->shape);
    is_sparse[value->as.index] =
        nonzeros >= 0 && nonzeros * SPARSE_BELOW_ONE_IN < numbers && is_left_operand_only(graph, i);
  }
  return is_sparse;
}

/* ---- which values exist only inside kernels ---- */

typedef struct Fusion {
  Graph *graph;
  Kernels *kernels;
  const bool *is_sparse_field;
  bool is_fusing, is_staging;
  bool is_making_again; /* rows are put together, or made again, where they are read: on a processor, where nothing is rounded by that */
  Backend backend;
  bool *is_virtual;
  int *use_count;
  bool *has_tiles, *has_far; /* some of its columns are copied out; it is read at the ends of edges */
  bool *is_read_joined; /* slices side by side, which every reader puts together by itself */
  ValueId *only_user;
  bool *has_anchor; /* an anchor on the edges is behind the value */
  bool *is_cheap;   /* find_cheap_scalars */
  bool *is_wanted_whole; /* find_wanted_whole */
  int *visited;     /* marks of the walk that is under way: see visit */
  int walk;
} Fusion;

/* Walks over shared values must not take every path: false when the value was met in this walk already, in the same
 * role. A new walk begins with f->walk += ROLES. */
enum { ROLES = 2 };

static bool visit(Fusion *f, ValueId id, int role) {
  int mark = f->walk + role;
  if (f->visited[ROLES * id + role] == mark) return false;
  f->visited[ROLES * id + role] = mark;
  return true;
}

static void find_wanted_whole(Fusion *f) {
  const Graph *graph = f->graph;
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    if (graph_is_result(graph, i) || value->tap || value->was_tap) f->is_wanted_whole[i] = true;
    bool reads_whole = value->op == OP_CONCAT || value->op == OP_MATMUL || value->op == OP_OUTER || value->op == OP_RESHAPE || value->op == OP_UPDATE || value->op == OP_FOLLOW || value->op == OP_CROSS_ENTROPY;
    double number;
    for (int k = 0; k < value->operand_count && reads_whole; k++)
      f->is_wanted_whole[value->operand[k]] = f->is_wanted_whole[value->operand[k]] || !(value->op == OP_CONCAT && graph_constant(graph, value->operand[k], &number));
  }
}

/* One number a row, or one in all, without anything that a kernel has to make: computed again wherever it is needed. Of
 * numbers a row only those count that follow from the graph and constants; of single numbers, weights do too. */
static void find_cheap_scalars(Fusion *f) {
  const Graph *graph = f->graph;
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    bool is_single = graph_is_scalar(graph, i), is_constant_leaf = value->op == OP_NUMBER || value->op == OP_OPTION || value->op == OP_DEGREE || value->op == OP_ROW_COUNT;
    if (shape_width(&value->shape) != 1) continue;
    if (op_info[value->op].kind == OP_KIND_LEAF) f->is_cheap[i] = is_constant_leaf || is_single;
    else if (value->op == OP_MAP || value->op == OP_BROADCAST) {
      f->is_cheap[i] = true;
      for (int k = 0; k < value->operand_count; k++) f->is_cheap[i] = f->is_cheap[i] && f->is_cheap[value->operand[k]];
    }
  }
}

static bool is_sparse_dropout(const Fusion *f, ValueId id) {
  ValueId dropout;
  return f->graph->values[id].op == OP_DROPOUT && graph_sparse_field(f->graph, f->is_sparse_field, id, &dropout) != NO_INDEX;
}

/* A sum within the row of an edge, which other expressions of the edge are made of. */
static bool is_edge_row_sum(const Fusion *f, ValueId id) {
  const Value *value = &f->graph->values[id];
  return value->op == OP_REDUCE && domain_is_edges(value->shape.domain) && !f->is_wanted_whole[id];
}

/* Rows times a number each, of which tables are copied out: they are what they are times of, wherever else they are read. On a GPU it would change what
 * a library computes with a product. */
static bool is_cheaply_tiled(const Fusion *f, ValueId id) {
  const Graph *graph = f->graph;
  const Value *value = &graph->values[id];
  if (!f->is_making_again || !f->has_tiles[id] || f->has_far[id]) return false;
  if (value->op != OP_MAP || value->as.function != MAP_MUL || value->operand_count != 2) return false;
  int numbers = 0;
  for (int k = 0; k < 2; k++) {
    const Value *operand = &graph->values[value->operand[k]];
    numbers += operand->op == OP_BROADCAST && f->is_cheap[operand->operand[0]];
  }
  return numbers == 1;
}

/* Rows of a product's operand are put together a few at a time, on the stack. */
enum { MOST_JOINED = 512 /* numbers of such a row */ };

static bool is_side_by_side(const Fusion *f, ValueId id) {
  const Value *value = &f->graph->values[id];
  bool is = value->op == OP_CONCAT && value->shape.domain == DOMAIN_NODE && value->as.part.axis == 0 && !value->tap && !value->was_tap && !graph_is_result(f->graph, id) &&
            f->is_making_again;
  for (int k = 0; k < value->operand_count && is; k++) is = f->graph->values[value->operand[k]].slice.count > 0;
  return is;
}

static bool puts_together(const Fusion *f, const Value *user, int k) {
  const Graph *graph = f->graph;
  const struct Contraction *p = &user->as.product;
  const bool is_narrow = shape_width(&graph->values[user->operand[k]].shape) <= MOST_JOINED;
  ValueId dropout;
  if (user->op == OP_MATMUL) return k == 0 && p->lead == 1 && is_narrow;
  if (user->op == OP_OUTER) return p->lead == 1 && is_narrow && graph_sparse_field(graph, f->is_sparse_field, user->operand[1 - k], &dropout) == NO_INDEX;
  return user->op == OP_MAP || user->op == OP_DROPOUT || user->op == OP_POSITIVE || user->op == OP_SELECT;
}

static void find_read_joined(Fusion *f) {
  const Graph *graph = f->graph;
  for (int i = 0; i < graph->value_count; i++) {
    f->is_read_joined[i] = is_side_by_side(f, i);
    for (int k = 0; k < graph->values[i].operand_count; k++)
      f->is_read_joined[graph->values[i].operand[k]] &= puts_together(f, &graph->values[i], k);
  }
}

static bool decide_virtual(const Fusion *f, ValueId id) {
  const Graph *graph = f->graph;
  const Value *value = &graph->values[id];
  if (f->is_read_joined[id]) return true;
  if (is_edge_row_sum(f, id)) return !f->has_anchor[id];
  if (op_info[value->op].kind != OP_KIND_POINT || value->op == OP_RESHAPE) return false;
  if (value->op == OP_TILE) return false;
  if (is_sparse_dropout(f, id)) return true;
  if (f->is_wanted_whole[id]) return false;
  if (value->op == OP_BROADCAST || value->op == OP_LIFT || value->op == OP_SLICE) return true;
  if (domain_is_edges(value->shape.domain) && !f->has_anchor[id]) return true;
  if (f->is_cheap[id]) return true;
  if (is_cheaply_tiled(f, id)) return true;
  if (!f->is_fusing || value->shape.element == ELEMENT_BIT || f->use_count[id] != 1) return false;
  ValueId user = f->only_user[id];
  return graph->values[user].op == OP_REDUCE ||
         (f->is_virtual[user] && graph->values[user].shape.domain == value->shape.domain &&
          shape_equal(&graph->values[user].shape, &value->shape));
}

static void find_virtual_values(Fusion *f) {
  const Graph *graph = f->graph;
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    bool is_edge_anchor = op_info[value->op].kind == OP_KIND_ANCHOR && domain_is_edges(value->shape.domain) && value->op != OP_HALO && !is_edge_row_sum(f, i);
    f->has_anchor[i] = is_edge_anchor;
    for (int k = 0; k < value->operand_count; k++) {
      f->use_count[value->operand[k]]++;
      f->has_tiles[value->operand[k]] |= value->op == OP_TILE || value->op == OP_HALO || value->op == OP_BEHIND;
      f->has_far[value->operand[k]] |= value->op == OP_LIFT;
      f->only_user[value->operand[k]] = i;
      if (domain_is_edges(value->shape.domain) && domain_is_edges(graph->values[value->operand[k]].shape.domain))
        f->has_anchor[i] = f->has_anchor[i] || f->has_anchor[value->operand[k]];
    }
  }
  find_read_joined(f);
  for (int i = graph->value_count - 1; i >= 0; i--) f->is_virtual[i] = decide_virtual(f, i);
}

/* ---- grouping ---- */

static bool takes_a_body(const Kernel *kernel, Domain domain) {
  BodyPlace body = kernel_info[kernel_sums_rows_too(kernel) ? KERNEL_EDGE_SUM : kernel->kind].body;
  return body == BODY_EVERYWHERE || (body == BODY_ON_NODES && domain_is_rows(domain));
}

/* The kernels behind the operands of a point value, through values that exist only inside kernels. Gives the latest;
 * *is_pointwise is cleared when its result is read other than element by element. */
typedef struct Sources {
  int latest;
  bool is_pointwise;
} Sources;

static void find_sources(Fusion *f, ValueId id, bool is_pointwise, Sources *sources) {
  if (!visit(f, id, is_pointwise)) return;
  const Value *value = &f->graph->values[id];
  ValueId stored = f->kernels->storage[id];
  if (stored != id) {
    is_pointwise = false;
    id = stored;
  }
  int32_t kernel = f->kernels->made_by[id];
  if (kernel != NO_INDEX) {
    is_pointwise = is_pointwise && !f->graph->values[id].is_loaded;
    if (kernel > sources->latest) *sources = (Sources){kernel, is_pointwise};
    else if (kernel == sources->latest) sources->is_pointwise = sources->is_pointwise && is_pointwise;
    return;
  }
  if (!f->is_virtual[id]) return;
  for (int k = 0; k < value->operand_count; k++) find_sources(f, value->operand[k], is_pointwise && !op_moves(value->op), sources);
}

static bool same_loops(const Shape *a, const Shape *b) {
  if (a->domain != b->domain || a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->size[d] != b->size[d]) return false;
  return true;
}

/* Those of `outer` are the outer ones of `loops`, or all of them: scores of heads beside the numbers of heads. */
static bool loops_contain(const Shape *loops, const Shape *outer) {
  if (outer->domain != loops->domain || outer->rank > loops->rank) return false;
  for (int d = 0; d < outer->rank; d++)
    if (outer->size[d] != loops->size[d]) return false;
  return true;
}

static int new_kernel(Fusion *f, KernelKind kind, ValueId anchor) {
  Kernel kernel = {.kind = kind, .anchor = anchor, .phase = f->graph->values[anchor].phase};
  ARENA_PUSH(f->graph->arena, f->kernels->kernels, f->kernels->kernel_count, kernel);
  f->kernels->made_by[anchor] = f->kernels->kernel_count - 1;
  return f->kernels->kernel_count - 1;
}

/* The places of what a kernel reads and stores are arguments of its launch (kernels/cuda/places.h), and a compiler has registers to find. */
enum { MOST_IN_A_BODY = 64 };

/* Slices are copied out where their row is made. Not behind a product on a GPU: a library that computes it wants a place for all of the row. */
static bool takes_tiles(const Fusion *f, const Kernel *kernel) { return (f->backend == BACKEND_CPU || kernel->kind != KERNEL_MATMUL) && !kernel_sums_rows_too(kernel); }

static Stage last_stage(const Fusion *f, const Kernel *kernel) {
  Stage stages[MOST_STAGES];
  return stages[kernel_stages(f->kernels, kernel, stages) - 1];
}

static bool may_join_two(Fusion *f, const Kernel *kernel, ValueId id);

/* The map that makes the other operand of the value's only reader, where it can make this one, too: the reader then has both in its row. */
static int map_beside(const Fusion *f, ValueId id, int after) {
  const Graph *graph = f->graph;
  const Value *value = &graph->values[id];
  if (!f->is_fusing || f->use_count[id] != 1 || value->op == OP_TILE) return NO_INDEX;
  const Value *user = &graph->values[f->only_user[id]];
  if (op_info[user->op].kind != OP_KIND_POINT || op_moves(user->op) || !shape_equal(&user->shape, &value->shape) || user->phase != value->phase) return NO_INDEX;
  for (int k = 0; k < user->operand_count; k++) {
    const int index = f->kernels->made_by[user->operand[k]];
    if (index == NO_INDEX || index <= after) continue;
    const Kernel *kernel = &f->kernels->kernels[index];
    if (kernel->kind == KERNEL_MAP && kernel->phase == value->phase && kernel->body_count < MOST_IN_A_BODY && same_loops(&graph->values[kernel->anchor].shape, &value->shape)) return index;
  }
  return NO_INDEX;
}

static void place_point(Fusion *f, ValueId id) {
  const Value *value = &f->graph->values[id];
  Sources sources = {NO_INDEX, true};
  f->walk += ROLES;
  for (int k = 0; k < value->operand_count; k++) find_sources(f, value->operand[k], value->op == OP_TILE || !op_moves(value->op), &sources);
  int index = NO_INDEX;
  if (f->is_fusing && sources.latest != NO_INDEX && sources.is_pointwise) {
    const Kernel *kernel = &f->kernels->kernels[sources.latest];
    const Value *anchor = &f->graph->values[last_stage(f, kernel).anchor];
    const Shape *loops = &anchor->shape;
    bool has_parts_of_rows = anchor->op == OP_MATMUL && anchor->as.product.lead > 1;
    bool has_room = kernel->body_count < MOST_IN_A_BODY;
    const bool has_loops = value->op == OP_TILE ? takes_tiles(f, kernel) && same_loops(loops, &f->graph->values[value->operand[0]].shape) : same_loops(loops, &value->shape);
    if (has_room && takes_a_body(kernel, loops->domain) && !has_parts_of_rows && has_loops && may_join_two(f, kernel, id)) index = sources.latest;
  }
  if (index == NO_INDEX) index = map_beside(f, id, sources.latest);
  if (index == NO_INDEX) index = new_kernel(f, KERNEL_MAP, id);
  Kernel *kernel = &f->kernels->kernels[index];
  ARENA_PUSH(f->graph->arena, kernel->body, kernel->body_count, id);
  f->kernels->made_by[id] = index;
}

/* As ops.h says; some have a kernel of their own for what is special. */
static KernelKind anchor_kind(const Fusion *f, ValueId id) {
#define KIND_LEAF(kernel) KERNEL_KIND_COUNT
#define KIND_POINT(kernel) KERNEL_MAP
#define KIND_ANCHOR(kernel) KERNEL_##kernel
  static const KernelKind usual[OP_COUNT] = {
#define OP(name, what, operands, kind, attribute, shape, simpler, derivative, is_linear, code, work, bytes) KIND_##kind(code),
#include "compiler/graph/ops.h"
#undef OP
  };
  const Graph *graph = f->graph;
  const Value *value = &graph->values[id], *operand = &graph->values[value->operand[0]];
  ValueId dropout;
  bool is_sparse = false;
  for (int k = 0; k < (value->op == OP_OUTER ? 2 : 1); k++)
    is_sparse = is_sparse || graph_sparse_field(graph, f->is_sparse_field, value->operand[k], &dropout) != NO_INDEX;
  if (value->op == OP_MATMUL && is_sparse) return KERNEL_SPARSE_MATMUL;
  if (value->op == OP_OUTER && is_sparse) return KERNEL_SPARSE_OUTER;
  if (value->op == OP_REDUCE && operand->shape.domain != value->shape.domain) return KERNEL_COLUMN_SUM;
  bool is_plain = operand->op == OP_LIFT && operand->as.end != value->as.end && !f->is_virtual[operand->operand[0]] && graph->values[operand->operand[0]].op != OP_DEGREE;
  return value->op == OP_GATHER && is_plain ? KERNEL_SPMM : usual[value->op];
}

/* ---- sums over the edges of a row, one after the other ---- */

/* The sum reads what the kernel makes at other rows than its own, which are not there yet. */
static bool reads_far(Fusion *f, ValueId id, int index, EdgeEnd end, bool is_far) {
  const Value *value = &f->graph->values[id];
  if (!visit(f, id, is_far)) return false;
  if (f->kernels->made_by[f->kernels->storage[id]] == index) return is_far;
  if (!f->is_virtual[id]) return false;
  for (int k = 0; k < value->operand_count; k++)
    if (reads_far(f, value->operand[k], index, end, is_far || (value->op == OP_LIFT && value->as.end != end))) return true;
  return false;
}

static bool has_copies(const Fusion *f, const Kernel *kernel) {
  for (int b = 0; b < kernel->body_count; b++)
    if (f->graph->values[kernel->body[b]].op == OP_TILE) return true;
  return false;
}

/* The kernel whose sums over the edges of a row this one reads, and can follow row by row: NO_INDEX where there is none. */
static int stage_after(Fusion *f, ValueId id, KernelKind kind) {
  const Value *value = &f->graph->values[id];
  if (!f->is_staging || !kernel_folds_edges(kind) || value->slice.count > 0) return NO_INDEX;
  Sources sources = {NO_INDEX, true};
  f->walk += ROLES;
  find_sources(f, value->operand[0], false, &sources);
  if (sources.latest == NO_INDEX) return NO_INDEX;
  const Kernel *kernel = &f->kernels->kernels[sources.latest];
  const Value *anchor = &f->graph->values[kernel->anchor];
  Stage stages[MOST_STAGES];
  if (!kernel_folds_edges(kernel->kind) || kernel->phase != value->phase || anchor->as.end != value->as.end || anchor->slice.count > 0 || has_copies(f, kernel) || kernel->is_of_two) return NO_INDEX;
  const Domain edges = f->graph->values[value->operand[0]].shape.domain;
  if (edges != f->graph->values[anchor->operand[0]].shape.domain || !domain_is_relation(edges)) return NO_INDEX;
  if (kernel->body_count >= MOST_IN_A_BODY || kernel_stages(f->kernels, kernel, stages) == MOST_STAGES) return NO_INDEX;
  f->walk += ROLES;
  return reads_far(f, value->operand[0], sources.latest, value->as.end, false) ? NO_INDEX : sources.latest;
}

/* Both gather rows of the same value at the other end of edges. */
static bool gathers_alike(Fusion *f, ValueId id, EdgeEnd end, int role) {
  const Value *value = &f->graph->values[id];
  if (!visit(f, id, role)) return false;
  const bool is_far = value->op == OP_LIFT && value->as.end != end;
  if (role == 1 && is_far && f->visited[ROLES * id] == f->walk) return true;
  for (int k = 0; k < value->operand_count && f->is_virtual[id]; k++)
    if (gathers_alike(f, value->operand[k], end, role)) return true;
  return false;
}

static bool sums_gather_alike(Fusion *f, ValueId a, ValueId b) {
  const EdgeEnd end = graph_walk_end(&f->graph->values[b]);
  f->walk += ROLES;
  gathers_alike(f, f->graph->values[a].operand[0], end, 0);
  return gathers_alike(f, f->graph->values[b].operand[0], end, 1);
}

/* The sum over all edges in whose walk, by destination, this sum over the edges of each row is computed as well: of numbers of the same loops. */
static int column_sum_beside(Fusion *f, ValueId id, KernelKind kind) {
  const Value *value = &f->graph->values[id], *operand = &f->graph->values[value->operand[0]];
  if (!f->is_staging || kind != KERNEL_EDGE_SUM || value->as.end != END_DST || value->slice.count > 0 || !domain_is_relation(operand->shape.domain) || operand->shape.domain == DOMAIN_MEMBER || f->graph->program->info->is_of_rank)
    return NO_INDEX;
  Sources sources = {NO_INDEX, true};
  f->walk += ROLES;
  find_sources(f, value->operand[0], false, &sources);
  for (int i = f->kernels->kernel_count - 1; i > sources.latest; i--) {
    const Kernel *kernel = &f->kernels->kernels[i];
    const Value *anchor = &f->graph->values[kernel->anchor], *summed = &f->graph->values[anchor->operand[0]];
    if (kernel->kind != KERNEL_COLUMN_SUM || kernel->body_count > 0 || kernel->phase != value->phase || anchor->slice.count > 0) continue;
    if (!same_loops(&summed->shape, &operand->shape) || shape_width(&anchor->shape) != shape_width(&summed->shape)) continue;
    if (sums_gather_alike(f, kernel->anchor, id)) return i;
  }
  return NO_INDEX;
}

static bool comes_from(Fusion *f, ValueId id, int index) {
  if (!visit(f, id, 0)) return false;
  if (f->kernels->made_by[f->kernels->storage[id]] == index) return true;
  for (int k = 0; k < f->graph->values[id].operand_count && f->is_virtual[id]; k++)
    if (comes_from(f, f->graph->values[id].operand[k], index)) return true;
  return false;
}

static bool kernel_reads(Fusion *f, const Kernel *kernel, int index) {
  for (int b = -1; b < kernel->body_count; b++) {
    const Value *value = &f->graph->values[b < 0 ? kernel->anchor : kernel->body[b]];
    for (int k = 0; k < value->operand_count; k++)
      if (comes_from(f, value->operand[k], index)) return true;
  }
  return false;
}

static bool is_read_since(Fusion *f, int index) {
  f->walk += ROLES;
  for (int later = index + 1; later < f->kernels->kernel_count; later++)
    if (kernel_reads(f, &f->kernels->kernels[later], index)) return true;
  return false;
}

static int move_to_end(Fusion *f, int index) {
  Kernels *kernels = f->kernels;
  const int last = kernels->kernel_count - 1;
  const Kernel moved = kernels->kernels[index];
  memmove(kernels->kernels + index, kernels->kernels + index + 1, (size_t)(last - index) * sizeof moved);
  kernels->kernels[last] = moved;
  for (int i = 0; i < f->graph->value_count; i++) {
    const int32_t made_by = kernels->made_by[i];
    if (made_by >= index) kernels->made_by[i] = made_by == index ? last : made_by - 1;
  }
  return last;
}

enum { LOOK_BACK = 8 /* kernels */ };

/* The sum over the edges of each row in whose walk this one is computed as well, of numbers of the same loops, or of the outer ones. Nobody has read its results yet, so it can wait for what this one reads. */
static int sum_beside(Fusion *f, ValueId id, KernelKind kind) {
  const Value *value = &f->graph->values[id], *operand = &f->graph->values[value->operand[0]];
  if (!f->is_staging || kind != KERNEL_EDGE_SUM || value->slice.count > 0 || !domain_is_relation(operand->shape.domain)) return NO_INDEX;
  for (int i = f->kernels->kernel_count - 1; i >= 0 && i >= f->kernels->kernel_count - LOOK_BACK; i--) {
    const Kernel *kernel = &f->kernels->kernels[i];
    const Value *anchor = &f->graph->values[kernel->anchor];
    Stage stages[MOST_STAGES];
    if (kernel->kind != KERNEL_EDGE_SUM || kernel->phase != value->phase || anchor->as.end != value->as.end || anchor->slice.count > 0 || has_copies(f, kernel)) continue;
    if (!loops_contain(&f->graph->values[anchor->operand[0]].shape, &operand->shape) || kernel->body_count >= MOST_IN_A_BODY || kernel_stages(f->kernels, kernel, stages) > 1) continue;
    if (!sums_gather_alike(f, kernel->anchor, id)) continue;
    f->walk += ROLES;
    if (comes_from(f, value->operand[0], i) || is_read_since(f, i)) continue;
    const int moved = move_to_end(f, i);
    f->kernels->kernels[moved].is_of_two = true;
    return moved;
  }
  return NO_INDEX;
}

/* Of two sums the first's rows have been stored when those of the second are made. */
static bool reads_first_of_two(Fusion *f, const Kernel *kernel, ValueId id) {
  const Value *value = &f->graph->values[id];
  const int second = last_stage(f, kernel).begin - 1;
  if (!visit(f, id, 0)) return false;
  bool is_of_first = id == kernel->anchor;
  for (int b = 0; b < second; b++) is_of_first = is_of_first || kernel->body[b] == id;
  for (int k = 0; k < value->operand_count && !is_of_first && f->is_virtual[id]; k++) is_of_first = reads_first_of_two(f, kernel, value->operand[k]);
  return is_of_first;
}

static bool may_join_two(Fusion *f, const Kernel *kernel, ValueId id) {
  const Value *value = &f->graph->values[id];
  if (!kernel->is_of_two) return true;
  f->walk += ROLES;
  for (int k = 0; k < value->operand_count; k++)
    if (value->op == OP_TILE || reads_first_of_two(f, kernel, f->kernels->storage[value->operand[k]])) return false;
  return true;
}

/* On a GPU all weights are updated at once, but for those whose rows lie with the nodes': launches of their own would take longer than what they do. */
static void place_anchor(Fusion *f, ValueId id) {
  KernelKind kind = anchor_kind(f, id);
  int last = f->kernels->kernel_count - 1, before = stage_after(f, id, kind);
  bool is_joining = kind == KERNEL_UPDATE && f->backend == BACKEND_CUDA && f->is_fusing && last >= 0 && f->kernels->kernels[last].kind == KERNEL_UPDATE;
  is_joining = is_joining && !value_is_update_of_nodes(&f->graph->values[id]) && !value_is_update_of_nodes(&f->graph->values[f->kernels->kernels[last].anchor]);
  int joined = is_joining ? last : before;
  if (joined == NO_INDEX) joined = column_sum_beside(f, id, kind);
  if (joined == NO_INDEX) joined = sum_beside(f, id, kind);
  if (joined == NO_INDEX) {
    new_kernel(f, kind, id);
    return;
  }
  ARENA_PUSH(f->graph->arena, f->kernels->kernels[joined].body, f->kernels->kernels[joined].body_count, id);
  f->kernels->made_by[id] = joined;
}

/* ---- what each kernel reads and stores ---- */

static void add_once(Arena *arena, ValueId **list, int *count, ValueId id) {
  for (int i = 0; i < *count; i++)
    if ((*list)[i] == id) return;
  ARENA_PUSH(arena, *list, *count, id);
}

static bool has_storage(const Graph *graph, ValueId id) {
  Op op = graph->values[id].op;
  return op != OP_NUMBER && op != OP_OPTION && op != OP_ROW_COUNT;
}

static void need_degree(Fusion *f, ValueId id) {
  const struct Degree *degree = &f->graph->values[id].as.degree;
  if (f->graph->values[id].op == OP_DEGREE) f->kernels->needs[domain_set(degree->edges)].degree[degree->end] = true;
}

static void add_inputs(Fusion *f, int index, ValueId id) {
  Kernels *kernels = f->kernels;
  id = kernels->storage[id];
  if (!visit(f, id, 0)) return;
  if (f->is_virtual[id]) {
    for (int k = 0; k < f->graph->values[id].operand_count; k++) add_inputs(f, index, f->graph->values[id].operand[k]);
    return;
  }
  if (kernels->made_by[id] == index || !has_storage(f->graph, id)) return;
  Kernel *kernel = &kernels->kernels[index];
  add_once(f->graph->arena, &kernel->inputs, &kernel->input_count, id);
  if (kernels->made_by[id] != NO_INDEX) kernels->is_stored[id] = true;
  need_degree(f, id);
}

static void find_inputs(Fusion *f) {
  Kernels *kernels = f->kernels;
  const Graph *graph = f->graph;
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Kernel kernel = kernels->kernels[i];
    const Value *anchor = &graph->values[kernel.anchor];
    f->walk += ROLES;
    if (kernel.kind != KERNEL_MAP)
      for (int k = 0; k < anchor->operand_count; k++) add_inputs(f, i, anchor->operand[k]);
    for (int b = 0; b < kernel.body_count; b++)
      for (int k = 0; k < graph->values[kernel.body[b]].operand_count; k++)
        add_inputs(f, i, graph->values[kernel.body[b]].operand[k]);
  }
  for (int i = 0; i < graph->value_count; i++) {
    bool is_root = graph_is_result(graph, i) || graph->values[i].tap;
    ValueId stored = kernels->storage[i];
    if (is_root && kernels->made_by[stored] != NO_INDEX) kernels->is_stored[stored] = true;
    if (is_root) need_degree(f, stored); /* a model may return what no kernel reads */
  }
  for (int p = 0; graph->gradients && p < graph->program->param_count; p++)
    if (graph->gradients[p] != NO_VALUE) kernels->is_stored[kernels->storage[graph->gradients[p]]] = true;
}

static void find_outputs(Fusion *f) {
  Kernels *kernels = f->kernels;
  for (int i = 0; i < f->graph->value_count; i++) {
    if (!kernels->is_stored[i] || kernels->made_by[i] == NO_INDEX) continue;
    Kernel *kernel = &kernels->kernels[kernels->made_by[i]];
    ARENA_PUSH(f->graph->arena, kernel->outputs, kernel->output_count, i);
  }
}

/* ---- loops and scratch ---- */

/* Of a program of ranks: how its nodes are shared out; NULL: it is none. */
static const RankInfo *ranks_of(const Fusion *f) { return f->graph->program->info->is_of_rank ? f->graph->program->info->ranks : NULL; }
/* Sums of all parts are gathered before they are added. */
static int64_t parts_of_ranks(const Fusion *f) { return ranks_of(f) ? INT64_C(1) << ranks_of(f)->part_levels : 0; }

/* That one rank has. */
static int64_t most_parts(const RankInfo *ranks) {
  int most = 1;
  for (int r = 0; r < ranks->count; r++)
    if (ranks->first_part[r + 1] - ranks->first_part[r] > most) most = ranks->first_part[r + 1] - ranks->first_part[r];
  return most;
}

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* How many share the runs of a sum over all rows, each with room for the sums that it may have open. */
static void loops_walkers(const Fusion *f, Kernel *kernel, const Value *anchor) {
  const Graph *graph = f->graph;
  kernel->walkers = 1;
  if (graph->values[anchor->operand[0]].shape.domain == DOMAIN_NONE) return;
  int64_t width = shape_width(&anchor->shape), read = 0;
  for (int k = 0; k < anchor->operand_count; k++) read += graph_bytes(graph, anchor->operand[k]);
  const RankInfo *ranks = ranks_of(f);
  int64_t nodes = ranks ? ranks->nodes : graph_rows(graph, DOMAIN_NODE);
  const int64_t at_once = ranks ? most_parts(ranks) : 1;
  int levels = gnn_run_levels(nodes) - (ranks ? ranks->part_levels : 0), most = WALKER_LEVELS, least = LEAST_WALKER_LEVELS;
  if (f->backend == BACKEND_CUDA) {
    const struct Contraction *p = &anchor->as.product;
    int64_t tiles = kernel->kind == KERNEL_OUTER ? ceil_div(p->depth, CUDA_OUTER_TILE) * ceil_div(p->width, CUDA_OUTER_TILE) : 1;
    levels = gnn_block_levels(nodes) + GNN_DEVICE_RUN_LEVELS - (ranks ? ranks->part_levels : 0);
    for (most = CUDA_WALKER_LEVELS; most > 0 && tiles > 1; most--) tiles = ceil_div(tiles, 2);
  }
  for (int64_t parts = at_once; f->backend == BACKEND_CPU && parts > 1 && least > 0; parts /= 2) least--;
  for (int shared = most < levels ? most : levels;; shared--) {
    kernel->walker_levels = shared;
    kernel->work_bytes = at_once * (4 * width * (levels - shared + 1)) << shared;
    kernel->walkers = at_once << shared;
    if (shared <= least || WALKER_SHARE * kernel->work_bytes <= read) break;
  }
  kernel->work_bytes += parts_of_ranks(f) * 4 * width;
}

static void loops_matmul(const Fusion *f, Kernel *kernel, const Value *anchor) {
  const struct Contraction *p = &anchor->as.product;
  int64_t all = p->lead * graph_rows(f->graph, f->graph->values[anchor->operand[0]].shape.domain);
  int64_t even = ceil_div(ceil_div(all, MATMUL_LEAST_TASKS), MATMUL_TASK_UNIT) * MATMUL_TASK_UNIT; /* few rows: still enough tasks */
  kernel->task_rows = ceil_div(16 * TASK_NUMBERS, p->depth + p->width);
  if (kernel->task_rows > even) kernel->task_rows = even;
  kernel->work_bytes = f->backend == BACKEND_CUDA ? 0 : 4 * p->depth * (ceil_div(p->width, MATMUL_LANES) * MATMUL_LANES);
}

static void loops_sparse_matmul(const Fusion *f, Kernel *kernel, const Value *anchor) {
  (void)f;
  kernel->task_rows = 64;
  kernel->work_bytes = anchor->as.product.transposed ? 4 * anchor->as.product.depth * anchor->as.product.width : 0;
}

/* Column by column of the field: where the field is the right operand, that is the result turned. */
static void loops_sparse_outer(const Fusion *f, Kernel *kernel, const Value *anchor) {
  kernel->work_bytes = graph_sparse_side(f->graph, f->is_sparse_field, kernel->anchor) == 0 ? 0 : 4 * shape_width(&anchor->shape);
  if (ranks_of(f)) kernel->work_bytes = parts_of_ranks(f) * 4 * shape_width(&anchor->shape);
}

/* A number for each canonical block; on a GPU one for each row, too. */
static void loops_loss(const Fusion *f, Kernel *kernel, const Value *anchor) {
  (void)anchor;
  kernel->work_bytes = 8 * (INT64_C(1) << gnn_block_levels(ranks_of(f) ? ranks_of(f)->nodes : graph_rows(f->graph, DOMAIN_NODE)));
  if (f->backend == BACKEND_CUDA) kernel->work_bytes += 8 * f->graph->program->info->split_count[SPLIT_TRAIN];
}

/* The rows that leave a rank, side by side. */
static void loops_halo(const Fusion *f, Kernel *kernel, const Value *anchor) {
  const RankInfo *ranks = ranks_of(f);
  if (ranks == NULL) return;
  const int64_t rows = ranks->sent[halo_kind(anchor)];
  kernel->work_bytes = kernels_row_bytes(f->kernels, kernel->anchor) * (rows > 0 ? rows : 1);
}

/* Of its rows the columns of others, likewise. */
static void loops_columns(const Fusion *f, Kernel *kernel, const Value *anchor) {
  const RankInfo *ranks = ranks_of(f);
  const int64_t width = shape_width(&f->graph->values[anchor->operand[0]].shape), columns = shape_width(&anchor->shape);
  int64_t rows = 0;
  for (int r = 0; r < ranks->count; r++) {
    const int64_t sent = (ranks->first[r + 1] - ranks->first[r]) * ((width + columns - 1) / columns - (r * columns < width));
    if (sent > rows) rows = sent;
  }
  kernel->work_bytes = kernels_row_bytes(f->kernels, kernel->anchor) * (rows > 0 ? rows : 1);
  kernel->task_rows = TASK_NUMBERS / width;
}

static void loops_nothing(const Fusion *f, Kernel *kernel, const Value *anchor) { (void)f, (void)kernel, (void)anchor; }

static void choose_loops(const Fusion *f, Kernel *kernel) {
  static void (*const loops_of[KERNEL_KIND_COUNT])(const Fusion *, Kernel *, const Value *) = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) loops_##loops,
#include "kernel_kinds.h"
#undef KERNEL
  };
  const Value *anchor = &f->graph->values[kernel->anchor];
  int64_t width = shape_width(&anchor->shape), rows = graph_rows(f->graph, anchor->shape.domain);
  kernel->task_rows = TASK_NUMBERS / (width < 1 ? 1 : width);
  const int64_t even = ceil_div(rows, LEAST_TASKS); /* narrow rows, or few: still enough tasks, if they are worth starting */
  if (kernel->task_rows > even) kernel->task_rows = even > LEAST_TASK_ROWS ? even : LEAST_TASK_ROWS;
  loops_of[kernel->kind](f, kernel, anchor);
  if (kernel->task_rows < 1) kernel->task_rows = 1;
  if (kernel->task_rows > rows && rows > 0) kernel->task_rows = rows;
}

/* The edges that a kernel goes over; DOMAIN_NONE: it goes over none. */
static Domain edges_walked(const Kernels *kernels, const Kernel *kernel) {
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  const Domain operand = anchor->operand_count > 0 ? kernels->graph->values[anchor->operand[0]].shape.domain : DOMAIN_NONE;
  const Domain walked = domain_is_edges(anchor->shape.domain) ? anchor->shape.domain : operand;
  return domain_is_edges(walked) ? walked : DOMAIN_NONE;
}

static bool walks_out(const Kernels *kernels, const Kernel *kernel) { return graph_walk_end(&kernels->graph->values[kernel->anchor]) == END_SRC; }

/* It goes over edges by their number alone, whichever nodes they join. */
static bool is_by_number(const Kernel *kernel) { return kernel->kind == KERNEL_MATMUL || kernel->kind == KERNEL_OUTER || kernel->kind == KERNEL_CONCAT || kernel->kind == KERNEL_HALO || kernel->kind == KERNEL_BEHIND || kernel->kind == KERNEL_COLUMNS; }

ValueId kernels_neighbours(const Kernels *kernels, const Kernel *kernel) {
  return edges_walked(kernels, kernel) == DOMAIN_EDGE && !is_by_number(kernel) ? kernels->graph->neighbours[walks_out(kernels, kernel) ? END_SRC : END_DST] : NO_VALUE;
}

/* Gradients over edges sum the edges of runs of nodes. */
ValueId kernels_offsets(const Kernels *kernels, const Kernel *kernel) {
  const bool has_rows = kernel->kind == KERNEL_OUTER || !is_by_number(kernel);
  return edges_walked(kernels, kernel) == DOMAIN_EDGE && has_rows ? kernels->graph->offsets[walks_out(kernels, kernel) ? END_SRC : END_DST] : NO_VALUE;
}

static bool is_far_by_id(const Fusion *f, const Value *value, EdgeEnd sums_at) {
  return value->op == OP_LIFT && value->as.end != sums_at && !value_table(&f->graph->values[value->operand[0]]);
}

/* What a sum gathers lies in halos alone; else it asks for the ids of rows. Of what a kernel that is no sum reads some is at the destination. */
static bool asks_for_ids(Fusion *f, ValueId id, EdgeEnd sums_at) {
  const Value *value = &f->graph->values[id];
  if (!domain_is_edges(value->shape.domain) || !f->is_virtual[id] || !visit(f, id, 0)) return false;
  if (value->op == OP_LIFT) return is_far_by_id(f, value, sums_at);
  for (int k = 0; k < value->operand_count; k++)
    if (asks_for_ids(f, value->operand[k], sums_at)) return true;
  return false;
}

static bool kernel_asks_for_ids(Fusion *f, const Kernel *kernel, EdgeEnd end) {
  bool asks = kernel->kind == KERNEL_SPMM && is_far_by_id(f, &f->graph->values[f->graph->values[kernel->anchor].operand[0]], end);
  for (int b = -1; b < kernel->body_count && !asks; b++) {
    const Value *value = &f->graph->values[b < 0 ? kernel->anchor : kernel->body[b]];
    asks = is_far_by_id(f, value, end);
    for (int k = 0; k < value->operand_count && !asks; k++) asks = asks_for_ids(f, value->operand[k], end);
  }
  return asks;
}

/* The sum reads or draws something by the number of an edge. */
static bool asks_for_edges(Fusion *f, ValueId id) {
  const Value *value = &f->graph->values[id];
  if (!domain_is_edges(value->shape.domain) || !visit(f, id, 0)) return false;
  if (!f->is_virtual[id]) {
    if (ranks_of(f) && !value_table(value)) f->kernels->asks_others = true;
    return value->op != OP_HALO || ranks_of(f);
  }
  if (value->op == OP_DROPOUT && f->graph->edge_ids[END_SRC] == NO_VALUE) return true;
  for (int k = 0; k < value->operand_count && value->op != OP_LIFT; k++)
    if (asks_for_edges(f, value->operand[k])) return true;
  return false;
}

static bool gathers_from_halos(const Kernels *kernels, const Kernel *kernel, bool of_edges) {
  for (int k = 0; k < kernel->input_count; k++) {
    const Value *input = &kernels->graph->values[kernel->inputs[k]];
    if (value_table(input) && domain_is_edges(input->shape.domain) == of_edges) return true;
  }
  return false;
}

static ValueId input_by(const Kernels *kernels, const Kernel *kernel, Op op) {
  for (int k = 0; k < kernel->input_count; k++)
    if (kernels->graph->values[kernel->inputs[k]].op == op) return kernel->inputs[k];
  return NO_VALUE;
}

ValueId kernels_out_edges(const Kernels *kernels, const Kernel *kernel) { return input_by(kernels, kernel, OP_OUT_EDGES); }
ValueId kernels_edge_ids(const Kernels *kernels, const Kernel *kernel) { return input_by(kernels, kernel, OP_EDGE_IDS); }

ValueId kernels_halo_rows(const Kernels *kernels, const Kernel *kernel) {
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  return kernel->kind == KERNEL_HALO && !kernels->graph->program->info->is_of_rank ? kernels->graph->halo_rows[halo_kind(anchor)] : NO_VALUE;
}

ValueId kernels_edge_codes(const Kernels *kernels, const Kernel *kernel) { return gathers_from_halos(kernels, kernel, true) ? kernels->graph->edge_codes : NO_VALUE; }

ValueId kernels_entries(const Kernels *kernels, const Kernel *kernel, bool is_number) {
  const Graph *graph = kernels->graph;
  const bool is_by_column = kernel->kind == KERNEL_SPARSE_OUTER;
  if (!graph->entries || (kernel->kind != KERNEL_SPARSE_MATMUL && !is_by_column)) return NO_VALUE;
  for (int k = 0; k < kernel->input_count; k++) {
    const Value *value = &graph->values[kernel->inputs[k]];
    if (value->op == OP_INPUT && graph->entries[value->as.index][is_by_column][is_number] != NO_VALUE) return graph->entries[value->as.index][is_by_column][is_number];
  }
  return NO_VALUE;
}

ValueId kernels_entry_offsets(const Kernels *kernels, const Kernel *kernel) {
  const ValueId idx = kernel->kind == KERNEL_SPARSE_MATMUL ? kernels_entries(kernels, kernel, false) : NO_VALUE;
  return idx == NO_VALUE ? NO_VALUE : kernels->graph->entry_offsets[kernels->graph->values[idx].as.entries.field];
}

static void note_entries(Fusion *f, Kernel *kernel) {
  const ValueId entries[3] = {kernels_entries(f->kernels, kernel, false), kernels_entries(f->kernels, kernel, true), kernels_entry_offsets(f->kernels, kernel)};
  for (int k = 0; k < 3; k++)
    if (entries[k] != NO_VALUE) add_once(f->graph->arena, &kernel->inputs, &kernel->input_count, entries[k]);
}

static void note_graph_directions(Fusion *f, Kernel *kernel) {
  Kernels *kernels = f->kernels;
  const Domain walked = edges_walked(kernels, kernel);
  if (walked == DOMAIN_NONE) return;
  struct EdgeNeeds *needs = &kernels->needs[domain_set(walked)];
  const bool is_out = walks_out(kernels, kernel);
  if (is_out) needs->out = true;
  else needs->in = true;
  const EdgeEnd end = is_out ? END_SRC : END_DST;
  const bool has_halo = gathers_from_halos(kernels, kernel, false);
  needs->has_edge_halo |= gathers_from_halos(kernels, kernel, true);
  f->walk += ROLES;
  needs->halo[end] |= has_halo;
  const bool asks_for_ids = kernel_asks_for_ids(f, kernel, end);
  needs->ids[end] |= asks_for_ids || (has_halo && ranks_of(f));
  if (asks_for_ids && ranks_of(f)) kernels->asks_others = true;
  const ValueId away[] = {kernels_neighbours(kernels, kernel), kernels_offsets(kernels, kernel)};
  for (int k = 0; k < 2; k++)
    if (away[k] != NO_VALUE) add_once(f->graph->arena, &kernel->inputs, &kernel->input_count, away[k]);
  Stage stages[MOST_STAGES];
  const int stage_count = kernel_stages(kernels, kernel, stages);
  f->walk += ROLES;
  bool asks = false;
  for (int s = 0; s < stage_count; s++)
    if (is_out && walked != DOMAIN_MEMBER && asks_for_edges(f, f->graph->values[stages[s].anchor].operand[0])) asks = true; /* a node is one member */
  needs->out_edge |= asks;
  if (asks && walked == DOMAIN_EDGE && f->graph->out_edges != NO_VALUE) add_once(f->graph->arena, &kernel->inputs, &kernel->input_count, f->graph->out_edges);
}

/* Of what the kernel computes of an operand, or of a value of its own. */
static void note_drawn(Fusion *f, Kernel *kernel, ValueId id, bool is_own, bool is_far) {
  const Value *value = &f->graph->values[id];
  if ((!is_own && !f->is_virtual[id]) || !visit(f, id, is_far)) return;
  if (value->op == OP_DROPOUT && value->shape.domain == DOMAIN_NODE) kernel->draws_by_node = true, kernel->draws_far |= is_far;
  if (value->op == OP_DROPOUT && value->shape.domain == DOMAIN_EDGE) kernel->draws_by_edge = true;
  for (int k = 0; k < value->operand_count; k++)
    note_drawn(f, kernel, value->operand[k], false, is_far || kernel->kind == KERNEL_SPARSE_OUTER || (value->op == OP_LIFT && value->as.end != graph_walk_end(&f->graph->values[kernel->anchor])));
}

static void note_ids(Fusion *f, Kernel *kernel) {
  const ValueId nodes = f->graph->node_ids, edges = f->graph->edge_ids[graph_walk_end(&f->graph->values[kernel->anchor])];
  f->walk += ROLES;
  for (int b = -1; b < kernel->body_count && (nodes != NO_VALUE || edges != NO_VALUE); b++) note_drawn(f, kernel, b < 0 ? kernel->anchor : kernel->body[b], true, false);
  if (kernel->draws_by_node && nodes != NO_VALUE) add_once(f->graph->arena, &kernel->inputs, &kernel->input_count, nodes);
  if (kernel->draws_by_edge && edges != NO_VALUE) add_once(f->graph->arena, &kernel->inputs, &kernel->input_count, edges);
}

/* Beside the operands. */
static void note_tables_of_halos(const Kernels *kernels, Kernel *kernel) {
  const ValueId away[] = {kernels_halo_rows(kernels, kernel), kernels_edge_codes(kernels, kernel)};
  for (int k = 0; k < 2; k++)
    if (away[k] != NO_VALUE) add_once(kernels->graph->arena, &kernel->inputs, &kernel->input_count, away[k]);
}

static void note_labels(const Kernels *kernels, Kernel *kernel) {
  const Graph *graph = kernels->graph;
  const int32_t made_by = graph->labels == NO_VALUE ? NO_INDEX : kernels->made_by[kernels->storage[graph->scores]];
  const bool is_loss = kernel->kind == KERNEL_CROSS_ENTROPY || kernel->kind == KERNEL_CROSS_ENTROPY_GRADIENT, is_measured = made_by != NO_INDEX && &kernels->kernels[made_by] == kernel;
  if (is_measured) add_once(graph->arena, &kernel->inputs, &kernel->input_count, graph->labels);
  for (int s = 0; s < SPLIT_COUNT; s++)
    if (graph->split_rows[s] != NO_VALUE && (is_measured || (is_loss && s == SPLIT_TRAIN))) add_once(graph->arena, &kernel->inputs, &kernel->input_count, graph->split_rows[s]);
}

/* Not of what is computed once, nor of approximations, which have a way of their own. */
static void note_rows_again(Kernels *kernels) {
  const Graph *graph = kernels->graph;
  const bool *is_constant = computed_once(graph);
  const bool comes_again = graph->once_count == 0 && graph->program->has_train && graph->program->train.boundary == BOUNDARY_EXACT;
  for (int k = 0; k < kernels->kernel_count; k++) kernels->kernels[k].comes_again = comes_again && kernels->kernels[k].kind == KERNEL_HALO && is_constant[kernels->kernels[k].anchor];
}

Kernels *fuse(Graph *graph, const bool *is_sparse_field, const FuseOptions *options) {
  Arena *arena = graph->arena;
  size_t count = (size_t)graph->value_count + 1;
  graph_name_values(graph);
  Kernels *kernels = arena_alloc(arena, sizeof *kernels);
  kernels->graph = graph;
  kernels->backend = options->backend;
  kernels->precision = options->precision;
  kernels->is_padded = options->is_padding;
  kernels->made_by = arena_alloc(arena, count * sizeof *kernels->made_by);
  kernels->is_stored = arena_alloc(arena, count);
  kernels->is_half = arena_alloc(arena, count);
  kernels->storage = arena_alloc(arena, count * sizeof *kernels->storage);
  kernels->needs = arena_alloc(arena, (size_t)typed_edge_sets(graph->program->info) * sizeof *kernels->needs);
  Fusion f = {graph, kernels, is_sparse_field, options->is_fusing, options->is_fusing && options->is_staging && options->backend == BACKEND_CPU,
              options->is_fusing && options->backend == BACKEND_CPU && options->precision != PRECISION_BF16, options->backend, arena_alloc(arena, count), arena_alloc(arena, count * sizeof(int)), arena_alloc(arena, count), arena_alloc(arena, count), arena_alloc(arena, count),
              arena_alloc(arena, count * sizeof(ValueId)), arena_alloc(arena, count), arena_alloc(arena, count), arena_alloc(arena, count),
              arena_alloc(arena, ROLES * count * sizeof(int)), 0};
  for (int i = 0; i < graph->value_count; i++) {
    kernels->made_by[i] = NO_INDEX;
    const Value *value = &graph->values[i];
    kernels->storage[i] = value->op == OP_RESHAPE ? kernels->storage[value->operand[0]] : i;
  }
  find_cheap_scalars(&f);
  find_wanted_whole(&f);
  find_virtual_values(&f);
  for (int i = 0; i < graph->value_count; i++) {
    OpKind kind = op_info[graph->values[i].op].kind;
    if (kind == OP_KIND_ANCHOR && !f.is_virtual[i]) place_anchor(&f, i);
    else if (kind == OP_KIND_POINT && kernels->storage[i] == i && !f.is_virtual[i]) place_point(&f, i);
  }
  find_inputs(&f);
  find_outputs(&f);
  if (options->precision == PRECISION_BF16) choose_half(kernels, is_sparse_field);
  if (graph->program->info->is_of_rank) note_rows_again(kernels);
  for (int i = 0; i < kernels->kernel_count; i++) {
    choose_loops(&f, &kernels->kernels[i]);
    note_graph_directions(&f, &kernels->kernels[i]);
    note_entries(&f, &kernels->kernels[i]);
    note_tables_of_halos(kernels, &kernels->kernels[i]);
    note_ids(&f, &kernels->kernels[i]);
    note_labels(kernels, &kernels->kernels[i]);
  }
  if (options->backend == BACKEND_CUDA) choose_libraries(kernels, options);
  choose_places(kernels, options->is_placing);
  return kernels;
}

void kernels_dump(const Kernels *kernels, FILE *out) {
  const Graph *graph = kernels->graph;
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    fprintf(out, "kernel %d: %s of %s", i, kernel_info[kernel->kind].name, graph->values[kernel->anchor].name);
    if (kernel->library || kernel->is_tuned) fprintf(out, ", %s", kernel->variant.name);
    if (kernel->library && kernel->epilogue.body_count) fprintf(out, " up to %s", graph->values[kernel->epilogue.result].name);
    fprintf(out, "\n");
    fprintf(out, "  body   ");
    for (int b = 0; b < kernel->body_count; b++) fprintf(out, " %s", graph->values[kernel->body[b]].name);
    fprintf(out, "\n  reads  ");
    for (int k = 0; k < kernel->input_count; k++) fprintf(out, " %s", graph->values[kernel->inputs[k]].name);
    fprintf(out, "\n  writes ");
    for (int k = 0; k < kernel->output_count; k++)
      fprintf(out, " %s (%" PRId64 " bytes%s%s%s)", graph->values[kernel->outputs[k]].name, kernels_bytes(kernels, kernel->outputs[k]),
              kernels_is_half(kernels, kernel->outputs[k]) ? " in bf16" : "", kernel->over[k] == NO_VALUE ? "" : ", may lie over ",
              kernel->over[k] == NO_VALUE ? "" : graph->values[kernel->over[k]].name);
    fprintf(out, "\n");
    if (kernel->variant_count > 1) fprintf(out, "  variants of %s:", variant_key(kernels, kernel));
    for (int v = 0; v < kernel->variant_count && kernel->variant_count > 1; v++) fprintf(out, "%s %s%s", v ? ";" : "", kernel->variants[v].name, v + 1 == kernel->variant_count ? "\n" : "");
    if (kernel->work_bytes) fprintf(out, "  scratch %" PRId64 " bytes\n", kernel->work_bytes);
  }
}
