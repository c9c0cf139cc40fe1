/* convert.c: gnndata convert and synth: what writes files. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "gnndata.h"
#include "ingest.h"
#include "runtime/data/readers.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/source_text.h"

gnn_status gnndata_may_write(const char *path, const char *mark, int is_forced, gnn_error *error) {
  gnn_safetensors file;
  if (is_forced || !gnn_path_exists(path)) return GNN_OK;
  gnn_status status = gnn_safetensors_peek(path, &file, error);
  if (status == GNN_OK) {
    const int is_ours = gnn_safetensors_text(&file, mark) != NULL;
    gnn_safetensors_close(&file);
    if (is_ours) return GNN_OK;
  } else if (status == GNN_ENOMEM) {
    return status;
  }
  status = gnn_fail(error, GNN_EIO, "", "\"%s\" exists, and gnndata did not write it", path);
  gnn_fail_help(error, "--force overwrites it");
  return status;
}

static gnn_status convert_may_write(const char *path, int is_forced, gnn_error *error) {
  const char *dot = strrchr(path, '.');
  if (dot && strcmp(dot, ".safetensors") == 0) return gnndata_may_write(path, "gnncc.schema", is_forced, error);
  return gnn_fail(error, GNN_EINVAL, "", "\"%s\" must end in .safetensors, the only form that is written", path);
}

void gnndata_changes(const gnn_dataset *dataset, const char *options, gnn_text *changes) {
  gnn_text_format(changes, "%s", options);
  for (int i = 0; i < dataset->note_count; i++)
    if (!dataset->notes[i].code[0] && !dataset->notes[i].is_advice) gnn_text_format(changes, "%s%s", changes->length ? "\n" : "", dataset->notes[i].text);
}

/* Of several splits those that the file holds. */
static void convert_say_splits(const gnn_dataset *dataset, const gnndata_options *options) {
  const long long splits = dataset->split_choices;
  if (splits <= 1 || options->recipe.has_random_split) return;
  if (options->has_split) printf("of %lld splits number %d is kept\n", splits, options->recipe.split_index);
  else if (dataset->split_domain == GNN_EDGE) printf("of %lld splits the first is kept, as edges have changed their places: --split=index:K keeps another\n", splits);
  else printf("all %lld splits are kept: split = index(0 … %lld)\n", splits, splits - 1);
}

/* What the data call their nodes, beside the file: a line a node. */
static gnn_status convert_write_names(const gnn_dataset *dataset, const char *path, gnn_error *error) {
  if (dataset->node_name == NULL && dataset->node_id == NULL) return GNN_OK;
  gnn_text name = {0};
  gnn_writer writer;
  gnn_text_format(&name, "%s.ids.csv", path);
  gnn_status status = name.is_broken ? gnn_fail_memory(error, 256) : gnn_writer_open(&writer, name.data, error);
  if (status == GNN_OK) {
    gnn_writer_put(&writer, "node,id\n", 8);
    for (int64_t v = 0; v < dataset->nodes; v++) {
      const int64_t given = dataset->node_id ? dataset->node_id[v] : v;
      char number[32], given_number[32];
      snprintf(given_number, sizeof given_number, "%lld", (long long)given);
      const char *id = dataset->node_name ? dataset->node_name + dataset->node_name_at[given] : given_number;
      gnn_writer_put(&writer, number, (size_t)snprintf(number, sizeof number, "%lld,\"", (long long)v));
      for (; *id; id++) gnn_writer_put(&writer, *id == '"' ? "\"\"" : id, *id == '"' ? 2 : 1);
      gnn_writer_put(&writer, "\"\n", 2);
    }
    status = gnn_writer_close(&writer, error);
  }
  if (status == GNN_OK) printf("wrote %s: what the data call their nodes\n", name.data);
  gnn_text_free(&name);
  return status;
}

static void convert_say(const gnn_dataset *dataset, const gnndata_options *options, const char *path) {
  gnndata_print_notes(dataset, "");
  convert_say_splits(dataset, options);
  int64_t nodes = dataset->nodes, edges = dataset->edges;
  for (int t = 0; t < dataset->type_count; t++) nodes += dataset->types[t].nodes;
  for (int r = 0; *dataset->node_type && r < dataset->relation_count; r++) edges += dataset->relations[r].edges;
  printf("wrote %s: %s nodes, %s edges, %d fields", path, gnn_count_text(nodes).text, gnn_count_text(edges).text, dataset->field_count);
  if (dataset->declared_graphs > 1) printf(", %s graphs", gnn_count_text(dataset->graphs).text);
  if (*dataset->node_type) printf(", %d types of nodes", dataset->type_count + 1);
  if (dataset->relation_count) printf(", %d relations", dataset->relation_count);
  printf("\n");
}

