/* planetoid.c: the raw text of Cora and CiteSeer: NAME.content, a line a paper: id, word indicators, class; NAME.cites, a
 * line a citation: cited id, citing id (https://linqs.org/datasets). The text carries no split. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "readers.h"

typedef struct planetoid_word {
  const char *at;
  size_t length;
  int64_t number; /* of the paper, or of the class */
} planetoid_word;

/* The name before ".content", or NULL; malloc'ed. */
static char *planetoid_name(const char *path) {
  errno = 0;
  DIR *handle = opendir(path);
  if (handle == NULL) return NULL;
  char *name = NULL;
  const struct dirent *entry;
  while ((entry = readdir(handle)) != NULL) {
    size_t length = strlen(entry->d_name);
    if (length <= 8 || strcmp(entry->d_name + length - 8, ".content") != 0) continue;
    if (name && strcmp(name, entry->d_name) <= 0) continue;
    free(name);
    name = strdup(entry->d_name);
    if (name == NULL) break;
  }
  closedir(handle);
  if (name) name[strlen(name) - 8] = 0;
  return name;
}

int gnn_is_planetoid(const char *path) {
  char *name = planetoid_name(path);
  int is_one = name != NULL || errno == ENOMEM; /* reading says so */
  free(name);
  return is_one;
}

static int planetoid_compare(const void *a, const void *b) {
  const planetoid_word *x = a, *y = b;
  size_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->at, y->at, shorter);
  if (order) return order;
  return x->length < y->length ? -1 : x->length > y->length;
}

/* The next word of a line, or length 0 at its end; *at moves behind it. */
static planetoid_word planetoid_next(const char **at, const char *end) {
  while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r')) ++*at;
  planetoid_word word = {.at = *at};
  while (*at < end && **at != ' ' && **at != '\t' && **at != '\r' && **at != '\n') ++*at;
  word.length = (size_t)(*at - word.at);
  return word;
}

static const char *planetoid_line_end(const char *at, const char *end) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  return newline ? newline : end;
}

typedef struct planetoid_text {
  const char *path;
  const char *begin, *end;
  int64_t lines;
  gnn_error *error;
} planetoid_text;

static int64_t planetoid_count_lines(const char *begin, const char *end) {
  int64_t lines = 0;
  for (const char *at = begin; at < end;) {
    const char *stop = planetoid_line_end(at, end), *probe = at;
    lines += planetoid_next(&probe, stop).length > 0;
    at = stop + 1;
  }
  return lines;
}

static int planetoid_feature(planetoid_word word, float *value) {
  if (word.length == 1 && (*word.at == '0' || *word.at == '1')) {
    *value = (float)(*word.at - '0');
    return 1;
  }
  char copy[64];
  double number;
  if (word.length >= sizeof copy) return 0;
  memcpy(copy, word.at, word.length);
  copy[word.length] = 0;
  if (!gnn_parse_number(copy, &number)) return 0;
  *value = (float)number;
  return 1;
}

