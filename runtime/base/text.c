/* text.c: messages. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "text.h"

#include "open.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked.h"

gnn_status gnn_fail(gnn_error *error, gnn_status status, const char *code, const char *format, ...) {
  if (error == NULL) return status;
  memset(error, 0, sizeof *error);
  snprintf(error->code, sizeof error->code, "%s", code);
  va_list args;
  va_start(args, format);
  vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  gnn_text_tame(error->message, 1);
  return status;
}

void gnn_fail_help(gnn_error *error, const char *format, ...) {
  if (error == NULL) return;
  va_list args;
  va_start(args, format);
  vsnprintf(error->help, sizeof error->help, format, args);
  va_end(args);
  gnn_text_tame(error->help, 1);
}

gnn_status gnn_fail_memory(gnn_error *error, int64_t bytes) {
  if (bytes <= 0) return gnn_fail(error, GNN_ENOMEM, "", "out of memory");
  return gnn_fail(error, GNN_ENOMEM, "", "out of memory: could not get %s", gnn_bytes_text(bytes).text);
}

gnn_status gnn_fail_file(gnn_error *error, const char *verb, const char *path, int errno_value) {
  if (errno_value == ENOMEM) return gnn_fail_memory(error, (int64_t)strlen(path));
  const char *code = errno_value == ENOENT || errno_value == EISDIR || errno_value == ENOTDIR || errno_value == ESPIPE ? "E0001" : "";
  return gnn_fail(error, GNN_EIO, code, "cannot %s \"%s\": %s", verb, path, gnn_open_reason(errno_value));
}

static int text_reserve(gnn_text *text, size_t more) {
  if (text->is_broken) return 0;
  if (more < text->capacity - text->length) return 1;
  size_t capacity = text->capacity ? text->capacity : 256;
  while (capacity - text->length <= more) {
    if (capacity > SIZE_MAX / 2) { text->is_broken = 1; return 0; }
    capacity *= 2;
  }
  char *data = realloc(text->data, capacity);
  if (data == NULL) { text->is_broken = 1; return 0; }
  text->data = data;
  text->capacity = capacity;
  return 1;
}

void gnn_text_append(gnn_text *text, const char *bytes, size_t count) {
  if (!text_reserve(text, count)) return;
  if (count) memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = 0;
}

void gnn_text_format(gnn_text *text, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int need = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (need < 0) text->is_broken = 1;
  else if (text_reserve(text, (size_t)need)) {
    vsnprintf(text->data + text->length, (size_t)need + 1, format, again);
    text->length += (size_t)need;
  }
  va_end(again);
}

void gnn_text_json(gnn_text *text, const char *string) {
  gnn_text_append(text, "\"", 1);
  const char *s = string;
  for (size_t left = strlen(s), bytes; left > 0; s += bytes, left -= bytes) {
    int32_t c;
    bytes = (size_t)gnn_utf8_decode(s, left, &c);
    if (c == '"' || c == '\\') gnn_text_format(text, "\\%c", (char)c);
    else if (c == '\n') gnn_text_append(text, "\\n", 2);
    else if (c < 0) gnn_text_append(text, "\\ufffd", 6);
    else if (c < 0x20 || c == 0x7F) gnn_text_format(text, "\\u%04x", (unsigned)c);
    else gnn_text_append(text, s, bytes);
  }
  gnn_text_append(text, "\"", 1);
}

void gnn_text_free(gnn_text *text) {
  free(text->data);
  memset(text, 0, sizeof *text);
}

gnn_short_text gnn_count_text(int64_t count) {
  gnn_short_text out;
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
  size_t at = 0;
  for (int i = 0; i < length; i++) {
    int left = length - i;
    if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') out.text[at++] = ',';
    out.text[at++] = digits[i];
  }
  out.text[at] = 0;
  return out;
}

static gnn_short_text text_bytes(int64_t bytes, int is_above) {
  static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  gnn_short_text out;
  double value = (double)bytes;
  int u = 0;
  while (fabs(value) >= 1024 && u < 4) { value /= 1024; u++; }
  if (u == 0) snprintf(out.text, sizeof out.text, "%lld B", (long long)bytes);
  else snprintf(out.text, sizeof out.text, "%.1f %s", is_above ? ceil(10 * value) / 10 : value, unit[u]);
  return out;
}

gnn_short_text gnn_bytes_text(int64_t bytes) { return text_bytes(bytes, 0); }

gnn_short_text gnn_bytes_above_text(int64_t bytes) { return text_bytes(bytes, 1); }

gnn_short_text gnn_seconds_text(double seconds) {
  gnn_short_text out;
  if (!(seconds >= 0) || seconds > 1e9) snprintf(out.text, sizeof out.text, "? s");
  else if (seconds < 0.001) snprintf(out.text, sizeof out.text, "%.0f us", seconds * 1e6);
  else if (seconds < 0.0995) snprintf(out.text, sizeof out.text, "%.1f ms", seconds * 1e3);
  else if (seconds < 60) snprintf(out.text, sizeof out.text, "%.2f s", seconds);
  else if (seconds < 3600) snprintf(out.text, sizeof out.text, "%d m %02d s", (int)seconds / 60, (int)seconds % 60);
  else snprintf(out.text, sizeof out.text, "%d h %02d m", (int)(seconds / 3600), (int)(seconds / 60) % 60);
  return out;
}

double gnn_shown(double number) { return isnan(number) ? (double)NAN : number; }

int gnn_utf8_decode(const char *text, size_t length, int32_t *codepoint) {
  static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *byte = (const unsigned char *)text;
  *codepoint = byte[0];
  if (byte[0] < 0x80) return 1;
  int bytes = byte[0] >= 0xF5 ? 0 : byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : byte[0] >= 0xC2 ? 2 : 0;
  *codepoint = -1;
  if (bytes == 0 || (size_t)bytes > length) return 1;
  int32_t value = byte[0] & (0xFF >> (bytes + 1));
  for (int i = 1; i < bytes; i++) {
    if ((byte[i] & 0xC0) != 0x80) return 1;
    value = value << 6 | (byte[i] & 0x3F);
  }
  if (value < least[bytes] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 1;
  *codepoint = value;
  return bytes;
}

void gnn_text_tame(char *text, int keeps_lines) {
  for (unsigned char *c = (unsigned char *)text; *c; c++) {
    const int is_wide = c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0; /* U+0080 to U+009F */
    if (is_wide || ((*c < 0x20 || *c == 0x7F) && !(keeps_lines && *c == '\n'))) *c = '?';
    if (is_wide) *++c = '?';
  }
}

