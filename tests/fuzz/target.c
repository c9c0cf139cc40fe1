/* A target as calibration writes them: native.gnn of the cache. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *arena = arena_new();
  TargetSpec target;
  LangOptions options = {.share_dir = NULL};
  if (!memmem(data, size, "import", 6)) lang_target(arena, diags_new(arena), "native.gnn", (const char *)data, size, &options, &target);
  arena_free(arena);
  return 0;
}
