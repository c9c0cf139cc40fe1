/* instance.c: the memory of one training job. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "instance.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../kernels/cpu/random.h"
#include "fill.h"
#include "room.h"

enum { INSTANCE_HUGE_BYTES = 1 << 21, INSTANCE_PAGE_BYTES = 4096, INSTANCE_TIER_DEVICE = 0 };

void *gnn_instance_at(const gnn_instance *instance, int64_t offset) {
  return instance->run.device + offset * (instance->run.program->real_bytes / 4);
}

static size_t instance_arena_bytes(const gnn_program *program) {
  size_t bytes = (size_t)program->device_bytes * (size_t)(program->real_bytes / 4);
  return bytes ? bytes : GNN_ALIGNMENT;
}

/* One mapping, its arena aligned to 2 MiB so that the kernel can use huge pages for all of it. Where pages are to be
 * counted (populate 0) they stay small. */
static gnn_status instance_map(gnn_instance *instance, size_t bytes, int populate, gnn_error *error) {
  if (instance->memory.alloc) {
    instance->mapping_bytes = bytes;
    instance->mapping = instance->memory.alloc(instance->memory.user, INSTANCE_TIER_DEVICE, bytes, GNN_ALIGNMENT);
    if (instance->mapping == NULL)
      return gnn_fail(error, GNN_ENOMEM, "R0801", "the host program gave no memory for the device arena (%s)",
                      gnn_bytes_text((int64_t)bytes).text);
    if ((uintptr_t)instance->mapping % GNN_ALIGNMENT != 0)
      return gnn_fail(error, GNN_EINVAL, "", "the host program's memory is not aligned to %d bytes", GNN_ALIGNMENT);
    memset(instance->mapping, 0, bytes);
    instance->run.device = instance->mapping;
    return GNN_OK;
  }
  size_t slack = bytes >= INSTANCE_HUGE_BYTES ? INSTANCE_HUGE_BYTES : 0;
  size_t mapped = bytes + slack;
  void *mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return gnn_fail(error, GNN_ENOMEM, "R0801", "the machine would not map %s for the device arena",
                    gnn_bytes_text((int64_t)bytes).text);
  instance->mapping = mapping;
  instance->mapping_bytes = mapped;
  uintptr_t begin = (uintptr_t)mapping;
  if (slack) begin = (begin + slack - 1) / slack * slack;
  instance->run.device = (unsigned char *)mapping + (begin - (uintptr_t)mapping);
#ifdef MADV_HUGEPAGE
  if (slack && populate) {
    int is_advice_only = madvise(instance->run.device, bytes, MADV_HUGEPAGE);
    (void)is_advice_only;
  }
#endif
  return GNN_OK;
}

static void instance_touch(const void *context, int64_t begin, int64_t end, int64_t task) {
  volatile unsigned char *arena = ((const gnn_instance *)context)->run.device;
  (void)task;
  for (int64_t at = begin; at < end; at += INSTANCE_PAGE_BYTES) arena[at] = 0;
}

gnn_status gnn_instance_create(const gnn_program *program, int threads, int populate, const gnn_memory *memory,
                               gnn_instance **out, gnn_error *error) {
  *out = NULL;
  if (program->abi != GNN_ABI)
    return gnn_fail(error, GNN_EVERSION, "", "the program was emitted for version %d of the runtime; this is version %d",
                    program->abi, GNN_ABI);
  size_t bytes = instance_arena_bytes(program);
  int is_given = memory && memory->alloc;
  gnn_status status = is_given ? GNN_OK : gnn_check_room((int64_t)bytes + program->reserve_bytes, error);
  if (status != GNN_OK) return status;
  gnn_instance *instance = calloc(1, sizeof *instance);
  if (instance == NULL) return gnn_fail_memory(error, (int64_t)sizeof *instance);
  instance->run.program = program;
  if (memory) instance->memory = *memory;
  for (int i = 0; i < program->option_count && i < GNN_OPTION_MAX; i++)
    instance->run.option[i] = program->options[i].value;
  int64_t most_rows = 1;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    if (program->graph.row_count[s] > most_rows) most_rows = program->graph.row_count[s];
  instance->partial_count = (most_rows + GNN_METRIC_TASK_ROWS - 1) / GNN_METRIC_TASK_ROWS;
  instance->partial_loss = malloc((size_t)instance->partial_count * sizeof *instance->partial_loss);
  instance->partial_correct = malloc((size_t)instance->partial_count * sizeof *instance->partial_correct);
  instance->run.team = gnn_team_create(threads);
  if (!instance->partial_loss || !instance->partial_correct || !instance->run.team)
    status = gnn_fail(error, GNN_ENOMEM, "R0801", "the machine gives no memory for the threads and what they share");
  if (status == GNN_OK) status = instance_map(instance, bytes, populate, error);
  if (status != GNN_OK) {
    gnn_instance_destroy(instance);
    return status;
  }
  if (populate) gnn_parallel(instance->run.team, (int64_t)bytes, INSTANCE_HUGE_BYTES, instance_touch, instance);
  *out = instance;
  return GNN_OK;
}

