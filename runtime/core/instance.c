/* instance.c: the memory of one training job. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adjacency.h"
#include "blocks.h"
#include "device.h"
#include "lanes.h"
#include "ranks.h"
#include "weights.h"
#include "kernels/cpu/random.h"
#include "runtime/base/room.h"
#include "runtime/job/scored.h"

void *gnn_instance_at(const gnn_instance *instance, int64_t offset) {
  return instance->run.device + offset * (instance->run.program->real_bytes / 4);
}

void *gnn_instance_place(const gnn_instance *instance, int is_on_host, int64_t offset) {
  return is_on_host ? instance->tiers.base[GNN_HOST] + offset : gnn_instance_at(instance, offset);
}

void *gnn_instance_scores(const gnn_instance *instance) {
  const gnn_program *program = instance->run.program;
  return program->scores_tier == GNN_DEVICE ? gnn_instance_at(instance, program->at_scores) : instance->tiers.base[program->scores_tier] + program->at_scores;
}

int64_t gnn_tier_bytes(const gnn_program *program, gnn_tier tier) {
  const int64_t bytes[GNN_TIER_COUNT] = {[GNN_DEVICE] = program->device_bytes, [GNN_HOST] = program->host_bytes,
                                         [GNN_SSD] = program->ssd_bytes, [GNN_WRITE_RING] = program->ring_bytes,
                                         [GNN_READ_RING] = program->ring_bytes};
  return bytes[tier] * (program->real_bytes / 4);
}

int64_t gnn_staging_bytes(const gnn_program *program) {
  int64_t bytes = gnn_tier_bytes(program, GNN_WRITE_RING) + gnn_tier_bytes(program, GNN_READ_RING);
  for (int l = 0; l < GNN_LANE_COUNT; l++) {
    int64_t most = gnn_lanes_largest_move(program, (gnn_lane)l);
    if (most > 0) bytes += gnn_scratch_buffer_bytes(most);
  }
  return bytes;
}

int64_t gnn_host_memory_bytes(const gnn_program *program) {
  int64_t bytes = gnn_tier_bytes(program, GNN_DEVICE) + gnn_tier_bytes(program, GNN_HOST) + gnn_staging_bytes(program);
  return gnn_backend_of(program)->is_apart ? bytes - gnn_tier_bytes(program, GNN_DEVICE) : bytes + program->reserve_bytes;
}

const char *const gnn_tier_names[GNN_TIER_COUNT] = {"device arena", "host arena", "scratch file", "write ring", "read ring"};

gnn_status gnn_instance_ask(const gnn_instance *instance, gnn_tier tier, int64_t bytes, int align, void **memory, gnn_error *error) {
  *memory = instance->memory.alloc(instance->memory.user, tier == GNN_DEVICE ? GNN_DEVICE : GNN_HOST, (size_t)bytes, (size_t)align);
  if (*memory == NULL)
    return gnn_fail(error, GNN_ENOMEM, "R0801", "the host program gave no memory for the %s (%s)", gnn_tier_names[tier], gnn_bytes_text(bytes).text);
  return GNN_OK;
}

void gnn_instance_give_back(const gnn_instance *instance, gnn_tier tier, void *memory, int64_t bytes) {
  if (instance->memory.release) instance->memory.release(instance->memory.user, tier == GNN_DEVICE ? GNN_DEVICE : GNN_HOST, memory, (size_t)bytes);
}

static gnn_status instance_borrow(gnn_instance *instance, gnn_tier tier, size_t bytes, gnn_error *error) {
  gnn_mapping *mapping = &instance->mapping[tier];
  mapping->bytes = bytes;
  gnn_status status = gnn_instance_ask(instance, tier, (int64_t)bytes, GNN_ALIGNMENT, &mapping->memory, error);
  if (status != GNN_OK) return status;
  if ((uintptr_t)mapping->memory % GNN_ALIGNMENT != 0)
    return gnn_fail(error, GNN_EINVAL, "", "the host program's memory is not aligned to %d bytes", GNN_ALIGNMENT);
  memset(mapping->memory, 0, bytes);
  instance->tiers.base[tier] = mapping->memory;
  return GNN_OK;
}

static gnn_status instance_obtain(gnn_instance *instance, gnn_tier tier, int populate, gnn_error *error) {
  int64_t bytes = gnn_tier_bytes(instance->run.program, tier);
  if (tier == GNN_DEVICE && bytes == 0) bytes = GNN_ALIGNMENT;
  if (tier == GNN_SSD || bytes == 0) return GNN_OK;
  const gnn_backend *backend = gnn_backend_of(instance->run.program);
  if (instance->memory.alloc && !backend->is_apart) return instance_borrow(instance, tier, (size_t)bytes, error);
  return backend->obtain(instance, tier, bytes, populate, error);
}

gnn_status gnn_instance_grow(gnn_instance *instance, int is_for_data, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  const int64_t all = gnn_tier_bytes(program, GNN_DEVICE), data = program->data_bytes * (program->real_bytes / 4);
  return instance->grows ? gnn_backend_of(program)->grow(instance, GNN_DEVICE, is_for_data && data > 0 && data < all ? data : all, instance->is_populated, error) : GNN_OK;
}

void gnn_instance_touch(gnn_instance *instance) {
  const gnn_backend *backend = gnn_backend_of(instance->run.program);
  for (int t = 0; backend->touch && instance->memory.alloc == NULL && t < GNN_TIER_COUNT; t++)
    if (instance->mapping[t].memory) backend->touch(instance, (gnn_tier)t, gnn_tier_bytes(instance->run.program, (gnn_tier)t));
}

static void instance_release(gnn_instance *instance, gnn_tier tier) {
  const gnn_mapping *mapping = &instance->mapping[tier];
  const gnn_backend *backend = gnn_backend_of(instance->run.program);
  if (mapping->memory == NULL) return;
  if (instance->memory.alloc == NULL || backend->is_apart) backend->release(instance, tier);
  else gnn_instance_give_back(instance, tier, mapping->memory, (int64_t)mapping->bytes);
}

gnn_scratch_folders gnn_instance_folders(const gnn_program *program, const gnn_instance_options *options) {
  return (gnn_scratch_folders){options->scratch, program->scratch_dir, options->temporary};
}

/* Nothing is obtained unless everything is there: memory, counting a scratch file that lies in memory, and disk. */
static gnn_status instance_find_room(const gnn_program *program, const gnn_instance_options *options, gnn_scratch *scratch,
                                     gnn_error *error) {
  const gnn_scratch_folders folders = gnn_instance_folders(program, options);
  int has_scratch = gnn_lanes_use_scratch(program, GNN_LANE_COUNT), is_given = options->memory && options->memory->alloc;
  gnn_status status = has_scratch ? gnn_scratch_open(scratch, &folders, error) : GNN_OK;
  int64_t file_bytes = gnn_tier_bytes(program, GNN_SSD);
  int64_t bytes = is_given ? 0 : gnn_host_memory_bytes(program);
  int64_t device = is_given || gnn_backend_of(program)->is_apart ? 0 : gnn_tier_bytes(program, GNN_DEVICE);
  if (has_scratch && scratch->is_in_memory) bytes += file_bytes;
  if (status == GNN_OK && bytes > 0) status = gnn_check_room(bytes, bytes - device, error);
  if (status == GNN_OK && options->loading_bytes > gnn_available_bytes())
    status = gnn_fail(error, GNN_ENOMEM, "R0801", "memory has %s free, loading the data needs %s", gnn_bytes_text(gnn_available_bytes()).text, gnn_bytes_text(options->loading_bytes).text);
  if (status == GNN_OK && has_scratch) status = gnn_scratch_reserve(scratch, file_bytes, error);
  if (status != GNN_OK) gnn_scratch_close(scratch);
  return status;
}

