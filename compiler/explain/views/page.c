/* page: the whole report as one HTML file that loads nothing.
 *
 * page.html has the sections, page.css the looks, page.js draws, pieces.js what is cut. The document goes in as JSON, packed:
 * a page of 2,000 steps stays below a megabyte.
 */
#include <math.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"

extern const char page_html[], page_css[], page_js[], pieces_js[];

/* ---- the document, packed ---- */

/* A list of like objects becomes a table {count, all, columns}: members that all have alike, and the others by key, a list each.
 * Marks at the end of a key tell how its list is written, the last first undone:
 *   $  texts are places in one table of texts, 0 for none; a text of several words is there as the places of its words
 *   ~  seconds are whole nanoseconds
 *   +  whole numbers are differences from the one before
 *   *  [a, 3, b, 1] is a, a, a, b
 * null stands for a member that is not there. */
enum { LEAST_ROWS = 3 };
#define MOST_WHOLE 9007199254740992.0 /* beyond it not every whole number is a double */

typedef struct Packer {
  json_t *texts, *place_of;
} Packer;

static json_t *packed(Packer *p, const json_t *node);
static json_t *packed_text(Packer *p, const char *text);

static json_t *packed_words(Packer *p, const char *text) {
  json_t *words = json_array();
  for (size_t length;; text += length + 1) {
    length = strcspn(text, " ");
    json_t *word = json_stringn(text, length);
    json_array_append_new(words, packed_text(p, json_string_value(word)));
    json_decref(word);
    if (!text[length]) return words;
  }
}

static json_t *packed_text(Packer *p, const char *text) {
  json_t *place = json_object_get(p->place_of, text);
  if (place) return json_incref(place);
  bool has_words = strchr(text, ' ') && !strchr(text, '\n');
  json_t *entry = has_words ? packed_words(p, text) : json_string(text);
  place = json_integer((json_int_t)json_array_size(p->texts));
  json_array_append_new(p->texts, entry);
  json_object_set(p->place_of, text, place);
  return place;
}

static bool is_list_of_objects(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!json_is_object(json_array_get(list, i))) return false;
  return json_array_size(list) >= LEAST_ROWS;
}

/* The keys of all, in the order of their first appearance. */
static json_t *keys_of(const json_t *list) {
  json_t *seen = json_object(), *keys = json_array();
  const char *key;
  json_t *member;
  for (size_t i = 0; i < json_array_size(list); i++) json_object_foreach(json_array_get(list, i), key, member) {
    if (json_object_get(seen, key)) continue;
    json_object_set_new(seen, key, json_true());
    json_array_append_new(keys, json_string(key));
  }
  json_decref(seen);
  return keys;
}

static bool is_text_or_texts(const json_t *node) {
  if (!node || json_is_string(node)) return true;
  for (size_t i = 0; i < json_array_size(node); i++)
    if (!json_is_string(json_array_get(node, i))) return false;
  return json_is_array(node);
}

static bool is_text_column(const json_t *list, const char *key) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!is_text_or_texts(json_object_get(json_array_get(list, i), key))) return false;
  return true;
}

static bool is_alike_in_all(const json_t *list, const char *key) {
  const json_t *first = json_object_get(json_array_get(list, 0), key);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *member = json_object_get(json_array_get(list, i), key);
    if (!member || !json_equal((json_t *)first, (json_t *)member)) return false;
  }
  return true;
}

static json_t *packed_cell(Packer *p, const json_t *member, bool is_text) {
  if (!is_text) return member ? packed(p, member) : json_null();
  if (!json_is_array(member)) return member ? packed_text(p, json_string_value(member)) : json_integer(0);
  json_t *places = json_array();
  for (size_t i = 0; i < json_array_size(member); i++) json_array_append_new(places, packed_text(p, json_string_value(json_array_get(member, i))));
  return places;
}

/* ---- a column, written shorter; NULL: it cannot be written so ---- */

/* The list of a column of which `done` cells could be written so: all of them, or NULL. */
static json_t *whole_column(json_t *list, size_t done, const json_t *column) {
  if (done == json_array_size(column)) return list;
  json_decref(list);
  return NULL;
}

static json_t *as_nanoseconds(const json_t *column) {
  json_t *list = json_array(), *cell;
  size_t i;
  json_array_foreach((json_t *)column, i, cell) {
    double seconds = json_number_value(cell), ns = round(seconds * 1e9);
    if (!json_is_number(cell) || fabs(ns) > MOST_WHOLE || ns / 1e9 != seconds) break;
    json_array_append_new(list, json_integer((json_int_t)ns));
  }
  return whole_column(list, i, column);
}

static json_t *as_differences(const json_t *column) {
  json_t *list = json_array(), *cell;
  json_int_t last = 0;
  size_t i;
  json_array_foreach((json_t *)column, i, cell) {
    if (!json_is_integer(cell) || fabs((double)json_integer_value(cell)) > MOST_WHOLE) break;
    json_array_append_new(list, json_integer(json_integer_value(cell) - last));
    last = json_integer_value(cell);
  }
  return whole_column(list, i, column);
}

