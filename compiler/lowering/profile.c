/* profile: what `train profile` measured -> seconds of kernels by their description.
 *
 * The file is the plan's own with "measured" added: its steps by number, whose descriptions the same file tells. A kernel
 * that is run again for recomputation stands there several times; it gets their mean.
 */
#include <jansson.h>
#include <string.h>

#include "cost.h"
#include "measured.h"
#include "compiler/base/json_file.h"

typedef struct Timed {
  const char *what;
  double sum;
  int count;
} Timed;

struct Profile {
  int count;
  Timed *steps;
};

static bool has_phase(const json_t *step, const char *wanted) {
  const char *phase = json_string_value(json_object_get(step, "phase"));
  return phase && strcmp(phase, wanted) == 0;
}

static Timed *find(const Profile *profile, const char *what) {
  for (int i = 0; i < profile->count; i++)
    if (strcmp(profile->steps[i].what, what) == 0) return &profile->steps[i];
  return NULL;
}

static void add(Arena *arena, Profile *profile, const char *what, double seconds) {
  Timed *step = find(profile, what);
  if (!step) {
    ARENA_PUSH(arena, profile->steps, profile->count, (Timed){arena_strdup(arena, what), 0, 0});
    step = &profile->steps[profile->count - 1];
  }
  step->sum += seconds;
  step->count++;
}

/* Steps of the evaluation are described as those of the training, but draw no dropout. */
static bool is_evaluation(const json_t *step) { return has_phase(step, "eval"); }

/* What was measured beside copies has in it what they slow down. */
static bool has_copies(const json_t *root) {
  size_t i;
  json_t *step;
  json_array_foreach(json_object_get(root, "steps"), i, step) if (has_phase(step, "move")) return true;
  return false;
}

static const char *read_steps(const json_t *root, const char *model, Arena *arena, Profile *profile) {
  const char *fault, *own = json_string_value(json_object_get(root, "model_fingerprint"));
  const Measured *measured = measured_read(arena, root, &fault);
  if (!measured) return fault;
  if (!own || strcmp(own, model) != 0) return "it is of another program";
  for (int i = 0; i < measured->step_count; i++) {
    const json_t *step = json_array_get(json_object_get(root, "steps"), (size_t)i), *what = json_object_get(step, "what");
    if (measured->steps[i].is_measured && json_is_string(what) && !is_evaluation(step)) add(arena, profile, json_string_value(what), measured->steps[i].seconds);
  }
  return profile->count > 0 ? NULL : "no step was measured";
}

bool cost_read_profile(Machine *machine, const char *path, const char *model, Arena *arena, const char **fault) {
  json_t *root = json_file_read(arena, path, JSON_REJECT_DUPLICATES, fault);
  if (!root) return false;
  Profile *profile = arena_alloc(arena, sizeof *profile);
  *fault = read_steps(root, model, arena, profile);
  if (!*fault && has_copies(root))
    for (int l = 0; l < LANE_COUNT; l++) machine->overlap_slowdown[l] = 1;
  json_decref(root);
  if (!*fault) machine->profile = profile;
  return !*fault;
}

bool profile_seconds(const Profile *profile, const char *what, double *seconds) {
  const Timed *step = find(profile, what);
  if (step) *seconds = step->sum / step->count;
  return step != NULL;
}