gnn_status gnn_instance_make_room(gnn_instance *instance, int64_t rows, int64_t blocks, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  int is_sorting = 0;
  for (int i = 0; i < program->metric_count; i++) is_sorting |= gnn_metric_sorts(program->metrics[i].kind);
  double *block_loss = realloc(instance->block_loss, (size_t)blocks * sizeof *block_loss);
  if (block_loss) instance->block_loss = block_loss;
  struct gnn_ranked *room = is_sorting ? realloc(instance->metric_room, ((size_t)rows + 1) * sizeof *room) : NULL;
  if (room) instance->metric_room = room;
  if (block_loss && (room || !is_sorting)) return GNN_OK;
  return gnn_fail(error, GNN_ENOMEM, "R0801", "the machine gives no memory for the metrics");
}

/* That are measured at a time. */
static int64_t instance_most_rows(const gnn_program *program) {
  int64_t rows = 0;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    if (program->graph.row_count[s] > rows) rows = program->graph.row_count[s];
  return rows;
}

/* What tasks keep on their stacks: some rows at a time, none of which has more columns than there are of fields and weights together. */
static int64_t instance_row_bytes(const gnn_program *program) {
  enum { ROWS = 16 };
  int64_t columns = program->classes;
  for (int f = 0; f < program->field_count; f++) columns += program->fields[f].width + program->fields[f].classes;
  for (int w = 0; w < program->weight_count; w++)
    for (int d = program->weights[w].rank > 1; d < program->weights[w].rank; d++) columns += program->weights[w].shape[d];
  return ROWS * columns * program->real_bytes;
}

