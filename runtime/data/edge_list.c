/* edge_list.c: lists of edges from text and from NumPy arrays. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "edge_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "npy.h"
#include "readers.h"
#include "runtime/base/checked.h"
#include "runtime/base/stream.h"

enum { LIST_BUFFER_BYTES = 1 << 17, LIST_HEAD_BYTES = 1 << 13, LIST_NODES_MOST = INT32_MAX - 1 };

struct gnn_edge_list {
  char *path;
  gnn_edge_rules rules;
  gnn_edge_place place;
  gnn_stream *stream[2]; /* [1]: of an array [2, E], the destinations */
  unsigned char *buffer; /* [LIST_BUFFER_BYTES] */
  size_t begin, end;     /* of a text, what of the buffer is still to be read */
  int is_last;           /* nothing comes after the buffer */
  int is_array, is_pairs; /* [E, 2] as it lies */
  gnn_array array;
  int64_t offset; /* of the array in its file */
};

void gnn_edge_list_close(gnn_edge_list *list) {
  if (list == NULL) return;
  gnn_stream_close(list->stream[0]);
  gnn_stream_close(list->stream[1]);
  free(list->buffer);
  free(list->path);
  free(list);
}

const gnn_edge_place *gnn_edge_list_place(const gnn_edge_list *list) { return &list->place; }

double gnn_edge_list_share(const gnn_edge_list *list) {
  int64_t taken, all;
  if (list->is_array) return list->array.count ? (double)list->place.edges / (double)(list->array.count / 2) : 1;
  gnn_stream_progress(list->stream[0], &taken, &all);
  return all ? (double)taken / (double)all : 1;
}

/* ---- text ---- */

static int list_is_between(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r'; }
static int list_is_digit(char c) { return c >= '0' && c <= '9'; }

/* A whole number that a blank or the end follows: 1, beyond int64_t: -1, something else: 0. */
static int list_number(const char **at, const char *end, int64_t *value) {
  const char *s = *at;
  int fits = 1;
  while (s < end && list_is_between(*s)) s++;
  const char *digits = s + (s < end && *s == '-');
  *value = 0;
  for (*at = digits; *at < end && list_is_digit(**at); (*at)++)
    if (fits) fits = gnn_digit_fits(value, **at);
  if (digits != s) *value = -*value;
  return *at == digits || (*at < end && !list_is_between(**at)) ? 0 : fits ? 1 : -1;
}

static int list_says_nothing(const char *line, const char *end) {
  while (line < end && list_is_between(*line)) line++;
  return line == end || *line == '#' || *line == '%';
}

/* Names of columns: it begins with a letter, which no edge does. */
static int list_is_header(const char *line, const char *end) {
  while (line < end && (list_is_between(*line) || *line == '"')) line++;
  return line < end && ((*line >= 'a' && *line <= 'z') || (*line >= 'A' && *line <= 'Z') || *line == '_');
}

/* The ends of the edges may be other columns than the first two, as beside an index that pandas has written: they would be read as nodes. */
static gnn_status list_header(const char *path, int64_t number, const char *line, const char *end, gnn_error *error) {
  int column = 0, found[2] = {-1, -1};
  char name[2][40];
  for (const char *at = line; at <= end; column++) {
    while (at < end && (*at == ' ' || *at == '"')) at++;
    const char *word = at;
    while (at < end && !list_is_between(*at) && *at != '"') at++;
    for (int k = 0; k < 2; k++) {
      if (found[k] >= 0 || !gnn_csv_is_end(word, (size_t)(at - word), k)) continue;
      found[k] = column;
      snprintf(name[k], sizeof name[k], "%.*s", (int)(at - word), word);
    }
    while (at < end && (*at == ' ' || *at == '"' || *at == '\r')) at++;
    if (at == end) break;
    at += *at == ',' || *at == ';' || *at == '\t';
  }
  gnn_status status = GNN_OK;
  if (found[0] >= 0 && found[1] >= 0 && (found[0] != 0 || found[1] != 1))
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" line %lld: source and destination are the columns %s and %s, which in a list of edges come first, in this order", path, (long long)number, name[0], name[1]);
  else if (line < end && (*line == ',' || *line == ';' || *line == '\t'))
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" line %lld: the first column has no name, as an index that pandas writes; in a list of edges source and destination come first", path, (long long)number);
  if (status != GNN_OK) gnn_fail_help(error, "csv(edges = \"%s\") reads columns by their names; with header = false the line is an edge", path);
  return status;
}

