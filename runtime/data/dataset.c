/* dataset.c: opening data sets, and the memory that holds them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "dataset.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "dgl.h"
#include "edge_list.h"
#include "igb.h"
#include "names.h"
#include "ogb.h"
#include "readers.h"
#include "source_text.h"
#include "runtime/base/checked.h"

const char *const gnn_split_names[GNN_SPLIT_COUNT] = {"train", "valid", "test"};
const char *const gnn_synth_names[GNN_SYNTH_KINDS] = {"sbm", "rmat", "er", "grid", "molecules"};

static char *dataset_copy(const char *text) {
  size_t room = strlen(text) + 1;
  char *copy = malloc(room);
  if (copy) memcpy(copy, text, room);
  return copy;
}

gnn_dataset *gnn_dataset_new(const char *title) {
  gnn_dataset *dataset = calloc(1, sizeof *dataset);
  if (dataset == NULL) return NULL;
  dataset->title = dataset_copy(title);
  dataset->name = dataset_copy(title);
  dataset->declared_nodes = dataset->declared_graphs = -1;
  dataset->label_field = dataset->split_type = -1;
  if (dataset->title && dataset->name) return dataset;
  gnn_dataset_close(dataset);
  return NULL;
}

void gnn_dataset_close(gnn_dataset *dataset) {
  if (dataset == NULL) return;
  for (int i = 0; i < dataset->owned_count; i++) free(dataset->owned[i].memory);
  for (int i = 0; i < dataset->file_count; i++) gnn_file_close(&dataset->files[i]);
  free(dataset->owned);
  free(dataset->files);
  free(dataset->fields);
  free(dataset->types);
  free(dataset->relations);
  free(dataset->notes);
  free(dataset->name);
  free(dataset->title);
  free(dataset);
}

gnn_status gnn_dataset_set_name(gnn_dataset *dataset, const char *name, gnn_error *error) {
  char *copy = dataset_copy(name);
  if (copy == NULL) return gnn_fail_memory(error, 64);
  free(dataset->name);
  dataset->name = copy;
  return GNN_OK;
}

/* Room for one more item in an array that doubles. */
static int dataset_grow(void **items, int count, int *capacity, size_t item_bytes) {
  if (count < *capacity) return 1;
  int wanted = *capacity ? *capacity * 2 : 16;
  void *more = realloc(*items, (size_t)wanted * item_bytes);
  if (more == NULL) return 0;
  *items = more;
  *capacity = wanted;
  return 1;
}

void *gnn_dataset_alloc(gnn_dataset *dataset, int64_t count, int64_t item_bytes, gnn_error *error) {
  int64_t bytes;
  if (count < 0 || item_bytes < 0 || !gnn_multiply_fits(count, item_bytes, &bytes)) {
    gnn_fail(error, GNN_ENOMEM, "", "%s needs more memory than there can be", dataset->title);
    return NULL;
  }
  void *items = dataset->owned;
  int has_room = dataset_grow(&items, dataset->owned_count, &dataset->owned_capacity, sizeof *dataset->owned);
  dataset->owned = items;
  void *data = has_room ? malloc(bytes ? (size_t)bytes : 1) : NULL;
  if (data == NULL) {
    gnn_fail_memory(error, bytes);
    return NULL;
  }
  dataset->owned[dataset->owned_count++] = (struct gnn_owned){data, bytes};
  return data;
}

gnn_status gnn_dataset_own(gnn_dataset *dataset, void *memory, gnn_error *error) {
  void *items = dataset->owned;
  int has_room = dataset_grow(&items, dataset->owned_count, &dataset->owned_capacity, sizeof *dataset->owned);
  dataset->owned = items;
  if (has_room) dataset->owned[dataset->owned_count++] = (struct gnn_owned){memory, -1};
  else free(memory);
  return has_room ? GNN_OK : gnn_fail_memory(error, (int64_t)sizeof memory);
}

gnn_status gnn_dataset_own_file(gnn_dataset *dataset, gnn_file *file, gnn_error *error) {
  void *items = dataset->files;
  int has_room = dataset_grow(&items, dataset->file_count, &dataset->file_capacity, sizeof *dataset->files);
  dataset->files = items;
  if (!has_room) {
    gnn_file_close(file);
    return gnn_fail_memory(error, (int64_t)sizeof *file);
  }
  dataset->files[dataset->file_count++] = *file;
  memset(file, 0, sizeof *file);
  return GNN_OK;
}

static int dataset_is_within(const void *data, const unsigned char *begin, int64_t bytes) {
  return data && (uintptr_t)data >= (uintptr_t)begin && (uintptr_t)data < (uintptr_t)begin + (uint64_t)bytes;
}

