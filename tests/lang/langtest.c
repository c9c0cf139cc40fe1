/* langtest: the front end alone, with a few data sets that exist only here.
 *
 *   langtest [options] FILE     messages and dumps on stdout, then a line "exit N"
 *   langtest --fuzz SEED COUNT FILE...    truncations and mutations; ends with 0 unless it crashes
 *   langtest --aliases          what other libraries call things stands for something that there is
 *   langtest --expanded FILE    the program after imports, -D and unrolling, checked; with --typed what came of it
 *   langtest --pages            compiles the programs of all diagnostic pages that the front end finds wrong
 *   langtest --programs FOLDER  writes the others there, for gnncc: CODE.STATUS.wrong.gnn and CODE.right.gnn
 *   langtest --format FILE...   each in canonical layout is the same program, and once more the same text
 *   langtest --formatted FILE   in canonical layout, on stdout
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "known.h"
#include "lang.h"

/* ---- data sets ---- */

static FieldInfo field(const char *name, Domain domain, DType dtype, int64_t width, int64_t classes, int64_t nonzeros) {
  return (FieldInfo){.name = name, .domain = domain, .dtype = dtype, .width = width, .classes = classes, .nonzeros = nonzeros};
}

typedef struct FakeData {
  const char *key;
  int64_t nodes, edges, width, nonzeros, classes;
  bool has_weights, has_valid;
  int64_t split[3], graphs;
} FakeData;

static const FakeData fakes[] = {
    {"cora", 2708, 10556, 1433, 49216, 7, false, true, {140, 500, 1000}, 1},
    {"karate", 34, 156, 34, 34, 4, false, false, {4, 0, 30}, 1},
    {"weighted", 100, 400, 16, 1600, 3, true, true, {20, 20, 60}, 1},
    {"MUTAG", 3371, 7442, 7, 3371, 2, false, false, {188, 0, 0}, 188},
    {"same", 64, 256, 8, 512, 8, false, true, {16, 16, 32}, 1},
};

static const FakeData *fake_of(const DataSource *source) {
  const char *text = source->kind;
  for (int i = 0; i < source->arg_count; i++)
    if (source->args[i].text) text = source->args[i].text;
  for (size_t i = 0; i < sizeof fakes / sizeof *fakes; i++)
    if (strstr(text, fakes[i].key)) return &fakes[i];
  return &fakes[1];
}

static bool describe_shapes(Arena *arena, Diags *diags, const DataSpec *spec, DataInfo *info) {
  *info = (DataInfo){.nodes = spec->declared_nodes, .edges = spec->declared_edges > 0 ? spec->declared_edges : 0, .graphs = spec->declared_graphs > 0 ? spec->declared_graphs : 1, .is_symmetric = spec->recipe.is_undirected, .is_shapes_only = true, .notes = ""};
  if (!lang_describe_relations(arena, diags, spec, info)) return false;
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    int64_t width = 1;
    for (int d = 0; d < decl->rank; d++) width *= decl->size[d];
    ARENA_PUSH(arena, info->fields, info->field_count, field(decl->name, typed_declared_domain(info, decl), decl->dtype, width, decl->classes, NO_INDEX));
  }
  for (int i = 0; i < SPLIT_COUNT; i++) info->has_split[i] = true;
  lang_describe_pairs(arena, spec, info);
  return true;
}

