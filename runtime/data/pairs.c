/* pairs.c: edges that are held out, and pairs that no edge joins. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prepare.h"
#include "runtime/base/checked.h"
#include "runtime/core/adjacency.h"
#include "runtime/shares.h"
#include "shuffle.h"

enum { PAIRS_SPLIT_STREAM = 0x9a12, PAIRS_DRAW_STREAM = 0x9a13, PAIRS_EACH_TASK = 4096 };

/* ---- pairs that no edge joins ---- */

/* Pairs by rows. Of a directed graph row v has the sources of pairs that end at v, all but v itself; where edges go both ways those below v; where
 * the source is kept, row v has the destinations of pairs that begin at v. Each of them that is not among the row's edges is open, and they are
 * numbered, row by row: a uniform number below their count is a uniform open pair, with nothing to reject. */
typedef struct pairs_space {
  int64_t nodes;
  const int64_t *ptr; /* edges by rows, ascending, none twice */
  const int32_t *to;
  int is_half;        /* below v only */
  int64_t *open;      /* [nodes + 1] */
  int32_t *guide;     /* [nodes + 1] */
} pairs_space;

/* How many open pairs the guide has one entry for. */
static int64_t pairs_of_guide(const pairs_space *space) { return space->open[space->nodes] / space->nodes + 1; }

static void pairs_count_open(const pairs_space *space) {
  space->open[0] = 0;
  for (int64_t v = 0; v < space->nodes; v++) {
    const int64_t below = gnn_adjacency_from(space->ptr, space->to, v, v) - space->ptr[v], all = space->ptr[v + 1] - space->ptr[v];
    const int64_t open = space->is_half ? v - below : space->nodes - 1 - (all - (gnn_adjacency_entry(space->ptr, space->to, v, v) >= 0));
    space->open[v + 1] = space->open[v] + open;
  }
  const int64_t each = pairs_of_guide(space);
  for (int64_t i = 0, v = 0; i <= space->nodes; i++) {
    while (v + 1 < space->nodes && space->open[v + 1] <= i * each) v++;
    space->guide[i] = (int32_t)v;
  }
}

/* Number k of the row's open pairs, from 0. Below edge j of the row lie to[j] - j nodes that are no edge's. */
static int32_t pairs_open_of_row(const pairs_space *space, int64_t row, int64_t k) {
  const int64_t first = space->ptr[row];
  if (!space->is_half && k >= row - (gnn_adjacency_from(space->ptr, space->to, row, row) - first) && gnn_adjacency_entry(space->ptr, space->to, row, row) < 0) k++; /* the node itself is none */
  int64_t low = first, high = space->ptr[row + 1];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (space->to[middle] - (middle - first) <= k) low = middle + 1;
    else high = middle;
  }
  return (int32_t)(k + low - first);
}

static int64_t pairs_row_of(const pairs_space *space, int64_t k) {
  const int64_t at = k / pairs_of_guide(space);
  return gnn_adjacency_row(space->open, space->guide[at], space->guide[at + 1] + 1, k);
}

static int64_t pairs_below(uint64_t key, int64_t index, int64_t bound) {
  const int64_t drawn = (int64_t)(gnn_random_uniform(key, (uint64_t)index) * (double)bound);
  return drawn < bound ? drawn : bound - 1;
}

typedef struct pairs_drawing {
  gnn_pairs *pairs;
  const pairs_space *space;
  uint64_t key;
} pairs_drawing;

/* The negatives of groups [begin, end). A source that is joined to every node has no open pair; its negatives are any. */
static void pairs_draw(const void *context, int64_t begin, int64_t end, int64_t task) {
  const pairs_drawing *drawing = context;
  gnn_pairs *pairs = drawing->pairs;
  const pairs_space *space = drawing->space;
  const uint64_t key = drawing->key;
  const int64_t each = 1 + pairs->negatives;
  (void)task;
  for (int64_t g = begin; g < end; g++)
    for (int64_t i = g * each + 1; i < (g + 1) * each; i++) {
      const int32_t source = pairs->source[g * each];
      const int64_t own = pairs->keeps_source ? space->open[source + 1] - space->open[source] : 0;
      const int64_t k = own ? space->open[source] + pairs_below(key, i, own) : pairs_below(key, i, space->open[space->nodes]);
      const int64_t row = own ? source : pairs_row_of(space, k);
      const int32_t other = pairs_open_of_row(space, row, k - space->open[row]);
      pairs->source[i] = pairs->keeps_source ? (int32_t)row : other;
      pairs->destination[i] = pairs->keeps_source ? other : (int32_t)row;
    }
}

