/* prepare_fields.c: raw arrays become features and labels; every number is looked at once. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prepare.h"
#include "runtime/base/checked.h"
#include "runtime/base/made.h"

static const char *fields_row_word(const gnn_data_field *field) {
  return field->domain == GNN_NODE || field->domain == GNN_TYPE ? "node" : field->domain == GNN_EDGE ? "edge" : "graph";
}

static gnn_status fields_rows(const gnn_dataset *dataset, const gnn_data_field *field, gnn_error *error) {
  const int64_t stored = field->is_raw_sparse ? field->raw_ptr.count - 1 : field->raw.rank ? field->raw.shape[0] : 1;
  int64_t wanted = field->domain == GNN_NODE ? dataset->nodes
                   : field->domain == GNN_TYPE ? dataset->types[field->set].nodes
                   : field->domain == GNN_EDGE ? dataset->raw_source.count : dataset->graphs;
  if (stored == wanted) return GNN_OK;
  return gnn_fail(error, GNN_EDATA, "", "%s: %s has %s rows, but there are %s %ss", gnn_field_title(dataset, field), field->name,
                  gnn_count_text(stored).text, gnn_count_text(wanted).text, fields_row_word(field));
}

gnn_status gnn_prepare_field_rows(const gnn_dataset *dataset, gnn_error *error) {
  gnn_status status = GNN_OK;
  for (int i = 0; status == GNN_OK && i < dataset->field_count; i++) status = fields_rows(dataset, &dataset->fields[i], error);
  return status;
}

/* Sizes are computed with rows * width numbers, stored or not. */
static gnn_status fields_width(const gnn_dataset *dataset, const gnn_data_field *field, int64_t rows, int64_t width, gnn_error *error) {
  int64_t bytes;
  if (width > 0 && width <= INT32_MAX && gnn_multiply_fits(rows, width, &bytes) && gnn_multiply_fits(bytes, 16, &bytes)) return GNN_OK;
  return gnn_fail(error, GNN_EDATA, "", "%s: %s has %lld columns", dataset->title, field->name, (long long)width);
}

/* ---- labels ---- */

gnn_status gnn_field_check_labels(const gnn_data_field *field, int64_t classes, gnn_error *error) {
  int64_t least = INT64_MAX, greatest = -1, bad = -1;
  for (int64_t r = 0; r < field->rows; r++) {
    int32_t v = field->label[r];
    if (v < 0) continue;
    if (v < least) least = v;
    if (v > greatest) greatest = v;
    if (v >= classes && bad < 0) bad = r;
  }
  if (bad < 0) return GNN_OK;
  gnn_status status = gnn_fail(error, GNN_EDATA, "E0702", "%s[%lld] is %d, classes run 0 … %lld", field->name,
                               (long long)bad, field->label[bad], (long long)classes - 1);
  if (least == 1 && greatest == classes)
    gnn_fail_help(error, "labels look 1-based: 0 never occurs, %lld does; subtract 1 from all of them", (long long)classes);
  else
    gnn_fail_help(error, "the labels run %lld … %lld", (long long)least, (long long)greatest);
  return status;
}

static int fields_is_whole(const gnn_array *raw) {
  const int width = gnn_dtype_bytes(raw->dtype);
  gnn_reading window = gnn_reading_begin(raw->data);
  for (int64_t i = 0; i < raw->count; i++) {
    double v = gnn_array_number(raw, i);
    gnn_reading_pass(&window, raw->data + (i + 1) * width);
    if (v != v) continue;
    if (v != floor(v) || v < -1 || v > INT32_MAX) return 0;
  }
  return 1;
}

