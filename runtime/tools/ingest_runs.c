/* ingest_runs.c: sorted runs of edges in files, and their merging. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ingest_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/base/file.h"
#include "runtime/base/open.h"

char *ingest_path(const char *folder, const char *name) { return gnn_path_join(folder, name); }

char *ingest_run_path(const char *folder, int64_t number) {
  char name[40];
  snprintf(name, sizeof name, "run-%lld", (long long)number);
  return gnn_path_join(folder, name);
}

/* ---- files that grow ---- */

gnn_status ingest_file_open(ingest_file *file, const char *folder, const char *name, int64_t bytes, int is_summed, uint32_t sum, size_t room, gnn_error *error) {
  *file = (ingest_file){.descriptor = -1, .room = room, .bytes = bytes, .sum = sum, .is_summed = is_summed};
  file->path = ingest_path(folder, name);
  file->buffer = malloc(room);
  if (file->path == NULL || file->buffer == NULL) {
    ingest_file_close(file);
    return gnn_fail_memory(error, (int64_t)room);
  }
  file->descriptor = open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file->descriptor >= 0) errno = 0;
  const int is_ready = file->descriptor >= 0 && lseek(file->descriptor, 0, SEEK_END) >= (off_t)bytes && ftruncate(file->descriptor, (off_t)bytes) == 0 && lseek(file->descriptor, (off_t)bytes, SEEK_SET) >= 0;
  if (is_ready) return GNN_OK;
  const gnn_status status = file->descriptor >= 0 && errno == 0 ? gnn_fail(error, GNN_EIO, "", "\"%s\" is shorter than it was", file->path) : gnn_fail_file(error, "write", file->path, errno ? errno : EIO);
  ingest_file_close(file);
  return status;
}

static void ingest_file_flush(ingest_file *file) {
  for (size_t at = 0; at < file->used && file->errno_value == 0;) {
    const ssize_t done = write(file->descriptor, file->buffer + at, file->used - at);
    if (done >= 0) at += (size_t)done;
    else if (errno != EINTR) file->errno_value = errno;
  }
  if (file->is_summed) file->sum = (uint32_t)crc32_z(file->sum, file->buffer, file->used);
  file->used = 0;
}

void ingest_file_put(ingest_file *file, const void *bytes, size_t count) {
  if (count > file->room - file->used) ingest_file_flush(file);
  memcpy(file->buffer + file->used, bytes, count);
  file->used += count;
  file->bytes += (int64_t)count;
}

gnn_status ingest_file_sync(ingest_file *file, gnn_error *error) {
  ingest_file_flush(file);
  if (file->errno_value == 0 && fsync(file->descriptor) != 0 && errno != EINVAL) file->errno_value = errno;
  return file->errno_value ? gnn_fail_file(error, "write", file->path, file->errno_value) : GNN_OK;
}

void ingest_file_close(ingest_file *file) {
  if (file->descriptor >= 0) close(file->descriptor);
  free(file->path);
  free(file->buffer);
  *file = (ingest_file){.descriptor = -1};
}

/* ---- runs ---- */

enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS, RADIX_DIGITS = 6 };

/* By their digits from the lowest; a digit that all keys share is passed over. The sorted keys are in what is returned, one of the two. */
static uint64_t *ingest_sort(uint64_t *keys, uint64_t *room, int64_t count, int64_t (*places)[RADIX_SIZE]) {
  memset(places, 0, sizeof *places * RADIX_DIGITS);
  for (int64_t i = 0; i < count; i++)
    for (int d = 0; d < RADIX_DIGITS; d++) places[d][keys[i] >> d * RADIX_BITS & (RADIX_SIZE - 1)]++;
  for (int d = 0; d < RADIX_DIGITS && count > 0; d++) {
    int64_t *place = places[d], sum = 0;
    if (place[keys[0] >> d * RADIX_BITS & (RADIX_SIZE - 1)] == count) continue;
    for (int k = 0; k < RADIX_SIZE; k++) {
      const int64_t own = place[k];
      place[k] = sum;
      sum += own;
    }
    for (int64_t i = 0; i < count; i++) room[place[keys[i] >> d * RADIX_BITS & (RADIX_SIZE - 1)]++] = keys[i];
    uint64_t *sorted = room;
    room = keys;
    keys = sorted;
  }
  return keys;
}

