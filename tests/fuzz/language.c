/* The language: scanner, parser, checker, layout. Imports that lead out of the sandbox are no input. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "lang/format.h"
#include "lang/lang.h"

/* A graph of 34 nodes with what the declarations promise. */
static bool describe(void *user, const DataSpec *spec, Diags *diags, DataInfo *info) {
  Arena *arena = user;
  (void)diags;
  *info = (DataInfo){.nodes = spec->declared_nodes > 0 ? spec->declared_nodes : 34, .edges = 156, .graphs = 1, .is_symmetric = true, .notes = "", .fingerprint = 1};
  ARENA_PUSH(arena, info->fields, info->field_count, (FieldInfo){.name = "x", .domain = DOMAIN_NODE, .dtype = DTYPE_F32, .width = 34, .nonzeros = 34});
  ARENA_PUSH(arena, info->fields, info->field_count, (FieldInfo){.name = "y", .domain = DOMAIN_NODE, .dtype = DTYPE_CLASS, .width = 1, .classes = 4, .nonzeros = NO_INDEX});
  ARENA_PUSH(arena, info->fields, info->field_count, (FieldInfo){.name = "w", .domain = DOMAIN_EDGE, .dtype = DTYPE_F32, .width = 1, .nonzeros = 156});
  for (int i = 0; i < SPLIT_COUNT; i++) info->has_split[i] = true, info->split_count[i] = 10;
  return true;
}

static bool leads_out(const uint8_t *data, size_t size) {
  for (const uint8_t *at = data; (at = memmem(at, size - (size_t)(at - data), "import", 6)); at++) {
    const uint8_t *end = memchr(at, '\n', size - (size_t)(at - data));
    size_t length = (end ? end : data + size) - at;
    if (memmem(at, length, "\"/", 2) || memmem(at, length, "..", 2) || memchr(at, '\\', length)) return true;
  }
  return false;
}

static void check(const char *text, size_t size, FILE *out) {
  Arena *arena = arena_new();
  Diags *diags = diags_new(arena);
  diags_set_format(diags, (DiagFormat)(size % 4));
  LangOptions options = {.share_dir = "lang", .describe = describe, .describe_user = arena};
  Ast *ast = lang_parse(arena, diags, "fuzzed.gnn", text, size, &options);
  TypedProgram *program = ast ? lang_check(arena, diags, ast, &options) : NULL;
  HOLDS(program || diags_exit_code(diags) != 0);
  diags_print(diags, out);
  arena_free(arena);
}

static void lay_out(const char *text, size_t size) {
  Arena *arena = arena_new();
  const char *once = format_program(arena, diags_new(arena), "fuzzed.gnn", text, size);
  if (once) {
    const char *twice = format_program(arena, diags_new(arena), "fuzzed.gnn", once, strlen(once));
    HOLDS(twice && strcmp(once, twice) == 0);
    HOLDS(format_same_tokens(arena, text, size, once, strlen(once)));
  }
  arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *out;
  if (!out) out = fopen("/dev/null", "w");
  if (leads_out(data, size)) return -1;
  check((const char *)data, size, out);
  lay_out((const char *)data, size);
  return 0;
}
