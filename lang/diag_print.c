/* diag_print: the four forms in which diagnostics leave the compiler: text, short, json (one object a line), sarif. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/base/text.h"
#include "diag_internal.h"

typedef struct Paint {
  const char *bold, *error, *warning, *mark, *note, *off;
} Paint;

bool diags_wants_color(const Diags *diags, FILE *out) {
  if (diags->color != DIAG_COLOR_AUTO) return diags->color == DIAG_COLOR_ALWAYS;
  const char *no_color = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
  if (no_color && *no_color) return false;
  if (force && *force && strcmp(force, "0") != 0) return true;
  if (term && strcmp(term, "dumb") == 0) return false;
  return isatty(fileno(out));
}

static int screen_column(const Diags *diags, Place place) {
  const Source *source = diags_source(diags, place.file);
  if (!source || place.column < 1) return place.column;
  size_t length;
  const char *line = source_line(source, place.line, &length);
  return line ? source_screen_width(line, length, (size_t)place.column - 1) + 1 : place.column;
}

static void print_header(const Diags *diags, const Diag *item, const Paint *paint, FILE *out) {
  fprintf(out, "%s%s", paint->bold, diags_source_path(diags, item->place.file));
  if (item->place.line > 0) fprintf(out, ":%d:%d", item->place.line, screen_column(diags, item->place));
  fprintf(out, ": %s%s[%s]%s: %s%s", item->is_error ? paint->error : paint->warning, item->is_error ? "error" : "warning",
          item->code, paint->off, paint->bold, item->message);
  if (item->name) fprintf(out, " [-W%s]", item->name);
  fprintf(out, "%s\n", paint->off);
}

/* ---- snippets ---- */

typedef struct Mark {
  Place place;
  int width; /* bytes; 0: the token there */
  const char *text;
  bool is_primary;
  int from, to; /* screen columns, from 0 */
} Mark;

typedef struct Marks {
  int count;
  Mark *items;
} Marks;

static int compare_marks(const void *left, const void *right) {
  const Mark *a = left, *b = right;
  if (a->place.line != b->place.line) return a->place.line < b->place.line ? -1 : 1;
  if (a->place.column != b->place.column) return a->place.column < b->place.column ? -1 : 1;
  return (int)b->is_primary - (int)a->is_primary;
}

static void measure(Mark *mark, const char *line, size_t length) {
  size_t at = mark->place.column > 0 ? (size_t)mark->place.column - 1 : 0;
  size_t width = mark->width > 0 ? (size_t)mark->width : (size_t)source_token_length(line, length, at);
  if (at > length) at = length;
  if (at + width > length) width = length > at ? length - at : 1;
  mark->from = source_screen_width(line, length, at);
  mark->to = source_screen_width(line, length, at + width);
  if (mark->to <= mark->from) mark->to = mark->from + 1;
}

/* The part of a printable text between two screen columns. */
static const char *cut(Arena *arena, const char *text, int from, int to) {
  size_t length = strlen(text), begin = length, end = length;
  int column = 0;
  for (size_t i = 0; i < length;) {
    if (column >= from && begin == length) begin = i;
    if (column >= to) {
      end = i;
      break;
    }
    int32_t c;
    int bytes = gnn_utf8_decode(text + i, length - i, &c);
    column += source_screen_width(text + i, length - i, (size_t)bytes);
    i += (size_t)bytes;
  }
  return begin < end ? arena_strndup(arena, text + begin, end - begin) : "";
}

static void print_gutter(FILE *out, int32_t line) {
  if (line > 0) fprintf(out, "%5d | ", line);
  else fputs("      | ", out);
}

static void print_blanks(FILE *out, int count) {
  for (int i = 0; i < count; i++) fputc(' ', out);
}

static void print_underline(Arena *arena, const Mark *marks, int count, int shift, int limit, const Paint *paint, FILE *out) {
  int end = 0;
  for (int i = 0; i < count; i++)
    if (marks[i].to - shift > end) end = marks[i].to - shift;
  if (end > limit) end = limit;
  if (end < 0) end = 0;
  char *text = arena_alloc(arena, (size_t)end + 1);
  memset(text, ' ', (size_t)end);
  for (int i = 0; i < count; i++)
    for (int c = marks[i].from - shift; c < marks[i].to - shift && c < end; c++)
      if (c >= 0 && text[c] != '^') text[c] = '~';
  for (int i = 0; i < count; i++) {
    int c = marks[i].from - shift;
    if (marks[i].is_primary && c >= 0 && c < end) text[c] = '^';
  }
  print_gutter(out, 0);
  fprintf(out, "%s%s%s\n", paint->mark, text, paint->off);
}