/* ---- edges that are held out ---- */

/* Of an edge both ways of which are there the one that begins lower; no self-loop. */
static int pairs_is_edge(const gnn_dataset *dataset, int64_t source, int64_t destination) {
  return source != destination && (source < destination || gnn_adjacency_entry(dataset->in_ptr, dataset->in_source, source, destination) < 0);
}

/* Edges that are pairs, in the order of the graph; edge[] and destination[] may be NULL to count them. */
static int64_t pairs_list(const gnn_dataset *dataset, int32_t *edge, int32_t *destination) {
  int64_t count = 0;
  for (int64_t v = 0; v < dataset->nodes; v++)
    for (int64_t e = dataset->in_ptr[v]; e < dataset->in_ptr[v + 1]; e++) {
      if (!pairs_is_edge(dataset, dataset->in_source[e], v)) continue;
      if (edge) edge[count] = (int32_t)e, destination[e] = (int32_t)v;
      count++;
    }
  return count;
}

/* Without the edges that are held out; the arrays of prepared edges are ours to write. */
static void pairs_remove(gnn_dataset *dataset, const unsigned char *is_held, int64_t *origin) {
  int64_t *ptr = (int64_t *)(uintptr_t)dataset->in_ptr, kept = 0, begin = 0;
  int32_t *source = (int32_t *)(uintptr_t)dataset->in_source;
  for (int64_t v = 0; v < dataset->nodes; v++) {
    const int64_t end = ptr[v + 1];
    for (int64_t e = begin; e < end; e++) {
      if (is_held[e]) continue;
      source[kept] = source[e];
      if (origin) origin[kept] = origin[e];
      kept++;
    }
    begin = end;
    ptr[v + 1] = kept;
  }
  dataset->edges = kept;
}

typedef struct pairs_work {
  int32_t *edge, *destination;
  unsigned char *is_held;
  int64_t *ptr;
  int32_t *to;
} pairs_work;

static void pairs_work_free(pairs_work *work) {
  free(work->edge);
  free(work->destination);
  free(work->is_held);
  free(work->ptr);
  free(work->to);
}

/* Rows of pairs, as they are now; where the source is kept and edges go one way, by source into ptr and to. */
static pairs_space pairs_space_of(const gnn_dataset *dataset, const gnn_pairs *pairs, int64_t *ptr, int32_t *to) {
  pairs_space space = {dataset->nodes, dataset->in_ptr, dataset->in_source, dataset->is_symmetric && !pairs->keeps_source, pairs->open, pairs->guide};
  if (pairs->keeps_source && !dataset->is_symmetric) {
    gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, dataset->nodes, dataset->nodes, ptr, to, NULL);
    space.ptr = ptr;
    space.to = to;
  }
  pairs_count_open(&space);
  return space;
}

/* All edges in a random order, cut in three; what is held out is marked. */
static void pairs_split(const gnn_dataset *dataset, gnn_pairs *pairs, pairs_work *work, uint64_t seed) {
  const int64_t each = 1 + pairs->negatives;
  gnn_shuffle(work->edge, pairs->groups, gnn_random_key(seed, PAIRS_SPLIT_STREAM));
  for (int64_t g = 0; g < pairs->groups; g++) {
    const int32_t e = work->edge[g], source = dataset->in_source[e], destination = work->destination[e];
    pairs->source[g * each] = source;
    pairs->destination[g * each] = destination;
    if (g < pairs->count[GNN_TRAIN]) continue;
    work->is_held[e] = 1;
    const int64_t back = gnn_adjacency_entry(dataset->in_ptr, dataset->in_source, source, destination);
    if (back >= 0) work->is_held[back] = 1;
  }
}

