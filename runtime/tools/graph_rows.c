/* graph_rows.c: the rows of a graph one after the other. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "graph_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "kernels/cpu/random.h"
#include "runtime/base/open.h"
#include "runtime/data/order_file.h"
#include "runtime/data/safetensors.h"

graph_rows graph_rows_of(const gnn_dataset *dataset, const int64_t *out_ptr, const int32_t *out_idx) {
  return (graph_rows){.nodes = dataset->nodes, .edges = dataset->edges, .directions = dataset->is_symmetric ? 1 : 2, .ptr = {dataset->in_ptr, out_ptr}, .idx = {dataset->in_source, out_idx}, .descriptor = -1};
}

void graph_rows_close(graph_rows *rows) {
  if (rows->descriptor >= 0) close(rows->descriptor);
  free(rows->path);
  *rows = (graph_rows){.descriptor = -1};
}

/* ---- walking ---- */

static gnn_status walk_read(const graph_rows *rows, int64_t at, void *to, int64_t bytes, gnn_error *error) {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t got = pread(rows->descriptor, (char *)to + done, (size_t)(bytes - done), (off_t)(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return gnn_fail_file(error, "read", rows->path, errno);
    if (got == 0) return gnn_fail(error, GNN_EIO, "E0001", "\"%s\" was cut short while it was being read", rows->path);
    done += got;
  }
  return GNN_OK;
}

gnn_status graph_walk_begin(const graph_rows *rows, int direction, graph_walk *walk, gnn_error *error) {
  *walk = (graph_walk){.rows = rows, .direction = direction};
  if (rows->ptr[0]) return GNN_OK;
  walk->idx_room = (int64_t)(rows->block / sizeof *walk->idx);
  walk->ptr = malloc(rows->block);
  walk->idx = malloc(rows->block);
  if (walk->ptr && walk->idx) return GNN_OK;
  graph_walk_end(walk);
  return gnn_fail_memory(error, 2 * (int64_t)rows->block);
}

void graph_walk_end(graph_walk *walk) {
  free(walk->ptr);
  free(walk->idx);
  walk->ptr = NULL;
  walk->idx = NULL;
}

static gnn_status walk_pointer(graph_walk *walk, int64_t row, int64_t *value, gnn_error *error) {
  const graph_rows *rows = walk->rows;
  if (row < walk->ptr_first || row >= walk->ptr_first + walk->ptr_have) {
    const int64_t most = (int64_t)(rows->block / sizeof *walk->ptr), rest = rows->nodes + 1 - row;
    walk->ptr_first = row;
    walk->ptr_have = rest < most ? rest : most;
    const gnn_status status = walk_read(rows, rows->at_ptr[walk->direction] + row * 8, walk->ptr, walk->ptr_have * 8, error);
    if (status != GNN_OK) return status;
  }
  *value = walk->ptr[row - walk->ptr_first];
  return GNN_OK;
}

/* The entries begin .. end - 1 are in idx. */
static gnn_status walk_entries(graph_walk *walk, int64_t begin, int64_t end, gnn_error *error) {
  const graph_rows *rows = walk->rows;
  if (begin >= walk->idx_first && end <= walk->idx_first + walk->idx_have) return GNN_OK;
  if (end - begin > walk->idx_room) {
    int32_t *more = realloc(walk->idx, (size_t)(end - begin) * sizeof *more);
    if (more == NULL) return gnn_fail_memory(error, (end - begin) * (int64_t)sizeof *more);
    walk->idx = more;
    walk->idx_room = end - begin;
  }
  const int64_t rest = rows->edges - begin;
  walk->idx_first = begin;
  walk->idx_have = rest < walk->idx_room ? rest : walk->idx_room;
  const gnn_status status = walk_read(rows, rows->at_idx[walk->direction] + begin * 4, walk->idx, walk->idx_have * 4, error);
  int is_wrong = 0;
  for (int64_t i = 0; status == GNN_OK && i < walk->idx_have; i++) is_wrong |= (uint32_t)walk->idx[i] >= (uint32_t)rows->nodes;
  return is_wrong ? gnn_fail(error, GNN_EDATA, "E0701", "\"%s\" names a node that there is not: they run 0 … %lld", rows->path, (long long)rows->nodes - 1) : status;
}

gnn_status graph_walk_next(graph_walk *walk, const int32_t **entries, int64_t *count, gnn_error *error) {
  const graph_rows *rows = walk->rows;
  if (rows->ptr[0]) {
    const int64_t *ptr = rows->ptr[walk->direction];
    *entries = rows->idx[walk->direction] + ptr[walk->row];
    *count = ptr[walk->row + 1] - ptr[walk->row];
    walk->row++;
    return GNN_OK;
  }
  int64_t end, first = 0;
  gnn_status status = walk->row == 0 ? walk_pointer(walk, 0, &first, error) : GNN_OK;
  if (status == GNN_OK) status = walk_pointer(walk, walk->row + 1, &end, error);
  if (status == GNN_OK && (first != 0 || end < walk->begin || end > rows->edges || (walk->row + 1 == rows->nodes && end != rows->edges)))
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\": where row %lld ends is %lld; that must rise to %lld", rows->path, (long long)walk->row, (long long)end, (long long)rows->edges);
  if (status == GNN_OK) status = walk_entries(walk, walk->begin, end, error);
  if (status != GNN_OK) return status;
  *entries = walk->idx + (walk->begin - walk->idx_first);
  *count = end - walk->begin;
  walk->begin = end;
  walk->row++;
  return GNN_OK;
}