const char *gnn_name_fault(const char *name) {
  for (size_t left = strlen(name), bytes; left > 0; name += bytes, left -= bytes) {
    int32_t c;
    bytes = (size_t)gnn_utf8_decode(name, left, &c);
    if (c < 0) return "is not text in UTF-8";
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return "has a control character";
  }
  return NULL;
}

int gnn_is_utf8(void) {
  const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"}, *value = "";
  for (int i = 0; i < 3 && !*value; i++) value = getenv(names[i]) ? getenv(names[i]) : "";
  return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") || strstr(value, "UTF8");
}

enum { TEXT_WORD_MAX = 40 };

/* Damerau-Levenshtein, adjacent transpositions only (Wagner and Fischer 1974, Lowrance and Wagner 1975). */
static int text_distance(const char *a, const char *b) {
  int la = (int)strlen(a), lb = (int)strlen(b);
  if (la > TEXT_WORD_MAX || lb > TEXT_WORD_MAX) return TEXT_WORD_MAX;
  int d[TEXT_WORD_MAX + 1][TEXT_WORD_MAX + 1];
  for (int i = 0; i <= la; i++) d[i][0] = i;
  for (int j = 0; j <= lb; j++) d[0][j] = j;
  for (int i = 1; i <= la; i++) {
    for (int j = 1; j <= lb; j++) {
      int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  }
  return d[la][lb];
}

const char *gnn_nearest(const char *word, const char *const *candidates, int count) {
  int limit = (int)strlen(word) / 3;
  if (limit < 1) limit = 1;
  const char *best = NULL;
  for (int i = 0; i < count; i++) {
    int distance = text_distance(word, candidates[i]);
    if (distance > 0 && strlen(word) == 1 && strlen(candidates[i]) == 1) continue; /* one letter is not near another */
    if (distance <= limit) { best = candidates[i]; limit = distance - 1; }
  }
  return best;
}

int gnn_parse_integer(const char *text, int64_t *value) {
  const char *s = text;
  int is_negative = *s == '-';
  if (*s == '-' || *s == '+') s++;
  if (*s < '0' || *s > '9') return 0;
  int64_t v = 0;
  for (; (*s >= '0' && *s <= '9') || *s == '_'; s++) {
    if (*s == '_') continue;
    if (!gnn_digit_fits(&v, *s)) return 0;
  }
  if (*s) return 0;
  *value = is_negative ? -v : v;
  return 1;
}

int gnn_parse_number(const char *text, double *value) {
  /* strtod reads the locale's decimal point: hand it the text with that point, having checked the form here. */
  const char *s = text;
  if (*s == '-' || *s == '+') s++;
  int digits = 0;
  while (*s >= '0' && *s <= '9') { s++; digits++; }
  const char *point = *s == '.' ? s : NULL;
  if (point) {
    s++;
    while (*s >= '0' && *s <= '9') { s++; digits++; }
  }
  if (digits == 0) return 0;
  if (*s == 'e' || *s == 'E') {
    s++;
    if (*s == '-' || *s == '+') s++;
    if (*s < '0' || *s > '9') return 0;
    while (*s >= '0' && *s <= '9') s++;
  }
  size_t length = (size_t)(s - text);
  char copy[64], sample[8];
  if (*s || length >= sizeof copy) return 0;
  memcpy(copy, text, length + 1);
  if (point) {
    snprintf(sample, sizeof sample, "%.1f", 0.5);
    if (sample[1] != '.' && sample[2] == '5') copy[point - text] = sample[1];
  }
  *value = strtod(copy, NULL);
  return isfinite(*value);
}

int gnn_parse_bytes(const char *text, int64_t *bytes) {
  static const struct { const char *name; double size; } units[] = {
    {"", 1}, {"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  char number[32];
  double value;
  const size_t length = strspn(text, "0123456789.");
  if (length == 0 || length >= sizeof number) return 0;
  memcpy(number, text, length);
  number[length] = 0;
  const char *unit = text + length + strspn(text + length, " ");
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strcmp(unit, units[i].name) != 0) continue;
    if (!gnn_parse_number(number, &value) || value * units[i].size >= 0x1p62) return 0;
    *bytes = (int64_t)(value * units[i].size);
    return 1;
  }
  return 0;
}
