/* pins: TypedProgram, Kernels -> Pins. */
#include "pins.h"

#include <fnmatch.h>
#include <string.h>

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

/* "h" of all that the program calls h, "conv1.h" of those within a call and behind one. */
static bool names_naming(const char *pattern, const Naming *naming, const char *layer, Arena *arena) {
  if (fnmatch(pattern, naming->path, 0) == 0) return true;
  if (!naming->name) return false;
  const char *dot = strrchr(pattern, '.');
  const bool is_behind = layer && dot && strcmp(dot, ".*") != 0; /* conv1.*: what is within, not h = conv1(x) */
  return fnmatch(pattern, naming->name, 0) == 0 || (is_behind && fnmatch(pattern, arena_printf(arena, "%s.%s", layer, naming->name), 0) == 0);
}

/* Of names without * only what the program itself calls so is meant, where there is such: h = conv1(x) by conv1.h, not what GCN calls h. */
static bool is_plain(const char *pattern) { return !strpbrk(pattern, "*?["); }

static bool is_given(Arena *arena, const char *pattern, const Value *value) {
  for (const Called *c = value->called; c; c = c->next)
    if (c->naming->name && names_naming(pattern, c->naming, value->layer.name, arena)) return true;
  return false;
}

static bool names_value(Arena *arena, const char *pattern, const Value *value) {
  if (fnmatch(as_identifier(arena, pattern), value->name, 0) == 0 || fnmatch(pattern, value->said, 0) == 0) return true;
  for (const Called *c = value->called; c; c = c->next)
    if (names_naming(pattern, c->naming, value->layer.name, arena)) return true;
  return false;
}

static bool has_fate(const Kernels *kernels, ValueId v) { return kernels->is_stored[v] && kernels->graph->values[v].phase == PHASE_FORWARD; }

/* How many values it names. */
static int apply(Arena *arena, const FatePin *pin, const Kernels *kernels, Pins *pins) {
  int count = 0;
  for (int pass = is_plain(pin->pattern) ? 0 : 1; pass < 2 && count == 0; pass++)
    for (int v = 0; v < kernels->graph->value_count; v++) {
      const Value *value = &kernels->graph->values[v];
      if (!has_fate(kernels, v) || !(pass == 0 ? is_given(arena, pin->pattern, value) : names_value(arena, pin->pattern, value))) continue;
      pins->fates[v] = FATE_BIT(pin->fate);
      count++;
    }
  return count;
}

/* What was to be at home on the host is on the SSD where parts of it are cached for lack of room. */
static bool is_home_of(Tier home, bool is_cached, Tier tier) { return (is_cached ? TIER_HOST : home) == tier; }

bool pins_are_of_data(Arena *arena, const TypedProgram *program, const Graph *training) {
  bool are = true;
  for (int i = 0; i < program->fate_count && are; i++) {
    const FatePin *pin = &program->fates[i];
    const Tier tier = fate_tier(pin->fate);
    are = (tier == TIER_HOST || tier == TIER_SSD || pin->fate == FATE_KEEP) && (pin_names_graph(pin) || names_field(program, pin) || names_learned(training, pin));
    for (int v = 0; v < training->value_count && are; v++) {
      const Value *value = &training->values[v];
      are = op_info[value->op].kind == OP_KIND_LEAF || !(is_given(arena, pin->pattern, value) || names_value(arena, pin->pattern, value));
    }
  }
  return are;
}

/* ---- a pattern that names nothing ---- */

/* What the program calls so, if there is such: the last. */
static const Naming *naming_of(Arena *arena, const TypedProgram *program, const Graph *graph, const char *pattern) {
  for (int v = graph->value_count - 1; v >= 0; v--)
    for (const Called *c = graph->values[v].called; c; c = c->next)
      if (names_naming(pattern, c->naming, graph->values[v].layer.name, arena)) return c->naming;
  for (int i = program->naming_count - 1; i >= 0; i--)
    if (names_naming(pattern, &program->namings[i], NULL, arena)) return &program->namings[i];
  return NULL;
}

