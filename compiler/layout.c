/* layout: Schedule -> Layout, the offset of every live range in the device arena.
 *
 * What stays through the run (graph, features, weights, optimiser state) lies at the bottom; above it live ranges are
 * placed greedily, largest first, each into the smallest gap among those that are alive with it where it fits (best
 * fit), or on top. Several orders are tried and the lowest arena kept. The bound from below is the largest number of
 * bytes alive at one step: no layout can be lower (dynamic storage allocation, Garey & Johnson SR2).
 * Cost: quadratic in the number of ranges for each order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/gnnrt.h"
#include "plan.h"

const char *block_kind_name(BlockKind kind) {
  static const char *const names[BLOCK_KIND_COUNT] = {"graph", "features", "weights", "optimizer", "activation", "gradient", "scratch"};
  return names[kind];
}

static int64_t aligned(int64_t bytes) { return (bytes + LAYOUT_ALIGNMENT - 1) / LAYOUT_ALIGNMENT * LAYOUT_ALIGNMENT; }

/* ---- which blocks there are ---- */

typedef struct Laying {
  Arena *arena;
  Layout *layout;
  const TypedProgram *program;
  const Schedule *schedule;
  bool *is_field_used;
} Laying;

static const char *unique_name(const Laying *l, const char *base) {
  char *name = arena_strdup(l->arena, base);
  for (char *c = name; *c; c++)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))) *c = '_';
  const char *result = name;
  for (int n = 2;; n++) {
    bool is_taken = false;
    for (int i = 0; i < l->layout->count; i++) is_taken = is_taken || strcmp(l->layout->blocks[i].name, result) == 0;
    if (!is_taken) return result;
    result = arena_printf(l->arena, "%s_%d", name, n);
  }
}

static int add_block(Laying *l, Block block) {
  block.name = unique_name(l, block.name);
  block.bytes = block.bytes > 0 ? block.bytes : 4;
  ARENA_PUSH(l->arena, l->layout->blocks, l->layout->count, block);
  return l->layout->count - 1;
}

static int add_resident(Laying *l, BlockKind kind, const char *name, int64_t bytes) {
  return add_block(l, (Block){.kind = kind, .name = name, .bytes = bytes, .last = l->schedule->count - 1, .value = NO_VALUE});
}

static void add_graph(Laying *l, const Kernels *kernels[2]) {
  Layout *y = l->layout;
  const DataInfo *info = l->program->info;
  bool in = false, out = false, edge = false, degree[2] = {false, false};
  for (int k = 0; k < 2; k++) {
    if (!kernels[k]) continue;
    in = in || kernels[k]->needs_in;
    out = out || kernels[k]->needs_out;
    edge = edge || kernels[k]->needs_out_edge;
    for (int e = 0; e < 2; e++) degree[e] = degree[e] || kernels[k]->needs_degree[e];
  }
  y->is_symmetric = info->is_symmetric;
  y->has_out = out;
  bool shares = out && info->is_symmetric;
  if (in || shares) {
    y->in_ptr = add_resident(l, BLOCK_GRAPH, "graph_in_ptr", 8 * (info->nodes + 1));
    y->in_idx = add_resident(l, BLOCK_GRAPH, "graph_in_idx", 4 * info->edges);
    y->in_bounds = add_resident(l, BLOCK_GRAPH, "graph_in_bounds", 8 * (GNN_TASKS + 1));
  }
  if (out && !shares) {
    y->out_ptr = add_resident(l, BLOCK_GRAPH, "graph_out_ptr", 8 * (info->nodes + 1));
    y->out_idx = add_resident(l, BLOCK_GRAPH, "graph_out_idx", 4 * info->edges);
    y->out_bounds = add_resident(l, BLOCK_GRAPH, "graph_out_bounds", 8 * (GNN_TASKS + 1));
  }
  if (edge) y->out_edge = add_resident(l, BLOCK_GRAPH, "graph_out_edge", 8 * info->edges);
  if (degree[END_DST]) y->degree[END_DST] = add_resident(l, BLOCK_GRAPH, "graph_in_degree", 4 * info->nodes);
  if (degree[END_SRC]) y->degree[END_SRC] = add_resident(l, BLOCK_GRAPH, "graph_out_degree", 4 * info->nodes);
  static const char *const rows[SPLIT_COUNT] = {"rows_train", "rows_valid", "rows_test"};
  for (int s = 0; s < SPLIT_COUNT; s++)
    if (l->program->has_train && info->split_count[s] > 0)
      y->rows[s] = add_resident(l, BLOCK_GRAPH, rows[s], 4 * info->split_count[s]);
}

