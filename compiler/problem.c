/* problem: Kernels -> gnncc-problem/1, what the planner plans.
 *
 * One datum for each resident block and for each stored value, one op for each kernel in the order of execution.
 * Residents have the home "device"; a value is one piece. Forward kernels are pure functions (dropout is a function of
 * seed, epoch and place), so all of them may be run again. An SSD that the device reaches itself has no staging: the
 * d2h and h2d channels are then the SSD's, and what follows them costs nothing.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "version.h"

enum { RING_MOST_BYTES = 64 << 20, SSD_LEAST_BYTES = 64 << 10, ROUNDING_FELT = 64 };

static int64_t ssd_bytes(const Machine *machine, int64_t unit, int values) {
  int64_t rounding = unit < SSD_BLOCK_BYTES ? (int64_t)values * SSD_BLOCK_BYTES : 0; /* there they fill whole blocks */
  int64_t bytes = machine->tier_bytes[TIER_SSD];
  return bytes > rounding ? bytes - rounding : 0;
}
#define FREE_BANDWIDTH 9000000000000000000 /* of a channel that costs nothing: a nanosecond, as times are rounded up */

typedef struct Describing {
  Arena *arena;
  const Machine *machine;
  const Residents *residents;
  const Kernels *kernels;
  const Graph *graph;
  const Pins *pins;
  PlanningProblem *problem;
  int64_t largest_bytes, all_bytes;
  int value_count;
} Describing;

static int64_t planned_bytes(const Describing *d, ValueId value) {
  int64_t bytes = kernels_bytes(d->kernels, value);
  return round_up(bytes > 0 ? bytes : 1, d->problem->unit);
}

static json_t *channel(double bandwidth, double latency) {
  json_int_t rate = bandwidth >= 1 ? (json_int_t)bandwidth : FREE_BANDWIDTH;
  return json_pack("{s:I, s:I}", "bw", rate, "lat_ns", (json_int_t)llround(1e9 * latency));
}

static json_t *hardware(const Describing *d) {
  static const char *const names[CHANNEL_COUNT] = {"d2h", "h2d", "ssdw", "ssdr"};
  const Machine *m = d->machine;
  bool is_direct = machine_reaches_ssd(m);
  json_t *channels = json_object();
  for (int c = 0; c < CHANNEL_COUNT; c++) {
    Link link = is_direct ? (c == CHANNEL_D2H   ? m->links[CHANNEL_SSD_WRITE]
                             : c == CHANNEL_H2D ? m->links[CHANNEL_SSD_READ]
                                                : (Link){0})
                          : m->links[c];
    json_object_set_new(channels, names[c], channel(link.bandwidth, link.latency));
  }
  int64_t ring = 4 * d->largest_bytes < RING_MOST_BYTES ? 4 * d->largest_bytes : RING_MOST_BYTES;
  if (ring < d->largest_bytes) ring = d->largest_bytes;
  if (is_direct) ring = 2 * d->all_bytes;
  return json_pack("{s:I, s:I, s:I, s:I, s:i, s:o}", "device_bytes", (json_int_t)m->tier_bytes[TIER_DEVICE], "host_bytes",
                   (json_int_t)m->tier_bytes[TIER_HOST], "ssd_bytes", (json_int_t)ssd_bytes(m, d->problem->unit, d->value_count), "ring_bytes",
                   (json_int_t)(ring > 0 ? ring : SSD_BLOCK_BYTES), "devices", 1, "channels", channels);
}

static bool is_gradient_of_weight(const Graph *graph, ValueId value) {
  for (int p = 0; graph->gradients && p < graph->program->param_count; p++)
    if (graph->gradients[p] == value) return true;
  return false;
}

/* What may become of a value: the gradients of weights stand side by side when the backward pass ends. */
static unsigned allowed_fates(const Describing *d, ValueId value) {
  unsigned fates = PLAN_FATE_ALL;
  if (d->machine->tier_bytes[TIER_HOST] == 0) fates &= ~PLAN_FATE_BIT(PLAN_FATE_HOST);
  if (d->machine->tier_bytes[TIER_SSD] == 0 || kernels_bytes(d->kernels, value) < SSD_LEAST_BYTES) fates &= ~PLAN_FATE_BIT(PLAN_FATE_SSD);
  if (d->graph->values[value].phase != PHASE_FORWARD) fates &= ~PLAN_FATE_BIT(PLAN_FATE_RECOMPUTE);
  if (is_gradient_of_weight(d->graph, value)) fates = PLAN_FATE_BIT(PLAN_FATE_RETAIN);
  if (d->pins && d->pins->fates[value]) fates = d->pins->fates[value];
  return fates;
}

