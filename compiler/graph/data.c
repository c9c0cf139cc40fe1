#include "data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/base/allocated.h"
#include "graph.h"
#include "locality.h"
#include "nested_locality.h"
#include "share.h"
#include "runtime/core/blocks.h"
#include "runtime/data/dataset.h"
#include "runtime/data/halo.h"
#include "runtime/data/pairs.h"

bool data_is_path(const DataSource *source, int index) {
  const SourceArg *arg = &source->args[index];
  const bool is_table = strcmp(source->kind, "csv") == 0 && (strcmp(arg->key, "edges") == 0 || strcmp(arg->key, "nodes") == 0);
  const bool is_size = strcmp(source->kind, "igb") == 0 && index > 0;
  return arg->text && ((!*arg->key && strcmp(source->kind, "synth") != 0 && !is_size) || is_table);
}

const char *data_order_path(const DataReader *reader, const char *path) {
  return !reader->base_dir || path[0] == '/' ? path : arena_printf(reader->arena, "%s/%s", reader->base_dir, path);
}

const char *data_path(const DataReader *reader, const char *path) {
  return reader->is_overridden ? path : data_order_path(reader, path);
}

static const gnn_source *runtime_source(const DataReader *reader, const DataSource *source) {
  gnn_source *result = arena_alloc(reader->arena, sizeof *result);
  gnn_source_arg *args = arena_alloc(reader->arena, (size_t)(source->arg_count + 1) * sizeof *args);
  for (int i = 0; i < source->arg_count; i++) {
    args[i] = (gnn_source_arg){source->args[i].key, data_is_path(source, i) ? data_path(reader, source->args[i].text) : source->args[i].text, source->args[i].number};
  }
  *result = (gnn_source){source->kind, source->arg_count, args};
  bool is_karate = strcmp(source->kind, "file") == 0 && source->arg_count == 1 && source->args[0].text && strcmp(source->args[0].text, "karate") == 0;
  if (is_karate) *result = (gnn_source){.kind = "karate"}; /* --data karate */
  return result;
}

/* Those of the program: the runtime's have the same members. */
static const gnn_number_field *runtime_numbers(const DataReader *reader, const DataRecipe *recipe) {
  gnn_number_field *numbers = arena_alloc(reader->arena, (size_t)(recipe->number_count + 1) * sizeof *numbers);
  for (int i = 0; i < recipe->number_count; i++) numbers[i] = (gnn_number_field){recipe->numbers[i].name, recipe->numbers[i].is_onehot, recipe->numbers[i].width};
  return numbers;
}

static const gnn_file_field *runtime_file_fields(const DataReader *reader, const DataSpec *spec, int *count) {
  gnn_file_field *fields = arena_alloc(reader->arena, (size_t)(spec->decl_count + 1) * sizeof *fields);
  for (int i = 0; i < spec->decl_count; i++)
    if (spec->decls[i].source) {
      const FieldDecl *decl = &spec->decls[i];
      const gnn_domain domain = decl->domain == DOMAIN_EDGE ? GNN_EDGE : decl->domain == DOMAIN_GRAPH ? GNN_GRAPH : GNN_NODE;
      const SourceArg *args = decl->source->args;
      const bool is_raw = decl->source->arg_count == 4;
      fields[(*count)++] = (gnn_file_field){decl->name, data_order_path(reader, args[0].text), domain, is_raw ? args[1].text : NULL, is_raw ? (int64_t)args[2].number : 0, is_raw ? (int64_t)args[3].number : 0};
    }
  return fields;
}

static gnn_recipe runtime_recipe(const DataReader *reader, const DataRecipe *recipe) {
  gnn_recipe result = {.is_undirected = recipe->is_undirected, .keeps_duplicates = recipe->keeps_duplicates, .self_loops = (gnn_self_loops)recipe->self_loops,
                       .number_count = recipe->number_count, .numbers = runtime_numbers(reader, recipe), .normalised_count = recipe->normalised_count, .normalised = recipe->normalised,
                       .class_field_count = recipe->class_field_count, .class_fields = recipe->class_fields,
                       .has_random_split = recipe->has_random_split, .split_seed = recipe->split_seed,
                       .split_index = recipe->split_index, .has_folds = recipe->has_folds, .fold_count = recipe->fold_count, .fold_has_valid = recipe->fold_has_valid, .order = (gnn_order)recipe->order,
                       .reverses_all = recipe->reverses_all, .reversed_count = recipe->reversed_count, .reversed = recipe->reversed,
                       .target = recipe->target, .is_target_number = recipe->is_target_number,
                       .order_path = recipe->order_path ? data_order_path(reader, recipe->order_path) : NULL};
  result.pairs = (gnn_pairs_recipe){recipe->pairs.name, recipe->pairs.valid, recipe->pairs.test, recipe->pairs.negatives, recipe->pairs.keeps_source, recipe->pairs.is_resampled, recipe->pairs.seed, recipe->pairs.is_stored};
  memcpy(result.split_fraction, recipe->split_fraction, sizeof result.split_fraction);
  return result;
}

/* Where the data are named that an error is of: a field with a file of its own, or the data set. */
static Place place_of_file(const DataReader *reader, const DataSpec *spec, const gnn_error *error) {
  for (int i = 0; i < spec->decl_count; i++) {
    const DataSource *own = spec->decls[i].source;
    if (own && own->arg_count && own->args[0].text && strstr(error->message, arena_printf(reader->arena, "\"%s\"", data_order_path(reader, own->args[0].text)))) return own->place;
  }
  return spec->source.place;
}

static bool report(const DataReader *reader, Diags *diags, const DataSpec *spec, const gnn_error *error) {
  const char *code = *error->code ? arena_strdup(reader->arena, error->code) : "E0701";
  diags_error(diags, code, strcmp(code, "E0710") == 0 ? spec->recipe.order_place : place_of_file(reader, spec, error), "%s", error->message);
  if (*error->help) diags_help(diags, "%s", error->help);
  return false;
}

