/* entries.c: sparse matrices by their entries become edges and sparse features. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/room.h"

typedef struct entries_matrix {
  gnn_dataset *dataset;
  const char *name; /* without .indices */
  int length;       /* of it */
  const gnn_array *indices, *values, *shape;
  gnn_error *error;
} entries_matrix;

static int entries_ends(const char *name, const char *end) {
  const size_t length = strlen(name), tail = strlen(end);
  return length > tail && strcmp(name + length - tail, end) == 0;
}

static int entries_find(const gnn_tensor *arrays, int count, const entries_matrix *m, const char *end) {
  for (int i = 0; i < count; i++)
    if (strncmp(arrays[i].name, m->name, (size_t)m->length) == 0 && strcmp(arrays[i].name + m->length, end) == 0) return i;
  return -1;
}

static gnn_status entries_fail(const entries_matrix *m, const char *what) {
  return gnn_fail(m->error, GNN_EDATA, "", "%s: the sparse matrix %.*s %s", m->dataset->title, m->length, m->name, what);
}

static gnn_status entries_check(const entries_matrix *m) {
  const int64_t entries = m->indices->rank == 2 ? m->indices->shape[1] : -1;
  if (entries < 0 || m->indices->shape[0] != 2 || gnn_dtype_is_float(m->indices->dtype)) return entries_fail(m, "needs whole numbers [2, entries] as its indices");
  if (m->values->rank < 1 || m->values->rank > 2 || m->values->shape[0] != entries) return entries_fail(m, "has another number of values than of indices");
  if (m->shape->rank != 1 || m->shape->count < 2 || gnn_dtype_is_float(m->shape->dtype)) return entries_fail(m, "needs a shape of two whole numbers");
  const int64_t size[2] = {gnn_array_integer(m->shape, 0), gnn_array_integer(m->shape, 1)};
  for (int d = 0; d < 2; d++) {
    if (size[d] < 0 || size[d] >= INT32_MAX) return entries_fail(m, "has a shape beyond 2^31 - 2");
    for (int64_t e = 0; e < entries; e++) {
      const int64_t at = gnn_array_integer(m->indices, d * entries + e);
      if (at < 0 || at >= size[d])
        return gnn_fail(m->error, GNN_EDATA, "E0701", "%s: the sparse matrix %.*s has an entry in %s %lld of %lld", m->dataset->title, m->length, m->name, d ? "column" : "row", (long long)at,
                        (long long)size[d]);
    }
  }
  return GNN_OK;
}

/* The name of the data set's own: what stands before the last part of the matrix's, and `end`. */
static const char *entries_name(const entries_matrix *m, int before, const char *end) {
  const int64_t room = before + (int64_t)strlen(end) + 1;
  char *name = gnn_dataset_alloc(m->dataset, room, 1, m->error);
  if (name) snprintf(name, (size_t)room, "%.*s%s", before, m->name, end);
  return name;
}

/* Entries in row i and column j are edges from i to j, of a transposed matrix from j to i. */
static gnn_status entries_edges(const entries_matrix *m, int before, int is_transposed, gnn_tensor *made, int *count) {
  const int64_t edges = m->indices->shape[1], bytes = edges * gnn_dtype_bytes(m->indices->dtype);
  int is_all_one = 1;
  made[0] = (gnn_tensor){.name = entries_name(m, before, "edge_index"), .array = *m->indices};
  if (made[0].name == NULL) return GNN_ENOMEM;
  if (is_transposed) {
    unsigned char *turned = gnn_dataset_alloc(m->dataset, 2 * bytes, 1, m->error);
    if (turned == NULL) return GNN_ENOMEM;
    memcpy(turned, m->indices->data + bytes, (size_t)bytes);
    memcpy(turned + bytes, m->indices->data, (size_t)bytes);
    made[0].array.data = turned;
  }
  *count = 1;
  for (int64_t e = 0; is_all_one && e < m->values->count; e++) is_all_one = gnn_array_number(m->values, e) == 1;
  if (is_all_one) return GNN_OK;
  made[1] = (gnn_tensor){.name = entries_name(m, before, m->values->rank == 1 ? "edge_weight" : "edge_attr"), .array = *m->values};
  *count = 2;
  return made[1].name ? GNN_OK : GNN_ENOMEM;
}