gnn_status gnn_instance_create(const gnn_program *program, const gnn_instance_options *given, gnn_instance **out,
                               gnn_error *error) {
  const gnn_instance_options options = given ? *given : (gnn_instance_options){0};
  *out = NULL;
  if (program->abi != GNN_ABI)
    return gnn_fail(error, GNN_EVERSION, "", "the program was emitted for version %d of the runtime; this is version %d",
                    program->abi, GNN_ABI);
  for (int c = 0; c < program->copy_count; c++)
    if (!gnn_copy_is_sound(program, &program->copies[c]))
      return gnn_fail(error, GNN_EVERSION, "", "step %d copies from or to where nothing may be; this is a bug in gnncc", program->copies[c].step);
  gnn_instance *instance = calloc(1, sizeof *instance);
  if (instance == NULL) return gnn_fail_memory(error, (int64_t)sizeof *instance);
  instance->scratch.file = -1;
  instance->run.program = instance->tiers.program = program;
  instance->run.ranks = options.ranks;
  instance->continues_after_nan = options.continues_after_nan;
  instance->approximation = program->ranks ? program->approximation : NULL;
  const gnn_backend *backend = gnn_backend_of(program);
  gnn_status status = backend->open(instance, &options, error);
  if (status == GNN_OK) status = instance_find_room(program, &options, &instance->scratch, error);
  if (status != GNN_OK) {
    backend->close(instance);
    free(instance);
    return status;
  }
  if (options.memory) instance->memory = *options.memory;
  instance->grows = options.grows && !instance->memory.alloc && backend->grow;
  instance->is_populated = options.populate;
  for (int i = 0; i < program->option_count && i < GNN_OPTION_MAX; i++)
    instance->run.option[i] = program->options[i].value;
  if (program->scores_copies && (instance->scores_here = calloc(1, sizeof *instance->scores_here)) == NULL) status = gnn_fail_memory(error, (int64_t)sizeof *instance->scores_here);
  if (status == GNN_OK) status = gnn_instance_make_room(instance, instance_most_rows(program), INT64_C(1) << gnn_block_levels(program->ranks ? program->ranks->nodes : program->graph.nodes), error);
  if (status == GNN_OK && (instance->run.team = gnn_team_create_for(options.threads, instance_row_bytes(program))) == NULL)
    status = gnn_fail(error, GNN_ENOMEM, "R0801", "the machine gives no memory for the threads and what they share");
  for (int t = 0; status == GNN_OK && t < GNN_TIER_COUNT; t++)
    status = instance_obtain(instance, (gnn_tier)t, options.populate, error);
  if (status == GNN_OK) status = gnn_watch_create(&instance->run, options.is_traced, error);
  if (status == GNN_OK) status = backend->start(instance, &options, error);
  if (status != GNN_OK) {
    gnn_instance_destroy(instance);
    return status;
  }
  *out = instance;
  return GNN_OK;
}

