/* verify_plan, verify_schedule, verify_layout: do the products keep what they promise?
 *
 * Written against the headers alone. The schedule is replayed: what every step reads must be there, made or arrived and
 * waited for. The layout is compared range by range, quadratic and so simple that it can be believed, and what happens to
 * memory is replayed (verify_memory.c). The fates themselves are judged by the
 * planner's checker (planner/check.c), on every plan.
 */
#include <inttypes.h>
#include <string.h>

#include "plan.h"
#include "compiler/planner/judge.h"

const char *verify_plan(const Plan *plan) {
  if (!plan->planned) return NULL;
  const PlanningProblem *problem = plan->problem;
  Arena *arena = arena_new();
  size_t problem_length, length;
  const char *text = planning_problem_text(arena, problem, &problem_length), *planned = plan_write_json(plan->planned, arena, &length);
  bool is_valid = plan->is_valid && text && planner_check_json(text, problem_length, planned, length, NULL, NULL) == PLANNER_CHECK_VALID;
  arena_free(arena);
  if (!is_valid) return "the planner's checker rejects the plan";
  int *seen = arena_alloc(problem->kernels->graph->arena, (size_t)problem->kernels->graph->value_count * sizeof *seen + 1);
  for (int i = 0; i < problem->problem->datum_count; i++)
    if (problem->value_of_datum[i] != NO_VALUE) seen[problem->value_of_datum[i]]++;
  for (int v = 0; v < problem->kernels->graph->value_count; v++)
    if (seen[v] != (problem->kernels->is_stored[v] ? 1 : 0)) return "a stored value is not planned for exactly once";
  return NULL;
}

/* ---- schedule ---- */

typedef enum Whereabouts { NOWHERE, ON_DEVICE, COMING } Whereabouts;

typedef struct Replay {
  Arena *arena;
  const Schedule *schedule;
  const Graph *graph;
  const Kernels *kernels;
  Whereabouts *where; /* per value */
  int *coming_by;     /* per value: the copy that brings it */
  bool *is_queued;    /* per copy */
} Replay;

static void begin(Replay *r, const Kernels *kernels) {
  size_t count = (size_t)kernels->graph->value_count + 1;
  r->kernels = kernels;
  r->graph = kernels->graph;
  r->where = arena_alloc(r->arena, count * sizeof *r->where);
  r->coming_by = arena_alloc(r->arena, count * sizeof *r->coming_by);
}

static const char *replay_kernel(Replay *r, const Step *step) {
  const Kernel *kernel = &r->kernels->kernels[step->kernel];
  for (int k = 0; k < kernel->input_count; k++) {
    ValueId id = r->kernels->storage[kernel->inputs[k]];
    if (op_info[r->graph->values[id].op].kind != OP_KIND_LEAF && r->where[id] != ON_DEVICE)
      return arena_printf(r->arena, "step %d reads %s, which is not on the device", step->number, r->graph->values[id].name);
  }
  for (int k = 0; k < kernel->output_count; k++) r->where[kernel->outputs[k]] = ON_DEVICE;
  return NULL;
}

static const char *replay_copy(Replay *r, const Step *step) {
  const Copy *copy = &r->schedule->copies[step->copy];
  for (int i = 0; i < 2; i++)
    if (copy->after[i] != NO_INDEX && !r->is_queued[copy->after[i]])
      return arena_printf(r->arena, "step %d waits for a copy that is queued later", step->number);
  bool touches_device = copy_touches_device(copy);
  if (copy->is_out && touches_device && r->where[copy->value] != ON_DEVICE)
    return arena_printf(r->arena, "step %d moves %s away, which is not on the device", step->number, r->graph->values[copy->value].name);
  if (!copy->is_out && copy->after[0] == NO_INDEX) return arena_printf(r->arena, "step %d reads what nothing has written", step->number);
  if (!copy->is_out && touches_device) {
    r->where[copy->value] = COMING;
    r->coming_by[copy->value] = step->copy;
  }
  r->is_queued[step->copy] = true;
  return NULL;
}

