/* weights.c: weights where they are at home. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "weights.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "home.h"
#include "ranks.h"

void *gnn_weight_at(const gnn_instance *instance, const gnn_weight_desc *weight, int state) {
  const int64_t at = state == GNN_WEIGHT_BEST ? weight->at_best : state == GNN_WEIGHT_ITSELF ? weight->at : weight->at_state[state];
  if (weight->home.extent_count) return NULL;
  return weight->is_on_host ? instance->tiers.base[GNN_HOST] + at * (instance->run.program->real_bytes / 4) : gnn_instance_at(instance, at);
}

static const gnn_side *weight_side(const gnn_weight_desc *weight, int state) {
  return state == GNN_WEIGHT_BEST ? &weight->home_best : state == GNN_WEIGHT_ITSELF ? &weight->home : &weight->home_state[state];
}

/* ---- of ranks ---- */

static int64_t weight_first_row(const gnn_ranks *ranks, const gnn_weight_desc *weight, int rank) {
  const gnn_ranks_desc *desc = ranks->desc;
  return weight->rows_of == 0 ? desc->first[rank] : gnn_block_share(desc->part_levels, desc->first_part[rank], weight->shape[0]);
}

int64_t gnn_weight_own(const gnn_instance *instance, const gnn_weight_desc *weight, int64_t *first) {
  const gnn_ranks *ranks = instance->run.ranks;
  *first = 0;
  if (!weight->has_own_rows || weight->shape[0] == 0) return weight->count;
  const int64_t width = weight->count / weight->shape[0];
  *first = weight_first_row(ranks, weight, ranks->rank) * width;
  return weight_first_row(ranks, weight, ranks->rank + 1) * width - *first;
}

void gnn_weight_gather_copy(gnn_instance *instance, const gnn_weight_desc *weight, void *all) {
  gnn_ranks *ranks = instance->run.ranks;
  int64_t first[GNN_RANKS_MOST + 1];
  for (int r = 0; r <= ranks->count; r++) first[r] = weight_first_row(ranks, weight, r);
  if (weight->shape[0]) ranks->desc->net->gather(ranks, 0, all, first, weight->count / weight->shape[0] * instance->run.program->real_bytes);
}

enum { WEIGHT_COPIES = 1 + sizeof ((gnn_weight_desc *)0)->at_state / sizeof *((gnn_weight_desc *)0)->at_state };

static int weight_number(const gnn_instance *instance, const gnn_weight_desc *weight, int state) { return (int)(weight - instance->run.program->weights) * WEIGHT_COPIES + state + 1; }

const void *gnn_weight_gathered(const gnn_instance *instance, const gnn_weight_desc *weight, int state) {
  return instance->gathered && state >= GNN_WEIGHT_ITSELF ? instance->gathered[weight_number(instance, weight, state)] : NULL;
}

gnn_status gnn_weights_gather(gnn_instance *instance, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_status status = GNN_OK;
  for (int w = 0; w < program->weight_count && status == GNN_OK; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    if (!weight->has_own_rows) continue;
    if (instance->gathered == NULL) instance->gathered = calloc((size_t)program->weight_count * WEIGHT_COPIES, sizeof *instance->gathered);
    if (instance->gathered == NULL) return gnn_fail_memory(error, program->weight_count * WEIGHT_COPIES * (int64_t)sizeof *instance->gathered);
    for (int s = GNN_WEIGHT_ITSELF; s < weight->state_count && status == GNN_OK; s++) {
      void **all = &instance->gathered[weight_number(instance, weight, s)];
      if (*all == NULL) *all = malloc((size_t)(weight->count * program->real_bytes) + 1);
      status = *all ? gnn_weight_take(instance, weight, s, *all, error) : gnn_fail_memory(error, weight->count * program->real_bytes);
      if (status == GNN_OK) gnn_weight_gather_copy(instance, weight, *all);
    }
  }
  return status;
}

void gnn_weights_drop(gnn_instance *instance) {
  for (int k = 0; instance->gathered && k < instance->run.program->weight_count * WEIGHT_COPIES; k++) free(instance->gathered[k]);
  free(instance->gathered);
  instance->gathered = NULL;
}