static gnn_status convert_write(const gnn_dataset *dataset, const gnndata_options *options, const char *path, gnn_error *error) {
  gnn_text changes = {0};
  gnndata_changes(dataset, options->changes, &changes);
  gnn_status status = changes.is_broken ? gnn_fail_memory(error, 4096) : gnn_write_container(dataset, path, !options->has_split && dataset->split_domain != GNN_EDGE, changes.data, error);
  gnn_text_free(&changes);
  if (status == GNN_OK) status = convert_write_names(dataset, path, error);
  if (status == GNN_OK) convert_say(dataset, options, path);
  return status;
}

static int convert_is_whole(double v) { return v >= 0 && v < 9e15 && v == (double)(int64_t)v; }

/* What is asked for fits what the input is. */
static gnn_status convert_check(const gnndata_options *options, int is_list, gnn_error *error) {
  const char *input = options->words[0];
  const int is_source = gnn_is_source_text(input) && !gnn_path_exists(input);
  if (is_source && (options->base || options->has_nodes)) return gnn_fail(error, GNN_EINVAL, "", "%s is for a list of edges by its name; in a source it is written %s", options->base ? "--base" : "--nodes", options->base ? "base = 1" : "nodes = ...");
  if (!is_list && (options->memory_bytes || options->base || options->has_nodes)) {
    gnn_status status = gnn_fail(error, GNN_EINVAL, "", "\"%s\" is no list of edges, which %s is for", input, options->memory_bytes ? "--memory" : options->base ? "--base" : "--nodes");
    if (gnn_path_is_directory(input)) gnn_fail_help(error, "its edges alone are one: %s/edge_index.npy", input);
    return status;
  }
  if (options->has_nodes && (!convert_is_whole(options->nodes) || options->nodes >= INT32_MAX)) return gnn_fail(error, GNN_EINVAL, "", "--nodes takes a whole number below 2^31 - 1");
  if (options->memory_bytes && options->memory_bytes < INGEST_LEAST_BYTES)
    return gnn_fail(error, GNN_EINVAL, "", "--memory=%s is too little: %s are the least", gnn_bytes_text(options->memory_bytes).text, gnn_bytes_text(INGEST_LEAST_BYTES).text);
  const gnn_recipe *recipe = &options->recipe;
  if (options->memory_bytes && (recipe->has_random_split || recipe->split_index || options->normalised_count))
    return gnn_fail(error, GNN_EINVAL, "", "with --memory edges alone are converted: there is nothing to split or to normalize");
  if (options->memory_bytes && options->reorder) return gnn_fail(error, GNN_EINVAL, "", "with --memory nodes keep their numbers; --reorder holds the graph");
  if (options->memory_bytes && recipe->keeps_duplicates) return gnn_fail(error, GNN_EINVAL, "", "with --memory duplicates are dropped; --duplicates=keep holds all edges at once");
  return GNN_OK;
}

/* A list of edges is read at once. */
static gnn_status convert_read(const gnndata_options *options, int is_list, const gnn_edge_rules *rules, const gnn_recipe *recipe, gnn_dataset **dataset, gnn_error *error) {
  const char *input = options->words[0];
  if (!is_list) return gnndata_read(input, recipe, options->drops_duplicates, dataset, error);
  *dataset = gnn_dataset_new(input);
  gnn_status status = *dataset ? gnn_read_edge_list(*dataset, input, rules, error) : gnn_fail_memory(error, 4096);
  return status == GNN_OK ? gnn_dataset_prepare(*dataset, recipe, error) : status;
}