static void describe_classes(const gnn_data_field *field, FieldInfo *info) {
  int64_t *count = calloc((size_t)field->classes + 1, sizeof *count);
  if (!count || field->labelled == 0) {
    free(count);
    return;
  }
  for (int64_t r = 0; r < field->rows; r++)
    if (field->label[r] >= 0) count[field->label[r]]++;
  for (int64_t c = 0; c < field->classes; c++)
    if (count[c] > count[info->frequent]) info->frequent = c;
  info->share = (double)count[info->frequent] / (double)field->labelled;
  free(count);
}

static void describe_relations(const DataReader *reader, const gnn_dataset *dataset, DataInfo *info) {
  NodeType *types = arena_alloc(reader->arena, (size_t)(dataset->type_count + 1) * sizeof *types);
  Relation *relations = arena_alloc(reader->arena, (size_t)(dataset->relation_count + 1) * sizeof *relations);
  for (int t = 0; t < dataset->type_count; t++) types[t] = (NodeType){arena_strdup(reader->arena, dataset->types[t].name), dataset->types[t].nodes};
  for (int r = 0; r < dataset->relation_count; r++) {
    const gnn_data_relation *relation = &dataset->relations[r];
    relations[r] = (Relation){arena_strdup(reader->arena, relation->name), DOMAIN_OF_EDGES(EDGES_OF_RELATIONS + r, relation->src, relation->dst), relation->edges, relation->is_symmetric};
  }
  info->node_type = *dataset->node_type ? arena_strdup(reader->arena, dataset->node_type) : NULL;
  info->type_count = dataset->type_count;
  info->types = types;
  info->relation_count = dataset->relation_count;
  info->relations = relations;
  info->has_pairs = dataset->pairs != NULL;
  info->held_edges = dataset->pairs ? dataset->pairs->held : 0;
}

static Domain domain_of_field(const gnn_data_field *field, const DataInfo *info) {
  switch (field->domain) {
  case GNN_NODE: return DOMAIN_NODE;
  case GNN_EDGE: return DOMAIN_EDGE;
  case GNN_GRAPH: return DOMAIN_GRAPH;
  case GNN_TYPE: return DOMAIN_OF_ROWS(ROWS_OF_TYPES + field->set);
  case GNN_RELATION: return info->relations[field->set - GNN_RELATIONS].domain;
  }
  return DOMAIN_NONE;
}

static void describe_field(const DataReader *reader, const gnn_dataset *dataset, const gnn_data_field *field, DataInfo *info) {
  FieldInfo result = {.name = arena_strdup(reader->arena, field->name),
                      .domain = domain_of_field(field, info),
                      .dtype = field->storage == GNN_LABEL ? DTYPE_CLASS : DTYPE_F32, .width = field->width,
                      .classes = field->classes, .nonzeros = field->nonzeros};
  int64_t at;
  const gnn_file *file = gnn_dataset_file_of(dataset, field, &at);
  if (file) result.file = arena_strdup(reader->arena, file->path);
  if (field->storage == GNN_LABEL && field->classes > 0) describe_classes(field, &result);
  ARENA_PUSH(reader->arena, info->fields, info->field_count, result);
}

static int64_t field_nonzeros(const gnn_data_field *field, int64_t first, int64_t last) {
  int64_t count = 0;
  if (field->storage == GNN_SPARSE) {
    for (int64_t k = field->ptr[first]; k < field->ptr[last]; k++) count += !field->value || field->value[k] != 0;
    return count;
  }
  for (int64_t i = first * field->width; i < last * field->width; i++) count += field->dense[i] != 0;
  return count;
}

static void describe_splits(Arena *arena, const gnn_dataset *dataset, DataInfo *info) {
  const int64_t blocks = INT64_C(1) << gnn_block_levels(dataset->nodes);
  for (int s = 0; s < SPLIT_COUNT && dataset->split_domain == GNN_NODE && dataset->fold_count == 0; s++) {
    int64_t *by_block = arena_alloc(arena, (size_t)(blocks + 1) * sizeof *by_block);
    for (int64_t b = 0, k = 0; b < blocks; b++) {
      while (k < dataset->split_count[s] && dataset->split_rows[s][k] < info->block_first[b + 1]) k++;
      by_block[b + 1] = k;
    }
    info->block_split[s] = by_block;
  }
}

/* Where the numbers of fields that products go over one by one lie, block by block and column by column. */
static void describe_entries(Arena *arena, const gnn_dataset *dataset, DataInfo *info) {
  const int64_t *first = info->block_first;
  const int64_t blocks = INT64_C(1) << gnn_block_levels(dataset->nodes);
  for (int f = 0; f < dataset->field_count; f++) {
    const gnn_data_field *field = &dataset->fields[f];
    if (field->domain != GNN_NODE || field->storage == GNN_LABEL || field->nonzeros * SPARSE_BELOW_ONE_IN >= field->rows * field->width) continue;
    int64_t *by_block = arena_alloc(arena, (size_t)(blocks + 1) * sizeof *by_block), *by_column = arena_alloc(arena, (size_t)(field->width + 1) * sizeof *by_column);
    int32_t *column = arena_alloc(arena, (size_t)field->width * sizeof *column);
    float *value = arena_alloc(arena, (size_t)field->width * sizeof *value);
    for (int64_t b = 0; b < blocks; b++) {
      by_block[b + 1] = by_block[b];
      for (int64_t r = first[b]; r < first[b + 1]; r++) {
        const int64_t count = gnn_field_row_nonzeros(field, gnn_dataset_row(dataset, field, r), column, value);
        for (int64_t k = 0; k < count; k++) by_column[column[k] + 1]++;
        by_block[b + 1] += count;
      }
    }
    for (int64_t c = 0; c < field->width; c++) by_column[c + 1] += by_column[c];
    info->fields[f].block_nonzeros = by_block;
    info->fields[f].column_nonzeros = by_column;
  }
}

