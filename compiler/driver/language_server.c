/* language_server: what an editor asks of the checker: what is wrong, what a value is and how much room it takes, what can be named, where a name
 * is defined, and how the text is laid out.
 *
 * Documents come whole with every change and are checked at once; the data are read again when their block, or a saved document, says other than before.
 * What is asked of a text that does not parse is answered from the last one that did.
 */
#include "language_server.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "compiler/graph/data.h"
#include "compiler/version.h"
#include "lang/format.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"

enum { MESSAGE_MOST = 64 << 20, HEADER_MOST = 4096, PARSE_ERROR = -32700, NO_METHOD = -32601, BAD_REQUEST = -32600, NOT_READY = -32002 };

/* Data as they were read last; they are kept while the spec stays the same. */
typedef struct KeptData {
  Arena *arena; /* NULL: nothing is kept */
  const char *spec;
  DataInfo info;
  DataReader reader;
} KeptData;

/* A text that was parsed, and what came of it. */
typedef struct Analysis {
  Arena *arena;
  Diags *diags;
  const Ast *ast; /* NULL: it does not parse */
  DataInfo info;  /* of the data, once they were read */
  bool has_info;
  LangUses uses;
} Analysis;

typedef struct Document {
  struct Document *next;
  char *uri, *path, *text;
  KeptData data;
  Arena *refused; /* of data that cannot be read: messages speak of it */
  Analysis last, parsed; /* parsed: the last whose text did; the same arena where that is the last */
  json_t *said;    /* the messages that were published, as the protocol has them, with `edits` where they carry a replacement; NULL: none yet */
} Document;

typedef struct Server {
  const Options *options;
  const char *share_dir;
  Document *documents;
  json_t *words; /* what can be completed anywhere: keywords, layers, functions, settings */
  bool is_initialized, is_shut_down;
} Server;

/* ---- messages ---- */

/* One message; NULL with *status: at the end of the input 0, where there is no sense in it 1. */
static json_t *receive(int *status, bool *is_broken) {
  char line[HEADER_MOST];
  long length = -1;
  *status = 0;
  *is_broken = false;
  while (fgets(line, sizeof line, stdin)) {
    if (strncasecmp(line, "Content-Length:", 15) == 0) length = strtol(line + 15, NULL, 10);
    if (line[0] != '\r' && line[0] != '\n') continue;
    if (length < 0 || length > MESSAGE_MOST) return *status = 1, NULL;
    char *body = malloc((size_t)length + 1);
    if (!body || fread(body, 1, (size_t)length, stdin) != (size_t)length) return free(body), *status = 1, NULL;
    json_t *message = json_loadb(body, (size_t)length, 0, NULL);
    free(body);
    *is_broken = message == NULL;
    return message;
  }
  return NULL;
}

static void send(json_t *message) {
  json_object_set_new(message, "jsonrpc", json_string("2.0"));
  char *text = json_dumps(message, JSON_COMPACT);
  if (text) printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  fflush(stdout);
  free(text);
  json_decref(message);
}

static void answer(json_t *id, json_t *result) { send(json_pack("{s:O, s:o}", "id", id, "result", result ? result : json_null())); }

static void fail(json_t *id, int code, const char *message) { send(json_pack("{s:o, s:{s:i, s:s}}", "id", id ? json_incref(id) : json_null(), "error", "code", code, "message", message)); }

static void notify(const char *method, json_t *parameters) { send(json_pack("{s:s, s:o}", "method", method, "params", parameters)); }

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* ---- paths and places ---- */

static int hex(char c) { return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1; }

static char *path_of_uri(const char *uri) {
  const char *from = strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
  char *path = malloc(strlen(from) + 1), *to = path;
  if (!path) arena_out_of_memory(0);
  for (; *from; from++) {
    const bool is_escape = *from == '%' && hex(from[1]) >= 0 && hex(from[2]) >= 0;
    *to++ = is_escape ? (char)(hex(from[1]) * 16 + hex(from[2])) : *from;
    if (is_escape) from += 2;
  }
  *to = 0;
  return path;
}

static const char *uri_of_path(Arena *arena, const char *path) {
  char real[PATH_MAX];
  const char *from = realpath(path, real) ? real : path, *uri = "file://";
  for (; *from; from++) uri = arena_printf(arena, isalnum((unsigned char)*from) || strchr("-._~/", *from) ? "%s%c" : "%s%%%02X", uri, (unsigned char)*from);
  return uri;
}