/* Anything but the raw edges. */
static int dataset_has_else_in(const gnn_dataset *d, const unsigned char *begin, int64_t bytes) {
  const void *const single[] = {d->raw_row_ptr.data, d->raw_graph_ptr.data, d->raw_fold.data, d->node_name, d->node_name_at};
  int found = 0;
  for (size_t i = 0; i < sizeof single / sizeof *single; i++) found |= dataset_is_within(single[i], begin, bytes);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const void *const of_split[] = {d->raw_split[s].data, d->raw_splits[s].data, d->raw_pairs[s].data, d->raw_pair_label[s].data};
    for (size_t i = 0; i < sizeof of_split / sizeof *of_split; i++) found |= dataset_is_within(of_split[i], begin, bytes);
  }
  for (int f = 0; f < d->field_count; f++) {
    const gnn_data_field *field = &d->fields[f];
    found |= dataset_is_within(field->raw.data, begin, bytes) || dataset_is_within(field->raw_ptr.data, begin, bytes) || dataset_is_within(field->raw_column.data, begin, bytes);
  }
  for (int r = 0; r < d->relation_count; r++)
    found |= dataset_is_within(d->relations[r].raw_source.data, begin, bytes) || dataset_is_within(d->relations[r].raw_destination.data, begin, bytes);
  return found;
}

static int dataset_drop(gnn_dataset *dataset, const unsigned char *begin, int64_t bytes) {
  gnn_array *const ends[] = {&dataset->raw_source, &dataset->raw_destination};
  int is_theirs = 0;
  for (int i = 0; i < 2; i++) is_theirs |= dataset_is_within(ends[i]->data, begin, bytes);
  if (!is_theirs || dataset_has_else_in(dataset, begin, bytes)) return 0;
  for (int i = 0; i < 2; i++)
    if (dataset_is_within(ends[i]->data, begin, bytes)) ends[i]->data = NULL;
  return 1;
}

gnn_status gnn_dataset_drop_edges(gnn_dataset *dataset, gnn_status status, gnn_error *error) {
  for (int i = 0; i < dataset->owned_count; i++) {
    struct gnn_owned *owned = &dataset->owned[i];
    if (owned->memory == NULL || !dataset_drop(dataset, owned->memory, owned->bytes < 0 ? 1 : owned->bytes)) continue;
    free(owned->memory);
    *owned = dataset->owned[--dataset->owned_count];
    i--;
  }
  for (int i = 0; i < dataset->file_count; i++) {
    gnn_file *file = &dataset->files[i];
    if (file->size == 0 || !dataset_drop(dataset, file->data, (int64_t)file->size)) continue;
    status = gnn_file_check(file, status, error);
    gnn_file_close(file);
    *file = dataset->files[--dataset->file_count];
    i--;
  }
  return status;
}

static gnn_note *dataset_new_note(gnn_dataset *dataset) {
  gnn_note *notes = realloc(dataset->notes, (size_t)(dataset->note_count + 1) * sizeof *notes);
  if (notes == NULL) {
    dataset->is_note_lost = 1;
    return NULL;
  }
  dataset->notes = notes;
  gnn_note *note = &notes[dataset->note_count++];
  memset(note, 0, sizeof *note);
  return note;
}

void gnn_dataset_note(gnn_dataset *dataset, const char *format, ...) {
  gnn_note *note = dataset_new_note(dataset);
  if (note == NULL) return;
  va_list args;
  va_start(args, format);
  vsnprintf(note->text, sizeof note->text, format, args);
  va_end(args);
  gnn_text_tame(note->text, 0);
}

void gnn_dataset_advise(gnn_dataset *dataset, const char *text) {
  const int before = dataset->note_count;
  gnn_dataset_note(dataset, "%s", text);
  if (dataset->note_count > before) dataset->notes[before].is_advice = 1;
}

void gnn_dataset_warn(gnn_dataset *dataset, const char *code, const char *name, const char *help, const char *format,
                      ...) {
  gnn_note *note = dataset_new_note(dataset);
  if (note == NULL) return;
  snprintf(note->code, sizeof note->code, "%s", code);
  snprintf(note->name, sizeof note->name, "%s", name);
  snprintf(note->help, sizeof note->help, "%s", help);
  va_list args;
  va_start(args, format);
  vsnprintf(note->text, sizeof note->text, format, args);
  va_end(args);
  gnn_text_tame(note->text, 0);
}

