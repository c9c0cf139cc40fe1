/* contents.c: checksums of prepared data, part by part on all threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "contents.h"
#include "prepare.h"
#include "kernels/cpu/random.h"
#include "runtime/core/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const char *const gnn_content_names[GNN_CONTENT_COUNT] = {"edges", "features", "labels", "splits"};

enum { CONTENTS_PART_BYTES = 1 << 20, CONTENTS_PART_ROWS = 1 << 12, CONTENTS_KEPT = 512, CONTENTS_ROWS_ANYWHERE = 64 };

typedef struct contents_part {
  const void *bytes;
  uint32_t *sum; /* of each part */
} contents_part;

static void contents_bytes(const void *context, int64_t begin, int64_t end, int64_t task) {
  const contents_part *part = context;
  part->sum[task] = (uint32_t)crc32_z(0, (const unsigned char *)part->bytes + begin, (size_t)(end - begin));
}

/* *content goes on with `count` bytes. */
static gnn_status contents_add(gnn_team *team, contents_part part, int64_t count, int64_t *content, gnn_error *error) {
  const int64_t tasks = (count + CONTENTS_PART_BYTES - 1) / CONTENTS_PART_BYTES;
  part.sum = malloc((size_t)(tasks + 1) * sizeof *part.sum);
  if (part.sum == NULL) return gnn_fail_memory(error, (tasks + 1) * (int64_t)sizeof *part.sum);
  gnn_parallel(team, count, CONTENTS_PART_BYTES, contents_bytes, &part);
  part.sum[tasks] = (uint32_t)count;
  *content = (int64_t)crc32_z((uLong)*content, (const unsigned char *)part.sum, (size_t)(tasks + 1) * sizeof *part.sum);
  free(part.sum);
  return GNN_OK;
}

/* ---- row by row, each with its number: in whatever order, and whoever has them ---- */

typedef struct contents_of_rows {
  const gnn_data_field *field;   /* NULL: edges, */
  const int64_t *ptr;            /* from those of row `first` on */
  const int32_t *source;
  int64_t first;
  const int32_t *id;             /* of a field: where its rows are; NULL: there */
  uint64_t *sum;                 /* of each part */
} contents_of_rows;

static uint64_t contents_mixed(int64_t row, int64_t entries, uLong sum) { return gnn_mix64(gnn_mix64((uint64_t)row) ^ (uint64_t)entries << 32 ^ (uint64_t)sum); }

/* Numbers are summed up as if they were stored in the way that takes less of this row: how they are stored makes no difference. */
static uint64_t contents_numbers(const gnn_data_field *field, int64_t r) {
  struct { int32_t column; float value; } kept[CONTENTS_KEPT];
  float all[CONTENTS_KEPT];
  const int is_dense = field->storage == GNN_DENSE;
  const int64_t first = is_dense ? r * field->width : field->ptr[r], last = is_dense ? first + field->width : field->ptr[r + 1];
  int64_t nonzeros = 0;
  int count = 0;
  uLong sum = 0;
  for (int64_t k = first; k < last; k++) nonzeros += (is_dense ? field->dense[k] : field->value ? field->value[k] : 1) != 0;
  const int is_thin = nonzeros * 3 < field->width;
  if (is_dense && !is_thin) return contents_mixed(r, nonzeros, crc32_z(0, (const unsigned char *)(field->dense + first), (size_t)field->width * sizeof *field->dense));
  for (int64_t k = first; is_thin && k < last; k++) {
    const float value = is_dense ? field->dense[k] : field->value ? field->value[k] : 1;
    if (value == 0) continue;
    kept[count].column = is_dense ? (int32_t)(k - first) : field->column[k];
    kept[count++].value = value;
    if (count < CONTENTS_KEPT) continue;
    sum = crc32_z(sum, (const unsigned char *)kept, sizeof kept);
    count = 0;
  }
  if (is_thin) return contents_mixed(r, nonzeros, crc32_z(sum, (const unsigned char *)kept, (size_t)count * sizeof *kept));
  for (int64_t c = 0, k = first; c < field->width; c++) {
    const int is_stored = k < last && field->column[k] == c;
    all[count++] = !is_stored ? 0 : field->value ? field->value[k] : 1;
    k += is_stored;
    if (count < CONTENTS_KEPT) continue;
    sum = crc32_z(sum, (const unsigned char *)all, sizeof all);
    count = 0;
  }
  return contents_mixed(r, nonzeros, crc32_z(sum, (const unsigned char *)all, (size_t)count * sizeof *all));
}

static void contents_rows(const void *context, int64_t begin, int64_t end, int64_t task) {
  const contents_of_rows *part = context;
  const gnn_data_field *field = part->field;
  const float *dense = field && field->storage == GNN_DENSE ? field->dense : NULL;
  gnn_reading window = gnn_reading_begin(dense && !part->id ? dense + (part->first + begin) * field->width : NULL);
  uint64_t sum = 0;
  for (int64_t r = begin; r < end; r++) {
    if (field) sum += contents_numbers(field, part->id ? part->id[part->first + r] : part->first + r);
    else {
      const int64_t entries = part->ptr[r + 1] - part->ptr[r];
      sum += contents_mixed(part->first + r, entries, crc32_z(0, (const unsigned char *)(part->source + part->ptr[r]), (size_t)entries * sizeof *part->source));
    }
    if (dense && !part->id) gnn_reading_pass(&window, dense + (part->first + r + 1) * field->width);
    else if (dense && r % CONTENTS_ROWS_ANYWHERE == 0) gnn_guard_pass(dense, dense + field->rows * field->width);
  }
  if (dense && part->id) gnn_guard_pass(dense, dense + field->rows * field->width);
  else if (dense) gnn_reading_end(&window, dense + (part->first + end) * field->width);
  part->sum[task] = sum;
}

