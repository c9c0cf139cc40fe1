/* columns.c: numbers, whole numbers, lists of numbers and words in the columns of a table. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_names.h"
#include "ids.h"
#include "names.h"

enum { COLUMNS_MOST = 1 << 16, COLUMNS_WORDS_MOST = 1 << 16 };

static void columns_name_field(const char *column, int c, char *name, size_t room) {
  gnn_make_name(column, name, room);
  if (name[0] == 0) snprintf(name, room, "column_%d", c + 1);
}

gnn_status gnn_columns_open(gnn_columns *columns, const gnn_text_table *header, int is_named, gnn_error *error) {
  if (header->count > COLUMNS_MOST) return gnn_table_fail(header, -1, "", error, "there are more than %d columns", COLUMNS_MOST);
  columns->count = header->count;
  columns->items = calloc((size_t)header->count + 1, sizeof *columns->items);
  if (columns->items == NULL) return gnn_fail_memory(error, header->count * (int64_t)sizeof *columns->items);
  for (int c = 0; c < columns->count; c++) {
    gnn_column *column = &columns->items[c];
    column->field = -1;
    snprintf(column->name, sizeof column->name, "column_%d", c + 1);
    columns_name_field(column->name, c, column->field_name, sizeof column->field_name);
    if (!is_named || header->cells[c].length == 0) continue;
    if (header->cells[c].length >= (int32_t)sizeof column->name) return gnn_table_fail(header, c, "", error, "the name of a column has at most %d characters", (int)sizeof column->name - 1);
    gnn_status status = gnn_table_text(header, c, error);
    if (status != GNN_OK) return status;
    snprintf(column->name, sizeof column->name, "%s", header->cells[c].text);
    columns_name_field(column->name, c, column->field_name, sizeof column->field_name);
    for (int k = 0; k < c; k++)
      if (strcmp(columns->items[k].name, column->name) == 0) return gnn_table_fail(header, c, "", error, "two columns are called \"%s\"", column->name);
  }
  return GNN_OK;
}

int gnn_columns_find(const gnn_columns *columns, const char *name) {
  for (int c = 0; c < columns->count; c++)
    if (strcmp(columns->items[c].name, name) == 0) return c;
  return -1;
}

void gnn_columns_list(const gnn_columns *columns, char *text, size_t room) {
  size_t used = 0;
  text[0] = 0;
  for (int c = 0; c < columns->count && used + 6 < room; c++) {
    const size_t length = strlen(columns->items[c].name);
    if (used + length + 8 > room) {
      snprintf(text + used, room - used, ", ...");
      return;
    }
    used += (size_t)snprintf(text + used, room - used, "%s%s", c ? ", " : "", columns->items[c].name);
  }
}

/* ---- the first walk ---- */

static int columns_truth(const gnn_cell *cell, int64_t *value) {
  static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE"};
  for (int i = 0; i < 6; i++)
    if (strcmp(cell->text, words[i]) == 0) return *value = i % 2, 1;
  return 0;
}

/* Labels are whole numbers of this size, and -1 says that there is none. */
static int columns_whole(const gnn_cell *cell, int64_t *value) { return (gnn_cell_whole(cell, value) && *value >= -1 && *value < INT32_MAX) || columns_truth(cell, value); }

static int columns_has_decimal_comma(const gnn_cell *cell) {
  const char *at = cell->text + (cell->text[0] == '-' || cell->text[0] == '+');
  const size_t whole = strspn(at, "0123456789");
  if (whole == 0 || at[whole] != ',') return 0;
  const size_t part = strspn(at + whole + 1, "0123456789");
  return part > 0 && at[whole + 1 + part] == 0;
}

static gnn_column_kind columns_kind(const gnn_cell *cell, int64_t *width) {
  int64_t whole;
  double number;
  if (columns_whole(cell, &whole)) return GNN_COLUMN_WHOLE;
  if (gnn_cell_number(cell, &number)) return GNN_COLUMN_NUMBER;
  *width = gnn_cell_numbers(cell, NULL, 0);
  return *width > 0 ? GNN_COLUMN_LIST : GNN_COLUMN_TEXT;
}