static gnn_status pairs_refuse(const gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error) {
  const char *name = recipe->pairs.name;
  if (dataset->graphs > 1) return gnn_fail(error, GNN_EDATA, "E0712", "%s is a set of %s graphs; pairs are of one graph", dataset->title, gnn_count_text(dataset->graphs).text);
  if (dataset->type_count || dataset->relation_count) return gnn_fail(error, GNN_EDATA, "E0712", "%s has relations; pairs are of graphs with one kind of edges", dataset->title);
  if (recipe->keeps_duplicates) return gnn_fail(error, GNN_EDATA, "E0712", "pairs %s are of a graph in which two nodes have one edge each way: duplicates = drop", name);
  if (recipe->order != GNN_ORDER_GIVEN) return gnn_fail(error, GNN_EDATA, "E0710", "pairs %s are of a graph in the order of the data", name);
  if (gnn_dataset_relation(dataset, name) || gnn_dataset_field(dataset, name)) return gnn_fail(error, GNN_EDATA, "E0712", "%s has a field or relation called %s already", dataset->title, name);
  if (dataset->edges > INT32_MAX / (1 + recipe->pairs.negatives))
    return gnn_fail(error, GNN_EDATA, "E0712", "%s has %s edges; more than 2^31 - 1 pairs are not supported", dataset->title, gnn_count_text(dataset->edges).text);
  return GNN_OK;
}

static int64_t pairs_begin(const gnn_pairs *pairs, int split) {
  int64_t begin = 0;
  for (int s = 0; s < split; s++) begin += pairs->count[s] + pairs->others[s];
  return begin;
}

/* Where group g of a split begins, and the one before it ends. */
static int64_t pairs_group_begin(const gnn_pairs *pairs, int split, int64_t g) {
  return pairs_begin(pairs, split) + g + (pairs->count[split] ? pairs->others[split] * g / pairs->count[split] : 0);
}

gnn_pairs *gnn_pairs_new(gnn_dataset *dataset, const char *name, int64_t negatives, int64_t groups, int64_t count, gnn_error *error) {
  gnn_pairs *pairs = gnn_dataset_alloc(dataset, 1, sizeof *pairs, error);
  if (pairs == NULL) return NULL;
  *pairs = (gnn_pairs){.negatives = negatives, .groups = groups};
  snprintf(pairs->name, sizeof pairs->name, "%s", name);
  pairs->source = gnn_dataset_alloc(dataset, count, sizeof *pairs->source, error);
  pairs->destination = gnn_dataset_alloc(dataset, count, sizeof *pairs->destination, error);
  pairs->place = gnn_dataset_alloc(dataset, dataset->nodes + 1, sizeof *pairs->place, error);
  for (int i = 0; i < 2; i++) pairs->sorted[i] = gnn_dataset_alloc(dataset, count, sizeof *pairs->sorted[i], error);
  const int has_room = pairs->source && pairs->destination && pairs->place && pairs->sorted[0] && pairs->sorted[1];
  return dataset->pairs = has_room ? pairs : NULL;
}

static gnn_status pairs_make_room(gnn_dataset *dataset, gnn_pairs *pairs, pairs_work *work, gnn_error *error) {
  const int64_t edges = dataset->edges, nodes = dataset->nodes;
  pairs->open = gnn_dataset_alloc(dataset, nodes + 1, sizeof *pairs->open, error);
  pairs->guide = gnn_dataset_alloc(dataset, nodes + 1, sizeof *pairs->guide, error);
  if (pairs->open == NULL || pairs->guide == NULL) return GNN_ENOMEM;
  *work = (pairs_work){malloc((size_t)pairs->groups * sizeof *work->edge + 1), malloc((size_t)edges * sizeof *work->destination + 1), calloc((size_t)edges + 1, 1),
                       malloc((size_t)(nodes + 1) * sizeof *work->ptr), malloc((size_t)edges * sizeof *work->to + 1)};
  return work->edge && work->destination && work->is_held && work->ptr && work->to ? GNN_OK : gnn_fail_memory(error, edges * 16);
}

