/* safetensors.c: the container of data sets, weights and checkpoints. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "safetensors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "runtime/base/checked.h"
#include "runtime/base/json.h"
#include "runtime/base/stream.h"

enum { SAFETENSORS_HEADER_MAX = 100000000 /* the limit of the reference implementation */, SAFETENSORS_DIGITS = 8 };

/* How the header begins where it has a checksum. */
static const char safetensors_lead[] = "{\"__metadata__\":{\"gnncc.crc32\":\"";
enum { SAFETENSORS_SUM_AT = 8 + sizeof safetensors_lead - 1, SAFETENSORS_SUM_END = SAFETENSORS_SUM_AT + SAFETENSORS_DIGITS };

typedef struct safetensors_sum {
  char digits[SAFETENSORS_DIGITS + 1];
} safetensors_sum;

static safetensors_sum safetensors_digits(uLong sum) {
  safetensors_sum out;
  snprintf(out.digits, sizeof out.digits, "%08lx", sum & 0xffffffffUL);
  return out;
}

/* Of the length and the header, which are the file's first `bytes`. */
static safetensors_sum safetensors_header_sum(const unsigned char *file, size_t bytes) {
  uLong sum = crc32_z(0, file, SAFETENSORS_SUM_AT);
  sum = crc32_z(sum, (const unsigned char *)"00000000", SAFETENSORS_DIGITS);
  return safetensors_digits(crc32_z(sum, file + SAFETENSORS_SUM_END, bytes - SAFETENSORS_SUM_END));
}

static safetensors_sum safetensors_data_sum(const gnn_array *array) {
  return safetensors_digits(gnn_file_sum(array->data, (size_t)(array->count * gnn_dtype_bytes(array->dtype))));
}

static gnn_status safetensors_bad(const char *path, const char *name, const char *what, gnn_error *error) {
  if (name)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" is a damaged safetensors file: tensor \"%.100s\" %s", path, name, what);
  return gnn_fail(error, GNN_EDATA, "", "\"%s\" is not a sound safetensors file: %s", path, what);
}

static int safetensors_dtype(const char *name, gnn_dtype *dtype) {
  for (int i = 0; i < GNN_DTYPE_COUNT; i++) {
    if (strcmp(name, gnn_dtype_name((gnn_dtype)i)) == 0) {
      *dtype = (gnn_dtype)i;
      return 1;
    }
  }
  return 0;
}

/* Reads one entry of the header; offsets are checked against the bytes there are. */
static gnn_status safetensors_entry(const char *path, const gnn_json *json, const gnn_json_node *node,
                                    const unsigned char *data, uint64_t data_bytes, gnn_array *array,
                                    gnn_error *error) {
  const char *name = node->key;
  const gnn_json_node *dtype = gnn_json_member(json, node, "dtype"), *shape = gnn_json_member(json, node, "shape");
  const gnn_json_node *offsets = gnn_json_member(json, node, "data_offsets");
  const char *fault = gnn_name_fault(name); /* it would reach terminals and messages */
  if (fault) return gnn_fail(error, GNN_EDATA, "", "\"%s\": the name of a tensor %s", path, fault);
  if (!dtype || dtype->kind != GNN_JSON_STRING || !shape || shape->kind != GNN_JSON_ARRAY || !offsets ||
      offsets->kind != GNN_JSON_ARRAY)
    return safetensors_bad(path, name, "lacks dtype, shape or data_offsets", error);
  memset(array, 0, sizeof *array);
  if (!safetensors_dtype(dtype->text, &array->dtype)) {
    gnn_fail(error, GNN_EDATA, "", "\"%s\": tensor \"%.100s\" has the element type %.20s, which is not supported", path, name, dtype->text);
    gnn_fail_help(error, "F16, BF16, F32, F64, BOOL and all whole numbers are read: save it as one of these, as tensor.float(), or leave it out");
    return GNN_EDATA;
  }
  for (int32_t i = shape->first; i >= 0; i = json->nodes[i].next) {
    if (json->nodes[i].kind != GNN_JSON_NUMBER || !json->nodes[i].is_integer || json->nodes[i].integer < 0)
      return safetensors_bad(path, name, "has a malformed shape", error);
    if (array->rank == GNN_ARRAY_RANK_MAX) return safetensors_bad(path, name, "has more than 8 dimensions", error);
    array->shape[array->rank++] = json->nodes[i].integer;
  }
  if (!gnn_array_measure(array)) return safetensors_bad(path, name, "has a shape of more than 2^63 bytes", error);
  int64_t bound[2] = {-1, -1};
  int count = 0;
  for (int32_t i = offsets->first; i >= 0; i = json->nodes[i].next, count++) {
    if (count == 2 || json->nodes[i].kind != GNN_JSON_NUMBER || !json->nodes[i].is_integer)
      return safetensors_bad(path, name, "has malformed data_offsets", error);
    bound[count] = json->nodes[i].integer;
  }
  if (count != 2 || bound[0] < 0 || bound[1] < bound[0])
    return safetensors_bad(path, name, "has malformed data_offsets", error);
  if ((uint64_t)bound[1] > data_bytes)
    return safetensors_bad(path, name, "lies beyond the end of the file, which seems truncated", error);
  int64_t bytes;
  if (!gnn_multiply_fits(array->count, gnn_dtype_bytes(array->dtype), &bytes) || bound[1] - bound[0] != bytes)
    return safetensors_bad(path, name, "has data_offsets that do not fit its shape", error);
  array->data = data + bound[0];
  return GNN_OK;
}

