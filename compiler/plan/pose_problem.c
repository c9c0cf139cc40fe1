/* pose_problem: Kernels -> Problem, what the planner plans.
 *
 * One datum for each resident block and for each stored value, one op for each kernel in the order of execution.
 * Residents have the home "device"; parts (pieces.c) are chunks. Forward kernels are pure functions (dropout is a function of
 * seed, epoch and place), so all of them may be run again. An SSD that the device reaches itself has no staging: the
 * d2h and h2d lanes are then the SSD's, and what follows them costs nothing.
 */
#include <math.h>
#include <string.h>

#include "plan.h"
#include "compiler/version.h"
#include "runtime/core/scratch.h"

enum { RING_MOST_BYTES = 64 << 20, SSD_LEAST_BYTES = 64 << 10, SSD_LEAST_PIECE_BYTES = 16 << 10, ROUNDING_FELT = 64 };
static const int64_t free_bandwidth = 9000000000000000000; /* of a lane that costs nothing: a nanosecond, as times are rounded up */

/* What passes between the device and an SSD behind the host takes of the host's budget. */
typedef struct Staging {
  int64_t most; /* of a piece that may go by it */
  int64_t ring; /* each of the two */
  int64_t bytes; /* rings and buffers; 0 where there is no host tier to count them in */
} Staging;

typedef struct Describing {
  Arena *arena;
  const Machine *machine;
  const Residents *residents;
  const Kernels *kernels;
  const Graph *graph;
  const Pins *pins;
  const Parts *parts;
  const ValueRole *roles;
  PlanningProblem *planning;
  Problem *problem;
  int *datum_of_block, *datum_of_value, *datum_of_sums; /* NO_INDEX: none */
  Staging staging;
  int64_t all_bytes;
  int piece_count;
} Describing;

static int64_t ssd_bytes(const Machine *machine, int64_t unit, int pieces) {
  int64_t rounding = unit < SSD_BLOCK_BYTES ? (int64_t)pieces * SSD_BLOCK_BYTES : 0; /* there they fill whole blocks */
  int64_t bytes = machine->tier_bytes[TIER_SSD];
  return bytes > rounding ? bytes - rounding : 0;
}

static int64_t planned_bytes(const Describing *d, ValueId value, int part) {
  int64_t bytes = parts_bytes(d->parts, value, part);
  return round_up(bytes > 0 ? bytes : 1, d->planning->unit);
}

static void describe_hardware(const Describing *d) {
  const Machine *m = d->machine;
  Problem *p = d->problem;
  bool is_direct = machine_reaches_ssd(m);
  for (int l = LANE_D2H; l < LANE_COUNT; l++) {
    Link link = is_direct ? (l == LANE_D2H   ? m->links[LANE_SSD_WRITE]
                             : l == LANE_H2D ? m->links[LANE_SSD_READ]
                                             : (Link){0})
                          : m->links[l];
    ProblemLane *lane = &p->lanes[l];
    if (l == LANE_NET && !d->graph->program->info->is_of_rank) continue;
    lane->is_present = true;
    lane->bandwidth = link.bandwidth >= 1 ? (int64_t)link.bandwidth : free_bandwidth;
    lane->latency_ns = llround(1e9 * link.latency);
  }
  const int64_t ring = is_direct ? 2 * d->all_bytes : d->staging.ring;
  p->device_bytes = m->tier_bytes[TIER_DEVICE];
  const bool is_evaluation = !d->graph->is_training && !d->graph->once_count;
  const int64_t on_host = parts_away_host_bytes(d->parts, d->residents) + (is_evaluation ? d->residents->scores_host_bytes : 0) + d->staging.bytes;
  p->host_bytes = m->tier_bytes[TIER_HOST] > on_host ? m->tier_bytes[TIER_HOST] - on_host : 0;
  const int64_t ssd = ssd_bytes(m, d->planning->unit, d->piece_count), at_home = parts_away_ssd_bytes(d->parts, d->residents);
  p->ssd_bytes = ssd > at_home ? ssd - at_home : 0;
  p->ring_bytes = ring > 0 ? ring : SSD_BLOCK_BYTES;
  p->devices = 1;
}

/* Of those that live nowhere. */
static bool is_gradient_of_weight(const Graph *graph, ValueId value) {
  for (int p = 0; graph->gradients && p < graph->program->param_count; p++)
    if (graph->gradients[p] == value && graph->values[value].shape.domain == DOMAIN_NONE) return true;
  return false;
}

