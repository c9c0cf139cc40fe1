/* prepare_splits.c: which rows are trained on, validated with and tested with. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prepare.h"
#include "runtime/core/adjacency.h"
#include "shuffle.h"

int64_t gnn_splits_rows(const gnn_dataset *dataset) {
  if (dataset->label_field >= 0) return dataset->fields[dataset->label_field].rows;
  return dataset->split_domain == GNN_EDGE ? dataset->edges : dataset->nodes;
}

int gnn_splits_has_label(const gnn_dataset *dataset, int64_t row) {
  if (dataset->label_field < 0) return 1;
  const gnn_data_field *field = &dataset->fields[dataset->label_field];
  if (field->storage == GNN_LABEL) return field->label[row] >= 0;
  int is_labelled = 1;
  for (int64_t c = 0; field->storage == GNN_DENSE && c < field->width; c++) is_labelled &= !isnan(field->dense[row * field->width + c]);
  return is_labelled;
}

/* What masks and lists speak of: the rows, but edges as they are stored. */
static int64_t splits_marks(const gnn_dataset *dataset) { return dataset->split_domain == GNN_EDGE ? dataset->raw_source.count : gnn_splits_rows(dataset); }

/* A mask of numbers other than 0 and 1, all of them numbers of rows: somebody saved the rows themselves, for which a byte is not enough. */
static int splits_looks_like_ids(const gnn_array *array, int64_t offset, int64_t length, int64_t rows, int64_t *least, int64_t *greatest) {
  *least = INT64_MAX;
  *greatest = -1;
  if (array->dtype == GNN_BOOL || array->dtype == GNN_U8 || array->dtype == GNN_I8) return 0;
  for (int64_t k = 0; k < length; k++) {
    const int64_t v = gnn_array_integer(array, offset + k);
    *least = v < *least ? v : *least;
    *greatest = v > *greatest ? v : *greatest;
  }
  return *greatest > 1 && *least >= 0 && *greatest < rows;
}

/* member[r] |= 1 << split for each row of the split. */
static gnn_status splits_mark(gnn_dataset *dataset, const gnn_array *array, int64_t offset, int is_ids, int split,
                              unsigned char *member, gnn_error *error) {
  int64_t rows = splits_marks(dataset);
  const char *name = gnn_split_names[split];
  if (gnn_dtype_is_float(array->dtype))
    return gnn_fail(error, GNN_EDATA, "", "%s: split %s is stored as %s; a mask of 0 and 1 or row numbers are needed",
                    dataset->title, name, gnn_dtype_name(array->dtype));
  if (!is_ids) {
    int64_t length = array->shape[array->rank - 1], least, greatest;
    if (splits_looks_like_ids(array, offset, length, rows, &least, &greatest)) {
      gnn_status status = gnn_fail(error, GNN_EDATA, "", "%s: split %s is read as a mask, and holds row numbers: its %s entries run %lld … %lld", dataset->title, name, gnn_count_text(length).text,
                                   (long long)least, (long long)greatest);
      gnn_fail_help(error, "a mask has an entry, 0 or 1, for each of the %s rows: mask = numpy.zeros(%lld, bool); mask[numbers] = True", gnn_count_text(rows).text, (long long)rows);
      return status;
    }
    if (length != rows)
      return gnn_fail(error, GNN_EDATA, "", "%s: the mask of split %s has %s entries for %s labels", dataset->title, name,
                      gnn_count_text(length).text, gnn_count_text(rows).text);
    for (int64_t r = 0; r < rows; r++) {
      int64_t v = gnn_array_integer(array, offset + r);
      if (v != 0 && v != 1)
        return gnn_fail(error, GNN_EDATA, "", "%s: entry %lld of the mask of split %s is %lld; 0 or 1 is needed",
                        dataset->title, (long long)r, name, (long long)v);
      if (v) member[r] |= (unsigned char)(1 << split);
    }
    return GNN_OK;
  }
  for (int64_t k = 0; k < array->count; k++) {
    int64_t r = gnn_array_integer(array, k);
    if (r < 0 || r >= rows)
      return gnn_fail(error, GNN_EDATA, "E0701", "%s: split %s names row %lld, but rows run 0 … %lld", dataset->title, name,
                      (long long)r, (long long)rows - 1);
    if (member[r] >> split & 1)
      return gnn_fail(error, GNN_EDATA, "E0707", "%s: row %lld is twice in split %s", dataset->title, (long long)r, name);
    member[r] |= (unsigned char)(1 << split);
  }
  return GNN_OK;
}