static bool is_called(const Value *value, const Naming *naming) {
  for (const Called *c = value->called; c; c = c->next)
    if (c->naming == naming) return true;
  return false;
}

enum { MOST_NAMES = 8 };

typedef struct {
  const char *text;
  int count;
} NameList;

static void list_name(Arena *arena, NameList *list, const char *name) {
  const char *quoted = arena_printf(arena, "\"%s\"", name);
  if (strstr(list->text, quoted) || list->count > MOST_NAMES) return;
  list->text = list->count == MOST_NAMES ? arena_printf(arena, "%s, ...", list->text) : arena_printf(arena, "%s%s%s", list->text, list->count ? ", " : "", quoted);
  list->count++;
}

/* What could have been pinned: by the program's names, and where it has none by those of the plan. */
static void say_names(Arena *arena, const Kernels *kernels, Diags *diags) {
  const Graph *graph = kernels->graph;
  NameList list = {.text = ""};
  for (int pass = 0; pass < 2; pass++)
    for (int v = 0; v < graph->value_count; v++) {
      bool is_named = false;
      for (const Called *c = graph->values[v].called; c && has_fate(kernels, v); c = c->next) {
        if (!c->naming->name) continue;
        is_named = true;
        if (pass == 0) list_name(arena, &list, c->naming->name);
      }
      if (pass == 1 && !is_named && has_fate(kernels, v)) list_name(arena, &list, graph->values[v].said);
    }
  if (list.count) diags_note(diags, "values with a fate: %s", list.text);
}

/* Those that lie within what the pattern names, or behind: of "deep", which layers of a loop are called, "deep.0.z", "deep.0.h", ... */
static const char *names_within(Arena *arena, const Kernels *kernels, const char *pattern, const char **first) {
  const Graph *graph = kernels->graph;
  const size_t length = strlen(pattern);
  NameList list = {.text = ""};
  for (int v = 0; v < graph->value_count; v++)
    for (const Called *c = graph->values[v].called; c && has_fate(kernels, v); c = c->next) {
      const char *name = c->naming->path, *layer = graph->values[v].layer.name;
      if (layer && c->naming->name) name = arena_printf(arena, "%s.%s", layer, c->naming->name);
      if (strncmp(name, pattern, length) != 0 || name[length] != '.') continue;
      if (list.count == 0) *first = name;
      list_name(arena, &list, name);
    }
  return list.text;
}

/* Why what the program has a name for has no fate. */
static void say_no_fate(Arena *arena, const TypedProgram *program, const Kernels *kernels, const FatePin *pin, const Naming *naming, Diags *diags) {
  const Graph *graph = kernels->graph;
  const TypedExpr *e = &program->exprs[naming->value];
  const char *why = "no step makes it any more: what it was is part of other values, or nobody reads it";
  for (int v = 0; v < graph->value_count; v++) {
    if (!is_called(&graph->values[v], naming)) continue;
    why = graph->values[v].op == OP_HOISTED ? "it is computed once, before the first epoch, and stays" : "no step stores it: the steps that read it compute it";
  }
  if (e->kind == TYPED_FIELD) why = arena_printf(arena, "it is \"%s\" of the data", program->fields[e->index].name);
  const bool is_of_user = naming->place.file == pin->place.file;
  diags_error(diags, "E0505", pin->place, "\"%s\"%s has no fate: %s", pin->pattern, is_of_user ? arena_printf(arena, " (line %d)", (int)naming->place.line) : "", why);
  const char *first = NULL, *within = names_within(arena, kernels, pin->pattern, &first);
  if (*within) diags_note(diags, "values with a fate that begin so: %s", within);
  else say_names(arena, kernels, diags);
}

/* Of what the backward pass and the update make the planner decides. */
static bool names_later(Arena *arena, const Kernels *kernels, const char *pattern) {
  for (int v = 0; v < kernels->graph->value_count; v++)
    if (kernels->is_stored[v] && !has_fate(kernels, v) && names_value(arena, pattern, &kernels->graph->values[v])) return true;
  return false;
}

