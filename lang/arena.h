/* arena.h: memory of one compilation.
 *
 * Everything a compilation makes lives in one Arena and is released at once; nothing is freed by hand.
 * Every allocation is zeroed and aligned to 16 bytes. Running out of memory is reported on stderr and ends
 * the process with status 3: there is nothing a caller could do about it.
 */
#ifndef GNNCC_ARENA_H
#define GNNCC_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *arena); /* NULL is fine */
_Noreturn void arena_out_of_memory(size_t bytes); /* that were wanted; 0: nobody knows */

void *arena_alloc(Arena *arena, size_t bytes);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_identifier(Arena *arena, const char *text); /* _ for each character that no name in C has */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list args);

/* A whole file, and a 0 after it; NULL with errno where it cannot be read. */
char *arena_read_file(Arena *arena, const char *path, size_t *length);
char *arena_read_stream(Arena *arena, FILE *in, size_t *length); /* up to its end */

/* A stream whose text, once it is closed, is in *text with a 0 after it. Unlike open_memstream's it loses nothing in silence. */
FILE *arena_open_text(Arena *arena, char **text, size_t *length);

/* The array `items` of `count` elements with room for at least one more: itself, or a copy of twice the size.
 * An array must only ever grow through this call, so that its capacity is the next power of two of its count. */
void *arena_grow(Arena *arena, void *items, size_t count, size_t item_bytes);

/* Append `item` to the dense array `items` (a pointer lvalue) of `count` elements (an integer lvalue). */
#define ARENA_PUSH(arena, items, count, ...)                                                   \
  ((items) = arena_grow((arena), (items), (size_t)(count), sizeof *(items)), (items)[(count)++] = (__VA_ARGS__))

#endif