/* Two words of a line, what separates them left aside. */
static int list_words(const char *line, const char *end, const char *word[2], size_t length[2]) {
  for (int i = 0; i < 2; i++) {
    while (line < end && (list_is_between(*line) || *line == '"')) line++;
    word[i] = line;
    while (line < end && !list_is_between(*line) && *line != '"') line++;
    length[i] = (size_t)(line - word[i]);
  }
  return length[1] > 0;
}

static gnn_status list_refuse(const gnn_edge_list *list, const char *line, const char *end, gnn_error *error) {
  char shown[48];
  size_t length = (size_t)(end - line) < sizeof shown - 1 ? (size_t)(end - line) : sizeof shown - 1;
  for (size_t i = 0; i < length; i++) shown[i] = line[i] >= ' ' && line[i] <= '~' ? line[i] : '?';
  shown[length] = 0;
  gnn_status status = gnn_fail(error, GNN_EDATA, "", "\"%s\" line %lld: \"%s%s\" is no edge", list->path, (long long)list->place.lines, shown, length < (size_t)(end - line) ? "..." : "");
  const char *word[2];
  size_t words[2];
  double value;
  char first[48];
  const int has_words = list_words(line, end, word, words);
  snprintf(first, sizeof first, "%.*s", has_words ? (int)words[0] : 0, line == end ? "" : word[0]);
  if (has_words && gnn_parse_number(first, &value) && strpbrk(first, ".eE")) gnn_fail_help(error, "nodes are whole numbers, as numpy.savetxt(f, edges, fmt = \"%%d\") writes them; csv(edges = \"%s\") also reads 1.0 and 1e0", list->path);
  else if (list->place.edges == 0 && has_words) gnn_fail_help(error, "an edge is two whole numbers; where nodes have names, the list is read without --memory, or as csv(edges = \"...\")");
  else gnn_fail_help(error, "an edge is two whole numbers: source and destination");
  return status;
}

static gnn_status list_check(const gnn_edge_list *list, int64_t source, int64_t destination, gnn_error *error) {
  const int64_t base = list->rules.base, nodes = list->rules.nodes, least = source < destination ? source : destination, greatest = source < destination ? destination : source;
  const int64_t most = (nodes < 0 ? LIST_NODES_MOST : nodes) - 1 + base;
  if (least >= base && greatest <= most) return GNN_OK;
  char where[48];
  snprintf(where, sizeof where, list->is_array ? "edge %lld" : "line %lld", (long long)(list->is_array ? list->place.edges : list->place.lines));
  gnn_status status = gnn_fail(error, GNN_EDATA, "E0701", "\"%s\" %s: %lld → %lld, but nodes run %lld … %lld", list->path, where, (long long)source, (long long)destination, (long long)base, (long long)most);
  if (nodes < 0 && greatest > most) gnn_fail_help(error, "ids are whole numbers from 0; more than 2^31 - 2 nodes are not supported");
  else if (base == 1 && least == 0) gnn_fail_help(error, "base = 1 says that nodes are counted from 1");
  return status;
}

static gnn_status list_add(gnn_edge_list *list, int64_t source, int64_t destination, gnn_edge *edge, gnn_error *error) {
  const gnn_status status = list_check(list, source, destination, error);
  if (status != GNN_OK) return status;
  gnn_edge_place *place = &list->place;
  source -= list->rules.base;
  destination -= list->rules.base;
  if (place->greatest < 0 || source < place->least) place->least = source;
  if (destination < place->least) place->least = destination;
  if (source > place->greatest) place->greatest = source;
  if (destination > place->greatest) place->greatest = destination;
  place->edges++;
  *edge = (gnn_edge){(int32_t)source, (int32_t)destination};
  return GNN_OK;
}

