#include "source.h"

#include <ctype.h>
#include <string.h>

#include "../runtime/base/text.h"

enum { TAB_STOP = 8 };

Source source_new(Arena *arena, const char *path, const char *text, size_t length) {
  Source source = {.path = arena_strdup(arena, path), .text = arena_strndup(arena, text, length), .length = length};
  ARENA_PUSH(arena, source.line_start, source.line_count, 0);
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\n') ARENA_PUSH(arena, source.line_start, source.line_count, i + 1);
  return source;
}

const char *source_line(const Source *source, int32_t line, size_t *length) {
  *length = 0;
  if (line < 1 || line > source->line_count) return NULL;
  size_t start = source->line_start[line - 1];
  size_t end = line < source->line_count ? source->line_start[line] - 1 : source->length;
  if (end > start && source->text[end - 1] == '\r') end--;
  *length = end - start;
  return source->text + start;
}

static int character_width(int32_t c) {
  static const struct { int32_t first, last; int width; } ranges[] = {
      {0x0300, 0x036F, 0}, {0x200B, 0x200F, 0}, {0xFE00, 0xFE0F, 0}, {0x1100, 0x115F, 2}, {0x2E80, 0xA4CF, 2},
      {0xAC00, 0xD7A3, 2}, {0xF900, 0xFAFF, 2}, {0xFE30, 0xFE6F, 2}, {0xFF00, 0xFF60, 2}, {0xFFE0, 0xFFE6, 2},
      {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (c >= ranges[i].first && c <= ranges[i].last) return ranges[i].width;
  return 1;
}

int source_screen_width(const char *line, size_t length, size_t bytes) {
  int width = 0;
  for (size_t i = 0; i < bytes;) {
    if (i >= length) return width + (int)(bytes - i);
    int32_t c;
    i += (size_t)gnn_utf8_decode(line + i, length - i, &c);
    width += c == '\t' ? TAB_STOP - width % TAB_STOP : character_width(c);
  }
  return width;
}

char *source_printable(Arena *arena, const char *line, size_t length) {
  char *text = arena_alloc(arena, length * TAB_STOP + 1);
  size_t used = 0;
  int width = 0;
  for (size_t i = 0; i < length;) {
    int32_t c;
    int bytes = gnn_utf8_decode(line + i, length - i, &c);
    if (c == '\t') {
      int blanks = TAB_STOP - width % TAB_STOP;
      memset(text + used, ' ', (size_t)blanks);
      used += (size_t)blanks;
      width += blanks;
    } else if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0)) {
      text[used++] = '?';
      width++;
    } else {
      memcpy(text + used, line + i, (size_t)bytes);
      used += (size_t)bytes;
      width += character_width(c);
    }
    i += (size_t)bytes;
  }
  return text;
}

static int is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

int source_token_length(const char *line, size_t length, size_t at) {
  if (at >= length) return 1;
  size_t end = at;
  if (is_word(line[at])) {
    while (end < length && (is_word(line[end]) || (line[end] == '.' && isdigit((unsigned char)line[at]) && end + 1 < length &&
                                                   isdigit((unsigned char)line[end + 1]))))
      end++;
  } else if (line[at] == '"') {
    for (end++; end < length && line[end] != '"'; end++)
      if (line[end] == '\\' && end + 1 < length) end++;
    if (end < length) end++;
  } else {
    static const char *const operators[] = {"<->", "->", "|>", "..", "==", "!=", "<=", ">=", ":="};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
      size_t width = strlen(operators[i]);
      if (length - at >= width && strncmp(line + at, operators[i], width) == 0) return (int)width;
    }
    int32_t c;
    return gnn_utf8_decode(line + at, length - at, &c);
  }
  return (int)(end - at);
}