static void add_field(Laying *l, int f, bool is_sparse) {
  const TypedField *field = &l->program->fields[f];
  int64_t nodes = l->program->info->nodes;
  int64_t rows = field->type.domain == DOMAIN_EDGE ? l->program->info->edges : nodes, width = 1;
  for (int d = 0; d < field->type.rank; d++) width *= field->type.dim[d].size;
  if (!is_sparse) {
    l->layout->field[f] = add_resident(l, BLOCK_FEATURES, arena_printf(l->arena, "data_%s", field->name), 4 * rows * width);
    return;
  }
  static const char *const parts[SPARSE_BLOCKS] = {"row_ptr", "row_idx", "row_value", "row_bounds",
                                                   "column_ptr", "column_idx", "column_value", "column_bounds"};
  int64_t bytes[SPARSE_BLOCKS] = {8 * (nodes + 1), 4 * field->nonzeros, 4 * field->nonzeros, 8 * (GNN_TASKS + 1),
                                  8 * (width + 1), 4 * field->nonzeros, 4 * field->nonzeros, 8 * (GNN_TASKS + 1)};
  for (int p = 0; p < SPARSE_BLOCKS; p++) {
    int index = add_resident(l, BLOCK_FEATURES, arena_printf(l->arena, "data_%s_%s", field->name, parts[p]), bytes[p]);
    if (p == 0) l->layout->field[f] = index;
  }
}

int layout_state_count(const TypedProgram *program) {
  const TrainSpec *train = &program->train;
  if (!program->has_train) return 0;
  if (train->optimizer != OPTIMIZER_SGD) return 2;
  /* Momentum may be an option: room is kept unless it is the constant 0 everywhere. */
  bool has_momentum = false;
  for (int g = -1; g < train->group_count; g++) {
    const Hyper *hyper = g < 0 ? &train->hyper : &train->groups[g].hyper;
    if (hyper->momentum == NO_INDEX) continue;
    const TypedExpr *e = &program->exprs[hyper->momentum];
    has_momentum = has_momentum || e->kind != TYPED_NUMBER || e->number != 0;
  }
  return has_momentum ? 1 : 0;
}

static void add_weights(Laying *l) {
  const TypedProgram *program = l->program;
  for (int p = 0; p < program->param_count; p++) {
    int64_t count = 1;
    for (int d = 0; d < program->params[p].type.rank; d++) count *= program->params[p].type.dim[d].size;
    l->layout->weight[p] = add_resident(l, BLOCK_WEIGHTS, arena_printf(l->arena, "weight_%s", program->params[p].name), 4 * count);
    for (int s = 0; program->params[p].is_trained && s < layout_state_count(program); s++)
      l->layout->state[s][p] =
          add_resident(l, BLOCK_OPTIMIZER, arena_printf(l->arena, "state%d_%s", s + 1, program->params[p].name), 4 * count);
  }
}

