/* ogb.c: the folders in which the sets of the Open Graph Benchmark are published: raw/ with text without header, or with data.npz, of one graph or of many, or of nodes of
 * several types; and split/NAME/ with the rows of each split (ogb/io/read_graph_raw.py of snap-stanford/ogb says what is in them). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ogb.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_names.h"
#include "keyed.h"
#include "npz.h"
#include "numbers.h"
#include "readers.h"

enum { OGB_PATH_MOST = 4096 };

typedef struct ogb_set {
  gnn_dataset *dataset;
  const char *path;
  int copies;             /* 2: each edge is read both ways */
  int64_t graphs;
  int64_t *nodes, *edges; /* [graphs] of each, as they lie */
  char room[OGB_PATH_MOST];
  gnn_error *error;
} ogb_set;

static const gnn_table_rules ogb_rules = {.separator = ','};

/* "PATH/a/b.csv.gz" or without .gz; valid until the next; NULL: neither is there. */
static const char *ogb_file(ogb_set *set, const char *folder, const char *name) {
  static const char *const endings[] = {".csv.gz", ".csv", ".npz"};
  for (int i = 0; i < 3; i++)
    if (snprintf(set->room, sizeof set->room, "%s/%s/%s%s", set->path, folder, name, endings[i]) < OGB_PATH_MOST && gnn_path_exists(set->room)) return set->room;
  return NULL;
}

static gnn_status ogb_missing(const ogb_set *set, const char *folder, const char *name) {
  return gnn_fail(set->error, GNN_EDATA, "E0001", "\"%s\" has no %s/%s.csv.gz", set->path, folder, name);
}

static gnn_status ogb_numbers(ogb_set *set, const char *path, int copies, gnn_array *array) {
  const gnn_numbers_rules rules = {ogb_rules, copies, 0};
  return gnn_read_numbers(set->dataset, path, &rules, array, set->error);
}

/* Whole numbers, one a line, at least 0. */
static gnn_status ogb_counts(ogb_set *set, const char *folder, const char *name, int64_t **counts, int64_t *length) {
  gnn_array array;
  const char *path = ogb_file(set, folder, name);
  if (path == NULL) return ogb_missing(set, folder, name);
  gnn_status status = ogb_numbers(set, path, 1, &array);
  if (status != GNN_OK) return status;
  *counts = gnn_dataset_alloc(set->dataset, array.count, sizeof **counts, set->error);
  if (*counts == NULL) return GNN_ENOMEM;
  *length = array.count;
  for (int64_t i = 0; i < array.count; i++) {
    (*counts)[i] = gnn_dtype_is_float(array.dtype) ? -1 : gnn_array_integer(&array, i);
    if (array.rank != 1 || (*counts)[i] < 0) return gnn_fail(set->error, GNN_EDATA, "", "\"%s\" line %lld: a whole number of at least 0 is needed, alone in its line", path, (long long)i + 1);
  }
  return GNN_OK;
}

/* ---- edges ---- */

typedef struct ogb_ends {
  const int64_t *nodes[2], *edges; /* of each graph; nodes of the sources and of the destinations */
  int64_t graphs, total;
} ogb_ends;