/* *is_edge: the line has one. */
static gnn_status list_line(gnn_edge_list *list, const char *line, const char *end, gnn_edge *edge, int *is_edge, gnn_error *error) {
  int64_t source, destination;
  const char *at = line;
  *is_edge = 0;
  if (list_says_nothing(line, end)) return GNN_OK;
  if (list->place.edges == 0 && list->place.header_line == 0 && list_is_header(line, end)) {
    list->place.header_line = list->place.lines;
    return list_header(list->path, list->place.lines, line, end, error);
  }
  const int first = list_number(&at, end, &source), second = first ? list_number(&at, end, &destination) : 0;
  if (first <= 0 || second <= 0) return list_refuse(list, line, end, error);
  while (at < end && list_is_between(*at)) at++;
  list->place.wide_lines += at < end;
  *is_edge = 1;
  return list_add(list, source, destination, edge, error);
}

/* More of the text behind what is still to be read. */
static gnn_status list_refill(gnn_edge_list *list, gnn_error *error) {
  const size_t rest = list->end - list->begin;
  size_t got;
  if (rest == LIST_BUFFER_BYTES)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" line %lld has more than %d characters", list->path, (long long)list->place.lines + 1, LIST_BUFFER_BYTES);
  memmove(list->buffer, list->buffer + list->begin, rest);
  list->begin = 0;
  const gnn_status status = gnn_stream_read(list->stream[0], list->buffer + rest, LIST_BUFFER_BYTES - rest, &got, error);
  list->end = rest + got;
  list->is_last = list->end < LIST_BUFFER_BYTES;
  return status;
}

static gnn_status list_text(gnn_edge_list *list, gnn_edge *edges, int64_t room, int64_t *count, gnn_error *error) {
  while (*count < room) {
    const char *line = (const char *)list->buffer + list->begin, *end = memchr(line, '\n', list->end - list->begin);
    if (end == NULL && !list->is_last) {
      const gnn_status status = list_refill(list, error);
      if (status != GNN_OK) return status;
      continue;
    }
    if (end == NULL && list->begin == list->end) return GNN_OK;
    const size_t length = end ? (size_t)(end - line) + 1 : list->end - list->begin;
    int is_edge;
    list->place.lines++;
    const gnn_status status = list_line(list, line, end ? end : line + length, &edges[*count], &is_edge, error);
    if (status != GNN_OK) return status;
    *count += is_edge;
    list->begin += length;
    list->place.bytes += (int64_t)length;
  }
  return GNN_OK;
}

/* ---- arrays ---- */

static gnn_status list_array(gnn_edge_list *list, gnn_edge *edges, int64_t room, int64_t *count, gnn_error *error) {
  const int64_t width = gnn_dtype_bytes(list->array.dtype), all = list->array.count / 2, half = LIST_BUFFER_BYTES / 2;
  while (*count < room && list->place.edges < all) {
    int64_t wanted = half / width;
    if (wanted > room - *count) wanted = room - *count;
    if (wanted > all - list->place.edges) wanted = all - list->place.edges;
    gnn_array ends[2] = {{.dtype = list->array.dtype, .data = list->buffer}, {.dtype = list->array.dtype, .data = list->buffer + half}};
    for (int i = 0; i < (list->is_pairs ? 1 : 2); i++) {
      const size_t bytes = (size_t)(wanted * width) * (list->is_pairs ? 2 : 1);
      size_t got;
      const gnn_status status = gnn_stream_read(list->stream[i], list->buffer + i * half, bytes, &got, error);
      if (status != GNN_OK) return status;
      if (got < bytes) return gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated: it ends before edge %s of %s", list->path, gnn_count_text(list->place.edges + (int64_t)(got / bytes)).text, gnn_count_text(all).text);
    }
    for (int64_t k = 0; k < wanted; k++) {
      const int64_t source = gnn_array_integer(&ends[0], list->is_pairs ? 2 * k : k), destination = list->is_pairs ? gnn_array_integer(&ends[0], 2 * k + 1) : gnn_array_integer(&ends[1], k);
      const gnn_status status = list_add(list, source, destination, &edges[*count], error);
      if (status != GNN_OK) return status;
      ++*count;
    }
  }
  return GNN_OK;
}

