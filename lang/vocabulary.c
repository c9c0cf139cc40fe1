#include "vocabulary.h"

#include <string.h>

#define NAME(enumerator, name, ...) [enumerator] = name,
#define KEY(enumerator, name, key) [enumerator] = key,

const char *const tier_names[TIER_COUNT + 1] = {TIERS(NAME)};
const char *const fate_names[FATE_COUNT + 1] = {FATES(NAME)};
const char *const fate_keys[FATE_COUNT + 1] = {FATES(KEY)};
const char *const lane_names[LANE_COUNT + 1] = {LANES(NAME)};
const char *const lane_keys[LANE_COUNT + 1] = {LANES(KEY)};
const char *const policy_names[POLICY_COUNT + 1] = {POLICIES(NAME)};
const char *const exchange_names[EXCHANGE_COUNT + 1] = {EXCHANGES(NAME)};
#define ONE(enumerator, name, ...) name,
const char *const program_policies[POLICY_COUNT + EXCHANGE_COUNT + 1] = {POLICIES(ONE) EXCHANGES(ONE)};
const char *const role_names[VALUE_ROLE_COUNT + 1] = {ROLES(NAME)};

int vocabulary_find(const char *const *names, const char *name) {
  for (int i = 0; names[i]; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

bool tier_named(const char *device, const char *name, Tier *tier) {
  int found = strcmp(name, device) == 0 ? TIER_DEVICE : vocabulary_find(tier_names, name);
  if (found >= 0) *tier = (Tier)found;
  return found >= 0;
}

/* By their order: keep, host and ssd are the fates that leave a value on device, host and ssd. */
_Static_assert((int)FATE_KEEP == (int)TIER_DEVICE && (int)FATE_HOST == (int)TIER_HOST && (int)FATE_SSD == (int)TIER_SSD && (int)FATE_RECOMPUTE == (int)TIER_NONE,
               "fates and tiers in one order");
Tier fate_tier(Fate fate) { return (Tier)fate; }
Fate tier_fate(Tier tier) { return (Fate)tier; }