/* What batches of whole graphs can have at most. */
static void describe_batches(Arena *arena, const gnn_dataset *dataset, DataInfo *info) {
  const int64_t graphs = dataset->graphs, *first = dataset->graph_ptr;
  const size_t bytes = (size_t)(graphs + 1) * sizeof(int64_t);
  if (graphs <= 1) return;
  int64_t *nodes = arena_alloc(arena, bytes), *edges = arena_alloc(arena, bytes);
  gnn_dataset_largest(dataset, GNN_NODE, nodes);
  gnn_dataset_largest(dataset, GNN_EDGE, edges);
  info->most_nodes = nodes;
  info->most_edges = edges;
  for (int f = 0; f < dataset->field_count; f++) {
    const gnn_data_field *field = &dataset->fields[f];
    if (field->storage == GNN_LABEL || field->domain != GNN_NODE) continue;
    int64_t *nonzeros = arena_alloc(arena, bytes);
    for (int64_t g = 0; g < graphs; g++) nonzeros[g] = field_nonzeros(field, first[g], first[g + 1]);
    gnn_largest_sums(nonzeros, graphs);
    info->fields[f].most_nonzeros = nonzeros;
  }
}

static uint64_t declared_fingerprint(const DataSpec *spec) {
  return (uint64_t)(spec->declared_graphs + 1) * 0x2545f4914f6cdd1du ^ (uint64_t)spec->declared_nodes * 0x9e3779b97f4a7c15u ^ (uint64_t)spec->declared_edges;
}

int data_ranks(const DataReader *reader, const DataSpec *spec) { return reader->ranks ? reader->ranks : spec->devices; }

static void share_out_shapes(const DataReader *reader, int count, DataInfo *info);

/* Nothing but declared sizes: every field is taken at its word, and splits as the usual shares. */
static bool describe_shapes(const DataReader *reader, const DataSpec *spec, Diags *diags, DataInfo *info) {
  if (spec->type_count == 0 && (spec->declared_nodes < 0 || spec->declared_edges < 0)) {
    diags_error(diags, "E0701", spec->place, "data \"%s\" has no files and does not say how many nodes and edges it has", spec->name);
    diags_help(diags, "nodes = 2_449_029 and edges = 123_718_280, for instance");
    return false;
  }
  *info = (DataInfo){.nodes = spec->declared_nodes, .edges = spec->declared_edges > 0 ? spec->declared_edges : 0, .graphs = spec->declared_graphs > 0 ? spec->declared_graphs : 1, .is_symmetric = spec->recipe.is_undirected,
                     .is_shapes_only = true, .notes = "", .fingerprint = declared_fingerprint(spec)};
  if (!lang_describe_relations(reader->arena, diags, spec, info)) return false;
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    int64_t width = 1;
    for (int d = 0; d < decl->rank; d++) width *= decl->size[d];
    ARENA_PUSH(reader->arena, info->fields, info->field_count,
               (FieldInfo){.name = decl->name, .domain = typed_declared_domain(info, decl), .dtype = decl->dtype, .width = width, .classes = decl->classes, .nonzeros = -1});
  }
  info->fold_count = spec->recipe.fold_count;
  for (int s = 0; s < SPLIT_COUNT; s++) {
    info->has_split[s] = true;
    info->split_count[s] = s == SPLIT_TRAIN ? info->nodes - 2 * (info->nodes / 5) : info->nodes / 5;
  }
  lang_describe_pairs(reader->arena, spec, info);
  const int ranks = data_ranks(reader, spec);
  if (ranks > 1 && info->graphs == 1 && info->relation_count == 0 && spec->type_count == 0) share_out_shapes(reader, ranks, info);
  return true;
}

typedef struct DataWarning {
  const char *code, *name, *text;
  Place place;
} DataWarning;

static bool sums_in_edges(const TypedProgram *program, TypedId id) {
  const TypedExpr *e = &program->exprs[id];
  return e->kind == TYPED_REDUCE_EDGES && e->end == END_DST && program->exprs[e->operand[0]].type.domain == DOMAIN_EDGE;
}

static bool user_sums_in_edges(const TypedProgram *program) {
  for (int i = 0; i < program->expr_count; i++)
    if (sums_in_edges(program, i) && !program->exprs[i].is_standard) return true;
  return false;
}

/* Our own layers count the node itself, too, unless they are told not to: then everything that the data say of a node reaches the result through
 * sums over its in-edges only. The last of those sums, or NO_INDEX. */
static TypedId silencing_sum(const TypedProgram *program) {
  if (program->result == NO_INDEX) return NO_INDEX;
  bool *is_of_node = calloc((size_t)program->result + 1, sizeof *is_of_node), *is_behind = calloc((size_t)program->result + 1, sizeof *is_behind);
  TypedId found = NO_INDEX;
  for (TypedId i = 0; is_of_node && is_behind && i <= program->result; i++) {
    const TypedExpr *e = &program->exprs[i];
    const bool is_row = domain_is_rows(e->type.domain);
    is_of_node[i] = is_row && (e->kind == TYPED_FIELD || (e->kind == TYPED_RESHAPE && program->exprs[e->operand[0]].type.domain == DOMAIN_NONE));
    for (int k = 0; k < e->operand_count && !sums_in_edges(program, i); k++) is_of_node[i] = is_of_node[i] || is_of_node[e->operand[k]];
  }
  if (is_of_node && is_behind) is_behind[program->result] = !is_of_node[program->result];
  for (TypedId i = program->result; is_of_node && is_behind && i >= 0 && found == NO_INDEX; i--) {
    const TypedExpr *e = &program->exprs[i];
    for (int k = 0; is_behind[i] && k < e->operand_count; k++) {
      if (sums_in_edges(program, i) && is_of_node[e->operand[k]]) found = i;
      else is_behind[e->operand[k]] = true;
    }
  }
  free(is_of_node);
  free(is_behind);
  return found;
}

