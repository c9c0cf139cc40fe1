#include "fill_halo.h"

#include <stdlib.h>

static gnn_status halo_misfit(const char *title, gnn_error *error) {
  return gnn_fail(error, GNN_EDATA, "R0802", "parts of %s gather other rows of each other than those of the data that the program was compiled for: compile it again with these data", title);
}

/* The entries of one part: which rows it gathers, into the lists, then codes for ids. number: [nodes], all -1 before and after. */
static int halo_of_part(const gnn_graph_desc *plan, const struct gnn_halo_desc *desc, int64_t part, const int64_t *ptr, const int32_t *idx, const int64_t *first, int32_t *number, int32_t *row,
                        uint32_t *code) {
  const int64_t parts = INT64_C(1) << plan->part_levels, begin = ptr[plan->part_first[part]], end = ptr[plan->part_first[part + 1]];
  int is_alike = 1;
  for (int64_t e = begin; e < end; e++) number[idx[e]] = 0;
  for (int64_t q = 0; q < parts; q++) {
    const int64_t planned = desc->pairs[part * parts + q];
    int64_t count = 0;
    for (int64_t r = plan->part_first[q]; r < plan->part_first[q + 1]; r++) {
      if (number[r] < 0) continue;
      if (count < planned) row[first[q * parts + part] + count] = (int32_t)r;
      number[r] = (int32_t)(q << plan->halo_shift | count++);
    }
    is_alike &= count == planned;
  }
  for (int64_t e = begin; e < end; e++) code[e] = (uint32_t)number[idx[e]];
  for (int64_t q = 0; q < parts; q++)
    for (int64_t r = first[q * parts + part]; is_alike && r < first[q * parts + part + 1]; r++) number[row[r]] = -1;
  return is_alike;
}

gnn_status gnn_fill_halo(gnn_instance *instance, int direction, const int64_t *ptr, const int32_t *idx, const char *title, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_graph_desc *plan = &run->program->graph;
  const struct gnn_halo_desc *desc = &plan->halo[direction];
  const int64_t parts = INT64_C(1) << plan->part_levels;
  uint32_t *code = gnn_instance_at(instance, desc->at_code);
  int32_t *row = gnn_instance_at(instance, desc->at_row), *number = malloc((size_t)run->nodes * sizeof *number + 1);
  int64_t *first = gnn_instance_at(instance, desc->at_first), rows = 0;
  if (number == NULL) return gnn_fail_memory(error, run->nodes * (int64_t)sizeof *number);
  for (int64_t r = 0; r < run->nodes; r++) number[r] = -1;
  for (int64_t q = 0; q < parts; q++)
    for (int64_t p = 0; p < parts; p++) {
      first[q * parts + p] = rows;
      rows += desc->pairs[p * parts + q];
    }
  first[parts * parts] = rows;
  int is_alike = 1;
  for (int64_t p = 0; p < parts && is_alike; p++) is_alike = halo_of_part(plan, desc, p, ptr, idx, first, number, row, code);
  free(number);
  run->halo[direction] = (gnn_halo_rows){code, row, first};
  return is_alike ? GNN_OK : halo_misfit(title, error);
}
