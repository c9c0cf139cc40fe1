/* text.h: messages. Errors as the three things a user is told, growing text, numbers as people read them. */
#ifndef GNN_TEXT_H
#define GNN_TEXT_H

#include "runtime/gnnrt.h"

/* What went wrong: a code of the diagnostic index ("" where it has none), one sentence, and perhaps what to do. */
typedef struct gnn_error {
  char code[8];
  char message[768];
  char help[512];
} gnn_error;

/* Fills *error (NULL is fine) and returns status. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
gnn_status gnn_fail(gnn_error *error, gnn_status status, const char *code, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gnn_fail_help(gnn_error *error, const char *format, ...);
gnn_status gnn_fail_memory(gnn_error *error, int64_t bytes); /* 0: nobody knows how many */
/* "cannot VERB PATH: text of errno" */
gnn_status gnn_fail_file(gnn_error *error, const char *verb, const char *path, int errno_value);

/* Text that grows. After a failed allocation is_broken is set and further appends do nothing. */
typedef struct gnn_text {
  char *data; /* zero-terminated once anything was appended; NULL before */
  size_t length, capacity;
  int is_broken;
} gnn_text;

void gnn_text_append(gnn_text *text, const char *bytes, size_t count);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gnn_text_format(gnn_text *text, const char *format, ...);
void gnn_text_json(gnn_text *text, const char *string); /* quoted and escaped; what is not UTF-8 becomes U+FFFD */
void gnn_text_free(gnn_text *text);

/* Numbers for people. The returned value is its argument: room for the text on the caller's stack. */
typedef struct gnn_short_text {
  char text[32];
} gnn_short_text;

gnn_short_text gnn_count_text(int64_t count);      /* "2,449,029" */
gnn_short_text gnn_bytes_text(int64_t bytes);      /* "21.7 GiB" */
gnn_short_text gnn_bytes_above_text(int64_t bytes); /* the same rounded up: of what is needed, so that a budget of what is told fits */
gnn_short_text gnn_seconds_text(double seconds);   /* "0.45 s", "1 m 13 s", "18 ms" */

/* As a number is printed: a NaN has a sign, which says nothing and which printf would show. */
double gnn_shown(double number);

/* Decodes one character of `text` (at least 1 byte left) and returns its length in bytes. A byte that is not UTF-8 counts as
 * one character, *codepoint -1. */
int gnn_utf8_decode(const char *text, size_t length, int32_t *codepoint);

/* Of words of strangers in a message: what would move the cursor or change colours becomes '?'; ends of lines stay where they are asked for. */
void gnn_text_tame(char *text, int keeps_lines);

/* What a name must not have: "has a control character", "is not text in UTF-8"; NULL: it has nothing of that. */
const char *gnn_name_fault(const char *name);

/* The terminal takes UTF-8, as its locale says. */
int gnn_is_utf8(void);

/* The candidate that `word` was meant to be: Damerau-Levenshtein distance at most max(1, length / 3), or NULL. */
const char *gnn_nearest(const char *word, const char *const *candidates, int count);

/* A decimal number in the C locale whatever the process has set; returns 0 unless all of text is one. */
int gnn_parse_number(const char *text, double *value);
int gnn_parse_integer(const char *text, int64_t *value);
/* "64MiB", "1.5 GB", "4096": B KB MB GB TB, powers of ten, KiB MiB GiB TiB, powers of two. */
int gnn_parse_bytes(const char *text, int64_t *bytes);

#endif
