/* prepare_folds.c: which rows are tested in which fold.
 *
 * Folds that are drawn are stratified, as scikit-learn's StratifiedKFold(shuffle = True) means it: the rows, sorted by class, are dealt to
 * the folds one after another, which says how many rows of each class each fold has; which of the class these are is drawn. Classes count
 * in the order in which they first appear. Labels that are no classes are dealt as one class. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "prepare.h"
#include "shuffle.h"

enum { FOLDS_MOST = INT16_MAX, FOLDS_NONE = 255 };

typedef struct folds_deal {
  int64_t classes, folds; /* classes that rows have: labels may be far apart */
  int32_t *label;   /* [classes] ascending */
  int32_t *place;   /* [classes] in the order in which they appear, -1: in none */
  int64_t *count;   /* [classes] rows, by place */
  int32_t *next;    /* [rows] the folds of the rows of a class, shuffled */
} folds_deal;

static int32_t folds_label(const gnn_dataset *dataset, int64_t row) {
  const gnn_data_field *field = dataset->label_field < 0 ? NULL : &dataset->fields[dataset->label_field];
  return field && field->storage == GNN_LABEL ? field->label[row] : 0;
}

static int folds_compare(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void folds_list_classes(const gnn_dataset *dataset, folds_deal *deal) {
  const int64_t rows = gnn_splits_rows(dataset);
  int64_t labelled = 0;
  for (int64_t r = 0; r < rows; r++)
    if (gnn_splits_has_label(dataset, r)) deal->label[labelled++] = folds_label(dataset, r);
  qsort(deal->label, (size_t)labelled, sizeof *deal->label, folds_compare);
  for (int64_t k = 0; k < labelled; k++)
    if (k == 0 || deal->label[k] != deal->label[k - 1]) deal->label[deal->classes++] = deal->label[k];
}

static int64_t folds_class(const gnn_dataset *dataset, const folds_deal *deal, int64_t row) {
  const int32_t label = folds_label(dataset, row);
  return (const int32_t *)bsearch(&label, deal->label, (size_t)deal->classes, sizeof label, folds_compare) - deal->label;
}

/* Rows of one class in a fold: of all rows, sorted by class, every folds-th belongs to it. */
static int64_t folds_share(int64_t first, int64_t count, int64_t folds, int64_t fold) {
  const int64_t begin = first + ((fold - first) % folds + folds) % folds;
  return begin < first + count ? (first + count - 1 - begin) / folds + 1 : 0;
}

static void folds_deal_rows(const gnn_dataset *dataset, const folds_deal *deal, uint64_t seed, int32_t *row_fold) {
  const int64_t rows = gnn_splits_rows(dataset);
  int64_t first = 0;
  for (int64_t place = 0; place < deal->classes && deal->count[place]; place++) {
    int64_t at = 0;
    for (int64_t fold = 0; fold < deal->folds; fold++)
      for (int64_t k = folds_share(first, deal->count[place], deal->folds, fold); k > 0; k--) deal->next[at++] = (int32_t)fold;
    gnn_shuffle(deal->next, at, gnn_mix64(gnn_random_key(seed, GNN_FOLDS_STREAM) ^ (uint64_t)place));
    at = 0;
    for (int64_t r = 0; r < rows; r++)
      if (gnn_splits_has_label(dataset, r) && deal->place[folds_class(dataset, deal, r)] == place) row_fold[r] = deal->next[at++];
    first += deal->count[place];
  }
}

static gnn_status folds_draw(gnn_dataset *dataset, const gnn_recipe *recipe, int32_t *row_fold, gnn_error *error) {
  const int64_t rows = gnn_splits_rows(dataset), folds = recipe->fold_count;
  int64_t labelled = 0, seen = 0;
  if (folds < 2 || folds > FOLDS_MOST) return gnn_fail(error, GNN_EINVAL, "", "folds(%lld): 2 to %d folds can be made", (long long)folds, FOLDS_MOST);
  folds_deal deal = {.folds = folds};
  deal.label = malloc((size_t)(rows + 1) * sizeof *deal.label);
  deal.place = malloc((size_t)(rows + 1) * sizeof *deal.place);
  deal.count = calloc((size_t)(rows + 1), sizeof *deal.count);
  deal.next = malloc((size_t)(rows + 1) * sizeof *deal.next);
  gnn_status status = deal.label && deal.place && deal.count && deal.next ? GNN_OK : gnn_fail_memory(error, rows * (int64_t)sizeof *deal.next);
  if (status == GNN_OK) folds_list_classes(dataset, &deal);
  for (int64_t c = 0; status == GNN_OK && c < deal.classes; c++) deal.place[c] = -1;
  for (int64_t r = 0; status == GNN_OK && r < rows; r++) {
    if (!gnn_splits_has_label(dataset, r)) continue;
    int32_t *place = &deal.place[folds_class(dataset, &deal, r)];
    if (*place < 0) *place = (int32_t)seen++;
    deal.count[*place]++;
    labelled++;
  }
  if (status == GNN_OK && labelled < folds)
    status = gnn_fail(error, GNN_EDATA, "E0711", "%s has %s rows with a label; %lld folds need at least one each", dataset->title, gnn_count_text(labelled).text, (long long)folds);
  for (int64_t c = 0; status == GNN_OK && c < deal.classes; c++) {
    const int64_t count = deal.place[c] < 0 ? 0 : deal.count[deal.place[c]];
    if (count > 0 && count < folds) gnn_dataset_note(dataset, "class %lld has %lld rows, fewer than the %lld folds", (long long)deal.label[c], (long long)count, (long long)folds);
  }
  if (status == GNN_OK) folds_deal_rows(dataset, &deal, recipe->split_seed, row_fold);
  free(deal.label);
  free(deal.place);
  free(deal.count);
  free(deal.next);
  dataset->fold_count = folds;
  return status;
}

static gnn_status folds_read(gnn_dataset *dataset, int32_t *row_fold, gnn_error *error) {
  const gnn_array *raw = &dataset->raw_fold;
  const int64_t rows = gnn_splits_rows(dataset);
  if (raw->data == NULL) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "E0711", "%s brings no folds", dataset->title);
    gnn_fail_help(error, "split = folds(10, seed = 0) draws them; a folder brings them as fold.npy");
    return status;
  }
  if (raw->rank != 1 || raw->count != rows || gnn_dtype_is_float(raw->dtype))
    return gnn_fail(error, GNN_EDATA, "E0711", "%s: the folds have the shape %s of %s; one whole number for each of %s labels is needed", dataset->title,
                    gnn_shape_text(raw).text, gnn_dtype_name(raw->dtype), gnn_count_text(rows).text);
  for (int64_t r = 0; r < rows; r++) {
    const int64_t fold = gnn_array_integer(raw, r);
    if (fold < -1 || fold > FOLDS_NONE)
      return gnn_fail(error, GNN_EDATA, "E0711", "%s: row %lld is in fold %lld; folds are 0 to 254, and 255 or -1 is none", dataset->title, (long long)r, (long long)fold);
    row_fold[r] = fold == FOLDS_NONE || !gnn_splits_has_label(dataset, r) ? -1 : (int32_t)fold;
    if (row_fold[r] >= dataset->fold_count) dataset->fold_count = row_fold[r] + 1;
  }
  int64_t count[FOLDS_NONE] = {0};
  for (int64_t r = 0; r < rows; r++)
    if (row_fold[r] >= 0) count[row_fold[r]]++;
  for (int64_t fold = 0; fold < dataset->fold_count; fold++)
    if (count[fold] == 0)
      return gnn_fail(error, GNN_EDATA, "E0711", "%s: no row with a label is in fold %lld of %lld", dataset->title, (long long)fold, (long long)dataset->fold_count);
  if (dataset->fold_count < 2) return gnn_fail(error, GNN_EDATA, "E0711", "%s: all rows are in one fold, or in none", dataset->title);
  return GNN_OK;
}

