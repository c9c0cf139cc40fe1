/* measurement: runs a measuring program and reads what it says. */
#include "measurement.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/rates.h"

typedef struct Figure {
  const char *name;
  size_t offset;
} Figure;

#define FIGURE(name) {#name, offsetof(Measurement, name)}
static const Figure figures[] = {
    FIGURE(threads), FIGURE(fp32), FIGURE(tf32), FIGURE(bf16), FIGURE(disturbed), FIGURE(host_write), FIGURE(host_read), FIGURE(host_both),
    FIGURE(host_slowdown), FIGURE(host_memory), FIGURE(host_latency), FIGURE(ssd_write), FIGURE(ssd_read), FIGURE(ssd_both), FIGURE(ssd_latency), FIGURE(ssd_write_slowdown), FIGURE(ssd_read_slowdown)};
enum { FIGURE_COUNT = sizeof figures / sizeof figures[0] };

static bool read_numbers(const char *text, double *numbers, int most, int *count) {
  char *end;
  for (*count = 0; *count < most; (*count)++) {
    double number = strtod(text, &end);
    if (end == text) break;
    if (!isfinite(number)) return false;
    numbers[*count] = number > 0 ? number : 0; /* a difference lost in noise */
    text = end;
  }
  return *count > 0;
}

/* "name number number ..." to its place. */
static bool read_line(const char *line, Measurement *m) {
  size_t length = strcspn(line, " ");
  double numbers[RATE_SIZES_MAX];
  int count;
  if (!read_numbers(line + length, numbers, RATE_SIZES_MAX, &count)) return false;
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (strlen(figures[i].name) == length && strncmp(figures[i].name, line, length) == 0) {
      *(double *)(void *)((char *)m + figures[i].offset) = numbers[0];
      return true;
    }
  const RateSetting *setting;
  for (int i = 0; (setting = rate_setting(i)); i++) {
    if (strlen(setting->name) != length || strncmp(setting->name, line, length) != 0) continue;
    memcpy(rate_numbers(&m->rates, setting), numbers, (size_t)count * sizeof *numbers);
    if (i == 0) m->rates.size_count = count;
    return true;
  }
  return false;
}

int measurement_run(const char *command, Measurement *m) {
  FILE *in = popen(command, "r");
  char line[512];
  bool is_right = in != NULL;
  while (in && fgets(line, sizeof line, in)) {
    if (read_line(line, m)) continue;
    fprintf(stderr, "gnncc: error: measuring gave what cannot be: %s", line);
    is_right = false;
  }
  int status = in ? pclose(in) : -1;
  if (status == 0 && is_right) return 0;
  fprintf(stderr, "gnncc: error: measuring failed (status %d)\n", status);
  return 70;
}
