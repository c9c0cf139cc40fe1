/* page: the whole report as one HTML file that loads nothing.
 *
 * page.html has the sections, page.css the looks, page.js draws. The document goes in as JSON, with every list of like
 * objects as a table of keys and rows: a page of 2,000 steps stays below a megabyte.
 */
#include <string.h>

#include "views.h"

extern const char page_html[], page_css[], page_js[];

/* ---- the document, packed ---- */

enum { LEAST_ROWS = 3 };

static bool is_list_of_objects(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!json_is_object(json_array_get(list, i))) return false;
  return json_array_size(list) >= LEAST_ROWS;
}

static json_t *packed(const json_t *node);

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

static json_t *packed_table(const json_t *list) {
  json_t *keys = keys_of(list), *rows = json_array();
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *row = json_array();
    for (size_t k = 0; k < json_array_size(keys); k++) {
      const json_t *member = json_object_get(json_array_get(list, i), json_string_value(json_array_get(keys, k)));
      json_array_append_new(row, member ? packed(member) : json_null());
    }
    json_array_append_new(rows, row);
  }
  return json_pack("{s:o, s:o}", "keys", keys, "rows", rows);
}

static json_t *packed(const json_t *node) {
  if (json_is_object(node)) {
    json_t *object = json_object(), *member;
    const char *key;
    json_object_foreach((json_t *)node, key, member) json_object_set_new(object, key, packed(member));
    return object;
  }
  if (!json_is_array(node)) return json_incref((json_t *)node);
  if (is_list_of_objects(node)) return packed_table(node);
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(node); i++) json_array_append_new(list, packed(json_array_get(node, i)));
  return list;
}

/* No "</script>" and no "<!--" may end the element early. */
static int put_safely(const char *buffer, size_t size, void *out) {
  for (size_t i = 0; i < size; i++)
    if (buffer[i] == '<') fputs("\\u003c", out);
    else fputc(buffer[i], out);
  return 0;
}

static void put_data(const Document *d, FILE *out) {
  json_t *root = packed(d->json);
  json_dump_callback(root, put_safely, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
  json_decref(root);
}

/* ---- the template ---- */

static void put_part(const Document *d, const char *name, size_t length, FILE *out) {
  if (strncmp(name, "generator", length) == 0) svg_text(out, d->generator);
  else if (strncmp(name, "title", length) == 0) svg_text(out, arena_printf(d->arena, "%s on %s", d->model, d->data));
  else if (strncmp(name, "css", length) == 0) fputs(page_css, out);
  else if (strncmp(name, "js", length) == 0) fputs(page_js, out);
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