/* ---- a container ---- */

static int64_t rows_place(const gnn_safetensors *file, const char *name, gnn_dtype dtype, int64_t count) {
  const gnn_array *array = gnn_safetensors_find(file, name);
  return array && array->rank == 1 && array->dtype == dtype && (count < 0 || array->count == count) ? array->data - file->file.data : -1;
}

/* The sum of one of its tensors, as the header has it; 0: it has none. */
static int rows_sum(const gnn_safetensors *file, const char *name, char digits[9]) {
  const char *sums = gnn_safetensors_text(file, "gnncc.crc32.data");
  for (int i = 0; file->has_sums && sums && i < file->tensor_count; i++) {
    if (strcmp(file->tensors[i].name, name) != 0) continue;
    memcpy(digits, sums + 9 * (size_t)i, 8);
    digits[8] = 0;
    return 1;
  }
  return 0;
}

static gnn_status rows_check_sum(graph_rows *rows, const gnn_safetensors *file, const char *name, int64_t at, int64_t bytes, unsigned char *buffer, gnn_error *error) {
  char digits[9], found[16];
  uLong sum = 0;
  if (!rows_sum(file, name, digits)) return GNN_OK;
  for (int64_t done = 0; done < bytes;) {
    const int64_t count = bytes - done < (int64_t)rows->block ? bytes - done : (int64_t)rows->block;
    const gnn_status status = walk_read(rows, at + done, buffer, count, error);
    if (status != GNN_OK) return status;
    sum = crc32_z(sum, buffer, (size_t)count);
    done += count;
  }
  snprintf(found, sizeof found, "%08lx", sum & 0xffffffffUL);
  return strcmp(found, digits) == 0 ? GNN_OK : gnn_fail(error, GNN_EDATA, "", "\"%s\" is a damaged safetensors file: tensor \"%s\" does not match its checksum", rows->path, name);
}

/* Every edge, whichever way its row stands, adds to both: equal sums are equal sets of edges, but for one chance in 2^64. */
static gnn_status rows_survey(graph_rows *rows, int direction, uint64_t *forward, uint64_t *backward, gnn_error *error) {
  graph_walk walk;
  gnn_status status = graph_walk_begin(rows, direction, &walk, error);
  *forward = *backward = 0;
  for (int64_t r = 0; status == GNN_OK && r < rows->nodes; r++) {
    const int32_t *entries;
    int64_t count;
    status = graph_walk_next(&walk, &entries, &count, error);
    for (int64_t e = 0; status == GNN_OK && e < count; e++) {
      const uint64_t source = (uint64_t)(direction ? r : entries[e]), destination = (uint64_t)(direction ? entries[e] : r);
      *forward += gnn_mix64(gnn_mix64(source) ^ destination);
      *backward += gnn_mix64(gnn_mix64(destination) ^ source);
      if (e > 0 && entries[e] <= entries[e - 1]) {
        status = gnn_fail(error, GNN_EDATA, "", "\"%s\": row %lld does not ascend", rows->path, (long long)r);
        gnn_fail_help(error, "gnndata convert writes it so that it does");
      }
    }
  }
  graph_walk_end(&walk);
  return status;
}