/* Ids count from 0 in each graph. */
static gnn_status ogb_edges(ogb_set *set, const char *path, const ogb_ends *ends, gnn_array *source, gnn_array *destination) {
  const int64_t edges = ends->total * set->copies;
  gnn_text_table *table;
  int32_t *node[2];
  gnn_status status = gnn_table_open(path, &ogb_rules, &table, set->error);
  if (status != GNN_OK) return status;
  if (ends->total > gnn_table_most_rows(table, 4)) status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" is truncated: %s edges do not fit into it", path, gnn_count_text(ends->total).text);
  for (int k = 0; k < 2; k++) {
    node[k] = status == GNN_OK ? gnn_dataset_alloc(set->dataset, edges, sizeof *node[k], set->error) : NULL;
    if (status == GNN_OK && node[k] == NULL) status = GNN_ENOMEM;
  }
  int64_t at = 0, first[2] = {0, 0};
  for (int64_t g = 0; status == GNN_OK && g < ends->graphs; g++) {
    for (int64_t e = 0; status == GNN_OK && e < ends->edges[g]; e++, at += set->copies) {
      status = gnn_table_next(table, set->error);
      if (status != GNN_OK) break;
      if (table->count < 0) status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" is truncated: it ends before edge %s of %s", path, gnn_count_text(at / set->copies + 1).text, gnn_count_text(ends->total).text);
      else if (table->count != 2) status = gnn_table_fail(table, -1, "", set->error, "two nodes are needed: source and destination");
      for (int k = 0; status == GNN_OK && k < 2; k++) {
        int64_t id;
        status = gnn_table_whole(table, k, &id, set->error);
        if (status == GNN_OK && (id < 0 || id >= ends->nodes[k][g])) status = gnn_table_fail(table, k, "E0701", set->error, "node %lld, but nodes run 0 … %lld", (long long)id, (long long)ends->nodes[k][g] - 1);
        if (status != GNN_OK) break;
        node[k][at] = (int32_t)(first[k] + id);
        if (set->copies == 2) node[!k][at + 1] = node[k][at];
      }
    }
    for (int k = 0; k < 2; k++) first[k] += ends->nodes[k][g];
  }
  if (status == GNN_OK) status = gnn_table_next(table, set->error);
  if (status == GNN_OK && table->count >= 0) status = gnn_table_fail(table, -1, "", set->error, "more edges follow than %s, which num-edge-list says", gnn_count_text(ends->total).text);
  gnn_table_close(table);
  if (status != GNN_OK) return status;
  *source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {edges}, .count = edges, .data = (const unsigned char *)node[0]};
  *destination = *source;
  destination->data = (const unsigned char *)node[1];
  return GNN_OK;
}

static gnn_status ogb_sum(ogb_set *set, const int64_t *counts, int64_t length, int64_t *total) {
  *total = 0;
  for (int64_t i = 0; i < length; i++) {
    if (counts[i] > INT64_MAX / 4 - *total) return gnn_fail(set->error, GNN_EDATA, "", "\"%s\": the counts of its graphs add up to more than there can be", set->path);
    *total += counts[i];
  }
  return GNN_OK;
}

/* ---- fields ---- */

static gnn_status ogb_field(ogb_set *set, const char *path, const char *name, gnn_domain domain, int type, int64_t rows) {
  gnn_array array;
  gnn_status status = ogb_numbers(set, path, domain == GNN_EDGE ? set->copies : 1, &array);
  if (status == GNN_OK && (array.rank < 1 || array.shape[0] != rows))
    return gnn_fail(set->error, GNN_EDATA, "", "\"%s\" has %s lines; %s are needed", path, gnn_count_text(array.shape[0] / (domain == GNN_EDGE ? set->copies : 1)).text,
                    gnn_count_text(rows / (domain == GNN_EDGE ? set->copies : 1)).text);
  if (status == GNN_OK) status = gnn_dataset_add_field(set->dataset, name, domain, &array, set->error);
  if (status == GNN_OK) set->dataset->fields[set->dataset->field_count - 1].set = type;
  return status;
}

static int ogb_by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Names in a folder, without "." and "..", in order; to be freed. */
static char **ogb_list(const char *path, int *count) {
  DIR *handle = opendir(path);
  char **names = NULL;
  *count = 0;
  if (handle == NULL) return NULL;
  const struct dirent *entry;
  while ((entry = readdir(handle)) != NULL) {
    if (entry->d_name[0] == '.') continue;
    char **more = realloc(names, ((size_t)*count + 1) * sizeof *names);
    if (more == NULL) break;
    names = more;
    if ((names[*count] = strdup(entry->d_name)) == NULL) break;
    ++*count;
  }
  closedir(handle);
  if (names) qsort(names, (size_t)*count, sizeof *names, ogb_by_name);
  return names;
}

