#include "dependencies.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/base/escape.h"
#include "compiler/base/outfile.h"
#include "runtime/data/dgl.h"
#include "runtime/data/igb.h"
#include "runtime/data/ogb.h"

typedef struct Names {
  Arena *arena;
  int count;
  const char **names;
} Names;

static void add(Names *n, const char *name) {
  for (int i = 0; i < n->count; i++)
    if (strcmp(n->names[i], name) == 0) return;
  ARENA_PUSH(n->arena, n->names, n->count, name);
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The files of a folder whose names begin so; with those of the folders in it. */
static void add_files(Names *n, const char *folder, const char *beginning, bool is_tree) {
  Names found = {.arena = n->arena};
  DIR *handle = opendir(*folder ? folder : ".");
  const struct dirent *entry;
  while (handle && (entry = readdir(handle)) != NULL) {
    const char *path = arena_printf(n->arena, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
    struct stat info;
    if (entry->d_name[0] == '.' || strncmp(entry->d_name, beginning, strlen(beginning)) != 0 || stat(path, &info) != 0) continue;
    if (S_ISREG(info.st_mode)) add(&found, path);
    if (is_tree && S_ISDIR(info.st_mode)) add_files(&found, path, "", true);
  }
  if (handle) closedir(handle);
  if (found.count) qsort(found.names, (size_t)found.count, sizeof *found.names, by_name);
  for (int i = 0; i < found.count; i++) add(n, found.names[i]);
}

static void add_folder(Names *n, const char *folder, const char *beginning) { add_files(n, folder, beginning, false); }

static void add_tree(Names *n, const char *folder, const char *within) { add_files(n, arena_printf(n->arena, "%s/%s", folder, within), "", true); }

/* A file, all files of a folder (of a benchmark's, all that lie in the folders that are read), or those that a name begins: cora for cora.content and cora.cites. */
static void add_data(Names *n, const char *path) {
  struct stat info;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    if (gnn_is_ogb(path)) {
      add_tree(n, path, "raw");
      add_tree(n, path, "split");
    } else if (gnn_is_igb(path)) add_tree(n, path, "processed");
    else if (gnn_is_dgl(path)) add_files(n, path, "", true);
    else add_folder(n, path, "");
    return;
  }
  const int before = n->count;
  if (stat(path, &info) != 0) {
    const char *slash = strrchr(path, '/');
    add_folder(n, slash ? arena_strndup(n->arena, path, (size_t)(slash - path)) : "", slash ? slash + 1 : path);
  }
  if (n->count == before) add(n, path);
}

static void add_all_data(Names *n, const Compilation *c) {
  int count;
  const LangDataPath *paths = lang_data_paths(c->arena, c->ast, &count);
  if (c->options->data_path && strcmp(c->options->data_path, "karate") != 0) add_data(n, c->options->data_path);
  for (int i = 0; i < count; i++)
    if (!paths[i].is_source) add_data(n, data_order_path(&c->reader, paths[i].path));
    else if (!c->options->data_path) add_data(n, data_path(&c->reader, paths[i].path));
}

/* As make reads names. */
static void print_name(const char *name, FILE *out) {
  for (; *name; name++) {
    if (*name == ' ' || *name == '#' || *name == ':') fputc('\\', out);
    if (*name == '$') fputc('$', out);
    fputc(*name, out);
  }
}

static const char *usual_target(const Compilation *c) {
  const Options *o = c->options;
  if (o->output && strcmp(o->output, "-") != 0 && !o->is_listing_dependencies) return o->output;
  return c->stem;
}

static void print_rule(const Compilation *c, const char *product, FILE *out) {
  const Options *o = c->options;
  Names n = {.arena = c->arena};
  if (strcmp(o->input, "-") != 0) add(&n, c->model_path);
  for (int32_t i = 0; i < diags_source_count(c->diags); i++)
    if (strcmp(diags_source_path(c->diags, i), c->model_path) != 0) add(&n, diags_source_path(c->diags, i));
  if (!o->is_shapes_only) add_all_data(&n, c);
  for (int i = 0; i < o->dependency_target_count; i++) {
    if (i) fputc(' ', out);
    print_name(o->dependency_targets[i], out);
  }
  if (o->dependency_target_count == 0) print_name(product, out);
  fputc(':', out);
  for (int i = 0; i < n.count; i++) {
    fputs(i ? " \\\n " : " ", out);
    print_name(n.names[i], out);
  }
  fputc('\n', out);
  for (int i = 1; i < n.count && o->has_phony_dependencies; i++) { /* so that one that is gone is no error */
    fputc('\n', out);
    print_name(n.names[i], out);
    fputs(":\n", out);
  }
}

void dependencies_print(const Compilation *c, FILE *out) { print_rule(c, usual_target(c), out); }

int dependencies_write(const Compilation *c, const char *product) {
  const Options *o = c->options;
  const char *path = o->dependency_file ? o->dependency_file : o->is_listing_dependencies ? o->output ? o->output : "-" : arena_printf(c->arena, "%s.d", product);
  if (strcmp(path, "-") == 0) {
    print_rule(c, product, stdout);
    return 0;
  }
  OutFile file;
  if (!outfile_may_write(path, o->is_forced) || !outfile_open(&file, path)) return 4;
  fprintf(file.out, "# %s " GNNCC_VERSION " from %s.\n", outfile_mark, escape_comment(c->arena, c->model_path));
  print_rule(c, product, file.out);
  return outfile_close(&file, 0666);
}