static gnn_status fields_labels(gnn_dataset *dataset, gnn_data_field *field, gnn_error *error) {
  const gnn_array *raw = &field->raw;
  int is_float = gnn_dtype_is_float(raw->dtype);
  int32_t *label = gnn_dataset_alloc(dataset, raw->count, sizeof *label, error);
  if (label == NULL) return GNN_ENOMEM;
  int64_t greatest = -1, labelled = 0, unlabelled_nan = 0;
  for (int64_t r = 0; r < raw->count; r++) {
    int64_t v;
    if (is_float) {
      double number = gnn_array_number(raw, r);
      unlabelled_nan += number != number;
      v = number != number ? -1 : (int64_t)number;
    } else {
      v = gnn_array_integer(raw, r);
    }
    if (v < -1 || v >= INT32_MAX)
      return gnn_fail(error, GNN_EDATA, "E0702", "%s: %s[%lld] is %lld; labels count from 0, and -1 stands for none",
                      dataset->title, field->name, (long long)r, (long long)v);
    label[r] = (int32_t)v;
    labelled += v >= 0;
    if (v > greatest) greatest = v;
  }
  gnn_array_pass(raw, 0, raw->count);
  if (is_float)
    gnn_dataset_note(dataset, "%s is stored as %s; all are whole numbers, reading as class", field->name,
                     raw->dtype == GNN_F64 ? "float64" : raw->dtype == GNN_F32 ? "float32" : gnn_dtype_name(raw->dtype));
  if (unlabelled_nan)
    gnn_dataset_note(dataset, "%s NaN in %s are read as \"no label\"", gnn_count_text(unlabelled_nan).text, field->name);
  field->storage = GNN_LABEL;
  field->rows = raw->count;
  field->width = 1;
  field->label = label;
  field->labelled = labelled;
  if (field->declared_classes > INT32_MAX)
    return gnn_fail(error, GNN_EDATA, "E0702", "%s: %s declares %lld classes; labels are below 2^31", dataset->title, field->name,
                    (long long)field->declared_classes);
  field->classes = field->declared_classes > 0 ? field->declared_classes : greatest + 1;
  if (field->classes < 1) field->classes = 1;
  gnn_status status = gnn_field_check_labels(field, field->classes, error);
  if (status == GNN_OK && labelled < raw->count && field->domain != GNN_EDGE)
    gnn_dataset_note(dataset, "%s of %s %ss have no label in %s", gnn_count_text(raw->count - labelled).text,
                     gnn_count_text(raw->count).text, fields_row_word(field), field->name);
  return status;
}

/* ---- numbers ---- */

typedef struct fields_survey {
  int64_t nonzeros, nans, infinities, first_bad;
  double least, greatest;
} fields_survey;

static void fields_look(fields_survey *survey, const float *numbers, int64_t count, int64_t position) {
  float least = INFINITY, greatest = -INFINITY;
  int64_t nonzeros = 0;
  int is_finite = 1;
  for (int64_t i = 0; i < count; i++) {
    float v = numbers[i];
    nonzeros += v != 0;
    is_finite &= fabsf(v) <= 3.402823466e38f;
    least = v < least ? v : least;
    greatest = v > greatest ? v : greatest;
  }
  survey->nonzeros += nonzeros;
  if (least < survey->least) survey->least = (double)least;
  if (greatest > survey->greatest) survey->greatest = (double)greatest;
  for (int64_t i = 0; !is_finite && i < count; i++) {
    if (isfinite(numbers[i])) continue;
    if (survey->first_bad < 0) survey->first_bad = position + i;
    if (isnan(numbers[i])) survey->nans++;
    else survey->infinities++;
  }
}

static gnn_status fields_finish(gnn_data_field *field, const fields_survey *survey, int64_t row,
                                int64_t column, gnn_error *error) {
  if (survey->first_bad >= 0) {
    const int has_both = survey->nans && survey->infinities;
    gnn_status status = gnn_fail(error, GNN_EDATA, "E0705", "%s%s%s holds %s%s%s%s, first at %s %lld column %lld%s%s", field->file ? field->file : "", field->file ? ": " : "", field->name,
                    survey->nans ? gnn_count_text(survey->nans).text : "", survey->nans ? has_both ? " NaN and " : " NaN" : "",
                    survey->infinities ? gnn_count_text(survey->infinities).text : "", survey->infinities == 0 ? "" : survey->infinities == 1 ? " infinite number" : " infinite numbers",
                    fields_row_word(field), (long long)row, (long long)column, field->gap ? ": " : "", field->gap ? field->gap : "");
    if (field->gap) gnn_fail_help(error, "a number is needed in each row of a field: fill it in, or leave out the row or the column");
    return status;
  }
  field->nonzeros = survey->nonzeros;
  field->least = field->rows ? survey->least : 0;
  field->greatest = field->rows ? survey->greatest : 0;
  return GNN_OK;
}