/* Values and scratch, with the steps in which they are alive. */
static void add_transients(Laying *l, const Kernels *kernels, bool is_training) {
  const Graph *graph = kernels->graph;
  const Schedule *schedule = l->schedule;
  int *block_of = arena_alloc(l->arena, (size_t)(graph->value_count + 1) * sizeof *block_of);
  for (int i = 0; i < graph->value_count; i++) block_of[i] = NO_INDEX;
  const char *prefix = is_training ? "" : "eval_";
  int last_step = NO_INDEX;
  for (int s = 0; s < schedule->count; s++) {
    if (schedule->steps[s].kernels != kernels) continue;
    last_step = s;
    const Kernel *kernel = &kernels->kernels[schedule->steps[s].kernel];
    for (int k = 0; k < kernel->input_count; k++)
      if (block_of[kernel->inputs[k]] != NO_INDEX) l->layout->blocks[block_of[kernel->inputs[k]]].last = s;
    for (int k = 0; k < kernel->output_count; k++) {
      ValueId id = kernel->outputs[k];
      BlockKind kind = graph->values[id].phase == PHASE_FORWARD ? BLOCK_ACTIVATION : BLOCK_GRADIENT;
      block_of[id] = add_block(l, (Block){.kind = kind, .name = arena_printf(l->arena, "%s%s", prefix, graph->values[id].name),
                                          .bytes = graph_bytes(graph, id), .first = s, .last = s, .kernels = kernels, .value = id});
    }
    if (kernel->work_bytes)
      add_block(l, (Block){.kind = BLOCK_SCRATCH, .name = arena_printf(l->arena, "scratch_%d", schedule->steps[s].number),
                           .bytes = kernel->work_bytes, .first = s, .last = s, .kernels = kernels, .value = NO_VALUE});
  }
  /* The scores outlive the evaluation: metrics and predictions read them. */
  if (!is_training && block_of[kernels->home[graph->scores]] != NO_INDEX)
    l->layout->blocks[block_of[kernels->home[graph->scores]]].last = last_step;
}

/* ---- offsets ---- */

typedef enum Order { ORDER_SIZE, ORDER_AREA, ORDER_SPAN, ORDER_START, ORDER_COUNT } Order;

typedef struct Ranked {
  double key;
  int block;
} Ranked;

static int compare_ranked(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->key != y->key) return x->key > y->key ? -1 : 1;
  return x->block - y->block;
}

static double order_key(Order order, const Block *block) {
  double size = (double)block->bytes, span = block->last - block->first + 1;
  switch (order) {
  case ORDER_SIZE: return size;
  case ORDER_AREA: return size * span;
  case ORDER_SPAN: return span;
  default: return -block->first;
  }
}

static int compare_offsets(const void *a, const void *b) {
  const Block *x = *(const Block *const *)a, *y = *(const Block *const *)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int64_t best_fit(Block *block, const Block **placed, int placed_count, int64_t base, bool is_first_fit) {
  int64_t best = -1, best_gap = INT64_MAX, cursor = base, bytes = aligned(block->bytes);
  for (int i = 0; i <= placed_count; i++) {
    const Block *other = i < placed_count ? placed[i] : NULL;
    if (other && (other->last < block->first || block->last < other->first)) continue;
    int64_t gap = other ? other->offset - cursor : INT64_MAX;
    if (gap >= bytes && gap < best_gap && !(is_first_fit && best >= 0)) {
      best = cursor;
      best_gap = gap;
    }
    if (other && other->offset + aligned(other->bytes) > cursor) cursor = other->offset + aligned(other->bytes);
  }
  return best >= 0 ? best : cursor;
}

static int64_t place_all(Laying *l, Order order, bool is_first_fit, int64_t base, int64_t *offsets) {
  Layout *y = l->layout;
  int count = y->count - y->resident_count;
  Ranked *ranked = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *ranked);
  const Block **placed = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *placed);
  for (int i = 0; i < count; i++)
    ranked[i] = (Ranked){order_key(order, &y->blocks[y->resident_count + i]), y->resident_count + i};
  qsort(ranked, (size_t)count, sizeof *ranked, compare_ranked);
  int64_t height = base;
  for (int i = 0; i < count; i++) {
    Block *block = &y->blocks[ranked[i].block];
    block->offset = best_fit(block, placed, i, base, is_first_fit);
    if (block->offset + aligned(block->bytes) > height) height = block->offset + aligned(block->bytes);
    placed[i] = block;
    qsort(placed, (size_t)i + 1, sizeof *placed, compare_offsets);
  }
  for (int i = 0; i < count; i++) offsets[i] = y->blocks[y->resident_count + i].offset;
  return height;
}

