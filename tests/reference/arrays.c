#include "arrays.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void fail(const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "reference: %s: ", subject);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

Tensor tensor_new(int ndim, size_t rows, size_t cols)
{
    Tensor t = {.ndim = ndim, .rows = rows, .cols = cols, .v = calloc(rows * cols + 1, sizeof(double))};
    if (!t.v)
        fail("memory", "no room for %zu x %zu doubles", rows, cols);
    return t;
}

void tensor_free(Tensor *t)
{
    free(t->v);
    t->v = NULL;
}

/* The whole file, with a zero byte after it. */
static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path, "cannot be opened");
    long length = ftell(file);
    rewind(file);
    char *bytes = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length)
        fail(path, "cannot be read");
    fclose(file);
    bytes[length] = '\0';
    *size = (size_t)length;
    return bytes;
}

static void write_file(const char *path, const char *header, size_t header_size, const void *data, size_t data_size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(header, 1, header_size, file) != header_size ||
        fwrite(data, 1, data_size, file) != data_size || fclose(file) != 0)
        fail(path, "cannot be written");
}

/* Integers of `size` bytes, least significant first. */
static uint64_t little_endian(const unsigned char *p, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

/* One element of kind 'f', 'i', 'u' or 'b'. */
static double element(const char *bytes, char kind, size_t size)
{
    uint64_t raw = little_endian((const unsigned char *)bytes, size);
    if (kind == 'f' && size == 4) {
        uint32_t narrow = (uint32_t)raw;
        float f;
        memcpy(&f, &narrow, sizeof f);
        return f;
    }
    if (kind == 'f') {
        double d;
        memcpy(&d, &raw, sizeof d);
        return d;
    }
    if (kind == 'i' && size < 8 && raw >> (8 * size - 1))
        return (double)(int64_t)(raw | UINT64_MAX << 8 * size);
    return kind == 'i' ? (double)(int64_t)raw : (double)raw;
}

static void convert(Tensor *t, const char *bytes, char kind, size_t size)
{
    for (size_t i = 0; i < t->rows * t->cols; i++)
        t->v[i] = element(bytes + i * size, kind, size);
}

/* Reads up to two sizes from "3, 4)" or "3,4]"; returns how many, or -1. */
static int read_shape(const char *p, char close, size_t shape[2])
{
    int count = 0;
    for (;;) {
        while (*p == ' ' || *p == ',')
            p++;
        if (*p == close)
            return count;
        if (!isdigit((unsigned char)*p) || count == 2)
            return -1;
        char *end;
        shape[count++] = strtoull(p, &end, 10);
        p = end;
    }
}

static Tensor shaped(const char *path, int ndim, const size_t shape[2])
{
    if (ndim < 0)
        fail(path, "a shape with more than two dimensions, or none that can be read");
    return tensor_new(ndim, ndim > 0 ? shape[0] : 1, ndim > 1 ? shape[1] : 1);
}

Tensor npy_read(const char *path)
{
    size_t size, shape[2] = {1, 1};
    char *bytes = read_file(path, &size);
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        fail(path, "not a .npy file");
    size_t before = bytes[6] == 1 ? 10 : 12;
    size_t data = before + little_endian((unsigned char *)bytes + 8, before - 8);
    if (data > size)
        fail(path, "ends inside its header");

    char saved = bytes[data - 1];
    bytes[data - 1] = '\0';
    const char *descr = strstr(bytes + before, "'descr': '");
    const char *order = strstr(bytes + before, "'fortran_order': False");
    const char *where = strstr(bytes + before, "'shape': (");
    bytes[data - 1] = saved;
    if (!descr || !order || !where)
        fail(path, "needs a plain type, a shape and C order");
    char mark = descr[10], kind = descr[11];
    size_t item = strtoull(descr + 12, NULL, 10);
    if ((mark != '<' && mark != '|') || !strchr("fiub", kind) || !strchr("\1\2\4\10", (int)item) || item == 0 ||
        (kind == 'f' && item < 4))
        fail(path, "type %.4s is not read here", descr + 10);

    Tensor t = shaped(path, read_shape(where + 10, ')', shape), shape);
    if (size - data != t.rows * t.cols * item)
        fail(path, "%zu bytes of data, the shape asks for %zu", size - data, t.rows * t.cols * item);
    convert(&t, bytes + data, kind, item);
    free(bytes);
    return t;
}

void npy_write(const char *path, const Tensor *t)
{
    char header[128], shape[64];
    if (t->ndim == 1)
        snprintf(shape, sizeof shape, "(%zu,)", t->rows);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", t->rows, t->cols);
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
    int used = snprintf(header + 10, sizeof header - 10, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape);
    header[10 + used] = ' ';
    header[sizeof header - 1] = '\n';
    write_file(path, header, sizeof header, t->v, t->rows * t->cols * sizeof(double));
}

/* The value of "key" in the JSON object that starts at p, which has no nested objects. */
static const char *member(const char *path, const char *p, const char *key)
{
    const char *end = strchr(p, '}'), *found = strstr(p, key);
    if (!end || !found || found > end)
        fail(path, "a tensor without %s", key);
    found += strlen(key);
    while (*found == ':' || *found == ' ' || *found == '"' || *found == '[')
        found++;
    return found;
}

static Tensor read_entry(const char *path, const char *entry, const char *data, size_t data_size)
{
    size_t shape[2] = {1, 1}, span[2] = {0, 0};
    const char *dtype = member(path, entry, "\"dtype\"");
    Tensor t = shaped(path, read_shape(member(path, entry, "\"shape\""), ']', shape), shape);
    int both = read_shape(member(path, entry, "\"data_offsets\""), ']', span);
    size_t item = strncmp(dtype, "F32\"", 4) == 0 ? 4 : strncmp(dtype, "F64\"", 4) == 0 ? 8 : 0;
    if (item == 0)
        fail(path, "type %.3s is not read here", dtype);
    if (both != 2 || span[1] > data_size || span[0] > span[1] || span[1] - span[0] != t.rows * t.cols * item)
        fail(path, "data_offsets that do not fit the shape or the file");
    convert(&t, data + span[0], 'f', item);
    return t;
}

size_t safetensors_read(const char *path, Tensor **tensors)
{
    size_t size, count = 0;
    char *bytes = read_file(path, &size);
    uint64_t length = size < 8 ? 0 : little_endian((unsigned char *)bytes, 8);
    if (length == 0 || length > size - 8)
        fail(path, "not a safetensors file");
    char *header = malloc(length + 1);
    if (!header)
        fail(path, "no memory for its header");
    memcpy(header, bytes + 8, length);
    header[length] = '\0';

    *tensors = NULL;
    for (const char *p = header; (p = strchr(p, '"')) != NULL;) {
        const char *name = p + 1, *close = strchr(name, '"'), *entry = close ? strchr(close, '{') : NULL;
        const char *end = entry ? strchr(entry, '}') : NULL;
        if (!end || (size_t)(close - name) >= NAME_SIZE)
            fail(path, "a header that cannot be read");
        p = end + 1;
        if (strncmp(name, "__metadata__\"", 13) == 0)
            continue;
        *tensors = realloc(*tensors, (count + 1) * sizeof **tensors);
        if (!*tensors)
            fail(path, "no memory for its tensors");
        Tensor *t = &(*tensors)[count++];
        *t = read_entry(path, entry, bytes + 8 + length, size - 8 - length);
        memcpy(t->name, name, (size_t)(close - name));
        t->name[close - name] = '\0';
    }
    free(header);
    free(bytes);
    return count;
}

void safetensors_write(const char *path, const Tensor *tensors, size_t count)
{
    size_t capacity = 64 + count * (NAME_SIZE + 128), used = 8, total = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        total += tensors[i].rows * tensors[i].cols;
    char *header = malloc(capacity);
    float *data = malloc((total + 1) * sizeof *data);
    if (!header || !data)
        fail(path, "no memory to write it");
    for (size_t i = 0; i < count; i++) {
        const Tensor *t = &tensors[i];
        size_t size = t->rows * t->cols;
        char shape[48];
        snprintf(shape, sizeof shape, t->ndim == 1 ? "[%zu]" : "[%zu,%zu]", t->rows, t->cols);
        used += (size_t)snprintf(header + used, capacity - used,
                                 "%c\"%s\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}", i ? ',' : '{',
                                 t->name, shape, 4 * at, 4 * (at + size));
        for (size_t k = 0; k < size; k++)
            data[at++] = (float)t->v[k];
    }
    header[used++] = '}';
    while (used % 8)
        header[used++] = ' ';
    for (size_t i = 0; i < 8; i++)
        header[i] = (char)(unsigned char)((uint64_t)(used - 8) >> 8 * i);
    write_file(path, header, used, data, total * sizeof *data);
    free(header);
    free(data);
}