gnn_status gnn_dataset_check_files(const gnn_dataset *dataset, gnn_status status, gnn_error *error) {
  for (int i = 0; i < dataset->file_count; i++) status = gnn_file_check(&dataset->files[i], status, error);
  return status;
}

const gnn_file *gnn_dataset_file_of(const gnn_dataset *dataset, const gnn_data_field *field, int64_t *at) {
  const uintptr_t first = (uintptr_t)field->dense, bytes = (uintptr_t)(field->rows * field->width) * sizeof(float);
  if (field->storage != GNN_DENSE || field->domain != GNN_NODE || field->divisor || dataset->node_id || dataset->graphs > 1) return NULL;
  for (int i = 0; i < dataset->file_count; i++) {
    const gnn_file *file = &dataset->files[i];
    const uintptr_t begin = (uintptr_t)file->data;
    if (file->guard == NULL || file->is_made || first < begin || first - begin > file->size || bytes > file->size - (first - begin)) continue;
    *at = (int64_t)(first - begin);
    return file;
  }
  return NULL;
}

/* A part of a name; what has no letter stays, and no program reads it. */
static void dataset_make_name(const char *given, char *name, size_t room) {
  gnn_make_name(given, name, room);
  if (name[0] == 0) snprintf(name, room, "%.*s", (int)room - 1, given);
}

static gnn_status dataset_new_field(gnn_dataset *dataset, const char *given, gnn_data_field **field, gnn_error *error) {
  *field = NULL;
  const char *dot = strchr(given, '.');
  char type[64], rest[64], name[sizeof type + sizeof rest];
  dataset_make_name(dot ? dot + 1 : given, rest, sizeof rest);
  snprintf(name, sizeof name, "%.*s", dot ? (int)(dot - given) : 0, given);
  dataset_make_name(name, type, sizeof type);
  snprintf(name, sizeof name, dot ? "%s.%s" : "%s%s", type, rest);
  const size_t length = strlen(name);
  if (given[0] == 0 || strlen(given) >= sizeof dataset->fields->name || length >= sizeof dataset->fields->name)
    return gnn_fail(error, GNN_EDATA, "", "%s: a field name must have 1 to %d characters: \"%.80s\"", dataset->title,
                    (int)sizeof dataset->fields->name - 1, given);
  if (strcmp(name, given) != 0) gnn_dataset_note(dataset, "\"%s\" is the field %s", given, name);
  for (int i = 0; i < dataset->field_count; i++) {
    if (strcmp(dataset->fields[i].name, name) != 0) continue;
    gnn_fail(error, GNN_EDATA, "", "%s has two fields \"%s\"", dataset->title, name);
    gnn_fail_help(error, "fields of nodes and of edges share their names: rename one, as a column of a table, or declare in the data block only the one that is wanted");
    return GNN_EDATA;
  }
  gnn_data_field *fields = realloc(dataset->fields, (size_t)(dataset->field_count + 1) * sizeof *fields);
  if (fields == NULL) return gnn_fail_memory(error, (int64_t)sizeof *fields);
  dataset->fields = fields;
  *field = &fields[dataset->field_count++];
  memset(*field, 0, sizeof **field);
  memcpy((*field)->name, name, length + 1);
  (*field)->declared_classes = -1;
  (*field)->nonzeros = -1;
  return GNN_OK;
}

gnn_status gnn_dataset_add_field(gnn_dataset *dataset, const char *name, gnn_domain domain, const gnn_array *array,
                                 gnn_error *error) {
  gnn_data_field *field;
  gnn_status status = dataset_new_field(dataset, name, &field, error);
  if (status != GNN_OK) return status;
  field->domain = domain;
  field->raw = *array;
  return GNN_OK;
}

gnn_status gnn_dataset_add_sparse(gnn_dataset *dataset, const char *name, int64_t width, const gnn_array *ptr,
                                  const gnn_array *column, const gnn_array *value, gnn_error *error) {
  gnn_data_field *field;
  gnn_status status = dataset_new_field(dataset, name, &field, error);
  if (status != GNN_OK) return status;
  field->domain = GNN_NODE;
  field->is_raw_sparse = 1;
  field->raw_width = width;
  field->raw_ptr = *ptr;
  field->raw_column = *column;
  if (value) field->raw = *value;
  return GNN_OK;
}

const gnn_data_relation *gnn_dataset_relation(const gnn_dataset *dataset, const char *name) {
  for (int i = 0; i < dataset->relation_count; i++)
    if (strcmp(dataset->relations[i].name, name) == 0) return &dataset->relations[i];
  return NULL;
}

int gnn_dataset_has_plain_edges(const gnn_dataset *dataset) { return *dataset->node_type == 0 || dataset->edges > 0; }