gnn_status ingest_run_write(const char *folder, uint64_t *keys, uint64_t *room, int64_t count, size_t block, ingest_run *run, int64_t *duplicates, gnn_error *error) {
  int64_t(*places)[RADIX_SIZE] = malloc(sizeof *places * RADIX_DIGITS);
  char name[40];
  ingest_file file;
  if (places == NULL) return gnn_fail_memory(error, (int64_t)sizeof *places * RADIX_DIGITS);
  const uint64_t *sorted = ingest_sort(keys, room, count, places);
  free(places);
  snprintf(name, sizeof name, "run-%lld", (long long)run->number);
  gnn_status status = ingest_file_open(&file, folder, name, 0, 0, 0, block, error);
  if (status != GNN_OK) return status;
  run->entries = 0;
  for (int64_t i = 0, next; i < count; i = next, run->entries++) {
    int64_t of_data = 0;
    for (next = i; next < count && sorted[next] >> 1 == sorted[i] >> 1; next++) of_data += !(sorted[next] & 1);
    if (of_data > 1) *duplicates += of_data - 1;
    ingest_file_put(&file, &sorted[i], sizeof *sorted); /* the data's come first */
  }
  status = ingest_file_sync(&file, error);
  ingest_file_close(&file);
  return status;
}

/* ---- merging ---- */

static gnn_status merge_read(const ingest_merge *merge, int k, int64_t at, uint64_t *to, int64_t count, gnn_error *error) {
  const size_t bytes = (size_t)count * sizeof *to;
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(merge->cursors[k].descriptor, (unsigned char *)to + done, bytes - done, (off_t)(at * (int64_t)sizeof *to + (int64_t)done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      char *path = ingest_run_path(merge->folder, merge->runs[k].number);
      const gnn_status status = got < 0 ? gnn_fail_file(error, "read", path ? path : merge->folder, errno) : gnn_fail(error, GNN_EIO, "", "\"%s\" is shorter than it was", path ? path : merge->folder);
      free(path);
      return status;
    }
    done += (size_t)got;
  }
  return GNN_OK;
}

/* The first key whose pair is behind `after`. */
static gnn_status merge_find(const ingest_merge *merge, int k, int64_t after, int64_t *found, gnn_error *error) {
  int64_t low = 0, high = merge->runs[k].entries;
  while (after >= 0 && low < high) {
    const int64_t middle = low + (high - low) / 2;
    uint64_t key;
    const gnn_status status = merge_read(merge, k, middle, &key, 1, error);
    if (status != GNN_OK) return status;
    if ((int64_t)(key >> 1) <= after) low = middle + 1;
    else high = middle;
  }
  *found = low;
  return GNN_OK;
}

/* The next key of a cursor; *is_there 0: it has no more. */
static gnn_status merge_advance(ingest_merge *merge, int k, int *is_there, gnn_error *error) {
  ingest_cursor *cursor = &merge->cursors[k];
  if (cursor->next == cursor->have) {
    const int64_t rest = cursor->entries - cursor->at, count = rest < merge->block_keys ? rest : merge->block_keys;
    *is_there = count > 0;
    if (count == 0) return GNN_OK;
    const gnn_status status = merge_read(merge, k, cursor->at, cursor->buffer, count, error);
    if (status != GNN_OK) return status;
    cursor->at += count;
    cursor->have = count;
    cursor->next = 0;
  }
  const uint64_t key = cursor->buffer[cursor->next++];
  *is_there = 1;
  if (cursor->key != UINT64_MAX && key >> 1 <= cursor->key >> 1) {
    char *path = ingest_run_path(merge->folder, merge->runs[k].number);
    const gnn_status status = gnn_fail(error, GNN_EIO, "", "\"%s\" is damaged: its edges do not ascend", path ? path : merge->folder);
    free(path);
    gnn_fail_help(error, "with --force everything begins anew");
    return status;
  }
  cursor->key = key;
  return GNN_OK;
}