/* The numbers of an array as they are computed with, where they lie, or made of them. */
static gnn_status fields_floats(gnn_dataset *dataset, const gnn_array *raw, const float **floats, gnn_error *error) {
  enum { TOGETHER = GNN_READING_BYTES / sizeof(float) };
  *floats = (const float *)(const void *)raw->data;
  if (raw->dtype == GNN_F32 && (uintptr_t)raw->data % sizeof(float) == 0) return GNN_OK;
  float *some = malloc(TOGETHER * sizeof *some);
  if (some == NULL) return gnn_fail_memory(error, GNN_READING_BYTES);
  gnn_file file = {0};
  gnn_made made;
  gnn_made_begin(&made);
  gnn_status status = GNN_OK;
  for (int64_t first = 0, end; status == GNN_OK && first < raw->count; first = end) {
    end = raw->count - first < TOGETHER ? raw->count : first + TOGETHER;
    gnn_array_floats(raw, first, end - first, some);
    status = gnn_made_put(&made, some, (size_t)(end - first) * sizeof *some, error);
  }
  free(some);
  if (status == GNN_OK) status = gnn_made_end(&made, &file, error);
  else gnn_made_drop(&made);
  *floats = (const float *)(const void *)file.data;
  return status == GNN_OK ? gnn_dataset_own_file(dataset, &file, error) : status;
}

/* What the data call node v of the graph, and that this row was read. */
static int64_t fields_row_of(const gnn_dataset *dataset, int64_t v) { return dataset->node_id ? dataset->node_id[v] : v; }
static void fields_pass(const gnn_dataset *dataset, const gnn_data_field *field, int64_t v, gnn_reading *window) {
  enum { ROWS_ANYWHERE = 64 };
  if (!dataset->node_id) gnn_reading_pass(window, field->dense + (v + 1) * field->width);
  else if (v % ROWS_ANYWHERE == 0) gnn_guard_pass(field->dense, field->dense + field->rows * field->width);
}

/* What ranks have found in their rows, but for what is no number, which the rank that has it says. */
static void fields_share_survey(fields_survey *survey, const gnn_own_rows *rows) {
  double extremes[2 * GNN_RANKS_MOST] = {0};
  int64_t n[1 + 2 * GNN_RANKS_MOST] = {survey->nonzeros};
  memcpy(&n[1 + 2 * rows->rank], (const double[]){survey->least, survey->greatest}, sizeof(double[2]));
  rows->add(rows->context, n, 1 + 2 * rows->count);
  memcpy(extremes, n + 1, sizeof extremes);
  survey->nonzeros = n[0];
  for (int r = 0; r < rows->count; r++) {
    if (extremes[2 * r] < survey->least) survey->least = extremes[2 * r];
    if (extremes[2 * r + 1] > survey->greatest) survey->greatest = extremes[2 * r + 1];
  }
}