/* Where negatives keep the source of edges that go one way, drawing goes on needing the rows of train by source. */
static gnn_status pairs_keep_rows(gnn_dataset *dataset, gnn_pairs *pairs, gnn_error *error) {
  int64_t *ptr = NULL;
  int32_t *to = NULL;
  if (pairs->keeps_source && !dataset->is_symmetric) {
    ptr = gnn_dataset_alloc(dataset, dataset->nodes + 1, sizeof *ptr, error);
    to = gnn_dataset_alloc(dataset, dataset->edges, sizeof *to, error);
    if (ptr == NULL || to == NULL) return GNN_ENOMEM;
  }
  const pairs_space space = pairs_space_of(dataset, pairs, ptr, to);
  pairs->row_ptr = space.ptr;
  pairs->row_to = space.to;
  return GNN_OK;
}

static pairs_space pairs_space_of_train(const gnn_dataset *dataset) {
  const gnn_pairs *pairs = dataset->pairs;
  return (pairs_space){dataset->nodes, pairs->row_ptr, pairs->row_to, dataset->is_symmetric && !pairs->keeps_source, pairs->open, pairs->guide};
}

/* ---- pairs that the data bring ---- */

int gnn_pair_is_joined(const gnn_dataset *dataset, int split, int64_t pair) {
  const gnn_array *label = &dataset->raw_pair_label[split];
  return label->data == NULL || pair >= label->count || gnn_array_number(label, pair) > 0;
}

/* How many of a split an edge joins, and how many it does not. Of train these are `negatives` to each edge, or none where they are drawn. */
static gnn_status pairs_look(const gnn_dataset *dataset, const gnn_pairs_recipe *wanted, int split, int64_t *joined, int64_t *without, gnn_error *error) {
  const gnn_array *index = &dataset->raw_pairs[split], *label = &dataset->raw_pair_label[split];
  const int64_t pairs = index->data ? index->shape[1] : 0;
  *joined = 0;
  if (label->data && label->count != pairs)
    return gnn_fail(error, GNN_EDATA, "E0712", "%s has %s pairs in split %s and %s labels of them", dataset->title, gnn_count_text(pairs).text, gnn_split_names[split], gnn_count_text(label->count).text);
  for (int64_t i = 0; i < 2 * pairs; i++) {
    const int64_t v = gnn_array_integer(index, i);
    if (v < 0 || v >= dataset->nodes)
      return gnn_fail(error, GNN_EDATA, "E0701", "%s: pair %lld of split %s has node %lld, but nodes run 0 … %lld", dataset->title, (long long)(i % pairs), gnn_split_names[split], (long long)v, (long long)dataset->nodes - 1);
  }
  for (int64_t i = 0; i < pairs; i++) *joined += gnn_pair_is_joined(dataset, split, i);
  const int64_t others = pairs - *joined;
  *without = split == GNN_TRAIN ? *joined * wanted->negatives : others;
  if (split == GNN_TRAIN ? others == *without || others == 0 || wanted->is_resampled : (others > 0) == (*joined > 0)) return GNN_OK;
  if (split != GNN_TRAIN)
    return gnn_fail(error, GNN_EDATA, "E0712", "%s has %s edges in split %s and %s pairs without one: there have to be both", dataset->title, gnn_count_text(*joined).text, gnn_split_names[split], gnn_count_text(others).text);
  gnn_status status = gnn_fail(error, GNN_EDATA, "E0712", "%s has %s edges in split %s and %s pairs without one; %s says stored(negatives = uniform(%lld)), so many to each edge", dataset->title,
                               gnn_count_text(*joined).text, gnn_split_names[split], gnn_count_text(others).text, wanted->name, (long long)wanted->negatives);
  if (*joined && others && others % *joined == 0) gnn_fail_help(error, "stored(negatives = uniform(%lld))", (long long)(others / *joined));
  return status;
}

