#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suggest.h"

static const Unit *table(int *count) {
  static const Unit units[] = {
      {"B", UNIT_BYTES, 1},
      {"KB", UNIT_BYTES, 1e3},
      {"MB", UNIT_BYTES, 1e6},
      {"GB", UNIT_BYTES, 1e9},
      {"TB", UNIT_BYTES, 1e12},
      {"KiB", UNIT_BYTES, 1024.0},
      {"MiB", UNIT_BYTES, 1048576.0},
      {"GiB", UNIT_BYTES, 1073741824.0},
      {"TiB", UNIT_BYTES, 1099511627776.0},
      {"B/s", UNIT_BYTES_PER_SECOND, 1},
      {"KB/s", UNIT_BYTES_PER_SECOND, 1e3},
      {"MB/s", UNIT_BYTES_PER_SECOND, 1e6},
      {"GB/s", UNIT_BYTES_PER_SECOND, 1e9},
      {"TB/s", UNIT_BYTES_PER_SECOND, 1e12},
      {"KiB/s", UNIT_BYTES_PER_SECOND, 1024.0},
      {"MiB/s", UNIT_BYTES_PER_SECOND, 1048576.0},
      {"GiB/s", UNIT_BYTES_PER_SECOND, 1073741824.0},
      {"ns", UNIT_SECONDS, 1e-9},
      {"us", UNIT_SECONDS, 1e-6},
      {"ms", UNIT_SECONDS, 1e-3},
      {"s", UNIT_SECONDS, 1},
      {"min", UNIT_SECONDS, 60},
      {"h", UNIT_SECONDS, 3600},
      {"FLOP/s", UNIT_FLOP_PER_SECOND, 1},
      {"MFLOP/s", UNIT_FLOP_PER_SECOND, 1e6},
      {"GFLOP/s", UNIT_FLOP_PER_SECOND, 1e9},
      {"TFLOP/s", UNIT_FLOP_PER_SECOND, 1e12},
      {"PFLOP/s", UNIT_FLOP_PER_SECOND, 1e15},
      {"%", UNIT_SHARE, 0.01},
  };
  *count = (int)(sizeof units / sizeof *units);
  return units;
}

const Unit *unit_find(const char *name) {
  int count;
  const Unit *units = table(&count);
  for (int i = 0; i < count; i++)
    if (strcmp(units[i].name, name) == 0) return &units[i];
  return NULL;
}

const char *unit_kind_name(UnitKind kind) {
  switch (kind) {
  case UNIT_BYTES: return "a size, as 24GiB";
  case UNIT_BYTES_PER_SECOND: return "a speed, as 24GB/s";
  case UNIT_SECONDS: return "a time, as 80us";
  case UNIT_FLOP_PER_SECOND: return "a rate, as 19.5TFLOP/s";
  case UNIT_SHARE: return "a share, as 90%";
  }
  return "a quantity";
}

/* Kb, Mb, Gb, Tb: bits to some, bytes to others. */
static bool is_bit_unit(const char *name) {
  return strlen(name) >= 2 && strchr("KMGTk", name[0]) && name[1] == 'b' && (name[2] == '\0' || strcmp(name + 2, "/s") == 0);
}

void unit_report_unknown(Arena *arena, Diags *diags, Place place, const char *name) {
  if (is_bit_unit(name)) {
    static const struct { char letter; int power; } powers[] = {{'K', 1}, {'k', 1}, {'M', 2}, {'G', 3}, {'T', 4}};
    int power = 1;
    for (int i = 0; i < 5; i++)
      if (powers[i].letter == name[0]) power = powers[i].power;
    char letter = name[0] == 'k' ? 'K' : name[0];
    diags_error(diags, "E0108", place,
                "unknown unit \"%s\"; write %cB%s (10^%d bytes) or %ciB%s (2^%d bytes); for bits divide by 8", name, letter,
                name + 2, 3 * power, letter, name + 2, 10 * power);
    return;
  }
  int count;
  const Unit *units = table(&count);
  Suggest suggest = {.wanted = name};
  for (int i = 0; i < count; i++) suggest_offer(&suggest, units[i].name);
  diags_error(diags, "E0108", place, "unknown unit \"%s\"%s", name, suggest_text(arena, &suggest, ""));
  if (suggest.count == 0) diags_help(diags, "a name cannot begin with a digit; units are B KB MB GB TB KiB MiB GiB TiB, with /s for speeds, ns us ms s min h, GFLOP/s TFLOP/s and %%");
}

bool unit_size(const char *text, int64_t whole, int64_t *bytes) {
  char *end;
  char digits[64];
  size_t n = 0;
  for (; *text && n < sizeof digits - 1 && strchr("0123456789._", *text); text++)
    if (*text != '_') digits[n++] = *text;
  digits[n] = 0;
  double number = strtod(digits, &end);
  while (*text == ' ') text++;
  if (n == 0 || *end) return false;
  double factor = 1;
  if (strcmp(text, "%") == 0) factor = (double)whole / 100;
  else if (*text) {
    const Unit *unit = unit_find(text);
    if (!unit || unit->kind != UNIT_BYTES) return false;
    factor = unit->factor;
  }
  double value = number * factor;
  if (!(value >= 0 && value < 9e18)) return false;
  *bytes = (int64_t)floor(value);
  return true;
}