enum { ENTRIES_ROOM_BYTES = 1 << 30 }; /* less is simply asked for */

typedef struct entries_sorter {
  int32_t column;
  float value;
} entries_sorter;

static int entries_by_column(const void *a, const void *b) {
  const int32_t x = ((const entries_sorter *)a)->column, y = ((const entries_sorter *)b)->column;
  return (x > y) - (x < y);
}

/* Each row by ascending columns; entries of one place add up, as torch says. Their number. */
static int64_t entries_put_rows(entries_sorter *entry, int64_t rows, int64_t *ptr, int32_t *column, float *value) {
  int64_t put = 0;
  for (int64_t r = 0, begin = 0; r < rows; r++) {
    const int64_t end = ptr[r + 1], first = put;
    qsort(entry + begin, (size_t)(end - begin), sizeof *entry, entries_by_column);
    for (int64_t k = begin; k < end; k++) {
      if (put > first && column[put - 1] == entry[k].column) value[put - 1] += entry[k].value;
      else {
        column[put] = entry[k].column;
        value[put++] = entry[k].value;
      }
    }
    begin = end;
    ptr[r + 1] = put;
  }
  return put;
}

static gnn_status entries_rows(const entries_matrix *m, gnn_tensor *made, int *count) {
  const int64_t entries = m->indices->shape[1], rows = gnn_array_integer(m->shape, 0), room = 8 * (rows + 2);
  if (m->values->rank != 1) return entries_fail(m, "has several values an entry");
  if (room > ENTRIES_ROOM_BYTES && room > gnn_available_bytes()) /* a few bytes can claim thousands of millions of rows */
    return gnn_fail(m->error, GNN_ENOMEM, "R0801", "%s: the sparse matrix %.*s takes %s, and memory has %s free", m->dataset->title, m->length, m->name, gnn_bytes_text(room).text,
                    gnn_bytes_text(gnn_available_bytes()).text);
  int64_t *ptr = gnn_dataset_alloc(m->dataset, rows + 2, sizeof *ptr, m->error);
  int32_t *column = gnn_dataset_alloc(m->dataset, entries, sizeof *column, m->error);
  float *value = gnn_dataset_alloc(m->dataset, entries, sizeof *value, m->error);
  if (ptr == NULL || column == NULL || value == NULL) return GNN_ENOMEM;
  entries_sorter *entry = calloc((size_t)entries + 1, sizeof *entry);
  int32_t *row = calloc((size_t)entries + 1, sizeof *row);
  if (entry == NULL || row == NULL) {
    free(entry);
    free(row);
    return gnn_fail_memory(m->error, (entries + 1) * (int64_t)(sizeof *entry + sizeof *row));
  }
  memset(ptr, 0, (size_t)(rows + 2) * sizeof *ptr);
  for (int64_t e = 0; e < entries; e++) {
    const int64_t at = gnn_array_integer(m->indices, e);
    row[e] = at < 0 || at >= rows ? 0 : (int32_t)at; /* the file may have changed since it was checked: its guard says so */
    ptr[row[e] + 2]++;
  }
  for (int64_t r = 0; r < rows; r++) ptr[r + 2] += ptr[r + 1];
  for (int64_t e = 0; e < entries; e++) entry[ptr[row[e] + 1]++] = (entries_sorter){(int32_t)gnn_array_integer(m->indices, entries + e), (float)gnn_array_number(m->values, e)};
  const int64_t put = entries_put_rows(entry, rows, ptr, column, value);
  free(entry);
  free(row);
  made[0] = (gnn_tensor){.name = entries_name(m, m->length, ".rowptr"), .array = {.dtype = GNN_I64, .rank = 1, .shape = {rows + 1}, .count = rows + 1, .data = (const unsigned char *)ptr}};
  made[1] = (gnn_tensor){.name = entries_name(m, m->length, ".col"), .array = {.dtype = GNN_I32, .rank = 1, .shape = {put}, .count = put, .data = (const unsigned char *)column}};
  made[2] = (gnn_tensor){.name = entries_name(m, m->length, ".val"), .array = {.dtype = GNN_F32, .rank = 1, .shape = {put}, .count = put, .data = (const unsigned char *)value}};
  made[3] = (gnn_tensor){.name = entries_name(m, m->length, ".shape"), .array = *m->shape};
  *count = 4;
  return made[0].name && made[1].name && made[2].name && made[3].name ? GNN_OK : GNN_ENOMEM;
}

