/* places: which result of a kernel may lie where an operand of it does.
 *
 * A body reads an operand of its own shape at the element that it computes, before it stores anything there. Where the operand is read nowhere else, neither by the anchor nor at other rows, and by no later kernel, its memory can
 * be the result's. Whether it is the planner decides (S17 of docs/planner.md).
 */
#include <string.h>

#include "fuse.h"

typedef struct Reads {
  const Kernels *kernels;
  int index;
  bool *is_elsewhere; /* per value: read at another element than the one that is computed */
  int *seen;          /* per value: 1 when met at the element itself, 2 when met elsewhere; 0 before */
} Reads;

/* What the value takes of the operands of its kernel; at_element: it is wanted at the element that is computed. */
static void note_reads(Reads *r, ValueId id, bool at_element) {
  const Kernels *kernels = r->kernels;
  const Value *value = &kernels->graph->values[id];
  const int mark = at_element ? 1 : 2;
  if (r->seen[id] >= mark) return;
  r->seen[id] = mark;
  if (kernels->storage[id] != id) at_element = false; /* other dimensions of the same numbers */
  if (!at_element) r->is_elsewhere[kernels->storage[id]] = true;
  const bool is_computed_here = kernels_is_virtual(kernels, id) || (kernels->made_by[id] == r->index && op_info[value->op].kind == OP_KIND_POINT);
  if (!is_computed_here) return;
  if (op_moves(value->op)) at_element = false;
  for (int k = 0; k < value->operand_count; k++) note_reads(r, value->operand[k], at_element);
}

/* A sum within a row has read all of it before the body begins. */
static void note_anchor(Reads *r, const Kernel *kernel) {
  const Value *anchor = &r->kernels->graph->values[kernel->anchor];
  for (int k = 0; k < anchor->operand_count && kernel->kind != KERNEL_MAP; k++) note_reads(r, anchor->operand[k], kernel->kind == KERNEL_ROW_SUM);
  if (kernel_sums_rows_too(kernel)) note_reads(r, r->kernels->graph->values[kernel->body[0]].operand[0], false);
}

/* A library leaves the product in the memory of an output before our kernel reads the other operands of the body; only the addend has
 * been read by then. */
static bool may_follow_library(const Reads *r, const Kernel *kernel, ValueId made, ValueId under) {
  const Epilogue *epilogue = &kernel->epilogue;
  if (kernel->library == LIBRARY_NONE) return true;
  if ((made == epilogue->place) != (under == epilogue->addend)) return false;
  if (made != epilogue->place) return true;
  Reads rest = {r->kernels, r->index, arena_alloc(r->kernels->graph->arena, (size_t)r->kernels->graph->value_count + 1),
                arena_alloc(r->kernels->graph->arena, (size_t)(r->kernels->graph->value_count + 1) * sizeof(int))};
  rest.seen[epilogue->result] = 2; /* the library has computed it, and all before */
  for (int b = epilogue->body_count; b < kernel->body_count; b++) note_reads(&rest, kernel->body[b], true);
  return rest.seen[under] == 0;
}

static bool may_lie_over(const Reads *r, const Kernel *kernel, ValueId made, ValueId under) {
  const Kernels *kernels = r->kernels;
  const Value *values = kernels->graph->values;
  if (kernels->made_by[under] == NO_INDEX || !kernels->is_stored[under] || r->is_elsewhere[under] || !r->seen[under]) return false;
  if (values[made].shape.domain == DOMAIN_NONE || values[made].shape.element != ELEMENT_REAL || !shape_equal(&values[made].shape, &values[under].shape)) return false;
  if (kernels_is_half(kernels, made) != kernels_is_half(kernels, under) || graph_is_result(kernels->graph, under)) return false;
  if (kernels_row_stride(kernels, made) != kernels_row_stride(kernels, under)) return false;
  return may_follow_library(r, kernel, made, under);
}

void choose_places(Kernels *kernels, bool is_placing) {
  const Graph *graph = kernels->graph;
  Arena *arena = graph->arena;
  size_t count = (size_t)graph->value_count + 1;
  int *last_reader = arena_alloc(arena, count * sizeof *last_reader);
  for (int i = 0; i < kernels->kernel_count; i++)
    for (int k = 0; k < kernels->kernels[i].input_count; k++) last_reader[kernels->kernels[i].inputs[k]] = i;
  for (int i = 0; i < kernels->kernel_count; i++) {
    Kernel *kernel = &kernels->kernels[i];
    kernel->over = arena_alloc(arena, (size_t)(kernel->output_count + 1) * sizeof *kernel->over);
    for (int k = 0; k < kernel->output_count; k++) kernel->over[k] = NO_VALUE;
    Stage stages[MOST_STAGES]; /* of several, later ones read rows after earlier ones have stored theirs */
    if (!is_placing || (!kernel_sums_rows_too(kernel) && (kernel_info[kernel->kind].body == BODY_NOWHERE || kernel_stages(kernels, kernel, stages) > 1))) continue;
    Reads reads = {kernels, i, arena_alloc(arena, count), arena_alloc(arena, count * sizeof *reads.seen)};
    note_anchor(&reads, kernel);
    memset(reads.seen, 0, count * sizeof *reads.seen);
    for (int b = 0; b < kernel->body_count; b++) note_reads(&reads, kernel->body[b], true);
    bool *is_taken = arena_alloc(arena, count);
    for (int k = 0; k < kernel->output_count; k++)
      for (int n = 0; n < kernel->input_count && kernel->over[k] == NO_VALUE; n++) {
        ValueId under = kernel->inputs[n];
        if (last_reader[under] != i || is_taken[under] || !may_lie_over(&reads, kernel, kernel->outputs[k], under)) continue;
        kernel->over[k] = under;
        is_taken[under] = true;
      }
  }
}

bool kernel_shares_place(const Kernel *kernel, ValueId value) {
  for (int k = 0; k < kernel->output_count; k++)
    if (kernel->over[k] != NO_VALUE && (kernel->outputs[k] == value || kernel->over[k] == value)) return true;
  return false;
}
