/* prepare_rows.c: fields of nodes that have not the same number of rows: which of them is wrong. The others, masks and the ends of edges tell. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "prepare.h"

typedef struct rows_votes {
  int64_t rows;
  int fields, masks, edges; /* that have so many, or that need just so many */
} rows_votes;

static int64_t rows_of(const gnn_data_field *field) { return field->is_raw_sparse ? field->raw_ptr.count - 1 : field->raw.rank ? field->raw.shape[0] : -1; }

static int64_t rows_that_edges_need(const gnn_dataset *dataset) {
  const gnn_array *ends[] = {&dataset->raw_source, &dataset->raw_destination};
  int64_t greatest = -1;
  for (int k = 0; k < 2; k++)
    for (int64_t e = 0; ends[k]->data && e < ends[k]->count; e++) {
      const int64_t id = gnn_array_integer(ends[k], e);
      greatest = id > greatest ? id : greatest;
    }
  return greatest + 1;
}

/* No number below what the edges need can be meant, unless nothing else is there. */
static rows_votes rows_count_votes(const gnn_dataset *dataset, int64_t rows, int64_t needed) {
  rows_votes votes = {.rows = rows, .edges = rows == needed};
  for (int f = 0; f < dataset->field_count; f++) votes.fields += dataset->fields[f].domain == GNN_NODE && rows_of(&dataset->fields[f]) == rows;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const gnn_array *one = &dataset->raw_split[s], *many = &dataset->raw_splits[s];
    votes.masks += one->data && !dataset->is_split_ids[s] && one->rank == 1 && one->shape[0] == rows;
    votes.masks += many->data && many->rank == 2 && many->shape[1] == rows;
  }
  return votes;
}

static int rows_weight(const rows_votes *votes, int64_t needed) { return votes->rows < needed ? 0 : votes->fields + votes->masks + votes->edges; }

gnn_status gnn_prepare_rows(const gnn_dataset *dataset, gnn_error *error) {
  const gnn_data_field *first = NULL, *other = NULL;
  for (int f = 0; f < dataset->field_count && dataset->type_count == 0; f++) {
    const gnn_data_field *field = &dataset->fields[f];
    if (field->domain != GNN_NODE || rows_of(field) < 0) continue;
    if (first == NULL) first = field;
    else if (rows_of(field) != rows_of(first) && other == NULL) other = field;
  }
  if (other == NULL) return GNN_OK;
  const int64_t needed = rows_that_edges_need(dataset);
  rows_votes best = rows_count_votes(dataset, rows_of(first), needed);
  int is_tied = 0;
  for (int f = 0; f < dataset->field_count; f++) {
    const gnn_data_field *field = &dataset->fields[f];
    if (field->domain != GNN_NODE || rows_of(field) == best.rows) continue;
    const rows_votes votes = rows_count_votes(dataset, rows_of(field), needed);
    const int more = rows_weight(&votes, needed) - rows_weight(&best, needed);
    is_tied = more == 0 || (is_tied && more < 0);
    if (more > 0) best = votes;
  }
  if (is_tied)
    return gnn_fail(error, GNN_EDATA, "", "%s: %s has %s rows and %s has %s; both should have one for each node", gnn_field_title(dataset, other->file ? other : first), first->name, gnn_count_text(rows_of(first)).text, other->name,
                    gnn_count_text(rows_of(other)).text);
  const gnn_data_field *wrong = rows_of(first) != best.rows ? first : other;
  gnn_status status = gnn_fail(error, GNN_EDATA, "", "%s: %s has %s rows, but there are %s nodes", gnn_field_title(dataset, wrong), wrong->name, gnn_count_text(rows_of(wrong)).text, gnn_count_text(best.rows).text);
  const gnn_data_field *right = wrong == first ? other : first;
  gnn_fail_help(error, "%s has that many rows%s%s", right->name, best.masks ? ", masks have that many entries" : "", best.edges ? ", edges name that many nodes" : "");
  return status;
}