/* An edge and its reverse are in the same split: leader[e] is the one of the two that is drawn. */
static gnn_status splits_pair_edges(const gnn_dataset *dataset, int32_t **leader, gnn_error *error) {
  int32_t *to = malloc((size_t)dataset->edges * sizeof *to + 1);
  if (to == NULL) return gnn_fail_memory(error, dataset->edges * (int64_t)sizeof *to);
  for (int64_t v = 0; v < dataset->nodes; v++)
    for (int64_t e = dataset->in_ptr[v]; e < dataset->in_ptr[v + 1]; e++) {
      const int32_t s = dataset->in_source[e];
      const int64_t copy = e - gnn_adjacency_from(dataset->in_ptr, dataset->in_source, v, s); /* of several between the two */
      const int64_t back = gnn_adjacency_from(dataset->in_ptr, dataset->in_source, s, v) + copy; /* of a self-loop itself */
      const int is_led = back < dataset->in_ptr[s + 1] && dataset->in_source[back] == v && back < e && gnn_splits_has_label(dataset, back);
      to[e] = (int32_t)(is_led ? back : e);
    }
  *leader = to;
  return GNN_OK;
}

/* A random permutation of the labelled rows, cut in three. */
static gnn_status splits_random(gnn_dataset *dataset, const gnn_recipe *recipe, unsigned char *member, gnn_error *error) {
  const double *fraction = recipe->split_fraction;
  double total = fraction[0] + fraction[1] + fraction[2];
  if (!(fraction[0] >= 0 && fraction[1] >= 0 && fraction[2] >= 0 && total > 0 && total <= 1 + 1e-9))
    return gnn_fail(error, GNN_EINVAL, "", "random(%g, %g, %g): shares must not be negative nor sum to more than 1",
                    fraction[0], fraction[1], fraction[2]);
  int64_t rows = gnn_splits_rows(dataset), count = 0;
  int32_t *order = malloc((size_t)(rows ? rows : 1) * sizeof *order), *leader = NULL;
  if (order == NULL) return gnn_fail_memory(error, rows * (int64_t)sizeof *order);
  if (dataset->split_domain == GNN_EDGE && splits_pair_edges(dataset, &leader, error) != GNN_OK) {
    free(order);
    return GNN_ENOMEM;
  }
  for (int64_t r = 0; r < rows; r++)
    if (gnn_splits_has_label(dataset, r) && (leader == NULL || leader[r] == r)) order[count++] = (int32_t)r;
  gnn_shuffle(order, count, gnn_random_key(recipe->split_seed, GNN_SPLITS_STREAM));
  int64_t at = 0, cut[GNN_SPLIT_COUNT];
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    cut[s] = (int64_t)(fraction[s] * (double)count + 1e-9);
    if (s == GNN_TEST && total > 1 - 1e-9 && fraction[s] > 0) cut[s] = count - at;
    if (cut[s] > count - at) cut[s] = count - at;
    for (int64_t k = 0; k < cut[s]; k++) member[order[at++]] |= (unsigned char)(1 << s);
  }
  for (int64_t r = 0; leader && r < rows; r++) member[r] = member[leader[r]];
  free(order);
  free(leader);
  gnn_dataset_note(dataset, "split random(%g, %g, %g, seed = %llu): %s/%s/%s rows", fraction[0], fraction[1], fraction[2],
                   (unsigned long long)recipe->split_seed, gnn_count_text(cut[0]).text, gnn_count_text(cut[1]).text,
                   gnn_count_text(cut[2]).text);
  return GNN_OK;
}

