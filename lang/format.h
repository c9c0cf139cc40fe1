/* format.h: the layout of a program: blanks, columns and blank lines; what it says stays. */
#ifndef GNNCC_FORMAT_H
#define GNNCC_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

/* The program in canonical layout; NULL after errors of syntax in `diags`. Imports are not followed. */
const char *format_program(Arena *arena, Diags *diags, const char *path, const char *text, size_t length);

/* Do two texts consist of the same tokens and comments? Newlines do not count. */
bool format_same_tokens(Arena *arena, const char *one, size_t one_length, const char *other, size_t other_length);

#endif
