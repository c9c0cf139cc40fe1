/* npy.h: NumPy's .npy files, versions 1 to 3 (numpy.lib.format). */
#ifndef GNN_NPY_H
#define GNN_NPY_H

#include "runtime/base/array.h"
#include "runtime/base/file.h"

enum { GNN_NPY_TRANSPOSED = 1, GNN_NPY_SWAPPED = 2 };

/* Opens PATH, or PATH.gz where there is no PATH. array->data points into *file. Fortran order and big-endian numbers are put
 * right in memory: *changed has the bits above. Objects, records and text are refused. */
gnn_status gnn_npy_open(const char *path, gnn_file *file, gnn_array *array, int *changed, gnn_error *error);

typedef enum gnn_npy_kind { GNN_NPY_NUMBERS, GNN_NPY_TEXT, GNN_NPY_OBJECTS, GNN_NPY_RECORDS, GNN_NPY_OTHER } gnn_npy_kind;

/* What the header of a .npy file says. */
typedef struct gnn_npy {
  gnn_npy_kind kind;
  gnn_array array;               /* dtype of GNN_NPY_NUMBERS alone */
  int is_fortran, is_swapped;
  int letters, letter_bytes;     /* GNN_NPY_TEXT: of an element; 4 bytes are UTF-32, 1 is ASCII, unused ones are 0 */
  char code[16];                 /* the type as NumPy writes it */
  int64_t offset;                /* where its elements begin */
} gnn_npy;

/* Of the first `size` bytes of one. `path` is for messages. */
gnn_status gnn_npy_describe(const char *path, const unsigned char *head, size_t size, gnn_npy *npy, gnn_error *error);
/* Of one that is in memory as a whole: array.data points into it, as it lies; no objects, records and others. */
gnn_status gnn_npy_view(const char *path, const unsigned char *data, size_t size, gnn_npy *npy, gnn_error *error);
/* The error that its elements are no numbers; GNN_OK: they are. */
gnn_status gnn_npy_refuse(const char *path, const gnn_npy *npy, gnn_error *error);
/* The numbers in C order, little-endian: what *arranged holds from now on (made.h). */
gnn_status gnn_npy_arrange(const gnn_npy *npy, gnn_file *arranged, gnn_error *error);
int64_t gnn_npy_bytes(const gnn_npy *npy); /* of its elements; 0 where nobody knows */
int64_t gnn_npy_promise(const unsigned char *head, size_t size); /* a gnn_file_promise */

/* What the first `size` bytes of a .npy file with numbers say, which are little-endian; they begin at *offset. */
gnn_status gnn_npy_head(const char *path, const unsigned char *head, size_t size, gnn_array *array, int *is_fortran, int64_t *offset, gnn_error *error);
const char *gnn_npy_changed(int changed); /* in words, behind what the array is called; NULL: nothing */
int gnn_npy_exists(const char *path); /* PATH or PATH.gz */
/* Writes version 1.0, C order. */
gnn_status gnn_npy_write(const char *path, const gnn_array *array, gnn_error *error);
/* The same up to the numbers, which the caller puts there. */
gnn_status gnn_npy_begin(gnn_writer *writer, const char *path, const gnn_array *array, gnn_error *error);

#endif
