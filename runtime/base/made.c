/* made.c: bytes that are made while files are read. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "made.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MADE_TMPFS 0x01021994 /* <linux/magic.h> */
#define MADE_RAMFS (-2054924042)

void gnn_made_begin(gnn_made *made) { *made = (gnn_made){.descriptor = -1}; }

void gnn_made_drop(gnn_made *made) {
  free(made->data);
  if (made->descriptor >= 0) close(made->descriptor);
  gnn_made_begin(made);
}

/* On a disk: a file in memory would be no gain. Where files are limited in length (ulimit -f) a write too much ends the process. -1: there is none. */
static int made_open(void) {
  static const char *const folders[] = {"/var/tmp", "/tmp"};
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return -1;
  for (int i = 0; i < 2; i++) {
    struct statfs system;
    const int descriptor = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) continue;
    if (fstatfs(descriptor, &system) == 0 && (int32_t)system.f_type != MADE_TMPFS && (int32_t)system.f_type != MADE_RAMFS) return descriptor;
    close(descriptor);
  }
  return -1;
}

static int made_write(int descriptor, const unsigned char *bytes, size_t count) {
  while (count) {
    const ssize_t done = write(descriptor, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return 0;
    bytes += done;
    count -= (size_t)done;
  }
  return 1;
}

static int made_read(int descriptor, unsigned char *bytes, size_t count) {
  for (size_t at = 0; at < count;) {
    const ssize_t done = pread(descriptor, bytes + at, count - at, (off_t)at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return 0;
    at += (size_t)done;
  }
  return 1;
}

/* Room is taken as bytes arrive. */
static gnn_status made_grow(gnn_made *made, size_t size, gnn_error *error) {
  if (size <= made->room) return GNN_OK;
  const size_t room = size < 2 * made->room ? 2 * made->room : size;
  unsigned char *data = realloc(made->data, room);
  if (data == NULL) return gnn_fail_memory(error, (int64_t)room);
  made->data = data;
  made->room = room;
  return GNN_OK;
}

/* What is in memory goes into a file. */
static void made_move_out(gnn_made *made) {
  made->descriptor = made_open();
  if (made->descriptor >= 0 && made_write(made->descriptor, made->data, made->size)) {
    free(made->data);
    made->data = NULL;
    made->room = 0;
    return;
  }
  if (made->descriptor >= 0) close(made->descriptor);
  made->descriptor = -1;
  made->is_without_disk = 1;
}

/* The disk is full. */
static gnn_status made_move_in(gnn_made *made, gnn_error *error) {
  gnn_status status = made_grow(made, made->size ? made->size : 1, error);
  if (status == GNN_OK && !made_read(made->descriptor, made->data, made->size)) status = gnn_fail(error, GNN_EIO, "E0001", "what was unpacked cannot be read again: %s", strerror(errno));
  close(made->descriptor);
  made->descriptor = -1;
  made->is_without_disk = 1;
  return status;
}

gnn_status gnn_made_put(gnn_made *made, const void *bytes, size_t count, gnn_error *error) {
  if (count == 0) return GNN_OK;
  if (made->descriptor < 0 && !made->is_without_disk && made->size + count > GNN_MADE_HELD_BYTES) made_move_out(made);
  if (made->descriptor >= 0) {
    if (made_write(made->descriptor, bytes, count)) {
      made->size += count;
      return GNN_OK;
    }
    const gnn_status status = made_move_in(made, error);
    if (status != GNN_OK) return status;
  }
  const gnn_status status = made_grow(made, made->size + count, error);
  if (status != GNN_OK) return status;
  memcpy(made->data + made->size, bytes, count);
  made->size += count;
  return GNN_OK;
}

gnn_status gnn_made_end(gnn_made *made, gnn_file *file, gnn_error *error) {
  gnn_guard *guard = made->descriptor >= 0 ? gnn_guard_map(made->descriptor) : NULL;
  gnn_status status = GNN_OK;
  if (guard) made->descriptor = -1;
  else if (made->descriptor >= 0) status = made_move_in(made, error);
  if (status == GNN_OK && guard == NULL) status = made_grow(made, 1, error);
  if (status == GNN_OK) {
    gnn_file_hold(file, guard ? gnn_guard_data(guard) : made->data, made->size);
    file->guard = guard;
    file->is_made = 1;
    made->data = NULL;
  }
  gnn_made_drop(made);
  return status;
}
