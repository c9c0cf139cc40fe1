/* verify_plan, verify_schedule, verify_layout: do the products keep what they promise?
 *
 * Written against the headers alone. The schedule is replayed: what every step reads must be there, made or arrived and
 * waited for. The layout is compared range by range, quadratic and so simple that it can be believed, and what happens to
 * memory is replayed (verify_memory.c). The fates are judged by the planner's
 * judge (planner/judge.c), on every plan.
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
    if (problem->value_of_datum[i] != NO_VALUE) {
      ValueId value = problem->value_of_datum[i];
      seen[value]++;
      if (problem->problem->data[i].chunks != parts_piece_count(problem->parts, value)) return "a value is not planned for by its parts";
    }
  for (int v = 0; v < problem->kernels->graph->value_count; v++)
    if (seen[v] != (problem->kernels->is_stored[v] && !resident_of_value(problem->residents, problem->kernels->graph, v) ? 1 : 0) && !(seen[v] == 1 && resident_away(problem->residents, problem->kernels->graph, v) >= 0)) return "a stored value is not planned for exactly once";
  return NULL;
}

/* ---- schedule ---- */

typedef enum Whereabouts { NOWHERE, ON_DEVICE, COMING } Whereabouts;

typedef struct Replay {
  Arena *arena;
  const Schedule *schedule;
  const Graph *graph;
  const Kernels *kernels;
  const Parts *parts;
  int pieces;         /* the most that a value has */
  Whereabouts *where; /* per value and piece */
  int *coming_by;     /* the same: the copy that brings it */
  int *part_done;     /* per kernel that sums by parts or writes what is not cut: the last part so far */
  bool *is_queued;    /* per copy */
} Replay;

static void begin(Replay *r, const Kernels *kernels, const Parts *parts) {
  r->pieces = 1;
  for (int v = 0; v < kernels->graph->value_count; v++)
    if (parts_piece_count(parts, v) > r->pieces) r->pieces = parts_piece_count(parts, v);
  size_t count = (size_t)(kernels->graph->value_count + 1) * (size_t)(r->pieces + 1);
  r->kernels = kernels;
  r->graph = kernels->graph;
  r->parts = parts;
  r->part_done = arena_alloc(r->arena, (size_t)(kernels->kernel_count + 1) * sizeof *r->part_done);
  r->where = arena_alloc(r->arena, count * sizeof *r->where);
  r->coming_by = arena_alloc(r->arena, count * sizeof *r->coming_by);
}

static int index_of(const Replay *r, ValueId value, int piece) { return value * (r->pieces + 1) + piece; }

/* What is not cut is there when the last part has been; sums are added up in the order of the parts. */
static const char *replay_output(Replay *r, const Step *step, ValueId id) {
  if (step->part == 0 || r->parts->is_cut[id]) {
    for (int k = 0, piece; (piece = parts_piece_written(r->parts, id, step->part, k)) != NO_INDEX; k++) r->where[index_of(r, id, piece)] = ON_DEVICE;
    return NULL;
  }
  if (step->is_rerun || step->part != r->part_done[step->kernel] + 1) return arena_printf(r->arena, "step %d comes before other parts of %s", step->number, r->graph->values[id].name);
  if (step->part == r->parts->count) r->where[index_of(r, id, 0)] = ON_DEVICE;
  return NULL;
}

static const char *replay_kernel(Replay *r, const Step *step) {
  const Kernel *kernel = &r->kernels->kernels[step->kernel];
  const char *fault = NULL;
  if (step->part == 0 && parts_make_table(r->parts, kernel)) { /* what others gather of it leaves */
    const int index = index_of(r, kernel->anchor, 0);
    return r->part_done[step->kernel] == r->parts->count && r->where[index] == ON_DEVICE ? NULL : arena_printf(r->arena, "step %d sends rows that are not there", step->number);
  }
  if ((step->part > 0) != r->parts->is_by_parts[step->kernel] || step->part > r->parts->count) return arena_printf(r->arena, "step %d is of no part of its kernel", step->number);
  for (int k = 0; k < kernel->input_count; k++) {
    ValueId id = r->kernels->storage[kernel->inputs[k]];
    const bool is_made = op_info[r->graph->values[id].op].kind != OP_KIND_LEAF;
    for (int k_piece = 0, piece; is_made && (piece = parts_piece_read(r->parts, kernel, id, step->part, k_piece)) != NO_INDEX; k_piece++)
      if (r->where[index_of(r, id, piece)] != ON_DEVICE) return arena_printf(r->arena, "step %d reads %s, which is not on the device", step->number, parts_name(r->parts, id, r->graph->values[id].name, piece));
  }
  for (int k = 0; k < kernel->output_count && !fault; k++) fault = replay_output(r, step, kernel->outputs[k]);
  r->part_done[step->kernel] = step->part;
  return fault;
}

static const char *replay_copy(Replay *r, const Step *step) {
  const Copy *copy = &r->schedule->copies[step->copy];
  for (int i = 0; i < 2; i++)
    if (copy->after[i] != NO_INDEX && !r->is_queued[copy->after[i]])
      return arena_printf(r->arena, "step %d waits for a copy that is queued later", step->number);
  bool touches_device = copy_touches_device(copy);
  int index = index_of(r, copy->value, copy->part);
  if ((copy->part > 0) != r->parts->is_cut[copy->value] || copy->part > (copy->part ? parts_piece_count(r->parts, copy->value) : 0)) return arena_printf(r->arena, "step %d moves no piece of %s", step->number, r->graph->values[copy->value].name);
  if (copy->is_out && touches_device && r->where[index] != ON_DEVICE)
    return arena_printf(r->arena, "step %d moves %s away, which is not on the device", step->number, parts_name(r->parts, copy->value, r->graph->values[copy->value].name, copy->part));
  if (copy_is_exchange(copy) && r->where[index] != ON_DEVICE) return arena_printf(r->arena, "step %d exchanges rows of what is not on the device", step->number);
  if (!copy_is_exchange(copy) && !copy->is_out && copy->after[0] == NO_INDEX && !r->schedule->slots[copy->slot].is_home) return arena_printf(r->arena, "step %d reads what nothing has written", step->number);
  if (!copy->is_out && touches_device) {
    r->where[index] = COMING;
    r->coming_by[index] = step->copy;
  }
  r->is_queued[step->copy] = true;
  return NULL;
}