static int64_t largest_piece(const Parts *parts, ValueId value) {
  const int count = parts_piece_count(parts, value);
  int64_t most = 0;
  for (int k = 0; k < count; k++) {
    const int64_t bytes = parts_bytes(parts, value, count > 1 ? k + 1 : 0);
    if (bytes > most) most = bytes;
  }
  return round_up(most, SSD_BLOCK_BYTES);
}

/* It, and a piece of it where it is cut, is worth a way there, and passes the ring. */
static bool is_for_ssd(const Describing *d, ValueId value) {
  const int64_t bytes = kernels_bytes(d->kernels, value);
  return d->machine->tier_bytes[TIER_SSD] > 0 && bytes >= SSD_LEAST_BYTES && bytes / parts_piece_count(d->parts, value) >= SSD_LEAST_PIECE_BYTES &&
         (machine_reaches_ssd(d->machine) || largest_piece(d->parts, value) <= d->staging.most);
}

/* What may become of a value: the gradients of weights stand side by side when the backward pass ends. */
static unsigned allowed_fates(const Describing *d, ValueId value) {
  unsigned fates = FATE_ALL;
  if (d->machine->tier_bytes[TIER_HOST] == 0) fates &= ~FATE_BIT(FATE_HOST);
  if (!is_for_ssd(d, value)) fates &= ~FATE_BIT(FATE_SSD);
  if (d->graph->values[value].phase != PHASE_FORWARD) fates &= ~FATE_BIT(FATE_RECOMPUTE);
  if (is_gradient_of_weight(d->graph, value)) fates = FATE_BIT(FATE_KEEP);
  if (d->pins && d->pins->fates[value]) fates = d->pins->fates[value];
  return fates;
}

static int add_datum(Describing *d, ProblemDatum datum, ValueId value, int32_t sums_of) {
  Problem *p = d->problem;
  int count = p->datum_count, same_count = count;
  if (datum.chunks == 0) datum.chunks = 1;
  ARENA_PUSH(d->arena, d->planning->value_of_datum, count, value);
  ARENA_PUSH(d->arena, d->planning->sums_of_datum, same_count, sums_of);
  ARENA_PUSH(d->arena, p->data, p->datum_count, datum);
  return p->datum_count - 1;
}

/* The epoch updates it: a weight on nodes, or what the optimiser keeps of one. */
static bool is_changed(const Describing *d, ValueId v) {
  const Value *value = &d->graph->values[v];
  return value->op == OP_STATE || (value->op == OP_PARAM && d->graph->gradients && d->graph->gradients[value->as.index] != NO_VALUE);
}

/* What stays on the host or the SSD is there before the first step, what was not written need not be stored, and what was is there again in the end. */
static void describe_value(Describing *d, ValueId v) {
  PlanningProblem *p = d->planning;
  const int away = resident_away(d->residents, d->graph, v);
  const Tier tier = away == NO_INDEX ? TIER_NONE : d->residents->away[away].tier;
  const bool is_result = graph_is_result(d->graph, v), is_away = away != NO_INDEX && !is_result, has_tier = away != NO_INDEX && d->machine->tier_bytes[tier] > 0;
  const char *base = arena_printf(d->arena, "%s%s", d->graph->is_training ? "" : d->graph->once_count ? "once_" : "eval_", is_away ? d->residents->away[away].name : d->graph->values[v].name);
  p->name_of_value[v] = block_unique_name(d->arena, &d->residents->names, base);
  ProblemDatum datum = {.id = p->name_of_value[v], .home = away == NO_INDEX || (is_result && has_tier) ? TIER_NONE : has_tier ? tier : TIER_DEVICE,
                        .is_final = has_tier && (is_result || is_changed(d, v)), .fates = is_away ? FATE_ALL : allowed_fates(d, v), .chunks = parts_piece_count(d->parts, v), .role = d->roles[v]};
  int64_t *bytes = arena_alloc(d->arena, (size_t)datum.chunks * sizeof *bytes);
  for (int k = 0; k < datum.chunks; k++) {
    bytes[k] = planned_bytes(d, v, datum.chunks > 1 ? k + 1 : 0);
    datum.bytes += bytes[k];
  }
  if (datum.chunks > 1) datum.chunk_bytes = bytes;
  if (has_tier && is_result && !machine_reaches_ssd(d->machine)) datum.end = tier; /* where d2h is a lane of the SSD it ends there in any case */
  if (has_tier && d->parts->cached && d->parts->cached->is_on_host[away]) {
    Tier *homes = arena_alloc(d->arena, (size_t)datum.chunks * sizeof *homes);
    for (int k = 0; k < datum.chunks; k++) homes[k] = parts_home(d->parts, d->residents, away, k + 1);
    if (is_result) datum.chunk_end = homes;
    else datum.home = homes[0], datum.chunk_home = homes;
  }
  d->all_bytes += datum.bytes;
  d->piece_count += datum.chunks;
  d->datum_of_value[v] = add_datum(d, datum, v, NO_INDEX);
}