gnn_status gnn_edge_list_next(gnn_edge_list *list, gnn_edge *edges, int64_t room, int64_t *count, gnn_error *error) {
  *count = 0;
  return list->is_array ? list_array(list, edges, room, count, error) : list_text(list, edges, room, count, error);
}

gnn_status gnn_edge_list_seek(gnn_edge_list *list, const gnn_edge_place *place, gnn_error *error) {
  const int64_t width = gnn_dtype_bytes(list->array.dtype), all = list->array.count / 2;
  list->place = *place;
  list->begin = list->end = 0;
  list->is_last = 0;
  if (!list->is_array) return gnn_stream_seek(list->stream[0], place->bytes, error);
  gnn_status status = gnn_stream_seek(list->stream[0], list->offset + place->edges * width * (list->is_pairs ? 2 : 1), error);
  if (status == GNN_OK && !list->is_pairs) status = gnn_stream_seek(list->stream[1], list->offset + (all + place->edges) * width, error);
  return status;
}

/* ---- opening ---- */

static int list_is_numpy(const unsigned char *head, size_t size) { return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0; }

static int list_fits(const gnn_array *array) {
  return array->rank == 2 && (array->shape[0] == 2 || array->shape[1] == 2) && !gnn_dtype_is_float(array->dtype) && array->dtype != GNN_BOOL;
}

static gnn_status list_open_array(gnn_edge_list *list, size_t size, gnn_error *error) {
  int is_fortran;
  gnn_status status = gnn_npy_head(list->path, list->buffer, size, &list->array, &is_fortran, &list->offset, error);
  if (status != GNN_OK) return status;
  if (!list_fits(&list->array))
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" holds %s of %s; a list of edges is [2, edges] or [edges, 2] of whole numbers", list->path, gnn_shape_text(&list->array).text, gnn_dtype_name(list->array.dtype));
  list->is_array = 1;
  list->is_pairs = (list->array.shape[0] != 2) != is_fortran;
  int64_t taken, all;
  gnn_stream_progress(list->stream[0], &taken, &all);
  const int64_t need = list->offset + list->array.count * gnn_dtype_bytes(list->array.dtype);
  if (!gnn_stream_is_packed(list->stream[0]) && all != need)
    return gnn_fail(error, GNN_EDATA, "", "\"%s\" %s: %s of %s take %s bytes, %s are there", list->path, all < need ? "is truncated" : "is larger than it says", gnn_shape_text(&list->array).text,
                    gnn_dtype_name(list->array.dtype), gnn_count_text(need - list->offset).text, gnn_count_text(all - list->offset).text);
  if (!list->is_pairs) status = gnn_stream_open(list->path, &list->stream[1], error);
  return status;
}

static gnn_status list_begin(gnn_edge_list *list, gnn_error *error) {
  size_t size;
  gnn_status status = gnn_stream_open(list->path, &list->stream[0], error);
  if (status == GNN_OK) status = gnn_stream_read(list->stream[0], list->buffer, LIST_BUFFER_BYTES, &size, error);
  if (status != GNN_OK) return status;
  if (list_is_numpy(list->buffer, size)) status = list_open_array(list, size, error);
  else if (gnn_is_mtx(list->buffer, size)) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is a matrix as MatrixMarket text, no list of edges: mtx(\"%s\")", list->path, list->path);
  if (status != GNN_OK) return status;
  gnn_edge_place start = {.greatest = -1};
  if (list->is_array) return gnn_edge_list_seek(list, &start, error);
  status = gnn_text_mark(list->path, list->buffer, size, &list->begin, error);
  if (status != GNN_OK) return status;
  start.bytes = (int64_t)list->begin;
  list->place = start;
  list->end = size;
  list->is_last = size < LIST_BUFFER_BYTES;
  return GNN_OK;
}

