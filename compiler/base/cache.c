/* cache: where what is measured once is kept from one compilation to the next. */
#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *cache_directory(Arena *arena) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && *cache) return arena_printf(arena, "%s/gnncc", cache);
  return home && *home ? arena_printf(arena, "%s/.cache/gnncc", home) : NULL;
}

void cache_make(Arena *arena) {
  const char *cache = cache_directory(arena);
  mkdir(arena_strndup(arena, cache, (size_t)(strrchr(cache, '/') - cache)), 0777);
  mkdir(cache, 0777);
}