static const char *line_of(const char *text, int line) {
  for (; line > 1 && text; line--) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  return text ? text : "";
}

/* The protocol counts UTF-16 units from 0, places bytes from 1. */
static int units_before(const char *line, int bytes) {
  int units = 0;
  for (int i = 0; i < bytes && line[i] && line[i] != '\n';) {
    int32_t c;
    i += gnn_utf8_decode(line + i, strnlen(line + i, 4), &c);
    units += c >= 0x10000 ? 2 : 1;
  }
  return units;
}

static int bytes_before(const char *line, int units) {
  int i = 0;
  while (units > 0 && line[i] && line[i] != '\n') {
    int32_t c;
    i += gnn_utf8_decode(line + i, strnlen(line + i, 4), &c);
    units -= c >= 0x10000 ? 2 : 1;
  }
  return i;
}

static json_t *range_of(const char *text, int line, int column, int width) {
  const char *at = line_of(text, line);
  const int start = line > 0 ? line - 1 : 0, from = column > 0 ? units_before(at, column - 1) : 0, to = column > 0 ? units_before(at, column - 1 + width) : 0;
  return json_pack("{s:{s:i, s:i}, s:{s:i, s:i}}", "start", "line", start, "character", from, "end", "line", start, "character", to);
}

static bool is_word_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

typedef struct Position {
  int line, column; /* of the word's first byte, from 1 */
  char word[256];   /* "": there is none */
} Position;

/* The word that the position is in, or just behind; of |> and other operators none. */
static Position position_of(const Document *d, const json_t *parameters) {
  const json_t *at = json_object_get(parameters, "position");
  Position p = {.line = (int)json_integer_value(json_object_get(at, "line")) + 1};
  const char *line = line_of(d->text, p.line);
  int byte = bytes_before(line, (int)json_integer_value(json_object_get(at, "character"))), end = byte;
  while (byte > 0 && is_word_byte(line[byte - 1])) byte--;
  while (is_word_byte(line[end])) end++;
  p.column = byte + 1;
  snprintf(p.word, sizeof p.word, "%.*s", end - byte, line + byte);
  return p;
}

/* ---- the check ---- */

static void forget_data(KeptData *kept) {
  if (kept->arena) arena_free(kept->arena);
  *kept = (KeptData){0};
}

static void put_source(const DataSource *source, FILE *out) {
  fprintf(out, "%s", source->kind);
  for (int i = 0; i < source->arg_count; i++) fprintf(out, "|%s=%s,%.17g", source->args[i].key, source->args[i].text ? source->args[i].text : "", source->args[i].number);
}

/* Everything that decides what is read; NULL: more than is said here. */
static const char *spec_text(Arena *arena, const DataSpec *spec) {
  const DataRecipe *r = &spec->recipe;
  char *text;
  size_t length;
  if (spec->type_count || spec->relation_count || r->pairs.name) return NULL;
  FILE *out = arena_open_text(arena, &text, &length);
  put_source(&spec->source, out);
  fprintf(out, "\n%" PRId64 " %" PRId64 " %" PRId64, spec->declared_nodes, spec->declared_edges, spec->declared_graphs);
  fprintf(out, " %d %d %d %d %" PRIu64 " %.17g %.17g %.17g %d %d %" PRId64 " %d %d %s %d", r->is_undirected + 2 * r->keeps_duplicates, (int)r->self_loops, r->has_random_split, r->split_index, r->split_seed, r->split_fraction[0],
          r->split_fraction[1], r->split_fraction[2], r->has_folds, r->fold_has_valid, r->fold_count, (int)r->order, r->is_target_number, r->target ? r->target : "", r->number_count);
  if (r->order_path) fprintf(out, " %s", r->order_path);
  for (int i = 0; i < r->normalised_count; i++) fprintf(out, " %s", r->normalised[i]);
  for (int i = 0; i < r->number_count; i++) fprintf(out, " %s %d %" PRId64, r->numbers[i].name, r->numbers[i].is_onehot, r->numbers[i].width);
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    fprintf(out, "\n%s %d %d %d %" PRId64 " ", decl->name, (int)decl->domain, (int)decl->dtype, decl->rank, decl->classes);
    for (int d = 0; d < decl->rank; d++) fprintf(out, " %" PRId64, decl->size[d]);
    if (decl->source) put_source(decl->source, out);
  }
  fclose(out);
  return text;
}

typedef struct Describing {
  Document *document;
  Analysis *analysis;
  const DataReader *used;
} Describing;

