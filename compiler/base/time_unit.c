/* time_unit: one unit for the times of a list. */
#include "time_unit.h"

TimeUnit time_unit(double seconds) { return seconds >= 10 ? (TimeUnit){"s", 1} : seconds >= 1e-3 ? (TimeUnit){"ms", 1e3} : (TimeUnit){"us", 1e6}; }

const char *time_number(Arena *arena, TimeUnit unit, double seconds) {
  const double n = unit.per_second * seconds;
  return arena_printf(arena, n >= 999.5 ? "%.0f" : "%.3g", n);
}

const char *time_text(Arena *arena, TimeUnit unit, double seconds) { return arena_printf(arena, "%s %s", time_number(arena, unit, seconds), unit.name); }