void gnn_drop_whole_rows(gnn_instance *instance) {
  gnn_whole_rows *rows = instance->whole_rows;
  if (rows == NULL) return;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) free(rows->split[s]);
  free(rows->first);
  free(rows->classes);
  free(rows->numbers);
  free(rows->scores);
  free(rows);
  instance->whole_rows = NULL;
  instance->whole = (gnn_whole){0};
}

void gnn_instance_destroy(gnn_instance *instance) {
  if (instance == NULL) return;
  if (instance->drop_batches) instance->drop_batches(instance);
  gnn_backend_of(instance->run.program)->stop(instance);
  gnn_scratch_close(&instance->scratch);
  gnn_watch_destroy(&instance->run);
  gnn_team_destroy(instance->run.team);
  for (int t = 0; t < GNN_TIER_COUNT && !gnn_ranks_are_passing(instance->run.ranks); t++) instance_release(instance, (gnn_tier)t); /* else the arenas are there until all has come, which ends the process */
  gnn_backend_of(instance->run.program)->close(instance);
  free(instance->scores_here);
  gnn_drop_whole_rows(instance);
  gnn_weights_drop(instance);
  free(instance->score_first);
  free(instance->node_id);
  free(instance->block_loss);
  free(instance->metric_room);
  free(instance);
}

gnn_status gnn_step_failed(const gnn_instance *instance, gnn_status status, gnn_error *error, const char *code,
                           const char *format, ...) {
  if (instance->batch_error.message[0]) {
    if (error) *error = instance->batch_error;
    return status;
  }
  const gnn_error *cause = status == GNN_EIO || status == GNN_EDEVICE || status == GNN_ENOMEM ? gnn_backend_of(instance->run.program)->failure(&instance->run) : NULL;
  if (cause) {
    if (error) *error = *cause;
    return status;
  }
  char message[256];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return gnn_fail(error, status, code, "%s", message);
}

/* What the losses of rows are divided by: their number, what their classes weigh, or of pairs that are ranked the number of edges. */
static double instance_weight(const gnn_program *program, const int32_t *classes, const int32_t *ring, const int32_t *rows, int64_t count, double weight) {
  for (int64_t k = 0; ring && k < count; k++) weight += ring[rows[k]] >= 0;
  if (ring) return weight;
  for (int64_t k = 0; k < count; k++) weight += program->loss && program->loss->weights ? program->loss->weights[classes[rows[k]]] : 1;
  return weight;
}

/* What classes weigh is added in the order of the rows: one rank after the other goes on with the sum. */
static void instance_weigh(const gnn_program *program, gnn_whole *whole) {
  const int has_turns = whole->ranks && program->loss && program->loss->weights;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) whole->row_weight[s] = has_turns ? 0 : instance_weight(program, whole->classes, whole->ring, whole->rows[s], whole->row_count[s], 0);
  for (int turn = 0; has_turns && turn < whole->ranks->count; turn++) {
    int64_t own[GNN_SPLIT_COUNT], all[GNN_RANKS_MOST * GNN_SPLIT_COUNT];
    for (int s = 0; s < GNN_SPLIT_COUNT && turn == whole->ranks->rank; s++) whole->row_weight[s] = instance_weight(program, whole->classes, whole->ring, whole->rows[s], whole->here[s], whole->row_weight[s]);
    memcpy(own, whole->row_weight, sizeof own);
    gnn_ranks_tell(whole->ranks, own, GNN_SPLIT_COUNT, all);
    memcpy(whole->row_weight, all + turn * GNN_SPLIT_COUNT, sizeof own);
  }
}

