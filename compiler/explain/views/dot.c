/* dot: who makes what for whom, for Graphviz: forward on the left, backward on the right, moved values thick. The steps of a kernel
 * that runs by parts are one box, and what its pieces pass on one arrow. */
#include <inttypes.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"
#include "runtime/base/text.h"

typedef struct Edge {
  int from, to; /* the first steps of the kernels */
  const char *name;
  int64_t bytes;
  bool is_value;
  int pieces, fates[FATE_COUNT];
} Edge;

typedef struct Drawing {
  const Document *d;
  const DocStep *steps;
  int count, edge_count;
  const int *first_of;
  Edge *edges;
  json_t *value_at, *edge_at, *is_on; /* by name: of values, of edges, of a value on an edge */
} Drawing;

/* The place of what has a name, or -1. */
static int place_of(const json_t *table, const char *name) {
  const json_t *place = json_object_get(table, name);
  return place ? (int)json_integer_value(place) : -1;
}

static void add_read(Drawing *w, int maker, int reader, const char *name) {
  Arena *arena = w->d->arena;
  int at = place_of(w->value_at, name), from = w->first_of[maker], to = w->first_of[reader];
  const DocValue *v = at >= 0 ? &w->d->values[at] : NULL;
  const char *whole = v && v->piece.group ? v->piece.group : name, *key = arena_printf(arena, "%d %d %d %s", from, to, v && v->piece.group, whole), *own = arena_printf(arena, "%s %s", key, name);
  int edge = place_of(w->edge_at, key);
  if (place_of(w->is_on, own) >= 0) return;
  json_object_set_new(w->is_on, own, json_integer(0));
  if (edge < 0) {
    edge = w->edge_count;
    json_object_set_new(w->edge_at, key, json_integer(edge));
    ARENA_PUSH(arena, w->edges, w->edge_count, ((Edge){.from = from, .to = to, .name = whole, .is_value = v}));
  }
  if (!v) return;
  w->edges[edge].bytes += v->bytes;
  w->edges[edge].fates[v->fate]++;
  w->edges[edge].pieces++;
}

static void find_edges(Drawing *w) {
  json_t *maker_of = json_object();
  w->value_at = json_object(), w->edge_at = json_object(), w->is_on = json_object();
  for (int i = 0; i < w->d->value_count; i++) json_object_set_new(w->value_at, w->d->values[i].value, json_integer(i));
  for (int i = 0; i < w->count; i++) {
    const DocStep *s = &w->steps[i];
    for (int k = 0; k < s->reads.count; k++) {
      int maker = place_of(maker_of, s->reads.list[k]);
      if (maker >= 0) add_read(w, maker, i, s->reads.list[k]);
    }
    for (int k = 0; k < s->writes.count; k++) json_object_set_new(maker_of, s->writes.list[k], json_integer(i));
  }
  json_decref(maker_of);
  json_decref(w->value_at);
  json_decref(w->edge_at);
  json_decref(w->is_on);
}

static const char *colour_of(const char *phase) {
  static const struct { const char *phase, *colour; } colours[] = {{"forward", "#9ecae1"}, {"backward", "#c7b3e5"}, {"recompute", "#f5d76e"},
                                                                   {"update", "#d9d9d9"}, {"eval", "#9ecae1"}};
  for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
    if (strcmp(colours[i].phase, phase) == 0) return colours[i].colour;
  return "white";
}

/* ", host"; of pieces with several fates ", 12 keep, 4 host". */
static const char *fates_text(const Drawing *w, const Edge *e) {
  const char *text = "";
  for (int f = 0; f < FATE_COUNT; f++) {
    if (e->fates[f] == e->pieces && f != FATE_KEEP) return arena_printf(w->d->arena, ", %s", fate_names[f]);
    if (e->fates[f] && e->fates[f] < e->pieces) text = arena_printf(w->d->arena, "%s, %d %s", text, e->fates[f], fate_names[f]);
  }
  return text;
}

static void put_edge(const Drawing *w, const Edge *e, FILE *out) {
  bool is_moved = e->fates[FATE_HOST] || e->fates[FATE_SSD];
  fprintf(out, "  s%" PRId64 " -> s%" PRId64 " [label=", w->steps[e->from].step, w->steps[e->to].step);
  escape_dot(out, e->is_value ? arena_printf(w->d->arena, "%s\n%s%s", e->name, gnn_bytes_text(e->bytes).text, fates_text(w, e)) : e->name);
  fprintf(out, "%s];\n", is_moved ? ", penwidth=3, color=\"#d95f02\"" : "");
}

static void put_kernels(const Drawing *w, FILE *out) {
  int *runs = arena_alloc(w->d->arena, (size_t)w->count * sizeof *runs);
  for (int i = 0; i < w->count; i++) runs[w->first_of[i]]++;
  for (int i = 0; i < w->count; i++) {
    const DocStep *s = &w->steps[i];
    if (w->first_of[i] != i || strcmp(s->lane, lane_names[LANE_COMPUTE]) != 0 || s->waits_for) continue;
    fprintf(out, "  s%" PRId64 " [label=", s->step);
    escape_dot(out, runs[i] > 1 ? arena_printf(w->d->arena, "%" PRId64 "...: %s, %d steps", s->step, document_what(w->d, s), runs[i]) : arena_printf(w->d->arena, "%" PRId64 ": %s", s->step, s->what));
    fprintf(out, ", fillcolor=\"%s\"];\n", colour_of(s->phase));
  }
}

void view_dot(const Document *d, FILE *out) {
  Drawing w = {.d = d};
  w.count = document_shown_steps(d, &w.steps);
  w.first_of = document_first_of(d);
  find_edges(&w);
  fprintf(out, "// %s\ndigraph ", d->generator);
  escape_dot(out, d->model);
  fprintf(out, " {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n");
  put_kernels(&w, out);
  for (int i = 0; i < w.edge_count; i++) put_edge(&w, &w.edges[i], out);
  fprintf(out, "}\n");
}