void data_warn(const DataReader *reader, const TypedProgram *program, Diags *diags) {
  for (int i = 0; i < reader->warning_count; i++) {
    const DataWarning *w = &reader->warnings[i];
    const bool is_about_silence = strcmp(w->code, "W0704") == 0, is_about_loops = strcmp(w->code, "W0714") == 0;
    const TypedId sum = is_about_silence ? silencing_sum(program) : NO_INDEX;
    if (is_about_silence ? sum == NO_INDEX && !user_sums_in_edges(program) : is_about_loops ? !program->adds_self_loops : !program->wants_reverse_edges) continue;
    diags_warning(diags, w->code, w->name, w->place, "%s", w->text);
    if (sum != NO_INDEX && program->exprs[sum].is_standard) diags_label(diags, program->exprs[sum].place, 0, "gives them zeros");
  }
}

/* Labels beyond the classes that are declared; fewer classes than that are the checker's to refuse. */
static bool labels_are_as_declared(const DataSpec *spec, Diags *diags, const gnn_dataset *dataset) {
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    const gnn_data_field *field = gnn_dataset_field(dataset, decl->name);
    gnn_error error = {0};
    if (decl->dtype != DTYPE_CLASS || decl->classes < 1 || !field || field->storage != GNN_LABEL) continue;
    if (gnn_field_check_labels(field, decl->classes, &error) == GNN_OK) continue;
    diags_error(diags, "E0702", decl->place, "%s", error.message);
    diags_help(diags, "%s", error.help);
    return false;
  }
  return true;
}

/* Of nodes that stand as the data have them, and could stand otherwise. */
static bool can_be_nested(const gnn_dataset *dataset, const gnn_recipe *recipe) {
  return recipe->order == GNN_ORDER_GIVEN && dataset->graphs == 1 && dataset->relation_count == 0 && !dataset->pairs && gnn_order_levels(dataset->nodes) > 0;
}

/* What parts of the nodes gather of each other, and the edges between them. */
static bool count_pairs(const DataReader *reader, const gnn_dataset *dataset, const int64_t *first, DataInfo *info, gnn_error *error) {
  const int levels = gnn_block_levels(dataset->nodes), counted = levels < GNN_PAIR_LEVELS ? levels : GNN_PAIR_LEVELS;
  int64_t *pairs[2], *edges = arena_alloc(reader->arena, ((size_t)gnn_pair_at(counted + 1) + 1) * sizeof *edges);
  for (int d = 0; d < 2; d++) pairs[d] = d && dataset->is_symmetric ? pairs[0] : arena_alloc(reader->arena, ((size_t)gnn_pair_at(counted + 1) + 1) * sizeof *pairs[d]);
  info->part_pairs[END_DST] = pairs[0];
  info->part_pairs[END_SRC] = pairs[1];
  info->edge_pairs = edges;
  return gnn_edge_pairs(dataset->nodes, levels, first, dataset->in_ptr, dataset->in_source, edges, error) == GNN_OK &&
         gnn_halo_pairs(dataset->nodes, levels, first, dataset->in_ptr, dataset->in_source, pairs, error) == GNN_OK;
}

/* Runs of parts for each rank, about alike in work. Rows count for three fifths of all work, edges in both directions for the rest: models differ in what these take, neither may be far from even, and memory goes
 * with rows. block_edges NULL: blocks are alike; block_first NULL: in rows, too. */
static RankInfo *share_rows(Arena *arena, int count, int64_t nodes, int64_t edges, const int64_t *block_first, const int64_t *const *block_edges, int halos) {
  const double of_rows = 0.6;
  const int levels = gnn_block_levels(nodes), blocks = 1 << levels;
  RankInfo *ranks = arena_alloc(arena, sizeof *ranks);
  int *first_part = arena_alloc(arena, ((size_t)count + 1) * sizeof *first_part);
  int64_t *first = arena_alloc(arena, ((size_t)count + 1) * sizeof *first);
  double *before = arena_alloc(arena, ((size_t)blocks + 1) * sizeof *before), *rows = arena_alloc(arena, ((size_t)blocks + 1) * sizeof *rows);
  *ranks = (RankInfo){.arriving = arena_alloc(arena, (size_t)(count + 1) * sizeof *ranks->arriving), .count = count, .nodes = nodes, .edges = edges, .first_part = first_part, .first = first, .halos = halos,
                      .pairs = arena_alloc(arena, (size_t)halos * sizeof *ranks->pairs), .table = arena_alloc(arena, (size_t)halos * sizeof *ranks->table), .sent = arena_alloc(arena, (size_t)halos * sizeof *ranks->sent)};
  for (int h = 0; h < halos; h++) ranks->pairs[h] = arena_alloc(arena, (size_t)(count * count) * sizeof *ranks->pairs[h]);
  for (int b = 0; b <= blocks; b++) {
    const double of_edges = block_edges && edges > 0 ? (double)(block_edges[END_DST][b] + block_edges[END_SRC][b]) / (2 * (double)edges) : 0;
    rows[b] = block_edges ? (double)block_first[b] / (double)nodes : b;
    before[b] = block_edges ? of_rows * rows[b] + (1 - of_rows) * of_edges : b;
  }
  ranks->part_levels = share_blocks(arena, count, levels, before, rows, first_part);
  for (int r = 0; r <= count; r++) {
    const int64_t block = (int64_t)first_part[r] << (levels - ranks->part_levels);
    first[r] = block_first ? block_first[block] : (int64_t)((double)nodes * (double)block / (double)blocks);
  }
  return ranks;
}

/* The tables, and what leaves for others, of a rank with so many rows and edges of its own. */
static void find_most(RankInfo *ranks, int r, HaloKind kind, int64_t own) {
  const int count = ranks->count;
  int64_t table = own, sent = 0;
  for (int q = 0; q < count; q++) table += ranks->pairs[kind][r * count + q], sent += ranks->pairs[kind][q * count + r];
  if (table > ranks->table[kind]) ranks->table[kind] = table;
  if (kind == HALO_FOR_DST && table - own > ranks->most_others) ranks->most_others = table - own;
  if (sent > ranks->sent[kind]) ranks->sent[kind] = sent;
}

