/* npy.c: NumPy's .npy files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/base/made.h"

static const struct { char code[4]; gnn_dtype dtype; } npy_dtypes[] = {
  {"b1", GNN_BOOL}, {"u1", GNN_U8}, {"i1", GNN_I8}, {"u2", GNN_U16}, {"i2", GNN_I16}, {"u4", GNN_U32}, {"i4", GNN_I32},
  {"u8", GNN_U64}, {"i8", GNN_I64}, {"f2", GNN_F16}, {"f4", GNN_F32}, {"f8", GNN_F64},
};

static const unsigned char npy_magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { NPY_HEADER_MAX = 1 << 20 }; /* of what is compressed; NumPy itself takes 10,000 bytes */

/* The header is a Python dict literal with exactly the keys descr, fortran_order and shape. */
typedef struct npy_header {
  const char *path, *at, *end;
  gnn_error *error;
  gnn_npy *npy;
} npy_header;

static gnn_status npy_bad(const npy_header *h, const char *what) {
  return gnn_fail(h->error, GNN_EDATA, "", "\"%s\" has a damaged NumPy header: %s", h->path, what);
}

static void npy_blanks(npy_header *h) {
  while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t')) h->at++;
}

static int npy_take(npy_header *h, char c) {
  npy_blanks(h);
  if (h->at >= h->end || *h->at != c) return 0;
  h->at++;
  return 1;
}

static int npy_string(npy_header *h, char *out, size_t room) {
  npy_blanks(h);
  if (h->at >= h->end || (*h->at != '\'' && *h->at != '"')) return 0;
  char quote = *h->at++;
  size_t length = 0;
  while (h->at < h->end && *h->at != quote) {
    if (length + 1 >= room) return 0;
    out[length++] = *h->at++;
  }
  out[length] = 0;
  return npy_take(h, quote);
}

/* U12, S3: so many letters an element. */
static int npy_letters(const char *code, gnn_npy *npy) {
  int64_t letters;
  if ((code[0] != 'S' && code[0] != 'U') || !gnn_parse_integer(code + 1, &letters) || letters < 0 || letters > INT32_MAX / 4) return 0;
  npy->kind = GNN_NPY_TEXT;
  npy->letters = (int)letters;
  npy->letter_bytes = code[0] == 'U' ? 4 : 1;
  return 1;
}

static gnn_status npy_descr(npy_header *h) {
  gnn_npy *npy = h->npy;
  int depth = 0;
  npy_blanks(h);
  if (h->at < h->end && *h->at == '[') {
    npy->kind = GNN_NPY_RECORDS;
    do { /* texts with brackets in them are no types */
      depth += (*h->at == '[') - (*h->at == ']');
      h->at++;
    } while (h->at < h->end && depth > 0);
    return depth == 0 ? GNN_OK : npy_bad(h, "no element type");
  }
  if (!npy_string(h, npy->code, sizeof npy->code)) return npy_bad(h, "no element type");
  const char *code = strchr("<>|=", npy->code[0]) && npy->code[0] ? npy->code + 1 : npy->code;
  if (code[0] == 'O') npy->kind = GNN_NPY_OBJECTS;
  else if (!npy_letters(code, npy)) npy->kind = GNN_NPY_OTHER;
  npy->is_swapped = npy->code[0] == '>' && strcmp(code + 1, "1") != 0;
  for (size_t i = 0; i < sizeof npy_dtypes / sizeof *npy_dtypes; i++)
    if (strcmp(code, npy_dtypes[i].code) == 0) {
      npy->kind = GNN_NPY_NUMBERS;
      npy->array.dtype = npy_dtypes[i].dtype;
    }
  return GNN_OK;
}

gnn_status gnn_npy_refuse(const char *path, const gnn_npy *npy, gnn_error *error) {
  switch (npy->kind) {
  case GNN_NPY_NUMBERS: return GNN_OK;
  case GNN_NPY_RECORDS: return gnn_fail(error, GNN_EDATA, "", "\"%s\" holds records; store each field as an array of its own", path);
  case GNN_NPY_OBJECTS: return gnn_fail(error, GNN_EDATA, "", "\"%s\" holds Python objects (a pickle), which are never read", path);
  case GNN_NPY_TEXT:
  case GNN_NPY_OTHER: break;
  }
  return gnn_fail(error, GNN_EDATA, "", "\"%s\" has elements of type %s, which are not numbers gnncc knows", path, npy->code);
}