static void ogb_free(char **names, int count) {
  for (int i = 0; i < count; i++) free(names[i]);
  free(names);
}

/* node_year.csv.gz, edge_weight.csv.gz, ...: fields of their own names. */
static gnn_status ogb_more_fields(ogb_set *set, const char *folder, const char *prefix, gnn_domain nodes, int type, int64_t node_rows, int64_t edge_rows) {
  char path[OGB_PATH_MOST];
  int count;
  gnn_status status = GNN_OK;
  snprintf(path, sizeof path, "%s/%s", set->path, folder);
  char **names = ogb_list(path, &count);
  for (int i = 0; status == GNN_OK && i < count; i++) {
    const int is_node = strncmp(names[i], "node_", 5) == 0, is_edge = strncmp(names[i], "edge_", 5) == 0 && edge_rows >= 0;
    char *dot = strstr(names[i], ".csv"), name[160];
    if (dot == NULL || !(is_node || is_edge)) continue;
    *dot = 0;
    const char *file = ogb_file(set, folder, names[i]);
    snprintf(name, sizeof name, "%s%s", prefix, names[i]);
    if (file) status = ogb_field(set, file, name, is_node ? nodes : GNN_EDGE, type, is_node ? node_rows : edge_rows);
  }
  ogb_free(names, count);
  return status;
}

/* ---- splits ---- */

/* The folder of the split: the one that is asked for, or the only one, or the first. NULL: there is none. */
static char *ogb_split_folder(ogb_set *set, const char *asked, gnn_status *status) {
  char path[OGB_PATH_MOST], list[200] = "";
  int count, found = -1;
  snprintf(path, sizeof path, "%s/split", set->path);
  char **names = ogb_list(path, &count);
  for (int i = 0; i < count; i++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%.40s", i ? ", " : "", names[i]);
    if (asked ? strcmp(names[i], asked) == 0 : found < 0) found = i;
  }
  if (asked && found < 0) *status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" has no split \"%s\"; it has %s", set->path, asked, count ? list : "none");
  else if (found >= 0 && count > 1) gnn_dataset_note(set->dataset, "of the splits %s %s is read; split = \"...\" takes another", list, names[found]);
  char *folder = found >= 0 ? malloc(strlen(names[found]) + 8) : NULL;
  if (folder) sprintf(folder, "split/%s", names[found]);
  ogb_free(names, count);
  return folder;
}

/* Pairs of nodes of a split of a set of links: those that an edge joins, and others. */
typedef struct ogb_pairs {
  gnn_array joined, others;          /* [P, 2] as they lie; data NULL: absent */
  gnn_array source, target, targets; /* or [P], [P] and [P, n]: the others begin where the edge does */
} ogb_pairs;

static int ogb_is_whole(const gnn_array *array, int rank) { return array && array->rank == rank && !gnn_dtype_is_float(array->dtype) && array->dtype != GNN_BOOL; }
static int ogb_is_pairs(const gnn_array *array) { return ogb_is_whole(array, 2) && array->shape[1] == 2; }

/* False: there are neither these nor those. */
static int ogb_find_pairs(const gnn_safetensors *npz, ogb_pairs *pairs) {
  const gnn_array *edge = gnn_safetensors_find(npz, "edge"), *others = gnn_safetensors_find(npz, "edge_neg");
  const gnn_array *source = gnn_safetensors_find(npz, "source_node"), *target = gnn_safetensors_find(npz, "target_node"), *targets = gnn_safetensors_find(npz, "target_node_neg");
  *pairs = (ogb_pairs){0};
  if (ogb_is_pairs(edge)) {
    pairs->joined = *edge;
    if (ogb_is_pairs(others)) pairs->others = *others;
    return 1;
  }
  if (!ogb_is_whole(source, 1) || !ogb_is_whole(target, 1) || source->count != target->count) return 0;
  pairs->source = *source;
  pairs->target = *target;
  if (ogb_is_whole(targets, 2) && targets->shape[0] == source->count) pairs->targets = *targets;
  return 1;
}

