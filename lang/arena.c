#include "arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/base/open.h"

enum { ALIGNMENT = 16, BLOCK_BYTES = 64 * 1024 };

typedef struct Block {
  struct Block *previous;
  size_t used, capacity;
  _Alignas(ALIGNMENT) unsigned char bytes[];
} Block;

struct Arena {
  Block *last;
};

void arena_out_of_memory(size_t bytes) {
  if (bytes) fprintf(stderr, "gnncc: error: out of memory (%zu bytes wanted)\n", bytes);
  else fprintf(stderr, "gnncc: error: out of memory\n");
  exit(3);
}

static void add_block(Arena *arena, size_t capacity) {
  if (capacity > SIZE_MAX - sizeof(Block)) arena_out_of_memory(capacity);
  Block *block = calloc(1, sizeof *block + capacity);
  if (!block) arena_out_of_memory(capacity);
  block->capacity = capacity;
  block->previous = arena->last;
  arena->last = block;
}

Arena *arena_new(void) {
  Arena *arena = calloc(1, sizeof *arena);
  if (!arena) arena_out_of_memory(sizeof *arena);
  add_block(arena, BLOCK_BYTES);
  return arena;
}

void arena_free(Arena *arena) {
  if (!arena) return;
  for (Block *block = arena->last; block;) {
    Block *previous = block->previous;
    free(block);
    block = previous;
  }
  free(arena);
}

void *arena_alloc(Arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX - ALIGNMENT) arena_out_of_memory(bytes);
  size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (arena->last->capacity - arena->last->used < rounded)
    add_block(arena, rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
  void *result = arena->last->bytes + arena->last->used;
  arena->last->used += rounded;
  return result;
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1);
  memcpy(copy, text, length);
  return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
  return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(Arena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = arena_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, args);
  return text;
}

char *arena_identifier(Arena *arena, const char *text) {
  char *name = arena_strdup(arena, text);
  for (char *c = name; *c; c++)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))) *c = '_';
  return name;
}

char *arena_printf(Arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = arena_vprintf(arena, format, args);
  va_end(args);
  return text;
}

char *arena_read_stream(Arena *arena, FILE *in, size_t *length) {
  static const size_t most = (size_t)1 << 30; /* nothing that is read so is larger; /dev/zero has no end */
  size_t capacity = 1 << 14, used = 0, got;
  char *text = arena_alloc(arena, capacity);
  while ((got = fread(text + used, 1, capacity - 1 - used, in)) > 0) {
    used += got;
    if (used < capacity - 1) continue;
    if (used > most) {
      errno = EFBIG;
      return NULL;
    }
    char *bigger = arena_alloc(arena, 2 * capacity);
    memcpy(bigger, text, used);
    text = bigger;
    capacity *= 2;
  }
  *length = used;
  if (!ferror(in)) return text;
  if (!errno) errno = EIO;
  return NULL;
}

char *arena_read_file(Arena *arena, const char *path, size_t *length) {
  int descriptor = gnn_open_plain(path);
  FILE *in = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
  if (!in) {
    int error = errno;
    if (descriptor >= 0) close(descriptor);
    errno = error;
    return NULL;
  }
  char *text = arena_read_stream(arena, in, length);
  int error = errno;
  fclose(in);
  errno = error;
  return text;
}

void *arena_grow(Arena *arena, void *items, size_t count, size_t item_bytes) {
  int is_full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
  if (!is_full) return items;
  size_t capacity = count == 0 ? 4 : 2 * count;
  if (capacity > SIZE_MAX / item_bytes) arena_out_of_memory(SIZE_MAX);
  void *bigger = arena_alloc(arena, capacity * item_bytes);
  if (count) memcpy(bigger, items, count * item_bytes);
  return bigger;
}

/* ---- text in memory ---- */

typedef struct TextStream {
  Arena *arena;
  char **text;
  size_t *length, capacity;
} TextStream;

static ssize_t write_text(void *cookie, const char *bytes, size_t count) {
  TextStream *stream = cookie;
  size_t length = *stream->length;
  if (count >= stream->capacity - length) {
    size_t capacity = 2 * stream->capacity + count;
    char *bigger = arena_alloc(stream->arena, capacity);
    memcpy(bigger, *stream->text, length);
    *stream->text = bigger;
    stream->capacity = capacity;
  }
  memcpy(*stream->text + length, bytes, count);
  *stream->length = length + count;
  return (ssize_t)count;
}

FILE *arena_open_text(Arena *arena, char **text, size_t *length) {
  enum { BEGIN = 4096 };
  TextStream *stream = arena_alloc(arena, sizeof *stream);
  *stream = (TextStream){arena, text, length, BEGIN};
  *text = arena_alloc(arena, BEGIN);
  *length = 0;
  FILE *out = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_text});
  if (!out) arena_out_of_memory(0);
  return out;
}