static gnn_status npy_shape(npy_header *h, gnn_array *array) {
  if (!npy_take(h, '(')) return npy_bad(h, "no shape");
  array->rank = 0;
  while (!npy_take(h, ')')) {
    if (array->rank > 0 && !npy_take(h, ',')) return npy_bad(h, "a malformed shape");
    if (array->rank > 0 && npy_take(h, ')')) return GNN_OK;
    npy_blanks(h);
    if (array->rank == GNN_ARRAY_RANK_MAX) return npy_bad(h, "too many dimensions");
    int64_t size = 0;
    const char *begin = h->at;
    while (h->at < h->end && *h->at >= '0' && *h->at <= '9') {
      if (!gnn_digit_fits(&size, *h->at++)) return npy_bad(h, "a dimension beyond 2^63");
    }
    if (h->at == begin) return npy_bad(h, "a malformed shape");
    if (h->at < h->end && *h->at == 'L') h->at++; /* Python 2 */
    array->shape[array->rank++] = size;
  }
  return GNN_OK;
}

static gnn_status npy_dict(npy_header *h) {
  gnn_npy *npy = h->npy;
  unsigned seen = 0;
  if (!npy_take(h, '{')) return npy_bad(h, "it is not a dictionary");
  while (!npy_take(h, '}')) {
    char key[24];
    if (!npy_string(h, key, sizeof key) || !npy_take(h, ':')) return npy_bad(h, "a malformed key");
    gnn_status status = GNN_OK;
    unsigned bit;
    if (strcmp(key, "descr") == 0) {
      bit = 1;
      status = npy_descr(h);
    } else if (strcmp(key, "fortran_order") == 0) {
      bit = 2;
      npy_blanks(h);
      if (h->end - h->at >= 4 && memcmp(h->at, "True", 4) == 0) { npy->is_fortran = 1; h->at += 4; }
      else if (h->end - h->at >= 5 && memcmp(h->at, "False", 5) == 0) { npy->is_fortran = 0; h->at += 5; }
      else status = npy_bad(h, "fortran_order is neither True nor False");
    } else if (strcmp(key, "shape") == 0) {
      bit = 4;
      status = npy_shape(h, &npy->array);
    } else {
      return npy_bad(h, "an unknown key");
    }
    if (status != GNN_OK) return status;
    if (seen & bit) return npy_bad(h, "a key twice");
    seen |= bit;
    if (!npy_take(h, ',')) {
      if (!npy_take(h, '}')) return npy_bad(h, "no closing brace");
      break;
    }
  }
  npy_blanks(h);
  if (h->at != h->end) return npy_bad(h, "something after the dictionary");
  return seen == 7 ? GNN_OK : npy_bad(h, "descr, fortran_order or shape is missing");
}

/* One number, its bytes turned round or not. */
static void npy_put(unsigned char *to, const unsigned char *from, int width, int is_swapped) {
  if (!is_swapped) memcpy(to, from, (size_t)width);
  else
    for (int b = 0; b < width; b++) to[b] = from[width - 1 - b];
}

/* Where the numbers of a column, of one place in all dimensions but the first, lie in their rows; the next column in the order of the file. */
static int64_t npy_column(const gnn_array *array, int64_t *place) {
  int64_t at = 0;
  for (int d = 1; d < array->rank; d++) at = at * array->shape[d] + place[d];
  for (int d = 1; d < array->rank && ++place[d] == array->shape[d]; d++) place[d] = 0;
  return at;
}

/* Rows [row, end) of columns that lie one behind the other: of each so many numbers as there are rows. */
static void npy_transpose(const gnn_npy *npy, int64_t row, int64_t end, unsigned char *data) {
  const gnn_array *array = &npy->array;
  const int width = gnn_dtype_bytes(array->dtype);
  const int64_t rows = array->shape[0], columns = array->count / rows;
  int64_t place[GNN_ARRAY_RANK_MAX] = {0};
  for (int64_t c = 0; c < columns; c++) {
    const int64_t at = npy_column(array, place);
    const unsigned char *from = array->data + c * rows * width;
    for (int64_t r = row; r < end; r++) npy_put(data + ((r - row) * columns + at) * width, from + r * width, width, npy->is_swapped);
    gnn_array_pass(array, c * rows + row, c * rows + end);
  }
}

gnn_status gnn_npy_arrange(const gnn_npy *npy, gnn_file *arranged, gnn_error *error) {
  enum { HELD_BYTES = 1 << 20 };
  const gnn_array *array = &npy->array;
  const int width = gnn_dtype_bytes(array->dtype);
  const int64_t rows = npy->is_fortran ? array->shape[0] : array->count, columns = npy->is_fortran ? array->count / rows : 1;
  const int64_t held = HELD_BYTES / width / columns, step = held < 1 ? 1 : held > rows ? rows : held;
  unsigned char *data = malloc((size_t)(step * columns * width) + 1);
  if (data == NULL) return gnn_fail_memory(error, step * columns * width);
  gnn_made made;
  gnn_made_begin(&made);
  gnn_guard_expect(array->data, (size_t)(step * width));
  gnn_status status = GNN_OK;
  for (int64_t row = 0, end; status == GNN_OK && row < rows; row = end) {
    end = rows - row < step ? rows : row + step;
    if (npy->is_fortran) npy_transpose(npy, row, end, data);
    else {
      for (int64_t k = row; k < end; k++) npy_put(data + (k - row) * width, array->data + k * width, width, npy->is_swapped);
      gnn_array_pass(array, row, end);
    }
    status = gnn_made_put(&made, data, (size_t)((end - row) * columns * width), error);
  }
  free(data);
  if (status == GNN_OK) return gnn_made_end(&made, arranged, error);
  gnn_made_drop(&made);
  return status;
}