/* End k of pair i, the edges first. */
static int64_t ogb_end(const ogb_pairs *pairs, int64_t joined, int64_t i, int k) {
  if (pairs->joined.data) return gnn_array_integer(i < joined ? &pairs->joined : &pairs->others, 2 * (i < joined ? i : i - joined) + k);
  if (i < joined) return gnn_array_integer(k ? &pairs->target : &pairs->source, i);
  return k ? gnn_array_integer(&pairs->targets, i - joined) : gnn_array_integer(&pairs->source, (i - joined) / pairs->targets.shape[1]);
}

static gnn_status ogb_links(ogb_set *set, const ogb_pairs *of_split) {
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const ogb_pairs *p = &of_split[s];
    if (p->joined.data == NULL && p->source.data == NULL) continue;
    const int64_t joined = p->joined.data ? p->joined.shape[0] : p->source.count, others = p->others.data ? p->others.shape[0] : p->targets.data ? p->targets.count : 0, pairs = joined + others;
    int64_t *end = gnn_dataset_alloc(set->dataset, pairs, 2 * (int64_t)sizeof *end, set->error);
    unsigned char *label = gnn_dataset_alloc(set->dataset, pairs, sizeof *label, set->error);
    if (end == NULL || label == NULL) return GNN_ENOMEM;
    for (int64_t i = 0; i < pairs; i++) {
      label[i] = i < joined;
      for (int k = 0; k < 2; k++) end[k * pairs + i] = ogb_end(p, joined, i, k);
    }
    set->dataset->raw_pairs[s] = (gnn_array){.dtype = GNN_I64, .rank = 2, .shape = {2, pairs}, .count = 2 * pairs, .data = (const unsigned char *)end};
    set->dataset->raw_pair_label[s] = (gnn_array){.dtype = GNN_U8, .rank = 1, .shape = {pairs}, .count = pairs, .data = label};
  }
  return GNN_OK;
}

static gnn_status ogb_splits(ogb_set *set, const char *folder) {
  char path[OGB_PATH_MOST];
  ogb_pairs links[GNN_SPLIT_COUNT] = {{{0}, {0}, {0}, {0}, {0}}};
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const char *file = ogb_file(set, folder, gnn_split_names[s]);
    gnn_array array;
    if (file && strcmp(file + strlen(file) - 4, ".npz") == 0) {
      gnn_safetensors npz;
      char left_out[256];
      gnn_status status = gnn_npz_open(set->dataset, file, &npz, left_out, set->error);
      if (status != GNN_OK) return status;
      if (npz.tensor_count == 1 && npz.tensors[0].array.rank == 1) {
        set->dataset->raw_split[s] = npz.tensors[0].array;
        set->dataset->is_split_ids[s] = 1;
      } else if (ogb_find_pairs(&npz, &links[s])) { /* as OGB has them in a dictionary */
      } else {
        char there[300];
        gnn_array_list(npz.tensors, npz.tensor_count, there, sizeof there);
        gnn_dataset_note(set->dataset, "%s of the split is not used: it holds %s, and neither rows nor pairs of nodes as edge [pairs, 2], or source_node and target_node [pairs]", gnn_split_names[s], there);
      }
      status = gnn_dataset_own_file(set->dataset, &npz.file, set->error);
      gnn_safetensors_close(&npz);
      if (status != GNN_OK) return status;
      continue;
    }
    if (file == NULL && snprintf(path, sizeof path, "%s/%s/%s.pt", set->path, folder, gnn_split_names[s]) < OGB_PATH_MOST && gnn_path_exists(path)) {
      gnn_dataset_note(set->dataset, "%s/%s.pt is not used: it is a pickle, which is never read; share/gnncc/to_gnncc_sets.py makes %s.npz of it, and pairs links : label[1] = split_edges(...) draws pairs of nodes", folder, gnn_split_names[s],
                       gnn_split_names[s]);
      continue;
    }
    if (file == NULL) continue;
    gnn_status status = ogb_numbers(set, file, 1, &array);
    if (status != GNN_OK) return status;
    if (array.rank != 1 || (array.count && gnn_dtype_is_float(array.dtype))) return gnn_fail(set->error, GNN_EDATA, "", "\"%s\" needs the number of a row in each line", file);
    if (array.count == 0) array.dtype = GNN_I32;
    set->dataset->raw_split[s] = array;
    set->dataset->is_split_ids[s] = 1;
  }
  return ogb_links(set, links);
}

