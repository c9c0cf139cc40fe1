/* zip.c: the directory at the end of a zip file, and the members that it names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "checked.h"
#include "made.h"

enum { ZIP_END_BYTES = 22, ZIP_END_MOST = ZIP_END_BYTES + 65535, ZIP_END64_BYTES = 56, ZIP_LOCATOR_BYTES = 20, ZIP_ENTRY_BYTES = 46, ZIP_LOCAL_BYTES = 30, ZIP_MEMBERS_MOST = 4096, ZIP_ROOM_BYTES = 1 << 18 };

static uint64_t zip_number(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
  return value;
}

static int zip_is(const unsigned char *at, unsigned char third, unsigned char fourth) { return at[0] == 'P' && at[1] == 'K' && at[2] == third && at[3] == fourth; }

static gnn_status zip_bad(const char *path, const char *what, gnn_error *error) {
  gnn_status status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is a damaged zip file: %s", path, what);
  gnn_fail_help(error, "was it copied completely?");
  return status;
}

/* Where the directory is, and how many members it has. */
static gnn_status zip_find(const gnn_file *file, uint64_t *at, uint64_t *bytes, uint64_t *count, gnn_error *error) {
  const unsigned char *data = file->data;
  const size_t least = file->size < ZIP_END_MOST ? 0 : file->size - ZIP_END_MOST;
  size_t end = file->size < ZIP_END_BYTES ? 0 : file->size - ZIP_END_BYTES;
  while (end > least && !zip_is(data + end, 5, 6)) end--;
  if (file->size < ZIP_END_BYTES || !zip_is(data + end, 5, 6)) return zip_bad(file->path, "it ends before its directory", error);
  *count = zip_number(data + end + 10, 2);
  *bytes = zip_number(data + end + 12, 4);
  *at = zip_number(data + end + 16, 4);
  if (end >= ZIP_LOCATOR_BYTES && zip_is(data + end - ZIP_LOCATOR_BYTES, 6, 7)) {
    const uint64_t wide = zip_number(data + end - ZIP_LOCATOR_BYTES + 8, 8);
    if (file->size < ZIP_END64_BYTES || wide > file->size - ZIP_END64_BYTES || !zip_is(data + wide, 6, 6)) return zip_bad(file->path, "its directory is not where it should be", error);
    *count = zip_number(data + wide + 32, 8);
    *bytes = zip_number(data + wide + 40, 8);
    *at = zip_number(data + wide + 48, 8);
  }
  if (*at > file->size || *bytes > file->size - *at) return zip_bad(file->path, "its directory is not where it should be", error);
  return GNN_OK;
}

/* The sizes of 8 bytes, for each of size, packed and header that stands as 0xffffffff. */
static int zip_wide(const unsigned char *extra, size_t bytes, uint64_t *fields[3]) {
  for (size_t at = 0; bytes - at >= 4;) {
    const size_t length = (size_t)zip_number(extra + at + 2, 2);
    if (length > bytes - at - 4) return 0;
    size_t used = 0;
    for (int i = 0; zip_number(extra + at, 2) == 1 && i < 3; i++) {
      if (*fields[i] != UINT32_MAX) continue;
      if (length - used < 8) return 0;
      *fields[i] = zip_number(extra + at + 4 + used, 8);
      used += 8;
    }
    at += 4 + length;
  }
  return 1;
}

static gnn_status zip_directory(gnn_zip *zip, gnn_error *error) {
  const gnn_file *file = &zip->file;
  uint64_t at = 0, bytes = 0, count = 0;
  gnn_status status = zip_find(file, &at, &bytes, &count, error);
  if (status != GNN_OK) return status;
  if (count > ZIP_MEMBERS_MOST) return gnn_fail(error, GNN_EDATA, "", "\"%s\" holds %s members; more than %d are not read", file->path, gnn_count_text((int64_t)count).text, ZIP_MEMBERS_MOST);
  zip->members = calloc((size_t)count + 1, sizeof *zip->members);
  char *name = zip->names = malloc((size_t)bytes + (size_t)count + 1);
  if (zip->members == NULL || name == NULL) return gnn_fail_memory(error, (int64_t)bytes);
  const unsigned char *entry = file->data + at, *end = entry + bytes;
  for (; zip->count < (int)count; zip->count++) {
    gnn_zip_member *member = &zip->members[zip->count];
    if (end - entry < ZIP_ENTRY_BYTES || !zip_is(entry, 1, 2)) return zip_bad(file->path, "its directory ends early", error);
    const size_t name_bytes = (size_t)zip_number(entry + 28, 2), extra = (size_t)zip_number(entry + 30, 2), comment = (size_t)zip_number(entry + 32, 2);
    uint64_t packed = zip_number(entry + 20, 4), size = zip_number(entry + 24, 4), header = zip_number(entry + 42, 4);
    if ((size_t)(end - entry) - ZIP_ENTRY_BYTES < name_bytes + extra + comment || !zip_wide(entry + ZIP_ENTRY_BYTES + name_bytes, extra, (uint64_t *[3]){&size, &packed, &header}))
      return zip_bad(file->path, "its directory ends early", error);
    if (header > file->size || packed > file->size - header || size > INT64_MAX) return zip_bad(file->path, "a member lies outside it", error);
    memcpy(name, entry + ZIP_ENTRY_BYTES, name_bytes);
    name[name_bytes] = 0;
    *member = (gnn_zip_member){.name = name, .header = (int64_t)header, .packed = (int64_t)packed, .size = (int64_t)size, .crc = (uint32_t)zip_number(entry + 16, 4), .method = (int)zip_number(entry + 10, 2)};
    if (zip_number(entry + 8, 2) & 1) return gnn_fail(error, GNN_EDATA, "", "\"%s\": %.100s is encrypted", file->path, name);
    name += name_bytes + 1;
    entry += ZIP_ENTRY_BYTES + name_bytes + extra + comment;
  }
  return GNN_OK;
}

