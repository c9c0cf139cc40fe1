/* annotate: the source with what each line costs beside it. */
#include <inttypes.h>
#include <string.h>

#include "views.h"
#include "compiler/base/escape.h"
#include "runtime/base/text.h"

typedef struct LineCost {
  double seconds, measured;
  int64_t bytes; /* of the values it makes */
  int steps, fates[FATE_COUNT]; /* of values: those in pieces count once for each fate that a piece has */
} LineCost;

static LineCost *line_costs(const Document *d) {
  LineCost *costs = arena_alloc(d->arena, (size_t)(d->source.count + 1) * sizeof *costs);
  const DocStep *steps;
  int count = document_shown_steps(d, &steps);
  for (int i = 0; i < count; i++) {
    bool computes = strcmp(steps[i].lane, lane_names[LANE_COMPUTE]) == 0;
    if (!computes || steps[i].line < 1 || steps[i].line > d->source.count) continue;
    costs[steps[i].line].seconds += steps[i].seconds;
    costs[steps[i].line].measured += steps[i].is_measured ? steps[i].measured_seconds : 0;
    costs[steps[i].line].steps++;
  }
  json_t *counted = json_object();
  for (int i = 0; i < d->value_count; i++) {
    const DocValue *v = &d->values[i];
    if (v->line < 1 || v->line > d->source.count) continue;
    costs[v->line].bytes += v->bytes;
    const char *key = v->piece.group ? arena_printf(d->arena, "%d %s", v->fate, v->piece.group) : NULL;
    if (key && json_object_get(counted, key)) continue;
    if (key) json_object_set_new(counted, key, json_true());
    costs[v->line].fates[v->fate]++;
  }
  json_decref(counted);
  return costs;
}

static const char *fate_text(Arena *arena, const LineCost *c) {
  const char *text = "";
  for (int f = FATE_KEEP + 1; f < FATE_COUNT; f++)
    if (c->fates[f]) text = arena_printf(arena, "%s%s%d %s", text, *text ? ", " : "", c->fates[f], fate_names[f]);
  return *text ? text : c->fates[FATE_KEEP] ? fate_names[FATE_KEEP] : "";
}

void view_annotate_text(const Document *d, FILE *out) {
  TimeUnit unit = document_time_unit(d);
  double whole = document_shown_seconds(d);
  const LineCost *costs = line_costs(d);
  bool has_run = document_has_run(d);
  if (has_run) fprintf(out, "%8s %2s ", "measured", unit.name);
  fprintf(out, "%10s %5s %10s  %-22s %4s  %s\n", unit.name, "%", "values", "fate", "line", d->file);
  for (int line = 1; line <= d->source.count; line++) {
    const LineCost *c = &costs[line];
    if (has_run) fprintf(out, "%11s ", c->steps ? arena_printf(d->arena, "%.3f", unit.per_second * c->measured) : "");
    if (c->steps)
      fprintf(out, "%10.3f %5.1f %10s  %-22s %4d  %s\n", unit.per_second * c->seconds, whole > 0 ? 100 * c->seconds / whole : 0,
              c->bytes ? gnn_bytes_text(c->bytes).text : "-", fate_text(d->arena, c), line, d->source.list[line - 1]);
    else
      fprintf(out, "%10s %5s %10s  %-22s %4d  %s\n", "", "", "", "", line, d->source.list[line - 1]);
  }
}

/* A step, or all steps of a kernel that runs by parts: what they took, and the code of the first. */
typedef struct Item {
  int count;
  double seconds, measured;
} Item;