static bool describe(void *user, const DataSpec *spec, Diags *diags, DataInfo *info) {
  Describing *describing = user;
  Document *d = describing->document;
  Analysis *a = describing->analysis;
  const char *text = spec_text(a->arena, spec);
  if (!d->data.arena || !text || strcmp(text, d->data.spec) != 0) {
    forget_data(&d->data);
    Arena *arena = arena_new();
    const char *slash = strrchr(d->path, '/');
    DataReader reader = {.arena = arena, .base_dir = slash ? arena_strndup(arena, d->path, (size_t)(slash - d->path)) : NULL};
    DataInfo read;
    const int said = diags_count(diags);
    if (!data_describe(&reader, spec, diags, &read)) {
      d->refused = arena;
      return false;
    }
    const bool is_quiet = diags_count(diags) == said; /* what is said of the data has to be said every time */
    d->data = (KeptData){.arena = arena, .spec = text && is_quiet ? arena_strdup(arena, text) : "", .info = read, .reader = reader};
  }
  *info = d->data.info;
  info->fields = arena_alloc(a->arena, (size_t)(info->field_count + 1) * sizeof *info->fields); /* the checker writes into them */
  if (info->field_count) memcpy(info->fields, d->data.info.fields, (size_t)info->field_count * sizeof *info->fields);
  a->info = *info;
  a->has_info = true;
  describing->used = &d->data.reader;
  return true;
}

static void analyse(const Server *server, Document *d) {
  const Options *o = server->options;
  if (d->last.arena && d->last.arena != d->parsed.arena) arena_free(d->last.arena);
  if (d->refused) arena_free(d->refused);
  d->refused = NULL;
  Arena *arena = arena_new();
  d->last = (Analysis){.arena = arena, .diags = diags_new(arena)};
  Analysis *a = &d->last;
  a->uses.arena = arena;
  Describing describing = {d, a, NULL};
  const LangOptions lang = {.define_count = o->define_count, .defines = o->defines, .import_dir_count = o->import_dir_count, .import_dirs = o->import_dirs, .share_dir = server->share_dir, .target = o->target,
                            .data_override = o->data_path, .data_name = o->data_name, .is_shapes_only = o->is_shapes_only, .describe = describe, .describe_user = &describing, .uses = &a->uses};
  diags_set_format(a->diags, DIAG_JSON);
  diags_set_error_limit(a->diags, 100);
  for (int i = 0; i < o->warning_count; i++) diags_warning_option(a->diags, o->warnings[i]);
  a->ast = lang_parse(arena, a->diags, d->path, d->text, strlen(d->text), &lang);
  const TypedProgram *program = a->ast ? lang_check(arena, a->diags, a->ast, &lang) : NULL;
  if (program && describing.used) data_warn(describing.used, program, a->diags);
  if (!a->ast) return;
  if (d->parsed.arena) arena_free(d->parsed.arena);
  d->parsed = *a;
}

/* ---- what is wrong ---- */

static json_t *diagnostic(const Document *d, const json_t *said) {
  const char *file = text_of(said, "file"), *message = text_of(said, "message");
  Arena *arena = arena_new();
  const bool is_here = strcmp(file, d->path) == 0;
  const int line = (int)json_integer_value(json_object_get(said, "line")), column = (int)json_integer_value(json_object_get(said, "byte_column")), width = (int)json_integer_value(json_object_get(said, "bytes"));
  const char *text = is_here || !*file ? message : arena_printf(arena, "%s:%d: %s", file, line, message);
  size_t i;
  const json_t *more;
  json_array_foreach(json_object_get(said, "notes"), i, more) text = arena_printf(arena, "%s\nnote: %s", text, json_string_value(more));
  json_array_foreach(json_object_get(said, "help"), i, more) text = arena_printf(arena, "%s\nhelp: %s", text, json_string_value(more));
  json_t *result = json_pack("{s:o, s:i, s:s, s:s, s:s}", "range", range_of(d->text, is_here ? line : 1, is_here ? column : 0, width), "severity", strcmp(text_of(said, "severity"), "error") == 0 ? 1 : 2, "code",
                             text_of(said, "code"), "source", "gnncc", "message", text), *related = json_array();
  json_array_foreach(json_object_get(said, "labels"), i, more) {
    const char *where = text_of(more, "file");
    json_array_append_new(related, json_pack("{s:{s:s, s:o}, s:s}", "location", "uri", strcmp(where, d->path) == 0 ? d->uri : uri_of_path(arena, where), "range",
                                             range_of(d->text, (int)json_integer_value(json_object_get(more, "line")), (int)json_integer_value(json_object_get(more, "byte_column")),
                                                      (int)json_integer_value(json_object_get(more, "bytes"))), "message", text_of(more, "text")));
  }
  json_object_set_new(result, "relatedInformation", related);
  arena_free(arena);
  return result;
}