int64_t gnn_dataset_rows(const gnn_dataset *dataset, int set) {
  return set == 0 ? dataset->nodes : set == 1 ? dataset->graphs : dataset->types[set - 2].nodes;
}

const gnn_data_field *gnn_dataset_field(const gnn_dataset *dataset, const char *name) {
  for (int i = 0; i < dataset->field_count; i++)
    if (strcmp(dataset->fields[i].name, name) == 0) return &dataset->fields[i];
  return NULL;
}

/* ---- which reader ---- */

static const gnn_source_arg *dataset_arg(const gnn_source *source, const char *key) {
  for (int i = 0; i < source->arg_count; i++) {
    const char *name = source->args[i].key ? source->args[i].key : "";
    if (strcmp(name, key) == 0) return &source->args[i];
  }
  return NULL;
}

static gnn_status dataset_unknown_arg(const gnn_source *source, const char *const *known, int known_count,
                                      gnn_error *error) {
  for (int i = 0; i < source->arg_count; i++) {
    const char *key = source->args[i].key ? source->args[i].key : "";
    int is_known = key[0] == 0;
    for (int k = 0; k < known_count; k++) is_known |= strcmp(key, known[k]) == 0;
    if (is_known) continue;
    const char *near = gnn_nearest(key, known, known_count);
    return gnn_fail(error, GNN_EINVAL, "E0204", "%s has no argument \"%s\"%s%s%s", source->kind, key,
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  }
  return GNN_OK;
}

static gnn_status dataset_open_synth(const gnn_source *source, gnn_dataset *dataset, gnn_error *error) {
  static const char *const known[] = {"kind", "nodes", "degree", "features", "classes", "seed", "sparse"};
  gnn_synth synth = {.kind = GNN_SYNTH_SBM, .nodes = 1000, .features = 32, .classes = 4, .degree = 8};
  gnn_status status = dataset_unknown_arg(source, known, 7, error);
  if (status != GNN_OK) return status;
  for (int i = 0; i < source->arg_count; i++) {
    const gnn_source_arg *arg = &source->args[i];
    const char *key = arg->key && arg->key[0] ? arg->key : "kind";
    if (strcmp(key, "kind") == 0) {
      int found = -1;
      for (int k = 0; arg->text && k < GNN_SYNTH_KINDS; k++)
        if (strcmp(gnn_synth_names[k], arg->text) == 0) found = k;
      if (found < 0)
        return gnn_fail(error, GNN_EINVAL, "E0205", "unknown kind of synthetic graph \"%s\" (known: sbm, rmat, er, grid, molecules)",
                        arg->text ? arg->text : "");
      synth.kind = (gnn_synth_kind)found;
      continue;
    }
    double v = arg->number;
    if (arg->text || !(v >= 0) || v > 9e15 || (strcmp(key, "degree") != 0 && v != (double)(int64_t)v))
      return gnn_fail(error, GNN_EINVAL, "", "synth: \"%s\" must be a whole number of at least 0", key);
    if (strcmp(key, "nodes") == 0) synth.nodes = (int64_t)v;
    else if (strcmp(key, "degree") == 0) synth.degree = v;
    else if (strcmp(key, "features") == 0) synth.features = (int64_t)v;
    else if (strcmp(key, "classes") == 0) synth.classes = (int64_t)v;
    else if (strcmp(key, "seed") == 0) synth.seed = (uint64_t)v;
    else synth.is_sparse = v != 0;
  }
  return gnn_read_synth(dataset, &synth, error);
}

static gnn_status dataset_open_edges(const gnn_source *source, const char *path, gnn_dataset *dataset, gnn_error *error) {
  static const char *const known[] = {"base", "nodes"};
  gnn_edge_rules rules = {.nodes = -1};
  gnn_status status = dataset_unknown_arg(source, known, 2, error);
  if (status != GNN_OK) return status;
  for (int i = 0; i < source->arg_count; i++) {
    const gnn_source_arg *arg = &source->args[i];
    const int is_base = arg->key && strcmp(arg->key, "base") == 0;
    if (arg->key == NULL || arg->key[0] == 0) continue;
    if (arg->text || arg->number != (double)(int64_t)arg->number || arg->number < 0 || arg->number >= (is_base ? 2 : INT32_MAX))
      return gnn_fail(error, GNN_EINVAL, "", is_base ? "edges: \"base\" is 0 or 1" : "edges: \"nodes\" is a whole number below 2^31 - 1");
    if (is_base) rules.base = (int)arg->number;
    else rules.nodes = (int64_t)arg->number;
  }
  return gnn_read_edge_list(dataset, path, &rules, error);
}

static gnn_status dataset_open_ogb(const gnn_source *source, const char *path, gnn_dataset *dataset, gnn_error *error) {
  static const char *const known[] = {"split", "inverse"};
  const gnn_source_arg *split = dataset_arg(source, "split"), *inverse = dataset_arg(source, "inverse");
  gnn_status status = dataset_unknown_arg(source, known, 2, error);
  if (status == GNN_OK && split && !split->text) status = gnn_fail(error, GNN_EINVAL, "", "ogb: \"split\" is the name of a folder, in quotes");
  if (status == GNN_OK && inverse && inverse->text) status = gnn_fail(error, GNN_EINVAL, "", "ogb: \"inverse\" is true or false");
  return status == GNN_OK ? gnn_read_ogb(dataset, path, split ? split->text : NULL, inverse ? inverse->number != 0 : -1, error) : status;
}

/* igb("dir", "small"): the second text is the size. */
static gnn_status dataset_open_igb(const gnn_source *source, const char *path, gnn_dataset *dataset, gnn_error *error) {
  static const char *const known[] = {"size", "classes"};
  const char *size = NULL;
  int classes = 19, texts = 0;
  gnn_status status = dataset_unknown_arg(source, known, 2, error);
  for (int i = 0; status == GNN_OK && i < source->arg_count; i++) {
    const gnn_source_arg *arg = &source->args[i];
    const char *key = arg->key ? arg->key : "";
    if (strcmp(key, "classes") == 0) {
      classes = (int)arg->number;
      if (arg->text || (classes != 19 && classes != 2983)) status = gnn_fail(error, GNN_EINVAL, "", "igb: \"classes\" is 19 or 2983");
    } else if (arg->text == NULL) status = gnn_fail(error, GNN_EINVAL, "", "igb needs a folder and perhaps a size: igb(\"dir\", \"small\")");
    else if (key[0] || texts++ == 1) size = arg->text;
  }
  return status == GNN_OK ? gnn_read_igb(dataset, path, size, classes, error) : status;
}

static gnn_status dataset_csv_arg(const gnn_source_arg *arg, gnn_csv *csv, gnn_error *error) {
  static const char *const texts[] = {"src", "dst", "id"};
  const char **const places[] = {&csv->src, &csv->dst, &csv->id};
  const char *key = arg->key ? arg->key : "";
  for (int i = 0; i < 3; i++)
    if (strcmp(key, texts[i]) == 0) {
      *places[i] = arg->text;
      return arg->text ? GNN_OK : gnn_fail(error, GNN_EINVAL, "", "csv: \"%s\" is the name of a column, in quotes", key);
    }
  if (strcmp(key, "separator") == 0) {
    csv->separator = arg->text && strlen(arg->text) == 1 ? arg->text[0] : 0;
    return csv->separator && csv->separator != '"' ? GNN_OK : gnn_fail(error, GNN_EINVAL, "", "csv: \"separator\" is one character, in quotes");
  }
  if (strcmp(key, "header") == 0) {
    csv->header = arg->number != 0;
    return arg->text ? gnn_fail(error, GNN_EINVAL, "", "csv: \"header\" is true or false") : GNN_OK;
  }
  if (strcmp(key, "base") == 0) {
    csv->base = arg->number == 1;
    return arg->text || (arg->number != 0 && arg->number != 1) ? gnn_fail(error, GNN_EINVAL, "", "csv: \"base\" is 0 or 1") : GNN_OK;
  }
  if (strcmp(key, "nodes") == 0 && !arg->text) {
    csv->node_count = (int64_t)arg->number;
    return arg->number != (double)(int64_t)arg->number || arg->number < 0 || arg->number >= INT32_MAX
             ? gnn_fail(error, GNN_EINVAL, "", "csv: \"nodes\" is the file of the nodes, or a whole number of them below 2^31 - 1") : GNN_OK;
  }
  return GNN_OK;
}

/* layout: of programs that gnncc made, which has read it for them. */
static gnn_status dataset_open_dgl(const gnn_source *source, const char *path, gnn_dataset *dataset, gnn_error *error) {
  static const char *const known[] = {"layout"};
  const gnn_source_arg *layout = dataset_arg(source, "layout");
  const gnn_status status = dataset_unknown_arg(source, known, 1, error);
  return status == GNN_OK ? gnn_read_dgl(dataset, path, layout ? layout->text : NULL, error) : status;
}

static gnn_status dataset_open_csv(const gnn_source *source, const char *base_dir, gnn_dataset *dataset, gnn_error *error) {
  static const char *const known[] = {"edges", "nodes", "src", "dst", "id", "header", "base", "separator", "node", "edge"}; /* the last two: fields that are declared */
  gnn_csv csv = {.header = -1, .node_count = -1, .wanted_nodes = -1, .wanted_edges = -1};
  const char **wanted = calloc(2 * (size_t)source->arg_count + 1, sizeof *wanted);
  char *paths[2] = {NULL, NULL};
  gnn_status status = wanted ? dataset_unknown_arg(source, known, 10, error) : gnn_fail_memory(error, 256);
  for (int i = 0; status == GNN_OK && i < source->arg_count; i++) {
    const gnn_source_arg *arg = &source->args[i];
    const char *key = arg->key ? arg->key : "";
    const int is_node = strcmp(key, "node") == 0, is_edge = strcmp(key, "edge") == 0, is_edges = key[0] == 0 || strcmp(key, "edges") == 0;
    if (is_node || is_edge) {
      if (csv.wanted_nodes < 0) csv.wanted_nodes = csv.wanted_edges = 0;
      if (arg->text && arg->text[0]) wanted[is_node ? csv.wanted_nodes++ : source->arg_count + csv.wanted_edges++] = arg->text;
    } else if (arg->text && (is_edges || strcmp(key, "nodes") == 0)) {
      char **path = &paths[!is_edges];
      free(*path);
      *path = gnn_path_join(base_dir, arg->text);
      if (*path == NULL) status = gnn_fail_memory(error, 256);
    } else {
      status = dataset_csv_arg(arg, &csv, error);
    }
  }
  csv.edges = paths[0];
  csv.nodes = paths[1];
  csv.node_columns = wanted;
  csv.edge_columns = wanted ? wanted + source->arg_count : NULL;
  if (status == GNN_OK && csv.edges == NULL) status = gnn_fail(error, GNN_EINVAL, "", "csv needs the table of the edges: csv(edges = \"e.csv\", nodes = \"n.csv\")");
  if (status == GNN_OK) status = gnn_edge_list_name(csv.edges, dataset, error);
  if (status == GNN_OK) status = gnn_read_csv(dataset, &csv, error);
  free(wanted);
  free(paths[0]);
  free(paths[1]);
  return status;
}

/* Enough to tell the forms from each other. */
static int64_t dataset_promise(const unsigned char *head, size_t size) {
  (void)head;
  return size < 17 ? 17 : -1;
}

/* A set that is called after its file: "web" of "x/web.mtx.gz". */
static gnn_status dataset_named(gnn_dataset *dataset, const char *path, gnn_status (*read)(gnn_dataset *, const char *, gnn_error *), gnn_error *error) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t length = strlen(name);
  if (length > 3 && strcmp(name + length - 3, ".gz") == 0) length -= 3;
  for (size_t k = length; k-- > 1;)
    if (name[k] == '.') {
      length = k;
      break;
    }
  char *stem = strndup(name, length);
  gnn_status status = stem ? gnn_dataset_set_name(dataset, stem, error) : gnn_fail_memory(error, 256);
  free(stem);
  return status == GNN_OK ? read(dataset, path, error) : status;
}

