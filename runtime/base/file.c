/* file.c: whole files in memory, and files written so that there are never half ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "file.h"

#include "guard.h"
#include "made.h"
#include "open.h"
#include "partial.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FILE_BUFFER_BYTES = 1 << 18 };

/* The file up to `size` bytes, or all of what is packed. */
static gnn_status file_unpack_to(gnn_stream *packed, size_t size, gnn_file *file, gnn_error *error) {
  gnn_made made;
  size_t got = 1;
  const size_t chunk = size < FILE_BUFFER_BYTES ? size : FILE_BUFFER_BYTES;
  unsigned char *buffer = malloc(chunk);
  if (buffer == NULL) return gnn_fail_memory(error, (int64_t)chunk);
  gnn_made_begin(&made);
  gnn_status status = gnn_made_put(&made, file->data, file->size, error);
  while (status == GNN_OK && got > 0 && made.size < size) {
    status = gnn_stream_read(packed, buffer, size - made.size < chunk ? size - made.size : chunk, &got, error);
    if (status == GNN_OK) status = gnn_made_put(&made, buffer, got, error);
  }
  free(buffer);
  if (status == GNN_OK) return gnn_made_end(&made, file, error);
  gnn_made_drop(&made);
  return status;
}

/* As far as the promise goes, which may become clear bit by bit. */
static gnn_status file_unpack_all(gnn_stream *packed, const char *path, gnn_file_promise promise, gnn_file *file, gnn_error *error) {
  gnn_made nothing;
  gnn_made_begin(&nothing);
  gnn_status status = gnn_made_end(&nothing, file, error);
  int64_t promised = 0;
  while (status == GNN_OK && (promised = promise(file->data, file->size)) > (int64_t)file->size) {
    status = file_unpack_to(packed, (size_t)promised, file, error);
    if ((int64_t)file->size < promised) return status; /* shorter than promised: who reads it says so */
  }
  unsigned char more;
  size_t got = 0;
  if (status == GNN_OK && promised >= 0) status = gnn_stream_read(packed, &more, 1, &got, error);
  if (status == GNN_OK && promised >= 0 && got)
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is larger than it says: %s bytes are unpacked, and more follow", path,
                      gnn_count_text((int64_t)file->size).text);
  return status;
}

/* Takes the descriptor over. */
static gnn_status file_load(const char *path, int descriptor, gnn_file_promise promise, gnn_file *file, gnn_error *error) {
  unsigned char mark[2];
  ssize_t count = pread(descriptor, mark, 2, 0);
  const int code = errno;
  if (count == 2 && mark[0] == 0x1f && mark[1] == 0x8b) {
    gnn_stream *packed;
    gnn_status status = gnn_stream_take(path, descriptor, &packed, error);
    if (status == GNN_OK) status = file_unpack_all(packed, path, promise, file, error);
    gnn_stream_close(packed);
    return status;
  }
  if (count <= 0) {
    close(descriptor);
    if (count < 0) return gnn_fail_file(error, "read", path, code);
    file->data = malloc(1);
    return file->data ? GNN_OK : gnn_fail_memory(error, 1);
  }
  file->guard = gnn_guard_map(descriptor);
  if (file->guard == NULL) {
    const int map_code = errno;
    close(descriptor);
    return gnn_fail_file(error, "map", path, map_code);
  }
  file->data = gnn_guard_data(file->guard);
  file->size = gnn_guard_size(file->guard);
  return GNN_OK;
}

gnn_status gnn_file_open(const char *path, gnn_file_promise promise, gnn_file *file, gnn_error *error) {
  memset(file, 0, sizeof *file);
  file->path = strdup(path);
  if (file->path == NULL) return gnn_fail_memory(error, (int64_t)strlen(path));
  int descriptor = gnn_open_plain(path);
  gnn_status status = descriptor < 0 ? gnn_fail_file(error, errno == ENOENT ? "open" : "read", path, errno) : file_load(path, descriptor, promise, file, error);
  if (status != GNN_OK) gnn_file_close(file);
  return status;
}

int64_t gnn_file_text(const unsigned char *head, size_t size) {
  (void)head;
  return size < GNN_FILE_TEXT_MOST ? GNN_FILE_TEXT_MOST : (int64_t)size;
}

gnn_status gnn_file_check(const gnn_file *file, gnn_status status, gnn_error *error) {
  const char *fault = file->guard ? gnn_guard_fault(file->guard) : NULL;
  if (fault == NULL) return status;
  status = gnn_fail(error, GNN_EIO, "E0001", "\"%s\" %s while it was being read", file->path ? file->path : "what was unpacked", fault);
  gnn_fail_help(error, "wait until nothing writes into it, then run again");
  return status;
}

uint32_t gnn_file_sum(const void *bytes, size_t count) {
  const unsigned char *at = bytes, *const end = at + count;
  uLong sum = 0;
  gnn_reading window = gnn_reading_begin(at);
  for (const unsigned char *next; at < end; at = next) {
    next = end - at > GNN_READING_BYTES ? at + GNN_READING_BYTES : end;
    sum = crc32_z(sum, at, (size_t)(next - at));
    gnn_reading_pass(&window, next);
  }
  gnn_reading_end(&window, end);
  return (uint32_t)sum;
}

void gnn_file_hold(gnn_file *file, unsigned char *data, size_t size) {
  if (file->guard) gnn_guard_unmap(file->guard);
  else free(file->data);
  file->guard = NULL;
  file->is_made = 0;
  file->data = data;
  file->size = size;
}