/* papers[] (sorted by id), x and the class words of a .content file; *width is found from the first line. */
static gnn_status planetoid_content(const planetoid_text *text, gnn_dataset *dataset, planetoid_word *papers,
                                    planetoid_word *classes, int64_t *width, float **x) {
  int64_t row = 0, line = 0;
  *width = -1;
  for (const char *at = text->begin; at < text->end;) {
    const char *stop = planetoid_line_end(at, text->end);
    planetoid_word id = planetoid_next(&at, stop), word, last = {0};
    line++;
    if (id.length > 0 && row < text->lines) { /* as many as were counted, whatever the file holds by now */
      if (*width < 0) {
        const char *probe = at;
        int64_t words = 0;
        while (planetoid_next(&probe, stop).length > 0) words++;
        *width = words - 1;
        if (*width < 1)
          return gnn_fail(text->error, GNN_EDATA, "", "\"%s\" line %lld: an id, features and a class are needed", text->path,
                          (long long)line);
        *x = gnn_dataset_alloc(dataset, text->lines, *width * (int64_t)sizeof **x, text->error);
        if (*x == NULL) return GNN_ENOMEM;
      }
      int64_t column = 0;
      while ((word = planetoid_next(&at, stop)).length > 0) {
        if (column < *width && !planetoid_feature(word, *x + row * *width + column))
          return gnn_fail(text->error, GNN_EDATA, "", "\"%s\" line %lld: \"%.*s\" is not a number", text->path, (long long)line,
                          (int)(word.length < 40 ? word.length : 40), word.at);
        last = word;
        column++;
      }
      if (column != *width + 1)
        return gnn_fail(text->error, GNN_EDATA, "", "\"%s\" line %lld has %lld features, line 1 has %lld", text->path,
                        (long long)line, (long long)column - 1, (long long)*width);
      papers[row] = id;
      papers[row].number = row;
      classes[row] = last;
      classes[row].number = row;
      row++;
    }
    at = stop + 1;
  }
  if (row < text->lines) return gnn_fail(text->error, GNN_EDATA, "", "\"%s\" has %lld lines, and had more before", text->path, (long long)row);
  qsort(papers, (size_t)row, sizeof *papers, planetoid_compare);
  for (int64_t i = 1; i < row; i++)
    if (planetoid_compare(&papers[i - 1], &papers[i]) == 0)
      return gnn_fail(text->error, GNN_EDATA, "", "\"%s\": paper %.*s is there twice", text->path,
                      (int)(papers[i].length < 60 ? papers[i].length : 60), papers[i].at);
  return GNN_OK;
}

static gnn_status planetoid_cites(const planetoid_text *text, gnn_dataset *dataset, const planetoid_word *papers,
                                  int64_t paper_count) {
  int32_t *arcs = gnn_dataset_alloc(dataset, 4 * text->lines, sizeof *arcs, text->error);
  if (arcs == NULL) return GNN_ENOMEM;
  int64_t count = 0, unknown = 0, line = 0, room = 2 * text->lines;
  for (const char *at = text->begin; at < text->end;) {
    const char *stop = planetoid_line_end(at, text->end);
    planetoid_word cited = planetoid_next(&at, stop), citing = planetoid_next(&at, stop);
    line++;
    if (cited.length > 0 && count < room) {
      if (citing.length == 0 || planetoid_next(&at, stop).length > 0)
        return gnn_fail(text->error, GNN_EDATA, "", "\"%s\" line %lld: two ids are needed", text->path, (long long)line);
      const planetoid_word *to = bsearch(&cited, papers, (size_t)paper_count, sizeof *papers, planetoid_compare);
      const planetoid_word *from = bsearch(&citing, papers, (size_t)paper_count, sizeof *papers, planetoid_compare);
      if (to && from) {
        arcs[count] = arcs[room + count + 1] = (int32_t)from->number;
        arcs[room + count] = arcs[count + 1] = (int32_t)to->number;
        count += 2;
      } else {
        unknown++;
      }
    }
    at = stop + 1;
  }
  dataset->raw_source =
    (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {count}, .count = count, .data = (const unsigned char *)arcs};
  dataset->raw_destination = dataset->raw_source;
  dataset->raw_destination.data = (const unsigned char *)(arcs + room);
  dataset->has_edges = 1;
  gnn_dataset_note(dataset, "%s citations are stored both ways, as is usual for these data", gnn_count_text(count / 2).text);
  if (unknown)
    gnn_dataset_note(dataset, "dropped %s citations of or by papers that have no line in .content", gnn_count_text(unknown).text);
  return GNN_OK;
}