/* First in, first out: whoever waits for a copy has waited for those before it on its lane. */
static void replay_wait(Replay *r, const Step *step) {
  const Copy *waited = &r->schedule->copies[step->copy];
  for (int v = 0; v < r->graph->value_count * (r->pieces + 1); v++)
    if (r->where[v] == COMING && r->coming_by[v] <= step->copy && r->schedule->copies[r->coming_by[v]].lane == waited->lane) r->where[v] = ON_DEVICE;
}

const char *verify_schedule(const Schedule *schedule) {
  if (schedule_step_count(schedule) == 0) return NULL;
  Arena *arena = schedule->steps[0].kernels->graph->arena;
  Replay r = {.arena = arena, .schedule = schedule, .is_queued = arena_alloc(arena, (size_t)schedule->copy_count + 1)};
  for (int s = 0; s < schedule_step_count(schedule); s++) {
    const Step *step = &schedule->steps[s];
    if (step->number != s + 1) return "steps are not numbered from 1";
    if (step->kernels != r.kernels) begin(&r, step->kernels, step->parts);
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
  for (int s = 0; s < schedule_step_count(schedule); s++) {
    const Step *step = &schedule->steps[s];
    if (step->kind != STEP_KERNEL) continue;
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    for (int k = 0; k < kernel->input_count + kernel->output_count; k++) {
      ValueId id = k < kernel->input_count ? kernel->inputs[k] : kernel->outputs[k - kernel->input_count];
      if (op_info[step->kernels->graph->values[step->kernels->storage[id]].op].kind == OP_KIND_LEAF) continue;
      if (k >= kernel->input_count && !parts_stores(step->parts, id, step->part)) continue;
      for (int n = 0, piece; (piece = k < kernel->input_count ? parts_piece_read(step->parts, kernel, id, step->part, n) : parts_piece_written(step->parts, id, step->part, n)) != NO_INDEX; n++) {
        const Block *block = layout_at(layout, step->kernels, id, piece, s);
        if (!block || (block->part != piece && block->away == 0) || block->bytes < parts_bytes(step->parts, step->kernels->storage[id], piece))
          return arena_printf(arena, "step %d uses %s while it has no memory", step->number, parts_name(step->parts, id, step->kernels->graph->values[id].name, piece));
      }
    }
    const Block *sums = layout_of_sums(layout, schedule, s);
    if (parts_sums_bytes(step->parts, kernel) > (sums ? sums->bytes : 0)) return arena_printf(arena, "step %d has nowhere to add to", step->number);
  }
  return NULL;
}

static bool share_addresses(const Block *a, const Block *b) { return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes; }

/* On the SSD all of it are the parts, one after the other. */
static bool is_at_home(const Layout *layout, const Schedule *schedule, int slot) {
  const Slot *home = &schedule->slots[slot];
  const Residents *residents = layout->residents;
  const Parts *parts = schedule->evaluation_plan->problem->parts;
  const int in_file = parts_of_away(parts, &residents->away[home->away]), count = home->tier == TIER_SSD && home->part == 0 ? in_file : 1;
  if (layout->slot_extent[slot + 1] - layout->slot_extent[slot] != count || parts_home(parts, residents, home->away, home->part) != home->tier) return false;
  int64_t bytes = 0;
  for (int k = 0; k < count; k++) {
    const Extent *extent = &layout->extents[layout->slot_extent[slot] + k];
    if (extent->at != parts_away_at(parts, residents, home->away, count > 1 ? k + 1 : home->part)) return false;
    bytes += extent->bytes;
  }
  return bytes == home->bytes;
}

static const char *check_slots(Arena *arena, const Layout *layout, const Schedule *schedule) {
  for (int h = 0; h < schedule->slot_count; h++)
    if (schedule->slots[h].is_home && !is_at_home(layout, schedule, h)) return arena_printf(arena, "slot %d is not where its data lie", h);
  for (int a = 0; a < schedule->slot_count; a++)
    for (int b = 0; b <= a; b++) { /* the extents of one slot lie apart, too */
      const Slot *x = &schedule->slots[a], *y = &schedule->slots[b];
      if (x->tier != y->tier || (x->is_home && y->is_home && x->away == y->away) || x->first > y->last || y->first > x->last) continue;
      for (int i = layout->slot_extent[a]; i < layout->slot_extent[a + 1]; i++)
        for (int k = layout->slot_extent[b]; k < layout->slot_extent[b + 1] && k != i; k++) {
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
      bool together = a->first <= b->until && b->first <= a->until && a->first <= a->until && b->first <= b->until;
      if (together && share_addresses(a, b)) return arena_printf(arena, "%s and %s share memory at one step", a->name, b->name);
    }
  }
  if (layout->lower_bound > layout->bytes) return "the arena is smaller than what is alive at one step";
  const char *fault = check_liveness(arena, layout, schedule);
  if (!fault) fault = check_slots(arena, layout, schedule);
  if (fault) return fault;
  Arena *scratch = arena_new();
  fault = verify_memory(scratch, schedule, layout);
  if (fault) fault = arena_strdup(arena, fault);
  arena_free(scratch);
  return fault;
}
