/* cache: where what is measured once is kept from one compilation to the next. */
#include "cache.h"

#include "runtime/base/file.h"

const char *cache_directory(Arena *arena) {
  gnn_text path = {0};
  const char *kept = gnn_cache_folder(&path) ? arena_strdup(arena, path.data) : NULL;
  gnn_text_free(&path);
  return kept;
}

void cache_make(Arena *arena) { gnn_make_directories(cache_directory(arena), NULL); }