/* From the right, so that every text stands under its mark; bars lead to those still to come. */
static void print_label_texts(const Mark *marks, int count, int shift, const Paint *paint, FILE *out) {
  for (int i = count - 1; i >= 0; i--) {
    if (!marks[i].text) continue;
    print_gutter(out, 0);
    int column = 0;
    for (int k = 0; k < i; k++) {
      int at = marks[k].from - shift;
      if (!marks[k].text || at < column || at >= marks[i].from - shift) continue;
      print_blanks(out, at - column);
      fprintf(out, "%s|%s", paint->mark, paint->off);
      column = at + 1;
    }
    print_blanks(out, marks[i].from - shift - column);
    fprintf(out, "%s\n", marks[i].text);
  }
}

static void print_marked_line(const Diags *diags, Mark *marks, int count, const Paint *paint, FILE *out) {
  enum { GUTTER = 8, MARGIN = 10 };
  size_t length;
  const char *line = source_line(diags_source(diags, marks[0].place.file), marks[0].place.line, &length);
  if (!line) return;
  int caret = 0;
  for (int i = 0; i < count; i++) {
    measure(&marks[i], line, length);
    if (i == 0 || marks[i].is_primary) caret = marks[i].from;
  }
  const char *text = source_printable(diags->arena, line, length);
  int screen = source_screen_width(line, length, length), room = diags->width - GUTTER, shift = 0;
  if (diags->width > 0 && room < 2 * MARGIN) room = 2 * MARGIN;
  if (diags->width > 0 && screen > room) {
    shift = caret > room - MARGIN ? caret - room + MARGIN : 0;
    text = cut(diags->arena, text, shift, shift + room);
  } else {
    room = screen + 1;
  }
  print_gutter(out, marks[0].place.line);
  fprintf(out, "%s\n", text);
  print_underline(diags->arena, marks, count, shift, room, paint, out);
  print_label_texts(marks, count, shift, paint, out);
}

/* All marks that lie in one file, line by line. */
static void print_marks_of_file(const Diags *diags, Marks marks, int32_t file, const Paint *paint, FILE *out) {
  Mark *here = arena_alloc(diags->arena, (size_t)marks.count * sizeof *here);
  int count = 0;
  for (int i = 0; i < marks.count; i++)
    if (marks.items[i].place.file == file && marks.items[i].place.line > 0) here[count++] = marks.items[i];
  qsort(here, (size_t)count, sizeof *here, compare_marks);
  for (int first = 0, last; first < count; first = last) {
    for (last = first + 1; last < count && here[last].place.line == here[first].place.line;) last++;
    size_t length;
    source_line(diags_source(diags, file), here[first].place.line, &length);
    if (length == 0 && count > last - first) continue; /* the end of the file has nothing to show */
    print_marked_line(diags, here + first, last - first, paint, out);
  }
}

static void print_snippets(const Diags *diags, const Diag *item, const Paint *paint, FILE *out) {
  if (!diags_source(diags, item->place.file) || item->place.line < 1) return;
  Marks marks = {0, NULL};
  Mark primary = {.place = item->place, .width = item->width, .is_primary = true};
  ARENA_PUSH(diags->arena, marks.items, marks.count, primary);
  for (int i = 0; i < item->label_count; i++) {
    Mark mark = {.place = item->labels[i].place, .width = item->labels[i].width, .text = item->labels[i].text};
    ARENA_PUSH(diags->arena, marks.items, marks.count, mark);
  }
  print_marks_of_file(diags, marks, item->place.file, paint, out);
  for (int i = 1; i < marks.count; i++) {
    int32_t file = marks.items[i].place.file;
    bool is_new = file != item->place.file && diags_source(diags, file);
    for (int k = 1; k < i; k++) is_new = is_new && marks.items[k].place.file != file;
    if (!is_new) continue;
    fprintf(out, "   in %s:\n", diags_source_path(diags, file));
    print_marks_of_file(diags, marks, file, paint, out);
  }
}

static void print_text(const Diags *diags, const Diag *item, const Paint *paint, FILE *out) {
  print_header(diags, item, paint, out);
  print_snippets(diags, item, paint, out);
  for (int i = 0; i < item->note_count; i++) fprintf(out, "   %snote:%s %s\n", paint->note, paint->off, item->notes[i]);
  for (int i = 0; i < item->help_count; i++) fprintf(out, "   %shelp:%s %s\n", paint->note, paint->off, item->helps[i]);
  fprintf(out, "   more: gnncc --explain %s\n", item->code);
}

/* ---- json ---- */

static void print_json_string(FILE *out, const char *text) {
  gnn_text json = {0};
  gnn_text_json(&json, text);
  fputs(json.is_broken ? "\"\"" : json.data, out);
  gnn_text_free(&json);
}