static void merge_sink(ingest_merge *merge, int at) {
  int *heap = merge->heap;
  const int moved = heap[at];
  const uint64_t key = merge->cursors[moved].key;
  for (int child; (child = 2 * at + 1) < merge->heap_count; at = child) {
    if (child + 1 < merge->heap_count && merge->cursors[heap[child + 1]].key < merge->cursors[heap[child]].key) child++;
    if (merge->cursors[heap[child]].key >= key) break;
    heap[at] = heap[child];
  }
  heap[at] = moved;
}

void ingest_merge_close(ingest_merge *merge) {
  for (int k = 0; merge->cursors && k < merge->count; k++)
    if (merge->cursors[k].descriptor >= 0) close(merge->cursors[k].descriptor);
  free(merge->cursors);
  free(merge->buffers);
  free(merge->heap);
  *merge = (ingest_merge){0};
}

static gnn_status merge_begin(ingest_merge *merge, int64_t after, gnn_error *error) {
  gnn_status status = GNN_OK;
  for (int k = 0; status == GNN_OK && k < merge->count; k++) {
    ingest_cursor *cursor = &merge->cursors[k];
    char *path = ingest_run_path(merge->folder, merge->runs[k].number);
    int is_there = 0;
    if (path == NULL) return gnn_fail_memory(error, 256);
    cursor->descriptor = gnn_open_plain(path);
    if (cursor->descriptor < 0) status = gnn_fail_file(error, "read", path, errno);
    free(path);
    cursor->buffer = merge->buffers + k * merge->block_keys;
    cursor->entries = merge->runs[k].entries;
    cursor->key = UINT64_MAX;
    if (status == GNN_OK) status = merge_find(merge, k, after, &cursor->at, error);
    if (status == GNN_OK) status = merge_advance(merge, k, &is_there, error);
    if (is_there) merge->heap[merge->heap_count++] = k;
  }
  for (int at = merge->heap_count / 2; at-- > 0;) merge_sink(merge, at);
  return status;
}

gnn_status ingest_merge_open(ingest_merge *merge, const char *folder, const ingest_run *runs, int count, int64_t loops, int64_t after, size_t block, gnn_error *error) {
  *merge = (ingest_merge){.folder = folder, .runs = runs, .count = count, .block_keys = (int64_t)(block / sizeof(uint64_t)), .loops = loops};
  if (after >= 0) merge->loop = ingest_major((uint64_t)after) + (ingest_minor((uint64_t)after) >= ingest_major((uint64_t)after));
  merge->cursors = calloc((size_t)count + 1, sizeof *merge->cursors);
  merge->buffers = malloc((size_t)count * block + 1);
  merge->heap = malloc(((size_t)count + 1) * sizeof *merge->heap);
  for (int k = 0; merge->cursors && k < count; k++) merge->cursors[k].descriptor = -1;
  gnn_status status = merge->cursors && merge->buffers && merge->heap ? merge_begin(merge, after, error) : gnn_fail_memory(error, count * (int64_t)block);
  if (status != GNN_OK) ingest_merge_close(merge);
  return status;
}

gnn_status ingest_merge_next(ingest_merge *merge, uint64_t *pair, int64_t *of_data, int *is_there, gnn_error *error) {
  const int has_loop = merge->loop < merge->loops;
  const uint64_t loop = has_loop ? ingest_key(merge->loop, merge->loop, 0) >> 1 : UINT64_MAX;
  *is_there = has_loop || merge->heap_count > 0;
  if (!*is_there) return GNN_OK;
  *pair = merge->heap_count ? merge->cursors[merge->heap[0]].key >> 1 : UINT64_MAX;
  *of_data = 0;
  if (loop <= *pair) {
    *pair = loop;
    merge->loop++;
  }
  while (merge->heap_count && merge->cursors[merge->heap[0]].key >> 1 == *pair) {
    const int top = merge->heap[0];
    int has_more;
    *of_data += !(merge->cursors[top].key & 1);
    const gnn_status status = merge_advance(merge, top, &has_more, error);
    if (status != GNN_OK) return status;
    if (!has_more) merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count) merge_sink(merge, 0);
  }
  return GNN_OK;
}
