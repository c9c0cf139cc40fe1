/* plan: Kernels -> Plan, the fate of every (value, part).
 *
 * Every value that a later step reads is kept on the device from the step that makes it to the last that reads it.
 */
#include "plan.h"

Plan *plan(const Kernels *training) {
  const Graph *graph = training->graph;
  Plan *plan = arena_alloc(graph->arena, sizeof *plan);
  plan->part_count = 1;
  for (int i = 0; i < graph->value_count; i++)
    if (training->is_stored[i])
      ARENA_PUSH(graph->arena, plan->parts, plan->count, (PlannedPart){i, 0, graph_bytes(graph, i), FATE_KEEP});
  return plan;
}