/* The best that one answer for all rows can do is what a model that learns nothing gets stuck at. */
void gnn_instance_survey(gnn_instance *instance) {
  enum { TOGETHER = 256 };
  gnn_whole *whole = &instance->whole;
  const gnn_program *program = instance->run.program;
  const gnn_field_desc *field = &program->fields[program->label_field];
  const int32_t *label = whole->classes;
  instance_weigh(program, whole);
  if (label == NULL) return;
  int watched = whole->row_count[GNN_VALID] ? GNN_VALID : GNN_TRAIN;
  int64_t best = -1, right[GNN_SPLIT_COUNT] = {0};
  for (int64_t first = 0; first < field->classes; first += TOGETHER) {
    const int64_t some = field->classes - first < TOGETHER ? field->classes - first : TOGETHER;
    int64_t count[TOGETHER] = {0};
    for (int64_t k = 0; k < whole->here[watched]; k++) {
      const int64_t c = label[whole->rows[watched][k]] - first;
      if (c >= 0 && c < some) count[c]++;
    }
    gnn_ranks_add(whole->ranks, count, some);
    for (int64_t c = 0; c < some; c++)
      if (count[c] > best) best = count[c], instance->majority_class = first + c;
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    for (int64_t k = 0; k < whole->here[s]; k++) right[s] += label[whole->rows[s][k]] == instance->majority_class;
  gnn_ranks_add(whole->ranks, right, GNN_SPLIT_COUNT);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) instance->majority_share[s] = whole->row_count[s] ? (double)right[s] / (double)whole->row_count[s] : 0;
}

void gnn_instance_see(gnn_instance *instance) {
  gnn_run *run = &instance->run;
  const gnn_program *program = run->program;
  gnn_whole *whole = &instance->whole;
  *whole = (gnn_whole){.nodes = run->nodes, .edges = run->edges, .graphs = run->graphs, .ranks = run->ranks, .blocks = run->blocks, .scores = gnn_instance_scores(instance)};
  if (run->ranks) whole->nodes = run->ranks->desc->nodes, whole->edges = run->ranks->desc->edges;
  memcpy(whole->rows, run->rows, sizeof whole->rows);
  memcpy(whole->here, run->row_count, sizeof whole->here);
  memcpy(whole->row_count, run->row_count, sizeof whole->row_count);
  gnn_ranks_add(run->ranks, whole->row_count, GNN_SPLIT_COUNT);
  memset(run->row_weight, 0, sizeof run->row_weight);
  if (program->label_field < 0) return;
  const gnn_field_desc *field = &program->fields[program->label_field];
  if (field->storage == GNN_LABEL) whole->classes = gnn_instance_place(instance, field->is_on_host, field->at[0]);
  else whole->numbers = gnn_instance_at(instance, field->at[0]), whole->number_stride = gnn_row_stride(field->stride, field->width);
  if (program->loss && program->loss->kind == GNN_LOSS_BPR) whole->ring = gnn_instance_at(instance, program->fields[program->ring_field].at[0]);
  gnn_instance_survey(instance);
  memcpy(run->row_weight, whole->row_weight, sizeof run->row_weight);
}

gnn_status gnn_instance_see_pairs(gnn_instance *instance, gnn_error *error) {
  gnn_run *run = &instance->run;
  const int64_t *ptr = run->program->scores_domain == GNN_RELATION ? run->sets[run->program->scores_set].in.ptr : NULL, blocks = INT64_C(1) << run->blocks.levels;
  if (ptr == NULL) return GNN_OK;
  int64_t *first = realloc(instance->score_first, (size_t)(blocks + 1) * sizeof *first);
  if (first == NULL) return gnn_fail_memory(error, 8 * (blocks + 1));
  run->score_first = instance->score_first = first;
  const int64_t own = run->ranks ? (int64_t)gnn_own_parts(run) << (run->blocks.levels - run->program->ranks->part_levels) : blocks;
  for (int64_t b = 0; b <= own; b++) first[b] = ptr[run->blocks.first[b]];
  return GNN_OK;
}