/* Each edge with its share of the others, one after the other. */
static void pairs_fill(const gnn_dataset *dataset, gnn_pairs *pairs, int split) {
  const gnn_array *index = &dataset->raw_pairs[split];
  const int64_t count = index->data ? index->shape[1] : 0;
  int64_t joined = 0, group = 0, next = pairs_group_begin(pairs, split, 0) + 1; /* the next of the others is of this group */
  for (int64_t i = 0; i < count; i++) {
    const int is_joined = gnn_pair_is_joined(dataset, split, i);
    while (!is_joined && group < pairs->count[split] && next >= pairs_group_begin(pairs, split, group + 1)) next = pairs_group_begin(pairs, split, ++group) + 1;
    if (!is_joined && group >= pairs->count[split]) continue; /* those of train that are drawn anew */
    const int64_t at = is_joined ? pairs_group_begin(pairs, split, joined++) : next++;
    pairs->source[at] = (int32_t)gnn_array_integer(index, i);
    pairs->destination[at] = (int32_t)gnn_array_integer(index, count + i);
  }
}

static gnn_status pairs_of_data(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error) {
  const gnn_pairs_recipe *wanted = &recipe->pairs;
  int64_t joined[GNN_SPLIT_COUNT], others[GNN_SPLIT_COUNT], groups = 0, count = 0;
  gnn_status status = pairs_refuse(dataset, recipe, error);
  if (status == GNN_OK && dataset->raw_pairs[GNN_TRAIN].data == NULL) {
    status = gnn_fail(error, GNN_EDATA, "E0712", "%s brings no pairs: there is no train_edge_label_index", dataset->title);
    gnn_fail_help(error, "split_edges(valid = 0.05, test = 0.1) makes them of the edges");
  }
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++) {
    status = pairs_look(dataset, wanted, s, &joined[s], &others[s], error);
    if (status == GNN_OK) groups += joined[s], count += joined[s] + others[s];
  }
  if (status != GNN_OK) return status;
  if (joined[GNN_TRAIN] == 0) return gnn_fail(error, GNN_EDATA, "E0712", "%s has no edges among the pairs of split train", dataset->title);
  if (count > INT32_MAX) return gnn_fail(error, GNN_EDATA, "E0712", "%s has %s edges among its pairs, %s with those without one; more than 2^31 - 1 pairs are not supported", dataset->title, gnn_count_text(groups).text, gnn_count_text(count).text);
  gnn_pairs *pairs = gnn_pairs_new(dataset, wanted->name, wanted->negatives, groups, count, error);
  if (pairs == NULL) return GNN_ENOMEM;
  pairs->keeps_source = wanted->keeps_source;
  memcpy(pairs->count, joined, sizeof joined);
  memcpy(pairs->others, others, sizeof others);
  const int is_drawn = wanted->is_resampled || dataset->raw_pairs[GNN_TRAIN].shape[1] == joined[GNN_TRAIN];
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) pairs_fill(dataset, pairs, s);
  if (!is_drawn) return GNN_OK;
  pairs->open = gnn_dataset_alloc(dataset, dataset->nodes + 1, sizeof *pairs->open, error);
  pairs->guide = gnn_dataset_alloc(dataset, dataset->nodes + 1, sizeof *pairs->guide, error);
  if (pairs->open == NULL || pairs->guide == NULL) return GNN_ENOMEM;
  status = pairs_keep_rows(dataset, pairs, error);
  if (status != GNN_OK) return status;
  const pairs_space train = pairs_space_of_train(dataset);
  if (train.open[train.nodes] == 0) return gnn_fail(error, GNN_EDATA, "E0712", "%s joins every node to every other, so there are no pairs without an edge", dataset->title);
  pairs_draw(&(pairs_drawing){pairs, &train, gnn_random_key(wanted->seed, PAIRS_DRAW_STREAM)}, 0, joined[GNN_TRAIN], 0);
  return GNN_OK;
}