static void put_item(const Document *d, const DocStep *s, const Item *item, FILE *out) {
  TimeUnit unit = document_time_unit(d);
  fprintf(out, "<li value=\"%" PRId64 "\">%s, %.3f %s", s->step, s->phase, unit.per_second * item->seconds, unit.name);
  if (s->is_measured) fprintf(out, ", %.3f %s measured", unit.per_second * item->measured, unit.name);
  fprintf(out, ": ");
  if (item->count == 1) escape_xml(out, s->what);
  else escape_xml(out, arena_printf(d->arena, s->waits_for ? "for pieces (%s), %d steps" : "%s, %d steps", document_what(d, s->waits_for ? document_step(d, s->waits_for) : s), item->count));
  if (s->code) {
    fprintf(out, "<details><summary>the code</summary><pre>");
    escape_xml(out, s->code);
    fprintf(out, "</pre></details>");
  }
  fprintf(out, "</li>");
}

static Item *items_of(const Document *d, const int *first_of) {
  const DocStep *steps;
  int count = document_shown_steps(d, &steps);
  Item *items = arena_alloc(d->arena, (size_t)count * sizeof *items);
  for (int i = 0; i < count; i++) {
    Item *item = &items[first_of[i]];
    item->count++;
    item->seconds += steps[i].seconds;
    item->measured += steps[i].measured_seconds;
  }
  return items;
}

static void put_html_line(const Document *d, const LineCost *c, const Item *items, int line, FILE *out) {
  TimeUnit unit = document_time_unit(d);
  double whole = document_shown_seconds(d), share = whole > 0 ? c->seconds / whole : 0;
  fprintf(out, "<details class=\"line%s\"><summary style=\"--heat:%.3f\"><span>%s%s</span><span>%s</span><span>%s</span><b>%d</b><code>", c->steps ? "" : " none", share,
          c->steps ? arena_printf(d->arena, "%.3f %s", unit.per_second * c->seconds, unit.name) : "",
          c->steps && document_has_run(d) ? arena_printf(d->arena, "<br>%.3f %s measured", unit.per_second * c->measured, unit.name) : "", c->bytes ? gnn_bytes_text(c->bytes).text : "",
          c->steps ? fate_text(d->arena, c) : "", line);
  escape_xml(out, d->source.list[line - 1]);
  fprintf(out, "</code></summary>");
  const DocStep *steps;
  int count = document_shown_steps(d, &steps);
  if (c->steps) fprintf(out, "<ol>");
  for (int i = 0; i < count; i++)
    if (steps[i].line == line && items[i].count) put_item(d, &steps[i], &items[i], out);
  fprintf(out, "%s</details>\n", c->steps ? "</ol>" : "");
}

void view_annotate_html(const Document *d, FILE *out) {
  const LineCost *costs = line_costs(d);
  const Item *items = items_of(d, document_first_of(d));
  fprintf(out, "<!doctype html>\n<!-- %s -->\n<html lang=\"en\"><meta charset=\"utf-8\"><title>", d->generator);
  escape_xml(out, d->file);
  fprintf(out, "</title>\n<meta name=\"viewport\" content=\"width=device-width\"><style>\n"
               ":root{color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;margin:1rem}\n"
               ".line>summary{display:grid;grid-template-columns:7rem 6rem 10rem 3rem 1fr;gap:.5rem;cursor:pointer;list-style:none;"
               "background:rgb(217 95 2/calc(var(--heat)*.9))}\n"
               "span{text-align:right}b{text-align:right;opacity:.6;font-weight:normal}code{white-space:pre-wrap}.none>summary{cursor:default}\n"
               "ol{margin:.2rem 0 .6rem 27rem;font-size:12px}li summary{cursor:pointer;opacity:.7}pre{overflow:auto;max-width:100%%}@media(max-width:700px){.line>summary{grid-template-columns:5rem 1.5rem 1fr}"
               ".line>summary span:nth-of-type(n+2){display:none}ol{margin-left:2rem}}\n</style>\n<h1>");
  escape_xml(out, d->file);
  fprintf(out, "</h1>\n<p>Time, memory of the values made, and their fates, line by line; %s. A line opens to the steps it became, a step to its code.</p>\n",
          document_has_run(d) ? "estimated, and what a run measured" : "estimated");
  for (int line = 1; line <= d->source.count; line++) put_html_line(d, &costs[line], items, line, out);
  fprintf(out, "</html>\n");
}
