/* safetensors.h: the container of data sets, weights and checkpoints.
 * 8 bytes little-endian header length, a JSON header, raw tensors (https://github.com/huggingface/safetensors).
 * What is written here carries checksums (CRC-32) as entries of __metadata__: `gnncc.crc32`, the first one, of the length and the header,
 * taken with its own digits as zeros; `gnncc.crc32.data`, of the tensors in the order of their bytes. */
#ifndef GNN_SAFETENSORS_H
#define GNN_SAFETENSORS_H

#include "runtime/base/array.h"
#include "runtime/base/file.h"

typedef void gnn_tensor_sink(void *to, const void *bytes, size_t count);

typedef struct gnn_tensor {
  const char *name;
  gnn_array array; /* data points into the file */
  /* Of a file to be written where data is NULL: gives the bytes one after the other, the same whenever it is asked. */
  gnn_status (*give)(const void *user, gnn_tensor_sink *sink, void *to, gnn_error *error);
  const void *user;
} gnn_tensor;

typedef struct gnn_pair {
  const char *key, *value;
} gnn_pair;

typedef struct gnn_safetensors {
  gnn_file file;
  int tensor_count;
  gnn_tensor *tensors; /* in the order of their bytes */
  int pair_count;
  gnn_pair *pairs;     /* __metadata__ */
  void *header;        /* owns the names */
  int has_sums;        /* it carries checksums, and they are right */
} gnn_safetensors;

/* Refuses whatever the format forbids: lengths and offsets out of range, overlaps, holes, names twice; and what does not match the
 * checksums it carries. Other programs' files carry none. */
gnn_status gnn_safetensors_open(const char *path, gnn_safetensors *out, gnn_error *error);
/* Its header alone: data of tensors is not there, only where it lies, array.data - file.data bytes from the beginning. Sums of data are not checked. */
gnn_status gnn_safetensors_peek(const char *path, gnn_safetensors *out, gnn_error *error);
void gnn_safetensors_close(gnn_safetensors *file);
const gnn_array *gnn_safetensors_find(const gnn_safetensors *file, const char *name); /* NULL: absent */
const char *gnn_safetensors_text(const gnn_safetensors *file, const char *key);       /* of __metadata__; NULL: absent */

/* Tensors are laid out by descending element size, so that all are aligned; the data begin at a multiple of 64. */
gnn_status gnn_safetensors_write(const char *path, const gnn_tensor *tensors, int tensor_count, const gnn_pair *pairs,
                                 int pair_count, gnn_error *error);
/* What such a file begins with; the bytes of the tensors follow, those with the largest elements first. sums: the CRC-32 of each; NULL: of its data. */
gnn_status gnn_safetensors_head(const gnn_tensor *tensors, int tensor_count, const uint32_t *sums, const gnn_pair *pairs, int pair_count,
                                gnn_text *head, gnn_error *error);

#endif
