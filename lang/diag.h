/* diag.h: diagnostics. They are collected with their places and printed at the end, in one of four forms.
 *
 * Every diagnostic has a code (E0301, W0402) with a page of its own (diags_explain); every warning has a name too.
 * An error on a line that already has one is dropped, and so is everything that is added to it.
 */
#ifndef GNNCC_DIAG_H
#define GNNCC_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "arena.h"
#include "typed.h" /* Place */

typedef struct Diags Diags;

typedef enum DiagFormat { DIAG_TEXT, DIAG_SHORT, DIAG_JSON, DIAG_SARIF } DiagFormat;
typedef enum DiagColor { DIAG_COLOR_AUTO, DIAG_COLOR_ALWAYS, DIAG_COLOR_NEVER } DiagColor;

#define DIAG_PRINTF(text, first) __attribute__((format(printf, text, first)))

Diags *diags_new(Arena *arena);

/* Texts that places point into. The text is copied; the result is the Place.file of everything in it. */
int32_t diags_add_source(Diags *diags, const char *path, const char *text, size_t length);
int32_t diags_source_count(const Diags *diags);
const char *diags_source_path(const Diags *diags, int32_t file);
const char *diags_source_text(const Diags *diags, int32_t file, size_t *length);

/* A place that is nowhere in a text: the command line, a file as a whole. */
Place diags_no_place(void);

void diags_error(Diags *diags, const char *code, Place place, const char *format, ...) DIAG_PRINTF(4, 5);
void diags_warning(Diags *diags, const char *code, const char *name, Place place, const char *format, ...) DIAG_PRINTF(5, 6);

/* Additions to the diagnostic made last. `width` is in bytes; 0 stands for the word or operator at the place. */
void diags_span(Diags *diags, int width); /* how much of the line the diagnostic itself underlines */
void diags_label(Diags *diags, Place place, int width, const char *format, ...) DIAG_PRINTF(4, 5);
void diags_note(Diags *diags, const char *format, ...) DIAG_PRINTF(2, 3);
void diags_help(Diags *diags, const char *format, ...) DIAG_PRINTF(2, 3);
/* A replacement of `width` bytes (0: an insertion) that is certainly right. */
void diags_fix(Diags *diags, Place place, int width, const char *replacement);
/* The same of a word, where it stands there, alone or in quotes: names that were made up elsewhere are not in the text. */
void diags_fix_word(Diags *diags, Place place, const char *word, const char *replacement);

/* Errors of `body`'s file made since there were `first` diagnostics stem from a call at `call`. They are moved there when
 * the call is in another file (their own place becomes a label), and get a label there otherwise. */
int diags_count(const Diags *diags);
void diags_called_from(Diags *diags, int first, Place body, Place call, const char *name);

/* Drops what was said since there were `first` diagnostics when an error of that code is among it; false: it is kept. */
bool diags_drop_with(Diags *diags, int first, const char *code);

int diags_error_count(const Diags *diags);
/* There were more errors than are shown: nothing more need be looked for. */
bool diags_is_full(const Diags *diags);
/* 0 without errors; otherwise what the process should end with: 1 program or data, 2 command line, 3 no plan fits,
 * 4 unreadable file, 5 missing tool, 70 ours. */
int diags_exit_code(const Diags *diags);

void diags_set_format(Diags *diags, DiagFormat format);
void diags_set_color(Diags *diags, DiagColor color);
void diags_set_error_limit(Diags *diags, int limit); /* 0: no limit */
void diags_set_width(Diags *diags, int columns);     /* lines are cut around the caret; 0: never */
bool diags_format_named(const char *name, DiagFormat *format);
bool diags_color_named(const char *name, DiagColor *color);

/* One -W option without the -W: "all", "patience", "no-patience", "error", "error=patience", "no-error=patience";
 * false when there is no such warning. "" is -w: no warnings at all. */
bool diags_warning_option(Diags *diags, const char *option);
/* The names of warnings and then of groups, one a call; NULL after the last. For did-you-mean. */
const char *diags_warning_name(int index);
/* gnncc --help=warnings: every warning with its code, its group and what it is about, then the groups. */
void diags_list_warnings(FILE *out);

/* Prints what has not been printed yet, sorted by place. */
void diags_print(Diags *diags, FILE *out);
bool diags_wants_color(const Diags *diags, FILE *out); /* as --color, NO_COLOR, CLICOLOR_FORCE and TERM say; out: a terminal */
/* All there are, printed or not, as a list of the objects of DIAG_JSON in brackets. */
void diags_print_list(const Diags *diags, FILE *out);

/* The page of a code: what it means, a wrong and a right program. False when there is no such code. */
bool diags_explain(const char *code, FILE *out);

/* The pages one by one, for tests and for the index in the manual; false after the last. */
typedef struct DiagPage {
  const char *code, *title;
  const char *text;         /* paragraphs */
  const char *wrong, *right; /* complete programs, or NULL where a program cannot show it */
  int exit_code;
  bool is_of_gnncc;         /* not the front end finds it, but what reads the data and plans */
  const char *why_none;     /* why there are no programs */
} DiagPage;
bool diags_page(int index, DiagPage *page);

#endif
