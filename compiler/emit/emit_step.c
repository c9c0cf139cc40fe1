#include "emit_step.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/core/blocks.h"

StepWriter step_writer(const Emission *emission, const Step *step, FILE *out) {
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  const Graph *graph = step->kernels->graph;
  return (StepWriter){.emission = emission, .step = step, .kernels = step->kernels, .kernel = kernel, .graph = graph,
                      .anchor = &graph->values[kernel->anchor], .arena = emission->arena, .out = out, .n = step->number};
}

bool step_mentions(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
    bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.');
    bool ends = !(isalnum((unsigned char)at[length]) || at[length] == '_');
    if (starts && ends) return true;
  }
  return false;
}

void step_print_lines(FILE *out, const char *indent, const char *lines) {
  while (*lines) {
    const char *end = strchr(lines, '\n');
    fprintf(out, "%s%.*s\n", indent, (int)(end - lines), lines);
    lines = end + 1;
  }
}

const char *step_block_name(const StepWriter *w, ValueId value) {
  return rows_block_name(w->arena, layout_at(w->emission->layout, w->kernels, value, w->step->part, w->n - 1));
}

const char *step_at(const StepWriter *w, ValueId value) {
  return rows_at(w->kernels, value, layout_at(w->emission->layout, w->kernels, value, w->step->part, w->n - 1));
}

const char *step_scratch(const StepWriter *w) {
  const Layout *layout = w->emission->layout;
  for (int i = layout->resident_count; i < layout->count; i++)
    if (layout->blocks[i].kind == BLOCK_SCRATCH && layout->blocks[i].value == NO_VALUE && !layout->blocks[i].is_sums && layout->blocks[i].first == w->n - 1)
      return layout->blocks[i].name;
  return "";
}

const char *step_sums(const StepWriter *w) { return layout_of_sums(w->emission->layout, w->emission->schedule, w->n - 1)->name; }

int64_t step_first_block(const StepWriter *w, int part) {
  return (int64_t)part << (gnn_block_levels(w->emission->program->info->nodes) - w->step->parts->levels);
}

RowKind step_row_kind(Domain domain) {
  return domain == DOMAIN_NONE ? ROWS_NONE : domain == DOMAIN_EDGE ? ROWS_EDGE : ROWS_SELF;
}

static bool step_is_output(const Kernel *kernel, ValueId id) {
  for (int k = 0; k < kernel->output_count; k++)
    if (kernel->outputs[k] == id) return true;
  return false;
}

/* A product goes over edges by their number alone. */
static RowKind body_row(const StepWriter *w) {
  return w->anchor->op == OP_MATMUL && w->anchor->shape.domain == DOMAIN_EDGE ? ROWS_SELF : step_row_kind(w->anchor->shape.domain);
}

static void write_values(const StepWriter *w, RowWriter *body, int first, Index index, RowKind row) {
  for (int b = first; b < w->kernel->body_count; b++) {
    ValueId id = w->kernel->body[b];
    const char *text = rows_value(body, id, index);
    if (step_is_output(w->kernel, id)) rows_store(body, id, text, row);
  }
}

RowWriter *step_write_body(const StepWriter *w, const char *acc, const char *at, bool is_warp) {
  RowWriter *body = rows_new(w->emission, w->step, &w->anchor->shape);
  body->is_warp = is_warp;
  RowKind row = body_row(w);
  Index index = rows_full_index(body, row);
  if (acc) {
    if (body->loop_count == 0) at = "0";
    rows_name(body, w->kernel->anchor, index, arena_printf(w->arena, "%s[%s]", acc, at ? at : rows_offset(body, &w->anchor->shape, index)));
    if (step_is_output(w->kernel, w->kernel->anchor))
      rows_store(body, w->kernel->anchor, rows_value(body, w->kernel->anchor, index), row);
  }
  write_values(w, body, 0, index, row);
  return body;
}