/* Classes are numbered in the order of their names. */
static gnn_status planetoid_labels(gnn_dataset *dataset, planetoid_word *classes, int64_t count, gnn_error *error) {
  int32_t *label = gnn_dataset_alloc(dataset, count, sizeof *label, error);
  if (label == NULL) return GNN_ENOMEM;
  qsort(classes, (size_t)count, sizeof *classes, planetoid_compare);
  gnn_text names = {0};
  int32_t current = -1;
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || planetoid_compare(&classes[i - 1], &classes[i]) != 0) {
      current++;
      if (current < 12)
        gnn_text_format(&names, "%s%d %.*s", current ? ", " : "", current,
                        (int)(classes[i].length < 40 ? classes[i].length : 40), classes[i].at);
    }
    label[classes[i].number] = current;
  }
  if (names.is_broken) dataset->is_note_lost = 1;
  else if (names.data) gnn_dataset_note(dataset, "classes: %s%s", names.data, current >= 12 ? ", ..." : "");
  gnn_text_free(&names);
  gnn_array array = {.dtype = GNN_I32, .rank = 1, .shape = {count}, .count = count, .data = (const unsigned char *)label};
  gnn_status status = gnn_dataset_add_field(dataset, "y", GNN_NODE, &array, error);
  if (status == GNN_OK) dataset->fields[dataset->field_count - 1].declared_classes = current + 1;
  return status;
}

static gnn_status planetoid_open(const char *folder, const char *name, const char *ending, gnn_file *file, char **path,
                                 gnn_error *error) {
  gnn_text base = {0};
  gnn_text_format(&base, "%s%s", name, ending);
  *path = base.data ? gnn_path_join(folder, base.data) : NULL;
  gnn_text_free(&base);
  return *path ? gnn_file_open(*path, gnn_file_text, file, error) : gnn_fail_memory(error, 256);
}

static planetoid_text planetoid_view(const char *path, const gnn_file *file, gnn_error *error) {
  planetoid_text text = {.path = path, .begin = (const char *)file->data, .end = (const char *)file->data + file->size,
                         .error = error};
  text.lines = planetoid_count_lines(text.begin, text.end);
  return text;
}

gnn_status gnn_read_planetoid(gnn_dataset *dataset, const char *path, gnn_error *error) {
  gnn_file content = {0}, cites = {0};
  char *name = planetoid_name(path), *content_path = NULL, *cites_path = NULL;
  planetoid_word *papers = NULL, *classes = NULL;
  float *x = NULL;
  int64_t width = 0, count = 0;
  gnn_status status = name ? GNN_OK : errno == ENOMEM ? gnn_fail_memory(error, 0) : gnn_fail(error, GNN_EDATA, "", "\"%s\" holds no NAME.content", path);
  if (status == GNN_OK) status = gnn_dataset_set_name(dataset, name, error);
  if (status == GNN_OK) status = planetoid_open(path, name, ".content", &content, &content_path, error);
  if (status == GNN_OK) status = planetoid_open(path, name, ".cites", &cites, &cites_path, error);
  dataset->kind = "text: NAME.content and NAME.cites";
  if (status == GNN_OK) {
    planetoid_text text = planetoid_view(content_path, &content, error);
    count = text.lines;
    papers = malloc((size_t)(count + 1) * sizeof *papers);
    classes = malloc((size_t)(count + 1) * sizeof *classes);
    if (count == 0) status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is empty", content_path);
    else if (!papers || !classes) status = gnn_fail_memory(error, count * (int64_t)sizeof *papers);
    else status = planetoid_content(&text, dataset, papers, classes, &width, &x);
  }
  if (status == GNN_OK) {
    planetoid_text text = planetoid_view(cites_path, &cites, error);
    status = planetoid_cites(&text, dataset, papers, count);
  }
  if (status == GNN_OK) {
    gnn_array array = {.dtype = GNN_F32, .rank = 2, .shape = {count, width}, .count = count * width,
                       .data = (const unsigned char *)x};
    dataset->declared_nodes = count;
    status = gnn_dataset_add_field(dataset, "x", GNN_NODE, &array, error);
  }
  if (status == GNN_OK) status = planetoid_labels(dataset, classes, count, error);
  status = gnn_file_check(&content, gnn_file_check(&cites, status, error), error);
  free(papers);
  free(classes);
  free(name);
  free(content_path);
  free(cites_path);
  gnn_file_close(&content);
  gnn_file_close(&cites);
  return status;
}
