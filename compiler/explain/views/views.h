/* views.h: pictures of a plan. Each is a function of one Document; none knows the compiler. */
#ifndef GNNCC_VIEWS_VIEWS_H
#define GNNCC_VIEWS_VIEWS_H

#include "document.h"

/* ---- views.c: the kinds of --emit that are views ---- */

bool view_named(const char *kind);
const char *view_extension(const char *kind);
/* What is wrong with the path of --emit=KIND=PATH: it is empty, or ends as no form of this kind does. NULL: nothing. */
const char *view_path_fault(Arena *arena, const char *kind, const char *path);
/* The file says by itself that gnncc wrote it. The form of some kinds follows the ending of the path. */
bool view_has_mark(const char *kind, const char *path);
int view_emit(const Document *document, const char *kind, const char *path, FILE *out);
/* The document of a report made here, and over it what the run of that path measured, if there is one; NULL with a message. */
Document *view_document(Arena *arena, const char *report, const char *measured);
/* --report --measured=RUN.json without a model, and --compare A B: the exit status. */
typedef struct ViewRequest {
  const char *kind, *path; /* path NULL: beside the document */
} ViewRequest;
int view_file(const char *path, const ViewRequest *requests, int count, bool is_forced);
/* The same of a document in memory; `stem` names its files. */
int view_text(const char *text, const char *stem, const ViewRequest *requests, int count, bool is_forced);
int view_compare_files(const char *before, const char *after);

/* ---- the views ---- */

void view_listing(const Document *document, FILE *out);
void view_gantt_text(const Document *document, bool is_utf8, FILE *out);
void view_gantt_svg(const Document *document, FILE *out);
void view_trace(const Document *document, FILE *out);
void view_memory(const Document *document, FILE *out);
void view_dot(const Document *document, FILE *out);
void view_annotate_text(const Document *document, FILE *out);
void view_annotate_html(const Document *document, FILE *out);
/* Of a list of sweeps, as in the member `sweep`, in the form that the ending of the path asks for. */
int view_sweeps_file(const json_t *sweeps, const char *path, bool is_forced);
void view_sweep_text(const json_t *sweeps, FILE *out);
void view_sweep_svg(const json_t *sweeps, FILE *out);
void view_sweep_json(const json_t *sweeps, FILE *out);
void view_page(const Document *document, FILE *out);
void view_compare_benches(const json_t *before, const json_t *after, FILE *out);
void view_compare(const Document *before, const Document *after, FILE *out);

/* ---- svg.c ---- */

/* The colours and patterns of roles, of kinds of memory and of fates; after <svg>. */
void svg_style(FILE *out);

#endif