/* The replacements of a message as edits of this text; NULL: it has none, or they are of other files. */
static json_t *edits_of(const Document *d, const json_t *said) {
  size_t i;
  const json_t *fix, *fixes = json_object_get(said, "fixes");
  json_t *edits = json_array();
  json_array_foreach(fixes, i, fix) {
    if (strcmp(text_of(fix, "file"), d->path) != 0) continue;
    json_array_append_new(edits, json_pack("{s:o, s:s}", "range", range_of(d->text, (int)json_integer_value(json_object_get(fix, "line")), (int)json_integer_value(json_object_get(fix, "byte_column")),
                                                                           (int)json_integer_value(json_object_get(fix, "bytes"))), "newText", text_of(fix, "replacement")));
  }
  if (json_array_size(edits) > 0 && json_array_size(edits) == json_array_size(fixes)) return edits;
  json_decref(edits);
  return NULL;
}

static void publish(Document *d) {
  char *text, *line, *rest = NULL;
  size_t length;
  json_t *all = json_array();
  Arena *arena = arena_new();
  FILE *out = arena_open_text(arena, &text, &length);
  diags_print(d->last.diags, out);
  fclose(out);
  for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    json_t *said = json_loads(line, 0, NULL);
    json_t *message = said ? diagnostic(d, said) : NULL, *edits = said ? edits_of(d, said) : NULL;
    if (message && edits) json_object_set_new(message, "data", json_pack("{s:o}", "edits", edits));
    if (message) json_array_append_new(all, message);
    json_decref(said);
  }
  arena_free(arena);
  json_decref(d->said);
  d->said = json_incref(all);
  notify("textDocument/publishDiagnostics", json_pack("{s:s, s:o}", "uri", d->uri, "diagnostics", all));
}

/* ---- what a message would be changed to ---- */

static int order_of(const json_t *position, const json_t *other) {
  const json_int_t lines = json_integer_value(json_object_get(position, "line")) - json_integer_value(json_object_get(other, "line"));
  const json_int_t characters = json_integer_value(json_object_get(position, "character")) - json_integer_value(json_object_get(other, "character"));
  return lines ? (lines < 0 ? -1 : 1) : characters ? (characters < 0 ? -1 : 1) : 0;
}

static bool do_touch(const json_t *range, const json_t *other) {
  return order_of(json_object_get(range, "start"), json_object_get(other, "end")) <= 0 && order_of(json_object_get(other, "start"), json_object_get(range, "end")) <= 0;
}

static json_t *code_actions(const Document *d, const json_t *parameters) {
  json_t *actions = json_array(), *message;
  const json_t *range = json_object_get(parameters, "range");
  size_t i;
  json_array_foreach(d->said, i, message) {
    json_t *edits = json_object_get(json_object_get(message, "data"), "edits");
    if (!edits || !do_touch(json_object_get(message, "range"), range)) continue;
    Arena *arena = arena_new();
    const char *text = text_of(json_array_get(edits, 0), "newText");
    const char *title = *text ? arena_printf(arena, "change to %s", text) : "leave it out";
    json_array_append_new(actions, json_pack("{s:s, s:s, s:b, s:[O], s:{s:{s:O}}}", "title", title, "kind", "quickfix", "isPreferred", 1, "diagnostics", message, "edit", "changes", d->uri, edits));
    arena_free(arena);
  }
  return actions;
}

/* ---- documents ---- */

static Document *find_document(const Server *server, const json_t *parameters) {
  const char *uri = text_of(json_object_get(parameters, "textDocument"), "uri");
  for (Document *d = server->documents; d; d = d->next)
    if (strcmp(d->uri, uri) == 0) return d;
  return NULL;
}

static void set_text(const Server *server, Document *d, const char *text) {
  free(d->text);
  d->text = strdup(text);
  if (!d->text) arena_out_of_memory(0);
  analyse(server, d);
  publish(d);
}

