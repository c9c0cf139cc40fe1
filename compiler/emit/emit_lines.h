/* emit_lines.h: -g: the steps of a program stand on the lines of its model, as debuggers see them. */
#ifndef GNNCC_EMIT_LINES_H
#define GNNCC_EMIT_LINES_H

#include "emit.h"

/* Around the statements of a step; nothing without -g. */
void emit_lines_begin(const Emission *emission, const Step *step, FILE *out);
void emit_lines_end(const Emission *emission, FILE *out);
/* The text of PREFIX.c, with #line before each of those statements, and after them with where the text goes on. */
void emit_lines(const Emission *emission, const char *text, size_t length, FILE *out);

#endif