static gnn_status splits_stored(gnn_dataset *dataset, const gnn_recipe *recipe, unsigned char *member, gnn_error *error) {
  dataset->split_choices = 0;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    if (dataset->raw_split[s].data && dataset->split_choices < 1) dataset->split_choices = 1;
    const gnn_array *many = &dataset->raw_splits[s];
    if (many->data && many->rank == 2 && many->shape[0] > dataset->split_choices) dataset->split_choices = many->shape[0];
  }
  int64_t index = recipe->split_index;
  if (index < 0 || (index > 0 && index >= dataset->split_choices))
    return gnn_fail(error, GNN_EDATA, "", "split = index(%lld): %s has %lld split%s, counted from 0", (long long)index,
                    dataset->title, (long long)dataset->split_choices, dataset->split_choices == 1 ? "" : "s");
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const gnn_array *one = &dataset->raw_split[s], *many = &dataset->raw_splits[s];
    gnn_status status = GNN_OK;
    if (index == 0 && one->data) {
      if (one->rank != 1)
        return gnn_fail(error, GNN_EDATA, "", "%s: split %s has the shape %s; one entry a row is needed", dataset->title,
                        gnn_split_names[s], gnn_shape_text(one).text);
      status = splits_mark(dataset, one, 0, dataset->is_split_ids[s], s, member, error);
    } else if (many->data) {
      if (many->rank != 2 || index >= many->shape[0])
        return gnn_fail(error, GNN_EDATA, "", "%s: the masks of split %s have the shape %s; splits by rows are needed",
                        dataset->title, gnn_split_names[s], gnn_shape_text(many).text);
      status = splits_mark(dataset, many, index * many->shape[1], 0, s, member, error);
    }
    if (status != GNN_OK) return status;
  }
  return GNN_OK;
}

static gnn_status splits_overlap(const gnn_dataset *dataset, const unsigned char *member, gnn_error *error) {
  int64_t rows = splits_marks(dataset);
  const char *unit = dataset->split_domain == GNN_GRAPH ? "graph" : dataset->split_domain == GNN_EDGE ? "edge" : "node";
  for (int a = 0; a < GNN_SPLIT_COUNT; a++) {
    for (int b = a + 1; b < GNN_SPLIT_COUNT; b++) {
      int64_t both = 0, first = -1;
      for (int64_t r = 0; r < rows; r++) {
        if (!(member[r] >> a & member[r] >> b & 1)) continue;
        if (first < 0) first = r;
        both++;
      }
      if (both == 0) continue;
      gnn_status status = gnn_fail(error, GNN_EDATA, "E0707", "%s %s%s in both %s and %s", gnn_count_text(both).text, unit, both == 1 ? " is" : "s are",
                                   gnn_split_names[a], gnn_split_names[b]);
      gnn_fail_help(error, "the first of them is %lld", (long long)first);
      return status;
    }
  }
  return GNN_OK;
}

/* Rows of one split, without those that have no label to learn from. */
gnn_status gnn_splits_collect(gnn_dataset *dataset, int split, const unsigned char *member, gnn_error *error) {
  int64_t rows = gnn_splits_rows(dataset), marked = 0, count = 0;
  for (int64_t r = 0; r < rows; r++) {
    if (!(member[r] >> split & 1)) continue;
    marked++;
    count += gnn_splits_has_label(dataset, r);
  }
  int32_t *list = dataset->split_room[split] ? dataset->split_room[split] : gnn_dataset_alloc(dataset, count, sizeof *list, error);
  if (list == NULL) return GNN_ENOMEM;
  int64_t at = 0;
  const int32_t *row_id = dataset->split_domain == GNN_NODE ? dataset->node_id : NULL; /* edge fields are in the order of the edges */
  for (int64_t k = 0; k < rows; k++) {
    const int64_t r = row_id ? row_id[k] : k;
    if ((member[r] >> split & 1) && gnn_splits_has_label(dataset, r)) list[at++] = (int32_t)k;
  }
  dataset->split_rows[split] = list;
  dataset->split_count[split] = count;
  dataset->has_split[split] = count > 0;
  if (count < marked)
    gnn_dataset_note(dataset, "%s rows of split %s have no label and are left out", gnn_count_text(marked - count).text,
                     gnn_split_names[split]);
  return GNN_OK;
}

/* From edges as they are stored to those of the graph: a reverse is where the edge is that it was made from. */
static gnn_status splits_follow_edges(const gnn_dataset *dataset, const int64_t *origin, unsigned char **member, gnn_error *error) {
  unsigned char *moved = malloc((size_t)dataset->edges + 1);
  if (moved == NULL) return gnn_fail_memory(error, dataset->edges);
  for (int64_t e = 0; e < dataset->edges; e++) moved[e] = origin[e] < 0 ? 0 : (*member)[origin[e]];
  free(*member);
  *member = moved;
  return GNN_OK;
}

static gnn_status splits_check_edges(const gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error) {
  if (dataset->split_domain != GNN_EDGE) return GNN_OK;
  if (recipe->has_folds) return gnn_fail(error, GNN_EDATA, "", "%s: folds are of nodes or graphs; the labels %s are those of edges", dataset->title, dataset->fields[dataset->label_field].name);
  if (dataset->edges <= INT32_MAX) return GNN_OK;
  return gnn_fail(error, GNN_EDATA, "", "%s has %s edges; labels of more than 2^31 - 1 are not supported", dataset->title, gnn_count_text(dataset->edges).text);
}

