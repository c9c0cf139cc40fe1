/* profile: what `train profile` measured -> seconds of kernels by their description.
 *
 * The file is the plan's own with "measured" added: its steps by number, whose descriptions the same file tells. A kernel
 * that is run again for recomputation stands there several times; it gets their mean.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cost.h"

typedef struct Measured {
  const char *what;
  double sum;
  int count;
} Measured;

struct Profile {
  int count;
  Measured *steps;
};

static Measured *find(const Profile *profile, const char *what) {
  for (int i = 0; i < profile->count; i++)
    if (strcmp(profile->steps[i].what, what) == 0) return &profile->steps[i];
  return NULL;
}

static void add(Arena *arena, Profile *profile, const char *what, double seconds) {
  Measured *step = find(profile, what);
  if (!step) {
    ARENA_PUSH(arena, profile->steps, profile->count, (Measured){arena_strdup(arena, what), 0, 0});
    step = &profile->steps[profile->count - 1];
  }
  step->sum += seconds;
  step->count++;
}

static const json_t *find_step(const json_t *steps, json_int_t number) {
  size_t i;
  json_t *step;
  json_array_foreach(steps, i, step) {
    const json_t *own = json_object_get(step, "step");
    if (json_is_integer(own) && json_integer_value(own) == number && json_is_string(json_object_get(step, "what"))) return step;
  }
  return NULL;
}

/* Steps of the evaluation are described as those of the training, but draw no dropout. */
static bool is_evaluation(const json_t *step) {
  const char *phase = json_string_value(json_object_get(step, "phase"));
  return phase && strcmp(phase, "eval") == 0;
}

static const char *read_steps(const json_t *root, Arena *arena, Profile *profile) {
  const json_t *steps = json_object_get(root, "steps"), *measured = json_object_get(json_object_get(root, "measured"), "steps");
  if (!json_is_array(steps)) return "it has no \"steps\" and is no plan";
  if (!json_is_array(measured)) return "it has no \"measured\" steps; ./train profile -o run.json writes them";
  size_t i;
  json_t *step;
  json_array_foreach(measured, i, step) {
    const json_t *number = json_object_get(step, "step"), *seconds = json_object_get(step, "seconds");
    if (!json_is_integer(number) || !json_is_number(seconds)) return arena_printf(arena, "measured step %zu has no \"step\" or no \"seconds\"", i + 1);
    double value = json_number_value(seconds);
    if (!(value >= 0) || isinf(value)) return arena_printf(arena, "measured step %zu took %g seconds", i + 1, value);
    const json_t *known = find_step(steps, json_integer_value(number));
    if (!known) return arena_printf(arena, "step %" JSON_INTEGER_FORMAT " was measured but is not among its \"steps\"", json_integer_value(number));
    if (!is_evaluation(known)) add(arena, profile, json_string_value(json_object_get(known, "what")), value);
  }
  return profile->count > 0 ? NULL : "no step was measured";
}

bool cost_read_profile(Machine *machine, const char *path, Arena *arena, const char **fault) {
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  if (!root) {
    *fault = error.line > 0 ? arena_printf(arena, "line %d: %s", error.line, error.text) : arena_strdup(arena, error.text);
    return false;
  }
  Profile *profile = arena_alloc(arena, sizeof *profile);
  *fault = read_steps(root, arena, profile);
  json_decref(root);
  if (!*fault) machine->profile = profile;
  return !*fault;
}

bool profile_seconds(const Profile *profile, const char *what, double *seconds) {
  const Measured *step = find(profile, what);
  if (step) *seconds = step->sum / step->count;
  return step != NULL;
}