/* What is open between the parts of a sum stays where it is. */
static void describe_sums(Describing *d, int kernel) {
  int64_t bytes = parts_sums_bytes(d->parts, &d->kernels->kernels[kernel]);
  d->datum_of_sums[kernel] = NO_INDEX;
  if (bytes == 0) return;
  const char *what = d->graph->values[d->kernels->kernels[kernel].anchor].name;
  const char *name = block_unique_name(d->arena, &d->residents->names, arena_printf(d->arena, "%ssums_of_%s", d->graph->is_training ? "" : "eval_", what));
  d->datum_of_sums[kernel] =
      add_datum(d, (ProblemDatum){.id = name, .bytes = round_up(bytes, d->planning->unit), .home = TIER_NONE, .fates = FATE_BIT(FATE_KEEP)}, NO_VALUE, kernel);
}

static bool is_read(const Kernels *kernels, ValueId v) {
  for (int k = 0; k < kernels->kernel_count; k++)
    for (int i = 0; i < kernels->kernels[k].input_count; i++)
      if (kernels->kernels[k].inputs[i] == v) return true;
  return false;
}

/* What kernels store, but for what stays in its place on the device, and what they read of what is away. */
static bool is_planned_for(const Describing *d, ValueId v) {
  if (d->kernels->is_stored[v]) return !resident_of_value(d->residents, d->graph, v);
  return resident_away(d->residents, d->graph, v) >= 0 && is_read(d->kernels, v);
}

static void describe_data(Describing *d) {
  PlanningProblem *p = d->planning;
  Arena *arena = d->arena;
  const bool is_before = d->kernels == d->residents->once_kernels; /* there is more before the first epoch */
  int stays = 0;
  d->datum_of_block = arena_alloc(arena, (size_t)(d->residents->count + 1) * sizeof *d->datum_of_block);
  d->datum_of_value = arena_alloc(arena, (size_t)(d->graph->value_count + 1) * sizeof *d->datum_of_value);
  for (int i = 0; i < d->residents->count; i++) stays += is_before || d->residents->blocks[i].first != BEFORE_STEPS;
  for (int i = 0; i < d->residents->count; i++) d->datum_of_block[i] = NO_INDEX;
  const int64_t all = d->residents->bytes + (is_before ? d->residents->early_bytes : 0);
  for (int i = 0; i < stays; i++) {
    const Block *block = &d->residents->blocks[i];
    int64_t bytes = block->room;
    if (i == stays - 1) bytes += round_up(all, p->unit) - all; /* values begin at a unit */
    d->datum_of_block[i] = add_datum(d, (ProblemDatum){.id = block->name, .bytes = bytes, .home = TIER_DEVICE, .fates = FATE_ALL}, NO_VALUE, NO_INDEX);
  }
  p->name_of_value = arena_alloc(arena, (size_t)(d->graph->value_count + 1) * sizeof *p->name_of_value);
  for (int v = 0; v < d->graph->value_count; v++) {
    d->datum_of_value[v] = NO_INDEX;
    if (is_planned_for(d, v)) describe_value(d, v);
  }
  d->datum_of_sums = arena_alloc(arena, (size_t)(d->kernels->kernel_count + 1) * sizeof *d->datum_of_sums);
  for (int k = 0; k < d->kernels->kernel_count; k++) describe_sums(d, k);
}