/* is_target: NaN says that there is no label. rows: of a rank, which looks at these; NULL: at all. */
static gnn_status fields_dense(gnn_dataset *dataset, gnn_data_field *field, int is_target, const gnn_own_rows *rows, gnn_error *error) {
  const gnn_array *raw = &field->raw;
  if (raw->rank < 1 || raw->rank > 2)
    return gnn_fail(error, GNN_EDATA, "", "%s: %s has the shape %s; %ss by features is needed", dataset->title, field->name,
                    gnn_shape_text(raw).text, fields_row_word(field));
  field->storage = GNN_DENSE;
  field->rows = raw->shape[0];
  field->width = raw->rank == 2 ? raw->shape[1] : 1;
  if (field->width == 0)
    return gnn_fail(error, GNN_EDATA, "", "%s: %s has no columns: its shape is %s", dataset->title, field->name,
                    gnn_shape_text(raw).text);
  gnn_status status = fields_width(dataset, field, field->rows, field->width, error);
  if (status != GNN_OK) return status;
  status = fields_floats(dataset, raw, &field->dense, error);
  if (status != GNN_OK) return status;
  if (raw->dtype != GNN_F32) gnn_dataset_note(dataset, "%s is stored as %s and read as F32", field->name, gnn_dtype_name(raw->dtype));
  fields_survey survey = {.first_bad = -1, .least = INFINITY, .greatest = -INFINITY};
  const int is_own = rows && field->domain == GNN_NODE && !is_target;
  const int64_t begin = is_own ? rows->begin : 0, end = is_own ? rows->end : field->rows;
  gnn_reading window = gnn_reading_begin(is_own && dataset->node_id ? NULL : field->dense + begin * field->width);
  for (int64_t v = begin; v < end; v++) {
    const int64_t r = is_own ? fields_row_of(dataset, v) : v;
    fields_look(&survey, field->dense + r * field->width, field->width, r * field->width);
    if (is_own) fields_pass(dataset, field, v, &window);
    else gnn_reading_pass(&window, field->dense + (r + 1) * field->width);
  }
  if (is_own && dataset->node_id) gnn_guard_pass(field->dense, field->dense + raw->count);
  else gnn_reading_end(&window, field->dense + end * field->width);
  if (is_own) fields_share_survey(&survey, rows);
  if (is_target && survey.nans && survey.infinities == 0) {
    int64_t rows = 0;
    for (int64_t r = 0; field->width > 1 && r < field->rows; r++) {
      int64_t c = 0;
      while (c < field->width && !isnan(field->dense[r * field->width + c])) c++;
      rows += c < field->width;
    }
    if (field->width == 1) gnn_dataset_note(dataset, "%s NaN in %s are read as \"no label\"", gnn_count_text(survey.nans).text, field->name);
    else
      gnn_dataset_note(dataset, "%s of the %s rows of %s have a NaN (%s in all) and are read as without a label: a row counts with all its %s numbers or not at all", gnn_count_text(rows).text,
                       gnn_count_text(field->rows).text, field->name, gnn_count_text(survey.nans).text, gnn_count_text(field->width).text);
    survey.first_bad = -1;
  }
  int64_t bad = survey.first_bad < 0 ? 0 : survey.first_bad;
  return fields_finish(field, &survey, bad / field->width, bad % field->width, error);
}

static gnn_status fields_sparse(gnn_dataset *dataset, gnn_data_field *field, gnn_error *error) {
  const gnn_array *raw_ptr = &field->raw_ptr, *raw_column = &field->raw_column, *raw = &field->raw;
  int64_t rows = raw_ptr->count - 1, entries = raw_column->count;
  if (raw_ptr->count < 1 || gnn_dtype_is_float(raw_ptr->dtype) || gnn_dtype_is_float(raw_column->dtype))
    return gnn_fail(error, GNN_EDATA, "", "%s: %s.rowptr and .col must be whole numbers, and rowptr not empty",
                    dataset->title, field->name);
  if (raw->data && raw->count != entries)
    return gnn_fail(error, GNN_EDATA, "", "%s: %s.val has %s numbers, .col %s", dataset->title, field->name,
                    gnn_count_text(raw->count).text, gnn_count_text(entries).text);
  gnn_status status = fields_width(dataset, field, rows, field->raw_width, error);
  if (status != GNN_OK) return status;
  int64_t *ptr = gnn_dataset_alloc(dataset, rows + 1, sizeof *ptr, error);
  int32_t *column = gnn_dataset_alloc(dataset, entries, sizeof *column, error);
  float *value = raw->data ? gnn_dataset_alloc(dataset, entries, sizeof *value, error) : NULL;
  if (!ptr || !column || (raw->data && !value)) return GNN_ENOMEM;
  if (value) gnn_array_floats(raw, 0, entries, value);
  fields_survey survey = {.first_bad = -1, .least = 0, .greatest = 0};
  if (value) fields_look(&survey, value, entries, 0);
  else survey = (fields_survey){.nonzeros = entries, .first_bad = -1, .least = 0, .greatest = 1};
  enum { FIELDS_STEP = 1 << 15 };
  int64_t bad_row = 0, bad_column = 0, passed = 0;
  for (int64_t r = 0; r <= rows; r++) {
    ptr[r] = gnn_array_integer(raw_ptr, r);
    if (ptr[r] < (r ? ptr[r - 1] : 0) || ptr[r] > entries || (r == 0 && ptr[0] != 0) || (r == rows && ptr[r] != entries))
      return gnn_fail(error, GNN_EDATA, "", "%s: %s.rowptr[%lld] is %lld; it must rise from 0 to %lld", dataset->title,
                      field->name, (long long)r, (long long)ptr[r], (long long)entries);
  }
  gnn_array_pass(raw_ptr, 0, rows + 1);
  for (int64_t r = 0; r < rows; r++) {
    int64_t last = -1;
    for (int64_t k = ptr[r]; k < ptr[r + 1]; k++) {
      int64_t c = gnn_array_integer(raw_column, k);
      if (c <= last || c >= field->raw_width)
        return gnn_fail(error, GNN_EDATA, "", "%s: %s.col[%lld] is %lld; columns of a row must rise and be below %lld",
                        dataset->title, field->name, (long long)k, (long long)c, (long long)field->raw_width);
      column[k] = (int32_t)c;
      last = c;
      if (k == survey.first_bad) { bad_row = r; bad_column = c; }
    }
    if (ptr[r + 1] - passed < FIELDS_STEP) continue;
    gnn_array_pass(raw_column, passed, ptr[r + 1]);
    passed = ptr[r + 1];
  }
  gnn_array_pass(raw_column, passed, entries);
  field->storage = GNN_SPARSE;
  field->rows = rows;
  field->width = field->raw_width;
  field->ptr = ptr;
  field->column = column;
  field->value = value;
  return fields_finish(field, &survey, bad_row, bad_column, error);
}

