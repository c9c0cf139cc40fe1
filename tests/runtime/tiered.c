/* tiered.c: the hand-made program with values that leave the device and come back. */
#include "tiered.h"

#include <string.h>

const char *const tiered_names[TIERED_MODE_COUNT] = {"host", "ssd", "ring", "mixed"};

typedef struct tiered_part { int first, count; } tiered_part;

/* Which copies each function makes: out of the device, and back. The same in both precisions. */
static struct tiered_plan {
  tiered_part training_out, training_in, evaluation_out, evaluation_in;
  int64_t state_at, state_bytes, x_at, x_bytes;
  gnn_status (*forward_backward[2])(gnn_run *), (*evaluate[2])(gnn_run *);
} tiered_plan;

static int tiered_is_double(const gnn_run *run) { return run->program->real_bytes == 8; }

static gnn_status tiered_queue(gnn_run *run, tiered_part part) {
  for (int c = part.first; c < part.first + part.count; c++)
    if (gnn_copy(run, c) != GNN_OK) return GNN_EIO;
  return GNN_OK;
}

static gnn_status tiered_await(gnn_run *run, tiered_part part) {
  for (int c = part.first; c < part.first + part.count; c++)
    if (gnn_await(run, c) != GNN_OK) return GNN_EIO;
  return GNN_OK;
}

/* Out, written over, and on the way back. */
static gnn_status tiered_move(gnn_run *run, tiered_part out, tiered_part in, int64_t at, int64_t bytes) {
  int64_t scale = run->program->real_bytes / 4;
  if (tiered_queue(run, out) != GNN_OK || tiered_await(run, out) != GNN_OK) return GNN_EIO;
  memset(run->device + at * scale, 0xff, (size_t)(bytes * scale));
  return tiered_queue(run, in);
}

static gnn_status tiered_forward_backward(gnn_run *run) {
  const struct tiered_plan *plan = &tiered_plan;
  if (tiered_move(run, plan->training_out, plan->training_in, plan->state_at, plan->state_bytes) != GNN_OK) return GNN_EIO;
  gnn_enter(run, 1);
  gnn_status status = plan->forward_backward[tiered_is_double(run)](run);
  gnn_leave(run, 1);
  return tiered_await(run, plan->training_in) == GNN_OK ? status : GNN_EIO;
}

static gnn_status tiered_evaluate(gnn_run *run) {
  const struct tiered_plan *plan = &tiered_plan;
  if (tiered_move(run, plan->evaluation_out, plan->evaluation_in, plan->x_at, plan->x_bytes) != GNN_OK ||
      tiered_await(run, plan->evaluation_in) != GNN_OK)
    return GNN_EIO;
  gnn_enter(run, 2);
  gnn_status status = plan->evaluate[tiered_is_double(run)](run);
  gnn_leave(run, 2);
  return status;
}

/* ---- the tables ---- */

static int tiered_copy(tiered_model *t, gnn_lane lane, int64_t bytes, gnn_side from, gnn_side to, int after, int also_after) {
  static const char *const lanes[] = {"compute", "d2h", "h2d", "ssd write", "ssd read"};
  int number = t->program.copy_count++, step = t->program.step_count++;
  t->copies[number] = (gnn_copy_desc){.step = step + 1, .lane = lane, .bytes = bytes, .from = from, .to = to, .after = {after, also_after}};
  t->steps[step] = (gnn_step_desc){step + 1, lanes[lane], t->is_evaluation ? "eval" : "forward", "a copy", 10 + number, 0.02, bytes, 0};
  return number;
}

static int64_t tiered_extent(tiered_model *t, gnn_tier tier, int64_t bytes) {
  int64_t *used = tier == GNN_HOST ? &t->program.host_bytes : &t->program.ssd_bytes, align = tier == GNN_HOST ? 64 : 4096;
  int64_t at = t->program.extent_count++;
  t->extents[at] = (gnn_extent){*used, bytes, 0};
  *used += (bytes + align - 1) / align * align;
  return at;
}

/* In two places, the second part first. */
static gnn_side tiered_place(tiered_model *t, gnn_tier tier, int64_t bytes) {
  int64_t half = bytes / 2 > 4096 ? bytes / 2 / 4096 * 4096 : bytes / 2;
  int64_t first = t->program.extent_count;
  tiered_extent(t, tier, half);
  tiered_extent(t, tier, bytes - half);
  gnn_extent *extents = &t->extents[first], second = extents[1];
  int64_t align = tier == GNN_HOST ? 64 : 4096;
  extents[1].at = extents[0].at;
  extents[0].at = extents[0].at + (second.bytes + align - 1) / align * align;
  return (gnn_side){tier, first, 2};
}

