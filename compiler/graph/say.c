/* say: what values are called in tables for users.
 *
 * A value has the name that the program gives it last, with the calls of layers that it is in ("h", "conv1.h"), else the one that lowering or a pass made, with
 * its points ("conv1.z", "d_conv1.lin.weight"). Where several would be called the same (turns of a loop), the layer before them tells them apart ("sage2.h"), and
 * numbers where that does not.
 */
#include <string.h>

#include "graph.h"
#include "lang/name_table.h"

/* By the program's text, not by that of a layer of std. */
static const Naming *given(const Value *value) {
  for (const Called *c = value->phase == PHASE_FORWARD ? value->called : NULL; c; c = c->next)
    if (c->naming->name) return c->naming;
  return NULL;
}

static bool is_given(const Value *value) { return given(value) != NULL; }

static const char *as_given(const Value *value, const char *written) { return is_given(value) ? given(value)->path : written; }

/* "d_sage2.h": what is in front of a gradient's name stays there. */
static const char *behind_layer(const Graph *graph, const Value *value, const char *name) {
  static const char *const heads[] = {"d_", "back_", ""};
  const char *layer = value->layer.name;
  int k = 0;
  while (strncmp(name, heads[k], strlen(heads[k])) != 0) k++;
  const char *rest = name + strlen(heads[k]);
  if (!layer || strncmp(rest, layer, strlen(layer)) == 0) return name;
  return arena_printf(graph->arena, "%s%s.%s", heads[k], layer, rest);
}

/* How many values have each name: counts[name_table_find(table, name)]. */
typedef struct Census {
  NameTable table;
  int *counts;
} Census;

static Census count_names(const Graph *graph, const char *const *names) {
  Census census = {.counts = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *census.counts)};
  for (int i = 0, known = 0; i < graph->value_count; i++) {
    int at = name_table_find(&census.table, names[i]);
    if (at < 0) name_table_add(graph->arena, &census.table, names[i], at = known++);
    census.counts[at]++;
  }
  return census;
}

static int count_of(const Census *census, const char *name) { return census->counts[name_table_find(&census->table, name)]; }

void graph_say_values(Graph *graph, const char *const *written) {
  const char **names = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *names);
  for (int i = 0; i < graph->value_count; i++) names[i] = graph->values[i].said ? graph->values[i].said : as_given(&graph->values[i], written[i]);
  Census census = count_names(graph, names);
  for (int i = 0; i < graph->value_count; i++)
    if (count_of(&census, names[i]) > 1) names[i] = behind_layer(graph, &graph->values[i], names[i]);
  census = count_names(graph, names);
  int *seen = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *seen);
  int *by_program = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *by_program); /* how many values it calls so */
  for (int i = 0; i < graph->value_count; i++) by_program[name_table_find(&census.table, names[i])] += is_given(&graph->values[i]);
  for (int i = 0; i < graph->value_count; i++) /* what the program calls one value is no other's name */
    for (const Called *c = is_given(&graph->values[i]) ? graph->values[i].called : NULL; c; c = c->next) {
      const int at = name_table_find(&census.table, c->naming->path);
      if (at >= 0 && by_program[at] == 0 && c->naming->name) seen[at] = 1;
    }
  for (int pass = 0; pass < 2; pass++) /* names of the program come first */
    for (int i = 0; i < graph->value_count; i++) {
      if (is_given(&graph->values[i]) != (pass == 0)) continue;
      const int at = name_table_find(&census.table, names[i]), turn = ++seen[at];
      const bool is_alone = turn == 1 && (pass == 1 || by_program[at] == 1); /* what stands for several is nobody's own */
      graph->values[i].said = is_alone ? names[i] : arena_printf(graph->arena, "%s_%d", names[i], turn);
    }
}