/* A sixteenth of the rows, or what a window holds. */
static int64_t fields_share_end(const gnn_data_field *field, int64_t first) {
  enum { SHARES = 16 };
  const int64_t window = GNN_READING_BYTES / (field->width * (int64_t)sizeof(float)) + 1, share = field->rows / SHARES + 1, rows = share > window ? share : window;
  return field->rows - first < rows ? field->rows : first + rows;
}

/* Edge values follow their edges: reverses take the value of the edge they were made from, added self-loops 1. */
static gnn_status fields_reorder(gnn_dataset *dataset, gnn_data_field *field, const int64_t *origin, gnn_error *error) {
  int64_t edges = dataset->edges, width = field->width;
  if (field->storage == GNN_LABEL) {
    int32_t *label = gnn_dataset_alloc(dataset, edges, sizeof *label, error);
    if (label == NULL) return GNN_ENOMEM;
    for (int64_t e = 0; e < edges; e++) label[e] = origin[e] < 0 ? -1 : field->label[origin[e]];
    field->label = label;
  } else {
    float *dense = gnn_dataset_alloc(dataset, edges, width * (int64_t)sizeof *dense, error);
    if (dense == NULL) return GNN_ENOMEM;
    int64_t nonzeros = 0, filled = 0;
    for (int64_t e = 0; e < edges; e++) {
      filled += origin[e] < 0;
      for (int64_t c = 0; c < width && origin[e] < 0; c++) dense[e * width + c] = 1.0f;
    }
    nonzeros += filled * width;
    for (int64_t first = 0, end; first < field->rows; first = end) { /* of what may lie in a file a share at a time is in memory */
      end = fields_share_end(field, first);
      for (int64_t e = 0; e < edges; e++) {
        if (origin[e] < first || origin[e] >= end) continue;
        for (int64_t c = 0; c < width; c++) {
          float v = field->dense[origin[e] * width + c];
          dense[e * width + c] = v;
          nonzeros += v != 0;
        }
      }
      gnn_guard_pass(field->dense + first * width, field->dense + end * width);
    }
    field->dense = dense;
    field->nonzeros = nonzeros;
    if (filled)
      gnn_dataset_note(dataset, "%s of the %s added self-loops is 1", field->name, gnn_count_text(filled).text);
  }
  field->rows = edges;
  return GNN_OK;
}