static int token_width(const Diags *diags, Place place, int width) {
  const Source *source = diags_source(diags, place.file);
  if (width > 0 || !source || place.column < 1) return width;
  size_t length;
  const char *line = source_line(source, place.line, &length);
  return line ? source_token_length(line, length, (size_t)place.column - 1) : 0;
}

static void print_json_span(const Diags *diags, Place place, int width, FILE *out) {
  fputs("\"file\":", out);
  print_json_string(out, diags_source_path(diags, place.file));
  fprintf(out, ",\"line\":%d,\"column\":%d,\"byte_column\":%d,\"bytes\":%d", place.line, screen_column(diags, place),
          place.column, width);
}

static void print_json_list(const char *key, const char **texts, int count, FILE *out) {
  fprintf(out, ",\"%s\":[", key);
  for (int i = 0; i < count; i++) {
    if (i) fputc(',', out);
    print_json_string(out, texts[i]);
  }
  fputc(']', out);
}

static void print_json(const Diags *diags, const Diag *item, FILE *out) {
  fprintf(out, "{\"severity\":\"%s\",\"code\":\"%s\"", item->is_error ? "error" : "warning", item->code);
  if (item->name) fprintf(out, ",\"warning\":\"%s\"", item->name);
  fputs(",\"message\":", out);
  print_json_string(out, item->message);
  fputc(',', out);
  print_json_span(diags, item->place, token_width(diags, item->place, item->width), out);
  fputs(",\"labels\":[", out);
  for (int i = 0; i < item->label_count; i++) {
    const DiagLabel *label = &item->labels[i];
    fputs(i ? ",{" : "{", out);
    print_json_span(diags, label->place, token_width(diags, label->place, label->width), out);
    fputs(",\"text\":", out);
    print_json_string(out, label->text);
    fputc('}', out);
  }
  fputc(']', out);
  print_json_list("notes", item->notes, item->note_count, out);
  print_json_list("help", item->helps, item->help_count, out);
  fputs(",\"fixes\":[", out);
  for (int i = 0; i < item->fix_count; i++) {
    fputs(i ? ",{" : "{", out);
    print_json_span(diags, item->fixes[i].place, item->fixes[i].width, out);
    fputs(",\"replacement\":", out);
    print_json_string(out, item->fixes[i].replacement);
    fputc('}', out);
  }
  fputs("]}\n", out);
}

/* ---- sarif ---- */

/* Code points before a byte column, from 1. */
static int character_column(const Diags *diags, Place place, int column) {
  const Source *source = diags_source(diags, place.file);
  size_t length = 0, i = 0;
  const char *line = source ? source_line(source, place.line, &length) : NULL;
  int count = 1;
  for (; line && i + 1 < (size_t)column && i < length; count++) {
    int32_t c;
    i += (size_t)gnn_utf8_decode(line + i, length - i, &c);
  }
  return count + (line ? column - 1 - (int)i : 0);
}

