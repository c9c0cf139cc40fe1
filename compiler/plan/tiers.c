#include "tiers.h"

#include <string.h>

#include "lang/suggest.h"

static const char *const names[TIER_COUNT] = {"device", "host", "ssd"};

const char *tier_device(const TypedProgram *program) {
  return program->has_target && program->target.device ? program->target.device : names[TIER_DEVICE];
}

bool tier_named(const char *device, const char *name, Tier *tier) {
  for (int t = 0; t < TIER_COUNT; t++) {
    *tier = (Tier)t;
    if (strcmp(name, names[t]) == 0 || (t == TIER_DEVICE && strcmp(name, device) == 0)) return true;
  }
  return false;
}

const char *tier_unknown(Arena *arena, const char *device, const char *name) {
  Suggest suggest = {.wanted = name};
  if (strcmp(device, names[TIER_DEVICE]) != 0) suggest_offer(&suggest, device);
  for (int t = 0; t < TIER_COUNT; t++) suggest_offer(&suggest, names[t]);
  return arena_printf(arena, "there is no tier \"%s\"; the tiers are %s, host and ssd%s", name, device, suggest_text(arena, &suggest, "\""));
}
