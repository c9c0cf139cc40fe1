/* allocation: no allocation of gnncc's returns NULL, whoever asks: the parser, jansson, the planner, the readers of data. It is linked
 * with --wrap (MEMORY in the Makefile), and what cannot be had ends it. */
#include "allocated.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>

#include "lang/arena.h"
#include "runtime/base/partial.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
FILE *__real_fopen(const char *path, const char *mode);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void __wrap_free(void *memory);
FILE *__real_fdopen(int descriptor, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fdopen(int descriptor, const char *mode);

enum { COUNTED_BYTES = 4096 }; /* of smaller blocks libc has some of its own, which it gives back without being asked */

static int64_t counted(void *memory) {
  const size_t bytes = memory ? malloc_usable_size(memory) : 0;
  return bytes >= COUNTED_BYTES ? (int64_t)bytes : 0;
}

static void count(void *memory, int sign) {
  const int64_t bytes = counted(memory);
  if (bytes) allocated_add(sign * bytes);
}

static void *had(void *memory, size_t bytes) {
  if (!memory && bytes) arena_out_of_memory(bytes);
  count(memory, 1);
  return memory;
}

void *__wrap_malloc(size_t bytes) { return had(__real_malloc(bytes), bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return had(__real_calloc(count, bytes), bytes && count > SIZE_MAX / bytes ? SIZE_MAX : count * bytes); }

void *__wrap_realloc(void *memory, size_t bytes) {
  count(memory, -1);
  return had(__real_realloc(memory, bytes), bytes);
}

void __wrap_free(void *memory) {
  count(memory, -1);
  __real_free(memory);
}

/* That of a stream is libc's own. */
static FILE *opened(FILE *file) {
  if (!file && errno == ENOMEM) arena_out_of_memory(0);
  return file;
}

FILE *__wrap_fopen(const char *path, const char *mode) { return opened(__real_fopen(path, mode)); }
FILE *__wrap_fdopen(int descriptor, const char *mode) { return opened(__real_fdopen(descriptor, mode)); }

#ifdef M_TRIM_THRESHOLD
/* A search frees its arena and the next one takes as much again: pages that go back to the system between them would be cleared anew each time. */
__attribute__((constructor)) static void keep_what_is_freed(void) { mallopt(M_TRIM_THRESHOLD, 1 << 30); }
#endif

/* However gnncc ends. */
__attribute__((destructor)) static void remove_what_is_unfinished(void) { gnn_partial_remove(); }
