/* table.c: rows and cells of a text. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/base/stream.h"

enum { TABLE_BUFFER_BYTES = 1 << 20, TABLE_GUESS_BYTES = 1 << 14 };

void gnn_table_close(gnn_text_table *table) {
  if (table == NULL) return;
  gnn_stream_close(table->stream);
  free(table->cells);
  free(table->buffer);
  free(table->path);
  free(table);
}

gnn_status gnn_table_fail(const gnn_text_table *table, int cell, const char *code, gnn_error *error, const char *format, ...) {
  char what[512], where[32] = "";
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (cell >= 0 && cell < table->count) snprintf(where, sizeof where, " column %d", table->cells[cell].column);
  return gnn_fail(error, GNN_EDATA, code, "\"%s\" line %lld%s: %s", table->path, (long long)table->line, where, what);
}

/* More of the text behind what is still to be read. */
static gnn_status table_refill(gnn_text_table *table, gnn_error *error) {
  const size_t rest = table->end - table->begin;
  size_t got;
  if (rest == TABLE_BUFFER_BYTES)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" line %lld has more than %d characters", table->path, (long long)table->lines_read + 1, TABLE_BUFFER_BYTES);
  memmove(table->buffer, table->buffer + table->begin, rest);
  table->begin = 0;
  const gnn_status status = gnn_stream_read(table->stream, table->buffer + rest, TABLE_BUFFER_BYTES - rest, &got, error);
  table->end = rest + got;
  table->is_last = table->end < TABLE_BUFFER_BYTES;
  return status;
}

gnn_status gnn_text_mark(const char *path, const unsigned char *head, size_t size, size_t *mark, gnn_error *error) {
  *mark = size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  const unsigned char *returns = memchr(head, '\r', size);
  if (returns && returns + 1 < head + size && !memchr(head, '\n', size)) {
    gnn_fail(error, GNN_EDATA, "", "\"%s\" ends its lines with carriage returns alone", path);
    gnn_fail_help(error, "tr '\\r' '\\n' <FILE makes lines of them");
    return GNN_EDATA;
  }
  if (size < 2 || (memcmp(head, "\xff\xfe", 2) != 0 && memcmp(head, "\xfe\xff", 2) != 0)) return GNN_OK;
  gnn_fail(error, GNN_EDATA, "", "\"%s\" is text in UTF-16", path);
  gnn_fail_help(error, "save it as UTF-8: iconv -f UTF-16 -t UTF-8");
  return GNN_EDATA;
}

static gnn_status table_begin(gnn_text_table *table, gnn_error *error) {
  table->begin = table->end = 0;
  table->line = table->lines_read = 0;
  const gnn_status status = table_refill(table, error);
  return status == GNN_OK ? gnn_text_mark(table->path, table->buffer, table->end, &table->begin, error) : status;
}

gnn_status gnn_table_open(const char *path, const gnn_table_rules *rules, gnn_text_table **out, gnn_error *error) {
  gnn_text_table *table = calloc(1, sizeof *table);
  *out = NULL;
  if (table == NULL) return gnn_fail_memory(error, (int64_t)sizeof *table);
  table->rules = *rules;
  table->path = strdup(path);
  table->buffer = malloc(TABLE_BUFFER_BYTES + 1);
  gnn_status status = table->path && table->buffer ? gnn_stream_open(path, &table->stream, error) : gnn_fail_memory(error, TABLE_BUFFER_BYTES);
  if (status == GNN_OK) status = table_begin(table, error);
  if (status == GNN_OK) *out = table;
  else gnn_table_close(table);
  return status;
}

gnn_status gnn_table_rewind(gnn_text_table *table, gnn_error *error) {
  const gnn_status status = gnn_stream_seek(table->stream, 0, error);
  return status == GNN_OK ? table_begin(table, error) : status;
}

/* Where the row that begins at `at` ends; *lines: over how many lines it goes; NULL: not in this buffer. */
static unsigned char *table_row_end(const gnn_text_table *table, int64_t *lines, int *is_open) {
  unsigned char *at = table->buffer + table->begin, *end = table->buffer + table->end;
  *lines = 1;
  *is_open = 0;
  if (!table->rules.has_quotes) return memchr(at, '\n', (size_t)(end - at));
  for (; at < end; at++) {
    if (*at == '"') *is_open = !*is_open;
    if (*at != '\n') continue;
    if (!*is_open) return at;
    ++*lines;
  }
  return NULL;
}

static int table_is_between(const gnn_text_table *table, char c) {
  return table->rules.separator == ' ' ? c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r' : c == table->rules.separator;
}