/* First in, first out: whoever waits for a copy has waited for those before it on its lane. */
static void replay_wait(Replay *r, const Step *step) {
  const Copy *waited = &r->schedule->copies[step->copy];
  for (int v = 0; v < r->graph->value_count; v++)
    if (r->where[v] == COMING && r->coming_by[v] <= step->copy && r->schedule->copies[r->coming_by[v]].lane == waited->lane) r->where[v] = ON_DEVICE;
}

const char *verify_schedule(const Schedule *schedule) {
  if (schedule->count == 0) return NULL;
  Arena *arena = schedule->steps[0].kernels->graph->arena;
  Replay r = {.arena = arena, .schedule = schedule, .is_queued = arena_alloc(arena, (size_t)schedule->copy_count + 1)};
  for (int s = 0; s < schedule->count; s++) {
    const Step *step = &schedule->steps[s];
    if (step->number != s + 1) return "steps are not numbered from 1";
    if (step->kernels != r.kernels) begin(&r, step->kernels);
    const char *fault = NULL;
    if (step->kind == STEP_KERNEL) fault = replay_kernel(&r, step);
    else if (step->kind == STEP_COPY) fault = replay_copy(&r, step);
    else if (!r.is_queued[step->copy]) fault = "a wait comes before its copy";
    else replay_wait(&r, step);
    if (fault) return fault;
  }
  return NULL;
}

/* ---- layout ---- */

static const char *check_liveness(Arena *arena, const Layout *layout, const Schedule *schedule) {
  for (int s = 0; s < schedule->count; s++) {
    const Step *step = &schedule->steps[s];
    if (step->kind != STEP_KERNEL) continue;
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    for (int k = 0; k < kernel->input_count + kernel->output_count; k++) {
      ValueId id = k < kernel->input_count ? kernel->inputs[k] : kernel->outputs[k - kernel->input_count];
      if (op_info[step->kernels->graph->values[step->kernels->storage[id]].op].kind == OP_KIND_LEAF) continue;
      if (!layout_at(layout, step->kernels, id, s))
        return arena_printf(arena, "step %d uses %s while it has no memory", step->number, step->kernels->graph->values[id].name);
    }
  }
  return NULL;
}

static bool share_addresses(const Block *a, const Block *b) { return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes; }

static const char *check_slots(Arena *arena, const Layout *layout, const Schedule *schedule) {
  for (int a = 0; a < schedule->slot_count; a++)
    for (int b = 0; b < a; b++) {
      const Slot *x = &schedule->slots[a], *y = &schedule->slots[b];
      if (x->tier != y->tier || x->first > y->last || y->first > x->last) continue;
      for (int i = layout->slot_extent[a]; i < layout->slot_extent[a + 1]; i++)
        for (int k = layout->slot_extent[b]; k < layout->slot_extent[b + 1]; k++) {
          const Extent *e = &layout->extents[i], *f = &layout->extents[k];
          if (e->at < f->at + f->bytes && f->at < e->at + e->bytes) return arena_printf(arena, "slots %d and %d share a place", a, b);
        }
    }
  return NULL;
}

const char *verify_layout(const Layout *layout, const Schedule *schedule) {
  if (schedule->count == 0) return NULL; /* a model that computes nothing: only what it is given lies in the arena */
  Arena *arena = schedule->steps[0].kernels->graph->arena;
  for (int i = 0; i < layout->count; i++) {
    const Block *a = &layout->blocks[i];
    if (a->offset < 0 || a->offset % layout->residents->alignment || a->offset + a->bytes > layout->bytes)
      return arena_printf(arena, "%s lies outside the arena or is not aligned", a->name);
    for (int j = 0; j < i; j++) {
      const Block *b = &layout->blocks[j];
      bool together = a->first <= b->last && b->first <= a->last;
      if (together && share_addresses(a, b)) return arena_printf(arena, "%s and %s share memory at one step", a->name, b->name);
    }
  }
  if (layout->lower_bound > layout->bytes) return "the arena is smaller than what is alive at one step";
  const char *fault = check_liveness(arena, layout, schedule);
  if (!fault) fault = check_slots(arena, layout, schedule);
  return fault ? fault : verify_memory(arena, schedule, layout);
}
