/* contents.c: checksums of prepared data, part by part on all threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "contents.h"
#include "prepare.h"
#include "kernels/cpu/random.h"
#include "runtime/core/ranks.h"

#include <stdlib.h>
#include <zlib.h>

const char *const gnn_content_names[GNN_CONTENT_COUNT] = {"edges", "features", "labels", "splits"};

enum { CONTENTS_PART_BYTES = 1 << 20, CONTENTS_PART_ROWS = 1 << 12, CONTENTS_KEPT = 512 };

typedef struct contents_part {
  const void *bytes;
  const gnn_data_field *field;
  uint32_t *sum; /* of each part */
} contents_part;

static void contents_bytes(const void *context, int64_t begin, int64_t end, int64_t task) {
  const contents_part *part = context;
  part->sum[task] = (uint32_t)crc32_z(0, (const unsigned char *)part->bytes + begin, (size_t)(end - begin));
}

/* Numbers are summed up as if they were stored in the way that takes less: how they are stored makes no difference. */
static int contents_is_thin(const gnn_data_field *field) { return field->nonzeros * 3 < field->rows * field->width; }

/* The numbers that are not 0 with their columns, and where each row ends. */
static uLong contents_thin(const gnn_data_field *field, int64_t begin, int64_t end) {
  const int is_dense = field->storage == GNN_DENSE;
  struct { int32_t column; float value; } kept[CONTENTS_KEPT];
  gnn_reading window = {is_dense ? field->dense + begin * field->width : NULL};
  int count = 0;
  uLong sum = 0;
  for (int64_t r = begin; r < end; r++) {
    const int64_t first = is_dense ? r * field->width : field->ptr[r], last = is_dense ? first + field->width : field->ptr[r + 1];
    for (int64_t k = first; k <= last; k++) {
      const float value = k == last ? 0 : is_dense ? field->dense[k] : field->value ? field->value[k] : 1;
      if (k < last && value == 0) continue;
      kept[count].column = k == last ? -1 : is_dense ? (int32_t)(k - first) : field->column[k];
      kept[count++].value = value;
      if (count < CONTENTS_KEPT) continue;
      sum = crc32_z(sum, (const unsigned char *)kept, sizeof kept);
      count = 0;
    }
    if (is_dense) gnn_reading_pass(&window, field->dense + last);
  }
  if (is_dense) gnn_reading_end(&window, field->dense + end * field->width);
  return crc32_z(sum, (const unsigned char *)kept, (size_t)count * sizeof *kept);
}

/* Every number, the zeros too. */
static uLong contents_thick(const gnn_data_field *field, int64_t begin, int64_t end) {
  if (field->storage == GNN_DENSE) return gnn_file_sum(field->dense + begin * field->width, (size_t)((end - begin) * field->width) * sizeof *field->dense);
  float kept[CONTENTS_KEPT];
  int count = 0;
  uLong sum = 0;
  int64_t k = field->ptr[begin];
  for (int64_t r = begin; r < end; r++) {
    for (int64_t c = 0; c < field->width; c++) {
      const int is_stored = k < field->ptr[r + 1] && field->column[k] == c;
      kept[count++] = !is_stored ? 0 : field->value ? field->value[k] : 1;
      k += is_stored;
      if (count < CONTENTS_KEPT) continue;
      sum = crc32_z(sum, (const unsigned char *)kept, sizeof kept);
      count = 0;
    }
  }
  return crc32_z(sum, (const unsigned char *)kept, (size_t)count * sizeof *kept);
}

static void contents_rows(const void *context, int64_t begin, int64_t end, int64_t task) {
  const contents_part *part = context;
  part->sum[task] = (uint32_t)(contents_is_thin(part->field) ? contents_thin : contents_thick)(part->field, begin, end);
}

/* *content goes on with `count` bytes or rows. */
static gnn_status contents_add(gnn_team *team, contents_part part, int64_t count, int64_t *content, gnn_error *error) {
  const int64_t extent = part.field ? CONTENTS_PART_ROWS : CONTENTS_PART_BYTES, tasks = (count + extent - 1) / extent;
  part.sum = malloc((size_t)(tasks + 1) * sizeof *part.sum);
  if (part.sum == NULL) return gnn_fail_memory(error, (tasks + 1) * (int64_t)sizeof *part.sum);
  gnn_parallel(team, count, extent, part.field ? contents_rows : contents_bytes, &part);
  part.sum[tasks] = (uint32_t)count;
  *content = (int64_t)crc32_z((uLong)*content, (const unsigned char *)part.sum, (size_t)(tasks + 1) * sizeof *part.sum);
  free(part.sum);
  return GNN_OK;
}

/* Edges row by row, each with its number: in whatever order, and whoever has them. */
typedef struct contents_edges {
  const int64_t *ptr;
  const int32_t *source;
  int64_t first;  /* the number of row 0 */
  uint64_t *sum;  /* of each part */
} contents_edges;

static void contents_edge_rows(const void *context, int64_t begin, int64_t end, int64_t task) {
  const contents_edges *part = context;
  uint64_t sum = 0;
  for (int64_t r = begin; r < end; r++) {
    const int64_t entries = part->ptr[r + 1] - part->ptr[r];
    const uLong row = crc32_z(0, (const unsigned char *)(part->source + part->ptr[r]), (size_t)entries * sizeof *part->source);
    sum += gnn_mix64(gnn_mix64((uint64_t)(part->first + r)) ^ (uint64_t)entries << 32 ^ (uint64_t)row);
  }
  part->sum[task] = sum;
}

static gnn_status contents_of_edges(gnn_instance *instance, const gnn_dataset *dataset, int64_t *content, gnn_error *error) {
  const gnn_own_edges *own = dataset->own;
  const int64_t rows = own ? own->end - own->begin : dataset->nodes, tasks = (rows + CONTENTS_PART_ROWS - 1) / CONTENTS_PART_ROWS;
  contents_edges part = {.ptr = own ? own->in_ptr : dataset->in_ptr, .source = own ? own->in_source : dataset->in_source, .first = own ? own->begin : 0,
                         .sum = malloc((size_t)(tasks + 1) * sizeof *part.sum)};
  if (part.sum == NULL) return gnn_fail_memory(error, (tasks + 1) * (int64_t)sizeof *part.sum);
  gnn_parallel(instance->run.team, rows, CONTENTS_PART_ROWS, contents_edge_rows, &part);
  uint64_t sum = 0;
  for (int64_t t = 0; t < tasks; t++) sum += part.sum[t];
  int64_t halves[2] = {(int64_t)(sum >> 32), (int64_t)(sum & UINT32_MAX)};
  if (own) gnn_ranks_add(instance->run.ranks, halves, 2);
  sum = ((uint64_t)halves[0] << 32) + (uint64_t)halves[1];
  *content = (int64_t)crc32_z(0, (const unsigned char *)&sum, sizeof sum);
  free(part.sum);
  return GNN_OK;
}

gnn_status gnn_contents_take(gnn_instance *instance, const gnn_dataset *dataset, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_team *team = instance->run.team;
  int64_t content[GNN_CONTENT_COUNT] = {0};
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
    else status = contents_add(team, (contents_part){.field = field}, field->rows, &content[GNN_CONTENT_FEATURES], error);
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