gnn_status gnn_prepare_pairs(gnn_dataset *dataset, const gnn_recipe *recipe, int64_t *origin, gnn_error *error) {
  const gnn_pairs_recipe *wanted = &recipe->pairs;
  if (wanted->name == NULL) return GNN_OK;
  if (wanted->is_stored) return pairs_of_data(dataset, recipe, error);
  gnn_status status = pairs_refuse(dataset, recipe, error);
  const int64_t groups = status == GNN_OK ? pairs_list(dataset, NULL, NULL) : 0;
  gnn_pairs *pairs = status == GNN_OK ? gnn_pairs_new(dataset, wanted->name, wanted->negatives, groups, groups * (1 + wanted->negatives), error) : NULL;
  if (pairs == NULL) return status == GNN_OK ? GNN_ENOMEM : status;
  pairs->keeps_source = wanted->keeps_source;
  gnn_share_out(wanted->valid, wanted->test, pairs->groups, pairs->count);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) pairs->others[s] = pairs->count[s] * wanted->negatives;
  if (pairs->count[GNN_TRAIN] == 0)
    return gnn_fail(error, GNN_EDATA, "E0712", "%s has %s edges between different nodes; none is left to train on", dataset->title, gnn_count_text(pairs->groups).text);
  pairs_work work = {0};
  status = pairs_make_room(dataset, pairs, &work, error);
  if (status == GNN_OK) {
    const uint64_t key = gnn_random_key(wanted->seed, PAIRS_DRAW_STREAM);
    const int64_t both_ways = dataset->edges;
    pairs_list(dataset, work.edge, work.destination);
    pairs_split(dataset, pairs, &work, wanted->seed);
    const pairs_space all = pairs_space_of(dataset, pairs, work.ptr, work.to);
    if (all.open[all.nodes] == 0) status = gnn_fail(error, GNN_EDATA, "E0712", "%s joins every node to every other, so there are no pairs without an edge", dataset->title);
    else pairs_draw(&(pairs_drawing){pairs, &all, key}, pairs->count[GNN_TRAIN], pairs->groups, 0);
    if (status == GNN_OK) {
      pairs_remove(dataset, work.is_held, origin);
      pairs->held = both_ways - dataset->edges;
      gnn_dataset_note(dataset, "pairs %s: %s/%s/%s edges, with %s pairs without an edge to each; %s of the graph's %s edges are held out", wanted->name,
                       gnn_count_text(pairs->count[GNN_TRAIN]).text, gnn_count_text(pairs->count[GNN_VALID]).text, gnn_count_text(pairs->count[GNN_TEST]).text,
                       gnn_count_text(pairs->negatives).text, gnn_count_text(both_ways - dataset->edges).text, gnn_count_text(both_ways).text);
      status = gnn_prepare_survey(dataset, error);
    }
    if (status == GNN_OK) status = pairs_keep_rows(dataset, pairs, error);
    if (status == GNN_OK) {
      const pairs_space train = pairs_space_of_train(dataset);
      pairs_draw(&(pairs_drawing){pairs, &train, key}, 0, pairs->count[GNN_TRAIN], 0);
    }
  }
  pairs_work_free(&work);
  return status;
}

/* ---- the pairs as rows ---- */

/* to[] = from[] (NULL: 0, 1, ..) sorted by end[], stably. */
static void pairs_sort(const gnn_pairs *pairs, int64_t nodes, const int32_t *end, const int32_t *from, int32_t *to) {
  const int64_t count = pairs_begin(pairs, GNN_SPLIT_COUNT);
  int64_t *place = pairs->place;
  memset(place, 0, (size_t)(nodes + 1) * sizeof *place);
  for (int64_t i = 0; i < count; i++) place[end[i] + 1]++;
  for (int64_t v = 0; v < nodes; v++) place[v + 1] += place[v];
  for (int64_t i = 0; i < count; i++) {
    const int32_t pair = from ? from[i] : (int32_t)i;
    to[place[end[pair]]++] = pair;
  }
}