/* A column is asked for under the name of its field, or as a part of others. */
static int columns_is_wanted(const gnn_columns *columns, const char *name) {
  for (int i = 0; i < columns->wanted_count; i++) {
    const size_t length = strlen(columns->wanted[i]);
    if (strncmp(columns->wanted[i], name, length) == 0) return 1;
  }
  return columns->wanted_count < 0 || (name[0] == '_' && name[1] >= '0' && name[1] <= '9') || strncmp(name, "split", 5) == 0 || strstr(name, "_mask") != NULL;
}

gnn_status gnn_columns_look(gnn_columns *columns, const gnn_text_table *row, gnn_error *error) {
  if (row->count != columns->count) return gnn_table_fail(row, -1, "", error, "%d cells stand here, and %d in the first row", row->count, columns->count);
  columns->rows++;
  for (int c = 0; c < columns->count; c++) {
    gnn_column *column = &columns->items[c];
    const gnn_cell *cell = &row->cells[c];
    int64_t width = 0;
    if (column->is_taken || !columns_is_wanted(columns, column->field_name)) continue;
    if (cell->length == 0) {
      column->empty++;
      continue;
    }
    const gnn_column_kind kind = columns_kind(cell, &width);
    if (kind == GNN_COLUMN_LIST && column->kind == GNN_COLUMN_LIST && width != column->width)
      return gnn_table_fail(row, c, "", error, "column \"%s\" has %lld numbers here, and %lld before", column->name, (long long)width, (long long)column->width);
    if (kind == GNN_COLUMN_LIST) column->width = width, column->lists++, column->commas += columns_has_decimal_comma(cell);
    if (kind <= GNN_COLUMN_NUMBER) column->numbers++;
    else if (column->others++ == 0) {
      column->other_line = row->line;
      snprintf(column->other, sizeof column->other, "%s", cell->text);
    }
    const int is_one = kind <= GNN_COLUMN_NUMBER && column->kind <= GNN_COLUMN_NUMBER;
    column->kind = column->kind == GNN_COLUMN_EMPTY || column->kind == kind ? kind : is_one ? GNN_COLUMN_NUMBER : GNN_COLUMN_TEXT;
  }
  return GNN_OK;
}

/* ---- which field each is ---- */