static void find_most_of(RankInfo *ranks, int r, int64_t rows, int64_t edges) {
  if (rows > ranks->most_nodes) ranks->most_nodes = rows;
  ranks->arriving[r] = edges;
  for (HaloKind kind = HALO_FOR_SRC; kind < HALO_KINDS; kind++) find_most(ranks, r, kind, kind == HALO_OF_EDGES ? edges : rows);
}

/* Of so many distinct rows out of `rows`, each drawn alike, `draws` draws find. */
static int64_t distinct(double draws, double rows) { return rows > 0 ? (int64_t)ceil(rows * -expm1(-draws / rows)) : 0; }

/* Nothing was read: edges are as rows are, and neighbours may be anywhere, which is the most that there is to send, or as many in other ranks as was said. */
static void share_out_shapes(const DataReader *reader, int count, DataInfo *info) {
  Arena *arena = reader->arena;
  RankInfo *ranks = share_rows(arena, count, info->nodes, info->edges, NULL, NULL, HALO_KINDS);
  const double all = info->nodes > 0 ? (double)info->nodes : 1;
  for (int r = 0; r < count; r++) {
    const int64_t rows = ranks->first[r + 1] - ranks->first[r], edges = (int64_t)ceil((double)info->edges * (double)rows / all);
    ranks->arriving[r] = edges;
    if (edges > ranks->most_edges) ranks->most_edges = edges;
    for (int q = 0; q < count; q++) {
      const int64_t from = ranks->first[q + 1] - ranks->first[q];
      if (r == q || rows == 0 || from == 0) continue;
      const double between = (double)edges * (double)from / all;
      ranks->pairs[HALO_OF_EDGES][r * count + q] = (int64_t)between;
      const int64_t said = (int64_t)(reader->halos * (double)rows * (double)from / (all - (double)rows)), anywhere = distinct(between, (double)from);
      ranks->pairs[HALO_FOR_DST][r * count + q] = ranks->pairs[HALO_FOR_SRC][r * count + q] = reader->has_halos && said < anywhere ? said : anywhere;
    }
  }
  for (int r = 0; r < count; r++) find_most_of(ranks, r, ranks->first[r + 1] - ranks->first[r], ranks->arriving[r]);
  ranks->is_estimated = true;
  ranks->is_stated = reader->has_halos;
  for (int s = 0; s < SPLIT_COUNT; s++) ranks->most_split[s] = (int64_t)ceil((double)info->split_count[s] * (double)ranks->most_nodes / all);
  info->ranks = ranks;
}

/* ---- of data that were read ---- */

/* Edges of a set, with the groups of rows at their ends. */
typedef struct SharedEdges {
  gnn_rank_edges of;
  int group[2]; /* by EdgeEnd */
  HaloKind kind;
} SharedEdges;

typedef struct Sharing {
  Arena *arena;
  const gnn_dataset *dataset;
  RankInfo *ranks;
  RankRows *groups;
  uint16_t **rank_of; /* per group and row */
  int group_count, set_count;
  SharedEdges *sets;
} Sharing;

static void add_group(Sharing *s, int group, int64_t rows, const int64_t *first) {
  const int count = s->ranks->count;
  s->groups[group] = (RankRows){rows, 0, first};
  s->rank_of[group] = arena_alloc(s->arena, (size_t)rows * sizeof **s->rank_of + 1);
  for (int r = 0; r < count; r++) {
    for (int64_t row = first[r]; row < first[r + 1]; row++) s->rank_of[group][row] = (uint16_t)r;
    if (first[r + 1] - first[r] > s->groups[group].most) s->groups[group].most = first[r + 1] - first[r];
  }
}

/* Nodes of further types are shared evenly among the blocks of the first's. */
static void find_groups(Sharing *s, const DataInfo *info) {
  const RankInfo *ranks = s->ranks;
  s->group_count = typed_row_groups(info);
  s->groups = arena_alloc(s->arena, (size_t)s->group_count * sizeof *s->groups);
  s->rank_of = arena_alloc(s->arena, (size_t)s->group_count * sizeof *s->rank_of);
  add_group(s, 0, ranks->nodes, ranks->first);
  for (int t = 0; t < info->type_count; t++) {
    int64_t *first = arena_alloc(s->arena, ((size_t)ranks->count + 1) * sizeof *first);
    for (int r = 0; r <= ranks->count; r++) first[r] = gnn_block_share(ranks->part_levels, ranks->first_part[r], info->types[t].nodes);
    add_group(s, 1 + t, info->types[t].nodes, first);
  }
  if (info->has_pairs) add_group(s, s->group_count - 1, ranks->nodes, ranks->first);
  s->ranks->groups = s->groups;
}

static void add_edges(Sharing *s, const DataInfo *info, Domain edges, const int64_t *in_ptr, const int32_t *in_source) {
  const int src = typed_row_group(info, edges, END_SRC), dst = typed_row_group(info, edges, END_DST);
  s->sets[s->set_count++] = (SharedEdges){{in_ptr, in_source, s->rank_of[src], s->groups[src].rows, s->groups[dst].first}, {[END_SRC] = src, [END_DST] = dst}, typed_edge_halo(edges)};
}

/* Pairs that are drawn anew may gather any row. */
static void gather_all(const Sharing *s, int group, int64_t *pairs) {
  const int count = s->ranks->count;
  const int64_t *first = s->groups[group].first;
  for (int p = 0; p < count; p++)
    for (int q = 0; q < count; q++) pairs[p * count + q] = p != q && first[p + 1] > first[p] ? first[q + 1] - first[q] : 0;
}

