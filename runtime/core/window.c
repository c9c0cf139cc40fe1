/* window.c: files of the user's behind offsets of the scratch file. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/guard.h"

/* The one at `first`, again where there was one. */
static gnn_window *window_at(gnn_scratch *scratch, int64_t first, gnn_error *error) {
  for (int i = 0; i < scratch->window_count; i++) {
    gnn_window *window = &scratch->window[i];
    if (window->first != first) continue;
    if (window->path) close(window->file);
    free(window->path);
    *window = (gnn_window){.first = first, .file = -1};
    return window;
  }
  if (scratch->window_count < GNN_WINDOWS_MOST) {
    scratch->window[scratch->window_count] = (gnn_window){.first = first, .file = -1};
    return &scratch->window[scratch->window_count++];
  }
  gnn_fail(error, GNN_EINVAL, "", "internal: more than %d files to read from", GNN_WINDOWS_MOST);
  return NULL;
}

/* Past the page cache where that works. */
static int window_open_file(const char *path, int *is_direct) {
  _Alignas(GNN_SCRATCH_UNIT_BYTES) unsigned char unit[GNN_SCRATCH_UNIT_BYTES];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
  *is_direct = file >= 0 && pread(file, unit, sizeof unit, 0) >= 0;
  if (*is_direct) return file;
  if (file >= 0) close(file);
  return open(path, O_RDONLY | O_CLOEXEC);
}

gnn_status gnn_window_open(gnn_scratch *scratch, int64_t first, int64_t bytes, const gnn_file *file, int64_t at, gnn_error *error) {
  gnn_window *window = window_at(scratch, first, error);
  if (window == NULL) return GNN_EINVAL;
  char *path = strdup(file->path);
  if (path == NULL) return gnn_fail_memory(error, (int64_t)strlen(file->path));
  struct stat info;
  int is_direct, descriptor = window_open_file(path, &is_direct), problem = descriptor < 0 || fstat(descriptor, &info) != 0 ? errno : 0;
  const int is_same = problem == 0 && gnn_guard_shows(file->guard, &info);
  gnn_status status = GNN_OK;
  if (problem) status = gnn_fail_file(error, "read", path, problem);
  else if (!is_same) status = gnn_fail(error, GNN_EIO, "E0001", "\"%s\" was replaced while it was being read", path);
  if (status != GNN_OK) {
    if (descriptor >= 0) close(descriptor);
    free(path);
    return status;
  }
  *window = (gnn_window){.first = first, .bytes = bytes, .at = at, .file = descriptor, .is_direct = is_direct, .path = path, .file_bytes = (int64_t)info.st_size, .changed = info.st_mtim};
  return GNN_OK;
}

gnn_status gnn_window_grow(gnn_scratch *scratch, int64_t first, int64_t bytes, int64_t *at, gnn_error *error) {
  gnn_window *window = window_at(scratch, first, error);
  if (window == NULL) return GNN_EINVAL;
  *at = scratch->bytes;
  *window = (gnn_window){.first = first, .bytes = bytes, .at = *at, .file = scratch->file, .is_direct = scratch->is_direct};
  return gnn_scratch_reserve(scratch, *at + bytes, error);
}