static void open_document(Server *server, const json_t *parameters) {
  const json_t *item = json_object_get(parameters, "textDocument");
  Document *d = find_document(server, parameters);
  if (!d) {
    d = calloc(1, sizeof *d);
    if (!d) arena_out_of_memory(0);
    d->uri = strdup(text_of(item, "uri"));
    d->path = path_of_uri(text_of(item, "uri"));
    d->next = server->documents;
    server->documents = d;
  }
  set_text(server, d, text_of(item, "text"));
}

/* Whole texts are asked for; the last of them holds. */
static void change_document(const Server *server, const json_t *parameters) {
  Document *d = find_document(server, parameters);
  const json_t *changes = json_object_get(parameters, "contentChanges"), *last = json_array_get(changes, json_array_size(changes) - 1);
  if (d && last && !json_object_get(last, "range")) set_text(server, d, text_of(last, "text"));
}

static void free_document(Document *d) {
  forget_data(&d->data);
  if (d->refused) arena_free(d->refused);
  if (d->last.arena && d->last.arena != d->parsed.arena) arena_free(d->last.arena);
  if (d->parsed.arena) arena_free(d->parsed.arena);
  json_decref(d->said);
  free(d->uri);
  free(d->path);
  free(d->text);
  free(d);
}

static void close_document(Server *server, const json_t *parameters) {
  const Document *wanted = find_document(server, parameters);
  for (Document **at = &server->documents; *at; at = &(*at)->next) {
    Document *d = *at;
    if (d != wanted) continue;
    *at = d->next;
    notify("textDocument/publishDiagnostics", json_pack("{s:s, s:[]}", "uri", d->uri, "diagnostics"));
    free_document(d);
    return;
  }
}

/* ---- hover ---- */

static const char *type_text(Arena *arena, const DataInfo *info, const Type *type) {
  const char *text = type->domain == DOMAIN_NONE ? "" : typed_domain_name(info, type->domain);
  if (type->dtype == DTYPE_CLASS) return arena_printf(arena, "%s class[%" PRId64 "]", text, type->classes);
  text = arena_printf(arena, "%s[", text);
  for (int d = 0; d < type->rank; d++) {
    const char *digits = arena_printf(arena, "%" PRId64, type->dim[d].size);
    const bool is_named = strcmp(digits, type->dim[d].name) != 0;
    text = arena_printf(arena, "%s%s%s%s%s", text, d ? ", " : "", is_named ? type->dim[d].name : "", is_named ? "=" : "", digits);
  }
  return arena_printf(arena, "%s]", text);
}

/* "34 x 16 numbers, 2.1 KiB" */
static const char *size_text(Arena *arena, const DataInfo *info, const Type *type) {
  const int64_t rows = typed_rows(info, type->domain);
  double numbers = (double)rows;
  const char *text = type->domain == DOMAIN_NONE ? "" : gnn_count_text(rows).text;
  text = arena_strdup(arena, text);
  for (int d = 0; d < type->rank; d++) {
    numbers *= (double)type->dim[d].size;
    text = arena_printf(arena, "%s%s%" PRId64, text, *text ? " x " : "", type->dim[d].size);
  }
  if (type->dtype == DTYPE_CLASS) return arena_printf(arena, "%s labels", text);
  if (4 * numbers >= 9e18) return text;
  return arena_printf(arena, "%s%s, %s", *text ? text : "1", numbers == 1 ? " number" : " numbers", gnn_bytes_text((int64_t)(4 * numbers)).text);
}

static bool is_same_type(const Type *a, const Type *b) {
  if (a->domain != b->domain || a->dtype != b->dtype || a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->dim[d].size != b->dim[d].size || strcmp(a->dim[d].name, b->dim[d].name) != 0) return false;
  return true;
}

/* All that came of the place, each once. */
static const char *values_text(Arena *arena, const Analysis *a, const Position *p) {
  enum { SHOWN = 4 };
  const Type *shown[SHOWN];
  int count = 0;
  const char *text = "";
  for (int i = 0; a->has_info && i < a->uses.count && count < SHOWN; i++) {
    const LangUse *use = &a->uses.uses[i];
    bool is_new = use->place.line == p->line && use->place.column == p->column;
    for (int k = 0; k < count; k++) is_new = is_new && !is_same_type(shown[k], &use->type);
    if (!is_new) continue;
    shown[count++] = &use->type;
    text = arena_printf(arena, "%s%s : %s\n%s\n", text, p->word, type_text(arena, &a->info, &use->type), size_text(arena, &a->info, &use->type));
  }
  return text;
}

