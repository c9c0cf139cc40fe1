/* pins: TypedProgram, Kernels -> Pins. */
#include "pins.h"

#include <fnmatch.h>

#include "compiler/graph/learned.h"
#include "decisions.h"
#include "lang/suggest.h"

/* Values have the names of C identifiers; a pattern may be written as the source has them, with points. */
static const char *as_identifier(Arena *arena, const char *pattern) {
  char *text = arena_strdup(arena, pattern);
  for (char *p = text; *p; p++)
    if (*p == '.') *p = '_';
  return text;
}

static bool names_field(const TypedProgram *program, const FatePin *pin) {
  for (int f = 0; f < program->field_count; f++)
    if (fnmatch(pin->pattern, program->fields[f].name, 0) == 0) return true;
  return false;
}

/* A weight that kernels have by rows of nodes, or can have. */
static bool names_learned(const Graph *graph, const FatePin *pin) {
  const bool *is_learned = learned_on_nodes(graph);
  for (int v = 0; v < graph->value_count; v++) {
    const Value *value = &graph->values[v];
    const bool is_one = value->op == OP_PARAM && (value->shape.domain == DOMAIN_NODE || is_learned[value->as.index]);
    if (is_one && fnmatch(pin->pattern, graph->program->params[value->as.index].name, 0) == 0) return true;
  }
  return false;
}

static bool names_input(const TypedProgram *program, const FatePin *pin) {
  if (names_field(program, pin)) return true;
  for (int p = 0; p < program->param_count; p++)
    if (fnmatch(pin->pattern, program->params[p].name, 0) == 0) return true;
  return false;
}

bool pin_names_graph(const FatePin *pin) { return fnmatch(pin->pattern, "graph_in_idx", 0) == 0 || fnmatch(pin->pattern, "graph_out_idx", 0) == 0; }

/* How many values it names. */
static int apply(Arena *arena, const FatePin *pin, const Kernels *kernels, Suggest *suggest, Pins *pins) {
  const Graph *graph = kernels->graph;
  const char *pattern = as_identifier(arena, pin->pattern);
  int count = 0;
  suggest->wanted = pattern;
  for (int v = 0; v < graph->value_count; v++) {
    if (!kernels->is_stored[v] || graph->values[v].phase != PHASE_FORWARD) continue;
    suggest_offer(suggest, graph->values[v].name);
    if (fnmatch(pattern, graph->values[v].name, 0) != 0) continue;
    pins->fates[v] = FATE_BIT(pin->fate);
    count++;
  }
  return count;
}

/* What was to be at home on the host is on the SSD where parts of it are cached for lack of room. */
static bool is_home_of(Tier home, bool is_cached, Tier tier) { return (is_cached ? TIER_HOST : home) == tier; }

const Pins *pins_read(Arena *arena, const TypedProgram *program, const Kernels *kernels, const Machine *machine, Cut cut, Diags *diags) {
  if (!kernels || program->fate_count == 0) return NULL;
  Pins *pins = arena_alloc(arena, sizeof *pins);
  pins->fates = arena_alloc(arena, (size_t)(kernels->graph->value_count + 1) * sizeof *pins->fates);
  for (int i = 0; i < program->fate_count; i++) {
    const FatePin *pin = &program->fates[i];
    const char *fate = fate_names[pin->fate];
    Tier tier = fate_tier(pin->fate);
    Suggest suggest = {0};
    int count = apply(arena, pin, kernels, &suggest, pins);
    const bool is_away = tier == TIER_HOST || tier == TIER_SSD;
    const bool is_of_data = (is_home_of(cut.fields_home, cut.cached.fields, tier) && names_field(program, pin)) || (is_home_of(cut.learned_home, cut.cached.learned, tier) && names_learned(kernels->graph, pin)) ||
                            (is_home_of(cut.graph_home, cut.cached.graph, tier) && pin_names_graph(pin));
    if (is_away && is_of_data) count++;
    if (count && (tier == TIER_DEVICE || tier == TIER_NONE || machine->tier_bytes[tier] > 0)) continue;
    if (count)
      diags_error(diags, "E0506", pin->place, "fate \"%s\" = %s: there is no %s tier (--budget %s=SIZE gives one)", pin->pattern, fate, fate, fate);
    else if (names_input(program, pin) || pin_names_graph(pin))
      diags_error(diags, "E0506", pin->place, "\"%s\" is input data or a weight: it stays on the device, it is not %s", pin->pattern,
                  pin->fate == FATE_RECOMPUTE ? "recomputed" : "moved");
    else
      diags_error(diags, "E0505", pin->place, "no value matches \"%s\"%s", pin->pattern, suggest_text(arena, &suggest, "\""));
    return NULL;
  }
  return pins;
}