static int safetensors_by_place(const void *a, const void *b) {
  const gnn_tensor *ta = a, *tb = b;
  if (ta->array.data != tb->array.data) return ta->array.data < tb->array.data ? -1 : 1;
  if (ta->array.count != tb->array.count) return ta->array.count < tb->array.count ? -1 : 1;
  return strcmp(ta->name, tb->name);
}

static int safetensors_by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gnn_status safetensors_check(const char *path, const gnn_safetensors *out, const unsigned char *data,
                                    uint64_t data_bytes, gnn_error *error) {
  const unsigned char *end = data;
  for (int i = 0; i < out->tensor_count; i++) {
    const gnn_array *array = &out->tensors[i].array;
    if (array->data != end)
      return safetensors_bad(path, out->tensors[i].name, array->data < end ? "overlaps another" : "leaves a hole before it",
                             error);
    end = array->data + array->count * gnn_dtype_bytes(array->dtype);
  }
  if (end != data + data_bytes) return safetensors_bad(path, NULL, "bytes after its last tensor", error);
  if (out->tensor_count <= 0) return GNN_OK;
  const char **names = malloc((size_t)out->tensor_count * sizeof *names);
  if (names == NULL) return gnn_fail_memory(error, out->tensor_count * (int64_t)sizeof *names);
  for (int i = 0; i < out->tensor_count; i++) names[i] = out->tensors[i].name;
  qsort(names, (size_t)out->tensor_count, sizeof *names, safetensors_by_name);
  gnn_status status = GNN_OK;
  for (int i = 1; status == GNN_OK && i < out->tensor_count; i++)
    if (strcmp(names[i - 1], names[i]) == 0) status = safetensors_bad(path, names[i], "is there twice", error);
  free(names);
  return status;
}

/* The tensors against the list of their checksums; without a header that is known to be right there must be no list. */
static gnn_status safetensors_check_data(const char *path, const gnn_safetensors *out, gnn_error *error) {
  const char *sums = gnn_safetensors_text(out, "gnncc.crc32.data");
  size_t step = SAFETENSORS_DIGITS + 1;
  if (!out->has_sums && sums == NULL) return GNN_OK;
  if (!out->has_sums || sums == NULL || strlen(sums) + (out->tensor_count > 0) != step * (size_t)out->tensor_count)
    return safetensors_bad(path, NULL, "its header does not match its checksum", error);
  for (int i = 0; i < out->tensor_count; i++)
    if (memcmp(safetensors_data_sum(&out->tensors[i].array).digits, sums + step * (size_t)i, SAFETENSORS_DIGITS) != 0)
      return safetensors_bad(path, out->tensors[i].name, "does not match its checksum", error);
  return GNN_OK;
}