static bool describe(void *user, const DataSpec *spec, Diags *diags, DataInfo *info) {
  Arena *arena = user;
  if (strcmp(spec->source.kind, "shapes") == 0) return describe_shapes(arena, diags, spec, info);
  if (strcmp(spec->source.kind, "ogb") == 0) { /* sets that nobody has here: at their word */
    DataSpec declared = *spec;
    if (declared.declared_nodes < 0) declared.declared_nodes = 1000;
    if (declared.declared_edges < 0) declared.declared_edges = 8000;
    return describe_shapes(arena, diags, &declared, info);
  }
  const FakeData *fake = fake_of(&spec->source);
  if (spec->source.arg_count && spec->source.args[0].text && strstr(spec->source.args[0].text, "missing")) {
    diags_error(diags, "E0001", spec->source.place, "cannot open %s: No such file or directory", spec->source.args[0].text);
    return false;
  }
  *info = (DataInfo){.nodes = fake->nodes, .edges = fake->edges, .graphs = fake->graphs, .is_symmetric = true, .notes = "", .fingerprint = 1};
  if (spec->recipe.self_loops == SELF_LOOPS_ADD) info->edges += fake->nodes;
  info->fields = arena_alloc(arena, 3 * sizeof *info->fields);
  info->fields[info->field_count++] = field("x", DOMAIN_NODE, DTYPE_F32, fake->width, 0, fake->nonzeros);
  info->fields[info->field_count++] = field("y", fake->graphs > 1 ? DOMAIN_GRAPH : DOMAIN_NODE, DTYPE_CLASS, 1, fake->classes, NO_INDEX);
  if (fake->has_weights) info->fields[info->field_count++] = field("w", DOMAIN_EDGE, DTYPE_F32, 1, 0, fake->edges);
  for (int i = 0; i < SPLIT_COUNT; i++) {
    info->split_count[i] = fake->split[i];
    info->has_split[i] = spec->recipe.has_folds ? i != SPLIT_VALID || spec->recipe.fold_has_valid : fake->split[i] > 0 || spec->recipe.has_random_split;
  }
  if (spec->recipe.has_folds) info->fold_count = spec->recipe.fold_count ? spec->recipe.fold_count : 10;
  return true;
}

/* ---- one program ---- */

typedef struct Settings {
  LangOptions lang;
  bool wants_ast, wants_typed, is_expanding;
  DiagFormat format;
  DiagColor color;
  int width, limit;
  int warning_count;
  const char *warnings[16];
  LangDefine defines[16];
  const char *import_dirs[16];
} Settings;

static char *read_text(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "langtest: %s: %s\n", path, strerror(errno));
    exit(4);
  }
  char *text = NULL;
  size_t capacity = 0;
  *length = 0;
  for (;;) {
    if (*length + 4096 > capacity) text = realloc(text, capacity = 2 * capacity + 8192);
    if (!text) exit(70);
    size_t count = fread(text + *length, 1, 4096, file);
    if (count == 0) break;
    *length += count;
  }
  fclose(file);
  return text;
}

static int compile(const Settings *settings, const char *path, const char *text, size_t length, FILE *out) {
  Arena *arena = arena_new();
  Diags *diags = diags_new(arena);
  diags_set_format(diags, settings->format);
  diags_set_color(diags, settings->color);
  diags_set_width(diags, settings->width);
  if (settings->limit >= 0) diags_set_error_limit(diags, settings->limit);
  for (int i = 0; i < settings->warning_count; i++)
    if (!diags_warning_option(diags, settings->warnings[i])) fprintf(out, "unknown warning %s\n", settings->warnings[i]);
  LangOptions options = settings->lang;
  options.describe = describe;
  options.describe_user = arena;
  Ast *ast = lang_parse(arena, diags, path, text, length, &options);
  TypedProgram *program = NULL;
  if (ast && settings->wants_ast) ast_dump(ast, out);
  else if (ast) program = lang_check(arena, diags, ast, &options);
  diags_print(diags, out);
  if (program && settings->wants_typed) typed_dump(program, out);
  int code = diags_exit_code(diags);
  arena_free(arena);
  return code;
}

/* As `gnncc -E` prints it; owned by the caller; NULL: it has errors, which are printed. */
static char *expanded(const Settings *settings, const char *path, const char *text, size_t length, FILE *out) {
  Arena *arena = arena_new();
  Diags *diags = diags_new(arena);
  const Ast *ast = lang_parse(arena, diags, path, text, length, &settings->lang);
  const char *result = ast ? lang_expand(arena, diags, ast, &settings->lang) : NULL;
  char *copy = result ? strdup(result) : NULL;
  diags_print(diags, out);
  arena_free(arena);
  return copy;
}