int gnn_weight_is_away(const gnn_weight_desc *weight) { return weight->is_on_host || weight->home.extent_count > 0; }

static gnn_spans weight_run(unsigned char *base, int64_t at, int64_t bytes) { return (gnn_spans){.base = base, .scale = 1, .wrap = INT64_MAX, .at = at, .left = bytes}; }

static int64_t weight_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Each part begins at a block of the file, and is moved by no more than a buffer at a time; what lies in the host arena is looked at there. */
static gnn_status weight_walk_file(const gnn_instance *instance, const gnn_side *side, int64_t first, int64_t count, gnn_weight_way way, gnn_weight_visit *visit, void *context, gnn_error *error) {
  const gnn_extent *extents = &instance->run.program->extents[side->at];
  gnn_scratch *scratch = (gnn_scratch *)(uintptr_t)&instance->scratch; /* which a port only moves bytes of */
  gnn_scratch_port *port;
  gnn_status status = gnn_scratch_port_create(scratch, way == GNN_WEIGHT_FILL, GNN_SCRATCH_BLOCK_BYTES, &port, error);
  if (status != GNN_OK) return status;
  unsigned char *buffer = malloc(GNN_SCRATCH_BLOCK_BYTES);
  if (buffer == NULL) status = gnn_fail_memory(error, GNN_SCRATCH_BLOCK_BYTES);
  const int64_t end = first + count;
  for (int e = 0; e < side->extent_count; e++)
    for (int64_t done = 0, bytes; done < extents[e].bytes && first < end && status == GNN_OK; done += bytes) {
      bytes = weight_least(extents[e].bytes - done, (end - first) * (int64_t)sizeof(float));
      if (!extents[e].is_on_host) bytes = weight_least(bytes, GNN_SCRATCH_BLOCK_BYTES);
      const gnn_spans memory = weight_run(buffer, 0, bytes), file = weight_run(NULL, extents[e].at + done, bytes);
      void *numbers = extents[e].is_on_host ? instance->tiers.base[GNN_HOST] + extents[e].at : buffer;
      if (way == GNN_WEIGHT_READ && numbers == buffer) status = gnn_scratch_move(port, memory, file, bytes, error);
      if (status == GNN_OK) status = visit(context, numbers, first, bytes / (int64_t)sizeof(float));
      if (way == GNN_WEIGHT_FILL && numbers == buffer && status == GNN_OK) status = gnn_scratch_move(port, memory, file, bytes, error);
      first += bytes / (int64_t)sizeof(float);
    }
  free(buffer);
  gnn_scratch_port_destroy(port);
  return status;
}

static gnn_status weight_walk_host(const gnn_instance *instance, const gnn_side *side, int64_t first, int64_t count, gnn_weight_visit *visit, void *context) {
  const gnn_extent *extents = &instance->run.program->extents[side->at];
  gnn_status status = GNN_OK;
  for (int64_t e = 0, length; e < side->extent_count && count > 0 && status == GNN_OK; e++, first += length, count -= length) {
    length = weight_least(extents[e].bytes / (int64_t)sizeof(float), count);
    status = visit(context, instance->tiers.base[GNN_HOST] + extents[e].at, first, length);
  }
  return status;
}

static gnn_status weight_walk_device(const gnn_instance *instance, int64_t at, int64_t first, int64_t count, gnn_weight_visit *visit, void *context, gnn_error *error) {
  const gnn_status status = gnn_download(instance, at, count * instance->run.program->real_bytes, error);
  return status == GNN_OK ? visit(context, gnn_instance_at(instance, at), first, count) : status;
}

int gnn_weight_has_gradient(const gnn_weight_desc *weight) { return weight->is_trained && (weight->at_gradient >= 0 || weight->gradient_part_count > 0); }