static gnn_status safetensors_metadata(const char *path, const gnn_json *json, const gnn_json_node *node,
                                       gnn_safetensors *out, gnn_error *error) {
  if (node->kind != GNN_JSON_OBJECT || out->pairs)
    return safetensors_bad(path, NULL, "__metadata__ is not one object", error);
  int count = 0;
  for (int32_t i = node->first; i >= 0; i = json->nodes[i].next) count++;
  out->pairs = malloc((size_t)(count + 1) * sizeof *out->pairs);
  if (out->pairs == NULL) return gnn_fail_memory(error, count * (int64_t)sizeof *out->pairs);
  for (int32_t i = node->first; i >= 0; i = json->nodes[i].next) {
    if (json->nodes[i].kind != GNN_JSON_STRING)
      return safetensors_bad(path, NULL, "__metadata__ holds something else than strings", error);
    out->pairs[out->pair_count++] = (gnn_pair){json->nodes[i].key, json->nodes[i].text};
  }
  return GNN_OK;
}

static gnn_status safetensors_parse(const char *path, gnn_safetensors *out, int is_head, gnn_error *error) {
  const gnn_file *file = &out->file;
  if (file->size < 8) return safetensors_bad(path, NULL, "it is shorter than 8 bytes", error);
  uint64_t length = 0;
  for (int i = 7; i >= 0; i--) length = length << 8 | file->data[i];
  if (length > file->size - 8 || length > SAFETENSORS_HEADER_MAX) {
    if (memcmp(file->data, "PK\3\4", 4) == 0) /* zip's mark */
      return gnn_fail(error, GNN_EDATA, "", "\"%s\" is no safetensors file: it is a .npz file, or another zip archive; safetensors.numpy.save_file writes the same arrays as one", path);
    int is_cut = length <= SAFETENSORS_HEADER_MAX && (file->size == 8 || file->data[8] == '{');
    return gnn_fail(error, GNN_EDATA, "",
                    "\"%s\" is %s safetensors file: its header claims %llu bytes, the file has %llu after the length", path,
                    is_cut ? "a truncated" : "no", (unsigned long long)length, (unsigned long long)file->size - 8);
  }
  if (length < 2 || file->data[8] != '{') return safetensors_bad(path, NULL, "its header does not begin with {", error);
  out->has_sums = length >= SAFETENSORS_SUM_END - 8 && memcmp(file->data + 8, safetensors_lead, SAFETENSORS_SUM_AT - 8) == 0;
  if (out->has_sums && memcmp(safetensors_header_sum(file->data, (size_t)length + 8).digits, file->data + SAFETENSORS_SUM_AT, SAFETENSORS_DIGITS) != 0)
    return safetensors_bad(path, NULL, "its header does not match its checksum", error);
  const unsigned char *data = file->data + 8 + length;
  uint64_t data_bytes = file->size - 8 - length;
  gnn_json *json = calloc(1, sizeof *json);
  if (json == NULL) return gnn_fail_memory(error, sizeof *json);
  out->header = json;
  char name[300];
  snprintf(name, sizeof name, "the header of \"%.250s\"", path);
  gnn_status status = gnn_json_parse(name, file->data + 8, (size_t)length, json, error);
  if (status != GNN_OK) return status;
  int count = 0;
  for (int32_t i = json->nodes[0].first; i >= 0; i = json->nodes[i].next) count++;
  out->tensors = calloc((size_t)count + 1, sizeof *out->tensors);
  if (out->tensors == NULL) return gnn_fail_memory(error, count * (int64_t)sizeof *out->tensors);
  for (int32_t i = json->nodes[0].first; status == GNN_OK && i >= 0; i = json->nodes[i].next) {
    const gnn_json_node *node = &json->nodes[i];
    if (strcmp(node->key, "__metadata__") == 0) {
      status = safetensors_metadata(path, json, node, out, error);
    } else {
      gnn_tensor *tensor = &out->tensors[out->tensor_count++];
      tensor->name = node->key;
      status = safetensors_entry(path, json, node, data, data_bytes, &tensor->array, error);
    }
  }
  if (status != GNN_OK) return status;
  qsort(out->tensors, (size_t)out->tensor_count, sizeof *out->tensors, safetensors_by_place);
  status = safetensors_check(path, out, data, data_bytes, error);
  return status == GNN_OK && !is_head ? safetensors_check_data(path, out, error) : status;
}

