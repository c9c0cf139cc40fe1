/* views: which views there are, and files of them. */
#include "views.h"
#include "compiler/base/json_file.h"
#include "runtime/base/open.h"

#include <errno.h>
#include <string.h>

#include "compiler/base/outfile.h"
#include "runtime/base/text.h"

typedef struct Kind {
  const char *name, *extension;
  bool has_mark; /* in a comment of its own form */
} Kind;

static const Kind kinds[] = {{"schedule", "txt", false}, {"gantt", "svg", true}, {"trace", "json", true},   {"memory", "csv", true},    {"dag", "dot", true},
                             {"dot", "dot", true},       {"sweep", "txt", true}, {"report", "html", true}, {"annotate", "txt", true}};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static const Kind *find(const char *name) {
  for (int i = 0; i < KIND_COUNT; i++)
    if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
  return NULL;
}

static bool ends_with(const char *path, const char *ending) {
  size_t length = path ? strlen(path) : 0, wanted = strlen(ending);
  return length >= wanted && strcmp(path + length - wanted, ending) == 0;
}

bool view_named(const char *kind) { return find(kind) != NULL; }

const char *view_extension(const char *kind) { return find(kind)->extension; }

/* Kinds of several forms, the first of them for a path that names none; the others have one. */
static const struct { const char *kind, *endings[4]; } forms[] = {
    {"gantt", {".txt", ".svg"}}, {"dag", {".dot", ".gv", ".txt"}}, {"dot", {".dot", ".gv", ".txt"}}, {"sweep", {".txt", ".svg", ".json"}}, {"annotate", {".txt", ".html"}}};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

const char *view_path_fault(Arena *arena, const char *kind, const char *path) {
  if (!path) return NULL;
  if (!*path) return "a file is needed";
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  for (int i = 0; dot && i < FORM_COUNT; i++) {
    if (strcmp(forms[i].kind, kind) != 0) continue;
    const char *known = "";
    for (int k = 0; k < 4 && forms[i].endings[k]; k++) {
      if (strcmp(dot, forms[i].endings[k]) == 0) return NULL;
      known = arena_printf(arena, "%s%s%s", known, k ? ", " : "", forms[i].endings[k]);
    }
    return arena_printf(arena, "it is written as %s, not as %s", known, dot);
  }
  return NULL;
}

bool view_has_mark(const char *kind, const char *path) {
  const Kind *found = find(kind);
  bool is_dot = found && strcmp(found->extension, "dot") == 0;
  for (int i = 0; i < FORM_COUNT && !is_dot; i++)
    if (strcmp(forms[i].kind, kind) == 0) return ends_with(path, ".svg") || ends_with(path, ".html") || ends_with(path, ".json");
  return !found || found->has_mark; /* the plan says in JSON who wrote it */
}

static void view_sweeps(const json_t *sweeps, const char *path, FILE *out) {
  if (ends_with(path, ".svg")) view_sweep_svg(sweeps, out);
  else if (ends_with(path, ".json")) view_sweep_json(sweeps, out);
  else view_sweep_text(sweeps, out);
}

static void emit_sweep(const Document *d, const char *path, FILE *out) {
  json_t *sweeps = json_array();
  json_array_append(sweeps, json_object_get(d->json, "sweep"));
  view_sweeps(sweeps, path, out);
  json_decref(sweeps);
}