/* What PyG calls NormalizeFeatures, for the features it is meant for: not negative, and sums of at least 1. */
static gnn_status fields_normalise(gnn_dataset *dataset, gnn_data_field *field, const gnn_own_rows *rows, gnn_error *error) {
  if (field->storage == GNN_LABEL)
    return gnn_fail(error, GNN_EDATA, "", "normalize = rows(%s): %s holds labels, not numbers", field->name, field->name);
  float *divisor = gnn_dataset_alloc(dataset, field->rows, sizeof *divisor, error);
  if (divisor == NULL) return GNN_ENOMEM;
  int64_t zero_rows = 0, small_rows = 0;
  const int is_own = rows && field->domain == GNN_NODE;
  const int64_t begin = is_own ? rows->begin : 0, end = is_own ? rows->end : field->rows;
  gnn_reading window = gnn_reading_begin(field->storage == GNN_DENSE && !(is_own && dataset->node_id) ? field->dense + begin * field->width : NULL);
  for (int64_t v = begin; v < end; v++) {
    const int64_t r = is_own ? fields_row_of(dataset, v) : v;
    double sum = 0;
    if (field->storage == GNN_DENSE) {
      for (int64_t c = 0; c < field->width; c++) sum += (double)field->dense[r * field->width + c];
      if (is_own) fields_pass(dataset, field, v, &window);
      else gnn_reading_pass(&window, field->dense + (r + 1) * field->width);
    } else {
      for (int64_t k = field->ptr[r]; k < field->ptr[r + 1]; k++) sum += field->value ? (double)field->value[k] : 1.0;
    }
    float by = (float)sum;
    zero_rows += by == 0;
    small_rows += by != 0 && by < 1;
    divisor[r] = by == 0 ? 1.0f : by;
  }
  if (field->storage == GNN_DENSE && is_own && dataset->node_id) gnn_guard_pass(field->dense, field->dense + field->rows * field->width);
  else if (field->storage == GNN_DENSE) gnn_reading_end(&window, field->dense + end * field->width);
  if (is_own) {
    int64_t n[2] = {zero_rows, small_rows};
    rows->add(rows->context, n, 2);
    zero_rows = n[0];
    small_rows = n[1];
  }
  field->divisor = divisor;
  gnn_dataset_note(dataset, "rows of %s are scaled to sum 1%s%s%s", field->name, zero_rows ? "; " : "",
                   zero_rows ? gnn_count_text(zero_rows).text : "", zero_rows ? " rows sum to 0 and stay as they are" : "");
  if (field->least < 0 || small_rows)
    gnn_dataset_note(dataset, "%s has %s: PyG's NormalizeFeatures would subtract the least number and leave sums below 1",
                     field->name, field->least < 0 ? "negative numbers" : "rows that sum to less than 1");
  return GNN_OK;
}

/* ---- one-hot ---- */

/* Columns that are there already: one 1 in every row. */
static gnn_status fields_check_onehot(const gnn_dataset *dataset, const gnn_data_field *field, int64_t width, gnn_error *error) {
  if (width > 0 && field->width != width)
    return gnn_fail(error, GNN_EDATA, "E0702", "%s: %s has %lld columns, and is declared onehot[%lld]", dataset->title, field->name, (long long)field->width, (long long)width);
  for (int64_t r = 0; r < field->rows; r++) {
    int64_t ones = 0, others = 0;
    const int64_t first = field->storage == GNN_DENSE ? r * field->width : field->ptr[r], last = field->storage == GNN_DENSE ? first + field->width : field->ptr[r + 1];
    for (int64_t k = first; k < last; k++) {
      const float v = field->storage == GNN_DENSE ? field->dense[k] : field->value ? field->value[k] : 1;
      ones += v == 1;
      others += v != 1 && v != 0;
    }
    if (ones == 1 && others == 0) continue;
    return gnn_fail(error, GNN_EDATA, "E0702", "%s: row %lld of %s is not one-hot: one 1 is needed, and 0 elsewhere", dataset->title, (long long)r, field->name);
  }
  return GNN_OK;
}