static gnn_status dataset_open_file(gnn_dataset *dataset, const char *path, gnn_error *error) {
  if (gnn_path_is_directory(path)) {
    if (gnn_is_npy_folder(path)) return gnn_read_npy_folder(dataset, path, error);
    if (gnn_is_planetoid(path)) return gnn_read_planetoid(dataset, path, error);
    if (gnn_is_tu(path)) return gnn_read_tu(dataset, path, error);
    if (gnn_is_igb(path)) return gnn_read_igb(dataset, path, NULL, 19, error);
    if (gnn_is_dgl(path)) return gnn_read_dgl(dataset, path, NULL, error);
    if (gnn_is_ogb(path) || gnn_is_part_of_ogb(path)) return gnn_read_ogb(dataset, path, NULL, -1, error);
    if (gnn_has_npy(path)) return gnn_read_npy_folder(dataset, path, error); /* of other names, or an error that lists them */
    gnn_status status = gnn_fail(error, GNN_EDATA, "", "the folder \"%s\" holds no data set gnncc knows", path);
    gnn_fail_help(error, "it should hold edge_index.npy (and x.npy, y.npy, ...), NAME.content and NAME.cites, NAME_A.txt and NAME_graph_indicator.txt, raw and split of OGB, processed of IGB, or meta.yaml or metadata.yaml of DGL");
    return status;
  }
  gnn_file file;
  gnn_status status = gnn_file_open(path, dataset_promise, &file, error);
  if (status != GNN_OK) return status;
  int is_numpy = file.size >= 6 && memcmp(file.data, "\x93NUMPY", 6) == 0;
  int is_zip = file.size >= 4 && memcmp(file.data, "PK\3\4", 4) == 0;
  int is_dgl = file.size >= 8 && memcmp(file.data, "\x3f\xa1\xb4\x46\xf0\x4f\x2e\xdd", 8) == 0; /* kDGLSerializeMagic of DGL's graph_serialize.h */
  int is_container = file.size >= 9 && file.data[8] == '{', is_matrix = gnn_is_mtx(file.data, file.size);
  static const struct { const char *begins, *what, *help; } others[] = {
      {"PAR1", "a Parquet table", "read it in Python and write tables, which csv(edges = \"e.csv\", nodes = \"n.csv\") reads"},
      {"\x89HDF", "an HDF5 file", "read it in Python and write arrays by numpy.savez, which npz(\"f.npz\") reads"},
      {"\x80\x02", "a pickle, which is never read", "share/gnncc/to_gnncc.py makes a folder of arrays of what torch.save wrote"},
      {"\x80\x04", "a pickle, which is never read", "share/gnncc/to_gnncc.py makes a folder of arrays of what torch.save wrote"}};
  enum { OTHERS = sizeof others / sizeof *others };
  int other = 0;
  while (other < OTHERS && !(file.size >= 4 && memcmp(file.data, others[other].begins, strlen(others[other].begins)) == 0)) other++;
  size_t size = file.size;
  gnn_file_close(&file);
  if (other < OTHERS && !is_container) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is %s", path, others[other].what);
    gnn_fail_help(error, "%s", others[other].help);
    return status;
  }
  if (is_dgl) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is what dgl.save_graphs writes, which only DGL reads", path);
    gnn_fail_help(error, "share/gnncc/to_gnncc.py makes a folder of arrays of it");
    return status;
  }
  if (is_container) return gnn_read_container(dataset, path, error);
  if (is_matrix) return dataset_named(dataset, path, gnn_read_mtx, error);
  if (!is_numpy && !is_zip && gnn_is_metis(path)) return dataset_named(dataset, path, gnn_read_metis, error);
  int is_list;
  status = gnn_is_edge_list(path, &is_list, error);
  if (status != GNN_OK) return status;
  if (is_list) return gnn_read_edge_list(dataset, path, &(gnn_edge_rules){.nodes = -1}, error);
  if (is_zip) return dataset_named(dataset, path, gnn_read_npz, error);
  if (is_numpy) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is a single NumPy array, not a data set", path);
    gnn_fail_help(error, "name the folder that holds edge_index.npy, x.npy, y.npy");
  } else if (size < 9) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" holds %d bytes only; no data set is that short", path, (int)size);
  } else {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is in no form that gnncc reads", path);
    gnn_fail_help(error, "known: safetensors, npz, lists of edges, MatrixMarket (.mtx), METIS (.graph), tables as csv(edges = \"e.csv\", nodes = \"n.csv\"); folders of .npy files, with NAME.content and NAME.cites, "
                         "of TU, OGB, IGB and DGL");
  }
  return status;
}

