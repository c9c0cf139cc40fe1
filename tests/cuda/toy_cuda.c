/* toy_cuda.c: the hand-made program for CUDA. */
#include "../runtime/toy.c"

#include "../runtime/tiered.c"

#include "toy_cuda.h"

const char *const toy_mode_names[TOY_MODE_COUNT] = {"plain", "host", "ring"};

typedef enum toy_kernel {
  K_MASK_STATE, K_MASK_X, K_POISON_STATE, K_POISON_X, K_PROJECT, K_PROJECT_EVALUATION, K_FORWARD, K_LOSS, K_BACK_BIAS, K_BACK_FORWARD, K_BACK_WEIGHT, K_UPDATE_WEIGHT,
  K_UPDATE_BIAS, K_MEASURE, K_COUNT
} toy_kernel;
static const char *const toy_kernels[K_COUNT] = {"toy_mask_state", "toy_mask_x", "toy_poison_state", "toy_poison_x", "toy_project_training", "toy_project_evaluation",
  "toy_forward", "toy_loss", "toy_back_bias", "toy_back_forward", "toy_back_weight", "toy_update_weight", "toy_update_bias", "toy_measure"};

#ifdef TOY_IMAGE
#include TOY_IMAGE /* toy_image[], by nvcc */
#else
static const unsigned char toy_image[] = {0};
#endif
gnn_cuda_code toy_code = {.image = toy_image, .image_bytes = sizeof toy_image, .architecture = "sm_90", .kernel_count = K_COUNT, .kernels = toy_kernels};

static toy_mode toy_now;
static int toy_scores_out, toy_scores_in; /* copies of the scores: to the host, and from there to where the loss reads them */

static void toy_launch(gnn_run *run, int step, toy_kernel kernel, int64_t threads) {
  gnn_enter(run, step);
  gnn_launch(run, kernel, (threads + 31) / 32, 32, 0, &(gnn_places){{0}});
  gnn_leave(run, step);
}

static int64_t toy_cells(const gnn_run *run) { return run->nodes * run->program->classes; }

/* Spoilt, out, written over, and on the way back, with as few waits as there may be: the compute waits for what leaves the
 * device, and the host for what must be on the disk before it is read. */
static gnn_status toy_leave(gnn_run *run, int step, tiered_part out, tiered_part in, toy_kernel mask, toy_kernel poison, int64_t bytes) {
  const gnn_copy_desc *copies = run->program->copies;
  int next = in.first, end = in.first + in.count;
  toy_launch(run, step, mask, bytes / 4);
  if (tiered_queue(run, out) != GNN_OK) return GNN_EIO;
  for (int c = out.first; c < out.first + out.count; c++)
    if (copies[c].to.tier != GNN_SSD && gnn_await(run, c) != GNN_OK) return GNN_EIO;
  for (; next < end && copies[next].from.tier == GNN_SSD && next == in.first; next++)
    if (gnn_await(run, out.first + 1) != GNN_OK || gnn_copy(run, next) != GNN_OK) return GNN_EIO;
  toy_launch(run, step, poison, bytes);
  for (; next < end; next++) {
    if (copies[next].from.tier == GNN_SSD && gnn_await(run, out.first + 1 + next - in.first) != GNN_OK) return GNN_EIO;
    if (gnn_copy(run, next) != GNN_OK) return GNN_EIO;
  }
  return GNN_OK;
}

static gnn_status toy_return(gnn_run *run, int step, tiered_part in, toy_kernel mask, int64_t bytes) {
  if (tiered_await(run, in) != GNN_OK) return GNN_EIO;
  toy_launch(run, step, mask, bytes / 4);
  return GNN_OK;
}

/* The way down and the way up follow each other without the compute between them. */
static gnn_status toy_scores_travel(gnn_run *run) {
  const tiered_part both = {toy_scores_out, 2};
  if (tiered_queue(run, both) != GNN_OK) return GNN_EIO;
  return tiered_await(run, both);
}

static gnn_status toy_cuda_forward_backward(gnn_run *run) {
  int64_t cells = toy_cells(run), numbers = run->program->weights[0].count, classes = run->program->classes;
  int is_tiered = toy_now != TOY_PLAIN;
  const struct tiered_plan *plan = &tiered_plan;
  if (is_tiered && toy_leave(run, 1, plan->training_out, plan->training_in, K_MASK_STATE, K_POISON_STATE, plan->state_bytes) != GNN_OK) return GNN_EIO;
  toy_launch(run, 1, K_PROJECT, cells);
  toy_launch(run, 1, K_FORWARD, cells);
  if (is_tiered && toy_scores_travel(run) != GNN_OK) return GNN_EIO;
  toy_launch(run, 1, K_LOSS, 1);
  toy_launch(run, 1, K_BACK_BIAS, classes);
  toy_launch(run, 1, K_BACK_FORWARD, cells);
  toy_launch(run, 1, K_BACK_WEIGHT, numbers);
  return is_tiered ? toy_return(run, 1, plan->training_in, K_MASK_STATE, plan->state_bytes) : GNN_OK;
}

static gnn_status toy_cuda_update(gnn_run *run) {
  toy_launch(run, 1, K_UPDATE_WEIGHT, run->program->weights[0].count);
  toy_launch(run, 1, K_UPDATE_BIAS, run->program->classes);
  return GNN_OK;
}