static void entries_remove(gnn_tensor *arrays, int *count, int i) {
  memmove(arrays + i, arrays + i + 1, (size_t)(--*count - i) * sizeof *arrays);
}

gnn_status gnn_entries_sort(gnn_dataset *dataset, gnn_tensor *arrays, int *count, gnn_error *error) {
  static const char *const ends[] = {".indices", ".values", ".shape"};
  for (int i = 0; i < *count; i++) {
    entries_matrix m = {.dataset = dataset, .name = arrays[i].name, .error = error};
    gnn_tensor made[4];
    gnn_array parts[3];
    int is_there = entries_ends(m.name, ends[0]), made_count = 0;
    m.length = (int)strlen(m.name) - (is_there ? (int)strlen(ends[0]) : 0);
    for (int k = 1; is_there && k < 3; k++) is_there = entries_find(arrays, *count, &m, ends[k]) >= 0;
    if (!is_there) continue;
    for (int k = 0; k < 3; k++) parts[k] = arrays[entries_find(arrays, *count, &m, ends[k])].array;
    m.indices = &parts[0];
    m.values = &parts[1];
    m.shape = &parts[2];
    for (int k = 0; k < 3; k++) entries_remove(arrays, count, entries_find(arrays, *count, &m, ends[k]));
    int before = m.length;
    while (before > 0 && m.name[before - 1] != '.') before--;
    const int is_transposed = m.length - before == 5 && strncmp(m.name + before, "adj_t", 5) == 0, is_graph = is_transposed || (m.length - before == 3 && strncmp(m.name + before, "adj", 3) == 0);
    const entries_matrix owner = {.name = m.name, .length = before};
    i = -1; /* others have moved */
    if (is_graph && entries_find(arrays, *count, &owner, "edge_index") >= 0) {
      gnn_dataset_note(dataset, "%.*s is not used: there is edge_index", m.length, m.name);
      continue;
    }
    gnn_status status = entries_check(&m);
    if (status == GNN_OK) status = is_graph ? entries_edges(&m, before, is_transposed, made, &made_count) : entries_rows(&m, made, &made_count);
    if (status != GNN_OK) return status;
    for (int k = 0; k < made_count; k++) arrays[(*count)++] = made[k];
  }
  return GNN_OK;
}

gnn_status gnn_entries_take(gnn_dataset *dataset, const gnn_tensor *arrays, int count, int i, size_t prefix, const char *owner, int *is_part, gnn_error *error) {
  static const char *const ends[] = {".rowptr", ".col", ".val", ".shape"};
  *is_part = 0;
  for (int k = 0; k < 4; k++) {
    entries_matrix m = {.name = arrays[i].name};
    int part[4], is_whole = 1;
    char full[256];
    if (!entries_ends(m.name, ends[k])) continue;
    m.length = (int)(strlen(m.name) - strlen(ends[k]));
    for (int p = 0; p < 4; p++) is_whole &= (part[p] = entries_find(arrays, count, &m, ends[p])) >= 0;
    const gnn_array *shape = is_whole ? &arrays[part[3]].array : NULL;
    if (!is_whole || shape->rank != 1 || shape->count < 2 || gnn_dtype_is_float(shape->dtype) || gnn_array_integer(shape, 1) < 0 || gnn_array_integer(shape, 1) >= INT32_MAX) continue;
    for (int p = 0; p < 3; p++) is_whole &= arrays[part[p]].array.rank == 1;
    if (!is_whole) continue;
    *is_part = 1;
    if (k > 0) return GNN_OK;
    snprintf(full, sizeof full, "%s%s%.*s", owner, *owner ? "." : "", m.length - (int)prefix, m.name + prefix);
    return gnn_dataset_add_sparse(dataset, full, gnn_array_integer(shape, 1), &arrays[part[0]].array, &arrays[part[1]].array, &arrays[part[2]].array, error);
  }
  return GNN_OK;
}