/* The datum in whose memory a value lies; NO_INDEX for what has none. */
static int datum_of(const Describing *d, ValueId value) {
  ValueId stored = d->kernels->storage[value];
  const Block *resident = resident_of_value(d->residents, d->graph, stored);
  return resident ? d->datum_of_block[resident - d->residents->blocks] : d->datum_of_value[stored];
}

static void add_access(const Describing *d, ProblemAccess **list, int *count, int datum) {
  if (datum != NO_INDEX) ARENA_PUSH(d->arena, *list, *count, (ProblemAccess){.datum = datum});
}

static void add_block(const Describing *d, ProblemOp *op, int block) {
  if (block != NO_INDEX) add_access(d, &op->writes, &op->write_count, d->datum_of_block[block]);
}

/* What an update writes: weights and their states, on the device or by the rows of parts. */
static void add_updated(const Describing *d, ProblemOp *op, const Kernel *kernel) {
  for (int b = -1; kernel->kind == KERNEL_UPDATE && b < kernel->body_count; b++) {
    const Value *update = &d->graph->values[b < 0 ? kernel->anchor : kernel->body[b]];
    const int32_t param = update->as.index;
    add_block(d, op, d->residents->weight[param]);
    for (int s = 0; s < MAX_STATES; s++) add_block(d, op, d->residents->state[s][param]);
    for (int k = 0; k < update->operand_count && value_is_update_of_nodes(update); k++)
      if (k == 0 || d->graph->values[update->operand[k]].op == OP_STATE) add_access(d, &op->writes, &op->write_count, d->datum_of_value[update->operand[k]]);
  }
}

/* What stays is written once. */
static bool writes_resident(const Describing *d, const ProblemOp *op) {
  bool does = false;
  for (int k = 0; k < op->write_count; k++) {
    const int datum = op->writes[k].datum;
    does = does || (d->planning->value_of_datum[datum] == NO_VALUE && d->planning->sums_of_datum[datum] == NO_INDEX);
  }
  return does;
}

/* What an op computes: seconds of `work` for all chunks, of which each has a share of its own, and some that all take alike. */
typedef struct Compute {
  Cost work;
  double alike;
} Compute;

/* Shares of parts that nobody counted are even. */
static void set_compute(const Describing *d, const ProblemOp *op, Compute compute, int32_t kernel, ProblemStage *stage) {
  *stage = (ProblemStage){.lane = LANE_COMPUTE, .amount = llround(1e9 * (compute.work.seconds + compute.alike))};
  if (op->chunks == 1 || !parts_are_counted(d->parts)) return;
  int64_t *each = arena_alloc(d->arena, (size_t)op->chunks * sizeof *each);
  stage->chunk_amounts = each;
  stage->amount = 0;
  for (int k = 0; k < op->chunks; k++) {
    each[k] = llround(1e9 * (cost_of_part(d->parts, &d->kernels->kernels[kernel], compute.work, k + 1).seconds + compute.alike / op->chunks));
    stage->amount += each[k];
  }
}

/* exchange: that follows; of no seconds: none does. */
static void add_op(const Describing *d, ProblemOp op, Compute compute, ExchangeCost exchange, int64_t work_bytes, int32_t kernel) {
  Problem *p = d->problem;
  const bool exchanges = exchange.seconds > 0;
  int count = p->op_count;
  ProblemStage *stage = arena_alloc(d->arena, 2 * sizeof *stage);
  if (op.chunks == 0) op.chunks = 1;
  set_compute(d, &op, compute, kernel, &stage[0]);
  stage[1] = (ProblemStage){.lane = LANE_NET, .amount = llround(1e9 * exchange.seconds)};
  op.variants = arena_alloc(d->arena, sizeof *op.variants);
  op.variants[0] = (ProblemVariant){.name = exchanges ? exchange_variant(&d->kernels->kernels[kernel], exchange.passes_host) : "default", .stages = stage, .stage_count = 1 + exchanges, .work_bytes = work_bytes};
  op.variant_count = 1;
  op.can_recompute = op.phase == PROBLEM_PHASE_FORWARD && !writes_resident(d, &op) && !(exchanges && exchange_boundary(d->kernels, &d->kernels->kernels[kernel]) != BOUNDARY_EXACT); /* there is one such exchange in an epoch */
  ARENA_PUSH(d->arena, d->planning->kernel_of_op, count, kernel);
  ARENA_PUSH(d->arena, p->ops, p->op_count, op);
}

