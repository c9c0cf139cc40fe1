/* dot: who makes what for whom, for Graphviz: forward on the left, backward on the right, moved values thick. */
#include <inttypes.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"
#include "runtime/base/text.h"

static const DocValue *find_value(const Document *d, const char *name) {
  for (int i = 0; i < d->value_count; i++)
    if (strcmp(d->values[i].value, name) == 0) return &d->values[i];
  return NULL;
}

static const DocStep *maker_of(const DocStep *steps, int reader, const char *name) {
  for (int i = reader - 1; i >= 0; i--)
    for (int k = 0; k < steps[i].writes.count; k++)
      if (strcmp(steps[i].writes.list[k], name) == 0) return &steps[i];
  return NULL;
}

static const char *colour_of(const char *phase) {
  static const struct { const char *phase, *colour; } colours[] = {{"forward", "#9ecae1"}, {"backward", "#c7b3e5"}, {"recompute", "#f5d76e"},
                                                                   {"update", "#d9d9d9"}, {"eval", "#9ecae1"}};
  for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
    if (strcmp(colours[i].phase, phase) == 0) return colours[i].colour;
  return "white";
}

static void put_edge(const Document *d, const DocStep *from, const DocStep *to, const char *name, FILE *out) {
  const DocValue *v = find_value(d, name);
  bool is_moved = v && (v->fate == FATE_HOST || v->fate == FATE_SSD), has_other_fate = v && v->fate != FATE_KEEP;
  fprintf(out, "  s%" PRId64 " -> s%" PRId64 " [label=", from->step, to->step);
  escape_dot(out, v ? arena_printf(d->arena, "%s\n%s%s%s", name, gnn_bytes_text(v->bytes).text, has_other_fate ? ", " : "", has_other_fate ? fate_names[v->fate] : "") : name);
  fprintf(out, "%s];\n", is_moved ? ", penwidth=3, color=\"#d95f02\"" : "");
}

void view_dot(const Document *d, FILE *out) {
  const DocStep *steps;
  int count = document_shown_steps(d, &steps);
  fprintf(out, "// %s\ndigraph ", d->generator);
  escape_dot(out, d->model);
  fprintf(out, " {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n");
  for (int i = 0; i < count; i++) {
    if (strcmp(steps[i].lane, lane_names[LANE_COMPUTE]) != 0 || steps[i].waits_for) continue;
    fprintf(out, "  s%" PRId64 " [label=", steps[i].step);
    escape_dot(out, arena_printf(d->arena, "%" PRId64 ": %s", steps[i].step, steps[i].what));
    fprintf(out, ", fillcolor=\"%s\"];\n", colour_of(steps[i].phase));
  }
  for (int i = 0; i < count; i++)
    for (int k = 0; k < steps[i].reads.count; k++) {
      const DocStep *maker = maker_of(steps, i, steps[i].reads.list[k]);
      if (maker) put_edge(d, maker, &steps[i], steps[i].reads.list[k], out);
    }
  fprintf(out, "}\n");
}