/* One number a row. Nodes' rows are kept by their non-zeros. */
static gnn_status fields_onehot(gnn_dataset *dataset, gnn_data_field *field, int64_t width, gnn_error *error) { /* of all rows, on a rank, too */
  const gnn_array *raw = &field->raw;
  if (field->is_raw_sparse) {
    gnn_status status = fields_sparse(dataset, field, error);
    return status == GNN_OK ? fields_check_onehot(dataset, field, width, error) : status;
  }
  if (raw->rank == 2 && raw->shape[1] != 1) {
    gnn_status status = fields_dense(dataset, field, 0, NULL, error);
    return status == GNN_OK ? fields_check_onehot(dataset, field, width, error) : status;
  }
  if (raw->rank < 1 || raw->rank > 2 || (gnn_dtype_is_float(raw->dtype) && !fields_is_whole(raw)))
    return gnn_fail(error, GNN_EDATA, "E0702", "%s: %s is declared onehot, which wants one whole number a row", dataset->title, field->name);
  const int64_t rows = raw->count;
  int64_t greatest = 0;
  for (int64_t r = 0; r < rows; r++) {
    const double v = gnn_array_number(raw, r);
    if (!(v >= 0 && v < (double)(width > 0 ? width : INT32_MAX)))
      return gnn_fail(error, GNN_EDATA, "E0702", "%s: %s[%lld] is %.9g, and onehot[%lld] has the columns 0 … %lld", dataset->title, field->name, (long long)r, v,
                      (long long)(width > 0 ? width : INT32_MAX), (long long)(width > 0 ? width : INT32_MAX) - 1);
    if (v > (double)greatest) greatest = (int64_t)v;
  }
  field->rows = rows;
  field->width = width > 0 ? width : greatest + 1;
  gnn_status status = fields_width(dataset, field, rows, field->width, error);
  if (status != GNN_OK) return status;
  field->nonzeros = rows;
  field->least = 0;
  field->greatest = rows > 0;
  if (field->domain != GNN_NODE) {
    float *dense = gnn_dataset_alloc(dataset, rows, field->width * (int64_t)sizeof *dense, error);
    if (dense == NULL) return GNN_ENOMEM;
    memset(dense, 0, (size_t)(rows * field->width) * sizeof *dense);
    for (int64_t r = 0; r < rows; r++) dense[r * field->width + (int64_t)gnn_array_number(raw, r)] = 1;
    field->storage = GNN_DENSE;
    field->dense = dense;
    return GNN_OK;
  }
  int64_t *ptr = gnn_dataset_alloc(dataset, rows + 1, sizeof *ptr, error);
  int32_t *column = gnn_dataset_alloc(dataset, rows, sizeof *column, error);
  if (ptr == NULL || column == NULL) return GNN_ENOMEM;
  for (int64_t r = 0; r <= rows; r++) ptr[r] = r;
  for (int64_t r = 0; r < rows; r++) column[r] = (int32_t)gnn_array_number(raw, r);
  field->storage = GNN_SPARSE;
  field->ptr = ptr;
  field->column = column;
  field->value = NULL;
  return GNN_OK;
}

static const gnn_number_field *fields_number(const gnn_data_field *field, const gnn_recipe *recipe) {
  for (int i = 0; i < recipe->number_count; i++)
    if (strcmp(recipe->numbers[i].name, field->name) == 0) return &recipe->numbers[i];
  return NULL;
}

/* Where nobody says what is learned, it is y. */
static int fields_is_target(const gnn_data_field *field, const gnn_recipe *recipe) { return strcmp(recipe->target ? recipe->target : "y", field->name) == 0; }

static int fields_is_of_classes(const gnn_data_field *field, const gnn_recipe *recipe) {
  for (int i = 0; i < recipe->class_field_count; i++)
    if (strcmp(recipe->class_fields[i], field->name) == 0) return 1;
  return strcmp(field->name, "y") == 0;
}

static int fields_is_label(const gnn_data_field *field, const gnn_recipe *recipe) {
  const gnn_array *raw = &field->raw;
  if (fields_number(field, recipe) || (fields_is_target(field, recipe) && recipe->is_target_number)) return 0;
  if (field->is_raw_sparse || raw->rank < 1 || raw->rank > 2) return 0;
  const int is_of_classes = fields_is_of_classes(field, recipe);
  if (raw->rank == 2 && !(raw->shape[1] == 1 && is_of_classes)) return 0;
  if (!gnn_dtype_is_float(raw->dtype)) return 1;
  return (is_of_classes || field->declared_classes > 0) && raw->count > 0 && fields_is_whole(raw);
}

/* Rows scaled to sum 1 are no help: of a column that outweighs the others nothing is left of these. */
static void warn_scale(gnn_dataset *dataset, const gnn_data_field *field) {
  if (field->width == 1)
    gnn_dataset_warn(dataset, "W0706", "scale", "", "%s ranges over %.3g … %.3g; batch_norm(reshape(%s, 1)) in the model brings it to mean 0 and variance 1", field->name, field->least,
                     field->greatest, field->name);
  else
    gnn_dataset_warn(dataset, "W0706", "scale", "", "columns of %s range over %.3g … %.3g; batch_norm(%s) in the model brings each to mean 0 and variance 1", field->name, field->least, field->greatest, field->name);
}

