/* verify_plan, verify_schedule, verify_layout: do the products keep what they promise?
 *
 * Written against the headers alone. The layout check compares every pair of live ranges: quadratic, and so simple that
 * it can be believed.
 */
#include <inttypes.h>

#include "plan.h"

const char *verify_plan(const Plan *plan, const Kernels *training) {
  const Graph *graph = training->graph;
  int *parts_seen = arena_alloc(graph->arena, (size_t)graph->value_count * sizeof *parts_seen + 1);
  for (int i = 0; i < plan->count; i++) {
    const PlannedPart *part = &plan->parts[i];
    if (part->value < 0 || part->value >= graph->value_count) return "a fate for no value";
    if (part->part < 0 || part->part >= plan->part_count) return "a fate for no part";
    parts_seen[part->value]++;
  }
  for (int i = 0; i < graph->value_count; i++)
    if (parts_seen[i] != (training->is_stored[i] ? plan->part_count : 0))
      return arena_printf(graph->arena, "%s has %d fates for %d parts", graph->values[i].name, parts_seen[i], plan->part_count);
  return NULL;
}

const char *verify_schedule(const Schedule *schedule) {
  const Kernels *last = NULL;
  bool *is_made = NULL;
  for (int s = 0; s < schedule->count; s++) {
    const Step *step = &schedule->steps[s];
    const Graph *graph = step->kernels->graph;
    if (step->number != s + 1) return "steps are not numbered from 1";
    if (step->kernels != last) {
      last = step->kernels;
      is_made = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
    }
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    for (int k = 0; k < kernel->input_count; k++) {
      ValueId id = kernel->inputs[k];
      if (op_info[graph->values[id].op].kind != OP_KIND_LEAF && !is_made[id])
        return arena_printf(graph->arena, "step %d reads %s too early", step->number, graph->values[id].name);
    }
    for (int k = 0; k < kernel->output_count; k++) is_made[kernel->outputs[k]] = true;
    if (s > 0 && s != schedule->training_count && step->start_seconds < schedule->steps[s - 1].start_seconds)
      return "a step starts before the one that precedes it";
  }
  return NULL;
}

static const char *check_liveness(Arena *arena, const Layout *layout, const Schedule *schedule) {
  for (int s = 0; s < schedule->count; s++) {
    const Step *step = &schedule->steps[s];
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    for (int k = 0; k < kernel->input_count + kernel->output_count; k++) {
      ValueId id = k < kernel->input_count ? kernel->inputs[k] : kernel->outputs[k - kernel->input_count];
      if (op_info[step->kernels->graph->values[id].op].kind == OP_KIND_LEAF) continue;
      const Block *block = layout_of_value(layout, step->kernels, id);
      if (!block || s < block->first || s > block->last)
        return arena_printf(arena, "step %d uses %s while it has no memory", step->number, step->kernels->graph->values[id].name);
    }
  }
  return NULL;
}

const char *verify_layout(const Layout *layout, const Schedule *schedule) {
  if (schedule->count == 0) return NULL; /* a model that computes nothing: only what it is given lies in the arena */
  Arena *arena = schedule->steps[0].kernels->graph->arena;
  for (int i = 0; i < layout->count; i++) {
    const Block *a = &layout->blocks[i];
    if (a->offset < 0 || a->offset % LAYOUT_ALIGNMENT || a->offset + a->bytes > layout->bytes)
      return arena_printf(arena, "%s lies outside the arena or is not aligned", a->name);
    for (int j = 0; j < i; j++) {
      const Block *b = &layout->blocks[j];
      bool together = a->first <= b->last && b->first <= a->last;
      bool overlap = a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
      if (together && overlap) return arena_printf(arena, "%s and %s share memory at one step", a->name, b->name);
    }
  }
  if (layout->lower_bound > layout->bytes) return "the arena is smaller than what is alive at one step";
  return check_liveness(arena, layout, schedule);
}