static void instance_weigh_batch(gnn_instance *instance) {
  gnn_run *run = &instance->run;
  const gnn_field_desc *field = run->program->label_field < 0 ? NULL : &run->program->fields[run->program->label_field];
  const int32_t *classes = field && field->storage == GNN_LABEL ? gnn_instance_at(instance, field->at[0]) : NULL;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) run->row_weight[s] = field ? instance_weight(run->program, classes, NULL, run->rows[s], run->row_count[s], 0) : 0;
}

gnn_status gnn_instance_begin(gnn_instance *instance, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_program *program = run->program;
  if (instance->batches) instance_weigh_batch(instance);
  else if (instance->whole_rows) memcpy(run->row_weight, instance->whole.row_weight, sizeof run->row_weight);
  else gnn_instance_see(instance);
  gnn_status status = gnn_instance_see_pairs(instance, error);
  if (status != GNN_OK) return status;
  status = gnn_backend_of(program)->load(instance);
  if (status == GNN_OK && program->once) status = gnn_do(instance, GNN_WORK_ONCE);
  if (status != GNN_OK) return gnn_step_failed(instance, status, error, "", "the data did not get to the device");
  instance->is_loaded = 1;
  return GNN_OK;
}

int64_t gnn_data_node(const gnn_instance *instance, int64_t node) {
  const gnn_batch *batch = &instance->batch;
  if (batch->graphs == 0) return gnn_node_id(&instance->run, node);
  const int64_t graph = gnn_adjacency_row(batch->node_first, 0, batch->graphs, node);
  return batch->graph_ptr[batch->graph[graph]] + node - batch->node_first[graph];
}

static void instance_set(void *to, int real_bytes, int64_t index, double value) {
  float rounded = (float)value; /* a double build starts from the same numbers */
  if (real_bytes == 4) ((float *)to)[index] = rounded;
  else ((double *)to)[index] = (double)rounded;
}

typedef struct instance_draw {
  const gnn_weight_desc *weight;
  int real_bytes;
  uint64_t key;
} instance_draw;

static gnn_status instance_draw_numbers(void *context, void *numbers, int64_t first, int64_t count) {
  const instance_draw *draw = context;
  for (int64_t i = first; i < first + count; i++) {
    double value = draw->weight->a;
    if (draw->weight->init == GNN_INIT_UNIFORM) value *= 2 * gnn_random_uniform(draw->key, (uint64_t)i) - 1;
    if (draw->weight->init == GNN_INIT_NORMAL) value *= gnn_random_normal(draw->key, (uint64_t)i);
    instance_set(numbers, draw->real_bytes, i - first, value);
  }
  return GNN_OK;
}

static gnn_status instance_zero_numbers(void *context, void *numbers, int64_t first, int64_t count) {
  const instance_draw *draw = context;
  (void)first;
  memset(numbers, 0, (size_t)(count * draw->real_bytes));
  return GNN_OK;
}

gnn_status gnn_instance_reset(gnn_instance *instance, uint64_t seed, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_status status = GNN_OK;
  instance->gradient_peak = instance->gradient_peak_before = (gnn_gradient_peak){-1, 0};
  instance->bad = (gnn_bad_value){0};
  for (int w = 0; w < program->weight_count && status == GNN_OK; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    instance_draw draw = {weight, program->real_bytes, gnn_random_key(seed, (uint64_t)w)};
    status = gnn_weight_walk(instance, weight, GNN_WEIGHT_ITSELF, GNN_WEIGHT_FILL, instance_draw_numbers, &draw, error);
    for (int s = 0; s < weight->state_count && status == GNN_OK; s++) status = gnn_weight_walk(instance, weight, s, GNN_WEIGHT_FILL, instance_zero_numbers, &draw, error);
  }
  gnn_status is_kept = gnn_upload_weights(instance, 1, NULL);
  (void)is_kept;
  instance->run.seed = seed;
  instance->run.epoch = instance->run.update = 0;
  instance->run.reductions = 0;
  instance->run.loss = 0;
  return status;
}