gnn_status gnn_prepare_fields(gnn_dataset *dataset, const gnn_recipe *recipe, const int64_t *origin, const gnn_own_rows *rows, gnn_error *error) {
  for (int i = 0; i < dataset->field_count; i++) {
    gnn_data_field *field = &dataset->fields[i];
    const gnn_number_field *number = fields_number(field, recipe);
    gnn_status status = GNN_OK;
    if (field->declared_classes > 0 && !number && !fields_is_label(field, recipe) && !(fields_is_target(field, recipe) && recipe->is_target_number))
      status = gnn_fail(error, GNN_EDATA, "E0702", "%s: %s should be class labels, but holds numbers that are not whole or of "
                        "shape %s", dataset->title, field->name, gnn_shape_text(&field->raw).text);
    if (status == GNN_OK) {
      if (number && number->is_onehot) status = fields_onehot(dataset, field, number->width, error);
      else if (fields_is_label(field, recipe)) status = fields_labels(dataset, field, error);
      else if (field->is_raw_sparse) status = fields_sparse(dataset, field, error);
      else status = fields_dense(dataset, field, fields_is_target(field, recipe), rows, error);
    }
    if (status == GNN_OK && field->domain == GNN_EDGE) status = fields_reorder(dataset, field, origin, error);
    if (status != GNN_OK) return status;
  }
  for (int n = 0; n < recipe->normalised_count; n++) {
    const gnn_data_field *named = gnn_dataset_field(dataset, recipe->normalised[n]);
    if (named == NULL)
      return gnn_fail(error, GNN_EDATA, "E0203", "%s has no field \"%s\" to normalise", dataset->title, recipe->normalised[n]);
    gnn_data_field *field = &dataset->fields[named - dataset->fields];
    gnn_status status = field->divisor ? GNN_OK : fields_normalise(dataset, field, rows, error);
    if (status != GNN_OK) return status;
  }
  for (int i = 0; i < dataset->field_count; i++) {
    gnn_data_field *field = &dataset->fields[i];
    if (field->storage != GNN_LABEL && field->domain == GNN_NODE && !field->divisor &&
        (field->greatest > 1000 || field->least < -1000))
      warn_scale(dataset, field);
    const char *dot = strchr(field->name, '.');
    int is_y = strcmp(dot ? dot + 1 : field->name, "y") == 0;
    if (field->storage == GNN_LABEL && (field->domain == GNN_NODE || field->domain == GNN_GRAPH) && (is_y || dataset->label_field < 0))
      dataset->label_field = i;
  }
  for (int i = 0; i < dataset->field_count; i++)
    if (fields_is_target(&dataset->fields[i], recipe)) dataset->label_field = i;
  return GNN_OK;
}

/* ---- reading prepared numbers ---- */

void gnn_field_row(const gnn_data_field *field, int64_t row, float *out) {
  float divisor = field->divisor ? field->divisor[row] : 1.0f;
  if (field->storage == GNN_DENSE) {
    const float *from = field->dense + row * field->width;
    if (field->divisor == NULL) memcpy(out, from, (size_t)field->width * sizeof *out);
    else for (int64_t c = 0; c < field->width; c++) out[c] = from[c] / divisor;
    return;
  }
  memset(out, 0, (size_t)field->width * sizeof *out);
  for (int64_t k = field->ptr[row]; k < field->ptr[row + 1]; k++)
    out[field->column[k]] = (field->value ? field->value[k] : 1.0f) / divisor;
}

int64_t gnn_field_row_nonzeros(const gnn_data_field *field, int64_t row, int32_t *column, float *value) {
  float divisor = field->divisor ? field->divisor[row] : 1.0f;
  int64_t count = 0;
  if (field->storage == GNN_DENSE) {
    const float *from = field->dense + row * field->width;
    for (int64_t c = 0; c < field->width; c++) {
      if (from[c] == 0) continue;
      column[count] = (int32_t)c;
      value[count++] = from[c] / divisor;
    }
    return count;
  }
  for (int64_t k = field->ptr[row]; k < field->ptr[row + 1]; k++) {
    float v = field->value ? field->value[k] : 1.0f;
    if (v == 0) continue;
    column[count] = field->column[k];
    value[count++] = v / divisor;
  }
  return count;
}
