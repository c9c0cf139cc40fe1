/* file.c: whole files in memory, and files written so that there are never half ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "file.h"

#include "guard.h"
#include "open.h"
#include "partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FILE_BUFFER_BYTES = 1 << 18 };

/* A gzip file (RFC 1952) on its way out of its form, member after member. */
typedef struct file_packed {
  const char *path;
  int descriptor;
  int is_between; /* members: the file may end here */
  z_stream stream;
  unsigned char in[1 << 16];
} file_packed;

/* The next `wanted` bytes, or as many as there are. */
static gnn_status file_unpack(file_packed *packed, unsigned char *to, size_t wanted, size_t *got, gnn_error *error) {
  z_stream *stream = &packed->stream;
  *got = 0;
  while (*got < wanted) {
    if (stream->avail_in == 0) {
      ssize_t count = read(packed->descriptor, packed->in, sizeof packed->in);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return gnn_fail_file(error, "read", packed->path, errno);
      if (count == 0 && packed->is_between) return GNN_OK;
      if (count == 0) return gnn_fail(error, GNN_EDATA, "", "\"%s\" is a truncated gzip file: it ends inside its data", packed->path);
      stream->next_in = packed->in;
      stream->avail_in = (uInt)count;
    }
    size_t room = wanted - *got < (1u << 30) ? wanted - *got : 1u << 30;
    stream->next_out = to + *got;
    stream->avail_out = (uInt)room;
    packed->is_between = 0;
    int code = inflate(stream, Z_NO_FLUSH);
    *got += room - stream->avail_out;
    if (code == Z_STREAM_END) {
      packed->is_between = 1;
      code = inflateReset(stream);
    }
    if (code == Z_MEM_ERROR) return gnn_fail_memory(error, FILE_BUFFER_BYTES);
    if (code != Z_OK && code != Z_BUF_ERROR)
      return gnn_fail(error, GNN_EDATA, "", "\"%s\" is a damaged gzip file: %s", packed->path,
                      stream->msg ? stream->msg : "its contents do not match its check sum");
  }
  return GNN_OK;
}

static gnn_status file_grow(gnn_file *file, size_t capacity, gnn_error *error) {
  unsigned char *more = realloc(file->data, capacity ? capacity : 1);
  if (more == NULL) return gnn_fail_memory(error, (int64_t)capacity);
  file->data = more;
  return GNN_OK;
}

/* As far as the promise goes, which may become clear bit by bit. Room is taken as bytes arrive, not as they are promised. */
static gnn_status file_unpack_all(file_packed *packed, gnn_file_promise promise, gnn_file *file, gnn_error *error) {
  size_t capacity = 0, got = 0;
  gnn_status status = file_grow(file, 1, error);
  int64_t promised = 0;
  while (status == GNN_OK && (promised = promise(file->data, file->size)) > (int64_t)file->size) {
    capacity = (size_t)promised < 2 * file->size + FILE_BUFFER_BYTES ? (size_t)promised : 2 * file->size + FILE_BUFFER_BYTES;
    status = file_grow(file, capacity, error);
    if (status == GNN_OK) status = file_unpack(packed, file->data + file->size, capacity - file->size, &got, error);
    file->size += got;
    if (file->size < capacity) return status; /* shorter than promised: who reads it says so */
  }
  unsigned char more;
  if (status == GNN_OK && promised >= 0) status = file_unpack(packed, &more, 1, &got, error);
  if (status == GNN_OK && promised >= 0 && got)
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is larger than it says: %s bytes are unpacked, and more follow", packed->path,
                      gnn_count_text((int64_t)file->size).text);
  return status;
}

static gnn_status file_inflate(const char *path, int descriptor, gnn_file_promise promise, gnn_file *file, gnn_error *error) {
  file_packed *packed = calloc(1, sizeof *packed);
  int is_ready = packed && inflateInit2(&packed->stream, 15 + 16) == Z_OK;
  gnn_status status = is_ready ? GNN_OK : gnn_fail_memory(error, FILE_BUFFER_BYTES);
  if (is_ready) {
    packed->path = path;
    packed->descriptor = descriptor;
    packed->is_between = 0;
    status = file_unpack_all(packed, promise, file, error);
    inflateEnd(&packed->stream);
  }
  free(packed);
  return status;
}

static gnn_status file_load(const char *path, int descriptor, gnn_file_promise promise, gnn_file *file, gnn_error *error) {
  unsigned char mark[2];
  ssize_t count = pread(descriptor, mark, 2, 0);
  if (count < 0) return gnn_fail_file(error, "read", path, errno);
  if (count == 2 && mark[0] == 0x1f && mark[1] == 0x8b) return file_inflate(path, descriptor, promise, file, error);
  if (count == 0) {
    file->data = malloc(1);
    return file->data ? GNN_OK : gnn_fail_memory(error, 1);
  }
  file->guard = gnn_guard_map(descriptor);
  if (file->guard == NULL) return gnn_fail_file(error, "map", path, errno);
  file->data = gnn_guard_data(file->guard);
  file->size = gnn_guard_size(file->guard);
  return GNN_OK;
}

gnn_status gnn_file_open(const char *path, gnn_file_promise promise, gnn_file *file, gnn_error *error) {
  memset(file, 0, sizeof *file);
  int descriptor = gnn_open_plain(path);
  if (descriptor < 0) return gnn_fail_file(error, errno == ENOENT ? "open" : "read", path, errno);
  file->path = strdup(path);
  gnn_status status = file->path ? file_load(path, descriptor, promise, file, error) : gnn_fail_memory(error, (int64_t)strlen(path));
  if (file->guard == NULL) close(descriptor);
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
  status = gnn_fail(error, GNN_EIO, "E0001", "\"%s\" %s while it was being read", file->path, fault);
  gnn_fail_help(error, "wait until nothing writes into it, then run again");
  return status;
}

void gnn_file_hold(gnn_file *file, unsigned char *data, size_t size) {
  if (file->guard) gnn_guard_unmap(file->guard);
  else free(file->data);
  file->guard = NULL;
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
