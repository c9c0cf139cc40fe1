/* stream.c: files from their beginning, plain or packed (RFC 1952). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "open.h"

enum { STREAM_PACKED_BYTES = 1 << 16 };

struct gnn_stream {
  char *path;
  int descriptor, is_packed;
  int is_between;      /* members of a gzip file: it may end here */
  int64_t taken, all;  /* of the file as it lies */
  int64_t given;       /* unpacked */
  z_stream inflater;
  unsigned char *packed; /* [STREAM_PACKED_BYTES] */
};

void gnn_stream_close(gnn_stream *stream) {
  if (stream == NULL) return;
  if (stream->packed) inflateEnd(&stream->inflater);
  if (stream->descriptor >= 0) close(stream->descriptor);
  free(stream->packed);
  free(stream->path);
  free(stream);
}

static gnn_status stream_begin(gnn_stream *stream, gnn_error *error) {
  unsigned char mark[2];
  struct stat info;
  const ssize_t count = pread(stream->descriptor, mark, 2, 0);
  if (count < 0 || fstat(stream->descriptor, &info) != 0) return gnn_fail_file(error, "read", stream->path, errno);
  stream->all = info.st_size;
  stream->is_packed = count == 2 && mark[0] == 0x1f && mark[1] == 0x8b;
  if (!stream->is_packed) return GNN_OK;
  stream->packed = malloc(STREAM_PACKED_BYTES);
  if (stream->packed && inflateInit2(&stream->inflater, 15 + 16) == Z_OK) return GNN_OK;
  free(stream->packed);
  stream->packed = NULL;
  return gnn_fail_memory(error, STREAM_PACKED_BYTES);
}

gnn_status gnn_stream_take(const char *path, int descriptor, gnn_stream **out, gnn_error *error) {
  gnn_stream *stream = calloc(1, sizeof *stream);
  *out = NULL;
  if (stream == NULL) {
    close(descriptor);
    return gnn_fail_memory(error, (int64_t)sizeof *stream);
  }
  stream->descriptor = descriptor;
  stream->path = strdup(path);
  const gnn_status status = stream->path ? stream_begin(stream, error) : gnn_fail_memory(error, (int64_t)strlen(path));
  if (status == GNN_OK) *out = stream;
  else gnn_stream_close(stream);
  return status;
}

gnn_status gnn_stream_open(const char *path, gnn_stream **stream, gnn_error *error) {
  *stream = NULL;
  const int descriptor = gnn_open_plain(path);
  if (descriptor < 0) return gnn_fail_file(error, errno == ENOENT ? "open" : "read", path, errno);
  return gnn_stream_take(path, descriptor, stream, error);
}

static gnn_status stream_take_bytes(gnn_stream *stream, unsigned char *to, size_t wanted, size_t *got, gnn_error *error) {
  ssize_t count;
  do count = read(stream->descriptor, to, wanted < (1u << 30) ? wanted : 1u << 30);
  while (count < 0 && errno == EINTR);
  *got = 0;
  if (count < 0) return gnn_fail_file(error, "read", stream->path, errno);
  *got = (size_t)count;
  stream->taken += count;
  return GNN_OK;
}

static gnn_status stream_unpack(gnn_stream *stream, unsigned char *to, size_t wanted, size_t *got, gnn_error *error) {
  z_stream *inflater = &stream->inflater;
  *got = 0;
  while (*got < wanted) {
    if (inflater->avail_in == 0) {
      size_t count;
      const gnn_status status = stream_take_bytes(stream, stream->packed, STREAM_PACKED_BYTES, &count, error);
      if (status != GNN_OK) return status;
      if (count == 0 && stream->is_between) return GNN_OK;
      if (count == 0) return gnn_fail(error, GNN_EDATA, "", "\"%s\" is a truncated gzip file: it ends inside its data", stream->path);
      inflater->next_in = stream->packed;
      inflater->avail_in = (uInt)count;
    }
    const size_t room = wanted - *got < (1u << 30) ? wanted - *got : 1u << 30;
    inflater->next_out = to + *got;
    inflater->avail_out = (uInt)room;
    stream->is_between = 0;
    int code = inflate(inflater, Z_NO_FLUSH);
    *got += room - inflater->avail_out;
    if (code == Z_STREAM_END) {
      stream->is_between = 1;
      code = inflateReset(inflater);
    }
    if (code == Z_MEM_ERROR) return gnn_fail_memory(error, STREAM_PACKED_BYTES);
    if (code != Z_OK && code != Z_BUF_ERROR)
      return gnn_fail(error, GNN_EDATA, "", "\"%s\" is a damaged gzip file: %s", stream->path,
                      inflater->msg ? inflater->msg : "its contents do not match its check sum");
  }
  return GNN_OK;
}

gnn_status gnn_stream_read(gnn_stream *stream, void *to, size_t wanted, size_t *got, gnn_error *error) {
  gnn_status status = GNN_OK;
  if (stream->is_packed) {
    status = stream_unpack(stream, to, wanted, got, error);
  } else {
    size_t more = 1;
    for (*got = 0; status == GNN_OK && more > 0 && *got < wanted; *got += more) status = stream_take_bytes(stream, (unsigned char *)to + *got, wanted - *got, &more, error);
  }
  stream->given += (int64_t)*got;
  return status;
}

gnn_status gnn_stream_seek(gnn_stream *stream, int64_t place, gnn_error *error) {
  if (!stream->is_packed) {
    if (lseek(stream->descriptor, (off_t)place, SEEK_SET) < 0) return gnn_fail_file(error, "read", stream->path, errno);
    stream->taken = stream->given = place;
    return GNN_OK;
  }
  gnn_status status = GNN_OK;
  size_t got = 1;
  if (place < stream->given) { /* from the beginning again */
    if (lseek(stream->descriptor, 0, SEEK_SET) < 0 || inflateReset(&stream->inflater) != Z_OK) return gnn_fail_file(error, "read", stream->path, errno);
    stream->taken = stream->given = stream->inflater.avail_in = 0;
    stream->is_between = 0;
  }
  unsigned char *skipped = malloc(STREAM_PACKED_BYTES);
  if (skipped == NULL) return gnn_fail_memory(error, STREAM_PACKED_BYTES);
  while (status == GNN_OK && got > 0 && stream->given < place)
    status = gnn_stream_read(stream, skipped, place - stream->given < STREAM_PACKED_BYTES ? (size_t)(place - stream->given) : STREAM_PACKED_BYTES, &got, error);
  free(skipped);
  if (status != GNN_OK || stream->given == place) return status;
  return gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated: it has %s bytes unpacked, and %s are needed", stream->path, gnn_count_text(stream->given).text, gnn_count_text(place).text);
}

int gnn_stream_is_packed(const gnn_stream *stream) { return stream->is_packed; }

void gnn_stream_progress(const gnn_stream *stream, int64_t *taken, int64_t *all) {
  *taken = stream->taken - (int64_t)stream->inflater.avail_in;
  *all = stream->all;
}