void gnn_instance_destroy(gnn_instance *instance) {
  if (instance == NULL) return;
  gnn_team_destroy(instance->run.team);
  if (instance->mapping && instance->memory.alloc) {
    if (instance->memory.release)
      instance->memory.release(instance->memory.user, INSTANCE_TIER_DEVICE, instance->mapping, instance->mapping_bytes);
  } else if (instance->mapping) {
    munmap(instance->mapping, instance->mapping_bytes);
  }
  free(instance->partial_loss);
  free(instance->partial_correct);
  free(instance);
}

/* The best that one answer for all nodes can do: that is what a model that learns nothing gets stuck at. */
static void instance_survey_labels(gnn_instance *instance) {
  const gnn_run *run = &instance->run;
  const gnn_program *program = run->program;
  const int32_t *label = gnn_instance_at(instance, program->fields[program->label_field].at[0]);
  int watched = run->row_count[GNN_VALID] ? GNN_VALID : GNN_TRAIN;
  int64_t best = -1;
  for (int64_t c = 0; c < program->classes; c++) {
    int64_t count = 0;
    for (int64_t k = 0; k < run->row_count[watched]; k++) count += label[run->rows[watched][k]] == c;
    if (count <= best) continue;
    best = count;
    instance->majority_class = c;
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int64_t count = 0, rows = run->row_count[s];
    for (int64_t k = 0; k < rows; k++) count += label[run->rows[s][k]] == instance->majority_class;
    instance->majority_share[s] = rows ? (double)count / (double)rows : 0;
  }
}

gnn_status gnn_instance_load(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  if (!dataset->is_prepared) return gnn_fail(error, GNN_EINVAL, "", "the data were not prepared");
  instance->is_loaded = 0;
  gnn_status status = gnn_fill_graph(instance, dataset, error);
  for (int i = 0; status == GNN_OK && i < program->field_count; i++)
    status = gnn_fill_field(instance, dataset, &program->fields[i], error);
  if (status == GNN_OK) status = gnn_fill_splits(instance, dataset, error);
  if (status != GNN_OK) return status;
  if (program->label_field >= 0) instance_survey_labels(instance);
  instance->is_loaded = 1;
  return GNN_OK;
}

static void instance_set(void *to, int real_bytes, int64_t index, double value) {
  float rounded = (float)value; /* a double build starts from the same numbers */
  if (real_bytes == 4) ((float *)to)[index] = rounded;
  else ((double *)to)[index] = (double)rounded;
}

void gnn_instance_reset(gnn_instance *instance, uint64_t seed) {
  const gnn_program *program = instance->run.program;
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    void *to = gnn_instance_at(instance, weight->at);
    uint64_t key = gnn_random_key(seed, (uint64_t)w);
    for (int64_t i = 0; i < weight->count; i++) {
      double value = weight->a;
      if (weight->init == GNN_INIT_UNIFORM) value *= 2 * gnn_random_uniform(key, (uint64_t)i) - 1;
      if (weight->init == GNN_INIT_NORMAL) value *= gnn_random_normal(key, (uint64_t)i);
      instance_set(to, program->real_bytes, i, value);
    }
    for (int s = 0; s < weight->state_count; s++)
      memset(gnn_instance_at(instance, weight->at_state[s]), 0, (size_t)(weight->count * program->real_bytes));
  }
  instance->run.seed = seed;
  instance->run.epoch = 0;
  instance->run.loss = 0;
}
