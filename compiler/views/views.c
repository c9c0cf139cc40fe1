/* views: which views there are, and files of them. */
#include "views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/text.h"

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

static bool is_drawn(const char *path) { return ends_with(path, ".svg") || ends_with(path, ".html") || ends_with(path, ".json"); }

bool view_has_mark(const char *kind, const char *path) {
  bool follows_path = strcmp(kind, "gantt") == 0 || strcmp(kind, "sweep") == 0 || strcmp(kind, "annotate") == 0;
  return follows_path ? is_drawn(path) : find(kind)->has_mark;
}

void view_sweeps(const json_t *sweeps, const char *path, FILE *out) {
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

char *view_read_file(Arena *arena, const char *path, size_t *length) {
  FILE *in = fopen(path, "rb");
  size_t capacity = 1 << 16, got;
  char *text = arena_alloc(arena, capacity);
  *length = 0;
  while (in && (got = fread(text + *length, 1, capacity - *length, in)) > 0) {
    *length += got;
    if (*length < capacity) continue;
    char *bigger = arena_alloc(arena, 2 * capacity);
    memcpy(bigger, text, capacity);
    text = bigger;
    capacity *= 2;
  }
  bool is_read = in && !ferror(in);
  if (!is_read) fprintf(stderr, "gnncc: error[E0001]: cannot read %s: %s\n", path, strerror(errno));
  if (in) fclose(in);
  return is_read ? text : NULL;
}

static Document *open_document(Arena *arena, const char *path) {
  size_t length;
  const char *fault = NULL;
  char *text = view_read_file(arena, path, &length);
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

static bool is_node(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* Files are written under another name, then renamed; devices and pipes are written into. */
static FILE *begin_file(Arena *arena, const char *path, const char **temporary) {
  *temporary = is_node(path) ? path : arena_printf(arena, "%s.tmp-%d", path, (int)getpid());
  return fopen(*temporary, "wb");
}

static int end_file(FILE *out, const char *temporary, const char *path) {
  if (out && fclose(out) == 0 && (temporary == path || rename(temporary, path) == 0)) return 0;
  fprintf(stderr, "gnncc: error: cannot write %s: %s\n", path, strerror(errno));
  if (temporary != path) unlink(temporary);
  return 4;
}

static int write_view(const Document *d, const ViewRequest *request, const char *path) {
  const char *temporary;
  FILE *out = begin_file(d->arena, path, &temporary);
  if (out) view_emit(d, request->kind, path, out);
  return end_file(out, temporary, path);
}

int view_sweeps_file(const json_t *sweeps, const char *path) {
  if (!path || strcmp(path, "-") == 0) {
    view_sweeps(sweeps, "-", stdout);
    return 0;
  }
  Arena *arena = arena_new();
  const char *temporary;
  FILE *out = begin_file(arena, path, &temporary);
  if (out) view_sweeps(sweeps, path, out);
  int status = end_file(out, temporary, path);
  arena_free(arena);
  return status;
}

static int write_one(const Document *d, const char *stem, const ViewRequest *request) {
  bool is_document = strcmp(request->kind, "plan") == 0;
  if (!is_document && !view_named(request->kind)) {
    fprintf(stderr, "gnncc: error: --emit=%s needs a model\n", request->kind);
    return 2;
  }
  if (request->path && strcmp(request->path, "-") == 0) return view_emit(d, request->kind, "-", stdout);
  const char *dot = strrchr(stem, '.');
  int length = dot ? (int)(dot - stem) : (int)strlen(stem);
  const char *usual = arena_printf(d->arena, "%.*s.%s.%s", length, stem, request->kind, is_document ? "json" : view_extension(request->kind));
  return write_view(d, request, request->path ? request->path : usual);
}

static int write_all(const Document *d, const char *stem, const ViewRequest *requests, int count) {
  int status = 0;
  for (int i = 0; i < count && status == 0; i++) status = write_one(d, stem, &requests[i]);
  return status;
}

int view_file(const char *path, const ViewRequest *requests, int count) {
  Arena *arena = arena_new();
  Document *d = open_document(arena, path);
  const char *slash = strrchr(path, '/');
  int status = d ? write_all(d, slash ? slash + 1 : path, requests, count) : 4;
  document_free(d);
  arena_free(arena);
  return status;
}

int view_text(const char *text, const char *stem, const ViewRequest *requests, int count) {
  Arena *arena = arena_new();
  Document *d = view_document(arena, text, NULL);
  int status = d ? write_all(d, stem, requests, count) : 70;
  document_free(d);
  arena_free(arena);
  return status;
}

/* What `bench --json` prints, or NULL. */
static json_t *open_bench(const char *path) {
  json_t *root = json_load_file(path, 0, NULL);
  if (json_is_number(json_object_get(root, "median"))) return root;
  json_decref(root);
  return NULL;
}

int view_compare_files(const char *before, const char *after) {
  json_t *first = open_bench(before), *second = first ? open_bench(after) : NULL;
  if (second) view_compare_benches(first, second, stdout);
  json_decref(first);
  json_decref(second);
  if (second) return 0;
  Arena *arena = arena_new();
  Document *a = open_document(arena, before), *b = a ? open_document(arena, after) : NULL;
  if (b) view_compare(a, b, stdout);
  document_free(a);
  document_free(b);
  arena_free(arena);
  return b ? 0 : 4;
}