/* ---- fuzzing ---- */

static uint32_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static void fuzz_file(const Settings *settings, const char *path, uint64_t *random, int count, FILE *out) {
  static const char *const pieces[] = {"{", "}", "(", ")", "[", "]", "\n", "|>", "as", "\"", "..", "=", "1e9", "for i in 1 .. 9 {", "src.", "\xC3", "24Gb", "#", "?", ":"};
  size_t length;
  char *text = read_text(path, &length);
  size_t step = length / (size_t)(count > 0 ? count : 1) + 1;
  for (size_t cut = 0; cut < length; cut += step) compile(settings, path, text, cut, out);
  char *copy = malloc(length + 64);
  if (!copy) exit(70);
  for (int i = 0; i < count && length > 0; i++) {
    memcpy(copy, text, length);
    size_t size = length;
    for (uint32_t k = next_random(random) % 4 + 1; k > 0; k--) {
      size_t at = next_random(random) % size;
      const char *piece = pieces[next_random(random) % (sizeof pieces / sizeof *pieces)];
      switch (next_random(random) % 3) {
      case 0: copy[at] = (char)next_random(random); break;
      case 1: memmove(copy + at, copy + at + 1, size - at - 1); size -= size > 1; break;
      default:
        if (size + strlen(piece) < length + 60) {
          memmove(copy + at + strlen(piece), copy + at, size - at);
          memcpy(copy + at, piece, strlen(piece));
          size += strlen(piece);
        }
      }
    }
    compile(settings, path, copy, size, out);
    free(expanded(settings, path, copy, size, out));
  }
  free(copy);
  free(text);
}

static int fuzz(Settings *settings, int argc, char **argv) {
  if (argc < 3) return 2;
  uint64_t random = strtoull(argv[0], NULL, 10);
  FILE *out = fopen("/dev/null", "w");
  if (!out) return 4;
  for (int i = 2; i < argc; i++) fuzz_file(settings, argv[i], &random, atoi(argv[1]), out);
  fclose(out);
  printf("fuzzed %d files\n", argc - 2);
  return 0;
}

/* ---- layout ---- */

/* The syntax tree without places. */
static char *tree_of(const Settings *settings, const char *path, const char *text, size_t length) {
  Arena *arena = arena_new();
  char *tree = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&tree, &size);
  if (!out) exit(70);
  Ast *ast = lang_parse(arena, diags_new(arena), path, text, length, &settings->lang);
  if (ast) ast_dump(ast, out);
  fclose(out);
  arena_free(arena);
  char *to = tree;
  for (char *line = tree, *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    char *mark = end;
    while (mark > line && *mark != '#') mark--;
    memmove(to, line, (size_t)(mark - line));
    to += mark - line;
    end += *end == '\n';
    *to++ = '\n';
  }
  *to = 0;
  return tree;
}

static const char *layout_fault(const Settings *settings, Arena *arena, const char *path, const char *text, size_t length) {
  const char *once = format_program(arena, diags_new(arena), path, text, length);
  if (!once) return "does not parse";
  const char *twice = format_program(arena, diags_new(arena), path, once, strlen(once));
  if (!twice || strcmp(once, twice) != 0) return "is laid out otherwise the second time";
  if (!format_same_tokens(arena, text, length, once, strlen(once))) return "has other tokens or comments";
  char *before = tree_of(settings, path, text, length), *after = tree_of(settings, path, once, strlen(once));
  bool is_same = *before && strcmp(before, after) == 0;
  free(before);
  free(after);
  return is_same ? NULL : "has another tree";
}

static int check_layouts(const Settings *settings, int count, char **paths) {
  int wrong = count == 0;
  for (int i = 0; i < count; i++) {
    Arena *arena = arena_new();
    size_t length;
    char *text = read_text(paths[i], &length);
    const char *fault = layout_fault(settings, arena, paths[i], text, length);
    if (fault) printf("%s %s\n", paths[i], fault);
    wrong += fault != NULL;
    free(text);
    arena_free(arena);
  }
  return wrong > 0;
}

