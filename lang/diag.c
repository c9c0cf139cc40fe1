#include "diag_internal.h"

#include <ctype.h>
#include <string.h>

typedef struct WarningKind {
  const char *name, *group; /* "default": on unless switched off */
  const char *code, *about;
} WarningKind;

static const WarningKind warning_kinds[] = {
    {"ambiguous-dims", "default", "W0318", "dimensions of one size, none of them meant by name"},
    {"deep", "pedantic", "W0414", "layers above layers without a residual connection"},
    {"double-softmax", "default", "W0315", "softmax before a loss that applies it itself"},
    {"edge-values", "perf", "W0511", "wide values that are stored for every edge"},
    {"metric", "default", "W0404", "accuracy where one class is nearly all"},
    {"one-way-edges", "default", "W0703", "edges without their reverse, for layers that want both"},
    {"patience", "default", "W0402", "a patience that is longer than the training"},
    {"scale", "default", "W0706", "columns of features of very different size"},
    {"self-loops", "default", "W0714", "self-loops of the data, for layers that count each node itself"},
    {"target", "default", "W0504", "a rate that no such hardware has"},
    {"test-selection", "pedantic", "W0413", "epochs that are chosen by the test rows"},
    {"typed-sets", "default", "W0713", "graphs of several types of nodes, which are read as one"},
    {"unused", "extra", "W0219", "names of the main file that nothing uses"},
    {"unused-param", "default", "W0314", "a parameter that the loss does not depend on"},
    {"zero-in-degree", "default", "W0704", "nodes to which no message comes"},
};

enum { WARNING_COUNT = sizeof warning_kinds / sizeof *warning_kinds };
_Static_assert((int)WARNING_COUNT <= (int)WARNING_MAX, "Diags.warnings holds every kind");

static const char *const warning_groups[] = {"all", "extra", "perf", "pedantic"};
enum { WARNING_GROUPS = sizeof warning_groups / sizeof *warning_groups };

Diags *diags_new(Arena *arena) {
  Diags *diags = arena_alloc(arena, sizeof *diags);
  diags->arena = arena;
  diags->error_limit = 20;
  for (int i = 0; i < WARNING_COUNT; i++) diags->warnings[i].is_enabled = strcmp(warning_kinds[i].group, "default") == 0;
  return diags;
}

int32_t diags_add_source(Diags *diags, const char *path, const char *text, size_t length) {
  ARENA_PUSH(diags->arena, diags->sources, diags->source_count, source_new(diags->arena, path, text, length));
  return diags->source_count - 1;
}

int32_t diags_source_count(const Diags *diags) {
  return diags->source_count;
}

const Source *diags_source(const Diags *diags, int32_t file) {
  return file >= 0 && file < diags->source_count ? &diags->sources[file] : NULL;
}

const char *diags_source_path(const Diags *diags, int32_t file) {
  const Source *source = diags_source(diags, file);
  return source ? source->path : "gnncc";
}

const char *diags_source_text(const Diags *diags, int32_t file, size_t *length) {
  const Source *source = diags_source(diags, file);
  *length = source ? source->length : 0;
  return source ? source->text : "";
}

Place diags_no_place(void) {
  return (Place){NO_INDEX, 0, 0};
}

static bool has_error_on_line(const Diags *diags, Place place) {
  if (place.line < 1) return false;
  for (int i = 0; i < diags->item_count; i++) {
    const Diag *item = &diags->items[i];
    if (item->is_error && item->place.file == place.file && item->place.line == place.line) return true;
  }
  return false;
}

bool diags_is_full(const Diags *diags) { return diags->is_limit_hit; }

static int exit_rank(int exit_code) {
  static const int order[] = {0, 4, 5, 3, 1, 2, 70};
  for (int i = 0; i < (int)(sizeof order / sizeof *order); i++)
    if (order[i] == exit_code) return i;
  return 4;
}

static void add(Diags *diags, Diag item) {
  if (item.is_error) {
    int exit_code = diags_page_exit_code(item.code);
    if (exit_rank(exit_code) > exit_rank(diags->exit_code)) diags->exit_code = exit_code;
    diags->last = NULL;
    if (has_error_on_line(diags, item.place)) return;
    if (diags->error_limit > 0 && diags->error_count >= diags->error_limit) {
      diags->is_limit_hit = true;
      return;
    }
    diags->error_count++;
  }
  ARENA_PUSH(diags->arena, diags->items, diags->item_count, item);
  diags->last = &diags->items[diags->item_count - 1];
}

