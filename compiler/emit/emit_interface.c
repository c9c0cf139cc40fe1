/* emit_interface: the embedding API as data: what every program has, in tables, and the options and fields of this one. */
#include <string.h>

#include "emit_interface.h"

#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]))

static const ApiEnumeration enumerations[] = {
  {"status", true, {
    {"OK", ""},
    {"EINVAL", "bad argument, or calls in the wrong order"},
    {"ENOMEM", "an arena could not be obtained"},
    {"EIO", "a file or the SSD tier failed"},
    {"EDATA", "data do not match the shapes the plan was made for"},
    {"EDEVICE", "device error, no such device"},
    {"ENUMERIC", "loss or gradient is not finite"},
    {"ECANCELLED", "the progress callback asked to stop"},
    {"EVERSION", "header and object disagree"},
  }},
  {"tier", false, {{"DEVICE", ""}, {"HOST", ""}, {"SSD", ""}}},
  {"split", false, {{"TRAIN", ""}, {"VALID", ""}, {"TEST", ""}, {"ALL", ""}}},
};

/* The options of the program come between these two. */
static const ApiMember settings[] = {
  {"size_t", "struct_size", "set by _options_init", "", false},
  {"uint64_t", "seed", "", "", false},
  {"int", "threads", "0: all", "", false},
  {"int", "deterministic", "results always are", "", false},
  {"const int *", "devices", "must be NULL: the device is the processor", "", false},
  {"int", "n_devices", "", "", false},
  {"const char *", "scratch_dir", "for the SSD tier", "", false},
  {"int", "takes_nan", "restore takes weights that are not finite", "", false},
};
static const ApiMember callbacks[] = {
  {"void *", "alloc", "NULL: the library's own", "void *user, `_tier, size_t bytes, size_t align", false},
  {"void", "release", "", "void *user, `_tier, void *, size_t bytes", false},
  {"void", "log", "", "void *user, int level, const char *message", false},
  {"int", "progress", "nonzero: stop", "void *user, int64_t epoch, double loss", false},
  {"void *", "user", "", "", false},
};

static const ApiMember result[] = {
  {"double", "loss", "", "", false},
  {"double", "metric", "", "", true},
  {"int64_t", "count", "", "", false},
};

/* The setters of fields come between these two. */
static const ApiFunction functions_to_edges[] = {
  {"", "int", "abi", "", {{0}}},
  {"", "void", "options_init", "", {{"`_options *", ""}}},
  {"", "int64_t", "bytes", "what the plan takes", {{"`_tier", ""}}},
  {"", "const char *", "plan_json", "static, zero-terminated", {{0}}},
  {"", "const char *", "status_text", "", {{"`_status", ""}}},
  {"\n", "`_status", "create", "", {{"const `_options *", ""}, {"` **", ""}}},
  {"", "void", "destroy", "NULL is fine", {{"` *", ""}}},
  {"", "const char *", "error", "text of the last error", {{"const ` *", ""}}},
  {"\n/* data: borrowed until destroy, never written. edges are (src, dst) pairs */\n",
   "`_status", "load", "", {{"` *", ""}, {"const char *", "path"}}},
  {"", "`_status", "set_edges", "", {{"` *", ""}, {"const int64_t *", "src"}, {"const int64_t *", "dst"}, {"int64_t", "n_edges"}}},
};
static const ApiFunction functions_from_split[] = {
  {"", "`_status", "set_split", "", {{"` *", ""}, {"`_split", ""}, {"const int64_t *", "ids"}, {"int64_t", "n"}}},
  {"\n/* work */\n", "`_status", "reset", "", {{"` *", ""}, {"uint64_t", "seed"}}},
  {"", "`_status", "epoch", "one step", {{"` *", ""}, {"`_result *", ""}}},
  {"", "`_status", "train", "", {{"` *", ""}, {"int64_t", "epochs"}, {"`_result *", "best"}}},
  {"", "`_status", "eval", "", {{"` *", ""}, {"`_split", ""}, {"`_result *", ""}}},
  {"", "`_status", "predict", "", {{"` *", ""}, {"float *", "scores"}, {"int64_t", "rows"}, {"int64_t", "cols"}}},
  {"\n/* weights by name: \"conv1.lin.weight\" */\n", "int", "n_weights", "", {{0}}},
  {"", "const char *", "weight_name", "NULL: there are not so many", {{"int", "i"}}},
  {"", "`_status", "weight", "",
   {{"` *", ""}, {"const char *", "name"}, {"float **", "data"}, {"const int64_t **", "shape"}, {"int *", "rank"}}},
  {"", "`_status", "save", "", {{"` *", ""}, {"const char *", "safetensors"}}},
  {"", "`_status", "restore", "", {{"` *", ""}, {"const char *", "safetensors"}}},
  {"\nstruct DLManagedTensorVersioned;\n", "`_status", "weight_dlpack", "",
   {{"` *", ""}, {"const char *", "name"}, {"struct DLManagedTensorVersioned **", ""}}},
};

static ApiFunction setter(const Emission *m, const TypedField *field) {
  const char *name = arena_printf(m->arena, "set_%s", field->name);
  if (field->type.dtype == DTYPE_CLASS)
    return (ApiFunction){"", "`_status", name, "-1: none", {{"` *", ""}, {"const int64_t *", "labels"}, {"int64_t", "n_nodes"}}};
  return (ApiFunction){"", "`_status", name, "", {{"` *", ""}, {"const float *", ""}, {"int64_t", "n_nodes"}, {"int64_t", "n_features"}}};
}

bool emit_has_setter(const Emission *m, int field) {
  return m->program->info->node_type == NULL && m->layout->residents->field[field] != NO_INDEX && m->program->fields[field].type.domain == DOMAIN_NODE;
}

const char *emit_option_member(Arena *arena, const char *option) {
  bool is_taken = emit_is_keyword(option);
  for (int i = 0; i < LENGTH(settings); i++) is_taken = is_taken || strcmp(settings[i].name, option) == 0;
  for (int i = 0; i < LENGTH(callbacks); i++) is_taken = is_taken || strcmp(callbacks[i].name, option) == 0;
  return is_taken ? arena_printf(arena, "%s_", option) : option;
}

Interface emit_interface(const Emission *m) {
  const TypedProgram *p = m->program;
  if (ranks_of(m)) return (Interface){0};
  Interface api = {.enumerations = enumerations, .enumeration_count = LENGTH(enumerations), .result = result, .result_count = LENGTH(result)};
  for (int i = 0; i < LENGTH(settings); i++) ARENA_PUSH(m->arena, api.options, api.option_count, settings[i]);
  for (int i = 0; i < p->option_count; i++)
    ARENA_PUSH(m->arena, api.options, api.option_count, (ApiMember){"float", emit_option_member(m->arena, p->options[i].name), "", "", false});
  for (int i = 0; i < LENGTH(callbacks); i++) ARENA_PUSH(m->arena, api.options, api.option_count, callbacks[i]);
  for (int i = 0; i < LENGTH(functions_to_edges); i++) ARENA_PUSH(m->arena, api.functions, api.function_count, functions_to_edges[i]);
  for (int f = 0; f < p->field_count; f++)
    if (emit_has_setter(m, f)) ARENA_PUSH(m->arena, api.functions, api.function_count, setter(m, &p->fields[f]));
  for (int i = 0; i < LENGTH(functions_from_split); i++) ARENA_PUSH(m->arena, api.functions, api.function_count, functions_from_split[i]);
  return api;
}