static gnn_status contents_sum(gnn_team *team, contents_of_rows part, int64_t rows, uint64_t *sum, gnn_error *error) {
  const int64_t tasks = (rows + CONTENTS_PART_ROWS - 1) / CONTENTS_PART_ROWS;
  part.sum = malloc((size_t)(tasks + 1) * sizeof *part.sum);
  if (part.sum == NULL) return gnn_fail_memory(error, (tasks + 1) * (int64_t)sizeof *part.sum);
  gnn_parallel(team, rows, CONTENTS_PART_ROWS, contents_rows, &part);
  *sum = 0;
  for (int64_t t = 0; t < tasks; t++) *sum += part.sum[t];
  free(part.sum);
  return GNN_OK;
}

/* *content goes on with the sum of all rows, of which a rank has its own. */
static void contents_add_rows(gnn_ranks *ranks, uint64_t sum, int64_t *content) {
  int64_t halves[2] = {(int64_t)(sum >> 32), (int64_t)(sum & UINT32_MAX)};
  gnn_ranks_add(ranks, halves, 2);
  sum = ((uint64_t)halves[0] << 32) + (uint64_t)halves[1];
  *content = (int64_t)crc32_z((uLong)*content, (const unsigned char *)&sum, sizeof sum);
}

static gnn_status contents_of_edges(gnn_instance *instance, const gnn_dataset *dataset, int64_t *content, gnn_error *error) {
  const gnn_own_edges *own = dataset->own;
  const contents_of_rows part = {.ptr = own ? own->in_ptr : dataset->in_ptr, .source = own ? own->in_source : dataset->in_source, .first = own ? own->begin : 0};
  uint64_t sum = 0;
  const gnn_status status = contents_sum(instance->run.team, part, own ? own->end - own->begin : dataset->nodes, &sum, error);
  if (status == GNN_OK) contents_add_rows(own ? instance->run.ranks : NULL, sum, content);
  return status;
}

/* Of a rank those of its own nodes; and of another rank's, which that one has, too. */
static gnn_status contents_of_field(gnn_instance *instance, const gnn_dataset *dataset, const gnn_data_field *field, int64_t *content, gnn_error *error) {
  gnn_ranks *ranks = dataset->own && field->domain == GNN_NODE ? instance->run.ranks : NULL;
  const int64_t *first = ranks ? ranks->desc->first : (const int64_t[]){0, field->rows};
  uint64_t sum = 0;
  gnn_status status = GNN_OK;
  for (int other = ranks != NULL; other >= 0 && status == GNN_OK; other--) {
    const int whose = !ranks ? 0 : other ? gnn_rank_beside(ranks, ranks->rank) : ranks->rank;
    status = contents_sum(instance->run.team, (contents_of_rows){.field = field, .first = first[whose], .id = ranks ? dataset->node_id : NULL}, first[whose + 1] - first[whose], &sum, error);
    if (ranks && status == GNN_OK) instance->read_features[other] = (int64_t)gnn_mix64((uint64_t)instance->read_features[other] ^ sum);
  }
  if (status == GNN_OK) contents_add_rows(ranks, sum, content);
  return status;
}

gnn_status gnn_contents_take(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_team *team = instance->run.team;
  int64_t content[GNN_CONTENT_COUNT] = {0};
  memset(instance->read_features, 0, sizeof instance->read_features);
  gnn_status status = contents_of_edges(instance, dataset, &content[GNN_CONTENT_EDGES], error);
  for (int r = 0; status == GNN_OK && r < dataset->relation_count; r++) {
    const gnn_data_relation *relation = &dataset->relations[r];
    status = contents_add(team, (contents_part){.bytes = relation->in_ptr}, (gnn_dataset_rows(dataset, relation->dst) + 1) * (int64_t)sizeof *relation->in_ptr, &content[GNN_CONTENT_EDGES], error);
    if (status == GNN_OK)
      status = contents_add(team, (contents_part){.bytes = relation->in_source}, relation->edges * (int64_t)sizeof *relation->in_source, &content[GNN_CONTENT_EDGES], error);
  }
  for (int f = 0; status == GNN_OK && f < program->field_count; f++) {
    const gnn_data_field *field = gnn_dataset_field(dataset, program->fields[f].name);
    if (field->storage == GNN_LABEL)
      status = contents_add(team, (contents_part){.bytes = field->label}, field->rows * (int64_t)sizeof *field->label,
                            &content[GNN_CONTENT_LABELS], error);
    else status = contents_of_field(instance, dataset, field, &content[GNN_CONTENT_FEATURES], error);
  }
  if (status == GNN_OK && dataset->row_fold) { /* they, and not which of them is tested now */
    const int64_t rows = gnn_splits_rows(dataset);
    status = contents_add(team, (contents_part){.bytes = dataset->row_fold}, rows * (int64_t)sizeof *dataset->row_fold, &content[GNN_CONTENT_SPLITS], error);
    if (dataset->is_fold_fixed) content[GNN_CONTENT_SPLITS] += dataset->fold + 1;
  }
  for (int s = 0; status == GNN_OK && !dataset->row_fold && s < GNN_SPLIT_COUNT; s++)
    status = contents_add(team, (contents_part){.bytes = dataset->split_rows[s]}, dataset->split_count[s] * (int64_t)sizeof *dataset->split_rows[s],
                          &content[GNN_CONTENT_SPLITS], error);
  for (int c = 0; c < GNN_CONTENT_COUNT; c++) instance->contents[c] = instance->read[c] = content[c];
  if (dataset->own) instance->read[GNN_CONTENT_EDGES] = dataset->own->read;
  return status;
}