/* As far as the last tensor reaches. */
static int64_t safetensors_promise(const unsigned char *head, size_t size) {
  uint64_t length = 0;
  gnn_json json = {0};
  int64_t last = 0;
  if (size < 8) return 8;
  for (int i = 7; i >= 0; i--) length = length << 8 | head[i];
  if (length > SAFETENSORS_HEADER_MAX || (size > 8 && head[8] != '{')) return -1;
  if (size < 8 + length) return size == 8 ? 9 : (int64_t)(8 + length);
  int is_sound = gnn_json_parse("", head + 8, (size_t)length, &json, NULL) == GNN_OK;
  for (int32_t i = is_sound ? json.nodes[0].first : -1; i >= 0; i = json.nodes[i].next) {
    const gnn_json_node *offsets = gnn_json_member(&json, &json.nodes[i], "data_offsets");
    for (int32_t k = offsets && offsets->kind == GNN_JSON_ARRAY ? offsets->first : -1; k >= 0; k = json.nodes[k].next)
      if (json.nodes[k].is_integer && json.nodes[k].integer > last) last = json.nodes[k].integer;
  }
  gnn_json_free(&json);
  return is_sound && last <= INT64_MAX - 8 - SAFETENSORS_HEADER_MAX ? (int64_t)(8 + length) + last : -1;
}

gnn_status gnn_safetensors_open(const char *path, gnn_safetensors *out, gnn_error *error) {
  memset(out, 0, sizeof *out);
  gnn_status status = gnn_file_open(path, safetensors_promise, &out->file, error);
  if (status == GNN_OK) status = gnn_file_check(&out->file, safetensors_parse(path, out, 0, error), error);
  if (status != GNN_OK) gnn_safetensors_close(out);
  return status;
}

gnn_status gnn_safetensors_peek(const char *path, gnn_safetensors *out, gnn_error *error) {
  gnn_stream *stream;
  unsigned char lead[8], *head = NULL;
  size_t got = 0;
  uint64_t length = 0;
  int64_t taken, all = 0;
  memset(out, 0, sizeof *out);
  gnn_status status = gnn_stream_open(path, &stream, error);
  if (status != GNN_OK) return status;
  gnn_stream_progress(stream, &taken, &all);
  if (gnn_stream_is_packed(stream)) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is packed, and can only be read as a whole", path);
  if (status == GNN_OK) status = gnn_stream_read(stream, lead, sizeof lead, &got, error);
  for (int i = 7; got == sizeof lead && i >= 0; i--) length = length << 8 | lead[i];
  if (status == GNN_OK && (got < sizeof lead || length > SAFETENSORS_HEADER_MAX || length > (uint64_t)all - 8)) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is no safetensors file", path);
  if (status == GNN_OK && (head = malloc(8 + (size_t)length)) == NULL) status = gnn_fail_memory(error, 8 + (int64_t)length);
  if (status == GNN_OK) {
    memcpy(head, lead, sizeof lead);
    status = gnn_stream_read(stream, head + 8, (size_t)length, &got, error);
    if (status == GNN_OK && got < length) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" was cut short while it was being read", path);
  }
  gnn_stream_close(stream);
  gnn_file_hold(&out->file, head, (size_t)all);
  if (status == GNN_OK) status = safetensors_parse(path, out, 1, error);
  if (status != GNN_OK) gnn_safetensors_close(out);
  return status;
}

void gnn_safetensors_close(gnn_safetensors *file) {
  if (file->header) gnn_json_free(file->header);
  free(file->header);
  free(file->tensors);
  free(file->pairs);
  gnn_file_close(&file->file);
  memset(file, 0, sizeof *file);
}

const gnn_array *gnn_safetensors_find(const gnn_safetensors *file, const char *name) {
  for (int i = 0; i < file->tensor_count; i++)
    if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i].array;
  return NULL;
}

const char *gnn_safetensors_text(const gnn_safetensors *file, const char *key) {
  for (int i = 0; i < file->pair_count; i++)
    if (strcmp(file->pairs[i].key, key) == 0) return file->pairs[i].value;
  return NULL;
}

static const int width_order[] = {8, 4, 2, 1};

