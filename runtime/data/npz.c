/* npz.c: a zip file with a .npy file for each array (https://numpy.org/doc/stable/reference/generated/numpy.savez.html). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keyed.h"
#include "npy.h"
#include "readers.h"
#include "runtime/base/zip.h"

static void npz_leave_out(gnn_dataset *dataset, const char *name, const char *why, char *left_out) {
  const size_t used = strlen(left_out);
  gnn_dataset_note(dataset, "%.80s is not used: it %s", name, why);
  snprintf(left_out + used, GNN_NPZ_LEFT_OUT_ROOM - used, "%s%.40s, which %s", used ? ", " : "; not ", name, why);
}

/* A text without dimension: its first letters, which are ASCII in whatever anybody looks at. */
static void npz_text(const gnn_npy *npy, char *text, size_t room) {
  size_t length = 0;
  for (int k = 0; k < npy->letters && length + 1 < room; k++) {
    const unsigned char c = npy->array.data[(size_t)k * (size_t)npy->letter_bytes + (npy->letter_bytes == 4 && npy->is_swapped ? 3 : 0)];
    if (c >= ' ' && c <= '~') text[length++] = (char)c;
  }
  text[length] = 0;
}

typedef struct npz_builder {
  gnn_dataset *dataset;
  gnn_safetensors *out;
  char *left_out;
  gnn_error *error;
} npz_builder;

/* Memory of the data set, which outlives whoever asks for names. */
static const char *npz_copy(const npz_builder *b, const char *text, size_t length) {
  char *copy = gnn_dataset_alloc(b->dataset, (int64_t)length + 1, 1, b->error);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

static gnn_status npz_array(const npz_builder *b, const char *name, gnn_npy *npy) {
  gnn_file arranged = {0};
  gnn_array array = npy->array;
  const int changed = (npy->is_fortran ? GNN_NPY_TRANSPOSED : 0) | (npy->is_swapped ? GNN_NPY_SWAPPED : 0);
  if (changed) {
    gnn_status status = gnn_npy_arrange(npy, &arranged, b->error);
    array.data = arranged.data;
    if (status == GNN_OK) status = gnn_dataset_own_file(b->dataset, &arranged, b->error);
    if (status != GNN_OK) return status;
    gnn_dataset_note(b->dataset, "%.80s %s", name, gnn_npy_changed(changed));
  }
  b->out->tensors[b->out->tensor_count++] = (gnn_tensor){.name = name, .array = array};
  return GNN_OK;
}

static gnn_status npz_member(const npz_builder *b, const gnn_zip *zip, const gnn_zip_member *member) {
  const size_t length = strlen(member->name);
  if (length <= 4 || strcmp(member->name + length - 4, ".npy") != 0) {
    npz_leave_out(b->dataset, member->name, "is no array", b->left_out);
    return GNN_OK;
  }
  const char *name = npz_copy(b, member->name, length - 4);
  if (name == NULL) return GNN_ENOMEM;
  for (int i = 0; i < b->out->tensor_count; i++)
    if (strcmp(b->out->tensors[i].name, name) == 0) return gnn_fail(b->error, GNN_EDATA, "", "\"%s\" holds %.100s twice", zip->file.path, name);
  char where[256];
  snprintf(where, sizeof where, "%.150s: %.90s", zip->file.path, name);
  const unsigned char *data;
  gnn_file unpacked;
  size_t size;
  gnn_npy npy;
  gnn_status status = gnn_zip_read(zip, member, &data, &size, &unpacked, b->error);
  if (status == GNN_OK && unpacked.data) status = gnn_dataset_own_file(b->dataset, &unpacked, b->error);
  if (status == GNN_OK) status = gnn_npy_view(where, data, size, &npy, b->error);
  if (status != GNN_OK) return status;
  if (npy.kind == GNN_NPY_NUMBERS) return npz_array(b, name, &npy);
  if (npy.kind == GNN_NPY_TEXT && npy.array.rank == 0) {
    char text[64];
    npz_text(&npy, text, sizeof text);
    const char *copy = npz_copy(b, text, strlen(text));
    if (copy) b->out->pairs[b->out->pair_count++] = (gnn_pair){name, copy};
    return copy ? GNN_OK : GNN_ENOMEM;
  }
  npz_leave_out(b->dataset, name, npy.kind == GNN_NPY_TEXT ? "is text" : npy.kind == GNN_NPY_OBJECTS ? "is Python objects (a pickle), never read" : "holds no numbers that gnncc knows", b->left_out);
  return GNN_OK;
}

/* What torch.save writes is a zip file, too. */
static int npz_is_torch(const gnn_zip *zip) {
  for (int i = 0; i < zip->count; i++) {
    const size_t length = strlen(zip->members[i].name);
    if (length >= 8 && strcmp(zip->members[i].name + length - 8, "data.pkl") == 0) return 1;
  }
  return 0;
}

gnn_status gnn_npz_open(gnn_dataset *dataset, const char *path, gnn_safetensors *out, char *left_out, gnn_error *error) {
  gnn_zip zip;
  memset(out, 0, sizeof *out);
  left_out[0] = 0;
  gnn_status status = gnn_zip_open(path, &zip, error);
  if (status != GNN_OK) return status;
  const npz_builder b = {dataset, out, left_out, error};
  out->tensors = calloc((size_t)zip.count + 1, sizeof *out->tensors);
  out->pairs = calloc((size_t)zip.count + 1, sizeof *out->pairs);
  if (out->tensors == NULL || out->pairs == NULL) status = gnn_fail_memory(error, 4096);
  if (status == GNN_OK && npz_is_torch(&zip)) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is what torch.save writes, a pickle, which is never read", path);
    gnn_fail_help(error, "share/gnncc/to_gnncc.py makes a folder of arrays of it");
  }
  for (int i = 0; status == GNN_OK && i < zip.count; i++) status = npz_member(&b, &zip, &zip.members[i]);
  status = gnn_file_check(&zip.file, status, error);
  if (status == GNN_OK) {
    out->file = zip.file;
    memset(&zip.file, 0, sizeof zip.file);
  } else gnn_safetensors_close(out);
  gnn_zip_close(&zip);
  return status;
}

gnn_status gnn_read_npz(gnn_dataset *dataset, const char *path, gnn_error *error) {
  gnn_safetensors file;
  char left_out[GNN_NPZ_LEFT_OUT_ROOM];
  gnn_status status = gnn_npz_open(dataset, path, &file, left_out, error);
  if (status != GNN_OK) return status;
  dataset->kind = "a .npz file of NumPy arrays";
  if (status == GNN_OK) status = gnn_read_named(dataset, &file, path, error);
  if (status == GNN_EDATA && error && error->help[0] && left_out[0]) {
    const size_t used = strlen(error->help);
    snprintf(error->help + used, sizeof error->help - used, "%s", left_out);
  }
  if (status == GNN_OK) status = gnn_dataset_own_file(dataset, &file.file, error);
  gnn_safetensors_close(&file);
  return status;
}