static gnn_status toy_cuda_evaluate(gnn_run *run) {
  const struct tiered_plan *plan = &tiered_plan;
  if (toy_now != TOY_PLAIN && (toy_leave(run, 2, plan->evaluation_out, plan->evaluation_in, K_MASK_X, K_POISON_X, plan->x_bytes) != GNN_OK ||
                               toy_return(run, 2, plan->evaluation_in, K_MASK_X, plan->x_bytes) != GNN_OK))
    return GNN_EIO;
  toy_launch(run, 2, K_PROJECT_EVALUATION, toy_cells(run));
  if (run->tap) gnn_cuda_tap(run, "projected", (int64_t)run->option[TOY_PROJECTED], run->nodes, run->program->classes, run->program->classes);
  toy_launch(run, 2, K_FORWARD, toy_cells(run));
  if (run->program->has_results) toy_launch(run, 2, K_MEASURE, 1);
  return GNN_OK;
}

static void toy_set(toy_cuda *it, toy_slot slot, int64_t value) { it->options[slot] = (gnn_option_desc){"", "where things lie", (double)value, 0, NULL, 0, 0}; }

static void toy_set_all(toy_cuda *it, int64_t at_spare) {
  const gnn_program *p = &it->toy.program;
  const gnn_weight_desc *weight = p->weights, *bias = &p->weights[1];
  int64_t cells = p->graph.nodes * p->classes * 4;
  toy_set(it, TOY_CLASSES, p->classes);
  toy_set(it, TOY_WIDTH, p->fields[0].width);
  toy_set(it, TOY_X, p->fields[0].at[0]);
  toy_set(it, TOY_X_BYTES, tiered_plan.x_bytes);
  toy_set(it, TOY_Y, p->fields[1].at[0]);
  toy_set(it, TOY_DEGREE, p->graph.sets[0].at_in_degree);
  toy_set(it, TOY_WEIGHT, weight->at);
  toy_set(it, TOY_WEIGHT_BYTES, weight->at_gradient - weight->at);
  toy_set(it, TOY_BIAS, bias->at);
  toy_set(it, TOY_BIAS_BYTES, bias->at_gradient - bias->at);
  toy_set(it, TOY_STATE, weight->at_state[0]);
  toy_set(it, TOY_STATE_BYTES, weight->at_state[1] + weight->count * 4 - weight->at_state[0]);
  toy_set(it, TOY_SCORES, p->at_scores);
  toy_set(it, TOY_PROJECTED, p->at_scores + cells);
  toy_set(it, TOY_BACK, p->at_scores + 2 * cells);
  toy_set(it, TOY_BACK_PROJECTED, p->at_scores + 3 * cells);
  toy_set(it, TOY_LOSS_SCORES, at_spare);
}

static void toy_make_tiered(toy_cuda *it, toy_mode mode) {
  tiered_model *t = &it->tiered;
  int64_t bytes = it->toy.program.graph.nodes * it->toy.program.classes * 4, at_spare = it->toy.program.device_bytes;
  toy_model narrow = it->toy;
  narrow.fields[0].width = 8; /* as much of x leaves as of the state, so that a ring for one piece is short for both */
  tiered_make(t, &narrow, mode == TOY_HOST ? TIERED_HOST : TIERED_RING);
  if (mode == TOY_RING) t->program.ring_bytes = 448;
  gnn_side place = tiered_place(t, GNN_HOST, bytes);
  toy_scores_out = tiered_copy(t, GNN_LANE_D2H, bytes, (gnn_side){GNN_DEVICE, it->toy.program.at_scores, 0}, place, -1, -1);
  toy_scores_in = tiered_copy(t, GNN_LANE_H2D, bytes, place, (gnn_side){GNN_DEVICE, at_spare, 0}, toy_scores_out, -1);
  it->program = t->program;
  it->program.device_bytes = at_spare + (bytes + 63) / 64 * 64;
  toy_set_all(it, at_spare);
}

void toy_cuda_make(toy_cuda *it, const gnn_dataset *dataset, toy_mode mode) {
  static const gnn_step_desc steps[] = {{1, "compute", "forward", "all of training", 1, 0.03, 0, 0}, {2, "compute", "eval", "all of evaluation", 2, 0.01, 0, 0}};
  memset(it, 0, sizeof *it);
  toy_make(&it->toy, dataset, NULL, 0);
  toy_now = mode;
  if (mode == TOY_PLAIN) {
    it->program = it->toy.program;
    it->program.step_count = 2;
    it->program.steps = steps;
    toy_set_all(it, it->program.at_scores);
  } else {
    toy_make_tiered(it, mode);
  }
  memcpy(it->options, it->toy.options, sizeof it->toy.options);
  it->program.options = it->options;
  it->program.option_count = TOY_SLOTS;
  it->program.backend = &gnn_cuda_backend;
  it->program.code = &toy_code;
  it->program.forward_backward = toy_cuda_forward_backward;
  it->program.update = toy_cuda_update;
  it->program.evaluate = toy_cuda_evaluate;
  it->program.in_double = &it->toy.in_double;
  it->program.at_results = (it->program.device_bytes + 63) / 64 * 64;
  it->program.device_bytes = it->program.at_results + 64;
  toy_set(it, TOY_RESULTS, it->program.at_results);
}