gnn_status gnn_edge_list_open(const char *path, const gnn_edge_rules *rules, gnn_edge_list **out, gnn_error *error) {
  gnn_edge_list *list = calloc(1, sizeof *list);
  *out = NULL;
  if (list == NULL) return gnn_fail_memory(error, (int64_t)sizeof *list);
  list->rules = *rules;
  list->path = strdup(path);
  list->buffer = malloc(LIST_BUFFER_BYTES);
  const gnn_status status = list->path && list->buffer ? list_begin(list, error) : gnn_fail_memory(error, LIST_BUFFER_BYTES);
  if (status == GNN_OK) *out = list;
  else gnn_edge_list_close(list);
  return status;
}

static int list_ends_in(const char *path, size_t length, const char *ending) {
  const size_t tail = strlen(ending);
  return length > tail && memcmp(path + length - tail, ending, tail) == 0;
}

/* The length of a path without what says that it is packed, and without what says that it is a list: the same where nothing does. */
static size_t list_stem(const char *path, size_t *unpacked) {
  static const char *const endings[] = {".txt", ".tsv", ".csv", ".edges", ".edgelist", ".el", ".npy"};
  *unpacked = strlen(path);
  if (list_ends_in(path, *unpacked, ".gz")) *unpacked -= 3;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (list_ends_in(path, *unpacked, endings[i])) return *unpacked - strlen(endings[i]);
  return *unpacked;
}

/* As far as whole lines of the head tell: 1 and 0, -1 where they do not. */
static int list_looks(const char *head, size_t size) {
  int has_header = 0;
  for (const char *line = head, *end; line < head + size; line = end + 1) {
    int64_t number;
    end = memchr(line, '\n', (size_t)(head + size - line));
    if (end == NULL) return -1;
    if (memchr(line, 0, (size_t)(end - line))) return 0;
    if (list_says_nothing(line, end)) continue;
    if (!has_header && list_is_header(line, end)) {
      has_header = 1;
      continue;
    }
    const char *at = line;
    return list_number(&at, end, &number) && list_number(&at, end, &number);
  }
  return -1;
}

/* It has a letter, and is no number: 1e5 and 0-1 are mistakes. */
static int list_is_name(const char *word, size_t length) {
  char text[64];
  double number;
  int has_letter = 0;
  for (size_t i = 0; i < length; i++) has_letter |= (word[i] >= 'a' && word[i] <= 'z') || (word[i] >= 'A' && word[i] <= 'Z') || word[i] == '_' || (unsigned char)word[i] >= 0x80;
  if (!has_letter || length >= sizeof text) return has_letter;
  memcpy(text, word, length);
  text[length] = 0;
  return !gnn_parse_number(text, &number);
}

/* Whether nodes are called by names, from the first two lines that say something: 0: by numbers, or nothing tells. *has_header: the first has the names of columns. */
static int list_is_named(const char *head, size_t size, int *has_header) {
  const char *word[2];
  size_t length[2];
  int lines = 0;
  *has_header = 0;
  for (const char *line = head, *end; line < head + size && lines < 2; line = end + 1) {
    end = memchr(line, '\n', (size_t)(head + size - line));
    if (end == NULL) end = head + size;
    if (memchr(line, 0, (size_t)(end - line))) return 0;
    if (list_says_nothing(line, end)) continue;
    if (!list_words(line, end, word, length) || !(list_is_name(word[0], length[0]) || list_is_name(word[1], length[1]))) return 0;
    const int is_header = gnn_csv_is_end(word[0], length[0], 0) && gnn_csv_is_end(word[1], length[1], 1);
    if (is_header && lines) return 0;
    *has_header |= is_header;
    lines++;
  }
  return lines - *has_header > 0;
}