static void place_transients(Laying *l, int64_t base) {
  Layout *y = l->layout;
  int count = y->count - y->resident_count;
  int64_t *offsets = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *offsets);
  int64_t *best = arena_alloc(l->arena, (size_t)(count + 1) * sizeof *best);
  y->bytes = INT64_MAX;
  for (int order = 0; order < ORDER_COUNT; order++)
    for (int is_first_fit = 0; is_first_fit < 2; is_first_fit++) {
      int64_t height = place_all(l, (Order)order, is_first_fit != 0, base, offsets);
      if (height >= y->bytes) continue;
      y->bytes = height;
      memcpy(best, offsets, (size_t)count * sizeof *best);
    }
  for (int i = 0; i < count; i++) y->blocks[y->resident_count + i].offset = best[i];
}

static void measure(Laying *l) {
  Layout *y = l->layout;
  y->live_bytes = arena_alloc(l->arena, (size_t)(l->schedule->count + 1) * sizeof *y->live_bytes);
  for (int s = 0; s < l->schedule->count; s++) {
    for (int i = 0; i < y->count; i++)
      if (y->blocks[i].first <= s && s <= y->blocks[i].last) y->live_bytes[s] += aligned(y->blocks[i].bytes);
    if (y->live_bytes[s] <= y->lower_bound) continue;
    y->lower_bound = y->live_bytes[s];
    y->peak_step = s;
  }
}

static int *no_blocks(Arena *arena, int count) {
  int *list = arena_alloc(arena, (size_t)(count + 1) * sizeof *list);
  for (int i = 0; i < count; i++) list[i] = NO_INDEX;
  return list;
}

static void find_used_fields(Laying *l, const Kernels *kernels) {
  for (int i = 0; kernels && i < kernels->graph->value_count; i++)
    if (kernels->graph->values[i].op == OP_INPUT) l->is_field_used[kernels->graph->values[i].as.index] = true;
}

Layout *layout(Arena *arena, const Schedule *schedule, const Kernels *training, const Kernels *evaluation, const bool *is_sparse_field) {
  const TypedProgram *program = evaluation->graph->program;
  Layout *y = arena_alloc(arena, sizeof *y);
  Laying l = {arena, y, program, schedule, arena_alloc(arena, (size_t)program->field_count + 1)};
  y->in_ptr = y->in_idx = y->in_bounds = y->out_ptr = y->out_idx = y->out_edge = y->out_bounds = NO_INDEX;
  y->degree[0] = y->degree[1] = NO_INDEX;
  for (int s = 0; s < SPLIT_COUNT; s++) y->rows[s] = NO_INDEX;
  y->field = no_blocks(arena, program->field_count);
  y->weight = no_blocks(arena, program->param_count);
  for (int s = 0; s < MAX_STATES; s++) y->state[s] = no_blocks(arena, program->param_count);

  add_graph(&l, (const Kernels *[2]){training, evaluation});
  find_used_fields(&l, training);
  find_used_fields(&l, evaluation);
  for (int f = 0; f < program->field_count; f++)
    if (l.is_field_used[f]) add_field(&l, f, is_sparse_field[f]);
  add_weights(&l);
  y->resident_count = y->count;
  int64_t base = 0;
  for (int i = 0; i < y->count; i++) {
    y->blocks[i].offset = base;
    base += aligned(y->blocks[i].bytes);
  }
  if (training) add_transients(&l, training, true);
  add_transients(&l, evaluation, false);
  place_transients(&l, base);
  measure(&l);
  return y;
}

const Block *layout_of_value(const Layout *layout, const Kernels *kernels, ValueId value) {
  value = kernels->home[value];
  const Value *v = &kernels->graph->values[value];
  int index = NO_INDEX;
  if (v->op == OP_INPUT) index = layout->field[v->as.index];
  else if (v->op == OP_PARAM) index = layout->weight[v->as.index];
  else if (v->op == OP_DEGREE) index = layout->degree[v->as.end];
  if (index != NO_INDEX) return &layout->blocks[index];
  for (int i = layout->resident_count; i < layout->count; i++)
    if (layout->blocks[i].kernels == kernels && layout->blocks[i].value == value) return &layout->blocks[i];
  return NULL;
}
