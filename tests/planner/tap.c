#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool tap_ok(Tap *tap, bool is_ok, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tap->count++;
  if (!is_ok) tap->failures++;
  printf("%sok %d - ", is_ok ? "" : "not ", tap->count);
  vprintf(format, args);
  printf("\n");
  fflush(stdout);
  va_end(args);
  return is_ok;
}

void tap_note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  printf("# ");
  vprintf(format, args);
  printf("\n");
  fflush(stdout);
  va_end(args);
}

int tap_end(const Tap *tap) {
  printf("1..%d\n", tap->count);
  return tap->failures ? 1 : 0;
}

int tap_scale(int normal) {
  const char *text = getenv("GNNCC_TEST_SCALE");
  int percent = text ? atoi(text) : 100;
  int scaled = (int)((long long)normal * percent / 100);
  return scaled < 1 ? 1 : scaled;
}