/* Which pieces of halos each chunk of the kernel's op touches. */
static ProblemAccess halo_access(const Describing *d, const Kernel *kernel, ValueId value, bool is_written) {
  const Parts *parts = d->parts;
  ProblemAccess access = {.datum = datum_of(d, value), .kind = PROBLEM_ACCESS_LIST, .list_start = arena_alloc(d->arena, (size_t)(parts->count + 1) * sizeof(int))};
  int count = 0;
  for (int part = 1; part <= parts->count; part++) {
    for (int k = 0, piece; (piece = is_written ? parts_piece_written(parts, value, part, k) : parts_piece_read(parts, kernel, value, part, k)) != NO_INDEX; k++)
      ARENA_PUSH(d->arena, access.list, count, piece - 1);
    access.list_start[part] = count;
  }
  return access;
}

/* Of a value that is written over another: where both are cut alike, or neither the op nor they are. */
static int datum_under(const Describing *d, const Kernel *kernel, int output, const ProblemOp *op) {
  if (kernel->over[output] == NO_VALUE) return NO_INDEX;
  const int made = d->datum_of_value[kernel->outputs[output]], under = datum_of(d, kernel->over[output]);
  if (made == NO_INDEX || under == NO_INDEX) return NO_INDEX;
  const ProblemDatum *data = d->problem->data;
  const bool is_alike = data[made].chunks == data[under].chunks && data[made].bytes == data[under].bytes && data[made].home == TIER_NONE && data[under].home == TIER_NONE;
  return is_alike && (op->chunks == 1 || op->chunks == data[made].chunks) ? under : NO_INDEX;
}

/* Written by the last of an op's chunks. */
static void add_last(const Describing *d, ProblemOp *op, int datum) {
  ProblemAccess access = {.datum = datum, .kind = PROBLEM_ACCESS_LIST, .list = arena_alloc(d->arena, sizeof(int)),
                          .list_start = arena_alloc(d->arena, (size_t)(op->chunks + 1) * sizeof(int))};
  access.list_start[op->chunks] = 1;
  ARENA_PUSH(d->arena, op->writes, op->write_count, access);
}

/* Of a table that is made part by part: what others gather of it is put side by side, and leaves, and theirs come. */
static void describe_exchange(const Describing *d, int index) {
  const Kernel *kernel = &d->kernels->kernels[index];
  ProblemOp op = {.id = arena_printf(d->arena, "%d: what leaves of %s", index + 1, d->graph->values[kernel->anchor].name), .phase = d->problem->ops[d->problem->op_count - 1].phase};
  add_access(d, &op.writes, &op.write_count, datum_of(d, kernel->anchor));
  add_op(d, op, (Compute){cost_of_sending(d->machine, kernel), 0}, exchange_of_kernel(d->machine, d->kernels, kernel), round_up(parts_work_bytes(d->parts, kernel, 0), d->planning->unit), index);
}

