#include "tiers.h"

#include <string.h>

#include "lang/suggest.h"

const char *tier_device(const TypedProgram *program) {
  return program->has_target && program->target.device ? program->target.device : tier_names[TIER_DEVICE];
}

const char *tier_unknown(Arena *arena, const char *device, const char *name) {
  Suggest suggest = {.wanted = name};
  if (strcmp(device, tier_names[TIER_DEVICE]) != 0) suggest_offer(&suggest, device);
  for (int t = 0; t < TIER_COUNT; t++) suggest_offer(&suggest, tier_names[t]);
  return arena_printf(arena, "there is no tier \"%s\"; the tiers are %s, host and ssd%s", name, device, suggest_text(arena, &suggest, "\""));
}
