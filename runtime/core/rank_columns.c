/* rank_columns.c: sums over neighbours that go over the whole graph, of some columns on each rank (compiler/graph/transpose.h): columns of the rows of all come, and sums go back to where their rows are. Where
 * there are fewer columns than ranks, the first ranks have them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

int gnn_has_columns(const gnn_run *run, int holders) { return run->ranks->rank < holders; }

void gnn_columns_part(const gnn_run *run, int64_t r, const gnn_real *row, int holders, int64_t columns, gnn_real *sending, gnn_real *table) {
  const gnn_ranks *ranks = run->ranks;
  for (int p = 0; p < holders; p++) {
    gnn_real *to = p == ranks->rank ? table + (ranks->desc->first[p] + r) * columns : sending + ((p - (p > ranks->rank)) * run->nodes + r) * columns;
    memcpy(to, row + p * columns, (size_t)columns * sizeof *to);
  }
}

void gnn_columns_stay(const gnn_run *run, int64_t begin, int64_t end, const gnn_real *sums, int holders, int64_t columns, gnn_real *back) {
  const gnn_ranks *ranks = run->ranks;
  if (!gnn_has_columns(run, holders)) return;
  memcpy(back + (ranks->rank * run->nodes + begin) * columns, sums + (ranks->desc->first[ranks->rank] + begin) * columns, (size_t)((end - begin) * columns) * sizeof *back);
}

void gnn_columns_join(const gnn_run *run, int64_t begin, int64_t end, const gnn_real *back, int64_t columns, int64_t width, gnn_real *to) {
  for (int64_t r = begin; r < end; r++)
    for (int64_t p = 0, done = 0; done < width; p++, done += columns)
      memcpy(to + r * width + done, back + (p * run->nodes + r) * columns, (size_t)(width - done < columns ? width - done : columns) * sizeof *to);
}

/* What stays of the rank itself is between the messages to others, or those from them, where there is some. */
static void columns_list(const gnn_ranks *ranks, int holders, gnn_columns_lists *lists) {
  const int64_t *first = ranks->desc->first, rows = first[ranks->rank + 1] - first[ranks->rank];
  const int has_columns = ranks->rank < holders;
  for (int p = 0; p <= ranks->count; p++) {
    const int before = p < holders ? p : holders;
    lists->to_holders[p] = (before - (has_columns && p > ranks->rank)) * rows;
    lists->of_holders[p] = before * rows;
    lists->of_all[p] = has_columns ? first[p] : 0;
  }
}

gnn_status gnn_columns_begin(gnn_ranks *ranks, gnn_error *error) {
  const gnn_program *program = ranks->program;
  for (int c = 0; c < program->copy_count; c++) {
    const int holders = program->copies[c].holders;
    if (holders == 0 || ranks->columns[holders]) continue;
    ranks->columns[holders] = malloc(sizeof *ranks->columns[holders]);
    if (ranks->columns[holders] == NULL) return gnn_fail_memory(error, (int64_t)sizeof *ranks->columns[holders]);
    columns_list(ranks, holders, ranks->columns[holders]);
  }
  return GNN_OK;
}

void gnn_columns_end(gnn_ranks *ranks) {
  for (int h = 0; h <= ranks->count; h++) free(ranks->columns[h]);
}