static void describe_op(const Describing *d, int index) {
  static const ProblemPhase phases[] = {[PHASE_FORWARD] = PROBLEM_PHASE_FORWARD, [PHASE_BACKWARD] = PROBLEM_PHASE_BACKWARD, [PHASE_UPDATE] = PROBLEM_PHASE_OPTIMISER};
  const Kernel *kernel = &d->kernels->kernels[index];
  const char *what = kernel_what(d->kernels, kernel);
  bool is_by_parts = d->parts->is_by_parts[index];
  ProblemOp op = {.id = arena_printf(d->arena, "%d: %s", index + 1, what), .phase = phases[kernel->phase], .chunks = is_by_parts ? d->parts->count : 1};
  for (int k = 0; k < kernel->input_count; k++) {
    if (parts_is_halo(d->parts, kernel->inputs[k])) ARENA_PUSH(d->arena, op.reads, op.read_count, halo_access(d, kernel, kernel->inputs[k], false));
    else {
      add_access(d, &op.reads, &op.read_count, datum_of(d, kernel->inputs[k]));
      if (parts_gathers(d->parts, kernel, kernel->inputs[k])) op.reads[op.read_count - 1].kind = PROBLEM_ACCESS_ALL;
    }
  }
  for (int k = 0; k < kernel->output_count; k++) {
    if (parts_is_halo(d->parts, kernel->outputs[k])) ARENA_PUSH(d->arena, op.writes, op.write_count, halo_access(d, kernel, kernel->outputs[k], true));
    else if (is_by_parts && !parts_stores(d->parts, kernel->outputs[k], 1)) add_last(d, &op, datum_of(d, kernel->outputs[k]));
    else {
      add_access(d, &op.writes, &op.write_count, datum_of(d, kernel->outputs[k]));
      op.writes[op.write_count - 1].over = datum_under(d, kernel, k, &op) + 1;
    }
  }
  add_access(d, &op.writes, &op.write_count, d->datum_of_sums[index]);
  add_updated(d, &op, kernel);
  if (kernel->kind == KERNEL_FOLLOW) add_block(d, &op, d->residents->weight[d->graph->values[d->graph->values[kernel->anchor].operand[0]].as.index]);
  double rows = 1; /* that are copied, of those there are */
  const bool is_table = parts_make_table(d->parts, kernel);
  if (kernel->kind == KERNEL_HALO && d->parts->count > 1 && !d->parts->ranks) rows = (double)parts_bytes(d->parts, kernel->anchor, 0) / (double)kernels_bytes(d->kernels, kernel->anchor);
  Compute compute = {cost_of_kernel(d->machine, d->kernels, kernel, kernel_said(d->kernels, kernel)), (op.chunks - 1) * d->machine->step_seconds};
  compute.work.seconds *= rows;
  if (is_table) compute.work.seconds = fmax(0, compute.work.seconds - cost_of_sending(d->machine, kernel).seconds);
  add_op(d, op, compute, is_table ? (ExchangeCost){0} : exchange_of_kernel(d->machine, d->kernels, kernel), round_up(parts_work_bytes(d->parts, kernel, is_by_parts), d->planning->unit), index);
  if (is_table) describe_exchange(d, index);
}

/* Updates come last, so that all gradients stand side by side when the backward pass ends. */
static void describe_ops(const Describing *d) {
  for (int is_update = 0; is_update < 2; is_update++)
    for (int k = 0; k < d->kernels->kernel_count; k++)
      if ((d->kernels->kernels[k].phase == PHASE_UPDATE) == is_update) describe_op(d, k);
  if (d->graph->is_training || d->graph->once_count) return;
  ProblemOp scores = {.id = "metrics and predictions", .phase = PROBLEM_PHASE_BACKWARD};
  if (resident_away(d->residents, d->graph, d->graph->scores) == NO_INDEX) add_access(d, &scores.reads, &scores.read_count, datum_of(d, d->graph->scores)); /* a model may return what it is given */
  add_op(d, scores, (Compute){{0}, 0}, (ExchangeCost){0}, 0, NO_INDEX);
}

/* ---- staging ---- */

static int64_t bytes_of_staging(int64_t ring, int64_t most) { return most > 0 ? 2 * (ring + gnn_scratch_buffer_bytes(most)) : 0; }

int64_t planning_home_staging(const Machine *machine, const Residents *residents, const Parts *parts, CachedData data) {
  int64_t most = 0;
  if (machine->tier_bytes[TIER_SSD] == 0 || machine_reaches_ssd(machine)) return 0;
  for (int i = 0; i < residents->away_count; i++) {
    const Away *away = &residents->away[i];
    const int count = parts_of_away(parts, away);
    for (int k = 1; (away->tier == TIER_SSD || resident_is_of(residents, i, data)) && k <= count; k++) {
      const int64_t bytes = round_up(parts_bytes_of_away(parts, away, count > 1 ? k : 0), SSD_BLOCK_BYTES);
      if (bytes > most) most = bytes;
    }
  }
  return bytes_of_staging(most, most);
}

/* What is at home there, or may go there in pieces that pass the ring. */
static int64_t largest_by_ring(const Describing *d) {
  int64_t most = 0;
  for (int v = 0; v < d->graph->value_count; v++) {
    if (!is_planned_for(d, v)) continue;
    const int away = resident_away(d->residents, d->graph, v);
    const bool is_at_home = away != NO_INDEX && d->residents->away[away].tier == TIER_SSD && d->machine->tier_bytes[TIER_SSD] > 0;
    const int64_t bytes = is_at_home || (away == NO_INDEX && (allowed_fates(d, v) & FATE_BIT(FATE_SSD))) ? largest_piece(d->parts, v) : 0;
    if (bytes > most && (is_at_home || bytes <= d->staging.most)) most = bytes;
  }
  return most;
}