static gnn_status dataset_finish_open(gnn_status status, gnn_dataset *dataset, gnn_dataset **out, gnn_error *error) {
  if (status == GNN_OK && dataset->is_note_lost) status = gnn_fail_memory(error, 0);
  if (status == GNN_OK) *out = dataset;
  else gnn_dataset_close(dataset);
  return status;
}

gnn_status gnn_dataset_open_path(const char *path, gnn_dataset **out, gnn_error *error) {
  *out = NULL;
  if (!gnn_path_exists(path) && gnn_is_source_text(path)) {
    gnn_source_text parsed;
    gnn_status parse = gnn_source_parse(path, &parsed, error);
    if (parse != GNN_OK) return parse;
    parse = gnn_dataset_open(&parsed.source, NULL, out, error);
    gnn_source_free(&parsed);
    return parse;
  }
  gnn_dataset *dataset = gnn_dataset_new(path);
  if (dataset == NULL) return gnn_fail_memory(error, (int64_t)sizeof *dataset);
  gnn_status status = strcmp(path, "karate") == 0 && !gnn_path_exists(path) ? gnn_read_karate(dataset, error)
                                                                           : dataset_open_file(dataset, path, error);
  return dataset_finish_open(status, dataset, out, error);
}

/* Those of a path come first. */
enum { DATASET_PATH_KINDS = 12 };
static const char *const dataset_kinds[] = {"npy", "planetoid", "safetensors", "file", "tu", "edges", "npz", "mtx", "metis", "ogb", "igb", "dgl", "csv", "synth", "karate"};