static json_t *fates_list(unsigned fates) {
  static const char *const names[PLAN_FATE_COUNT] = {"retain", "host", "ssd", "recompute"};
  json_t *list = json_array();
  for (int f = 0; f < PLAN_FATE_COUNT; f++)
    if (fates & PLAN_FATE_BIT(f)) json_array_append_new(list, json_string(names[f]));
  return list;
}

static json_t *data(Describing *d) {
  json_t *list = json_array();
  PlanningProblem *p = d->problem;
  Arena *arena = d->arena;
  int count = 0, stays = 0;
  for (int i = 0; i < d->residents->count; i++) stays += d->residents->blocks[i].first != BEFORE_STEPS;
  for (int i = 0; i < stays; i++) {
    const Block *block = &d->residents->blocks[i];
    int64_t bytes = block->room;
    if (i == stays - 1) bytes += round_up(d->residents->bytes, p->unit) - d->residents->bytes; /* values begin at a unit */
    json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "id", block->name, "bytes", (json_int_t)bytes, "home", "device"));
    ARENA_PUSH(arena, p->value_of_datum, count, NO_VALUE);
  }
  p->name_of_value = arena_alloc(arena, (size_t)(d->graph->value_count + 1) * sizeof *p->name_of_value);
  for (int v = 0; v < d->graph->value_count; v++) {
    if (!d->kernels->is_stored[v]) continue;
    const char *base = arena_printf(arena, "%s%s", d->graph->is_training ? "" : "eval_", d->graph->values[v].name);
    p->name_of_value[v] = block_unique_name(arena, &d->residents->names, base);
    int64_t bytes = planned_bytes(d, v);
    d->all_bytes += bytes;
    d->value_count++;
    unsigned fates = allowed_fates(d, v);
    if ((fates & PLAN_FATE_BIT(PLAN_FATE_SSD)) && bytes > d->largest_bytes) d->largest_bytes = bytes;
    json_t *item = json_pack("{s:s, s:I}", "id", p->name_of_value[v], "bytes", (json_int_t)bytes);
    if (fates != PLAN_FATE_ALL) json_object_set_new(item, "fates", fates_list(fates));
    json_array_append_new(list, item);
    ARENA_PUSH(arena, p->value_of_datum, count, v);
  }
  return list;
}

static void add_block(json_t *list, const Residents *residents, int block) {
  if (block != NO_INDEX) json_array_append_new(list, json_string(residents->blocks[block].name));
}

static json_t *op(const Describing *d, int index) {
  static const char *const phases[] = {"fwd", "bwd", "opt"};
  const Kernel *kernel = &d->kernels->kernels[index];
  json_t *reads = json_array(), *writes = json_array();
  for (int k = 0; k < kernel->input_count; k++) {
    ValueId home = d->kernels->home[kernel->inputs[k]];
    const Block *resident = resident_of_value(d->residents, d->graph, home);
    const char *name = resident ? resident->name : d->problem->name_of_value[home];
    if (name) json_array_append_new(reads, json_string(name));
  }
  for (int k = 0; k < kernel->output_count; k++) json_array_append_new(writes, json_string(d->problem->name_of_value[kernel->outputs[k]]));
  for (int b = -1; kernel->kind == KERNEL_UPDATE && b < kernel->body_count; b++) {
    int32_t param = d->graph->values[b < 0 ? kernel->anchor : kernel->body[b]].as.index;
    add_block(writes, d->residents, d->residents->weight[param]);
    for (int s = 0; s < MAX_STATES; s++) add_block(writes, d->residents, d->residents->state[s][param]);
  }
  Cost cost = cost_of_kernel(d->machine, d->kernels, kernel, kernel_what(d->kernels, kernel));
  return json_pack("{s:s, s:s, s:o, s:o, s:I, s:I}", "id",
                   arena_printf(d->arena, "%d: %s", index + 1, kernel_what(d->kernels, kernel)), "phase", phases[kernel->phase], "reads",
                   reads, "writes", writes, "ns", (json_int_t)llround(1e9 * cost.seconds), "work", (json_int_t)round_up(kernel->work_bytes, d->problem->unit));
}