/* The largest piece that passes a ring as large as itself and the buffers beside, of whole blocks. */
static int64_t most_within(int64_t room) {
  int64_t good = 0, bad = room / SSD_BLOCK_BYTES + 1;
  while (bad - good > 1) {
    const int64_t blocks = good + (bad - good) / 2, bytes = blocks * SSD_BLOCK_BYTES;
    if (bytes <= room - gnn_scratch_buffer_bytes(bytes)) good = blocks;
    else bad = blocks;
  }
  return good * SSD_BLOCK_BYTES;
}

/* Rings for what goes to the SSD by way of the host: of four of the largest pieces, up to 64 MiB, if that leaves half of the host; at least of one. Values whose pieces need more than the host to pass do not go there.
 * All that shares the memory, the epoch, evaluations and what runs before, has the same rings. */
static Staging staging_of(Describing d, int parts) {
  const Machine *m = d.machine;
  const Residents *y = d.residents;
  if (m->tier_bytes[TIER_SSD] == 0 || machine_reaches_ssd(m)) return (Staging){0};
  const int64_t at_home = parts_away_host_bytes(d.parts, y) + y->scores_host_bytes, host = m->tier_bytes[TIER_HOST];
  const int64_t room = host == 0 ? INT64_MAX : host > at_home ? (host - at_home) / 2 : 0; /* of one direction; without a host tier nobody counts */
  int64_t largest = 0;
  d.staging.most = host == 0 ? INT64_MAX : most_within(room);
  for (int r = -1; r < y->reader_count; r++) {
    if (r >= 0 && y->readers[r] == d.kernels) continue;
    Describing of = d;
    if (r >= 0) of.kernels = y->readers[r], of.graph = of.kernels->graph, of.pins = of.graph->is_training ? d.pins : NULL, of.parts = parts_of(d.arena, of.kernels, y, parts);
    const int64_t bytes = largest_by_ring(&of);
    if (bytes > largest) largest = bytes;
  }
  Staging s = {.most = d.staging.most > largest ? d.staging.most : largest, .ring = 4 * largest < RING_MOST_BYTES ? 4 * largest : RING_MOST_BYTES};
  const int64_t beside = gnn_scratch_buffer_bytes(largest);
  if (host > 0 && s.ring > room / 2 - beside) s.ring = (room / 2 - beside) / SSD_BLOCK_BYTES * SSD_BLOCK_BYTES;
  if (s.ring < largest) s.ring = largest;
  if (host > 0) s.bytes = bytes_of_staging(s.ring, largest);
  return s;
}

/* ---- the whole ---- */

static PlanningProblem *describe(Describing d, int64_t unit, const char *fingerprint, ProblemError *error) {
  PlanningProblem *p = arena_alloc(d.arena, sizeof *p);
  *p = (PlanningProblem){.kernels = d.kernels, .residents = d.residents, .parts = d.parts, .unit = unit, .staging_bytes = d.staging.bytes};
  p->meta = (ProblemMeta){3, {{"generator", "generated by gnncc " GNNCC_VERSION}, {"target", d.machine->name}, {"fingerprint", fingerprint}}};
  if (machine_reaches_ssd(d.machine)) p->meta.pairs[p->meta.count++].key = "ssd", p->meta.pairs[3].text = "direct"; /* d2h and h2d are its lanes */
  d.planning = p;
  d.problem = problem_new(d.arena);
  d.problem->name = d.graph->program->name;
  describe_data(&d);
  describe_ops(&d);
  describe_hardware(&d);
  order_by_parts(d.arena, d.problem, p);
  order_by_exchanges(d.arena, d.problem);
  p->problem = d.problem;
  return problem_expand(d.problem, d.arena, error) ? p : NULL;
}

/* Whether whole blocks of the SSD are less than a part in ROUNDING_FELT more than the values that fill them. */
static bool fits_blocks(const Kernels *kernels, const Parts *parts) {
  int64_t all = 0, rounding = 0;
  for (int v = 0; v < kernels->graph->value_count; v++)
    for (int piece = parts->is_cut[v]; kernels->is_stored[v] && piece <= (parts->is_cut[v] ? parts_piece_count(parts, v) : 0); piece++) {
      int64_t bytes = parts_bytes(parts, v, piece);
      all += bytes;
      rounding += round_up(bytes, SSD_BLOCK_BYTES) - bytes;
    }
  return rounding < all / ROUNDING_FELT;
}