static gnn_status dataset_unknown_source(const char *kind, gnn_error *error) {
  const int count = sizeof dataset_kinds / sizeof *dataset_kinds;
  const char *near = gnn_nearest(kind, dataset_kinds, count);
  char list[200];
  size_t used = 0;
  for (int i = 0; i < count; i++) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", dataset_kinds[i]);
  return gnn_fail(error, GNN_EINVAL, "E0216", "unknown data source \"%s\"%s%s%s (known: %s)", kind, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", list);
}

gnn_status gnn_dataset_open(const gnn_source *source, const char *base_dir, gnn_dataset **out, gnn_error *error) {
  *out = NULL;
  int is_path = 0;
  for (size_t i = 0; i < DATASET_PATH_KINDS; i++) is_path |= strcmp(source->kind, dataset_kinds[i]) == 0;
  const gnn_source_arg *arg = dataset_arg(source, "");
  if (is_path && (arg == NULL || arg->text == NULL))
    return gnn_fail(error, GNN_EINVAL, "", "%s needs a path: %s(\"data\")", source->kind, source->kind);
  if (strcmp(source->kind, "file") == 0 && gnn_is_source_text(arg->text) && !gnn_path_exists(arg->text)) return gnn_dataset_open_path(arg->text, out, error);
  char *path = is_path ? gnn_path_join(base_dir, arg->text) : NULL;
  gnn_dataset *dataset = gnn_dataset_new(is_path && path ? path : source->kind);
  if (dataset == NULL || (is_path && path == NULL)) {
    free(path);
    gnn_dataset_close(dataset);
    return gnn_fail_memory(error, 256);
  }
  gnn_status status;
  if (is_path) {
    const int is_edges = strcmp(source->kind, "edges") == 0, is_ogb = strcmp(source->kind, "ogb") == 0, is_igb = strcmp(source->kind, "igb") == 0, is_dgl = strcmp(source->kind, "dgl") == 0;
    status = is_edges || is_ogb || is_igb || is_dgl ? GNN_OK : dataset_unknown_arg(source, NULL, 0, error);
    if (status != GNN_OK) goto done;
    if (is_edges) status = dataset_open_edges(source, path, dataset, error);
    else if (is_igb) status = dataset_open_igb(source, path, dataset, error);
    else if (is_dgl) status = dataset_open_dgl(source, path, dataset, error);
    else if (is_ogb) status = dataset_open_ogb(source, path, dataset, error);
    else if (strcmp(source->kind, "tu") == 0) status = gnn_read_tu(dataset, path, error);
    else if (!gnn_path_exists(path)) status = gnn_fail_file(error, "open", path, 2 /* ENOENT */);
    else if (strcmp(source->kind, "npy") == 0) status = gnn_read_npy_folder(dataset, path, error);
    else if (strcmp(source->kind, "planetoid") == 0)
      status = gnn_is_planetoid(path) ? gnn_read_planetoid(dataset, path, error) : dataset_open_file(dataset, path, error);
    else if (strcmp(source->kind, "safetensors") == 0) status = gnn_read_container(dataset, path, error);
    else if (strcmp(source->kind, "mtx") == 0) status = dataset_named(dataset, path, gnn_read_mtx, error);
    else if (strcmp(source->kind, "metis") == 0) status = dataset_named(dataset, path, gnn_read_metis, error);
    else if (strcmp(source->kind, "npz") == 0) status = dataset_named(dataset, path, gnn_read_npz, error);
    else status = dataset_open_file(dataset, path, error);
  } else if (strcmp(source->kind, "karate") == 0) {
    status = dataset_unknown_arg(source, NULL, 0, error);
    if (status == GNN_OK) status = gnn_read_karate(dataset, error);
  } else if (strcmp(source->kind, "synth") == 0) {
    status = dataset_open_synth(source, dataset, error);
  } else if (strcmp(source->kind, "csv") == 0) {
    status = dataset_open_csv(source, base_dir, dataset, error);
  } else if (strcmp(source->kind, "shapes") == 0) {
    status = gnn_fail(error, GNN_EDATA, "", "the program was planned from declared sizes alone, so it has no data of its own");
    gnn_fail_help(error, "give it some: --data PATH");
  } else {
    status = dataset_unknown_source(source->kind, error);
  }
done:
  free(path);
  return dataset_finish_open(status, dataset, out, error);
}