/* The rows of a group that sums at this end of edges gather. */
static bool count_rows(const Sharing *s, int group, EdgeEnd sums_at, bool is_drawn, HaloKind kind, gnn_error *error) {
  const EdgeEnd gathered = sums_at == END_DST ? END_SRC : END_DST;
  gnn_rank_edges *sets = arena_alloc(s->arena, (size_t)s->set_count * sizeof *sets);
  int count = 0;
  for (int k = 0; k < s->set_count; k++)
    if (s->sets[k].group[gathered] == group) sets[count++] = s->sets[k].of;
  if (is_drawn) gather_all(s, group, s->ranks->pairs[kind]);
  else if (gnn_rank_rows(s->ranks->count, sets, count, sums_at == END_DST ? GNN_HALO_IN : GNN_HALO_OUT, s->ranks->pairs[kind], error) != GNN_OK) return false;
  for (int r = 0; r < s->ranks->count; r++) find_most(s->ranks, r, kind, s->groups[group].first[r + 1] - s->groups[group].first[r]);
  return true;
}

/* Of pairs of ranks, the edges that go from rows of rank r to those of others, and the other way. */
static int64_t edges_to_others(const int64_t *pairs, int count, int r) {
  int64_t edges = 0;
  for (int q = 0; q < count; q++) edges += pairs[r * count + q];
  return edges;
}

static int64_t edges_from_others(const int64_t *pairs, int count, int r) {
  int64_t edges = 0;
  for (int q = 0; q < count; q++) edges += pairs[q * count + r];
  return edges;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Negatives that are others in each epoch, by ranks: those that the data have now, and how many there are in the mean. */
typedef struct DrawnPairs {
  int64_t *now;
  double *mean;
  int64_t all;
} DrawnPairs;

static int64_t sum_of(const int64_t *numbers, int count, int64_t first, int step) {
  int64_t sum = 0;
  for (int k = 0; k < count; k++) sum += numbers[first + (int64_t)k * step];
  return sum;
}

static double mean_of(const double *numbers, int count, int64_t first, int step) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += numbers[first + (int64_t)k * step];
  return sum;
}

/* More of them than this are not drawn in any training: the chance is below 10^-19 (Chernoff). */
static int64_t most_drawn(const DrawnPairs *drawn, double mean) {
  const int64_t most = (int64_t)ceil(mean + 10 * sqrt(mean) + 64);
  return most < drawn->all ? most : drawn->all;
}

/* In the place of the negatives that there are, room for as many as there may be. */
static void count_drawn(const Sharing *s, const SharedEdges *set, const DrawnPairs *drawn, int64_t *most, int64_t *table_most) {
  RankInfo *ranks = s->ranks;
  const int count = ranks->count;
  int64_t *pairs = ranks->pairs[set->kind], table = 0, sent = 0;
  *most = 0;
  for (int k = 0; k < count * count; k++)
    if (k / count != k % count) pairs[k] -= drawn->now[k];
  for (int r = 0; r < count; r++) {
    const int64_t *first = set->of.first_destination;
    const int64_t arriving = set->of.in_ptr[first[r + 1]] - set->of.in_ptr[first[r]] - sum_of(drawn->now, count, r, count), others = edges_to_others(pairs, count, r), from_others = edges_from_others(pairs, count, r);
    const double own_mean = drawn->mean[r * count + r], come = mean_of(drawn->mean, count, r, count), leave = mean_of(drawn->mean, count, (int64_t)r * count, 1);
    *most = larger(*most, larger(arriving + most_drawn(drawn, come), arriving - from_others + others + most_drawn(drawn, leave)));
    table = larger(table, arriving + others + most_drawn(drawn, come + leave - own_mean));
    sent = larger(sent, from_others + most_drawn(drawn, come - own_mean));
  }
  for (int k = 0; k < count * count; k++)
    if (k / count != k % count) pairs[k] += (int64_t)llround(drawn->mean[k]);
  ranks->table[set->kind] = *table_most = table;
  ranks->sent[set->kind] = sent;
}

/* Edges lie where they arrive. */
static void count_edges(const Sharing *s, const SharedEdges *set, int64_t *most, int64_t *table_most) {
  RankInfo *ranks = s->ranks;
  int64_t *pairs = ranks->pairs[set->kind];
  gnn_rank_edges_between(ranks->count, &set->of, pairs);
  for (int r = 0; r < ranks->count; r++) {
    const int64_t *first = set->of.first_destination;
    const int64_t arriving = set->of.in_ptr[first[r + 1]] - set->of.in_ptr[first[r]], to_others = edges_to_others(pairs, ranks->count, r);
    *most = larger(*most, larger(arriving, arriving - edges_from_others(pairs, ranks->count, r) + to_others));
    *table_most = larger(*table_most, arriving + to_others);
    find_most(ranks, r, set->kind, arriving);
    ranks->arriving[r] += arriving;
  }
}

/* Labelled rows of the rank that has the most; pairs lie with their destination. */
static void find_most_split(const Sharing *s, const DataInfo *info, const DrawnPairs *drawn) {
  const gnn_dataset *dataset = s->dataset;
  RankInfo *ranks = s->ranks;
  for (int split = 0; split < SPLIT_COUNT; split++)
    for (int r = 0; r < ranks->count; r++) {
      int64_t begin = ranks->first[r], end = ranks->first[r + 1], rows = 0;
      if (info->has_pairs) begin = s->sets[s->set_count - 1].of.in_ptr[begin], end = s->sets[s->set_count - 1].of.in_ptr[end];
      for (int64_t k = 0; k < dataset->split_count[split]; k++) rows += dataset->split_rows[split][k] >= begin && dataset->split_rows[split][k] < end;
      if (drawn && split == SPLIT_TRAIN) rows += most_drawn(drawn, mean_of(drawn->mean, ranks->count, r, ranks->count)) - sum_of(drawn->now, ranks->count, r, ranks->count);
      if (rows > ranks->most_split[split]) ranks->most_split[split] = rows;
    }
}