/* Relation, fields and splits from the list of groups. */
static void pairs_arrange(gnn_dataset *dataset) {
  gnn_pairs *pairs = dataset->pairs;
  const gnn_data_relation *relation = &dataset->relations[pairs->relation];
  const int64_t count = pairs_begin(pairs, GNN_SPLIT_COUNT), valid = pairs_begin(pairs, GNN_VALID), test = pairs_begin(pairs, GNN_TEST), nodes = dataset->nodes;
  int64_t *ptr = (int64_t *)(uintptr_t)relation->in_ptr, filled[GNN_SPLIT_COUNT] = {0};
  int32_t *source = (int32_t *)(uintptr_t)relation->in_source, *pair_of = pairs->sorted[1], *row_of = pairs->sorted[0];
  float *label = (float *)(uintptr_t)dataset->fields[pairs->label].dense;
  int32_t *ring = (int32_t *)(uintptr_t)dataset->fields[pairs->ring].label;
  pairs_sort(pairs, nodes, pairs->source, NULL, pairs->sorted[0]);
  pairs_sort(pairs, nodes, pairs->destination, pairs->sorted[0], pair_of);
  memset(ptr, 0, (size_t)(nodes + 1) * sizeof *ptr);
  for (int64_t r = 0; r < count; r++) {
    const int32_t pair = pair_of[r];
    const int split = pair < valid ? GNN_TRAIN : pair < test ? GNN_VALID : GNN_TEST;
    source[r] = pairs->source[pair];
    ptr[pairs->destination[pair] + 1]++;
    label[r] = 0;
    row_of[pair] = (int32_t)r;
    dataset->split_room[split][filled[split]++] = (int32_t)r;
  }
  for (int64_t v = 0; v < nodes; v++) ptr[v + 1] += ptr[v];
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    for (int64_t g = 0, begin = pairs_begin(pairs, s), end; g < pairs->count[s]; g++, begin = end) {
      end = pairs_group_begin(pairs, s, g + 1);
      label[row_of[begin]] = 1;
      for (int64_t i = begin; i < end; i++) {
        const int32_t next = row_of[i + 1 < end ? i + 1 : begin];
        ring[row_of[i]] = i == begin ? next : -1 - next;
      }
    }
}

static gnn_status pairs_add_field(gnn_dataset *dataset, const char *suffix, gnn_storage storage, int *index, gnn_error *error) {
  const gnn_pairs *pairs = dataset->pairs;
  const gnn_array nothing = {0};
  char name[80];
  snprintf(name, sizeof name, "%s.%s", dataset->relations[pairs->relation].name, suffix);
  gnn_status status = gnn_dataset_add_field(dataset, name, GNN_RELATION, &nothing, error);
  if (status != GNN_OK) return status;
  const int64_t count = pairs_begin(pairs, GNN_SPLIT_COUNT);
  gnn_data_field *field = &dataset->fields[*index = dataset->field_count - 1];
  field->set = GNN_RELATIONS + pairs->relation;
  field->storage = storage;
  field->rows = count;
  field->width = 1;
  if (storage == GNN_DENSE) {
    field->dense = gnn_dataset_alloc(dataset, count, sizeof *field->dense, error);
    field->nonzeros = pairs->groups;
    field->greatest = 1;
    return field->dense ? GNN_OK : GNN_ENOMEM;
  }
  field->label = gnn_dataset_alloc(dataset, count, sizeof *field->label, error);
  field->classes = count;
  field->labelled = count;
  return field->label ? GNN_OK : GNN_ENOMEM;
}

gnn_status gnn_prepare_pair_rows(gnn_dataset *dataset, gnn_error *error) {
  gnn_pairs *pairs = dataset->pairs;
  const int64_t count = pairs_begin(pairs, GNN_SPLIT_COUNT);
  gnn_data_relation *relation = gnn_dataset_add_relation(dataset, pairs->name, 0, 0, error);
  if (relation == NULL) return error->message[0] ? GNN_EDATA : GNN_ENOMEM;
  pairs->relation = dataset->relation_count - 1;
  relation->edges = count;
  relation->in_ptr = gnn_dataset_alloc(dataset, dataset->nodes + 1, sizeof *relation->in_ptr, error);
  relation->in_source = relation->in_ptr ? gnn_dataset_alloc(dataset, count, sizeof *relation->in_source, error) : NULL;
  gnn_status status = relation->in_source ? GNN_OK : GNN_ENOMEM;
  if (status == GNN_OK) status = pairs_add_field(dataset, "label", GNN_DENSE, &pairs->label, error);
  if (status == GNN_OK) status = pairs_add_field(dataset, "ring", GNN_LABEL, &pairs->ring, error);
  dataset->label_field = pairs->label;
  dataset->split_domain = GNN_RELATION;
  for (int s = 0; status == GNN_OK && s < GNN_SPLIT_COUNT; s++) {
    dataset->split_count[s] = pairs->count[s] + pairs->others[s];
    dataset->has_split[s] = pairs->count[s] > 0;
    dataset->split_room[s] = gnn_dataset_alloc(dataset, dataset->split_count[s], sizeof *dataset->split_room[s], error);
    dataset->split_rows[s] = dataset->split_room[s];
    if (dataset->split_room[s] == NULL) status = GNN_ENOMEM;
  }
  if (status == GNN_OK) pairs_arrange(dataset);
  return status;
}