RowWriter *step_write_rest(const StepWriter *w) {
  const Epilogue *epilogue = &w->kernel->epilogue;
  RowWriter *body = rows_new(w->emission, w->step, &w->anchor->shape);
  body->is_warp = true;
  body->is_in_place = epilogue->place != epilogue->result;
  RowKind row = body_row(w);
  Index index = rows_full_index(body, row);
  rows_write(body, LEVEL_ROW, "const %s *from = %s + r * %" PRId64 ";", rows_type(w->kernels, epilogue->place), step_at(w, epilogue->place),
             shape_width(&w->anchor->shape));
  rows_write(body, body->loop_count ? LEVEL_ELEMENT : LEVEL_ROW, "const gnn_real product = %s;",
             rows_loaded(w->kernels, epilogue->place, arena_printf(w->arena, "from[%s]", rows_offset(body, &w->anchor->shape, index))));
  rows_name(body, epilogue->result, index, "product");
  write_values(w, body, epilogue->body_count, index, row);
  return body;
}

void step_write_fold(const StepWriter *w, const char *acc, const char *text) {
  rows_write(w->operand, LEVEL_ELEMENT, fold_info[kernel_info[w->kernel->kind].fold].code, acc, text);
}

const char *step_edge_variables(const StepWriter *w, const char *text, bool is_out) {
  const char *lines = "";
  if (step_mentions(text, is_out ? "dst" : "src"))
    lines = arena_printf(w->arena, "const int64_t %s = edges->idx[i];\n", is_out ? "dst" : "src");
  if (step_mentions(text, "e")) lines = arena_printf(w->arena, "%sconst int64_t e = %s;\n", lines, is_out ? "edges->edge[i]" : "i");
  return lines;
}

/* The lines of `more` that are not among `lines` after them: a dropout may stand in both. */
static const char *merged(Arena *arena, const char *lines, const char *more) {
  const char *result = lines;
  while (*more) {
    const char *end = strchr(more, '\n') + 1;
    const char *line = arena_strndup(arena, more, (size_t)(end - more));
    if (!strstr(lines, line)) result = arena_printf(arena, "%s%s", result, line);
    more = end;
  }
  return result;
}

const char *step_fields(const StepWriter *w, const char *more) {
  const char *lines = w->body ? w->body->fields : "";
  if (w->operand) lines = merged(w->arena, lines, w->operand->fields);
  return merged(w->arena, lines, more);
}

const char *step_values(const StepWriter *w, const char *more) {
  const char *lines = w->body ? w->body->text[LEVEL_STEP] : "";
  if (w->operand) lines = merged(w->arena, lines, w->operand->text[LEVEL_STEP]);
  return merged(w->arena, lines, more);
}

const char *step_row_count(const StepWriter *w, Domain domain, int64_t lead) {
  const char *rows = domain == DOMAIN_NODE ? "g->nodes" : domain == DOMAIN_EDGE ? "g->edges" : "1";
  return lead == 1 ? rows : arena_printf(w->arena, "%s * %" PRId64, rows, lead);
}

const char *step_run_first(const StepWriter *w, Domain domain, int64_t lead, const char *run) {
  const char *row = arena_printf(w->arena, domain == DOMAIN_EDGE ? "g->in.ptr[gnn_run_first(&g->blocks, %s)]" : "gnn_run_first(&g->blocks, %s)", run);
  return lead == 1 ? row : arena_printf(w->arena, "%s * %" PRId64, row, lead);
}

bool step_sparse_dropout(const StepWriter *w, ValueId dropout, const char **field, const char **value) {
  *field = *value = "";
  if (dropout == NO_VALUE) return false;
  const Value *drop = &w->graph->values[dropout];
  RowWriter *rows = rows_new(w->emission, w->step, &w->anchor->shape);
  const char *p = rows_value(rows, drop->operand[1], (Index){.row = ROWS_NONE});
  *field = "gnn_dropout drop;\n";
  *value = arena_printf(w->arena, ".drop = gnn_dropout_make(g->seed, g->epoch, %d, (double)(%s)),\n", (int)drop->as.site, p);
  return true;
}

int step_sparse_slot(const StepWriter *w, int32_t field) {
  int slot = 0;
  for (int f = 0; f < field; f++) slot += w->emission->is_sparse_field[f];
  return slot;
}

/* The last group whose pattern matches the weight's name, else the optimiser's own values. */
const Hyper *step_hyper(const TypedProgram *program, const char *name) {
  const Hyper *hyper = &program->train.hyper;
  for (int i = 0; i < program->train.group_count; i++)
    if (fnmatch(program->train.groups[i].pattern, name, 0) == 0) hyper = &program->train.groups[i].hyper;
  return hyper;
}
