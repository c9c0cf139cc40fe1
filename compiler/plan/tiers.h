/* tiers.h: the tiers of memory as the user calls them. The device has the name that the target gives it, and "device" always. */
#ifndef GNNCC_TIERS_H
#define GNNCC_TIERS_H

#include "lang/arena.h"
#include "lang/typed.h"

const char *tier_device(const TypedProgram *program); /* the target's name of it, or "device" */
/* "there is no tier "hots"; the tiers are gpu, host and ssd; did you mean "host"?" */
const char *tier_unknown(Arena *arena, const char *device, const char *name);

#endif
