/* workplace: directories for what is made on the way. */
#include "workplace.h"

#include <stdlib.h>
#include <string.h>

#include "outfile.h"
#include "runtime/base/partial.h"

Workplace *workplace_new(Arena *arena) {
  const char *parent = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  char *path = arena_printf(arena, "%s/gnncc-XXXXXX", parent);
  if (!mkdtemp(path)) {
    outfile_complain("make a directory in", parent);
    return NULL;
  }
  gnn_partial_add(path);
  Workplace *place = arena_alloc(arena, sizeof *place);
  *place = (Workplace){.arena = arena, .path = path};
  return place;
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