static gnn_status rows_fingerprint(graph_rows *rows, gnn_error *error) {
  graph_walk walk;
  uint64_t hash = (uint64_t)rows->nodes;
  gnn_status status = graph_walk_begin(rows, 0, &walk, error);
  for (int64_t r = 0, end; status == GNN_OK && r < rows->nodes; r++) {
    status = walk_pointer(&walk, r + 1, &end, error);
    hash = gnn_mix64(hash ^ (uint64_t)end);
  }
  for (int64_t r = 0; status == GNN_OK && r < rows->nodes; r++) {
    const int32_t *entries;
    int64_t count;
    status = graph_walk_next(&walk, &entries, &count, error);
    for (int64_t e = 0; status == GNN_OK && e < count; e++) hash = gnn_mix64(hash ^ (uint64_t)entries[e]);
  }
  graph_walk_end(&walk);
  rows->fingerprint = hash ? hash : 1;
  return status;
}

static gnn_status rows_check(graph_rows *rows, const gnn_safetensors *file, int has_columns, gnn_error *error) {
  static const char *const names[2][2] = {{"csr.rowptr", "csr.col"}, {"csc.colptr", "csc.row"}};
  uint64_t forward[2] = {0}, backward[2] = {0};
  unsigned char *buffer = malloc(rows->block);
  gnn_status status = buffer ? GNN_OK : gnn_fail_memory(error, (int64_t)rows->block);
  for (int d = 0; status == GNN_OK && d < 1 + has_columns; d++) {
    status = rows_check_sum(rows, file, names[d][0], rows->at_ptr[d], (rows->nodes + 1) * 8, buffer, error);
    if (status == GNN_OK) status = rows_check_sum(rows, file, names[d][1], rows->at_idx[d], rows->edges * 4, buffer, error);
    if (status == GNN_OK) status = rows_survey(rows, d, &forward[d], &backward[d], error);
  }
  free(buffer);
  if (status != GNN_OK) return status;
  const int is_symmetric = forward[0] == backward[0];
  if (!is_symmetric && !has_columns) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has no csc.colptr and csc.row, and some edges have no reverse", rows->path);
    gnn_fail_help(error, "gnndata convert writes them");
  } else if (has_columns && forward[0] != forward[1]) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\": csr.* and csc.* have different edges", rows->path);
  }
  rows->directions = is_symmetric ? 1 : 2;
  return status == GNN_OK ? rows_fingerprint(rows, error) : status;
}

gnn_status graph_rows_open(const char *path, size_t block, graph_rows *rows, gnn_error *error) {
  gnn_safetensors file;
  int64_t nodes = -1;
  *rows = (graph_rows){.descriptor = -1, .block = block};
  gnn_status status = gnn_safetensors_peek(path, &file, error);
  if (status != GNN_OK) return status;
  const gnn_array *ptr = gnn_safetensors_find(&file, "csr.rowptr"), *column = gnn_safetensors_find(&file, "csr.col");
  const char *text = gnn_safetensors_text(&file, "gnncc.nodes");
  rows->nodes = ptr ? ptr->count - 1 : 0;
  rows->edges = column ? column->count : 0;
  rows->at_ptr[0] = rows_place(&file, "csr.rowptr", GNN_I64, -1);
  rows->at_idx[0] = rows_place(&file, "csr.col", GNN_I32, -1);
  rows->at_ptr[1] = rows_place(&file, "csc.colptr", GNN_I64, rows->nodes + 1);
  rows->at_idx[1] = rows_place(&file, "csc.row", GNN_I32, rows->edges);
  rows->path = strdup(path);
  const int is_read = rows->at_ptr[0] >= 0 && rows->at_idx[0] >= 0 && rows->nodes > 0 && rows->nodes < INT32_MAX && (!text || (gnn_parse_integer(text, &nodes) && nodes == rows->nodes));
  if (rows->path == NULL) status = gnn_fail_memory(error, 256);
  else if (!is_read) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has no graph in the form that can be read row by row: csr.rowptr in I64 and csr.col in I32", path);
    gnn_fail_help(error, "gnndata convert writes it");
  } else if ((rows->descriptor = gnn_open_plain(path)) < 0) status = gnn_fail_file(error, "read", path, errno);
  if (status == GNN_OK) status = rows_check(rows, &file, rows->at_ptr[1] >= 0 && rows->at_idx[1] >= 0, error);
  gnn_safetensors_close(&file);
  if (status != GNN_OK) graph_rows_close(rows);
  return status;
}