static gnn_status weight_walk_gradient(const gnn_instance *instance, const gnn_weight_desc *weight, gnn_weight_visit *visit, void *context, gnn_error *error) {
  int64_t first;
  const int64_t own = gnn_weight_own(instance, weight, &first), width = weight->shape[0] ? weight->count / weight->shape[0] : 0;
  gnn_status status = weight->at_gradient < 0 ? GNN_OK : weight_walk_device(instance, weight->at_gradient, first, own, visit, context, error);
  for (int part = 0; part < weight->gradient_part_count && status == GNN_OK; part++) {
    const gnn_side *side = &weight->gradient_parts[part];
    const int64_t begin = weight->gradient_part_count > 1 ? gnn_row_of_part(&instance->run, part) * width : 0;
    const int64_t count = (weight->gradient_part_count > 1 ? gnn_row_of_part(&instance->run, part + 1) * width : own) - begin;
    if (side->tier == GNN_DEVICE) status = weight_walk_device(instance, side->at, first + begin, count, visit, context, error);
    else if (side->tier == GNN_HOST) status = weight_walk_host(instance, side, first + begin, count, visit, context);
    else status = weight_walk_file(instance, side, first + begin, count, GNN_WEIGHT_READ, visit, context, error);
  }
  return status;
}

gnn_status gnn_weight_walk(const gnn_instance *instance, const gnn_weight_desc *weight, int state, gnn_weight_way way, gnn_weight_visit *visit, void *context, gnn_error *error) {
  if (state == GNN_WEIGHT_GRADIENT) return weight_walk_gradient(instance, weight, visit, context, error);
  void *numbers = gnn_weight_at(instance, weight, state);
  int64_t first, count = gnn_weight_own(instance, weight, &first);
  if (numbers) return visit(context, numbers, first, count);
  return weight_walk_file(instance, weight_side(weight, state), first, count, way, visit, context, error);
}

typedef struct weight_copy {
  unsigned char *to;
  const unsigned char *from;
  int64_t number_bytes;
} weight_copy;

static gnn_status weight_take(void *context, void *numbers, int64_t first, int64_t count) {
  const weight_copy *copy = context;
  memcpy(copy->to + first * copy->number_bytes, numbers, (size_t)(count * copy->number_bytes));
  return GNN_OK;
}

static gnn_status weight_put(void *context, void *numbers, int64_t first, int64_t count) {
  const weight_copy *copy = context;
  memcpy(numbers, copy->from + first * copy->number_bytes, (size_t)(count * copy->number_bytes));
  return GNN_OK;
}

gnn_status gnn_weight_take(const gnn_instance *instance, const gnn_weight_desc *weight, int state, void *to, gnn_error *error) {
  weight_copy copy = {.to = to, .number_bytes = instance->run.program->real_bytes};
  return gnn_weight_walk(instance, weight, state, GNN_WEIGHT_READ, weight_take, &copy, error);
}

gnn_status gnn_weight_put(const gnn_instance *instance, const gnn_weight_desc *weight, int state, const void *from, gnn_error *error) {
  weight_copy copy = {.from = from, .number_bytes = instance->run.program->real_bytes};
  return gnn_weight_walk(instance, weight, state, GNN_WEIGHT_FILL, weight_put, &copy, error);
}

typedef struct weight_moving {
  gnn_home home;
  gnn_error *error;
} weight_moving;

static gnn_status weight_give(void *context, void *numbers, int64_t first, int64_t count) {
  weight_moving *moving = context;
  (void)first;
  return gnn_home_put(&moving->home, numbers, count * (int64_t)sizeof(float), moving->error);
}

gnn_status gnn_weight_copy(gnn_instance *instance, const gnn_weight_desc *weight, int from, int to, gnn_error *error) {
  void *numbers = gnn_weight_at(instance, weight, to);
  if (numbers) return gnn_weight_take(instance, weight, from, numbers, error);
  weight_moving moving = {.error = error};
  gnn_status status = gnn_home_open(&moving.home, instance, weight_side(weight, to), error);
  if (status != GNN_OK) return status;
  return gnn_home_close(&moving.home, gnn_weight_walk(instance, weight, from, GNN_WEIGHT_READ, weight_give, &moving, error), error);
}
