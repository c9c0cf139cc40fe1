/* escape: text of strangers (names, paths, lines of a program) within what gnncc writes: one function for each format.
 *
 * JSON has gnn_text_json (runtime/base/text.h), whose escape_json is the text; documents built by jansson are written by it alone. */
#ifndef GNNCC_ESCAPE_H
#define GNNCC_ESCAPE_H

#include <stdio.h>

#include "lang/arena.h"

const char *escape_c(Arena *arena, const char *text);       /* a literal of C, in its quotes; NULL for no text */
const char *escape_json(Arena *arena, const char *text);    /* a string of JSON, in its quotes */
const char *escape_comment(Arena *arena, const char *text); /* one line of a comment of C, CUDA, make, CMake or Python that goes on behind it */
const char *escape_shell(Arena *arena, const char *text);   /* one word of a command of sh */
void escape_dot(FILE *out, const char *text);               /* a name of DOT, in its quotes */
void escape_xml(FILE *out, const char *text);               /* text and values of attributes of SVG and HTML */

#endif