void diags_error(Diags *diags, const char *code, Place place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *message = arena_vprintf(diags->arena, format, args);
  va_end(args);
  add(diags, (Diag){.is_error = true, .code = code, .message = message, .place = place});
}

static int find_warning(const char *name, size_t length) {
  for (int i = 0; i < WARNING_COUNT; i++)
    if (strlen(warning_kinds[i].name) == length && strncmp(warning_kinds[i].name, name, length) == 0) return i;
  return NO_INDEX;
}

void diags_warning(Diags *diags, const char *code, const char *name, Place place, const char *format, ...) {
  diags->last = NULL;
  int kind = find_warning(name, strlen(name));
  if (kind != NO_INDEX && !diags->warnings[kind].is_enabled) return;
  va_list args;
  va_start(args, format);
  const char *message = arena_vprintf(diags->arena, format, args);
  va_end(args);
  for (int i = 0; i < diags->item_count; i++) {
    const Diag *item = &diags->items[i];
    if (item->place.file == place.file && item->place.line == place.line && strcmp(item->message, message) == 0) return;
  }
  bool is_error = kind != NO_INDEX && diags->warnings[kind].is_error;
  add(diags, (Diag){.is_error = is_error, .code = code, .name = name, .message = message, .place = place});
}

void diags_span(Diags *diags, int width) {
  if (diags->last) diags->last->width = width;
}

void diags_label(Diags *diags, Place place, int width, const char *format, ...) {
  if (!diags->last) return;
  va_list args;
  va_start(args, format);
  DiagLabel label = {place, width, arena_vprintf(diags->arena, format, args)};
  va_end(args);
  ARENA_PUSH(diags->arena, diags->last->labels, diags->last->label_count, label);
}

void diags_note(Diags *diags, const char *format, ...) {
  if (!diags->last) return;
  va_list args;
  va_start(args, format);
  const char *text = arena_vprintf(diags->arena, format, args);
  va_end(args);
  ARENA_PUSH(diags->arena, diags->last->notes, diags->last->note_count, text);
}

void diags_help(Diags *diags, const char *format, ...) {
  if (!diags->last) return;
  va_list args;
  va_start(args, format);
  const char *text = arena_vprintf(diags->arena, format, args);
  va_end(args);
  ARENA_PUSH(diags->arena, diags->last->helps, diags->last->help_count, text);
}

void diags_fix(Diags *diags, Place place, int width, const char *replacement) {
  if (!diags->last) return;
  DiagFix fix = {place, width, arena_strdup(diags->arena, replacement)};
  ARENA_PUSH(diags->arena, diags->last->fixes, diags->last->fix_count, fix);
}

void diags_fix_word(Diags *diags, Place place, const char *word, const char *replacement) {
  const Source *source = diags_source(diags, place.file);
  size_t length, words = strlen(word);
  const char *line = source && place.line > 0 ? source_line(source, place.line, &length) : NULL;
  if (!line || place.column < 1 || (size_t)place.column > length) return;
  const bool is_text = line[place.column - 1] == '"';
  place.column += is_text;
  const size_t at = (size_t)place.column - 1;
  if (at + words > length || strncmp(line + at, word, words) != 0 || (is_text && line[at + words] != '"')) return;
  if (!is_text && at + words < length && (isalnum((unsigned char)line[at + words]) || line[at + words] == '_')) return;
  diags_fix(diags, place, (int)words, replacement);
}

int diags_count(const Diags *diags) {
  return diags->item_count;
}

static bool is_alone(const Diags *diags, int index) {
  const Place *place = &diags->items[index].place;
  for (int i = 0; i < index; i++) {
    const Diag *item = &diags->items[i];
    if (item->is_error && item->place.file == place->file && item->place.line == place->line) return false;
  }
  return true;
}

void diags_called_from(Diags *diags, int first, Place body, Place call, const char *name) {
  int kept = first;
  for (int i = first; i < diags->item_count; i++) {
    Diag item = diags->items[i];
    bool is_inside = item.is_error && item.place.file == body.file && item.place.line > 0;
    if (is_inside && call.file != body.file) {
      DiagLabel label = {item.place, item.width, arena_printf(diags->arena, "in %s", name)};
      if (!item.is_moved) ARENA_PUSH(diags->arena, item.labels, item.label_count, label);
      item.place = call;
      item.width = 0;
      item.is_moved = true;
    } else if (is_inside && !item.is_moved && item.place.line != call.line) {
      DiagLabel label = {call, 0, arena_printf(diags->arena, "in this call of %s", name)};
      ARENA_PUSH(diags->arena, item.labels, item.label_count, label);
      item.is_moved = true;
    }
    diags->items[kept] = item;
    if (!item.is_error || is_alone(diags, kept)) kept++;
    else diags->error_count--;
  }
  diags->item_count = kept;
  diags->last = NULL;
}

