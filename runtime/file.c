/* file.c: whole files in memory, and files written so that there are never half ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FILE_BUFFER_BYTES = 1 << 18 };

/* Inflates all members of a gzip file (RFC 1952) held in `packed`. */
static gnn_status file_inflate(const char *path, const gnn_file *packed, gnn_file *out, gnn_error *error) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return gnn_fail_memory(error, FILE_BUFFER_BYTES);
  size_t capacity = packed->size < (1u << 16) ? (1u << 18) : packed->size * 4, used = 0, consumed = 0;
  unsigned char *data = malloc(capacity);
  int code = Z_OK;
  gnn_status status = GNN_OK;
  if (data == NULL) status = gnn_fail_memory(error, (int64_t)capacity);
  while (status == GNN_OK) {
    if (used == capacity) {
      unsigned char *more = capacity > SIZE_MAX / 2 ? NULL : realloc(data, capacity * 2);
      if (more == NULL) { status = gnn_fail_memory(error, (int64_t)capacity); break; }
      data = more;
      capacity *= 2;
    }
    size_t in = packed->size - consumed, room = capacity - used;
    stream.next_in = packed->data + consumed;
    stream.avail_in = in > (1u << 30) ? (1u << 30) : (uInt)in;
    stream.next_out = data + used;
    stream.avail_out = room > (1u << 30) ? (1u << 30) : (uInt)room;
    code = inflate(&stream, Z_NO_FLUSH);
    consumed = (size_t)(stream.next_in - packed->data);
    used = (size_t)(stream.next_out - data);
    if (code == Z_STREAM_END) {
      if (consumed == packed->size) break;
      if (inflateReset(&stream) != Z_OK) code = Z_DATA_ERROR;
      else continue;
    }
    if (code == Z_BUF_ERROR || (code == Z_OK && consumed == packed->size && used < capacity)) {
      status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is a truncated gzip file: it ends inside its data", path);
    } else if (code == Z_MEM_ERROR) {
      status = gnn_fail_memory(error, FILE_BUFFER_BYTES);
    } else if (code != Z_OK) {
      status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is a damaged gzip file: %s", path,
                        stream.msg ? stream.msg : "its contents do not match its check sum");
    }
  }
  inflateEnd(&stream);
  if (status != GNN_OK) {
    free(data);
    return status;
  }
  unsigned char *fitted = realloc(data, used ? used : 1); /* up to half of it was never needed */
  out->data = fitted ? fitted : data;
  out->size = used;
  out->is_mapped = 0;
  return GNN_OK;
}

static gnn_status file_map(const char *path, gnn_file *file, gnn_error *error) {
  int descriptor;
  do descriptor = open(path, O_RDONLY | O_CLOEXEC);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return gnn_fail_file(error, "open", path, errno);
  struct stat info;
  if (fstat(descriptor, &info) != 0) {
    int code = errno;
    close(descriptor);
    return gnn_fail_file(error, "read", path, code);
  }
  if (!S_ISREG(info.st_mode)) {
    close(descriptor);
    return gnn_fail_file(error, "read", path, S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
  }
  size_t size = (size_t)info.st_size;
  void *data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : malloc(1);
  int code = errno;
  close(descriptor);
  if (size && data == MAP_FAILED) return gnn_fail_file(error, "map", path, code);
  if (data == NULL) return gnn_fail_memory(error, 1);
  file->data = data;
  file->size = size;
  file->is_mapped = size != 0;
  return GNN_OK;
}

gnn_status gnn_file_open(const char *path, gnn_file *file, gnn_error *error) {
  memset(file, 0, sizeof *file);
  gnn_status status = file_map(path, file, error);
  if (status != GNN_OK) return status;
  if (file->size < 2 || file->data[0] != 0x1f || file->data[1] != 0x8b) return GNN_OK;
  gnn_file packed = *file;
  memset(file, 0, sizeof *file);
  status = file_inflate(path, &packed, file, error);
  gnn_file_close(&packed);
  return status;
}

void gnn_file_close(gnn_file *file) {
  if (file->data == NULL) return;
  if (file->is_mapped) munmap(file->data, file->size);
  else free(file->data);
  memset(file, 0, sizeof *file);
}

/* Standard output, a device, a pipe or a socket: it is written into, never replaced. */
static int file_is_node(const char *path) {
  struct stat info;
  return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

static int file_open_node(const char *path) {
  return strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_WRONLY | O_CLOEXEC);
}

gnn_status gnn_writer_open(gnn_writer *writer, const char *path, gnn_error *error) {
  memset(writer, 0, sizeof *writer);
  writer->descriptor = -1;
  size_t room = strlen(path) + 32;
  writer->path = malloc(room);
  writer->temporary = malloc(room);
  writer->buffer = malloc(FILE_BUFFER_BYTES);
  if (!writer->path || !writer->temporary || !writer->buffer) {
    gnn_writer_abandon(writer);
    return gnn_fail_memory(error, FILE_BUFFER_BYTES);
  }
  snprintf(writer->path, room, "%s", path);
  snprintf(writer->temporary, room, "%s.tmp-%ld", path, (long)getpid());
  writer->is_node = file_is_node(path);
  writer->descriptor = writer->is_node ? file_open_node(path) : open(writer->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer->descriptor < 0) {
    int code = errno;
    gnn_writer_abandon(writer);
    return gnn_fail_file(error, "write", path, code);
  }
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
  free(writer->path);
  free(writer->temporary);
  free(writer->buffer);
  memset(writer, 0, sizeof *writer);
  writer->descriptor = -1;
  return status;
}

void gnn_writer_abandon(gnn_writer *writer) {
  if (writer->descriptor >= 0) {
    close(writer->descriptor);
    if (!writer->is_node) unlink(writer->temporary);
  }
  free(writer->path);
  free(writer->temporary);
  free(writer->buffer);
  memset(writer, 0, sizeof *writer);
  writer->descriptor = -1;
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