/* Where the dictionary begins, and its length. 0: these bytes do not tell. */
static int npy_place(const unsigned char *data, size_t size, size_t *at, size_t *length) {
  if (size < 12) return 0; /* no version has a header that short */
  *at = data[6] == 1 ? 10 : 12;
  *length = (size_t)data[8] | (size_t)data[9] << 8;
  if (data[6] != 1) *length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
  return 1;
}

int64_t gnn_npy_promise(const unsigned char *head, size_t size) {
  size_t at, length;
  gnn_npy npy;
  int64_t bytes;
  if (!npy_place(head, size, &at, &length)) return 12;
  if (memcmp(head, npy_magic, sizeof npy_magic) != 0 || head[6] < 1 || head[6] > 3 || length > NPY_HEADER_MAX) return -1;
  if (size < at + length) return (int64_t)(at + length);
  if (gnn_npy_describe("", head, size, &npy, NULL) != GNN_OK || (npy.kind != GNN_NPY_NUMBERS && npy.kind != GNN_NPY_TEXT)) return -1;
  return gnn_add_fits(npy.offset, gnn_npy_bytes(&npy), &bytes) ? bytes : -1;
}

gnn_status gnn_npy_describe(const char *path, const unsigned char *head, size_t size, gnn_npy *npy, gnn_error *error) {
  if (size < sizeof npy_magic || memcmp(head, npy_magic, sizeof npy_magic) != 0) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "E0707", "\"%s\" has no NumPy header", path);
    if (size < 8 && (size == 0 || memcmp(head, npy_magic, size < 6 ? size : 6) == 0))
      gnn_fail_help(error, "it holds %lld bytes only; was it copied completely?", (long long)size);
    else
      gnn_fail_help(error, "IGB large and full are raw numbers; other files come from numpy.save");
    return status;
  }
  npy_header h = {.path = path, .error = error, .npy = npy};
  size_t at, length;
  memset(npy, 0, sizeof *npy);
  if (size > 6 && (head[6] < 1 || head[6] > 3))
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" is of .npy version %d; versions 1 to 3 are known", path, head[6]);
  if (!npy_place(head, size, &at, &length) || length > size - at) return npy_bad(&h, "the file ends inside it");
  h.at = (const char *)head + at;
  h.end = h.at + length;
  gnn_status status = npy_dict(&h);
  if (status != GNN_OK) return status;
  int64_t bytes;
  if (!gnn_array_measure(&npy->array) || !gnn_multiply_fits(npy->array.count, (int64_t)npy->letters * npy->letter_bytes, &bytes)) return npy_bad(&h, "a shape of more than 2^63 bytes");
  npy->offset = (int64_t)(at + length);
  return GNN_OK;
}

int64_t gnn_npy_bytes(const gnn_npy *npy) {
  return npy->kind == GNN_NPY_TEXT ? npy->array.count * npy->letters * npy->letter_bytes : npy->kind == GNN_NPY_NUMBERS ? npy->array.count * gnn_dtype_bytes(npy->array.dtype) : 0;
}

gnn_status gnn_npy_head(const char *path, const unsigned char *head, size_t size, gnn_array *array, int *is_fortran, int64_t *offset, gnn_error *error) {
  gnn_npy npy;
  gnn_status status = gnn_npy_describe(path, head, size, &npy, error);
  if (status == GNN_OK) status = gnn_npy_refuse(path, &npy, error);
  if (status != GNN_OK) return status;
  if (npy.is_swapped) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is big-endian (%s)", path, npy.code);
    gnn_fail_help(error, "numpy.save(f, a.astype(a.dtype.newbyteorder(\"<\")))");
    return status;
  }
  *array = npy.array;
  *is_fortran = npy.is_fortran;
  *offset = npy.offset;
  return GNN_OK;
}