static const char *field_text(Arena *arena, const Analysis *a, const char *name) {
  for (int i = 0; a->has_info && i < a->info.field_count; i++) {
    const FieldInfo *field = &a->info.fields[i];
    if (strcmp(field->name, name) != 0) continue;
    Type type = {.domain = field->domain, .dtype = field->dtype, .classes = field->classes, .rank = field->width != 1 && field->dtype != DTYPE_CLASS};
    type.dim[0] = (Dim){field->width, arena_printf(arena, "%" PRId64, field->width)};
    return arena_printf(arena, "%s : %s\n%s\n", name, type_text(arena, &a->info, &type), size_text(arena, &a->info, &type));
  }
  return "";
}

/* What gnncc --help=NAME says. */
static const char *help_text(const Server *server, Arena *arena, const char *name) {
  char *text;
  size_t length;
  FILE *out = arena_open_text(arena, &text, &length);
  lang_help(arena, name, out);
  fclose(out);
  if (*text) return text;
  json_t *word;
  size_t i;
  json_array_foreach(server->words, i, word)
    if (strcmp(text_of(word, "label"), name) == 0) return arena_printf(arena, "%s\n%s", text_of(word, "detail"), text_of(word, "documentation"));
  return "";
}

static json_t *hover(const Server *server, const Document *d, const json_t *parameters) {
  const Position p = position_of(d, parameters);
  const Analysis *a = d->last.uses.count ? &d->last : &d->parsed;
  if (!*p.word) return NULL;
  Arena *arena = arena_new();
  const LangSymbol *symbol = d->parsed.ast ? lang_definition(arena, d->parsed.ast, p.word, p.line, p.column) : NULL;
  const char *text = values_text(arena, a, &p);
  if (symbol && symbol->kind == LANG_FIELD && !*text) text = field_text(arena, a, p.word);
  if (symbol) text = arena_printf(arena, "%s%s\n", text, symbol->detail);
  else text = arena_printf(arena, "%s%s", text, help_text(server, arena, p.word));
  json_t *result = !*text ? NULL : json_pack("{s:{s:s, s:s}, s:o}", "contents", "kind", "plaintext", "value", text, "range", range_of(d->text, p.line, p.column, (int)strlen(p.word)));
  arena_free(arena);
  return result;
}

/* ---- completion ---- */

enum { ITEM_FUNCTION = 3, ITEM_FIELD = 5, ITEM_VARIABLE = 6, ITEM_CLASS = 7, ITEM_MODULE = 9, ITEM_PROPERTY = 10, ITEM_VALUE = 12, ITEM_KEYWORD = 14, ITEM_CONSTANT = 21 };

static bool has_word(const json_t *words, const char *label) {
  size_t i;
  const json_t *word;
  json_array_foreach(words, i, word)
    if (strcmp(text_of(word, "label"), label) == 0) return true;
  return false;
}

static void add_word(json_t *words, const char *label, int kind, const char *detail, const char *documentation) {
  if (has_word(words, label)) return;
  json_array_append_new(words, json_pack("{s:s, s:i, s:s, s:s}", "label", label, "kind", kind, "detail", detail, "documentation", documentation));
}

/* Lines of gnncc --list: a name, its arguments, what it does, there or in the next line. */
static void add_listed(Arena *arena, const Server *server, json_t *words, const char *list, int kind) {
  const LangOptions lang = {.share_dir = server->share_dir};
  char *text, *rest = NULL;
  size_t length;
  FILE *out = arena_open_text(arena, &text, &length);
  lang_list(arena, list, &lang, out);
  fclose(out);
  const size_t before = json_array_size(words);
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    const size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    json_t *last = json_array_size(words) > before ? json_array_get(words, json_array_size(words) - 1) : NULL;
    if (name == 0 && last) json_object_set_new(last, "documentation", json_string(line + strspn(line, " ")));
    if (name > 0) add_word(words, arena_strndup(arena, line, name), kind, line, "");
  }
}