/* Updates come last, so that all gradients stand side by side when the backward pass ends. */
static json_t *ops(Describing *d) {
  json_t *list = json_array();
  int count = 0;
  for (int is_update = 0; is_update < 2; is_update++)
    for (int k = 0; k < d->kernels->kernel_count; k++) {
      if ((d->kernels->kernels[k].kind == KERNEL_UPDATE) != is_update) continue;
      json_array_append_new(list, op(d, k));
      ARENA_PUSH(d->arena, d->problem->kernel_of_op, count, k);
    }
  if (d->graph->is_training) return list;
  ValueId home = d->kernels->home[d->graph->scores];
  const Block *given = resident_of_value(d->residents, d->graph, home); /* a model may return what it is given */
  const char *scores = given ? given->name : d->problem->name_of_value[home];
  json_array_append_new(list, json_pack("{s:s, s:s, s:[s], s:[], s:i}", "id", "metrics and predictions", "phase", "bwd", "reads", scores, "writes", "ns", 0));
  ARENA_PUSH(d->arena, d->problem->kernel_of_op, count, NO_INDEX);
  return list;
}

static PlanningProblem *describe(Describing d, int64_t unit, const char *fingerprint, ProblemError *error) {
  PlanningProblem *p = arena_alloc(d.arena, sizeof *p);
  p->kernels = d.kernels;
  p->unit = unit;
  d.problem = p;
  json_t *all_data = data(&d), *all_ops = ops(&d);
  json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:o, s:{s:s, s:s, s:s}}", "format", "gnncc-problem/1", "name", d.graph->program->name, "hardware",
                           hardware(&d), "data", all_data, "ops", all_ops, "meta", "generator", "generated by gnncc " GNNCC_VERSION, "target",
                           d.machine->name, "fingerprint", fingerprint);
  if (root && machine_reaches_ssd(d.machine)) json_object_set_new(json_object_get(root, "meta"), "ssd", json_string("direct")); /* d2h and h2d are its lanes */
  char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
  json_decref(root);
  if (!text) {
    problem_fail(error, "", "the problem cannot be written as JSON: a name is not UTF-8");
    return NULL;
  }
  p->text = arena_printf(d.arena, "%s\n", text);
  p->length = strlen(p->text);
  free(text);
  p->problem = problem_read_json(d.arena, p->text, p->length, error);
  return p->problem ? p : NULL;
}

/* Whether whole blocks of the SSD are less than a part in ROUNDING_FELT more than the values that fill them. */
static bool fits_blocks(const Kernels *kernels) {
  int64_t all = 0, rounding = 0;
  for (int v = 0; v < kernels->graph->value_count; v++) {
    if (!kernels->is_stored[v]) continue;
    int64_t bytes = kernels_bytes(kernels, v);
    all += bytes;
    rounding += round_up(bytes, SSD_BLOCK_BYTES) - bytes;
  }
  return rounding < all / ROUNDING_FELT;
}

/* With an SSD, values fill whole blocks of it and begin at one, so that it reads and writes them where they lie; not
 * where they are so small that rounding would be felt, or where everything can be kept. */
PlanningProblem *planning_problem(Arena *arena, const Machine *machine, const Residents *residents, const Kernels *kernels,
                                  const Pins *pins, const char *fingerprint, ProblemError *error) {
  Describing d = {.arena = arena, .machine = machine, .residents = residents, .kernels = kernels, .graph = kernels->graph, .pins = pins};
  PlanningProblem *p = describe(d, residents->alignment, fingerprint, error);
  if (!p || machine->tier_bytes[TIER_SSD] == 0 || !fits_blocks(kernels) || !geometry_make(p->problem, arena)->is_over_budget) return p;
  return describe(d, SSD_BLOCK_BYTES, fingerprint, error);
}
