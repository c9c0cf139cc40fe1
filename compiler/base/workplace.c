/* workplace: directories for what is made on the way. */
#include "workplace.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"
#include "shown.h"
#include "runtime/base/partial.h"

static Workplace *place_at(Arena *arena, const char *path) {
  Workplace *place = arena_alloc(arena, sizeof *place);
  *place = (Workplace){.arena = arena, .path = path};
  return place;
}

Workplace *workplace_new(Arena *arena) {
  const char *parent = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  char *path = arena_printf(arena, "%s/gnncc-XXXXXX", parent);
  if (!mkdtemp(path)) {
    outfile_complain("make a directory in", parent);
    return NULL;
  }
  gnn_partial_add(path);
  return place_at(arena, path);
}

/* The first file that is made in a workplace says that it is one. */
static const char mark[] = ".gnncc-workplace";

static bool has_no_files(const char *path) {
  DIR *folder = opendir(path);
  bool has_none = folder != NULL;
  for (const struct dirent *entry; folder && (entry = readdir(folder));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) has_none = false;
  if (folder) closedir(folder);
  return has_none;
}

Workplace *workplace_at(Arena *arena, const char *path, bool is_forced) {
  const char *marked = arena_printf(arena, "%s/%s", path, mark);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    outfile_complain("make the directory", path);
    return NULL;
  }
  if (!is_forced && access(marked, F_OK) != 0 && !has_no_files(path)) {
    fprintf(stderr, "gnncc: error: %s has files that gnncc did not write; --force writes beside and over them\n", shown(path).text);
    return NULL;
  }
  FILE *out = fopen(marked, "wb");
  if (!out || !outfile_end(out)) {
    outfile_complain("write", marked);
    return NULL;
  }
  return place_at(arena, path);
}

const char *workplace_file(Workplace *place, const char *name) {
  const char *path = arena_printf(place->arena, "%s/%s", place->path, name);
  for (int i = 0; i < place->count; i++)
    if (strcmp(place->files[i], path) == 0) return place->files[i];
  ARENA_PUSH(place->arena, place->files, place->count, path);
  gnn_partial_add(path);
  return path;
}

void workplace_end(Workplace *place, bool is_kept) {
  for (int i = 0; i < place->count; i++) {
    gnn_partial_drop(place->files[i]);
    if (!is_kept) remove(place->files[i]);
  }
  gnn_partial_drop(place->path);
  if (!is_kept) remove(place->path);
}
