#include "json_text.h"
#include "compiler/base/shown.h"

#include <stdbool.h>
#include <stdio.h>

enum { MAX_BYTES = 64 << 20, MAX_VALUES = 8000000, MAX_DEPTH = 32 };

/* A tree can be a hundred times larger than its text, so the values are counted before it is built. */
static const char *too_much(const char *text, size_t length, size_t *where) {
  size_t values = 1, depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    *where = i;
    if (in_string) {
      if (c == '\\')
        i++;
      else if (c == '"')
        in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') {
      values++;
      if (++depth > MAX_DEPTH) return "nested deeper than 32";
    }
    if ((c == ']' || c == '}') && depth) depth--;
    if (c == ',') values++;
    if (values > MAX_VALUES) return "more than 8000000 values";
  }
  return NULL;
}

json_t *json_text_load(const char *text, size_t length, char *place, size_t place_size, char *message,
                       size_t message_size) {
  size_t where = 0;
  const char *reason = length > MAX_BYTES ? "the file is larger than 64 MiB" : too_much(text, length, &where);
  if (reason) {
    int line = 1, column = 1;
    for (size_t i = 0; i < where; i++) {
      column = text[i] == '\n' ? 1 : column + 1;
      line += text[i] == '\n';
    }
    snprintf(place, place_size, "%d:%d", line, column);
    snprintf(message, message_size, "%s", reason);
    return NULL;
  }
  json_error_t error;
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (root) return root;
  snprintf(place, place_size, "%d:%d", error.line, error.column);
  shown_in(message, message_size, error.text);
  return NULL;
}