gnn_status gnn_npy_view(const char *path, const unsigned char *data, size_t size, gnn_npy *npy, gnn_error *error) {
  gnn_status status = gnn_npy_describe(path, data, size, npy, error);
  if (status != GNN_OK || (npy->kind != GNN_NPY_NUMBERS && npy->kind != GNN_NPY_TEXT)) return status;
  const uint64_t need = (uint64_t)gnn_npy_bytes(npy), have = size - (uint64_t)npy->offset;
  const char *type = npy->kind == GNN_NPY_NUMBERS ? gnn_dtype_name(npy->array.dtype) : npy->code;
  if (have < need)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated: %s of %s take %s bytes, %s are there", path,
                    gnn_shape_text(&npy->array).text, type, gnn_count_text((int64_t)need).text, gnn_count_text((int64_t)have).text);
  if (have > need)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" holds %s bytes more than %s of %s take", path,
                    gnn_count_text((int64_t)(have - need)).text, gnn_shape_text(&npy->array).text, type);
  npy->array.data = data + npy->offset;
  npy->is_fortran = npy->is_fortran && npy->array.rank > 1 && npy->array.count > 0;
  return GNN_OK;
}

static gnn_status npy_load(const char *path, gnn_file *file, gnn_array *array, int *changed, gnn_error *error) {
  gnn_npy npy;
  gnn_file arranged = {0};
  gnn_status status = gnn_npy_view(path, file->data, file->size, &npy, error);
  if (status == GNN_OK) status = gnn_npy_refuse(path, &npy, error);
  if (status != GNN_OK) return status;
  *array = npy.array;
  *changed = (npy.is_fortran ? GNN_NPY_TRANSPOSED : 0) | (npy.is_swapped ? GNN_NPY_SWAPPED : 0);
  if (*changed == 0) return GNN_OK;
  if ((status = gnn_npy_arrange(&npy, &arranged, error)) != GNN_OK) return status;
  status = gnn_file_check(file, GNN_OK, error);
  arranged.path = file->path;
  file->path = NULL;
  gnn_file_close(file);
  *file = arranged;
  array->data = file->data;
  return status;
}

const char *gnn_npy_changed(int changed) {
  static const char *const words[] = {NULL, "is stored in Fortran order and was transposed", "is stored big-endian and was turned round",
                                      "is stored in Fortran order and big-endian; both were turned round"};
  return words[changed & (GNN_NPY_TRANSPOSED | GNN_NPY_SWAPPED)];
}

int gnn_npy_exists(const char *path) {
  char packed[4096];
  if (gnn_path_exists(path)) return 1;
  return snprintf(packed, sizeof packed, "%s.gz", path) < (int)sizeof packed && gnn_path_exists(packed);
}

gnn_status gnn_npy_open(const char *path, gnn_file *file, gnn_array *array, int *changed, gnn_error *error) {
  char packed[4096];
  memset(array, 0, sizeof *array);
  *changed = 0;
  if (!gnn_path_exists(path) && snprintf(packed, sizeof packed, "%s.gz", path) < (int)sizeof packed &&
      gnn_path_exists(packed))
    path = packed;
  gnn_status status = gnn_file_open(path, gnn_npy_promise, file, error);
  if (status != GNN_OK) return status;
  status = gnn_file_check(file, npy_load(path, file, array, changed, error), error);
  if (status != GNN_OK) gnn_file_close(file);
  return status;
}

gnn_status gnn_npy_begin(gnn_writer *writer, const char *path, const gnn_array *array, gnn_error *error) {
  const char *code = NULL;
  for (size_t i = 0; i < sizeof npy_dtypes / sizeof *npy_dtypes; i++)
    if (npy_dtypes[i].dtype == array->dtype) code = npy_dtypes[i].code;
  if (code == NULL)
    return gnn_fail(error, GNN_EINVAL, "", ".npy files cannot hold %s", gnn_dtype_name(array->dtype));
  gnn_text head = {0};
  gnn_text_format(&head, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", code[1] == '1' ? '|' : '<', code);
  for (int i = 0; i < array->rank; i++)
    gnn_text_format(&head, "%s%lld%s", i ? ", " : "", (long long)array->shape[i], array->rank == 1 ? "," : "");
  gnn_text_format(&head, "), }");
  while (!head.is_broken && (10 + head.length + 1) % 64 != 0) gnn_text_append(&head, " ", 1);
  gnn_text_append(&head, "\n", 1);
  if (head.is_broken) {
    gnn_text_free(&head);
    return gnn_fail_memory(error, 256);
  }
  unsigned char lead[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(head.length & 255),
                            (unsigned char)(head.length >> 8)};
  gnn_status status = gnn_writer_open(writer, path, error);
  if (status == GNN_OK) {
    gnn_writer_put(writer, lead, sizeof lead);
    gnn_writer_put(writer, head.data, head.length);
  }
  gnn_text_free(&head);
  return status;
}

gnn_status gnn_npy_write(const char *path, const gnn_array *array, gnn_error *error) {
  gnn_writer writer;
  const gnn_status status = gnn_npy_begin(&writer, path, array, error);
  if (status != GNN_OK) return status;
  gnn_writer_put(&writer, array->data, (size_t)(array->count * gnn_dtype_bytes(array->dtype)));
  return gnn_writer_close(&writer, error);
}