/* ---- one type of nodes ---- */

static gnn_status ogb_graph_ptr(ogb_set *set) {
  int64_t *ptr = gnn_dataset_alloc(set->dataset, set->graphs + 1, sizeof *ptr, set->error);
  if (ptr == NULL) return GNN_ENOMEM;
  ptr[0] = 0;
  for (int64_t g = 0; g < set->graphs; g++) ptr[g + 1] = ptr[g] + set->nodes[g];
  set->dataset->declared_graphs = set->graphs;
  set->dataset->raw_graph_ptr = (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {set->graphs + 1}, .count = set->graphs + 1, .data = (const unsigned char *)ptr};
  return GNN_OK;
}

static gnn_status ogb_text(ogb_set *set) {
  gnn_dataset *dataset = set->dataset;
  int64_t counts, nodes = 0, edges = 0;
  gnn_status status = ogb_counts(set, "raw", "num-node-list", &set->nodes, &set->graphs);
  if (status == GNN_OK) status = ogb_counts(set, "raw", "num-edge-list", &set->edges, &counts);
  if (status == GNN_OK && counts != set->graphs)
    status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\": num-node-list has %s lines, num-edge-list %s", set->path, gnn_count_text(set->graphs).text, gnn_count_text(counts).text);
  if (status == GNN_OK) status = ogb_sum(set, set->nodes, set->graphs, &nodes);
  if (status == GNN_OK) status = ogb_sum(set, set->edges, set->graphs, &edges);
  if (status == GNN_OK && nodes >= INT32_MAX) status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" has %s nodes; more than 2^31 - 2 are not supported", set->path, gnn_count_text(nodes).text);
  if (status != GNN_OK) return status;
  const char *file = ogb_file(set, "raw", "edge");
  const ogb_ends ends = {{set->nodes, set->nodes}, set->edges, set->graphs, edges};
  if (file == NULL) return ogb_missing(set, "raw", "edge");
  status = ogb_edges(set, file, &ends, &dataset->raw_source, &dataset->raw_destination);
  dataset->has_edges = 1;
  dataset->declared_nodes = nodes;
  const int is_set = set->graphs > 1 || ogb_file(set, "raw", "graph-label") != NULL;
  if (status == GNN_OK && is_set) status = ogb_graph_ptr(set);
  static const struct { const char *file, *name; gnn_domain domain; } fields[] = {
    {"node-feat", "x", GNN_NODE}, {"edge-feat", "edge_attr", GNN_EDGE}, {"node-label", "y", GNN_NODE}, {"graph-label", "y", GNN_GRAPH}, {"species", "node_species", GNN_NODE}};
  for (size_t i = 0; status == GNN_OK && i < sizeof fields / sizeof *fields; i++) {
    const int64_t rows = fields[i].domain == GNN_NODE ? nodes : fields[i].domain == GNN_EDGE ? edges * set->copies : set->graphs;
    if ((file = ogb_file(set, "raw", fields[i].file)) != NULL) status = ogb_field(set, file, fields[i].name, fields[i].domain, 0, rows);
  }
  return status == GNN_OK ? ogb_more_fields(set, "raw", "", GNN_NODE, 0, nodes, edges * set->copies) : status;
}