void gnn_file_close(gnn_file *file) {
  gnn_file_hold(file, NULL, 0);
  free(file->path);
  file->path = NULL;
}

/* Standard output, a device, a pipe or a socket: it is written into, never replaced. */
static int file_is_node(const char *path) {
  struct stat info;
  return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

static int file_open_node(const char *path) {
  return strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : gnn_open_into(path);
}

/* All that is left of a writer: nothing. */
static void file_release(gnn_writer *writer) {
  if (writer->temporary) gnn_partial_drop(writer->temporary);
  free(writer->path);
  free(writer->temporary);
  free(writer->buffer);
  memset(writer, 0, sizeof *writer);
  writer->descriptor = -1;
}

gnn_status gnn_writer_open(gnn_writer *writer, const char *path, gnn_error *error) {
  memset(writer, 0, sizeof *writer);
  writer->descriptor = -1;
  writer->path = strdup(path);
  writer->buffer = malloc(FILE_BUFFER_BYTES);
  if (!writer->path || !writer->buffer) {
    file_release(writer);
    return gnn_fail_memory(error, FILE_BUFFER_BYTES);
  }
  writer->is_node = file_is_node(path);
  writer->descriptor = writer->is_node ? file_open_node(path) : gnn_open_beside(path, &writer->temporary);
  if (writer->descriptor < 0) {
    int code = errno;
    file_release(writer);
    return gnn_fail_file(error, "write", path, code);
  }
  if (writer->temporary) gnn_partial_add(writer->temporary);
  return GNN_OK;
}

static void file_write_all(gnn_writer *writer, const unsigned char *bytes, size_t count) {
  while (count && writer->errno_value == 0) {
    ssize_t done = write(writer->descriptor, bytes, count);
    if (done < 0) {
      if (errno != EINTR) writer->errno_value = errno;
      continue;
    }
    bytes += done;
    count -= (size_t)done;
  }
}

void gnn_writer_put(gnn_writer *writer, const void *bytes, size_t count) {
  if (count > FILE_BUFFER_BYTES - writer->used) {
    file_write_all(writer, writer->buffer, writer->used);
    writer->used = 0;
  }
  if (count >= FILE_BUFFER_BYTES) {
    file_write_all(writer, bytes, count);
  } else if (count) {
    memcpy(writer->buffer + writer->used, bytes, count);
    writer->used += count;
  }
}

/* A rename is on disk only after its folder is. Some file systems refuse to sync folders: that is no failure. */
static void file_sync_folder(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (length >= sizeof folder) return;
  if (slash == path) snprintf(folder, sizeof folder, "/");
  else if (slash) { memcpy(folder, path, length); folder[length] = 0; }
  else snprintf(folder, sizeof folder, ".");
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  int ignored = fsync(descriptor);
  (void)ignored;
  close(descriptor);
}

gnn_status gnn_writer_close(gnn_writer *writer, gnn_error *error) {
  file_write_all(writer, writer->buffer, writer->used);
  int code = writer->errno_value;
  if (code == 0 && !writer->is_node && fsync(writer->descriptor) != 0 && errno != EINVAL && errno != EROFS) code = errno;
  if (close(writer->descriptor) != 0 && code == 0 && errno != EINTR) code = errno;
  writer->descriptor = -1;
  if (code == 0 && !writer->is_node && rename(writer->temporary, writer->path) != 0) code = errno;
  gnn_status status = GNN_OK;
  if (code != 0) {
    if (!writer->is_node) unlink(writer->temporary);
    status = gnn_fail_file(error, "write", strcmp(writer->path, "-") == 0 ? "standard output" : writer->path, code);
  } else if (!writer->is_node) {
    file_sync_folder(writer->path);
  }
  file_release(writer);
  return status;
}

gnn_status gnn_text_write(gnn_text *text, const char *path, gnn_error *error) {
  gnn_writer writer;
  gnn_status status = text->is_broken ? gnn_fail_memory(error, (int64_t)text->length) : gnn_writer_open(&writer, path, error);
  if (status == GNN_OK) {
    gnn_writer_put(&writer, text->data, text->length);
    status = gnn_writer_close(&writer, error);
  }
  gnn_text_free(text);
  return status;
}

int gnn_path_exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

int gnn_path_is_directory(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

char *gnn_path_join(const char *folder, const char *name) {
  int is_alone = folder == NULL || folder[0] == 0 || name[0] == '/';
  size_t room = strlen(name) + (is_alone ? 0 : strlen(folder)) + 2;
  char *path = malloc(room);
  if (path == NULL) return NULL;
  if (is_alone) snprintf(path, room, "%s", name);
  else snprintf(path, room, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  return path;
}

gnn_status gnn_make_directories(const char *path, gnn_error *error) {
  char *copy = gnn_path_join(NULL, path);
  if (copy == NULL) return gnn_fail_memory(error, (int64_t)strlen(path));
  gnn_status status = GNN_OK;
  for (char *s = copy + (copy[0] == '/'); status == GNN_OK; s++) {
    if (*s != '/' && *s != 0) continue;
    char kept = *s;
    *s = 0;
    if (copy[0] && mkdir(copy, 0777) != 0 && !(errno == EEXIST && gnn_path_is_directory(copy)))
      status = gnn_fail_file(error, "make the folder", path, errno);
    *s = kept;
    if (kept == 0) break;
  }
  free(copy);
  return status;
}

int gnn_cache_folder(gnn_text *path) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && *cache) gnn_text_format(path, "%s/gnncc", cache);
  else if (home && *home) gnn_text_format(path, "%s/.cache/gnncc", home);
  return path->length > 0;
}