static int print_formatted(const Settings *settings, const char *path) {
  Arena *arena = arena_new();
  Diags *diags = diags_new(arena);
  diags_set_color(diags, settings->color);
  size_t length;
  char *text = read_text(path, &length);
  const char *formatted = format_program(arena, diags, path, text, length);
  diags_print(diags, stdout);
  if (formatted) fputs(formatted, stdout);
  free(text);
  arena_free(arena);
  return formatted ? 0 : 1;
}

/* ---- names from elsewhere ---- */

/* Every name that is answered with is a function, a layer or a word of training. */
static int check_aliases(const Settings *settings) {
  Arena *arena = arena_new();
  char *layers = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&layers, &size);
  if (!out) return 70;
  lang_list(arena, "layers", &settings->lang, out);
  fclose(out);
  int count = 0, wrong = 0;
  const Alias *alias;
  for (; (alias = known_alias(count)); count++) {
    char name[64], line[80];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(alias->ours, "("), alias->ours);
    snprintf(line, sizeof line, "\n%s(", name);
    const bool is_operator = strlen(alias->ours) == 1, is_layer = strncmp(layers, line + 1, strlen(line) - 1) == 0 || strstr(layers, line);
    if (is_operator || is_layer || lang_help(arena, name, NULL)) continue;
    printf("%s stands for %s, which is nothing\n", alias->foreign, alias->ours);
    wrong++;
  }
  printf("%d names\n", count);
  free(layers);
  arena_free(arena);
  return wrong || count < 100;
}

/* ---- pages ---- */

static int check_pages(const Settings *settings) {
  Settings all = *settings; /* for the pages of warnings */
  all.warnings[0] = "extra";
  all.warnings[1] = "pedantic";
  all.warning_count = 2;
  int wrong = 0;
  DiagPage page;
  for (int i = 0; diags_page(i, &page); i++) {
    char *text = NULL;
    size_t size = 0;
    if (!page.wrong != !page.right || !page.wrong == !page.why_none) {
      printf("%s: a page has two programs, or says why not\n", page.code);
      wrong++;
    }
    if (page.is_of_gnncc) continue;
    const Settings *used = page.code[0] == 'W' ? &all : settings;
    if (page.wrong) {
      FILE *out = open_memstream(&text, &size);
      if (!out) return 70;
      int code = compile(used, "wrong.gnn", page.wrong, strlen(page.wrong), out);
      fclose(out);
      char marker[32];
      snprintf(marker, sizeof marker, "[%s]", page.code);
      bool is_right = strstr(text, marker) && code == (page.code[0] == 'W' ? 0 : page.exit_code);
      if (!is_right) printf("%s: the wrong program gives:\n%s", page.code, text);
      wrong += !is_right;
      free(text);
    }
    if (page.right) {
      FILE *out = open_memstream(&text, &size);
      if (!out) return 70;
      int code = compile(used, "right.gnn", page.right, strlen(page.right), out);
      fclose(out);
      if (code != 0 || size > 0) printf("%s: the right program gives:\n%s", page.code, text);
      wrong += code != 0 || size > 0;
      free(text);
    }
  }
  printf("%d pages differ\n", wrong);
  return wrong ? 1 : 0;
}

static bool write_program(const char *folder, const char *name, const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.gnn", folder, name);
  FILE *out = fopen(path, "w");
  return out && fputs(text, out) >= 0 && fclose(out) == 0;
}

static int write_programs(const char *folder) {
  DiagPage page;
  for (int i = 0; diags_page(i, &page); i++) {
    char wrong[64], right[64];
    snprintf(wrong, sizeof wrong, "%s.%d.wrong", page.code, page.code[0] == 'W' ? 0 : page.exit_code);
    snprintf(right, sizeof right, "%s.right", page.code);
    if (page.is_of_gnncc && !(write_program(folder, wrong, page.wrong) && write_program(folder, right, page.right))) return 1;
  }
  return 0;
}

/* ---- options ---- */

