/* shown: one line that a terminal can show. */
#include "shown.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/text.h"

/* Moves the cursor, ends a line, turns the direction of what follows, or is no character at all. */
static bool is_unseen(int32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
         c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

void shown_in(char *line, size_t size, const char *words) {
  enum { LONGEST = 12 };
  size_t used = 0, end = size - sizeof "..." - LONGEST, left = strlen(words);
  bool is_utf8 = gnn_is_utf8();
  while (left && used < end) {
    char *to = line + used;
    int32_t c;
    int bytes = gnn_utf8_decode(words, left, &c);
    if (c < 0) {
      used += (size_t)snprintf(to, LONGEST, "\\x%02x", (unsigned char)*words);
    } else if (c == '\n' || c == '\t' || c == '\r') {
      used += (size_t)snprintf(to, LONGEST, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else if (is_unseen(c) || (c >= 0x80 && !is_utf8)) {
      used += (size_t)snprintf(to, LONGEST, c > 0xFFFF ? "\\U%08x" : "\\u%04x", (unsigned)c);
    } else {
      memcpy(to, words, (size_t)bytes);
      used += (size_t)bytes;
    }
    words += bytes;
    left -= (size_t)bytes;
  }
  strcpy(line + used, left ? "..." : "");
}

Shown shown(const char *words) {
  Shown line;
  shown_in(line.text, sizeof line.text, words);
  return line;
}