static json_t *make_words(const Server *server) {
  static const char *const keywords[] = {"import", "const", "option", "data", "from", "layer", "model", "on", "train", "target", "plan", "param", "for", "in", "if", "else", "return", "over", "as", "and", "or", "not", "true", "false"};
  static const char *const settings[] = {"loss", "optimizer", "epochs", "runs", "metric", "evaluate", "keep", "stop", "checkpoint", "show", "batch", "accumulate", "approximate", "clip", "group", "seed", "report",
                                         "normalize", "self_loops", "undirected", "duplicates", "split", "order", "nodes", "edges", "node", "edge", "graph", "relation", "pairs", "src", "dst", "in_degree", "out_degree"};
  static const struct { const char *list; int kind; } lists[] = {{"layers", ITEM_CLASS}, {"functions", ITEM_FUNCTION}, {"losses", ITEM_FUNCTION}, {"metrics", ITEM_VALUE}, {"optimizers", ITEM_FUNCTION}, {"schedules", ITEM_FUNCTION}};
  Arena *arena = arena_new();
  json_t *words = json_array();
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) add_word(words, keywords[i], ITEM_KEYWORD, "keyword", "");
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) add_word(words, settings[i], ITEM_PROPERTY, "", "");
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) add_listed(arena, server, words, lists[i].list, lists[i].kind);
  arena_free(arena);
  return words;
}

static json_t *complete(const Server *server, const Document *d, const json_t *parameters) {
  static const int kinds[] = {[LANG_CONSTANT] = ITEM_CONSTANT, [LANG_OPTION] = ITEM_CONSTANT, [LANG_DATA] = ITEM_MODULE, [LANG_FIELD] = ITEM_FIELD, [LANG_LAYER] = ITEM_CLASS,
                              [LANG_MODEL] = ITEM_MODULE, [LANG_TARGET] = ITEM_MODULE, [LANG_VARIABLE] = ITEM_VARIABLE, [LANG_WEIGHTS] = ITEM_VARIABLE};
  const Position p = position_of(d, parameters);
  Arena *arena = arena_new();
  json_t *items = json_array();
  int count = 0;
  const LangSymbol *symbols = d->parsed.ast ? lang_symbols(arena, d->parsed.ast, p.line, &count) : NULL;
  for (int i = count - 1; i >= 0; i--) add_word(items, symbols[i].name, kinds[symbols[i].kind], symbols[i].detail, ""); /* the last of a name is meant */
  json_t *own = json_copy(items);
  size_t i;
  json_t *word;
  json_array_foreach(server->words, i, word)
    if (!has_word(own, text_of(word, "label"))) json_array_append(items, word);
  json_decref(own);
  arena_free(arena);
  return json_pack("{s:b, s:o}", "isIncomplete", 0, "items", items);
}

/* ---- where it is defined ---- */

/* The position is in the path of an import: that file. */
static const char *imported_at(Arena *arena, const Document *d, const json_t *parameters) {
  const json_t *at = json_object_get(parameters, "position");
  const char *line = line_of(d->text, (int)json_integer_value(json_object_get(at, "line")) + 1), *quote;
  char path[512];
  if (sscanf(line, " import \"%511[^\"\n]\"", path) != 1 || !(quote = strchr(line, '"'))) return NULL;
  if (bytes_before(line, (int)json_integer_value(json_object_get(at, "character"))) < quote - line) return NULL;
  const size_t wanted = strlen(path);
  for (int32_t i = 0; i < diags_source_count(d->parsed.diags); i++) {
    const char *file = diags_source_path(d->parsed.diags, i);
    const size_t length = strlen(file);
    if (length >= wanted && strcmp(file + length - wanted, path) == 0) return arena_strdup(arena, file);
  }
  return NULL;
}

static json_t *location(Arena *arena, const Document *d, const char *path, int line, int column, int width) {
  const bool is_here = strcmp(path, d->path) == 0;
  size_t length;
  const char *text = is_here ? d->text : arena_read_file(arena, path, &length);
  return json_pack("{s:s, s:o}", "uri", is_here ? d->uri : uri_of_path(arena, path), "range", range_of(text ? text : "", line, column, width));
}

static json_t *definition(const Server *server, const Document *d, const json_t *parameters) {
  const Position p = position_of(d, parameters);
  if (!d->parsed.ast) return NULL;
  Arena *arena = arena_new();
  const char *import = imported_at(arena, d, parameters);
  const LangSymbol *symbol = import || !*p.word ? NULL : lang_definition(arena, d->parsed.ast, p.word, p.line, p.column);
  json_t *result = NULL;
  if (import) result = location(arena, d, import, 1, 1, 0);
  else if (symbol) result = location(arena, d, diags_source_path(d->parsed.diags, symbol->place.file), symbol->place.line, symbol->place.column, (int)strlen(symbol->name));
  else if (*p.word) { /* a standard layer that the program does not use yet */
    char *name = arena_strdup(arena, p.word);
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    const char *path = arena_printf(arena, "%s/std/%s.gnn", server->share_dir, name);
    if (gnn_path_exists(path)) result = location(arena, d, path, 1, 1, 0);
  }
  arena_free(arena);
  return result;
}

