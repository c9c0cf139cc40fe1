/* part_costs: Cost of a kernel -> that of its step over the rows of one part.
 *
 * Parts are cut by edges and rows together, so some have more of the edges and others more of the rows. What a kernel takes for each edge, or for each
 * number of sparse features, each labelled row, follows how many of these a part has; all else follows its rows. Of ranks a part has the most that one of them has there.
 */
#include "plan.h"

static bool is_of_edges(const Graph *graph, ValueId value) { return graph->values[value].shape.domain == DOMAIN_EDGE; }

/* Of sparse features that a product goes over, by rows or by columns; NULL: they are not known by parts. */
static const int64_t *entries_before(const Parts *p, const Kernel *kernel) {
  const Graph *graph = p->kernels->graph;
  for (int k = 0; k < kernel->input_count && !p->ranks; k++) {
    const Value *value = &graph->values[kernel->inputs[k]];
    if (value->op == OP_INPUT && graph->program->fields[value->as.index].nonzeros >= 0) return p->entries[value->as.index].before[kernel->kind == KERNEL_SPARSE_OUTER];
  }
  return NULL;
}

/* [count + 1], of what a kernel goes over row by row: so many are in the parts before. */
static const int64_t *rows_before(const Parts *p, const Kernel *kernel) {
  const Graph *graph = p->kernels->graph;
  const Value *anchor = &graph->values[kernel->anchor];
  const bool is_over_rows = kernel->kind == KERNEL_OUTER || kernel_folds_rows(kernel->kind);
  if (parts_is_halo(p, kernel->anchor)) return p->halo[halo_kind(anchor)].before;
  return is_of_edges(graph, is_over_rows ? anchor->operand[0] : kernel->anchor) ? p->edges[END_DST] : p->first;
}

/* The same of what its anchor goes over. */
static const int64_t *walked_before(const Parts *p, const Kernel *kernel) {
  const int64_t *before = NULL;
  switch (kernel->kind) {
  case KERNEL_SPMM: case KERNEL_EDGE_SUM: case KERNEL_EDGE_MAX: case KERNEL_EDGE_MIN: before = p->edges[graph_walk_end(&p->kernels->graph->values[kernel->anchor])]; break;
  case KERNEL_SPARSE_MATMUL: case KERNEL_SPARSE_OUTER: before = entries_before(p, kernel); break;
  case KERNEL_CROSS_ENTROPY: case KERNEL_CROSS_ENTROPY_GRADIENT: before = p->labelled[SPLIT_TRAIN]; break;
  case KERNEL_MAP: case KERNEL_MATMUL: case KERNEL_OUTER: case KERNEL_ROW_SUM: case KERNEL_COLUMN_SUM: case KERNEL_COLUMN_MAX: case KERNEL_COLUMN_MIN: case KERNEL_CONCAT: case KERNEL_HALO: case KERNEL_BEHIND: case KERNEL_COLUMNS: case KERNEL_BACK:
  case KERNEL_BESIDE: case KERNEL_FOLLOW: case KERNEL_UPDATE: case KERNEL_KIND_COUNT: break;
  }
  return before ? before : rows_before(p, kernel);
}

static double share_of(const Parts *p, const int64_t *before, int part) {
  return before[p->count] > 0 ? (double)(before[part] - before[part - 1]) / (double)before[p->count] : 1.0 / p->count;
}

static double share_of_part(const Parts *p, const Kernel *kernel, Cost cost, int part) {
  return cost.walked * share_of(p, walked_before(p, kernel), part) + (1 - cost.walked) * share_of(p, rows_before(p, kernel), part);
}

Cost cost_of_part(const Parts *p, const Kernel *kernel, Cost cost, int part) {
  const double share = part == 0 ? 1 : share_of_part(p, kernel, cost, part);
  return (Cost){cost.seconds * share, (int64_t)((double)cost.bytes * share), cost.flops * share, cost.walked};
}

bool parts_are_counted(const Parts *p) {
  const DataInfo *info = p->kernels->graph->program->info;
  return (p->ranks ? info->of_all : info)->block_first != NULL;
}