gnn_status gnn_safetensors_head(const gnn_tensor *tensors, int tensor_count, const uint32_t *sums, const gnn_pair *pairs, int pair_count,
                                gnn_text *out, gnn_error *error) {
  gnn_text header = {0}; /* its length before it */
  gnn_text_append(&header, "\0\0\0\0\0\0\0", 8);
  gnn_text_format(&header, "%s00000000\",\"gnncc.crc32.data\":\"", safetensors_lead);
  const char *comma = "";
  for (int w = 0; w < 4; w++) {
    for (int t = 0; t < tensor_count; t++) {
      if (gnn_dtype_bytes(tensors[t].array.dtype) != width_order[w]) continue;
      gnn_text_format(&header, "%s%s", comma, (sums ? safetensors_digits(sums[t]) : safetensors_data_sum(&tensors[t].array)).digits);
      comma = " ";
    }
  }
  gnn_text_append(&header, "\"", 1);
  for (int i = 0; i < pair_count; i++) {
    gnn_text_append(&header, ",", 1);
    gnn_text_json(&header, pairs[i].key);
    gnn_text_append(&header, ":", 1);
    gnn_text_json(&header, pairs[i].value);
  }
  gnn_text_append(&header, "}", 1);
  int64_t at = 0;
  for (int w = 0; w < 4; w++) {
    for (int t = 0; t < tensor_count; t++) {
      const gnn_array *array = &tensors[t].array;
      if (gnn_dtype_bytes(array->dtype) != width_order[w]) continue;
      int64_t bytes = array->count * width_order[w];
      gnn_text_append(&header, ",", 1);
      gnn_text_json(&header, tensors[t].name);
      gnn_text_format(&header, ":{\"dtype\":\"%s\",\"shape\":[", gnn_dtype_name(array->dtype));
      for (int i = 0; i < array->rank; i++)
        gnn_text_format(&header, "%s%lld", i ? "," : "", (long long)array->shape[i]);
      gnn_text_format(&header, "],\"data_offsets\":[%lld,%lld]}", (long long)at, (long long)(at + bytes));
      at += bytes;
    }
  }
  gnn_text_append(&header, "}", 1);
  while (!header.is_broken && header.length % 64 != 0) gnn_text_append(&header, " ", 1);
  if (header.is_broken || header.length > SAFETENSORS_HEADER_MAX) {
    gnn_text_free(&header);
    return gnn_fail_memory(error, (int64_t)header.length);
  }
  for (int i = 0; i < 8; i++) header.data[i] = (char)((uint64_t)(header.length - 8) >> (8 * i));
  memcpy(header.data + SAFETENSORS_SUM_AT, safetensors_header_sum((const unsigned char *)header.data, header.length).digits, SAFETENSORS_DIGITS);
  *out = header;
  return GNN_OK;
}

static void safetensors_add_to_sum(void *to, const void *bytes, size_t count) {
  uint32_t *sum = to;
  *sum = (uint32_t)crc32_z(*sum, bytes, count);
}

static void safetensors_put(void *to, const void *bytes, size_t count) { gnn_writer_put(to, bytes, count); }

static gnn_status safetensors_give(const gnn_tensor *tensor, gnn_tensor_sink *sink, void *to, gnn_error *error) {
  if (tensor->give) return tensor->give(tensor->user, sink, to, error);
  sink(to, tensor->array.data, (size_t)(tensor->array.count * gnn_dtype_bytes(tensor->array.dtype)));
  return GNN_OK;
}

gnn_status gnn_safetensors_write(const char *path, const gnn_tensor *tensors, int tensor_count, const gnn_pair *pairs,
                                 int pair_count, gnn_error *error) {
  gnn_text header = {0};
  gnn_writer writer;
  uint32_t *sums = calloc((size_t)tensor_count + 1, sizeof *sums);
  gnn_status status = sums ? GNN_OK : gnn_fail_memory(error, tensor_count * (int64_t)sizeof *sums);
  for (int t = 0; t < tensor_count && status == GNN_OK; t++) status = safetensors_give(&tensors[t], safetensors_add_to_sum, &sums[t], error);
  if (status == GNN_OK) status = gnn_safetensors_head(tensors, tensor_count, sums, pairs, pair_count, &header, error);
  free(sums);
  if (status != GNN_OK) return status;
  status = gnn_writer_open(&writer, path, error);
  if (status == GNN_OK) {
    gnn_status given = GNN_OK;
    gnn_writer_put(&writer, header.data, header.length);
    for (int w = 0; w < 4; w++) {
      for (int t = 0; t < tensor_count && given == GNN_OK; t++)
        if (gnn_dtype_bytes(tensors[t].array.dtype) == width_order[w]) given = safetensors_give(&tensors[t], safetensors_put, &writer, error);
    }
    gnn_error other;
    if (given != GNN_OK) writer.errno_value = EIO; /* what is there of the file goes */
    status = gnn_writer_close(&writer, given == GNN_OK ? error : &other);
    if (given != GNN_OK) status = given;
  }
  gnn_text_free(&header);
  return status;
}