void gnn_pairs_draw(gnn_dataset *dataset, gnn_team *team, uint64_t key) {
  const pairs_space train = pairs_space_of_train(dataset);
  const pairs_drawing drawing = {dataset->pairs, &train, gnn_random_key(key, PAIRS_DRAW_STREAM)};
  gnn_parallel(team, dataset->pairs->count[GNN_TRAIN], PAIRS_EACH_TASK, pairs_draw, &drawing);
  pairs_arrange(dataset);
}

/* ---- pairs of ranks ---- */

/* Of a row, how many open pairs have their other node among the rows of each rank. */
static void pairs_count_row(const pairs_space *space, int ranks, const int64_t *first, int64_t row, int64_t *open) {
  int64_t e = space->ptr[row];
  for (int r = 0; r < ranks; r++) {
    const int64_t end = space->is_half && first[r + 1] > row ? row : first[r + 1];
    open[r] = end > first[r] ? end - first[r] : 0;
    if (!space->is_half && row >= first[r] && row < first[r + 1]) open[r]--;
    for (; e < space->ptr[row + 1] && space->to[e] < first[r + 1]; e++) open[r] -= space->to[e] < end && space->to[e] != row;
  }
}

static int pairs_rank_of(int ranks, const int64_t *first, int64_t row) {
  int rank = 0;
  while (rank + 1 < ranks && first[rank + 1] <= row) rank++;
  return rank;
}

gnn_status gnn_pairs_among(const gnn_dataset *dataset, int ranks, const int64_t *first, int64_t *now, double *mean, gnn_error *error) {
  const gnn_pairs *pairs = dataset->pairs;
  const pairs_space space = pairs_space_of_train(dataset);
  const int64_t each = 1 + pairs->negatives;
  double *all = calloc((size_t)(ranks * ranks), sizeof *all), *of_row = calloc((size_t)dataset->nodes + 1, sizeof *of_row), anywhere = 0;
  int64_t *open = malloc((size_t)ranks * sizeof *open);
  gnn_status status = all && of_row && open ? GNN_OK : gnn_fail_memory(error, 8 * dataset->nodes);
  memset(now, 0, (size_t)(ranks * ranks) * sizeof *now);
  memset(mean, 0, (size_t)(ranks * ranks) * sizeof *mean);
  for (int64_t g = 0; status == GNN_OK && g < pairs->count[GNN_TRAIN]; g++) {
    const int32_t source = pairs->source[g * each];
    const int is_own = pairs->keeps_source && space.open[source + 1] > space.open[source];
    *(is_own ? &of_row[source] : &anywhere) += (double)pairs->negatives;
    for (int64_t i = g * each + 1; i < (g + 1) * each; i++) now[pairs_rank_of(ranks, first, pairs->source[i]) * ranks + pairs_rank_of(ranks, first, pairs->destination[i])]++;
  }
  for (int64_t row = 0, own = 0; status == GNN_OK && row < dataset->nodes; row++) {
    own = pairs_rank_of(ranks, first, row);
    pairs_count_row(&space, ranks, first, row, open);
    for (int r = 0; r < ranks; r++) {
      const int64_t at = pairs->keeps_source ? own * ranks + r : r * ranks + own;
      all[at] += (double)open[r];
      if (of_row[row] > 0) mean[at] += of_row[row] * (double)open[r] / (double)(space.open[row + 1] - space.open[row]);
    }
  }
  for (int k = 0; status == GNN_OK && k < ranks * ranks; k++) mean[k] += anywhere * all[k] / (double)space.open[dataset->nodes];
  free(all);
  free(of_row);
  free(open);
  return status;
}
