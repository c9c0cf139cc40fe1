/* diag_internal.h: what diag.c collects and diag_print.c prints. */
#ifndef GNNCC_DIAG_INTERNAL_H
#define GNNCC_DIAG_INTERNAL_H

#include "diag.h"
#include "source.h"

typedef struct DiagLabel {
  Place place;
  int width;
  const char *text;
} DiagLabel;

typedef struct DiagFix {
  Place place;
  int width;
  const char *replacement;
} DiagFix;

typedef struct Diag {
  bool is_error, is_printed, is_moved;
  const char *code, *name; /* name: of a warning, or NULL */
  const char *message;
  Place place;
  int width;
  int label_count, note_count, help_count, fix_count;
  DiagLabel *labels;
  const char **notes, **helps;
  DiagFix *fixes;
} Diag;

typedef struct WarningState {
  bool is_enabled, is_error;
} WarningState;

enum { WARNING_MAX = 32 };

struct Diags {
  Arena *arena;
  int32_t source_count;
  Source *sources;
  int item_count;
  Diag *items;
  Diag *last; /* NULL when the last diagnostic was dropped */
  int error_count, error_limit, width, exit_code;
  bool is_limit_hit;
  DiagFormat format;
  DiagColor color;
  WarningState warnings[WARNING_MAX];
};

const Source *diags_source(const Diags *diags, int32_t file); /* NULL for no file */
int diags_page_exit_code(const char *code); /* 1 for a code without a page */

/* One chapter of pages each. */
const DiagPage *diags_pages_syntax(int *count);
const DiagPage *diags_pages_types(int *count);
const DiagPage *diags_pages_machine(int *count);

#endif
