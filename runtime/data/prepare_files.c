/* prepare_files.c: fields with files of their own, as .npy or as numbers without a header. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "npy.h"
#include "prepare.h"
#include "runtime/base/checked.h"

static int files_dtype(const char *name, gnn_dtype *dtype) {
  for (int i = 0; i < GNN_DTYPE_COUNT; i++) {
    if (strcasecmp(name, gnn_dtype_name((gnn_dtype)i)) != 0) continue;
    *dtype = (gnn_dtype)i;
    return 1;
  }
  return 0;
}

static gnn_status files_raw(const gnn_file_field *from, gnn_file *file, gnn_array *array, gnn_error *error) {
  gnn_dtype dtype;
  int64_t row_bytes, bytes;
  if (!files_dtype(from->type, &dtype) || from->width < 1 || !gnn_multiply_fits(from->width, gnn_dtype_bytes(dtype), &row_bytes))
    return gnn_fail(error, GNN_EINVAL, "", "%s: %s[%lld, %lld] is no shape of numbers", from->name, from->type, (long long)from->rows, (long long)from->width);
  gnn_status status = gnn_file_open(from->path, gnn_file_text, file, error);
  if (status != GNN_OK) return status;
  const int64_t have = (int64_t)file->size, rows = from->rows < 0 ? have / row_bytes : from->rows;
  if (!gnn_multiply_fits(rows, row_bytes, &bytes)) bytes = INT64_MAX;
  if (have >= 6 && memcmp(file->data, "\x93NUMPY", 6) == 0) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" has a NumPy header, so it is no raw file", from->path);
    gnn_fail_help(error, "npy(\"%s\")", from->path);
  } else if (from->rows < 0 && have % row_bytes) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated, or its rows are of another size: one of %s[%s] takes %s bytes, and %s bytes are there", from->path, from->type,
                      gnn_count_text(from->width).text, gnn_count_text(row_bytes).text, gnn_count_text(have).text);
  } else if (bytes != have) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" %s: %s[%s, %s] takes %s bytes, %s are there", from->path, have < bytes ? "is truncated" : "holds more", from->type,
                      gnn_count_text(rows).text, gnn_count_text(from->width).text, gnn_count_text(bytes).text, gnn_count_text(have).text);
  }
  *array = (gnn_array){.dtype = dtype, .rank = from->width == 1 ? 1 : 2, .shape = {rows, from->width}, .count = rows * from->width, .data = file->data};
  if (status != GNN_OK) gnn_file_close(file);
  return status;
}

static const char *files_quoted(gnn_dataset *dataset, const char *path, gnn_error *error) {
  const int64_t room = (int64_t)strlen(path) + 3;
  char *text = gnn_dataset_alloc(dataset, room, 1, error);
  if (text) snprintf(text, (size_t)room, "\"%s\"", path);
  return text;
}

gnn_status gnn_prepare_file_fields(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error) {
  for (int i = 0; i < recipe->file_field_count; i++) {
    const gnn_file_field *from = &recipe->file_fields[i];
    gnn_file file;
    gnn_array array;
    int changed = 0;
    gnn_status status = from->type ? files_raw(from, &file, &array, error) : gnn_npy_open(from->path, &file, &array, &changed, error);
    if (status == GNN_OK) status = gnn_dataset_own_file(dataset, &file, error);
    if (status != GNN_OK) return status;
    if (changed) gnn_dataset_note(dataset, "%s %s", from->path, gnn_npy_changed(changed));
    const char *path = files_quoted(dataset, from->path, error);
    if (path == NULL) return GNN_ENOMEM;
    const gnn_data_field *there = gnn_dataset_field(dataset, from->name);
    if (there) {
      gnn_data_field *field = &dataset->fields[there - dataset->fields];
      const gnn_data_field own = {.domain = from->domain, .raw = array, .declared_classes = -1, .file = path};
      char name[sizeof field->name];
      memcpy(name, field->name, sizeof name);
      *field = own;
      memcpy(field->name, name, sizeof name);
      gnn_dataset_note(dataset, "%s is read from \"%s\" instead", from->name, from->path);
    } else if ((status = gnn_dataset_add_field(dataset, from->name, from->domain, &array, error)) == GNN_OK) dataset->fields[dataset->field_count - 1].file = path;
    if (status != GNN_OK) return status;
  }
  return GNN_OK;
}