/* What is stored can only be of the edges: a mask with one entry for each, or the number of a row that there is no other of. */
static int splits_fit_edges_only(const gnn_dataset *dataset) {
  const int64_t rows = gnn_splits_rows(dataset), edges = dataset->raw_source.count;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    for (int many = 0; many < 2; many++) {
      const gnn_array *array = many ? &dataset->raw_splits[s] : &dataset->raw_split[s];
      if (array->data == NULL || gnn_dtype_is_float(array->dtype) || array->rank < 1) continue;
      if (many || !dataset->is_split_ids[s]) {
        if (array->shape[array->rank - 1] == edges && edges != rows) return 1;
        continue;
      }
      int64_t most = -1;
      for (int64_t k = 0; k < array->count; k++) {
        const int64_t row = gnn_array_integer(array, k);
        most = row > most ? row : most;
      }
      if (most >= rows && most < edges) return 1;
    }
  return 0;
}

/* Without a program nobody says what is learned, and a split is the only sign that it is something of edges. */
static void splits_guess_edges(gnn_dataset *dataset) {
  if (!splits_fit_edges_only(dataset)) return;
  dataset->label_field = -1;
  dataset->split_domain = GNN_EDGE;
  for (int i = dataset->field_count - 1; i >= 0; i--)
    if (dataset->fields[i].domain == GNN_EDGE && dataset->fields[i].storage == GNN_LABEL) dataset->label_field = i;
}

void gnn_prepare_no_split(gnn_dataset *dataset) {
  if (dataset->raw_pairs[GNN_TRAIN].data == NULL) /* pairs have theirs */
    gnn_dataset_advise(dataset, "the data carry no split: split = random(0.6, 0.2, 0.2, seed = 0) makes one");
}

gnn_status gnn_prepare_splits(gnn_dataset *dataset, const gnn_recipe *recipe, const int64_t *origin, gnn_error *error) {
  dataset->split_domain = dataset->label_field >= 0 ? dataset->fields[dataset->label_field].domain : GNN_NODE;
  const int has_edge_fields = origin != NULL; /* without any there is nothing of edges that could be learned */
  if (has_edge_fields && !recipe->target && !recipe->has_folds && !recipe->has_random_split) splits_guess_edges(dataset);
  gnn_status status = splits_check_edges(dataset, recipe, error);
  if (status != GNN_OK) return status;
  const int64_t rows = gnn_splits_rows(dataset), marks = splits_marks(dataset), most = rows > marks ? rows : marks;
  unsigned char *member = calloc((size_t)most + 1, 1);
  if (member == NULL) return gnn_fail_memory(error, most);
  int has_stored = 0;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) has_stored |= dataset->raw_split[s].data || dataset->raw_splits[s].data;
  if (recipe->has_folds) {
    free(member);
    if (has_stored) gnn_dataset_note(dataset, "the split stored with the data is not used");
    return gnn_prepare_folds(dataset, recipe, error);
  }
  if (recipe->has_random_split) {
    if (has_stored) gnn_dataset_note(dataset, "the split stored with the data is not used");
    status = splits_random(dataset, recipe, member, error);
  } else {
    status = splits_stored(dataset, recipe, member, error);
    if (status == GNN_OK) status = splits_overlap(dataset, member, error);
    if (status == GNN_OK && dataset->split_domain == GNN_EDGE) status = splits_follow_edges(dataset, origin, &member, error);
  }
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++) status = gnn_splits_collect(dataset, s, member, error);
  free(member);
  if (status != GNN_OK) return status;
  if (!has_stored && !recipe->has_random_split) {
    gnn_prepare_no_split(dataset);
    return GNN_OK;
  }
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int is_stored = dataset->raw_split[s].data || dataset->raw_splits[s].data;
    if (is_stored && !recipe->has_random_split && !dataset->has_split[s])
      gnn_dataset_note(dataset, "split %s is empty", gnn_split_names[s]);
  }
  if (!dataset->has_split[GNN_TRAIN])
    return gnn_fail(error, GNN_EDATA, "", "%s: split train is empty, so there is nothing to learn from", dataset->title);
  return GNN_OK;
}