/* raw/data.npz and raw/node-label.npz, as the largest sets have them. */
static gnn_status ogb_arrays(ogb_set *set) {
  static const char *const files[] = {"data", "node-label"};
  gnn_status status = GNN_OK;
  for (int i = 0; status == GNN_OK && i < 2; i++) {
    const char *file = ogb_file(set, "raw", files[i]);
    gnn_safetensors npz;
    char left_out[256];
    if (file == NULL && i == 1) continue;
    status = gnn_npz_open(set->dataset, file, &npz, left_out, set->error);
    if (status != GNN_OK) return status;
    if (i == 0) status = gnn_read_named(set->dataset, &npz, file, set->error);
    for (int t = 0; status == GNN_OK && i == 1 && t < npz.tensor_count; t++)
      status = gnn_dataset_add_field(set->dataset, strcmp(npz.tensors[t].name, "node_label") == 0 ? "y" : npz.tensors[t].name, GNN_NODE, &npz.tensors[t].array, set->error);
    if (status == GNN_OK) status = gnn_dataset_own_file(set->dataset, &npz.file, set->error);
    gnn_safetensors_close(&npz);
  }
  return status;
}

/* ---- several types of nodes ---- */

/* num-node-dict: a line of names, and a line of numbers for each graph, of which there is one. */
static gnn_status ogb_types(ogb_set *set) {
  gnn_dataset *dataset = set->dataset;
  gnn_text_table *table;
  const char *path = ogb_file(set, "raw", "num-node-dict");
  gnn_status status = gnn_table_open(path, &ogb_rules, &table, set->error);
  if (status != GNN_OK) return status;
  status = gnn_table_next(table, set->error);
  if (status == GNN_OK && table->count < 1) status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" names no types of nodes", path);
  for (int c = 0; status == GNN_OK && c < table->count; c++) {
    status = gnn_table_text(table, c, set->error);
    if (status == GNN_OK && gnn_dataset_add_type(dataset, table->cells[c].text, 0, set->error) == NULL) status = GNN_EDATA;
  }
  if (status == GNN_OK) status = gnn_table_next(table, set->error);
  if (status == GNN_OK && table->count != dataset->type_count) status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" needs a line with the number of nodes of each type", path);
  for (int c = 0; status == GNN_OK && c < dataset->type_count; c++) {
    status = gnn_table_whole(table, c, &dataset->types[c].nodes, set->error);
    if (status == GNN_OK && (dataset->types[c].nodes < 1 || dataset->types[c].nodes >= INT32_MAX)) status = gnn_table_fail(table, c, "", set->error, "a type has from 1 to 2^31 - 2 nodes");
  }
  if (status == GNN_OK) status = gnn_table_next(table, set->error);
  if (status == GNN_OK && table->count >= 0) status = gnn_table_fail(table, -1, "", set->error, "several graphs with types of nodes are not supported");
  gnn_table_close(table);
  return status;
}

static gnn_status ogb_relation(ogb_set *set, const char *head, const char *name, const char *tail) {
  gnn_dataset *dataset = set->dataset;
  char folder[512];
  const int from = gnn_dataset_find_type(dataset, head, strlen(head)), to = gnn_dataset_find_type(dataset, tail, strlen(tail));
  if (from < 0 || to < 0) return gnn_fail(set->error, GNN_EDATA, "", "\"%s\": relation %.60s goes from %.60s to %.60s, one of which is no type of nodes", set->path, name, head, tail);
  snprintf(folder, sizeof folder, "raw/relations/%.100s___%.100s___%.100s", head, name, tail);
  int64_t *counts, length, total;
  gnn_status status = ogb_counts(set, folder, "num-edge-list", &counts, &length);
  if (status == GNN_OK) status = ogb_sum(set, counts, length, &total);
  if (status == GNN_OK && length != 1) status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\": several graphs with types of nodes are not supported", set->path);
  if (status != GNN_OK) return status;
  const char *file = ogb_file(set, folder, "edge");
  if (file == NULL) return ogb_missing(set, folder, "edge");
  const ogb_ends ends = {{&dataset->types[from].nodes, &dataset->types[to].nodes}, counts, 1, total};
  gnn_data_relation *relation = gnn_dataset_add_relation(dataset, name, from, to, set->error);
  if (relation == NULL) return GNN_EDATA;
  status = ogb_edges(set, file, &ends, &relation->raw_source, &relation->raw_destination);
  if (status == GNN_OK && (ogb_file(set, folder, "edge-feat") || ogb_file(set, folder, "edge_reltype"))) gnn_dataset_note(dataset, "fields of the edges of %s are not used: those of relations are not supported", name);
  return status;
}

