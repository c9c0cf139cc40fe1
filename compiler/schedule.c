/* schedule: Plan -> Schedule, numbered steps on lanes with their times.
 *
 * With everything kept there is one lane: the kernels in the order fusion gave them, which is an order of execution;
 * updates come last, so that all gradients stand side by side when the backward pass ends.
 */
#include <string.h>

#include "plan.h"

static const char *operand_text(const Kernels *kernels, ValueId id, int depth) {
  const Graph *graph = kernels->graph;
  Arena *arena = graph->arena;
  const Value *value = &graph->values[id];
  const TypedProgram *program = graph->program;
  switch (value->op) {
  case OP_INPUT: return program->fields[value->as.index].name;
  case OP_PARAM: return program->params[value->as.index].name;
  case OP_OPTION: return program->options[value->as.index].name;
  case OP_NUMBER: return arena_printf(arena, "%.6g", value->as.number);
  default: break;
  }
  if (!kernels_is_virtual(kernels, id) || depth == 0) return value->name;
  const char *first = operand_text(kernels, value->operand[0], depth - 1);
  switch (value->op) {
  case OP_BROADCAST: return first;
  case OP_LIFT: return arena_printf(arena, "%s.%s", value->as.end == END_SRC ? "src" : "dst", first);
  case OP_DROPOUT: return arena_printf(arena, "dropout(%s)", first);
  case OP_MAP: {
    const char *name = point_name(value->as.function);
    if (value->operand_count == 1) return arena_printf(arena, "%s(%s)", name, first);
    const char *second = operand_text(kernels, value->operand[1], depth - 1);
    bool is_infix = strchr("+-*/^", name[0]) != NULL;
    return is_infix ? arena_printf(arena, "(%s %s %s)", first, name, second) : arena_printf(arena, "%s(%s, %s)", name, first, second);
  }
  default: return value->name;
  }
}

static const char *describe(const Kernels *kernels, const Kernel *kernel) {
  enum { DEPTH = 4 };
  Arena *arena = kernels->graph->arena;
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  const char *name = anchor->name;
  const char *a = anchor->operand_count > 0 ? operand_text(kernels, anchor->operand[0], DEPTH) : "";
  const char *b = anchor->operand_count > 1 ? operand_text(kernels, anchor->operand[1], DEPTH) : "";
  switch (kernel->kind) {
  case KERNEL_MATMUL:
  case KERNEL_SPARSE_MATMUL: return arena_printf(arena, "%s = %s @ %s", name, a, b);
  case KERNEL_OUTER:
  case KERNEL_SPARSE_OUTER: return arena_printf(arena, "%s = sum over rows of %s^T %s", name, a, b);
  case KERNEL_SPMM:
  case KERNEL_EDGE_SUM: return arena_printf(arena, "%s = sum over %s-edges of %s", name, anchor->as.end == END_DST ? "in" : "out", a);
  case KERNEL_ROW_SUM:
  case KERNEL_COLUMN_SUM: return arena_printf(arena, "%s = sum of %s", name, a);
  case KERNEL_CROSS_ENTROPY: return arena_printf(arena, "loss = cross_entropy(%s, %s)", a, b);
  case KERNEL_CROSS_ENTROPY_GRADIENT: return arena_printf(arena, "%s = derivative of cross_entropy(%s, %s)", name, a, b);
  case KERNEL_UPDATE: return arena_printf(arena, "update of %s", a);
  default: return arena_printf(arena, "%s", kernels->graph->values[kernel->body[kernel->body_count - 1]].name);
  }
}

static double append(Arena *arena, Schedule *schedule, const Machine *machine, const Kernels *kernels, bool updates, double start) {
  for (int i = 0; i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    if ((kernel->kind == KERNEL_UPDATE) != updates) continue;
    Step step = {.number = schedule->count + 1, .lane = LANE_COMPUTE, .kernels = kernels, .kernel = i, .start_seconds = start};
    step.cost = cost_of_kernel(machine, kernels, kernel);
    step.place = kernels->graph->values[kernel->anchor].place;
    step.what = describe(kernels, kernel);
    start += step.cost.seconds;
    ARENA_PUSH(arena, schedule->steps, schedule->count, step);
  }
  return start;
}

Schedule *schedule(Arena *arena, const Plan *plan, const Machine *machine, const Kernels *training, const Kernels *evaluation) {

  Schedule *schedule = arena_alloc(arena, sizeof *schedule);
  for (int i = 0; plan && i < plan->count; i++)
    if (plan->parts[i].fate != FATE_KEEP) return NULL; /* no step moves or repeats anything yet */
  if (training) {
    double backward_end = append(arena, schedule, machine, training, false, 0);
    schedule->backward_end = schedule->count;
    schedule->training_seconds = append(arena, schedule, machine, training, true, backward_end);
  }
  schedule->training_count = schedule->count;
  schedule->evaluation_seconds = append(arena, schedule, machine, evaluation, false, 0);
  return schedule;
}

const char *schedule_phase(const Schedule *schedule, int step) {
  static const char *const phases[] = {"forward", "backward", "update"};
  const Step *s = &schedule->steps[step];
  return step < schedule->training_count ? phases[s->kernels->kernels[s->kernel].phase] : "eval";
}

void schedule_print(const Schedule *schedule, FILE *out) {
  fprintf(out, " step  lane       start ms   took ms  phase      src  what\n");
  for (int s = 0; s < schedule->count; s++) {
    const Step *step = &schedule->steps[s];
    fprintf(out, "%5d  device   %10.4f %9.4f  %-8s %5d  %s\n", step->number, 1e3 * step->start_seconds, 1e3 * step->cost.seconds,
            schedule_phase(schedule, s), (int)step->place.line, step->what);
  }
}