/* Two columns of a table without fields. */
static gnn_status list_read_names(gnn_dataset *dataset, const char *path, const gnn_edge_rules *rules, int has_header, gnn_error *error) {
  if (rules->base || rules->nodes >= 0)
    return gnn_fail(error, GNN_EINVAL, "", "\"%s\" calls nodes by names, and %s is of nodes that are numbers", path, rules->base ? "base" : "nodes");
  gnn_status status = gnn_edge_list_name(path, dataset, error);
  if (status == GNN_OK) status = gnn_read_csv(dataset, &(gnn_csv){.edges = path, .header = has_header, .node_count = -1}, error);
  dataset->kind = "a list of edges";
  if (status == GNN_OK) gnn_dataset_note(dataset, "nodes are called by names: %s, in the order in which they come", gnn_count_text(dataset->declared_nodes).text);
  return status;
}

static gnn_status list_first_line(const char *path, const char *head, size_t size, gnn_error *error) {
  int64_t number = 1;
  for (const char *line = head, *end; line < head + size; line = end + 1, number++) {
    end = memchr(line, '\n', (size_t)(head + size - line));
    if (end == NULL) end = head + size;
    if (!list_says_nothing(line, end)) return list_is_header(line, end) ? list_header(path, number, line, end, error) : GNN_OK;
  }
  return GNN_OK;
}

/* *is_done: it was a list of names. */
static gnn_status list_try_names(gnn_dataset *dataset, const char *path, const gnn_edge_rules *rules, int *is_done, gnn_error *error) {
  gnn_stream *stream;
  unsigned char *head = NULL;
  size_t size = 0, mark = 0;
  *is_done = 0;
  gnn_status status = gnn_stream_open(path, &stream, error);
  if (status == GNN_OK && (head = malloc(LIST_HEAD_BYTES)) == NULL) status = gnn_fail_memory(error, LIST_HEAD_BYTES);
  if (status == GNN_OK) status = gnn_stream_read(stream, head, LIST_HEAD_BYTES, &size, error);
  gnn_stream_close(stream);
  if (status == GNN_OK) status = gnn_text_mark(path, head, size, &mark, error);
  int has_header;
  if (status == GNN_OK && !list_is_numpy(head, size)) status = list_first_line(path, (const char *)head + mark, size - mark, error);
  if (status == GNN_OK && !list_is_numpy(head, size) && (*is_done = list_is_named((const char *)head + mark, size - mark, &has_header)) != 0)
    status = list_read_names(dataset, path, rules, has_header, error);
  free(head);
  return status;
}

static int list_is_like(const char *path, unsigned char *head, size_t size) {
  gnn_array array;
  int64_t offset;
  int is_fortran;
  if (list_is_numpy(head, size)) return gnn_npy_head(path, head, size, &array, &is_fortran, &offset, NULL) == GNN_OK && list_fits(&array);
  size_t unpacked, mark;
  if (gnn_text_mark(path, head, size, &mark, NULL) == GNN_OK) head += mark, size -= mark;
  if (size + mark < LIST_HEAD_BYTES) head[size++] = '\n';
  if (gnn_is_mtx(head, size)) return 0;
  const int looks = (size > 8 && head[8] == '{') || gnn_is_metis(path) ? 0 : list_looks((const char *)head, size);
  const int is_named = list_stem(path, &unpacked) < unpacked && !list_ends_in(path, unpacked, ".npy");
  return looks == 1 || (is_named && memchr(head, 0, size) == NULL) || (looks < 0 && head[0] == '#');
}

gnn_status gnn_is_edge_list(const char *path, int *is_list, gnn_error *error) {
  gnn_stream *stream;
  size_t size = 0;
  *is_list = 0;
  gnn_status status = gnn_stream_open(path, &stream, error);
  if (status != GNN_OK) return status;
  unsigned char *head = malloc(LIST_HEAD_BYTES + 1);
  status = head ? gnn_stream_read(stream, head, LIST_HEAD_BYTES, &size, error) : gnn_fail_memory(error, LIST_HEAD_BYTES);
  gnn_stream_close(stream);
  if (status == GNN_OK) *is_list = list_is_like(path, head, size);
  free(head);
  return status == GNN_EDATA ? GNN_OK : status; /* what is packed and damaged: its reader says so */
}