/* "x_12", "x12", "x.12", "x[12]": what stands before the number, and the number; 0: there is none. */
static int columns_part(const char *name, char *base, int64_t *number) {
  size_t length = strlen(name), digits = 0;
  if (length && name[length - 1] == ']') length--;
  while (digits < length && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9') digits++;
  if (digits == 0 || digits > 6) return 0;
  *number = strtol(name + length - digits, NULL, 10);
  length -= digits;
  if (length && strchr("_.[-", name[length - 1])) length--;
  memcpy(base, name, length);
  base[length] = 0;
  if (length == 0) strcpy(base, "x");
  return 1;
}

static int columns_is_asked(const gnn_columns *columns, const char *name) {
  for (int i = 0; i < columns->wanted_count; i++)
    if (strcmp(columns->wanted[i], name) == 0) return 1;
  return columns->wanted_count < 0;
}

static int columns_named(const gnn_columns *columns, const char *field_name) {
  for (int c = 0; c < columns->count; c++)
    if (strcmp(columns->items[c].field_name, field_name) == 0) return c;
  return -1;
}

static gnn_column_field *columns_new_field(gnn_columns *columns, const char *name, gnn_column_kind kind, int64_t width) {
  gnn_column_field *field = &columns->fields[columns->field_count++];
  *field = (gnn_column_field){.kind = kind, .width = width};
  snprintf(field->name, sizeof field->name, "%s", name);
  return field;
}

/* Columns 0 to k - 1, or 1 to k, of one base, all numbers: one field, k columns wide. Returns whether they are. */
static int columns_group(gnn_columns *columns, int first) {
  char base[64], other[64], name[64];
  int64_t number, least = INT64_MAX, greatest = -1, count = 0;
  if (!columns_part(columns->items[first].name, base, &number)) return 0;
  columns_name_field(base, first, name, sizeof name);
  if (columns_named(columns, name) >= 0 || !columns_is_asked(columns, name)) return 0;
  for (int c = first; c < columns->count; c++) {
    const gnn_column *column = &columns->items[c];
    if (column->is_taken || column->field >= 0 || !columns_part(column->name, other, &number) || strcmp(base, other) != 0) continue;
    if ((column->kind != GNN_COLUMN_WHOLE && column->kind != GNN_COLUMN_NUMBER) || (columns->wanted_count >= 0 && columns_is_asked(columns, column->field_name))) return 0;
    if (number < least) least = number;
    if (number > greatest) greatest = number;
    count++;
  }
  if (count < 2 || least > 1 || greatest - least + 1 != count) return 0;
  columns_new_field(columns, name, GNN_COLUMN_LIST, count);
  if (strcmp(base, name) != 0) gnn_dataset_note(columns->dataset, "columns \"%s\" with numbers behind it are the field %s", base, name);
  for (int c = first; c < columns->count; c++) {
    gnn_column *column = &columns->items[c];
    if (column->is_taken || column->field >= 0 || !columns_part(column->name, other, &number) || strcmp(base, other) != 0) continue;
    column->field = columns->field_count - 1;
    column->place = (int)(number - least);
  }
  return 1;
}

static int columns_is_split(const char *name) {
  int split, is_many;
  return strcmp(name, "split") == 0 || (gnn_array_is_mask(name, &split, &is_many) && !is_many);
}

static gnn_status columns_check_wanted(const gnn_columns *columns, const char *path, gnn_error *error) {
  for (int i = 0; i < columns->wanted_count; i++) {
    int is_there = 0;
    for (int f = 0; f < columns->field_count; f++) is_there |= strcmp(columns->fields[f].name, columns->wanted[i]) == 0;
    if (is_there) continue;
    char list[400];
    const char *names[256];
    int count = 0;
    for (int c = 0; c < columns->count && count < 256; c++) names[count++] = columns->items[c].field_name;
    const char *near = gnn_nearest(columns->wanted[i], names, count);
    gnn_columns_list(columns, list, sizeof list);
    return gnn_fail(error, GNN_EDATA, "E0203", "\"%s\" has no column \"%s\"%s%s%s; it has %s", path, columns->wanted[i], near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", list);
  }
  return GNN_OK;
}

/* *is_second: another column has the name that this becomes, and is the field. That is an error where no column has it as its own and the field is asked for. */
static gnn_status columns_only(const gnn_columns *columns, int c, const char *path, int *is_second, gnn_error *error) {
  const gnn_column *column = &columns->items[c], *other = NULL;
  *is_second = 0;
  for (int k = 0; k < columns->count && strcmp(column->name, column->field_name) != 0; k++) {
    const gnn_column *there = &columns->items[k];
    const int is_own = strcmp(there->name, there->field_name) == 0;
    if (k == c || there->is_taken || strcmp(there->field_name, column->field_name) != 0) continue;
    if (k < c || is_own) other = other && !is_own ? other : there;
  }
  if (other == NULL) return GNN_OK;
  *is_second = 1;
  if (columns->wanted_count < 0) {
    gnn_dataset_note(columns->dataset, "column \"%s\" of \"%.200s\" is not used: the field %s is column \"%s\"; rename one of them", column->name, path, column->field_name, other->name);
    return GNN_OK;
  }
  if (strcmp(other->name, other->field_name) == 0) return GNN_OK;
  gnn_status status = gnn_fail(error, GNN_EDATA, "E0203", "\"%s\" has two columns for the field %s: \"%s\" and \"%s\"", path, column->field_name, other->name, column->name);
  gnn_fail_help(error, "rename one of them in its first row");
  return status;
}

gnn_status gnn_columns_plan(gnn_columns *columns, gnn_dataset *dataset, const char *path, gnn_error *error) {
  columns->dataset = dataset;
  columns->fields = calloc((size_t)columns->count + 1, sizeof *columns->fields);
  if (columns->fields == NULL) return gnn_fail_memory(error, columns->count * (int64_t)sizeof *columns->fields);
  for (int c = 0; c < columns->count; c++) {
    gnn_column *column = &columns->items[c];
    if (column->is_taken || column->field >= 0 || columns_group(columns, c)) continue;
    if (!columns_is_asked(columns, column->field_name) && !columns_is_split(column->field_name)) continue;
    int is_second;
    gnn_status status = columns_only(columns, c, path, &is_second, error);
    if (status != GNN_OK) return status;
    if (is_second) continue;
    if (column->kind == GNN_COLUMN_EMPTY && columns->wanted_count < 0) {
      gnn_dataset_note(dataset, "column %s of \"%.200s\" is not used: nothing stands in it", column->name, path);
      continue;
    }
    if (column->kind == GNN_COLUMN_EMPTY) column->kind = GNN_COLUMN_NUMBER;
    if (strcmp(column->name, column->field_name) != 0) gnn_dataset_note(dataset, "column \"%s\" of \"%.200s\" is the field %s", column->name, path, column->field_name);
    if (column->kind == GNN_COLUMN_TEXT && column->numbers > column->others)
      gnn_dataset_note(dataset, "column \"%s\" of \"%.200s\" is read as words: %s of its cells are numbers and %s none, first \"%s\" in line %lld; as numbers it is read with those filled in, or their rows left out",
                       column->name, path, gnn_count_text(column->numbers).text, gnn_count_text(column->others).text, column->other, (long long)column->other_line);
    if (column->lists && column->commas == column->lists)
      gnn_dataset_note(dataset, "column \"%s\" of \"%.200s\" is read as %s: where a comma begins the decimals of one number, write a point", column->name, path, column->kind == GNN_COLUMN_LIST ? "2 numbers a cell" : "words");
    columns_new_field(columns, column->field_name, column->kind, column->kind == GNN_COLUMN_LIST ? column->width : 1);
    column->field = columns->field_count - 1;
    if (column->empty) gnn_dataset_note(dataset, "%s of \"%.200s\" is empty in %s rows", column->name, path, gnn_count_text(column->empty).text);
  }
  gnn_status status = columns_check_wanted(columns, path, error);
  for (int f = 0; status == GNN_OK && f < columns->field_count; f++) {
    gnn_column_field *field = &columns->fields[f];
    const int is_number = field->kind == GNN_COLUMN_NUMBER || field->kind == GNN_COLUMN_LIST;
    if (is_number && (field->numbers = gnn_dataset_alloc(dataset, columns->rows, field->width * (int64_t)sizeof *field->numbers, error)) == NULL) status = GNN_ENOMEM;
    if (!is_number && (field->labels = gnn_dataset_alloc(dataset, columns->rows, sizeof *field->labels, error)) == NULL) status = GNN_ENOMEM;
    if (status == GNN_OK && field->kind == GNN_COLUMN_TEXT && (field->words = calloc(1, sizeof *field->words)) == NULL) status = gnn_fail_memory(error, (int64_t)sizeof *field->words);
  }
  return status;
}

/* ---- the second walk ---- */

static gnn_status columns_word(gnn_column_field *field, const gnn_text_table *row, int c, int64_t r, gnn_error *error) {
  int64_t number = -1;
  int is_new;
  if (field->is_left_out) return GNN_OK;
  gnn_status status = gnn_table_text(row, c, error);
  if (status == GNN_OK && row->cells[c].length) status = gnn_ids_add(field->words, row->cells[c].text, &number, &is_new, error);
  field->labels[r] = (int32_t)number;
  field->is_left_out = field->words->count > COLUMNS_WORDS_MOST;
  return status;
}

/* The first number of a field that is not finite. */
static gnn_status columns_gap(const gnn_columns *columns, gnn_column_field *field, const gnn_text_table *row, int c, gnn_error *error) {
  const gnn_cell *cell = &row->cells[c];
  const int64_t room = (int64_t)strlen(row->path) + 120;
  field->gap = gnn_dataset_alloc(columns->dataset, room, 1, error);
  if (field->gap == NULL) return GNN_ENOMEM;
  if (cell->length == 0) snprintf(field->gap, (size_t)room, "\"%s\" line %lld column %d, where nothing stands", row->path, (long long)row->line, cell->column);
  else snprintf(field->gap, (size_t)room, "\"%s\" line %lld column %d, where %.40s stands", row->path, (long long)row->line, cell->column, cell->text);
  return GNN_OK;
}

gnn_status gnn_columns_take(gnn_columns *columns, const gnn_text_table *row, int64_t r, gnn_error *error) {
  if (r >= columns->rows || row->count != columns->count) return gnn_table_fail(row, -1, "", error, "the file has changed while it was being read");
  for (int c = 0; c < columns->count; c++) {
    const gnn_column *column = &columns->items[c];
    gnn_column_field *field = column->field < 0 ? NULL : &columns->fields[column->field];
    const gnn_cell *cell = &row->cells[c];
    int64_t whole = -1;
    double number = NAN;
    if (field == NULL) continue;
    gnn_status status = GNN_OK;
    if (field->kind == GNN_COLUMN_TEXT) status = columns_word(field, row, c, r, error);
    else if (field->kind == GNN_COLUMN_WHOLE) {
      if (cell->length && !columns_whole(cell, &whole)) status = gnn_table_whole(row, c, &whole, error);
      field->labels[r] = (int32_t)whole;
    } else if (column->kind == GNN_COLUMN_LIST) {
      float *out = field->numbers + r * field->width;
      if (cell->length == 0)
        for (int64_t k = 0; k < field->width; k++) out[k] = NAN;
      else if (gnn_cell_numbers(cell, out, field->width) != field->width) status = gnn_table_fail(row, c, "", error, "column \"%s\" needs %lld numbers", column->name, (long long)field->width);
      int is_finite = 1;
      for (int64_t k = 0; k < field->width; k++) is_finite &= isfinite(out[k]) != 0;
      if (status == GNN_OK && !is_finite && !field->gap) status = columns_gap(columns, field, row, c, error);
    } else {
      if (cell->length && columns_truth(cell, &whole)) number = (double)whole;
      else if (cell->length) status = gnn_table_number(row, c, &number, error);
      field->numbers[r * field->width + column->place] = (float)number;
      if (status == GNN_OK && !field->gap && !isfinite((float)number)) status = columns_gap(columns, field, row, c, error);
    }
    if (status != GNN_OK) return status;
  }
  return GNN_OK;
}

/* ---- fields and splits ---- */

typedef struct columns_entry {
  const char *word;
  int32_t number;
} columns_entry;

static int columns_by_word(const void *a, const void *b) { return strcmp(((const columns_entry *)a)->word, ((const columns_entry *)b)->word); }

/* Words become 0, 1, 2, ... in their order, whichever came first. A word that is a number alone is among others that are none. */
static gnn_status columns_sort_words(gnn_columns *columns, gnn_column_field *field, gnn_error *error) {
  gnn_ids *words = field->words;
  columns_entry *entries = calloc((size_t)words->count + 1, sizeof *entries);
  int32_t *to = calloc((size_t)words->count + 1, sizeof *to);
  gnn_status status = entries && to ? GNN_OK : gnn_fail_memory(error, words->count * 16);
  char text[200];
  size_t used = 0;
  for (int64_t i = 0; status == GNN_OK && i < words->count; i++) entries[i] = (columns_entry){words->is_mapped ? words->pool + words->at[i] : "", (int32_t)i};
  if (status == GNN_OK) qsort(entries, (size_t)words->count, sizeof *entries, columns_by_word);
  text[0] = 0;
  for (int64_t i = 0; status == GNN_OK && i < words->count; i++) {
    to[entries[i].number] = (int32_t)i;
    if (used + 1 < sizeof text) used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld %.40s", i ? ", " : "", (long long)i, entries[i].word);
  }
  for (int64_t r = 0; status == GNN_OK && r < columns->rows; r++)
    if (field->labels[r] >= 0) field->labels[r] = to[field->labels[r]];
  if (status == GNN_OK) gnn_dataset_note(columns->dataset, "%s holds words: %s%s", field->name, text, used + 1 < sizeof text ? "" : " ...");
  free(entries);
  free(to);
  return status;
}

/* split = train, valid, test: one mask each. */
static gnn_status columns_split_words(gnn_columns *columns, const gnn_column_field *field, gnn_error *error) {
  static const struct { const char *word; int split; } words[] = {
    {"train", GNN_TRAIN}, {"valid", GNN_VALID}, {"val", GNN_VALID}, {"validation", GNN_VALID}, {"dev", GNN_VALID}, {"test", GNN_TEST}, {"none", -1}};
  int split_of[8];
  if (field->words->count > 8) return gnn_fail(error, GNN_EDATA, "", "%s: the column split holds more than train, valid, test and none", columns->dataset->title);
  for (int64_t i = 0; i < field->words->count; i++) {
    const char *word = field->words->is_mapped ? field->words->pool + field->words->at[i] : "0";
    int found = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
      if (strcasecmp(words[k].word, word) != 0) continue;
      split_of[i] = words[k].split;
      found = 1;
    }
    if (!found) return gnn_fail(error, GNN_EDATA, "", "%s: the column split holds \"%.40s\"; it is train, valid, test or none", columns->dataset->title, word);
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    unsigned char *mask = gnn_dataset_alloc(columns->dataset, columns->rows, 1, error);
    if (mask == NULL) return GNN_ENOMEM;
    int is_any = 0;
    for (int64_t r = 0; r < columns->rows; r++) is_any |= mask[r] = field->labels[r] >= 0 && split_of[field->labels[r]] == s;
    if (is_any) columns->dataset->raw_split[s] = (gnn_array){.dtype = GNN_BOOL, .rank = 1, .shape = {columns->rows}, .count = columns->rows, .data = mask};
  }
  return GNN_OK;
}

gnn_status gnn_columns_finish(gnn_columns *columns, const char *prefix, gnn_domain domain, int set, int has_splits, gnn_error *error) {
  gnn_dataset *dataset = columns->dataset;
  gnn_status status = GNN_OK;
  for (int f = 0; status == GNN_OK && f < columns->field_count; f++) {
    gnn_column_field *field = &columns->fields[f];
    gnn_array array = {.dtype = field->labels ? GNN_I32 : GNN_F32, .rank = field->kind == GNN_COLUMN_LIST ? 2 : 1, .shape = {columns->rows, field->width}, .count = columns->rows * field->width,
                       .data = field->labels ? (const unsigned char *)field->labels : (const unsigned char *)field->numbers};
    int split, is_many;
    if (field->is_left_out) {
      gnn_dataset_note(dataset, "column %s is not used: it holds text, more than %d different ones", field->name, COLUMNS_WORDS_MOST);
      continue;
    }
    if (has_splits && strcmp(field->name, "split") == 0 && field->kind == GNN_COLUMN_TEXT) {
      status = columns_split_words(columns, field, error);
      if (status == GNN_OK) dataset->split_type = domain == GNN_TYPE ? set : -1;
      continue;
    }
    if (has_splits && field->kind == GNN_COLUMN_WHOLE && gnn_array_is_mask(field->name, &split, &is_many) && !is_many) {
      dataset->raw_split[split] = array;
      dataset->split_type = domain == GNN_TYPE ? set : -1;
      continue;
    }
    if (field->kind == GNN_COLUMN_TEXT) status = columns_sort_words(columns, field, error);
    char name[160];
    snprintf(name, sizeof name, "%s%s", prefix, field->name);
    if (status == GNN_OK) status = gnn_dataset_add_field(dataset, name, domain, &array, error);
    if (status != GNN_OK) return status;
    gnn_data_field *added = &dataset->fields[dataset->field_count - 1];
    added->set = set;
    added->gap = field->gap;
    if (field->words) added->declared_classes = field->words->count;
  }
  return status;
}

void gnn_columns_close(gnn_columns *columns) {
  for (int f = 0; f < columns->field_count; f++) {
    if (columns->fields[f].words) gnn_ids_free(columns->fields[f].words);
    free(columns->fields[f].words);
  }
  free(columns->fields);
  free(columns->items);
  columns->fields = NULL;
  columns->items = NULL;
  columns->count = columns->field_count = 0;
}