gnn_status gnn_zip_open(const char *path, gnn_zip *zip, gnn_error *error) {
  memset(zip, 0, sizeof *zip);
  gnn_status status = gnn_file_open(path, gnn_file_text, &zip->file, error);
  if (status == GNN_OK) status = gnn_file_check(&zip->file, zip_directory(zip, error), error);
  if (status != GNN_OK) gnn_zip_close(zip);
  return status;
}

void gnn_zip_close(gnn_zip *zip) {
  gnn_file_close(&zip->file);
  free(zip->members);
  free(zip->names);
  memset(zip, 0, sizeof *zip);
}

static gnn_status zip_inflate(const gnn_zip *zip, const gnn_zip_member *member, const unsigned char *packed, gnn_file *unpacked, gnn_error *error) {
  z_stream inflater = {0};
  if (inflateInit2(&inflater, -15) != Z_OK) return gnn_fail_memory(error, 1 << 16);
  unsigned char *chunk = malloc(ZIP_ROOM_BYTES);
  gnn_made made;
  gnn_made_begin(&made);
  int64_t left = member->packed;
  gnn_reading window = gnn_reading_begin(packed);
  gnn_status status = chunk ? GNN_OK : gnn_fail_memory(error, ZIP_ROOM_BYTES);
  int result = Z_OK;
  while (status == GNN_OK && result != Z_STREAM_END && (int64_t)made.size <= member->size) {
    if (inflater.avail_in == 0 && left > 0) {
      inflater.next_in = (unsigned char *)(uintptr_t)packed + (member->packed - left);
      gnn_reading_pass(&window, inflater.next_in);
      inflater.avail_in = left < GNN_READING_BYTES ? (uInt)left : GNN_READING_BYTES;
      left -= inflater.avail_in;
    }
    inflater.next_out = chunk;
    inflater.avail_out = ZIP_ROOM_BYTES;
    result = inflate(&inflater, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) status = gnn_fail_memory(error, 1 << 16);
    else if (result != Z_OK && result != Z_STREAM_END) status = gnn_fail(error, GNN_EDATA, "", "\"%s\": %.100s is damaged, or cut short", zip->file.path, member->name);
    else status = gnn_made_put(&made, chunk, ZIP_ROOM_BYTES - inflater.avail_out, error);
  }
  inflateEnd(&inflater);
  free(chunk);
  gnn_reading_end(&window, packed + (member->packed - left));
  if (status == GNN_OK && (int64_t)made.size != member->size)
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\": %.100s has other than %s bytes, of which its directory speaks", zip->file.path, member->name, gnn_count_text(member->size).text);
  if (status == GNN_OK) return gnn_made_end(&made, unpacked, error);
  gnn_made_drop(&made);
  return status;
}

gnn_status gnn_zip_read(const gnn_zip *zip, const gnn_zip_member *member, const unsigned char **data, size_t *size, gnn_file *unpacked, gnn_error *error) {
  const gnn_file *file = &zip->file;
  const unsigned char *local = file->data + member->header;
  const size_t behind = file->size - (size_t)member->header;
  memset(unpacked, 0, sizeof *unpacked);
  if (behind < ZIP_LOCAL_BYTES || !zip_is(local, 3, 4)) return zip_bad(file->path, "a member is not where its directory says", error);
  const size_t before = ZIP_LOCAL_BYTES + (size_t)zip_number(local + 26, 2) + (size_t)zip_number(local + 28, 2);
  if (before > behind || (uint64_t)member->packed > behind - before) return zip_bad(file->path, "a member lies outside it", error);
  gnn_status status = GNN_OK;
  *data = local + before;
  *size = (size_t)member->packed;
  if (member->method == 8) {
    status = zip_inflate(zip, member, local + before, unpacked, error);
    *data = unpacked->data;
    *size = unpacked->size;
  } else if (member->method != 0) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\": %.100s is packed by method %d; stored and deflated members are read", file->path, member->name, member->method);
  } else if (member->packed != member->size) {
    status = zip_bad(file->path, "a member that is stored has two sizes", error);
  }
  if (status == GNN_OK && gnn_file_sum(*data, *size) != member->crc) status = gnn_fail(error, GNN_EDATA, "", "\"%s\": the bytes of %.100s do not match their checksum", file->path, member->name);
  if (status != GNN_OK) gnn_file_close(unpacked);
  return status;
}