/* Near names: first those that the program has, then those of the plan. */
static void say_unknown(Arena *arena, const Kernels *kernels, const FatePin *pin, Diags *diags) {
  Suggest suggest = {.wanted = pin->pattern};
  const Graph *graph = kernels->graph;
  const char *first = NULL, *within = names_within(arena, kernels, pin->pattern, &first);
  if (*within) {
    diags_error(diags, "E0505", pin->place, "no value matches \"%s\"; did you mean \"%s\"?", pin->pattern, first);
    diags_note(diags, "values with a fate that begin so: %s", within);
    return;
  }
  if (names_later(arena, kernels, pin->pattern)) {
    diags_error(diags, "E0505", pin->place, "\"%s\" has no fate to choose: it is made behind the forward pass, and where it lies is up to the planner", pin->pattern);
    say_names(arena, kernels, diags);
    return;
  }
  for (int v = 0; v < graph->value_count; v++)
    for (const Called *c = graph->values[v].called; c && has_fate(kernels, v); c = c->next) {
      if (!c->naming->name) continue;
      suggest_offer(&suggest, c->naming->name);
      suggest_offer(&suggest, c->naming->path);
    }
  const bool is_near = suggest.count > 0;
  for (int v = 0; v < graph->value_count && !is_near; v++)
    if (has_fate(kernels, v)) suggest_offer(&suggest, graph->values[v].said);
  diags_error(diags, "E0505", pin->place, "no value matches \"%s\"%s", pin->pattern, suggest_text(arena, &suggest, "\""));
  say_names(arena, kernels, diags);
}

const Pins *pins_read(Arena *arena, const TypedProgram *program, const Kernels *kernels, const Machine *machine, Cut cut, Diags *diags) {
  if (!kernels || program->fate_count == 0) return NULL;
  Pins *pins = arena_alloc(arena, sizeof *pins);
  pins->fates = arena_alloc(arena, (size_t)(kernels->graph->value_count + 1) * sizeof *pins->fates);
  int pinned = 0;
  for (int i = 0; i < program->fate_count; i++) {
    const FatePin *pin = &program->fates[i];
    const char *fate = fate_names[pin->fate];
    Tier tier = fate_tier(pin->fate);
    int count = apply(arena, pin, kernels, pins);
    pinned += count;
    const bool is_away = tier == TIER_HOST || tier == TIER_SSD;
    const bool is_of_data = (is_home_of(cut.fields_home, cut.cached.fields, tier) && names_field(program, pin)) || (is_home_of(cut.learned_home, cut.cached.learned, tier) && names_learned(kernels->graph, pin)) ||
                            (is_home_of(cut.graph_home, cut.cached.graph, tier) && pin_names_graph(pin));
    const bool is_data = names_input(program, pin) || pin_names_graph(pin);
    if ((is_away && is_of_data) || (pin->fate == FATE_KEEP && is_data)) count++;
    if (count && (tier == TIER_DEVICE || tier == TIER_NONE || machine->tier_bytes[tier] > 0)) continue;
    if (count)
      diags_error(diags, "E0506", pin->place, "fate \"%s\" = %s: there is no %s tier (--budget %s=SIZE gives one)", pin->pattern, fate, fate, fate);
    else if (is_data)
      diags_error(diags, "E0506", pin->place, "\"%s\" is input data or a weight: it stays on the device, it is not %s", pin->pattern,
                  pin->fate == FATE_RECOMPUTE ? "recomputed" : "moved");
    else {
      const Naming *naming = naming_of(arena, program, kernels->graph, pin->pattern);
      if (naming) say_no_fate(arena, program, kernels, pin, naming, diags);
      else say_unknown(arena, kernels, pin, diags);
    }
    return NULL;
  }
  return pinned ? pins : NULL;
}