/* A path as a reference of RFC 3986. */
static void print_sarif_artifact(const Diags *diags, Place place, FILE *out) {
  fputs("\"artifactLocation\":{\"uri\":\"", out);
  const char *path = diags_source_path(diags, place.file);
  for (const char *at = path; *at; at++) {
    bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') || strchr("-._~/!$&'()*+,=@", *at);
    fprintf(out, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
  }
  fputs("\"}", out);
}

static void print_sarif_region(const Diags *diags, Place place, int width, FILE *out) {
  fprintf(out, "{\"startLine\":%d,\"startColumn\":%d,\"endColumn\":%d}", place.line, character_column(diags, place, place.column),
          character_column(diags, place, place.column + width));
}

static void print_sarif_location(const Diags *diags, Place place, int width, FILE *out) {
  fputs("{\"physicalLocation\":{", out);
  print_sarif_artifact(diags, place, out);
  if (place.line > 0) {
    fputs(",\"region\":", out);
    print_sarif_region(diags, place, width, out);
  }
  fputc('}', out); /* of physicalLocation; the caller closes the location itself */
}

/* All replacements of a diagnostic are one fix, of one file. */
static void print_sarif_fixes(const Diags *diags, const Diag *item, FILE *out) {
  if (item->fix_count == 0) return;
  fputs(",\"fixes\":[{\"artifactChanges\":[{", out);
  print_sarif_artifact(diags, item->fixes[0].place, out);
  fputs(",\"replacements\":[", out);
  for (int i = 0; i < item->fix_count; i++) {
    fputs(i ? ",{\"deletedRegion\":" : "{\"deletedRegion\":", out);
    print_sarif_region(diags, item->fixes[i].place, item->fixes[i].width, out);
    fputs(",\"insertedContent\":{\"text\":", out);
    print_json_string(out, item->fixes[i].replacement);
    fputs("}}", out);
  }
  fputs("]}]}]", out);
}

/* The codes that occur, each once, in the order of their pages. */
static void print_sarif_rules(Diag **items, int count, FILE *out) {
  DiagPage page;
  const char *joint = "";
  for (int i = 0; diags_page(i, &page); i++) {
    bool occurs = false;
    for (int k = 0; k < count; k++) occurs = occurs || strcmp(items[k]->code, page.code) == 0;
    if (!occurs) continue;
    fprintf(out, "%s{\"id\":\"%s\",\"shortDescription\":{\"text\":", joint, page.code);
    print_json_string(out, page.title);
    fputs("},\"fullDescription\":{\"text\":", out);
    print_json_string(out, page.text);
    fputs("}}", out);
    joint = ",";
  }
}

static void print_sarif_result(const Diags *diags, const Diag *item, FILE *out) {
  fprintf(out, "{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":{\"text\":", item->code, item->is_error ? "error" : "warning");
  const char *text = item->message;
  for (int i = 0; i < item->note_count; i++) text = arena_printf(diags->arena, "%s\nnote: %s", text, item->notes[i]);
  for (int i = 0; i < item->help_count; i++) text = arena_printf(diags->arena, "%s\nhelp: %s", text, item->helps[i]);
  print_json_string(out, text);
  fputs("},\"locations\":[", out);
  print_sarif_location(diags, item->place, token_width(diags, item->place, item->width), out);
  fputs("}],\"relatedLocations\":[", out);
  for (int i = 0; i < item->label_count; i++) {
    const DiagLabel *label = &item->labels[i];
    if (i) fputc(',', out);
    print_sarif_location(diags, label->place, token_width(diags, label->place, label->width), out);
    fputs(",\"message\":{\"text\":", out);
    print_json_string(out, label->text);
    fputs("}}", out);
  }
  fputc(']', out);
  print_sarif_fixes(diags, item, out);
  fputc('}', out);
}

static void print_sarif(const Diags *diags, Diag **items, int count, FILE *out) {
  fputs("{\"version\":\"2.1.0\",\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"runs\":[{\"tool\":{\"driver\":"
        "{\"name\":\"gnncc\",\"rules\":[", out);
  print_sarif_rules(items, count, out);
  fputs("]}},\"columnKind\":\"unicodeCodePoints\",\"results\":[", out);
  for (int i = 0; i < count; i++) {
    if (i) fputc(',', out);
    print_sarif_result(diags, items[i], out);
  }
  fputs("]}]}\n", out);
}

/* ---- all of them ---- */

static int compare_items(const void *left, const void *right) {
  const Diag *a = *(Diag *const *)left, *b = *(Diag *const *)right;
  if (a->place.file != b->place.file) return a->place.file < b->place.file ? -1 : 1;
  if (a->place.line != b->place.line) return a->place.line < b->place.line ? -1 : 1;
  if (a->place.column != b->place.column) return a->place.column < b->place.column ? -1 : 1;
  return a < b ? -1 : a > b;
}

void diags_print(Diags *diags, FILE *out) {
  Diag **items = arena_alloc(diags->arena, (size_t)diags->item_count * sizeof *items + 1);
  int count = 0;
  for (int i = 0; i < diags->item_count; i++)
    if (!diags->items[i].is_printed) items[count++] = &diags->items[i];
  qsort(items, (size_t)count, sizeof *items, compare_items);

  static const Paint plain = {"", "", "", "", "", ""};
  static const Paint colors = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[32m", "\033[1;36m", "\033[0m"};
  const Paint *paint = diags_wants_color(diags, out) ? &colors : &plain;
  if (diags->format == DIAG_SARIF) print_sarif(diags, items, count, out);
  for (int i = 0; i < count; i++) {
    items[i]->is_printed = true;
    if (diags->format == DIAG_TEXT) print_text(diags, items[i], paint, out);
    if (diags->format == DIAG_SHORT) print_header(diags, items[i], paint, out);
    if (diags->format == DIAG_JSON) print_json(diags, items[i], out);
  }
  bool is_for_people = diags->format == DIAG_TEXT || diags->format == DIAG_SHORT;
  if (diags->is_limit_hit && is_for_people) fprintf(out, "gnncc: stopped after %d errors; there are more\n", diags->error_limit);
  diags->is_limit_hit = false;
}

void diags_print_list(const Diags *diags, FILE *out) {
  Diag **items = arena_alloc(diags->arena, (size_t)diags->item_count * sizeof *items + 1);
  for (int i = 0; i < diags->item_count; i++) items[i] = &diags->items[i];
  qsort(items, (size_t)diags->item_count, sizeof *items, compare_items);
  fputs("[\n", out);
  for (int i = 0; i < diags->item_count; i++) {
    if (i) fputs(",", out);
    print_json(diags, items[i], out);
  }
  fputs("]", out);
}