bool diags_drop_with(Diags *diags, int first, const char *code) {
  bool is_there = false;
  int errors = 0;
  for (int i = first; i < diags->item_count; i++) {
    is_there = is_there || strcmp(diags->items[i].code, code) == 0;
    errors += diags->items[i].is_error;
  }
  if (!is_there) return false;
  diags->item_count = first;
  diags->error_count -= errors;
  diags->last = NULL;
  return true;
}

int diags_error_count(const Diags *diags) {
  return diags->error_count;
}

int diags_exit_code(const Diags *diags) {
  return diags->exit_code;
}

void diags_set_format(Diags *diags, DiagFormat format) {
  diags->format = format;
}

void diags_set_color(Diags *diags, DiagColor color) {
  diags->color = color;
}

void diags_set_error_limit(Diags *diags, int limit) {
  diags->error_limit = limit;
}

void diags_set_width(Diags *diags, int columns) {
  diags->width = columns;
}

static bool find_name(const char *const *names, int count, const char *name, int *index) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) {
      *index = i;
      return true;
    }
  return false;
}

bool diags_format_named(const char *name, DiagFormat *format) {
  static const char *const names[] = {"text", "short", "json", "sarif"};
  int index;
  if (!find_name(names, 4, name, &index)) return false;
  *format = (DiagFormat)index;
  return true;
}

bool diags_color_named(const char *name, DiagColor *color) {
  static const char *const names[] = {"auto", "always", "never"};
  int index;
  if (!find_name(names, 3, name, &index)) return false;
  *color = (DiagColor)index;
  return true;
}

const char *diags_warning_name(int index) {
  const int group = index - WARNING_COUNT;
  return index < 0 ? NULL : group < 0 ? warning_kinds[index].name : group < WARNING_GROUPS ? warning_groups[group] : NULL;
}

/* What a name after -W selects: one warning, a group, or ("") all of them. */
static bool is_selected(int kind, const char *name) {
  const char *group = strcmp(name, "all") == 0 ? "default" : name;
  return *name == '\0' || strcmp(warning_kinds[kind].name, name) == 0 || strcmp(warning_kinds[kind].group, group) == 0;
}

void diags_list_warnings(FILE *out) {
  static const char *const about[] = {"all of the group default, which is on", "more of the same kind", "what is right, but slow", "doubts about the experiment"};
  for (int i = 0; i < WARNING_COUNT; i++) {
    const WarningKind *kind = &warning_kinds[i];
    fprintf(out, "-W%-16s %s  %-8s %s\n", kind->name, kind->code, kind->group, kind->about);
  }
  fprintf(out, "\n-Wno-NAME switches one off, -w all, -Werror makes them errors, -Werror=NAME one of them. Groups:\n");
  for (int g = 0; g < WARNING_GROUPS; g++) {
    int count = 0;
    for (int i = 0; i < WARNING_COUNT; i++) count += is_selected(i, warning_groups[g]);
    fprintf(out, "-W%-16s %d of them: %s\n", warning_groups[g], count, about[g]);
  }
}

bool diags_warning_option(Diags *diags, const char *option) {
  bool is_silence = *option == '\0';
  bool is_off = strncmp(option, "no-", 3) == 0;
  const char *name = is_off ? option + 3 : option;
  bool is_error = strcmp(name, "error") == 0 || strncmp(name, "error=", 6) == 0;
  if (is_error) name += name[5] == '=' ? 6 : 5;
  int index;
  bool is_group = find_name(warning_groups, WARNING_GROUPS, name, &index);
  if (*name && !is_group && find_warning(name, strlen(name)) == NO_INDEX) return false;
  for (int i = 0; i < WARNING_COUNT; i++) {
    if (!is_selected(i, name)) continue;
    if (is_error) {
      diags->warnings[i].is_error = !is_off;
      if (*name && !is_off) diags->warnings[i].is_enabled = true;
    } else {
      diags->warnings[i].is_enabled = !is_silence && !is_off;
    }
  }
  return true;
}
