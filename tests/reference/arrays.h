/* Tensors of at most two dimensions in double precision, and the two file formats they come in.
 * A vector has ndim 1 and cols 1. Any failure prints the path and the reason and ends the program with status 1. */
#ifndef REFERENCE_ARRAYS_H
#define REFERENCE_ARRAYS_H
#include <stddef.h>

enum { NAME_SIZE = 96 };

typedef struct {
    char name[NAME_SIZE];
    int ndim;
    size_t rows, cols;
    double *v; /* rows * cols, row-major, owned */
} Tensor;

_Noreturn void fail(const char *subject, const char *format, ...);

Tensor tensor_new(int ndim, size_t rows, size_t cols); /* zeros */
void tensor_free(Tensor *);

Tensor npy_read(const char *path);               /* little-endian float, integer or bool, C order */
void npy_write(const char *path, const Tensor *); /* float64 */

size_t safetensors_read(const char *path, Tensor **); /* F32 and F64; returns how many, in the order of the header */
void safetensors_write(const char *path, const Tensor *, size_t count); /* F32 */

#endif