static gnn_status table_add(gnn_text_table *table, char *text, char *end, int32_t column, gnn_error *error) {
  if (table->count == table->cell_room) {
    const int room = table->cell_room ? 2 * table->cell_room : 64;
    gnn_cell *more = realloc(table->cells, (size_t)room * sizeof *more);
    if (more == NULL) return gnn_fail_memory(error, room * (int64_t)sizeof *more);
    table->cells = more;
    table->cell_room = room;
  }
  table->cells[table->count++] = (gnn_cell){text, (int32_t)(end - text), column};
  return GNN_OK;
}

/* Of a cell in quotes: what is in them, moved to where it begins. *after: behind the closing quote, so many characters further. */
static char *table_unquote(char *text, char *end, char **after, int32_t *characters) {
  char *to = text, *at = text + 1;
  *characters = 1;
  for (; at < end; at++) {
    ++*characters;
    if (*at == '"' && !(at + 1 < end && at[1] == '"')) break;
    if (*at == '"') at++, ++*characters;
    *characters -= ((unsigned char)*at & 0xc0) == 0x80;
    *to++ = *at;
  }
  *after = at < end ? at + 1 : end;
  return to;
}

static int32_t table_characters(const char *from, const char *at) {
  int32_t count = 0;
  for (; from < at; from++) count += ((unsigned char)*from & 0xc0) != 0x80;
  return count;
}

static gnn_status table_cut(gnn_text_table *table, char *line, char *end, gnn_error *error) {
  const int is_blank = table->rules.separator == ' ';
  int32_t column = 1;
  table->count = 0;
  for (char *at = line;; at++) {
    char *begin = at;
    while (at < end && (is_blank ? table_is_between(table, *at) : *at == ' ')) at++;
    if (is_blank && at >= end) return GNN_OK;
    column += table_characters(begin, at);
    char *text = at, *stop;
    int32_t characters;
    const int is_quoted = table->rules.has_quotes && at < end && *at == '"';
    if (is_quoted) {
      stop = table_unquote(at, end, &at, &characters);
      for (; at < end && *at == ' '; at++) characters++;
    } else {
      while (at < end && !table_is_between(table, *at)) at++;
      characters = table_characters(text, at);
      stop = at;
      while (stop > text && stop[-1] == ' ') stop--;
    }
    const int is_last = at >= end, is_open = !is_last && !table_is_between(table, *at);
    gnn_status status = table_add(table, text, stop, column, error);
    if (status == GNN_OK && is_open) status = gnn_table_fail(table, table->count - 1, "", error, "something stands between the closing quote and the next separator");
    if (status != GNN_OK) return status;
    *stop = 0;
    if (is_last) return GNN_OK;
    column += characters + 1;
  }
}

gnn_status gnn_table_next(gnn_text_table *table, gnn_error *error) {
  for (;;) {
    int64_t lines;
    int is_open;
    unsigned char *end = table_row_end(table, &lines, &is_open);
    if (end == NULL && !table->is_last) {
      const gnn_status status = table_refill(table, error);
      if (status != GNN_OK) return status;
      continue;
    }
    char *line = (char *)table->buffer + table->begin;
    if (end == NULL && table->begin == table->end) {
      table->count = -1;
      return GNN_OK;
    }
    char *stop = end ? (char *)end : (char *)table->buffer + table->end;
    table->begin = (size_t)((unsigned char *)stop - table->buffer) + (end != NULL);
    table->line = table->lines_read + 1;
    table->lines_read += lines;
    table->count = 0;
    if (is_open) return gnn_table_fail(table, -1, "", error, "a quote is opened and never closed");
    if (memchr(line, 0, (size_t)(stop - line))) return gnn_table_fail(table, -1, "", error, "there is a byte 0: this is no text");
    while (stop > line && stop[-1] == '\r') stop--;
    *stop = 0; /* the buffer has room for one behind the last */
    const char *first = line + strspn(line, " \t");
    if (table->rules.comment && *first && strchr(table->rules.comment, *first)) continue;
    if (*first == 0 && !table->rules.keeps_empty) continue;
    return table_cut(table, line, stop, error);
  }
}

/* ---- cells ---- */

int gnn_cell_whole(const gnn_cell *cell, int64_t *value) {
  const char *at = cell->text, *end = at + cell->length;
  const int is_negative = at < end && *at == '-';
  int64_t number = 0;
  at += at < end && (*at == '-' || *at == '+');
  if (at == end) return 0;
  for (; at < end; at++)
    if (*at < '0' || *at > '9' || !gnn_digit_fits(&number, *at)) return 0;
  *value = is_negative ? -number : number;
  return 1;
}

