/* native: this computer, as it was measured before. */
#include "native.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/base/cache.h"
#include "compiler/lowering/known_processor.h"

static const char *processor_name(Arena *arena) {
  FILE *in = fopen("/proc/cpuinfo", "r");
  char line[256];
  const char *name = "unknown processor";
  while (in && fgets(line, sizeof line, in)) {
    char *colon = strchr(line, ':');
    if (!colon || strncmp(line, "model name", 10) != 0) continue;
    name = arena_strndup(arena, colon + 2, strcspn(colon + 2, "\"\\\n"));
    break;
  }
  if (in) fclose(in);
  return name;
}

const char *native_description(Arena *arena) {
  return arena_printf(arena, "%s, %ld threads", processor_name(arena), sysconf(_SC_NPROCESSORS_ONLN));
}

const TargetSpec *calibrated_native(Arena *arena, const char *share_dir) {
  const char *cache = cache_directory(arena);
  size_t length;
  const char *text = cache ? arena_read_file(arena, arena_printf(arena, "%s/native.gnn", cache), &length) : NULL;
  if (!text) return NULL;
  LangOptions lang = {.share_dir = share_dir};
  TargetSpec *target = arena_alloc(arena, sizeof *target);
  bool is_right = lang_target(arena, diags_new(arena), "native.gnn", text, length, &lang, target);
  if (!is_right || strcmp(target->description, native_description(arena)) != 0) return NULL;
  KnownProcessor known;
  if (target->rates.others <= 0 && processor_here(&known)) target->rates.others = known.rates.others; /* the file may be older */
  return target;
}