/* With other numbers for the nodes: the data are read twice, and between by way of an order beside the output. */
static gnn_status convert_open(const gnndata_options *options, int is_list, const gnn_edge_rules *rules, gnn_dataset **dataset, gnn_error *error) {
  gnn_text order = {0};
  gnn_recipe recipe = options->recipe;
  gnn_status status = convert_read(options, is_list, rules, &recipe, dataset, error);
  if (status != GNN_OK || options->reorder == NULL) return status;
  if (*(*dataset)->node_type || (*dataset)->relation_count) return gnn_fail(error, GNN_EINVAL, "", "--reorder is for one type of nodes without relations");
  if ((*dataset)->graphs > 1) return gnn_fail(error, GNN_EINVAL, "", "--reorder is for one graph, and these are %s", gnn_count_text((*dataset)->graphs).text);
  gnn_text_format(&order, "%s.order~", options->words[1]);
  status = order.is_broken ? gnn_fail_memory(error, 64) : gnndata_write_order(*dataset, order.data, options->reorder, error);
  gnn_dataset_close(*dataset);
  *dataset = NULL;
  recipe.order = GNN_ORDER_FILE;
  recipe.order_path = order.data;
  if (status == GNN_OK) status = convert_read(options, is_list, rules, &recipe, dataset, error);
  if (!order.is_broken) remove(order.data);
  gnn_text_free(&order);
  return status;
}

int gnndata_convert(const gnndata_options *options) {
  const char *input = options->words[0], *output = options->words[1];
  const gnn_edge_rules rules = {options->base, options->has_nodes ? (int64_t)options->nodes : -1};
  const int is_file = gnn_path_exists(input) && !gnn_path_is_directory(input);
  int is_list = 0;
  gnn_dataset *dataset = NULL;
  gnn_error error = {0};
  gnn_status status = convert_may_write(output, options->is_forced, &error);
  if (status == GNN_OK && is_file) status = gnn_is_edge_list(input, &is_list, &error);
  if (status == GNN_OK && (gnn_path_exists(input) || gnn_is_source_text(input) || strcmp(input, "karate") == 0)) status = convert_check(options, is_list, &error);
  if (status == GNN_OK && options->memory_bytes && is_list) {
    const ingest_order order = {input, output, rules, options->recipe, options->changes, options->memory_bytes, options->is_forced};
    status = gnndata_ingest(&order, &dataset, &error);
    if (status == GNN_OK) convert_say(dataset, options, output);
  } else {
    if (status == GNN_OK) status = convert_open(options, is_list, &rules, &dataset, &error);
    if (status == GNN_OK) status = convert_write(dataset, options, output, &error);
  }
  gnn_dataset_close(dataset);
  return status == GNN_OK ? 0 : gnndata_fail(status, &error);
}

int gnndata_synth(const gnndata_options *options) {
  const char *kind = options->words[0];
  gnn_dataset *dataset = gnn_dataset_new(kind);
  gnn_error error;
  gnn_status status = dataset ? convert_may_write(options->words[1], options->is_forced, &error) : gnn_fail_memory(&error, 4096);
  if (status == GNN_OK && strcmp(kind, "karate") == 0) {
    status = gnn_read_karate(dataset, &error);
  } else if (status == GNN_OK) {
    gnn_synth synth = {.kind = (gnn_synth_kind)-1, .degree = options->degree, .is_sparse = options->is_sparse};
    for (int k = 0; k < GNN_SYNTH_KINDS; k++)
      if (strcmp(gnn_synth_names[k], kind) == 0) synth.kind = (gnn_synth_kind)k;
    if ((int)synth.kind < 0)
      status = gnn_fail(&error, GNN_EINVAL, "", "unknown kind of graph \"%s\" (known: sbm, rmat, er, grid, molecules, karate)", kind);
    else if (!convert_is_whole(options->nodes) || !convert_is_whole(options->features) || !convert_is_whole(options->classes) ||
             !convert_is_whole(options->edges) || !convert_is_whole(options->seed))
      status = gnn_fail(&error, GNN_EINVAL, "", "nodes, edges, features, classes and seed must be whole numbers");
    if (status == GNN_OK) {
      synth.nodes = (int64_t)options->nodes;
      synth.edges = (int64_t)options->edges;
      synth.features = (int64_t)options->features;
      synth.classes = (int64_t)options->classes;
      synth.seed = (uint64_t)options->seed;
      status = gnn_read_synth(dataset, &synth, &error);
    }
  }
  if (status == GNN_OK) status = gnn_dataset_prepare(dataset, NULL, &error);
  if (status == GNN_OK) status = convert_write(dataset, options, options->words[1], &error);
  gnn_dataset_close(dataset);
  return status == GNN_OK ? 0 : gnndata_fail(status, &error);
}