static bool share_out(const DataReader *reader, int count, gnn_dataset *dataset, bool is_drawn, DataInfo *info, gnn_error *error) {
  const int64_t *const *edges = info->type_count == 0 ? info->block_edges : NULL; /* nodes of further types go with blocks */
  RankInfo *ranks = share_rows(reader->arena, count, dataset->nodes, dataset->edges, info->block_first, edges, typed_halos(info));
  Sharing s = {.arena = reader->arena, .dataset = dataset, .ranks = ranks, .sets = arena_alloc(reader->arena, (size_t)(1 + info->relation_count) * sizeof *s.sets)};
  int64_t *most = arena_alloc(reader->arena, (size_t)(info->relation_count + 1) * sizeof *most), *table = arena_alloc(reader->arena, (size_t)(info->relation_count + 1) * sizeof *table), graph_table = 0;
  info->ranks = ranks;
  ranks->most_related = most;
  ranks->related_table = table;
  find_groups(&s, info);
  ranks->most_nodes = s.groups[0].most;
  add_edges(&s, info, DOMAIN_EDGE, dataset->in_ptr, dataset->in_source);
  for (int k = 0; k < info->relation_count; k++) add_edges(&s, info, info->relations[k].domain, dataset->relations[k].in_ptr, dataset->relations[k].in_source);
  for (int g = 0; g < s.group_count; g++)
    for (EdgeEnd end = END_SRC; end <= END_DST; end++)
      if (!count_rows(&s, g, end, is_drawn && g == s.group_count - 1, typed_group_halo(info, g, end), error)) return false;
  count_edges(&s, &s.sets[0], &ranks->most_edges, &graph_table);
  for (int k = 0; k < info->relation_count; k++) count_edges(&s, &s.sets[1 + k], &most[k], &table[k]);
  const size_t squared = (size_t)(count * count);
  const DrawnPairs drawn = {arena_alloc(s.arena, squared * sizeof *drawn.now), arena_alloc(s.arena, squared * sizeof *drawn.mean), is_drawn ? dataset->pairs->count[GNN_TRAIN] * dataset->pairs->negatives : 0};
  if (is_drawn && gnn_pairs_among(dataset, count, ranks->first, drawn.now, drawn.mean, error) != GNN_OK) return false;
  if (is_drawn) count_drawn(&s, &s.sets[info->relation_count], &drawn, &most[info->relation_count - 1], &table[info->relation_count - 1]);
  find_most_split(&s, info, is_drawn ? &drawn : NULL);
  for (int64_t k = 0; k < dataset->fold_count; k++) {
    if (gnn_dataset_choose_fold(dataset, k, error) != GNN_OK) return false;
    find_most_split(&s, info, is_drawn ? &drawn : NULL);
  }
  return true;
}

/* Opened and prepared as the program will do it; rows: as one of its ranks, NULL: as one process. */
static gnn_status read_data(const gnn_source *source, const gnn_recipe *recipe, const gnn_own_rows *rows, gnn_dataset **dataset, Loading *loading, gnn_error *error) {
  const int64_t before = allocated_bytes(), mapped = (int64_t)gnn_guard_bytes();
  allocated_restart();
  gnn_guard_restart();
  gnn_status status = gnn_dataset_open(source, NULL, dataset, error);
  if (status == GNN_OK) status = gnn_dataset_prepare_own(*dataset, recipe, rows, error);
  *loading = (Loading){allocated_most() - before, allocated_bytes() - before, (int64_t)gnn_guard_most(), (int64_t)gnn_guard_bytes() - mapped, true};
  return status;
}

/* What others would say makes no difference to the memory that it takes. */
static void hear_no_counts(void *context, int64_t *numbers, int64_t count) { (void)context, (void)numbers, (void)count; }
static void hear_no_nodes(void *context, uint32_t *of_nodes) { (void)context, (void)of_nodes; }

/* The rank with the most edges, both ways, by those before each block. */
static gnn_own_rows fullest_rank(const RankInfo *ranks, int64_t *const cuts[3]) {
  const int below = gnn_block_levels(ranks->nodes) - ranks->part_levels;
  int fullest = 0;
  int64_t most = -1;
  for (int r = 0; r < ranks->count; r++) {
    const int64_t begin = (int64_t)ranks->first_part[r] << below, end = (int64_t)ranks->first_part[r + 1] << below;
    const int64_t edges = cuts[1][end] - cuts[1][begin] + cuts[2][end] - cuts[2][begin];
    if (edges > most) most = edges, fullest = r;
  }
  return (gnn_own_rows){1, 0, ranks->nodes, ranks->first[fullest], ranks->first[fullest + 1], NULL, hear_no_counts, hear_no_nodes};
}