/* What is cached on a host, where there is one. It is found with everything at home on the SSD, once for each number of parts. */
static const Cached *cached_of(Arena *arena, const Machine *machine, const Residents *residents, int parts, const char *fingerprint) {
  const struct Cache *cache = &residents->cache;
  if (cache->bytes == 0 || machine->tier_bytes[TIER_HOST] == 0 || machine->tier_bytes[TIER_SSD] == 0) return NULL;
  const Parts **of = arena_alloc(arena, (size_t)residents->reader_count * sizeof *of);
  for (int r = 0; r < residents->reader_count; r++) of[r] = parts_of(arena, residents->readers[r], residents, parts);
  const Cached **cached = &cache->of_parts[of[0]->levels];
  if (*cached) return *cached;
  ProblemError error = {"", ""};
  const Describing d = {.arena = arena, .machine = machine, .residents = residents, .kernels = residents->readers[0], .graph = residents->readers[0]->graph, .parts = of[0], .roles = roles_of(arena, residents->readers[0])};
  const PlanningProblem *p = describe(d, residents->alignment, fingerprint, &error);
  if (p) *cached = cached_parts(arena, p, of);
  return *cached;
}

const Parts *planning_parts(Arena *arena, const Machine *machine, const Residents *residents, const Kernels *kernels, int parts, const char *fingerprint) {
  Parts *p = parts_of(arena, kernels, residents, parts);
  p->cached = cached_of(arena, machine, residents, parts, fingerprint);
  return p;
}

/* With an SSD, values fill whole blocks of it and begin at one, so that it reads and writes them where they lie; not
 * where they are so small that rounding would be felt, or where everything can be kept. */
PlanningProblem *planning_problem(Arena *arena, const Machine *machine, const Residents *residents, const Kernels *kernels,
                                  const Pins *pins, int parts, const char *fingerprint, ProblemError *error) {
  Describing d = {.arena = arena, .machine = machine, .residents = residents, .kernels = kernels, .graph = kernels->graph, .pins = pins,
                  .parts = planning_parts(arena, machine, residents, kernels, parts, fingerprint), .roles = roles_of(arena, kernels)};
  d.staging = staging_of(d, parts);
  PlanningProblem *p = describe(d, residents->alignment, fingerprint, error);
  if (!p || machine->tier_bytes[TIER_SSD] == 0 || !fits_blocks(kernels, d.parts) || !geometry_make(p->problem, arena)->is_over_budget) return p;
  return describe(d, SSD_BLOCK_BYTES, fingerprint, error);
}

bool planning_has_order(const PlanningProblem *problem, ExchangeOrder order) {
  const bool is_whole = problem->parts->count == 1; /* whose steps are ordered by exchanges alone */
  return order == ORDER_AS_MADE || (problem->parts->ranks && (is_whole ? order == ORDER_OF_GRAPH && problem->problem->order : order != ORDER_OF_GRAPH));
}

/* Steps, pieces and times are those of the problem in its own order, in which it was expanded before. */
const PlanningProblem *planning_problem_in_order(Arena *arena, const PlanningProblem *problem, ExchangeOrder order) {
  if (order == ORDER_AS_MADE) return problem;
  ProblemError error;
  PlanningProblem *p = arena_alloc(arena, sizeof *p);
  Problem *ordered = arena_alloc(arena, sizeof *ordered);
  *p = *problem;
  *ordered = *problem->problem;
  if (order == ORDER_OF_GRAPH) ordered->order = NULL, ordered->order_count = 0;
  else order_ahead(arena, ordered, order);
  p->problem = ordered;
  return problem_expand(ordered, arena, &error) ? p : problem;
}

int problem_part_of_piece(const PlanningProblem *p, int piece) {
  const ProblemPiece *of = &p->problem->pieces[piece];
  return p->problem->data[of->datum].chunks > 1 ? of->chunk + 1 : 0;
}

const char *problem_piece_name(const PlanningProblem *p, ValueId value, int part) { return parts_name(p->parts, value, p->name_of_value[value], part); }

const char *planning_problem_text(Arena *arena, const PlanningProblem *problem, size_t *length) {
  return problem_write_json(problem->problem, &problem->meta, arena, length);
}