static void tiered_out(tiered_model *t, tiered_mode mode, gnn_side device, gnn_side place, int64_t bytes) {
  if (mode == TIERED_HOST) tiered_copy(t, GNN_LANE_D2H, bytes, device, place, -1, -1);
  if (mode == TIERED_SSD) tiered_copy(t, GNN_LANE_SSD_WRITE, bytes, device, place, -1, -1);
  if (mode != TIERED_RING) return;
  gnn_side ring = {GNN_WRITE_RING, t->write_ring, 0};
  t->write_ring += (bytes + 63) / 64 * 64;
  int filled = tiered_copy(t, GNN_LANE_D2H, bytes, device, ring, t->last_drain, -1);
  t->last_drain = tiered_copy(t, GNN_LANE_SSD_WRITE, bytes, ring, place, filled, -1);
}

static void tiered_in(tiered_model *t, tiered_mode mode, gnn_side device, gnn_side place, int64_t bytes) {
  if (mode == TIERED_HOST) tiered_copy(t, GNN_LANE_H2D, bytes, place, device, -1, -1);
  if (mode == TIERED_SSD) tiered_copy(t, GNN_LANE_SSD_READ, bytes, place, device, -1, -1);
  if (mode != TIERED_RING) return;
  gnn_side ring = {GNN_READ_RING, t->read_ring, 0};
  t->read_ring += (bytes + 63) / 64 * 64;
  int arrived = tiered_copy(t, GNN_LANE_SSD_READ, bytes, place, ring, t->last_arrival, -1);
  t->last_arrival = tiered_copy(t, GNN_LANE_H2D, bytes, ring, device, arrived, -1);
}

/* A value leaves and comes back in three pieces. */
static void tiered_value(tiered_model *t, tiered_mode mode, int64_t at, int64_t bytes, tiered_part *out, tiered_part *in) {
  gnn_side place[TIERED_PIECES];
  int64_t begin[TIERED_PIECES + 1];
  for (int p = 0; p <= TIERED_PIECES; p++) begin[p] = p == TIERED_PIECES ? bytes : bytes * p / TIERED_PIECES / 64 * 64;
  out->first = t->program.copy_count;
  for (int p = 0; p < TIERED_PIECES; p++) {
    tiered_mode own = mode == TIERED_MIXED ? (tiered_mode)p : mode;
    int64_t length = begin[p + 1] - begin[p];
    place[p] = tiered_place(t, own == TIERED_HOST ? GNN_HOST : GNN_SSD, length);
    tiered_out(t, own, (gnn_side){GNN_DEVICE, at + begin[p], 0}, place[p], length);
    int64_t room = (length + 63) / 64 * 64 * 3 / 2 / 64 * 64 + 64;
    if (own == TIERED_RING && room > t->program.ring_bytes) t->program.ring_bytes = room;
  }
  in->first = t->program.copy_count;
  out->count = in->first - out->first;
  for (int p = 0; p < TIERED_PIECES; p++)
    tiered_in(t, mode == TIERED_MIXED ? (tiered_mode)p : mode, (gnn_side){GNN_DEVICE, at + begin[p], 0}, place[p], begin[p + 1] - begin[p]);
  in->count = t->program.copy_count - in->first;
}

void tiered_make(tiered_model *t, const toy_model *toy, tiered_mode mode) {
  struct tiered_plan *plan = &tiered_plan;
  memset(t, 0, sizeof *t);
  t->program = toy->program;
  t->last_drain = t->last_arrival = -1;
  t->program.step_count = 2;
  t->steps[0] = (gnn_step_desc){1, "compute", "forward", "all of training", 1, 0.03, 0, 0};
  t->steps[1] = (gnn_step_desc){2, "compute", "eval", "all of evaluation", 2, 0.01, 0, 0};
  const gnn_weight_desc *weight = &toy->weights[0];
  plan->state_at = weight->at_state[0];
  plan->state_bytes = weight->at_state[1] + weight->count * 4 - plan->state_at;
  plan->x_at = toy->fields[0].at[0];
  plan->x_bytes = toy->program.graph.nodes * toy->fields[0].width * 4;
  plan->forward_backward[0] = toy->program.forward_backward;
  plan->forward_backward[1] = toy->in_double.forward_backward;
  plan->evaluate[0] = toy->program.evaluate;
  plan->evaluate[1] = toy->in_double.evaluate;
  tiered_value(t, mode, plan->state_at, plan->state_bytes, &plan->training_out, &plan->training_in);
  t->is_evaluation = 1;
  tiered_value(t, mode, plan->x_at, plan->x_bytes, &plan->evaluation_out, &plan->evaluation_in);
  t->program.copies = t->copies;
  t->program.extents = t->extents;
  t->program.steps = t->steps;
  t->program.fingerprint = tiered_names[mode];
  t->program.model_fingerprint = toy->program.fingerprint;
  t->program.forward_backward = tiered_forward_backward;
  t->program.evaluate = tiered_evaluate;
  t->in_double = t->program;
  t->in_double.real_bytes = 8;
  t->in_double.update = toy->in_double.update;
  t->program.in_double = &t->in_double;
}