bool data_describe(void *user, const DataSpec *spec, Diags *diags, DataInfo *info) {
  DataReader *reader = user;
  for (int i = 0; i < spec->decl_count; i++) {
    const DataSource *own = spec->decls[i].source;
    const bool is_file = own && (strcmp(own->kind, "raw") == 0 || (strcmp(own->kind, "npy") == 0 && own->arg_count == 1 && own->args[0].text && !*own->args[0].key));
    if (!own || (is_file && strcmp(spec->source.kind, "shapes") != 0)) continue;
    diags_error(diags, "E0110", spec->decls[i].place, "%s = %s(...) %s is not supported yet", spec->decls[i].name, own->kind, is_file ? "of data without files" : "as a source of its own");
    diags_help(diags, "%s = npy(\"%s.npy\") takes an array from a file of its own", spec->decls[i].name, spec->decls[i].name);
    return false;
  }
  if (spec->recipe.order == ORDER_FILE && !gnn_path_exists(data_order_path(reader, spec->recipe.order_path))) {
    diags_error(diags, "E0001", spec->recipe.order_place, "there is no order \"%s\"", data_order_path(reader, spec->recipe.order_path));
    diags_help(diags, "gnndata order DATA -o %s writes one", data_order_path(reader, spec->recipe.order_path));
    return false;
  }
  if (strcmp(spec->source.kind, "shapes") == 0) return describe_shapes(reader, spec, diags, info);
  gnn_dataset *dataset = NULL;
  gnn_error error = {0};
  gnn_recipe recipe = runtime_recipe(reader, &spec->recipe);
  recipe.file_fields = runtime_file_fields(reader, spec, &recipe.file_field_count);
  Loading loading = {0};
  if (read_data(runtime_source(reader, &spec->source), &recipe, NULL, &dataset, &loading, &error) != GNN_OK) {
    gnn_dataset_close(dataset);
    return report(reader, diags, spec, &error);
  }
  if (!labels_are_as_declared(spec, diags, dataset)) {
    gnn_dataset_close(dataset);
    return false;
  }
  *info = (DataInfo){.nodes = dataset->nodes, .edges = dataset->edges, .graphs = dataset->graphs, .is_symmetric = dataset->is_symmetric, .notes = "", .loading = loading,
                     .fingerprint = dataset->fingerprint, .order_fingerprint = recipe.order == GNN_ORDER_FILE ? dataset->order_fingerprint : 0};
  if (dataset->layout) {
    info->layout = arena_strdup(reader->arena, dataset->layout);
    info->layout_path = arena_strdup(reader->arena, dataset->title);
  }
  describe_relations(reader, dataset, info);
  for (int f = 0; f < dataset->field_count; f++) describe_field(reader, dataset, &dataset->fields[f], info);
  if (dataset->pairs) info->fields[dataset->pairs->ring].is_hidden = true;
  describe_batches(reader->arena, dataset, info);
  for (int s = 0; s < SPLIT_COUNT; s++) {
    info->has_split[s] = dataset->has_split[s];
    info->split_count[s] = dataset->split_count[s];
  }
  info->fold_count = dataset->fold_count;
  for (int64_t k = 1; k < dataset->fold_count; k++) {
    if (gnn_dataset_choose_fold(dataset, k, &error) != GNN_OK) {
      gnn_dataset_close(dataset);
      return report(reader, diags, spec, &error);
    }
    for (int s = 0; s < SPLIT_COUNT; s++)
      if (dataset->split_count[s] > info->split_count[s]) info->split_count[s] = dataset->split_count[s];
  }
  const int ranks = data_ranks(reader, spec);
  gnn_own_rows fullest = {0};
  if (reader->wants_blocks || ranks > 1) {
    int64_t *cuts[3]; /* rows and edges by destination and source */
    for (int k = 0; k < 3; k++) cuts[k] = arena_alloc(reader->arena, (((size_t)1 << gnn_block_levels(dataset->nodes)) + 1) * sizeof *cuts[k]);
    if (gnn_dataset_cut(dataset, cuts[0], cuts[1], cuts[2], &error) != GNN_OK) {
      gnn_dataset_close(dataset);
      return report(reader, diags, spec, &error);
    }
    info->block_first = cuts[0];
    info->block_edges[END_DST] = cuts[1];
    info->block_edges[END_SRC] = cuts[2];
    const bool is_one_graph = dataset->graphs == 1 && (dataset->split_domain == GNN_NODE || dataset->pairs);
    const bool is_drawn = recipe.pairs.is_resampled && dataset->pairs;
    if (!count_pairs(reader, dataset, cuts[0], info, &error) || (ranks > 1 && is_one_graph && !share_out(reader, ranks, dataset, is_drawn, info, &error))) {
      gnn_dataset_close(dataset);
      return report(reader, diags, spec, &error);
    }
    describe_entries(reader->arena, dataset, info);
    describe_splits(reader->arena, dataset, info);
    recipe.graph_fingerprint = recipe.order == GNN_ORDER_GIVEN ? 0 : dataset->graph_fingerprint;
    if (info->ranks && gnn_dataset_can_be_own(dataset, &recipe)) fullest = fullest_rank(info->ranks, cuts);
  }
  locality_of_edges(dataset->nodes, dataset->in_ptr, dataset->in_source, dataset->is_symmetric, info->locality);
  if (reader->wants_nested && can_be_nested(dataset, &recipe))
    locality_if_nested(dataset->nodes, dataset->in_ptr, dataset->in_source, dataset->is_symmetric, NESTED_MOST_EDGES, info->nested_locality);
  for (int n = 0; n < dataset->note_count; n++) {
    const gnn_note *note = &dataset->notes[n];
    bool is_about_edges = strcmp(note->code, "W0703") == 0 || strcmp(note->code, "W0704") == 0 || strcmp(note->code, "W0714") == 0;
    if (is_about_edges) {
      DataWarning warning = {arena_strdup(reader->arena, note->code), arena_strdup(reader->arena, note->name), arena_strdup(reader->arena, note->text), spec->source.place};
      ARENA_PUSH(reader->arena, reader->warnings, reader->warning_count, warning);
    } else if (*note->code) {
      diags_warning(diags, arena_strdup(reader->arena, note->code), arena_strdup(reader->arena, note->name), spec->source.place, "%s", note->text);
      if (*note->help) diags_help(diags, "%s", note->help);
    } else {
      info->notes = arena_printf(reader->arena, "%s%s\n", info->notes, note->text);
    }
  }
  gnn_dataset_close(dataset);
  if (fullest.count == 0) return true;
  if (read_data(runtime_source(reader, &spec->source), &recipe, &fullest, &dataset, &info->loading_of_rank, &error) != GNN_OK) {
    gnn_dataset_close(dataset);
    return report(reader, diags, spec, &error);
  }
  if (dataset->own == NULL) info->loading_of_rank.is_known = false; /* the order was not kept */
  else if (recipe.order != GNN_ORDER_GIVEN) info->graph_fingerprint = recipe.graph_fingerprint, info->edges_read = dataset->own->read;
  gnn_dataset_close(dataset);
  return true;
}