int gnn_cell_number(const gnn_cell *cell, double *value) {
  int64_t whole;
  if (strcasecmp(cell->text, "nan") == 0) return *value = NAN, 1;
  if (!gnn_cell_whole(cell, &whole)) return cell->length > 0 && gnn_parse_number(cell->text, value);
  *value = (double)whole;
  return 1;
}

/* A cell as a message shows it. */
static const char *table_shown(const gnn_text_table *table, int cell, char *shown, size_t room) {
  size_t length = 0;
  for (const char *c = table->cells[cell].text; *c && length + 1 < room; c++) shown[length++] = *c >= ' ' && *c <= '~' ? *c : '?';
  shown[length] = 0;
  return shown;
}

gnn_status gnn_table_number(const gnn_text_table *table, int cell, double *value, gnn_error *error) {
  char shown[40];
  if (gnn_cell_number(&table->cells[cell], value)) return GNN_OK;
  return gnn_table_fail(table, cell, "", error, "a number is needed, not \"%s\"", table_shown(table, cell, shown, sizeof shown));
}

gnn_status gnn_table_whole(const gnn_text_table *table, int cell, int64_t *value, gnn_error *error) {
  char shown[40];
  double number;
  if (gnn_cell_whole(&table->cells[cell], value)) return GNN_OK;
  if (gnn_cell_number(&table->cells[cell], &number) && number >= -9e15 && number <= 9e15 && number == (double)(int64_t)number) {
    *value = (int64_t)number;
    return GNN_OK;
  }
  return gnn_table_fail(table, cell, "", error, "a whole number is needed, not \"%s\"", table_shown(table, cell, shown, sizeof shown));
}

gnn_status gnn_table_text(const gnn_text_table *table, int cell, gnn_error *error) {
  const gnn_cell *c = &table->cells[cell];
  for (int32_t at = 0; at < c->length;) {
    int32_t codepoint;
    at += gnn_utf8_decode(c->text + at, (size_t)(c->length - at), &codepoint);
    if (codepoint >= 0) continue;
    gnn_status status = gnn_table_fail(table, cell, "", error, "the text is not UTF-8");
    gnn_fail_help(error, "iconv -f LATIN1 -t UTF-8 makes it that, if it is Latin-1");
    return status;
  }
  return GNN_OK;
}

int64_t gnn_cell_numbers(const gnn_cell *cell, float *out, int64_t room) {
  const char *at = cell->text, *end = at + cell->length;
  int64_t count = 0;
  for (;;) {
    while (at < end && strchr(" \t,;[]()\n\r", *at)) at++;
    if (at >= end) return count;
    char word[64];
    size_t length = 0;
    while (at < end && !strchr(" \t,;[]()\n\r", *at) && length + 1 < sizeof word) word[length++] = *at++;
    word[length] = 0;
    double number;
    if (!gnn_parse_number(word, &number)) return -1;
    if (count < room) out[count] = (float)number;
    count++;
  }
}

int64_t gnn_table_most_rows(const gnn_text_table *table, int64_t row_bytes) {
  enum { TABLE_DEFLATE_MOST = 1032 }; /* what deflate can make of a byte */
  int64_t taken, all, most;
  gnn_stream_progress(table->stream, &taken, &all);
  if (!gnn_stream_is_packed(table->stream)) return all / row_bytes + 1;
  return gnn_multiply_fits(all, TABLE_DEFLATE_MOST, &most) ? most / row_bytes + 1 : INT64_MAX;
}

gnn_status gnn_table_guess(const char *path, gnn_table_rules *rules, gnn_error *error) {
  gnn_stream *stream;
  size_t size = 0;
  *rules = (gnn_table_rules){.separator = ' '};
  gnn_status status = gnn_stream_open(path, &stream, error);
  if (status != GNN_OK) return status;
  char *head = malloc(TABLE_GUESS_BYTES + 1);
  status = head ? gnn_stream_read(stream, head, TABLE_GUESS_BYTES, &size, error) : gnn_fail_memory(error, TABLE_GUESS_BYTES);
  gnn_stream_close(stream);
  if (status == GNN_OK) {
    static const char kinds[] = {',', '\t', ';', '|'};
    head[size] = 0;
    const char *line = head;
    while (*line == '#' || *line == '\n' || *line == '\r') line = strchr(line, '\n') ? strchr(line, '\n') + 1 : head + size;
    int best = 0;
    for (size_t k = 0; k < sizeof kinds; k++) {
      int found = 0, is_open = 0;
      for (const char *c = line; *c && (is_open || *c != '\n'); c++) {
        if (*c == '"') is_open = !is_open;
        found += !is_open && *c == kinds[k];
      }
      if (found <= best) continue;
      best = found;
      rules->separator = kinds[k];
    }
    rules->has_quotes = best > 0;
  }
  free(head);
  return status;
}
