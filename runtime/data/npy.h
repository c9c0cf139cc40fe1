/* npy.h: NumPy's .npy files, versions 1 to 3 (numpy.lib.format). */
#ifndef GNN_NPY_H
#define GNN_NPY_H

#include "runtime/base/array.h"
#include "runtime/base/file.h"

/* Opens PATH, or PATH.gz where there is no PATH. array->data points into *file. A Fortran-ordered array is transposed
 * in memory and *is_transposed set. Objects, structures and big-endian numbers are refused. */
gnn_status gnn_npy_open(const char *path, gnn_file *file, gnn_array *array, int *is_transposed, gnn_error *error);
/* What the first `size` bytes of a .npy file say; its numbers begin at *offset. */
gnn_status gnn_npy_head(const char *path, const unsigned char *head, size_t size, gnn_array *array, int *is_fortran, int64_t *offset, gnn_error *error);
int gnn_npy_exists(const char *path); /* PATH or PATH.gz */
/* Writes version 1.0, C order. */
gnn_status gnn_npy_write(const char *path, const gnn_array *array, gnn_error *error);
/* The same up to the numbers, which the caller puts there. */
gnn_status gnn_npy_begin(gnn_writer *writer, const char *path, const gnn_array *array, gnn_error *error);

#endif
