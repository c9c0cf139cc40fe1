/* rates.h: the measured rates of a device, in the one order in which they are written, read and measured. */
#ifndef GNNCC_RATES_H
#define GNNCC_RATES_H

#include <stddef.h>

#include "typed.h"
#include "units.h"

typedef struct RateSetting {
  const char *name;
  UnitKind unit;
  bool is_list; /* as many numbers as there are sizes */
  size_t offset;
  const char *what;
} RateSetting;

/* NULL behind the last. */
const RateSetting *rate_setting(int index);
/* Its numbers in `rates`: RATE_SIZES_MAX of a list, otherwise one. */
double *rate_numbers(DeviceRates *rates, const RateSetting *setting);

#endif
