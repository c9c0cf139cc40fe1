#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/base/text.h"

const char *escape_c(Arena *arena, const char *text) {
  if (!text) return "NULL";
  char *result = arena_alloc(arena, 4 * strlen(text) + 3), *to = result;
  *to++ = '"';
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    bool is_trigraph = *c == '?' && to[-1] == '?';
    if (*c == '\n') to += sprintf(to, "\\n");
    else if (*c < 32 || *c == 127) to += sprintf(to, "\\%03o", *c);
    else to += sprintf(to, *c == '"' || *c == '\\' || is_trigraph ? "\\%c" : "%c", *c);
  }
  *to++ = '"';
  return result;
}

const char *escape_json(Arena *arena, const char *text) {
  gnn_text json = {0};
  gnn_text_json(&json, text);
  char *copy = arena_strdup(arena, json.is_broken ? "\"\"" : json.data);
  gnn_text_free(&json);
  return copy;
}

/* Nothing ends the line or the comment, nothing begins another: a blank keeps apart what would. */
const char *escape_comment(Arena *arena, const char *text) {
  char *result = arena_alloc(arena, 2 * strlen(text) + 1), *to = result;
  for (const char *c = text; *c; c++) {
    bool is_pair = c > text && ((c[-1] == '*' && *c == '/') || (c[-1] == '/' && *c == '*'));
    if (is_pair) *to++ = ' ';
    *to++ = (unsigned char)*c < 32 || *c == 127 ? ' ' : *c;
  }
  return result;
}

const char *escape_shell(Arena *arena, const char *text) {
  char *result = arena_alloc(arena, 4 * strlen(text) + 3), *to = result;
  *to++ = '\'';
  for (; *text; text++) to += sprintf(to, *text == '\'' ? "'\\'%c" : "%c", *text);
  *to++ = '\'';
  return result;
}

void escape_dot(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

/* Characters that XML does not know are left out. */
void escape_xml(FILE *out, const char *text) {
  static const struct { char plain; const char *entity; } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  for (int bytes; *text; text += bytes) {
    int32_t c;
    const char *entity = NULL;
    bytes = gnn_utf8_decode(text, strlen(text), &c);
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
      if (entities[i].plain == *text) entity = entities[i].entity;
    bool is_known = (c >= 0x20 && c != 0x7F && c != 0xFFFE && c != 0xFFFF) || c == '\t' || c == '\n';
    if (entity) fputs(entity, out);
    else if (is_known) fwrite(text, 1, (size_t)bytes, out);
  }
}