static json_t *as_runs(const json_t *column) {
  json_t *list = json_array(), *cell;
  json_int_t count = 0;
  size_t i;
  json_array_foreach((json_t *)column, i, cell) {
    count++;
    if (i + 1 < json_array_size(column) && json_equal(cell, json_array_get(column, i + 1))) continue;
    json_array_append(list, cell);
    json_array_append_new(list, json_integer(count));
    count = 0;
  }
  return list;
}

static size_t length_of(const json_t *list) { return json_dumpb(list, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(12)); }

static json_t *shorter(json_t *column, json_t *other, const char *mark, char *marks) {
  bool is_shorter = other && length_of(other) < length_of(column);
  if (is_shorter) strcat(marks, mark);
  json_decref(is_shorter ? column : other);
  return is_shorter ? other : column;
}

static void add_column(Packer *p, json_t *columns, const json_t *list, const char *key) {
  bool is_text = is_text_column(list, key);
  char marks[8] = "";
  json_t *column = json_array();
  for (size_t i = 0; i < json_array_size(list); i++) json_array_append_new(column, packed_cell(p, json_object_get(json_array_get(list, i), key), is_text));
  if (is_text) strcat(marks, "$");
  else column = shorter(column, as_nanoseconds(column), "~", marks);
  column = shorter(column, as_differences(column), "+", marks);
  column = shorter(column, as_runs(column), "*", marks);
  json_t *name = json_sprintf("%s%s", key, marks);
  json_object_set_new(columns, json_string_value(name), column);
  json_decref(name);
}

static json_t *packed_table(Packer *p, const json_t *list) {
  json_t *keys = keys_of(list), *all = json_object(), *columns = json_object();
  for (size_t k = 0; k < json_array_size(keys); k++) {
    const char *key = json_string_value(json_array_get(keys, k));
    if (is_alike_in_all(list, key)) json_object_set_new(all, key, packed(p, json_object_get(json_array_get(list, 0), key)));
    else add_column(p, columns, list, key);
  }
  json_decref(keys);
  return json_pack("{s:I, s:o, s:o}", "count", (json_int_t)json_array_size(list), "all", all, "columns", columns);
}

static json_t *packed(Packer *p, const json_t *node) {
  if (json_is_object(node)) {
    json_t *object = json_object(), *member;
    const char *key;
    json_object_foreach((json_t *)node, key, member) json_object_set_new(object, key, packed(p, member));
    return object;
  }
  if (!json_is_array(node)) return json_incref((json_t *)node);
  if (is_list_of_objects(node)) return packed_table(p, node);
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(node); i++) json_array_append_new(list, packed(p, json_array_get(node, i)));
  return list;
}

/* No "</script>" and no "<!--" may end the element early. */
static int put_safely(const char *buffer, size_t size, void *out) {
  for (size_t i = 0; i < size; i++)
    if (buffer[i] == '<') fputs("\\u003c", out);
    else fputc(buffer[i], out);
  return 0;
}

/* Of each the steps at which its slices begin, its last step, and what it is called. */
static json_t *turns_of(const Document *d) {
  DocTurns turns = document_turns(d);
  json_t *list = json_array();
  for (int i = 0; i < turns.count; i++) {
    const DocTurn *t = &turns.list[i];
    json_t *slices = json_array();
    for (int k = 0; k < t->slice_count; k++) json_array_append_new(slices, json_integer(d->steps[t->slices[k]].step));
    json_array_append_new(list, json_pack("{s:o, s:I, s:i, s:s}", "slices", slices, "last", (json_int_t)d->steps[t->last].step, "parts", t->part_count, "names", document_turn_names(d, t, "\303\227")));
  }
  return list;
}

static void put_data(const Document *d, FILE *out) {
  Packer p = {json_pack("[s]", ""), json_object()};
  json_t *report = packed(&p, d->json), *root = json_pack("{s:o, s:o, s:o*}", "texts", p.texts, "report", report, "turns", turns_of(d));
  json_dump_callback(root, put_safely, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
  json_decref(root);
  json_decref(p.place_of);
}

/* ---- the template ---- */

static void put_part(const Document *d, const char *name, size_t length, FILE *out) {
  if (strncmp(name, "generator", length) == 0) escape_xml(out, d->generator);
  else if (strncmp(name, "title", length) == 0) escape_xml(out, arena_printf(d->arena, "%s on %s", d->model, d->data));
  else if (strncmp(name, "css", length) == 0) fputs(page_css, out);
  else if (strncmp(name, "js", length) == 0) fputs(pieces_js, out), fputs(page_js, out);
  else if (strncmp(name, "data", length) == 0) put_data(d, out);
}

void view_page(const Document *d, FILE *out) {
  for (const char *at = page_html; *at;) {
    const char *open = strstr(at, "{{"), *close = open ? strstr(open, "}}") : NULL;
    if (!close) {
      fputs(at, out);
      return;
    }
    fwrite(at, 1, (size_t)(open - at), out);
    put_part(d, open + 2, (size_t)(close - open - 2), out);
    at = close + 2;
  }
}