/* ---- data sets ---- */

void gnn_edge_list_notes(const gnn_edge_place *place, gnn_dataset *dataset) {
  if (place->header_line) gnn_dataset_note(dataset, "line %lld is taken as a header", (long long)place->header_line);
  if (place->wide_lines) gnn_dataset_note(dataset, "%s lines have more than two columns, which are not used; csv(edges = \"...\") reads them as fields of the edges", gnn_count_text(place->wide_lines).text);
  if (place->edges && place->least > 0)
    gnn_dataset_note(dataset, "the least id is %lld: nodes before it have no edge%s", (long long)place->least, place->least == 1 ? "; base = 1 counts from 1 (--base=1 of gnndata convert)" : "");
}

gnn_status gnn_edge_list_name(const char *path, gnn_dataset *dataset, gnn_error *error) {
  const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path;
  size_t unpacked, length = list_stem(begin, &unpacked);
  char *name = strndup(begin, length);
  if (name == NULL) return gnn_fail_memory(error, 256);
  const gnn_status status = gnn_dataset_set_name(dataset, name, error);
  free(name);
  return status;
}

static gnn_status list_grow(int32_t *ends[2], int64_t room, gnn_error *error) {
  for (int i = 0; i < 2; i++) {
    int32_t *more = realloc(ends[i], (size_t)room * sizeof *more);
    if (more == NULL) return gnn_fail_memory(error, room * (int64_t)sizeof *more);
    ends[i] = more;
  }
  return GNN_OK;
}

static gnn_status list_read(gnn_edge_list *list, int32_t *ends[2], gnn_error *error) {
  enum { AT_ONCE = 4096 };
  gnn_edge edges[AT_ONCE];
  int64_t count = AT_ONCE, room = 0, have = 0;
  gnn_status status = GNN_OK;
  while (status == GNN_OK && count == AT_ONCE) {
    status = gnn_edge_list_next(list, edges, AT_ONCE, &count, error);
    if (status == GNN_OK && have + count >= room) status = list_grow(ends, room = 2 * room + AT_ONCE, error);
    for (int64_t k = 0; status == GNN_OK && k < count; k++, have++) {
      ends[0][have] = edges[k].source;
      ends[1][have] = edges[k].destination;
    }
    if (status == GNN_OK && !list->is_array && gnn_stream_is_packed(list->stream[0]) && list->place.bytes > GNN_FILE_TEXT_MOST) {
      status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds more than %s of packed text", list->path, gnn_bytes_text(GNN_FILE_TEXT_MOST).text);
      gnn_fail_help(error, "gnndata convert --memory=SIZE takes lists of any length");
    }
  }
  return status;
}

gnn_status gnn_read_edge_list(gnn_dataset *dataset, const char *path, const gnn_edge_rules *rules, gnn_error *error) {
  gnn_edge_list *list;
  int32_t *ends[2] = {NULL, NULL};
  int is_done;
  dataset->kind = "a list of edges";
  gnn_status status = list_try_names(dataset, path, rules, &is_done, error);
  if (status != GNN_OK || is_done) return status;
  status = gnn_edge_list_open(path, rules, &list, error);
  if (status != GNN_OK) return status;
  status = list_read(list, ends, error);
  for (int i = 0; i < 2; i++) {
    const gnn_status owned = gnn_dataset_own(dataset, ends[i], error);
    if (status == GNN_OK) status = owned;
  }
  if (status == GNN_OK) status = gnn_edge_list_name(path, dataset, error);
  if (status == GNN_OK) {
    const int64_t edges = list->place.edges;
    dataset->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {edges}, .count = edges, .data = (const unsigned char *)ends[0]};
    dataset->raw_destination = dataset->raw_source;
    dataset->raw_destination.data = (const unsigned char *)ends[1];
    dataset->has_edges = 1;
    dataset->declared_nodes = rules->nodes;
    gnn_edge_list_notes(&list->place, dataset);
  }
  gnn_edge_list_close(list);
  return status;
}