static const char *value_of(int argc, char **argv, int *i) {
  if (*i + 1 >= argc) {
    fprintf(stderr, "langtest: %s needs a value\n", argv[*i]);
    exit(2);
  }
  return argv[++*i];
}

int main(int argc, char **argv) {
  Settings s = {.lang = {.share_dir = "lang"}, .color = DIAG_COLOR_NEVER, .limit = -1};
  s.lang.defines = s.defines;
  s.lang.import_dirs = s.import_dirs;
  const char *path = NULL;
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    if (strcmp(arg, "--ast") == 0) s.wants_ast = true;
    else if (strcmp(arg, "--expanded") == 0) s.is_expanding = true;
    else if (strcmp(arg, "--typed") == 0) s.wants_typed = true;
    else if (strcmp(arg, "--shapes") == 0) s.lang.is_shapes_only = true;
    else if (strcmp(arg, "--share") == 0) s.lang.share_dir = value_of(argc, argv, &i);
    else if (strcmp(arg, "--target") == 0) s.lang.target = value_of(argc, argv, &i);
    else if (strcmp(arg, "--data") == 0) s.lang.data_override = value_of(argc, argv, &i);
    else if (strcmp(arg, "--data-name") == 0) s.lang.data_name = value_of(argc, argv, &i);
    else if (strcmp(arg, "--width") == 0) s.width = atoi(value_of(argc, argv, &i));
    else if (strcmp(arg, "--limit") == 0) s.limit = atoi(value_of(argc, argv, &i));
    else if (strncmp(arg, "--color=", 8) == 0) diags_color_named(arg + 8, &s.color);
    else if (strcmp(arg, "-w") == 0) s.warnings[s.warning_count++] = "";
    else if (strncmp(arg, "-W", 2) == 0) s.warnings[s.warning_count++] = arg + 2;
    else if (strcmp(arg, "-I") == 0) s.import_dirs[s.lang.import_dir_count++] = value_of(argc, argv, &i);
    else if (strncmp(arg, "--diagnostics=", 14) == 0) diags_format_named(arg + 14, &s.format);
    else if (strcmp(arg, "--explain") == 0) return diags_explain(value_of(argc, argv, &i), stdout) ? 0 : 2;
    else if (strcmp(arg, "--aliases") == 0) return check_aliases(&s);
    else if (strcmp(arg, "--pages") == 0) return check_pages(&s);
    else if (strcmp(arg, "--programs") == 0) return write_programs(value_of(argc, argv, &i));
    else if (strcmp(arg, "--format") == 0) return check_layouts(&s, argc - i - 1, argv + i + 1);
    else if (strcmp(arg, "--formatted") == 0) return print_formatted(&s, value_of(argc, argv, &i));
    else if (strcmp(arg, "--fuzz") == 0) return fuzz(&s, argc - i - 1, argv + i + 1);
    else if (strcmp(arg, "--list") == 0) {
      Arena *arena = arena_new();
      bool is_known = lang_list(arena, value_of(argc, argv, &i), &s.lang, stdout);
      arena_free(arena);
      return is_known ? 0 : 2;
    } else if (strcmp(arg, "-D") == 0) {
      char *name = strdup(value_of(argc, argv, &i)), *value = strchr(name, '=');
      if (value) *value++ = '\0';
      s.defines[s.lang.define_count++] = (LangDefine){name, value ? value : ""};
    } else path = arg;
  }
  if (!path) return 2;
  size_t length;
  char *text = read_text(path, &length);
  char *other = s.is_expanding ? expanded(&s, path, text, length, stdout) : NULL;
  if (s.is_expanding && !s.wants_typed) fputs(other ? other : "", stdout);
  if (s.is_expanding && (!other || !s.wants_typed)) return other ? 0 : 1;
  int code = compile(&s, path, other ? other : text, other ? strlen(other) : length, stdout);
  free(other);
  printf("exit %d\n", code);
  free(text);
  for (int i = 0; i < s.lang.define_count; i++) free((char *)s.defines[i].name);
  return 0;
}