int view_emit(const Document *d, const char *kind, const char *path, FILE *out) {
  if (strcmp(kind, "schedule") == 0) view_listing(d, out);
  else if (strcmp(kind, "gantt") == 0) ends_with(path, ".svg") ? view_gantt_svg(d, out) : view_gantt_text(d, gnn_is_utf8(), out);
  else if (strcmp(kind, "trace") == 0) view_trace(d, out);
  else if (strcmp(kind, "memory") == 0) view_memory(d, out);
  else if (strcmp(kind, "dag") == 0 || strcmp(kind, "dot") == 0) view_dot(d, out);
  else if (strcmp(kind, "annotate") == 0) ends_with(path, ".html") ? view_annotate_html(d, out) : view_annotate_text(d, out);
  else if (strcmp(kind, "report") == 0) view_page(d, out);
  else if (strcmp(kind, "plan") == 0) json_dumpf(d->json, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
  else emit_sweep(d, path, out);
  return 0;
}

/* ---- files ---- */

static Document *open_document(Arena *arena, const char *path) {
  size_t length;
  const char *fault = NULL;
  char *text = arena_read_file(arena, path, &length);
  if (!text) fprintf(stderr, "gnncc: error[E0001]: cannot read %s: %s\n", path, gnn_open_reason(errno));
  Document *d = text ? document_read(arena, text, length, &fault) : NULL;
  if (text && !d) fprintf(stderr, "gnncc: error: %s is not a gnncc-report/1: %s\n", path, fault);
  return d;
}

static bool add_measured(Document *document, const char *path) {
  const char *fault = NULL;
  Document *run = open_document(document->arena, path);
  bool is_added = run && document_add_measured(document, run, &fault);
  if (fault) fprintf(stderr, "gnncc: error: %s: %s\n", path, fault);
  document_free(run);
  return is_added;
}

Document *view_document(Arena *arena, const char *report, const char *measured) {
  const char *fault = NULL;
  Document *d = document_read(arena, report, strlen(report), &fault);
  if (!d) fprintf(stderr, "gnncc: internal error in report: %s\n", fault);
  if (!d || !measured || add_measured(d, measured)) return d;
  document_free(d);
  return NULL;
}

static int write_view(const Document *d, const ViewRequest *request, const char *path, bool is_forced) {
  OutFile file;
  if (!outfile_may_write(path, is_forced) || !outfile_open(&file, path)) return 4;
  if (file.temporary && !view_has_mark(request->kind, path)) fprintf(file.out, "# %s\n", d->generator);
  view_emit(d, request->kind, path, file.out);
  return outfile_close(&file, 0666);
}

int view_sweeps_file(const json_t *sweeps, const char *path, bool is_forced) {
  OutFile file;
  const char *to = path ? path : "-";
  int status = outfile_may_write(to, is_forced) && outfile_open(&file, to) ? 0 : 4;
  if (status == 0) {
    if (file.temporary && !view_has_mark("sweep", to)) fprintf(file.out, "# %s\n", outfile_mark);
    view_sweeps(sweeps, to, file.out);
    status = outfile_close(&file, 0666);
  }
  return status;
}

static int write_one(const Document *d, const char *stem, const ViewRequest *request, bool is_forced) {
  bool is_document = strcmp(request->kind, "plan") == 0;
  if (!is_document && !view_named(request->kind)) {
    fprintf(stderr, "gnncc: error: --emit=%s needs a model\n", request->kind);
    return 2;
  }
  const char *dot = strrchr(stem, '.');
  int length = dot ? (int)(dot - stem) : (int)strlen(stem);
  const char *usual = arena_printf(d->arena, "%.*s.%s.%s", length, stem, request->kind, is_document ? "json" : view_extension(request->kind));
  return write_view(d, request, request->path ? request->path : usual, is_forced);
}

static int write_all(const Document *d, const char *stem, const ViewRequest *requests, int count, bool is_forced) {
  int status = 0;
  for (int i = 0; i < count && status == 0; i++) status = write_one(d, stem, &requests[i], is_forced);
  return status;
}

int view_file(const char *path, const ViewRequest *requests, int count, bool is_forced) {
  Arena *arena = arena_new();
  Document *d = open_document(arena, path);
  const char *slash = strrchr(path, '/');
  int status = d ? write_all(d, slash ? slash + 1 : path, requests, count, is_forced) : 4;
  document_free(d);
  arena_free(arena);
  return status;
}

int view_text(const char *text, const char *stem, const ViewRequest *requests, int count, bool is_forced) {
  Arena *arena = arena_new();
  Document *d = view_document(arena, text, NULL);
  int status = d ? write_all(d, stem, requests, count, is_forced) : 70;
  document_free(d);
  arena_free(arena);
  return status;
}

/* What `bench --json` prints, or NULL. */
static json_t *open_bench(Arena *arena, const char *path) {
  json_t *root = json_file_read(arena, path, 0, NULL);
  if (json_is_number(json_object_get(root, "median"))) return root;
  json_decref(root);
  return NULL;
}

int view_compare_files(const char *before, const char *after) {
  Arena *arena = arena_new();
  json_t *first = open_bench(arena, before), *second = first ? open_bench(arena, after) : NULL;
  if (second) view_compare_benches(first, second, stdout);
  json_decref(first);
  json_decref(second);
  Document *a = second ? NULL : open_document(arena, before), *b = a ? open_document(arena, after) : NULL;
  if (b) view_compare(a, b, stdout);
  document_free(a);
  document_free(b);
  arena_free(arena);
  return b || second ? 0 : 4;
}