gnn_status gnn_dataset_choose_fold(gnn_dataset *dataset, int64_t fold, gnn_error *error) {
  const int64_t rows = gnn_splits_rows(dataset);
  if (fold < 0 || fold >= dataset->fold_count)
    return gnn_fail(error, GNN_EINVAL, "", "there is no fold %lld: %s has %lld, counted from 0", (long long)fold, dataset->title, (long long)dataset->fold_count);
  unsigned char *member = calloc((size_t)rows + 1, 1);
  if (member == NULL) return gnn_fail_memory(error, rows);
  const int64_t valid = dataset->fold_has_valid ? (fold + 1) % dataset->fold_count : -1;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t own = dataset->row_fold[r];
    if (!gnn_splits_has_label(dataset, r)) continue;
    member[r] = (unsigned char)(1 << (own == fold ? GNN_TEST : own >= 0 && own == valid ? GNN_VALID : GNN_TRAIN));
  }
  gnn_status status = GNN_OK;
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++) status = gnn_splits_collect(dataset, s, member, error);
  free(member);
  dataset->fold = fold;
  if (status == GNN_OK && !dataset->has_split[GNN_TRAIN])
    return gnn_fail(error, GNN_EDATA, "E0711", "%s: with fold %lld for the test no row is left to train on", dataset->title, (long long)fold);
  return status;
}

gnn_status gnn_prepare_folds(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error) {
  const int64_t rows = gnn_splits_rows(dataset);
  int32_t *row_fold = gnn_dataset_alloc(dataset, rows, sizeof *row_fold, error);
  gnn_status status = row_fold ? GNN_OK : GNN_ENOMEM;
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++)
    if ((dataset->split_room[s] = gnn_dataset_alloc(dataset, rows, sizeof(int32_t), error)) == NULL) status = GNN_ENOMEM;
  for (int64_t r = 0; status == GNN_OK && r < rows; r++) row_fold[r] = -1;
  dataset->row_fold = row_fold;
  dataset->fold_has_valid = recipe->fold_has_valid;
  dataset->split_choices = 1;
  if (status == GNN_OK) status = recipe->fold_count ? folds_draw(dataset, recipe, row_fold, error) : folds_read(dataset, row_fold, error);
  if (status == GNN_OK && recipe->fold_has_valid && dataset->fold_count < 3)
    status = gnn_fail(error, GNN_EDATA, "E0711", "%s: of two folds one is for the test, so that a fold for validation leaves none to train on", dataset->title);
  if (status == GNN_OK) gnn_dataset_note(dataset, recipe->fold_count ? "%lld folds, drawn with seed %llu" : "%lld folds, as the data say", (long long)dataset->fold_count, (unsigned long long)recipe->split_seed);
  return status == GNN_OK ? gnn_dataset_choose_fold(dataset, 0, error) : status;
}
