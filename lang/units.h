/* units.h: 24GiB, 14GB/s, 80us, 19.5TFLOP/s, 90%. */
#ifndef GNNCC_UNITS_H
#define GNNCC_UNITS_H

#include "diag.h"

typedef enum UnitKind { UNIT_BYTES, UNIT_BYTES_PER_SECOND, UNIT_SECONDS, UNIT_FLOP_PER_SECOND, UNIT_SHARE } UnitKind;

typedef struct Unit {
  const char *name;
  UnitKind kind;
  double factor;
} Unit;

const Unit *unit_find(const char *name); /* NULL for an unknown unit */
const char *unit_kind_name(UnitKind kind); /* "a size in bytes, as 24GiB" */
void unit_report_unknown(Arena *arena, Diags *diags, Place place, const char *name);
/* Bytes of "24GiB", "24_000", "0"; a share of `whole` for "50%"; false where the text is no size. */
bool unit_size(const char *text, int64_t whole, int64_t *bytes);

#endif
