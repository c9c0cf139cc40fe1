/* source.h: one text that was read, its lines, and how wide they are on a screen.
 *
 * Columns are counted in bytes everywhere inside the compiler; only what is printed is in screen columns
 * (tab stops every 8, wide characters two, combining marks none).
 */
#ifndef GNNCC_SOURCE_H
#define GNNCC_SOURCE_H

#include <stdint.h>

#include "arena.h"

typedef struct Source {
  const char *path; /* as shown in messages */
  const char *text;
  size_t length;
  int32_t line_count;
  size_t *line_start; /* byte offset of each line */
} Source;

Source source_new(Arena *arena, const char *path, const char *text, size_t length);

/* Line `line` (from 1) without its newline; NULL and length 0 when there is no such line. */
const char *source_line(const Source *source, int32_t line, size_t *length);

/* Screen columns of the first `bytes` bytes of a line. */
int source_screen_width(const char *line, size_t length, size_t bytes);

/* `line` as it should be printed: tabs expanded, control characters and broken bytes as '?'. */
char *source_printable(Arena *arena, const char *line, size_t length);

/* Length in bytes of the word, number, string or operator that starts at `at` in a line; at least 1. */
int source_token_length(const char *line, size_t length, size_t at);

#endif
