#include "data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "locality.h"
#include "runtime/core/adjacency.h"
#include "runtime/core/blocks.h"
#include "runtime/data/dataset.h"

bool data_is_path(const DataSource *source, int index) {
  const SourceArg *arg = &source->args[index];
  return arg->text && !*arg->key && strcmp(source->kind, "synth") != 0;
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

static gnn_recipe runtime_recipe(const DataReader *reader, const DataRecipe *recipe) {
  gnn_recipe result = {.is_undirected = recipe->is_undirected, .self_loops = (gnn_self_loops)recipe->self_loops,
                       .normalised_count = recipe->normalised_count, .normalised = recipe->normalised,
                       .has_random_split = recipe->has_random_split, .split_seed = recipe->split_seed,
                       .split_index = recipe->split_index, .order = (gnn_order)recipe->order,
                       .target = recipe->target, .is_target_number = recipe->is_target_number,
                       .order_path = recipe->order_path ? data_order_path(reader, recipe->order_path) : NULL};
  memcpy(result.split_fraction, recipe->split_fraction, sizeof result.split_fraction);
  return result;
}

static bool report(const DataReader *reader, Diags *diags, const DataSpec *spec, const gnn_error *error) {
  const char *code = *error->code ? arena_strdup(reader->arena, error->code) : "E0701";
  diags_error(diags, code, strcmp(code, "E0710") == 0 ? spec->recipe.order_place : spec->source.place, "%s", error->message);
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

static void describe_field(const DataReader *reader, const gnn_data_field *field, DataInfo *info) {
  FieldInfo result = {.name = arena_strdup(reader->arena, field->name),
                      .domain = field->domain == GNN_DATA_EDGE ? DOMAIN_EDGE : field->domain == GNN_DATA_GRAPH ? DOMAIN_GRAPH : DOMAIN_NODE,
                      .dtype = field->storage == GNN_LABEL ? DTYPE_CLASS : DTYPE_F32, .width = field->width,
                      .classes = field->classes, .nonzeros = field->nonzeros};
  if (field->storage == GNN_LABEL && field->classes > 0) describe_classes(field, &result);
  ARENA_PUSH(reader->arena, info->fields, info->field_count, result);
}

static uint64_t declared_fingerprint(const DataSpec *spec) {
  return (uint64_t)(spec->declared_graphs + 1) * 0x2545f4914f6cdd1du ^ (uint64_t)spec->declared_nodes * 0x9e3779b97f4a7c15u ^ (uint64_t)spec->declared_edges;
}

/* Nothing but declared sizes: every field is taken at its word, and splits as the usual shares. */
static bool describe_shapes(const DataReader *reader, const DataSpec *spec, Diags *diags, DataInfo *info) {
  if (spec->declared_nodes < 0 || spec->declared_edges < 0) {
    diags_error(diags, "E0701", spec->place, "data \"%s\" has no files and does not say how many nodes and edges it has", spec->name);
    diags_help(diags, "nodes = 2_449_029 and edges = 123_718_280, for instance");
    return false;
  }
  *info = (DataInfo){.nodes = spec->declared_nodes, .edges = spec->declared_edges, .graphs = spec->declared_graphs > 0 ? spec->declared_graphs : 1, .is_symmetric = spec->recipe.is_undirected,
                     .is_shapes_only = true, .notes = "", .fingerprint = declared_fingerprint(spec)};
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    int64_t width = 1;
    for (int d = 0; d < decl->rank; d++) width *= decl->size[d];
    ARENA_PUSH(reader->arena, info->fields, info->field_count,
               (FieldInfo){.name = decl->name, .domain = decl->domain, .dtype = decl->dtype, .width = width, .classes = decl->classes, .nonzeros = -1});
  }
  for (int s = 0; s < SPLIT_COUNT; s++) {
    info->has_split[s] = true;
    info->split_count[s] = s == SPLIT_TRAIN ? info->nodes - 2 * (info->nodes / 5) : info->nodes / 5;
  }
  return true;
}

typedef struct DataWarning {
  const char *code, *name, *text;
  Place place;
} DataWarning;

/* Our own layers count the node itself, too; others may leave those without in-edges with nothing. */
static bool sums_in_edges(const TypedProgram *program) {
  for (int i = 0; i < program->expr_count; i++)
    if (program->exprs[i].kind == TYPED_REDUCE_EDGES && !program->exprs[i].is_standard) return true;
  return false;
}

void data_warn(const DataReader *reader, const TypedProgram *program, Diags *diags) {
  for (int i = 0; i < reader->warning_count; i++) {
    const DataWarning *w = &reader->warnings[i];
    bool matters = strcmp(w->code, "W0703") == 0 ? program->wants_reverse_edges : sums_in_edges(program);
    if (matters) diags_warning(diags, w->code, w->name, w->place, "%s", w->text);
  }
}

static const int64_t *find_blocks(Arena *arena, const gnn_dataset *dataset) {
  int levels = gnn_block_levels(dataset->nodes);
  int64_t *first = arena_alloc(arena, ((size_t)1 << levels) * sizeof *first + sizeof *first), *out_ptr = NULL;
  if (!dataset->is_symmetric) {
    out_ptr = arena_alloc(arena, (size_t)(dataset->nodes + 1) * sizeof *out_ptr);
    gnn_adjacency_turn(dataset->in_ptr, dataset->in_source, dataset->nodes, dataset->nodes, out_ptr, NULL, NULL);
  }
  gnn_blocks_cut(dataset->nodes, levels, dataset->in_ptr, out_ptr ? out_ptr : dataset->in_ptr, first);
  return first;
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

bool data_describe(void *user, const DataSpec *spec, Diags *diags, DataInfo *info) {
  DataReader *reader = user;
  for (int i = 0; i < spec->decl_count; i++)
    if (spec->decls[i].source) {
      diags_error(diags, "E0110", spec->decls[i].place, "a source of its own for a field (%s = %s(...)) is not supported yet", spec->decls[i].name,
                  spec->decls[i].source->kind);
      diags_help(diags, "put %s.npy into the folder that the data block is from", spec->decls[i].name);
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
  if (gnn_dataset_open(runtime_source(reader, &spec->source), NULL, &dataset, &error) != GNN_OK) return report(reader, diags, spec, &error);
  if (gnn_dataset_prepare(dataset, &recipe, &error) != GNN_OK) {
    gnn_dataset_close(dataset);
    return report(reader, diags, spec, &error);
  }
  if (!labels_are_as_declared(spec, diags, dataset)) {
    gnn_dataset_close(dataset);
    return false;
  }
  *info = (DataInfo){.nodes = dataset->nodes, .edges = dataset->edges, .graphs = dataset->graphs, .is_symmetric = dataset->is_symmetric, .notes = "",
                     .fingerprint = dataset->fingerprint, .order_fingerprint = recipe.order == GNN_ORDER_FILE ? dataset->order_fingerprint : 0};
  for (int f = 0; f < dataset->field_count; f++) describe_field(reader, &dataset->fields[f], info);
  for (int s = 0; s < SPLIT_COUNT; s++) {
    info->has_split[s] = dataset->has_split[s];
    info->split_count[s] = dataset->split_count[s];
  }
  if (reader->wants_blocks) info->block_first = find_blocks(reader->arena, dataset);
  locality_of_edges(dataset->nodes, dataset->in_ptr, dataset->in_source, dataset->is_symmetric, info->locality);
  for (int n = 0; n < dataset->note_count; n++) {
    const gnn_note *note = &dataset->notes[n];
    bool is_about_edges = strcmp(note->code, "W0703") == 0 || strcmp(note->code, "W0704") == 0;
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
  return true;
}