static gnn_status ogb_relations(ogb_set *set) {
  gnn_text_table *table;
  char copy[OGB_PATH_MOST];
  const char *path = ogb_file(set, "raw", "triplet-type-list");
  if (path == NULL) return ogb_missing(set, "raw", "triplet-type-list");
  snprintf(copy, sizeof copy, "%s", path);
  gnn_status status = gnn_table_open(copy, &ogb_rules, &table, set->error);
  if (status != GNN_OK) return status;
  while (status == GNN_OK) {
    status = gnn_table_next(table, set->error);
    if (status != GNN_OK || table->count < 0) break;
    if (table->count != 3) status = gnn_table_fail(table, -1, "", set->error, "three names are needed: source, relation, destination");
    for (int c = 0; status == GNN_OK && c < 3; c++) {
      status = gnn_table_text(table, c, set->error);
      if (status == GNN_OK && (table->cells[c].length == 0 || strchr(table->cells[c].text, '/'))) status = gnn_table_fail(table, c, "", set->error, "a name is needed, without a /");
    }
    if (status == GNN_OK) status = ogb_relation(set, table->cells[0].text, table->cells[1].text, table->cells[2].text);
  }
  gnn_table_close(table);
  if (status == GNN_OK && set->dataset->relation_count == 0) status = gnn_fail(set->error, GNN_EDATA, "", "\"%s\" names no relations", copy);
  set->dataset->has_edges = 1;
  return status;
}

static gnn_status ogb_typed(ogb_set *set) {
  gnn_dataset *dataset = set->dataset;
  gnn_status status = ogb_types(set);
  if (status == GNN_OK) status = ogb_relations(set);
  for (int t = 0; status == GNN_OK && t < dataset->type_count; t++) {
    char folder[160], name[160], prefix[80];
    const struct { const char *folder, *file, *name; } fields[] = {{"node-feat", "node-feat", "x"}, {"node-label", "node-label", "y"}};
    for (int i = 0; status == GNN_OK && i < 2; i++) {
      snprintf(folder, sizeof folder, "raw/%s/%s", fields[i].folder, dataset->types[t].given);
      snprintf(name, sizeof name, "%s.%s", dataset->types[t].name, fields[i].name);
      const char *file = ogb_file(set, folder, fields[i].file);
      if (file) status = ogb_field(set, file, name, GNN_TYPE, t, dataset->types[t].nodes);
    }
    snprintf(folder, sizeof folder, "raw/node-feat/%s", dataset->types[t].given);
    snprintf(prefix, sizeof prefix, "%s.", dataset->types[t].name);
    if (status == GNN_OK) status = ogb_more_fields(set, folder, prefix, GNN_TYPE, t, dataset->types[t].nodes, -1);
  }
  return status;
}

static gnn_status ogb_typed_splits(ogb_set *set, const char *folder) {
  gnn_status status = GNN_OK;
  for (int t = 0; status == GNN_OK && t < set->dataset->type_count; t++) {
    char own[512];
    snprintf(own, sizeof own, "%.300s/%s", folder, set->dataset->types[t].given);
    if (ogb_file(set, own, "train") == NULL) continue;
    if (set->dataset->split_type >= 0) {
      gnn_dataset_note(set->dataset, "the split of %s is not used: one type of nodes can have them", set->dataset->types[t].name);
      continue;
    }
    set->dataset->split_type = t;
    status = ogb_splits(set, own);
  }
  return status;
}

