/* emit_taps: what --layer of a program asks for, by the names of layers and of the program. */
#include "emit_calls.h"
#include "emit_source.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/base/escape.h"

typedef struct ToldName {
  const char *text;
  const struct ToldName *next;
} ToldName;

static bool is_name_of_layer(const Graph *graph, const char *text) {
  for (int i = 0; i < graph->value_count; i++)
    if (graph->values[i].tap && strcmp(graph->values[i].tap, text) == 0) return true;
  return false;
}

/* Of a name that is given again and again the last is meant; conv1.h is what was called so behind conv1. */
static bool is_meant(const TypedProgram *program, const Naming *naming) {
  for (int i = program->naming_count - 1; &program->namings[i] > naming; i--)
    if (strcmp(program->namings[i].path, naming->path) == 0) return false;
  return true;
}

/* The names by which a value of the evaluation can be asked for: it is a layer's result, or the program has a name for it and it lies there whole. */
static const ToldName *names_of(const Emission *m, const Graph *graph, ValueId id, bool is_whole) {
  const Value *value = &graph->values[id];
  const ToldName *names = NULL;
  for (const Called *c = is_whole ? value->called : NULL; c; c = c->next) {
    const Naming *naming = c->naming;
    if (!naming->name) continue;
    const char *behind = value->layer.name && !strchr(naming->path, '.') ? arena_printf(m->arena, "%s.%s", value->layer.name, naming->name) : NULL;
    const char *const texts[] = {is_meant(m->program, naming) ? naming->path : NULL, behind};
    for (int t = 0; t < 2; t++) {
      if (!texts[t] || is_name_of_layer(graph, texts[t]) || (t == 1 && strcmp(value->layer.name, naming->name) == 0)) continue;
      ToldName *name = arena_alloc(m->arena, sizeof *name);
      *name = (ToldName){texts[t], names};
      names = name;
    }
  }
  if (!value->tap) return names;
  ToldName *of_layer = arena_alloc(m->arena, sizeof *of_layer);
  *of_layer = (ToldName){value->tap, names};
  return of_layer;
}

/* Those of a value that the step stores. Scores that end away from the device are asked for there. */
static const ToldName *told_names(const Emission *m, int s, ValueId id) {
  const Step *step = &m->schedule->steps[s];
  const Graph *graph = step->kernels->graph;
  const Value *value = &graph->values[id];
  const bool is_there = s >= m->schedule->training_count && !step->is_rerun && (step->part == 0 || step->part == step->parts->count);
  if (!is_there || (id == graph->scores && are_scores_away(m))) return NULL;
  return names_of(m, graph, id, step->part == 0 && m->evaluation->precision != PRECISION_BF16 && value->shape.element == ELEMENT_REAL && value->shape.domain == graph->values[graph->scores].shape.domain);
}

/* Whoever asked for a layer's result, or for what the program calls so, gets it as soon as it is there. */
void emit_tap_calls(const Emission *m, int s, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  for (int k = 0; k < kernel->output_count; k++) {
    const Value *value = &step->kernels->graph->values[kernel->outputs[k]];
    for (const ToldName *name = told_names(m, s, kernel->outputs[k]); name; name = name->next) {
      const char *text = escape_c(m->arena, name->text), *at = layout_at(m->layout, step->kernels, kernel->outputs[k], 0, s)->name;
      const char *rows = emit_row_count(m->arena, m->program->info, value->shape.domain, 1);
      const int64_t width = shape_width(&value->shape);
      if (m->backend == BACKEND_CUDA)
        fprintf(out, "  if (g->tap) gnn_cuda_tap(g, %s, AT_%s, %s, %" PRId64 ", %" PRId64 ");\n", text, at, rows, width, kernels_row_stride(step->kernels, kernel->outputs[k]));
      else fprintf(out, "  if (g->tap) g->tap(g->tap_user, %s, V(%s), %s, %" PRId64 ");\n", text, at, rows, width);
    }
  }
}

static void emit_tap_names(const Emission *m, const ToldName *names, Taps *list, FILE *out) {
  for (const ToldName *name = names; name; name = name->next) {
    if (name_table_find(&list->told, name->text) >= 0) continue;
    fprintf(out, list->count ? ", %s" : "static const char *const taps[] = {%s", escape_c(m->arena, name->text));
    name_table_add(m->arena, &list->told, name->text, list->count++);
  }
}

/* Each name once, in the order in which evaluate has their values; then those of the program that are not among them. */
Taps emit_taps(const Emission *m, FILE *out) {
  const TypedProgram *program = m->program;
  Taps list = {0};
  if (are_scores_away(m)) emit_tap_names(m, names_of(m, m->evaluation->graph, m->evaluation->graph->scores, m->evaluation->precision != PRECISION_BF16), &list, out);
  list.scores_count = list.count;
  for (int s = m->schedule->training_count; s < m->schedule->count; s++) {
    const Step *step = &m->schedule->steps[s];
    if (step->kind != STEP_KERNEL) continue;
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    for (int k = 0; k < kernel->output_count; k++) emit_tap_names(m, told_names(m, s, kernel->outputs[k]), &list, out);
  }
  if (list.count) fprintf(out, "};\n");
  for (int i = 0; i < program->naming_count; i++) {
    const Naming *naming = &program->namings[i];
    if (!naming->name || name_table_find(&list.told, naming->path) >= 0) continue;
    fprintf(out, list.untold_count ? ", %s" : "static const char *const untold[] = {%s", escape_c(m->arena, naming->path));
    name_table_add(m->arena, &list.told, naming->path, list.count + list.untold_count++);
  }
  fprintf(out, list.untold_count ? "};\n\n" : list.count ? "\n" : "");
  return list;
}