/* ---- layout ---- */

static json_t *format(const Document *d) {
  Arena *arena = arena_new();
  const char *text = format_program(arena, diags_new(arena), d->path, d->text, strlen(d->text));
  int lines = 1;
  for (const char *c = d->text; *c; c++) lines += *c == '\n';
  json_t *result = !text ? NULL : strcmp(text, d->text) == 0 ? json_array() : json_pack("[{s:{s:{s:i, s:i}, s:{s:i, s:i}}, s:s}]", "range", "start", "line", 0, "character", 0, "end", "line", lines, "character", 0, "newText", text);
  arena_free(arena);
  return result;
}

/* ---- the protocol ---- */

static json_t *capabilities(void) {
  return json_pack("{s:{s:{s:b, s:i, s:b}, s:b, s:{s:[s]}, s:b, s:b, s:{s:[s]}}, s:{s:s, s:s}}", "capabilities", "textDocumentSync", "openClose", 1, "change", 1, "save", 1, "hoverProvider", 1, "completionProvider",
                   "triggerCharacters", ".", "definitionProvider", 1, "documentFormattingProvider", 1, "codeActionProvider", "codeActionKinds", "quickfix", "serverInfo", "name", "gnncc", "version", GNNCC_VERSION);
}

static void handle_request(Server *server, json_t *id, const char *method, const json_t *parameters) {
  const Document *d = find_document(server, parameters);
  if (strcmp(method, "initialize") == 0) {
    server->is_initialized = true;
    answer(id, capabilities());
  } else if (!server->is_initialized) fail(id, NOT_READY, "initialize comes first");
  else if (server->is_shut_down) fail(id, BAD_REQUEST, "the server is shut down");
  else if (strcmp(method, "shutdown") == 0) {
    server->is_shut_down = true;
    answer(id, NULL);
  } else if (strcmp(method, "textDocument/hover") == 0) answer(id, d ? hover(server, d, parameters) : NULL);
  else if (strcmp(method, "textDocument/completion") == 0) answer(id, d ? complete(server, d, parameters) : NULL);
  else if (strcmp(method, "textDocument/definition") == 0) answer(id, d ? definition(server, d, parameters) : NULL);
  else if (strcmp(method, "textDocument/codeAction") == 0) answer(id, d && d->said ? code_actions(d, parameters) : json_array());
  else if (strcmp(method, "textDocument/formatting") == 0) answer(id, d ? format(d) : NULL);
  else fail(id, NO_METHOD, method);
}

static void handle_notice(Server *server, const char *method, const json_t *parameters) {
  if (!server->is_initialized) return;
  if (strcmp(method, "textDocument/didOpen") == 0) open_document(server, parameters);
  else if (strcmp(method, "textDocument/didChange") == 0) change_document(server, parameters);
  else if (strcmp(method, "textDocument/didClose") == 0) close_document(server, parameters);
  else if (strcmp(method, "textDocument/didSave") == 0) {
    Document *d = find_document(server, parameters);
    if (!d) return;
    forget_data(&d->data);
    analyse(server, d);
    publish(d);
  }
}

int language_server(const Options *options, const char *share_dir) {
  Server server = {.options = options, .share_dir = share_dir};
  server.words = make_words(&server);
  int status = 1;
  for (;;) {
    bool is_broken;
    int fault;
    json_t *message = receive(&fault, &is_broken);
    if (is_broken) {
      fail(NULL, PARSE_ERROR, "this is no JSON");
      continue;
    }
    if (!message) break;
    const char *method = text_of(message, "method");
    json_t *id = json_object_get(message, "id");
    if (strcmp(method, "exit") == 0) {
      status = server.is_shut_down ? 0 : 1;
      json_decref(message);
      break;
    }
    if (!json_is_object(message)) fail(NULL, BAD_REQUEST, "a message is an object");
    else if (id && *method) handle_request(&server, id, method, json_object_get(message, "params"));
    else if (*method) handle_notice(&server, method, json_object_get(message, "params"));
    json_decref(message);
  }
  while (server.documents) {
    Document *d = server.documents;
    server.documents = d->next;
    free_document(d);
  }
  json_decref(server.words);
  return status;
}