/* ---- which is which ---- */

/* The sets whose edges stand once and are used both ways, as the column add_inverse_edge of OGB's master.csv has it. */
static int ogb_is_both_ways(const char *name) {
  static const char *const names[] = {"ogbn_products", "ogbn_proteins", "ogbl_ppa", "ogbl_collab", "ogbl_ddi", "ogbg_ppa"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return 1;
  return strncmp(name, "ogbg_mol", 8) == 0;
}

int gnn_is_ogb(const char *path) {
  static const char *const files[] = {"num-node-list.csv.gz", "num-node-list.csv", "data.npz", "num-node-dict.csv.gz", "num-node-dict.csv"};
  char name[OGB_PATH_MOST];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (snprintf(name, sizeof name, "%s/raw/%s", path, files[i]) < OGB_PATH_MOST && gnn_path_exists(name)) return 1;
  return 0;
}

static int ogb_has(const char *path, const char *name) {
  char room[OGB_PATH_MOST];
  return snprintf(room, sizeof room, "%s/%s", path, name) < OGB_PATH_MOST && gnn_path_exists(room);
}

static int ogb_has_edges(const char *path) { return ogb_has(path, "raw/edge.csv.gz") || ogb_has(path, "raw/edge.csv"); }

int gnn_is_part_of_ogb(const char *path) { return ogb_has_edges(path) || (ogb_has(path, "raw") && ogb_has(path, "split")); }

gnn_status gnn_read_ogb(gnn_dataset *dataset, const char *path, const char *split, int inverse, gnn_error *error) {
  ogb_set *set = calloc(1, sizeof *set);
  if (set == NULL) return gnn_fail_memory(error, (int64_t)sizeof *set);
  *set = (ogb_set){.dataset = dataset, .path = path, .error = error};
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  size_t begin = length;
  while (begin > 0 && path[begin - 1] != '/') begin--;
  char *name = strndup(path + begin, length - begin);
  dataset->kind = "a folder of the Open Graph Benchmark";
  gnn_status status = name ? gnn_dataset_set_name(dataset, name, error) : gnn_fail_memory(error, 256);
  const int is_known = name && ogb_is_both_ways(name);
  set->copies = (inverse < 0 ? is_known : inverse) ? 2 : 1;
  if (status == GNN_OK && !gnn_path_is_directory(path)) status = gnn_fail_file(error, "open", path, gnn_path_exists(path) ? ENOTDIR : ENOENT);
  if (status == GNN_OK && !gnn_is_ogb(path) && ogb_has_edges(path)) {
    status = ogb_missing(set, "raw", "num-node-list");
    gnn_fail_help(error, "it has the number of nodes of each graph, a line each: one line for one graph");
  } else if (status == GNN_OK && !gnn_is_ogb(path)) {
    status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is no folder of the Open Graph Benchmark: it has neither raw/num-node-list.csv.gz nor raw/num-node-dict.csv.gz nor raw/data.npz", path);
    gnn_fail_help(error, "name the folder in which raw and split are, dataset/ogbn_arxiv for instance");
  }
  if (status == GNN_OK) status = ogb_file(set, "raw", "num-node-dict") ? ogb_typed(set) : ogb_file(set, "raw", "num-node-list") ? ogb_text(set) : ogb_arrays(set);
  if (status == GNN_OK && set->copies == 2) gnn_dataset_note(dataset, "edges stand once and are read both ways%s; inverse = false reads them as they stand", is_known && inverse < 0 ? ", as the loader of this set does" : "");
  char *folder = status == GNN_OK ? ogb_split_folder(set, split, &status) : NULL;
  if (status == GNN_OK && folder) status = dataset->type_count ? ogb_typed_splits(set, folder) : ogb_splits(set, folder);
  free(folder);
  free(name);
  free(set);
  return status;
}
