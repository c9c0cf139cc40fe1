/* measured: when each step of a run began, and how long it took. The one reader of it: views and --profile ask it. */
#include "measured.h"

#include <inttypes.h>

#define MOST_SECONDS 1e9 /* thirty years: no epoch, and no step, takes longer */

typedef struct Reader {
  Arena *arena;
  const char *fault; /* the first */
} Reader;

static void fail(Reader *r, const char *fault) {
  if (!r->fault) r->fault = fault;
}

static double time_of(Reader *r, const char *where, const json_t *o, const char *key) {
  const json_t *node = json_object_get(o, key);
  double seconds = json_number_value(node);
  if (!json_is_number(node)) fail(r, arena_printf(r->arena, "%s.%s: a number is needed", where, key));
  else if (!(seconds >= 0 && seconds <= MOST_SECONDS)) fail(r, arena_printf(r->arena, "%s.%s: %g seconds are no time that was measured", where, key, seconds));
  return seconds;
}

static void read_step(Reader *r, const json_t *report, size_t index, const json_t *item, Measured *m) {
  const char *where = arena_printf(r->arena, "measured.steps[%zu]", index);
  const json_t *node = json_object_get(item, "step");
  json_int_t number = json_integer_value(node);
  MeasuredStep step = {true, time_of(r, where, item, "start_s"), time_of(r, where, item, "seconds")};
  if (!json_is_integer(node)) fail(r, arena_printf(r->arena, "%s.step: a whole number is needed", where));
  else if (number < 1 || number > m->step_count) fail(r, arena_printf(r->arena, "%s.step: there is no step %" JSON_INTEGER_FORMAT, where, number));
  else if (json_integer_value(json_object_get(json_array_get(json_object_get(report, "steps"), (size_t)number - 1), "step")) != number)
    fail(r, arena_printf(r->arena, "steps[%" JSON_INTEGER_FORMAT "].step: steps are numbered from 1 in their order", number - 1));
  else if (m->steps[number - 1].is_measured) fail(r, arena_printf(r->arena, "%s.step: step %" JSON_INTEGER_FORMAT " is there twice", where, number));
  else m->steps[number - 1] = step;
}

static void read_tiers(const json_t *o, Measured *m) {
  static const char *const keys[3] = {"device_peak_bytes", "host_peak_bytes", "ssd_peak_bytes"};
  for (int t = 0; t < 3; t++) {
    const json_t *node = json_object_get(o, keys[t]);
    m->tiers[t] = json_is_integer(node) && json_integer_value(node) >= 0 ? json_integer_value(node) : -1;
  }
}

const Measured *measured_read(Arena *arena, const json_t *report, const char **fault) {
  Reader r = {.arena = arena};
  const json_t *steps = json_object_get(report, "steps"), *o = json_object_get(report, "measured"), *list = json_object_get(o, "steps");
  *fault = !json_is_array(steps) ? "it has no \"steps\" and is no plan" : !json_is_array(list) ? "there is no measurement in it; ./PROGRAM profile -o run.json makes one" : NULL;
  if (*fault) return NULL;
  json_int_t training = json_integer_value(json_object_get(report, "training_steps"));
  Measured *m = arena_alloc(arena, sizeof *m);
  m->step_count = (int)json_array_size(steps);
  m->steps = arena_alloc(arena, ((size_t)m->step_count + 1) * sizeof *m->steps);
  m->epoch = time_of(&r, "measured", o, "epoch_s");
  m->evaluation = time_of(&r, "measured", o, "evaluation_s");
  read_tiers(o, m);
  for (size_t i = 0; i < json_array_size(list); i++) read_step(&r, report, i, json_array_get(list, i), m);
  for (int i = 0; i < m->step_count && i < training; i++)
    if (!m->steps[i].is_measured) fail(&r, arena_printf(arena, "measured.steps: step %d of the epoch is missing", i + 1));
  *fault = r.fault;
  return r.fault ? NULL : m;
}
